"""The attacks: what each asks, what it needs, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from discreet.attacks.result import AttackResult, Criterion
from discreet.attacks.scenario import Scenario
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.privacy import PrivacyModel
from discreet.table.hierarchies.hierarchy import Hierarchy

Need = Literal[
    "original",
    "links",
    "sensitive",
    "released",
    "known",
    "truth",
    "generalised",
    "control",
    "numbers",
    "hierarchy",
    "models",
    "several-values",
    "sets",
]

SINGLING_OUT_SOURCE = (
    "Article 29 Working Party, Opinion 05/2014 (WP216); sample uniques: Skinner, Elliot 2002"
)

WHY_NOT: Mapping[Need, str] = MappingProxyType(
    {
        "original": "it needs the original table",
        "links": "it is not known which released record is which of the original",
        "sensitive": "there is no sensitive attribute",
        "released": "the release does not have this attribute",
        "known": "the intruder knows nothing besides this attribute",
        "truth": "values were averaged, noised or made up and it is not known which record became which, so nobody "
        "can tell whether a guess is right: name a key if the records are still those of people",
        "generalised": "values were averaged, noised or made up: they fit nobody, and records are linked by distance",
        "control": "there is no control group: give a table of people who are not in the release",
        "numbers": "the sensitive attribute is not a number",
        "hierarchy": "the sensitive attribute has no hierarchy that says which values are similar",
        "several-values": "the sensitive attribute has two values: to rule one out is to know the other",
        "sets": "every person has one value of the sensitive attribute: homogeneity says the same",
        "models": "the policy requires nothing, so an intruder learns nothing from its being met",
    }
)


@dataclass(frozen=True)
class Setup:
    """What an attack is given: classes over all that the scenario takes to be known, but for what is to be found."""

    pair: Pair | None
    released: EquivalenceClasses
    scenario: Scenario
    public: EquivalenceClasses | None
    control: EquivalenceClasses | None
    models: tuple[PrivacyModel, ...]
    hierarchies: Mapping[str, Hierarchy]
    seed: int

    @property
    def both(self) -> Pair:
        assert self.pair is not None, "an attack that needs the original is only run with it"
        return self.pair

    @property
    def seen(self) -> Pair | EquivalenceClasses:
        """The release with its original if that is at hand, else alone."""
        return self.released if self.pair is None else self.pair


def at_hand(need: Need, setup: Setup, sensitive: str) -> bool:
    """Whether what an attack needs is there, for one sensitive attribute."""
    if need == "original":
        return setup.pair is not None
    if need == "links":
        return setup.pair is not None and setup.pair.links is not None
    if need == "truth":
        return setup.pair is None or setup.pair.links is not None or setup.pair.truthful
    if need == "generalised":
        return setup.pair is not None and setup.pair.truthful
    if need == "control":
        return setup.control is not None
    if need == "numbers":
        return setup.released.sensitive_domain(sensitive).is_numeric
    if need == "hierarchy":
        return sensitive in setup.hierarchies
    if need == "models":
        return bool(setup.models)
    if need == "several-values":
        return setup.released.sensitive_domain(sensitive).size > 2
    if need == "sets":
        return setup.both.original.event_level
    return bool(sensitive)


Run = Callable[[Setup, str], AttackResult | Iterable[AttackResult]]


@dataclass(frozen=True)
class AttackKind:
    """One attack: what it asks, what it needs, and how it is run (once for each sensitive attribute, or once)."""

    id: str
    catalogue: str
    criterion: Criterion
    says: str
    needs: tuple[Need, ...]
    run: Run = field(repr=False)

    @property
    def per_sensitive(self) -> bool:
        return "sensitive" in self.needs


def _linkage(setup: Setup, _: str) -> AttackResult:
    from discreet.attacks.linkage.compatible import compatible_linkage
    from discreet.attacks.linkage.nearest import nearest_linkage

    pair = setup.both
    chosen = compatible_linkage if pair.truthful else nearest_linkage
    return chosen(pair, known=setup.scenario.known, targets=setup.public, seed=setup.seed)


def _singling_out(setup: Setup, _: str) -> AttackResult:
    found = _linkage(setup, "")
    figures = dict(found.figures)
    # Something is always nearest: it singles a person out only if it is that person's record.
    alone = figures["singled-out" if "singled-out" in figures else "one-nearest-and-right"] * found.tries
    how = "fits" if "singled-out" in figures else "is nearest to, and it is their own"
    return replace(
        found,
        attack="singling-out",
        criterion="singling-out",
        successes=alone,
        baseline=0.0,
        meaning=f"Of {found.tries:.0f} people, {alone:.0f} are those whom exactly one record of the release {how}. "
        f"Without the release nobody can be singled out in it.",
        source=SINGLING_OUT_SOURCE,
        figures=(),
    )


def _probabilistic(setup: Setup, _: str) -> AttackResult:
    from discreet.attacks.linkage.probabilistic import probabilistic_linkage

    return probabilistic_linkage(
        setup.both, known=setup.scenario.known, targets=setup.public, seed=setup.seed
    )


def _membership(setup: Setup, _: str) -> AttackResult:
    from discreet.attacks.linkage.membership import membership

    return membership(setup.both, control=setup.control, known=setup.scenario.known, seed=setup.seed)


def _worst_case(setup: Setup, _: str) -> AttackResult:
    from discreet.attacks.linkage.worst_case import worst_case

    return worst_case(setup.both)


def _homogeneity(setup: Setup, sensitive: str) -> AttackResult:
    from discreet.attacks.disclosure.homogeneity import homogeneity

    return homogeneity(setup.seen, sensitive)


def _background(setup: Setup, sensitive: str) -> AttackResult:
    from discreet.attacks.disclosure.background import background_knowledge

    return background_knowledge(setup.seen, sensitive)


def _skewness(setup: Setup, sensitive: str) -> AttackResult:
    from discreet.attacks.disclosure.homogeneity import skewness

    return skewness(setup.seen, sensitive)


def _similarity(setup: Setup, sensitive: str) -> AttackResult:
    from discreet.attacks.disclosure.proximity import similarity

    return similarity(setup.seen, sensitive, setup.hierarchies[sensitive])


def _proximity(setup: Setup, sensitive: str) -> AttackResult:
    from discreet.attacks.disclosure.proximity import proximity

    return proximity(setup.seen, sensitive)


def _inference(setup: Setup, sensitive: str) -> Iterable[AttackResult]:
    from discreet.attacks.disclosure.inference import MODELS, attribute_inference

    # One after the other: what one model lacks does not stop the other.
    for model in MODELS:
        yield from attribute_inference(setup.both, sensitive, models=[model], seed=setup.seed)


def _areas(setup: Setup, sensitive: str) -> AttackResult:
    from discreet.attacks.disclosure.areas import areas_of_interest

    return areas_of_interest(setup.both, sensitive)


def _minimality(setup: Setup, sensitive: str) -> AttackResult:
    from discreet.attacks.minimality.minimality import minimality

    return minimality(setup.both, setup.models, sensitive)


def _downcoding(setup: Setup, _: str) -> AttackResult:
    from discreet.attacks.minimality.downcoding import downcoding

    return downcoding(setup.both, setup.models)


_ALL = (
    AttackKind(
        "singling-out",
        "K1",
        "singling-out",
        "Does exactly one released record fit what the intruder knows about a person?",
        ("original", "truth"),
        _singling_out,
    ),
    AttackKind(
        "record-linkage",
        "K1",
        "linkability",
        "Which released records fit a person, and is a guess among them right?",
        ("original", "truth"),
        _linkage,
    ),
    AttackKind(
        "probabilistic-linkage",
        "K1",
        "linkability",
        "Is the released record that agrees best with a person that person's?",
        ("original", "links"),
        _probabilistic,
    ),
    AttackKind(
        "membership",
        "K3",
        "inference",
        "Can it be told whether a person is in the release at all?",
        ("original", "control"),
        _membership,
    ),
    AttackKind(
        "worst-case",
        "K8",
        "singling-out",
        "How many released records can be assigned by someone who holds the original?",
        ("original", "generalised"),
        _worst_case,
    ),
    AttackKind(
        "homogeneity",
        "K2",
        "inference",
        "Does everybody in a class have the same sensitive value?",
        ("sensitive", "truth"),
        _homogeneity,
    ),
    AttackKind(
        "background-knowledge",
        "K2",
        "inference",
        "Is one sensitive value left once another one can be ruled out?",
        ("sensitive", "several-values", "truth"),
        _background,
    ),
    AttackKind(
        "skewness",
        "K2",
        "inference",
        "Is a sensitive value much more frequent in a class than in general?",
        ("sensitive", "truth"),
        _skewness,
    ),
    AttackKind(
        "similarity",
        "K2",
        "inference",
        "Do all sensitive values of a class mean the same kind of thing?",
        ("sensitive", "hierarchy", "truth"),
        _similarity,
    ),
    AttackKind(
        "proximity",
        "K2",
        "inference",
        "Do the sensitive numbers of a class lie close together?",
        ("sensitive", "numbers", "truth"),
        _proximity,
    ),
    AttackKind(
        "attribute-inference",
        "K4",
        "inference",
        "Can the sensitive value be predicted by a model learned from the release?",
        ("sensitive", "original"),
        _inference,
    ),
    AttackKind(
        "areas-of-interest",
        "K7",
        "inference",
        "Which values of a person follow from what all candidates have in common?",
        ("sensitive", "original", "sets", "truth"),
        _areas,
    ),
    AttackKind(
        "minimality",
        "K6",
        "inference",
        "What follows from knowing that no more was changed than had to be?",
        ("sensitive", "original", "models"),
        _minimality,
    ),
    AttackKind(
        "downcoding",
        "K6",
        "inference",
        "Which generalised values can be narrowed down again?",
        ("original", "models"),
        _downcoding,
    ),
)

ATTACKS: Mapping[str, AttackKind] = MappingProxyType({one.id: one for one in _ALL})
"""Every attack by its name."""
