"""The policy of several tables: what each is, how they are tied, and what an intruder knows of a person's rows."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from discreet.errors import InvalidPolicy
from discreet.files.documents import parse_toml
from discreet.files.reading import read_text
from discreet.policy import Policy
from discreet.policy.document import Text
from discreet.policy.file import open_policy
from discreet.policy.policy import DEFAULT_PROFILE, Unknown
from discreet.policy.problems import explain
from discreet.policy.settings import Strict
from discreet.privacy import LinkedKAnonymity
from discreet.release.profile import load_profile
from discreet.release.requirements import required_size
from discreet.sentences import Sentence

KnownEvents = int | Literal["all"]
"""How many rows of a person an intruder knows, of all tables but that of the people; or all of them."""
SHIFT_DAYS = 365
FILE_NAME = re.compile(r"[^./\\:\x00-\x1f][^/\\:\x00-\x1f]*")
LONGEST_NAME = 200
"""Bytes of a file's name before its suffix: file systems take 255."""


class _PeopleEntry(Strict):
    table: Text
    known_events: Annotated[int, Field(ge=0)] | Literal["all"] = "all"
    shift_days: Annotated[int, Field(ge=1)] = SHIFT_DAYS


class _TableEntry(Strict):
    file: Text | None = None
    key: Text | None = None
    refers: dict[str, Text] = Field(default_factory=dict)
    shift: list[Text] = Field(default_factory=list)
    columns: dict[str, object] = Field(default_factory=dict)
    read: dict[str, object] = Field(default_factory=dict)


class _RelationalFile(Strict):
    format: int = 1
    profile: str = DEFAULT_PROFILE
    unknown: Unknown = Policy.unknown
    people: _PeopleEntry
    tables: dict[str, _TableEntry]
    anonymize: dict[str, object] = Field(default_factory=dict)
    require: list[dict[str, object]] = Field(default_factory=list)


@dataclass(frozen=True)
class TablePolicy:
    """One of several tables: its key, dates that are shifted, and its columns' roles.

    ``refers`` are columns that refer to people, or to rows of people, with the tables where these are; ``looks_up`` those that refer to
    tables that tell of nobody, which are columns like others.
    """

    name: str
    policy: Policy = field(repr=False)
    key: str | None = None
    refers: Mapping[str, str] = field(default_factory=dict)
    looks_up: Mapping[str, str] = field(default_factory=dict)
    shift: tuple[str, ...] = ()
    file: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tie rows to people: they are replaced by pseudonyms."""
        return tuple(dict.fromkeys([*([] if self.key is None else [self.key]), *self.refers]))

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return tuple(name for name in self.policy.quasi_identifiers if name not in self.keys)


@dataclass(frozen=True)
class RelationalPolicy:
    """What several tables are and what is asked of them together.

    ``people`` names the table with a row for each person. An intruder knows a person's quasi-identifiers there, and
    ``known_events`` of the person's rows in the other tables: a number of them, or all.
    """

    people: str
    tables: tuple[TablePolicy, ...]
    known_events: KnownEvents = "all"
    shift_days: int = SHIFT_DAYS

    @property
    def root(self) -> TablePolicy:
        return self.table(self.people)

    def table(self, name: str) -> TablePolicy:
        return next(table for table in self.tables if table.name == name)

    @property
    def k(self) -> int:
        """So many people must be alike: the largest class that policy and profile ask for."""
        policy = self.root.policy
        return required_size(policy, load_profile(policy.profile)) or 1

    def parent(self, name: str) -> tuple[str, str] | None:
        """By which column a table refers to a table of the way to the people, and to which."""
        return next(iter(self.table(name).refers.items()), None)

    @property
    def events(self) -> tuple[TablePolicy, ...]:
        """The tables whose rows belong to people, those first that others refer to."""
        return tuple(sorted((t for t in self.tables if t.refers), key=lambda t: self._depth(t.name)))

    @property
    def knowable(self) -> tuple[str, ...]:
        """The tables of whose rows an intruder knows something: those with quasi-identifiers, and those above them.

        Of a table without, such as one of diagnoses that are all sensitive, roles say that nobody knows anything.
        """
        known: set[str] = set()
        for table in self.events:
            if table.quasi_identifiers:
                name = table.name
                while name != self.people:
                    known.add(name)
                    parent = self.parent(name)
                    assert parent is not None, "events refer to people"
                    name = parent[1]
        return tuple(table.name for table in self.events if table.name in known)

    @property
    def lookups(self) -> tuple[str, ...]:
        """The tables that tell of nobody."""
        return tuple(t.name for t in self.tables if not t.refers and t.name != self.people)

    @property
    def looked_up(self) -> frozenset[str]:
        """The columns of event tables whose values are keys of tables that tell of nobody: they are shown as they are, or not at all."""
        return frozenset(column for table in self.events for column in table.looks_up)

    def files(self, suffix: str) -> dict[str, str]:
        """What the file of each table of a release is called; names that would lead out of its folder, or to the same file, are
        refused."""
        called = {
            table.name: table.name if table.file is None else table.file.split(".")[0]
            for table in self.tables
        }
        alike = Counter(name.casefold() for name in called.values())
        problems = [
            Sentence("table {table}: no file can be called {called!r}", table=table, called=name)
            for table, name in called.items()
            if not FILE_NAME.fullmatch(name) or len(os.fsencode(name)) > LONGEST_NAME
        ]
        problems += [
            Sentence(
                "table {table}: another one has a file that is called {called}, too", table=table, called=name
            )
            for table, name in called.items()
            if alike[name.casefold()] > 1
        ]
        if problems:
            raise InvalidPolicy(
                problems, remedy="call the table otherwise in the policy, with its name in the source as file"
            )
        return {table: f"{name}{suffix}" for table, name in called.items()}

    def _depth(self, name: str) -> int:
        parent = self.parent(name)
        return 0 if parent is None else 1 + self._depth(parent[1])

    def children(self, name: str) -> tuple[str, ...]:
        """The tables that refer to a table on their way to the people."""
        return tuple(
            table.name
            for table in self.events
            if (parent := self.parent(table.name)) is not None and parent[1] == name
        )

    @classmethod
    def of(
        cls, document: Mapping[str, object], *, text: str = "", name: str = "the policy"
    ) -> RelationalPolicy:
        """The policy of a document with ``[people]`` and ``[tables]``; all problems at once."""
        try:
            parsed = _RelationalFile.model_validate(document)
        except ValidationError as error:
            raise InvalidPolicy(explain(text, name, error), remedy=SEE) from None
        problems = _broken(parsed)
        if problems:
            raise InvalidPolicy(problems, remedy=SEE)
        tables = []
        for table_name, table in parsed.tables.items():
            ways = {
                column: to for column, to in table.refers.items() if _reaches(parsed, to, parsed.people.table)
            }
            others = {column: to for column, to in table.refers.items() if column not in ways}
            shared = {"profile": parsed.profile, "unknown": parsed.unknown, "anonymize": parsed.anonymize}
            own = {} if parsed.people.table != table_name and not ways else {"require": parsed.require}
            columns = {"columns": _with_keys(table, ways), "read": table.read, **own}
            try:
                policy = open_policy({**shared, **columns})
            except InvalidPolicy as error:
                problems += [
                    Sentence("table {table}: {problem}", table=table_name, problem=problem)
                    for problem in error.problems
                ]
                continue
            tables.append(
                TablePolicy(table_name, policy, table.key, ways, others, tuple(table.shift), table.file)
            )
        made = cls(parsed.people.table, tuple(tables), parsed.people.known_events, parsed.people.shift_days)
        problems += [] if problems else _problems(made)
        if problems:
            raise InvalidPolicy(problems, remedy=SEE)
        return made


SEE = "see how-to/several-tables in the documentation"


def _with_keys(table: _TableEntry, ways: Mapping[str, str]) -> dict[str, object]:
    """The columns with those that tie tables, which nobody may be known by."""
    ties = [*([] if table.key is None else [table.key]), *ways]
    return {**{name: {"role": "direct-identifier"} for name in ties}, **table.columns}


def _reaches(parsed: _RelationalFile, name: str, people: str) -> bool:
    """Whether a table is that of the people, or refers to it on some way."""
    return name == people or any(_reaches(parsed, to, people) for to in parsed.tables[name].refers.values())


def _broken(parsed: _RelationalFile) -> list[str]:
    """What is wrong with the references of a file."""
    names = list(parsed.tables)
    if parsed.people.table not in names:
        return [_unknown_table("[people]", parsed.people.table, names)]
    problems: list[str] = []
    for name, table in parsed.tables.items():
        for column, to in table.refers.items():
            if to not in names:
                problems.append(_unknown_table(f"{name}.{column}", to, names))
            elif parsed.tables[to].key is None:
                problems.append(
                    Sentence(
                        "{table}.{column} refers to {to}, which has no key", table=name, column=column, to=to
                    )
                )
    if problems:
        return problems

    def circular(name: str, on_way: Sequence[str]) -> bool:
        return any(to in on_way or circular(to, (*on_way, to)) for to in parsed.tables[name].refers.values())

    return (
        ["tables refer to each other in a circle"] if any(circular(name, (name,)) for name in names) else []
    )


def _problems(policy: RelationalPolicy) -> list[str]:
    """What does not fit together."""
    problems: list[str] = []
    if policy.root.key is None:
        problems.append(
            Sentence("{people} has no key: nobody can tell whose rows are whose", people=policy.people)
        )
    for table in policy.tables:
        problems += _problems_of(table, policy)
    if not policy.root.quasi_identifiers and not any(table.quasi_identifiers for table in policy.events):
        problems.append(
            "no column is a quasi-identifier; name those that an intruder may know, e.g. age, sex, postcode"
        )
    if policy.known_events != "all" and (asking := _asks_for_all(policy)):
        problems.append(
            Sentence(
                "{asking} asks that all rows of a person be alike with those of others, and known_events is {known}",
                asking=asking,
                known=policy.known_events,
            )
        )
    return problems


def _problems_of(table: TablePolicy, policy: RelationalPolicy) -> list[str]:
    """What does not fit together about one table."""
    problems: list[str] = []
    for column in table.policy.columns:
        named = f"{table.name}.{column.name}"
        if column.role in ("person-id", "weight"):
            problems.append(
                Sentence(
                    "{column}: people are told by the key of their table, and rows have no weights",
                    column=named,
                )
            )
        if column.name in table.keys and column.role != "direct-identifier":
            problems.append(Sentence("{column} ties tables: it may have no other role", column=named))
        if column.name in table.shift and column.role == "quasi-identifier":
            problems.append(
                Sentence(
                    "{column} is shifted, and a quasi-identifier is generalised: it cannot be both",
                    column=named,
                )
            )
    if table.key in table.refers:
        problems.append(
            Sentence(
                "{table}.{column} is a key and refers to another table: leave the key out",
                table=table.name,
                column=table.key,
            )
        )
    if table.policy.perturb or table.policy.guarantees:
        problems.append(Sentence("{table}: several tables are generalised, not perturbed", table=table.name))
    if len(table.refers) > 1:
        problems.append(
            Sentence(
                "{table} refers to people in several ways ({ways}): a row would be of two people",
                table=table.name,
                ways=tuple(table.refers),
            )
        )
    if table.name in policy.lookups and (table.policy.quasi_identifiers or table.policy.sensitive):
        problems.append(
            Sentence(
                "{table} tells of nobody (it does not refer to {people}), so no column of it is a quasi-identifier or sensitive",
                table=table.name,
                people=policy.people,
            )
        )
    return problems


def _asks_for_all(policy: RelationalPolicy) -> str:
    """Who asks that all rows of a person be alike with those of others, if anybody does."""
    if any(isinstance(model, LinkedKAnonymity) for model in policy.root.policy.requirements):
        return Sentence("the policy")
    profile = load_profile(policy.root.policy.profile)
    if any(requirement.entry.get("model") == LinkedKAnonymity.id for requirement in profile.requirements):
        return Sentence("the profile {profile}", profile=profile.id)
    return ""


def _unknown_table(where: str, name: str, known: Sequence[str]) -> Sentence:
    return Sentence(
        "{where}: there is no table {name!r}; there are: {known}", where=where, name=name, known=tuple(known)
    )


GivenRelationalPolicy = RelationalPolicy | str | PathLike[str] | Mapping[str, object]
"""What verbs on several tables take for a policy: one, the path of its file, or what stands in such a file as a dict."""


def open_relational(given: GivenRelationalPolicy) -> RelationalPolicy:
    """A policy of several tables as it is, that of a file, or that of a dict with the keys of such a file."""
    if isinstance(given, RelationalPolicy):
        return given
    if isinstance(given, Mapping):
        return RelationalPolicy.of(given)
    place = Path(given)
    text = read_text(place, "policy file", remedy="it must be a UTF-8 text file in TOML")
    try:
        raw = parse_toml(text)
    except ValueError as error:
        raise InvalidPolicy(
            [Sentence("{name} is not valid TOML: {error}", name=place.name, error=error)],
            remedy="correct this line",
        ) from None
    policy = RelationalPolicy.of(raw, text=text, name=place.name)
    return _beside(policy, place.parent)


def _beside(policy: RelationalPolicy, folder: Path) -> RelationalPolicy:
    """With hierarchy files and a profile of one's own looked for beside the policy."""
    tables = []
    for table in policy.tables:
        own = table.policy.generalise(
            {c.name: str(folder / c.hierarchy) for c in table.policy.columns if isinstance(c.hierarchy, str)}
        )
        if own.profile.endswith(".toml"):
            own = own.replace(profile=str(folder / own.profile))
        tables.append(replace(table, policy=own))
    return replace(policy, tables=tuple(tables))
