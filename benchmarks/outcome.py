"""What does somebody leave with who accepts every suggestion? `python benchmarks/outcome.py [--methods] [TABLE …]`

For the real tables and the made-up town, with nothing but defaults (suggest, anonymise, write, check the written file with
the suggested policy): seconds, loss, suppressed share, the median error of random counts, columns wiped out (all detail
gone, though an alternative keeps more than half of it), categories of which suppression takes a large part and how
many of these no note tells of, columns left out, verdict, and whether the check passes. With ``--methods`` the same of every
method by itself under the same policy: the yardstick of the same run. ARX has published no loss of these tables under these
requirements; what is known of it (Adult with its own hierarchies, k = 5, nobody left out) is set beside ours by ``--arx``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from discreet.engine.read import read
from discreet.errors import DiscreetError
from discreet.example import town
from discreet.policy import Policy
from discreet.policy.plan import METHODS, Shape
from discreet.policy.suggest import suggest
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.check import check
from discreet.release.release import Release
from discreet.release.representation import erased_categories, representation_note
from discreet.search.contest import find
from discreet.search.problem import make_problem
from discreet.table import Table
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.loss import attribute_changes, leaf_share_loss
from discreet.transform.recoding import Recoding
from tables import DATA

TABLES = {
    "OULAD": "oulad/studentInfo.csv.gz",
    "Adult": "adult/adult_kaggle.csv.gz",
    "SPARCS": "sparcs/sparcs2012_api1000.csv.gz",
    "diabetes": "uci/diabetic_data.csv.gz",
    "FARS": "arx/fars_subset.csv.gz",
    "town": "",
}
GONE, KEPT = 0.98, 0.5
ARX_COLUMNS = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
]
ARX_BEST = 0.9388
"""The granularity of ARX's local recoding, as its authors' tool reports it."""


def opened(name: str) -> tuple[Table, Policy]:
    table = read(DATA / TABLES[name] if TABLES[name] else town())
    return table, suggest(table)


def losses(recoding: Recoding) -> dict[str, float]:
    return {name: change["loss"] for name, change in attribute_changes(recoding).items()}


def wiped_out(recoding: Recoding, others: Sequence[Recoding]) -> str:
    """Columns without detail of which another recoding keeps more than half."""
    kept = [losses(other) for other in others]
    gone = [
        name
        for name, loss in losses(recoding).items()
        if loss > GONE and any(other.get(name, 1.0) < KEPT for other in kept)
    ]
    return ", ".join(gone) or "none"


def erased(release: Release) -> str:
    """Categories of which suppression takes a large part, and how many of them no note tells of."""
    categories = erased_categories(release.recoding)
    told = not categories or representation_note(categories) in release.notes
    return f"{len(categories)} ({0 if told else len(categories)} unreported)"


def error(release: Release) -> str:
    share = release.workload_errors[0]
    return "–" if share is None else f"{share:.1%}"


def passes(release: Release, policy: Policy) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        return check(release.save(Path(folder) / "release.parquet"), policy).passes


def by_methods(table: Table, policy: Policy, chosen: Release) -> Iterator[str]:
    """A line for every method by itself, wiped out compared with all others and the chosen release."""
    made: dict[str, tuple[Release, float]] = {}
    for method in METHODS:
        if method in ("auto", "microaggregation"):
            continue
        start = time.perf_counter()
        try:
            release = anonymize(table, policy, plan=replace(policy.plan, method=method))
        except DiscreetError as refusal:
            yield f"| – {method} | {time.perf_counter() - start:.0f} | none: {refusal.message} |" + " |" * 9
            continue
        made[method] = release, time.perf_counter() - start
    recodings = [chosen.recoding, *(release.recoding for release, _ in made.values())]
    for method, (release, seconds) in made.items():
        yield line(f"– {method}", release, seconds, policy, recodings)


def beside_arx() -> Iterator[str]:
    """The granularity of Adult as ARX has it and measures it, by shape, and ARX's own best result.

    Granularity is 1 - (mean share - least) / (1 - least), where the least share is the mean of 1/D over the attributes.
    """
    table = read(DATA / "arx" / "adult.csv.gz")
    classes = table.engine.count(table, quasi_identifiers=ARX_COLUMNS)
    ladders = [
        Hierarchy.read(
            DATA / "arx" / "hierarchies" / f"adult_hierarchy_{domain.name}.csv", domain.name
        ).ladder(domain)
        for domain in classes.attributes
    ]
    problem = make_problem(classes, ladders, [KAnonymity(5)], suppression_limit=0.0)
    least = sum(1 / ladder.leaves for ladder in ladders) / len(ladders)
    yield "| Adult, k = 5, nobody left out | seconds | granularity |"
    yield "|---|---|---|"
    yield f"| ARX, local recoding | – | {ARX_BEST:.4f} |"
    for shape in get_args(Shape):
        start = time.perf_counter()
        recoding = find(problem, shape=shape, seconds=30.0).recoding
        share = float((recoding.shares @ classes.records / classes.total).mean())
        granularity = 1 - (share - least) / (1 - least)
        yield f"| {shape} | {time.perf_counter() - start:.0f} | {granularity:.4f} |"


def line(name: str, release: Release, seconds: float, policy: Policy, others: Sequence[Recoding]) -> str:
    beside = {alternative.title: alternative.outcome.loss for alternative in release.alternatives}
    losses_beside = " / ".join(
        "–" if (loss := beside.get(title)) is None else f"{loss:.1%}"
        for title in ("most detail", "simplest labels")
    )
    cells = (
        name,
        f"{seconds:.0f}",
        f"{leaf_share_loss(release.recoding):.1%}",
        f"{release.loss:.1%}",
        f"{release.suppressed / release.before.rows:.1%}",
        error(release),
        losses_beside,
        wiped_out(release.recoding, others),
        erased(release),
        ", ".join(column.name for column in release.removed) or "none",
        release.verdict.decision,
        "passes" if passes(release, policy) else "fails",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="all if none is named")
    parser.add_argument("--arx", action="store_true", help="Adult beside ARX's best result, and nothing else")
    parser.add_argument("--methods", action="store_true", help="every method by itself, too")
    given = parser.parse_args()
    if given.arx:
        for told in beside_arx():
            print(told, flush=True)
        return
    print(
        "| table | seconds | loss | with columns left out | suppressed | wrong counts | free / uniform loss | wiped out "
        "| categories erased | left out | verdict | check |"
    )
    print("|---" * 12 + "|")
    for name in given.tables or TABLES:
        start = time.perf_counter()
        table, policy = opened(name)
        try:
            release = anonymize(table, policy)
        except DiscreetError as refusal:
            print(f"| {name} | {time.perf_counter() - start:.0f} | none: {refusal.message} |" + " |" * 9)
            continue
        seconds = time.perf_counter() - start
        others = [alternative.recoding for alternative in release.alternatives]
        print(line(name, release, seconds, policy, others), flush=True)
        if given.methods:
            for told in by_methods(table, policy, release):
                print(told, flush=True)


if __name__ == "__main__":
    main()
