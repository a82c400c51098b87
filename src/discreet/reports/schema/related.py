"""The schemas of what commands print about several tables."""

from __future__ import annotations

from discreet.reports.schema.documents import SCHEMAS, publish
from discreet.reports.schema.notation import (
    COUNT,
    NUMBER,
    TEXT,
    TEXTS,
    YES_OR_NO,
    by_name,
    many,
    maybe,
    record,
)
from discreet.reports.schema.parts import VERDICT

_REFERENCE = record(
    table=TEXT,
    column=TEXT,
    to=TEXT,
    key=TEXT,
    rows=COUNT,
    reached=COUNT,
    least=COUNT,
    most=COUNT,
    orphans=COUNT,
    cardinality=TEXT,
)
_KNOWN = {"oneOf": [COUNT, {"const": "all"}]}

publish(
    "keys",
    "discreet tables show",
    rows=by_name(COUNT),
    keys=by_name(TEXT),
    references=many(_REFERENCE),
    people=maybe(TEXT),
)
publish(
    "related-audit",
    "discreet tables audit, discreet tables check",
    holds=YES_OR_NO,
    says=TEXT,
    people=COUNT,
    rows=by_name(COUNT),
    k=COUNT,
    known_events=_KNOWN,
    references=many(_REFERENCE),
    intruders=many(record(known=_KNOWN, fewest=maybe(COUNT), alone=maybe(COUNT))),
    tables=by_name(VERDICT),
    notes=TEXTS,
)
publish(
    "related-release",
    "discreet tables anonymize",
    loss=NUMBER,
    tables=by_name(record(rows=COUNT, kept=COUNT, columns=TEXTS, levels=by_name(TEXT))),
    before=SCHEMAS["related-audit"],
    after=SCHEMAS["related-audit"],
    notes=TEXTS,
)
