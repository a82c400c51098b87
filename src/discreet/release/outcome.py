"""What a setting or a method leads to: loss, and the risk that is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.search.cost import pair_of
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.loss import leaf_share_loss
from discreet.transform.recoding import Recoding
from discreet.utility.workload import random_workloads

QUERIES = 600
"""So many random questions are asked of releases that stand side by side; a third of them for counts."""


@dataclass(frozen=True)
class Outcome:
    """One setting or method and what it leads to: loss, the risk it leaves, what an intruder gains.

    ``loss`` is the leaf-share loss, which is not defined for means and other centres; ``mean_risk`` and ``max_risk`` are prosecutor risks; ``inference`` is the share
    of people whose sensitive value is the most frequent one of their class, the worst of the sensitive attributes.
    ``best``: no other outcome is at least as good in both loss and mean risk and better in one.
    """

    method: str
    k: int | None = None
    l: float | None = None  # noqa: E741  # the field's own name for it
    t: float | None = None
    loss: float | None = None
    suppressed_share: float | None = None
    mean_risk: float | None = None
    max_risk: float | None = None
    inference: float | None = None
    classes: int | None = None
    seconds: float = 0.0
    failed: str = ""
    best: bool = False
    chosen: bool = False
    knee: bool = False

    @property
    def reached(self) -> bool:
        """Whether the requirements were met, and there are loss and risk to compare."""
        return self.loss is not None and self.mean_risk is not None

    @property
    def label(self) -> str:
        """The setting in a few characters.

        >>> Outcome("optimal", k=5, t=0.3).label
        'k=5 t=0.3 optimal'
        """
        parts = [] if self.k is None else [f"k={self.k}"]
        parts += [f"{name}={value:g}" for name, value in (("l", self.l), ("t", self.t)) if value is not None]
        return " ".join([*parts, self.method])

    def to_dict(self, *, setting: bool = True) -> dict[str, object]:
        """JSON-ready data; without the ``setting`` what a comparison of methods says."""
        names = [field.name for field in fields(self)]
        if not setting:
            names = [name for name in names if name not in ("k", "l", "t", "inference", "chosen", "knee")]
        return {"pareto" if name == "best" else name: getattr(self, name) for name in names}

    def beats(self, other: Outcome) -> bool:
        """Whether this is at least as good in loss and mean risk, and better in one of them; failures lose."""
        if self.loss is None or self.mean_risk is None:
            return False
        if other.loss is None or other.mean_risk is None:
            return True
        gap, lead = self.loss - other.loss, self.mean_risk - other.mean_risk
        return gap <= 1e-12 and lead <= 1e-12 and min(gap, lead) < -1e-12


def outcome_of(recoding: Recoding, point: Outcome) -> Outcome:
    """What a recoding leads to, for a setting or method that is named."""
    shown = recoding.shown()
    sizes = shown.persons if shown.event_level else shown.records
    risk = 1.0 / sizes
    loss = leaf_share_loss(recoding)
    return replace(
        point,
        loss=None if math.isnan(loss) else loss,
        suppressed_share=recoding.suppressed_records / recoding.classes.total,
        mean_risk=float(np.dot(risk, shown.records) / shown.records.sum()),
        max_risk=float(risk.max()),
        inference=_inference(shown),
        classes=len(shown),
    )


def with_best(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes, those marked that no other beats; what failed is none of them."""
    return [
        replace(own, best=own.reached and not any(other.beats(own) for other in outcomes)) for own in outcomes
    ]


def count_errors(recodings: Sequence[Recoding], ladders: Sequence[Ladder]) -> tuple[float | None, ...]:
    """The median relative error of random COUNT queries, the same for all recodings of a table; ``None`` without answers."""
    pairs = [pair_of(recoding, ladders) for recoding in recodings]
    errors = [workload.errors["count"] for workload in random_workloads(pairs, queries=QUERIES)]
    return tuple(float(np.median(each)) if len(each) else None for each in errors)


def _inference(shown: EquivalenceClasses) -> float | None:
    """Share of records whose sensitive value is the most frequent of their class; the worst attribute counts."""
    shares = []
    for domain in shown.sensitive:
        histogram = shown.histogram(domain.name)
        shares.append(float(histogram.per_class(np.maximum, histogram.records).sum() / shown.total))
    return max(shares, default=None)
