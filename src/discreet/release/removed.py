"""Columns that a release lacks: which, why, and what of them can still be read off the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.risk.redundancy import NEARLY_ALL, Redundancy, most_frequent, nearest
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.transform.loss import attribute_changes
from discreet.transform.recoding import Recoding
from discreet.types import AnyIntArray

IDENTIFIER = "it identifies people by itself"
PERSON = "it says which rows belong to one person"
GUARD = "it says what people guard"
PLANNED = "as the plan says"
LOOKED_AT = 50_000
"""So many rows are looked at to find out from what a weight follows."""


@dataclass(frozen=True)
class RemovedColumn:
    """A column that the release lacks, the reason, and for a quasi-identifier what is lost with it.

    The ``loss`` of one that follows from a released attribute to a share λ is 1 − λ (1 − L), where L is the share of its
    other values that the labels of that attribute leave open, and at least the loss of that attribute: as much can be read
    off what is released. That of others is 1.
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
        open_share = max(losses[source.source], _left_open(counted, recoding, source))
        loss = 1.0 - source.explained * (1.0 - open_share)
        removed.append(RemovedColumn(name, Sentence("it {why}", why=Sentence(source.describe())), loss))
    return tuple(removed)


def _left_open(counted: EquivalenceClasses, recoding: Recoding, redundancy: Redundancy) -> float:
    """Which share of the other values of a column the labels of the one that it goes with leave open, on average over records.

    A value goes with that of the other column which most of its records have. 0 where the search began with other values than
    those that were counted.

    >>> import numpy as np
    >>> towns = EquivalenceClasses.from_columns({"town": ["a", "b", "c", "d"], "county": ["x", "x", "y", "y"]})
    >>> town = towns.project(["town"])
    >>> pairs = [Recoding.of_groups(town, np.array(g), kept=np.ones(2, bool), method="") for g in ([0, 0, 1, 1], [0, 1, 0, 1])]
    >>> [_left_open(towns, each, Redundancy("county", "town", 1.0)) for each in pairs]
    [0.0, 1.0]
    """
    at = recoding.classes.index(redundancy.source)
    values = recoding.classes.attributes[at].size
    size = counted.attributes[counted.index(redundancy.column)].size
    if values != counted.attributes[counted.index(redundancy.source)].size or size < 2:
        return 0.0
    mine: AnyIntArray = np.arange(values)
    others: AnyIntArray = np.arange(size)
    if redundancy.follows:
        others = most_frequent(counted, redundancy.source, redundancy.column)
    else:
        mine = most_frequent(counted, redundancy.column, redundancy.source)
    kept, records = recoding.kept, recoding.classes.records
    labels = recoding.columns[at].codes.astype(np.int64)
    shown = np.unique(labels[kept] * values + recoding.classes.codes[at][kept])
    label, value = np.divmod(shown, values)
    # Of each value that a label stands for all that go with it, each once.
    order = np.argsort(mine, kind="stable")
    starts = np.searchsorted(mine[order], np.arange(values + 1))
    counts = np.diff(starts)[value]
    owner = np.repeat(label, counts)
    first = np.repeat(starts[value] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    reached = others[order][first + np.arange(len(owner))]
    left = np.bincount(np.unique(owner * size + reached) // size, minlength=int(labels.max(initial=0)) + 1)
    share = np.where(kept, np.maximum(left[labels] - 1, 0) / (size - 1), 1.0)
    return float(share @ records / records.sum())


def loss_with_removed(recoding: Recoding, removed: Sequence[RemovedColumn]) -> float:
    """The mean loss over all quasi-identifiers, those that were left out included."""
    losses = [change["loss"] for change in attribute_changes(recoding).values()]
    losses += [column.loss for column in removed if column.loss is not None]
    return sum(losses) / len(losses)
