"""What columns that follow from others and are left out say of their values: groups that a reader knows, such as counties of towns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.examination import naming_people, texts_of
from discreet.policy.plan import Plan
from discreet.policy.suggest import recognise_columns
from discreet.release.prepare import Preparation
from discreet.risk.redundancy import told_by
from discreet.table import MISSING_MARKS, Table
from discreet.table.domain import NULL_SIGN
from discreet.table.hierarchies.hierarchy import LEARNED, WiderNames

MOST_SEVERAL = 0.1
"""Of so many values at most a column may say several things, or it does not follow from them."""
AT_LEAST_HALVED = 2
"""Names are wider where they are at most a half as many as the values."""

Wider = Mapping[str, tuple[WiderNames, ...]]


def wider_names(table: Table, policy: Policy, plan: Plan, counted: EquivalenceClasses) -> Wider:
    """Per attribute of names what each column that the plan drops says of its values, the finest first.

    ``counted`` are the classes of all quasi-identifiers. Numbers and dates are put together in their order, not by names;
    columns that name people, whatever they are called, name nothing else.
    """
    dropped = [
        name
        for name in plan.drop_attributes
        if name in counted.names and counted.attributes[counted.index(name)].places is None
    ]
    if not dropped:
        return {}
    looked_at = texts_of(table, set(dropped))
    naming = naming_people(looked_at, policy, partial(recognise_columns, looked_at))
    wider: dict[str, tuple[WiderNames, ...]] = {}
    for domain in counted.attributes:
        if domain.name in plan.drop_attributes or domain.places is not None:
            continue
        told = [_names(counted, domain.name, name) for name in dropped if name not in naming]
        following = [each for each in told if each is not None]
        if following:
            wider[domain.name] = tuple(sorted(following, key=lambda each: -len(set(each.names))))
    return wider


def _names(counted: EquivalenceClasses, source: str, column: str) -> WiderNames | None:
    """What a column says of the values of another, if it follows and is wider."""
    codes = told_by(counted, source, column)
    distinct = len(set(codes[codes >= 0].tolist()))
    if distinct < 2 or AT_LEAST_HALVED * distinct > len(codes) or (codes < 0).mean() > MOST_SEVERAL:
        return None
    labels = counted.attributes[counted.index(column)].labels()
    nothing = {NULL_SIGN, *MISSING_MARKS}
    return WiderNames(
        column,
        tuple(None if code < 0 or labels[code] in nothing else labels[code] for code in codes.tolist()),
    )


def with_wider(ready: Preparation, wider: Wider) -> Preparation:
    """The same with these names on learned hierarchies; what somebody gave or everybody knows has names."""
    ladders = (
        replace(ladder, wider=wider[ladder.name])
        if ladder.assumed == LEARNED and ladder.name in wider
        else ladder
        for ladder in ready.ladders
    )
    return replace(ready, ladders=tuple(ladders))
