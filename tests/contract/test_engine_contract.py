"""What every engine must answer, and answer alike: the same tests on DuckDB and on Spark."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.files import describe_file
from discreet.engine.protocol import Engine
from discreet.engine.read import read
from discreet.engine.recognise import FIRST_LOOK_ROWS
from discreet.engine.spark import SparkEngine
from discreet.engine.spark_session import start
from discreet.errors import DiscreetError, EmptyTable, MissingDependency, UnreadableInput, UnsuitableColumn
from discreet.table import Table
from discreet.table.domain import LARGEST_NUMBER, SMALLEST_NUMBER
from discreet.table.reading import ReadOptions
from helpers.classes import same
from helpers.java import QUICK_JAVA
from helpers.spark_views import names_of_views

SECRET = "Zzyzx-4711"


ONLY_SPARK = pytest.mark.parametrize(
    "engine", [pytest.param("spark", marks=pytest.mark.spark)], indirect=True, scope="session"
)


def by_hand(
    table: pa.Table,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
) -> EquivalenceClasses:
    """The classes without any engine."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    return EquivalenceClasses.from_columns(
        {name: columns[name] for name in quasi_identifiers},
        sensitive={name: columns[name] for name in sensitive},
        person=columns[person] if person else None,
    )


def values(table: Table, column: str) -> list[object]:
    domain = table.engine.domain(table, column)
    return [*domain.values.to_pylist(), *([None] if domain.has_null else [])]


def kinds(table: Table) -> dict[str, tuple[str, str]]:
    return {column.name: (column.type, column.storage) for column in table.columns}


# ── types ─────────────────────────────────────────────────────────────────────────────────────────

NOON, EVENING = dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1, 18, 30, 0, 500_000)
UTC = dt.UTC
TYPED = pa.table(
    {
        "integer": pa.array([2, 10, None, 2], pa.int32()),
        "byte": pa.array([1, 2, 3, 255], pa.uint8()),
        "huge": pa.array([2**64 - 1, 1, None, 1], pa.uint64()),
        "float": pa.array([0.0, -0.0, float("nan"), None]),
        "single": pa.array([0.5, None, -2.25, 0.5], pa.float32()),
        "text": ["ä", "Z", "", None],
        "zeros": ["007", "7", "07", "7"],
        "boolean": [True, False, None, True],
        "date": [dt.date(2020, 1, 1), None, dt.date(1899, 12, 31), dt.date(2020, 1, 1)],
        "moment": pa.array([EVENING, NOON, None, NOON], pa.timestamp("ns")),
        "instant": pa.array([EVENING, NOON, None, NOON], pa.timestamp("ms", "Europe/Berlin")),
        "decimal": pa.array(
            [decimal.Decimal("10.00"), None, decimal.Decimal("9.50"), decimal.Decimal("-2.00")]
        ),
        "list": [["b", "a"], ["a", "b"], [], None],
        "nothing": pa.nulls(4),
        "category": pa.array(["x", "y", "x", None]).dictionary_encode(),
    }
)
WANTED: dict[str, tuple[str, str, list[object]]] = {
    "integer": ("integer", "integer", [2, 10, None]),
    "byte": ("integer", "integer", [1, 2, 3, 255]),
    "huge": ("continuous", "integer", [1, 2**64 - 1, None]),
    "float": ("continuous", "float", [0.0, None]),
    "single": ("continuous", "float", [-2.25, 0.5, None]),
    "text": ("nominal", "text", ["", "Z", "ä", None]),
    "zeros": ("nominal", "text", ["007", "07", "7"]),
    "boolean": ("nominal", "boolean", [False, True, None]),
    "date": ("date", "date", [dt.date(1899, 12, 31), dt.date(2020, 1, 1), None]),
    "moment": ("date", "timestamp", [NOON, EVENING, None]),
    "instant": (
        "date",
        "timestamp",
        [NOON.replace(tzinfo=UTC), EVENING.replace(tzinfo=UTC, microsecond=500_000), None],
    ),
    "decimal": (
        "continuous",
        "integer",
        [decimal.Decimal(-2), decimal.Decimal("9.5"), decimal.Decimal(10), None],
    ),
    "list": ("set", "list", ["", "a, b", None]),
    "nothing": ("nominal", "text", [None]),
    "category": ("nominal", "text", ["x", "y", None]),
}


def test_every_type_has_its_domain(engine: Engine) -> None:
    table = read(TYPED, engine=engine)
    assert kinds(table) == {name: (kind, storage) for name, (kind, storage, _) in WANTED.items()}
    for name, (_, _, wanted) in WANTED.items():
        assert values(table, name) == wanted, name
    zero = engine.domain(table, "float").values[0].as_py()
    assert not np.signbit(zero)


def test_profile_counts_what_is_there(engine: Engine) -> None:
    table = read(TYPED.append_column("odd", pa.array(["?", "NA", "x", None])), engine=engine)
    found = {p.column.name: p for p in engine.profile(table)}
    nulls = dict.fromkeys(found, 1) | {"byte": 0, "zeros": 0, "float": 2, "nothing": 4}
    assert {name: p.nulls for name, p in found.items()} == nulls
    distinct = {name: len([v for v in wanted if v is not None]) for name, (_, _, wanted) in WANTED.items()}
    assert {name: p.distinct for name, p in found.items()} == {**distinct, "odd": 3}
    assert {name: p.marks for name, p in found.items() if p.marks} == {"text": 1, "odd": 2}
    assert found["zeros"].mean_length == (3 + 1 + 2 + 1) / 4
    assert found["date"].mean_length == 10
    assert found["nothing"].mean_length == 0


def test_infinite_values_are_counted_and_refused(engine: Engine) -> None:
    table = read(pa.table({"x": [1.0, float("inf"), float("-inf"), float("nan")]}), engine=engine)
    assert engine.profile(table)[0].infinite == 2
    with pytest.raises(UnsuitableColumn, match="'x' holds infinite values"):
        engine.domain(table, "x")


# ── text ──────────────────────────────────────────────────────────────────────────────────────────

LINES = [
    "code,age,score,marked,born,seen,big,grouped,word,broken,died,sent",
    '007,9,1.5,10,2001-02-28,2020-01-01 10:00,123456789012345678901,"1,000",yes,1,31.12.2019,2020-01-01T10:00:00Z',
    '1,10,-2,9,2000-12-31,2020-01-01T09:30:15.25,123456789012345678902,"20,000.5",NO,2,,2020-01-01T09:30:15.25Z',
    '1,-3,.5e1,?,2001-02-28,2020-01-01 23:59:59,1,7,"Ünï, ""q""",3 ,?,-',
    "42,10,0,,1999-01-01,2020-01-01 10:00,1,7,,x,unbekannt,2020-01-01T10:00:00Z",
]


def test_numbers_and_dates_are_recognised_in_text(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    table = read(file, engine=engine)
    assert kinds(table) == {
        "code": ("nominal", "text"),
        "age": ("integer", "integer"),
        "score": ("continuous", "float"),
        "marked": ("integer", "text"),
        "born": ("date", "date"),
        "seen": ("date", "timestamp"),
        "big": ("nominal", "text"),
        "grouped": ("continuous", "float"),
        "word": ("nominal", "text"),
        "broken": ("nominal", "text"),
        "died": ("date", "date"),
        "sent": ("date", "timestamp"),
    }
    assert values(table, "code") == ["007", "1", "42"]
    assert values(table, "age") == [-3, 9, 10]
    assert values(table, "score") == [-2.0, 0.0, 1.5, 5.0]
    assert values(table, "marked") == ["9", "10", "", "?"]  # as numbers, then the marks
    assert values(table, "born") == [dt.date(1999, 1, 1), dt.date(2000, 12, 31), dt.date(2001, 2, 28)]
    assert values(table, "seen")[0] == dt.datetime(2020, 1, 1, 9, 30, 15, 250_000)
    assert len(values(table, "big")) == 3  # a float would merge the two long ones
    assert values(table, "grouped") == [7.0, 1000.0, 20000.5]
    assert values(table, "word") == ["", "NO", "yes", 'Ünï, "q"']
    assert values(table, "broken") == ["1", "2", "3 ", "x"]
    assert values(table, "died") == [dt.date(2019, 12, 31), None]  # no text among dates says anything else
    assert values(table, "sent")[1:] == [dt.datetime(2020, 1, 1, 10), None]


def test_what_stands_far_down_decides_as_well(engine: Engine, tmp_path: Path) -> None:
    """Only the first rows are looked at before a reading is chosen; the last row is as good as any other."""
    columns = {
        "whole": ("7", "8"),
        "half": ("7", "0.5"),
        "word": ("7", "seven"),
        "grouped": ("700", "7,000"),
        "late": ("", "7"),
        "day first": ("03/04/2020", "13/04/2020"),
        "month first": ("03/04/2020", "04/13/2020"),
        "either": ("03/04/2020", "04/04/2020"),
        "no such day": ("2020-02-28", "2020-02-31"),
        "amount": ("$7", "-$7,000"),
        "share": ("7%", "0.5%"),
        "currencies": ("$7", "€7"),
    }
    first, last = zip(*columns.values(), strict=True)
    file = tmp_path / "people.tsv"
    lines = [tuple(columns), *[first] * (FIRST_LOOK_ROWS + 5), last]
    file.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    assert kinds(read(file, engine=engine)) == {
        "whole": ("integer", "integer"),
        "half": ("continuous", "float"),
        "word": ("nominal", "text"),
        "grouped": ("continuous", "float"),
        "late": ("integer", "text"),
        "day first": ("date", "date"),
        "month first": ("date", "date"),
        "either": ("nominal", "text"),
        "no such day": ("nominal", "text"),
        "amount": ("integer", "integer"),
        "share": ("continuous", "float"),
        "currencies": ("nominal", "text"),
    }


def test_decimal_comma_with_marks_stays_numeric(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(
        "pay;size;rent\n1.250,5;1,75;1.250,50 €\n?;1,8;310,00 €\n900,25;0,5;900 €\n", encoding="utf-8"
    )
    table = read(file, engine=engine)
    assert kinds(table) == {
        "pay": ("continuous", "text"),
        "size": ("continuous", "float"),
        "rent": ("continuous", "float"),
    }
    assert values(table, "rent") == [310.0, 900.0, 1250.5]
    assert values(table, "pay") == ["900.25", "1250.5", "?"]
    assert values(table, "size") == [0.5, 1.75, 1.8]


def test_missing_marks_become_null_only_on_request(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("a,b\n1,?\n?,\n3,it's\n4,c:\\x\n", encoding="utf-8")
    assert values(read(file, engine=engine), "a") == ["1", "3", "4", "?"]
    table = read(file, missing=["?", "", "it's", "c:\\x"], engine=engine)
    assert kinds(table)["a"] == ("integer", "integer")
    assert values(table, "a") == [1, 3, 4, None]
    assert values(table, "b") == [None]
    frame = pa.table({"a": pa.array(["?", "x"]).dictionary_encode(), "n": [1, 2]})
    assert values(read(frame, missing=["?"], engine=engine), "a") == ["x", None]


ODD_FILES = {
    "plain": "a,b\nx,y\n,z\n",
    "quotes": 'a,b\n"x ""y""",""\n"",", "\n5" x,y\n',
    "lines inside quotes": 'a,b\n"x\ny","p,q"\n1,"r,s\nt,u"\n',
    "blank lines": "a,b\n\nx,y\n\n\nz,\n\n",
    "windows lines": 'a,b\r\n"x",y\r\nz,"w"\r\n',
    "padded": 'a, b\nx, y\nz, "v, w"\n',
    "blanks that count": "a,b\n x ,y \n  ,  \n",
    "no last line end": "a,b\nx,y",
    "backslashes": "a,b\nx\\,y\\n\n\\N,z\n",
    "tabs, one record empty": "a\tb\nx\ty\n\t\nz\tw\n",
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_text_is_read_to_the_letter(engine: Engine, tmp_path: Path, name: str) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(ODD_FILES[name].encode())
    delimiter = "\t" if "tabs" in name else ","
    with file.open(newline="", encoding="utf-8") as stream:
        rows = [
            row for row in csv.reader(stream, delimiter=delimiter, skipinitialspace=name == "padded") if row
        ]
    table = read(file, delimiter=delimiter, header=True, engine=engine)
    assert [list(row.values()) for row in engine.to_arrow(table).to_pylist()] == rows[1:]


@pytest.mark.parametrize("name", ["_hidden.csv", "a [b] {c}*.csv", "two words:ü.csv", "zipped"])
def test_any_file_name_is_a_file(engine: Engine, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    content = b"a,b\nx,y\nz,w\n"
    file.write_bytes(gzip.compress(content) if name == "zipped" else content)
    assert read(file, header=True, engine=engine).rows == 2


PATTERNS = {
    # What the path is, and a file that a pattern of this name would find.
    "people[1]": "people1",
    "q*": "quarter",
    "who?": "whom",
    "{a,b}": "a",
    "a\\b*": "a\\bc",
    "sex=f/people": "sex=m/people",
    "year[0-9]/people": "year7/people",
}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "csv.gz", "rows of jsonl"])
@pytest.mark.parametrize("name", PATTERNS)
def test_a_path_is_a_path_and_no_pattern(engine: Engine, tmp_path: Path, name: str, kind: str) -> None:
    suffix = kind.removeprefix("rows of ")
    for stem, number in ((PATTERNS[name], 1), (name, 2)):
        file = tmp_path / f"{stem}.{suffix}"
        file.parent.mkdir(exist_ok=True)
        if suffix == "parquet":
            pq.write_table(pa.table({"n": [number, number]}), file)
        elif suffix == "jsonl":
            file.write_text(f'{{"n": {number}}}\n' * 2)
        else:
            text = f"n,m\n{number},x\n{number},y\n".encode()
            file.write_bytes(gzip.compress(text) if suffix == "csv.gz" else text)
    table = read(tmp_path / f"{name}.{suffix}", rows=2 if suffix != kind else None, engine=engine)
    assert "sex" not in table.names, "a folder's name is no column"
    assert set(engine.to_arrow(table)["n"].to_pylist()) == {2}
    assert table.source.name == Path(f"{name}.{suffix}").name


def test_generated_text_survives(engine: Engine, tmp_path: Path) -> None:
    # Cells begin with a letter: a blank after a delimiter may be taken for padding, a number for a number.
    cells = st.text(alphabet="ab\"', ;\\\n\r\té#", max_size=6).map("x{}".format)

    @settings(max_examples=50 if engine.name == "duckdb" else 5, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(cells, st.just("") | cells, st.just("") | cells), min_size=1, max_size=12))
    def check(rows: list[tuple[str, str, str]]) -> None:
        file = tmp_path / "generated.csv"
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["first", "second", "third"])
            writer.writerows(rows)
        table = read(file, delimiter=",", quote='"', header=True, encoding="utf-8", engine=engine)
        assert [tuple(row.values()) for row in engine.to_arrow(table).to_pylist()] == rows

    check()


# ── other files ───────────────────────────────────────────────────────────────────────────────────


def test_json_lines(engine: Engine, tmp_path: Path) -> None:
    rows = [
        {"zip": "0123", "age": 30, "pay": 1.5, "born": "2001-02-28", "mixed": 1, "ok": True, "none": None},
        {"zip": "123", "age": None, "pay": 2, "born": "1999-01-01", "mixed": "x", "ok": False, "none": None},
        {"zip": "", "age": 9, "born": None, "mixed": None, "ok": None, "late": "ü"},
    ]
    file = tmp_path / "people.jsonl"
    file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8")
    table = read(file, engine=engine)
    assert table.names == ("zip", "age", "pay", "born", "mixed", "ok", "none", "late")
    assert values(table, "zip") == ["", "0123", "123"]  # quoted: text, whatever it looks like
    assert values(table, "age") == [9, 30, None]
    assert values(table, "pay") == [1.5, 2.0, None]
    assert values(table, "born") == [dt.date(1999, 1, 1), dt.date(2001, 2, 28), None]
    assert values(table, "mixed") == ["1", "x", None]
    assert values(table, "ok") == [False, True, None]
    assert values(table, "none") == [None]
    assert values(table, "late") == ["ü", None]
    assert read(file, rows=1, engine=engine).names == ("zip", "age", "pay", "born", "mixed", "ok", "none")


def test_parquet_with_nanoseconds(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    pq.write_table(pa.table({"at": pa.array([NOON, None], pa.timestamp("ns")), "n": [1, 2]}), file)
    assert values(read(file, rows=2, engine=engine), "at") == [NOON, None]
    assert values(read(file, engine=engine), "at") == [NOON, None]


@pytest.mark.parametrize("kind", ["parquet", "frame"])
@pytest.mark.parametrize("stored", [pa.date32(), pa.timestamp("us"), pa.timestamp("s", "UTC")], ids=str)
@pytest.mark.parametrize("year", [-3000, 12_000])
def test_dates_that_no_calendar_has_are_refused(
    engine: Engine, tmp_path: Path, kind: str, stored: pa.DataType, year: int
) -> None:
    seconds = 1 if pa.types.is_date32(stored) else 86_400 * (1_000_000 if stored.unit == "us" else 1)
    days = pa.array([0, None, int((year - 1970) * 365.2425)], pa.int64())
    moments = pc.multiply(days, seconds).cast(pa.int32() if seconds == 1 else pa.int64()).cast(stored)
    table = pa.table({"n": [1, 2, 3], "at": moments})
    file = tmp_path / "moments.parquet"
    pq.write_table(table, file)
    with pytest.raises(
        UnreadableInput, match=r"column 'at' of .* holds dates before the year 1 or after 9999"
    ):
        read(table if kind == "frame" else file, engine=engine)


@pytest.mark.parametrize("options", [{}, {"rows": 4}, {"missing": ["?"]}], ids=str)
@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl", "frame"])
def test_not_a_number_is_a_null(
    engine: Engine, tmp_path: Path, kind: str, options: dict[str, object]
) -> None:
    """Statistics of a Parquet file leave NaN out; whoever trusts them finds 1 to 3 and nothing else."""
    numbers = [1.0, float("nan"), None, 3.0]
    table = pa.table(
        {"x": pa.array(numbers), "f": pa.array(numbers, pa.float32()), "t": ["a", "b", "?", "c"]}
    )
    file = tmp_path / f"numbers.{kind}"
    if kind == "parquet":
        pq.write_table(table, file)
    elif kind == "arrow":
        pa.feather.write_feather(table, file)
    elif kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    found = read(table if kind == "frame" else file, engine=engine, **options)  # type: ignore[arg-type]
    cells, profile = engine.to_arrow(found), engine.profile(found)
    for name in ("x", "f"):
        assert values(found, name) == [1.0, 3.0, None]
        assert cells[name].to_pylist() == [1.0, None, None, 3.0]
        assert profile[found.names.index(name)].nulls == 2
    assert engine.count(found, quasi_identifiers=["x"]).records.tolist() == [1, 1, 2]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "jsonl", "frame"])
def test_the_first_rows_are_the_first(engine: Engine, tmp_path: Path, kind: str) -> None:
    table = pa.table({"n": np.arange(70_000)[::-1].copy(), "t": ["x"] * 70_000})
    file = tmp_path / f"numbers.{kind}"
    if kind == "parquet":
        pq.write_table(table, file, row_group_size=10_000)
    elif kind == "jsonl":
        file.write_text("".join(f'{{"n": {n}, "t": "x"}}\n' for n in table["n"].to_pylist()))
    elif kind != "frame":
        with pa.output_stream(file) as stream:  # compresses by the name
            pa.csv.write_csv(table, stream)
    found = read(table if kind == "frame" else file, rows=60_001, engine=engine)
    assert found.rows == 60_001
    assert engine.to_arrow(found, ["n"])["n"].to_pylist() == list(range(69_999, 9_998, -1))
    assert engine.to_arrow(found, ["n"], first=2)["n"].to_pylist() == [69_999, 69_998]


def test_whole_files_keep_their_order(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "numbers.csv"
    pa.csv.write_csv(pa.table({"n": np.arange(50_000)[::-1].copy()}), file)
    found = engine.to_arrow(read(file, engine=engine))["n"].to_numpy()
    np.testing.assert_array_equal(found, np.arange(50_000)[::-1])


# ── counting ──────────────────────────────────────────────────────────────────────────────────────


def test_classes_by_hand(engine: Engine) -> None:
    table = read(
        pa.table(
            {
                "sex": ["f", "m", "f", None, None],
                "age": [30.0, -0.0, 30.0, 0.0, float("nan")],
                "flu": ["yes", "no", "no", "no", None],
                "who": ["b", "a", "b", "c", "c"],
            }
        ),
        engine=engine,
    )
    classes = engine.count(table, quasi_identifiers=["sex", "age"], sensitive=["flu"], person="who")
    assert [classes.labels(c) for c in range(len(classes))] == [
        {"sex": "f", "age": "30.0"},
        {"sex": "m", "age": "0.0"},
        {"sex": "∅", "age": "0.0"},
        {"sex": "∅", "age": "∅"},
    ]
    assert classes.records.tolist() == [2, 1, 1, 1]
    assert classes.persons.tolist() == [1, 1, 1, 1]
    assert classes.person_codes is not None
    assert classes.person_codes.tolist() == [1, 1, 0, 2, 2]
    assert classes.sensitive_codes["flu"].tolist() == [0, 1, 0, 0, 2]


def test_generated_tables_count_alike(engine: Engine) -> None:
    size = st.floats(SMALLEST_NUMBER, LARGEST_NUMBER)
    reckonable = size | size.map(lambda number: -number)
    columns = st.fixed_dictionaries(
        {
            "n": st.none() | st.integers(-3, 3),
            "x": st.none() | reckonable | st.sampled_from([0.0, -0.0, float("nan")]),
            "t": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=2),
            "d": st.none() | st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
            "b": st.none() | st.booleans(),
            "who": st.integers(0, 3),
        }
    )
    schema = pa.schema(
        [
            ("n", pa.int64()),
            ("x", pa.float64()),
            ("t", pa.string()),
            ("d", pa.date32()),
            ("b", pa.bool_()),
            ("who", pa.int64()),
        ]
    )

    @settings(max_examples=30 if engine.name == "duckdb" else 3, suppress_health_check=list(HealthCheck))
    @given(st.lists(columns, min_size=1, max_size=30))
    def check(rows: list[dict[str, object]]) -> None:
        made = pa.Table.from_pylist(rows, schema=schema)
        x = pc.if_else(pc.is_nan(made["x"]), None, pc.add(made["x"], 0.0))
        wanted = by_hand(made.set_column(1, "x", x), ["n", "x", "t"], ["d", "b"], "who")
        table = read(made, engine=engine)
        same(
            engine.count(table, quasi_identifiers=["n", "x", "t"], sensitive=["d", "b"], person="who"), wanted
        )

    check()


@pytest.mark.data
def test_adult(engine: Engine, data_dir: Path) -> None:
    path = data_dir / "arx" / "adult.csv.gz"
    table = read(path, engine=engine)
    *names, last = table.names
    found = engine.count(table, quasi_identifiers=names, sensitive=[last])
    raw = pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(delimiter=";"))
    assert len(found) == 18_109
    same(found, by_hand(raw, names, [last]))


@pytest.mark.data
def test_oulad_at_event_level(engine: Engine, data_dir: Path) -> None:
    path = data_dir / "oulad" / "studentInfo.csv.gz"
    table = read(path, rows=5_000, engine=engine)
    names = ["gender", "region", "highest_education", "imd_band", "age_band"]
    found = engine.count(table, quasi_identifiers=names, sensitive=["final_result"], person="id_student")
    raw = pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(strings_can_be_null=False)).slice(
        0, 5_000
    )
    same(found, by_hand(raw, names, ["final_result"], "id_student"))
    assert found.total == 5_000
    assert found.total_persons == len(pc.unique(raw["id_student"]))


def test_very_many_distinct_values(engine: Engine) -> None:
    # A million would take Spark a quarter of a minute, and go the same way.
    n = 200_000 if engine.name == "spark" else 1_000_000
    numbers = np.random.default_rng(1).permutation(n)
    table = read(pa.table({"id": numbers}), engine=engine)
    classes = engine.count(table, quasi_identifiers=["id"])
    assert len(classes) == n
    np.testing.assert_array_equal(classes.codes[0], np.arange(n))
    assert (classes.counts == 1).all()


def test_rows_that_are_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A null and NaN are one value, and drawn groups estimate what counting says."""
    rows = {"a": [1.0, 1.0, float("nan"), None, 5.0], "b": ["x", "x", None, None, None]}
    table = read(pa.table(rows), engine=engine)
    assert engine.unique_share(table, ["a"]) == pytest.approx(0.2)
    assert engine.unique_share(table, ["b"]) == 0.0
    assert engine.unique_share(table, ["a", "b"]) == pytest.approx(0.2)
    numbers = np.arange(8000)
    many = read(pa.table({"a": np.where(numbers < 6000, numbers, -1), "b": numbers % 2}), engine=engine)
    assert engine.unique_share(many, ["a", "b"]) == 0.75
    monkeypatch.setattr("discreet.engine.sql.DRAWN_ROWS", 1000)
    assert engine.unique_share(many, ["a", "b"]) == pytest.approx(0.75, abs=0.1)
    assert engine.unique_share(many, ["b"]) == 0.0


def test_columns_of_one_value(engine: Engine) -> None:
    table = read(pa.table({"one": ["x", "x", "x"], "none": pa.nulls(3)}), engine=engine)
    for names in (["one"], ["none"], ["one", "none"], []):
        classes = engine.count(table, quasi_identifiers=names)
        assert classes.records.tolist() == [3]


def test_more_codes_than_one_word_holds(engine: Engine) -> None:
    rng = np.random.default_rng(2)
    made = pa.table({f"c{i}": rng.permutation(np.repeat(np.arange(1_000), 2)) for i in range(8)})
    made = pa.concat_tables([made, made.slice(0, 10)])
    table = read(made, engine=engine)
    found = engine.count(table, quasi_identifiers=made.column_names[:7], sensitive=["c7"])
    same(found, by_hand(made, made.column_names[:7], ["c7"]))
    assert found.records.max() == 2


def test_weights_are_summed_per_cell(engine: Engine) -> None:
    table = read(pa.table({"sex": ["f", "m", "f"], "w": [0.5, 2.0, 1.25]}), engine=engine)
    classes = engine.count(table, quasi_identifiers=["sex"], weight="w")
    assert classes.weights is not None
    assert classes.weights.tolist() == [1.75, 2.0]


@ONLY_SPARK
def test_many_cells_come_in_pieces_and_are_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table(
        {
            "age": [n * n % 61 for n in range(2000)],
            "town": [f"t{n % 7}" for n in range(2000)],
            "ill": [["flu", None, "cold"][n % 3] for n in range(2000)],
            "w": [1.0 + n % 4 for n in range(2000)],
        }
    )
    asked: list[str] = []
    fetched = pyspark_frame().toArrow

    def fetch(frame: object) -> pa.Table:
        table = fetched(frame)
        asked.append(f"{table.num_rows} of {table.column_names}")
        return table

    table = read(rows, engine=engine)
    whole = engine.count(table, quasi_identifiers=["age", "town"], sensitive=["ill"], weight="w")
    monkeypatch.setattr("discreet.engine.spark.PIECE_ROWS", 100)
    monkeypatch.setattr(pyspark_frame(), "toArrow", fetch)
    same(engine.count(table, quasi_identifiers=["age", "town"], sensitive=["ill"], weight="w"), whole)
    assert len([line for line in asked if "'w0', 'n', 'weight'" in line]) > 2, (
        "one empty piece tells the types"
    )


def pyspark_frame() -> type:
    """The class of Spark's frames in this process."""
    from pyspark.sql.classic.dataframe import DataFrame

    return DataFrame


def test_weights_that_are_none_are_refused(engine: Engine) -> None:
    bad = {"null": None, "zero": 0.0, "negative": -1.0, "nan": float("nan"), "infinite": float("inf")}
    table = read(
        pa.table({"sex": ["f", "f"], **{name: pa.array([1.0, weight]) for name, weight in bad.items()}}),
        engine=engine,
    )
    for name in bad:
        with pytest.raises(UnsuitableColumn, match=f"'{name}' is the sampling weight"):
            engine.count(table, quasi_identifiers=[], weight=name)


def test_a_marked_weight_is_refused(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("sex,w\nf,1\nm,?\n")
    with pytest.raises(UnsuitableColumn, match="'w' is the sampling weight"):
        engine.count(read(file, engine=engine), quasi_identifiers=["sex"], weight="w")


def test_persons_without_a_name_are_refused(engine: Engine) -> None:
    table = read(pa.table({"sex": ["f", "m"], "who": ["a", None]}), engine=engine)
    with pytest.raises(UnsuitableColumn, match="'who' is the person id"):
        engine.count(table, quasi_identifiers=["sex"], person="who")


def test_samples_repeat_and_keep_their_types(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "numbers.csv"
    file.write_text("n,marked\n" + "".join(f"{i},{i}\n" for i in range(5_000)) + "5000,?\n")
    table = read(file, engine=engine)
    first, second = (engine.sample(table, 300) for _ in range(2))
    assert first.rows == 300
    assert first.columns == table.columns
    assert first.column("marked").numeric
    drawn = engine.to_arrow(first)
    assert drawn.equals(engine.to_arrow(second))
    assert 2_000 < np.mean(drawn["n"].to_numpy()) < 3_000
    assert engine.sample(table, 10_000) is table


# ── errors ────────────────────────────────────────────────────────────────────────────────────────

BROKEN = {
    "ragged.csv": f"a,b\n{'x,y' + chr(10)}" * 50_000 + f"{SECRET},2,3\n",
    "quote.csv": "a,b\n" + "x,y\n" * 300_000 + f'"{SECRET},2\n',
    "bytes.csv": "a,b\n" + "x,y\n" * 300_000 + f"{SECRET},\udcff\n",
    "broken.jsonl": f'{{"a": 1}}\n{{"a": "{SECRET}\n',
    "broken.parquet": f"PAR1{SECRET}PAR1",
    "broken.feather": f"ARROW1{SECRET}",
    "broken.xlsx": SECRET,
}


@pytest.mark.parametrize("name", BROKEN)
def test_errors_never_quote_the_data(
    engine: Engine, tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    file.write_bytes(BROKEN[name].encode("utf-8", "surrogateescape"))
    with pytest.raises(UnreadableInput) as caught:
        read(file, engine=engine)
    error: BaseException | None = caught.value
    assert name in str(error)
    while error is not None:
        assert SECRET not in str(error)
        error = (
            None
            if error.__suppress_context__ and error.__cause__ is None
            else error.__cause__ or error.__context__
        )
    printed = capfd.readouterr()
    assert SECRET not in printed.out + printed.err


def test_tables_without_rows_are_refused(engine: Engine, tmp_path: Path) -> None:
    empty = TYPED.slice(0, 0)
    pq.write_table(empty, tmp_path / "hollow.parquet")
    for source in (empty, tmp_path / "hollow.parquet"):
        with pytest.raises(EmptyTable, match="no rows"):
            read(source, engine=engine)


def test_an_unknown_column_is_named(engine: Engine) -> None:
    table = read(pa.table({"sex": ["f"]}), engine=engine)
    with pytest.raises(DiscreetError, match="did you mean 'sex'"):
        engine.count(table, quasi_identifiers=["sexx"])


# ── beginning and end ─────────────────────────────────────────────────────────────────────────────


def test_tables_leave_no_trace_in_the_engine(engine: Engine) -> None:
    table = read(pa.table({"a": [1]}), engine=engine)
    relation = table.relation
    assert relation in _relations(engine)
    del table
    # Dropped by the next verb that makes a relation: letting go must never wait for the engine.
    another = read(pa.table({"a": [2]}), engine=engine)
    assert relation not in _relations(engine)
    assert another.relation in _relations(engine)


def _relations(engine: Engine) -> set[str]:
    if isinstance(engine, SparkEngine):
        return names_of_views(engine._session)
    assert isinstance(engine, DuckDBEngine)
    return set(engine._fetch("SELECT table_name AS t FROM duckdb_tables()")["t"].to_pylist())


def test_closing_duckdb_removes_its_directory() -> None:
    engine = DuckDBEngine()
    assert engine._scratch.exists()
    engine.close()
    engine.close()
    assert not engine._scratch.exists()


def test_a_failed_start_leaves_no_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(Exception, match=r"(?i)memory"):
        DuckDBEngine(memory_limit="no size")
    assert not list(tmp_path.iterdir())


@ONLY_SPARK
def test_plain_text_is_read_by_spark_itself(engine: SparkEngine, tmp_path: Path) -> None:
    by_spark = {}
    for name, content in ODD_FILES.items():
        file = tmp_path / "people.csv"
        file.write_bytes(content.encode())
        delimiter = "\t" if "tabs" in name else ","
        _, text_format = describe_file(file, ReadOptions(delimiter=delimiter, header=True))
        assert text_format is not None
        by_spark[name] = engine._text(file, text_format) is not None
    slow = {name for name, fast in by_spark.items() if not fast}
    assert slow == {"lines inside quotes", "padded", "tabs, one record empty"}


@ONLY_SPARK
def test_a_session_passed_in_is_left_running(engine: SparkEngine) -> None:
    engine._parent.conf.set("spark.sql.timestampType", "TIMESTAMP_LTZ")
    guest = SparkEngine(session=engine._parent)
    table = read(pa.table({"a": ["x", "y"]}), engine=guest)
    assert guest.count(table, quasi_identifiers=["a"]).total == 2
    assert engine._parent.conf.get("spark.sql.timestampType") == "TIMESTAMP_LTZ"  # settings are its own
    assert guest._scratch.exists()
    guest.close()
    assert not guest._scratch.exists()
    assert engine._parent.sql("SELECT 1 AS one").collect()[0].one == 1


TWO_ENGINES = """
import numpy as np, pyarrow as pa
from discreet.engine.read import read
from discreet.engine.spark import SparkEngine

for _ in range(2):
    engine = SparkEngine()
    table = read(pa.table({"age": [31, 31, 47], "ill": ["flu", "cold", "well"]}), engine=engine)
    classes = engine.count(table, quasi_identifiers=["age"])
    labels, kept = pa.array(["[30, 39]", "*"]), np.array([True, True])
    recoded = engine.recode(table, classes, values={"age": labels}, kept=kept, columns=["age", "ill"])
    rows = engine.to_arrow(recoded).to_pylist()
    places = [engine._scratch, engine._parent.sparkContext._temp_dir]
    engine.close()
    print(*(row["age"] for row in rows), *places, sep=";")
"""


@ONLY_SPARK
@pytest.mark.usefixtures("engine")
def test_one_engine_after_another_in_one_process(tmp_path: Path) -> None:
    """Java runs on after the first is closed; the second must not write where nothing is kept."""
    done = subprocess.run(
        [sys.executable, "-c", TWO_ENGINES],
        env={**os.environ, "TMPDIR": str(tmp_path), "JDK_JAVA_OPTIONS": QUICK_JAVA},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    first, second = (line.split(";") for line in done.stdout.splitlines())
    assert first[:3] == second[:3] == ["[30, 39]", "[30, 39]", "*"]
    removed, *places = (Path(place) for place in (first[3], *second[3:]))
    for place in places:
        assert place.is_relative_to(tmp_path)
        assert not place.is_relative_to(removed)
    assert not list(tmp_path.glob("*discreet-*"))


@pytest.mark.spark
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(MissingDependency, match="openjdk-17-jre-headless"):
        start()
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingDependency, match=r'pip install "discreet\[spark\]"'):
        SparkEngine()
