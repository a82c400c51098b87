"""The verbs in SQL that DuckDB and Spark share; an engine adds how to run a query and keep a relation."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import Packing
from discreet.engine.dialect import Dialect
from discreet.engine.protocol import ReadOptions
from discreet.engine.query import MAX_ROWS, TABLE
from discreet.errors import EmptyTable, InvalidParameter, UnreadableInput, UnsuitableColumn
from discreet.table import MISSING_MARKS, Column, ColumnProfile, DataType, Domain, Lease, Source, Table
from discreet.types import BoolArray, IntArray

EXACT_DISTINCT_ROWS = 2_000_000
"""Up to this many rows the profile counts distinct values exactly; beyond, it says that it estimates."""


FIRST_LOOK_ROWS = 20_000


@dataclass(frozen=True)
class Reading:
    """A way to read a text column as something else: what the text must look like and what it becomes."""

    type: DataType
    cast: str
    pattern: str
    written: Literal[".", ",", ""] = "."
    drop: str = ""

    def text(self, value: str) -> str:
        """SQL that turns the text into the form the cast understands."""
        if self.drop:
            value = f"replace({value}, '{self.drop}', '')"
        return f"replace({value}, ',', '.')" if self.written == "," else value


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
)
"""The first that fits all values wins. Codes with leading zeros fit none of the numbers and stay text.

Digits are limited to what the type holds: two long numbers that differ must not become the same value.
"""
DATES = tuple(reading for reading in READINGS if reading.type == "date")
"""For formats that know numbers but not dates."""


class SqlEngine(ABC):
    """The verbs of an engine that speaks SQL."""

    name: str
    dialect: Dialect

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._unused: deque[str] = deque()

    # ── what each engine adds ─────────────────────────────────────────────────────────────────────

    @abstractmethod
    def read_file(self, path: Path, options: ReadOptions) -> Table: ...

    @abstractmethod
    def read_batches(self, batches: pa.RecordBatchReader, source: Source, options: ReadOptions) -> Table: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _fetch(self, query: str) -> pa.Table:
        """Run a query and bring its (small) result here."""

    @abstractmethod
    def _keep(self, query: str) -> str:
        """Materialise a query's result inside the engine, in order, and return its quoted name."""

    @abstractmethod
    def _put(self, table: pa.Table) -> str:
        """Bring a small Arrow table into the engine and return its quoted name."""

    @abstractmethod
    def _drop(self, relation: str) -> None:
        """Forget a relation."""

    @abstractmethod
    def _checked(self, query: str) -> str:
        """The text of a user's query after checking that it reads nothing but the table it is given."""

    @abstractmethod
    def _answer(self, query: str, table: Table) -> pa.Table:
        """Run a user's query; what a user's query can do wrong is told without the engine's words."""

    @abstractmethod
    def _schema(self, relation: str) -> list[tuple[str, str]]:
        """Names and the engine's type names of a relation's columns."""

    @abstractmethod
    def _column(self, name: str, type_name: str) -> Column:
        """What a column of the engine's type is."""

    def _name(self) -> str:
        """A name for a new relation; what is no longer used makes room first."""
        while self._unused:
            self._drop(self._unused.popleft())
        return f"discreet_{next(self._numbers)}"

    # ── tables ────────────────────────────────────────────────────────────────────────────────────

    def _table(self, relation: str, source: Source) -> Table:
        """A handle over a relation; dropped from the engine some time after the handle is no longer used."""
        columns = [self._column(name, type_name) for name, type_name in self._schema(relation)]
        if not columns:
            raise EmptyTable(f"{source.name} has no columns", remedy="check that this is the file you meant")
        check_names([column.name for column in columns], source.name)
        rows = int(self._fetch(f"SELECT count(*) AS n FROM {relation}")["n"][0].as_py())
        if not rows:
            raise no_rows(source)
        return Table(self, Lease(relation, self._unused.append), tuple(columns), rows, source)

    def _finish(self, relation: str, source: Source, options: ReadOptions) -> Table:
        """A table from a relation that has its types already: only missing marks are applied."""
        return (
            self._typed(relation, source, options, ()) if options.missing else self._table(relation, source)
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
            for scope in (f"(SELECT * FROM {relation} LIMIT {FIRST_LOOK_ROWS}) AS first_look", relation):
                candidates, marked = self._readings(scope, texts, candidates)
        for name, value in texts.items():
            reading = candidates[name][0] if candidates[name] else None
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
        return self._table(typed, source).retype(numeric)

    def _readings(
        self, scope: str, texts: Mapping[str, str], candidates: Mapping[str, Sequence[Reading]]
    ) -> tuple[dict[str, list[Reading]], dict[str, bool]]:
        """Which readings every value of a column allows, and whether missing marks stand among them."""
        tests = []
        for i, (name, value) in enumerate(texts.items()):
            real = f"{value} NOT IN ({self._marks})"
            tests += [
                f"count({value}) AS filled{i}",
                f"count(*) FILTER (WHERE {real}) AS real{i}",
                *(
                    f"count(*) FILTER (WHERE {real} AND {self._reads_as(value, reading)}) AS as{i}_{j}"
                    for j, reading in enumerate(candidates[name])
                ),
            ]
        found = self._fetch(f"SELECT {', '.join(tests)} FROM {scope}").to_pylist()[0]
        kept = {
            name: [r for j, r in enumerate(candidates[name]) if 0 < found[f"real{i}"] == found[f"as{i}_{j}"]]
            for i, name in enumerate(texts)
        }
        return kept, {name: found[f"real{i}"] < found[f"filled{i}"] for i, name in enumerate(texts)}

    def _reads_as(self, value: str, reading: Reading) -> str:
        matched = self.dialect.matches.format(value=value, pattern=self.dialect.literal(reading.pattern))
        cast = f"TRY_CAST({reading.text(value)} AS {self.dialect.type(reading.cast)})"
        return f"({matched} AND {cast} IS NOT NULL)"

    @property
    def _marks(self) -> str:
        return ", ".join(self.dialect.literal(mark) for mark in MISSING_MARKS)

    def _cleaned(self, value: str, options: ReadOptions) -> str:
        if not options.missing:
            return value
        marks = ", ".join(self.dialect.literal(mark) for mark in options.missing)
        return f"(CASE WHEN {value} IN ({marks}) THEN NULL ELSE {value} END)"

    # ── verbs ─────────────────────────────────────────────────────────────────────────────────────

    def profile(self, table: Table) -> tuple[ColumnProfile, ...]:
        """A first look at every column in one pass."""
        approximate = table.rows > EXACT_DISTINCT_ROWS
        wanted = []
        for i, column in enumerate(table.columns):
            value = self.dialect.value(column)
            distinct = (
                self.dialect.approximate_distinct.format(name=value)
                if approximate
                else f"count(DISTINCT {value})"
            )
            marked = (
                f"count(*) FILTER (WHERE {value} IN ({self._marks}))" if column.storage == "text" else "0"
            )
            infinite = (
                f"count(*) FILTER (WHERE {self.dialect.infinite.format(name=value)})"
                if column.storage == "float"
                else "0"
            )
            # Floats and moments have no one printed form, so their length would say nothing.
            printed = f"CAST({value} AS {self.dialect.text})"
            length = (
                "CAST(0 AS DOUBLE)"
                if column.storage in ("float", "timestamp")
                else f"avg(CAST(length({printed}) AS DOUBLE))"
            )
            wanted += [
                f"count({value}) AS filled{i}",
                f"{distinct} AS distinct{i}",
                f"{marked} AS marks{i}",
                f"{infinite} AS infinite{i}",
                f"{length} AS length{i}",
            ]
        found = self._fetch(f"SELECT {', '.join(wanted)} FROM {table.relation}").to_pylist()[0]
        return tuple(
            ColumnProfile(
                column=column,
                rows=table.rows,
                nulls=table.rows - found[f"filled{i}"],
                marks=found[f"marks{i}"],
                distinct=min(found[f"distinct{i}"], table.rows),
                infinite=found[f"infinite{i}"],
                mean_length=found[f"length{i}"] or 0.0,
                approximate=approximate,
            )
            for i, column in enumerate(table.columns)
        )

    def sample(self, table: Table, rows: int) -> Table:
        """A reproducible sample of rows, spread over the table (all rows if there are no more)."""
        if rows >= table.rows:
            return table
        kept = self._keep(self.dialect.sample.format(relation=table.relation, rows=int(rows)))
        return self._table(kept, table.source).retype({column.name: column.type for column in table.columns})

    def thin(self, table: Table, share: float, *, seed: int) -> Table:
        """About ``share`` of the rows, drawn independently, in their order; the same for the same seed.

        A row is drawn by the hash of its place and the seed, so that both engines draw the same rows.
        """
        if not 0 < share <= 1:
            raise InvalidParameter(f"the share of rows is {share}", remedy="it must be above 0 and at most 1")
        if share == 1:
            return table
        row = self._free_name(table)
        drawn = f"substr(md5({self.dialect.literal(f'{seed}:')} || CAST({row} AS {self.dialect.text})), 1, 8)"
        names = ", ".join(self.dialect.quote(name) for name in table.names)
        kept = self._keep(
            f"WITH numbered AS (SELECT *, {self.dialect.row_number} AS {row} FROM {table.relation}) "
            f"SELECT {names} FROM numbered WHERE {drawn} < '{min(int(share * 16**8), 16**8 - 1):08x}' ORDER BY {row}"
        )
        return self._table(kept, table.source).retype({column.name: column.type for column in table.columns})

    @staticmethod
    def _free_name(table: Table) -> str:
        """A name for a row number that no column of the table has."""
        name = "discreet_row"
        while name in {column.lower() for column in table.names}:
            name += "_"
        return name

    def domain(self, table: Table, column: str) -> Domain:
        """The distinct values of a column, sorted; nulls known apart."""
        wanted = table.column(column)
        value = self.dialect.value(wanted)
        order = "v"
        if wanted.numeric and wanted.storage == "text":
            order = f"CASE WHEN v IN ({self._marks}) THEN NULL ELSE TRY_CAST(v AS DOUBLE) END NULLS LAST, v"
        found = self._fetch(
            f"WITH distinct_values AS (SELECT DISTINCT {value} AS v FROM {table.relation}) "
            f"SELECT v FROM distinct_values ORDER BY {order}"
        )["v"].combine_chunks()
        values = found.drop_null()
        if wanted.storage == "float" and not np.isfinite(values.to_numpy(zero_copy_only=False)).all():
            raise UnsuitableColumn(
                f"column {column!r} holds infinite values",
                remedy="replace them by a number or leave them empty before the audit",
            )
        return Domain(column, values, has_null=len(values) < len(found))

    def count(
        self,
        table: Table,
        *,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str] = (),
        person: str | None = None,
        weight: str | None = None,
    ) -> EquivalenceClasses:
        """The equivalence classes of the table, by one grouping of packed codes.

        Each attribute gets a dictionary (value → code); the codes of a row share one integer (more if
        they need more than 63 bits), and that integer is grouped. Grouping one integer is faster than
        grouping the columns themselves, and what comes back is already encoded.
        """
        names = [*quasi_identifiers, *([person] if person else []), *sensitive]
        columns = [table.column(name) for name in names]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise InvalidParameter(
                f"column {sorted(repeated)[0]!r} is asked for in two roles",
                remedy="give each column one role",
            )
        domains = [self.domain(table, name) for name in names]
        if person and domains[len(quasi_identifiers)].has_null:
            raise UnsuitableColumn(
                f"column {person!r} is the person id but is empty in some rows",
                remedy="fill or remove these rows, or choose another person id",
            )
        packing = Packing.of([domain.size for domain in domains])
        with self._dictionaries(domains) as dictionaries:
            query = self._counting_query(table, columns, domains, dictionaries, packing, weight)
            cells = self._fetch(query)
        words = [_numpy(cells[f"w{i}"]) for i in range(packing.words)]
        counts = _numpy(cells["n"])
        if int(counts.sum()) != table.rows:
            raise UnreadableInput(
                f"counting {table.source.name} found {int(counts.sum()):,} records where there are {table.rows:,}",
                remedy="the source changed while it was read: start again",
            )
        weights = None
        if weight:
            weights = cells["weight"].to_numpy().astype(np.float64)
            if not np.isfinite(weights).all() or (weights <= 0).any():
                raise UnsuitableColumn(
                    f"column {weight!r} is the sampling weight but has empty, zero or negative entries",
                    remedy="give every row a positive weight, or leave the weight out",
                )
        m = len(quasi_identifiers)
        return EquivalenceClasses.from_packed(
            packing,
            words,
            counts,
            attributes=domains[:m],
            sensitive=domains[m + bool(person) :],
            persons=person is not None,
            weights=weights,
        )

    def _counting_query(
        self,
        table: Table,
        columns: Sequence[Column],
        domains: Sequence[Domain],
        dictionaries: Sequence[str],
        packing: Packing,
        weight: str | None,
    ) -> str:
        packed, joins = self._packed(columns, domains, dictionaries, packing)
        weighed = weight_sum = ""
        if weight:
            column = table.column(weight)
            if not column.numeric:
                raise UnsuitableColumn(
                    f"column {weight!r} is the sampling weight but is not numeric",
                    remedy="choose a numeric column, or leave the weight out",
                )
            weighed = f", TRY_CAST({self.dialect.value(column, 'r.')} AS DOUBLE) AS weight"
            # A missing weight must not vanish in the sum: it makes the whole cell's weight unknown.
            weight_sum = ", CASE WHEN count(weight) = count(*) AND min(weight) > 0 THEN sum(weight) ELSE -1 END AS weight"
        keys = ", ".join(f"w{i}" for i in range(packing.words))
        return (
            f"WITH coded AS (SELECT {packed}{weighed} FROM {table.relation} AS r {joins}) "
            f"SELECT {keys}, count(*) AS n{weight_sum} FROM coded GROUP BY {keys}"
        )

    def _packed(
        self,
        columns: Sequence[Column],
        domains: Sequence[Domain],
        dictionaries: Sequence[str],
        packing: Packing,
    ) -> tuple[str, str]:
        """The packed words ``w0, w1 …`` of a row ``r``, and the joins with dictionaries that they need."""
        words: list[list[str]] = [[] for _ in range(packing.words)]
        joins = []
        for i, (column, domain, at) in enumerate(zip(columns, domains, packing.fields, strict=True)):
            if at.bits:
                code = f"coalesce(d{i}.code, {len(domain.values)})"
                words[at.word].append(f"{code} * CAST({at.factor} AS BIGINT)")
                joins.append(
                    f"LEFT JOIN {dictionaries[i]} AS d{i} ON {self.dialect.value(column, 'r.')} = d{i}.v"
                )
        listed = ", ".join(
            f"{' + '.join(parts) or 'CAST(0 AS BIGINT)'} AS w{i}" for i, parts in enumerate(words)
        )
        return listed, " ".join(joins)

    @contextmanager
    def _dictionaries(self, domains: Sequence[Domain]) -> Iterator[list[str]]:
        """Value-to-code relations for the time of one query; a single value needs none."""
        kept: list[str] = []
        try:
            for domain in domains:
                if domain.size < 2:
                    kept.append("")
                    continue
                codes = pa.array(np.arange(len(domain.values), dtype=np.int64))
                kept.append(self._put(pa.table({"v": domain.values, "code": codes})))
            yield kept
        finally:
            for relation in filter(None, kept):
                self._drop(relation)

    def recode(
        self,
        table: Table,
        classes: EquivalenceClasses,
        *,
        values: Mapping[str, pa.Array],
        kept: BoolArray,
        columns: Sequence[str],
        keys: Mapping[str, str] | None = None,
    ) -> Table:
        """The table after a recoding: one join of its rows with what becomes of their classes.

        ``classes`` must have been counted from this table; ``values[name][c]`` replaces quasi-identifier
        ``name`` in the records of class ``c``; records of classes that are not ``kept`` are left out. Only
        ``columns`` remain, in the order given; a column in ``keys`` is replaced by a hash with that key. Rows
        keep their order.
        """
        quasi_identifiers = [table.column(name) for name in classes.names]
        packing = Packing.of([domain.size for domain in classes.attributes])
        words = packing.pack(classes.codes) if classes.names else [np.zeros(len(classes), dtype=np.int64)]
        plan = {f"w{i}": pa.array(word) for i, word in enumerate(words)}
        plan |= {f"v{i}": new for i, new in enumerate(values.values())}
        chosen = pa.array(np.flatnonzero(kept))
        fate = self._put(pa.table({name: column.take(chosen) for name, column in plan.items()}))
        replaced = {name: f"m.v{i}" for i, name in enumerate(values)}
        try:
            with self._dictionaries(classes.attributes) as dictionaries:
                packed, joins = self._packed(quasi_identifiers, classes.attributes, dictionaries, packing)
                taken, given = [], []
                for i, name in enumerate(columns):
                    quoted = self.dialect.quote(table.column(name).name)
                    if name in replaced:
                        given.append(f"{replaced[name]} AS {quoted}")
                        continue
                    # Quasi-identifiers as they were counted: NaN and null, 0 and -0 must not be told apart.
                    counted = name in classes.names
                    value = self.dialect.value(table.column(name), "r.") if counted else f"r.{quoted}"
                    if keys and name in keys:
                        value = self.dialect.keyed_hash.format(
                            key=self.dialect.literal(keys[name]),
                            value=f"CAST({value} AS {self.dialect.text})",
                        )
                    taken.append(f"{value} AS o{i}")
                    given.append(f"c.o{i} AS {quoted}")
                row = self._free_name(table)
                on = " AND ".join(f"c.w{i} = m.w{i}" for i in range(packing.words))
                relation = self._keep(
                    f"WITH r AS (SELECT *, {self.dialect.row_number} AS {row} FROM {table.relation}), "
                    f"c AS (SELECT {', '.join([f'r.{row} AS place', packed, *taken])} FROM r {joins}) "
                    f"SELECT {', '.join(given)} FROM c JOIN {fate} AS m ON {on} ORDER BY c.place"
                )
        finally:
            self._drop(fate)
        return self._table(relation, table.source)

    def to_arrow(self, table: Table, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows themselves, in their order."""
        names = [table.column(name).name for name in columns] if columns else table.names
        return self._fetch(
            f"SELECT {', '.join(self.dialect.quote(name) for name in names)} FROM {table.relation}"
        )

    def query(self, table: Table, query: str) -> pa.Table:
        """The answer to one SELECT of the user's own, in which the table is called ``data``.

        ``InvalidParameter``: the query is no single SELECT, reads anything else, calls what is not listed in
        ``engine.query`` or gives too many rows. ``UnknownColumn``, ``UnsuitableColumn``: this table cannot
        answer it. The engine's own words are never passed on: they quote cells.
        """
        answer = self._answer(
            f"WITH {TABLE} AS (SELECT * FROM {table.relation}) "
            f"SELECT * FROM (\n{self._checked(query)}\n) AS answer LIMIT {MAX_ROWS + 1}",
            table,
        )
        if answer.num_rows > MAX_ROWS:
            raise InvalidParameter(
                f"the query gives more than {MAX_ROWS:,} rows",
                remedy="aggregate: a KPI has one row per group",
            )
        return answer


def _numpy(column: pa.ChunkedArray) -> IntArray:
    return np.asarray(column.to_numpy(), dtype=np.int64)


def no_rows(source: Source) -> EmptyTable:
    return EmptyTable(
        f"{source.name} has columns but no rows", remedy="check that this is the file you meant"
    )


def unanswerable(table: Table) -> UnsuitableColumn:
    return UnsuitableColumn(
        f"the query cannot be computed on {table.source.name}",
        remedy="check that the columns it computes with hold numbers or dates, and that no value is out of range",
    )


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse names that SQL cannot tell apart.

    >>> check_names(["id", "ID"], "people.csv")
    Traceback (most recent call last):
    ...
    discreet.errors.UnreadableInput: people.csv has two columns called 'ID' (upper and lower case count as the same); rename one of them
    """
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise UnreadableInput(
                f"{source} has two columns called {name!r} (upper and lower case count as the same)",
                remedy="rename one of them",
            )
        seen.add(name.lower())
