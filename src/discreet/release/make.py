"""Make a release of a recoding: apply it to the rows, audit what came of it, and write down the recipe."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.hierarchies import FittedHierarchy
from discreet.policy.plan import Plan
from discreet.privacy import PrivacyModel
from discreet.release.audit import Progress, audit
from discreet.release.release import Release
from discreet.search.methods import Chosen
from discreet.table import Table
from discreet.table.hierarchy import ROOT
from discreet.transform.recipe import Recipe
from discreet.transform.recoding import NewColumn, Recoding


def count_classes(
    table: Table, policy: Policy, quasi_identifiers: Sequence[str] | None = None
) -> EquivalenceClasses:
    """The equivalence classes of a table, with what the policy calls sensitive and whom it counts."""
    return table.engine.count(
        table,
        quasi_identifiers=quasi_identifiers or policy.quasi_identifiers,
        sensitive=policy.sensitive,
        person=policy.person,
    )


def make_release(
    table: Table,
    policy: Policy,
    plan: Plan,
    recoding: Recoding,
    chosen: Chosen,
    fitted: tuple[FittedHierarchy, ...],
    models: tuple[PrivacyModel, ...],
    notes: Sequence[str],
    key: str | None,
    say: Progress,
    without: Sequence[str] = (),
    required: Sequence[PrivacyModel] | None = None,
) -> Release:
    """Apply a recoding and audit what came of it.

    A recipe carries what is ``required``; what was wished for beyond depends on the number of these rows.
    """
    say("applying the change")
    gone = {*policy.direct_identifiers, *without}
    keyed: dict[str, str] = {}
    if policy.person is not None and policy.person not in gone:
        if plan.person == "drop":
            gone.add(policy.person)
        else:
            keyed[policy.person] = key or secrets.token_hex(32)
    columns = [name for name in table.names if name not in gone]
    values, kept = _new_values(recoding, plan)
    released = table.engine.recode(
        table, recoding.classes, values=values, kept=kept, columns=columns, keys=keyed
    )
    say("auditing the release")
    remaining = replace(policy, columns=tuple(c for c in policy.columns if c.name not in gone))
    before = audit(table, policy, detail="core")
    judged = released
    if plan.suppressed == "star" and recoding.suppressed_records:
        notes = [*notes, "suppressed records are shown with * and are one class of their own in the audit"]
    types = {c.name: None for c in remaining.columns if c.name in values}
    remaining = replace(
        remaining, columns=tuple(replace(c, type=None) if c.name in types else c for c in remaining.columns)
    )
    after = audit(judged, remaining, detail="core")
    recipe = Recipe.of(
        recoding,
        requirements=[
            {
                "model": model.id,
                **{key: value for key, value in model.parameters().items() if value is not None},
            }
            for model in (models if required is None else required)
        ],
        suppression_limit=plan.suppression_limit,
        columns=columns,
        keyed=list(keyed),
        person=policy.person,
        profile=policy.profile,
        known={
            one.ladder.name: one.known(recoding.levels[one.ladder.name])
            for one in fitted
            if recoding.levels is not None and one.ladder.name in recoding.levels
        },
    )
    return Release(
        released, recoding, recipe, remaining, plan, chosen, fitted, models, before, after, tuple(notes)
    )


def _new_values(recoding: Recoding, plan: Plan) -> tuple[Mapping[str, pa.Array], NDArray[np.bool_]]:
    """New values per class for the columns that change, and which classes are shown."""
    changed = {
        column.name: column
        for domain, column, codes in zip(
            recoding.classes.attributes, recoding.columns, recoding.classes.codes, strict=True
        )
        if not _unchanged(column, codes, domain.values)
    }
    if plan.suppressed == "drop" or recoding.kept.all():
        return {name: column.per_class() for name, column in changed.items()}, recoding.kept
    starred = {}
    for column in recoding.columns:
        texts = column.texts()
        with_root = pa.concat_arrays([texts, pa.array([ROOT])])
        codes = np.where(recoding.kept, column.codes, len(texts))
        starred[column.name] = with_root.take(pa.array(codes))
    return starred, np.ones(len(recoding.kept), dtype=bool)


def _unchanged(column: NewColumn, codes: NDArray[np.integer], values: pa.Array) -> bool:
    same_type: bool = column.values.type == values.type
    return same_type and len(column.codes) == len(codes) and bool((column.codes == codes).all())
