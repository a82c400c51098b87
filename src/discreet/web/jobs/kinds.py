"""Every kind of job: its function, its parameters, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.web.api.parameters import (
    AnonymizeParameters,
    AskKpisParameters,
    AskParameters,
    AttackParameters,
    AuditParameters,
    BucketizeParameters,
    CompareParameters,
    EntryParameters,
    EvidenceParameters,
    FamiliesParameters,
    FragmentParameters,
    FrontierParameters,
    JudgeBasketsParameters,
    JudgeTablesParameters,
    LearnParameters,
    Parameters,
    PlanParameters,
    ReadParameters,
    RegisterParameters,
    ReleaseBasketsParameters,
    ReleaseTablesParameters,
    ReportParameters,
    SafePubParameters,
    SynthesizeParameters,
    TabulateParameters,
    ValuesParameters,
)
from discreet.web.cases import Shape


@dataclass(frozen=True)
class JobKind:
    """A kind of job: the function that does it, in a process of its own, and what it may be told.

    ``needs_policy`` says that it works by the policy of the case, ``plan`` that it also works by its plan
    (``[anonymize]``); ``then`` names the kind that follows by itself, and ``base`` the one whose newest result it
    works on, by the policy of that result. ``spends`` says that it draws from a budget, so that nothing else may cancel it.
    """

    function: str
    parameters: type[Parameters]
    needs_policy: bool = True
    plan: bool = False
    then: str | None = None
    base: str | None = None
    spends: bool = False
    shape: Shape | None = None
    """The shape that the case has from then on."""


KINDS: dict[str, JobKind] = {
    "read": JobKind(
        "discreet.web.jobs.verbs:read", ReadParameters, needs_policy=False, then="audit", shape="table"
    ),
    "audit": JobKind("discreet.web.jobs.verbs:audit", AuditParameters, then="preview"),
    "report": JobKind("discreet.web.jobs.verbs:report", ReportParameters),
    "values": JobKind("discreet.web.jobs.column_values:count", ValuesParameters),
    "preview": JobKind("discreet.web.jobs.verbs:preview", PlanParameters, plan=True),
    "foresee": JobKind("discreet.web.jobs.verbs:foresee", PlanParameters, plan=True),
    "recommend": JobKind("discreet.web.jobs.verbs:recommend", PlanParameters, plan=True),
    "anonymize": JobKind("discreet.web.jobs.verbs:anonymize", AnonymizeParameters, plan=True),
    "compare": JobKind("discreet.web.jobs.evidence:compare", CompareParameters, base="anonymize"),
    "attack": JobKind("discreet.web.jobs.evidence:attack", AttackParameters, base="anonymize"),
    "evidence": JobKind("discreet.web.jobs.evidence:evidence", EvidenceParameters, base="anonymize"),
    "families": JobKind("discreet.web.jobs.evidence:families", FamiliesParameters, plan=True),
    "bucketize": JobKind("discreet.web.jobs.apart:bucketize", BucketizeParameters),
    "fragment": JobKind("discreet.web.jobs.apart:fragment", FragmentParameters),
    "judge-release": JobKind("discreet.web.jobs.registered:judge", RegisterParameters, base="anonymize"),
    "enter-release": JobKind("discreet.web.jobs.registered:enter", EntryParameters, base="anonymize"),
    "judge-baskets": JobKind(
        "discreet.web.jobs.baskets:judge", JudgeBasketsParameters, needs_policy=False, shape="baskets"
    ),
    "release-baskets": JobKind(
        "discreet.web.jobs.baskets:release",
        ReleaseBasketsParameters,
        needs_policy=False,
        base="judge-baskets",
    ),
    "judge-tables": JobKind(
        "discreet.web.jobs.together:judge", JudgeTablesParameters, needs_policy=False, shape="tables"
    ),
    "release-tables": JobKind(
        "discreet.web.jobs.together:release", ReleaseTablesParameters, needs_policy=False, base="judge-tables"
    ),
    "frontier": JobKind("discreet.web.jobs.evidence:frontier", FrontierParameters, plan=True),
    "ask": JobKind("discreet.web.jobs.private:ask", AskParameters, spends=True),
    "ask-kpis": JobKind("discreet.web.jobs.private:answer_kpis", AskKpisParameters, spends=True),
    "tabulate": JobKind("discreet.web.jobs.private:tabulate", TabulateParameters, spends=True),
    "synthesize": JobKind("discreet.web.jobs.private:synthesize", SynthesizeParameters, spends=True),
    "learn": JobKind("discreet.web.jobs.private:learn", LearnParameters, spends=True),
    "safepub": JobKind("discreet.web.jobs.private:safepub", SafePubParameters, spends=True),
}
"""To add a kind: a function in a module of this room, its parameters, and a line here."""
