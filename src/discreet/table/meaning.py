"""What the values of a released column may stand for, among the values that the original column has."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Literal, TypeVar, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.domain import MISSING_MARKS, NULL_SIGN, Domain, number_of
from discreet.table.hierarchies.dates import PERIODS, Dates, moments_of
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.notations import TRUTH, days, forms, listed, span_of_days, starred, unquoted
from discreet.table.values import SUPPRESSED, Interval, Masked, OneOf, as_set, parse
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray

Kind = Literal["exact", "interval", "set", "masked", "node", "suppressed", "foreign"]
"""How a value was released. ``foreign``: a single value that the original does not have, such as a mean."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_LAST_MOMENT = 1 - 1e-9
"""From the beginning of a day to its end, in days."""

Told = Mapping[str, OneOf]
Ranges = list[tuple[int, int]]
Reading = tuple[Kind, Ranges, float, tuple[float, float] | None]
Number = TypeVar("Number", bound=np.number)


@dataclass(frozen=True)
class Meaning:
    """For each released value the original values it may stand for.

    Original values are ranked: numbers by size, others in the order of their codes; ``rank[code]`` is the place
    of a code. Released code ``r`` may stand for the ranks ``starts[i] <= rank < stops[i]`` with ``i`` in
    ``indptr[r]:indptr[r + 1]``. ``shares[r]`` is the share of the attribute's ``leaves`` it may stand for (1 / D
    for a single value), ``low`` and ``high`` its bounds as numbers (NaN where there are none), ``kinds[r]`` the
    place of its kind in ``KINDS``.

    A value is *suppressed* if it is no single value and may stand for every value of the attribute: ``*``, and also an
    interval, set, mask or node that is as wide. It says nothing, however it is written.

    >>> ages = Domain("age", pa.array([31, 34, 47, 52]))
    >>> meaning = Meaning.of(ages, Domain("age", pa.array(["*", "47", "48.5", "[30, 39]", "{34, 52}"])))
    >>> [meaning.members(code).tolist() for code in range(5)]
    [[0, 1, 2, 3], [2], [], [0, 1], [1, 3]]
    >>> KINDS[Meaning.of(ages, Domain("age", pa.array(["[30, 60]"]))).kinds[0]]
    'suppressed'
    >>> [KINDS[kind] for kind in meaning.kinds]
    ['suppressed', 'exact', 'foreign', 'interval', 'set']
    >>> meaning.shares, meaning.centre
    (array([1.  , 0.25, 0.25, 0.5 , 0.5 ]), array([41.5, 47. , 48.5, 34.5, 43. ]))
    """

    original: Domain
    released: Domain
    leaves: int
    rank: IntArray = field(repr=False)
    indptr: IntArray = field(repr=False)
    starts: IntArray = field(repr=False)
    stops: IntArray = field(repr=False)
    shares: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    kinds: NDArray[np.int8] = field(repr=False)

    @classmethod
    def of(
        cls,
        original: Domain,
        released: Domain,
        hierarchy: Hierarchy | None = None,
        told: Told | None = None,
        assumed: bool = False,
    ) -> Meaning:
        """Read every released value: as a value of the original, a node of the hierarchy, or by its printed form.

        ``told`` says what short labels stand for: the values that released records with such a label have are its
        members, those that none of them has are counted; a hierarchy that was only ``assumed`` does not tell them.

        A null, or a mark for missing values such as ``NA``, is a null if the original has any (files without
        types cannot tell them apart), and else a suppressed value. A mask hides one character with each ``*``, or
        any number of them if nothing else fits. Dates are also read as weeks, months, quarters, years, decades and
        centuries. Forms of other tools (``a~b``, ``101xx``, the beginning of a code) are read only where values of
        the original bear them out.
        """
        return _Reader(original, hierarchy, told or {}, assumed).read(released)

    @property
    def name(self) -> str:
        return self.original.name

    @cached_property
    def code_at(self) -> IntArray:
        """The original code at each rank."""
        return np.argsort(self.rank)

    @cached_property
    def centre(self) -> FloatArray:
        """The middle of each released value as a number: of an interval, or of the mean of a set's members."""
        middle = np.asarray((self.low + self.high) / 2)
        numbers = self.original.numbers
        for code in np.flatnonzero(np.isin(self.kinds, (KINDS.index("set"), KINDS.index("node")))):
            inside = numbers[self.members(int(code))]
            if not np.isnan(inside).all():
                middle[code] = float(np.nanmean(inside))
        return middle

    @cached_property
    def sizes(self) -> IntArray:
        """How many original values each released one may stand for."""
        width = np.concatenate([[0], np.cumsum(self.stops - self.starts)])
        return np.asarray(width[self.indptr[1:]] - width[self.indptr[:-1]])

    @cached_property
    def truthful(self) -> bool:
        """Whether every released value may stand for some original one: nothing was averaged, noised or made up."""
        return not (self.kinds == KINDS.index("foreign")).any() and bool((self.sizes > 0).all())

    @cached_property
    def suppressed(self) -> BoolArray:
        """Which released values say nothing: they may stand for every value of the attribute."""
        return np.asarray(self.kinds == KINDS.index("suppressed"))

    @property
    def numeric(self) -> bool:
        """Whether original values are numbers, so that distances make sense."""
        return self.original.is_numeric

    def members(self, released: int) -> IntArray:
        """The original codes that a released code may stand for, by rank."""
        at = range(*self.indptr[released : released + 2].tolist())
        ranks = [np.arange(self.starts[i], self.stops[i]) for i in at]
        return self.code_at[np.concatenate(ranks)] if ranks else np.empty(0, dtype=np.int64)

    def covers(self, released: AnyIntArray, original: AnyIntArray) -> BoolArray:
        """Whether each released code may stand for the original code beside it; arrays are broadcast.

        >>> sex = Domain("sex", pa.array(["f", "m"]))
        >>> meaning = Meaning.of(sex, Domain("sex", pa.array(["*", "f"])))
        >>> meaning.covers(np.array([[0], [1]]), np.array([[0, 1]]))
        array([[ True,  True],
               [ True, False]])
        """
        codes, places = np.broadcast_arrays(released.astype(np.int64), self.rank[original])
        if not len(self.starts):
            return np.zeros(codes.shape, dtype=bool)
        # Ranges of one released code are ascending, so all of them in a row are sorted by (code, start).
        width = self.original.size + 1
        key = self._owner * width + self.starts
        at = np.searchsorted(key, codes * width + places, side="right") - 1
        begun = at >= self.indptr[codes]
        return np.asarray(begun & (places < self.stops[np.maximum(at, 0)]))

    @cached_property
    def _owner(self) -> IntArray:
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def spread(self, counts: NDArray[np.number], records: NDArray[np.number]) -> FloatArray:
        """Expected records per original code: those of each released value spread over what it may stand for.

        ``records[r]`` are the records of released code ``r``; they are spread in proportion to ``counts`` of the
        original codes (ones: evenly, as one must who knows only the release). Foreign values give nothing.

        >>> ages = Domain("age", pa.array([31, 34, 47]))
        >>> meaning = Meaning.of(ages, Domain("age", pa.array(["47", "[30, 39]"])))
        >>> meaning.spread(np.ones(3), np.array([1, 4]))
        array([2., 2., 1.])
        """
        by_rank = np.asarray(counts, dtype=np.float64)[self.code_at]
        mass = self.sum_inside(by_rank)
        rate = np.divide(records, mass, out=np.zeros(len(mass)), where=mass > 0)
        return np.asarray((self.sum_covering(rate).clip(0.0) * by_rank)[self.rank])

    def sum_inside(self, by_rank: NDArray[np.number | np.bool_]) -> FloatArray:
        """For each released value the sum over the ranks that it may stand for.

        >>> ages = Domain("age", pa.array([31, 34, 47]))
        >>> Meaning.of(ages, Domain("age", pa.array(["47", "[30, 39]"]))).sum_inside(np.array([1, 2, 5]))
        array([5., 3.])
        """
        before = np.concatenate([[0], np.cumsum(by_rank)])
        amounts = before[self.stops] - before[self.starts]
        return np.bincount(self._owner, weights=amounts, minlength=len(self.indptr) - 1).astype(np.float64)

    def sum_covering(self, by_code: NDArray[Number]) -> NDArray[Number]:
        """For each rank the sum over the released values that may stand for it.

        >>> ages = Domain("age", pa.array([31, 34, 47]))
        >>> Meaning.of(ages, Domain("age", pa.array(["47", "[30, 39]"]))).sum_covering(np.array([5, 3]))
        array([3, 3, 5])
        """
        steps = np.zeros(self.original.size + 1, dtype=by_code.dtype)
        np.add.at(steps, self.starts, by_code[self._owner])
        np.subtract.at(steps, self.stops, by_code[self._owner])
        return np.asarray(np.cumsum(steps[:-1], dtype=by_code.dtype))


class _Reader:
    """Reads released values against one original column."""

    def __init__(self, original: Domain, hierarchy: Hierarchy | None, told: Told, assumed: bool) -> None:
        self.original = original
        self.told, self.assumed = told, assumed
        self.size = original.size
        numbers = original.numbers if original.holds_numbers else original.places
        self.bands = not original.holds_numbers and numbers is not None
        self.numbers = np.full(self.size, np.nan) if numbers is None else numbers
        order = np.argsort(self.numbers, kind="stable")
        self.rank = np.empty(self.size, dtype=np.int64)
        self.rank[order] = np.arange(self.size)
        self.sorted_numbers = self.numbers[order][: int((~np.isnan(self.numbers)).sum())]
        labels = [str(value) for value in original.values.to_pylist()]
        self.place = {label: int(self.rank[code]) for code, label in enumerate(labels)}
        self.temporal = pa.types.is_timestamp(original.values.type) or pa.types.is_date(original.values.type)
        self.hierarchy = hierarchy
        self.leaves = max(hierarchy.leaves if hierarchy else len(original.values), 1)
        ticks = None if hierarchy is None else hierarchy.leaf_numbers
        self.ticks = np.sort(self.sorted_numbers if ticks is None else ticks)
        self.nodes = {**self._periods(), **(self._nodes(hierarchy) if hierarchy else {})}

    @cached_property
    def sorted_labels(self) -> list[tuple[str, int]]:
        """The original's values as they are printed, in alphabetical order, with their ranks."""
        return sorted(self.place.items())

    def read(self, released: Domain) -> Meaning:
        texts = [str(value) for value in released.values.to_pylist()]
        self.vouched = not self.assumed or all(self._node(text) is not None for text in texts if as_set(text))
        readings = [self._reading(text) for text in texts]
        unknown = [code for code, reading in enumerate(readings) if reading[0] == "foreign"]
        for code, places in zip(unknown, self._beginnings([texts[code] for code in unknown]), strict=False):
            readings[code] = "masked", _merged(places), min(len(places) / self.leaves, 1.0), None
        if released.has_null:
            readings.append(self._missing())
        readings = [self._judged(reading) for reading in readings]
        ranges = [reading[1] for reading in readings]
        flat = np.array([pair for pairs in ranges for pair in pairs], dtype=np.int64).reshape(-1, 2)
        bounds = np.array(
            [self._bounds(reading[1], reading[3]) for reading in readings], dtype=np.float64
        ).reshape(-1, 2)
        return Meaning(
            self.original,
            released,
            self.leaves,
            self.rank,
            np.cumsum([0, *map(len, ranges)]).astype(np.int64),
            flat[:, 0],
            flat[:, 1],
            np.array([reading[2] for reading in readings], dtype=np.float64),
            bounds[:, 0],
            bounds[:, 1],
            np.array([KINDS.index(reading[0]) for reading in readings], dtype=np.int8),
        )

    def _judged(self, reading: Reading) -> Reading:
        """A reading as a suppressed one if it may be any value: all leaves, and nulls if the original has them."""
        kind, ranges, share, bounds = reading
        if kind in ("exact", "foreign"):
            return reading
        if share >= 1.0 and sum(stop - start for start, stop in ranges) == self.size:
            return "suppressed", ranges, share, None
        return "node" if kind == "suppressed" else kind, ranges, share, bounds

    def _reading(self, text: str) -> Reading:
        """Kind, ranges, share and (if the printed form has them) bounds of one released value."""
        if (told := self.told.get(text)) is not None:
            return self._told(told)
        if text.strip() == SUPPRESSED:
            # Whether it was so in the original or became so: it says nothing.
            return self._all()
        node = self._node(text)
        if not self.vouched and (counted := as_set(text)) and counted.more:
            node = None  # another tree may call other values so
        at = self._exact(text)
        if at is not None and (node is None or _single(node[0])):
            return "exact", [(at, at + 1)], 1 / self.leaves, None
        if node is not None and node[1] >= 1:
            return "suppressed", *node, None
        parsed = parse(text)
        span = self._span(text, parsed)
        if node is not None:
            # An interval of a hierarchy is as wide as it is printed, whatever values happen to be inside.
            return ("node", *node, None) if span is None else ("interval", *node, span[2])
        if text in MISSING_MARKS:
            return self._missing()
        if span is not None:
            low, high, bounds, share = span
            return "interval", [(low, high)] if high > low else [], share, bounds
        if isinstance(parsed, OneOf) and parsed.more:
            # Members that are only counted may be any value, or any of a node of the hierarchy.
            share = min(parsed.total / self.leaves, 1.0)
            return "set", self._around(parsed), share, None
        if isinstance(parsed, Interval) and (covered := self.original.codes_inside(parsed)):
            return "interval", _merged(self.rank[covered].tolist()), len(covered) / self.leaves, None
        members = parsed.members if isinstance(parsed, OneOf) else listed(text)
        known = self._places(members)
        # Braces say that it is a set; any other list is one if the original has all its members.
        if known and (isinstance(parsed, OneOf) or len(known) == len(members)):
            return "set", _merged(known), min(len(members) / self.leaves, 1.0), None
        pattern = text if "*" in text else starred(text)
        hidden = self._unmasked(pattern) if pattern is not None else []
        if hidden or isinstance(parsed, Masked):
            return "masked", _merged(hidden), min(max(len(hidden), 1) / self.leaves, 1.0), None
        number = days(text) if self.temporal else number_of(text)
        return "foreign", [], 1 / self.leaves, None if number is None else (number, number)

    def _node(self, text: str) -> tuple[Ranges, float] | None:
        return self.nodes.get(self.hierarchy.label_of(text) if self.hierarchy else text)

    def _told(self, meant: OneOf) -> Reading:
        """A set of which all members that occur are known: a node of the hierarchy if it is one."""
        if self.hierarchy is not None:
            level, node = self.hierarchy.node_around(meant)
            if self.hierarchy.counts(level)[node] == meant.total:
                return "node", *self.nodes[self.hierarchy.labels[level][node]], None
        return "set", _merged(self._places(meant.members)), min(meant.total / self.leaves, 1.0), None

    def _places(self, members: Sequence[str]) -> list[int]:
        """The ranks of members of a set; marks of quotation are another tool's, unless they are a value's own."""
        ways = ((self._exact(member), self._exact(unquoted(member))) for member in members)
        return [place for way in ways for place in [at for at in way if at is not None][:1]]

    def _around(self, meant: OneOf) -> Ranges:
        """What a set of which some members are only counted may stand for."""
        if self.hierarchy is None or self.assumed:
            return [(0, self.size)]
        level, node = self.hierarchy.node_around(meant)
        return self.nodes[self.hierarchy.labels[level][node]][0]

    def _all(self) -> Reading:
        return "suppressed", [(0, self.size)], 1.0, None

    def _missing(self) -> Reading:
        """What a null, or a mark for one, stands for: a null if the original has any, else anything."""
        nulls = self.original.null_code
        if nulls is None:
            return self._all()
        return "exact", [(int(self.rank[nulls]), int(self.rank[nulls]) + 1)], 1 / self.leaves, None

    def _exact(self, text: str) -> int | None:
        """The rank of a value that is printed so by some tool, or is the same number."""
        if (same := self.place.get(text)) is not None:
            return same
        if text == NULL_SIGN and self.original.null_code is not None:
            return int(self.rank[self.original.null_code])
        for form in forms(text):
            if (at := self.place.get(form)) is not None:
                return at
        plain = len(self.sorted_numbers) and not self.bands
        number = TRUTH.get(text.strip().lower(), number_of(text)) if plain else None
        if number is not None and not self.temporal:
            near = int(np.searchsorted(self.sorted_numbers, number))
            if near < len(self.sorted_numbers) and self.sorted_numbers[near] == number:
                return near
        return None

    def _beginnings(self, texts: list[str]) -> list[list[int]]:
        """For each text the ranks of the values that begin with it; nothing unless that explains all texts.

        A short number may as well be a number of its own: it is the beginning of a code only if all codes are
        equally long and larger.
        """
        if not texts or not all(texts):
            return []
        if len(self.sorted_numbers) and not self.bands:
            numbers = [number_of(text) for text in texts]
            lengths = {len(label) for label, _ in self.sorted_labels}
            least = self.sorted_numbers[0]
            if len(lengths) > 1 or not all(number is not None and 0 <= number < least for number in numbers):
                return []
        ranks = [[place for _, place in self._starting_with(text)] for text in texts]
        return ranks if all(ranks) else []

    def _starting_with(self, shown: str) -> list[tuple[str, int]]:
        """Labels that begin with a text, with their ranks."""
        first = bisect_left(self.sorted_labels, (shown, -1))
        last = (
            bisect_left(self.sorted_labels, shown[:-1] + chr(ord(shown[-1]) + 1), key=itemgetter(0))
            if shown
            else None
        )
        return self.sorted_labels[first:last]

    def _span(self, text: str, parsed: object) -> tuple[int, int, tuple[float, float] | None, float] | None:
        """The ranks inside an interval, its bounds, and the share of leaves inside."""
        if not len(self.sorted_numbers):
            return None
        sides: tuple[Literal["left", "right"], Literal["left", "right"]] = ("left", "right")
        if self.temporal:
            # What looks like an interval of numbers is one of years here.
            dates = span_of_days(text)
            if dates is None:
                return None
            low, high = dates
            if text.endswith((")", "[")):
                sides = "left", "left"
            elif ":" not in text and not pa.types.is_date(self.original.values.type):
                high += _LAST_MOMENT
        elif isinstance(parsed, Interval):
            low, high = parsed.low, parsed.high
            sides = "left" if parsed.closed_low else "right", "right" if parsed.closed_high else "left"
        else:
            # "20~30" and "20,30" are what implementations of Mondrian print; braces, | and ; mark a set.
            pair = [] if re.search(r"[{|;]", text) else [number_of(end) for end in listed(text)]
            if len(pair) != 2 or pair[0] is None or pair[1] is None or pair[0] > pair[1]:
                return None
            low, high = pair[0], pair[1]
        first = int(np.searchsorted(self.sorted_numbers, low, side=sides[0]))
        last = int(np.searchsorted(self.sorted_numbers, high, side=sides[1]))
        inside = np.searchsorted(self.ticks, high, side=sides[1]) - np.searchsorted(
            self.ticks, low, side=sides[0]
        )
        bounds = max(low, float(self.sorted_numbers[0])), min(high, float(self.sorted_numbers[-1]))
        ends = (low if math.isfinite(low) else bounds[0], high if math.isfinite(high) else bounds[1])
        return first, last, ends, float(min(max(int(inside), 1) / self.leaves, 1.0))

    def _unmasked(self, pattern: str) -> list[int]:
        """Ranks of the values that a masked text may stand for."""
        possible = self._starting_with(pattern[: pattern.index("*")])
        for hidden in (".", ".*"):
            form = re.compile(
                "".join(hidden if char == "*" else re.escape(char) for char in pattern), re.DOTALL
            )
            fitting = [place for label, place in possible if form.fullmatch(label)]
            if fitting:
                return fitting
        return []

    def _nodes(self, hierarchy: Hierarchy) -> dict[str, tuple[Ranges, float]]:
        """What each label of a hierarchy may stand for; of equal labels the most general one counts."""
        place_of_leaf = {
            leaf: place for label, place in self.place.items() if (leaf := hierarchy.leaf(label)) is not None
        }
        meanings: dict[str, tuple[Ranges, float]] = {}
        leaves = np.array(sorted(place_of_leaf), dtype=np.int64)
        places = np.array([place_of_leaf[leaf] for leaf in leaves.tolist()], dtype=np.int64)
        for level in range(1, hierarchy.height + 1):
            nodes = hierarchy.nodes[level][leaves]
            order = np.argsort(nodes, kind="stable")
            cuts = np.searchsorted(nodes[order], np.arange(len(hierarchy.labels[level]) + 1))
            counts = hierarchy.counts(level)
            for node, label in enumerate(hierarchy.labels[level]):
                share = float(counts[node] / hierarchy.leaves)
                inside = places[order[cuts[node] : cuts[node + 1]]].tolist()
                # The root also stands for a null, which is a leaf of its own.
                meanings[label] = ([(0, self.size)] if level == hierarchy.height else _merged(inside)), share
        return meanings

    def _periods(self) -> dict[str, tuple[Ranges, float]]:
        """Weeks, months and so on as nodes, if the values are dates."""
        try:
            moments, missing = moments_of(self.original)
            if missing.all() or np.isnat(moments[~missing]).any():
                return {}
            meanings: dict[str, tuple[Ranges, float]] = {}
            for period in reversed(PERIODS[1:]):
                for label, node in self._nodes(Dates(levels=(period,)).build(self.original)).items():
                    meanings.setdefault(label, node)
            return meanings
        except DiscreetError:
            return {}

    def _bounds(self, ranges: Ranges, given: tuple[float, float] | None) -> tuple[float, float]:
        if given is not None:
            return given
        last = len(self.sorted_numbers)
        inside = [(start, min(stop, last)) for start, stop in ranges if start < last]
        if not inside:
            return math.nan, math.nan
        return float(self.sorted_numbers[inside[0][0]]), float(self.sorted_numbers[inside[-1][1] - 1])


def _single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][1] - ranges[0][0] == 1


def _merged(places: list[int]) -> Ranges:
    """Ranks as ascending ranges.

    >>> _merged([4, 1, 2])
    [(1, 3), (4, 5)]
    """
    ranges: Ranges = []
    for place in sorted(set(places)):
        if ranges and ranges[-1][1] == place:
            ranges[-1] = (ranges[-1][0], place + 1)
        else:
            ranges.append((place, place + 1))
    return ranges
