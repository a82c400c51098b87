"""The documented table says where each verb of an engine runs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.postgres import PostgresEngine
from discreet.engine.protocol import Engine
from discreet.engine.spark import SparkEngine
from discreet.engine.sql import SqlEngine

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "engines.md"
ENGINES = (DuckDBEngine, SparkEngine, PostgresEngine)


def place(engine: type[SqlEngine], verb: str) -> str:
    """Where a verb runs, by what its code does."""
    code = inspect.getsource(getattr(engine, verb))
    for inner in ("query", "_answer"):
        if f"self.{inner}(" in code:
            return place(engine, inner)
    if "self._duckdb." in code and verb != "close":
        return "DuckDB"
    if verb != "to_arrow" and "self.to_arrow(" in code:
        return "memory"
    return "there"


def test_the_table_of_verbs_and_engines_is_that_of_the_code() -> None:
    listed = {
        match[1]: match[2].split(" | ")
        for match in re.finditer(
            r"^\| `(\w+)` \| [^|]+ \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    verbs = [name for name, value in vars(Engine).items() if callable(value) and not name.startswith("_")]
    assert listed == {verb: [place(engine, verb) for engine in ENGINES] for verb in verbs}
