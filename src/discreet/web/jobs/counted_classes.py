"""Counted classes of a case, kept in its private directory: previews need no second look at the rows."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from discreet.classes import EquivalenceClasses
from discreet.classes.store import load, save
from discreet.files.writing import atomically
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.release.prepare import count_classes, without_dropped
from discreet.table import Table
from discreet.web.jobs.parsed_table import state_of

KEPT = 3
"""So many counts of a case are kept, the newest ones."""


def counted(
    case: Path, file: Path, policy: Policy, plan: Plan, open_table: Callable[[], Table]
) -> EquivalenceClasses:
    """The classes of a case under a policy and a plan; the rows are counted only if that was not done before.

    Where a plan leaves columns out, what was counted with them will do.
    """
    folder = case / "counted"
    target = folder / f"{_key(file, policy, plan)}.arrow"
    everything = folder / f"{_key(file, policy, replace(plan, drop_attributes=()))}.arrow"
    for kept in (target, everything):
        if kept.exists():
            os.utime(kept)
            classes = load(kept)
            left = without_dropped(policy, plan).quasi_identifiers
            return classes if kept == target else classes.project(left)
    table = policy.fit(open_table())
    if plan.sample < 1:
        table = table.engine.thin(table, plan.sample, seed=plan.seed)
    classes = count_classes(table, without_dropped(policy, plan))
    folder.mkdir(mode=0o700, exist_ok=True)
    atomically(target, lambda part: save(classes, part))
    for old in sorted(folder.glob("*.arrow"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)
    return classes


def _key(file: Path, policy: Policy, plan: Plan) -> str:
    """Everything that counting depends on."""
    columns = [(column.name, column.role, column.type) for column in without_dropped(policy, plan).columns]
    basis = [state_of(file), dict(policy.read), columns, plan.sample, plan.seed if plan.sample < 1 else 0]
    return hashlib.sha256(json.dumps(basis).encode()).hexdigest()[:32]
