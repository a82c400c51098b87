"""Names beside the points of a picture, in languages of which the words are longer."""

from __future__ import annotations

import re

from discreet.reports.charts import svg
from discreet.reports.charts.points import PlottedOutcome, risk_against_loss
from discreet.reports.phrasebook import phrasebook, translate_drawing


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


def test_there_is_room_for_words_of_as_many_but_wider_letters() -> None:
    """The heads of rows of a picture end at its plot: what they grow by is added at the left."""
    drawing = svg.Drawing(40, 20)
    drawing.text(0, 10, "all together", "ink", anchor="end")
    said = translate_drawing(drawing.inside(), phrasebook("de"))
    assert ">alle zusammen</text>" in said
    box = re.search(r'viewBox="(-\d+) 0 (\d+)', said)
    assert box is not None
    plot = re.search(r"translate\(([\d.]+),", said)
    assert plot is not None
    assert float(plot[1]) - int(box[1]) >= svg.width_of("alle zusammen", svg.FONT)
