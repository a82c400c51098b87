"""The verbs up to a release as jobs: read, audit, report, recommend, preview, foresee, anonymize; each leaves its results as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read as read_table
from discreet.engine.sheets import sheet_names
from discreet.errors import InvalidPolicy, UnreadableInput
from discreet.files.writing import write_text
from discreet.policy import Policy, dumps, load
from discreet.policy.plan import Plan
from discreet.policy.suggest import suggestion
from discreet.release.anonymize import anonymize as run_anonymize
from discreet.release.audit import audit as run_audit
from discreet.release.preview import preview as run_preview
from discreet.release.prices import foresee as run_foresee
from discreet.release.recommend import recommend as run_recommend
from discreet.release.release import Release
from discreet.release.spreadsheet import neutralise
from discreet.release.targets import hash_of
from discreet.release.write import TextDialect
from discreet.reports.audit.html import report as write_report
from discreet.reports.release.html import release_report
from discreet.sentences import Sentence
from discreet.sentences import dumps as dumps_view
from discreet.table import Table
from discreet.web.api.parameters import (
    AnonymizeParameters,
    AuditParameters,
    Format,
    PlanParameters,
    ReadParameters,
    ReportParameters,
)
from discreet.web.jobs.baskets import offer_baskets
from discreet.web.jobs.columns import describe
from discreet.web.jobs.counted_classes import counted
from discreet.web.jobs.first_rows import before_and_after, dialect_of, first_rows, numeric
from discreet.web.jobs.parsed_table import labelled, open_case, open_table, store
from discreet.web.jobs.worker import (
    BASKETS,
    CODEBOOK,
    LINKS,
    READY,
    READY_DOCUMENT,
    RESULT,
    ROWS,
    SHEETS,
    VIEW,
    JobProgress,
    Task,
)
from discreet.web.pages import release_views as views
from discreet.web.policies import known_columns

TEXT_FORMATS = ("csv", "tsv")
SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods")


def read(task: Task, progress: JobProgress) -> None:
    """Read the table, look at its columns and suggest a role for each."""
    wanted = cast(ReadParameters, task.parameters)
    progress(Sentence("reading {name}", name=task.source.name))
    if task.source.suffix.lower() in SPREADSHEETS:
        # Also for a form that asks for the sheet after reading has failed.
        write_text(task.case / SHEETS, json.dumps(sheet_names(task.source)))
    kept = None if wanted.suggest else load(task.policy)
    options = wanted.options() if kept is None else kept.read
    try:
        table = read_table(task.source, **options)  # type: ignore[arg-type]
    except UnreadableInput:
        offer_baskets(task)
        raise
    (task.case / BASKETS).unlink(missing_ok=True)
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
    task.write(ROWS, first_rows(table))
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
    write_report(result, task.out / "report.html", edition=wanted.edition, language=task.language)
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
    policy, plan, classes = _open_counted(task, progress)
    document = run_preview(classes, policy, plan=plan, progress=progress).to_dict()
    task.write(RESULT, document)
    task.write(VIEW, {**document, "suppression_limit": plan.suppression_limit})


def foresee(task: Task, progress: JobProgress) -> None:
    """Say in a moment what a change of policy or plan would lead to, by the quick method that prices are found by."""
    policy, plan, classes = _open_counted(task, progress)
    progress("searching for the least change")
    document = run_foresee(classes, policy, plan=plan).to_dict()
    task.write(RESULT, document)
    task.write(VIEW, document)


def _open_counted(task: Task, progress: JobProgress) -> tuple[Policy, Plan, EquivalenceClasses]:
    """The policy, the plan, and the counted classes of both."""
    wanted = cast(PlanParameters, task.parameters)
    policy = load(task.policy)
    plan = wanted.plan(policy.plan)
    if problems := list(policy.problems(known_columns(task.case / "columns.json"))):
        raise InvalidPolicy(problems, remedy="correct the roles")
    progress("counting equivalence classes")
    classes = counted(task.case, task.source, policy, plan, lambda: open_table(task, policy, progress))
    return policy, plan, classes


def anonymize(task: Task, progress: JobProgress) -> None:
    """Write a release that meets the policy at the least loss, verified, with recipe and reports.

    With ``alternatives`` the other releases that the search has found are written beside it, so that choosing one of
    them takes no time.
    """
    wanted = cast(AnonymizeParameters, task.parameters)
    table, policy = open_case(task, progress)
    plan = wanted.plan(policy.plan)
    chosen = run_anonymize(table, policy, plan=plan, progress=progress)
    others = chosen.alternatives if wanted.alternatives else ()
    releases = [chosen, *(alternative.make() for alternative in others)]
    for place, release in enumerate(releases):
        folder = task.out if not place else task.out / READY / str(place)
        folder.mkdir(parents=True, exist_ok=True)
        progress("writing and verifying")
        _write_release(table, release, plan, folder, wanted.format)
        progress("drawing the pictures")
        _describe_release(table, release, folder, place, wanted.format, task.language)
    task.write(READY_DOCUMENT, views.ready(chosen, releases))


def _write_release(table: Table, release: Release, plan: Plan, folder: Path, format: Format) -> None:
    """A release in its folder, verified, with recipe, links and policy; text files also as people want them."""
    target = folder / f"release.{format}"
    release.save(
        target,
        recipe=folder / "recipe.json",
        links=folder / LINKS,
        codebook=folder / CODEBOOK,
    )
    # The policy that the release was made by, so that it can be checked by it.
    made_by = replace(release.policy, plan=replace(plan, drop_attributes=()), read={})
    (folder / "policy.toml").write_text(dumps(made_by), encoding="utf-8")
    if format in TEXT_FORMATS:
        dialect = dialect_of(table, format)
        shown = dialect.numbers(release.table.engine.to_arrow(release.table), numeric(table))
        rows, changed = neutralise(shown)
        if changed or dialect != TextDialect():
            dialect.write(rows, folder / f"release-for-people.{format}")


def _describe_release(
    table: Table, release: Release, folder: Path, place: int, format: Format, language: str
) -> None:
    """What the page and the report say of a release."""
    drawn = views.release_drawings(release)
    digest = hash_of(folder / f"release.{format}")
    release_report(release, folder / "report.html", file_hash=digest, drawn=drawn, language=language)
    release_report(
        release, folder / "report-public.html", edition="public", file_hash=digest, language=language
    )
    shown = {
        **views.release(release, drawn),
        "place": place,
        "format": format,
        "rows": before_and_after(table, release, release.table.engine.to_arrow(release.table)),
        "became": views.became(release),
    }
    write_text(folder / RESULT, json.dumps(release.to_dict(), ensure_ascii=False))
    write_text(folder / VIEW, dumps_view(shown))
