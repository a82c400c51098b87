"""`discreet attack`: what an intruder could still do to a release."""

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
    PATH,
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
from discreet.dp.certificate import statement_beside
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.reports.words import Edition


@click.command(cls=StrictCommand)
@click.argument("release", type=InputFile())
@click.option("--original", type=InputFile(), help="The table that the release was made from.")
@click.option(
    "--earlier",
    type=InputFile(),
    multiple=True,
    help="An earlier release about the same people, to be laid over RELEASE (may be repeated).",
)
@role_options
@add_options(INTRUDER, EVIDENCE, [PERTURBED])
@click.option(
    "--statement", type=PATH, help="What a release says of its guarantee (default: the file beside it)."
)
@click.option("--attacks", help="Attacks to run (all if not given).", metavar="A,B,…")
@click.option(
    "--max-advantage",
    type=click.FloatRange(0, 1),
    help="Exit with 1 if an attack gains more than this over its baseline.",
)
@click.option(
    "--bcf",
    type=click.IntRange(min=1),
    help="Exit with 1 unless forward, cross and backward attacks leave everybody so many records (needs --earlier).",
)
@click.option(
    "--concealment",
    type=click.IntRange(min=1),
    help="Exit with 1 unless so many records may be everybody's, and so many people behind each record, for whoever knows all of "
    "them (needs --original).",
)
@click.option(
    "--m-confidentiality",
    "confidentiality",
    type=click.FloatRange(min=1),
    metavar="M",
    help="Exit with 1 if whoever knows method and requirements is surer of anybody's value than 1/M (needs --original).",
)
@click.option("--full", is_flag=True, help="Print every attack on every attribute, also of tables with many.")
@click.option("--exposed", is_flag=True, help="Show the most exposed people in JSON (contains values).")
@reading_options
def attack(
    release: Path,
    original: Path | None,
    earlier: tuple[Path, ...],
    statement: Path | None,
    attacks: str | None,
    max_advantage: float | None,
    bcf: int | None,
    concealment: int | None,
    confidentiality: float | None,
    full: bool,
    exposed: bool,
    report_file: Path | None,
    edition: Edition,
    language: str,
    as_json: bool,
    **given: Any,
) -> int:
    """Try what an intruder could still do to RELEASE, made here or by any other tool.

    With --original every attack can be judged; without it only those that read the release alone. Options about
    reading speak of ORIGINAL if it is given.
    """
    from discreet.release.attack import attack as run_attack
    from discreet.release.codebook import codebook_beside
    from discreet.release.composition import bcf_anonymity
    from discreet.release.concealment import concealment as find_concealment
    from discreet.release.confidentiality import m_confidentiality
    from discreet.reports.evidence.terminal import show_attacks

    if bcf is not None and (original is None or not earlier):
        raise InvalidParameter(
            "BCF-anonymity is that of several releases",
            remedy="name those before with --earlier, and --original",
        )
    if concealment is not None and original is None:
        raise InvalidParameter(
            "among how many records somebody hides is told by the original",
            remedy="name the table that the release was made from (--original)",
        )
    if confidentiality is not None and original is None:
        raise InvalidParameter(
            "what a method tells is found out beside the original",
            remedy="name the table that the release was made from (--original)",
        )
    refuse_unwritable(report_file)
    with progress(quiet=as_json) as tell:
        first, policy, assumed = open_with_policy(original or release, given, tell)
        policy = with_steps(policy, given)
        attacked = run_attack(
            first if original is None else read(release, expected=policy.names),
            policy,
            original=None if original is None else first,
            codebook=given["codebook"] or codebook_beside(release),
            earlier=earlier,
            attacks=split(attacks),
            statement=statement or (beside if (beside := statement_beside(release)).exists() else None),
            progress=tell,
            **intruder(given, policy),
        )
        left = None if bcf is None else bcf_anonymity(release, policy, earlier=earlier, original=first)
        hidden = None
        if concealment is not None:
            hidden = find_concealment(
                release, policy, original=first, links=given["links"], codebook=given["codebook"]
            )
        sure = None
        if confidentiality is not None:
            sure = m_confidentiality(
                release, policy, original=first, links=given["links"], codebook=given["codebook"]
            )
        measured = tuple(told.says for told in (left, hidden, sure) if told is not None)
        attacked = dataclasses.replace(attacked, notes=(*assumed, *attacked.notes, *measured))
        if report_file is not None:
            from discreet.reports.evidence.html import evidence_report

            tell("drawing the report")
            evidence_report(
                report_file,
                comparison=None,
                attacks=attacked,
                policy=policy,
                edition=edition,
                language=language,
            )
    if as_json:
        print_json(attacked.to_dict(exposed=exposed))
    else:
        print_result(show_attacks(attacked, full=full), report_file)
    too_far = max_advantage is not None and attacked.exposure > max_advantage + 1e-12
    too_few = left is not None and bcf is not None and not left.holds(bcf)
    too_open = hidden is not None and concealment is not None and not hidden.holds(concealment)
    too_sure = sure is not None and confidentiality is not None and not sure.holds(confidentiality)
    return EXIT_NOT_MET if too_far or too_few or too_open or too_sure else 0
