"""How fast and how good is anonymising? `python benchmarks/anonymize.py` prints ratios to yardsticks of the same run.

1. The optimal search against an unpruned roll-up walk of the same lattice with the same kernels (Adult, k = 5).
2. Mondrian against anonypy, and the optimal search against anjana (Adult, k = 10): seconds and leaf-share loss.
   They need an environment of their own, see `peers.py`; name its Python with --peers.
3. From file to verified file at 100 times Adult's rows, against DuckDB reading, grouping and writing the file.
4. Growth of MDAV.
5. The optimal search where little can be pruned (Adult, k = 11 and t = 0.2): seconds of processor time, beside a plain
   grouping of every node in numpy and groupings by DuckDB in the same run. On a busy machine only the ratios say something:
   where DuckDB takes 9 ms for a grouping, 0.8 s are a twenty-fifth of what it takes for all nodes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engine.read import read
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity, TCloseness
from discreet.privacy.base import REFERENCES
from discreet.release.anonymize import anonymize
from discreet.search.lattice.search import search, walk
from discreet.search.mondrian.search import mondrian
from discreet.search.problem import Problem, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy, Ladder
from discreet.transform.loss import leaf_share_loss
from tables import DATA

ARX = DATA / "arx"
QI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def hierarchy_file(name: str) -> str:
    return str(ARX / "hierarchies" / f"adult_hierarchy_{name}.csv")


def adult(k: int, t: TCloseness | None = None) -> tuple[Problem, list[Ladder]]:
    table = read(ARX / "adult.csv.gz")
    sensitive = [] if t is None else [t.sensitive]
    names = [name for name in QI if name not in sensitive]
    classes = table.engine.count(table, quasi_identifiers=names, sensitive=sensitive)
    ladders = [
        Hierarchy.read(hierarchy_file(name), name).ladder(domain)
        for name, domain in zip(names, classes.attributes, strict=True)
    ]
    return make_problem(classes, ladders, [KAnonymity(k), *([] if t is None else [t])]), ladders


def timed(work: object, times: int = 3) -> tuple[float, object]:
    best, result = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        result = work()  # type: ignore[operator]
        best = min(best, time.perf_counter() - start)
    return best, result


def optimal_against_walk() -> None:
    problem, _ = adult(5)
    search(problem), walk(problem)  # compile
    fast, found = timed(lambda: search(problem))
    slow, walked = timed(lambda: walk(problem))
    assert found.best.node == walked.best.node  # type: ignore[attr-defined]
    print(
        f"Adult, k = 5, suppression up to 100 %: {problem.nodes:,} generalisations, {len(problem.classes):,} classes"
    )
    print(f"  unpruned walk   {slow:8.3f} s   {problem.nodes:6,} nodes priced")
    print(f"  optimal search  {fast:8.3f} s   {found.evaluated:6,} nodes priced")  # type: ignore[attr-defined]
    print(f"  ratio           {slow / fast:8.1f} x                       (goal 5)\n")


def against_peers(python: str | None) -> None:
    problem, ladders = adult(10)
    rows = []
    for mode in ("strict", "relaxed"):

        def work(mode: str = mode) -> object:
            return mondrian(problem.classes, problem.models, ladders=ladders, mode=mode)  # type: ignore[arg-type]

        work()  # compile
        taken, recoding = timed(work)
        rows.append((f"discreet, Mondrian {mode} (intervals, sets)", taken, leaf_share_loss(recoding)))  # type: ignore[arg-type]
    seconds = rows[0][1]
    best, found = timed(lambda: search(replace(problem, suppression_limit=0.1)))
    rows.append(("discreet, optimal (hierarchies, 10 %)", best, found.best.cost))  # type: ignore[attr-defined]
    for peer in ("anonypy", "anjana") if python else ():
        command = [str(python), str(Path(__file__).with_name("peers.py")), peer, str(ARX), "10"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout.splitlines()[-1])
        rows.append((peer, answer["seconds"], answer["loss"]))
    print("Adult, k = 10                                    seconds     loss   times strict Mondrian")
    for name, taken, loss in rows:
        print(f"  {name:44} {taken:10.3f} {loss:8.4f} {taken / seconds:9.1f} x")
    print()


def little_to_prune() -> None:
    print(
        "Adult, k = 11, t = 0.2 on the occupation, at most 20 % suppressed: seconds of processor time (goal 0.8)"
    )
    for reference in REFERENCES:
        problem, _ = adult(11, TCloseness(0.2, "occupation", reference=reference))
        problem = replace(problem, suppression_limit=0.2)
        search(problem)  # compile
        taken = []
        for _ in range(3):
            start = time.process_time()
            result = search(problem)
            taken.append(time.process_time() - start)
        assert result.best is not None
        plain, engine = (one * result.nodes for one in (plain_grouping(problem), engine_grouping()))
        print(
            f"  compared with the {reference:9} {min(taken):7.2f} s   {result.evaluated:,} of {result.nodes:,} nodes "
            f"priced, loss {result.best.cost:.6f}; all nodes are grouped by numpy in {plain:.1f} s, {plain / min(taken):.1f} "
            f"times as long, and by DuckDB in {engine:.0f} s, {engine / min(taken):.0f} times (goal 25)"
        )
    print()


def plain_grouping(problem: Problem, nodes: int = 60) -> float:
    """Seconds of processor time that numpy takes for the groups of a node and their distances to the whole table."""
    draw = np.random.default_rng(1)
    classes = problem.classes
    histogram = classes.histogram("occupation")
    width = histogram.domain.size
    whole = histogram.totals / histogram.totals.sum()
    start = time.process_time()
    for _ in range(nodes):
        node = tuple(int(draw.integers(height + 1)) for height in problem.heights)
        keys = problem.codes[problem.rows(node)].T.astype(np.int64) @ problem.strides(node)
        _, owner = np.unique(keys, return_inverse=True)
        sizes = np.bincount(owner, weights=classes.records)
        cells = owner[histogram.class_of_entry] * width + histogram.values
        counts = np.bincount(cells, weights=histogram.records, minlength=len(sizes) * width)
        distances = np.maximum(counts.reshape(-1, width) / sizes[:, None] - whole, 0).sum(axis=1)
        sizes[(sizes < 11) | (distances > 0.2)].sum()
    return (time.process_time() - start) / nodes


def engine_grouping(times: int = 10) -> float:
    """Seconds of processor time that DuckDB takes to count the finest groups and their occupations, on one thread."""
    table = read(ARX / "adult.csv.gz")
    rows = table.engine.to_arrow(table)
    connection = duckdb.connect(config={"threads": 1})
    connection.register("rows", rows)
    query = f"SELECT {', '.join(chr(34) + name + chr(34) for name in QI)}, count(*) FROM rows GROUP BY ALL"
    connection.sql(query).to_arrow_table()
    start = time.process_time()
    for _ in range(times):
        connection.sql(query).to_arrow_table()
    return (time.process_time() - start) / times


def file_to_file(times_rows: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "adult.parquet", Path(scratch) / "release.parquet"
        table = read(ARX / "adult.csv.gz")
        rows = table.engine.to_arrow(table)
        pq.write_table(pa.concat_tables([rows] * times_rows), source)
        columns = ", ".join(f'"{name}"' for name in QI)

        def plain() -> None:
            connection = duckdb.connect()
            connection.sql(f"SELECT {columns}, count(*) FROM '{source}' GROUP BY ALL").to_arrow_table()
            connection.execute(f"COPY (SELECT * FROM '{source}') TO '{target}' (FORMAT parquet)").fetchall()

        policy = Policy.of(quasi_identifiers=QI, require=[KAnonymity(5)], profile="research-partner-5")
        policy = replace(
            policy,
            columns=tuple(
                replace(column, hierarchy=hierarchy_file(column.name)) if column.name in QI else column
                for column in policy.columns
            ),
        )

        def whole() -> None:
            release = anonymize(source, policy, plan=Plan(method="optimal", suppression_limit=1.0))
            release.save(target)

        whole()
        ours, _ = timed(whole, 2)
        theirs, _ = timed(plain, 3)
        print(f"Parquet to verified Parquet, {rows.num_rows * times_rows:,} rows")
        print(f"  DuckDB reads, groups and writes   {theirs:8.2f} s")
        print(f"  discreet anonymises and verifies  {ours:8.2f} s   {ours / theirs:5.1f} x   (goal 5)\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", help="Python of an environment with anonypy and anjana")
    parser.add_argument("--times-rows", type=int, default=100, help="how many times Adult's rows")
    given = parser.parse_args()
    optimal_against_walk()
    little_to_prune()
    against_peers(given.peers)
    file_to_file(given.times_rows)
    sys.path.insert(0, str(Path(__file__).parent))
    from mdav import mdav_growth

    mdav_growth()


if __name__ == "__main__":
    main()
