"""The functions that a KPI's query may call are those that the reference lists."""

from __future__ import annotations

from discreet.engine.query import FUNCTIONS, MAX_ROWS
from helpers.markdown import REFERENCE, names_in, sections

SPELT_OTHERWISE = {"count_star", "like_escape", "not_like_escape"}
"""What a parser calls ``count(*)`` and ``LIKE … ESCAPE``."""


def test_functions_of_a_query() -> None:
    text = sections(REFERENCE / "policy-file.md")["[[kpi]]"]
    rows = "\n".join(text[text.index("| kind | functions |") :].splitlines()[2:9])
    assert names_in(rows) == {name for name in FUNCTIONS if name.isidentifier()} - SPELT_OTHERWISE
    assert f"at most {MAX_ROWS:,} rows" in text
