"""What changed between two releases, or between two policies."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.plain import plain
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy, open_policy
from discreet.policy.plan import Plan
from discreet.progress import Asked, telling
from discreet.release import rendered
from discreet.release.audit import Audit, audit
from discreet.release.compare import compare
from discreet.release.prepare import open_table
from discreet.release.requirements import as_entry
from discreet.sentences import Sentence
from discreet.transform.recipe import entry_text

Subject = Literal[
    "columns", "roles", "requirements", "settings", "records", "verdict", "measures", "risks", "losses"
]
Value = str | float | None
LOSSES = ("leaf-loss", "certainty-penalty", "discernibility")
"""The losses that are told, where there is an original to measure them against."""


@dataclass(frozen=True)
class Change:
    """One thing that is not the same: what it is, and what it was before and after; ``None``: it was not there."""

    subject: Subject
    name: str
    before: Value
    after: Value


@dataclass(frozen=True)
class Difference:
    """Everything in which two releases or two policies differ."""

    first: str
    second: str
    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        return rendered.difference_text(self)

    def __repr__(self) -> str:
        return f"Difference({self.first!r}, {self.second!r}, {len(self.changes)} changes)"

    def _repr_html_(self) -> str:
        return rendered.difference_notebook(self)

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-difference-1",
            "first": self.first,
            "second": self.second,
            "changes": [plain(change) for change in self.changes],
        }


def diff(
    first: object,
    second: object,
    policy: GivenPolicy | None = None,
    *,
    original: object | None = None,
    progress: Asked = None,
) -> Difference:
    """What changed from one release to another, or from one policy to another.

    Two policies (or their ``.toml`` files) differ in roles, requirements and settings. Two tables are judged by the
    ``policy``: they differ in columns, records, verdict, measures and risks, and with the ``original`` in what they lost.

    >>> before = Policy.of(quasi_identifiers=["age"], sensitive=["flu"])
    >>> [(c.name, c.before, c.after) for c in diff(before, before.replace(sensitive=["income"])).changes]
    [('flu', 'sensitive', 'insensitive'), ('income', None, 'sensitive')]
    """
    if _is_policy(first) != _is_policy(second):
        raise InvalidParameter("a policy and a table cannot be compared", remedy="name two of a kind")
    if _is_policy(first):
        told = tuple(policy_changes(open_policy(first), open_policy(second)))
        return Difference(_name(first), _name(second), told)
    if policy is None:
        raise InvalidParameter(
            "tables are compared by a policy, and none was given", remedy="name the policy of the releases"
        )
    say = telling(progress)
    asked = open_policy(policy)
    tables = [open_table(source, asked) for source in (first, second)]
    audits, losses = [], []
    for table in tables:
        say(Sentence("auditing {table}", table=table.source.name))
        # What one of them lacks is told as a change, not refused.
        left = asked.without([name for name in asked.names if name not in table.names])
        audits.append(audit(table, left, detail="core"))
        losses.append({} if original is None else _losses(original, table, asked))
    before, after = (dict.fromkeys(table.names, "there") for table in tables)
    changes = [
        *_changed("columns", before, after),
        *_audit_changes(*audits),
        *_changed("losses", *losses),
    ]
    return Difference(tables[0].source.name, tables[1].source.name, tuple(changes))


def policy_changes(first: Policy, second: Policy) -> Iterator[Change]:
    """What differs between two policies."""
    roles = [{column.name: column.role for column in policy.columns} for policy in (first, second)]
    yield from _changed("roles", *roles)
    required = [{entry_text(as_entry(m)): "required" for m in p.requirements} for p in (first, second)]
    yield from _changed("requirements", *required)
    yield from _changed("settings", _settings(first), _settings(second))


def _settings(policy: Policy) -> dict[str, Value]:
    """Everything that a policy says besides roles and requirements, as text."""
    told: dict[str, Value] = {"profile": policy.profile, "unknown": policy.unknown}
    told |= {f"read.{name}": str(value) for name, value in policy.read.items()}
    told |= {
        f"anonymize.{setting.name}": str(getattr(policy.plan, setting.name))
        for setting in dataclasses.fields(Plan)
    }
    told |= {f"columns.{c.name}.type": str(c.type) for c in policy.columns if c.type}
    told |= {f"kpi.{kpi.name}": kpi.query for kpi in policy.kpis}
    told |= {f"perturb.{i}": step.describe() for i, step in enumerate(policy.perturb, start=1)}
    told |= {f"constraint.{rule.name}": rule.condition for rule in policy.constraints}
    told |= {f"analysis.{analysis.name}": analysis.formula for analysis in policy.analyses}
    told |= {f"mistake.{i}": mistake.describe() for i, mistake in enumerate(policy.mistakes, start=1)}
    for name in ("sampling_fraction", "population", "population_count"):
        if getattr(policy, name) is not None:
            told[name] = str(getattr(policy, name))
    return told


def _audit_changes(first: Audit, second: Audit) -> Iterator[Change]:
    """What differs between two audits by one policy."""
    yield from _changed("records", {"records": first.rows}, {"records": second.rows})
    yield from _changed("verdict", _verdict(first), _verdict(second))
    measures = [
        {f"{m.name} of {m.attribute}" if m.attribute else m.name: m.value for m in audited.measures}
        for audited in (first, second)
    ]
    yield from _changed("measures", *measures)
    risks = [
        {
            f"{name}, worst": max(risk.max for risk in audited.risks if risk.name == name)
            for name in dict.fromkeys(risk.name for risk in audited.risks)
        }
        for audited in (first, second)
    ]
    yield from _changed("risks", *risks)


def _verdict(audited: Audit) -> dict[str, Value]:
    failed = {
        f"{c.id} of {c.attribute}" if c.attribute else c.id: "holds" if c.holds else "fails"
        for c in audited.verdict.criteria
    }
    return {"verdict": audited.verdict.words, **failed}


def _losses(original: object, release: object, policy: Policy) -> dict[str, Value]:
    """What a release lost against its original."""
    measured = compare(original, release, policy, labels=[], queries=1).losses
    known = {name: measured.measure(name) for name in LOSSES}
    return {name: measure.value for name, measure in known.items() if measure is not None}


def _changed(subject: Subject, first: Mapping[str, Value], second: Mapping[str, Value]) -> Iterator[Change]:
    """What has another value, in the order of the first; what came is last."""
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            yield Change(subject, name, first.get(name), second.get(name))


def _is_policy(source: object) -> bool:
    named = isinstance(source, str | PathLike) and str(source).lower().endswith(".toml")
    return named or isinstance(source, Policy)


def _name(source: object) -> str:
    """What a policy is called."""
    return Path(source).name if isinstance(source, str | PathLike) else "policy"
