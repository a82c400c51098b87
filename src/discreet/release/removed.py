"""Columns that a release lacks: which, why, and what of them can still be read off the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.risk.redundancy import NEARLY_ALL, nearest
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.transform.loss import attribute_changes
from discreet.transform.recoding import Recoding

IDENTIFIER = "it identifies people by itself"
PERSON = "it says which rows belong to one person"
PLANNED = "as the plan says"
LOOKED_AT = 50_000
"""So many rows are looked at to find out from what a weight follows."""


@dataclass(frozen=True)
class RemovedColumn:
    """A column that the release lacks, the reason, and for a quasi-identifier what is lost with it.

    The ``loss`` of one that follows from a released attribute to a share λ is 1 − λ (1 − L), where L is the loss of that
    attribute: as much can be read off what is released. That of others is 1.
    """

    name: str
    reason: str
    loss: float | None = None

    @property
    def note(self) -> str:
        """What to tell about it."""
        return Sentence("{name} was left out: {reason}", name=self.name, reason=Sentence(self.reason))

    def to_dict(self) -> dict[str, object]:
        known = self.loss is not None and not math.isnan(self.loss)
        return {"name": self.name, "reason": self.reason, "loss": self.loss if known else None}


def why_dropped(table: Table, policy: Policy, plan: Plan) -> dict[str, str]:
    """Why a release lacks what its plan drops; of a weight also, from which column that stays it follows.

    Weights are added up, not counted, so a sample of rows is looked at.
    """
    reasons: dict[str, str] = dict.fromkeys(plan.drop_attributes, PLANNED)
    weight = policy.weight
    shown = [name for name in policy.quasi_identifiers if name not in reasons]
    if weight in reasons and weight is not None and shown:
        sampled = table.engine.sample(table, LOOKED_AT)
        source = nearest(table.engine.count(sampled, quasi_identifiers=[weight, *shown]), weight, shown)
        if source is not None and source.explained >= NEARLY_ALL:
            reasons[weight] = Sentence("it {why}", why=Sentence(source.describe()))
    return reasons


def removed_columns(
    counted: EquivalenceClasses, recoding: Recoding, reasons: Mapping[str, str], order: Sequence[str]
) -> tuple[RemovedColumn, ...]:
    """What a release lacks, in the order of the table; ``counted`` are the classes of all quasi-identifiers.

    >>> import numpy as np
    >>> school = {"level": ["A", "B", "C"] * 10, "years": [9, 10, 13] * 10}
    >>> counted = EquivalenceClasses.from_columns(school)
    >>> levels = counted.project(["level"])
    >>> shown = Recoding.of_groups(levels, np.arange(3), kept=np.ones(3, dtype=bool), method="example")
    >>> removed_columns(counted, shown, {"years": PLANNED}, ["level", "years"])
    (RemovedColumn(name='years', reason='it follows from level', loss=0.0),)
    """
    losses = {name: change["loss"] for name, change in attribute_changes(recoding).items()}
    removed = []
    for name in order:
        if name not in reasons:
            continue
        if name not in counted.names:
            removed.append(RemovedColumn(name, reasons[name]))
            continue
        source = nearest(counted, name, list(losses))
        if source is None or source.explained < NEARLY_ALL:
            removed.append(RemovedColumn(name, reasons[name], 1.0))
            continue
        loss = 1.0 - source.explained * (1.0 - losses[source.source])
        removed.append(RemovedColumn(name, Sentence("it {why}", why=Sentence(source.describe())), loss))
    return tuple(removed)


def loss_with_removed(recoding: Recoding, removed: Sequence[RemovedColumn]) -> float:
    """The mean loss over all quasi-identifiers, those that were left out included."""
    losses = [change["loss"] for change in attribute_changes(recoding).values()]
    losses += [column.loss for column in removed if column.loss is not None]
    return sum(losses) / len(losses)
