"""Columns that nobody judged: which of them single records out, alone or with a few others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations as subsets
from math import prod

import numpy as np

from discreet.risk.tally import group_sizes
from discreet.sentences import Sentence
from discreet.types import AnyIntArray

SHARE = 0.05
"""A set of columns on which more than this share of the records are alone singles them out."""
TOGETHER = 3
"""So many columns are taken together, besides all unexamined columns at once."""
SETS = 1_000
"""So many sets are looked at, those with most possible values first."""
UNSEEN_SHARE = 0.005
"""If so few rows of a sample have a value that no other row has, as few of the table have one that it has not seen."""
WIDEST = 60
"""So many columns, those with most values, are combined; of a wider table the others are looked at alone."""


@dataclass(frozen=True)
class Culprit:
    """A column that nobody judged, and the set of columns with which it singles out a share of the records."""

    column: str
    together: tuple[str, ...]
    share: float

    def describe(self) -> str:
        """The finding in words.

        >>> Culprit("weight", ("weight", "hours", "sex"), 0.8).describe()
        'weight with hours and sex singles out 80.0% of the records'
        """
        others = [name for name in self.together if name != self.column]
        if len(others) > TOGETHER - 1:
            return Sentence(
                "{column} with {others} other columns that nobody judged singles out {share:.1%} of the records",
                column=self.column,
                others=len(others),
                share=self.share,
            )
        if others:
            return Sentence(
                "{column} with {others:and} singles out {share:.1%} of the records",
                column=self.column,
                others=others,
                share=self.share,
            )
        return Sentence(
            "{column} singles out {share:.1%} of the records", column=self.column, share=self.share
        )


def unique_share(columns: Sequence[AnyIntArray]) -> float:
    """The share of records that are alone with their combination of codes.

    >>> unique_share([np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])])
    0.5
    """
    records = len(columns[0])
    sizes = [int(codes.max(initial=0)) + 1 for codes in columns]
    groups = group_sizes(columns, sizes, np.ones(records, dtype=np.int64))
    return float((groups.records == 1).sum() / records)


def culprits(
    columns: Mapping[str, AnyIntArray],
    unexamined: Sequence[str],
    *,
    share: float = SHARE,
    confirm: Callable[[Sequence[str]], float] | None = None,
    rows: int | None = None,
) -> list[Culprit]:
    """The unexamined columns to treat so that those left single out at most a ``share`` of the records.

    ``columns`` are codes per record of everything an intruder may know. Sets of up to three columns with an
    unexamined one among them are looked at, small ones first, then all unexamined columns at once; of a set
    that singles out more, beyond what its other columns do, the unexamined column with most values is named and
    left out of what follows.
    ``confirm`` gives the share in the whole table where the codes are those of a sample: alone in a sample is
    not yet alone in the table. It is not asked where the values that the sample has seen cannot single out so many of
    the table's ``rows``, and hardly a row has a value that it has not (Good 1953: as many as have one seen once).

    >>> weight, hours, sex = np.arange(100), np.arange(100) % 5, np.arange(100) % 2
    >>> culprits({"weight": weight, "hours": hours, "sex": sex}, ["weight", "hours"])
    [Culprit(column='weight', together=('weight',), share=1.0)]
    >>> many = {f"answer {i}": np.arange(256) >> i & 1 for i in range(8)}
    >>> [culprit.share for culprit in culprits(many, list(many))]
    [1.0]
    """
    if not columns:
        return []
    records = len(next(iter(columns.values())))
    distinct = {name: len(np.unique(codes)) for name, codes in columns.items()}
    seen = {
        name: np.count_nonzero(np.bincount(codes) == 1) <= UNSEEN_SHARE * records
        for name, codes in columns.items()
    }
    left = [name for name in unexamined if distinct[name] > 1]
    judged = [name for name in columns if name not in unexamined and distinct[name] > 1]
    named: list[Culprit] = []

    def singled(names: Sequence[str]) -> float:
        """The share that the unexamined columns of a set single out beyond what the judged ones do."""
        known = [name for name in names if name in judged]
        sampled = unique_share([columns[name] for name in names])
        if sampled > share and known:
            sampled -= unique_share([columns[name] for name in known])
        if sampled <= share or confirm is None:
            return sampled
        if (
            rows
            and all(seen[name] for name in names)
            and prod(distinct[name] for name in names) <= share / 2 * rows
        ):
            return 0.0
        return confirm(names) - (confirm(known) if known else 0.0)

    def name_one(names: Sequence[str], singled_out: float) -> None:
        worst = max((name for name in names if name in left), key=distinct.__getitem__)
        named.append(Culprit(worst, (worst, *(name for name in names if name != worst)), singled_out))
        left.remove(worst)

    for names in _sets(left, judged, distinct, at_least=share * records):
        if set(names) - set(judged) <= set(left) and (alone := singled(names)) > share:
            name_one(names, alone)
    while len(left) > TOGETHER and (alone := singled(left)) > share:
        name_one(tuple(left), alone)
    return named


def _sets(
    unexamined: Sequence[str], judged: Sequence[str], distinct: Mapping[str, int], *, at_least: float
) -> list[tuple[str, ...]]:
    """Sets with an unexamined column that have values enough to single out so many records, small sets first."""
    names = sorted([*unexamined, *judged], key=lambda name: -distinct[name])
    suspects = set(unexamined)
    sets: list[tuple[str, ...]] = []
    for size in range(1, TOGETHER + 1):
        fitting = [
            members
            for members in subsets(names if size == 1 else names[:WIDEST], size)
            if suspects & set(members) and prod(distinct[name] for name in members) > at_least
        ]
        fitting.sort(key=lambda members: -prod(distinct[name] for name in members))
        sets += fitting[: SETS - len(sets)]
    return sets
