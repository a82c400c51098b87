"""Compiled loops: who fits whom, walked along a tree of distinct combinations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.compiled import kernel, part
from discreet.types import BoolArray, IntArray, IntMatrix


class Tree(NamedTuple):
    """Distinct combinations as a tree, one level per attribute; the nodes of level ``l`` lie in a row.

    Nodes of level ``l`` are ``level[l]:level[l + 1]``, the children of a node ``first[n]:last[n]``, ascending by
    their ``code``. The leaves are the combinations themselves; ``entry`` gives their place in the table.
    """

    level: IntArray
    code: IntArray
    first: IntArray
    last: IntArray
    entry: IntArray


class Spans(NamedTuple):
    """What released codes may stand for: code ``c`` the ranks of ``ptr[c]:ptr[c + 1]``.

    Codes of all attributes are numbered through, in the order of the tree's levels.
    """

    ptr: IntArray
    start: IntArray
    stop: IntArray


class People(NamedTuple):
    """Who stands behind the entries: their number, and at event level who, with marks for those to leave out."""

    sizes: IntArray
    ptr: IntArray
    who: IntArray
    aside: BoolArray


@part
def covers(spans: Spans, code: int, rank: int) -> bool:
    """Whether a released code may stand for the original value of this rank."""
    low = spans.ptr[code]
    high = spans.ptr[code + 1]
    while low < high:
        middle = (low + high) >> 1
        if rank < spans.start[middle]:
            high = middle
        elif rank >= spans.stop[middle]:
            low = middle + 1
        else:
            return True
    return False


@part
def _released_children(
    tree: Tree, spans: Spans, node_first: int, node_last: int, rank: int, kept: IntArray, at: int
) -> int:
    for child in range(node_first, node_last):
        code = tree.code[child]
        low = spans.ptr[code]
        high = spans.ptr[code + 1]
        # Most codes have one range: no search, no call.
        if spans.start[low] <= rank < spans.stop[low] if high - low == 1 else covers(spans, code, rank):
            kept[at] = child
            at += 1
    return at


@part
def _original_children(
    tree: Tree, spans: Spans, node_first: int, node_last: int, code: int, kept: IntArray, at: int
) -> int:
    child = node_first
    for i in range(spans.ptr[code], spans.ptr[code + 1]):
        high = node_last
        while child < high:
            middle = (child + high) >> 1
            if tree.code[middle] < spans.start[i]:
                child = middle + 1
            else:
                high = middle
        while child < node_last and tree.code[child] < spans.stop[i]:
            kept[at] = child
            at += 1
            child += 1
    return at


@kernel
def fitting(
    tree: Tree,
    spans: Spans,
    queries: IntMatrix,
    released: bool,
    people: People,
    counts: IntArray,
    besides: IntArray,
    only: IntArray,
) -> int:
    """Count for each query the people in the tree's entries that fit it; returns the steps it took.

    With ``released`` the tree holds released combinations and the queries are ranks of original values;
    without it the tree holds original ranks and the queries are released codes. Queries are sorted, so that those
    that begin alike share the walk. Fills ``counts``, at event level ``besides`` (the same without the people
    that are put aside), and in ``only`` an entry that fits (-1: none).
    """
    levels = queries.shape[1]
    kept = np.empty(tree.code.size, dtype=np.int64)
    length = np.zeros(levels, dtype=np.int64)
    persons = people.who.size > 0
    stamp = np.full(people.aside.size, -1, dtype=np.int64)
    steps = 0
    for q in range(queries.shape[0]):
        same = 0
        if q > 0:
            while same < levels and queries[q, same] == queries[q - 1, same]:
                same += 1
        for level in range(same, levels):
            value = queries[q, level]
            begin = tree.level[level]
            at = begin
            parents = length[level - 1] if level > 0 else 1
            for p in range(parents):
                if level > 0:
                    parent = kept[tree.level[level - 1] + p]
                    first, last = tree.first[parent], tree.last[parent]
                else:
                    first, last = tree.level[0], tree.level[1]
                steps += last - first
                if released:
                    at = _released_children(tree, spans, first, last, value, kept, at)
                else:
                    at = _original_children(tree, spans, first, last, value, kept, at)
            length[level] = at - begin
        total = 0
        beside = 0
        last_entry = -1
        begin = tree.level[levels - 1]
        for i in range(length[levels - 1]):
            entry = tree.entry[kept[begin + i] - begin]
            last_entry = entry
            if persons:
                for j in range(people.ptr[entry], people.ptr[entry + 1]):
                    who = people.who[j]
                    if stamp[who] != q:
                        stamp[who] = q
                        total += 1
                        if not people.aside[who]:
                            beside += 1
            else:
                total += people.sizes[entry]
        counts[q] = total
        besides[q] = beside if persons else total
        only[q] = last_entry
    return steps
