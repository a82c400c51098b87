"""Cells that a spreadsheet would run: found, neutralised, told apart from numbers, and never confused."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.release.spreadsheet import neutralise


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=", "＝1", "-", "'=1"]
)
def test_formulas_get_an_apostrophe(text: str) -> None:
    rows, changed = neutralise(pa.table({"a": [text]}))
    assert rows["a"].to_pylist() == ["'" + text]
    assert changed == {"a": 1}


@pytest.mark.parametrize(
    "text",
    ["-5", "+49", "-3.25", "-1,5", "-1e-5", "Ann", "", " =1", "a=1", "[30, 39]", "*", "'s-Hage", "1-2"],
)
def test_everything_else_stays(text: str) -> None:
    table = pa.table({"a": [text, None]})
    rows, changed = neutralise(table)
    assert rows.equals(table)
    assert changed == {}


def test_numbers_are_not_touched_and_names_are() -> None:
    rows, changed = neutralise(
        pa.table({"n": [-1, 2], "=a": ["x", "y"], "b": pa.array(["=x", None], pa.large_string())})
    )
    assert rows.column_names == ["n", "'=a", "b"]
    assert rows["b"].to_pylist() == ["'=x", None]
    assert rows["b"].type == pa.large_string()
    assert changed == {"b": 1, "=a": 1}


@given(st.lists(st.text(alphabet="'=+-@1a ", max_size=4), unique=True, max_size=30))
def test_different_texts_stay_different(texts: list[str]) -> None:
    rows, _ = neutralise(pa.table({"a": pa.array(texts, pa.string())}))
    found = rows["a"].to_pylist()
    assert len(set(found)) == len(texts)
    # Taking one apostrophe away again gives what was there.
    assert [new[1:] if new != old else new for new, old in zip(found, texts, strict=True)] == texts
