"""Original and release from rows in the same order, for tests that can be checked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.measure import Measure
from discreet.table.hierarchies.hierarchy import Hierarchy

Columns = Mapping[str, Sequence[object]]


def linked(
    before: Columns,
    after: Columns,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    sensitive: Columns | None = None,
    released: Columns | None = None,
) -> Pair:
    """A pair whose rows stand in the same order, so that all links are known.

    ``sensitive`` are the sensitive attributes of both tables, ``released`` what the release has for them.
    """
    original = EquivalenceClasses.from_columns(before, sensitive=sensitive)
    other = EquivalenceClasses.from_columns(after, sensitive=released or sensitive)
    links = Links(
        _classes_of(original, before),
        _classes_of(other, after),
        np.ones(len(next(iter(before.values()))), int),
    )
    return Pair.of(original, other, hierarchies=hierarchies, links=links)


def _classes_of(classes: EquivalenceClasses, columns: Columns) -> np.ndarray:
    """The class of every row."""
    place = {tuple(classes.labels(at).values()): at for at in range(len(classes))}
    rows = zip(*(columns[name] for name in classes.names), strict=True)
    return np.array([place[tuple("∅" if value is None else str(value) for value in row)] for row in rows])


def value(
    found: Measure | tuple[Measure, ...], name: str | None = None, attribute: str | None = None
) -> float:
    """The value of a measure, overall or of an attribute."""
    if isinstance(found, Measure):
        return found.value
    return next(m.value for m in found if m.attribute == attribute and name in (None, m.name))
