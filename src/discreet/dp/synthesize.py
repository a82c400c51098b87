"""``discreet.synthesize``: artificial people whose pairs of columns are like those of a table, with a guarantee.

Select, measure, generate, after MST (McKenna, Miklau and Sheldon, *Winning the NIST Contest*, 2021): every column is
counted with noise, pairs of columns that depend most on each other are chosen with noise until they form a tree, these
pairs are counted with noise, and rows are drawn from what was counted (`dp.tree`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from os import PathLike

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.typing import IntoFrame

from discreet.dp.accounting import rho_of
from discreet.dp.amounts import Amount, exact
from discreet.dp.ask import resolve_ledger, resolve_unit
from discreet.dp.coding import OTHER, Coding, ListedCoding, codings
from discreet.dp.keys import PublicKeys
from discreet.dp.ledger import Ledger
from discreet.dp.measuring import Bounds
from discreet.dp.noise import OpenDP, check_scale, gaussian, gaussian_threshold, noisy_max_rho
from discreet.dp.rows import GuaranteedRows
from discreet.dp.statement import Guarantee, Unit, describe_unit
from discreet.dp.tree import MeasuredTable, Pair, draw, fit, on_simplex, shares, shuffled
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.types import IntArray

SHARES = (0.2, 0.1, 0.7)
"""What of the amount goes to single columns, to the choice of pairs, and to pairs."""
RARE = 3.0
"""Values whose noisy count is below so many standard deviations are one value in tables of pairs."""
PENALTY = 0.5
"""How much of the noise that a pair would get is held against it when pairs are chosen."""
MOST_NOISE = 1e6
"""So many rows may the noise in their number make up."""
FIXED = 1024
"""Scores are whole numbers of this part of a row."""


@dataclass(frozen=True)
class ArtificialPeople(GuaranteedRows):
    """Rows that nobody has, what they guarantee, and which pairs of columns they keep."""

    pairs: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, object]:
        own = {"schema": "discreet-artificial-1", "pairs": [list(pair) for pair in self.pairs]}
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
    bins: int = 100,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> ArtificialPeople:
    """Draw artificial people with (ε, δ)-differential privacy, paid for from the table's ledger.

    Of each ``person`` at most ``max_rows`` rows count; ``unit="record"`` says that each row is somebody else. Numbers need
    ``bounds`` and are kept in at most ``bins`` bins; values of other columns may be given by ``keys``. Those that are not given are
    found in the data and paid for: a value is kept if enough people have it, others become ``*``.
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
    for name, number, most in (("max_rows", max_rows, 1000), ("bins", bins, 10_000)):
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
            raise InvalidParameter(f"{name} is {number}", remedy=f"it is a whole number from 1 to {most}")
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", below_one=True)
    given = {table.column(name).name: values for name, values in (keys or {}).items()}
    limits = {table.column(name).name: pair for name, pair in (bounds or {}).items()}
    coded = codings(table, wanted, limits, given, bins)
    work = _Synthesis(table, coded, whose, max_rows if whose else 1, *amounts)
    place = resolve_ledger(source, ledger)
    purpose = f"artificial people with {', '.join(wanted)}"
    with place.reserve(*amounts, purpose=purpose, table=table.source.sha256 or "") as reservation:
        rows, pairs = work.rows(reservation.drawing)
    balance = place.balance()
    return ArtificialPeople(rows, work.guarantee(), balance.left_epsilon, balance.left_delta, pairs)


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
    ) -> None:
        self.table, self.coded, self.person, self.max_rows = table, coded, person, max_rows
        self.epsilon, self.delta = epsilon, delta
        self.paid = [name for name, coding in coded.items() if coding is None]
        # Values that are found in the data may betray somebody with a probability: half of δ is for that.
        self.delta_values = delta / 2 if self.paid else Fraction(0)
        rho = rho_of(epsilon, delta - self.delta_values)
        self.rho_columns, self.rho_choice, self.rho_pairs = (rho * share for share in SHARES)
        # Refused before anything is reserved: as many rows are drawn as the noise says, and memory would not hold them.
        check_scale(max_rows / math.sqrt(2 * self.rho_columns / (len(coded) + 1)), most=MOST_NOISE)

    def rows(self, drawing: Callable[[], None]) -> tuple[pa.Table, tuple[tuple[str, str], ...]]:
        # Whether rows can be read may depend on them, so from here on the amount is spent.
        drawing()
        cells = self.table.engine.to_arrow(
            self.table, [*self.coded, *([] if self.person is None else [self.person])]
        )
        codes = {name: self.encoded(name, cells[name]) for name in self.coded}
        kept = self.kept(codes, cells)
        codes = {name: (column[kept], values) for name, (column, values) in codes.items()}
        total, measured = self.measure_columns(codes)
        model = _PairModel(
            [column for column, _ in codes.values()], measured, total, self.max_rows, self.rho_pairs
        )
        pairs = model.chosen(self.rho_choice)
        drawn = model.draw(model.measured(pairs))
        names = list(self.coded)
        made = [self.decoding(name).decode(column) for name, column in zip(names, drawn, strict=True)]
        return pa.table(dict(zip(names, made, strict=True))), tuple((names[i], names[j]) for i, j in pairs)

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
        content = np.zeros(cells.num_rows, dtype=np.uint64)
        for name, (column, values) in codes.items():
            # By what is known without the rows: a column without any value is hashed like one that has some.
            secret = self.coded[name] is None
            hashes = _hashes(values) if secret else np.arange(self.size(name), dtype=np.uint64)
            content = (content ^ np.append(hashes, np.uint64(2**63 - 1))[column]) * np.uint64(
                0x9E3779B97F4A7C15
            )
            content ^= content >> np.uint64(29)
        ids = cells[self.person].combine_chunks().dictionary_encode(null_encoding="encode")
        people = ids.indices.to_numpy(zero_copy_only=False)
        order = np.lexsort([*(column for column, _ in codes.values()), content, people])
        ordered = people[order]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        nth = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        return np.sort(order[nth < self.max_rows])

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
        unit: Unit = "record" if self.person is None else "person"
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
                Sentence("columns and pairs with discrete Gaussian noise"),
                Sentence("pairs chosen by the exponential mechanism"),
            ),
            release_type=Sentence("artificial records"),
            public=tuple(public),
            unprotected=(Sentence("how long it took"),),
            composition=Sentence("zero-concentrated inside; amounts from one ledger add up"),
            post_processing=(Sentence("marginals were made to agree, and rows drawn from them"),),
            tuning=tuning,
        )


class _PairModel:
    """Columns in which rare values are one, the choice of pairs, and the rows that are drawn."""

    def __init__(
        self,
        columns: Sequence[IntArray],
        measured: Sequence[MeasuredTable],
        total: float,
        max_rows: int,
        rho_pairs: float,
    ) -> None:
        self.full, self.total, self.max_rows = measured, total, max_rows
        self.merged = [_merging(table) for table in measured]
        self.columns = [merged[column] for merged, column in zip(self.merged, columns, strict=True)]
        self.sizes = [int(merged.max()) + 1 for merged in self.merged]
        self.small = [
            MeasuredTable(
                np.bincount(merged, weights=table.counts, minlength=size).astype(np.float64), table.variance
            )
            for merged, table, size in zip(self.merged, measured, self.sizes, strict=True)
        ]
        self.rho_pair = rho_pairs / max(1, len(columns) - 1)
        self.counted: dict[Pair, IntArray] = {}

    def count(self, pair: Pair) -> IntArray:
        """The true table of a pair: never shown without noise."""
        if pair not in self.counted:
            (i, j), (n, m) = pair, (self.sizes[pair[0]], self.sizes[pair[1]])
            flat = np.bincount(self.columns[i] * m + self.columns[j], minlength=n * m)
            self.counted[pair] = flat.reshape(n, m)
        return self.counted[pair]

    def chosen(self, rho: float) -> list[Pair]:
        """A tree of pairs that depend on each other, one after the other by the exponential mechanism.

        The score is how far a pair is from independence, Σ|count − expected|, less a part of the noise that it would get. What is
        expected follows from noisy columns, so a row changes the score by at most 1; rounding adds one unit.
        """
        margins = [on_simplex(table.counts, self.total) for table in self.small]
        noise = math.sqrt(2 / math.pi) * self.max_rows / math.sqrt(2 * self.rho_pair) * PENALTY
        pairs = list(itertools.combinations(range(len(self.sizes)), 2))
        scores = {}
        for i, j in pairs:
            apart = np.abs(self.count((i, j)) - np.outer(margins[i], margins[j]) / self.total).sum()
            scores[i, j] = round(FIXED * (float(apart) - noise * self.sizes[i] * self.sizes[j]))
        parts = list(range(len(self.sizes)))
        chosen: list[Pair] = []
        for _ in range(len(self.sizes) - 1):
            open_pairs = [pair for pair in pairs if parts[pair[0]] != parts[pair[1]]]
            place = noisy_max_rho(
                [scores[pair] for pair in open_pairs],
                sensitivity=FIXED * self.max_rows + 1,
                rho=rho / (len(self.sizes) - 1),
            )
            i, j = open_pairs[place]
            chosen.append((i, j))
            parts = [parts[i] if part == parts[j] else part for part in parts]
        return chosen

    def measured(self, pairs: Sequence[Pair]) -> dict[Pair, MeasuredTable]:
        tables = {}
        for pair in pairs:
            true = self.count(pair)
            noisy = gaussian(true.ravel().tolist(), sensitivity=float(self.max_rows), rho=self.rho_pair)
            counts = np.array(noisy.values, dtype=np.float64).reshape(true.shape)
            tables[pair] = MeasuredTable(counts, noisy.scale**2)
        return tables

    def draw(self, pairs: dict[Pair, MeasuredTable]) -> list[IntArray]:
        """As many rows as there are, by noise, and rare values again what they may have been."""
        tree = fit(self.small, pairs)
        drawn = draw(tree, max(1, round(tree.total)))
        made = []
        for column, merged, table in zip(drawn, self.merged, self.full, strict=True):
            weights = on_simplex(table.counts, self.total)
            codes = np.empty(len(column), dtype=np.int64)
            for value in range(int(merged.max()) + 1):
                rows, meant = np.flatnonzero(column == value), np.flatnonzero(merged == value)
                codes[rows] = shuffled(np.repeat(meant, shares(weights[meant], len(rows))))
            made.append(codes)
        return made


def _merging(table: MeasuredTable) -> IntArray:
    """For each value which it is among those that are told apart; rare ones are all the last."""
    often = table.counts >= RARE * math.sqrt(table.variance)
    merged = np.cumsum(often) - 1
    return np.where(often, merged, int(often.sum())).astype(np.int64)


def _recoded(column: IntArray, shown: IntArray, size: int) -> IntArray:
    """A column in the codes of the values that are shown, all others, and what is missing."""
    places = np.full(size, len(shown), dtype=np.int64)
    places[shown] = np.arange(len(shown))
    places[size - 1] = len(shown) + 1
    return np.asarray(places[column])


def _hashes(values: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """A number for each text that follows from the text alone."""
    digests = b"".join(blake2b(value.encode(), digest_size=8).digest() for value in values)
    return np.frombuffer(digests, dtype=np.uint64)
