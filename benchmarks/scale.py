"""Audit and anonymise many rows whose combinations are nearly all distinct, against DuckDB's own work on the same file.

python benchmarks/scale.py --rows 1,10 --folder DIR   (millions of rows; files of about 15 MB per million are written)

Printed per table and verb: seconds, processor time, peak memory, and the ratios to plain DuckDB in the same process:
for the audit to one GROUP BY of the quasi-identifiers, for anonymising to reading, grouping and writing the file.
The line "models" is how far the audit is when k, l, t and all other models have been measured. ``--memory`` limits the engine,
DuckDB's own work included; ``--file`` takes a file of such people that is there.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import duckdb

import discreet

QUASI_IDENTIFIERS = ("age", "sex", "zip", "education", "marital", "occupation", "race", "country")
SENSITIVE = ("diagnosis", "outcome")
SKEWED = {
    "education": (2, 16),
    "marital": (2, 7),
    "occupation": (2, 14),
    "race": (4, 5),
    "country": (6, 40),
    "diagnosis": (2, 20),
    "outcome": (2, 5),
}


def write_people(rows: int, path: Path) -> None:
    """Twelve columns, skewed and independent: of 20 million rows 18 million combinations are distinct."""
    columns = [
        "CAST(18 + floor(pow(random(), 1.5) * 72) AS INTEGER) AS age",
        "CASE WHEN random() < 0.5 THEN 'f' ELSE 'm' END AS sex",
        "CAST(10000 + floor(pow(random(), 3) * 900) AS INTEGER) AS zip",
        *(
            f"CAST(floor(pow(random(), {power}) * {size}) AS INTEGER) AS {name}"
            for name, (power, size) in SKEWED.items()
        ),
        "random() AS x1",
        "CAST(random() * 1000 AS INTEGER) AS x2",
    ]
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("SELECT setseed(0.42)").fetchall()
    connection.execute(f"COPY (SELECT {', '.join(columns)} FROM range({rows})) TO '{path}' (FORMAT parquet)")


class Told:
    """What a verb is doing: seconds, processor time and peak memory when each stage begins."""

    def __init__(self) -> None:
        self.start = time.perf_counter(), time.process_time()
        self.stages: dict[str, tuple[float, float, float]] = {}

    def __call__(self, stage: str) -> None:
        wall, processor = time.perf_counter() - self.start[0], time.process_time() - self.start[1]
        self.stages[str(stage)] = wall, processor, peak()

    def longest(self) -> list[tuple[str, float]]:
        """The stages that took most processor time, the last one aside."""
        begun = list(self.stages.items())
        used = [(name, after[1] - at[1]) for (name, at), (_, after) in pairwise(begun)]
        return sorted(used, key=lambda stage: -stage[1])[:10]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds and processor time of some work."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def plain(query: str) -> None:
    """DuckDB's own work, within the memory that our engine may take."""
    connection = duckdb.connect(config={"temp_directory": tempfile.mkdtemp()})
    connection.execute("SET enable_progress_bar = false")
    if "DISCREET_MEMORY" in os.environ:
        connection.execute(f"SET memory_limit = '{os.environ['DISCREET_MEMORY']}iB'")
    connection.execute(query).fetchall()
    connection.close()


def group(path: Path) -> None:
    names = ", ".join(QUASI_IDENTIFIERS)
    plain(f"SELECT count(*) FROM (SELECT count(*) FROM '{path}' GROUP BY {names})")


def rewrite(path: Path) -> None:
    group(path)
    target = path.with_name("rewritten.parquet")
    plain(f"COPY (SELECT * FROM '{path}') TO '{target}' (FORMAT parquet)")
    target.unlink()


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def audit(path: Path, policy: discreet.Policy, told: Told) -> None:
    discreet.audit(path, policy, progress=told).to_dict()


def anonymise(path: Path, policy: discreet.Policy, told: Told) -> None:
    release = discreet.anonymize(path, policy, progress=told)
    told("saving")
    target = release.save(path.with_name("released.parquet"))
    print(f"    loss {release.outcome.loss:.1%}, suppressed {release.suppressed:,} records")
    target.unlink()


VERBS = {"audit": (audit, group), "anonymize": (anonymise, rewrite)}


def measure(verb: str, path: Path, yardsticks: multiprocessing.Queue[tuple[float, float]]) -> None:
    """The lines of a verb; in a process of its own, so that the peak of memory is that of the verb."""
    policy = discreet.Policy.of(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE)
    told = Told()
    seconds, processor = timed(lambda: VERBS[verb][0](path, policy, told))
    lines = {verb: (seconds, processor, peak())}
    if verb == "audit":
        lines = {"models": told.stages["risks per record"], **lines}
    else:
        print("    " + ", ".join(f"{name} {used:.0f} s" for name, used in told.longest()), flush=True)
    # Other programs come and go: the yardstick is the mean of before and after.
    second = timed(lambda: VERBS[verb][1](path))
    first = yardsticks.get()
    plain, plain_processor = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
    for name, (wall, used, memory) in lines.items():
        print(
            f"  {name:10} {wall:7.1f} s ({used:.1f} s of processor), peak {memory:.2f} GiB; DuckDB {plain:.1f} s "
            f"({plain_processor:.1f} s): {wall / plain:.1f} times, {used / plain_processor:.1f} times by processor",
            flush=True,
        )


def before(verb: str, path: Path, yardsticks: multiprocessing.Queue[tuple[float, float]]) -> None:
    """The yardstick, in a process of its own, too."""
    yardsticks.put(timed(lambda: VERBS[verb][1](path)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1,10", help="millions of rows, e.g. 1,10,100")
    parser.add_argument("--verbs", default="audit,anonymize")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--memory", default=None, help="what the engine may take, e.g. 2G")
    parser.add_argument("--file", type=Path, default=None)
    given = parser.parse_args()
    if given.memory:
        os.environ["DISCREET_MEMORY"] = given.memory
    start = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for millions in ["all"] if given.file else given.rows.split(","):
            path = given.file or Path(folder) / f"people-{millions}.parquet"
            if not given.file:
                write_people(round(float(millions) * 1_000_000), path)
            print(f"{millions} million rows" if not given.file else path.name, flush=True)
            for verb in given.verbs.split(","):
                yardsticks: multiprocessing.Queue[tuple[float, float]] = start.Queue()
                for work in (before, measure):
                    worker = start.Process(target=work, args=(verb, path, yardsticks))
                    worker.start()
                    worker.join()
            if not given.file:
                path.unlink()


if __name__ == "__main__":
    main()
