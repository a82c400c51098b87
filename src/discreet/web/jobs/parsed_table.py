"""The parsed table of a case, kept in its private directory: later jobs start at once instead of parsing anew.

Types, notes and fingerprint stay those of the file that was read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.policy import Policy, load
from discreet.sentences import Sentence, dumps, loads
from discreet.table import Column, Source, Table
from discreet.web.jobs.worker import JobProgress, Task
from discreet.web.policies import with_sentences

POINTER = "stored.json"
OPENS_FAST = ("parquet", "arrow")
"""Formats that need no other form."""


def open_case(task: Task, progress: JobProgress) -> tuple[Table, Policy]:
    """The table of a case and the policy that a job works by."""
    policy = with_sentences(load(task.policy), task.case / "columns.json")
    return open_table(task, policy, progress), policy


def open_table(task: Task, policy: Policy, progress: JobProgress) -> Table:
    """The table of a case: as it was parsed, if the file is still the same, else read anew."""
    progress(Sentence("reading {name}", name=task.source.name))
    parsed = stored_table(task.case, task.source, policy.read)
    return labelled(parsed or read(task.source, expected=policy.names, **policy.read), task)  # type: ignore[arg-type]


def labelled(table: Table, task: Task) -> Table:
    """The table under the name that its user gave it."""
    return replace(table, source=replace(table.source, name=task.label))


def state_of(file: Path) -> list[int]:
    """Size and time of a file: tells whether it is still the one that was read."""
    status = file.stat()
    return [status.st_size, status.st_mtime_ns]


def store(table: Table, file: Path, options: Mapping[str, object], out: Path) -> None:
    """Leave a parsed table in ``out``, if it comes back with the same columns from there."""
    if table.source.format in OPENS_FAST or not isinstance(table.engine, DuckDBEngine):
        return
    target = out / f"rows-{out.name}.parquet"
    try:
        table.engine.store(table, target)
    except OSError:
        # Without it every job parses the file again: slower, not wrong.
        target.unlink(missing_ok=True)
        return
    back = read(target)
    if [(c.name, c.storage) for c in back.columns] != [(c.name, c.storage) for c in table.columns]:
        # A type that Parquet lacks, such as whole numbers beyond 64 bits.
        target.unlink()
        return
    document = {
        "rows": target.name,
        "file": state_of(file),
        "options": dict(options),
        # Where it lies is known when it is opened again.
        "source": {name: value for name, value in asdict(table.source).items() if name != "place"},
        "columns": [asdict(column) for column in table.columns],
    }
    # Notes keep their templates: a report may be in another language.
    (out / POINTER).write_text(dumps(document), encoding="utf-8")


def take_over(out: Path, case: Path) -> None:
    """Make what a job has left the parsed table of the case; without one, forget the older one."""
    older = _pointer(case)
    if (out / POINTER).exists():
        rows = loads((out / POINTER).read_text(encoding="utf-8"))["rows"]
        os.replace(out / rows, case / rows)
        os.replace(out / POINTER, case / POINTER)
    else:
        (case / POINTER).unlink(missing_ok=True)
    if older is not None:
        (case / older["rows"]).unlink(missing_ok=True)


def stored_table(case: Path, file: Path, options: Mapping[str, object]) -> Table | None:
    """The parsed table, if there is one of this file as it is now, read in this way."""
    pointer = _pointer(case)
    if pointer is None or pointer["options"] != _as_json(options) or not (case / pointer["rows"]).exists():
        return None
    with suppress(OSError):
        if pointer["file"] == state_of(file):
            table = read(case / pointer["rows"])
            columns = tuple(Column(**column) for column in pointer["columns"])
            source = Source(
                **{**pointer["source"], "notes": tuple(pointer["source"]["notes"])}, place=file.absolute()
            )
            return replace(table, columns=columns, source=source)
    return None


def _pointer(case: Path) -> dict[str, Any] | None:
    try:
        pointer: dict[str, Any] = loads((case / POINTER).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return pointer


def _as_json(options: Mapping[str, object]) -> object:
    return json.loads(json.dumps(dict(options)))
