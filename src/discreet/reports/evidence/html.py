"""The evidence report: what was lost and what attacks came to, on one self-contained page.

It says first which of the three legal criteria held, then shows loss against exposure, then everything that this
rests on, and last what was not tested.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from discreet.errors import InvalidParameter
from discreet.files.writing import refuse_clashes, write_text
from discreet.policy import Policy
from discreet.release import legal
from discreet.release.attack import Attacks
from discreet.release.compare import Comparison
from discreet.reports.evidence import loss_tables
from discreet.reports.evidence import pictures as evidence_pictures
from discreet.reports.evidence import tables as evidence_tables
from discreet.reports.evidence.pictures import advantage_text, drawn_loss, edition_figures, known_value
from discreet.reports.figures import Figures, Picture
from discreet.reports.html import page
from discreet.reports.words import SYMBOLS, Edition, Tone, became, moment, number, percent, title_of
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.sentences import Sentence
from discreet.utility.kpi import SOURCE as KPI_SOURCE

LEFT_OUT = (
    "values of any column, and with them the distributions before and after, the most exposed people and the groups "
    "of your own figures",
    Sentence(
        "counts of people or records below {small_group}, and shares and intervals that would betray "
        "such a count",
        small_group=SMALL_GROUP,
    ),
    "exact numbers of losses that are no shares: they have two digits",
    "the fingerprint of the original, notes, and what single attacks say in words",
)

LIMITS = (
    (
        "Only the attacks in the table were run.",
        "That a criterion withstood means that these attacks, with this knowledge, on these records got no further "
        "than without the release. A better attack may exist.",
    ),
    (
        "The intruder is taken to know what is named, and nothing else.",
        "Someone who knows another column, or other tables about the same people, may get further.",
    ),
    (
        "An interval speaks of chance only.",
        "It says how far the rate could be off if the people attacked are a sample of those who could be. It does "
        "not speak of attacks that were not tried.",
    ),
    (
        "A criterion that gives way is no verdict.",
        "Every release that is of use says something. Whether that is acceptable is decided by the profile, by the "
        "purpose, and by whoever signs.",
    ),
    (
        "Loss is measured in general.",
        "What a release is good for depends on what it is used for. Figures of your own in the policy say that better "
        "than any general measure.",
    ),
    (
        "The report speaks of the files that were read.",
        "A changed file, further rows or other rounding need a report of their own.",
    ),
)
"""What the evidence does not say."""

WORDS: dict[legal.State, tuple[Tone, str]] = {
    "gives way": ("bad", "Attacks got clearly further with this release than without it."),
    "weakened": ("warn", "Attacks got a little further with this release than without it."),
    "not tested": ("warn", "Not every criterion was tested."),
    "withstood": ("good", "The attacks that were run did not profit from this release."),
}
"""What is said of a release, by its worst criterion: the first of these states that occurs."""


def evidence_report(
    path: str | PathLike[str],
    *,
    comparison: Comparison | None = None,
    attacks: Attacks | None = None,
    policy: Policy,
    edition: Edition = "internal",
    language: str = "en",
) -> Path:
    """Write loss and exposure as one HTML file that needs nothing else: no script, no network, under 1 MB.

    Either of ``comparison`` and ``attacks`` may be missing; the page says so. The ``internal`` edition shows
    distributions and the most exposed people; the ``public`` one shows no value of any column and no count of a
    few people, and says so. ``language``: ``en`` or ``de``.
    """
    read = [] if comparison is None else [*comparison.original.files, *comparison.release.files]
    refuse_clashes([Path(path)], [*read, *([] if attacks is None else attacks.source.files)])
    return write_text(
        Path(path),
        render_evidence(
            comparison=comparison, attacks=attacks, policy=policy, edition=edition, language=language
        ),
    )


def render_evidence(
    *,
    comparison: Comparison | None,
    attacks: Attacks | None,
    policy: Policy,
    edition: Edition = "internal",
    language: str = "en",
) -> str:
    """The evidence report as HTML text."""
    from markupsafe import Markup

    if comparison is None and attacks is None:
        raise InvalidParameter("there is nothing to report", remedy="give a comparison, attacks, or both")
    public = edition == "public"
    map_of = (
        evidence_pictures.loss_and_exposure(comparison, attacks, public=public)
        if comparison is not None and attacks is not None
        else None
    )
    shapes = [] if comparison is None or public else evidence_pictures.distributions(comparison)
    others = [] if comparison is None else _overviews(comparison, public=public)
    return page(
        "evidence.html.jinja",
        {
            "public": public,
            "left_out": LEFT_OUT,
            "symbols": SYMBOLS,
            "name": _name(comparison, attacks),
            "names": policy.names,
            "facts": facts(comparison, attacks, public=public),
            **judgement(attacks),
            "criteria": [] if attacks is None else evidence_tables.criteria(attacks, public=public),
            "criteria_source": legal.SOURCE,
            "tolerated": f"{legal.TOLERATED:.0%}",
            "audit_words": None if attacks is None else attacks.audit.verdict.words,
            "profile": None if attacks is None else attacks.audit.verdict.profile,
            "key_figures": key_figures(comparison, attacks, public=public),
            "map": map_of,
            "overviews": others,
            "shapes": shapes,
            "shapes_note": "" if comparison is None or public else _left_out(comparison),
            "drawn": Markup,
            "scenario": None if attacks is None else attacks.scenario,
            "attacks": [] if attacks is None else evidence_tables.attack_groups(attacks, public=public),
            "exposed": [] if attacks is None or public else evidence_tables.exposed(attacks),
            "untested": [] if attacks is None else evidence_tables.untested(attacks, public=public),
            "no_attacks": attacks is None,
            "no_comparison": comparison is None,
            "defences": evidence_tables.defences(policy),
            "defences_source": legal.DEFENCES_SOURCE,
            "losses": [] if comparison is None else loss_tables.losses(comparison, public=public),
            "queries": [] if comparison is None else loss_tables.queries(comparison),
            "unanswered": "" if comparison is None else _unanswered(comparison),
            "quantiles": [f"{q:.0%}" for q in loss_tables.QUANTILES],
            "kpis": [] if comparison is None else loss_tables.kpis(comparison, public=public),
            "analyses": [] if comparison is None else loss_tables.analyses(comparison, public=public),
            "learning": [] if comparison is None else loss_tables.learning(comparison, public=public),
            "limits": LIMITS,
            "notes": [] if public else _notes(comparison, attacks),
            "made_with": evidence_tables.provenance(comparison, attacks, public=public),
        },
        (*others, *shapes, *([map_of] if map_of else [])),
        language=language,
    )


def _overviews(comparison: Comparison, *, public: bool) -> list[Picture]:
    drawn = (evidence_pictures.moved(comparison, public=public), evidence_pictures.relations(comparison))
    return [picture for picture in drawn if picture is not None]


def judgement(attacks: Attacks | None) -> dict[str, object]:
    """The summary by the worst of the three criteria: words and tone."""
    if attacks is None:
        return {
            "tone": "warn",
            "words": "What was lost was measured; no attack was run.",
            "came_to": "",
            "helps": "",
        }
    states = {criterion.state for criterion in attacks.criteria}
    tone, words = next(told for state, told in WORDS.items() if state in states)
    return {
        "tone": tone,
        "words": words,
        "came_to": evidence_tables.came_to(attacks),
        "helps": evidence_tables.helps(attacks),
    }


def facts(comparison: Comparison | None, attacks: Attacks | None, *, public: bool) -> list[tuple[str, str]]:
    """How large both tables are, and how much was tried; a difference of a few people is not told in public."""
    rows: list[tuple[str, str]] = []
    if comparison is not None:
        before, after = comparison.rows
        told = not Figures(max(after, 1), public=public).few(abs(before - after))
        rows.append(("Records", became(f"{before:,}", f"{after:,}") if told else f"{after:,}"))
    elif attacks is not None:
        rows.append(("Records", f"{attacks.audit.rows:,}"))
    if attacks is not None:
        rows += [
            ("Made", moment(attacks.audit.created)),
            ("Attacks run", f"{len(attacks.results):,}"),
            ("Not tested", f"{len(evidence_tables.untested(attacks, public=public)):,}"),
            ("Intruder", attacks.scenario.name),
        ]
    if comparison is not None:
        rows.append(("Measures of loss", f"{len({measure.name for measure in comparison.losses.overall}):,}"))
    return rows


def key_figures(
    comparison: Comparison | None, attacks: Attacks | None, *, public: bool
) -> list[dict[str, str]]:
    """The few numbers that everybody asks for: loss, exposure, and what the release is still good for."""
    shown: list[tuple[str, str, str, str]] = []
    if comparison is not None:
        shown += _kept(comparison, edition_figures(comparison, public=public), public=public)
    if attacks is not None:
        shown.insert(1 if shown else 0, _exposure(attacks, public=public))
    return [
        {"title": title, "value": value, "meaning": meaning, "source": source}
        for title, value, meaning, source in shown
    ]


def _exposure(attacks: Attacks, *, public: bool) -> tuple[str, str, str, str]:
    worst = attacks.furthest
    return (
        "Exposure",
        "0%" if worst is None else advantage_text(worst, public=public),
        "How far the best attack got from what is reached without the release towards certainty: 0% not at all, 100% "
        "all the way. Lower is safer.",
        "(rate - baseline) / (1 - baseline), largest over all attacks whose interval lies above the baseline"
        + (f"; here {title_of(worst.attack)}: {worst.source}" if worst is not None else ""),
    )


def _kept(comparison: Comparison, figures: Figures, *, public: bool) -> list[tuple[str, str, str, str]]:
    shown: list[tuple[str, str, str, str]] = []
    loss = drawn_loss(comparison.losses)
    if loss is not None:
        shown.append(
            (
                "Loss",
                figures.share(loss.value),
                Sentence(
                    "{meaning} 0% nothing is lost, 100% all. Lower is better.", meaning=Sentence(loss.meaning)
                ),
                f"{loss.name}: {loss.source}",
            )
        )
    error = comparison.losses.measure("count-error-median")
    if error is not None and known_value(error) is not None:
        shown.append(
            (
                "Answers to questions",
                Sentence("± {error}", error=loss_tables.percent_of_error(error.value)),
                Sentence("{meaning} Lower is better.", meaning=Sentence(error.meaning)),
                error.source,
            )
        )
    best = loss_tables.best_learner(comparison)
    if best is not None:
        shown.append(
            (
                Sentence("Learning {label}", label=best.label),
                loss_tables.kept_text(best.relative()),
                "What the release kept of what the original teaches, by the classifier that learns most from the "
                "original: 100% as good as the original, 0% as good as no data. Higher is better.",
                best.source,
            )
        )
    if comparison.kpis:
        good = sum(kpi.holds is not False and kpi.answerable for kpi in comparison.kpis)
        shown.append(
            (
                "Your own figures",
                Sentence("{good} of {all}", good=good, all=len(comparison.kpis)),
                "How many of the policy's figures the release still answers, within their tolerance. Higher is better.",
                KPI_SOURCE,
            )
        )
    return shown


def _unanswered(comparison: Comparison) -> str:
    workload = comparison.losses.workload
    if not workload.unanswered:
        return "The release had an answer to every one of them."
    return Sentence(
        "To {share} of them the release had no answer; they are not counted.",
        share=percent(workload.unanswered / workload.asked),
    )


def _left_out(comparison: Comparison) -> str:
    shown, total = evidence_pictures.MOST_ATTRIBUTES, len(comparison.distributions)
    if shown >= total:
        return ""
    return Sentence("Drawn are the first {shown} of {total:,} attributes.", shown=shown, total=total)


def _name(comparison: Comparison | None, attacks: Attacks | None) -> str:
    if comparison is not None:
        return comparison.release.name
    assert attacks is not None, "one of both was given"
    return attacks.source.name


def _notes(comparison: Comparison | None, attacks: Attacks | None) -> list[str]:
    said: list[str] = []
    for result in (comparison, attacks):
        if result is not None:
            said += result.notes
    return list(dict.fromkeys(said))


# ── notebooks ─────────────────────────────────────────────────────────────────────────────────────────


def notebook_comparison(comparison: Comparison) -> str:
    """A fragment for notebooks: what was lost, in a few numbers."""
    loss = drawn_loss(comparison.losses)
    words = (
        "What was lost"
        if loss is None
        else Sentence(
            "{share} lost by {measure} (0% nothing, 100% all)", share=percent(loss.value), measure=loss.name
        )
    )
    parts = [
        Sentence("{name} {value}", name=measure.attribute, value=number(measure.value))
        for measure in comparison.losses.attributes
        if loss is not None and measure.name == loss.name
    ]
    return page(
        "evidence_notebook.html.jinja",
        {
            "tone": "plain",
            "words": words,
            "name": comparison.release.name,
            "facts": facts(comparison, None, public=False),
            "figures": key_figures(comparison, None, public=False),
            "lines": [Sentence("By attribute: {parts}.", parts=tuple(parts))] if parts else [],
            "notes": [comparison.matched, *comparison.notes],
        },
    )


def notebook_attacks(attacks: Attacks) -> str:
    """A fragment for notebooks: the three criteria and how far attacks got."""
    return page(
        "evidence_notebook.html.jinja",
        {
            **judgement(attacks),
            "name": attacks.source.name,
            "facts": facts(None, attacks, public=False),
            "figures": key_figures(None, attacks, public=False),
            "lines": [
                Sentence(
                    "{title}: {state}. {finding}",
                    title=Sentence(summary.title),
                    state=Sentence(summary.state),
                    finding=Sentence(summary.finding),
                )
                for summary in attacks.criteria
            ],
            "notes": [attacks.matched, *attacks.notes],
        },
    )
