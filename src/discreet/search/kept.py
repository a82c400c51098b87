"""Attributes that must stay as they are: methods that group records search each of their combinations apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.classes.packing import combination_numbers
from discreet.classes.part import PartOfTable
from discreet.search.problem import Problem
from discreet.search.requirements import held, on_groups
from discreet.transform.recoding import Recoding, ReleasedAttribute, of_level
from discreet.types import IntArray


def part_by_part(problem: Problem, search: Callable[[Problem], Recoding]) -> Recoding:
    """What a method finds if its groups may not span the attributes that must stay as they are.

    These are the attributes whose ladders have no step up. The classes are divided by their values, and each
    part is searched for itself against the distribution of the whole table; a part that is too small to meet
    the requirements even as one group is suppressed.
    """
    kept = [j for j, ladder in enumerate(problem.ladders) if not ladder.height]
    if not kept:
        return search(problem)
    classes, models = problem.classes, on_groups(problem.models)
    owner = combination_numbers([classes.attributes[j].size for j in kept], [classes.codes[j] for j in kept])
    parts = int(owner.max()) + 1
    # An absorbing requirement that a part as a whole fails, each of its groups fails too.
    able = held([model for model in models if model.absorbing], classes, owner, parts)
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(parts + 1))
    solved = []
    for part in np.flatnonzero(able):
        at = np.sort(order[bounds[part] : bounds[part + 1]])
        solved.append((at, search(replace(problem, classes=PartOfTable.of(classes, at)))))
    recoding = joined(problem, solved)
    shown, groups = recoding.kept, recoding.groups()
    # Groups of one part that are written alike are one, and must hold as one.
    seen = np.where(shown, groups, groups.max() + 1)
    _, seen = np.unique(seen, return_inverse=True)
    return replace(recoding, kept=shown & held(models, classes, seen, int(seen.max()) + 1)[seen])


def joined(problem: Problem, solved: Sequence[tuple[IntArray, Recoding]]) -> Recoding:
    """The recodings of parts of the classes as one; classes of no part are suppressed."""
    classes = problem.classes
    shown = np.zeros(len(classes), dtype=bool)
    for at, recoding in solved:
        shown[at] = recoding.kept
    columns = tuple(
        _joined(problem, j, [(at, recoding.columns[j]) for at, recoding in solved])
        if ladder.height
        else of_level(ladder, 0, classes.codes[j])
        for j, ladder in enumerate(problem.ladders)
    )
    return Recoding(classes, columns, shown, solved[0][1].method if solved else "part by part")


def _joined(
    problem: Problem, j: int, parts: Sequence[tuple[IntArray, ReleasedAttribute]]
) -> ReleasedAttribute:
    """One attribute's new values in all parts; classes of no part, which are suppressed, stay as they were."""
    before = of_level(problem.ladders[j], 0, problem.classes.codes[j])
    alike = all(
        column.values.equals(before.values) and (column.codes == before.codes[at]).all()
        for at, column in parts
    )
    if alike:
        return before
    # Means of one part may be whole numbers and those of another not.
    kinds = {column.values.type for _, column in parts}
    if len(kinds) > 1 and all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        parts = [(at, replace(column, values=column.values.cast(pa.float64()))) for at, column in parts]
    elif len(kinds) > 1:
        parts = [(at, replace(column, values=column.texts())) for at, column in parts]
    codes = np.zeros(len(problem.classes), dtype=np.int32)
    shares = np.ones(len(problem.classes))
    for at, column in parts:
        shares[at] = column.shares
    given = pa.concat_arrays([column.per_class() for _, column in parts])
    encoded = given.dictionary_encode(null_encoding="encode")
    codes[np.concatenate([at for at, _ in parts])] = encoded.indices.to_numpy(zero_copy_only=False)
    truthful = all(column.truthful for _, column in parts)
    return replace(before, values=encoded.dictionary, codes=codes, shares=shares, truthful=truthful)
