"""The verbs up to a release as jobs: read, audit, report, recommend, preview, anonymize; each leaves its results as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from discreet.engine.read import read as read_table
from discreet.errors import InvalidPolicy
from discreet.policy import dumps, load
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
from discreet.web.api.parameters import (
    AnonymizeParameters,
    AuditParameters,
    PlanParameters,
    ReadParameters,
    ReportParameters,
)
from discreet.web.jobs.columns import describe
from discreet.web.jobs.counted_classes import counted
from discreet.web.jobs.parsed_table import labelled, open_case, open_table, store
from discreet.web.jobs.worker import LINKS, RESULT, VIEW, JobProgress, Task
from discreet.web.pages import release_views as views
from discreet.web.policies import known_columns

TEXT_FORMATS = ("csv", "tsv")


def read(task: Task, progress: JobProgress) -> None:
    """Read the table, look at its columns and suggest a role for each."""
    wanted = cast(ReadParameters, task.parameters)
    progress(f"reading {task.source.name}")
    kept = None if wanted.suggest else load(task.policy)
    options = wanted.options() if kept is None else kept.read
    table = read_table(task.source, **options)  # type: ignore[arg-type]
    store(table, task.source, options, task.out)
    table = labelled(table, task)
    progress("looking at the columns")
    suggested = suggestion(table, progress=progress)
    if kept is None:
        policy = replace(suggested.policy, read=options)
        (task.out / "policy.toml").write_text(
            dumps(policy, notes=suggested.notes, heading=suggested.heading), encoding="utf-8"
        )
    progress("drawing the distributions")
    document = describe(table, suggested)
    task.write("columns.json", document)
    task.write(RESULT, document)


def audit(task: Task, progress: JobProgress) -> None:
    """Say whether the table may be released."""
    wanted = cast(AuditParameters, task.parameters)
    table, policy = open_case(task, progress)
    result = run_audit(table, policy, detail=wanted.detail, progress=progress)
    progress("drawing the pictures")
    task.write(RESULT, result.to_dict())
    task.write(VIEW, views.audit(result))


def report(task: Task, progress: JobProgress) -> None:
    """Draw the report of an audit, which is done only when it is asked for."""
    wanted = cast(ReportParameters, task.parameters)
    table, policy = open_case(task, progress)
    result = run_audit(table, policy, detail=wanted.detail, progress=progress)
    progress("drawing the pictures")
    write_report(result, task.out / "report.html", edition=wanted.edition)
    task.write(RESULT, result.to_dict())


def recommend(task: Task, progress: JobProgress) -> None:
    """Say the smallest changes under which every requirement holds."""
    wanted = cast(PlanParameters, task.parameters)
    table, policy = open_case(task, progress)
    document = run_recommend(table, policy, plan=wanted.plan(policy.plan), progress=progress).to_dict()
    task.write(RESULT, document)
    task.write(VIEW, document)


def preview(task: Task, progress: JobProgress) -> None:
    """Say what the least change would cost; the rows are counted only if that was not done before."""
    wanted = cast(PlanParameters, task.parameters)
    policy = load(task.policy)
    plan = wanted.plan(policy.plan)
    if problems := list(policy.problems(known_columns(task.case / "columns.json"))):
        raise InvalidPolicy(problems, remedy="correct the roles")
    progress("counting equivalence classes")
    classes = counted(task.case, task.source, policy, plan, lambda: open_table(task, policy, progress))
    document = run_preview(classes, policy, plan=plan, progress=progress).to_dict()
    task.write(RESULT, document)
    task.write(VIEW, {**document, "suppression_limit": plan.suppression_limit})


def anonymize(task: Task, progress: JobProgress) -> None:
    """Write a release that meets the policy at the least loss, verified, with recipe and reports."""
    wanted = cast(AnonymizeParameters, task.parameters)
    table, policy = open_case(task, progress)
    plan = wanted.plan(policy.plan)
    release = run_anonymize(table, policy, plan=plan, progress=progress)
    progress("writing and verifying")
    target = task.out / f"release.{wanted.format}"
    release.save(
        target,
        recipe=task.out / "recipe.json",
        links=task.out / LINKS,
        codebook=task.out / "codebook.csv",
    )
    # The policy that the release was made by, so that it can be checked by it.
    made_by = replace(release.policy, plan=replace(plan, drop_attributes=()), read={})
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
    task.write(RESULT, release.to_dict())
    shown = views.release(release, drawn)
    task.write(VIEW, {**shown, "format": wanted.format, "formulas": dict(changed)})
