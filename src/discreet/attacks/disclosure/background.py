"""Background knowledge: the intruder strikes out of a class the values that the target does not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.attacks.disclosure.homogeneity import DIVERSITY
from discreet.attacks.disclosure.view import AnyRelease, SensitiveView, best_values
from discreet.attacks.result import AttackResult
from discreet.errors import InvalidParameter
from discreet.privacy.base import TOLERANCE, absent_labels_note, need_choice, need_number, need_whole
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

Which = Literal["worst", "frequent", "rare"]
"""Which values are struck out: those that help the intruder most, or the table's most or least frequent ones."""


def background_knowledge(
    release: AnyRelease,
    sensitive: str,
    *,
    excluded: int | Sequence[str] = 1,
    which: Which = "worst",
    certainty: float = 0.95,
) -> AttackResult:
    """The intruder also knows some values that the target does not have, and strikes them out of the class.

    ``excluded`` names the values, or says how many: the most frequent other values of the class
    (``which="worst"``), or the table's most ``frequent`` or ``rare`` values. What the intruder knows is true: a
    target's own value is never struck out. A target is told if, of the people left in the class, a share of
    at least ``certainty`` has one value. A class falls if someone in it is told. Successes: the people told rightly;
    baseline: how often the same guess would be right with the same knowledge but the whole table instead of the
    class. With nothing excluded it is ``homogeneity``.

    At event level, where a person may have several values, the people left are counted from above, so the
    attack is understated. Machanavajjhala et al. 2007: where every class has l values, l - 2 struck out never
    leave a single one.

    >>> from discreet.classes import EquivalenceClasses
    >>> released = EquivalenceClasses.from_columns(
    ...     {"age": ["30-39"] * 2 + ["40-49"] * 2}, sensitive={"dx": ["flu", "acne", "flu", "cold"]})
    >>> result = background_knowledge(released, "dx", excluded=1)  # flu and not acne, acne and not flu, …
    >>> result.successes, round(result.baseline, 4)
    (4.0, 0.5833)
    >>> background_knowledge(released, "dx", excluded=["acne"]).successes  # only who has flu, in the first class
    1.0
    """
    need_number("certainty", certainty, high=1.0, above=True)
    need_choice("which", which, ("worst", "frequent", "rare"))
    view = SensitiveView.of(release, sensitive)
    if isinstance(excluded, str):
        raise InvalidParameter("excluded must be a number or a list of values", remedy='write ["a value"]')
    notes: tuple[str, ...] = ()
    if isinstance(excluded, int):
        need_whole("excluded", excluded, at_least=0)
        many = excluded
        struck = None if which == "worst" else _by_frequency(view, excluded, which)
        knows = _values(many, sensitive)
    else:
        many = len(excluded)
        struck = np.isin(np.array(view.domain.labels(), dtype=object), list(excluded))
        notes = absent_labels_note(view.domain, excluded)
        knows = _values(many, sensitive, named=True)
    told = _worst(view, many) if struck is None else _struck(view, struck)
    sure = told.share >= certainty - TOLERANCE
    owner, counts, size = view.truth.owner, view.truth.counts, len(view.released)
    people = np.maximum(view.people, 1)

    def per_class(weights: FloatArray) -> FloatArray:
        told_people = np.bincount(owner[sure], weights=(counts * weights)[sure], minlength=size)
        return np.minimum(told_people, people)

    right, before = per_class(told.right.astype(np.float64)), per_class(told.before) / people
    score = np.zeros(size)
    np.maximum.at(score, owner[sure], told.share[sure])
    return view.result(
        "background-knowledge",
        fallen=score > 0,
        right=right,
        before=before,
        score=score,
        says=lambda c: Sentence(
            "{right:.0f} of {people} people are left with one likely value of {sensitive!r}",
            right=right[c],
            people=view.people[c],
            sensitive=sensitive,
        ),
        meaning="Whoever finds the class of a person and knows what the person does not have knows what it has.",
        scenario=Sentence("prosecutor: knows the quasi-identifiers of the target, and {knows}", knows=knows),
        source=DIVERSITY,
        figures=(
            ("values-excluded", float(many)),
            ("people-told", float(per_class(np.ones(len(owner)))[view.shown].sum())),
        ),
        notes=notes,
    )


@dataclass(frozen=True)
class _Told:
    """For people with one true value in one class: the share of the best guess, whether it is right, and its
    chance in the whole table."""

    share: FloatArray
    right: BoolArray
    before: FloatArray


def _values(many: int, sensitive: str, *, named: bool = False) -> Sentence:
    """So many values of an attribute, in words."""
    if named:
        return Sentence(
            "which of {many} named values of {sensitive!r} the target does not have",
            many=many,
            sensitive=sensitive,
        )
    if many == 1:
        return Sentence("one value of {sensitive!r} that the target does not have", sensitive=sensitive)
    return Sentence(
        "{many} values of {sensitive!r} that the target does not have", many=many, sensitive=sensitive
    )


def _by_frequency(view: SensitiveView, many: int, which: Which) -> BoolArray:
    """The most or least frequent values of the release."""
    ascending = np.lexsort((np.arange(view.domain.size), view.prior))
    ascending = ascending[view.prior[ascending] > 0]
    chosen = ascending[:many] if which == "rare" else ascending[::-1][:many]
    struck = np.zeros(view.domain.size, dtype=bool)
    struck[chosen] = True
    return struck


def _entry_of_truth(view: SensitiveView) -> tuple[IntArray, IntArray]:
    """For each entry of the truth its value's released code, and its place among the released entries; -1: none."""
    truth, entries = view.truth, view.histogram
    if truth.domain is view.domain:
        code = truth.values
    else:
        place = {label: at for at, label in enumerate(view.domain.labels())}
        code = np.array([place.get(label, -1) for label in truth.domain.labels()], dtype=np.int64)[
            truth.values
        ]
    keys = entries.class_of_entry * view.domain.size + entries.values
    wanted = truth.owner * view.domain.size + code
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return code, np.where((code >= 0) & (keys[at] == wanted), at, -1)


def _worst(view: SensitiveView, many: int) -> _Told:
    """Struck out are the ``many`` most frequent values of the class that are not the target's own."""
    entries, truth = view.histogram, view.truth
    counts = entries.sizes(view.unit)
    order = np.lexsort((entries.values, -counts, entries.class_of_entry))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - entries.indptr[:-1][entries.class_of_entry]
    descending, prior = counts[order], view.prior[entries.values[order]]
    running = np.concatenate([[0], np.cumsum(descending)])
    mass = np.concatenate([[0.0], np.cumsum(prior)])
    code, at = _entry_of_truth(view)
    own = at >= 0
    p = np.where(own, rank[at], np.iinfo(np.int64).max)
    start, end = entries.indptr[truth.owner], entries.indptr[truth.owner + 1]
    above = p < many
    # Who ranks among the struck ones is spared, and the next one is struck out instead.
    stop = np.minimum(start + many + above, end)
    size = np.where(own, counts[at], 0)
    likely = np.where(own, view.prior[np.maximum(code, 0)], 0.0)
    gone = running[stop] - running[start] - np.where(above, size, 0)
    gone_mass = mass[stop] - mass[start] - np.where(above, likely, 0.0)
    everybody = running[end] - running[start]
    left = np.minimum(everybody - gone, view.people[truth.owner])
    following = np.minimum(start + many, end - 1)
    some = left > 0
    top = np.where(above, size, np.where(some, descending[following], 0))
    guess_prior = np.where(above, likely, np.where(some, prior[following], 0.0))
    return _Told(
        np.divide(top, left, out=np.zeros(len(top)), where=some),
        own & (above | (p == many)),
        _chance(guess_prior, view.prior.sum() - gone_mass),
    )


def _struck(view: SensitiveView, struck: BoolArray) -> _Told:
    """Struck out are the same values for everybody who does not have them."""
    entries, truth = view.histogram, view.truth
    counts = entries.sizes(view.unit)
    staying = np.where(struck[entries.values], 0, counts)
    rest = entries.per_class(np.add, staying)[truth.owner]
    best, best_value = best_values(entries, staying)
    top, top_value = best[truth.owner], best_value[truth.owner]
    code, at = _entry_of_truth(view)
    spared = (at >= 0) & struck[np.maximum(code, 0)]
    own = np.where(spared, counts[at], 0)
    left = np.minimum(rest + own, view.people[truth.owner])
    guess = np.where(own > top, code, top_value)
    free = float(view.prior[~struck].sum())
    return _Told(
        np.divide(np.maximum(top, own), left, out=np.zeros(len(own)), where=left > 0),
        (guess == code) & (left > 0),
        _chance(view.prior[guess], free + np.where(spared, view.prior[np.maximum(code, 0)], 0.0)),
    )


def _chance(guess: FloatArray, left: FloatArray) -> FloatArray:
    """The share of a value among what is left of the table, where values may overlap at event level."""
    mass = np.minimum(left, 1.0)
    return np.minimum(np.divide(guess, mass, out=np.zeros(len(guess)), where=mass > 0), 1.0)
