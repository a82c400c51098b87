"""Names beside the points of a picture, in languages of which the words are longer."""

from __future__ import annotations

import re
from itertools import combinations

from discreet.reports.charts import svg
from discreet.reports.charts.points import PlottedOutcome, risk_against_loss
from discreet.reports.labels import Label
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


def test_names_of_two_releases_at_one_place_do_not_lie_over_one_another() -> None:
    """Adult: the one that was chosen and the one that leaves a few records out cost the same and leave the same risk."""
    plotted = [
        PlottedOutcome(name=name, loss=loss, risk=risk, best=best, shape="square")
        for name, loss, risk, best in (
            ("chosen", 0.131, 0.021, False),
            ("a name of many letters", 0.131, 0.021, False),
            ("most detail", 0.091, 0.021, True),
            ("simplest labels", 0.381, 0.003, True),
        )
    ]
    drawn = risk_against_loss(plotted, nothing="").inside()
    boxes = {}
    for look, words in re.findall(r"<text([^>]*)>([^<]*)</text>", drawn):
        if words in {point["name"] for point in plotted}:
            x, y = (float(re.search(rf' {axis}="([\d.-]+)"', look)[1]) for axis in "xy")  # type: ignore[index]
            anchor = re.search(r'text-anchor="(\w+)"', look)
            wide = svg.width_of(words, svg.FONT)
            left = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor[1] if anchor else "start"]
            boxes[words] = Label(left, y, wide, 1.2 * svg.FONT)
    assert len(boxes) == 4
    assert [(a, b) for a, b in combinations(boxes, 2) if boxes[a].covers(boxes[b])] == []


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
