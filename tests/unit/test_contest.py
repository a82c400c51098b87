"""The contest of methods: what is chosen by shape, what stands beside it, and that it ends when it shall."""

from __future__ import annotations

import datetime
import itertools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read
from discreet.errors import GoalUnreachable
from discreet.example import town
from discreet.policy import Policy
from discreet.policy.hierarchies import hierarchies
from discreet.policy.plan import Plan
from discreet.policy.suggest import suggest
from discreet.privacy import KAnonymity, LDiversity
from discreet.release.anonymize import anonymize
from discreet.release.prepare import count_classes, prepare
from discreet.release.profile import load_profile
from discreet.release.requirements import extended_goals, goals
from discreet.search.contest import contest, find
from discreet.search.lattice.evaluator import Evaluator
from discreet.search.lattice.search import search
from discreet.search.lattice.space import NodeGroups
from discreet.search.local.finer import finer
from discreet.search.local.trees import grown
from discreet.search.methods import METHODS, NODES, SHAPES, SearchResult, _best_trees
from discreet.search.mondrian.search import mondrian
from discreet.search.problem import Evaluation, Problem, make_problem
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import LEARNED, Hierarchy, Ladder
from discreet.table.hierarchies.learn import learn
from discreet.types import FloatArray

POLICY = Policy.of(
    quasi_identifiers=["age", "sex", "occupation", "education", "household_size"],
    require=[KAnonymity(11)],
    profile="research-partner-5",
)


@pytest.fixture(scope="module")
def problem() -> Problem:
    classes = count_classes(POLICY.fit(read(town(1200))), POLICY)
    ladders = [fitted.ladder for fitted in hierarchies(POLICY, classes)]
    return make_problem(classes, ladders, [KAnonymity(11)], suppression_limit=0.05)


@pytest.fixture(scope="module")
def results(problem: Problem) -> dict[str, SearchResult]:
    """The result of each shape, whatever else the machine does."""
    return {
        shape: find(problem, shape=shape, seconds=3600)  # type: ignore[arg-type]
        for shape in ("uniform", "nested", "free")
    }


@pytest.mark.slow
def test_every_shape_holds_and_a_freer_one_never_costs_more(results: dict[str, SearchResult]) -> None:
    for result in results.values():
        groups = result.recoding.groups()[result.recoding.kept]
        records = np.bincount(groups, weights=result.recoding.classes.records[result.recoding.kept])
        assert records[records > 0].min() >= 11
        assert result.recoding.suppressed_records <= 60
    assert results["free"].cost <= results["nested"].cost <= results["uniform"].cost
    assert SHAPES[results["uniform"].method] == "uniform"
    assert SHAPES[results["nested"].method] in ("uniform", "nested")


@pytest.mark.slow
def test_nested_labels_are_disjoint_or_inside_each_other(results: dict[str, SearchResult]) -> None:
    result = results["nested"]
    assert result.method == "local"
    for column in result.recoding.columns:
        labels = [text for text in column.texts().to_pylist() if text]
        texts = [set(text.strip("{}").split(", ")) for text in labels if text[0] == "{"]
        for one, other in itertools.combinations(texts, 2):
            assert one <= other or other <= one or not one & other
        spans = [text.strip("[]").split(", ") for text in labels if text[0] == "["]
        for (a, b), (c, d) in itertools.combinations([(float(low), float(high)) for low, high in spans], 2):
            assert b < c or d < a or (a <= c and d <= b) or (c <= a and b <= d)


@pytest.mark.slow
def test_nested_labels_come_near_to_the_ranges_of_mondrian() -> None:
    # With nothing but suggestions and the requirements of the default profile: at most 1.5 times the loss.
    table = read(town(750))
    policy = suggest(table)
    ready = prepare(count_classes(policy.fit(table), policy), policy, policy.plan)
    profile = load_profile(policy.profile)
    models = [*goals(policy, profile, ready.classes), *extended_goals(profile, ready.classes)[0]]
    problem = make_problem(ready.classes, ready.ladders, models, suppression_limit=0.05)
    assert find(problem, seconds=3600).cost <= 1.5 * find(problem, method="mondrian").cost


@pytest.mark.slow
def test_what_is_better_in_some_way_stands_beside_the_chosen_one(results: dict[str, SearchResult]) -> None:
    nested = results["nested"]
    others = {other.why: other for other in nested.others}
    assert others["most detail"].cost < nested.cost
    assert others["simplest labels"].shape == "uniform"
    assert set(others) <= {"most detail", "simplest labels", "nobody left out"}


@pytest.mark.slow
def test_a_release_makes_its_alternatives_when_asked() -> None:
    release = anonymize(read(town(600)), replace(POLICY, plan=Plan(unexamined="keep")))
    titles = [alternative.title for alternative in release.alternatives]
    assert "simplest labels" in titles
    simple = release.alternatives[titles.index("simplest labels")]
    other = simple.make()
    assert other.recoding.levels is not None
    assert other.after.measure("k-anonymity", None).value >= 11
    assert simple.outcome.loss == pytest.approx(other.outcome.loss)
    told = release.to_dict()["alternatives"]
    assert isinstance(told, list)
    beside = told[titles.index("simplest labels")]
    assert beside["values"] == {name: change["distinct_after"] for name, change in other.changes().items()}
    assert beside["workload_error"] == pytest.approx(other.workload_errors[0])
    assert len(release.workload_errors) == 1 + len(release.alternatives)


def test_a_machine_without_time_still_divides_along_one_tree(problem: Problem) -> None:
    # As on a machine so busy that the time is over before trees are compared: one grouping per column lost 75 % of taxis.
    hurried = find(problem, seconds=1e-9)
    uniform = find(problem, shape="uniform", seconds=1e-9)
    assert hurried.method == "local"
    assert hurried.cost < 0.7 * uniform.cost


def test_trees_are_halved_once_however_many_are_grown(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    halved = []

    def counted(ladder: Ladder, records: FloatArray) -> Ladder:
        halved.append(ladder.name)
        return finer(ladder, records)

    monkeypatch.setattr("discreet.search.local.finer.finer", counted)
    free = mondrian(problem.classes, problem.models, ladders=problem.ladders)
    _best_trees(problem, free, 0.0, lambda _: None)
    assert sorted(halved) == sorted(ladder.name for ladder in problem.ladders)


def test_what_is_released_as_it_is_answers_every_question() -> None:
    people = pa.table({"age": [31, 34, 47, 52] * 20, "sex": ["f", "f", "m", "m"] * 20})
    policy = Policy.of(
        quasi_identifiers=["age", "sex"], require=[KAnonymity(20)], profile="research-partner-3"
    )
    release = anonymize(people, policy)
    assert release.loss == 0
    assert release.workload_errors[0] == 0
    assert release.to_dict()["workload_error"] == 0


def test_what_nobody_can_meet_is_told() -> None:
    classes = EquivalenceClasses.from_columns({"a": ["x", "y"]}, sensitive={"dx": ["flu", "flu"]})
    ladder = Hierarchy.of("a", [["x", "*"], ["y", "*"]]).ladder(classes.attributes[0])
    with pytest.raises(GoalUnreachable):
        find(make_problem(classes, [ladder], [LDiversity(2, "dx")], suppression_limit=0.5))


# ── trees ────────────────────────────────────────────────────────────────────────────────────────────


def test_values_that_groups_hold_together_come_together_in_the_tree() -> None:
    letters = list("abcd")
    classes = EquivalenceClasses.from_columns({"x": [v for v in letters for _ in range(3)]})
    domain = Domain("x", pa.array(letters))
    ladder = replace(
        Hierarchy.of("x", [["a", "1", "*"], ["b", "1", "*"], ["c", "2", "*"], ["d", "2", "*"]]).ladder(
            domain
        ),
        assumed=LEARNED,
    )
    problem = make_problem(classes, [ladder], [KAnonymity(6)])
    groups = np.array([0, 1, 0, 1])
    steps = grown(problem, groups).ladders[0].steps
    assert [set(step.labels) for step in steps] == [set(letters), {"{a, c}", "{b, d}"}, {"*"}]
    given = replace(problem, ladders=(replace(ladder, assumed=None),))
    assert grown(given, groups).ladders == given.ladders  # what somebody gave is not changed


def test_numbers_come_together_with_their_neighbours_only() -> None:
    classes = EquivalenceClasses.from_columns({"x": [1, 2, 3, 4]})
    domain = Domain("x", pa.array([1, 2, 3, 4]))
    ladder = replace(Hierarchy.of("x", [[str(v), "*"] for v in (1, 2, 3, 4)]).ladder(domain), assumed=LEARNED)
    problem = make_problem(classes, [ladder], [KAnonymity(2)])
    steps = grown(problem, np.array([0, 1, 1, 0])).ladders[0].steps
    assert steps[1].labels == ("1", "[2, 3]", "4")


def test_what_is_wider_than_a_month_ends_where_months_do() -> None:
    days = [datetime.date(2023, 1, 1) + datetime.timedelta(days=d) for d in range(0, 720, 3)]
    classes = EquivalenceClasses.from_columns({"x": days})
    ladder = replace(learn(classes.attributes[0]).ladder(classes.attributes[0]), assumed=LEARNED)
    problem = make_problem(classes, [ladder], [KAnonymity(2)])
    groups = np.arange(len(days)) // 7
    fine = grown(problem, groups).ladders[0]
    for step in fine.steps:
        if len(step.labels) < 20:
            first = {int(step.codes[i]): days[i] for i in reversed(range(len(days)))}
            assert all(day.day <= 3 for day in first.values())


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_search_of_a_lattice_keeps_its_time_and_says_what_it_knows(problem: Problem) -> None:
    whole = search(problem)
    short = search(problem, seconds=0.0)
    assert short.evaluated < whole.evaluated
    assert not short.optimal
    assert short.bound <= whole.best.cost <= short.best.cost if whole.best and short.best else True


@pytest.mark.parametrize("method", ["optimal", "anytime", "subtree", "mondrian"])
def test_without_time_a_search_ends_where_it_begins(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Also before the clock, which goes in steps, has moved; what there is then is one group."""
    monkeypatch.setattr("discreet.search.clock.now", lambda: 5.0)
    result = find(problem, method=method, seconds=0.0)
    assert len(np.unique(result.recoding.groups())) == 1


def test_a_search_that_ends_by_work_always_ends_alike(problem: Problem) -> None:
    first, second = (search(problem, evaluations=40, threads=threads) for threads in (1, 2))
    assert first.best == second.best
    assert (first.bound, first.evaluated) == (second.bound, second.evaluated)


@pytest.mark.parametrize("method", ["optimal", "anytime"])
def test_every_search_of_a_lattice_is_bounded_by_work(
    problem: Problem, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour that is worth forty nodes: the machine may be as fast as it likes."""
    monkeypatch.setattr("discreet.search.methods.evaluations_for", lambda problem, seconds: 40)
    bounded = NODES[method](problem, 3600, lambda _: None)
    assert not bounded.optimal
    assert bounded.evaluated < search(problem).evaluated


def test_whoever_leaves_a_search_early_waits_for_one_node_per_thread(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [height + 1 for height in problem.heights]
    nodes = [tuple(map(int, node)) for node in itertools.islice(np.ndindex(*sizes), 200)]
    evaluator = Evaluator(problem)
    priced = []

    def price_and_leave(_: Problem, grouped: NodeGroups) -> Evaluation:
        priced.append(grouped.node)
        evaluator.__exit__(KeyboardInterrupt, None, None)
        return real(grouped)

    real = problem.price
    monkeypatch.setattr(Problem, "price", price_and_leave)
    assert len(evaluator._price(nodes)) == len(priced) == 1


def test_every_method_has_a_shape() -> None:
    assert set(SHAPES) == set(METHODS)


def test_a_contest_of_a_shape_that_nothing_fits_says_so(problem: Problem) -> None:
    strict = replace(problem, suppression_limit=0.0, models=(KAnonymity(5000),))
    with pytest.raises(GoalUnreachable):
        contest(strict, shape="uniform", seconds=5.0, progress=lambda _: None)


def test_clustering_takes_part_where_it_is_done_in_time() -> None:
    """Three people near each corner and in the middle: no cut of one attribute after the other finds these groups."""
    x = [0, 1, 2, 9, 8, 7, 0, 1, 2, 9, 8, 7, 4, 5, 4]
    y = [0, 1, 2, 0, 1, 2, 9, 8, 7, 9, 8, 7, 5, 4, 4]
    classes = EquivalenceClasses.from_columns({"x": x, "y": y})
    ladders = [learn(domain).ladder(domain) for domain in classes.attributes]
    few = make_problem(classes, ladders, [KAnonymity(3)], suppression_limit=0.0)
    assert find(few, shape="free").method == "clustering"
    assert find(few, shape="free").cost < find(few, method="mondrian").cost
    assert find(few, shape="free", seconds=1e-5).method != "clustering"
