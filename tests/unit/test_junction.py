"""Junction trees: cliques, marginals that agree, the distribution of greatest entropy, and rows drawn from it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from discreet.dp import aim
from discreet.dp.aim import AdaptiveModel
from discreet.dp.junction import agreeing, cells_of, cliques_of, draw_rows, drawn_given, fit_tree, sum_to
from discreet.dp.merged import table_of
from discreet.dp.noise import Noisy
from discreet.dp.tree import MeasuredTable


def chain(rows: int = 4000) -> list[np.ndarray]:
    """Four columns: the second follows the first, the third is the sum of both, the fourth is alone."""
    first = np.arange(rows) % 3
    second = (first + (np.arange(rows) // 3) % 2) % 3
    return [first, second, (first + second) % 4, (np.arange(rows) // 7) % 2]


SIZES = [3, 3, 4, 2]


def measured(codes: list[np.ndarray], *tables: tuple[int, ...]) -> dict[tuple[int, ...], MeasuredTable]:
    return {columns: MeasuredTable(table_of(codes, columns, SIZES).astype(float), 1.0) for columns in tables}


def test_cliques_hold_every_table_and_every_column() -> None:
    tables = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (5,)]
    cliques = cliques_of(tables, [2] * 6)
    assert all(any(set(table) <= set(clique) for clique in cliques) for table in tables)
    assert cells_of(cliques, [2] * 6) == 3 * 8 + 2
    # Running intersection: the cliques that hold a column hang together.
    tree = fit_tree({t: MeasuredTable(np.full([2] * len(t), 4.0), 1.0) for t in tables}, [2] * 6)
    for column in range(6):
        holders = [at for at, clique in enumerate(tree.cliques) if column in clique]
        assert sum(tree.parents[at] in holders for at in holders) == len(holders) - 1


def test_tables_without_noise_are_kept_whatever_the_tree() -> None:
    codes = chain()
    given = measured(codes, (0, 1, 2), (1, 3), (0, 3))
    tree = fit_tree(given, SIZES, sweeps=60)
    for columns, table in given.items():
        assert tree.marginal(columns) == pytest.approx(table.counts, abs=2)
    assert tree.total == pytest.approx(4000)


def test_of_what_is_not_measured_nothing_is_assumed() -> None:
    """Greatest entropy: the first and the last column of a chain are independent given the one between."""
    codes = chain()
    tree = fit_tree(measured(codes, (0, 1), (1, 3)), SIZES)
    drawn = draw_rows(tree, 4000)
    between = table_of(drawn, (0, 1, 3), SIZES)
    expected = (
        between.sum(axis=2, keepdims=True)
        * between.sum(axis=0, keepdims=True)
        / between.sum(axis=(0, 2))[None, :, None]
    )
    assert np.abs(between - expected).sum() < 0.1 * 4000
    assert np.bincount(drawn[2]).tolist() == [1000] * 4


def test_noisy_tables_come_to_agree_by_their_precision() -> None:
    rough = {
        (0,): MeasuredTable(np.array([60.0, 40.0]), 1.0),
        (0, 1): MeasuredTable(np.array([[30.0, 20.0], [-5.0, 45.0]]), 1.0),
    }
    tables, total = agreeing(rough)
    assert total == pytest.approx(100 * (1 / 2) / (1 / 2 + 1 / 4) + 90 * (1 / 4) / (1 / 2 + 1 / 4), abs=2)
    assert min(table.min() for table in tables.values()) > 0
    assert sum_to(tables[0, 1], (0, 1), (0,)) == pytest.approx(tables[(0,)], rel=0.05)


def test_rows_are_drawn_to_the_nearest_count() -> None:
    known = np.repeat([0, 2, 3], [10, 100, 7])
    table = np.array([[1.0, 1.0], [5.0, 5.0], [0.25, 0.75], [0.0, 0.0]])
    drawn = drawn_given(known, table)
    assert np.bincount(drawn[known == 0], minlength=2).tolist() == [5, 5]
    assert np.bincount(drawn[known == 2], minlength=2).tolist() == [25, 75]
    # Of what the table says nothing, all are alike.
    assert sorted(np.bincount(drawn[known == 3], minlength=2).tolist()) == [3, 4]


def test_drawn_rows_have_the_tables_of_the_tree() -> None:
    codes = chain()
    given = measured(codes, (0, 1, 2), (2, 3))
    drawn = draw_rows(fit_tree(given, SIZES), 4000)
    for columns in ((0, 1, 2), (2, 3)):
        assert np.abs(table_of(drawn, columns, SIZES) - given[columns].counts).max() <= 3


def test_the_adaptive_model_finds_what_three_columns_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third is the parity of two fair ones: no pair shows it, so a tree of pairs cannot."""
    rows = np.arange(8000)
    a, b, c = rows % 2, (rows // 2) % 2, (rows // 4) % 3
    codes = [a, b, c, a ^ b]
    sizes = [2, 2, 3, 2]
    columns = [
        MeasuredTable(np.bincount(code, minlength=n).astype(float), 1.0)
        for code, n in zip(codes, sizes, strict=True)
    ]

    def exact(values: list[int], *, sensitivity: float, rho: float) -> Noisy:
        return Noisy(list(values), "gaussian", sensitivity / math.sqrt(2 * rho))

    monkeypatch.setattr(aim, "gaussian", exact)
    monkeypatch.setattr(aim, "noisy_max_rho", lambda scores, **_: int(np.argmax(scores)))
    model = AdaptiveModel(codes, columns, 8000.0, 1, 1.0)
    kept = model.fit()
    drawn = model.draw(model.rows)
    assert (0, 1, 3) in kept
    assert float(np.mean(drawn[3] == drawn[0] ^ drawn[1])) > 0.99
    assert model.left == 0


def test_no_round_spends_what_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = []

    def gaussian(values: list[int], *, sensitivity: float, rho: float) -> Noisy:
        spent.append(rho)
        return Noisy(list(values), "gaussian", sensitivity / math.sqrt(2 * rho))

    def noisy_max_rho(scores: list[int], *, sensitivity: int, rho: float) -> int:
        spent.append(rho)
        return len(scores) - 1

    monkeypatch.setattr(aim, "gaussian", gaussian)
    monkeypatch.setattr(aim, "noisy_max_rho", noisy_max_rho)
    codes = chain(500)
    columns = [
        MeasuredTable(np.bincount(code, minlength=n).astype(float), 1.0)
        for code, n in zip(codes, SIZES, strict=True)
    ]
    AdaptiveModel(codes, columns, 500.0, 1, 0.3).fit()
    assert sum(spent) == pytest.approx(0.3)
    assert sum(spent) <= 0.3 * (1 + 1e-12)


def test_a_tree_that_is_full_takes_no_further_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aim, "TREE_CELLS", 30)
    monkeypatch.setattr(aim, "gaussian", lambda values, **_: Noisy(list(values), "gaussian", 5.0))
    monkeypatch.setattr(aim, "noisy_max_rho", lambda scores, **_: int(np.argmax(scores)))
    codes = chain(500)
    columns = [
        MeasuredTable(np.bincount(code, minlength=n).astype(float), 1.0)
        for code, n in zip(codes, SIZES, strict=True)
    ]
    model = AdaptiveModel(codes, columns, 500.0, 1, 0.3)
    model.fit()
    smallest = min(
        cells_of(cliques_of([*model.tables, pair], SIZES), SIZES)
        for pair in itertools.combinations(range(4), 2)
    )
    assert cells_of(cliques_of(list(model.tables), SIZES), SIZES) <= max(30, smallest)
