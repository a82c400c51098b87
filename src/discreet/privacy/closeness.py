"""t-closeness: the sensitive values of a class are distributed much as in the whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses, Histogram
from discreet.classes.packing import Packing, run_starts, sort_words
from discreet.errors import InvalidParameter
from discreet.measure import Wording
from discreet.privacy.base import (
    REFERENCES,
    TOLERANCE,
    DistributionModel,
    Reference,
    need_choice,
    need_column,
    need_mapping,
    need_number,
    record_note,
    refuse_uncovered,
)
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray

Distance = Literal["equal", "ordered", "hierarchical"]
DISTANCES: tuple[Distance, ...] = ("equal", "ordered", "hierarchical")
NO_TOTALS = np.zeros(0, dtype=np.int64)


def equal_distance(histogram: Histogram) -> FloatArray:
    """Earth mover's distance when all values are equally far apart: 1/2 sum of |p_i - q_i| per class.

    Both sum to 1, so it equals the sum of max(0, p_i - q_i): only values that a class has are visited.
    Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> equal_distance(classes.histogram("dx"))
    array([0.25, 0.25])
    """
    gain = histogram.distribution[histogram.values]
    np.subtract(histogram.shares, gain, out=gain)
    np.maximum(gain, 0.0, out=gain)
    return histogram.per_class(np.add, gain)


def ordered_distance(histogram: Histogram) -> FloatArray:
    """Earth mover's distance over ranks: 1/(m-1) sum over i of |P_i - Q_i|, with cumulative P and Q.

    m counts the values that occur in the table, in the attribute's order; nulls come last. Between two
    values of a class P is constant while Q rises, so the terms of that stretch change sign once: a binary
    search and prefix sums of Q give it, and the cost is per entry instead of classes times values.
    Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"a": [0, 0, 0, 1, 1, 1, 2, 2, 2]}, sensitive={"pay": [3, 4, 5, 6, 8, 11, 7, 9, 10]})
    >>> ordered_distance(classes.histogram("pay")).round(4)
    array([0.375 , 0.1667, 0.2361])
    """
    occurring, rank = ranks(histogram)
    if occurring == 1:
        return np.zeros(len(histogram.distinct))
    totals = np.zeros(occurring, dtype=np.int64)
    present = histogram.totals > 0
    totals[rank[present]] = histogram.totals[present]
    cumulative = np.cumsum(totals) / totals.sum()
    prefix = np.concatenate(([0.0], np.cumsum(cumulative)))

    position, records = rank[histogram.values], histogram.records
    if not np.all(np.diff(rank[present]) > 0):
        order = np.lexsort((position, histogram.class_of_entry))
        position, records = position[order], records[order]
    starts = histogram.indptr[:-1]
    running = np.cumsum(records)
    before = np.repeat(running[starts] - records[starts], histogram.distinct)
    level = (running - before) / np.repeat(histogram.class_records, histogram.distinct)
    until = np.empty_like(position)
    until[:-1] = position[1:]
    until[histogram.indptr[1:] - 1] = occurring
    crossing = np.searchsorted(cumulative, level)
    np.clip(crossing, position, until, out=crossing)
    # Below the crossing P exceeds Q, from there on Q exceeds P.
    work = level * (2 * crossing - position - until)
    work += prefix[position]
    work -= 2 * prefix[crossing]
    work += prefix[until]
    moved = histogram.per_class(np.add, work) + prefix[position[starts]]
    return np.asarray(np.maximum(moved, 0.0) / (occurring - 1))


def ranks(histogram: Histogram) -> tuple[int, IntArray]:
    """How many values occur, and the place of each value code among them."""
    present = histogram.totals > 0
    if histogram.domain.places is not None:
        # Text sorts "10" before "9" and "10-19" before "5-9"; numbers and bands have an order of their own, others are last.
        order = np.argsort(histogram.domain.places, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.cumsum(present[order]) - 1
    else:
        rank = np.cumsum(present) - 1
    return int(np.count_nonzero(present)), rank


def hierarchical_distance(histogram: Histogram, levels: Sequence[AnyIntArray]) -> FloatArray:
    """Earth mover's distance when two values are as far apart as the height of their common ancestor.

    ``levels[i][v]`` is the node above value code ``v`` at level i + 1, the root's level left out, so the
    tree's height is H = len(levels) + 1. The definition sums height(N)/H min(pos_extra, neg_extra) over
    inner nodes N. The ground distance is that of a tree whose edges measure 1/(2H), for which the earth
    mover's distance is the sum over edges of |extra below it| / (2H): the mean over the levels
    0 … H - 1 of the equal distance between the distributions of that level's nodes.
    Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"a": [0, 0, 1, 1]}, sensitive={"dx": ["bronchitis", "flu", "gastritis", "ulcer"]})
    >>> hierarchical_distance(classes.histogram("dx"), [np.array([0, 0, 1, 1])])  # lung, stomach
    array([0.5, 0.5])
    """
    total = equal_distance(histogram)
    for node_of_value in levels:
        total = total + equal_distance(coarsen(histogram, node_of_value))
    return total / (len(levels) + 1)


def coarsen(histogram: Histogram, node_of_value: AnyIntArray) -> Histogram:
    """The same classes with values replaced by coarser nodes, equal ones counted together (records only)."""
    nodes = int(node_of_value.max()) + 1
    count = len(histogram.distinct)
    packing = Packing.of([count, nodes])
    words, records = sort_words(
        packing.pack([histogram.class_of_entry, node_of_value[histogram.values]]), histogram.records
    )
    starts = run_starts(words)
    first = [word[starts] for word in words]
    merged = np.add.reduceat(records, starts)
    owner = packing.unpack(first, 0)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=count))))
    domain = Domain(histogram.domain.name, pa.array(np.arange(nodes)))
    return Histogram(domain, indptr, packing.unpack(first, 1), merged)


@dataclass(frozen=True)
class TCloseness(DistributionModel):
    """The distribution of the sensitive attribute in every class is within ``t`` of that in the table.

    max over classes E of EMD(P_E, Q) <= t, where the ground distance between two values is
    ``"equal"`` (1), ``"ordered"`` (difference of ranks over m - 1), or ``"hierarchical"`` (height of the
    closest common ancestor over the height of the tree). For the last, ``hierarchy`` maps every value, as
    it prints, to its ancestors from level 1 to the root; a null that is not named hangs under the root.
    Q is the distribution of the release, or with ``reference="original"`` that of the original.

    Monotone: the earth mover's distance to a fixed Q is convex, so a mixture is no farther than the
    farthest of its parts.

    Li, Li and Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> TCloseness(0.3, "dx").measure(classes).value
    0.25
    """

    id: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "t-closeness (equal distance)"
    says: ClassVar[str] = (
        "How far the sensitive values of the most unusual class are from those of the whole table."
    )
    kinds: ClassVar[Mapping[str, Wording]] = {
        "ordered-t-closeness": Wording(
            "t-closeness (ordered distance)",
            "How far, along the order of values, the most unusual class is from the whole table.",
        ),
        "hierarchical-t-closeness": Wording(
            "t-closeness (hierarchical distance)",
            "How far, along the hierarchy of values, the most unusual class is from the whole table.",
        ),
    }
    source: ClassVar[str] = "Li et al., t-closeness: privacy beyond k-anonymity and l-diversity, 2007"

    t: float
    sensitive: str
    distance: Distance = "equal"
    hierarchy: Mapping[str, tuple[str, ...]] | None = field(default=None, hash=False)
    reference: Reference = "release"

    def __post_init__(self) -> None:
        need_choice("reference", self.reference, REFERENCES)
        need_number("t", self.t, high=1.0)
        need_column("sensitive", self.sensitive)
        need_choice("distance", self.distance, DISTANCES)
        if self.distance == "hierarchical":
            _need_tree(self.hierarchy)
        elif self.hierarchy is not None:
            raise InvalidParameter(
                Sentence("a hierarchy was given for the {distance} distance", distance=self.distance),
                remedy='leave hierarchy out or set distance = "hierarchical"',
            )

    @property
    def name(self) -> str:
        return "t-closeness" if self.distance == "equal" else f"{self.distance}-t-closeness"

    @property
    def threshold(self) -> float:
        return float(self.t)

    def describe(self) -> str:
        return Sentence(
            "the distribution of {sensitive!r} in every class is within {t:.4g} of that {whole} ({distance} distance)",
            sensitive=self.sensitive,
            t=self.t,
            whole=self._whole(),
            distance=Sentence(self.distance),
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "earth mover's distance"

    def distances(self, histogram: Histogram) -> FloatArray:
        if self.distance == "equal":
            return equal_distance(histogram)
        if self.distance == "ordered":
            return ordered_distance(histogram)
        assert self.hierarchy is not None
        return hierarchical_distance(histogram, tree_levels(histogram.domain, self.hierarchy))

    def distances_of(
        self, classes: EquivalenceClasses, chosen: BoolArray, *, alone: bool = False
    ) -> FloatArray:
        table = classes.table(self.sensitive) if self.distance == "equal" else None
        if table is None:
            return super().distances_of(classes, chosen, alone=alone)
        from discreet.privacy.kernels import equal_distances

        totals = NO_TOTALS if alone else classes.totals(self.sensitive)
        return equal_distances(table, classes.records, chosen, totals)

    def close_together(self, classes: EquivalenceClasses, chosen: BoolArray) -> BoolArray:
        table = classes.table(self.sensitive) if self.distance == "equal" else None
        if table is None:
            return super().close_together(classes, chosen)
        from discreet.privacy.kernels import equally_close

        return equally_close(table, classes.records, chosen, self.t, TOLERANCE)

    def within_reach(self, classes: EquivalenceClasses, chosen: BoolArray, share: float) -> BoolArray:
        # The distance is a metric of at most 1, so D(P, Q) = s D(R, Q) <= s: the triangle inequality.
        return self.meets(self.distances_of(classes, chosen) - share)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "In the most unusual class up to {value:.1%} of the distribution (weighted by distance) "
            "would have to change to look like the whole table.",
            value=value,
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        domain = classes.sensitive_domain(self.sensitive)
        nulls: tuple[str, ...] = ()
        if domain.has_null and self.distance == "ordered":
            nulls = ("nulls count as the last value of the order",)
        elif self.distance == "hierarchical" and domain.has_null and "∅" not in (self.hierarchy or {}):
            nulls = ("nulls hang directly under the root of the hierarchy",)
        return (*nulls, *record_note(classes))


def tree_levels(domain: Domain, ancestors: Mapping[str, tuple[str, ...]]) -> list[IntArray]:
    """For the levels 1 … H - 1 the number of the node above each value code.

    >>> import pyarrow as pa
    >>> fuel = Domain("fuel", pa.array(["EV", "Gas", "Hybrid"]))
    >>> tree_levels(fuel, {"EV": ("with E", "?"), "Hybrid": ("with E", "?"), "Gas": ("Gas", "?")})
    [array([0, 1, 0])]
    """
    paths = {label: tuple(path) for label, path in ancestors.items()}
    some = next(iter(paths.values()))
    if domain.has_null:
        paths.setdefault("∅", (*["∅"] * (len(some) - 1), some[-1]))
    refuse_uncovered(domain, paths, "hierarchy")
    of_value = [paths[label] for label in domain.labels()]
    levels = []
    for level in range(len(some) - 1):
        number: dict[str, int] = {}
        levels.append(np.array([number.setdefault(path[level], len(number)) for path in of_value]))
    return levels


def _need_tree(ancestors: Mapping[str, tuple[str, ...]] | None) -> None:
    """Raise unless the paths form one tree with all values at the same depth."""
    need_mapping("hierarchy", ancestors)
    assert ancestors is not None
    paths = [tuple(path) for path in ancestors.values()]
    remedy = "give every value its ancestors from level 1 up to one common root"
    if any(isinstance(path, str) for path in ancestors.values()) or len({len(path) for path in paths}) != 1:
        raise InvalidParameter("the paths of the hierarchy differ in length", remedy=remedy)
    if not paths[0] or len({path[-1] for path in paths}) != 1:
        raise InvalidParameter("the hierarchy has not exactly one root", remedy=remedy)
    for level in range(len(paths[0]) - 1):
        parents = {(path[level], path[level + 1]) for path in paths}
        if len(parents) != len({node for node, _ in parents}):
            raise InvalidParameter(
                Sentence("a node at level {level} of the hierarchy has two parents", level=level + 1),
                remedy=remedy,
            )
