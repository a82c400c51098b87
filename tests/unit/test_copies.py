"""Copies of people in a release, against people who are not in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import discreet
from discreet.attacks.linkage.copies import copies
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step


def test_copies_by_hand() -> None:
    """Of four people two stand there as they are; of two others one does, who has a common age."""
    original = EquivalenceClasses.from_columns({"age": [31, 31, 47, 52], "sex": ["f", "f", "m", "m"]})
    released = EquivalenceClasses.from_columns({"age": [31, 47, 52], "sex": ["f", "f", "f"]})
    control = EquivalenceClasses.from_columns({"age": [31, 31], "sex": ["f", "m"]})
    result = copies(Pair.of(original, released), control=control)
    figures = dict(result.figures)
    assert (result.tries, result.successes, result.baseline) == (4, 2.0, 0.5)
    # Two are copied (0), of two the sex differs (1); of the control group one each.
    assert (figures["median-distance"], figures["median-distance-of-controls"]) == (0.0, 0.0)
    assert not result.better_than_baseline


def test_near_is_no_copy_however_far_others_are() -> None:
    """One pay of a hundred billion: beside it 3 and 4 are as good as 2 and 5 by distance, but nobody's."""
    original = EquivalenceClasses.from_columns({"pay": [2, 5, 10**11]})
    released = EquivalenceClasses.from_columns({"pay": [3, 5, 7]})
    control = EquivalenceClasses.from_columns({"pay": [4, 6]})
    result = copies(Pair.of(original, released), control=control)
    assert (result.successes, result.baseline) == (1.0, 0.0)


def test_who_lacks_a_value_is_copied_by_who_lacks_it_and_by_no_star() -> None:
    original = EquivalenceClasses.from_columns({"job": ["a", None], "age": [1, 2]})
    control = EquivalenceClasses.from_columns({"job": ["z", "a"], "age": [1, 9]})
    for shown, right in (
        ({"job": ["b", None], "age": [1, 2]}, 1.0),
        ({"job": ["*", "*"], "age": [1, 2]}, 0.0),
    ):
        result = copies(Pair.of(original, EquivalenceClasses.from_columns(shown)), control=control)
        assert (result.successes, result.baseline) == (right, 0.0)


def drawn(seed: int, rows: int = 600) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 90, rows),
            "pay": rng.integers(1000, 9000, rows),
            "job": rng.choice(list("abcdef"), rows),
        }
    )


def test_records_that_are_drawn_whole_are_copies_and_those_of_a_copula_are_not() -> None:
    rows, control = drawn(1), drawn(2)
    policy = discreet.Policy.of(quasi_identifiers=["age", "pay", "job"])
    rates = {}
    for method in ("synthetic-table", "synthetic-copula"):
        step = make_step({"method": method, "columns": ["age", "pay", "job"]})
        made = pa.table(step.changed(rows, Randomness(1)))
        tried = discreet.attack(
            made, policy.perturbed_by(step), original=rows, control=control, attacks=["copies", "membership"]
        )
        rates[method] = tried.result("copies")
    # A draw with replacement shows 1 - 1/e of all records; hardly anybody else is in the table by chance.
    assert abs(rates["synthetic-table"].rate - (1 - np.exp(-1))) < 0.06
    assert rates["synthetic-table"].better_than_baseline
    assert rates["synthetic-table"].baseline < 0.01
    assert not rates["synthetic-copula"].better_than_baseline


def test_an_independent_sample_is_not_called_a_copy() -> None:
    """Coarse values: nearly everybody has a copy, whether in the table or not."""
    rng = np.random.default_rng(7)
    tables = [
        pa.table({"age": rng.integers(0, 5, 400), "job": rng.choice(list("ab"), 400)}) for _ in range(3)
    ]
    result = copies(
        Pair.of(*(EquivalenceClasses.from_columns(table.to_pydict()) for table in tables[:2])),
        control=EquivalenceClasses.from_columns(tables[2].to_pydict()),
    )
    assert result.rate == result.baseline == 1.0
    assert not result.better_than_baseline


def test_releases_that_only_say_less_are_left_to_membership() -> None:
    rows = drawn(1, 60)
    policy = discreet.Policy.of(quasi_identifiers=["age", "pay", "job"])
    tried = discreet.attack(rows, policy, original=rows, control=drawn(2, 60), attacks=["copies"])
    assert tried.results == ()
    assert tried.untested[0].why.startswith("values only say less")
