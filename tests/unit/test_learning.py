"""Features from counted classes, and what can be learned from a release: by hand and by properties."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.errors import InvalidParameter, MissingDependency, UnknownColumn, UnsuitableColumn
from discreet.table.domain import Domain
from discreet.utility.efficacy import (
    Efficacy,
    Score,
    Scores,
    _held_out,
    _released_rows,
    _rows_of,
    efficacy,
    weighted_auc,
)
from discreet.utility.encoding import MAX_COLUMNS, NUMBER_BINS, Encoder, Labels, codes_in
from discreet.utility.learners import CLASSIFIERS, _Layout, learn

columns = EquivalenceClasses.from_columns


def encoded(original: Sequence[object], released: Sequence[object]) -> tuple[Encoder, Pair]:
    pair = Pair.of(columns({"x": original}), columns({"x": released}))
    return Encoder.of(pair), pair


def released_of(encoder: Encoder, pair: Pair, value: str) -> np.ndarray:
    labels = [pair.released.labels(c)["x"] for c in range(len(pair.released))]
    return encoder.released(np.array([labels.index(value)])).shares.toarray()[0]


# ── encoding ─────────────────────────────────────────────────────────────────────────────────────────


def test_members_share_a_set_by_what_the_rest_of_the_release_shows() -> None:
    # Spread evenly, {a, b} gives one record each: a is expected 3 + 1 times, b 0 + 1.
    encoder, pair = encoded(["a", "b", "c"], ["a"] * 3 + ["{a, b}"] * 2 + ["c"])
    assert released_of(encoder, pair, "{a, b}") == pytest.approx([4 / 5, 1 / 5, 0], abs=1e-5)
    assert released_of(encoder, pair, "a").tolist() == [1, 0, 0]
    # Of the records expected at a, 3 are printed "a" and 2 * 4/5 "{a, b}": a reads as their mean.
    read = encoder.original(pair.original.codes).shares.toarray()
    first = (3 + 1.6 * 4 / 5) / (3 + 1.6)
    assert read[0] == pytest.approx([first, 1 - first, 0], abs=1e-5)
    assert read[1] == pytest.approx([4 / 5, 1 / 5, 0], abs=1e-5)
    assert read[2] == pytest.approx([0, 0, 1])


def test_a_suppressed_value_is_spread_over_everything_and_does_not_blur_what_is_shown() -> None:
    encoder, pair = encoded(["a", "b"], ["a"] * 3 + ["b"] + ["*"] * 4)
    assert released_of(encoder, pair, "*") == pytest.approx([3 / 4, 1 / 4], abs=1e-5)
    assert encoder.original(pair.original.codes).shares.toarray() == pytest.approx(np.eye(2))


def test_numbers_are_centres_and_widths_and_read_as_they_are_printed() -> None:
    encoder, pair = encoded([31, 34, 47], ["[30, 39]", "[30, 39]", "47", "47"])
    found = encoder.released(np.array([0, 1])).numbers
    order = np.argsort(found[:, 0])
    assert found[order, 0].tolist() == [-1, 1]  # 34.5 and 47, standardised
    assert found[order, 1].tolist() == [1, -1]  # 9 and 0 wide
    assert found[:, 2].tolist() == [0, 0]  # none is missing
    assert encoder.original(pair.original.codes).numbers[:, 0].tolist() == [-1, -1, 1]


def test_a_number_that_nothing_covers_is_itself_and_a_null_is_its_own_value() -> None:
    encoder, pair = encoded([10, 20, 30, None], ["12", "28", None, None])
    read = encoder.original(pair.original.codes)
    mean, scale = 20.0, np.sqrt((64 + 64) / 4)
    assert read.numbers[:3, 0] == pytest.approx((np.array([10, 20, 30]) - mean) / scale)
    assert read.numbers[3, 2] == 1
    assert read.numbers[:3, 2].tolist() == [-1, -1, -1]
    shares = read.shares.toarray()
    assert shares[3].argmax() not in set(shares[:3].argmax(axis=1))


def test_a_category_that_nothing_covers_is_the_mean_of_the_release() -> None:
    encoder, _ = encoded(["a", "b", "c"], ["a", "a", "a", "b"])
    read = encoder.original([np.array([2, -1])]).shares.toarray()
    assert read[0] == pytest.approx(read[1])
    assert sorted(read[0]) == pytest.approx([0, 1 / 4, 3 / 4])


def test_values_that_are_never_told_apart_share_a_column_and_thousands_stay_few() -> None:
    places = [f"z{i:05d}" for i in range(3000)]
    encoder, _ = encoded(places, [f"z{i // 100:03d}**" for i in range(3000)])
    assert encoder.attributes[0].released_shares.shape == (30, 30)
    encoder, pair = encoded(places, places)
    assert encoder.attributes[0].released_shares.shape[1] <= MAX_COLUMNS
    assert np.allclose(encoder.original(pair.original.codes).shares.sum(axis=1), 1)
    encoder, _ = encoded(list(range(3000)), list(range(3000)))
    assert encoder.attributes[0].released_shares.shape[1] == NUMBER_BINS


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=8),
    st.lists(st.sampled_from(["a", "b", "{a, c}", "*", "zz", None]), min_size=1, max_size=8),
)
def test_shares_add_up_to_one(original: Sequence[object], released: Sequence[object]) -> None:
    encoder, pair = encoded(original, released)
    for found in (
        encoder.released(np.arange(len(pair.released))),
        encoder.original([np.append(pair.original.codes[0].astype(int), -1)]),
    ):
        assert np.allclose(found.shares.sum(axis=1), 1)
        assert np.isfinite(found.numbers).all()


def test_labels_of_numbers_with_many_values_are_quarters() -> None:
    pay = list(range(40))
    original = columns({"x": ["a"] * 40}, sensitive={"pay": pay})
    noised = columns({"x": ["a"] * 40}, sensitive={"pay": [one + 0.25 for one in pay]})
    labels = Labels.of(Pair.of(original, noised), "pay")
    assert (labels.count, labels.binned) == (4, True)
    assert np.bincount(labels.original).tolist() == [10] * 4
    assert labels.released.sum(axis=0).tolist() == [9, 10, 10, 11]  # 9.25 lies above the first quarter


def test_a_label_with_too_many_values_or_none_is_refused() -> None:
    many = columns({"x": ["a"] * 101}, sensitive={"name": [f"n{i}" for i in range(101)]})
    with pytest.raises(UnsuitableColumn, match="101 values"):
        Labels.of(many_pair := Pair.of(many, many), "name")
    with pytest.raises(UnknownColumn):
        Labels.of(many_pair, "nam")


def test_codes_of_another_table() -> None:
    ages = Domain("age", pa.array([20, 30, 40]), has_null=True)
    assert codes_in(ages, Domain("age", pa.array([31, 40]), has_null=True)).tolist() == [1, 2, 3]


# ── efficacy ─────────────────────────────────────────────────────────────────────────────────────────


def smokers(counts: list[int]) -> EquivalenceClasses:
    return columns(
        {"smokes": ["yes", "yes", "no", "no"], "town": ["A", "B", "A", "B"]},
        sensitive={"ill": ["y", "y", "n", "n"]},
        counts=counts,
    )


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_what_decides_is_kept_or_lost(classifier: str) -> None:
    original = smokers([60, 60, 90, 90])
    useful = original.project(["smokes"])
    useless = original.project(["town"])
    (kept,) = efficacy(Pair.of(original, useful), "ill", classifiers=[classifier])  # type: ignore[list-item]
    (lost,) = efficacy(Pair.of(original, useless), "ill", classifiers=[classifier])  # type: ignore[list-item]
    assert kept.tested == lost.tested == 90
    for metric in ("accuracy", "macro-f1", "auc"):
        assert kept.release[metric].value == kept.original[metric].value == kept.relative(metric) == 1  # type: ignore[index,arg-type]
    assert lost.release["accuracy"].value == lost.majority["accuracy"].value
    assert lost.relative() == 0
    assert lost.trivial["auc"].value == lost.majority["auc"].value == 0.5
    assert "may be in the release" in kept.notes[0]


def test_trees_tell_many_categories_apart() -> None:
    """A hundred towns, more than a number has bins: each is a value of its own."""
    towns = [f"town {i}" for i in range(100)] * 3
    encoder, pair = encoded(towns, towns)
    features = encoder.original(pair.original.codes)
    labels, weights = np.arange(len(features)) % 2, pair.original.records.astype(np.float64)
    chances = learn("gradient-boosting", features, labels, weights, count=2).chances(features)
    assert chances.shape == (100, 2)


def test_trees_do_not_see_columns_that_tell_no_rows_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor would they use them: what is learned with the constant columns is the same to the last bit."""
    rng = np.random.default_rng(3)
    people = columns(
        {
            "age": rng.integers(20, 60, 300).tolist(),
            "town": rng.choice(list("ABC"), 300).tolist(),
            "country": ["DE"] * 300,
            "year": [2024] * 300,
        }
    )
    features = Encoder.of(Pair.of(people, people)).released(np.arange(len(people)))
    labels = (features.numbers[:, 0] + rng.normal(size=len(features)) > 0).astype(np.int64)
    weights = rng.random(len(features)) * 30
    learned = learn("gradient-boosting", features, labels, weights, count=2)
    monkeypatch.setattr(_Layout, "without_constants", lambda layout, features: layout)
    full = learn("gradient-boosting", features, labels, weights, count=2)
    assert learned.model.n_features_in_ < full.model.n_features_in_  # type: ignore[attr-defined]
    np.testing.assert_array_equal(learned.chances(features), full.chances(features))


def test_majority_by_hand() -> None:
    pair = Pair.of(smokers([60, 60, 90, 90]), smokers([60, 60, 90, 90]))
    holdout = columns(
        {"smokes": ["yes", "no"], "town": ["A", "C"]}, sensitive={"ill": ["y", "n"]}, counts=[1, 3]
    )
    (found,) = efficacy(pair, "ill", classifiers=["naive-bayes"], holdout=holdout)
    assert found.majority["accuracy"].value == 3 / 4
    assert found.majority["macro-f1"].value == pytest.approx((6 / 7) / 2)
    assert found.release["accuracy"].value == 1  # town C is unknown, smoking is not
    assert found.notes == ()


def test_held_out_records_are_not_learned_from() -> None:
    original = columns(
        {"x": ["a", "a", "b", "b"]}, sensitive={"s": ["y", "n", "y", "n"]}, counts=[5, 3, 2, 6]
    )
    pair = Pair.of(original, original).trivial()
    labels = Labels.of(pair, "s")
    rows = _rows_of(original, "s", labels.original)
    held = _held_out(original, "s", labels.original, 0.5, np.random.default_rng(3))
    assert held.sum() == 8
    left = _released_rows(pair, labels, rows, held)
    for label in (0, 1):
        before = rows.weights[rows.labels == label].sum() - held[rows.labels == label].sum()
        assert left.weights[left.labels == label].sum() == pytest.approx(before)


def test_a_release_that_memorises_gains_nothing_from_its_test_records() -> None:
    # Every record is unique and its label is a coin: whoever sees the test records knows them all, else none.
    rng = np.random.default_rng(5)
    town = [f"t{i}" for i in range(200)]
    original = columns({"town": town}, sensitive={"s": rng.choice(["h", "t"], 200).tolist()})
    pair = Pair.of(original, original)
    (leaked,) = efficacy(pair, "s", classifiers=["naive-bayes"])
    (clean,) = efficacy(pair.unchanged(), "s", classifiers=["naive-bayes"])
    assert leaked.release["accuracy"].value == 1
    assert clean.release == clean.original
    assert clean.release["accuracy"].value < 0.7


def test_records_that_left_the_release_are_not_taken_out_of_it() -> None:
    original = columns({"x": ["a", "b"]}, sensitive={"s": ["y", "n"]}, counts=[4, 4])
    links = Links(np.array([0, 1]), np.array([0, -1]), np.array([4, 4]))
    pair = Pair.of(original, original.subset(np.array([0])), links=links)
    labels = Labels.of(pair, "s")
    rows = _rows_of(original, "s", labels.original)
    left = _released_rows(pair, labels, rows, np.array([1.0, 2.0]))
    assert left.weights.sum() == 3


def test_whole_people_are_held_out_at_event_level() -> None:
    person = [f"p{i // 5}" for i in range(100)]
    original = columns(
        {"x": [i % 5 for i in range(100)]},
        sensitive={"s": ["y" if i % 2 else "n" for i in range(100)]},
        person=person,
    )
    label_of = Labels.of(Pair.of(original, original), "s").original
    held = _held_out(original, "s", label_of, 0.3, np.random.default_rng(1))
    assert held.sum() == 30  # six people with five records each


def test_seeds_repeat_and_bad_parameters_are_refused() -> None:
    pair = Pair.of(smokers([6, 6, 9, 9]), smokers([6, 6, 9, 9]))
    assert efficacy(pair, "ill", seed=4) == efficacy(pair, "ill", seed=4)
    with pytest.raises(InvalidParameter, match="test share"):
        efficacy(pair, "ill", test_share=1.0)
    with pytest.raises(InvalidParameter, match="no classifier"):
        efficacy(pair, "ill", classifiers=["oracle"])  # type: ignore[list-item]
    one = columns({"x": ["a", "b"]}, sensitive={"s": ["y", "y"]})
    with pytest.raises(UnsuitableColumn, match="one value only"):
        efficacy(Pair.of(one, one), "s")


def test_the_result_is_ready_for_json() -> None:
    pair = Pair.of(smokers([6, 6, 9, 9]), smokers([6, 6, 9, 9]))
    (found,) = efficacy(pair, "ill", classifiers=["naive-bayes"])
    told = found.to_dict()
    assert told["relative"] == {"accuracy": 1.0, "macro-f1": 1.0, "auc": 1.0}
    assert replace(found, original=found.majority).to_dict()["relative"]["accuracy"] == "undefined"  # type: ignore[index]


def test_without_scikit_learn_naive_bayes_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    pair = Pair.of(smokers([6, 6, 9, 9]), smokers([6, 6, 9, 9]))
    assert efficacy(pair, "ill", classifiers=["naive-bayes"])
    with pytest.raises(MissingDependency, match=r"discreet\[ml\]"):
        efficacy(pair, "ill")


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(1, 4)), min_size=2, max_size=12))
def test_the_area_under_the_curve_is_that_of_scikit_learn(rows: list[tuple[int, bool, int]]) -> None:
    score, positive, weight = (np.array(column) for column in zip(*rows, strict=True))
    found = weighted_auc(score / 4, positive, weight[None].astype(float))[0][0]
    if len(np.unique(positive)) == 1:
        assert found == 0.5
    else:
        assert found == pytest.approx(roc_auc_score(positive, score, sample_weight=weight))


def test_nothing_is_kept_of_what_the_original_hardly_teaches() -> None:
    """588 % of next to nothing: the original's interval reaches down to what the most frequent value gets."""

    def scored(value: float) -> Scores:
        return {"accuracy": Score(value, value - 0.01, value + 0.01)}

    def kept(original: float) -> float:
        learned = Efficacy(
            "naive-bayes", "ill", 2, 1000, scored(0.547), scored(original), scored(0.5), scored(0.5)
        )
        return learned.relative()

    assert np.isnan(kept(0.508))
    assert kept(0.55) == pytest.approx(0.94)


def many_rows() -> Pair:
    """A thousand towns with ten people each, of whom one half is ill in every second town."""
    town = [f"t{i // 10}" for i in range(10_000)]
    ill = ["y" if i % 20 < 5 else "n" for i in range(10_000)]
    people = columns({"town": town}, sensitive={"ill": ill})
    return Pair.of(people, columns({"town": ["*"] * 10_000}, sensitive={"ill": ill}))


def test_of_many_rows_both_tables_teach_equally_many_and_notes_say_so() -> None:
    (learned,) = efficacy(many_rows(), "ill", classifiers=["naive-bayes"], most=500)
    assert learned.tested == 500
    assert "learned from a sample of 500 records" in learned.notes
    assert "tested on a sample of 500 records" in learned.notes
    (whole,) = efficacy(many_rows(), "ill", classifiers=["naive-bayes"])
    assert whole.tested == 3000
    assert not any("sample" in note for note in whole.notes)


def test_areas_of_scores_do_not_depend_on_how_weights_lie_in_memory() -> None:
    rng = np.random.default_rng(2)
    score, positive = rng.integers(0, 6, 40) / 6, rng.random(40) < 0.3
    weights = rng.integers(0, 4, (5, 40)).astype(float)
    areas, up = weighted_auc(score, positive, np.asfortranarray(weights))
    for row, area, mine in zip(weights, areas, up, strict=True):
        assert area == pytest.approx(roc_auc_score(positive, score, sample_weight=row))
        assert mine == row[positive].sum()
