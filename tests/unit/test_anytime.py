"""Searches that may end early: what they found so far stays, and the bound is honest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter
from discreet.privacy import KAnonymity, TCloseness
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.bounds import bound_by_parts, growing_bounds
from discreet.search.lattice.evaluator import Evaluator
from discreet.search.lattice.exclusions import Exclusions
from discreet.search.lattice.neighbourhoods import Neighbourhoods
from discreet.search.lattice.search import LARGEST_LATTICE, search, walk
from discreet.search.lattice.sweep import Sweep
from discreet.search.problem import Grouper, Problem, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.utility.objectives.registry import OBJECTIVES, build_objective


def random_problem(
    attributes: int, *, rows: int = 300, limit: float = 0.1, objective: str = "loss"
) -> Problem:
    """Attributes of six values, generalised to pairs, to low or high, and to nothing."""
    rng = np.random.default_rng(7)
    tree = [[str(v), f"pair{v // 2}", "low" if v < 4 else "high", "*"] for v in range(6)]
    columns = {f"q{j}": rng.binomial(5, 0.3, rows).tolist() for j in range(attributes)}
    classes = EquivalenceClasses.from_columns(columns, sensitive={"dx": rng.integers(0, 3, rows).tolist()})
    ladders = [Hierarchy.of(domain.name, tree).ladder(domain) for domain in classes.attributes]
    return make_problem(
        classes, ladders, [KAnonymity(4)], suppression_limit=limit, objective=build_objective(objective)
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_it_proves_the_optimum_of_a_small_lattice(objective: str) -> None:
    problem = random_problem(4, objective=objective)
    found = search_anytime(problem, seconds=None)
    assert found.optimal
    assert found.gap == 0.0
    assert found.best == search(problem).best == walk(problem).best


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_bound_is_honest_however_early_it_ends(objective: str) -> None:
    problem = random_problem(4, objective=objective)
    truth = walk(problem).best
    assert truth is not None
    gaps = []
    for limit in (1, 10, 40, 120, 200):
        found = search_anytime(problem, seconds=None, evaluations=limit)
        assert found.bound <= truth.cost + problem.tolerance
        assert found.best is not None
        assert found.best.cost >= truth.cost - problem.tolerance
        gaps.append(found.gap)
    assert gaps == sorted(gaps, reverse=True)


def test_a_number_of_evaluations_fixes_the_result() -> None:
    problem = random_problem(6)
    first = search_anytime(problem, seconds=None, evaluations=150, threads=1)
    assert first == search_anytime(random_problem(6), seconds=None, evaluations=150, threads=3)
    assert 150 <= first.evaluated < 150 + 64


@pytest.mark.slow
def test_thirty_attributes_have_a_good_solution_at_once() -> None:
    problem = random_problem(30, rows=200, limit=0.2)
    assert problem.nodes == 4**30
    found = search_anytime(problem, seconds=None, evaluations=2_000)
    assert found.best is not None
    assert found.best.suppressed <= 40
    assert 0 < found.bound <= found.best.cost < 1
    assert found.gap == pytest.approx((found.best.cost - found.bound) / found.best.cost)
    assert not found.optimal
    greedy = search_anytime(problem, seconds=None, evaluations=1)
    assert greedy.best is not None
    assert greedy.bound == 0
    assert found.best.cost < 0.95 * greedy.best.cost


def test_a_limit_of_time_ends_it_whatever_was_found() -> None:
    limited = search_anytime(random_problem(30, rows=200, limit=0.2), seconds=0.1)
    assert not limited.optimal
    assert limited.best is None or limited.bound <= limited.best.cost


def test_cancelling_keeps_the_best_so_far() -> None:
    problem = random_problem(30, rows=200, limit=0.2)
    asked = itertools.count()
    found = search_anytime(problem, seconds=None, cancelled=lambda: next(asked) >= 5)
    assert next(asked) == 6
    assert found.best is not None
    assert found.bound <= found.best.cost
    assert not found.optimal


@pytest.mark.parametrize("objective", ["loss", "discernibility", "kl-divergence"])
def test_cancelling_the_full_search_gives_an_honest_bound(objective: str) -> None:
    problem = random_problem(4, objective=objective)
    truth = walk(problem).best
    assert truth is not None
    bounds = []
    for patience in range(0, 30, 3):
        asked = itertools.count()
        found = search(problem, cancelled=lambda asked=asked, patience=patience: next(asked) >= patience)  # type: ignore[misc]
        assert found.bound <= truth.cost + problem.tolerance
        assert found.best is not None
        bounds.append(found.bound)
    assert bounds[0] < truth.cost
    assert not search(problem, cancelled=lambda: True).optimal


def test_an_unreachable_goal_is_said_so() -> None:
    classes = EquivalenceClasses.from_columns({"a": [1, 2, 3]})
    ladder = Hierarchy.of("a", [["1", "*"], ["2", "*"], ["3", "*"]]).ladder(classes.attributes[0])
    problem = make_problem(classes, [ladder], [KAnonymity(4)], suppression_limit=0.5)
    for found in (search(problem), search_anytime(problem), walk(problem)):
        assert found.best is None
        assert not found.optimal
        assert found.gap == 1.0
        assert found.nearest.suppressed == 3


def test_a_goal_that_only_finer_nodes_reach() -> None:
    """Requirements that are not absorbing say nothing about finer nodes: all are looked at."""
    classes = EquivalenceClasses.from_columns(
        {"a": [1, 1, 1, 1, 2, 2]}, sensitive={"dx": ["x", "y", "x", "y", "x", "y"]}
    )
    ladder = Hierarchy.of("a", [["1", "*"], ["2", "*"]]).ladder(classes.attributes[0])
    problem = make_problem(classes, [ladder], [TCloseness(0.0, "dx")], suppression_limit=0.0)
    assert search(problem).best.node == search_anytime(problem).best.node == (0,)  # type: ignore[union-attr]


def test_progress_is_told() -> None:
    said: list[str] = []
    search_anytime(random_problem(4), seconds=None, progress=said.append)
    assert said[0] == "looking for a first solution"
    assert "no generalisation costs less than" in said[-1]
    said.clear()
    search(random_problem(4), progress=said.append)
    assert "100% settled" in said[-1]


def test_too_large_a_lattice_is_refused_by_the_full_search() -> None:
    with pytest.raises(InvalidParameter, match=rf"more than the {LARGEST_LATTICE:,}.*search_anytime"):
        search(random_problem(12, rows=20))
    with pytest.raises(InvalidParameter, match="evaluations must be at least 1"):
        search_anytime(random_problem(2), evaluations=0)


def test_what_many_attributes_gain_together_is_seen() -> None:
    """One attribute hides what twenty-three would gain: no step, and no exchange of two, leads from it to them.

    Eight records; a0 to a22 say the same, and with any of them b tells pairs apart. At k = 4 either all the a are shown,
    which leaves the weight of b as the loss, 2 of 25, or b is. Going down from the top b gains most.
    """
    columns = {f"a{j}": [1, 1, 2, 2] * 2 for j in range(23)} | {"b": [1, 2, 1, 2] * 2}
    classes = EquivalenceClasses.from_columns(columns)
    ladders = [Hierarchy.of(d.name, [["1", "*"], ["2", "*"]]).ladder(d) for d in classes.attributes]
    problem = make_problem(classes, ladders, [KAnonymity(4)], suppression_limit=0.0, weights={"b": 2.0})
    with Evaluator(problem) as evaluator:
        first = evaluator.improve(evaluator.descend(problem.heights))
        assert first.cost == pytest.approx(23 / 25)
        for _ in itertools.islice(Neighbourhoods(problem, evaluator).walk(first), 30):
            pass
        assert evaluator.best_cost == pytest.approx(2 / 25)


def test_crossing_takes_the_best_of_two_nodes() -> None:
    """Two pairs of attributes; of each pair one may be shown. One node has the better of the first pair, the other of the
    second: the best between them has both."""
    columns = {"a": [1, 2, 1, 2] * 4, "b": [1, 1, 2, 2] * 4}
    columns |= {"c": [1] * 8 + [2] * 8, "d": ([1] * 4 + [2] * 4) * 2}
    classes = EquivalenceClasses.from_columns(columns)
    ladders = [Hierarchy.of(d.name, [["1", "*"], ["2", "*"]]).ladder(d) for d in classes.attributes]
    weights = {"a": 2.0, "b": 1.0, "c": 2.0, "d": 1.0}
    problem = make_problem(classes, ladders, [KAnonymity(4)], suppression_limit=0.0, weights=weights)
    with Evaluator(problem) as evaluator:
        first, second = evaluator.evaluate([(0, 1, 1, 0), (1, 0, 0, 1)])
        sweep = Sweep(problem, evaluator, (0, 0, 0, 0), (1, 1, 1, 1))
        assert sweep.best(first).node == (0, 1, 0, 1)
        assert sweep.best(first).cost < min(first.cost, second.cost)


@pytest.mark.parametrize(("attributes", "packed"), [(3, True), (40, False)])
def test_packed_and_hashed_keys_form_the_same_groups(attributes: int, packed: bool) -> None:
    """Of 40 attributes of about five values the product overflows, of 3 it does not: plain tuples say what the groups are."""
    problem = random_problem(attributes, rows=60)
    bottom = (0,) * attributes
    assert bool(len(problem.strides(bottom))) == packed
    for node in (bottom, (1,) * attributes, (2,) * attributes, (3, *bottom[1:]), (3,) * attributes):
        grouped = Grouper(problem).at(node, start=Grouper(problem).at(bottom))
        rows = [tuple(column) for column in problem.codes[problem.rows(node)].T.tolist()]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(rows))}
        assert grouped.owner.tolist() == [numbers[key] for key in rows]


def test_parts_that_separate_force_loss() -> None:
    # Each of a and b has two values twice; together they single out every record. k = 2 allows each alone at no
    # loss, and together only one of them: half of the cells, which a part of both sees and parts of one do not.
    classes = EquivalenceClasses.from_columns({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    ladders = [Hierarchy.of(d.name, [["1", "*"], ["2", "*"]]).ladder(d) for d in classes.attributes]
    problem = make_problem(classes, ladders, [KAnonymity(2)], suppression_limit=0.0)
    assert bound_by_parts(problem, nodes=2) == 0.0
    assert bound_by_parts(problem, nodes=4) == pytest.approx(0.5)
    assert list(growing_bounds(problem, least=2)) == pytest.approx([0.0, 0.0, 0.5])


@pytest.mark.slow
def test_larger_parts_never_lower_the_bound_and_close_the_gap() -> None:
    problem = random_problem(8)
    bounds = list(growing_bounds(problem, most=70_000))
    assert len(bounds) > 4
    assert bounds == sorted(bounds)
    assert bounds[0] > 0
    # The last part is the whole problem.
    truth = search(problem).best
    assert truth is not None
    assert bounds[-1] == pytest.approx(truth.cost)


def test_excluded_nodes_bound_what_no_two_attributes_may_show() -> None:
    """Each of three attributes alone has every value twice; any two of them single out all four records. So one may be
    shown, which loses two thirds. Fractions of levels lose half: half of each attribute is above every excluded node."""
    columns = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 2, 2, 1]}
    classes = EquivalenceClasses.from_columns(columns)
    ladders = [Hierarchy.of(d.name, [["1", "*"], ["2", "*"]]).ladder(d) for d in classes.attributes]
    problem = make_problem(classes, ladders, [KAnonymity(2)], suppression_limit=0.0)
    exclusions = Exclusions(problem)
    assert list(exclusions.bounds())[-1] == pytest.approx(1 / 2)
    assert sorted(exclusions.nodes) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert list(exclusions.bounds(lambda: 60.0))[-1] == pytest.approx(2 / 3, abs=1e-5)


@pytest.mark.parametrize("objective", ["loss", "loss-geometric", "precision", "entropy"])
@pytest.mark.parametrize("limit", [0.0, 0.03, 0.2])
def test_excluded_nodes_never_bound_more_than_the_optimum(objective: str, limit: float) -> None:
    problem = random_problem(4, objective=objective, limit=limit)
    truth = search(problem).best
    assert truth is not None
    for left in (math.inf, 60.0):
        bounds = list(Exclusions(problem).bounds(lambda left=left: left))  # type: ignore[misc]
        assert bounds == sorted(bounds)
        assert bounds[-1] <= truth.cost + problem.tolerance
    # Whole levels end at the optimum, but for what its suppressed records cost.
    assert bounds[-1] > 0
    if not limit:
        assert bounds[-1] == pytest.approx(truth.cost, abs=1e-5)


def test_where_excluded_nodes_say_nothing_there_is_no_bound() -> None:
    assert not list(Exclusions(random_problem(4, objective="loss-max")).bounds())
    assert not list(Exclusions(random_problem(4, objective="discernibility")).bounds())
    assert not list(Exclusions(random_problem(4, limit=1.0)).bounds())
    classes = EquivalenceClasses.from_columns({"a": [1, 2, 3]})
    ladder = Hierarchy.of("a", [["1", "*"], ["2", "*"], ["3", "*"]]).ladder(classes.attributes[0])
    assert not list(
        Exclusions(make_problem(classes, [ladder], [KAnonymity(4)], suppression_limit=0.5)).bounds()
    )


def test_a_lattice_without_end_is_bounded_by_parts_and_by_excluded_nodes() -> None:
    problem = random_problem(12, rows=60, limit=0.0)
    assert problem.nodes > LARGEST_LATTICE
    found = search_anytime(problem, seconds=None, evaluations=3_000)
    assert found.bound >= max(Exclusions(problem).bounds()) > 0
    assert found.bound >= bound_by_parts(problem, nodes=256) > 0


def _patience_lost(asked: Iterator[int], patience: int) -> bool:
    return next(asked) >= patience


def test_cancelled_parts_count_with_what_is_proven() -> None:
    problem = random_problem(6)
    truth = search(problem).best
    assert truth is not None
    for patience in (0, 3, 9, 27):
        asked = itertools.count()
        found = bound_by_parts(problem, nodes=64, cancelled=partial(_patience_lost, asked, patience))
        assert 0 <= found <= truth.cost


@pytest.mark.slow
def test_thirty_attributes_have_a_bound_that_rises_with_time() -> None:
    problem = random_problem(30, rows=200, limit=0.2)
    bounds = list(growing_bounds(problem, most=8_000))
    assert bounds[0] < bounds[-1]
    found = search_anytime(problem, seconds=None, evaluations=2_000)
    assert found.best is not None
    assert found.bound >= bounds[-1]
    assert found.gap < 0.5
