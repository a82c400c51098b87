"""Folders for rows go with their owner, also one that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HOLD = (
    "import time; from discreet.files.scratch import Scratch; s = Scratch('rows');"
    "(s.path / 'rows.duckdb').write_text('secret'); print(s.path, flush=True); time.sleep(600)"
)


def start(folder: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


@pytest.mark.skipif(sys.platform == "win32", reason="locks of this kind are those of Unix")
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    killed, left = start(tmp_path)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert (left / "rows.duckdb").exists()
    running, used = start(tmp_path)
    try:
        assert not left.exists()
        other, _ = start(tmp_path)
        assert (used / "rows.duckdb").exists(), "what is in use stays"
        assert used.stat().st_mode & 0o077 == 0
        other.kill()
        other.wait()
    finally:
        running.kill()
        running.wait()
