"""Results of verbs as text, HTML and charts: the one place in this room that knows how they are shown."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.release.attack import Attacks
    from discreet.release.audit import Audit
    from discreet.release.compare import Comparison
    from discreet.release.frontier import Frontier
    from discreet.release.release import Release


def audit_text(audit: Audit) -> str:
    """An audit as a terminal shows it."""
    from discreet.reports.audit.terminal import as_text

    return as_text(audit)


def audit_notebook(audit: Audit) -> str:
    """An audit as a notebook shows it."""
    from discreet.reports.audit.html import notebook

    return notebook(audit)


def release_notebook(release: Release) -> str:
    """A release as a notebook shows it."""
    from discreet.reports.release.html import notebook_release

    return notebook_release(release)


def write_release_report(release: Release, path: str | PathLike[str], *, file_hash: str) -> None:
    """Write the report of a release whose file has this hash."""
    from discreet.reports.release.html import release_report

    release_report(release, path, file_hash=file_hash)


def comparison_text(comparison: Comparison) -> str:
    """A comparison as a terminal shows it."""
    from discreet.reports.evidence.terminal import comparison_as_text

    return comparison_as_text(comparison)


def comparison_notebook(comparison: Comparison) -> str:
    """A comparison as a notebook shows it."""
    from discreet.reports.evidence.html import notebook_comparison

    return notebook_comparison(comparison)


def attacks_text(attacks: Attacks) -> str:
    """Attacks as a terminal shows them."""
    from discreet.reports.evidence.terminal import attacks_as_text

    return attacks_as_text(attacks)


def attacks_notebook(attacks: Attacks) -> str:
    """Attacks as a notebook shows them."""
    from discreet.reports.evidence.html import notebook_attacks

    return notebook_attacks(attacks)


def frontier_chart(frontier: Frontier) -> str:
    """Risk against loss of every setting as an SVG picture of its own."""
    from discreet.reports.charts.points import chart_of_settings

    return chart_of_settings(frontier)
