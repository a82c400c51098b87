"""How far is grouping from what memory allows? `python benchmarks/bandwidth.py [--rows MILLIONS]` copies packed rows, and counts them.

A row is one packed number of eight bytes. Copying them all reads and writes every byte once: no way of grouping is faster than this.
Beside it: sorting with run lengths (how nearly distinct rows are counted), and DuckDB grouping the same numbers, both on numbers of which
nearly all differ and on numbers of which one in twenty is new. Processor time, best of several.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import duckdb
import numpy as np
import pyarrow as pa

from discreet.classes.packing import counted_words
from discreet.types import IntArray


def best(run: Callable[[], object], times: int) -> float:
    """The least seconds of processor time of several runs."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def grouped(words: IntArray) -> None:
    """What DuckDB takes to group and count the same numbers."""
    rows = pa.table({"w0": words})
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("packed", rows)
        connection.execute(
            "SELECT count(*), max(n) FROM (SELECT w0, count(*) AS n FROM packed GROUP BY w0)"
        ).fetchall()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=10, metavar="MILLIONS")
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    many = int(asked.rows * 1e6)
    rng = np.random.default_rng(1)
    room = np.empty(many, dtype=np.int64)
    print(f"{many:,} packed rows of 8 bytes, one thread, seconds of processor time")
    print(f"{'rows':24}{'copying':>9}{'GB/s':>7}{'sorted and counted':>20}{'DuckDB groups':>15}")
    for kind, distinct in (("nearly all differ", 1 << 60), ("one in twenty is new", many // 20)):
        words = rng.integers(0, distinct, many)
        counted_words(words[:1000].copy())  # compiled, if it has to be
        copying = best(lambda words=words: np.copyto(room, words), asked.times + 2)
        empty = best(lambda words=words: words.copy(), asked.times)
        counting = best(lambda words=words: counted_words(words.copy()), asked.times) - empty
        grouping = best(lambda words=words: grouped(words), asked.times)
        print(
            f"{kind:24}{copying:9.3f}{16 * many / copying / 1e9:7.1f}"
            f"{counting:9.2f} ({counting / copying:5.0f} ×){grouping:7.2f} ({grouping / copying:3.0f} ×)"
        )


if __name__ == "__main__":
    main()
