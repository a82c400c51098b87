"""Tables of counts over three columns, and sums of squares of a model: fast ways against plain loops."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.utility import marginals, propensity
from discreet.utility.bins import BinnedAttribute, binned

AGES = st.integers(20, 60)
SPANS = st.tuples(AGES, st.integers(0, 20)).map(lambda span: f"[{span[0]}, {span[0] + span[1]}]")
JOBS = ["baker", "clerk", "nurse", "smith"]
SETS = st.sets(st.sampled_from(JOBS), min_size=2, max_size=3).map(
    lambda jobs: f"{{{', '.join(sorted(jobs))}}}"
)
ORIGINAL = st.tuples(AGES, st.sampled_from(JOBS), st.sampled_from("fm"), st.integers(1, 14))
RELEASED = st.tuples(
    st.one_of(AGES.map(str), SPANS, st.just("*")),
    st.one_of(st.sampled_from([*JOBS, "pilot", "*"]), SETS),
    st.sampled_from(["f", "m", "*"]),
    st.integers(1, 16),
)


def table_of(rows: list[tuple[object, ...]], counts: list[int]) -> EquivalenceClasses:
    columns = dict(zip(("age", "job", "sex", "pay"), map(list, zip(*rows, strict=True)), strict=True))
    return EquivalenceClasses.from_columns(columns, counts=counts[: len(rows)])


def plain_table(
    classes: EquivalenceClasses, parts: tuple[BinnedAttribute, ...], *, released: bool
) -> dict[tuple[int, ...], float]:
    """Every cell shares its records out among all combinations of bins, one after the other."""
    shares: dict[tuple[int, ...], float] = defaultdict(float)
    for cell, count in enumerate(classes.counts.tolist()):
        rows = []
        for part in parts:
            code = int(classes.column_of_cells(part.name)[1][cell])
            own = [float(at == part.original[code]) for at in range(part.size)] if not released else None
            rows.append(own or part.released[code].tolist())
        for bins in product(*map(range, map(len, rows))):
            share = float(count)
            for row, at in zip(rows, bins, strict=True):
                share *= row[at]
            shares[bins] += share / classes.total
    return shares


def plain_error(pair: Pair) -> float:
    errors = []
    for parts in combinations([binned(pair, name) for name in pair.names], 3):
        before, after = (
            plain_table(pair.original, parts, released=False),
            plain_table(pair.released, parts, released=True),
        )
        errors.append(sum(abs(before[bins] - after[bins]) for bins in before | after) / 2)
    return sum(errors) / len(errors)


@given(
    st.lists(ORIGINAL, min_size=1, max_size=12),
    st.lists(RELEASED, min_size=1, max_size=6),
    st.lists(st.integers(1, 9), min_size=12, max_size=12),
)
@example(
    [(31, "baker", "f", 1), (34, "smith", "m", 2), (47, "nurse", "f", 3)],
    [("[30, 39]", "{baker, smith}", "*", 1), ("*", "pilot", "f", 16), ("34", "*", "m", 2)],
    list(range(1, 13)),
)
def test_tables_are_those_of_plain_loops(
    before: list[tuple[object, ...]], after: list[tuple[object, ...]], counts: list[int]
) -> None:
    pair = Pair.of(table_of(before, counts), table_of(after, counts[::-1]))
    expected = plain_error(pair)
    assert marginals.k_marginal_error(pair).value == pytest.approx(expected, abs=1e-9)
    with patch.object(marginals, "_ENTRIES", 1):
        assert marginals.k_marginal_error(pair).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (5, 3), (4097, 2), (300, 73), (4100, 110)])
def test_squares_by_blocks_are_those_of_one_product(rows: int, columns: int) -> None:
    generator = np.random.default_rng(rows)
    design, weights = generator.random((rows, columns)), generator.random(rows)
    found = propensity._squares(design, weights)
    np.testing.assert_allclose(found, (design * weights[:, None]).T @ design, rtol=1e-11)
    assert (found == found.T).all()
