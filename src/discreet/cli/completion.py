"""`discreet completion`: what makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from discreet.cli import cli
from discreet.cli.command import StrictCommand
from discreet.cli.options import print_document

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_DISCREET_COMPLETE"


@click.command(cls=StrictCommand)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script by which SHELL completes commands and options.

    For bash: `discreet completion bash > ~/.local/share/bash-completion/completions/discreet`.
    """
    maker = get_completion_class(shell)
    assert maker is not None
    print_document(maker(cli, {}, "discreet", VARIABLE).source())
