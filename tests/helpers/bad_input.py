"""Mistakes that users make, for the command line and for the page.

No message repeats a value of the data: every table here carries a marker that must never be seen again.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

MARKER = "Qv7marker"
PEOPLE = f"age,sex,dx\n31,f,{MARKER}\n31,m,flu\n47,f,cold\n47,f,flu\n"
AGE = '[columns.age]\nrole = "quasi-identifier"\n'
OWN_PROFILE = 'title = "t"\ndescription = "d"\nsource = "s"\ndate = 2020-01-01\n'

Make = Callable[[Path], list[object]]


@dataclass(frozen=True)
class Bad:
    """One mistake: how to make it, and what the message must say about its place and its remedy."""

    id: str
    make: Make
    place: str
    remedy: str = ""


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def people(folder: Path) -> Path:
    return write(folder, "people.csv", PEOPLE)


def parquet(folder: Path, name: str, columns: dict[str, object]) -> Path:
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


def file_case(id: str, name: str, content: str | bytes, place: str, remedy: str, *options: object) -> Bad:
    """A file that cannot be read as a table."""
    return Bad(id, lambda folder: ["audit", write(folder, name, content), *options], place, remedy)


def option_case(id: str, options: list[object], place: str, remedy: str = "") -> Bad:
    """A good file with a bad option."""
    return Bad(id, lambda folder: ["audit", people(folder), *options], place, remedy)


def policy_case(id: str, policy: str | bytes, place: str, remedy: str = "") -> Bad:
    """A good file with a bad policy file."""
    return Bad(
        id,
        lambda folder: ["audit", people(folder), "--policy", write(folder, "my.toml", policy)],
        place,
        remedy,
    )


def profile_case(id: str, profile: str, place: str, remedy: str = "") -> Bad:
    return Bad(
        id,
        lambda folder: [
            "audit", people(folder), "--qi", "age", "--profile", write(folder, "own.toml", profile)
        ],
        place,
        remedy,
    )  # fmt: skip


def table_case(id: str, columns: dict[str, object], options: list[object], place: str, remedy: str) -> Bad:
    return Bad(id, lambda folder: ["audit", parquet(folder, "t.parquet", columns), *options], place, remedy)


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("people.csv", PEOPLE)
    return buffer.getvalue()


def _half_parquet(folder: Path) -> list[object]:
    whole = parquet(folder, "whole.parquet", {"age": list(range(500)), "dx": [MARKER] * 500}).read_bytes()
    return ["audit", write(folder, "half.parquet", whole[: len(whole) // 2])]


def _damaged_parquet(folder: Path) -> list[object]:
    whole = parquet(folder, "whole.parquet", {"age": list(range(500)), "dx": [MARKER] * 500}).read_bytes()
    return ["audit", write(folder, "damaged.parquet", whole[:8] + b"\xff" * 80 + whole[88:]), "--qi", "age"]


def _workbook(folder: Path) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["age", "dx"])
    book.active.append([31, MARKER])
    book.create_sheet("empty")
    book.save(folder / "book.xlsx")
    return folder / "book.xlsx"


_GZIP = gzip.compress(PEOPLE.encode() * 4000)
_QUOTED = '"age","dx"\n' + f'"31","{MARKER}"\n' * 30 + f'"32","{MARKER}\n'

CASES = [
    # ── the file ──────────────────────────────────────────────────────────────────────────────────
    Bad("no such file", lambda f: ["audit", f / "none.csv"], "there is no file none.csv", "check the path"),
    Bad("a folder", lambda f: ["audit", f], "is a folder", "name a file"),
    file_case("empty file", "e.csv", "", "e.csv is empty", "the file you meant"),
    file_case("header only", "h.csv", "age,sex\n", "h.csv has a header and no rows", "--no-header"),
    file_case("blank lines", "b.csv", "\n\n \n", "b.csv holds only blank lines", "export finished"),
    file_case("ragged", "r.csv", PEOPLE + "47,f\n", "line 6 of r.csv has 2 fields", "--delimiter"),
    file_case(
        "ragged far down",
        "r.csv",
        "age,dx\n" + f"31,{MARKER}\n" * 100_000 + f"31,{MARKER},1\n",
        "line 100002 of r.csv has 3 fields",
        "quote fields",
    ),
    file_case("unbalanced quote", "q.csv", _QUOTED, "q.csv", "quote"),
    file_case(
        "wrong encoding",
        "w.csv",
        f"age,näme\n31,Mü{MARKER}\n".encode("cp1252"),
        "line 1 of w.csv is not utf-8",
        "--encoding 'cp1252'",
        "--encoding",
        "utf-8",
    ),
    file_case("no such encoding", "p.csv", PEOPLE, "'klingon' is no text", "cp1252", "--encoding", "klingon"),
    file_case("NUL bytes", "n.csv", b"age,sex\n31,f\n47,\0m\n", "line 3 of n.csv holds a NUL", "export it"),
    file_case("an image", "i.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "PNG image", "export it as CSV"),
    file_case("a PDF", "d.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + bytes(range(256)), "PDF document", "export"),
    file_case("a zip", "z.csv", _zip(), "zip archive", "unpack it"),
    file_case("JSON", "j.json", f'[{{"dx": "{MARKER}"}}]', "looks like JSON", "export it as CSV"),
    file_case("cut-off gzip", "g.csv.gz", _GZIP[: len(_GZIP) // 2], "g.csv.gz is cut off", "download it again"),
    Bad("damaged Parquet", _damaged_parquet, "rows could not be read to their end", "copy it again"),
    Bad("cut-off Parquet", _half_parquet, "half.parquet could not be read as parquet", "complete"),
    file_case("text called Parquet", "p.parquet", PEOPLE, "could not be read as parquet", "of this format"),
    file_case("text called Arrow", "p.feather", PEOPLE, "could not be read as arrow", "of this format"),
    file_case("broken workbook", "x.xlsx", b"PK\x03\x04" + b"junk" * 40, "as a spreadsheet", "password"),
    Bad(
        "no such sheet",
        lambda f: ["audit", _workbook(f), "--sheet", "Tabelle9"],
        "book.xlsx has no sheet 'Tabelle9'",
        "its sheets are: Sheet, empty",
    ),
    Bad("empty sheet", lambda f: ["audit", _workbook(f), "--sheet", "empty"], "has no rows", "another sheet"),
    table_case("no rows", {"age": pa.array([], pa.int64())}, [], "t.parquet has columns but no rows", "meant"),
    file_case("broken JSON lines", "b.jsonl", f'{{"a": 1}}\n{{"a": {MARKER}\n', "b.jsonl could not be", "check"),
    file_case("same name twice", "s.csv", "age,age\n1,2\n", "repeats column names: age", "--names"),
    file_case("names in two cases", "s.csv", "age,Age\n1,2\n", "upper and lower case", "rename"),
    # ── how it is read ────────────────────────────────────────────────────────────────────────────
    option_case("rows 0", ["--rows", "0"], "'--rows': 0 is not in the range x>=1", "audit --help"),
    option_case("rows many", ["--rows", "many"], "'--rows': 'many' is not a valid", "audit --help"),
    option_case("long delimiter", ["--delimiter", "::"], "delimiter is '::'", "one character"),
    option_case("long quote", ["--quote", "''"], "quote is", "for no quotes"),
    option_case("too few names", ["--names", "a,b"], "names has 2 names where people.csv has 3", "one name per"),
    option_case("names twice", ["--names", "a,a,b"], "names repeats a", "a name of its own"),
    option_case("unknown option", ["--quasi", "age"], "No such option", "discreet audit --help"),
    Bad("unknown command", lambda f: ["adit", people(f)], "no command 'adit'", "did you mean 'audit'?"),
    Bad("no file named", lambda f: ["audit"], "Missing argument 'FILE'", "discreet audit --help"),
    # ── roles ─────────────────────────────────────────────────────────────────────────────────────
    option_case("typing error", ["--qi", "agee,sex"], "there is no column 'agee'", "did you mean 'age'?"),
    option_case("no such person id", ["--qi", "age", "--person", "pid"], "no column 'pid'", "The columns are"),
    option_case("no such weight", ["--qi", "age", "--weight", "pid"], "no column 'pid'", "The columns are"),
    option_case(
        "two roles",
        ["--qi", "age,sex", "--sensitive", "sex"],
        "'sex' is given two roles: quasi-identifier and sensitive",
        "one role",
    ),
    option_case("named twice", ["--qi", "age,age"], "'age' is named twice as quasi-identifier", "once"),
    option_case("no quasi-identifier", ["--qi", ""], "no column is a quasi-identifier", "an intruder may know"),
    Bad(
        "nothing varies",
        lambda f: ["audit", write(f, "c.csv", f"a,b\n1,{MARKER}\n1,{MARKER}\n")],
        "no column is a quasi-identifier",
        "an intruder may know",
    ),
    option_case("weight of text", ["--qi", "age", "--weight", "dx"], "'dx' is the sampling weight", "numeric"),
    table_case(
        "weight zero", {"a": [1, 2], "w": [1.0, 0.0]}, ["--qi", "a", "--weight", "w"], "'w' is the", "positive"
    ),
    table_case(
        "weight negative", {"a": [1, 2], "w": [1, -3]}, ["--qi", "a", "--weight", "w"], "'w' is the", "positive"
    ),
    table_case(
        "weight infinite",
        {"a": [1, 2], "w": [1.0, np.inf]},
        ["--qi", "a", "--weight", "w"],
        "'w' is the sampling weight",
        "positive",
    ),
    table_case(
        "weight null", {"a": [1, 2], "w": [1.0, None]}, ["--qi", "a", "--weight", "w"], "'w' is the", "positive"
    ),
    table_case(
        "person id null",
        {"a": [1, 2], "id": [MARKER, None]},
        ["--qi", "a", "--person", "id"],
        "'id' is the person id but is empty",
        "fill or remove",
    ),
    file_case(
        "person id blank",
        "p.csv",
        f"id,age\n{MARKER},31\n,31\n,47\n",
        "'id' is the person id but holds missing marks",
        "fill or remove",
        "--qi",
        "age",
        "--person",
        "id",
    ),
    table_case("infinities", {"a": [1.0, np.inf]}, ["--qi", "a"], "'a' holds infinite values", "replace them"),
    option_case("fraction 0", ["--qi", "age", "--sampling-fraction", "0"], "0.0 is not in the range", "--help"),
    option_case("fraction 2", ["--qi", "age", "--sampling-fraction", "2"], "2.0 is not in the range", "--help"),
    option_case("fraction NaN", ["--qi", "age", "--sampling-fraction", "nan"], "fraction is nan", "at most 1"),
    # ── profiles ──────────────────────────────────────────────────────────────────────────────────
    option_case("no such profile", ["--profile", "opendata"], "no profile 'opendata'", "profiles are: differential-privacy, ema-0070"),
    option_case("no profile file", ["--profile", "none.toml"], "there is no profile none.toml", "check the path"),
    profile_case("profile no TOML", "title = ", "own.toml is not valid TOML", "discreet profiles"),
    profile_case("profile incomplete", 'title = "t"\n', "description is missing", "discreet profiles"),
    profile_case("profile setting", OWN_PROFILE + "k = 3\n", "own.toml, line 5: unknown setting 'k'", "remove"),
    profile_case(
        "profile model", OWN_PROFILE + '[[require]]\nmodel = "k-anon"\nk = 3\n', "no model 'k-anon'", "did you mean"
    ),
    # ── the policy file ───────────────────────────────────────────────────────────────────────────
    option_case("no policy file", ["--policy", "none.toml"], "no policy file none.toml", "check the path"),
    policy_case("policy no TOML", "roles: age\n", "my.toml is not valid TOML", "line 1"),
    policy_case("policy no text", b"\xff\xfe\x00", "my.toml could not be read", "UTF-8"),
    policy_case("unknown setting", "\nprofil = 1\n" + AGE, "line 2: unknown setting 'profil'", "remove or correct"),
    policy_case("unknown role", '[columns.age]\nrole = "quasi"\n', "line 2: 'quasi' is not a role", "roles are:"),
    policy_case("no role", '[columns.age]\ntype = "integer"\n', "line 1: columns.age.role is missing"),
    policy_case("role of wrong type", "[columns.age]\nrole = 5\n", "line 2: 5 is not a role", "roles are:"),
    policy_case("column as text", '[columns]\nage = "sensitive"\n', "line 2: columns.age", "[columns.age]"),
    policy_case(
        "bad rating",
        AGE + "rating = {replication = 9, availability = 1, distinguishability = 1}\n",
        "line 3: columns.age.rating.replication",
        "at most 3",
    ),
    policy_case("fraction in file", AGE + "[population]\nsampling_fraction = 0\n", "line 4: population", "above 0"),
    policy_case("another format", "format = 2\n" + AGE, "my.toml has format 2", "discreet suggest"),
    policy_case("one bracket", AGE + '[require]\nmodel = "k-anonymity"\nk = 3\n', "my.toml, line 3", "[[require]]"),
    policy_case("list of texts", 'require = ["k-anonymity"]\n' + AGE, "my.toml, line 1: require.0", "table of settings"),
    policy_case("k 0", AGE + '[[require]]\nmodel = "k-anonymity"\nk = 0\n', "at least 1, not 0", "k = 2"),
    policy_case("k -1", AGE + '[[require]]\nmodel = "k-anonymity"\nk = -1\n', "line 3: k must be", "k = 2"),
    policy_case("k many", AGE + '[[require]]\nmodel = "k-anonymity"\nk = "many"\n', "not 'many'", "k = 2"),
    policy_case("no k", AGE + '[[require]]\nmodel = "k-anonymity"\n', "k-anonymity lacks k", "takes k"),
    policy_case(
        "t 2",
        AGE + '[columns.dx]\nrole = "sensitive"\n[[require]]\nmodel = "t-closeness"\nt = 2\nsensitive = "dx"\n',
        "line 5: t must be a number at least 0 and at most 1",
        "t = 0.5",
    ),
    policy_case("no model", AGE + "[[require]]\nk = 3\n", "line 3", "k-anonymity"),
    policy_case(
        "not sensitive",
        AGE + '[[require]]\nmodel = "l-diversity"\nl = 2\nsensitive = "dx"\n',
        "'l-diversity' speaks of 'dx'",
        "role sensitive",
    ),
    policy_case(
        "another table's",
        '[columns.alter]\nrole = "quasi-identifier"\n[columns.plz]\nrole = "sensitive"\n',
        "2 problems in the policy",
        "discreet suggest",
    ),
    policy_case(
        "two person ids",
        AGE + '[columns.sex]\nrole = "person-id"\n[columns.dx]\nrole = "person-id"\n',
        "2 columns have the role person-id (sex, dx)",
        "at most one may",
    ),
    policy_case("bad reading", AGE + '[read]\ndecimal = "x"\n', "decimal is 'x'", "use '.' or ','"),
    # ── where results go ──────────────────────────────────────────────────────────────────────────
    Bad(
        "report into no folder",
        lambda f: ["audit", people(f), "--qi", "age", "--report", f / "none" / "r.html"],
        "no folder to write r.html to",
        "create it first",
    ),
    Bad(
        "report over a folder",
        lambda f: ["report", people(f), "--qi", "age", "-o", f],
        "is a folder",
        "name a file",
    ),
    Bad(
        "report below a file",
        lambda f: ["report", people(f), "--qi", "age", "-o", people(f) / "r.html"],
        "no folder to write r.html to",
        "create it first",
    ),
    Bad(
        "suggest over a file",
        lambda f: ["suggest", people(f), "-o", write(f, "my.toml", MARKER)],
        "my.toml exists already",
        "--force",
    ),
    Bad(
        "suggest into no folder",
        lambda f: ["suggest", people(f), "-o", f / "none" / "my.toml"],
        "no folder to write my.toml to",
        "create it first",
    ),
    Bad("check by guesses", lambda f: ["check", people(f)], "name a --policy, or at least --qi", "discreet suggest"),
    Bad(
        "too small a town",
        lambda f: ["example", f / "town", "--people", "3"],
        "3 is not in the range x>=10",
        "example --help",
    ),
]  # fmt: skip
