"""Releases that cut ties as jobs: sensitive values by buckets, and columns in fragments."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast
from zipfile import ZIP_DEFLATED, ZipFile

from discreet.release.bucketize import bucketize as run_bucketize
from discreet.release.fragment import fragment as run_fragment
from discreet.web.api.parameters import BucketizeParameters, FragmentParameters
from discreet.web.jobs.parsed_table import open_case
from discreet.web.jobs.worker import RESULT, JobProgress, Task


def bucketize(task: Task, progress: JobProgress) -> None:
    """Write rows with their buckets, and how often each value occurs in a bucket."""
    table, policy = open_case(task, progress)
    asked = cast(BucketizeParameters, task.parameters)
    made = run_bucketize(
        table,
        policy,
        sensitive=asked.sensitive,
        column=asked.column,
        method=asked.method,
        progress=progress,
    )
    made.save(task.out / "rows.csv", task.out / "values.csv", recipe=task.out / "bucket-recipe.json")
    task.write(RESULT, made.to_dict())


def fragment(task: Task, progress: JobProgress) -> None:
    """Write the columns in several tables, as one archive."""
    table, policy = open_case(task, progress)
    asked = cast(FragmentParameters, task.parameters)
    made = run_fragment(
        table,
        policy,
        count=asked.fragments,
        target=asked.target,
        common=asked.common,
        confidential=asked.confidential,
        k=asked.loose,
        column=asked.column,
        progress=progress,
    )
    with TemporaryDirectory(dir=task.out) as folder:
        written = made.save(Path(folder) / "fragments", suffix=f".{asked.format}")
        with ZipFile(task.out / "fragments.zip", "w", ZIP_DEFLATED) as archive:
            for file in written:
                archive.write(file, file.name)
    task.write(RESULT, made.to_dict())
