"""What was lost, what attacks came to, and the frontier between both, for the terminal."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from discreet.attacks.result import AttackResult
from discreet.measure import Measure
from discreet.release.attack import Attacks
from discreet.release.compare import Comparison
from discreet.release.frontier import Frontier
from discreet.release.legal import UPPER_BOUNDS, State
from discreet.reports.audit.terminal import footnotes, grid, row, title
from discreet.reports.words import number, percent

STATES: dict[State, tuple[str, str]] = {
    "gives way": ("red", "✘"),
    "weakened": ("yellow", "!"),
    "withstood": ("green", "✔"),
    "not tested": ("cyan", "?"),
}

MAIN_LOSSES = (
    "leaf-loss",
    "certainty-penalty",
    "suppression-ratio",
    "average-class-size",
    "discernibility",
    "non-uniform-entropy-share",
    "joint-kl-divergence",
    "count-error-median",
    "unanswered-queries",
)
"""The measures that a terminal shows; all others are in JSON and in the report."""


# ── comparison ────────────────────────────────────────────────────────────────────────────────────────


def show_comparison(found: Comparison) -> RenderableType:
    """What was lost: overall, per attribute, for queries, figures and learning."""
    parts: list[RenderableType] = [_loss_headline(found), Text(), title("Losses"), _losses(found)]
    parts += [Text(), title("Each quasi-identifier"), _attributes(found)]
    if found.efficacy:
        parts += [Text(), title("Learning from the release"), _efficacy(found)]
    if found.kpis:
        parts += [Text(), title("Your own figures"), _kpis(found)]
    told = [
        "trivial: the release that shows no quasi-identifier at all; being hardly better than it is not worth the "
        "effort",
        f"{found.matched[:1].upper()}{found.matched[1:]}.",
    ]
    learned = dict.fromkeys(f"learning {one.label}: {note}" for one in found.efficacy for note in one.notes)
    return Group(
        *parts, Text(), *footnotes([*told, *(f"Note: {note}." for note in (*found.notes, *learned))])
    )


def comparison_as_text(found: Comparison, *, width: int = 110) -> str:
    """The comparison as plain text, for ``print``."""
    return _plain(show_comparison(found), width)


def _loss_headline(found: Comparison) -> RenderableType:
    body = Text()
    loss = found.losses.measure("leaf-loss")
    if loss is not None and not math.isnan(loss.value):
        body.append(f"{percent(loss.value)} of the quasi-identifiers' detail is lost", style="bold")
        body.append(" (0% nothing, 100% all).\n")
    body.append(f"{found.rows[1]:,} of {found.rows[0]:,} rows are in the release.")
    best = max(found.efficacy, key=lambda one: one.original["accuracy"].value, default=None)
    if best is not None:
        body.append(f"\n{best.meaning}")
    failed = [one for one in found.kpis if one.holds is False]
    if found.kpis:
        body.append(
            f"\n{len(found.kpis) - len(failed)} of {len(found.kpis)} of your own figures are within their tolerance."
        )
    return Panel(body, border_style="cyan", expand=False)


def _value(measure: Measure | None) -> str:
    if measure is None or math.isnan(measure.value):
        return "–"
    return number(measure.value)


def _losses(found: Comparison) -> RenderableType:
    table = grid("measure", "release", "trivial", "better", "what it means")
    for name in MAIN_LOSSES:
        measure = found.losses.measure(name)
        if measure is not None:
            row(
                table,
                name,
                _value(measure),
                _value(found.losses.baseline(name)),
                measure.better,
                measure.meaning,
            )
    return table


def _attributes(found: Comparison) -> RenderableType:
    heads = ("leaf-loss", "certainty-penalty", "emd", "hellinger")
    table = grid("attribute", *heads)
    for name in dict.fromkeys(one.attribute or "" for one in found.losses.attributes):
        row(table, name, *(_value(found.losses.measure(head, name)) for head in heads))
    return table


def _efficacy(found: Comparison) -> RenderableType:
    table = grid("predicts", "classifier", "score", "release", "original", "majority", "kept")
    for one in found.efficacy:
        for metric, score in one.release.items():
            kept = one.relative(metric)
            row(
                table,
                one.label,
                one.classifier,
                metric,
                f"{score.value:.3f} ({score.low:.3f}–{score.high:.3f})",
                f"{one.original[metric].value:.3f}",
                f"{one.majority[metric].value:.3f}",
                "–" if math.isnan(kept) else f"{kept:.0%}",
            )
    return table


def _kpis(found: Comparison) -> RenderableType:
    table = grid("figure", "answerable", "median error", "largest error", "tolerance", "")
    for one in found.kpis:
        holds = "" if one.holds is None else "✔" if one.holds else "✘"
        row(
            table,
            one.name,
            percent(one.answerable_share) if one.answerable_share else "not answerable any more",
            "–" if one.median_error is None else percent(one.median_error),
            "–" if one.max_error is None else percent(one.max_error),
            "–" if one.tolerance is None else percent(one.tolerance),
            Text(holds, style="green" if one.holds else "red"),
        )
    return table


# ── attacks ───────────────────────────────────────────────────────────────────────────────────────────


def show_attacks(found: Attacks) -> RenderableType:
    """The three legal criteria first, then every attack with its interval, then what was not tested."""
    parts: list[RenderableType] = [_criteria(found), Text(), title("Attacks"), _results(found)]
    if found.untested:
        table = grid("attack", "why")
        for one in found.untested:
            row(table, one.attack, one.why)
        parts += [Text(), title("Not tested"), table]
    scenario = found.scenario
    told = [
        f"The intruder ({scenario.name}: {scenario.preset.title}) {scenario.preset.says}.",
        f"Known: {', '.join(scenario.known)}.",
        f"tried: {_units(found.results)}; without it: the same intruder's success without the release; beyond: "
        f"(rate - without) / (1 - without)",
        f"{found.matched[:1].upper()}{found.matched[1:]}.",
    ]
    by_note: dict[str, list[str]] = {}
    for result in found.results:
        for note in result.notes:
            by_note.setdefault(note, []).append(result.attack)
    own = [f"{', '.join(dict.fromkeys(attacks))}: {note}" for note, attacks in by_note.items()]
    return Group(*parts, Text(), *footnotes([*told, *(f"Note: {note}." for note in (*found.notes, *own))]))


def _units(results: Sequence[AttackResult]) -> str:
    """What was tried; which attacks count otherwise, if some do."""
    units = list(dict.fromkeys(one.unit for one in results)) or ["records"]
    others = [
        f"{', '.join(dict.fromkeys(one.attack for one in results if one.unit == unit))}: {unit}"
        for unit in units[1:]
    ]
    return units[0] + (f" ({'; '.join(others)})" if others else "")


def attacks_as_text(found: Attacks, *, width: int = 110) -> str:
    """The attacks as plain text, for ``print``."""
    return _plain(show_attacks(found), width)


def _criteria(found: Attacks) -> RenderableType:
    body = Text()
    for at, one in enumerate(found.criteria):
        colour, symbol = STATES[one.state]
        body.append("\n\n" if at else "")
        body.append(f"{symbol} {one.title}: {one.state}. ", style=f"bold {colour}")
        body.append(f"{one.question}\n{one.finding}")
    worst = next(STATES[state][0] for state in STATES if any(one.state == state for one in found.criteria))
    return Panel(body, border_style=worst, expand=False)


def _results(found: Attacks) -> RenderableType:
    table = grid("attack", "right / tried", "rate", "95% interval", "without it", "beyond")
    for one in found.results:
        row(
            table,
            f"{one.attack}: {one.target}" if one.target else one.attack,
            f"{_count(one.successes)} / {_count(one.tries)}",
            percent(one.rate),
            f"{one.low:.1%}–{one.high:.1%}",
            percent(one.baseline),
            Text(percent(one.advantage), style="red" if one.better_than_baseline else "green"),
        )
    return table


def _count(value: float) -> str:
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-6 else f"{value:,.1f}"


def beyond(results: tuple[AttackResult, ...], limit: float) -> list[AttackResult]:
    """The attacks that got further than a limit allows, and not by chance."""
    counted = [one for one in results if one.attack not in UPPER_BOUNDS]
    return [one for one in counted if one.better_than_baseline and one.advantage > limit + 1e-12]


# ── frontier ──────────────────────────────────────────────────────────────────────────────────────────


def show_frontier(frontier: Frontier) -> RenderableType:
    """Every setting by rising loss; marks say which are not beaten, chosen, and the knee."""
    table = grid("", "setting", "loss", "suppressed", "mean risk", "largest risk", "value guessed", "classes")
    failed = []
    for one in sorted(frontier.points, key=lambda point: (point.loss is None, point.loss)):
        if one.loss is None or one.mean_risk is None or one.max_risk is None:
            failed.append(f"{one.label}: {one.failed}")
            continue
        marks = ("★" if one.best else "") + ("◆" if one.knee else "") + ("■" if one.chosen else "")
        row(
            table,
            marks,
            one.label,
            number(one.loss),
            percent(one.suppressed_share or 0.0),
            percent(one.mean_risk),
            percent(one.max_risk),
            "–" if one.inference is None else percent(one.inference),
            f"{one.classes:,}",
        )
    told = [
        "★ no other setting is better in both loss and mean risk; ◆ the knee: beyond it more loss buys little; "
        "■ the policy's own setting",
        "value guessed: share of people whose sensitive value is the most frequent of their class",
    ]
    return Group(
        title("Risk against loss"), table, *footnotes([*told, *(f"Failed: {line}." for line in failed)])
    )


def _plain(shown: RenderableType, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().rstrip() + "\n"
