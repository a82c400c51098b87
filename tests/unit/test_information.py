"""What a class tells of a record, in bits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import discreet
from discreet.classes import EquivalenceClasses
from discreet.risk.information import attribute_bits, identity_bits

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), min_size=1, max_size=60)


@given(PAIRS)
def test_the_mean_of_what_classes_tell_is_mutual_information(pairs: list[tuple[int, str]]) -> None:
    """Beside scikit-learn's."""
    zips, ills = [a for a, _ in pairs], [b for _, b in pairs]
    classes = EquivalenceClasses.from_columns({"zip": zips}, sensitive={"ill": ills})
    mean = classes.records @ attribute_bits(classes, "ill") / len(pairs)
    assert mean == pytest.approx(mutual_info_score(zips, ills) / np.log(2), abs=1e-9)
    assert (2.0 ** identity_bits(classes) * classes.persons).tolist() == pytest.approx(
        [len(pairs)] * len(classes)
    )


def test_records_have_the_bits_of_their_class() -> None:
    rows = pa.table({"zip": [1, 1, 2, 2], "ill": ["flu", "flu", "flu", "cold"]})
    asked = discreet.Policy.of(quasi_identifiers=["zip"], sensitive=["ill"])
    risks = discreet.record_risks(rows, asked).to_arrow()
    assert risks["identity_bits"].to_pylist() == [1.0] * 4
    assert risks["bits_of_ill"].to_pylist() == pytest.approx(
        [np.log2(4 / 3)] * 2 + [0.5 * np.log2(4 / 3)] * 2
    )
