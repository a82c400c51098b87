"""Between which levels an attribute may be generalised: the best of exactly these nodes is found, and nothing else is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.errors import DiscreetError, GoalUnreachable, InvalidParameter, InvalidPolicy, UnknownColumn
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.search import search
from discreet.search.problem import Grouper, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy, Ladder
from discreet.table.hierarchies.numbers import Intervals
from discreet.utility.objectives.registry import build_objective

PEOPLE = pa.table({"age": [31, 32, 33, 34, 41, 42, 51, 52], "sex": list("ffmmfmff")})
POLICY = Policy.of(quasi_identifiers=["age", "sex"], profile="research-partner-3").generalise(
    {"age": Intervals(widths=(2, 10, 50), start=30)}
)


def ages(classes: EquivalenceClasses, name: str) -> Ladder:
    rows = [[str(v), f"{v // 2}h", f"{v // 4}q", "*"] for v in range(8)]
    return Hierarchy.of(name, rows).ladder(next(d for d in classes.attributes if d.name == name))


@given(
    st.integers(0, 10_000),
    st.tuples(*[st.integers(0, 3)] * 3),
    st.tuples(*[st.integers(0, 3)] * 3),
    st.sampled_from(["loss", "discernibility", "precision"]),
)
def test_the_best_node_between_the_levels_is_found(
    seed: int, some: tuple[int, ...], others: tuple[int, ...], objective: str
) -> None:
    draw = np.random.default_rng(seed)
    names = ["a", "b", "c"]
    classes = EquivalenceClasses.from_columns({name: draw.integers(0, 8, 40).tolist() for name in names})
    low = tuple(map(min, some, others))
    high = tuple(map(max, some, others))
    problem = make_problem(
        classes,
        [ages(classes, name) for name in names],
        [KAnonymity(3)],
        suppression_limit=0.3,
        objective=build_objective(objective),
        least_levels=dict(zip(names, low, strict=True)),
        most_levels=dict(zip(names, high, strict=True)),
    )
    grouper = Grouper(problem)
    every = [
        problem.evaluate(node, grouper)
        for node in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
    ]
    best = min((each.rank() for each in every if problem.fits(each)), default=None)
    for found in (search(problem), search_anytime(problem)):
        assert (found.best is None) == (best is None)
        if found.best is not None:
            assert found.best.rank() == best
            assert found.optimal


def test_a_release_is_generalised_at_least_and_at_most_so_far() -> None:
    def released(**settings: object) -> set[object]:
        plan = Plan(method="optimal", suppression_limit=0.5, order="kept", **settings)  # type: ignore[arg-type]
        release = anonymize(PEOPLE, POLICY, plan=plan)
        return set(release.to_arrow().column("age").to_pylist())

    assert released(most_levels={"age": 2}) == {"[30, 39]"}
    assert released(least_levels={"age": 3}) == {"[30, 79]"}


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"least_levels": {"town": 1}}, UnknownColumn, "town"),
        ({"most_levels": {"age": 9}}, InvalidPolicy, "'age' has 4 levels"),
        ({"least_levels": {"age": 2}, "most_levels": {"age": 1}}, InvalidPolicy, "2 and 1"),
        (
            {"least_levels": {"age": 2}, "keep": ("age",)},
            InvalidParameter,
            "both in keep and in least_levels",
        ),
        ({"most_levels": {"age": 2}, "method": "mondrian"}, InvalidParameter, "mondrian cannot follow"),
        ({"most_levels": {"age": 0, "sex": 0}}, GoalUnreachable, "most_levels"),
    ],
)
def test_levels_that_cannot_be_are_refused(
    settings: dict[str, object], error: type[DiscreetError], words: str
) -> None:
    plan = Plan(**{"method": "optimal", **settings})  # type: ignore[arg-type]
    with pytest.raises(error, match=words):
        anonymize(PEOPLE, POLICY, plan=plan)
