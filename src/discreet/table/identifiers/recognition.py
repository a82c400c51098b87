"""Put together what the name of a column and its values say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from discreet.sentences import Sentence
from discreet.table.identifiers.categories import categories
from discreet.table.identifiers.content import (
    ColumnSample,
    ContentMatch,
    is_full_date,
    is_packed_date,
    is_year,
    match_content,
    sample,
)
from discreet.table.identifiers.kinds import KINDS, AttributeKind
from discreet.table.identifiers.names import NameMatch, match_name, names_a_person
from discreet.table.identifiers.numbers import Verified, looks_like_phone, verify, verify_phones

By = Literal["name", "content", "name and content"]


@dataclass(frozen=True)
class Finding:
    """One kind of information that a column seems to hold, and why; ``reason`` never contains a cell value."""

    kind: AttributeKind
    by: By
    reason: str
    confidence: float


_CONFIRMS: Final[dict[str, frozenset[str]]] = {
    "phone": frozenset(("phone", "fax")),
    "iban": frozenset(("iban", "account-number")),
    "account-number": frozenset(("account-number",)),
    "date": frozenset(("date", "birth-date")),
    "ssn": frozenset(("ssn", "national-id", "health-plan-number")),
    "national-id": frozenset(("national-id", "ssn", "health-plan-number")),
    "health-plan-number": frozenset(("health-plan-number", "national-id", "medical-record-number")),
    "url": frozenset(("url", "photo", "user-name")),
    "year": frozenset(("year", "birth-year")),
    "coordinates": frozenset(("coordinates", "small-geography")),
    "unique-id": frozenset(
        ("unique-id", "medical-record-number", "device-id", "account-number", "certificate")
    ),
}
"""Which kinds given by a name the kind found in the content agrees with; each agrees with itself."""

UNNAMED: Final = re.compile(
    r"(?:column|col|spalte|var|variable|field|feld|unnamed|[vxc])?[_ .:-]*\d*", re.IGNORECASE
)
"""Names that say nothing."""

MOST_GRADES: Final = 12
"""So many words are grades at most: more are titles or texts."""

_CHANCE: Final = 1e-6
"""A share of valid numbers that chance would give more often than this proves nothing."""


def recognise(name: str, values: Sequence[object], *, region: str | None = None) -> list[Finding]:
    """What kind of information about people a column holds, best first; empty when nothing is recognised.

    ``values`` is a sample of the column (1,000 are plenty), missing ones included. ``region`` is an ISO 3166
    country code in which national telephone and identity numbers are to be read.

    >>> for finding in recognise("kontakt", ["ada@example.org", "carl@example.org", None]):
    ...     print(finding.kind.id, "by", finding.by, "because", finding.reason)
    email by content because 2 of the 2 distinct values tested are email addresses
    >>> recognise("hours-per-week", [40, 38, 20])
    []
    """
    column = sample(values)
    region = region.upper() if region else None
    named = match_name(name)
    seen = _all_content(column, {match.kind for match in named}, region)
    if UNNAMED.fullmatch(name) and _like_ages(column):
        seen = [*seen, ContentMatch("age", 0.5, "the values are whole numbers spread as ages of people are")]
    if named and named[0].kind == "body-measurement" and "weight" in name.lower() and _like_weights(column):
        reason = "the values repeat as weights of a survey do, and are no weights of bodies"
        seen = [*seen, ContentMatch("sampling-weight", 0.7, reason)]
    findings = [_by_name(match, name, column, seen) for match in named]
    kept = {finding.kind.id: finding for finding in findings if finding is not None}
    strongest = max((finding.confidence for finding in kept.values()), default=0.0)
    for match in seen:
        explained = any(kind in _confirmed_by(match.kind) for kind in kept)
        # a form that other things share counts for little against a clear name
        contested = strongest >= 0.7 and match.confidence < 0.9
        if match.alone and not explained and not contested and match.kind not in kept:
            kept[match.kind] = Finding(KINDS[match.kind], "content", match.reason, match.confidence)
    return sorted(kept.values(), key=lambda finding: -finding.confidence)


def _like_ages(column: ColumnSample) -> bool:
    """Whether numbers of a column without a name are spread as ages are: over decades, none of them dominating.

    >>> from discreet.table.identifiers.content import sample
    >>> _like_ages(sample([*range(17, 90)] * 5)), _like_ages(sample([40] * 100 + [*range(1, 99)]))
    (True, False)
    """
    if len(column.texts) < 100 or column.numeric < len(column.texts) or len(column.distinct) < 40:
        return False
    if not all(value.isdecimal() and int(value) <= 115 for value in column.distinct):
        return False
    values = sorted(map(int, column.texts))
    middle, largest = values[len(values) // 2], values[-1]
    commonest = max(map(column.texts.count, column.distinct))
    return 20 <= middle <= 65 and largest >= 65 and commonest <= 0.1 * len(values)


def _confirmed_by(content_kind: str) -> frozenset[str]:
    return _CONFIRMS.get(content_kind, frozenset()) | {content_kind}


def _by_name(
    match: NameMatch, name: str, column: ColumnSample, seen: Sequence[ContentMatch]
) -> Finding | None:
    """The finding by name: stronger where the content agrees, weaker or gone where it contradicts."""
    kind = KINDS[match.kind]
    says = Sentence("the name of the column is a usual one for it")
    if kind.id == "unique-id" and names_a_person(name):
        says = Sentence(
            "the name of the column is a usual one for it and speaks of a person, so that equal values mean the same person"
        )
    agreeing = [content for content in seen if match.kind in _confirmed_by(content.kind)]
    if agreeing:
        best = max(agreeing, key=lambda content: content.confidence)
        confidence = 1 - (1 - match.confidence) * (1 - best.confidence)
        both = Sentence("{name}, and {content}", name=says, content=Sentence(best.reason))
        return Finding(kind, "name and content", both, round(confidence, 3))
    if kind.id in ("birth-date", "date") and _mostly(column, is_year):
        year = KINDS["birth-year" if kind.id == "birth-date" else "year"]
        bare = Sentence(
            'the name of the column is a usual one for "{kind}", but the values are bare years',
            kind=Sentence(kind.title),
        )
        return Finding(year, "name and content", bare, match.confidence)
    if not column.texts:
        unseen = Sentence("{name}; the sample holds no values to compare", name=says)
        return Finding(kind, "name", unseen, match.confidence)
    factor = _belief(kind, match, column)
    if factor == 0:
        return None
    if factor < 1:
        says = Sentence("{name}, although the values do not look like it", name=says)
    return Finding(kind, "name", says, round(match.confidence * factor, 3))


def _belief(kind: AttributeKind, match: NameMatch, column: ColumnSample) -> float:
    """From 0, the values rule the kind out, to 1, they do not speak against it."""
    if kind.role == "direct-identifier" and column.flags_only:
        return 0.0  # a column that says whether there is a telephone is not a telephone number
    numeric = column.numeric > 0.9 * len(column.texts)
    repeats = len(column.texts) >= 40 and len(column.distinct) <= 0.05 * len(column.texts)
    if kind.role == "direct-identifier" and repeats and match.confidence < 0.7:
        return 0.0  # "type id" or "user" with a handful of values is a category
    if kind.id in ("email", "url", "ip-address", "iban"):
        return 0.0 if numeric else 0.6
    if kind.id in ("phone", "fax"):
        return 0.9 if _mostly(column, looks_like_phone) else 0.4
    if kind.id in ("name", "street", "city", "free-text", "photo") and numeric:
        return 0.4 if match.confidence > 0.7 else 0.0
    if kind.id == "free-text" and len(column.distinct) < 0.1 * len(column.texts):
        return 0.6
    if kind.id in ("date", "birth-date"):
        if _mostly(column, is_packed_date) or _mostly(column, is_full_date):
            return 1.0
        # What a birth was like is no date.
        return 0.0 if kind.id == "birth-date" and match.confidence < 0.7 else 0.6
    if kind.id == "coordinates":
        return 1.0 if _mostly(column, _in_range) else 0.5
    if kind.id == "year" and match.confidence < 0.7:
        return 1.0 if _mostly(column, is_year) else 0.0
    if match.confidence < 0.7 and _speak_against(kind.id, column):
        return 0.0
    if kind.id == "vin":
        return 1.0 if _mostly(column, lambda value: len(value) == 17) else 0.5
    return 1.0


def _speak_against(kind: str, column: ColumnSample) -> bool:
    """Whether values rule out what a name that has other meanings, too, may mean."""
    if kind == "body-measurement":
        return _like_weights(column)
    if kind == "education":
        return column.flags_only  # "major" with yes and no is no subject
    if kind == "ethnicity":
        return not column.flags_only  # "black" says whether somebody is
    if kind == "grade-or-result":
        return column.numeric <= 0.9 * len(column.texts) and len(column.distinct) > MOST_GRADES
    return False


def _like_weights(column: ColumnSample) -> bool:
    """Whether numbers are spread as sampling weights: with decimals and the same for many, or larger than bodies are.

    >>> from discreet.table.identifiers.content import sample
    >>> _like_weights(sample([118.3, 92.75] * 50)), _like_weights(sample([70.5, 81.2, 64.0, 77.1] * 4 + [90]))
    (True, False)
    """
    if column.numeric < len(column.texts) or not column.texts:
        return False
    decimals = sum("." in value for value in column.distinct)
    shared = len(column.texts) >= 50 and len(column.distinct) <= 0.25 * len(column.texts)
    if shared and 2 * decimals > len(column.distinct):
        return True
    return sum(float(value.replace(",", ".")) > 400 for value in column.texts) > 0.5 * len(column.texts)


def _mostly(column: ColumnSample, test: Callable[[str], object]) -> bool:
    """Whether at least four of five tested values pass."""
    values = column.tested
    return bool(values) and sum(bool(test(value)) for value in values) >= 0.8 * len(values)


def _in_range(value: str) -> bool:
    """Whether a text can be a latitude or a longitude in degrees."""
    try:
        return -180 <= float(value) <= 180
    except ValueError:
        return False


def _all_content(column: ColumnSample, named: set[str], region: str | None) -> list[ContentMatch]:
    """Everything that the values say: patterns, categories, checksummed numbers, telephone numbers."""
    seen = match_content(column)
    if (known := categories(column.distinct)) is not None:
        kind, reason, confidence = known
        seen = sorted([*seen, ContentMatch(kind, confidence, reason)], key=lambda match: -match.confidence)
    # dates, addresses of machines and the like are not also numbers of persons
    if seen and seen[0].confidence >= 0.9:
        return seen
    numbers = _numbers(column, named, region)
    numbers += _phones(column, named, region)
    strong = max((match.confidence for match in numbers), default=0.0)
    return sorted(
        numbers + [match for match in seen if match.confidence > 0.6 or strong < 0.9],
        key=lambda match: -match.confidence,
    )


def _numbers(column: ColumnSample, named: set[str], region: str | None) -> list[ContentMatch]:
    """Checksummed numbers: of several that fit, the one that chance explains least."""
    convincing = []
    for verified in verify(column.tested):
        agrees = not named.isdisjoint(_confirmed_by(verified.kind))
        alone = verified.tested >= 10 and verified.share >= 0.9 and verified.by_chance < _CHANCE
        if alone or (agrees and verified.share >= 0.5):
            convincing.append(verified)
    convincing.sort(
        key=lambda verified: (verified.region != (region or ""), -verified.share, verified.chance)
    )
    kept: dict[str, ContentMatch] = {}
    for verified in convincing:
        kept.setdefault(verified.kind, _as_match(verified))
    return list(kept.values())


def _as_match(verified: Verified) -> ContentMatch:
    how = "checksum verified" if verified.checksum else "by their form; there is no checksum"
    reason = Sentence(
        "{valid} of the {tested} distinct values tested are valid {title} ({how})",
        valid=verified.valid,
        tested=verified.tested,
        title=Sentence(verified.title),
        how=Sentence(how),
    )
    certainty = 0.98 if verified.checksum else 0.92
    return ContentMatch(verified.kind, round(certainty * verified.share, 3), reason)


def _phones(column: ColumnSample, named: set[str], region: str | None) -> list[ContentMatch]:
    agrees = not named.isdisjoint(("phone", "fax"))
    if not agrees and len(column.distinct) < 10:
        return []
    probe = column.tested[:10]
    if sum(map(looks_like_phone, probe)) * 2 < len(probe):
        return []
    verified = verify_phones(column.tested, region=region, named=agrees)
    if verified.share < (0.5 if agrees else 0.9) or (not agrees and verified.by_chance >= 1e-4):
        return []
    return [_as_match(verified)]
