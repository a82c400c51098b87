"""The gate as a command: for programs in an environment of their own, in which discreet need not be installed."""

import json
import subprocess
from pathlib import Path
from typing import Any


def verdict(table: str | Path, policy: str | Path, program: str = "discreet") -> dict[str, Any]:
    """The verdict on a table: ``passes``, and ``obstacles`` with their ``description``, ``found`` and ``remedy``.

    Exit code 0 means that the table may go, 1 that it may not; with any other it was not checked, which must stop a
    pipeline, too.
    """
    command = [program, "check", str(table), "--policy", str(policy), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 1):
        told = (
            done.stderr + done.stdout
        ).strip()  # an error is JSON, too, as long as the command could begin
        raise RuntimeError(f"the table was not checked (exit code {done.returncode}): {told}")
    found: dict[str, Any] = json.loads(done.stdout)["verdict"]
    return found
