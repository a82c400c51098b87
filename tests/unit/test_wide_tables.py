"""Audits of wide tables stay readable: two screens by default, all of it and five lines on request."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet
from discreet.release.audit import Audit
from discreet.release.release import Release
from discreet.reports.audit.terminal import show, show_brief
from discreet.reports.evidence.terminal import show_attacks
from discreet.reports.release.terminal import show_release
from discreet.reports.terminal import plain

MONDRIAN = discreet.Plan(method="mondrian")
COLUMNS = 40
TWO_SCREENS = 100
"""Lines of two terminals."""


@pytest.fixture(scope="module")
def wide() -> Audit:
    """Forty columns with long names, of which fourteen tell people apart, twenty are sensitive, and six nobody has judged."""
    rows = pa.table(
        {f"a_column_of_number_{i:02}": [(j * (i + 3)) % 41 for j in range(60)] for i in range(COLUMNS)}
    )
    names = rows.column_names
    return discreet.audit(rows, discreet.Policy.of(quasi_identifiers=names[:14], sensitive=names[14:34]))


def test_a_wide_table_takes_two_screens(wide: Audit) -> None:
    lines = plain(show(wide), width=80).splitlines()
    assert len(lines) <= TWO_SCREENS
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert text.count("more (--full shows all)") == 2
    assert "and 5 more" in text  # quasi-identifiers
    # What stands in the way: one of each kind, and no list to its end.
    assert text.count("the distribution of") == 1
    assert "…" in text
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


@pytest.fixture(scope="module")
def released(wide: Audit) -> Release:
    rows = pa.table(
        {name: [(j // 20 + i) % 7 for j in range(60)] for i, name in enumerate(wide.classes.names)}
    )
    for place, name in enumerate(wide.policy.sensitive):
        rows = rows.append_column(name, pa.array([(j * (place + 3)) % 11 for j in range(60)]))
    return discreet.anonymize(rows, wide.policy.replace(requirements=[discreet.KAnonymity(5)]), plan=MONDRIAN)


def test_so_does_its_release(released: Release) -> None:
    text = plain(show_release(released), width=80)
    assert len(text.splitlines()) <= TWO_SCREENS
    # No name is broken, and each attribute has one line.
    assert all(text.count(f"{name} ") >= 1 for name in released.policy.quasi_identifiers)


def test_so_do_attacks_on_it(released: Release) -> None:
    attacks = discreet.attack(
        released.to_arrow(), released.policy, attacks=["homogeneity", "skewness", "similarity"]
    )
    short, whole = (plain(show_attacks(attacks, full=full), width=80) for full in (False, True))
    assert len(short.splitlines()) <= TWO_SCREENS
    assert short.count("homogeneity: ") == 1
    assert whole.count("homogeneity: ") == len(released.policy.sensitive)
    left = len(attacks.results) - 2
    assert f"And {left} more that got no further (--full shows all)." in short
    assert "similarity (20 attributes)" in short
    assert "similarity (a_column_of_number_14," in " ".join(
        plain(show_attacks(attacks, full=True), 999).split()
    )
    furthest = max((r for r in attacks.results if r.attack == "homogeneity"), key=lambda r: r.advantage)
    assert f"homogeneity: {furthest.target} " in plain(show_attacks(attacks), width=200)


def test_of_a_narrow_table_nothing_is_cut() -> None:
    rows = pa.table({"age": [31, 31, 47], "ill": ["a", "b", "a"]})
    audit = discreet.audit(rows, discreet.Policy.of(quasi_identifiers=["age"], sensitive=["ill"]))
    short, whole = plain(show(audit)), plain(show(audit, full=True))
    assert "--full" not in short
    assert "…" not in short.replace("safe … 1", "")
    # What differs: measures that nothing asks for, and where the thresholds come from.
    assert "delta-disclosure" in whole
    assert "Source of the thresholds" in whole
    assert set(short.split()) <= set(whole.split())


def test_what_a_measure_says_stands_below_it_where_there_is_no_room_beside(wide: Audit) -> None:
    narrow, broad = (plain(show(wide), width=width).splitlines() for width in (80, 110))
    below = next(
        place for place, line in enumerate(narrow) if line.startswith("k-anonymity: 1 record, required ≥ 11")
    )
    assert narrow[below + 1].startswith("  At least one of the records is alone")
    assert any(line.startswith("k-anonymity ") and "At least one of the records" in line for line in broad)
