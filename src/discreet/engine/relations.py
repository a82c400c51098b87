"""Relations inside an SQL engine: what each engine adds, and handles to what it keeps."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pyarrow as pa
from numpy.typing import NDArray

from discreet.engine.dialect import SqlDialect
from discreet.engine.limits import check_columns
from discreet.engine.protocol import Engine
from discreet.errors import EmptyTable, UnreadableInput, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS, Column, Lease, Source, Table


@dataclass(frozen=True)
class CodedRelation:
    """Where the rows of a relation lie with numbers in place of labels, and the labels by column, in the order of the numbers."""

    name: str
    labels: Mapping[str, pa.Array]
    """The last one is null if there are nulls in the column."""


class SqlRelations(ABC):
    """Named relations of an engine that speaks SQL, and tables over them."""

    name: str
    dialect: SqlDialect
    columns_at_once = 32
    """So many columns are asked about in one query: time and memory of planning grow with the square of them."""

    few_rows = 0
    """Up to so many rows are coded here and not by statements, each of which costs more than they do."""

    recomputes = False
    """Whether a relation that was kept is made anew, with other numbers of rows, once what it was made of is dropped."""

    streams_numbers = False
    """Whether the numbers of an answer come piece by piece, so that those of all rows may be asked for."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._unused: deque[str] = deque()
        self._coded: dict[str, CodedRelation] = {}

    # ── what each engine adds ─────────────────────────────────────────────────────────────────────

    @abstractmethod
    def _fetch(self, query: str) -> pa.Table:
        """Run a query and bring its (small) result here."""

    def _fetch_numbers(self, query: str, most: int) -> dict[str, NDArray[Any]]:
        """The columns of a result, all numbers, of ``most`` rows if nothing changes meanwhile."""
        rows = self._fetch(query)
        return {name: rows[name].to_numpy() for name in rows.column_names}

    def _figures(self, questions: Mapping[str, Sequence[str]], relation: str) -> dict[str, Any]:
        """The answers to questions about columns, each a list of aggregates with names."""
        figures: dict[str, Any] = {}
        for names in batched(questions, self.columns_at_once):
            wanted = ", ".join(part for name in names for part in questions[name])
            figures |= self._fetch(f"SELECT {wanted} FROM {relation}").to_pylist()[0]
        return figures

    @abstractmethod
    def _keep(self, query: str) -> str:
        """Materialise a query's result inside the engine, in order, and return its quoted name."""

    def _computed(self, query: str) -> str:
        """A relation that may be computed anew whenever it is read, and its quoted name; kept, where that is not offered."""
        return self._keep(query)

    @abstractmethod
    def _put(self, table: pa.Table) -> str:
        """Bring a small Arrow table into the engine and return its quoted name."""

    def _numbered(self, relation: str, labels: Mapping[str, pa.Array]) -> str:
        """The same small relation with numbers of labels in place of texts, where the engine has such a type; else nothing."""
        return ""

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
    def _row_number(self, relation: str) -> str:
        """The expression that numbers the rows of a relation from 0, without gaps."""

    @abstractmethod
    def _column(self, name: str, type_name: str) -> Column:
        """What a column of the engine's type is."""

    def _name(self) -> str:
        """A name for a new relation; what is no longer used makes room first."""
        while self._unused:
            self._drop(self._unused.popleft())
        return f"discreet_{next(self._numbers)}"

    def _stored(self, relation: str) -> str:
        """The relation in which the rows of this one lie, with numbers in place of labels where there are any."""
        return self._coded[relation].name if relation in self._coded else relation

    def _shown(self, stored: str, columns: Sequence[str], labels: Mapping[str, pa.Array]) -> str:
        """A relation that shows the labels of a stored one as texts."""
        listed = ", ".join(
            f"CAST({quoted} AS {self.dialect.text}) AS {quoted}" if name in labels else quoted
            for name in columns
            for quoted in [self.dialect.quote(name)]
        )
        relation = self._computed(f"SELECT {listed} FROM {stored}")
        self._coded[relation] = CodedRelation(
            stored, {name: labels[name] for name in columns if name in labels}
        )
        return relation

    def _cells(self, schema: Iterable[tuple[str, str]]) -> str:
        """The list of columns that reads a relation of this schema."""
        return ", ".join(
            self.dialect.cell(self._column(name, type_name), type_name) for name, type_name in schema
        )

    def _columns(self, relation: str) -> list[Column]:
        """What the columns of a relation are."""
        return [self._column(name, type_name) for name, type_name in self._schema(relation)]

    def _table(
        self,
        relation: str,
        source: Source,
        columns: Sequence[Column] | None = None,
        rows: int | None = None,
    ) -> Table:
        """A handle over a relation, whose columns and rows may be known; dropped from the engine some time after its last use."""
        columns = self._columns(relation) if columns is None else columns
        if not columns:
            raise EmptyTable(
                Sentence("{name} has no columns", name=source.name),
                remedy="check that this is the file you meant",
            )
        check_columns([column.name for column in columns], source.name)
        check_names([column.name for column in columns], source.name)
        rows = self._row_count(relation) if rows is None else rows
        if not rows:
            raise no_rows(source)
        # Every concrete engine has all verbs; this part of it has only some.
        return Table(cast(Engine, self), Lease(relation, self._unused.append), tuple(columns), rows, source)

    def _row_count(self, relation: str) -> int:
        """How many rows a relation has."""
        return int(self._fetch(f"SELECT count(*) AS n FROM {relation}")["n"][0].as_py())

    @property
    def _marks(self) -> str:
        return ", ".join(self.dialect.literal(mark) for mark in MISSING_MARKS)

    def _place(self, table: Table) -> str:
        """The expression for which row of the table that it was made from a row is; of none, its own number."""
        return self._row_number(table.relation) if table.places is None else self.dialect.quote(table.places)

    def _placed(
        self,
        relation: str,
        table: Table,
        places: str,
        labels: Mapping[str, pa.Array] | None = None,
        *,
        computed: bool = False,
    ) -> Table:
        """A handle over a relation that was made of a table, whose column ``places`` nobody else shall see.

        Columns with ``labels`` hold the numbers of these. One that is ``computed`` has all rows of the table.
        """
        rests_on = table.lease if self.recomputes or computed else None
        if labels:
            stored = Lease(relation, self._unused.append)
            stored.rests_on = rests_on
            relation = self._shown(relation, [name for name, _ in self._schema(relation)], labels)
            rests_on = stored
        made = self._table(relation, table.source, rows=table.rows if computed else None)
        made.lease.rests_on = rests_on
        return replace(made.without([places]), places=places)

    @staticmethod
    def _free_name(table: Table) -> str:
        """A name for a row number with which no column of the table begins."""
        name = "discreet_row"
        while any(column.lower().startswith(name) for column in table.names):
            name += "_"
        return name


def batched(names: Iterable[str], size: int) -> Iterator[list[str]]:
    """Names in lists of at most ``size``.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    left = iter(names)
    while part := list(itertools.islice(left, size)):
        yield part


def no_rows(source: Source) -> EmptyTable:
    return EmptyTable(
        Sentence("{name} has columns but no rows", name=source.name),
        remedy="check that this is the file you meant",
    )


def unanswerable(table: Table) -> UnsuitableColumn:
    return UnsuitableColumn(
        Sentence("the query cannot be computed on {name}", name=table.source.name),
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
                Sentence(
                    "{source} has two columns called {name!r} (upper and lower case count as the same)",
                    source=source,
                    name=name,
                ),
                remedy="rename one of them",
            )
        seen.add(name.lower())
