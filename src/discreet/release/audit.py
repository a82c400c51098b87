"""The audit: everything that is measured about a table before anybody decides, and the decision."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.kinds import ClassKinds
from discreet.classes.packed import are_many, unpacked
from discreet.measure import Estimate, Measure, RecordRisk
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy
from discreet.policy.suggest import recognise_columns
from discreet.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    EpsilonMAnonymity,
    GBalance,
    HAffiliation,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    LinkedKAnonymity,
    MultiAttributeLDiversity,
    PrivacyModel,
    TCloseness,
    WorstGroupProtection,
)
from discreet.progress import Asked, telling
from discreet.release import rendered
from discreet.release.codebook import Given as Codebook
from discreet.release.codebook import codebook_beside
from discreet.release.exposure import COMBINED, Exposure, combined, estimated, expose
from discreet.release.grouped import grouped, grouped_risks, worst_measure
from discreet.release.guarantees import Claim, judged_guarantees
from discreet.release.guards import asks, beside_original, guard_measures
from discreet.release.intruders import IntruderView, together_note, views
from discreet.release.missing import MissingValues, missing_values
from discreet.release.population import population_measures, population_sizes, sampled_share, with_people
from discreet.release.prepare import (
    count_classes,
    open_both,
    open_table,
    refuse_absent_values,
    refuse_unnamed_persons,
    with_roles,
)
from discreet.release.profile import load_profile
from discreet.release.requirements import as_entry
from discreet.release.rules import RULES, known_columns
from discreet.release.verdict import Verdict, decide
from discreet.risk.copula import copula_risk, orders_of
from discreet.risk.gain import gain
from discreet.risk.individual import global_risk
from discreet.risk.loglinear import loglinear_risk
from discreet.risk.markov import markov_risk
from discreet.risk.population import dankar, pitman, snb, zayatz
from discreet.risk.prosecutor import (
    average_risk,
    journalist,
    marketer,
    prosecutor,
    share_above,
    unique_records,
)
from discreet.risk.scorr import all_scorr
from discreet.sentences import Sentence
from discreet.table import Domain, Source, Table
from discreet.types import Progress

Detail = Literal["full", "core"]
RIGHT_EDGE_OF_SMALL = 11
TWO_WAY_CELLS = 500_000
"""Up to so many cells the log-linear model has all pairs of attributes; beyond, it assumes independence."""


@dataclass(frozen=True)
class Audit:
    """What was found about a table, and what it means for its release.

    ``print`` it in a terminal, show it in a notebook, ``to_dict`` it for machines, ``report`` it for people.
    """

    source: Source
    rows: int
    persons: int
    event_level: bool
    columns: int
    policy: Policy
    verdict: Verdict
    measures: tuple[Measure, ...]
    risks: tuple[RecordRisk, ...]
    estimates: tuple[Estimate, ...]
    missing: tuple[MissingValues, ...]
    exposure: Exposure | None
    classes: EquivalenceClasses = field(repr=False)
    intruders: tuple[IntruderView, ...] = ()
    """What each intruder of the policy can tell, and who knows all that they know; nothing if it describes none."""
    notes: tuple[str, ...] = ()
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __str__(self) -> str:
        return rendered.audit_text(self)

    def __repr__(self) -> str:
        # The parts hold values of the data, which a traceback or a log must not show.
        return f"Audit({self.source.name!r}, {self.rows:,} rows, {self.verdict.decision})"

    # ── looking things up ─────────────────────────────────────────────────────────────────────────

    def measure(self, name: str, attribute: str | None = None) -> Measure:
        """The measure of that name; the worst over sensitive attributes unless one is named."""
        measures = [m for m in self.measures if m.name == name and attribute in (None, m.attribute)]
        if not measures:
            raise KeyError(
                f"no measure {name!r}; there are: {', '.join(dict.fromkeys(m.name for m in self.measures))}"
            )
        return worst_measure(measures)

    def risk(self, name: str, *, attribute: str | None = None, sensitive: str | None = None) -> RecordRisk:
        """The record risk of that name for the whole quasi-identifier or one attribute of it."""
        risks = [
            r
            for r in self.risks
            if r.name == name and r.attribute == attribute and sensitive in (None, r.sensitive)
        ]
        if not risks:
            raise KeyError(
                f"no risk {name!r}; there are: {', '.join(dict.fromkeys(r.name for r in self.risks))}"
            )
        return max(risks, key=lambda risk: risk.max)

    @property
    def class_sizes(self) -> dict[int, int]:
        """Records per class size (in persons at event level, else in records)."""
        sizes = self.classes.persons if self.event_level else self.classes.records
        if not self.event_level and len(sizes) and sizes.max() <= len(sizes):
            classes = np.bincount(sizes)
            distinct = np.flatnonzero(classes)
            records = distinct * classes[distinct]
        else:
            distinct, where = np.unique(sizes, return_inverse=True)
            records = np.bincount(where, weights=self.classes.records).astype(int)
        return dict(zip(distinct.tolist(), records.tolist(), strict=True))

    # ── for people ────────────────────────────────────────────────────────────────────────────────

    def _repr_html_(self) -> str:
        """What a notebook shows: verdict, what stands in the way, key numbers."""
        return rendered.audit_notebook(self)

    # ── for machines ──────────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> dict[str, object]:
        """Everything as JSON-ready data, in the published schema. Holds no cell value."""
        document: dict[str, object] = {
            "schema": "discreet-audit-1",
            "created": self.created.isoformat(timespec="seconds"),
            "versions": versions(),
            "table": {
                **self.source.to_dict(),
                "rows": self.rows,
                "persons": self.persons,
                "columns": self.columns,
                "level": "event" if self.event_level else "person",
                "classes": len(self.classes),
                "missing": [
                    {"column": m.column, "nulls": m.nulls, "marks": m.marks, "treatment": m.treatment}
                    for m in self.missing
                ],
            },
            "policy": {
                "profile": self.policy.profile,
                "columns": [
                    {"name": c.name, "role": c.role, "type": c.type, "reason": c.reason}
                    for c in self.policy.columns
                ],
                "requirements": [
                    *(as_entry(model) for model in self.policy.requirements),
                    *({"model": asked.id, **asked.parameters()} for asked in self.policy.guarantees),
                ],
                "sampling_fraction": self.policy.sampling_fraction,
                "population": None if self.policy.population is None else Path(self.policy.population).name,
            },
            "verdict": self.verdict.to_dict(),
            "measures": grouped(self.measures),
            "risks": grouped_risks(self.risks),
            "estimates": {
                f"{estimate.name} ({estimate.method})"
                if estimate.method
                else estimate.name: estimate.to_dict()
                for estimate in self.estimates
            },
            "notes": list(self.notes),
        }
        if self.intruders:
            document["intruders"] = [view.to_dict() for view in self.intruders]
        if self.exposure is not None:
            document["exposure"] = {
                "combinations": [c.to_dict() for c in self.exposure.combinations],
                "contributions": [c.to_dict() for c in self.exposure.contributions],
                "riskiest": [r.to_dict() for r in self.exposure.riskiest],
                "special_uniques": self.exposure.special_uniques.to_dict(),
                "dependence": self.exposure.dependence.to_dict(),
            }
        return document


def audit(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    detail: Detail = "full",
    claim: Claim | None = None,
    known: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    codebook: Codebook | None = None,
    original: object = None,
    progress: Asked = None,
) -> Audit:
    """Audit a table: measure, estimate, and decide by the policy's profile.

    ``source`` is a table or anything ``discreet.read`` takes; ``policy`` a policy, its file or a dict of what stands in
    one; without it the roles are suggested.
    ``detail="core"`` leaves out the search for exposing combinations, special uniques and dependence. ``claim`` is what is
    at hand about how the table was made, where a guarantee is required. Of a release the ``codebook`` tells short labels
    to those who count in a table of the population: the one beside the file, if no other is given; its ``original``
    tells what people guard. The Markov-model risk
    is that of somebody who knows the quasi-identifiers ``known`` (the first if not given) and infers the others in an
    ``order`` (that of the table).
    """
    say = telling(progress)
    table, given = open_both(source, policy)
    codebook = codebook or codebook_beside(source)
    policy, notes = with_roles(table, given, say)
    # Only to tell an unknown profile before anything is counted.
    load_profile(policy.profile)
    table = policy.fit(table)
    refuse_unnamed_persons(table, policy)
    say("counting equivalence classes")
    counted = count_classes(table, policy)
    refuse_absent_values(policy, counted, slips_only=True)
    guarded = None
    if original is not None and asks(policy):
        people = count_classes(policy.fit(open_table(original, policy)), policy)
        guarded = beside_original(counted, people, policy, codebook)
    result = audit_counted(
        table,
        policy,
        counted,
        detail=detail,
        guarded=guarded,
        claim=claim,
        codebook=codebook,
        notes=notes,
        progress=say,
    )
    if known is None and order is None:
        return result
    chain = markov_risk(counted, known=counted.names[:1] if known is None else known, order=order)
    return replace(result, risks=(*(risk for risk in result.risks if risk.name != chain.name), chain))


def audit_counted(
    table: Table,
    policy: Policy,
    classes: EquivalenceClasses,
    *,
    detail: Detail = "core",
    original: EquivalenceClasses | None = None,
    guarded: EquivalenceClasses | None = None,
    claim: Claim | None = None,
    codebook: Codebook | None = None,
    notes: Sequence[str] = (),
    progress: Progress | None = None,
) -> Audit:
    """The audit of a table whose classes under the policy have been counted.

    Of a release, requirements that compare with the ``original`` do so if its classes are given.
    """
    say = progress or (lambda _: None)
    profile = load_profile(policy.profile)
    told = [*notes, *_limitations(classes, policy, detail)]
    say("privacy models")
    # Of millions of classes most hold the same: one of each kind is looked at, exactly.
    counted = population_sizes(policy, classes, codebook) if policy.population is not None else None
    if counted is not None:
        classes = with_people(classes, counted)
    kinds = ClassKinds.of(classes) if are_many(classes) and original is None else classes
    # Who of the population shares a class's values depends on its values or weights, unless it is a fraction of all.
    sampled = kinds if policy.population is None and classes.weights is None else classes
    population = population_sizes(policy, sampled) if counted is None else counted
    measures = measure_all(kinds, linked=policy.person is not None)
    measures.insert(-1, marketer(sampled, population))
    people = [] if counted is None else population_measures(classes, counted)
    measures += [*people, *guard_measures(policy, guarded or classes)]
    if kinds is not classes:
        measures = [replace(measure, per_class=None) for measure in measures]
    say("risks per record")
    risks = _risks(classes, kinds, progress)
    risks += [] if population is None else [journalist(sampled, population)]
    rules = []
    findings = cache(lambda: recognise_columns(table))
    for rule in profile.rules:
        say(Sentence("rule {rule}", rule=rule))
        rules.append(RULES[rule](table, policy, findings))
    say("verdict")
    intruders = views(policy, classes)
    verdict = decide(
        kinds,
        policy=policy,
        profile=profile,
        risks=risks,
        rules=rules,
        unknown=known_columns(table, policy, findings),
        guarantees=judged_guarantees(table, policy, profile, claim),
        original=original,
        guarded=guarded,
        separately=intruders[:-1] if policy.judged == "separately" else (),
    )
    estimates = _estimates(classes, policy, say)
    exposure = expose(classes, policy.sampling_fraction, say) if detail == "full" else None
    told += [*estimated(classes, exposure), *together_note(policy, intruders)]
    missing = tuple(missing_values(classes))
    if are_many(classes):
        unpacked(classes)
    return Audit(
        source=table.source,
        rows=table.rows,
        persons=classes.total_persons,
        event_level=classes.event_level,
        columns=len(table.columns),
        policy=policy,
        verdict=verdict,
        measures=tuple(measures),
        risks=tuple(risks),
        estimates=tuple(estimates),
        missing=missing,
        exposure=exposure,
        classes=classes,
        intruders=intruders,
        notes=tuple(told),
    )


def _risks(
    classes: EquivalenceClasses, kinds: EquivalenceClasses, progress: Progress | None
) -> list[RecordRisk]:
    """The risks per record that need no population."""
    risks = [*all_scorr(classes, kinds=kinds, progress=progress), prosecutor(kinds)]
    risks += [gain(kinds, domain.name) for domain in classes.sensitive]
    if len(classes.names) > 1 and not classes.event_level:
        risks.append(markov_risk(classes, known=[classes.names[0]]))
    return risks


def _limitations(classes: EquivalenceClasses, policy: Policy, detail: Detail) -> list[str]:
    """What is not assessed, or not in all combinations."""
    told: list[str] = []
    if not policy.sensitive:
        told.append(
            "no sensitive attribute is named: only re-identification is assessed, not what is disclosed"
        )
    if detail == "full" and combined(len(classes.names)) < min(COMBINED, len(classes.names)):
        told.append(
            Sentence(
                "{names} quasi-identifiers are many: for combinations that single people out, at most "
                "{names2} of them were combined",
                names=len(classes.names),
                names2=combined(len(classes.names)),
            )
        )
    return told


def measure_all(classes: EquivalenceClasses, *, linked: bool = True) -> list[Measure]:
    """Every privacy model that the table can be measured by, for each sensitive attribute, and how many are unique.

    ``linked``: the table itself tells which rows belong to one person.
    """
    models: list[PrivacyModel] = [KAnonymity(1)]
    if classes.event_level:
        models += [KAnonymity(1, unit="records"), GBalance(0.0)]
        models += [LinkedKAnonymity(1)] if linked else []
    for domain in classes.sensitive:
        models += _sensitive_models(domain, classes)
    if len(classes.sensitive) > 1:
        models.append(MultiAttributeLDiversity(1))
    measures = [model.measure(classes) for model in models]
    return [
        *measures,
        unique_records(classes),
        average_risk(classes),
        share_above(classes, 1 / RIGHT_EDGE_OF_SMALL),
    ]


def _sensitive_models(domain: Domain, classes: EquivalenceClasses) -> list[PrivacyModel]:
    name = domain.name
    models: list[PrivacyModel] = [
        LDiversity(1, name),
        LDiversity(1, name, kind="entropy"),
        LDiversity(1, name, kind="simple"),
        LDiversity(2, name, kind="recursive", c=1.0),
        TCloseness(1.0, name, distance="ordered" if domain.is_numeric else "equal"),
        BetaLikeness(1.0, name),
        BetaLikeness(1.0, name, kind="enhanced"),
        DeltaDisclosure(1.0, name),
        AlphaKAnonymity(1.0, 1, name),
    ]
    if classes.event_level:
        models.append(HAffiliation(1.0, name))
    if domain.is_numeric:
        known = domain.numbers[~np.isnan(domain.numbers)]
        width = float(known.max() * 0.05 - known.min() * 0.05)
        models.append(KEAnonymity(1, 0.0, name))
        if width > 0:
            models += [EpsilonMAnonymity(width, 1.0, name), WorstGroupProtection(1.0, width, name)]
    return models


def _estimates(classes: EquivalenceClasses, policy: Policy, say: Progress) -> list[Estimate]:
    """What the sample says about the population; needs weights or a sampling fraction."""
    weights = classes.class_weights
    fraction = sampled_share(policy, classes)
    if fraction is None:
        return []
    say("population estimates")
    sizes = classes.persons
    estimates = [estimate(sizes, sampling_fraction=fraction) for estimate in (zayatz, pitman, snb, dankar)]
    if weights is not None:
        risk = global_risk(sizes, population_sizes=np.maximum(weights, sizes))
    else:
        risk = global_risk(sizes, sampling_fraction=fraction)
    estimates += [risk.expected, risk.rate]
    if classes.event_level:
        # The model is of one record per person.
        return estimates
    levels = [domain.size for domain in classes.attributes]
    fitted = loglinear_risk(
        classes.codes,
        levels=levels,
        sizes=sizes,
        sampling_fraction=fraction,
        model="two-way" if len(levels) > 1 and math.prod(levels) <= TWO_WAY_CELLS else "independence",
    )
    copula = copula_risk(
        classes.codes,
        levels=levels,
        sizes=sizes,
        sampling_fraction=fraction,
        orders=orders_of(classes.attributes),
    )
    return [*estimates, copula, fitted.unique, fitted.matches]


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    return {
        "discreet": version("discreet"),
        "python": platform.python_version(),
        **{name: version(name) for name in ("duckdb", "numpy", "pyarrow")},
    }
