"""PRAM: categories that become others by the probabilities of a matrix, which is published so that it can be reckoned with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import (
    Perturbation,
    groups,
    is_number,
    names_of,
    need_choice,
    need_number,
    whole,
)
from discreet.perturb.chances import ColumnValues
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

MOST_VALUES = 2_000
"""A matrix has the square of so many probabilities."""
TOLERANCE = 1e-9
BELIEFS = (0.01, 0.1, 0.5)
"""Chances before of which it is told what they may become."""
MOST_OPTIMISED = 60
"""An optimised matrix is found for so many values at most."""


@dataclass(frozen=True)
class Pram(Perturbation):
    """The post-randomisation method: value k becomes value l with the probability p(k, l).

    The matrix follows from ``keep``, the probability to stay (all other values are equally likely), from ``epsilon``
    (randomised response: keep = e^ε / (e^ε + m - 1) of m values, the most that keeps ε-local differential privacy), or is given
    as ``matrix``, a row of probabilities for each value. ``kind="invariant"`` makes of it one that keeps the shares of the
    values in expectation: Q(l, k) = p(k, l) π(k) / Σ p(j, l) π(j), and P·Q is applied. ``kind="optimised"`` takes, of all matrices
    that keep the shares and by which a released value is true with a chance of at most ``keep``, the one that changes least:
    Σ π(k) p(k, l) d(k, l), d the distance in order of numbers, 1 for others (`optimised`). ``within``: the shares
    (of an invariant or optimised matrix) are those of each group. A null stays a null. :func:`estimated_shares` gives the true shares.
    Gouweleeuw, Kooiman, Willenborg, de Wolf, "Post randomisation for statistical disclosure control", J. Official
    Statistics 14, 1998; Warner, "Randomized response", 1965.

    >>> rows = pa.table({"sex": ["f", "m", "f"]})
    >>> Pram(("sex",), keep=1.0).changed(rows, Randomness(1))["sex"].to_pylist()
    ['f', 'm', 'f']
    >>> Pram(("sex",), epsilon=1).guarantee(rows)
    'local differential privacy of sex with ε = 1 among the values that occur'
    """

    id: ClassVar[str] = "pram"
    title: ClassVar[str] = "post-randomisation (PRAM)"
    says: ClassVar[str] = "Each value becomes another with a known probability."
    keeps: ClassVar[str] = "every value is one of the matrix, and became what it may become"
    source: ClassVar[str] = "Gouweleeuw et al., Post randomisation for statistical disclosure control, 1998"

    keep: float | None = None
    epsilon: float | None = None
    matrix: Mapping[str, Mapping[str, float]] | None = None
    kind: Literal["plain", "invariant", "optimised"] = "plain"
    within: tuple[str, ...] = ()

    def check(self) -> None:
        ways = [name for name in ("keep", "epsilon", "matrix") if getattr(self, name) is not None]
        if len(ways) != 1:
            raise InvalidParameter(
                Sentence("{step} takes one of keep, epsilon and matrix", step=self.id),
                remedy="write for example keep = 0.9",
            )
        if self.keep is not None:
            need_number(self.id, "keep", self.keep, most=1, allow=True)
        if self.epsilon is not None:
            need_number(self.id, "epsilon", self.epsilon, most=100)
        if self.matrix is not None:
            _check_matrix(self.matrix)
        need_choice(self.id, "kind", self.kind, ("plain", "invariant", "optimised"))
        if self.kind == "optimised" and self.keep is None:
            raise InvalidParameter(
                Sentence("an optimised matrix of {step} follows from keep", step=self.id),
                remedy="say how sure one may be at most of a released value, such as keep = 0.8",
            )
        object.__setattr__(self, "within", names_of(self.id, "within", self.within))
        if self.within and self.kind == "plain":
            raise InvalidParameter(
                Sentence("within of {step} says nothing: every group has the same matrix", step=self.id),
                remedy='say kind = "invariant", or leave within out',
            )

    @property
    def needed(self) -> tuple[str, ...]:
        return (*self.columns, *(name for name in self.within if name not in self.columns))

    def values(self, rows: pa.Table, name: str) -> pa.Array:
        """The values that a column may have: those that occur, and those that the matrix names."""
        column = whole(rows[name])
        if pa.types.is_nested(column.type):
            raise UnsuitableColumn(
                Sentence(
                    "the column {name!r} holds lists, which {step} cannot change", name=name, step=self.id
                ),
                remedy="leave it out",
            )
        there = pc.unique(column).drop_null()
        there = there.take(pc.sort_indices(there))
        if len(there) > MOST_VALUES:
            raise UnsuitableColumn(
                Sentence(
                    "the column {name!r} has more than {most:,} values, too many for a matrix of {step}",
                    name=name,
                    most=MOST_VALUES,
                    step=self.id,
                ),
                remedy="round or generalise it first, or use another method",
            )
        if self.matrix is None:
            return there
        labels = {str(value) for value in there.to_pylist()}
        lacking = labels - set(self.matrix)
        if lacking:
            raise InvalidParameter(
                Sentence(
                    "the matrix of {step} lacks a row for {lacking} values of {name!r}",
                    step=self.id,
                    lacking=len(lacking),
                    name=name,
                ),
                remedy="give a row of probabilities for every value that occurs",
            )
        named = dict.fromkeys([*self.matrix, *(label for row in self.matrix.values() for label in row)])
        further = pa.array([label for label in named if label not in labels], pa.string())
        try:
            return pa.concat_arrays([there, further.cast(there.type)])
        except pa.ArrowException:
            raise InvalidParameter(
                Sentence(
                    "the matrix of {step} names values that {name!r} cannot hold", step=self.id, name=name
                ),
                remedy="name values of the column's type",
            ) from None

    def probabilities(self, labels: Sequence[str]) -> FloatArray:
        """The matrix over these values, before anything is made invariant: row k is what becomes of value k."""
        size = len(labels)
        if self.matrix is not None:
            at = {label: i for i, label in enumerate(labels)}
            made = np.eye(size)
            for label, row in self.matrix.items():
                made[at[label]] = 0.0
                for target, probability in row.items():
                    made[at[label], at[target]] = probability
            return made
        stay = self.keep
        if self.epsilon is not None:
            stay = 1.0 / (1.0 + (size - 1) * math.exp(-self.epsilon))
        assert stay is not None, "one of three ways was given"
        if size < 2:
            return np.eye(size)
        return np.full((size, size), (1.0 - stay) / (size - 1)) + np.eye(size) * (
            stay - (1.0 - stay) / (size - 1)
        )

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        group = groups(rows, self.within)
        new = {}
        for name in self.columns:
            values = self.values(rows, name)
            codes = pc.index_in(whole(rows[name]), value_set=values)
            missing = np.asarray(codes.is_null().to_numpy(zero_copy_only=False))
            before = np.asarray(codes.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
            after = before.copy()
            draws = randomness.uniform(len(before))
            for there, matrix in self._matrices(values, before, missing, group):
                after[there] = _drawn(matrix, before[there], draws[there])
            new[name] = values.take(pa.array(after, mask=missing))
        return new

    def _matrices(
        self, values: pa.Array, codes: IntArray, missing: BoolArray, group: IntArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """The records of each group that have a value, and the matrix of the group."""
        base = self.probabilities([str(value) for value in values.to_pylist()])
        order = np.argsort(group, kind="stable")
        for part in np.split(order, np.cumsum(np.bincount(group))[:-1]):
            there = part[~missing[part]]
            counts = np.bincount(codes[there], minlength=len(values))
            if self.kind == "plain" or not len(there):
                yield there, base
            elif self.kind == "invariant":
                yield there, invariant(base, counts)
            else:
                yield there, optimised(counts, float(self.keep or 0.0), ordered=is_number(values.type))

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray | None:
        labels = list(dict.fromkeys([*seen.labels, *true.labels]))
        named = set(self.matrix or labels)
        if self.matrix is not None and not {*seen.labels, *true.labels} <= named | {
            label for row in self.matrix.values() for label in row
        }:
            return None
        matrix = self.probabilities(labels)
        counts = np.concatenate([seen.records, np.zeros(len(labels) - len(seen.labels))])
        if self.kind == "invariant":
            matrix = invariant(matrix, counts)
        elif self.kind == "optimised":
            numbers = np.concatenate([seen.low, true.low])
            order = np.argsort(seen.low, kind="stable") if not np.isnan(numbers).any() else None
            try:
                matrix = _by_order(counts, float(self.keep or 0.0), order)
            except UnsuitableColumn:
                return None
        at = {label: i for i, label in enumerate(labels)}
        rows, columns = [at[label] for label in true.labels], [at[label] for label in seen.labels]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(matrix[np.ix_(rows, columns)]))

    def guarantee(self, rows: pa.Table) -> str:
        if self.kind != "plain":
            return Sentence("no formal guarantee: the matrix follows from the data")
        told = []
        for name in self.columns:
            labels = [str(value) for value in self.values(rows, name).to_pylist()]
            epsilon = local_epsilon(self.probabilities(labels))
            if math.isinf(epsilon):
                return Sentence("no formal guarantee: some value cannot become some other")
            # Which values there are is taken from the rows unless a matrix names them, and a null stays one.
            among = Sentence(" among the values that occur") if self.matrix is None else ""
            nulls = Sentence(" (which are missing is not protected)") if rows[name].null_count else ""
            told.append(
                Sentence(
                    "local differential privacy of {name} with ε = {epsilon}{among}{nulls}",
                    name=name,
                    epsilon=rounded_up(epsilon),
                    among=among,
                    nulls=nulls,
                )
            )
        return Sentence("{parts:; }", parts=tuple(told))

    def certainty(self, rows: pa.Table) -> str:
        if self.kind != "plain":
            return ""
        matrices = {
            name: self.probabilities([str(value) for value in self.values(rows, name).to_pylist()])
            for name in self.columns
        }
        return beliefs_told(matrices)

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            values = self.values(before, name)
            shown = whole(after[name])
            try:
                shown = shown if shown.type == values.type else shown.cast(values.type)
            except pa.ArrowException:
                return f"{name} shows values that the matrix does not have"
            given = pc.index_in(whole(before[name]), value_set=values).take(pa.array(places))
            new = pc.index_in(shown, value_set=values)
            if not (given.is_null().equals(new.is_null())):
                return f"{name} shows values that the matrix does not have"
            missing = np.asarray(whole(before[name]).is_null().to_numpy(zero_copy_only=False))
            codes = pc.index_in(whole(before[name]), value_set=values).fill_null(0)
            became = np.full(before.num_rows, -1, dtype=np.int64)
            became[places] = new.fill_null(-1).to_numpy(zero_copy_only=False)
            true = np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)
            for there, matrix in self._matrices(values, true, missing, groups(before, self.within)):
                shown_there = there[became[there] >= 0]
                if not (matrix[true[shown_there], became[shown_there]] > 0).all():
                    return f"{name} shows a value that the true one cannot become"
        return ""


def _check_matrix(matrix: Mapping[str, Mapping[str, float]]) -> None:
    """Refuse what is no matrix of probabilities."""
    if (
        not isinstance(matrix, Mapping)
        or not matrix
        or not all(isinstance(row, Mapping) for row in matrix.values())
    ):
        raise InvalidParameter(
            "the matrix of pram must have a row of probabilities for each value",
            remedy="write for example matrix = {f = {f = 0.9, m = 0.1}, m = {f = 0.1, m = 0.9}}",
        )
    for place, row in enumerate(matrix.values(), start=1):
        chances = list(row.values())
        numeric = all(isinstance(c, int | float) and not isinstance(c, bool) for c in chances)
        if not numeric or not all(0 <= c <= 1 for c in chances) or abs(sum(chances) - 1) > TOLERANCE:
            raise InvalidParameter(
                Sentence(
                    "row {place} of the matrix of pram is no list of probabilities that sum to 1", place=place
                ),
                remedy="let all of them be at least 0, and their sum 1",
            )


def _drawn(matrix: FloatArray, codes: IntArray, draws: FloatArray) -> IntArray:
    """What becomes of values, by their rows of the matrix."""
    made = codes.copy()
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    # Of no values there is no end either.
    stops = np.append(starts[1:], len(order))[: len(starts)]
    for start, stop in zip(starts, stops, strict=True):
        at = order[start:stop]
        running = np.cumsum(matrix[codes[at[0]]])
        # The last value that can be reached takes what rounding leaves.
        last = int(np.flatnonzero(matrix[codes[at[0]]] > 0)[-1])
        made[at] = np.minimum(np.searchsorted(running, draws[at], side="right"), last)
    return made


def invariant(matrix: FloatArray, counts: IntArray | FloatArray) -> FloatArray:
    """A matrix that keeps the shares of the values in expectation.

    >>> made = invariant(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([30, 10]))
    >>> (np.array([30, 10]) @ made).round(9).tolist()
    [30.0, 10.0]
    """
    counted = counts.astype(np.float64)
    reached = counted @ matrix
    back = (matrix * counted[:, None]).T / np.where(reached > 0, reached, 1.0)[:, None]
    # What is never reached is never left.
    back[reached <= 0] = np.eye(len(matrix))[reached <= 0]
    return np.asarray(matrix @ back)


def optimised(counts: IntArray | FloatArray, keep: float, *, ordered: bool = False) -> FloatArray:
    """Of all matrices that keep the shares, with which a released value is true with a chance of at most ``keep``, the gentlest.

    A linear programme: minimise Σ π(k) p(k, l) d(k, l) over rows of probabilities with Σ π(k) p(k, l) = π(l) and p(k, k) ≤ keep; since shares
    stay, P(true is k | released is k) = p(k, k). The distance d is that of places in their order, or 1. Values that nobody has
    stay what they are. Willenborg and de Waal, "Elements of statistical disclosure control", 2001, section 5.5 (PRAM by linear
    programming).

    >>> optimised(np.array([30, 10]), 0.8).round(9).tolist()
    [[0.8, 0.2], [0.6, 0.4]]
    >>> optimised(np.array([90, 10]), 0.5)
    Traceback (most recent call last):
    discreet.errors.UnsuitableColumn: one value is too frequent: no matrix that keeps the shares leaves a released value true with ...
    """
    from scipy.optimize import (
        linprog,
    )  # takes longer to load than the rest of the program: only when it is asked for
    from scipy.sparse import identity, kron, vstack

    made = np.eye(len(counts))
    there = np.flatnonzero(counts > 0)
    size = len(there)
    if size > MOST_OPTIMISED:
        raise UnsuitableColumn(
            Sentence(
                "a column has more than {most} values, too many for an optimised matrix", most=MOST_OPTIMISED
            ),
            remedy='round or generalise it first, or say kind = "invariant"',
        )
    if size < 2 or keep >= 1:
        return made
    share = counts[there] / counts.sum()
    if (share > 0.5).any() and float(share.max()) * (1 - keep) > 1 - float(share.max()) + TOLERANCE:
        raise _too_frequent()
    apart = np.abs(np.arange(size)[:, None] - np.arange(size)[None]) if ordered else 1.0 - np.eye(size)
    rows = kron(identity(size), np.ones((1, size)))
    columns = kron(share[None], identity(size))
    most = np.where(np.eye(size, dtype=bool), keep, 1.0).ravel()
    told = linprog(
        (share[:, None] * apart).ravel(),
        A_eq=vstack([rows, columns]).tocsr(),
        b_eq=np.concatenate([np.ones(size), share]),
        bounds=np.stack([np.zeros(size * size), most], axis=1),
        method="highs",
    )
    if told.x is None:
        raise _too_frequent()
    solved = np.clip(told.x.reshape(size, size), 0.0, 1.0)
    solved[solved < TOLERANCE] = 0.0
    made[np.ix_(there, there)] = solved / solved.sum(axis=1, keepdims=True)
    return made


def _too_frequent() -> UnsuitableColumn:
    return UnsuitableColumn(
        "one value is too frequent: no matrix that keeps the shares leaves a released value true with a chance of at most keep",
        remedy='allow a larger keep, or say kind = "invariant"',
    )


def _by_order(counts: FloatArray, keep: float, order: IntArray | None) -> FloatArray:
    """The optimised matrix of values that are listed in another order than their own."""
    if order is None:
        return optimised(counts, keep)
    place = np.concatenate([order, np.arange(len(order), len(counts))])
    made = np.empty((len(counts), len(counts)))
    made[np.ix_(place, place)] = optimised(counts[place], keep, ordered=True)
    return made


def local_epsilon(matrix: FloatArray) -> float:
    """ε of local differential privacy of a matrix: the largest log ratio of two probabilities to see the same value.

    >>> round(local_epsilon(np.array([[0.75, 0.25], [0.25, 0.75]])), 4)
    1.0986
    """
    seen = matrix[:, matrix.max(axis=0, initial=0.0) > 0]
    if not seen.size:
        return 0.0
    low, high = seen.min(axis=0), seen.max(axis=0)
    if (low <= 0).any():
        return 0.0 if len(matrix) < 2 else math.inf
    return float(np.log(high / low).max(initial=0.0))


def belief_bound(matrix: FloatArray, before: float) -> float:
    """What a belief about a person's true value may become at most once the released value is seen (ρ1-to-ρ2 breaches).

    Whoever gave a statement about it the chance ρ1 gives it at most ρ2 = γ ρ1 / (1 - ρ1 + γ ρ1), γ = e^ε the largest ratio of two
    probabilities to become the same value: no breach upward from ρ1 to anything above. That is by one value: of two that depend on each other,
    or of two rows of a person, the second begins at the ρ2 of the first. Evfimievski, Gehrke, Srikant, "Limiting
    privacy breaches in privacy preserving data mining", PODS 2003.

    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> round(belief_bound(coin, 0.5), 6), round(belief_bound(coin, belief_bound(coin, 0.5)), 6)
    (0.75, 0.9)
    """
    if not 0 <= before <= 1:
        raise InvalidParameter("a belief is no chance between 0 and 1", remedy="give for example 0.1")
    odds = local_epsilon(matrix)
    if math.isinf(odds):
        return 1.0 if before > 0 else 0.0
    # γ may be beyond what floats hold; its inverse is not.
    return before / (before + (1 - before) * math.exp(-odds)) if before > 0 else 0.0


def beliefs_told(matrices: Mapping[str, FloatArray]) -> str:
    """What beliefs about the columns of some matrices may become, in words; nothing of columns whose values may be certain.

    >>> print(beliefs_told({"sex": np.array([[0.75, 0.25], [0.25, 0.75]])}))
    who gives a statement about a person's true value a chance of 1 %, 10 % or 50 %, knowing all else, gives it after seeing the released one at most 2.95 %, 25 % or 75 % (sex)
    """
    told = tuple(
        Sentence(
            "{first} %, {second} % or {third} % ({column})",
            column=name,
            **{
                place: rounded_up(100 * belief_bound(matrix, before), 3)
                for place, before in zip(("first", "second", "third"), BELIEFS, strict=True)
            },
        )
        for name, matrix in matrices.items()
        if not math.isinf(local_epsilon(matrix))
    )
    if not told:
        return ""
    return Sentence(
        "who gives a statement about a person's true value a chance of 1 %, 10 % or 50 %, knowing all else, gives it after seeing "
        "the released one at most {told}",
        told=told,
    )


def rounded_up(epsilon: float, digits: int = 4) -> str:
    """An ε as it is told: with few digits, and never less than it is.

    >>> rounded_up(1.0981), rounded_up(1.0), rounded_up(0.00012341), rounded_up(0.0)
    ('1.099', '1', '0.0001235', '0')
    """
    if epsilon <= 0:
        return "0"
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(epsilon)))
    # A logarithm is right to some fifteen digits: what lies above by less is the number itself.
    return f"{math.ceil(epsilon * scale * (1 - 1e-12)) / scale:.{digits}g}"


def estimated_shares(matrix: FloatArray, released: IntArray) -> tuple[FloatArray, FloatArray]:
    """The true shares of the values as a released count tells them, and their standard errors.

    π̂ = (Pᵀ)⁻¹ λ̂, unbiased; given the true counts T the released ones vary by Σ T(k) (diag p(k) - p(k) p(k)ᵀ), in which
    T is estimated, too. Shares may come out below 0 where few records are counted.

    >>> shares, errors = estimated_shares(np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([56, 44]))
    >>> shares.round(3).tolist(), errors.round(3).tolist()
    ([0.6, 0.4], [0.067, 0.067])
    """
    if np.linalg.cond(matrix) > 1e12:
        raise InvalidParameter(
            "the matrix of pram has no inverse, so the true shares cannot be told from released ones",
            remedy="let values stay more often than they become any other one",
        )
    total = released.sum()
    back = np.linalg.inv(matrix.T)
    shares = back @ (released / total)
    true = np.clip(shares, 0.0, None) * total
    spread = np.diag(true @ matrix) - (matrix * true[:, None]).T @ matrix
    return shares, np.sqrt(np.clip(np.diag(back @ spread @ back.T), 0.0, None)) / total
