"""Probabilistic record linkage after Fellegi and Sunter, done by splink."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.attacks.linkage.compatible import Targets, matched, right_guesses, share_of, weighted_median
from discreet.attacks.linkage.view import View
from discreet.attacks.result import AttackResult
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import MissingDependency
from discreet.sentences import Sentence
from discreet.table.meaning import KINDS
from discreet.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from splink import Linker
    from splink.internals.blocking_rule_creator import BlockingRuleCreator
    from splink.internals.comparison_creator import ComparisonCreator
    from splink.internals.comparison_level_creator import ComparisonLevelCreator

AT_MOST = 2_000
"""So many people are attacked; of more, a sample."""
PAIRS = 1_000_000
"""About so many pairs of a person and a released combination are compared; fewer people, if there were more."""
DRAWN = 20_000
"""Pairs drawn at random to see which attributes tell most records apart, and how many pairs will be compared."""
VALUES = 2_000
"""Of so many released values each is held against every person's, to see how often they agree; of more, a sample."""
NEAR = 0.1 + 1e-9
"""Numbers that differ by no more than this share of the original's range are near: a tenth, and what is rounding."""
TIE = 1e-6
"""Match weights that differ by less are equal."""

CHANGED = (0.2, 0.2, 0.5, 0.1)
"""How often an intruder takes the levels to occur for one person where values were changed by noise or averaging."""

LEVELS = ("equal", "compatible", "near", "else")


def probabilistic_linkage(
    pair: Pair,
    *,
    known: Sequence[str] | None = None,
    targets: EquivalenceClasses | None = None,
    seed: int = 1,
    most: int = 10,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Link people with the released records of the greatest match weight, and guess one of these.

    Each attribute agrees on a level: *equal* (the value itself), *compatible* (a generalised value that may stand
    for it), *near* (a number, or the middle of an interval, within a tenth of the range), or *else*; a suppressed
    value says nothing. The weight of a pair is the sum over attributes of log2(m / u): how often the level occurs among
    records of the same person (m, from how coarse the values are that the release shows, with 2 % errors) and among any
    two (u, counted on all pairs of a person and a record, half a pair being added to each level).
    Compared are pairs that agree (equal, compatible, or near to a number that nobody has) on the most selective
    attributes, in two ways. Ties are shared, so successes are expected right guesses as in `compatible_linkage`; values
    that were changed lower the weight instead of ruling a record out.
    Needs the extra ``linkage``. Fellegi, Sunter, "A theory for record linkage", JASA 64, 1969.
    """
    began = time.perf_counter()
    _required()
    whole = View.of(pair, known, targets)
    view = whole.sampled(at_most, seed)
    levels = _Levels(view, seed)
    expected = float((view.tried > 0).sum()) * len(view.released) * levels.share
    if expected > PAIRS:
        view = whole.sampled(max(int(at_most * PAIRS / expected), 100), seed)
        levels = _Levels(view, seed)
    at = np.flatnonzero(view.tried)
    person, match = _best(view, levels, at)
    tried = view.tried[at].astype(np.float64)
    pool = np.bincount(person, weights=view.released.sizes[match], minlength=len(at)).astype(np.int64)
    width = len(view.released)
    right = right_guesses(
        view,
        at,
        pool,
        lambda released, _, place: np.isin(place * width + released, person * width + match),
    )
    return matched(
        "probabilistic-linkage",
        pair,
        Targets(whole, view, at, public=targets is not None),
        right,
        pool,
        how="takes the most likely record",
        source="Fellegi, Sunter 1969",
        most=most,
        candidates="match best",
        figures=(
            ("one-best", share_of(tried, pool == 1)),
            ("one-best-and-right", float(right[pool == 1].sum() / tried.sum()) if tried.sum() else 0.0),
            ("median-best", weighted_median(pool, tried)),
            ("without-candidate", share_of(tried, pool == 0)),
        ),
        seconds=time.perf_counter() - began,
        notes=(
            Sentence(
                "compared were pairs that agree on {blocks}",
                blocks=Sentence(
                    "{each:; }",
                    each=tuple(
                        Sentence("{names:and}", names=tuple(view.names[j] for j in block))
                        for block in levels.blocks
                    ),
                ),
            ),
        ),
    )


def _required() -> None:
    try:
        import splink  # noqa: F401
    except ImportError as missing:
        raise MissingDependency(
            "probabilistic linkage needs the package splink", remedy="pip install 'discreet[linkage]'"
        ) from missing


class _Levels:
    """How attributes of people and released combinations agree, and how often they do so by chance."""

    def __init__(self, view: View, seed: int) -> None:
        self.view = view
        rng = np.random.default_rng(seed)
        self.chance = [self._chance(j, rng) for j in range(len(view.names))]
        self.bounds = [self._bounds(j) for j in range(len(view.names))]
        target = rng.choice(len(view.targets), DRAWN, p=view.tried / view.tried.sum())
        # Blocking is on combinations, however many records they have.
        released = rng.integers(0, len(view.released), DRAWN)
        agree = np.array([self._agree(j, target, released) for j in range(len(view.names))])
        order = [int(j) for j in np.argsort(-agree.mean(axis=1), kind="stable")[::-1] if agree[j].any()]
        # Two ways to be compared, on different attributes: one changed value must not keep a record out.
        self.blocks = [tuple(order[:2]), tuple(order[2:4])] if len(order) > 3 else [(j,) for j in order[:2]]
        self.share = max(
            sum(float(agree[list(block)].all(axis=0).mean()) for block in self.blocks), 1 / DRAWN
        )

    def hidden(self, j: int) -> BoolArray:
        return self.view.meanings[j].suppressed

    def kinds(self, j: int) -> list[int]:
        """The levels that attribute ``j`` can have."""
        return [0, 1, 2, 3] if not np.isnan(self.view.scales[j][1]) else [0, 1, 3]

    def same(self, j: int) -> FloatArray:
        """How often each level occurs among records of one person, as far as the release itself tells."""
        meaning = self.view.meanings[j]
        records = np.bincount(
            self.view.released.codes[j], weights=self.view.released.sizes, minlength=len(meaning.kinds)
        )
        # What is hidden agrees on no level.
        records[self.hidden(j)] = 0
        foreign = meaning.kinds == KINDS.index("foreign")
        counts = np.array([records[~foreign & (meaning.sizes == 1)].sum(), records[meaning.sizes > 1].sum()])
        told = counts.sum() / max(records.sum(), 1)
        shares = np.array([*(0.98 * counts / max(counts.sum(), 1)), 0.01, 0.01])
        return np.asarray(told * shares + (1 - told) * np.array(CHANGED) + 1e-6)

    def _chance(self, j: int, rng: np.random.Generator) -> FloatArray:
        """How often each level occurs among any person and record."""
        view, meaning = self.view, self.view.meanings[j]
        people = np.bincount(view.targets.codes[j], weights=view.tried, minlength=meaning.original.size)
        records = np.bincount(
            view.released.codes[j], weights=view.released.sizes, minlength=meaning.released.size
        )
        records[self.hidden(j)] = 0
        own, codes = np.flatnonzero(people), np.flatnonzero(records)
        pairs = people[own][:, None] * records[codes]
        if len(codes) > VALUES:
            codes = rng.choice(len(records), VALUES, p=records / records.sum())
            pairs = np.repeat(people[own][:, None] * (records.sum() / VALUES), VALUES, axis=1)
        levels = self._of(j, own[:, None], codes)
        counts = np.bincount(levels.ravel(), weights=pairs.ravel(), minlength=len(LEVELS)) + 0.5
        return np.asarray(counts / counts.sum())

    def _of(self, j: int, own: IntArray, codes: IntArray) -> IntArray:
        """The place in `LEVELS` of each person's value and the released one beside it, of attribute ``j``."""
        meaning, width = self.view.meanings[j], self.view.scales[j][1]
        fits = meaning.covers(codes, own)
        with np.errstate(invalid="ignore"):
            near = np.abs(meaning.original.numbers[own] - meaning.centre[codes]) / width <= NEAR
        return np.where(fits, np.where(meaning.sizes[codes] == 1, 0, 1), np.where(near, 2, 3))

    def _bounds(self, j: int) -> tuple[IntArray, IntArray]:
        """Between which ranks a released code is compared: from its least to its greatest value, or near it."""
        meaning, width = self.view.meanings[j], self.view.scales[j][1]
        count = np.diff(meaning.indptr)
        low, high = np.zeros(len(count), dtype=np.int64), np.zeros(len(count), dtype=np.int64)
        low[count > 0] = meaning.starts[meaning.indptr[:-1][count > 0]]
        high[count > 0] = meaning.stops[meaning.indptr[1:][count > 0] - 1]
        numbers = meaning.original.numbers[meaning.code_at]
        numbers = numbers[~np.isnan(numbers)]
        lone = np.flatnonzero(~np.isnan(meaning.centre) & (count == 0))
        if not np.isnan(width):
            low[lone] = np.searchsorted(numbers, meaning.centre[lone] - NEAR * width)
            high[lone] = np.searchsorted(numbers, meaning.centre[lone] + NEAR * width, side="right")
        return low, high

    def _agree(self, j: int, target: IntArray, released: IntArray) -> BoolArray:
        """Whether pairs agree on attribute ``j``, so that they are compared."""
        meaning, (low, high) = self.view.meanings[j], self.bounds[j]
        own, codes = self.view.targets.codes[j][target], self.view.released.codes[j][released]
        near = (
            (meaning.sizes[codes] == 0)
            & (meaning.rank[own] >= low[codes])
            & (meaning.rank[own] < high[codes])
        )
        return np.asarray(meaning.covers(codes, own) | near)


def _condition(j: int, level: int) -> str:
    """What splink is to check for a level of attribute ``j``: people are on the left, the release on the right."""
    rank, member = f"a{j}_rank_l", f"a{j}_members_r"
    fits = (
        f"({rank} >= a{j}_low_r AND {rank} < a{j}_high_r AND a{j}_size_r > 0 "
        f"AND ({member} IS NULL OR list_contains({member}, {rank})))"
    )
    return {
        -1: f"a{j}_hidden_r",
        0: f"a{j}_size_r = 1 AND {fits}",
        1: fits,
        2: f"abs(a{j}_number_l - a{j}_number_r) <= {NEAR}",
    }[level]


def _rows(view: View, levels: _Levels, at: IntArray, *, released: bool) -> pa.Table:
    """The people (or the released combinations) at ``at`` as splink reads them: ranks, bounds and numbers."""
    columns: dict[str, pa.Array] = {"unique_id": pa.array(np.arange(len(at)))}
    nothing = np.full(len(at), -1)
    for j, meaning in enumerate(view.meanings):
        low, width = view.scales[j]
        if released:
            codes = view.released.codes[j][at]
            lists = [
                meaning.rank[meaning.members(code)].tolist() if ranges > 1 else None
                for code, ranges in enumerate(np.diff(meaning.indptr).tolist())
            ]
            numbers = meaning.centre[codes]
            held = {
                "rank": nothing,
                "low": levels.bounds[j][0][codes],
                "high": levels.bounds[j][1][codes],
                "size": meaning.sizes[codes],
                "hidden": levels.hidden(j)[codes],
            }
            members = pa.array(lists, pa.list_(pa.int64())).take(pa.array(codes))
        else:
            codes = view.targets.codes[j][at]
            numbers = meaning.original.numbers[codes]
            held = {"rank": meaning.rank[codes], "low": nothing, "high": nothing, "size": nothing}
            held["hidden"] = np.zeros(len(at), dtype=bool)
            members = pa.nulls(len(at), pa.list_(pa.int64()))
        scaled = (numbers - low) / width
        columns |= {f"a{j}_{name}": pa.array(values) for name, values in held.items()}
        columns[f"a{j}_number"] = pa.array(scaled, pa.float64(), mask=np.isnan(scaled))
        columns[f"a{j}_members"] = members
    return pa.table(columns)


def _best(view: View, levels: _Levels, at: IntArray) -> tuple[IntArray, IntArray]:
    """For each person at ``at`` the released combinations of the greatest weight, as pairs of places."""
    with _quiet():
        predicted: Any = _linker(view, levels, at).inference.predict(warning_mode="never")
        scored: pa.Table = predicted.as_pyarrow_table()
    person = scored["unique_id_l"].to_numpy().astype(np.int64)
    place = scored["unique_id_r"].to_numpy().astype(np.int64)
    weight = scored["match_weight"].to_numpy()
    top = np.full(len(at), -np.inf)
    np.maximum.at(top, person, weight)
    best = weight >= top[person] - TIE
    return person[best], place[best]


def _linker(view: View, levels: _Levels, at: IntArray) -> Linker:
    """A linker of the people at ``at`` with all released combinations; nothing is fetched from outside."""
    from splink import DuckDBAPI, Linker, SettingsCreator
    from splink import blocking_rule_library as block_library
    from splink import comparison_level_library as level_library
    from splink import comparison_library as library

    comparisons: list[ComparisonCreator | dict[str, Any]] = []
    for j in range(len(view.names)):
        kinds = levels.kinds(j)
        chance, same = (shares[kinds] / shares[kinds].sum() for shares in (levels.chance[j], levels.same(j)))
        made: list[ComparisonLevelCreator | dict[str, Any]] = [
            level_library.CustomLevel(_condition(j, -1)).configure(is_null_level=True)
        ]
        for level, u, m in zip(kinds, chance.tolist(), same.tolist(), strict=True):
            agreement = (
                level_library.ElseLevel() if level == 3 else level_library.CustomLevel(_condition(j, level))
            )
            made.append(agreement.configure(u_probability=u, m_probability=m, label_for_charts=LEVELS[level]))
        comparisons.append(library.CustomComparison(made, output_column_name=f"a{j}"))
    blocks: list[BlockingRuleCreator | dict[str, Any]] = [
        block_library.CustomRule(
            " AND ".join(
                f"l.a{j}_rank >= r.a{j}_low AND l.a{j}_rank < r.a{j}_high "
                f"AND (r.a{j}_members IS NULL OR list_contains(r.a{j}_members, l.a{j}_rank))"
                for j in block
            )
        )
        for block in levels.blocks
    ]
    database = DuckDBAPI()
    database.duckdb_con.execute("SET autoinstall_known_extensions = false")
    # The side whose name sorts first is the left one.
    tables = [
        database.register(_rows(view, levels, at, released=False), dataset_display_name="a_people"),
        database.register(
            _rows(view, levels, np.arange(len(view.released)), released=True),
            dataset_display_name="b_released",
        ),
    ]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=blocks,
        probability_two_random_records_match=1 / max(len(view.released), 2),
        retain_matching_columns=False,
    )
    return Linker(tables, settings, log_level=None)


@contextmanager
def _quiet() -> Iterator[None]:
    """Only errors of splink are logged: its progress is not ours to print."""
    logger = logging.getLogger("splink")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
