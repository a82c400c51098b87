"""Where nearly all rows differ, their words are sorted here and not grouped by the engine: the same classes come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.classes import EquivalenceClasses, equivalence, packing
from discreet.classes.packing import Packing, counted_words, run_bounds, run_starts
from discreet.engine import counting
from discreet.engine.counting import has_no_gaps
from discreet.engine.duckdb import DuckDBEngine
from discreet.table import Domain

ROWS = 600


def people(alike: int) -> pa.Table:
    """Rows of which each stands ``alike`` times; whole numbers with and without gaps, texts, nulls."""
    draw = np.random.default_rng(5)
    columns = {
        "age": [None, *(18 + draw.integers(0, 60, ROWS - 1)).tolist()],
        "zip": (10_000 + 7 * draw.integers(0, 90, ROWS)).tolist(),
        "sex": draw.choice(["f", "m", "?"], ROWS).tolist(),
        "born": (draw.integers(-3, 4, ROWS)).tolist(),
        "illness": draw.choice(["flu", "cold"], ROWS).tolist(),
    }
    return pa.table({name: values * alike for name, values in columns.items()})


class NothingIsFew(DuckDBEngine):
    """Groups or sorts however few rows there are."""

    few_rows = 0


def counted(path: Path, **given: Any) -> EquivalenceClasses:
    table = discreet.read(path, engine=NothingIsFew())
    return table.engine.count(
        table, quasi_identifiers=["age", "zip", "sex", "born"], sensitive=["illness"], **given
    )


def same(first: EquivalenceClasses, second: EquivalenceClasses) -> bool:
    arrays = [(*c.codes, c.indptr, c.counts, *c.sensitive_codes.values()) for c in (first, second)]
    return first.attributes == second.attributes and all(
        a.dtype == b.dtype and a.tolist() == b.tolist() for a, b in zip(*arrays, strict=True)
    )


@pytest.mark.parametrize(("alike", "sorts"), [(1, True), (2, True), (9, False)])
def test_sorted_and_grouped_rows_are_the_same_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alike: int, sorts: bool
) -> None:
    pyarrow.parquet.write_table(people(alike), tmp_path / "people.parquet")
    grouped = counted(tmp_path / "people.parquet")
    assert grouped.total == alike * ROWS
    calls = []
    inner = DuckDBEngine._grouped
    monkeypatch.setattr(DuckDBEngine, "_grouped", lambda *a: calls.append(1) or inner(*a))
    monkeypatch.setattr(counting, "MANY_ROWS", 10)
    assert same(counted(tmp_path / "people.parquet"), grouped)
    assert bool(calls) is not sorts


def test_weights_and_persons_are_counted_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(1).append_column("weight", pa.array(np.linspace(1, 2, ROWS)))
    table = table.append_column("who", pa.array(np.arange(ROWS) // 2))
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(table, path)
    few = counted(path, weight="weight"), counted(path, person="who")
    monkeypatch.setattr(counting, "MANY_ROWS", 10)
    many = counted(path, weight="weight"), counted(path, person="who")
    assert same(many[0], few[0])
    assert many[0].weights.tolist() == few[0].weights.tolist()
    assert same(many[1], few[1])
    assert many[1].person_codes.tolist() == few[1].person_codes.tolist()


def test_little_memory_leaves_the_grouping_to_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MANY_ROWS", 10)
    monkeypatch.setattr(counting, "memory", lambda: 16 * 100 - 1)
    assert not DuckDBEngine()._nearly_distinct("SELECT i AS w0 FROM range(100) AS t(i)", 100)
    monkeypatch.setattr(counting, "memory", lambda: 16 * 100)
    assert DuckDBEngine()._nearly_distinct("SELECT i AS w0 FROM range(100) AS t(i)", 100)


def test_whole_numbers_without_gaps_need_no_dictionary() -> None:
    def runs(*values: Any, null: bool = False) -> bool:
        return has_no_gaps(Domain("a", pa.array(values), has_null=null))

    assert runs(-1, 0, 1)
    assert runs(4, null=True)
    assert not runs(-1, 1)
    assert not runs("1", "2")
    assert not runs(1.0, 2.0)
    assert not has_no_gaps(Domain("a", pa.array([], pa.int64()), has_null=True))
    assert not has_no_gaps(Domain("a", pa.array([2**63, 2**63 + 1], pa.uint64())))


@pytest.mark.parametrize("piece", [1, 7, 250])
def test_new_codes_piece_by_piece_give_the_same_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    pyarrow.parquet.write_table(people(2), tmp_path / "people.parquet")
    classes = counted(tmp_path / "people.parquet")
    halves = classes.attributes[1].size // 2
    coarser = {
        "zip": (np.arange(classes.attributes[1].size) // halves, Domain("zip", pa.array(["a", "b", "c"])))
    }
    whole = classes.roll_up(coarser), classes.project(["sex"]), classes.project([])
    monkeypatch.setattr(equivalence, "PIECE", piece)
    pieces = classes.roll_up(coarser), classes.project(["sex"]), classes.project([])
    assert all(same(a, b) for a, b in zip(whole, pieces, strict=True))


def test_a_sample_is_drawn_once() -> None:
    engine = DuckDBEngine()
    table = discreet.read(people(2), engine=engine)
    drawn = engine.sample(table, 50)
    assert engine.sample(table.without(["age"]), 50).lease is drawn.lease
    assert engine.sample(table.without(["age"]), 50).names == table.names[1:]
    assert engine.sample(table, 51).rows == 51


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_runs_are_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """4, 4, 5 | 6 | 9, 9: without the lowest bit 4 and 5 are one, 6 and 9 others."""
    monkeypatch.setattr(packing, "CHUNK", chunk)
    words = np.array([4, 4, 5, 6, 9, 9])
    assert run_starts([words]).tolist() == [0, 2, 3, 4]
    assert run_bounds([words], 1).tolist() == [0, 3, 4, 6]
    assert run_bounds([np.array([0, 0, 0, 0, 0, 1]), words], 1).tolist() == [0, 3, 4, 5, 6]
    assert run_bounds([words[:0]], 1).tolist() == [0]
    [distinct], counts = counted_words(np.array([9, 4, 6, 4, 5, 9]))
    assert (distinct.tolist(), counts.tolist()) == ([4, 5, 6, 9], [2, 1, 1, 2])
    layout = Packing.of([4, 2])
    assert layout.unpack([words], 0, np.array([0, 3])).tolist() == [2, 3]
