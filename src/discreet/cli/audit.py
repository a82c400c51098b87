"""`discreet audit`: whether a table may be released, and why."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.judged import judged_options, judging, print_judgement
from discreet.cli.options import (
    EDITION,
    FILE,
    LANGUAGE,
    PATH,
    open_with_policy,
    print_json,
    print_result,
    reading_options,
    refuse_unwritable,
    role_options,
    say,
)
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.release.audit import Audit
from discreet.release.audit import audit as run_audit
from discreet.release.records import record_risks
from discreet.reports.words import Edition


@click.command(cls=StrictCommand)
@FILE
@role_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON (see `discreet schema`).")
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict only, on one line.")
@click.option("--brief", is_flag=True, help="Print five lines.")
@click.option("--full", is_flag=True, help="Print everything, also of tables with many columns.")
@click.option("--core", is_flag=True, help="Leave out the search for exposing combinations (faster).")
@click.option("--report", "report_file", type=PATH, help="Also write an HTML report.")
@click.option(
    "--records", type=PATH, help="Also write what each record risks, in the order of FILE; keep it private."
)
@click.option(
    "--markov-known",
    metavar="A,B,…",
    help="The Markov-model risk for somebody who knows these quasi-identifiers (else the first one).",
)
@click.option(
    "--markov-order",
    metavar="A,B,…",
    help="The order in which such a person infers the others (else that of the table).",
)
@click.option(
    "--register-original",
    type=PATH,
    help="The table that FILE was made from, with the column that identifies people (else FILE itself).",
)
@judged_options
@EDITION
@LANGUAGE
def audit(
    file: Path,
    as_json: bool,
    quiet: bool,
    brief: bool,
    full: bool,
    core: bool,
    report_file: Path | None,
    records: Path | None,
    markov_known: str | None,
    markov_order: str | None,
    register_original: Path | None,
    edition: Edition,
    language: str,
    **given: Any,
) -> None:
    """Say whether the table in FILE may be released, with reasons, numbers and sources.

    Without --policy or --qi the roles of the columns are suggested, and the audit says so.
    """
    refuse_unwritable(report_file, records)
    judge = judging(given)
    given |= {"markov_known": split(markov_known), "markov_order": split(markov_order)}
    result = audit_file(file, given, quiet=quiet or as_json, core=core, records=records)
    judgement = judge(file, register_original or file, result.policy)
    if report_file is not None:
        write_report(result, report_file, edition, language, quiet=quiet or as_json)
    if as_json:
        together = {} if judgement is None else {"register": judgement.to_dict()}
        print_json({**result.to_dict(), **together})
    elif quiet:
        say(f"{result.verdict.decision}: {result.verdict.words}")
    else:
        from discreet.reports.audit.terminal import show, show_brief

        print_result(show_brief(result) if brief else show(result, full=full), report_file)
        print_judgement(judgement)


def audit_file(
    file: Path, given: dict[str, Any], *, quiet: bool, core: bool = False, records: Path | None = None
) -> Audit:
    """The audit of a file as the options say, with what had to be assumed in its notes."""
    with progress(quiet=quiet) as tell:
        table, policy, assumed = open_with_policy(file, given, tell)
        result = run_audit(
            table,
            policy,
            detail="core" if core else "full",
            known=given.get("markov_known"),
            order=given.get("markov_order"),
            progress=tell,
        )
        if records is not None:
            record_risks(table, policy, progress=tell).save(records)
    return dataclasses.replace(result, notes=(*result.notes, *assumed))


def write_report(result: Audit, target: Path, edition: Edition, language: str, *, quiet: bool) -> Path:
    """Write an audit as an HTML page."""
    from discreet.reports.audit.html import report

    with progress(quiet=quiet) as tell:
        tell("drawing the report")
        return report(result, target, edition=edition, language=language)
