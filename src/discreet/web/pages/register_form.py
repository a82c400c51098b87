"""The register on the page: what was published about the same people, and how their risk adds up."""

from __future__ import annotations

from typing import Any

from discreet.errors import DiscreetError
from discreet.register.entry import RegisterEntry
from discreet.web.cases import Case
from discreet.web.policies import policy_of
from discreet.web.refusals import explain
from discreet.web.registers import place_of
from discreet.web.service import Service

MOST_ENTRIES = 8
"""So many entries are listed, the newest."""
Content = dict[str, Any]


def register(service: Service, case: Case) -> Content:
    """The register of a table, and who is who in it."""
    made = service.latest(case, "anonymize", done=True)
    entered = service.latest(case, "enter-release", done=True)
    content: Content = {
        "place": place_of(case),
        "usual": usual_place(service, case),
        "damage": None,
        "entries": [],
        "earlier": 0,
        "withdrawn": (),
        "released": made is not None and not service.outdated(case, made),
        "entered": entered is not None and not service.outdated(case, entered),
        "person": None,
        "persons": [],
    }
    if not case.was_read or content["place"] is None:
        return content
    policy = policy_of(case)
    persons = [name for name in (policy.person, *policy.direct_identifiers) if name]
    content |= {"persons": list(dict.fromkeys(persons)), "person": policy.person}
    try:
        entries = content["place"].register.entries() if content["place"].begun else ()
    except DiscreetError as error:
        return {**content, "damage": explain(error)}
    return {
        **content,
        "entries": [_told(entry) for entry in reversed(entries[-MOST_ENTRIES:])],
        "earlier": max(0, len(entries) - MOST_ENTRIES),
        "withdrawn": [entry.withdraws for entry in entries],
    }


def usual_place(service: Service, case: Case) -> tuple[str, str]:
    """The register that another table was laid over last, to begin with."""
    for other in sorted(service.cases, key=lambda other: -other.used):
        place = None if other is case else place_of(other)
        if place is not None:
            return str(place.folder), str(place.key_file)
    return "", ""


def _told(entry: RegisterEntry) -> Content:
    return {
        "number": entry.number,
        "kind": entry.kind,
        "day": entry.time[:10],
        "file": entry.file,
        "audience": entry.audience,
        "rows": f"{entry.rows:,}",
        "people": f"{entry.persons:,}" if entry.people_sha256 else "",
        "withdraws": entry.withdraws,
        "reason": entry.reason,
        "unseen": entry.unseen,
    }
