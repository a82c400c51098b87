"""`discreet apply`: a recipe on other rows."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Literal

import click

from discreet.cli.anonymize import (
    ACKNOWLEDGE,
    CODEBOOK,
    JSON,
    KEY_FILE,
    LINKS,
    OUTPUT,
    QUIET,
    codebooks,
    print_release,
    refuse_two_answers,
    release_anyway,
)
from discreet.cli.command import StrictCommand
from discreet.cli.judged import judged_options, judging, print_judgement, refuse_narrowing
from discreet.cli.options import (
    FILE,
    PATH,
    open_with_policy,
    read_key,
    reading_options,
    refuse_unwritable,
    role_options,
)
from discreet.cli.plan_options import PERTURB_SEED
from discreet.cli.progress import progress
from discreet.cli.streams import is_streamed
from discreet.release.apply import apply as run_apply
from discreet.release.apply import judged_by, policy_of
from discreet.release.targets import Target, check_release_target
from discreet.release.write import check_target
from discreet.transform.recipe import Recipe


@click.command(cls=StrictCommand)
@click.argument("recipe", type=PATH)
@FILE
@OUTPUT
@click.option(
    "--unseen",
    type=click.Choice(["refuse", "suppress"]),
    default="refuse",
    show_default=True,
    help="What to do with values that the recipe does not know.",
)
@CODEBOOK
@LINKS
@ACKNOWLEDGE
@KEY_FILE
@PERTURB_SEED
@role_options
@judged_options
@reading_options
@JSON
@QUIET
def apply(
    recipe: Path,
    file: Path,
    output: Target,
    unseen: Literal["refuse", "suppress"],
    codebook_file: Path | None,
    links_file: Path | None,
    acknowledge: str | None,
    key_file: Path | None,
    perturb_seed: int | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Apply RECIPE to the rows of FILE and write them, verified like any release.

    Name the policy under which the recipe was made (--policy), so that the same is asked of these rows; without
    one, what the recipe itself says is asked, and what the profile asks by which its release was judged.
    """
    refuse_two_answers(output, as_json=as_json)
    check_release_target(output, linked=links_file is not None)
    refuse_unwritable(output, codebook_file, links_file, perhaps=codebooks(None if codebook_file else output))
    if codebook_file is not None:
        check_target(codebook_file)
    judge = judging(given)
    known = dataclasses.replace(Recipe.load(recipe), unseen=unseen)
    with progress(quiet=quiet or as_json) as tell:
        table, policy, _ = open_with_policy(file, given, tell, default=policy_of(known))
        release = run_apply(
            known, table, policy, key=read_key(key_file), perturb_seed=perturb_seed, progress=tell
        )
        if given.get("policy_file") is None and given.get("profile") is None:
            release = dataclasses.replace(release, notes=(judged_by(policy), *release.notes))
        release = release_anyway(release, acknowledge)
        judgement = judge(release, table, policy)
        release = refuse_narrowing(release, judgement, acknowledge)
        tell("writing and verifying")
        release.save(output, links=links_file, codebook=codebook_file)
    print_release(
        release,
        [output, codebook_file or release.codebook_place(output), links_file],
        as_json=as_json,
        quiet=quiet,
    )
    if not quiet and not as_json and not is_streamed(output):
        print_judgement(judgement)
