"""Rows that are left out until everybody is alike in all rows with k - 1 others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.relational.alike import KnownRows
from discreet.types import BoolArray, IntArray

MOST_CLUSTERS = 200
"""So many groups of people are compared with each other at most; more are parted by how many rows people have."""


@dataclass
class _Cluster:
    """People who will be alike, and the rows that all of them have."""

    members: list[int]
    common: frozenset[int] = field(repr=False)


def aligned(known: KnownRows, k: int) -> Mapping[str, BoolArray]:
    """Which rows to keep so that every person is alike with k - 1 others at least, in all rows that are left.

    People whom the people's table shows alike are put together in groups of k, those first who have most rows in common; of
    each group only the rows that all its people have are kept, with rows that belong to each other. So it is by leaving out what
    Nergiz, Clifton and Nergiz (ICDE 2007) do by generalising: levels of values are chosen before.

    Nobody is left out: a class that the people's table shows has k people, else ``ValueError``.
    """
    keep = {name: np.ones(len(rows.numbers), dtype=bool) for name, rows in known.tables.items()}
    alike = known.alike()
    sizes = np.bincount(alike)
    if not len(alike) or sizes.min() >= k:
        return keep
    baskets, _, _ = known.baskets()
    items = [
        frozenset(baskets.codes[start:stop].tolist())
        for start, stop in zip(baskets.starts[:-1], baskets.starts[1:], strict=True)
    ]
    tree = _Tree.of(known)
    for people in _classes(known.root):
        if len(people) < k:
            raise ValueError("a class of the people's table is too small")
        by_number: dict[int, list[int]] = defaultdict(list)
        for person in people:
            by_number[int(alike[person])].append(person)
        clusters = [_Cluster(members, items[members[0]]) for members in by_number.values()]
        for part in _parted(clusters, k):
            for cluster in _grouped(part, k):
                tree.align(cluster.members, keep)
    return keep


def _classes(root: IntArray) -> list[list[int]]:
    """The people of each class of the people's table."""
    order = np.argsort(root, kind="stable")
    borders = np.flatnonzero(np.diff(root[order])) + 1
    return [part.tolist() for part in np.split(order, borders)]


def _parted(clusters: Sequence[_Cluster], k: int) -> list[list[_Cluster]]:
    """Clusters in parts that can be compared, by how many rows they have; each part has k people."""
    ordered = sorted(clusters, key=lambda cluster: (-len(cluster.common), sorted(cluster.common)))
    if len(ordered) <= MOST_CLUSTERS:
        return [ordered]
    parts: list[list[_Cluster]] = [[]]
    people = 0
    left = sum(len(cluster.members) for cluster in ordered)
    for cluster in ordered:
        if len(parts[-1]) >= MOST_CLUSTERS and people >= k and left >= k:
            parts.append([])
            people = 0
        parts[-1].append(cluster)
        people += len(cluster.members)
        left -= len(cluster.members)
    return parts


def _grouped(clusters: list[_Cluster], k: int) -> list[_Cluster]:
    """Clusters merged until each has k people: the one with most rows among those too small goes with what it loses least by."""
    done = [cluster for cluster in clusters if len(cluster.members) >= k]
    small = [cluster for cluster in clusters if len(cluster.members) < k]
    while small:
        first = max(small, key=lambda cluster: (len(cluster.common), -cluster.members[0]))
        small.remove(first)
        others = [*small, *done]
        if not others:
            done.append(first)
            break
        best = min(others, key=lambda other: (_lost(first, other), other.members[0]))
        merged = _Cluster(first.members + best.members, first.common & best.common)
        if best in small:
            small.remove(best)
        else:
            done.remove(best)
        (done if len(merged.members) >= k else small).append(merged)
    return done


def _lost(left: _Cluster, right: _Cluster) -> int:
    """How many rows are left out if two clusters become one."""
    common = len(left.common & right.common)
    return len(left.members) * (len(left.common) - common) + len(right.members) * (len(right.common) - common)


@dataclass(frozen=True)
class _Tree:
    """The rows below each row: of a table those that refer to it, with a number for all that stands below each."""

    below: Mapping[str, Sequence[str]]
    children: Mapping[str, Mapping[int, list[int]]] = field(repr=False)
    numbers: Mapping[str, IntArray] = field(repr=False)

    @classmethod
    def of(cls, known: KnownRows) -> _Tree:
        below: dict[str, list[str]] = defaultdict(list)
        children: dict[str, dict[int, list[int]]] = {}
        for name, rows in known.tables.items():
            below[known.above[name]].append(name)
            held: dict[int, list[int]] = defaultdict(list)
            for row, parent in enumerate(rows.parents.tolist()):
                held[parent].append(row)
            children[name] = held
        return cls(below, children, {name: rows.numbers for name, rows in known.tables.items()})

    def align(self, nodes: Sequence[int], keep: Mapping[str, BoolArray], table: str = "") -> None:
        """Leave out what not all of some rows have below them; ``nodes`` is one row for each member of a group."""
        for child in self.below.get(table, ()):
            held = [self._by_value(child, node) for node in nodes]
            for value in set().union(*held):
                lists = [rows.get(value, []) for rows in held]
                common = min(map(len, lists))
                for rows in lists:
                    for row in rows[common:]:
                        self._leave_out(child, row, keep)
                for matched in zip(*(rows[:common] for rows in lists), strict=True):
                    self.align(matched, keep, child)

    def _by_value(self, table: str, node: int) -> dict[int, list[int]]:
        """The rows below a row by their values, those first below which most stands."""
        rows: dict[int, list[int]] = defaultdict(list)
        for row in self.children[table].get(node, ()):
            rows[int(self.numbers[table][row])].append(row)
        for same in rows.values():
            same.sort(key=lambda row: (-self._content(table, row)[0], self._content(table, row)[1]))
        return rows

    def _content(self, table: str, row: int) -> tuple[int, tuple[tuple[int, ...], ...]]:
        """How many rows stand below a row, and their values."""
        held = tuple(
            tuple(sorted(int(self.numbers[child][below]) for below in self.children[child].get(row, ())))
            for child in self.below.get(table, ())
        )
        return sum(map(len, held)), held

    def _leave_out(self, table: str, row: int, keep: Mapping[str, BoolArray]) -> None:
        keep[table][row] = False
        for child in self.below.get(table, ()):
            for under in self.children[child].get(row, ()):
                self._leave_out(child, under, keep)
