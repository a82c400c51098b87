"""Tables in databases give the same answers as the same rows in a file; PostgreSQL counts them itself."""

from __future__ import annotations

import datetime as dt
import decimal
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.cli import main
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.postgres import PostgresEngine
from discreet.engine.read import read
from discreet.engine.sqlalchemy import _double, _moment, _text, _told
from discreet.errors import (
    InvalidParameter,
    MissingDependency,
    RequirementNotMet,
    UnreadableInput,
    UnsuitableColumn,
)
from discreet.files.addresses import database_address
from discreet.files.writing import refuse_clashes
from discreet.privacy import KAnonymity, LDiversity
from discreet.table import Table
from helpers.absent import missing
from helpers.classes import same

ROWS = pa.table(
    {
        "age": [31, 34, None, 47, 31, 62] * 4,
        "town": ["Åre", "zürich", "Ahlen", "", None, "b"] * 4,
        "pay": [1.5, None, 0.0, 2.25, 1.5, 1e9] * 4,
        "day": [dt.date(2020, 1, 1), None, dt.date(1899, 12, 31), dt.date(2020, 1, 1), None, None] * 4,
        "who": [f"p{n % 13}" for n in range(24)],
        "ill": ["flu", "cold", "flu", "asthma", "flu", None] * 4,
        "weight": [1.0, 2.0, 3.0] * 8,
    }
)
POLICY = discreet.Policy.of(
    quasi_identifiers=["age", "town", "pay", "day"],
    sensitive=["ill"],
    require=[KAnonymity(2), LDiversity(2, "ill")],
    profile="research-partner-3",
    unknown="keep",
)


# ── SQLite ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def lite(tmp_path: Path) -> Path:
    file = tmp_path / "a b.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute('CREATE TABLE "the visits" (age, town TEXT, pay REAL, odd)')
        database.executemany(
            'INSERT INTO "the visits" VALUES (?, ?, ?, ?)',
            [(31, "a", 1.5, 1), (None, None, 2, "x"), (47, "b", None, None)],
        )
        database.commit()
    return file


def test_a_table_of_sqlite_is_read_with_the_types_of_its_values(lite: Path) -> None:
    table = read(f"sqlite:///{lite}#the%20visits")
    assert table.engine.to_arrow(table).to_pydict() == {
        "age": [31, None, 47],
        "town": ["a", None, "b"],
        "pay": [1.5, 2.0, None],
        "odd": ["1", "x", None],
    }
    assert (table.source.name, table.source.format) == ("the visits", "sqlite")


def test_what_is_wrong_with_an_address_is_said_without_its_password(lite: Path, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="the database has no table people"):
        read(f"sqlite:///{lite}#people")
    with pytest.raises(InvalidParameter, match="names no table"):
        read(f"sqlite:///{lite}")
    with pytest.raises(UnreadableInput, match="there is no file"):
        read(f"sqlite:///{tmp_path}/none.db#people")
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(UnreadableInput, match="could not be read from the database"):
        read(f"sqlite:///{tmp_path}/text.db#people")
    address = database_address(f"sqlite:///{lite}#t")
    with pytest.raises(InvalidParameter, match="is a file that is read"):
        refuse_clashes([lite], [address])
    assert database_address("people#1.csv") is None


def test_the_command_line_takes_an_address(lite: Path) -> None:
    with pytest.raises(SystemExit) as end:
        main(["audit", f"sqlite:///{lite}#the visits", "--qi", "age", "-q"])
    assert not end.value.code


# ── PostgreSQL ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a cluster of its own, as a user that is not root; only a socket in a private folder leads there."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (str(programs[-1]) if programs else None)
    if initdb is None or find_spec("adbc_driver_postgresql") is None:
        missing("PostgreSQL or the extra postgres is not installed (apt-get install postgresql)")
    control = str(Path(initdb).resolve().parent / "pg_ctl")
    user = "nobody" if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        place = Path(folder)
        if user:
            shutil.chown(place, user)
        data, log = place / "data", place / "log"

        def run(*command: str) -> None:
            subprocess.run(command, check=True, capture_output=True, user=user, cwd=folder)

        run(
            initdb,
            "-D",
            str(data),
            "-U",
            "tester",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        )
        options = f"-c listen_addresses= -c unix_socket_directories={place} -c fsync=off"
        run(control, "-D", str(data), "-l", str(log), "-w", "-o", options, "start")
        try:
            yield f"postgresql:///postgres?host={place}&user=tester"
        finally:
            run(control, "-D", str(data), "-m", "immediate", "stop")


@pytest.fixture(scope="module")
def visits(server: str) -> str:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA study")
        cursor.adbc_ingest("visits", ROWS, mode="create", db_schema_name="study")
        cursor.execute(
            "CREATE TABLE kinds (n numeric, c char(3), u uuid, j json, s text[], x double precision)"
        )
        cursor.execute(
            "INSERT INTO kinds VALUES (1.25, 'a', '00000000-0000-0000-0000-000000000001', '{}', '{b,a}', 'NaN')"
        )
        connection.commit()
    return f"{server}#study.visits"


@pytest.mark.slow
def test_classes_are_counted_in_postgresql_as_in_duckdb(visits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there, here = read(visits), read(ROWS)
    monkeypatch.setattr(PostgresEngine, "_local", None)
    for person, weight in ((None, None), ("who", "weight")):
        asked = {
            "quasi_identifiers": ["age", "town", "pay", "day"],
            "sensitive": ["ill"],
            "person": person,
            "weight": weight,
        }
        same(there.engine.count(there, **asked), here.engine.count(here, **asked))  # type: ignore[arg-type]
    assert there.engine.profile(there) == here.engine.profile(here)
    assert there.engine.unique_share(there, ["age", "town"]) == here.engine.unique_share(
        here, ["age", "town"]
    )
    assert there.engine.sample(there, 5).rows == 5


@pytest.mark.slow
def test_audits_and_releases_are_those_of_the_same_rows_in_a_frame(visits: str, tmp_path: Path) -> None:
    there, here = discreet.audit(visits, POLICY), discreet.audit(ROWS, POLICY)
    assert [m.value for m in there.measures] == [m.value for m in here.measures]
    assert there.verdict.decision == here.verdict.decision
    left, right = discreet.anonymize(visits, POLICY), discreet.anonymize(ROWS, POLICY)
    assert left.recipe == right.recipe
    assert left.to_arrow().to_pylist() == right.to_arrow().to_pylist()
    left.save(tmp_path / "release.parquet")
    with pytest.raises(SystemExit) as end:
        main(["audit", visits, "--qi", "age,town", "--sensitive", "ill", "-q"])
    assert not end.value.code


@pytest.mark.slow
def test_unusual_types_are_read_and_odd_addresses_refused(visits: str, server: str) -> None:
    table = read(f"{server}#kinds")
    assert table.engine.to_arrow(table).to_pylist() == [
        {
            "n": 1.25,
            "c": "a",
            "u": "00000000-0000-0000-0000-000000000001",
            "j": "{}",
            "s": "{b,a}",
            "x": None,
        }
    ]
    assert read(f"{server}#study.visits", rows=3).rows == 3
    with pytest.raises(UnreadableInput, match="the database has no table none"):
        read(f"{server}#none")
    with pytest.raises(UnreadableInput, match="could not be reached") as told:
        read("postgresql://me:secret@127.0.0.1:1/none#visits")
    assert "secret" not in str(told.value)


@pytest.mark.slow
def test_a_release_becomes_a_table_of_postgresql_in_one_transaction(
    visits: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows come back as they are; what does not hold up is undone, and no table is replaced."""
    release = discreet.anonymize(ROWS, POLICY)
    release.save(f"{server}#study.released")
    back = read(f"{server}#study.released")
    stored = back.engine.to_arrow(back).to_pylist()
    assert sorted(map(str, stored)) == sorted(map(str, release.to_arrow().to_pylist()))
    with pytest.raises(InvalidParameter, match=r"has a table study\.released already"):
        release.save(f"{server}#study.released")

    def exposing(self: DuckDBEngine, table: Table, path: Path) -> None:
        rows = self.to_arrow(table)
        towns = pa.array([f"town {n}" for n in range(len(rows))])
        pyarrow.parquet.write_table(rows.set_column(rows.column_names.index("town"), "town", towns), path)

    monkeypatch.setattr(DuckDBEngine, "store", exposing)
    with pytest.raises(RequirementNotMet, match="at least 3 persons"):
        release.save(f"{server}#exposed")
    with pytest.raises(UnreadableInput, match="no table exposed"):
        read(f"{server}#exposed")


# ── what SQLAlchemy reaches ──────────────────────────────────────────────────────────────────────────


@pytest.fixture
def reached(tmp_path: Path) -> str:
    """The rows in a database that is read through SQLAlchemy, as any other would be."""
    if find_spec("sqlalchemy") is None:
        missing("SQLAlchemy is not installed")
    with closing(sqlite3.connect(tmp_path / "clinic.db")) as database:
        database.execute(
            "CREATE TABLE visits (age INTEGER, town TEXT, pay NUMERIC, day DATE, who TEXT, ill TEXT, weight REAL)"
        )
        rows = [
            tuple(v.isoformat() if isinstance(v, dt.date) else v for v in row.values())
            for row in ROWS.to_pylist()
        ]
        database.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        database.execute("CREATE VIEW old AS SELECT age, town FROM visits WHERE age > 40")
        database.commit()
    return f"sqlite+pysqlite:///{tmp_path}/clinic.db"


def test_any_database_gives_the_classes_of_a_file(reached: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.engine.sqlalchemy.BATCH_ROWS", 7)
    table = read(f"{reached}#visits", engine=DuckDBEngine())
    assert (table.rows, table.source.name, table.source.format) == (24, "visits", "sql")
    given = {"quasi_identifiers": ["age", "town", "pay", "day"], "sensitive": ["ill"], "person": "who"}
    same(table.engine.count(table, **given), read(ROWS).engine.count(read(ROWS), **given))
    assert table.to_arrow().to_pylist() == ROWS.to_pylist()
    assert read(f"{reached}#main.old", engine=DuckDBEngine()).rows == 8
    assert discreet.audit(f"{reached}#visits", POLICY).verdict == discreet.audit(ROWS, POLICY).verdict


def test_what_is_wrong_with_such_a_database_is_told_without_secrets(
    reached: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.db").write_text("no database")
    for address, told in (
        (f"{reached}#nothing", "has no table nothing"),
        ("sqlite+pysqlite:////no/such/place.db#t", "there is no file place.db"),
        (f"sqlite+pysqlite:///{tmp_path}/text.db#t", "could not be read from the database"),
        ("nonsense://me:secret@host/x#t", "none that SQLAlchemy knows"),
        ("mysql+pymysql://me:secret@host/x#t", "driver of this database is not installed"),
        (reached, "names no table"),
    ):
        with pytest.raises(discreet.errors.DiscreetError) as error:
            read(address)
        assert told in str(error.value)
        assert "secret" not in str(error.value)
    with pytest.raises(InvalidParameter, match="SQLite and PostgreSQL only"):
        discreet.anonymize(ROWS, POLICY).save(f"{reached}#release")
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingDependency, match=r"discreet\[sql\]"):
        read(f"{reached}#visits")


def test_moments_and_bytes_of_such_a_database() -> None:
    berlin = dt.timezone(dt.timedelta(hours=2))
    assert _moment(dt.datetime(2020, 7, 1, 12, tzinfo=berlin)) == dt.datetime(2020, 7, 1, 10)
    assert _moment(dt.datetime(2020, 7, 1, 12)) == dt.datetime(2020, 7, 1, 12)
    assert _text(b"\x01\xff") == "01ff"


def test_whole_numbers_that_differ_stay_different_or_are_refused() -> None:
    """2 to the 53rd and the next number are one double: two people would become one."""
    assert _double(decimal.Decimal("0.1")) == 0.1
    assert _double(decimal.Decimal("0.33333333333333333333")) == 1 / 3
    assert _double(decimal.Decimal(2**53)) == 2**53
    assert _double(1.5) == 1.5
    with pytest.raises(UnsuitableColumn, match="more digits"):
        _double(decimal.Decimal(2**53 + 1))


def test_what_a_driver_stumbles_over_is_not_told() -> None:
    address = database_address("mysql+pymysql://me@host/x#visits")
    assert address is not None
    with pytest.raises(UnreadableInput) as error, _told(address):
        raise AttributeError("0000-00-00 of Jane Doe")
    assert "Jane" not in str(error.value)
