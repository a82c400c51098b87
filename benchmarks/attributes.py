"""The any-time search on tables of many attributes: `python benchmarks/attributes.py` prints cost and bound over time.

Diabetes (the first 30,000 records) and SPARCS (1,000 records) with 15 to 30 quasi-identifiers and the hierarchies that
are learned, k = 5, with at most 5 % of the records suppressed and with none; FARS has eight attributes, whose lattice is
searched to the end. The yardstick, in the same run and with the same kernels, is a plain hill climber that rules nothing
out: greedy from the top, then again and again from its best node with four attributes put to their top. Seconds are
those of the clock by which searches end: work of this process, not of others.
"""

from __future__ import annotations

import argparse
import random

import duckdb

import discreet
from discreet.engine.read import read
from discreet.policy.hierarchies import hierarchies
from discreet.privacy import KAnonymity
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.evaluator import Evaluator, Stopped, limits
from discreet.search.problem import Problem, make_problem
from tables import DATA

TABLES = {
    "diabetes": ("uci/diabetic_data.csv.gz", {"encounter_id", "patient_nbr"}, (15, 20, 24, 30)),
    "sparcs": (
        "sparcs/sparcs2012_api1000.csv.gz",
        {"total_charges", "total_costs", "discharge_year"},
        (15, 20, 24, 30),
    ),
    "fars": ("arx/fars_subset.csv.gz", set[str](), (8,)),
}
ROWS = 30_000


def problem_of(table: str, attributes: int, limit: float) -> Problem:
    """The first attributes of a table that have two values, with learned hierarchies."""
    file, left_out, _ = TABLES[table]
    query = f"SELECT * FROM read_csv('{DATA / file}', all_varchar=true) LIMIT {ROWS}"
    frame = duckdb.connect().sql(query).to_arrow_table()
    names = [n for n in frame.column_names if n not in left_out and len(frame[n].unique()) > 1][:attributes]
    opened = read(frame.select(names))
    classes = opened.engine.count(opened, quasi_identifiers=names)
    fitted = hierarchies(discreet.Policy.of(quasi_identifiers=names), classes)
    return make_problem(
        classes, [hierarchy.ladder for hierarchy in fitted], [KAnonymity(5)], suppression_limit=limit
    )


def climb(problem: Problem, seconds: float) -> float:
    """The best cost that plain hill climbing reaches."""
    chance = random.Random(1)
    heights = problem.heights
    with Evaluator(problem, stop=limits(seconds, None, None)) as evaluator:
        try:
            evaluator.improve(evaluator.descend(heights))
            while True:
                evaluator.stop_if_over()
                assert evaluator.best is not None
                node = evaluator.best.node
                kicked = chance.sample(range(len(heights)), min(4, len(heights)))
                start = tuple(heights[j] if j in kicked else level for j, level in enumerate(node))
                evaluator.improve(evaluator.descend(start))
        except Stopped:
            return evaluator.best_cost


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", default="diabetes,sparcs,fars")
    parser.add_argument("--attributes", default="", help="how many, e.g. 15,30")
    parser.add_argument("--limits", default="0.05,0")
    parser.add_argument("--seconds", default="10,30")
    given = parser.parse_args()
    for table in given.tables.split(","):
        chosen = [int(some) for some in given.attributes.split(",") if some] or TABLES[table][2]
        for attributes in chosen:
            for limit in map(float, given.limits.split(",")):
                problem = problem_of(table, attributes, limit)
                for seconds in map(float, given.seconds.split(",")):
                    plain = climb(problem, seconds)
                    result = search_anytime(problem, seconds=seconds)
                    assert result.best is not None
                    print(
                        f"{table:8} {attributes:2} attributes, at most {limit:.0%} suppressed, {seconds:3.0f} s: "
                        f"cost {result.best.cost:.4f}, at least {result.bound:.4f} (gap {result.gap:.0%}); "
                        f"hill climbing {plain:.4f}, {plain / result.best.cost - 1:+.2%}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
