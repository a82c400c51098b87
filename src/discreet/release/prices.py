"""What each column and each requirement costs: the loss with it and without it, on counted classes alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.errors import GoalUnreachable
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import PrivacyModel, TCloseness
from discreet.release.prepare import Preparation, as_shown, prepare
from discreet.release.profile import load_profile, profile_names
from discreet.release.requirements import extended_goals, goals, limit_models
from discreet.search import clock
from discreet.search.kept import part_by_part
from discreet.search.mondrian.search import mondrian
from discreet.search.problem import make_problem
from discreet.sentences import Sentence
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.loss import attribute_changes
from discreet.transform.recoding import Recoding
from discreet.types import Progress

SECONDS = 10.0
"""How long prices are looked for after the loss itself, which may take as long; those that were not reached are unknown."""
MOST_NAMES = 4
WORTH_TELLING = 0.01
"""So much less must be lost without a column for the advice to leave it out."""
MOST_TOLD = 5
MANY_COLUMNS = 8
"""From so many quasi-identifiers on they are too many, also where none costs much beside the others."""
VERY_LARGE = 0.05
"""A sensitive attribute is told that wants groups of more than this share of the records."""
METHOD = "Mondrian with cuts between values"


@dataclass(frozen=True)
class ColumnPrice:
    """What a quasi-identifier costs: the mean loss of all others beside it, and without it (``None``: unknown)."""

    column: str
    loss_with: float
    loss_without: float | None

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class RequirementPrice:
    """What a requirement costs: the mean loss with it and without it (``None``: unknown)."""

    requirement: str
    loss_with: float
    loss_without: float | None
    models: tuple[PrivacyModel, ...] = field(default=(), repr=False)
    """What is priced together."""

    def to_dict(self) -> dict[str, object]:
        return {
            "requirement": self.requirement,
            "loss_with": self.loss_with,
            "loss_without": self.loss_without,
        }


@dataclass(frozen=True)
class ProfilePrice:
    """What another profile would lead to: its name, and the mean loss of a release that it asks for."""

    profile: str
    loss: float

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Prices:
    """The loss of a release by one quick method, and what each column and requirement adds to it, dearest first.

    ``profiles`` are those under which less would be lost, by how much stays.
    """

    loss: float | None
    columns: tuple[ColumnPrice, ...] = ()
    requirements: tuple[RequirementPrice, ...] = ()
    profiles: tuple[ProfilePrice, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "method": METHOD,
            "loss": self.loss,
            "columns": [price.to_dict() for price in self.columns],
            "requirements": [price.to_dict() for price in self.requirements],
            "profiles": [price.to_dict() for price in self.profiles],
        }


@dataclass(frozen=True)
class Foreseen:
    """What a change of policy or plan would lead to: the mean loss of the columns that stay, and the share of records left out."""

    loss: float
    suppressed_share: float

    def to_dict(self) -> dict[str, object]:
        return {"schema": "discreet-foreseen-1", "method": METHOD, **asdict(self)}


def foresee(
    counted: EquivalenceClasses, policy: Policy, *, plan: Plan | None = None, seconds: float = SECONDS
) -> Foreseen:
    """What a policy and a plan would lead to, by the method of :func:`prices`: a moment where classes are some ten thousand.

    >>> from dataclasses import replace
    >>> from discreet.privacy import KAnonymity
    >>> people = {"sex": ["f", "m"] * 6, "age": [30, 30, 31, 31, 32, 32] * 2}
    >>> policy = replace(Policy.of(quasi_identifiers=["sex", "age"]).require(KAnonymity(4)), profile="research-partner-3")
    >>> foresee(EquivalenceClasses.from_columns(people), policy)
    Foreseen(loss=0.5, suppressed_share=0.0)
    """
    plan = plan or policy.plan
    ready = prepare(counted, policy, plan)
    models = _asked(policy, plan, ready.classes)
    recoding = _recoding(ready.classes, ready.ladders, models, plan, clock.now() + seconds)
    if recoding is None:
        raise GoalUnreachable(
            "what is asked cannot be met by grouping values, or not in so short a time",
            nearest="nothing that could be released",
            remedy="ask for less, leave a column out, or make the release, which takes more time",
        )
    changes = attribute_changes(recoding)
    return Foreseen(
        _mean(change["loss"] for change in changes.values()),
        recoding.suppressed_records / recoding.classes.total,
    )


def prices(
    counted: EquivalenceClasses,
    policy: Policy,
    *,
    plan: Plan | None = None,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> Prices:
    """What each quasi-identifier and each requirement costs, within some seconds.

    Both sides of a comparison are found by the same method, strict Mondrian (LeFevre et al. 2006), which is quick and
    leaves about the loss of the best methods: the differences are what counts. A column is priced by the loss of the
    *other* columns, with it and without it, which is never more: they could stay as they are. Requirements that differ only in the sensitive attribute are priced
    together. The classes are those of the policy without what the plan drops.

    >>> from dataclasses import replace
    >>> from discreet.privacy import KAnonymity
    >>> people = {"sex": ["f", "m"] * 6, "age": [30, 30, 31, 31, 32, 32] * 2}
    >>> policy = replace(Policy.of(quasi_identifiers=["sex", "age"]).require(KAnonymity(4)), profile="research-partner-3")
    >>> told = prices(EquivalenceClasses.from_columns(people), policy)
    >>> [(price.column, price.loss_with, price.loss_without) for price in told.columns]
    [('sex', 1.0, 0.0), ('age', 0.0, 0.0)]
    """
    return PriceSearch(counted, policy, plan or policy.plan, seconds=seconds, progress=progress).everything


class PriceSearch:
    """The prices of a table, each kind found when it is first asked for: all releases of the table have the same.

    The classes may have what the plan drops. All kinds together take ``seconds`` after the loss itself.
    """

    def __init__(
        self,
        counted: EquivalenceClasses,
        policy: Policy,
        plan: Plan,
        *,
        seconds: float = SECONDS,
        progress: Progress | None = None,
    ) -> None:
        self._counted, self._policy, self._plan = counted, policy, plan
        self._seconds = self._left = seconds
        self._say = progress or (lambda _: None)

    @cached_property
    def everything(self) -> Prices:
        """What each column and each requirement costs, and what other profiles would lead to."""
        if self._whole is None:
            return Prices(None)
        requirements, columns = self._requirements, self._columns
        return Prices(self._loss, columns, requirements, self._profiles)

    def of_columns(self) -> Prices:
        """What each column costs, and nothing else."""
        return Prices(None) if self._whole is None else Prices(self._loss, self._columns)

    @cached_property
    def _ready(self) -> Preparation:
        left = [name for name in self._counted.names if name not in self._plan.drop_attributes]
        whole = len(left) == len(self._counted.names)
        counted = self._counted if whole else self._counted.project(left)
        return prepare(counted, self._policy, self._plan)

    @cached_property
    def _models(self) -> tuple[PrivacyModel, ...]:
        return _asked(self._policy, self._plan, self._ready.classes)

    @cached_property
    def _whole(self) -> dict[str, float] | None:
        """The loss of each attribute. What is compiled for this first search is not charged to the others."""
        ready, models = self._ready, self._models
        self._say("searching for the least change")
        return self._losses(ready.classes, ready.ladders, models, clock.now() + self._seconds)

    @property
    def _loss(self) -> float:
        assert self._whole is not None, "there is nothing to compare with"
        return _mean(self._whole.values())

    @contextmanager
    def _within(self, told: str) -> Iterator[float]:
        """The end of what is left of the time, for one kind of prices."""
        self._say(told)
        began = clock.now()
        try:
            yield began + self._left
        finally:
            self._left -= clock.now() - began

    @cached_property
    def _requirements(self) -> tuple[RequirementPrice, ...]:
        ready, models, loss = self._ready, self._models, self._loss
        costs = []
        with self._within("what each requirement costs") as end:
            for label, family in _families(models).items():
                others = [model for model in models if model not in family]
                free = self._losses(ready.classes, ready.ladders, others, end)
                without = None if free is None else min(loss, _mean(free.values()))
                costs.append(RequirementPrice(label, loss, without, tuple(family)))
        return tuple(sorted(costs, key=_saved))

    @cached_property
    def _columns(self) -> tuple[ColumnPrice, ...]:
        ready, whole = self._ready, self._whole or {}
        columns = []
        with self._within("what each column costs") as end:
            for name in whole if len(whole) > 1 else ():
                others = [other for other in whole if other != name]
                ladders = [ladder for ladder in ready.ladders if ladder.name != name]
                alone = self._losses(ready.classes.project(others), ladders, self._models, end)
                beside = _mean(whole[other] for other in others)
                without = None if alone is None else min(beside, _mean(alone.values()))
                columns.append(ColumnPrice(name, beside, without))
        return tuple(sorted(columns, key=_saved))

    @cached_property
    def _profiles(self) -> tuple[ProfilePrice, ...]:
        ready, loss = self._ready, self._loss
        cheaper: list[ProfilePrice] = []
        with self._within("what other profiles would lead to") as end:
            others = _of_other_profiles(self._policy, self._plan, ready.classes, self._models)
            for name, asked in others.items():
                lost = self._losses(ready.classes, ready.ladders, asked, end)
                if lost is not None and _mean(lost.values()) < loss:
                    cheaper.append(ProfilePrice(name, _mean(lost.values())))
        return tuple(sorted(cheaper, key=lambda price: -price.loss))

    def _losses(
        self,
        classes: EquivalenceClasses,
        ladders: Sequence[Ladder],
        asked: Sequence[PrivacyModel],
        end: float,
    ) -> dict[str, float] | None:
        """The loss of each attribute, if there is time and the requirements can be met."""
        if not asked:
            return dict.fromkeys(classes.names, 0.0)
        recoding = _recoding(classes, ladders, asked, self._plan, end)
        if recoding is None:
            return None
        return {name: change["loss"] for name, change in attribute_changes(recoding).items()}


def _asked(policy: Policy, plan: Plan, classes: EquivalenceClasses) -> tuple[PrivacyModel, ...]:
    """What policy and profile ask of classes, and what the profile wishes beyond."""
    profile = load_profile(policy.profile)
    required = goals(as_shown(policy, plan), profile, classes)
    wished, _ = extended_goals(profile, classes, required, policy)
    return tuple(dict.fromkeys((*required, *wished)))


def _of_other_profiles(
    policy: Policy, plan: Plan, classes: EquivalenceClasses, models: Sequence[PrivacyModel]
) -> dict[str, tuple[PrivacyModel, ...]]:
    """What other profiles ask of classes, each by the first profile that asks for it; one that asks nothing cannot be compared."""
    others: dict[str, tuple[PrivacyModel, ...]] = {}
    seen = [set(models)]
    for name in profile_names():
        profile = load_profile(name)
        if not (profile.requirements or limit_models(profile)):
            continue
        asked = _asked(replace(policy, profile=name), plan, classes)
        if set(asked) not in seen:
            seen.append(set(asked))
            others[name] = asked
    return others


def _recoding(
    classes: EquivalenceClasses,
    ladders: Sequence[Ladder],
    asked: Sequence[PrivacyModel],
    plan: Plan,
    end: float,
) -> Recoding | None:
    """What strict Mondrian makes of classes, if there is time and the requirements can be met."""
    if clock.now() >= end:
        return None
    problem = make_problem(
        classes,
        ladders,
        asked,
        suppression_limit=plan.suppression_limit,
        weights=_weights(plan, classes.names),
    )
    recoding = part_by_part(
        problem,
        lambda part: mondrian(
            part.classes, part.models, ladders=part.ladders, mode="strict", weights=part.weights, end=end
        ),
    )
    return recoding if clock.now() < end and recoding.kept.any() else None


def much_lost(
    loss: float, classes: EquivalenceClasses, models: Sequence[PrivacyModel], told: Prices
) -> tuple[str, ...]:
    """What to tell where more than half of the detail is lost: what asks for very large groups, and what to leave out."""
    return (*demanding(classes, models), *too_many_columns(loss, classes.total_persons, told))


def demanding(classes: EquivalenceClasses, models: Sequence[PrivacyModel]) -> list[str]:
    """Sensitive attributes that want very large groups whatever is done, as a sentence each.

    Between values without an order a group is at least 1 − c from the table, where c is the share of the table that has one
    of the group's values: n records have n values at most, so that t-closeness needs as many records as values that cover 1 − t.

    >>> from discreet.privacy import TCloseness
    >>> paid = EquivalenceClasses.from_columns({"sex": ["f", "m"] * 50}, sensitive={"pay": [f"${i}" for i in range(100)]})
    >>> print(*demanding(paid, [TCloseness(0.5, "pay")]))
    'pay' has 100 values without an order, so that every group needs at least 50 records (t-closeness 0.5): leave it out, give it broader values, or name its type if it has an order
    """
    told: list[str] = []
    for model in models:
        if not isinstance(model, TCloseness) or model.distance != "equal":
            continue
        covered = np.cumsum(np.sort(classes.histogram(model.sensitive).totals)[::-1])
        least = int(np.searchsorted(covered, (1 - model.t) * covered[-1] - 1e-9)) + 1
        if least > VERY_LARGE * covered[-1]:
            told.append(
                Sentence(
                    "{column!r} has {values:,} values without an order, so that every group needs at least {least:,} records "
                    "(t-closeness {t}): leave it out, give it broader values, or name its type if it has an order",
                    column=model.sensitive,
                    values=len(covered),
                    least=least,
                    t=model.t,
                )
            )
    return told


def too_many_columns(loss: float, people: int, told: Prices) -> list[str]:
    """What to tell where more than half of the detail is lost: which columns to leave out, or that time or shape did it.

    Of very many columns no single one does it.

    >>> print(*too_many_columns(0.6, 1000, Prices(0.6, (ColumnPrice("zip", 0.58, 0.31), ColumnPrice("sex", 0.6, 0.6)))))
    60% of the detail is lost: 2 quasi-identifiers are many for 1,000 people; leave out what you need least (drop_attributes): without zip the loss of the others falls from 58% to 31%
    >>> print(*too_many_columns(0.68, 6433, Prices(0.13, (ColumnPrice("total", 0.13, 0.12),))))
    68% of the detail is lost, where ranges that may overlap lose about 13%: give the search more time (seconds), or choose them (shape free)
    """
    if told.loss is not None and told.loss <= loss / 2:
        # Columns are not to blame where ranges that overlap lose so much less.
        return [
            Sentence(
                "{loss:.0%} of the detail is lost, where ranges that may overlap lose about {free:.0%}: give the search "
                "more time (seconds), or choose them (shape free)",
                loss=loss,
                free=told.loss,
            )
        ]
    worth = [
        Sentence(
            "without {column} the loss of the others falls from {before:.0%} to {after:.0%}",
            column=price.column,
            before=price.loss_with,
            after=price.loss_without,
        )
        for price in told.columns
        if price.loss_without is not None and price.loss_with - price.loss_without >= WORTH_TELLING
    ]
    if not worth and len(told.columns) < MANY_COLUMNS:
        return []
    if not worth:
        return [
            Sentence(
                "{loss:.0%} of the detail is lost: {columns} quasi-identifiers are many for {people:,} people, and no single "
                "one makes the difference; call those sensitive that nobody else knows (they stay as they are), or leave several "
                "out (drop_attributes)",
                loss=loss,
                columns=len(told.columns),
                people=people,
            )
        ]
    return [
        Sentence(
            "{loss:.0%} of the detail is lost: {columns} quasi-identifiers are many for {people:,} people; leave out what "
            "you need least (drop_attributes): {worth:; }",
            loss=loss,
            columns=len(told.columns),
            people=people,
            worth=tuple(worth[:MOST_TOLD]),
        )
    ]


def _weights(plan: Plan, names: Sequence[str]) -> dict[str, float] | None:
    """What the plan says of these columns; where it minds none of them, none counts more than another."""
    weights = {name: weight for name, weight in plan.weights.items() if name in names}
    return weights if any(weights.get(name, 1.0) for name in names) else None


def _mean(losses: Iterable[float]) -> float:
    return float(np.mean(list(losses)))


def _saved(price: ColumnPrice | RequirementPrice) -> float:
    """What is lost more without it, which is nothing or less: dearest first, unknown last."""
    return 1.0 if price.loss_without is None else round(price.loss_without - price.loss_with, 9)


def _families(models: Sequence[PrivacyModel]) -> dict[str, list[PrivacyModel]]:
    """Requirements by how they are called; those that differ in the sensitive attribute only are one."""
    alike: dict[tuple[object, ...], list[PrivacyModel]] = {}
    for model in models:
        asked = {
            key: value for key, value in model.parameters().items() if key not in ("sensitive", "distance")
        }
        alike.setdefault((model.id, *map(str, asked.items())), []).append(model)
    return {_name(family): family for family in alike.values()}


def _name(family: Sequence[PrivacyModel]) -> str:
    """One requirement as it is described, several by their model and attributes."""
    if len(family) == 1:
        return family[0].describe()
    names = tuple(str(model.sensitive) for model in family)
    title = Sentence(family[0].title.partition(" (")[0])
    if len(names) <= MOST_NAMES:
        return Sentence("{model} of {names}", model=title, names=names)
    return Sentence("{model} of {count} attributes", model=title, count=len(names))
