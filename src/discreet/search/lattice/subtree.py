"""Subtree generalisation: a value always becomes the same node, but nodes may stand at different levels."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.search import clock
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.cuts import Cut, CutProblem
from discreet.search.lattice.search import LARGEST_LATTICE, search
from discreet.search.problem import Evaluation, Problem
from discreet.search.suppression import Work
from discreet.sentences import Sentence
from discreet.transform.recoding import Recoding
from discreet.types import AnyIntArray, BoolArray, Progress

FIRST_PART = 0.5
"""The share of the time in which the best generalisation with one level per attribute is looked for."""


def subtree(problem: Problem, *, seconds: float | None = None, progress: Progress | None = None) -> Recoding:
    """Global recoding by full subtrees, never worse than the full-domain generalisation it starts from.

    The first start is the best node of the lattice (found in half of ``seconds`` at most), the second one are
    the roots. From each, again and again the node whose replacement by its children lowers the objective most
    is replaced, as long as the suppression stays within the limit (top-down specialisation: Fung, Wang and Yu
    2005); then nodes are replaced by their parents where that is cheaper, until neither helps or the time is
    over. Gains only shrink while other nodes are replaced in most cases, so a node is priced again only when it
    comes to the top. The better end is the result. It need not be the best: the optimum over all cuts is not
    searched.
    """
    return climbed(Climb, problem, seconds, progress, method="subtree")


def climbed(
    kind: type[Climb], problem: Problem, seconds: float | None, progress: Progress | None, *, method: str
) -> Recoding:
    """The better end of climbs from the roots, and from the best node of the lattice."""
    say = progress or (lambda _: None)
    climb = kind(problem, math.inf if seconds is None else clock.now() + seconds, say)
    starts = [climb.at(problem.heights)]
    if (best := _full_domain(problem, seconds, say)) is not None:
        # Which of its groups are suppressed was looked at closely: they stay so.
        starts.append(replace(climb.at(best.node), cost=replace(best, node=starts[0].cost.node)))
    ends = [climb.run(start) for start in starts[::-1]]
    end = min(ends, key=lambda end: (not problem.fits(end.cost), end.cost.rank()[:2]))
    return CutProblem.of(problem, end.cuts).recoding(end.cuts, end.cost, method=method)


def _full_domain(problem: Problem, seconds: float | None, say: Progress) -> Evaluation | None:
    """The best node of the lattice that there was time for; none if none is within the limit."""
    if problem.nodes > LARGEST_LATTICE:
        some = 60.0 if seconds is None else seconds * FIRST_PART
        return search_anytime(problem, seconds=some, progress=say).best
    end = math.inf if seconds is None else clock.now() + seconds * FIRST_PART
    return search(problem, progress=say, cancelled=lambda: clock.now() >= end).best


@dataclass(frozen=True)
class Generalisation:
    """A cut through every hierarchy, and what it costs."""

    cuts: tuple[Cut, ...]
    cost: Evaluation


class Climb:
    """From cuts to better neighbours, until none is better."""

    def __init__(self, problem: Problem, end: float, say: Progress) -> None:
        self.problem = problem
        self.end = end
        self.say = say
        self.least = 1e-12 * problem.pricing.worst
        self.work = Work()

    def at(self, levels: Sequence[int]) -> Generalisation:
        """One level per attribute."""
        return self.price(
            tuple(
                Cut(ladder, np.full(ladder.domain.size, level))
                for ladder, level in zip(self.problem.ladders, levels, strict=True)
            )
        )

    def run(self, here: Generalisation) -> Generalisation:
        """The best that is found from some cuts on."""
        while True:
            start = here
            here = self.generalised(self.specialised(here))
            if here is start or self.over:
                return here

    @property
    def over(self) -> bool:
        return clock.now() >= self.end

    def price(self, cuts: tuple[Cut, ...]) -> Generalisation:
        return Generalisation(cuts, CutProblem.of(self.problem, cuts).priced(self.work))

    def gain(self, here: Generalisation, there: Generalisation) -> float:
        """By how much the cost falls; nothing where too much is suppressed, and all where it was before."""
        if there.cost.tentative or not self.problem.fits(there.cost):
            return 0.0
        return here.cost.cost - there.cost.cost if self.problem.fits(here.cost) else math.inf

    def specialised(self, here: Generalisation) -> Generalisation:
        """Nodes replaced by their children, always the one that gains most, as long as one gains."""
        waiting: list[tuple[float, int, int, int]] = []
        serial = 0

        def offer(attribute: int, code: int, gain: float) -> None:
            nonlocal serial
            serial += 1
            heapq.heappush(waiting, (-gain, serial, attribute, code))

        for j, cut in enumerate(here.cuts):
            for code in cut.below_root():
                offer(j, code, math.inf)
        steps = 0
        while waiting and not self.over:
            _, _, j, code = heapq.heappop(waiting)
            finer = here.cuts[j].specialised(code)
            there = self.price(with_cut(here.cuts, j, finer))
            gain = self.gain(here, there)
            if gain <= self.least:
                continue
            if waiting and gain < -waiting[0][0] - self.least:
                offer(j, code, gain)
                continue
            members = here.cuts[j].node == here.cuts[j].node[code]
            here = there
            steps += 1
            self.say(Sentence("specialised {steps} nodes, cost {cost:.6g}", steps=steps, cost=here.cost.cost))
            for child in _first_of(finer.node, members):
                if finer.level[child] > 0:
                    offer(j, child, math.inf)
        return here

    def generalised(self, here: Generalisation) -> Generalisation:
        """Nodes replaced by their parents where that costs less: what was suppressed for their sake comes back."""
        for j in range(len(here.cuts)):
            for code in here.cuts[j].parents():
                if self.over:
                    return here
                if here.cuts[j].level[code] < self.problem.heights[j]:
                    there = self.price(with_cut(here.cuts, j, here.cuts[j].generalised(code)))
                    if self.gain(here, there) > self.least:
                        here = there
        return here


def with_cut(cuts: tuple[Cut, ...], attribute: int, cut: Cut) -> tuple[Cut, ...]:
    return (*cuts[:attribute], cut, *cuts[attribute + 1 :])


def _first_of(nodes: AnyIntArray, members: BoolArray) -> list[int]:
    """One value under each of the nodes of some values."""
    _, first = np.unique(np.where(members, nodes, -1), return_index=True)
    return [int(code) for code in first if members[code]]
