"""What verbs do before they decide: open the table, find its roles, check the plan, count, and fit hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read
from discreet.errors import (
    DiscreetError,
    InvalidParameter,
    InvalidPolicy,
    UnknownColumn,
    UnsuitableColumn,
    unknown,
)
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy, open_policy
from discreet.policy.hierarchies import FittedHierarchy, hierarchies
from discreet.policy.plan import FOLLOWED, METHODS, Plan
from discreet.policy.policy import SLIP
from discreet.policy.suggest import suggest
from discreet.release.population import beside_population
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS, Table
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.table.values import SUPPRESSED
from discreet.transform.suppress import ValueSuppression, named_values, rare_values
from discreet.types import BoolArray, Progress

MOST_COMPARED = 10_000
"""So many values are looked through for one that was meant."""


def open_table(source: object, policy: Policy | None = None) -> Table:
    """A table as it is, or what ``discreet.read`` makes of anything else, looking out for the policy's columns."""
    return source if isinstance(source, Table) else read(source, expected=policy.names if policy else ())


def open_both(source: object, policy: GivenPolicy | None) -> tuple[Table, Policy | None]:
    """A table and a policy of whatever a verb was given for them."""
    opened = None if policy is None else open_policy(policy)
    return open_table(source, opened), opened


def open_plan(plan: Plan | None, policy: Policy) -> Plan:
    """The plan that was given, or else that of the policy."""
    if not isinstance(plan, Plan | None):
        raise InvalidParameter(
            Sentence("an object of type {kind} is no plan", kind=type(plan).__name__),
            remedy='pass discreet.Plan(method="…", …)',
        )
    return plan or policy.plan


def with_roles(table: Table, policy: Policy | None, say: Progress) -> tuple[Policy, list[str]]:
    """The policy, suggested if none is given, and what to tell about that."""
    if policy is not None:
        return policy, []
    say("suggesting roles")
    note = "no policy was given: roles were suggested from names and content and should be checked"
    return suggest(table), [note]


def count_classes(table: Table, policy: Policy) -> EquivalenceClasses:
    """The equivalence classes of a table, with what the policy calls sensitive, whom it counts and their weights."""
    return table.engine.count(
        table,
        # A release may have been made without what its plan drops.
        quasi_identifiers=[name for name in policy.quasi_identifiers if name in table.names],
        sensitive=policy.sensitive,
        # A release lacks what people guard.
        guards=[name for name in policy.guards if name in table.names],
        person=policy.person,
        # A release may have been made without its weights.
        weight=policy.weight if policy.weight in table.names else None,
    )


def refuse_unnamed_persons(table: Table, policy: Policy) -> None:
    """Rows whose person id is a mark such as ``?`` would all count as one person, and hide behind it."""
    if policy.person is None:
        return
    domain = table.engine.domain(table, policy.person)
    if domain.is_text and len(domain.codes_of(MISSING_MARKS)):
        raise UnsuitableColumn(
            Sentence(
                "column {person!r} is the person id but holds missing marks such as '?' or the empty text",
                person=policy.person,
            ),
            remedy="fill or remove these rows, or choose another person id",
        )


def several_rows(table: Table, policy: Policy) -> bool:
    """Whether somebody has more rows than one, as far as the policy says who is who."""
    if policy.person is None:
        return False
    counted = table.engine.count(table, quasi_identifiers=[], person=policy.person)
    return counted.total_persons < table.rows


def refuse_absent_values(policy: Policy, classes: EquivalenceClasses, *, slips_only: bool = False) -> None:
    """Refuse requirements that name a sensitive value which no record has: they would hold and protect nobody.

    What is named almost so is told to whoever wrote the policy. In a release a value may be gone with the records that
    were suppressed: ``slips_only`` refuses only what is near a value that is there.
    """
    problems = []
    for model in policy.requirements:
        domains = [d for d in classes.sensitive if model.sensitive in (d.name, "*")]
        labels = dict.fromkeys(label for domain in domains for label in domain.labels())
        for value in model.named_values if domains else ():
            near = _near(value, list(labels)) if value not in labels else []
            if near or (value not in labels and not slips_only):
                where = ", ".join(domain.name for domain in domains)
                given = {"model": model.id, "value": value, "where": where}
                problems.append(
                    Sentence(
                        "the requirement {model!r} names {value!r}, which no record has in {where}; near it are: "
                        "{near}",
                        **given,
                        near=tuple(near),
                    )
                    if near
                    else Sentence(
                        "the requirement {model!r} names {value!r}, which no record has in {where}", **given
                    )
                )
    if problems:
        raise InvalidPolicy(problems, remedy="name values as the table has them, or leave them out")


def _near(value: str, labels: Sequence[str]) -> list[str]:
    """The values that somebody may have meant: the same number or word written otherwise, or a slip of the pen.

    >>> _near("1", ["1.0", "2.0"]), _near("true", ["True"]), _near("fluu", ["cold", "flu"]), _near("HIV", ["flu"])
    (['1.0'], ['True'], ['flu'], [])
    """

    def plainest(text: str) -> object:
        try:
            return float(text)
        except ValueError:
            return text.strip().casefold()

    same = [label for label in labels if plainest(label) == plainest(value)]
    return same[:3] or get_close_matches(value, labels[:MOST_COMPARED], n=3, cutoff=SLIP)


def check_plan(plan: Plan, policy: Policy) -> None:
    """Refuse a plan that names what is not there or contradicts itself; all problems at once."""
    known = policy.quasi_identifiers
    named = {
        "keep": plan.keep,
        "least_levels": tuple(plan.least_levels),
        "most_levels": tuple(plan.most_levels),
        "weights": tuple(plan.weights),
        "suppress_values": tuple(plan.suppress_values),
        "suppress_rare": tuple(plan.suppress_rare),
        "suppress_attributes": plan.suppress_attributes,
        "drop_attributes": plan.drop_attributes,
    }
    droppable = {*known, policy.weight, *(c.name for c in policy.columns if c.role == "insensitive")}
    problems: list[DiscreetError] = [
        UnknownColumn(name, known)
        for name in dict.fromkeys(name for names in named.values() for name in names)
        if name not in (droppable if name in plan.drop_attributes else known)
    ]
    for first, others in (
        (
            "keep",
            (
                "least_levels",
                "most_levels",
                "suppress_values",
                "suppress_rare",
                "suppress_attributes",
                "drop_attributes",
            ),
        ),
        (
            "drop_attributes",
            (
                "weights",
                "least_levels",
                "most_levels",
                "suppress_values",
                "suppress_rare",
                "suppress_attributes",
            ),
        ),
    ):
        problems += [
            InvalidParameter(
                Sentence(
                    "{name!r} stands both in {first} and in {other}", name=name, first=first, other=other
                ),
                remedy="take it out of one of them",
            )
            for other in others
            for name in named[first]
            if name in named[other]
        ]
    problems += _pointless(plan, known)
    if plan.method not in METHODS:
        problems.append(unknown("method", plan.method, METHODS))
    else:
        problems += [_not_followed(plan, name, value) for name, value in plan.unfollowed(plan.method).items()]
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise InvalidPolicy([str(problem) for problem in problems], remedy="correct the plan")


def _pointless(plan: Plan, known: Sequence[str]) -> list[InvalidParameter]:
    """What of a plan could do nothing, or leave nothing."""
    problems = [
        InvalidParameter(
            Sentence("suppress_rare of {name!r} is {least}", name=name, least=least),
            remedy="give a whole number of records of at least 2",
        )
        for name, least in plan.suppress_rare.items()
        if least < 2
    ]
    if plan.suppressed_numbers != "star" and plan.suppressed == "drop":
        problems.append(
            InvalidParameter(
                Sentence(
                    "suppressed_numbers is {suppressed_numbers}, but suppressed records are left out",
                    suppressed_numbers=plan.suppressed_numbers,
                ),
                remedy='say suppressed = "star" (--suppressed star), so that they are shown',
            )
        )
    if known and set(known) <= set(plan.drop_attributes):
        problems.append(
            InvalidParameter(
                "drop_attributes leaves no quasi-identifier",
                remedy="give columns that need not be released the role direct-identifier instead",
            )
        )
    return problems


def _not_followed(plan: Plan, name: str, value: object) -> InvalidParameter:
    """What is wrong where a method cannot do as a setting says."""
    able = FOLLOWED[name]
    return InvalidParameter(
        Sentence(
            "{name} is {value}, which the method {method} cannot follow",
            name=name,
            value=value,
            method=plan.method,
        ),
        remedy=Sentence(
            'say method = "{able}" (--method {able}), or leave {name} out', able=able[0], name=name
        ),
    )


def kept_ladders(fitted: Sequence[FittedHierarchy], plan: Plan) -> list[Ladder]:
    """The ladders to climb; that of an attribute which must stay as it is has its first step only."""
    return [
        replace(hierarchy.ladder, steps=hierarchy.ladder.steps[:1])
        if hierarchy.ladder.name in plan.keep
        else hierarchy.ladder
        for hierarchy in fitted
    ]


def _refuse_levels(ladders: Sequence[Ladder], plan: Plan) -> None:
    """Refuse levels that a hierarchy does not have, or of which none is left to choose."""
    problems = []
    for ladder in ladders:
        name, height = ladder.name, ladder.height
        least, most = plan.least_levels.get(name, 0), plan.most_levels.get(name, height)
        if max(least, most) > height:
            problems.append(
                Sentence(
                    "the hierarchy of {name!r} has {height} levels above its values", name=name, height=height
                )
            )
        elif least > most:
            problems.append(
                Sentence(
                    "{name!r} has at least more levels than at most: {least} and {most}",
                    name=name,
                    least=least,
                    most=most,
                )
            )
    if problems:
        raise InvalidPolicy(problems, remedy="correct least_levels and most_levels")


def without_dropped(policy: Policy, plan: Plan) -> Policy:
    """The policy for what is left when the attributes that the plan drops are gone."""
    return policy.without(plan.drop_attributes)


def as_shown(policy: Policy, plan: Plan) -> Policy:
    """The policy for what a release shows: neither dropped attributes nor, if the plan drops them, person ids."""
    left = without_dropped(policy, plan)
    return left.without([left.person]) if left.person and plan.person == "drop" else left


def cover(classes: EquivalenceClasses, plan: Plan) -> tuple[ValueSuppression, list[str]]:
    """The classes with the plan's values and attributes suppressed, and what to tell about it."""
    gone: dict[str, BoolArray] = {}
    notes: list[str] = []
    for domain in classes.attributes:
        name = domain.name
        named = named_values(domain, plan.suppress_values.get(name, ()))
        lacking = len(plan.suppress_values.get(name, ())) - int(named.sum())
        if lacking > 0:
            notes.append(
                Sentence(
                    "of the values of {name} that are to be suppressed, {lacking} do not occur",
                    name=name,
                    lacking=lacking,
                )
            )
        if name in plan.suppress_attributes:
            gone[name] = np.ones(domain.size, dtype=bool)
            notes.append(Sentence("{name} is shown as * everywhere, as the plan says", name=name))
            continue
        gone[name] = named
        if name in plan.suppress_rare:
            gone[name] = named | rare_values(classes, name, plan.suppress_rare[name])
        if gone[name].any():
            # A value that is written as the sign itself looks like what is suppressed, and shares its fate.
            gone[name] |= named_values(domain, (SUPPRESSED,))
            notes.append(
                Sentence(
                    "some values of {name} are shown as * wherever they occur, as the plan says", name=name
                )
            )
    return ValueSuppression.of(classes, gone), notes


@dataclass(frozen=True)
class Preparation:
    """Counted classes with the plan's values suppressed, and the hierarchies that a search may climb."""

    covered: ValueSuppression
    fitted: tuple[FittedHierarchy, ...]
    ladders: tuple[Ladder, ...]
    notes: tuple[str, ...]

    @property
    def classes(self) -> EquivalenceClasses:
        return self.covered.classes


def prepare(
    counted: EquivalenceClasses,
    policy: Policy,
    plan: Plan,
    fitted: Sequence[FittedHierarchy] | None = None,
) -> Preparation:
    """Ready for a search: counted classes of what the plan does not drop, suppressed and with hierarchies.

    Hierarchies that are at hand need not be ``fitted`` again.
    """
    refuse_absent_values(policy, counted)
    covered, notes = cover(beside_population(counted, policy), plan)
    fitted = tuple(fitted or hierarchies(without_dropped(policy, plan), covered.classes))
    _refuse_levels([hierarchy.ladder for hierarchy in fitted], plan)
    ladders = tuple(covered.priced(ladder) for ladder in kept_ladders(fitted, plan))
    return Preparation(covered, fitted, ladders, tuple(notes))
