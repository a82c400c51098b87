"""How does microaggregation grow? `python benchmarks/mdav.py` prints n, seconds, and the ratio to the last n.

Exact MDAV would take 100 times as long for 10 times the records; inside blocks it takes about 10 times as long.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.search.clusters.microaggregation import microaggregate


def mixture(records: int, attributes: int = 8, *, seed: int = 1) -> EquivalenceClasses:
    """Numbers from a mixture of correlated normal distributions, nearly all combinations distinct."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 3, (12, attributes))
    mixing = rng.normal(0, 0.5, (attributes, attributes)) + np.eye(attributes)
    points = centre[rng.integers(0, 12, records)] + rng.normal(0, 1, (records, attributes)) @ mixing
    whole = np.rint(points * 100).astype(np.int64)
    return EquivalenceClasses.from_columns({f"x{j}": whole[:, j] for j in range(attributes)})


def mdav_growth(
    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000), *, k: int = 5, variable_size: bool = True
) -> list[tuple[int, float, float]]:
    """Print and return n, seconds, and how many times as long as for the n before."""
    microaggregate(mixture(200), k, variable_size=variable_size)
    found: list[tuple[int, float, float]] = []
    print(f"{'records':>10} {'classes':>10} {'seconds':>9} {'ratio':>6} {'SSE/SST':>8}")
    for records in sizes:
        classes = mixture(records)
        start = time.perf_counter()
        result = microaggregate(classes, k, variable_size=variable_size)
        seconds = time.perf_counter() - start
        ratio = seconds / found[-1][1] if found else float("nan")
        found.append((records, seconds, ratio))
        print(
            f"{records:>10,} {len(classes):>10,} {seconds:>9.2f} {ratio:>6.1f} {result.sse_sst:>8.2%}",
            flush=True,
        )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--fixed", action="store_true", help="groups of fixed size (plain MDAV)")
    parser.add_argument("--largest", type=int, default=1_000_000)
    given = parser.parse_args()
    steps = tuple(n for n in (10_000, 100_000, 1_000_000, 10_000_000) if n <= given.largest)
    mdav_growth(steps, k=given.k, variable_size=not given.fixed)
