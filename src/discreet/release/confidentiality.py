"""m-confidentiality: how sure of anybody's value somebody can become who also knows how the release was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.attacks.catalogue import WHY_NOT
from discreet.attacks.minimality.minimality import UNASKED
from discreet.errors import InvalidParameter
from discreet.policy.file import GivenPolicy
from discreet.privacy.base import TOLERANCE, need_number
from discreet.release.attack import Attacks, attack
from discreet.release.codebook import Given as GivenCodebook
from discreet.release.links import Given as GivenLinks
from discreet.sentences import Sentence

MINIMALITY = "minimality"


@dataclass(frozen=True)
class Confidentiality:
    """By sensitive attribute the surest guess of anybody's value: by the class alone, or by knowing the method and what it had to meet.

    ``untold`` says of attributes for which knowledge of the method could not be tried, or not for all classes, why.
    """

    surest: Mapping[str, float]
    untold: Mapping[str, str] = field(default_factory=dict)

    @property
    def m(self) -> float:
        """No guess is surer than 1/m, as far as could be told."""
        return 1.0 / max(self.surest.values())

    @property
    def says(self) -> Sentence:
        if self.untold:
            return Sentence(
                "m-confidentiality could not be told: {why:; }",
                why=tuple(map(Sentence, self.untold.values())),
            )
        return Sentence(
            "m-confidentiality: whoever knows the method and what it had to meet is sure of somebody's value with a chance of at "
            "most {chance:.4g} = 1/{m:.4g}",
            chance=1.0 / self.m,
            m=self.m,
        )

    def holds(self, m: float) -> bool:
        """Whether no guess is surer than 1/m, and that could be told."""
        need_number("m", m, low=1)
        return not self.untold and self.m >= m - TOLERANCE


def m_confidentiality(
    release: object,
    policy: GivenPolicy,
    *,
    original: object,
    links: GivenLinks | None = None,
    codebook: GivenCodebook | None = None,
) -> Confidentiality:
    """The m of m-confidentiality: nobody's value is guessed with a chance above 1/m, by the release and by what it had to meet (`minimality`).

    What it had to meet is what policy and profile ask for: give those by which the release was made. ``links`` and ``codebook`` are as for
    `attack`. All values of a sensitive attribute count. Wong, Fu, Wang and Pei, VLDB 2007.
    """
    tried = attack(release, policy, original=original, links=links, codebook=codebook, attacks=(MINIMALITY,))
    surest, untold = {}, {}
    for name in dict.fromkeys(m.attribute for m in tried.audit.measures if m.name == "simple-l-diversity"):
        assert name is not None, "diversity is that of an attribute"
        surest[name] = 1.0 / tried.audit.measure("simple-l-diversity", name).value
        by_method, why = _by_method(tried, name)
        surest[name] = max(surest[name], by_method)
        if why:
            untold[name] = why
    if not surest:
        raise InvalidParameter(WHY_NOT["sensitive"], remedy="name what nobody should learn (--sensitive)")
    return Confidentiality(surest, untold)


def _by_method(tried: Attacks, sensitive: str) -> tuple[float, str]:
    """How sure of a value who knows the method becomes, and why that is not the whole answer, if it is not."""
    for result in tried.results:
        if result.target == sensitive:
            told = dict(result.figures)
            skipped = Sentence(
                "{sensitive}: {classes:,} classes have too many ways to be filled",
                sensitive=sensitive,
                classes=int(told["classes-skipped"]),
            )
            return told["max-credibility"], skipped if told["classes-skipped"] else ""
    nothing_asked = (WHY_NOT["models"], str(Sentence(UNASKED, sensitive=sensitive)))
    for refused in tried.untested:
        if str(refused.why).startswith(f"{sensitive}: ") and not str(refused.why).endswith(nothing_asked):
            return 0.0, refused.why
    return 0.0, ""
