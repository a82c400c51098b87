"""A query of the user's own: the same answers on every engine, and nothing but the table within its reach."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.engine.protocol import Engine
from discreet.engine.query import MAX_ROWS
from discreet.engine.read import read
from discreet.errors import (
    DiscreetError,
    InvalidParameter,
    UnknownColumn,
    UnsuitableColumn,
)
from discreet.policy import Kpi
from discreet.release.kpis import measure_kpis
from discreet.table import Table

SECRET = "Zzyzx-4711"


ROWS = pa.table(
    {
        "engine": ["EV", "EV", "Gas", "Gas", "Gas", None],
        "km": [10, 20, 5, 15, 40, 30],
        "litres": [0.0, 0.0, 0.5, 1.5, 4.0, None],
        "day": [dt.date(2024, month, 1) for month in (1, 1, 2, 2, 3, 3)],
        "age": ["31", "[30, 39]", SECRET, "*", "45", "45"],
    }
)


@pytest.fixture(scope="module")
def table(engine: Engine) -> Table:
    return read(ROWS, engine=engine)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("SELECT avg(km) FROM data", [(20.0,)]),
        ("select count(*) from DATA where engine = 'EV';", [(2,)]),
        ("SELECT engine, sum(km) AS km FROM data GROUP BY engine", [(None, 30), ("EV", 30), ("Gas", 60)]),
        (
            "WITH long AS (SELECT * FROM data WHERE km >= 15), far AS (SELECT * FROM long) -- two steps\n"
            "SELECT engine, max(km) FROM far WHERE engine IS NOT NULL GROUP BY engine HAVING count(*) > 0 "
            "ORDER BY engine LIMIT 5 /* at most */",
            [("EV", 20), ("Gas", 40)],
        ),
        ("SELECT month(day), count(DISTINCT engine) FROM data GROUP BY month(day)", [(1, 1), (2, 1), (3, 1)]),
        ("SELECT CAST(sum(CASE WHEN km > 12 THEN 1 ELSE 0 END) AS DOUBLE) / count(*) FROM data", [(4 / 6,)]),
        ("SELECT avg(km) FILTER (WHERE engine LIKE 'G%') FROM data", [(20.0,)]),
        ("SELECT median(km) FROM data", [(17.5,)]),
        ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY km) FROM data", [(17.5,)]),
        ("SELECT count(*) FROM data WHERE km > (SELECT avg(km) FROM data)", [(2,)]),
        ("SELECT count(*) FROM data WHERE engine IN (SELECT engine FROM data WHERE km = 40)", [(3,)]),
        ("SELECT count(*) FROM data AS a JOIN data AS b ON a.engine = b.engine AND a.km < b.km", [(4,)]),
        ("SELECT sum(km) FROM (SELECT km, rank() OVER (ORDER BY km DESC) AS place FROM data) AS r WHERE place <= 2", [(70,)]),
        ("SELECT count(*) FROM data WHERE day BETWEEN DATE '2024-02-01' AND DATE '2024-02-29' AND NOT km IN (5)", [(1,)]),
        ("SELECT extract(year FROM day), round(avg(coalesce(litres, 0)), 2) FROM data GROUP BY 1", [(2024, 1.0)]),
        ("SELECT lower(engine) || '!', count(*) FROM data WHERE engine = 'EV' GROUP BY 1", [("ev!", 2)]),
        ("SELECT 'all', count(*) FROM data UNION ALL SELECT 'long', count(*) FROM data WHERE km > 20", [("all", 6), ("long", 2)]),
        ("SELECT '${env:HOME}', count(*) FROM data", [("${env:HOME}", 6)]),
        ("SELECT avg(litres) FROM data WHERE engine = 'Diesel'", [(None,)]),
        ("SELECT engine, avg(litres) FROM data WHERE engine = 'Diesel' GROUP BY engine", []),
    ],
)  # fmt: skip
def test_answers(table: Table, query: str, wanted: list[tuple[object, ...]]) -> None:
    found = [tuple(row.values()) for row in table.engine.query(table, query).to_pylist()]
    assert sorted(found, key=str) == sorted(wanted, key=str)


REFUSED = [
    "",
    "nonsense",
    "SELECT avg(km FROM data",
    "SELECT 1",
    "SELECT avg(km) FROM data; SELECT 2",
    "SELECT avg(km) FROM data; DROP TABLE data",
    "DROP TABLE data",
    "INSERT INTO data SELECT * FROM data",
    "CREATE TABLE mine AS SELECT * FROM data",
    "SET threads = 1",
    "SELECT * FROM information_schema.tables",
    "SELECT km FROM main.data",
    "SELECT km FROM default.data",
    "SELECT km FROM discreet_1",
    "SELECT (SELECT max(km) FROM discreet_1) FROM data",
    "SELECT km FROM data WHERE km IN (SELECT km FROM discreet_1)",
    # A CTE's name is known inside its statement only, and not inside itself.
    "SELECT (WITH discreet_1 AS (SELECT 1 AS x FROM data) SELECT max(x) FROM discreet_1) FROM discreet_1, data",
    "WITH discreet_1 AS (SELECT * FROM discreet_1) SELECT * FROM discreet_1, data",
    "WITH data AS (SELECT 1) SELECT * FROM data",
    "WITH `a, b` AS (SELECT * FROM data) SELECT * FROM a.b",
    "WITH RECURSIVE more AS (SELECT 1 AS x FROM data UNION ALL SELECT x + 1 FROM more) SELECT sum(x) FROM more",
    "SELECT count(*) FROM data TABLESAMPLE (50 PERCENT)",
    "SELECT avg(km * random()) FROM data",
    "SELECT avg(km * rand()) FROM data",
    "SELECT count(*) FROM data WHERE day < current_date",
    "SELECT current_user, count(*) FROM data",
    "SELECT avg(km) FROM data ORDER BY getenv('HOME')",
    "SELECT avg(km) FROM data WHERE EXISTS (SELECT 1 FROM data AS d JOIN discreet_1 ON true)",
    "EXPLAIN SELECT avg(km) FROM data",
    "DESCRIBE data",
    "SHOW TABLES",
]
DUCKDB_ONLY = [
    "SELECT count(*) FROM read_csv('{file}'), data",
    "SELECT count(*) FROM read_text('{file}'), data",
    "SELECT count(*) FROM '{file}', data",
    "SELECT count(*) FROM glob('*'), data",
    "SELECT count(*) FROM query('SELECT 1'), data",
    "SELECT count(*) FROM query_table('discreet_1'), data",
    "SELECT count(*) FROM duckdb_settings(), data",
    "SELECT getenv('HOME'), count(*) FROM data",
    "SELECT main.avg(km) FROM data",
    "SELECT engine.getenv() FROM data",
    "SELECT current_setting('temp_directory'), count(*) FROM data",
    "COPY data TO '{file}.out'",
    "ATTACH '{file}.db' AS other",
    "PRAGMA database_list",
    "INSTALL httpfs",
    "WITH gone AS (DELETE FROM data RETURNING 1) SELECT * FROM gone, data",
    "PIVOT data ON engine USING sum(km)",
    "FROM (SUMMARIZE data)",
    "SELECT avg(km) FROM data WHERE km > $1",
    "SELECT list_transform([km], lambda x: getenv('HOME')) FROM data",
]
SPARK_ONLY = [
    "SELECT count(*) FROM csv.`{file}`, data",
    "SELECT count(*) FROM text.`{file}`",
    "SELECT count(*) FROM read_files('{file}'), data",
    "SELECT count(*) FROM range(5), data",
    "SELECT count(*) FROM IDENTIFIER('discreet_1'), data",
    "SELECT reflect('java.lang.System', 'getenv', 'HOME') FROM data",
    "SELECT java_method('java.lang.System', 'getenv', 'HOME') FROM data",
    "SELECT TRANSFORM(km) USING 'cat' FROM data",
    "SELECT sum(km) OVER w FROM data WINDOW w AS (ORDER BY reflect('java.lang.System', 'getenv', 'HOME'))",
    "ADD JAR '{file}'",
    "CACHE TABLE data",
    "WITH x AS (SELECT * FROM data) INSERT INTO data SELECT * FROM x",
    "SELECT input_file_name() FROM data",
]  # fmt: skip


@pytest.mark.parametrize("query", [*REFUSED, *DUCKDB_ONLY, *SPARK_ONLY])
def test_nothing_but_one_select_on_the_table(table: Table, query: str, tmp_path: Path) -> None:
    file = tmp_path / "other.csv"
    file.write_text(f"a\n{SECRET}\n")
    # A name that Python knows is no table either.
    discreet_1 = pa.table({"km": [1]})  # noqa: F841
    with pytest.raises(InvalidParameter) as refused:
        table.engine.query(table, query.replace("{file}", str(file)))
    assert SECRET not in str(refused.value)
    assert list(tmp_path.iterdir()) == [file]


def test_every_refused_query_but_those_of_one_dialect_is_sql(tmp_path: Path) -> None:
    """The guard is what refuses them: most run on a bare DuckDB."""
    import duckdb

    file = tmp_path / "other.csv"
    file.write_text("a\n1\n")
    ran = 0
    for query in DUCKDB_ONLY:
        with duckdb.connect() as bare:
            bare.register("incoming", ROWS)
            bare.execute("CREATE TABLE data AS SELECT * FROM incoming")
            bare.execute("CREATE TABLE discreet_1 AS SELECT * FROM incoming")
            try:
                bare.execute(query.replace("{file}", str(file)))
            except duckdb.Error:
                continue
            ran += 1
    assert ran >= 12


@pytest.mark.parametrize(
    "query", ["SELECT avg(kmm) FROM data", "SELECT d.kmm, count(*) FROM data AS d GROUP BY 1"]
)
def test_an_unknown_column_is_named(table: Table, query: str) -> None:
    with pytest.raises(UnknownColumn, match="did you mean 'km'"):
        table.engine.query(table, query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT avg(age) FROM data",
        "SELECT sum(age) FROM data",
        "SELECT avg(CAST(age AS DOUBLE)) FROM data",
        "SELECT count(*) FROM data WHERE age > 30",
        "SELECT engine, avg(age + 1) FROM data GROUP BY engine",
        "SELECT stddev(age) FROM data",
    ],
)
def test_text_is_not_computed_with_and_no_cell_is_quoted(
    table: Table, query: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnsuitableColumn) as failed:
        table.engine.query(table, query)
    captured = capfd.readouterr()
    assert SECRET not in f"{failed.value}{caplog.text}{captured.out}{captured.err}"
    assert failed.value.__suppress_context__


def test_an_answer_is_small(engine: Engine) -> None:
    many = read(pa.table({"n": list(range(MAX_ROWS + 1))}), engine=engine)
    assert engine.query(many, f"SELECT n FROM data WHERE n < {MAX_ROWS}").num_rows == MAX_ROWS
    with pytest.raises(InvalidParameter, match="more than 10,000 rows"):
        engine.query(many, "SELECT n FROM data")


def test_a_query_leaves_the_table_and_the_engine_as_they_were(table: Table) -> None:
    before = table.engine.to_arrow(table)
    with pytest.raises(DiscreetError):
        table.engine.query(table, "SELECT avg(age) FROM data")
    table.engine.query(table, "SELECT avg(km) FROM data")
    assert table.engine.to_arrow(table).equals(before)


def test_kpis_are_measured_alike(engine: Engine) -> None:
    """Intervals, stars, sets and pseudonyms, as text beside what were numbers."""
    original = read(
        pa.table({"who": [1, 2, 3, 4], "age": [30, 34, 40, 61], "pay": [1.5, 2.5, 3.5, 4.5]}), engine=engine
    )
    release = read(
        pa.table(
            {
                "who": ["c0ffee", "12", "beef", "f00d"],
                "age": ["[30, 39]", None, "*", "60"],
                "pay": ["1.5", "2.5", "3", "5"],
            }
        ),
        engine=engine,
    )
    mean = "SELECT avg(age) FROM data"
    found = measure_kpis(
        original,
        release,
        [
            Kpi("refused", mean),
            Kpi("midpoint", mean, generalised="midpoint"),
            Kpi("older", "SELECT count(*) FROM data WHERE age > 35", generalised="midpoint"),
            Kpi("pay", "SELECT sum(pay) FROM data"),
            Kpi("people", "SELECT count(DISTINCT who) FROM data", generalised="midpoint"),
        ],
    )
    assert [one.groups[0].released for one in found] == [None, 47.25, 1.0, 12.0, 4.0]
    assert found[0].reason == "no longer numbers in the release: age"


def test_rows_that_break_a_condition_are_told_by_a_column(table: Table) -> None:
    """Litres are missing in the last row: it breaks nothing."""
    assert sorted(table.engine.breaking(table, "litres < 1", "km").tolist()) == [15, 40]
    assert table.engine.count_breaking(table, "litres < 1") == 2
