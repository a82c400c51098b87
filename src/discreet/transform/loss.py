"""The loss of a recoding: the share of its domain that each cell may stand for."""

from __future__ import annotations

import numpy as np

from discreet.table.hierarchies.hierarchy import leaf_loss
from discreet.transform.recoding import Recoding


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


def attribute_changes(recoding: Recoding) -> dict[str, dict[str, float]]:
    """What a recoding does to each quasi-identifier: distinct values before and after, share of the domain, loss."""
    weights = recoding.classes.records
    changes = {}
    for domain, column in zip(recoding.classes.attributes, recoding.columns, strict=True):
        shares = np.where(recoding.kept, column.shares, 1.0)
        # Cell by cell: the mean share of cells that stand for themselves is not one over the leaves to the last digit.
        losses = (
            leaf_loss(shares, column.leaves)
            if column.leaves and column.truthful
            else np.full(len(shares), np.nan)
        )
        changes[domain.name] = {
            "distinct_before": domain.size,
            "distinct_after": len(np.unique(column.codes[recoding.kept])),
            "mean_share": float(shares @ weights / weights.sum()),
            "loss": float(losses @ weights / weights.sum()),
        }
    return changes
