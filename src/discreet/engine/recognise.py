"""Text columns become numbers and dates where every value is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from discreet.engine.relations import SqlRelations
from discreet.errors import UnreadableInput
from discreet.table import DataType, Source, Table
from discreet.table.reading import ReadOptions

FIRST_LOOK_ROWS = 20_000
"""So many rows rule out most readings before the full pass."""


@dataclass(frozen=True)
class Reading:
    """A way to read a text column as something else: what the text must look like and what it becomes."""

    type: DataType
    cast: str
    pattern: str
    written: Literal[".", ",", ""] = "."
    drop: str = ""
    parts: tuple[int, int, int] | None = None
    """Where year, month and day stand in a date that ``sign`` divides."""
    sign: str = ""

    def text(self, value: str) -> str:
        """SQL that turns the text into the form the cast understands."""
        if self.parts is not None:
            year, month, day = (f"split_part({value}, '{self.sign}', {part})" for part in self.parts)
            return f"({year} || '-' || lpad({month}, 2, '0') || '-' || lpad({day}, 2, '0'))"
        if self.drop:
            value = f"replace({value}, '{self.drop}', '')"
        return f"replace({value}, ',', '.')" if self.written == "," else value


def _date(sign: str, order: str) -> Reading:
    """Dates whose parts a sign divides, in an order such as ``dmy``; the year has four digits."""
    digits = {"y": "[1-9][0-9]{3}", "m": "(0?[1-9]|1[0-2])", "d": "(0?[1-9]|[12][0-9]|3[01])"}
    pattern = f"[{sign}]".join(digits[part] for part in order)
    places = (order.index("y") + 1, order.index("m") + 1, order.index("d") + 1)
    return Reading("date", "DATE", pattern, written="", parts=places, sign=sign)


DAY_OR_MONTH_FIRST = (_date("/", "dmy"), _date("/", "mdy"))
"""Both are usual: where all values of a column allow both, it stays text and nothing is guessed."""
READINGS = (
    Reading("integer", "BIGINT", r"-?(0|[1-9][0-9]{0,17})", written=""),
    Reading("continuous", "DOUBLE", r"-?(0|[1-9][0-9]{0,14})?([.][0-9]+)?([eE][-+]?[0-9]{1,2})?"),
    Reading("continuous", "DOUBLE", r"-?(0|[1-9][0-9]{0,2}(,[0-9]{3}){0,4})([.][0-9]+)?", drop=","),
    Reading("continuous", "DOUBLE", r"-?(0|[1-9][0-9]{0,14})(,[0-9]+)?", written=","),
    Reading(
        "continuous", "DOUBLE", r"-?(0|[1-9][0-9]{0,2}([.][0-9]{3}){0,4})(,[0-9]+)?", written=",", drop="."
    ),
    Reading("date", "DATE", r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}", written=""),
    Reading(
        "date",
        "TIMESTAMP",
        r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}[ T]([01][0-9]|2[0-3]):[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?",
        written="",
    ),
    _date(".", "dmy"),
    _date("-", "dmy"),
    _date("/", "ymd"),
    _date(".", "ymd"),
    *DAY_OR_MONTH_FIRST,
)
"""The first that fits all values wins. Codes with leading zeros fit none of the numbers and stay text.

Digits are limited to what the type holds: two long numbers that differ must not become the same value.
"""
DATES = tuple(reading for reading in READINGS if reading.type == "date")
"""For formats that know numbers but not dates."""


class TypeRecognition(SqlRelations):
    """Tables from relations whose columns are text or already have types."""

    def _finish(self, relation: str, source: Source, options: ReadOptions) -> Table:
        """A table from a relation that has its types already: only missing marks are applied."""
        self._refuse_dates(relation, source)
        return (
            self._typed(relation, source, options, ()) if options.missing else self._table(relation, source)
        )

    def _refuse_dates(self, relation: str, source: Source) -> None:
        """Raise if a column holds dates that no calendar of people has, which files can hold all the same."""
        columns = [self._column(*column) for column in self._schema(relation)]
        dates = [column.name for column in columns if column.storage in ("date", "timestamp")]
        tests = []
        for i, name in enumerate(dates):
            day = f"CAST({self.dialect.quote(name)} AS DATE)"
            odd = f"{day} < DATE '0001-01-01' OR {day} > DATE '9999-12-31'"
            tests.append(f"count(*) FILTER (WHERE {odd}) AS odd{i}")
        counts = self._fetch(f"SELECT {', '.join(tests)} FROM {relation}").to_pylist()[0] if dates else {}
        for i, name in enumerate(dates):
            if counts[f"odd{i}"]:
                raise UnreadableInput(
                    f"column {name!r} of {source.name} holds dates before the year 1 or after 9999",
                    remedy="correct them, leave them empty, or remove the column",
                )

    def _typed(
        self, relation: str, source: Source, options: ReadOptions, readings: Sequence[Reading] = READINGS
    ) -> Table:
        """A table from a relation with text columns: missing marks applied, numbers and dates recognised.

        A column becomes a number or a date only if every value is one; codes with leading zeros stay
        text. Where only missing marks stand between a column and numbers, it stays text (with a decimal
        point and without groups of digits) and is known to be numeric.
        """
        select: dict[str, str] = {}
        texts: dict[str, str] = {}
        for name, type_name in self._schema(relation):
            select[name] = self.dialect.quote(name)
            if self._column(name, type_name).storage == "text":
                select[name] = texts[name] = self._cleaned(self.dialect.quote(name), options)
        wanted = [reading for reading in readings if reading.written in (options.decimal or ".", "")]
        candidates = dict.fromkeys(texts, wanted)
        marked: dict[str, bool] = {}
        numeric: dict[str, DataType] = {}
        if wanted and texts:
            # A short look rules most readings out, so that the full pass tests few of them.
            for rows in (FIRST_LOOK_ROWS, None):
                candidates, marked = self._readings(relation, rows, texts, candidates)
        for name, value in texts.items():
            fitting = [] if set(DAY_OR_MONTH_FIRST) <= set(candidates[name]) else candidates[name]
            reading = fitting[0] if fitting else None
            if reading is not None and not marked[name]:
                select[name] = f"CAST({reading.text(value)} AS {self.dialect.type(reading.cast)})"
            elif reading is not None and reading.type in ("integer", "continuous"):
                select[name] = (
                    f"(CASE WHEN {value} IN ({self._marks}) THEN {value} ELSE {reading.text(value)} END)"
                )
                numeric[name] = reading.type
        listed = ", ".join(f"{value} AS {self.dialect.quote(name)}" for name, value in select.items())
        typed = self._keep(f"SELECT {listed} FROM {relation}")
        self._drop(relation)
        return self._table(typed, source).retype(numeric, declared=False)

    def _readings(
        self,
        relation: str,
        rows: int | None,
        texts: Mapping[str, str],
        candidates: Mapping[str, Sequence[Reading]],
    ) -> tuple[dict[str, list[Reading]], dict[str, bool]]:
        """Which readings every value of a column allows, and whether missing marks stand among them."""
        tests: dict[str, list[str]] = {}
        for i, (name, value) in enumerate(texts.items()):
            real = f"{value} NOT IN ({self._marks})"
            tests[name] = [
                f"count({value}) AS filled{i}",
                f"count(*) FILTER (WHERE {real}) AS real{i}",
                *(
                    f"count(*) FILTER (WHERE {real} AND {self._reads_as(value, reading)}) AS as{i}_{j}"
                    for j, reading in enumerate(candidates[name])
                ),
            ]
        counts = self._figures(tests, relation, rows)
        kept = {
            name: [
                r for j, r in enumerate(candidates[name]) if 0 < counts[f"real{i}"] == counts[f"as{i}_{j}"]
            ]
            for i, name in enumerate(texts)
        }
        return kept, {name: counts[f"real{i}"] < counts[f"filled{i}"] for i, name in enumerate(texts)}

    def _reads_as(self, value: str, reading: Reading) -> str:
        matched = self.dialect.matches.format(value=value, pattern=self.dialect.literal(reading.pattern))
        cast = f"TRY_CAST({reading.text(value)} AS {self.dialect.type(reading.cast)})"
        return f"({matched} AND {cast} IS NOT NULL)"

    def _cleaned(self, value: str, options: ReadOptions) -> str:
        if not options.missing:
            return value
        marks = ", ".join(self.dialect.literal(mark) for mark in options.missing)
        return f"(CASE WHEN {value} IN ({marks}) THEN NULL ELSE {value} END)"
