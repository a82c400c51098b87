"""The least change of event tables: levels of their values and rows left out, until nobody is found by known rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from discreet.baskets.goal import BasketGoal
from discreet.baskets.suppression import suppressed
from discreet.relational.aligning import aligned
from discreet.relational.alike import KnownRows
from discreet.relational.policy import KnownEvents
from discreet.relational.recoding import EventRecoding
from discreet.relational.rows import RelatedTables
from discreet.search import clock
from discreet.types import BoolArray, IntArray, Progress


def least_loss(
    related: RelatedTables,
    root: IntArray,
    people: BoolArray,
    *,
    k: int,
    known: KnownEvents,
    seconds: float,
    tell: Progress,
) -> EventRecoding:
    """The event tables at the levels, and without the rows, that lose least of all that were tried.

    ``people`` are those who are kept, ``root`` a number for each by what the people's table shows. From the values as they
    are, and from values that tell nothing, one quasi-identifier after the other goes to the level that lowers the loss most, rows left
    out included, until none does or the time is over. That this is the least of all is not proven.
    """
    begun = clock.now()
    kept = related.kept(
        {
            part.name: people if part is related.root else np.ones(len(part), dtype=bool)
            for part in related.parts
        }
    )

    def tried(levels: Mapping[str, int]) -> EventRecoding:
        return without_rare(EventRecoding(related, root, levels, kept), k=k, known=known)

    # A key of another table is shown as it is, or the row is left out.
    heights = {
        name: 0 if name in related.policy.looked_up else fitted.ladder.height
        for name, fitted in related.fitted.items()
    }
    starts = [tried(dict.fromkeys(heights, 0))]
    if starts[0].loss > 0 and any(heights.values()):
        starts.append(tried(heights))
    best, best_loss = min(((start, start.loss) for start in starts), key=lambda start: start[1])
    for start in starts:
        reached, loss = start, start.loss
        better: EventRecoding | None = start
        while better is not None and loss > 0:
            better = None
            for name, height in heights.items():
                for level in range(height + 1):
                    if level == reached.levels[name] or clock.now() - begun >= seconds:
                        continue
                    tell("generalising rows of several tables")
                    candidate = tried({**reached.levels, name: level})
                    if candidate.loss < loss - 1e-12:
                        better, loss = candidate, candidate.loss
            reached = better or reached
        if loss < best_loss:
            best, best_loss = reached, loss
    return best


def without_rare(recoding: EventRecoding, *, k: int, known: KnownEvents) -> EventRecoding:
    """The recoding without the rows by which fewer than k people are found: by all rows, or by any ``known`` of them."""
    while True:
        seen, places = recoding.known()
        gone = _all_alike(seen, k) if known == "all" else _any_known(seen, k, known)
        if not any(rows.any() for rows in gone.values()):
            return recoding
        keeping = dict(recoding.kept)
        for name, rows in gone.items():
            still = keeping[name].copy()
            still[places[name][rows]] = False
            keeping[name] = still
        recoding = replace(recoding, kept=recoding.related.kept(keeping))


def _all_alike(seen: KnownRows, k: int) -> Mapping[str, BoolArray]:
    return {name: ~rows for name, rows in aligned(seen, k).items()}


def _any_known(seen: KnownRows, k: int, known: int) -> Mapping[str, BoolArray]:
    """Rows to be left out so that any set of at most so many known rows is that of k people: (k,k^m)-anonymity.

    Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos, "Anonymizing data with relational and transaction attributes", ECML PKDD 2013.
    """
    gone = {name: np.zeros(len(rows.numbers), dtype=bool) for name, rows in seen.tables.items()}
    baskets, table, row = seen.baskets()
    if not known or not len(baskets.codes):
        return gone
    ways = [suppressed(baskets, BasketGoal(k, known), frequent_first=first) for first in (True, False)]
    leaving = min(ways, key=lambda way: int(way.sum()))
    for at, name in enumerate(seen.tables):
        gone[name][row[leaving & (table == at)]] = True
    return gone
