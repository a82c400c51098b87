"""The verbs about a release as jobs: compare, attack, both together as evidence, and the frontier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.engine.read import read
from discreet.policy import Policy
from discreet.release.attack import attack as run_attack
from discreet.release.compare import compare as run_compare
from discreet.release.family_contest import compare_families
from discreet.release.frontier import frontier as run_frontier
from discreet.reports.evidence.html import evidence_report
from discreet.reports.words import Edition
from discreet.table import Table
from discreet.web.api.parameters import (
    AttackParameters,
    CompareParameters,
    FamiliesParameters,
    FrontierParameters,
    Parameters,
)
from discreet.web.jobs.parsed_table import open_case
from discreet.web.jobs.worker import CODEBOOK, LINKS, RESULT, VIEW, JobProgress, Task
from discreet.web.pages import evidence_views as views
from discreet.web.pages.family_views import contest

SECONDS_PER_POINT = 10.0
"""How long the search for one point of a frontier may take where the method can stop."""


def compare(task: Task, progress: JobProgress) -> None:
    """Measure what the release lost."""
    original, released, policy = _open_both(task, progress)
    given = _given(task, CompareParameters)
    task.write(
        RESULT,
        run_compare(original, released, policy, **given, **_beside(task), progress=progress).to_dict(),
    )


def attack(task: Task, progress: JobProgress) -> None:
    """Try what an intruder could still do to the release."""
    original, released, policy = _open_both(task, progress)
    given = _given(task, AttackParameters)
    attacks = run_attack(released, policy, original=original, **given, **_beside(task), progress=progress)
    task.write(RESULT, attacks.to_dict())


def evidence(task: Task, progress: JobProgress) -> None:
    """Losses and attacks together, with their report in both editions."""
    original, released, policy = _open_both(task, progress)
    given = _given(task, CompareParameters)
    comparison = run_compare(original, released, policy, **given, **_beside(task), progress=progress)
    attacks = run_attack(
        released,
        policy,
        original=original,
        **_given(task, AttackParameters),
        paired=comparison.paired,
        progress=progress,
    )
    progress("drawing the report")
    task.write(RESULT, {"comparison": comparison.to_dict(), "attacks": attacks.to_dict()})
    task.write(VIEW, views.evidence(comparison, attacks))
    editions: dict[str, Edition] = {"report.html": "internal", "report-public.html": "public"}
    for name, edition in editions.items():
        evidence_report(
            task.out / name,
            comparison=comparison,
            attacks=attacks,
            policy=policy,
            edition=edition,
            language=task.language,
        )


def frontier(task: Task, progress: JobProgress) -> None:
    """Sweep requirements and methods over the policy."""
    table, policy = open_case(task, progress)
    plan = replace(policy.plan, seconds=min(policy.plan.seconds, SECONDS_PER_POINT))
    swept = {name: values or None for name, values in _given(task, FrontierParameters).items()}
    result = run_frontier(table, policy, plan=plan, **swept, progress=progress)
    task.write(RESULT, result.to_dict())
    task.write(VIEW, views.frontier(result))
    (task.out / "frontier.svg").write_text(result.chart(), encoding="utf-8")


def families(task: Task, progress: JobProgress) -> None:
    """Make a release of each family and tell people found against what is lost."""
    table, policy = open_case(task, progress)
    plan = replace(policy.plan, seconds=min(policy.plan.seconds, SECONDS_PER_POINT))
    result = compare_families(table, policy, plan=plan, **_given(task, FamiliesParameters), progress=progress)
    task.write(RESULT, result.to_dict())
    task.write(VIEW, contest(result))
    (task.out / "families.svg").write_text(result.chart(), encoding="utf-8")


def _open_both(task: Task, progress: JobProgress) -> tuple[Table, Table, Policy]:
    """The original and its release, and the policy that the release was made by."""
    assert task.base is not None, "these kinds of job follow a release"
    original, policy = open_case(task, progress)
    [file] = task.base.glob("release.*")
    progress("reading the release")
    released = read(file, expected=policy.names)
    name = f"{Path(task.label).stem}-release{file.suffix}"
    return original, replace(released, source=replace(released.source, name=name)), policy


def _beside(task: Task) -> dict[str, Any]:
    """Which row of the table each row of the release was and what its labels mean, as the job that made it has left it."""
    assert task.base is not None, "these kinds of job follow a release"
    return {"links": task.base / LINKS, "codebook": task.base / CODEBOOK}


def _given(task: Task, kind: type[Parameters]) -> dict[str, Any]:
    """What the job was told of a kind of parameters; no known column named is the same as none given."""
    given = task.parameters.model_dump(include=set(kind.model_fields))
    return {**given, "known": given["known"] or None} if "known" in given else given
