"""The tables of a report: what was found, row by row, in words and numbers fit for one edition.

The public edition is built from what may be shown, not by striking out what may not: column names, numbers
over all records, and texts that discreet itself wrote. A cell value has no way into it.
"""

from __future__ import annotations

from discreet.measure import Measure, RecordRisk
from discreet.release.audit import Audit, versions
from discreet.release.verdict import Criterion
from discreet.reports.figures import Figures, Row, RowGroup, risk_name, short_label, zones
from discreet.reports.words import (
    CATEGORY_TONES,
    GENERAL,
    INFINITE,
    ROLES,
    UNDEFINED,
    Tone,
    between,
    fingerprint,
    heading,
    in_percent,
    number,
    percent,
    safer,
    says_of,
    title_of,
    with_unit,
)
from discreet.risk.scorr import category
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.risk.titles import EXTENDED
from discreet.sentences import Sentence

MOST_KINDS = 15
INTRUDER_HEADS = ("Smallest class", "Highest risk", "Mean risk", "Alone", "Surest value")
"""The columns of numbers in the table of intruders."""


def measures(audit: Audit, figures: Figures) -> list[RowGroup]:
    """All measures: those of the whole table, then those of each sensitive attribute."""
    attributes = dict.fromkeys(measure.attribute for measure in audit.measures)
    ordered = sorted(attributes, key=lambda attribute: attribute is not None)
    return [
        RowGroup(
            heading(attribute),
            tuple(
                _measure(measure, audit, figures)
                for measure in audit.measures
                if measure.attribute == attribute
            ),
        )
        for attribute in ordered
    ]


def _measure(measure: Measure, audit: Audit, figures: Figures) -> Row:
    value = figures.measured(measure)
    says = says_of(measure.name)
    details = (
        [] if figures.public else [*([says] if says and measure.name not in GENERAL else []), *measure.notes]
    )
    if value == "infinite":
        details.append(INFINITE)
    elif value == "undefined":
        details.append(UNDEFINED)
    criterion = _criterion_of(measure, audit)
    threshold = ""
    tone: Tone | None = None
    if criterion is not None and criterion.threshold is not None:
        asked = percent(criterion.threshold) if in_percent(measure) else number(criterion.threshold)
        threshold = (
            Sentence("at least {bound}", bound=asked)
            if measure.better == "higher"
            else Sentence("at most {bound}", bound=asked)
        )
        tone = "good" if criterion.holds else "bad"
    return {
        "title": title_of(measure.name),
        "value": value,
        "unit": figures.unit(measure),
        "direction": safer(measure),
        "meaning": says if figures.public or measure.name in GENERAL else measure.meaning,
        "threshold": threshold,
        "tone": tone,
        "source": measure.source,
        "details": tuple(details),
    }


def _criterion_of(measure: Measure, audit: Audit) -> Criterion | None:
    """The criterion that asks for this measure, if one does; at event level in the same unit."""
    for criterion in audit.verdict.criteria:
        counted = measure.unit not in ("records", "persons") or measure.unit[:-1] in criterion.found
        if criterion.id == measure.name and criterion.attribute == measure.attribute and counted:
            return criterion
    return None


def risks(audit: Audit, figures: Figures) -> list[Row]:
    """Risks of the whole quasi-identifier; those of single attributes are with their picture."""
    low, medium = zones(audit)
    return [_risk(risk, figures, low, medium) for risk in audit.risks if risk.attribute is None]


def _risk(risk: RecordRisk, figures: Figures, low: float, medium: float) -> Row:
    graded = risk.name in EXTENDED
    grade = category(risk.max, low=low, medium=medium)
    return {
        "title": risk_name(risk),
        "meaning": risk.meaning,
        "numbers": (
            f"{risk.min:.3f}",
            f"{risk.mean:.3f}",
            f"{risk.quantile(0.5):.3f}",
            f"{risk.max:.3f}",
            figures.share(risk.share_above(low)),
            figures.share(risk.share_above(medium)),
        ),
        "tone": CATEGORY_TONES[grade] if graded else None,
        "grade": grade if graded else "not graded",
        "source": risk.source,
    }


def estimates(audit: Audit, figures: Figures) -> list[Row]:
    """Estimates for the population, with what each of them rests on."""
    rows = []
    for estimate in audit.estimates:
        counted = estimate.unit == "records" and figures.few(estimate.value)
        value = (
            Sentence("fewer than {count}", count=SMALL_GROUP)
            if counted
            else (
                figures.share(estimate.value)
                if estimate.unit == "share of records"
                else number(estimate.value)
            )
        )
        interval = ""
        if estimate.low is not None and estimate.high is not None and not counted:
            interval = between(number(estimate.low), number(estimate.high))
        rows.append(
            {
                "title": title_of(estimate.name),
                "method": estimate.method,
                "value": value if value.endswith("%") else with_unit(value, estimate.unit),
                "interval": interval,
                "meaning": estimate.meaning,
                "assumptions": estimate.assumptions,
                "source": estimate.source,
            }
        )
    return rows


def riskiest(audit: Audit) -> list[Row]:
    """The riskiest classes with their values: for the internal edition only."""
    if audit.exposure is None:
        return []
    return [
        {
            "labels": tuple(
                (name, short_label(label), name in risky.decisive)
                for name, label in audit.classes.labels(risky.position).items()
            ),
            "persons": f"{risky.persons:,}",
            "records": f"{risky.records:,}",
            "meaning": risky.meaning,
        }
        for risky in audit.exposure.riskiest
    ]


def special_uniques(audit: Audit, figures: Figures) -> Row | None:
    """SUDA scores: who is singled out by few attributes."""
    if audit.exposure is None:
        return None
    suda = audit.exposure.special_uniques
    mean = float(suda.scores @ suda.records / suda.records.sum())
    facts = [
        (
            "Singled out",
            figures.share(suda.share_scored),
            Sentence("of records, by {max_size} or fewer attributes", max_size=suda.max_size),
        ),
        ("Highest score", number(float(suda.scores.max())), "the fewer attributes it takes, the higher"),
        ("Mean score", number(mean), "over all records; 0 for whoever is not singled out"),
    ]
    if suda.file_risk is not None:
        facts.append(
            ("DIS-SUDA file risk", percent(suda.file_risk), "the chance that a unique match is a right one")
        )
    kinds = suda.minimal_uniques[:MOST_KINDS]
    return {
        "facts": tuple(facts),
        "contributions": tuple(
            (name, f"{share:.1f}%")
            for name, share in sorted(suda.contributions.items(), key=lambda item: -item[1])
        ),
        "kinds": tuple(
            (Sentence("{names: + }", names=kind.attributes), figures.count(kind.persons, "person"))
            for kind in kinds
        ),
        "more": len(suda.minimal_uniques) - len(kinds),
        "source": suda.source,
    }


def roles(audit: Audit, figures: Figures) -> list[Row]:
    """Each column's role; the reasons for it are for the internal edition only."""
    return [
        {
            "name": column.name,
            "role": column.role,
            "says": ROLES[column.role],
            "type": column.type or "as read",
            "reason": "" if figures.public else column.reason,
            "rating": ""
            if column.rating is None
            else Sentence(
                "{total} of 9 (replication {replication}, availability {availability}, distinguishability "
                "{distinguishability})",
                total=column.rating.total,
                replication=column.rating.replication,
                availability=column.rating.availability,
                distinguishability=column.rating.distinguishability,
            ),
        }
        for column in audit.policy.columns
    ]


def intruders(audit: Audit, figures: Figures) -> list[Row]:
    """What each intruder of the policy can tell, and who knows all that they know."""
    return [
        {
            "intruder": view.name or Sentence("who knows all of it"),
            "knows": Sentence("{columns}", columns=view.columns),
            "numbers": [
                figures.count(view.k, "person"),
                percent(view.risk),
                percent(view.mean_risk),
                figures.share(view.unique),
                percent(max(view.certainty.values())) if view.certainty else "–",
            ],
        }
        for view in audit.intruders
    ]


def missing(audit: Audit, figures: Figures) -> list[tuple[str, str]]:
    """How missing values were treated, per column that has any."""
    rows: list[tuple[str, str]] = []
    for column in audit.missing:
        parts = []
        if column.nulls:
            nulls = figures.count(column.nulls, "null")
            parts.append(Sentence("{nulls}, counted as one value of their own", nulls=nulls))
        if column.marks:
            marks = figures.count(column.marks, "missing mark")
            parts.append(Sentence("{marks}, kept as ordinary values", marks=marks))
        rows.append((column.column, Sentence("{parts:; }", parts=tuple(parts))))
    return rows


def reading(audit: Audit) -> list[tuple[str, str]]:
    """How the file was read: for the internal edition only, settings may quote the data."""
    return [(key, setting(value)) for key, value in audit.source.settings.items()]


def setting(value: object) -> str:
    """A setting as a reader would write it.

    >>> setting("\\t"), setting(["?", ""]), setting(True), setting([]), setting(";"), setting("utf-8")
    ('tab', '“?”, “”', 'yes', '–', '“;”', 'utf-8')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ([], ()):
        return "–"
    if isinstance(value, (list, tuple)):
        return Sentence("{parts}", parts=tuple(_quoted(str(text)) for text in value))
    if value == "\t":
        return "tab"
    text = str(value)
    return text if text.strip() and any(map(str.isalnum, text)) else _quoted(text)


def _quoted(text: str) -> Sentence:
    return Sentence("“{text}”", text=text)


def provenance(audit: Audit, figures: Figures) -> list[tuple[str, str]]:
    """Versions, and which file was read."""
    rows = [(name, text) for name, text in versions().items()]
    if not figures.public:
        rows.append(("SHA-256 of the file", fingerprint(audit.source.sha256)))
    return rows
