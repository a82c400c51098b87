"""Singling out by linked rows: where a release tells which rows belong to one person, all of them are known together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.linkage.view import View
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.linked import LinkedRows
from discreet.classes.pair import Pair
from discreet.sentences import Sentence
from discreet.types import BoolArray, IntArray

MOST_COMPARED = 200_000_000
"""So many pairs of a person's rows and released ones are compared; of more people a sample is tried."""
_CHUNK = 4_000_000

SOURCE = "Article 29 Working Party, Opinion 05/2014 (WP216); sets of rows: He, Naughton 2009; de Montjoye et al. 2013"
KNOWN = (
    "the release tells which rows belong to one person: the intruder is taken to know what the policy calls known of "
    "all rows of a person"
)
UNKNOWN = "which record became which is not known for all of them: whom exactly one set of rows fits is taken to be that person"


def linked_singling_out(
    pair: Pair, *, known: Sequence[str] | None = None, seed: int = 1, most: int = 10
) -> AttackResult:
    """Find the people whose rows together fit the linked rows of exactly one person of the release, and it is they.

    A set of released rows fits if the person has at least as many rows that each of its classes may stand for. Sets
    with as many rows as the person has come first, those with fewer (the others are suppressed) only if none of these
    fits. Baseline: a blind guess at one of the persons of the release. De Montjoye, Hidalgo, Verleysen, Blondel,
    "Unique in the crowd: the privacy bounds of human mobility", 2013.

    >>> from discreet.classes import EquivalenceClasses
    >>> cars = {"car": ["suv", "van", "suv", "van", "suv"]}
    >>> original = EquivalenceClasses.from_columns(cars, person=[5, 5, 6, 6, 7])
    >>> released = EquivalenceClasses.from_columns(cars, person=["x", "x", "y", "y", "z"])
    >>> result = linked_singling_out(Pair.of(original, released))
    >>> result.successes, result.tries
    (1.0, 3.0)
    """
    from discreet.attacks.linkage.linked_kernels import RowSets, lone_fits, same_rows

    view = View.of(pair, known)
    people, shown = (
        LinkedRows.of(pair.original, view.targets.group),
        LinkedRows.of(pair.released, view.released.group),
    )
    number, held = shown.alike()
    _, first = np.unique(number, return_index=True)
    sets = shown.subset(first)
    tried = _drawn(people, view, len(sets.persons), seed)
    targets = people.subset(tried)
    cover_ptr, cover = _covering(view, np.unique(targets.group))
    became, sure = _became(pair, view, tried)
    asked, offered, own = (
        RowSets(part.ptr, part.group, part.records, part.totals) for part in (targets, sets, became)
    )
    lone = lone_fits(asked, offered, held, cover_ptr, cover, len(view.released))
    isolated = lone >= 0
    right = isolated & ((same_rows(offered, lone, own) == 1) | ~sure)
    tries, alone = float(len(tried)), float(right.sum())
    notes = [KNOWN]
    if len(tried) < len(people.persons):
        notes.append(
            Sentence(
                "a sample of {tried} of {persons} people was attacked",
                tried=len(tried),
                persons=len(people.persons),
            )
        )
    if not sure.all():
        notes.append(UNKNOWN)
    return AttackResult(
        attack="singling-out",
        criterion="singling-out",
        tries=tries,
        successes=alone,
        baseline=1.0 / len(shown.persons),
        meaning=Sentence(
            "Of {tries:,.0f} people, {alone:,.0f} are those whose rows together fit the linked rows of "
            "exactly one person of the release, and it is they. Without the release nobody can be "
            "singled out in it.",
            tries=tries,
            alone=alone,
        ),
        known=view.names,
        unit="persons",
        source=SOURCE,
        exposed=_exposed(view, targets, np.flatnonzero(right)[:most]),
        figures=(
            ("isolated", float(isolated.mean()) if len(tried) else 0.0),
            ("isolated-and-right", alone / tries if tries else 0.0),
        ),
        notes=tuple(notes),
        certain=bool(len(tried) == len(people.persons) and sure.all()),
    )


def _drawn(people: LinkedRows, view: View, sets: int, seed: int) -> IntArray:
    """The places of the persons who are tried: all, or as many as can be compared."""
    rows = max(len(people.group) / max(len(people.persons), 1), 1.0)
    each = max(sets, int(rows * len(view.released)), 1)
    most = max(MOST_COMPARED // each, 1)
    if len(people.persons) <= most:
        return np.arange(len(people.persons))
    return np.sort(np.random.default_rng(seed).choice(len(people.persons), most, replace=False))


def _covering(view: View, targets: IntArray) -> tuple[IntArray, IntArray]:
    """For each combination of the original the released ones that may stand for it; none for those not asked for."""
    released = np.arange(len(view.released))
    step = max(_CHUNK // max(len(released), 1), 1)
    pairs: list[tuple[IntArray, IntArray]] = []
    for start in range(0, len(targets), step):
        some = targets[start : start + step]
        asked, offered = np.repeat(some, len(released)), np.tile(released, len(some))
        fits = view.covers(offered, asked)
        pairs.append((asked[fits], offered[fits]))
    of_target = np.concatenate([asked for asked, _ in pairs])
    ptr = np.searchsorted(of_target, np.arange(len(view.targets) + 1))
    return ptr, np.concatenate([offered for _, offered in pairs])


def _became(pair: Pair, view: View, tried: IntArray) -> tuple[LinkedRows, BoolArray]:
    """What the rows of the people who are tried became, and of whom that is known for every row."""
    became = np.full(len(pair.original), -1, dtype=np.int64)
    certain = np.zeros(len(pair.original), dtype=bool)
    if pair.links is not None:
        once = np.bincount(pair.links.original, minlength=len(pair.original)) == 1
        shown = pair.links.released >= 0
        became[pair.links.original[shown]] = view.released.group[pair.links.released[shown]]
        certain = once
    rows = LinkedRows.of(pair.original)
    sure = np.minimum.reduceat(certain[rows.group].astype(np.int64), rows.ptr[:-1]) == 1
    return LinkedRows.of(pair.original, became).subset(tried), sure[tried]


def _exposed(view: View, targets: LinkedRows, chosen: IntArray) -> tuple[Exposed, ...]:
    """Some of those who were singled out, by the values of one of their rows."""
    return tuple(
        Exposed(
            view.labels(int(targets.group[targets.ptr[t]])),
            1.0,
            1,
            Sentence(
                "{totals} linked rows, of which this is one, fit one person of the release",
                totals=int(targets.totals[t]),
            ),
        )
        for t in chosen
    )
