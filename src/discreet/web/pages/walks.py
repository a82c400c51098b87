"""What the page leads through: the steps for a table, for baskets and for several tables, and the bar that says where one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.web.cases import Case, Shape
from discreet.web.jobs.worker import BASKETS, VIEW
from discreet.web.policies import policy_problems, to_check
from discreet.web.service import Service

Content = dict[str, Any]


@dataclass(frozen=True)
class PageStep:
    """A step of the page: the sections that it shows, and those behind a question, by the name of the question.

    ``grouped`` are questions behind which there are others: a step stays short.
    """

    name: str
    sections: tuple[str, ...]
    folded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    grouped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def questions(self) -> list[str]:
        """The questions that are seen without asking one, in their order."""
        inside = {question for several in self.grouped.values() for question in several}
        return [question for question in (*self.folded, *self.grouped) if question not in inside]


@dataclass(frozen=True)
class Walk:
    """The way of one shape of data: its steps in their order, and the kinds of jobs that lead on.

    ``kinds`` are the kinds whose results the steps show; what is taken away in the end stands below the last steps and is
    called ``bundle`` among the downloads.
    """

    steps: tuple[PageStep, ...]
    kinds: Mapping[str, str]
    bundle: str

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of all sections of the page."""
        inside = [
            name
            for step in self.steps
            for name in (*step.sections, *(name for several in step.folded.values() for name in several))
        ]
        return ("bar", *inside, "downloads")


TABLE_WALK = Walk(
    (
        PageStep("file", ("file",), {"policy": ("policies",), "items": ("items",)}),
        PageStep("columns", ("columns",)),
        PageStep("verdict", ("verdict",), {"advice": ("advice",)}),
        PageStep(
            "release",
            ("release",),
            {
                "prices": ("prices",),
                "plan": ("plan", "preview"),
                "frontier": ("frontier",),
                "families": ("families",),
                "guarantee": ("budget",),
            },
            {"others": ("frontier", "families", "guarantee")},
        ),
        PageStep("evidence", ("evidence",), {"register": ("register",)}),
    ),
    {"file": "read", "verdict": "audit", "release": "anonymize", "evidence": "evidence"},
    "bundle",
)
BASKET_WALK = Walk(
    (
        PageStep("file", ("basket_file",)),
        PageStep("verdict", ("basket_verdict",)),
        PageStep("release", ("basket_release",)),
    ),
    {"file": "judge-baskets", "verdict": "judge-baskets", "release": "release-baskets"},
    "baskets-bundle",
)
TABLES_WALK = Walk(
    (
        PageStep("tables", ("together_file",)),
        PageStep("verdict", ("together_verdict",)),
        PageStep("release", ("together_release",)),
    ),
    {"tables": "judge-tables", "verdict": "judge-tables", "release": "release-tables"},
    "tables-bundle",
)
WALKS: Mapping[Shape, Walk] = {
    "table": TABLE_WALK,
    "baskets": BASKET_WALK,
    "tables": TABLES_WALK,
}
"""The walk of every shape of data. What is taken away stands below the last steps of each."""


def walk_of(case: Case) -> Walk:
    """What the page leads through for a case."""
    return WALKS[case.shape]


def bar(service: Service, case: Case) -> Content:
    """Where one is: the state of every step, and the one thing to do next."""
    walk = walk_of(case)
    states = {step: _state(service, case, step) for step in walk.kinds}
    counted = 0
    if case.shape == "table":
        counted = to_check(case) if case.was_read else 0
        states["columns"] = "none" if not case.was_read else "bad" if policy_problems(case) else "good"
    return {
        "steps": [
            {
                "name": step.name,
                "state": states[step.name],
                "count": counted if step.name == "columns" and states[step.name] == "good" else 0,
            }
            for step in walk.steps
        ],
        "next": _next(service, case),
        "kinds": walk.kinds,
        "bundle": walk.bundle,
        "fine": states["verdict"] == "good",
        "suggested": opened(service, case),
    }


def opened(service: Service, case: Case) -> str:
    """The step that a page begins with: the verdict, or the first one if the file could not be read."""
    walk = walk_of(case)
    first = walk.steps[0].name
    job = service.latest(case, walk.kinds[first])
    there = case.was_read if case.shape == "table" else service.latest(case, walk.kinds[first], done=True)
    return "verdict" if there or job is None or job.active else first


def verdict_words(service: Service, case: Case) -> str:
    """What the newest verdict on a case says, in words."""
    done = service.latest(case, walk_of(case).kinds["verdict"], done=True)
    return "" if done is None else str(service.document(done, VIEW)["words"])


def _state(service: Service, case: Case, step: str) -> str:
    """How a step stands: under way, what the newest result of its kind of job says, or that it failed."""
    walk = walk_of(case)
    kind = walk.kinds[step]
    job, done = service.latest(case, kind), service.latest(case, kind, done=True)
    if job is not None and job.active:
        return "busy"
    if step == walk.steps[0].name and (case.was_read if case.shape == "table" else done):
        return "good"
    if done is not None:
        return "old" if service.outdated(case, done) else str(service.document(done, VIEW)["tone"])
    if job is None or job.state != "failed":
        return "none"
    # What is no table may be baskets: that is no mistake.
    return "warn" if kind == "read" and (case.folder / BASKETS).exists() else "bad"


def _next(service: Service, case: Case) -> str:
    """What to do next: judge, anonymise, or take everything away; nothing while that cannot be done.

    A release is verified once it is there: nobody has to wait for what is tried on it.
    """
    kinds = walk_of(case).kinds
    if case.shape == "table" and (not case.was_read or policy_problems(case)):
        return ""
    states = {step: _state(service, case, step) for step in kinds}
    if any(state == "busy" for step, state in states.items() if step != "evidence"):
        return "wait"
    if service.latest(case, kinds["verdict"], done=True) is None:
        return "judge" if states["verdict"] in ("none", "bad") else ""
    if states["verdict"] == "old":
        return "again"
    return (
        "anonymize"
        if service.latest(case, kinds["release"], done=True) is None or states["release"] == "old"
        else "bundle"
    )
