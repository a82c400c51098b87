"""What people guard: which column says it, by which hierarchy, and beside releases that do not tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.guarded import GuardedClasses
from discreet.errors import InvalidPolicy
from discreet.measure import Measure
from discreet.policy import Policy
from discreet.policy.hierarchies import fit, named_hierarchies
from discreet.privacy import PersonalisedPrivacy, PrivacyModel
from discreet.privacy.personal import Paths
from discreet.release.codebook import Given as Codebook
from discreet.release.codebook import told_of
from discreet.release.tally import RowBatches
from discreet.sentences import Sentence
from discreet.table import Domain, Table
from discreet.types import IntArray


def guarded(model: PrivacyModel, policy: Policy, classes: EquivalenceClasses) -> PrivacyModel:
    """The model; one that asks what people guard with the column and the hierarchy of the policy, where it names none."""
    if not isinstance(model, PersonalisedPrivacy):
        return model
    named = policy.guards or tuple(domain.name for domain in classes.guards)
    guard = model.guard or (named[0] if len(named) == 1 else None)
    paths = model.hierarchy or _paths(policy, classes.sensitive_domain(model.sensitive))
    return replace(model, guard=guard, hierarchy=paths)


def _paths(policy: Policy, domain: Domain) -> Paths:
    """What stands above each value of a sensitive column, by the hierarchy that the policy names."""
    column = policy.column(domain.name)
    if column is None or column.hierarchy is None:
        raise InvalidPolicy(
            [
                Sentence(
                    "{model} is required, and {sensitive!r} has no hierarchy",
                    model=PersonalisedPrivacy.id,
                    sensitive=domain.name,
                )
            ],
            remedy='name one of the sensitive column: hierarchy = "diagnosis.csv"',
        )
    totals = [1] * domain.size
    hierarchy = fit(domain, pa.array(totals).to_numpy(), column.hierarchy, type=column.type).hierarchy
    return {row[0]: tuple(row[1:]) for row in hierarchy.rows()}


def asks(policy: Policy) -> bool:
    """Whether the policy requires what speaks of what people guard."""
    return any(model.needs_guards for model in policy.requirements)


def guard_measures(policy: Policy, classes: EquivalenceClasses) -> list[Measure]:
    """How surely what people guard is inferred: by what is required, else of the only sensitive attribute with a hierarchy."""
    asked = [model for model in policy.requirements if isinstance(model, PersonalisedPrivacy)]
    given = [name for name in policy.sensitive if (column := policy.column(name)) and column.hierarchy]
    if not asked and len(given) == len(classes.guards) == 1:
        asked = [PersonalisedPrivacy(1.0, given[0], classes.guards[0].name)]
    models = [
        guarded(replace(model, sensitive=domain.name), policy, classes)
        for model in asked
        for domain in classes.sensitive
        if model.sensitive in (domain.name, "*")
    ]
    measures = [
        model.measure(classes)
        for model in dict.fromkeys(models)
        if isinstance(model, PersonalisedPrivacy) and model.told(classes)
    ]
    return list({(measure.name, measure.attribute): measure for measure in measures}.values())


def beside_original(
    classes: EquivalenceClasses, original: EquivalenceClasses, policy: Policy, codebook: Codebook | None
) -> GuardedClasses:
    """The classes of a release with what those guard whom their labels may stand for."""
    told = {} if codebook is None else told_of(codebook, classes)
    return GuardedClasses.of(classes, original, named_hierarchies(policy, original), told)


def with_guards(rows: RowBatches, original: Table, names: Sequence[str], places: IntArray) -> RowBatches:
    """Released rows, in their order, with what the people behind them guard in the original."""
    if not names:
        return rows
    guards = original.engine.to_arrow(original, list(names)).take(pa.array(places))

    def batches(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        told = [name for name in wanted if name in names]
        others = [name for name in wanted if name not in names]
        start = 0
        for batch in rows.batches(others or rows.names[:1]):
            part = guards.slice(start, batch.num_rows).combine_chunks()
            start += batch.num_rows
            columns = {name: batch.column(name) for name in others}
            columns |= {name: _whole(part[name]) for name in told}
            yield pa.RecordBatch.from_pydict({name: columns[name] for name in wanted})

    return RowBatches((*rows.names, *names), rows.rows, batches)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
