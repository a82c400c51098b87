"""Counting and recoding: rows are grouped, and joined with what becomes of them, by packed codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import Packing, counted_words
from discreet.engine.few_rows import class_of_rows, codes_of, grouped, in_order
from discreet.engine.limits import check_counted, machine_memory, memory
from discreet.engine.relations import SqlRelations
from discreet.errors import InvalidParameter, UnreadableInput, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table import Column, DataType, Domain, Table
from discreet.table.domain import LARGEST_NUMBER, SMALLEST_NUMBER
from discreet.types import BoolArray, FloatArray, IntArray

MANY_ROWS = 1_000_000
"""Of more rows than this, new labels are kept as numbers, where the engine can: they are sorted and written faster."""
MOST_LABELS = 1 << 16
"""Columns with more labels than this are kept as texts."""
LOOKED_AT = 1 << 18
"""So many rows tell whether nearly all differ."""
FEW_ALIKE = 2.0
"""Where a row has on average no more rows like it, sorting all of them is cheaper than grouping them."""


class Counting(SqlRelations):
    """The verbs that work by the codes of values: ``domain``, ``count`` and ``recode``."""

    def domain(self, table: Table, column: str) -> Domain:
        """The distinct values of a column, sorted; nulls known apart."""
        wanted = table.column(column)
        coded = self._coded.get(table.relation)
        if coded is not None and column in coded.labels:
            labels = coded.labels[column]
            return Domain(column, labels.drop_null(), has_null=labels.null_count > 0, type=_known(wanted))
        value = self.dialect.value(wanted)
        order = (
            self.dialect.text_order.format(value="v") if wanted.storage in ("text", "list", "other") else "v"
        )
        if wanted.numeric and wanted.storage == "text":
            order = f"{self._number('v')} NULLS LAST, {order}"
        distinct = self._fetch(
            f"WITH distinct_values AS (SELECT DISTINCT {value} AS v FROM {table.relation}) "
            f"SELECT v FROM distinct_values ORDER BY {order}"
        )["v"].combine_chunks()
        return _domain(wanted, distinct.drop_null(), has_null=distinct.null_count > 0)

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
        """The equivalence classes of the table, by one grouping of packed codes.

        Each attribute gets a dictionary (value → code); the codes of a row share one integer (more if
        they need more than 63 bits), and that integer is grouped. Grouping one integer is faster than
        grouping the columns themselves, and what comes back is already encoded.
        """
        names = [*quasi_identifiers, *([person] if person else []), *sensitive, *guards]
        check_counted(names)
        columns = [table.column(name) for name in names]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise InvalidParameter(
                Sentence("column {column!r} is asked for in two roles", column=sorted(repeated)[0]),
                remedy="give each column one role",
            )
        few = weight is None and bool(names) and self._is_small(table)
        if few:
            domains, codes = self._coded_rows(table, columns)
        else:
            domains = [self.domain(table, name) for name in names]
        if person and domains[len(quasi_identifiers)].has_null:
            raise UnsuitableColumn(
                Sentence("column {person!r} is the person id but is empty in some rows", person=person),
                remedy="fill or remove these rows, or choose another person id",
            )
        packing = Packing.of([domain.size for domain in domains])
        weights = None
        if few:
            words, counts = grouped(packing, codes)
        else:
            words, counts, weights = self._counted_cells(table, columns, domains, packing, weight)
        if int(counts.sum()) != table.rows:
            raise UnreadableInput(
                Sentence(
                    "counting {name} found {sum:,} records where there are {rows:,}",
                    name=table.source.name,
                    sum=int(counts.sum()),
                    rows=table.rows,
                ),
                remedy="the source changed while it was read: start again",
            )
        if weights is not None and (not np.isfinite(weights).all() or (weights <= 0).any()):
            raise UnsuitableColumn(
                Sentence(
                    "column {weight!r} is the sampling weight but has empty, zero or negative entries",
                    weight=weight,
                ),
                remedy="give every row a positive weight, or leave the weight out",
            )
        m = len(quasi_identifiers)
        return EquivalenceClasses.from_packed(
            packing,
            words,
            counts,
            attributes=domains[:m],
            sensitive=domains[m + bool(person) : len(names) - len(guards)],
            guards=domains[len(names) - len(guards) :],
            persons=person is not None,
            weights=weights,
            spent=True,
        )

    def _is_small(self, table: Table) -> bool:
        """Whether the rows are so few that they are coded here, where the engine offers that."""
        return table.rows <= self.few_rows and table.relation not in self._coded

    def _coded_rows(self, table: Table, columns: Sequence[Column]) -> tuple[list[Domain], list[IntArray]]:
        """The domains of some columns of few rows, and the codes of the rows: one statement brings both."""
        wanted = [f"{self.dialect.value(column)} AS v{i}" for i, column in enumerate(columns)]
        written = {
            i: self.dialect.value(c) for i, c in enumerate(columns) if c.numeric and c.storage == "text"
        }
        wanted += [f"{self._number(value)} AS n{i}" for i, value in written.items()]
        rows = self._fetch(f"SELECT {', '.join(wanted)} FROM {table.relation}")
        domains, codes = [], []
        for i, column in enumerate(columns):
            values, places = in_order(rows[f"v{i}"], rows[f"n{i}"] if i in written else None)
            domains.append(_domain(column, values, has_null=rows[f"v{i}"].null_count > 0))
            codes.append(places)
        return domains, codes

    def _number(self, text: str) -> str:
        """The number that a text is written for, and null for a mark of a missing one."""
        return (
            f"CASE WHEN {text} IN ({self._marks}) THEN NULL ELSE {self.dialect.number.format(text=text)} END"
        )

    def _counted_cells(
        self,
        table: Table,
        columns: Sequence[Column],
        domains: Sequence[Domain],
        packing: Packing,
        weight: str | None,
    ) -> tuple[list[IntArray], IntArray, FloatArray | None]:
        """The packed words of the combinations that occur, how often each does, and with which weight."""
        coded = self._coded.get(table.relation)
        numbered = coded.labels.keys() if coded else ()
        looked_up = [None if domain.name in numbered else values_and_codes(domain) for domain in domains]
        with self._dictionaries(_needed(domains, looked_up)) as dictionaries:
            rows = self._row_words(table, columns, domains, dictionaries, packing, weight)
            if packing.words == 1 and weight is None and self._nearly_distinct(rows, table.rows):
                words, counts = counted_words(self._fetch_numbers(rows, table.rows)["w0"])
                return words, counts, None
            return self._grouped(rows, table.rows, packing, weight)

    def _row_words(
        self,
        table: Table,
        columns: Sequence[Column],
        domains: Sequence[Domain],
        dictionaries: Sequence[str],
        packing: Packing,
        weight: str | None,
    ) -> str:
        """The query for the packed words of all rows, and their weights if they have any."""
        packed, joins = self._packed(columns, domains, dictionaries, packing)
        weighed = ""
        if weight:
            column = table.column(weight)
            if not column.numeric:
                raise UnsuitableColumn(
                    Sentence("column {weight!r} is the sampling weight but is not numeric", weight=weight),
                    remedy="choose a numeric column, or leave the weight out",
                )
            value = self.dialect.value(column, "r.")
            if column.storage == "text":
                weighed = f", {self.dialect.number.format(text=value)} AS weight"
            else:
                weighed = f", CAST({value} AS {self.dialect.double}) AS weight"
        return f"SELECT {packed}{weighed} FROM {self._stored(table.relation)} AS r {joins}"

    def _nearly_distinct(self, rows: str, many: int) -> bool:
        """Whether so few rows are alike that sorting all their words here is cheaper than grouping them in the engine.

        The first rows tell: n of them with s pairs that are alike stand for a table of N rows in which a row has
        2 s N / n² others like it. It decides how rows are counted, not what comes out.
        """
        if not self.streams_numbers or many <= MANY_ROWS or 16 * many > (memory() or machine_memory()):
            return False
        first = self._fetch_numbers(f"{rows} LIMIT {LOOKED_AT}", LOOKED_AT)["w0"]
        _, counts = counted_words(first)
        alike = float((counts * (counts - 1)).sum()) * many / len(first) ** 2
        return alike <= FEW_ALIKE

    def _grouped(
        self, rows: str, many: int, packing: Packing, weight: str | None
    ) -> tuple[list[IntArray], IntArray, FloatArray | None]:
        """The distinct words of rows, grouped by the engine, with how many have them and their weights."""
        # A missing weight must not vanish in the sum: it makes the whole cell's weight unknown.
        weight_sum = (
            ", CASE WHEN count(weight) = count(*) AND min(weight) > 0 THEN sum(weight) ELSE -1 END AS weight"
        )
        keys = ", ".join(f"w{i}" for i in range(packing.words))
        cells = self._fetch_numbers(
            f"WITH coded AS ({rows}) "
            f"SELECT {keys}, count(*) AS n{weight_sum if weight else ''} FROM coded GROUP BY {keys}",
            many,
        )
        words = [cells.pop(f"w{i}").astype(np.int64, copy=False) for i in range(packing.words)]
        counts = cells.pop("n").astype(np.int64, copy=False)
        return words, counts, cells["weight"].astype(np.float64) if weight else None

    def _packed(
        self,
        columns: Sequence[Column],
        domains: Sequence[Domain],
        dictionaries: Sequence[str],
        packing: Packing,
    ) -> tuple[str, str]:
        """The packed words ``w0, w1 …`` of a row ``r``, and the joins with dictionaries that they need.

        A column without a dictionary holds whole numbers without gaps, or numbers of labels already.
        """
        words: list[list[str]] = [[] for _ in range(packing.words)]
        joins = []
        for i, (column, domain, at) in enumerate(zip(columns, domains, packing.fields, strict=True)):
            if at.bits:
                number = f"d{i}.code"
                value = self.dialect.value(column, "r.")
                if dictionaries[i]:
                    joins.append(f"LEFT JOIN {dictionaries[i]} AS d{i} ON {value} = d{i}.v")
                elif has_no_gaps(domain):
                    number = f"CAST({value} AS BIGINT) - CAST({domain.values[0].as_py()} AS BIGINT)"
                else:
                    number = self.dialect.label_number.format(name=f"r.{self.dialect.quote(column.name)}")
                words[at.word].append(
                    f"coalesce({number}, {len(domain.values)}) * CAST({at.factor} AS BIGINT)"
                )
        listed = ", ".join(
            f"{' + '.join(parts) or 'CAST(0 AS BIGINT)'} AS w{i}" for i, parts in enumerate(words)
        )
        return listed, " ".join(joins)

    @contextmanager
    def _dictionaries(self, dictionaries: Sequence[tuple[pa.Array, IntArray] | None]) -> Iterator[list[str]]:
        """Value-to-code relations for the time of one query."""
        kept: list[str] = []
        try:
            for dictionary in dictionaries:
                if dictionary is None:
                    kept.append("")
                else:
                    values, codes = dictionary
                    kept.append(self._put(pa.table({"v": values, "code": pa.array(codes)})))
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
        codes: Mapping[str, tuple[pa.Array, IntArray]] | None = None,
        in_order: bool = True,
    ) -> Table:
        """The table after a recoding: one join of its rows with what becomes of their classes.

        ``classes`` must have been counted from this table, or rolled up from such classes: then ``codes`` has, per
        attribute that was generalised, its values in the table and the code of each in the classes; ``values[name][c]`` replaces quasi-identifier
        ``name`` in the records of class ``c``; records of classes that are not ``kept`` are left out. Only
        ``columns`` remain, in the order given; a column in ``keys`` is replaced by a hash with that key. Rows
        keep their order, unless nobody needs it.
        """
        quasi_identifiers = [table.column(name) for name in classes.names]
        packing = Packing.of([domain.size for domain in classes.attributes])
        words = packing.pack(classes.codes) if classes.names else [np.zeros(len(classes), dtype=np.int64)]
        coarser = [
            (codes or {}).get(domain.name) or values_and_codes(domain) for domain in classes.attributes
        ]
        chosen = np.flatnonzero(kept)
        few = bool(classes.names) and self._is_small(table)
        if few:
            # Few rows are told by their numbers, which need no dictionaries.
            of_rows = class_of_rows(words, self._packed_rows(table, classes, coarser, packing))
            numbers = np.flatnonzero(np.isin(of_rows, chosen))
            chosen, matched, coarser = of_rows[numbers], [numbers], []
        else:
            matched, coarser = [word[chosen] for word in words], _needed(classes.attributes, coarser)
        plan = {f"w{i}": pa.array(word) for i, word in enumerate(matched)}
        plan |= {f"v{i}": new.take(pa.array(chosen)) for i, new in enumerate(values.values())}
        fate, labels = self._fate(plan, many=table.rows > MANY_ROWS)
        replaced = {name: f"m.v{i}" for i, name in enumerate(values)}
        try:
            with self._dictionaries(coarser) as dictionaries:
                packed, joins = (
                    (f"{self._row_number(table.relation)} AS w0", "")
                    if few
                    else self._packed(quasi_identifiers, classes.attributes, dictionaries, packing)
                )
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
                row, place = self._free_name(table), f"{self._free_name(table)}_place"
                on = " AND ".join(f"c.w{i} = m.w{i}" for i in range(len(matched)))
                relation = self._keep(
                    f"WITH r AS (SELECT *, {self._place(table)} AS {row} FROM {table.relation}), "
                    f"c AS (SELECT {', '.join([f'r.{row} AS place', packed, *taken])} FROM r {joins}) "
                    f"SELECT {', '.join([*given, f'c.place AS {place}'])} FROM c JOIN {fate} AS m ON {on}"
                    f"{' ORDER BY c.place' if in_order else ''}"
                )
        finally:
            self._drop(fate)
        shown = {
            name: labels[f"v{i}"] for i, name in enumerate(values) if f"v{i}" in labels and name in columns
        }
        return self._placed(relation, table, place, labels=shown)

    def _packed_rows(
        self,
        table: Table,
        classes: EquivalenceClasses,
        dictionaries: Sequence[tuple[pa.Array, IntArray] | None],
        packing: Packing,
    ) -> list[IntArray]:
        """The packed words of few rows, in their order."""
        values = ", ".join(
            f"{self.dialect.value(table.column(name))} AS v{i}" for i, name in enumerate(classes.names)
        )
        rows = self._fetch(f"SELECT {values} FROM {table.relation}")
        return packing.pack(
            [
                np.zeros(rows.num_rows, dtype=np.int64)
                if dictionary is None
                else codes_of(rows[f"v{i}"], dictionary, len(domain.values))
                for i, (domain, dictionary) in enumerate(zip(classes.attributes, dictionaries, strict=True))
            ]
        )

    def _fate(self, plan: Mapping[str, pa.Array], *, many: bool) -> tuple[str, dict[str, pa.Array]]:
        """The relation of what becomes of classes and, where rows are many, the labels that are numbers in it."""
        labels = {}
        for name, column in plan.items():
            if many and pa.types.is_string(column.type):
                distinct = column.unique()
                if len(distinct) <= MOST_LABELS:
                    labels[name] = distinct.take(pc.sort_indices(distinct))
        plain = self._put(pa.table(dict(plan)))
        numbered = self._numbered(plain, labels) if labels else ""
        if not numbered:
            return plain, {}
        self._drop(plain)
        return numbered, labels


def _domain(column: Column, values: pa.Array, *, has_null: bool) -> Domain:
    """The domain of a column with these values, none of which may be infinite, or so large or small that its square is no number."""
    if column.storage == "float":
        numbers = np.abs(values.to_numpy(zero_copy_only=False))
        told = Sentence("column {column!r} holds infinite values", column=column.name)
        if np.isfinite(numbers).all():
            told = Sentence(
                "column {column!r} holds numbers beyond 10^100, or other than 0 and nearer to it than 10^-100, "
                "with which nobody can reckon",
                column=column.name,
            )
        if ((numbers > LARGEST_NUMBER) | (numbers < SMALLEST_NUMBER) & (numbers != 0)).any():
            raise UnsuitableColumn(
                told, remedy="replace them by a number or leave them empty before the audit"
            )
    return Domain(column.name, values, has_null=has_null, type=_known(column))


def values_and_codes(domain: Domain) -> tuple[pa.Array, IntArray] | None:
    """The values of a domain and their codes; a single value needs none."""
    return None if domain.size < 2 else (domain.values, np.arange(len(domain.values), dtype=np.int64))


def _needed(
    domains: Sequence[Domain], dictionaries: Sequence[tuple[pa.Array, IntArray] | None]
) -> list[tuple[pa.Array, IntArray] | None]:
    """The dictionaries by which a query looks up codes: those of whole numbers without gaps it works out."""
    return [None if has_no_gaps(domain) else each for domain, each in zip(domains, dictionaries, strict=True)]


def has_no_gaps(domain: Domain) -> bool:
    """Whether the values are whole numbers, all from the first to the last: a code is a difference then.

    >>> has_no_gaps(Domain("age", pa.array([7, 8, 9]))), has_no_gaps(Domain("age", pa.array([7, 9])))
    (True, False)
    """
    values = domain.values
    if not pa.types.is_integer(values.type) or not len(values):
        return False
    first, last = int(values[0].as_py()), int(values[-1].as_py())
    return last - first == len(values) - 1 and -(1 << 63) <= first <= last < 1 << 63


def _known(column: Column) -> DataType | None:
    """What is known of a column's values. Text is nominal until somebody says so: it may still hold numbers."""
    return column.type if column.declared or column.type != "nominal" else None
