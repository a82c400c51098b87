"""What would fill the memory is refused before it does, with a limit that is stated."""

from __future__ import annotations

import gzip
import os
import resource
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

from discreet.baskets.baskets import Baskets
from discreet.engine import limits
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files import reading

Run = Callable[..., Any]


def test_two_cells_far_apart_are_refused(tmp_path: Path, run: Run) -> None:
    """The reader would take 17 billion cells into memory and abort."""
    file = tmp_path / "people.xlsx"
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet["A1"], sheet["XFD1048576"] = "age", 1
    book.save(file)
    told = run("audit", file)
    assert told.code == 2
    assert "spread over more than 50,000,000" in told.err


CELLS = b'<sheetData><row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>%s</sheetData>'
FAR = {
    "small letters": b'<row><c r="xfd1048576"/></row>',
    "blanks": b'<row><c r = "XFD1048576"/></row>',
    "more letters than a sheet has": b'<row><c r="ZZZZ9"/></row>',
    "a row that wraps around": b'<row><c r="B99999999999999999999"/></row>',
    "rows alone": b'<row r="4294967295"><c><v>1</v></c></row>',
    "a row of cells that do not say where": b'<row r="1048576">' + b"<c/>" * 60 + b"</row>",
    "a prefix": b'<x:row><x:c s="a>b" r="ZZZZ9999999"/></x:row>',
    "behind something long": b'<row><c s="' + b"x" * (9 << 20) + b'" r="ZZZZ9999999"/></row>',
    "between two chunks": b" " * ((1 << 20) - 130) + b'<row><c r="XFD1048576"/></row>',
}
NEAR = {
    "a text": b'<row><c t="inlineStr"><is><t>r="ZZZZ9999999"</t></is></c></row>',
    "a long text": b"<row><c><is><t>" + b"x" * (9 << 20) + b"</t></is></c></row>",
    "many rows": b"<row><c/><c/></row>" * 30_000,
}


def with_cells(file: Path, more: bytes, part: str = "xl/elsewhere/sheet1.xml") -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr(part, CELLS % more)
    return file


@pytest.mark.parametrize("way", FAR)
def test_cells_far_apart_are_seen_however_it_is_said(way: str, tmp_path: Path) -> None:
    """Each ended the process: the reader asked for more memory than there is."""
    with pytest.raises(UnreadableInput, match="spread over more than"):
        limits.check_spreadsheet(with_cells(tmp_path / "people.xlsx", FAR[way]))


@pytest.mark.parametrize("way", NEAR)
def test_what_only_looks_like_a_place_is_none(way: str, tmp_path: Path) -> None:
    limits.check_spreadsheet(with_cells(tmp_path / "people.xlsx", NEAR[way]))


def old_workbook(records: bytes, *, small: bool) -> bytes:
    """An .xls file of five sectors: their table, names, the table of small ones, and a stream of the workbook."""
    stream = records.ljust(512, b"\0")
    least = 4096 if small else 0

    def entry(name: str, kind: int, start: int, size: int) -> bytes:
        letters = name.encode("utf-16-le")
        head = letters.ljust(64, b"\0") + struct.pack("<HB", len(letters) + 2, kind)
        return head.ljust(116, b"\0") + struct.pack("<III", start, size, 0)

    named = entry("Root Entry", 5, 3, 512) + entry("Workbook", 2, 0 if small else 3, 512)
    numbers = struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(24, b"\0") + numbers
    head = head.ljust(44, b"\0") + struct.pack("<IIIIII", 1, 1, 0, least, 2, 1)
    head += struct.pack("<II", 0xFFFFFFFE, 0) + struct.pack("<I", 0) + b"\xff" * (4 * 108)
    following = struct.pack("<IIII", 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFE, 0xFFFFFFFE)
    small_ones = struct.pack("<8I", *range(1, 8), 0xFFFFFFFE)
    return head + b"".join(
        part.ljust(512, fill)
        for part, fill in ((following, b"\xff"), (named, b"\0"), (small_ones, b"\xff"), (stream, b"\0"))
    )


def record(kind: int, *numbers: int) -> bytes:
    return struct.pack(f"<HH{len(numbers)}H", kind, 2 * len(numbers), *numbers)


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize(
    "records",
    [
        record(0x0203, 65535, 65535, 0, 0, 0, 0, 0),
        record(0x0200, 0, 0, 0xFFFF, 0xFFFF, 0, 256, 0),
        # In a sheet that begins inside of another record.
        record(0x0085, 16, 0, 0, 0) + record(0x0001, *[0] * 2, 0x027E, 10, 65535, 900, 0, 0, 0),
    ],
    ids=["a cell", "what a sheet says of itself", "a sheet that is hidden"],
)
def test_cells_far_apart_in_an_old_workbook_are_seen(records: bytes, small: bool, tmp_path: Path) -> None:
    file = tmp_path / "people.xls"
    file.write_bytes(old_workbook(records, small=small))
    with pytest.raises(UnreadableInput, match="spread over more than"):
        limits.check_spreadsheet(file)


@pytest.mark.parametrize("small", [False, True])
def test_an_old_workbook_of_usual_size_is_left_to_the_reader(small: bool, tmp_path: Path) -> None:
    file = tmp_path / "people.xls"
    file.write_bytes(old_workbook(record(0x0203, 65535, 255, 0, 0, 0, 0, 0), small=small))
    limits.check_spreadsheet(file)
    file.write_bytes(file.read_bytes()[:512])
    with pytest.raises(UnreadableInput, match="could not be read as a spreadsheet"):
        limits.check_spreadsheet(file)


def test_a_chain_of_formulas_is_no_sheet(tmp_path: Path) -> None:
    """It names cells of all sheets, of which none need be large."""
    file = tmp_path / "people.xlsx"
    with zipfile.ZipFile(file, "w") as book:
        book.writestr("xl/calcChain.xml", b'<calcChain><c r="XFD1"/><c r="A1048576" i="2"/></calcChain>')
    limits.check_spreadsheet(file)


def test_repeated_cells_of_an_open_document_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "people.ods"
    with zipfile.ZipFile(file, "w") as book:
        book.writestr(
            "content.xml",
            '<table:table-row table:number-rows-repeated="1048576">'
            '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>',
        )
    with pytest.raises(UnreadableInput, match="spread over"):
        read(file)


def test_usual_spreadsheets_are_read(tmp_path: Path) -> None:
    file = tmp_path / "people.xlsx"
    book = openpyxl.Workbook()
    for row in (["age", "sex"], [31, "f"], [47, "m"]):
        book.worksheets[0].append(row)
    book.save(file)
    assert read(file).rows == 2


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that a test need not write gigabytes for."""
    monkeypatch.setattr(reading, "UNPACKED_FREE", 4 << 20)


def test_a_gzip_file_that_grows_out_of_all_proportion(small: None, tmp_path: Path) -> None:
    file = tmp_path / "people.csv.gz"
    file.write_bytes(gzip.compress(b"age,sex\n" + b"31,f\n" * 4_000_000))
    with pytest.raises(UnreadableInput, match="more than 200 times its size"):
        read(file)


def test_baskets_that_grow_out_of_all_proportion(small: None, tmp_path: Path) -> None:
    file = tmp_path / "baskets.txt.gz"
    file.write_bytes(gzip.compress(b"milk,bread\n" * 1_000_000))
    with pytest.raises(UnreadableInput, match="more than 200 times its size"):
        Baskets.read(file)


def test_a_spreadsheet_that_grows_out_of_all_proportion(small: None, tmp_path: Path) -> None:
    file = tmp_path / "people.xlsx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", b" " * (20 << 20))
    with pytest.raises(UnreadableInput, match="more than 200 times its size"):
        read(file)


def test_a_table_that_is_too_wide(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(limits.MAX_COLUMNS + 1)]
    file = tmp_path / "wide.csv"
    file.write_text("\n".join([",".join(names), ",".join("1" * len(names)), ",".join("2" * len(names))]))
    for source in (file, pa.table({name: [1] for name in names})):
        with pytest.raises(UnreadableInput, match="has 2,001 columns, more than 2,000"):
            read(source)


def test_too_many_columns_to_be_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_COUNTED", 20)
    table = read(pa.table({f"c{i}": [1, 2] for i in range(limits.MAX_COUNTED + 1)}))
    with pytest.raises(InvalidParameter, match="more than 20"):
        table.engine.count(table, quasi_identifiers=table.names)
    assert len(table.engine.count(table, quasi_identifiers=table.names[1:])) == 2


def test_wide_tables_are_asked_about_in_parts() -> None:
    wide = {f"c{i}": [str(i), str(i + 1), None] for i in range(100)}
    table = read(pa.table(wide))
    profiles = table.engine.profile(table)
    assert [profile.column.name for profile in profiles] == list(wide)
    assert {(profile.nulls, profile.distinct) for profile in profiles} == {(1, 2)}


def test_the_engine_draws_no_bar() -> None:
    """Without a script, as in a notebook or a process that was spawned, DuckDB would draw one among the results."""
    script = (
        "from discreet.engine.duckdb import DuckDBEngine\n"
        "print(DuckDBEngine()._fetch(\"SELECT current_setting('enable_progress_bar') AS bar\")['bar'][0])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_threads_are_what_the_option_says(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.THREADS, "")
    (tmp_path / "people.csv").write_text("age,ill\n31,flu\n34,cold\n")
    told = run("audit", tmp_path / "people.csv", "--qi", "age", "--core", "--quiet", "--threads", "1")
    assert told.code == 0, told.err
    assert limits.threads() == 1
    engine = DuckDBEngine()
    assert engine._fetch("SELECT current_setting('threads') AS n")["n"][0].as_py() == 1
    engine.close()
    told = run("audit", tmp_path / "people.csv", "--qi", "age", "--threads", "many")
    assert told.code == 2
    assert "is no number of threads" in told.err


def test_memory_is_what_the_option_says(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.MEMORY, "1G")
    (tmp_path / "people.csv").write_text("age,sex\n31,f\n31,f\n47,m\n47,m\n")
    told = run("audit", tmp_path / "people.csv", "--qi", "age", "--core", "--quiet", "--memory", "300M")
    assert told.code == 0, told.said
    assert limits.memory() == 300 << 20
    engine = DuckDBEngine()
    setting = engine._fetch("SELECT current_setting('memory_limit') AS m")["m"][0].as_py()
    engine.close()
    assert limits.parse_size(setting) == pytest.approx(300 << 20, rel=0.01)


HUNGRY = """
import sys
from pathlib import Path
import numpy as np
from discreet.engine import limits
limits.PROGRAM_MEMORY = 0
limits.STATUS = Path({status!r})
from discreet.cli import audit, main
kept = []
def without_end(*given, **named):
    while True:
        kept.append(np.ones(1 << 20))
audit.run_audit = without_end
sys.argv[1:] = {arguments}
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("json", "status"), [(False, limits.STATUS), (True, limits.STATUS), (False, "none")])
def test_a_command_that_takes_more_memory_than_it_was_given_ends(
    tmp_path: Path, json: bool, status: Path | str
) -> None:
    """Not by the engine, which moves rows to disk, but by whatever else takes memory without end.

    Also where the system tells in another way what a process takes.
    """
    (tmp_path / "people.csv").write_text("age,sex\n31,f\n31,f\n47,m\n47,m\n")
    arguments = ["audit", str(tmp_path / "people.csv"), "--memory", "300M", *(["--json"] if json else [])]
    program = HUNGRY.format(arguments=arguments, status=str(status))
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 2, ended.stderr
    assert "takes more memory than it was given" in (ended.stdout if json else ended.stderr)
    assert "Traceback" not in ended.stderr


def test_systems_tell_in_bytes_or_in_kilobytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STATUS", Path("nowhere"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert limits.taken_memory() >= peak << 10
    monkeypatch.setattr(sys, "platform", "darwin")
    assert peak <= limits.taken_memory() < peak << 10


def test_where_no_system_tells_only_the_engine_keeps_to_it(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limits.MEMORY, "1G")
    monkeypatch.setattr(limits, "STATUS", Path("nowhere"))
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.delattr(os, "sysconf")
    (tmp_path / "people.csv").write_text("age,sex\n31,f\n31,f\n47,m\n47,m\n")
    told = run("audit", tmp_path / "people.csv", "--qi", "age", "--core", "--quiet", "--memory", "300M")
    assert told.code == 0, told.said
    assert "note: this system does not tell how much memory a process takes" in told.err
    assert limits.machine_memory() == limits.USUAL_MEMORY


@pytest.mark.parametrize("size", ["much", "0", "10M", "-1G", "9" * 400 + "G"])
def test_memory_that_is_none(size: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.MEMORY, "1G")
    told = run("audit", tmp_path / "people.csv", "--memory", size)
    assert told.code == 2
    assert "size" in told.err or "too little memory" in told.err
