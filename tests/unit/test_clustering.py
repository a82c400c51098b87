"""k-member clustering: clusters checked by hand, further models, persons, and the loss on Adult."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read
from discreet.errors import EmptyTable, InvalidParameter, UnknownColumn
from discreet.privacy import BetaLikeness, KAnonymity, LDiversity, TCloseness
from discreet.search.clusters.k_member import k_member
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.recoding import Recoding


def cells(found: Recoding, name: str) -> list[object]:
    column = found.columns[found.classes.index(name)]
    return [column.values[int(code)].as_py() for code in column.codes]


def cost(found: Recoding) -> float:
    """Records times share, over all attributes."""
    return float((found.shares @ found.classes.records).sum())


def test_those_alike_come_together() -> None:
    classes = EquivalenceClasses.from_columns(
        {"age": [20, 22, 40, 41, 60, 65], "town": ["a", "a", "b", "b", "a", "a"]}
    )
    found = k_member(classes, 2)
    assert cells(found, "age") == ["[20, 22]"] * 2 + ["[40, 41]"] * 2 + ["[60, 65]"] * 2
    assert cells(found, "town") == ["a", "a", "b", "b", "a", "a"]
    assert found.kept.all()


def test_a_category_with_few_values_weighs_more() -> None:
    # Sharing one of 2 sexes costs 1/2 more per record, sharing one of 4 towns 1/4.
    rows = [("f", "a"), ("f", "b"), ("m", "a"), ("m", "b"), ("m", "c"), ("m", "d")]
    classes = EquivalenceClasses.from_columns({"sex": [s for s, _ in rows], "town": [t for _, t in rows]})
    assert cells(k_member(classes, 2), "sex") == ["f", "f", "m", "m", "m", "m"]
    ignoring = k_member(classes, 2, weights={"sex": 0.0})
    assert cells(ignoring, "town")[:4].count("{a, b}") == 0


def test_ancestors_cost_their_leaves() -> None:
    place = Hierarchy.of(
        "place",
        [["a1", "a", "*"], ["a2", "a", "*"], ["b1", "b", "*"], ["b2", "b", "*"], ["b3", "b", "*"]],
    )
    classes = EquivalenceClasses.from_columns({"place": ["a1", "b1", "a2", "b2", "b3"]})
    found = k_member(classes, 2, ladders=[place.ladder(classes.attributes[0])], style="hierarchy")
    assert cells(found, "place") == ["a", "a", "b", "b", "b"]
    assert found.shares[0].tolist() == pytest.approx([0.4, 0.4, 0.6, 0.6, 0.6])


def test_a_large_class_stays_as_it_is() -> None:
    classes = EquivalenceClasses.from_columns({"x": [1] * 50 + [2, 3, 4]})
    found = k_member(classes, 3)
    assert cells(found, "x") == ["1", "[2, 4]", "[2, 4]", "[2, 4]"]
    one = k_member(EquivalenceClasses.from_columns({"x": [1] * 50}), 3)
    assert cells(one, "x") == [1]
    assert one.kept.all()


def test_a_remainder_joins_where_it_costs_least() -> None:
    classes = EquivalenceClasses.from_columns({"x": [0, 1, 2, 3, 90, 91, 92]})
    hundred = Hierarchy.of("x", [[str(value), "*"] for value in range(100)]).ladder(classes.attributes[0])
    assert cells(k_member(classes, 3, ladders=[hundred]), "x") == ["[0, 3]"] * 4 + ["[90, 92]"] * 3


def test_fewer_persons_than_k_keep_nothing() -> None:
    found = k_member(EquivalenceClasses.from_columns({"x": [1, 2, 3]}), 4)
    assert not found.kept.any()
    assert found.suppressed_records == 3


def test_nulls_and_constants() -> None:
    classes = EquivalenceClasses.from_columns(
        {"x": [1, 2, None, None, 8, 9], "y": list("aabcaa"), "z": [0] * 6}
    )
    found = k_member(classes, 2)
    assert found.kept.all()
    assert [value for value in cells(found, "x") if value in ("∅", None)] == ["∅", "∅"] or cells(
        found, "x"
    ).count(None) == 2
    assert found.shares[2].tolist() == [1.0] * 6


def test_persons_are_counted_at_event_level() -> None:
    classes = EquivalenceClasses.from_columns(
        {"x": [1, 2, 3, 50, 51, 52, 53]}, person=["a", "a", "b", "c", "c", "d", "d"]
    )
    found = k_member(classes, 2)
    assert found.kept.all()
    assert found.regrouped().persons.min() == 2
    assert cells(found, "x") == ["[1, 3]"] * 3 + ["[50, 53]"] * 4
    lonely = EquivalenceClasses.from_columns({"x": [1, 2, 3]}, person=["a", "a", "a"])
    assert not k_member(lonely, 2).kept.any()
    assert k_member(lonely, 2, unit="records").kept.all()


@pytest.mark.parametrize(
    "model", [LDiversity(2, "s"), LDiversity(2, "s", kind="recursive", c=3.0), TCloseness(0.4, "s")]
)
def test_clusters_merge_until_a_further_model_holds(model: LDiversity | TCloseness) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 300, 90)
    classes = EquivalenceClasses.from_columns(
        {"x": x.tolist(), "y": rng.integers(0, 4, 90).tolist()},
        sensitive={"s": np.where(x > 150, "p", "q").tolist()},
    )
    plain = k_member(classes, 3)
    found = k_member(classes, 3, models=[model])
    assert not model.satisfied(plain.regrouped())
    assert model.satisfied(found.regrouped())
    assert KAnonymity(3).satisfied(found.regrouped())
    assert found.kept.all()
    assert cost(found) > cost(plain)


def test_what_no_merging_can_mend_is_suppressed() -> None:
    classes = EquivalenceClasses.from_columns({"x": [1, 2, 3, 4]}, sensitive={"s": list("aaaa")})
    assert not k_member(classes, 2, models=[LDiversity(2, "s")]).kept.any()


def test_a_model_that_merging_may_break_decides_what_is_kept() -> None:
    class Fickle(BetaLikeness):
        monotone = False

    rows = list(zip([1, 2, 31, 32, 61, 62, 91, 92], "abaabbab", strict=True))
    classes = EquivalenceClasses.from_columns(
        {"x": [x for x, _ in rows]}, sensitive={"s": [s for _, s in rows]}
    )
    found = k_member(classes, 2, models=[Fickle(0.6, "s")])
    kept = found.kept.tolist()
    expected = BetaLikeness(0.6, "s").holds(k_member(classes, 2).regrouped())
    assert kept == np.repeat(expected, 2).tolist()
    assert set(kept) == {True, False}


def test_refining_lowers_the_cost() -> None:
    rng = np.random.default_rng(11)
    columns = {"a": rng.integers(0, 40, 400), "b": rng.integers(0, 6, 400), "c": rng.integers(0, 3, 400)}
    classes = EquivalenceClasses.from_columns(
        {
            "a": columns["a"].tolist(),
            "b": [f"b{v}" for v in columns["b"]],
            "c": [f"c{v}" for v in columns["c"]],
        }
    )
    greedy, refined = k_member(classes, 4, passes=0), k_member(classes, 4)
    assert cost(refined) < 0.98 * cost(greedy)
    assert refined.regrouped().records.min() >= 4
    divided = k_member(classes, 4, block=100)
    assert divided.regrouped().records.min() >= 4
    assert cost(divided) < 1.25 * cost(refined)


def test_runs_agree_whatever_the_threads() -> None:
    rng = np.random.default_rng(4)
    classes = EquivalenceClasses.from_columns({name: rng.integers(0, 30, 500).tolist() for name in "abc"})
    said: list[str] = []
    one = k_member(classes, 3, threads=1, block=120)
    two = k_member(classes, 3, threads=2, block=120, progress=said.append)
    assert [column.codes.tolist() for column in one.columns] == [
        column.codes.tolist() for column in two.columns
    ]
    assert said[-1].startswith("clustering: 100%")


def test_wrong_parameters_are_refused() -> None:
    classes = EquivalenceClasses.from_columns({"x": [1, 2, 3]})
    with pytest.raises(InvalidParameter):
        k_member(classes, 0)
    with pytest.raises(InvalidParameter):
        k_member(classes, 3, block=5)
    with pytest.raises(UnknownColumn):
        k_member(classes, 2, weights={"y": 1.0})
    with pytest.raises(EmptyTable):
        k_member(EquivalenceClasses.from_columns({"x": []}), 2)


ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


@pytest.mark.slow
@pytest.mark.data
def test_adult_loses_little(data_dir: Path) -> None:
    table = read(data_dir / "arx" / "adult.csv.gz")
    classes = table.engine.count(table, quasi_identifiers=ADULT, sensitive=[])
    ladders = [
        Hierarchy.read(data_dir / "arx" / "hierarchies" / f"adult_hierarchy_{name}.csv", name).ladder(domain)
        for name, domain in zip(ADULT, classes.attributes, strict=True)
    ]
    found = k_member(classes, 5, ladders=ladders)
    least = np.mean([1 / ladder.leaves for ladder in ladders])
    share = (found.shares @ classes.records / classes.total).mean()
    assert found.suppressed_records == 0
    assert found.regrouped().records.min() >= 5
    assert 1 - (share - least) / (1 - least) >= 0.98
