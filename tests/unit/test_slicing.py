"""Slicing: buckets that are diverse, slices that stay together, and the example of its paper."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidParameter, InvalidPolicy, UnsuitableColumn
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step
from discreet.perturb.slicing import Slicing
from discreet.policy.file import dumps, loads
from discreet.privacy import KAnonymity

PAPER = pa.table(
    {
        "age": [22, 22, 33, 52, 54, 60, 60, 64],
        "sex": ["m", "f", "f", "f", "m", "m", "m", "f"],
        "zip": [47906, 47906, 47905, 47905, 47302, 47302, 47304, 47304],
        "disease": ["dyspepsia", "flu", "flu", "bronchitis", "flu", "dyspepsia", "dyspepsia", "gastritis"],
    }
)
"""Table 1 of Li et al. 2012, whose sliced form has the slices (age, sex) and (zip, disease) and these two buckets."""
STEP = Slicing(("zip", "disease"), sensitive="disease", beside=("age", "sex"), slices=1, size=4)


def test_the_buckets_of_the_paper() -> None:
    buckets = STEP.buckets(PAPER).tolist()
    assert len(set(buckets[:4])) == len(set(buckets[4:])) == 1
    assert buckets[0] != buckets[4]


def test_missing_values_are_one_value_however_they_are_written() -> None:
    """Of the two youngest nothing is known but that it is missing: they are no bucket with two values."""
    step = Slicing(("ill",), sensitive="ill", beside=("age",), slices=1)
    rows = pa.table({"age": [20, 21, 60, 61], "ill": ["?", None, "flu", "cold"]})
    assert step.buckets(rows).tolist() == [0, 0, 0, 0]
    assert step.buckets(rows.set_column(1, "ill", pa.array(["?", "flu", None, "cold"]))).tolist() == [
        0,
        0,
        1,
        1,
    ]
    with pytest.raises(UnsuitableColumn, match="more than one in 2"):
        step.buckets(pa.table({"age": [20, 21, 60], "ill": ["?", None, "flu"]}))


def test_zip_and_disease_move_together_and_age_and_sex_stay() -> None:
    seen = set()
    for seed in range(30):
        new = STEP.changed(PAPER, Randomness(seed))
        after = list(zip(new["zip"].to_pylist(), new["disease"].to_pylist(), strict=True))
        true = list(zip(PAPER["zip"].to_pylist(), PAPER["disease"].to_pylist(), strict=True))
        assert Counter(after[:4]) == Counter(true[:4])
        assert Counter(after[4:]) == Counter(true[4:])
        assert STEP.complaint(PAPER, pa.table(new), np.arange(8)) == ""
        seen.add(after[0])
    # Any of the four of its bucket.
    assert len(seen) == 4


def test_columns_that_go_together_form_a_slice() -> None:
    rng = np.random.default_rng(1)
    job = rng.choice(list("abcd"), 400)
    town = rng.choice(list("xyz"), 400)
    rows = pa.table(
        {
            "job": job,
            "pay": np.array([{"a": 1000, "b": 2000, "c": 3000, "d": 4000}[each] for each in job]),
            "town": town,
            "ill": np.array([{"x": "flu", "y": "cold", "z": "none"}[each] for each in town]),
        }
    )
    step = Slicing(("job", "pay", "town", "ill"), sensitive="pay", slices=2, l=1)
    assert step.sliced(rows) == [("job", "pay"), ("town", "ill")]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=50),
    st.integers(1, 3),
    st.integers(1, 2),
)
def test_no_value_has_more_than_one_in_l_of_what_may_be_a_persons(
    drawn: list[tuple[int, int, int]],
    l: int,  # noqa: E741
    slices: int,
) -> None:
    age, job, ill = (list(column) for column in zip(*drawn, strict=True))
    rows = pa.table({"age": age, "job": job, "ill": ill})
    step = Slicing(("job", "ill"), sensitive="ill", beside=("age",), l=l, slices=slices)
    try:
        buckets = step.buckets(rows)
    except UnsuitableColumn:
        return
    together = slices == 1
    alike: dict[object, Counter[int]] = {}
    for bucket, (_, own, value) in zip(buckets.tolist(), drawn, strict=True):
        alike.setdefault((bucket, own if together else None), Counter())[value] += 1
    assert all(max(counts.values()) * l <= counts.total() for counts in alike.values())
    new = step.changed(rows, Randomness(3))
    assert step.complaint(rows, pa.table(new), np.arange(len(drawn))) == ""


def test_a_combination_that_its_bucket_did_not_have_is_noticed() -> None:
    new = pa.table(STEP.changed(PAPER, Randomness(1)))
    places = np.arange(8)
    exchanged = new.set_column(0, "zip", new["zip"].take(pa.array([2, 1, 0, 3, 4, 5, 6, 7])))
    if exchanged["zip"].equals(new["zip"]):
        exchanged = new.set_column(0, "zip", new["zip"].take(pa.array([1, 0, 2, 3, 4, 5, 6, 7])))
    told = STEP.complaint(PAPER, exchanged, places)
    assert "combinations that their bucket did not have" in told
    foreign = new.take(pa.array([4, 5, 6, 7, 0, 1, 2, 3]))
    assert "its group did not have" in STEP.complaint(PAPER, foreign, places)


def test_a_column_may_be_called_slice() -> None:
    rows = pa.table({"slice": [20, 21, 60, 61], "codes": ["a", "b", "a", "b"], "ill": ["a", "b", "a", "b"]})
    step = Slicing(("codes", "ill"), sensitive="ill", beside=("slice",), slices=2)
    new = pa.table(step.changed(rows, Randomness(1)))
    assert step.complaint(rows, new, np.arange(4)) == ""
    assert "did not have" in step.complaint(rows, pa.table({"ill": ["a"] * 4}), np.arange(4))


def test_people_with_several_rows_are_refused() -> None:
    """Three rows of one person: a value that the bucket has three times is the only one that can be behind all of them."""
    rows = pa.table(
        {"who": [1, 1, 1, 2, 3, 4], "age": [20] * 6, "ill": ["hiv", "hiv", "hiv", "flu", "cold", "none"]}
    )
    step = Slicing(("ill",), sensitive="ill", beside=("age",), slices=1)
    policy = discreet.Policy.of(
        quasi_identifiers=["age"],
        sensitive=["ill"],
        person="who",
        require=[KAnonymity(2)],
        profile="research-partner-3",
    ).perturbed_by(step)
    with pytest.raises(InvalidPolicy, match="several rows"):
        discreet.anonymize(rows, policy)
    once = rows.set_column(0, "who", pa.array(range(6)))
    assert discreet.anonymize(once, policy).to_dict()["perturbation"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sensitive": "age"}, "none of its columns"),
        ({"sensitive": "ill", "beside": ["job"]}, "both moves and stays"),
        ({"sensitive": "ill", "l": 0}, "must be a number at least 1"),
        ({"sensitive": "ill", "l": 1.5}, "whole number"),
        ({"sensitive": "ill", "slices": 3}, "more slices than columns"),
        ({}, "lacks sensitive"),
    ],
)
def test_parameters_that_make_no_sense(given: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_step({"method": "slicing", "columns": ["job", "ill"], **given})


def test_a_value_that_is_too_frequent_is_refused() -> None:
    rows = pa.table({"age": [1, 2, 3, 4], "ill": ["flu", "flu", "flu", "cold"]})
    with pytest.raises(UnsuitableColumn, match="even in the whole table"):
        Slicing(("ill",), sensitive="ill", beside=("age",), slices=1).changed(rows, Randomness(1))


def test_a_sliced_release_is_verified_compared_and_attacked(tmp_path: object) -> None:
    rng = np.random.default_rng(5)
    rows = pa.table(
        {
            "age": rng.integers(20, 70, 400),
            "sex": rng.choice(["f", "m"], 400),
            "ill": rng.choice(["flu", "cold", "none", "asthma"], 400),
        }
    )
    step = Slicing(("ill",), sensitive="ill", beside=("age", "sex"), slices=1, l=2)
    policy = discreet.Policy.of(
        quasi_identifiers=["age", "sex"],
        sensitive=["ill"],
        require=[KAnonymity(3)],
        profile="research-partner-3",
    ).perturbed_by(step)
    assert loads(dumps(policy)).perturb == (step,)
    release = discreet.anonymize(rows, policy, plan=discreet.Plan(method="mondrian"))
    told = release.to_dict()["perturbation"]
    assert isinstance(told, list)
    assert "chance above 1 in 2" in told[0]["guarantee"]
    assert told[0]["verified_on_file"] == ["ill"]
    assert release.recipe.perturb[0]["l"] == 2
    release.save(f"{tmp_path}/open.csv")
    lost = discreet.compare(rows, release, labels=[], queries=50)
    assert lost.losses.measure("cramers-v-change") is not None
    assert discreet.attack(release, original=rows, attacks=["homogeneity"]).results
