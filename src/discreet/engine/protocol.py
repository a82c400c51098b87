"""The verbs an engine must know. Rows never leave it except where a verb says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.table import ColumnProfile, Domain, Source, Table
from discreet.table.frames import EngineFrame
from discreet.table.reading import ReadOptions
from discreet.types import BoolArray, IntArray

if TYPE_CHECKING:
    from discreet.engine.bounded import ValueGrid
    from discreet.engine.question import Condition, Constant


class Engine(Protocol):
    """Where rows live: a dozen domain verbs, the only place that knows SQL."""

    name: str

    def read_file(self, path: Path, options: ReadOptions) -> Table:
        """A table over a file, with what was found out about the file in its source."""

    def read_batches(self, batches: pa.RecordBatchReader, source: Source, options: ReadOptions) -> Table:
        """A table from Arrow batches: how frames and formats without a native reader come in."""

    def profile(self, table: Table) -> tuple[ColumnProfile, ...]:
        """A first look at every column in one pass."""

    def domain(self, table: Table, column: str) -> Domain:
        """The distinct values of a column, sorted."""

    def sample(self, table: Table, rows: int) -> Table:
        """A reproducible sample of rows, spread over the table."""

    def unique_share(self, table: Table, columns: Sequence[str]) -> float:
        """The share of rows that are alone with their values of some columns; of many rows an estimate."""

    def thin(self, table: Table, share: float, *, seed: int) -> Table:
        """About a share of the rows, drawn independently, in their order."""

    def count(
        self,
        table: Table,
        *,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str] = (),
        guards: Sequence[str] = (),
        person: str | None = None,
        weight: str | None = None,
    ) -> EquivalenceClasses:
        """The equivalence classes of the table: one grouping in the engine."""

    def recode(
        self,
        table: Table,
        classes: EquivalenceClasses,
        *,
        values: Mapping[str, pa.Array],
        kept: BoolArray,
        columns: Sequence[str],
        keys: Mapping[str, str] | None = None,
        codes: Mapping[str, tuple[pa.Array, IntArray]] | None = None,
        in_order: bool = True,
    ) -> Table:
        """The table after a recoding: one join of its rows with what becomes of their classes."""

    def shuffle(self, table: Table, *, seed: int) -> Table:
        """The same rows in an order that follows from their values and the seed alone, not from the order they had."""

    def places(self, table: Table) -> IntArray | None:
        """For each row of a table that was made of another, the number of its row there, from 0; else nothing."""

    def to_arrow(
        self,
        table: Table,
        columns: Sequence[str] | None = None,
        *,
        first: int | None = None,
        counted: bool = False,
    ) -> pa.Table:
        """The rows themselves, in their order, or the ``first`` of them: for handing a result to the caller.

        Values are as they came, or ``counted``: as they are grouped, so that they are found in a domain.
        """

    def native(self, table: Table) -> EngineFrame | None:
        """The rows as a frame of the engine's own kind, if they came in as one; nothing if they leave as Arrow data."""

    def store(self, table: Table, path: Path) -> None:
        """Put a table's rows into a Parquet file, in their order."""

    def store_parts(self, table: Table, folder: Path) -> None:
        """Put a table's rows into Parquet files of an empty folder, as many as suit the engine."""

    def query(self, table: Table, query: str) -> pa.Table:
        """The (small) answer to a query of the user's own, in which the table is called ``data``."""

    def count_breaking(self, table: Table, condition: str) -> int:
        """How many rows break a condition of the user's own."""

    def breaking(self, table: Table, condition: str, place: str) -> IntArray:
        """What a column of whole numbers, their places, has in the rows that break a condition of the user's own."""

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
        """Counts and sums of groups in which no person has more than a stated part."""

    def close(self) -> None:
        """Forget all tables and remove what was put on disk."""
