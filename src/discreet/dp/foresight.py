"""What an amount would mean, said before it is spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.dp.amounts import Amount, exact, said
from discreet.dp.ledger import Balance
from discreet.dp.statement import meaning


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


def foresee_amount(balance: Balance, epsilon: Amount, delta: Amount = 0) -> Foresight:
    """What an answer for an amount would mean by itself, and everything together afterwards. Nothing is spent.

    The amount is taken to add up; for a table that is disjoint from others it may be less.
    """
    wanted = exact(epsilon, "epsilon"), exact(delta, "delta", zero=True, below_one=True)
    spent = balance.spent_epsilon + wanted[0], balance.spent_delta + wanted[1]
    return Foresight(
        *wanted,
        allowed=spent[0] <= balance.epsilon and spent[1] <= balance.delta,
        alone=meaning(*wanted),
        together=meaning(*spent),
        spent_epsilon=spent[0],
        spent_delta=spent[1],
    )
