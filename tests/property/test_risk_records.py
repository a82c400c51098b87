"""Every risk equals what counting the rows one by one gives, at person and at event level."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations as subsets
from itertools import pairwise
from math import comb, log2, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.measure import RecordRisk
from discreet.risk import special_uniques
from discreet.risk.exposure import contributions, riskiest_classes
from discreet.risk.markov import markov_risk
from discreet.risk.prosecutor import average_risk, journalist, prosecutor, share_above, unique_records
from discreet.risk.scorr import all_scorr, correlation, markov_simplified, uniformity, uniqueness
from discreet.risk.special_uniques import suda

NAMES = ("a", "b", "c")
SENSITIVE = ("s", "t")
Row = tuple[int | None, ...]

rows_strategy = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 2, None]),
        st.integers(0, 1),
        st.integers(0, 3),
        st.integers(0, 4),
        st.integers(0, 2),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=24,
)
"""Three quasi-identifiers, a person, two sensitive values."""


def build(rows: list[Row], *, event: bool) -> EquivalenceClasses:
    columns = list(zip(*rows, strict=True))
    return EquivalenceClasses.from_columns(
        {name: columns[j] for j, name in enumerate(NAMES)},
        sensitive={name: columns[4 + j] for j, name in enumerate(SENSITIVE)},
        person=columns[3] if event else None,
    )


def people(rows: list[Row], event: bool) -> list[int | None]:
    return [row[3] for row in rows] if event else list(range(len(rows)))


def spread(risk: RecordRisk) -> list[float]:
    """One value per record, sorted."""
    return sorted(np.repeat(risk.values, risk.weights).tolist())


def same(risk: RecordRisk, per_record: list[float]) -> None:
    assert int(risk.weights.sum()) == len(per_record)
    assert spread(risk) == pytest.approx(sorted(per_record), abs=1e-12)
    assert 0 <= risk.min <= risk.max <= 1


def part(row: Row, names: tuple[str, ...]) -> Row:
    return tuple(row[NAMES.index(name)] for name in names)


@given(rows_strategy, st.booleans(), st.sampled_from([None, *NAMES]))
def test_scorr_equals_counting_rows(rows: list[Row], event: bool, attribute: str | None) -> None:
    classes, who, n = build(rows, event=event), people(rows, event), len(rows)
    names = NAMES if attribute is None else (attribute,)
    keys = [part(row, names) for row in rows]
    f = Counter(keys)
    same(
        uniqueness(classes, attribute),
        [1.0 if n == 1 else 1 - log2(f[key]) / log2(n) for key in keys],
    )
    with_person = Counter(zip(keys, who, strict=True))
    of_person = [with_person[pair] / f[pair[0]] for pair in zip(keys, who, strict=True)]
    same(uniformity(classes, attribute), of_person)
    for j, name in enumerate(SENSITIVE):
        values = [row[4 + j] for row in rows]
        with_value = Counter(zip(keys, values, strict=True))
        of_value = [with_value[pair] / f[pair[0]] for pair in zip(keys, values, strict=True)]
        same(correlation(classes, name, attribute), of_value)
        if attribute is None:
            all_values, value_person = Counter(values), Counter(zip(values, who, strict=True))
            same(
                markov_simplified(classes, name),
                [
                    1
                    - f[keys[i]]
                    / n
                    * (1 - of_person[i])
                    * (1 - of_value[i])
                    * (1 - value_person[values[i], who[i]] / all_values[values[i]])
                    for i in range(n)
                ],
            )


@given(rows_strategy, st.booleans())
def test_one_attribute_alone_is_the_projection(rows: list[Row], event: bool) -> None:
    classes = build(rows, event=event)
    for name in NAMES:
        alone = classes.project([name])
        for single, whole in (
            (uniqueness(classes, name), uniqueness(alone)),
            (uniformity(classes, name), uniformity(alone)),
            (correlation(classes, "s", name), correlation(alone, "s")),
        ):
            assert spread(single) == pytest.approx(spread(whole), abs=1e-12)


@given(rows_strategy, st.booleans(), st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_does_not_matter(rows: list[Row], event: bool, rng: random.Random) -> None:
    shuffled = rng.sample(rows, len(rows))
    for one, other in zip(
        all_scorr(build(rows, event=event)), all_scorr(build(shuffled, event=event)), strict=True
    ):
        assert (one.name, one.attribute, one.sensitive) == (other.name, other.attribute, other.sensitive)
        assert spread(one) == spread(other)
    first, second = build(rows, event=event), build(shuffled, event=event).project(["c", "a", "b"])
    assert sorted(suda(first).scores) == sorted(suda(second).scores)
    assert spread(prosecutor(first)) == spread(prosecutor(second))


@given(rows_strategy, st.sets(st.sampled_from(NAMES)), st.randoms(use_true_random=False))
def test_markov_model_equals_its_formula(rows: list[Row], known_set: set[str], rng: random.Random) -> None:
    known = tuple(rng.sample(sorted(known_set), len(known_set)))
    unknown = tuple(rng.sample([x for x in NAMES if x not in known], len(NAMES) - len(known)))

    def share(wanted: Row, names: tuple[str, ...], given_: Row, given_names: tuple[str, ...]) -> float:
        among = [row for row in rows if part(row, given_names) == given_]
        return sum(part(row, names) == wanted for row in among) / len(among)

    expected = []
    for row in rows:
        rest = part(row, unknown)
        pp = share(part(row, known), known, (), ())
        pp *= 1 - share(rest, unknown, part(row, known), known)
        before = known
        for name in unknown:
            pp *= share(part(row, (name,)), (name,), part(row, before), before)
            pp *= 1 - share(rest, unknown, part(row, (name,)), (name,))
            before = (name,)
        expected.append(min(1.0, max(0.0, 1 - pp * len(rows))))
    same(markov_risk(build(rows, event=False), known, unknown), expected)


def persons_with(rows: list[Row], who: list[int | None], names: tuple[str, ...], row: Row) -> int:
    return len({w for w, other in zip(who, rows, strict=True) if part(other, names) == part(row, names)})


@given(rows_strategy, st.booleans(), st.floats(0, 1))
def test_linkage_risks_equal_counting_persons(rows: list[Row], event: bool, threshold: float) -> None:
    classes, who = build(rows, event=event), people(rows, event)
    sizes = [persons_with(rows, who, NAMES, row) for row in rows]
    same(prosecutor(classes), [1 / size for size in sizes])
    same(journalist(classes, 3 * classes.persons), [1 / (3 * size) for size in sizes])
    assert average_risk(classes).value == pytest.approx(sum(1 / size for size in sizes) / len(rows))
    assert unique_records(classes).value == pytest.approx(sizes.count(1) / len(rows))
    above = sum(1 / size > threshold + 1e-12 for size in sizes) / len(rows)
    assert share_above(classes, threshold).value == pytest.approx(above)


@given(rows_strategy, st.booleans(), st.integers(1, 4), st.sampled_from(["products", "elliot"]))
def test_suda_equals_brute_force(rows: list[Row], event: bool, size: int, weighting: str) -> None:
    classes, who = build(rows, event=event), people(rows, event)
    result = suda(classes, max_size=size, weighting=weighting)
    largest = min(size, len(NAMES))
    expected: dict[Row, float] = {}
    kinds: Counter[tuple[str, ...]] = Counter()
    by_attribute: Counter[str] = Counter()
    for row, copies in Counter(part(row, NAMES) for row in rows).items():
        expected[row] = 0.0
        alone = {
            names
            for k in range(1, largest + 1)
            for names in subsets(NAMES, k)
            if persons_with(rows, who, names, row) == 1
        }
        for names in alone:
            if not any(set(other) < set(names) for other in alone):
                k = len(names)
                if weighting == "products":
                    weight = prod(len(NAMES) - i for i in range(k, min(largest, len(NAMES) - 1) + 1))
                else:
                    weight = (2 ** (len(NAMES) - k) - 1) / comb(len(NAMES), k)
                expected[row] += weight
                kinds[names] += 1
                for name in names:
                    by_attribute[name] += copies * weight
    found = {
        tuple(None if label == "∅" else int(label) for label in classes.labels(c).values()): score
        for c, score in enumerate(result.scores)
    }
    assert found == pytest.approx(expected)
    assert {kind.attributes: kind.persons for kind in result.minimal_uniques} == kinds
    total = float(result.scores @ classes.records)
    for name in NAMES:
        assert result.contributions[name] == pytest.approx(100 * by_attribute[name] / total if total else 0)


@given(rows_strategy, st.booleans())
def test_dis_suda_keeps_the_file_risk_as_harmonic_mean(rows: list[Row], event: bool) -> None:
    result = suda(build(rows, event=event), dis_weighting="products", sampling_fraction=0.1)
    assert result.dis_scores is not None
    assert ((result.dis_scores > 0) == (result.scores > 0)).all()
    scored = result.dis_scores[result.dis_scores > 0]
    if len(scored):
        assert 1 / np.mean(1 / scored) == pytest.approx(result.file_risk)
        assert scored.max() <= 1


@given(rows_strategy, st.booleans())
def test_combinations_equal_counting_pairs(rows: list[Row], event: bool) -> None:
    who, n = people(rows, event), len(rows)
    found = special_uniques.combinations(build(rows, event=event), max_size=3)
    assert {item.attributes for item in found} == {s for k in (1, 2, 3) for s in subsets(NAMES, k)}
    for item in found:
        keys = [part(row, item.attributes) for row in rows]
        sizes = [persons_with(rows, who, item.attributes, row) for row in rows]
        pairs = list(subsets(keys, 2))
        assert item.groups == len(set(keys))
        assert item.distinction == pytest.approx(len(set(keys)) / n)
        assert item.separation == pytest.approx(
            sum(x != y for x, y in pairs) / len(pairs) if pairs else 1.0, abs=1e-12
        )
        assert item.unique == pytest.approx(sizes.count(1) / n)
        assert item.small == pytest.approx(sum(size < 11 for size in sizes) / n)
    keys_of_order = [(-item.unique, -item.small, len(item.attributes)) for item in found]
    assert keys_of_order == sorted(keys_of_order)


@given(rows_strategy, st.booleans())
def test_leaving_out_an_attribute_equals_counting_without_it(rows: list[Row], event: bool) -> None:
    classes, who, n = build(rows, event=event), people(rows, event), len(rows)
    found = contributions(classes)
    assert [item.rank for item in found] == [1, 2, 3]
    assert all(x.added_risk >= y.added_risk - 1e-9 for x, y in pairwise(found))
    for item in found:
        others = tuple(name for name in NAMES if name != item.attribute)
        sizes = [persons_with(rows, who, others, row) for row in rows]
        assert item.risk_without == pytest.approx(sum(1 / size for size in sizes) / n)
        assert item.unique_without == pytest.approx(sizes.count(1) / n)
        assert item.k_without == min(sizes)
        assert item.k_without >= item.k
    risky = riskiest_classes(classes, 4)
    assert [item.persons for item in risky] == sorted(classes.persons.tolist())[:4]
    for item in risky:
        labels = classes.labels(item.position)
        row = tuple(None if labels[name] == "∅" else int(labels[name]) for name in NAMES)
        for name in NAMES:
            others = tuple(other for other in NAMES if other != name)
            assert item.without[name] == persons_with(rows, who, others, row)
