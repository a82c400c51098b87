"""Targeted record swapping: only records that stand out exchange values, with records that are like them otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import Perturbation, groups, names_of, need_number, whole
from discreet.perturb.randomness import Randomness
from discreet.perturb.swapping import lost_values
from discreet.sentences import Sentence
from discreet.types import IntArray

TRIES = 100
"""So many records are looked at to find a partner."""
TOGETHER = 10_000
"""For so many records chances are drawn at a time."""


@dataclass(frozen=True)
class TargetedSwap(Perturbation):
    """Records at risk exchange their values of ``columns`` (such as the area) with records that have others.

    At risk are records that fewer than ``k`` agree with in ``known`` and ``columns``. Each, in a random order, exchanges with a record drawn at random
    among those that agree with it in ``within`` (the profile), differ in ``columns``, and have not exchanged yet. Who finds no
    partner stays, and the release says how many these are. With ``household``, the column that numbers them, whole households exchange with
    households of the same size; one is at risk if a record of it is. Tables over the profile and the columns stay exact. Shlomo, Tudor, Groom, "Data swapping for protecting
    census tables", PSD 2010; de Wolf et al., "Targeted record swapping", Eurostat 2019.

    >>> rows = pa.table({"area": ["A", "A", "B", "B"], "age": [99, 30, 30, 40], "rooms": [1, 2, 1, 2]})
    >>> step = TargetedSwap(("area",), known=("age",), within=("rooms",), k=2)
    >>> step.changed(rows, Randomness(1))["area"].to_pylist()
    ['B', 'B', 'A', 'A']
    """

    id: ClassVar[str] = "targeted-swap"
    title: ClassVar[str] = "targeted record swapping"
    says: ClassVar[str] = (
        "Records that stand out exchange some values with records that are like them otherwise."
    )
    keeps: ClassVar[str] = (
        "every column has the same values equally often, also among records with the same profile"
    )
    source: ClassVar[str] = "Shlomo, Tudor and Groom, Data swapping for protecting census tables, 2010"

    known: tuple[str, ...]
    k: int = 3
    within: tuple[str, ...] = ()
    household: str | None = None

    def check(self) -> None:
        object.__setattr__(self, "known", names_of(self.id, "known", self.known))
        object.__setattr__(self, "within", names_of(self.id, "within", self.within))
        if not self.known:
            raise InvalidParameter(
                Sentence("{step} has nothing to tell risky records by", step=self.id),
                remedy="name columns that people know (known)",
            )
        if {*self.known, *self.within} & set(self.columns):
            raise InvalidParameter(
                Sentence("{step} has a column that both stays and is exchanged", step=self.id),
                remedy="name it in columns only, or not there",
            )
        if self.household in (*self.columns, *self.known, *self.within):
            raise InvalidParameter(
                Sentence("the household of {step} is one of its other columns", step=self.id),
                remedy="name the column that numbers households",
            )
        need_number(self.id, "k", self.k, above=2, allow=True)
        if not isinstance(self.k, int):
            raise InvalidParameter(
                Sentence("k of {step} must be a whole number", step=self.id), remedy="correct it"
            )

    @property
    def needed(self) -> tuple[str, ...]:
        of_household = () if self.household is None else (self.household,)
        return tuple(dict.fromkeys((*self.columns, *self.known, *self.within, *of_household)))

    def fit(self, rows: pa.Table) -> None:
        super().fit(rows)
        if self.household is None:
            return
        if rows[self.household].null_count:
            raise UnsuitableColumn(
                Sentence("records have no household in {name!r}", name=self.household),
                remedy="give each its number, also who lives alone",
            )
        home = groups(rows, [self.household])
        for name in (*self.columns, *self.within):
            if (
                len(np.unique(home * (rows.num_rows + 1) + groups(rows, [name])))
                > int(home.max(initial=-1)) + 1
            ):
                raise UnsuitableColumn(
                    Sentence("people of one household differ in {name!r}", name=name),
                    remedy="exchange and compare what a household has in common, such as area and size",
                )

    def at_risk(self, rows: pa.Table) -> IntArray:
        """The records that fewer than k agree with."""
        alike = groups(rows, [*self.known, *self.columns])
        return np.flatnonzero(np.bincount(alike)[alike] < self.k)

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        # Whoever lives together moves together: of each household the first record stands for all.
        home = np.arange(rows.num_rows) if self.household is None else groups(rows, [self.household])
        _, head, size = np.unique(home, return_index=True, return_counts=True)
        own = groups(rows, self.columns)[head]
        profile = np.unique(
            groups(rows, self.within)[head] * (rows.num_rows + 1) + size, return_inverse=True
        )[1]
        risky = np.unique(home[self.at_risk(rows)])
        order = np.lexsort((randomness.words(len(head)), profile))
        starts = np.searchsorted(profile[order], np.arange(int(profile.max(initial=0)) + 2))
        free = np.ones(len(head), dtype=bool)
        places = np.arange(len(head))
        risky = risky[randomness.permutation(len(risky))]
        for start in range(0, len(risky), TOGETHER):
            some = risky[start : start + TOGETHER]
            draws = randomness.uniform(len(some) * TRIES).reshape(len(some), TRIES)
            for record, chances in zip(some.tolist(), draws, strict=True):
                if not free[record]:
                    continue
                first, last = starts[profile[record]], starts[profile[record] + 1]
                tried = order[first + (chances * (last - first)).astype(np.int64)]
                fitting = tried[free[tried] & (own[tried] != own[record])]
                if len(fitting):
                    partner = int(fitting[0])
                    places[record], places[partner] = partner, record
                    free[[record, partner]] = False
        taken = pa.array(head[places][home])
        return {name: whole(rows[name]).take(taken) for name in self.columns}

    def shortfall(self, rows: pa.Table, new: Mapping[str, pa.Array]) -> str:
        risky = pa.array(self.at_risk(rows))
        before = rows.select(list(self.columns)).take(risky)
        after = pa.table({name: new[name].take(risky) for name in self.columns}, schema=before.schema)
        own = groups(pa.concat_tables([before, after]), self.columns)
        # An exchange changes the columns: whoever shows the same has had none.
        stayed = int((own[: len(risky)] == own[len(risky) :]).sum())
        if not stayed:
            return ""
        return Sentence(
            "{stayed:,} of {risky:,} records that stand out found no partner and stayed as they were ({step})",
            stayed=stayed,
            risky=len(risky),
            step=self.id,
        )

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        return lost_values(before, after, places, [n for n in self.within if n in before.column_names])
