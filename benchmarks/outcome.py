"""What does somebody leave with who accepts every suggestion? `python benchmarks/outcome.py [--methods] [TABLE …]`

For the real tables and the made-up town, with nothing but defaults (suggest, anonymise, write, check the written file with
the suggested policy): seconds, loss, suppressed share, columns wiped out (all detail gone, though another method keeps
more than half of it), columns left out, verdict, and whether the check passes. With ``--methods`` the loss of every method by itself beside
it, under the same policy: the yardstick of the same run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from discreet.engine.read import read
from discreet.errors import DiscreetError
from discreet.example import town
from discreet.policy import Policy
from discreet.policy.plan import METHODS
from discreet.policy.suggest import suggest
from discreet.release.anonymize import anonymize
from discreet.release.check import check
from discreet.release.release import Release
from discreet.table import Table
from discreet.transform.loss import leaf_share_loss

DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
TABLES = {
    "OULAD": "oulad/studentInfo.csv.gz",
    "Adult": "adult/adult_kaggle.csv.gz",
    "SPARCS": "sparcs/sparcs2012_api1000.csv.gz",
    "diabetes": "uci/diabetic_data.csv.gz",
    "FARS": "arx/fars_subset.csv.gz",
    "town": "",
}
GONE, KEPT = 0.98, 0.5


def opened(name: str) -> tuple[Table, Policy]:
    table = read(DATA / TABLES[name] if TABLES[name] else town())
    return table, suggest(table)


def losses(release: Release) -> dict[str, float]:
    return {name: change["loss"] for name, change in release.changes().items()}


def wiped_out(release: Release) -> list[str]:
    """Columns without detail of which an alternative keeps more than half."""
    others = [losses(alternative.make()) for alternative in release.alternatives]
    return [
        name
        for name, loss in losses(release).items()
        if loss > GONE and any(other.get(name, 1.0) < KEPT for other in others)
    ]


def passes(release: Release, policy: Policy) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        return check(release.save(Path(folder) / "release.parquet"), policy).passes


def by_methods(table: Table, policy: Policy) -> str:
    told = []
    for method in METHODS:
        if method in ("auto", "microaggregation"):
            continue
        try:
            release = anonymize(table, policy, plan=replace(policy.plan, method=method))
        except DiscreetError:
            told.append(f"{method} –")
            continue
        share = release.suppressed / release.before.rows
        told.append(f"{method} {leaf_share_loss(release.recoding):.1%}/{share:.1%}")
    return ", ".join(told)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="all if none is named")
    parser.add_argument("--methods", action="store_true", help="every method by itself, too")
    given = parser.parse_args()
    print(
        "| table | seconds | loss | with columns left out | suppressed | free / uniform loss | wiped out "
        "| left out | verdict | check |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in given.tables or TABLES:
        start = time.perf_counter()
        table, policy = opened(name)
        try:
            release = anonymize(table, policy)
        except DiscreetError as error:
            print(f"| {name} | {time.perf_counter() - start:.0f} | none: {error.message} | | | | | | | |")
            continue
        seconds = time.perf_counter() - start
        beside = {alternative.title: alternative.outcome.loss for alternative in release.alternatives}
        other = " / ".join(
            "–" if (loss := beside.get(title)) is None else f"{loss:.1%}"
            for title in ("most detail", "simplest labels")
        )
        print(
            f"| {name} | {seconds:.0f} | {leaf_share_loss(release.recoding):.1%} | {release.loss:.1%} "
            f"| {release.suppressed / release.before.rows:.1%} | {other} | {', '.join(wiped_out(release)) or 'none'} "
            f"| {', '.join(column.name for column in release.removed) or 'none'} "
            f"| {release.verdict.decision} | {'passes' if passes(release, policy) else 'fails'} |",
            flush=True,
        )
        if given.methods:
            print(f"  {name}, loss/suppressed: {by_methods(table, policy)}", flush=True)


if __name__ == "__main__":
    main()
