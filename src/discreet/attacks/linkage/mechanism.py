"""Linkage by one who knows the method: which released record a person's is most likely to have become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from discreet.attacks.intervals import interval_of_people
from discreet.attacks.linkage.view import Combinations
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.pair import Links, Pair
from discreet.errors import InvalidParameter
from discreet.perturb.base import Perturbation
from discreet.perturb.chances import NEVER, ColumnValues
from discreet.sentences import Sentence
from discreet.table.meaning import Meaning
from discreet.types import FloatArray, IntArray

AT_MOST = 2_000
"""So many records are attacked; of more, a sample."""
EXPOSED = 10
"""So many people are listed whose records are likeliest told apart."""
BLOCK = 2_000_000
"""So many pairs of a person and a released combination are looked at together."""
SOURCE = "Nin, Herranz and Torra, Rethinking rank swapping to decrease disclosure risk, 2008"


def linkage_by_method(
    pair: Pair, *, steps: Sequence[Perturbation], known: Sequence[str] | None = None, seed: int = 1
) -> Iterator[AttackResult]:
    """What an intruder reaches who knows the method, and beside it one who does not."""
    yield mechanism_linkage(pair, steps=steps, known=known, seed=seed)
    yield nearest_person(pair, known=known, seed=seed)


def mechanism_linkage(
    pair: Pair,
    *,
    steps: Sequence[Perturbation],
    known: Sequence[str] | None = None,
    seed: int = 1,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Link people with the released records that theirs most likely became, and guess one of these.

    The intruder knows the method and its parameters (not its random numbers), as the recipe says them. For a person with
    the values v and a released record with w,

        log chance = sum over known attributes ln P(v becomes w),

    where P is that of the attribute's step: a rank at most p % away, a draw of the noise, an entry of the matrix. Attributes
    without a step must fit (the interval holds the value); those with several steps, or with one whose chances are too involved, are
    left aside, which notes tell. Among the
    records with the largest chance one is guessed: successes = Σ [the own one is among them] / their number. Of many
    people a sample is attacked.
    ``figures`` are the risks of records by the same chances (Reiter, "Estimating risks of identification disclosure in
    microdata", JASA 100, 2005), each record being the person's before it was looked at with the same probability:
    P(own | v) = chance of the own record / Σ of all chances, its mean and its maximum; and of the people for whom one record alone
    is likeliest (``one-likeliest``) the share for whom it is right, the true match rate, among all (``one-likeliest-and-right``).
    Those of the highest P(own | v) are ``exposed``.
    Nin, Herranz, Torra, "Rethinking rank swapping to decrease disclosure risk", Data & Knowledge Engineering 64, 2008.

    >>> from discreet.classes import EquivalenceClasses
    >>> from discreet.perturb.swapping import RankSwap
    >>> original = EquivalenceClasses.from_columns({"age": [20, 30, 40, 50]})
    >>> released = EquivalenceClasses.from_columns({"age": [20, 30, 40, 50]})
    >>> swapped = Links(np.arange(4), np.array([1, 0, 3, 2]), np.ones(4, dtype=np.int64))
    >>> pair = Pair.of(original, released, links=swapped)
    >>> result = mechanism_linkage(pair, steps=[RankSwap(("age",), percent=25)])
    >>> round(result.successes, 3), round(dict(result.figures)["mean-match-probability"], 3)  # 1/2 + 1/3 + 1/3 + 1/2, of four
    (1.667, 0.417)
    """
    links = pair.links
    assert links is not None, "ask for links before this attack"
    names = [name for name in pair.names if known is None or name in known]
    used, aside = _steps_by_column(steps, names)
    if not used:
        raise InvalidParameter("no known attribute was perturbed", remedy="name columns that a step changed")
    before, after = Combinations.of(pair.original, names), Combinations.of(pair.released, names)
    tried = _drawn(before.records, at_most, seed)
    own = _own(links, before, after)
    at = np.flatnonzero(tried)
    guesses = []
    step = max(BLOCK // max(len(after), 1), 1)
    for start in range(0, len(at), step):
        some = at[start : start + step]
        total = np.zeros((len(some), len(after)))
        for j, name in enumerate(names):
            total += _chances(
                pair.meaning(name), used.get(name), name in aside, before.codes[j][some], after, j
            )
        guesses.append(_guessed(total, after.records, own, some))
    chances, probable, likeliest = np.concatenate(guesses, axis=1) if guesses else np.zeros((3, 0))
    tries = float(tried[at].sum())
    successes = float(chances @ tried[at])
    return AttackResult(
        "mechanism-linkage",
        "linkability",
        tries=tries,
        successes=successes,
        baseline=1.0 / max(int(after.records.sum()), 1),
        meaning=Sentence(
            "Whoever knows how values were perturbed finds the records of about {successes:,.1f} of {tries:,.0f} people.",
            successes=successes,
            tries=tries,
        ),
        known=tuple(names),
        source=SOURCE,
        exposed=_exposed(pair, names, before, at, probable),
        figures=_record_risks(chances, probable, likeliest, tried[at] / max(tries, 1.0)),
        notes=_left_aside(used, aside),
        interval=interval_of_people(chances, tried[at]),
    )


def _record_risks(
    chances: FloatArray, probable: FloatArray, likeliest: FloatArray, shares: FloatArray
) -> tuple[tuple[str, float], ...]:
    """Reiter's risks: the probability of the own record, and how often one record alone is likeliest, rightly or not."""
    return (
        ("mean-match-probability", float(probable @ shares)),
        ("largest-match-probability", float(probable.max(initial=0.0))),
        ("one-likeliest", float(likeliest @ shares)),
        ("one-likeliest-and-right", float((likeliest * chances) @ shares)),
    )


def _exposed(
    pair: Pair, names: Sequence[str], people: Combinations, at: IntArray, probable: FloatArray
) -> tuple[Exposed, ...]:
    """Those whose own record the method gives the highest probability."""
    told = []
    for i in np.argsort(-probable, kind="stable")[:EXPOSED].tolist():
        values = {
            name: pair.meaning(name).original.label(int(codes[at[i]]))
            for name, codes in zip(names, people.codes, strict=True)
        }
        says = Sentence("the own record has this probability by the method")
        told.append(Exposed(values, float(probable[i]), int(people.records[at[i]]), says))
    return tuple(told)


def _left_aside(used: Mapping[str, Perturbation], aside: Collection[str]) -> tuple[str, ...]:
    """Which columns say nothing to the intruder, and why."""
    several = (
        Sentence("{name} was left aside: several steps changed it", name=name) for name in sorted(aside)
    )
    involved = (
        Sentence("{name} was left aside: this attack does not reckon with {step}", name=name, step=step.id)
        for name, step in sorted(used.items())
        if type(step).log_chances is Perturbation.log_chances
    )
    return (*several, *involved)


def _steps_by_column(
    steps: Sequence[Perturbation], names: Sequence[str]
) -> tuple[dict[str, Perturbation], set[str]]:
    """The step of each attribute that one step changed, and the attributes that several changed."""
    often = Counter(name for step in steps for name in step.columns)
    used = {name: step for step in steps for name in step.columns if often[name] == 1 and name in names}
    return used, {name for name in names if often[name] > 1}


def _chances(
    meaning: Meaning, step: Perturbation | None, aside: bool, codes: IntArray, after: Combinations, j: int
) -> FloatArray:
    """Log chances of one attribute, for people and released combinations."""
    shown = after.codes[j]
    if aside:
        return np.zeros((len(codes), len(shown)))
    if step is None:
        return np.where(meaning.covers(shown[None], codes[:, None]), 0.0, NEVER)
    there, place = np.unique(codes, return_inverse=True)
    numbers = meaning.original.numbers[there]
    true = ColumnValues(
        tuple(meaning.original.label(int(code)) for code in there),
        numbers,
        numbers,
        np.zeros(len(there), np.int64),
    )
    size = meaning.released.size
    seen = ColumnValues(
        tuple(meaning.released.label(code) for code in range(size)),
        meaning.low,
        meaning.high,
        np.bincount(shown, weights=after.records, minlength=size).astype(np.int64),
    )
    matrix = step.log_chances(true, seen)
    if matrix is None:
        return np.zeros((len(codes), len(shown)))
    # A value that says nothing fits everybody.
    matrix = np.where(meaning.suppressed[None], 0.0, matrix)
    return matrix[place][:, shown]


def _guessed(
    total: FloatArray, records: IntArray, own: dict[int, tuple[IntArray, FloatArray]], some: IntArray
) -> FloatArray:
    """Of some combinations of people: the chance to guess the right record, its probability, and whether one alone is likeliest."""
    best = total.max(axis=1, keepdims=True)
    among = (total >= best - 1e-9) & (best > NEVER)
    pool = among @ records
    weights = np.exp(total - np.where(best > NEVER, best, 0.0))
    whole = weights @ records
    made = np.zeros((3, len(some)))
    made[2] = pool == 1
    for i, combination in enumerate(some.tolist()):
        goals, shares = own.get(combination, (np.empty(0, np.int64), np.empty(0)))
        made[0, i] = float((among[i, goals] * shares).sum()) / max(int(pool[i]), 1)
        made[1, i] = float((weights[i, goals] * shares).sum()) / (float(whole[i]) or 1.0)
    return made


def _own(links: Links, before: Combinations, after: Combinations) -> dict[int, tuple[IntArray, FloatArray]]:
    """For each original combination the released ones that its records became, with their shares of them."""
    inside = links.released >= 0
    source, goal = before.group[links.original[inside]], after.group[links.released[inside]]
    width = max(len(after), 1)
    keys, place = np.unique(source * width + goal, return_inverse=True)
    counts = np.bincount(place, weights=links.records[inside])
    people, starts = np.unique(keys // width, return_index=True)
    stops = [*starts[1:], len(keys)]
    return {
        combination: (keys[start:stop] % width, counts[start:stop] / before.records[combination])
        for combination, start, stop in zip(people.tolist(), starts, stops, strict=True)
    }


def _drawn(records: IntArray, at_most: int, seed: int) -> IntArray:
    if records.sum() <= at_most:
        return records
    return np.random.default_rng(seed).multivariate_hypergeometric(records, at_most, method="marginals")


def nearest_person(
    pair: Pair, *, known: Sequence[str] | None = None, seed: int = 1, at_most: int = AT_MOST
) -> AttackResult:
    """Take the person whose numbers are nearest to a released record for the one whose record it is.

    The ordinary intruder, who holds a list of the people and knows nothing of the method. Distances are Euclidean over all
    known numbers, each divided by its standard deviation in the original; ties are shared. Of many records a sample.
    Domingo-Ferrer, Torra, "A quantitative comparison of disclosure control methods for microdata", 2001.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"age": [20, 30, 60]})
    >>> released = EquivalenceClasses.from_columns({"age": [22, 29, 40]})
    >>> kept = Links(np.arange(3), np.arange(3), np.ones(3, dtype=np.int64))
    >>> nearest_person(Pair.of(original, released, links=kept)).successes
    2.0
    """
    links = pair.links
    assert links is not None, "ask for links before this attack"
    meanings = [pair.meaning(name) for name in pair.names if known is None or name in known]
    numeric = [meaning for meaning in meanings if _all_numbers(meaning)]
    if not numeric:
        raise InvalidParameter("no known attribute has numbers only", remedy="name one that is known")
    columns = [pair.original.index(meaning.name) for meaning in numeric]
    both = list(zip(numeric, columns, strict=True))
    true = np.stack([m.original.numbers[pair.original.codes[j]] for m, j in both], axis=1)
    shown = np.stack([m.centre[pair.released.codes[j]] for m, j in both], axis=1)
    people = pair.original.records
    mean = np.average(true, axis=0, weights=people)
    spread = np.sqrt(np.average((true - mean) ** 2, axis=0, weights=people))
    scale = np.where(spread > 0, spread, 1.0)
    inside = np.flatnonzero(links.released >= 0)
    tried = _drawn(links.records[inside], at_most, seed)
    at = np.flatnonzero(tried)
    chances = np.zeros(len(at))
    for place, i in enumerate(at.tolist()):
        gaps = (((true - shown[links.released[inside[i]]]) / scale) ** 2).sum(axis=1)
        nearest = gaps <= gaps.min() + 1e-12
        chances[place] = nearest[links.original[inside[i]]] / int(people[nearest].sum())
    tries, successes = float(tried[at].sum()), float(chances @ tried[at])
    return AttackResult(
        "nearest-person",
        "linkability",
        tries=tries,
        successes=successes,
        baseline=1.0 / max(int(people.sum()), 1),
        meaning=Sentence(
            "About {successes:,.1f} of {tries:,.0f} records are nearest to the person whose they are.",
            successes=successes,
            tries=tries,
        ),
        known=tuple(meaning.name for meaning in numeric),
        source="Domingo-Ferrer, Torra 2001",
        interval=interval_of_people(chances, tried[at]),
    )


def _all_numbers(meaning: Meaning) -> bool:
    return (
        meaning.numeric
        and not np.isnan(meaning.centre).any()
        and not np.isnan(meaning.original.numbers).any()
    )
