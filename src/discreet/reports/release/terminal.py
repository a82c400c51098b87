"""Releases, comparisons of methods and advice for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from discreet.measure import Measure
from discreet.release.audit import Audit
from discreet.release.outcome import Outcome
from discreet.release.prices import METHOD
from discreet.release.recommend import Advice
from discreet.release.release import Release
from discreet.reports.audit.terminal import FEW, remaining
from discreet.reports.release import tables
from discreet.reports.terminal import STYLE, footnotes, grid, html, outcome_table, plain, row, title
from discreet.reports.words import number, percent, several
from discreet.risk.titles import EXTENDED
from discreet.table.hierarchies.hierarchy import LEARNED
from discreet.utility.objectives.registry import LOSS


def show_release(release: Release) -> RenderableType:
    """What was done, what it cost, and what is left: verdict first."""
    parts: list[RenderableType] = [_headline(release), Text(), title("Before and after"), _measures(release)]
    parts += [Text(), title("What happened to each quasi-identifier"), _changes(release)]
    if release.removed:
        parts += [Text(), title("Columns that were left out"), _removed(release)]
    if release.unjudged:
        parts += [Text(), title("Columns as they were, which nobody judged"), _unjudged(release)]
    if release.alternatives:
        parts += [Text(), title("Releases that meet the requirements"), _alternatives(release)]
    if release.verdict.obstacles:
        parts += [Text(), title("What still stands in the way"), _obstacles(release)]
    # What stands in a table above is not said twice.
    told = {column.note for column in release.removed}
    notes = [f"Note: {note}." for note in release.notes if note not in told]
    return Group(*parts, Text(), *footnotes(notes))


def _headline(release: Release) -> RenderableType:
    verdict = release.verdict
    colour, symbol = STYLE[verdict.decision]
    body = Text()
    body.append("✔ Every requirement on the classes holds.\n", style="bold green")
    body.append(f"{several(release.after.rows, 'record')} of {release.before.rows:,}; ")
    body.append(f"{percent(release.suppressed / release.before.rows)} suppressed; {_cost(release)}")
    known = f"method {release.chosen.method}"
    if release.chosen.optimal:
        known = "the best with one level per column, proven"
    body.append(f" ({known})\n")
    body.append(f"{symbol} {verdict.words}", style=colour)
    body.append(f" Judged by {verdict.profile.title}.")
    if told := remaining(verdict):
        body.append(f"\n{told}")
    return Panel(body, border_style=colour, expand=False)


def _cost(release: Release) -> str:
    """What was lost, as the comparison with other releases says it; of another objective its cost."""
    loss = release.outcome.loss
    # What the cost does not count: quasi-identifiers that were left out.
    left_out = any(column.loss is not None for column in release.removed)
    if loss is None or release.plan.objective != LOSS.name:
        told, whole = f"{release.plan.objective} {number(release.chosen.cost)}", number(release.loss)
    else:
        told, whole = f"loss {percent(loss)}", percent(release.loss)
    return f"{told}, {whole} with columns left out" if left_out and not told.endswith(whole) else told


def _measures(release: Release) -> RenderableType:
    table = grid("measure", "of", "before", "after")
    extended = release.verdict.profile.extended
    graded = extended.risks if extended else ()
    for name in (
        "k-anonymity",
        "l-diversity",
        "t-closeness",
        "ordered-t-closeness",
        "sample-uniques",
        "average-risk",
    ):
        released = [measure for measure in release.after.measures if measure.name == name]
        worst = ""
        if len(released) > FEW and all(measure.attribute for measure in released):
            released, worst = [release.after.measure(name)], f" (worst of {len(released)})"
        for measure in released:
            before = _counterpart(release.before, measure)
            # Persons and records are counted both where one has several.
            told = measure.attribute or (measure.unit if len(released) > 1 else "")
            cell = "–" if before is None else number(before.value)
            row(table, name, told + worst, cell, number(measure.value))
    for name in EXTENDED:
        if any(risk.name == name for risk in release.after.risks):
            decides = "" if name in graded else "not judged"
            row(
                table,
                f"{name} risk, worst",
                decides,
                _worst(release.before, name),
                _worst(release.after, name),
            )
    return table


def _counterpart(audit: Audit, measure: Measure) -> Measure | None:
    """What an audit found by the same measure of the same attribute, counted in the same unit."""
    alike = (
        other
        for other in audit.measures
        if (other.name, other.attribute, other.unit) == (measure.name, measure.attribute, measure.unit)
    )
    return next(alike, None)


def _worst(audit: Audit, name: str) -> str:
    return number(max(risk.max for risk in audit.risks if risk.name == name))


def _changes(release: Release) -> RenderableType:
    table = grid("attribute", "values before", "values after", "level", "loss")
    for name, change in release.changes().items():
        level = release.recoding.levels.get(name) if release.recoding.levels else None
        row(
            table,
            name,
            f"{int(change['distinct_before']):,}",
            f"{int(change['distinct_after']):,}",
            "–" if level is None else str(level),
            number(change["loss"]),
        )
    # Those that were learned stand together in a note.
    origins = [
        f"Hierarchy of {hierarchy.ladder.name}: {hierarchy.origin}."
        for hierarchy in release.hierarchies
        if hierarchy.origin != LEARNED
    ]
    return Group(table, *footnotes(origins))


def _removed(release: Release) -> RenderableType:
    table = grid("column", "why", "loss")
    for column in release.removed:
        row(table, column.name, column.reason, "" if column.loss is None else number(column.loss))
    return table


def _unjudged(release: Release) -> RenderableType:
    table = grid("column", "records alone with their value")
    for name, share in release.unjudged.items():
        row(table, name, percent(share))
    if (together := release.unjudged_together) is not None:
        row(table, "(all, with the quasi-identifiers)", percent(together))
    return table


def _alternatives(release: Release) -> RenderableType:
    """The chosen release beside the others that were found."""
    table = grid("", "release", "loss", "suppressed", "values", "wrong counts", "largest risk", "method")
    for place, told in enumerate(tables.alternatives(release)):
        keys = ("loss", "suppressed", "values", "error", "risk", "method")
        row(
            table,
            *(("", str(told["title"])) if place else ("■", "chosen")),
            *(str(told[key]) for key in keys),
        )
    return table


def _obstacles(release: Release) -> RenderableType:
    table = grid("", "asked", "found")
    for place, criterion in enumerate(release.verdict.obstacles, start=1):
        row(table, f"{place}.", criterion.description, Text(criterion.found, style="red"))
    return table


def show_methods(outcomes: Sequence[Outcome]) -> RenderableType:
    """Methods side by side, least loss first; a star marks those that no other beats."""
    return outcome_table(outcomes, "method", ["★ no other method is better in both loss and mean risk"])


def show_advice(advice: Advice) -> RenderableType:
    """The smallest changes that meet every requirement, cheapest first."""
    parts: list[RenderableType] = []
    if advice.first_steps:
        parts += [title("First"), *footnotes([f"{step}." for step in advice.first_steps]), Text()]
    if advice.recommendations:
        table = grid("loss", "what to change", "levels up", "records suppressed")
        for change in advice.recommendations:
            raised = ", ".join(f"{name} +{level}" for name, level in change.levels.items()) or "none"
            row(
                table,
                number(change.loss),
                change.change,
                raised,
                f"{change.suppressed:,} ({percent(change.suppressed_share)})",
            )
        parts += [title("Changes under which every requirement holds"), table]
    else:
        parts += [Text("No generalisation with few suppressed records meets every requirement.", style="red")]
    if advice.prices.columns:
        table = grid("column", "loss of the others with it", "without it")
        for column in advice.prices.columns:
            row(table, column.column, number(column.loss_with), _maybe(column.loss_without))
        parts += [Text(), title("What each column costs"), table]
    if advice.prices.requirements:
        table = grid("requirement", "loss with it", "without it")
        for price in advice.prices.requirements:
            row(table, price.requirement, number(price.loss_with), _maybe(price.loss_without))
        parts += [Text(), title("What each requirement costs"), table]
    if advice.prices.loss is not None:
        parts += footnotes(
            [f"Prices by {METHOD}, within some seconds: the differences count, not the losses."]
        )
    return Group(*parts)


def _maybe(value: float | None) -> str:
    return "unknown" if value is None else number(value)


def release_as_text(release: Release, *, width: int = 110) -> str:
    """The release as plain text, for ``print(release)``."""
    return plain(show_release(release), width)


def advice_as_text(advice: Advice, *, width: int = 110) -> str:
    """The advice as plain text, for ``print(advice)``."""
    return plain(show_advice(advice), width)


def advice_as_html(advice: Advice) -> str:
    """The advice as a notebook shows it."""
    return html(show_advice(advice))
