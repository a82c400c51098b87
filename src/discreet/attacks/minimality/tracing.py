"""Which original classes stand behind each released class, and what a finer release would have shown of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.classes.pair import Links, Pair
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.meaning import KINDS
from discreet.types import IntArray

Recoding = Literal["auto", "local", "global"]
"""Whether a value always became the same new value (global), or its class decides (local); ``auto``: look."""


def shown_links(pair: Pair, links: Links) -> Links:
    """The links to classes that show something."""
    kept = (links.released >= 0) & ~pair.suppressed[links.released]
    return Links(links.original[kept], links.released[kept], links.records[kept])


def recoding_of(pair: Pair, links: Links, recoding: Recoding = "auto") -> Literal["local", "global"]:
    """How the release was recoded: globally if every original value has one released form, else locally."""
    if recoding != "auto":
        return recoding
    for before, after, meaning in zip(pair.original.codes, pair.released.codes, pair.meanings, strict=True):
        keys = np.unique(
            before[links.original].astype(np.int64) * meaning.released.size + after[links.released]
        )
        if len(np.unique(keys // meaning.released.size)) < len(keys):
            return "local"
    return "global"


@dataclass(frozen=True)
class Finer:
    """What one attribute would show one level below: per link a number and, per number, the printed value.

    A number of -1 says that there is no level below: the value is shown as it is, or its form is not known.
    """

    child: IntArray
    labels: tuple[str, ...]


def finer(pair: Pair, links: Links, name: str) -> Finer:
    """The children that the released values of ``name`` have in its hierarchy, for each link.

    Without a hierarchy only a suppressed value has children: the original values.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"zip": ["1010", "1011", "2020"]})
    >>> pair = Pair.of(original, original).trivial()
    >>> finer(pair, pair.links, "zip").labels
    ('1010', '1011', '2020')
    """
    at = pair.original.index(name)
    before, after = pair.original.attributes[at], pair.released.attributes[at]
    hierarchy, meaning = pair.hierarchies.get(name), pair.meanings[at]
    width = before.size
    keys = pair.released.codes[at][links.released].astype(np.int64) * width
    keys += pair.original.codes[at][links.original]
    both, place = np.unique(keys, return_inverse=True)
    numbers: dict[str, int] = {}
    child = []
    for key in both.tolist():
        released, value = divmod(key, width)
        kind = KINDS[meaning.kinds[released]]
        label = None
        if kind == "suppressed" or (kind != "exact" and hierarchy is not None):
            label = _child(hierarchy, before.label(value), after.label(released), root=kind == "suppressed")
        child.append(-1 if label is None else numbers.setdefault(label, len(numbers)))
    return Finer(np.array(child, dtype=np.int64)[place], tuple(numbers))


def _child(hierarchy: Hierarchy | None, value: str, shown: str, *, root: bool) -> str | None:
    """The label one level below what is shown of a value; of equal labels on a branch the lowest counts."""
    leaf = None if hierarchy is None else hierarchy.leaf(value)
    if hierarchy is None or leaf is None:
        return value if root else None
    path = [labels[nodes[leaf]] for labels, nodes in zip(hierarchy.labels, hierarchy.nodes, strict=True)]
    shown = hierarchy.label_of(shown)
    above = path.index(shown) if shown in path else (path.index(path[-1]) if root else 0)
    return path[above - 1] if above else None
