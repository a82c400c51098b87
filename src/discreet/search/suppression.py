"""Which groups are suppressed: one rule for searches, for methods that form groups, and for recipes.

Most requirements ask each group by itself. Those that compare with what is released, or with other groups, ask
groups together: whether one holds depends on which others are shown, so several sets of groups may do, none of
which can be added to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.classes.merged import MergedClasses
from discreet.privacy import DistributionModel, KAnonymity, PrivacyModel
from discreet.transform.recoding import Recoding
from discreet.types import BoolArray, IntArray

FEW_GROUPS = 12
"""Up to so many groups, all sets of them are tried where it matters which are suppressed."""
SETS = 20_000
"""So many sets of groups are tried in a search, or for a recoding."""
PUT_BACK = 1_000
"""And so many groups that were left out are tried again, where there are too many for that."""


class Groups(Protocol):
    """Groups of records that are written alike."""

    @property
    def sizes(self) -> IntArray:
        """Records per group."""
        ...

    @property
    def merged(self) -> EquivalenceClasses:
        """The groups as classes, without quasi-identifier values."""
        ...

    @property
    def written(self) -> tuple[EquivalenceClasses, NDArray[np.intp]]:
        """Groups as classes with their quasi-identifier values, and which group each class is."""
        ...


@dataclass(frozen=True)
class RecodedGroups:
    """The groups that a recoding shows; what it suppresses is one more, the last, which cannot be shown."""

    recoding: Recoding

    @cached_property
    def _shown(self) -> tuple[IntArray, int]:
        """The group of every class, and how many groups are shown."""
        kept = self.recoding.kept
        groups, numbers = np.unique(self.recoding.groups()[kept], return_inverse=True)
        owner = np.full(len(kept), len(groups), dtype=np.int64)
        owner[kept] = numbers
        return owner, len(groups)

    @property
    def owner(self) -> IntArray:
        return self._shown[0]

    @cached_property
    def merged(self) -> EquivalenceClasses:
        merged = MergedClasses.of(self.recoding.classes, self.owner, int(self.owner.max()) + 1)
        if self.recoding.classes.outside is not None and self._shown[1]:
            classes, order = self.written
            people = np.zeros(len(merged))
            people[order] = classes.class_population
            merged.__dict__["class_population"] = people
        return merged

    @property
    def sizes(self) -> IntArray:
        return self.merged.records

    @property
    def candidates(self) -> BoolArray:
        """The groups that the recoding shows."""
        return np.arange(int(self.owner.max()) + 1) < self._shown[1]

    @cached_property
    def written(self) -> tuple[EquivalenceClasses, NDArray[np.intp]]:
        classes = self.recoding.shown()
        # Classes are in the order of their packed codes, as groups are.
        return classes, np.arange(len(classes))


@dataclass
class Work:
    """What may still be tried to find the best set of groups: effort that does not depend on the machine."""

    sets: int = SETS
    groups: int = PUT_BACK

    def take_sets(self, sets: int) -> bool:
        """Whether so many sets may be tried; they are counted if so."""
        if sets > self.sets:
            return False
        self.sets -= sets
        return True

    def done(self, groups: int) -> bool:
        """Whether nothing more can be tried where so many groups may be shown."""
        return self.groups <= 0 and (groups > FEW_GROUPS or self.sets < 1 << FEW_GROUPS)


@dataclass(frozen=True)
class SuppressionRule:
    """What requirements make of groups: which can be shown, and which of them together.

    >>> from discreet.privacy import TCloseness
    >>> classes = EquivalenceClasses.from_columns(
    ...     {"age": [31, 31, 31, 34, 34]}, sensitive={"flu": ["yes", "yes", "yes", "no", "no"]})
    >>> recoding = Recoding.of_groups(classes, np.array([0, 1]), kept=np.ones(2, dtype=bool), method="example")
    >>> groups = RecodedGroups(recoding)
    >>> [SuppressionRule((TCloseness(0.2, "flu", reference=reference),)).chosen(groups, groups.candidates, 2).tolist()
    ...  for reference in ("release", "original")]
    [[True, False], [False, False]]
    """

    models: tuple[PrivacyModel, ...]
    event_level: bool = False
    """Whether a person may have several records, so that persons are counted where a model leaves it open."""

    @cached_property
    def absorbing(self) -> tuple[PrivacyModel, ...]:
        """What a group meets as soon as a part of it does."""
        return tuple(model for model in self.models if model.absorbing and not model.needs_attributes)

    @cached_property
    def others(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if model not in self.absorbing)

    @cached_property
    def relative(self) -> tuple[DistributionModel, ...]:
        """Requirements that compare groups with what is released."""
        return tuple(
            model for model in self.others if isinstance(model, DistributionModel) and model.relative
        )

    @cached_property
    def _wide(self) -> tuple[PrivacyModel, ...]:
        """Requirements that read quasi-identifiers: on groups that agree on some of them."""
        return tuple(model for model in self.others if model.needs_attributes)

    @cached_property
    def _least_records(self) -> int:
        """The records that the absorbing requirements ask of a group, as far as they ask for nothing else."""
        return max((model.k for model in self.absorbing if self._counts_records(model)), default=0)

    def _counts_records(self, model: PrivacyModel) -> TypeGuard[KAnonymity]:
        unit = "persons" if self.event_level else "records"
        return isinstance(model, KAnonymity) and (model.unit or unit) == "records"

    def certain(self, groups: Groups) -> BoolArray:
        """Which groups meet the absorbing requirements."""
        holds = np.asarray(groups.sizes >= self._least_records)
        for model in self.absorbing:
            if not self._counts_records(model):
                holds &= model.holds(groups.merged)
        return holds

    def possible(self, groups: Groups, certain: BoolArray, allowed: int) -> BoolArray:
        """The groups that may be shown at all: whichever of the others are, those that are missing fail."""
        possible = certain.copy()
        for model in self.others:
            if isinstance(model, DistributionModel):
                if not possible.any():
                    break
                if model.relative:
                    share = min(allowed / groups.merged.total, 1.0)
                    holds = model.within_reach(groups.merged, possible, share)
                else:
                    holds = model.meets(model.distances_of(groups.merged, possible))
                possible[possible] = holds
            elif not model.needs_attributes:
                possible &= model.holds(groups.merged)
        return possible

    def _holding(self, groups: Groups, shown: BoolArray) -> BoolArray:
        """Which groups meet what they are asked together, in a release of the ``shown`` ones alone."""
        holds = shown.copy()
        for model in self.relative:
            holds[shown] &= model.meets(model.distances_of(groups.merged, shown, alone=True))
        if self._wide:
            classes, order = groups.written
            left = shown[order]
            at = np.flatnonzero(left)
            remaining = classes if len(at) == len(classes) else classes.subset(at)
            left[at] = np.logical_and.reduce([model.holds(remaining) for model in self._wide])
            holds[order] &= left
        return holds

    def hold(self, groups: Groups, shown: BoolArray) -> bool:
        """Whether the ``shown`` groups, each possible by itself, meet all requirements together."""
        return bool((self._holding(groups, shown) == shown).all())

    def remaining(self, groups: Groups, possible: BoolArray) -> BoolArray:
        """Groups that hold together: of the possible ones those that fail are left out until none does."""
        if len(self.relative) == 1 and not self._wide:
            return self.relative[0].close_together(groups.merged, possible)
        kept = possible
        while (self.relative or self._wide) and kept.any():
            holds = self._holding(groups, kept)
            if (holds == kept).all():
                break
            kept = holds
        return kept

    def completed(self, groups: Groups, possible: BoolArray, kept: BoolArray, most: int) -> BoolArray:
        """The kept groups and those of the others that hold together with them; the ``most`` largest are tried."""
        kept = kept.copy()
        left_out = np.flatnonzero(possible & ~kept)
        for group in left_out[np.argsort(-groups.sizes[left_out], kind="stable")][:most]:
            kept[group] = True
            kept[group] = self.hold(groups, kept)
        return kept

    def _every_set(self, groups: Groups, possible: BoolArray, choices: list[IntArray]) -> Iterator[BoolArray]:
        """Of the choices of what to leave out, the fewest first, those that hold and to which none can be added."""
        complete: list[set[int]] = []
        for gone in choices:
            left_out = set(gone.tolist())
            if any(fewer <= left_out for fewer in complete):
                continue
            kept = possible.copy()
            kept[gone] = False
            if self.hold(groups, kept):
                complete.append(left_out)
                yield kept

    def sets(
        self, groups: Groups, possible: BoolArray, allowed: int, work: Work
    ) -> tuple[Iterator[BoolArray], bool]:
        """Sets of groups that hold together, and whether these are all within the limit to which none can be added.

        Few groups are tried in all sets; of many, those that a first look left out are put back one by one,
        the largest first, where all still hold together.
        """
        if int(possible.sum()) <= FEW_GROUPS:
            choices = _left_out(
                np.flatnonzero(possible), groups.sizes, allowed - int(groups.sizes[~possible].sum())
            )
            if work.take_sets(len(choices)):
                return self._every_set(groups, possible, choices), True
        first = self.remaining(groups, possible)
        completed = self.completed(groups, possible, first, max(work.groups, 0))
        work.groups -= max(1, int((possible & ~first).sum()))
        return iter([completed]), False

    def chosen(self, groups: Groups, candidates: BoolArray, allowed: int) -> BoolArray:
        """Of the candidates those that are shown: together they meet every requirement, and few records go.

        What holds as it is stays as it is, so a choice that was made once is made again.
        """
        possible = candidates & self.possible(groups, self.certain(groups), allowed)
        kept = self.remaining(groups, possible)
        if not self.relative or (kept == possible).all():
            return kept
        sets, _ = self.sets(groups, possible, allowed, Work())
        return min([kept, *sets], key=lambda shown: int(groups.sizes[~shown].sum()))


def _left_out(groups: IntArray, sizes: IntArray, spare: int) -> list[IntArray]:
    """Every set of some groups, but not all of them, that has at most ``spare`` records; those of few groups first."""
    numbers = np.arange((1 << len(groups)) - 1)
    chosen = (numbers[:, None] >> np.arange(len(groups))) & 1 == 1
    chosen = chosen[chosen @ sizes[groups] <= spare]
    order = np.argsort(chosen.sum(axis=1), kind="stable")
    return [groups[row] for row in chosen[order]]


def consistent(recoding: Recoding, models: Sequence[PrivacyModel], allowed: int) -> Recoding:
    """The recoding with groups suppressed until those it shows meet all requirements together.

    >>> from discreet.privacy import KAnonymity
    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> recoding = Recoding.of_groups(classes, np.array([0, 0, 1]), kept=np.ones(2, dtype=bool), method="example")
    >>> consistent(recoding, [KAnonymity(2)], 3).kept
    array([ True,  True, False])
    """
    if not recoding.kept.any():
        return recoding
    groups = RecodedGroups(recoding)
    shown = SuppressionRule(tuple(models), recoding.classes.event_level).chosen(
        groups, groups.candidates, allowed
    )
    return replace(recoding, kept=shown[groups.owner])
