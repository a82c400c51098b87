"""Record linkage: which released records fit a person of whom the quasi-identifiers are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.attacks.intervals import interval_of_people
from discreet.attacks.linkage.fitting import Fit, released_fitting
from discreet.attacks.linkage.view import View
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

Candidates = Literal["fit", "are nearest", "match best"]
"""What the records have in common among which the intruder guesses."""

AT_MOST = 100_000
"""So many people are attacked; of more, a sample."""

UNKNOWN_LINKS = (
    "which record belongs to whom is not known: successes are an upper bound over all matchings of people and records "
    "that the values do not contradict"
)
PUBLIC = (
    "who of the public table is in the release is judged by equal values: of F people there and f in the original "
    "with the same values min(F, f) are taken to be the same people, which is an upper bound"
)


def compatible_linkage(
    pair: Pair,
    *,
    known: Sequence[str] | None = None,
    targets: EquivalenceClasses | None = None,
    seed: int = 1,
    most: int = 10,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Link people with the released records that fit everything known about them, and guess one of these.

    A released record fits if each of its values may stand for the person's: it is in the interval, in the set,
    under the node, or hidden. The guess is random among the fitting records that show anything of the known
    attributes (among the wholly suppressed ones only if no other fits), so that

        successes = sum over people [their record is among those] / number of those.

    ``known``: the attributes (all quasi-identifiers). ``targets``: a public table in the original's values; then
    only some of its people are in the release, the journalist's case. Without it everybody in the original is a
    target, the prosecutor's and marketer's case. Baseline: a blind guess (``blind_guess``). Of more than
    ``at_most`` people a sample is attacked (``seed``). Dankar, El Emam, "A method for evaluating marketer
    re-identification risk", EDBT/PAIS 2010; Samarati, Sweeney, 1998.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47, 47]})
    >>> released = EquivalenceClasses.from_columns({"age": ["[30, 39]", "[30, 39]", "47", "*"]})
    >>> result = compatible_linkage(Pair.of(original, released))
    >>> result.successes, result.tries, result.baseline
    (2.0, 4.0, 0.25)
    >>> dict(result.figures)["median-candidates"]
    2.0
    """
    began = time.perf_counter()
    whole = View.of(pair, known, targets)
    view = whole.sampled(at_most, seed)
    at = np.flatnonzero(view.tried)
    fit = released_fitting(view, at)
    tried, present = view.tried[at].astype(np.float64), view.present[at]
    # Suppressed records are guessed among only where nothing else fits.
    right = right_guesses(
        view,
        at,
        fit.pool,
        lambda released, target, place: (
            view.covers(released, target) & (view.hidden[released] == (fit.shown[place] == 0))
        ),
    )
    if view.truth is None:
        right = _most_with_a_record(view, at, fit) / np.maximum(fit.pool, 1)
    tries, successes = float(tried.sum()), float(right.sum())
    has = fit.everyone > 0
    with_candidate = float(tried[has].sum())
    only = fit.only[(fit.shown == 1) & (fit.everyone == 1)]
    unit = "persons" if view.unit == "persons" else "records"
    return matched(
        "record-linkage",
        pair,
        Targets(whole, view, at, public=targets is not None),
        right,
        fit.pool,
        how=Sentence("guesses among the fitting {unit}", unit=Sentence(unit)),
        source="Dankar, El Emam 2010; Samarati, Sweeney 1998",
        most=most,
        fallen=_classes(pair, whole, only),
        figures=(
            ("singled-out", share_of(tried, fit.everyone == 1)),
            ("singled-out-and-right", float(right[fit.everyone == 1].sum() / tries) if tries else 0.0),
            ("singled-out-among-shown", share_of(tried, fit.shown == 1)),
            ("without-candidate", share_of(tried, ~has)),
            ("min-candidates", float(fit.everyone.min()) if len(at) else 0.0),
            ("median-candidates", weighted_median(fit.everyone, tried)),
            ("mean-candidates", float(fit.everyone @ tried / tries) if tries else 0.0),
            ("mean-candidates-among-shown", float(fit.shown @ tried / tries) if tries else 0.0),
            ("correct-match-rate", successes / with_candidate if with_candidate else 0.0),
            ("targets-in-original", float(present.sum() / tries) if tries else 0.0),
        ),
        seconds=time.perf_counter() - began,
        certain=view is whole and view.truth is not None and pair.truthful,
    )


@dataclass(frozen=True)
class Targets:
    """The people who are attacked: all of them, the ones that were drawn, and which of these are tried."""

    whole: View
    view: View
    at: IntArray
    public: bool


def matched(
    attack: str,
    pair: Pair,
    targets: Targets,
    right: FloatArray,
    pool: IntArray,
    *,
    how: str,
    source: str,
    most: int,
    figures: tuple[tuple[str, float], ...],
    seconds: float,
    candidates: Candidates = "fit",
    fallen: tuple[int, ...] = (),
    notes: tuple[str, ...] = (),
    certain: bool = False,
) -> AttackResult:
    """The result of an attack that matches people with records and guesses among ``pool`` of them.

    ``right`` are the expected right guesses per target; the baseline is a blind guess at the same targets.
    """
    view = targets.view
    tried = view.tried[targets.at]
    tries, successes = float(tried.sum()), float(right.sum())
    return AttackResult(
        attack=attack,
        criterion="linkability",
        tries=tries,
        successes=successes,
        baseline=blind_guess(view, targets.at),
        meaning=Sentence(
            "Of {tries:,.0f} people, about {successes:,.1f} would be matched with their own record by whoever knows "
            "{names} and {how}.",
            tries=tries,
            successes=successes,
            names=view.names,
            how=Sentence(how),
        ),
        scenario="journalist: a public table" if targets.public else "prosecutor: everybody in the original",
        known=view.names,
        unit=view.unit,
        source=source,
        exposed=exposed_people(view, targets.at, pool, right, most, candidates),
        fallen=fallen,
        figures=figures,
        seconds=seconds,
        notes=(*notes_of(pair, targets.whole, view, targets.public), *notes),
        interval=guessing_interval(right, pool, tried),
        certain=certain,
    )


def guessing_interval(right: FloatArray, pool: IntArray, tried: IntArray | FloatArray) -> tuple[float, float]:
    """The interval of a rate of guesses: of the people tried at a target those whose record is in the pool have a
    chance of 1 / pool each, the others none."""
    inside = np.minimum(right * np.maximum(pool, 1), tried)
    chance = np.concatenate([1.0 / np.maximum(pool, 1), np.zeros(len(pool))])
    return interval_of_people(chance, np.concatenate([inside, tried - inside]))


def blind_guess(view: View, at: IntArray) -> float:
    """How often one is right who names any released record for each target: never for who is not in the release.

    (targets in the release / targets) / released records. Where it is not known who became which record, as many
    as possible are taken to be in it.
    """
    tries, records = float(view.tried[at].sum()), view.released.total
    if not tries or not records:
        return 0.0
    if view.truth is None:
        inside = float(view.present[at].sum())
        # A person counts once for each combination of values; a record is one record.
        inside = min(inside, float(records)) if view.unit == "records" else inside
    else:
        inside = float(view.truth.people[np.isin(view.truth.target, at)].sum())
    return inside / tries / records


def right_guesses(
    view: View, at: IntArray, pool: IntArray, among: Callable[[IntArray, IntArray, IntArray], BoolArray]
) -> FloatArray:
    """The expected number of right guesses per target at ``at``, each made among ``pool`` records.

    ``among(released, target, place)`` says whether released combinations are guessed among for the targets beside
    them, which have these places in ``at``.
    """
    many = np.maximum(pool, 1)
    truth = view.truth
    if truth is None:
        return np.minimum(view.present[at], pool) / many
    place = np.full(len(view.targets), -1, dtype=np.int64)
    place[at] = np.arange(len(at))
    mine = place[truth.target] >= 0
    target, released, people = truth.target[mine], truth.released[mine], truth.people[mine]
    hit = people * among(released, target, place[target])
    return np.asarray(np.bincount(place[target], weights=hit, minlength=len(at)) / many)


def _most_with_a_record(view: View, at: IntArray, fit: Fit) -> FloatArray:
    """Per target the most people whose record may be in the pool, where links are unknown: a record is one person's.

    Whom the records of one released combination fit and no others share these. Of all people there are no more in the
    release than it has records; those are taken to be the ones who are found most easily.
    """
    inside = np.minimum(view.present[at], fit.pool)
    if view.unit == "persons" or not len(at):
        return inside
    sizes = view.released.sizes
    lone = (fit.only >= 0) & (fit.pool == sizes[fit.only])
    people = np.bincount(fit.only[lone], weights=view.present[at][lone], minlength=len(sizes))
    inside[lone] = (view.present[at] * (sizes / np.maximum(people, sizes))[fit.only])[lone]
    # Of targets that were drawn, so large a part of the records may be theirs as they are of all people.
    records = view.released.total * float(view.tried.sum()) / float(view.targets.sizes.sum())
    order = np.argsort(fit.pool, kind="stable")
    before = np.cumsum(inside[order]) - inside[order]
    inside[order] = np.clip(records - before, 0.0, inside[order])
    return inside


ONE_RECORD: dict[Candidates, Sentence] = {
    "fit": Sentence("one released record fits"),
    "are nearest": Sentence("one released record is nearest"),
    "match best": Sentence("one released record matches best"),
}
SEVERAL_RECORDS: dict[Candidates, str] = {
    "fit": "{records} released records fit",
    "are nearest": "{records} released records are nearest",
    "match best": "{records} released records match best",
}
"""What is said of people with several candidates."""


def exposed_people(
    view: View,
    at: IntArray,
    pool: IntArray,
    right: FloatArray,
    most: int,
    how: Candidates = "fit",
) -> tuple[Exposed, ...]:
    """Those who have the fewest candidates, the surest match first."""
    tried = view.tried[at]
    chance = right / np.maximum(tried, 1)
    order = [int(i) for i in np.lexsort((-chance, pool)) if pool[i] > 0][:most]
    return tuple(
        Exposed(
            view.labels(int(at[i])),
            float(chance[i]),
            int(tried[i]),
            ONE_RECORD[how] if pool[i] == 1 else Sentence(SEVERAL_RECORDS[how], records=pool[i]),
        )
        for i in order
    )


def notes_of(pair: Pair, whole: View, view: View, public: bool) -> tuple[str, ...]:
    """What a reader must know about how an attack on targets came about."""
    notes: list[str] = []
    if view is not whole:
        notes.append(
            Sentence(
                "a sample of {tried} of {people} people was attacked",
                tried=int(view.tried.sum()),
                people=int(whole.tried.sum()),
            )
        )
    if view.truth is None:
        notes.append(UNKNOWN_LINKS)
    if public:
        notes.append(PUBLIC)
    if view.unit == "persons":
        notes.append("a person counts once for each combination of known values that the person has")
        if not pair.released.event_level:
            notes.append("the release does not say whose records they are: candidates are records")
    return tuple(notes)


def weighted_median(values: IntArray | FloatArray, weights: FloatArray) -> float:
    """The smallest value that at least half of the weight does not exceed; 0 if there is none.

    >>> weighted_median(np.array([5, 1, 9]), np.array([1.0, 1.0, 2.0]))
    5.0
    """
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulative, cumulative[-1] / 2 - 1e-9)])


def share_of(weights: FloatArray, chosen: BoolArray) -> float:
    return float(weights[chosen].sum() / weights.sum()) if weights.sum() else 0.0


def _classes(pair: Pair, view: View, combinations: IntArray) -> tuple[int, ...]:
    """The released classes of some released combinations."""
    chosen = np.zeros(len(view.released), dtype=bool)
    chosen[combinations] = True
    return tuple(int(c) for c in np.flatnonzero(chosen[view.released.group]))
