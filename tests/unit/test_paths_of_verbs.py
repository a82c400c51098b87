"""Every verb of the command line keeps what it reads, reads regular files only, and ends with words about what is wrong."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import discreet
from conftest import Run
from discreet.baskets.baskets import Baskets
from discreet.baskets.release import anonymize_baskets
from discreet.dp.ledger import Ledger
from discreet.engine.read import read
from discreet.engine.targets import put_table
from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files.addresses import DatabaseAddress
from discreet.files.writing import UNFINISHED, refuse_clashes
from discreet.policy import load
from discreet.policy.plan import Plan
from discreet.register import Register

PEOPLE = "pid,age,sex,ill\n" + "".join(
    f"p{i},{30 + i % 2},{'fm'[i % 2]},{'ab'[i // 2 % 2]}\n" for i in range(40)
)
POLICY = """profile = "research-partner-3"
[columns.pid]
role = "person-id"
[columns.age]
role = "quasi-identifier"
[columns.sex]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
"""
KEY = "a long random key of the register"
PAID = ("--epsilon", "0.1", "--unit", "record")
LEARN = (
    "learn",
    "people.csv",
    "--label",
    "sex",
    "--columns",
    "age",
    "--keys",
    "sex=f,m",
    "--bounds",
    "age=0:99",
    *PAID,
)
ASK = ("ask", "people.csv", "select count(*) from data", *PAID)
SECRET = "geheim"
REMOTE = f"postgresql://me:{SECRET}@127.0.0.1:1/clinic#visits"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, its policy, its ledger, a project and a register."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("people.csv", PEOPLE), ("policy.toml", POLICY), ("key.txt", KEY)):
        Path(name).write_text(text)
    Path("discreet.toml").write_text('[[table]]\npath = "people.csv"\npolicy = "policy.toml"\n')
    Ledger.beside(Path("people.csv")).set_budget(10, "1e-3")
    Register("register").add("people.csv", "policy.toml", original="people.csv", key=KEY)
    with closing(sqlite3.connect("people.db")) as database:
        database.execute("CREATE TABLE people (pid, age, sex, ill)")
        rows = [line.split(",") for line in PEOPLE.splitlines()[1:]]
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
        database.commit()
    return tmp_path


REGISTERED = ("--register", "register", "--register-key", "key.txt")
ANONYMIZE = ("anonymize", "people.csv", "-p", "policy.toml", "--method", "mondrian", "-o")
CLASHES: dict[str, tuple[str, ...]] = {
    "a classifier on the ledger": (*LEARN, "-o", "people.csv.budget"),
    "a classifier on the head of the ledger": (*LEARN, "-o", "people.csv.budget.head"),
    "a statement on the ledger": (*ASK, "-o", "n.csv", "--ledger", "n.csv.guarantee.json"),
    "a recipe on the key of the register": (*ANONYMIZE, "o.csv", *REGISTERED, "--recipe", "key.txt"),
    "links in the register": (*ANONYMIZE, "o.csv", *REGISTERED, "--links", "register/links.csv"),
    "a codebook that nobody named on the table": (
        "anonymize", "o.codebook.csv", "-p", "policy.toml", "-o", "o.csv"
    ),
    "another release on the policy": (*ANONYMIZE, "o.csv", "--alternatives", "."),
    "a picture on the tables that it shows": ("tables", "show", "people.db", "--chart", "people.db"),
    "a policy on a table of a folder": ("tables", "suggest", ".", "-o", "people.csv", "--force"),
    "what a gate says on the policy of the project": ("check", "--junit", "policy.toml"),
    "what a gate says on the project": ("check", "--sarif", "discreet.toml"),
    "a report on the register's key": (
        "audit", "people.csv", "-p", "policy.toml", "--report", "key.txt", *REGISTERED
    ),
}  # fmt: skip


@pytest.mark.parametrize("clash", CLASHES)
def test_no_output_is_anything_that_is_read(clash: str, place: Path, run: Run) -> None:
    for end in ("", ".head"):
        shutil.copy(f"people.csv.budget{end}", f"n.csv.guarantee.json{end}")
    shutil.copy("people.csv", "o.codebook.csv")
    if "another release" in clash:
        # Policies may have any name.
        shutil.copy("policy.toml", "most-detail.csv")
        arguments = [word if word != "policy.toml" else "most-detail.csv" for word in CLASHES[clash]]
    else:
        arguments = list(CLASHES[clash])
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    told = run(*arguments)
    assert told.code == 2, told.said
    assert "is read" in told.err
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


def test_a_file_in_a_folder_that_is_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="would lie in the folder"):
        refuse_clashes([tmp_path / "a.csv"], [tmp_path])
    refuse_clashes([tmp_path.with_name("a.csv")], [tmp_path, tmp_path / ("x" * 300), tmp_path / "a\0b"])


def test_a_file_that_would_be_read_next_time_is_refused(place: Path) -> None:
    """What fits the pattern of the table would be taken for a part of it."""
    (place / "parts").mkdir()
    (place / "parts" / "a.csv").write_text(PEOPLE)
    (place / "here").symlink_to("parts")
    for target in ("parts/b.csv", "here/b.csv", "parts/sub/b.csv"):
        with pytest.raises(
            InvalidParameter, match=r"b\.csv would be one of the files that are read next time"
        ):
            refuse_clashes([Path(target)], [Path("glob:parts/**/*.csv")])
    refuse_clashes([Path("parts/b.parquet"), Path("b.csv")], [Path("glob:parts/**/*.csv")])


@pytest.mark.parametrize("source", ["people.csv", "glob:peo*.csv", "sqlite:///people.db#people"])
def test_what_python_writes_replaces_nothing_that_it_read(source: str, place: Path) -> None:
    """From wherever it is written then."""
    read = "people.db" if "sqlite" in source else "people.csv"
    policy = load("policy.toml")
    release = discreet.anonymize(source, policy, plan=Plan(method="mondrian"))
    risks, audit = discreet.record_risks(source, policy), discreet.audit(source, policy)
    before = Path(read).read_bytes()
    os.chdir("register")
    Path("link.csv").symlink_to(f"../{read}")
    os.link(f"../{read}", "hard.csv")
    writes: list[Callable[[], object]] = [
        lambda: release.save("hard.csv"),
        lambda: release.save("o.csv", report="link.csv"),
        lambda: release.save("sqlite:///o.db#t", recipe=place / read),
        lambda: risks.save("link.csv"),
        lambda: discreet.report(audit, place / read),
    ]
    for write in writes:
        with pytest.raises(InvalidParameter, match=r"is a file that is read"):
            write()
    assert Path(f"../{read}").read_bytes() == before
    assert not {"o.csv", "o.db"} & set(os.listdir())
    assert str(place) not in str([audit.to_dict(), repr(release), repr(release.table.source)])


def test_no_release_is_written_where_what_belongs_to_it_cannot_be(place: Path, run: Run) -> None:
    os.mkfifo("pipe.csv")
    before = set(os.listdir())
    for other in ("pipe.csv", "/dev/full"):
        told = run(*ANONYMIZE, "o.csv", "--links", other)
        assert (told.code, "not a regular file" in told.err) == (2, True)
    release = discreet.anonymize("people.csv", load("policy.toml"), plan=Plan(method="mondrian"))
    for what in ("links", "recipe", "report", "codebook"):
        for other in ("nowhere/o.csv", "pipe.csv"):
            with pytest.raises(UnreadableInput, match=r"no folder|not a regular file"):
                release.save("o.csv", **{what: other})
    assert set(os.listdir()) == before


@pytest.mark.parametrize("method", ["suppress", "disassociate"])
def test_nor_do_baskets(method: Literal["suppress", "disassociate"], place: Path) -> None:
    (place / "baskets.txt").write_text("milk,bread\nmilk,gin\n" * 20)
    table = read("people.csv")
    for baskets, source in (
        (Baskets.read("baskets.txt"), "baskets.txt"),
        (Baskets.of_rows(table, "pid", "ill"), "people.csv"),
    ):
        release = anonymize_baskets(baskets, k=3, method=method)
        before = Path(source).read_bytes()
        for write in (release.save, release.save_codebook):
            with pytest.raises(InvalidParameter, match=r"is a file that is read"):
                write(source)
        assert Path(source).read_bytes() == before


LONG = "x" * 300
TOO_LONG: tuple[tuple[str, ...], ...] = (
    ("tables", "show", LONG),
    ("tables", "show", "people.db", "--chart", LONG),
    ("tables", "anonymize", "people.db", "-p", "policy.toml", "-o", LONG),
    ("check", "glob:" + LONG, "people.csv", "-p", "policy.toml"),
    ("audit", "people.csv", "-p", "policy.toml", "--report", LONG),
    ("register", "list", LONG),
    ("check", f"{'x' * 250}.csv", "people.csv", "-p", "policy.toml"),
)


@pytest.mark.parametrize("arguments", TOO_LONG, ids=lambda words: " ".join(words)[:30])
def test_a_name_that_is_too_long_is_bad_input(arguments: tuple[str, ...], place: Path, run: Run) -> None:
    told = run(*arguments)
    assert told.code == 2, told.said


# ── regular files only ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ledger", ["pipe", "/dev/zero", "people.csv.budget"])
def test_a_ledger_is_a_regular_file_and_so_is_its_head(ledger: str, place: Path) -> None:
    os.mkfifo("pipe")
    Path("people.csv.budget.head").unlink()
    os.mkfifo("people.csv.budget.head")
    with pytest.raises(UnreadableInput, match=r"not a regular file|cannot be trusted"):
        Ledger(ledger).balance()


def test_a_register_waits_for_no_pipe(place: Path) -> None:
    people = Path("register/0001.people.parquet")
    people.unlink()
    os.mkfifo(people)
    with pytest.raises(UnreadableInput, match=r"0001\.people\.parquet is missing, or was changed"):
        Register("register").check()


def test_reading_makes_no_database_and_waits_for_no_pipe(place: Path, run: Run) -> None:
    pytest.importorskip("sqlalchemy")
    os.mkfifo("pipe")
    for name, words in (("none.db", "there is no file none.db"), ("pipe", "pipe is not a regular file")):
        told = run("audit", f"sqlite+pysqlite:///{name}#t", "--qi", "age")
        assert (told.code, words in told.err) == (2, True), told.said
    assert not Path("none.db").exists()
    told = run(*ANONYMIZE, "sqlite:///pipe#t")
    assert (told.code, "pipe is not a regular file" in told.err) == (2, True), told.said


# ── words about what is wrong ─────────────────────────────────────────────────────────────────────────

MANY = "9" * 5000
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "keys with thousands of digits": ((*ASK[:2], "select sex, count(*) from data group by sex", *PAID, "--keys", f"sex=1:{MANY}"), "keys reach"),
    "a level with thousands of digits": (("safepub", "people.csv", "--epsilon", "1", "--delta", "1e-4", "--level", f"sex={MANY}", "-o", "o.csv"), "no whole number"),
    "a number of records with thousands of digits": ((*ANONYMIZE, "o.csv", "--suppress-rare", f"sex={MANY}"), "is not a name with a whole number"),
    "names with a lone carriage return": (("audit", "people.csv", "--qi", '"age"\rsex'), "a list of names cannot be read"),
    "baskets in a damaged archive": (("baskets", "audit", "broken.txt.gz"), "could not be read"),
    "a question about a database, without a ledger": (("ask", "sqlite:///people.db#people", *ASK[2:]), "name the ledger"),
    "a port that is none": (("audit", "mysql+pymysql://host:abc/d#t", "--qi", "age"), "none that SQLAlchemy knows"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str, place: Path, run: Run) -> None:
    if "SQLAlchemy" in WRONG[case][1]:
        pytest.importorskip("sqlalchemy")
    packed = bytearray(gzip.compress(b"milk,bread,gin,rum\n" * 200, mtime=0))
    packed[14:20] = b"\xff" * 6
    Path("broken.txt.gz").write_bytes(packed)
    arguments, words = WRONG[case]
    told = run(*arguments)
    assert (told.code, words in told.err) == (2, True), told.said


def test_an_address_where_something_else_belongs_is_shown_without_its_password(place: Path, run: Run) -> None:
    told = run("audit", "people.csv", "--skip-rows", REMOTE)
    assert (told.code, "me:…@" in told.err, SECRET in told.said) == (2, True, False), told.said


def test_tables_of_databases_are_compared(place: Path, run: Run) -> None:
    there, here = "sqlite:///people.db#people", "people.csv"
    for arguments in (
        ("diff", there, here),
        ("compare", there, here, "--labels", "", "--queries", "10", "--brief"),
        ("attack", there, "--original", there, "--attacks", "homogeneity"),
    ):
        told = run(*arguments, "-p", "policy.toml")
        assert told.code == 0, told.said


def test_a_release_of_several_files_is_entered(place: Path) -> None:
    Path("parts").mkdir()
    rows = pyarrow.csv.read_csv("people.csv")
    for part in range(2):
        pyarrow.parquet.write_table(rows.slice(20 * part, 20), f"parts/{part}.parquet")
    entry = Register("register").add("glob:parts/*.parquet", "policy.toml")
    assert (entry.file, entry.rows) == ("parts/*.parquet", 40)


def test_an_address_is_shown_without_its_password(place: Path, run: Run) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    told = run("check", "people.csv", REMOTE, "-p", "policy.toml", "--junit", "o.xml", "--sarif", "o.sarif")
    assert told.code == 2
    assert "visits" in told.out
    assert SECRET not in told.said + Path("o.xml").read_text() + Path("o.sarif").read_text()
    told = run("suggest", "sqlite:///people.db#people", "-o", "new.toml")
    assert told.code == 0, told.said
    assert "sqlite:" not in told.out


# ── tables of SQLite ──────────────────────────────────────────────────────────────────────────────────

ROWS = pa.table({"age": [31, 47]})


def put(address: str, check: Callable[[], object]) -> None:
    put_table(DatabaseAddress(address), ROWS.to_reader(), lambda stored: check())


def names_in(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as database:
        return [name for (name,) in database.execute("SELECT name FROM sqlite_master")]


def test_a_process_that_ends_while_a_new_database_is_made_leaves_none(tmp_path: Path) -> None:
    """What is not complete is known to what removes it; what is, or was there before, is not."""
    seen: list[set[str]] = []
    for _ in range(2):
        name = f"t{len(seen)}"
        put(
            f"sqlite:///{tmp_path}/new.db#{name}",
            lambda: seen.append({path.name for path in UNFINISHED if path.parent == tmp_path}),
        )
    assert seen == [{"new.db", "new.db-journal"}, set()]
    assert not {path for path in UNFINISHED if path.parent == tmp_path}
    assert names_in(tmp_path / "new.db") == ["t0", "t1"]


def test_who_fails_takes_nothing_away_from_who_was_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two put a table into one new database: the second looked for it before it was there, and then had to wait."""
    file = tmp_path / "new.db"
    put(f"sqlite:///{file}#t", lambda: None)
    monkeypatch.setattr(Path, "exists", lambda path: path != file and os.path.exists(path))
    with pytest.raises(InvalidParameter, match="has a table t already"):
        put(f"sqlite:///{file}#t", lambda: None)
    assert names_in(file) == ["t"]
