"""``discreet.tabulate``: tables of counts with noise that agree with each other, whole and not negative, with a guarantee."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike

import numpy as np
import pyarrow as pa
from narwhals.typing import IntoFrame

from discreet.dp.accounting import rho_of
from discreet.dp.amounts import Amount, exact, whole_number
from discreet.dp.coding import Coding, counted_codes, given_codings
from discreet.dp.junction import Columns, cells_of, cliques_of, draw_rows, fit_tree
from discreet.dp.keys import PublicKeys
from discreet.dp.ledger import Ledger
from discreet.dp.measuring import Bounds
from discreet.dp.merged import table_of
from discreet.dp.noise import Noisy, OpenDP, check_scale, gaussian, laplace
from discreet.dp.rows import GuaranteedRows
from discreet.dp.statement import Guarantee, Unit, describe_unit, unit_of
from discreet.dp.terms import people_of, resolve_ledger, resolve_unit
from discreet.dp.tree import MeasuredTable
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.types import IntArray

ALL = "*"
"""What stands in a column that a table does not tell apart."""
FIGURES = ("count", "low", "high")
"""What is told of each cell."""
MOST_TABLES = 1_000
MOST_CELLS = 2_000_000
"""So many cells may the tables have together, once they are joined to agree."""
MOST_NOISE = 1e6
"""So many rows may the noise of a cell make up."""


@dataclass(frozen=True)
class TableNoise:
    """Columns that were counted together, how many cells they have, and the noise of each before the tables were made to agree.

    The true count, of the rows that count, is within ``margin`` of what was measured with the stated confidence; on the average
    what was measured is ``mean_error`` away.
    """

    columns: tuple[str, ...]
    cells: int
    scale: float
    margin: int
    mean_error: float


@dataclass(frozen=True)
class NoisyTables(GuaranteedRows):
    """Counts of all cells of all tables, what they guarantee, and how large their noise is.

    ``rows`` has a row per cell: the columns, ``count``, and the interval ``low`` to ``high`` of what was measured. With several tables, ``*``
    stands in columns that a table does not tell apart.
    """

    tables: tuple[TableNoise, ...]
    confidence: float

    def to_dict(self) -> dict[str, object]:
        own = {
            "schema": "discreet-tables-1",
            "tables": [vars(table) | {"columns": list(table.columns)} for table in self.tables],
            "confidence": self.confidence,
        }
        return {**own, **super().to_dict()}


def tabulate(
    source: str | PathLike[str] | IntoFrame | pa.Table | pa.RecordBatchReader | Table,
    tables: Sequence[Sequence[str]] | None = None,
    *,
    columns: Sequence[str] | None = None,
    ways: int | None = None,
    epsilon: Amount,
    delta: Amount | None = None,
    person: str | None = None,
    unit: Unit | None = None,
    max_rows: int = 1,
    bounds: Bounds | None = None,
    keys: PublicKeys | None = None,
    bins: int = 20,
    confidence: float = 0.95,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> NoisyTables:
    """Count tables with differential privacy, make them agree, and pay for them from the table's ledger.

    ``tables`` names the columns of each table; or ``columns`` and ``ways`` ask for all sets of so many columns. Values are given by ``keys``,
    those of numbers by ``bounds`` and at most ``bins`` bins. With a ``delta`` the noise is discrete Gaussian, without one discrete Laplace.

    *Sensitivity.* Of each person at most ``max_rows`` = m rows count, each of which is in one cell of each table. So adding or removing
    somebody changes a table by at most m, as a sum of changes and as a Euclidean length. Of T tables each gets ε/T, and with it
    Laplace noise of scale m·T/ε; or ρ/T and Gaussian noise of scale m·√(T/2ρ), where ρ-zero-concentrated privacy is (ε, δ)-private.
    Domains are given, so cells that nobody is in are counted like all others. Agreeing tables are drawn from the distribution of greatest entropy
    near what was measured (`dp.junction`), which costs nothing.
    """
    OpenDP()
    table = read(source)
    whose = resolve_unit(table, person, unit)
    wanted = _wanted(table, tables, columns, ways, whose)
    most_rows = whole_number(max_rows, "max_rows", 1000)
    rows_each = most_rows if whose else 1
    if not 0.5 <= confidence < 1:
        raise InvalidParameter(
            Sentence("confidence is {confidence}", confidence=confidence), remedy="give a number such as 0.95"
        )
    amounts = exact(epsilon, "epsilon"), exact(delta or 0, "delta", zero=True, below_one=True)
    names = list(dict.fromkeys(itertools.chain.from_iterable(wanted)))
    if taken := sorted(set(names) & set(FIGURES)):
        raise InvalidParameter(
            Sentence("{name} is the name of a column and of a figure of the tables", name=taken[0]),
            remedy="give the column another name, or leave it out",
        )
    coded = given_codings(table, names, bounds or {}, keys or {}, whole_number(bins, "bins", 10_000))
    work = _Tabulation(table, coded, wanted, whose, rows_each, *amounts)
    place = resolve_ledger(source, ledger)
    purpose = f"tables of {'; '.join(' and '.join(each) for each in wanted)}"
    with place.reserve(
        *amounts, purpose=purpose, table=people_of(table, whose), unit=unit_of(whose)
    ) as reservation:
        # Whether rows can be read may depend on them, so from here on the amount is spent.
        reservation.drawing()
        rows, noise = work.rows(1 - confidence)
    balance = place.balance()
    left = balance.left_epsilon, balance.left_delta
    return NoisyTables(rows, work.guarantee(), *left, reservation.payment, noise, confidence)


def _wanted(
    table: Table,
    tables: Sequence[Sequence[str]] | None,
    columns: Sequence[str] | None,
    ways: int | None,
    person: str | None,
) -> list[tuple[str, ...]]:
    """The columns of each table, in the order of the file."""
    if (tables is None) == (ways is None):
        raise InvalidParameter(
            "it is not said which tables are counted",
            remedy="name the columns of each (tables=[['sex', 'town']]), or all sets of so many columns (ways=2)",
        )
    if tables is None:
        known = [table.column(name).name for name in columns or table.names if name != person]
        if not isinstance(ways, int) or isinstance(ways, bool) or not 1 <= ways <= len(known):
            raise InvalidParameter(
                Sentence("ways is {ways}", ways=ways),
                remedy=Sentence(
                    "it is a whole number from 1 to {known}, the number of columns", known=len(known)
                ),
            )
        listed: list[tuple[str, ...]] = list(
            itertools.islice(itertools.combinations(known, ways), MOST_TABLES + 1)
        )
    else:
        listed = [tuple(table.column(name).name for name in each) for each in tables]
    order = {name: at for at, name in enumerate(table.names)}
    sets = [tuple(sorted(each, key=order.__getitem__)) for each in listed]
    once = all(each and len(set(each)) == len(each) for each in sets) and len(set(sets)) == len(sets)
    if not sets or not once or any(person in each for each in sets) or len(sets) > MOST_TABLES:
        raise InvalidParameter(
            "tables need at least one column, each once and none the person id, and each table is asked for once",
            remedy=Sentence("name other columns, and at most {most:,} tables", most=MOST_TABLES),
        )
    return sets


class _Tabulation:
    """Codes, counts, draws, and makes the tables agree."""

    def __init__(
        self,
        table: Table,
        coded: dict[str, Coding],
        tables: Sequence[tuple[str, ...]],
        person: str | None,
        max_rows: int,
        epsilon: Fraction,
        delta: Fraction,
    ) -> None:
        self.table, self.coded, self.person, self.max_rows = table, coded, person, max_rows
        self.epsilon, self.delta = epsilon, delta
        self.names = list(coded)
        self.sizes = [coding.size for coding in coded.values()]
        self.tables: list[Columns] = [tuple(sorted(map(self.names.index, each))) for each in tables]
        cells = cells_of(cliques_of(self.tables, self.sizes), self.sizes)
        if cells > MOST_CELLS:
            raise InvalidParameter(
                Sentence("tables that agree would need {cells:,} cells together", cells=cells),
                remedy=Sentence(
                    "ask for fewer tables that share columns, fewer values or fewer bins: {most:,} cells at most",
                    most=MOST_CELLS,
                ),
            )
        self.rho = rho_of(epsilon, delta) / len(tables) if delta else 0.0
        scale = max_rows / math.sqrt(2 * self.rho) if delta else max_rows * len(tables) / epsilon
        check_scale(scale, most=MOST_NOISE)

    def rows(self, error: float) -> tuple[pa.Table, tuple[TableNoise, ...]]:
        codes = counted_codes(self.table, self.coded, self.person, self.max_rows)
        noisy = {columns: self.measured(table_of(codes, columns, self.sizes)) for columns in self.tables}
        measured = {
            columns: MeasuredTable(self.shaped(made.values, columns), variance_of(made))
            for columns, made in noisy.items()
        }
        tree = fit_tree(measured, self.sizes, sweeps=50)
        drawn = draw_rows(tree, max(0, round(tree.total)))
        parts, noise = [], []
        for columns, made in noisy.items():
            margin = made.margin(error)
            counts = table_of(drawn, columns, self.sizes).ravel()
            parts.append(self.shown(columns, counts, np.array(made.values), margin))
            mean = math.sqrt(2 * variance_of(made) / math.pi) if self.delta else made.scale
            names = tuple(self.names[i] for i in columns)
            noise.append(TableNoise(names, len(counts), made.scale, margin, mean))
        return pa.concat_tables(parts), tuple(noise)

    def shaped(
        self, values: Sequence[int], columns: Columns
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.array(values, dtype=np.float64).reshape([self.sizes[i] for i in columns])

    def measured(self, true: IntArray) -> Noisy:
        values = true.ravel().tolist()
        if self.delta:
            return gaussian(values, sensitivity=float(self.max_rows), rho=self.rho)
        return laplace(values, sensitivity=self.max_rows, epsilon=self.epsilon / len(self.tables))

    def shown(self, columns: Columns, counts: IntArray, noisy: IntArray, margin: int) -> pa.Table:
        """A table as rows: its cells, their counts, and the intervals of what was measured."""
        places = np.unravel_index(np.arange(len(counts)), [self.sizes[i] for i in columns])
        cells: dict[str, pa.Array] = {}
        for at, name in enumerate(self.names):
            if at in columns:
                labels = self.coded[name].labels()
                shown = labels.take(pa.array(places[columns.index(at)]))
                cells[name] = shown if len(self.tables) == 1 else shown.cast(pa.string())
            else:
                cells[name] = pa.array([ALL] * len(counts), pa.string())
        low, high = np.maximum(noisy - margin, 0), np.maximum(noisy + margin, 0)
        return pa.table({**cells, **dict(zip(FIGURES, map(pa.array, (counts, low, high)), strict=True))})

    def guarantee(self) -> Guarantee:
        unit = unit_of(self.person)
        description, neighbouring = describe_unit(unit, self.person, 1, self.max_rows)
        return Guarantee(
            unit=unit,
            unit_description=description,
            neighbouring=neighbouring,
            epsilon=self.epsilon,
            delta=self.delta,
            mechanisms=(
                Sentence("every table with discrete Gaussian noise")
                if self.delta
                else Sentence("every table with discrete Laplace noise"),
            ),
            release_type=Sentence("tables of counts"),
            public=(
                Sentence("names and types of the columns"),
                *(Sentence("the domain of {name}, given", name=name) for name in self.names),
            ),
            unprotected=(Sentence("which tables were asked for"), Sentence("how long it took")),
            composition=Sentence("amounts of all answers from one ledger add up"),
            post_processing=(
                Sentence("tables were made to agree, and rows drawn from them that were counted again"),
            ),
            tuning=Sentence("none: domains were given"),
        )


def variance_of(noisy: Noisy) -> float:
    """The variance of the noise of a cell: σ², or 2e^{-1/b}/(1 − e^{-1/b})² of discrete Laplace noise.

    >>> round(variance_of(Noisy([0], "laplace", 1.0)), 3), variance_of(Noisy([0], "gaussian", 3.0))
    (1.841, 9.0)
    """
    if noisy.mechanism == "gaussian":
        return noisy.scale**2
    decay = math.exp(-1 / noisy.scale)
    # Noise that is nought has a weight, too.
    return max(2 * decay / (1 - decay) ** 2, 1e-12)
