"""Several tables about the same people as one case: its members, and which tables may belong together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from discreet.errors import InvalidParameter
from discreet.files.writing import write_text
from discreet.web.cases import Case
from discreet.web.downloads import stem_of
from discreet.web.policies import columns_document, fingerprint, policy_text
from discreet.web.refusals import Refusal

MEMBERS = "members.json"
MOST = 20
"""So many tables are judged together at most."""
LONGEST = 60


@dataclass(frozen=True)
class Member:
    """One of several tables: what it is called among them, and where its case and its file lie."""

    name: str
    case: str
    folder: str
    source: str


def remember_members(together: Case, cases: Sequence[Case]) -> None:
    """Write down which tables a case holds, under names that differ."""
    members: list[Member] = []
    taken: set[str] = set()
    for case in cases:
        stem = name = stem_of(case.label)[:LONGEST]
        number = 2
        while name.casefold() in taken:
            name, number = f"{stem} {number}", number + 1
        taken.add(name.casefold())
        members.append(Member(name, case.id, str(case.folder), str(case.source)))
    write_text(together.source, json.dumps([asdict(member) for member in members]))
    together.members = tuple(case.id for case in cases)


def members_in(file: Path) -> list[Member]:
    """The tables that such a file lists."""
    return [Member(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))]


def check_members(cases: Sequence[Case]) -> None:
    """Refuse what cannot be judged together."""
    if len({case.id for case in cases}) < 2 or len(cases) > MOST:
        raise InvalidParameter(
            "tables that belong together are at least 2 and at most 20", remedy="choose other ones"
        )
    for case in cases:
        if case.members:
            raise InvalidParameter("these are several tables already", remedy="choose single tables")
        policy_text(case)


def policies_as_text(case: Case) -> str:
    """The policies of all members as they are now, by the names of the tables."""
    return json.dumps({member.name: _policy(member) for member in members_in(case.source)})


def fingerprint_of_members(case: Case) -> str:
    """A hash that tells whether roles are still those that a result rests on."""
    parts = [
        (member.name, fingerprint(Path(member.folder) / "policy.toml", plan=False))
        for member in members_in(case.source)
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _policy(member: Member) -> str:
    try:
        return (Path(member.folder) / "policy.toml").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Refusal(
            409, "not-ready", "one of the tables was wiped", "wipe these, too, and choose them anew"
        ) from None


def related(cases: Iterable[Case]) -> list[Case]:
    """Tables that share a column which tells the rows of one of them apart, so that they may be about the same people.

    Only what is known of columns is looked at, not the rows: whether keys are found is seen when they are judged.
    """
    read = [case for case in cases if case.shape == "table" and case.was_read]
    keys: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    for case in read:
        document = columns_document(case)
        names[case.id] = {_plain(column["name"]) for column in document["columns"]}
        keys[case.id] = {
            _plain(column["name"])
            for column in document["columns"]
            if not column["nulls"] + column["marks"]
            and (column["approximate"] or column["distinct"] == document["table"]["rows"])
            and column["distinct"] >= 0.95 * document["table"]["rows"]
        }
    tied = {
        case.id
        for above in read
        for below in read
        if above is not below and keys[above.id] & (names[below.id] - keys[below.id])
        for case in (above, below)
    }
    return [case for case in sorted(read, key=lambda case: case.created) if case.id in tied][:MOST]


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "")
