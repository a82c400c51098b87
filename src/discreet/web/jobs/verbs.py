"""The verbs as jobs: each takes a task, works in a process of its own and leaves its results as files.

``result.json`` is for machines and the same document as the command line's ``--json``; ``view.json`` is what
the page shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from discreet.engine.read import read as read_table
from discreet.errors import InvalidPolicy
from discreet.policy import Policy, dumps, load
from discreet.policy.suggest import suggestion
from discreet.release.anonymize import anonymize as run_anonymize
from discreet.release.audit import audit as run_audit
from discreet.release.preview import preview as run_preview
from discreet.release.recommend import recommend as run_recommend
from discreet.release.release import hash_of
from discreet.release.spreadsheet import neutralise
from discreet.release.write import write_rows
from discreet.reports.audit.html import report as write_report
from discreet.reports.release.html import release_report
from discreet.table import Column, Table
from discreet.web.api.parameters import (
    AnonymizeParameters,
    AuditParameters,
    PlanParameters,
    ReadParameters,
    ReportParameters,
)
from discreet.web.jobs.columns import describe
from discreet.web.jobs.counted_classes import counted
from discreet.web.jobs.parsed_table import keep, stored
from discreet.web.jobs.worker import JobProgress, Task
from discreet.web.pages import release_views as views

RESULT = "result.json"
VIEW = "view.json"
TEXT_FORMATS = ("csv", "tsv")


def read(task: Task, progress: JobProgress) -> None:
    """Read the table, look at its columns and suggest a role for each."""
    wanted = cast(ReadParameters, task.parameters)
    progress(f"reading {task.source.name}")
    kept = None if wanted.suggest else load(task.policy)
    options = wanted.options() if kept is None else kept.read
    table = read_table(task.source, **options)  # type: ignore[arg-type]
    keep(table, task.source, options, task.out)
    table = _named(table, task)
    progress("looking at the columns")
    found = suggestion(table, progress=progress)
    if kept is None:
        policy = replace(found.policy, read=options)
        (task.out / "policy.toml").write_text(
            dumps(policy, notes=found.notes, heading=found.heading), encoding="utf-8"
        )
    progress("drawing the distributions")
    document = describe(table, found)
    _write(task.out / "columns.json", document)
    _write(task.out / RESULT, document)


def audit(task: Task, progress: JobProgress) -> None:
    """Say whether the table may be released."""
    wanted = cast(AuditParameters, task.parameters)
    table, policy = open_case(task, progress)
    found = run_audit(table, policy, detail=wanted.detail, progress=progress)
    progress("drawing the pictures")
    _write(task.out / RESULT, found.to_dict())
    _write(task.out / VIEW, views.audit(found))


def report(task: Task, progress: JobProgress) -> None:
    """Draw the report of an audit; that is done when somebody wants it, so that nobody waits for it before."""
    wanted = cast(ReportParameters, task.parameters)
    table, policy = open_case(task, progress)
    found = run_audit(table, policy, detail=wanted.detail, progress=progress)
    progress("drawing the pictures")
    write_report(found, task.out / "report.html", edition=wanted.edition)
    _write(task.out / RESULT, found.to_dict())


def recommend(task: Task, progress: JobProgress) -> None:
    """Say the smallest changes under which every requirement holds."""
    wanted = cast(PlanParameters, task.parameters)
    table, policy = open_case(task, progress)
    found = run_recommend(table, policy, plan=wanted.plan(policy.plan), progress=progress)
    _write(task.out / RESULT, found.to_dict())
    _write(task.out / VIEW, found.to_dict())


def preview(task: Task, progress: JobProgress) -> None:
    """Say what the least change would cost; the rows are counted only if that was not done before."""
    wanted = cast(PlanParameters, task.parameters)
    policy = load(task.policy)
    plan = wanted.plan(policy.plan)
    known = json.loads((task.case / "columns.json").read_text(encoding="utf-8"))["columns"]
    problems = policy.problems([Column(one["name"], one["type"], one["storage"]) for one in known])
    if listed := list(problems):
        raise InvalidPolicy(listed, remedy="correct the roles")
    progress("counting equivalence classes")
    classes = counted(task.case, task.source, policy, plan, lambda: open_case(task, progress)[0])
    found = run_preview(classes, policy, plan=plan, progress=progress)
    _write(task.out / RESULT, found.to_dict())
    _write(task.out / VIEW, {**found.to_dict(), "suppression_limit": plan.suppression_limit})


def anonymize(task: Task, progress: JobProgress) -> None:
    """Write a release that meets the policy at the least loss, verified, with recipe and reports."""
    wanted = cast(AnonymizeParameters, task.parameters)
    table, policy = open_case(task, progress)
    plan = wanted.plan(policy.plan)
    release = run_anonymize(table, policy, plan=plan, progress=progress)
    progress("writing and verifying")
    target = task.out / f"release.{wanted.format}"
    release.save(target, recipe=task.out / "recipe.json")
    # The policy that the release was made by, so that it can be checked by it.
    made_by = replace(release.policy, plan=plan, read={})
    (task.out / "policy.toml").write_text(dumps(made_by), encoding="utf-8")
    changed: Mapping[str, int] = {}
    if wanted.format in TEXT_FORMATS:
        progress("looking for cells that a spreadsheet would take for formulas")
        rows, changed = neutralise(release.table.engine.to_arrow(release.table))
        if changed:
            write_rows(rows, task.out / f"release-for-people.{wanted.format}")
    progress("drawing the pictures")
    drawn = views.release_drawings(release)
    release_report(release, task.out / "report.html", file_hash=hash_of(target), drawn=drawn)
    _write(task.out / RESULT, release.to_dict())
    shown = views.release(release, drawn)
    _write(task.out / VIEW, {**shown, "format": wanted.format, "formulas": dict(changed)})


def open_case(task: Task, progress: JobProgress) -> tuple[Table, Policy]:
    """The table of a case and the policy that a job works by."""
    progress(f"reading {task.source.name}")
    policy = load(task.policy)
    return open_table(task, policy.read), policy


def open_table(task: Task, options: Mapping[str, object]) -> Table:
    """The table of a case: as it was parsed, if the file is still the same, else read anew."""
    parsed = stored(task.case, task.source, options)
    return _named(parsed or read_table(task.source, **options), task)  # type: ignore[arg-type]


def _named(table: Table, task: Task) -> Table:
    """The table, called by the name that people know it by."""
    return replace(table, source=replace(table.source, name=task.label))


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
