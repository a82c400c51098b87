"""Which groups an answer shows: those that were given, or those that enough persons share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import pyarrow as pa

from discreet.dp.answer import Key
from discreet.dp.noise import laplace, threshold
from discreet.engine.question import Constant
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Column

PublicKeys = Mapping[str, Collection[object]]
MAX_GROUPS = 1_000_000
"""So many combinations of given keys are answered at most: all of them are, also those that nobody has."""
LARGEST = 10**39
"""No column of whole numbers holds more than 128 bits."""


def constants_of(column: Column, values: Collection[object]) -> list[Constant | None]:
    """Given values of a key as constants of the column's kind, each once."""
    return list(dict.fromkeys(_constant(column, value) for value in values))


def _constant(column: Column, value: object) -> Constant | None:
    if value is None:
        return None
    try:
        if column.storage in ("integer", "float"):
            return _number_of(column, Decimal(str(value)))
        if column.storage == "boolean":
            return {"true": True, "false": False}[str(value).lower()]
        if column.storage in ("date", "timestamp"):
            moment = datetime.fromisoformat(value.isoformat() if isinstance(value, date) else str(value))
            return moment.date().isoformat() if column.storage == "date" else moment.isoformat()
        return str(value)
    except (InvalidOperation, KeyError, OverflowError, ValueError):
        # Their words quote the value.
        raise InvalidParameter(
            Sentence("a given value of {name} is of another kind than the column", name=column.name),
            remedy="write numbers as numbers and dates as 2024-05-01",
        ) from None


def _number_of(column: Column, number: Decimal) -> Decimal:
    """A number that the column can hold. Two that the engine takes for one become one, or a group would be answered twice.

    >>> pay = Column("pay", "continuous", "float")
    >>> constants_of(pay, ["30", "30.00000000000000000001", 0.1])
    [Decimal('30.0'), Decimal('0.1')]
    >>> constants_of(Column("price", "continuous", "integer"), ["0.10", "0.1", 2])
    [Decimal('0.10'), Decimal('2')]
    """
    if column.storage == "integer":
        # Exact decimals of databases are kept so, too.
        if abs(number) >= LARGEST or (column.type == "integer" and number != number.to_integral_value()):
            raise ValueError
        return number
    nearest = float(number)
    if not math.isfinite(nearest):
        raise ValueError
    return Decimal(repr(nearest))


def plain_key(value: object) -> Key:
    """A key as Python has it: numbers as numbers, moments as texts; two that differ stay two.

    >>> plain_key(Decimal(2**53 + 1)) == 2**53 + 1, plain_key(2.0), plain_key(1e300)
    (True, 2, 1e+300)
    >>> plain_key(Decimal("0.10")), plain_key(Decimal("1.00000000000000000010"))
    (0.1, '1.0000000000000000001')
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal) and abs(value) < LARGEST and value == value.to_integral_value():
        return int(value)
    if isinstance(value, float | Decimal):
        number = float(value)
        if isinstance(value, Decimal) and Decimal(repr(number)) != value:
            # No float tells it from its neighbours, and two groups that become one would change by all of a group with one person.
            return str(value.normalize())
        return int(number) if number.is_integer() and abs(number) < 2**63 else number
    return value.isoformat() if isinstance(value, date) else str(value)


def groups_of(counted: pa.Table, keys: int) -> dict[tuple[Key, ...], int]:
    """The place of each group in what was counted; without keys all rows are one group."""
    if not keys:
        return {(): 0}
    columns = [counted[f"key{i}"].to_pylist() for i in range(keys)]
    return {tuple(map(plain_key, group)): place for place, group in enumerate(zip(*columns, strict=True))}


def public_groups(columns: Sequence[Column], given: PublicKeys) -> list[tuple[Key, ...]]:
    """Every combination of the given values, whoever has it."""
    lists = [
        list(dict.fromkeys(map(plain_key, constants_of(column, given[column.name])))) for column in columns
    ]
    total = math.prod(map(len, lists))
    if not total or total > MAX_GROUPS:
        raise InvalidParameter(
            Sentence("the given keys have {total:,} combinations", total=total),
            remedy=Sentence(
                "give at least one value each, and {most:,} combinations at most", most=MAX_GROUPS
            ),
        )
    return list(itertools.product(*lists))


def selected_groups(
    groups: Mapping[tuple[Key, ...], int],
    persons: Sequence[int],
    *,
    epsilon: Fraction,
    delta: Fraction,
    max_groups: int,
) -> tuple[list[tuple[Key, ...]], int]:
    """The groups whose noisy number of persons reaches a threshold, and the threshold.

    (ε, δ)-private: a person changes at most ``max_groups`` counts by one each, and a group that exists only because of them
    is shown with probability at most δ over all such groups (`noise.threshold`).
    """
    listed = list(groups)
    noisy = laplace([persons[groups[key]] for key in listed], sensitivity=max_groups, epsilon=epsilon)
    least = threshold(noisy.scale, delta, max_groups)
    return [key for key, count in zip(listed, noisy.values, strict=True) if count >= least], least


def in_order(groups: Sequence[tuple[Key, ...]]) -> list[tuple[Key, ...]]:
    """Groups by their keys: the order in which an engine gives them would say something about the rows."""
    return sorted(
        groups, key=lambda group: [(key is None, isinstance(key, str), _rank(key)) for key in group]
    )


def _rank(key: Key) -> tuple[float | int, str]:
    return (0, key) if isinstance(key, str) else (key or 0, "")
