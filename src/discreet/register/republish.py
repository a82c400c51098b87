"""Republish: a release in which everybody who was published before stays among the same sensitive values (m-invariance)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.errors import EmptyTable, InvalidParameter, InvalidPolicy, RequirementNotMet, UnreadableInput
from discreet.files.writing import pair_atomically, refuse_clashes
from discreet.perturb.randomness import Randomness
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy
from discreet.privacy.base import need_number
from discreet.progress import Asked, telling
from discreet.register.folder import Register
from discreet.register.people import hashes_of
from discreet.register.sealing import hidden, unsealed
from discreet.release.anonymize import refuse_names_in_labels, unknown_left_out
from discreet.release.links import write_links
from discreet.release.pairing import row_codes
from discreet.release.parts import refuse_short_key
from discreet.release.prepare import open_both, with_roles
from discreet.release.verify import read_back
from discreet.release.write import check_target, write_rows
from discreet.search.invariance import InvariantGroups, Signature, invariant_groups, refuse_short
from discreet.sentences import Sentence
from discreet.table import Domain, Source, Table
from discreet.transform.recoding import spans
from discreet.types import FloatArray, IntArray

FORMAT = "discreet-republication-1"
COUNTERFEITS = "counterfeits"
NOT_HIDDEN = (
    "what is promised is about sensitive values: whoever knows that a person is in a group still sees the group, and a group may "
    "have a single person among counterfeits, whose quasi-identifiers are then shown as they are"
)
EQUIVALENCE = (
    "whoever knows of everybody when they came and left may tell which newcomer replaced whom, and that both have the same value: "
    "m-invariance does not hinder that"
)
REASONS = (
    "a counterfeit has a value that no newcomer was left for: whoever knows how groups are formed may infer from that which value it is, "
    "and so the others' of its group"
)


@dataclass(frozen=True)
class RepublishedTable:
    """A release in groups, each with its ``m`` or more sensitive values once; ``counterfeits`` says how many records of a group are nobody's.

    ``links`` say which row of the original each row was, -1 for a counterfeit: they undo the release, and the register needs them.
    """

    source: Source
    rows: pa.Table = field(repr=False)
    counterfeits: pa.Table = field(repr=False)
    m: int
    sensitive: str
    column: str
    links: IntArray = field(repr=False)
    kept: Sequence[frozenset[str] | None] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"RepublishedTable({self.source.name!r}, {self.rows.num_rows:,} rows, m={self.m})"

    @property
    def people(self) -> int:
        return int((self.links >= 0).sum())

    @property
    def stayed(self) -> int:
        """How many people kept the signature of an earlier release."""
        return sum(each is not None for each in self.kept)

    def to_dict(self) -> dict[str, object]:
        """What was done, as JSON-ready data without values."""
        return {
            "schema": FORMAT,
            "m": self.m,
            "sensitive": self.sensitive,
            "group": self.column,
            "people": self.people,
            "stayed": self.stayed,
            "groups": len(self.rows[self.column].unique()),
            "counterfeits": self.rows.num_rows - self.people,
            "groups_with_counterfeits": self.counterfeits.num_rows,
            "notes": list(self.notes),
        }

    def complaint(self, rows: pa.Table, counterfeits: pa.Table) -> str:
        """What is wrong with both tables as they were read back, or nothing."""
        if rows.column_names != self.rows.column_names or rows.num_rows != self.rows.num_rows:
            return "it has other columns or rows"
        group = rows[self.column].cast(pa.string()).to_pylist()
        inside: dict[str, set[str]] = {}
        for name, value in zip(group, rows[self.sensitive].cast(pa.string()).to_pylist(), strict=True):
            inside.setdefault(name, set()).add(value)
        if any(len(inside[name]) < max(count, self.m) for name, count in Counter(group).items()):
            return "a group has a value twice, or too few"
        placed = list(zip(group, self.links.tolist(), strict=True))
        if any(place >= 0 and self.kept[place] not in (None, inside[name]) for name, place in placed):
            return "somebody is not among the values of before"
        told = (counterfeits[name].cast(pa.string()).to_pylist() for name in (self.column, COUNTERFEITS))
        false = {name: int(count) for name, count in zip(*told, strict=True)}
        true = Counter(name for name, place in placed if place < 0)
        return "" if false == true else "counterfeits are not as many"

    def save(
        self,
        path: str | PathLike[str],
        counterfeits: str | PathLike[str],
        *,
        links: str | PathLike[str] | None = None,
    ) -> tuple[Path, Path]:
        """Write the release and how many counterfeits its groups have, verified on what was written; and the links if asked for.

        A release that does not hold what it promises raises ``RequirementNotMet``, and no file appears.
        """
        target, other = Path(path), Path(counterfeits)
        for each in (target, other):
            check_target(each)
        refuse_clashes([target, other, *([] if links is None else [Path(links)])], self.source.files)

        def write(first: Path, second: Path) -> None:
            write_rows(self.rows, first)
            write_rows(self.counterfeits, second)

        def checked(first: Path, second: Path) -> None:
            try:
                told = self.complaint(
                    *(
                        read_back(file, {f.name: f.type for f in table.schema})
                        for file, table in ((first, self.rows), (second, self.counterfeits))
                    )
                )
            except (pa.ArrowException, ValueError, OSError):
                told = "it cannot be read back"
            if told:
                raise RequirementNotMet(
                    Sentence(
                        "the written release does not meet its requirements ({told})", told=Sentence(told)
                    ),
                    remedy="nothing was written",
                )

        pair_atomically(target, other, write, checked)
        if links is not None:
            write_links(Path(links), self.links)
        return target, other


def republish(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    m: int,
    register: Register | str | PathLike[str] | None = None,
    key: str | None = None,
    person: str | None = None,
    column: str = "group",
    seed: int | None = None,
    progress: Asked = None,
) -> RepublishedTable:
    """A release of a table that people join and leave, so that all its releases together tell no more than each of them.

    Every group has at least ``m`` records and none of their sensitive values twice, and whoever is in a release of the ``register`` is
    in a group with the same values as there. Where nobody has such a value, a counterfeit does; how many there are in each group is
    published, not which they are. Then nobody's value is inferred with a chance above 1/m from all releases, unless from why counterfeits were
    needed: Xiao and Tao, SIGMOD 2007.
    Without a register it is the first release. Only quasi-identifiers, the groups' numbers and the sensitive attribute are
    released.

    >>> rows = pa.table({"name": ["Ada", "Ben"], "age": [31, 34], "ill": ["flu", "gout"]})
    >>> made = republish(rows, Policy.of(quasi_identifiers=["age"], sensitive=["ill"], direct_identifiers=["name"]), m=2)
    >>> made.rows["age"].to_pylist(), made.to_dict()["counterfeits"]
    (['[31, 34]', '[31, 34]'], 0)
    """
    need_number("m", m, low=2)
    say = telling(progress)
    table, given = open_both(source, policy)
    policy, notes = with_roles(table, given, say)
    table = policy.fit(table)
    name = _sensitive(table, policy, column)
    domain = table.engine.domain(table, name)
    if domain.has_null or len(np.unique(domain.with_one_missing)) < domain.size:
        raise InvalidParameter(
            Sentence("some people have no value of {name!r}", name=name),
            remedy="leave them out, or say what is missing by one word",
        )
    (values,) = row_codes(table, [domain])
    labels = list(domain.labels())
    kept: list[Signature | None] = [None] * table.rows
    if register is not None:
        say("reading the register")
        opened = register if isinstance(register, Register) else Register(register)
        kept, changed, ungrouped = _known(
            table, policy, opened, values, labels, name, person=person, key=key, m=m
        )
        notes += _notes_of_register(changed, ungrouped, name)
    say("forming groups")
    domains = [table.engine.domain(table, each) for each in policy.quasi_identifiers]
    codes = row_codes(table, domains)
    randomness = Randomness(seed)
    groups = invariant_groups(values, kept, _positions(domains, codes), m, randomness)
    order = randomness.permutation(table.rows + len(groups.of_counterfeit))
    rows = _rows(domains, codes, groups, order, column)
    shown = np.concatenate([values, groups.value_of_counterfeit])[order].tolist()
    rows = rows.append_column(name, pa.array([labels[code] for code in shown], pa.string()))
    links = np.where(order < table.rows, order, -1)
    gone = [each for each in table.names if each not in rows.column_names]
    if gone:
        notes.append(Sentence("left out of the release: {gone}", gone=", ".join(gone)))
    notes += [
        Sentence(
            "the profile {profile} was not judged: it asks for people who look alike", profile=policy.profile
        ),
        NOT_HIDDEN,
        EQUIVALENCE,
        *([REASONS] if len(groups.of_counterfeit) else []),
    ]
    signatures = [None if each is None else frozenset(labels[code] for code in each) for each in kept]
    return RepublishedTable(
        table.source, rows, _counts(groups, column), m, name, column, links, signatures, tuple(notes)
    )


def _sensitive(table: Table, policy: Policy, column: str) -> str:
    """The sensitive attribute; what cannot be promised with groups is refused."""
    if not table.rows:
        raise EmptyTable("the table has no rows", remedy="give a table with people in it")
    refuse_names_in_labels(table, policy)
    unknown_left_out(table, policy)
    problems: list[str] = []
    if policy.perturb:
        problems.append("the policy lists steps of perturbation, and groups are formed of the table as it is")
    if policy.requirements or policy.guarantees:
        problems.append(
            "the policy requires other privacy models, and groups are formed for m-invariance only"
        )
    if not policy.quasi_identifiers:
        problems.append("the policy names no quasi-identifier")
    if len(policy.sensitive) != 1:
        problems.append(
            Sentence(
                "the policy names {count} sensitive attributes, and groups are formed for one",
                count=len(policy.sensitive),
            )
        )
    if problems:
        raise InvalidPolicy(problems, remedy="take this out of the policy, or anonymise")
    (name,) = policy.sensitive
    if column in (*policy.quasi_identifiers, name):
        raise InvalidParameter(
            Sentence("the table has a column {column!r}, or it is a name that is taken", column=column),
            remedy="give the groups another name",
        )
    return name


def _known(
    table: Table,
    policy: Policy,
    register: Register,
    values: IntArray,
    labels: list[str],
    name: str,
    *,
    person: str | None,
    key: str | None,
    m: int,
) -> tuple[list[Signature | None], int, int]:
    """The signature of everybody who is in an earlier release, how many have a value outside theirs, and how many releases have no groups.

    Raises if all earlier releases together leave fewer than ``m`` values for somebody. ``labels`` are lengthened by the values that only earlier releases have.
    """
    identifying = person or policy.person
    if key is None or identifying is None:
        raise InvalidParameter(
            "people are known again by the key of the register and the column that identifies them: one of them is missing",
            remedy="give both",
        )
    refuse_short_key(key)
    earlier, unread = register.people(key)
    if unread:
        raise InvalidParameter(
            Sentence(
                "{count:,} earlier releases were registered without their people, or with another key",
                count=len(unread),
            ),
            remedy="give the key with which they were entered; whom they show cannot be known otherwise",
        )
    persons = hashes_of(table, identifying, key)
    place = {code: at for at, code in enumerate(hidden(labels, name, key))}
    known: list[Signature | None] = [None] * table.rows
    common: list[frozenset[int] | None] = [None] * table.rows
    changed = ungrouped = 0
    for number in sorted(earlier):
        people = earlier[number]
        if name not in people.candidates:
            continue
        ungrouped += name not in people.signatures
        shown = people.signature_of_persons(persons, name)
        for code in shown.values:
            if code not in place:
                if code not in people.seals:
                    raise InvalidParameter(
                        Sentence(
                            "release {number} has values that nobody has any more, and was entered without its groups",
                            number=number,
                        ),
                        remedy="begin a register with a release of `discreet republish`",
                    )
                place[code] = len(labels)
                labels.append(_opened(people.seals[code], code, name, key, number))
        column = np.array([place[code] for code in shown.values], dtype=np.int64)
        kinds, of_person = np.unique(shown.possible, axis=0, return_inverse=True)
        signatures = [tuple(sorted(column[kind].tolist())) for kind in kinds]
        for at, kind in enumerate(of_person.ravel().tolist()):
            if not signatures[kind]:
                continue
            known[at] = signatures[kind]
            if int(values[at]) in signatures[kind]:
                before = common[at]
                left = frozenset(signatures[kind])
                common[at] = left if before is None else left & before
    refuse_short(common, m)
    for at, signature in enumerate(known):
        if signature is not None and int(values[at]) not in signature:
            known[at] = None
            changed += 1
    return known, changed, ungrouped


def _notes_of_register(changed: int, ungrouped: int, name: str) -> Iterator[Sentence]:
    """What has to be said of people whose value changed, and of earlier releases without groups."""
    if ungrouped:
        yield Sentence(
            "{count:,} earlier releases were entered without groups: how often a value occurs in their classes may tell more than 1 in m",
            count=ungrouped,
        )
    if changed:
        yield Sentence(
            "{changed:,} people have another value of {name} than any that an earlier release left possible: they count as newcomers",
            changed=changed,
            name=name,
        )


def _opened(seal: str, code: str, name: str, key: str, number: int) -> str:
    """A sealed value of an earlier release."""
    try:
        return unsealed(seal, code, name, key)
    except ValueError:
        raise UnreadableInput(
            Sentence("a sealed value of release {number} was changed", number=number),
            remedy="restore the register from a copy",
        ) from None


def _positions(domains: Sequence[Domain], codes: Sequence[IntArray]) -> FloatArray:
    """Where each person is along each attribute, from 0 to 1."""
    columns = []
    for domain, column in zip(domains, codes, strict=True):
        places = np.arange(domain.size, dtype=np.float64) if domain.places is None else domain.places.copy()
        known = places[~np.isnan(places)]
        places[np.isnan(places)] = known.min(initial=0.0)
        columns.append(((places - places.min()) / (np.ptp(places) or 1.0))[column])
    return np.stack(columns, axis=1)


def _rows(
    domains: Sequence[Domain],
    codes: Sequence[IntArray],
    groups: InvariantGroups,
    order: IntArray,
    column: str,
) -> pa.Table:
    """The quasi-identifiers and groups of people and counterfeits in some order: of each group what its people share."""
    group = np.concatenate([groups.of_person, groups.of_counterfeit])[order]
    member = np.zeros(len(groups.signatures), dtype=np.int64)
    member[groups.of_person] = np.arange(len(groups.of_person))
    rows = {}
    for domain, own in zip(domains, codes, strict=True):
        shown = spans(domain, own, groups.of_person, len(member), None)
        rows[domain.name] = shown.values.take(pa.array(shown.codes[member[group]]))
    return pa.table({**rows, column: pa.array(group + 1)})


def _counts(groups: InvariantGroups, column: str) -> pa.Table:
    """How many counterfeits each group has that has any."""
    having = np.flatnonzero(groups.counterfeits)
    return pa.table({column: pa.array(having + 1), COUNTERFEITS: pa.array(groups.counterfeits[having])})
