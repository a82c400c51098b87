"""Options by which a release is judged together with earlier ones; the register is loaded when one is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import PATH, add_options, read_key
from discreet.errors import InvalidParameter, RequirementNotMet
from discreet.policy import Policy
from discreet.policy.plan import VALUES_LEFT
from discreet.reports.console import Terminal
from discreet.sentences import Sentence

if TYPE_CHECKING:
    from discreet.register import Judgement
    from discreet.release.release import Release

REGISTER_KEY = click.option("--register-key", type=PATH, help="File with the key of the register.")
REGISTER_PERSON = click.option(
    "--register-person", metavar="COLUMN", help="Column that identifies people (else the policy's)."
)
JUDGED = [
    click.option(
        "--register",
        "register_folder",
        type=PATH,
        help="Register of earlier releases, which the new one is laid over.",
    ),
    REGISTER_KEY,
    REGISTER_PERSON,
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
    from discreet.register import Register

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
        from discreet.reports.register import show_judgement

        Terminal().print(show_judgement(judgement))
