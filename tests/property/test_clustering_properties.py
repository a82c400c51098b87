"""Every clustering is a partition into groups of k persons, and MDAV is what its definition says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.privacy import LDiversity
from discreet.search.clusters.k_member import k_member
from discreet.search.clusters.microaggregation import microaggregate
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.recoding import Recoding

Row = tuple[int | None, str, int, int, str]
rows_strategy = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 7, 20, None]),
        st.sampled_from(["a1", "a2", "b1", "b2"]),
        st.integers(0, 2),
        st.integers(0, 5),
        st.sampled_from(["x", "y", "z"]),
    ),
    min_size=1,
    max_size=40,
)
PLACES = Hierarchy.of("b", [[leaf, leaf[0], "*"] for leaf in ("a1", "a2", "b1", "b2")])


def build(rows: list[Row], *, event: bool) -> EquivalenceClasses:
    number, place, small, person, sensitive = zip(*rows, strict=True)
    return EquivalenceClasses.from_columns(
        {"a": number, "b": place, "c": small},
        sensitive={"s": sensitive},
        person=person if event else None,
    )


def check(found: Recoding, classes: EquivalenceClasses, k: int) -> None:
    """All are kept if there are k persons, nobody if not; and the released groups have k persons."""
    assert found.kept.all() == (classes.total_persons >= k)
    assert found.kept.any() == found.kept.all()
    if found.kept.all():
        assert found.regrouped().persons.min() >= k
    least = np.array([1 / column.leaves for column in found.columns])
    assert (found.shares >= least[:, None] - 1e-12).all()
    assert (found.shares <= 1 + 1e-12).all()


@given(rows_strategy, st.integers(1, 6), st.booleans(), st.sampled_from(["values", "hierarchy"]))
def test_k_member_keeps_its_promise(rows: list[Row], k: int, event: bool, style: str) -> None:
    classes = build(rows, event=event)
    ladders = [None, PLACES.ladder(classes.attributes[1]), None]
    found = k_member(classes, k, ladders=ladders, style=style)  # type: ignore[arg-type]
    check(found, classes, k)
    greedy = k_member(classes, k, ladders=ladders, style=style, passes=0)  # type: ignore[arg-type]
    if not event and not classes.attributes[0].has_null:
        # With persons in several classes, and nulls among numbers, groups may be merged or written otherwise.
        assert (found.shares @ classes.records).sum() <= (greedy.shares @ classes.records).sum() + 1e-9


@given(
    rows_strategy,
    st.integers(1, 6),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["mean", "median", "mode", "interval", "hierarchy"]),
)
def test_microaggregation_keeps_its_promise(
    rows: list[Row], k: int, event: bool, variable: bool, replace: str
) -> None:
    classes = build(rows, event=event)
    ladders = [None, PLACES.ladder(classes.attributes[1]), None]
    found = microaggregate(classes, k, ladders=ladders, variable_size=variable, replace=replace)  # type: ignore[arg-type]
    check(found, classes, k)
    if replace == "mean":
        column = found.columns[2]
        after = classes.records @ column.values.to_numpy(zero_copy_only=False)[column.codes]
        before = classes.records @ classes.attributes[2].numbers[classes.codes[2]]
        assert after == pytest.approx(before)


@given(rows_strategy, st.integers(1, 3), st.booleans())
def test_further_models_hold_for_what_is_kept(rows: list[Row], k: int, event: bool) -> None:
    classes = build(rows, event=event)
    model = LDiversity(2, "s")
    for found in (k_member(classes, k, models=[model]), microaggregate(classes, k, models=[model])):
        if found.kept.all():
            assert model.satisfied(found.regrouped())
        else:
            # Merging goes on until everything is one group: that only fails if the table does.
            assert not found.kept.any()
            assert len({row[4] for row in rows}) == 1 or classes.total_persons < k


def reference_mdav(points: NDArray[np.float64], k: int) -> list[set[int]]:
    """MDAV as it is written down, one record at a time."""
    rest = list(range(len(points)))
    groups: list[set[int]] = []

    def take(seed: int) -> None:
        nearest = sorted(rest, key=lambda x: float(((points[x] - points[seed]) ** 2).sum()))[:k]
        groups.append(set(nearest))
        for x in nearest:
            rest.remove(x)

    def furthest(place: NDArray[np.float64]) -> int:
        return max(rest, key=lambda x: float(((points[x] - place) ** 2).sum()))

    while len(rest) >= 3 * k:
        r = furthest(points[rest].mean(axis=0))
        s = furthest(points[r])
        take(r)
        # s is furthest from r, so it is not among the k nearest to r.
        take(s)
    if len(rest) >= 2 * k:
        take(furthest(points[rest].mean(axis=0)))
    if rest:
        groups.append(set(rest))
    return groups


@pytest.mark.parametrize(("n", "k"), [(20, 2), (31, 3), (60, 5), (97, 4), (8, 3), (5, 3)])
def test_mdav_equals_its_definition(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    raw = rng.normal(size=(n, 3)) * [1.0, 20.0, 0.1]
    classes = EquivalenceClasses.from_columns({name: raw[:, j] for j, name in enumerate("abc")})
    standard = (raw - raw.mean(axis=0)) / raw.std(axis=0, ddof=1)
    # Classes are sorted by their first attribute.
    order = np.argsort(raw[:, 0])
    found = microaggregate(classes, k, variable_size=False)
    groups = {frozenset(order[found.owner == g].tolist()) for g in range(int(found.owner.max()) + 1)}
    assert groups == {frozenset(group) for group in reference_mdav(standard, k)}
