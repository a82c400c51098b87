"""Baselines of linkage against a simulated guesser, where most of the people are not in the release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from discreet.attacks.linkage.probabilistic import probabilistic_linkage
from discreet.attacks.linkage.singling_out import record_linkage, singling_out
from discreet.attacks.result import AttackResult
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair

PEOPLE, RELEASED = 200, 20


@pytest.fixture
def pair() -> Pair:
    """200 people of 200 ages of whom the first 20 are released, in tens: every age of a decade fits its records."""
    ages = list(range(PEOPLE))
    original = EquivalenceClasses.from_columns({"age": ages})
    shown = [f"[{at // 10 * 10}, {at // 10 * 10 + 9}]" for at in range(RELEASED)]
    released = EquivalenceClasses.from_columns({"age": shown})
    links = Links(
        np.arange(PEOPLE),
        np.array([at // 10 if at < RELEASED else -1 for at in range(PEOPLE)]),
        np.ones(PEOPLE, dtype=np.int64),
    )
    return Pair.of(original, released, links=links)


def test_the_baseline_is_what_a_blind_guesser_reaches(pair: Pair) -> None:
    result = record_linkage(pair)
    draw = np.random.default_rng(1)
    # Record r of the release is that of person r; the guesser names any record for each of the 200 people.
    guesses = draw.integers(0, RELEASED, size=(4000, PEOPLE))
    rate = float((guesses == np.arange(PEOPLE)).mean())
    assert result.baseline == pytest.approx(RELEASED / PEOPLE / RELEASED)
    assert result.baseline == pytest.approx(rate, rel=0.05)
    assert result.rate == pytest.approx(RELEASED / 10 / PEOPLE)


def test_who_is_isolated_by_the_record_of_another_is_not_singled_out() -> None:
    """Of four people one is released as ``*``: it fits all of them, and is right for one."""
    original = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52]})
    released = EquivalenceClasses.from_columns({"age": ["*"]})
    links = Links(np.arange(4), np.array([0, -1, -1, -1]), np.ones(4, dtype=np.int64))
    result = singling_out(Pair.of(original, released, links=links))
    assert dict(result.figures) == {"isolated": 1.0, "isolated-and-right": 0.25}
    assert (result.successes, result.tries, result.baseline) == (1.0, 4.0, 0.25)
    assert not result.better_than_baseline


def test_without_links_nobody_is_taken_to_be_released_who_is_not_in_the_original(pair: Pair) -> None:
    """Of 100 people who are looked for, 10 are in the original, and so at most 10 of the 20 records are theirs."""
    sought = EquivalenceClasses.from_columns({"age": [*range(10), *range(1000, 1090)]})
    result = record_linkage(replace(pair, links=None), targets=sought)
    assert result.tries == 100
    assert result.baseline == pytest.approx(10 / 100 / RELEASED)


@pytest.fixture
def register() -> EquivalenceClasses:
    """A public table: the odd ages of the original, and three people of 0 where the original has one."""
    return EquivalenceClasses.from_columns({"age": [*range(1, PEOPLE, 2), 0, 0, 0]})


def blind(register: EquivalenceClasses) -> float:
    """How often a guesser is right who names any released record for each person of the register.

    Record r is that of the person of age r; of three people of 0 one is that person.
    """
    draw = np.random.default_rng(2)
    ages = np.array([*range(1, PEOPLE, 2), 0, -1, -1])
    assert len(ages) == register.total
    return float((draw.integers(0, RELEASED, size=(20_000, len(ages))) == ages).mean())


@pytest.mark.parametrize("attack", [record_linkage, singling_out, probabilistic_linkage])
def test_a_public_table_is_held_against_a_guesser_at_its_own_people(
    pair: Pair, register: EquivalenceClasses, attack: Callable[..., AttackResult]
) -> None:
    if attack is probabilistic_linkage:
        pytest.importorskip("splink")
    result = attack(pair, targets=register)
    assert result.tries == register.total
    assert result.baseline == pytest.approx(11 / 103 / RELEASED)
    assert result.baseline == pytest.approx(blind(register), rel=0.05)


def test_a_public_person_whom_one_record_fits_is_right_once_of_those_alike() -> None:
    """Three people of 31 in the register, one in the original and released as such: isolated all three, right one."""
    original = EquivalenceClasses.from_columns({"age": [31, 47, 52]})
    links = Links(np.arange(3), np.arange(3), np.ones(3, dtype=np.int64))
    pair = Pair.of(original, original, links=links)
    register = EquivalenceClasses.from_columns({"age": [31, 31, 31, 60]})
    result = singling_out(pair, targets=register)
    assert dict(result.figures) == {"isolated": 0.75, "isolated-and-right": 0.25}
    assert result.baseline == pytest.approx(1 / 4 / 3)
    pytest.importorskip("splink")
    likely = probabilistic_linkage(pair, targets=register)
    figures = dict(likely.figures)
    assert figures["one-best-and-right"] == pytest.approx(0.25)
    assert figures["one-best"] >= 0.75
    assert likely.baseline == pytest.approx(1 / 4 / 3)
