"""What a class tells about a sensitive value beyond what the whole table tells already."""

from __future__ import annotations

from discreet.classes import EquivalenceClasses
from discreet.measure import RecordRisk
from discreet.sentences import Sentence


def gain(classes: EquivalenceClasses, sensitive: str) -> RecordRisk:
    """By how much its class makes a record's sensitive value more probable than the whole table does.

    R_i = max(0, q - p) with q = P(SA_i | QI_i) and p = P(SA_i), the base rate: the advantage of one who knows the
    class over one who guesses by the table (attribute advantage: Yeom et al. 2018). It is the correlation risk of
    Folz et al. 2025 (eq. 4) beyond the base rate, and about equal to it for values that are rare in the table.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"zip": [1, 1, 2, 2, 2]}, sensitive={"ill": ["flu", "flu", "flu", "flu", "cold"]})
    >>> risk = gain(classes, "ill")         # flu: base rate 4/5, certain in class 1; cold: 1/3 - 1/5
    >>> risk.values.round(4), risk.weights
    (array([0.2   , 0.1333, 0.    ]), array([2, 1, 2]))
    """
    histogram = classes.histogram(sensitive)
    return RecordRisk(
        "gain",
        histogram.gains(),
        classes.all_entries(histogram),
        meaning=(
            Sentence(
                "By how much knowing its combination of quasi-identifiers makes a record's {sensitive} more "
                "probable than the whole table does: 0 if it tells no more, near 1 if it makes a rare value "
                "certain.",
                sensitive=sensitive,
            )
        ),
        source="Yeom et al. 2018, CSF (attribute advantage); Cao & Karras 2012 (relative gain)",
        sensitive=sensitive,
    )
