"""Local recoding on tables whose cheapest generalisations can be found by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.search.local import search as local
from discreet.search.local.search import local_recoding
from discreet.search.local.space import screen_of
from discreet.search.mondrian.space import space_of
from discreet.search.problem import Problem, make_problem
from discreet.search.requirements import on_groups
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.loss import leaf_share_loss
from discreet.transform.recoding import Recoding
from discreet.utility.objectives.registry import OBJECTIVES, build_objective

ZIPS = [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"], ["2021", "202*", "*"]]
SEXES = [["f", "*"], ["m", "*"]]


def problem(
    columns: Mapping[str, Sequence[object]],
    trees: Mapping[str, list[list[str]]],
    models: Sequence[PrivacyModel],
    *,
    sensitive: Mapping[str, Sequence[object]] | None = None,
    person: Sequence[object] | None = None,
    limit: float = 0.0,
    objective: str = "loss",
    weight: float = 1.0,
) -> Problem:
    classes = EquivalenceClasses.from_columns(columns, sensitive=sensitive, person=person)
    ladders = [Hierarchy.of(d.name, trees[d.name]).ladder(d) for d in classes.attributes]
    return make_problem(
        classes,
        ladders,
        models,
        suppression_limit=limit,
        objective=build_objective(objective),
        suppression_weight=weight,
    )


def cells(recoding: Recoding) -> list[tuple[str, ...]]:
    """New values of every class, in the order of the classes."""
    columns = [column.per_class().to_pylist() for column in recoding.columns]
    return [tuple(str(cell) for cell in row) for row in zip(*columns, strict=True)]


def test_every_group_stands_at_the_level_it_needs() -> None:
    asked = problem({"zip": ["1010", "1010", "1011", "1011", "2020", "2021"]}, {"zip": ZIPS}, [KAnonymity(2)])
    found = local_recoding(asked)
    assert cells(found) == [("1010",), ("1011",), ("202*",), ("202*",)]
    assert found.suppressed_records == 0
    assert found.shares.tolist() == [[0.25, 0.25, 0.5, 0.5]]


def test_what_is_left_joins_where_the_loss_grows_least() -> None:
    # The lone 2021 can only go up: with the three of 1010 or of 2020. Under 202* it costs least.
    columns = {"zip": ["1010"] * 3 + ["2020"] * 3 + ["2021"]}
    found = local_recoding(problem(columns, {"zip": ZIPS}, [KAnonymity(3)]))
    assert cells(found) == [("1010",), ("202*",), ("202*",)]
    assert found.suppressed_records == 0


def test_a_cell_is_the_common_ancestor_of_what_is_there() -> None:
    # Zip and sex are generalised together, but only where a group's own values differ.
    columns = {"zip": ["1010", "1011", "2020", "2020"], "sex": ["f", "f", "m", "f"]}
    found = local_recoding(problem(columns, {"zip": ZIPS, "sex": SEXES}, [KAnonymity(2)]))
    assert cells(found) == [("101*", "f"), ("101*", "f"), ("2020", "*"), ("2020", "*")]


def test_a_null_is_a_leaf_below_the_root() -> None:
    found = local_recoding(problem({"zip": ["1010", "1010", None, None]}, {"zip": ZIPS}, [KAnonymity(2)]))
    assert [column.printed() for column in found.columns] == [["1010", "∅"]]
    one = local_recoding(problem({"zip": ["1010", "1011", None]}, {"zip": ZIPS}, [KAnonymity(2)]))
    assert cells(one) == [("*",)] * 3


def test_persons_are_counted_not_records() -> None:
    columns = {"zip": ["1010", "1010", "1011", "2020", "2021"]}
    found = local_recoding(problem(columns, {"zip": ZIPS}, [KAnonymity(2)], person=["a", "a", "b", "c", "d"]))
    assert cells(found) == [("101*",)] * 2 + [("202*",)] * 2


def test_left_over_values_do_not_break_diversity() -> None:
    # 1010 is diverse by itself; what is left has one diagnosis only and must be taken in.
    columns = {"zip": ["1010", "1010", "1011", "2020"]}
    model = LDiversity(2, "dx")
    found = local_recoding(
        problem(columns, {"zip": ZIPS}, [model], sensitive={"dx": ["flu", "acne", "flu", "flu"]})
    )
    assert found.suppressed_records == 0
    assert model.satisfied(found.regrouped())
    assert cells(found) == [("*",)] * 3


def test_closeness_compares_with_the_whole_table() -> None:
    # The table has a in 1/2. 1010 and 1011 have it, too, and are settled first; 2020 and 2021 have it in
    # 1 and 0: among themselves they would be off by 1/2, together they are as the table.
    columns = {"zip": ["1010", "1010", "1011", "1011", "2020", "2021"]}
    model = TCloseness(0.1, "dx")
    asked = problem(columns, {"zip": ZIPS}, [model], sensitive={"dx": ["a", "b", "a", "b", "a", "b"]})
    found = local_recoding(asked)
    assert cells(found) == [("1010",), ("1011",), ("202*",), ("202*",)]
    assert model.satisfied(found.regrouped())


def test_closeness_of_what_is_left_is_not_measured_on_what_is_left() -> None:
    # Settled: 1010 (a 1/2, as far as 1/6 from the table's 2/3). Left: only a's. Compared among themselves
    # they would be perfectly close; compared with the table they are 1/3 off and must not stand alone.
    columns = {"zip": ["1010", "1010", "1010", "1010", "2020", "2021"]}
    model = TCloseness(0.2, "dx")
    asked = problem(columns, {"zip": ZIPS}, [model], sensitive={"dx": ["a", "b", "a", "b", "a", "a"]})
    found = local_recoding(asked)
    assert model.satisfied(found.regrouped())
    assert cells(found) == [("*",)] * 3


def test_when_the_table_itself_fails_everything_is_suppressed() -> None:
    found = local_recoding(problem({"zip": ["1010", "2020"]}, {"zip": ZIPS}, [KAnonymity(3)]))
    assert not found.kept.any()
    assert found.suppressed_records == 2


@pytest.mark.parametrize("most", [1, 2, 5])
def test_large_lattices_are_visited_in_part(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "MOST_NODES", most)
    columns = {"zip": ["1010", "1011", "2020", "2020", "2021"], "sex": ["f", "f", "m", "f", "m"]}
    found = local_recoding(problem(columns, {"zip": ZIPS, "sex": SEXES}, [KAnonymity(2)]))
    assert found.suppressed_records == 0
    assert KAnonymity(2).satisfied(found.regrouped())
    assert ("*", "*") not in cells(found)


def test_progress_is_told() -> None:
    said: list[str] = []
    asked = problem({"zip": ["1010", "1011", "2020", "2020"]}, {"zip": ZIPS}, [KAnonymity(2)])
    local_recoding(asked, progress=said.append)
    assert any("visiting" in text for text in said)


ALONE = {"zip": ["1010"] * 3 + ["2020"] * 3 + ["2021"]}


def test_a_record_is_suppressed_where_that_costs_less() -> None:
    # With 2021 the four under 202* lose (1/2 - 1/4) / (1 - 1/4) = 1/3 each, 4/3 together; without it 1.
    found = local_recoding(problem(ALONE, {"zip": ZIPS}, [KAnonymity(3)], limit=0.2))
    assert found.suppressed_records == 1
    assert found.kept.tolist() == [True, True, False]
    assert cells(found)[:2] == [("1010",), ("2020",)]


@pytest.mark.parametrize(("limit", "weight"), [(0.1, 1.0), (0.2, 1.5), (0.0, 0.1)])
def test_a_record_stays_where_suppression_is_dear_or_not_allowed(limit: float, weight: float) -> None:
    found = local_recoding(problem(ALONE, {"zip": ZIPS}, [KAnonymity(3)], limit=limit, weight=weight))
    assert found.suppressed_records == 0
    assert cells(found) == [("1010",), ("202*",), ("202*",)]


def test_whole_groups_go_where_suppression_is_cheap() -> None:
    # 2020 and 2021 have only each other: 1/3 each generalised, 1/10 each suppressed.
    columns = {"zip": ["1010"] * 8 + ["2020", "2021"]}
    found = local_recoding(problem(columns, {"zip": ZIPS}, [KAnonymity(2)], limit=0.2, weight=0.1))
    assert found.kept.tolist() == [True, False, False]


def test_suppression_that_breaks_closeness_to_the_release_is_not_done() -> None:
    # Without 2021 (an a) the release has a in 3/6, and 1010 with 3/4 would be 1/4 off; the table has it in 4/7.
    columns = {"zip": ["1010"] * 4 + ["2020"] * 2 + ["2021"]}
    dx = ["a", "a", "a", "b", "b", "b", "a"]
    model = TCloseness(0.6, "dx")
    loose = local_recoding(problem(columns, {"zip": ZIPS}, [model], sensitive={"dx": dx}, limit=0.3))
    assert loose.kept.all()
    asked = [KAnonymity(2), model]
    alone = local_recoding(problem(columns, {"zip": ZIPS}, asked, sensitive={"dx": dx}, limit=0.3))
    assert alone.kept.tolist() == [True, True, False] or alone.kept.all()
    for one in asked:
        assert one.satisfied(alone.shown())


def test_the_objective_decides_what_is_cheap() -> None:
    # By leaves, two of four zips (1/3) are cheaper than both sexes (1); by levels, zip costs 1/2 and sex 1;
    # with a weight on zip it is the other way round.
    columns = {"zip": ["1010", "1010", "1011", "1011"], "sex": ["f", "m", "f", "m"]}
    trees = {"zip": ZIPS, "sex": SEXES}
    for objective in ("loss", "precision"):
        found = local_recoding(problem(columns, trees, [KAnonymity(2)], objective=objective))
        assert {row[0] for row in cells(found)} == {"101*"}
        assert {row[1] for row in cells(found)} == {"f", "m"}
    asked = replace(problem(columns, trees, [KAnonymity(2)]), weights={"zip": 9.0})
    assert {row[1] for row in cells(local_recoding(asked))} == {"*"}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_gives_a_valid_recoding(objective: str) -> None:
    rng = np.random.default_rng(3)
    tree = [[str(v), f"pair{v // 2}", "low" if v < 4 else "high", "*"] for v in range(6)]
    columns = {f"q{j}": rng.binomial(5, 0.3, 120).tolist() for j in range(3)}
    dx = {"dx": rng.integers(0, 3, 120).tolist()}
    trees = dict.fromkeys(columns, tree)
    asked = [KAnonymity(3), TCloseness(0.4, "dx")]
    for limit in (0.0, 0.1):
        found = local_recoding(problem(columns, trees, asked, sensitive=dx, objective=objective, limit=limit))
        assert found.suppressed_records <= limit * 120
        for model in asked:
            assert model.satisfied(found.shown())


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [KAnonymity(5), LDiversity(3, "dx", kind="entropy"), LDiversity(2, "dx", kind="simple"),
              TCloseness(0.3, "dx"), LDiversity(3, "dx")]
)  # fmt: skip
def test_grouping_anew_lowers_the_loss(model: PrivacyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    tree = [[str(v), f"{v // 3}*", f"{v // 9}**", "*"] for v in range(27)]
    columns = {f"q{j}": rng.binomial(26, 0.3, 600).tolist() for j in range(3)}
    dx = {"dx": rng.integers(0, 5, 600).tolist()}
    asked = problem(columns, dict.fromkeys(columns, tree), [model], sensitive=dx)
    after = local_recoding(asked)
    again = local_recoding(asked)
    assert (after.shares == again.shares).all()
    monkeypatch.setattr(local, "ROUNDS", 0)
    before = local_recoding(asked)
    assert leaf_share_loss(after) < leaf_share_loss(before)
    for found in (before, after):
        assert found.kept.all()
        assert model.satisfied(found.regrouped())


def test_groups_of_many_classes_are_grouped_anew_too() -> None:
    """Sixty-four towns in two countries, each with one record: two groups of 32 that mix the countries fall apart."""
    trees = {"town": [[f"{i:02}", "a" if i < 32 else "b", "*"] for i in range(64)]}
    asked = problem({"town": [f"{i:02}" for i in range(64)]}, trees, [KAnonymity(32)])
    models = on_groups(asked.models)
    space, others = space_of(asked.classes, models, asked.ladders, style="hierarchy", weights=None)
    screen = screen_of(asked.classes, others)
    mixed = np.arange(64) % 2
    parted = local._regrouped(asked.classes, space, screen, others, mixed, math.inf, lambda _: None)
    assert [len(set(parted[:32].tolist())), len(set(parted[32:].tolist()))] == [1, 1]
    assert parted[0] != parted[63]


def test_several_groups_give_up_a_class() -> None:
    # A stranger stands beside the three of 1010 and of 2020; both go.
    columns = {"zip": ["1010"] * 3 + ["1011"] + ["2020"] * 3 + ["2021"], "sex": ["f", "f", "f", "m"] * 2}
    found = local_recoding(problem(columns, {"zip": ZIPS, "sex": SEXES}, [KAnonymity(3)], limit=0.5))
    assert found.suppressed_records == 2
    assert sorted(cells(found)[i] for i in np.flatnonzero(found.kept)) == [("1010", "f"), ("2020", "f")]
