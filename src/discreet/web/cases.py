"""Cases: each holds one table in a private directory, wiped when the server ends or nobody used it for long."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from discreet.files.scratch import Scratch
from discreet.web.refusals import Refusal, not_found

Origin = Literal["upload", "path", "example", "together"]
Shape = Literal["table", "baskets", "tables"]
"""What a case holds: one table, one basket on each line or row, or several tables about the same people."""
SUFFIXES = (
    *(".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".data", ".parquet", ".pq"),
    *(".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".xlsx", ".xlsm", ".xls", ".ods"),
)
"""The endings that a stored file may have; of an uploaded name nothing else ever becomes part of a path."""


def ending(name: str) -> str:
    """The known ending of an uploaded name; a name without one is taken for a text file.

    >>> ending("Patients 2024.CSV"), ending("a.csv.gz"), ending("../../etc/passwd"), ending("x.exe")
    ('.csv', '.csv.gz', '.txt', '.txt')
    """
    suffixes = [suffix for suffix in SUFFIXES if name.lower().endswith(suffix)]
    return max(suffixes, key=len, default=".txt")


def label_of(name: str) -> str:
    """An uploaded name as it is shown: its last part, printable and not endless.

    >>> label_of("../../etc/passwd"), label_of("C:\\\\data\\\\people.csv"), label_of("a\\x00b\\n.csv"), label_of(" ")
    ('passwd', 'people.csv', 'ab.csv', 'table')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(sign for sign in last if sign.isprintable()).strip()[:120] or "table"


@dataclass
class Case:
    """One table in work: where it lies, what it is called, and when it was last used."""

    id: str
    folder: Path
    label: str
    origin: Origin
    source: Path
    created: float = field(default_factory=time.time)
    used: float = field(default_factory=time.time)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    """Held by whoever changes the policy, a draft or the list of jobs."""
    language: str = "en"
    """What whoever works on it reads: the language of the reports."""
    shape: Shape = "table"
    members: tuple[str, ...] = ()
    """The cases whose tables belong together, if it holds several."""
    being_replaced: Callable[[], bool] = field(default=lambda: False, repr=False)
    """Whether a reading is under way that suggests another policy."""

    @property
    def policy_file(self) -> Path:
        return self.folder / "policy.toml"

    @property
    def columns_file(self) -> Path:
        """The document about the columns, which reading the table leaves."""
        return self.folder / "columns.json"

    @property
    def was_read(self) -> bool:
        """Whether its columns and its policy are there: the policy is put in place last."""
        return self.policy_file.exists()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Nobody else changes the policy inside this context; a change that would be lost is refused."""
        with self.lock:
            if self.being_replaced():
                raise Refusal(
                    409,
                    "not-ready",
                    "the table is being read anew, and another policy will be suggested",
                    "wait until its columns are there",
                )
            yield

    def snapshot(self, job: str) -> Path:
        """A copy of the policy as it is now, for a job: what is changed while it waits is for the next one.

        It lies beside the policy, so that the files that a policy names are found from it.
        """
        target = self.folder / f"policy-{job}.toml"
        if self.policy_file.exists():
            shutil.copyfile(self.policy_file, target)
        return target


class Cases:
    """All cases of one server, under one directory that only its user may enter."""

    def __init__(self) -> None:
        self._scratch = Scratch("serve")
        self.root = self._scratch.path
        self._cases: dict[str, Case] = {}
        self._lock = threading.Lock()

    def create(self, name: str, origin: Origin, source: Path | None = None) -> Case:
        """A new case; without a ``source`` its file will lie in its own directory under a made-up name."""
        identifier = secrets.token_urlsafe(16)
        folder = self.root / identifier
        folder.mkdir(mode=0o700)
        place = source or folder / f"table-{secrets.token_hex(8)}{ending(name)}"
        case = Case(identifier, folder, label_of(name), origin, place)
        with self._lock:
            self._cases[identifier] = case
        return case

    def get(self, identifier: str) -> Case:
        """The case with this identifier, which counts as used now."""
        with self._lock:
            case = self._cases.get(identifier)
        if case is None:
            raise not_found("table")
        case.used = time.time()
        return case

    def __iter__(self) -> Iterator[Case]:
        with self._lock:
            return iter(list(self._cases.values()))

    def size(self) -> int:
        """What everything of all cases takes on disk, in bytes."""
        total = 0
        for folder, _, names in os.walk(self.root):
            for name in names:
                # What a job removes meanwhile takes nothing.
                with suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_size
        return total

    def remove(self, case: Case) -> None:
        """Forget a case and wipe its directory; a file that was named in place stays where it is."""
        with self._lock:
            self._cases.pop(case.id, None)
        shutil.rmtree(case.folder, ignore_errors=True)

    def wipe(self) -> None:
        """Remove everything."""
        with self._lock:
            self._cases.clear()
        self._scratch.remove()
