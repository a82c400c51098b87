"""Commands that are half right: options and files that fit or do not, given to every verb of the command line.

Whatever comes, it ends with 0, 1 or 2; no value of the data stands in what it complains of; nothing that is read changes,
nothing half-done is left, and where the input is bad nothing is written.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
from broken_files import broken

from discreet.cli import cli
from helpers.program import run

CANARY = "Zq7kanari"
"""What begins every value of the data that is a text."""
CITIES = tuple(f"{CANARY}{city}" for city in ("Aachen", "Bonn", "Celle"))
ILL = tuple(f"{CANARY}{ill}" for ill in ("cold", "flu", "gout"))
PEOPLE = "pid,age,city,sex,ill,pay\n" + "".join(
    f"{CANARY}{i:03},{20 + i % 7},{CITIES[i % 3]},{'fm'[i % 2]},{ILL[i * i % 3]},{i % 9}\n" for i in range(60)
)
LATER = "".join(line + "\n" for line in PEOPLE.splitlines()[:50]).replace("20,", "21,")
POLICY = """profile = "research-partner-3"
[columns.pid]
role = "person-id"
[columns.age]
role = "quasi-identifier"
[columns.city]
role = "quasi-identifier"
hierarchy = "city.csv"
[columns.sex]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
[columns.pay]
role = "insensitive"
[[kpi]]
name = "mean pay"
query = "select avg(pay) from data"
[[require]]
model = "k-anonymity"
k = 2
"""
OTHERS = {
    "city.csv": "".join(f"{city};{city[:10]};*\n" for city in CITIES),
    "key.txt": "a long random key of the register\n",
    "events.csv": "pid,at,pay,city\n"
    + "".join(f"{CANARY}{i % 5},2024-01-31 08:{i:02d}:00,{i % 7},Bonn\n" for i in range(0, 60, 3)),
    "baskets.txt": "".join(
        f"{CANARY}milk,{CANARY}bread{',' + CANARY + 'gin' if i % 3 else ''}\n" for i in range(30)
    ),
    "items.csv": f"{CANARY}milk;food;*\n{CANARY}bread;food;*\n{CANARY}gin;drink;*\n",
    "own.toml": 'title = "t"\ndescription = "d"\nsource = "s"\ndate = 2024-01-01\n',
    "empty.csv": "",
}
PAID = ("--epsilon", "0.1", "--unit", "record")
TYPED = (
    "--bounds",
    "age=18:90",
    "--bounds",
    "pay=0:9",
    "--keys",
    f"city={','.join(CITIES)}",
    "--keys",
    "sex=f,m",
)
RIGHT: tuple[tuple[str, ...], ...] = (
    ("audit", "people.csv", "-p", "policy.toml", "--json"),
    ("audit", "sqlite:///people.db#people", "--qi", "age,sex", "--records", "out.csv", "--person", "pid"),
    ("suggest", "people.csv", "-o", "out.toml"),
    ("rules", "people.csv", "-o", "out.toml"),
    ("trips", "events.csv", "-o", "out.csv", "--person", "pid", "--time", "at", "--gap", "20", "--take", "pay=mean,last"),
    ("report", "people.csv", "-p", "policy.toml", "-o", "out.html", "--quiet"),
    ("recommend", "people.csv", "-p", "policy.toml"),
    ("anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--recipe", "out.json", "--links", "out2.csv"),
    ("anonymize", "people.csv", "-p", "policy.toml", "-o", "sqlite:///out.db#t", "--method", "mondrian", "-q"),
    ("anonymize", "sqlite:///people.db#people", "-p", "policy.toml", "-o", "out/", "--method", "mondrian"),
    ("anonymize", "glob:parts/*.parquet", "-p", "policy.toml", "-o", "out.xlsx", "--alternatives", "out"),
    (
        *("anonymize", "people.csv", "-p", "policy.toml", "-o", "out.parquet", "--method", "mondrian"),
        *("--register", "register", "--register-key", "key.txt", "--acknowledge", "tried"),
    ),
    ("apply", "recipe.json", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--unseen", "suppress"),
    ("bucketize", "rows.csv", "--qi", "age,sex", "--sensitive", "ill", "-o", "out.csv", "--values", "out2.csv"),
    ("fragment", "people.csv", "-p", "policy.toml", "-o", "out", "--recipe", "out.json", "--loose", "3"),
    ("fragment", "people.csv", "--qi", "age,sex", "--confidential", "age,sex", "-o", "out", "--format", "parquet"),
    ("stream", "-p", "policy.toml", "--k", "2", "--delay", "5", "-q"),
    ("stream", "-p", "policy.toml", "--k", "2", "--delay", "5", "--format", "arrow"),
    (
        *("republish", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--counterfeits", "out2.csv"),
        *("--links", "out3.csv", "--m", "2", "--register", "register", "--register-key", "key.txt"),
    ),
    (
        *("register", "add", "register", "release.csv", "-p", "policy.toml", "--original", "people.csv"),
        *("--key-file", "key.txt", "--links", "links.csv"),
    ),
    ("register", "list", "register"),
    ("register", "show", "register", "1", "--json"),
    ("register", "withdraw", "register", "1", "--reason", "tried"),
    ("register", "check", "register"),
    ("ask", "people.csv", "select sex, count(*) from data group by sex", *PAID, "--keys", "sex=f,m", "-o", "out.csv"),
    ("ask", "people.csv", "select avg(pay) from data", *PAID, "--bounds", "pay=0:9", "--ledger", "people.csv.budget"),
    ("ask", "people.csv", "-p", "policy.toml", "--kpi", "mean pay", *PAID, "--bounds", "pay=0:9"),
    ("tabulate", "people.csv", "--table", "sex,city", *PAID, *TYPED[4:], "-o", "out.csv"),
    ("synthesize", "people.csv", *PAID, "--delta", "1e-9", "--columns", "age,sex,city", *TYPED[:2], *TYPED[4:], "-o", "out.csv"),
    ("learn", "people.csv", "--label", "sex", "--columns", "age,city", *PAID, *TYPED[:2], *TYPED[4:], "-o", "out.json", "--test", "later.csv"),
    ("safepub", "people.csv", "--epsilon", "1", "--delta", "1e-4", "--level", "sex=0", "--level", "city=1", "--hierarchy", "city=city.csv", "-o", "out.csv"),
    ("budget", "set", "people.csv", "--epsilon", "2", "--delta", "1e-6"),
    ("budget", "show", "people.csv", "--json"),
    ("budget", "foresee", "people.csv", "--epsilon", "0.1"),
    ("budget", "disjoint", "people.csv", "others.csv", "--person", "pid", "--ledger", "out.budget"),
    ("budget", "total", "people.csv.budget", "people.csv.budget"),
    ("baskets", "audit", "baskets.txt", "--k", "3", "--m", "2"),
    ("baskets", "check", "people.csv", "--basket", "pid", "--item", "ill"),
    ("baskets", "anonymize", "baskets.txt", "-o", "out.csv", "--k", "3", "--hierarchy", "items.csv", "--codebook", "out2.csv"),
    ("tables", "show", "people.db", "--chart", "out.svg"),
    ("tables", "suggest", "people.db", "-o", "out.toml"),
    ("tables", "suggest", "parts", "-o", "out.toml", "--force"),
    ("classes", "count", "people.csv", "-p", "policy.toml", "-o", "out.classes", "--key-file", "key.txt"),
    ("classes", "merge", "part.classes", "-o", "out.classes"),
    ("classes", "audit", "part.classes", "-p", "policy.toml"),
    ("diff", "release.csv", "people.csv", "-p", "policy.toml", "--original", "people.csv"),
    ("diff", "sqlite:///people.db#people", "people.csv", "-p", "policy.toml"),
    ("diff", "policy.toml", "policy.toml"),
    ("check", "release.csv", "people.csv", "-p", "policy.toml", "--junit", "out.xml", "--sarif", "out.sarif"),
    ("check", "sqlite:///people.db#people", "people.csv", "-p", "policy.toml"),
    ("compare", "people.csv", "release.csv", "-p", "policy.toml", "--labels", "", "--queries", "10", "--brief"),
    ("attack", "release.csv", "--original", "people.csv", "-p", "policy.toml", "--earlier", "release.csv", "--attacks", "homogeneity"),
    ("hierarchy", "build", "people.csv", "age", "--builder", "intervals", "--widths", "5,10", "-o", "out.csv"),
    ("hierarchy", "check", "people.csv", "city", "--hierarchy", "city.csv"),
    ("frontier", "people.csv", "-p", "policy.toml", "--k", "2,3", "--methods", "mondrian", "--chart", "out.svg"),
    ("compare-methods", "people.csv", "-p", "policy.toml", "--methods", "mondrian", "--chart", "out.svg"),
    ("compare-methods", "people.csv", "-p", "policy.toml", "--exposure", "0.3", "--drawn", "50", "--families", "slicing"),
)  # fmt: skip
SHOWS_VALUES = ("hierarchy", "stream", "ask", "tabulate", "learn", "rules", "baskets")
"""What prints values because it was asked for them."""
TEXTS = (
    *("", " ", "-", "--", "*", "?", "nan", "inf", "-1", "0", "1", "3", "1.5", "1e400", "1/3", "0x10", "true"),
    *("9" * 5000, "9" * 25, "a=b", "age", "sex", "ill", "pid", "pay", "age,sex", "nope", "age,age", "='", '"', "'"),
    *('"a"\rb', "age=", "=5", "age=1:2", "age=9:1", "age=nan:inf", "age=-9:" + "9" * 5000, "city=0", "city=99", "city=city.csv"),
    *("\ud800", "\u202e", "\x1b[2J", "ä" * 300, "[" * 500, "{" * 500, "(" * 3000, "select 1", "select count(*) from data"),
    *("select * from read_csv('/etc/passwd')", "select count(*) from data;drop table data", "klingon", "idna", "hex", "utf-16"),
    *("k-anonymity k=2", "k-anonymity k=" + "9" * 400, "l-diversity l=2 sensitive=ill", "t-closeness t=1e-320 sensitive=ill"),
    *("rank-swap columns=age percent=5", "noise columns=pay scale=1e308", "pay ~ age + sex", "pay ~ " + "(" * 500, "ill=nope"),
)  # fmt: skip
PLACES = (
    *("people.csv", "rows.csv", "policy.toml", "city.csv", "key.txt", "register", "release.csv", "links.csv", "recipe.json"),
    *("people.csv.budget", "people.csv.budget.head", "register/0001.toml", "part.classes", "people.db", "parts", "empty.csv"),
    *("pipe", "loop", "dangling", "noread.csv", ".", "..", "/", "/dev/null", "/dev/zero", "/dev/full", "~nouser/x", "~"),
    *("a/b/c.csv", "people.csv/x.csv", "x" * 300, "peo[p]le.csv", "glob:*.csv", "glob:[", "glob:nothing/**", "glob:parts/*.parquet"),
    *("sqlite:///people.db#people", "sqlite:///people.db#nope", "sqlite:///people.db", "sqlite:////dev/zero#t", "sqlite:///pipe#t"),
    *("sqlite:///%00#t", "sqlite:///#t", "sqlite://///tmp/none.db#t", "sqlite:///people.csv#t", "postgresql://x:geheim@127.0.0.1:1/d#t"),
    *("mysql+pymysql://h:abc/d#t", "sqlite+pysqlite:///people.db#people", "nodb://x:geheim@h/d#t", "out/a.csv", "out.csv", "out.parquet"),
    *("out2.csv", "out.toml", "out.json", "out.db", "sqlite:///out.db#t", "out/", "out", "loose.csv", "wide.parquet", "nan.parquet"),
)  # fmt: skip
SECRET = "geheim"
"""The password in addresses, which nothing may repeat."""


@cache
def ground() -> Path:
    """A folder with a file of every kind that a command reads."""
    folder = Path(tempfile.mkdtemp(prefix="commands-"))
    for name, text in {**OTHERS, "people.csv": PEOPLE, "later.csv": LATER, "policy.toml": POLICY}.items():
        (folder / name).write_text(text, encoding="utf-8")
    lines = [line.split(",", 1)[1] for line in PEOPLE.splitlines()]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "others.csv").write_text(PEOPLE.replace(f"{CANARY}0", f"{CANARY}9"), encoding="utf-8")
    (folder / "loose.csv").write_text(f"a;b\n1;{CANARY}\n2;{CANARY},3\n", encoding="utf-8")
    table = pyarrow.csv.read_csv(folder / "people.csv")
    (folder / "parts").mkdir()
    for part in range(2):
        pyarrow.parquet.write_table(table.slice(30 * part, 30), folder / "parts" / f"{part}.parquet")
    wide = {f"\x1b[2J{i}": [1, 2, 2] for i in range(300)}
    pyarrow.parquet.write_table(pa.table(wide), folder / "wide.parquet")
    odd = pa.table(
        {"age": [1.0, float("nan"), None], "ill": [CANARY, None, ""], "pay": [2**63 - 1, -(2**63), None]}
    )
    pyarrow.parquet.write_table(odd, folder / "nan.parquet")
    with closing(sqlite3.connect(folder / "people.db")) as database:
        database.execute("create table people (pid, age, city, sex, ill, pay)")
        rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
        database.executemany("insert into people values (?, ?, ?, ?, ?, ?)", rows)
        database.commit()
    made = (
        ["budget", "set", "people.csv", "--epsilon", "1000", "--delta", "0.01"],
        ["anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv", "--links", "links.csv", "--recipe", "recipe.json",
         "--method", "mondrian", "-q", "--acknowledge", "tried"],
        ["register", "add", "register", "release.csv", "-p", "policy.toml", "--original", "people.csv", "--key-file", "key.txt"],
        ["classes", "count", "people.csv", "-p", "policy.toml", "-o", "part.classes"],
    )  # fmt: skip
    for arguments in made:
        code, _, told = run(arguments, folder)
        assert code == 0, (arguments, told)
    return folder


class Commands:
    """One command per seed, each in a copy of the same folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def attempt(self, seed: int) -> list[str]:
        """Run the command of a seed; what is wrong with how it ended."""
        draw = random.Random(seed)
        place, scratch = self._folder / str(seed), self._folder / f"{seed}-scratch"
        shutil.copytree(ground(), place)
        scratch.mkdir()
        os.mkfifo(place / "pipe")
        (place / "loop").symlink_to("loop")
        (place / "dangling").symlink_to("nothing")
        try:
            arguments = random_command(draw, place)
            before = contents(place)
            try:
                ended = run(arguments, place, given=random_input(draw, arguments), TMPDIR=str(scratch))
            except AssertionError as error:
                return [str(error)[:2000]]
            wrong = [*mistakes(arguments, ended), *changes(arguments, before, contents(place), ended[0])]
            wrong += [f"left {left.name} in the folder for what is temporary" for left in scratch.iterdir()]
            return [f"{told}: {shown(arguments)}" for told in wrong]
        finally:
            shutil.rmtree(place, ignore_errors=True)
            shutil.rmtree(scratch, ignore_errors=True)


def shown(arguments: Sequence[str]) -> str:
    return " ".join(argument if len(argument) < 80 else argument[:60] + "…" for argument in arguments)


# ── what is given ────────────────────────────────────────────────────────────────────────────────────


def random_command(draw: random.Random, place: Path) -> list[str]:
    """A command that would be right, after some accidents with its words or with a file that it names."""
    words = list(draw.choice(RIGHT))
    for _ in range(draw.choice([0, 1, 1, 1, 2, 3])):
        way = draw.random()
        at = draw.randrange(1, len(words))
        if way < 0.35:
            words[at] = draw.choice(like(words[at], draw))
        elif way < 0.4:
            del words[at]
        elif way < 0.75:
            words += random_option(draw, words)
        elif len(words[at]) < 200 and (file := place / words[at]).is_file():
            file.write_bytes(broken(draw, file.read_bytes()))
        else:
            words.insert(at, draw.choice(TEXTS))
    # A process takes no argument with a NUL or with half a character, and none that is longer.
    return [word.replace("\ud800", "\udc80") for word in words]


def like(word: str, draw: random.Random) -> Sequence[str]:
    """Places for what looks like one, and texts for anything else, mostly."""
    named = "." in word or word in ("register", "out", "out/")
    return PLACES if named == (draw.random() < 0.85) else TEXTS


def random_option(draw: random.Random, words: Sequence[str]) -> list[str]:
    """One of the options that the command has, with a value that may fit."""
    options = [parameter for parameter in command(words).params if isinstance(parameter, click.Option)]
    if not options:
        return []
    option = draw.choice(options)
    name = draw.choice([*option.opts, *option.secondary_opts])
    if option.is_flag or option.count:
        return [name]
    if isinstance(option.type, click.Choice) and draw.random() < 0.8:
        return [name, str(draw.choice(option.type.choices))]
    likely = PLACES if isinstance(option.type, click.Path) else TEXTS
    return [name, draw.choice(likely if draw.random() < 0.85 else PLACES + TEXTS)]


def command(words: Sequence[str]) -> click.Command:
    """The command that the first words name."""
    found: click.Command = cli
    for word in words:
        if not isinstance(found, click.Group):
            break
        found = found.get_command(click.Context(found), word) or found
    return found


def random_input(draw: random.Random, arguments: Sequence[str]) -> str:
    """What comes from standard input: texts, since what carries them holds nothing else."""
    content = PEOPLE.encode()
    if draw.random() < 0.5:
        content = broken(draw, content)
    return content.decode("latin-1") if "arrow" not in arguments else ""


# ── what must hold ───────────────────────────────────────────────────────────────────────────────────


def mistakes(arguments: Sequence[str], ended: tuple[int, str, str]) -> Iterator[str]:
    """What is wrong with an exit code and what was printed."""
    code, printed, told = ended
    if code not in (0, 1, 2):
        yield f"exit code {code} ({(told or printed)[-300:]!r})"
    if "Traceback" in printed + told:
        yield f"a traceback ({told[-300:]!r})"
    # What was typed may be said again.
    for word in (word for word in arguments if CANARY in word):
        printed, told = printed.replace(word, ""), told.replace(word, "")
    if CANARY in told or (code == 2 and CANARY in printed and arguments[0] not in SHOWS_VALUES):
        yield f"a value is told ({(told + printed)[-300:]!r})"
    if SECRET in "".join(ended[1:]):
        yield f"a password is told ({(told + printed)[-300:]!r})"
    if "\x1b" in told + printed:
        yield "a terminal would obey what is printed"


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder and of those in it; links and pipes by what they are."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            found[str(path.relative_to(folder))] = b"special"
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def changes(
    arguments: Sequence[str], before: dict[str, bytes], after: dict[str, bytes], code: int
) -> Iterator[str]:
    """What should not have happened to the files."""
    for name, content in before.items():
        if name not in after:
            yield f"{name} is gone"
        elif after[name] != content and not may_grow(name, content, after[name]):
            yield f"{name} was overwritten"
    for name in after.keys() - before.keys():
        if any(part in name for part in ("register/", ".budget")):
            continue
        if not any(name.startswith(os.path.normpath(stem(word))) for word in arguments if word):
            yield f"{name} was left"
        # What a gate found of several tables is told even where one of them cannot be read.
        elif code == 2 and arguments[0] != "check":
            yield f"{name} was written although the input is bad"


def stem(word: str) -> str:
    """What the names of all files begin with that are written because an argument names one."""
    path = word.removeprefix("sqlite:///").partition("#")[0]
    return path.rpartition(".")[0] or path


def may_grow(name: str, old: bytes, new: bytes) -> bool:
    """Whether a file may have another content: ledgers and what names their last line, and that of a register."""
    if name.endswith(".head"):
        return True
    return (not old or name.endswith(".budget")) and new.startswith(old)
