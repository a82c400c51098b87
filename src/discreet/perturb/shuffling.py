"""Shuffling: the values of a column are dealt out anew by what others say of their ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter
from discreet.perturb.base import NO_GUARANTEE, ordered
from discreet.perturb.randomness import Randomness
from discreet.perturb.swapping import lost_values
from discreet.perturb.synthesis import Synthesis, drawn_scores, ranked
from discreet.sentences import Sentence
from discreet.types import IntArray


@dataclass(frozen=True)
class Shuffling(Synthesis):
    """The true values of ``columns`` in another order, which keeps their correlations of ranks with each other and with ``given``.

    Normal scores are drawn by a Gaussian copula, given those of the ``given`` columns alone, and the record with the r-th smallest
    score gets the r-th smallest true value. Distributions stay exact, and beyond what the given columns say the new value says nothing
    about the true one. Muralidhar and Sarathy, "Data shuffling: a new masking approach for numerical data", Management Science 52, 2006.

    >>> rows = pa.table({"age": list(range(50)), "pay": list(range(100, 150))})
    >>> new = Shuffling(("pay",), given=("age",)).changed(rows, Randomness(1))["pay"]
    >>> sorted(new.to_pylist()) == rows["pay"].to_pylist()
    True
    """

    redrawn: ClassVar[bool] = False
    id: ClassVar[str] = "shuffling"
    title: ClassVar[str] = "data shuffling"
    says: ClassVar[str] = (
        "The values of a column are dealt out anew so that ranks go with other columns as before."
    )
    keeps: ClassVar[str] = "every column has the same values equally often"
    source: ClassVar[str] = (
        "Muralidhar and Sarathy, Data shuffling: a new masking approach for numerical data, 2006"
    )

    def check(self) -> None:
        super().check()
        if self.rarer is not None:
            raise InvalidParameter(
                Sentence("{step} deals out the values of all records", step=self.id), remedy="leave rarer out"
            )
        if not self.given:
            raise InvalidParameter(
                Sentence("{step} has no column to follow", step=self.id),
                remedy="name columns that stay (given), or use permutation",
            )

    def guarantee(self, rows: pa.Table) -> str:
        return NO_GUARANTEE

    def lent(self, rows: pa.Table, randomness: Randomness) -> dict[str, IntArray]:
        for name in self.columns:
            # Refuses what has no order.
            ordered(rows, name, self.id)
        codes = {name: ranked(rows, name, self.id) for name in self.needed}
        made = drawn_scores(codes, self.columns, randomness)
        lent = {}
        for at, name in enumerate(self.columns):
            lent[name] = np.empty(rows.num_rows, dtype=np.int64)
            lent[name][np.argsort(made[:, at], kind="stable")] = np.lexsort(
                (randomness.words(rows.num_rows), codes[name])
            )
        return lent

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        return lost_values(before, after, places, ())
