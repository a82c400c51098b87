"""How fast is the audit? `python benchmarks/audit.py` prints ratios to yardsticks measured in the same run.

1. The core of an audit (k, l, t, beta, delta, SCORR) on Adult against pycanon's report.
2. k, l and t, and the whole SCORR audit, on generated tables against one plain GROUP BY of the same columns.

Each measurement runs in a process of its own, so that memory is its own too; times are the best of several.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tables import DATA, QUASI_IDENTIFIERS, SENSITIVE, write

ADULT_QI = ["age", "workclass", "education", "marital.status", "occupation", "relationship", "race", "sex"]


def best(work: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def group_by(path: str, *, to_arrow: bool) -> object:
    import duckdb

    columns = ", ".join(f'"{name}"' for name in QUASI_IDENTIFIERS)
    grouped = f"SELECT {columns}, count(*) AS n FROM '{path}' GROUP BY ALL"
    connection = duckdb.connect()
    if to_arrow:
        return connection.sql(grouped).to_arrow_table()
    return connection.sql(f"SELECT count(*), min(n) FROM ({grouped})").fetchall()


def scorr(path: str) -> object:
    """SCORR's audit: k, l, t and all extended risks, for the whole quasi-identifier and every attribute."""
    from discreet.engine.duckdb import DuckDBEngine
    from discreet.engine.read import read
    from discreet.privacy import KAnonymity, LDiversity, TCloseness
    from discreet.risk.scorr import all_scorr

    table = read(path, engine=DuckDBEngine())
    classes = table.engine.count(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE])
    models = [KAnonymity(2), LDiversity(2, SENSITIVE), TCloseness(0.5, SENSITIVE)]
    found = [model.measure(classes).value for model in models]
    return found, [(risk.max, risk.mean) for risk in all_scorr(classes)]


def k_l_t(path: str) -> object:
    from discreet.engine.duckdb import DuckDBEngine
    from discreet.engine.read import read
    from discreet.privacy import KAnonymity, LDiversity, TCloseness

    table = read(path, engine=DuckDBEngine())
    classes = table.engine.count(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE])
    models = [KAnonymity(2), LDiversity(2, SENSITIVE), TCloseness(0.5, SENSITIVE)]
    return [model.measure(classes).value for model in models]


def core_audit(path: str) -> object:
    """Everything that `discreet audit --core` works out: all models, all risks, the verdict."""
    from discreet.engine.duckdb import DuckDBEngine
    from discreet.engine.read import read
    from discreet.policy import Policy
    from discreet.release.audit import audit

    table = read(path, engine=DuckDBEngine())
    policy = Policy.of(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE])
    found = audit(table, policy, detail="core")
    return [(risk.name, risk.attribute, risk.max, risk.mean) for risk in found.risks]


def adult_frame() -> object:
    import pandas

    return pandas.read_csv(DATA / "adult" / "adult_kaggle.csv.gz", keep_default_na=False)


def adult_ours(frame: object) -> object:
    from discreet.engine.read import read
    from discreet.privacy import BetaLikeness, DeltaDisclosure, KAnonymity, LDiversity, TCloseness
    from discreet.risk.scorr import all_scorr

    table = read(frame)  # type: ignore[arg-type]
    classes = table.engine.count(table, quasi_identifiers=ADULT_QI, sensitive=["income"])
    models = [
        KAnonymity(2),
        LDiversity(2, "income"),
        LDiversity(2, "income", kind="entropy"),
        LDiversity(2, "income", kind="recursive", c=2),
        TCloseness(0.5, "income"),
        BetaLikeness(1, "income"),
        BetaLikeness(1, "income", kind="enhanced"),
        DeltaDisclosure(1, "income"),
    ]
    return [model.measure(classes).value for model in models], all_scorr(classes)


def adult_pycanon(frame: object) -> object:
    from pycanon.report import base

    return base.get_report_values(frame, ADULT_QI, ["income"])


TASKS: dict[str, Callable[[str, int], float]] = {
    "group by, aggregated": lambda path, n: best(lambda: group_by(path, to_arrow=False), n),
    "group by, to Arrow": lambda path, n: best(lambda: group_by(path, to_arrow=True), n),
    "k, l, t": lambda path, n: best(lambda: k_l_t(path), n),
    "SCORR audit": lambda path, n: best(lambda: scorr(path), n),
    "core audit, all models": lambda path, n: best(lambda: core_audit(path), n),
    "adult, discreet": lambda _, n: (lambda f: best(lambda: adult_ours(f), n))(adult_frame()),
    "adult, pycanon": lambda _, n: (lambda f: best(lambda: adult_pycanon(f), 1))(adult_frame()),
}


def measure(task: str, path: str, times: int) -> tuple[float, float]:
    """Seconds and peak GiB of a task in a process of its own."""
    command = [sys.executable, __file__, "--task", task, "--path", path, "--times", str(times)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["gib"]


def run_task(task: str, path: str, times: int) -> None:
    seconds = TASKS[task](path, times)
    print(json.dumps({"seconds": seconds, "gib": peak_gib()}))


def peak_gib() -> float:
    """Peak memory of this process. (``getrusage`` would count what the parent had before the fork.)"""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / (1 << 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--path", default="", help=argparse.SUPPRESS)
    parser.add_argument("--times", type=int, default=3, help="best of so many runs")
    parser.add_argument(
        "--millions", type=int, nargs="+", default=[1, 10], help="sizes of the generated tables"
    )
    parser.add_argument("--folder", type=Path, help="keep the generated tables here")
    parser.add_argument("--skip-pycanon", action="store_true", help="leave out the slow peer")
    given = parser.parse_args()
    if given.task:
        run_task(given.task, given.path, given.times)
        return
    if not given.skip_pycanon:
        ours, _ = measure("adult, discreet", "", given.times + 2)
        theirs, _ = measure("adult, pycanon", "", 1)
        print("Adult, 32,561 rows, 8 quasi-identifiers, from a pandas frame in memory")
        print(f"  discreet: k, l (3 forms), t, beta (2 forms), delta, SCORR   {ours:8.3f} s")
        print(f"  pycanon:  its report                                       {theirs:8.3f} s")
        print(
            f"  ratio                                                      {theirs / ours:8.0f} x   (goal 300)\n"
        )
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        head = f"{'shape':10} {'rows':>12}  {'what':22} {'seconds':>8} {'ratio':>7} {'goal':>5} {'GiB':>6} {'growth':>7}"
        print(head + "\n" + "─" * len(head))
        for shape, goals in (("skewed", (2, 10)), ("distinct", (4, 10))):
            before: dict[str, float] = {}
            for millions in given.millions:
                path = str(write(folder, millions * 1_000_000, shape))  # type: ignore[arg-type]
                yardstick = 0.0
                for task, goal in (
                    ("group by, aggregated", None),
                    ("group by, to Arrow", None),
                    ("k, l, t", goals[0]),
                    ("SCORR audit", goals[1]),
                    ("core audit, all models", None),
                ):
                    seconds, gib = measure(task, path, given.times)
                    yardstick = yardstick or seconds
                    growth = f"{seconds / before[task]:6.1f}x" if task in before else ""
                    before[task] = seconds
                    print(
                        f"{shape:10} {millions * 1_000_000:12,}  {task:22} {seconds:8.2f} {seconds / yardstick:6.1f}x "
                        f"{goal or '':>5} {gib:6.2f} {growth:>7}"
                    )
        print(
            "\nratio: to the plain GROUP BY, aggregated (it counts and drops the groups); growth: to the size before"
        )


if __name__ == "__main__":
    main()
