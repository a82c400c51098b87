"""What every measure of loss has in common: its definition, weights of attributes, and who shows what."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter, UnknownColumn
from discreet.measure import Direction, Measure
from discreet.sentences import Sentence
from discreet.table.meaning import KINDS, Meaning
from discreet.types import FloatArray

Weights = Mapping[str, float] | None

EXACT, FOREIGN, SUPPRESSED = (KINDS.index(kind) for kind in ("exact", "foreign", "suppressed"))

FOREIGN_NOTE = (
    "not defined here: the release has values that the original or its record lacks (means, noise or made-up ones), "
    "and this measure asks what a generalised value may stand for"
)
UNLINKED_NOTE = "not defined here: which original record became which released one is not known"
EMPTY_NOTE = "not defined here: the release has no records"
NO_HIERARCHY_NOTE = "not defined here: there is no hierarchy to count levels in"
ASSUMED_NOTE = "levels of {name} are those of a hierarchy that the policy does not name ({origin}); all values stand in it"
NO_NUMBERS_NOTE = "not defined here: there is no attribute with numbers"


@dataclass(frozen=True)
class Definition:
    """A measure by its id: what it means, which way is good, its range, formula and source.

    ``better`` is the direction that a user of the data wants; for what an intruder gains, the one that protects
    people. ``full`` is the value of a release that shows no quasi-identifier, if it is
    always the same; one that changes nothing then has 0.

    >>> ratio = Definition("ratio", "share", "Records left out.", "r / n", "[0, 1]", "Sweeney", "Records and classes")
    >>> ratio(0.25).value, ratio(0.5, attribute="age").attribute
    (0.25, 'age')
    """

    name: str
    unit: str
    meaning: str
    formula: str
    bounds: str
    source: str
    family: str
    better: Direction = "lower"
    full: float | None = None

    def __call__(self, value: float, *, attribute: str | None = None, notes: tuple[str, ...] = ()) -> Measure:
        return Measure(
            self.name,
            float(value),
            self.unit,
            self.better,
            self.meaning,
            self.source,
            attribute,
            notes=notes,
        )

    def of(self, value: float | str, *, attribute: str | None = None, notes: tuple[str, ...] = ()) -> Measure:
        """The measure of a value, with ``notes`` about it, or undefined if it is a note why there is none."""
        if isinstance(value, str):
            return self.undefined(value, attribute=attribute)
        return self(value, attribute=attribute, notes=notes)

    def undefined(self, note: str, *, attribute: str | None = None) -> Measure:
        """The measure where it has no value, with the reason."""
        return self(math.nan, attribute=attribute, notes=(note,))


@dataclass(frozen=True)
class Cells:
    """How the records stand in one attribute of the release.

    ``shown[r]`` records show released value ``r``; ``hidden`` ones show nothing at all: their class is
    suppressed in every quasi-identifier, or they are not in the release.
    """

    meaning: Meaning
    shown: FloatArray = field(repr=False)
    hidden: float

    @property
    def total(self) -> float:
        return float(self.shown.sum()) + self.hidden

    @property
    def foreign(self) -> bool:
        """Whether values are shown that the original does not have."""
        return bool(self.shown[self.meaning.kinds == FOREIGN].any())

    def mean(self, per_code: FloatArray, hidden: float) -> float:
        """The mean over records of a cost per released value, and of a cost for what is hidden."""
        return float((np.dot(self.shown, per_code) + self.hidden * hidden) / self.total)


def cells(pair: Pair, at: int) -> Cells:
    """The records of one quasi-identifier, by its place.

    >>> from discreet.classes import EquivalenceClasses
    >>> pair = Pair.of(EquivalenceClasses.from_columns({"age": [31, 34, 47]}),
    ...                EquivalenceClasses.from_columns({"age": ["[30, 39]", "*"]}))
    >>> cells(pair, 0).shown, cells(pair, 0).hidden
    (array([0., 1.]), 2.0)
    """
    meaning, released = pair.meanings[at], pair.released
    shown = np.bincount(
        released.codes[at],
        weights=np.where(pair.suppressed, 0, released.records),
        minlength=meaning.released.size,
    ).astype(np.float64)
    return Cells(meaning, shown, float(absent(pair) + released.records[pair.suppressed].sum()))


def absent(pair: Pair) -> int:
    """Records of the original that the release does not have."""
    return max(pair.original.total - pair.released.total, 0)


def shares_of(pair: Pair, weights: Weights) -> FloatArray:
    """The weights of the quasi-identifiers, which sum to one; 1 for those that are not named."""
    given = dict(weights or {})
    for name in given:
        if name not in pair.names:
            raise UnknownColumn(name, pair.names)
    shares = np.array([given.get(name, 1.0) for name in pair.names], dtype=np.float64)
    if (shares < 0).any() or not shares.sum() > 0:
        raise InvalidParameter(
            "weights must be numbers of at least 0, one of them above 0", remedy='for example {"age": 2}'
        )
    return np.asarray(shares / shares.sum())


def per_attribute(
    pair: Pair,
    definition: Definition,
    loss: Callable[[int], float | str | None],
    weights: Weights,
    *,
    nothing: str = "",
    levels: bool = False,
) -> tuple[Measure, ...]:
    """A loss of every quasi-identifier, and before them their weighted mean.

    ``loss`` gives a value, a note why there is none, or ``None`` for an attribute that the measure is not
    about; ``nothing`` is the note if it is about none. An undefined loss leaves the mean undefined: a mean
    over the others would make the release look better than it is. ``levels`` says that it counts levels of
    hierarchies: those that nobody gave are named.
    """
    values = [loss(at) for at in range(len(pair.names))]
    parts = tuple(
        definition.of(value, attribute=name, notes=assumed_notes(pair, name) if levels else ())
        for name, value in zip(pair.names, values, strict=True)
        if value is not None
    )
    return (
        _weighted(definition, parts, dict(zip(pair.names, shares_of(pair, weights), strict=True)), nothing),
        *parts,
    )


def _weighted(
    definition: Definition, parts: Sequence[Measure], shares: Mapping[str, float], nothing: str
) -> Measure:
    """The weighted mean of what was measured per attribute."""
    if not parts:
        return definition.undefined(nothing)
    without = [part for part in parts if math.isnan(part.value)]
    if without:
        return definition.undefined(without[0].notes[0])
    weight = np.array([shares[str(part.attribute)] for part in parts])
    if not weight.sum() > 0:
        return definition.undefined("not defined here: all attributes that it is about have weight 0")
    return definition(
        float(np.dot(weight, [part.value for part in parts]) / weight.sum()), notes=notes_of(parts)
    )


def assumed_notes(pair: Pair, name: str) -> tuple[str, ...]:
    """Names the hierarchy of an attribute if nobody gave it."""
    origin = pair.assumed.get(name)
    return () if origin is None else (Sentence(ASSUMED_NOTE, name=name, origin=Sentence(origin)),)


def notes_of(parts: Sequence[Measure]) -> tuple[str, ...]:
    """What is said about any of the parts, once."""
    return tuple(dict.fromkeys(note for part in parts for note in part.notes))
