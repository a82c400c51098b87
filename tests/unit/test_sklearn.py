"""Anonymising as a step of scikit-learn."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import discreet
from discreet.errors import DiscreetError, GoalUnreachable
from discreet.privacy import KAnonymity
from discreet.sklearn import Anonymizer

POLICY = discreet.Policy.of(
    quasi_identifiers=["age", "town"],
    sensitive=["ill"],
    require=[KAnonymity(5)],
    profile="research-partner-3",
)
PLAN = discreet.Plan(method="optimal")
FIRST_COLUMN = {
    "profile": "research-partner-3",
    "unknown": "keep",
    "columns": {"x0": {"role": "quasi-identifier"}},
}
NOT_FOR_GROUPS = {
    "check_estimators_pickle": "it subtracts labels, which are texts",
    "check_methods_sample_order_invariance": "it subtracts labels, which are texts",
    "check_methods_subset_invariance": "a guarantee holds for rows together: a few of them are refused",
    "check_fit2d_1sample": "one record cannot be hidden among others",
    "check_fit_idempotent": "it fits on parts that are too small for the requirement",
}
"""Checks that ask of each row by itself what a guarantee gives to rows together."""


@pytest.fixture
def people() -> pd.DataFrame:
    chance = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": chance.integers(20, 60, 300),
            "town": chance.choice(["A", "B", "C"], 300),
            "ill": chance.choice(["flu", "cold"], 300),
        },
        index=[f"p{i}" for i in range(300)],
    )


@pytest.mark.slow
@parametrize_with_checks(
    [Anonymizer(FIRST_COLUMN, plan=PLAN)], expected_failed_checks=lambda _: NOT_FOR_GROUPS
)
def test_the_checks_of_scikit_learn_hold(estimator: Anonymizer, check: Callable[[Anonymizer], None]) -> None:
    check(estimator)


def test_other_rows_are_generalised_by_what_was_fitted(people: pd.DataFrame) -> None:
    coarse = Anonymizer(POLICY, plan=discreet.Plan(method="optimal", suppression_limit=0.5)).fit(people)
    after = coarse.transform(people.tail(100))
    assert list(after.index) == list(people.tail(100).index)
    assert list(after.columns) == list(coarse.get_feature_names_out()) == ["age", "town", "ill"]
    assert (after["ill"] == people.tail(100)["ill"]).all()
    assert after.groupby(["age", "town"], observed=True).size().min() >= 5
    assert 0 < coarse.loss_ < 1


def test_rows_that_cannot_be_protected_are_refused(people: pd.DataFrame) -> None:
    coarse = Anonymizer(POLICY, plan=PLAN).fit(people)
    with pytest.raises(DiscreetError):
        coarse.transform(people.head(3))


def test_it_is_a_step_of_a_pipeline(people: pd.DataFrame) -> None:
    step = Anonymizer(POLICY, plan=PLAN)
    model = make_pipeline(clone(step), OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    model.fit(people, people["ill"])
    assert model.score(people, people["ill"]) == 1.0


def test_a_fitted_step_can_be_kept_and_holds_no_rows(people: pd.DataFrame) -> None:
    coarse = Anonymizer(POLICY, plan=PLAN).fit(people)
    again = pickle.loads(pickle.dumps(coarse))
    pd.testing.assert_frame_equal(again.transform(people), coarse.transform(people))
    assert not any(isinstance(value, pd.DataFrame | discreet.Table) for value in vars(coarse).values())


def test_a_goal_that_cannot_be_reached_is_told_when_fitting(people: pd.DataFrame) -> None:
    impossible = POLICY.require(KAnonymity(301))
    with pytest.raises(GoalUnreachable):
        Anonymizer(impossible, plan=PLAN).fit(people)
