"""What its class tells of a record, in bits: of who it is, and of a sensitive value."""

from __future__ import annotations

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.types import FloatArray


def identity_bits(classes: EquivalenceClasses) -> FloatArray:
    """How many bits of who a person is each class tells: log2(N / n) for n of N people.

    The intruder's uncertainty falls from log2 N to log2 n, the entropy over those who may be meant; where it is 0 somebody stands alone.
    Bezzi, "An entropy based method for measuring anonymity", SecureComm 2007.

    >>> identity_bits(EquivalenceClasses.from_columns({"zip": [1, 1, 1, 2]})).round(3)
    array([0.415, 2.   ])
    """
    return np.log2(classes.total_persons / classes.persons)


def attribute_bits(classes: EquivalenceClasses, sensitive: str) -> FloatArray:
    """How many bits of a sensitive value each class tells: sum of q log2(q / p) for shares q in the class, p in the table.

    Its mean over records is the mutual information of class and value. 0 where the class is as the table; log2(1 / p) where all of it
    have a value of share p. Bezzi, "An information theoretic approach for privacy metrics", Transactions on Data Privacy 3, 2010.

    >>> ill = {"ill": ["flu", "flu", "cold", "flu"]}
    >>> attribute_bits(EquivalenceClasses.from_columns({"zip": [1, 1, 2, 2]}, sensitive=ill), "ill").round(3)
    array([0.415, 0.208])
    """
    histogram = classes.histogram(sensitive)
    shares = histogram.shares
    told = shares * np.log2(shares / histogram.distribution[histogram.values])
    return np.maximum(histogram.per_class(np.add, told), 0.0)
