"""What risks are called, and what the measures made of them say in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from discreet.measure import Wording
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.sentences import Sentence

Graded = Literal["uniqueness", "uniformity", "correlation", "gain"]

GRADED: Mapping[str, str] = MappingProxyType(
    {"uniqueness": "Uniqueness", "uniformity": "Uniformity", "correlation": "Correlation"}
)
"""The extended risks of SCORR, by which it puts a table into a category, with their titles."""
EXTENDED: tuple[str, ...] = (*GRADED, "gain")
"""The risks that a profile may put into a category."""

TITLES: Mapping[str, str] = MappingProxyType(
    {
        **GRADED,
        "gain": "Gain in probability",
        "markov": "One-step Markov model",
        "prosecutor": "Prosecutor",
        "journalist": "Journalist",
        "markov-model": "Markov model",
    }
)
"""Every risk that records have."""

WORDING: Mapping[str, Wording] = MappingProxyType(
    {
        "sample-uniques": Wording(
            "Unique records", "The share of records whose person is alone with its combination."
        ),
        "average-risk": Wording(
            "Average risk",
            "The chance to name the right person behind a record, on average over all records.",
        ),
        "marketer": Wording(
            "Marketer risk",
            "The share of records that someone who links the whole table is expected to hit.",
        ),
        "share-above": Wording(
            Sentence("Records in classes under {small_group}", small_group=SMALL_GROUP),
            Sentence(
                "The share of records whose person can be named with a chance above 1 in {small_group}.",
                small_group=SMALL_GROUP,
            ),
        ),
    }
)
"""Title and meaning of every measure that is made of a risk."""
