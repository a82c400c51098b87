"""`discreet fragment`: columns in several tables, none of which shows what must not be seen together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.options import (
    FILE,
    GROUP,
    PATH,
    open_with_policy,
    print_json,
    reading_options,
    refuse_unwritable,
    role_options,
)
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.release.fragment import fragment as run_fragment
from discreet.reports.console import Terminal
from discreet.reports.fragments import show_fragments


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="The new folder of the fragments.")
@role_options
@click.option(
    "--fragments",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="How many tables there are to be.",
)
@click.option("--target", help="The column that recipients will predict: it stands in every fragment.")
@click.option(
    "--common", help="Columns that stand in every fragment, where there is no target.", metavar="A,B,…"
)
@click.option(
    "--confidential",
    multiple=True,
    help="Columns that no fragment shows together; one column is left out. May be repeated.",
    metavar="A,B,…",
)
@click.option(
    "--loose",
    type=click.IntRange(min=2),
    help="Tie fragments by groups of at least so many records.",
    metavar="K",
)
@GROUP
@click.option(
    "--format",
    "suffix",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="What files are written.",
)
@click.option("--recipe", "recipe_file", type=PATH, help="Also write how it was made, as JSON.")
@click.option(
    "--fragment-seed",
    type=click.IntRange(min=0),
    help="Makes the order of rows repeatable, and for whoever knows it undoable: keep it secret.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@reading_options
def fragment(
    file: Path,
    output: Path,
    fragments: int,
    target: str | None,
    common: str | None,
    confidential: tuple[str, ...],
    loose: int | None,
    group: str,
    suffix: str,
    recipe_file: Path | None,
    fragment_seed: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Split the columns of FILE into tables, each of which tells much and little twice (FMRMR).

    No fragment shows a confidential set of columns whole. Rows of different fragments are not tied, or with --loose by
    groups that leave every tie a chance of at most 1 in K. Who is in the table is not protected.
    """
    refuse_unwritable(recipe_file, folder=output)
    with progress(quiet=as_json) as tell:
        table, policy, assumed = open_with_policy(file, given, tell)
        release = run_fragment(
            table,
            policy,
            count=fragments,
            target=target,
            common=split(common) or (),
            confidential=[split(text) or () for text in confidential],
            k=loose,
            column=group,
            seed=fragment_seed,
            progress=tell,
        )
        tell("writing")
        written = release.save(output, suffix=f".{suffix}", recipe=recipe_file)
    if as_json:
        print_json({**release.to_dict(), "notes": [*assumed, *release.notes]})
    else:
        Terminal().print(show_fragments(release, [path.name for path in written], assumed))
