"""A new release judged together with the earlier ones of a register."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.attacks.composition.intersection import intersection
from discreet.attacks.result import AttackResult
from discreet.privacy.base import need_number
from discreet.register.people import PeopleOfRelease
from discreet.sentences import Sentence


@dataclass(frozen=True)
class Judgement:
    """What a new release adds to the earlier ones: ``results`` of the intersection attack, one for each sensitive attribute.

    ``narrowed`` are, by attribute, the people of whom fewer than ``values_left`` values are left because of the new release,
    ``changed`` those for whom it leaves other values possible than an earlier one. With ``same_values`` nobody may be changed.
    ``releases`` are the numbers of those that it was laid over, ``unjudged`` of those that could not be.
    """

    values_left: int
    results: tuple[AttackResult, ...]
    narrowed: Mapping[str, int]
    changed: Mapping[str, int]
    releases: tuple[int, ...]
    unjudged: tuple[int, ...] = ()
    same_values: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def holds(self) -> bool:
        """Whether the new release leaves enough values possible for everybody, and the same ones if that is asked for."""
        return not any(self.narrowed.values()) and not (self.same_values and any(self.changed.values()))

    @property
    def says(self) -> str:
        """The judgement in one sentence."""
        if self.holds:
            return Sentence(
                "Together with those published before ({earlier:,}), this release leaves nobody fewer than {least} "
                "possible sensitive values who had more.",
                earlier=len(self.releases),
                least=self.values_left,
            )
        if not any(self.narrowed.values()):
            return Sentence(
                "This release leaves other values of {names} possible than those published before ({earlier:,}) for "
                "{people:,} people.",
                earlier=len(self.releases),
                people=max(self.changed.values()),
                names=[name for name, people in self.changed.items() if people],
            )
        return Sentence(
            "Together with those published before ({earlier:,}), this release leaves fewer than {least} possible values of "
            "{names} for {people:,} of the people who are in several.",
            earlier=len(self.releases),
            people=max(self.narrowed.values()),
            least=self.values_left,
            names=[name for name, people in self.narrowed.items() if people],
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-register-judgement-1",
            "holds": self.holds,
            "says": str(self.says),
            "values_left": self.values_left,
            "narrowed": dict(self.narrowed),
            "changed": dict(self.changed),
            "same_values": self.same_values,
            "releases": list(self.releases),
            "unjudged": list(self.unjudged),
            "attacks": [
                {name: value for name, value in result.to_dict().items() if name != "exposed"}
                for result in self.results
            ],
            "notes": list(self.notes),
        }


def judge_people(
    newest: PeopleOfRelease,
    earlier: Mapping[int, PeopleOfRelease],
    *,
    values_left: int,
    same_values: bool = False,
    unjudged: tuple[int, ...] = (),
) -> Judgement:
    """Lay a new release over earlier ones, person by person."""
    need_number("values_left", values_left, low=1)
    results, narrowed, changed = [], {}, {}
    for name, candidates in newest.candidates.items():
        shown = [
            people.of_persons(newest.persons, name)
            for people in earlier.values()
            if name in people.candidates
        ]
        if shown:
            overlap = intersection([*shown, candidates], newest.truth[name])
            narrowed[name] = int(overlap.narrowed(values_left).sum())
            changed[name] = int(overlap.changed().sum())
            results.append(overlap.result(name, unit="persons"))
    notes: list[str] = []
    if unjudged:
        notes.append(
            Sentence(
                "{count:,} earlier releases were registered without their people, or with another key: they were not "
                "judged; lay their files over the new one with `discreet attack --earlier`",
                count=len(unjudged),
            )
        )
    return Judgement(
        values_left, tuple(results), narrowed, changed, tuple(earlier), unjudged, same_values, tuple(notes)
    )
