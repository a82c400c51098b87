"""Artificial values that keep the rules of the table: records that break one are drawn again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.perturb.base import groups, whole
from discreet.perturb.randomness import Randomness
from discreet.perturb.synthesis import Synthesis
from discreet.policy.constraint import Constraint
from discreet.release.dependencies import Dependency
from discreet.release.kpis import read_numbers, speaks_of, texts_of_numbers
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.reading import ReadOptions
from discreet.types import IntArray

REDRAWN = 5
"""So many times the values of records that break a rule are drawn again by the model."""
LENT = 20
"""So many records are then asked for their whole combination, one after the other."""


def keeping_rules(
    step: Synthesis,
    rows: pa.Table,
    new: dict[str, pa.Array],
    rules: Sequence[Constraint],
    table: Table,
    randomness: Randomness,
) -> tuple[dict[str, pa.Array], str]:
    """The drawn values with those of records that break a rule drawn again, and what to tell about it.

    The model draws them anew, a few times (rejection: they are drawn from the model given that the rules hold). Who still breaks a rule
    takes the values of all columns of the step from one record that keeps the rules and has the same values in the given columns. Rules that do
    not speak of the columns of the step are not looked at. ``table`` is what the rows were read from.
    """
    asked = [rule for rule in rules if any(_speaks_of(name, rule) for name in step.columns)]
    if not asked or not rows.num_rows:
        return new, ""
    broken = breaking(_with(rows, new), asked, table)
    first = len(broken)
    for _ in range(REDRAWN):
        if not len(broken):
            break
        again = step.changed(rows, randomness)
        new = {name: _patched(new[name], again[name], broken, broken) for name in new}
        broken = broken[np.isin(broken, breaking(_with(rows, new), asked, table))]
    whole_ones = len(broken)
    group = groups(rows, step.given)
    own = breaking(rows, asked, table)
    lenders = np.setdiff1d(np.arange(rows.num_rows), own, assume_unique=True)
    lenders = lenders[np.argsort(group[lenders], kind="stable")]
    starts = np.searchsorted(group[lenders], np.arange(int(group.max(initial=0)) + 2))
    for _ in range(LENT):
        count = starts[group[broken] + 1] - starts[group[broken]]
        able = broken[count > 0]
        if not len(able):
            break
        drawn = (randomness.uniform(len(able)) * count[count > 0]).astype(np.int64)
        lent = lenders[starts[group[able]] + drawn]
        new = {name: _patched(new[name], whole(rows[name]), able, lent) for name in new}
        broken = broken[np.isin(broken, breaking(_with(rows, new), asked, table))]
    return new, _told(step, first, whole_ones, len(broken))


def _speaks_of(column: str, rule: Constraint) -> bool:
    """Whether a rule may speak of a column."""
    return column in (rule.column, *rule.follows) or (bool(rule.holds) and speaks_of(column, rule.holds))


def breaking(rows: pa.Table, rules: Sequence[Constraint], table: Table) -> IntArray:
    """The places of rows that break any of some rules, in their order."""
    place = "place"
    while place in rows.column_names:
        place += "_"
    numbered = rows.append_column(place, pa.array(np.arange(rows.num_rows)))
    made = table.engine.read_batches(numbered.to_reader(), table.source, ReadOptions())
    places = [np.empty(0, dtype=np.int64)]
    for rule in rules:
        if rule.follows:
            places.append(Dependency.of_table(rule, table).breaking(rows))
            continue
        seen = read_numbers(made, texts_of_numbers(table, made, [rule.holds]), "refuse")
        places.append(seen.engine.breaking(seen, rule.holds, place))
    return np.unique(np.concatenate(places))


def _with(rows: pa.Table, new: dict[str, pa.Array]) -> pa.Table:
    for name, values in new.items():
        rows = rows.set_column(rows.column_names.index(name), name, values)
    return rows


def _patched(values: pa.Array, others: pa.Array, places: IntArray, taken: IntArray) -> pa.Array:
    """Values with those at some places taken from others."""
    at = np.arange(len(values))
    at[places] = len(values) + taken
    return pa.concat_arrays([values, others]).take(pa.array(at))


def _told(step: Synthesis, first: int, whole_ones: int, left: int) -> str:
    if not first:
        return ""
    return Sentence(
        "{first:,} records broke a rule and were drawn again ({step}); {whole:,} of them took a whole combination of another "
        "record, and {left:,} still break one",
        first=first,
        step=step.id,
        whole=whole_ones - left,
        left=left,
    )
