"""What every builder of hierarchies is: parameters without data, that make a hierarchy from a domain."""

from __future__ import annotations

import dataclasses
import itertools
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.plain import plain
from discreet.sentences import Sentence
from discreet.table.domain import MISSING_MARKS, Domain
from discreet.table.hierarchies.hierarchy import ROOT, Hierarchy
from discreet.types import AnyIntArray, BoolArray, FloatArray, Int32Array, IntArray

LARGEST_RATIO = 2.0**53
"""Beyond this a ratio of two steps is not exact."""
Level = tuple[Int32Array, Sequence[str]]
"""The node of each leaf, and the label of each node."""


class Builder(ABC):
    """Makes a hierarchy from the values of a column. Builders are frozen dataclasses of parameters."""

    id: ClassVar[str]
    """The name in a policy file."""

    @abstractmethod
    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        """The hierarchy over the values of a domain; ``totals`` are the records per value, if known."""

    def parameters(self) -> dict[str, object]:
        """The parameters that are not left at their defaults."""
        changed = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # every builder is a dataclass
            value = getattr(self, field.name)
            if field.default is dataclasses.MISSING or value != field.default:
                changed[field.name] = value
        return changed

    def to_dict(self) -> dict[str, object]:
        """The builder as a policy file names it."""
        return {"builder": self.id, **plain(self.parameters())}


# ── parameters ────────────────────────────────────────────────────────────────────────────────────────


def check_numbers(builder: str, name: str, given: object, *, positive: bool = True) -> tuple[float, ...]:
    """A parameter that is a list of finite numbers."""
    listed = given if isinstance(given, list | tuple) else None
    if listed is None or not all(_is_number(number) and (number > 0 or not positive) for number in listed):
        raise InvalidParameter(
            Sentence("{name} of {builder} must be a list of positive numbers", name=name, builder=builder)
            if positive
            else Sentence("{name} of {builder} must be a list of numbers", name=name, builder=builder),
            remedy=Sentence("write for example {name} = [5, 10, 20]", name=name),
        )
    return tuple(listed)


def check_counts(builder: str, name: str, given: object) -> tuple[int, ...]:
    """A parameter that is a list of whole numbers above zero."""
    counts = check_numbers(builder, name, given)
    if any(count != int(count) for count in counts):
        raise InvalidParameter(
            Sentence("{name} of {builder} must be whole numbers", name=name, builder=builder),
            remedy=Sentence("write for example {name} = [2, 4]", name=name),
        )
    return tuple(int(count) for count in counts)


def check_number(builder: str, name: str, given: object) -> float | None:
    """A parameter that is one finite number, or is not given."""
    if given is not None and not _is_number(given):
        raise InvalidParameter(
            Sentence("{name} of {builder} must be a number", name=name, builder=builder),
            remedy="write for example 18",
        )
    return given  # type: ignore[return-value]  # just checked


def check_multiples(builder: str, name: str, steps: Sequence[float]) -> tuple[int, ...]:
    """How many times each step goes into the next: it must be a whole number, or levels would not nest.

    >>> check_multiples("intervals", "widths", [5, 10, 40])
    (2, 4)
    """
    ratios = []
    for finer, coarser in itertools.pairwise(steps):
        ratio = coarser / finer
        if not 1.5 < ratio < LARGEST_RATIO or not math.isclose(ratio, round(ratio), rel_tol=1e-9):
            raise InvalidParameter(
                Sentence(
                    "{name} of {builder} do not nest: {coarser:g} is not a multiple of {finer:g}",
                    name=name,
                    builder=builder,
                    coarser=coarser,
                    finer=finer,
                ),
                remedy=Sentence(
                    "let each of the {name} be a multiple of the one before, e.g. 5, 10, 20", name=name
                ),
            )
        ratios.append(round(ratio))
    return tuple(ratios)


def check_text(builder: str, name: str, given: object, *, choices: Sequence[str] = ()) -> str:
    """A parameter that is a text, possibly one of a few."""
    if not isinstance(given, str) or (choices and given not in choices):
        raise InvalidParameter(
            Sentence(
                "{name} of {builder} must be one of: {choices}",
                name=name,
                builder=builder,
                choices=tuple(choices),
            )
            if choices
            else Sentence("{name} of {builder} must be a text", name=name, builder=builder),
            remedy="correct it",
        )
    return given


def _is_number(value: object) -> bool:
    # Whole numbers may be larger than any float.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


# ── values ────────────────────────────────────────────────────────────────────────────────────────────


def texts(domain: Domain) -> list[str]:
    """The printed values of a domain, without the null."""
    return [str(value) for value in domain.values.to_pylist()]


def marks(labels: Sequence[str]) -> BoolArray:
    """Which values only say that one is missing or suppressed: they stay apart up to the root, as nulls do."""
    silent = {*MISSING_MARKS, ROOT}
    return np.fromiter((label in silent for label in labels), dtype=bool, count=len(labels))


def numbers(domain: Domain, builder: str) -> tuple[FloatArray, BoolArray, bool]:
    """The values as numbers, which of them are missing marks, and whether all are whole."""
    if pa.types.is_temporal(domain.values.type):
        raise UnsuitableColumn(
            Sentence(
                "the column {name!r} holds dates or times, not numbers, which {builder} needs",
                name=domain.name,
                builder=builder,
            ),
            remedy="choose the builder dates",
        )
    values = domain.numbers[: len(domain.values)]
    apart = np.isnan(values)
    if len(values) and not domain.holds_numbers:
        raise UnsuitableColumn(
            Sentence(
                "the column {name!r} has {count:,} values that are not numbers, which {builder} needs",
                name=domain.name,
                count=int(apart.sum()),
                builder=builder,
            ),
            remedy="choose another builder, or one that is learned from the data",
        )
    if np.isinf(values).any():
        raise UnsuitableColumn(
            Sentence(
                "the column {name!r} has infinite values, which {builder} cannot place",
                name=domain.name,
                builder=builder,
            ),
            remedy="replace them by missing values",
        )
    return values, apart, is_whole(domain, values)


def is_whole(domain: Domain, values: FloatArray) -> bool:
    """Whether a column holds whole numbers only, also by the way they are written.

    >>> import pyarrow as pa
    >>> [is_whole(d, d.numbers) for d in (Domain("x", pa.array([1, 2])), Domain("x", pa.array([1.0, 2.0])))]
    [True, False]
    """
    if pa.types.is_floating(domain.values.type):
        return False
    real = values[~np.isnan(values)]
    whole = bool((real == np.floor(real)).all())
    return whole and not (
        domain.is_text and any("." in text or "e" in text.lower() for text in texts(domain))
    )


def known_totals(domain: Domain, totals: AnyIntArray | None) -> FloatArray:
    """Records per value; every value counts once if they are not known."""
    size = len(domain.values)
    if totals is None or not np.asarray(totals)[:size].sum():
        return np.ones(size)
    return np.asarray(totals, dtype=np.float64)[:size]


def make_level(keys: IntArray, name: Callable[[int], str], apart: BoolArray, leaves: Sequence[str]) -> Level:
    """A level of the nodes that share a key; leaves that stand apart keep their own label."""
    distinct, inverse = np.unique(keys[~apart], return_inverse=True)
    codes = np.empty(len(keys), dtype=np.int32)
    codes[~apart] = inverse
    codes[apart] = len(distinct) + np.arange(int(apart.sum()))
    labels = [name(int(key)) for key in distinct]
    return codes, [*labels, *(leaves[at] for at in np.flatnonzero(apart).tolist())]


def finish(domain: Domain, leaves: Sequence[str], levels: Sequence[Level]) -> Hierarchy:
    """The hierarchy with these levels and a root; one without leaves gets the root as its only one."""
    if not leaves:
        return Hierarchy.of(domain.name, [(ROOT, ROOT)])
    return Hierarchy.of_levels(domain.name, leaves, levels)
