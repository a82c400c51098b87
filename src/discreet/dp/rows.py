"""Rows that are released with a guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa

from discreet.dp.amounts import said
from discreet.dp.ledger import Payment
from discreet.dp.statement import Guarantee
from discreet.table.frames import AsFrames, FrameKind


@dataclass(frozen=True)
class GuaranteedRows(AsFrames):
    """Rows, what they guarantee, and what is left of the budget."""

    rows: pa.Table
    guarantee: Guarantee
    left_epsilon: Fraction
    left_delta: Fraction
    payment: Payment

    @property
    def frame_kind(self) -> FrameKind:
        return FrameKind("arrow")

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self.rows

    def to_dict(self) -> dict[str, object]:
        return {
            "rows": self.rows.num_rows,
            "columns": self.rows.column_names,
            "guarantee": self.guarantee.to_dict(),
            "left_epsilon": said(self.left_epsilon),
            "left_delta": said(self.left_delta),
        }
