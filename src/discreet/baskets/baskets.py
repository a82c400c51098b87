"""Baskets as sets of items, and how they are read."""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.arrays import distinct
from discreet.errors import EmptyTable, InvalidParameter, UnreadableInput
from discreet.files.reading import check_regular, unpacked
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.types import BoolArray, Int32Array, IntArray


@dataclass(frozen=True)
class Baskets:
    """Sets of items: basket ``i`` holds ``codes[starts[i]:starts[i + 1]]``, numbers in ``items`` that ascend.

    >>> baskets = Baskets.of([["milk", "bread"], ["beer"], ["bread", "milk", "milk"]])
    >>> baskets.items, len(baskets), baskets.support()
    (('beer', 'bread', 'milk'), 3, array([1, 2, 2]))
    """

    items: tuple[str, ...] = field(repr=False)
    starts: IntArray = field(repr=False)
    codes: Int32Array = field(repr=False)
    files: tuple[Path, ...] = field(default=(), repr=False, compare=False)
    """What they were read from, which no release replaces."""

    @classmethod
    def of(cls, lists: Iterable[Iterable[str]]) -> Baskets:
        """From lists of items; an item that is named twice in a basket is in it once."""
        known: dict[str, int] = {}
        numbered = [{known.setdefault(item, len(known)) for item in items} for items in lists]
        starts = np.cumsum([0, *map(len, numbered)], dtype=np.int64)
        codes = np.fromiter((code for basket in numbered for code in basket), np.int32, int(starts[-1]))
        return cls._ordered(tuple(known), starts, codes)

    @classmethod
    def of_rows(cls, table: Table, basket: str, item: str) -> Baskets:
        """From a table with a row for each item: what it belongs to, and which it is. Rows without one of them are refused."""
        table.column(basket)
        table.column(item)
        rows = table.engine.to_arrow(table, [basket, item])
        for name in (basket, item):
            if rows.column(name).null_count:
                raise InvalidParameter(
                    Sentence("column {name!r} has rows without a value", name=name),
                    remedy="leave them out, or say what is missing",
                )
        owners = rows.column(basket).combine_chunks().dictionary_encode().indices.to_numpy()
        encoded = rows.column(item).cast(pa.string()).combine_chunks().dictionary_encode()
        pairs = distinct(
            owners.astype(np.int64) * len(encoded.dictionary) + encoded.indices.to_numpy(zero_copy_only=False)
        )
        owner, code = np.divmod(pairs, len(encoded.dictionary))
        starts = np.concatenate([[0], np.cumsum(np.bincount(owner))]).astype(np.int64)
        counted = cls._ordered(tuple(encoded.dictionary.to_pylist()), starts, code.astype(np.int32))
        return replace(counted, files=table.source.files)

    @classmethod
    def read(cls, path: str | PathLike[str], *, separator: str = ",", encoding: str = "utf-8") -> Baskets:
        """From a text file with a basket on each line, its items apart by ``separator``; quotes as in CSV, ``.gz`` too.

        Spaces around items are no part of them. Lines without an item are no baskets.
        """
        file = Path(path)
        check_regular(file)
        need_separator(separator)
        try:
            content = unpacked(file) if file.suffix == ".gz" else file.read_bytes()
            # Windows begins files with a mark of the order of bytes.
            text = content.decode(encoding).removeprefix("\ufeff")
            lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
        except (UnicodeDecodeError, LookupError):
            raise UnreadableInput(
                Sentence("{name} is no text in {encoding}", name=file.name, encoding=encoding),
                remedy="name its encoding, or write it as UTF-8",
            ) from None
        except (OSError, EOFError, zlib.error, csv.Error) as error:
            why = type(error).__name__
            raise UnreadableInput(
                Sentence("the baskets in {name} could not be read ({why})", name=file.name, why=why),
                remedy="write one basket per line, items apart by commas, in quotes where they hold one",
            ) from None
        baskets = [items for line in lines if (items := [item.strip() for item in line if item.strip()])]
        if not baskets:
            raise EmptyTable(Sentence("{name} holds no baskets", name=file.name), remedy="check the file")
        return replace(cls.of(baskets), files=(file.absolute(),))

    @classmethod
    def _ordered(cls, items: tuple[str, ...], starts: IntArray, codes: Int32Array) -> Baskets:
        """With items in the order of their names, and each basket's codes ascending."""
        names = np.array(items, dtype=object)
        order = np.argsort(names) if len(names) else np.zeros(0, dtype=np.int64)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        renamed = place[codes]
        return cls(tuple(names[order]), starts, renamed[np.lexsort((renamed, owner))])

    def __repr__(self) -> str:
        return f"Baskets({len(self):,} baskets of {len(self.items):,} items)"

    # ── shape ─────────────────────────────────────────────────────────────────────────────────────

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> IntArray:
        """How many items each basket holds."""
        return np.diff(self.starts)

    def lengths(self, most: int) -> range:
        """How many items of a basket may be known, 1 to ``most``, as far as any basket holds so many.

        >>> list(Baskets.of([["a", "b"], ["a"]]).lengths(10**12))
        [1, 2]
        """
        return range(1, min(most, int(self.sizes.max(initial=0))) + 1)

    @property
    def owners(self) -> IntArray:
        """The basket of each occurrence of an item."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def support(self) -> IntArray:
        """How many baskets hold each item."""
        return np.bincount(self.codes, minlength=len(self.items))

    def lists(self) -> Iterator[list[str]]:
        """Each basket with the names of its items."""
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield [self.items[code] for code in self.codes[start:stop]]

    def alike(self, size: int) -> tuple[IntArray, Int32Array]:
        """The baskets that hold ``size`` items, and a row of codes for each of them."""
        rows = np.flatnonzero(self.sizes == size)
        return rows, self.codes[self.starts[rows][:, None] + np.arange(size)]

    # ── other baskets ─────────────────────────────────────────────────────────────────────────────

    def take(self, rows: IntArray) -> Baskets:
        """Some of the baskets, in the order of ``rows``."""
        sizes = self.sizes[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.repeat(self.starts[rows] - starts[:-1], sizes) + np.arange(starts[-1])
        return replace(self, starts=starts, codes=self.codes[places])

    def without(self, gone: BoolArray) -> Baskets:
        """Without some occurrences of items; a basket may be left with none."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.owners[~gone], minlength=len(self)))])
        return replace(self, starts=starts.astype(np.int64), codes=self.codes[~gone])

    def recoded(self, nodes: Int32Array, labels: tuple[str, ...]) -> Baskets:
        """With ``labels[nodes[item]]`` for each item; what becomes the same stands in a basket once."""
        pairs = distinct(self.owners * len(labels) + nodes[self.codes])
        owner, code = np.divmod(pairs, len(labels))
        starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(self)))])
        return Baskets(labels, starts.astype(np.int64), code.astype(np.int32))

    def shown(self) -> Baskets:
        """The baskets that hold something, in the order of what they hold: nothing is told by where one stands."""
        rows = [np.zeros(0, dtype=np.int64)]
        for size in np.unique(self.sizes[self.sizes > 0]):
            alike, codes = self.alike(int(size))
            rows.append(alike[np.lexsort(codes.T[::-1])])
        some = self.take(np.concatenate(rows))
        used = np.bincount(some.codes, minlength=len(self.items)) > 0
        place = np.cumsum(used, dtype=np.int32) - 1
        items = tuple(item for item, there in zip(self.items, used, strict=True) if there)
        return Baskets(items, some.starts, place[some.codes].astype(np.int32))

    def drawn(self, members: Mapping[str, tuple[str, ...]], seed: int = 1) -> Baskets:
        """Baskets that a reader would draw from labels: of the members of each label one item, all as likely."""
        sizes = np.array([len(members[label]) for label in self.items], dtype=np.int64)
        first = np.cumsum(sizes) - sizes
        picks = np.random.default_rng(seed).random(len(self.codes)) * sizes[self.codes]
        items = tuple(item for label in self.items for item in members[label])
        return self._ordered(
            items, self.starts, (first[self.codes] + picks.astype(np.int64)).astype(np.int32)
        )


def need_separator(given: str) -> None:
    """Refuse what cannot stand between items."""
    if len(given) != 1 or given in '"\r\n':
        raise InvalidParameter("a separator is one character", remedy="name one, such as , or ; or |")
