"""The attacks: what each asks, what it needs, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Literal

from discreet.attacks.result import AttackResult, LegalCriterion
from discreet.attacks.scenario import Scenario
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.perturb.base import Perturbation
from discreet.perturb.synthesis import Synthesis
from discreet.privacy import PrivacyModel
from discreet.table.hierarchies.hierarchy import Hierarchy

Need = Literal[
    "original",
    "people",
    "links",
    "order",
    "records",
    "sensitive",
    "released",
    "known",
    "truth",
    "generalised",
    "changed",
    "control",
    "values-of-others",
    "numbers",
    "hierarchy",
    "models",
    "several-values",
    "sets",
    "mechanism",
    "artificial",
]

WHY_NOT: Mapping[Need, str] = MappingProxyType(
    {
        "original": "it needs the original table",
        "people": "it needs the original table",
        "links": "it is not known which released record is which of the original",
        "order": "it is not known row by row which released record is which of the original: give the links or a key",
        "records": "the release tells this attribute by bucket, not by record",
        "sensitive": "there is no sensitive attribute",
        "released": "the release does not have this attribute",
        "known": "the intruder knows nothing besides this attribute",
        "truth": "values were averaged, noised or made up and it is not known which record became which, so nobody "
        "can tell whether a guess is right: name a key if the records are still those of people",
        "generalised": "values were averaged, noised or made up: they fit nobody, and records are linked by distance",
        "changed": "values only say less, never anything else: whoever fits a record is told by membership",
        "control": "there is no control group: give a table of people who are not in the release",
        "values-of-others": "the control group does not tell this attribute",
        "numbers": "the sensitive attribute is not a number",
        "hierarchy": "the sensitive attribute has no hierarchy that says which values are similar",
        "several-values": "the sensitive attribute has two values: to rule one out is to know the other",
        "sets": "every person has one value of the sensitive attribute: homogeneity says the same",
        "models": "the policy requires nothing, so an intruder learns nothing from its being met",
        "mechanism": "the policy names no step that perturbed a quasi-identifier: nothing is to be known of a method",
        "artificial": "the policy names no step that draws artificial values of what the intruder knows",
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
    steps: tuple[Perturbation, ...] = ()
    in_buckets: Pair | None = None
    """People against the buckets that tell the attribute, if it is told so: there is no pair of records then."""

    def arguments(self, sensitive: str) -> dict[str, object]:
        """What attacks take, by the names of their parameters."""
        return {
            "pair": self.in_buckets if self.pair is None else self.pair,
            "release": self.released if self.pair is None else self.pair,
            "sensitive": sensitive,
            "hierarchy": self.hierarchies.get(sensitive),
            "models": self.models,
            "known": self._compared,
            "targets": self.public,
            "control": self.control,
            "seed": self.seed,
            "steps": self.steps,
        }

    @property
    def _compared(self) -> tuple[str, ...]:
        """What is known and can be compared: a column that was left out, as others tell it, is in neither table."""
        if self.pair is None:
            return self.scenario.known
        sensitive = [domain.name for domain in self.pair.original.sensitive]
        counted = {*self.pair.original.names, *sensitive}
        return tuple(name for name in self.scenario.known if name in counted)


AT_HAND: Mapping[Need, Callable[[Setup, str], bool]] = {
    "original": lambda setup, _: setup.pair is not None,
    "people": lambda setup, _: setup.pair is not None or setup.in_buckets is not None,
    "links": lambda setup, _: setup.pair is not None and setup.pair.links is not None,
    "order": lambda setup, _: setup.pair is not None and setup.pair.order is not None,
    "truth": lambda setup, _: setup.pair is None or setup.pair.links is not None or setup.pair.truthful,
    "generalised": lambda setup, _: setup.pair is not None and setup.pair.truthful,
    "changed": lambda setup, _: setup.pair is not None and not setup.pair.truthful,
    "control": lambda setup, _: setup.control is not None,
    "values-of-others": lambda setup, sensitive: (
        setup.control is not None
        and sensitive in (*setup.control.names, *(domain.name for domain in setup.control.sensitive))
    ),
    "numbers": lambda setup, sensitive: setup.released.sensitive_domain(sensitive).is_numeric,
    "hierarchy": lambda setup, sensitive: sensitive in setup.hierarchies,
    "models": lambda setup, _: bool(setup.models),
    "several-values": lambda setup, sensitive: setup.released.sensitive_domain(sensitive).size > 2,
    "sets": lambda setup, _: setup.pair is not None and setup.pair.original.event_level,
    "records": lambda setup, _: setup.pair is not None,
    "sensitive": lambda _, sensitive: bool(sensitive),
    "mechanism": lambda setup, _: any(
        name in setup.scenario.known for step in setup.steps for name in step.columns
    ),
    "artificial": lambda setup, _: any(
        isinstance(step, Synthesis) and set(step.columns) & set(setup.scenario.known) for step in setup.steps
    ),
}
"""Whether what an attack needs is there, for one sensitive attribute."""


@dataclass(frozen=True)
class AttackKind:
    """One attack: what it asks, what it needs, and how it is run (once for each sensitive attribute, or once).

    ``function`` is ``module:name`` below `discreet.attacks`, imported when the attack is run; ``takes`` are the
    parameters that it is given of `Setup.arguments`.
    """

    id: str
    says: str
    needs: tuple[Need, ...]
    function: str
    takes: tuple[str, ...]
    source: str
    criterion: LegalCriterion = "inference"

    @property
    def per_sensitive(self) -> bool:
        return "sensitive" in self.needs

    def run(self, setup: Setup, sensitive: str) -> Iterator[AttackResult]:
        """The results, one by one: what a later one lacks does not undo those before it."""
        module, name = self.function.split(":")
        given = setup.arguments(sensitive)
        run = getattr(import_module(f"discreet.attacks.{module}"), name)
        results: AttackResult | Iterator[AttackResult] = run(**{name: given[name] for name in self.takes})
        yield from (results,) if isinstance(results, AttackResult) else results


_ALL = (
    AttackKind(
        "singling-out",
        "Does exactly one released record fit what the intruder knows about a person?",
        ("original", "truth"),
        "linkage.singling_out:singling_out",
        ("pair", "known", "targets", "seed"),
        "Article 29 Working Party, Opinion 05/2014 (WP216); sample uniques: Skinner, Elliot 2002",
        criterion="singling-out",
    ),
    AttackKind(
        "record-linkage",
        "Which released records fit a person, and is a guess among them right?",
        ("original", "truth"),
        "linkage.singling_out:record_linkage",
        ("pair", "known", "targets", "seed"),
        "Dankar, El Emam 2010; Samarati, Sweeney 1998",
        criterion="linkability",
    ),
    AttackKind(
        "probabilistic-linkage",
        "Is the released record that agrees best with a person that person's?",
        ("original", "links"),
        "linkage.probabilistic:probabilistic_linkage",
        ("pair", "known", "targets", "seed"),
        "Fellegi, Sunter 1969",
        criterion="linkability",
    ),
    AttackKind(
        "mechanism-linkage",
        "Does it help to know how values were perturbed?",
        ("mechanism", "original", "links"),
        "linkage.mechanism:linkage_by_method",
        ("pair", "steps", "known", "seed"),
        "Nin, Herranz and Torra, Rethinking rank swapping to decrease disclosure risk, 2008",
        criterion="linkability",
    ),
    AttackKind(
        "order",
        "Is the place of a record enough to tell whose it is, for one who holds a list in the same order?",
        ("original", "order"),
        "linkage.order:order_linkage",
        ("pair", "seed"),
        "Article 29 Working Party, Opinion 05/2014 (WP216), section 2.2",
        criterion="linkability",
    ),
    AttackKind(
        "membership",
        "Can it be told whether a person is in the release at all?",
        ("original", "control"),
        "linkage.membership:membership",
        ("pair", "control", "known", "seed"),
        "Nergiz, Atzori, Clifton 2007",
    ),
    AttackKind(
        "copies",
        "Does the release show people exactly as they are, more often than people who are not in it?",
        ("original", "control", "changed"),
        "linkage.copies:copies",
        ("pair", "control", "known", "seed"),
        "Newcombe 1998; Gower 1971",
    ),
    AttackKind(
        "predicates",
        "Do guesses that hold for one released record hold for one person, more often than for one of other people?",
        ("original", "control", "changed"),
        "synthetic.predicates:singling_out_by_predicates",
        ("pair", "control", "known", "seed"),
        "Cohen, Nissim 2020; Giomi et al., A unified framework for quantifying privacy risk in synthetic data, 2023",
        criterion="singling-out",
    ),
    AttackKind(
        "linking-of-halves",
        "Does the same released record lie nearest to both halves of what is known of a person?",
        ("original", "control", "changed"),
        "synthetic.halves:linking_of_halves",
        ("pair", "control", "known", "seed"),
        "Giomi et al., A unified framework for quantifying privacy risk in synthetic data, PoPETs 2023",
        criterion="linkability",
    ),
    AttackKind(
        "guessing-by-nearest",
        "Do the nearest released records tell the sensitive value of people whose records were used better than of others?",
        ("sensitive", "original", "control", "changed", "values-of-others"),
        "synthetic.guessing:guessing_by_nearest",
        ("pair", "sensitive", "control", "known", "seed"),
        "Giomi et al., A unified framework for quantifying privacy risk in synthetic data, PoPETs 2023",
    ),
    AttackKind(
        "membership-by-density",
        "Do released records lie denser around people whose records were used than around others?",
        ("original", "control", "changed"),
        "synthetic.density:membership_by_density",
        ("pair", "control", "known", "seed"),
        "van Breugel et al., Membership inference attacks against synthetic data through overfitting detection, 2023",
    ),
    AttackKind(
        "membership-by-shadows",
        "Does the release look like those that whoever knows the method makes with a person, or without?",
        ("artificial", "original", "control", "changed"),
        "synthetic.shadows:membership_by_shadows",
        ("pair", "steps", "control", "known", "seed"),
        "Stadler et al., Synthetic data: anonymisation groundhog day, 2022",
    ),
    AttackKind(
        "worst-case",
        "How many released records can be assigned by someone who holds the original?",
        ("original", "generalised"),
        "linkage.worst_case:worst_case",
        ("pair",),
        "Domingo-Ferrer, Ricci, Soria-Comas 2015; Kikuchi et al. 2016",
        criterion="singling-out",
    ),
    AttackKind(
        "homogeneity",
        "Does everybody in a class have the same sensitive value?",
        ("sensitive", "truth"),
        "disclosure.homogeneity:homogeneity",
        ("release", "sensitive"),
        "Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, 2007",
    ),
    AttackKind(
        "background-knowledge",
        "Is one sensitive value left once another one can be ruled out?",
        ("sensitive", "several-values", "truth"),
        "disclosure.background:background_knowledge",
        ("release", "sensitive"),
        "Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, 2007",
    ),
    AttackKind(
        "skewness",
        "Is a sensitive value much more frequent in a class than in general?",
        ("sensitive", "truth"),
        "disclosure.homogeneity:skewness",
        ("release", "sensitive"),
        "Li, Li and Venkatasubramanian, t-closeness, 2007",
    ),
    AttackKind(
        "similarity",
        "Do all sensitive values of a class mean the same kind of thing?",
        ("sensitive", "hierarchy", "truth"),
        "disclosure.proximity:similarity",
        ("release", "sensitive", "hierarchy"),
        "Li, Li and Venkatasubramanian, t-closeness, 2007",
    ),
    AttackKind(
        "proximity",
        "Do the sensitive numbers of a class lie close together?",
        ("sensitive", "numbers", "truth"),
        "disclosure.proximity:proximity",
        ("release", "sensitive"),
        "Li, Tao and Xiao, Preservation of proximity privacy, 2008",
    ),
    AttackKind(
        "attribute-inference",
        "Can the sensitive value be predicted by a model learned from the release?",
        ("sensitive", "people"),
        "disclosure.inference:inference_by_each_model",
        ("pair", "sensitive", "seed"),
        "Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009",
    ),
    AttackKind(
        "interval-disclosure",
        "Is a perturbed number still close to the true one?",
        ("mechanism", "original", "links"),
        "disclosure.interval:interval_disclosure",
        ("pair", "steps", "known"),
        "Domingo-Ferrer and Torra, Disclosure control methods and information loss for microdata, 2001",
    ),
    AttackKind(
        "areas-of-interest",
        "Which values of a person follow from what all candidates have in common?",
        ("sensitive", "original", "sets", "truth"),
        "disclosure.areas:areas_of_interest",
        ("pair", "sensitive"),
        "privacy demonstrator, study of anonymised car data, 2023",
    ),
    AttackKind(
        "minimality",
        "What follows from knowing that no more was changed than had to be?",
        ("sensitive", "original", "models"),
        "minimality.minimality:minimality",
        ("pair", "models", "sensitive"),
        "Wong et al., Minimality attack in privacy preserving data publishing, 2007",
    ),
    AttackKind(
        "downcoding",
        "Which generalised values can be narrowed down again?",
        ("original", "models"),
        "minimality.downcoding:downcoding",
        ("pair", "models"),
        "Cohen, Attacks on deidentification's defenses, 2022",
    ),
)

ATTACKS: Mapping[str, AttackKind] = MappingProxyType({kind.id: kind for kind in _ALL})
"""Every attack by its name."""
