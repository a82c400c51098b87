"""Every model against a slow, independent recomputation from rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    ConfidenceBounding,
    DeltaDisclosure,
    EpsilonMAnonymity,
    GBalance,
    HAffiliation,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    LPlusDiversity,
    MultiAttributeLDiversity,
    PAlphaSensitivity,
    PPlusSensitivity,
    PrivacyModel,
    PSensitivity,
    TCloseness,
    WorstGroupProtection,
    XYPrivacy,
)

INF = math.inf


@dataclass(frozen=True)
class Row:
    a: int | None
    b: str | None
    person: int
    dx: str | None
    pay: int | None


ROW = st.builds(
    Row,
    a=st.sampled_from([0, 1, None]),
    b=st.sampled_from(["x", "y", None]),
    person=st.integers(0, 4),
    dx=st.sampled_from(["acne", "flu", "gastritis", "ulcer", None]),
    pay=st.sampled_from([0, 1, 2, 5, 10, 11, 30, None]),
)
ROWS = st.lists(ROW, min_size=1, max_size=25)
TREE = {
    "acne": ("skin", "body", "any"),
    "flu": ("lung", "body", "any"),
    "gastritis": ("stomach", "inside", "any"),
    "ulcer": ("stomach", "inside", "any"),
}
CATEGORY = {"acne": "mild", "flu": "mild", "gastritis": "bad", "ulcer": "bad", "∅": "unknown"}
WEIGHT = {"acne": 1.0, "flu": 0.75, "gastritis": 0.25, "ulcer": 0.0, "∅": 0.5}


def counted(rows: list[Row], *, persons: bool, pay: bool = True) -> EquivalenceClasses:
    sensitive: dict[str, list[object]] = {"dx": [r.dx for r in rows]}
    if pay:
        sensitive["pay"] = [r.pay for r in rows]
    return EquivalenceClasses.from_columns(
        {"a": [r.a for r in rows], "b": [r.b for r in rows]},
        sensitive=sensitive,
        person=[r.person for r in rows] if persons else None,
    )


def groups(rows: list[Row], key: Callable[[Row], object]) -> dict[object, list[Row]]:
    found: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def qi(row: Row) -> tuple[object, ...]:
    return (row.a, row.b)


def shares(values: list[object]) -> dict[object, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def of(group: list[Row], name: str) -> list[object]:
    return [getattr(row, name) for row in group]


def needed_c(group: list[Row], l: int) -> float:  # noqa: E741
    counts = sorted(Counter(of(group, "dx")).values(), reverse=True)
    tail = sum(counts[l - 1 :])
    return counts[0] / tail if tail else INF


def entropy(values: list[object]) -> float:
    return math.exp(-sum(float(p) * math.log(p) for p in shares(values).values()))


def emd_equal(group: list[Row], rows: list[Row]) -> float:
    p, q = shares(of(group, "dx")), shares(of(rows, "dx"))
    return float(sum(abs(p.get(v, Fraction(0)) - q[v]) for v in q) / 2)


def emd_ordered(group: list[Row], rows: list[Row]) -> float:
    p, q = shares(of(group, "pay")), shares(of(rows, "pay"))
    order = sorted(q, key=lambda v: (v is None, v or 0))
    if len(order) == 1:
        return 0.0
    moved, carried = Fraction(0), Fraction(0)
    for value in order:
        carried += p.get(value, Fraction(0)) - q[value]
        moved += abs(carried)
    return float(moved / (len(order) - 1))


def emd_tree(group: list[Row], rows: list[Row]) -> float:
    """Li et al. as printed: sum over inner nodes of height/H min(positive, negative extra of its children)."""
    p, q = shares(of(group, "dx")), shares(of(rows, "dx"))
    tree = {**TREE, None: ("∅", "∅", "any")}
    extra: dict[tuple[int, object], Fraction] = {(0, v): p.get(v, Fraction(0)) - q[v] for v in q}
    height = 3
    total = Fraction(0)
    for level in range(1, height + 1):
        children: dict[object, set[tuple[int, object]]] = defaultdict(set)
        for leaf in q:
            child = (level - 1, leaf if level == 1 else tree[leaf][level - 2])  # type: ignore[index]
            children[tree[leaf][level - 1]].add(child)  # type: ignore[index]
        for node, below in children.items():
            positive = sum((extra[c] for c in below if extra[c] > 0), Fraction(0))
            negative = sum((-extra[c] for c in below if extra[c] < 0), Fraction(0))
            total += Fraction(level, height) * min(positive, negative)
            extra[(level, node)] = positive - negative
    return float(total)


def gain(group: list[Row], rows: list[Row]) -> float:
    p, q = shares(of(rows, "dx")), shares(of(group, "dx"))
    return float(max((q.get(v, Fraction(0)) - p[v]) / p[v] for v in p))


def enhanced(group: list[Row], rows: list[Row]) -> float:
    p, q = shares(of(rows, "dx")), shares(of(group, "dx"))
    if any((q.get(v, Fraction(0)) - p[v]) / p[v] > -math.log(p[v]) + 1e-9 for v in p):
        return INF
    return gain(group, rows)


def delta(group: list[Row], rows: list[Row]) -> float:
    p, q = shares(of(rows, "dx")), shares(of(group, "dx"))
    return max(abs(math.log(q[v] / p[v])) if v in q else INF for v in p)


def pays(group: list[Row]) -> list[int]:
    return [row.pay for row in group if row.pay is not None]


def close(group: list[Row], inside: Callable[[int, int], bool]) -> float:
    known = pays(group)
    return max((sum(inside(x, y) for y in known) / len(known) for x in known), default=0.0)


def one_over(share: float) -> float:
    return 1 / share if share else INF


def most_common(values: list[str]) -> float:
    """The share of the most frequent value, 0 of none."""
    return max(Counter(values).values()) / len(values) if values else 0.0


def affiliation(group: list[Row]) -> float:
    persons = {row.person for row in group}
    return max(len({r.person for r in group if r.dx == v}) for v in set(of(group, "dx"))) / len(persons)


def multi(group: list[Row]) -> float:
    by_pay = groups(group, lambda r: r.pay).values()
    by_dx = groups(group, lambda r: r.dx).values()
    return min([len(set(of(g, "dx"))) for g in by_pay] + [len(set(of(g, "pay"))) for g in by_dx])


def conf(group: list[Row], rows: list[Row], value: str) -> float:
    same = [row for row in rows if row.a == group[0].a]
    return sum(row.dx == value for row in same) / len(same)


def worst_conf(group: list[Row], rows: list[Row]) -> float:
    return max(conf(group, rows, v) for v in set(of(rows, "dx")))  # type: ignore[arg-type]


def units(group: list[Row]) -> int:
    return len({row.person for row in group})


Reference = Callable[[list[Row], list[Row]], float]
Second = Callable[[list[Row], list[Row]], bool]


def yes(group: list[Row], rows: list[Row]) -> bool:
    return True


# model, what a class reaches, and what else must hold (persons are counted where a class size is asked)
CASES: dict[str, tuple[PrivacyModel, Reference, Second]] = {
    "k persons": (KAnonymity(2), lambda g, _: units(g), yes),
    "k records": (KAnonymity(3, unit="records"), lambda g, _: len(g), yes),
    "distinct": (LDiversity(2, "dx"), lambda g, _: len(set(of(g, "dx"))), yes),
    "entropy": (LDiversity(1.9, "dx", kind="entropy"), lambda g, _: entropy(of(g, "dx")), yes),
    "simple": (
        LDiversity(2, "dx", kind="simple"),
        lambda g, _: one_over(float(max(shares(of(g, "dx")).values()))),
        yes,
    ),
    "recursive 1": (LDiversity(1, "dx", kind="recursive", c=0.6), lambda g, _: needed_c(g, 1), yes),
    "recursive 2": (LDiversity(2, "dx", kind="recursive", c=2), lambda g, _: needed_c(g, 2), yes),
    "recursive 3": (LDiversity(3, "dx", kind="recursive", c=3), lambda g, _: needed_c(g, 3), yes),
    "multi": (MultiAttributeLDiversity(2), lambda g, _: multi(g), yes),
    "l plus": (
        LPlusDiversity("dx", {"flu": 0.5, "ulcer": 0.25}),
        lambda g, _: max(of(g, "dx").count("flu") / len(g) / 0.5, of(g, "dx").count("ulcer") / len(g) / 0.25),
        yes,
    ),
    "p": (
        PSensitivity(2, 2, "dx"),
        lambda g, _: len(set(of(g, "dx"))),
        lambda g, _: units(g) >= 2,
    ),
    "p plus": (
        PPlusSensitivity(2, 2, "dx", CATEGORY),
        lambda g, _: len({CATEGORY["∅" if v is None else str(v)] for v in of(g, "dx")}),
        lambda g, _: units(g) >= 2,
    ),
    "p alpha": (
        PAlphaSensitivity(2, 1.0, 2, "dx", WEIGHT),
        lambda g, _: sum(WEIGHT["∅" if v is None else str(v)] for v in set(of(g, "dx"))),
        lambda g, _: units(g) >= 2 and len(set(of(g, "dx"))) >= 2,
    ),
    "alpha k": (
        AlphaKAnonymity(0.5, 2, "dx"),
        lambda g, _: float(max(shares(of(g, "dx")).values())),
        lambda g, _: units(g) >= 2,
    ),
    "alpha k, one value": (
        AlphaKAnonymity(0.5, 2, "dx", ("flu",), unit="records"),
        lambda g, _: of(g, "dx").count("flu") / len(g),
        lambda g, _: len(g) >= 2,
    ),
    "template": (
        ConfidenceBounding(0.5, "dx", "flu"),
        lambda g, _: of(g, "dx").count("flu") / len(g),
        yes,
    ),
    "template on a": (
        ConfidenceBounding(0.5, "dx", "flu", given=("a",)),
        lambda g, rows: conf(g, rows, "flu"),
        yes,
    ),
    "x y": (
        XYPrivacy(2, 0.5, "dx"),
        lambda g, _: float(max(shares(of(g, "dx")).values())),
        lambda g, _: units(g) >= 2,
    ),
    "x y on a": (
        XYPrivacy(3, 0.5, "dx", given=("a",)),
        worst_conf,
        lambda g, rows: units([r for r in rows if r.a == g[0].a]) >= 3,
    ),
    "t equal": (TCloseness(0.3, "dx"), emd_equal, yes),
    "t ordered": (TCloseness(0.2, "pay", distance="ordered"), emd_ordered, yes),
    "t tree": (TCloseness(0.3, "dx", distance="hierarchical", hierarchy=TREE), emd_tree, yes),
    "beta": (BetaLikeness(1, "dx"), gain, yes),
    "enhanced beta": (BetaLikeness(1, "dx", kind="enhanced"), enhanced, yes),
    "delta": (DeltaDisclosure(0.5, "dx"), delta, yes),
    "delta base 10": (DeltaDisclosure(0.5, "dx", base=10), lambda g, r: delta(g, r) / math.log(10), yes),
    "k e": (
        KEAnonymity(2, 5, "pay"),
        lambda g, _: max(pays(g), default=0) - min(pays(g), default=0),
        lambda g, _: len(set(pays(g))) >= 2,
    ),
    "epsilon m": (
        EpsilonMAnonymity(1, 2, "pay"),
        lambda g, _: one_over(close(g, lambda x, y: abs(x - y) <= 1)),
        yes,
    ),
    "epsilon m relative": (
        EpsilonMAnonymity(0.5, 2, "pay", kind="relative"),
        lambda g, _: one_over(close(g, lambda x, y: abs(x - y) <= 0.5 * x)),
        yes,
    ),
    "worst group": (
        WorstGroupProtection(0.5, 5, "pay"),
        lambda g, _: close(g, lambda x, y: x <= y <= x + 5),
        yes,
    ),
    "worst group of categories": (
        WorstGroupProtection(0.6, 0, "dx", {v: c for v, c in CATEGORY.items() if v != "∅"}),
        lambda g, _: most_common([CATEGORY[r.dx] for r in g if r.dx is not None]),
        yes,
    ),
    "g": (
        GBalance(0.5),
        lambda g, _: 1 - sum((c / len(g)) ** 2 for c in Counter(r.person for r in g).values()),
        yes,
    ),
    "h": (HAffiliation(0.7, "dx"), lambda g, _: affiliation(g), yes),
}
NUMERIC = {"k e", "epsilon m", "epsilon m relative", "worst group"}


def usable(case: str, rows: list[Row]) -> bool:
    return case not in NUMERIC or any(row.pay is not None for row in rows)


def class_keys(classes: EquivalenceClasses) -> list[tuple[str, ...]]:
    return [tuple(classes.labels(i).values()) for i in range(len(classes))]


def printed(key: tuple[object, ...]) -> tuple[str, ...]:
    return tuple("∅" if part is None else str(part) for part in key)


@pytest.mark.parametrize("case", CASES)
@given(rows=ROWS)
def test_every_model_equals_the_recomputation_from_rows(case: str, rows: list[Row]) -> None:
    if not usable(case, rows):
        return
    model, reference, second = CASES[case]
    classes = counted(rows, persons=True)
    by_class = {printed(key): group for key, group in groups(rows, qi).items()}  # type: ignore[arg-type]
    keys = class_keys(classes)
    assert sorted(keys) == sorted(by_class)
    expected = np.array([reference(by_class[key], rows) for key in keys], dtype=np.float64)
    found = model.measure(classes)
    assert found.per_class is not None
    np.testing.assert_allclose(found.per_class, expected, atol=1e-9, rtol=1e-9)
    best = expected.min() if model.better == "higher" else expected.max()
    assert found.value == pytest.approx(best, abs=1e-9)
    margin = (expected - model.threshold) * (1 if model.better == "higher" else -1)
    reached = margin > 1e-9 if model.exclusive else margin >= -1e-9
    also = np.array([second(by_class[key], rows) for key in keys])
    np.testing.assert_array_equal(model.holds(classes), reached & also)
    assert model.satisfied(classes) == bool((reached & also).all())


@pytest.mark.parametrize("case", CASES)
@given(rows=ROWS, seed=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case: str, rows: list[Row], seed: object) -> None:
    if not usable(case, rows):
        return
    model = CASES[case][0]
    shuffled = rows.copy()
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    before, after = (model.measure(counted(r, persons=True)) for r in (rows, shuffled))
    assert before == after
    np.testing.assert_allclose(before.per_class, after.per_class)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", [name for name, (model, _, _) in CASES.items() if model.monotone])
@given(rows=ROWS, drop=st.sampled_from(["a", "b", "both"]))
def test_merging_classes_never_breaks_a_monotone_model(case: str, rows: list[Row], drop: str) -> None:
    if not usable(case, rows):
        return
    model = CASES[case][0]
    classes = counted(rows, persons=True)
    if "given" in model.parameters() and drop != "b":
        return  # the attribute that the template names must stay
    kept = [name for name in ("a", "b") if drop not in (name, "both")]
    coarser = classes.project(kept)
    before, after = model.measure(classes).value, model.measure(coarser).value
    assert after >= before - 1e-9 if model.better == "higher" else after <= before + 1e-9
    if model.satisfied(classes):
        assert model.satisfied(coarser)


@given(rows=ROWS)
def test_bounds_between_models(rows: list[Row]) -> None:
    for persons in (True, False):
        classes = counted(rows, persons=persons, pay=False)
        records = KAnonymity(1, unit="records").per_class(classes)
        people = KAnonymity(1).per_class(classes)
        distinct = LDiversity(1, "dx").per_class(classes)
        uncertain = LDiversity(1, "dx", kind="entropy").per_class(classes)
        frequent = LDiversity(1, "dx", kind="simple").per_class(classes)
        assert (people <= records).all()
        assert (distinct <= records).all()
        assert (uncertain <= distinct + 1e-9).all()
        assert (frequent <= uncertain + 1e-9).all()
        for distance in ("equal", "ordered"):
            far = TCloseness(1, "dx", distance=distance).per_class(classes)
            assert ((far >= 0) & (far <= 1 + 1e-9)).all()
        assert classes.total == len(rows)
