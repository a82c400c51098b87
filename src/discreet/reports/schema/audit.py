"""The schema of an audit."""

from __future__ import annotations

from discreet.reports.schema.notation import (
    COUNT,
    NUMBER,
    OPEN,
    TEXT,
    TEXTS,
    by_name,
    document,
    either,
    many,
    maybe,
    record,
)
from discreet.reports.schema.parts import ATTACK, ESTIMATE, MEASURE, RISK, VERDICT

_NUMBERS = many(many(maybe(NUMBER)))

AUDIT_SCHEMA = document(
    "audit",
    "discreet audit",
    ("exposure", "register", "intruders"),
    created=TEXT,
    versions=by_name(TEXT),
    table=record(
        name=TEXT,
        format=TEXT,
        settings=OPEN,
        notes=TEXTS,
        sha256=maybe(TEXT),
        rows={"type": "integer", "minimum": 1},
        persons={"type": "integer", "minimum": 1},
        columns=COUNT,
        level=either("person", "event"),
        classes={"type": "integer", "minimum": 1},
        missing=many(record(column=TEXT, nulls=COUNT, marks=COUNT, treatment=TEXT)),
    ),
    policy=record(
        profile=TEXT,
        columns=many(record(name=TEXT, role=TEXT, type=maybe(TEXT), reason=TEXT)),
        requirements=many({**OPEN, "required": ["model"]}),
        sampling_fraction=maybe(NUMBER),
        population=maybe(TEXT),
    ),
    verdict=VERDICT,
    measures={
        **by_name(MEASURE),
        "description": 'found by their names, e.g. measures["k-anonymity"].value',
    },
    risks=by_name(RISK),
    estimates=by_name(ESTIMATE),
    exposure=record(
        combinations=many(
            record(
                attributes=TEXTS,
                groups=COUNT,
                distinction=NUMBER,
                separation=NUMBER,
                unique=NUMBER,
                small=NUMBER,
                meaning=TEXT,
            )
        ),
        contributions=many(
            record(
                ("margin",),
                attribute=TEXT,
                rank=COUNT,
                risk=NUMBER,
                risk_without=NUMBER,
                unique=NUMBER,
                unique_without=NUMBER,
                k=COUNT,
                k_without=COUNT,
                margin=maybe(NUMBER),
                meaning=TEXT,
                source=TEXT,
            )
        ),
        riskiest=many(
            record(
                position=COUNT,
                persons=COUNT,
                records=COUNT,
                risk=NUMBER,
                without=by_name(COUNT),
                decisive=TEXTS,
                meaning=TEXT,
            )
        ),
        special_uniques=record(
            max_size=COUNT,
            weighting=TEXT,
            max=NUMBER,
            mean=NUMBER,
            share_scored=NUMBER,
            contributions=by_name(NUMBER),
            minimal_uniques=many(record(attributes=TEXTS, persons=COUNT, records=COUNT)),
            meaning=TEXT,
            source=TEXT,
        ),
        dependence=record(
            names=TEXTS,
            mutual_information=_NUMBERS,
            cramers_v=_NUMBERS,
            absolute_pearson=_NUMBERS,
            meaning=TEXT,
            source=TEXT,
        ),
    ),
    intruders=many(
        record(
            intruder=maybe(TEXT),
            columns=TEXTS,
            k=COUNT,
            risk=NUMBER,
            mean_risk=NUMBER,
            unique=NUMBER,
            certainty=by_name(NUMBER),
        )
    ),
    register=record(
        schema={"const": "discreet-register-judgement-1"},
        holds={"type": "boolean"},
        says=TEXT,
        values_left=COUNT,
        narrowed=by_name(COUNT),
        changed=by_name(COUNT),
        same_values={"type": "boolean"},
        releases=many(COUNT),
        unjudged=many(COUNT),
        attacks=many(ATTACK),
        notes=TEXTS,
    ),
    notes=TEXTS,
)
