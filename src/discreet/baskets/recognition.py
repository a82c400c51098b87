"""Whether a text file that is no table holds a basket on each line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from os import PathLike

from discreet.baskets.baskets import Baskets
from discreet.errors import DiscreetError

SEPARATORS = (",", ";", "\t", "|")
FEWEST = 10
"""Fewer lines say nothing."""
COMMONEST = 0.8
"""Lines of a table have so often the same number of fields, also where some are damaged."""
AGAIN = 0.5
"""Of the items that are named, at least this share are such as several baskets hold."""
LONGEST = 80
"""A text of more characters is a sentence, and no name of an item."""


@dataclass(frozen=True)
class FoundBaskets:
    """A file that seems to have a basket on each line: how many baskets and items, and the most items of a basket."""

    separator: str
    baskets: int
    items: int
    longest: int


def find_baskets(path: str | PathLike[str]) -> FoundBaskets | None:
    """The baskets that a text file seems to hold, one on each line; nothing if it looks like something else.

    Baskets differ in how many items they hold, and the same short items come again in several of them.
    """
    for separator in SEPARATORS:
        try:
            baskets = Baskets.read(path, separator=separator)
        except (DiscreetError, OSError, MemoryError):
            continue
        if _plausible(baskets):
            return FoundBaskets(separator, len(baskets), len(baskets.items), int(baskets.sizes.max()))
    return None


def _plausible(baskets: Baskets) -> bool:
    sizes = Counter(baskets.sizes.tolist())
    support = baskets.support()
    return (
        len(baskets) >= FEWEST
        and max(sizes) > 1
        and max(sizes.values()) <= COMMONEST * len(baskets)
        and int(support[support > 1].sum()) >= AGAIN * len(baskets.codes)
        and max(map(len, baskets.items)) <= LONGEST
        and all(item.isprintable() for item in baskets.items)
    )
