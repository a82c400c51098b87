"""The loss of a recoding: the share of its domain that each cell may stand for."""

from __future__ import annotations

import numpy as np

from discreet.table.hierarchies.hierarchy import leaf_loss
from discreet.transform.recoding import Recoding, ReleasedAttribute


def leaf_share_loss(recoding: Recoding) -> float:
    """Mean over attributes and records of (share - 1/D) / (1 - 1/D); suppressed cells cost 1.

    NaN where a recipe was applied, which does not say how many leaves a domain has, and where values were
    replaced by a mean or another centre, which stands for nothing but itself.
    """
    if not all(column.leaves and column.truthful for column in recoding.columns):
        return float("nan")
    weights = recoding.classes.records / recoding.classes.total
    columns = zip(recoding.columns, recoding.shares, strict=True)
    return float(np.mean([float(leaf_loss(shares, column.leaves) @ weights) for column, shares in columns]))


def _loss(mean_share: float, column: ReleasedAttribute) -> float:
    """The loss of one attribute from the mean share of its domain that a cell may stand for, where that is known."""
    known = column.leaves and column.truthful
    return float(leaf_loss(np.array(mean_share), column.leaves)) if known else float("nan")


def attribute_changes(recoding: Recoding) -> dict[str, dict[str, float]]:
    """What a recoding does to each quasi-identifier: distinct values before and after, share of the domain, loss."""
    weights = recoding.classes.records
    changes = {}
    for domain, column in zip(recoding.classes.attributes, recoding.columns, strict=True):
        mean = float(np.where(recoding.kept, column.shares, 1.0) @ weights / weights.sum())
        changes[domain.name] = {
            "distinct_before": domain.size,
            "distinct_after": len(np.unique(column.codes[recoding.kept])),
            "mean_share": mean,
            "loss": _loss(mean, column),
        }
    return changes
