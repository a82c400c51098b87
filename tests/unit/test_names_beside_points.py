"""Names beside the points of a picture, in languages of which the words are longer."""

from __future__ import annotations

import re

from discreet.reports.charts.points import PlottedOutcome, risk_against_loss


def test_names_beside_points_grow_away_from_them_in_another_language() -> None:
    """Whatever their length: a name at the left of its point ends there, one above it has its middle there."""
    plotted = [
        PlottedOutcome(name=name, loss=loss, risk=risk, best=best, shape="square")
        for name, loss, risk, best in (
            ("most detail", 0.2, 0.04, True),
            ("simplest labels", 0.6, 0.01, True),
            ("chosen", 0.2, 0.02, False),
        )
    ]
    drawn = risk_against_loss(plotted, nothing="").inside()
    anchors = {
        words: re.findall(r'text-anchor="(\w+)"', look)
        for look, words in re.findall(r"<text([^>]*)>([^<]*)</text>", drawn)
    }
    assert anchors["most detail"] == ["middle"]
    assert anchors["simplest labels"] == ["end"]
    assert anchors["chosen"] == []
