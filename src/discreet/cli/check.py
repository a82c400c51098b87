"""`discreet check`: the gate for pipelines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from discreet.cli import EXIT_BAD_INPUT, EXIT_NOT_MET
from discreet.cli.command import StrictCommand
from discreet.cli.options import (
    PATH,
    open_table,
    open_with_policy,
    print_json,
    reading_options,
    refuse_unwritable,
    role_options,
    say,
)
from discreet.cli.progress import progress
from discreet.cli.streams import InputFile
from discreet.dp.certificate import statement_beside
from discreet.errors import DiscreetError
from discreet.files.addresses import DatabaseAddress
from discreet.files.writing import write_text
from discreet.policy import load
from discreet.policy.project import PROJECT_FILE, Project
from discreet.release.check import check as run_check
from discreet.release.verdict import Verdict
from discreet.reports.console import Terminal
from discreet.reports.gates import CheckedTable, junit, sarif, workflow_commands


@click.command(cls=StrictCommand)
@click.argument("files", type=InputFile(), nargs=-1)
@role_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.option("--junit", "junit_file", type=PATH, help="Also write the results as JUnit XML.")
@click.option("--sarif", "sarif_file", type=PATH, help="Also write what fails as SARIF.")
@click.option(
    "--statement", type=PATH, help="What a release says of how it was made (default: beside the file)."
)
@click.option("--ledger", type=PATH, help="The ledger that paid for it (default: beside the statement).")
@click.option(
    "--original", type=InputFile(), help="What the release was made of: it tells what people guard."
)
@click.option("--quiet", "-q", is_flag=True, help="Print nothing; the exit code says it all.")
def check(
    files: tuple[Path, ...],
    as_json: bool,
    junit_file: Path | None,
    sarif_file: Path | None,
    statement: Path | None,
    ledger: Path | None,
    original: Path | None,
    quiet: bool,
    **given: Any,
) -> int:
    """Exit with 0 if every requirement of the policy and its profile holds for FILES, with 1 if not.

    One line per requirement. Name a policy (--policy) or at least the quasi-identifiers (--qi), or let a
    discreet.toml say which policy is whose: a gate must not depend on guesses. Without FILES every table that
    the discreet.toml names is checked.
    """
    tables, project = _asked_for(files, given)
    if statement is not None and len(tables) > 1:
        raise click.UsageError("a --statement speaks of one file: check the others by themselves")
    if original is not None and len(tables) > 1:
        raise click.UsageError("an --original is that of one file: check the others by themselves")
    claimed = {"original": original, "statement": statement, "ledger": ledger}
    refuse_unwritable(junit_file, sarif_file, inputs=_files_of(tables, project))
    only = len(tables) == 1 and len(files) == 1
    checked = []
    for file, policy_file in tables:
        with progress(quiet=quiet or as_json) as tell:
            checked.append(_checked(file, {**given, **claimed, "policy_file": policy_file}, tell, only=only))
    if junit_file is not None:
        write_text(junit_file, junit(checked))
    if sarif_file is not None:
        write_text(sarif_file, json.dumps(sarif(checked), ensure_ascii=False, indent=2) + "\n")
    if as_json and only:
        print_json({"schema": "discreet-check-1", "verdict": _verdict(checked[0]).to_dict()})
    elif as_json:
        print_json({"schema": "discreet-checks-1", "tables": [table.to_dict() for table in checked]})
    elif not quiet:
        _print(checked, titles=not only)
    if any(table.error is not None for table in checked):
        return EXIT_BAD_INPUT
    return 0 if all(table.passes for table in checked) else EXIT_NOT_MET


def _asked_for(
    files: Sequence[Path], given: dict[str, Any]
) -> tuple[list[tuple[Path, Path | None]], Project | None]:
    """Every table to check with its policy file, as the command line or else the project says; and that project."""
    named = given.get("policy_file")
    if files and (named is not None or given.get("qi") is not None):
        return [(file, named) for file in files], None
    project = Project.find()
    if not files:
        if project is None:
            raise click.UsageError(
                f"name a file and its --policy, or write a {PROJECT_FILE} that names tables and policies"
            )
        return [(table.path, named or table.policy) for table in project.tables()], project
    policies = [None if project is None else project.policy_of(file) for file in files]
    if None in policies:
        raise click.UsageError(
            "name a --policy, or at least --qi; `discreet suggest` writes a policy to start with"
        )
    return list(zip(files, policies, strict=True)), project


def _files_of(tables: Sequence[tuple[Path, Path | None]], project: Project | None) -> list[Path]:
    """What a project has read: itself, its tables and policies, and the files that these name."""
    if project is None:
        return []
    files = [project.file]
    for table, policy in tables:
        files += [table, *([policy] if policy else [])]
        with suppress(DiscreetError):
            files += load(policy).files if policy else ()
    return files


def _checked(file: Path, given: dict[str, Any], tell: Callable[[str], None], *, only: bool) -> CheckedTable:
    """One table checked; where it is the only one, what goes wrong ends the command."""
    name = _shown(file)
    try:
        table, policy, _ = open_with_policy(file, given, tell)
        statement = given["statement"] or (beside if (beside := statement_beside(file)).exists() else None)
        original = None if given["original"] is None else open_table(given["original"], given, policy)
        verdict = run_check(
            table, policy, statement=statement, ledger=given["ledger"], original=original, progress=tell
        )
        return CheckedTable(name, verdict)
    except DiscreetError as error:
        if only:
            raise
        return CheckedTable(name, error=error)


def _shown(file: Path | DatabaseAddress) -> str:
    """A path as it is seen from here, with slashes; of an address the name of the table only: it may hold a password."""
    if isinstance(file, DatabaseAddress):
        return file.name
    return Path(os.path.relpath(file)).as_posix()


def _verdict(table: CheckedTable) -> Verdict:
    assert table.verdict is not None
    return table.verdict


def _print(tables: Sequence[CheckedTable], *, titles: bool) -> None:
    """A line for each requirement of each table; where a pipeline of GitHub runs, its annotations too."""
    from discreet.reports.audit.terminal import criterion_line, remaining

    console = Terminal()
    for table in tables:
        if titles:
            console.print(table.path, style="bold underline", soft_wrap=True, markup=False)
        if table.verdict is None:
            console.print(f"✘ {table.error}", style="bold red", soft_wrap=True, markup=False)
            continue
        verdict = table.verdict
        for criterion in verdict.criteria:
            console.print(criterion_line(criterion), soft_wrap=True)
        for note in verdict.notes:
            console.print(f"· {note}", soft_wrap=True)
        total = len(verdict.criteria)
        console.print(
            f"{total - len(verdict.obstacles)} of {total} requirements hold; {verdict.words}",
            soft_wrap=True,
            style="bold",
        )
        if told := remaining(verdict):
            console.print(told, soft_wrap=True, markup=False)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in workflow_commands(tables):
            say(line)
