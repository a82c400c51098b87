"""The wording that report, notebook and terminal share: titles, symbols, and numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from discreet import privacy, risk
from discreet.measure import Measure, Wording
from discreet.release.verdict import Criterion, Decision, Verdict
from discreet.risk import Category, category
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.table.roles import Role

Edition = Literal["internal", "public"]
Tone = Literal["good", "warn", "bad"]

SYMBOLS: dict[Tone, str] = {"good": "✓", "warn": "!", "bad": "✕"}
"""A mark beside every judgement, so that nothing hangs on colour alone."""

DECISION_TONES: dict[Decision, Tone] = {
    "release": "good",
    "release-with-acknowledged-risk": "warn",
    "do-not-release": "bad",
}
CATEGORY_TONES: dict[Category, Tone] = {"low": "good", "medium": "warn", "high": "bad"}

INFINITE = (
    "infinite: no finite number satisfies the definition for this table, so there is no protection by it"
)
UNDEFINED = "undefined: the definition does not apply to this table"


MEASURES: Mapping[str, Wording] = {**privacy.WORDING, **risk.WORDING}
"""Title and meaning of everything that an audit measures, as models and risks have them."""

ROLES: dict[Role, str] = {
    "direct-identifier": "names a person by itself and has to go",
    "quasi-identifier": "may be known to an intruder and names people together with others",
    "sensitive": "what nobody should learn about a person",
    "person-id": "says which rows belong to the same person",
    "weight": "how many people of the population a record stands for",
    "insensitive": "not examined in this audit",
}

GENERAL = frozenset(risk.WORDING)
"""Measures whose meaning is the same whatever their value."""

VALUES_OF_DATA = frozenset({"k-e-anonymity"})
"""Measures whose number is a difference of two cell values: not for the public."""


def title_of(name: str) -> str:
    """The printed name of a measure or risk.

    >>> title_of("beta-likeness"), title_of("prosecutor"), title_of("expected re-identifications")
    ('β-likeness', 'Prosecutor', 'Expected re-identifications')
    """
    if name in MEASURES:
        return MEASURES[name].title
    if name in risk.TITLES:
        return risk.TITLES[name]
    text = name if " " in name else name.replace("-", " ")
    return text[:1].upper() + text[1:]


def number(value: float) -> str:
    """A number with four significant digits and thousands separators; infinity as a word.

    >>> number(0.99975), number(3999.0), number(float("inf")), number(0.9999999999999998), number(1e-7)
    ('0.9998', '3,999', 'infinite', '1', '1e-07')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "infinite" if value > 0 else "−infinite"
    short = float(f"{value:.4g}")
    if abs(value) >= 1000:
        return f"{round(value):,}"
    return f"{short:g}".replace("-", "−", 1) if value <= -1e-4 else f"{short:g}"


def percent(share: float) -> str:
    """A share as a percentage that never rounds something to nothing or a part to the whole.

    >>> percent(0.5), percent(0.0), percent(0.00001), percent(0.99999), percent(1.0)
    ('50.0%', '0%', 'under 0.1%', 'over 99.9%', '100%')
    """
    if share <= 0.0:
        return "0%"
    if share >= 1.0:
        return "100%"
    if share < 0.0005:
        return "under 0.1%"
    return "over 99.9%" if share >= 0.9995 else f"{share:.1%}"


def several(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun.

    >>> several(1, "record"), several(4000, "record"), several(2, "class", "classes")
    ('1 record', '4,000 records', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def day(when: date) -> str:
    """A date as it is written in prose.

    >>> day(date(2025, 4, 2))
    '2 April 2025'
    """
    return f"{when.day} {when:%B %Y}"


def listed(names: tuple[str, ...] | list[str]) -> str:
    """Names in a row.

    >>> listed(["age", "sex", "zip"]), listed(["age"])
    ('age, sex and zip', 'age')
    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


@dataclass(frozen=True)
class Figures:
    """Numbers for one edition: the public one gives no count of a few people, nor a share that betrays it.

    >>> inside, outside = Figures(4000), Figures(4000, public=True)
    >>> inside.count(3, "record"), outside.count(3, "record"), outside.count(0, "record")
    ('3 records', 'fewer than 11 records', '0 records')
    >>> inside.share(3 / 4000), outside.share(3 / 4000), outside.share(3997 / 4000), outside.share(0.25)
    ('0.1%', 'less than 0.3%', 'more than 99.7%', '25.0%')
    """

    total: int
    public: bool = False

    def few(self, count: float) -> bool:
        """Whether a count is too small to be told."""
        return self.public and 0 < count < SMALL_GROUP

    def count(self, count: int, noun: str, plural: str = "") -> str:
        if self.few(count):
            return f"fewer than {SMALL_GROUP} {plural or noun + 's'}"
        return several(count, noun, plural)

    def share(self, share: float) -> str:
        """A share of all records."""
        if self.few(round(share * self.total, 6)):
            return f"less than {min(1.0, SMALL_GROUP / self.total):.1%}"
        if self.few(round((1.0 - share) * self.total, 6)):
            return f"more than {max(0.0, 1.0 - SMALL_GROUP / self.total):.1%}"
        return percent(share)

    def measured(self, measure: Measure) -> str:
        """The value of a measure, without its unit."""
        if self.public and measure.name in VALUES_OF_DATA:
            return "withheld"
        if measure.unit in ("records", "persons") and self.few(measure.value):
            return f"fewer than {SMALL_GROUP}"
        if measure.unit.startswith("share of records") and measure.name in ("sample-uniques", "share-above"):
            return self.share(measure.value)
        return percent(measure.value) if in_percent(measure) else number(measure.value)

    def unit(self, measure: Measure) -> str:
        """The unit that belongs to the printed value."""
        printed = self.measured(measure)
        if printed == "withheld":
            return ""
        return measure.unit if printed.startswith("fewer") else unit_of(measure)

    def found(self, criterion: Criterion) -> str:
        """What was found for a criterion."""
        if not self.public or criterion.value is None:
            return criterion.found
        if criterion.id in VALUES_OF_DATA:
            return "withheld"
        if criterion.id == "k-anonymity" and self.few(criterion.value):
            unit = "persons" if "person" in criterion.found else "records"
            return f"fewer than {SMALL_GROUP} {unit}"
        return criterion.found

    def remedy(self, criterion: Criterion) -> str:
        """What to do about a criterion that does not hold."""
        failing = criterion.failing_records or 0
        if criterion.remedy and (self.few(failing) or self.few(self.total - failing)):
            return "generalise the quasi-identifiers or suppress the records that fail"
        return criterion.remedy


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


def bound(criterion: Criterion) -> str:
    """What a failed criterion would have needed, with its direction: the side the value is not on."""
    if criterion.threshold is None or criterion.value is None:
        return ""
    if criterion.value == criterion.threshold:
        return f"better than {number(criterion.threshold)}"
    return (
        f"{'at least' if criterion.value < criterion.threshold else 'at most'} {number(criterion.threshold)}"
    )


def compliance(verdict: Verdict) -> str:
    """Conventional compliance as a sentence.

    The extended risks grade a table; every other criterion says whether it complies.
    """
    conventional = conventional_criteria(verdict)
    failed = sum(not criterion.holds for criterion in conventional)
    if not conventional:
        return "This profile asks for nothing beyond the extended risks."
    if not failed:
        few = {1: "The one conventional criterion holds.", 2: "Both conventional criteria hold."}
        return few.get(len(conventional), f"All {len(conventional)} conventional criteria hold.")
    if failed == len(conventional) > 1:
        return f"None of the {failed} conventional criteria holds."
    return f"{failed} of {several(len(conventional), 'conventional criterion', 'conventional criteria')} " + (
        "does not hold." if failed == 1 else "do not hold."
    )


def conventional_criteria(verdict: Verdict) -> list[Criterion]:
    """The criteria that decide compliance: all but the extended risks."""
    graded = risk.GRADED if verdict.profile.extended else ()
    return [criterion for criterion in verdict.criteria if criterion.id not in graded]


def acknowledged(verdict: Verdict) -> list[str]:
    """The risks that remain to be acknowledged where a table may be released on that condition."""
    extended = verdict.profile.extended
    if verdict.decision != "release-with-acknowledged-risk" or extended is None:
        return []
    conventional = {id(criterion) for criterion in conventional_criteria(verdict)}
    return [
        f"{one.id} risk {one.found}"
        for one in verdict.criteria
        if id(one) not in conventional
        and one.value is not None
        and category(one.value, low=extended.low, medium=extended.medium) == "medium"
    ]


def grade(verdict: Verdict) -> str:
    """The extended category as a sentence."""
    extended = verdict.profile.extended
    if verdict.category is None or extended is None:
        return "This profile does not grade the extended risks."
    bounds = {
        "low": f"at most {extended.low:g}",
        "medium": f"above {extended.low:g} and at most {extended.medium:g}",
        "high": f"above {extended.medium:g}",
    }
    return (
        "The largest uniqueness, uniformity or correlation risk of any record is "
        f"{verdict.category} ({bounds[verdict.category]})."
    )


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
