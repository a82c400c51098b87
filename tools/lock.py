"""Write locked.txt: every package that development and CI install, with the hashes of all its files.

    .venv/bin/python tools/lock.py [--upgrade]

Without ``--upgrade`` versions stay as they are where they still fit. It needs uv, which `make lock` installs. The file
names no index: wherever the packages come from, their hashes decide.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "locked.txt"
HEADING = "# Made by `make lock` from pyproject.toml: do not edit. Install with pip install --require-hashes -r locked.txt\n"


def main() -> None:
    environment = dict(os.environ)
    if "PIP_CERT" in environment:
        environment.setdefault("SSL_CERT_FILE", environment["PIP_CERT"])
    subprocess.run(
        [
            *("uv", "pip", "compile", "pyproject.toml", "--output-file", str(LOCK), "--quiet"),
            # For every system and Python from the oldest one on.
            *("--universal", "--python-version", "3.11", "--generate-hashes"),
            *("--extra", "all", "--group", "test", "--group", "lint", "--group", "docs", "--group", "build"),
            *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
            *sys.argv[1:],
        ],
        cwd=ROOT,
        env={**environment, "PATH": f"{Path(sys.executable).parent}:{environment.get('PATH', '')}"},
        check=True,
    )
    text = LOCK.read_text(encoding="utf-8").removeprefix(HEADING)
    if re.search(r"://|--index|--find-links", text):
        sys.exit("locked.txt names an index")
    LOCK.write_text(HEADING + text, encoding="utf-8")


if __name__ == "__main__":
    main()
