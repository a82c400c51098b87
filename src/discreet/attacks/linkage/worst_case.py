"""The worst case: an intruder who holds the original table and assigns released records to its records."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from discreet.attacks.linkage.compatible import guessing_interval, share_of, weighted_median
from discreet.attacks.linkage.fitting import original_fitting
from discreet.attacks.linkage.view import Combinations
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.pair import Pair
from discreet.errors import UnknownColumn
from discreet.sentences import Sentence
from discreet.table.meaning import Meaning
from discreet.types import FloatArray, IntArray

AT_MOST = 100_000
"""So many released records are assigned; of more, a sample."""


def worst_case(
    pair: Pair,
    *,
    known: Sequence[str] | None = None,
    seed: int = 1,
    most: int = 10,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Assign each released record to one of the original records that it may stand for.

    Whoever holds the original knows all attributes, the sensitive ones included (``known``: fewer of them). A
    released record that may stand for c original records is assigned to one of them at random:

        re-identification ratio = sum over released records [its own is among them] / c / released records.

    What withstands this intruder withstands every other, as far as identity is concerned; a wholly suppressed
    record may stand for all. Domingo-Ferrer, Ricci, Soria-Comas, "Disclosure risk assessment via record linkage
    by a maximum-knowledge attacker", PST 2015; Kikuchi et al., "What is the best anonymization method?", 2016.

    >>> from discreet.classes.equivalence import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52]})
    >>> released = EquivalenceClasses.from_columns({"age": ["[30, 39]", "[30, 39]", "47", "*"]})
    >>> result = worst_case(Pair.of(original, released))
    >>> result.successes, result.rate, dict(result.figures)["assigned-to-one"]
    (2.25, 0.5625, 0.25)
    """
    began = time.perf_counter()
    names = _names(pair, known)
    meanings = [pair.meaning(name) for name in names]
    before, after = Combinations.of_cells(pair.original, names), Combinations.of_cells(pair.released, names)
    tried = _sampled(after.sizes, at_most, seed)
    at = np.flatnonzero(tried)
    candidates = original_fitting(meanings, [codes[at] for codes in after.codes], before)
    own, certain = _own(pair, names, after)
    weights = tried[at].astype(np.float64)
    right = np.where(candidates > 0, weights * own[at] / np.maximum(candidates, 1), 0.0)
    tries, successes = float(weights.sum()), float(right.sum())
    alone = candidates == 1
    chosen = np.zeros(len(after), dtype=bool)
    chosen[at[alone]] = True
    return AttackResult(
        attack="worst-case",
        criterion="singling-out",
        tries=tries,
        successes=successes,
        baseline=1.0 / max(before.total, 1),
        meaning=Sentence(
            "Whoever holds the original would assign about {successes:,.1f} of {tries:,.0f} released "
            "{unit} to the right person.",
            successes=successes,
            tries=tries,
            unit=Sentence(pair.unit),
        ),
        scenario="maximum-knowledge intruder: holds the original",
        known=tuple(names),
        unit=pair.unit,
        source="Domingo-Ferrer, Ricci, Soria-Comas 2015; Kikuchi et al. 2016",
        exposed=_exposed(pair, after, at, candidates, own, most),
        fallen=tuple(np.unique(pair.released.class_of_cell[chosen[after.group]]).tolist()),
        figures=(
            ("re-identification-ratio", successes / tries if tries else 0.0),
            ("assigned-to-one", share_of(weights, alone)),
            ("without-candidate", share_of(weights, candidates == 0)),
            ("min-candidates", float(candidates.min()) if len(candidates) else 0.0),
            ("median-candidates", weighted_median(candidates, weights)),
        ),
        seconds=time.perf_counter() - began,
        notes=_notes(pair, meanings, tries, float(after.sizes.sum()), certain=certain),
        interval=guessing_interval(right, candidates, weights),
        certain=certain and tries == after.sizes.sum(),
    )


def _notes(
    pair: Pair, meanings: Sequence[Meaning], tries: float, released: float, *, certain: bool
) -> tuple[str, ...]:
    """What a reader must know about who was tried, and about the candidates."""
    notes: list[str] = []
    if tries < released:
        notes.append(
            Sentence(
                "a sample of {tries} of {released} released {unit} was assigned",
                tries=int(tries),
                released=int(released),
                unit=Sentence(pair.unit),
            )
        )
    if not certain:
        notes.append(
            "which record belongs to whom is not known: successes are an upper bound, as if the own record were "
            "always among the candidates"
        )
    if not all(meaning.truthful for meaning in meanings):
        notes.append("released values that the original does not have fit nobody; link them by distance")
    return tuple(notes)


def _names(pair: Pair, known: Sequence[str] | None) -> tuple[str, ...]:
    """Every attribute that both tables have, or those of them that are known."""
    every = (*pair.names, *pair.sensitive)
    for name in known or ():
        if name not in every:
            raise UnknownColumn(name, every)
    return every if known is None else tuple(name for name in every if name in known)


def _sampled(sizes: IntArray, at_most: int, seed: int) -> IntArray:
    if sizes.sum() <= at_most:
        return sizes
    return np.random.default_rng(seed).multivariate_hypergeometric(sizes, at_most, method="marginals")


def _own(pair: Pair, names: Sequence[str], after: Combinations) -> tuple[FloatArray, bool]:
    """For each released combination the share of records whose own original fits, and whether that is known.

    Links name quasi-identifiers only: sensitive values are taken to be those of the own record.
    """
    links = pair.links
    if links is None:
        return np.ones(len(after)), False
    inside = links.released >= 0
    source, goal = links.original[inside], links.released[inside]
    fits = pair.covers(goal, source, [name for name in names if name in pair.names])
    by_class = np.bincount(goal, weights=links.records[inside] * fits, minlength=len(pair.released))
    share = (by_class / pair.released.records)[pair.released.class_of_cell]
    fitting = np.bincount(after.group, weights=share * pair.released.counts, minlength=len(after))
    return fitting / after.records, True


def _exposed(
    pair: Pair,
    after: Combinations,
    at: IntArray,
    candidates: IntArray,
    own: FloatArray,
    most: int,
) -> tuple[Exposed, ...]:
    """The released records with the fewest candidates, by their quasi-identifiers."""
    exposed: list[Exposed] = []
    cell_of = np.zeros(len(after), dtype=np.int64)
    cell_of[after.group[::-1]] = np.arange(len(after.group))[::-1]
    order = np.lexsort((-own[at], candidates))
    for i in order[candidates[order] > 0][:most]:
        count = int(candidates[i])
        says = (
            "one original record fits"
            if count == 1
            else Sentence("{count} original records fit", count=count)
        )
        place = int(pair.released.class_of_cell[cell_of[at[i]]])
        chance = float(own[at[i]]) / count
        exposed.append(Exposed(pair.released.labels(place), chance, int(after.sizes[at[i]]), says))
    return tuple(exposed)
