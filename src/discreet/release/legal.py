"""The three legal criteria for anonymity, each with what was tested and found, in words that can be quoted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from discreet.attacks.result import AttackResult, LegalCriterion
from discreet.measure import Measure
from discreet.sentences import Sentence

State = Literal["gives way", "weakened", "withstood", "not tested"]

TOLERATED = 0.09
"""An advantage over chance up to this weakens a criterion, a larger one makes it give way.

0.09 is the chance of re-identification that EMA policy 0070 and Health Canada accept for public releases. Neither
they nor WP216 name a number for inference; the same one is used, and said.
"""

CRITERIA: tuple[LegalCriterion, ...] = ("singling-out", "linkability", "inference")

TITLES: dict[LegalCriterion, str] = {
    "singling-out": "Singling out",
    "linkability": "Linkability",
    "inference": "Inference",
}

QUESTIONS: dict[LegalCriterion, str] = {
    "singling-out": "Can records be isolated that belong to one person?",
    "linkability": "Can records of the release be linked with what is held about the same person elsewhere?",
    "inference": "Can something about a person be concluded from the release with significant probability?",
}

SOURCE = "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216), section 2.2"

UPPER_BOUNDS = ("worst-case", "interval-disclosure", "deletion", "insertion")
"""Attacks of an intruder who holds what nobody is meant to hold (the original; whose record is whose; that no more people
went or came than the releases prove): they bound all others and decide nothing."""

MEASURES: dict[LegalCriterion, tuple[str, ...]] = {
    "singling-out": ("k-anonymity", "sample-uniques"),
    "linkability": ("average-risk", "max-risk"),
    "inference": ("l-diversity", "t-closeness", "ordered-t-closeness"),
}
"""The measures of an audit that speak to each criterion."""


@dataclass(frozen=True)
class Defence:
    """How a method is rated against the three criteria: whether it can be a defence, and under which condition."""

    method: str
    singling_out: tuple[bool, str]
    linkability: tuple[bool, str]
    inference: tuple[bool, str]


_K = "depends on the chosen k"
_SIMILAR = "similarity attacks are not considered"
_BASED = "as far as k-anonymity goes"
_VALUES = "depends on the distribution of the sensitive values"
_BUDGET = "depends on the privacy budget"

DEFENCES: tuple[Defence, ...] = (
    Defence("k-anonymity", (True, ""), (False, _K), (False, _SIMILAR)),
    Defence(
        "l-diversity",
        (True, _BASED),
        (False, Sentence("{parts:; }", parts=(Sentence(_K), Sentence(_BASED)))),
        (True, Sentence("{parts:; }", parts=(Sentence(_SIMILAR), Sentence(_VALUES)))),
    ),
    Defence(
        "t-closeness",
        (True, _BASED),
        (False, Sentence("{parts:; }", parts=(Sentence(_K), Sentence(_BASED)))),
        (True, Sentence("{parts:; }", parts=(Sentence(_SIMILAR), Sentence(_VALUES)))),
    ),
    Defence("differential privacy", (True, ""), (True, _BUDGET), (True, _BUDGET)),
    Defence("synthetic data", (True, ""), (True, ""), (False, "might be combined with differential privacy")),
)
"""Which methods can be a strategy of defence against which criterion, and which cannot alone."""

DEFENCES_SOURCE = "Review of anonymization procedures for tabular data, 2023, Table 3"


@dataclass(frozen=True)
class Untested:
    """An attack that was not run, and why."""

    attack: str
    criterion: LegalCriterion
    why: str

    def to_dict(self) -> dict[str, object]:
        return {"attack": self.attack, "criterion": self.criterion, "why": self.why}


@dataclass(frozen=True)
class Summary:
    """One criterion: what was tried, what came of it, what was not tried."""

    criterion: LegalCriterion
    state: State
    finding: str
    worst: AttackResult | None
    tested: tuple[str, ...]
    untested: tuple[Untested, ...]
    measures: tuple[Measure, ...]

    @property
    def title(self) -> str:
        return TITLES[self.criterion]

    @property
    def question(self) -> str:
        return QUESTIONS[self.criterion]

    def to_dict(self) -> dict[str, object]:
        return {
            "criterion": self.criterion,
            "question": self.question,
            "state": self.state,
            "finding": self.finding,
            "worst_attack": self.worst.attack if self.worst else None,
            "tested": list(self.tested),
            "not_tested": [attack.to_dict() for attack in self.untested],
            "measures": [measure.to_dict() for measure in self.measures],
            "source": SOURCE,
        }


def summarise(
    results: Sequence[AttackResult], untested: Sequence[Untested], measures: Iterable[Measure] = ()
) -> tuple[Summary, ...]:
    """The three criteria, each by the attack that got furthest beyond what the intruder had without the release.

    A criterion has withstood if attacks were run and none was better than its baseline, the whole confidence
    interval counted; it is weakened if one was, by an advantage of at most ``TOLERATED``, and gives way beyond that.
    None of these words speaks of attacks that were not run. The intruder who holds the original (``UPPER_BOUNDS``)
    is told beside them and decides nothing: what he finds he had before.

    >>> result = AttackResult("homogeneity", "inference", tries=100, successes=30, baseline=0.2, meaning="…")
    >>> [(summary.criterion, summary.state) for summary in summarise([result], [])]
    [('singling-out', 'not tested'), ('linkability', 'not tested'), ('inference', 'gives way')]
    >>> summarise([result], [])[2].finding
    'The attack that got furthest (homogeneity) was right about 30 of 100 records, 30% (21.9% to 39.6%); without the release 20% are expected. This is more than chance, by more than 9% of what chance leaves: the release gives something away.'
    """
    listed = list(measures)
    summaries = []
    for criterion in CRITERIA:
        own = [result for result in results if result.criterion == criterion and result.tries]
        missing = tuple(attack for attack in untested if attack.criterion == criterion)
        deciding = [result for result in own if result.attack not in UPPER_BOUNDS]
        worst = max(
            deciding,
            key=lambda result: (result.better_than_baseline, result.advantage, result.rate),
            default=None,
        )
        summaries.append(
            Summary(
                criterion,
                state_of(worst),
                _finding(worst),
                worst,
                tuple(dict.fromkeys(result.attack for result in own)),
                missing,
                tuple(measure for measure in listed if measure.name in MEASURES[criterion]),
            )
        )
    return tuple(summaries)


def state_of(worst: AttackResult | None) -> State:
    """What an attack makes of its criterion, if it is the one that got furthest."""
    if worst is None:
        return "not tested"
    if not worst.better_than_baseline:
        return "withstood"
    return "weakened" if worst.advantage <= TOLERATED else "gives way"


def _finding(worst: AttackResult | None) -> str:
    if worst is None:
        return "No attack that speaks to this criterion was run, so nothing is said about it."
    if worst.better_than_baseline:
        much = (
            Sentence("at most {share:.0%}", share=TOLERATED)
            if worst.advantage <= TOLERATED
            else Sentence("more than {share:.0%}", share=TOLERATED)
        )
        therefore = Sentence(
            "This is more than chance, by {much} of what chance leaves: the release gives something away.",
            much=much,
        )
    else:
        therefore = Sentence(
            "This is not distinguishable from chance: the attacks that were run did not profit from the release."
        )
    attack = Sentence(worst.attack)
    return Sentence(
        "The attack that got furthest ({attack}) was right about {successes} of {tries} {unit}, {rate} ({low} to {high}); "
        "without the release {baseline} are expected. {therefore}",
        attack=Sentence("{attack} on {target}", attack=attack, target=worst.target)
        if worst.target
        else attack,
        successes=_count(worst.successes),
        tries=_count(worst.tries),
        unit=Sentence(worst.unit),
        rate=_share(worst.rate),
        low=_share(worst.low),
        high=_share(worst.high),
        baseline=_share(worst.baseline),
        therefore=therefore,
    )


def _count(number: float) -> str:
    return f"{number:,.0f}" if abs(number - round(number)) < 1e-9 else f"{number:,.1f}"


def _share(number: float) -> str:
    if 0 < number < 0.0005:
        return Sentence("less than {share:.1%}", share=0.001)
    return f"{number:.1%}".replace(".0%", "%")
