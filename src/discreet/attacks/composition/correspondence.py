"""Correspondence attacks on a table that was published again with more people: which records can be excluded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import sparse

from discreet.attacks.composition.comparable import (
    NOT_TRUTHFUL,
    Relation,
    comparable_classes,
    made_up,
    value_counts,
)
from discreet.attacks.intervals import interval_of_people
from discreet.attacks.result import AttackResult
from discreet.classes.histogram import Unit
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

Direction = Literal["forward-attack", "cross-attack", "backward-attack"]
CORRESPONDENCE = "correspondence"
DIRECTIONS: tuple[Direction, ...] = (
    "forward-attack",
    "cross-attack",
    "backward-attack",
)
SOURCE = "Fung, Wang, Fu and Pei, Anonymity for continuous data publishing, EDBT 2008"

NOT_WHOLE = "the table of targets is smaller than the release: which records may be the same is not known"
NOT_CONTINUED = (
    "not every record of the earlier release can be in this one: it is not the same table with more people"
)
NOBODY = "nobody can be such a person as this attack looks for"

_COMPARED = 500_000
"""So many pairs of classes are compared at a time."""

_SAYS: dict[Direction, str] = {
    "forward-attack": "Of {tries:,.0f} people who may be in both releases, {sensitive} is guessed rightly for about "
    "{successes:,.1f} from the earlier one, without the records that cannot be theirs by this one; as few as {least:,.0f} "
    "records are left for a person.",
    "cross-attack": "Of {tries:,.0f} people who may be in both releases, {sensitive} is guessed rightly for about "
    "{successes:,.1f} from this one, without the records that cannot be theirs by the earlier one; as few as {least:,.0f} "
    "records are left for a person.",
    "backward-attack": "Of {tries:,.0f} people who may have come after the earlier release, {sensitive} is guessed "
    "rightly for about {successes:,.1f} from this one, without the records that must be older; as few as {least:,.0f} records "
    "are left for a person.",
}


@dataclass(frozen=True)
class Republication:
    """A release of a table and a later one of the same table with more people, as somebody sees them who holds both.

    ``before[a, s]`` records of class ``a`` of the earlier release have value ``s``, ``after[b, s]`` of class ``b`` of the later one.
    ``comparable`` says which of these classes may hold the same person, ``fits_before`` and ``fits_after`` which of them
    fit each class of people whose quasi-identifiers are known.
    """

    values: tuple[str, ...] = field(repr=False)
    before: FloatArray = field(repr=False)
    after: FloatArray = field(repr=False)
    comparable: Relation = field(repr=False)
    fits_before: Relation = field(repr=False)
    fits_after: Relation = field(repr=False)

    @classmethod
    def of(cls, earlier: Pair, later: Pair, sensitive: str) -> Republication:
        """Two releases, each paired with the same people; refused where correspondence cannot be told from them."""
        if later.original.total < later.released.total:
            raise InvalidParameter(NOT_WHOLE)
        if made_up(earlier) or not later.truthful:
            raise InvalidParameter(NOT_TRUTHFUL)
        if not earlier.truthful:
            raise InvalidParameter(NOT_CONTINUED)
        values, before, after = value_counts(earlier, later, sensitive)
        republication = cls(
            values, before, after, comparable_classes(earlier, later), _fitting(earlier), _fitting(later)
        )
        if not republication.continued:
            raise InvalidParameter(NOT_CONTINUED)
        return republication

    @property
    def continued(self) -> bool:
        """Whether the later release has room for every record of the earlier one: necessary, not sufficient."""
        room = self.comparable @ self.after
        return bool((self.before <= room).all() and (self.before.sum(axis=0) <= self.after.sum(axis=0)).all())

    def exclusion(self, direction: Direction) -> Exclusion:
        """What each attack leaves of the records that fit a person, by sensitive value.

        For one person let g₁(s) and g₂(s) be the records of the earlier and of the later release that fit what is known and
        have value s. Each record of the earlier release goes on in one of the later, with the same value and
        comparable quasi-identifiers. So at most min(g₁(s), g₂(s)) of them are of people like this one. Crack sizes:

            forward, who is in both, looked for in the earlier:   Σ g₁(s) - min(g₁(s), g₂(s))
            cross, who is in both, looked for in the later:       Σ g₂(s) - min(g₁(s), g₂(s))
            backward, who came later:                             Σ max(0, G₁(s) - (G₂(s) - g₂(s)))

        with G₁(s) the earlier records comparable to those of g₂(s), and G₂(s) the later records comparable to one of
        G₁(s): what of G₁ has no room outside g₂ is in it. What is left in all is F-, C- and B-anonymity.
        """
        before, after = self.fits_before @ self.before, self.fits_after @ self.after
        if direction == "backward-attack":
            return Exclusion(direction, self.values, after, after - self._older(after), after)
        both = np.minimum(before, after)
        group = before if direction == "forward-attack" else after
        return Exclusion(direction, self.values, group, both, after)

    def _older(self, after: FloatArray) -> FloatArray:
        """How many of the later records that fit a person must be records of the earlier release."""
        first, inverse = _alike(self.fits_after)
        own = self.fits_after[first]
        near = ((own @ self.comparable.T) > 0).astype(np.float64).tocsr()
        older = np.zeros((len(first), len(self.values)))
        for value in range(len(self.values)):
            rows, columns = np.flatnonzero(self.before[:, value]), np.flatnonzero(self.after[:, value])
            comparable = near[:, rows]
            reached = ((comparable @ self.comparable[rows][:, columns]) > 0).astype(np.float64)
            outside = (reached - reached.multiply(own[:, columns])) @ self.after[columns, value]
            older[:, value] = comparable @ self.before[rows, value] - outside
        return np.asarray(np.clip(older[inverse], 0, after))


@dataclass(frozen=True)
class Exclusion:
    """For each class of people ``group[i, s]`` records that fit, of which ``left[i, s]`` cannot be excluded.

    ``alike[i, s]`` are the records of the later release that fit: of the people behind them with value s, ``left[i, s]`` at most are
    such as the attack looks for.
    """

    direction: Direction
    values: tuple[str, ...] = field(repr=False)
    group: FloatArray = field(repr=False)
    left: FloatArray = field(repr=False)
    alike: FloatArray = field(repr=False)

    @property
    def crack_sizes(self) -> FloatArray:
        """How many records are excluded for each class of people."""
        return np.asarray((self.group - self.left).sum(axis=1))

    @property
    def anonymity(self) -> FloatArray:
        """How many records are left for each class of people; 0 where nobody can be such a person."""
        return np.asarray(self.left.sum(axis=1))

    def result(self, pair: Pair, sensitive: str) -> AttackResult:
        """The attack in numbers, on the people of a pair's original.

        The value is guessed as often as records with it are left. Tries: of the people who look alike and have the
        same value, as many as can be such as the attack looks for. Baseline: the same people's values are guessed from all
        records of the release that fit, by one who has not the other release.
        """
        histogram = pair.original.histogram(sensitive)
        rows, unit = histogram.class_of_entry, pair.unit
        place = {value: at for at, value in enumerate(self.values)}
        column = np.array([place.get(label, -1) for label in histogram.domain.labels()])[histogram.values]
        shown = column >= 0
        left, group, alike = (
            np.where(shown, counts[rows, column], 0.0) for counts in (self.left, self.group, self.alike)
        )
        anonymity, fitting = self.anonymity[rows], self.group.sum(axis=1)[rows]
        people = _shares(left, alike) * histogram.sizes(unit)
        return self._in_numbers(
            people, _shares(left, anonymity), _shares(group, fitting), rows, sensitive, unit, pair.names
        )

    def _in_numbers(
        self,
        people: FloatArray,
        chance: FloatArray,
        blind: FloatArray,
        rows: IntArray,
        sensitive: str,
        unit: Unit,
        known: tuple[str, ...],
    ) -> AttackResult:
        tries, successes = float(people.sum()), float(people @ chance)
        asked = self.anonymity > 0
        least = float(self.anonymity[asked].min(initial=np.inf)) if asked.any() else 0.0

        def mean(of: FloatArray) -> float:
            return float(people @ of / tries) if tries else 0.0

        return AttackResult(
            attack=self.direction,
            criterion="inference",
            tries=tries,
            successes=successes,
            baseline=mean(blind),
            meaning=Sentence(
                _SAYS[self.direction], tries=tries, successes=successes, least=least, sensitive=sensitive
            ),
            known=known,
            target=sensitive,
            unit=unit,
            source=SOURCE,
            figures=(
                ("least-records-left", least),
                ("mean-records-left", mean(self.anonymity[rows])),
                ("most-records-excluded", float(self.crack_sizes[asked].max(initial=0.0))),
                ("mean-records-excluded", mean(self.crack_sizes[rows])),
                ("one-value-left", mean(((self.left > 0).sum(axis=1) == 1)[rows].astype(np.float64))),
            ),
            notes=() if tries else (NOBODY,),
            interval=interval_of_people(chance, people),
        )


def correspond(earlier: Pair, later: Pair, sensitive: str) -> tuple[AttackResult, ...]:
    """The forward, cross and backward attack on a table that was published again with more people.

    Both releases are paired with the table that the later one was made from. Each result has how many records are left for
    the person for whom they are fewest (F-, C-, B-anonymity), and how often a sensitive value is guessed. Fung, Wang,
    Fu and Pei, EDBT 2008.

    >>> from discreet.classes import EquivalenceClasses
    >>> illnesses = {"dx": ["flu", "cold", "flu", "gout"]}
    >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 36, 38]}, sensitive=illnesses)
    >>> first = EquivalenceClasses.from_columns({"age": ["[31, 38]"] * 2}, sensitive={"dx": ["flu", "cold"]})
    >>> second = EquivalenceClasses.from_columns(
    ...     {"age": ["[31, 34]"] * 2 + ["[36, 38]"] * 2}, sensitive=illnesses)
    >>> results = correspond(Pair.of(people, first), Pair.of(people, second), "dx")
    >>> [(result.attack.split("-")[0], dict(result.figures)["least-records-left"]) for result in results]
    [('forward', 1.0), ('cross', 1.0), ('backward', 1.0)]
    """
    republication = Republication.of(earlier, later, sensitive)
    return tuple(republication.exclusion(direction).result(later, sensitive) for direction in DIRECTIONS)


def _shares(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part by whole, 0 where there is nothing."""
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0))


def _fitting(pair: Pair) -> Relation:
    """Which released classes fit each class of the original; those that show nothing fit everybody."""
    classes = np.arange(len(pair.released))
    step = max(_COMPARED // max(len(classes), 1), 1)
    blocks = [
        sparse.csr_matrix(
            pair.covers(classes[None], np.arange(start, min(start + step, len(pair.original)))[:, None]),
            dtype=np.float64,
        )
        for start in range(0, len(pair.original), step)
    ]
    return sparse.vstack(blocks, format="csr")


def _alike(relation: Relation) -> tuple[IntArray, IntArray]:
    """The first of all rows that are the same, and for each row which of these it is."""
    seen: dict[bytes, int] = {}
    first: list[int] = []
    inverse = np.empty(relation.shape[0], dtype=np.int64)
    for row in range(relation.shape[0]):
        key = relation.indices[relation.indptr[row] : relation.indptr[row + 1]].tobytes()
        if key not in seen:
            seen[key] = len(first)
            first.append(row)
        inverse[row] = seen[key]
    return np.array(first, dtype=np.int64), inverse
