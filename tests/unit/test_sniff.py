"""How a text file is written: public files, files made by hand, broken files, and random tables."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.engine.sniff.format import TextFormat, read_rows, sniff
from discreet.errors import DiscreetError, EmptyTable, InvalidParameter, UnreadableInput
from discreet.policy import Policy
from discreet.release.audit import audit


def write(tmp_path: Path, content: str | bytes, *, encoding: str = "utf-8", name: str = "people.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def verify_shape(path: Path, fmt: TextFormat, *, rows: int | None = None) -> None:
    """Read the file record by record, so that the first that does not fit is refused."""
    for _ in read_rows(path, fmt, rows=rows):
        pass


def cells(path: Path, fmt: TextFormat) -> list[list[str]]:
    """Read the whole file the way the format says, with nothing but the csv module."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if fmt.compression else raw).decode(fmt.encoding)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=fmt.delimiter,
        quotechar=fmt.quote or None,
        quoting=csv.QUOTE_MINIMAL if fmt.quote else csv.QUOTE_NONE,
        doublequote=fmt.escape != "\\",
        escapechar="\\" if fmt.escape == "\\" else None,
        skipinitialspace=fmt.skip_initial_space,
    )
    return [row for row in reader if row]


PUBLIC = [
    # file, delimiter, header, columns, data rows, missing, thousands, padded, blank lines
    ("adult/adult.data.gz", ",", False, 15, 32561, ("?",), "", True, True),
    ("adult/adult.test.csv.gz", ",", True, 15, 16281, ("?",), "", True, True),
    ("adult/adult_kaggle.csv.gz", ",", True, 15, 32561, ("?",), "", False, False),
    ("oulad/studentInfo.csv.gz", ",", True, 12, 32593, ("",), "", False, False),
    ("arx/adult.csv.gz", ";", True, 9, 30162, (), "", False, False),
    ("arx/fars_subset.csv.gz", ";", True, 8, 10093, (), "", False, False),
    ("sdcmicro/testdata.csv.gz", ",", True, 15, 4580, (), "", False, False),
    ("sdcmicro/testdata2.csv", ",", True, 19, 93, (), "", False, False),
    ("sdcmicro/free1.csv.gz", ",", True, 34, 4000, (), "", False, False),
    ("sdcmicro/francdat.csv", ",", True, 8, 8, (), "", False, False),
    ("sdcmicro/CASCrefmicrodata.csv", ",", True, 13, 1080, (), "", False, False),
    ("sdcmicro/EIA.csv.gz", ",", True, 15, 4092, (), "", False, False),
    ("sdcmicro/Tarragona.csv", ",", True, 13, 834, (), "", False, False),
    ("sdcmicro/casc1.csv", ",", True, 7, 13, (), "", False, False),
    ("sdcmicro/microData.csv", ",", True, 5, 13, (), "", False, False),
    ("sparcs/sparcs2016_first1000.csv.gz", ",", True, 35, 1000, ("",), ",", False, False),
    ("sparcs/sparcs2016_random1000.csv.gz", ",", True, 35, 1000, ("",), ",", False, False),
    ("sparcs/sparcs2012_api1000.csv.gz", ",", True, 39, 1000, ("",), "", False, False),
    ("mobility/nyc_taxis.csv.gz", ",", True, 14, 6433, ("",), "", False, False),
    ("uci/diabetic_data.csv.gz", ",", True, 50, 101766, ("?", "None"), "", False, False),
]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "delimiter", "header", "columns", "rows", "missing", "thousands", "padded", "blank"), PUBLIC
)
def test_public_files(
    data_dir: Path,
    file: str,
    delimiter: str,
    header: bool,
    columns: int,
    rows: int,
    missing: tuple[str, ...],
    thousands: str,
    padded: bool,
    blank: bool,
) -> None:
    fmt = sniff(data_dir / file)
    assert (fmt.delimiter, fmt.quote, fmt.escape, fmt.encoding) == (delimiter, '"', '"', "utf-8")
    assert (fmt.header, len(fmt.names)) == (header, columns)
    assert (fmt.missing, fmt.decimal, fmt.thousands) == (missing, ".", thousands)
    assert (fmt.skip_initial_space, fmt.blank_lines) == (padded, blank)
    assert fmt.compression == ("gzip" if file.endswith(".gz") else "")
    assert len(cells(data_dir / file, fmt)) == rows + header
    verify_shape(data_dir / file, fmt)


@pytest.mark.data
def test_hierarchies_have_no_header(data_dir: Path) -> None:
    files = sorted((data_dir / "arx" / "hierarchies").glob("*.csv"))
    assert len(files) == 35
    for file in files:
        fmt = sniff(file)
        first = file.read_text().splitlines()[0]
        assert (fmt.delimiter, fmt.header) == (";", False), file.name
        assert fmt.names == tuple(f"column_{i}" for i in range(first.count(";") + 1)), file.name
        verify_shape(file, fmt)


@pytest.mark.data
def test_baskets_of_unequal_length_are_no_table(data_dir: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"line 1 has 4 fields and line 2 has 3; pass delimiter="):
        sniff(data_dir / "transactions" / "groceries.csv.gz")


def test_every_field_has_a_reason_without_cell_values(tmp_path: Path) -> None:
    fmt = sniff(write(tmp_path, "name,age\nSecretperson,31\nOtherperson,44\n"))
    assert set(fmt.reasons) == set(TextFormat.__dataclass_fields__) - {"reasons", "overridden"}
    assert "person" not in " ".join(fmt.reasons.values())
    assert fmt.overridden == frozenset()
    assert hash(fmt) == hash(sniff(tmp_path / "people.csv"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~", " ", "\x01"])
def test_delimiters_and_line_ends(tmp_path: Path, delimiter: str, end: str, last: bool) -> None:
    lines = [
        delimiter.join(row) for row in (["name", "age", "pay"], ["Ada", "36", "7.5"], ["Bob", "41", "8.25"])
    ]
    fmt = sniff(write(tmp_path, end.join(lines) + (end if last else "")))
    assert (fmt.delimiter, fmt.header, fmt.names) == (delimiter, True, ("name", "age", "pay"))
    assert not fmt.blank_lines
    verify_shape(tmp_path / "people.csv", fmt)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_german_file(tmp_path: Path, encoding: str) -> None:
    content = "Name;Größe;Gehalt\nMüller;1,75;1.234,50\nJäger;1,8;999\nWeiß;;12.000,00\n"
    path = write(tmp_path, content, encoding=encoding)
    fmt = sniff(path)
    assert (fmt.encoding, fmt.delimiter, fmt.decimal, fmt.thousands) == (encoding, ";", ",", ".")
    assert fmt.names == ("Name", "Größe", "Gehalt")
    assert fmt.missing == ("",)
    verify_shape(path, fmt)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE])
def test_utf16_blank_last_line(tmp_path: Path, mark: bytes) -> None:
    encoding = "utf-16-be" if mark == codecs.BOM_UTF16_BE else "utf-16-le"
    path = write(tmp_path, mark + "a,b\n1,2\n\n".encode(encoding))
    fmt = sniff(path)
    assert (fmt.encoding, fmt.names, fmt.blank_lines) == ("utf-16", ("a", "b"), True)
    verify_shape(path, fmt)


def test_latin1_only_when_cp1252_cannot(tmp_path: Path) -> None:
    assert sniff(write(tmp_path, b"a,b\n1,\x80\n")).encoding == "cp1252"
    assert sniff(write(tmp_path, b"a,b\n1,\xe9\x81\n")).encoding == "latin-1"


def test_a_character_cut_at_the_sample_end_is_no_error(tmp_path: Path) -> None:
    path = write(tmp_path, "name,n\n" + "äöü€𝄞,1\n" * 200)
    for size in range(600, 620):
        fmt = sniff(path, sample_bytes=size)
        assert (fmt.encoding, fmt.names) == ("utf-8", ("name", "n"))


def test_a_sample_cut_inside_quotes_is_no_error(tmp_path: Path) -> None:
    path = write(tmp_path, "n,text\r\n" + '1,"x\r\ny, ""z"""\r\n' * 300)
    for size in range(2000, 2030):
        fmt = sniff(path, sample_bytes=size)
        assert (fmt.delimiter, fmt.quote, fmt.names) == (",", '"', ("n", "text"))
    verify_shape(path, fmt)


@pytest.mark.slow
def test_quotes_that_first_occur_late(tmp_path: Path) -> None:
    path = write(tmp_path, "n,text\n" + "1,x\n" * 50_000 + "2,'y, z'\n" * 3)
    fmt = sniff(path)
    assert fmt.quote == "'"
    verify_shape(path, fmt)


def test_a_blank_line_beyond_the_sample_is_seen_at_the_end(tmp_path: Path) -> None:
    content = "n,m\n" + "1,2\n" * 5000
    for name, pack in (("plain.csv", bytes), ("packed.csv.gz", gzip.compress)):
        assert not sniff(write(tmp_path, pack(content.encode()), name=name), sample_bytes=1000).blank_lines
        path = write(tmp_path, pack(content.encode() + b"\n"), name=name)
        assert sniff(path, sample_bytes=1000).blank_lines


@pytest.mark.slow
def test_very_long_lines(tmp_path: Path) -> None:
    row = ",".join(str(i) for i in range(60_000))
    names = ",".join(f"v{i}" for i in range(60_000))
    fmt = sniff(write(tmp_path, f"{names}\n{row}\n{row}\n"), sample_bytes=1000)
    assert (fmt.header, len(fmt.names), fmt.names[-1]) == (True, 60_000, "v59999")
    path = write(tmp_path, "id;note\n" + f"1;{'x' * 300_000}\n" * 5)
    before = csv.field_size_limit()
    fmt = sniff(path)
    one, other = read_rows(path, fmt), read_rows(path, fmt)
    for _ in range(5):  # two readers at once must not disturb each other
        assert next(one) == next(other)
        assert csv.field_size_limit() == before
    assert list(one) == list(other) == []


@pytest.mark.parametrize("header", ["a,b", "a" * 70_000 + ",b"])
def test_long_lines_that_are_unequal_are_told_by_their_number(tmp_path: Path, header: str) -> None:
    path = write(tmp_path, f"{header}\n{'x' * 70_000},1\n{'y' * 70_000},2,3\nz,1\n")
    with pytest.raises(UnreadableInput, match=r"line 3 of .* has 3 fields"):
        sniff(path)


@pytest.mark.parametrize(
    ("content", "quote", "escape", "second"),
    [
        ('a,b\n1,"x, y"\n2,"say ""hi"""\n', '"', '"', "x, y"),
        ('a,b\n1,"x, ""y"\n2,"new\nline"\n', '"', '"', 'x, "y'),
        ('a,b\n1,"x, \\"y\\""\n2,"plain"\n', '"', "\\", 'x, "y"'),
        ("a,b\n1,'x, y'\n2,'it''s'\n", "'", '"', "x, y"),
        ("'a','b'\n'1','x \"y\" z'\n'2','u'\n", "'", '"', 'x "y" z'),
        ('a,b\n1,"x\n2,y\n3,z\n', "", '"', '"x'),
        ('a,b\n1,5" pipe\n2,y\n', '"', '"', '5" pipe'),
        ("a,b\n1,'s-Hertogenbosch\n2,Delft\n", '"', '"', "'s-Hertogenbosch"),
    ],
)
def test_quotes(tmp_path: Path, content: str, quote: str, escape: str, second: str) -> None:
    path = write(tmp_path, content)
    fmt = sniff(path)
    assert (fmt.quote, fmt.escape) == (quote, escape)
    assert fmt.names == ("a", "b")
    assert cells(path, fmt)[1][1] == second
    verify_shape(path, fmt)


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("sex,town\nF,Paris\nM,Rome\nF,Rome\n", True),  # all text, names do not recur
        ("F,Paris\nM,Rome\nF,Rome\n", False),  # first record recurs
        ("1,2\n3,4\n", False),
        ("code;label\nA01;x\nB02;y\nC03;z\n", True),  # shape of the column differs
        ("D00;w\nA01;x\nB02;y\nC03;z\n", False),  # same shape
        ("?,a\n1,b\n2,c\n", False),  # a header holds no missing mark
        (",x\n0,5\n1,6\n", True),  # an unnamed index column
        ("town,2019,2020\nParis,5,6\nRome,7,8\n", True),  # years as names
        ("1,2,3,4\n5,6,7,8\n9,10,11,12\n", False),  # numbers that simply go on
        ("when,n\n2020-01-01,1\n2020-01-02,2\n", True),
        ("2020-01-03,1\n2020-01-01,1\n2020-01-02,2\n", False),
        ("name,n\nAda,1\nBob,2\nname,n\nEve,3\n" + "Eve,3\n" * 20, True),  # header repeated further down
    ],
)
def test_header(tmp_path: Path, content: str, header: bool) -> None:
    fmt = sniff(write(tmp_path, content))
    assert fmt.header is header, fmt.reasons["header"]


@pytest.mark.parametrize(
    ("content", "header", "names"),
    [
        ("age\n31\n44\n", True, ("age",)),
        ("31\n44\n", False, ("column_0",)),
        ("town\nParis\nRome\nParis\n", True, ("town",)),
        ("price\n3,5\n4,75\n", True, ("price",)),
        ("when\n20:21:09\n20:22:10\n", True, ("when",)),
        ('"who"\n"Doe, J."\n"Roe; R."\n', True, ("who",)),
        ("full name\nAda Lovelace\nAlan Turing\n", True, ("full name",)),
        ("Quarter 1\nQuarter 2\nQuarter 3\n", False, ("column_0",)),
        ("job\n" + "clerk\n" * 9 + "clerk, senior\n", True, ("job",)),
    ],
)
def test_one_column(tmp_path: Path, content: str, header: bool, names: tuple[str, ...]) -> None:
    path = write(tmp_path, content)
    fmt = sniff(path)
    assert (fmt.header, fmt.names) == (header, names)
    assert all(len(row) == 1 for row in cells(path, fmt))
    verify_shape(path, fmt)


@pytest.mark.parametrize(
    ("column", "decimal", "thousands"),
    [
        (["1.5", "2"], ".", ""),
        (["1,5", "2"], ",", ""),
        (["0,123", "0,456"], ",", ""),
        (["1,234", "12"], ".", ","),
        (["1,234", "2,345"], ",", ""),  # all with three decimals after a semicolon: said in the reason
        (["1,234,567", "12"], ".", ","),
        (["1.234.567", "12"], ",", "."),
        (["1.234", "12.500"], ".", ""),
        (["1.234", "0.5"], ".", ""),
        (["1'234.50", "7"], ".", "'"),
        (["3,913.23", "4"], ".", ","),
        (["1,5 and 2", "x"], ".", ""),
    ],
)
def test_marks_of_numbers(tmp_path: Path, column: list[str], decimal: str, thousands: str) -> None:
    content = "who;x\n" + "".join(f"p{i};{v}\n" for i, v in enumerate(column))
    fmt = sniff(write(tmp_path, content))
    assert (fmt.delimiter, fmt.decimal, fmt.thousands) == (";", decimal, thousands)


def test_decimal_comma_without_header(tmp_path: Path) -> None:
    fmt = sniff(write(tmp_path, "1,5;2,25\n3,5;4,75\n"))
    assert (fmt.delimiter, fmt.decimal, fmt.header) == (";", ",", False)


def test_names_are_stripped_and_filled(tmp_path: Path) -> None:
    fmt = sniff(write(tmp_path, " id , x,,column_2\n1,2,3,4\n"))
    assert fmt.names == ("id", "x", "column_2_", "column_2")
    assert "no name for column 3, which is called column_2_" in fmt.reasons["names"]


def test_padded_quotes(tmp_path: Path) -> None:
    path = write(tmp_path, 'id, text\n1, "x, y"\n2, "z"\n')
    fmt = sniff(path)
    assert fmt.skip_initial_space
    assert cells(path, fmt)[1] == ["1", "x, y"]
    verify_shape(path, fmt)


def test_the_caller_decides(tmp_path: Path) -> None:
    path = write(tmp_path, "a;b,c;d\ne;f,g;h\n")
    assert sniff(path, delimiter=",").names == ("a;b", "c;d")
    fmt = sniff(
        path, delimiter=";", header=False, names=["x", "y", "z"], decimal=",", quote="", encoding="latin-1"
    )
    assert (fmt.names, fmt.header, fmt.decimal, fmt.quote) == (("x", "y", "z"), False, ",", "")
    assert fmt.overridden == {"delimiter", "header", "names", "decimal", "quote", "encoding"}
    assert fmt.encoding == "latin-1"
    named = sniff(write(tmp_path, "x,y\nu,v\n"), names=["X", "Y"])
    assert (named.header, named.names) == (True, ("X", "Y"))


def test_utf8_asked_for_with_a_byte_order_mark(tmp_path: Path) -> None:
    fmt = sniff(write(tmp_path, "a,b\n1,2\n", encoding="utf-8-sig"), encoding="utf-8")
    assert (fmt.encoding, fmt.names) == ("utf-8-sig", ("a", "b"))


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", EmptyTable, "people.csv is empty"),
        (b"\n \n\r\n", EmptyTable, "only blank lines"),
        (b"name,age\n", EmptyTable, "a header and no rows"),
        (b"\xef\xbb\xbf", EmptyTable, "only blank lines"),
        (b"PK\x03\x04rest", UnreadableInput, r"zip archive or an Excel workbook"),
        (b"%PDF-1.7\n", UnreadableInput, "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\0\0", UnreadableInput, "a PNG image"),
        (b"PAR1\x15\x04\0\0", UnreadableInput, "a Parquet file"),
        (b"<!DOCTYPE html>\n<p>", UnreadableInput, "an HTML page"),
        (b'[{"a": 1}]', UnreadableInput, "JSON"),
        (b"a,b\n1,\0\n2,3\n", UnreadableInput, "line 2 of people.csv holds a NUL byte"),
        ("a,b\n1,2\n".encode("utf-16-le"), UnreadableInput, "pass encoding='utf-16-le'"),
        ("a,b\n1,2\n".encode("utf-16-be"), UnreadableInput, "pass encoding='utf-16-be'"),
        (b"\x8f\x02\x93\x11\n\x05", UnreadableInput, "binary or damaged"),
        ("ä,ö\nü,é\n".encode() + b"x,\xff\n", UnreadableInput, "line 3 is damaged"),
        (b"id,b,ID\n1,2,3\n", UnreadableInput, r"repeats column names: id, ID \(upper and lower"),
        (
            b"a,b,c\n1,2,3\n4,5,6,7\n",
            UnreadableInput,
            "line 3 of people.csv has 4 fields where the header has 3",
        ),
        (b"1,2,3\n1,2,3\n4\n", UnreadableInput, "line 3 of people.csv has 1 field where the first row has 3"),
        (b"a,b\n1,2,3\n4,5,6\n", UnreadableInput, "line 1 of people.csv has 2 fields where the lines below"),
        (b"a,b\n1,2\n  \n3,4\n", UnreadableInput, "line 3 of people.csv has 1 field where the header has 2"),
        (b"sep=;\na;b\n1;2\n", UnreadableInput, "a note to Excel"),
        (b"a   b\n1   2\n33  4\n", UnreadableInput, "runs of spaces"),
        (b"Report\nAda,31\nBob,44\nEve,51\n", UnreadableInput, "pass header_row="),
        (
            b'a,b\n1,"x"y\n2,"u,v"\n',
            UnreadableInput,
            "record that begins on line 2 of people.csv do not balance",
        ),
        (b'a,b\n1,"x, y\n2,z\n', UnreadableInput, "line 2"),
        (b"ab;cd,ef\ngh;ij,kl\n", UnreadableInput, r"comma \(','\) and the semicolon \(';'\) divide"),
        (
            gzip.compress(b"a,b\n" + os.urandom(999).hex().encode())[:-9],
            UnreadableInput,
            "cut off before its end",
        ),
        (
            gzip.compress(b"a,b\n1,2\n", mtime=0)[:-8] + b"\1" * 8,
            UnreadableInput,
            "gzip file people.csv is damaged",
        ),
        (gzip.compress(b"", mtime=0), EmptyTable, "is empty"),
    ],
)
def test_broken_files(tmp_path: Path, content: bytes, error: type[DiscreetError], message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(error, match=message) as caught:
        sniff(path)
    assert caught.value.remedy
    assert str(tmp_path) not in str(caught.value)


def test_a_damaged_gzip_is_seen_beyond_the_sample(tmp_path: Path) -> None:
    packed = gzip.compress(b"n,m\n" + b"1,2\n" * 100_000)
    with pytest.raises(UnreadableInput, match="cut off"):
        sniff(write(tmp_path, packed[:-20]), sample_bytes=1000)


def test_paths_that_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreadableInput, match=r"^there is no file gone\.csv; check the path$"):
        sniff(tmp_path / "gone.csv")
    with pytest.raises(UnreadableInput, match="is a folder"):
        sniff(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableInput, match="not a regular file"):
        sniff(tmp_path / "pipe")
    path = write(tmp_path, "a,b\n1,2\n")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UnreadableInput, match="may not be read"):
        sniff(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delimiter": ";;"},
        {"delimiter": "\n"},
        {"quote": "x"},
        {"decimal": ";"},
        {"encoding": "utf-99"},
        {"encoding": "hex"},
        {"names": ["a"]},
        {"names": ["a", "A"]},
        {"names": ["a", " "]},
        {"sample_bytes": 0},
    ],
)
def test_wrong_parameters(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        sniff(write(tmp_path, "a,b\n1,2\n"), **wrong)


def test_undecodable_in_the_encoding_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, b"a,b\r\n1,2\r\n3,\xfc\r\n")
    with pytest.raises(UnreadableInput, match=r"line 3 of people.csv is not utf-8 \(byte 12\)"):
        sniff(path, encoding="utf-8")
    with pytest.raises(UnreadableInput, match=r"line 3 of people\.csv is not ascii"):
        sniff(write(tmp_path, gzip.compress(path.read_bytes())), encoding="ascii")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1,2,3\n", r"line 60002 of people.csv has 3 fields where the header has 2"),
        (b'1,"x\n', r"begins on line 60002 of people.csv do not balance"),
        (b"1,\xff\n", r"line 60002 of people.csv is not utf-8 \(byte 600,010\)"),
        (b"1,\0\n", r"line 60002 of people.csv holds a NUL byte"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_verify_shape_names_the_line(tmp_path: Path, line: bytes, message: str, packed: bool) -> None:
    good = b"na,value\n" + b"1,abcdefg\n" * 60_000
    assert good.count(b"\n") == 60_001
    content = good[:-1] + b"\n" + line
    path = write(tmp_path, gzip.compress(content, 1) if packed else content)
    fmt = sniff(path, sample_bytes=10_000)
    verify_shape(path, fmt, rows=60_000 if line == b"1,2,3\n" else 100)
    expected = message.replace("600,010", f"{len(good) + 2:,}")
    with pytest.raises(UnreadableInput, match=expected):
        verify_shape(path, fmt)


@pytest.mark.slow
def test_verify_shape_finds_the_byte_across_chunks(tmp_path: Path) -> None:
    # The second half of a two-byte character, and of a line end, fall into the next chunk.
    good = "a,b\r\n" + "1,ä\r\n" * 200_000
    body = good.encode()
    for shift in range(6):
        content = b"x" * shift + body + b"2,\xe4\r\n"
        path = write(tmp_path, content)
        fmt = sniff(path, sample_bytes=10_000)
        with pytest.raises(UnreadableInput, match=rf"line 200002 .*byte {len(content) - 3:,}\)"):
            verify_shape(path, fmt)


@pytest.mark.parametrize(("mark", "encoding"), [(b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le")])
def test_verify_shape_finds_the_byte_in_utf16(tmp_path: Path, mark: bytes, encoding: str) -> None:
    good = mark + ("a,b\n" + "1,2\n" * 200_000).encode(encoding)
    half_a_pair = "\ud800".encode(encoding, "surrogatepass")
    path = write(tmp_path, good + half_a_pair + ",2\n".encode(encoding))
    fmt = sniff(path, sample_bytes=10_000)
    with pytest.raises(UnreadableInput, match=rf"line 200002 .*byte {len(good):,}\)"):
        verify_shape(path, fmt)


def test_read_rows_leaves_out_header_and_blank_lines(tmp_path: Path) -> None:
    path = write(tmp_path, 'a,b\n\n1,"x\ny"\n\n2,z\n\n')
    fmt = sniff(path)
    assert list(read_rows(path, fmt)) == [["1", "x\ny"], ["2", "z"]]
    assert list(read_rows(path, fmt, rows=1)) == [["1", "x\ny"]]
    assert list(read_rows(path, fmt, rows=0)) == []


def test_verify_shape_refuses_negative_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    with pytest.raises(InvalidParameter):
        verify_shape(path, sniff(path), rows=-1)


@pytest.mark.slow
def test_its_cost_is_a_few_readings_of_the_sample(tmp_path: Path) -> None:
    line = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, White, Male, 2174, 40, <=50K\n"
    path = write(tmp_path, line * 33_000)
    short = write(tmp_path, "a\n" + "".join(f"{i}\n" for i in range(300_000)), name="short.csv")
    for file in (path, short):
        sample = file.read_text()[: 1 << 20]
        once = min(_cpu_seconds(lambda text=sample: list(csv.reader(io.StringIO(text)))) for _ in range(3))
        assert min(_cpu_seconds(lambda at=file: sniff(at)) for _ in range(3)) < 40 * once


def _cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


TEXT = st.text(alphabet="abcXYZäé ,;|\t\"'\n.-:", max_size=12)
# A column called NA or null would make its header look like a row; the rules say so.
NAME = st.from_regex(r"[A-Za-z][A-Za-z_. ]{0,10}[A-Za-z]", fullmatch=True).filter(
    lambda name: name.casefold() not in {"na", "nan", "none", "null"}
)
COLUMNS = st.one_of(
    st.just(st.integers(-(10**6), 10**6).map(str)),
    st.just(st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: f"{x:.4f}")),
    st.just(TEXT),
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    names = draw(st.lists(NAME, min_size=2, max_size=6, unique_by=str.casefold))
    # The first column is a number, so that the header can be told from the rows.
    columns = [st.integers(0, 10**6).map(str)] + [draw(COLUMNS) for _ in names[1:]]
    rows = draw(st.lists(st.tuples(*columns).map(list), min_size=1, max_size=15))
    # A name that recurs among the values below it speaks for a row.
    assume(not any(name == row[i].strip() for i, name in enumerate(names) for row in rows))
    return names, rows


@given(
    table=tables(),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    packed=st.booleans(),
    size=st.sampled_from([64, 500, 1 << 20]),
)
def test_random_tables_are_recovered(
    tmp_path_factory: pytest.TempPathFactory,
    table: tuple[list[str], list[list[str]]],
    delimiter: str,
    quoting: int,
    end: str,
    encoding: str,
    packed: bool,
    size: int,
) -> None:
    names, rows = table
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows([names, *rows])  # type: ignore[arg-type]
    content = buffer.getvalue().encode(encoding)
    path = tmp_path_factory.mktemp("random") / "table.csv"
    path.write_bytes(gzip.compress(content) if packed else content)
    fmt = sniff(path, sample_bytes=size)
    assert fmt.delimiter == delimiter
    assert fmt.header
    assert fmt.names == tuple(name.strip() for name in names)
    assert fmt.compression == ("gzip" if packed else "")
    verify_shape(path, fmt)
    if not fmt.skip_initial_space and fmt.quote == '"':
        assert cells(path, fmt) == [names, *rows]


@given(table=tables(), delimiter=st.sampled_from([",", ";", "\t", "|"]))
def test_random_tables_in_single_quotes_are_recovered(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[list[str], list[list[str]]], delimiter: str
) -> None:
    names, rows = table
    path = tmp_path_factory.mktemp("random") / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, quotechar="'", quoting=csv.QUOTE_ALL).writerows([names, *rows])
    fmt = sniff(path)
    assert (fmt.delimiter, fmt.quote, fmt.names) == (delimiter, "'", tuple(names))
    verify_shape(path, fmt)
    assert cells(path, fmt) == [names, *rows]


def test_lines_of_any_length_are_no_titles_of_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("milk,bread\nmilk\nbread,milk,tea\ntea,milk\ngin,milk\nbread\n" * 4 + "rum,milk")
    with pytest.raises(UnreadableInput, match=r"line 2 of shop\.csv has 1 field"):
        sniff(path)


def test_names_of_the_policy_are_the_header_whatever_they_look_like(tmp_path: Path) -> None:
    rows = "1,3\n4,5\n4,5\n2,7\n"
    path = tmp_path / "numbers.csv"
    path.write_text(rows)
    assert not sniff(path).header
    believed = sniff(path, expected=["1", "2", "3"])
    assert (believed.header, believed.names) == (True, ("1", "3"))
    assert not sniff(path, expected=["1", "2"]).header  # a number that is no name: a row
    assert not sniff(path, header=False, expected=["1", "3"]).header


def test_a_release_with_numbers_for_names_is_audited_by_its_policy(tmp_path: Path) -> None:
    policy = Policy.of(quasi_identifiers=["1", "5"], direct_identifiers=["2", "3", "4"])
    release = write(tmp_path, "1,5\n" + "0.5,2.5\n" * 3)
    assert audit(release, policy, detail="core").rows == 3
