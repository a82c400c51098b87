"""What classes know of the population of which their people are a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from discreet.types import FloatArray

if TYPE_CHECKING:
    from discreet.classes.equivalence import EquivalenceClasses


class Outside(Protocol):
    """A population that was counted by itself."""

    def people(self, classes: EquivalenceClasses) -> FloatArray:
        """How many of its people the values of each class may stand for."""
        ...
