"""``discreet.ask_kpis``: the key figures of a policy, answered with differential privacy under one amount."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from typing import Any

from discreet.dp.amounts import Amount, exact
from discreet.dp.answer import Answer
from discreet.dp.ask import ask, keys_asked_for, prepared
from discreet.dp.keys import PublicKeys
from discreet.dp.ledger import Ledger
from discreet.dp.measuring import Bounds
from discreet.dp.noise import Mechanism
from discreet.dp.statement import Unit
from discreet.dp.terms import GivenTerms, people_of, resolve_ledger
from discreet.errors import InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.policy.file import GivenPolicy, open_policy
from discreet.policy.kpi import Kpi
from discreet.release.prepare import open_table
from discreet.sentences import Sentence
from discreet.table import Table

REFUSALS = (InvalidParameter, UnknownColumn, UnsuitableColumn)
"""What is said of a figure of which it is not known how far one person can move it."""


@dataclass(frozen=True)
class KpiAnswer:
    """A key figure by its name, its answer with noise, or why there is none.

    ``precise`` says whether the interval of every group is within the tolerance of the KPI; nothing if it has none.
    """

    name: str
    answer: Answer | None = None
    reason: str = ""
    precise: bool | None = None

    def to_dict(self) -> dict[str, object]:
        told = None if self.answer is None else self.answer.to_dict()
        return {"name": self.name, "answer": told, "reason": self.reason, "precise": self.precise}


def ask_kpis(
    source: object,
    policy: GivenPolicy,
    names: Sequence[str] | None = None,
    *,
    epsilon: Amount,
    delta: Amount | None = None,
    person: str | None = None,
    unit: Unit | None = None,
    max_groups: int = 1,
    max_rows: int = 1,
    bounds: Bounds | None = None,
    keys: PublicKeys | None = None,
    mechanism: Mechanism = "laplace",
    confidence: float = 0.95,
    most_rows: int | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> tuple[KpiAnswer, ...]:
    """Answer the KPIs of a policy with differential privacy; those that are answered share the amount evenly.

    All of them, or those of the ``names``. A KPI whose bound cannot be derived (see `discreet.ask`: counts, sums, means and quantiles, grouped
    by columns) is refused with the reason, costs nothing and leaves the others more. ``person`` is that of the policy unless
    the ``unit`` is the record.
    """
    asked = open_policy(policy)
    table = open_table(source, asked)
    chosen = _chosen(asked.kpis, names)
    whose = asked.person if person is None and unit != "record" else person
    given = GivenTerms(
        epsilon,
        delta,
        whose,
        unit,
        max_groups,
        max_rows,
        bounds or {},
        keys or {},
        mechanism,
        confidence,
        most_rows,
    )
    readied = {kpi.name: _readied(table, kpi, given) for kpi in chosen}
    answered = [terms for terms in readied.values() if isinstance(terms, _ReadyTerms)]
    place = resolve_ledger(source, ledger)
    if answered:
        # All or nothing: answers that were paid for would be lost with the one for which too little is left.
        needed = sum((terms.delta for terms in answered), Fraction(0)) / len(answered)
        place.refuse_excess(
            exact(epsilon, "epsilon"), needed, table=people_of(table, whose and table.column(whose).name)
        )
    answers = []
    for kpi in chosen:
        terms = readied[kpi.name]
        if not isinstance(terms, _ReadyTerms):
            answers.append(KpiAnswer(kpi.name, reason=terms))
            continue
        share = exact(epsilon, "epsilon") / len(answered)
        part = terms.delta / len(answered) if terms.delta else None
        shared: dict[str, Any] = vars(replace(terms.given, epsilon=share, delta=part))
        answer = ask(table, kpi.query, **shared, ledger=place)
        answers.append(KpiAnswer(kpi.name, answer, precise=_precise(answer, kpi.tolerance)))
    return tuple(answers)


def _chosen(kpis: Sequence[Kpi], names: Sequence[str] | None) -> list[Kpi]:
    known = {kpi.name: kpi for kpi in kpis}
    unknown = [name for name in names or () if name not in known]
    if unknown or not kpis:
        raise InvalidParameter(
            Sentence("the policy has no KPI {name!r}", name=unknown[0])
            if unknown
            else "the policy has no KPIs",
            remedy=Sentence("its KPIs are: {names}", names=tuple(known))
            if known
            else "write them into the policy as [[kpi]]",
        )
    return list(kpis) if names is None else [known[name] for name in dict.fromkeys(names)]


@dataclass(frozen=True)
class _ReadyTerms:
    """The terms of a KPI that can be answered, and the δ that it needs of all that is given."""

    given: GivenTerms
    delta: Fraction


def _readied(table: Table, kpi: Kpi, given: GivenTerms) -> _ReadyTerms | str:
    """The terms of a KPI, with the keys of the columns that it groups by; or why it cannot be answered."""
    try:
        terms = replace(given, keys=keys_asked_for(kpi.query, given.keys))
        return _ReadyTerms(terms, prepared(table, kpi.query, terms).terms.delta)
    except REFUSALS as error:
        return str(error)


def _precise(answer: Answer, tolerance: float | None) -> bool | None:
    """Whether every interval, in the last figure, reaches no farther from the answer than the tolerance."""
    if tolerance is None:
        return None
    figures = [row.figures[-1] for row in answer.rows]
    if any(figure.low is None or figure.high is None for figure in figures):
        return None
    return all(
        max(figure.value - (figure.low or 0), (figure.high or 0) - figure.value)
        <= tolerance * abs(figure.value)
        for figure in figures
    )
