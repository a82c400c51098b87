"""What a hierarchy does to a column, level by level: what one looks at before using it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.table.hierarchies.hierarchy import Ladder
from discreet.types import AnyIntArray


@dataclass(frozen=True)
class LevelPreview:
    """One level on the records of a column.

    ``nodes`` that occur, the ``smallest``, ``average`` and ``largest`` number of records of a node, the share of
    records that are ``unique`` in this column alone or ``under`` k with others, and the ``leaf_share``: how much
    of the domain a value stands for, on average over records (Iyengar 2002).
    """

    level: int
    nodes: int
    smallest: int
    average: float
    unique: float
    leaf_share: float
    largest: int
    under: float


def preview(ladder: Ladder, totals: AnyIntArray, *, k: int = 2) -> list[LevelPreview]:
    """Every level of a hierarchy on a column with so many records per value; ``under`` is for this ``k``.

    >>> import pyarrow as pa
    >>> from discreet.table.hierarchies.numbers import Intervals
    >>> from discreet.table.domain import Domain
    >>> ages = Domain("age", pa.array([31, 34, 47, 52]))
    >>> ladder = Intervals(widths=(10,)).build(ages).ladder(ages)
    >>> for level in preview(ladder, np.array([1, 1, 5, 1]), k=3): print(level)
    LevelPreview(level=0, nodes=4, smallest=1, average=2.0, unique=0.375, leaf_share=0.25, largest=5, under=0.375)
    LevelPreview(level=1, nodes=3, smallest=1, average=2.66..., unique=0.125, leaf_share=0.31..., largest=5, under=0.375)
    LevelPreview(level=2, nodes=1, smallest=8, average=8.0, unique=0.0, leaf_share=1.0, largest=8, under=0.0)
    """
    records = np.asarray(totals, dtype=np.int64)
    all_records = int(records.sum())
    previews = []
    for level, step in enumerate(ladder.steps):
        sizes = np.bincount(step.codes, weights=records, minlength=len(step.labels)).astype(np.int64)
        sizes = sizes[sizes > 0]
        previews.append(
            LevelPreview(
                level,
                len(sizes),
                int(sizes.min()),
                all_records / len(sizes),
                int((sizes == 1).sum()) / all_records,
                float(step.shares @ records / all_records),
                int(sizes.max()),
                int(sizes[sizes < k].sum()) / all_records,
            )
        )
    return previews
