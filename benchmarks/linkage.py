"""How fast is linking? `python benchmarks/linkage.py` links made-up people with a locally recoded release.

Released records are recoded one by one (overlapping intervals and sets), which is the hardest case: hardly two of
them are alike, and what fits cannot be looked up.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pyarrow as pa

from discreet.attacks.linkage.fitting import released_fitting
from discreet.attacks.linkage.view import View
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.packing import Packing, run_starts
from discreet.classes.pair import Pair
from discreet.table.domain import Domain

SIZES = {"age": 74, "zip": 1000, "sex": 2, "race": 5, "status": 7, "education": 16, "country": 40, "job": 14}


def people(rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Codes of made-up people: skewed values, jobs that go with education."""
    found = {
        name: np.minimum((rng.random(rows) ** 1.7 * size).astype(np.int64), size - 1)
        for name, size in SIZES.items()
    }
    found["job"] = (found["education"] * 14 // 16 + rng.integers(0, 4, rows)) % 14
    return found


def counted(domains: list[Domain], codes: list[np.ndarray]) -> EquivalenceClasses:
    packing = Packing.of([domain.size for domain in domains])
    words = packing.pack(codes)
    order = np.lexsort(tuple(reversed(words)))
    words = [word[order] for word in words]
    starts = run_starts(words)
    counts = np.diff(np.append(starts, len(order)))
    return EquivalenceClasses.from_packed(packing, [w[starts] for w in words], counts, attributes=domains)


def recoded(codes: dict[str, np.ndarray], blocks: int, rng: np.random.Generator) -> EquivalenceClasses:
    """Each block of people recoded its own way: numbers in shifted intervals, categories kept, paired or hidden."""
    domains, columns = [], []
    seed = rng.integers(0, blocks, len(codes["age"]))
    for place, (name, size) in enumerate(SIZES.items()):
        values = codes[name]
        way = np.random.default_rng(place).integers(0, 3, blocks)[seed]
        if size > 50:
            width = (way + 1) * (6 if size < 100 else 60)
            low = (values + seed) // width * width - seed
            key = low * 1000 + width
            labels = {int(k): f"[{k // 1000}, {k // 1000 + k % 1000 - 1}]" for k in np.unique(key)}
        else:
            pair = values - (values + seed) % 2
            key = np.where(way == 0, values, np.where(way == 1, 1001 + pair, 5000))
            labels = {
                int(k): "*" if k == 5000 else f"v{k}" if k < 1000 else f"{{v{k - 1001}, v{k - 1000}}}"
                for k in np.unique(key)
            }
        keys = np.array(sorted(labels))
        domains.append(Domain(name, pa.array([labels[int(k)] for k in keys])))
        columns.append(np.searchsorted(keys, key))
    return counted(domains, columns)


def make_pair(rows: int, blocks: int, seed: int = 1) -> Pair:
    """``rows`` made-up people, each recoded in one of ``blocks`` ways."""
    rng = np.random.default_rng(seed)
    codes = people(rows, rng)
    domains = [
        Domain(name, pa.array(range(size)) if size > 50 else pa.array([f"v{i}" for i in range(size)]))
        for name, size in SIZES.items()
    ]
    return Pair.of(counted(domains, [codes[name] for name in SIZES]), recoded(codes, blocks, rng))


def seconds_to_link(
    rows: int = 1_000_000, targets: int = 100_000, blocks: int = 3, seed: int = 1
) -> dict[str, float]:
    """Seconds for counting what fits each of ``targets`` people in a release of ``rows`` records."""
    pair = make_pair(rows, blocks, seed)
    view = View.of(pair)
    chosen = np.sort(
        np.random.default_rng(seed).choice(len(view.targets), min(targets, len(view.targets)), False)
    )
    released_fitting(view, chosen[:10])
    began = time.perf_counter()
    fit = released_fitting(view, chosen)
    return {
        "released records": float(pair.released.total),
        "released classes": float(len(pair.released)),
        "targets": float(len(chosen)),
        "median candidates": float(np.median(fit.everyone)),
        "seconds": time.perf_counter() - began,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--targets", type=int, default=100_000)
    args = parser.parse_args()
    for blocks in (1, 10, 100, 1000):
        print(
            {k: round(v, 2) for k, v in seconds_to_link(args.rows, args.targets, blocks).items()}, flush=True
        )
