"""`discreet compare` and `discreet attack`: what was lost, and what an intruder could still do."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from discreet.attacks.scenario import SCENARIOS
from discreet.cli import EXIT_NOT_MET
from discreet.cli.options import (
    Command,
    load_policy,
    make_policy,
    open_table,
    reading_options,
    refuse_unwritable,
    role_options,
    split,
)
from discreet.cli.progress import progress
from discreet.engine.read import read
from discreet.policy import Policy
from discreet.table import Table

FILE = click.Path(path_type=Path, readable=False)

SHARED = [
    click.option(
        "--key", help="Column that tells which record is which (else: their order).", metavar="COLUMN"
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Start of all chance."
    ),
    click.option("--report", "report_file", type=FILE, help="Write loss and exposure as one HTML page."),
    click.option(
        "--edition",
        type=click.Choice(["internal", "public"]),
        default="internal",
        show_default=True,
        help="The public edition of the report shows no values of the data.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print everything as JSON."),
]
INTRUDER = [
    click.option(
        "--scenario",
        type=click.Choice(list(SCENARIOS)),
        default="prosecutor",
        show_default=True,
        help="Who attacks, and what they know.",
    ),
    click.option("--known", help="Columns the intruder knows, instead of the scenario's.", metavar="A,B,…"),
    click.option("--public", type=FILE, help="Table of people whom the intruder looks for."),
    click.option("--control", type=FILE, help="Table of people who are not in the release."),
]


def _options(*groups: list[Any]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return add


@click.command()
@click.argument("original", type=FILE)
@click.argument("release", type=FILE)
@role_options
@_options(SHARED)
@click.option(
    "--labels", help="Sensitive attributes to learn (all if not given, '' for none).", metavar="A,B,…"
)
@click.option(
    "--queries",
    type=click.IntRange(min=1, max=100_000),
    default=1000,
    show_default=True,
    help="Random queries to ask of both tables.",
)
@_options(INTRUDER)
@reading_options
def compare(
    original: Path,
    release: Path,
    key: str | None,
    seed: int,
    labels: str | None,
    queries: int,
    report_file: Path | None,
    edition: str,
    as_json: bool,
    scenario: str,
    known: str | None,
    public: Path | None,
    control: Path | None,
    **given: Any,
) -> int:
    """Measure what RELEASE lost against ORIGINAL; the release may have been made by any tool.

    Options about reading speak of ORIGINAL; how RELEASE is to be read is found out. With --report the attacks
    are run, too, so that loss and exposure stand on one page. Exits with 1 if one of the policy's KPIs is
    outside its tolerance.
    """
    from discreet.release.compare import compare as run_compare
    from discreet.reports.evidence.terminal import show_comparison

    if report_file is not None:
        refuse_unwritable(report_file, original, release, public, control)
    with progress(quiet=as_json) as tell:
        before, policy, assumed = _open(original, given, tell)
        after = read(release)
        found = run_compare(
            before,
            after,
            policy,
            key=key,
            labels=split(labels),
            queries=queries,
            seed=seed,
            progress=tell,
        )
        found = dataclasses.replace(found, notes=(*assumed, *found.notes))
        if report_file is not None:
            from discreet.release.attack import attack as run_attack
            from discreet.reports.evidence.html import evidence_report

            attacked = run_attack(
                after,
                policy,
                original=before,
                public=public,
                control=control,
                scenario=scenario,
                known=split(known),
                key=key,
                seed=seed,
                progress=tell,
            )
            tell("drawing the report")
            evidence_report(
                report_file,
                comparison=found,
                attacks=attacked,
                policy=policy,
                edition="public" if edition == "public" else "internal",
            )
    _print(found.to_dict() if as_json else show_comparison(found), report_file)
    return EXIT_NOT_MET if any(one.holds is False for one in found.kpis) else 0


@click.command()
@click.argument("release", type=FILE)
@click.option("--original", type=FILE, help="The table that the release was made from.")
@role_options
@_options(INTRUDER, SHARED)
@click.option("--attacks", help="Attacks to run (all if not given).", metavar="A,B,…")
@click.option(
    "--max-advantage",
    type=click.FloatRange(0, 1),
    help="Exit with 1 if an attack gains more than this over its baseline.",
)
@click.option("--exposed", is_flag=True, help="Show the most exposed people in JSON (contains values).")
@reading_options
def attack(
    release: Path,
    original: Path | None,
    scenario: str,
    known: str | None,
    public: Path | None,
    control: Path | None,
    key: str | None,
    seed: int,
    attacks: str | None,
    max_advantage: float | None,
    exposed: bool,
    report_file: Path | None,
    edition: str,
    as_json: bool,
    **given: Any,
) -> int:
    """Try what an intruder could still do to RELEASE, made here or by any other tool.

    With --original every attack can be judged; without it only those that read the release alone. Options about
    reading speak of ORIGINAL if it is given.
    """
    from discreet.release.attack import attack as run_attack
    from discreet.reports.evidence.terminal import show_attacks

    if report_file is not None:
        refuse_unwritable(report_file, release, original, public, control)
    with progress(quiet=as_json) as tell:
        first, policy, assumed = _open(original or release, given, tell)
        found = run_attack(
            first if original is None else read(release),
            policy,
            original=None if original is None else first,
            public=public,
            control=control,
            scenario=scenario,
            known=split(known),
            attacks=split(attacks),
            key=key,
            seed=seed,
            progress=tell,
        )
        found = dataclasses.replace(found, notes=(*assumed, *found.notes))
        if report_file is not None:
            from discreet.reports.evidence.html import evidence_report

            tell("drawing the report")
            evidence_report(
                report_file,
                comparison=None,
                attacks=found,
                policy=policy,
                edition="public" if edition == "public" else "internal",
            )
    _print(found.to_dict(exposed=exposed) if as_json else show_attacks(found), report_file)
    return EXIT_NOT_MET if max_advantage is not None and found.exposure > max_advantage + 1e-12 else 0


def _open(file: Path, given: dict[str, Any], tell: Any) -> tuple[Table, Policy, list[str]]:
    """The table, its policy, and what had to be assumed about it."""
    tell(f"reading {file.name}")
    written = load_policy(given)
    table = open_table(file, given, written)
    policy, assumed = make_policy(table, written, given, tell)
    return table, policy, assumed


def _print(shown: Any, report_file: Path | None) -> None:
    if isinstance(shown, dict):
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2, allow_nan=False))
        return
    console = Console(highlight=False)
    console.print(shown)
    if report_file is not None:
        console.print(f"\nReport: {report_file}", soft_wrap=True, markup=False)
