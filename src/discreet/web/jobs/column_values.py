"""The values of a column with the records of each: counted once by a job, kept with the case as Arrow."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from discreet.files.writing import atomically
from discreet.policy import load
from discreet.sentences import Sentence
from discreet.table import Domain
from discreet.types import IntArray
from discreet.web.api.parameters import ValuesParameters
from discreet.web.cases import Case
from discreet.web.jobs.parsed_table import open_table
from discreet.web.jobs.worker import RESULT, JobProgress, Task
from discreet.web.refusals import Refusal

LARGEST = 200_000
"""A column with more values than this cannot be looked at while one waits."""
NAME, TOO_MANY = b"column", b"too many"


@dataclass(frozen=True)
class Values:
    """What a column holds: its values and how many records have each."""

    domain: Domain
    records: IntArray


def file_of(folder: Path, column: str) -> Path:
    """Where the values of a column lie; after another reading of the table it is another place."""
    read = (folder / "columns.json").stat().st_mtime_ns
    key = hashlib.sha256(f"{read} {column}".encode()).hexdigest()[:24]
    return folder / "values" / f"{key}.arrow"


def count(task: Task, progress: JobProgress) -> None:
    """Count the values of the named columns, or of all quasi-identifiers; those that are there stay."""
    wanted = cast(ValuesParameters, task.parameters)
    policy = load(task.policy)
    names = wanted.columns or list(policy.quasi_identifiers)
    places = {name: file_of(task.case, name) for name in names}
    missing = [name for name in names if not places[name].exists()]
    if missing:
        table = open_table(task, policy, progress)
        for number, name in enumerate(missing):
            progress(
                Sentence(
                    "counting the values of column {number} of {missing}",
                    number=number + 1,
                    missing=len(missing),
                ),
                number / len(missing),
            )
            classes = table.engine.count(table, quasi_identifiers=[table.column(name).name])
            domain = classes.attributes[0]
            totals = np.bincount(classes.codes[0], weights=classes.records, minlength=domain.size)
            _write(places[name], Values(domain, totals.astype(np.int64)))
    task.write(RESULT, {"schema": "discreet-values-1"})


def values_of(case: Case, column: str) -> Values | None:
    """The values of a column, if they have been counted."""
    try:
        place = file_of(case.folder, column)
    except FileNotFoundError:
        return None
    return _read(place) if place.exists() else None


def _write(place: Path, counted: Values) -> None:
    """Write the values whole or not at all."""
    domain, records = counted.domain, counted.records
    few = domain.size <= LARGEST
    values = domain.values if few else domain.values[:0]
    if few and domain.has_null:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    metadata = {NAME: domain.name.encode(), TOO_MANY: b"" if few else b"yes"}
    table = pa.table({"value": values, "records": records if few else records[:0]})
    place.parent.mkdir(mode=0o700, exist_ok=True)

    def write(part: Path) -> None:
        with pa.ipc.new_file(part, table.schema.with_metadata(metadata)) as writer:
            writer.write_table(table.replace_schema_metadata(metadata))

    atomically(place, write)


def _read(place: Path) -> Values:
    with pa.OSFile(str(place)) as file, pa.ipc.open_file(file) as reader:
        table = reader.read_all()
    if table.schema.metadata[TOO_MANY]:
        raise Refusal(
            422,
            "too-many-values",
            Sentence(
                "the column has more than {largest:,} values, too many to look at here", largest=LARGEST
            ),
            "build its hierarchy on the command line (discreet hierarchy), or name a builder in the policy file",
        )
    values = table.column("value").combine_chunks()
    has_null = bool(values.null_count)
    name = table.schema.metadata[NAME].decode()
    domain = Domain(name, values[: len(values) - has_null], has_null)
    return Values(domain, table.column("records").to_numpy())
