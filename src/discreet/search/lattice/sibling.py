"""Sibling generalisation: as by subtrees, but values that are frequent enough may stand beside the node of their siblings."""

from __future__ import annotations

import numpy as np

from discreet.search.lattice.subtree import Climb, Generalisation, climbed, with_cut
from discreet.search.problem import Problem
from discreet.transform.recoding import Recoding
from discreet.types import Progress


def sibling(problem: Problem, *, seconds: float | None = None, progress: Progress | None = None) -> Recoding:
    """Global recoding in which some siblings stay as they are and the node above them stands for the others.

    From where the search by subtrees ends, the children of each node are tried in turn, those of most records first: one
    that stands by itself, while the node becomes the set or the range of what is left of it, if that costs less within the
    limit. Then subtrees are tried again, until nothing helps or the time is over. The label of such a node names what is
    left, so that nobody has to know which siblings stayed. Fung, Wang, Chen and Yu, "Privacy-preserving data publishing: a
    survey of recent developments", ACM Computing Surveys 42(4), 2010.
    """
    return climbed(_SiblingClimb, problem, seconds, progress, method="sibling")


class _SiblingClimb(Climb):
    """A climb that also lets single children of a node stand by themselves."""

    def run(self, here: Generalisation) -> Generalisation:
        while True:
            here = super().run(here)
            start, here = here, self.parted(here)
            if here is start or self.over:
                return here

    def parted(self, here: Generalisation) -> Generalisation:
        """Single children beside the rest of their node, each where that costs less."""
        classes = self.problem.classes
        for j, codes in enumerate(classes.codes):
            held = np.bincount(codes, weights=classes.records, minlength=classes.attributes[j].size)
            for code in here.cuts[j].children(held.astype(np.float64)):
                if self.over:
                    return here
                there = self.price(with_cut(here.cuts, j, here.cuts[j].apart(code)))
                if self.gain(here, there) > self.least:
                    here = there
        return here
