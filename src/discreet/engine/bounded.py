"""Counts and sums in which no person has more than a stated part: the rows behind an answer with noise.

A person keeps at most ``max_rows`` rows in each of at most ``max_groups`` groups. Which ones depends on nothing but the
person's own rows, so that with or without a person everybody else's part stays the same: that is what the sensitivity
of an answer rests on. Values are clamped to given bounds and become whole numbers of a unit that follows from the bounds,
so that sums are exact in whatever order they are added. Nothing here can fail for one value and not for another: numbers are
compared as doubles, texts as texts, moments as moments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import pyarrow as pa

from discreet.engine.question import Condition, Constant, Junction, Predicate
from discreet.engine.relations import SqlRelations
from discreet.errors import UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table import Column, Table

LARGEST = 1 << 32
"""So many units has a value at most, so that sums over two thousand million rows fit into 64 bits."""
PRECISION = 20
"""A value that is no whole number is put on a grid of two to this power steps up to its bound."""


@dataclass(frozen=True)
class ValueGrid:
    """How values become whole numbers: clamped to ``low`` and ``high``, seen from ``centre``, counted in ``unit``.

    ``limit`` is the largest absolute whole number that a value can become.

    >>> ValueGrid.of(0, 120, whole=True)
    ValueGrid(low=0.0, high=120.0, centre=0.0, unit=1.0, limit=120)
    >>> ValueGrid.of(0, 120, whole=True, centred=True)
    ValueGrid(low=0.0, high=120.0, centre=60.0, unit=1.0, limit=60)
    >>> ValueGrid.of(0, 1, whole=False).limit == 2**19
    True
    """

    low: float
    high: float
    centre: float
    unit: float
    limit: int

    @classmethod
    def of(cls, low: float, high: float, *, whole: bool, centred: bool = False) -> ValueGrid:
        low, high = float(low), float(high)
        centre = (low + high) / 2 if centred else 0.0
        widest = max(abs(low - centre), abs(high - centre), 5e-300)
        unit = 2.0 ** (math.frexp(widest)[1] - PRECISION)
        if whole and low.is_integer() and high.is_integer() and widest <= LARGEST:
            unit = 1.0 if centre.is_integer() else 0.5
        return cls(low, high, centre, unit, math.ceil(widest / unit))


class BoundedCounting(SqlRelations):
    """The verb that counts and adds up what each person may contribute."""

    def bounded_groups(
        self,
        table: Table,
        *,
        keys: Sequence[str] = (),
        where: Condition | None = None,
        public: Mapping[str, Sequence[Constant | None]] | None = None,
        person: str | None = None,
        max_groups: int = 1,
        max_rows: int = 1,
        counts: Sequence[str] = (),
        sums: Sequence[tuple[str, ValueGrid]] = (),
        bins: tuple[str, ValueGrid] | None = None,
    ) -> pa.Table:
        """Per group ``rows``, ``persons``, ``count0`` … of columns that are not null and ``sum0`` … in units.

        Columns of the answer are ``key0`` … and, if values are to be sorted into ``bins``, ``bin``, which does not count
        as a group. Without a ``person`` each row is a person. Rows without a person id are taken for one person.
        """
        conditions = [] if where is None else [self._holds(where, table)]
        for name, given in (public or {}).items():
            conditions.append(self._holds(_listed_values(name, given), table))
        groups = {f"key{i}": self.dialect.value(table.column(name)) for i, name in enumerate(keys)}
        values = {f"value{i}": self.dialect.value(table.column(name)) for i, name in enumerate(counts)}
        values |= {f"units{i}": self._units(table.column(name), grid) for i, (name, grid) in enumerate(sums)}
        if bins is not None:
            values["bin"] = self._units(table.column(bins[0]), bins[1])
        shown = {**groups, **values}
        figures = ["count(*) AS rows"]
        figures += [f"count(value{i}) AS count{i}" for i in range(len(counts))]
        figures += [f"CAST(coalesce(sum(units{i}), 0) AS BIGINT) AS sum{i}" for i in range(len(sums))]
        if person is None:
            figures.append("count(*) AS persons")
        else:
            shown["person"] = self.dialect.value(table.column(person))
            figures.append(
                # Of no rows the maximum is null, and an answer that fails tells that there are none.
                "count(DISTINCT person) + coalesce(max(CASE WHEN person IS NULL THEN 1 ELSE 0 END), 0) AS persons"
            )
        listed = ", ".join(f"{value} AS {name}" for name, value in shown.items()) or "1 AS row"
        asked = f"SELECT {listed} FROM {table.relation}"
        if conditions:
            asked += f" WHERE {' AND '.join(conditions)}"
        steps = [f"asked AS ({asked})"]
        if person is not None:
            steps += self._kept_rows([*groups], [*values], max_groups, max_rows)
        by = [*groups, *(["bin"] if bins is not None else [])]
        grouping = f" GROUP BY {', '.join(by)}" if by else ""
        kept = "asked" if person is None else "kept"
        return self._fetch(
            f"WITH {', '.join(steps)} SELECT {', '.join([*by, *figures])} FROM {kept}{grouping}"
        )

    def _kept_rows(
        self, groups: Sequence[str], values: Sequence[str], max_groups: int, max_rows: int
    ) -> list[str]:
        """The steps that leave each person so many groups and rows.

        They are chosen by a hash of the person and of what the row has, never by where it stands: rows of others would
        move it. Rows that are equal in everything that counts are worth the same, whichever is kept.
        """
        return [
            f"ranked AS (SELECT *, row_number() OVER (PARTITION BY {', '.join(['person', *groups])} "
            f"ORDER BY {self._by_hash(values)}) AS nth_row, "
            f"dense_rank() OVER (PARTITION BY person ORDER BY {self._by_hash(groups)}) AS nth_group FROM asked)",
            f"kept AS (SELECT * FROM ranked WHERE nth_row <= {int(max_rows)} AND nth_group <= {int(max_groups)})",
        ]

    def _by_hash(self, names: Sequence[str]) -> str:
        """An order by a hash that differs from person to person, and by the cells where hashes are equal."""
        cells = [f"coalesce(CAST({name} AS {self.dialect.text}), '')" for name in ("person", *names)]
        return ", ".join([f"md5(concat({', '.join(cells)}))", *names])

    def _units(self, column: Column, grid: ValueGrid) -> str:
        """A value in whole units, never more than the limit of the grid; null where there is none."""
        if not column.numeric or column.storage not in ("integer", "float"):
            raise UnsuitableColumn(
                Sentence("column {name} does not hold numbers", name=repr(column.name)),
                remedy="ask for a sum, a mean or a quantile of a column of numbers",
            )
        value = f"CAST({self.dialect.value(column)} AS DOUBLE)"
        clamped = f"least(greatest({value}, {_double(grid.low)}), {_double(grid.high)})"
        units = f"round(({clamped} - {_double(grid.centre)}) / {_double(grid.unit)})"
        inside = f"least(greatest({units}, {_double(-grid.limit)}), {_double(grid.limit)})"
        # Both functions skip nulls, so that a null would become a bound.
        return f"(CASE WHEN {value} IS NULL THEN NULL ELSE CAST({inside} AS BIGINT) END)"

    # ── conditions ────────────────────────────────────────────────────────────────────────────────

    def _holds(self, condition: Condition, table: Table) -> str:
        """A condition as SQL; what is unknown does not hold."""
        if isinstance(condition, Junction):
            parts = [self._holds(part, table) for part in condition.parts]
            return (
                f"(NOT {parts[0]})"
                if condition.word == "not"
                else f"({f' {condition.word.upper()} '.join(parts)})"
            )
        column = table.column(condition.column)
        if condition.operator == "is null":
            return f"({self.dialect.value(column)} IS NULL)"
        constants = (True,) if condition.operator == "is true" else condition.constants
        operator = {"is true": "=", "like": "LIKE"}.get(condition.operator, condition.operator)
        value, texts = self._comparable(column, constants, like=operator == "LIKE")
        if operator == "=":
            return f"({value} IN ({', '.join(texts)}))"
        return f"({value} {operator} {texts[0]})"

    def _comparable(
        self, column: Column, constants: Sequence[Constant], *, like: bool
    ) -> tuple[str, list[str]]:
        """A column and constants as what can be compared, whatever the values are."""
        value = self.dialect.value(column)
        kinds = {type(constant) for constant in constants}
        if kinds == {bool} and column.storage == "boolean" and not like:
            return value, ["TRUE" if constant else "FALSE" for constant in constants]
        if kinds == {Decimal} and column.storage in ("integer", "float") and not like:
            return f"CAST({value} AS DOUBLE)", [_double(float(constant)) for constant in constants]
        texts = [self.dialect.literal(str(constant)) for constant in constants]
        if kinds == {str} and column.storage == "text":
            return value, texts
        if kinds == {str} and column.storage in ("date", "timestamp") and not like:
            moment = self.dialect.type("TIMESTAMP")
            moments = [_moment(str(constant)) for constant in constants]
            if None not in moments:
                texts = [self.dialect.literal(str(written)) for written in moments]
                return f"CAST({value} AS {moment})", [f"CAST({text} AS {moment})" for text in texts]
        raise UnsuitableColumn(
            Sentence("column {name} is compared with a constant of another kind", name=repr(column.name)),
            remedy="write numbers plainly, texts and dates (2024-05-01) in single quotes",
        )


def _listed_values(name: str, values: Sequence[Constant | None]) -> Condition:
    """The condition that a column has one of some values."""
    parts: list[Condition] = []
    constants = tuple(value for value in values if value is not None)
    if constants:
        parts.append(Predicate(name, "=", constants))
    if None in values:
        parts.append(Predicate(name, "is null"))
    return Junction("or", tuple(parts))


def _double(number: float) -> str:
    """A number for SQL that is read back as it is; one that is too large for a double is infinite."""
    return f"CAST({number!r} AS DOUBLE)" if math.isfinite(number) else f"CAST('{number}' AS DOUBLE)"


def _moment(text: str) -> str | None:
    """A moment as every engine reads it. What only Python reads an engine would refuse when it meets a row, and only then."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is not None else moment.isoformat(sep=" ")
