"""What a statement of differential privacy allows an intruder, beside what attacks came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike

from discreet.attacks.result import AttackResult
from discreet.dp.accounting import most_right
from discreet.dp.amounts import said
from discreet.dp.certificate import Certificate
from discreet.dp.statement import meaning
from discreet.errors import DiscreetError
from discreet.release.guarantees import find_claim
from discreet.sentences import Sentence
from discreet.table import Table

ABOUT_MEMBERSHIP = ("membership", "membership-by-density")
"""Attacks that tell who is in the table from as many who are not."""


def beside_promise(
    results: Sequence[AttackResult], release: object, table: Table, statement: str | PathLike[str] | None
) -> tuple[list[AttackResult], list[str]]:
    """Results with what the statement of the release allows, and what it means; as they are if there is none for this file.

    Only membership has such a bound: differential privacy does not promise that nothing is learned about people, but that it does not depend on
    their being in the table.
    """
    path = release if isinstance(release, str | PathLike) else None
    try:
        claim = find_claim(path, statement)
    except DiscreetError as error:
        if statement is not None:
            raise
        return list(results), [
            Sentence("what lies beside the file about its guarantee cannot be used: {why}", why=str(error))
        ]
    if claim is None:
        return list(results), []
    told = claim.statement
    if told.sha256 != table.source.sha256:
        return list(results), [Sentence("the statement speaks of another file")]
    beside = [_beside(result, told) if result.attack in ABOUT_MEMBERSHIP else result for result in results]
    notes: list[str] = [meaning(told.epsilon, told.delta)]
    if all(result.attack not in ABOUT_MEMBERSHIP for result in results):
        notes.append(
            Sentence("what the guarantee allows was not held against an attack: membership was not tried")
        )
    return beside, notes


def _beside(result: AttackResult, told: Certificate) -> AttackResult:
    """The attack with how often it might be right at most, if people who are not in the table are like those in it."""
    most = most_right(float(told.epsilon), float(told.delta))
    parts = {"epsilon": said(told.epsilon), "delta": said(told.delta), "most": most, "rate": result.rate}
    if result.low > most:
        note = Sentence(
            "with ε = {epsilon} and δ = {delta} nobody could be right in more than {most:.1%} of cases, and this attack was in {rate:.1%}: "
            "the statement is wrong, or those who are not in the table are other people",
            **parts,
        )
    else:
        note = Sentence(
            "with ε = {epsilon} and δ = {delta} nobody can be right in more than {most:.1%} of cases about who is in the table; this attack "
            "was in {rate:.1%}",
            **parts,
        )
    if told.unit == "record" and result.unit == "persons":
        note = Sentence(
            "{note}; the statement protects single rows, and persons with several less", note=note
        )
    return replace(result, figures=(*result.figures, ("allowed", most)), notes=(*result.notes, note))
