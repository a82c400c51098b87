"""Results of verbs as text, HTML and charts: the one place in this room that knows how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.release.frontier import Frontier


def frontier_chart(frontier: Frontier) -> str:
    """Risk against loss of every setting as an SVG picture of its own."""
    from discreet.reports.charts.points import chart_of_settings

    return chart_of_settings(frontier)
