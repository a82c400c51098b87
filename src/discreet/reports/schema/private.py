"""The schemas of what is released with differential privacy, and of budgets."""

from __future__ import annotations

from discreet.reports.schema.documents import SCHEMAS, publish
from discreet.reports.schema.notation import (
    AMOUNT,
    ANYTHING,
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
from discreet.reports.schema.parts import AMOUNTS, GUARANTEE, GUARANTEED, PAYMENT

_ANSWER = {
    "question": TEXT,
    "keys": TEXTS,
    "figures": TEXTS,
    "rows": many(
        record(
            keys=many(ANYTHING),
            figures=many(record(value=maybe(NUMBER), low=maybe(NUMBER), high=maybe(NUMBER))),
        )
    ),
    "confidence": NUMBER,
    **GUARANTEED,
    "notes": TEXTS,
    "payment": maybe(PAYMENT),
}
publish("answer", "discreet ask", **_ANSWER)
publish(
    "kpi-answers",
    "discreet ask --kpi",
    kpis=many(record(name=TEXT, answer=maybe(SCHEMAS["answer"]), reason=TEXT, precise=ANYTHING)),
)
publish(
    "tables",
    "discreet tabulate",
    tables=many(record(columns=TEXTS, cells=COUNT, scale=NUMBER, margin=NUMBER, mean_error=maybe(NUMBER))),
    confidence=NUMBER,
    rows=COUNT,
    columns=TEXTS,
    **GUARANTEED,
)
publish("artificial", "discreet synthesize", tables=many(TEXTS), rows=COUNT, columns=TEXTS, **GUARANTEED)
publish(
    "truthful",
    "discreet safepub",
    share=NUMBER,
    k=COUNT,
    levels=by_name(COUNT),
    rows=COUNT,
    columns=TEXTS,
    **GUARANTEED,
)
publish(
    "classifier",
    "discreet learn",
    ("test",),
    learner=TEXT,
    label=TEXT,
    labels=many(ANYTHING),
    prior=many(NUMBER),
    columns=by_name(record(values=many(ANYTHING), weights=many(many(NUMBER)))),
    **GUARANTEED,
    test=maybe(record(records=COUNT, accuracy=NUMBER, constant=NUMBER)),
)
publish(
    "guarantee",
    "FILE.guarantee.json",
    file=TEXT,
    sha256=TEXT,
    payment=PAYMENT,
    guarantee=GUARANTEE,
    checklist=many(record(question=TEXT, answer=TEXT, open=YES_OR_NO)),
    checklist_source=TEXT,
)
publish(
    "budget",
    "discreet budget show",
    epsilon=AMOUNT,
    delta=AMOUNT,
    spent=AMOUNTS,
    left=AMOUNTS,
    entries=many(
        record(
            number=COUNT,
            kind=TEXT,
            time=TEXT,
            epsilon=AMOUNT,
            delta=AMOUNT,
            purpose=TEXT,
            reservation=COUNT,
            hash=TEXT,
            unit=TEXT,
        )
    ),
)
publish("budget-total", "discreet budget total", disjoint=YES_OR_NO, epsilon=AMOUNT, delta=AMOUNT)
publish(
    "foresight",
    "discreet budget foresee",
    epsilon=AMOUNT,
    delta=AMOUNT,
    allowed=YES_OR_NO,
    alone=TEXT,
    together=TEXT,
    spent=AMOUNTS,
)
