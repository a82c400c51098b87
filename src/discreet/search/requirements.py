"""Requirements as searches ask them: of groups of classes, each by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.merged import MergedClasses
from discreet.privacy import PrivacyModel
from discreet.table.domain import Domain
from discreet.types import AnyIntArray, BoolArray


def on_groups(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    """The requirements in a form that each group meets or fails by itself.

    Confidence given some of the quasi-identifiers only is bounded for every group, whose values are all
    known then: records that agree on fewer values are a mixture of groups, and the largest confidence (the
    number of persons) of a mixture is at most (at least) that of its parts.
    """
    return tuple(model.by_itself for model in models)


def held(
    models: Sequence[PrivacyModel], classes: EquivalenceClasses, owner: AnyIntArray, groups: int
) -> BoolArray:
    """Which groups meet all requirements; class ``c`` belongs to group ``owner[c]``, and none is empty.

    All classes of the table take part, so that distances to the distribution of the whole table are right.

    >>> from discreet.privacy import KAnonymity
    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> held([KAnonymity(2)], classes, np.array([0, 0, 1]), 2)
    array([ True, False])
    """
    kept = np.ones(groups, dtype=bool)
    merged = MergedClasses.of(classes, owner, groups)
    for model in models:
        if model.needs_attributes:
            # It reads what tells the classes apart, which merged classes do not carry.
            numbered = classes.recoded([Domain("group", pa.array(np.arange(groups)))], [owner])
            kept &= model.holds(numbered)
        else:
            kept &= model.holds(merged)
    return kept
