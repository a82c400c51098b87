"""The tables of a release's report: requirements, attributes, measures and risks, before and after.

As in the report of an audit the public edition is built from what may be shown: names of columns, numbers over
many records and texts that discreet wrote. The new values of an attribute are for the internal edition.
"""

from __future__ import annotations

import math

from discreet.measure import Measure, RecordRisk
from discreet.privacy import assess
from discreet.release.audit import versions
from discreet.release.families import MethodFamily, family_of
from discreet.release.outcome import Outcome
from discreet.release.prices import ColumnPrice, RequirementPrice
from discreet.release.release import Release
from discreet.release.representation import erased_categories
from discreet.release.verdict import Criterion
from discreet.reports.figures import Figures, Row, RowGroup, risk_name, zones
from discreet.reports.release.mappings import grouped
from discreet.reports.verdict import asked_by
from discreet.reports.words import (
    CATEGORY_TONES,
    ROLES,
    became,
    fingerprint,
    heading,
    in_percent,
    listed,
    number,
    percent,
    safer,
    says_of,
    title_of,
    with_unit,
)
from discreet.risk.scorr import category
from discreet.risk.titles import EXTENDED
from discreet.sentences import Sentence
from discreet.transform.loss import attribute_changes
from discreet.transform.recoding import Recoding


def requirements(release: Release, before: Figures, after: Figures) -> list[Row]:
    """Every model that was asked for, on the original and on the release."""
    recoding = release.recoding
    old = assess(release.models, recoding.classes)
    new = assess(release.models, recoding.released(), original=recoding.classes)
    return [
        {
            "asked": original.description,
            "before": _value(original.measure, before),
            "after": _value(released.measure, after),
            "holds": released.holds,
            "source": original.model.source,
        }
        for original, released in zip(old, new, strict=True)
    ]


def criteria(release: Release, before: Figures, after: Figures) -> list[Row]:
    """Everything that the verdict rests on, as found before and after."""
    old = {_asked(criterion): criterion for criterion in release.before.verdict.criteria}
    return [
        {
            "asked": criterion.description,
            "before": before.finding(old[_asked(criterion)]) if _asked(criterion) in old else "not asked",
            "after": after.finding(criterion),
            "holds": criterion.holds,
            "origin": asked_by(criterion),
            "source": criterion.source,
        }
        for criterion in release.verdict.criteria
    ]


def _asked(criterion: Criterion) -> tuple[str, str, str]:
    return criterion.id, criterion.description, criterion.origin


def attributes(release: Release, figures: Figures) -> list[Row]:
    """What happened to each quasi-identifier; a recipe that is applied knows no loss."""
    fitted = {hierarchy.ladder.name: hierarchy for hierarchy in release.hierarchies}
    levels = release.recoding.levels
    rows = []
    for name, change in release.changes().items():
        hierarchy = fitted.get(name)
        level: str = Sentence("by class") if levels is None else f"{levels[name]}"
        if levels is not None and hierarchy is not None:
            level = Sentence("{level} of {height}", level=level, height=hierarchy.ladder.height)
        origin = "not used: the recipe says it all" if hierarchy is None else hierarchy.origin
        if figures.public and hierarchy is not None:
            origin = hierarchy.origin if hierarchy.learned else "given"
        rows.append(
            {
                "name": name,
                "happened": _happened(release, name),
                "before": f"{int(change['distinct_before']):,}",
                "after": f"{int(change['distinct_after']):,}",
                "level": level,
                "loss": share_of(change["loss"], figures),
                "origin": origin,
            }
        )
    return rows


def _happened(release: Release, name: str) -> str:
    """What became of an attribute, in a word or two."""
    groups = list(grouped(release, name))
    if all(old == [new] for new, _, old in groups):
        return "unchanged where it is shown" if release.suppressed else "unchanged"
    if len(groups) == 1:
        return "all values became one"
    return (
        "grouped, everywhere alike" if release.recipe.scope == "global" else "grouped, differently by class"
    )


def erased(release: Release) -> list[Row]:
    """Categories of which suppression takes a large part: for the internal edition only."""
    return [
        {
            "attribute": category.attribute,
            "value": category.value,
            "records": f"{category.records:,}",
            "suppressed": f"{category.suppressed:,}",
            "share": percent(category.share),
        }
        for category in erased_categories(release.recoding)
    ]


def columns(release: Release, figures: Figures) -> list[tuple[str, str]]:
    """What happened to the columns that are not quasi-identifiers, and to those that were left out."""
    policy = release.before.policy
    kept, keyed = release.recipe.columns, release.recipe.keyed
    named = [column for column in policy.columns if column.role not in ("quasi-identifier", "insensitive")]
    rows: list[tuple[str, str]] = [
        (
            column.name,
            Sentence(
                "{state}; {role}: {meaning}",
                state=Sentence("replaced by keyed hashes" if column.name in keyed else "as before"),
                role=Sentence(column.role),
                meaning=Sentence(ROLES[column.role]),
            ),
        )
        for column in named
        if column.name in kept
    ]
    for column in release.removed:
        gone = Sentence("left out: {reason}", reason=Sentence(column.reason))
        if column.loss is not None:
            gone = Sentence(
                "{gone}; counted with a loss of {loss}", gone=gone, loss=share_of(column.loss, figures)
            )
        rows.append((column.name, gone))
    if release.unjudged:
        each = [(name, share_of(share, figures)) for name, share in release.unjudged.items()]
        told = tuple(Sentence("{name} ({share})", name=name, share=share) for name, share in each)
        rows.append(
            (
                "Not examined",
                Sentence(
                    "{told}: as before; beside each the share of records alone with their value; {together} are alone "
                    "with all of them and what the quasi-identifiers show",
                    told=told,
                    together=share_of(release.unjudged_together or 0.0, figures),
                ),
            )
        )
    return rows


def unexamined(release: Release) -> list[str]:
    """Columns of the release that have no role, or that of an insensitive one."""
    known = {column.name for column in release.before.policy.columns if column.role != "insensitive"}
    return [name for name in release.recipe.columns if name not in known]


def prices(release: Release, figures: Figures) -> list[RowGroup]:
    """What each column and each requirement costs, dearest first; nothing where a recipe was applied."""
    if not release.hierarchies:
        return []
    told = release.prices
    columns: tuple[Row, ...] = tuple(
        {"what": Sentence("without {column}", column=price.column), **_price(price, figures)}
        for price in told.columns
    )
    requirements: tuple[Row, ...] = tuple(
        {
            "what": Sentence(
                "without the requirement: {requirement}", requirement=Sentence(price.requirement)
            ),
            **_price(price, figures),
        }
        for price in told.requirements
    )
    groups = [RowGroup("Columns: the loss of all others", columns), RowGroup("Requirements", requirements)]
    return [group for group in groups if group.rows]


def _price(price: ColumnPrice | RequirementPrice, figures: Figures) -> Row:
    without = price.loss_without
    return {
        "with": share_of(price.loss_with, figures),
        "without": "unknown" if without is None else share_of(without, figures),
    }


def measures(release: Release, before: Figures, after: Figures) -> list[RowGroup]:
    """All measures of both audits: those of the whole table, then those of each sensitive attribute."""
    old = {_key(measure): measure for measure in release.before.measures}
    new = {_key(measure): measure for measure in release.after.measures}
    both = {**old, **new}
    groups: dict[str | None, list[Row]] = {}
    for key, measure in both.items():
        groups.setdefault(measure.attribute, []).append(
            {
                "title": title_of(measure.name),
                "unit": "" if in_percent(measure) else measure.unit,
                "before": _value(old[key], before) if key in old else "not measured",
                "after": _value(new[key], after) if key in new else "not measured",
                "direction": safer(measure),
                "says": says_of(measure.name),
                "source": measure.source,
            }
        )
    return [
        RowGroup(heading(attribute), tuple(groups[attribute]))
        for attribute in sorted(groups, key=lambda attribute: attribute is not None)
    ]


def _key(measure: Measure) -> tuple[str, str | None, str]:
    return measure.name, measure.attribute, measure.unit if measure.name == "k-anonymity" else ""


def _value(measure: Measure, figures: Figures) -> str:
    """A value, with its unit where people or values were counted."""
    unit = figures.unit(measure)
    counted = unit.startswith(("record", "person", "distinct"))
    return with_unit(figures.measured(measure), unit) if counted else figures.measured(measure)


def risks(release: Release, before: Figures, after: Figures) -> list[Row]:
    """Risks of the whole quasi-identifier before and after."""
    low, medium = zones(release.after)
    new = {(risk.name, risk.sensitive): risk for risk in release.after.risks if risk.attribute is None}
    rows = []
    for risk in release.before.risks:
        released = new.get((risk.name, risk.sensitive))
        if risk.attribute is None and released is not None:
            rows.append(_risk(risk, released, before, after, low, medium))
    return rows


def _risk(
    old: RecordRisk, new: RecordRisk, before: Figures, after: Figures, low: float, medium: float
) -> Row:
    graded = old.name in EXTENDED
    grade = category(new.max, low=low, medium=medium)
    return {
        "title": risk_name(old),
        "meaning": old.meaning,
        "mean": became(f"{old.mean:.3f}", f"{new.mean:.3f}"),
        "max": became(f"{old.max:.3f}", f"{new.max:.3f}"),
        "above": became(before.share(old.share_above(medium)), after.share(new.share_above(medium))),
        "tone": CATEGORY_TONES[grade] if graded else None,
        "grade": grade if graded else "not graded",
        "source": old.source,
    }


def how(release: Release, figures: Figures) -> list[tuple[str, str]]:
    """How the change was found, and how good it is known to be."""
    chosen, plan = release.chosen, release.plan
    rows = [
        ("Method", Sentence("{method}: {why}", method=chosen.method, why=Sentence(chosen.why))),
        ("Kind of change", "a value becomes the same everywhere (global recoding)")
        if release.recipe.scope == "global"
        else ("Kind of change", "a value may become different things in different classes (local recoding)"),
        *(("Family of methods", _family(family)) for family in _families(release)),
    ]
    if chosen.minimised:
        objective: str = plan.objective
        if plan.label:
            objective = Sentence("{objective} for {label}", objective=Sentence(objective), label=plan.label)
        rows.append(("Objective", objective))
        if chosen.minimised != plan.objective:
            rows.append(("Minimised by the method", chosen.minimised))
        if chosen.undefined:
            rows.append(("Cost by the objective", chosen.undefined))
        elif not figures.public:
            rows.append(("Cost by the objective", number(chosen.cost)))
            if chosen.bound is not None:
                rows.append(("Lower bound of the cost", number(chosen.bound)))
    rows.append(("How good", quality(release)[1]))
    rows.append(("Suppression limit", percent(plan.suppression_limit)))
    shown = "are shown with *" if release.recoding.starred else "are left out"
    if release.stand_ins:
        shown = Sentence(
            "show the {statistic} of released numbers, and * elsewhere",
            statistic=Sentence(str(plan.suppressed_numbers)),
        )
    rows.append(("Suppressed records", shown))
    rows.append(("Order of rows", "random" if plan.order == "random" else "as in the original"))
    if plan.weights:
        weights = tuple(
            Sentence("{name} {weight}", name=name, weight=number(weight))
            for name, weight in plan.weights.items()
        )
        rows.append(("Weights", Sentence("{weights}", weights=weights)))
    if plan.keep:
        rows.append(("Kept as they are", listed(plan.keep)))
    return rows


def _families(release: Release) -> list[MethodFamily]:
    """The families of what made a release: of its steps, then of the search."""
    averaged = release.chosen.method.startswith("microaggregation")
    made = [applied.step.id for applied in release.perturbed.steps]
    return list(dict.fromkeys(map(family_of, [*made, "microaggregation" if averaged else "auto"])))


def _family(family: MethodFamily) -> str:
    """What a family does, and which attacks to try on its releases."""
    return Sentence(
        "{title}: {effect}; attacks to try: {attacks}",
        title=Sentence(family.title),
        effect=Sentence(family.effect),
        attacks=tuple(Sentence(name) for name in family.leaves),
    )


def quality(release: Release) -> tuple[str, str]:
    """How near to the best the change is known to be: a word and a sentence."""
    chosen = release.chosen
    if not chosen.minimised:
        return "not known", "A recipe was applied; no other change was looked for."
    if chosen.optimal:
        return (
            "best possible",
            "Proven: no choice of levels of these hierarchies meets every requirement within the limits and "
            "costs less.",
        )
    if chosen.gap is not None:
        return (
            Sentence("within {gap}", gap=percent(chosen.gap)),
            Sentence(
                "No choice of levels of these hierarchies can cost less than {share} of what this one costs.",
                share=percent(1 - chosen.gap),
            ),
        )
    return "not known", Sentence(
        "The method {method} does not say how near to the best it is.", method=Sentence(chosen.method)
    )


def alternatives(release: Release) -> list[Row]:
    """The chosen release and the others that were found, side by side."""
    chosen = Sentence("chosen: {why}", why=Sentence(release.chosen.why))
    rows: list[tuple[str, Outcome, Recoding]] = [(chosen, release.outcome, release.recoding)]
    rows += [(other.title, other.outcome, other.recoding) for other in release.alternatives]
    return [
        {
            "title": title,
            "method": outcome.method,
            "loss": "not defined" if outcome.loss is None else percent(outcome.loss),
            "suppressed": percent(outcome.suppressed_share or 0.0),
            "values": _values_per_column(recoding),
            "error": "not defined" if error is None else percent(error),
            "risk": percent(outcome.max_risk or 0.0),
        }
        for (title, outcome, recoding), error in zip(rows, release.workload_errors, strict=True)
    ]


def _values_per_column(recoding: Recoding) -> str:
    """How many different values a quasi-identifier shows, on average."""
    distinct = [change["distinct_after"] for change in attribute_changes(recoding).values()]
    return f"{sum(distinct) / len(distinct):,.1f}"


def share_of(value: float, figures: Figures) -> str:
    """A loss as a share; in the public edition none that betrays a few suppressed records."""
    return "not known" if math.isnan(value) else figures.share(value)


def notes(release: Release) -> list[str]:
    """What was assumed, and what a reader of the numbers has to know."""
    said = [*release.notes, *release.before.notes, *release.after.notes]
    return list(dict.fromkeys(said))


def cautions(release: Release) -> list[str]:
    """What has to be known to compare before and after, in words that every edition may show."""
    lines: list[str] = []
    if others := unexamined(release):
        lines.append(
            Sentence(
                "Not examined and released as before: {names:and}. Whoever knows such a column of somebody may find "
                "them by it.",
                names=tuple(others),
            )
        )
    if release.before.policy.person is not None and release.after.policy.person is None:
        lines.append(
            "Person ids are left out of the release: nobody can tell which rows belong to one person. Persons are "
            "counted here all the same, while whoever holds the release alone can count records only."
        )
    if release.perturbed.steps:
        lines.append(
            "Values were perturbed first: the loss is that of the generalisation only, and what the steps changed is measured by "
            "comparing the release with the original."
        )
    if not release.chosen.minimised:
        lines.append(
            "A recipe was applied without hierarchies: what a value may stand for, and so the loss, is "
            "not known."
        )
    if release.recoding.starred and release.suppressed:
        lines.append(
            Sentence(
                "Suppressed records are shown with the {statistic} of released numbers and form one class, of which the "
                "requirements are asked like of any other.",
                statistic=Sentence(str(release.plan.suppressed_numbers)),
            )
            if release.stand_ins
            else "Suppressed records are shown with * and form one class, of which the requirements are asked like of "
            "any other."
        )
    return lines


def provenance(
    release: Release, figures: Figures, file_hash: str | None, *, in_database: bool = False
) -> list[tuple[str, str]]:
    """Versions, and which file became which."""
    rows = list(versions().items())
    if not figures.public:
        rows.append(("SHA-256 of the source", fingerprint(release.before.source.sha256)))
    without = (
        "a table of a database has none" if in_database else "this report was made without a written file"
    )
    rows.append(("SHA-256 of the written release", file_hash or without))
    return rows
