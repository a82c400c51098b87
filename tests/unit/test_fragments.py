"""Fragments: FMRMR as the review defines it, what must not be seen together, and loose associations."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import GoalUnreachable, InvalidParameter, InvalidPolicy, RequirementNotMet, UnknownColumn
from discreet.perturb.randomness import Randomness
from discreet.policy.guarantee import DifferentialPrivacy
from discreet.search.fragments import fmrmr as module
from discreet.search.fragments.fmrmr import FragmentSearch, fmrmr, information
from discreet.search.fragments.loose import loosely_grouped
from helpers.adult import ADULT_COLUMNS

Run = Callable[..., Any]
GENERATOR = np.random.default_rng(2)
PEOPLE = pa.table(
    {
        "name": [f"p{i}" for i in range(60)],
        "job": GENERATOR.choice(["baker", "smith", "nurse", "clerk"], 60),
        "town": GENERATOR.choice(["Graz", "Linz", "Wels"], 60),
        "born": GENERATOR.permutation(60) + 1940,
        "ill": GENERATOR.choice(["flu", "cold", "gout", "acne", "none"], 60),
        "pay": GENERATOR.permutation(60) * 10,
    }
)
POLICY = discreet.Policy.of(
    quasi_identifiers=["job", "town", "born"], sensitive=["ill", "pay"], direct_identifiers=["name"]
)


def by_loops(rows: list[tuple[int, ...]], a: int, b: int) -> float:
    """Equation 30 of the review, term by term."""
    total = len(rows)
    value = 0.0
    for x, y in product({row[a] for row in rows}, {row[b] for row in rows}):
        both = sum(row[a] == x and row[b] == y for row in rows) / total
        if both:
            first, second = sum(row[a] == x for row in rows) / total, sum(row[b] == y for row in rows) / total
            value += both * log2(both / (first * second))
    return value


# ── FMRMR ─────────────────────────────────────────────────────────────────────────────────────────────

SMALL = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=12)


@given(SMALL)
def test_scores_are_those_of_the_formulas(rows: list[tuple[int, ...]]) -> None:
    table = information([np.array(column) for column in zip(*rows, strict=True)])
    pairs = {(a, b): by_loops(rows, a, b) for a in range(4) for b in range(4)}
    for (a, b), value in pairs.items():
        assert table[a, b] == pytest.approx(value, abs=1e-9)
    fragments = [[0, 1], [2]]
    supervised = sum(
        sum(pairs[3, j] for j in each) / len(each)
        - sum(pairs[k, j] for k in each for j in each) / len(each) ** 2
        for each in fragments
    )
    assert fmrmr(table, fragments, target=3) == pytest.approx(supervised, abs=1e-9)
    extended = [[0, 1, 3], [2, 3]]
    unsupervised = -sum(sum(pairs[k, j] for k in each for j in each) / len(each) ** 2 for each in extended)
    assert fmrmr(table, fragments, target=None, common=[3]) == pytest.approx(unsupervised, abs=1e-9)


@given(SMALL, st.integers(2, 3), st.booleans())
def test_the_best_of_all_fragmentations_is_found(
    rows: list[tuple[int, ...]], count: int, supervised: bool
) -> None:
    table = information([np.array(column) for column in zip(*rows, strict=True)])
    columns = (0, 1, 2) if supervised else (0, 1, 2, 3)
    search = FragmentSearch(table, columns, count, target=3 if supervised else None)
    best = search.score(search.best())
    for places in product(range(count), repeat=len(columns)):
        if len(set(places)) == count:
            fragments = [[c for c, at in zip(columns, places, strict=True) if at == f] for f in range(count)]
            assert search.score(fragments) <= best + 1e-9


def test_moves_and_exchanges_come_near_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [GENERATOR.integers(0, 3, 40) for _ in range(3)]
    codes += [codes[0], (codes[1] + codes[2]) % 3, GENERATOR.integers(0, 2, 40)]
    search = FragmentSearch(
        information(codes), tuple(range(6)), 2, apart=(frozenset({1, 2}), frozenset({4, 5}))
    )
    best = search.score(search.best())
    monkeypatch.setattr(module, "MOST_TRIED", 0)
    moved = search.best()
    assert all(map(search.allowed, moved))
    assert sorted(column for each in moved for column in each) == list(range(6))
    assert search.score(moved) >= best - 0.1


def test_the_example_of_the_review(data_dir: Path) -> None:
    """Figure 10: education and education-num tell 2.93 bits of each other, race and sex 0.01."""
    adult = discreet.read(data_dir / "adult/adult.data.gz", header=False, names=ADULT_COLUMNS).to_arrow()
    names = ["education", "education-num", "race", "sex"]
    table = information(
        [
            adult[name].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
            for name in names
        ]
    )
    assert round(float(table[0, 1]), 2) == 2.93
    assert round(float(table[2, 3]), 2) == 0.01
    made = discreet.fragment(
        adult.select([*names, "income"]),
        discreet.Policy.of(quasi_identifiers=names, sensitive=["income"]),
        target="income",
    )
    apart = [set(each.columns) for each in made.fragments]
    assert not any({"education", "education-num"} <= each for each in apart)
    assert all("income" in each for each in apart)


# ── what must not be seen together ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tried", [20_000, 0])
def test_no_fragment_shows_a_confidential_set(monkeypatch: pytest.MonkeyPatch, tried: int) -> None:
    monkeypatch.setattr(module, "MOST_TRIED", tried)
    sets = [["job", "ill"], ["town", "ill"], ["born", "pay"], ["name"]]
    made = discreet.fragment(PEOPLE, POLICY, confidential=sets)
    columns = [set(each.columns) for each in made.fragments]
    assert not any(set(each) <= shown for each in sets for shown in columns)
    assert set.union(*columns) == {"job", "town", "born", "ill", "pay"}
    assert not columns[0] & columns[1]
    with pytest.raises(GoalUnreachable):
        discreet.fragment(
            PEOPLE, POLICY, confidential=[list(pair) for pair in combinations(["job", "town", "ill"], 2)]
        )


def test_each_fragment_tells_what_it_reveals() -> None:
    made = discreet.fragment(PEOPLE, POLICY, common=["town"])
    for each in made.fragments:
        counts = Counter(tuple(row.values()) for row in each.rows.to_pylist())
        assert (each.smallest, each.unique) == (min(counts.values()), sum(n == 1 for n in counts.values()))
        assert each.joined == min(Counter(PEOPLE["town"].to_pylist()).values())
        assert sorted(each.rows.to_pylist(), key=str) == sorted(
            PEOPLE.select(each.columns).to_pylist(), key=str
        )


# ── loose associations ────────────────────────────────────────────────────────────────────────────────


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=40),
    st.integers(2, 4),
    st.integers(0, 5),
)
def test_groups_have_k_records_and_no_two_alike(drawn: list[tuple[int, int]], k: int, seed: int) -> None:
    sides = [np.array(column) for column in zip(*drawn, strict=True)]
    try:
        groups = loosely_grouped(sides, k, Randomness(seed))
    except GoalUnreachable:
        return
    assert min(Counter(groups.tolist()).values()) >= k
    for side in sides:
        assert len(set(zip(groups.tolist(), side.tolist(), strict=True))) == len(drawn)


def test_loose_fragments_give_no_tie_more_than_one_in_k() -> None:
    made = discreet.fragment(PEOPLE, POLICY, confidential=[["job", "ill"]], k=3)
    where = {name: each.rows for each in made.fragments for name in each.columns}
    jobs, ills = (defaultdict(Counter[str], {}) for _ in range(2))
    for table, name, told in ((where["job"], "job", jobs), (where["ill"], "ill", ills)):
        for row in table.to_pylist():
            told[row["group"]][row[name]] += 1
    assert jobs.keys() == ills.keys()
    for group, inside in jobs.items():
        assert sum(inside.values()) >= 3
        assert max(inside.values()) == 1
        assert max(ills[group].values()) == 1


def test_written_fragments_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = discreet.fragment(PEOPLE, POLICY, confidential=[["job", "ill"]], k=2)
    written = made.save(tmp_path / "parts")
    assert [path.name for path in written] == ["fragment-1.csv", "fragment-2.csv"]
    assert pyarrow.csv.read_csv(written[0]).num_rows == 60
    with pytest.raises(InvalidParameter, match="not empty"):
        made.save(tmp_path / "parts")
    rows = made.fragments[0].rows
    one = rows.set_column(rows.column_names.index("group"), "group", pa.array([1] * 60))
    assert made.complaint([one, made.fragments[1].rows]) != ""
    assert made.complaint([each.rows for each in made.fragments]) == ""
    monkeypatch.setattr(type(made), "complaint", lambda self, tables: "a group is too small")
    with pytest.raises(RequirementNotMet, match="a group is too small"):
        made.save(tmp_path / "others")
    assert not (tmp_path / "others").exists()


# ── what is refused ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"count": 1}, InvalidParameter),
        ({"count": 6}, InvalidParameter),
        ({"target": "pays"}, UnknownColumn),
        ({"target": "pay", "common": ["town"]}, InvalidParameter),
        ({"confidential": [["job", "illness"]]}, UnknownColumn),
        ({"confidential": [[]]}, InvalidParameter),
        ({"confidential": [["town", "pay"]], "common": ["town", "pay"]}, InvalidParameter),
        ({"k": 3}, InvalidParameter),
        ({"k": 1, "confidential": [["job", "ill"]]}, InvalidParameter),
        ({"k": 3, "target": "pay", "confidential": [["job", "ill"]]}, InvalidParameter),
        ({"k": 3, "column": "town", "confidential": [["job", "ill"]]}, InvalidParameter),
        ({"k": 30, "confidential": [["job", "ill"]]}, GoalUnreachable),
    ],
)
def test_bad_parameters(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        discreet.fragment(PEOPLE, POLICY, **given)


def test_requirements_are_not_forgotten() -> None:
    with pytest.raises(InvalidPolicy, match="requires privacy models"):
        discreet.fragment(PEOPLE, POLICY.require(discreet.KAnonymity(3)))
    with pytest.raises(
        InvalidPolicy, match="differential privacy is required, which no change of values gives"
    ):
        discreet.fragment(PEOPLE, replace(POLICY, guarantees=(DifferentialPrivacy(1),)))


def test_missing_values_are_one_value_in_a_group_however_they_are_written() -> None:
    """Of a group of ?, nothing and flu two thirds of the people have no diagnosis: that would be tied with a chance of 2 in 3."""
    people = pa.table(
        {"job": [f"j{i}" for i in range(24)], "ill": ["?", None, "flu", "cold", "gout", "acne"] * 4}
    )
    policy = discreet.Policy.of(quasi_identifiers=["job"], sensitive=["ill"])
    for seed in range(10):
        made = discreet.fragment(people, policy, confidential=[["job", "ill"]], k=3, seed=seed)
        (rows,) = [each.rows for each in made.fragments if "ill" in each.columns]
        told = zip(rows["group"].to_pylist(), rows["ill"].to_pylist(), strict=True)
        missing = Counter(group for group, ill in told if ill in ("?", None))
        assert max(missing.values()) == 1
        tables = [each.rows for each in made.fragments]
        assert made.complaint(tables) == ""
        at = tables.index(rows)
        flu = rows["ill"].to_pylist().index("flu")
        group = rows["group"].to_pylist()[flu]
        if missing[group]:
            ill = [None if i == flu else value for i, value in enumerate(rows["ill"].to_pylist())]
            tables[at] = rows.set_column(rows.column_names.index("ill"), "ill", pa.array(ill))
            assert made.complaint(tables) == "two records of a group are alike in what is confidential"


def test_the_note_does_not_claim_more_than_groups_hide() -> None:
    """Who is born in which year says how old they are: where one fragment has the one and one the other, every row is tied."""
    people = pa.table(
        {
            "born": [1950 + i for i in range(12)],
            "age": [74 - i for i in range(12)],
            "job": ["a", "b", "c", "d"] * 3,
        }
    )
    policy = discreet.Policy.of(quasi_identifiers=["born", "age", "job"])
    made = discreet.fragment(people, policy, confidential=[["born", "age"], ["born", "job"]], k=3)
    assert all(not {"born", "age"} <= set(each.columns) for each in made.fragments)
    assert any("to whoever knows of no dependence between their columns" in note for note in made.notes)


@pytest.mark.parametrize(
    ("rows", "common", "tied"), [(12, ["born"], 12), (12, ["job"], 0), (1, [], 1), (2, [], 0)]
)
def test_it_is_told_who_is_tied_for_certain(rows: int, common: list[str], tied: int) -> None:
    """A column that stands in every fragment and tells records apart shows everything together."""
    people = pa.table(
        {
            "born": [1950 + i for i in range(rows)],
            "job": ["a", "b", "c", "d"][: max(rows // 3, 1)] * min(rows, 3),
            "pay": [i % 5 for i in range(rows)],
            "ill": [f"{i % 4}" for i in range(rows)],
        }
        if rows > 2
        else {name: list(range(rows)) for name in ("born", "job", "pay", "ill")}
    )
    policy = discreet.Policy.of(quasi_identifiers=["born", "job", "pay"], sensitive=["ill"])
    made = discreet.fragment(people, policy, confidential=[["pay", "ill"]], common=common)
    notes = [note for note in made.notes if "with no other" in note]
    assert notes == [] if not tied else notes[0].startswith(f"{tied} records share")


def test_the_command_writes_fragments(tmp_path: Path, run: Run) -> None:
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    done = run(
        "fragment",
        str(tmp_path / "people.csv"),
        *("--qi", "job,town,born", "--sensitive", "ill,pay", "--identifiers", "name"),
        *("--confidential", "job,ill", "--confidential", "born,pay", "--loose", "2"),
        *("-o", str(tmp_path / "parts"), "--json", "--recipe", str(tmp_path / "how.json")),
    )
    assert done.code == 0, done.err
    told = json.loads(done.out)
    recipe = json.loads((tmp_path / "how.json").read_text())
    assert (recipe["method"], recipe["k"]) == ("loose associations", 2)
    assert recipe["fragments"] == [each["columns"] for each in told["fragments"]]
    assert [each["smallest_join"] >= 2 for each in told["fragments"]] == [True, True]
    assert (tmp_path / "parts" / "fragment-2.csv").is_file()
