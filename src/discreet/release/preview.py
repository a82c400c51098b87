"""A preview: what the least change would cost, found on counted classes alone, before anything is made."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.release.anonymize import solve
from discreet.release.prepare import check_plan
from discreet.transform.loss import attribute_changes, leaf_share_loss
from discreet.types import Progress

PREVIEW_SECONDS = 4.0
"""How long a preview searches at most where the method can stop: the real search may find less loss."""


@dataclass(frozen=True)
class AttributePreview:
    """What is to become of one quasi-identifier. ``level`` is missing where each class has a change of its own."""

    name: str
    loss: float
    before: int
    after: int
    level: int | None
    height: int

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "loss": self.loss,
            "distinct_before": self.before,
            "distinct_after": self.after,
            "level": self.level,
            "height": self.height,
        }


@dataclass(frozen=True)
class Preview:
    """What the least change would cost. ``optimal`` says that no search can do better with these hierarchies."""

    method: str
    loss: float
    suppressed_share: float
    smallest: int
    unit: str
    optimal: bool
    attributes: tuple[AttributePreview, ...]
    requirements: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-preview-1",
            "method": self.method,
            "loss": self.loss,
            "suppressed_share": self.suppressed_share,
            "smallest_class": self.smallest,
            "unit": self.unit,
            "optimal": self.optimal,
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "requirements": list(self.requirements),
            "notes": list(self.notes),
        }


def preview(
    classes: EquivalenceClasses,
    policy: Policy,
    *,
    plan: Plan | None = None,
    seconds: float = PREVIEW_SECONDS,
    progress: Progress | None = None,
) -> Preview:
    """What ``anonymize`` would do to a table of these classes, without touching a row or writing anything.

    The classes are counted over the policy's quasi-identifiers, without those that the plan drops.

    >>> from discreet.privacy import KAnonymity
    >>> counted = EquivalenceClasses.from_columns({"sex": ["f", "f", "m", "m"], "age": [30, 31, 30, 31]})
    >>> policy = Policy.of(quasi_identifiers=["sex", "age"]).require(KAnonymity(2))
    >>> foreseen = preview(counted, replace(policy, profile="research-partner-3"), plan=Plan(suppression_limit=0.0))
    >>> [(attribute.name, attribute.before, attribute.after) for attribute in foreseen.attributes], foreseen.suppressed_share
    ([('sex', 2, 1), ('age', 2, 1)], 0.0)
    """
    plan = plan or policy.plan
    check_plan(plan, policy)
    short = replace(plan, seconds=min(plan.seconds, seconds))
    solution = solve(classes, policy, short, progress or (lambda _: None))
    recoding = solution.chosen.recoding
    shown = recoding.shown()
    sizes = shown.persons if shown.event_level else shown.records
    heights = {fitted.ladder.name: fitted.ladder.height for fitted in solution.fitted}
    levels = recoding.levels
    return Preview(
        method=solution.chosen.method,
        loss=leaf_share_loss(recoding),
        suppressed_share=recoding.suppressed_records / recoding.classes.total,
        smallest=int(sizes.min()),
        unit="persons" if shown.event_level else "records",
        optimal=solution.chosen.optimal,
        attributes=tuple(
            AttributePreview(
                name,
                change["loss"],
                int(change["distinct_before"]),
                int(change["distinct_after"]),
                None if levels is None else levels[name],
                heights[name],
            )
            for name, change in attribute_changes(recoding).items()
        ),
        requirements=tuple(model.describe() for model in solution.models),
        notes=solution.notes,
    )
