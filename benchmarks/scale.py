"""Audit and anonymise many rows whose combinations are nearly all distinct, against DuckDB's own work on the same file.

python benchmarks/scale.py --rows 1,10 --folder DIR   (millions of rows; files of about 15 MB per million are written)

Printed per table and verb: seconds, processor time, peak memory, and the ratios to plain DuckDB in the same process:
for the audit to one GROUP BY of the quasi-identifiers, for anonymising to reading, grouping and writing the file.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
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


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds and processor time of some work."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def group(path: Path) -> None:
    names = ", ".join(QUASI_IDENTIFIERS)
    query = f"SELECT count(*) FROM (SELECT count(*) FROM '{path}' GROUP BY {names})"
    duckdb.connect().execute(query).fetchall()


def rewrite(path: Path) -> None:
    group(path)
    target = path.with_name("rewritten.parquet")
    duckdb.connect().execute(f"COPY (SELECT * FROM '{path}') TO '{target}' (FORMAT parquet)")
    target.unlink()


def audit(path: Path, policy: discreet.Policy) -> None:
    discreet.audit(path, policy).to_dict()


def anonymise(path: Path, policy: discreet.Policy) -> None:
    release = discreet.anonymize(path, policy)
    target = release.save(path.with_name("released.parquet"))
    print(f"    loss {release.outcome.loss:.1%}, suppressed {release.suppressed:,} records")
    target.unlink()


VERBS = {"audit": (audit, group), "anonymize": (anonymise, rewrite)}


def measure(verb: str, path: Path) -> None:
    """One line of the table; in a process of its own, so that the peak of memory is that of the verb."""
    work, yardstick = VERBS[verb]
    policy = discreet.Policy.of(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE)
    first = timed(lambda: yardstick(path))
    seconds, processor = timed(lambda: work(path, policy))
    # Other programs come and go: the yardstick is the mean of before and after.
    second = timed(lambda: yardstick(path))
    plain, plain_processor = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"  {verb:10} {seconds:7.1f} s ({processor:.1f} s of processor), peak {peak:.2f} GiB; DuckDB {plain:.1f} s "
        f"({plain_processor:.1f} s): {seconds / plain:.1f} times, {processor / plain_processor:.1f} times by processor",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1,10", help="millions of rows, e.g. 1,10,100")
    parser.add_argument("--verbs", default="audit,anonymize")
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args()
    start = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for millions in given.rows.split(","):
            path = Path(folder) / f"people-{millions}.parquet"
            write_people(round(float(millions) * 1_000_000), path)
            print(f"{millions} million rows", flush=True)
            for verb in given.verbs.split(","):
                worker = start.Process(target=measure, args=(verb, path))
                worker.start()
                worker.join()
            path.unlink()


if __name__ == "__main__":
    main()
