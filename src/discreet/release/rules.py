"""Rules of profiles that speak of columns and values rather than of classes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from discreet.policy import Policy
from discreet.policy.examination import naming_people, refining, singling_out, unknown
from discreet.risk.unexamined import SHARE, TOGETHER
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.identifiers import Finding

SMALL_ZIP3 = frozenset(
    f"{area:03d}"
    for area in (36, 59, 63, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893)
)
"""Three-digit ZIP areas of 20,000 people or fewer (2000 Census; HHS guidance of 2012, question 2.1)."""

OLD = 90
OPEN_AGES = re.compile(
    r"\d\s*(\+|<=?|or\s+(more|older|over|above)|and\s+(more|older|over|above|up)|und\s+(mehr|älter))"
    r"|(>=?|≥|over|above|über|ab)\s*\d",
    re.IGNORECASE,
)
"""How an age group without an upper end is written: ``90+``, ``>= 85``, ``55<=``, ``80 and older``."""

Findings = Callable[[], Mapping[str, Finding]]
"""What the columns of a table were recognised as, looked for when a rule first asks."""

HIPAA_SOURCE = "45 CFR 164.514(b)(2)(i)"


@dataclass(frozen=True)
class RuleResult:
    """Whether a rule holds, what was found, and what to do."""

    id: str
    description: str
    holds: bool
    found: str
    remedy: str
    source: str
    columns: tuple[str, ...] = ()


def no_direct_identifiers(table: Table, policy: Policy, findings: Findings) -> RuleResult:
    """No column that names a person by itself may be in a release, nor texts that name people, whatever their role."""
    present = tuple(name for name in policy.direct_identifiers if name in table.names)
    guards = tuple(name for name in policy.guards if name in table.names)
    naming = naming_people(table, policy, findings)
    told: list[str] = []
    if present:
        noun = "direct identifier" if len(present) == 1 else "direct identifiers"
        told.append(Sentence(f"{{count}} {noun}: {{columns}}", count=len(present), columns=present))
    if guards:
        told.append(Sentence("what people guard: {columns}", columns=guards))
    told += [
        Sentence("{name} looks like: {title}", name=name, title=Sentence(title))
        for name, title in naming.items()
    ]
    columns = (*present, *guards, *naming)
    return RuleResult(
        id="no-direct-identifiers",
        description="no column identifies a person by itself",
        holds=not columns,
        found=Sentence("{told:; }", told=told) if told else "no direct identifiers",
        remedy=Sentence("remove {columns}", columns=columns) if columns else "",
        source="General Data Protection Regulation, recital 26; Aufschläger et al. 2023, section 4.1",
        columns=columns,
    )


def nothing_unexamined(table: Table, policy: Policy, findings: Findings) -> RuleResult:
    """No column that nobody judged may single people out, alone or with two others, nor all of them at once.

    Nor may one tell what a quasi-identifier no longer shows.
    """
    told = refining(table, policy)
    culprits = singling_out(table.without(told), policy)
    names = (*told, *(culprit.column for culprit in culprits))
    descriptions: list[str] = [
        Sentence("{column}: {why}", column=name, why=why) for name, why in told.items()
    ]
    descriptions += [culprit.describe() for culprit in culprits]
    return RuleResult(
        id="nothing-unexamined",
        description=Sentence(
            "no column that nobody judged singles out more than {share:.0%} of the records, alone, with "
            "{together} others, or with all of its kind, or tells what a quasi-identifier no longer shows",
            share=SHARE,
            together=TOGETHER - 1,
        ),
        holds=not names,
        found=Sentence("{told:; }", told=descriptions) if names else "no such column",
        remedy=Sentence(
            "round, group or remove {columns}, or make it a quasi-identifier"
            if len(names) == 1
            else "round, group or remove {columns}, or make them quasi-identifiers",
            columns=names,
        )
        if names
        else "",
        source="Article 29 Working Party, Opinion 05/2014 (WP216), section 2.2: singling out; Motwani & Xu 2007; "
        "weights that tell strata: de Waal & Willenborg 1997",
        columns=names,
    )


def known_columns(table: Table, policy: Policy, findings: Findings) -> RuleResult | None:
    """What becomes of columns that the policy does not know: ``None`` where it knows them all."""
    names = unknown(table, policy)
    if not names:
        return None
    offending = names
    if policy.unknown == "keep":
        offending = ()
    elif policy.unknown == "examine":
        recognised = findings()
        offending = tuple(
            name for name in names if name in recognised and recognised[name].kind.role == "direct-identifier"
        )
    return RuleResult(
        id="known-columns",
        description="the policy says what every column is",
        holds=not offending,
        found=Sentence("no role: {offending}", offending=", ".join(offending or names)),
        remedy=Sentence(
            f"give {{columns}} a role in the policy, remove {'it' if len(offending) == 1 else 'them'}, or say there what "
            'becomes of columns that it does not know: unknown = "drop" or "keep"',
            columns=offending,
        )
        if offending
        else "",
        source="the policy's setting for columns that it does not know",
        columns=offending,
    )


def hipaa_identifiers(table: Table, policy: Policy, findings: Findings) -> RuleResult:
    """None of the 18 identifiers of the Safe Harbor method may be in a release.

    Three-digit postcodes and years are allowed by the rule itself; ``hipaa-zip3`` and ``hipaa-ages`` look
    at those.
    """
    recognised = []
    for name, finding in findings().items():
        if finding.kind.hipaa is None or _allowed_by_safe_harbor(table, name, finding):
            continue
        recognised.append((name, finding))
    listed = [
        Sentence("{name} ({kind})", name=name, kind=Sentence(finding.kind.title))
        for name, finding in recognised
    ]
    return RuleResult(
        id="hipaa-identifiers",
        description="none of the 18 Safe Harbor identifiers is in the table",
        holds=not recognised,
        found=Sentence("{listed}", listed=listed) if listed else "none of the 18 identifiers was recognised",
        remedy=Sentence("remove or coarsen: {columns}", columns=[name for name, _ in recognised])
        if recognised
        else "",
        source=HIPAA_SOURCE,
        columns=tuple(name for name, _ in recognised),
    )


def hipaa_zip3(table: Table, policy: Policy, findings: Findings) -> RuleResult:
    """Three-digit ZIP codes only where more than 20,000 people live; the others must read 000."""
    offending = []
    for name in _of_kind(findings, "postcode"):
        domain = table.engine.domain(table, name)
        areas = {area.zfill(3) for label in domain.labels() if (area := _unmasked(label)).isdigit()}
        if areas & SMALL_ZIP3:
            offending.append(name)
    return RuleResult(
        id="hipaa-zip3",
        description="three-digit ZIP codes of areas with 20,000 people or fewer are 000",
        holds=not offending,
        found=Sentence("small areas occur in {offending}", offending=", ".join(offending))
        if offending
        else "no small area occurs",
        remedy="replace these three-digit codes by 000" if offending else "",
        source=f"{HIPAA_SOURCE}(B)",
        columns=tuple(offending),
    )


def hipaa_ages(table: Table, policy: Policy, findings: Findings) -> RuleResult:
    """Ages of 90 and more are one group, and so are the years of birth that tell such an age.

    The group may be written in any way that keeps it one: as ``90+``, or top-coded as the number 90.
    """
    offending = [name for name in _of_kind(findings, "age") if _tells_old_ages(table, name)]
    offending += [name for name in _of_kind(findings, "birth-year") if _tells_old_births(table, name)]
    return RuleResult(
        id="hipaa-ages",
        description="ages of 90 and more are one group",
        holds=not offending,
        found=Sentence("ages of 90 and more are told apart in {offending}", offending=", ".join(offending))
        if offending
        else "no ages of 90 and more are told apart",
        remedy="put ages of 90 and more (and such years of birth) into one group" if offending else "",
        source=f"{HIPAA_SOURCE}(C)",
        columns=tuple(offending),
    )


RULES: Mapping[str, Callable[[Table, Policy, Findings], RuleResult]] = {
    "no-direct-identifiers": no_direct_identifiers,
    "nothing-unexamined": nothing_unexamined,
    "hipaa-identifiers": hipaa_identifiers,
    "hipaa-zip3": hipaa_zip3,
    "hipaa-ages": hipaa_ages,
}


def _of_kind(findings: Findings, kind: str) -> list[str]:
    return [name for name, finding in findings().items() if finding.kind.id == kind]


def _allowed_by_safe_harbor(table: Table, name: str, finding: Finding) -> bool:
    """Postcodes cut to three digits and bare years stay."""
    if finding.kind.id not in ("postcode", "date", "birth-date"):
        return False
    domain = table.engine.domain(table, name)
    longest = max((len(_unmasked(label)) for label in domain.labels()), default=0)
    return longest <= (3 if finding.kind.id == "postcode" else 4)


def _unmasked(label: str) -> str:
    """What is left to read of a masked code.

    >>> _unmasked("036**"), _unmasked("10115")
    ('036', '10115')
    """
    return label.strip().rstrip("*xX#")


def _tells_old_ages(table: Table, name: str) -> bool:
    labels = table.engine.domain(table, name).labels()
    old = [label for label in labels if oldest(label) >= OLD]
    return len(old) > 1 or any(_is_number(label) and float(label) > OLD for label in old)


def _tells_old_births(table: Table, name: str) -> bool:
    """Whether years of birth tell ages of 90 and more apart, as of today."""
    last = date.today().year - OLD
    years = table.engine.domain(table, name).numbers
    return bool((years[~np.isnan(years)] < last).any())


def oldest(label: str) -> float:
    """The highest age that a label admits: a number, an interval, or open towards old age.

    >>> oldest("34"), oldest("[80, 89]"), oldest("85+"), oldest("<90") < 90, oldest("unknown")
    (34.0, 89.0, inf, True, -inf)
    """
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", label)]
    if not numbers:
        return -math.inf
    if OPEN_AGES.search(label):
        return math.inf
    below = label.strip().endswith(")") or re.match(r"\s*<(?!=)", label)
    return float(np.nextafter(max(numbers), 0.0)) if below else max(numbers)


def _is_number(label: str) -> bool:
    return re.fullmatch(r"\s*\d+(\.\d+)?\s*", label) is not None
