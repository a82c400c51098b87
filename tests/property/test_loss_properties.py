"""What must hold for every loss: nothing changed is nothing lost, and the search minimised the same numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.measure import Measure
from discreet.privacy import KAnonymity
from discreet.search.problem import Grouper, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.recoding import Recoding
from discreet.utility.class_sizes import normalised_average_class_size
from discreet.utility.losses import Losses, measure_all
from discreet.utility.measures import MEASURES
from discreet.utility.objectives.registry import build_objective
from discreet.utility.precision import interval_loss
from helpers.pairs import linked, pair_of_recoding, value
from helpers.profiles import tries

# No label stands on two levels: a released value tells how far it was generalised.
NUMBERS = Hierarchy.of(
    "n",
    [
        ["1", "[1, 2]", "[1, 4]", "*"],
        ["2", "[1, 2]", "[1, 4]", "*"],
        ["3", "[3, 4]", "[1, 4]", "*"],
        ["4", "[3, 4]", "[1, 4]", "*"],
        ["5", "[5, 6]", "[5, 9]", "*"],
        ["9", "[7, 9]", "[5, 9]", "*"],
    ],
)
LETTERS = Hierarchy.of("c", [["a", "ab", "*"], ["b", "ab", "*"], ["x", "xy", "*"], ["y", "xy", "*"]])
TREES = {"n": NUMBERS, "c": LETTERS}

rows = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 4, 5, 9]),
        st.sampled_from("abxy"),
        st.sampled_from("uvw"),
        st.integers(0, 3),
    ),
    min_size=2,
    max_size=14,
)
nodes = st.tuples(st.integers(0, 3), st.integers(0, 2))
Rows = list[tuple[int, str, str, int]]

ZERO = {
    "suppression-ratio", "normalised-discernibility", "leaf-loss", "interval-loss", "height-loss", "certainty-penalty",
    "cross-squared", "cross-absolute", "cross-common-ancestor", "conditional-entropy", "conditional-entropy-share",
    "monotone-entropy", "monotone-entropy-share", "non-uniform-entropy", "non-uniform-entropy-share",
    "entropy-information-loss", "minimal-distortion", "generalisation-height", "minimum-absolute-distance",
    "minimum-relative-distance", "iloss", "average-euclidean-distance", "average-distance", "sse-sst",
    "relative-condensation-loss", "emd", "kl-divergence", "js-divergence", "total-variation", "hellinger",
    "kl-divergence-rolled-up", "js-divergence-rolled-up", "total-variation-rolled-up", "hellinger-rolled-up", "mean-z",
    "pearson-change", "spearman-change", "cramers-v-change", "mutual-information-change",
    "count-error-median", "count-error-mean", "sum-error-median", "sum-error-mean", "average-error-median",
    "average-error-mean", "unanswered-queries",
}  # fmt: skip
"""Measures that a release of the unchanged original has as 0."""

MONOTONE = (
    "suppression-ratio", "average-class-size", "normalised-discernibility", "leaf-loss", "interval-loss", "height-loss",
    "certainty-penalty", "cross-common-ancestor", "monotone-entropy", "non-uniform-entropy",
    "entropy-information-loss", "minimal-distortion", "generalisation-height", "minimum-absolute-distance",
    "minimum-relative-distance", "iloss", "ambiguity", "sse-sst", "relative-condensation-loss", "joint-kl-divergence",
)  # fmt: skip
"""Measures that never fall when a column is generalised further and nothing is suppressed."""


def generalised(found: Rows, node: tuple[int, int], kept: np.ndarray | None = None) -> Pair:
    """Rows with each column at a level; everything kept unless told otherwise."""
    classes = EquivalenceClasses.from_columns(
        {"n": [row[0] for row in found], "c": [row[1] for row in found]},
        sensitive={"s": [row[2] for row in found], "w": [row[3] for row in found]},
    )
    ladders = [TREES[domain.name].ladder(domain) for domain in classes.attributes]
    shown = np.ones(len(classes), dtype=bool) if kept is None else kept
    recoding = Recoding.of_node(classes, ladders, node, shown, method="lattice")
    pair = pair_of_recoding(recoding)
    return Pair.of(pair.original, pair.released, hierarchies=TREES, links=pair.links)


def by_name(losses: Losses) -> dict[tuple[str, str | None], float]:
    return {(m.name, m.attribute): m.value for m in (*losses.overall, *losses.attributes)}


@tries(25)
@given(rows)
def test_no_change_is_no_loss(found: Rows) -> None:
    losses = measure_all(generalised(found, (0, 0)).unchanged(), queries=20)
    for (name, attribute), loss in by_name(losses).items():
        if name in ZERO and not math.isnan(loss):
            assert abs(loss) < 1e-9, (name, attribute)
    assert value(losses.overall, "global-utility") == 1
    assert value(losses.overall, "ambiguity") == 1


@tries(25)
@given(rows)
def test_total_suppression_is_full_loss(found: Rows) -> None:
    pair = generalised(found, (0, 0))
    assume(all(len(set(column)) > 1 for column in list(zip(*found, strict=True))[:2]))
    starred = by_name(measure_all(pair.trivial(), queries=5))
    dropped = replace(
        pair,
        released=pair.released.subset(np.empty(0, dtype=np.int64)),
        links=Links(np.arange(len(pair.original)), np.full(len(pair.original), -1), pair.original.records),
    )
    gone = by_name(measure_all(dropped, queries=5))
    full = {
        name: entry.definition.full for name, entry in MEASURES.items() if entry.definition.full is not None
    }
    assert len(full) > 15
    for name, most in full.items():
        assert starred[name, None] == pytest.approx(most), name
        assert gone[name, None] == pytest.approx(most), name


@tries(25)
@given(rows, nodes, nodes)
def test_coarser_never_loses_less(found: Rows, first: tuple[int, int], second: tuple[int, int]) -> None:
    fine = (min(first[0], second[0]), min(first[1], second[1]))
    coarse = (max(first[0], second[0]), max(first[1], second[1]))
    low, high = (by_name(measure_all(generalised(found, node), queries=1)) for node in (fine, coarse))
    for name in MONOTONE:
        below, above = low[name, None], high[name, None]
        assert above >= below - 1e-9, (name, below, above)


@tries(25)
@given(rows, nodes, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(found: Rows, node: tuple[int, int], random: object) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = (by_name(measure_all(generalised(one, node), queries=20)) for one in (found, shuffled))
    assert first.keys() == second.keys()
    for key, loss in first.items():
        assert second[key] == pytest.approx(loss, nan_ok=True), key


@tries(25)
@given(rows, nodes)
def test_names_of_categories_change_nothing(found: Rows, node: tuple[int, int]) -> None:
    """Other names, in another order; random queries ask for other categories then and are left out."""
    other = dict(zip("abxy", "zkjg", strict=True))
    tree = Hierarchy.of("c", [[other[leaf], f"<{above}>", top] for leaf, above, top in LETTERS.rows()])
    pair = generalised(found, node)
    labels = {"ab": "<ab>", "xy": "<xy>", "*": "*", **other}
    before = {"n": [row[0] for row in found], "c": [other[row[1]] for row in found]}
    lookup = [pair.released.labels(int(at)) for at in pair.links.released] if pair.links is not None else []
    by_class = {tuple(pair.original.labels(at).values()): lookup[at] for at in range(len(pair.original))}
    shown = [by_class[str(row[0]), row[1]] for row in found]
    renamed = linked(
        before,
        {"n": [one["n"] for one in shown], "c": [labels[one["c"]] for one in shown]},
        hierarchies={"n": NUMBERS, "c": tree},
        sensitive={"s": [row[2] for row in found], "w": [row[3] for row in found]},
    )
    first, second = by_name(measure_all(pair, queries=1)), by_name(measure_all(renamed, queries=1))
    for key, loss in first.items():
        if MEASURES[key[0]].definition.family != "Answers to queries":
            assert second[key] == pytest.approx(loss, nan_ok=True), key


# ── the same numbers as the objectives of the search ─────────────────────────────────────────────────


@dataclass(frozen=True)
class MeasuredLosses:
    overall: dict[str, float]
    leaf: tuple[float, ...]
    records: int
    k: int


SAME = {
    "loss": lambda f: f.overall["leaf-loss"],
    "loss-geometric": lambda f: math.sqrt((1 + f.leaf[0]) * (1 + f.leaf[1])) - 1,
    "loss-max": lambda f: max(f.leaf),
    "ncp": lambda f: f.overall["certainty-penalty"],
    "precision": lambda f: f.overall["height-loss"],
    "entropy": lambda f: f.overall["non-uniform-entropy"] / (2 * f.records * math.log2(f.records)),
    "conditional-entropy": lambda f: f.overall["conditional-entropy"] / (2 * f.records),
    "discernibility": lambda f: f.overall["discernibility"],
    "ambiguity": lambda f: f.overall["ambiguity"],
    "kl-divergence": lambda f: f.overall["joint-kl-divergence"],
}
"""What each objective of the search is, in terms of the measures."""


@tries(25)
@given(rows, nodes, st.integers(1, 3))
def test_the_search_minimises_these_measures(found: Rows, node: tuple[int, int], k: int) -> None:
    pair = generalised(found, node)
    classes = pair.original
    ladders = [TREES[domain.name].ladder(domain) for domain in classes.attributes]
    problem = make_problem(classes, ladders, [KAnonymity(k)])
    owner, kept = problem.partition(problem.evaluate(node, Grouper(problem)))
    pair = generalised(found, node, kept[owner])
    losses = measure_all(pair, queries=1)
    leaf = tuple(m.value for m in losses.attributes if m.name == "leaf-loss")
    told = MeasuredLosses({m.name: m.value for m in losses.overall}, leaf, len(found), k)
    for name, measure in SAME.items():
        wanted = make_problem(classes, ladders, [KAnonymity(k)], objective=build_objective(name))
        cost = wanted.evaluate(node, Grouper(wanted)).cost
        assert measure(told) == pytest.approx(cost, abs=1e-9), name


@tries(25)
@given(rows, nodes, st.integers(1, 3))
def test_the_search_minimises_the_widths_and_the_average_class(
    found: Rows, node: tuple[int, int], k: int
) -> None:
    # The * of a constant column hides nothing and is free to the search; here it is a suppressed value.
    assume(len({row[0] for row in found}) > 1)
    pair = generalised(found, node)
    ladders = [TREES[domain.name].ladder(domain) for domain in pair.original.attributes]
    sizes = make_problem(
        pair.original, ladders, [KAnonymity(k)], objective=build_objective("average-class-size")
    )
    owner, kept = sizes.partition(sizes.evaluate(node, Grouper(sizes)))
    shown = generalised(found, node, kept[owner])
    assert normalised_average_class_size(shown, k=k).value == pytest.approx(
        sizes.evaluate(node, Grouper(sizes)).cost
    )
    numbers = pair.original.project(["n"])
    widths = make_problem(numbers, ladders[:1], [KAnonymity(1)], objective=build_objective("interval"))
    first: Measure = interval_loss(generalised(found, (node[0], 0)))[0]
    assert first.value == pytest.approx(widths.evaluate((node[0],), Grouper(widths)).cost)
