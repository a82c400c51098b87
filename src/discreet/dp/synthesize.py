"""``discreet.synthesize``: artificial people whose columns go together as those of a table do, with a guarantee.

Select, measure, generate: every column is counted with noise, tables of several columns are chosen with noise and counted with
noise, and rows are drawn from what was counted. What is chosen is a matter of the method: `dp.mst`, `dp.aim` or `dp.privbayes`; `dp.whole_table` counts
all columns together, `dp.components` their correlations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.typing import IntoFrame

from discreet.dp.accounting import rho_of
from discreet.dp.aim import AdaptiveModel
from discreet.dp.amounts import Amount, exact, whole_number
from discreet.dp.coding import (
    OTHER,
    Coding,
    ListedCoding,
    NumberCoding,
    check_bounded,
    codings,
    number_bins,
)
from discreet.dp.components import ComponentModel
from discreet.dp.contributions import hashes_of, kept_rows, mixed
from discreet.dp.found_bounds import PowerCoding
from discreet.dp.keys import PublicKeys
from discreet.dp.ledger import Ledger
from discreet.dp.measuring import Bounds
from discreet.dp.mst import PairModel
from discreet.dp.noise import OpenDP, check_scale, gaussian, gaussian_threshold
from discreet.dp.privbayes import NetworkModel
from discreet.dp.profiles import ROWS, profiles, rows_column
from discreet.dp.rows import GuaranteedRows
from discreet.dp.statement import Guarantee, Unit, describe_unit, unit_of
from discreet.dp.terms import people_of, resolve_ledger, resolve_unit
from discreet.dp.tree import MeasuredTable
from discreet.dp.whole_table import TableModel, check_cells
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.types import BoolArray, IntArray

Method = Literal["mst", "aim", "privbayes", "table", "pca"]
"""A tree of pairs, which takes a second; tables of up to three columns, which take up to a minute and come nearer; a baseline; all
columns in one table, if they are few; numbers by their principal components."""
Model = PairModel | AdaptiveModel | NetworkModel | TableModel | ComponentModel
MODELS: dict[Method, type[Model]] = {
    "mst": PairModel,
    "aim": AdaptiveModel,
    "privbayes": NetworkModel,
    "table": TableModel,
    "pca": ComponentModel,
}
Keeps = Callable[[pa.Table], BoolArray]
"""Which rows keep rules that are known without the data."""
DRAWS = 40
"""So often rows are drawn at most until enough of them keep the rules."""
BINS = 100
"""In so many bins numbers are kept at most, unless told otherwise."""
MOST_NOISE = 1e6
"""So many rows may the noise in their number make up."""


@dataclass(frozen=True)
class ArtificialPeople(GuaranteedRows):
    """Rows that nobody has, what they guarantee, and which tables of several columns they keep."""

    tables: tuple[tuple[str, ...], ...]

    def to_dict(self) -> dict[str, object]:
        own = {"schema": "discreet-artificial-1", "tables": [list(columns) for columns in self.tables]}
        return {**own, **super().to_dict()}


def synthesize(
    source: str | PathLike[str] | IntoFrame | pa.Table | pa.RecordBatchReader | Table,
    *,
    epsilon: Amount,
    delta: Amount,
    columns: Sequence[str] | None = None,
    person: str | None = None,
    unit: Unit | None = None,
    max_rows: int = 1,
    bounds: Bounds | None = None,
    find_bounds: Sequence[str] = (),
    keys: PublicKeys | None = None,
    bins: int = BINS,
    method: Method = "mst",
    per_person: bool = False,
    keeps: Keeps | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> ArtificialPeople:
    """Draw artificial people with (ε, δ)-differential privacy, paid for from the table's ledger.

    Of each ``person`` at most ``max_rows`` rows count; ``unit="record"`` says that each row is somebody else. Numbers need
    ``bounds`` and are kept in at most ``bins`` bins; those of columns in ``find_bounds`` are found in the data and paid for. Values of other columns may be
    given by ``keys``; if they are not, they are found, too: a value is kept if enough people have it, others become ``*``. ``method`` says which tables
    of several columns are measured: ``"mst"`` pairs that form a tree, ``"aim"`` pairs and triples where the model is worst, ``"privbayes"`` each column with up
    to two parents, ``"table"`` all columns together, ``"pca"`` correlations of numbers.

    ``per_person`` makes one row of each person first (`dp.profiles`): how many rows they have, up to ``max_rows``, their commonest values and mean
    numbers. ``keeps`` tells which rows are possible, by rules that are known without the data: others are drawn again.
    """
    OpenDP()
    table = read(source)
    whose = resolve_unit(table, person, unit)
    wanted = [table.column(name).name for name in columns or table.names if name != whose]
    if len(wanted) < 2 or len(set(wanted)) < len(wanted) or whose in wanted:
        raise InvalidParameter(
            "artificial people need at least two columns, each once, without the person id",
            remedy="name other columns",
        )
    most_rows = whole_number(max_rows, "max_rows", 1000)
    if method not in MODELS:
        raise InvalidParameter(
            Sentence("the method is {method!r}", method=method),
            remedy=Sentence("choose one of: {choices}", choices=tuple(MODELS)),
        )
    if per_person and whose is None:
        raise InvalidParameter("a row per person needs the column of the person ids", remedy="name it")
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", below_one=True)
    domains = _Domains.of(
        table, wanted, bounds or {}, find_bounds, keys or {}, whole_number(bins, "bins", 10_000)
    )
    if per_person:
        domains.coded[ROWS] = rows_column(domains.coded, most_rows, domains.bins)
    check_method(method, domains)
    people = _CountedPeople(whose, most_rows if whose else 1, per_person)
    work = _Synthesis(table, domains, people, *amounts, method=method, keeps=keeps)
    place = resolve_ledger(source, ledger)
    purpose = f"artificial people with {', '.join(wanted)}"
    with place.reserve(
        *amounts, purpose=purpose, table=people_of(table, whose), unit=unit_of(whose)
    ) as reservation:
        rows, tables = work.rows(reservation.drawing)
    balance = place.balance()
    left = balance.left_epsilon, balance.left_delta
    return ArtificialPeople(rows, work.guarantee(), *left, reservation.payment, tables)


def check_method(method: Method, domains: _Domains) -> None:
    """Refuse columns that a method cannot take."""
    if method == "table":
        # Bounds that are found make as many bins as are allowed; the powers that they are found by are other cells.
        bins = domains.bins + 1
        check_cells(
            [
                bins if isinstance(coding, PowerCoding) else None if coding is None else coding.size
                for coding in domains.coded.values()
            ]
        )
    if method == "pca":
        for name, coding in domains.coded.items():
            if not isinstance(coding, NumberCoding | PowerCoding):
                raise InvalidParameter(
                    Sentence("{name} holds no numbers, and components are those of numbers", name=name),
                    remedy="name columns of numbers, or take mst",
                )


def rows_to_compare(
    table: Table, columns: Sequence[str], *, epsilon: Amount, delta: Amount, bounds: Bounds
) -> pa.Table:
    """Artificial people as ``synthesize`` draws them, each row somebody else's, to be compared with the original inside.

    Nothing is paid for, and ``bounds`` may come from the data: no such row, and nothing that is told of them, has a guarantee.
    """
    OpenDP()
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", below_one=True)
    domains = _Domains.of(table, columns, bounds, (), {}, BINS)
    return _Synthesis(table, domains, _CountedPeople(None, 1), *amounts).rows(lambda: None)[0]


@dataclass(frozen=True)
class _Domains:
    """How each column is coded: nothing where its values are found, and powers where its bounds are."""

    coded: dict[str, Coding | PowerCoding | None]
    whole: frozenset[str]
    bins: int

    @classmethod
    def of(
        cls,
        table: Table,
        names: Sequence[str],
        bounds: Bounds,
        find_bounds: Sequence[str],
        keys: PublicKeys,
        bins: int,
    ) -> _Domains:
        given = {table.column(name).name: values for name, values in keys.items()}
        limits = {table.column(name).name: pair for name, pair in bounds.items()}
        sought = [table.column(name).name for name in find_bounds]
        for name in sought:
            column = table.column(name)
            check_bounded(column)
            if name in limits or name in given or name not in names or not column.numeric:
                raise InvalidParameter(
                    Sentence("the bounds of {name} cannot be found", name=name),
                    remedy="name columns of numbers that are kept, and whose bounds are not given",
                )
        listed = [name for name in names if name not in sought]
        coded = codings(table, listed, limits, given, bins)
        whole = frozenset(name for name in sought if table.column(name).type == "integer")
        return cls(
            {name: PowerCoding(name) if name in sought else coded[name] for name in names}, whole, bins
        )


@dataclass(frozen=True)
class _CountedPeople:
    """Whose rows they are, how many of each count, and whether they become one first."""

    person: str | None
    max_rows: int
    one_row: bool = False

    @property
    def step(self) -> int:
        """So many rows somebody brings at most into what is counted."""
        return 1 if self.one_row else self.max_rows


class _Synthesis:
    """Codes, counts, draws and decodes."""

    def __init__(
        self,
        table: Table,
        domains: _Domains,
        people: _CountedPeople,
        epsilon: Fraction,
        delta: Fraction,
        *,
        method: Method = "mst",
        keeps: Keeps | None = None,
    ) -> None:
        self.method: Method = method
        self.table, self.domains, self.people, self.keeps = table, domains, people, keeps
        self.coded = dict(domains.coded)
        self.max_rows = people.step
        self.epsilon, self.delta = epsilon, delta
        self.paid = [name for name, coding in self.coded.items() if coding is None]
        self.sought = [name for name, coding in self.coded.items() if isinstance(coding, PowerCoding)]
        # Values that are found in the data may betray somebody with a probability: half of δ is for that.
        self.delta_values = delta / 2 if self.paid else Fraction(0)
        rho = rho_of(epsilon, delta - self.delta_values)
        share = MODELS[method].columns_share
        self.rho_columns, self.rho_tables = rho * share, rho * (1 - share)
        # Every column, every range that is sought, and the number of rows.
        self.rho_column = self.rho_columns / (len(self.coded) + len(self.sought) + 1)
        # Refused before anything is reserved: as many rows are drawn as the noise says, and memory would not hold them.
        check_scale(self.max_rows / math.sqrt(2 * self.rho_column), most=MOST_NOISE)

    def rows(self, drawing: Callable[[], None]) -> tuple[pa.Table, tuple[tuple[str, ...], ...]]:
        # Whether rows can be read may depend on them, so from here on the amount is spent.
        drawing()
        cells = self.cells()
        codes = {name: self.encoded(name, cells[name]) for name in self.coded}
        kept = self.kept(codes, cells)
        codes = {name: (column[kept], values) for name, (column, values) in codes.items()}
        for name in self.sought:
            codes[name] = self.bounded(name, codes[name][0], cells[name].take(pa.array(kept))), ()
        total, measured = self.measure_columns(codes)
        model = MODELS[self.method](
            [column for column, _ in codes.values()], measured, total, self.max_rows, self.rho_tables
        )
        names = list(self.coded)
        tables = tuple(tuple(names[i] for i in columns) for columns in model.fit())
        return self.drawn(model), tables

    def cells(self) -> pa.Table:
        """The rows, or one for each person."""
        person = self.people.person
        names = [name for name in self.coded if not (self.people.one_row and name == ROWS)]
        cells = self.table.engine.to_arrow(self.table, [*names, *([] if person is None else [person])])
        if not self.people.one_row or person is None:
            return cells
        return profiles(cells, person, self.coded)

    def drawn(self, model: Model) -> pa.Table:
        """Rows of a model, those that break a rule drawn again: from the model, given that the rules hold."""
        made = self.decoded(model.draw(model.rows))
        if self.keeps is None:
            return made
        parts, lacking = [], made.num_rows
        for _ in range(DRAWS):
            parts.append(made.filter(pa.array(self.keeps(made))).slice(0, lacking))
            lacking -= parts[-1].num_rows
            if not lacking:
                break
            made = self.decoded(model.draw(model.rows))
        return pa.concat_tables(parts)

    def decoded(self, codes: Sequence[IntArray]) -> pa.Table:
        names = list(self.coded)
        made = [self.decoding(name).decode(column) for name, column in zip(names, codes, strict=True)]
        return pa.table(dict(zip(names, made, strict=True)))

    # ── codes ─────────────────────────────────────────────────────────────────────────────────────

    def encoded(self, name: str, cells: pa.ChunkedArray) -> tuple[IntArray, tuple[str, ...]]:
        """A column as codes; one whose values are not given, with its values, which stay secret until they are chosen."""
        coding = self.coded[name]
        if coding is not None:
            return coding.encode(cells), ()
        values = tuple(sorted(pc.unique(cells).drop_null().to_pylist()))
        return ListedCoding(name, values, pa.string()).encode(cells), values

    def kept(self, codes: dict[str, tuple[IntArray, tuple[str, ...]]], cells: pa.Table) -> IntArray:
        """Which rows count: of each person so many, chosen by what the rows hold and not by where they stand."""
        if self.people.person is None or self.people.one_row:
            return np.arange(cells.num_rows)
        # A hash of values, not of codes: which code a value has depends on the values of others.
        hashed = []
        for name, (column, values) in codes.items():
            # By what is known without the rows: a column without any value is hashed like one that has some.
            secret = self.coded[name] is None
            hashes = hashes_of(values) if secret else np.arange(self.size(name), dtype=np.uint64)
            hashed.append(np.append(hashes, np.uint64(2**63 - 1))[column])
        content = mixed(hashed, cells.num_rows)
        return kept_rows(
            cells[self.people.person], content, [column for column, _ in codes.values()], self.max_rows
        )

    def size(self, name: str) -> int:
        coding = self.coded[name]
        return 0 if coding is None else coding.size

    def decoding(self, name: str) -> Coding:
        coding = self.coded[name]
        assert isinstance(coding, NumberCoding | ListedCoding)
        return coding

    def bounded(self, name: str, powers: IntArray, values: pa.ChunkedArray) -> IntArray:
        """A column of numbers in bins between bounds that are found with noise."""
        coding = self.coded[name]
        assert isinstance(coding, PowerCoding)
        low, high = coding.bounds(powers, max_rows=self.max_rows, rho=self.rho_column)
        made = number_bins(name, low, high, self.domains.bins, whole=name in self.domains.whole)
        self.coded[name] = made
        return made.encode(values)

    # ── single columns ────────────────────────────────────────────────────────────────────────────

    def measure_columns(
        self, codes: dict[str, tuple[IntArray, tuple[str, ...]]]
    ) -> tuple[float, list[MeasuredTable]]:
        """The number of rows and every column with noise; values that are not given are chosen by it.

        Each is one table of which a person's rows change the counts by at most ``max_rows`` (Euclidean).
        """
        rho = self.rho_column
        rows = len(next(iter(codes.values()))[0])
        sensitivity = float(self.max_rows)
        total = float(gaussian([rows], sensitivity=sensitivity, rho=rho).values[0])
        measured = []
        for name, (column, values) in codes.items():
            secret = self.coded[name] is None
            size = len(values) + 1 if secret else self.size(name)
            true = np.bincount(column, minlength=size)
            # A value that is not given exists only through rows that count; what is missing may always be.
            cells = np.append(np.flatnonzero(true[:-1]), size - 1) if secret else np.arange(size)
            noisy = gaussian(true[cells].tolist(), sensitivity=sensitivity, rho=rho)
            counts = np.array(noisy.values, dtype=np.float64)
            if secret:
                least = self.least(noisy.scale)
                shown = cells[:-1][counts[:-1] >= least]
                self.coded[name] = ListedCoding(name, (*(values[i] for i in shown), OTHER), pa.string())
                codes[name] = _recoded(column, shown, size), ()
                often, absent = counts[:-1][counts[:-1] >= least], max(0.0, counts[-1])
                rest = max(0.0, total - often.sum() - absent)
                counts = np.concatenate([often, [rest, absent]])
            ordered = isinstance(self.coded[name], NumberCoding)
            measured.append(MeasuredTable(counts, noisy.scale**2, ordered))
        return max(total, 1.0), measured

    def least(self, scale: float) -> int:
        """From which noisy count on a value is kept that was found in the data."""
        share = float(self.delta_values) / len(self.paid)
        return gaussian_threshold(scale, share, self.max_rows, self.max_rows)

    # ── what is guaranteed ────────────────────────────────────────────────────────────────────────

    def guarantee(self) -> Guarantee:
        unit = unit_of(self.people.person)
        description, neighbouring = describe_unit(unit, self.people.person, 1, self.max_rows)
        if self.people.one_row:
            description = Sentence(
                "everybody whose rows have one value of {person}; all of them become one row",
                person=str(self.people.person),
            )
        bought = [*self.paid, *self.sought]
        public = [Sentence("names and types of the columns")]
        public += [
            Sentence("the domain of {name}, given", name=name) for name in self.coded if name not in bought
        ]
        public += [Sentence("rules that records keep, given")] if self.keeps else []
        tuning = (
            Sentence("the values of {names} were found in the data and paid for", names=", ".join(bought))
            if bought
            else Sentence("none: domains were given")
        )
        chosen = Sentence(
            "which tables, chosen by the exponential mechanism ({method})", method=self.method.upper()
        )
        counted = Sentence("columns and tables of several with discrete Gaussian noise")
        if self.method == "pca":
            counted = Sentence("columns, and sums and products of all pairs, with discrete Gaussian noise")
        mechanisms = (counted,) if self.method in ("table", "pca") else (counted, chosen)
        processed = [Sentence("marginals were made to agree, and rows drawn from them")]
        processed += [Sentence("rows that break the rules were drawn again")] if self.keeps else []
        return Guarantee(
            unit=unit,
            unit_description=description,
            neighbouring=neighbouring,
            epsilon=self.epsilon,
            delta=self.delta,
            mechanisms=mechanisms,
            release_type=Sentence("artificial records"),
            public=tuple(public),
            unprotected=(Sentence("how long it took"),),
            composition=Sentence("zero-concentrated inside; amounts from one ledger add up"),
            post_processing=tuple(processed),
            tuning=tuning,
        )


def _recoded(column: IntArray, shown: IntArray, size: int) -> IntArray:
    """A column in the codes of the values that are shown, all others, and what is missing."""
    places = np.full(size, len(shown), dtype=np.int64)
    places[shown] = np.arange(len(shown))
    places[size - 1] = len(shown) + 1
    return np.asarray(places[column])
