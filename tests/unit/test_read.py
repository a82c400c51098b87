"""The same people through every door: whatever the format, the equivalence classes are the same.

What is empty differs by format, and this is the rule:

* text files know no null: an empty field is the empty text, unless ``missing`` says otherwise;
* spreadsheets know no empty text: an empty cell is a null;
* Parquet, Arrow, JSON lines and frames know both and keep them apart.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from discreet.classes import EquivalenceClasses
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.errors import (
    DiscreetError,
    EmptyTable,
    InvalidParameter,
    UnknownColumn,
    UnreadableInput,
    UnsuitableColumn,
)

SECRET = "Zzyzx-4711"
DAY = dt.date(2001, 2, 28)
PEOPLE: dict[str, list[object]] = {
    "age": [31, 47, 31, 31, 8],
    "pay": [1250.5, 900.25, 1250.5, 1250.5, 0.5],
    "note": ['said "no"', "two\nlines; 1,5", "Ünï – €", 'said "no"', ""],
    "born": [DAY, dt.date(1985, 12, 1), DAY, DAY, dt.date(2024, 1, 31)],
    "zip": ["01234", "1234", "01234", "01234", None],
}
SENSITIVE = "zip"
QUASI_IDENTIFIERS = ["age", "pay", "note", "born"]
TABLE = pa.table(PEOPLE)


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    made = DuckDBEngine()
    yield made
    made.close()


def wanted(*, null: bool, empty: bool) -> EquivalenceClasses:
    """The classes by hand, for a format that may know neither nulls nor empty texts."""

    def seen(value: object) -> object:
        if value is None and not null:
            return ""
        return None if value == "" and not empty else value

    columns = {name: [seen(value) for value in column] for name, column in PEOPLE.items()}
    return EquivalenceClasses.from_columns(
        {name: columns[name] for name in QUASI_IDENTIFIERS}, sensitive={SENSITIVE: columns[SENSITIVE]}
    )


def same(found: EquivalenceClasses, other: EquivalenceClasses) -> None:
    pairs = zip((*found.attributes, *found.sensitive), (*other.attributes, *other.sensitive), strict=True)
    for mine, theirs in pairs:
        assert mine.name == theirs.name
        assert mine.values.to_pylist() == theirs.values.to_pylist(), mine.name
        assert mine.has_null == theirs.has_null, mine.name
    for a, b in zip(found.codes, other.codes, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found.indptr, other.indptr)
    np.testing.assert_array_equal(found.counts, other.counts)
    np.testing.assert_array_equal(found.sensitive_codes[SENSITIVE], other.sensitive_codes[SENSITIVE])


def as_text(delimiter: str, decimal: str = ".") -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(PEOPLE)
    for row in zip(*PEOPLE.values(), strict=True):
        cells = [str(v).replace(".", decimal) if isinstance(v, float) else v for v in row]
        writer.writerow(cells)
    return stream.getvalue()


def write_excel(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(PEOPLE))
    for row in zip(*PEOPLE.values(), strict=True):
        sheet.append(list(row))
    book.create_sheet("other").append(["alone"])
    book["other"].append([1])
    book.save(path)


def write_stream(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)


def write_json(path: Path) -> None:
    rows = (json.dumps(row, default=str, ensure_ascii=False) for row in TABLE.to_pylist())
    path.write_text("\n".join(rows), encoding="utf-8")


FILES: dict[str, tuple[Callable[[Path], object], bool, bool]] = {
    # name: how it is written, whether it knows nulls, whether it knows empty texts
    "people.csv": (lambda p: p.write_bytes(as_text(",").encode()), False, True),
    "people.tsv": (lambda p: p.write_bytes(as_text("\t").encode()), False, True),
    "people.csv.gz": (lambda p: p.write_bytes(gzip.compress(as_text(",").encode())), False, True),
    "bom.csv": (lambda p: p.write_bytes(as_text(",").encode("utf-8-sig")), False, True),
    "western.csv": (lambda p: p.write_bytes(as_text(";", ",").encode("cp1252")), False, True),
    "people.parquet": (lambda p: pq.write_table(TABLE, p, row_group_size=2), True, True),
    "people.feather": (lambda p: pyarrow.feather.write_feather(TABLE, str(p)), True, True),
    "people.arrow": (write_stream, True, True),
    "people.jsonl": (write_json, True, True),
    "people.xlsx": (write_excel, True, False),
}


@pytest.mark.parametrize("name", FILES)
def test_files_give_the_same_classes(engine: DuckDBEngine, tmp_path: Path, name: str) -> None:
    write, null, empty = FILES[name]
    write(tmp_path / name)
    table = read(tmp_path / name, engine=engine)
    assert table.names == tuple(PEOPLE)
    assert table.source.name == name
    assert table.source.sha256 is not None
    assert [column.type for column in table.columns] == [
        "integer",
        "continuous",
        "nominal",
        "date",
        "nominal",
    ]
    same(
        engine.count(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE]),
        wanted(null=null, empty=empty),
    )


@pytest.mark.parametrize("name", FILES)
def test_only_the_first_rows(engine: DuckDBEngine, tmp_path: Path, name: str) -> None:
    FILES[name][0](tmp_path / name)
    table = read(tmp_path / name, rows=2, engine=engine)
    assert table.rows == 2
    assert engine.to_arrow(table, ["age"])["age"].to_pylist() == [31, 47]


@pytest.mark.parametrize("name", FILES)
def test_missing_marks_make_all_formats_equal(engine: DuckDBEngine, tmp_path: Path, name: str) -> None:
    FILES[name][0](tmp_path / name)
    table = read(tmp_path / name, missing=[""], engine=engine)
    same(
        engine.count(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE]),
        wanted(null=True, empty=False),
    )


def shuffled_pandas() -> pd.DataFrame:
    frame = TABLE.to_pandas()
    frame.index = pd.Index([3, 3, 0, 9, 1])
    return frame


def categorical_pandas() -> pd.DataFrame:
    return TABLE.to_pandas().astype({"zip": "category", "age": "int8", "note": "category"})


FRAMES: dict[str, Callable[[], object]] = {
    "pandas": shuffled_pandas,
    "pandas categories": categorical_pandas,
    "polars": lambda: pl.from_arrow(TABLE),
    "polars lazy": lambda: pl.from_arrow(TABLE).lazy(),
    "polars categories": lambda: pl.from_arrow(TABLE).with_columns(
        pl.col("zip").cast(pl.Categorical), pl.col("age").cast(pl.UInt8)
    ),
    "pyarrow": lambda: TABLE,
    "pyarrow reader": TABLE.to_reader,
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_give_the_same_classes(engine: DuckDBEngine, name: str) -> None:
    table = read(FRAMES[name](), engine=engine)
    assert table.names == tuple(PEOPLE)
    same(
        engine.count(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE]),
        wanted(null=True, empty=True),
    )
    first = read(FRAMES[name](), rows=3, engine=engine)
    assert engine.to_arrow(first, ["age"])["age"].to_pylist() == [31, 47, 31]


def test_a_duckdb_relation_gives_the_same_classes(engine: DuckDBEngine) -> None:
    with duckdb.connect() as connection:
        connection.register("people", TABLE)
        table = read(connection.sql("SELECT * FROM people"), engine=engine)
        assert table.source.format == "duckdb"
    same(
        engine.count(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE]),
        wanted(null=True, empty=True),
    )


def test_a_frame_may_change_after_it_was_read(engine: DuckDBEngine) -> None:
    frame = pd.DataFrame({"age": [1, 2]})
    table = read(frame, engine=engine)
    frame.loc[0, "age"] = 99
    assert engine.to_arrow(table)["age"].to_pylist() == [1, 2]


def test_a_table_is_read_already(engine: DuckDBEngine) -> None:
    table = read(TABLE, engine=engine)
    assert read(table) is table


def test_a_sheet_is_chosen_by_name(engine: DuckDBEngine, tmp_path: Path) -> None:
    file = tmp_path / "book.xlsx"
    write_excel(file)
    assert read(file, sheet="other", engine=engine).names == ("alone",)
    with pytest.raises(UnreadableInput, match="no sheet 'third'"):
        read(file, sheet="third", engine=engine)


def test_what_was_found_is_stated(engine: DuckDBEngine, tmp_path: Path) -> None:
    FILES["western.csv"][0](tmp_path / "western.csv")
    source = read(tmp_path / "western.csv", missing=["?"], engine=engine).source
    assert source.settings["delimiter"] == ";"
    assert source.settings["decimal"] == ","
    assert source.settings["encoding"] == "cp1252"
    assert source.settings["missing marks read as null"] == ["?"]
    assert any(note.startswith("delimiter: ") for note in source.notes)


# ── errors ────────────────────────────────────────────────────────────────────────────────────────


def test_the_private_directory_is_gone_after_closing(tmp_path: Path) -> None:
    engine = DuckDBEngine()
    FILES["people.jsonl"][0](tmp_path / "people.jsonl")
    read(tmp_path / "people.jsonl", rows=1, engine=engine)
    assert any(engine._scratch.iterdir())
    assert engine._scratch.stat().st_mode & 0o077 == 0
    engine.close()
    assert not engine._scratch.exists()


MANY = 30_000
ROW = f"{'x' * 40},y\n"  # so many of them are more than what is looked at to find the format
BROKEN = {
    "ragged.csv": "a,b\n" + ROW * MANY + f"{SECRET},1,2\n",
    "short.csv": "a,b\n" + ROW * MANY + f"{SECRET}\n",
    "early.csv": "a,b\nx,y\n" + f"{SECRET},1,2\n",
    "quote.csv": "a,b\n" + ROW * MANY + f'"{SECRET},1\n',
    "after.csv": "a,b\n" + ROW * MANY + f'"x"{SECRET},1\n',
    "broken.jsonl": f'{{"a": 1}}\n{{"a": "{SECRET}\n',
    "broken.parquet": f"PAR1{SECRET}PAR1",
    "broken.feather": f"ARROW1{SECRET}",
    "broken.xlsx": SECRET,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_errors_never_quote_the_data(engine: DuckDBEngine, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(BROKEN[name], encoding="utf-8")
    with pytest.raises(UnreadableInput) as caught:
        read(file, engine=engine)
    assert name in str(caught.value)
    assert SECRET not in "".join(_chain(caught.value))
    if name in ("ragged.csv", "short.csv", "quote.csv", "after.csv"):
        assert f"line {MANY + 2}" in str(caught.value)


def _chain(error: BaseException | None) -> Iterator[str]:
    """The error and all that a traceback would print with it."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_a_frame_of_mixed_types_is_refused_by_column(engine: DuckDBEngine) -> None:
    frame = pd.DataFrame({"fine": [1, 2], "mixed": pd.Series([1, SECRET], dtype=object)})
    with pytest.raises(UnreadableInput, match="mixed") as caught:
        read(frame, engine=engine)
    assert SECRET not in "".join(_chain(caught.value))


def test_files_that_are_none(engine: DuckDBEngine, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"no file absent\.csv"):
        read(tmp_path / "absent.csv", engine=engine)
    with pytest.raises(UnreadableInput, match="is a folder"):
        read(tmp_path, engine=engine)
    (tmp_path / "empty.csv").touch()
    with pytest.raises(EmptyTable, match=r"empty\.csv is empty"):
        read(tmp_path / "empty.csv", engine=engine)
    pq.write_table(TABLE.slice(0, 0), tmp_path / "hollow.parquet")
    with pytest.raises(EmptyTable, match="no rows"):
        read(tmp_path / "hollow.parquet", engine=engine)
    with pytest.raises(EmptyTable, match="no columns"):
        read(pa.table({}), engine=engine)


def test_things_that_are_no_tables(engine: DuckDBEngine) -> None:
    with pytest.raises(UnreadableInput, match="type int is not a table"):
        read(5, engine=engine)  # type: ignore[arg-type]
    with pytest.raises(UnreadableInput, match="type type is not a table"):
        read(pa.Table, engine=engine)  # type: ignore[arg-type]
    with pytest.raises(UnreadableInput, match="type type is not a table"):
        read(pd.DataFrame, engine=engine)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="rows is 0"):
        read(TABLE, rows=0, engine=engine)
    with pytest.raises(UnreadableInput, match="two columns called 'ID'"):
        read(pa.table({"id": [1], "ID": [2]}), engine=engine)


def test_wrong_roles_are_refused(engine: DuckDBEngine) -> None:
    table = read(TABLE, engine=engine)
    with pytest.raises(UnknownColumn, match="did you mean 'age'"):
        engine.count(table, quasi_identifiers=["agee"])
    with pytest.raises(InvalidParameter, match="'age' is asked for in two roles"):
        engine.count(table, quasi_identifiers=["age"], sensitive=["age"])
    with pytest.raises(UnsuitableColumn, match="'note' is the sampling weight but is not numeric"):
        engine.count(table, quasi_identifiers=["age"], weight="note")
    with pytest.raises(DiscreetError, match="'zip' is the person id"):
        engine.count(table, quasi_identifiers=["age"], person="zip")
