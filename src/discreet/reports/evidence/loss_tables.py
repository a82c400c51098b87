"""The tables of what was lost: losses, queries, own figures and learning."""

from __future__ import annotations

import math

import numpy as np

from discreet.measure import Measure
from discreet.release.compare import Comparison
from discreet.reports.charts.scale import whisker
from discreet.reports.evidence.pictures import edition_figures
from discreet.reports.figures import Figures, Row, RowGroup, drawn_share
from discreet.reports.words import Tone, between, number, percent
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.sentences import Sentence
from discreet.utility.efficacy import METRICS, Efficacy, Metric, Score
from discreet.utility.kpi import SOURCE as KPI_SOURCE
from discreet.utility.kpi import KpiResult
from discreet.utility.measures import MEASURES
from discreet.utility.regression import SOURCE as ANALYSIS_SOURCE
from discreet.utility.regression import AnalysisResult, FittedTerm
from discreet.utility.workload import AGGREGATES

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
MOST_GROUPS = 50
SCORES = {"accuracy": "accuracy", "macro-f1": "F1, mean over values", "auc": "area under the ROC curve"}


def losses(comparison: Comparison, *, public: bool) -> list[RowGroup]:
    """All measures of loss by family: overall, of the release that shows nothing, and per attribute."""
    figures = edition_figures(comparison, public=public)
    results = comparison.losses
    first: dict[str, Measure] = {}
    for measure in (*results.overall, *results.attributes):
        first.setdefault(measure.name, measure)
    groups: dict[str, list[Row]] = {entry.definition.family: [] for entry in MEASURES.values()}
    for name, measure in first.items():
        groups[MEASURES[name].definition.family].append(
            {
                "name": name,
                "unit": measure.unit,
                "direction": "lower is better" if measure.better == "lower" else "higher is better",
                "release": _loss(results.measure(name), figures),
                "trivial": _loss(results.baseline(name), figures),
                "meaning": measure.meaning,
                "source": measure.source,
                "notes": measure.notes,
                "parts": tuple(
                    (str(part.attribute), _loss(part, figures))
                    for part in results.attributes
                    if part.name == name
                ),
            }
        )
    return [RowGroup(family, tuple(rows)) for family, rows in groups.items() if rows]


def _loss(measure: Measure | None, figures: Figures) -> str:
    """A value; in public a share as it may be told, and anything else with two digits, which betray nobody."""
    if measure is None:
        return "per attribute"
    value = measure.value
    if math.isnan(value):
        return "not defined"
    if not figures.public or math.isinf(value) or value == 0:
        return number(value)
    if 0 < value <= 1 and measure.unit.startswith("share"):
        return figures.share(value)
    if figures.few(round(value * figures.total, 6)):
        return Sentence("less than {bound:.2g}", bound=SMALL_GROUP / figures.total)
    return number(float(f"{value:.2g}"))


def queries(comparison: Comparison) -> list[Row]:
    """The relative errors of random queries: quantiles for counts, sums and means."""
    rows = []
    for aggregate in AGGREGATES:
        errors = comparison.losses.workload.errors[aggregate]
        if len(errors):
            rows.append(
                {
                    "kind": {
                        "count": "How many people …?",
                        "sum": "What is the sum …?",
                        "average": "What is the mean …?",
                    }[aggregate],
                    "queries": f"{len(errors):,}",
                    "errors": tuple(percent_of_error(float(np.quantile(errors, q))) for q in QUANTILES),
                }
            )
    return rows


def percent_of_error(error: float) -> str:
    """A relative error as a percentage, which may be above 100.

    >>> percent_of_error(0.025), percent_of_error(1.5), percent_of_error(0.0)
    ('2.5%', '150.0%', '0%')
    """
    return percent(error) if error < 1.0 else f"{error:,.1%}"


def kpis(comparison: Comparison, *, public: bool) -> list[Row]:
    """The user's own figures; what the release cannot tell any more is said in words."""
    return [_kpi(kpi, public=public) for kpi in comparison.kpis]


def _kpi(kpi: KpiResult, *, public: bool) -> Row:
    answer = "not answerable any more"
    if kpi.answerable:
        answer = "answerable" if len(kpi.groups) == 1 else "answerable for every group"
    elif kpi.errors:
        answer = Sentence(
            "answerable for {answerable_share} of the groups, the others not any more",
            answerable_share=percent(kpi.answerable_share),
        )
    tones: dict[bool | None, tuple[Tone | None, str]] = {
        True: ("good", "within tolerance"),
        False: ("bad", "outside tolerance"),
        None: (None, "no tolerance named"),
    }
    tone, holds = tones[kpi.holds]
    return {
        "name": kpi.name,
        "description": "" if public else kpi.description,
        "answer": answer,
        "median": "–" if kpi.median_error is None else percent_of_error(kpi.median_error),
        "largest": "–" if kpi.max_error is None else percent_of_error(kpi.max_error),
        "tolerance": "–" if kpi.tolerance is None else percent_of_error(kpi.tolerance),
        "tone": tone,
        "holds": holds,
        "reason": "" if public else kpi.reason,
        "by": ", ".join(kpi.by),
        "groups": ()
        if public
        else tuple(
            (
                ", ".join("∅" if part is None else part for part in group.key) or "all",
                number(group.original),
                "not answerable any more" if group.released is None else number(group.released),
                "–"
                if group.error is None
                else number(group.error)
                if group.absolute
                else percent_of_error(group.error),
            )
            for group in kpi.groups[:MOST_GROUPS]
        ),
        "more": max(0, len(kpi.groups) - MOST_GROUPS),
        "source": KPI_SOURCE,
    }


def analyses(comparison: Comparison, *, public: bool) -> list[Row]:
    """The user's own regressions; terms may name values, so that the public edition tells how well all of them agree."""
    return [_analysis(analysis, public=public) for analysis in comparison.analyses]


def _analysis(analysis: AnalysisResult, *, public: bool) -> Row:
    return {
        "name": analysis.name,
        "model": f"{analysis.model} model",
        "overlap": percent(analysis.overlap),
        "least": percent(analysis.least.overlap),
        "reason": analysis.reason,
        "terms": ()
        if public
        else tuple(
            (
                each.term,
                estimate_text(each.original),
                "not answerable any more" if each.released is None else estimate_text(each.released),
                percent(each.overlap),
            )
            for each in analysis.coefficients[:MOST_GROUPS]
        ),
        "more": max(0, len(analysis.coefficients) - MOST_GROUPS),
        "source": ANALYSIS_SOURCE,
    }


def estimate_text(estimate: FittedTerm) -> str:
    """A coefficient with its interval.

    >>> estimate_text(FittedTerm(1.5, 0.25, 1.0, 2.0))
    '1.5 (1 to 2)'
    """
    value, low, high = (
        number(float(f"{part:.4g}")) for part in (estimate.value, estimate.low, estimate.high)
    )
    return Sentence("{value} ({low} to {high})", value=value, low=low, high=high)


def learning(comparison: Comparison, *, public: bool) -> list[Row]:
    """What can be learnt from the release, between the original (U_max) and the most frequent value (U_base)."""
    return [
        {
            "title": Sentence(
                "{label}, by {classifier}",
                label=learner.label,
                classifier=Sentence(learner.classifier.replace("-", " ").replace("bayes", "Bayes")),
            ),
            "meaning": "" if public else learner.meaning,
            "notes": () if public else learner.notes,
            "source": learner.source,
            "rows": tuple(_learnt(learner, metric, public=public) for metric in METRICS),
        }
        for learner in comparison.efficacy
    ]


def _learnt(learner: Efficacy, metric: Metric, *, public: bool) -> Row:
    """One score; in public without intervals, from which a few people could be reckoned."""
    figures = Figures(max(learner.tested, 1), public=public)
    release, original = learner.release[metric], learner.original[metric]
    majority, trivial = learner.majority[metric], learner.trivial[metric]
    kept = learner.relative(metric)
    picture = ""
    if not math.isnan(release.value):
        others = [score.value for score in (majority, original) if not math.isnan(score.value)]
        picture = whisker(
            drawn_share(release.value, figures),
            low=None if public else release.low,
            high=None if public else release.high,
            marks=[drawn_share(value, figures) for value in others],
        )
    return {
        "metric": SCORES[metric],
        "picture": picture,
        "release": _score(release, figures),
        "interval": "" if public or not picture else between(percent(release.low), percent(release.high)),
        "original": _score(original, figures),
        "majority": _score(majority, figures),
        "trivial": _score(trivial, figures),
        "kept": kept_text(kept),
    }


def kept_text(kept: float) -> str:
    """What a release kept of what the original teaches; less than no data would teach is below 0."""
    return "nothing to keep" if math.isnan(kept) else f"{kept:.0%}".replace("-", "−")


def best_learner(comparison: Comparison) -> Efficacy | None:
    """The classifier that learns most from the original, beyond how frequent values are."""

    def gain(learner: Efficacy) -> float:
        return learner.original["accuracy"].value - learner.majority["accuracy"].value

    return max(comparison.efficacy, key=gain, default=None)


def _score(score: Score, figures: Figures) -> str:
    return "not defined" if math.isnan(score.value) else figures.share(score.value)
