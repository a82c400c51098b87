"""Value generalisation hierarchies: the levels of one attribute, from single values up to ``*``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidHierarchy, UnreadableInput, UnsuitableColumn
from discreet.files.reading import HIERARCHY_BYTES, read_text
from discreet.sentences import Sentence
from discreet.table.domain import NULL_SIGN, Domain
from discreet.table.values import SUPPRESSED, OneOf, parse
from discreet.types import AnyIntArray, FloatArray, Int32Array, IntArray

ROOT = SUPPRESSED
LEARNED = "learned from the data"
"""Where a hierarchy comes from whose groups nobody gave and that stand for no known thing."""
"""How the most general value, and a suppressed one, is printed."""


@dataclass(frozen=True)
class Hierarchy:
    """Levels of one attribute: level 0 holds the leaves, the last one only the root.

    ``labels[l]`` are the nodes of level ``l``; ``nodes[l][i]`` is the node of level ``l`` above leaf ``i``.

    >>> zips = Hierarchy.of("zip", [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"]])
    >>> zips.height, zips.leaves, zips.labels[1], zips.counts(1)
    (2, 3, ('101*', '202*'), array([2, 1]))
    """

    name: str
    labels: tuple[tuple[str, ...], ...]
    nodes: tuple[Int32Array, ...] = field(repr=False, compare=False)

    # ── making ────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def of(cls, name: str, rows: Iterable[Sequence[str]], *, lines: Sequence[int] | None = None) -> Hierarchy:
        """From rows of a leaf and its ancestors, as hierarchy files have them; all problems at once.

        ``lines`` are the lines of the file on which the rows stand, for the text of an error.
        """
        listed = [tuple(str(cell) for cell in row) for row in rows]
        if not listed or len({len(row) for row in listed}) > 1 or len(listed[0]) < 2:
            raise InvalidHierarchy(name, problems(listed, lines))
        labels, nodes = [], []
        for column in zip(*listed, strict=True):
            places: dict[str, int] = {}
            nodes.append(
                np.array([places.setdefault(label, len(places)) for label in column], dtype=np.int32)
            )
            labels.append(tuple(places))
        hierarchy = cls(name, tuple(labels), tuple(nodes))
        # The exact look names every line but is slow; most hierarchies are sound, which is quick to see.
        if (
            len(labels[0]) < len(listed)
            or len(labels[-1]) > 1
            or not hierarchy._nests()
            or hierarchy._repeats()
        ):
            wrong = list(problems(listed, lines))
            if wrong:
                raise InvalidHierarchy(name, wrong)
        return hierarchy

    @classmethod
    def of_levels(
        cls,
        name: str,
        leaves: Sequence[str],
        levels: Iterable[tuple[AnyIntArray, Sequence[str]]],
    ) -> Hierarchy:
        """From the leaves and, per level above them, the node of each leaf and the nodes' labels.

        The root is added if the last level is not it already.

        >>> Hierarchy.of_levels("zip", ["1010", "2020"], [(np.array([0, 1]), ["10**", "20**"])]).rows()
        [('1010', '10**', '*'), ('2020', '20**', '*')]
        """
        labels, nodes = [tuple(leaves)], [np.arange(len(leaves), dtype=np.int32)]
        for codes, names in levels:
            labels.append(tuple(names))
            nodes.append(codes.astype(np.int32))
        if labels[-1] != (ROOT,) or len(labels) == 1:
            labels.append((ROOT,))
            nodes.append(np.zeros(len(leaves), dtype=np.int32))
        hierarchy = cls(name, tuple(labels), tuple(nodes))
        twice = [level for level, names in enumerate(labels) if len(set(names)) < len(names)]
        if twice or not hierarchy._nests():
            wrong = [f"level {level} has two nodes of one name" for level in twice]
            raise InvalidHierarchy(name, wrong or ["a level splits what the level below it had merged"])
        return hierarchy

    @classmethod
    def read(cls, path: str | PathLike[str], name: str, *, delimiter: str = ";") -> Hierarchy:
        """From a file with one line per value: the value, then its ancestors, the last one ``*``."""
        rows, lines = read_rows(path, delimiter=delimiter)
        return cls.of(name, rows, lines=lines)

    def rows(self) -> list[tuple[str, ...]]:
        """One row per leaf: the leaf and its ancestors."""
        columns = [
            [labels[node] for node in nodes.tolist()]
            for labels, nodes in zip(self.labels, self.nodes, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def to_csv(self, *, delimiter: str = ";") -> str:
        """The text of a hierarchy file: one line per leaf, as ``read`` takes it.

        >>> Hierarchy.of("sex", [["f", "*"], ["m", "*"]]).to_csv()
        'f;*\\nm;*\\n'
        """
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(self.rows())
        return text.getvalue()

    def _nests(self) -> bool:
        """Whether each level only merges nodes of the level below it."""
        for below, above, labels in zip(self.nodes, self.nodes[1:], self.labels, strict=False):
            parent = np.zeros(len(labels), dtype=np.int32)
            parent[below] = above
            if not np.array_equal(parent[below], above):
                return False
        return True

    def _repeats(self) -> bool:
        """Whether a label stands on two levels that are not neighbours: a cycle, perhaps."""
        known = [set(names) for names in self.labels]
        return any(known[high] & known[low] for high in range(2, len(known)) for low in range(high - 1))

    # ── shape ─────────────────────────────────────────────────────────────────────────────────────

    @property
    def height(self) -> int:
        """Levels above the leaves."""
        return len(self.labels) - 1

    @property
    def leaves(self) -> int:
        """Values at level 0: the D of leaf-share losses."""
        return len(self.labels[0])

    def counts(self, level: int) -> IntArray:
        """Leaves under each node of a level."""
        return np.bincount(self.nodes[level], minlength=len(self.labels[level]))

    @cached_property
    def leaf_numbers(self) -> FloatArray | None:
        """The leaves as numbers, if all of them are."""
        numbers = Domain(self.name, pa.array(self.labels[0], pa.string())).numbers
        return None if np.isnan(numbers).any() else numbers

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {label: place for place, label in enumerate(self.labels[0])}

    def leaf(self, label: str) -> int | None:
        """The place of a value among the leaves; whole floats are found under their integer form too."""
        place = self._places.get(label)
        if place is None and label.endswith(".0"):
            place = self._places.get(label[:-2])
        return place

    def common_level(self, leaves: Iterable[int]) -> int:
        """The level of the closest common ancestor of some leaves.

        >>> zips = Hierarchy.of("zip", [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"]])
        >>> zips.common_level([0, 1]), zips.common_level([0, 2]), zips.common_level([2])
        (1, 2, 0)
        """
        members = np.fromiter(leaves, dtype=np.int64)
        return next(
            level for level in range(self.height + 1) if len(np.unique(self.nodes[level][members])) == 1
        )

    def label_of(self, shown: str) -> str:
        """The label of the node that a set with fewer names stands for; any other label is its own.

        It has the members that are named, and as many as are named and counted.

        >>> jobs = Hierarchy.of("job", [["cook", "{cook, judge, nurse}", "*"], ["judge", "{cook, judge, nurse}", "*"],
        ...     ["nurse", "{cook, judge, nurse}", "*"], ["baker", "baker", "*"]])
        >>> jobs.label_of("{cook, nurse, +1}"), jobs.label_of("{cook, baker, +1}")
        ('{cook, judge, nurse}', '{cook, baker, +1}')
        """
        meant = parse(shown) if shown.startswith("{") and "+" in shown else None
        if not isinstance(meant, OneOf) or not meant.more or any(shown in names for names in self.labels):
            return shown
        level, node = self.node_around(meant)
        return self.labels[level][node] if self.counts(level)[node] == meant.total else shown

    def node_around(self, meant: OneOf) -> tuple[int, int]:
        """Level and number of the smallest node with the members of a set and room for those that are only counted."""
        leaves = [self.leaf(member) for member in meant.members]
        members = np.array([leaf for leaf in leaves if leaf is not None], dtype=np.int64)
        if len(members) == len(leaves):
            for level in range(1, self.height):
                nodes = self.nodes[level][members]
                if (nodes == nodes[0]).all() and self.counts(level)[nodes[0]] >= meant.total:
                    return level, int(nodes[0])
        return self.height, 0

    # ── on data ───────────────────────────────────────────────────────────────────────────────────

    def ladder(self, domain: Domain) -> Ladder:
        """The hierarchy seen from the values of a table; every value must have its leaf."""
        labels = [str(value) for value in domain.values.to_pylist()]
        places = [self.leaf(label) for label in labels]
        missing = sum(place is None for place in places)
        if missing:
            raise UnsuitableColumn(
                Sentence(
                    "the hierarchy of {name!r} misses {missing:,} of the {count:,} values of the column",
                    name=self.name,
                    missing=missing,
                    count=len(labels),
                ),
                remedy="add these values to the hierarchy (`discreet hierarchy check` lists them), "
                "or let one be built from the data",
            )
        leaf = np.array(places, dtype=np.int64)
        steps = []
        for level in range(self.height + 1):
            node = self.nodes[level][leaf]
            shares = self.counts(level)[node] / self.leaves
            names = list(self.labels[level])
            if domain.has_null:
                # A null is a leaf of its own, directly below the root.
                top = level == self.height
                node = np.append(node, 0 if top else len(names))
                shares = np.append(shares, 1.0 if top else 1.0 / self.leaves)
                if not top:
                    names.append(NULL_SIGN)
            used, compact = np.unique(node, return_inverse=True)
            steps.append(
                Step(
                    compact.astype(np.int32), tuple(names[place] for place in used), shares.astype(np.float64)
                )
            )
        return Ladder(domain, self.leaves, tuple(steps), self.leaf_numbers, self)


@dataclass(frozen=True)
class Step:
    """One level as a table sees it: the node of each domain code, the nodes' labels, and leaf shares per code."""

    codes: Int32Array
    labels: tuple[str, ...]
    shares: FloatArray


@dataclass(frozen=True)
class WiderNames:
    """What a column says of each value of another from which it follows: the county of a town, say. ``None`` where it says several things."""

    column: str
    names: tuple[str | None, ...]


@dataclass(frozen=True)
class Ladder:
    """A hierarchy fitted to the values of one column: how each code is generalised at each level."""

    domain: Domain
    leaves: int
    steps: tuple[Step, ...]
    leaf_numbers: FloatArray | None = field(default=None, repr=False)
    hierarchy: Hierarchy | None = field(default=None, repr=False, compare=False)
    """The whole hierarchy, with the values that the column does not have."""
    assumed: str | None = field(default=None, repr=False, compare=False)
    """Where the hierarchy came from, if nobody gave it."""
    wider: tuple[WiderNames, ...] = field(default=(), repr=False, compare=False)
    """What columns that follow from this one say of its values, from the finest one on."""

    @property
    def name(self) -> str:
        return self.domain.name

    @property
    def height(self) -> int:
        return len(self.steps) - 1

    def values(self, level: int) -> list[str | None]:
        """What a release shows for each node of a level: its label, and a null below the root as a null."""
        step = self.steps[level]
        alone = self.domain.has_null and level < self.height
        null = int(step.codes[-1]) if alone else -1
        return [None if node == null else label for node, label in enumerate(step.labels)]

    def recoding(self, level: int) -> tuple[Int32Array, Domain]:
        """What ``EquivalenceClasses.roll_up`` needs to generalise to ``level``; level 0 keeps the values."""
        if level == 0:
            return np.arange(self.domain.size, dtype=np.int32), self.domain
        step = self.steps[level]
        return step.codes, Domain(self.name, pa.array(step.labels, pa.string()))


def leaf_loss(shares: FloatArray, leaves: int) -> FloatArray:
    """What cells cost that may stand for these shares of a domain: (leaves under the node - 1) / (D - 1).

    Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.

    >>> leaf_loss(np.array([1 / 3, 2 / 3, 1.0]), 3).round(6)
    array([0. , 0.5, 1. ])
    """
    if leaves == 1:
        return np.zeros_like(shares)
    least = 1.0 / leaves
    return np.asarray((shares - least) / (1.0 - least))


def read_rows(path: str | PathLike[str], *, delimiter: str = ";") -> tuple[list[list[str]], list[int]]:
    """The rows of a hierarchy file and the line each stands on; empty lines are passed over."""
    place = Path(path)
    rows, lines = [], []
    remedy = "it must be a UTF-8 text file with one line per value: value;level 1;…;*"
    text = read_text(place, "hierarchy file", limit=HIERARCHY_BYTES, remedy=remedy).removeprefix("\ufeff")
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        start = 1
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error:
        raise UnreadableInput(
            Sentence(
                "the hierarchy file {name} could not be read (line {line})", name=place.name, line=start
            ),
            remedy=remedy,
        ) from None
    if not rows:
        raise UnreadableInput(
            Sentence("the hierarchy file {name} is empty", name=place.name), remedy="give one line per value"
        )
    return rows, lines


def missing_values(known: Iterable[str], domain: Domain) -> list[int]:
    """The codes of the values that are not among the known ones; ``7`` is known where ``7.0`` is asked for.

    >>> missing_values(["7", "8"], Domain("x", pa.array([7.0, 9.0])))
    [1]
    """
    leaves = set(known)
    return [
        code
        for code, value in enumerate(domain.values.to_pylist())
        if (label := str(value)) not in leaves and not (label.endswith(".0") and label[:-2] in leaves)
    ]


def problems(rows: Sequence[Sequence[str]], lines: Sequence[int] | None = None) -> Iterable[str]:
    """Everything that is wrong with the rows of a hierarchy, each with its line; values are not quoted.

    >>> list(problems([["a", "x", "*"], ["a", "y", "*"]]))
    ['line 2 repeats the value of line 1']
    """
    if not rows:
        yield "it has no lines"
        return
    at = lines or range(1, len(rows) + 1)
    width = len(rows[0])
    if width < 2:
        yield "it has only one level: give at least the value and *, separated by a semicolon"
    for line, row in zip(at, rows, strict=True):
        if len(row) != width:
            yield f"line {line} has {len(row)} levels where line {at[0]} has {width}"
    seen: dict[str, int] = {}
    for line, row in zip(at, rows, strict=True):
        if row and row[0] in seen:
            yield f"line {line} repeats the value of line {seen[row[0]]}"
        elif row:
            seen[row[0]] = line
    # Rows of another length cannot be compared level by level; the others still can.
    alike = [(line, row) for line, row in zip(at, rows, strict=True) if len(row) == width]
    for level in range(1, width - 1):
        parents: dict[str, tuple[str, int]] = {}
        for line, row in alike:
            above, first = parents.setdefault(row[level], (row[level + 1], line))
            if above != row[level + 1]:
                yield f"line {line}: its level {level} has another parent than in line {first}"
    roots = {row[-1] for _, row in alike if width > 1}
    if len(roots) > 1:
        yield f"the last level has {len(roots)} values; it must have one, usually *"
    for line, row in alike:
        for level in range(2, width):
            if row[level] in row[: level - 1] and row[level] != row[level - 1]:
                yield f"line {line}: level {level} goes back to the value of a lower level (a cycle)"
