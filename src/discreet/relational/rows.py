"""Several tables whose rows are tied to people by keys: read with integrity, as numbers of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engine.read import read
from discreet.errors import EmptyTable, InvalidParameter, UnknownColumn
from discreet.policy.hierarchies import FittedHierarchy, fit
from discreet.relational.policy import RelationalPolicy, TablePolicy
from discreet.release.pairing import row_codes
from discreet.sentences import Sentence
from discreet.table import Domain, Table
from discreet.types import BoolArray, IntArray


@dataclass(frozen=True)
class PartOfPeople:
    """The rows of one table: ``parents[i]`` is the row of the table that row i refers to, ``persons[i]`` that of its person.

    ``codes`` are those of its quasi-identifiers, in the order of ``domains``.
    """

    name: str
    policy: TablePolicy = field(repr=False)
    rows: pa.Table = field(repr=False)
    parents: IntArray = field(repr=False)
    persons: IntArray = field(repr=False)
    domains: tuple[Domain, ...] = field(default=(), repr=False)
    codes: tuple[IntArray, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Its quasi-identifiers."""
        return tuple(domain.name for domain in self.domains)


@dataclass(frozen=True)
class RelatedTables:
    """Tables about the same people: that of the people first, then those that refer to it, in their order.

    ``others`` tell of nobody; ``fitted`` are the hierarchies of quasi-identifiers that are not of the people's table, by name:
    what is called alike in several tables is generalised alike. ``copied`` are columns that repeat what the people's
    table says.
    """

    policy: RelationalPolicy = field(repr=False)
    parts: tuple[PartOfPeople, ...]
    others: Mapping[str, pa.Table] = field(default_factory=dict, repr=False)
    fitted: Mapping[str, FittedHierarchy] = field(default_factory=dict, repr=False)
    copied: frozenset[tuple[str, str]] = frozenset()

    @property
    def root(self) -> PartOfPeople:
        return self.parts[0]

    @property
    def people(self) -> int:
        return len(self.root)

    def part(self, name: str) -> PartOfPeople:
        return next(part for part in self.parts if part.name == name)

    @classmethod
    def of(cls, tables: Mapping[str, Table], policy: RelationalPolicy) -> RelatedTables:
        """Tie the rows of some tables; refused where a key is not one, or a reference finds nobody."""
        missing = [table.name for table in policy.tables if table.name not in tables]
        if missing:
            raise InvalidParameter(
                Sentence("the policy speaks of tables that are not there: {missing}", missing=tuple(missing)),
                remedy=Sentence("there are: {known}", known=tuple(tables)),
            )
        keys: dict[str, pa.Array] = {}
        for table in policy.tables:
            _check_columns(tables[table.name], table)
            if table.key is not None:
                keys[table.name] = _key(tables[table.name], table.name, table.key)
        places = {
            (table.name, column): _places(tables[table.name], table.name, column, to, keys[to])
            for table in policy.tables
            for column, to in {**table.refers, **table.looks_up}.items()
        }
        root = tables[policy.people]
        if not root.rows:
            raise EmptyTable(
                Sentence("the table {name} has no rows", name=policy.people),
                remedy="give a table with people in it",
            )
        parts = {
            policy.people: PartOfPeople(
                policy.people,
                policy.root,
                root.to_arrow(),
                np.full(root.rows, -1, dtype=np.int64),
                np.arange(root.rows, dtype=np.int64),
            )
        }
        for table in policy.events:
            parent = policy.parent(table.name)
            assert parent is not None, "events refer to people"
            at = places[table.name, parent[0]]
            parts[table.name] = PartOfPeople(
                table.name, table, tables[table.name].to_arrow(), at, parts[parent[1]].persons[at]
            )
        others = {
            table.name: tables[table.name].to_arrow() for table in policy.tables if table.name not in parts
        }
        return _with_codes(cls(policy, tuple(parts.values()), others), tables)

    def kept(self, keeping: Mapping[str, BoolArray]) -> Mapping[str, BoolArray]:
        """Of rows that are to be kept those whose rows above are kept, too."""
        left = {self.root.name: keeping[self.root.name]}
        for part in self.parts[1:]:
            parent = self.policy.parent(part.name)
            assert parent is not None, "events refer to people"
            left[part.name] = keeping[part.name] & left[parent[1]][part.parents]
        return left


def _check_columns(table: Table, policy: TablePolicy) -> None:
    """Refuse names that the table lacks, where it matters."""
    for name in (*policy.keys, *policy.policy.quasi_identifiers, *policy.policy.sensitive):
        if name not in table.names:
            raise UnknownColumn(name, table.names)


def _key(table: Table, name: str, column: str) -> pa.Array:
    """The values of a key as texts; each must be there, and once."""
    values = table.to_arrow().column(column).combine_chunks().cast(pa.string())
    twice = len(values) - values.null_count - pc.count_distinct(values).as_py()
    if values.null_count or twice:
        raise InvalidParameter(
            Sentence(
                "{table}.{column} is no key: {missing:,} rows have none, and {twice:,} have one that another row has, too",
                table=name,
                column=column,
                missing=values.null_count,
                twice=twice,
            ),
            remedy="name another key, or mend the table",
        )
    return values


def _places(table: Table, name: str, column: str, to: str, keys: pa.Array) -> IntArray:
    """The row that each row refers to; a reference to nobody is refused."""
    values = table.to_arrow().column(column).combine_chunks().cast(pa.string())
    at = pc.index_in(values, value_set=keys, skip_nulls=True)
    if at.null_count:
        raise InvalidParameter(
            Sentence(
                "{table}.{column} refers to no row of {to} in {count:,} of {rows:,} rows",
                table=name,
                column=column,
                to=to,
                count=at.null_count,
                rows=len(values),
            ),
            remedy="take these rows out, or add what they refer to: nobody can tell whose they are",
        )
    return np.asarray(at.to_numpy(zero_copy_only=False), dtype=np.int64)


def _with_codes(related: RelatedTables, tables: Mapping[str, Table]) -> RelatedTables:
    """With the codes of all quasi-identifiers, those of a name over all event tables by one domain."""
    policy = related.policy
    root = related.root
    own = _typed(tables[root.name], policy.root)
    domains = [own.engine.domain(own, name) for name in policy.root.quasi_identifiers]
    coded: dict[str, tuple[list[Domain], list[IntArray]]] = {
        root.name: (domains, row_codes(own, domains) if domains else [])
    }
    copied = frozenset(
        (part.name, name)
        for part in related.parts[1:]
        for name in part.policy.quasi_identifiers
        if name in policy.root.quasi_identifiers and _repeats(related, part, name)
    )
    holders: dict[str, list[PartOfPeople]] = {}
    for part in related.parts[1:]:
        coded[part.name] = ([], [])
        for name in part.policy.quasi_identifiers:
            if (part.name, name) not in copied:
                holders.setdefault(name, []).append(part)
    fitted: dict[str, FittedHierarchy] = {}
    for name, parts in holders.items():
        column = next(
            (c for part in parts if (c := part.policy.policy.column(name)) and (c.hierarchy or c.type)),
            parts[0].policy.policy.column(name),
        )
        assert column is not None, "quasi-identifiers have a role"
        whole = read(pa.table({name: _joined([part.rows.column(name) for part in parts])}))
        kind = column.type or tables[parts[0].name].column(name).type
        whole = whole.retype({name: kind}, declared=column.type is not None)
        domain = whole.engine.domain(whole, name)
        (codes,) = row_codes(whole, [domain])
        totals = np.bincount(codes, minlength=domain.size)
        fitted[name] = fit(domain, totals, column.hierarchy, type=kind)
        start = 0
        for part in parts:
            coded[part.name][0].append(domain)
            coded[part.name][1].append(codes[start : start + len(part)])
            start += len(part)
    made = tuple(
        PartOfPeople(
            part.name,
            part.policy,
            part.rows,
            part.parents,
            part.persons,
            tuple(coded[part.name][0]),
            tuple(coded[part.name][1]),
        )
        for part in related.parts
    )
    return RelatedTables(policy, made, related.others, fitted, copied)


def _typed(table: Table, policy: TablePolicy) -> Table:
    """The table with the types that its policy declares."""
    return table.retype({c.name: c.type for c in policy.policy.columns if c.type and c.name in table.names})


def _joined(columns: list[pa.ChunkedArray]) -> pa.Array:
    """Columns of several tables one after the other; as texts where their types differ."""
    arrays = [column.combine_chunks() for column in columns]
    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.string()) for array in arrays]
    return pa.concat_arrays(arrays)


def _repeats(related: RelatedTables, part: PartOfPeople, name: str) -> bool:
    """Whether a column says in every row what the people's table says of that person."""
    if name not in related.root.rows.column_names:
        return False
    own = part.rows.column(name).cast(pa.string())
    theirs = related.root.rows.column(name).cast(pa.string()).take(pa.array(part.persons))
    same = pc.equal(own, theirs)
    both_null = pc.and_(own.is_null(), theirs.is_null())
    return bool(pc.all(pc.or_kleene(same, both_null)).as_py())
