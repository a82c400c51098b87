"""Who and what is most exposed: combinations that single people out, special uniques, what each attribute adds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.classes import EquivalenceClasses
from discreet.classes.packed import are_many, packed
from discreet.risk.dependence import Dependence, dependence
from discreet.risk.exposure import AttributeContribution, RiskyClass, contributions, riskiest_classes
from discreet.risk.many import drawn_contributions, margin_of, singled_out
from discreet.risk.special_uniques import Combination, SudaResult, combinations, suda
from discreet.sentences import Sentence
from discreet.types import Progress

COMBINED = 3
SUBSETS = 10_000
"""So many combinations of quasi-identifiers are looked at, at most; wide tables get smaller ones."""


@dataclass(frozen=True)
class Exposure:
    """Who and what is most exposed (full audits only)."""

    combinations: tuple[Combination, ...]
    contributions: tuple[AttributeContribution, ...]
    riskiest: tuple[RiskyClass, ...]
    special_uniques: SudaResult
    dependence: Dependence

    def __repr__(self) -> str:
        # The riskiest classes are values of the data.
        return f"Exposure({len(self.combinations)} combinations, {len(self.contributions)} attributes)"


def expose(classes: EquivalenceClasses, fraction: float | None, say: Progress) -> Exposure:
    """Look for who and what is most exposed; ``fraction`` is that of the population which was sampled."""
    say("combinations that single people out")
    names = [*classes.names, *(domain.name for domain in classes.sensitive)]
    largest = combined(len(classes.names))
    if are_many(classes):
        exposing, scores = singled_out(classes, max_size=largest, sampling_fraction=fraction, progress=say)
        added = drawn_contributions(classes)
    else:
        exposing = combinations(classes, max_size=largest, progress=say)
        scores = suda(classes, max_size=largest, sampling_fraction=fraction, progress=say)
        added = contributions(classes)
    return Exposure(
        combinations=tuple(exposing),
        contributions=tuple(added),
        riskiest=tuple(riskiest_classes(classes, 10)),
        special_uniques=scores,
        dependence=dependence(classes, names),
    )


def estimated(classes: EquivalenceClasses, exposure: Exposure | None) -> list[str]:
    """What was estimated because classes are many, and how far it may be off."""
    drawn = 1 << packed(classes).halvings if are_many(classes) else 1
    if drawn == 1:
        return []
    told: list[str] = [
        Sentence(
            "of {classes:,} classes one in {drawn} groups was drawn for the risk by the Markov model; models, "
            "requirements and all other risks were counted",
            classes=len(classes),
            drawn=drawn,
        )
    ]
    if exposure is not None:
        told.append(
            Sentence(
                "what each attribute adds was estimated from one in {drawn} groups: risks and shares without it are "
                "right within {margin:.2%} in 19 of 20 cases; combinations and special uniques were counted",
                drawn=drawn,
                margin=margin_of(exposure.contributions),
            )
        )
    return told


def combined(attributes: int) -> int:
    """How many attributes are combined at most, so that a wide table does not take for ever.

    >>> combined(2), combined(8), combined(100), combined(1000)
    (2, 3, 2, 1)
    """
    size = 1
    while size < min(COMBINED, attributes):
        if sum(math.comb(attributes, s) for s in range(1, size + 2)) > SUBSETS:
            break
        size += 1
    return size
