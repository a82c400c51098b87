"""Disassociation: items stay as they are, and which of them belong together is partly left open.

Terrovitis, Liagouris, Mamoulis and Skiadopoulos, Privacy preservation by disassociation, VLDB 2012 (without its joint
clusters): baskets that are alike form a cluster; in it, items that are often together form chunks, each of which is k^m-anonymous by
itself; items that fewer than k baskets of the cluster hold are only named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from discreet.baskets.baskets import Baskets
from discreet.baskets.goal import BasketGoal
from discreet.types import IntArray, Progress

ROOM = 6
"""A cluster has fewer baskets than so many times k."""

Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Cluster:
    """``size`` baskets: ``chunks`` of parts of them, and items that are only ``named``."""

    size: int
    chunks: tuple[Parts, ...] = field(repr=False)
    named: tuple[int, ...] = field(repr=False)

    def keeps(self, goal: BasketGoal) -> bool:
        """Whether any m items of somebody leave at least k possible baskets.

        Every chunk is k^m-anonymous, the cluster has k baskets, and parts of different chunks can be in one basket often
        enough: an item is only named (then baskets can be empty in the chunks), or there are |P| + k (min(m, chunks) - 1)
        parts (lemma 2 of the paper).
        """
        if self.size < goal.k or any(rare_sets(chunk, goal) for chunk in self.chunks):
            return False
        return bool(self.named) or sum(map(len, self.chunks)) >= self.size + goal.k * (
            min(goal.m, len(self.chunks)) - 1
        )


@dataclass(frozen=True)
class DisassociatedBaskets:
    """Clusters of baskets, in an order that tells nothing."""

    items: tuple[str, ...] = field(repr=False)
    clusters: tuple[Cluster, ...] = field(repr=False)

    @property
    def named(self) -> int:
        """How many items of clusters are only named."""
        return sum(len(cluster.named) for cluster in self.clusters)

    def rows(self) -> Iterator[tuple[int, int, int, int, str]]:
        """Cluster, how many baskets it has, chunk, line and item; what is only named stands in chunk 0, line 0."""
        for number, cluster in enumerate(self.clusters, start=1):
            for item in cluster.named:
                yield number, cluster.size, 0, 0, self.items[item]
            for at, chunk in enumerate(cluster.chunks, start=1):
                for line, part in enumerate(chunk, start=1):
                    for item in part:
                        yield number, cluster.size, at, line, self.items[item]

    def drawn(self, seed: int = 1) -> Baskets:
        """Baskets that could have been the original: parts of chunks are put together at random."""
        chance = np.random.default_rng(seed)
        lists: list[list[str]] = []
        for cluster in self.clusters:
            made: list[list[str]] = [[] for _ in range(cluster.size)]
            for chunk in cluster.chunks:
                for part, at in zip(chunk, chance.permutation(cluster.size), strict=False):
                    made[at] += [self.items[item] for item in part]
            for item in cluster.named:
                made[int(chance.integers(cluster.size))].append(self.items[item])
            lists += made
        return Baskets.of(lists)


def disassociated(baskets: Baskets, goal: BasketGoal, tell: Progress) -> DisassociatedBaskets:
    """Part the baskets into clusters, and the items of each cluster into chunks."""
    clusters = []
    alike = _clusters(baskets, goal.k)
    for number, rows in enumerate(alike):
        if number % 500 == 0:
            tell(f"disassociating cluster {number:,} of {len(alike):,}")
        held = [tuple(baskets.codes[baskets.starts[row] : baskets.starts[row + 1]].tolist()) for row in rows]
        clusters.append(_chunked(held, goal))
    clusters.sort(key=lambda cluster: (cluster.chunks, cluster.named))
    return DisassociatedBaskets(baskets.items, tuple(clusters))


def rare_sets(chunk: Parts, goal: BasketGoal) -> int:
    """How many sets of at most m items stand in a part of a chunk, but in fewer than k."""
    counts: Counter[tuple[int, ...]] = Counter()
    for part in chunk:
        for size in range(1, min(goal.m, len(part)) + 1):
            counts.update(combinations(part, size))
    return sum(count < goal.k for count in counts.values())


def _clusters(baskets: Baskets, k: int) -> list[IntArray]:
    """Baskets that are alike: parted by the most frequent item that nobody was parted by, until they are few."""
    waiting: list[tuple[IntArray, frozenset[int]]] = [(np.arange(len(baskets)), frozenset())]
    done: list[IntArray] = []
    while waiting:
        rows, used = waiting.pop()
        if len(rows) < ROOM * k:
            done.append(rows)
            continue
        some = baskets.take(rows)
        support = some.support()
        support[list(used)] = 0
        item = int(support.argmax())
        holds = np.zeros(len(rows), dtype=bool)
        holds[some.owners[some.codes == item]] = True
        holders, others = rows[holds], rows[~holds]
        if support[item] == 0 or len(holders) < k or 0 < len(others) < k:
            done.append(rows)
            continue
        waiting.append((holders, used | {item}))
        if len(others):
            waiting.append((others, used))
    return done


def _chunked(held: Sequence[tuple[int, ...]], goal: BasketGoal) -> Cluster:
    """One cluster: chunks are filled with the most frequent items first, as long as each stays k^m-anonymous."""
    support = Counter(item for basket in held for item in basket)
    named = sorted(item for item, count in support.items() if count < goal.k)
    left = sorted(set(support) - set(named), key=lambda item: (-support[item], item))
    chunks: list[list[int]] = []
    while left:
        chunk: list[int] = []
        for item in left:
            if _stays(held, chunk, item, goal):
                chunk.append(item)
        chunks.append(chunk)
        left = [item for item in left if item not in chunk]
    cluster = _made(held, chunks, named)
    if not cluster.keeps(goal) and chunks:
        # The rarest item is only named, so that a basket may be empty in all chunks.
        rarest = min((item for chunk in chunks for item in chunk), key=lambda item: (support[item], item))
        chunks = [[item for item in chunk if item != rarest] for chunk in chunks]
        cluster = _made(held, [chunk for chunk in chunks if chunk], [*named, rarest])
    return cluster


def _stays(held: Sequence[tuple[int, ...]], chunk: Sequence[int], item: int, goal: BasketGoal) -> bool:
    """Whether a chunk with one more item has no rare set: only sets with the new item can be."""
    inside = set(chunk)
    counts: Counter[tuple[int, ...]] = Counter()
    for basket in held:
        if item in basket:
            others = [other for other in basket if other in inside]
            for size in range(1, min(goal.m - 1, len(others)) + 1):
                counts.update(combinations(others, size))
    return all(count >= goal.k for count in counts.values())


def _made(held: Sequence[tuple[int, ...]], chunks: Sequence[Sequence[int]], named: Sequence[int]) -> Cluster:
    parts = []
    for chunk in chunks:
        inside = set(chunk)
        shown = (tuple(item for item in basket if item in inside) for basket in held)
        # In the order of what they hold: which part belongs to which of another chunk is not told.
        parts.append(tuple(sorted(part for part in shown if part)))
    return Cluster(len(held), tuple(parts), tuple(sorted(named)))
