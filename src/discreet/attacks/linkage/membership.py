"""Membership: whether a release gives away that somebody's record is in it (table linkage)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.attacks.linkage.fitting import released_fitting
from discreet.attacks.linkage.nearest import nearest_people
from discreet.attacks.linkage.view import View, known_names
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.errors import InvalidParameter
from discreet.measure import proportion_interval
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray

AT_MOST = 20_000
"""So many people are tried on either side; of more, a sample."""

ENOUGH = 30
"""With fewer people who are not in the release nothing can be said."""
NO_CONTROL = Sentence(
    "membership was not tested: no control set of at least {enough} people who are not in the release",
    enough=ENOUGH,
)


@dataclass(frozen=True)
class JudgedPeople:
    """Members or others: how many each combination stands for, their score, and whether it says member."""

    people: FloatArray
    score: FloatArray
    said: BoolArray

    @property
    def rate(self) -> float:
        """Share of whom the intruder says: they are in the release."""
        return float(self.people[self.said].sum() / self.people.sum())


def left_out(pair: Pair) -> EquivalenceClasses | None:
    """The people of the original whose records are not in the release, if links name enough of them to test on.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34]})
    >>> left_out(pair=Pair.of(original, original)) is None
    True
    """
    # At event level links name records: who lost one may still be in the release with others.
    if pair.links is None or pair.original.event_level:
        return None
    gone = pair.links.released < 0
    return _linked(pair.original, pair.links, gone) if pair.links.records[gone].sum() >= ENOUGH else None


def _linked(original: EquivalenceClasses, links: Links, chosen: BoolArray) -> EquivalenceClasses:
    """The people of the original, in so many records as some links name."""
    records = np.bincount(links.original[chosen], links.records[chosen], len(original)).astype(np.int64)
    at = np.flatnonzero(records)
    if original.event_level:
        return original.subset(at)
    codes = tuple(column[at] for column in original.codes)
    return EquivalenceClasses(original.attributes, codes, np.arange(len(at) + 1), records[at])


def membership(
    pair: Pair,
    *,
    control: EquivalenceClasses | None = None,
    known: Sequence[str] | None = None,
    seed: int = 1,
    most: int = 10,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Tell people whose record is in the release from people whose record is not.

    The intruder says "in it" of whoever fits at least one released record that shows something. Where the
    release holds other values than the original, of the half of all that is nearer to the release. Members and
    others count equally, so that

        success rate = (true positives + 1 - false positives) / 2,      baseline 1/2.

    The area under the curve is that of a score: log((n + 1) / (e + 1)) with n fitting records and e expected ones,
    if attributes were independent in the release; or the nearness. ``control`` are people not in the release;
    without it those whom the links leave out (`left_out`). If there are none, `InvalidParameter` is raised:
    not tested for want of a control set. Nergiz, Atzori, Clifton, "Hiding the presence of individuals from shared
    databases", SIGMOD 2007.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> control = EquivalenceClasses.from_columns({"age": [32, 50]})
    >>> released = EquivalenceClasses.from_columns({"age": ["[30, 39]", "[30, 39]", "47"]})
    >>> result = membership(Pair.of(original, released), control=control)
    >>> result.rate, dict(result.figures)["false-positive-rate"]
    (0.75, 0.5)
    """
    began = time.perf_counter()
    notes: list[str] = []
    others = left_out(pair) if control is None else control
    if others is None:
        raise InvalidParameter(NO_CONTROL, remedy="give a table of such people, drawn like the original")
    if control is None:
        notes.append(
            "the control set are the people whom the release leaves out; they are unusual, and where all records of "
            "a combination are left out none of them fits: the attack looks stronger than against people from outside"
        )
    names = known_names(pair, known, others)
    inside = _members(pair, notes)
    own, outer = (_side_view(pair, people, names, at_most, seed) for people in (inside, others))
    if pair.truthful:
        members, strangers = _by_fit(own), _by_fit(outer)
    else:
        members, strangers = _by_distance(own, outer)
    return told_apart(
        members,
        strangers,
        attack="membership",
        meaning=Sentence(
            "Of people in the release {true:.0%} are rightly said to be in it, of others {false:.0%} wrongly.",
            true=members.rate,
            false=strangers.rate,
        ),
        scenario="someone who wants to know whether a person is in the table",
        known=names,
        unit=pair.unit,
        source="Nergiz, Atzori, Clifton 2007",
        exposed=_exposed(own, members, strangers.rate, most),
        seconds=time.perf_counter() - began,
        notes=tuple(notes),
    )


def told_apart(
    members: JudgedPeople, others: JudgedPeople, *, figures: tuple[tuple[str, float], ...] = (), **said: Any
) -> AttackResult:
    """How well members were told from others, who count as much: (true positives + 1 - false positives) / 2, baseline 1/2.

    ``figures`` come after those that follow from the two sides, and ``said`` is what else the result says.
    """
    tries = 2.0 * float(min(members.people.sum(), others.people.sum()))
    return AttackResult(
        criterion="inference",
        tries=tries,
        successes=(members.rate + 1 - others.rate) / 2 * tries,
        baseline=0.5,
        figures=(
            ("true-positive-rate", members.rate),
            ("false-positive-rate", others.rate),
            ("auc", area(members.score, members.people, others.score, others.people)),
            ("members", float(members.people.sum())),
            ("controls", float(others.people.sum())),
            *figures,
        ),
        interval=interval_of_rates(members, others),
        **said,
    )


def area(
    high: FloatArray,
    high_weights: FloatArray,
    low: FloatArray,
    low_weights: FloatArray,
) -> float:
    """The area under the ROC curve: the chance that a member scores higher than another; ties count half.

    >>> area(np.array([2.0, 1.0]), np.ones(2), np.array([1.0, 0.0]), np.ones(2))
    0.875
    """
    order = np.argsort(low, kind="stable")
    ranked = low[order]
    below = np.concatenate([[0.0], np.cumsum(low_weights[order])])
    less = below[np.searchsorted(ranked, high, side="left")]
    not_more = below[np.searchsorted(ranked, high, side="right")]
    return float(((less + not_more) / 2) @ high_weights / (high_weights.sum() * low_weights.sum()))


def interval_of_rates(members: JudgedPeople, strangers: JudgedPeople) -> tuple[float, float]:
    """Newcombe's interval of the mean of two rates, from the Wilson interval of each (square and add)."""
    ends = []
    for side in (members, strangers):
        total = float(side.people.sum())
        right = side.rate if side is members else 1 - side.rate
        low, high = proportion_interval(right * total, total)
        ends.append((right, right - low, high - right))
    middle = (ends[0][0] + ends[1][0]) / 2
    down, up = (float(np.hypot(ends[0][i], ends[1][i])) / 2 for i in (1, 2))
    return max(middle - down, 0.0), min(middle + up, 1.0)


def _members(pair: Pair, notes: list[str]) -> EquivalenceClasses:
    """The people of the original who are in the release, as far as is known."""
    if pair.links is None:
        if pair.released.total < pair.original.total:
            raise InvalidParameter(
                "membership was not tested: the release leaves people out, and it is not known whom",
                remedy="name a key that tells which record is which",
            )
        notes.append(
            "which records are in the release is not known: everybody in the original counts as in it"
        )
        return pair.original
    stays = pair.links.released >= 0
    if not pair.links.records[stays].any():
        raise InvalidParameter(
            "the release holds nobody of the original", remedy="give the release that was made"
        )
    return _linked(pair.original, pair.links, stays)


def _side_view(
    pair: Pair, people: EquivalenceClasses, names: tuple[str, ...], at_most: int, seed: int
) -> View:
    return View.of(replace(pair, links=None), names, people).sampled(at_most, seed)


def _by_fit(view: View) -> JudgedPeople:
    """Says "in it" where a record that shows something fits; scored against what independence would give."""
    at = np.flatnonzero(view.tried)
    fit = released_fitting(view, at)
    shown = ~view.hidden
    records = view.released.sizes * shown
    total = float(records.sum())
    expected = np.full(len(at), total)
    for j, meaning in enumerate(view.meanings):
        by_code = np.bincount(view.released.codes[j], weights=records, minlength=meaning.released.size)
        by_rank = meaning.sum_covering(by_code)
        expected *= by_rank[meaning.rank[view.targets.codes[j][at]]] / max(total, 1.0)
    score = np.log((fit.shown + 1.0) / (expected + 1.0))
    return JudgedPeople(view.tried[at].astype(np.float64), score, fit.shown > 0)


def _by_distance(own: View, outer: View) -> tuple[JudgedPeople, JudgedPeople]:
    """Says "in it" of the half that is nearer to the release, members and others weighted equally."""
    sides = []
    for view in (own, outer):
        at = np.flatnonzero(view.tried)
        sides.append((view.tried[at].astype(np.float64), nearest_people(view, at).distance))
    weights = np.concatenate([people / people.sum() for people, _ in sides])
    pooled = np.concatenate([distance for _, distance in sides])
    order = np.argsort(pooled, kind="stable")
    middle = pooled[order][np.searchsorted(np.cumsum(weights[order]), 1.0 - 1e-9)]
    members, strangers = (
        JudgedPeople(people, -distance, distance <= middle + 1e-9) for people, distance in sides
    )
    return members, strangers


def _exposed(view: View, members: JudgedPeople, false: float, most: int) -> tuple[Exposed, ...]:
    """Members whose presence shows most: the highest scores among those rightly said to be in the release."""
    at = np.flatnonzero(view.tried)
    order = [int(i) for i in np.argsort(-members.score, kind="stable") if members.said[i]][:most]
    chance = members.rate / (members.rate + false) if members.rate + false else 0.0
    return tuple(
        Exposed(view.labels(int(at[i])), chance, int(members.people[i]), "said to be in the release, and is")
        for i in order
    )
