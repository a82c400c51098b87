"""Many rows are put in a random order when they are read: nothing of the order that they had is left, in the file, too."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows count as many from eleven on."""
    for place in ("engine.counting.MANY_ROWS", "engine.sql.MANY_ROWS", "release.targets.STREAMED_ROWS"):
        monkeypatch.setattr(f"discreet.{place}", 10)


def people() -> pa.Table:
    return pa.table({"age": [i % 100 for i in range(400)], "b": ["x", None] * 200})


def turned(rows: pa.Table) -> pa.Table:
    return rows.take(pa.array(np.random.default_rng(1).permutation(rows.num_rows)))


def test_the_order_follows_from_rows_and_seed_long_after_their_table_was_let_go(tmp_path: Path) -> None:
    engine, rows = DuckDBEngine(), people()
    first, again = (engine.shuffle(read(each, engine=engine), seed=4) for each in (rows, turned(rows)))
    gc.collect()
    # Makes room, for which the engine drops what nobody uses any more.
    engine.count(read(rows, engine=engine), quasi_identifiers=["age"])
    shown = engine.to_arrow(first)
    assert engine.to_arrow(again).equals(shown)
    assert engine.to_arrow(first, first=7).equals(shown.slice(0, 7))
    assert not engine.to_arrow(engine.shuffle(first, seed=5)).equals(shown)
    places = engine.places(first)
    assert places is not None
    assert sorted(places.tolist()) == list(range(400))
    assert rows.take(pa.array(places)).to_pylist() == shown.to_pylist()
    engine.store(first, tmp_path / "first.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "first.parquet").to_pylist() == shown.to_pylist()


@pytest.mark.parametrize(("few", "side_by_side"), [(16, True), (0, False)])
def test_equal_rows_are_spread_unless_they_are_few(
    few: int, side_by_side: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.engine.sql.FEW_EQUAL", few)
    engine = DuckDBEngine()
    shown = engine.to_arrow(engine.shuffle(read(people(), engine=engine), seed=4))["age"].to_numpy()
    runs = int((shown[1:] != shown[:-1]).sum()) + 1
    # Four rows of each of a hundred are equal.
    assert (runs == 100) == side_by_side
    first = {int(age): place for place, age in reversed(list(enumerate(shown)))}
    assert sorted(first, key=first.__getitem__) != sorted(first)


def test_a_release_has_the_same_file_whatever_the_order_was_and_true_links(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 90, 3000),
            "ill": draw.choice(["flu", "cold"], 3000),
            "x": draw.integers(0, 9, 3000),
        }
    )
    backwards = frame.iloc[::-1].reset_index(drop=True)
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["ill"]).require(KAnonymity(60))
    files = []
    for name, rows in (("first", frame), ("second", backwards)):
        release = discreet.anonymize(rows, policy, plan=Plan(method="optimal"))
        release.save(tmp_path / f"{name}.parquet", links=tmp_path / f"{name}-links.csv")
        files.append(pyarrow.parquet.read_table(tmp_path / f"{name}.parquet"))
        original = rows.iloc[release.links].reset_index(drop=True)
        assert original["x"].tolist() == files[-1]["x"].to_pylist()
        assert original["ill"].tolist() == files[-1]["ill"].to_pylist()
    assert files[0].equals(files[1])
    assert 0 < files[0].num_rows <= 3000
    assert abs(np.corrcoef(release.links, np.arange(files[0].num_rows))[0, 1]) < 0.2
