"""What several documents hold: a measure, a verdict, a table as it was read, a guarantee."""

from __future__ import annotations

from discreet.reports.schema.notation import (
    AMOUNT,
    COUNT,
    NUMBER,
    OPEN,
    TEXT,
    TEXTS,
    YES_OR_NO,
    Schema,
    by_name,
    either,
    many,
    maybe,
    record,
)

BETTER: Schema = {
    "enum": ["higher", "lower"],
    "description": "which direction protects people, or keeps detail",
}

MEASURE = record(
    ["attribute", "by_attribute", "by_unit", "notes"],
    name=TEXT,
    value=NUMBER,
    unit=TEXT,
    better=BETTER,
    meaning=TEXT,
    source=TEXT,
    attribute={"type": "string", "description": "the attribute with the worst value"},
    by_attribute=by_name(NUMBER),
    by_unit=by_name(NUMBER),
    notes=TEXTS,
)

_SPREAD = {"min": NUMBER, "mean": NUMBER, "median": NUMBER, "max": NUMBER}
RISK = record(
    ["attribute", "sensitive"],
    name=TEXT,
    **_SPREAD,
    distribution={
        **many(COUNT),
        "minItems": 10,
        "maxItems": 10,
        "description": "records per tenth of the scale from 0 to 1",
    },
    better=BETTER,
    decides=YES_OR_NO,
    meaning=TEXT,
    source=TEXT,
    attribute=TEXT,
    sensitive=TEXT,
    parts={
        **many(record(["attribute", "sensitive"], **_SPREAD, attribute=TEXT, sensitive=TEXT)),
        "description": "the same risk for the whole quasi-identifier (no attribute) and each attribute alone",
    },
)

ESTIMATE = record(
    ["attribute", "notes"],
    name=TEXT,
    value=NUMBER,
    unit=TEXT,
    better=BETTER,
    meaning=TEXT,
    source=TEXT,
    attribute=TEXT,
    notes=TEXTS,
    method=TEXT,
    assumptions=TEXT,
    low=maybe(NUMBER),
    high=maybe(NUMBER),
)

CRITERION = record(
    id=TEXT,
    description=TEXT,
    found=TEXT,
    holds=YES_OR_NO,
    origin=either("policy", "profile"),
    source=TEXT,
    value=maybe(NUMBER),
    threshold=maybe(NUMBER),
    attribute=maybe(TEXT),
    failing_records=maybe(COUNT),
    failing_share=maybe(NUMBER),
    remedy=TEXT,
)

VERDICT = record(
    decision=either("release", "release-with-acknowledged-risk", "do-not-release"),
    words={"type": "string", "description": "the decision as a sentence"},
    compliant=YES_OR_NO,
    category=either("low", "medium", "high", None),
    passes={"type": "boolean", "description": "what `discreet check` answers"},
    profile=record(id=TEXT, title=TEXT, description=TEXT, source=TEXT, date=TEXT),
    obstacles=many(CRITERION),
    criteria=many(CRITERION),
    notes=TEXTS,
)

READ = record(name=TEXT, format=TEXT, settings=OPEN, notes=TEXTS, sha256=maybe(TEXT))
"""A table as it was read."""

GUARANTEE = record(
    unit=TEXT,
    unit_description=TEXT,
    neighbouring=TEXT,
    epsilon=AMOUNT,
    delta=AMOUNT,
    mechanisms=TEXTS,
    release_type=TEXT,
    public=TEXTS,
    unprotected=TEXTS,
    composition=TEXT,
    post_processing=TEXTS,
    tuning=TEXT,
    flavour=TEXT,
    meaning=TEXT,
)
GUARANTEED = {"guarantee": GUARANTEE, "left_epsilon": AMOUNT, "left_delta": AMOUNT}
"""What every release under differential privacy says."""

PAYMENT = record(ledger=TEXT, line=COUNT, hash=TEXT)
AMOUNTS = record(epsilon=AMOUNT, delta=AMOUNT)

ATTACK = record(
    ["exposed"],
    attack=TEXT,
    criterion=TEXT,
    scenario=TEXT,
    known=TEXTS,
    target=maybe(TEXT),
    unit=either("records", "persons"),
    tries=NUMBER,
    successes=NUMBER,
    rate=NUMBER,
    low=NUMBER,
    high=NUMBER,
    baseline={**NUMBER, "description": "the rate that the same intruder reaches without the release"},
    advantage=NUMBER,
    better_than_baseline=YES_OR_NO,
    figures=by_name(NUMBER),
    classes_fallen=COUNT,
    meaning=TEXT,
    source=TEXT,
    seconds=NUMBER,
    notes=TEXTS,
    exposed=many(record(values=OPEN, score=NUMBER, people=COUNT, says=TEXT)),
)

OUTCOME = {
    "method": TEXT,
    "loss": maybe(NUMBER),
    "suppressed_share": maybe(NUMBER),
    "mean_risk": maybe(NUMBER),
    "max_risk": maybe(NUMBER),
    "classes": maybe(COUNT),
    "seconds": NUMBER,
    "failed": {"type": "string", "description": "why there is no outcome"},
    "pareto": {"type": "boolean", "description": "no other is better in both loss and mean risk"},
}
"""What a method, or a setting of it, led to."""
