"""What became of the values of each attribute, for people to read: new value, records, old values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.release.release import Release
from discreet.reports.figures import Row, short_label
from discreet.sentences import Sentence

MOST_VALUES = 200
"""Old values of an attribute that the report lists; the recipe has all."""
MOST_VALUES_OF_ALL = 6_000
"""Old values of all attributes together, so that the report of a wide table stays small."""


def mappings(release: Release) -> list[Row]:
    """What became of the values of each attribute that changed: for the internal edition only."""
    names = release.recoding.classes.names
    most = max(10, min(MOST_VALUES, MOST_VALUES_OF_ALL // len(names)))
    maps = []
    for name in names:
        groups = list(grouped(release, name))
        if all(old == [new] for new, _, old in groups):
            continue
        lengths = [len(old) for _, _, old in groups]
        shares = _fair_shares(lengths, most)
        rows: list[Row] = [
            {
                "label": short_label(new),
                "records": f"{records:,}",
                "old": tuple(map(short_label, _first_and_last(old, share))),
                "all": f"{len(old):,}",
                "cut": share < len(old),
            }
            for (new, records, old), share in zip(groups, shares, strict=True)
            if share
        ]
        pairs, total = sum(shares), sum(lengths)
        note = ""
        if pairs < total:
            note = Sentence(
                "{pairs:,} of {total:,} pairs of new and old value are listed; the recipe has all.",
                pairs=pairs,
                total=total,
            )
        maps.append({"name": name, "rows": rows, "listed": pairs, "total": total, "note": note})
    return maps


def _fair_shares(lengths: Sequence[int], most: int) -> list[int]:
    """How many of each list are shown if so many are in all: short ones whole, the others alike; some of each, if there is room.

    >>> _fair_shares([2, 50, 9], 20), _fair_shares([5, 5, 5], 2)
    ([2, 9, 9], [1, 1, 0])
    """
    if len(lengths) > most:
        return [int(at < most) for at in range(len(lengths))]
    shares = [0] * len(lengths)
    for rank, at in enumerate(sorted(range(len(lengths)), key=lambda at: lengths[at])):
        shares[at] = min(lengths[at], most // (len(lengths) - rank))
        most -= shares[at]
    return shares


def _first_and_last(values: Sequence[str], share: int) -> Sequence[str]:
    """So many of the values: the first ones, and the last, which tells how far they go.

    >>> _first_and_last(["a", "b", "c", "d"], 3), _first_and_last(["a", "b"], 1)
    (['a', 'b', 'd'], ['a'])
    """
    return values[:share] if share >= len(values) or share < 2 else [*values[: share - 1], values[-1]]


def grouped(release: Release, name: str) -> Iterator[tuple[str, int, list[str]]]:
    """Each new value that is shown, its records, and the old values it stands for, in their order."""
    recoding = release.recoding
    at = recoding.classes.names.index(name)
    kept = recoding.kept
    new, old = recoding.columns[at].codes[kept], recoding.classes.codes[at][kept]
    labels, printed = recoding.classes.attributes[at].labels(), recoding.columns[at].printed()
    records = np.bincount(new, weights=recoding.classes.records[kept], minlength=len(printed)).astype(int)
    members: dict[int, list[int]] = {}
    for pair in np.unique(new.astype(np.int64) * len(labels) + old).tolist():
        members.setdefault(pair // len(labels), []).append(pair % len(labels))
    for code in sorted(members, key=lambda code: (members[code], code)):
        yield printed[code], int(records[code]), [labels[old_code] for old_code in members[code]]
