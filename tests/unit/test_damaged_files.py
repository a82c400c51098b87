"""Files with wrong bytes are read or refused in words: nothing else may happen, whatever the bytes."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import random
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.errors import DiscreetError, UnreadableInput

ROWS = 300
TABLE = pa.table(
    {
        "age": [20 + i % 10 for i in range(ROWS)],
        "sex": ["fm"[i % 2] for i in range(ROWS)],
        "born": [dt.date(2020, 1, 1 + i % 28) for i in range(ROWS)],
        "pay": [i / 7 for i in range(ROWS)],
    }
)
CASES = 60


@pytest.fixture(scope="module")
def engine() -> DuckDBEngine:
    return DuckDBEngine()


def whole(folder: Path, kind: str) -> bytes:
    file = folder / f"whole.{kind}"
    rows = TABLE.to_pylist()
    if kind == "parquet":
        pq.write_table(TABLE, file)
    elif kind == "arrow":
        pa.feather.write_feather(TABLE, file, compression="uncompressed")
    elif kind == "xlsx":
        book = openpyxl.Workbook()
        for row in ([TABLE.column_names], (list(row.values()) for row in rows)):
            for cells in row:
                book.active.append(cells)  # type: ignore[union-attr]
        book.save(file)
    elif kind == "jsonl":
        file.write_text("\n".join(json.dumps(row, default=str) for row in rows))
    else:
        lines = [TABLE.column_names, *([str(cell) for cell in row.values()] for row in rows)]
        text = "\n".join(map(",".join, lines)).encode()
        file.write_bytes(gzip.compress(text) if kind == "csv.gz" else text)
    return file.read_bytes()


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, left out or put in, more often near the end, where formats keep their directories."""
    changed = bytearray(content)
    for _ in range(chance.choice([1, 1, 3, 20])):
        near = chance.random() < 0.4
        at = max(0, len(changed) - 1 - chance.randrange(900)) if near else chance.randrange(len(changed))
        what = chance.random()
        if what < 0.6:
            changed[at] = chance.randrange(256)
        elif what < 0.8 and len(changed) > 100:
            del changed[at : at + chance.randrange(1, 50)]
        else:
            changed[at:at] = chance.randbytes(chance.randrange(1, 9))
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "arrow", "xlsx", "jsonl", "csv", "csv.gz"])
def test_whatever_the_bytes(kind: str, tmp_path: Path, engine: DuckDBEngine) -> None:
    content, chance = whole(tmp_path, kind), random.Random(7)
    file = tmp_path / f"damaged.{kind}"
    refused = 0
    for _ in range(CASES):
        file.write_bytes(damaged(content, chance))
        try:
            table = read(file, engine=engine)
            engine.profile(table)
            engine.count(table, quasi_identifiers=table.names[:2])
            engine.to_arrow(table).to_pylist()
        except DiscreetError:
            refused += 1
    assert refused > CASES // 20


def test_damage_inside_a_page_of_parquet_is_told(tmp_path: Path) -> None:
    """The directory is sound and the rows are not, which only reading them shows."""
    file = tmp_path / "people.parquet"
    pq.write_table(pa.table({"t": [f"text {i % 50}" for i in range(5000)]}), file, use_dictionary=False)
    content = bytearray(file.read_bytes())
    content[60:160] = bytes(100)
    file.write_bytes(content)
    with pytest.raises(UnreadableInput):
        read(file).engine.profile(read(file))
