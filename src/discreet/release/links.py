"""Links: which row of the original each row of a release was. Whoever has them has undone the release: they stay private."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from discreet.arrays import distinct
from discreet.errors import InvalidParameter
from discreet.files.reading import check_regular
from discreet.files.writing import atomically
from discreet.sentences import Sentence
from discreet.types import IntArray

HEADER = ("released", "original")
"""The columns of a file of links: numbers of rows, from 1, without the header."""

Given = str | PathLike[str] | IntArray


def write_links(path: Path, places: IntArray) -> Path:
    """Write links for the custodian, readable by nobody else."""
    rows = np.arange(1, len(places) + 1)
    numbers = pa.table(dict(zip(HEADER, (pa.array(rows), pa.array(places + 1)), strict=True)))
    atomically(path, lambda part: pyarrow.csv.write_csv(numbers, part), private=True)
    return path


def read_links(links: Given, *, released: int, original: int, counterfeits: bool = False) -> IntArray:
    """For each row of a release its row of the original, from 0: of a file, or of numbers that are checked.

    With ``counterfeits`` rows may be nobody's: -1, in a file 0.
    """
    places = _numbers(Path(links)) if isinstance(links, str | PathLike) else np.asarray(links)
    if places.shape != (released,) or places.dtype.kind not in "iu":
        raise InvalidParameter(
            Sentence(
                "the links are not {released:,} whole numbers, one for each row of the release",
                released=released,
            ),
            remedy="give the links that were made with this release",
        )
    true = places[places != -1] if counterfeits else places
    if len(true) and (true.min() < 0 or true.max() >= original or len(distinct(true)) < len(true)):
        raise InvalidParameter(
            Sentence(
                "the links name a row twice, or one that the {original:,} rows of the original do not have",
                original=original,
            ),
            remedy="give the links that were made with this release, and its original",
        )
    return places.astype(np.int64)


def _numbers(path: Path) -> IntArray:
    check_regular(path)
    try:
        numbers = pyarrow.csv.read_csv(
            path,
            convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(HEADER, pa.int64())),
        )
        if tuple(numbers.column_names) != HEADER or any(column.null_count for column in numbers.columns):
            raise ValueError
        rows, places = (np.asarray(column.to_numpy(), dtype=np.int64) for column in numbers.columns)
        if not np.array_equal(rows, np.arange(1, len(rows) + 1)):
            raise ValueError
    except (pa.ArrowException, OSError, ValueError):
        raise InvalidParameter(
            Sentence(
                "{name} does not hold links: the numbers of released rows from 1, and of their original rows",
                name=path.name,
            ),
            remedy="give the file that was written with --links",
        ) from None
    return places - 1
