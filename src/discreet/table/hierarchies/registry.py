"""The builders of hierarchies by the name they have in a policy file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from discreet.errors import refuse_surplus, unknown
from discreet.table.hierarchies.builder import Builder
from discreet.table.hierarchies.categories import Flat, Mask, Order, Sets, Zip
from discreet.table.hierarchies.dates import Dates
from discreet.table.hierarchies.numbers import Intervals, Rounding

BUILDERS: Mapping[str, type[Builder]] = MappingProxyType(
    {kind.id: kind for kind in (Intervals, Order, Mask, Dates, Zip, Sets, Flat, Rounding)}
)
"""Every builder by its ``id``."""


def make_builder(builder: str, parameters: Mapping[str, object]) -> Builder:
    """The builder that a policy file asks for, or an error that says which name or parameter is wrong.

    >>> make_builder("intervals", {"widths": [5, 10]}).parameters()
    {'widths': (5, 10)}
    >>> make_builder("interval", {})
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: there is no builder 'interval'; did you mean 'intervals'? ...
    """
    if builder not in BUILDERS:
        raise unknown("builder", builder, BUILDERS)
    kind = BUILDERS[builder]
    refuse_surplus(builder, parameters, parameter_names(kind))
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()})


def parameter_names(kind: type[Builder]) -> tuple[str, ...]:
    """The parameters that a builder takes."""
    return tuple(field.name for field in dataclasses.fields(kind))  # type: ignore[arg-type]  # all are dataclasses
