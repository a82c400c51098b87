"""Subtree generalisation and drawing a sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.example import town
from discreet.policy import Policy
from discreet.policy.hierarchies import hierarchies
from discreet.policy.plan import METHODS as PLANNED
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.release.prepare import count_classes
from discreet.search.contest import find
from discreet.search.lattice.search import search
from discreet.search.lattice.sibling import sibling
from discreet.search.lattice.subtree import subtree
from discreet.search.methods import METHODS
from discreet.search.problem import Problem, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.loss import leaf_share_loss
from discreet.transform.recipe import Recipe

ZIPS = [["10", "1*", "*"], ["11", "1*", "*"], ["20", "2*", "*"], ["21", "2*", "*"]]


def zip_problem(values: list[str], *, k: int = 2, limit: float = 0.0):
    classes = EquivalenceClasses.from_columns({"zip": values})
    ladder = Hierarchy.of("zip", ZIPS).ladder(classes.attributes[0])
    return make_problem(classes, [ladder], [KAnonymity(k)], suppression_limit=limit)


def test_levels_may_differ_between_subtrees() -> None:
    # 10 and 11 are alone and must go up together; 20 and 21 have two people each and may stay.
    recoding = subtree(zip_problem(["10", "11", "20", "20", "21", "21"]))
    [column] = recoding.columns
    assert column.per_class().to_pylist() == ["1*", "1*", "20", "21"]
    assert recoding.kept.all()
    assert leaf_share_loss(recoding) == pytest.approx(2 / 6 * (2 / 4 - 1 / 4) / (1 - 1 / 4))


def test_it_is_never_worse_than_full_domain_here() -> None:
    problem = zip_problem(["10", "11", "20", "20", "21", "21"])
    assert leaf_share_loss(subtree(problem)) < search(problem).best.cost


def test_what_meets_the_requirements_already_stays_as_it_is() -> None:
    # Two hundred people, fifty of a kind; the level below the root says no more than the root.
    columns = {"sex": ["f", "m"] * 100, "zip": ["10", "10", "20", "20"] * 50}
    trees = {
        "sex": [["f", "person", "*"], ["m", "person", "*"]],
        "zip": [["10", "here", "*"], ["20", "here", "*"]],
    }
    classes = EquivalenceClasses.from_columns(columns)
    ladders = [Hierarchy.of(domain.name, trees[domain.name]).ladder(domain) for domain in classes.attributes]
    recoding = subtree(make_problem(classes, ladders, [KAnonymity(50)]))
    assert leaf_share_loss(recoding) == 0.0
    assert [column.values.to_pylist() for column in recoding.columns] == [["f", "m"], ["10", "20"]]


def costs(problem: Problem) -> list[float]:
    """What full-domain, subtree and local recoding cost."""
    return [find(problem, method=method).cost for method in ("optimal", "subtree", "local")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "models", [[KAnonymity(5)], [KAnonymity(11), TCloseness(0.3, "diagnosis")]], ids=["k", "k and t"]
)
def test_freer_methods_lose_no_more_on_the_demo(models: list[PrivacyModel]) -> None:
    table = read(town())
    policy = Policy.of(
        quasi_identifiers=["age", "sex", "education", "nationality"], sensitive=["diagnosis"], require=models
    )
    classes = count_classes(policy.fit(table), policy)
    ladders = [fitted.ladder for fitted in hierarchies(policy, classes)]
    full_domain, by_subtree, local = costs(make_problem(classes, ladders, models, suppression_limit=0.1))
    assert local - 1e-12 <= by_subtree <= full_domain + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.0, 0.05])
@pytest.mark.parametrize(
    "models", [[KAnonymity(5)], [KAnonymity(5), TCloseness(0.3, "salary-class")]], ids=["k", "k and t"]
)
def test_freer_methods_lose_no_more_on_adult(
    data_dir: Path, models: list[PrivacyModel], limit: float
) -> None:
    table = read(data_dir / "arx" / "adult.csv.gz")
    classes = table.engine.count(
        table,
        quasi_identifiers=["sex", "age", "race", "marital-status", "education"],
        sensitive=["salary-class"],
    )
    ladders = [
        Hierarchy.read(
            data_dir / "arx" / "hierarchies" / f"adult_hierarchy_{domain.name}.csv", domain.name
        ).ladder(domain)
        for domain in classes.attributes
    ]
    full_domain, by_subtree, local = costs(make_problem(classes, ladders, models, suppression_limit=limit))
    assert local <= by_subtree <= full_domain + 1e-12


def test_nothing_is_kept_when_even_the_root_fails() -> None:
    assert not subtree(zip_problem(["10", "20"], k=3)).kept.any()


def test_suppression_within_the_limit() -> None:
    recoding = subtree(zip_problem(["10", "20", "20", "21", "21"], limit=0.2))
    assert recoding.suppressed_records == 1
    assert sorted(set(recoding.columns[0].per_class().filter(pa.array(recoding.kept)).to_pylist())) == [
        "20",
        "21",
    ]


def test_every_group_meets_further_models() -> None:
    rng = np.random.default_rng(3)
    zips = rng.choice(["10", "11", "20", "21"], 60).tolist()
    classes = EquivalenceClasses.from_columns(
        {"zip": zips}, sensitive={"dx": rng.integers(0, 4, 60).tolist()}
    )
    models = [KAnonymity(5), LDiversity(3, "dx")]
    ladder = Hierarchy.of("zip", ZIPS).ladder(classes.attributes[0])
    recoding = subtree(make_problem(classes, [ladder], models, suppression_limit=0.0))
    after = recoding.regrouped()
    assert all(model.satisfied(after) for model in models)


def test_its_recipe_maps_values() -> None:
    recoding = subtree(zip_problem(["10", "11", "20", "20", "21", "21"]))
    recipe = Recipe.of(recoding, columns=["zip"])
    assert recipe.scope == "global"
    assert recipe.values["zip"] == {"10": "1*", "11": "1*", "20": "20", "21": "21"}
    again = Recipe.loads(recipe.dumps()).recode(recoding.classes)
    assert again.columns[0].per_class().to_pylist() == ["1*", "1*", "20", "21"]


def test_every_planned_method_exists() -> None:
    assert set(PLANNED) == {"auto", *METHODS}


def test_a_sample_keeps_order_and_repeats() -> None:
    table = read(pa.table({"n": range(1000)}))
    first, again, other = (table.engine.thin(table, 0.3, seed=seed) for seed in (1, 1, 2))
    rows = first.engine.to_arrow(first)["n"].to_pylist()
    assert rows == sorted(rows)
    assert rows == again.engine.to_arrow(again)["n"].to_pylist()
    assert rows != other.engine.to_arrow(other)["n"].to_pylist()
    assert 240 < len(rows) < 360


def test_a_share_that_is_none() -> None:
    table = read(pa.table({"n": range(10)}))
    with pytest.raises(InvalidParameter, match="share of rows"):
        table.engine.thin(table, 0.0, seed=1)


JOBS = [[job, "office", "*"] for job in ("clerk", "judge", "lawyer", "notary")] + [
    ["baker", "trade", "*"],
    ["smith", "trade", "*"],
]


def job_problem(values: list[str], *, k: int = 2, limit: float = 0.0) -> Problem:
    classes = EquivalenceClasses.from_columns({"job": values})
    return make_problem(
        classes,
        [Hierarchy.of("job", JOBS).ladder(classes.attributes[0])],
        [KAnonymity(k)],
        suppression_limit=limit,
    )


def test_a_frequent_sibling_stands_beside_the_rest_of_its_node() -> None:
    # Lawyers and bakers are many; the other offices are rare, and are named as what is left.
    values = ["clerk", "judge", "notary"] + ["lawyer"] * 3 + ["baker"] * 2 + ["smith"] * 2
    problem = job_problem(values)
    recoding = sibling(problem)
    [column] = recoding.columns
    rest = "{clerk, judge, notary}"
    assert column.per_class().to_pylist() == ["baker", rest, rest, "lawyer", rest, "smith"]
    assert leaf_share_loss(recoding) == pytest.approx(3 / 10 * (3 / 6 - 1 / 6) / (1 - 1 / 6))
    assert leaf_share_loss(recoding) < leaf_share_loss(subtree(problem))
    assert find(problem, method="sibling").cost == pytest.approx(leaf_share_loss(recoding))


def test_siblings_go_down_below_the_root_too_and_requirements_hold_for_the_rest() -> None:
    # One notary alone cannot be the rest: a lawyer stays only if three are left.
    problem = job_problem(["judge"] * 3 + ["lawyer"] * 3 + ["notary"] + ["baker"] * 3 + ["smith"] * 3, k=3)
    recoding = sibling(problem)
    assert recoding.shown().records.min() >= 3
    labels = recoding.columns[0].per_class().to_pylist()
    assert (labels[0], labels[-1]) == ("baker", "smith")
    assert sorted(labels[1:3]) in (
        ["judge", "{lawyer, notary}"],
        ["lawyer", "{judge, notary}"],
    )


@given(
    st.lists(st.sampled_from(["clerk", "judge", "lawyer", "notary", "baker"]), min_size=1, max_size=30),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.2]),
)
def test_by_siblings_is_never_worse_than_by_subtrees(values: list[str], k: int, limit: float) -> None:
    problem = job_problem(values, k=k, limit=limit)
    by_sibling, by_subtree = sibling(problem), subtree(problem)
    assert by_sibling.kept.any() == by_subtree.kept.any()
    if by_sibling.kept.any():
        assert leaf_share_loss(by_sibling) <= leaf_share_loss(by_subtree) + 1e-12
        assert by_sibling.shown().records.min() >= k
        # A label stands for all that became it, and for nothing that stands by itself.
        shown: dict[str, set[str]] = {}
        for value, label in zip(
            problem.classes.attributes[0].labels(), by_sibling.columns[0].per_class().to_pylist(), strict=True
        ):
            shown.setdefault(label, set()).add(value)
        for label, became in shown.items():
            if label.startswith("{"):
                assert label == "{" + ", ".join(sorted(became)) + "}"
