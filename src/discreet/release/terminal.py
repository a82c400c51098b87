"""An audit for the terminal: verdict first, then what stands in the way, then compact tables."""

from __future__ import annotations

import io
import math

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from discreet.measure import Measure
from discreet.release.audit import Audit
from discreet.release.verdict import Criterion, Decision, Verdict
from discreet.risk.scorr import category

STYLE: dict[Decision, tuple[str, str]] = {
    "release": ("green", "✔"),
    "release-with-acknowledged-risk": ("yellow", "!"),
    "do-not-release": ("red", "✘"),
}
GRADE = {"low": "green", "medium": "yellow", "high": "red"}
KEY_MEASURES = (
    "k-anonymity",
    "l-diversity",
    "entropy-l-diversity",
    "t-closeness",
    "ordered-t-closeness",
    "beta-likeness",
    "delta-disclosure",
    "g-balance",
    "h-affiliation",
    "sample-uniques",
    "average-risk",
)


def number(value: float | None) -> str:
    """A number for people: four significant digits, thousands separated, infinity in words.

    >>> number(0.51904), number(18109.0), number(float("inf")), number(1.0)
    ('0.519', '18,109', 'infinite', '1')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "infinite"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def show(audit: Audit) -> RenderableType:
    """The whole audit as something rich can print."""
    parts: list[RenderableType] = [headline(audit.verdict, audit), Text()]
    if audit.verdict.obstacles:
        parts += [_title("What stands in the way"), obstacles(audit.verdict), Text()]
    parts += [
        _title("Measures"),
        _measures(audit),
        Text(),
        _title("Extended risks (0 safe … 1 exposed)"),
        _risks(audit),
    ]
    if audit.exposure is not None and audit.exposure.combinations:
        parts += [Text(), _title("Combinations that single people out"), _combinations(audit)]
        if len(audit.exposure.contributions) > 1:
            parts += [Text(), _title("What each attribute adds"), _contributions(audit)]
    if audit.estimates:
        parts += [Text(), _title("Estimates for the population"), _estimates(audit)]
    parts += [Text(), *_footnotes(audit)]
    return Group(*parts)


def headline(verdict: Verdict, audit: Audit) -> RenderableType:
    """The verdict in words, colour and symbol."""
    colour, symbol = STYLE[verdict.decision]
    unit = f"{audit.rows:,} records" + (f" of {audit.persons:,} persons" if audit.event_level else "")
    body = Text()
    body.append(f"{symbol} {verdict.words}\n", style=f"bold {colour}")
    body.append(f"{audit.source.name}: {unit} in {len(audit.classes):,} equivalence classes of ")
    body.append(", ".join(audit.classes.names), style="italic")
    body.append("\nConventional models: ")
    body.append(
        "complies" if verdict.compliant else "does not comply", "green" if verdict.compliant else "red"
    )
    if verdict.category is not None:
        body.append(" · extended risk: ")
        body.append(verdict.category, GRADE[verdict.category])
    body.append(f" · judged by {verdict.profile.title} ({verdict.profile.date.isoformat()})")
    return Panel(body, border_style=colour, box=box.HEAVY, expand=False)


def obstacles(verdict: Verdict) -> RenderableType:
    """The failed criteria, most important first."""
    grid = _grid("", "asked", "found", "what to do")
    for place, criterion in enumerate(verdict.obstacles, start=1):
        _row(grid, f"{place}.", criterion.description, Text(criterion.found, style="red"), criterion.remedy)
    return grid


def criterion_line(criterion: Criterion) -> Text:
    """One requirement on one line, for ``discreet check``."""
    line = Text("✔ " if criterion.holds else "✘ ", style="green" if criterion.holds else "bold red")
    about = f" [{criterion.attribute}]" if criterion.attribute else ""
    line.append(f"{criterion.id}{about}: ", style="bold")
    line.append(f"{criterion.description}; found {criterion.found}", style="default")
    if criterion.remedy:
        line.append(f" → {criterion.remedy}", style="default")
    line.append(f" ({criterion.origin})", style="dim")
    return line


def _measures(audit: Audit) -> RenderableType:
    required = {(c.id, c.attribute): c for c in audit.verdict.criteria}
    grid = _grid("measure", "of", "value", "required", "what it says")
    for measure in audit.measures:
        if measure.name in KEY_MEASURES:
            asked = required.get((measure.name, measure.attribute))
            _row(
                grid,
                measure.name,
                measure.attribute or "",
                Text(_value(measure), style="" if asked is None else "green" if asked.holds else "red"),
                ""
                if asked is None
                else f"{'≥' if measure.better == 'higher' else '≤'} {number(asked.threshold)}",
                measure.meaning,
            )
    return grid


def _value(measure: Measure) -> str:
    if measure.unit.startswith("share") or measure.unit == "probability":
        return f"{measure.value:.1%}"
    return number(measure.value) + (f" {measure.unit}" if measure.unit in ("records", "persons") else "")


def _risks(audit: Audit) -> RenderableType:
    kinds: list[tuple[str, str | None]] = [("uniqueness", None), ("uniformity", None)]
    kinds += [("correlation", domain.name) for domain in audit.classes.sensitive]
    heads = [name if about is None else f"{name} with {about}" for name, about in kinds]
    grid = _grid("attribute", *heads)
    extended = audit.verdict.profile.extended
    for attribute in (None, *audit.classes.names):
        cells = [Text("all together", style="bold") if attribute is None else Text(attribute)]
        for name, about in kinds:
            risk = audit.risk(name, attribute=attribute, sensitive=about)
            grade = (
                category(risk.max, low=extended.low, medium=extended.medium)
                if extended
                else category(risk.max)
            )
            cell = Text(f"{risk.max:.2f} {grade}", style=GRADE[grade])
            cell.append(f"  mean {risk.mean:.2f}", style="dim")
            cells.append(cell)
        _row(grid, *cells)
    return grid


def _combinations(audit: Audit) -> RenderableType:
    assert audit.exposure is not None
    grid = _grid("known to the intruder", "unique", "in groups below 11", "pairs told apart")
    for size in (1, 2, 3):
        for found in [c for c in audit.exposure.combinations if len(c.attributes) == size][:2]:
            _row(
                grid,
                " + ".join(found.attributes),
                f"{found.unique:.1%}",
                f"{found.small:.1%}",
                f"{found.separation:.1%}",
            )
    return grid


def _contributions(audit: Audit) -> RenderableType:
    assert audit.exposure is not None
    grid = _grid("without", "mean risk", "unique records", "smallest class")
    for one in audit.exposure.contributions[:6]:
        _row(
            grid,
            one.attribute,
            f"{one.risk:.1%} → {one.risk_without:.1%}",
            f"{one.unique:.1%} → {one.unique_without:.1%}",
            f"{one.k} → {one.k_without}",
        )
    return grid


def _estimates(audit: Audit) -> RenderableType:
    grid = _grid("estimate", "value", "method", "assumes")
    for estimate in audit.estimates:
        _row(grid, estimate.name, number(estimate.value), estimate.method, estimate.assumptions)
    return grid


def _footnotes(audit: Audit) -> list[RenderableType]:
    lines = []
    if audit.missing:
        told = "; ".join(f"{m.column}: {m.treatment}" for m in audit.missing)
        lines.append(f"Missing values: {told}.")
    else:
        lines.append("Missing values: none in the audited columns.")
    lines += [f"Note: {note}." for note in audit.notes]
    lines.append(f"Source of the thresholds: {audit.verdict.profile.source}.")
    return [Padding(Text(line, style="dim"), (0, 0, 0, 2)) for line in lines]


def _title(text: str) -> Text:
    return Text(text, style="bold underline")


def _grid(*heads: str) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for head in heads:
        grid.add_column(Text(head), overflow="fold")
    return grid


def _row(grid: Grid, *cells: str | Text) -> None:
    """Add a row of plain text: a column called ``age[years]`` is not markup."""
    grid.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))


def as_text(audit: Audit, *, width: int = 110) -> str:
    """The audit as plain text, for ``print(audit)``."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(show(audit))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().rstrip() + "\n"
