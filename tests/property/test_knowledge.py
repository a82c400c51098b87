"""(c, k)-safety against every set of k implications, world by world, and what follows from it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.classes import EquivalenceClasses
from discreet.classes.kinds import ClassKinds
from discreet.errors import DiscreetError
from discreet.privacy import CKSafety, assess
from discreet.privacy.knowledge import disclosures

Bucket = list[str]
SMALL = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=3)
LARGER = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=12), min_size=1, max_size=5)


def counted(buckets: list[Bucket]) -> EquivalenceClasses:
    return EquivalenceClasses.from_columns(
        {"a": [i for i, bucket in enumerate(buckets) for _ in bucket]},
        sensitive={"dx": [value for bucket in buckets for value in bucket]},
    )


def by_worlds(buckets: list[Bucket], k: int, *, several: bool) -> Fraction:
    """The largest chance of a statement given k implications; with ``several``, also those with two premises or two conclusions."""
    worlds = [
        sum(world, ())
        for world in itertools.product(*(sorted(set(itertools.permutations(b))) for b in buckets))
    ]
    every = (1 << len(worlds)) - 1
    values = {value for bucket in buckets for value in bucket}
    statements = {
        sum(1 << i for i, world in enumerate(worlds) if world[person] == value)
        for person in range(len(worlds[0]))
        for value in values
    }
    premises, conclusions = set(statements), set(statements)
    if several:
        premises |= {a & b for a in statements for b in statements}
        conclusions |= {a | b for a in statements for b in statements}
    implications = {(every & ~premise) | conclusion for premise in premises for conclusion in conclusions}
    known = {every}
    for _ in range(k):
        known = {some & further for some in known for further in implications}
    return max(
        Fraction((statement & some).bit_count(), some.bit_count())
        for some in known
        if some
        for statement in statements
    )


@given(SMALL, st.sampled_from([(0, False), (1, True), (2, False)]))
def test_no_set_of_implications_tells_more_and_one_tells_as_much(
    buckets: list[Bucket], asked: tuple[int, bool]
) -> None:
    k, several = asked
    truth = by_worlds(buckets, k, several=several)
    assert CKSafety(1.0, k, "dx").measure(counted(buckets)).value == pytest.approx(float(truth), abs=1e-12)


def test_three_implications_over_two_classes() -> None:
    buckets = [list("aabc"), list("abc")]
    assert CKSafety(1.0, 1, "dx").measure(counted(buckets)).value == pytest.approx(
        float(by_worlds(buckets, 1, several=True))
    )
    # Three statements about one person of four values leave a single one.
    assert CKSafety(1.0, 3, "dx").measure(counted([list("abcd")])).value == 1.0


@given(LARGER, st.integers(0, 4))
def test_a_kind_of_classes_counts_as_often_as_it_occurs(buckets: list[Bucket], k: int) -> None:
    whole = counted(buckets + buckets)
    kinds = ClassKinds.of(whole)
    alike = disclosures(kinds.histogram("dx"), k, kinds.times).max()
    assert alike == pytest.approx(disclosures(whole.histogram("dx"), k).max())


@given(LARGER, st.integers(0, 4), st.floats(0.2, 0.95))
def test_classes_that_are_safe_by_themselves_are_safe_together(
    buckets: list[Bucket], k: int, c: float
) -> None:
    model, classes = CKSafety(c, k, "dx"), counted(buckets)
    holds = model.by_itself.holds(classes)
    if holds.any():
        assert model.satisfied(classes.subset(np.flatnonzero(holds)))
    [row] = assess([model], classes)
    assert row.holds == (row.measure.value < c - 1e-9)


@given(LARGER, st.integers(0, 4), st.data())
def test_merging_classes_tells_less(buckets: list[Bucket], k: int, data: st.DataObject) -> None:
    into = data.draw(st.lists(st.integers(0, 1), min_size=len(buckets), max_size=len(buckets)))
    merged: dict[int, Bucket] = {}
    for bucket, group in zip(buckets, into, strict=True):
        merged.setdefault(group, []).extend(bucket)
    finer, coarser = (
        CKSafety(1.0, k, "dx").measure(counted(b)).value for b in (buckets, list(merged.values()))
    )
    assert coarser <= finer + 1e-9


@pytest.mark.parametrize(("c", "k"), [(0.0, 1), (1.5, 1), (0.5, -1), (0.5, 13), (0.5, 1.5)])
def test_parameters_that_make_no_sense_are_refused(c: float, k: float) -> None:
    with pytest.raises(DiscreetError):
        CKSafety(c, k, "dx")  # type: ignore[arg-type]


ROWS = pa.table(
    {
        "age": [20 + i % 40 for i in range(160)],
        "zip": [1000 + 7 * i % 9 for i in range(160)],
        "dx": [["flu", "acne", "cold", "ulcer", "fever"][(i * i + i // 7) % 5] for i in range(160)],
    }
)


@pytest.mark.parametrize("method", ["optimal", "subtree", "mondrian", "local", "clustering"])
def test_every_method_releases_what_is_safe(method: str) -> None:
    asked = CKSafety(0.75, 1, "dx")
    policy = discreet.Policy.of(
        quasi_identifiers=["age", "zip"], sensitive=["dx"], require=[asked], profile="research-partner-3"
    )
    release = discreet.anonymize(ROWS, policy, plan=discreet.Plan(method=method))  # type: ignore[arg-type]
    verdict = discreet.check(release.to_arrow(), policy)
    assert [criterion.holds for criterion in verdict.criteria if criterion.id == asked.id] == [True]
