"""Generalised values with their types: read from text and printed the way the field prints them."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

SUPPRESSED = "*"
"""How a suppressed value, and the root of a hierarchy, is printed."""


@dataclass(frozen=True)
class Interval:
    """All numbers between two bounds; one of them may be infinite. ``unit`` is printed behind: ``<= 50K``.

    >>> print(Interval(30, 39), Interval(30, 40, closed_high=False), Interval(-math.inf, 18, closed_high=False))
    [30, 39] [30, 40) < 18
    >>> 39.5 in Interval(30, 40, closed_high=False), 40 in Interval(30, 40, closed_high=False)
    (True, False)
    """

    low: float
    high: float
    closed_low: bool = True
    closed_high: bool = True
    unit: str = ""

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise InvalidParameter("an interval's low bound is above its high bound", remedy="exchange them")
        if math.isinf(self.low) and math.isinf(self.high):
            raise InvalidParameter(
                "an interval has no bound at all",
                remedy=Sentence("write {suppressed} instead", suppressed=SUPPRESSED),
            )
        # An infinite bound is never reached: one spelling for it makes equal intervals equal.
        for bound, closed in (("low", "closed_low"), ("high", "closed_high")):
            object.__setattr__(self, bound, float(getattr(self, bound)))
            if math.isinf(getattr(self, bound)):
                object.__setattr__(self, closed, False)

    def __contains__(self, number: float) -> bool:
        above = number > self.low or (self.closed_low and number == self.low)
        return above and (number < self.high or (self.closed_high and number == self.high))

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"{'<=' if self.closed_high else '<'} {number_text(self.high)}{self.unit}"
        if math.isinf(self.high):
            return f"{'>=' if self.closed_low else '>'} {number_text(self.low)}{self.unit}"
        ends = "[" if self.closed_low else "(", "]" if self.closed_high else ")"
        return f"{ends[0]}{number_text(self.low)}, {number_text(self.high)}{ends[1]}{self.unit}"

    def covers(self, other: Interval) -> bool:
        """Whether another interval lies in this one; a missing unit is like any.

        >>> Interval(0, 20).covers(Interval(10, 20, unit="%")), Interval(0, 20, True, False).covers(Interval(10, 20))
        (True, False)
        """
        low = (self.low, not self.closed_low) <= (other.low, not other.closed_low)
        high = (self.high, self.closed_high) >= (other.high, other.closed_high)
        return low and high and len({self.unit, other.unit} - {""}) < 2

    def hull(self, other: Interval) -> Interval | None:
        """The smallest interval that holds both; ``None`` if that would be all numbers.

        >>> print(Interval(0, 35).hull(Interval(35, 55)))
        [0, 55]
        """
        low = min((self.low, not self.closed_low), (other.low, not other.closed_low))
        high = max((self.high, self.closed_high), (other.high, other.closed_high))
        if math.isinf(low[0]) and math.isinf(high[0]):
            return None
        return Interval(low[0], high[0], not low[1], high[1], self.unit or other.unit)


@dataclass(frozen=True)
class OneOf:
    """One of several values. ``more`` counts those that were left out to keep the text short.

    ``mark`` says what the values have in common, or tells sets apart that would be printed alike.

    >>> print(OneOf(("Bachelors", "Masters")), OneOf(("a, b", "c"), more=5), OneOf(("a",), more=7, mark="B"))
    {Bachelors, Masters} {"a, b", c, +5} {a, +7 (B)}
    """

    members: tuple[str, ...]
    more: int = 0
    mark: str = ""

    def __post_init__(self) -> None:
        if not self.members or self.more < 0:
            raise InvalidParameter("a set of values names none", remedy="name at least one member")

    def __str__(self) -> str:
        return self._written(0)

    def unlike(self, values: Collection[str]) -> str:
        """The set as it is written where some values look like sets: with quotes that it would not need.

        >>> OneOf(("a", "b")).unlike(["a", "b", "{a, b}"]), OneOf(("a", "b")).unlike(["a", "b"])
        ('{"a", b}', '{a, b}')
        """
        written = map(self._written, range(len(self.members) + 1))
        padded = ("{" + " " * width + str(self)[1:] for width in itertools.count(1))
        return next(text for text in itertools.chain(written, padded) if text not in values)

    def _written(self, quoted: int) -> str:
        """The set with its first members in quotes, whether they need them or not."""
        listed = [_quoted(member, always=at < quoted) for at, member in enumerate(self.members)]
        if self.more:
            listed.append(f"+{self.more} ({self.mark})" if self.mark else f"+{self.more}")
        return "{" + ", ".join(listed) + "}"

    @property
    def total(self) -> int:
        """How many values there are, named or not."""
        return len(self.members) + self.more


@dataclass(frozen=True)
class Masked:
    """Text of which some characters are hidden: ``1020*``."""

    pattern: str

    def __str__(self) -> str:
        return self.pattern


@dataclass(frozen=True)
class Suppressed:
    """A value that is not told at all."""

    def __str__(self) -> str:
        return SUPPRESSED


@dataclass(frozen=True)
class Exact:
    """A single value, as it was."""

    text: str

    def __str__(self) -> str:
        return self.text


Value = Interval | OneOf | Masked | Suppressed | Exact

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_PLAIN = r"\d+(?:\.\d+)?"
_UNIT = r"(?P<unit>[%A-Za-z]?)"
_BRACKETS = re.compile(
    rf"(?P<open>[\[(\]])\s*(?P<low>{_NUMBER})\s*(?:,|;|\.\.|-|–)\s*(?P<high>{_NUMBER})\s*(?P<close>[\])\[]){_UNIT}"
)
_SPAN = re.compile(rf"(?P<low>{_PLAIN})\s*(?:-|–|\.\.|to|bis)\s*(?P<high>{_PLAIN})\s*(?P<unit>%?)", re.I)
_AFTER = re.compile(rf"(?P<sign><=|>=|<|>|≤|≥)\s*(?P<bound>{_NUMBER}){_UNIT}")
_BEFORE = re.compile(rf"(?P<bound>{_NUMBER})\s*(?P<sign><=|<|≤)")
_MORE = re.compile(
    rf"(?P<bound>{_PLAIN})\s*(?:\+|(?:or|and)\s+(?:more|older|over|above)|und\s+(?:älter|mehr))", re.I
)
_LESS = re.compile(rf"(?:under|below|unter)\s+(?P<bound>{_PLAIN})", re.I)
_COUNTED = r"\+(\d+)(?: \(([^()\",{}\r\n]+)\))?"
_MISREAD = re.compile(rf'[",{{}}\r\n]|^{_COUNTED}$')


def parse(text: str) -> Value:
    """The typed value that a text stands for; what is no generalised value is an exact one.

    >>> parse("[30, 39]"), parse("1020*"), parse("{a, b}")
    (Interval(low=30.0, high=39.0, closed_low=True, closed_high=True, unit=''), Masked(pattern='1020*'), OneOf(members=('a', 'b'), more=0, mark=''))
    >>> [str(parse(text)) for text in ("0-35", "55<=", "70+", "[0-10)", "20-30%", "<=50K", "*", "baker")]
    ['[0, 35]', '>= 55', '>= 70', '[0, 10)', '[20, 30]%', '<= 50K', '*', 'baker']
    """
    stripped = text.strip()
    if stripped == SUPPRESSED:
        return Suppressed()
    interval = _interval(stripped)
    if interval is not None:
        return interval
    if stripped.startswith("{") and stripped.endswith("}"):
        members = _members(stripped[1:-1])
        if members is not None:
            return members
    if "*" in text and re.fullmatch(r"[\w*]*\*[\w*]*|[\w .-]*\*+", text):
        return Masked(text)
    return Exact(text)


def as_set(text: str | None) -> OneOf | None:
    """The set that a label is, if it is one.

    >>> as_set("{a, b}"), as_set("a"), as_set(None)
    (OneOf(members=('a', 'b'), more=0, mark=''), None, None)
    """
    meant = parse(text) if text is not None and text.lstrip().startswith("{") else None
    return meant if isinstance(meant, OneOf) else None


def set_label(members: Sequence[str], *, more: int = 0, width: int = 40, unlike: Collection[str] = ()) -> str:
    """A set printed in at most about ``width`` characters; a set of one is its member.

    ``more`` further members are known only by their number. At least the first member is always named, so
    sets that share none have different labels. It looks like none of the values ``unlike``.

    >>> set_label(["a", "b"]), set_label(["a"]), set_label(["a", "b", "c"], width=7), set_label(["a"], more=6)
    ('{a, b}', 'a', '{a, +2}', '{a, +6}')
    """
    if len(members) == 1 and not more:
        return members[0]
    whole = OneOf(tuple(members), more).unlike(unlike)
    if len(whole) <= width and not more:
        return whole
    total = len(members) + more
    shown = 1
    while (
        shown < min(len(members), total - 1)
        and len(str(OneOf(tuple(members[: shown + 1]), total - shown - 1))) <= width
    ):
        shown += 1
    return OneOf(tuple(members[:shown]), total - shown).unlike(unlike)


def number_text(number: float) -> str:
    """A number without needless digits; reads back as the same number.

    >>> number_text(30.0), number_text(0.25), number_text(-0.0)
    ('30', '0.25', '0')
    """
    if number == int(number) and abs(number) < 1e16:
        return str(int(number))
    return repr(float(number))


def _interval(text: str) -> Interval | None:
    if match := _BRACKETS.fullmatch(text):
        closed = match["open"] == "[", match["close"] == "]"
        return _bounded(match["low"], match["high"], *closed, match["unit"])
    if match := _SPAN.fullmatch(text):
        return _bounded(match["low"], match["high"], True, True, match["unit"])
    if match := _AFTER.fullmatch(text):
        return _half_bounded(match["bound"], match["sign"], match["unit"])
    if match := _BEFORE.fullmatch(text):
        # "55<=" has its bound first: 55 is at most the value.
        return _half_bounded(match["bound"], {"<": ">", "<=": ">=", "≤": ">="}[match["sign"]], "")
    if match := _MORE.fullmatch(text):
        return _half_bounded(match["bound"], ">=", "")
    if match := _LESS.fullmatch(text):
        return _half_bounded(match["bound"], "<", "")
    return None


def _bounded(low: str, high: str, closed_low: bool, closed_high: bool, unit: str) -> Interval | None:
    bounds = float(low), float(high)
    # "2024-05" and "7-1" are no intervals, and neither is a phone number that starts with zeros.
    if not all(map(math.isfinite, bounds)) or bounds[0] > bounds[1]:
        return None
    if any(re.match(r"0\d", bound) for bound in (low, high)) and len(low) != len(high):
        return None
    return Interval(bounds[0], bounds[1], closed_low, closed_high, unit)


def _half_bounded(bound: str, sign: str, unit: str) -> Interval | None:
    number = float(bound)
    if not math.isfinite(number):
        return None
    closed = sign in ("<=", ">=", "≤", "≥")
    if sign[0] in "<≤":
        return Interval(-math.inf, number, False, closed, unit)
    return Interval(number, math.inf, closed, False, unit)


def _quoted(member: str, *, always: bool = False) -> str:
    """A member of a set; in double quotes if it would be misread without them."""
    plain = not always and member and member == member.strip() and not _MISREAD.search(member)
    return member if plain else '"' + member.replace('"', '""') + '"'


def _members(inside: str) -> OneOf | None:
    """The members listed between braces; ``None`` if it is no list."""
    try:
        # Only a quoted line break is part of a member: `newline=""` leaves it as it is.
        rows = list(csv.reader(io.StringIO(inside, newline=""), skipinitialspace=True))
    except csv.Error:
        return None
    if len(rows) != 1:
        return None
    listed = rows[0]
    more, mark = 0, ""
    rest = re.fullmatch(rf"(?s)(?:.*,\s*)?{_COUNTED}", inside)
    if rest and len(listed) > 1 and int(rest[1]) > 0:
        more, mark = int(rest[1]), rest[2] or ""
        listed = listed[:-1]
    return OneOf(tuple(listed), more, mark) if listed else None
