"""Who attacks: what the intruder knows, whom he is after, and what he holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from discreet.errors import InvalidParameter, UnknownColumn, unknown

Knowledge = Literal["quasi-identifiers", "visible", "all"]

VISIBLE = 2
"""From this availability on (1 hard, 3 easy to come by) a neighbour is taken to know an attribute."""


@dataclass(frozen=True)
class Preset:
    """A kind of intruder as the literature knows it."""

    name: str
    title: str
    says: str
    knows: Knowledge
    source: str


_ALL = (
    Preset(
        "prosecutor",
        "someone after one particular person",
        "knows that one particular person is in the release, and all quasi-identifiers of that person",
        "quasi-identifiers",
        "Elliot and Dale, Scenarios of attack, 1999; El Emam, Guide to the De-Identification of Personal Health "
        "Information, 2013",
    ),
    Preset(
        "journalist",
        "someone who wants to show that anybody can be found",
        "holds a public table with all quasi-identifiers and does not know who of it is in the release",
        "quasi-identifiers",
        "El Emam, Guide to the De-Identification of Personal Health Information, 2013",
    ),
    Preset(
        "marketer",
        "someone who wants to match as many people as possible",
        "holds all quasi-identifiers of everybody and accepts that some matches are wrong: the mean counts",
        "quasi-identifiers",
        "Dankar and El Emam, A method for evaluating marketer re-identification risk, 2010",
    ),
    Preset(
        "neighbour",
        "someone who sees the target now and then",
        "knows that the target is in the release and what is easily seen or found out about people (availability 2 "
        "or 3 in the policy's ratings; attributes without a rating count as known)",
        "visible",
        "nosy neighbour: Elliot and Dale, Scenarios of attack, 1999",
    ),
    Preset(
        "insider",
        "someone from the house",
        "knows that the target is in the release, all quasi-identifiers, and every sensitive attribute but the one "
        "to be found out",
        "all",
        "Elliot and Dale, Scenarios of attack, 1999",
    ),
)

SCENARIOS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ALL})
"""Every preset by its name."""


@dataclass(frozen=True)
class Scenario:
    """One intruder against one release: which columns are known, and whether membership is."""

    preset: Preset
    known: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.preset.name

    def known_against(self, target: str | None) -> tuple[str, ...]:
        """What is known when a sensitive attribute is to be found out: everything else."""
        return tuple(name for name in self.known if name != target)


def make_scenario(
    name: str,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    availability: Mapping[str, int] | None = None,
    known: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> Scenario:
    """The preset for a table; ``known`` overrides which columns the intruder knows.

    >>> make_scenario("neighbour", quasi_identifiers=["age", "sex", "edu"], availability={"age": 3, "edu": 1}).known
    ('age', 'sex')
    >>> make_scenario("insider", quasi_identifiers=["age"], sensitive=["flu", "income"]).known
    ('age', 'flu', 'income')
    """
    if name not in SCENARIOS:
        raise unknown("scenario", name, SCENARIOS)
    preset = SCENARIOS[name]
    if known is not None:
        if not known:
            raise InvalidParameter(
                "the intruder knows nothing", remedy="name at least one column that is known"
            )
        listed = [*quasi_identifiers, *sensitive] if columns is None else list(columns)
        for name in known:
            if name not in listed:
                raise UnknownColumn(name, listed)
        return Scenario(preset, tuple(dict.fromkeys(known)))
    if preset.knows == "visible":
        rated = availability or {}
        visible = tuple(name for name in quasi_identifiers if rated.get(name, VISIBLE) >= VISIBLE)
        return Scenario(preset, visible or tuple(quasi_identifiers))
    if preset.knows == "all":
        return Scenario(preset, (*quasi_identifiers, *sensitive))
    return Scenario(preset, tuple(quasi_identifiers))
