"""Recognise the kind of a column from its values: patterns, calendars and word lists.

Every reason speaks of counts and never shows a value.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parseaddr
from statistics import median
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from discreet.sentences import Sentence
from discreet.table.identifiers.lexicon import FIRST_NAMES, ORGANISATION_WORDS, SURNAMES, words
from discreet.table.identifiers.names import fold

MOST_TESTED: Final = 200
"""Distinct values that are tested at most: enough to judge a share, and it bounds the time per column."""

_MISSING: Final = frozenset(("", "?", "-", "na", "n/a", "nan", "nat", "<na>", "null", "none", "*"))
PLAIN_NUMBER: Final = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_LONGEST: Final = 2000
"""Signs of a value that are looked at: no kind needs more, and it bounds the time per value."""
_FLAGS: Final = words("yes no true false 0 1 y n ja nein j x t f")


@dataclass(frozen=True)
class ColumnSample:
    """The values of a column without the missing ones: as texts, and how many are dates or plain numbers."""

    texts: tuple[str, ...]
    distinct: tuple[str, ...]
    dates: int
    numeric: int

    @property
    def tested(self) -> tuple[str, ...]:
        """The distinct values that costly tests look at."""
        return self.distinct[:MOST_TESTED]

    @property
    def flags_only(self) -> bool:
        """Whether the column only says yes or no."""
        return bool(self.distinct) and all(value.lower() in _FLAGS for value in self.distinct)


class ContentMatch(NamedTuple):
    """A kind that the values of a column speak for; ``alone`` says whether that is enough without a name."""

    kind: str
    confidence: float
    reason: str
    alone: bool = True


def sample(values: Sequence[object]) -> ColumnSample:
    """What the values are, without the missing ones.

    >>> sample(["a", None, "a", 3.0, float("nan"), date(2020, 1, 31), "?"])
    ColumnSample(texts=('a', 'a', '3', '2020-01-31'), distinct=('a', '3', '2020-01-31'), dates=1, numeric=1)
    """
    texts: list[str] = []
    dates = numeric = 0
    for value in values:
        if value is None or (isinstance(value, float | datetime) and value != value):
            continue
        if isinstance(value, float) and math.isfinite(value) and value.is_integer():
            text = str(int(value))
        else:
            text = str(value).strip()[:_LONGEST]
        if text.lower() in _MISSING:
            continue
        texts.append(text)
        dates += isinstance(value, date)
        numeric += PLAIN_NUMBER.fullmatch(text) is not None
    return ColumnSample(tuple(texts), tuple(dict.fromkeys(texts)), dates, numeric)


_EMAIL: Final = re.compile(r"[^\s@<>()\",;:]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\.[A-Za-z]{2,}")
_UUID: Final = re.compile(r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?")
_DIGEST: Final = re.compile(
    r"(?=.*[a-fA-F])(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{128})"
)
_MAC: Final = re.compile(r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}")
_IMAGE: Final = re.compile(
    r"(?:data:image/.+|.+\.(?:jpe?g|png|gif|bmp|tiff?|heic|webp))", re.IGNORECASE | re.DOTALL
)
_PLATE: Final = re.compile(r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2}[- ]?[1-9]\d{0,3}[EH]?|[A-Z]{2}\d{2} ?[A-Z]{3}")
_COORDINATES: Final = re.compile(
    r"\(?-?\d{1,2}\.\d{3,}[,;] ?-?\d{1,3}\.\d{3,}\)?|POINT ?\(-?\d{1,3}\.\d+ -?\d{1,3}\.\d+\)", re.IGNORECASE
)
_POSTCODE: Final = re.compile(
    r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|\d{4} [A-Z]{2}|\d{5}-\d{4}|[A-Z]\d[A-Z] \d[A-Z]\d|(?:D|A|CH|DE|AT)-\d{4,5}"
)
_ICD_10: Final = re.compile(r"[A-TV-Z]\d[0-9AB](?:\.[0-9A-Z]{1,4}[*+!-]?)?")
_ICD_10_DOTTED: Final = re.compile(r"[A-TV-Z]\d[0-9AB]\.[0-9A-Z]{1,4}[*+!-]?")
_STREET: Final = re.compile(
    r"(?:.*(?:stra(?:ss|ß)e|str\.?|weg|platz|allee|gasse|ring|ufer|damm|steig|chaussee),? \d{1,3} ?[a-z]?\b.*)"
    r"|(?:\d{1,5}[a-z]?,? .*\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|way|close|place|pl|"
    r"terrace|square|sq|crescent|highway|hwy|parkway|pkwy)\b\.?.*)",
    re.IGNORECASE,
)
_SEX: Final = words(
    "m f w d male female man woman mann frau maennlich weiblich divers other unknown x u männlich diverse nonbinary"
)
_NEEDED_FOR_SEX: Final = (
    ("m", "f"),
    ("m", "w"),
    ("male", "female"),
    ("man", "woman"),
    ("mann", "frau"),
    ("maennlich", "weiblich"),
    ("männlich", "weiblich"),
)


def _email(value: str) -> bool:
    return "@" in value and len(value) <= 320 and _EMAIL.fullmatch(parseaddr(value)[1] or value) is not None


def _url(value: str) -> bool:
    if value.lower().startswith("www."):
        return "." in value[4:]
    if "://" not in value:
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme.lower() in ("http", "https", "ftp") and bool(parts.netloc)


def _ip(value: str) -> bool:
    if value.count(".") != 3 and value.count(":") < 2:
        return False
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


_MONTHS: Final = {
    name[:3]: number
    for number, names in enumerate(
        (
            "january januar", "february februar", "march maerz mrz märz", "april", "may mai", "june juni", "july juli",
            "august", "september", "october oktober", "november", "december dezember",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_CLOCK: Final = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?(?:Z| ?[+-]\d{2}:?\d{2})?)?"
_ISO: Final = re.compile(rf"(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}}){_CLOCK}")
_DAY_FIRST: Final = re.compile(rf"(\d{{1,2}})[-/.] ?(\d{{1,2}})[-/.] ?(\d{{4}}|\d{{2}}){_CLOCK}")
_WORDED: Final = re.compile(rf"(\d{{1,2}})\.?[ -]([^\W\d]{{3,9}})\.?,?[ -](\d{{4}}|\d{{2}}){_CLOCK}")
_MONTH_FIRST: Final = re.compile(rf"([^\W\d]{{3,9}})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}}){_CLOCK}")
_PACKED: Final = re.compile(r"((?:19|20)\d{2})(\d{2})(\d{2})")
_YEAR: Final = re.compile(r"(?:1[89]|20)\d{2}")
_YEAR_MONTH: Final = re.compile(
    r"(?:1[89]|20)\d{2}[-/.](?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])[/.](?:1[89]|20)\d{2}"
)


def _exists(year: str, month: int | str, day: str) -> bool:
    try:
        date(int(year) if len(year) == 4 else 2000 + int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def is_full_date(value: str) -> bool:
    """Whether a text is a date of the calendar with day, month and year.

    >>> [is_full_date(text) for text in ("2024-02-29", "29.02.2023", "12/31/1999", "3. März 1980", "2024", "1.5")]
    [True, False, True, True, False, False]
    """
    if (match := _ISO.fullmatch(value)) is not None:
        return _exists(match[1], match[2], match[3])
    if (match := _DAY_FIRST.fullmatch(value)) is not None:
        return _exists(match[3], match[2], match[1]) or _exists(match[3], match[1], match[2])
    if (match := _WORDED.fullmatch(value)) is not None:
        day, word, year = match.groups()
    elif (match := _MONTH_FIRST.fullmatch(value)) is not None:
        word, day, year = match.groups()
    else:
        return False
    month = _MONTHS.get(word[:3].lower())
    return month is not None and _exists(year, month, day)


def is_packed_date(value: str) -> bool:
    """Whether eight digits are a date, year first: 19991231."""
    match = _PACKED.fullmatch(value)
    return match is not None and _exists(*match.groups())


def is_year(value: str) -> bool:
    """Whether a text is a bare year of the 19th to the 21st century."""
    return _YEAR.fullmatch(value) is not None


@dataclass(frozen=True)
class _Pattern:
    """A test of single values, what passing it is called, and when a column of such values is recognised."""

    kind: str
    title: str
    test: Callable[[str], object]
    confidence: float
    share: float = 0.9
    least: int = 1
    alone: bool = True


_PATTERNS: Final = (
    _Pattern("email", "email addresses", _email, 0.97, share=0.5),
    _Pattern("url", "web addresses", _url, 0.9, share=0.6),
    _Pattern("ip-address", "IP addresses", _ip, 0.9),
    _Pattern("device-id", "MAC addresses", _MAC.fullmatch, 0.9, least=3),
    _Pattern("unique-id", "UUIDs", _UUID.fullmatch, 0.9, least=2),
    _Pattern("unique-id", "hash values", _DIGEST.fullmatch, 0.8, least=5),
    _Pattern("photo", "images or names of image files", _IMAGE.fullmatch, 0.7),
    _Pattern("date", "full dates", is_full_date, 0.95, share=0.8),
    _Pattern("date", "dates written as eight digits", is_packed_date, 0.6, share=0.99, least=10),
    _Pattern("date-part", "months of a year", _YEAR_MONTH.fullmatch, 0.7, least=3),
    _Pattern("coordinates", "pairs of coordinates", _COORDINATES.fullmatch, 0.9),
    _Pattern("street", "street addresses", _STREET.fullmatch, 0.85, share=0.7, least=3),
    _Pattern("licence-plate", "licence plates by their form", _PLATE.fullmatch, 0.6, least=10),
    _Pattern("postcode", "postcodes by their form", _POSTCODE.fullmatch, 0.75, least=5),
    _Pattern("diagnosis", "ICD-10 codes by their form", _ICD_10_DOTTED.fullmatch, 0.65, share=0.5, least=10),
    _Pattern("diagnosis", "ICD-10 codes by their form", _ICD_10.fullmatch, 0.6, share=0.95, alone=False),
    _Pattern("year", "bare years", is_year, 0.4, share=0.99, least=3, alone=False),
)


def match_content(column: ColumnSample) -> list[ContentMatch]:
    """The kinds that the values speak for, without checksums and telephone numbers, best first.

    >>> match_content(sample(["a.b@example.org", "c@example.com"]))[0].reason
    '2 of the 2 distinct values tested are email addresses'
    """
    values = column.tested
    if not values:
        return []
    matches = []
    if column.dates * 2 > len(column.texts):
        matches.append(
            ContentMatch(
                "date",
                0.98,
                Sentence(
                    "{dates} of {texts} sampled values are dates", dates=column.dates, texts=len(column.texts)
                ),
            )
        )
    for pattern in _PATTERNS:
        # a few values are enough to rule a pattern out
        probe = values[:10]
        if sum(bool(pattern.test(value)) for value in probe) < len(probe) * pattern.share * 0.5:
            continue
        hits = sum(bool(pattern.test(value)) for value in values)
        if hits >= pattern.least and hits >= len(values) * pattern.share:
            reason = Sentence(
                "{hits} of the {values} distinct values tested are {title}",
                hits=hits,
                values=len(values),
                title=Sentence(pattern.title),
            )
            matches.append(ContentMatch(pattern.kind, pattern.confidence, reason, pattern.alone))
    matches += [match for test in (_sex, _people, _free_text, _code) if (match := test(column)) is not None]
    return sorted(matches, key=lambda match: -match.confidence)


def _sex(column: ColumnSample) -> ContentMatch | None:
    if len(column.distinct) > 5:
        return None
    values = {value.lower() for value in column.distinct}
    if values <= _SEX and any(set(pair) <= values for pair in _NEEDED_FOR_SEX):
        return ContentMatch("sex", 0.75, "all sampled values are usual marks for sex or gender")
    return None


_TITLES: Final = words("mr mrs ms miss dr prof herr frau sir")
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*\.?")


def _people(column: ColumnSample) -> ContentMatch | None:
    """People's names: by common first names and surnames, titles, and the form "Surname, First name"."""
    values = column.tested
    if len(values) < 5 or sum(any(map(str.isdigit, value)) for value in values) > 0.1 * len(values):
        return None
    single = known = organisations = 0
    for value in values:
        parts = [fold(word).lower().rstrip(".") for word in _WORD.findall(value)]
        if not parts or len(parts) > 6:
            continue
        organisations += not ORGANISATION_WORDS.isdisjoint(parts)
        # "Anna-Maria" is known by either half
        simple = [half for part in parts for half in part.split("-")]
        if len(parts) == 1:
            single += 1
            known += simple[0] in FIRST_NAMES or simple[0] in SURNAMES
        else:
            known += not FIRST_NAMES.isdisjoint(simple) or parts[0] in _TITLES
    if organisations > 0.1 * len(values):
        return None
    # one word alone is often a place or a trade, so that more of them must be known
    least = 0.5 if single > 0.5 * len(values) else 0.3
    if known < least * len(values) or (least == 0.5 and len(values) < 10):
        return None
    reason = Sentence(
        "{known} of the {values} distinct values tested contain a common first name, surname or title",
        known=known,
        values=len(values),
    )
    return ContentMatch("name", min(0.95, 0.5 + 0.5 * known / len(values)), reason)


def _free_text(column: ColumnSample) -> ContentMatch | None:
    """Long texts that hardly repeat."""
    if len(column.distinct) < 3 or len(column.distinct) < 0.5 * len(column.texts):
        return None
    length = median(value.count(" ") + 1 for value in column.tested)
    if length < 8:
        return None
    return ContentMatch(
        "free-text",
        0.85,
        Sentence(
            "the values are texts of typically {length:.0f} words: such text may contain anything",
            length=length,
        ),
    )


def _code(column: ColumnSample) -> ContentMatch | None:
    """Codes of letters and digits of which each occurs once."""
    values = column.distinct
    if len(values) < 20 or len(values) < len(column.texts):
        return None
    coded = sum(
        5 <= len(value) <= 40
        and value.isascii()
        and " " not in value
        and "." not in value
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        for value in values[:MOST_TESTED]
    )
    tested = min(len(values), MOST_TESTED)
    if coded < 0.95 * tested:
        return None
    return ContentMatch(
        "unique-id",
        0.5,
        Sentence("all {values} sampled values differ and look like codes", values=len(values)),
    )
