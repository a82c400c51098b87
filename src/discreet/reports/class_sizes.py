"""The classes of a table by their size: bins with an edge at the size that is required."""

from __future__ import annotations

import numpy as np

from discreet.release.audit import Audit
from discreet.reports.charts.bar import SizeBin
from discreet.reports.words import percent
from discreet.risk.special_uniques import SMALL_GROUP

EDGES = (1, 2, 3, 5, 11, 21, 51, 101)
"""Where bins of class sizes begin."""
EXPLANATION = (
    "A class is everyone who shares one combination of quasi-identifiers. The larger the class, the better each "
    "person in it is hidden."
)
MERGED = "Ranges that hold only a few people are merged with their neighbours in this edition."
SOURCE = "equivalence classes and k: Sweeney 2002"


def size_bins(audit: Audit, *, required: int | None, public: bool) -> list[SizeBin]:
    """Bins of class sizes with an edge at the required size; in public none that holds but a few people."""
    sizes = audit.classes.persons if audit.event_level else audit.classes.records
    edges = sorted({*EDGES, *(() if required is None else (required,))})
    at = np.searchsorted(edges, sizes, side="right") - 1
    records = np.bincount(at, weights=audit.classes.records, minlength=len(edges)).astype(int).tolist()
    people = np.bincount(at, weights=audit.classes.persons, minlength=len(edges)).astype(int).tolist()
    ranges = [[first, after - 1] for first, after in zip(edges, [*edges[1:], 0], strict=True)]
    if public:
        ranges, records = _merged(ranges, records, people)
    total = audit.classes.total
    return [
        SizeBin(_range(first, last), first, count / total, percent(count / total) if count else "")
        for (first, last), count in zip(ranges, records, strict=True)
    ]


def _merged(
    ranges: list[list[int]], records: list[int], people: list[int]
) -> tuple[list[list[int]], list[int]]:
    """Neighbouring ranges merged until each holds nobody or at least eleven people.

    >>> _merged([[1, 1], [2, 2], [3, 4], [5, -1]], [3, 0, 20, 2], [3, 0, 20, 2])
    ([[1, -1]], [25])
    >>> _merged([[1, 1], [2, 2], [3, 4], [5, -1]], [12, 4, 20, 0], [12, 4, 20, 0])
    ([[1, 1], [2, 4], [5, -1]], [12, 24, 0])
    """
    kept: list[tuple[list[int], int, int]] = []
    for (first, last), count, persons in zip(ranges, records, people, strict=True):
        if kept and 0 < kept[-1][2] < SMALL_GROUP:
            (start, _), before, persons_before = kept.pop()
            kept.append(([start, last], before + count, persons_before + persons))
        else:
            kept.append(([first, last], count, persons))
    while len(kept) > 1 and 0 < kept[-1][2] < SMALL_GROUP:
        (_, last), count, persons = kept.pop()
        (start, _), before, persons_before = kept.pop()
        kept.append(([start, last], before + count, persons_before + persons))
    return [bounds for bounds, _, _ in kept], [count for _, count, _ in kept]


def _range(first: int, last: int) -> str:
    if last < 0:
        return f">{first - 1}" if first > 1 else "any"
    return f"{first}" if first == last else f"{first}–{last}"


def share_under(audit: Audit, size: int) -> float:
    """Share of records in classes under a size."""
    sizes = audit.classes.persons if audit.event_level else audit.classes.records
    return float(audit.classes.records[sizes < size].sum() / audit.classes.total)
