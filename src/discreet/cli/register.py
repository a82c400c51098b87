"""`discreet register`: what was published about the same people, so that the next release is judged with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictGroup
from discreet.cli.options import PATH, add_options, load_policy, print_json, read_key
from discreet.cli.streams import InputFile
from discreet.errors import InvalidParameter, RequirementNotMet
from discreet.policy import Policy
from discreet.register import Judgement, Register
from discreet.register.judging import VALUES_LEFT
from discreet.register.people import GroupedRows
from discreet.release.release import Release
from discreet.reports.console import Terminal
from discreet.reports.register import show_entries, show_entry, show_judgement
from discreet.sentences import Sentence

DIR = click.argument("folder", metavar="DIR", type=PATH)
NUMBER = click.argument("number", type=click.IntRange(min=1))
JSON = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
JUDGED = [
    click.option(
        "--register",
        "register_folder",
        type=PATH,
        help="Register of earlier releases, which the new one is laid over.",
    ),
    click.option("--register-key", type=PATH, help="File with the key of the register."),
    click.option(
        "--register-person", metavar="COLUMN", help="Column that identifies people (else the policy's)."
    ),
    click.option(
        "--values-left",
        type=click.IntRange(min=1),
        default=VALUES_LEFT,
        show_default=True,
        help="So many sensitive values must be left possible for each person over all releases.",
    ),
    click.option(
        "--same-values",
        is_flag=True,
        help="The same sensitive values must be possible for each person as in every earlier release.",
    ),
]
judged_options = add_options(JUDGED)


@click.group(cls=StrictGroup)
def register() -> None:
    """Keep what was published about the same people, to judge the next release together with it.

    DIR is a folder of plain files. It holds no row and no value: people and values are keyed hashes. Keep the key apart.
    """


@register.command()
@DIR
@click.argument("release", type=PATH)
@click.option(
    "--policy", "-p", "policy_file", type=InputFile(), required=True, help="Policy file of the release."
)
@click.option("--original", type=PATH, help="The table that the release was made from.")
@click.option("--person", metavar="COLUMN", help="Column of it that identifies people (else the policy's).")
@click.option("--key-file", type=PATH, help="File with the key of the register.")
@click.option("--audience", default="", help="For whom the release was made.", metavar="TEXT")
@click.option("--links", type=PATH, help="Of a release of `discreet republish`: which row is whose.")
@click.option("--group", default="group", show_default=True, help="The name of its groups' column.")
@JSON
def add(
    folder: Path,
    release: Path,
    policy_file: Path,
    original: Path | None,
    person: str | None,
    key_file: Path | None,
    audience: str,
    links: Path | None,
    group: str,
    as_json: bool,
) -> None:
    """Enter RELEASE, which is published, into the register in DIR."""
    entry = Register(folder).add(
        release,
        _policy(policy_file),
        original=original,
        person=person,
        key=read_key(key_file),
        audience=audience,
        groups=None if links is None else GroupedRows(group, links),
    )
    _print(entry.to_dict(), lambda: show_entry(entry), as_json=as_json)


@register.command("list")
@DIR
@JSON
def list_(folder: Path, as_json: bool) -> None:
    """List what was published, and what was withdrawn."""
    entries = Register(folder).entries()
    document = {"schema": "discreet-register-1", "entries": [entry.to_dict() for entry in entries]}
    _print(document, lambda: show_entries(entries), as_json=as_json)


@register.command()
@DIR
@NUMBER
@JSON
def show(folder: Path, number: int, as_json: bool) -> None:
    """Show everything that is known about release NUMBER."""
    entry = Register(folder).show(number)
    _print(entry.to_dict(), lambda: show_entry(entry), as_json=as_json)


@register.command()
@DIR
@NUMBER
@click.option("--reason", required=True, help="Why.", metavar="TEXT")
@click.option("--unseen", is_flag=True, help="Nobody had received it: it no longer counts.")
@JSON
def withdraw(folder: Path, number: int, reason: str, unseen: bool, as_json: bool) -> None:
    """Enter that release NUMBER was withdrawn. It still counts, for who has it keeps it, unless nobody received it."""
    entry = Register(folder).withdraw(number, reason, unseen=unseen)
    _print(entry.to_dict(), lambda: show_entry(entry), as_json=as_json)


@register.command()
@DIR
@JSON
def check(folder: Path, as_json: bool) -> None:
    """Read everything in DIR and say whether it is as it was written."""
    entries = Register(folder).check()
    document = {"schema": "discreet-register-1", "entries": [entry.to_dict() for entry in entries]}
    _print(document, lambda: show_entries(entries), as_json=as_json)


def judging(given: dict[str, Any]) -> Callable[[object, object, Policy], Judgement | None]:
    """What judges a release with the register that was named, if one was; takes the options about it out of the others.

    A register that cannot be used is refused before any work is done.
    """
    folder, key_file = given.pop("register_folder"), given.pop("register_key")
    person = given.pop("register_person")
    asked = {name: given.pop(name) for name in ("values_left", "same_values")}
    if folder is None and (asked["same_values"] or key_file or person):
        raise InvalidParameter(
            "options about the register are given, and no register", remedy="name its folder with --register"
        )
    if folder is None:
        return lambda release, original, policy: None
    key = read_key(key_file)
    if key is None:
        raise InvalidParameter(
            "a release is judged with a register by its key",
            remedy="name the file of the key with --register-key, or lay published files over one another with "
            "`discreet attack --earlier`",
        )
    register = Register(folder)
    register.entries()
    return lambda release, original, policy: register.judge(
        release, policy, original=original, key=key, person=person, **asked
    )


def refuse_narrowing(release: Release, judgement: Judgement | None, reason: str | None) -> Release:
    """The release, with the reason in its evidence if it leaves too few values together with earlier ones, or nobody can
    tell; without one it is refused."""
    unknown = judgement is not None and bool(judgement.unjudged) and not judgement.releases
    if judgement is None or (judgement.holds and not unknown):
        return release
    if unknown and not (reason or "").strip():
        raise RequirementNotMet(
            Sentence(
                "no earlier release ({count:,}) can be judged: they were entered without their people, or with another key",
                count=len(judgement.unjudged),
            ),
            remedy="nothing was written; give the key with which they were entered, or say why with "
            '--acknowledge "reason"',
        )
    if reason is None or not reason.strip():
        raise RequirementNotMet(
            judgement.says.rstrip("."),
            remedy="nothing was written; ask for larger classes or the classes of the earlier release (`discreet apply`), "
            'or say why with --acknowledge "reason"',
        )
    return release.acknowledged(reason.strip())


def print_judgement(judgement: Judgement | None) -> None:
    """Print what the release adds to the earlier ones."""
    if judgement is not None:
        Terminal().print(show_judgement(judgement))


def _policy(file: Path) -> Policy:
    policy = load_policy({"policy_file": file})
    assert policy is not None
    return policy


def _print(document: object, shown: Callable[[], Any], *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        Terminal().print(shown())
