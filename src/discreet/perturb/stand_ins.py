"""Realistic stand-ins for identifiers: other names, addresses and codes of the same kind, the same one for the same value."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import UnsuitableColumn
from discreet.perturb.base import Perturbation, need_choice, whole, without_marks
from discreet.perturb.permuted import keyed_number, permuted_code
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.types import IntArray

Names = Mapping[str, Any]
"""The names of a language: of ``given``, ``family``, ``street`` and ``town`` a list each, and how an ``address`` is written."""
Maker = Callable[["_Draws", Names], str]
StandInKind = Literal["name", "given-name", "family-name", "address", "town", "email", "code"]
NameLocale = Literal["en", "de", "fr", "es"]
LOCALES: tuple[NameLocale, ...] = get_args(NameLocale)
HOUSES = 120
"""House numbers go up to this."""
DOMAINS = ["example.com", "example.net", "example.org"]
"""Domains that are nobody's (RFC 2606)."""
SUFFIXES = 10_000
"""Numbers behind the name in an address of mail."""


@dataclass(frozen=True)
class StandIns(Perturbation):
    """Identifiers become realistic ones of the same ``kind``, the same value always the same one, by a secret key.

    ``kind``: ``name`` (given and family name, in the order of the original, which a comma tells), ``given-name``, ``family-name``,
    ``address`` (street and house), ``town``, each in the ``locale`` ``en``, ``de``, ``fr`` or ``es``; ``email`` (at domains that are nobody's,
    RFC 2606); ``code``: digits become digits and letters letters, in the same places, different codes different ones. Two names may
    become the same, as two people may bear one. Whoever has the column keeps what follows from equal values: which rows belong together, and
    how often each value occurs, so a frequent name stays the frequent one. The key is forgotten, or follows from ``--perturb-seed``: the same seed
    gives the same stand-ins in every table. Give such a column the role ``insensitive``: a direct identifier would be left out.

    >>> rows = pa.table({"who": ["Ann Lee", "LEE, ANN", "Bo Day", None], "plate": ["AB 123", "AB 124", "AB 123", "X 1"]})
    >>> StandIns(("who",), kind="name").changed(rows, Randomness(7))["who"].to_pylist()
    ['Philip Mills', 'MILLS, PHILIP', 'Kevin Wells', None]
    >>> StandIns(("plate",), kind="code").changed(rows, Randomness(7))["plate"].to_pylist()
    ['CT 463', 'NF 338', 'CT 463', 'K 3']
    """

    id: ClassVar[str] = "stand-ins"
    title: ClassVar[str] = "realistic stand-ins for identifiers"
    says: ClassVar[str] = "Names, addresses and codes become others of the same kind, equal ones the same."
    keeps: ClassVar[str] = "equal values have equal stand-ins, and no name keeps its own"
    source: ClassVar[str] = (
        "Metrics evaluation on car data, 2023, section 4.4; Black and Rogaway, Ciphers with arbitrary finite domains, 2002"
    )

    kind: StandInKind
    locale: NameLocale = "en"

    def check(self) -> None:
        need_choice(self.id, "kind", self.kind, get_args(StandInKind))
        need_choice(self.id, "locale", self.locale, LOCALES)

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        # By the kind, not the column: a person has one stand-in in all columns and tables that name people.
        key = randomness.secret(f"stand-ins {self.kind} {self.locale}")
        return {name: self._stand_ins(rows, name, key) for name in self.columns}

    def _stand_ins(self, rows: pa.Table, name: str, key: bytes) -> pa.Array:
        column = whole(rows[name])
        numbers = pa.types.is_integer(column.type) and self.kind == "code"
        if not numbers and not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
            raise UnsuitableColumn(
                Sentence(
                    "the column {name!r} does not hold texts, which {step} needs", name=name, step=self.id
                ),
                remedy="leave it out of this step; of whole numbers kind = code makes others",
            )
        texts = without_marks(column.cast(pa.string())).dictionary_encode()
        made = [self._stand_in(text, key) for text in texts.dictionary.to_pylist()]
        if None in made:
            raise UnsuitableColumn(
                Sentence(
                    "some values of {name!r} have no digits and letters, or others than {step} exchanges",
                    name=name,
                    step=self.id,
                ),
                remedy="take another kind of stand-ins, or leave the column out of the release",
            )
        try:
            return pa.array(made, pa.string()).cast(column.type).take(texts.indices)
        except pa.ArrowInvalid:
            raise UnsuitableColumn(
                Sentence(
                    "the type of the column {name!r} has no room for all numbers that {step} makes ({kind})",
                    name=name,
                    step=self.id,
                    kind=column.type,
                ),
                remedy="give the column a wider type, such as int64",
            ) from None

    def _stand_in(self, text: str, key: bytes) -> str | None:
        if self.kind == "code":
            return permuted_code(key, text)
        turned = self.kind == "name" and "," in text
        family, _, given = text.partition(",")
        true, names = _plain(f"{given} {family}" if turned else text), _names(self.locale)
        made, again = "", 0
        while not made or _plain(made) == true:
            made = MAKERS[self.kind](_Draws(key, true, again), names)
            again += 1
        if turned:
            # Given names here are one word.
            given, _, family = made.partition(" ")
            made = f"{family}, {given}"
        return made.upper() if text.isupper() else made.lower() if text.islower() else made

    def fits(self, texts: Iterable[str | None]) -> bool:
        """Whether all of some values could be stand-ins of this kind, so that they name nobody; of codes that cannot be told.

        >>> step = StandIns(("who",), kind="name", locale="de")
        >>> step.fits(["Lena Horn", "KOCH, JENS", None]), step.fits(["Lena Horn", "Ada Lovelace"])
        (True, False)
        """
        shape = _shape(self.kind, self.locale)
        return shape is not None and all(text is None or shape.fullmatch(text) for text in texts)

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            true = without_marks(whole(before[name]).cast(pa.string())).take(pa.array(places))
            shown = without_marks(whole(after[name]).cast(pa.string()))
            if not true.is_null().equals(shown.is_null()):
                return f"{name} has a stand-in for nothing, or nothing for a value"
            codes = [
                each.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
                for each in (true, shown)
            ]
            values = [int(each.max(initial=-1)) + 1 for each in codes]
            pairs = len(np.unique(codes[0].astype(np.int64) * (values[1] + 1) + codes[1]))
            if pairs != values[0] or (self.kind == "code" and pairs != values[1]):
                return f"{name} has one stand-in for different values, or different ones for one"
            if self.kind != "code" and pc.any(pc.equal(pc.utf8_lower(true), pc.utf8_lower(shown))).as_py():
                return f"{name} shows a name as it was"
        return ""


class _Draws:
    """Numbers that follow from one value by a key, one after the other."""

    def __init__(self, key: bytes, text: str, again: int) -> None:
        self._left = keyed_number(key, b"stand-in", f"{again} {text}".encode())

    def below(self, bound: int) -> int:
        self._left, drawn = divmod(self._left, bound)
        return drawn

    def pick(self, of: list[str]) -> str:
        return of[self.below(len(of))]


def _plain(text: str) -> str:
    """A text without case and repeated blanks: spellings of one name have one stand-in."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


@cache
def _shape(kind: str, locale: str) -> re.Pattern[str] | None:
    """What all stand-ins of a kind look like; nothing for codes."""
    names = _names(locale)
    exact = {
        part: f"({'|'.join(map(re.escape, names[part]))})" for part in ("given", "family", "street", "town")
    }
    plain = {part: f"({'|'.join(map(_letters, names[part]))})" for part in ("given", "family")}
    shapes = {
        "name": f"{exact['given']} {exact['family']}|{exact['family']}, {exact['given']}",
        "given-name": exact["given"],
        "family-name": exact["family"],
        "address": str(names["address"]).format(street=exact["street"], number=r"\d{1,3}"),
        "town": exact["town"],
        "email": rf"{plain['given']}\.{plain['family']}\d{{1,4}}@({'|'.join(map(re.escape, DOMAINS))})",
    }
    # As upper() writes it, ß is SS.
    return re.compile(shapes[kind].replace("ß", "(?:ß|SS)"), re.IGNORECASE) if kind in shapes else None


def _letters(name: str) -> str:
    """A name in the letters of an address of mail."""
    plain = unicodedata.normalize("NFKD", name.lower().replace("ß", "ss").replace(" ", ""))
    return plain.encode("ascii", "ignore").decode()


def _mail(draws: _Draws, names: Names) -> str:
    local = f"{_letters(draws.pick(names['given']))}.{_letters(draws.pick(names['family']))}"
    return f"{local}{draws.below(SUFFIXES)}@{draws.pick(DOMAINS)}"


def _address(draws: _Draws, names: Names) -> str:
    return str(names["address"]).format(street=draws.pick(names["street"]), number=1 + draws.below(HOUSES))


MAKERS: Mapping[str, Maker] = {
    "name": lambda draws, names: f"{draws.pick(names['given'])} {draws.pick(names['family'])}",
    "given-name": lambda draws, names: draws.pick(names["given"]),
    "family-name": lambda draws, names: draws.pick(names["family"]),
    "address": _address,
    "town": lambda draws, names: draws.pick(names["town"]),
    "email": _mail,
}
"""What makes a stand-in of each kind."""


@cache
def _names(locale: str) -> Names:
    """The names of a language."""
    text = resources.files("discreet.perturb").joinpath("names.toml").read_text(encoding="utf-8")
    names: Names = tomllib.loads(text)[locale]
    return names
