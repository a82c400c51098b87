"""Twelve monthly releases judged with a register, and a sample with its population: `python benchmarks/releases.py [--people 1000000] [--population 10000000]`.

Every month 5 % of the people leave and as many come. Each release is judged together with all earlier ones, then entered. The yardstick, in
the same run, is a plain join of the new people with those of every earlier month, counted by what was released. The same is done with a quarter of the
people: time that is linear in the new table falls to a quarter.

Adult is held against a population that is drawn from it, a third of the values exchanged between people: k-map and δ-presence beside
counting both tables and joining the counts. All times are those of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.classes.population import Population
from discreet.engine.read import read
from discreet.policy import Policy
from discreet.privacy import DeltaPresence, KMap
from discreet.register import Register
from tables import ADULT_COLUMNS, DATA

KEY = "only for measuring, known to everybody"
POLICY = Policy.of(
    quasi_identifiers=["age", "sex", "region"], sensitive=["dx"], direct_identifiers=["person"]
)
CHURN, VALUES = 0.05, 15
KNOWN = ["age", "workclass", "education", "race", "sex"]


def timed(run: Callable[[], object]) -> float:
    """Seconds of the processor, of all threads."""
    start = time.process_time()
    run()
    return time.process_time() - start


def everybody(count: int, seed: int) -> pa.Table:
    """People with an age, a sex, a region and an illness."""
    chance = np.random.default_rng(seed)
    return pa.table(
        {
            "person": pa.array(np.arange(count)),
            "age": chance.integers(0, 100, count),
            "sex": pa.array(["f", "m"]).take(pa.array(chance.integers(0, 2, count))),
            "region": pa.array([f"region {at:02}" for at in range(20)]).take(
                pa.array(chance.integers(0, 20, count))
            ),
            "dx": pa.array([f"illness {at:02}" for at in range(VALUES)]).take(
                pa.array(chance.integers(0, VALUES, count))
            ),
        }
    )


def released(table: pa.Table) -> pa.Table:
    """Ages in tens; the rest as it is, for classes of 400 kinds have many people."""
    ages = np.asarray(table["age"]) // 10
    bands = pa.array([f"[{low}, {low + 9}]" for low in range(0, 100, 10)])
    return table.drop_columns(["person"]).set_column(0, "age", bands.take(pa.array(ages)))


def joined(new: pa.Table, earlier: Sequence[pa.Table]) -> None:
    """The least that must be done: find the new people in each earlier month, and count by what was released of them."""
    shown = released(new).append_column("person", new["person"])
    for before in earlier:
        known = released(before).append_column("person", before["person"])
        both = shown.join(
            known.rename_columns([f"{name} before" for name in known.column_names[:-1]] + ["person"]),
            "person",
            join_type="inner",
        )
        both.group_by([name for name in both.column_names if name != "person"]).aggregate([([], "count_all")])


def months(people: int, count: int, *, told: bool) -> float:
    """Judge, then enter, month by month; the processor time of the last judgement."""
    leaving = int(people * CHURN)
    table = everybody(people + count * leaving, seed=1)
    last = 0.0
    with TemporaryDirectory() as place:
        folder = Path(place)
        register = Register(folder / "register")
        earlier: list[pa.Table] = []
        for month in range(count):
            new = table.slice(month * leaving, people)
            file = folder / f"month-{month + 1}.parquet"
            pq.write_table(released(new), file)
            given = {"original": new, "person": "person", "key": KEY}
            if month:
                last = timed(lambda: register.judge(file, POLICY, **given))  # noqa: B023
            plain = timed(lambda: joined(new, earlier)) if month and told else 0.0  # noqa: B023
            entered = timed(lambda: register.add(file, POLICY, **given))  # noqa: B023
            earlier.append(new)
            if told and month:
                print(
                    f"| {month + 1} | {people:,} | {last:.2f} | {plain:.2f} | {last / plain:.1f} | {entered:.2f} |",
                    flush=True,
                )
    return last


def population(adult: pa.Table, count: int) -> pa.Table:
    """People like those of Adult: drawn from it, a third of the values from somebody else."""
    chance = np.random.default_rng(2)
    drawn = chance.integers(0, adult.num_rows, count)
    columns = {}
    for name in KNOWN:
        other = chance.integers(0, adult.num_rows, count)
        columns[name] = adult[name].take(pa.array(np.where(chance.random(count) < 1 / 3, other, drawn)))
    return pa.table(columns)


def presence(count: int) -> None:
    """k-map and δ-presence of Adult beside the plain counts, both from Parquet files."""
    adult = read(DATA / "adult" / "adult.data.gz", header=False, names=ADULT_COLUMNS).to_arrow().select(KNOWN)
    shared = ", ".join(f'"{name}"' for name in KNOWN)
    with TemporaryDirectory() as place:
        sample, whole = Path(place) / "adult.parquet", Path(place) / "population.parquet"
        pq.write_table(adult, sample)
        pq.write_table(pa.concat_tables([population(adult, count), adult]), whole)

        def plain() -> None:
            counted = [
                f"(SELECT {shared}, count(*) AS n FROM '{file}' GROUP BY {shared})"
                for file in (sample, whole)
            ]
            duckdb.sql(
                f"SELECT min(b.n), max(a.n / b.n) FROM {counted[0]} AS a JOIN {counted[1]} AS b USING ({shared})"
            ).fetchall()

        def measured() -> None:
            table, outside = read(sample), read(whole)
            classes = table.engine.count(table, quasi_identifiers=KNOWN)
            people = outside.engine.count(outside, quasi_identifiers=KNOWN)
            beside = replace(classes, outside=Population(people))
            for model in (KMap(1), DeltaPresence(1.0)):
                model.measure(beside)

        timed(measured)
        timed(plain)
        ours, yardstick = timed(measured), timed(plain)
    print(f"k-map and δ-presence of {adult.num_rows:,} people in {count:,}: {ours:.2f} s")
    print(f"counted and joined: {yardstick:.2f} s, ratio {ours / yardstick:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--population", type=int, default=1_000_000)
    given = parser.parse_args()
    months(2_000, 2, told=False)
    print(
        "| month | people | judged, s | joined and counted, s | ratio | entered, s |\n|---|---|---|---|---|---|"
    )
    whole = months(given.people, given.months, told=True)
    quarter = months(given.people // 4, given.months, told=False)
    print(f"the last month with a quarter of the people: {quarter:.2f} s, {whole / quarter:.1f} times less")
    presence(given.population)


if __name__ == "__main__":
    main()
