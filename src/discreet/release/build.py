"""Make a release of a recoding: apply it to the rows, audit what came of it, and write down the recipe."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.hierarchies import FittedHierarchy
from discreet.policy.plan import Plan
from discreet.privacy import PrivacyModel
from discreet.release.audit import audit, audit_counted
from discreet.release.release import Release
from discreet.release.requirements import as_entry
from discreet.search.methods import SearchResult
from discreet.search.requirements import held, on_groups
from discreet.table import Table
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import ROOT
from discreet.transform.recipe import Recipe
from discreet.transform.recoding import Recoding, ReleasedAttribute, with_null
from discreet.transform.stand_in import with_stand_in
from discreet.types import AnyIntArray, BoolArray, Progress


@dataclass(frozen=True)
class Solution:
    """What is to become of a table: the change, and the requirements and hierarchies by which it was chosen.

    ``chosen`` is the result of one search, which knows classes and models only; here it is known what policy and
    profile required, what was wished for beyond (``models``), and what a reader must be told.
    """

    chosen: SearchResult
    fitted: tuple[FittedHierarchy, ...]
    models: tuple[PrivacyModel, ...]
    required: tuple[PrivacyModel, ...]
    notes: tuple[str, ...]


def make_release(
    table: Table,
    policy: Policy,
    plan: Plan,
    solution: Solution,
    *,
    counted: EquivalenceClasses,
    left_out: Sequence[str],
    key: str | None,
    progress: Progress,
) -> Release:
    """Apply a solution and audit what came of it; ``counted`` are the classes of the table under the policy.

    The recipe carries what is required; what was wished for beyond depends on the number of these rows.
    """
    progress("applying the change")
    recoding = solution.chosen.recoding
    gone = {*policy.direct_identifiers, *left_out}
    keyed: dict[str, str] = {}
    if policy.person is not None and policy.person not in gone:
        if plan.person == "drop":
            gone.add(policy.person)
        else:
            keyed[policy.person] = key or secrets.token_hex(32)
    columns = [name for name in table.names if name not in gone]
    values, kept, stand_ins = _new_values(recoding, plan, solution.models)
    released = table.engine.recode(
        table, recoding.classes, values=values, kept=kept, columns=columns, keys=keyed
    )
    progress("auditing the release")
    notes = solution.notes
    if plan.suppressed == "star" and recoding.suppressed_records:
        notes = (*notes, *_told(plan, stand_ins))
    remaining = replace(
        policy,
        columns=tuple(
            replace(column, type=None) if column.name in values else column
            for column in policy.columns
            if column.name not in gone
        ),
    )
    levels = recoding.levels or {}
    recipe = Recipe.of(
        recoding,
        requirements=[as_entry(model) for model in solution.required],
        suppression_limit=plan.suppression_limit,
        columns=columns,
        keyed=list(keyed),
        person=policy.person,
        profile=policy.profile,
        known={
            fitted.ladder.name: fitted.known(levels[fitted.ladder.name])
            for fitted in solution.fitted
            if fitted.ladder.name in levels
        },
    )
    return Release(
        released,
        recoding,
        recipe,
        remaining,
        plan,
        solution.chosen,
        solution.fitted,
        solution.models,
        audit_counted(table, policy, counted),
        audit(released, remaining, detail="core"),
        notes,
        stand_ins,
    )


def _told(plan: Plan, stand_ins: Mapping[str, object]) -> list[str]:
    """How suppressed records are shown, in words."""
    numbers = [name for name, value in stand_ins.items() if value != ROOT]
    if numbers:
        return [
            f"suppressed records show the {plan.suppressed_numbers} of the released values of "
            f"{', '.join(numbers)} and * elsewhere, and are one class of their own in the audit"
        ]
    told = ["suppressed records are shown with * and are one class of their own in the audit"]
    if plan.suppressed_numbers != "star":
        told.append(
            f"* stands for the {plan.suppressed_numbers} too: no released number could be used, or released "
            "records that look like it would not meet the requirements together with the suppressed ones"
        )
    return told


def _new_values(
    recoding: Recoding, plan: Plan, models: Sequence[PrivacyModel]
) -> tuple[Mapping[str, pa.Array], BoolArray, Mapping[str, object]]:
    """New values per class for the columns that change, which classes are shown, and what stands for ``*``."""
    changed = {
        column.name: column
        for domain, column, codes in zip(
            recoding.classes.attributes, recoding.columns, recoding.classes.codes, strict=True
        )
        if not _unchanged(column, codes, domain)
    }
    if plan.suppressed == "drop" or recoding.kept.all():
        return {name: column.per_class() for name, column in changed.items()}, recoding.kept, {}
    everybody = np.ones(len(recoding.kept), dtype=bool)
    shown = _suppressed_shown(recoding, plan)
    if _stands_apart(recoding, shown, models):
        stand_ins = {
            name: values[-1].as_py() for name, values in shown.items() if plan.suppressed_numbers != "star"
        }
    else:
        shown, stand_ins = _suppressed_shown(recoding, replace(plan, suppressed_numbers="star")), {}
    places = {
        column.name: pa.array(np.where(recoding.kept, column.codes, len(column.values)))
        for column in recoding.columns
    }
    return {name: values.take(places[name]) for name, values in shown.items()}, everybody, stand_ins


def _suppressed_shown(recoding: Recoding, plan: Plan) -> dict[str, pa.Array]:
    """Per column its values and, last, what a suppressed record shows: ``*`` or a statistic of the others."""
    shown = {}
    for column, domain in zip(recoding.columns, recoding.classes.attributes, strict=True):
        values = None
        if plan.suppressed_numbers != "star":
            values = with_stand_in(
                column, domain, recoding.kept, recoding.classes.records, plan.suppressed_numbers
            )
        shown[column.name] = (
            pa.concat_arrays([column.texts(), pa.array([ROOT])]) if values is None else values
        )
    return shown


def _stands_apart(recoding: Recoding, shown: Mapping[str, pa.Array], models: Sequence[PrivacyModel]) -> bool:
    """Whether no released class looks like the suppressed records, or holds together with them."""
    alike = recoding.kept.copy()
    for column in recoding.columns:
        texts = [str(value) for value in shown[column.name].to_pylist()]
        alike &= np.array([text == texts[-1] for text in texts[:-1]])[column.codes]
    if not alike.any() or all(values[-1].as_py() == ROOT for values in shown.values()):
        return True
    together = np.where(alike | ~recoding.kept, 0, recoding.groups() + 1)
    _, owner = np.unique(together, return_inverse=True)
    return bool(held(on_groups(models), recoding.classes, owner, int(owner.max()) + 1)[0])


def _unchanged(column: ReleasedAttribute, codes: AnyIntArray, domain: Domain) -> bool:
    return bool(column.values.equals(with_null(domain)) and (column.codes == codes).all())
