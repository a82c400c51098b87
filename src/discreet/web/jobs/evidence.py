"""The verbs about a release as jobs: compare, attack, both together as evidence, and the frontier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from discreet.engine.read import read
from discreet.policy import Policy
from discreet.release.attack import Attacks
from discreet.release.attack import attack as run_attack
from discreet.release.compare import Comparison
from discreet.release.compare import compare as run_compare
from discreet.release.frontier import frontier as run_frontier
from discreet.release.pairing import MatchedPair
from discreet.reports.evidence.html import evidence_report
from discreet.table import Table
from discreet.web.api.parameters import (
    AttackParameters,
    CompareParameters,
    EvidenceParameters,
    FrontierParameters,
)
from discreet.web.jobs.parsed_table import open_case
from discreet.web.jobs.worker import RESULT, VIEW, JobProgress, Task
from discreet.web.pages import evidence_views as views

SECONDS_PER_POINT = 10.0
"""How long the search for one point of a frontier may take where the method can stop."""


def compare(task: Task, progress: JobProgress) -> None:
    """Measure what the release lost."""
    original, released, policy = _open_both(task, progress)
    comparison = _compare(original, released, policy, cast(CompareParameters, task.parameters), progress)
    task.write(RESULT, comparison.to_dict())


def attack(task: Task, progress: JobProgress) -> None:
    """Try what an intruder could still do to the release."""
    original, released, policy = _open_both(task, progress)
    attacks = _attack(original, released, policy, cast(AttackParameters, task.parameters), progress)
    task.write(RESULT, attacks.to_dict())


def evidence(task: Task, progress: JobProgress) -> None:
    """Losses and attacks together, with their report in both editions."""
    wanted = cast(EvidenceParameters, task.parameters)
    original, released, policy = _open_both(task, progress)
    comparison = _compare(original, released, policy, wanted, progress)
    attacks = _attack(original, released, policy, wanted, progress, comparison.paired)
    progress("drawing the report")
    task.write(RESULT, {"comparison": comparison.to_dict(), "attacks": attacks.to_dict()})
    task.write(VIEW, views.evidence(comparison, attacks))
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
    result = run_frontier(
        table,
        policy,
        plan=plan,
        k=wanted.k or None,
        l=wanted.l or None,
        t=wanted.t or None,
        methods=wanted.methods or None,
        progress=progress,
    )
    task.write(RESULT, result.to_dict())
    task.write(VIEW, views.frontier(result))
    (task.out / "frontier.svg").write_text(result.chart(), encoding="utf-8")


def _open_both(task: Task, progress: JobProgress) -> tuple[Table, Table, Policy]:
    """The original and its release, and the policy that the release was made by."""
    assert task.base is not None, "these kinds of job follow a release"
    original, policy = open_case(task, progress)
    [file] = task.base.glob("release.*")
    progress("reading the release")
    released = read(file)
    name = f"{Path(task.label).stem}-release{file.suffix}"
    return original, replace(released, source=replace(released.source, name=name)), policy


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
    paired: MatchedPair | None = None,
) -> Attacks:
    return run_attack(
        released,
        policy,
        original=original,
        scenario=wanted.scenario,
        known=wanted.known or None,
        attacks=wanted.attacks,
        seed=wanted.seed,
        paired=paired,
        progress=progress,
    )
