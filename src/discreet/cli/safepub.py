"""`discreet safepub`: truthful records with a guarantee, paid for from the table's budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from discreet.cli.budget import LEDGER, refuse_unpayable
from discreet.cli.command import StrictCommand, once
from discreet.cli.guarantee_options import EPSILON
from discreet.cli.options import FILE, PATH, open_table, print_json, reading_options
from discreet.cli.progress import progress
from discreet.cli.setting_options import whole_number
from discreet.dp.certificate import write_statement
from discreet.dp.generalization import DEGREES
from discreet.dp.level_search import SCORES
from discreet.dp.safepub import MOST_STEPS
from discreet.dp.safepub import safepub as run_safepub
from discreet.errors import InvalidParameter
from discreet.files.writing import atomically
from discreet.release.write import check_target, write_rows
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_truthful_records


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="Where the records are written.")
@EPSILON
@click.option(
    "--delta", required=True, help="With which probability the guarantee may fail.", metavar="AMOUNT"
)
@click.option(
    "--level",
    "levels",
    multiple=True,
    help="A column that is released, and to which level of its hierarchy (0: as it is).",
    metavar="COLUMN=N",
)
@click.option(
    "--hierarchy", "hierarchies", multiple=True, help="The hierarchy of a column.", metavar="COLUMN=PATH"
)
@click.option(
    "--degree",
    type=click.Choice(list(DEGREES)),
    help="How far columns with a hierarchy and no level are generalised.",
)
@click.option(
    "--search-epsilon",
    help="What of epsilon a search for levels may take, e.g. 0.1.",
    metavar="AMOUNT",
)
@click.option(
    "--score",
    type=click.Choice(list(SCORES)),
    default="granularity",
    show_default=True,
    help="By what the search chooses levels.",
)
@click.option(
    "--target", help="The column that is predicted, for the score classification.", metavar="COLUMN"
)
@click.option(
    "--steps",
    type=click.IntRange(1, MOST_STEPS),
    default=10,
    show_default=True,
    help="So many choices the search makes.",
)
@LEDGER
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print what was guaranteed as JSON.")
def safepub(
    file: Path,
    output: Path,
    epsilon: str,
    delta: str,
    levels: Sequence[str],
    hierarchies: Sequence[str],
    degree: str | None,
    search_epsilon: str | None,
    score: str,
    target: str | None,
    steps: int,
    ledger: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Write a random sample of the records of FILE, generalised and k-anonymous, with a guarantee.

    Each row has to be somebody else. Levels have to be chosen without looking at the data, or are searched for with a part of epsilon.
    """
    files = once(map(_named, hierarchies), "a hierarchy")
    check_target(output)
    paid = refuse_unpayable(output, file, ledger, inputs=map(Path, files.values()))
    with progress(quiet=as_json) as tell:
        tell(f"reading {file.name}")
        records = run_safepub(
            open_table(file, given),
            epsilon=epsilon,
            delta=delta,
            levels=once(((name, _level(value)) for name, value in map(_named, levels)), "a level"),
            hierarchies=files,
            degree=degree,
            search_epsilon=search_epsilon,
            score=score,
            target=target,
            steps=steps,
            ledger=paid,
        )
        tell("writing")
        atomically(output, lambda part: write_rows(records.rows, part))
        write_statement(output, records.guarantee, records.payment)
    if as_json:
        print_json(records.to_dict())
    else:
        Terminal().print(show_truthful_records(records, output.name))


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name or not value:
        raise InvalidParameter("a level or a hierarchy cannot be read", remedy="write e.g. --level age=2")
    return name, value


def _level(text: str) -> int:
    level = whole_number(text)
    if level is None:
        raise InvalidParameter("a level is no whole number", remedy="write e.g. --level age=2")
    return level
