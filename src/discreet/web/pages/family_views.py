"""The other kinds of releases on the page: families of methods by what they do to values, and the steps that are taken."""

from __future__ import annotations

from typing import Any

from discreet.perturb.registry import STEPS
from discreet.policy.plan import METHODS
from discreet.release.families import MethodFamily, method_families
from discreet.release.family_contest import FamilyComparison, FamilyPoint
from discreet.reports.families import MOST_SHOWN, numbered_chart
from discreet.reports.words import percent, title_of
from discreet.web import steps
from discreet.web.cases import Case
from discreet.web.pages.release_views import data, without_style
from discreet.web.policies import columns_of, policy_of
from discreet.web.service import Service

EFFECTS = {
    "keep true values, fewer details": "fewer",
    "keep true values, ties cut": "cut",
    "keep detail, values no longer true": "untrue",
    "artificial people": "artificial",
    "no rows at all": "none",
}
"""What families do to values, and what the page calls it."""
BY_BUDGET = ("synthesize", "safepub", "ask")
"""What is paid for from the budget of a table."""
Content = dict[str, Any]


def families(service: Service, case: Case) -> Content:
    """The families by their effects, the steps of the policy, and the columns that further ones may change."""
    if not case.was_read:
        return {"effects": [], "steps": [], "columns": []}
    policy = policy_of(case)
    bare = {*policy.direct_identifiers, policy.person}
    roles = {column.name: column.role for column in policy.columns}
    return {
        "effects": [
            {
                "id": name,
                "title": effect,
                "families": [_told(family) for family in _of(effect)],
                **_form(effect),
            }
            for effect, name in EFFECTS.items()
        ],
        "steps": steps.listed(case),
        "columns": [
            {"number": number, "name": column["name"], "role": roles.get(column["name"], "insensitive")}
            for number, column in enumerate(columns_of(case))
            if column["name"] not in bare
        ],
    }


def _of(effect: str) -> list[MethodFamily]:
    return [family for family in method_families() if family.effect == effect]


def _form(effect: str) -> Content:
    """The steps of an effect that a form can add, and the fields of the first."""
    methods = [name for family in _of(effect) for name in family.methods if steps.offered(name)]
    return {
        "methods": [(name, STEPS[name].title, STEPS[name].says) for name in methods],
        "fields": steps.fields_of(methods[0]) if methods else [],
    }


def _told(family: MethodFamily) -> Content:
    """A family in words: what it guarantees, what to try on it, and by which door it is made."""
    known = set(family.methods)
    door = (
        "step"
        if any(steps.offered(name) for name in family.methods)
        else "budget"
        if known & set(BY_BUDGET)
        else "here"
        if known & set(METHODS)
        else "command"
    )
    return {
        "id": family.id,
        "title": family.title,
        "steps": [(STEPS[name].title, STEPS[name].says) for name in family.methods if name in STEPS],
        "guarantee": family.guarantee,
        "leaves": [title_of(name) for name in family.leaves],
        "methods": family.methods,
        "door": door,
        "source": family.source,
    }


def contest(result: FamilyComparison) -> Content:
    """All families on one table: the picture, and the weakest of each that keeps to the exposure."""
    kept = {point.family for point in result.matched}
    names = dict.fromkeys(point.family for point in result.points)
    return data(
        {
            "svg": without_style(numbered_chart(result)),
            "beyond": any(
                point.measured and max(point.measured) > MOST_SHOWN
                for point in result.points
                if point.matched or point.best
            ),
            "exposure": percent(result.exposure),
            "rows": f"{result.rows:,}",
            "points": [_point(point) for point in result.matched],
            "others": [
                next(_point(point) for point in result.points if point.family == name)
                for name in names
                if name not in kept
            ],
            "notes": result.notes,
        }
    )


def _point(point: FamilyPoint) -> Content:
    return {
        "family": point.family,
        "strength": point.strength,
        "found": "" if point.found_share is None else percent(point.found_share),
        "error": "" if point.count_error is None else percent(point.count_error),
        "best": point.best,
        "failed": point.failed,
    }
