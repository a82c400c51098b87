"""The command line in this process: what it printed and with which code it ended."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from discreet.cli import main
from helpers import published


@dataclass(frozen=True)
class Outcome:
    """How one call of ``discreet`` ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """``run("audit", path, "--json")`` goes through the same door as the console script."""
    monkeypatch.setenv("COLUMNS", "200")
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        published.look_at(arguments, captured.out)
        return Outcome(int(ended.value.code or 0), captured.out, captured.err)

    yield call
    for number, handler in before.items():
        signal.signal(number, handler)
