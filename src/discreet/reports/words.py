"""The wording that report, notebook and terminal share: titles, symbols, and numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Literal

from discreet import privacy
from discreet.measure import Measure, Wording
from discreet.risk import titles
from discreet.risk.scorr import Category
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.sentences import Sentence
from discreet.table.roles import Role

Edition = Literal["internal", "public"]
Tone = Literal["good", "warn", "bad"]

SYMBOLS: dict[Tone, str] = {"good": "✓", "warn": "!", "bad": "✕"}
"""A mark beside every judgement, so that nothing hangs on colour alone."""

CATEGORY_TONES: dict[Category, Tone] = {"low": "good", "medium": "warn", "high": "bad"}

INFINITE = (
    "infinite: no finite number satisfies the definition for this table, so there is no protection by it"
)
INEXACT = 1e-12
"""So much sums of shares are off: a share that is as near to nothing, or to the whole, is that."""
UNDEFINED = "undefined: the definition does not apply to this table"


MEASURES: Mapping[str, Wording] = {**privacy.WORDING, **titles.WORDING}
"""Title and meaning of everything that an audit measures, as models and risks have them."""

ROLES: dict[Role, str] = {
    "direct-identifier": "names a person by itself and has to go",
    "quasi-identifier": "may be known to an intruder and names people together with others",
    "sensitive": "what nobody should learn about a person",
    "person-id": "says which rows belong to the same person",
    "guarding-node": "what each person wants to have guarded; is never released",
    "weight": "how many people of the population a record stands for",
    "insensitive": "not examined in this audit",
}

GENERAL = frozenset(titles.WORDING)
"""Measures whose meaning is the same whatever their value."""


def title_of(name: str) -> str:
    """The printed name of a measure or risk.

    >>> title_of("beta-likeness"), title_of("prosecutor"), title_of("expected re-identifications")
    ('β-likeness', 'Prosecutor', 'Expected re-identifications')
    """
    if name in MEASURES:
        return MEASURES[name].title
    if name in titles.TITLES:
        return titles.TITLES[name]
    text = name if " " in name else name.replace("-", " ")
    return text[:1].upper() + text[1:]


def says_of(name: str) -> str:
    """What a measure says in general; nothing where only its value can tell."""
    return MEASURES[name].says if name in MEASURES else ""


def heading(attribute: str | None) -> str:
    """The heading of the measures of one sensitive attribute, or of the whole table."""
    return (
        "Who could be recognised"
        if attribute is None
        else Sentence("What could be learnt: {attribute}", attribute=attribute)
    )


def safer(measure: Measure) -> str:
    """Which direction of a measure protects people."""
    return "lower is safer" if measure.better == "lower" else "higher is safer"


def number(value: float) -> Sentence:
    """A number with four significant digits and thousands separators; infinity as a word.

    >>> number(0.99975), number(3999.0), number(float("inf")), number(0.9999999999999998), number(1e-7)
    ('0.9998', '3,999', 'infinite', '1', '1e-07')
    """
    if math.isnan(value):
        return Sentence("undefined")
    if math.isinf(value):
        return Sentence("infinite") if value > 0 else Sentence("−infinite")
    short = float(f"{value:.4g}")
    if abs(value) >= 1000:
        return Sentence("{value:,}", value=round(value))
    return Sentence("−{value:g}", value=-short) if value <= -1e-4 else Sentence("{value:g}", value=short)


def percent(share: float) -> Sentence:
    """A share as a percentage that never rounds something to nothing or a part to the whole, but for how floats add up.

    >>> percent(0.5), percent(0.0), percent(0.00001), percent(0.99999), percent(1.0)
    ('50.0%', '0%', 'under 0.1%', 'over 99.9%', '100%')
    >>> percent(sum([0.1] * 10)), percent(0.3 - 0.1 * 3), percent(math.nan)
    ('100%', '0%', 'undefined')
    """
    if math.isnan(share):
        return number(share)
    if not INEXACT < share < 1.0 - INEXACT:
        return Sentence("{share:.0%}", share=round(min(max(share, 0.0), 1.0)))
    if share < 0.0005:
        return Sentence("under {share:.1%}", share=0.001)
    if share >= 0.9995:
        return Sentence("over {share:.1%}", share=0.999)
    return Sentence("{share:.1%}", share=share)


def several(count: int, noun: str, plural: str = "") -> Sentence:
    """A count with its noun.

    >>> several(1, "record"), several(4000, "record"), several(2, "class", "classes")
    ('1 record', '4,000 records', '2 classes')
    """
    return Sentence(f"{{count:,}} {noun if count == 1 else plural or noun + 's'}", count=count)


MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def day(when: date) -> Sentence:
    """A date as it is written in prose.

    >>> day(date(2025, 4, 2))
    '2 April 2025'
    """
    return Sentence(
        "{day} {month} {year}", day=when.day, month=Sentence(MONTHS[when.month - 1]), year=when.year
    )


def moment(when: datetime) -> Sentence:
    """A date with its time."""
    return Sentence("{day}, {time}", day=day(when), time=f"{when:%H:%M %Z}".strip())


def amount(value: float) -> str:
    """A number of people, which may be an expected one.

    >>> amount(1200.0), amount(0.25)
    ('1,200', '0.2')
    """
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-6 else f"{value:,.1f}"


def fingerprint(sha256: str | None) -> str:
    """The hash of what was read."""
    return sha256 or "not a file: the rows came from memory"


def became(was: str, now: str) -> Sentence:
    """What something was, and what it is now.

    >>> became("3", percent(0.5))
    '3 → 50.0%'
    """
    return Sentence("{was} → {now}", was=was, now=now)


def between(low: str, high: str) -> Sentence:
    """An interval by its ends."""
    return Sentence("{low} to {high}", low=low, high=high)


def with_unit(value: str, unit: str) -> str:
    """A printed value and its unit, where it has one."""
    return Sentence("{value} {unit}", value=value, unit=Sentence(unit)) if unit else value


def about(title: str, attribute: str | None) -> str:
    """A title with the attribute that it is about, if any.

    >>> about("Correlation", "illness"), about("Uniqueness", None)
    ('Correlation: illness', 'Uniqueness')
    """
    return (
        Sentence("{title}: {attribute}", title=Sentence(title), attribute=attribute) if attribute else title
    )


def listed(names: Sequence[str]) -> Sentence:
    """Names in a row.

    >>> listed(["age", "sex", "zip"]), listed(["age"])
    ('age, sex and zip', 'age')
    """
    return Sentence("{names:and}", names=tuple(names))


def in_percent(measure: Measure) -> bool:
    """Whether a measure is a share or a probability, and so best read as a percentage."""
    return measure.unit == "probability" or measure.unit.startswith("share of")


def unit_of(measure: Measure) -> str:
    """The unit beside a printed value: singular where it is one, none beside a percentage.

    >>> unit_of(Measure("k-anonymity", 1.0, "records", "higher", "…", "…"))
    'record'
    """
    if in_percent(measure):
        return ""
    countable = measure.unit in ("records", "persons", "distinct values", "distinct categories")
    return measure.unit.removesuffix("s") if countable and measure.value == 1 else measure.unit


LEFT_OUT_OF_TABLES = (
    Sentence(
        "counts of people or records below {small_group}, and shares that would betray such a count; "
        "ranges of class sizes that hold only a few people are merged",
        small_group=SMALL_GROUP,
    ),
    "numbers in the unit of a sensitive column",
)
"""What the public editions of audits and releases leave out besides values."""

LIMITS: tuple[tuple[str, str], ...] = (
    (
        "No attack was run.",
        "The numbers are computed from the table; nobody tried to find a person in it or to link it to "
        "another source.",
    ),
    (
        "Nothing is said about other tables.",
        "A further table about the same people, published before or later, can reveal what this one hides.",
    ),
    (
        "The quasi-identifiers are taken as given.",
        "An intruder is assumed to know the columns that have this role, correctly and for everyone, and "
        "none of the others. If another column can be known, the risk is higher than stated.",
    ),
    (
        "A model holds for what it is defined for.",
        "Classes that are large or diverse enough do not rule out that someone learns something by other "
        "means, from free text, images or columns that were not examined.",
    ),
    (
        "The audit speaks of the file that was read.",
        "A changed file, further rows or other rounding need an audit of their own.",
    ),
)
"""What an audit does not say."""
