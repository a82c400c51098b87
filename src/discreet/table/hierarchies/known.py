"""Hierarchies that are known without looking at the data: countries, states, education, marital status, months, diseases, postcodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from discreet.table.domain import MISSING_MARKS, NULL_SIGN, Domain
from discreet.table.hierarchies.builder import texts
from discreet.table.hierarchies.categories import Sets, Zip
from discreet.table.hierarchies.hierarchy import ROOT
from discreet.table.knowledge import classes
from discreet.types import IntArray

KNOWN_SHARE = 0.8
"""So many of a column's values must be known; the others keep to themselves up to the root."""
POSTCODE = "built: zip, because it was recognised as a postcode"
BRITISH = "built: British postcodes by sector, district and area"
COUNTRIES = "built: countries by region and continent (United Nations M49)"
EDUCATION = f"built: {classes.source('education')}"
MARITAL = f"built: {classes.source('marital-status')}"
MONTHS = f"built: {classes.source('month')}"
WEEKDAYS = f"built: {classes.source('weekday')}"
STATES = f"built: {classes.source('us-state')}"
ICD_9 = f"built: categories, blocks and {classes.source('icd-9')}"
ICD_10 = f"built: categories, blocks and {classes.source('icd-10')}"
KNOWN = (POSTCODE, BRITISH, COUNTRIES, EDUCATION, MARITAL, MONTHS, WEEKDAYS, STATES, ICD_9, ICD_10)
"""Where hierarchies come from that nobody gave and that were not learned."""

Parents = Callable[[str], classes.Parents | None]
PARENTS: dict[str, tuple[tuple[str, Parents], ...]] = {
    "country": ((COUNTRIES, classes.place_in_the_world),),
    "nationality": ((COUNTRIES, classes.place_in_the_world),),
    "region": ((STATES, partial(classes.group, "us-state")),),
    "education": ((EDUCATION, partial(classes.group, "education")),),
    "marital-status": ((MARITAL, partial(classes.group, "marital-status")),),
    "date-part": ((MONTHS, partial(classes.group, "month")), (WEEKDAYS, partial(classes.group, "weekday"))),
    "diagnosis": ((ICD_10, partial(classes.disease, "icd-10")), (ICD_9, partial(classes.disease, "icd-9"))),
    "postcode": ((BRITISH, classes.british_postcode),),
}
"""What is known of a kind of information: the first that knows enough values is taken."""
LEAST_KNOWN = {STATES: classes.LEAST_STATES}
"""So many values must be known at least, if more than three."""


def known_hierarchy(domain: Domain, kind: str) -> tuple[Sets | Zip, str] | None:
    """How the values of a kind are grouped by what is known of them, and where that comes from.

    >>> import pyarrow as pa
    >>> lands = Domain("native-country", pa.array(["Mexico", "Peru", "Canada", "France"]))
    >>> builder, origin = known_hierarchy(lands, "nationality")
    >>> builder.build(lands).rows()[1]
    ('Peru', 'South America', 'Americas', '*')
    """
    if not domain.is_text:
        return (Zip(lengths=(4, 3, 2, 1)), POSTCODE) if kind == "postcode" else None
    leaves = [text for text in texts(domain) if text not in MISSING_MARKS and text != ROOT]
    for origin, parents in PARENTS.get(kind, ()):
        parented = {leaf: groups for leaf in leaves if (groups := parents(leaf)) is not None}
        if len(parented) >= LEAST_KNOWN.get(origin, 3) and len(parented) >= KNOWN_SHARE * len(leaves):
            return _sets(leaves, parented), origin
    return (Zip(lengths=(4, 3, 2, 1)), POSTCODE) if kind == "postcode" else None


def _sets(leaves: Sequence[str], parents: dict[str, classes.Parents]) -> Sets:
    """Groups level by level; a value that is a group already, such as a category without a digit, stays what it is."""
    levels: list[dict[str, list[str]]] = []
    current = {leaf: leaf for leaf in leaves}
    for depth in range(len(next(iter(parents.values())))):
        groups: dict[str, dict[str, None]] = {}
        for leaf, own in parents.items():
            groups.setdefault(own[depth], {})[current[leaf]] = None
        current |= {leaf: own[depth] for leaf, own in parents.items()}
        levels.append({label: list(members) for label, members in groups.items()})
    return Sets(levels=tuple(levels))


def known_order(domain: Domain, origin: str | None) -> IntArray | None:
    """The places of a domain's values in the order that their hierarchy is known to have; ``None`` if it has none.

    >>> import pyarrow as pa
    >>> known_order(Domain("education", pa.array(["10th", "Bachelors", "HS-grad", "?"])), EDUCATION)
    array([1, 3, 2, 0])
    """
    labels = [domain.label(code) for code in range(domain.size)]
    if origin == EDUCATION:
        keys = [(*(classes.rank("education", label) or (-math.inf, 0)), label) for label in labels]
    elif origin in (MONTHS, WEEKDAYS):
        kind = "month" if origin == MONTHS else "weekday"
        # What is neither, such as a mark for a missing one, comes first.
        places_of = [classes.place(kind, label) for label in labels]
        keys = [
            (-1.0 if at is None else float(at), 0, label) for at, label in zip(places_of, labels, strict=True)
        ]
    elif origin in (ICD_9, ICD_10):
        keys = [(0.0, 0, label) for label in labels]
    else:
        return None
    places = np.empty(domain.size, dtype=np.int64)
    places[sorted(range(domain.size), key=keys.__getitem__)] = np.arange(domain.size)
    return places


def written_order(domain: Domain, origin: str | None) -> IntArray:
    """The place of each value of an attribute of names where several are written: as known, else by name; what is missing last.

    >>> import pyarrow as pa
    >>> written_order(Domain("month", pa.array(["", "April", "January"])), MONTHS)
    array([2, 1, 0])
    """
    places = known_order(domain, origin)
    if places is None:
        places = np.arange(domain.size)
    missing = np.flatnonzero([label in (NULL_SIGN, *MISSING_MARKS) for label in domain.labels()])
    if not len(missing):
        return places
    last = places.astype(np.int64)
    last[missing] += domain.size
    return np.argsort(np.argsort(last)).astype(np.int64)
