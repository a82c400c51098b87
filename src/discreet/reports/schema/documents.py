"""The schema of everything that a command prints with `--json`, and of what is written beside a release."""

from __future__ import annotations

from discreet.reports.schema.audit import AUDIT_SCHEMA
from discreet.reports.schema.notation import (
    ANYTHING,
    COUNT,
    NUMBER,
    OPEN,
    TEXT,
    TEXTS,
    YES_OR_NO,
    Schema,
    by_name,
    document,
    either,
    many,
    maybe,
    record,
)
from discreet.reports.schema.parts import (
    ATTACK,
    MEASURE,
    OUTCOME,
    READ,
    VERDICT,
)

SCHEMAS: dict[str, Schema] = {}
"""By the name that stands in a document: ``discreet-NAME-1``."""
PRINTED_BY: dict[str, str] = {}
"""Which commands print it, or which file holds it."""


def publish(name: str, printed_by: str, optional: tuple[str, ...] = (), /, **fields: Schema) -> None:
    """Enter the schema of a document."""
    SCHEMAS[name] = document(name, f"discreet {name.replace('-', ' ')}", optional, **fields)
    PRINTED_BY[name] = printed_by


SCHEMAS["audit"] = AUDIT_SCHEMA
PRINTED_BY["audit"] = "discreet audit, discreet classes audit"

publish("check", "discreet check", verdict=VERDICT)
_ERROR = record(["remedy", "details"], code=TEXT, message=TEXT, remedy=maybe(TEXT), details=ANYTHING)
publish(
    "checks",
    "discreet check, of several tables",
    tables=many(record(["verdict", "error"], table=TEXT, verdict=VERDICT, error=_ERROR)),
)
publish("error", "every command that ends with 2", error=_ERROR)

publish(
    "advice",
    "discreet recommend",
    first_steps=TEXTS,
    recommendations=many(
        record(change=TEXT, loss=NUMBER, suppressed=COUNT, suppressed_share=NUMBER, levels=by_name(COUNT))
    ),
    prices=record(
        method=TEXT,
        loss=maybe(NUMBER),
        columns=many(record(column=TEXT, loss_with=NUMBER, loss_without=maybe(NUMBER))),
        requirements=many(record(requirement=TEXT, loss_with=NUMBER, loss_without=maybe(NUMBER))),
        profiles=many(record(profile=TEXT, loss=NUMBER)),
    ),
)

_RULE = record(name=TEXT, holds=TEXT, before=COUNT, after=maybe(COUNT), reason=TEXT)
_STEP = {
    **OPEN,
    "required": ["method", "changed", "guarantee", "certainty", "keeps", "verified_on_file"],
    "description": "a step of perturbation with its parameters, never its seed",
}
publish(
    "release",
    "discreet anonymize, discreet apply",
    method=TEXT,
    why=TEXT,
    objective={"type": "string", "description": "the loss that was asked for"},
    minimised=maybe({"type": "string", "description": "the loss that the method minimised instead"}),
    cost=maybe(NUMBER),
    cost_undefined=maybe(TEXT),
    optimal=YES_OR_NO,
    bound=maybe({**NUMBER, "description": "no generalisation costs less"}),
    levels=maybe(by_name(COUNT)),
    records=record(before=COUNT, after=COUNT, suppressed=COUNT, suppressed_share=NUMBER),
    hierarchies=by_name(TEXT),
    attributes=by_name(
        record(distinct_before=COUNT, distinct_after=COUNT, mean_share=maybe(NUMBER), loss=maybe(NUMBER))
    ),
    loss=maybe({**NUMBER, "description": "mean over all quasi-identifiers, removed ones included"}),
    removed=many(record(name=TEXT, reason=TEXT, loss=maybe(NUMBER))),
    unjudged=many(record(name=TEXT, unique=NUMBER)),
    unjudged_together=maybe(
        {**NUMBER, "description": "records alone with these columns and what quasi-identifiers show"}
    ),
    verdict=record(before=VERDICT, after=VERDICT),
    workload_error=maybe(NUMBER),
    alternatives=many(
        record(title=TEXT, **OUTCOME, values=by_name(COUNT), workload_error=maybe(NUMBER)),
    ),
    constraints=many(_RULE),
    perturbation=many(_STEP),
    notes=TEXTS,
)

_MATRIX = many(many(maybe(NUMBER)))
_MATRICES = record(before=_MATRIX, after=_MATRIX, difference=_MATRIX)
_SCORES = by_name(record(value=NUMBER, low=NUMBER, high=NUMBER))
_QUERIES = by_name(record(queries=COUNT, q10=NUMBER, q25=NUMBER, q50=NUMBER, q75=NUMBER, q90=NUMBER))
_KPI_GROUP = record(
    key=many(ANYTHING),
    original=NUMBER,
    released=maybe(NUMBER),
    error=maybe(NUMBER),
    absolute=YES_OR_NO,
)
_FITTED = maybe(record(value=NUMBER, error=NUMBER, low=NUMBER, high=NUMBER))
publish(
    "comparison",
    "discreet compare",
    original=READ,
    release=READ,
    rows=record(original=COUNT, release=COUNT),
    matched={"type": "string", "description": "how records were matched"},
    seed=COUNT,
    losses=record(
        overall=many(MEASURE),
        attributes=many(MEASURE),
        matrices={
            "type": "object",
            "required": ["names"],
            "properties": {"names": TEXTS},
            "additionalProperties": _MATRICES,
        },
        workload=record(
            asked=COUNT, unanswered=COUNT, seed=COUNT, selectivity=NUMBER, sanity=NUMBER, errors=_QUERIES
        ),
        trivial={**many(MEASURE), "description": "of the release that shows no quasi-identifier"},
    ),
    kpis=many(
        record(
            ("groups",),
            name=TEXT,
            description=TEXT,
            generalised=TEXT,
            by=TEXTS,
            count=COUNT,
            answerable_share=NUMBER,
            mean_error=maybe(NUMBER),
            median_error=maybe(NUMBER),
            max_error=maybe(NUMBER),
            only_in_release=COUNT,
            tolerance=maybe(NUMBER),
            holds=maybe(YES_OR_NO),
            reason=TEXT,
            source=TEXT,
            groups=many(_KPI_GROUP),
        )
    ),
    analyses=many(
        record(
            name=TEXT,
            formula=TEXT,
            model=either("linear", "logistic"),
            overlap=maybe(NUMBER),
            records=record(original=maybe(COUNT), release=maybe(COUNT)),
            coefficients=many(
                record(
                    term=TEXT,
                    original=_FITTED,
                    released=_FITTED,
                    overlap=maybe(NUMBER),
                    difference=maybe(NUMBER),
                )
            ),
            reason=TEXT,
            source=TEXT,
        )
    ),
    efficacy=many(
        record(
            classifier=TEXT,
            label=TEXT,
            labels=COUNT,
            tested=COUNT,
            release=_SCORES,
            original=_SCORES,
            majority=_SCORES,
            trivial=_SCORES,
            relative=by_name(NUMBER),
            meaning=TEXT,
            source=TEXT,
            seconds=NUMBER,
            notes=TEXTS,
        )
    ),
    estimates=many(
        record(
            column=TEXT,
            released=NUMBER,
            estimated=NUMBER,
            error=NUMBER,
            covered=NUMBER,
            beliefs=many(many(NUMBER)),
        )
    ),
    notes=TEXTS,
)

_UNTESTED = many(record(attack=TEXT, criterion=TEXT, why=TEXT))
publish(
    "attacks",
    "discreet attack",
    release=READ,
    scenario=record(name=TEXT, says=TEXT, known=TEXTS),
    seed=COUNT,
    matched=TEXT,
    exposure={**NUMBER, "description": "the largest advantage beyond chance"},
    attacks=many(ATTACK),
    not_tested=_UNTESTED,
    criteria=many(
        record(
            criterion=TEXT,
            question=TEXT,
            state=either("gives way", "weakened", "withstood", "not tested"),
            finding=TEXT,
            worst_attack=maybe(TEXT),
            tested=TEXTS,
            not_tested=_UNTESTED,
            measures=many(MEASURE),
            source=TEXT,
        )
    ),
    notes=TEXTS,
)

publish(
    "frontier",
    "discreet frontier",
    points=many(
        record(
            **OUTCOME,
            k=maybe(COUNT),
            l=maybe(NUMBER),
            t=maybe(NUMBER),
            inference=maybe(NUMBER),
            chosen=YES_OR_NO,
            knee=YES_OR_NO,
        )
    ),
    notes=TEXTS,
)
publish("outcomes", "discreet compare-methods", outcomes=many(record(**OUTCOME)))
publish(
    "families",
    "discreet compare-methods --exposure",
    exposure=NUMBER,
    rows=COUNT,
    points=many(
        record(
            family=TEXT,
            strength=TEXT,
            found_share=maybe(NUMBER),
            count_error=maybe(NUMBER),
            marginal_error=maybe(NUMBER),
            seconds=NUMBER,
            failed=TEXT,
            matched=YES_OR_NO,
            best=YES_OR_NO,
        )
    ),
    notes=TEXTS,
)
publish(
    "methods",
    "discreet methods",
    families=many(
        record(
            id=TEXT,
            title=TEXT,
            effect=TEXT,
            methods=TEXTS,
            guarantee=TEXT,
            prevents=TEXTS,
            leaves=TEXTS,
            measures=TEXTS,
            raw_data_needed=TEXT,
            preprocessing=TEXT,
            flexibility=TEXT,
            intuitiveness=TEXT,
            domain_knowledge=TEXT,
            on_line=TEXT,
            source=TEXT,
        )
    ),
)
publish(
    "difference",
    "discreet diff",
    first=TEXT,
    second=TEXT,
    changes=many(record(subject=TEXT, name=TEXT, before=ANYTHING, after=ANYTHING)),
)
publish(
    "trips",
    "discreet trips",
    events=NUMBER,
    trips=NUMBER,
    columns=many(TEXT),
    left_out=many(TEXT),
    notes=many(TEXT),
)
publish("rules", "discreet rules", rules=many({**OPEN, "required": ["name", "kind", "expected"]}))

publish(
    "buckets",
    "discreet bucketize",
    recipe={**OPEN, "required": ["format", "method", "sensitive", "bucket", "columns", "requirements"]},
    rows=COUNT,
    buckets=COUNT,
    smallest_bucket=COUNT,
    largest_bucket=COUNT,
    measures=many(MEASURE),
    notes=TEXTS,
)
publish(
    "fragments",
    "discreet fragment",
    fragments=many(
        record(columns=TEXTS, rows=COUNT, smallest_class=COUNT, unique_records=COUNT, smallest_join=COUNT)
    ),
    confidential=many(TEXTS),
    score=NUMBER,
    target=maybe(TEXT),
    common=TEXTS,
    k=maybe(COUNT),
    group=maybe(TEXT),
    notes=TEXTS,
)
publish(
    "republication",
    "discreet republish",
    m=COUNT,
    sensitive=TEXT,
    group=TEXT,
    people=COUNT,
    stayed=COUNT,
    groups=COUNT,
    counterfeits=COUNT,
    groups_with_counterfeits=COUNT,
    notes=TEXTS,
)
publish(
    "register",
    "discreet register",
    entries=many(
        record(
            number=COUNT,
            kind=TEXT,
            time=TEXT,
            file=TEXT,
            sha256=TEXT,
            rows=COUNT,
            audience=TEXT,
            profile=TEXT,
            policy_sha256=TEXT,
            quasi_identifiers=TEXTS,
            sensitive=TEXTS,
            persons=COUNT,
            people_sha256=TEXT,
            key=TEXT,
            withdraws=COUNT,
            reason=TEXT,
            unseen=YES_OR_NO,
            previous=TEXT,
            hash=TEXT,
        )
    ),
)

publish(
    "timeline",
    "discreet register timeline",
    points=many(
        record(
            number=COUNT,
            time=TEXT,
            file=TEXT,
            audience=TEXT,
            people=COUNT,
            one=COUNT,
            alone=COUNT,
            two=COUNT,
        )
    ),
    unjudged=many(COUNT),
)

_BASKETS_AUDIT = {
    "holds": YES_OR_NO,
    "k": COUNT,
    "m": COUNT,
    "baskets": COUNT,
    "items": COUNT,
    "exposed": COUNT,
    "by_known": many(
        record(known=COUNT, itemsets=COUNT, rare=COUNT, least=COUNT, exposed=COUNT, success=NUMBER)
    ),
    "rho": maybe(NUMBER),
    "surest": maybe(NUMBER),
    "absent": TEXTS,
    "source": TEXT,
    "exposing": many(record(items=TEXTS, baskets=COUNT)),
}
publish("baskets-audit", "discreet baskets audit, discreet baskets check", ("exposing",), **_BASKETS_AUDIT)
publish(
    "baskets-release",
    "discreet baskets anonymize",
    method=TEXT,
    k=COUNT,
    m=COUNT,
    rho=maybe(NUMBER),
    loss=record(
        certainty=maybe(NUMBER),
        pair_error=maybe(NUMBER),
        lost_itemsets=maybe(NUMBER),
        items_gone=COUNT,
        empty=COUNT,
    ),
    before=SCHEMAS["baskets-audit"],
    after=maybe(SCHEMAS["baskets-audit"]),
)
