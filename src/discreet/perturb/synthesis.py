"""Artificial values without a formal guarantee: by trees, by a Gaussian copula, by the table of combinations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import Perturbation, groups, names_of, need_number, ordered, whole
from discreet.perturb.randomness import Randomness
from discreet.perturb.trees import MOST_GROWN, TreeTarget, lenders
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

BINS = 256
"""Numbers are cut between so many equally frequent parts at most."""
MOST_CLASSES = 32
"""Of a category with more values the rarer ones count as one when a tree is grown."""


@dataclass(frozen=True)
class Synthesis(Perturbation):
    """Values of ``columns`` that a model of the table draws anew for every record, from those that ``given`` columns have there.

    Without ``given`` whole records are artificial. With ``rarer`` only those records are drawn anew that fewer than so many
    agree with in all these columns (a hybrid of true and artificial records); the model still learns of all. Every value is lent
    by a record of the table.
    """

    redrawn: ClassVar[bool] = True
    """Whether the values of some records may be drawn again, until they keep the rules of the table."""

    given: tuple[str, ...] = ()
    rarer: int | None = None

    def check(self) -> None:
        object.__setattr__(self, "given", names_of(self.id, "given", self.given))
        if self.rarer is not None and need_number(self.id, "rarer", self.rarer, above=2, allow=True) != int(
            self.rarer
        ):
            raise InvalidParameter(
                Sentence("rarer of {step} must be a whole number", step=self.id), remedy="write for example 3"
            )
        if set(self.given) & set(self.columns):
            raise InvalidParameter(
                Sentence("{step} has a column that is both given and drawn", step=self.id),
                remedy="name it in columns or in given",
            )

    @property
    def needed(self) -> tuple[str, ...]:
        return (*self.columns, *self.given)

    @abstractmethod
    def lent(self, rows: pa.Table, randomness: Randomness) -> dict[str, IntArray]:
        """For each column, record by record, the record whose value it takes."""

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        if not rows.num_rows:
            return {name: whole(rows[name]) for name in self.columns}
        lent = self.lent(rows, randomness)
        if self.rarer is not None:
            alike = groups(rows, self.needed)
            common = np.bincount(alike)[alike] >= self.rarer
            lent = {name: np.where(common, np.arange(rows.num_rows), lent[name]) for name in self.columns}
        return {name: whole(rows[name]).take(pa.array(lent[name])) for name in self.columns}

    def guarantee(self, rows: pa.Table) -> str:
        if self.rarer is not None:
            return Sentence("no formal guarantee: only records that stand out are artificial")
        return Sentence("no formal guarantee: artificial values follow from the data")

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            if strange_combinations(before.select([name]), after.select([name])):
                return f"{name} shows values that the column did not have"
        return ""


@dataclass(frozen=True)
class SyntheticTrees(Synthesis):
    """One column after another is drawn by a tree (CART) that predicts it from the ``given`` ones and those before it.

    A record takes the value of a record of the table that falls into the same leaf, of at least ``leaf`` records. Trees are grown
    on the true values, at most 50,000 records of them, and followed by the artificial ones.
    Reiter, "Using CART to generate partially synthetic public use microdata", J. Official Statistics 21, 2005; Nowok, Raab and Dibben,
    "synthpop", J. Statistical Software 74, 2016.

    >>> rows = pa.table({"sex": ["f", "m"] * 10, "pay": [1, 2] * 10})
    >>> new = SyntheticTrees(("pay",), given=("sex",)).changed(rows, Randomness(1))
    >>> new["pay"].to_pylist() == [1, 2] * 10
    True
    """

    id: ClassVar[str] = "synthetic-trees"
    title: ClassVar[str] = "artificial values by trees"
    says: ClassVar[str] = "Each value is drawn anew among records that are alike in the columns before it."
    keeps: ClassVar[str] = "every value is one that the column has"
    source: ClassVar[str] = "Reiter, Using CART to generate partially synthetic public use microdata, 2005"

    leaf: int = 5

    def check(self) -> None:
        super().check()
        need_number(self.id, "leaf", self.leaf, above=1, allow=True)
        if not isinstance(self.leaf, int):
            raise InvalidParameter(
                Sentence("leaf of {step} must be a whole number", step=self.id), remedy="correct it"
            )

    def lent(self, rows: pa.Table, randomness: Randomness) -> dict[str, IntArray]:
        everybody = np.arange(rows.num_rows)
        grown = everybody
        if rows.num_rows > MOST_GROWN:
            grown = np.sort(randomness.permutation(rows.num_rows)[:MOST_GROWN])
        lent = dict.fromkeys(self.given, everybody)
        for name in self.columns:
            target = _target(rows, name, grown, self.id)
            codes = {other: _cuts(rows, other, target, grown, self.id) for other in lent}
            known = [codes[other][grown] for other in lent] or [np.zeros(len(grown), dtype=np.int64)]
            asked = [codes[other][lent[other]] for other in lent] or [np.zeros(rows.num_rows, dtype=np.int64)]
            lent[name] = grown[lenders(known, asked, target, leaf=self.leaf, randomness=randomness)]
        return {name: lent[name] for name in self.columns}


@dataclass(frozen=True)
class SyntheticCopula(Synthesis):
    """Values are drawn by a Gaussian copula: every column keeps its distribution, and their normal scores keep the correlations.

    The score of a value is Φ⁻¹((r - ½) / n) of its mean rank r among n (categories by their order in the table, which tells little: use
    trees where they matter). Scores are drawn by their correlation matrix, given those of the ``given`` columns, and a score
    z becomes the value of rank ⌈n Φ(z)⌉. Nelsen, "An introduction to copulas", 2006; Patki, Wedge, Veeramachaneni, "The
    synthetic data vault", 2016.

    >>> rows = pa.table({"x": list(range(100)), "y": list(range(0, 200, 2))})
    >>> new = SyntheticCopula(("x", "y")).changed(rows, Randomness(1))
    >>> bool(np.corrcoef(new["x"], new["y"])[0, 1] > 0.99)
    True
    """

    id: ClassVar[str] = "synthetic-copula"
    title: ClassVar[str] = "artificial values by a Gaussian copula"
    says: ClassVar[str] = (
        "Values are drawn anew so that distributions and correlations of ranks are about the same."
    )
    keeps: ClassVar[str] = "every value is one that the column has"
    source: ClassVar[str] = "Patki, Wedge and Veeramachaneni, The synthetic data vault, 2016"

    def lent(self, rows: pa.Table, randomness: Randomness) -> dict[str, IntArray]:
        from scipy.special import ndtr  # takes long to load: only when there are scores

        size = rows.num_rows
        codes = {name: ranked(rows, name, self.id) for name in self.needed}
        made = drawn_scores(codes, self.columns, randomness)
        lent = {}
        for at, name in enumerate(self.columns):
            order = np.lexsort((randomness.words(size), codes[name]))
            lent[name] = order[np.minimum((ndtr(made[:, at]) * size).astype(np.int64), size - 1)]
        return lent


@dataclass(frozen=True)
class SyntheticTable(Synthesis):
    """Combinations of ``columns`` are drawn from the table of their counts, among records with the same ``given`` values.

    Every combination that is shown is one that somebody has: it breaks the tie to the other columns, and to who is in the table how
    often, and hides no rare combination.

    >>> rows = pa.table({"sex": ["f", "m"], "job": ["a", "b"], "pay": [1, 2]})
    >>> SyntheticTable(("job", "pay"), given=("sex",)).changed(rows, Randomness(1))["job"].to_pylist()
    ['a', 'b']
    """

    id: ClassVar[str] = "synthetic-table"
    title: ClassVar[str] = "artificial values by the table of combinations"
    says: ClassVar[str] = "Combinations of values are drawn anew as often as they occur."
    keeps: ClassVar[str] = "every combination is one that records with the same given values have"
    source: ClassVar[str] = (
        "Rubin, Discussion: statistical disclosure limitation, J. Official Statistics 9, 1993"
    )

    def lent(self, rows: pa.Table, randomness: Randomness) -> dict[str, IntArray]:
        group = groups(rows, self.given)
        order = np.argsort(group, kind="stable")
        count = np.bincount(group)
        starts = np.cumsum(count) - count
        drawn = (randomness.uniform(rows.num_rows) * count[group]).astype(np.int64)
        return dict.fromkeys(self.columns, order[starts[group] + drawn])

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        there = [name for name in self.given if name in before.column_names]
        shown = after
        for name in there:
            shown = shown.append_column(name, before[name].take(pa.array(places)))
        if strange_combinations(before.select(shown.column_names), shown):
            return f"{', '.join(after.column_names)} show combinations that no such record has"
        return ""


def strange_combinations(before: pa.Table, after: pa.Table) -> bool:
    """Whether rows show a combination that others lack."""
    try:
        alike = after.cast(before.schema)
    except (pa.ArrowException, ValueError):
        return True
    codes = groups(pa.concat_tables([before, alike]), before.column_names)
    return not np.isin(codes[before.num_rows :], codes[: before.num_rows]).all()


def ranked(rows: pa.Table, name: str, step: str) -> IntArray:
    """A number for each value of a column, in its order; nulls are the last."""
    try:
        return np.unique(ordered(rows, name, step), return_inverse=True)[1].astype(np.int64)
    except UnsuitableColumn:
        return groups(rows, [name])


def drawn_scores(codes: Mapping[str, IntArray], drawn: Sequence[str], randomness: Randomness) -> FloatArray:
    """Normal scores of some columns, drawn by the correlations of all and given the scores of the others, record by record.

    With the correlation matrix R of the scores, y of the columns that are drawn and x of the others,
    y ~ N(R(y, x) R(x, x)⁻¹ x, R(y, y) - R(y, x) R(x, x)⁻¹ R(x, y)).
    """
    names = [*drawn, *(name for name in codes if name not in drawn)]
    scores = np.stack([_scores(codes[name]) for name in names], axis=1)
    spread = scores.std(axis=0)
    scaled = (scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    matrix, count = scaled.T @ scaled / len(scores), len(drawn)
    across = matrix[:count, count:]
    slopes = across @ np.linalg.pinv(matrix[count:, count:], hermitian=True) if len(names) > count else across
    values, vectors = np.linalg.eigh(matrix[:count, :count] - slopes @ across.T)
    noise = np.stack([randomness.normal(len(scores)) for _ in drawn], axis=1)
    made = noise @ (vectors * np.sqrt(np.clip(values, 0.0, None))).T + scaled[:, count:] @ slopes.T
    return np.asarray(made)


def _scores(codes: IntArray) -> FloatArray:
    """Normal scores by mean ranks."""
    from scipy.special import ndtri

    count = np.bincount(codes)
    middle = np.cumsum(count) - (count - 1) / 2
    return np.asarray(ndtri((middle[codes] - 0.5) / len(codes)))


def _target(rows: pa.Table, name: str, grown: IntArray, step: str) -> TreeTarget:
    """What a tree predicts of a column: numbers on a scale of their own, or which category it is."""
    try:
        numbers = ordered(rows, name, step)[grown]
    except UnsuitableColumn:
        codes = np.unique(groups(rows, [name])[grown], return_inverse=True)[1]
        count = np.bincount(codes)
        order = np.argsort(-count, kind="stable")
        place = np.empty(len(count), dtype=np.int64)
        place[order] = np.minimum(np.arange(len(count)), MOST_CLASSES - 1)
        return TreeTarget(np.eye(int(place.max()) + 1)[place[codes]])
    missing = np.isnan(numbers)
    middle = float(numbers[~missing].mean()) if not missing.all() else 0.0
    spread = float(numbers[~missing].std()) if not missing.all() else 0.0
    scaled = np.where(missing, 0.0, (numbers - middle) / (spread or 1.0))
    return TreeTarget(np.stack([scaled, missing.astype(np.float64)], axis=1))


def _cuts(rows: pa.Table, name: str, target: TreeTarget, grown: IntArray, step: str) -> IntArray:
    """Codes of a column in the order in which a tree cuts it: numbers in parts, categories by their mean of the target."""
    try:
        values = ordered(rows, name, step)
    except UnsuitableColumn:
        return _by_mean(groups(rows, [name]), target, grown)
    known = values[~np.isnan(values)]
    cuts: Sequence[float] | FloatArray = (
        np.unique(np.quantile(known, np.arange(1, BINS) / BINS)) if len(known) else []
    )
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right")).astype(
        np.int64
    )


def _by_mean(codes: IntArray, target: TreeTarget, grown: IntArray) -> IntArray:
    """Categories in the order of their mean of what varies most in the target."""
    most = target.columns[:, int(np.argmax(target.columns.var(axis=0)))]
    size = int(codes.max(initial=0)) + 1
    count = np.bincount(codes[grown], minlength=size)
    mean = np.bincount(codes[grown], weights=most, minlength=size) / np.maximum(count, 1)
    rank = np.empty(size, dtype=np.int64)
    rank[np.argsort(mean, kind="stable")] = np.arange(size)
    return rank[codes]
