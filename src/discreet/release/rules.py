"""Rules of profiles that speak of columns and values rather than of classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.policy import Policy
from discreet.policy.suggest import recognise_columns
from discreet.table import Table
from discreet.table.identifiers import Finding

SMALL_ZIP3 = frozenset(
    f"{area:03d}"
    for area in (36, 59, 63, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893)
)
"""Three-digit ZIP areas of 20,000 people or fewer (2000 Census; HHS guidance of 2012, question 2.1)."""

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


def no_direct_identifiers(table: Table, policy: Policy) -> RuleResult:
    """No column that names a person by itself may be in a release."""
    present = tuple(name for name in policy.direct_identifiers if name in table.names)
    return RuleResult(
        id="no-direct-identifiers",
        description="no column identifies a person by itself",
        holds=not present,
        found=f"{len(present)} direct identifier{'s' if len(present) != 1 else ''}: {', '.join(present)}"
        if present
        else "no direct identifiers",
        remedy="remove " + ", ".join(present) if present else "",
        source="General Data Protection Regulation, recital 26; Aufschläger et al. 2023, section 4.1",
        columns=present,
    )


def hipaa_identifiers(table: Table, policy: Policy) -> RuleResult:
    """None of the 18 identifiers of the Safe Harbor method may be in a release.

    Three-digit postcodes and years are allowed by the rule itself; ``hipaa-zip3`` and ``hipaa-ages`` look
    at those.
    """
    found = []
    for name, finding in recognise_columns(table).items():
        if finding.kind.hipaa is None or _allowed_by_safe_harbor(table, name, finding):
            continue
        found.append((name, finding))
    listed = ", ".join(f"{name} ({finding.kind.title})" for name, finding in found)
    return RuleResult(
        id="hipaa-identifiers",
        description="none of the 18 Safe Harbor identifiers is in the table",
        holds=not found,
        found=listed or "none of the 18 identifiers was recognised",
        remedy=f"remove or coarsen: {', '.join(name for name, _ in found)}" if found else "",
        source=HIPAA_SOURCE,
        columns=tuple(name for name, _ in found),
    )


def hipaa_zip3(table: Table, policy: Policy) -> RuleResult:
    """Three-digit ZIP codes only where more than 20,000 people live; the others must read 000."""
    offending = []
    for name in _of_kind(table, "postcode"):
        domain = table.engine.domain(table, name)
        labels = {label.strip()[:3].zfill(3) for label in domain.labels() if _three_digits(label)}
        if labels & SMALL_ZIP3:
            offending.append(name)
    return RuleResult(
        id="hipaa-zip3",
        description="three-digit ZIP codes of areas with 20,000 people or fewer are 000",
        holds=not offending,
        found=f"small areas occur in {', '.join(offending)}" if offending else "no small area occurs",
        remedy="replace these three-digit codes by 000" if offending else "",
        source=f"{HIPAA_SOURCE}(B)",
        columns=tuple(offending),
    )


def hipaa_ages(table: Table, policy: Policy) -> RuleResult:
    """Ages of 90 and more are one group."""
    offending = []
    for name in _of_kind(table, "age"):
        numbers = table.engine.domain(table, name).numbers
        if np.any(numbers[~np.isnan(numbers)] > 90):
            offending.append(name)
    return RuleResult(
        id="hipaa-ages",
        description="ages of 90 and more are one group",
        holds=not offending,
        found=f"single ages above 90 occur in {', '.join(offending)}"
        if offending
        else "no single age above 90",
        remedy="top-code these ages at 90" if offending else "",
        source=f"{HIPAA_SOURCE}(C)",
        columns=tuple(offending),
    )


RULES: Mapping[str, Callable[[Table, Policy], RuleResult]] = {
    "no-direct-identifiers": no_direct_identifiers,
    "hipaa-identifiers": hipaa_identifiers,
    "hipaa-zip3": hipaa_zip3,
    "hipaa-ages": hipaa_ages,
}


def _of_kind(table: Table, kind: str) -> list[str]:
    return [name for name, finding in recognise_columns(table).items() if finding.kind.id == kind]


def _allowed_by_safe_harbor(table: Table, name: str, finding: Finding) -> bool:
    """Postcodes cut to three digits and bare years stay."""
    if finding.kind.id not in ("postcode", "date", "birth-date"):
        return False
    domain = table.engine.domain(table, name)
    longest = pc.max(pc.utf8_length(pc.cast(domain.values, pa.string()))).as_py() if len(domain.values) else 0
    return int(longest or 0) <= (3 if finding.kind.id == "postcode" else 4)


def _three_digits(label: str) -> bool:
    text = label.strip()
    return text.isdigit() and len(text) <= 3
