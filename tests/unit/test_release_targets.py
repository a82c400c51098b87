"""A release goes to a folder of Parquet files or to a table of a database: whole and verified, or not at all."""

from __future__ import annotations

import datetime as dt
import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.engine.duckdb import DuckDBEngine
from discreet.errors import InvalidParameter, RequirementNotMet, UnreadableInput
from discreet.files import scratch
from discreet.files.leaving import remove_unfinished
from discreet.files.writing import folder_atomically
from discreet.privacy import KAnonymity
from discreet.release.release import Release
from discreet.release.targets import hash_of
from discreet.table import Table

EIGHT = pa.table(
    {
        "age": [31, 32, 33, 34, 61, 62, 63, 64],
        "town": ["a", "a", "b", "b", "a", "a", "b", None],
        "ill": ["flu", "cold", "flu", "cold", None, "flu", "cold", "flu"],
        "in_care": [True, False, None, True, True, False, False, True],
        "seen": [dt.date(2020, 1, 1), dt.date(1899, 12, 31)] * 4,
        "pay": [0.5, 1e300, None, -0.1] * 2,
    }
)
POLICY = discreet.Policy.of(
    quasi_identifiers=["age", "town"],
    sensitive=["ill", "in_care"],
    require=[KAnonymity(2)],
    profile="research-partner-3",
    unknown="keep",
)


@pytest.fixture(scope="module")
def release() -> Release:
    return discreet.anonymize(EIGHT, POLICY)


def texts(rows: pa.Table) -> list[tuple[str, ...]]:
    """Rows as texts, in an order of their own."""
    return sorted(tuple(map(str, row.values())) for row in rows.to_pylist())


@pytest.mark.parametrize("name", ["people/", "people/*.parquet"])
def test_a_folder_gets_parquet_files_with_the_same_rows(release: Release, tmp_path: Path, name: str) -> None:
    report = tmp_path / "report.html"
    target = release.save(f"{tmp_path}/{name}", report=report)
    assert target == tmp_path / "people" / "*.parquet"
    parts = sorted((tmp_path / "people").iterdir())
    assert parts
    assert all(path.suffix == ".parquet" for path in parts)
    assert texts(pyarrow.parquet.read_table(tmp_path / "people")) == texts(release.to_arrow())
    assert hash_of(*parts) in report.read_text(encoding="utf-8")
    # It is read again as any other table of several files.
    again = discreet.read(f"glob:{tmp_path}/people/*.parquet")
    assert again.rows == release.table.rows


def test_a_folder_with_anything_in_it_is_refused(release: Release, tmp_path: Path) -> None:
    (tmp_path / "people").mkdir()
    release.save(f"{tmp_path}/people/")
    before = sorted((tmp_path / "people").iterdir())
    with pytest.raises(InvalidParameter, match="people exists and is not empty"):
        release.save(f"{tmp_path}/people/")
    assert sorted((tmp_path / "people").iterdir()) == before
    with pytest.raises(InvalidParameter, match="Parquet files only"):
        release.save(tmp_path / "others" / "*.csv")
    with pytest.raises(UnreadableInput, match="no folder"):
        release.save(f"{tmp_path}/none/people/")


def spoiled(self: DuckDBEngine, table: Table, folder: Path) -> None:
    rows = self.to_arrow(table)
    pyarrow.parquet.write_table(rows.slice(0, 3), folder / "a.parquet")
    pyarrow.parquet.write_table(rows.slice(4), folder / "b.parquet")


def test_a_folder_that_lacks_a_row_never_appears(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDBEngine, "store_parts", spoiled)
    with pytest.raises(RequirementNotMet, match="7 of 8 rows"):
        release.save(f"{tmp_path}/people/")
    assert not list(tmp_path.iterdir())


def test_a_folder_without_any_file_never_appears(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where all workers of a cluster wrote to disks of their own."""
    monkeypatch.setattr(DuckDBEngine, "store_parts", lambda self, table, folder: None)
    with pytest.raises(RequirementNotMet, match="it cannot be read back"):
        release.save(f"{tmp_path}/people/")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["people/", "sqlite:///{folder}/clinic.db#visits"])
def test_an_engine_that_cannot_write_is_told_by_its_error(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    run = DuckDBEngine._run

    def full(self: DuckDBEngine, statement: str) -> None:
        if statement.startswith("COPY"):
            raise duckdb.IOException("No space left on device: a value")
        run(self, statement)

    monkeypatch.setattr(DuckDBEngine, "_run", full)
    target = name.format(folder=tmp_path) if ":" in name else f"{tmp_path}/{name}"
    with pytest.raises(UnreadableInput, match=r"could not be written \(IOException\)"):
        release.save(target)
    assert not list(tmp_path.iterdir())


def test_what_a_killed_writer_left_of_a_folder_is_removed(tmp_path: Path) -> None:
    left = tmp_path / ".discreet-0123456789abcdef.part"
    left.mkdir()
    (left / "a.parquet").write_text("half")

    def write(part: Path) -> None:
        assert not left.exists()
        (part / "a").write_text("whole")
        # Somebody else who writes beside it leaves it alone.
        folder_atomically(tmp_path / "other", lambda other: None, lambda other: None)
        assert (part / "a").exists()

    folder_atomically(tmp_path / "people", write, lambda part: None)
    assert (tmp_path / "people" / "a").read_text() == "whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "people"]


def test_who_must_leave_at_once_leaves_no_half_folder_and_no_private_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is not removed as a file is: whoever tried ended neither it nor the process."""
    monkeypatch.setattr(scratch, "HELD", set())
    private = scratch.Scratch("rows")

    def interrupted(part: Path) -> None:
        (part / "a.parquet").write_text("half")
        remove_unfinished()
        assert not list(tmp_path.iterdir())
        assert not private.path.exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder_atomically(tmp_path / "people", interrupted, lambda part: None)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_written_where_folders_cannot_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on NFS, which locks only what is open for writing. Its files are on the disk before it has its name."""

    def unlocked(handle: int) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    synced: list[int] = []
    monkeypatch.setattr("discreet.files.writing._lock", unlocked)
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file.fileno()).st_ino))
    folder_atomically(tmp_path / "people", lambda part: (part / "a").write_text("whole"), lambda part: None)
    file = tmp_path / "people" / "a"
    assert file.read_text() == "whole"
    assert synced == [file.stat().st_ino]


def lite_rows(file: Path, table: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as database:
        return database.execute(f'SELECT * FROM "{table}"').fetchall()


def test_a_new_table_of_sqlite_holds_the_release(release: Release, tmp_path: Path) -> None:
    file = tmp_path / "clinic.db"
    release.save(f"sqlite:///{file}#the%20visits")
    expected = release.to_arrow().to_pylist()
    for stored, row in zip(lite_rows(file, "the visits"), expected, strict=True):
        assert stored[:3] == (row["age"], row["town"], row["ill"])
        assert stored[3] == (None if row["in_care"] is None else int(row["in_care"]))
        assert stored[4] == str(row["seen"])
        assert stored[5] == row["pay"]
    # A second table comes beside it; the first is not replaced.
    release.save(f"sqlite:///{file}#more")
    with pytest.raises(InvalidParameter, match="has a table The Visits already"):
        release.save(f"sqlite:///{file}#The%20Visits")
    assert len(lite_rows(file, "the visits")) == len(lite_rows(file, "more")) == 8


@pytest.mark.parametrize("known", [False, True])
def test_a_table_that_does_not_hold_up_never_appears(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    file = tmp_path / "clinic.db"
    if known:
        with closing(sqlite3.connect(file)) as database:
            database.execute("CREATE TABLE other (a)")
            database.commit()

    def exposing(self: DuckDBEngine, table: Table, path: Path) -> None:
        rows = self.to_arrow(table)
        ages = pa.array([f"age {n}" for n in range(8)])
        pyarrow.parquet.write_table(rows.set_column(0, "age", ages), path)

    monkeypatch.setattr(DuckDBEngine, "store", exposing)
    with pytest.raises(RequirementNotMet, match="at least 3 persons"):
        release.save(f"sqlite:///{file}#visits")
    assert file.exists() == known
    if known:
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            lite_rows(file, "visits")
        assert lite_rows(file, "other") == []


def test_what_is_no_database_is_left_alone(release: Release, tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_text("these are notes, and no database at all " * 40)
    with pytest.raises(UnreadableInput, match=r"notes\.db could not be opened as an SQLite database"):
        release.save(f"sqlite:///{file}#visits")
    assert file.read_text().startswith("these are notes")


@pytest.mark.parametrize("name", ["people/", "sqlite:///{folder}/clinic.db#visits"])
def test_links_are_refused_where_rows_have_no_order(release: Release, tmp_path: Path, name: str) -> None:
    """DuckDB fills the files of a folder side by side: the third row of the release may stand anywhere in them."""
    target = name.format(folder=tmp_path) if ":" in name else f"{tmp_path}/{name}"
    with pytest.raises(InvalidParameter, match="links tell rows by their numbers"):
        release.save(target, links=tmp_path / "links.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Verified in the database"), ("de", "In der Datenbank geprüft")]
)
def test_the_report_says_that_a_table_was_verified(
    release: Release, tmp_path: Path, language: str, said: str
) -> None:
    report = tmp_path / "report.html"
    release.save(f"sqlite:///{tmp_path}/clinic.db#visits", report=report, language=language)
    text = report.read_text(encoding="utf-8")
    assert said in text
    assert "without a written file" not in text


def test_no_report_replaces_the_database(release: Release, tmp_path: Path) -> None:
    file = tmp_path / "clinic.db"
    release.save(f"sqlite:///{file}#visits")
    with pytest.raises(InvalidParameter, match=r"clinic\.db is a file that is read"):
        release.save(f"sqlite:///{file}#more", report=file)
    with pytest.raises(InvalidParameter, match=r"new\.db is a file that is read"):
        release.save(f"sqlite:///{tmp_path}/new.db#visits", recipe=tmp_path / "new.db")
    assert len(lite_rows(file, "visits")) == 8


def test_the_folder_one_is_in_is_no_target(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("./", "*.parquet"):
        with pytest.raises(InvalidParameter, match="has no name"):
            release.save(name)


def test_a_reader_in_the_way_of_the_last_step_is_told_and_nothing_stays(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "clinic.db"
    connect = sqlite3.connect
    with closing(connect(file, isolation_level=None)) as reader:
        reader.execute("CREATE TABLE other (a)")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM other").fetchall()
        monkeypatch.setattr(sqlite3, "connect", lambda *args, **more: connect(*args, timeout=0, **more))
        with pytest.raises(UnreadableInput, match="the database refused to take the release"):
            release.save(f"sqlite:///{file}#visits")
        reader.execute("COMMIT")
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        lite_rows(file, "visits")


def test_times_of_day_that_sqlite_has_no_type_for_are_named(tmp_path: Path) -> None:
    values = [dt.time(1, 2), dt.time(3, 4)] * 4
    held = discreet.anonymize(EIGHT.append_column("odd", pa.array(values)), POLICY)
    with pytest.raises(InvalidParameter, match="'odd' holds bytes or times of day"):
        held.save(f"sqlite:///{tmp_path}/clinic.db#visits")
    assert not list(tmp_path.iterdir())


def test_the_command_line_writes_them(run: Callable[..., object], tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text("age,sex,dx\n" + "31,f,flu\n32,m,cold\n33,f,flu\n34,m,cold\n" * 5)
    roles = ["--qi", "age,sex", "--sensitive", "dx", "--require", "k-anonymity k=3", "--quiet"]
    for target in (f"{tmp_path}/out/", f"sqlite:///{tmp_path}/clinic.db#visits"):
        told = run("anonymize", source, "-o", target, *roles)
        assert (told.code, told.said) == (0, "")  # type: ignore[attr-defined]
        told = run("anonymize", source, "-o", target, *roles)
        assert told.code == 2  # type: ignore[attr-defined]
        told = run("anonymize", source, "-o", target, *roles, "--links", tmp_path / "links.csv")
        assert told.code == 2  # type: ignore[attr-defined]
        assert "links tell rows by their numbers" in told.said  # type: ignore[attr-defined]
    told = run(
        *("anonymize", source, "-o", f"sqlite:///{tmp_path}/clinic.db#more", *roles),
        *("--report", tmp_path / "clinic.db"),
    )
    assert told.code == 2  # type: ignore[attr-defined]
    assert len(pyarrow.parquet.read_table(tmp_path / "out")) == 20
    assert len(lite_rows(tmp_path / "clinic.db", "visits")) == 20
