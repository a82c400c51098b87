"""The command line in a process of its own that need not import everything anew: a copy of one that has."""

from __future__ import annotations

import atexit
import io
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing import get_context
from pathlib import Path

import pytest

from discreet.cli import COMMANDS, main
from discreet.web.jobs.worker import EVIDENCE_MODULES
from helpers import published

PRELOADED = [
    "pandas",
    *(f"discreet.cli.{name.replace('-', '_')}" for name in COMMANDS if name != "serve"),
    "discreet.engine.duckdb",
    "discreet.reports.audit.html",
    "discreet.reports.audit.terminal",
    "discreet.reports.evidence.html",
    "discreet.reports.release.html",
    "discreet.search.lattice.search",
    "discreet.search.lattice.kernels",
    "discreet.utility.objectives.kernels",
    "discreet.web.jobs.compiled",
    *EVIDENCE_MODULES,
]
COPIES = get_context("forkserver")
PATIENCE = 600.0
"""How long a command may take, in seconds: what takes longer hangs."""


def run(arguments: Sequence[str], folder: Path, given: str = "", **environment: str) -> tuple[int, str, str]:
    """Run ``discreet`` with arguments in a folder; its exit code, what it printed and what it complained of.

    ``given`` is what comes from standard input.
    """
    COPIES.set_forkserver_preload(PRELOADED)
    with tempfile.TemporaryDirectory() as kept:
        streams = [Path(kept, name) for name in ("in", "out", "err")]
        streams[0].write_text(given, encoding="utf-8")
        process = COPIES.Process(target=_main, args=(list(arguments), folder, environment, streams))
        process.start()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
            raise AssertionError(f"discreet {' '.join(arguments)} hangs")
        assert process.exitcode is not None
        out, err = (stream.read_text(encoding="utf-8") for stream in streams[1:])
    published.look_at(arguments, out)
    return process.exitcode, out, err


def run_here(arguments: Sequence[str], folder: Path, **environment: str) -> tuple[int, str, str]:
    """The same in this process, for what is dear to start and is here already."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        for name, value in environment.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
    published.look_at(arguments, out.getvalue())
    return int(ended.value.code or 0), out.getvalue(), err.getvalue()


def _main(arguments: list[str], folder: Path, environment: dict[str, str], streams: list[Path]) -> None:
    os.chdir(folder)
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    sys.argv = ["discreet", *arguments]
    try:
        main(arguments)
    finally:
        # A copy ends without what a process does in the end.
        atexit._run_exitfuncs()
