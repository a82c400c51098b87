"""`discreet republish`: a release in which everybody stays among the same sensitive values as before (m-invariance)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.judged import REGISTER_KEY, REGISTER_PERSON
from discreet.cli.options import (
    FILE,
    GROUP,
    PATH,
    open_with_policy,
    print_json,
    read_key,
    reading_options,
    refuse_unwritable,
    role_options,
)
from discreet.cli.progress import progress
from discreet.register.republish import republish as run_republish
from discreet.release.write import check_target
from discreet.reports.console import Terminal
from discreet.reports.register import show_republished


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="Where the release is written.")
@click.option(
    "--counterfeits",
    type=PATH,
    required=True,
    help="Where it is written how many records of each group are nobody's: publish it with the release.",
)
@click.option(
    "--links",
    "links_file",
    type=PATH,
    required=True,
    help="Where it is written which row is whose: keep it secret, and enter the release with it.",
)
@click.option(
    "--m",
    type=click.IntRange(min=2),
    required=True,
    help="So many sensitive values stay possible for everybody.",
)
@role_options
@click.option(
    "--register", "register_folder", type=PATH, help="Register of earlier releases; none for the first."
)
@REGISTER_KEY
@REGISTER_PERSON
@GROUP
@click.option(
    "--group-seed",
    type=click.IntRange(min=0),
    help="Makes the groups repeatable, and for whoever knows it undoable: keep it secret.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@reading_options
def republish(
    file: Path,
    output: Path,
    counterfeits: Path,
    links_file: Path,
    m: int,
    register_folder: Path | None,
    register_key: Path | None,
    register_person: str | None,
    group: str,
    group_seed: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Write a release of FILE in groups, in which whoever was published before has the same possible values as there.

    People may join and leave the table between releases. Where nobody has a value that must stay possible, a counterfeit does;
    how many there are in each group is written beside the release. Enter it with `discreet register add --links`.
    """
    for target in (output, counterfeits):
        check_target(target)
    refuse_unwritable(output, counterfeits, links_file)
    with progress(quiet=as_json) as tell:
        table, policy, assumed = open_with_policy(file, given, tell)
        release = run_republish(
            table,
            policy,
            m=m,
            register=register_folder,
            key=read_key(register_key),
            person=register_person,
            column=group,
            seed=group_seed,
            progress=tell,
        )
        tell("writing")
        release.save(output, counterfeits, links=links_file)
    if as_json:
        print_json({**release.to_dict(), "notes": [*assumed, *release.notes]})
    else:
        Terminal().print(show_republished(release, (output.name, counterfeits.name), assumed))
