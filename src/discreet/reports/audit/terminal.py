"""An audit for the terminal: verdict first, then what stands in the way, then compact tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from discreet.measure import Measure, RecordRisk
from discreet.release.audit import Audit
from discreet.release.verdict import Criterion, Verdict
from discreet.reports.figures import zones
from discreet.reports.terminal import STYLE, Explained, footnotes, grid, html, plain, row, title
from discreet.reports.verdict import acknowledged
from discreet.reports.words import number
from discreet.risk.scorr import category
from discreet.risk.titles import GRADED

GRADE = {"low": "green", "medium": "yellow", "high": "red"}
KEY_MEASURES = (
    "k-anonymity",
    "l-diversity",
    "entropy-l-diversity",
    "t-closeness",
    "ordered-t-closeness",
    "beta-likeness",
    "delta-disclosure",
    "linked-k-anonymity",
    "g-balance",
    "h-affiliation",
    "sample-uniques",
    "average-risk",
)


FIRST_MEASURES = (
    "k-anonymity",
    "l-diversity",
    "t-closeness",
    "ordered-t-closeness",
    "linked-k-anonymity",
    "sample-uniques",
    "average-risk",
)
FEW = 3
"""Of so many sensitive attributes each is shown by itself; of more, only the worst of them."""
MOST_OBSTACLES = 5
MOST_ATTRIBUTES = 6
MOST_NAMES = 9
LONGEST_CELL = 110
MOST_MISSING = 4
MOST_CONTRIBUTIONS = 4


def show(audit: Audit, *, full: bool = False) -> RenderableType:
    """The audit as something rich can print: what matters most on two screens, or all of it."""
    parts: list[RenderableType] = [headline(audit.verdict, audit, full=full), Text()]
    if audit.verdict.obstacles:
        parts += [title("What stands in the way"), _obstacles(audit.verdict, full=full), Text()]
    several = not full and len(audit.classes.sensitive) > FEW
    parts += [
        title("Measures, of the sensitive attribute that is worst off" if several else "Measures"),
        _measures(audit, worst=several, full=full),
        Text(),
        title("Extended risks (0 safe … 1 exposed): worst record · mean"),
        _risks(audit, full=full),
    ]
    if audit.intruders:
        parts += [Text(), title("What each intruder can tell"), _intruders(audit)]
    if audit.exposure is not None and audit.exposure.combinations:
        parts += [Text(), title("Combinations that single people out"), _combinations(audit)]
        if len(audit.exposure.contributions) > 1:
            parts += [Text(), title("What each attribute adds"), _contributions(audit)]
    if audit.estimates:
        parts += [Text(), title("Estimates for the population"), _estimates(audit)]
    parts += [Text(), *_remarks(audit, full=full)]
    return Group(*parts)


def show_brief(audit: Audit) -> RenderableType:
    """The audit in five lines: the verdict, what it rests on, what stands in the way, and what to do next."""
    verdict = audit.verdict
    colour, symbol = STYLE[verdict.decision]
    first = Text(f"{symbol} {verdict.words}", style=f"bold {colour}")
    about = f"{audit.source.name}: {audit.rows:,} records in {len(audit.classes):,} classes, judged by {verdict.profile.title}"
    told = [f"{place}. {c.description}: {c.found}" for place, c in enumerate(verdict.obstacles[:2], start=1)]
    more = len(verdict.obstacles) - len(told)
    told += [f"and {more} more" if more > 0 else remaining(verdict) or "nothing else stands in the way"]
    lines = [Text(line, no_wrap=True, overflow="ellipsis") for line in (about, *told)]
    return Group(first, *lines[:4])


def headline(verdict: Verdict, audit: Audit, *, full: bool = True) -> RenderableType:
    """The verdict in words, colour and symbol."""
    colour, symbol = STYLE[verdict.decision]
    unit = f"{audit.rows:,} records" + (f" of {audit.persons:,} persons" if audit.event_level else "")
    body = Text()
    body.append(f"{symbol} {verdict.words}\n", style=f"bold {colour}")
    body.append(f"{audit.source.name}: {unit} in {len(audit.classes):,} equivalence classes of ")
    names = audit.classes.names
    shown = names if full or len(names) <= MOST_NAMES + 1 else names[:MOST_NAMES]
    body.append(", ".join(shown), style="italic")
    if len(shown) < len(names):
        body.append(f" and {len(names) - len(shown)} more")
    if audit.source.left_out:
        body.append(f"\nReading: {audit.source.left_out}")
    body.append("\nConventional models: ")
    body.append(
        "complies" if verdict.compliant else "does not comply", "green" if verdict.compliant else "red"
    )
    if verdict.category is not None:
        body.append(" · extended risk: ")
        body.append(verdict.category, GRADE[verdict.category])
    body.append(f" · judged by {verdict.profile.title} ({verdict.profile.date.isoformat()})")
    if told := remaining(verdict):
        body.append(f"\n{told}")
    return Panel(body, border_style=colour, box=box.HEAVY, expand=False)


def remaining(verdict: Verdict) -> str:
    """Which risks remain where a table may be released if they are acknowledged; else nothing."""
    risks = acknowledged(verdict)
    return f"To be acknowledged: {'; '.join(risks)}." if risks else ""


def show_verdict(verdict: Verdict) -> RenderableType:
    """The verdict alone: in words, then every requirement on a line of its own."""
    colour, symbol = STYLE[verdict.decision]
    body = Text(f"{symbol} {verdict.words}", style=f"bold {colour}")
    if told := remaining(verdict):
        body.append(f"\n{told}", "not bold default")
    lines = [
        criterion_line(criterion)
        for criterion in (*verdict.obstacles, *(c for c in verdict.criteria if c.holds))
    ]
    return Group(body, *lines, *footnotes([f"Note: {note}." for note in verdict.notes]))


def _obstacles(verdict: Verdict, *, full: bool) -> RenderableType:
    """The failed criteria, most important first; in short the most important, one of each kind, without long lists."""
    table = grid("", "asked", "found", "what to do")
    shown = list(verdict.obstacles)
    if not full:
        kinds = {criterion.id: criterion for criterion in reversed(shown)}
        shown = [criterion for criterion in shown if criterion is kinds[criterion.id]][:MOST_OBSTACLES]
    for place, criterion in enumerate(shown, start=1):
        reason, remedy = (text if full else _clipped(text) for text in (criterion.found, criterion.remedy))
        row(table, f"{place}.", criterion.description, Text(reason, style="red"), remedy)
    return _with_more(table, len(verdict.obstacles) - len(shown))


def _clipped(text: str) -> str:
    """A long list without its end."""
    return text if len(text) <= LONGEST_CELL else text[: text.rfind(" ", 0, LONGEST_CELL)].rstrip(",;") + " …"


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


def _measures(audit: Audit, *, worst: bool, full: bool) -> Explained:
    """The measures that people ask for; with ``worst`` each once, of the sensitive attribute that it is worst for."""
    required = {(c.id, c.attribute): c for c in audit.verdict.criteria}
    measures: Sequence[Measure] = audit.measures
    if worst:
        measures = [audit.measure(name) for name in dict.fromkeys(measure.name for measure in audit.measures)]
    rows = []
    for measure in measures:
        asked = required.get((measure.name, measure.attribute))
        limit = "" if asked is None or asked.threshold is None else number(asked.threshold)
        if measure.name in (KEY_MEASURES if full else FIRST_MEASURES) or limit:
            value = Text(_value(measure), "" if asked is None else "green" if asked.holds else "red")
            sign = "≥" if measure.better == "higher" else "≤"
            of, needed = measure.attribute or "", limit and f"{sign} {limit}"
            line = Text.assemble(
                (measure.name, "bold"),
                f" of {of}: " if of else ": ",
                value,
                f", required {needed}" if needed else "",
            )
            rows.append(((measure.name, of, value, needed, measure.meaning), line))
    return Explained(("measure", "of", "value", "required", "what it says"), rows)


def _value(measure: Measure) -> str:
    if measure.unit.startswith("share") or measure.unit == "probability":
        return f"{measure.value:.1%}"
    if measure.unit in ("records", "persons"):
        return f"{number(measure.value)} {measure.unit.removesuffix('s') if measure.value == 1 else measure.unit}"
    return number(measure.value)


def _risks(audit: Audit, *, full: bool) -> RenderableType:
    """Each extended risk of each attribute; in short of the worst attributes, and of the sensitive one that it is worst for."""
    sensitive: list[str | None] = [domain.name for domain in audit.classes.sensitive]
    several = not full and len(sensitive) > 1
    targets = [None] if several else sensitive
    kinds = [(name, target) for name in GRADED for target in (targets if name == "correlation" else [None])]
    heads = [name if about is None else f"{name} with {about}" for name, about in kinds]
    table = grid(
        "attribute", *(f"{head} (worst)" if several and head == "correlation" else head for head in heads)
    )
    low, medium = zones(audit)

    def risks_of(attribute: str | None) -> list[RecordRisk]:
        return [audit.risk(name, attribute=attribute, sensitive=about) for name, about in kinds]

    worst = sorted(
        audit.classes.names,
        key=lambda name: [-max(r.max for r in risks_of(name)), -max(r.mean for r in risks_of(name))],
    )
    shown = audit.classes.names if full else worst[:MOST_ATTRIBUTES]
    for attribute in (None, *shown):
        cells = [Text("all together", style="bold") if attribute is None else Text(attribute)]
        for risk in risks_of(attribute):
            grade = category(risk.max, low=low, medium=medium)
            cell = Text(f"{risk.max:.2f} {grade}", style=GRADE[grade])
            cell.append(f" · {risk.mean:.2f}", style="dim")
            cells.append(cell)
        row(table, *cells)
    return _with_more(table, len(audit.classes.names) - len(shown))


def _with_more(table: Grid, left: int) -> RenderableType:
    """A table, and how many of its rows are shown on request only."""
    return Group(table, *footnotes([f"And {left} more (--full shows all)."])) if left else table


def _combinations(audit: Audit) -> RenderableType:
    assert audit.exposure is not None
    table = grid("known to the intruder", "unique", "in groups below 11", "pairs told apart")
    for size in (1, 2, 3):
        for combination in [c for c in audit.exposure.combinations if len(c.attributes) == size][:2]:
            row(
                table,
                " + ".join(combination.attributes),
                f"{combination.unique:.1%}",
                f"{combination.small:.1%}",
                f"{combination.separation:.1%}",
            )
    return table


def _intruders(audit: Audit) -> RenderableType:
    table = grid("intruder", "knows", "smallest class", "mean risk", "alone", "surest value")
    for view in audit.intruders:
        row(
            table,
            view.name or "who knows all of it",
            ", ".join(view.columns),
            str(view.k),
            f"{view.mean_risk:.1%}",
            f"{view.unique:.1%}",
            f"{max(view.certainty.values()):.1%}" if view.certainty else "–",
        )
    return table


def _contributions(audit: Audit) -> RenderableType:
    assert audit.exposure is not None
    table = grid("without", "mean risk", "unique records", "smallest class")
    for contribution in audit.exposure.contributions[:MOST_CONTRIBUTIONS]:
        row(
            table,
            contribution.attribute,
            f"{contribution.risk:.1%} → {contribution.risk_without:.1%}",
            f"{contribution.unique:.1%} → {contribution.unique_without:.1%}",
            f"{contribution.k} → {contribution.k_without}",
        )
    return table


def _estimates(audit: Audit) -> RenderableType:
    table = grid("estimate", "value", "method", "assumes")
    for estimate in audit.estimates:
        row(table, estimate.name, number(estimate.value), estimate.method, estimate.assumptions)
    return table


def _remarks(audit: Audit, *, full: bool) -> list[RenderableType]:
    lines = ["Missing values: none in the audited columns."]
    if audit.missing:
        shown = audit.missing if full else audit.missing[:MOST_MISSING]
        told = [f"{m.column}: {m.treatment}" for m in shown]
        left = len(audit.missing) - len(shown)
        told += [f"and in {left} more columns (--full)"] if left else []
        lines = [f"Missing values: {'; '.join(told)}."]
    lines += [f"Note: {note}." for note in audit.notes]
    if full:
        lines.append(f"Source of the thresholds: {audit.verdict.profile.source}.")
    return footnotes(lines)


def verdict_as_text(verdict: Verdict, *, width: int = 110) -> str:
    """The verdict as plain text, for ``print(verdict)``."""
    return plain(show_verdict(verdict), width)


def verdict_as_html(verdict: Verdict) -> str:
    """The verdict as a notebook shows it."""
    return html(show_verdict(verdict))


def as_text(audit: Audit, *, width: int = 110) -> str:
    """The audit as plain text, for ``print(audit)``."""
    return plain(show(audit), width)
