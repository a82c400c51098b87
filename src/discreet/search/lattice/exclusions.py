"""A bound for a lattice without end from nodes that suppress too much: all that is finer than one of them does, too."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_array, vstack

from discreet.search.problem import Grouper, Node, Problem
from discreet.types import FloatArray, IntArray

ORDERS = 30
"""So many finer nodes are tried for each solution of the relaxed programme."""
REPEATS = 3
"""From each node that a whole solution stands for, so many ways up to the coarsest nodes that suppress too much."""
COLLECTED = 100
"""So many nodes are collected before the first whole solution, and before each further one twice as many, unless"""
COLLECTING = 1 / 2
"""only so much of the time is left."""
GROWTH = 1.5
"""The time of a programme with whole levels grows about with the number of excluded nodes to this power."""
PATIENCE = 10
"""After so many cheap nodes within the limit in a row it is time for the cheapest one."""
MOST_NODES = 2000
"""With so many excluded nodes a programme takes longer than it is worth."""
SHOWN = 1e-6
"""What a solver's solution has below this share of a level counts as nothing."""
SURE = 1e-6
"""A solver's bound for whole solutions may be off by so much."""


class Exclusions:
    """Nodes that suppress too much, each as coarse as possible, and what all others cost at least for their sake.

    Say that E suppresses more records than allowed for requirements that a class meets as soon as a part of it does
    (k-anonymity, distinct l-diversity …). So does every node below it. Of a node N within the limit therefore some
    attribute j stands above E: N_j > E_j. With c_jl the number of attribute j at level l (``Pricing.levels``) and y_jl for
    whether N_j >= l,

        minimise sum of c_j0 + sum of (c_jl - c_j,l-1) y_jl,  1 >= y_j1 >= y_j2 >= … >= 0,
        subject to  sum over j of y_j,E_j+1 >= 1  for every E,

    bounds the cost of all of them: ``Pricing.below`` of it, with fractions of y (the relaxed programme) and better with
    whole ones only. What is handed out for the relaxed one is not the solver's word but Lagrange's bound from its prices
    p_E >= 0, which holds for any prices: sum of p_E + sum over j of the least c_jl - sum of p_E over E with E_j < l.

    The nodes are found as they are needed: a fractional solution is broken by one that is fine where y is small, a
    whole one by itself, and each is put as high as it can be while it still suppresses too much. Little suppression
    makes it strong; where much is allowed the parts of ``growing_bounds`` bound more. (Combinatorial Benders cuts:
    Codato and Fischetti 2006; implicit hitting sets: Moreno-Centeno and Karp 2013.)

    >>> from discreet.classes import EquivalenceClasses
    >>> from discreet.privacy import KAnonymity
    >>> from discreet.search.problem import make_problem
    >>> from discreet.table.hierarchies.hierarchy import Hierarchy
    >>> classes = EquivalenceClasses.from_columns({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    >>> ladders = [Hierarchy.of(d.name, [["1", "*"], ["2", "*"]]).ladder(d) for d in classes.attributes]
    >>> max(Exclusions(make_problem(classes, ladders, [KAnonymity(2)], suppression_limit=0.0)).bounds())
    0.5
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._grouper = Grouper(problem)
        self._random = random.Random(1)
        self._heights = problem.heights
        self._levels = problem.pricing.levels
        self._first = np.cumsum([0, *self._heights])[:-1].astype(np.int64)
        self._rises = np.concatenate([np.diff(levels) for levels in self._levels])
        self._bottom = float(sum(levels[0] for levels in self._levels))
        self._ordered = self._order_of_levels()
        self._costs = np.concatenate(self._levels)
        self._owner = np.repeat(np.arange(len(self._heights)), np.array(self._heights) + 1)
        self._starts = np.searchsorted(self._owner, np.arange(len(self._heights)))
        self._excluded: dict[Node, None] = {}
        self._known: dict[Node, bool] = {}
        self._solved = 0
        self._took = 0.0, 1

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The excluded nodes that were found."""
        return tuple(self._excluded)

    def bounds(self, seconds_left: Callable[[], float] = lambda: math.inf) -> Iterator[float]:
        """What every node costs at least, better and better; ends where nothing better can be known, or without time.

        Where the time is not limited only the relaxed programme is solved, so that the bound depends on the problem alone.
        """
        bottom = (0,) * len(self._heights)
        applies = self._problem.pricing.combine is np.add and self._problem.objective.additive
        if not applies or not self._suppresses_too_much(bottom) or self._suppresses_too_much(self._heights):
            return
        best = -math.inf
        self._exclude(bottom, np.ones(len(self._rises)))
        while len(self._excluded) < MOST_NODES and seconds_left() > 0:
            total, shown = self._relaxed()
            best = max(best, total)
            yield self._cost(best)
            if not self._broken(shown):
                break
        more = COLLECTED
        while math.isfinite(seconds_left()) and len(self._excluded) < MOST_NODES:
            self._collect(shown, more, seconds_left)
            more *= 2
            left = seconds_left()
            if left < self._foreseen():
                return
            total, node = self._whole(left)
            self._solved += 1
            self._took = left - seconds_left(), len(self._excluded)
            best = max(best, total)
            yield self._cost(best)
            if node is None or not self._suppresses_too_much(node):
                return
            self._exclude_above(node)
            total, shown = self._relaxed()
            best = max(best, total)

    @property
    def whole_solutions(self) -> int:
        """How many programmes with whole levels were solved."""
        return self._solved

    def _foreseen(self) -> float:
        """The seconds that the next programme with whole levels takes, by the last one."""
        seconds, nodes = self._took
        return float(seconds * (len(self._excluded) / nodes) ** GROWTH)

    def _cost(self, total: float) -> float:
        return float(self._problem.pricing.below(np.array(total)))

    # ── nodes ─────────────────────────────────────────────────────────────────────────────────────

    def _suppresses_too_much(self, node: Node) -> bool:
        known = self._known.get(node)
        if known is None:
            grouped = self._grouper.at(node)
            suppressed = int(grouped.sizes[~self._problem.rule.certain(grouped)].sum())
            known = self._known[node] = suppressed > self._problem.allowed
        return known

    def _exclude(self, node: Node, dear: FloatArray) -> bool:
        """Exclude the coarsest node above one that suppresses too much, dear attributes first; whether it is a new one."""
        steps = [(-self._at(dear, j, level + 1), self._random.random(), j) for j, level in enumerate(node)]
        for _, _, j in sorted(steps):
            for level in range(self._heights[j], node[j], -1):
                higher = (*node[:j], level, *node[j + 1 :])
                if self._suppresses_too_much(higher):
                    node = higher
                    break
        if node in self._excluded or node == self._heights:
            return False
        self._excluded[node] = None
        return True

    def _at(self, shown: FloatArray, j: int, level: int) -> float:
        """How much of a level is reached, nothing beyond the top."""
        return float(shown[self._first[j] + level - 1]) if level <= self._heights[j] else 0.0

    def _broken(self, shown: FloatArray) -> int:
        """How many nodes were found that a fractional solution stands below of: they are excluded from now on."""
        highest = [
            max((level for level in range(1, height + 1) if self._at(shown, j, level) > SHOWN), default=0)
            for j, height in enumerate(self._heights)
        ]
        new = 0
        if self._suppresses_too_much(tuple(highest)):
            new += self._exclude(tuple(highest), shown)
        for _ in range(ORDERS):
            node, spent = list(highest), [0.0] * len(highest)
            bias = 2 * self._random.random()
            order = sorted(
                (self._at(shown, j, level) ** bias * self._random.random(), j)
                for j, level in enumerate(highest)
                if level
            )
            for _, j in order:
                while node[j] and sum(spent) - spent[j] + self._at(shown, j, node[j]) < 1 - 1e-4:
                    spent[j] = self._at(shown, j, node[j])
                    node[j] -= 1
            if self._suppresses_too_much(tuple(node)):
                new += self._exclude(tuple(node), shown)
        return new

    def _collect(self, shown: FloatArray, more: int, seconds_left: Callable[[], float]) -> None:
        """Exclude what cheap nodes stand for that no excluded one rules out, so many or until several are within the limit.

        Each of them spares a programme with whole levels, which would have led to its like, much of its time.
        """
        end, most, vain = seconds_left() * COLLECTING, len(self._excluded) + more, 0
        while vain < PATIENCE and len(self._excluded) < most and seconds_left() > max(end, self._foreseen()):
            node = self._cheap(shown)
            vain = 0 if self._suppresses_too_much(node) and self._exclude_above(node) else vain + 1

    def _exclude_above(self, node: Node) -> int:
        """Exclude several of the coarsest nodes above one that suppresses too much; how many are new."""
        return sum(
            self._exclude(node, np.array([self._random.random() for _ in self._rises]))
            for _ in range(REPEATS)
        )

    def _cheap(self, shown: FloatArray) -> Node:
        """A node that no excluded one rules out, greedily from a fractional solution, and no level higher than it takes."""
        excluded = np.array(list(self._excluded), dtype=np.int64)
        least = 0.2 + 0.8 * self._random.random()
        node = np.array(
            [
                sum(self._at(shown, j, level) >= least for level in range(1, height + 1))
                for j, height in enumerate(self._heights)
            ]
        )
        noise = np.array([0.5 + self._random.random() for _ in self._heights])
        left = excluded[~(node > excluded).any(axis=1)]
        while left.size:
            # How many nodes an attribute stands above at each of its levels, for what the level costs more.
            held = np.bincount((left + self._starts).ravel(), minlength=len(self._costs))
            running = np.concatenate([[0], np.cumsum(held)])
            met = running[:-1] - running[self._starts[self._owner]]
            here = self._starts + node
            rise = np.maximum(self._costs - self._costs[here][self._owner], 1e-9)
            gain = np.where(np.arange(len(met)) > here[self._owner], met * noise[self._owner] / rise, -1.0)
            best = int(np.argmax(gain))
            node[self._owner[best]] = best - self._starts[self._owner[best]]
            left = left[left[:, self._owner[best]] >= node[self._owner[best]]]
        above = node > excluded
        times = above.sum(axis=1)
        for j in np.argsort(self._costs[self._starts] - self._costs[self._starts + node], kind="stable"):
            needed = int((excluded[above[:, j] & (times == 1), j] + 1).max(initial=0))
            if needed < node[j]:
                node[j] = needed
                times -= above[:, j]
                above[:, j] = needed > excluded[:, j]
                times += above[:, j]
        return tuple(node.tolist())

    # ── programmes ────────────────────────────────────────────────────────────────────────────────

    def _order_of_levels(self) -> csr_array:
        """That a level is reached only where the one below it is."""
        below = np.concatenate(
            [
                np.arange(first, first + height - 1)
                for first, height in zip(self._first, self._heights, strict=True)
            ]
        ).astype(np.int64)
        rows = np.arange(len(below))
        places = (np.concatenate([rows, rows]), np.concatenate([below, below + 1]))
        signs = np.repeat([-1.0, 1.0], len(below))
        return csr_array((signs, places), shape=(len(below), len(self._rises)))

    def _above(self) -> csr_array:
        """For each excluded node the levels of which one must be reached."""
        nodes = np.array(list(self._excluded), dtype=np.int64)
        below = nodes < np.array(self._heights)
        rows, attributes = np.nonzero(below)
        columns = self._first[attributes] + nodes[below]
        shape = (len(nodes), len(self._rises))
        return csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)

    def _relaxed(self) -> tuple[float, FloatArray]:
        """What the relaxed programme proves, and its solution."""
        from scipy.optimize import linprog  # takes long to load, and most searches end before they need it

        above = self._above()
        solved = linprog(
            self._rises,
            A_ub=vstack([self._ordered, -above]),
            b_ub=np.concatenate([np.zeros(self._ordered.shape[0]), -np.ones(above.shape[0])]),
            bounds=(0, 1),
            method="highs",
        )
        if solved.x is None:
            return -math.inf, np.ones(len(self._rises))
        prices = np.maximum(-solved.ineqlin.marginals[self._ordered.shape[0] :], 0.0)
        paid = self._rises - above.T @ prices
        total = float(prices.sum())
        for levels, first, height in zip(self._levels, self._first, self._heights, strict=True):
            total += float(levels[0]) + min(0.0, *np.cumsum(paid[first : first + height]).tolist(), 0.0)
        return total, np.asarray(solved.x)

    def _whole(self, seconds: float) -> tuple[float, Node | None]:
        """What the programme with whole levels proves in some time, and the node that it found."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        rules = [LinearConstraint(self._above(), 1, np.inf)]
        if self._ordered.shape[0]:
            rules.append(LinearConstraint(self._ordered, -np.inf, 0))
        solved = milp(
            self._rises,
            constraints=rules,
            integrality=np.ones(len(self._rises)),
            bounds=Bounds(0, 1),
            options={"time_limit": seconds},
        )
        bound = solved.mip_dual_bound
        total = -math.inf if bound is None or math.isnan(bound) else self._bottom + float(bound) - SURE
        if solved.x is None:
            return total, None
        reached = np.round(solved.x)
        sums: IntArray = np.array(
            [
                reached[first : first + height].sum()
                for first, height in zip(self._first, self._heights, strict=True)
            ],
            dtype=np.int64,
        )
        return total, tuple(sums.tolist())
