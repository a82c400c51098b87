"""Releases that stand ready beside the chosen one: another of them takes its place without being made again."""

from __future__ import annotations

import os
import shutil
from json import loads
from pathlib import Path

from discreet.web.jobs.worker import READY, READY_DOCUMENT, VIEW


def swap_releases(old: Path, new: Path, place: int) -> None:
    """Fill ``new`` with what lies in ``old``, another release in front and the one that was there among the others."""
    before = loads((old / VIEW).read_text(encoding="utf-8"))["place"]
    _link(old / READY / str(place), new)
    (new / READY).mkdir()
    for other in sorted((old / READY).iterdir()):
        if other.name != str(place):
            (new / READY / other.name).mkdir()
            _link(other, new / READY / other.name)
    (new / READY / str(before)).mkdir()
    _link(old, new / READY / str(before))
    os.replace(new / READY / str(before) / READY_DOCUMENT, new / READY_DOCUMENT)


def _link(source: Path, target: Path) -> None:
    """Every file of one folder in another, without a second copy of the rows where the system can do so."""
    for file in source.iterdir():
        # What was packed speaks of one release only.
        if file.is_file() and file.suffix != ".zip":
            try:
                os.link(file, target / file.name)
            except OSError:
                shutil.copy2(file, target / file.name)
