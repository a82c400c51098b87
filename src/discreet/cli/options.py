"""What several commands share: their options, and the table and policy that these ask for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import RenderableType

from discreet.attacks.scenario import SCENARIOS
from discreet.cli.memory import MEMORY_OPTION, THREADS_OPTION
from discreet.cli.setting_options import Option, given_settings, setting_options, split
from discreet.cli.streams import InputFile
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.files.addresses import DatabaseAddress
from discreet.files.keys import read_key as key_in
from discreet.files.writing import parts_folder, refuse_clashes, refuse_no_place
from discreet.plain import printable, printable_json
from discreet.policy import Policy, load
from discreet.policy.suggest import suggest
from discreet.release.targets import Target
from discreet.reports.console import Terminal
from discreet.reports.phrasebook import languages
from discreet.table import Table
from discreet.table.reading import ReadOptions
from discreet.types import Progress

Command = TypeVar("Command", bound=Callable[..., Any])

PATH = click.Path(path_type=Path, readable=False)
FILE = click.argument("file", type=InputFile())
EDITION = click.option(
    "--edition",
    type=click.Choice(["internal", "public"]),
    default="internal",
    show_default=True,
    help="The public edition of the report shows no values of the data.",
)
LANGUAGE = click.option(
    "--lang",
    "language",
    type=click.Choice(list(languages())),
    default="en",
    show_default=True,
    help="The language of the HTML report.",
)
CHART = click.option(
    "--chart", type=click.Path(path_type=Path), help="Write risk against loss as an SVG picture."
)
READING: list[Option] = [
    *setting_options(ReadOptions, repeated=("missing",)),
    click.option(
        "--engine",
        type=click.Choice(["duckdb", "spark"]),
        default="duckdb",
        show_default=True,
        help="Where the rows are counted.",
    ),
    MEMORY_OPTION,
    THREADS_OPTION,
]
PERSON = click.option("--person", help="Column that says which rows belong to one person.", metavar="COLUMN")
GROUP = click.option("--group", default="group", show_default=True, help="The name of the groups' column.")
ROLES = [
    click.option(
        "--policy", "-p", "policy_file", type=InputFile(), help="Policy file (see `discreet suggest`)."
    ),
    click.option("--qi", help="Quasi-identifiers: columns an intruder may know.", metavar="A,B,…"),
    click.option("--sensitive", help="Sensitive attributes: what nobody should learn.", metavar="A,B,…"),
    PERSON,
    click.option("--weight", help="Column with sampling weights.", metavar="COLUMN"),
    click.option(
        "--guards",
        help="Columns that say what each person wants to have guarded; never released.",
        metavar="A,B,…",
    ),
    click.option("--identifiers", help="Direct identifiers.", metavar="A,B,…"),
    click.option("--profile", help="By what to judge: a name from `discreet profiles`, or a .toml file."),
    click.option(
        "--sampling-fraction",
        type=click.FloatRange(0, 1, min_open=True),
        help="Share of the population that is in the table; turns on population estimates.",
    ),
    click.option(
        "--population",
        type=PATH,
        help="Table of the whole population, to count who shares a combination there.",
    ),
    click.option(
        "--population-count",
        help="Column of it that says how many people a row stands for (else: one).",
        metavar="COLUMN",
    ),
]
EVIDENCE = [
    click.option(
        "--key",
        help="Column that tells which record is which (else: what the values and their order leave open).",
        metavar="COLUMN",
    ),
    click.option("--links", type=PATH, help="The links that were written with RELEASE: which row is which."),
    click.option(
        "--codebook",
        type=PATH,
        help="What tells the short labels of RELEASE (else: the codebook beside it, if there is one).",
    ),
    click.option(
        "--buckets",
        type=PATH,
        help="The table of sensitive values by bucket that was written with RELEASE (`discreet bucketize`).",
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Start of all chance."
    ),
    click.option("--report", "report_file", type=PATH, help="Write loss and exposure as one HTML page."),
    EDITION,
    LANGUAGE,
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
    click.option(
        "--intruder",
        "named_intruder",
        help="An intruder of the policy, who knows what it says of them.",
        metavar="NAME",
    ),
    click.option("--public", type=InputFile(), help="Table of people whom the intruder looks for."),
    click.option("--control", type=InputFile(), help="Table of people who are not in the release."),
]


def add_options(*groups: Sequence[Option]) -> Callable[[Command], Command]:
    """A decorator that adds groups of options to a command, in their order."""

    def add(command: Any) -> Any:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return add


role_options = add_options(ROLES)
reading_options = add_options(READING)


def intruder(given: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """Who attacks and what they know, as the options say and the attacks take it."""
    said = {
        name: given[name] for name in ("scenario", "public", "control", "key", "links", "buckets", "seed")
    }
    named = given["named_intruder"]
    if named is not None and given["known"] is not None:
        raise click.UsageError("--intruder and --known both say what is known: name one of them")
    return {**said, "known": split(given["known"]) if named is None else policy.known_to(named)}


def refuse_unwritable(
    *targets: Target | None,
    perhaps: Iterable[Path] = (),
    inputs: Iterable[Path] = (),
    folder: Path | None = None,
) -> None:
    """Raise before the work is done if a result could not be written, or would replace what is read.

    What is read is every other path that the command line names, the policy and the profile, the files that these name, and
    ``inputs`` that nobody named. A ``folder`` that results go to is not read; ``perhaps`` more files are written than those
    that were asked for.
    """
    written = [target for target in targets if target is not None]
    files = [target for target in written if not isinstance(target, DatabaseAddress)]
    databases = [target for target in written if isinstance(target, DatabaseAddress)]
    if files:
        refuse_clashes([*files, *perhaps], [*inputs, *databases, *_named_files([*written, folder])])
    for target in files:
        place = (parts_folder(target) or target).resolve().parent
        if not place.is_dir():
            raise InvalidParameter(f"there is no folder to write {target.name} to", remedy="create it first")
        if os.path.isdir(target):
            raise InvalidParameter(f"{target.name or target} is a folder", remedy="name a file in it")
        if not os.access(target if os.path.exists(target) else place, os.W_OK):
            raise InvalidParameter(
                f"{target.name} may not be written", remedy="check the permissions, or name another place"
            )
        if os.path.lexists(target):
            refuse_no_place(target)


def _named_files(targets: Sequence[Target | Path | None]) -> list[Path | DatabaseAddress]:
    """Every path of the command line that is no target, the profile and the policy, and every file that this names."""
    given = click.get_current_context().params
    values = [value for each in given.values() for value in (each if isinstance(each, tuple) else (each,))]
    paths = [value for value in values if isinstance(value, Path | DatabaseAddress)]
    # Whoever names the table as a target means the same place by another object.
    files = [path for path in paths if not any(path is target for target in targets)]
    profile = given.get("profile")
    if profile and profile.endswith(".toml"):
        files.append(Path(profile))
    if given.get("policy_file") is not None:
        files += load(given["policy_file"]).files
    return files


def print_json(document: object) -> None:
    """Print a result as JSON, which has neither infinity nor NaN."""
    click.echo(printable_json(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)))


def say(line: str) -> None:
    """Print a line for people."""
    click.echo(printable(line))


def print_document(text: str) -> None:
    """Print a file's content: as it is for a program, as it may be shown for people."""
    click.echo(printable(text) if sys.stdout.isatty() else text, nl=not text.endswith("\n"))


def print_result(result: RenderableType, report_file: Path | None) -> None:
    """Print a result for people, and where its report is."""
    console = Terminal()
    console.print(result)
    if report_file is not None:
        console.print(f"\nReport: {report_file}", soft_wrap=True, markup=False)


def open_with_policy(
    file: Path, given: dict[str, Any], tell: Callable[[str], None], default: Policy | None = None
) -> tuple[Table, Policy, list[str]]:
    """The table, its policy, and what had to be assumed. ``default`` is taken if no policy file was named."""
    tell(f"reading {file.name}")
    written = load_policy(given) or default
    table = open_table(file, given, written)
    policy, assumed = make_policy(table, written, given, tell)
    return table, policy, assumed


def open_table(file: Path, given: dict[str, Any], policy: Policy | None = None) -> Table:
    """Read the file as the options say; what they leave open, as the policy's ``[read]`` says."""
    wanted: dict[str, Any] = {**(policy.read if policy else {}), **read_options(given).given()}
    if wanted.get("delimiter") in ("\\t", "tab"):
        wanted["delimiter"] = "\t"
    expected = policy.names if policy else ()
    return read(file, engine=_engine(given.get("engine", "duckdb")), expected=expected, **wanted)


def read_key(file: Path | None) -> str | None:
    """The key for pseudonyms from its file, if one was named."""
    return None if file is None else key_in(file)


def read_options(given: dict[str, Any]) -> ReadOptions:
    """How the options say that a file is read."""
    return ReadOptions(**given_settings(ReadOptions, given))


def _engine(name: str) -> Any:
    if name == "spark":
        from discreet.engine.spark import SparkEngine

        return SparkEngine()
    return None


def load_policy(given: dict[str, Any]) -> Policy | None:
    """The policy file that was named, if one was."""
    return None if given.get("policy_file") is None else load(given["policy_file"])


def make_policy(
    table: Table, policy: Policy | None, given: dict[str, Any], progress: Progress | None = None
) -> tuple[Policy, list[str]]:
    """The policy to apply, and what had to be assumed: file, then options, then suggestion.

    Options that name roles replace the suggested or written holders of these roles. If the
    quasi-identifiers are named on the command line, nothing is suggested besides direct identifiers.
    """
    assumed: list[str] = []
    for role in ("weight", "person"):
        # A release may lack the weights and person ids that a policy names, but not those that are named here.
        if given.get(role) is not None:
            table.column(given[role])
    if policy is None:
        policy = suggest(table, progress=progress)
        if given.get("qi") is None:
            assumed.append(
                "roles were suggested from names and content: check them, e.g. with `discreet suggest`"
            )
        else:
            if policy.person is not None and given.get("person") is None:
                assumed.append(
                    f"each row was counted as a person, but {policy.person} repeats as the id of a person "
                    f"does: name it with --person if it is one"
                )
            kept = [
                column
                for column in policy.columns
                if column.role
                not in ("quasi-identifier", "sensitive", "person-id", "weight", "guarding-node")
            ]
            policy = Policy(columns=tuple(kept), profile=policy.profile, unknown="examine")
    policy = policy.replace(
        quasi_identifiers=split(given.get("qi")),
        sensitive=split(given.get("sensitive")),
        person=given.get("person"),
        weight=given.get("weight"),
        guards=split(given.get("guards")),
        direct_identifiers=split(given.get("identifiers")),
        profile=given.get("profile"),
        sampling_fraction=given.get("sampling_fraction"),
        population=given.get("population"),
        population_count=given.get("population_count"),
    )
    return policy, assumed
