"""The command line: `discreet VERB FILE`. Commands import what they need only when they run."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

import click

from discreet.cli.command import StrictGroup
from discreet.errors import (
    SURPRISES,
    BudgetExceeded,
    DiscreetError,
    GoalUnreachable,
    RequirementNotMet,
    unknown,
)
from discreet.files.addresses import without_passwords
from discreet.sentences import Sentence

EXIT_NOT_MET = 1
EXIT_BAD_INPUT = 2
EXIT_INTERNAL = 70
EXIT_CANCELLED = 130
NOT_MET = (BudgetExceeded, GoalUnreachable, RequirementNotMet)
"""What was asked is in order, and cannot be had."""

COMMANDS = {
    "audit": "Say whether a table may be released, with reasons, numbers and sources.",
    "recommend": "Say the smallest changes that would turn the verdict.",
    "anonymize": "Write a release that meets the policy, at the least loss, verified.",
    "bucketize": "Write quasi-identifiers as they are, and sensitive values by buckets, verified.",
    "republish": "Write a release that keeps everybody among the values of earlier ones, with counterfeits.",
    "fragment": "Split columns into tables, none of which shows what must not be seen together.",
    "stream": "Publish records from standard input in clusters, after a bounded wait.",
    "apply": "Apply a recipe to other rows.",
    "compare-methods": "Anonymise by several methods and show risk against loss.",
    "frontier": "Sweep k, l, t and methods and show risk against loss.",
    "compare": "Measure what a release lost against its original.",
    "attack": "Try what an intruder could still do to a release.",
    "ask": "Answer a question about a table with noise, paid for from its budget.",
    "tabulate": "Write tables of counts with noise that agree, paid for from the table's budget.",
    "synthesize": "Write artificial people with a guarantee, paid for from the table's budget.",
    "learn": "Learn a classifier with a guarantee, paid for from the table's budget.",
    "safepub": "Write truthful records with a guarantee, paid for from the table's budget.",
    "budget": "Say what may be spent on a table under differential privacy, and what was.",
    "register": "Keep what was published, to judge the next release together with it.",
    "check": "Exit with 0 if every requirement of a policy holds, with 1 if not. For pipelines.",
    "tables": "Judge and release several tables about the same people, tied by keys.",
    "baskets": "Judge and release sets of items: purchases, diagnoses, pages read.",
    "classes": "Count parts of a table where they lie, merge the counts, audit them together.",
    "diff": "Say what changed between two releases or two policies.",
    "completion": "Print what makes a shell complete commands and options.",
    "trips": "Merge consecutive rows of a person into trips, before anything is judged.",
    "suggest": "Write a commented policy with a suggested role for every column.",
    "rules": "Name rules that all records seem to keep, to be confirmed in the policy.",
    "hierarchy": "Build, show or check how the values of a column may be generalised.",
    "report": "Write the audit as one HTML page for people.",
    "serve": "Open a local page: drop a file, read the verdict, leave with a release.",
    "methods": "List the families of methods: what each does to values, guarantees, prevents and leaves.",
    "profiles": "List the profiles by which a release can be judged.",
    "schema": "Print the JSON schema of what a command prints with `--json`.",
    "example": "Write a made-up town's tables to try things on.",
}
"""Every command, in the module of its name, and what it does."""


class LazyGroup(StrictGroup):
    """A group that knows its commands by name and loads the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        name = cmd_name.replace("-", "_")
        collecting = gc.isenabled()
        # Of what is imported nothing is garbage: looking for it takes a seventh of the time.
        gc.disable()
        try:
            command: click.Command = getattr(import_module(f"discreet.cli.{name}"), name)
        finally:
            if collecting:
                gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(str(unknown("command", args[0], COMMANDS)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True
)
@click.version_option(package_name="discreet")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """May this table about people be released, and if not, what is the least that must change?

    Start with `discreet audit FILE`. Exit codes: 0 done (for check: everything holds), 1 a requirement does
    not hold, 2 bad input, 130 cancelled.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; every failure is one clear message and an exit code, never a traceback.

    With ``--json`` the message is JSON on standard output, so that a pipeline reads one stream only.
    """
    if arguments is None:
        # Beside other work the threads of a matrix product wait for each other many times as long as they count.
        # It is read when NumPy is imported, so before any command is.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from discreet.cli.interruption import interruptible

    given = sys.argv[1:] if arguments is None else list(arguments)
    tell = _tell_json if "--json" in given else _tell
    with interruptible(whole_process=arguments is None) as interruption:
        try:
            returned = cli.main(args=given, prog_name="discreet", standalone_mode=False)
            code = returned if isinstance(returned, int) else 0
        except (click.exceptions.Abort, KeyboardInterrupt):
            code = EXIT_CANCELLED
        except Exception as error:
            # Libraries wrap an interruption in errors of their own: what stopped the work is known here.
            code = EXIT_CANCELLED if interruption.happened else _explain(error, tell)
    if code == EXIT_CANCELLED:
        click.echo("cancelled", err=True)
    sys.exit(code)


def _explain(error: Exception, tell: Callable[[str, str, str], None]) -> int:
    """Tell what went wrong and what to do; the exit code that goes with it."""
    if isinstance(error, DiscreetError):
        tell(error.code, in_options(error.message), in_options(error.remedy))
        return EXIT_NOT_MET if isinstance(error, NOT_MET) else EXIT_BAD_INPUT
    if isinstance(error, click.ClickException):
        about = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "discreet"
        tell("usage", without_passwords(error.format_message()).rstrip("."), f"see `{about} --help`")
        return EXIT_BAD_INPUT
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        tell("out-of-memory", "the machine ran out of memory", "audit fewer columns or a sample (--rows)")
        return EXIT_BAD_INPUT
    if isinstance(error, SURPRISES):
        tell(
            "unreadable-input",
            Sentence(
                "the input is too deep, too large or no text ({kind})",
                kind=f"{type(error).__name__}{_where(error)}",
            ),
            "correct it",
        )
        return EXIT_BAD_INPUT
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        tell(
            "unreadable-input", "no file can be called so: a name or a path is too long", "name another file"
        )
        return EXIT_BAD_INPUT
    # The last line of defence: no traceback, no cell value.
    tell(
        "internal",
        Sentence(
            "something went wrong inside discreet ({kind})", kind=f"{type(error).__name__}{_where(error)}"
        ),
        "please report this line together with `discreet --version`; it contains none of your data",
    )
    return EXIT_INTERNAL


def _tell(code: str, message: str, remedy: str) -> None:
    """An error as people read it."""
    from discreet.plain import printable

    click.echo(click.style("error: ", fg="red", bold=True, reset=True) + printable(message), err=True)
    if remedy:
        click.echo(f"  → {printable(remedy)}", err=True)


def _tell_json(code: str, message: str, remedy: str) -> None:
    """An error as programs read it."""
    import json

    told = {"code": code, "message": message, "remedy": remedy}
    click.echo(json.dumps({"schema": "discreet-error-1", "error": told}))


def in_options(text: str) -> str:
    """Advice of the library in the words of the command line.

    >>> in_options("pass encoding='cp1252' or header=False")
    "pass --encoding 'cp1252' or --no-header"
    """
    import re

    from discreet.table.reading import ReadOptions

    text = text.replace("header=False", "--no-header").replace("header=True", "--header")
    names = "|".join(vars(ReadOptions()))
    text = re.sub(rf"\b({names})=('[^']*'|\"[^\"]*\"|\d+)", r"--\1 \2", text)
    text = re.sub(rf"\b({names})=", r"--\1", text)
    return re.sub(rf"--(?:{names})\b", lambda option: option[0].replace("_", "-"), text)


def _where(error: Exception) -> str:
    """The place in discreet where it went wrong; the exception's own text could hold a value of the data."""
    import traceback

    frames = [f for f in traceback.extract_tb(error.__traceback__) if "discreet" in f.filename]
    return f" at {frames[-1].filename.rsplit('discreet/', 1)[-1]}:{frames[-1].lineno}" if frames else ""
