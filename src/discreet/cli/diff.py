"""`discreet diff`: what changed between two releases or two policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.options import PATH, load_policy, open_table, print_json, reading_options
from discreet.cli.progress import progress
from discreet.cli.streams import InputFile
from discreet.reports.console import Terminal


@click.command(cls=StrictCommand)
@click.argument("first", type=InputFile())
@click.argument("second", type=InputFile())
@click.option("--policy", "-p", "policy_file", type=PATH, help="Policy by which tables are judged.")
@click.option(
    "--original",
    type=InputFile(),
    help="Table that both releases were made from: what each lost is told, too.",
)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def diff(first: Path, second: Path, original: Path | None, as_json: bool, **given: Any) -> None:
    """Say what changed from FIRST to SECOND: two releases, or two policies (.toml)."""
    from discreet.release.difference import diff as run_diff
    from discreet.reports.release.difference import show_difference

    policy = load_policy(given)
    with progress(quiet=as_json) as tell:
        if any(isinstance(file, Path) and file.suffix.lower() == ".toml" for file in (first, second)):
            changes = run_diff(first, second)
        else:
            before, after = (open_table(file, given, policy) for file in (first, second))
            whole = None if original is None else open_table(original, given, policy)
            changes = run_diff(before, after, policy, original=whole, progress=tell)
    if as_json:
        print_json(changes.to_dict())
    else:
        Terminal().print(show_difference(changes))
