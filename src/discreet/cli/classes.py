"""`discreet classes`: count parts of a table, merge what was counted, audit it together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictGroup
from discreet.cli.options import (
    FILE,
    PATH,
    load_policy,
    open_table,
    print_json,
    print_result,
    read_key,
    reading_options,
    refuse_unwritable,
    say,
)
from discreet.cli.progress import progress
from discreet.cli.streams import InputFile
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.release.parts import CountedClasses
from discreet.release.parts import count as count_part
from discreet.release.parts import merge as merge_parts

POLICY = click.option(
    "--policy",
    "-p",
    "policy_file",
    type=InputFile(),
    required=True,
    help="Policy file; the same for all parts.",
)
OUTPUT = click.option(
    "--output", "-o", type=PATH, required=True, help="File for the counted classes; keep it private."
)


@click.group(cls=StrictGroup)
def classes() -> None:
    """Count parts of a table where they lie, merge the counts, and audit them together.

    Rows are never moved: a new part updates an audit without counting the old ones, and several holders can be
    audited as one.
    """


@classes.command()
@FILE
@POLICY
@OUTPUT
@click.option(
    "--key-file", type=PATH, help="File with the key by which persons are known again in other parts."
)
@click.option("--blind", is_flag=True, help="Keyed hashes in place of all values, for whoever merges them.")
@reading_options
def count(
    file: Path, policy_file: Path, output: Path, key_file: Path | None, blind: bool, **given: Any
) -> None:
    """Write the counted classes of FILE, a table or a part of one."""
    given = {**given, "policy_file": policy_file}
    refuse_unwritable(output)
    policy = _policy(given)
    with progress() as tell:
        tell(f"counting {file.name}")
        part = count_part(open_table(file, given, policy), policy, key=read_key(key_file), blind=blind)
    part.save(output)
    _say_counted(part, output)


@classes.command()
@click.argument("parts", type=PATH, nargs=-1, required=True)
@OUTPUT
def merge(parts: tuple[Path, ...], output: Path) -> None:
    """Write the counted classes of all PARTS together."""
    refuse_unwritable(output)
    whole = merge_parts([CountedClasses.load(part) for part in parts])
    whole.save(output)
    _say_counted(whole, output)


@classes.command()
@click.argument("part", type=PATH)
@POLICY
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON (see `discreet schema`).")
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict only, on one line.")
def audit(part: Path, policy_file: Path, as_json: bool, quiet: bool) -> None:
    """Audit counted classes, e.g. those of several parts."""
    with progress() as tell:
        result = CountedClasses.load(part).audit(_policy({"policy_file": policy_file}), progress=tell)
    if as_json:
        print_json(result.to_dict())
    elif quiet:
        say(f"{result.verdict.decision}: {result.verdict.words}")
    else:
        from discreet.reports.audit.terminal import show

        print_result(show(result), None)


def _policy(given: dict[str, Any]) -> Policy:
    policy = load_policy(given)
    if policy is None:
        raise InvalidParameter("counting needs a policy", remedy="write one with `discreet suggest`")
    return policy


def _say_counted(part: CountedClasses, output: Path) -> None:
    say(f"{part.classes.total:,} records in {len(part.classes):,} classes: {output}")
