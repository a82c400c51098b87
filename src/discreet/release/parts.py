"""Counted parts of a table: kept, merged, and audited together, so that nobody counts or moves the rows of others."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.merging import merged
from discreet.classes.store import load_part, save_part
from discreet.engine.read import read
from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files.reading import check_regular
from discreet.files.writing import atomically
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy, open_policy
from discreet.progress import Asked, telling
from discreet.release.audit import Audit, Detail, audit_counted
from discreet.release.prepare import count_classes, open_both
from discreet.release.tally import canonical
from discreet.sentences import Sentence
from discreet.table import Domain, Source

SHORTEST_KEY = 16
ONLY_COUNTED = "the audit is of counted classes: columns that were not counted were not looked at"
BLINDED = (
    "values were counted by their keyed hashes: they have no order, so that distances between numbers are those between "
    "categories"
)


@dataclass(frozen=True)
class CountedClasses:
    """The counted classes of a table or of a part of it, which can be kept in a file and merged with those of other parts.

    >>> import pyarrow as pa
    >>> policy = Policy.of(quasi_identifiers=["age"])
    >>> parts = [count(pa.table({"age": ages}), policy) for ages in ([31, 47], [31, 62])]
    >>> whole = merge(parts)
    >>> whole
    CountedClasses(4 records in 3 classes)
    """

    classes: EquivalenceClasses = field(repr=False)
    persons: pa.Array | None = field(default=None, repr=False)
    """Who each person is, by a keyed hash."""
    key: str = field(default="", repr=False)
    """What tells one key from another, and nothing about it."""
    blind: bool = False

    def __repr__(self) -> str:
        return f"CountedClasses({self.classes.total:,} records in {len(self.classes):,} classes)"

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the classes to a file that only its owner can read: small cells stand in it, in clear unless blind."""
        target = Path(path)
        atomically(
            target,
            lambda scratch: save_part(
                self.classes, scratch, persons=self.persons, mark=f"{self.key}:{int(self.blind)}"
            ),
            private=True,
        )
        return target

    @classmethod
    def load(cls, path: str | PathLike[str]) -> CountedClasses:
        """The classes of a file, which may come from somebody else: what does not fit together is refused."""
        file = Path(path)
        check_regular(file)
        try:
            classes, persons, mark = load_part(file)
        except (pa.ArrowException, OSError, ValueError, KeyError):
            raise UnreadableInput(
                Sentence("{name} holds no counted classes, or is damaged", name=file.name),
                remedy="write it with `discreet classes count`",
            ) from None
        key, _, blind = mark.partition(":")
        return cls(classes, persons, key, blind == "1")

    def audit(self, policy: GivenPolicy, *, detail: Detail = "full", progress: Asked = None) -> Audit:
        """The audit of all parts together under the policy by which they were counted."""
        opened = open_policy(policy)
        names = [*self.classes.names, *(domain.name for domain in self.classes.sensitive)]
        wanted = [*opened.quasi_identifiers, *opened.sensitive]
        if sorted(names) != sorted(wanted) or self.classes.event_level != (opened.person is not None):
            raise InvalidParameter(
                "the classes were counted by other columns than the policy names",
                remedy="audit them with the policy by which they were counted",
            )
        known = opened if not self.blind else _without_types(opened)
        # One row for each distinct combination: rules look at values, never at how often they occur.
        rows = {name: _cells(self.classes, name) for name in names}
        if opened.person is not None and self.classes.person_codes is not None:
            people = pa.array(self.classes.person_codes)
            rows[opened.person] = (
                people.cast(pa.string()) if self.persons is None else self.persons.take(people)
            )
        table = read(pa.table(rows or {"records": [1]}))
        table = replace(table, rows=self.classes.total, source=Source("counted classes", "classes"))
        return audit_counted(
            known.fit(table),
            known,
            self.classes,
            detail=detail,
            notes=[ONLY_COUNTED, *([BLINDED] if self.blind else [])],
            progress=telling(progress),
        )


def count(
    source: object, policy: GivenPolicy, *, key: str | None = None, blind: bool = False
) -> CountedClasses:
    """The counted classes of a table, or of a part of it that lies somewhere else.

    Persons with several records need a ``key``, the same for all parts: with it they are known again in other parts, by
    nobody who lacks it. ``blind`` classes have keyed hashes in place of all values, so that a holder can hand them to whoever
    merges them and does not have the key.
    """
    if blind and key is None:
        raise InvalidParameter("blind classes need a key", remedy="give one that all holders share")
    if key is not None:
        refuse_short_key(key)
    table, opened = open_both(source, policy)
    assert opened is not None
    table = opened.fit(table)
    classes = count_classes(table, opened)
    if key is None:
        return CountedClasses(classes)
    persons = None
    if opened.person is not None:
        values = table.engine.domain(table, opened.person).values
        persons = hashed(values, key, "a person")
    if blind:
        classes = _blinded(classes, key)
    return CountedClasses(classes, persons, mark_of_key(key), blind)


def merge(parts: Sequence[CountedClasses]) -> CountedClasses:
    """The counted classes of all parts together; ``InvalidParameter`` if they do not fit together."""
    if not parts:
        raise InvalidParameter("there are no parts to merge", remedy="name at least one")
    if len({(part.key, part.blind) for part in parts}) > 1:
        raise InvalidParameter(
            "the parts were counted with different keys, or only some of them are blind",
            remedy="count all parts with the same key, all blind or none",
        )
    persons = [part.persons for part in parts if part.persons is not None]
    classes, people = merged(
        [part.classes for part in parts], persons if len(persons) == len(parts) else None
    )
    return replace(parts[0], classes=classes, persons=people)


def refuse_short_key(key: str) -> None:
    """Raise if a key could be guessed."""
    if len(key) < SHORTEST_KEY:
        raise InvalidParameter(
            Sentence("the key is shorter than {shortest} characters", shortest=SHORTEST_KEY),
            remedy="use a long random text",
        )


def keyed(key: str, text: str) -> str:
    """The keyed hash of a text."""
    return hmac.digest(key.encode(), text.encode(), "sha256").hex()[:32]


def mark_of_key(key: str) -> str:
    """What tells one key from another, and nothing about it."""
    return keyed(key, "the key")


def hashed(values: pa.Array, key: str, what: str) -> pa.Array:
    """Keyed hashes of values, which depend on what they are values of."""
    return pa.array([keyed(key, f"{what}\0{canonical(value)}") for value in values.to_pylist()], pa.string())


def _blinded(classes: EquivalenceClasses, key: str) -> EquivalenceClasses:
    """The same classes with keyed hashes in place of values, in the order of the hashes."""

    def blinded(domain: Domain) -> tuple[Domain, pa.Array]:
        hashes = hashed(domain.values, key, domain.name)
        order = np.argsort(np.asarray(hashes.to_pylist(), dtype=object), kind="stable")
        place = np.empty(len(order) + 1, dtype=np.int64)
        place[order] = np.arange(len(order))
        place[-1] = len(order)
        return Domain(domain.name, hashes.take(pa.array(order)), domain.has_null), place

    attributes = [blinded(domain) for domain in classes.attributes]
    sensitive = [blinded(domain) for domain in classes.sensitive]
    moved = replace(
        classes,
        sensitive=tuple(domain for domain, _ in sensitive),
        sensitive_codes={
            domain.name: place[classes.sensitive_codes[domain.name]] for domain, place in sensitive
        },
        guards=(),
    )
    return moved.recoded(
        [domain for domain, _ in attributes],
        [place[codes] for (_, place), codes in zip(attributes, classes.codes, strict=True)],
    )


def _cells(classes: EquivalenceClasses, name: str) -> pa.Array:
    domain, codes = classes.column_of_cells(name)
    values = pa.concat_arrays([domain.values, pa.nulls(1, domain.values.type)])
    return values.take(pa.array(codes.astype(np.int64)))


def _without_types(policy: Policy) -> Policy:
    """The policy for hashes, which are neither numbers nor dates and have no hierarchy."""
    return replace(
        policy,
        columns=tuple(replace(column, type=None, hierarchy=None) for column in policy.columns),
    )
