"""What does t-closeness cost? `python benchmarks/closeness.py` forms classes of Adult by SABRE, by dealing out, and by Mondrian.

Of each: how many classes there are, which part of the domain of a quasi-identifier a class spans (mean over records and
attributes, (max - min) / range for numbers, (values - 1) / (all - 1) for categories), the median error of counts of people in some
age, education and marital status who have some sensitive values (buckets only), and seconds of processor time.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pyarrow as pa

import discreet
from discreet.classes.packing import combination_numbers
from discreet.types import IntArray
from tables import ADULT_COLUMNS, DATA

NUMBERS = ("age", "education-num")
CATEGORIES = ("sex", "race", "marital-status")
ASKED = (("occupation", "equal", 0), ("hours-per-week", "ordered", 5))
"""Sensitive attributes, the distance of their values, and how many values on each side a question spans."""
QUERIES = 1_000
LEAST = 10
"""Questions with fewer people are left out."""


def codes_of(rows: pa.Table, name: str) -> IntArray:
    """The rank of each row's value."""
    return np.unique(rows[name].to_numpy(zero_copy_only=False), return_inverse=True)[1].astype(np.int64)


def spanned(rows: pa.Table, owner: IntArray) -> float:
    """The mean part of a domain that a class spans."""
    order = np.argsort(owner, kind="stable")
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    sizes = np.diff([*starts, len(owner)])
    shares = []
    for name in NUMBERS:
        values = rows[name].to_numpy()[order]
        width = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
        shares.append(sizes @ width / len(owner) / np.ptp(values))
    for name in CATEGORIES:
        codes = codes_of(rows, name)
        held = np.unique(owner * (codes.max() + 1) + codes) // (codes.max() + 1)
        shares.append(sizes @ (np.unique(held, return_counts=True)[1] - 1) / len(owner) / codes.max())
    return float(np.mean(shares))


def count_error(rows: pa.Table, owner: IntArray, name: str, reach: int) -> float:
    """The median relative error of counts, if a row has each value with its share in the bucket."""
    rng = np.random.default_rng(1)
    values = codes_of(rows, name)
    shares = np.zeros((owner.max() + 1, values.max() + 1))
    np.add.at(shares, (owner, values), 1.0)
    shares /= shares.sum(axis=1, keepdims=True)
    age, education = (rows[each].to_numpy() for each in NUMBERS)
    marital = codes_of(rows, "marital-status")
    errors = []
    for a, e, m, v in rng.integers(0, len(owner), (QUERIES, 4)):
        inside = (abs(age - age[a]) <= 8) & (abs(education - education[e]) <= 2) & (marital == marital[m])
        low, high = max(values[v] - reach, 0), values[v] + reach + 1
        true = np.count_nonzero(inside & (values >= low) & (values < high))
        if true >= LEAST:
            errors.append(abs(shares[owner[inside], low:high].sum() - true) / true)
    return float(np.median(errors))


def compare_methods(limits: list[float]) -> None:
    rows = discreet.read(DATA / "adult" / "adult.data.gz", header=False, names=ADULT_COLUMNS).to_arrow()
    print(
        "| attribute | distance | t | method | classes | spanned | count error | seconds |\n"
        + "|---" * 8
        + "|"
    )
    for name, distance, reach in ASKED:
        for t in limits:
            model = discreet.TCloseness(t, name, distance=distance)  # type: ignore[arg-type]
            policy = discreet.Policy.of(
                quasi_identifiers=[*NUMBERS, *CATEGORIES], sensitive=[name], require=[model]
            )
            for method in ("sabre", "dealt", "mondrian"):
                start = time.process_time()
                if method == "mondrian":
                    plan = discreet.Plan(method="mondrian", order="kept", suppression_limit=0.0)
                    release = discreet.anonymize(rows, policy, plan=plan).to_arrow()
                    codes = [codes_of(release, each) for each in (*NUMBERS, *CATEGORIES)]
                    owner = combination_numbers([int(each.max()) + 1 for each in codes], codes)
                    owner = np.unique(owner, return_inverse=True)[1].astype(np.int64)
                else:
                    owner = discreet.bucketize(rows, policy, method=method, seed=1).buckets.of_record  # type: ignore[arg-type]
                seconds = time.process_time() - start
                error = "" if method == "mondrian" else f"{count_error(rows, owner, name, reach):.3f}"
                print(
                    f"| {name} | {distance} | {t} | {method} | {owner.max() + 1:,} | {spanned(rows, owner):.3f} | {error} | {seconds:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--t", type=float, nargs="+", default=[0.1, 0.2, 0.3])
    compare_methods(parser.parse_args().t)
