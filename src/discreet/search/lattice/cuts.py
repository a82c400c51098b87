"""Cuts through hierarchies: generalisations in which the values of an attribute stand at different levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from discreet.search.problem import Evaluation, Grouper, Node, Problem
from discreet.search.suppression import Work
from discreet.table.hierarchies.hierarchy import Ladder, Step
from discreet.transform.recoding import Recoding, ReleasedAttribute, of_level, spans
from discreet.types import FloatArray, Int32Array, IntArray
from discreet.utility.objectives.objective import Pricing


class Cut:
    """Where one hierarchy is cut: the level at which each value stands."""

    def __init__(self, ladder: Ladder, level: IntArray) -> None:
        self.ladder = ladder
        self.level = level

    @cached_property
    def node(self) -> Int32Array:
        """The node of each value, numbered over all levels."""
        starts = np.cumsum([0, *(len(step.labels) for step in self.ladder.steps)])
        above = np.stack([step.codes for step in self.ladder.steps])
        return (starts[self.level] + above[self.level, np.arange(len(self.level))]).astype(np.int32)

    def below_root(self) -> list[int]:
        """One value under each node that can be replaced by its children."""
        _, first = np.unique(self.node, return_index=True)
        return [int(code) for code in first if self.level[code] > 0]

    def parents(self) -> list[int]:
        """One value under each node that can be replaced, with all others there, by its parent."""
        top = self.ladder.height
        level = np.minimum(self.level + 1, top)
        above = Cut(self.ladder, level).node
        _, first = np.unique(np.where(self.level < top, above, -1), return_index=True)
        return [int(code) for code in first if self.level[code] < top]

    def specialised(self, code: int) -> Cut:
        """The cut in which the node above a value is replaced by its children, or by those of its only child."""
        inside = self.node == self.node[code]
        level = int(self.level[code]) - 1
        while level and len(np.unique(self.ladder.steps[level].codes[inside])) == 1:
            level -= 1
        return Cut(self.ladder, np.where(inside, level, self.level))

    def apart(self, code: int) -> Cut:
        """The cut in which one child of the node above a value stands by itself; the node stands for what is left of it."""
        inside = self.node == self.node[code]
        level = int(self.level[code]) - 1
        while level and len(np.unique(self.ladder.steps[level].codes[inside])) == 1:
            level -= 1
        codes = self.ladder.steps[level].codes
        return Cut(self.ladder, np.where(inside & (codes == codes[code]), level, self.level))

    def children(self, records: FloatArray) -> list[int]:
        """One value under each child of nodes that have three or more, those of most records first."""
        below = Cut(self.ladder, np.maximum(self.level - 1, 0)).node
        first = np.unique(np.where(self.level > 0, below, -1), return_index=True)[1]
        first = first[self.level[first] > 0]
        siblings = np.bincount(self.node[first])[self.node[first]]
        held = np.bincount(below, weights=records)[below[first]]
        order = np.argsort(-held, kind="stable")
        return [int(code) for code in first[order][siblings[order] > 2]]

    def generalised(self, code: int) -> Cut:
        """The cut in which the parent of the node above a value (the next that has more) replaces all below it."""
        inside = self.node == self.node[code]
        level = int(self.level[code]) + 1
        codes = self.ladder.steps[level].codes
        while level < self.ladder.height and ((codes == codes[code]) == inside).all():
            level += 1
            codes = self.ladder.steps[level].codes
        return Cut(self.ladder, np.where(codes == codes[code], np.maximum(self.level, level), self.level))

    @cached_property
    def rests(self) -> dict[int, tuple[str | None, float]]:
        """For each value whose node lacks others, which stand deeper: what the node is called by what is left, and its share."""
        every = np.arange(len(self.level))
        whole = np.stack([np.bincount(step.codes)[step.codes] for step in self.ladder.steps])
        lacking = np.flatnonzero(np.bincount(self.node)[self.node] < whole[self.level, every])
        if not len(lacking):
            return {}
        nodes, owner = np.unique(self.node, return_inverse=True)
        named = spans(self.ladder.domain, every, owner, len(nodes), self.ladder)
        labels = named.per_class().to_pylist()
        return {int(code): (labels[code], float(named.shares[code])) for code in lacking}

    def step(self) -> Step:
        """The cut as a level of its own."""
        _, first, codes = np.unique(self.node, return_index=True, return_inverse=True)
        steps = self.ladder.steps
        labels = [steps[self.level[code]].labels[steps[self.level[code]].codes[code]] for code in first]
        shares = np.stack([step.shares for step in steps])[self.level, np.arange(len(self.level))]
        for place, code in enumerate(first.tolist()):
            if code in self.rests:
                labels[place] = str(self.rests[code][0])
        for code, (_, share) in self.rests.items():
            shares[code] = share
        return Step(codes.astype(np.int32).reshape(len(self.level)), tuple(labels), shares)

    def values(self) -> list[str | None]:
        """What a release shows for each value."""
        shown = [self.ladder.values(level) for level in range(self.ladder.height + 1)]
        plain = [shown[level][self.ladder.steps[level].codes[code]] for code, level in enumerate(self.level)]
        return [self.rests[code][0] if code in self.rests else label for code, label in enumerate(plain)]


@dataclass(frozen=True)
class CutProblem(Problem):
    """A problem whose hierarchies have two levels: the values, and where they are cut.

    So a cut is a node of a lattice: requirements, suppression and objectives are asked as they are of any other.
    """

    along: Pricing = field(kw_only=True, repr=False)

    @cached_property
    def pricing(self) -> Pricing:
        return self.along

    @property
    def node(self) -> Node:
        """The node at which every attribute is cut."""
        return (1,) * len(self.ladders)

    @classmethod
    def of(cls, problem: Problem, cuts: Sequence[Cut]) -> CutProblem:
        given = {part.name: getattr(problem, part.name) for part in fields(Problem)}
        given["ladders"] = tuple(replace(cut.ladder, steps=(cut.ladder.steps[0], cut.step())) for cut in cuts)
        return cls(**given, along=problem.pricing.along([cut.level for cut in cuts]))

    def priced(self, work: Work) -> Evaluation:
        """What the cuts cost, and what they suppress; for ``work`` it is found out what only seems cheap."""
        evaluation = self.evaluate(self.node, Grouper(self))
        return self.refined(evaluation, work) if evaluation.tentative else evaluation

    def recoding(self, cuts: Sequence[Cut], evaluation: Evaluation, *, method: str) -> Recoding:
        """The cuts as new values per class, with the groups suppressed that were when they were priced."""
        owner, kept = self.partition(evaluation)
        columns = []
        for cut, codes in zip(cuts, self.classes.codes, strict=True):
            if not cut.level.any():
                columns.append(of_level(cut.ladder, 0, codes))
                continue
            values = pa.array(cut.values(), pa.string()).dictionary_encode(null_encoding="encode")
            places = values.indices.to_numpy(zero_copy_only=False).astype(np.int32)
            columns.append(
                ReleasedAttribute(
                    cut.ladder.name,
                    values.dictionary,
                    places[codes],
                    cut.step().shares[codes],
                    cut.ladder.leaves,
                )
            )
        return Recoding(self.classes, tuple(columns), kept[owner], method, scope="global")
