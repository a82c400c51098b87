"""The pictures of a release: the table before and after, side by side, and what each attribute lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from discreet.measure import RecordRisk
from discreet.release.release import Release
from discreet.release.requirements import required_size
from discreet.reports.charts import bar, scale
from discreet.reports.class_sizes import EXPLANATION, MERGED, SOURCE, share_under, size_bins
from discreet.reports.figures import (
    MOST_SENSITIVE,
    RISK_SCALE,
    Figures,
    Picture,
    brief,
    drawn_share,
    extended_risks,
    partly,
    risk_name,
    zones,
)
from discreet.reports.words import became, several
from discreet.risk.scorr import category
from discreet.sentences import Sentence

MOST_ATTRIBUTES = 16
"""Attributes a picture shows; the table beside it has all."""


def release_pictures(release: Release, before: Figures, after: Figures) -> list[Picture]:
    """Every picture that this release has data for, in the order of the report."""
    drawn: list[Callable[[Release, Figures, Figures], Picture | None]] = [
        class_sizes,
        risks,
        losses,
        distinct_values,
    ]
    return [picture for draw in drawn if (picture := draw(release, before, after)) is not None]


def class_sizes(release: Release, before: Figures, after: Figures) -> Picture:
    """Share of records by the size of their class, before and after."""
    sides = [("Before", release.before, before), ("After", release.after, after)]
    required = required_size(release.after.policy, release.verdict.profile)
    bins = [size_bins(audit, required=required, public=figures.public) for _, audit, figures in sides]
    longest = max(size.share for side in bins for size in side)
    units = ["persons" if audit.event_level else "records" for _, audit, _ in sides]
    least = required if required is not None else 2
    small = [
        figures.share(share) if (share := share_under(audit, least)) else "" for _, audit, figures in sides
    ]
    return Picture(
        id="class-sizes",
        title="How large the classes are",
        takeaway=_small_classes(small[0], small[1], required, units[0]),
        alternative=Sentence(
            "{before} {after}",
            before=Sentence("Before: {each}.", each=_in_classes(bins[0], units[0])),
            after=Sentence("After: {each}.", each=_in_classes(bins[1], units[1])),
        ),
        explanation=Sentence(
            "{sizes} {scale}",
            sizes=Sentence(EXPLANATION),
            scale=Sentence("Both pictures have the same scale."),
        ),
        svg=_side_by_side(
            [
                bar.size_bins(side, required=required, unit=unit, longest=longest)
                for side, unit in zip(bins, units, strict=True)
            ]
        ),
        columns=("Class size", "Share of records"),
        rows=tuple(
            (
                Sentence("before: {label} {unit}", label=size.label, unit=Sentence(unit))
                if side is bins[0]
                else Sentence("after: {label} {unit}", label=size.label, unit=Sentence(unit)),
                size.text or "0%",
            )
            for side, unit in zip(bins, units, strict=True)
            for size in side
        ),
        source=SOURCE,
        note=MERGED if after.public else "",
    )


def risks(release: Release, before: Figures, after: Figures) -> Picture:
    """Mean and maximum of the extended risks, before and after."""
    low, medium = zones(release.after)
    old = extended_risks(release.before)
    new = {_kind(risk): risk for risk in extended_risks(release.after)}
    pairs = [(risk, new[_kind(risk)]) for risk in old]
    shown = pairs[: 2 + MOST_SENSITIVE]
    worst_before = max(risk.max for risk, _ in pairs)
    worst = max((risk for _, risk in pairs), key=lambda risk: (round(risk.max, 9), risk.mean))
    told = {
        "before": worst_before,
        "now": worst.max,
        "risk": Sentence(worst.name),
        "grade": Sentence(category(worst.max, low=low, medium=medium)),
    }
    takeaway = Sentence(
        "The worst-placed record had a risk of {before:.2f} before and has {now:.2f} now ({risk}), which is {grade}.",
        **told,
    )
    if worst.sensitive:
        takeaway = Sentence(
            "The worst-placed record had a risk of {before:.2f} before and has {now:.2f} now ({risk} for {sensitive}), "
            "which is {grade}.",
            sensitive=worst.sensitive,
            **told,
        )
    return Picture(
        id="risks",
        title="How high the risks are",
        takeaway=takeaway,
        alternative=Sentence(
            "{each: }",
            each=tuple(
                Sentence(
                    "{old}: mean {mean:.2f} before and {mean2:.2f} after, maximum {max:.2f} before and "
                    "{max2:.2f} after.",
                    old=Sentence(risk_name(old)),
                    mean=old.mean,
                    mean2=new.mean,
                    max=old.max,
                    max2=new.max,
                )
                for old, new in shown
            ),
        ),
        explanation=RISK_SCALE,
        svg=_side_by_side(
            [
                scale.risk_scale(
                    [
                        scale.RiskMark(brief(risk_name(pair[at])), pair[at].mean, pair[at].max)
                        for pair in shown
                    ],
                    low=low,
                    medium=medium,
                )
                for at in (0, 1)
            ]
        ),
        columns=("Risk", "Mean", "Maximum", Sentence("Records above {medium:g}", medium=medium)),
        rows=tuple(
            (
                risk_name(old),
                became(f"{old.mean:.3f}", f"{new.mean:.3f}"),
                became(f"{old.max:.3f}", f"{new.max:.3f}"),
                became(before.share(old.share_above(medium)), after.share(new.share_above(medium))),
            )
            for old, new in pairs
        ),
        source=worst.source,
        note=partly(len(shown) - 2, len(pairs) - 2, "sensitive attributes that were worst before"),
    )


def losses(release: Release, before: Figures, after: Figures) -> Picture | None:
    """What each attribute lost; ``None`` where a recipe without hierarchies was applied."""
    lost = {name: change["loss"] for name, change in release.changes().items()}
    if any(map(math.isnan, lost.values())):
        return None
    items = sorted(lost.items(), key=lambda item: -item[1])
    shown = items[:MOST_ATTRIBUTES]
    whole = [name for name, loss in items if loss <= 1e-12]
    if items[0][1] <= 1e-12:
        takeaway = Sentence("No attribute lost anything.")
    else:
        takeaway = Sentence(
            "{column} lost most: {share} of its detail.", column=items[0][0], share=before.share(items[0][1])
        )
        if whole:
            takeaway = Sentence("{most} {nothing}", most=takeaway, nothing=_lost_nothing(whole))
    return Picture(
        id="losses",
        title="What each attribute lost",
        takeaway=takeaway,
        alternative=Sentence(
            "Bars for the loss of each attribute. {each: }",
            each=tuple(
                Sentence("{name}: {share}.", name=name, share=before.share(loss)) for name, loss in shown
            ),
        ),
        explanation="0% is a value as it was, 100% a value that may be any; suppressed records count as 100%. "
        "The average over all attributes is the loss of the release.",
        svg=bar.bars(
            [bar.Bar(name, drawn_share(loss, before), before.share(loss)) for name, loss in shown],
            title="loss",
        ),
        columns=("Attribute", "Loss"),
        rows=tuple((name, before.share(loss)) for name, loss in items),
        source="share of the domain that a cell may stand for: Iyengar 2002",
        note=partly(len(shown), len(items), "attributes that lost most"),
    )


def distinct_values(release: Release, before: Figures, after: Figures) -> Picture:
    """How many different values each attribute has, before and after."""
    distinct = {
        name: (int(change["distinct_before"]), int(change["distinct_after"]))
        for name, change in release.changes().items()
    }
    items = sorted(distinct.items(), key=lambda item: item[1][1] / item[1][0])
    shown = items[:MOST_ATTRIBUTES]
    old, new = (sum(pair[at] for pair in distinct.values()) for at in (0, 1))
    return Picture(
        id="distinct-values",
        title="How many different values are left",
        takeaway=Sentence(
            "The quasi-identifiers had {before}; the release has {now:,}.",
            before=several(old, "different value"),
            now=new,
        ),
        alternative=Sentence(
            "Bars for the different values of each attribute after the change, as a share of those before. {each: }",
            each=tuple(
                Sentence("{name}: {was:,} before, {now:,} after.", name=name, was=was, now=now)
                for name, (was, now) in shown
            ),
        ),
        explanation="Pale: different values before. Dark: different values in the release. A full bar is as "
        "many as before or more, which happens where values are grouped differently in different classes.",
        svg=bar.bars(
            [
                bar.Bar(name, min(1.0, now / was), became(f"{was:,}", f"{now:,}"), 1.0)
                for name, (was, now) in shown
            ],
            title="different values after, as a share of those before",
        ),
        columns=("Attribute", "Before", "After"),
        rows=tuple((name, f"{was:,}", f"{now:,}") for name, (was, now) in items),
        source="counted",
        note=partly(len(shown), len(items), "attributes that kept least"),
    )


def _side_by_side(drawings: Sequence[str]) -> str:
    """Two drawings as small multiples under their heads."""
    panels = (
        f'<div><p class="panel">{head}</p>{svg}</div>'
        for head, svg in zip(("Before", "After"), drawings, strict=True)
    )
    return f'<div class="panels">{"".join(panels)}</div>'


def _kind(risk: RecordRisk) -> tuple[str, str | None]:
    return risk.name, risk.sensitive


def _small_classes(before: str, now: str, least: int | None, unit: str) -> Sentence:
    """How many records were and are in classes that are too small, or alone in theirs where no size is required."""
    if least is None:
        if before and now:
            return Sentence(
                "Before, {before} of the records were alone in their class; now {now} are.",
                before=before,
                now=now,
            )
        if before:
            return Sentence(
                "Before, {before} of the records were alone in their class; now none are.", before=before
            )
        if now:
            return Sentence("Before, none of the records were alone in their class; now {now} are.", now=now)
        return Sentence("Before, none of the records were alone in their class; now none are.")
    size = {"least": least, "unit": Sentence(unit)}
    if before and now:
        return Sentence(
            "Before, {before} of the records were in classes of fewer than {least} {unit}; now {now} are.",
            before=before,
            now=now,
            **size,
        )
    if before:
        return Sentence(
            "Before, {before} of the records were in classes of fewer than {least} {unit}; now none are.",
            before=before,
            **size,
        )
    if now:
        return Sentence(
            "Before, none of the records were in classes of fewer than {least} {unit}; now {now} are.",
            now=now,
            **size,
        )
    return Sentence(
        "Before, none of the records were in classes of fewer than {least} {unit}; now none are.", **size
    )


def _in_classes(bins: Sequence[bar.SizeBin], unit: str) -> tuple[Sentence, ...]:
    """Which share of records is in classes of each size."""
    return tuple(
        Sentence(
            "{text} of records in classes of {label} {unit}",
            text=size.text,
            label=size.label,
            unit=Sentence(unit),
        )
        for size in bins
        if size.text
    )


def _lost_nothing(names: Sequence[str]) -> Sentence:
    if len(names) > 4:
        return Sentence("{count} attributes lost nothing.", count=len(names))
    return Sentence("{names:and} lost nothing.", names=tuple(names))
