"""Fragment: columns that are not to be seen together in different tables, tied loosely or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.errors import (
    EmptyTable,
    InvalidParameter,
    InvalidPolicy,
    RequirementNotMet,
    UnknownColumn,
)
from discreet.files.writing import folder_atomically, refuse_clashes, refuse_filled_folder, write_text
from discreet.perturb.base import whole, without_marks
from discreet.perturb.randomness import Randomness
from discreet.plain import plain
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy
from discreet.progress import Asked, telling
from discreet.release.anonymize import refuse_names_in_labels, unknown_left_out
from discreet.release.pairing import row_codes
from discreet.release.prepare import open_both, several_rows, with_roles
from discreet.release.verify import read_back
from discreet.release.write import write_rows
from discreet.search.fragments.fmrmr import FragmentSearch, information
from discreet.search.fragments.loose import loosely_grouped
from discreet.sentences import Sentence
from discreet.table import Domain, Source, Table
from discreet.types import IntArray

FORMAT = "discreet-fragments-1"
MOST_VALUES = 20
"""Numbers with more values are looked at in as many equally frequent parts as ``PARTS`` says to see what they tell of others."""
PARTS = 10
IDENTITY = (
    "values are released as they are: whoever knows the columns of a fragment finds a person in it, and learns the rest of that "
    "fragment"
)
LOOSE = (
    "within a group every tie between fragments is equally likely to whoever knows of no dependence between their columns: then no two values that are "
    "confidential together have a chance above 1 in {k}"
)
UNTIED = (
    "rows of different fragments are not tied; whoever compares them by columns that both have finds the fewest candidates that are told, and fewer "
    "where other columns depend on each other"
)
TIED = (
    "{count:,} records share the columns of all fragments with no other: whoever compares fragments sees of them what is never shown together; tie "
    "by groups instead (k), or show fewer columns in all"
)


@dataclass(frozen=True)
class Fragment:
    """One table of a fragmentation, with what it reveals by itself.

    ``smallest`` records at least share all its columns, ``unique`` stand alone in it, and ``joined`` records at least share the columns
    that all fragments have: so many may be the same person's in another fragment.
    """

    columns: tuple[str, ...]
    rows: pa.Table = field(repr=False)
    smallest: int
    unique: int
    joined: int

    def to_dict(self) -> dict[str, object]:
        return {
            "columns": list(self.columns),
            "rows": self.rows.num_rows,
            "smallest_class": self.smallest,
            "unique_records": self.unique,
            "smallest_join": self.joined,
        }


@dataclass(frozen=True)
class FragmentRelease:
    """Several tables instead of one, each with some of the columns and its rows in an order of its own.

    ``confidential`` sets are in no fragment whole. With ``k`` every fragment has a column that says which rows of the others may
    be the same person's: a group of at least k records of which no two are alike in what is confidential.
    """

    source: Source
    fragments: tuple[Fragment, ...]
    confidential: tuple[tuple[str, ...], ...]
    score: float
    target: str | None
    common: tuple[str, ...]
    k: int | None
    column: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"FragmentRelease({self.source.name!r}, {len(self.fragments)} fragments)"

    @property
    def recipe(self) -> dict[str, object]:
        """How it was made, without chance and without values."""
        return {
            "format": FORMAT,
            "method": "fmrmr" if self.k is None else "loose associations",
            "fragments": [list(fragment.columns) for fragment in self.fragments],
            "confidential": [list(each) for each in self.confidential],
            "target": self.target,
            "common": list(self.common),
            "k": self.k,
            "group": self.column if self.k is not None else None,
        }

    def to_dict(self) -> dict[str, object]:
        """What was done and what each fragment reveals, as JSON-ready data without values."""
        return {
            "schema": FORMAT,
            "fragments": [fragment.to_dict() for fragment in self.fragments],
            "confidential": [list(each) for each in self.confidential],
            "score": self.score,
            "target": self.target,
            "common": list(self.common),
            "k": self.k,
            "group": self.column if self.k is not None else None,
            "notes": list(self.notes),
        }

    def complaint(self, tables: Sequence[pa.Table]) -> str:
        """What is wrong with fragments as they were read back, or nothing."""
        for fragment, table in zip(self.fragments, tables, strict=True):
            if table.column_names != fragment.rows.column_names or table.num_rows != fragment.rows.num_rows:
                return "a fragment has other columns or rows"
        for together in self.confidential:
            if any(set(together) <= set(table.column_names) for table in tables):
                return "a fragment has columns that must not be seen together"
        return "" if self.k is None else self._loose(tables, self.k)

    def _loose(self, tables: Sequence[pa.Table], k: int) -> str:
        """What is wrong with the groups of fragments that were read back."""
        grouped = []
        for table in tables:
            groups = _codes(table, [self.column], as_text=True)
            labels = table[self.column].cast(pa.string()).to_pylist()
            grouped.append(dict(zip(labels, np.bincount(groups)[groups].tolist(), strict=True)))
            for name in set(table.column_names) & set().union(*self.confidential):
                told = without_marks(whole(table[name].cast(pa.string())))
                table = table.set_column(table.column_names.index(name), name, told)
            for together in self.confidential:
                inside = [name for name in together if name in table.column_names]
                if (
                    inside
                    and len(np.unique(_codes(table, [self.column, *inside], as_text=True))) < table.num_rows
                ):
                    return "two records of a group are alike in what is confidential"
        if any(each != grouped[0] for each in grouped[1:]):
            return "groups of fragments are not the same"
        return "" if min(grouped[0].values()) >= k else "a group is too small"

    def save(
        self,
        folder: str | PathLike[str],
        *,
        suffix: str = ".csv",
        recipe: str | PathLike[str] | None = None,
    ) -> tuple[Path, ...]:
        """Write every fragment to a file of a new folder, verified on what was written, and the recipe if asked for.

        Fragments that do not hold what they promise raise ``RequirementNotMet``, and no folder appears.
        """
        target = Path(folder)
        names = [f"fragment-{number}{suffix}" for number in range(1, len(self.fragments) + 1)]
        refuse_filled_folder(target)
        if recipe is not None:
            refuse_clashes([Path(recipe)], [*self.source.files, target])

        def written(part: Path) -> None:
            for name, fragment in zip(names, self.fragments, strict=True):
                write_rows(fragment.rows, part / name)

        def checked(part: Path) -> None:
            try:
                tables = [
                    read_back(part / name, {f.name: f.type for f in fragment.rows.schema})
                    for name, fragment in zip(names, self.fragments, strict=True)
                ]
                told = self.complaint(tables)
            except (pa.ArrowException, ValueError, OSError):
                told = "it cannot be read back"
            if told:
                raise RequirementNotMet(
                    Sentence(
                        "the written release does not meet its requirements ({told})", told=Sentence(told)
                    ),
                    remedy="nothing was written",
                )

        folder_atomically(target, written, checked)
        if recipe is not None:
            write_text(Path(recipe), json.dumps(plain(self.recipe), ensure_ascii=False, indent=2) + "\n")
        return tuple(target / name for name in names)


def fragment(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    count: int = 2,
    target: str | None = None,
    common: Sequence[str] = (),
    confidential: Sequence[Sequence[str]] = (),
    k: int | None = None,
    column: str = "group",
    seed: int | None = None,
    progress: Asked = None,
) -> FragmentRelease:
    """Several tables instead of one: columns that tell the same in different fragments, and none that shows a confidential set whole.

    Columns are split so that FMRMR is highest: for a ``target`` that recipients will predict, which stands in every fragment, or
    without one, with ``common`` columns in every fragment. ``confidential`` are sets of columns that must not be seen together; a set of one
    column leaves it out. With ``k`` fragments are tied by groups of at least k records, unlike each other in every confidential set, so that
    nobody ties two confidential values with a chance above 1/k; else rows are not tied at all. Every fragment has its own random order,
    which follows from a secret that is forgotten or from a ``seed``.

    >>> rows = pa.table({"job": ["a", "b", "c", "d"], "pay": [1, 2, 3, 4], "ill": ["flu", "cold", "gout", "acne"]})
    >>> policy = Policy.of(quasi_identifiers=["job", "pay"], sensitive=["ill"])
    >>> made = fragment(rows, policy, confidential=[["job", "ill"]], k=2)
    >>> any({"job", "ill"} <= set(each.columns) for each in made.fragments)
    False
    """
    say = telling(progress)
    table, given = open_both(source, policy)
    policy, notes = with_roles(table, given, say)
    table = policy.fit(table)
    if not table.rows:
        raise EmptyTable("the table has no rows", remedy="give a table with people in it")
    _refuse_policy(table, policy, loose=k is not None)
    released = _released(table, policy)
    gone = [name for name in table.names if name not in released]
    sets = _confidential(confidential, table.names)
    alone = [name for each in sets if len(each) == 1 for name in each]
    released = [name for name in released if name not in alone]
    sets = [each for each in sets if len(each) > 1 and set(each) <= set(released)]
    _refuse_parameters(released, target, common, sets, k, column, count)
    say("looking for fragments")
    domains = [table.engine.domain(table, name) for name in released]
    codes = row_codes(table, domains)
    search = _search(released, domains, codes, target, common, sets, count)
    split = search.best()
    randomness = Randomness(seed)
    shown = [[released[at] for at in each] for each in split]
    whole = [*common, *([] if target is None else [target])]
    # Missing values say the same of a person, however they are written.
    alike = [domain.with_one_missing[column] for domain, column in zip(domains, codes, strict=True)]
    groups = None if k is None else _groups(released, alike, shown, sets, k, randomness)
    made = tuple(
        _made(
            table, [name for name in released if name in (*names, *whole)], whole, groups, column, randomness
        )
        for names in shown
    )
    if gone or alone:
        notes.append(Sentence("left out of the release: {gone}", gone=", ".join([*gone, *alone])))
    notes += [
        Sentence(
            "the profile {profile} was not judged: it asks for people who look alike", profile=policy.profile
        ),
        IDENTITY,
        Sentence(LOOSE, k=k) if k is not None else UNTIED,
    ]
    tied = _alone(made[0].rows, whole)
    if sets and k is None and tied:
        notes.append(Sentence(TIED, count=tied))
    if seed is not None:
        notes.append(
            "the order of rows follows from a seed that somebody chose: whoever knows or guesses it can tie fragments"
        )
    return FragmentRelease(
        table.source, made, tuple(sets), search.score(split), target, tuple(common), k, column, tuple(notes)
    )


def _released(table: Table, policy: Policy) -> list[str]:
    """The columns that fragments may show: no identifiers, and none that the policy does not know or drops."""
    kept = {c.name for c in policy.columns if c.role in ("quasi-identifier", "sensitive", "insensitive")}
    return [name for name in table.names if name in kept and name not in policy.plan.drop_attributes]


def _refuse_policy(table: Table, policy: Policy, *, loose: bool) -> None:
    refuse_names_in_labels(table, policy)
    unknown_left_out(table, policy)
    problems: list[str] = []
    if policy.perturb:
        problems.append(
            "the policy lists steps of perturbation, and fragments are made of the table as it is"
        )
    if policy.requirements:
        problems.append("the policy requires privacy models, and fragments leave values as they are")
    if policy.guarantees:
        problems.append("differential privacy is required, which no change of values gives")
    if loose and several_rows(table, policy):
        problems.append(
            Sentence(
                "people have several rows (by {person!r}), and groups are for one each", person=policy.person
            )
        )
    if problems:
        raise InvalidPolicy(
            problems, remedy="take this out of the policy, or anonymise first and fragment the release"
        )


def _confidential(given: Sequence[Sequence[str]], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Sets of columns, each column once."""
    sets = []
    for each in given:
        for name in each:
            if name not in names:
                raise UnknownColumn(name, names)
        if not each:
            raise InvalidParameter("a confidential set has no columns", remedy="name its columns")
        sets.append(tuple(dict.fromkeys(each)))
    return sets


def _refuse_parameters(
    released: Sequence[str],
    target: str | None,
    common: Sequence[str],
    sets: Sequence[tuple[str, ...]],
    k: int | None,
    column: str,
    count: int,
) -> None:
    for name in (*common, *([] if target is None else [target])):
        if name not in released:
            raise UnknownColumn(name, released)
    if target is not None and common:
        raise InvalidParameter(
            "a target stands in every fragment, and common columns do so where there is none",
            remedy="give one or the other",
        )
    whole = {*common, *([] if target is None else [target])}
    if not 2 <= count <= len(released) - len(whole):
        raise InvalidParameter(
            Sentence(
                "{count} fragments of {columns} columns", count=count, columns=len(released) - len(whole)
            ),
            remedy="ask for at least 2, and no more than there are columns to split",
        )
    if any(set(each) <= whole for each in sets):
        raise InvalidParameter(
            "a confidential set has only columns that every fragment shows",
            remedy="choose another target or other common columns",
        )
    if k is None:
        return
    if k < 2:
        raise InvalidParameter(
            Sentence("groups of {k} tie everything", k=k), remedy="ask for a k of at least 2"
        )
    if whole:
        raise InvalidParameter(
            "columns that every fragment shows would tie the records of a group",
            remedy="leave out target and common columns, or k",
        )
    if not sets:
        raise InvalidParameter(
            "groups keep confidential sets loose, and there is none",
            remedy="name columns that must not be seen together, or leave out k",
        )
    if column in released:
        raise InvalidParameter(
            Sentence("the table has a column {column!r}, or it is a name that is taken", column=column),
            remedy="give the groups another name",
        )


def _search(
    released: Sequence[str],
    domains: Sequence[Domain],
    codes: Sequence[IntArray],
    target: str | None,
    common: Sequence[str],
    sets: Sequence[tuple[str, ...]],
    count: int,
) -> FragmentSearch:
    place = {name: at for at, name in enumerate(released)}
    whole = {*common, *([] if target is None else [target])}
    return FragmentSearch(
        information([_parts(domain, column) for domain, column in zip(domains, codes, strict=True)]),
        tuple(place[name] for name in released if name not in whole),
        count,
        None if target is None else place[target],
        tuple(place[name] for name in common),
        tuple(frozenset(place[name] for name in each) for each in sets),
    )


def _parts(domain: Domain, codes: IntArray) -> IntArray:
    """The codes of a column; numbers of many values in parts of about equally many records, nulls in one of their own."""
    if not domain.is_numeric or domain.size <= MOST_VALUES:
        return codes
    numbers = domain.numbers
    order = np.argsort(numbers, kind="stable")  # NaN last
    known = order[: int((~np.isnan(numbers)).sum())]
    below = np.cumsum(np.bincount(codes, minlength=domain.size)[known])
    part = np.full(domain.size, PARTS, dtype=np.int64)
    part[known] = np.minimum((below - 1) * PARTS // max(int(below[-1]), 1), PARTS - 1)
    return part[codes]


def _groups(
    released: Sequence[str],
    codes: Sequence[IntArray],
    shown: Sequence[Sequence[str]],
    sets: Sequence[tuple[str, ...]],
    k: int,
    randomness: Randomness,
) -> IntArray:
    """The group of each record, in which no two are alike in what a fragment shows of a confidential set."""
    place = dict(zip(released, codes, strict=True))
    sides = []
    for inside in dict.fromkeys(
        tuple(name for name in together if name in names) for together in sets for names in shown
    ):
        if inside:
            side = np.zeros(len(codes[0]), dtype=np.int64)
            for name in inside:
                side = np.unique(
                    side * (int(place[name].max(initial=0)) + 1) + place[name], return_inverse=True
                )[1]
            sides.append(side)
    return loosely_grouped(sides, k, randomness)


def _made(
    table: Table,
    names: Sequence[str],
    whole: Sequence[str],
    groups: IntArray | None,
    column: str,
    randomness: Randomness,
) -> Fragment:
    order = randomness.permutation(table.rows)
    rows = table.engine.to_arrow(table, list(names)).take(pa.array(order))
    sizes = np.bincount(_codes(rows, names))
    joined = np.bincount(_codes(rows, whole)) if whole else np.array([table.rows])
    if groups is not None:
        rows = rows.append_column(column, pa.array(groups[order] + 1))
        joined = np.bincount(groups)
    return Fragment(tuple(names), rows, int(sizes.min()), int((sizes == 1).sum()), int(joined.min()))


def _alone(rows: pa.Table, names: Sequence[str]) -> int:
    """How many records share some columns with no other; without columns, whether there is but one record."""
    return int((np.bincount(_codes(rows, names)) == 1).sum())


def _codes(rows: pa.Table, names: Sequence[str], *, as_text: bool = False) -> IntArray:
    """Numbers of the distinct combinations of some columns, row by row."""
    packed = np.zeros(rows.num_rows, dtype=np.int64)
    for name in names:
        column = rows[name].cast(pa.string()) if as_text else rows[name]
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        indices = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        packed = np.unique(packed * (int(indices.max(initial=0)) + 1) + indices, return_inverse=True)[1]
    return packed
