"""The pivot of the house: rows counted into equivalence classes, encoded as integers."""

from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.histogram import Histogram, PersonCounts, Unit

__all__ = ["EquivalenceClasses", "Histogram", "PersonCounts", "Unit"]
