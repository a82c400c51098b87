"""What is printed is shown and never obeyed: names of files, columns and values may hold anything."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.text import Text

import discreet
from discreet.plain import printable, printable_json
from discreet.reports.console import Terminal
from discreet.reports.terminal import html, plain

Run = Callable[..., Any]
SOURCE = Path(discreet.__file__).parent
ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Escape codes in the file's name, in names of columns and in values."""
    file = tmp_path / f"people{ESCAPE}.parquet"
    rows = 40
    pq.write_table(
        pa.table(
            {
                f"age{ESCAPE}": [20 + i % 20 for i in range(rows)],
                f"sex{ESCAPE}": [f"{'fm'[i % 2]}{ESCAPE}" for i in range(rows)],
                f"ill{ESCAPE}": [f"{'abc'[i % 3]}{ESCAPE}" for i in range(rows)],
            }
        ),
        file,
    )
    return file


ROLES = ["--qi", f"age{ESCAPE},sex{ESCAPE}", "--sensitive", f"ill{ESCAPE}"]
WITH = {
    "audit": ["audit", "{table}", *ROLES],
    "audit --json": ["audit", "{table}", *ROLES, "--core", "--json"],
    "check": ["check", "{table}", *ROLES],
    "anonymize": ["anonymize", "{table}", *ROLES, "--profile", "research-partner-3", "-o", "{out}"],
    "anonymize --json": [
        *("anonymize", "{table}", *ROLES, "--profile", "research-partner-3"),
        *("-o", "{out}", "--json"),
    ],
    "recommend": ["recommend", "{table}", *ROLES, "--profile", "research-partner-3"],
    "suggest": ["suggest", "{table}", "-o", "{policy}"],
    "hierarchy show": ["hierarchy", "show", "{table}", f"sex{ESCAPE}"],
    "an unknown column": ["audit", "{table}", "--qi", f"agee{ESCAPE}"],
    "an unknown option": ["audit", "{table}", f"--{ESCAPE}"],
    "an unknown command": [f"audit{ESCAPE}"],
    "a file that is not there": ["audit", "{table}.none"],
    "a policy that is not there": ["audit", "{table}", "-p", f"/{ESCAPE}.toml"],
    "an unknown profile": ["audit", "{table}", "--profile", f"open{ESCAPE}"],
    "half a character": ["audit", "/\udcff.csv"],
}


@pytest.mark.parametrize("case", WITH)
def test_nothing_that_is_printed_is_obeyed(case: str, table: Path, tmp_path: Path, run: Run) -> None:
    places = {
        "table": table,
        "out": tmp_path / f"out{ESCAPE}.csv",
        "policy": tmp_path / f"policy{ESCAPE}.toml",
    }
    told = run(*(argument.format(**places) for argument in WITH[case]))
    assert told.code in (0, 1, 2), told.said
    assert told.said
    assert OBEYED.findall(told.said) == []
    if "json" in case:
        assert ESCAPE in json.dumps(json.loads(told.out), ensure_ascii=False) or "\\u001b" in told.out


def test_json_says_the_same() -> None:
    document = {f"age{ESCAPE}": [ESCAPE, "\u2028", "ü"]}
    text = printable_json(json.dumps(document, ensure_ascii=False))
    assert OBEYED.findall(text) == []
    assert json.loads(text) == document


def test_a_terminal_shows_what_it_is_given() -> None:
    out = io.StringIO()
    Terminal(file=out, width=80).print(Text(f"name{ESCAPE}\nnext"))
    # A bell is left out by rich itself.
    assert out.getvalue().splitlines() == [printable(f"name{ESCAPE}").replace("␇", ""), "next"]


def test_in_a_notebook_nothing_is_shown_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """There rich would show what it is to give back as text or HTML, and give nothing."""
    shown: list[object] = []
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *segments: shown.append(segments))
    assert plain(Text("k = 1")) == "k = 1\n"
    assert "k = 1" in html(Text("k = 1"))
    assert shown == []


def test_there_is_one_way_to_print() -> None:
    """Consoles are terminals of ours, and whatever is echoed has gone through ``printable``."""
    modules = [*SOURCE.glob("cli/*.py"), *SOURCE.glob("reports/**/*.py")]
    made = [path.name for path in modules if re.search(r"(?<!\w)Console\(", path.read_text(encoding="utf-8"))]
    assert made == []
    echoed = {
        path.relative_to(SOURCE).as_posix(): re.findall(
            r"click\.echo\((?!printable|json\.dumps|ctx\.get_help|\"|\n)(.*)", text
        )
        for path in modules
        if (text := path.read_text(encoding="utf-8"))
    }
    assert {name: calls for name, calls in echoed.items() if calls} == {
        "cli/__init__.py": [
            'click.style("error: ", fg="red", bold=True, reset=True) + printable(message), err=True)',
            'f"  → {printable(remedy)}", err=True)',
        ],
        "cli/serve.py": ['f"discreet is at {settings.door}")'],
    }
