"""What is asked of baskets that are released."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.privacy.base import need_number
from discreet.sentences import Sentence


@dataclass(frozen=True)
class BasketGoal:
    """Each set of at most ``m`` items that is shown stands in ``k`` baskets, and none tells a sensitive item too surely.

    With ``sensitive`` items and ``rho``: of the released baskets with any set of at most ``m`` other items, at most a share ``rho``
    holds a given sensitive one (ρ-uncertainty, Cao et al., VLDB 2010, of an intruder who knows at most m items).
    """

    k: int = 5
    m: int = 2
    sensitive: frozenset[str] = frozenset()
    rho: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("k", self.k), ("m", self.m)):
            need_number(name, value, low=1)
            if value != int(value):
                raise InvalidParameter(
                    Sentence("{name} must be a whole number", name=name),
                    remedy=Sentence("for example {name} = 2", name=name),
                )
        if (self.rho is None) != (not self.sensitive):
            raise InvalidParameter(
                "sensitive items and the share that may be guessed (rho) go together",
                remedy="give both, or none of them",
            )
        if self.rho is not None:
            need_number("rho", self.rho, low=0, high=1, above=True)
