"""How much of a file is taken in: what is beyond is refused before it fills the memory."""

from __future__ import annotations

import os
import re
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from discreet.engine.old_workbooks import MAGIC, cells_between
from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files.reading import CHUNK, check_unpacked
from discreet.sentences import Sentence

MAX_COLUMNS = 2_000
"""Columns of a table."""
MAX_COUNTED = 200
"""Columns that are counted together."""
MAX_CELLS = 50_000_000
"""Cells of a sheet, from its first to its last filled one in both directions: each takes memory, filled or not."""
MEMORY = "DISCREET_MEMORY"
"""The variable of the environment that says how much memory may be taken; jobs of the page inherit it."""
THREADS = "DISCREET_THREADS"
"""The variable of the environment that says on how many threads an engine works."""
PROGRAM_MEMORY = 512 << 20
"""What the program itself may take besides: its libraries, and compiling."""
WATCH_SECONDS = 0.1
STATUS = Path("/proc/self/status")
USUAL_MEMORY = 4 << 30
"""What a machine is taken to have that does not say."""
LEAST_MEMORY = 256 << 20
"""With less an engine does little but move rows to disk and back."""
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]*)([0-9]+)["']""")
"""Where a cell or a row says that it stands; or a text that says so."""
TAG_AT = rb"""<(?:[\w.-]+:)?(?:c|row)\s(?:[^<>"']|"[^<"]*"|'[^<']*')*?\br\s*=\s*["']%s["']"""
"""A tag that says so."""
PLACED = re.compile(rb"<(?:[\w.-]+:)?(?:c|row)\s")
ROW = re.compile(rb"<(?:[\w.-]+:)?row[\s/>]")
BARE_CELL = re.compile(rb"<(?:[\w.-]+:)?c[\s/>]")
REPEATED = re.compile(rb"""number-(rows|columns)-repeated\s*=\s*["']([0-9]+)["']""")
LONGEST_TAG = 8 << 20


def parse_size(text: str) -> int:
    """A number of bytes from a text such as 500M.

    >>> parse_size("500M"), parse_size("4 GB"), parse_size("1024")
    (524288000, 4294967296, 1024)
    """
    parts = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE | re.ASCII)
    size = int(float(parts[1]) * UNITS[parts[2].upper()]) if parts else 0
    if size < 1:
        raise InvalidParameter(Sentence("{text!r} is not a size", text=text), remedy="write e.g. 500M or 2G")
    return size


def memory() -> int | None:
    """The bytes that an engine may take, as the environment says; nothing if it leaves that to the engine."""
    text = os.environ.get(MEMORY)
    size = parse_size(text) if text else None
    if size is not None and size < LEAST_MEMORY:
        raise InvalidParameter(
            Sentence("{text!r} is too little memory for an engine", text=text),
            remedy=Sentence("give at least {least}M", least=LEAST_MEMORY >> 20),
        )
    return size


def taken_memory() -> int:
    """The bytes of this process that are in no file; elsewhere than on Linux the most that it has had; 0 where nothing tells."""
    try:
        told = re.search(r"^RssAnon:\s*(\d+) kB", STATUS.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        told = None
    if told:
        return int(told[1]) << 10
    if sys.platform == "win32":
        return 0
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def watch_memory(leave: Callable[[], None]) -> Callable[[], None]:
    """Have ``leave`` called once this process takes more than the environment allows; returns what ends the watch.

    An engine moves rows to disk before; this is for everything else, which cannot. What the process has already and
    ``PROGRAM_MEMORY`` come on top. It is called in a thread of its own: whatever takes the memory need not hear of it.
    """
    allowed, ended = memory(), threading.Event()
    if allowed is not None and taken_memory():
        most = taken_memory() + allowed + PROGRAM_MEMORY

        def watch() -> None:
            while not ended.wait(WATCH_SECONDS):
                if taken_memory() > most:
                    leave()
                    return

        threading.Thread(target=watch, name="discreet-memory", daemon=True).start()
    return ended.set


def threads() -> int | None:
    """The threads of an engine, as the environment says; nothing if it leaves that to the engine."""
    text = os.environ.get(THREADS)
    if not text:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,3}", text):
        raise InvalidParameter(
            Sentence("{text!r} is no number of threads", text=text), remedy="give a whole number from 1 on"
        )
    return int(text)


def machine_memory() -> int:
    """The bytes that the machine has; where the system does not tell, what is taken for granted."""
    if sys.platform == "win32":
        return USUAL_MEMORY
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return USUAL_MEMORY


def check_columns(names: Sequence[str], source: str) -> None:
    """Raise if a table is too wide."""
    if len(names) > MAX_COLUMNS:
        raise UnreadableInput(
            Sentence(
                "{source} has {names:,} columns, more than {max_columns:,}",
                source=source,
                names=len(names),
                max_columns=MAX_COLUMNS,
            ),
            remedy="keep the columns that are needed",
        )


def check_counted(names: Sequence[str]) -> None:
    """Raise if too many columns are to be counted together."""
    if len(names) > MAX_COUNTED:
        raise InvalidParameter(
            Sentence(
                "{names:,} columns are to be counted together, more than {max_counted:,}",
                names=len(names),
                max_counted=MAX_COUNTED,
            ),
            remedy="name fewer quasi-identifiers and sensitive attributes",
        )


def check_spreadsheet(path: Path) -> None:
    """Raise if a spreadsheet unpacks to too much, or if its cells are too far apart; other files are left alone.

    The reader takes all cells between the first and the last one into memory: two filled cells are enough to end
    the process.
    """
    if not zipfile.is_zipfile(path):
        content = path.read_bytes()
        if content.startswith(MAGIC):
            try:
                _refuse_spread(path, cells_between(content))
            except ValueError:
                raise UnreadableInput(
                    Sentence("{name} could not be read as a spreadsheet", name=path.name),
                    remedy="check that the file is complete and not protected by a password",
                ) from None
        return
    unpacked = 0
    try:
        with zipfile.ZipFile(path) as book:
            for part in book.infolist():
                extent = _Extent()
                with book.open(part) as stream:
                    for tags in _whole_tags(iter(lambda: stream.read(CHUNK), b"")):
                        unpacked += len(tags)
                        check_unpacked(path, unpacked)
                        extent.add(tags)
                _refuse_spread(path, extent.cells)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, ValueError, zlib.error):
        # Damaged or locked: the reader says so in its own way.
        return


def _refuse_spread(path: Path, cells: int) -> None:
    """Raise if so many cells lie between the first and the last one of a sheet."""
    if cells > MAX_CELLS:
        raise UnreadableInput(
            Sentence(
                "the cells of {name} are spread over more than {max_cells:,}",
                name=path.name,
                max_cells=MAX_CELLS,
            ),
            remedy="remove what stands far away from the table, or save it as CSV",
        )


class _Extent:
    """How far the cells of one part of a spreadsheet reach, as its tags say it: whatever the part is called."""

    def __init__(self) -> None:
        self._rows = self._columns = 1
        self._rows_seen = self._cells_seen = 0
        self._repeated = {b"rows": 1, b"columns": 1}
        self._sheet = False

    @property
    def cells(self) -> int:
        """So many lie between the first and the last one at least."""
        own = self._rows * self._columns if self._sheet else 1
        return max(own, self._repeated[b"rows"] * self._repeated[b"columns"])

    def add(self, tags: bytes) -> None:
        """Some more of the part, in which no tag is cut in two."""
        self._sheet |= b"sheetData" in tags
        for kind, times in REPEATED.findall(tags):
            self._repeated[kind] = max(self._repeated[kind], _number(times))
        for place in set(PLACE.findall(tags)):
            letters, digits = place
            # Longer ones wrap around in the reader; outside of tags they are text.
            if (len(letters) <= 3 and len(digits) <= 7) or re.search(
                TAG_AT % re.escape(letters + digits), tags
            ):
                self._rows = max(self._rows, _number(digits))
                self._columns = max(self._columns, _column(letters) if len(letters) <= 3 else MAX_CELLS + 1)
        # Who does not say where it stands, stands behind the one before.
        for number, row in enumerate(ROW.split(tags)):
            if number:
                self._rows_seen, self._cells_seen = self._rows_seen + 1, 0
            self._cells_seen += len(BARE_CELL.findall(row))
            self._columns = max(self._columns, self._cells_seen)
        self._rows = max(self._rows, self._rows_seen)


def _number(digits: bytes) -> int:
    """The number that digits stand for, or more than any limit."""
    return int(digits) if len(digits) <= 10 else MAX_CELLS + 1


def _whole_tags(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, divided before a tag begins."""
    rest = b""
    for chunk in chunks:
        held = rest + chunk
        cut = held.rfind(b"<")
        if cut < 0 or (len(held) - cut > LONGEST_TAG and not PLACED.match(held, cut)):
            # Longer than any other tag: it is text, or no text at all.
            cut = len(held)
        yield held[:cut]
        rest = held[cut:]
    yield rest


def _column(letters: bytes) -> int:
    """The number of a column.

    >>> _column(b"A"), _column(b"z"), _column(b"XFD")
    (1, 26, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
