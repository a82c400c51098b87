"""Perturbed releases of the CASC reference microdata against published and recomputed figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.perturb.base import Perturbation
from discreet.perturb.coding import GroupAverages
from discreet.perturb.randomness import Randomness
from discreet.perturb.swapping import RankSwap
from discreet.types import FloatArray

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def casc(data_dir: Path) -> pa.Table:
    return pyarrow.csv.read_csv(data_dir / "sdcmicro" / "CASCrefmicrodata.csv")


def attacked(rows: pa.Table, step: Perturbation, seed: int) -> tuple[discreet.Attacks, pa.Table]:
    """The attacks on a release of all columns by one step, which the intruder knows."""
    new = step.changed(rows, Randomness(seed))
    released = pa.table({name: new[name] for name in rows.column_names})
    policy = discreet.Policy.of(quasi_identifiers=rows.column_names).perturbed_by(step)
    wanted = ["mechanism-linkage", "interval-disclosure"]
    links = np.arange(rows.num_rows)
    return discreet.attack(released, policy, original=rows, attacks=wanted, links=links), released


def correlations(rows: pa.Table) -> FloatArray:
    matrix = np.corrcoef([column.to_numpy() for column in rows.columns])
    return np.asarray(matrix[np.triu_indices(len(matrix), 1)])


@pytest.mark.parametrize(
    ("percent", "ordinary", "aware", "change"),
    [(2, 0.976, 1.0, 0.007), (10, 0.660, 0.984, 0.039), (20, 0.232, 0.675, 0.103)],
)
def test_rank_swapping_against_both_intruders(
    casc: pa.Table, percent: float, ordinary: float, aware: float, change: float
) -> None:
    results, released = attacked(casc, RankSwap(tuple(casc.column_names), percent=percent), seed=1)
    assert results.result("nearest-person").rate == pytest.approx(ordinary, abs=0.04)
    assert results.result("mechanism-linkage").rate == pytest.approx(aware, abs=0.04)
    assert results.exposure == pytest.approx(aware, abs=0.04), "the worse intruder counts"
    assert np.abs(correlations(casc) - correlations(released)).mean() == pytest.approx(change, rel=0.25)


def test_individual_ranking_protects_nobody(casc: pa.Table) -> None:
    # Each column averaged by itself leaves the combination of thirteen as recognisable as it was.
    results, released = attacked(casc, GroupAverages(tuple(casc.column_names), k=3), seed=1)
    assert results.result("mechanism-linkage").rate > 0.99
    assert results.result("interval-disclosure").rate > 0.99
    for name in casc.column_names:
        # Means of groups keep the total, but for rounding to whole numbers.
        assert released[name].to_numpy().sum() == pytest.approx(casc[name].to_numpy().sum(), rel=1e-3)


def test_along_one_axis_microaggregation_protects(casc: pa.Table) -> None:
    results, _ = attacked(casc, GroupAverages(tuple(casc.column_names), k=5, by="axis"), seed=1)
    # All records of a group look alike: nobody can be right more often than once in k.
    assert results.result("nearest-person").rate <= 1 / 5
