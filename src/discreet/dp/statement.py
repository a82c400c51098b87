"""What a release with a guarantee says of itself, in the fields of the public registry of deployments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from discreet.dp.accounting import posterior
from discreet.dp.amounts import said
from discreet.plain import plain
from discreet.sentences import Sentence

Unit = Literal["person", "record"]
PRIOR = 0.01
"""How sure the intruder of the explanation was before."""


@dataclass(frozen=True)
class Guarantee:
    """Unit, neighbours, amounts, mechanisms, and everything that was public or is not protected.

    After the fields of the registry of deployments of differential privacy (NIST and OpenDP): unit and its description,
    flavour and parameters, unprotected quantities, release type, composition, post-processing, data-dependent tuning.
    """

    unit: Unit
    unit_description: str
    neighbouring: str
    epsilon: Fraction
    delta: Fraction
    mechanisms: tuple[str, ...]
    release_type: str
    public: tuple[str, ...]
    unprotected: tuple[str, ...]
    composition: str
    post_processing: tuple[str, ...]
    tuning: str

    @property
    def flavour(self) -> str:
        """Pure or approximate differential privacy."""
        return "approximate" if self.delta else "pure"

    @property
    def meaning(self) -> Sentence:
        """What the amounts mean for one person, in a sentence."""
        return meaning(self.epsilon, self.delta)

    def to_dict(self) -> dict[str, object]:
        document: dict[str, object] = plain(self)
        return {
            **document,
            "epsilon": said(self.epsilon),
            "delta": said(self.delta),
            "flavour": self.flavour,
            "meaning": str(self.meaning),
        }


def meaning(epsilon: Fraction, delta: Fraction, prior: float = PRIOR) -> Sentence:
    """What an intruder can become sure of at most: that somebody is in the table, and what their rows say. ``prior`` is how sure they were before.

    Tables with and without somebody are neighbours. Tables in which somebody has one value or another are two steps apart,
    so the odds between values move by e^{2ε}.

    >>> meaning(Fraction(1), Fraction(0))
    'With ε = 1 an intruder who was 1% sure that somebody is in the table is at most 2.7% sure after the release, and \
at most 6.9% of a value of theirs of which they were 1% sure, whatever else they know.'
    """
    told = {
        "epsilon": said(epsilon),
        "prior": _share(prior),
        "present": posterior(prior, float(epsilon)),
        "value": posterior(prior, 2 * float(epsilon)),
    }
    if not delta:
        return Sentence(
            "With ε = {epsilon} an intruder who was {prior} sure that somebody is in the table is at most "
            "{present:.1%} sure after the release, and at most {value:.1%} of a value of theirs of which they were "
            "{prior} sure, whatever else they know.",
            **told,
        )
    return Sentence(
        "With ε = {epsilon} an intruder who was {prior} sure that somebody is in the table is at most "
        "{present:.1%} sure after the release, and at most {value:.1%} of a value of theirs of which they were "
        "{prior} sure, whatever else they know; with a probability of about δ = {delta} this may fail.",
        delta=said(delta),
        **told,
    )


def _share(prior: float) -> Sentence:
    """A share in whole per cents where it is one, else with two decimals."""
    if (100 * Decimal(repr(prior))) % 1 == 0:
        return Sentence("{share:.0%}", share=prior)
    return Sentence("{share:.2%}", share=prior)


def unit_of(person: str | None) -> Unit:
    """Whom a guarantee protects: persons if there is a column that tells them apart."""
    return "record" if person is None else "person"


def describe_unit(unit: Unit, person: str | None, max_groups: int, max_rows: int) -> tuple[str, str]:
    """The unit in words, and what neighbouring tables differ in."""
    if unit == "record":
        return (
            Sentence("one row; a person with several rows is protected less"),
            Sentence("one row is added or removed"),
        )
    return (
        Sentence(
            "everybody whose rows have one value of {person}; of each at most {rows} rows in each of at most {groups} "
            "groups count",
            person=str(person),
            rows=max_rows,
            groups=max_groups,
        ),
        Sentence("all rows of one person are added or removed"),
    )


def upward(number: float) -> float:
    """The next float above: a sensitivity that was rounded down would promise too much."""
    return math.nextafter(number, math.inf)
