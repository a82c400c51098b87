"""What labels may say: they name released values only, and do not tell the smallest and the largest one."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from string import ascii_uppercase

import numpy as np
import pyarrow as pa

from discreet.arrays import distinct
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import ROOT, Ladder
from discreet.table.hierarchies.known import KNOWN
from discreet.table.notations import days, span_of_days
from discreet.table.values import Interval, OneOf, as_set, parse, set_label
from discreet.transform.borders import (
    Borders,
    beginning_of_time,
    first_day_above,
    first_moment_above,
    is_days,
    tick_of_moments,
)
from discreet.transform.recoding import Recoding, ReleasedAttribute, by_number
from discreet.types import IntArray

LONGEST = 60
"""Characters of a set that is written out in a cell, unless the plan says otherwise."""
MOST_SHARED = 2
"""A set is named by so many names at most that columns which follow have for its values."""
SHARED = r"[^()\",{}\r\n]{1,30}"
"""What such names look like together, so that the label is read again."""


def discreetly_named(
    recoding: Recoding, ladders: Sequence[Ladder | None] | None = None, *, length: int = LONGEST
) -> Recoding:
    """The recoding with labels that were made from the data printed so that they tell nothing of suppressed records.

    A set names values that released records have, as many as fit into ``length``, and counts the others:
    ``{Aachen, Bonn, +1}``, with what a column that follows says of all of them: ``{Aachen, Bonn, +31 (Rhineland)}``. An interval that
    holds the smallest or the largest released value is open there: ``>= 64``. One that ends at a value of fewer people
    than the smallest class has ends between that value and the next, at a round number. Which records share a label
    stays as it is. Labels of hierarchies that somebody gave or that everybody knows are public, and stay.

    >>> from discreet.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 64, 107], "town": ["Aachen", "Bonn", "Bonn", "Celle"]})
    >>> groups = Recoding.of_groups(classes, np.array([0, 0, 1, 1]), kept=np.array([True, True]), method="example")
    >>> [column.values.to_pylist() for column in discreetly_named(groups).columns]
    [['<= 59', '>= 60'], ['{Aachen, Bonn}', '{Bonn, Celle}']]
    """
    columns, hidden = [], dict(recoding.hidden or {})
    least = int(recoding.shown().persons.min()) if recoding.kept.any() else 0
    for j, column in enumerate(recoding.columns):
        if pa.types.is_string(column.values.type) and column.truthful:
            column = _renamed(recoding, j, None if ladders is None else ladders[j], least, length)
            if column.name in hidden:
                rest = hidden[column.name][len(column.values) :]
                hidden[column.name] = pa.concat_arrays([column.values, rest])
        columns.append(column)
    return replace(recoding, columns=tuple(columns), hidden=hidden if recoding.starred else None)


def spelled_out(recoding: Recoding) -> dict[str, dict[str, OneOf]]:
    """Per attribute, what labels stand for that only count some values: all that released records with them have.

    >>> from discreet.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.from_columns({"town": ["Aachen", "Bonn", "Celle", "Dorsten"]})
    >>> groups = Recoding.of_groups(classes, np.array([0, 0, 0, 1]), kept=np.array([True, True]), method="example")
    >>> spelled_out(discreetly_named(groups, length=15))
    {'town': {'{Aachen, +2}': OneOf(members=('Aachen', 'Bonn', 'Celle'), more=0, mark='')}}
    """
    told: dict[str, dict[str, OneOf]] = {}
    for j, column in enumerate(recoding.columns):
        if not pa.types.is_string(column.values.type):
            continue
        labels = column.values.to_pylist()
        values = set(recoding.classes.attributes[j].labels())
        counted = {
            at: meant
            for at, label in enumerate(labels)
            if (meant := as_set(label)) and meant.more and label not in values
        }
        members = _members(recoding, j) if counted else {}
        for at in counted.keys() & members.keys():
            named = tuple(members[at])
            rest = max(counted[at].total - len(named), 0)
            told.setdefault(column.name, {})[labels[at]] = OneOf(named, rest)
    return told


def _members(recoding: Recoding, j: int) -> dict[int, list[str]]:
    """For each new code of an attribute the values that released records with it have, in the order of their codes."""
    column, domain, codes = recoding.columns[j], recoding.classes.attributes[j], recoding.classes.codes[j]
    labels = domain.labels()
    members: dict[int, list[str]] = {}
    keys = np.unique(column.codes[recoding.kept].astype(np.int64) * domain.size + codes[recoding.kept])
    for key in keys.tolist():
        members.setdefault(key // domain.size, []).append(labels[key % domain.size])
    return members


def _renamed(recoding: Recoding, j: int, ladder: Ladder | None, least: int, length: int) -> ReleasedAttribute:
    """An attribute with new labels; one that became wider costs more."""
    column, domain, codes = recoding.columns[j], recoding.classes.attributes[j], recoding.classes.codes[j]
    labels = domain.labels()
    public = set(labels)
    if ladder is not None and ladder.hierarchy is not None and ladder.assumed in (None, *KNOWN):
        public |= {label for names in ladder.hierarchy.labels for label in names}
    members = _members(recoding, j)
    extremes = _extremes(domain, np.unique(codes[recoding.kept]).astype(np.int64))
    borders = _borders(recoding, j, least) if members else None
    old = column.values.to_pylist()
    new = list(old)
    for at, text in enumerate(old):
        if at in members and text is not None and text not in public:
            told = _told(text, domain, members[at], extremes, borders, public)
            # What would look like another label stays as it is.
            if told != text and told not in new and told not in old and told not in public:
                new[at] = told
    for at, short in _shortened(new, members, public, length, _shared_names(domain, ladder)).items():
        new[at] = short
    if new == old:
        return column
    shares = column.shares.copy()
    for at, told in enumerate(new):
        if told is not None and told != old[at] and not told.startswith("{"):
            mine = column.codes == at
            shares[mine] = np.maximum(shares[mine], _share(told, domain, ladder, column.leaves))
    return replace(column, values=pa.array(new, pa.string()), shares=shares)


def label_orders(recoding: Recoding) -> dict[str, list[str]]:
    """For each attribute of numbers or dates that was generalised, its released labels from the smallest on.

    A label comes where the smallest of its values does, a narrower one first; ``*``, which may be any value, is last.

    >>> from discreet.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.from_columns({"age": [9, 31, 107]})
    >>> groups = Recoding.of_groups(classes, np.array([1, 0, 0]), kept=np.array([True, True]), method="example")
    >>> label_orders(groups)
    {'age': ['9', '[31, 107]']}
    """
    orders = {}
    for column, domain, codes in zip(
        recoding.columns, recoding.classes.attributes, recoding.classes.codes, strict=True
    ):
        if domain.places is None or not pa.types.is_string(column.values.type):
            continue
        numbers = domain.places[codes]
        places: dict[str, tuple[float, float]] = {}
        for at, text in enumerate(column.values.to_pylist()):
            mine = numbers[(column.codes == at) & recoding.kept]
            if text is not None and text != ROOT and len(mine):
                low, high = places.get(text, (math.inf, -math.inf))
                # What is no number, such as a mark for a missing one, stands behind all numbers.
                places[text] = (
                    float(np.nanmin(mine, initial=low)),
                    float(np.nanmax(mine, initial=high)),
                )
        shown = column.values.take(pa.array(np.unique(column.codes[recoding.kept]))).to_pylist()
        last = [ROOT] if ROOT in shown or recoding.starred else []
        orders[column.name] = [*sorted(places, key=lambda text: (places[text], text)), *last]
    return orders


def _extremes(domain: Domain, released: IntArray) -> tuple[float, float] | None:
    """The smallest and the largest number that is released, of bands what is just beyond them, if there are any."""
    places = np.empty(0) if domain.places is None else domain.places[released]
    at = np.flatnonzero(np.isfinite(places))
    if not len(at):
        return None
    ends = [int(released[place]) for place in (at[np.argmin(places[at])], at[np.argmax(places[at])])]
    low, high = (domain.bands.get(code) for code in ends)
    if low is None or high is None:
        return float(places[at].min()), float(places[at].max())
    # A band is no value of anybody: it may be told where it ends, but not that there are others beyond.
    return (
        low.low if low.low == low.high else math.nextafter(_reached(low)[0], -math.inf),
        high.high if high.low == high.high else math.nextafter(_reached(high)[1], math.inf),
    )


def _reached(meant: Interval) -> tuple[float, float]:
    """The smallest and the largest number in an interval, also if an end does not belong to it."""
    return (
        meant.low if meant.closed_low else math.nextafter(meant.low, math.inf),
        meant.high if meant.closed_high else math.nextafter(meant.high, -math.inf),
    )


def _borders(recoding: Recoding, j: int, least: int) -> Borders | None:
    """The numbers of an attribute, and which of them fewer than ``least`` released people have."""
    domain, codes = recoding.classes.attributes[j], recoding.classes.codes[j]
    if domain.places is None:
        return None
    shown = recoding.classes.subset(np.flatnonzero(recoding.kept))
    value = codes[recoding.kept].astype(np.int64)
    if shown.event_level:
        inside = shown.person_counts
        width = int(inside.persons.max()) + 1
        value = distinct(np.repeat(value, np.diff(inside.indptr)) * width + inside.persons) // width
        return Borders.of(domain, np.bincount(value, minlength=domain.size), least)
    people = np.bincount(value, weights=shown.records, minlength=domain.size)
    return Borders.of(domain, people.astype(np.int64), least)


def _told(
    text: str,
    domain: Domain,
    released: list[str],
    extremes: tuple[float, float] | None,
    borders: Borders | None,
    public: Collection[str] = (),
) -> str:
    """A label as it may be printed, of records that have the released values, and like no public one."""
    meant = parse(text)
    if isinstance(meant, OneOf):
        return _counted(meant, released).unlike(public)
    if extremes is None:
        return text
    if pa.types.is_temporal(domain.values.type):
        return _open_dates(_loose_dates(text, domain, borders), extremes)
    if not isinstance(meant, Interval) or (meant.unit and not domain.bands):
        return text
    if borders is not None and (loose := borders.loosened(meant)) != meant:
        text, meant = str(loose), loose
    return _open(text, meant, extremes)


def _loose_dates(text: str, domain: Domain, borders: Borders | None) -> str:
    """An interval of dates with ends between two dates, at the first or before the first day of a year or month.

    Times end at or before the beginning of a year, month, day, hour, minute or second.
    """
    first, _, last = text.removeprefix("[").removesuffix("]").partition(", ")
    ends = days(first), days(last)
    tick = tick_of_moments(domain)
    if borders is None or ends[0] is None or ends[1] is None or not (tick or is_days(domain)):
        return text
    meant = Interval(ends[0], ends[1])
    loose = borders.loosened(meant, first_moment_above if tick else first_day_above, tick)
    start = beginning_of_time(domain)
    # An end that stays is printed as it was: as a number of days it may lack the last digit.
    low = first if loose.low == meant.low else str(start + timedelta(days=loose.low))
    high = last if loose.high == meant.high else str(start + timedelta(days=loose.high))
    return f"[{low}, {high}]" if loose != meant else text


def _shortened(
    labels: Sequence[str | None],
    members: Mapping[int, list[str]],
    public: Collection[str],
    length: int,
    shared: Callable[[Sequence[str]], str],
) -> dict[int, str]:
    """Labels of sets that are too long, with fewer names, and with what these names share, where that is known.

    Members are named in their order, not by how many records have them, which nobody was to learn.
    """
    short: dict[int, OneOf] = {}
    for at, text in enumerate(labels):
        if at not in members or text is None or len(text) <= length or text in public:
            continue
        meant = as_set(text)
        name = shared(members[at]) if meant else ""
        width = length - (len(name) + len(" ()") if name else 0)
        told = meant and as_set(set_label(meant.members, more=meant.more, width=width))
        if told and told.more:
            short[at] = replace(told, mark=name)
    # A set that is written like a value would be read as that value.
    taken = {*public, *(text for at, text in enumerate(labels) if at not in short)}
    alike: dict[str, list[int]] = {}
    for at in sorted(short, key=lambda at: members[at]):
        alike.setdefault(str(short[at]), []).append(at)
    marked = {}
    for text, places in alike.items():
        first = short[places[0]]
        lettered = (
            replace(first, mark=f"{first.mark} {letters}" if first.mark else letters)
            for letters in _letters()
        )
        free = (written for written in map(str, lettered) if written not in taken)
        for at in places:
            unique = len(places) == 1 and text not in taken
            marked[at] = text if unique else next(free)
    return marked


def _shared_names(domain: Domain, ladder: Ladder | None) -> Callable[[Sequence[str]], str]:
    """What says of some values what they have in common, by the columns that follow from them: a county, or two."""
    columns = [
        dict(zip(domain.labels(), each.names, strict=True))
        for each in (() if ladder is None else ladder.wider)
    ]

    def shared(values: Sequence[str]) -> str:
        for most in (1, MOST_SHARED):
            for names in columns:
                told = dict.fromkeys(names.get(value) for value in values)
                joined = " + ".join(sorted(name for name in told if name))
                if None not in told and len(told) <= most and re.fullmatch(SHARED, joined):
                    return joined
        return ""

    return shared


def _letters() -> Iterator[str]:
    """A, B, …, Z, AA, AB, …"""
    for size in itertools.count(1):
        yield from map("".join, itertools.product(ascii_uppercase, repeat=size))


def _counted(meant: OneOf, released: list[str]) -> OneOf:
    """A set in which only released members are named, at least one of them.

    >>> print(_counted(OneOf(("Aachen", "Bonn", "Canary"), more=2), ["Aachen", "Bonn"]))
    {Aachen, Bonn, +3}
    >>> print(_counted(OneOf(("Canary",), more=2), ["Zell"]))
    {Zell, +2}
    """
    named = tuple(member for member in meant.members if member in released)
    if len(named) == len(meant.members):
        return meant
    named = named or (released[0],)
    return OneOf(named, meant.total - len(named), meant.mark)


def _open(text: str, meant: Interval, extremes: tuple[float, float]) -> str:
    """An interval that is open where nothing released lies beyond it.

    >>> _open("[64, 107]", Interval(64, 107), (17, 107)), _open("[17, 20)", Interval(17, 20, True, False), (17, 107))
    ('>= 64', '< 20')
    >>> _open("[17, 110]", Interval(17, 110), (17, 107)), _open("[01000, 01002]", Interval(1000, 1002), (1000, 1011))
    ('*', '<= 01002')
    """
    reached = _reached(meant)
    low = -math.inf if reached[0] <= extremes[0] else meant.low
    high = math.inf if reached[1] >= extremes[1] else meant.high
    if (low, high) == (meant.low, meant.high):
        return text
    if math.isinf(low) and math.isinf(high):
        return ROOT
    if _PADDED.match(text):
        # A code of so many digits keeps its zeros.
        first, _, last = text[1:-1].partition(", ")
        return f">= {first}" if math.isinf(high) else f"<= {last}"
    return str(Interval(low, high, meant.closed_low, meant.closed_high, meant.unit))


_PADDED = re.compile(r"\[0\d+, \d+\]$")

SAME_MOMENT = 1e-9
"""So many days apart, less than a thousandth of a second, two moments are one."""


def _open_dates(text: str, extremes: tuple[float, float]) -> str:
    """The same for an interval of dates; years and decades are the calendar's, and stay.

    >>> _open_dates("[1970-01-02, 1970-01-31]", (1.0, 400.0)), _open_dates("[1970, 1979]", (1.0, 400.0))
    ('<= 1970-01-31', '[1970, 1979]')
    >>> _open_dates("[1970-01-01 08:00:00, 1970-01-02 08:00:00]", (0.3333333333333333 - 1e-13, 1.3333333333333333 + 1e-13))
    '*'
    """
    first, _, last = text.removeprefix("[").removesuffix("]").partition(", ")
    ends = days(first), days(last)
    if ends[0] is None or ends[1] is None:
        return text
    # A moment read from its text may differ in the last digit from the one that was counted.
    low, high = ends[0] <= extremes[0] + SAME_MOMENT, ends[1] >= extremes[1] - SAME_MOMENT
    if low and high:
        return ROOT
    return f"<= {last}" if low else f">= {first}" if high else text


def _share(text: str, domain: Domain, ladder: Ladder | None, leaves: int) -> float:
    """The share of the leaves that an open interval may stand for."""
    if text == ROOT:
        return 1.0
    low, high = _bounds(text, domain)
    rank, tick, blank = by_number(domain, ladder)
    numbers = (domain.numbers if domain.places is None else domain.places)[np.argsort(rank)][:blank]
    inside = np.flatnonzero((numbers >= low) & (numbers <= high))
    return float(min((tick[inside[-1]] - tick[inside[0]] + 1) / leaves, 1.0)) if len(inside) else 0.0


def _bounds(text: str, domain: Domain) -> tuple[float, float]:
    meant = span_of_days(text) if pa.types.is_temporal(domain.values.type) else parse(text)
    if isinstance(meant, Interval):
        return _reached(meant)
    return meant if isinstance(meant, tuple) else (-math.inf, math.inf)
