"""`discreet synthesize`: artificial people with a guarantee, paid for from the table's budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.budget import LEDGER, refuse_unpayable
from discreet.cli.command import StrictCommand
from discreet.cli.guarantee_options import amount_options, privacy_options, terms_of
from discreet.cli.options import FILE, PATH, open_table, print_json, reading_options
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.dp.certificate import write_statement
from discreet.dp.synthesize import MODELS
from discreet.dp.synthesize import synthesize as run_synthesize
from discreet.errors import InvalidParameter
from discreet.files.writing import atomically
from discreet.policy.file import load
from discreet.release.rule_keeper import rule_keeper
from discreet.release.write import check_target, write_rows
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_artificial_people


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="Where the artificial people are written.")
@amount_options
@click.option("--columns", help="Which columns they have (all, if not given).", metavar="A,B,…")
@privacy_options
@click.option(
    "--bins",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="In so many bins are numbers kept, at most.",
)
@click.option(
    "--method",
    type=click.Choice(list(MODELS)),
    default="mst",
    show_default=True,
    help="mst: a tree of pairs, in a second. aim: tables of up to three columns, nearer, in up to a minute. table: all columns "
    "together, if they are few. pca: numbers, by their correlations.",
)
@click.option(
    "--per-person", is_flag=True, help="One row per person: commonest values, mean numbers, how many rows."
)
@click.option(
    "--find-bounds",
    help="Columns whose bounds nobody knows: found in the data, and paid for.",
    metavar="A,B,…",
)
@click.option(
    "--policy", "policy_file", type=PATH, help="A policy whose rules ([[constraint]]) the rows keep."
)
@LEDGER
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print what was guaranteed as JSON.")
def synthesize(
    file: Path,
    output: Path,
    columns: str | None,
    bins: int,
    method: Any,
    per_person: bool,
    find_bounds: str | None,
    policy_file: Path | None,
    ledger: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Write artificial people whose pairs of columns are like those of FILE, with a guarantee."""
    check_target(output)
    paid = refuse_unpayable(output, file, ledger)
    terms = terms_of(given)
    if terms["delta"] is None:
        raise InvalidParameter("artificial people need a delta", remedy="give one such as --delta 1e-9")
    with progress(quiet=as_json) as tell:
        tell(f"reading {file.name}")
        policy = load(policy_file) if policy_file else None
        table = open_table(file, given, policy) if policy else open_table(file, given)
        people = run_synthesize(
            table,
            columns=split(columns),
            **terms,
            bins=bins,
            method=method,
            per_person=per_person,
            find_bounds=split(find_bounds) or (),
            keeps=None if policy is None else rule_keeper(table, policy, split(columns)),
            ledger=paid,
        )
        tell("writing")
        atomically(output, lambda part: write_rows(people.rows, part))
        write_statement(output, people.guarantee, people.payment)
    if as_json:
        print_json(people.to_dict())
    else:
        Terminal().print(show_artificial_people(people, output.name))
