"""What the pictures of a report show and say: data, a sentence computed from them, and a table beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations as pairs_of

import numpy as np

from discreet.release.audit import Audit
from discreet.release.requirements import required_size
from discreet.reports.charts import bar, scale
from discreet.reports.charts.cells import Cell, heatmap, step
from discreet.reports.class_sizes import EXPLANATION, MERGED, SOURCE, share_under, size_bins
from discreet.reports.figures import (
    MOST_SENSITIVE,
    RISK_SCALE,
    Figures,
    Picture,
    brief,
    drawn_share,
    extended_risks,
    involved,
    joined,
    partly,
    risk_name,
    zones,
)
from discreet.reports.words import about, became, listed, percent
from discreet.risk.scorr import category
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.risk.titles import GRADED
from discreet.sentences import Sentence

WHOLE = "whole quasi-identifier"
MOST_ROWS = 14
"""Attributes a picture shows; a report of a wider table says that it shows the worst ones only."""
MOST_BARS = 10
MOST_DEPENDENT = 10


def pictures(audit: Audit, figures: Figures) -> list[Picture]:
    """Every picture that this audit has data for, in the order of the report."""
    drawn: list[Callable[[Audit, Figures], Picture | None]] = [
        risk_scale,
        class_sizes,
        attribute_risks,
        contributions,
        combinations,
        dependence,
    ]
    return [picture for draw in drawn if (picture := draw(audit, figures)) is not None]


def risk_scale(audit: Audit, figures: Figures) -> Picture:
    """Mean and maximum of the three extended risks on one scale."""
    low, medium = zones(audit)
    risks = extended_risks(audit)
    shown = risks[: 2 + MOST_SENSITIVE]
    marks = [scale.RiskMark(brief(risk_name(risk)), risk.mean, risk.max) for risk in shown]
    worst = max(risks, key=lambda risk: (round(risk.max, 9), risk.mean))
    grade = category(worst.max, low=low, medium=medium)
    zone = Sentence("no record is in the high zone.")
    if grade == "high":
        above = figures.share(worst.share_above(medium))
        zone = Sentence("{above} of records are in the high zone.", above=above)
    told = {"risk": Sentence(worst.name), "max": worst.max, "grade": Sentence(grade), "zone": zone}
    takeaway = Sentence(
        "The worst-placed record has a {risk} risk of {max:.2f}, which is {grade}; {zone}", **told
    )
    if worst.sensitive:
        takeaway = Sentence(
            "The worst-placed record has a {risk} risk for {sensitive} of {max:.2f}, which is {grade}; {zone}",
            sensitive=worst.sensitive,
            **told,
        )
    left_out = len(risks) - len(shown)
    remarks = []
    if audit.verdict.profile.extended is None:
        remarks.append(
            "The profile of this audit does not decide by these zones; they are shown for orientation."
        )
    if left_out:
        remarks.append(
            Sentence(
                "Correlation is drawn for the {most_sensitive} worst of {left_out} sensitive attributes.",
                most_sensitive=MOST_SENSITIVE,
                left_out=left_out + MOST_SENSITIVE,
            )
        )
    return Picture(
        id="risk-scale",
        title="How high the risks are",
        takeaway=takeaway,
        alternative=Sentence(
            "Scale from 0 to 1. {each: }",
            each=tuple(
                Sentence(
                    "{risk}, mean {mean:.2f}, maximum {max:.2f}.",
                    risk=Sentence(risk_name(risk)),
                    mean=risk.mean,
                    max=risk.max,
                )
                for risk in shown
            ),
        ),
        explanation=RISK_SCALE,
        svg=scale.risk_scale(marks, low=low, medium=medium),
        columns=(
            "Risk",
            "Mean",
            "Maximum",
            "Category of the maximum",
            Sentence("Records above {medium:g}", medium=medium),
        ),
        rows=tuple(
            (
                risk_name(risk),
                f"{risk.mean:.3f}",
                f"{risk.max:.3f}",
                category(risk.max, low=low, medium=medium),
                figures.share(risk.share_above(medium)),
            )
            for risk in risks
        ),
        source=worst.source,
        note=Sentence("{remarks: }", remarks=tuple(map(Sentence, remarks))) if remarks else "",
    )


def class_sizes(audit: Audit, figures: Figures) -> Picture:
    """Share of records by the size of their class."""
    unit = "persons" if audit.event_level else "records"
    required = required_size(audit.policy, audit.verdict.profile)
    bins = size_bins(audit, required=required, public=figures.public)
    alone = share_under(audit, 2)
    small = 0.0 if required is None else share_under(audit, required)
    if small and alone:
        takeaway = Sentence(
            "{small} of records are in classes smaller than the required {required}; {alone} are alone in theirs.",
            small=figures.share(small),
            required=required,
            alone=figures.share(alone),
        )
    elif small:
        takeaway = Sentence(
            "{small} of records are in classes smaller than the required {required}; none is alone in its class.",
            small=figures.share(small),
            required=required,
        )
    elif required is not None:
        takeaway = Sentence(
            "Every record is in a class of at least the required {required} {unit}.",
            required=required,
            unit=Sentence(unit),
        )
    else:
        takeaway = Sentence(
            "{audit} of records are in classes of fewer than {small_group} {unit}.",
            audit=figures.share(share_under(audit, SMALL_GROUP)),
            small_group=SMALL_GROUP,
            unit=Sentence(unit),
        )
    return Picture(
        id="class-sizes",
        title="How large the classes are",
        takeaway=takeaway,
        alternative=Sentence(
            "Bars for the share of records by class size. {each: }",
            each=tuple(
                Sentence(
                    "{label} {unit}: {share}.", label=size.label, unit=Sentence(unit), share=size.text or "0%"
                )
                for size in bins
            ),
        ),
        explanation=EXPLANATION,
        svg=bar.size_bins(bins, required=required, unit=unit),
        columns=(
            "Class size in persons" if audit.event_level else "Class size in records",
            "Share of records",
            "Required",
        ),
        rows=tuple(
            (
                size.label,
                size.text or "0%",
                "no size required"
                if required is None
                else "too small"
                if size.first < required
                else "large enough",
            )
            for size in bins
        ),
        source=SOURCE,
        note=MERGED
        if figures.public and len(bins) < len(size_bins(audit, required=required, public=False))
        else "",
    )


def attribute_risks(audit: Audit, figures: Figures) -> Picture:
    """The largest risk of each attribute alone, and of all together."""
    low, medium = zones(audit)
    names = list(audit.classes.names)
    graded = [risk for risk in audit.risks if risk.name in GRADED]
    targets = [domain.name for domain in audit.classes.sensitive]
    columns = [
        column
        for name, title in GRADED.items()
        for column in ([about(title, target) for target in targets] if name == "correlation" else [title])
    ]
    highest = {(risk.attribute or WHOLE, risk_name(risk)): risk.max for risk in graded}
    names.sort(key=lambda name: -max(highest[name, column] for column in columns))
    rows = [WHOLE, *names] if len(names) > 1 else [*names]
    shown_rows, shown_columns = rows[: MOST_ROWS + 1], columns[: 2 + MOST_SENSITIVE]
    cells = [
        Cell(
            _clear(row),
            brief(column),
            f"{highest[row, column]:.2f}",
            category(highest[row, column], low=low, medium=medium),
        )
        for row in shown_rows
        for column in shown_columns
    ]
    together = max(highest[WHOLE, column] for column in columns) > medium + 1e-9
    high = [name for name in names if max(highest[name, column] for column in columns) > medium + 1e-9]
    if high:
        takeaway: str = (
            Sentence("{name} is enough alone to put some record into the high zone.", name=high[0])
            if len(high) == 1
            else Sentence(
                "Each of {names:and} is enough alone to put some record into the high zone.",
                names=_some(high),
            )
        )
    else:
        takeaway = (
            "No attribute alone puts a record into the high zone; together they do."
            if together
            else "No attribute alone puts a record into the high zone, nor do all of them together."
        )
    return Picture(
        id="attribute-risks",
        title="Which attribute carries which risk",
        takeaway=takeaway,
        alternative="Table of the largest risk of any record by attribute; the numbers are in the table below.",
        explanation=Sentence(
            "Each number is the risk of the worst-placed record for someone who knows only this "
            "attribute. Up to {low:g} is low, up to {medium:g} medium, above it high.",
            low=low,
            medium=medium,
        ),
        svg=heatmap(
            cells,
            rows=[_clear(row) for row in shown_rows],
            columns=[brief(column) for column in shown_columns],
        ),
        columns=("Known", *columns),
        rows=tuple((row, *(f"{highest[row, column]:.3f}" for column in columns)) for row in rows),
        source=graded[0].source.rpartition(", eq.")[0],
        note=partly(min(MOST_ROWS, len(names)), len(names), "attributes with the highest risks"),
    )


def contributions(audit: Audit, figures: Figures) -> Picture | None:
    """What each attribute adds to the average risk."""
    if audit.exposure is None or len(audit.classes.names) < 2:
        return None
    items = audit.exposure.contributions
    shown = items[:MOST_BARS]
    first = items[0]
    if first.added_risk > 1e-9:
        takeaway: str = Sentence(
            "Leaving out {attribute} would lower the average risk most: from {risk} to {risk_without}.",
            attribute=first.attribute,
            risk=percent(first.risk),
            risk_without=percent(first.risk_without),
        )
    else:
        takeaway = "Leaving out any single attribute would not lower the average risk."
    return Picture(
        id="contributions",
        title="What each attribute adds",
        takeaway=takeaway,
        alternative=Sentence(
            "Bars for the percentage points of average risk that leaving out an attribute would take away. {each: }",
            each=tuple(
                Sentence(
                    "{attribute}: {points:.1f} points.",
                    attribute=item.attribute,
                    points=100 * item.added_risk,
                )
                for item in shown
            ),
        ),
        explanation="How much lower the average chance to name the right person would be if the attribute were "
        "removed and all others stayed.",
        svg=bar.bars(
            [bar.Bar(item.attribute, max(0.0, item.added_risk), _points(item.added_risk)) for item in shown],
            title="average risk taken away, in percentage points",
            whole=max(0.05, *(item.added_risk * 1.05 for item in shown)),
        ),
        columns=("Attribute left out", "Average risk", "Unique records", "Smallest class"),
        rows=tuple(
            (
                item.attribute,
                became(percent(item.risk), percent(item.risk_without)),
                became(figures.share(item.unique), figures.share(item.unique_without)),
                became(_size(item.k, figures), _size(item.k_without, figures)),
            )
            for item in items
        ),
        source="prosecutor risk (El Emam 2013) with one attribute left out; Folz et al. 2025, section VII",
        note=partly(len(shown), len(items), "attributes that add most"),
    )


def combinations(audit: Audit, figures: Figures) -> Picture | None:
    """The combinations of few attributes that single out most records."""
    if audit.exposure is None or len(audit.classes.names) < 2:
        return None
    items = audit.exposure.combinations
    shown = items[:MOST_BARS]
    first = items[0]
    known = Sentence("{names: + }", names=first.attributes)
    if first.unique > 0:
        takeaway: str = Sentence(
            "{unique} of records are alone in their class on just {known}.",
            unique=figures.share(first.unique),
            known=known,
        )
    else:
        takeaway = Sentence(
            "No combination of up to {most} attributes singles out a record.",
            most=max(len(item.attributes) for item in items),
        )
    return Picture(
        id="combinations",
        title="Which combinations single people out",
        takeaway=takeaway,
        alternative=Sentence(
            "Bars for the share of records that a combination of attributes makes unique. {each: }",
            each=tuple(
                Sentence("{names: + }: {share}.", names=item.attributes, share=figures.share(item.unique))
                for item in shown
            ),
        ),
        explanation=Sentence(
            "Dark: share of records whose person is alone with these values. Pale: share in groups of "
            "fewer than {small_group} people.",
            small_group=SMALL_GROUP,
        ),
        svg=bar.bars(
            [
                bar.Bar(
                    joined(item.attributes),
                    drawn_share(item.unique, figures),
                    figures.share(item.unique),
                    drawn_share(item.small, figures),
                )
                for item in shown
            ],
            title="share of records",
            whole=min(1.0, max(0.05, *(1.1 * max(item.small, item.unique) for item in shown))),
        ),
        columns=(
            "Known together",
            "Unique records",
            Sentence("In groups under {small_group}", small_group=SMALL_GROUP),
            "Pairs told apart",
        ),
        rows=tuple(
            (
                Sentence("{names: + }", names=item.attributes),
                figures.share(item.unique),
                figures.share(item.small),
                percent(item.separation),
            )
            for item in items[:25]
        ),
        source="unique and separated records: Motwani and Xu 2007",
        note=partly(len(shown), len(items), "worst combinations"),
    )


def dependence(audit: Audit, figures: Figures) -> Picture | None:
    """How much each attribute tells about each other one."""
    if audit.exposure is None or len(audit.exposure.dependence.names) < 2:
        return None
    matrices = audit.exposure.dependence
    strongest = sorted(
        pairs_of(range(len(matrices.names)), 2),
        key=lambda pair: (-round(float(matrices.cramers_v[pair]), 9), pair),
    )
    shown = involved(strongest, MOST_DEPENDENT)
    cells = [
        Cell(
            matrices.names[i],
            matrices.names[j],
            f"{matrices.cramers_v[i, j]:.2f}",
            step(float(matrices.cramers_v[i, j])),
        )
        for at, i in enumerate(shown)
        for j in shown[:at]
    ]
    i, j = strongest[0]
    takeaway = Sentence(
        "{names} and {names2} tell most about each other: Cramér's V is {cramers_v:.2f} on a scale "
        "from 0 (nothing) to 1 (everything).",
        names=matrices.names[i],
        names2=matrices.names[j],
        cramers_v=matrices.cramers_v[i, j],
    )
    return Picture(
        id="dependence",
        title="What attributes tell about each other",
        takeaway=takeaway,
        alternative="Table of Cramér's V between every two attributes; the numbers are in the table below.",
        explanation="An attribute that follows from another is not protected by changing it alone. Columns with "
        "very many different values look more dependent than they are.",
        svg=heatmap(
            cells,
            rows=[matrices.names[at] for at in shown[1:]],
            columns=[matrices.names[at] for at in shown[:-1]],
            widest=64,
        ),
        columns=("Attributes", "Cramér's V", "Mutual information in bits", "Pearson's correlation, absolute"),
        rows=tuple(
            (
                listed([matrices.names[a], matrices.names[b]]),
                f"{matrices.cramers_v[a, b]:.3f}",
                f"{matrices.mutual_information[a, b]:.3f}",
                "not numbers"
                if np.isnan(matrices.absolute_pearson[a, b])
                else f"{matrices.absolute_pearson[a, b]:.3f}",
            )
            for a, b in strongest[:30]
        ),
        source=matrices.source,
        note=partly(len(shown), len(matrices.names), "most dependent attributes"),
    )


def _clear(row: str) -> str:
    return "all together" if row == WHOLE else row


def _points(change: float) -> str:
    """A change of a share in percentage points."""
    return Sentence("{points:.1f} points", points=100 * change)


def _size(size: int, figures: Figures) -> str:
    return Sentence("fewer than {count}", count=SMALL_GROUP) if figures.few(size) else f"{size:,}"


def _some(names: Sequence[str]) -> tuple[str, ...]:
    """The names, or the first ones and how many more there are."""
    if len(names) <= 4:
        return tuple(names)
    return (*names[:3], Sentence("{count:,} more", count=len(names) - 3))
