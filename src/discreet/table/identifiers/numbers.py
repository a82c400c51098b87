"""Numbers that carry a checksum, and telephone numbers.

Most checks come from python-stdnum and phonenumbers (the extra ``identifiers``). A number of random digits
passes a checksum now and then (Luhn: one in ten), so each check states that probability, and a column counts
only if its share of valid values cannot be chance.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import comb
from types import ModuleType
from typing import Final

Validator = Callable[[str], bool]


@dataclass(frozen=True)
class Check:
    """A kind of number: what it looks like, how it is verified, and how often chance passes."""

    kind: str
    title: str
    shape: re.Pattern[str]
    chance: float
    module: str | None = None
    validator: Validator | None = None
    region: str = ""
    checksum: bool = True


@dataclass(frozen=True)
class Verified:
    """How many of the tested values passed a check."""

    kind: str
    title: str
    valid: int
    tested: int
    chance: float
    region: str = ""
    checksum: bool = True

    @property
    def share(self) -> float:
        """Valid values as a share of those tested."""
        return self.valid / self.tested if self.tested else 0.0

    @property
    def by_chance(self) -> float:
        """Probability that at least so many of so many random values are valid: a binomial tail.

        >>> round(Verified("iban", "IBANs", 2, 2, 0.1).by_chance, 6)
        0.01
        """
        return sum(
            comb(self.tested, k) * self.chance**k * (1 - self.chance) ** (self.tested - k)
            for k in range(self.valid, self.tested + 1)
        )


def missing_extras() -> tuple[str, ...]:
    """The optional packages that are not installed, without which fewer numbers are recognised by content."""
    packages = {"stdnum": "python-stdnum", "phonenumbers": "phonenumbers"}
    return tuple(title for module, title in packages.items() if not _installed(module))


def verify(values: Sequence[str]) -> list[Verified]:
    """Every checksummed kind of number of which at least half of the values are valid ones.

    Validators are the costly part: a kind is left as soon as the shape or the first values speak against it.

    >>> [(verified.kind, verified.valid) for verified in verify(["1M8GDM9AXKP042788", "11111111111111111"])]
    [('vin', 2)]
    """
    if not values:
        return []
    verified = []
    probe = values[:20]
    for check in CHECKS:
        if sum(check.shape.fullmatch(value) is not None for value in probe) * 2 < len(probe):
            continue
        validator = _validator(check)
        if validator is None:
            continue
        probed = [check.shape.fullmatch(value) is not None and validator(value) for value in probe]
        if sum(probed) * 2 < len(probe):
            continue
        rest = [check.shape.fullmatch(value) is not None and validator(value) for value in values[20:]]
        valid = sum(probed) + sum(rest)
        verified.append(
            Verified(check.kind, check.title, valid, len(values), check.chance, check.region, check.checksum)
        )
    return verified


_PHONE_SHAPE: Final = re.compile(r"(?:\+|00)?[\d(][\d ()/.\-]{5,22}\d(?: ?(?:x|ext\.?) ?\d{1,5})?")
_PHONE_REGIONS: Final = ("DE", "US", "GB")


def looks_like_phone(value: str) -> bool:
    """Whether a text has the outer form of a telephone number.

    >>> looks_like_phone("+49 851 5090"), looks_like_phone("0851/509-0"), looks_like_phone("12.50")
    (True, True, False)
    """
    return _PHONE_SHAPE.fullmatch(value) is not None and 7 <= sum(map(str.isdigit, value)) <= 15


def verify_phones(values: Sequence[str], *, region: str | None, named: bool) -> Verified:
    """How many values are telephone numbers.

    Bare digits count only if the name of the column speaks of a telephone; otherwise a number must begin like
    an international one or be grouped like a national one of the ``region``.
    """
    candidates = [
        value for value in values if looks_like_phone(value) and (named or _written_as_phone(value, region))
    ]
    phonenumbers = _module("phonenumbers")
    if phonenumbers is None:
        return Verified("phone", "telephone numbers", len(candidates), len(values), 0.2, checksum=False)
    regions = ((region,) if region else ()) + (_PHONE_REGIONS if named else ())
    valid = sum(_valid_phone(phonenumbers, value, regions) for value in candidates)
    return Verified("phone", "telephone numbers", valid, len(values), 0.3, checksum=False)


def _written_as_phone(value: str, region: str | None) -> bool:
    if value.startswith("+"):
        return True
    grouped = value.startswith("0") or "(" in value or "-" in value
    dated = re.fullmatch(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}", value)
    return region is not None and grouped and not dated


def _valid_phone(phonenumbers: ModuleType, value: str, regions: Sequence[str]) -> bool:
    international = value.startswith("+")
    for region in (None,) if international else (*regions,):
        try:
            number = phonenumbers.parse(value, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return True
    return False


def _luhn(digits: str) -> bool:
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + position % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def _payment_card(value: str) -> bool:
    """Luhn's checksum and a prefix that issuers use (ISO/IEC 7812)."""
    digits = re.sub(r"[ -]", "", value)
    return digits[0] in "23456" and len(set(digits)) > 2 and _luhn(digits)


def _imei(value: str) -> bool:
    digits = re.sub(r"[ -]", "", value)
    return digits[0] != "0" and len(set(digits)) > 2 and _luhn(digits)


_VIN_VALUES: Final = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ", (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, *range(2, 10)), strict=True)
)
_VIN_WEIGHTS: Final = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def _vin(value: str) -> bool:
    """The check digit in ninth place (49 CFR 565.15): weighted sum modulo 11, ten written as X."""
    total = sum(
        weight * (int(sign) if sign.isdigit() else _VIN_VALUES[sign])
        for sign, weight in zip(value.upper(), _VIN_WEIGHTS, strict=True)
    )
    return value[8].upper() == "0123456789X"[total % 11]


def _digit_sum_10(digits: str, weights: Sequence[int]) -> int:
    return (
        sum(sum(divmod(int(digit) * weight, 10)) for digit, weight in zip(digits, weights, strict=True)) % 10
    )


def _kvnr(value: str) -> bool:
    """German health insurance number (section 290 SGB V): letter as two digits, weights 1 and 2, digit sums."""
    digits = f"{ord(value[0].upper()) - 64:02d}{value[1:9]}"
    return _digit_sum_10(digits, (1, 2) * 5) == int(value[9])


def _german_pension(value: str) -> bool:
    """German pension insurance number: area, birth date, letter, serial number, check digit (VKVV)."""
    compact = value.replace(" ", "").upper()
    letter = f"{ord(compact[8]) - 64:02d}"
    digits = compact[:8] + letter + compact[9:11]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    month = int(compact[4:6])
    return 1 <= month <= 12 and _digit_sum_10(digits, weights) == int(compact[11])


def _stdnum(kind: str, title: str, shape: str, module: str, chance: float, *, checksum: bool = True) -> Check:
    # Modules of one country lie in a package of its code: gb.nhs, in_.aadhaar.
    region = module.partition(".")[0].strip("_").upper() if "." in module else ""
    form = re.compile(shape, re.ASCII)
    return Check(kind, title, form, chance, f"stdnum.{module}", region=region, checksum=checksum)


def _own(kind: str, title: str, shape: str, validator: Validator, chance: float, region: str = "") -> Check:
    return Check(kind, title, re.compile(shape, re.ASCII), chance, validator=validator, region=region)


CHECKS: Final = (
    _stdnum("iban", "IBANs", r"[A-Za-z]{2}\d{2}[ A-Za-z0-9]{10,38}", "iban", 1 / 97),
    _own("vin", "vehicle identification numbers", r"[A-HJ-NPR-Za-hj-npr-z0-9]{17}", _vin, 1 / 11),
    _own(
        "account-number",
        "payment card numbers",
        r"\d{13,19}|\d{4}(?:[ -]\d{4}){3}|\d{4}[ -]\d{6}[ -]\d{5}",
        _payment_card,
        0.1,
    ),
    _own("device-id", "IMEI numbers", r"\d{15}|\d{2}[ -]\d{6}[ -]\d{6}[ -]\d", _imei, 0.1),
    _own("health-plan-number", "German health insurance numbers", r"[A-Za-z]\d{9}", _kvnr, 0.1, "DE"),
    _own(
        "ssn",
        "German pension insurance numbers",
        r"\d{2} ?\d{6} ?[A-Za-z] ?\d{3}",
        _german_pension,
        0.01,
        "DE",
    ),
    _stdnum("health-plan-number", "NHS numbers", r"\d{3}[ -]?\d{3}[ -]?\d{4}", "gb.nhs", 1 / 11),
    _stdnum("ssn", "US social security numbers", r"\d{3}-\d{2}-\d{4}", "us.ssn", 0.2, checksum=False),
    _stdnum(
        "ssn",
        "French social security numbers",
        r"[12][ .]?\d\d[ .]?\d\d[ .]?[\dABab]{2}(?:[ .]?\d{3}){2}[ .]?\d\d",
        "fr.nir",
        1 / 97,
    ),
    _stdnum("ssn", "Austrian social insurance numbers", r"\d{4} ?\d{6}", "at.vnr", 1 / 11),
    _stdnum("ssn", "Swiss social insurance numbers", r"756\.?\d{4}\.?\d{4}\.?\d{2}", "ch.ssn", 0.1),
    _stdnum(
        "national-id", "German tax identification numbers", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", "de.idnr", 0.1
    ),
    _stdnum("national-id", "Spanish identity numbers", r"\d{8}-?[A-Za-z]", "es.dni", 1 / 23),
    _stdnum(
        "national-id",
        "Spanish identity numbers of foreigners",
        r"[XYZxyz]-?\d{7}-?[A-Za-z]",
        "es.nie",
        1 / 23,
    ),
    _stdnum("national-id", "Italian tax codes", r"[A-Za-z]{6}[0-9A-Za-z]{10}", "it.codicefiscale", 0.01),
    _stdnum("national-id", "Dutch citizen service numbers", r"\d{9}|\d{4}\.\d{2}\.\d{3}", "nl.bsn", 1 / 11),
    _stdnum("national-id", "Polish PESEL numbers", r"\d{11}", "pl.pesel", 0.04),
    _stdnum(
        "national-id",
        "Swedish personal identity numbers",
        r"(?:\d{2})?\d{6}[-+]?\d{4}",
        "se.personnummer",
        0.01,
    ),
    _stdnum(
        "national-id", "Belgian national numbers", r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}[.-]?\d{2}", "be.nn", 0.02
    ),
    _stdnum(
        "national-id",
        "Danish personal identification numbers",
        r"\d{6}-?\d{4}",
        "dk.cpr",
        0.05,
        checksum=False,
    ),
    _stdnum("national-id", "Norwegian birth numbers", r"\d{6} ?\d{5}", "no.fodselsnummer", 0.01),
    _stdnum(
        "national-id",
        "Finnish personal identity codes",
        r"\d{6}[-+A-FU-Ya-fu-y]\d{3}[0-9A-Ya-y]",
        "fi.hetu",
        0.03,
    ),
    _stdnum("national-id", "Canadian social insurance numbers", r"\d{3}[ -]?\d{3}[ -]?\d{3}", "ca.sin", 0.1),
    _stdnum("national-id", "Brazilian taxpayer numbers", r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}", "br.cpf", 0.01),
    _stdnum("national-id", "Indian Aadhaar numbers", r"\d{4} ?\d{4} ?\d{4}", "in_.aadhaar", 0.1),
)
"""Every check; those without a module are verified by the code above.

US and recent Danish numbers have no check digit: only their ranges and, in Denmark, the date can be verified.
"""


def _validator(check: Check) -> Validator | None:
    if check.validator is not None:
        return check.validator
    module = _module(check.module) if check.module is not None else None
    if module is None:
        return None
    validator: Validator = module.is_valid
    return validator


def _installed(package: str) -> bool:
    return find_spec(package) is not None


def _module(name: str) -> ModuleType | None:
    """The module of an optional package, or nothing where the package is not installed."""
    return _imported(name) if _installed(name.partition(".")[0]) else None


@cache
def _imported(name: str) -> ModuleType:
    return importlib.import_module(name)
