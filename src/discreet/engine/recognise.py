"""Text columns become numbers and dates where every value is one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from discreet.engine.relations import SqlRelations, batched
from discreet.errors import UnreadableInput
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS, Column, DataType, Lease, Source, Table
from discreet.table.reading import ReadOptions

FIRST_LOOK_ROWS = 1_000
"""So many rows rule out most readings before the full pass."""
NO_DATES = (
    *MISSING_MARKS,
    *(
        "0000-00-00",
        "00.00.0000",
        "00/00/0000",
        "unknown",
        "Unknown",
        "UNKNOWN",
        "missing",
        "Missing",
        "MISSING",
    ),
    *("unbekannt", "Unbekannt", "n.a.", "N.A.", "k.A.", "k. A.", "nicht bekannt", "keine Angabe"),
)
"""Texts that among dates can only say that there is none."""


@dataclass(frozen=True)
class Reading:
    """A way to read a text column as something else: what the text must look like and what it becomes."""

    type: DataType
    cast: str
    pattern: str
    written: Literal[".", ",", ""] = "."
    drop: tuple[str, ...] = ()
    """What is left out before: signs that group digits, signs of currencies, a zone of time."""
    parts: tuple[int, int, int] | None = None
    """Where year, month and day stand in a date that ``sign`` divides."""
    sign: str = ""

    @property
    def marks(self) -> tuple[str, ...]:
        """Texts that may stand among the values without being one."""
        return NO_DATES if self.type == "date" else MISSING_MARKS

    def text(self, value: str) -> str:
        """SQL that turns the text into the form the cast understands."""
        if self.parts is not None:
            year, month, day = (f"split_part({value}, '{self.sign}', {part})" for part in self.parts)
            return f"({year} || '-' || lpad({month}, 2, '0') || '-' || lpad({day}, 2, '0'))"
        for sign in self.drop:
            value = f"replace({value}, '{sign}', '')"
        return f"replace({value}, ',', '.')" if self.written == "," else value


def _date(sign: str, order: str) -> Reading:
    """Dates whose parts a sign divides, in an order such as ``dmy``; the year has four digits."""
    digits = {"y": "[1-9][0-9]{3}", "m": "(0?[1-9]|1[0-2])", "d": "(0?[1-9]|[12][0-9]|3[01])"}
    pattern = f"[{sign}]".join(digits[part] for part in order)
    places = (order.index("y") + 1, order.index("m") + 1, order.index("d") + 1)
    return Reading("date", "DATE", pattern, written="", parts=places, sign=sign)


CURRENCIES = ("$", "€", "£", "¥", "EUR", "USD", "CHF", "%")


def _amounts(sign: str) -> tuple[Reading, ...]:
    """Amounts with a sign before or behind them, as $64,566 and 1.234,50 €: whole ones, and with decimals."""
    marked = "".join(f"[{letter}]" for letter in sign)
    readings = []
    for point, group in ((".", ","), (",", ".")):
        whole = f"([1-9][0-9]{{0,2}}([{group}][0-9]{{3}}){{1,4}}|0|[1-9][0-9]{{0,14}})"
        written: Literal[".", ","] = "." if point == "." else ","
        drop = (sign, " ", "\u00a0", group)
        kinds: tuple[tuple[DataType, str, str], ...] = (
            ("integer", "BIGINT", whole),
            ("continuous", "DOUBLE", f"{whole}([{point}][0-9]+)?"),
        )
        for type, cast, number in kinds:
            pattern = f"-?({marked}[ \u00a0]?-?{number}|{number}[ \u00a0]?{marked})"
            readings.append(Reading(type, cast, pattern, written=written, drop=drop))
    return tuple(readings)


MOMENT = r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}[ T]([01][0-9]|2[0-3]):[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
DAY_OR_MONTH_FIRST = (_date("/", "dmy"), _date("/", "mdy"))
"""Both are usual: where all values of a column allow both, it stays text and nothing is guessed."""
READINGS = (
    Reading("integer", "BIGINT", r"-?(0|[1-9][0-9]{0,17})", written=""),
    Reading("continuous", "DOUBLE", r"-?(0|[1-9][0-9]{0,14})?([.][0-9]+)?([eE][-+]?[0-9]{1,2})?"),
    Reading("continuous", "DOUBLE", r"-?(0|[1-9][0-9]{0,2}(,[0-9]{3}){0,4})([.][0-9]+)?", drop=(",",)),
    Reading("continuous", "DOUBLE", r"-?(0|[1-9][0-9]{0,14})(,[0-9]+)?", written=","),
    Reading(
        "continuous", "DOUBLE", r"-?(0|[1-9][0-9]{0,2}([.][0-9]{3}){0,4})(,[0-9]+)?", written=",", drop=(".",)
    ),
    *(reading for sign in CURRENCIES for reading in _amounts(sign)),
    Reading("date", "DATE", r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}", written=""),
    Reading("date", "TIMESTAMP", MOMENT, written=""),
    *(
        Reading("date", "TIMESTAMP", rf"{MOMENT}{re.escape(end)}", written="", drop=(end,))
        for end in ("Z", "+00:00", "+0000", " UTC")
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


@dataclass(frozen=True)
class RecognisedColumns:
    """How the columns of a relation are read: as SQL, which texts are known to be numbers, and whether nothing changes."""

    listed: str
    numeric: Mapping[str, DataType]
    as_written: bool


class TypeRecognition(SqlRelations):
    """Tables from relations whose columns are text or already have types."""

    def _finish(self, relation: str, source: Source, options: ReadOptions) -> Table:
        """A table from a relation that has its types already: missing marks are applied, and texts that are dates are dates."""
        columns = self._columns(relation)
        self._refuse_dates(relation, columns, source)
        if options.missing:
            return self._typed(relation, source, options, DATES)
        cells = self._recognised(relation, options, DATES)
        if cells.as_written:
            return self._table(relation, source, columns)
        # What was not read into the engine stays where it is.
        made = self._table(self._computed(f"SELECT {cells.listed} FROM {relation}"), source)
        made.lease.rests_on = Lease(relation, self._unused.append)
        return made

    def _refuse_dates(self, relation: str, columns: Sequence[Column], source: Source) -> None:
        """Raise if a column holds dates that no calendar of people has, which files can hold all the same."""
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
                    Sentence(
                        "column {name!r} of {name2} holds dates before the year 1 or after 9999",
                        name=name,
                        name2=source.name,
                    ),
                    remedy="correct them, leave them empty, or remove the column",
                )

    def _typed(
        self, relation: str, source: Source, options: ReadOptions, readings: Sequence[Reading] = READINGS
    ) -> Table:
        """A table from a relation with text columns: missing marks applied, numbers and dates recognised.

        A column becomes a number or a date only if every value is one; codes with leading zeros stay
        text. Where only missing marks stand between a column and numbers, it stays text (with a decimal
        point and without groups of digits) and is known to be numeric; among dates they become nulls.
        """
        cells = self._recognised(relation, options, readings)
        typed = self._keep(f"SELECT {cells.listed} FROM {relation}")
        self._drop(relation)
        return self._table(typed, source).retype(cells.numeric, declared=False)

    def _recognised(
        self, relation: str, options: ReadOptions, readings: Sequence[Reading]
    ) -> RecognisedColumns:
        """How to read every column of a relation: its texts by the first of the readings that all of them allow."""
        select: dict[str, str] = {}
        texts: dict[str, str] = {}
        for name, type_name in self._schema(relation):
            select[name] = self.dialect.quote(name)
            if self._column(name, type_name).storage == "text":
                select[name] = texts[name] = self._cleaned(self.dialect.quote(name), options)
        wanted = [reading for reading in readings if reading.written in (options.decimal or ".", "")]
        numeric: dict[str, DataType] = {}
        fitting, marked = self._fitting(relation, texts, wanted)
        for name, value in texts.items():
            reading = fitting[name]
            if reading is None:
                continue
            if name in marked and reading.type != "date":
                select[name] = (
                    f"(CASE WHEN {value} IN ({self._listed_marks(reading)}) THEN {value} ELSE {reading.text(value)} END)"
                )
                numeric[name] = reading.type
                continue
            text = reading.text(value)
            if name in marked:
                text = f"(CASE WHEN {value} IN ({self._listed_marks(reading)}) THEN NULL ELSE {text} END)"
            select[name] = f"CAST({text} AS {self.dialect.type(reading.cast)})"
        listed = ", ".join(f"{value} AS {self.dialect.quote(name)}" for name, value in select.items())
        return RecognisedColumns(
            listed, numeric, all(value == self.dialect.quote(name) for name, value in select.items())
        )

    def _fitting(
        self, relation: str, texts: Mapping[str, str], wanted: Sequence[Reading]
    ) -> tuple[dict[str, Reading | None], set[str]]:
        """The first reading that every value of a column allows, and the columns that have missing marks among them."""
        candidates = self._possible(relation, texts, wanted) if wanted and texts else {}
        chosen: dict[str, Reading | None] = dict.fromkeys(texts)
        marked: set[str] = set()
        # What the first rows allow first, all of them nearly always do; only where they do not is the rest tested.
        for first in (True, False):
            tests = {name: _first(left) if first else left for name, left in candidates.items() if left}
            allowed = self._readings(relation, texts, tests)
            for name, tested in tests.items():
                # Where day and month cannot be told apart, nothing is guessed.
                certain = not set(DAY_OR_MONTH_FIRST) <= set(allowed[name])
                if allowed[name] and certain:
                    chosen[name], has_marks = next(iter(allowed[name].items()))
                    marked |= {name} if has_marks else set()
                candidates[name] = [] if allowed[name] else [r for r in candidates[name] if r not in tested]
        return chosen, marked

    def _possible(
        self, relation: str, texts: Mapping[str, str], wanted: Sequence[Reading]
    ) -> dict[str, list[Reading]]:
        """The readings that the first rows of a column allow by how they are written."""
        patterns = [(reading, re.compile(reading.pattern)) for reading in wanted]
        possible = {}
        for names in batched(texts, self.columns_at_once):
            columns = ", ".join(f"{texts[name]} AS {self.dialect.quote(name)}" for name in names)
            rows = self._fetch(f"SELECT {columns} FROM {relation} LIMIT {FIRST_LOOK_ROWS}")
            for name in names:
                seen = set(rows[name].to_pylist()) - {None}
                possible[name] = [
                    reading
                    for reading, pattern in patterns
                    if all(value in reading.marks or pattern.fullmatch(value) for value in seen)
                ]
        return possible

    def _readings(
        self, relation: str, texts: Mapping[str, str], tests: Mapping[str, Sequence[Reading]]
    ) -> dict[str, dict[Reading, bool]]:
        """Which of these readings every value of a column allows, and whether missing marks stand among them."""
        questions: dict[str, list[str]] = {}
        for i, (name, readings) in enumerate(tests.items()):
            value = texts[name]
            questions[name] = [f"count({value}) AS filled{i}"]
            for j, reading in enumerate(readings):
                real = f"{value} NOT IN ({self._listed_marks(reading)})"
                questions[name] += [
                    f"count(*) FILTER (WHERE {real}) AS real{i}_{j}",
                    f"count(*) FILTER (WHERE {real} AND {self._reads_as(value, reading)}) AS as{i}_{j}",
                ]
        counts = self._figures(questions, relation)
        return {
            name: {
                reading: counts[f"real{i}_{j}"] < counts[f"filled{i}"]
                for j, reading in enumerate(readings)
                if 0 < counts[f"real{i}_{j}"] == counts[f"as{i}_{j}"]
            }
            for i, (name, readings) in enumerate(tests.items())
        }

    def _listed_marks(self, reading: Reading) -> str:
        return ", ".join(map(self.dialect.literal, reading.marks))

    def _reads_as(self, value: str, reading: Reading) -> str:
        matched = self.dialect.matches.format(value=value, pattern=self.dialect.literal(reading.pattern))
        cast = f"TRY_CAST({reading.text(value)} AS {self.dialect.type(reading.cast)})"
        return f"({matched} AND {cast} IS NOT NULL)"

    def _cleaned(self, value: str, options: ReadOptions) -> str:
        if not options.missing:
            return value
        marks = ", ".join(self.dialect.literal(mark) for mark in options.missing)
        return f"(CASE WHEN {value} IN ({marks}) THEN NULL ELSE {value} END)"


def _first(readings: Sequence[Reading]) -> Sequence[Reading]:
    """What decides if it fits: the first reading; of the two that are told apart by each other, both."""
    both = [reading for reading in readings if reading in DAY_OR_MONTH_FIRST]
    return both if readings[0] in both else readings[:1]
