"""Make a release of a recoding: apply it to the rows, audit what came of it, and write down the recipe."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from discreet.policy import Policy
from discreet.policy.examination import telling, unfit
from discreet.policy.hierarchies import FittedHierarchy
from discreet.policy.plan import Plan
from discreet.policy.suggest import recognise_columns
from discreet.privacy import PrivacyModel
from discreet.release.audit import Audit, audit_counted
from discreet.release.coarsen import CoarserClasses
from discreet.release.codebook import make_codebook
from discreet.release.constraints import measure_constraints
from discreet.release.perturb import PerturbedTable
from discreet.release.prepare import count_classes
from discreet.release.prices import PriceSearch, much_lost
from discreet.release.release import Release
from discreet.release.removed import GUARD, IDENTIFIER, PERSON, removed_columns
from discreet.release.representation import erased_categories, representation_note
from discreet.release.requirements import as_entry
from discreet.search.methods import SearchResult
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import ROOT
from discreet.transform.loss import leaf_share_loss
from discreet.transform.recipe import Recipe
from discreet.transform.recoding import Recoding, ReleasedAttribute, with_null
from discreet.types import AnyIntArray, BoolArray, Progress

MUCH = 0.5
"""Where more of the detail is lost, it is told which columns cost it."""
ORDER_KEPT = "rows stand in the order of the original: whoever holds a list of the people in that order can tell whose row is whose"


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
    policy: Policy,
    plan: Plan,
    solution: Solution,
    *,
    before: Audit,
    price_search: PriceSearch,
    left_out: Mapping[str, str],
    key: str | None,
    progress: Progress,
    perturbed: PerturbedTable,
    coarser: CoarserClasses | None = None,
) -> Release:
    """Apply a solution and audit what came of it; ``before`` is the audit of the original under the policy, and
    ``price_search`` tells what its columns and requirements cost.

    ``left_out`` are the columns that the release lacks besides direct identifiers, each with the reason. A solution
    may be one for ``coarser`` classes. ``perturbed`` is how the table came from its original, whose audit ``before`` is.
    The recipe carries what is required; what was wished for beyond depends on the number of these rows.
    """
    progress("applying the change")
    table, recoding, notes = perturbed.table, solution.chosen.recoding, solution.notes
    gone, keyed = _gone(policy, plan, left_out, key)
    # Persons are counted, and what they guard, also where the release will not tell.
    columns = [name for name in table.names if name not in gone or name in (policy.person, *policy.guards)]
    codes, named = ({}, policy) if coarser is None else (coarser.codes, coarser.policy)
    values, kept, stand_ins = _new_values(recoding, codes)
    released = table.engine.recode(
        table,
        recoding.classes,
        values=values,
        kept=kept,
        columns=columns,
        keys=keyed,
        codes=codes,
        # Rows that are put in a random order later need none now.
        in_order=plan.order == "kept" or coarser is None,
    )
    linked, released = released, released.without(gone)
    if plan.unexamined == "drop":
        progress("examining what nobody judged")
        culprits = _unfit(perturbed, released, policy, {*values, *gone})
        linked, released = linked.without(culprits), released.without(culprits)
        gone |= {name: _unjudged(why) for name, why in culprits.items()}
        notes += _told_of_unfit(culprits)
    removed = removed_columns(before.classes, recoding, gone, table.names)
    notes += tuple(column.note for column in removed if column.reason != gone[column.name])
    progress("auditing the release")
    rules = measure_constraints(perturbed.original, released, policy.constraints)
    notes += (*_told(solution.chosen.method, recoding, plan, stand_ins), *(r.note for r in rules if r.note))
    if (loss := leaf_share_loss(recoding)) > MUCH:
        progress("what each column costs")
        notes += much_lost(loss, recoding.classes, solution.models, price_search.of_columns())
    counting = _remaining(named, values, gone.keys() - {policy.person, *policy.guards})
    remaining = counting.without(gone.keys() - set(policy.guards))
    codebook = make_codebook(recoding, solution.fitted) if policy.population else None
    # Looked at before it is put in order, which happens when many rows are read.
    recounted = count_classes(counting.fit(linked), counting)
    notes = (*notes, ORDER_KEPT) if plan.order == "kept" else notes
    fit = remaining.fit(released)
    after = audit_counted(fit, remaining, recounted, original=recoding.classes, codebook=codebook)
    return Release(
        released := _ordered(released, plan),
        recoding,
        _recipe(solution, policy, plan, columns=released.names, keyed=list(keyed), coarser=coarser),
        remaining,
        plan,
        solution.chosen,
        solution.fitted,
        solution.models,
        before,
        after,
        notes,
        stand_ins,
        removed=removed,
        constraints=rules,
        perturbed=perturbed,
        recoded=frozenset(values),
        price_search=price_search,
    )


def _gone(
    policy: Policy, plan: Plan, left_out: Mapping[str, str], key: str | None
) -> tuple[dict[str, str], dict[str, str]]:
    """The columns that the release lacks, with reasons, and those that become pseudonyms, with their keys."""
    gone = {
        **dict.fromkeys(policy.direct_identifiers, IDENTIFIER),
        **dict.fromkeys(policy.guards, GUARD),
        **left_out,
    }
    if policy.person is None or policy.person in gone:
        return gone, {}
    if plan.person == "drop":
        return {**gone, policy.person: PERSON}, {}
    return gone, {policy.person: key or secrets.token_hex(32)}


def _unfit(
    perturbed: PerturbedTable, released: Table, policy: Policy, changed: Collection[str]
) -> dict[str, str]:
    """Columns that nobody judged and that the release must lack, by the original and by what is shown of it."""
    hidden = {*changed, *perturbed.columns} & set(policy.quasi_identifiers)
    told = telling(perturbed.original, released, policy, hidden)
    return told | unfit(released.without(told), policy, recognise_columns)


def _unjudged(why: str) -> Sentence:
    return Sentence("nobody judged it, and {why}", why=Sentence(why))


def _told_of_unfit(culprits: Mapping[str, str]) -> tuple[str, ...]:
    """What to tell about columns that nobody judged and that were left out."""
    return tuple(
        Sentence("{name} was left out: {reason}", name=name, reason=_unjudged(why))
        for name, why in culprits.items()
    )


def _recipe(
    solution: Solution,
    policy: Policy,
    plan: Plan,
    *,
    columns: Sequence[str],
    keyed: Sequence[str],
    coarser: CoarserClasses | None,
) -> Recipe:
    """How to do the same to other rows, from their values on."""
    recoding = solution.chosen.recoding
    levels = (recoding.levels if coarser is None else coarser.from_values(recoding.levels)) or {}
    recipe = Recipe.of(
        recoding,
        requirements=[as_entry(model) for model in solution.required],
        suppression_limit=plan.suppression_limit,
        columns=columns,
        keyed=keyed,
        sensitive=policy.sensitive,
        person=policy.person,
        profile=policy.profile,
        perturb=[step.to_dict() for step in policy.perturb],
        known={
            fitted.ladder.name: fitted.known(levels[fitted.ladder.name])
            for fitted in solution.fitted
            if fitted.ladder.name in levels
        },
    )
    return recipe if coarser is None else coarser.recipe(recipe)


def _remaining(policy: Policy, changed: Collection[str], gone: Collection[str]) -> Policy:
    """The policy of the release: without what is gone, and without the types of what has new values."""
    return replace(
        policy,
        columns=tuple(
            replace(column, type=None) if column.name in changed else column
            for column in policy.columns
            if column.name not in gone
        ),
        plan=replace(policy.plan, drop_attributes=()),
    )


def _ordered(released: Table, plan: Plan) -> Table:
    """The rows in the order of the plan: in a random one they stand by nothing but what is released of them."""
    return released if plan.order == "kept" else released.engine.shuffle(released, seed=plan.seed)


_GROUP_VALUES = {
    "median": "numbers show the median of their group, as the plan says",
    "mode": "numbers show the most frequent value of their group, as the plan says",
    "semantic": "categories show the value of their group that is nearest to the others along the hierarchy, as the plan says",
}


def _formed(method: str, plan: Plan) -> list[str]:
    """How groups were formed where the plan says something else than usual, and the search followed it."""
    told: list[str] = []
    if method == "mondrian" and plan.mondrian_mode == "strict":
        told.append("groups do not overlap, as the plan says: equal values never stand in two of them")
    if method == "microaggregation" and plan.group_size == "fixed":
        told.append(
            "groups are as small as may be, as the plan says, but for people who are alike or left over"
        )
    if method == "microaggregation" and plan.group_value != "mean":
        told.append(_GROUP_VALUES[plan.group_value])
    return told


def _told(method: str, recoding: Recoding, plan: Plan, stand_ins: Mapping[str, object]) -> list[str]:
    """How groups were formed, how suppressed records are shown, and who is missing, in words."""
    erased = erased_categories(recoding)
    starred = plan.suppressed == "star" and recoding.suppressed_records
    return [
        *_formed(method, plan),
        *(_stars(recoding, plan, stand_ins) if starred else []),
        *([representation_note(erased)] if erased else []),
    ]


def _stars(recoding: Recoding, plan: Plan, stand_ins: Mapping[str, object]) -> list[str]:
    """How suppressed records are shown that are not left out."""
    if not recoding.starred:
        return [
            Sentence(
                "the {suppressed_records:,} suppressed records are left out: shown with * they would be a "
                "class that does not meet the requirements",
                suppressed_records=recoding.suppressed_records,
            )
        ]
    numbers = [name for name, value in stand_ins.items() if value != ROOT]
    if numbers:
        return [
            Sentence(
                "suppressed records show the {suppressed_numbers} of the released values of {numbers} and * "
                "elsewhere, and are one class of their own in the audit",
                suppressed_numbers=Sentence(plan.suppressed_numbers),
                numbers=", ".join(numbers),
            )
        ]
    told = ["suppressed records are shown with * and are one class of their own in the audit"]
    if plan.suppressed_numbers != "star":
        told.append(
            Sentence(
                "* stands for the {suppressed_numbers} too: no released number could be used, or released "
                "records that look like it would not meet the requirements together with the suppressed ones",
                suppressed_numbers=Sentence(plan.suppressed_numbers),
            )
        )
    return told


def _new_values(
    recoding: Recoding, coarser: Collection[str]
) -> tuple[Mapping[str, pa.Array], BoolArray, Mapping[str, object]]:
    """New values per class for the columns that change, which classes are shown, and what stands for ``*``."""
    if recoding.hidden is None or recoding.kept.all():
        changed = {
            column.name: column.per_class()
            for domain, column, codes in zip(
                recoding.classes.attributes, recoding.columns, recoding.classes.codes, strict=True
            )
            if column.name in coarser or not _unchanged(column, codes, domain)
        }
        return changed, recoding.kept, {}
    shown = {
        column.name: recoding.hidden[column.name].take(
            pa.array(np.where(recoding.kept, column.codes, len(column.values)))
        )
        for column in recoding.columns
    }
    told = {name: values[-1].as_py() for name, values in recoding.hidden.items()}
    stand_ins = told if any(value != ROOT for value in told.values()) else {}
    return shown, np.ones(len(recoding.kept), dtype=bool), stand_ins


def _unchanged(column: ReleasedAttribute, codes: AnyIntArray, domain: Domain) -> bool:
    return bool(column.values.equals(with_null(domain)) and (column.codes == codes).all())
