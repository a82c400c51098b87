"""Counting and recoding: rows are grouped, and joined with what becomes of them, by packed codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import Packing
from discreet.engine.limits import check_counted
from discreet.engine.relations import SqlRelations
from discreet.errors import InvalidParameter, UnreadableInput, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table import Column, Domain, Lease, Table
from discreet.types import BoolArray, IntArray


class Counting(SqlRelations):
    """The verbs that work by the codes of values: ``domain``, ``count`` and ``recode``."""

    def domain(self, table: Table, column: str) -> Domain:
        """The distinct values of a column, sorted; nulls known apart."""
        wanted = table.column(column)
        value = self.dialect.value(wanted)
        order = "v"
        if wanted.numeric and wanted.storage == "text":
            order = f"CASE WHEN v IN ({self._marks}) THEN NULL ELSE TRY_CAST(v AS DOUBLE) END NULLS LAST, v"
        distinct = self._fetch(
            f"WITH distinct_values AS (SELECT DISTINCT {value} AS v FROM {table.relation}) "
            f"SELECT v FROM distinct_values ORDER BY {order}"
        )["v"].combine_chunks()
        values = distinct.drop_null()
        if wanted.storage == "float" and not np.isfinite(values.to_numpy(zero_copy_only=False)).all():
            raise UnsuitableColumn(
                f"column {column!r} holds infinite values",
                remedy="replace them by a number or leave them empty before the audit",
            )
        # Text is nominal until somebody says so: it may still hold numbers.
        known = wanted.type if wanted.declared or wanted.type != "nominal" else None
        return Domain(column, values, has_null=len(values) < len(distinct), type=known)

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
        check_counted(names)
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
                Sentence(
                    "counting {name} found {sum:,} records where there are {rows:,}",
                    name=table.source.name,
                    sum=int(counts.sum()),
                    rows=table.rows,
                ),
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

    def relabel(self, table: Table, labels: Mapping[str, tuple[pa.Array, pa.Array]]) -> Table:
        """The table with other values in some columns: per column its distinct values and what replaces each.

        Rows are not written anew: whoever reads them looks the values up, in one relation for all columns.
        """
        if not labels:
            return table
        longest = max(len(new) for _, new in labels.values())
        padded = {
            f"{side}{i}": pa.concat_arrays([values, pa.nulls(longest - len(values), values.type)])
            for i, pair in enumerate(labels.values())
            for side, values in zip("vl", pair, strict=True)
        }
        dictionary = self._put(pa.table(padded))
        lease = Lease(dictionary, self._unused.append)
        lease.rests_on = table.lease
        place = {name: i for i, name in enumerate(labels)}
        shown = ", ".join(
            f"d{place[name]}.l{place[name]} AS {self.dialect.quote(name)}"
            if name in place
            else f"r.{self.dialect.quote(name)}"
            for name in table.names
        )
        joins = " ".join(
            f"LEFT JOIN {dictionary} AS d{i} ON {self.dialect.value(table.column(name), 'r.')} = d{i}.v{i}"
            for name, i in place.items()
        )
        relation = self._computed(f"SELECT {shown} FROM {table.relation} AS r {joins}")
        made = self._table(relation, table.source)
        made.lease.rests_on = lease
        kept = {column.name: column for column in table.columns if column.name not in labels}
        return replace(made, columns=tuple(kept.get(column.name, column) for column in made.columns))

    def recode(
        self,
        table: Table,
        classes: EquivalenceClasses,
        *,
        values: Mapping[str, pa.Array],
        kept: BoolArray,
        columns: Sequence[str],
        keys: Mapping[str, str] | None = None,
        in_order: bool = True,
    ) -> Table:
        """The table after a recoding: one join of its rows with what becomes of their classes.

        ``classes`` must have been counted from this table; ``values[name][c]`` replaces quasi-identifier
        ``name`` in the records of class ``c``; records of classes that are not ``kept`` are left out. Only
        ``columns`` remain, in the order given; a column in ``keys`` is replaced by a hash with that key. Rows
        keep their order, unless nobody needs it.
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
                row, place = self._free_name(table), f"{self._free_name(table)}_place"
                on = " AND ".join(f"c.w{i} = m.w{i}" for i in range(packing.words))
                relation = self._keep(
                    f"WITH r AS (SELECT *, {self._place(table)} AS {row} FROM {table.relation}), "
                    f"c AS (SELECT {', '.join([f'r.{row} AS place', packed, *taken])} FROM r {joins}) "
                    f"SELECT {', '.join([*given, f'c.place AS {place}'])} FROM c JOIN {fate} AS m ON {on}"
                    f"{' ORDER BY c.place' if in_order else ''}"
                )
        finally:
            self._drop(fate)
        return self._placed(relation, table, place)


def _numpy(column: pa.ChunkedArray) -> IntArray:
    return np.asarray(column.to_numpy(), dtype=np.int64)
