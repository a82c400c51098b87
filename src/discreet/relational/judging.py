"""Several tables judged together: keys, who is found by how many known rows, and each table with those above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.errors import InvalidParameter
from discreet.plain import Printed
from discreet.progress import Asked, telling
from discreet.relational.alike import KnownRows, PersonRows, joint
from discreet.relational.dates import alone_with_intervals
from discreet.relational.keys import KeyReference, references_of
from discreet.relational.policy import GivenRelationalPolicy, KnownEvents, open_relational
from discreet.relational.rows import RelatedTables
from discreet.relational.sources import GivenTables, open_tables
from discreet.relational.views import ShownRows, TableView, view_of
from discreet.release.audit import audit
from discreet.release.verdict import Verdict
from discreet.sentences import Sentence
from discreet.types import Progress

LOOKED_AT = 2
"""Intruders who know up to so many rows are always looked at."""
INTERVALS = (
    "dates in {columns} are shifted by the same days for all rows of a person: intervals between them stay, and whoever knows "
    "several dates of a person may find the person by them; {alone:,} of {people:,} people are alone with their intervals"
)
TOGETHER = (
    "of a number of known rows it is counted what they say with the rows above them, not which of them belong to the same row above; "
    "who knows that, too, is looked at by all rows"
)


@dataclass(frozen=True)
class KnownRowsRisk:
    """What an intruder finds who knows the people's table and so many rows of a person: the ``fewest`` people it may be.

    ``alone`` people may be found by what is known of them. Both are ``None`` where it was too much to count.
    """

    known: KnownEvents
    fewest: int | None
    alone: int | None


@dataclass(frozen=True)
class RelationalAudit(Printed):
    """What several tables tell of people together, and whether they may be released."""

    people: int
    rows: Mapping[str, int]
    k: int
    required: KnownEvents
    references: tuple[KeyReference, ...]
    intruders: tuple[KnownRowsRisk, ...]
    verdicts: Mapping[str, Verdict] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def alike(self) -> KnownRowsRisk:
        """The intruder against whom the policy asks for protection."""
        return next(risk for risk in self.intruders if risk.known == self.required)

    @property
    def holds(self) -> bool:
        """Whether k people at least share what the intruder knows, and each table meets what is asked with those above it."""
        fewest = self.alike.fewest
        return (
            fewest is not None
            and fewest >= self.k
            and all(verdict.passes for verdict in self.verdicts.values())
        )

    @property
    def says(self) -> str:
        """The judgement in one sentence."""
        if self.holds:
            return Sentence(
                "Whoever knows {known} finds at least {k} people, and every table meets what is asked of it together with those above it.",
                known=known_rows(self.required),
                k=self.k,
            )
        fewest = self.alike.fewest
        if fewest is None:
            return Sentence(
                "What whoever knows {known} finds is too much to be counted.", known=known_rows(self.required)
            )
        if fewest < self.k:
            return Sentence(
                "Whoever knows {known} finds {fewest:,} where {k:,} are asked for; {alone:,} of {people:,} people are alone.",
                known=known_rows(self.required),
                fewest=fewest,
                k=self.k,
                alone=self.alike.alone or 0,
                people=self.people,
            )
        return Sentence(
            "Not every table meets what is asked of it: {tables}.",
            tables=tuple(name for name, verdict in self.verdicts.items() if not verdict.passes),
        )

    def __str__(self) -> str:
        return str(self.says)

    def to_dict(self) -> dict[str, object]:
        """Everything as JSON-ready data; holds no cell value."""
        return {
            "schema": "discreet-related-audit-1",
            "holds": self.holds,
            "says": str(self.says),
            "people": self.people,
            "rows": dict(self.rows),
            "k": self.k,
            "known_events": self.required,
            "references": [reference.to_dict() for reference in self.references],
            "intruders": [
                {"known": risk.known, "fewest": risk.fewest, "alone": risk.alone} for risk in self.intruders
            ],
            "tables": {name: verdict.to_dict() for name, verdict in self.verdicts.items()},
            "notes": list(self.notes),
        }


def known_rows(known: KnownEvents) -> Sentence:
    """What an intruder knows, in words."""
    if known == "all":
        return Sentence("all rows of a person")
    if not known:
        return Sentence("a person, and none of the other rows")
    return Sentence(
        "a person and {known} of the other rows" if known != 1 else "a person and 1 of the other rows",
        known=known,
    )


def audit_tables(
    source: GivenTables, policy: GivenRelationalPolicy, *, progress: Asked = None
) -> RelationalAudit:
    """Judge several tables together.

    ``source`` is a folder of files, a workbook, a file of SQLite or DuckDB, or a mapping from names to tables; ``policy`` one with
    ``[people]`` and ``[tables]``.

    The fewest people who are alike in all rows are the k of multirelational k-anonymity (Nergiz, Clifton and Nergiz, ICDE 2007).

    >>> import pyarrow as pa
    >>> tables = {
    ...     "patients": pa.table({"id": [1, 2, 3], "age": [30, 30, 30]}),
    ...     "visits": pa.table({"patient": [1, 2, 3, 3], "ward": ["A", "A", "A", "B"]}),
    ... }
    >>> policy = {"profile": "research-partner-3", "people": {"table": "patients"}, "tables": {
    ...     "patients": {"key": "id", "columns": {"age": {"role": "quasi-identifier"}}},
    ...     "visits": {"refers": {"patient": "patients"}, "columns": {"ward": {"role": "quasi-identifier"}}}}}
    >>> audited = audit_tables(tables, policy)
    >>> [(risk.known, risk.fewest, risk.alone) for risk in audited.intruders]
    [(0, 3, 0), (1, 1, 1), (2, 1, 1), ('all', 1, 1)]
    """
    opened = open_relational(policy)
    return judge_related(RelatedTables.of(open_tables(source, opened), opened), telling(progress))


def judge_related(related: RelatedTables, say: Progress) -> RelationalAudit:
    """Judge tables whose rows are tied."""
    policy = related.policy
    say("comparing the rows of people")
    known = as_seen(related)
    risks = _risks(known, policy.known_events)
    verdicts = {}
    for view in views(related):
        say("judging each table with those above it")
        verdicts[view.name] = audit(view.table, view.policy, detail="core").verdict
    return RelationalAudit(
        people=related.people,
        rows={part.name: len(part) for part in related.parts}
        | {n: t.num_rows for n, t in related.others.items()},
        k=policy.k,
        required=policy.known_events,
        references=references_of(related),
        intruders=risks,
        verdicts=verdicts,
        notes=tuple(_notes(related)),
    )


def as_seen(related: RelatedTables) -> KnownRows:
    """The rows of all tables as an intruder sees them who knows their values."""
    root = joint([np.zeros(related.people, dtype=np.int64), *related.root.codes])
    tables, above = {}, {}
    for part in map(related.part, related.policy.knowable):
        numbers = joint([np.zeros(len(part), dtype=np.int64), *part.codes])
        parent = related.policy.parent(part.name)
        assert parent is not None, "events refer to people"
        tables[part.name] = PersonRows(numbers, part.parents, part.persons)
        above[part.name] = "" if parent[1] == related.root.name else parent[1]
    return KnownRows(root, tables, above)


def _risks(known: KnownRows, required: KnownEvents) -> tuple[KnownRowsRisk, ...]:
    asked = required if required != "all" else 0
    # Whoever knows more rows than anybody has knows no more than whoever knows all that somebody has.
    counts = [
        *range(1 + max(LOOKED_AT, min(asked, known.most))),
        *([asked] if asked > max(LOOKED_AT, known.most) else []),
    ]
    risks = []
    for count in counts:
        try:
            risks.append(KnownRowsRisk(count, *known.fewest(count)))
        except InvalidParameter:
            risks.append(KnownRowsRisk(count, None, None))
    sizes = np.bincount(known.alike())
    risks.append(KnownRowsRisk("all", int(sizes.min()), int((sizes == 1).sum())))
    return tuple(risks)


def views(related: RelatedTables) -> Sequence[TableView]:
    """The view of each table that has quasi-identifiers, also from above."""
    shown = {part.name: ShownRows(part.rows, part.parents, part.persons) for part in related.parts}
    made = (view_of(part.name, shown, related.policy) for part in related.parts if len(part))
    return [view for view in made if view is not None]


def _notes(related: RelatedTables) -> list[str]:
    notes: list[str] = []
    if related.policy.known_events != "all" and related.policy.known_events:
        notes.append(TOGETHER)
    shifted = [
        (part, name) for part in related.parts for name in part.policy.shift if name in part.rows.column_names
    ]
    if shifted:
        notes.append(
            Sentence(
                INTERVALS,
                columns=tuple(f"{part.name}.{name}" for part, name in shifted),
                alone=alone_with_intervals(
                    as_seen(related).root,
                    [(part.persons, part.rows.column(name), name) for part, name in shifted],
                ),
                people=related.people,
            )
        )
    if related.others:
        notes.append(
            Sentence("tables that tell of nobody were not judged: {tables}", tables=tuple(related.others))
        )
    return notes
