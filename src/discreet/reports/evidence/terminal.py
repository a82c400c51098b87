"""What was lost, what attacks came to, and the frontier between both, for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from discreet.attacks.result import AttackResult
from discreet.measure import Measure
from discreet.release.attack import Attacks
from discreet.release.compare import Comparison
from discreet.release.frontier import Frontier
from discreet.release.legal import State
from discreet.reports.audit.terminal import FEW
from discreet.reports.evidence.loss_tables import best_learner, estimate_text
from discreet.reports.terminal import Explained, footnotes, grid, html, outcome_table, plain, row, title
from discreet.reports.words import amount, number, percent
from discreet.sentences import Sentence

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


def show_comparison(comparison: Comparison, *, brief: bool = False) -> RenderableType:
    """What was lost: overall, per attribute, for queries, figures and learning; ``brief``: overall and what the user asked for."""
    parts: list[RenderableType] = [_loss_headline(comparison)]
    if not brief:
        parts += [Text(), title("Losses"), _losses(comparison)]
        parts += [Text(), title("Each attribute"), _attributes(comparison)]
    if comparison.efficacy and not brief:
        parts += [Text(), title("Learning from the release"), _efficacy(comparison)]
    if comparison.kpis:
        parts += [Text(), title("Your own figures"), _kpis(comparison)]
    if comparison.analyses:
        parts += [Text(), title("Your own analyses"), _analyses(comparison)]
    if brief:
        return Group(*parts, *footnotes([f"Note: {note}." for note in comparison.notes]))
    told = [
        "trivial: the release that shows no quasi-identifier at all; being hardly better than it is not worth the "
        "effort",
        *(
            ["kept –: the original itself teaches no more than how frequent the values are, within chance"]
            if any(
                math.isnan(learner.relative(m)) for learner in comparison.efficacy for m in learner.release
            )
            else []
        ),
        f"{comparison.matched[:1].upper()}{comparison.matched[1:]}.",
    ]
    learned = dict.fromkeys(
        f"learning {learner.label}: {note}" for learner in comparison.efficacy for note in learner.notes
    )
    return Group(
        *parts, Text(), *footnotes([*told, *(f"Note: {note}." for note in (*comparison.notes, *learned))])
    )


def comparison_as_text(comparison: Comparison, *, width: int = 110) -> str:
    """The comparison as plain text, for ``print``."""
    return plain(show_comparison(comparison), width)


def _loss_headline(comparison: Comparison) -> RenderableType:
    body = Text()
    loss = comparison.losses.measure("leaf-loss")
    if loss is not None and not math.isnan(loss.value):
        body.append(f"{percent(loss.value)} of the quasi-identifiers' detail is lost", style="bold")
        body.append(" (0% nothing, 100% all).\n")
    body.append(f"{comparison.rows[1]:,} of {comparison.rows[0]:,} rows are in the release.")
    best = best_learner(comparison)
    if best is not None:
        body.append(f"\n{best.meaning}")
    failed = [kpi for kpi in comparison.kpis if kpi.holds is False]
    if comparison.kpis:
        body.append(
            f"\n{len(comparison.kpis) - len(failed)} of {len(comparison.kpis)} of your own figures are within their tolerance."
        )
    return Panel(body, border_style="cyan", expand=False)


def _value(measure: Measure | None) -> str:
    if measure is None or math.isnan(measure.value):
        return "–"
    return number(measure.value)


def _losses(comparison: Comparison) -> RenderableType:
    rows = []
    for name in MAIN_LOSSES:
        measure = comparison.losses.measure(name)
        if measure is not None:
            lost, trivial = _value(measure), _value(comparison.losses.baseline(name))
            line = Text.assemble((name, "bold"), f": {lost}, trivial {trivial}; {measure.better} is better")
            rows.append(((name, lost, trivial, measure.better, measure.meaning), line))
    return Explained(("measure", "release", "trivial", "better", "what it means"), rows)


def _attributes(comparison: Comparison) -> RenderableType:
    heads = ("leaf-loss", "certainty-penalty", "emd", "hellinger")
    table = grid("attribute", *heads)
    for name in dict.fromkeys(measure.attribute or "" for measure in comparison.losses.attributes):
        row(table, name, *(_value(comparison.losses.measure(head, name)) for head in heads))
    return table


def _efficacy(comparison: Comparison) -> RenderableType:
    table = grid("predicts", "classifier", "score", "release", "original", "majority", "kept")
    for learner in comparison.efficacy:
        for metric, score in learner.release.items():
            kept = learner.relative(metric)
            row(
                table,
                learner.label,
                learner.classifier,
                metric,
                f"{score.value:.3f} ({score.low:.3f}–{score.high:.3f})",
                f"{learner.original[metric].value:.3f}",
                f"{learner.majority[metric].value:.3f}",
                "–" if math.isnan(kept) else f"{kept:.0%}",
            )
    return table


def _kpis(comparison: Comparison) -> RenderableType:
    table = grid("figure", "answerable", "median error", "largest error", "tolerance", "")
    for kpi in comparison.kpis:
        holds = "" if kpi.holds is None else "✔" if kpi.holds else "✘"
        row(
            table,
            kpi.name,
            percent(kpi.answerable_share) if kpi.answerable_share else "not answerable any more",
            "–" if kpi.median_error is None else percent(kpi.median_error),
            "–" if kpi.max_error is None else percent(kpi.max_error),
            "–" if kpi.tolerance is None else percent(kpi.tolerance),
            Text(holds, style="green" if kpi.holds else "red"),
        )
    return table


def _analyses(comparison: Comparison) -> RenderableType:
    table = grid("analysis", "term", "original", "release", "overlap")
    for analysis in comparison.analyses:
        if analysis.reason:
            row(table, analysis.name, analysis.reason, "", "", "0%")
            continue
        row(table, analysis.name, "all", "", "", percent(analysis.overlap))
        for each in analysis.coefficients:
            row(
                table,
                "",
                each.term,
                estimate_text(each.original),
                "–" if each.released is None else estimate_text(each.released),
                percent(each.overlap),
            )
    return table


# ── attacks ───────────────────────────────────────────────────────────────────────────────────────────


def show_attacks(attacks: Attacks, *, full: bool = False) -> RenderableType:
    """The three legal criteria first, then every attack with its interval, then what was not tested."""
    parts: list[RenderableType] = [_criteria(attacks), Text(), title("Attacks"), _results(attacks, full=full)]
    if attacks.untested:
        parts += [Text(), title("Not tested"), _untested(attacks, full=full)]
    scenario = attacks.scenario
    told = [
        f"The intruder ({scenario.name}: {scenario.preset.title}) {scenario.preset.says}.",
        f"Known: {', '.join(scenario.known)}.",
        f"tried: {_units(attacks.results)}; without it: the same intruder's success without the release; beyond: "
        f"(rate - without) / (1 - without)",
        f"{attacks.matched[:1].upper()}{attacks.matched[1:]}.",
    ]
    by_note: dict[str, list[str]] = {}
    for result in attacks.results:
        for note in result.notes:
            by_note.setdefault(note, []).append(result.attack)
    own = [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in by_note.items()]
    return Group(*parts, Text(), *footnotes([*told, *(f"Note: {note}." for note in (*attacks.notes, *own))]))


def _units(results: Sequence[AttackResult]) -> str:
    """What was tried; which attacks count otherwise, if some do."""
    units = list(dict.fromkeys(result.unit for result in results)) or ["records"]
    others = [
        f"{', '.join(dict.fromkeys(result.attack for result in results if result.unit == unit))}: {unit}"
        for unit in units[1:]
    ]
    return units[0] + (f" ({'; '.join(others)})" if others else "")


def attacks_as_text(attacks: Attacks, *, width: int = 110) -> str:
    """The attacks as plain text, for ``print``."""
    return plain(show_attacks(attacks), width)


def _criteria(attacks: Attacks) -> RenderableType:
    body = Text()
    for at, criterion in enumerate(attacks.criteria):
        colour, symbol = STATES[criterion.state]
        body.append("\n\n" if at else "")
        body.append(f"{symbol} {criterion.title}: {criterion.state}. ", style=f"bold {colour}")
        body.append(f"{criterion.question}\n{criterion.finding}")
    worst = next(
        STATES[state][0]
        for state in STATES
        if any(criterion.state == state for criterion in attacks.criteria)
    )
    return Panel(body, border_style=worst, expand=False)


def _results(attacks: Attacks, *, full: bool) -> RenderableType:
    """Each attack with its interval; in short one that aims at many attributes where it got furthest."""
    table = grid("attack", "right / tried", "rate", "95% interval", "without it", "beyond")
    alike: dict[str, list[AttackResult]] = {}
    for result in attacks.results:
        alike.setdefault(result.attack, []).append(result)
    left = 0
    for name, results in alike.items():
        furthest = max(results, key=lambda result: (result.better_than_baseline, result.advantage))
        shown = results if full or len(results) <= FEW else [furthest]
        left += len(results) - len(shown)
        for result in shown:
            row(
                table,
                f"{name}: {result.target}" if result.target else name,
                f"{amount(result.successes)} / {amount(result.tries)}",
                percent(result.rate),
                f"{result.low:.1%}–{result.high:.1%}",
                percent(result.baseline),
                Text(percent(result.advantage), style="red" if result.better_than_baseline else "green"),
            )
    return Group(
        table, *footnotes([f"And {left} more that got no further (--full shows all)."] if left else [])
    )


def _untested(attacks: Attacks, *, full: bool) -> RenderableType:
    """Attacks that were not run, by the reason; in short without the names of many attributes."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for attack in attacks.untested:
        given = attack.why
        parts = given.parameters if isinstance(given, Sentence) else {}
        whole = {"sensitive", "why"} != parts.keys()
        told = parts.get("why", ())
        # There may be several reasons, one for each earlier release.
        each = told if isinstance(told, tuple) else (told,)
        why, on = (given, "") if whole else ("; ".join(map(str, each)), str(parts["sensitive"]))
        reasons.setdefault(why, {}).setdefault(attack.attack, []).extend([on] if on else [])
    table = grid("attack", "why")
    for why, tried in reasons.items():
        named = [
            f"{attack} ({', '.join(on) if full or len(on) <= FEW else f'{len(on)} attributes'})"
            if on
            else attack
            for attack, on in tried.items()
        ]
        row(table, ", ".join(named), why)
    return table


# ── frontier ──────────────────────────────────────────────────────────────────────────────────────────


def show_frontier(frontier: Frontier) -> RenderableType:
    """Every setting by rising loss; marks say which are not beaten, chosen, and the knee."""
    told = [
        "★ no other setting is better in both loss and mean risk; ◆ the knee: beyond it more loss buys little; "
        "■ the policy's own setting",
        "value guessed: share of people whose sensitive value is the most frequent of their class",
        *frontier.notes,
    ]
    return outcome_table(frontier.points, "setting", told)


def frontier_as_text(frontier: Frontier, *, width: int = 110) -> str:
    """The frontier as plain text, for ``print(frontier)``."""
    return plain(show_frontier(frontier), width)


def frontier_as_html(frontier: Frontier) -> str:
    """The frontier as a notebook shows it: the picture, then the numbers."""
    return frontier.chart() + html(show_frontier(frontier))
