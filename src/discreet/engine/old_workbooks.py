"""How far the cells of an old Excel workbook (.xls) reach, told from its bytes before a reader takes them in.

Such a file is a compound file: streams in sectors, of which tables say what comes after what. The stream of the workbook is
a row of records; those of cells begin with a row and a column, for which any two bytes can stand.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
STREAMS = ("Workbook", "Book")
SECTOR_SHIFTS = {9: 512, 12: 4096}
SMALL_SECTOR = 64
LAST_SECTOR = 0xFFFFFFF0
"""Numbers from here on are no sectors."""
HEADER_SECTORS = 109
"""So many parts of the table of sectors are named at the beginning of the file."""
ENTRY = 128
ROOT = 5
SHEET = 0x0085
MANY_CELLS = 0x00BD
EXTENT = 0x0200
# fmt: off
CELLS = frozenset([
    0x0001, 0x0002, 0x0003, 0x0004, 0x0005, 0x0006, 0x00D6, 0x00FD, 0x0201,
    0x0203, 0x0204, 0x0205, 0x0206, 0x027E, 0x0406, 0x00BE, MANY_CELLS,
])
# fmt: on


def cells_between(content: bytes) -> int:
    """The cells from the first row and column to the last that a workbook names; ``ValueError`` if it is none.

    All sheets count as one, which holds 17 million cells at most unless somebody made it up.
    """
    try:
        return max((_extent(stream) for stream in _Compound(content).workbooks()), default=0)
    except (struct.error, IndexError):
        raise ValueError("the compound file is damaged") from None


def _extent(stream: bytes) -> int:
    """The same, of one stream of records; sheets begin where the stream says."""
    rows = columns = claimed = 0
    seen: set[int] = set()
    starts = [0]
    while starts:
        at = starts.pop()
        while at not in seen and at + 4 <= len(stream):
            seen.add(at)
            kind, length = struct.unpack_from("<HH", stream, at)
            record = stream[at + 4 : at + 4 + length]
            if kind == SHEET and length >= 4:
                starts.append(struct.unpack_from("<I", record)[0])
            elif kind == EXTENT and length >= 14:
                low, high, left, right = struct.unpack_from("<IIHH", record)
                claimed = max(claimed, (high - low + 1) * (right - left + 1))
            elif kind in CELLS and len(record) >= 4:
                row, column = struct.unpack_from("<HH", record)
                # Records of several cells have six bytes for each.
                wide = len(record) // 6 if kind == MANY_CELLS else 0
                rows, columns = max(rows, row + 1), max(columns, column + 1 + wide)
            at += 4 + length
    return max(rows * columns, claimed)


@dataclass(frozen=True)
class _Compound:
    """A compound file in memory."""

    content: bytes

    def _number(self, at: int) -> int:
        return int(struct.unpack_from("<I", self.content, at)[0])

    @cached_property
    def _size(self) -> int:
        (shift,) = struct.unpack_from("<H", self.content, 30)
        if not self.content.startswith(MAGIC) or shift not in SECTOR_SHIFTS:
            raise ValueError("it is no compound file")
        return SECTOR_SHIFTS[shift]

    def _sector(self, number: int) -> bytes:
        return self.content[(number + 1) * self._size : (number + 2) * self._size]

    @cached_property
    def _next(self) -> tuple[int, ...]:
        """The sector that follows each."""
        parts = [self._number(76 + 4 * i) for i in range(HEADER_SECTORS)]
        more, seen = self._number(68), set[int]()
        while more < LAST_SECTOR and more not in seen:
            seen.add(more)
            numbers = _numbers(self._sector(more))
            parts += numbers[:-1]
            more = numbers[-1]
        return tuple(
            number for part in parts if part < LAST_SECTOR for number in _numbers(self._sector(part))
        )

    def _chain(self, start: int) -> bytes:
        return b"".join(map(self._sector, _followed(start, self._next)))

    def workbooks(self) -> list[bytes]:
        """The streams that hold a workbook."""
        entries = self._chain(self._number(48))
        least, streams, small = self._number(56), [], b""
        for at in range(0, len(entries) - ENTRY + 1, ENTRY):
            (length,) = struct.unpack_from("<H", entries, at + 64)
            name = entries[at : at + min(max(length - 2, 0), 64)].decode("utf-16-le", "replace")
            start, size = struct.unpack_from("<II", entries, at + 116)
            if entries[at + 66] == ROOT:
                small = self._chain(start)
            elif name in STREAMS and size >= least:
                streams.append(self._chain(start)[:size])
            elif name in STREAMS:
                following = _numbers(self._chain(self._number(60)))
                places = (number * SMALL_SECTOR for number in _followed(start, following))
                streams.append(b"".join(small[place : place + SMALL_SECTOR] for place in places)[:size])
        return streams


def _followed(start: int, following: tuple[int, ...]) -> list[int]:
    """The numbers of sectors from one on, in their order."""
    chain: dict[int, None] = {}
    while start < LAST_SECTOR and start not in chain:
        chain[start] = None
        start = following[start]
    return list(chain)


def _numbers(sector: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(sector) // 4}I", sector[: len(sector) // 4 * 4])
