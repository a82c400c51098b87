"""`discreet tabulate`: tables of counts with noise that agree with each other, with a guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from discreet.cli.budget import LEDGER, refuse_unpayable
from discreet.cli.command import StrictCommand
from discreet.cli.guarantee_options import CONFIDENCE, amount_options, privacy_options, terms_of
from discreet.cli.options import FILE, PATH, open_table, print_json, reading_options
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.dp.certificate import write_statement
from discreet.dp.tabulate import tabulate as run_tabulate
from discreet.files.writing import atomically
from discreet.release.write import check_target, write_rows
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_tables


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="Where the counts are written.")
@click.option(
    "--table",
    "tables",
    multiple=True,
    help="Columns that are counted together. May be repeated.",
    metavar="A,B,…",
)
@click.option("--ways", type=click.IntRange(1, 6), help="All tables of so many columns, instead of --table.")
@click.option("--columns", help="With --ways: of which columns (all, if not given).", metavar="A,B,…")
@amount_options
@privacy_options
@click.option(
    "--bins",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="In so many bins are numbers counted, at most.",
)
@CONFIDENCE
@LEDGER
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print what was guaranteed as JSON.")
def tabulate(
    file: Path,
    output: Path,
    tables: Sequence[str],
    columns: str | None,
    ledger: Path | None,
    as_json: bool,
    ways: int | None,
    bins: int,
    confidence: float,
    **given: Any,
) -> None:
    """Write tables of counts of FILE with noise, which agree with each other, with a guarantee.

    All values are given (--keys, --bounds), and every cell is written, also those that nobody is in.
    """
    check_target(output)
    paid = refuse_unpayable(output, file, ledger)
    terms = terms_of(given)
    with progress(quiet=as_json) as tell:
        tell(f"reading {file.name}")
        made = run_tabulate(
            open_table(file, given),
            [split(text) or [] for text in tables] or None,
            columns=split(columns),
            ways=ways,
            **terms,
            bins=bins,
            confidence=confidence,
            ledger=paid,
        )
        tell("writing")
        atomically(output, lambda part: write_rows(made.rows, part))
        write_statement(output, made.guarantee, made.payment)
    if as_json:
        print_json(made.to_dict())
    else:
        Terminal().print(show_tables(made, output.name))
