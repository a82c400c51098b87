"""Whether a required guarantee holds: by the statement of the release and the ledger, since no file shows how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Literal

from discreet.dp.amounts import said
from discreet.dp.certificate import Certificate, read_statement, statement_beside
from discreet.dp.ledger import Balance, Ledger, as_protecting
from discreet.policy import Policy
from discreet.policy.guarantee import DifferentialPrivacy
from discreet.release.profile import Profile
from discreet.release.rules import RuleResult
from discreet.sentences import Sentence
from discreet.table import Table

MAKE = "make the release with `discreet tabulate`, `discreet synthesize` or `discreet safepub`, which write a statement beside it"


@dataclass(frozen=True)
class Claim:
    """What is at hand about how a file was made: its statement, and what the ledger says."""

    statement: Certificate
    balance: Balance | None


def find_claim(
    release: str | PathLike[str] | None,
    statement: str | PathLike[str] | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> Claim | None:
    """The statement that was named or lies beside the release, and its ledger: named, or beside the statement."""
    place = Path(statement) if statement is not None else None
    if place is None and release is not None and statement_beside(release).exists():
        place = statement_beside(release)
    if place is None:
        return None
    told = read_statement(place)
    if ledger is None:
        near = place.parent / Path(told.payment.ledger).name
        book = Ledger(near) if near.exists() else None
    else:
        book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    return Claim(told, None if book is None else book.balance())


def judged_guarantees(
    table: Table, policy: Policy, profile: Profile, claim: Claim | None
) -> list[tuple[RuleResult, Literal["policy", "profile"]]]:
    """Every required guarantee with whether it holds and who asks for it."""
    results: list[tuple[RuleResult, Literal["policy", "profile"]]] = [
        (_judged(asked, source, table, claim), "profile") for asked, source in profile.guarantees
    ]
    results += [(_judged(asked, asked.source, table, claim), "policy") for asked in policy.guarantees]
    return results


def _judged(asked: DifferentialPrivacy, source: str, table: Table, claim: Claim | None) -> RuleResult:
    problem, remedy = _problem(asked, table, claim)
    spent = None if claim is None or claim.balance is None else claim.balance.spent_by(asked.unit)
    if claim is not None and spent is not None and not problem:
        proof = Sentence(
            "by its statement ε {epsilon} and δ {delta}, paid for in the ledger, of which in all ε {spent} and δ {spent_delta} "
            "are spent; that it was made so cannot be seen in the file",
            epsilon=said(claim.statement.epsilon),
            delta=said(claim.statement.delta),
            spent=said(spent[0]),
            spent_delta=said(spent[1]),
        )
        return _result(asked, source, holds=True, evidence=proof)
    return _result(asked, source, holds=False, evidence=problem, remedy=remedy)


def _result(
    asked: DifferentialPrivacy, source: str, *, holds: bool, evidence: str, remedy: str = ""
) -> RuleResult:
    return RuleResult(
        id=asked.id, description=asked.describe(), holds=holds, found=evidence, remedy=remedy, source=source
    )


def _problem(asked: DifferentialPrivacy, table: Table, claim: Claim | None) -> tuple[str, str]:
    """What keeps a guarantee from being taken as given, and what to do; nothing if it is given."""
    if claim is None:
        return Sentence("it cannot be seen in the file, and no statement says how it was made"), MAKE
    told, balance = claim.statement, claim.balance
    if table.source.sha256 != told.sha256:
        return Sentence("the statement speaks of another file"), "name the statement of this file"
    if asked.unit == "person" and told.unit == "record":
        return Sentence("the statement protects one row, not one person"), Sentence(
            "make the release with the column of the person ids"
        )
    amounts = as_protecting(asked.unit, told.unit, told.epsilon, told.delta)
    if (over := _over(asked, *amounts)) is not None:
        return over, "make the release with less, or require less"
    if balance is None:
        return Sentence("the ledger that paid for it is not at hand"), "name it with --ledger"
    entry = balance.holds(told.payment)
    if entry is None or (entry.epsilon, entry.delta, entry.unit) != (told.epsilon, told.delta, told.unit):
        return Sentence("the ledger does not hold what the statement says was paid"), (
            "name the ledger that paid for it"
        )
    spent = balance.spent_by(asked.unit)
    if spent is None:
        return Sentence(
            "the ledger also paid for what protects one row only, or does not say whom it protects"
        ), ("do not release it: how much persons with several rows lost by that cannot be told")
    over = _over(asked, *spent)
    if over is not None:
        return Sentence(
            "with everything else that was released about these people: {over}", over=over
        ), "do not release it: amounts add up, and nothing takes back what was released before"
    return "", ""


def _over(asked: DifferentialPrivacy, epsilon: Fraction, delta: Fraction) -> Sentence | None:
    """By which amount a limit is exceeded."""
    for name, spent, limit in zip("εδ", (epsilon, delta), asked.limits, strict=True):
        if spent > limit:
            return Sentence(
                "{name} is {spent}, and at most {limit} is allowed",
                name=name,
                spent=said(spent),
                limit=said(limit),
            )
    return None
