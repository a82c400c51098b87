"""What each requirement and column of a case costs, and doing without one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit

from discreet.policy.file import make_model
from discreet.release.profile import load_profile
from discreet.web import requirements
from discreet.web.cases import Case
from discreet.web.jobs.worker import READY_DOCUMENT
from discreet.web.policies import changed_policy, columns_of, policy_of
from discreet.web.refusals import not_found
from discreet.web.service import Service

Row = dict[str, Any]
MOST_PROFILES = 5
"""So many other profiles are offered, those that lose most first: they ask for most."""
LARGE = 50_000
"""From so many classes on a change is not foreseen at once."""


def told(service: Service, case: Case) -> Mapping[str, Any] | None:
    """The prices that the newest release has left, if there is one."""
    made = service.latest(case, "anonymize", done=True)
    return None if made is None else service.document(made, READY_DOCUMENT)["prices"]


def listed_columns(case: Case, prices: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Every quasi-identifier with its price, the dearest first; those that are left out by now say so."""
    policy = policy_of(case)
    numbers = {column["name"]: number for number, column in enumerate(columns_of(case))}
    dropped = policy.plan.drop_attributes
    known = {price["name"]: price for price in prices}
    names = [*known, *(name for name in dropped if name not in known)]
    shown = [name for name in names if name in policy.quasi_identifiers]
    last = len([name for name in policy.quasi_identifiers if name not in dropped]) < 2
    return [
        {
            "with": None,
            "without": None,
            **known.get(name, {}),
            "name": name,
            "number": numbers[name],
            "dropped": name in dropped,
            "free": name in dropped or not last,
        }
        for name in shown
    ]


def listed_requirements(case: Case, prices: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Every requirement with its price; ``own`` ones can be done without, those of the profile and wishes cannot."""
    rows = requirements.listed(case)
    by_profile = {row.words for row in rows if row.number is None}
    present = {row.words for row in rows}
    return [
        {
            **price,
            "place": place,
            "own": price["own"] and not by_profile.intersection(price["covers"]),
            "by_profile": bool(by_profile.intersection(price["covers"])),
            "waived": price["own"] and not present.intersection(price["covers"]),
        }
        for place, price in enumerate(prices)
    ]


def listed_profiles(case: Case, prices: Mapping[str, Any]) -> list[Row]:
    """Profiles under which less would be lost; where another one is chosen by now, that of the release can be taken back."""
    chosen = policy_of(case).profile
    rows = [
        {
            "name": price["name"],
            "title": load_profile(price["name"]).title,
            "with": prices["loss"],
            "without": price["loss"],
            "chosen": price["name"] == chosen,
            "click": prices["profile"] if price["name"] == chosen else price["name"],
        }
        for price in prices["profiles"]
    ]
    return [row for row in rows if row["chosen"]] + [row for row in rows if not row["chosen"]][:MOST_PROFILES]


def drop_column(case: Case, name: str, *, drop: bool) -> None:
    """Leave a quasi-identifier out of the release, or take it back; one has to stay."""
    with case.changing():
        policy = policy_of(case)
        left = [
            other
            for other in policy.quasi_identifiers
            if other != name and other not in policy.plan.drop_attributes
        ]
        if name not in policy.quasi_identifiers or (drop and not left):
            raise not_found("column")
        with changed_policy(case) as document:
            plan = document.setdefault("anonymize", tomlkit.table())
            others = [other for other in policy.plan.drop_attributes if other != name]
            plan["drop_attributes"] = [*others, name] if drop else others
            # What is left out neither matters nor stays as it is.
            if name in plan.get("weights", {}):
                del plan["weights"][name]
            if name in plan.get("keep", []):
                plan["keep"].remove(name)
            # What is empty says nothing: a policy with it would count as another one.
            for setting in ("drop_attributes", "weights", "keep"):
                if setting in plan and not plan[setting]:
                    del plan[setting]
            if not plan:
                del document["anonymize"]


def waive(service: Service, case: Case, place: int, *, waived: bool) -> None:
    """Do without the own requirements of a price, or ask for them again."""
    prices = told(service, case)
    rows = listed_requirements(case, prices["requirements"]) if prices else []
    if not 0 <= place < len(rows) or not rows[place]["own"]:
        raise not_found("requirement")
    models = [make_model(entry) for entry in rows[place]["entries"]]
    with case.changing():
        present = policy_of(case).requirements
        if waived:
            for number in reversed(range(len(present))):
                if present[number] in models:
                    requirements.remove(case, number)
            return
        for entry, model in zip(rows[place]["entries"], models, strict=True):
            if model not in present:
                requirements.put(case, entry)
