"""What every step of perturbation is: parameters without data, that change columns of rows."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.perturb.chances import ColumnValues
from discreet.perturb.randomness import Randomness
from discreet.plain import plain
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS
from discreet.types import FloatArray, IntArray

NO_GUARANTEE = Sentence("no formal guarantee")
EXACT = 2**53
"""Beyond this whole numbers are not exact as floats."""
MOST_DECIMALS = 6
"""With more decimals than this a column has no grid."""


@dataclass(frozen=True)
class Perturbation(ABC):
    """One step of perturbation. ``columns`` are changed; frozen, without data.

    ``keeps`` says in words what holds for every table, and is checked on the written file. ``guarantee`` is what an intruder
    cannot do, whatever else is known.
    """

    id: ClassVar[str]
    """The name in a policy file."""
    title: ClassVar[str]
    says: ClassVar[str]
    keeps: ClassVar[str]
    source: ClassVar[str]
    random: ClassVar[bool] = True
    """Whether chance decides: another run gives another release."""
    one_row_each: ClassVar[bool] = False
    """Whether what it guarantees holds only for people with one row each."""
    seen_as_a_whole: ClassVar[bool] = False
    """Whether what it keeps can be seen only as long as no later step changed a column that it read."""

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        listed = names_of(self.id, "columns", self.columns)
        object.__setattr__(self, "columns", listed)
        if not listed or not all(isinstance(name, str) and name for name in listed):
            raise InvalidParameter(
                Sentence("{step} names no column", step=self.id), remedy='write columns = ["age", …]'
            )
        if len(set(listed)) < len(listed):
            raise InvalidParameter(
                Sentence("{step} names a column twice", step=self.id), remedy="name each column once"
            )
        for parameter in dataclasses.fields(self):
            if isinstance(parameter.default, bool):
                need_flag(self.id, parameter.name, getattr(self, parameter.name))
        self.check()

    def check(self) -> None:  # noqa: B027  # a step may have no further parameters
        """Refuse parameters that make no sense; called for every new step."""

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that the step reads."""
        return self.columns

    @abstractmethod
    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        """The new values of the columns, row by row."""

    def guarantee(self, rows: pa.Table) -> str:
        """What an intruder cannot do, whatever else is known."""
        return NO_GUARANTEE

    def certainty(self, rows: pa.Table) -> str:
        """How closely a released value alone tells the true one, or nothing where that is not known."""
        return ""

    def shortfall(self, rows: pa.Table, new: Mapping[str, pa.Array]) -> str:
        """What the step set out to do and could not on these rows, or nothing."""
        return ""

    @abstractmethod
    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        """What of ``keeps`` does not hold, or nothing.

        ``before`` are the rows that the step was given, ``after`` those of a written file, of which row i was row
        ``places[i]`` of the former; it has those columns of the step that are shown as the step left them.
        """

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray | None:
        """How likely each true value of a column becomes each released one, as a logarithm, up to a constant for each row.

        Nothing, where the released value says nothing about the true one, or the method is too involved to reckon with.
        """
        return None

    def describe(self) -> str:
        """The step on one line.

        >>> from discreet.perturb.swapping import RankSwap
        >>> RankSwap(("age",), percent=5).describe()
        'rank-swap of age (percent=5)'
        """
        given = ", ".join(
            f"{name}={value}"
            for name, value in self.parameters().items()
            if name not in ("columns", "matrix")
        )
        return f"{self.id} of {', '.join(self.columns)}{f' ({given})' if given else ''}"

    def parameters(self) -> dict[str, object]:
        """The parameters, also those at their defaults: a recipe says all of them."""
        stated = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: value for name, value in stated.items() if value is not None and value != ()}

    def to_dict(self) -> dict[str, object]:
        """The step as a policy file or a recipe names it."""
        return {"method": self.id, **plain(self.parameters())}

    def fit(self, rows: pa.Table) -> None:
        """Refuse rows that lack a column of the step."""
        for name in self.needed:
            if name not in rows.column_names:
                raise UnknownColumn(name, rows.column_names)


# ── parameters ────────────────────────────────────────────────────────────────────────────────────────


def need_number(
    step: str, name: str, given: object, *, above: float = 0.0, most: float = math.inf, allow: bool = False
) -> float:
    """A parameter above a number (or equal to it, if allowed) and at most another."""
    fits = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    if not fits or not ((given > above or (allow and given == above)) and given <= most):  # type: ignore[operator]
        limits = (
            Sentence("at least {bound:g}", bound=above) if allow else Sentence("above {bound:g}", bound=above)
        )
        if not math.isinf(most):
            limits = Sentence("{least} and at most {most:g}", least=limits, most=most)
        raise InvalidParameter(
            Sentence("{name} of {step} must be a number {limits}", name=name, step=step, limits=limits),
            remedy="correct it",
        )
    return float(given)  # type: ignore[arg-type]


def need_choice(step: str, name: str, given: object, choices: Sequence[str]) -> None:
    """A parameter that is one of a few words."""
    if given not in choices:
        raise InvalidParameter(
            Sentence("{name} of {step} is no choice that it has", name=name, step=step),
            remedy=Sentence("choose one of: {choices}", choices=tuple(choices)),
        )


def need_flag(step: str, name: str, given: object) -> None:
    """A parameter that is true or false; a word such as "no" would count as true."""
    if not isinstance(given, bool):
        raise InvalidParameter(
            Sentence("{name} of {step} is neither true nor false", name=name, step=step),
            remedy=Sentence("write {name} = true or {name} = false", name=name),
        )


def names_of(step: str, name: str, given: object) -> tuple[str, ...]:
    """A parameter that is a list of columns."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise InvalidParameter(
            Sentence("{name} of {step} must be a list of columns", name=name, step=step), remedy="correct it"
        )
    return tuple(listed)


# ── columns ───────────────────────────────────────────────────────────────────────────────────────────


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def numbers(rows: pa.Table, name: str, step: str) -> FloatArray:
    """The values of a column of numbers, NaN where there is none."""
    column = whole(rows[name])
    if not is_number(column.type):
        raise UnsuitableColumn(
            Sentence(
                "the column {name!r} does not hold numbers only, which {step} needs", name=name, step=step
            ),
            remedy="leave it out of this step, or read its missing marks as null (missing)",
        )
    values = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    # A constant column needs no room, a huge one has no exact numbers.
    if np.isinf(values).any() or (
        pa.types.is_integer(column.type) and np.nanmax(np.abs(values), initial=0) > EXACT
    ):
        raise UnsuitableColumn(
            Sentence(
                "the column {name!r} holds numbers that are infinite or too large, so {step} cannot change them",
                name=name,
                step=step,
            ),
            remedy="leave it out of this step",
        )
    return values


def ordered(rows: pa.Table, name: str, step: str) -> FloatArray:
    """The values of a column of numbers, dates or times as numbers that keep their order, NaN where there is none.

    Nanoseconds count as microseconds: floats would not hold them.
    """
    column = whole(rows[name])
    if pa.types.is_date(column.type):
        rows = pa.table({name: column.cast(pa.date32()).cast(pa.int32())})
    elif pa.types.is_timestamp(column.type):
        coarse = (
            column.cast(pa.timestamp("us", column.type.tz), safe=False)
            if column.type.unit == "ns"
            else column
        )
        rows = pa.table({name: pc.cast(coarse, pa.int64(), safe=False)})
    elif pa.types.is_boolean(column.type):
        rows = pa.table({name: column.cast(pa.int8())})
    return numbers(rows, name, step)


def decimals(values: FloatArray) -> int | None:
    """With how many decimals all values are written, if these are few.

    >>> decimals(np.array([1.5, 2.25, np.nan])), decimals(np.array([1.0, 30.0])), decimals(np.array([1 / 3]))
    (2, 0, None)
    """
    known = np.unique(values[~np.isnan(values)])
    for places in range(MOST_DECIMALS + 1):
        scaled = known * 10.0**places
        if (np.abs(scaled - np.round(scaled)) <= 1e-12 + 4e-16 * np.abs(scaled)).all():
            return places
    return None


def on_grid(values: FloatArray, like: pa.Array, places: int | None) -> pa.Array:
    """New numbers with the type, the nulls and the decimals of a column."""
    rounded = values if places is None else np.round(values, places)
    made = pa.array(rounded, pa.float64(), mask=np.isnan(values))
    if pa.types.is_integer(like.type):
        low, high = _limits(like.type)
        return pc.cast(pa.array(np.clip(np.round(values), low, high), mask=np.isnan(values)), like.type)
    if pa.types.is_decimal(like.type):
        return pc.round(made, ndigits=like.type.scale).cast(like.type, safe=False)
    return made.cast(like.type, safe=False)


def has_room(values: FloatArray, kind: pa.DataType) -> bool:
    """Whether a type holds new numbers without cutting them off at its ends; only whole numbers have such ends."""
    if not pa.types.is_integer(kind):
        return True
    low, high = _limits(kind)
    rounded = np.round(values[~np.isnan(values)])
    return bool(((rounded >= low) & (rounded <= high)).all())


def _limits(kind: pa.DataType) -> tuple[float, float]:
    limits = np.iinfo(kind.to_pandas_dtype())
    return max(float(limits.min), -float(EXACT)), min(float(limits.max), float(EXACT))


def groups(rows: pa.Table, names: Sequence[str]) -> IntArray:
    """A number for each row, the same where all of some columns are the same; a null is a value like any other."""
    number = np.zeros(rows.num_rows, dtype=np.int64)
    for name in names:
        column = whole(rows[name])
        if pa.types.is_nested(column.type):
            raise UnsuitableColumn(
                Sentence("the column {name!r} holds lists, which form no groups", name=name),
                remedy="group by other columns",
            )
        codes = pc.dictionary_encode(column, null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        number = np.unique(number * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return number.astype(np.int64)


def without_marks(column: pa.Array) -> pa.Array:
    """A column of text with nulls in place of marks for missing values; any other as it is."""
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    missing = pc.is_in(column, value_set=pa.array(list(MISSING_MARKS), column.type))
    return pc.if_else(missing, pa.scalar(None, column.type), column)


def released_numbers(after: pa.Table, name: str, like: pa.Table) -> FloatArray | None:
    """What a written file shows of a column of numbers, dates or times; nothing if it shows something else."""
    column, wanted = whole(after[name]), whole(like[name]).type
    try:
        shown = column if column.type == wanted else column.cast(wanted)
        return ordered(pa.table({name: shown}), name, "a step")
    except (pa.ArrowException, UnsuitableColumn):
        return None
