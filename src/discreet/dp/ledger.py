"""The ledger: what may be spent on a table, and what was. An append-only file of lines that are chained by hashes.

An amount counts as spent from the moment it is reserved, and it is reserved, on disk, before anything is drawn. So what
was drawn is paid for whatever happens to the process afterwards. Only a reservation of which nothing was drawn is given
back. Every change is made under a lock on the file, so two processes cannot spend the same amount.

Each line holds the hash of the line before it: a line that was changed, exchanged or taken out is noticed. A small file
beside the ledger (``.head``) holds the number and the hash of the last line, so that lines missing at the end are noticed,
too. Whoever may write both files can forge them: the ledger guards against mistakes, not against its owner. Older copies of
both are whole, too, and what was spent after them is forgotten: that cannot be noticed here.

Statements beside releases name the line that paid for them by its hash. A line holds a hash of the table, so its own hash would tell
whoever knows all rows but one which the last is: they would try. Each line therefore holds a random number, too, that stands in the ledger only.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Literal

from discreet.dp.amounts import Amount, ceiling_float, exact, said
from discreet.dp.statement import Unit
from discreet.errors import BudgetExceeded, InvalidParameter, UnreadableInput
from discreet.files.chain import FIRST, digest, told_head, wait_for_lock, write_head
from discreet.plain import plain
from discreet.sentences import Sentence

Kind = Literal["budget", "reserve", "commit", "void", "disjoint"]
SUFFIX = ".budget"


@dataclass(frozen=True)
class LedgerEntry:
    """A line of the ledger.

    ``reservation`` is the number of the line that a commit or a void speaks of, ``table`` a hash that says whose rows were asked about;
    ``tables`` are those of which a line says that nobody is in two. ``unit`` says whom an amount protects, a person or a record.
    """

    number: int
    kind: Kind
    time: str
    epsilon: Fraction
    delta: Fraction
    purpose: str
    reservation: int
    hash: str
    table: str = ""
    tables: tuple[str, ...] = ()
    unit: str = ""

    def to_dict(self) -> dict[str, object]:
        """The line, but for the hashes of tables: who guesses a table would see by them that it is the one."""
        document: dict[str, object] = plain(self)
        shown = {name: value for name, value in document.items() if name not in ("table", "tables")}
        return {**shown, "epsilon": said(self.epsilon), "delta": said(self.delta)}


@dataclass(frozen=True)
class Balance:
    """What may be spent in all, and what was spent: reserved amounts that were not given back.

    Amounts add up, since somebody may be in every table (sequential composition). Of tables that were declared disjoint only the
    largest sum counts: whoever is added or removed is in one of them, and what was drawn from the others does not depend on
    them (parallel composition: McSherry, *Privacy Integrated Queries*, 2009).
    """

    epsilon: Fraction
    delta: Fraction
    spent_epsilon: Fraction
    spent_delta: Fraction
    entries: tuple[LedgerEntry, ...] = field(repr=False)

    @property
    def left_epsilon(self) -> Fraction:
        return max(self.epsilon - self.spent_epsilon, Fraction(0))

    @property
    def left_delta(self) -> Fraction:
        return max(self.delta - self.spent_delta, Fraction(0))

    @property
    def paid(self) -> list[LedgerEntry]:
        """Reservations that were not given back."""
        return _spent(self.entries)

    def holds(self, payment: Payment) -> LedgerEntry | None:
        """The line by which a release was paid, if it is there and was not given back."""
        return next((entry for entry in _spent(self.entries) if entry.hash == payment.hash), None)

    def spent_by(self, unit: Unit) -> tuple[Fraction, Fraction] | None:
        """What was spent as it protects such a unit; nothing if an amount protects single rows, or does not say whom."""
        amounts = []
        for entry in _spent(self.entries):
            if entry.unit not in ("person", "record") or (unit, entry.unit) == ("person", "record"):
                return None
            amounts.append((entry.table, *as_protecting(unit, entry.unit, entry.epsilon, entry.delta)))
        return (
            _composed(self.entries, [(table, epsilon) for table, epsilon, _ in amounts]),
            _composed(self.entries, [(table, delta) for table, _, delta in amounts]),
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-budget-1",
            "epsilon": said(self.epsilon),
            "delta": said(self.delta),
            "spent": {"epsilon": said(self.spent_epsilon), "delta": said(self.spent_delta)},
            "left": {"epsilon": said(self.left_epsilon), "delta": said(self.left_delta)},
            "entries": [entry.to_dict() for entry in self.entries],
        }


@dataclass(frozen=True)
class Payment:
    """By which line of which ledger a release was paid."""

    ledger: str
    line: int
    hash: str


class Reservation:
    """An amount that is set aside. Once ``drawing`` was said, it stays spent whatever happens."""

    def __init__(self, payment: Payment) -> None:
        self.payment = payment
        self.drawn = False

    def drawing(self) -> None:
        """Say that noise is drawn from now on."""
        self.drawn = True


class Ledger:
    """The budget of a table, or of several that name the same ledger and so spend from one budget.

    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> ledger = Ledger(Path(folder.name) / "people.csv.budget")
    >>> ledger.set_budget(epsilon=1)
    >>> for _ in range(11):
    ...     with ledger.reserve("1/11", purpose="a count") as reservation:
    ...         reservation.drawing()
    >>> ledger.balance().left_epsilon
    Fraction(0, 1)
    >>> with ledger.reserve("1/1000000", purpose="one more"):
    ...     pass
    Traceback (most recent call last):
    discreet.errors.BudgetExceeded: epsilon 1e-6 is asked for, and of 1 nothing is left; ask for less, or raise the \
budget with `discreet budget set` if those who decide on it agree
    >>> folder.cleanup()
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.name:
            raise InvalidParameter("the ledger names no file", remedy="name one such as people.csv.budget")
        self.head = self.path.with_name(self.path.name + ".head")

    @classmethod
    def beside(cls, table: Path) -> Ledger:
        """The ledger that lies beside a file: of ``people.csv``, ``people.csv.budget``."""
        return cls(table.with_name(table.name + SUFFIX))

    def set_budget(self, epsilon: Amount, delta: Amount = 0) -> None:
        """Say what may be spent in all from now on; what was spent stays spent."""
        total = exact(epsilon, "epsilon"), exact(delta, "delta", zero=True, below_one=True)
        with self._locked(create=True) as handle:
            self._append(handle, self._entries(handle), kind="budget", amounts=total)

    def balance(self) -> Balance:
        """What may be spent and what was; an error if the ledger was changed by other hands."""
        with self._locked() as handle:
            return _balance(self._entries(handle))

    def declare_disjoint(self, tables: Sequence[str]) -> None:
        """Enter that nobody is in two of some tables, which are named by hashes (`dp.terms.people_of`); see `dp.disjoint`."""
        with self._locked(create=True) as handle:
            entries = self._entries(handle)
            known = {table for entry in entries if entry.kind == "disjoint" for table in entry.tables}
            if known & set(tables):
                raise InvalidParameter(
                    "one of these tables was declared disjoint from others before",
                    remedy="declare all tables of which nobody is in two at once, in a ledger of their own",
                )
            self._append(handle, entries, kind="disjoint", tables=list(tables))

    def refuse_excess(self, epsilon: Amount, delta: Amount = 0, *, table: str = "") -> None:
        """Refuse amounts that are not left, before the first part of them is spent."""
        wanted = exact(epsilon, "epsilon"), exact(delta, "delta", zero=True, below_one=True)
        with self._locked() as handle:
            _refuse_excess(self._entries(handle), *wanted, table)

    @contextmanager
    def reserve(
        self, epsilon: Amount, delta: Amount = 0, *, purpose: str, table: str = "", unit: Unit | None = None
    ) -> Iterator[Reservation]:
        """Set an amount aside, on disk; give it back if the block fails before anything is drawn.

        ``table`` says whose rows are asked about, by a hash (`dp.terms.people_of`), and ``unit`` whom the amount protects.
        """
        wanted = exact(epsilon, "epsilon"), exact(delta, "delta", zero=True, below_one=True)
        with self._locked() as handle:
            entries = self._entries(handle)
            _refuse_excess(entries, *wanted, table)
            line, last = self._append(
                handle, entries, kind="reserve", amounts=wanted, purpose=purpose, table=table, unit=unit or ""
            )
        reservation = Reservation(Payment(self.path.name, line, last))
        try:
            yield reservation
        finally:
            with self._locked() as handle:
                kind: Kind = "commit" if reservation.drawn else "void"
                self._append(handle, self._entries(handle), kind=kind, reservation=line)

    # ── the file ──────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _locked(self, *, create: bool = False) -> Iterator[int]:
        """The open file, which nobody else reads or writes meanwhile."""
        try:
            flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | (os.O_CREAT if create else 0)
            handle = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            if create:
                raise UnreadableInput(
                    Sentence("there is no folder for {name}", name=self.path.name), remedy="create it first"
                ) from None
            raise InvalidParameter(
                Sentence("no budget is set: there is no ledger {name}", name=self.path.name),
                remedy="say what may be spent in all, e.g. `discreet budget set TABLE --epsilon 1`",
            ) from None
        except OSError as error:
            raise UnreadableInput(
                Sentence("{name} could not be opened ({why})", name=self.path.name, why=error.strerror),
                remedy="check the permissions of the ledger",
            ) from None
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UnreadableInput(
                    Sentence("{name} is not a regular file", name=self.path.name), remedy="name a file"
                )
            wait_for_lock(handle)
            yield handle
        finally:
            os.close(handle)

    def _entries(self, handle: int) -> list[LedgerEntry]:
        """All entries, checked; a last line that was not written to its end never counted, so nothing was drawn for it."""
        lines = _content(handle).split(b"\n")[:-1]
        entries: list[LedgerEntry] = []
        for number, line in enumerate(lines, 1):
            entry = _entry(line, number, entries[-1].hash if entries else FIRST)
            if entry is None:
                raise self._tampered(Sentence("line {number} was changed", number=number))
            entries.append(entry)
        told = self._told_head()
        if told is None:
            # Only the first line can be without its head: the process died between the two.
            if len(entries) > 1:
                raise self._tampered(Sentence("its file {name} is missing", name=self.head.name))
            return entries
        count, last = told
        if count > len(entries) or (count and entries[count - 1].hash != last):
            raise self._tampered(Sentence("lines are missing, or were exchanged"))
        return entries

    def _tampered(self, what: Sentence) -> UnreadableInput:
        return UnreadableInput(
            Sentence("the ledger {name} cannot be trusted: {what}", name=self.path.name, what=what),
            remedy="restore the ledger and its .head file from the newest copy, and lower the budget by what was spent "
            "after it; until then nothing is answered",
        )

    def _told_head(self) -> tuple[int, str] | None:
        try:
            return told_head(self.head)
        except ValueError:
            raise self._tampered(Sentence("its file {name} was changed", name=self.head.name)) from None

    def _append(
        self,
        handle: int,
        entries: list[LedgerEntry],
        *,
        kind: Kind,
        amounts: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0)),
        **more: object,
    ) -> tuple[int, str]:
        """Write a line to the end, onto the disk, and then the head; the number of the line and its hash."""
        content: dict[str, object] = {
            "number": len(entries) + 1,
            "kind": kind,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "epsilon": str(amounts[0]),
            "delta": str(amounts[1]),
            **more,
            "salt": secrets.token_hex(16),
            "previous": entries[-1].hash if entries else FIRST,
        }
        last = digest(content)
        line = json.dumps({**content, "hash": last}, ensure_ascii=True).encode() + b"\n"
        try:
            # What a process that died left behind its last whole line is no part of the ledger.
            end = _content(handle).rfind(b"\n") + 1
            os.ftruncate(handle, end)
            os.lseek(handle, end, os.SEEK_SET)
            while line:
                line = line[os.write(handle, line) :]
            os.fsync(handle)
        except OSError as error:
            raise UnreadableInput(
                Sentence(
                    "{name} could not be written ({strerror})", name=self.path.name, strerror=error.strerror
                ),
                remedy="check the space left; no answer is shown that is not paid for",
            ) from None
        write_head(self.head, len(entries) + 1, last)
        return len(entries) + 1, last


def _content(handle: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    parts = []
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _entry(line: bytes, number: int, previous: str) -> LedgerEntry | None:
    """A line that is what was written, or nothing."""
    try:
        content = json.loads(line)
        told = content.pop("hash")
        if told != digest(content) or content["previous"] != previous or content["number"] != number:
            return None
        return LedgerEntry(
            number=number,
            kind=content["kind"],
            time=content["time"],
            epsilon=Fraction(content["epsilon"]),
            delta=Fraction(content["delta"]),
            purpose=content.get("purpose", ""),
            reservation=content.get("reservation", 0),
            hash=told,
            table=content.get("table", ""),
            tables=tuple(content.get("tables", ())),
            unit=content.get("unit", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
        return None


def _balance(entries: Sequence[LedgerEntry]) -> Balance:
    limits = [entry for entry in entries if entry.kind == "budget"]
    spent = _spent(entries)
    return Balance(
        epsilon=limits[-1].epsilon if limits else Fraction(0),
        delta=limits[-1].delta if limits else Fraction(0),
        spent_epsilon=_composed(entries, [(entry.table, entry.epsilon) for entry in spent]),
        spent_delta=_composed(entries, [(entry.table, entry.delta) for entry in spent]),
        entries=tuple(entries),
    )


def _spent(entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Reservations that were not given back."""
    given_back = {entry.reservation for entry in entries if entry.kind == "void"}
    return [entry for entry in entries if entry.kind == "reserve" and entry.number not in given_back]


def as_protecting(unit: str, paid: str, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """An amount that was paid for persons, as it protects each of their records: twice ε, and (1 + e^ε)·δ.

    Neighbours by person differ in all rows of somebody. Of somebody with several rows a table without one of them is two steps away: the
    person is taken out, and put in again with the others.

    >>> as_protecting("record", "person", Fraction(1, 2), Fraction(0)), as_protecting("person", "person", Fraction(1), Fraction(0))
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(1, 1), Fraction(0, 1)))
    """
    if (unit, paid) != ("record", "person"):
        return epsilon, delta
    # Rounded up, to as many digits as people read.
    growth = Fraction(math.ceil(math.exp(min(600.0, ceiling_float(epsilon))) * (1 + 1e-12) * 10**6), 10**6)
    return 2 * epsilon, (1 + growth) * delta


def _composed(entries: Sequence[LedgerEntry], amounts: Sequence[tuple[str, Fraction]]) -> Fraction:
    """The sum of amounts, but of each set of disjoint tables only that of the table with the most."""
    declared = {
        table: entry.number for entry in entries if entry.kind == "disjoint" for table in entry.tables
    }
    total = Fraction(0)
    parts: dict[int, dict[str, Fraction]] = {}
    for table, amount in amounts:
        if table in declared:
            sums = parts.setdefault(declared[table], {})
            sums[table] = sums.get(table, Fraction(0)) + amount
        else:
            total += amount
    return total + sum((max(sums.values()) for sums in parts.values()), Fraction(0))


def _refuse_excess(entries: Sequence[LedgerEntry], epsilon: Fraction, delta: Fraction, table: str) -> None:
    """Refuse an amount with which more would be spent than may be."""
    balance = _balance(entries)
    wish = LedgerEntry(len(entries) + 1, "reserve", "", epsilon, delta, "", 0, "", table)
    after = _balance([*entries, wish])
    for name, wanted, spent, total, left in (
        ("epsilon", epsilon, after.spent_epsilon, balance.epsilon, balance.left_epsilon),
        ("delta", delta, after.spent_delta, balance.delta, balance.left_delta),
    ):
        if spent > total:
            raise BudgetExceeded(
                Sentence(
                    "{name} {wanted} is asked for, and of {total} {left} is left",
                    name=name,
                    wanted=said(wanted),
                    total=said(total),
                    left=said(left) if left else Sentence("nothing"),
                ),
                remedy="ask for less, or raise the budget with `discreet budget set` if those who decide on it agree",
            )
