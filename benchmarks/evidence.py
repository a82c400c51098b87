"""How fast is evidence? `python benchmarks/evidence.py` measures and attacks Adult and up to a million records.

Everything is compared with a plain GROUP BY over the same rows in the same run; growth beyond n log n is marked.
Adult lies in the folder that DISCREET_DATA names (or beside the checkout).
"""

from __future__ import annotations

import argparse
import math
import time

import duckdb
import numpy as np
import pyarrow as pa

import discreet
from discreet.policy.plan import Plan
from discreet.release.attack import attack
from discreet.release.compare import compare
from linkage import seconds_to_link
from tables import DATA

ARX = DATA / "arx"
QI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
SENSITIVE = ("occupation", "pay")


def adult() -> tuple[pa.Table, discreet.Policy]:
    """Adult with its hierarchies and a made-up number, k = 5 and two occupations in every class."""
    table = discreet.read(ARX / "adult.csv.gz")
    rows = table.engine.to_arrow(table)
    pay = np.random.default_rng(1).lognormal(3.5, 0.4, rows.num_rows).round(1)
    policy = discreet.Policy.of(
        quasi_identifiers=QI,
        sensitive=SENSITIVE,
        require=[discreet.KAnonymity(5), discreet.LDiversity(2, "occupation")],
        profile="research-partner-5",
    ).generalise(
        {name: str(ARX / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in (*QI, "occupation")}
    )
    return rows.append_column("pay", pa.array(pay)), policy


def enlarged(rows: pa.Table, total: int, *, seed: int = 1) -> pa.Table:
    """``total`` rows: each column drawn from the rows by itself for a tenth of them, whole rows for the rest."""
    rng = np.random.default_rng(seed)
    drawn = rows.take(pa.array(rng.integers(0, rows.num_rows, total)))
    mixed = rng.random(total) < 0.1
    columns = {}
    for name in rows.column_names:
        other = rows.column(name).take(pa.array(rng.integers(0, rows.num_rows, total)))
        columns[name] = pa.compute.if_else(
            pa.array(mixed), other.combine_chunks(), drawn.column(name).combine_chunks()
        )
    return pa.table(columns)


def group_by(rows: pa.Table) -> float:
    """Seconds of the yardstick: one plain GROUP BY."""
    with duckdb.connect() as connection:
        connection.register("people", rows)
        connection.execute("CREATE TABLE data AS SELECT * FROM people").fetchall()
        names = ", ".join(f'"{name}"' for name in QI)
        start = time.perf_counter()
        connection.execute(f"SELECT {names}, count(*) FROM data GROUP BY ALL").fetchall()
        return time.perf_counter() - start


def evidence(rows: pa.Table, policy: discreet.Policy) -> dict[str, float]:
    """Seconds of the comparison and of every attack; every tenth row is kept out as the control group."""
    kept = np.arange(rows.num_rows) % 10 != 0
    table, control = (discreet.read(rows.filter(pa.array(some))) for some in (kept, ~kept))
    release = discreet.anonymize(table, policy, plan=Plan(method="mondrian"))
    found = {}
    start = time.perf_counter()
    compare(table, release, policy)
    found["compare"] = time.perf_counter() - start
    start = time.perf_counter()
    attacked = attack(release, policy, original=table, control=control)
    for one in attacked.results:
        found[one.attack] = found.get(one.attack, 0.0) + one.seconds
    found["attack, all"] = time.perf_counter() - start
    for one in attacked.untested:
        print(f"  {rows.num_rows:,} rows, not run: {one.attack}: {one.why}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000])
    given = parser.parse_args()
    rows, policy = adult()
    # Kernels are compiled once and kept on disk: the first run is not what a user sees.
    evidence(rows.slice(0, 2000), policy)
    times: dict[int, dict[str, float]] = {}
    for total in (rows.num_rows, *given.rows):
        here = rows if total == rows.num_rows else enlarged(rows, total)
        times[total] = {"GROUP BY": group_by(here), **evidence(here, policy)}
    sizes = list(times)
    print(f"\n{'seconds':<40}" + "".join(f"{size:>12,}" for size in sizes) + f"{'growth':>10}{'n log n':>10}")
    for name in dict.fromkeys(name for one in times.values() for name in one):
        values = [times[size].get(name, math.nan) for size in sizes]
        growth = values[-1] / values[-2] if len(values) > 1 and values[-2] > 0 else math.nan
        limit = (
            sizes[-1] * math.log(sizes[-1]) / (sizes[-2] * math.log(sizes[-2]))
            if len(sizes) > 1
            else math.nan
        )
        mark = "" if math.isnan(growth) or growth <= limit * 1.25 or values[-1] < 1 else "  above"
        print(f"{name:<40}" + "".join(f"{v:>12.2f}" for v in values) + f"{growth:>10.1f}{limit:>10.1f}{mark}")
    whole = times[rows.num_rows]
    print(f"\nAdult, compare and all attacks: {whole['compare'] + whole['attack, all']:.1f} s (goal: 60 s)")
    print("\n100,000 people linked with 1 million locally recoded records:")
    for blocks in (10, 1000):
        linked = seconds_to_link(1_000_000, 100_000, blocks)
        print(
            f"  {linked['released classes']:>9,.0f} distinct released combinations: {linked['seconds']:.1f} s"
        )


if __name__ == "__main__":
    main()
