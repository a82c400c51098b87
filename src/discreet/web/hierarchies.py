"""The hierarchy of a column of a case: in the policy, as a draft with its history, and its effect on the records."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tomlkit

from discreet.errors import UnknownColumn
from discreet.files.writing import write_text
from discreet.policy.file import make_hierarchy
from discreet.policy.hierarchies import FittedHierarchy, fit
from discreet.release.profile import load_profile
from discreet.release.requirements import required_size
from discreet.table.hierarchies.hierarchy import LEARNED, Hierarchy, leaf_loss
from discreet.table.hierarchies.known import POSTCODE
from discreet.table.hierarchies.preview import preview
from discreet.types import IntArray
from discreet.web.cases import Case
from discreet.web.jobs.column_values import Values
from discreet.web.policies import changed_policy, policy_of, policy_text

Spec = dict[str, Any] | str | None
"""A hierarchy as the policy file has it: a builder with its parameters, a file's name, or nothing (learned)."""
KEPT_STEPS = 100
NODES = 220
"""So many nodes of a tree are shown, at most."""
CHILDREN = (14, 8, 5, 4)
"""So many nodes below the root, below each of those, and so on."""
BARS = 24
EXAMPLES = 3


# ── in the policy ─────────────────────────────────────────────────────────────────────────────────


def spec_of(case: Case, column: str) -> Spec:
    """The hierarchy of a column as the policy file has it."""
    entries = tomllib.loads(policy_text(case)).get("columns", {})
    if column not in entries:
        raise UnknownColumn(column, list(entries))
    spec: Spec = entries[column].get("hierarchy")
    return spec


def set_hierarchy(case: Case, column: str, spec: Spec) -> None:
    """Give one column another hierarchy. Nothing else in the file changes."""
    if spec is not None:
        make_hierarchy(spec)
    with changed_policy(case) as document:
        if spec_of(case, column) == spec:
            return
        entry = document["columns"][column]
        entry.pop("hierarchy", None)
        if isinstance(spec, str):
            entry["hierarchy"] = spec
        elif spec is not None:
            builder = tomlkit.inline_table()
            builder.update(spec)
            entry["hierarchy"] = builder


def fitted(case: Case, column: Mapping[str, Any], spec: Spec, values: Values) -> FittedHierarchy:
    """The hierarchy that a specification makes of the values of a column."""
    given = None if spec is None else make_hierarchy(spec)
    if isinstance(given, str):
        # As in a policy file, a name is meant from where that file lies.
        given = str(case.folder / given)
    written = policy_of(case).column(column["name"])
    kind = (written.type if written else None) or column["type"]
    return fit(values.domain, values.records, given, type=kind)


def required_k(case: Case) -> int:
    """The k that policy and profile ask for; 2 if they ask for none, which is about unique records."""
    policy = policy_of(case)
    return required_size(policy, load_profile(policy.profile)) or 2


# ── a draft ───────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Draft:
    """What is being tried, and every step that led there. ``saved`` is what the policy had when last seen."""

    steps: list[Spec]
    at: int = 0
    saved: Spec = None

    @property
    def spec(self) -> Spec:
        return self.steps[self.at]

    @property
    def mark(self) -> str:
        """A hash that tells whether the draft was changed in another window."""
        return hashlib.sha256(json.dumps([self.at, self.spec]).encode()).hexdigest()[:12]

    def step(self, spec: Spec) -> None:
        """Add a step after the present one; steps that were undone are forgotten.

        >>> draft = Draft([None])
        >>> for width in (5, 10): draft.step({"builder": "intervals", "widths": [width]})
        >>> draft.move(-1); draft.step({"builder": "flat"}); draft.at, draft.spec
        (2, {'builder': 'flat'})
        """
        if spec != self.spec:
            self.steps = [*self.steps[: self.at + 1], spec][-KEPT_STEPS:]
            self.at = len(self.steps) - 1

    def move(self, by: int) -> None:
        """Undo (-1) or redo (1), as far as there are steps."""
        self.at = min(max(self.at + by, 0), len(self.steps) - 1)


@contextmanager
def draft_of(case: Case, column: str) -> Iterator[Draft]:
    """The draft of a column, kept with the case; changes inside the context are kept if nothing fails."""
    folder = case.folder / "drafts"
    place = folder / f"{hashlib.sha256(column.encode()).hexdigest()[:24]}.json"
    with case.lock:
        now = spec_of(case, column)
        draft = _stored(place, now)
        if draft.saved != now:
            # The policy was changed elsewhere, which is a step like any other.
            draft.step(now)
            draft.saved = now
        yield draft
        folder.mkdir(mode=0o700, exist_ok=True)
        write_text(place, json.dumps({"steps": draft.steps, "at": draft.at, "saved": draft.saved}))


def _stored(place: Path, now: Spec) -> Draft:
    try:
        return Draft(**json.loads(place.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Draft([now], 0, now)


# ── what it does ──────────────────────────────────────────────────────────────────────────────────


def origin_of(spec: Spec, hierarchy: FittedHierarchy) -> str:
    """Where a hierarchy came from, in one word."""
    if isinstance(spec, dict):
        return str(spec["builder"])
    if hierarchy.assumed:
        return {LEARNED: "learned", POSTCODE: "postcode"}.get(hierarchy.origin, "known")
    return "file"


def describe(column: str, spec: Spec, hierarchy: FittedHierarchy, values: Values, k: int) -> dict[str, Any]:
    """A hierarchy and what every level does to the records, as JSON-ready data. It holds values."""
    return {
        "schema": "discreet-hierarchy-1",
        "column": column,
        "hierarchy": spec,
        "origin": origin_of(spec, hierarchy),
        "k": k,
        "records": int(values.records.sum()),
        "values": values.domain.size,
        "levels": _levels(hierarchy, values, k),
        "tree": tree(hierarchy.hierarchy, records_of(hierarchy.hierarchy, values)),
    }


def _levels(hierarchy: FittedHierarchy, values: Values, k: int) -> list[dict[str, Any]]:
    ladder, records = hierarchy.ladder, values.records
    shown = _examples(records)
    levels = []
    for level, step in zip(preview(ladder, records, k=k), ladder.steps, strict=True):
        sizes = np.bincount(step.codes, weights=records, minlength=len(step.labels)).astype(np.int64)
        loss = float(leaf_loss(step.shares, ladder.leaves) @ records / records.sum())
        levels.append(
            {
                "level": level.level,
                "values": level.nodes,
                "smallest": level.smallest,
                "average": level.average,
                "largest": level.largest,
                "under_k": level.under,
                "loss": loss,
                "examples": list(dict.fromkeys(step.labels[step.codes[code]] for code in shown)),
                "bars": bars(step.labels, sizes, k),
            }
        )
    return levels


def _examples(records: IntArray) -> list[int]:
    """The most frequent value, the rarest, and one between, to be followed through all levels."""
    order = np.argsort(-records, kind="stable")
    places = np.linspace(0, len(order) - 1, min(EXAMPLES, len(order))).round().astype(int)
    return [int(order[place]) for place in places]


def bars(labels: tuple[str, ...], sizes: IntArray, k: int) -> list[dict[str, Any]]:
    """A small distribution: the nodes in their order, neighbours together where there are many.

    >>> bars(("a", "b"), np.array([1, 7]), 5)
    [{'label': 'a', 'records': 1, 'under_k': True}, {'label': 'b', 'records': 7, 'under_k': False}]
    """
    shown = []
    for part in np.array_split(np.arange(len(sizes)), min(BARS, len(sizes))):
        first, last = labels[part[0]], labels[part[-1]]
        shown.append(
            {
                "label": first if len(part) == 1 else f"{first} … {last}",
                "records": int(sizes[part].sum()),
                "under_k": bool((sizes[part] < k).any()),
            }
        )
    return shown


def records_of(hierarchy: Hierarchy, values: Values) -> IntArray:
    """The records of every leaf; values that the table does not have have none."""
    totals = np.zeros(hierarchy.leaves, dtype=np.int64)
    for value, records in zip(values.domain.values.to_pylist(), values.records.tolist(), strict=False):
        leaf = hierarchy.leaf(str(value))
        if leaf is not None:
            totals[leaf] += records
    return totals


@dataclass
class _Node:
    """A node of the tree that is shown, and what is shown of it."""

    level: int
    node: int
    document: dict[str, Any]


def tree(hierarchy: Hierarchy, records: IntArray) -> dict[str, Any]:
    """The hierarchy from its root down, abbreviated: the upper levels come first, and never too many nodes.

    >>> jobs = Hierarchy.of("job", [["baker", "food", "*"], ["cook", "food", "*"], ["judge", "judge", "*"]])
    >>> root = tree(jobs, np.array([5, 2, 1]))
    >>> [(node["label"], node["values"], node["records"], len(node["children"])) for node in root["children"]]
    [('food', 2, 7, 2), ('judge', 1, 1, 0)]
    """
    sizes = [
        np.bincount(nodes, weights=records, minlength=len(labels)).astype(np.int64)
        for nodes, labels in zip(hierarchy.nodes, hierarchy.labels, strict=True)
    ]
    counts = [hierarchy.counts(level) for level in range(hierarchy.height + 1)]

    def described(level: int, node: int) -> _Node:
        return _Node(
            level,
            node,
            {
                "label": hierarchy.labels[level][node],
                "values": int(counts[level][node]),
                "records": int(sizes[level][node]),
                "children": [],
                "more": 0,
            },
        )

    root = described(hierarchy.height, 0)
    row, left = [root], NODES
    for limit in CHILDREN:
        following = []
        for parent in row:
            below, children = _children(hierarchy, parent.level, parent.node)
            shown = children[: min(limit, left)]
            left -= len(shown)
            parent.document["more"] = len(children) - len(shown)
            for child in shown:
                added = described(below, child)
                parent.document["children"].append(added.document)
                following.append(added)
        row = following
    for parent in row:
        parent.document["more"] = len(_children(hierarchy, parent.level, parent.node)[1])
    return root.document


def _children(hierarchy: Hierarchy, level: int, node: int) -> tuple[int, list[int]]:
    """The nodes below a node, and their level; levels that change nothing here are passed over."""
    while level:
        below = np.unique(hierarchy.nodes[level - 1][hierarchy.nodes[level] == node])
        alike = hierarchy.labels[level - 1][int(below[0])] == hierarchy.labels[level][node]
        if len(below) > 1 or not alike:
            return level - 1, below.tolist()
        level, node = level - 1, int(below[0])
    return 0, []
