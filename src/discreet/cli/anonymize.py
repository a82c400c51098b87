"""`discreet anonymize`: a release that meets the policy, at the least loss, verified."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from discreet.cli.command import StrictCommand
from discreet.cli.judged import judged_options, judging, print_judgement, refuse_narrowing
from discreet.cli.options import (
    FILE,
    LANGUAGE,
    print_json,
    read_key,
    reading_options,
    refuse_unwritable,
    role_options,
)
from discreet.cli.plan_options import PERTURB_SEED, open_with_plan, plan_options
from discreet.cli.progress import progress
from discreet.cli.streams import InputFile, OutputFile, is_streamed, stream
from discreet.errors import InvalidParameter, RequirementNotMet
from discreet.files.addresses import DatabaseAddress
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.release.anonymize import anonymize as run_anonymize
from discreet.release.codebook import codebook_place
from discreet.release.grown import anonymize_grown
from discreet.release.release import Release
from discreet.release.requirements import refuse_out_of_reach
from discreet.release.targets import Target, check_release_target
from discreet.release.write import check_target
from discreet.reports.console import Terminal
from discreet.search.contest import TITLES
from discreet.table import Table
from discreet.types import Progress

if TYPE_CHECKING:
    from discreet.release.family_contest import FamilyComparison

OUTPUT = click.option(
    "--output",
    "-o",
    type=OutputFile(),
    required=True,
    help="Where the release is written: a file, a folder/ for Parquet files, the address of a new table of a "
    "database, or - for standard output (as CSV).",
)
KEY_FILE = click.option(
    "--key-file", type=click.Path(path_type=Path), help="File with the key for pseudonyms of person ids."
)
LINKS = click.option(
    "--links",
    "links_file",
    type=click.Path(path_type=Path),
    help="Also write which row of FILE each released row is (.csv): keep it secret.",
)
CODEBOOK = click.option(
    "--codebook",
    "codebook_file",
    type=click.Path(path_type=Path),
    help="Also write what every label of the release stands for (.csv), to go with it.",
)
ACKNOWLEDGE = click.option(
    "--acknowledge",
    metavar="REASON",
    help="Write the release although the verdict is against it; the reason goes into the evidence.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
QUIET = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")


@click.command(cls=StrictCommand)
@FILE
@OUTPUT
@click.option("--report", "report_file", type=click.Path(path_type=Path), help="Also write an HTML report.")
@click.option(
    "--exposure",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    help="In the report, also all families of methods on FILE, each just so strong that at most this share of the people is found.",
    metavar="SHARE",
)
@LANGUAGE
@click.option(
    "--recipe", "recipe_file", type=click.Path(path_type=Path), help="Also write the recipe (.json or .toml)."
)
@CODEBOOK
@LINKS
@click.option(
    "--alternatives",
    "alternatives_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write the other releases that were found, into this folder.",
)
@click.option(
    "--earlier",
    type=InputFile(),
    multiple=True,
    help="An earlier release of the same table, before people came. May be repeated, the oldest first; with --bcf.",
)
@click.option(
    "--bcf",
    type=click.IntRange(min=1),
    help="Leave everybody so many records whom forward, cross and backward attacks look for (needs --earlier).",
)
@ACKNOWLEDGE
@KEY_FILE
@role_options
@plan_options
@PERTURB_SEED
@judged_options
@reading_options
@JSON
@QUIET
def anonymize(
    file: Path,
    output: Target,
    report_file: Path | None,
    exposure: float | None,
    language: str,
    recipe_file: Path | None,
    codebook_file: Path | None,
    links_file: Path | None,
    alternatives_folder: Path | None,
    earlier: tuple[Path, ...],
    bcf: int | None,
    acknowledge: str | None,
    key_file: Path | None,
    perturb_seed: int | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Write a release of FILE that meets the policy and its profile, at the least loss.

    The written file is read back and verified before it appears. Exit code 1 if the goal cannot be reached, or if
    the verdict on the release is "do not release" and nobody acknowledges that: then no file is written. The same holds
    if a register is named and the release leaves too few values possible together with the earlier ones.
    """
    refuse_two_answers(output, as_json=as_json)
    written: list[Target | None] = [output, report_file, recipe_file, codebook_file, links_file]
    check_release_target(output, linked=links_file is not None)
    others = alternative_files(alternatives_folder, output)
    perhaps = [*others, *codebooks(*others, None if codebook_file else output)]
    refuse_unwritable(*written, perhaps=perhaps, folder=alternatives_folder)
    if codebook_file is not None:
        check_target(codebook_file)
    if exposure is not None and report_file is None:
        raise InvalidParameter("families are drawn in the report", remedy="name a file with --report")
    if (bcf is None) != (not earlier) or (bcf is not None and perturb_seed is not None):
        raise click.UsageError("--bcf K and --earlier FILE belong together, and take no --perturb-seed")
    key = read_key(key_file)
    judge = judging(given)
    with progress(quiet=quiet or as_json) as tell:
        table, policy, plan, assumed = open_with_plan(file, given, tell)
        if acknowledge is None:
            refuse_out_of_reach(policy.fit(table), policy)
        if bcf is None:
            release = run_anonymize(
                table, policy, plan=plan, key=key, perturb_seed=perturb_seed, progress=tell
            )
        else:
            release = anonymize_grown(
                table, policy, earlier=earlier, bcf=bcf, plan=plan, key=key, progress=tell
            )
        release = dataclasses.replace(release, notes=(*release.notes, *assumed))
        release = release_anyway(release, acknowledge)
        judgement = judge(release, table, policy)
        release = refuse_narrowing(release, judgement, acknowledge)
        compared = None if exposure is None else _families(table, policy, plan, exposure, tell)
        tell("writing and verifying")
        release.save(
            output,
            report=report_file,
            recipe=recipe_file,
            links=links_file,
            codebook=codebook_file,
            families=compared,
            language=language,
        )

        def held(other: Release) -> bool:
            if other.verdict.decision == "do-not-release":
                return False
            judged = judge(other, table, policy)
            return judged is None or judged.holds

        further = write_alternatives(
            release,
            alternatives_folder,
            alternative_suffix(output),
            lambda other: bool(acknowledge) or held(other),
        )
    if codebook_file is None:
        written.append(release.codebook_place(output))
    print_release(release, [*written, *further], as_json=as_json, quiet=quiet)
    if not quiet and not as_json and not is_streamed(output):
        print_judgement(judgement)


def _families(table: Table, policy: Policy, plan: Plan, exposure: float, tell: Progress) -> FamilyComparison:
    """All families on the table, as `compare-methods` shows them."""
    from discreet.release.family_contest import compare_families

    return compare_families(table, policy, plan=plan, exposure=exposure, progress=tell)


def refuse_two_answers(output: Target, *, as_json: bool) -> None:
    """Standard output takes the release or what is said of it."""
    if as_json and is_streamed(output):
        raise InvalidParameter(
            "both the release and the JSON would go to standard output", remedy="name a file for one of them"
        )


def release_anyway(release: Release, reason: str | None) -> Release:
    """The release, with the reason in its evidence where the verdict is against it; without one it is refused."""
    if release.verdict.decision != "do-not-release":
        return release
    if reason is None or not reason.strip():
        obstacles = "; ".join(criterion.description for criterion in release.verdict.obstacles)
        raise RequirementNotMet(
            f"the verdict on what would be released is: do not release ({obstacles})",
            remedy='nothing was written; ask for more, leave the column out, or say why with --acknowledge "reason"',
        )
    return release.acknowledged(reason.strip())


def codebooks(*releases: Target | None) -> list[Path]:
    """Where codebooks go of files of which nobody says it."""
    return [codebook_place(target) for target in releases if isinstance(target, Path)]


def alternative_files(folder: Path | None, output: Target) -> list[Path]:
    """Where other releases may go; raises if there is a file in the place of their folder."""
    if folder is None:
        return []
    if folder.exists() and not folder.is_dir():
        raise InvalidParameter(f"{folder.name} is a file", remedy="name a folder for the other releases")
    return [alternative_file(folder, title, alternative_suffix(output)) for title in TITLES]


def alternative_suffix(output: Target) -> str:
    """What the files of other releases end with: as that of the release, or Parquet if it goes to a database."""
    return output.suffix if isinstance(output, Path) else ".parquet"


def alternative_file(folder: Path, title: str, suffix: str) -> Path:
    """Where another release goes."""
    return folder / f"{title.replace(' ', '-')}{suffix}"


def write_alternatives(
    release: Release, folder: Path | None, suffix: str, may_go: Callable[[Release], bool]
) -> list[Target]:
    """Write the releases that were found beside the chosen one; those that the verdict or the register is against are left out."""
    written: list[Target] = []
    if folder is None:
        return written
    for alternative in release.alternatives:
        other = alternative.make()
        if not may_go(other):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        written.append(other.save(alternative_file(folder, alternative.title, suffix)))
    return written


def print_release(release: Release, files: Sequence[Target | None], *, as_json: bool, quiet: bool) -> None:
    """Say what was released and which files were written; a release for standard output goes there instead."""
    output = files[0]
    if isinstance(output, Path) and is_streamed(output):
        stream(output)
    elif as_json:
        print_json(release.to_dict())
    elif not quiet:
        from discreet.reports.release.terminal import show_release

        console = Terminal()
        console.print(show_release(release))
        for path in filter(None, files):
            # Of an address the name of the table only: it may hold a password.
            shown = path.name if isinstance(path, DatabaseAddress) else str(path)
            console.print(Text.assemble("Wrote ", (shown, "bold")), soft_wrap=True)
