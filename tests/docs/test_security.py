"""Every promise of SECURITY.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_promise_names_its_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = text.partition("## What is promised")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("|")][2:]
    assert len(rows) > 10
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for row in rows:
        named = re.findall(r"`(tests/[^`]+|make [a-z-]+)`", row)
        assert named, f"no test holds: {row}"
        for name in named:
            assert (
                name.removeprefix("make ") in targets if name.startswith("make ") else (ROOT / name).is_file()
            ), name
