"""`discreet bucketize`: quasi-identifiers as they are, and sensitive values by buckets, in two tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.options import (
    FILE,
    PATH,
    open_with_policy,
    print_json,
    reading_options,
    refuse_unwritable,
    role_options,
)
from discreet.cli.plan_options import REQUIRE, parse_requirement
from discreet.cli.progress import progress
from discreet.release.bucketize import bucketize as run_bucketize
from discreet.release.write import check_target
from discreet.reports.buckets import show_buckets
from discreet.reports.console import Terminal
from discreet.search.buckets.search import BUCKET_METHODS, BucketMethod


@click.command(cls=StrictCommand)
@FILE
@click.option(
    "--output", "-o", type=PATH, required=True, help="Where the rows with their buckets are written."
)
@click.option(
    "--values", type=PATH, required=True, help="Where it is written how often each value occurs in a bucket."
)
@role_options
@REQUIRE
@click.option(
    "--method",
    type=click.Choice(BUCKET_METHODS),
    help="How buckets are formed; if not given, by the first that meets the requirements.",
)
@click.option("--bucket", default="bucket", show_default=True, help="The name of the bucket's column.")
@click.option("--recipe", "recipe_file", type=PATH, help="Also write how it was made, as JSON.")
@click.option("--links", "links_file", type=PATH, help="Also write which row is which: keep it secret.")
@click.option(
    "--bucket-seed",
    type=click.IntRange(min=0),
    help="Makes the buckets repeatable, and for whoever knows it undoable: keep it secret.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@reading_options
def bucketize(
    file: Path,
    output: Path,
    values: Path,
    require: tuple[str, ...],
    method: BucketMethod | None,
    bucket: str,
    recipe_file: Path | None,
    links_file: Path | None,
    bucket_seed: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Write the quasi-identifiers of FILE as they are, and one sensitive attribute by buckets that meet the policy.

    Every requirement on the sensitive attribute holds in every bucket of the written files. Who is in the table is not
    protected.
    """
    for target in (output, values):
        check_target(target)
    refuse_unwritable(output, values, recipe_file, links_file)
    with progress(quiet=as_json) as tell:
        table, policy, assumed = open_with_policy(file, given, tell)
        release = run_bucketize(
            table,
            policy,
            require=[parse_requirement(text) for text in require],
            column=bucket,
            method=method,
            seed=bucket_seed,
            progress=tell,
        )
        tell("writing")
        release.save(output, values, recipe=recipe_file, links=links_file)
    if as_json:
        print_json({**release.to_dict(), "notes": [*assumed, *release.notes]})
    else:
        Terminal().print(show_buckets(release, (output.name, values.name), assumed))
