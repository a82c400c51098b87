"""Tables that lie in several files: which these are, and what the names of their folders say about them."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from urllib.parse import quote, unquote

from discreet.errors import UnreadableInput
from discreet.sentences import Sentence

PATTERN = "glob:"
"""What a source begins with that is a pattern: ``*``, ``?`` and ``[…]`` stand for parts of names, ``**`` for any folders."""
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
PARTITION = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Members:
    """Files that are one table, in the order of their paths; folders called ``sex=f`` are columns of it."""

    pattern: str
    """As far as files differ in it, and the folder above."""
    files: tuple[Path, ...]
    partitions: tuple[dict[str, str | None], ...]
    """Per file what its folders say."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that folders are named after."""
        return tuple(self.partitions[0])

    def linked(self, folder: Path, suffix: str) -> list[Path]:
        """Links to the files in a private folder, whose names no engine takes for patterns; partitions keep their folders."""
        links = []
        for number, (file, values) in enumerate(zip(self.files, self.partitions, strict=True)):
            place = folder.joinpath(
                *(
                    f"{key}={NULL_PARTITION if value is None else quote(value, safe='')}"
                    for key, value in values.items()
                )
            )
            place.mkdir(parents=True, exist_ok=True)
            links.append(place / f"{number:06}{suffix}")
            links[-1].symlink_to(file.resolve())
        return links


def members(path: Path) -> Members | None:
    """The files that fit a pattern such as ``glob:visits/year=*/*.parquet``; nothing for a path, which is one file.

    A file that is called so itself is that file.
    """
    text = str(path)
    if not text.startswith(PATTERN) or os.path.exists(path):
        return None
    pattern = text.removeprefix(PATTERN)
    files = tuple(sorted(Path(name) for name in glob.glob(pattern, recursive=True) if Path(name).is_file()))
    if not files:
        raise UnreadableInput(
            Sentence("no file fits the pattern {pattern}", pattern=pattern),
            remedy="check it; ** stands for any folders, * for part of a name",
        )
    fixed = len(list(takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts)))
    partitions = tuple(_partition(file, fixed) for file in files)
    for file, values in zip(files, partitions, strict=True):
        if list(values) != list(partitions[0]):
            raise UnreadableInput(
                Sentence(
                    "the folders of {name} and {other} name other columns",
                    name=files[0].name,
                    other=file.name,
                ),
                remedy="choose a pattern for files that are divided alike",
            )
    # Without where the folder lies, which is nobody's business.
    return Members("/".join(Path(pattern).parts[max(fixed - 1, 0) :]), files, partitions)


def absolute(path: Path) -> Path:
    """The same file or pattern, from wherever it is looked at.

    >>> absolute(Path("glob:/data/*.csv"))
    PosixPath('glob:/data/*.csv')
    """
    text = str(path)
    if not text.startswith(PATTERN) or os.path.exists(path):
        return path.absolute()
    return Path(PATTERN + str(Path(text.removeprefix(PATTERN)).absolute()))


def would_fit(target: Path, path: Path) -> bool:
    """Whether a file would be one of those that a pattern stands for, once it is there.

    >>> pattern = Path("glob:visits/**/*.csv")
    >>> [would_fit(Path(name), pattern) for name in ("visits/a.csv", "visits/2024/5/a.csv", "visits/a.tsv", "a.csv")]
    [True, True, False, False]
    """
    text = str(path)
    if not text.startswith(PATTERN) or os.path.exists(path):
        return False
    parts = Path(text.removeprefix(PATTERN)).parts
    fixed = len(list(takewhile(lambda part: not glob.has_magic(part), parts)))
    folder, wanted = Path(os.path.realpath(Path(*parts[:fixed]))), Path(os.path.realpath(target))
    return wanted.is_relative_to(folder) and _fit(wanted.relative_to(folder).parts, parts[fixed:])


def _fit(names: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Whether names of folders and a file fit the parts of a pattern, one after the other.

    >>> [_fit((name,), ("**",)) for name in ("a.csv", ".a.csv")]
    [True, False]
    """
    if not names:
        return not parts or set(parts) == {"**"}
    if not parts:
        return False
    if names[0].startswith(".") and not parts[0].startswith("."):
        # No star stands for what is hidden.
        return parts[0] == "**" and _fit(names, parts[1:])
    if parts[0] == "**":
        return _fit(names, parts[1:]) or _fit(names[1:], parts)
    return fnmatch.fnmatchcase(names[0], parts[0]) and _fit(names[1:], parts[1:])


def _partition(file: Path, fixed: int) -> dict[str, str | None]:
    """What the folders of a file say, from the first part of a pattern on that may differ.

    >>> _partition(Path("visits/sex=f/town=a%20b/0.parquet"), 1)
    {'sex': 'f', 'town': 'a b'}
    """
    named = [PARTITION.fullmatch(part) for part in file.parts[fixed:-1]]
    return {
        part[1]: None if part[2] == NULL_PARTITION else unquote(part[2]) for part in named if part is not None
    }
