"""Losses, attacks and frontier as jobs: what a release cost, what an intruder could still do, what else there was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

from discreet.engine.read import read
from discreet.policy import Policy, load
from discreet.release.attack import Attacks
from discreet.release.attack import attack as run_attack
from discreet.release.compare import Comparison
from discreet.release.compare import compare as run_compare
from discreet.release.frontier import frontier as run_frontier
from discreet.reports.evidence.html import evidence_report
from discreet.table import Table
from discreet.web.api.parameters import (
    AttackParameters,
    CompareParameters,
    EvidenceParameters,
    FrontierParameters,
)
from discreet.web.jobs.verbs import RESULT, VIEW, open_case, open_table
from discreet.web.jobs.worker import JobProgress, Task
from discreet.web.pages import evidence_views as proof_views

SECONDS_PER_POINT = 10.0
"""How long the search for one point of a frontier may take where the method can stop."""


def compare(task: Task, progress: JobProgress) -> None:
    """Measure what the release lost."""
    original, released, policy = _both(task, progress)
    found = _compare(original, released, policy, cast(CompareParameters, task.parameters), progress)
    _write(task.out / RESULT, found.to_dict())


def attack(task: Task, progress: JobProgress) -> None:
    """Try what an intruder could still do to the release."""
    original, released, policy = _both(task, progress)
    found = _attack(original, released, policy, cast(AttackParameters, task.parameters), progress)
    _write(task.out / RESULT, found.to_dict())


def evidence(task: Task, progress: JobProgress) -> None:
    """Losses and attacks together, with their report in both editions."""
    wanted = cast(EvidenceParameters, task.parameters)
    original, released, policy = _both(task, progress)
    comparison = _compare(original, released, policy, wanted, progress)
    attacks = _attack(original, released, policy, wanted, progress)
    progress("drawing the report")
    _write(task.out / RESULT, {"comparison": comparison.to_dict(), "attacks": attacks.to_dict()})
    _write(task.out / VIEW, proof_views.evidence(comparison, attacks))
    for edition, name in (("internal", "report.html"), ("public", "report-public.html")):
        evidence_report(
            task.out / name,
            comparison=comparison,
            attacks=attacks,
            policy=policy,
            edition="public" if edition == "public" else "internal",
        )


def frontier(task: Task, progress: JobProgress) -> None:
    """Sweep requirements and methods over the policy."""
    wanted = cast(FrontierParameters, task.parameters)
    table, policy = open_case(task, progress)
    plan = replace(policy.plan, seconds=min(policy.plan.seconds, SECONDS_PER_POINT))
    found = run_frontier(
        table,
        policy,
        plan=plan,
        k=wanted.k or None,
        l=wanted.l or None,
        t=wanted.t or None,
        methods=wanted.methods or None,
        progress=progress,
    )
    _write(task.out / RESULT, found.to_dict())
    _write(task.out / VIEW, proof_views.frontier(found))
    (task.out / "frontier.svg").write_text(found.chart(), encoding="utf-8")


def _both(task: Task, progress: JobProgress) -> tuple[Table, Table, Policy]:
    """The original and its release, and the policy that the release was made by."""
    assert task.base is not None, "these kinds of job follow a release"
    progress(f"reading {task.source.name}")
    policy = load(task.policy)
    original = open_table(task, policy.read)
    [released] = task.base.glob("release.*")
    progress("reading the release")
    table = read(released)
    return original, replace(table, source=replace(table.source, name=_name(task, released))), policy


def _name(task: Task, released: Path) -> str:
    return f"{Path(task.label).stem}-release{released.suffix}"


def _compare(
    original: Table, released: Table, policy: Policy, wanted: CompareParameters, progress: JobProgress
) -> Comparison:
    return run_compare(
        original,
        released,
        policy,
        labels=wanted.labels,
        queries=wanted.queries,
        seed=wanted.seed,
        progress=progress,
    )


def _attack(
    original: Table,
    released: Table,
    policy: Policy,
    wanted: AttackParameters,
    progress: JobProgress,
) -> Attacks:
    return run_attack(
        released,
        policy,
        original=original,
        scenario=wanted.scenario,
        known=wanted.known or None,
        attacks=wanted.attacks,
        seed=wanted.seed,
        progress=progress,
    )


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
