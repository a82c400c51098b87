"""Kills at random moments: whatever comes, a file is the old one or the new one, whole."""

from __future__ import annotations

import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from discreet.files.scratch import KINDS, remove_leftovers
from discreet.files.writing import remove_parts

OLD = "the old one\n"
LEAST = 5
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Kills:
    """Runs of `discreet anonymize` over an existing file, each ended at a random moment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table = folder / "people.csv"
        draw = random.Random(1)
        rows = [(draw.randrange(18, 90), draw.choice("fm"), draw.choice("abcd")) for _ in range(3_000)]
        with self._table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("age", "sex", "ill"), *rows])
        began = time.monotonic()
        # The second run compiles nothing: that is how long a run takes.
        for name in ("first", "second"):
            began = time.monotonic()
            self._start(folder / name).wait()
        self._seconds = time.monotonic() - began

    def _start(self, place: Path) -> subprocess.Popen[bytes]:
        for part in (place / "out", place / "scratch"):
            part.mkdir(parents=True)
        target = place / "out" / "release.csv"
        target.write_text(OLD, encoding="utf-8")
        asked = ["--qi", "age,sex", "--sensitive", "ill", "--profile", "research-partner-5"]
        ways = ["--method", "mondrian", "--recipe", str(place / "out" / "recipe.json")]
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "discreet", "anonymize", str(self._table), "-o", str(target), "-q"),
                *(*asked, *ways),
            ],
            env={**os.environ, "TMPDIR": str(place / "scratch")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def attempt(self, seed: int) -> list[str]:
        """Kill one run, and say what is wrong with what it left."""
        draw = random.Random(seed)
        place, number = self._folder / str(seed), draw.choice(SIGNALS)
        process = self._start(place)
        time.sleep(draw.random() * self._seconds)
        process.send_signal(number)
        process.wait()
        found = self._whole(place / "out" / "release.csv")
        if number == signal.SIGKILL:
            # What a process cannot remove any more, the next one does.
            remove_parts(place / "out")
            tempfile.tempdir = str(place / "scratch")
            for prefix in KINDS.values():
                remove_leftovers(prefix)
            tempfile.tempdir = None
        left = {path.name for path in (place / "out").iterdir()} - {"release.csv", "recipe.json"}
        left |= {path.name for path in (place / "scratch").iterdir() if path.name.startswith("discreet-")}
        return found + [f"{number.name} left {name}" for name in sorted(left)]

    def _whole(self, target: Path) -> list[str]:
        if target.read_text(encoding="utf-8") == OLD:
            return []
        with target.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        if head != ["age", "sex", "ill"] or len(rows) != 3_000:
            return ["the release is not whole"]
        smallest = min(Counter((age, sex) for age, sex, _ in rows).values())
        return [] if smallest >= LEAST else ["the release does not hold"]
