"""Ctrl-C and a polite kill in the middle of a compiled loop, which hears of no signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LOOP_SECONDS = 120
MOST_SPENT = 30
"""So many seconds of processor time the process may have taken until its end: far less than the loop alone would."""
PATIENCE = 600

BUSY = f"""
import sys
from pathlib import Path

from numba import njit

import discreet.cli.profiles
from discreet.cli import main
from discreet.files.scratch import Scratch
from discreet.files.writing import atomically
from discreet.release import profile

target, mark = Path(sys.argv.pop()), Path(sys.argv.pop())


@njit(nogil=True)
def spin(rounds):
    held = 88172645463325252
    for _ in range(rounds):
        held ^= (held << 13) & 0xFFFFFFFFFFFF
        held ^= held >> 7
        held ^= (held << 17) & 0xFFFFFFFFFFFF
    return held


def write(part):
    part.write_text("half")
    spin(1)
    mark.touch()
    # A billion rounds take a second and more.
    spin({LOOP_SECONDS} * 1_000_000_000)


def work(*given, **settings):
    Scratch("rows")
    atomically(target, write)


discreet.cli.profiles.profiles.callback = work
main()
"""


def spent() -> float:
    """The processor time of all processes that were started here and have ended."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_compiled_loop_is_left_at_once_and_nothing_half_written_stays(
    tmp_path: Path, number: signal.Signals
) -> None:
    scratch, out, script = tmp_path / "scratch", tmp_path / "out", tmp_path / "busy.py"
    mark, target = tmp_path / "mark", out / "release.csv"
    for folder in (scratch, out):
        folder.mkdir()
    target.write_text("the old one")
    script.write_text(BUSY, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(script), "profiles", str(mark), str(target)],
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
    )
    while process.poll() is None and not mark.exists():
        time.sleep(0.05)
    assert list(scratch.glob("discreet-rows-*"))
    process.send_signal(number)
    before = spent()
    _, told = process.communicate(timeout=PATIENCE)
    assert spent() - before < MOST_SPENT
    assert process.returncode == 130
    assert told.decode().splitlines()[-1] == "cancelled"
    assert target.read_text() == "the old one"
    assert [path.name for path in out.iterdir()] == ["release.csv"]
    assert not list(scratch.glob("discreet-*"))


AT_ONCE = """
import signal
import sys
from pathlib import Path

import discreet.cli.profiles
from discreet.cli import main
from discreet.files import writing

target, number = Path(sys.argv.pop()), int(sys.argv.pop())


def interrupted(handle):
    # The file is there, and whoever asked for it does not know of it yet.
    signal.raise_signal(number)


def work(*given, **settings):
    writing._lock = interrupted
    writing.atomically(target, lambda part: None)


discreet.cli.profiles.profiles.callback = work
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_in_the_moment_in_which_a_file_is_made_leaves_none(
    tmp_path: Path, number: signal.Signals
) -> None:
    script, out = tmp_path / "at_once.py", tmp_path / "out"
    out.mkdir()
    script.write_text(AT_ONCE, encoding="utf-8")
    given = [sys.executable, str(script), "profiles", str(int(number)), str(out / "release.csv")]
    done = subprocess.run(given, stderr=subprocess.DEVNULL, timeout=PATIENCE)
    assert done.returncode == 130
    assert list(out.iterdir()) == []
