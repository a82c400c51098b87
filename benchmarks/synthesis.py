"""How near are artificial people to Adult? `python benchmarks/synthesis.py` prints MST, AIM and PrivBayes at several ε.

Mean total variation over all pairs and all triples of columns, each draw of its own; δ = 1e-9, numbers in 100 bins (`--bins 32` for fewer). Where mbi is
installed, MST with its inference stands beside them (`mst by mbi`). With `--rows 1000000` the time and
memory of a large table. Adult lies in the folder that DISCREET_DATA names (or beside the checkout).
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet
from reference_synthesis import INSTALLED, reference_mst
from tables import ADULT_COLUMNS, DATA

BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_499_999),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_399),
    "hours-per-week": (1, 99),
}
BINS = 100
BY_MBI = "mst by mbi"


def adult(*, education: bool = False) -> pa.Table:
    """Both parts of Adult, if not asked for without education, which says the same as its number."""
    rows = []
    for name in ("adult.data.gz", "adult.test.csv.gz"):
        with gzip.open(DATA / "adult" / name, "rt") as file:
            cells = ([cell.strip().rstrip(".") for cell in line.split(",")] for line in file)
            rows += [row for row in cells if len(row) == 15 and row[0].isdigit()]
    columns = dict(zip(ADULT_COLUMNS, zip(*rows, strict=True), strict=True))
    if not education:
        del columns["education"]
    return pa.table(
        {name: list(map(int, cells)) if name in BOUNDS else list(cells) for name, cells in columns.items()}
    )


def codes_of(first: pa.Table, second: pa.Table, bins: int) -> list[np.ndarray]:
    """The columns of both tables, one after the other, as codes of the same bins and values."""
    codes = []
    for name in first.column_names:
        both = pa.chunked_array([*first[name].chunks, *second[name].chunks])
        if name in BOUNDS:
            low, high = BOUNDS[name]
            width = max(1, -(-(high - low + 1) // bins))
            codes.append((both.fill_null(high).to_numpy() - low) // width)
        else:
            texts = both.fill_null("").combine_chunks().dictionary_encode()
            codes.append(texts.indices.to_numpy().astype(np.int64))
    return codes


def total_variation(codes: list[np.ndarray], rows: int, ways: int) -> float:
    """The mean over all sets of so many columns of ½ Σ|share − share|."""
    errors = []
    for chosen in itertools.combinations(codes, ways):
        key = np.zeros(len(chosen[0]), dtype=np.int64)
        for code in chosen:
            key = key * (int(code.max()) + 1) + code
        _, key = np.unique(key, return_inverse=True)
        left, right = (
            np.bincount(part, minlength=int(key.max()) + 1) / len(part) for part in (key[:rows], key[rows:])
        )
        errors.append(0.5 * np.abs(left - right).sum())
    return float(np.mean(errors))


def ours(table: pa.Table, method: str, epsilon: float, bins: int = BINS) -> pa.Table:
    with tempfile.TemporaryDirectory() as folder:
        ledger = discreet.Ledger(Path(folder) / "budget")
        ledger.set_budget(epsilon, "1e-9")
        made = discreet.synthesize(
            table,
            epsilon=epsilon,
            delta="1e-9",
            unit="record",
            bounds=BOUNDS,
            keys={name: set(table[name].to_pylist()) for name in table.column_names if name not in BOUNDS},
            bins=bins,
            method=method,  # type: ignore[arg-type]
            ledger=ledger,
        )
    return made.rows


def compared(table: pa.Table, method: str, epsilon: float, bins: int) -> tuple[list[np.ndarray], float]:
    """The codes of the table and of what a method makes of it, one after the other, and its processor time."""
    if method == BY_MBI:
        known = codes_of(table, table.slice(0, 0), bins)
        start = time.process_time()
        drawn = reference_mst(known, epsilon, "1e-9")
        took = time.process_time() - start
        return [np.concatenate(pair) for pair in zip(known, drawn, strict=True)], took
    start = time.process_time()
    made = ours(table, method, epsilon, bins)
    took = time.process_time() - start
    return codes_of(table, made, bins), took


def many(rows: int, method: str) -> None:
    """How long a large table takes: rows of Adult drawn at random, all 15 columns; processor time and the most memory."""
    table = adult(education=True)
    drawn = table.take(np.random.default_rng(1).integers(table.num_rows, size=rows))
    start = time.process_time()
    made = ours(drawn, method, 1.0)
    took = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{method}: {rows:,} × {drawn.num_columns} → {made.num_rows:,} rows, {took:.1f} s, {most:.2f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", default="0.1,1,10")
    # The others are for few columns, or for numbers alone.
    usual = ["mst", "aim", "privbayes", *([BY_MBI] if INSTALLED else [])]
    parser.add_argument("--methods", default=",".join(usual))
    parser.add_argument("--bins", type=int, default=BINS)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--rows", type=int, help="only the time of a table of so many rows")
    given = parser.parse_args()
    if given.rows:
        for method in given.methods.split(","):
            many(given.rows, method)
        return
    table = adult()
    print(f"{'':12} {'ε':>5} {'pairs':>7} {'triples':>8} {'seconds':>8}")
    for epsilon in map(float, given.epsilon.split(",")):
        for method in given.methods.split(","):
            figures = []
            for _ in range(given.draws):
                codes, took = compared(table, method, epsilon, given.bins)
                figures.append((*(total_variation(codes, table.num_rows, ways) for ways in (2, 3)), took))
            pairs, triples, took = np.mean(figures, axis=0)
            print(f"{method:12} {epsilon:5g} {pairs:7.3f} {triples:8.3f} {took:8.1f}", flush=True)


if __name__ == "__main__":
    main()
