"""``discreet.synthesize``: artificial people whose columns go together as those of a table do, with a guarantee.

Select, measure, generate: every column is counted with noise, tables of several columns are chosen with noise and counted with
noise, and rows are drawn from what was counted. What is chosen is a matter of the method: `dp.mst`, `dp.aim` or `dp.privbayes`.
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
from discreet.dp.coding import OTHER, Coding, ListedCoding, codings
from discreet.dp.contributions import hashes_of, kept_rows, mixed
from discreet.dp.keys import PublicKeys
from discreet.dp.ledger import Ledger
from discreet.dp.measuring import Bounds
from discreet.dp.mst import PairModel
from discreet.dp.noise import OpenDP, check_scale, gaussian, gaussian_threshold
from discreet.dp.privbayes import NetworkModel
from discreet.dp.rows import GuaranteedRows
from discreet.dp.statement import Guarantee, Unit, describe_unit, unit_of
from discreet.dp.terms import people_of, resolve_ledger, resolve_unit
from discreet.dp.tree import MeasuredTable
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.types import IntArray

Method = Literal["mst", "aim", "privbayes"]
"""A tree of pairs, which takes a second; tables of up to three columns, which take up to a minute and come nearer; a baseline."""
MODELS: dict[str, type[PairModel] | type[AdaptiveModel] | type[NetworkModel]] = {
    "mst": PairModel,
    "aim": AdaptiveModel,
    "privbayes": NetworkModel,
}
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
    keys: PublicKeys | None = None,
    bins: int = BINS,
    method: Method = "mst",
    ledger: Ledger | str | PathLike[str] | None = None,
) -> ArtificialPeople:
    """Draw artificial people with (ε, δ)-differential privacy, paid for from the table's ledger.

    Of each ``person`` at most ``max_rows`` rows count; ``unit="record"`` says that each row is somebody else. Numbers need
    ``bounds`` and are kept in at most ``bins`` bins; values of other columns may be given by ``keys``. Those that are not given are
    found in the data and paid for: a value is kept if enough people have it, others become ``*``. ``method`` says which tables
    of several columns are measured: ``"mst"`` pairs that form a tree, ``"aim"`` pairs and triples where the model is worst,
    ``"privbayes"`` each column with up to two parents.
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
    rows_each = most_rows if whose else 1
    if method not in MODELS:
        raise InvalidParameter(
            Sentence("the method is {method!r}", method=method),
            remedy=Sentence("choose one of: {choices}", choices=tuple(MODELS)),
        )
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", below_one=True)
    given = {table.column(name).name: values for name, values in (keys or {}).items()}
    limits = {table.column(name).name: pair for name, pair in (bounds or {}).items()}
    coded = codings(table, wanted, limits, given, whole_number(bins, "bins", 10_000))
    work = _Synthesis(table, coded, whose, rows_each, *amounts, method=method)
    place = resolve_ledger(source, ledger)
    purpose = f"artificial people with {', '.join(wanted)}"
    with place.reserve(
        *amounts, purpose=purpose, table=people_of(table, whose), unit=unit_of(whose)
    ) as reservation:
        rows, tables = work.rows(reservation.drawing)
    balance = place.balance()
    left = balance.left_epsilon, balance.left_delta
    return ArtificialPeople(rows, work.guarantee(), *left, reservation.payment, tables)


def rows_to_compare(
    table: Table, columns: Sequence[str], *, epsilon: Amount, delta: Amount, bounds: Bounds
) -> pa.Table:
    """Artificial people as ``synthesize`` draws them, each row somebody else's, to be compared with the original inside.

    Nothing is paid for, and ``bounds`` may come from the data: no such row, and nothing that is told of them, has a guarantee.
    """
    OpenDP()
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", below_one=True)
    coded = codings(table, list(columns), bounds, {}, BINS)
    return _Synthesis(table, coded, None, 1, *amounts).rows(lambda: None)[0]


class _Synthesis:
    """Codes, counts, draws and decodes."""

    def __init__(
        self,
        table: Table,
        coded: dict[str, Coding | None],
        person: str | None,
        max_rows: int,
        epsilon: Fraction,
        delta: Fraction,
        *,
        method: Method = "mst",
    ) -> None:
        self.method: Method = method
        self.table, self.coded, self.person, self.max_rows = table, coded, person, max_rows
        self.epsilon, self.delta = epsilon, delta
        self.paid = [name for name, coding in coded.items() if coding is None]
        # Values that are found in the data may betray somebody with a probability: half of δ is for that.
        self.delta_values = delta / 2 if self.paid else Fraction(0)
        rho = rho_of(epsilon, delta - self.delta_values)
        share = MODELS[method].columns_share
        self.rho_columns, self.rho_tables = rho * share, rho * (1 - share)
        # Refused before anything is reserved: as many rows are drawn as the noise says, and memory would not hold them.
        check_scale(max_rows / math.sqrt(2 * self.rho_columns / (len(coded) + 1)), most=MOST_NOISE)

    def rows(self, drawing: Callable[[], None]) -> tuple[pa.Table, tuple[tuple[str, ...], ...]]:
        # Whether rows can be read may depend on them, so from here on the amount is spent.
        drawing()
        cells = self.table.engine.to_arrow(
            self.table, [*self.coded, *([] if self.person is None else [self.person])]
        )
        codes = {name: self.encoded(name, cells[name]) for name in self.coded}
        kept = self.kept(codes, cells)
        codes = {name: (column[kept], values) for name, (column, values) in codes.items()}
        total, measured = self.measure_columns(codes)
        model = MODELS[self.method](
            [column for column, _ in codes.values()], measured, total, self.max_rows, self.rho_tables
        )
        drawn, kept_tables = model.rows()
        names = list(self.coded)
        made = [self.decoding(name).decode(column) for name, column in zip(names, drawn, strict=True)]
        tables = tuple(tuple(names[i] for i in columns) for columns in kept_tables)
        return pa.table(dict(zip(names, made, strict=True))), tables

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
        if self.person is None:
            return np.arange(cells.num_rows)
        # A hash of values, not of codes: which code a value has depends on the values of others.
        hashed = []
        for name, (column, values) in codes.items():
            # By what is known without the rows: a column without any value is hashed like one that has some.
            secret = self.coded[name] is None
            hashes = hashes_of(values) if secret else np.arange(self.size(name), dtype=np.uint64)
            hashed.append(np.append(hashes, np.uint64(2**63 - 1))[column])
        content = mixed(hashed, cells.num_rows)
        return kept_rows(cells[self.person], content, [column for column, _ in codes.values()], self.max_rows)

    def size(self, name: str) -> int:
        coding = self.coded[name]
        return 0 if coding is None else coding.size

    def decoding(self, name: str) -> Coding:
        coding = self.coded[name]
        assert coding is not None
        return coding

    # ── single columns ────────────────────────────────────────────────────────────────────────────

    def measure_columns(
        self, codes: dict[str, tuple[IntArray, tuple[str, ...]]]
    ) -> tuple[float, list[MeasuredTable]]:
        """The number of rows and every column with noise; values that are not given are chosen by it.

        Each is one table of which a person's rows change the counts by at most ``max_rows`` (Euclidean).
        """
        rho = self.rho_columns / (len(codes) + 1)
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
            measured.append(MeasuredTable(counts, noisy.scale**2))
        return max(total, 1.0), measured

    def least(self, scale: float) -> int:
        """From which noisy count on a value is kept that was found in the data."""
        share = float(self.delta_values) / len(self.paid)
        return gaussian_threshold(scale, share, self.max_rows, self.max_rows)

    # ── what is guaranteed ────────────────────────────────────────────────────────────────────────

    def guarantee(self) -> Guarantee:
        unit = unit_of(self.person)
        description, neighbouring = describe_unit(unit, self.person, 1, self.max_rows)
        given = [name for name in self.coded if name not in self.paid]
        public = [Sentence("names and types of the columns")]
        public += [Sentence("the domain of {name}, given", name=name) for name in given]
        tuning = (
            Sentence("the values of {names} were found in the data and paid for", names=", ".join(self.paid))
            if self.paid
            else Sentence("none: domains were given")
        )
        return Guarantee(
            unit=unit,
            unit_description=description,
            neighbouring=neighbouring,
            epsilon=self.epsilon,
            delta=self.delta,
            mechanisms=(
                Sentence("columns and tables of several with discrete Gaussian noise"),
                Sentence(
                    "which tables, chosen by the exponential mechanism ({method})", method=self.method.upper()
                ),
            ),
            release_type=Sentence("artificial records"),
            public=tuple(public),
            unprotected=(Sentence("how long it took"),),
            composition=Sentence("zero-concentrated inside; amounts from one ledger add up"),
            post_processing=(Sentence("marginals were made to agree, and rows drawn from them"),),
            tuning=tuning,
        )


def _recoded(column: IntArray, shown: IntArray, size: int) -> IntArray:
    """A column in the codes of the values that are shown, all others, and what is missing."""
    places = np.full(size, len(shown), dtype=np.int64)
    places[shown] = np.arange(len(shown))
    places[size - 1] = len(shown) + 1
    return np.asarray(places[column])
