"""How surely known items tell a sensitive one: ρ-uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from discreet.baskets.baskets import Baskets
from discreet.baskets.goal import BasketGoal
from discreet.baskets.itemsets import Itemsets, packed, subsets
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

SOURCE = "Cao, Karras, Raïssi and Tan, ρ-uncertainty: inference-proof transaction anonymization, VLDB 2010"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Rules:
    """Rules "who holds these items holds the sensitive one, too": of sets of one length, the item at one place follows.

    ``support`` baskets hold the items that are known, ``together`` of them the sensitive item as well.
    """

    place: int
    keys: IntArray = field(repr=False)
    support: IntArray = field(repr=False)
    together: IntArray = field(repr=False)

    @property
    def confidence(self) -> FloatArray:
        return self.together / self.support


def surest(baskets: Baskets, sensitive: frozenset[str], m: int) -> float:
    """The largest share of baskets with some known items, at most ``m``, that hold a given sensitive item.

    max over s ∈ S and X, |X| ≤ m, s ∉ X, of support(X ∪ {s}) / support(X); with X = ∅ it is how common s is.

    >>> baskets = Baskets.of([["milk", "pills"], ["milk"], ["bread", "pills"], ["bread"], ["bread", "milk"]])
    >>> surest(baskets, frozenset({"pills"}), 1)
    0.4
    """
    return max(
        (float(rules.confidence.max(initial=0.0)) for _, rules in _rules(baskets, sensitive, m)), default=0.0
    )


def surplus(baskets: Baskets, goal: BasketGoal) -> Iterator[IntArray]:
    """The places of sensitive items that have to go, so that the rules of the least length are no surer than they may be."""
    if goal.rho is None:
        return
    for length, rules in _rules(baskets, goal.sensitive, goal.m):
        excess = np.ceil(rules.together - goal.rho * rules.support - ROUNDING).astype(np.int64)
        wanted = rules.keys[excess > 0]
        for chunk in subsets(baskets, length) if len(wanted) else ():
            row, which = np.nonzero(np.isin(chunk.keys, wanted))
            keys = chunk.keys[row, which]
            order = np.argsort(keys, kind="stable")
            of_key = np.searchsorted(rules.keys, keys[order])
            first = np.searchsorted(keys[order], keys[order])
            taken = order[np.arange(len(order)) - first < excess[of_key]]
            # What baskets of one length give, those of other lengths need not.
            np.subtract.at(excess, np.searchsorted(rules.keys, keys[taken]), 1)
            yield (baskets.starts[chunk.rows[row]] + chunk.places[which, rules.place])[taken, None]
        if len(wanted):
            return


def _rules(baskets: Baskets, sensitive: frozenset[str], m: int) -> Iterator[tuple[int, Rules]]:
    """All rules that end in a sensitive item, by the length of their sets and the place of that item."""
    is_sensitive = _sensitive(baskets, sensitive)
    # Baskets of which nothing is left are not released.
    shown = np.array([np.count_nonzero(baskets.sizes)])
    known = Itemsets(0, len(baskets.items), np.zeros(1, dtype=np.int64), shown)
    for length in baskets.lengths(m + 1):
        counted = Itemsets.of(baskets, length)
        members = counted.members()
        for place in range(length):
            follows = is_sensitive[members[:, place]]
            others = np.array([[at for at in range(length) if at != place]], dtype=np.int64)
            parts = packed(members[follows], others, len(baskets.items))[:, 0]
            yield (
                length,
                Rules(place, counted.keys[follows], known.support_of(parts), counted.supports[follows]),
            )
        known = counted


def _sensitive(baskets: Baskets, names: frozenset[str]) -> BoolArray:
    known = set(baskets.items)
    for name in sorted(names):
        if name not in known:
            # What the items are called is the data's: they are not listed.
            raise InvalidParameter(
                Sentence("no basket holds the sensitive item {name!r}", name=name),
                remedy="check how it is written",
            )
    return np.array([item in names for item in baskets.items], dtype=bool)
