"""The nearest records: rows that stand for many records count as these, and equal rows are equally near."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.utility.encoding import Encoder
from discreet.utility.learners import learn


@pytest.mark.parametrize("turned", [False, True])
def test_many_records_of_one_row_have_the_chances_of_all_of_them(turned: bool) -> None:
    """Of 100 who smoke 70 have the second label: neither the order of rows nor a bound on copies may hide it."""
    pytest.importorskip("sklearn")
    people = EquivalenceClasses.from_columns({"smokes": ["no", "yes"]}, counts=[100, 100])
    encoder = Encoder.of(Pair.of(people, people))
    rows, labels, weights = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2]), np.array([100.0, 30.0, 70.0, 0.0])
    order = np.arange(4)[::-1] if turned else np.arange(4)
    learned = learn("k-nearest", encoder.released(rows[order]), labels[order], weights[order], count=3)
    chances = learned.chances(encoder.released(np.array([0, 1])))
    assert chances == pytest.approx(np.array([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0]]))


def test_rows_are_taken_until_they_hold_fifteen_records() -> None:
    pytest.importorskip("sklearn")
    ages = list(range(0, 80, 10))
    people = EquivalenceClasses.from_columns({"age": ages}, counts=[10] * 8)
    encoder = Encoder.of(Pair.of(people, people))
    features = encoder.released(np.arange(8))
    learned = learn("k-nearest", features, np.arange(8) // 4, np.full(8, 10.0), count=2)
    chances = learned.chances(features)
    # Two rows hold twenty records: at the ends both have the same label.
    assert chances[[0, 7]] == pytest.approx(np.eye(2))
    assert set(np.round(chances.ravel(), 9)) <= {0.0, 0.5, 1.0}
