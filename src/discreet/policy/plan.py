"""How a table is to be anonymised: method, objective, limits. The ``[anonymize]`` part of a policy."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from discreet.types import Shape

Method = Literal[
    "auto", "optimal", "anytime", "subtree", "sibling", "local", "mondrian", "clustering", "microaggregation"
]
MondrianMode = Literal["relaxed", "strict"]
GroupSize = Literal["variable", "fixed"]
GroupValue = Literal["mean", "median", "mode", "semantic"]
Numbers = Literal["star", "mean", "median", "mode", "minimum", "maximum"]
METHODS: tuple[Method, ...] = get_args(Method)
Names = tuple[str, ...]
_SCALARS = bool | int | float | datetime.datetime | datetime.date
FOLLOWED: Mapping[str, tuple[Method, ...]] = {
    "mondrian_mode": ("mondrian",),
    "group_size": ("microaggregation",),
    "group_value": ("microaggregation",),
    "least_levels": ("optimal", "anytime"),
    "most_levels": ("optimal", "anytime"),
}
"""Settings that only some methods can follow."""
VALUES_LEFT = 2
"""So many sensitive values are left possible for each person over all releases, unless something else is asked for."""
Printed = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, _SCALARS) else value)]
"""A value of the data as it is printed: a file may hold the number or the date itself."""


@dataclass(frozen=True)
class Plan:
    """What the search may do and what it should aim for.

    What the fields say about type, range and meaning holds for the policy file, the command line, the REST
    interface and the page, which are made from them.

    ``suppress_values``, ``suppress_rare``, ``suppress_attributes`` and ``drop_attributes`` are done before the
    search. With ``sample`` below 1 it is uncertain who is in the release, too.
    """

    method: Annotated[Method, Field(description="how to search")] = "auto"
    shape: Annotated[
        Shape,
        Field(
            description="of the labels of a column where the method is auto: one grouping, nested ones, or any ranges"
        ),
    ] = "nested"
    mondrian_mode: Annotated[
        MondrianMode,
        Field(
            description="of mondrian: whether a cut may run through records of one value, or equal values never stand in two groups"
        ),
    ] = "relaxed"
    group_size: Annotated[
        GroupSize,
        Field(description="of microaggregation: groups of the required size, or up to nearly twice as large"),
    ] = "variable"
    group_value: Annotated[
        GroupValue, Field(description="of microaggregation: what the values of a group become")
    ] = "mean"
    objective: Annotated[str, Field(description="what to lose least of, e.g. ncp or discernibility")] = "loss"
    suppression_limit: Annotated[
        float, Field(ge=0, le=1, description="largest share of records that may be suppressed")
    ] = 0.05
    suppression_weight: Annotated[
        float, Field(ge=0, description="how much a suppressed record costs, against one generalised to *")
    ] = 1.0
    keep_representation: Annotated[
        bool,
        Field(
            description="where the method is auto, generalise rather than suppress a large part of a category"
        ),
    ] = True
    weights: Annotated[
        Mapping[str, Annotated[float, Field(ge=0)]],
        Field(description="how much attributes matter, 1 if not named"),
    ] = field(default_factory=dict)
    keep: Annotated[Names, Field(description="quasi-identifiers that must stay as they are")] = ()
    least_levels: Annotated[
        Mapping[str, Annotated[int, Field(ge=0)]],
        Field(
            description="of optimal and anytime: levels of the hierarchy by which an attribute is generalised at least"
        ),
    ] = field(default_factory=dict)
    most_levels: Annotated[
        Mapping[str, Annotated[int, Field(ge=0)]],
        Field(
            description="of optimal and anytime: levels of the hierarchy by which an attribute is generalised at most"
        ),
    ] = field(default_factory=dict)
    suppressed: Annotated[
        Literal["drop", "star"], Field(description="leave suppressed records out, or show them with *")
    ] = "drop"
    suppressed_numbers: Annotated[
        Numbers,
        Field(description="what suppressed numbers show in place of *: a statistic of those released"),
    ] = "star"
    person: Annotated[
        Literal["drop", "pseudonymise"],
        Field(
            description="leave person ids out, or replace them by keyed hashes, which still tell whose rows belong together"
        ),
    ] = "drop"
    unexamined: Annotated[
        Literal["drop", "keep"],
        Field(description="leave out columns that nobody judged and that single people out, or keep them"),
    ] = "drop"
    label_length: Annotated[
        int,
        Field(
            ge=10,
            description="characters of a set that is written out; a longer one names some values, and the codebook all",
        ),
    ] = 60
    seconds: Annotated[float, Field(gt=0, description="time limit of the search")] = 30.0
    label: Annotated[
        str | None, Field(description="attribute that the objective classification predicts")
    ] = None
    sample: Annotated[float, Field(gt=0, le=1, description="share of the rows to draw first")] = 1.0
    order: Annotated[
        Literal["random", "kept"],
        Field(
            description="put rows in a random order, or keep the original's, which tells whose row is whose"
        ),
    ] = "random"
    seed: Annotated[int, Field(ge=0, description="which rows are drawn, and in which order rows stand")] = 1
    suppress_values: Annotated[
        Mapping[str, Annotated[tuple[Printed, ...], Field(min_length=1)]],
        Field(description="values that become * wherever they occur, per attribute"),
    ] = field(default_factory=dict)
    suppress_rare: Annotated[
        Mapping[str, Annotated[int, Field(ge=2)]],
        Field(description="values that fewer records have become * wherever they occur, per attribute"),
    ] = field(default_factory=dict)
    suppress_attributes: Annotated[Names, Field(description="quasi-identifiers to show as * everywhere")] = ()
    drop_attributes: Annotated[
        Names,
        Field(
            description="quasi-identifiers, weights and columns that nobody judged, to leave out of the release"
        ),
    ] = ()

    def unfollowed(self, method: Method) -> dict[str, object]:
        """The settings that are not as by default and that a method cannot follow.

        >>> Plan(mondrian_mode="strict").unfollowed("clustering"), Plan(mondrian_mode="strict").unfollowed("mondrian")
        ({'mondrian_mode': 'strict'}, {})
        """
        own = {name: getattr(self, name) for name, methods in FOLLOWED.items() if method not in methods}
        usual = Plan()
        return {name: value for name, value in own.items() if value != getattr(usual, name)}

    def by(self, method: Method) -> Plan:
        """The plan with another method, without what that one cannot follow.

        >>> Plan(method="mondrian", mondrian_mode="strict", seconds=5).by("clustering") == Plan("clustering", seconds=5)
        True
        """
        usual = Plan()
        return replace(
            self, method=method, **{name: getattr(usual, name) for name in self.unfollowed(method)}
        )
