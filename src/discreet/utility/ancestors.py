"""Where released values stand in the hierarchy of their attribute: level, and closest common ancestors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.classes.pair import Pair
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.meaning import Meaning
from discreet.types import BoolArray, FloatArray, Int32Array, IntArray
from discreet.utility.definition import EXACT, FOREIGN, SUPPRESSED


@dataclass(frozen=True)
class Ancestors:
    """For each released value a leaf below it and its level: the node ``nodes[level][leaf]`` stands for it.

    The node is the one released, or the closest common ancestor of the values it may stand for (Xu et al. 2006).
    A null is a leaf of its own below the root, which has place -1; so have values without a leaf.

    >>> import pyarrow as pa
    >>> from discreet.table.domain import Domain
    >>> zips = Hierarchy.of("zip", [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"]])
    >>> codes = Domain("zip", pa.array(["1010", "1011", "2020"]))
    >>> released = Domain("zip", pa.array(["*", "1010", "101*", "{1010, 2020}"]))
    >>> above = Ancestors.of(Meaning.of(codes, released, zips), zips)
    >>> above.level, above.counts
    (array([2, 0, 1, 2]), array([3., 1., 2., 3.]))
    """

    hierarchy: Hierarchy
    leaf: IntArray = field(repr=False)
    level: IntArray
    counts: FloatArray
    leaf_of_original: IntArray = field(repr=False)

    @classmethod
    def of(cls, meaning: Meaning, hierarchy: Hierarchy, shown: BoolArray | None = None) -> Ancestors:
        """The place of every released value.

        A value whose label stands on several levels is taken at the lowest on which all values ``shown`` can
        stand together, if there is one: a column is usually generalised as a whole.
        """
        below = _leaves(meaning, hierarchy)
        size = meaning.released.size
        leaf, level = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
        whole = _common(meaning, hierarchy, np.ones(size, dtype=bool) if shown is None else shown)
        places: list[dict[str, int]] = [
            {label: int(first) for label, first in zip(names, _first(nodes, len(names)), strict=True)}
            for names, nodes in zip(hierarchy.labels, hierarchy.nodes, strict=True)
        ]
        for code in range(size):
            kind = meaning.kinds[code]
            if kind == FOREIGN:
                continue
            if kind == SUPPRESSED:
                leaf[code], level[code] = 0, hierarchy.height
                continue
            label = hierarchy.label_of(meaning.released.label(code))
            at = next((step for step in range(whole, hierarchy.height + 1) if label in places[step]), None)
            if at is not None:
                leaf[code], level[code] = places[at][label], at
                continue
            members = below[meaning.members(code)]
            if kind == EXACT and not (members < 0).any():
                leaf[code], level[code] = members[0], 0
            elif (members < 0).any() and len(members) > 1:
                leaf[code], level[code] = 0, hierarchy.height
            elif len(members) and members[0] >= 0:
                leaf[code], level[code] = members[0], hierarchy.common_level(members.tolist())
        counts = np.ones(size)
        for step in range(hierarchy.height + 1):
            here = (level == step) & (leaf >= 0)
            counts[here] = hierarchy.counts(step)[hierarchy.nodes[step][leaf[here]]]
        return cls(hierarchy, leaf, level, counts, below)

    def joined(self, released: IntArray, original: IntArray) -> FloatArray:
        """Leaves under the closest common ancestor of each released value and the original value beside it."""
        a, b, least = self.leaf[released], self.leaf_of_original[original], self.level[released]
        height = self.hierarchy.height
        leaves = np.full(len(a), float(self.hierarchy.leaves))
        open_ = np.ones(len(a), dtype=bool)
        both = (a >= 0) & (b >= 0)
        for level in range(height + 1):
            nodes = self.hierarchy.nodes[level]
            same = open_ & both & (least <= level)
            same[same] = nodes[a[same]] == nodes[b[same]]
            leaves[same] = self.hierarchy.counts(level)[nodes[a[same]]]
            open_ &= ~same
        # Values without a leaf, such as nulls, are only themselves or anything.
        leaves[open_ & (a < 0) & (b < 0)] = 1.0
        return leaves


def scale_of(pair: Pair, at: int, shown: BoolArray) -> Hierarchy | None:
    """The hierarchy in which the levels of an attribute are counted, if there is one.

    One that somebody gave is the scale of every release. One that was only learned is the scale of a release in which
    all values ``shown`` are labels of it: that was generalised along it. Any other has no levels.
    """
    name, meaning = pair.names[at], pair.meanings[at]
    hierarchy = pair.hierarchies.get(name)
    if hierarchy is None or name not in pair.assumed:
        return hierarchy
    labels = {label for names in hierarchy.labels for label in names}
    generalised = shown & ~np.isin(meaning.kinds, (EXACT, SUPPRESSED))
    stands = all(
        hierarchy.label_of(meaning.released.label(int(code))) in labels
        for code in np.flatnonzero(generalised)
    )
    return hierarchy if stands else None


def _leaves(meaning: Meaning, hierarchy: Hierarchy) -> IntArray:
    """The leaf of each original code; -1 for nulls and values that the hierarchy misses."""
    leaves = np.full(meaning.original.size, -1, dtype=np.int64)
    for code, value in enumerate(meaning.original.values.to_pylist()):
        leaf = hierarchy.leaf(str(value))
        if leaf is not None:
            leaves[code] = leaf
    return leaves


def _first(nodes: Int32Array, size: int) -> IntArray:
    """One leaf below each node of a level."""
    leaves = np.zeros(size, dtype=np.int64)
    leaves[nodes[::-1]] = np.arange(len(nodes))[::-1]
    return leaves


def _common(meaning: Meaning, hierarchy: Hierarchy, shown: BoolArray) -> int:
    """The lowest level that has the labels of all values shown; 0 if none has."""
    labels = {
        hierarchy.label_of(meaning.released.label(int(code)))
        for code in np.flatnonzero(shown)
        if meaning.kinds[code] not in (SUPPRESSED, FOREIGN) and code != meaning.released.null_code
    }
    own = [set(names) for names in hierarchy.labels]
    return next((level for level, names in enumerate(own) if labels <= names), 0)
