"""Where classes are many, the audit walks them another way and says the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.classes import EquivalenceClasses, packed
from discreet.classes.kinds import ClassKinds
from discreet.classes.packing import sort_words
from discreet.engine.duckdb import DuckDBEngine
from discreet.privacy import BetaLikeness, KAnonymity, MultiAttributeLDiversity, TCloseness, assess
from discreet.risk import markov
from discreet.risk.exposure import contributions, riskiest_classes
from discreet.risk.many import drawn_contributions, singled_out
from discreet.risk.markov import markov_risk
from discreet.risk.special_uniques import combinations, suda

ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "zip", "job", "sex", "land"],
    "sensitive": ["illness", "income"],
}


def people(rows: int, seed: int = 3) -> pd.DataFrame:
    """Made-up people, most of them alone with their quasi-identifiers."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": 18 + (draw.random(rows) ** 2 * 60).astype(int),
            "zip": 10_000 + (draw.random(rows) ** 3 * 90).astype(int),
            "job": draw.choice(["nurse", "cook", "clerk", "none"], rows, p=[0.1, 0.2, 0.3, 0.4]),
            "sex": draw.choice(["f", "m", "?"], rows, p=[0.5, 0.45, 0.05]),
            "land": [None, *[1] * (rows - 1)],
            "illness": draw.choice(["flu", "cold", "?"], rows, p=[0.3, 0.6, 0.1]),
            "income": (draw.random(rows) ** 2 * 30).astype(int),
        }
    )
    # Some large classes, and one that is larger than a byte can count.
    return pd.concat([frame, *[frame.head(3)] * 4, *[frame.head(1)] * 300], ignore_index=True)


def counted(rows: int) -> EquivalenceClasses:
    frame = people(rows)
    return EquivalenceClasses.from_columns(
        {
            name: frame[name].astype(object).where(frame[name].notna(), None).tolist()
            for name in ROLES["quasi_identifiers"]
        },
        sensitive={name: list(frame[name]) for name in ROLES["sensitive"]},
    )


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table has many classes, and all groups are looked at."""
    monkeypatch.setattr(packed, "MANY", 0)


def close(a: object, b: object) -> bool:
    """Whether two documents agree, numbers up to rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-9, abs=1e-12)
    return a == b


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [None, 0.1])
def test_an_audit_says_the_same(monkeypatch: pytest.MonkeyPatch, fraction: float | None) -> None:
    policy = discreet.Policy.of(**ROLES, profile="wp216").replace(sampling_fraction=fraction)
    plain = discreet.audit(people(3000), policy).to_dict()
    monkeypatch.setattr(packed, "MANY", 0)
    other = discreet.audit(people(3000), policy).to_dict()
    for part in plain.keys() - {"created"}:
        mine, theirs = plain[part], other[part]
        if part == "exposure":
            assert isinstance(mine, dict)
            assert isinstance(theirs, dict)
            for entry in theirs["contributions"]:
                assert entry.pop("margin") == 0.0
            for name in mine:
                assert close(mine[name], theirs[name]), (name, mine[name], theirs[name])
        else:
            assert close(mine, theirs), part


def test_kinds_are_exact_for_every_model() -> None:
    classes = counted(2000)
    kinds = ClassKinds.of(classes)
    assert len(kinds) < len(classes) / 2
    assert kinds.times.sum() == len(classes)
    assert kinds.all_records.sum() == classes.total
    models = [
        KAnonymity(2),
        TCloseness(0.3, "income", distance="ordered"),
        BetaLikeness(1.0, "illness", kind="enhanced"),
        MultiAttributeLDiversity(2),
    ]
    for plain, other in zip(assess(models, classes), assess(models, kinds), strict=True):
        assert plain == other
        assert plain.failing_records == other.failing_records > 0


def test_kinds_without_sensitive_attributes() -> None:
    classes = EquivalenceClasses.from_columns({"a": [1, 1, 2, 3]})
    kinds = ClassKinds.of(classes)
    assert kinds.records.tolist() == [2, 1]
    assert kinds.times.tolist() == [1, 2]


@pytest.mark.parametrize("largest", [packed.LARGEST_TABLE, 40])
def test_combinations_and_special_uniques(many: None, monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    """Also where combinations do not fit in a table and are numbered by sorting."""
    monkeypatch.setattr(packed, "LARGEST_TABLE", largest)
    classes = counted(2000)
    exposing, scores = singled_out(classes, max_size=3, sampling_fraction=0.2)
    assert exposing == combinations(classes, max_size=3)
    plain = suda(classes, max_size=3, sampling_fraction=0.2)
    assert close(scores.to_dict(), plain.to_dict())


def test_the_riskiest_classes(many: None, monkeypatch: pytest.MonkeyPatch) -> None:
    classes = counted(2000)
    packed_way = riskiest_classes(classes, 8)
    monkeypatch.setattr(packed, "MANY", 1 << 40)
    assert riskiest_classes(classes, 8) == packed_way


def test_drawn_groups_estimate_what_counting_says(many: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "DRAWN", 2000)
    classes = counted(30_000)
    assert packed.packed(classes).halvings > 1
    plain = {each.attribute: each for each in contributions(classes)}
    for each in drawn_contributions(classes):
        assert each.margin is not None
        assert 0.0 < each.margin < 0.2
        # Twice the margin of 19 in 20: true for all but one in ten thousand draws.
        assert abs(each.risk_without - plain[each.attribute].risk_without) < 2 * each.margin
        assert abs(each.unique_without - plain[each.attribute].unique_without) < 2 * each.margin


def test_the_markov_model_is_estimated_from_groups_that_suffice(
    many: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "DRAWN", 5000)
    draw = np.random.default_rng(5)
    columns = {name: draw.integers(0, 40, 40_000).tolist() for name in "abcd"}
    classes = EquivalenceClasses.from_columns(columns)
    every = markov_risk(classes, ["a"])
    assert len(every.values) == len(classes)
    monkeypatch.setattr(markov, "ENOUGH_GROUPS", 1000)
    drawn = markov_risk(classes, ["a"])
    assert len(drawn.values) < len(classes) / 4
    assert drawn.mean == pytest.approx(every.mean, abs=0.02)
    assert every.min <= drawn.min <= drawn.max <= every.max


def test_the_audit_says_what_was_estimated(many: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "DRAWN", 500)
    policy = discreet.Policy.of(**ROLES)
    notes = " ".join(discreet.audit(people(3000), policy).notes)
    assert "one in 4 groups" in notes
    assert "in 19 of 20 cases" in notes
    assert (
        "groups" not in " ".join(discreet.audit(people(3000), policy, detail="core").notes).split("other")[-1]
    )


def test_an_audit_keeps_nothing_that_can_be_made_again(many: None) -> None:
    classes = discreet.audit(people(500), discreet.Policy.of(**ROLES)).classes
    assert not {"_packed", "records", "persons", "class_of_cell"} & set(classes.__dict__)
    assert classes.records.sum() == classes.total


def test_an_answer_comes_batch_by_batch_into_arrays_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven numbers in batches, where five rows were expected: a source that grew is seen, and nothing is lost."""
    monkeypatch.setattr("discreet.engine.duckdb.BATCH_ROWS", 2)
    engine = DuckDBEngine()
    for most in (1, 5, 7, 100):
        numbers = engine._fetch_numbers(
            "SELECT i AS w0, i * 0.5::DOUBLE AS weight FROM range(7) AS t(i)", most
        )
        assert numbers["w0"].tolist() == list(range(7))
        assert numbers["weight"].tolist() == [i / 2 for i in range(7)]
    assert engine._fetch_numbers("SELECT i FROM range(0) AS t(i)", 3)["i"].tolist() == []


def test_arrays_that_are_spent_are_sorted_where_they_lie() -> None:
    words, counts = np.array([5, 1, 3]), np.array([2, 1, 9])
    ordered, sums = sort_words([words], counts)
    assert (ordered[0].tolist(), sums.tolist()) == ([1, 3, 5], [1, 9, 2])
    assert (words.tolist(), counts.tolist()) == ([5, 1, 3], [2, 1, 9])
    [place], sums = sort_words([words], counts, spent=True)
    assert (place.tolist(), sums.tolist()) == ([1, 3, 5], [1, 9, 2])
    assert np.shares_memory(place, words)
    assert np.shares_memory(sums, counts)
    fixed = np.array([2, 1])
    fixed.flags.writeable = False
    [place], _ = sort_words([fixed], np.array([1, 1]), spent=True)
    assert (place.tolist(), fixed.tolist()) == ([1, 2], [2, 1])
