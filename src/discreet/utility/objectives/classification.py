"""The classification metric: what a release costs whoever wants to learn a label from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.types import FloatArray
from discreet.utility.objectives.class_sizes import ClassSums
from discreet.utility.objectives.objective import Grouping, Pricing, Setting


@dataclass(frozen=True)
class Classification:
    """The share of records whose label is not the majority of their class, or that are suppressed.

    CM = 1/|T| × (sum over classes of (|E| - records with the most frequent label) + w × suppressed).
    ``label`` names a sensitive attribute; it may be left out if there is only one.
    Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002. Monotone, as the majority of a
    merged class is at most the sum of the parts' majorities; not additive.
    """

    label: str | None = None

    name = "classification"
    monotone = True
    additive = False

    def bind(self, setting: Setting) -> Pricing:
        label = self.label_among(setting.classes.sensitive)
        setting.classes.sensitive_domain(label)
        return _Classification(setting, label)

    def label_among(self, sensitive: Sequence[Domain]) -> str:
        """The label, or the only sensitive attribute if none is given."""
        if self.label is not None:
            return self.label
        if len(sensitive) != 1:
            raise InvalidParameter(
                Sentence(
                    "the classification metric needs a label, and there are {sensitive} sensitive attributes",
                    sensitive=len(sensitive),
                ),
                remedy="name one of them as its label",
            )
        return sensitive[0].name


class _Classification(ClassSums):
    def __init__(self, setting: Setting, label: str) -> None:
        self._label = label
        histogram = setting.classes.histogram(label)
        minority = setting.total - int(histogram.per_class(np.maximum, histogram.records).sum())
        super().__init__(setting, minority / setting.total, setting.suppression)

    def released(self, grouping: Grouping) -> FloatArray:
        histogram = grouping.histogram(self._label)
        majority = histogram.per_class(np.maximum, histogram.records)
        return np.asarray((grouping.sizes - majority) / self.setting.total)

    def suppressed(self, grouping: Grouping) -> FloatArray:
        return np.asarray(grouping.sizes / self.setting.total)
