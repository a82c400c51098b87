"""What an identifier encodes in place of the identifier: the year of birth in a national number, the country of a telephone number."""

from __future__ import annotations

import importlib
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InvalidParameter, MissingDependency, UnsuitableColumn
from discreet.perturb.base import Perturbation, need_choice, whole, without_marks
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.types import IntArray

Part = Callable[[str, "EncodedPart"], str | int | None]
"""What of one identifier is shown; nothing, where it cannot be read."""

NATIONAL_NUMBERS: Mapping[str, str] = {
    "be": "stdnum.be.nn",
    "bg": "stdnum.bg.egn",
    "cn": "stdnum.cn.ric",
    "cz": "stdnum.cz.rc",
    "dk": "stdnum.dk.cpr",
    "ee": "stdnum.ee.ik",
    "gr": "stdnum.gr.amka",
    "it": "stdnum.it.codicefiscale",
    "kr": "stdnum.kr.rrn",
    "mx": "stdnum.mx.curp",
    "no": "stdnum.no.fodselsnummer",
    "pl": "stdnum.pl.pesel",
    "ro": "stdnum.ro.cnp",
    "se": "stdnum.se.personnummer",
    "za": "stdnum.za.idnr",
}
"""Countries whose personal numbers tell the date of birth or the sex, with what reads them."""
_YEARS = "ABCDEFGHJKLMNPRSTVWXY123456789"
"""The model year in a VIN: A is 1980 or 2010, and so on for thirty years."""
_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{17}")
_REGIONS = {
    "A": "Africa",
    "J": "Asia",
    "S": "Europe",
    "1": "North America",
    "6": "Oceania",
    "8": "South America",
}
"""The part of the world where a car was made, by the first character of its VIN, from that character on."""


@dataclass(frozen=True)
class EncodedPart(Perturbation):
    """Identifiers become a ``part`` of what they encode; what cannot be read becomes missing.

    ``kind`` and its parts: ``vin`` (``year`` of the model, ``region`` of the maker, ``maker``: the first three characters, ``body``:
    the fourth to eighth, which describe model and body as the maker says), ``national-id`` of a ``country`` (``birth-year``, ``sex``),
    ``phone`` (``country``; ``country`` is the one to assume for numbers without a prefix), ``ip`` (``prefix`` of ``bits``: 16 of
    version 4, 32 of 6, unless told), ``email`` (``domain``). Give such a column the role of what the part is, mostly a quasi-identifier: a direct
    identifier would be left out. Model years follow North American rules: a letter at the seventh place says 2010 to 2039. ISO 3779 and
    49 CFR 565 (VIN); ITU-T E.164 (telephone).

    >>> rows = pa.table({"ip": ["192.168.7.9", "2001:db8:1::7", "home"], "mail": ["a@x.org", "b@Y.de", None]})
    >>> EncodedPart(("ip",), kind="ip", part="prefix").changed(rows, Randomness())["ip"].to_pylist()
    ['192.168.0.0/16', '2001:db8::/32', None]
    >>> EncodedPart(("mail",), kind="email", part="domain").changed(rows, Randomness())["mail"].to_pylist()
    ['x.org', 'y.de', None]
    """

    id: ClassVar[str] = "encoded-part"
    title: ClassVar[str] = "what an identifier encodes"
    says: ClassVar[str] = "Identifiers become a part of what they encode, such as a year or a country."
    keeps: ClassVar[str] = "every value is the part that the identifier encodes, or missing"
    source: ClassVar[str] = (
        "ISO 3779; 49 CFR 565; ITU-T E.164; metrics evaluation on car data, 2023, section 4.4"
    )
    random: ClassVar[bool] = False

    kind: str
    part: str
    country: str | None = None
    bits: int | None = None

    def check(self) -> None:
        need_choice(self.id, "kind", self.kind, tuple(PARTS))
        need_choice(self.id, "part", self.part, tuple(PARTS[self.kind]))
        if self.kind == "national-id":
            need_choice(self.id, "country", self.country, tuple(NATIONAL_NUMBERS))
        elif self.kind != "phone" and self.country is not None:
            raise InvalidParameter(
                Sentence("country of {step} says nothing of this kind", step=self.id), remedy="leave it out"
            )
        if self.bits is not None and (
            self.kind != "ip"
            or isinstance(self.bits, bool)
            or not isinstance(self.bits, int)
            or not 1 <= self.bits <= 128
        ):
            raise InvalidParameter(
                Sentence(
                    "bits of {step} must be a whole number from 1 to 128, for addresses only", step=self.id
                ),
                remedy="write for example 16",
            )

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        return {name: self._parts(rows, name) for name in self.columns}

    def _parts(self, rows: pa.Table, name: str) -> pa.Array:
        column = whole(rows[name])
        if pa.types.is_nested(column.type):
            raise UnsuitableColumn(
                Sentence(
                    "the column {name!r} holds lists, which {step} cannot change", name=name, step=self.id
                ),
                remedy="leave it out",
            )
        texts = without_marks(column.cast(pa.string())).dictionary_encode()
        read = PARTS[self.kind][self.part]
        parts = [read(text.strip(), self) for text in texts.dictionary.to_pylist()]
        kind = pa.int64() if any(isinstance(part, int) for part in parts) else pa.string()
        return pa.array(parts, kind).take(texts.indices)

    def shortfall(self, rows: pa.Table, new: Mapping[str, pa.Array]) -> str:
        unread = 0
        for name, values in new.items():
            given = without_marks(whole(rows[name]).cast(pa.string()))
            unread += int(pc.sum(pc.and_(given.is_valid(), values.is_null())).as_py() or 0)
        if not unread:
            return ""
        return Sentence(
            "{unread:,} values could not be read as what {step} expects ({kind}) and became missing",
            unread=unread,
            step=self.id,
            kind=self.kind,
        )

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            wanted = self._parts(before, name).take(pa.array(places)).cast(pa.string())
            shown = without_marks(whole(after[name]).cast(pa.string()))
            if not pc.fill_null(shown, "").equals(pc.fill_null(wanted, "")):
                return f"{name} shows values that the identifiers do not encode"
        return ""


def _vin(read: Callable[[str], str | int | None]) -> Part:
    def part(text: str, step: EncodedPart) -> str | int | None:
        number = text.upper().replace(" ", "").replace("-", "")
        return read(number) if _VIN.fullmatch(number) else None

    return part


def _model_year(vin: str) -> int | None:
    """The model year: thirty years by the tenth character, and which thirty by the seventh.

    >>> _model_year("1HGCM82633A004352"), _model_year("5YJ3E1EA7KF317000")
    (2003, 2019)
    """
    place = _YEARS.find(vin[9])
    if place < 0:
        return None
    return 1980 + place + (30 if vin[6].isalpha() else 0)


def _region(vin: str) -> str:
    """Where a car was made.

    >>> _region("WVWZZZ1JZXW000001"), _region("1HGCM82633A004352")
    ('Europe', 'North America')
    """
    order = "ABCDEFGHJKLMNPRSTUVWXYZ1234567890"
    begins = [letter for letter in _REGIONS if order.index(letter) <= order.index(vin[0])]
    return _REGIONS[max(begins, key=order.index)]


def _national(read: Callable[[ModuleType, str], str | int | None]) -> Part:
    def part(text: str, step: EncodedPart) -> str | int | None:
        reader = _needed(NATIONAL_NUMBERS[str(step.country)])
        try:
            return read(reader, reader.validate(text))
        except Exception as error:
            # Whatever is no such number: the library's errors have no common class but this one's base.
            if type(error).__module__.startswith("stdnum") or isinstance(error, ValueError):
                return None
            raise

    return part


def _birth_year(reader: ModuleType, number: str) -> int | None:
    day = reader.get_birth_date(number)
    return None if day is None else int(day.year)


def _sex(reader: ModuleType, number: str) -> str | None:
    told = str(reader.get_gender(number)).lower()
    return told[0] if told[:1] in ("f", "m") else None


def _phone_country(text: str, step: EncodedPart) -> str | None:
    phones = _needed("phonenumbers")
    try:
        parsed = phones.parse(text, None if step.country is None else step.country.upper())
    except phones.NumberParseException:
        return None
    region = phones.region_code_for_number(parsed) if phones.is_possible_number(parsed) else None
    return None if region is None else str(region)


def _prefix(text: str, step: EncodedPart) -> str | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    bits = step.bits or (16 if address.version == 4 else 32)
    return str(ipaddress.ip_network(f"{address}/{min(bits, address.max_prefixlen)}", strict=False))


def _domain(text: str, step: EncodedPart) -> str | None:
    name, _, domain = text.rpartition("@")
    return domain.lower() if name and "." in domain else None


def _needed(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependency(
            "reading what identifiers encode needs further packages",
            remedy='pip install "discreet[identifiers]"',
        ) from None


PARTS: Mapping[str, Mapping[str, Part]] = {
    "vin": {
        "year": _vin(_model_year),
        "region": _vin(_region),
        "maker": _vin(lambda vin: vin[:3]),
        "body": _vin(lambda vin: vin[3:8]),
    },
    "national-id": {"birth-year": _national(_birth_year), "sex": _national(_sex)},
    "phone": {"country": _phone_country},
    "ip": {"prefix": _prefix},
    "email": {"domain": _domain},
}
"""For each kind of identifier the parts that can be told."""
