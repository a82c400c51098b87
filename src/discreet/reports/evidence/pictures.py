"""What the pictures of loss and exposure show and say: data, a sentence computed from them, and a table beside."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from discreet.attacks.result import AttackResult
from discreet.measure import Measure
from discreet.release.attack import Attacks
from discreet.release.before_after import Bin, Distribution
from discreet.release.compare import Comparison
from discreet.release.legal import TITLES, TOLERATED
from discreet.reports.charts import bar, points
from discreet.reports.charts.cells import Cell, heatmap, step
from discreet.reports.figures import Figures, Picture, drawn_share, figures_of, involved, partly, short_label
from discreet.reports.words import became, between, listed, percent, title_of
from discreet.sentences import Sentence
from discreet.utility.losses import Losses

MOST_ATTRIBUTES = 16
"""Attributes that are drawn; tables have all."""
MOST_RELATED = 10
"""Attributes that the picture of relations shows: those whose relations changed most."""
LOSS_NAMES = ("leaf-loss", "certainty-penalty", "total-variation")
"""Measures of loss from 0 to 1, in the order in which one that is defined is drawn."""
STEPS = (0.03, 0.1, 0.2, 0.4)
"""Differences of an association from which on a cell gets the next darker colour."""
SPREAD = "released values spread evenly over what they may stand for: Kifer and Gehrke 2006"


def edition_figures(comparison: Comparison, *, public: bool) -> Figures:
    """Shares reckon with the original's rows; with the release's where their difference would tell of a few people."""
    before, after = comparison.rows
    return figures_of(before, after, few=before - after, public=public)[0]


def figures_for(result: AttackResult, *, public: bool) -> Figures:
    """Numbers about the people on whom an attack was tried."""
    return Figures(max(round(result.tries), 1), public=public)


def hidden(result: AttackResult, *, public: bool) -> bool:
    """Whether successes or failures are so few people that the public edition gives only a bound."""
    figures = figures_for(result, public=public)
    return figures.few(result.successes) or figures.few(result.tries - result.successes)


def beyond_chance(result: AttackResult, rate: float) -> float:
    """What a success rate is beyond that without the release: (rate - baseline) / (1 - baseline), at least 0.

    >>> found = AttackResult("homogeneity", "inference", tries=100, successes=30, baseline=0.2, meaning="…")
    >>> round(beyond_chance(found, 0.3), 3), beyond_chance(found, 0.1)
    (0.125, 0.0)
    """
    room = 1.0 - result.baseline
    return max((rate - result.baseline) / room, 0.0) if room > 1e-12 else 0.0


def advantage_text(result: AttackResult, *, public: bool) -> str:
    """The advantage as it may be told: not where it would betray how many a few are."""
    figures = figures_for(result, public=public)
    if figures.few(result.tries - result.successes):
        return "withheld"
    return figures.share(result.advantage)


def interval_text(result: AttackResult, *, public: bool) -> str:
    """The interval of the success rate as it may be told."""
    if hidden(result, public=public):
        return "withheld"
    return between(percent(result.low), percent(result.high))


def baseline_told(result: AttackResult, *, public: bool) -> bool:
    """Whether the success without the release may be told.

    That of an attack on classes is weighted by the people of the fallen ones, so it betrays how many these are.
    """
    return not (hidden(result, public=public) and result.criterion == "inference" and result.fallen)


def drawn_loss(losses: Losses) -> Measure | None:
    """The loss that stands for all others: the first that is defined; ``None`` if none is."""
    candidates = (losses.measure(name) for name in LOSS_NAMES)
    return next((measure for measure in candidates if known_value(measure) is not None), None)


def known_value(measure: Measure | None) -> float | None:
    """The value of a measure, if it has one."""
    return None if measure is None or math.isnan(measure.value) else measure.value


# ── loss against exposure ─────────────────────────────────────────────────────────────────────────────


def loss_and_exposure(comparison: Comparison, attacks: Attacks, *, public: bool) -> Picture | None:
    """What was lost against how far the best attack on each criterion got; ``None`` if either is not known."""
    loss = drawn_loss(comparison.losses)
    worst = [criterion.worst for criterion in attacks.criteria if criterion.worst is not None]
    if loss is None or not worst:
        return None
    figures = edition_figures(comparison, public=public)
    reached = [_reach(result, public=public) for result in worst]
    value, trivial = loss.value, known_value(comparison.losses.baseline(loss.name))
    furthest = max(worst, key=lambda result: (result.better_than_baseline, result.advantage))
    takeaway = Sentence("{lost} is lost, and no attack got further than chance.", lost=figures.share(value))
    if furthest.better_than_baseline:
        takeaway = Sentence(
            "{lost} is lost, and the attack that got furthest ({attack}) is {advantage} of the way from chance to "
            "certainty.",
            lost=figures.share(value),
            attack=Sentence(title_of(furthest.attack)),
            advantage=advantage_text(furthest, public=public),
        )
    return Picture(
        id="loss-and-exposure",
        title="Loss against exposure",
        takeaway=takeaway,
        alternative=Sentence(
            "This release loses {lost}. {each: }",
            lost=figures.share(value),
            each=tuple(
                Sentence(
                    "{titles}: {result} beyond chance.",
                    titles=Sentence(TITLES[result.criterion]),
                    result=advantage_text(result, public=public),
                )
                for result in worst
            ),
        ),
        explanation=Sentence(
            "To the right: more is lost. Upwards: attacks get further beyond what they reach without the "
            "release. Points: the best attack on each criterion, with its 95% interval; filled: the "
            "furthest. Red line: the {tolerated:.0%} that are tolerated for public releases of clinical "
            "data (EMA policy 0070, Health Canada). Upright lines: the unchanged original and the "
            "release that shows no quasi-identifier; only their loss is known, their exposure was not "
            "measured. Best is the lower left corner.",
            tolerated=TOLERATED,
        ),
        svg=points.loss_against_exposure(
            reached,
            loss=drawn_share(min(value, 1.0), figures),
            loss_title=Sentence("loss ({name})", name=loss.name),
            trivial=trivial,
            tolerated=TOLERATED,
        ),
        columns=("Release", "Loss", "Criterion", "Beyond chance", "95% interval of the rate"),
        rows=(
            ("the original", "0%", "all", "not measured", ""),
            *(
                (
                    "this release",
                    figures.share(value),
                    TITLES[result.criterion],
                    advantage_text(result, public=public),
                    interval_text(result, public=public),
                )
                for result in worst
            ),
            (
                "shows nothing",
                "not known" if trivial is None else percent(trivial),
                "all",
                "not measured",
                "",
            ),
        ),
        source=f"risk-utility map: Duncan, Keller-McNulty, Stokes 2001; loss: {loss.source}; beyond chance: "
        "(rate - baseline) / (1 - baseline)",
        note="A point of a few people stands at the bound that is told of them." if public else "",
    )


def _reach(result: AttackResult, *, public: bool) -> points.Reach:
    name = TITLES[result.criterion]
    if hidden(result, public=public):
        shown = drawn_share(result.rate, figures_for(result, public=public))
        return points.Reach(name, beyond_chance(result, shown), None, None)
    return points.Reach(
        name,
        result.advantage,
        beyond_chance(result, result.low),
        beyond_chance(result, result.high),
    )


# ── before and after ──────────────────────────────────────────────────────────────────────────────────


def moved(comparison: Comparison, *, public: bool) -> Picture | None:
    """How far the distribution of each attribute moved: quasi-identifiers and sensitive attributes."""
    figures = edition_figures(comparison, public=public)
    known = [
        measure
        for measure in comparison.losses.attributes
        if measure.name == "total-variation" and not math.isnan(measure.value)
    ]
    if not known:
        return None
    items = sorted(known, key=lambda measure: -measure.value)
    shown = items[:MOST_ATTRIBUTES]
    worst = items[0]
    takeaway = (
        Sentence(
            "{attribute} moved most: {value} of its values would have to change back.",
            attribute=worst.attribute,
            value=figures.share(worst.value),
        )
        if worst.value > 1e-12
        else "No distribution moved."
    )
    return Picture(
        id="moved",
        title="How far each distribution moved",
        takeaway=takeaway,
        alternative=Sentence(
            "{each: }",
            each=tuple(
                Sentence("{name}: {share}.", name=str(measure.attribute), share=figures.share(measure.value))
                for measure in shown
            ),
        ),
        explanation="The share of an attribute's values that would have to change to get the original distribution "
        "back, for someone who spreads released values evenly over what they may stand for. Less is better.",
        svg=bar.bars(
            [
                bar.Bar(
                    str(measure.attribute), drawn_share(measure.value, figures), figures.share(measure.value)
                )
                for measure in shown
            ],
            title="share of values that moved",
        ),
        columns=("Attribute", "Moved"),
        rows=tuple((str(measure.attribute), figures.share(measure.value)) for measure in items),
        source=f"total variation: {worst.source}; {SPREAD}",
        note=partly(len(shown), len(items), "attributes that moved most"),
    )


def distributions(comparison: Comparison) -> list[Picture]:
    """The values of each attribute before and after: for the internal edition only."""
    return [
        _distribution(distribution, at)
        for at, distribution in enumerate(comparison.distributions[:MOST_ATTRIBUTES])
    ]


def _distribution(distribution: Distribution, at: int) -> Picture:
    texts = [became(percent(part.before), percent(part.after)) for part in distribution.bins]
    furthest = max(distribution.bins, key=lambda part: abs(part.after - part.before))
    gap = furthest.after - furthest.before
    takeaway = "Its distribution is as it was."
    if abs(gap) >= 5e-4:
        label, points = short_label(furthest.label), 100 * abs(gap)
        takeaway = (
            Sentence(
                "“{label}” changed most: it gained {points:.1f} percentage points.",
                label=label,
                points=points,
            )
            if gap > 0
            else Sentence(
                "“{label}” changed most: it lost {points:.1f} percentage points.", label=label, points=points
            )
        )
    return Picture(
        id=f"distribution-{at}",
        title=Sentence("{name} ({role})", name=distribution.name, role=Sentence(distribution.role)),
        takeaway=takeaway,
        alternative=Sentence(
            "{each: }",
            each=tuple(
                Sentence("{label}: {text}.", label=short_label(part.label), text=text)
                for part, text in zip(distribution.bins, texts, strict=True)
            ),
        ),
        explanation="Pale: the original. Dark: what the release implies. The nearer both are, the better.",
        svg=bar.before_after(
            [Bin(short_label(part.label), part.before, part.after) for part in distribution.bins], texts=texts
        ),
        columns=("Value", "Original", "Release"),
        rows=tuple(
            (short_label(part.label), percent(part.before), percent(part.after)) for part in distribution.bins
        ),
        source=SPREAD,
    )


# ── relations ─────────────────────────────────────────────────────────────────────────────────────────


def relations(comparison: Comparison) -> Picture | None:
    """How much the association of every two attributes changed."""
    matrices = comparison.losses.matrices
    measure = "cramers-v"
    change = matrices.difference(measure)
    pairs = [pair for pair in combinations(range(len(matrices.names)), 2) if not np.isnan(change[pair])]
    if not pairs:
        return None
    order = sorted(pairs, key=lambda pair: (-abs(float(change[pair])), pair))
    shown = involved(order, MOST_RELATED)
    drawn = set(shown)
    i, j = order[0]
    gap = float(change[i, j])
    takeaway = "No association between two attributes changed."
    if abs(gap) >= 0.005:
        told = {"first": matrices.names[i], "second": matrices.names[j], "gap": abs(gap)}
        takeaway = (
            Sentence(
                "{first} and {second} changed most: their association grew by {gap:.2f} on a scale from 0 to 1.",
                **told,
            )
            if gap > 0
            else Sentence(
                "{first} and {second} changed most: their association fell by {gap:.2f} on a scale from 0 to 1.",
                **told,
            )
        )
    return Picture(
        id="relations",
        title="What became of relations",
        takeaway=takeaway,
        alternative="Table of differences of Cramér's V between every two attributes; the numbers are in the table below.",
        explanation="Association (Cramér's V) in the release minus that in the original: near 0 is good, below 0 the "
        "release hides a relation, above 0 it shows one that was weaker. Released values count as categories of "
        "their own: where classes were changed differently, columns look more related than they are.",
        svg=heatmap(
            [
                Cell(
                    matrices.names[b],
                    matrices.names[a],
                    _signed(float(change[a, b])),
                    step(abs(float(change[a, b])), STEPS),
                )
                for a, b in pairs
                if a in drawn and b in drawn
            ],
            rows=[matrices.names[at] for at in shown[1:]],
            columns=[matrices.names[at] for at in shown[:-1]],
            widest=64,
        ),
        columns=("Attributes", "Original", "Release", "Difference"),
        rows=tuple(
            (
                listed([matrices.names[a], matrices.names[b]]),
                f"{matrices.before[measure][a, b]:.3f}",
                f"{matrices.after[measure][a, b]:.3f}",
                _signed(float(change[a, b]), 3),
            )
            for a, b in order[:30]
        ),
        source="Cramér 1946, plain V without bias correction",
        note=partly(len(shown), len(matrices.names), "attributes whose relations changed most"),
    )


def _signed(value: float, digits: int = 2) -> str:
    """A difference with its sign; nothing has none.

    >>> _signed(-0.123), _signed(0.5), _signed(0.001)
    ('−0.12', '+0.50', '0')
    """
    if round(abs(value), digits) == 0:
        return "0"
    return f"{value:+.{digits}f}".replace("-", "−")
