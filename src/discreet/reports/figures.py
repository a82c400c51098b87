"""What a report shows of numbers: as one edition may tell them, and as pictures with all that replaces them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.measure import Measure, RecordRisk
from discreet.release.audit import Audit
from discreet.release.verdict import Criterion
from discreet.reports.charts.svg import shortened
from discreet.reports.words import about, in_percent, number, percent, several, title_of, unit_of
from discreet.risk.scorr import LOW, MEDIUM
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.risk.titles import GRADED
from discreet.sentences import Sentence

Row = dict[str, Any]
"""A row of a table: its cells by the names that templates call them, in reports and on the page alike."""

VALUES_OF_DATA = frozenset({"k-e-anonymity"})
"""Measures whose number is a difference of two cell values: not for the public."""
MOST_SENSITIVE = 6
LONGEST_LABEL = 60
RISK_SCALE = (
    "Ring: mean over all records. Diamond: the worst-placed record, which decides. Uniqueness is how rare a record "
    "is, uniformity how surely it points to one person, correlation how surely it gives away a sensitive value."
)
"""How to read the picture of the graded risks."""


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
        """A count with its noun."""
        if self.few(count):
            return Sentence(f"fewer than {{count}} {plural or noun + 's'}", count=SMALL_GROUP)
        return several(count, noun, plural)

    def share(self, share: float) -> str:
        """A share of all records."""
        if self.few(round(share * self.total, 6)):
            return Sentence("less than {share:.1%}", share=min(1.0, SMALL_GROUP / self.total))
        if self.few(round((1.0 - share) * self.total, 6)):
            return Sentence("more than {share:.1%}", share=max(0.0, 1.0 - SMALL_GROUP / self.total))
        return percent(share)

    def measured(self, measure: Measure) -> str:
        """The value of a measure, without its unit."""
        if self.public and measure.name in VALUES_OF_DATA:
            return "withheld"
        if measure.unit in ("records", "persons") and self.few(measure.value):
            return Sentence("fewer than {count}", count=SMALL_GROUP)
        if measure.unit.startswith("share of records") and measure.name in ("sample-uniques", "share-above"):
            return self.share(measure.value)
        return percent(measure.value) if in_percent(measure) else number(measure.value)

    def unit(self, measure: Measure) -> str:
        """The unit that belongs to the printed value."""
        printed = self.measured(measure)
        if printed == "withheld":
            return ""
        return measure.unit if printed.startswith("fewer") else unit_of(measure)

    def finding(self, criterion: Criterion) -> str:
        """What was found for a criterion."""
        if not self.public or criterion.value is None:
            return criterion.found
        if criterion.id in VALUES_OF_DATA:
            return "withheld"
        if criterion.id == "k-anonymity" and self.few(criterion.value):
            return self.count(int(criterion.value), "person" if "person" in criterion.found else "record")
        return criterion.found

    def remedy(self, criterion: Criterion) -> str:
        """What to do about a criterion that does not hold."""
        failing = criterion.failing_records or 0
        if criterion.remedy and (self.few(failing) or self.few(self.total - failing)):
            return "generalise the quasi-identifiers or suppress the records that fail"
        return criterion.remedy


def figures_of(before: int, after: int, *, few: int, public: bool) -> tuple[Figures, Figures]:
    """Numbers about the rows of a table before and after a change that took ``few`` of them away.

    Bounds such as 11 of all records would betray how many there were; where only a few are gone, the public
    edition reckons with those that are left.
    """
    old, new = Figures(max(before, 1), public=public), Figures(max(after, 1), public=public)
    return new if new.few(few) else old, new


@dataclass(frozen=True)
class Picture:
    """A drawing with everything that replaces it for whoever cannot see it.

    ``takeaway`` is one sentence computed from the data; ``alternative`` describes the drawing;
    ``columns`` and ``rows`` hold its numbers; ``source`` says where the drawn measure is defined.
    """

    id: str
    title: str
    takeaway: str
    alternative: str
    explanation: str
    svg: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    source: str
    note: str = ""


BROAD = 470
"""A drawing of more pixels does not stand beside another one: its letters would be smaller than 12."""


def broad(svg: str) -> bool:
    """Whether a drawing would become too small beside another one.

    >>> broad('<svg viewBox="0 0 700 90">'), broad('<svg viewBox="0 0 400 90">')
    (True, False)
    """
    wide = re.search(r'viewBox="0 0 (\d+)', svg)
    return wide is not None and int(wide[1]) > BROAD


@dataclass(frozen=True)
class RowGroup:
    """Rows of a table under a heading of their own."""

    title: str
    rows: tuple[Row, ...]


def zones(audit: Audit) -> tuple[float, float]:
    """Where low and medium risk end: by the profile, or by the paper where the profile says nothing."""
    extended = audit.verdict.profile.extended
    return (extended.low, extended.medium) if extended else (LOW, MEDIUM)


def extended_risks(audit: Audit) -> list[RecordRisk]:
    """The three risks for the whole quasi-identifier: uniqueness, uniformity, then the worst correlation first."""
    risks = [risk for risk in audit.risks if risk.attribute is None and risk.name in GRADED]
    order = list(GRADED)
    return sorted(risks, key=lambda risk: (order.index(risk.name), -risk.max, -risk.mean))


def risk_name(risk: RecordRisk) -> str:
    """A risk with the sensitive attribute that it speaks of."""
    return about(title_of(risk.name), risk.sensitive)


def brief(name: str) -> str:
    """The name of a risk where there is little room."""
    if isinstance(name, Sentence) and name.parameters.get("title") == GRADED["correlation"]:
        return Sentence("Corr. {attribute}", attribute=name.parameters["attribute"])
    return name


def drawn_share(share: float, figures: Figures) -> float:
    """A share as long as a bar may show it: of a few people only the bound that is also written."""
    bound = min(1.0, SMALL_GROUP / figures.total)
    if figures.few(round(share * figures.total, 6)):
        return bound
    return 1.0 - bound if figures.few(round((1.0 - share) * figures.total, 6)) else share


def partly(shown: int, total: int, what: str) -> str:
    """What a picture leaves out, if it does."""
    return (
        Sentence(
            "The picture shows the {shown} {what} of {total:,}.",
            shown=shown,
            what=Sentence(what),
            total=total,
        )
        if shown < total
        else ""
    )


def short_label(label: str) -> str:
    """A value that fits into a cell."""
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def involved(pairs: Iterable[tuple[int, int]], most: int) -> list[int]:
    """The first so many attributes that occur in pairs, in the order of the table."""
    return sorted(list(dict.fromkeys(at for pair in pairs for at in pair))[:most])


def joined(names: Sequence[str]) -> Sentence:
    """Several names on one line of a drawing."""
    short = shortened(names, (36 - 3 * (len(names) - 1)) // len(names))
    return Sentence("{names: + }", names=tuple(short.values()))
