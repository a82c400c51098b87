"""Numbers of whole records by what groups or axes have in common: condensation, and projection by singular values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import (
    Perturbation,
    decimals,
    has_room,
    need_number,
    numbers,
    on_grid,
    released_numbers,
    whole,
)
from discreet.perturb.randomness import Randomness
from discreet.perturb.slicing import halved
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

BLOCK = 1_000
"""Neighbours are looked for among one to two times so many records, which halving along all columns puts together."""


@dataclass(frozen=True)
class _OfNumbers(Perturbation):
    """A step on several columns of numbers at once."""

    seen_as_a_whole: ClassVar[bool] = True

    def matrix(self, rows: pa.Table) -> FloatArray:
        """The numbers of all columns, record by record."""
        values = np.stack([numbers(rows, name, self.id) for name in self.columns], axis=1)
        if np.isnan(values).any():
            raise UnsuitableColumn(
                Sentence(
                    "records lack values in the columns of {step}, which needs all of them", step=self.id
                ),
                remedy="leave out columns with missing values, or fill them first",
            )
        return values

    def written(self, made: FloatArray, rows: pa.Table) -> dict[str, pa.Array]:
        """The columns of new numbers, with type and decimals of the old."""
        for at, name in enumerate(self.columns):
            kind = rows.schema.field(name).type
            if not has_room(made[:, at], kind):
                raise UnsuitableColumn(
                    Sentence(
                        "the type of the column {name!r} has no room for all numbers that {step} makes ({kind})",
                        name=name,
                        step=self.id,
                        kind=kind,
                    ),
                    remedy="give the column a wider type, such as int64",
                )
        return {
            name: on_grid(made[:, at], whole(rows[name]), decimals(numbers(rows, name, self.id)))
            for at, name in enumerate(self.columns)
        }

    def slack(self, rows: pa.Table, name: str) -> float:
        """How far rounding to the column's grid may move a number."""
        values = numbers(rows, name, self.id)
        places = decimals(values)
        largest = float(np.nanmax(np.abs(values), initial=0.0))
        return 1e-6 * max(largest, 1.0) if places is None else 0.51 * 10.0**-places + 1e-9 * largest


@dataclass(frozen=True)
class CondensedGroups:
    """Which group each record belongs to, and of each group the means and the covariances."""

    group: IntArray
    middles: FloatArray
    spreads: FloatArray


@dataclass(frozen=True)
class Condensation(_OfNumbers):
    """Groups of at least ``k`` neighbours become as many artificial records with the mean and, in expectation, the covariances of the group.

    Along each eigenvector of a group's covariance matrix numbers are drawn evenly with its eigenvalue as variance, and moved so
    that the mean of the group stays. Groups are formed from one record after another, with the k - 1 nearest that are left (columns on one
    scale); the last that are too few join the group before. With ``dynamic`` records are taken one by one, in their order, as they would
    arrive: each joins the group whose mean is nearest, and a group of 2k is split in two of k along its first eigenvector, as if its
    records were spread evenly along it. Of a group only means and covariances are used then: it need not be kept who was in it.
    Aggarwal and Yu, "A condensation approach to privacy preserving data mining", EDBT 2004.

    >>> rows = pa.table({"x": [1.0, 2.0, 30.0, 40.0], "y": [1.5, 2.5, 8.0, 9.0]})
    >>> Condensation(("x", "y"), k=2).grouped(rows).tolist()
    [0, 0, 1, 1]
    """

    id: ClassVar[str] = "condensation"
    title: ClassVar[str] = "condensation"
    says: ClassVar[str] = (
        "Groups of neighbours become as many artificial records with the same means and spread."
    )
    keeps: ClassVar[str] = (
        "every group of neighbours has the same means (dynamic: those reckoned when it was split), up to rounding"
    )
    source: ClassVar[str] = "Aggarwal and Yu, A condensation approach to privacy preserving data mining, 2004"

    k: int = 10
    dynamic: bool = False

    def check(self) -> None:
        need_number(self.id, "k", self.k, above=2, allow=True)
        if not isinstance(self.k, int):
            raise InvalidParameter(
                Sentence("k of {step} must be a whole number", step=self.id), remedy="correct it"
            )

    def grouped(self, rows: pa.Table) -> IntArray:
        """The group of each record."""
        return self.groups(rows).group

    def groups(self, rows: pa.Table) -> CondensedGroups:
        """The groups of all records, with what is used of each."""
        values = self.matrix(rows)
        if len(values) < self.k:
            raise UnsuitableColumn(
                Sentence("the table has fewer records than a group of {step} needs", step=self.id),
                remedy="ask for a smaller k",
            )
        spread = values.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        scaled = (values - values.mean(axis=0)) / scale
        ranks = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in scaled.T]
        least = max(BLOCK, self.k)
        block = halved(ranks, lambda part: len(part) >= least, len(values), least)
        order = np.argsort(block, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(block[order])) + 1)
        if self.dynamic:
            arrived = _arriving(scaled, parts, self.k)
            middles = values.mean(axis=0) + arrived.middles * scale
            return CondensedGroups(arrived.group, middles, arrived.spreads * np.outer(scale, scale))
        group = np.empty(len(values), dtype=np.int64)
        made = 0
        for left in parts:
            while len(left) >= 2 * self.k:
                far = ((scaled[left] - scaled[left[0]]) ** 2).sum(axis=1)
                near = np.argpartition(far, self.k - 1)[: self.k]
                group[left[near]] = made
                left = np.delete(left, near)
                made += 1
            group[left] = made
            made += 1
        members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
        middles = np.stack([values[part].mean(axis=0) for part in members])
        centred = [values[part] - middle for part, middle in zip(members, middles, strict=True)]
        return CondensedGroups(group, middles, np.stack([own.T @ own / len(own) for own in centred]))

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        grouped = self.groups(rows)
        noise = np.stack([randomness.flat(rows.num_rows) for _ in self.columns], axis=1)
        made = np.empty_like(noise)
        order = np.argsort(grouped.group, kind="stable")
        for number, part in enumerate(np.split(order, np.cumsum(np.bincount(grouped.group))[:-1])):
            drawn, middle = noise[part], grouped.middles[number]
            lengths, vectors = np.linalg.eigh(grouped.spreads[number])
            # Moved to the mean of the group they would spread a little less.
            even = (drawn - drawn.mean(axis=0)) * np.sqrt(len(part) / (len(part) - 1))
            made[part] = middle + (even * np.sqrt(np.clip(lengths, 0.0, None))) @ vectors.T
        return self.written(made, rows)

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        grouped = self.groups(before)
        group, size = grouped.group, np.bincount(grouped.group)
        whole_groups = np.bincount(group[places], minlength=len(size)) == size
        for name in after.column_names:
            shown = released_numbers(after, name, before)
            if shown is None or np.isnan(shown).any():
                return f"{name} shows other values than numbers"
            given = grouped.middles[:, self.columns.index(name)]
            new = np.bincount(group[places], weights=shown, minlength=len(size)) / size
            if (np.abs(given - new)[whole_groups] > self.slack(before, name)).any():
                return f"{name} shows a group with another mean"
        return ""


def _arriving(scaled: FloatArray, parts: Sequence[IntArray], k: int) -> CondensedGroups:
    """The groups of records that arrive one by one in each of some parts."""
    group = np.empty(len(scaled), dtype=np.int64)
    middles: list[FloatArray] = []
    spreads: list[FloatArray] = []
    for part in parts:
        stream = _Stream(scaled, k)
        for record in np.sort(part).tolist():
            stream.join(record)
        for number, members in enumerate(stream.members):
            group[members] = len(middles) + number
        middles += [*stream.middles]
        spreads += [*stream.spreads]
    return CondensedGroups(group, np.stack(middles), np.stack(spreads))


class _Stream:
    """Groups that records join, with the mean and the covariances of each."""

    def __init__(self, scaled: FloatArray, k: int) -> None:
        self._scaled, self._k = scaled, k
        width = scaled.shape[1]
        self.members: list[list[int]] = []
        self.middles = np.empty((0, width))
        self.spreads = np.empty((0, width, width))

    def join(self, record: int) -> None:
        """A record joins the group whose mean is nearest; one of 2k is split."""
        new = self._scaled[record]
        if not self.members:
            self.members, self.middles = [[record]], new[None].copy()
            self.spreads = np.zeros((1, len(new), len(new)))
            return
        away = new - self.middles
        at = int((away**2).sum(axis=1).argmin())
        count = len(self.members[at])
        share = 1.0 / (count + 1)
        self.middles[at] += share * away[at]
        self.spreads[at] = count * share * (self.spreads[at] + share * np.outer(away[at], away[at]))
        self.members[at].append(record)
        if count + 1 == 2 * self._k:
            self._split(at)

    def _split(self, at: int) -> None:
        """Two groups in place of one.

        Numbers that are even along an axis and have the variance v span the square root of 12 v: the middles of their halves are a
        quarter of that away from theirs, and each half has a quarter of the variance.
        """
        members, middle, spread = self.members[at], self.middles[at], self.spreads[at]
        lengths, vectors = np.linalg.eigh(spread)
        length, axis = max(float(lengths[-1]), 0.0), vectors[:, -1]
        apart = np.sqrt(12.0 * length) / 4.0 * axis
        inner = spread - 0.75 * length * np.outer(axis, axis)
        order = np.argsort(self._scaled[members] @ axis, kind="stable")
        self.members[at] = [members[i] for i in order[: self._k]]
        self.members.append([members[i] for i in order[self._k :]])
        self.middles = np.vstack([self.middles, middle + apart])
        self.middles[at] = middle - apart
        self.spreads[at] = inner
        self.spreads = np.concatenate([self.spreads, inner[None]])


@dataclass(frozen=True)
class SvdProjection(_OfNumbers):
    """Records are put onto the ``rank`` axes along which they vary most, and written in the columns again.

    The columns, each with mean 0 and deviation 1, are A = U S Vᵀ; what is shown is U(r) S(r) V(r)ᵀ on the old scale. ``sparse`` leaves out
    the entries of U and V that are smaller than this share of the largest of their axis. Means stay (without ``sparse``); it is the
    nearest table of that rank (Eckart and Young 1936). Xu, Zhang, Han, Wang, "Singular value decomposition based data
    distortion strategy for privacy protection", Knowledge and Information Systems 10, 2006.

    >>> rows = pa.table({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]})
    >>> SvdProjection(("x", "y"), rank=1).changed(rows, Randomness())["y"].to_pylist()
    [2.0, 4.0, 6.0]
    """

    id: ClassVar[str] = "svd"
    title: ClassVar[str] = "projection by singular values"
    says: ClassVar[str] = "Records keep what varies most in all columns together, and lose the rest."
    keeps: ClassVar[str] = "every record is its projection onto so many axes, up to rounding"
    source: ClassVar[str] = "Xu et al., Singular value decomposition based data distortion strategy, 2006"
    random: ClassVar[bool] = False

    rank: int
    sparse: float = 0.0

    def check(self) -> None:
        need_number(self.id, "rank", self.rank, above=1, allow=True)
        need_number(self.id, "sparse", self.sparse, above=0, most=1, allow=True)
        if not isinstance(self.rank, int) or self.rank >= len(self.columns):
            raise InvalidParameter(
                Sentence("rank of {step} must be a whole number below that of its columns", step=self.id),
                remedy="ask for fewer axes, or name more columns",
            )

    def projected(self, rows: pa.Table) -> FloatArray:
        """The new numbers, before they are rounded."""
        values = self.matrix(rows)
        if not len(values):
            return values
        middle, spread = values.mean(axis=0), values.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        left, lengths, right = np.linalg.svd((values - middle) / spread, full_matrices=False)
        left, right = left[:, : self.rank], right[: self.rank]
        if self.sparse:
            left = np.where(np.abs(left) < self.sparse * np.abs(left).max(axis=0), 0.0, left)
            right = np.where(
                np.abs(right) < self.sparse * np.abs(right).max(axis=1, keepdims=True), 0.0, right
            )
        return np.asarray((left * lengths[: self.rank]) @ right * spread + middle)

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        return self.written(self.projected(rows), rows)

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        made = self.projected(before)[places]
        for name in after.column_names:
            shown = released_numbers(after, name, before)
            if (
                shown is None
                or not (np.abs(shown - made[:, self.columns.index(name)]) <= self.slack(before, name)).all()
            ):
                return f"{name} shows values that are no projection"
        return ""
