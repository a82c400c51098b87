"""Subtree generalisation: a value always becomes the same node, but nodes may stand at different levels."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.search.lattice.kernels import regroup
from discreet.search.lattice.space import slots_for
from discreet.search.problem import Problem, attribute_weights
from discreet.search.requirements import held, on_groups
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import Recoding, ReleasedAttribute, of_level
from discreet.types import BoolArray, IntArray, Progress
from discreet.utility.objectives.cells import LeafShare


@dataclass(frozen=True)
class _Generalisation:
    """A cut through every hierarchy, what it costs and what it suppresses."""

    cuts: tuple[_Cut, ...]
    cost: float
    suppressed: int
    kept: BoolArray


class _Cut:
    """Where one hierarchy is cut: the level at which each value stands."""

    def __init__(self, ladder: Ladder, level: IntArray) -> None:
        self.ladder = ladder
        self.level = level
        starts = np.cumsum([0, *(len(step.labels) for step in ladder.steps)])
        place = np.stack([step.codes for step in ladder.steps])[level, np.arange(len(level))]
        self.node = (starts[level] + place).astype(np.int32)
        losses = np.stack(
            [LeafShare().generalised(ladder, at, level.astype(np.float64)) for at in range(ladder.height + 1)]
        )
        self.loss = losses[level, np.arange(len(level))]

    def nodes(self) -> list[int]:
        """One value under each node that can be replaced by its children."""
        _, first = np.unique(self.node, return_index=True)
        return [int(code) for code in first if self.level[code] > 0]

    def specialised(self, code: int) -> _Cut:
        """The cut in which the node above ``code`` is replaced by its children."""
        below = self.level.copy()
        below[self.node == self.node[code]] -= 1
        return _Cut(self.ladder, below)


def subtree(problem: Problem, *, progress: Progress | None = None) -> Recoding:
    """Global recoding by full subtrees: top-down specialisation (Fung, Wang and Yu 2005).

    All attributes start at their roots. Again and again the node whose replacement by its children lowers
    the leaf-share loss most is replaced, as long as the suppression stays within the limit. A node that would
    exceed it is tried no more. Gains only shrink while other nodes are replaced in most cases, so a node is
    priced again only when it comes to the top. The result is no worse than the coarsest one and need not be
    the best: the optimum over all cuts is not searched.
    """
    search = _Descent(problem)
    return search.recoding(search.run(progress or (lambda _: None)))


class _Descent:
    """Top-down specialisation of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.classes = problem.classes
        self.models = on_groups(problem.models)
        weights = attribute_weights(self.classes, problem.weights)
        self.weights = weights / weights.sum()
        size = len(self.classes)
        self.everyone = np.arange(size, dtype=np.int32)
        self.slots = np.empty(slots_for(size), dtype=np.int32)
        self.rows = np.arange(len(problem.ladders), dtype=np.int64)

    def price(self, cuts: tuple[_Cut, ...]) -> _Generalisation:
        """Group the classes by their nodes, ask the requirements, and price what is left."""
        columns = self.classes.codes
        codes = np.stack([cut.node[column] for cut, column in zip(cuts, columns, strict=True)])
        size = len(self.classes)
        first, owner = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
        sizes = np.empty(size, dtype=np.int64)
        groups = regroup(
            codes, self.rows, self.everyone, self.classes.records, self.slots, first, sizes, owner
        )
        kept = held(self.models, self.classes, owner, groups)[owner]
        records = self.classes.records
        loss = np.zeros(size)
        for weight, cut, column in zip(self.weights, cuts, columns, strict=True):
            loss += weight * cut.loss[column]
        cost = float(np.where(kept, loss, 1.0) @ records) / self.classes.total
        return _Generalisation(cuts, cost, int(records[~kept].sum()), kept)

    def run(self, say: Progress) -> _Generalisation:
        """Replace nodes by their children as long as that lowers the loss and the limit allows it."""
        ladders = self.problem.ladders
        here = self.price(
            tuple(_Cut(ladder, np.full(ladder.domain.size, ladder.height)) for ladder in ladders)
        )
        waiting: list[tuple[float, int, int, int]] = []
        serial = 0

        def offer(attribute: int, code: int, gain: float) -> None:
            nonlocal serial
            serial += 1
            heapq.heappush(waiting, (-gain, serial, attribute, code))

        for j, cut in enumerate(here.cuts):
            for code in cut.nodes():
                offer(j, code, float("inf"))
        steps = 0
        while waiting:
            _, _, j, code = heapq.heappop(waiting)
            finer = here.cuts[j].specialised(code)
            there = self.price((*here.cuts[:j], finer, *here.cuts[j + 1 :]))
            gain = here.cost - there.cost
            if there.suppressed > self.problem.allowed or gain <= 1e-12:
                continue
            if waiting and gain < -waiting[0][0] - 1e-15:
                offer(j, code, gain)
                continue
            members = here.cuts[j].node == here.cuts[j].node[code]
            here = there
            steps += 1
            say(f"specialised {steps} nodes, loss {here.cost:.4f}")
            _, children = np.unique(np.where(members, finer.node, -1), return_index=True)
            for child in children:
                if members[child] and finer.level[child] > 0:
                    offer(j, int(child), float("inf"))
        return here

    def recoding(self, generalisation: _Generalisation) -> Recoding:
        """The cut as new values per class."""
        columns = []
        for cut, codes in zip(generalisation.cuts, self.classes.codes, strict=True):
            ladder = cut.ladder
            if not cut.level.any():
                columns.append(of_level(ladder, 0, codes))
                continue
            shown = [ladder.values(at) for at in range(len(ladder.steps))]
            labels = [shown[at][ladder.steps[at].codes[c]] for c, at in enumerate(cut.level)]
            encoded = pa.array(labels, pa.string()).dictionary_encode(null_encoding="encode")
            places = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
            shares = np.stack([step.shares for step in ladder.steps])[cut.level, np.arange(len(cut.level))]
            columns.append(
                ReleasedAttribute(
                    ladder.name, encoded.dictionary, places[codes], shares[codes], ladder.leaves
                )
            )
        return Recoding(self.classes, tuple(columns), generalisation.kept, "subtree", scope="global")
