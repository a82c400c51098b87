"""How a table is to be anonymised: method, objective, limits. The ``[anonymize]`` part of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Method = Literal[
    "auto", "optimal", "anytime", "subtree", "local", "mondrian", "clustering", "microaggregation"
]
Numbers = Literal["star", "mean", "median", "mode", "minimum", "maximum"]
METHODS: tuple[Method, ...] = (
    "auto",
    "optimal",
    "anytime",
    "subtree",
    "local",
    "mondrian",
    "clustering",
    "microaggregation",
)


@dataclass(frozen=True)
class Plan:
    """What the search may do and what it should aim for.

    ``suppression_limit`` is the largest share of records that may be suppressed; ``weights`` say how much an
    attribute matters (1 if not named); ``keep`` names quasi-identifiers that must stay as they are;
    ``suppressed`` says whether suppressed records are left out or shown with ``*``, and ``suppressed_numbers``
    which statistic of the released values their numbers then show in place of ``*``; ``person`` whether person
    ids are replaced by keyed hashes or left out; ``seconds`` limits searches that can stop early; ``label`` is
    the attribute that the ``classification`` objective wants to predict. ``sample`` is the share of rows that
    are drawn (with ``seed``) before anything else is done: who is in the release is then uncertain, too.

    Before the search, ``suppress_values`` (per attribute, as printed) and the values that fewer records have
    than ``suppress_rare`` says (per attribute) become ``*`` wherever they occur, and so do all values of
    ``suppress_attributes``; ``drop_attributes`` are left out of the release.
    """

    method: Method = "auto"
    objective: str = "loss"
    suppression_limit: float = 0.2
    suppression_weight: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    suppressed: Literal["drop", "star"] = "drop"
    suppressed_numbers: Numbers = "star"
    person: Literal["pseudonymise", "drop"] = "pseudonymise"
    seconds: float = 60.0
    label: str | None = None
    sample: float = 1.0
    seed: int = 1
    suppress_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suppress_rare: Mapping[str, int] = field(default_factory=dict)
    suppress_attributes: tuple[str, ...] = ()
    drop_attributes: tuple[str, ...] = ()
