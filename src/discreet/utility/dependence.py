"""How much the relations between attributes changed: correlation, Cramér's V and mutual information, before and after.

Released values are compared as they are: each is a category of its own, numbers stand in the middle of their
interval. Records whose value of either attribute is suppressed are left out of that pair, as statistics programs do
with missing values. A pair of which nothing is left, or whose values are constant, has 0: nothing is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.plain import plain
from discreet.risk.dependence import association
from discreet.table.meaning import Meaning
from discreet.types import FloatArray
from discreet.utility.definition import Definition
from discreet.utility.distributions import attributes_of

_MEAN = "mean over pairs of attributes of |before - after|"
_relation = partial(Definition, family="Distributions and relations")
CHANGES = {
    "pearson": _relation(
        "pearson-change",
        "correlation",
        "How much the straight-line correlations between columns of numbers changed, on average.",
        _MEAN,
        "[0, 2]",
        "Pearson 1895",
    ),
    "spearman": _relation(
        "spearman-change",
        "correlation",
        "How much the correlations between the ranks of columns of numbers changed, on average.",
        _MEAN,
        "[0, 2]",
        "Spearman 1904",
    ),
    "cramers-v": _relation(
        "cramers-v-change",
        "association",
        "How much the associations between columns changed, on average; 0 is none, 1 is that one determines the other.",
        f"{_MEAN}; plain V, without bias correction",
        "[0, 1]",
        "Cramér 1946",
    ),
    "mutual-information": _relation(
        "mutual-information-change",
        "bits",
        "How much less (or more) one column of the release tells about another, on average.",
        _MEAN,
        "[0, ∞)",
        "Shannon 1948",
    ),
}
"""How the change of each measure between two attributes is told."""


@dataclass(frozen=True)
class Matrices:
    """Four measures between every two attributes, before and after; NaN where one does not apply.

    ``before["cramers-v"][i, j]`` is that of ``names[i]`` and ``names[j]`` in the original.
    """

    names: tuple[str, ...]
    before: dict[str, FloatArray] = field(repr=False, compare=False)
    after: dict[str, FloatArray] = field(repr=False, compare=False)

    def difference(self, measure: str) -> FloatArray:
        """What the release shows minus what the original has."""
        return np.asarray(self.after[measure] - self.before[measure])

    def change(self, measure: str) -> float:
        """The mean over pairs of different attributes of the absolute difference; NaN if there are none."""
        upper = self.difference(measure)[np.triu_indices(len(self.names), 1)]
        known = np.abs(upper[~np.isnan(upper)])
        return float(known.mean()) if len(known) else float("nan")

    def to_dict(self) -> dict[str, object]:
        """A JSON-ready mapping; ``None`` where a measure does not apply."""
        return {
            "names": list(self.names),
            **{
                measure: {
                    "before": plain(self.before[measure]),
                    "after": plain(self.after[measure]),
                    "difference": plain(self.difference(measure)),
                }
                for measure in self.before
            },
        }


def matrices(pair: Pair, *, like: Matrices | None = None) -> Matrices:
    """Pearson's and Spearman's correlation, Cramér's V and mutual information between every two attributes.

    Quasi-identifiers and sensitive attributes, before and after. Pearson 1895; Spearman 1904; Cramér 1946,
    Mathematical Methods of Statistics, § 21.9 (plain, without bias correction); Shannon 1948. ``like`` are those of
    another release of the same original, which need not be measured again.

    >>> from discreet.classes import EquivalenceClasses
    >>> before = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52]}, sensitive={"pay": [1, 2, 4, 4]})
    >>> after = EquivalenceClasses.from_columns({"age": ["30-39"] * 2 + ["47", "52"]}, sensitive={"pay": [1, 2, 4, 4]})
    >>> relations = matrices(Pair.of(before, after))
    >>> [round(float(relations.before["spearman"][0, 1]), 4), round(float(relations.after["spearman"][0, 1]), 4)]
    [0.9487, 0.8889]
    """
    names = attributes_of(pair)
    known = like.before if like is not None and like.names == names else None
    before = _matrices(pair, names, released=False) if known is None else known
    return Matrices(names, before, _matrices(pair, names, released=True, known=before))


def dependence_changes(relations: Matrices) -> tuple[Measure, ...]:
    """The mean absolute change of each measure over all pairs of attributes.

    >>> from discreet.utility.examples import four_ages
    >>> dependence_changes(matrices(four_ages()))[0].notes
    ('not defined here: there are no two attributes it applies to',)
    """
    note = "not defined here: there are no two attributes it applies to"
    measures = []
    for name, definition in CHANGES.items():
        value = relations.change(name)
        measures.append(definition.undefined(note) if np.isnan(value) else definition(value))
    return tuple(measures)


def _matrices(
    pair: Pair, names: tuple[str, ...], *, released: bool, known: Mapping[str, FloatArray] | None = None
) -> dict[str, FloatArray]:
    """The four measures between every two attributes of one table; those that are ``known`` need no counting."""
    kept = _kept_together(pair) if known is not None else frozenset()
    classes = pair.released if released else pair.original
    shape = (len(names), len(names))
    tables = {measure: np.full(shape, np.nan) for measure in CHANGES}
    for i, a in enumerate(names):
        for j in range(i, len(names)):
            b = names[j]
            if known is not None and a in kept and b in kept:
                for measure, table in tables.items():
                    table[i, j] = table[j, i] = known[measure][i, j]
                continue
            chosen = _shown(pair, classes, (a, b)) if released else classes
            numeric = pair.meaning(a).numeric and pair.meaning(b).numeric
            parts: dict[str, float] = {"cramers-v": 0.0, "mutual-information": 0.0}
            if chosen is not None:
                parts["cramers-v"], parts["mutual-information"] = association(chosen, a, b)
            if numeric:
                x, y = (_numbers(pair.meaning(name), released) for name in (a, b))
                parts |= {"pearson": 0.0, "spearman": 0.0}
                if chosen is not None:
                    parts |= _correlations(chosen, a, b, x, y)
            for measure, value in parts.items():
                tables[measure][i, j] = tables[measure][j, i] = value
    return tables


def _kept_together(pair: Pair) -> frozenset[str]:
    """The sensitive attributes whose values are those of the original, record by record, with nobody left out."""
    links = pair.links
    whole = links is not None and bool((links.released >= 0).all())
    return pair.kept if whole and pair.released.total == pair.original.total else frozenset()


def _shown(pair: Pair, classes: EquivalenceClasses, names: tuple[str, str]) -> EquivalenceClasses | None:
    """The classes in which neither attribute is suppressed; ``None`` if there are none."""
    keep = np.ones(len(classes), dtype=bool)
    for name in names:
        if name in pair.names:
            at = pair.original.index(name)
            keep &= ~pair.meanings[at].suppressed[classes.codes[at]]
    if not keep.any():
        return None
    return classes if keep.all() else classes.subset(np.flatnonzero(keep))


def _numbers(meaning: Meaning, released: bool) -> FloatArray:
    return meaning.centre if released else meaning.original.numbers


def _correlations(
    classes: EquivalenceClasses, a: str, b: str, x: FloatArray, y: FloatArray
) -> dict[str, float]:
    """Pearson's and Spearman's correlation over the records where both are numbers; 0 if one is constant."""
    _, first = classes.column_of_cells(a)
    _, second = classes.column_of_cells(b)
    known = ~np.isnan(x[first]) & ~np.isnan(y[second])
    counts = classes.counts[known].astype(np.float64)
    left, right = x[first][known], y[second][known]
    return {
        "pearson": _pearson(left, right, counts),
        "spearman": _pearson(midranks(left, counts), midranks(right, counts), counts),
    }


def _pearson(x: FloatArray, y: FloatArray, counts: FloatArray) -> float:
    if not len(x) or bool((x == x[0]).all()) or bool((y == y[0]).all()):
        return 0.0
    x = x - np.average(x, weights=counts)
    y = y - np.average(y, weights=counts)
    spread = float(np.sqrt(np.dot(counts, x * x)) * np.sqrt(np.dot(counts, y * y)))
    return float(np.clip(np.dot(counts, x * y) / spread, -1.0, 1.0))


def midranks(values: FloatArray, counts: NDArray[np.number]) -> FloatArray:
    """The rank of each value, equal ones sharing the mean of theirs; each stands for ``counts`` records.

    >>> midranks(np.array([5.0, 7.0, 5.0]), np.array([1, 1, 1]))
    array([1.5, 3. , 1.5])
    """
    unique, where = np.unique(values, return_inverse=True)
    sizes = np.bincount(where, weights=counts, minlength=len(unique))
    return np.asarray((np.cumsum(sizes) - (sizes - 1) / 2)[where])
