"""The command line: `discreet VERB FILE`. Commands import what they need only when they run."""

from __future__ import annotations

import sys

import click

from discreet.errors import DiscreetError

EXIT_NOT_MET = 1
EXIT_BAD_INPUT = 2
EXIT_INTERNAL = 70
EXIT_CANCELLED = 130

COMMANDS = {
    "audit": "discreet.cli.audit:audit",
    "check": "discreet.cli.check:check",
    "example": "discreet.cli.small:example",
    "profiles": "discreet.cli.small:profiles",
    "report": "discreet.cli.audit:report",
    "schema": "discreet.cli.small:schema",
    "suggest": "discreet.cli.suggest:suggest",
}

SHORT = {
    "audit": "Say whether a table may be released, with reasons, numbers and sources.",
    "check": "Exit with 0 if every requirement of a policy holds, with 1 if not. For pipelines.",
    "example": "Write a made-up town's tables to try things on.",
    "profiles": "List the profiles by which a release can be judged.",
    "report": "Write the audit as one HTML page for people.",
    "schema": "Print the JSON schema of `discreet audit --json`.",
    "suggest": "Write a commented policy with a suggested role for every column.",
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        module, attribute = COMMANDS[cmd_name].split(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(SHORT.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="discreet")
def cli() -> None:
    """May this table about people be released, and if not, what is the least that must change?

    Start with `discreet audit FILE`. Exit codes: 0 done (for check: everything holds), 1 a requirement does
    not hold, 2 bad input, 130 cancelled.
    """


def main() -> None:
    """Run the command line; every failure is one clear message and an exit code, never a traceback."""
    import signal

    # A polite kill takes the same way out as Ctrl-C, so that nothing is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_CANCELLED))
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("cancelled", err=True)
        code = EXIT_CANCELLED
    except click.ClickException as error:
        error.show()
        code = EXIT_BAD_INPUT
    except DiscreetError as error:
        _tell(error)
        code = EXIT_BAD_INPUT
    except KeyboardInterrupt:
        click.echo("cancelled", err=True)
        code = EXIT_CANCELLED
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except MemoryError:
        click.echo("error: the machine ran out of memory; audit fewer columns or a sample (--rows)", err=True)
        code = EXIT_BAD_INPUT
    except Exception as error:  # the last line of defence: no traceback, no cell value
        _tell_internal(error)
        code = EXIT_INTERNAL
    sys.exit(code if isinstance(code, int) else 0)


def _tell(error: DiscreetError) -> None:
    """An error as people read it, or as JSON on standard output if the caller asked for JSON."""
    if "--json" in sys.argv:
        import json

        told = {"code": error.code, "message": error.message, "remedy": error.remedy}
        click.echo(json.dumps({"schema": "discreet-error-1", "error": told}))
        return
    click.echo(click.style("error: ", fg="red", bold=True, reset=True) + error.message, err=True)
    if error.remedy:
        click.echo(f"  → {error.remedy}", err=True)


def _tell_internal(error: Exception) -> None:
    """Where it went wrong, without the exception's text: that could hold a value of the data."""
    import traceback

    frames = [f for f in traceback.extract_tb(error.__traceback__) if "discreet" in f.filename]
    where = f" at {frames[-1].filename.rsplit('discreet/', 1)[-1]}:{frames[-1].lineno}" if frames else ""
    click.echo(
        f"error: something went wrong inside discreet ({type(error).__name__}{where})\n"
        "  → please report this line together with `discreet --version`; it contains none of your data",
        err=True,
    )
