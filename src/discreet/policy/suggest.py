"""Suggest roles: what each column is to a release, with a reason, so that a person only has to check."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from discreet.engine.read import read
from discreet.policy.context import MOST_CODES, is_code, numbers_rows, one_weight, with_alike
from discreet.policy.examination import singling_out
from discreet.policy.policy import ColumnPolicy, Policy, Rating
from discreet.progress import Asked, telling
from discreet.risk.redundancy import redundant
from discreet.risk.special_uniques import Combination, combinations
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS, ColumnProfile, DataType, Table
from discreet.table.identifiers import (
    Finding,
    missing_extras,
    names_a_household,
    names_a_person,
    names_staff,
    recognise,
)
from discreet.table.identifiers.kinds import AttributeKind
from discreet.table.roles import Role
from discreet.table.values import Exact, OneOf, parse
from discreet.types import Progress

RECOGNITION_ROWS = 2_000
SEPARATION_ROWS = 50_000
SUBSETS = 3_000
"""So many column combinations are looked at, at most; wide tables get smaller combinations."""
COUNTED = 20
"""So many columns are counted at a time where they are not combined."""
NOT_SURE = "not sure: "
"""How a reason begins where the column could also have another role."""
COMPARED = 60
"""So many columns, quasi-identifiers first, are looked through for some that follow from others."""
COMPARED_ROLES: Mapping[Role, int] = {"quasi-identifier": 0, "insensitive": 1, "weight": 1, "sensitive": 2}
"""Which roles these columns may have, and in which order they are taken."""
CONFIDENT = 0.5
REPEATING = 0.05
"""Up to this share of distinct values an unrecognised column that singles people out is a quasi-identifier."""
FEW_VALUES = 20
"""So is one of so many values at most, each of which four rows have on average: 14 of 200 are few."""
PROSE_LENGTH = 60
KNOWN_TO_OTHERS = 6
"""From this sum of the three ratings on, an unrecognised column is suggested as a quasi-identifier."""


@dataclass(frozen=True)
class Suggestion:
    """A suggested policy with what it rests on."""

    policy: Policy
    notes: Mapping[str, Sequence[str]]
    combinations: tuple[Combination, ...] = field(repr=False)
    heading: tuple[str, ...] = ()


def suggest(source: object, *, progress: Asked = None) -> Policy:
    """A policy with a suggested role for every column of a table, or of anything ``discreet.read`` takes.

    Each role has its reason. Direct identifiers are recognised by name and content (the 18 kinds of HIPAA Safe Harbor among them),
    quasi-identifiers by what they are and by how well they tell people apart, and a person id by repeating
    over rows. Correct it with ``policy.replace(...)`` or in the file that ``discreet suggest`` writes.
    """
    return suggestion(read(source), progress=telling(progress)).policy


def suggestion(table: Table, *, progress: Progress | None = None) -> Suggestion:
    """The suggested policy together with the numbers that it rests on."""
    say = progress or (lambda _: None)
    say("looking at the columns")
    profiles = {profile.column.name: profile for profile in table.engine.profile(table)}
    say("recognising identifiers")
    sample = table.engine.to_arrow(table.engine.sample(table, RECOGNITION_ROWS))
    findings = with_alike(_confident(sample), sample)
    person = _person_id(profiles, findings)
    say("how well columns tell people apart")
    separations = _separations(table, profiles, person)
    alone = {c.attributes[0]: c.separation for c in separations if len(c.attributes) == 1}
    columns = [
        _column(profile, sample[name], findings.get(name), person, alone.get(name, 1.0))
        for name, profile in profiles.items()
    ]
    weights = [column.name for column in columns if column.role == "weight"]
    columns = one_weight(columns)
    policy = _at_least_one_quasi_identifier(Policy(columns=tuple(columns)), alone)
    policy = _with_telling_columns(table, policy, profiles)
    say("looking for columns that follow from others")
    policy = _without_redundant(table, policy, profiles)
    others = tuple(name for name in policy.names if name in weights and name != policy.weight)
    policy = _without(policy, others)
    chosen = set(policy.quasi_identifiers)
    telling = tuple(c for c in separations if set(c.attributes) <= chosen)
    notes = {name: _notes(profile, alone.get(name)) for name, profile in profiles.items()}
    return Suggestion(policy, notes, telling, _heading(table, policy, telling, others))


def recognise_columns(table: Table) -> dict[str, Finding]:
    """The likeliest kind of every column that was recognised, from its name and a sample of rows."""
    return _confident(table.engine.to_arrow(table.engine.sample(table, RECOGNITION_ROWS)))


def _confident(sample: pa.Table) -> dict[str, Finding]:
    likeliest = {}
    for name in sample.column_names:
        confident = [f for f in recognise(name, sample[name].to_pylist()) if f.confidence >= CONFIDENT]
        if confident:
            likeliest[name] = confident[0]
    return likeliest


def _person_id(profiles: Mapping[str, ColumnProfile], findings: Mapping[str, Finding]) -> str | None:
    """The column that says which rows belong to one person: an id that repeats. ``None`` at person level."""

    def repeats(profile: ColumnProfile) -> bool:
        return profile.nulls == 0 and profile.marks == 0 and 1 < profile.distinct < 0.999 * profile.rows

    ids = [
        name
        for name, profile in profiles.items()
        if repeats(profile)
        and name in findings
        and findings[name].kind.role == "direct-identifier"
        and not names_a_household(name)
        and (findings[name].kind.id in ("unique-id", "medical-record-number") or names_a_person(name))
    ]
    # Where patients have an id of their own, that of their doctor is no person of the table, however often it repeats.
    if any(names_a_person(name) and not names_staff(name) for name in findings):
        ids = [name for name in ids if not names_staff(name)]
    # A person's own id before any other id that repeats; among equals the one with most distinct values.
    ids.sort(key=lambda name: (not names_a_person(name), -profiles[name].distinct))
    return ids[0] if ids else None


def _separations(
    table: Table, profiles: Mapping[str, ColumnProfile], person: str | None
) -> list[Combination]:
    """Distinction and separation of every small set of columns, on a sample of rows."""
    candidates = [
        name
        for name, profile in profiles.items()
        if profile.distinct > 1 and name != person and profile.infinite == 0 and not _is_prose(profile)
    ]
    if not candidates:
        return []
    size = 1
    while size < 3 and sum(math.comb(len(candidates), s) for s in range(1, size + 2)) <= SUBSETS:
        size += 1
    sampled = table.engine.sample(table, SEPARATION_ROWS)
    # Columns that are not combined need not be counted together, which takes long and has a limit.
    together = len(candidates) if size > 1 else COUNTED
    figures = [
        figure
        for i in range(0, len(candidates), together)
        for figure in combinations(
            table.engine.count(sampled, quasi_identifiers=candidates[i : i + together], person=person),
            max_size=size,
        )
    ]
    return sorted(figures, key=lambda figure: (-figure.unique, -figure.small))


def _is_prose(profile: ColumnProfile) -> bool:
    """Whether a column holds long texts; long names that repeat, as those of hospitals do, are categories."""
    long = profile.column.storage == "text" and profile.mean_length > PROSE_LENGTH
    return long and profile.distinct_share > REPEATING


def _column(
    profile: ColumnProfile,
    values: pa.ChunkedArray,
    finding: Finding | None,
    person: str | None,
    separation: float,
) -> ColumnPolicy:
    name = profile.column.name
    distinguishes = 3 if separation >= 0.9 else 2 if separation >= 0.45 else 1
    kind = finding.kind if finding else None
    rating = Rating(kind.replication if kind else 2, kind.availability if kind else 1, distinguishes)
    role, reason = _role(profile, finding, person, rating, numbers_rows(name, values, profile.rows))
    return ColumnPolicy(name, role, _type(profile, kind, values), reason, rating)


def _role(
    profile: ColumnProfile, finding: Finding | None, person: str | None, rating: Rating, numbered: bool
) -> tuple[Role, str]:
    name = profile.column.name
    if profile.distinct <= 1 and (finding is None or finding.kind.role != "weight"):
        return "insensitive", "one value only: tells nobody apart"
    if name == person:
        rows = profile.rows / max(profile.distinct, 1)
        return (
            "person-id",
            Sentence(
                "an id that repeats, {rows:.1f} rows per person on average: the table is at event level",
                rows=rows,
            ),
        )
    # Numbers among empty cells are kept as texts; what names a person has no fractions.
    text = profile.column.storage == "text" and profile.column.type != "continuous"
    own_texts = text and profile.distinct_share > 0.95 and profile.rows >= 50
    if finding is not None:
        said = Sentence("{kind}: {why}", kind=Sentence(finding.kind.title), why=Sentence(finding.reason))
        if finding.kind.role == "sensitive" and own_texts and not profile.column.numeric:
            alone = "{said}; but these are texts, and different in nearly every row: one may name a person, and no group shares any"
            return "direct-identifier", Sentence(alone, said=said)
        return finding.kind.role, said
    if own_texts:
        return "direct-identifier", "text that is different in nearly every row, so it may name a person"
    # Of very many rows distinct values are estimated.
    different = profile.distinct_share > 0.95 if profile.approximate else profile.distinct == profile.rows
    if profile.column.storage == "integer" and different and profile.rows >= 50 and numbered:
        return "direct-identifier", "a number that is different in every row, as row numbers and ids are"
    if rating.total >= KNOWN_TO_OTHERS:
        return (
            "quasi-identifier",
            NOT_SURE + "not recognised, but tells people apart so well that knowing it would single them out",
        )
    return (
        "insensitive",
        NOT_SURE + "not recognised; assumed to be neither known to others nor harmful: change this if it is",
    )


def _type(profile: ColumnProfile, kind: AttributeKind | None, values: pa.ChunkedArray) -> DataType:
    """The column's type; numbers that are codes have no order, and text of intervals or masks is generalised already."""
    column = profile.column
    if column.numeric and profile.distinct <= MOST_CODES and is_code(column.name, kind):
        return "nominal"
    if column.type != "nominal" or column.storage != "text":
        return column.type
    real = [
        value for value in values.unique().to_pylist() if value is not None and value not in MISSING_MARKS
    ]
    return "generalised" if looks_generalised(real) else "nominal"


def _at_least_one_quasi_identifier(policy: Policy, alone: Mapping[str, float]) -> Policy:
    """Without any quasi-identifier nothing could be audited: take the best separating harmless columns."""
    if policy.quasi_identifiers:
        return policy
    open_to_it = [c.name for c in policy.columns if c.role == "insensitive" and c.name in alone]
    open_to_it = open_to_it or [c.name for c in policy.columns if c.role == "sensitive" and c.name in alone]
    best = sorted(open_to_it, key=lambda name: -alone[name])[:5]
    reason = NOT_SURE + "no column was recognised as one; this is among those that tell rows apart best"
    changed = [
        replace(c, role="quasi-identifier", reason=reason) if c.name in best else c for c in policy.columns
    ]
    return Policy(columns=tuple(changed))


def _with_telling_columns(table: Table, policy: Policy, profiles: Mapping[str, ColumnProfile]) -> Policy:
    """The policy in which unrecognised columns that single people out together with others are quasi-identifiers.

    Unjudged they would be left out of a release; so they stay in it, as coarse as the requirements ask. Columns that are
    different in most rows would not be worth that.
    """
    telling = {culprit.column: culprit for culprit in singling_out(table, policy)}
    columns = []
    for column in policy.columns:
        unsure = column.role == "insensitive" and column.reason.startswith(NOT_SURE)
        if column.name in telling and unsure and _repeats(profiles[column.name]):
            reason = Sentence(
                "not sure: not recognised, but {why}", why=Sentence(telling[column.name].describe())
            )
            column = replace(column, role="quasi-identifier", reason=reason)
        columns.append(column)
    return replace(policy, columns=tuple(columns))


def _repeats(profile: ColumnProfile) -> bool:
    """Whether so few values occur again and again that groups of people may share them."""
    few = profile.distinct <= FEW_VALUES and profile.distinct_share <= 0.25
    return few or profile.distinct_share <= REPEATING


def _without_redundant(table: Table, policy: Policy, profiles: Mapping[str, ColumnProfile]) -> Policy:
    """The policy in which columns that follow from a quasi-identifier are quasi-identifiers, and are left out.

    A sensitive attribute that follows from one is no secret of a person: whoever knows the one knows the other, and it would
    tell apart what the release puts together.
    The one that stays counts twice: without that weight the search would spare it less than it spared all of them, and they
    could not be read off it any more. However many say the same, they are one piece of information: five columns about one
    hospital are no reason to give up everybody's age.
    """
    names = [
        column.name
        for column in sorted(policy.columns, key=lambda column: COMPARED_ROLES.get(column.role, 0))
        if column.role in COMPARED_ROLES
        and profiles[column.name].distinct > 1
        and profiles[column.name].infinite == 0
        and not _is_prose(profiles[column.name])
    ][:COMPARED]
    sampled = table.engine.sample(table, SEPARATION_ROWS)
    classes = table.engine.count(sampled, quasi_identifiers=names, person=policy.person)
    secret = set(policy.sensitive)
    told = {
        each.column: each
        for each in redundant(classes, policy.quasi_identifiers)
        if each.follows or each.column not in secret
    }
    columns, dropped = [], []
    weights = Counter(policy.quasi_identifiers)
    for column in policy.columns:
        if column.name in told:
            dropped.append(column.name)
            weights[told[column.name].source] += column.role == "quasi-identifier"
            reason = Sentence(
                "{reason}; {why}: left out, unless you take it from drop_attributes",
                reason=Sentence(column.reason),
                why=Sentence(told[column.name].describe()),
            )
            # Estimates of the population need the weight, which the release would lack either way.
            role: Role = "weight" if column.role == "weight" else "quasi-identifier"
            column = replace(column, role=role, reason=reason)
        columns.append(column)
    heavier = dict.fromkeys((name for name, columns in weights.items() if columns > 1), 2.0)
    plan = replace(policy.plan, drop_attributes=tuple(dropped), weights=heavier)
    return replace(policy, columns=tuple(columns), plan=plan)


def _without(policy: Policy, names: Sequence[str]) -> Policy:
    """The policy whose plan also leaves some columns out."""
    dropped = tuple(dict.fromkeys((*policy.plan.drop_attributes, *names)))
    return replace(policy, plan=replace(policy.plan, drop_attributes=dropped))


def _notes(profile: ColumnProfile, separation: float | None) -> list[str]:
    about = "about " if profile.approximate else ""
    lines = [
        f"{about}{profile.distinct:,} distinct values in {profile.rows:,} rows "
        f"(distinct share {profile.distinct_share:.4g})"
        + ("" if separation is None else f"; tells apart {separation:.1%} of all pairs of rows")
    ]
    if profile.nulls or profile.marks:
        lines.append(
            f"{profile.nulls:,} nulls, {profile.marks:,} missing marks such as '?' or the empty text"
        )
    return lines


def _heading(
    table: Table, policy: Policy, telling: Sequence[Combination], others: Sequence[str]
) -> tuple[str, ...]:
    lines = [
        f"Policy for {table.source.name}, suggested by discreet. Check every role: it is a suggestion.",
        "Roles: direct-identifier, quasi-identifier, sensitive, person-id, weight, insensitive.",
        "rating: 1 low, 2 medium, 3 high; replication = constant about a person, availability = known to",
        "others, distinguishability = tells people apart (Aufschläger et al. 2023, section 6.7.1).",
    ]
    if table.source.left_out:
        lines.append(f"Reading: {table.source.left_out}.")
    if missing_extras():
        lines.append(
            f"Recognition was limited: {', '.join(missing_extras())} not installed "
            '(pip install "discreet[identifiers]").'
        )
    if following := [name for name in policy.plan.drop_attributes if name not in others]:
        lines += [
            "Columns that follow from others are left out, and the one that stays counts twice (weights): to release",
            f"one, take it from drop_attributes: {', '.join(following)}.",
        ]
    if others:
        lines.append(f"A table is counted by one weight; others are left out, too: {', '.join(others)}.")
    if telling:
        lines += [
            "",
            "What the quasi-identifiers do together"
            + (f" (in a sample of {SEPARATION_ROWS:,} rows):" if table.rows > SEPARATION_ROWS else ":"),
        ]
        lines += [
            f"  {' + '.join(c.attributes)}: {c.unique:.1%} of rows unique, {c.small:.1%} in groups below 11"
            for c in telling[:5]
        ]
    if not policy.sensitive:
        lines += ["", "No sensitive attribute was recognised: name at least one if there is any."]
    return tuple(lines)


NUMBER = re.compile(r"-?\d+(\.\d+)?")
SETS = 0.1
"""From this share of sets on among its values a column is one of sets and names."""


def looks_generalised(values: Sequence[str]) -> bool:
    """Whether the values of a column are intervals, sets or masked texts, or numbers and some of these, or names and some sets of names.

    >>> looks_generalised(["0-35", "35-55", "55<="]), looks_generalised(["1020*", "*"]), looks_generalised(["a"])
    (True, True, False)
    >>> looks_generalised(["0 to 17", "18 to 69", "70 or Older"])
    True
    >>> looks_generalised(["83", "84", ">= 85"]), looks_generalised(["83", "84"])
    (True, False)
    >>> looks_generalised(["nurse", "{baker, cook}", "{smith, +3}"]), looks_generalised(["nurse", "cook"])
    (True, False)
    """
    sets = [value for value in values if isinstance(parse(value), OneOf)]
    if len(sets) >= SETS * len(values) > 0:
        return True
    single = [value for value in values if isinstance(parse(value), Exact)]
    return len(single) < len(values) and all(NUMBER.fullmatch(value.strip()) for value in single)
