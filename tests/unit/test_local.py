"""Local recoding on tables whose cheapest generalisations can be found by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from discreet.classes import EquivalenceClasses
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.search import local
from discreet.search.local import local_recoding
from discreet.search.problem import Problem, make_problem
from discreet.table.hierarchy import Hierarchy
from discreet.transform.recoding import Recoding

ZIPS = [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"], ["2021", "202*", "*"]]
SEXES = [["f", "*"], ["m", "*"]]


def problem(
    columns: Mapping[str, Sequence[object]],
    trees: Mapping[str, list[list[str]]],
    models: Sequence[PrivacyModel],
    *,
    sensitive: Mapping[str, Sequence[object]] | None = None,
    person: Sequence[object] | None = None,
) -> Problem:
    classes = EquivalenceClasses.from_columns(columns, sensitive=sensitive, person=person)
    ladders = [Hierarchy.of(d.name, trees[d.name]).ladder(d) for d in classes.attributes]
    return make_problem(classes, ladders, models)


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
