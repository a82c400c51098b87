"""The policies of the tables at work, to be taken over."""

from __future__ import annotations

from typing import Any

from discreet.release.profile import load_profile
from discreet.web.cases import Case
from discreet.web.policies import policy_of
from discreet.web.service import Service

MOST_POLICIES = 5
"""So many policies of other tables are offered."""


def with_policies(service: Service, without: Case | None = None) -> list[Case]:
    """The tables at work that have a policy, the newest first; a few of them."""
    cases = [case for case in service.cases if case.was_read and case is not without]
    return sorted(cases, key=lambda case: -case.created)[:MOST_POLICIES]


def recent_policies(service: Service) -> list[dict[str, Any]]:
    """The policies of the tables at work, with what they say."""
    rows = []
    for case in with_policies(service):
        policy = policy_of(case)
        rows.append(
            {
                "id": case.id,
                "label": case.label,
                "roles": len(policy.columns),
                "profile": load_profile(policy.profile).title,
            }
        )
    return rows
