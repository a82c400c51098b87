"""`discreet compare`: what a release lost against its original."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from discreet.cli import EXIT_NOT_MET
from discreet.cli.command import StrictCommand
from discreet.cli.options import (
    EVIDENCE,
    INTRUDER,
    add_options,
    intruder,
    open_with_policy,
    print_json,
    print_result,
    reading_options,
    refuse_unwritable,
    role_options,
)
from discreet.cli.plan_options import PERTURBED, with_steps
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.cli.streams import InputFile
from discreet.engine.read import read
from discreet.policy.analysis import Analysis
from discreet.reports.words import Edition
from discreet.utility.learners import USUAL, check_classifiers


@click.command(cls=StrictCommand)
@click.argument("original", type=InputFile())
@click.argument("release", type=InputFile())
@role_options
@add_options(EVIDENCE, [PERTURBED])
@click.option(
    "--labels", help="Sensitive attributes to learn (all if not given, '' for none).", metavar="A,B,…"
)
@click.option(
    "--classifiers",
    help=f"By which they are learned ({','.join(USUAL)} if not given).",
    metavar="A,B,…",
)
@click.option(
    "--queries",
    type=click.IntRange(min=1, max=100_000),
    default=1000,
    show_default=True,
    help="Random queries to ask of both tables.",
)
@click.option(
    "--analysis",
    "analyses",
    multiple=True,
    help="A regression to run on both tables, e.g. 'income ~ age + sex', besides those of the policy. May be repeated.",
    metavar="FORMULA",
)
@click.option(
    "--brief",
    is_flag=True,
    help="Print what was lost overall, your own figures and notes, and no table of measures.",
)
@add_options(INTRUDER)
@reading_options
def compare(
    original: Path,
    release: Path,
    labels: str | None,
    classifiers: str | None,
    queries: int,
    analyses: tuple[str, ...],
    brief: bool,
    report_file: Path | None,
    edition: Edition,
    language: str,
    as_json: bool,
    **given: Any,
) -> int:
    """Measure what RELEASE lost against ORIGINAL; the release may have been made by any tool.

    Options about reading speak of ORIGINAL; how RELEASE is to be read is found out. With --report the attacks
    are run, too, so that loss and exposure stand on one page. Exits with 1 if one of the policy's KPIs is
    outside its tolerance.
    """
    from discreet.release.codebook import codebook_beside
    from discreet.release.compare import compare as run_compare
    from discreet.reports.evidence.terminal import show_comparison

    refuse_unwritable(report_file)
    with progress(quiet=as_json) as tell:
        before, policy, assumed = open_with_policy(original, given, tell)
        policy = with_steps(policy, given)
        named = tuple(Analysis(formula) for formula in analyses)
        policy = dataclasses.replace(policy, analyses=(*policy.analyses, *named))
        after = read(release, expected=policy.names)
        comparison = run_compare(
            before,
            after,
            policy,
            key=given["key"],
            links=given["links"],
            codebook=given["codebook"] or codebook_beside(release),
            buckets=given["buckets"],
            labels=split(labels),
            classifiers=USUAL if classifiers is None else check_classifiers(split(classifiers) or ()),
            queries=queries,
            seed=given["seed"],
            progress=tell,
        )
        comparison = dataclasses.replace(comparison, notes=(*assumed, *comparison.notes))
        if report_file is not None:
            from discreet.release.attack import attack as run_attack
            from discreet.reports.evidence.html import evidence_report

            attacks = run_attack(
                after,
                policy,
                original=before,
                paired=comparison.paired,
                progress=tell,
                **intruder(given, policy),
            )
            tell("drawing the report")
            evidence_report(
                report_file,
                comparison=comparison,
                attacks=attacks,
                policy=policy,
                edition=edition,
                language=language,
            )
    if as_json:
        print_json(comparison.to_dict())
    else:
        print_result(show_comparison(comparison, brief=brief), report_file)
    return EXIT_NOT_MET if any(kpi.holds is False for kpi in comparison.kpis) else 0
