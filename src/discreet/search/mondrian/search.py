"""Mondrian: the classes are divided again and again, always by the cut that leaves the least loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.privacy import PrivacyModel
from discreet.privacy.base import need_choice, refuse_empty
from discreet.search import clock
from discreet.search.mondrian.exchange_kernels import CAPACITY, exchange, gather
from discreet.search.mondrian.kernels import Space, divide, mark, propose
from discreet.search.mondrian.space import space_of
from discreet.search.problem import attribute_weights
from discreet.search.requirements import held, on_groups
from discreet.sentences import Sentence
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import Recoding, Style
from discreet.types import BoolArray, FloatArray, Int32Array, IntArray, Progress

Mode = Literal["strict", "relaxed"]

BALANCE = 1 / 16
"""The least share of a large group's classes on either side of a cut, where such a cut exists: bounds the depth."""
PASSES = 2
"""How often classes are offered to the groups of their neighbours; later passes save next to nothing."""
REACH = 1
"""How many neighbours on either side are asked in each order."""


def mondrian(
    classes: EquivalenceClasses,
    models: Sequence[PrivacyModel],
    *,
    ladders: Sequence[Ladder | None] | None = None,
    mode: Mode = "relaxed",
    style: Style = "values",
    weights: Mapping[str, float] | None = None,
    end: float = math.inf,
    progress: Progress | None = None,
) -> Recoding:
    """Multidimensional recoding: divide the table top down, as long as both parts meet every requirement.

    The loss of a group is its records times the sum over attributes of weight times the share of the domain
    that its values span. Every group is cut where the summed loss of both parts is least, over all
    attributes and all cuts between two values; numbers are cut in their order, hierarchies in the order of
    their leaves, other categories from the most frequent on. Cuts of large groups stay away from the ends,
    so that the cost grows like n log n in the number of classes. Where the best cut fails a requirement,
    the other attributes' best and most even cuts are tried.

    ``mode="strict"``: equal values stay together at a cut, so that groups are regions that do not overlap.
    ``"relaxed"``: a cut may run through the records of one value, and classes then change to (or swap
    places with one of) a group of their neighbours while that lowers the loss. A null is a value of its
    own, at the end of the order; numbers and nulls share a group only where no cut between them is allowed.
    The result does not depend on the order of rows, unless the time (``end``, by `clock.now`) ran out before all
    groups were divided: then they stay as they are. If not even the whole table meets the requirements,
    nothing is kept.

    LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006; loss: Xu et al.,
    "Utility-based anonymization using local recoding", KDD 2006.

    >>> from discreet.privacy import KAnonymity
    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52], "sex": ["f", "f", "m", "f"]})
    >>> [column.per_class().to_pylist() for column in mondrian(classes, [KAnonymity(2)]).columns]
    [['[31, 34]', '[31, 34]', '[47, 52]', '[47, 52]'], ['f', 'f', '*', '*']]
    """
    need_choice("mode", mode, ("strict", "relaxed"))
    need_choice("style", style, ("values", "hierarchy"))
    refuse_empty(classes)
    say = progress or (lambda _: None)
    asked = on_groups(models)
    given = tuple(ladders) if ladders is not None else (None,) * len(classes.names)
    attribute_weights(classes, weights)
    owner = np.zeros(len(classes), dtype=np.int64)
    kept = held(asked, classes, owner, 1)
    if kept.all() and len(classes) > 1:
        space, others = space_of(classes, asked, given, style=style, weights=weights)
        partition = Partition(classes, space, others, say, end)
        owner = partition.divided(owner, strict=mode == "strict")
        if mode == "relaxed":
            owner = partition.exchanged(owner)
        kept = np.ones(int(owner.max()) + 1, dtype=bool)
    return released(classes, asked, owner, kept, ladders=given, style=style, method=f"mondrian ({mode})")


def released(
    classes: EquivalenceClasses,
    models: Sequence[PrivacyModel],
    owner: IntArray,
    kept: BoolArray,
    *,
    ladders: Sequence[Ladder | None],
    style: Style,
    method: str,
) -> Recoding:
    """The recoding of groups; where groups look alike and are one together, it is checked that this one holds.

    A requirement that merging may break (it is not monotone) may fail for groups that overlap so much that
    they are written the same way: these are suppressed.
    """
    recoding = Recoding.of_groups(classes, owner, kept=kept, method=method, ladders=ladders, style=style)
    if kept.any() and not all(model.monotone for model in models):
        seen = np.stack([column.codes for column in recoding.columns] + [~recoding.kept])
        _, alike = np.unique(seen, axis=1, return_inverse=True)
        alike = alike.ravel()
        good = held(models, classes, alike, int(alike.max()) + 1)
        kept_class = recoding.kept & good[alike]
        first = np.zeros(len(kept), dtype=bool)
        first[owner] = kept_class
        recoding = Recoding.of_groups(classes, owner, kept=first, method=method, ladders=ladders, style=style)
    return recoding


class Partition:
    """Divides groups of classes and exchanges classes between them; every group keeps meeting the requirements.

    ``others`` are the requirements that the compiled loops do not count themselves: they are asked for all
    proposals of a round at once, on the merged classes of the whole table.
    """

    def __init__(
        self,
        classes: EquivalenceClasses,
        space: Space,
        others: Sequence[PrivacyModel],
        say: Progress,
        end: float = math.inf,
    ) -> None:
        self._classes = classes
        self._space = space
        self._others = tuple(others)
        self._say = say
        self._end = end
        items = int(space.item.max()) + 1 if len(space.item) else 0
        self._stamp = np.zeros(int(space.size.sum()), dtype=np.int64)
        self._item_stamp = np.zeros(items, dtype=np.int64)
        self._version = 1

    def divided(self, owner: IntArray, *, strict: bool, balance: float = BALANCE) -> IntArray:
        """Finer groups: those of ``owner``, divided until no part could be divided further."""
        n, m = self._space.place.shape
        order = np.stack([np.lexsort((self._space.place[:, j], owner)) for j in range(m)]).astype(np.int32)
        counts = np.bincount(owner)
        highs = np.cumsum(counts)
        lows = highs - counts
        settled: list[IntArray] = []
        closed = 0
        while len(lows):
            if clock.now() >= self._end:
                settled.append(np.stack([lows, highs], axis=1))
                break
            self._say(
                Sentence("dividing: {closed:.0%} of the combinations have their group", closed=closed / n)
            )
            losses = np.empty((len(lows), 2 * m))
            cuts = np.zeros((len(lows), 2 * m), dtype=np.int64)
            self._version = propose(
                self._space,
                order,
                lows,
                highs,
                strict,
                balance,
                self._stamp,
                self._item_stamp,
                self._version,
                losses,
                cuts,
            )
            settled_bounds = np.concatenate([np.zeros((0, 2), dtype=np.int64), *settled])
            cut, after = self._agreed(order, lows, highs, losses, cuts, settled_bounds)
            stays = cut < 0
            settled.append(np.stack([lows[stays], highs[stays]], axis=1))
            closed += int((highs[stays] - lows[stays]).sum())
            lows, highs, cut = lows[~stays], highs[~stays], cut[~stays]
            if not len(lows):
                break
            divide(order, lows, highs, after)
            middle = lows + cut
            lows = np.stack([lows, middle], axis=1).ravel()
            highs = np.stack([middle, highs], axis=1).ravel()
        return _numbered(order[0], np.concatenate(settled))

    def _agreed(
        self,
        order: Int32Array,
        lows: IntArray,
        highs: IntArray,
        losses: FloatArray,
        cuts: IntArray,
        settled: IntArray,
    ) -> tuple[IntArray, BoolArray]:
        """For each group the cheapest cut that meets all requirements (-1: none), and which classes come after it."""
        n = order.shape[1]
        after = np.zeros(n, dtype=bool)
        ranking = np.argsort(losses, axis=1, kind="stable")
        chosen = np.full(len(lows), -1, dtype=np.int64)
        base = _numbered(order[0], np.concatenate([settled, np.stack([lows, highs], axis=1)]))
        groups = len(settled) + len(lows)
        waiting = np.arange(len(lows))
        for attempt in range(losses.shape[1]):
            pick = ranking[waiting, attempt]
            waiting, pick = (
                waiting[np.isfinite(losses[waiting, pick])],
                pick[np.isfinite(losses[waiting, pick])],
            )
            if not len(waiting):
                break
            cut = cuts[waiting, pick]
            mark(self._space, order, lows[waiting], highs[waiting], pick // 2, cut, after)
            if not self._others:
                chosen[waiting] = cut
                break
            mine = base[order[0, lows[waiting]]]
            new = np.full(groups, -1, dtype=np.int64)
            new[mine] = groups + np.arange(len(waiting))
            trial = np.where(after & (new[base] >= 0), new[base], base)
            good = held(self._others, self._classes, trial, groups + len(waiting))
            both = good[mine] & good[groups:]
            chosen[waiting[both]] = cut[both]
            # What was not agreed keeps its classes together until another cut is tried.
            refused = np.zeros(groups, dtype=bool)
            refused[mine[~both]] = True
            after &= ~refused[base]
            agreed = np.zeros(groups, dtype=bool)
            agreed[mine[both]] = True
            base = np.where(after & agreed[base], new[base], base)
            _, base = np.unique(base, return_inverse=True)
            groups += int(both.sum())
            waiting = waiting[~both]
        return chosen, after

    def exchanged(self, owner: IntArray) -> IntArray:
        """Groups of less loss: classes move to, or swap with, groups of their neighbours."""
        groups = int(owner.max()) + 1
        if groups in (1, len(owner)):
            return owner
        owner = owner.copy()
        members = np.zeros((groups, CAPACITY), dtype=np.int32)
        count, sizes = np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.int64)
        share, drop = np.zeros(groups), np.full(groups, -1.0)
        gather(self._space, owner, members, count, sizes, share)
        lines = self._lines()
        for number in range(PASSES):
            for j, line in enumerate(lines):
                if clock.now() >= self._end:
                    return owner
                self._say(
                    Sentence(
                        "exchanging neighbours: pass {number} of {passes}, order {j}",
                        number=number + 1,
                        passes=PASSES,
                        j=j + 1,
                    )
                )
                before = owner.copy()
                partner = np.full(groups, -1, dtype=np.int64)
                self._version = exchange(
                    self._space,
                    line,
                    REACH,
                    owner,
                    members,
                    count,
                    sizes,
                    share,
                    drop,
                    self._item_stamp,
                    self._version,
                    bool(self._others),
                    partner,
                )
                if self._others:
                    bad = ~held(self._others, self._classes, owner, groups)
                    bad |= (partner >= 0) & bad[partner]
                    if bad.any():
                        owner = np.where(bad[before], before, owner)
                        gather(self._space, owner, members, count, sizes, share)
                        drop[bad] = -1.0
        return owner

    def _lines(self) -> Sequence[Int32Array]:
        """Orders in which neighbours agree on most attributes: dear ones first, each attribute last in one."""
        dear = np.argsort(-self._space.unit, kind="stable")
        lines = []
        for last in range(len(dear)):
            keys = [self._space.place[:, last], *(self._space.place[:, j] for j in dear[::-1] if j != last)]
            lines.append(np.lexsort(keys).astype(np.int32))
        return lines


def _numbered(line: Int32Array, bounds: IntArray) -> IntArray:
    """The group of each class, where groups are stretches of ``line``; numbered along it."""
    lows = np.sort(bounds[:, 0])
    owner = np.empty(len(line), dtype=np.int64)
    owner[line] = np.repeat(np.arange(len(lows)), np.diff(np.append(lows, len(line))))
    return owner
