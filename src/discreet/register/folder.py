"""The folder of a register: an entry per file, chained by hashes, and what is kept about the people of each release.

``0001.toml`` says what was published, ``0001.people.parquet`` holds what is needed to judge later releases, and
``register.head`` the number and the hash of the last entry. Entries are only added, each under a lock, whole or not at all:
a process may be killed at any moment. Whoever may write all files can forge them: it guards against mistakes, not against
its owner.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

import pyarrow as pa

from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files.chain import FIRST, digest, told_head, wait_for_lock, write_head
from discreet.files.members import members
from discreet.files.reading import check_regular, read_text
from discreet.files.writing import atomically
from discreet.policy.file import GivenPolicy, open_policy
from discreet.policy.file import dumps as policy_text
from discreet.policy.plan import VALUES_LEFT
from discreet.register.certificate import ReleaseCertificate
from discreet.register.entry import RegisterEntry
from discreet.register.judging import Judgement, judge_people
from discreet.register.people import GroupedRows, PeopleOfRelease
from discreet.register.timeline import Timeline, timeline_of
from discreet.release.parts import mark_of_key
from discreet.release.prepare import open_table
from discreet.release.targets import hash_of
from discreet.sentences import Sentence

HEAD, LOCK = "register.head", "register.lock"
ENTRY = re.compile(r"\d{4,}\.toml")


class Register:
    """What was published about the same people: `add` a release, `judge` the next one with all that is known.

    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> file = Path(folder.name) / "first.csv"
    >>> _ = file.write_text("age,dx\\n30-39,flu\\n30-39,cold\\n")
    >>> from discreet.policy import Policy
    >>> policy = Policy.of(quasi_identifiers=["age"], sensitive=["dx"])
    >>> register = Register(Path(folder.name) / "register")
    >>> entry = register.add(file, policy, audience="open data")
    >>> [(entry.number, entry.file, entry.rows) for entry in register.entries()]
    [(1, 'first.csv', 2)]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)

    def add(
        self,
        release: str | PathLike[str],
        policy: GivenPolicy,
        *,
        original: object | None = None,
        person: str | None = None,
        key: str | None = None,
        audience: str = "",
        groups: GroupedRows | None = None,
        published: str | PathLike[str] | None = None,
    ) -> RegisterEntry:
        """Enter a release that is published, with what judges later ones if its ``original`` and a ``key`` are given.

        ``person`` is the column of the original that identifies people (else the policy's). Without original and key only
        what was published is entered: later releases are then judged by the published file. ``groups`` tell where everybody's
        row is in a release of `republish`, so that the next one keeps everybody's signature. ``published`` is the file that was
        handed out, where that is the same rows written in another way.
        """
        file = Path(release)
        handed_out = file if published is None else Path(published)
        opened = open_policy(policy)
        if groups is not None and original is None:
            raise InvalidParameter(
                "links say whose row is where, and the table of these people is missing",
                remedy="give the original, too",
            )
        if (original is None) != (key is None):
            raise InvalidParameter(
                "people are entered by the original table and a key: one of them is missing",
                remedy="give both, or none to enter the release without its people",
            )
        table = open_table(file, opened)
        several = members(handed_out)
        people = None
        if original is not None and key is not None:
            people = PeopleOfRelease.of(
                file, open_table(original, opened), opened, person=person, key=key, groups=groups
            )
        entry = RegisterEntry(
            number=0,
            kind="release",
            time=_now(),
            file=handed_out.name if several is None else several.pattern,
            sha256=_hash_of_release(handed_out),
            rows=table.rows,
            audience=audience,
            profile=opened.profile or "",
            policy_sha256=digest({"policy": policy_text(opened)}),
            quasi_identifiers=tuple(opened.quasi_identifiers),
            sensitive=tuple(opened.sensitive),
            persons=0 if people is None else len(people.persons),
            key="" if key is None else mark_of_key(key),
        )
        with self._locked(create=True):
            return self._append(entry, people)

    def withdraw(self, number: int, reason: str, *, unseen: bool = False) -> RegisterEntry:
        """Enter that a release was withdrawn. It still counts, for who has it keeps it, unless it was ``unseen``."""
        if not reason.strip():
            raise InvalidParameter("a withdrawal needs a reason", remedy="say why the release was withdrawn")
        with self._locked():
            entries = self._entries()
            self._release(entries, number)
            if number in _withdrawn(entries):
                raise InvalidParameter(
                    Sentence("release {number} was withdrawn before", number=number),
                    remedy="see `discreet register list`",
                )
            entry = RegisterEntry(0, "withdrawal", _now(), withdraws=number, reason=reason, unseen=unseen)
            return self._append(entry, None)

    def entries(self) -> tuple[RegisterEntry, ...]:
        """All entries in their order; an error if they were changed by other hands."""
        with self._locked():
            return tuple(self._entries())

    def show(self, number: int) -> RegisterEntry:
        """The entry of a release."""
        with self._locked():
            return self._release(self._entries(), number)

    def check(self) -> tuple[RegisterEntry, ...]:
        """All entries, with everything that is kept about people read and checked."""
        with self._locked():
            entries = self._entries()
            for entry in entries:
                if entry.people_sha256:
                    self._people(entry)
            return tuple(entries)

    def judge(
        self,
        release: object,
        policy: GivenPolicy,
        *,
        original: object,
        key: str,
        person: str | None = None,
        values_left: int = VALUES_LEFT,
        same_values: bool = False,
    ) -> Judgement:
        """Lay a new release over all that are entered, and say for how many people too few values are left.

        With ``same_values`` it must also leave the same values possible for each person as every earlier one, so that no
        further release can narrow them down: the second condition of m-invariance (Xiao and Tao, SIGMOD 2007).

        Releases that were entered without their people, or with another key, are named and not judged.
        """
        opened = open_policy(policy)
        earlier, unjudged = self.people(key)
        newest = PeopleOfRelease.of(release, open_table(original, opened), opened, person=person, key=key)
        return judge_people(
            newest, earlier, values_left=values_left, same_values=same_values, unjudged=unjudged
        )

    def people(self, key: str) -> tuple[dict[int, PeopleOfRelease], tuple[int, ...]]:
        """What is kept about the people of each release that counts, and the releases of which it cannot be read with this key."""
        with self._locked():
            return self._kept(self._entries(), mark_of_key(key))

    def timeline(self) -> Timeline:
        """What all releases up to each one leave possible for the people in them.

        That takes no key: they are compared by their hashes. Releases with another key than the newest are named and not
        laid over it.
        """
        with self._locked():
            entries = self._entries()
            marks = [entry.key for entry in entries if entry.people_sha256]
            known, unjudged = self._kept(entries, marks[-1] if marks else "")
        return timeline_of(entries, known, unjudged)

    def certificate(self, number: int, *, release: str | PathLike[str] | None = None) -> ReleaseCertificate:
        """What is known about a release, after everything in the register was read and checked; needs no key.

        ``release`` is a file that is to be the published one: its checksum is compared.
        """
        entries = self.check()
        entry = self._release(entries, number)
        told = self.timeline()
        return ReleaseCertificate(
            entry,
            _withdrawn(entries).get(number),
            Timeline(
                tuple(point for point in told.points if point.number <= number),
                tuple(other for other in told.unjudged if other <= number),
            ),
            entries[-1].number,
            None if release is None else _hash_of_release(Path(release)) == entry.sha256,
        )

    def _kept(
        self, entries: Sequence[RegisterEntry], mark: str
    ) -> tuple[dict[int, PeopleOfRelease], tuple[int, ...]]:
        """What is kept about the people of each release that counts, where it was entered with the key of this mark."""
        withdrawn = _withdrawn(entries)
        counted = [
            entry
            for entry in entries
            if entry.kind == "release" and not (entry.number in withdrawn and withdrawn[entry.number].unseen)
        ]
        known = {
            entry.number: self._people(entry)
            for entry in counted
            if entry.people_sha256 and entry.key == mark
        }
        return known, tuple(entry.number for entry in counted if entry.number not in known)

    # ── the files ─────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _locked(self, *, create: bool = False) -> Iterator[None]:
        """Nobody else reads or writes the register meanwhile."""
        try:
            if create:
                self.path.mkdir(mode=0o700, exist_ok=True)
            elif not self._head.is_file() and not self._entry_file(1).is_file():
                raise InvalidParameter(
                    Sentence("{name} is no register", name=self.path.name),
                    remedy="enter a first release with `discreet register add`",
                )
            handle = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UnreadableInput(
                Sentence("{name} could not be opened ({why})", name=self.path.name, why=error.strerror),
                remedy="check the folder and its permissions",
            ) from None
        try:
            wait_for_lock(handle)
            yield
        finally:
            os.close(handle)

    @property
    def _head(self) -> Path:
        return self.path / HEAD

    def _entry_file(self, number: int) -> Path:
        return self.path / f"{number:04}.toml"

    def _people_file(self, number: int) -> Path:
        return self.path / f"{number:04}.people.parquet"

    def _entries(self) -> list[RegisterEntry]:
        """All entries, each checked against the one before it, and the last against the head."""
        count = sum(1 for file in self.path.iterdir() if ENTRY.fullmatch(file.name))
        entries: list[RegisterEntry] = []
        for number in range(1, count + 1):
            file = self._entry_file(number)
            if not file.is_file():
                raise self._damaged(Sentence("{name} is missing", name=file.name))
            try:
                entry = RegisterEntry.of_toml(
                    read_text(file, "entry of the register", remedy="restore the register from a copy")
                )
            except (ValueError, TypeError):
                raise self._damaged(Sentence("{name} was changed", name=file.name)) from None
            if entry.number != number or entry.previous != (entries[-1].hash if entries else FIRST):
                raise self._damaged(Sentence("{name} was exchanged", name=file.name))
            entries.append(entry)
        try:
            told = told_head(self._head)
        except ValueError:
            raise self._damaged(Sentence("{name} was changed", name=HEAD)) from None
        if told is None and len(entries) > 1:
            raise self._damaged(Sentence("{name} is missing", name=HEAD))
        if told is not None and (
            told[0] > len(entries) or (told[0] and entries[told[0] - 1].hash != told[1])
        ):
            raise self._damaged(Sentence("entries are missing, or were exchanged"))
        return entries

    def _append(self, entry: RegisterEntry, people: PeopleOfRelease | None) -> RegisterEntry:
        """Write what is kept about people, then the entry, then the head: what a killed process left is no entry."""
        entries = self._entries()
        number = len(entries) + 1
        checksum = ""
        if people is not None:
            atomically(self._people_file(number), people.save, private=True)
            checksum = hash_of(self._people_file(number))
        entry = replace(
            entry,
            number=number,
            people_sha256=checksum,
            previous=entries[-1].hash if entries else FIRST,
        )
        atomically(
            self._entry_file(number),
            lambda part: part.write_text(entry.to_toml(), encoding="utf-8"),
            private=True,
        )
        write_head(self._head, number, entry.hash)
        return entry

    def _people(self, entry: RegisterEntry) -> PeopleOfRelease:
        file = self._people_file(entry.number)
        damaged = self._damaged(Sentence("{name} is missing, or was changed", name=file.name))
        try:
            check_regular(file)
            if hash_of(file) != entry.people_sha256:
                raise damaged
            return PeopleOfRelease.load(file)
        except (OSError, pa.ArrowException, UnreadableInput, ValueError):
            raise damaged from None

    def _release(self, entries: Sequence[RegisterEntry], number: int) -> RegisterEntry:
        for entry in entries:
            if entry.number == number and entry.kind == "release":
                return entry
        raise InvalidParameter(
            Sentence("the register has no release {number}", number=number),
            remedy="see `discreet register list`",
        )

    def _damaged(self, what: Sentence) -> UnreadableInput:
        return UnreadableInput(
            Sentence("the register {name} cannot be trusted: {what}", name=self.path.name, what=what),
            remedy="restore the folder from a copy; until then nothing is judged or entered",
        )


def _hash_of_release(release: Path) -> str:
    """The checksum of a file, or of all that belong to a release of several files."""
    several = members(release)
    return hash_of(*([release] if several is None else several.files))


def _withdrawn(entries: Sequence[RegisterEntry]) -> Mapping[int, RegisterEntry]:
    return {entry.withdraws: entry for entry in entries if entry.kind == "withdrawal"}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
