"""`discreet check`: the gate for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import EXIT_NOT_MET
from discreet.cli.options import FILE, open_with_policy, print_json, reading_options, role_options
from discreet.cli.progress import progress
from discreet.release.check import check as run_check
from discreet.reports.console import Terminal


@click.command()
@FILE
@role_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing; the exit code says it all.")
def check(file: Path, as_json: bool, quiet: bool, **given: Any) -> int:
    """Exit with 0 if every requirement of the policy and its profile holds for FILE, with 1 if not.

    One line per requirement. Name a policy (--policy) or at least the quasi-identifiers (--qi): a gate must
    not depend on guesses.
    """
    if given.get("policy_file") is None and given.get("qi") is None:
        raise click.UsageError(
            "name a --policy, or at least --qi; `discreet suggest` writes a policy to start with"
        )
    with progress(quiet=quiet or as_json) as tell:
        table, policy, _ = open_with_policy(file, given, tell)
        verdict = run_check(table, policy, progress=tell)
    if as_json:
        print_json({"schema": "discreet-check-1", "verdict": verdict.to_dict()})
    elif not quiet:
        from discreet.reports.audit.terminal import criterion_line

        console = Terminal()
        for criterion in verdict.criteria:
            console.print(criterion_line(criterion), soft_wrap=True)
        for note in verdict.notes:
            console.print(f"· {note}", soft_wrap=True)
        failed = len(verdict.obstacles)
        total = len(verdict.criteria)
        console.print(
            f"{total - failed} of {total} requirements hold; {verdict.words}", soft_wrap=True, style="bold"
        )
    return 0 if verdict.passes else EXIT_NOT_MET
