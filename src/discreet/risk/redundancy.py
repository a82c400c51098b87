"""Columns that follow from another: functional dependence on counted data, exact or nearly so."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations as subsets

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.risk.tally import Crosstab, Rows, crosstab, number
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, BoolArray

NEARLY_ALL = 0.95
"""A column follows from another that explains so much of it."""
EVIDENCE = 10
"""So many records without the most frequent value must show it: what is nearly constant follows from everything."""
RARE = 11
"""A value that fewer records have cannot be released as it is."""
TOO_MANY = 0.25
"""Of a column where more people than this share have such a value, what follows from it is all that groups could say."""


@dataclass(frozen=True)
class Redundancy:
    """A column that need not be released beside another, and how much of one the other explains.

    It ``follows`` from the other, or else the other follows from it; ``rare``: more than a quarter of the records have a
    value of it that fewer than 11 share.
    """

    column: str
    source: str
    explained: float
    follows: bool = True
    rare: bool = False

    def describe(self) -> str:
        """The finding in words.

        >>> Redundancy("county", "postcode", 1.0).describe(), Redundancy("county", "postcode", 0.964).describe()
        ('follows from postcode', 'follows from postcode (96.4%)')
        >>> Redundancy("birth date", "age", 1.0, follows=False, rare=True).describe()
        'tells age, and many of its values are too rare to be released'
        """
        source: str = self.source
        if self.explained < 1:
            source = Sentence("{source} ({share:.1%})", source=source, share=self.explained)
        if self.follows:
            return Sentence("follows from {source}", source=source)
        if self.rare:
            return Sentence(
                "tells {source}, and many of its values are too rare to be released", source=source
            )
        return Sentence("tells {source}", source=source)


def explained(classes: EquivalenceClasses, source: str, column: str) -> float:
    """How much of a column follows from another, 0 to 1: λ = (a − m) / (1 − m), each record judged by the others.

    a is the share of records whose value is the most frequent one among the *other* records with the same value of
    ``source``, by more than one record; m the share of the column's most frequent value. Without leaving the record
    itself out, a is 1 − g3 (Kivinen & Mannila 1995), which a nearly unique source brings to 1 for every column; taking
    m off is λ of Goodman & Kruskal 1954, which is 0 for a column that is the same everywhere. Values of the source that
    one record has say nothing and are left aside. At event level persons are counted. 0 where fewer than 10 records
    differ from the most frequent value, which is too few to tell.

    >>> postcode = [1] * 10 + [2] * 15 + [3] * 5
    >>> county = ["a"] * 10 + ["b"] * 20
    >>> classes = EquivalenceClasses.from_columns({"postcode": postcode, "county": county})
    >>> explained(classes, "postcode", "county"), explained(classes, "county", "postcode")
    (1.0, 0.6666666666666666)
    >>> alone = EquivalenceClasses.from_columns({"id": range(30), "county": county})
    >>> explained(alone, "id", "county")
    0.0
    """
    return _explained(_pairs(classes, source, column))


def _explained(table: Crosstab) -> float:
    shared = table.a_totals[table.a] > 1
    order = np.lexsort((-table.records[shared], table.a[shared]))
    source, column, counts = (part[shared][order] for part in (table.a, table.b, table.records))
    first = np.flatnonzero(np.diff(source, prepend=-1))
    # The runner-up of each value of the source, 0 where its records all agree.
    following = np.append(source[1:], -1)[first] == source[first]
    runner_up = np.where(following, np.append(counts[1:], 0)[first], 0)
    right = counts[first][counts[first] - runner_up > 1].sum()
    totals = np.bincount(column, weights=counts)
    records, majority = totals.sum(), totals.max(initial=0.0)
    if records - majority < EVIDENCE:
        return 0.0
    return max(0.0, float((right - majority) / (records - majority)))


def _pairs(classes: EquivalenceClasses, a: str, b: str) -> Crosstab:
    """How many people have each pair of values: persons at event level, or else one with many rows is a rule by itself."""
    rows = Rows.of(classes)
    i, j = classes.index(a), classes.index(b)
    sizes = (classes.attributes[i].size, classes.attributes[j].size)
    first, second = rows.spread(classes.codes[i]), rows.spread(classes.codes[j])
    if rows.persons is None:
        return crosstab(first, second, sizes, rows.records)
    numbers, bound = number([first, second], sizes)
    people = crosstab(numbers, rows.persons, (bound, rows.person_size), rows.records)
    counted = np.bincount(people.a, minlength=bound)
    occurring, places = np.unique(numbers, return_index=True)
    return crosstab(first[places], second[places], sizes, counted[occurring])


def told_by(classes: EquivalenceClasses, source: str, column: str) -> AnyIntArray:
    """For each code of an attribute the code that all records with it have of another; -1 where they have several.

    >>> towns = EquivalenceClasses.from_columns({"town": ["a", "b", "b", "c"], "county": ["x", "x", "y", "y"]})
    >>> told_by(towns, "town", "county").tolist()
    [0, -1, 1]
    """
    table = _pairs(classes, source, column)
    told = np.full(len(table.a_totals), -1, dtype=np.int64)
    told[table.a] = table.b
    told[np.bincount(table.a, minlength=len(told)) != 1] = -1
    return told


def most_frequent(classes: EquivalenceClasses, source: str, column: str) -> AnyIntArray:
    """For each code of an attribute the code of another that most people with it have; the first among equals.

    >>> towns = EquivalenceClasses.from_columns({"town": ["a", "b", "b", "b"], "county": ["x", "x", "y", "y"]})
    >>> most_frequent(towns, "town", "county").tolist()
    [0, 1]
    """
    table = _pairs(classes, source, column)
    order = np.lexsort((-table.b, table.records))
    most = np.zeros(len(table.a_totals), dtype=np.int64)
    # Of several pairs with one value the last counts.
    most[table.a[order]] = table.b[order]
    return most


def _swapped(table: Crosstab) -> Crosstab:
    return Crosstab(table.b, table.a, table.records, table.b_totals, table.a_totals)


def redundant(
    classes: EquivalenceClasses, judged: Collection[str] = (), *, least: float = NEARLY_ALL
) -> tuple[Redundancy, ...]:
    """The attributes that need not be released beside others of the classes, each with the one that stays.

    Of attributes that follow from each other the finest stays, because the others can be read off it; among equals, or
    nearly so, one with words before one with numbers. One of which more than a quarter of the records have a value that fewer than 11
    share goes instead: its values had to be put together, and what follows from it says how, in words that a reader knows.
    One that is so rare and tells half of all others is a key, of which nothing is concluded.
    Attributes that are not ``judged`` (all are if none is named) never stay for one that is: whoever knows the judged
    one knows them too.

    >>> schools = {"level": ["A", "B", "C"] * 10, "years": [9, 10, 13] * 10, "sex": list("ffmmfmmfmm") * 3}
    >>> redundant(EquivalenceClasses.from_columns(schools))
    (Redundancy(column='years', source='level', explained=1.0, follows=True, rare=True),)
    """
    names = list(classes.names)
    fixed = set(judged) or set(names)
    rare = {name: _rare_share(classes, name) > TOO_MANY for name in names}
    links = _links(classes, fixed, least)
    for name in names:
        told = [pair for pair in links if pair[0] == name]
        if rare[name] and name in fixed and len(told) > 1 and 2 * len(told) >= len(names) - 1:
            links = {pair: value for pair, value in links.items() if pair not in told}
    domains = dict(zip(names, classes.attributes, strict=True))
    kept: list[str] = []
    redundancies: list[Redundancy] = []
    # What tells each other is equally fine, also where two hospitals bear one name.
    finest = {
        name: max(
            domains[other].size
            for other in names
            if other == name
            or (
                {(name, other), (other, name)} <= links.keys()
                and domains[name].size >= least * domains[other].size
            )
        )
        for name in names
    }
    for name in sorted(
        names,
        key=lambda name: (
            name not in fixed,
            rare[name],
            -finest[name],
            domains[name].holds_numbers,
            -domains[name].size,
        ),
    ):
        stay = [other for other in kept if other in fixed]
        sources = [(links[other, name], True, other) for other in stay if (other, name) in links]
        if not sources and (rare[name] or name not in fixed):
            sources = [(links[name, other], False, other) for other in stay if (name, other) in links]
        if not sources:
            kept.append(name)
            continue
        value, follows, source = max(sources, key=lambda source: source[0])
        redundancies.append(Redundancy(name, source, value, follows, rare[name]))
    return tuple(sorted(redundancies, key=lambda redundancy: names.index(redundancy.column)))


def nearest(classes: EquivalenceClasses, column: str, others: Sequence[str]) -> Redundancy | None:
    """The attribute from which a column follows best, or which follows best from it; ``None`` if there is no other.

    >>> classes = EquivalenceClasses.from_columns({"level": ["A", "B", "C"] * 10, "years": [9, 10, 13] * 10})
    >>> nearest(classes, "years", ["level"]).describe()
    'follows from level'
    """
    rare = _rare_share(classes, column) > TOO_MANY
    return _likeliest(column, {other: _pairs(classes, other, column) for other in others}, rare)


def tells_hidden(
    columns: Mapping[str, AnyIntArray],
    suspects: Sequence[str],
    hidden: Collection[str],
    *,
    jointly: Collection[str] = (),
    least: float = NEARLY_ALL,
) -> tuple[Redundancy, ...]:
    """The suspects that tell, or follow from, a column of which a release hides something, each with that column.

    ``columns`` are codes per record. One that follows from a column that is neither suspect nor hidden says nothing new.
    Of those to be looked at ``jointly`` also one that follows from two columns together, one of them hidden: who knows the
    other learns what is hidden, as from a weight by region and sex.

    >>> strata = {"region": np.arange(60) % 3, "weight": np.arange(60) % 3 // 2, "sex": np.arange(60) % 2}
    >>> [told.describe() for told in tells_hidden(strata, ["weight"], ["region"])]
    ['follows from region']
    >>> tells_hidden(strata, ["weight"], ["sex"])
    ()
    >>> strata["weight"] = (strata["region"] + 2 * strata["sex"]) % 3
    >>> [told.describe() for told in tells_hidden(strata, ["weight"], ["region"], jointly=["weight"])]
    ['follows from region and sex']
    """
    told = []
    for suspect in suspects:
        tables = {name: _codes_by(columns, name, suspect) for name in columns if name not in suspects}
        if any(_explained(table) >= least for name, table in tables.items() if name not in hidden):
            continue
        likeliest = _likeliest(suspect, {name: table for name, table in tables.items() if name in hidden})
        if suspect in jointly and (likeliest is None or likeliest.explained < least):
            likeliest = _by_two(columns, suspect, list(tables), hidden)
        if likeliest is not None and likeliest.explained >= least:
            told.append(likeliest)
    return tuple(told)


def _by_two(
    columns: Mapping[str, AnyIntArray], suspect: str, others: Sequence[str], hidden: Collection[str]
) -> Redundancy | None:
    """The two columns from which a suspect follows best together, one of them hidden."""
    pairs = []
    for pair in subsets(others, 2):
        if set(pair) & set(hidden):
            sizes = [int(columns[name].max(initial=0)) + 1 for name in pair]
            numbers, _ = number([columns[name] for name in pair], sizes)
            table = _codes_by({suspect: columns[suspect], "both": numbers}, "both", suspect)
            pairs.append(Redundancy(suspect, Sentence("{columns:and}", columns=pair), _explained(table)))
    return max(pairs, key=lambda redundancy: redundancy.explained, default=None)


def refines(
    columns: Mapping[str, AnyIntArray],
    suspects: Sequence[str],
    coarse: Mapping[str, BoolArray],
    *,
    least: float = NEARLY_ALL,
) -> tuple[Redundancy, ...]:
    """The suspects that tell apart what one label of a column puts together, as far as other labels show it.

    ``columns`` are codes per record; ``coarse`` says of each code of a column whether it stands for several values. A
    suspect that tells, or follows from, the other codes tells it of records with a coarse one too, if it differs there.

    >>> region = np.append(np.arange(60) % 3, [3] * 4)  # 3 stands for 0 or 1
    >>> weight = np.append(np.arange(60) % 3, [0, 1] * 2)
    >>> coarse = np.array([False, False, False, True])
    >>> [told.describe() for told in refines({"region": region, "weight": weight}, ["weight"], {"region": coarse})]
    ['follows from region']
    """
    told = []
    for suspect in suspects:
        fine = {}
        for name, is_coarse in coarse.items():
            table = _codes_by(columns, name, suspect)
            inside = is_coarse[table.a]
            if len(np.unique(table.a[inside])) < int(inside.sum()):
                fine[name] = _part(table, ~inside)
        likeliest = _likeliest(suspect, fine)
        if likeliest is not None and likeliest.explained >= least:
            told.append(likeliest)
    return tuple(told)


def _codes_by(columns: Mapping[str, AnyIntArray], a: str, b: str) -> Crosstab:
    """How many records have each pair of codes of two columns."""
    sizes = (int(columns[a].max(initial=0)) + 1, int(columns[b].max(initial=0)) + 1)
    return crosstab(columns[a], columns[b], sizes, np.ones(len(columns[a]), dtype=np.int64))


def _likeliest(column: str, tables: Mapping[str, Crosstab], rare: bool = False) -> Redundancy | None:
    """The attribute from which a column follows best, or which follows best from it; ``tables`` are by attribute."""
    candidates = [
        Redundancy(column, name, value, follows, rare)
        for name, table in tables.items()
        for value, follows in ((_explained(table), True), (_explained(_swapped(table)), False))
    ]
    return max(candidates, key=lambda candidate: candidate.explained, default=None)


def _part(table: Crosstab, chosen: BoolArray) -> Crosstab:
    """The chosen pairs of values alone."""
    sizes = (len(table.a_totals), len(table.b_totals))
    return crosstab(table.a[chosen], table.b[chosen], sizes, table.records[chosen])


def _links(
    classes: EquivalenceClasses, judged: Collection[str], least: float
) -> dict[tuple[str, str], float]:
    """Of which pairs the second follows from the first, at least one of them judged."""
    links: dict[tuple[str, str], float] = {}
    for a, b in subsets(classes.names, 2):
        if a in judged or b in judged:
            table = _pairs(classes, a, b)
            links |= {(a, b): _explained(table), (b, a): _explained(_swapped(table))}
    return {pair: value for pair, value in links.items() if value >= least}


def _rare_share(classes: EquivalenceClasses, name: str) -> float:
    """The share of people whose value fewer than 11 have."""
    people = _pairs(classes, name, name).a_totals
    return float(people[people < RARE].sum() / people.sum())
