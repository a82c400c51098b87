"""Audit, anonymise, check and compare many rows whose combinations are nearly all distinct, against DuckDB's own work on the same file.

python benchmarks/scale.py --rows 1,10 --folder DIR   (millions of rows; files of about 15 MB per million are written)

Printed per table and verb: seconds, processor time, peak memory, and the ratios to plain DuckDB in the same process:
for the audit to one GROUP BY of the quasi-identifiers, for anonymising to reading, grouping and writing the file.
The line "models" is how far the audit is when k, l, t and all other models have been measured. ``--memory`` limits the engine,
DuckDB's own work included; ``--file`` takes a file of such people that is there. ``--engine spark`` measures Spark on a
local cluster of two workers with a core each, against Spark's own grouping and writing in the same session; processor
time and memory are those of all its processes.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import duckdb

import discreet

QUASI_IDENTIFIERS = ("age", "sex", "zip", "education", "marital", "occupation", "race", "country")
SENSITIVE = ("diagnosis", "outcome")
RELEASED, RECIPE = "released.parquet", "released.recipe.json"
"""What anonymising leaves for the verbs after it."""
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


def policy_by(method: str) -> discreet.Policy:
    """What is known of the people, and by which method they are anonymised."""
    plain = discreet.Policy.of(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE)
    return dataclasses.replace(plain, plan=dataclasses.replace(plain.plan, method=method))


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
    release.save(path.with_name(RELEASED), recipe=path.with_name(RECIPE))
    loss = release.outcome.loss
    print(f"    {release.chosen.method}: loss {loss:.1%}, suppressed {release.suppressed:,} records")


def apply(path: Path, policy: discreet.Policy, told: Told) -> None:
    release = discreet.apply(path.with_name(RECIPE), path, policy, progress=told)
    told("saving")
    release.save(path.with_name("applied.parquet")).unlink()


def check(path: Path, policy: discreet.Policy, told: Told) -> None:
    discreet.audit(path.with_name(RELEASED), policy, detail="core", progress=told).to_dict()


def compare(path: Path, policy: discreet.Policy, told: Told) -> None:
    discreet.compare(path, path.with_name(RELEASED), policy, labels=(), progress=told).to_dict()


def group_both(path: Path) -> None:
    group(path)
    group(path.with_name(RELEASED))


VERBS = {
    "audit": (audit, group),
    "anonymize": (anonymise, rewrite),
    "apply": (apply, rewrite),
    "check": (check, group),
    "compare": (compare, group_both),
}
"""What is measured, and DuckDB's own work beside it."""


def measure(
    verb: str, path: Path, method: str, yardsticks: multiprocessing.Queue[tuple[float, float]]
) -> None:
    """The lines of a verb; in a process of its own, so that the peak of memory is that of the verb."""
    policy = policy_by(method)
    told = Told()
    seconds, processor = timed(lambda: VERBS[verb][0](path, policy, told))
    lines = {verb: (seconds, processor, peak())}
    if verb == "audit":
        lines = {"models": told.stages["risks per record"], **lines}
    if verb in ("anonymize", "apply", "compare"):
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


# ── Spark ─────────────────────────────────────────────────────────────────────────────────────────────


def family() -> list[Path]:
    """This process and all that it started, Java and its workers among them, as folders of /proc."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return [Path("/proc") / str(number) for number in sorted(found)]


def family_time() -> float:
    """Processor seconds of this process and all that it started and that still run."""
    ticks = 0
    for folder in family():
        ticks += sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def family_peak() -> float:
    """The peaks of memory of all of them together, in GiB."""
    lines = [line for folder in family() for line in (folder / "status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20


def with_spark(verbs: list[str], path: Path) -> None:
    """The lines of all verbs with Spark on two workers, each beside Spark's own work; in a process of its own."""
    from pyspark.sql import SparkSession  # Java and half a gigabyte, which other measurements do without

    from discreet.engine.spark import SparkEngine

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.driver.maxResultSize": "0",
        "spark.executor.memory": "1600m",
        "spark.sql.shuffle.partitions": "8",
        "spark.local.dir": str(path.parent / "spark"),
    }
    builder = SparkSession.builder.master("local-cluster[2,1,2048]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    policy = policy_by("auto")
    names = ", ".join(QUASI_IDENTIFIERS)

    def group() -> None:
        session.sql(
            f"SELECT count(*) FROM (SELECT count(*) FROM parquet.`{path}` GROUP BY {names}) AS g"
        ).collect()

    def rewrite() -> None:
        group()
        session.read.parquet(str(path)).write.mode("overwrite").parquet(str(path.with_name("rewritten")))

    def audit() -> None:
        discreet.audit(discreet.read(path, engine=SparkEngine(session=session)), policy).to_dict()

    def anonymise() -> None:
        table = discreet.read(path, engine=SparkEngine(session=session))
        target = path.with_name("released")
        release = discreet.anonymize(table, policy)
        release.save(f"{target}/")
        print(f"    loss {release.outcome.loss:.1%}, suppressed {release.suppressed:,} records")
        shutil.rmtree(target)

    def used(work: Callable[[], object]) -> tuple[float, float]:
        wall, processor = time.perf_counter(), family_time()
        work()
        return time.perf_counter() - wall, family_time() - processor

    group()  # Java has compiled what it is asked often
    try:
        for verb in verbs:
            own, ours = {"audit": (group, audit), "anonymize": (rewrite, anonymise)}[verb]
            first = used(own)
            wall, processor = used(ours)
            second = used(own)
            plain, plain_processor = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
            print(
                f"  {verb:10} {wall:7.1f} s ({processor:.1f} s of processor), peak {family_peak():.2f} GiB; "
                f"Spark {plain:.1f} s ({plain_processor:.1f} s): {wall / plain:.1f} times, "
                f"{processor / plain_processor:.1f} times by processor",
                flush=True,
            )
    finally:
        session.stop()


def before(
    verb: str, path: Path, method: str, yardsticks: multiprocessing.Queue[tuple[float, float]]
) -> None:
    """The yardstick, in a process of its own, too."""
    yardsticks.put(timed(lambda: VERBS[verb][1](path)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1,10", help="millions of rows, e.g. 1,10,100")
    parser.add_argument("--verbs", default="audit,anonymize")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--memory", default=None, help="what the engine may take, e.g. 2G")
    parser.add_argument("--file", type=Path, default=None)
    parser.add_argument("--method", default="auto", help="e.g. mondrian")
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
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
            if given.engine == "spark":
                worker = start.Process(target=with_spark, args=(given.verbs.split(","), path))
                worker.start()
                worker.join()
            for verb in given.verbs.split(",") if given.engine == "duckdb" else ():
                yardsticks: multiprocessing.Queue[tuple[float, float]] = start.Queue()
                for work in (before, measure):
                    worker = start.Process(target=work, args=(verb, path, given.method, yardsticks))
                    worker.start()
                    worker.join()
            for left in (RELEASED, RECIPE):
                path.with_name(left).unlink(missing_ok=True)
            if not given.file:
                path.unlink()


if __name__ == "__main__":
    main()
