"""Attacks by what sensitive values have in common: one branch of their hierarchy, or nearly the same number."""

from __future__ import annotations

import numpy as np

from discreet.attacks.disclosure.view import AnyRelease, SensitiveView
from discreet.attacks.result import AttackResult
from discreet.errors import InvalidParameter
from discreet.privacy.base import TOLERANCE, need_number, need_whole
from discreet.privacy.numeric import numbers_of
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.types import FloatArray, IntArray


def similarity(
    release: AnyRelease,
    sensitive: str,
    hierarchy: Hierarchy,
    *,
    certainty: float = 0.95,
    level: int | None = None,
) -> AttackResult:
    """The intruder finds that (nearly) all sensitive values of the target's class mean the same kind of thing.

    A class falls if a share of at least ``certainty`` of its people has values under one node of the hierarchy that
    lies below the root, on the lowest level from 1 upwards where that is so (or on ``level``). Nodes that hold
    every leaf say nothing and do not count. Successes: the people with values under that node; baseline: the share
    of all people who have such values. Figures: classes that fall without being homogeneous. Li, Li and
    Venkatasubramanian, "t-closeness", ICDE 2007.

    >>> from discreet.classes import EquivalenceClasses
    >>> dx = Hierarchy.of("dx", [["ulcer", "stomach", "*"], ["gastritis", "stomach", "*"], ["flu", "lungs", "*"]])
    >>> released = EquivalenceClasses.from_columns(
    ...     {"age": ["30-39"] * 2 + ["40-49"] * 2}, sensitive={"dx": ["ulcer", "gastritis", "ulcer", "flu"]})
    >>> result = similarity(released, "dx", dx)
    >>> result.successes, result.baseline, result.fallen, dict(result.figures)["not-homogeneous"]
    (2.0, 0.375, (0,), 1.0)
    """
    need_number("certainty", certainty, high=1.0, above=True)
    levels = range(1, hierarchy.height) if level is None else (level,)
    if level is not None:
        need_whole("level", level)
        if level >= hierarchy.height:
            raise InvalidParameter(
                Sentence(
                    "level {level} of {sensitive!r} is its root or above", level=level, sensitive=sensitive
                ),
                remedy=Sentence("give a level from 1 to {height}", height=hierarchy.height - 1),
            )
    view = SensitiveView.of(release, sensitive)
    size = len(view.released)
    score, before, right = np.zeros(size), np.zeros(size), np.zeros(size)
    depth = np.zeros(size, dtype=np.int64)
    for step in levels:
        group = _nodes(view.domain, hierarchy, step)
        owner, node, people = view.grouped(group)
        share = people / view.people[owner]
        order = np.lexsort((node, share, owner))
        last = order[np.flatnonzero(np.diff(owner[order], append=size))]
        best, node_of = np.zeros(size), np.full(size, -1, dtype=np.int64)
        best[owner[last]], node_of[owner[last]] = share[last], node[last]
        new = (score == 0) & (best >= certainty - TOLERANCE)
        _, nodes, everywhere = view.grouped(group, whole=True)
        prior = np.bincount(nodes, weights=everywhere, minlength=len(hierarchy.labels[step])) / view.total
        truth = view.truth
        true_node = _nodes(truth.domain, hierarchy, step)[truth.values]
        hit = (true_node >= 0) & (true_node == node_of[truth.owner])
        score[new], before[new], depth[new] = best[new], prior[node_of[new]], step
        right[new] = np.minimum(truth.right(hit, size), view.people)[new]
    single = view.histogram.per_class(np.maximum, view.shares) >= certainty - TOLERANCE
    return view.result(
        "similarity",
        fallen=score > 0,
        right=right,
        before=before,
        score=score,
        says=lambda c: Sentence(
            "{share:.0%} of the class have values of {sensitive!r} in one branch of level {level}",
            share=score[c],
            sensitive=sensitive,
            level=depth[c],
        ),
        meaning="Whoever finds the class of a person knows what kind of sensitive value the person has.",
        scenario="prosecutor: knows the quasi-identifiers of the target and the kinds of sensitive values",
        source="Li, Li and Venkatasubramanian, t-closeness, 2007",
        figures=(("not-homogeneous", float(((score > 0) & ~single & view.shown).sum())),),
    )


def proximity(
    release: AnyRelease,
    sensitive: str,
    *,
    within: float | None = None,
    share_of_range: float = 0.05,
    certainty: float = 0.95,
) -> AttackResult:
    """The intruder says the target's number to within e, from the numbers of the class.

    A class falls if some g has a share of at least ``certainty`` of the class's people with \\|x - g\\| <= e, where
    e is ``within``, or ``share_of_range`` times the distance between the largest and the smallest number of the
    release. The guess g is the middle of the best interval of width 2e. Successes: the people of fallen classes
    within e of it; baseline: the share of everybody within e of it. Missing numbers are near to nothing. At
    event level records are counted. Li, Tao and Xiao, "Preservation of proximity privacy", SIGMOD 2008.

    >>> from discreet.classes import EquivalenceClasses
    >>> released = EquivalenceClasses.from_columns(
    ...     {"age": ["30-39"] * 4 + ["40-49"]}, sensitive={"pay": [1000, 1030, 1050, 4000, 2000]})
    >>> result = proximity(released, "pay", within=25, certainty=0.75)
    >>> result.successes, round(result.baseline, 2), result.exposed[1].score
    (4.0, 0.52, 0.75)
    """
    need_number("certainty", certainty, high=1.0, above=True)
    need_number("share_of_range", share_of_range, high=1.0)
    if within is not None:
        need_number("within", within)
    view = SensitiveView.of(release, sensitive, unit="records")
    entries = view.histogram
    numbers = numbers_of(view.domain)
    there = np.isfinite(numbers[entries.values])
    owner, records = entries.class_of_entry[there], entries.records[there]
    values = numbers[entries.values[there]]
    spread = float(np.ptp(values)) if len(values) else 0.0
    near = float(within) if within is not None else share_of_range * spread
    slack = 1e-9 * max(spread, abs(near), 1.0)
    share, guess = _best_window(owner, values, records, view.people, 2 * near + slack)
    everybody = np.argsort(values, kind="stable")
    ladder, mass = values[everybody], np.concatenate([[0], np.cumsum(records[everybody])])
    with np.errstate(invalid="ignore"):
        low = np.searchsorted(ladder, guess - near - slack, side="left")
        high = np.searchsorted(ladder, guess + near + slack, side="right")
    before = np.where(np.isnan(guess), 0.0, (mass[high] - mass[low]) / view.total)
    truth = view.truth
    with np.errstate(invalid="ignore"):
        hit = np.abs(numbers_of(truth.domain)[truth.values] - guess[truth.owner]) <= near + slack
    return view.result(
        "proximity",
        fallen=share >= certainty - TOLERANCE,
        right=truth.right(hit, len(view.released)),
        before=before,
        score=share,
        says=lambda c: Sentence(
            "{share:.0%} of the class have a {sensitive!r} within {near:g} of one number",
            share=share[c],
            sensitive=sensitive,
            near=near,
        ),
        meaning="Whoever finds the class of a person knows the number of that person closely.",
        scenario=Sentence(
            "prosecutor: knows the quasi-identifiers of the target and is content to come within {near:g}",
            near=near,
        ),
        source="Li, Tao and Xiao, Preservation of proximity privacy, 2008",
        figures=(("within", near),),
        notes=("counted in records: a person with many weighs more",) if view.released.event_level else (),
    )


def _best_window(
    owner: IntArray,
    values: FloatArray,
    records: IntArray,
    people: IntArray,
    width: float,
) -> tuple[FloatArray, FloatArray]:
    """Per class the largest share of people inside an interval of some width, and the middle of what is inside."""
    best, middle = np.zeros(len(people)), np.full(len(people), np.nan)
    if not len(values):
        return best, middle
    order = np.lexsort((values, owner))
    owner, values, running = owner[order], values[order], np.concatenate([[0], np.cumsum(records[order])])
    # In ranks, not in numbers: classes stand side by side, and one search finds the ends of all intervals.
    levels, rank = np.unique(values, return_inverse=True)
    after = np.searchsorted(levels, levels + width, side="right")[rank]
    line = owner * (len(levels) + 1) + rank
    ends = np.searchsorted(line, owner * (len(levels) + 1) + after, side="left")
    inside = running[ends] - running[np.arange(len(line))]
    ranked = np.lexsort((-np.arange(len(line)), inside, owner))
    chosen = ranked[np.flatnonzero(np.diff(owner[ranked], append=-1))]
    at = owner[chosen]
    best[at] = inside[chosen] / people[at]
    middle[at] = (values[chosen] + values[ends[chosen] - 1]) / 2
    return best, middle


def _nodes(domain: Domain, hierarchy: Hierarchy, level: int) -> IntArray:
    """The node of each value on one level; -1 for values that are not below it, and for a node of all leaves."""
    counts = hierarchy.counts(level)
    known: dict[str, int] = {}
    for step in range(level, -1, -1):
        known.update(
            zip(
                (hierarchy.labels[step][node] for node in hierarchy.nodes[step].tolist()),
                hierarchy.nodes[level].tolist(),
                strict=True,
            )
        )
    nodes = []
    for label in domain.labels():
        leaf = hierarchy.leaf(label)
        node = known.get(label, -1) if leaf is None else int(hierarchy.nodes[level][leaf])
        nodes.append(node if node >= 0 and counts[node] < hierarchy.leaves else -1)
    return np.array(nodes, dtype=np.int64)
