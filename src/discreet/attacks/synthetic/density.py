"""Membership by density: who lies where artificial records are denser than people in general was used to make them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.attacks.linkage.membership import ENOUGH, NO_CONTROL, JudgedPeople, told_apart
from discreet.attacks.linkage.nearest import nearest_people
from discreet.attacks.linkage.view import View, known_names
from discreet.attacks.result import AttackResult
from discreet.attacks.synthetic.control import drawn_people
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

AT_MOST = 20_000
"""So many people are tried on either side; of more, a sample."""
NEAREST = 0.01
"""What is added to each distance, so that copies are dense, not infinitely so."""


def membership_by_density(
    pair: Pair,
    *,
    control: EquivalenceClasses,
    known: Sequence[str] | None = None,
    seed: int = 1,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Say "used" of the half of all people around whom artificial records are densest, measured against people in general.

    Half of ``control``, people who are not in the original and drawn like it, are the reference that the intruder holds; the other half
    is told apart from the people of the original. The score is the log ratio of two densities by the nearest neighbour,

        log n(S) / (N(S) (d(S) + 0.01)) - log n(R) / (N(R) (d(R) + 0.01)),

    with n records at the least Gower distance d among the N artificial records S and the N of the reference R: being near to
    artificial records says little where everybody is near. Success rate as for membership: (true positives + 1 - false positives) / 2,
    baseline 1/2. Van Breugel, Sun, Qian, van der Schaar, "Membership inference attacks against synthetic data through overfitting
    detection", AISTATS 2023 (DOMIAS).
    """
    began = time.perf_counter()
    names = known_names(pair, known, control)
    if control.event_level or control.total < 2 * ENOUGH:
        raise InvalidParameter(NO_CONTROL, remedy="give a table of such people, drawn like the original")
    drawn = drawn_people(control, control.total // 2, seed)
    reference, others = _with_records(control, drawn), _with_records(control, control.records - drawn)
    beside = Pair.of(pair.original, reference, hierarchies=pair.hierarchies)
    sides = []
    for people in (pair.original, others):
        views = [
            View.of(replace(each, links=None), names, people).sampled(at_most, seed)
            for each in (pair, beside)
        ]
        # The same people are drawn for both.
        at = np.flatnonzero(views[0].tried)
        near, usual = (log_density(view, at) for view in views)
        sides.append((views[0].tried[at].astype(np.float64), near - usual))
    (used, score), (strangers, apart) = sides
    weights = np.concatenate([used / used.sum(), strangers / strangers.sum()])
    pooled = np.concatenate([score, apart])
    order = np.argsort(-pooled, kind="stable")
    middle = pooled[order][np.searchsorted(np.cumsum(weights[order]), 1.0 - 1e-9)]
    members, outside = (JudgedPeople(p, s, s >= middle - 1e-12) for p, s in sides)
    return told_apart(
        members,
        outside,
        attack="membership-by-density",
        meaning=said_of_used(members, outside),
        scenario="someone who wants to know whether a person is in the table, and holds people like them",
        known=names,
        unit=pair.unit,
        source="van Breugel, Sun, Qian and van der Schaar 2023",
        figures=(("reference", float(reference.total)),),
        seconds=time.perf_counter() - began,
    )


def said_of_used(members: JudgedPeople, outside: JudgedPeople) -> Sentence:
    """How many are said to be among those whose records were used, rightly and wrongly."""
    return Sentence(
        "Of people whose records were used {true:.0%} are rightly said to be, of others {false:.0%} wrongly.",
        true=members.rate,
        false=outside.rate,
    )


def log_density(view: View, at: IntArray) -> FloatArray:
    """The log density of released records around each target, by those nearest to it."""
    near = nearest_people(view, at)
    total = float(view.released.sizes.sum())
    return np.asarray(np.log(np.maximum(near.people, 1)) - np.log(total * (near.distance + NEAREST)))


def _with_records(people: EquivalenceClasses, records: IntArray) -> EquivalenceClasses:
    """So many people of each class."""
    at = np.flatnonzero(records)
    codes = tuple(column[at] for column in people.codes)
    return EquivalenceClasses(people.attributes, codes, np.arange(len(at) + 1), records[at].astype(np.int64))
