"""Equivalence classes beside one another."""

from __future__ import annotations

import numpy as np

from discreet.classes import EquivalenceClasses


def same(found: EquivalenceClasses, wanted: EquivalenceClasses) -> None:
    """Equal to the last array."""
    assert found.names == wanted.names
    assert [d.name for d in found.sensitive] == [d.name for d in wanted.sensitive]
    for ours, theirs in zip(
        (*found.attributes, *found.sensitive), (*wanted.attributes, *wanted.sensitive), strict=True
    ):
        assert ours.values.to_pylist() == theirs.values.to_pylist(), ours.name
        assert ours.has_null == theirs.has_null, ours.name
    for mine, other in zip(found.codes, wanted.codes, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.counts, wanted.counts)
    for name, codes in wanted.sensitive_codes.items():
        np.testing.assert_array_equal(found.sensitive_codes[name], codes)
    for mine, other in ((found.person_codes, wanted.person_codes), (found.weights, wanted.weights)):
        assert (mine is None) == (other is None)
        if mine is not None and other is not None:
            np.testing.assert_allclose(mine, other, rtol=1e-12)
