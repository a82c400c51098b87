"""What an intruder finds who knows some items of a basket."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from discreet.baskets.baskets import Baskets
from discreet.baskets.goal import BasketGoal
from discreet.baskets.itemsets import Itemsets, packed, subsets, unpacked
from discreet.baskets.uncertainty import ROUNDING, surest
from discreet.plain import Printed, plain
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

SOURCE = "Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data, VLDB 2008"


@dataclass(frozen=True)
class KnownItems:
    """What an intruder finds who knows ``known`` items of a basket.

    ``rare`` of the ``itemsets`` that occur stand in fewer than k baskets, the rarest in ``least``. ``exposed`` baskets hold
    such a set. ``success``: how often a basket is picked rightly by items chosen at random, the mean of 1 / support.
    """

    known: int
    itemsets: int
    rare: int
    least: int
    exposed: int
    success: float


@dataclass(frozen=True)
class BasketAudit(Printed):
    """Whether sets of up to ``m`` items leave at least ``k`` baskets each (k^m-anonymity), and where they do not."""

    k: int
    m: int
    baskets: int
    items: int
    by_known: tuple[KnownItems, ...]
    exposed: int
    exposing: tuple[tuple[tuple[str, ...], int], ...] = field(default=(), repr=False)
    """The smallest sets that expose, with how many baskets hold them: those of which no part does; the rarest first."""
    rho: float | None = None
    surest: float | None = None
    """The largest share of baskets with some known items that hold a given sensitive one."""
    absent: tuple[str, ...] = ()
    """Sensitive items that no basket holds."""

    @property
    def holds(self) -> bool:
        """Whether every set of at most m items that occurs stands in at least k baskets, and none tells a sensitive item."""
        return not any(known.rare for known in self.by_known) and not self.tells

    @property
    def tells(self) -> bool:
        """Whether known items tell a sensitive one more surely than they may."""
        return self.rho is not None and self.surest is not None and self.surest > self.rho + ROUNDING

    @property
    def says(self) -> str:
        """The verdict in one sentence."""
        if self.holds:
            return Sentence(
                "Whoever knows up to {m} items of a basket finds at least {k} baskets.", m=self.m, k=self.k
            )
        if not self.exposed:
            return Sentence(
                "Of the baskets with some known items, up to {m}, {surest:.1%} hold a given sensitive item: more than "
                "{rho:.1%}.",
                m=self.m,
                surest=self.surest,
                rho=self.rho,
            )
        return Sentence(
            "{exposed:,} of {baskets:,} baskets can be told apart by up to {m} of their items: fewer than {k} baskets hold these.",
            exposed=self.exposed,
            baskets=self.baskets,
            m=self.m,
            k=self.k,
        )

    def __str__(self) -> str:
        return str(self.says)

    def to_dict(self, *, itemsets: int = 0) -> dict[str, object]:
        """As plain data; sets of items are values of the data and are told only if they are asked for."""
        document: dict[str, object] = {
            "schema": "discreet-baskets-audit-1",
            "holds": self.holds,
            "k": self.k,
            "m": self.m,
            "baskets": self.baskets,
            "items": self.items,
            "exposed": self.exposed,
            "by_known": plain(self.by_known),
            "rho": self.rho,
            "surest": self.surest,
            "absent": list(self.absent),
            "source": SOURCE,
        }
        if itemsets:
            document["exposing"] = [
                {"items": list(items), "baskets": support} for items, support in self.exposing[:itemsets]
            ]
        return document


def audit_baskets(
    baskets: Baskets,
    *,
    k: int = 5,
    m: int = 2,
    sensitive: frozenset[str] | None = None,
    rho: float | None = None,
) -> BasketAudit:
    """Count for every set of up to ``m`` items how many baskets hold it: k^m-anonymity asks for ``k``.

    Every set S of at most m items that stands in any basket has support(S) ≥ k. Terrovitis, Mamoulis and Kalnis, 2008.
    With ``sensitive`` items, of the baskets with S at most a share ``rho`` may hold a given one of them.

    >>> audit = audit_baskets(Baskets.of([["milk", "bread"], ["milk", "bread"], ["milk", "gin"]]), k=2, m=2)
    >>> audit.holds, audit.exposed, audit.exposing
    (False, 1, ((('gin',), 1),))
    """
    goal = BasketGoal(k, m, frozenset(sensitive or ()), rho)
    there = goal.sensitive & set(baskets.items)
    listed: list[KnownItems] = []
    exposing: list[tuple[tuple[str, ...], int]] = []
    rare_sets: list[IntArray] = []
    exposed = np.zeros(len(baskets), dtype=bool)
    by_fewer = np.zeros(len(baskets))
    for size in baskets.lengths(m):
        counted = Itemsets.of(baskets, size)
        rare = counted.keys[counted.supports < k]
        exposed_here, chance = _looked_up(baskets, counted, rare)
        exposed |= exposed_here
        # Who holds fewer items is known by all of them.
        chance = np.where(baskets.sizes < size, by_fewer, chance)
        by_fewer = chance
        listed.append(
            KnownItems(
                size,
                len(counted.keys),
                len(rare),
                int(counted.supports.min(initial=len(baskets))),
                int(exposed_here.sum()),
                float(chance.mean()) if len(chance) else 0.0,
            )
        )
        members = unpacked(rare, size, counted.items)
        smallest = ~_holds_any(members, rare_sets, counted.items)
        supports = counted.support_of(rare)
        exposing += [
            (tuple(baskets.items[code] for code in members[at]), int(supports[at]))
            for at in np.flatnonzero(smallest)
        ]
        rare_sets.append(rare)
    exposing.sort(key=lambda entry: (entry[1], len(entry[0]), entry[0]))
    return BasketAudit(
        k,
        m,
        len(baskets),
        len(baskets.items),
        tuple(listed),
        int(exposed.sum()),
        tuple(exposing),
        rho,
        None if rho is None else surest(baskets, there, m),
        tuple(sorted(goal.sensitive - there)),
    )


def _looked_up(baskets: Baskets, counted: Itemsets, rare: IntArray) -> tuple[BoolArray, FloatArray]:
    """Which baskets hold a rare set, and how often each is picked rightly by one of its sets."""
    exposed = np.zeros(len(baskets), dtype=bool)
    chance = np.zeros(len(baskets))
    for chunk in subsets(baskets, counted.size):
        exposed[chunk.rows] = np.isin(chunk.keys, rare).any(axis=1)
        chance[chunk.rows] = (1 / counted.support_of(chunk.keys)).mean(axis=1)
    return exposed, chance


def _holds_any(members: IntArray, smaller: list[IntArray], items: int) -> BoolArray:
    """Which sets hold one of the smaller sets."""
    holds = np.zeros(len(members), dtype=bool)
    for size, keys in enumerate(smaller, start=1):
        places = np.array(list(combinations(range(members.shape[1]), size)))
        holds |= np.isin(packed(members, places, items), keys).any(axis=1)
    return holds
