"""The verbs in SQL that DuckDB and Spark share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from discreet.engine.bounded import BoundedCounting
from discreet.engine.counting import MANY_ROWS, Counting
from discreet.engine.query import MAX_ROWS
from discreet.engine.recognise import TypeRecognition
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import ColumnProfile, Table
from discreet.table.frames import EngineFrame
from discreet.types import IntArray

EXACT_DISTINCT_ROWS = 2_000_000
"""Up to this many rows the profile counts distinct values exactly; beyond, it says that it estimates."""
DRAWN_ROWS = 1_000_000
"""Of more rows than this about as many are drawn to estimate how many are alone."""
SAMPLED_ROWS = 20_000
"""So many rows tell how many are equal: a sample of this size has mostly been drawn for examinations."""
FEW_EQUAL = 16
"""Up to so many equal rows on average may stand side by side in a random order of many rows."""


class SqlEngine(TypeRecognition, Counting, BoundedCounting):
    """The verbs of an engine that speaks SQL; an engine adds how to run a query and keep a relation."""

    def __deepcopy__(self, memo: object) -> Self:
        """Itself: no verb changes rows, so they need not be copied."""
        return self

    def __reduce__(self) -> NoReturn:
        raise InvalidParameter(
            "the rows of a table lie in an engine of this process: they cannot be pickled",
            remedy="hand over a file that save has written, or the rows as to_arrow gives them",
        )

    def profile(self, table: Table) -> tuple[ColumnProfile, ...]:
        """A first look at every column in one pass."""
        approximate = self.dialect.estimates and table.rows > EXACT_DISTINCT_ROWS
        wanted: dict[str, list[str]] = {}
        for i, column in enumerate(table.columns):
            value = self.dialect.value(column)
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
                f"CAST(0 AS {self.dialect.double})"
                if column.storage in ("float", "timestamp")
                else f"avg(CAST(length({printed}) AS {self.dialect.double}))"
            )
            wanted[column.name] = [
                f"count({value}) AS filled{i}",
                f"{'approx_count_distinct(' if approximate else 'count(DISTINCT '}{value}) AS distinct{i}",
                f"{marked} AS marks{i}",
                f"{infinite} AS infinite{i}",
                f"{length} AS length{i}",
            ]
        figures = self._figures(wanted, table.relation)
        return tuple(
            ColumnProfile(
                column=column,
                rows=table.rows,
                nulls=table.rows - figures[f"filled{i}"],
                marks=figures[f"marks{i}"],
                distinct=min(figures[f"distinct{i}"], table.rows),
                infinite=figures[f"infinite{i}"],
                mean_length=figures[f"length{i}"] or 0.0,
                approximate=approximate,
            )
            for i, column in enumerate(table.columns)
        )

    def sample(self, table: Table, rows: int) -> Table:
        """A reproducible sample of rows, spread over the table (all rows if there are no more); drawn once."""
        if rows >= table.rows:
            return table
        drawn = table.lease.samples.get(rows)
        if drawn is None:
            kept = self._keep(self.dialect.sample.format(relation=table.relation, rows=int(rows)))
            drawn = table.lease.samples[rows] = self._table(kept, table.source)
        return replace(drawn, columns=table.columns, source=table.source)

    def unique_share(self, table: Table, columns: Sequence[str]) -> float:
        """The share of rows that are alone with their values of some columns.

        Of more than a million rows, groups with the same values are drawn by their hash, whole, one in so many that
        about a million rows are left: the share is then right within 0.3 % in 19 of 20 cases.
        """
        values = ", ".join(self.dialect.value(table.column(name)) for name in columns)
        of = 1 << max(0, (table.rows // DRAWN_ROWS).bit_length() - 1)
        where = f"WHERE {self.dialect.drawn.format(values=values, of=of)}" if of > 1 else ""
        alone = self._fetch(
            f"SELECT count(*) AS alone FROM (SELECT count(*) AS n FROM {table.relation} {where} GROUP BY {values} "
            f"HAVING count(*) = 1) AS groups"
        )
        return min(1.0, of * int(alone["alone"][0].as_py()) / table.rows)

    def thin(self, table: Table, share: float, *, seed: int) -> Table:
        """About ``share`` of the rows, drawn independently, in their order; the same for the same seed.

        A row is drawn by the hash of its place and the seed, so that both engines draw the same rows.
        """
        if not 0 < share <= 1:
            raise InvalidParameter(
                Sentence("the share of rows is {share}", share=share),
                remedy="it must be above 0 and at most 1",
            )
        if share == 1:
            return table
        row = self._free_name(table)
        drawn = f"substr(md5({self.dialect.literal(f'{seed}:')} || CAST({row} AS {self.dialect.text})), 1, 8)"
        place = f"{row}_place"
        kept = self._keep(
            f"WITH numbered AS (SELECT {self._listed(table.names)}, {self.dialect.row_number} AS {row}, "
            f"{self._place(table)} AS {place} FROM {table.relation}) SELECT {self._listed(table.names)}, {place} FROM numbered "
            f"WHERE {drawn} < '{min(int(share * 16**8), 16**8 - 1):08x}' ORDER BY {row}"
        )
        return replace(self._placed(kept, table, place), columns=table.columns)

    def shuffle(self, table: Table, *, seed: int) -> Table:
        """The same rows by the hash of the seed, of all values of a row, and of how many equal rows come before it.

        Equal rows are the same whichever comes first, so the order follows from what the rows are and from the seed:
        nothing of the order that they had is left in it, also for one who knows the seed. Up to a million rows it is the
        same in all engines. More are hashed by a faster function of the engine's own and put in order when they are
        read; where few of them are equal these are not numbered, and stand side by side.
        """
        if self.dialect.own_hash and table.rows > MANY_ROWS:
            return self._shuffled_when_read(table, seed)
        place, hashed, nth = self._order_names(table)
        texts = [f"CAST({self.dialect.quote(name)} AS {self.dialect.text})" for name in table.names]
        # With their lengths, so that no two rows of other values read the same.
        cells = [f"coalesce(CAST(length({t}) AS {self.dialect.text}) || ':' || {t}, '-')" for t in texts]
        number = f"CAST({nth} AS {self.dialect.text})"
        key = f"md5({self.dialect.literal(f'{seed}:')} || {hashed} || {number})"
        within = f"PARTITION BY {hashed} ORDER BY {place}"
        kept = self._keep(self._numbered_rows(table, f"md5(concat({', '.join(cells)}))", within, key))
        return replace(self._placed(kept, table, place, self._labels(table)), columns=table.columns)

    def _shuffled_when_read(self, table: Table, seed: int) -> Table:
        """Many rows in the order of the engine's own hash, which is worked out when somebody reads them."""
        place, hashed, nth = self._order_names(table)
        listed, number = self._listed(table.names), f"CAST({int(seed)} AS HUGEINT)"
        if self._equal_rows(table) > FEW_EQUAL:
            key = self.dialect.own_hash.format(values=f"{hashed}, {nth}, {number}")
            values = self.dialect.own_hash.format(values=listed)
            rows = self._numbered_rows(table, values, f"PARTITION BY {hashed}", key)
        else:
            key = self.dialect.own_hash.format(values=f"{listed}, {number}")
            stored = self._stored(table.relation)
            rows = f"SELECT {listed}, {self._place(table)} AS {place} FROM {stored} ORDER BY {key}"
        made = self._placed(self._computed(rows), table, place, self._labels(table), computed=True)
        return replace(made, columns=table.columns)

    def _numbered_rows(self, table: Table, values: str, within: str, key: str) -> str:
        """The query for rows in the order of a key made of the hash of their values and their number among equal ones."""
        place, hashed, nth = self._order_names(table)
        stored, listed = self._stored(table.relation), self._listed(table.names)
        return (
            f"WITH placed AS (SELECT {listed}, {self._place(table)} AS {place} FROM {stored}), "
            f"hashed AS (SELECT *, {values} AS {hashed} FROM placed), "
            f"counted AS (SELECT *, row_number() OVER ({within}) AS {nth} FROM hashed) "
            f"SELECT {listed}, {place} FROM counted ORDER BY {key}"
        )

    def _order_names(self, table: Table) -> tuple[str, str, str]:
        """Names for a row's place, the hash of its values and its number among equal rows."""
        row = self._free_name(table)
        return f"{row}_place", f"{row}_values", f"{row}_nth"

    def _labels(self, table: Table) -> dict[str, pa.Array] | None:
        """The labels of a table's columns that are kept as numbers."""
        coded = self._coded.get(table.relation)
        return {name: coded.labels[name] for name in table.names if name in coded.labels} if coded else None

    def _equal_rows(self, table: Table) -> float:
        """How many others are equal to a row on average: n rows with s pairs of equal ones stand for 2 s N / n² of N."""
        drawn = self.sample(table, SAMPLED_ROWS)
        values = self.dialect.own_hash.format(values=self._listed(table.names))
        pairs = self._fetch(
            f"SELECT coalesce(sum(n * (n - 1)), 0) AS pairs FROM "
            f"(SELECT count(*) AS n FROM {drawn.relation} GROUP BY {values}) AS equal_rows"
        )
        return float(pairs["pairs"][0].as_py()) * table.rows / drawn.rows**2

    def places(self, table: Table) -> IntArray | None:
        """For each row of a table that was made of another, the number of its row there, from 0."""
        if table.places is None:
            return None
        rows = self._fetch(f"SELECT {self.dialect.quote(table.places)} AS place FROM {table.relation}")
        return np.asarray(rows["place"].to_numpy(), dtype=np.int64)

    def to_arrow(
        self,
        table: Table,
        columns: Sequence[str] | None = None,
        *,
        first: int | None = None,
        counted: bool = False,
    ) -> pa.Table:
        """The rows themselves, in their order; with ``first`` only so many, ``counted`` with values as they are grouped."""
        wanted = [table.column(name) for name in columns] if columns else table.columns
        listed = self._listed([column.name for column in wanted])
        if counted:
            listed = ", ".join(f"{self.dialect.value(c)} AS {self.dialect.quote(c.name)}" for c in wanted)
        most = "" if first is None else f" LIMIT {int(first)}"
        return self._fetch(f"SELECT {listed} FROM {table.relation}{most}")

    def native(self, table: Table) -> EngineFrame | None:
        """Nothing: rows leave as Arrow data."""
        return None

    def store(self, table: Table, path: Path) -> None:
        """Put a table's rows into a Parquet file, in their order; they pass through memory here."""
        pyarrow.parquet.write_table(self.to_arrow(table), path)

    def store_parts(self, table: Table, folder: Path) -> None:
        """Put a table's rows into one Parquet file of a folder."""
        self.store(table, folder / "part-0.parquet")

    def _listed(self, names: Sequence[str]) -> str:
        """Names of columns for a SELECT."""
        return ", ".join(self.dialect.quote(name) for name in names)

    def count_breaking(self, table: Table, condition: str) -> int:
        """How many rows break a condition of the user's own; those for which it is null do not."""
        answer = self.query(table, f"SELECT count(*) AS broken FROM data WHERE NOT (\n{condition}\n)")
        if answer.num_rows != 1 or answer.num_columns != 1:
            raise InvalidParameter("what holds is no condition", remedy="write one comparison over columns")
        return int(answer.column(0)[0].as_py())

    def breaking(self, table: Table, condition: str, place: str) -> IntArray:
        """What a column of whole numbers has in the rows that break a condition of the user's own."""
        quoted = self.dialect.quote(place)
        checked = self._checked(f"SELECT {quoted} FROM data WHERE NOT (\n{condition}\n)")
        answer = self._answer(checked, table)
        return np.asarray(answer.column(0).to_numpy(), dtype=np.int64)

    def query(self, table: Table, query: str) -> pa.Table:
        """The answer to one SELECT of the user's own, in which the table is called ``data``.

        ``InvalidParameter``: the query is no single SELECT, reads anything else, calls what is not listed in
        ``engine.query`` or gives too many rows. ``UnknownColumn``, ``UnsuitableColumn``: this table cannot
        answer it. The engine's own words are never passed on: they quote cells.
        """
        checked = self._checked(query)
        answer = self._answer(f"SELECT * FROM (\n{checked}\n) AS answer LIMIT {MAX_ROWS + 1}", table)
        if answer.num_rows > MAX_ROWS:
            raise InvalidParameter(
                Sentence("the query gives more than {most:,} rows", most=MAX_ROWS),
                remedy="aggregate: a KPI has one row per group",
            )
        return answer
