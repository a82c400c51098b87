"""Linkage attacks against brute force, and what must hold for every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.linkage.compatible import compatible_linkage
from discreet.attacks.linkage.fitting import released_fitting
from discreet.attacks.linkage.membership import area, membership
from discreet.attacks.linkage.nearest import distances, nearest_linkage, nearest_people
from discreet.attacks.linkage.view import View
from discreet.attacks.linkage.worst_case import worst_case
from helpers.linkage_pairs import NAMES, Row, classes, linked, recoded, row_fits, rows, shows_nothing

Recoded = tuple[list[Row], list[Row | None]]


def figure(result: object, name: str) -> float:
    return dict(result.figures)[name]  # type: ignore[attr-defined]


def candidates(before: list[Row], after: list[Row | None]) -> list[int]:
    """Fitting released rows of each row, one comparison at a time."""
    return [sum(row is not None and row_fits(row, own, before) for row in after) for own in before]


@given(recoded())
def test_candidates_equal_a_brute_force_count(both: Recoded) -> None:
    before, after = both
    pair = linked(before, after)
    view = View.of(pair)
    fit = released_fitting(view)
    counted = {tuple(view.labels(t).values()): int(fit.everyone[t]) for t in range(len(view.targets))}
    for own, expected in zip(before, candidates(before, after), strict=True):
        assert counted[tuple("∅" if v is None else str(v) for v in own)] == expected


@given(recoded())
def test_successes_equal_the_expected_right_guesses(both: Recoded) -> None:
    before, after = both
    expected = 0.0
    for own, mine in zip(before, after, strict=True):
        fitting = [row for row in after if row is not None and row_fits(row, own, before)]
        shown = [row for row in fitting if not shows_nothing(row, before)]
        pool = shown or fitting
        expected += mine in pool and 1 / len(pool)
    pair = linked(before, after)
    assert compatible_linkage(pair).successes == pytest.approx(expected)
    bound = compatible_linkage(type(pair).of(pair.original, pair.released))
    assert bound.successes >= expected - 1e-9


@given(recoded(), st.lists(st.integers(0, 3), min_size=9, max_size=9))
def test_persons_are_counted_once(both: Recoded, persons: list[int]) -> None:
    before, after = both
    whose = persons[: len(before)]
    pair = linked(before, after, whose)
    view = View.of(pair)
    fit = released_fitting(view)
    counted = {tuple(view.labels(t).values()): int(fit.everyone[t]) for t in range(len(view.targets))}
    for own in before:
        found = {
            person
            for person, row in zip(whose, after, strict=True)
            if row is not None and row_fits(row, own, before)
        }
        assert counted[tuple("∅" if v is None else str(v) for v in own)] == len(found)


@given(rows())
def test_on_the_original_everyone_unique_is_singled_out(before: list[Row]) -> None:
    alone = sum(before.count(row) == 1 for row in before)
    result = compatible_linkage(linked(before, before))
    assert figure(result, "singled-out") == pytest.approx(alone / len(before))
    assert result.successes == pytest.approx(len(set(before)))
    assert figure(worst_case(linked(before, before)), "assigned-to-one") == pytest.approx(alone / len(before))
    assert nearest_linkage(linked(before, before)).successes == pytest.approx(len(set(before)))


@given(rows())
def test_on_nothing_no_attack_beats_its_baseline(before: list[Row]) -> None:
    trivial = linked(before, before).trivial()
    for attack in (compatible_linkage, nearest_linkage, worst_case):
        result = attack(trivial)
        assert result.rate == pytest.approx(result.baseline)
        assert result.low <= result.baseline + 1e-12
        assert not result.better_than_baseline
    result = membership(trivial, control=classes(before))
    assert result.low <= result.baseline <= result.high


@given(recoded(lost=False), st.sampled_from(range(len(NAMES))))
def test_coarser_never_singles_out_more(both: Recoded, column: int) -> None:
    before, after = both
    coarser: list[Row | None] = [
        tuple("*" if j == column else value for j, value in enumerate(row))
        for row in after
        if row is not None
    ]
    fine, coarse = linked(before, after), linked(before, coarser)
    for attack, name in ((compatible_linkage, "singled-out"), (worst_case, "assigned-to-one")):
        assert figure(attack(coarse), name) <= figure(attack(fine), name) + 1e-12
    assert worst_case(coarse).successes <= worst_case(fine).successes + 1e-9


@given(recoded())
def test_the_worst_case_equals_brute_force(both: Recoded) -> None:
    before, after = both
    kept = [row for row in after if row is not None]
    counts = [sum(row_fits(row, own, before) for own in before) for row in kept]
    result = worst_case(linked(before, after))
    assert result.tries == len(kept)
    assert result.successes == pytest.approx(sum(1 / count for count in counts))
    assert figure(result, "assigned-to-one") == pytest.approx(counts.count(1) / len(kept))


# Nulls mean missing only in a table that has them: left out, so that both tables agree on them.
@given(recoded(nulls=False), rows(nulls=False))
def test_a_public_table_is_judged_against_its_own_values(both: Recoded, public: list[Row]) -> None:
    before, after = both
    pair = linked(before, after)
    others = [(age if age != 23 else 25, *rest) for age, *rest in public]
    view = View.of(pair, None, classes(others))
    fit = released_fitting(view)
    counted = {tuple(view.labels(t).values()): int(fit.everyone[t]) for t in range(len(view.targets))}
    for own in others:
        expected = sum(row is not None and row_fits(row, own, before) for row in after)
        assert counted[tuple(map(str, own))] == expected
    inside = sum(min(others.count(row), before.count(row)) for row in set(others))
    result = compatible_linkage(pair, targets=classes(others))
    assert figure(result, "targets-in-original") == pytest.approx(inside / len(others))
    assert result.successes <= inside + 1e-9


@given(recoded())
def test_the_nearest_are_those_of_a_full_comparison(both: Recoded) -> None:
    view = View.of(linked(*both))
    at = np.arange(len(view.targets))
    found = nearest_people(view, at)
    every = np.arange(len(view.released))
    for t in at:
        far = distances(view, every, np.full(len(every), t))
        assert found.distance[t] == pytest.approx(far.min())
        assert found.people[t] == view.released.sizes[far <= far.min() + 1e-9].sum()


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6), st.lists(st.integers(0, 4), min_size=1, max_size=6)
)
def test_the_area_is_the_share_of_pairs_in_order(high: list[int], low: list[int]) -> None:
    expected = np.mean([(h > one) + 0.5 * (h == one) for h in high for one in low])
    found = area(
        np.array(high, dtype=float), np.ones(len(high)), np.array(low, dtype=float), np.ones(len(low))
    )
    assert found == pytest.approx(expected)
