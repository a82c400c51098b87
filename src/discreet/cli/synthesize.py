"""`discreet synthesize`: artificial people with a guarantee, paid for from the table's budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from discreet.cli.ask import (
    BOUNDS,
    DELTA,
    EPSILON,
    KEYS,
    MAX_ROWS,
    PERSON,
    UNIT,
    bounds_option,
    keys_option,
)
from discreet.cli.budget import LEDGER, ledger_of
from discreet.cli.command import StrictCommand, once
from discreet.cli.options import FILE, PATH, open_table, print_json, reading_options, refuse_unwritable
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.dp.certificate import write_statement
from discreet.dp.synthesize import MODELS
from discreet.dp.synthesize import synthesize as run_synthesize
from discreet.errors import InvalidParameter
from discreet.files.writing import atomically
from discreet.release.write import check_target, write_rows
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_artificial_people


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="Where the artificial people are written.")
@EPSILON
@DELTA
@click.option("--columns", help="Which columns they have (all, if not given).", metavar="A,B,…")
@PERSON
@UNIT
@MAX_ROWS
@BOUNDS
@KEYS
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
    help="mst: a tree of pairs, in a second. aim: tables of up to three columns, nearer, in up to a minute.",
)
@LEDGER
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print what was guaranteed as JSON.")
def synthesize(
    file: Path,
    output: Path,
    epsilon: str,
    delta: str | None,
    columns: str | None,
    person: str | None,
    unit: Any,
    max_rows: int,
    bounds: Sequence[str],
    keys: Sequence[str],
    bins: int,
    method: Any,
    ledger: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Write artificial people whose pairs of columns are like those of FILE, with a guarantee."""
    check_target(output)
    refuse_unwritable(output, inputs=[file], given=given)
    if delta is None:
        raise InvalidParameter("artificial people need a delta", remedy="give one such as --delta 1e-9")
    with progress(quiet=as_json) as tell:
        tell(f"reading {file.name}")
        people = run_synthesize(
            open_table(file, given),
            epsilon=epsilon,
            delta=delta,
            columns=split(columns),
            person=person,
            unit=unit,
            max_rows=max_rows,
            bounds=once(map(bounds_option, bounds), "bounds"),
            keys=once(map(keys_option, keys), "keys"),
            bins=bins,
            method=method,
            ledger=ledger_of(file, ledger),
        )
        tell("writing")
        atomically(output, lambda part: write_rows(people.rows, part))
        write_statement(output, people.guarantee, people.payment)
    if as_json:
        print_json(people.to_dict())
    else:
        Terminal().print(show_artificial_people(people, output.name))
