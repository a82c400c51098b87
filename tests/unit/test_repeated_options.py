"""What is said twice on the command line is refused: the last would count, and nobody would notice."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from discreet.cli import cli
from discreet.cli.command import StrictCommand

PEOPLE = "age,sex,illness\n" + "30,f,flu\n40,m,none\n" * 10
Run = Callable[..., Any]
TWICE = {
    "audit people.csv --qi age --qi sex": "--qi is given more than once",
    "audit people.csv --header --no-header": "--header is given more than once",
    "hierarchy show people.csv age --widths 5 --widths 9": "--widths is given more than once",
    "anonymize people.csv -o r.csv --suppression 0.1 --suppression 0.2": "--suppression is given more than once",
    "anonymize people.csv -o r.csv --weights age=2,age=3": "age is given a weight twice",
    "anonymize people.csv -o r.csv --suppress-rare sex=2,sex=3": "sex is given a number twice",
    "anonymize people.csv -o r.csv --require 'k-anonymity k=5 k=2'": "k is given a value twice",
    "anonymize people.csv -o r.csv --require 'k-anonymity k=5 model=l-diversity l=2'": "model is given a value twice",
    "anonymize people.csv -o r.csv --perturb 'rank-swap columns=age percent=5 percent=9'": "percent is given a value twice",
    "anonymize people.csv -o r.csv --perturb 'rank-swap columns=age columns=sex'": "columns is given a value twice",
    "baskets anonymize people.csv -o r.csv --rho 0.3 --sensitive flu --sensitive none": "--sensitive is given more than once",
    "ask people.csv 'select count(*) from data' --epsilon 1 --keys sex=f,m --keys sex=f": "sex is given keys twice",
    "ask people.csv 'select sum(age) from data' --epsilon 1 --bounds age=0:9 --bounds age=0:99": "age is given bounds twice",
    "synthesize people.csv -o r.csv --epsilon 1 --delta 1e-9 --keys sex=f --keys sex=m": "sex is given keys twice",
    "safepub people.csv -o r.csv --epsilon 1 --delta 1e-6 --level age=1 --level age=0": "age is given a level twice",
}


@pytest.mark.parametrize(("command", "complaint"), TWICE.items())
def test_what_is_said_twice_is_refused(
    command: str, complaint: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    monkeypatch.chdir(tmp_path)
    told = run(*shlex.split(command))
    assert told.code == 2
    assert complaint in told.err
    assert not (tmp_path / "r.csv").exists()


def test_every_command_takes_an_option_once() -> None:
    context = click.Context(cli)
    waiting = [cli.get_command(context, name) for name in cli.list_commands(context)]
    lax = []
    while waiting:
        command = waiting.pop()
        assert command is not None
        if isinstance(command, click.Group):
            waiting += command.commands.values()
        if not isinstance(command, StrictCommand):
            lax.append(command.name)
    assert lax == []


def test_what_may_be_repeated_may_be_repeated(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE)
    often = ["--missing", "?", "--missing", "n/a", "--quiet", "--quiet"]
    assert run("audit", str(file), "--qi", "age,sex", *often).code == 0
