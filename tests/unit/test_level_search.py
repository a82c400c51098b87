"""The search for levels: scores against enumeration, one record moves them no further than is said, and choices keep their ε."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.dp import level_search
from discreet.dp.generalization import ReleasedColumn
from discreet.dp.ledger import Ledger
from discreet.dp.level_search import RECORD, SCORES, LevelSearch, Sampling, ValueCombinations
from discreet.errors import InvalidParameter
from discreet.table.hierarchies.hierarchy import Hierarchy
from helpers.neighbours import violation

ZIPS = Hierarchy.of("zip", [[str(z), f"{z // 2}*", "*"] for z in range(10, 14)])
SEXES = Hierarchy.of("sex", [["f", "*"], ["m", "*"]])
COLUMNS = [
    ReleasedColumn("zip", ZIPS, (0, 1, 2)),
    ReleasedColumn("sex", SEXES, (0, 1)),
    ReleasedColumn("ill", None, (0,)),
]
records = st.tuples(
    st.sampled_from([10, 11, 12, 13, 99]), st.sampled_from(["f", "m", None]), st.sampled_from("yn")
)


def table(rows: list[tuple[object, ...]]) -> pa.Table:
    zips, sexes, ills = ([row[i] for row in rows] for i in range(3))
    return pa.table(
        {
            "zip": pa.array(zips, pa.int64()),
            "sex": pa.array(sexes, pa.string()),
            "ill": pa.array(ills, pa.string()),
        }
    )


def generalized(row: tuple[object, ...], levels: tuple[int, ...]) -> tuple[object, ...]:
    trees = {0: {r[0]: r for r in ZIPS.rows()}, 1: {r[0]: r for r in SEXES.rows()}}
    return tuple(
        row[i] if not level else trees[i].get(str(row[i]), ["*"] * 3)[level] for i, level in enumerate(levels)
    )


def precision(label: object, place: int, level: int) -> float:
    """What a shown value still says, by hand."""
    if not level:
        return 1.0
    return {"zip": {1: 2 / 3}, "sex": {}}[("zip", "sex")[place]].get(level, 0.0) if label != "*" else 0.0


@settings(max_examples=15, deadline=None)
@given(
    st.lists(records, min_size=1, max_size=7), st.sampled_from([(1, 0, 0), (0, 1, 0), (2, 1, 0), (1, 1, 0)])
)
def test_scores_are_the_average_over_all_samples(
    rows: list[tuple[object, ...]], levels: tuple[int, ...]
) -> None:
    """Every sample of a small table, with its probability, by hand."""
    sampling = Sampling(0.4, 2)
    wanted = Counter[str]()
    for kept in itertools.product((False, True), repeat=len(rows)):
        probability = math.prod(0.4 if keep else 0.6 for keep in kept)
        sizes = Counter(generalized(row, levels) for row, keep in zip(rows, kept, strict=True) if keep)
        shown = {label: n for label, n in sizes.items() if n >= 2}
        for label, n in shown.items():
            worth = np.mean([precision(label[i], i, levels[i]) for i in range(2)])
            wanted["granularity"] += probability * n * worth / 0.4
            wanted["intensity"] += probability * n * np.mean([1 - levels[0] / 2, 1 - levels[1]]) / 0.4
            wanted["group-size"] += probability
    space = ValueCombinations(table(rows), COLUMNS, None)
    for name in ("granularity", "intensity", "group-size"):
        found = SCORES[name].worth(space, sampling, levels) / RECORD
        assert found == pytest.approx(wanted[name], abs=len(rows) * 1e-3), name


@settings(max_examples=25, deadline=None)
@given(st.lists(records, max_size=30), records, st.integers(1, 6), st.sampled_from([0.3, 0.63, 0.9]))
def test_one_record_moves_a_score_no_further_than_its_sensitivity(
    rows: list[tuple[object, ...]], further: tuple[object, ...], k: int, share: float
) -> None:
    sampling = Sampling(share, k)
    for name, score in SCORES.items():
        target = "ill" if name == "classification" else None
        fewer, more = (ValueCombinations(table(part), COLUMNS, target) for part in (rows, [*rows, further]))
        for levels in itertools.product((0, 1, 2), (0, 1), (0,)):
            change = score.worth(more, sampling, levels) - score.worth(fewer, sampling, levels)
            assert abs(change) <= score.sensitivity(sampling), name
            assert not score.monotone or change >= 0, name


def test_the_sensitivity_is_reached_and_far_below_k() -> None:
    """By classes of every size: the largest change of one of them is what is said."""
    sampling = Sampling(0.632, 61)
    shown = [sampling.records(np.array([n]))[0] for n in range(500)]
    assert max(b - a for a, b in itertools.pairwise(shown)) == sampling.step
    assert 1 < sampling.step / level_search.PARTS < 61 / 8


def test_choices_keep_their_epsilon_and_a_wrong_copy_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables that differ in a record which makes zip codes better than sexes; 600 draws of the levels of each."""
    sampling = Sampling(0.5, 4)
    rows: list[tuple[object, ...]] = [(10, f"x{i}", "y") for i in range(8)] + [(99, "m", "y")] * 7
    pair = [table(rows), table([*rows, (10, "x", "y")])]
    search = LevelSearch("granularity", 1, Fraction(1))

    def draws(part: pa.Table) -> list[float]:
        codes = (search.levels(part, COLUMNS, sampling) for _ in range(600))
        return [float(zip_level * 2 + sex_level) for zip_level, sex_level, _ in codes]

    assert not violation(draws(pair[0]), draws(pair[1]), 1.0)
    wrong = replace(SCORES["granularity"], sensitivity=lambda sampling: level_search.WEIGHT)
    monkeypatch.setitem(SCORES, "granularity", wrong)
    assert violation(draws(pair[0]), draws(pair[1]), 1.0)


def test_with_much_epsilon_the_best_of_all_levels_is_chosen() -> None:
    sampling = Sampling(0.6, 5)
    rows = [(10 + i % 4, "fm"[i % 2], "yn"[i % 3 == 0]) for i in range(120)]
    for name, score in SCORES.items():
        target = "ill" if name == "classification" else None
        space = ValueCombinations(table(rows), COLUMNS, target)
        best = max(
            score.worth(space, sampling, levels) for levels in itertools.product((0, 1, 2), (0, 1), (0,))
        )
        chosen = LevelSearch(name, 6, Fraction(10**6), target).levels(table(rows), COLUMNS, sampling)
        assert score.worth(space, sampling, chosen) == best, name


def test_columns_keep_their_levels_where_the_target_is_not_the_last(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget")
    ledger.set_budget(200, "0.5")
    rows = table([(10 + i % 4, "fm"[i % 2], "yn"[i % 2]) for i in range(2000)]).select(["ill", "zip", "sex"])
    made = discreet.safepub(
        rows,
        epsilon=101,
        delta="1e-5",
        levels={"ill": 0},
        hierarchies={"zip": ZIPS, "sex": SEXES},
        search_epsilon=100,
        score="classification",
        target="ill",
        ledger=ledger,
    )
    assert made.levels["ill"] == 0
    assert set(made.levels) == {"ill", "zip", "sex"}
    assert set(made.rows["zip"].to_pylist()) <= {
        str(label) for label in ZIPS.labels[made.levels["zip"]]
    } | set(range(10, 14))
    assert made.guarantee.tuning == "levels were searched for with ε 100, the sample has ε 1"
    assert ledger.balance().spent_epsilon == 101


def test_degrees_are_parts_of_the_height_and_bad_searches_are_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget")
    ledger.set_budget(10, "0.5")
    rows = table([(10 + i % 4, "fm"[i % 2], "y") for i in range(500)])
    terms = {"epsilon": 1, "delta": "1e-5", "ledger": ledger, "hierarchies": {"zip": ZIPS, "sex": SEXES}}
    for degree, levels in (("low", (0, 0)), ("low-medium", (1, 0)), ("medium", (1, 1)), ("high", (2, 1))):
        made = discreet.safepub(rows, degree=degree, **terms)  # type: ignore[arg-type]
        assert tuple(made.levels.values()) == levels
    for change, reason in (
        ({"degree": "some"}, "the degree is"),
        ({"degree": "low", "search_epsilon": "0.1"}, "either searched for"),
        ({"search_epsilon": 1}, "takes all of"),
        ({"search_epsilon": "0.1", "score": "beauty"}, "the score is"),
        ({"search_epsilon": "0.1", "steps": 0}, "steps is 0"),
        ({"search_epsilon": "0.1", "score": "classification"}, "a target belongs"),
        ({"search_epsilon": "0.1", "score": "classification", "target": "ill"}, "the target has no level"),
        ({"search_epsilon": "0.1", "levels": {"zip": 0, "sex": 0}}, "no level is left"),
        ({"search_epsilon": "1e-12"}, "nothing but noise"),
        ({"degree": "low", "target": "ill"}, "no level is searched for"),
        ({}, "no column is released"),
    ):
        with pytest.raises(InvalidParameter, match=reason):
            discreet.safepub(rows, **{**terms, **change})  # type: ignore[arg-type]
    assert ledger.balance().spent_epsilon == 4
