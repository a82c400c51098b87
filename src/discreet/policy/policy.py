"""The policy: what the columns are, what is required, and by which profile the release is judged."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Literal

from discreet.errors import InvalidPolicy, UnknownColumn, unknown
from discreet.perturb.base import Perturbation
from discreet.plain import Printed
from discreet.policy.analysis import Analysis
from discreet.policy.constraint import Constraint
from discreet.policy.guarantee import DifferentialPrivacy
from discreet.policy.intruder import EVERYBODY, Intruder, Judged
from discreet.policy.kpi import Kpi
from discreet.policy.mistake import Mistake
from discreet.policy.plan import Plan
from discreet.privacy import KnownBy, PersonalisedPrivacy, PrivacyModel
from discreet.sentences import Sentence
from discreet.table import Column, DataType, Table
from discreet.table.hierarchies.builder import Builder
from discreet.table.roles import ROLES, Role

DEFAULT_PROFILE = "open-data"

Unknown = Literal["fail", "examine", "drop", "keep"]
"""What becomes of columns that a policy does not know: ``check`` fails and no release is made; those recognised as
direct identifiers are treated so, the others kept; releases are made without them; they are kept as they are."""

SLIP = 0.75
"""Names at least so similar (by difflib's ratio) may be one name and a slip of the pen: ``zipp`` and ``zip``."""


@dataclass(frozen=True)
class Rating:
    """How well a column serves to re-identify people, 1 (low) to 3 (high) on each of three counts.

    Replication: how constant the information is about a person; availability: how easily others get it;
    distinguishability: how well it tells people apart. (Aufschläger et al. 2023, section 6.7.1.)
    """

    replication: int
    availability: int
    distinguishability: int

    @property
    def total(self) -> int:
        return self.replication + self.availability + self.distinguishability


@dataclass(frozen=True)
class ColumnPolicy:
    """One column's part in the release, and why.

    ``hierarchy`` says how its values may be generalised: a builder, or the path of a hierarchy file.
    Without one it is learned from the data.
    """

    name: str
    role: Role
    type: DataType | None = None
    reason: str = ""
    rating: Rating | None = None
    hierarchy: Builder | str | None = None


@dataclass(frozen=True)
class Policy(Printed):
    """Roles, requirements and profile. Frozen: ``replace`` and ``require`` make a changed one.

    ``sampling_fraction`` is the share of the population that is in the table, ``population`` the file of a table of
    the whole population: either tells how many people share a quasi-identifier outside the table. If a row of that stands
    for several people, ``population_count`` is the column that says for how many. ``perturb`` are the steps that change values before anything is generalised, in their order. ``guarantees`` are asked of how a release was
    made, and checked by its statement and the ledger. ``intruders`` may know some of the quasi-identifiers each; what names none of them is asked
    of all quasi-identifiers ``together``, or ``separately`` of what each intruder knows.

    >>> policy = Policy.of(quasi_identifiers=["age", "sex"], sensitive=["flu"])
    >>> policy.replace(sensitive=["income"]).sensitive
    ('income',)
    """

    columns: tuple[ColumnPolicy, ...] = ()
    requirements: tuple[PrivacyModel, ...] = ()
    profile: str = DEFAULT_PROFILE
    sampling_fraction: float | None = None
    population: str | None = None
    population_count: str | None = None
    read: Mapping[str, object] = field(default_factory=dict)
    plan: Plan = field(default_factory=Plan)
    kpis: tuple[Kpi, ...] = ()
    unknown: Unknown = "fail"
    perturb: tuple[Perturbation, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    guarantees: tuple[DifferentialPrivacy, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    intruders: tuple[Intruder, ...] = ()
    judged: Judged = "together"

    def __str__(self) -> str:
        """What it says, in lines of at most 80 characters.

        >>> print(Policy.of(quasi_identifiers=["age", "sex"], sensitive=["flu"]))
        Policy by the profile open-data
          quasi-identifier   age, sex
          sensitive          flu
        """
        entries: list[tuple[str, str]] = [(role, ", ".join(self._with_role(role))) for role in ROLES]
        entries += [("require", model.describe()) for model in self.requirements]
        entries += [("intruder", intruder.describe()) for intruder in self.intruders]
        entries += [("judged", self.judged)] if self.judged != "together" else []
        entries += [("require", guarantee.describe()) for guarantee in self.guarantees]
        entries += [("perturb", step.describe()) for step in self.perturb]
        changed = {f.name: getattr(self.plan, f.name) for f in dataclasses.fields(Plan)}
        entries += [
            ("anonymize", f"{name} = {value}")
            for name, value in changed.items()
            if value != getattr(Plan(), name)
        ]
        entries += [("kpi", kpi.name) for kpi in self.kpis]
        entries += [("constraint", f"{rule.name}: {rule.condition}") for rule in self.constraints]
        entries += [("analysis", analysis.formula) for analysis in self.analyses]
        entries += [("mistake", mistake.describe()) for mistake in self.mistakes]
        lines = [f"Policy by the profile {self.profile}"]
        for key, text in entries:
            lines += textwrap.wrap(text, 80, initial_indent=f"  {key:<19}", subsequent_indent=" " * 21)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Policy({len(self.columns)} columns, {len(self.requirements)} requirements, profile {self.profile!r})"

    @classmethod
    def of(
        cls,
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        person: str | None = None,
        weight: str | None = None,
        guards: Sequence[str] = (),
        direct_identifiers: Sequence[str] = (),
        require: Sequence[PrivacyModel] = (),
        profile: str = DEFAULT_PROFILE,
        sampling_fraction: float | None = None,
        population: str | PathLike[str] | None = None,
        population_count: str | None = None,
        unknown: Unknown = "examine",
    ) -> Policy:
        """A policy from lists of column names. Columns that are not named are examined (see ``unknown``)."""
        return cls(profile=profile, unknown=unknown).replace(
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            person=person,
            weight=weight,
            guards=guards,
            direct_identifiers=direct_identifiers,
            requirements=require,
            sampling_fraction=sampling_fraction,
            population=population,
            population_count=population_count,
        )

    # ── who is who ────────────────────────────────────────────────────────────────────────────────

    def _with_role(self, role: Role) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.role == role)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the policy knows."""
        return tuple(column.name for column in self.columns)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self._with_role("quasi-identifier")

    @property
    def sensitive(self) -> tuple[str, ...]:
        return self._with_role("sensitive")

    @property
    def direct_identifiers(self) -> tuple[str, ...]:
        return self._with_role("direct-identifier")

    @property
    def person(self) -> str | None:
        return next(iter(self._with_role("person-id")), None)

    @property
    def weight(self) -> str | None:
        return next(iter(self._with_role("weight")), None)

    @property
    def guards(self) -> tuple[str, ...]:
        """The columns that say what people guard."""
        return self._with_role("guarding-node")

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the policy names: hierarchies, a table of the population, and a profile of one's own."""
        named = [column.hierarchy for column in self.columns if isinstance(column.hierarchy, str)]
        named += [] if self.population is None else [self.population]
        return tuple(map(Path, [*named, *([self.profile] if self.profile.endswith(".toml") else [])]))

    def known_to(self, intruder: str) -> tuple[str, ...]:
        """The quasi-identifiers that an intruder of this policy knows."""
        told = {each.name: each.columns for each in self.intruders}
        if intruder not in told:
            raise unknown("intruder", intruder, told)
        return told[intruder]

    def column(self, name: str) -> ColumnPolicy | None:
        return next((column for column in self.columns if column.name == name), None)

    # ── changed policies ──────────────────────────────────────────────────────────────────────────

    def replace(
        self,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        person: str | None = None,
        weight: str | None = None,
        guards: Sequence[str] | None = None,
        direct_identifiers: Sequence[str] | None = None,
        insensitive: Sequence[str] | None = None,
        requirements: Sequence[PrivacyModel] | None = None,
        profile: str | None = None,
        sampling_fraction: float | None = None,
        population: str | PathLike[str] | None = None,
        population_count: str | None = None,
    ) -> Policy:
        """A policy in which the named roles are held by exactly the named columns.

        A column that loses its role becomes insensitive; one that is given a role loses its old one.
        What is not named stays as it is. Quasi-identifiers that are named are released: the plan drops none of them.
        """
        wanted: dict[Role, Sequence[str] | None] = {
            "quasi-identifier": quasi_identifiers,
            "sensitive": sensitive,
            "person-id": None if person is None else [person],
            "weight": None if weight is None else [weight],
            "guarding-node": guards,
            "direct-identifier": direct_identifiers,
            "insensitive": insensitive,
        }
        listed = [(name, role) for role, names in wanted.items() for name in names or ()]
        given = dict(listed)
        problems = [
            Sentence("{role} columns were given as one text; give a list of names", role=role)
            for role, names in wanted.items()
            if isinstance(names, str)
        ]
        problems += [
            Sentence(
                "{name} is no column name; names are texts, also where a frame has numbers: {text!r}",
                name=repr(name),
                text=str(name),
            )
            for name, _ in listed
            if not isinstance(name, str)
        ]
        for name in dict.fromkeys(name for name, _ in listed):
            roles = [role for holder, role in listed if holder == name]
            if len(set(roles)) > 1:
                told = tuple(dict.fromkeys(roles))
                problems.append(
                    Sentence("column {name!r} is given two roles: {roles:and}", name=name, roles=told)
                )
            elif len(roles) > 1:
                problems.append(
                    Sentence("column {name!r} is named twice as {role}", name=name, role=roles[0])
                )
        if problems:
            raise InvalidPolicy(problems, remedy="give each column one role, once")
        changed = []
        for column in self.columns:
            if column.name in given:
                role = given.pop(column.name)
                if role != column.role:
                    column = dataclasses.replace(column, role=role, reason="chosen by the user")
            elif wanted.get(column.role) is not None:
                column = dataclasses.replace(column, role="insensitive", reason="role taken away by the user")
            changed.append(column)
        changed += [ColumnPolicy(name, role, reason="chosen by the user") for name, role in given.items()]
        return dataclasses.replace(
            self,
            columns=tuple(changed),
            plan=self._plan_for(changed, named=quasi_identifiers),
            requirements=self.requirements if requirements is None else tuple(requirements),
            profile=profile or self.profile,
            sampling_fraction=self.sampling_fraction if sampling_fraction is None else sampling_fraction,
            population=self.population if population is None else str(population),
            population_count=population_count or self.population_count,
        )

    def _plan_for(self, columns: Sequence[ColumnPolicy], *, named: Sequence[str] | None) -> Plan:
        """The plan without what it says of columns that have another role now.

        Of quasi-identifiers that were ``named`` none is dropped, but what nobody judged stays out if it is not judged now.
        """
        counted = [c.name for c in columns if c.role in ("quasi-identifier", "weight")]
        unjudged = [c.name for c in columns if c.role == "insensitive" and c == self.column(c.name)]
        droppable = unjudged if named is not None else [*counted, *unjudged]
        return dataclasses.replace(
            self.plan,
            drop_attributes=tuple(name for name in self.plan.drop_attributes if name in droppable),
            weights={
                name: w
                for name, w in self.plan.weights.items()
                if name in (counted if named is None else named)
            },
        )

    def generalise(self, hierarchies: Mapping[str, Builder | str | PathLike[str] | None]) -> Policy:
        """A policy in which the named columns have these builders or hierarchy files; ``None``: learned.

        >>> from discreet.table.hierarchies.numbers import Intervals
        >>> policy = Policy.of(quasi_identifiers=["age"]).generalise({"age": Intervals(widths=(5, 10))})
        >>> policy.column("age").hierarchy.widths
        (5, 10)
        """
        known = [column.name for column in self.columns]
        problems = [UnknownColumn(name, known).sentence for name in hierarchies if name not in known]
        if problems:
            raise InvalidPolicy(problems, remedy="give the column a role first")
        changed = []
        for column in self.columns:
            if column.name in hierarchies:
                given = hierarchies[column.name]
                kept = given if isinstance(given, Builder) or given is None else str(given)
                column = dataclasses.replace(column, hierarchy=kept)
            changed.append(column)
        return dataclasses.replace(self, columns=tuple(changed))

    def require(self, *models: PrivacyModel) -> Policy:
        """A policy with further requirements."""
        return dataclasses.replace(self, requirements=self.requirements + models)

    def known_to_each(self, known: Mapping[str, Sequence[str]], *, judged: Judged = "together") -> Policy:
        """A policy with these intruders, each with the columns that they know."""
        people = tuple(Intruder(name, tuple(columns)) for name, columns in known.items())
        return dataclasses.replace(self, intruders=people, judged=judged)

    def perturbed_by(self, *steps: Perturbation) -> Policy:
        """A policy with further steps of perturbation, after those that it has."""
        return dataclasses.replace(self, perturb=self.perturb + steps)

    @property
    def perturbed(self) -> frozenset[str]:
        """The columns whose values a release shows changed."""
        return frozenset(name for step in self.perturb for name in step.columns)

    # ── against a table ───────────────────────────────────────────────────────────────────────────

    def fit(self, table: Table) -> Table:
        """The table with the policy's types, after checking that policy and table agree; all problems at once."""
        problems = list(self.problems(table.columns))
        if problems:
            raise InvalidPolicy(
                problems, remedy="correct the policy, or let `discreet suggest` write one for this table"
            )
        return table.retype(
            {
                column.name: column.type
                for column in self.columns
                if column.type and column.name in table.names
            }
        )

    def of_release(self, names: Iterable[str]) -> Policy:
        """The policy as it is asked of a release with these columns: without the person id if its plan leaves that out.

        >>> policy = Policy.of(quasi_identifiers=["age"], person="patient")
        >>> policy.of_release(["age"]).person, policy.of_release(["age", "patients"]).person
        (None, 'patient')
        """
        there = list(names)
        if self.person is None or self.plan.person != "drop" or self.person in there:
            return self
        return self if self._slip(self.person, there) else self.without([self.person])

    def without(self, names: Iterable[str]) -> Policy:
        """The policy without some columns."""
        gone = set(names)
        return dataclasses.replace(self, columns=tuple(c for c in self.columns if c.name not in gone))

    def _slip(self, name: str, known: Iterable[str]) -> bool:
        """Whether a column that has no role is called almost so: that would let an identifier through."""
        without_role = [other for other in known if self.column(other) is None]
        return bool(get_close_matches(name, without_role, n=1, cutoff=SLIP))

    def _may_be_gone(self, column: ColumnPolicy, known: Iterable[str]) -> bool:
        """Whether a column need not be there: releases lack direct identifiers, what nobody judged or the plan drops."""
        dispensable = column.role in ("direct-identifier", "guarding-node", "insensitive", "weight")
        left_out = column.name in self.plan.drop_attributes
        return (dispensable or left_out) and not self._slip(column.name, known)

    def problems(self, columns: Iterable[Column]) -> Iterable[str]:
        """What keeps this policy from being applied to a table with these columns."""
        known = {column.name: column for column in columns}
        for column in self.columns:
            if column.name not in known and not self._may_be_gone(column, known):
                yield UnknownColumn(column.name, known).sentence
        for role in ("person-id", "weight"):
            holders = self._with_role(role)
            if len(holders) > 1:
                yield Sentence(
                    "{holders} columns have the role {role} ({holders2}); at most one may",
                    holders=len(holders),
                    role=Sentence(role),
                    holders2=", ".join(holders),
                )
        if not self.quasi_identifiers:
            yield "no column is a quasi-identifier; name those that an intruder may know, e.g. age, sex, postcode"
        for model in self.requirements:
            if model.sensitive == "*" and not self.sensitive:
                yield Sentence(
                    "the requirement {model!r} speaks of sensitive attributes, and no column is one",
                    model=model.id,
                )
            if model.sensitive not in (None, "*") and model.sensitive not in self.sensitive:
                yield (
                    Sentence(
                        "the requirement {model!r} speaks of {sensitive!r}, which does not have the role sensitive in this policy",
                        model=model.id,
                        sensitive=model.sensitive,
                    )
                )
        yield from self._unguarded()
        yield from self._unknown_intruders()
        if self.sampling_fraction is not None and not 0 < self.sampling_fraction <= 1:
            yield Sentence(
                "the sampling fraction is {sampling_fraction}; it must be above 0 and at most 1",
                sampling_fraction=self.sampling_fraction,
            )

    def _unguarded(self) -> Iterator[str]:
        """What keeps people's own wishes from being asked for; a release has none, and its verdict says so."""
        for model in self.requirements:
            if not isinstance(model, PersonalisedPrivacy):
                continue
            if model.guard is None and len(self.guards) > 1:
                yield Sentence(
                    "the requirement {model!r} does not say which column has what people guard, and {guards} have the role guarding-node",
                    model=model.id,
                    guards=len(self.guards),
                )
            if model.guard is not None and self.guards and model.guard not in self.guards:
                yield Sentence(
                    "the requirement {model!r} speaks of {guard!r}, which does not have the role guarding-node in this policy",
                    model=model.id,
                    guard=model.guard,
                )

    def _unknown_intruders(self) -> Iterator[str]:
        """What keeps requirements from being asked of intruders; columns that a release lacks are no quasi-identifiers any more."""
        names = [intruder.name for intruder in self.intruders]
        for intruder in self.intruders:
            if names.count(intruder.name) > 1:
                yield Sentence("two intruders are called {name!r}", name=intruder.name)
            others = [
                name for name in intruder.columns if (c := self.column(name)) and c.role != "quasi-identifier"
            ]
            if others:
                yield Sentence(
                    "the intruder {name!r} knows {columns}, which are no quasi-identifiers in this policy",
                    name=intruder.name,
                    columns=tuple(others),
                )
        for model in self.requirements:
            if (
                isinstance(model, KnownBy)
                and model.knows is None
                and model.intruder not in (EVERYBODY, *names)
            ):
                yield Sentence(
                    "a requirement speaks of the intruder {intruder!r}, whom nobody describes",
                    intruder=model.intruder,
                )
            if isinstance(model, KnownBy) and model.intruder == EVERYBODY and not names:
                yield Sentence("a requirement speaks of every intruder, and nobody describes one")
        known = {name for intruder in self.intruders for name in intruder.columns}
        unknown = [name for name in self.quasi_identifiers if name not in known]
        if self.judged == "separately" and unknown:
            yield Sentence(
                "what each intruder knows is judged separately, and none of them knows {columns}",
                columns=tuple(unknown),
            )
