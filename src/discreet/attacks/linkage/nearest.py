"""Distance-based record linkage: the released records nearest to a person, where nothing need fit exactly."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.linkage.compatible import Targets, matched, right_guesses, share_of, weighted_median
from discreet.attacks.linkage.fitting import spans_of, tree_of
from discreet.attacks.linkage.view import View
from discreet.attacks.result import AttackResult
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.types import FloatArray, IntArray

if TYPE_CHECKING:
    from discreet.attacks.linkage.nearest_kernels import Scale

AT_MOST = 20_000
"""So many people are attacked; of more, a sample."""

EFFORT = 50_000_000
"""Up to so many pairs of original and released values of one attribute, the search is given a lower bound."""


@dataclass(frozen=True)
class Nearest:
    """The distance of each target to its nearest released combinations, and the people behind these."""

    distance: FloatArray
    people: IntArray


def nearest_linkage(
    pair: Pair,
    *,
    known: Sequence[str] | None = None,
    targets: EquivalenceClasses | None = None,
    seed: int = 1,
    most: int = 10,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Link people with the nearest released records, and guess one of these.

    The distance is Gower's, a sum over attributes between 0 and 1: for numbers the difference divided by the
    original's range, for categories 0 or 1; of a generalised value the expected distance when one of the values
    it may stand for is drawn at random (1 - 1/v for a set of v that holds the person's value). Ties are shared:

        successes = sum over people [their record is among the nearest] / number of the nearest.

    Made for releases that hold other values than the original: means of microaggregation, noise, synthetic
    records. Domingo-Ferrer, Torra, "A quantitative comparison of disclosure control methods for microdata", 2001;
    Gower, "A general coefficient of similarity", Biometrics 27, 1971.

    >>> original = EquivalenceClasses.from_columns({"age": [30, 34, 50, 70]})
    >>> released = EquivalenceClasses.from_columns({"age": ["32", "32", "60", "60"]})
    >>> result = nearest_linkage(Pair.of(original, released))
    >>> result.successes, dict(result.figures)["median-nearest"]
    (2.0, 2.0)
    """
    began = time.perf_counter()
    whole = View.of(pair, known, targets)
    view = whole.sampled(at_most, seed)
    at = np.flatnonzero(view.tried)
    closest = nearest_people(view, at)
    tried = view.tried[at].astype(np.float64)
    right = right_guesses(
        view,
        at,
        closest.people,
        lambda released, target, place: distances(view, released, target) <= closest.distance[place] + 2e-9,
    )
    tries = float(tried.sum())
    return matched(
        "distance-linkage",
        pair,
        Targets(whole, view, at, public=targets is not None),
        right,
        closest.people,
        how="guesses among the nearest records",
        source="Domingo-Ferrer, Torra 2001; Gower 1971",
        most=most,
        candidates="are nearest",
        figures=(
            ("one-nearest", share_of(tried, closest.people == 1)),
            ("one-nearest-and-right", float(right[closest.people == 1].sum() / tries) if tries else 0.0),
            ("median-nearest", weighted_median(closest.people, tried)),
            ("mean-distance", float(closest.distance @ tried / tries) if tries else 0.0),
            ("exact", share_of(tried, closest.distance < 1e-9)),
        ),
        seconds=time.perf_counter() - began,
    )


def nearest_people(view: View, at: IntArray) -> Nearest:
    """The nearest released combinations of the targets at ``at``."""
    from discreet.attacks.linkage.nearest_kernels import closest_values, nearest

    best, ties = np.full(len(at), np.inf), np.zeros(len(at), dtype=np.int64)
    if not len(view.released) or not len(at):
        return Nearest(best, ties)
    # Attributes with few released values on top, as in exact linkage: small trees are searched fastest.
    levels = [
        int(j) for j in np.argsort([len(np.unique(codes)) for codes in view.released.codes], kind="stable")
    ]
    spans, offsets = spans_of(view.meanings, levels)
    scale = _scale(view, levels)
    columns = [view.released.codes[j] + offsets[i] for i, j in enumerate(levels)]
    ranks, numbers, least = [], [], []
    for i, j in enumerate(levels):
        place, own = view.meanings[j].rank[view.targets.codes[j][at]], _numbers(view, j)
        codes = np.unique(columns[i])
        low = np.zeros(len(own))
        if len(own) * len(codes) <= EFFORT:
            low = closest_values(spans, scale, codes, own)
        ranks.append(place)
        numbers.append(own[place])
        least.append(low[place])
    nearest(
        tree_of(columns, np.arange(len(view.released))),
        spans,
        scale,
        np.stack(ranks, axis=1),
        np.stack(numbers, axis=1),
        np.stack(least, axis=1),
        view.released.sizes,
        best,
        ties,
    )
    return Nearest(best, ties)


def distances(view: View, released: IntArray, target: IntArray) -> FloatArray:
    """The distance between released combinations and the targets beside them."""
    total = np.zeros(len(released))
    for j in range(len(view.meanings)):
        total += value_distances(view, j, view.released.codes[j][released], view.targets.codes[j][target])
    return total


def value_distances(view: View, j: int, codes: IntArray, own: IntArray) -> FloatArray:
    """The distance between released values of an attribute and the targets' beside them."""
    meaning, scale = view.meanings[j], _scale(view, [j])
    low, high = scale.low[codes], scale.high[codes]
    number = _numbers(view, j)[meaning.rank[own]]
    width = high - low
    inside = (width > 1e-12) & (low < number) & (number < high)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = ((number - low) ** 2 + (high - number) ** 2) / (2 * width)
    far = np.minimum(np.where(inside, spread, np.abs(number - low - width / 2)), 1.0)
    differs = np.where(meaning.covers(codes, own), 1.0 - scale.single[codes], 1.0)
    return np.asarray(np.where(np.isnan(number) | np.isnan(low), differs, far))


def _numbers(view: View, j: int) -> FloatArray:
    """The targets' values of an attribute by rank, on a scale from 0 to 1; NaN where they are no numbers."""
    low, width = view.scales[j]
    return np.asarray((view.meanings[j].original.numbers[view.meanings[j].code_at] - low) / width)


def _scale(view: View, levels: Sequence[int]) -> Scale:
    from discreet.attacks.linkage.nearest_kernels import Scale

    bounds = []
    for j in levels:
        low, width = view.scales[j]
        meaning = view.meanings[j]
        bounds.append(np.stack([(meaning.low - low) / width, (meaning.high - low) / width]))
    together = np.concatenate(bounds, axis=1)
    single = np.concatenate([1.0 / np.maximum(view.meanings[j].sizes, 1) for j in levels])
    return Scale(np.ascontiguousarray(together[0]), np.ascontiguousarray(together[1]), single)
