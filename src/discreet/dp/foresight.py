"""What an amount would mean, said before it is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from discreet.dp.accounting import gaussian_margin, laplace_margin, rho_of
from discreet.dp.amounts import Amount, exact, said
from discreet.dp.learning import PARTS, Learner, NaiveCounts, NoisyGradients
from discreet.dp.ledger import Balance, as_protecting
from discreet.dp.measuring import Measurement, candidate_values
from discreet.dp.mst import PairModel
from discreet.dp.quantiles import QuantileChooser
from discreet.dp.statement import PRIOR, Unit, meaning
from discreet.engine.bounded import ValueGrid
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

Product = Literal["tables", "artificial"]
"""What an amount is spent on: one table of counts, or artificial people by a tree of pairs."""
AskedFigure = Literal["rows", "persons", "sum", "mean", "median"]
"""What is asked of each group."""
ERROR = 0.05
"""How often a count may be further away than is said."""


@dataclass(frozen=True)
class Foresight:
    """An amount, whether the budget has it, and what an intruder could become sure of by it and by all that is spent then."""

    epsilon: Fraction
    delta: Fraction
    allowed: bool
    alone: str
    together: str
    spent_epsilon: Fraction
    spent_delta: Fraction

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-foresight-1",
            "epsilon": said(self.epsilon),
            "delta": said(self.delta),
            "allowed": self.allowed,
            "alone": self.alone,
            "together": self.together,
            "spent": {"epsilon": said(self.spent_epsilon), "delta": said(self.spent_delta)},
        }


def foresee_amount(
    balance: Balance,
    epsilon: Amount,
    delta: Amount = 0,
    prior: float = PRIOR,
    *,
    unit: Unit | None = None,
) -> Foresight:
    """What an answer for an amount would mean by itself, and everything together afterwards. Nothing is spent.

    ``prior`` is how sure an intruder was before, ``unit`` whom the amount would protect. It is taken to add up; for a table that is disjoint from others it may
    be less.
    """
    if not 0 < prior < 1:
        raise InvalidParameter(
            Sentence("the intruder's first guess is {prior}", prior=prior),
            remedy="give a probability between 0 and 1, such as 0.01",
        )
    wanted = exact(epsilon, "epsilon"), exact(delta, "delta", zero=True, below_one=True)
    spent = balance.spent_epsilon + wanted[0], balance.spent_delta + wanted[1]
    doubt = mixed_units(balance, unit, wanted)
    return Foresight(
        *wanted,
        allowed=spent[0] <= balance.epsilon and spent[1] <= balance.delta,
        alone=meaning(*wanted, prior),
        together=meaning(*spent, prior) if doubt is None else doubt,
        spent_epsilon=spent[0],
        spent_delta=spent[1],
    )


def mixed_units(
    balance: Balance,
    unit: Unit | None = None,
    wanted: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0)),
) -> Sentence | None:
    """What is to be said where amounts protect persons and single rows: nothing if all that were spent, and one that would be, protect alike.

    Of somebody with n rows an amount ε by row allows n·ε, whatever n is: the sum of both is no amount for persons. For single rows it is one, of
    which amounts by person count twice (`dp.ledger.as_protecting`).
    """
    units = {entry.unit for entry in balance.paid} | ({unit} if unit else set())
    if not {"person", "record"} <= units:
        return None
    told = balance.spent_by("record")
    if told is None:
        return Sentence(
            "Some amounts protect persons and some single rows: no sum says what somebody with several rows has lost."
        )
    more = as_protecting("record", unit or "record", *wanted)
    return Sentence(
        "Some amounts protect persons and some single rows: no sum says what somebody with several rows has lost. "
        "Of each single row everything together tells no more than ε = {epsilon} and δ = {delta}.",
        epsilon=said(told[0] + more[0]),
        delta=said(told[1] + more[1]),
    )


@dataclass(frozen=True)
class CountNoise:
    """How far a count will be from the true one: on the average, and but for one of 20 cases at most."""

    product: Product
    mean: float
    margin: int

    def said(self, rows: int) -> Sentence:
        """The noise beside the size of the table."""
        told = {"mean": self.mean, "margin": self.margin, "rows": rows}
        if self.product == "tables":
            return Sentence(
                "Each count will be about {mean:,.1f} away from the true one, in 19 of 20 cases at most {margin:,}; "
                "the table has {rows:,} rows.",
                **told,
            )
        return Sentence(
            "How many artificial people have a value will be about {mean:,.1f} away from the true number, in 19 of 20 "
            "cases at most {margin:,}, and further for values of two columns together; the table has {rows:,} rows.",
            **told,
        )


def foresee_noise(
    product: Product,
    columns: int,
    epsilon: Amount,
    delta: Amount = 0,
    *,
    max_rows: int = 1,
    paid_values: bool = False,
    found_bounds: int = 0,
) -> CountNoise:
    """The noise of the counts of one table, or of each of so many columns of artificial people, before it is drawn.

    A person has at most ``max_rows`` = m rows. A table has discrete Laplace noise of scale m/ε, or with a δ discrete Gaussian noise
    of σ = m/√(2ρ), where ρ-zero-concentrated privacy is (ε, δ)-private (Bun and Steinke 2016). Artificial people share out a fifth
    of ρ over their columns, those of them whose bounds are found (so many as ``found_bounds``) twice, and the number of rows;
    values that are found in the data (``paid_values``) take half of δ. Noise
    depends on amounts and on what is public alone, so telling it costs nothing.

    >>> foresee_noise("tables", 2, "1/2").mean, foresee_noise("tables", 2, "1/2").margin
    (2.0, 6)
    """
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", zero=True, below_one=True)
    if product == "tables" and not amounts[1]:
        scale = float(max_rows / amounts[0])
        return CountNoise(product, scale, laplace_margin(scale, ERROR))
    rho = rho_of(amounts[0], amounts[1] / 2 if paid_values else exact(delta, "delta", below_one=True))
    if product == "artificial":
        rho *= PairModel.columns_share / (columns + found_bounds + 1)
    scale = max_rows / math.sqrt(2 * rho)
    return CountNoise(product, scale * math.sqrt(2 / math.pi), gaussian_margin(scale, ERROR))


@dataclass(frozen=True)
class FigureNoise:
    """How far a figure of an answer will be from the true one at most, but for one of 20 cases: in its unit, or of a median in rows.

    Of a mean that depends on how many rows it is of: ``spread`` is what n rows divide, ``rows`` by how much n itself is uncertain.
    """

    figure: AskedFigure
    margin: float
    spread: float = 0.0
    rows: int = 0

    def of(self, count: int) -> float | None:
        """How far the mean of so many rows will be away at most; nothing if noise hides how many they are."""
        return None if count <= self.rows else min(self.margin, self.spread / (count - self.rows))

    def said(self, rows: int) -> Sentence:
        """The noise beside the size of the table."""
        if self.figure == "mean":
            whole = self.of(rows)
            if whole is None:
                return Sentence("The mean will be nothing but noise: the table has {rows:,} rows.", rows=rows)
            return Sentence(
                "In 19 of 20 cases a mean of all {rows:,} rows will be at most {whole:,.4g} away from the true one, "
                "and further in small groups.",
                rows=rows,
                whole=whole,
            )
        told = {"margin": self.margin, "rows": rows}
        if self.figure == "median":
            return Sentence(
                "In 19 of 20 cases at most {margin:,.0f} rows will lie between the true median and the one that is told; "
                "the table has {rows:,} rows.",
                **told,
            )
        return Sentence(
            "Each figure will in 19 of 20 cases be at most {margin:,.6g} away from the true one; the table has {rows:,} rows.",
            **told,
        )


def foresee_figure(
    figure: AskedFigure,
    epsilon: Amount,
    *,
    max_rows: int = 1,
    max_groups: int = 1,
    bounds: tuple[float, float] = (0, 1),
    whole: bool = False,
    found_groups: bool = False,
) -> FigureNoise:
    """The Laplace noise of a figure by group, as `discreet.ask` draws it, before it is drawn.

    Of ε one part is for finding groups if they are not given, one for a count, a sum or a median, and two for a mean, which is a sum over a
    count: of n rows it is at most (s + L·c) / (n − c) away, where s and c are how far sum and count are and L is the half of its bounds.

    >>> foresee_figure("rows", "1/2").margin, foresee_figure("sum", 1, bounds=(0, 100), whole=True).margin
    (6, 300.0)
    """
    amount = exact(epsilon, "epsilon") / (found_groups + (2 if figure == "mean" else 1))
    if figure in ("rows", "persons"):
        counted = Measurement(figure, 1, figure, per_row=figure == "rows")
        return FigureNoise(figure, _within(counted, amount, max_groups, max_rows, ERROR))
    low, high = bounds
    if figure == "median":
        chooser = QuantileChooser(Fraction(1, 2), max_rows, amount / max_groups, ERROR)
        return FigureNoise(figure, chooser.rank_error(candidate_values(low, high, whole=whole).limit + 1))
    grid = ValueGrid.of(low, high, whole=whole, centred=figure == "mean")
    total = Measurement("sum", max(1, grid.limit), "sum")
    if figure == "sum":
        return FigureNoise(figure, grid.unit * _within(total, amount, max_groups, max_rows, ERROR))
    rows = _within(Measurement("count", 1, "count"), amount, max_groups, max_rows, ERROR / 2)
    units = _within(total, amount, max_groups, max_rows, ERROR / 2)
    return FigureNoise(figure, high - low, grid.unit * (units + grid.limit * rows), rows)


def _within(measured: Measurement, amount: Fraction, max_groups: int, max_rows: int, error: float) -> int:
    """The noise of a measurement is beyond ± this with probability at most the error."""
    return laplace_margin(float(measured.laplace_sensitivity(max_groups, max_rows) / amount), error)


def foresee_classifier(
    learner: Learner, columns: int, labels: int, epsilon: Amount, delta: Amount = 0, *, max_rows: int = 1
) -> Sentence:
    """The noise of what a classifier of so many labels by so many columns is made of, before it is drawn.

    >>> print(foresee_classifier("naive-bayes", 3, 2, 1))
    Each count that the classifier is made of will be about 4.0 away from the true one.
    """
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", zero=True, below_one=True)
    sizes = [2] * columns
    if learner == "naive-bayes":
        counts = NaiveCounts(sizes, labels, max_rows, *amounts)
        mean = counts.scale * (math.sqrt(2 / math.pi) if amounts[1] else 1)
        return Sentence(
            "Each count that the classifier is made of will be about {mean:,.1f} away from the true one.",
            mean=mean,
        )
    gradients = NoisyGradients(sizes, labels, max_rows, *amounts)
    mean = gradients.scale / PARTS * math.sqrt(2 / math.pi)
    return Sentence(
        "Each gradient that the classifier learns from will be about {mean:,.1f} records away from the true one.",
        mean=mean,
    )
