"""What an amount would mean, said before it is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from discreet.dp.accounting import gaussian_margin, laplace_margin, rho_of
from discreet.dp.amounts import Amount, exact, said
from discreet.dp.ledger import Balance
from discreet.dp.mst import PairModel
from discreet.dp.statement import PRIOR, meaning
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

Product = Literal["tables", "artificial"]
"""What an amount is spent on: one table of counts, or artificial people by a tree of pairs."""
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


def foresee_amount(balance: Balance, epsilon: Amount, delta: Amount = 0, prior: float = PRIOR) -> Foresight:
    """What an answer for an amount would mean by itself, and everything together afterwards. Nothing is spent.

    ``prior`` is how sure an intruder was before. The amount is taken to add up; for a table that is disjoint from others it may be less.
    """
    if not 0 < prior < 1:
        raise InvalidParameter(
            Sentence("the intruder's first guess is {prior}", prior=prior),
            remedy="give a probability between 0 and 1, such as 0.01",
        )
    wanted = exact(epsilon, "epsilon"), exact(delta, "delta", zero=True, below_one=True)
    spent = balance.spent_epsilon + wanted[0], balance.spent_delta + wanted[1]
    return Foresight(
        *wanted,
        allowed=spent[0] <= balance.epsilon and spent[1] <= balance.delta,
        alone=meaning(*wanted, prior),
        together=meaning(*spent, prior),
        spent_epsilon=spent[0],
        spent_delta=spent[1],
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
