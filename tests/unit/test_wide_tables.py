"""Audits of wide tables stay readable: two screens by default, all of it and five lines on request."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet
from discreet.release.audit import Audit
from discreet.reports.audit.terminal import show, show_brief
from discreet.reports.terminal import plain

COLUMNS = 40
TWO_SCREENS = 120
"""Lines of two tall terminals."""


@pytest.fixture(scope="module")
def wide() -> Audit:
    """Forty columns, of which thirty are sensitive."""
    rows = pa.table({f"column_{i:02}": [(j * (i + 3)) % 7 for j in range(60)] for i in range(COLUMNS)})
    policy = discreet.Policy.of(quasi_identifiers=rows.column_names[:10], sensitive=rows.column_names[10:])
    return discreet.audit(rows, policy, detail="core")


def test_a_wide_table_takes_two_screens(wide: Audit) -> None:
    lines = plain(show(wide), width=80).splitlines()
    assert len(lines) <= TWO_SCREENS
    assert max(map(len, lines)) <= 80
    assert "more (--full shows all)" in "\n".join(lines)
    assert str(wide) == plain(show(wide), width=110)


def test_all_of_it_is_there_on_request(wide: Audit) -> None:
    text = plain(show(wide, full=True), width=200)
    # One row for each requirement that fails, numbered.
    assert f"{len(wide.verdict.obstacles)}. " in text
    assert all(name in text for name in wide.policy.sensitive)


def test_five_lines_say_what_matters(wide: Audit) -> None:
    lines = plain(show_brief(wide), width=80).splitlines()
    assert len(lines) == 5
    assert "Do not release this table." in lines[0]
    assert lines[2].startswith("1. ")
    assert lines[4] == f"and {len(wide.verdict.obstacles) - 2} more"


def test_a_narrow_table_shows_all_that_it_has() -> None:
    rows = pa.table({"age": [31, 31, 47], "ill": ["a", "b", "a"]})
    audit = discreet.audit(rows, discreet.Policy.of(quasi_identifiers=["age"], sensitive=["ill"]))
    assert plain(show(audit)) == plain(show(audit, full=True))
