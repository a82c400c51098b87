"""Agreement with pyCANON where it is right, and each place where it is not, with both answers.

Every disagreement is explained in docs/explanation/where-pycanon-differs.md. The answers asserted here are
those of the installed pyCANON; should a later release mend one, its test fails and the page is due.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pycanon import anonymity as pycanon

from discreet.classes import EquivalenceClasses
from discreet.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    MultiAttributeLDiversity,
    PrivacyModel,
    TCloseness,
)

QI, SA = ["zip"], ["dx"]


def frame(zips: list[object], dx: list[object], index: list[int] | None = None) -> pd.DataFrame:
    return pd.DataFrame({"zip": zips, "dx": dx}, index=index)


def ours(data: pd.DataFrame, model: PrivacyModel) -> float:
    """The same rows, counted by us; a pandas gap is a null."""
    columns = {name: [None if pd.isna(v) else v for v in data[name].tolist()] for name in ("zip", "dx")}
    classes = EquivalenceClasses.from_columns({"zip": columns["zip"]}, sensitive={"dx": columns["dx"]})
    return model.measure(classes).value


# ── where both agree ──────────────────────────────────────────────────────────────────────────────

TEXT_ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcd")), min_size=1, max_size=20)
NUMBER_ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=20)


@given(rows=TEXT_ROWS)
def test_agreement_on_text(rows: list[tuple[int, str]]) -> None:
    data = frame([z for z, _ in rows], [d for _, d in rows])
    assert ours(data, KAnonymity(1)) == pycanon.k_anonymity(data, QI)
    assert ours(data, LDiversity(1, "dx")) == pycanon.l_diversity(data, QI, SA)
    assert ours(data, TCloseness(1, "dx")) == pytest.approx(pycanon.t_closeness(data, QI, SA))
    assert ours(data, BetaLikeness(1, "dx")) == pytest.approx(pycanon.basic_beta_likeness(data, QI, SA))
    alpha, k = pycanon.alpha_k_anonymity(data, QI, SA)
    assert ours(data, AlphaKAnonymity(1, 1, "dx")) == pytest.approx(alpha)
    assert ours(data, KAnonymity(1)) == k


@given(rows=NUMBER_ROWS)
def test_agreement_on_the_ordered_distance(rows: list[tuple[int, int]]) -> None:
    data = frame([z for z, _ in rows], [d for _, d in rows])
    assume(data["dx"].nunique() > 1)  # pyCANON divides by zero for a constant attribute
    found = ours(data, TCloseness(1, "dx", distance="ordered"))
    assert found == pytest.approx(pycanon.t_closeness(data, QI, SA))


@given(rows=TEXT_ROWS)
def test_agreement_on_delta_where_no_class_misses_a_value(rows: list[tuple[int, str]]) -> None:
    data = frame([z for z, _ in rows], [d for _, d in rows])
    found = ours(data, DeltaDisclosure(1, "dx"))
    theirs = pycanon.delta_disclosure(data, QI, SA)
    assert found == pytest.approx(theirs) if math.isfinite(found) else math.isfinite(theirs)


@given(rows=TEXT_ROWS)
def test_entropy_l_agrees_up_to_truncation(rows: list[tuple[int, str]]) -> None:
    data = frame([z for z, _ in rows], [d for _, d in rows])
    found = ours(data, LDiversity(1, "dx", kind="entropy"))
    theirs = pycanon.entropy_l_diversity(data, QI, SA)
    assert theirs - 1e-9 <= found <= theirs + 1 + 1e-9


@given(rows=st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab"), st.sampled_from("xy")), min_size=1))
def test_agreement_on_several_sensitive_attributes(rows: list[tuple[int, str, str]]) -> None:
    columns = dict(zip(("zip", "dx", "pay"), map(list, zip(*rows, strict=True)), strict=True))
    classes = EquivalenceClasses.from_columns(
        {"zip": columns["zip"]}, sensitive={name: columns[name] for name in ("dx", "pay")}
    )
    theirs = pycanon.l_diversity(pd.DataFrame(columns), QI, ["dx", "pay"], gen=False)
    assert MultiAttributeLDiversity(1).measure(classes).value == theirs


# ── where pyCANON is wrong ────────────────────────────────────────────────────────────────────────


def test_a_null_in_a_quasi_identifier_drops_the_record() -> None:
    data = frame(["10115", "10115", "10115", None], ["flu", "acne", "flu", "acne"])
    assert pycanon.k_anonymity(data, QI) == 3
    assert ours(data, KAnonymity(2)) == 1


def test_a_null_in_a_text_sensitive_attribute_cannot_be_counted() -> None:
    data = frame(["1", "1", "2", "2"], ["flu", None, "flu", "acne"])
    with pytest.raises(TypeError):
        pycanon.l_diversity(data, QI, SA)
    assert ours(data, LDiversity(2, "dx")) == 2


def test_a_null_in_a_numeric_sensitive_attribute_loses_its_share() -> None:
    data = frame(["1", "1", "2", "2"], [1, np.nan, 1, 2])
    assert pycanon.t_closeness(data, QI, SA) == pytest.approx(0.25)
    assert ours(data, TCloseness(1, "dx", distance="ordered")) == pytest.approx(0.125)


def test_index_labels_are_taken_for_positions() -> None:
    rows = (["1", "1", "2", "2"], ["flu", "flu", "acne", "acne"])
    data = frame(*rows, index=[0, 2, 1, 3])
    assert pycanon.l_diversity(data, QI, SA) == 2
    assert pycanon.l_diversity(frame(*rows), QI, SA) == 1
    assert ours(data, LDiversity(2, "dx")) == 1


def test_index_labels_beyond_the_rows_fail() -> None:
    data = frame(["1", "1", "2", "2"], ["flu", "flu", "acne", "acne"], index=[10, 11, 12, 13])
    with pytest.raises(IndexError):
        pycanon.l_diversity(data, QI, SA)
    assert ours(data, LDiversity(2, "dx")) == 1


def test_entropy_l_is_truncated() -> None:
    halves = frame(["1"] * 4, ["flu", "flu", "acne", "acne"])
    assert pycanon.entropy_l_diversity(halves, QI, SA) == 1
    assert ours(halves, LDiversity(2, "dx", kind="entropy")) == pytest.approx(2)
    uneven = frame(["1"] * 4, ["flu", "flu", "flu", "acne"])
    assert pycanon.entropy_l_diversity(uneven, QI, SA) == 1
    assert ours(uneven, LDiversity(2, "dx", kind="entropy")) == pytest.approx(1.7548, abs=1e-4)


def test_recursive_diversity_is_sorted_the_wrong_way() -> None:
    data = frame(["1"] * 4, ["flu", "flu", "flu", "acne"])
    assert pycanon.recursive_c_l_diversity(data, QI, SA) == (1, 2)
    # r1 < c (r2 + …): 3 < 1 · 1 is false, so (1, 2)-diversity does not hold; c must exceed 3.
    assert ours(data, LDiversity(2, "dx", kind="recursive", c=1)) == 3


def test_delta_disclosure_ignores_missing_values() -> None:
    data = frame(["1", "1", "2", "2"], ["flu", "flu", "flu", "acne"])
    assert pycanon.delta_disclosure(data, QI, SA) == pytest.approx(math.log(2))
    assert math.isinf(ours(data, DeltaDisclosure(1, "dx")))


def test_enhanced_beta_ignores_the_bound_of_the_value_that_gains() -> None:
    data = frame(["1", "1", "2", "2"], ["flu", "flu", "flu", "acne"])
    assert pycanon.enhanced_beta_likeness(data, QI, SA) == pytest.approx(1.0)
    # flu gains (1 - 3/4) / (3/4) = 0.333 in the first class, more than -ln(3/4) = 0.288 allows.
    assert math.isinf(ours(data, BetaLikeness(1, "dx", kind="enhanced")))


def test_a_constant_numeric_attribute_divides_by_zero() -> None:
    data = frame(["1", "1", "2", "2"], [1, 1, 1, 1])
    with pytest.raises(ZeroDivisionError):
        pycanon.t_closeness(data, QI, SA)
    assert ours(data, TCloseness(0, "dx", distance="ordered")) == 0
