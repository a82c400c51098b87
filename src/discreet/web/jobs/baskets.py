"""Sets of items as jobs: recognised in a file that is no table, judged and released."""

from __future__ import annotations

import csv
import json
from itertools import islice
from pathlib import Path
from typing import cast

import pyarrow as pa

from discreet.baskets import Baskets
from discreet.baskets.exposure import BasketAudit, audit_baskets
from discreet.baskets.recognition import find_baskets
from discreet.baskets.release import BasketRelease, anonymize_baskets
from discreet.errors import InvalidParameter
from discreet.files.writing import write_text
from discreet.plain import plain
from discreet.policy import load
from discreet.release.spreadsheet import neutralise
from discreet.web.api.parameters import JudgeBasketsParameters, ReleaseBasketsParameters
from discreet.web.bundle import INSIDE, OUT, write_files
from discreet.web.jobs.parsed_table import open_table
from discreet.web.jobs.worker import BASKETS, RESULT, VIEW, JobProgress, Task
from discreet.web.pages import basket_views as views

ASKED = "asked.json"
"""What the baskets were judged by, for the release."""
LARGEST = 256 << 20
"""A larger file is not looked through for baskets."""
SHOWN = 5


def offer_baskets(task: Task) -> None:
    """Remember what a file that is no table seems to be, if it holds a basket on each line."""
    seen = find_baskets(task.source) if task.source.stat().st_size <= LARGEST else None
    if seen is None:
        (task.case / BASKETS).unlink(missing_ok=True)
    else:
        write_text(task.case / BASKETS, json.dumps(plain(seen)))


def judge(task: Task, progress: JobProgress) -> None:
    """Say how many baskets an intruder finds who knows some of their items."""
    wanted = cast(JudgeBasketsParameters, task.parameters)
    baskets = _opened(task, wanted, progress)
    progress("counting sets of items")
    audit: BasketAudit = audit_baskets(
        baskets, k=wanted.k, m=wanted.m, sensitive=frozenset(wanted.sensitive), rho=wanted.rho
    )
    write_text(task.out / ASKED, wanted.model_dump_json())
    task.write(RESULT, audit.to_dict())
    task.write(VIEW, views.audit(audit, list(islice(baskets.lists(), SHOWN))))


def release(task: Task, progress: JobProgress) -> None:
    """Write the baskets with the least change after which what they were judged by holds."""
    wanted = cast(ReleaseBasketsParameters, task.parameters)
    assert task.base is not None, "a release is made of baskets that were judged"
    asked = JudgeBasketsParameters.model_validate_json((task.base / ASKED).read_text(encoding="utf-8"))
    baskets = _opened(task, asked, progress)
    made = anonymize_baskets(
        baskets,
        k=asked.k,
        m=asked.m,
        sensitive=frozenset(asked.sensitive),
        rho=asked.rho,
        method=wanted.method,
        progress=progress,
    )
    progress("writing and verifying")
    made.save(task.out / "baskets.csv", separator=asked.separator)
    if made.codebook:
        made.save_codebook(task.out / "codebook.csv")
    task.write(RESULT, made.to_dict())
    task.write(VIEW, views.release(made, baskets, SHOWN))
    _bundle(task, made, asked.separator)


def _opened(task: Task, asked: JudgeBasketsParameters, progress: JobProgress) -> Baskets:
    """The baskets of a file of lines, or of a table with a row per item."""
    if (asked.basket is None) != (asked.item is None):
        raise InvalidParameter(
            "a table with a row per item is read by two columns",
            remedy="name both of them, or none",
        )
    if asked.basket is None or asked.item is None:
        progress("reading the baskets")
        return Baskets.read(task.source, separator=asked.separator)
    return Baskets.of_rows(open_table(task, load(task.policy), progress), asked.basket, asked.item)


def _bundle(task: Task, made: BasketRelease, separator: str) -> None:
    """The release as people open it, its codebook, and what shows that it holds, in one file."""
    for_people = task.out / "baskets-for-people.csv"
    if not _neutralised(task.out / "baskets.csv", for_people, separator):
        for_people = task.out / "baskets.csv"
    files = {f"{OUT}/baskets.csv": for_people, f"{INSIDE}/evidence.json": task.out / RESULT}
    if made.codebook:
        files[f"{OUT}/codebook.csv"] = task.out / "codebook.csv"
    write_files(task.out / "bundle.zip", files)


def _neutralised(file: Path, target: Path, separator: str) -> bool:
    """Whether a spreadsheet would run an item as a formula; then a file that it does not is written, too."""
    with file.open(encoding="utf-8", newline="") as content:
        lines = list(csv.reader(content, delimiter=separator))
    items = sorted({item for line in lines for item in line})
    safe, changed = neutralise(pa.table({"item": pa.array(items, pa.string())}))
    if not changed:
        return False
    now = dict(zip(items, safe.column("item").to_pylist(), strict=True))
    with target.open("w", encoding="utf-8", newline="") as content:
        csv.writer(content, delimiter=separator, lineterminator="\n").writerows(
            [now[item] for item in line] for line in lines
        )
    return True
