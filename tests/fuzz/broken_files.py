"""Broken files: tables, policies, recipes and hierarchies with a few bytes changed, given to the command line."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import openpyxl
import pyarrow.feather
import pyarrow.parquet
from plain_tables import random_table

from helpers.program import run

INTERNAL = 70
"""The exit code for a mistake of the program itself."""
KINDS = ("csv", "csv", "parquet", "feather", "xlsx", "jsonl", "policy", "policy", "hierarchy", "recipe")
POLICY = """profile = "research-partner-3"
[columns.age]
role = "quasi-identifier"
hierarchy = {builder = "intervals", widths = [5, 10]}
[columns.city]
role = "quasi-identifier"
hierarchy = "city.csv"
[columns.disease]
role = "sensitive"
[columns.sex]
role = "insensitive"
[columns.pay]
role = "sensitive"
[[require]]
model = "l-diversity"
l = 2
sensitive = "disease"
[anonymize]
method = "optimal"
suppression_limit = 0.5
"""
CITIES = "Aachen;West;*\nBonn;West;*\nCelle;North;*\nDresden;East;*\nErfurt;East;*\nFulda;West;*\n"
PEOPLE = "age,city,sex,disease,pay\n" + "".join(
    f"{20 + i % 7},{('Aachen', 'Bonn', 'Celle')[i % 3]},{'fm'[i % 2]},{('cold', 'flu')[i % 5 % 2]},{i % 9}\n"
    for i in range(60)
)
JUNK = (
    *(
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b'"',
        b"'",
        b"\n",
        b"\r",
        b"[" * 60,
        b"{" * 60,
        b"9" * 400,
        b"1e999",
        b"nan",
    ),
    *(
        b"\x1b[2J",
        b"..",
        b"/dev/zero",
        b"\x1f\x8b",
        b"PK\x03\x04",
        b"=",
        b",",
        b";",
        b"-1",
        b"true",
        b"null",
        b"\xef\xbb\xbf",
    ),
)


@cache
def whole(kind: str, seed: int) -> bytes:
    """A file that can be read."""
    table = random_table(seed, nulls=False).to_arrow()
    sink = pyarrow.BufferOutputStream()
    if kind == "csv":
        lines = [",".join(table.column_names)]
        lines += [",".join(map(str, row.values())) for row in table.to_pylist()]
        return ("\n".join(lines) + "\n").encode()
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
    if kind == "parquet":
        pyarrow.parquet.write_table(table, sink)
        return bytes(sink.getvalue())
    pyarrow.feather.write_feather(table, sink)
    return bytes(sink.getvalue())


def broken(draw: random.Random, content: bytes) -> bytes:
    """The same file after one to four accidents."""
    for _ in range(draw.randint(1, 4)):
        at = draw.randint(0, len(content))
        way = draw.randrange(5)
        if way == 0:
            content = content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
        elif way == 1:
            content = content[:at] + draw.choice(JUNK) + content[at:]
        elif way == 2:
            content = content[:at]
        elif way == 3:
            content = content[:at] + content[at + draw.randint(1, 40) :]
        else:
            length = draw.randint(1, 60)
            content = content[:at] + content[at : at + length] * draw.randint(2, 5) + content[at + length :]
    return content


def try_file(seed: int, folder: Path) -> list[str]:
    """Give the command line the broken file of a seed; what is wrong with how it ended."""
    draw = random.Random(seed)
    kind = draw.choice(KINDS)
    for name, text in (("people.csv", PEOPLE), ("policy.toml", POLICY), ("city.csv", CITIES)):
        (folder / name).write_text(text, encoding="utf-8")
    arguments = ["anonymize", "people.csv", "--policy", "policy.toml", "-o", "release.csv"]
    if kind == "policy":
        (folder / "policy.toml").write_bytes(broken(draw, POLICY.encode()))
    elif kind == "hierarchy":
        (folder / "city.csv").write_bytes(broken(draw, CITIES.encode()))
    elif kind == "recipe":
        if not (folder / "recipe.json").exists():
            run([*arguments, "--recipe", "recipe.json"], folder)
        (folder / "broken.json").write_bytes(broken(draw, (folder / "recipe.json").read_bytes()))
        arguments = ["apply", "broken.json", "people.csv", "-o", "release.csv"]
    else:
        (folder / f"broken.{kind}").write_bytes(broken(draw, table_of(kind, draw.randrange(20), folder)))
        arguments = ["audit", f"broken.{kind}", "--json"]
    code, printed, told = run(arguments, folder)
    if code == INTERNAL or code < 0 or "Traceback" in printed + told:
        return [f"exit code {code} of a broken {kind}: {told[-300:] or printed[-300:]}"]
    return []


def table_of(kind: str, seed: int, folder: Path) -> bytes:
    if kind != "xlsx":
        return whole(kind, seed)
    place = folder / f"whole-{seed}.xlsx"
    if not place.exists():
        book = openpyxl.Workbook()
        rows = random_table(seed, nulls=False).rows
        for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(row)
        book.save(place)
    return place.read_bytes()
