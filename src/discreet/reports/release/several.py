"""The risks of several releases beside those of the original, as heatmaps: one for each risk."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from discreet.release.audit import Audit
from discreet.reports.charts.cells import Cell, heatmap
from discreet.reports.charts.svg import said_by
from discreet.reports.figures import MOST_SENSITIVE, Picture, partly, risk_name, zones
from discreet.risk.scorr import category
from discreet.risk.titles import GRADED
from discreet.sentences import Sentence

TOGETHER = "all together"
MOST_ROWS = 12
"""Attributes a heatmap shows; the table beside it has all."""


def risks_of_releases(audits: Mapping[str, Audit]) -> Picture:
    """The largest risk of every attribute in the original and in each release, by the names that they are called.

    The form is that of figures 8 to 10 of SCORR: what stands in a row can be read from left to right.
    """
    original, *_ = audits.values()
    low, medium = zones(original)
    highest = {
        (risk_name(risk), risk.attribute or TOGETHER, name): risk.max
        for name, audit in audits.items()
        for risk in audit.risks
        if risk.name in GRADED
    }
    kinds = list(dict.fromkeys(kind for kind, _, _ in highest))
    attributes = sorted(
        original.classes.names,
        key=lambda attribute: (
            -max(highest.get((kind, attribute, name), 0.0) for kind in kinds for name in audits)
        ),
    )
    rows = [TOGETHER, *attributes] if len(attributes) > 1 else attributes
    shown_rows, shown_kinds = rows[: MOST_ROWS + 1], kinds[: 2 + MOST_SENSITIVE]

    def panel(kind: str) -> str:
        cells = [
            Cell(row, name, f"{value:.2f}", category(value, low=low, medium=medium))
            for row in shown_rows
            for name in audits
            if (value := highest.get((kind, row, name))) is not None
        ]
        drawn = heatmap(cells, rows=shown_rows, columns=list(audits), widest=72)
        return f'<div><p class="panel"{said_by(kind)}>{escape(kind)}</p>{drawn}</div>'

    high = [
        name
        for name in audits
        if max((value for (_, _, of), value in highest.items() if of == name), default=0.0) > medium + 1e-9
    ]
    return Picture(
        id="releases",
        title="Which risks each release leaves",
        takeaway=Sentence("Some record has a high risk in: {tables:and}.", tables=tuple(map(Sentence, high)))
        if high
        else "No record has a high risk, not even in the original.",
        alternative="A table for each risk: attributes by releases; the numbers are in the table below.",
        explanation=Sentence(
            "Each number is the risk of the worst-placed record for someone who knows only this "
            "attribute. Up to {low:g} is low, up to {medium:g} medium, above it high.",
            low=low,
            medium=medium,
        ),
        svg=f'<div class="panels">{"".join(map(panel, shown_kinds))}</div>',
        columns=("Risk", "Known", *audits),
        rows=tuple(
            (
                kind,
                row,
                *(
                    f"{highest[kind, row, name]:.3f}" if (kind, row, name) in highest else "–"
                    for name in audits
                ),
            )
            for kind in kinds
            for row in rows
        ),
        source=next(risk.source for risk in original.risks if risk.name in GRADED).rpartition(", eq.")[0],
        note=partly(min(MOST_ROWS, len(attributes)), len(attributes), "attributes with the highest risks"),
    )
