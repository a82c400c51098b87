"""Every measure of loss by hand on a few rows, and against answers of scipy."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter, UnknownColumn
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.utility import (
    class_sizes,
    dependence,
    distances,
    distributions,
    entropy,
    precision,
    propensity,
    tradeoff,
    workload,
)
from discreet.utility.losses import measure_all
from discreet.utility.measures import MEASURES
from helpers.pairs import linked, value

JOBS = Hierarchy.of(
    "job", [["baker", "craft", "*"], ["smith", "craft", "*"], ["nurse", "care", "*"], ["medic", "care", "*"]]
)
TREES = {"job": JOBS}
BEFORE = {"age": [31, 34, 47, 52, 52], "job": ["baker", "smith", "nurse", "medic", "medic"]}
AFTER = {
    "age": ["[30, 39]", "[30, 39]", "47", "[50, 59]", "*"],
    "job": ["craft", "craft", "nurse", "{medic, smith}", "*"],
}


@pytest.fixture
def pair() -> Pair:
    """Five people: two generalised alike, one kept, one with a set across branches, one suppressed."""
    return linked(
        BEFORE,
        AFTER,
        hierarchies=TREES,
        sensitive={"pay": [1, 2, 3, 4, 4], "ill": ["flu", "no", "no", "no", "flu"]},
    )


# ── records and classes ────────────────────────────────────────────────────────────────────────────


def test_structure(pair: Pair) -> None:
    assert class_sizes.suppression_ratio(pair).value == pytest.approx(1 / 5)
    assert class_sizes.average_class_size(pair).value == pytest.approx(4 / 3)
    assert class_sizes.normalised_average_class_size(pair).value == pytest.approx(5 / 4)
    assert class_sizes.normalised_average_class_size(pair, k=2).value == pytest.approx(5 / 8)
    assert class_sizes.discernibility(pair).value == 2 * 2 + 1 + 1 + 5
    # The original has one class of two and three of one: 7.
    assert class_sizes.normalised_discernibility(pair).value == pytest.approx((11 - 7) / (25 - 7))
    assert class_sizes.number_of_classes(pair).value == 3
    with pytest.raises(InvalidParameter):
        class_sizes.normalised_average_class_size(pair, k=0)


# ── precision and distortion ───────────────────────────────────────────────────────────────────────


def test_precision_per_attribute(pair: Pair) -> None:
    # Age: 2 of 4 values twice, one value, 1 of 4 (only 52 lies in [50, 59]), nothing.
    assert value(precision.leaf_loss(pair), attribute="age") == pytest.approx((1 / 3 + 1 / 3 + 0 + 0 + 1) / 5)
    assert value(precision.leaf_loss(pair), attribute="job") == pytest.approx(
        (1 / 3 + 1 / 3 + 0 + 1 / 3 + 1) / 5
    )
    assert value(precision.interval_loss(pair), attribute="age") == pytest.approx(
        (9 / 21 + 9 / 21 + 0 + 9 / 21 + 1) / 5
    )
    assert all(m.attribute != "job" for m in precision.interval_loss(pair))
    # A set across two branches stands at the root.
    assert value(precision.height_loss(pair), attribute="job") == pytest.approx((0.5 + 0.5 + 0 + 1 + 1) / 5)
    assert value(precision.certainty_penalty(pair), attribute="job") == pytest.approx(
        (0.5 + 0.5 + 0 + 1 + 1) / 5
    )
    assert value(precision.iloss(pair), attribute="job") == pytest.approx((1 / 4 + 1 / 4 + 0 + 1 / 4 + 1) / 5)
    assert value(precision.ambiguity(pair)) == pytest.approx((2 * 2 + 2 * 2 + 1 + 1 * 2 + 4 * 4) / 5)


def test_weights(pair: Pair) -> None:
    found = precision.leaf_loss(pair, weights={"age": 3})
    age, job = found[1].value, found[2].value
    assert found[0].value == pytest.approx((3 * age + job) / 4)
    assert value(precision.leaf_loss(pair, weights={"age": 0})) == pytest.approx(job)
    with pytest.raises(UnknownColumn):
        precision.leaf_loss(pair, weights={"aeg": 1})
    with pytest.raises(InvalidParameter):
        precision.leaf_loss(pair, weights={"age": -1})
    assert math.isnan(value(precision.interval_loss(pair, weights={"age": 0})))


def test_distortion_counts_steps() -> None:
    pair = linked({"job": BEFORE["job"]}, {"job": AFTER["job"]}, hierarchies=TREES)
    assert value(precision.minimal_distortion(pair)) == 1 + 1 + 0 + 2 + 2
    assert value(precision.generalisation_height(pair)) == 4
    assert "different levels" in precision.minimum_absolute_distance(pair)[0].notes[0]
    whole = linked(
        {"job": BEFORE["job"]}, {"job": ["craft", "craft", "care", "care", "*"]}, hierarchies=TREES
    )
    assert value(precision.minimum_absolute_distance(whole)) == 1
    assert value(precision.minimum_relative_distance(whole)) == 0.5
    assert value(precision.minimum_absolute_distance(whole.unchanged())) == 0


def test_a_label_on_two_levels_stands_with_its_column() -> None:
    tree = Hierarchy.of("a", [["1", "low", "*"], ["2", "low", "*"], ["3", "3", "*"]])
    pair = linked({"a": [1, 2, 3]}, {"a": ["low", "low", "3"]}, hierarchies={"a": tree})
    assert value(precision.height_loss(pair)) == 0.5
    assert value(precision.height_loss(pair.unchanged())) == 0


def test_a_missing_number_stands_alone_or_for_anything() -> None:
    before = {"age": [30, 40, None, None]}
    pair = linked(before, {"age": ["[30, 40]", "[30, 40]", None, "*"]})
    assert value(precision.interval_loss(pair)) == pytest.approx((1 + 1 + 0 + 1) / 4)
    mixed = linked(before, {"age": ["30", "40", None, None]})
    assert value(precision.interval_loss(mixed)) == 0


# ── across data ──────────────────────────────────────────────────────────────────────────────────────


def test_across_data(pair: Pair) -> None:
    moved = [3.5 / 21, 0.5 / 21, 0, 2.5 / 21]
    assert value(distances.cross_absolute(pair), attribute="age") == pytest.approx((sum(moved) + 1) / 5)
    assert value(distances.cross_squared(pair)) == pytest.approx((sum(m * m for m in moved) + 1) / 5)
    assert value(distances.cross_common_ancestor(pair), attribute="job") == pytest.approx(
        value(precision.certainty_penalty(pair), attribute="job")
    )
    # The suppressed age stands in the middle of 31 and 52.
    assert value(distances.average_distance(pair), attribute="age") == pytest.approx(
        (3.5 + 0.5 + 0 + 2.5 + 10.5) / 5
    )


def test_swapped_values_lose_only_across_data() -> None:
    swapped = linked({"job": ["baker", "medic"]}, {"job": ["medic", "baker"]}, hierarchies=TREES)
    assert value(precision.certainty_penalty(swapped)) == 0
    assert value(distances.cross_common_ancestor(swapped)) == 1
    near = linked({"job": ["baker", "smith"]}, {"job": ["smith", "baker"]}, hierarchies=TREES)
    assert value(distances.cross_common_ancestor(near)) == 0.5
    assert value(entropy.non_uniform_entropy(near), "non-uniform-entropy") == 2
    # Without a hierarchy: the numbers between, or the set of both.
    ages = linked({"age": [1, 2, 5, 9]}, {"age": [5, 2, 1, 9]})
    assert value(distances.cross_common_ancestor(ages)) == pytest.approx((3 / 4 + 0 + 3 / 4 + 0) / 4)
    sexes = linked({"sex": list("fmxx")}, {"sex": list("mfxx")})
    assert value(distances.cross_common_ancestor(sexes)) == pytest.approx((2 / 3 + 2 / 3) / 4)


def test_distance_of_records() -> None:
    pair = linked({"x": [0, 10], "c": ["a", "b"]}, {"x": ["5", "10"], "c": ["{a, b}", "b"]})
    first = math.sqrt(0.5 * 0.5**2 + 0.5 * (1 - 1 / 2) / 2)
    assert value(distances.average_euclidean_distance(pair)) == pytest.approx(first / 2)


def test_sums_of_squares() -> None:
    groups = linked({"x": [1, 3, 8, 12]}, {"x": ["[0, 4]", "[0, 4]", "[5, 15]", "[5, 15]"]})
    means = linked({"x": [1, 3, 8, 12]}, {"x": [2, 2, 10, 10]})
    sst = sum((x - 6) ** 2 for x in (1, 3, 8, 12))
    assert (
        value(distances.sse_sst(groups))
        == value(distances.sse_sst(means))
        == pytest.approx((1 + 1 + 4 + 4) / sst)
    )
    noise = linked({"x": [1, 3]}, {"x": [13, -9]})
    assert value(distances.sse_sst(noise)) > 1


def test_condensation() -> None:
    pair = linked(
        {"x": [0, 5, 8, 10], "c": list("abbb")},
        {"x": ["[0, 5]"] * 2 + ["[8, 10]"] * 2, "c": ["{a, b}"] * 2 + ["b"] * 2},
    )
    found = distances.relative_condensation_loss(pair)
    assert value(found, attribute="x") == pytest.approx((0.5 + 0.5 + 0.2 + 0.2) / 4)
    assert value(found, attribute="c") == 0.5
    assert value(found) == pytest.approx((2 * math.sqrt((0.25 + 1) / 2) + 2 * math.sqrt(0.04 / 2)) / 4)


# ── information ────────────────────────────────────────────────────────────────────────────────────


def test_entropies() -> None:
    before = {"job": ["baker", "smith", "smith", "smith", "nurse", "nurse", "medic", "medic"]}
    pair = linked(before, {"job": ["craft"] * 4 + ["nurse", "nurse", "*", "*"]}, hierarchies=TREES)
    craft = stats.entropy([1, 3], base=2)
    all_ = stats.entropy([1, 3, 2, 2], base=2)
    assert value(entropy.conditional_entropy(pair), "conditional-entropy") == pytest.approx(
        4 * craft + 2 * all_
    )
    assert value(entropy.conditional_entropy(pair), "conditional-entropy-share") == pytest.approx(
        (4 * craft + 2 * all_) / (8 * all_)
    )
    assert value(entropy.monotone_entropy(pair), "monotone-entropy") == pytest.approx(
        4 * craft / 2 + 2 * all_
    )
    surprise = math.log2(4) + 3 * math.log2(4 / 3) + 2 * math.log2(8 / 2)
    assert value(entropy.non_uniform_entropy(pair), "non-uniform-entropy") == pytest.approx(surprise)
    assert value(entropy.entropy_information_loss(pair)) == pytest.approx((4 * 1 + 2 * 2) / (8 * 2))


# ── distributions and relations ────────────────────────────────────────────────────────────────────


def test_distances_of_distributions_agree_with_scipy() -> None:
    ages = [20, 25, 25, 31, 38, 44, 52]
    after = [20, 31, 31, 31, 38, 52, 52]
    found = distributions.marginals(linked({"age": ages}, {"age": after}), "age")
    assert found is not None
    assert distributions.emd(found) == pytest.approx(stats.wasserstein_distance(ages, after) / 32)
    assert distributions.js_divergence(found) == pytest.approx(
        jensenshannon(found.before, found.after, base=2) ** 2
    )
    assert distributions.kl_divergence(found) == math.inf
    jobs = linked(
        {"job": ["baker", "baker", "smith", "nurse"]},
        {"job": ["smith", "baker", "smith", "nurse"]},
        hierarchies=TREES,
    )
    found = distributions.marginals(jobs, "job")
    assert found is not None
    assert distributions.kl_divergence(found) == pytest.approx(
        stats.entropy(found.before, found.after, base=2)
    )
    assert distributions.emd(found) == distributions.total_variation(found) == 0.25
    squared = (math.sqrt(0.5) - math.sqrt(0.25)) ** 2
    assert distributions.hellinger(found) == pytest.approx(math.sqrt(squared))


def test_made_up_numbers_move_the_distribution_by_their_distance() -> None:
    ages, means = [20, 30, 40, 50], [25.0, 25.0, 45.0, 45.0]
    pair = linked({"age": ages}, {"age": means})
    found = distributions.marginals(pair, "age")
    assert found is not None
    assert distributions.emd(found) == pytest.approx(stats.wasserstein_distance(ages, means) / 30)
    assert distributions.total_variation(found) == 1
    assert distributions.rolled_up(pair, "age") is None


def test_what_no_quasi_identifier_tells_is_not_0_overall() -> None:
    """Overlapping ages cannot be rolled up; that the sensitive attribute did not change says nothing about them."""
    ages, shown = [31, 34, 47], ["[30, 39]", "34", "47"]
    pair = linked({"age": ages}, {"age": shown}, sensitive={"ill": ["flu", "cold", "cold"]})
    overall = {
        measure.name: measure for measure in distributions.distributions(pair) if not measure.attribute
    }
    rolled = overall["total-variation-rolled-up"]
    assert math.isnan(rolled.value)
    assert rolled.notes[0].startswith("not defined here")
    assert overall["total-variation"].value > 0


def test_the_original_rolled_up() -> None:
    pair = linked({"age": [31, 34, 47, 52]}, {"age": ["[30, 39]", "*", "[40, 59]", "[40, 59]"]})
    found = distributions.rolled_up(pair, "age")
    assert found is not None
    assert distributions.total_variation(found) == pytest.approx(abs(1 / 2 - 1 / 3))
    overlapping = linked({"age": [31, 34, 47]}, {"age": ["[30, 39]", "34", "47"]})
    assert distributions.rolled_up(overlapping, "age") is None
    nothing = distributions.rolled_up(pair.trivial(), "age")
    assert nothing is not None
    assert distributions.total_variation(nothing) == 1


def test_the_z_test_of_the_mean() -> None:
    ages, after = [20, 25, 31, 38, 44], [20, 31, 31, 38, 52]
    tested = distributions.mean_z_test(linked({"age": ages}, {"age": after}), "age")
    assert tested is not None
    error = math.sqrt(np.var(ages, ddof=1) / 5 + np.var(after, ddof=1) / 5)
    assert tested[0] == pytest.approx(abs(np.mean(ages) - np.mean(after)) / error)
    assert tested[1] == pytest.approx(2 * stats.norm.sf(tested[0]))


def test_joint_divergence_by_hand() -> None:
    pair = linked(
        {"job": ["baker", "baker", "smith", "nurse"]}, {"job": ["craft"] * 3 + ["*"]}, hierarchies=TREES
    )
    p, q = [0.5, 0.25, 0.25], [0.75 / 2, 0.75 / 2, 0.25 / 4]
    expected = sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True))
    assert value(distributions.joint_kl_divergence(pair)) == pytest.approx(expected)


def test_matrices_agree_with_scipy() -> None:
    x, y = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 7, 9]
    c, d = list("aabbcc"), list("uuvvvu")
    pair = linked(
        {"x": x, "c": c}, {"x": ["[1, 2]"] * 2 + ["3", "4", "5", "*"], "c": c}, sensitive={"y": y, "d": d}
    )
    found = dependence.matrices(pair)
    assert found.names == ("x", "c", "y", "d")
    assert found.before["pearson"][0, 2] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found.before["spearman"][0, 2] == pytest.approx(stats.spearmanr(x, y).statistic)
    shown = [1.5, 1.5, 3, 4, 5]
    assert found.after["pearson"][0, 2] == pytest.approx(stats.pearsonr(shown, y[:5]).statistic)
    assert found.after["spearman"][0, 2] == pytest.approx(stats.spearmanr(shown, y[:5]).statistic)
    table = stats.contingency.crosstab(c, d).count
    assert found.before["cramers-v"][1, 3] == pytest.approx(
        stats.contingency.association(table, method="cramer")
    )
    assert math.isnan(found.before["pearson"][0, 1])
    assert found.change("cramers-v") >= 0
    assert np.allclose(found.difference("mutual-information")[1, 3], 0)


# ── answers to queries ─────────────────────────────────────────────────────────────────────────────


def test_a_query_is_answered_by_even_spread() -> None:
    pair = linked({"age": [30, 31, 32, 33]}, {"age": ["[30, 33]"] * 4}, sensitive={"pay": [10, 20, 30, 40]})
    meaning = pair.meaning("age")
    side = workload._CountedTable.of(pair.released, pair.meaning, ["age"], "pay", released=True)
    inside = list(workload._inside(meaning, np.array([[True, False, False, True]])))
    assert side.answer("count", inside) == 2
    assert side.answer("sum", inside) == pytest.approx(50)
    assert side.answer("average", inside) == pytest.approx(25)
    assert math.isnan(side.answer("average", [np.zeros(1)]))


def test_a_workload_is_repeatable_and_exact_on_the_original(pair: Pair) -> None:
    first, again = (workload.random_workload(pair, queries=200, seed=7) for _ in range(2))
    other = workload.random_workload(pair, queries=200, seed=8)
    assert all(np.array_equal(first.errors[one], again.errors[one]) for one in workload.AGGREGATES)
    assert any(not np.array_equal(first.errors[one], other.errors[one]) for one in workload.AGGREGATES)
    same = workload.random_workload(pair.unchanged(), queries=200)
    assert max(errors.max() for errors in same.errors.values()) < 1e-12
    assert all(len(errors) for errors in same.errors.values())
    assert same.unanswered == 0
    assert first.errors["count"].max() > 0
    with pytest.raises(InvalidParameter):
        workload.random_workload(pair, selectivity=0)


def test_a_made_up_number_is_inside_or_not_and_a_made_up_category_gives_no_answer() -> None:
    means = linked({"age": [20, 30, 40, 50]}, {"age": [25.0, 25.0, 45.0, 45.0]})
    assert workload._inside(means.meaning("age"), np.array([[True, True, False, False]])).tolist() == [[1, 0]]
    jobs = linked({"job": ["baker", "smith"]}, {"job": ["potter", "potter"]})
    found = workload.random_workload(jobs, queries=10)
    assert found.unanswered == found.asked == 10
    assert value(found.measures(), "unanswered-queries") == 1


# ── use against risk ───────────────────────────────────────────────────────────────────────────────


def test_what_an_intruder_gains() -> None:
    ill = ["flu", "flu", "no", "no", "no", "no"]
    towns = linked({"town": list("gggggl")}, {"town": list("gggggl")}, sensitive={"ill": ill})
    in_g, in_l, table = (0.4, 0.6), (0.0, 1.0), (1 / 3, 2 / 3)
    additive = (5 * abs(0.4 - 1 / 3) + 1 / 3) / 6
    assert value(tradeoff.knowledge_gain_additive(towns), attribute="ill") == pytest.approx(additive)
    logs = (5 * (abs(math.log(0.4 * 3)) + abs(math.log(0.6 * 1.5))) + math.log(1.5)) / 6
    assert value(tradeoff.knowledge_gain_multiplicative(towns), attribute="ill") == pytest.approx(logs)
    assert value(tradeoff.accuracy_gain(towns), attribute="ill") == 0
    worst = max(jensenshannon(one, table, base=2) ** 2 for one in (in_g, in_l))
    assert value(tradeoff.worst_case_privacy_loss(towns), attribute="ill") == pytest.approx(worst)
    told = linked(
        {"town": list("ggll")}, {"town": list("ggll")}, sensitive={"ill": ["flu", "flu", "no", "no"]}
    )
    assert value(tradeoff.accuracy_gain(told), attribute="ill") == 0.5
    assert value(tradeoff.min_entropy_leakage(told), "min-entropy-leakage", "ill") == 1
    assert value(tradeoff.min_entropy_leakage(told), "min-entropy-leakage-bound", "ill") == 1


def test_leakage_of_differential_privacy() -> None:
    e = math.exp(0.5)
    assert tradeoff.differential_leakage_bound(3, 4, 0.5) == pytest.approx(3 * math.log2(4 * e / (3 + e)))
    with pytest.raises(InvalidParameter):
        tradeoff.differential_leakage_bound(3, 1, 0.5)


def test_utility_against_privacy(pair: Pair) -> None:
    # From craft one of two is guessed right; all others, even of the suppressed, for medics are the most.
    assert value(tradeoff.global_utility(pair)) == pytest.approx(4 / 5)
    assert value(tradeoff.global_utility(pair), attribute="job") == pytest.approx(4 / 5)
    whole = linked({"job": ["baker", "smith"] * 2}, {"job": ["craft"] * 4}, hierarchies=TREES)
    assert value(tradeoff.igpl(whole)) == 0
    assert value(tradeoff.igpl(whole.unchanged())) == pytest.approx(1 / (1 + 1))
    loss = value(precision.leaf_loss(pair))
    privacy = 1 - 3 / 4
    assert value(tradeoff.sanitisation_degree(pair)) == pytest.approx(
        2 * (1 - loss) * privacy / (1 - loss + privacy)
    )


# ── releases of other kinds ──────────────────────────────────────────────────────────────────────────


def test_everything_is_measured_and_json_ready(pair: Pair) -> None:
    losses = measure_all(pair, queries=60, costs={"ill": {}})
    emitted = {m.name for m in (*losses.overall, *losses.attributes)}
    assert emitted == set(MEASURES)
    for measure in (*losses.overall, *losses.attributes, *losses.trivial):
        definition = MEASURES[measure.name].definition
        assert (measure.better, measure.source) == (definition.better, definition.source)
        assert not math.isnan(measure.value) or measure.notes
    json.dumps(losses.to_dict(), allow_nan=False)
    said: list[str] = []
    measure_all(pair, queries=3, progress=said.append)
    assert "random queries" in said


def test_microaggregated_release() -> None:
    pair = linked(
        {"age": [20, 30, 40, 50], "job": ["baker", "smith", "nurse", "nurse"]},
        {"age": [25.0, 25.0, 45.0, 45.0], "job": ["baker", "baker", "nurse", "nurse"]},
        hierarchies=TREES,
    )
    losses = measure_all(pair, queries=50)
    loss = losses.measure("leaf-loss")
    assert loss is not None
    assert math.isnan(loss.value)
    assert loss.notes[0].startswith("not defined here")
    assert value(losses.attributes, "leaf-loss", "job") == 0
    assert value(losses.attributes, "average-distance", "age") == 5
    assert value(losses.attributes, "sse-sst", "age") == pytest.approx(100 / 500)
    assert value(losses.attributes, "cross-common-ancestor", "job") == pytest.approx(0.5 / 4)


def test_unknown_links_leave_out_what_compares_records(pair: Pair) -> None:
    alone = Pair.of(pair.original, pair.released, hierarchies=TREES)
    losses, known = measure_all(alone, queries=30), measure_all(pair, queries=30)
    undefined = {m.name for m in losses.overall if math.isnan(m.value)} - {
        m.name for m in known.overall if math.isnan(m.value)
    }
    assert undefined == {
        "joint-kl-divergence",
        "global-utility",
        "cross-squared",
        "cross-absolute",
        "cross-common-ancestor",
        "average-euclidean-distance",
        "sse-sst",
        "relative-condensation-loss",
        "non-uniform-entropy",
        "non-uniform-entropy-share",
    }
    found = losses.measure("cross-squared")
    assert found is not None
    assert "not known" in found.notes[0]


def test_a_release_without_a_column_has_lost_it(pair: Pair) -> None:
    released = EquivalenceClasses.from_columns({"job": BEFORE["job"]})
    losses = measure_all(Pair.of(pair.original, released, hierarchies=TREES), queries=30)
    assert value(losses.attributes, "leaf-loss", "age") == 1
    assert value(losses.attributes, "leaf-loss", "job") == 0
    assert not [m for m in losses.attributes if m.attribute == "ill" and m.name == "accuracy-gain"]


def test_a_release_with_more_records_than_the_original() -> None:
    original = EquivalenceClasses.from_columns({"job": ["baker", "smith"]})
    released = EquivalenceClasses.from_columns({"job": ["baker"] * 3 + ["smith"] * 3})
    losses = measure_all(Pair.of(original, released, hierarchies=TREES), queries=20)
    assert value(losses.overall, "suppression-ratio") == 0
    assert value(losses.overall, "leaf-loss") == 0
    assert value(losses.overall, "total-variation") == 0


def test_a_release_of_nothing(pair: Pair) -> None:
    nothing = Pair.of(pair.original, pair.released.subset(np.array([], dtype=np.int64)), hierarchies=TREES)
    losses = measure_all(nothing, queries=20)
    assert value(losses.overall, "suppression-ratio") == 1
    assert value(losses.overall, "leaf-loss") == 1
    json.dumps(losses.to_dict(), allow_nan=False)


def test_directions_in_which_no_row_goes_change_no_chance() -> None:
    rng = np.random.default_rng(3)
    design = np.hstack([np.ones((12, 1)), rng.random((12, 40)) < 0.3]).astype(np.float64)
    released, weights = np.repeat([0.0, 1.0], 6), rng.integers(1, 9, 12).astype(np.float64)
    fewer = propensity._without_idle_directions(design)
    assert fewer.shape == (12, 12)
    assert np.allclose(
        propensity._fitted(fewer, released, weights), propensity._fitted(design, released, weights), atol=1e-7
    )
    assert propensity._without_idle_directions(design.T) is not fewer
    assert np.shares_memory(propensity._without_idle_directions(design.T), design)
