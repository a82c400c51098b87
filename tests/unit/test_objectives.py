"""What change costs: by hand on a few rows, and the values that were published."""

from __future__ import annotations

import math
from copy import copy

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.privacy import ConfidenceBounding, KAnonymity, MultiAttributeLDiversity, PrivacyModel
from discreet.search.cost import cost_of
from discreet.search.lattice.search import search
from discreet.search.problem import Evaluation, Grouper, Problem, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy, leaf_loss
from discreet.transform.recoding import Recoding
from discreet.utility.objectives.aggregates import CellObjective, CellSums
from discreet.utility.objectives.class_sizes import AverageClassSize, average_class_size, discernibility
from discreet.utility.objectives.registry import OBJECTIVES, build_objective

A = [["1", "low", "*"], ["2", "low", "*"], ["3", "3", "*"]]
B = [["f", "*"], ["m", "*"]]


def at(problem: Problem, *node: int) -> Evaluation:
    return problem.evaluate(node, Grouper(problem))


def of_columns(
    columns: dict[str, list[object]],
    trees: list[list[list[str]]],
    models: list[PrivacyModel],
    objective: str = "loss",
    *,
    sensitive: dict[str, list[object]] | None = None,
    person: list[object] | None = None,
    limit: float = 1.0,
    weight: float = 1.0,
    weights: dict[str, float] | None = None,
) -> Problem:
    classes = EquivalenceClasses.from_columns(columns, sensitive=sensitive, person=person)
    ladders = [
        Hierarchy.of(domain.name, tree).ladder(domain)
        for domain, tree in zip(classes.attributes, trees, strict=True)
    ]
    return make_problem(
        classes,
        ladders,
        models,
        suppression_limit=limit,
        objective=build_objective(objective),
        suppression_weight=weight,
        weights=weights,
    )


def six(objective: str, **wishes: float) -> Evaluation:
    """Six rows at level 1: a class of four, whose values 1 and 2 became "low", and two 3s, suppressed."""
    problem = of_columns(
        {"a": [1, 1, 2, 2, 3, 3]},
        [A],
        [KAnonymity(3)],
        objective,
        sensitive={"dx": ["x", "y", "x", "x", "y", "y"]},
        **wishes,  # type: ignore[arg-type]
    )
    return at(problem, 1)


BY_HAND = {
    "loss": (4 * 0.5 + 2) / 6,
    "ncp": (4 * 2 / 3 + 2) / 6,
    "precision": (4 * 0.5 + 2) / 6,
    "entropy": (4 * 1 + 2 * math.log2(3)) / 6 / math.log2(6),
    "conditional-entropy": (4 * 1 + 2 * math.log2(3)) / 6,
    "interval": (4 * 0.5 + 2) / 6,
    "loss-geometric": (4 * 0.5 + 2) / 6,
    "loss-max": (4 * 0.5 + 2) / 6,
    "discernibility": 4 * 4 + 2 * 6,
    "average-class-size": 6 / 2 / 3,
    "ambiguity": (4 * 2 + 2 * 3) / 6,
    "classification": (1 + 2) / 6,
    "kl-divergence": 1 / 3 * math.log2((1 / 3) / (1 / 3 / 3)),
}
WITH_WEIGHT_2 = {
    "loss": (4 * 0.5 + 2 * 2) / 6,
    "loss-geometric": (4 * 0.5 + 2 * 2) / 6,
    "discernibility": 4 * 4 + 2 * 2 * 6,
    "average-class-size": (4 + 2 * 2) / 2 / 3,
    "ambiguity": (4 * 2 + 2 * 2 * 3) / 6,
    "classification": (1 + 2 * 2) / 6,
    "kl-divergence": 2 / 3 * math.log2(3),
}


def test_every_objective_has_a_value_by_hand() -> None:
    assert BY_HAND.keys() == OBJECTIVES.keys()


@pytest.mark.parametrize("objective", BY_HAND)
def test_the_cost_by_hand(objective: str) -> None:
    found = six(objective)
    assert found.cost == pytest.approx(BY_HAND[objective])
    assert (found.suppressed, found.groups) == (2, 1)


@pytest.mark.parametrize("objective", WITH_WEIGHT_2)
def test_the_weight_of_suppression(objective: str) -> None:
    assert six(objective, weight=2.0).cost == pytest.approx(WITH_WEIGHT_2[objective])


def test_cheap_suppression_is_chosen_and_dear_suppression_avoided() -> None:
    columns: dict[str, list[object]] = {"a": [1, 1, 1, 2, 3, 3]}
    chosen = {
        weight: search(of_columns(columns, [A], [KAnonymity(2)], weight=weight)).best
        for weight in (0.5, 1.0, 9.0)
    }
    nodes = {weight: best and (best.node, best.suppressed) for weight, best in chosen.items()}
    assert nodes == {0.5: ((0,), 1), 1.0: ((0,), 1), 9.0: ((1,), 0)}


@pytest.mark.parametrize(
    ("objective", "weights", "expected"),
    [
        ("loss", None, (2 / 3 + 1 / 3) / 2),
        ("loss", {"a": 3.0}, (3 * 2 / 3 + 1 / 3) / 4),
        ("loss-geometric", None, math.sqrt((1 + 2 / 3) * (1 + 1 / 3)) - 1),
        ("loss-geometric", {"a": 3.0}, (1 + 2 / 3) ** 0.75 * (1 + 1 / 3) ** 0.25 - 1),
        ("loss-max", None, 2 / 3),
        ("loss-max", {"b": 7.0}, 1 / 3 * 7 / 4),
    ],
)
def test_two_attributes_come_together(
    objective: str, weights: dict[str, float] | None, expected: float
) -> None:
    """As above, with a second attribute that only loses by suppression: 2 of 6 records."""
    columns: dict[str, list[object]] = {"a": [1, 1, 2, 2, 3, 3], "b": ["f"] * 4 + ["m"] * 2}
    problem = of_columns(columns, [A, B], [KAnonymity(3)], objective, weights=weights)
    assert at(problem, 1, 0).cost == pytest.approx(expected)


def test_a_finer_cell_may_cost_more_and_the_bound_knows_it() -> None:
    """{a, b} is open by 1 bit, {a, b, c × 8} by less: what is suppressed under the second was dearer before."""
    paths = [["ab", "abc"], ["ab", "abc"], ["c", "abc"], ["d", "d"], ["e", "e"]]
    tree = [[name, *path, "*"] for name, path in zip("abcde", paths, strict=True)]
    columns: dict[str, list[object]] = {
        "q": ["a", "b", *"c" * 8, *"d" * 8, *"e" * 8],
        "s": ["m", "m", *"f" * 24],
    }
    problem = of_columns(columns, [tree, B], [KAnonymity(3)], "conditional-entropy")
    high, low = at(problem, 2, 0), at(problem, 1, 0)
    assert high.floor > 0
    assert problem.below(low.node) + high.floor <= low.cost + 1e-12


def test_what_objectives_promise() -> None:
    assert [name for name, one in OBJECTIVES.items() if not one.monotone] == [
        "conditional-entropy",
        "interval",
    ]
    assert [name for name, one in OBJECTIVES.items() if not one.additive] == [
        "discernibility",
        "average-class-size",
        "ambiguity",
        "classification",
        "kl-divergence",
    ]


# ── published values ─────────────────────────────────────────────────────────────────────────────────

SCHOOL = ["Bachelors", "Bachelors", "HS-grad", "11th", "Bachelors", "Masters"]
AGE = [39, 50, 38, 53, 28, 37]


def test_conditional_entropy_of_six_adults() -> None:
    tree = [
        ["Bachelors", "degree", "degree", "*"],
        ["Masters", "degree", "degree", "*"],
        ["HS-grad", "HS-grad", "school", "*"],
        ["11th", "11th", "school", "*"],
    ]
    conditional = of_columns({"education": SCHOOL}, [tree], [], "conditional-entropy")
    pointwise = of_columns({"education": SCHOOL}, [tree], [], "entropy")
    for level, bits in ((1, 3.245), (2, 5.245)):
        assert 6 * at(conditional, level).cost == pytest.approx(bits, abs=5e-4)
        assert 6 * math.log2(6) * at(pointwise, level).cost == pytest.approx(bits, abs=5e-4)


@pytest.mark.parametrize(("width", "loss"), [(10, 0.36), (5, 0.16)])
def test_interval_loss_of_six_adults(width: int, loss: float) -> None:
    tree = [[str(a), f"[{a - a % width}, {a - a % width + width - 1}]", "*"] for a in AGE]
    assert at(of_columns({"age": AGE}, [tree], [], "interval"), 1).cost == pytest.approx(loss)


def test_ten_vehicle_trips() -> None:
    """Released: 5 trips of 4 drivers and 3 of 2; two trips suppressed."""
    assert discernibility(np.array([5, 3]), suppressed=2, total=10) == 54
    assert average_class_size(np.array([4, 2])) == 3
    trips = np.array([5, 3, 2])
    engine = leaf_loss(np.array([1, 1 / 3, 1]), 3)
    body = leaf_loss(np.array([1 / 2, 1 / 2, 1]), 2)
    seats = leaf_loss(np.array([1 / 3, 2 / 3, 1]), 3)
    assert trips @ (engine + body + seats) / 30 == pytest.approx(0.41667, abs=5e-6)


def test_discernibility_and_class_size_of_the_trips_as_objectives() -> None:
    columns: dict[str, list[object]] = {"car": ["a"] * 5 + ["b"] * 3 + ["c"] * 2}
    tree = [["a", "*"], ["b", "*"], ["c", "*"]]
    assert at(of_columns(columns, [tree], [KAnonymity(3)], "discernibility"), 0).cost == 54
    # The suppressed count as a third class.
    assert at(
        of_columns(columns, [tree], [KAnonymity(3)], "average-class-size"), 0
    ).cost * 3 == pytest.approx(10 / 3)


# ── records and persons, classes and what they share ─────────────────────────────────────────────────


def test_records_are_priced_where_requirements_count_persons() -> None:
    """Value 1 has four records of one person: k = 2 fails, and four records are suppressed and paid for."""
    columns: dict[str, list[object]] = {"a": [1, 1, 1, 1, 2, 2, 3, 3]}
    person: list[object] = [1, 1, 1, 1, 2, 3, 4, 5]
    problem = of_columns(columns, [A], [KAnonymity(2)], person=person, limit=0.5)
    found = at(problem, 0)
    assert (found.suppressed, problem.allowed, found.cost) == (4, 4, pytest.approx(0.5))
    by_records = of_columns(columns, [A], [KAnonymity(2, unit="records")], person=person)
    assert at(by_records, 0).suppressed == 0


def test_a_requirement_on_shared_values_is_asked_of_what_is_released() -> None:
    """Somebody without flu is alone and suppressed for k; then flu follows from a = 1 with certainty."""
    columns: dict[str, list[object]] = {"a": [1, 1, 1, 3, 3], "b": ["f", "f", "m", "f", "f"]}
    sensitive: dict[str, list[object]] = {"dx": ["flu", "flu", "acne", "flu", "acne"]}
    bound = ConfidenceBounding(0.7, "dx", "flu", given=("a",))
    alone = of_columns(columns, [A, B], [bound], sensitive=sensitive)
    assert at(alone, 0, 0).suppressed == 0
    both = of_columns(columns, [A, B], [KAnonymity(2), bound], sensitive=sensitive)
    assert at(both, 0, 0).suppressed == 3
    owner, kept = both.partition(at(both, 0, 0))
    assert kept[owner].tolist() == [False, False, True]


def test_requirements_on_shared_values_are_asked_until_all_hold() -> None:
    """Men with acne go because their sex gives it away; then flu follows from a = 1, and nobody there stays."""
    problem = of_columns(
        {"a": [1, 1, 1, 1, 3, 3, 3], "b": ["f", "f", "m", "m", "f", "f", "f"]},
        [A, B],
        [
            ConfidenceBounding(0.6, "dx", "acne", given=("b",)),
            ConfidenceBounding(0.7, "dx", "flu", given=("a",)),
        ],
        sensitive={"dx": ["flu", "flu", "acne", "acne", "flu", "cold", "cold"]},
    )
    assert at(problem, 0, 0).suppressed == 4


def test_every_sensitive_attribute_is_protected_at_a_node() -> None:
    problem = of_columns(
        {"a": [1, 2, 3, 3]},
        [A],
        [MultiAttributeLDiversity(2)],
        sensitive={"dx": ["x", "y", "x", "y"], "pay": [1, 1, 2, 2]},
    )
    # Whoever knows the pay still has two diseases to choose from; but a disease gives the pay away.
    assert [at(problem, level).suppressed for level in range(3)] == [4, 4, 0]


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_cannot_be_priced_is_said() -> None:
    text: dict[str, list[object]] = {"b": ["f", "m"]}
    with pytest.raises(UnsuitableColumn, match="'b' has no numbers"):
        search(of_columns(text, [B], [], "interval"))
    with pytest.raises(InvalidParameter, match="needs a label, and there are 0"):
        search(of_columns(text, [B], [], "classification"))
    with pytest.raises(UnknownColumn, match="'income'"):
        build_objective("classification", {"label": "income"}).bind(
            of_columns(text, [B], []).pricing.setting  # type: ignore[attr-defined]
        )


def test_parameters_are_checked() -> None:
    with pytest.raises(InvalidParameter, match="did you mean 'discernibility'"):
        build_objective("discernability")
    with pytest.raises(InvalidParameter, match="loss has no parameter k; loss takes no parameters"):
        build_objective("loss", {"k": 2})
    with pytest.raises(InvalidParameter, match="k must be at least 1"):
        AverageClassSize(0)
    with pytest.raises(InvalidParameter, match="aggregate must be"):
        CellObjective(aggregate="median")  # type: ignore[arg-type]
    text: dict[str, list[object]] = {"b": ["f", "m"]}
    for wishes, problem in (
        ({"weight": -1.0}, "a weight is negative"),
        ({"weights": {"b": -1.0}}, "a weight is negative"),
        ({"weights": {"b": 0.0}}, "all weights are 0"),
        ({"limit": 5.0}, "suppression_limit must be between 0 and 1"),
    ):
        with pytest.raises(InvalidParameter, match=problem):
            of_columns(text, [B], [], **wishes)  # type: ignore[arg-type]
    with pytest.raises(UnknownColumn, match="'c'"):
        of_columns(text, [B], [], weights={"c": 1.0})


@pytest.mark.parametrize("objective", ["loss", "loss-geometric", "loss-max", "ncp", "precision", "entropy"])
def test_groups_priced_whole_cost_what_their_classes_cost(objective: str) -> None:
    rows = np.random.default_rng(7).integers(0, 3, (40, 2))
    columns: dict[str, list[object]] = {
        "a": [1 + int(a) for a in rows[:, 0]],
        "b": ["fm"[b % 2] for b in rows[:, 1]],
    }
    problem = of_columns(columns, [A, B], [KAnonymity(3)], objective)
    pricing = problem.pricing
    assert isinstance(pricing, CellSums)
    apart = copy(pricing)
    apart._even = tuple(np.zeros(height + 1, dtype=bool) for height in problem.heights)
    assert all(even.all() for even in pricing._even) == (objective != "entropy")
    for node in np.ndindex(3, 2):
        grouped = Grouper(problem).at(tuple(map(int, node)))
        kept = grouped.sizes >= 8
        assert pricing.price(grouped.grouping(), kept, kept) == pytest.approx(
            apart.price(grouped.grouping(), kept, kept), abs=1e-12
        )


def test_a_null_below_the_root_loses_no_precision() -> None:
    tree = [["1", "low", "*"], ["2", "low", "*"], ["3", "3", "*"]]
    problem = of_columns({"a": [1, 2, 3, 3, None, None]}, [tree], [KAnonymity(2)], "precision")
    priced = at(problem, 1)
    owner, kept = problem.partition(priced)
    recoding = Recoding.of_node(problem.classes, problem.ladders, (1,), kept[owner], method="optimal")
    assert priced.cost == pytest.approx(4 * 0.5 / 6)
    assert cost_of(recoding, problem).value == pytest.approx(priced.cost)
