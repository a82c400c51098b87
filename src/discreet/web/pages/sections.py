"""What the sections after the verdict show besides their jobs: requirements, plan, intruders and what can be swept."""

from __future__ import annotations

from typing import Any

from discreet.policy.plan import METHODS
from discreet.release.frontier import USUAL_K
from discreet.release.profile import load_profile
from discreet.utility.objectives.registry import OBJECTIVES
from discreet.web import requirements
from discreet.web.cases import Case
from discreet.web.pages.evidence_views import scenarios
from discreet.web.policies import columns_of, policy_of
from discreet.web.service import Service

HEAVIEST = 4.0
"""How much an attribute can matter at most, by the page's slider; a policy file may say more."""
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
ENCODINGS = ("utf-8", "cp1252", "iso-8859-15", "utf-16", "cp850", "mac-roman")

Content = dict[str, Any]


def plan(service: Service, case: Case) -> Content:
    """What is required, how the search goes about it, and how much each attribute matters."""
    if not case.policy_file.exists():
        return {"plan": None}
    policy = policy_of(case)
    chosen = policy.plan
    numbers = {one["name"]: number for number, one in enumerate(columns_of(case)["columns"])}
    weights = {name: float(chosen.weights.get(name, 1.0)) for name in policy.quasi_identifiers}
    return {
        "plan": chosen,
        "methods": METHODS,
        "objectives": list(OBJECTIVES),
        "sensitive": policy.sensitive,
        "requirements": requirements.listed(case),
        "extended": load_profile(policy.profile).extended is not None,
        "models": requirements.models(),
        "fields": requirements.fields_of(requirements.FIRST[0], policy.sensitive),
        "profile_title": load_profile(policy.profile).title,
        "attributes": [
            {
                "number": numbers[name],
                "name": name,
                "weight": weight,
                "most": max(HEAVIEST, weight),
                "keep": name in chosen.keep,
            }
            for name, weight in weights.items()
            if name in numbers
        ],
    }


def preview(service: Service, case: Case) -> Content:
    """Whether a preview will come by itself: it follows the audit, whose end may have gone unnoticed."""
    audit = service.latest(case, "audit")
    coming = audit is not None and (audit.active or audit.state == "done")
    return {"awaited": coming and service.latest(case, "preview") is None}


def evidence(service: Service, case: Case) -> Content:
    """Who may attack, and which columns may be known."""
    done = service.latest(case, "anonymize", done=True)
    if done is None:
        return {"released": False}
    policy = policy_of(case)
    return {
        "released": True,
        "scenarios": scenarios(),
        "knowable": [*policy.quasi_identifiers, *policy.sensitive],
    }


def frontier(service: Service, case: Case) -> Content:
    """What can be swept."""
    if not case.policy_file.exists():
        return {"sizes": [], "swept": (), "methods": METHODS, "method": ""}
    return {
        "sizes": sorted({*USUAL_K, 11}),
        "swept": USUAL_K,
        "methods": METHODS,
        "method": policy_of(case).plan.method,
    }


def reading(case: Case) -> Content:
    """How the table was read, and what a form for reading it in another way offers."""
    given = policy_of(case).read if case.policy_file.exists() else {}
    found = columns_of(case)["table"] if case.columns_file.exists() else {}
    return {
        "given": given,
        "settings": {key: _shown(value) for key, value in found.get("settings", {}).items()},
        "reading_notes": found.get("notes", []),
        "delimiters": DELIMITERS,
        "encodings": ENCODINGS,
    }


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return {"\t": "⇥", " ": "␣"}.get(str(value), str(value))
