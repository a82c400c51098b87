"""What baskets lose at k^m-anonymity, and how long it takes: `python benchmarks/baskets.py [--generated 1000000]`.

Groceries (in the folder that DISCREET_DATA names, or beside the checkout) by every method, beside the apriori-based algorithm
(nodes are lifted from below, one at a time, where they stand in most rare sets for what it costs). Generated baskets draw their items
from a few thousand with the skew of a shop. The yardstick of time is one count of all pairs in the same run.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from discreet.baskets import Baskets
from discreet.baskets.goal import BasketGoal
from discreet.baskets.itemsets import Itemsets
from discreet.baskets.recoding import ItemCut, RecodedBaskets, item_hierarchy
from discreet.baskets.release import anonymize_baskets
from tables import DATA

METHODS = ("generalize", "suppress", "disassociate")


def lifted(cut: ItemCut, item: int) -> ItemCut:
    """With the node of an item replaced by the next larger one."""
    tree, level = cut.hierarchy, int(cut.levels[item])
    size = np.count_nonzero(tree.nodes[level] == tree.nodes[level][item])
    while level < tree.height and np.count_nonzero(tree.nodes[level] == tree.nodes[level][item]) == size:
        level += 1
    under = tree.nodes[level] == tree.nodes[level][item]
    return ItemCut(tree, np.where(under, np.int32(level), cut.levels).astype(np.int32))


def from_below(baskets: Baskets, goal: BasketGoal) -> RecodedBaskets:
    """The apriori-based algorithm with the cheapest lift for most rare sets."""
    cut = ItemCut.uniform(item_hierarchy(baskets, None), 0)
    occurrences = baskets.support().astype(np.float64)
    for size in range(1, goal.m + 1):
        while True:
            nodes, labels = cut.nodes()
            counted = Itemsets.of(baskets.recoded(nodes, labels), size)
            rare = counted.members()[counted.supports < goal.k]
            if not len(rare):
                break
            before = float(occurrences @ cut.losses())
            involved, at = np.unique(rare, return_inverse=True)
            hits = np.bincount(at.ravel())
            candidates = [lifted(cut, int(np.flatnonzero(nodes == node)[0])) for node in involved]
            worth = [
                count / max(float(occurrences @ candidate.losses()) - before, 1e-9)
                for count, candidate in zip(hits, candidates, strict=True)
            ]
            cut = candidates[int(np.argmax(worth))]
    recoded = baskets.recoded(*cut.nodes())
    return RecodedBaskets(baskets, cut, recoded, np.zeros(len(recoded.codes), dtype=bool))


def generated(count: int, items: int = 500, seed: int = 1) -> Baskets:
    """Baskets of about six items, which are as skewed as those of a shop, some of them bought together."""
    chance = np.random.default_rng(seed)
    weights = 1 / np.arange(1, items + 1)
    sizes = 1 + chance.poisson(5, count)
    codes = chance.choice(items, int(sizes.sum()), p=weights / weights.sum())
    owner = np.repeat(np.arange(count), sizes)
    # Every third item has a companion that often comes with it.
    with_it = (codes % 3 == 0) & (chance.random(len(codes)) < 0.3)
    codes, owner = (
        np.concatenate([codes, (codes[with_it] + 1) % items]),
        np.concatenate([owner, owner[with_it]]),
    )
    pairs = np.unique(owner * items + codes)
    owner, codes = np.divmod(pairs, items)
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))])
    return Baskets(tuple(f"item {at:04}" for at in range(items)), starts, codes.astype(np.int32))


def table(
    name: str, baskets: Baskets, ms: tuple[int, ...], methods: tuple[str, ...], *, apriori: bool
) -> None:
    """Print a line per method."""
    start = time.process_time()
    Itemsets.of(baskets, 2)
    yardstick = max(time.process_time() - start, 1e-6)
    print(
        f"\n{name}: {len(baskets):,} baskets, {len(baskets.items):,} items; one count of all pairs: {yardstick:.2f} s\n"
    )
    print(
        "| m | method | certainty penalty | pair error | frequent sets lost | s of processor time | / one count |"
    )
    print("|---|---|---|---|---|---|---|")
    for m in ms:
        for method in methods:
            start = time.process_time()
            release = anonymize_baskets(baskets, k=5, m=m, method=method)  # type: ignore[arg-type]
            seconds = time.process_time() - start
            certainty = "-" if release.loss.certainty is None else f"{release.loss.certainty:.2%}"
            print(
                f"| {m} | {method} | {certainty} | {release.loss.pair_error:.2f} | {release.loss.lost_itemsets:.0%} "
                f"| {seconds:.1f} | {seconds / yardstick:.0f} |",
                flush=True,
            )
        if apriori:
            start = time.process_time()
            loss = from_below(baskets, BasketGoal(5, m)).loss
            seconds = time.process_time() - start
            print(
                f"| {m} | from below (apriori) | {loss:.2%} | | | {seconds:.1f} | {seconds / yardstick:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generated", type=int, default=0, help="so many generated baskets, too")
    asked = parser.parse_args()
    groceries = Baskets.read(DATA / "transactions" / "groceries.csv.gz")
    table("Groceries", groceries, (1, 2, 3), METHODS, apriori=True)
    if asked.generated:
        table("Generated", generated(asked.generated), (2,), METHODS, apriori=True)
