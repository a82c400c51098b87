"""What an attack came to: successes, tries, baseline, interval, and who is most exposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from discreet.measure import proportion_interval
from discreet.plain import finite

LegalCriterion = Literal["singling-out", "linkability", "inference"]
"""The three criteria of the Article 29 Working Party's Opinion 05/2014."""


@dataclass(frozen=True)
class Exposed:
    """One person, or people who cannot be told apart, and how far the attack got with them.

    ``values`` are what the intruder knows, by attribute; ``score`` the chance of success; ``people`` how many
    have these values; ``says`` what was found out, in words without the sensitive value itself.
    """

    values: dict[str, str]
    score: float
    people: int
    says: str = ""

    def to_dict(self) -> dict[str, object]:
        return {"values": dict(self.values), "score": self.score, "people": self.people, "says": self.says}


@dataclass(frozen=True)
class AttackResult:
    """How often an attack succeeded, and how often it would have without the release.

    ``tries`` are people (or records) attacked, ``successes`` the (expected) number of them for whom the attack
    was right, ``baseline`` the success rate that the same intruder reaches without the release. ``low`` and
    ``high`` bound the success rate with 95 % confidence, the people (or the classes, where these fall as a whole) being
    seen as a sample: `discreet.attacks.intervals`; Wilson's interval where nothing else is given. ``criterion``
    is the legal criterion it speaks to. ``fallen`` are the released classes that gave way (numbers in
    ``Pair.released``), ``figures`` further numbers by name. ``certain``: nothing is left to luck, for everybody was tried
    and the release itself says how often the guess is right; then no interval is needed to say whether it helped.

    >>> result = AttackResult("homogeneity", "inference", tries=100, successes=30, baseline=0.2, meaning="…")
    >>> result.rate, round(result.low, 3), round(result.advantage, 3), result.better_than_baseline
    (0.3, 0.219, 0.125, True)
    """

    attack: str
    criterion: LegalCriterion
    tries: float
    successes: float
    baseline: float
    meaning: str
    scenario: str = ""
    known: tuple[str, ...] = ()
    target: str | None = None
    unit: Literal["records", "persons"] = "records"
    source: str = ""
    exposed: tuple[Exposed, ...] = ()
    fallen: tuple[int, ...] = ()
    figures: tuple[tuple[str, float], ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    interval: tuple[float, float] | None = None
    """Set where successes are no independent hits and misses, of which Wilson's interval could be taken."""
    certain: bool = False

    def __repr__(self) -> str:
        # Who is exposed is told by values of the data, which a traceback or a log must not show.
        on = "" if self.target is None else f", on {self.target!r}"
        right = f"{self.successes:g} of {self.tries:g} {self.unit}"
        return (
            f"AttackResult({self.attack!r}{on}, right about {right}, {self.baseline:.1%} without the release)"
        )

    @property
    def rate(self) -> float:
        """Share of tries that succeeded; 0 if nothing was tried."""
        return self.successes / self.tries if self.tries else 0.0

    @property
    def low(self) -> float:
        return (self.interval or proportion_interval(self.successes, self.tries))[0]

    @property
    def high(self) -> float:
        return (self.interval or proportion_interval(self.successes, self.tries))[1]

    @property
    def advantage(self) -> float:
        """What the release adds: (rate - baseline) / (1 - baseline), 0 where it adds nothing."""
        room = 1.0 - self.baseline
        return max((self.rate - self.baseline) / room, 0.0) if room > 1e-12 else 0.0

    @property
    def better_than_baseline(self) -> bool:
        """Whether the release helped: the whole interval lies above the baseline, or where luck plays no part, the rate."""
        return self.tries > 0 and (self.rate if self.certain else self.low) > self.baseline + 1e-12

    def to_dict(self) -> dict[str, object]:
        return {
            "attack": self.attack,
            "criterion": self.criterion,
            "scenario": self.scenario,
            "known": list(self.known),
            "target": self.target,
            "unit": self.unit,
            "tries": self.tries,
            "successes": self.successes,
            "rate": self.rate,
            "low": self.low,
            "high": self.high,
            "baseline": self.baseline,
            "advantage": self.advantage,
            "better_than_baseline": self.better_than_baseline,
            "figures": {name: finite(value) for name, value in self.figures},
            "classes_fallen": len(self.fallen),
            "exposed": [person.to_dict() for person in self.exposed],
            "meaning": self.meaning,
            "source": self.source,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }
