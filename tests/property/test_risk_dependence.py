"""Dependence of attributes against scikit-learn, scipy and numpy on the expanded rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association
from sklearn.metrics import mutual_info_score

from discreet.classes import EquivalenceClasses
from discreet.risk import tally
from discreet.risk.dependence import absolute_pearson, cramers_v, dependence, mutual_information

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2), st.integers(0, 1)), min_size=2, max_size=40)


def build(rows: list[tuple[int, int, int]]) -> EquivalenceClasses:
    a, b, s = zip(*rows, strict=True)
    return EquivalenceClasses.from_columns({"a": a, "b": b}, sensitive={"s": s})


@pytest.mark.parametrize("dense", [True, False])
@given(rows=pairs)
def test_agrees_with_scikit_learn_scipy_and_numpy(dense: bool, rows: list[tuple[int, int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not dense:
            patch.setattr(tally, "is_dense", lambda sizes, length: False)
        columns = dict(zip("abs", np.array(rows).T, strict=True))
        classes = build(rows)
        for x, y in (("a", "b"), ("a", "s"), ("s", "s")):
            bits = mutual_info_score(columns[x], columns[y]) / np.log(2)
            assert mutual_information(classes, x, y) == pytest.approx(bits, abs=1e-9)
            constant = len(set(columns[x])) == 1 or len(set(columns[y])) == 1
            table = np.array(
                [
                    [np.sum((columns[x] == u) & (columns[y] == v)) for v in set(columns[y])]
                    for u in set(columns[x])
                ]
            )
            expected = 0.0 if constant else association(table, method="cramer")
            assert cramers_v(classes, x, y) == pytest.approx(expected, abs=1e-7)
            line = 0.0 if constant else abs(np.corrcoef(columns[x], columns[y])[0, 1])
            assert absolute_pearson(classes, x, y) == pytest.approx(line, abs=1e-9)


@given(pairs)
def test_matrices_are_symmetric_and_hold_the_single_measures(rows: list[tuple[int, int, int]]) -> None:
    classes = build(rows)
    found = dependence(classes)
    assert found.names == ("a", "b", "s")
    for matrix, measure in (
        (found.mutual_information, mutual_information),
        (found.cramers_v, cramers_v),
        (found.absolute_pearson, absolute_pearson),
    ):
        assert np.array_equal(matrix, matrix.T)
        for i, x in enumerate(found.names):
            for j, y in enumerate(found.names):
                assert matrix[i, j] == pytest.approx(measure(classes, x, y), abs=1e-12)
