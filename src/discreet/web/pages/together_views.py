"""Several tables on the page: how they are tied, whether they may be released together, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.relational.judging import RelationalAudit, known_rows
from discreet.relational.release import RelationalRelease
from discreet.relational.suggest import FoundTables
from discreet.release.profile import profile_titles
from discreet.release.verdict import Verdict
from discreet.reports.relational import drawing_of_tables
from discreet.reports.verdict import DECISION_TONES, acknowledged
from discreet.reports.words import percent
from discreet.sentences import loads
from discreet.web.cases import Case
from discreet.web.pages.release_views import data, without_style
from discreet.web.policies import to_check
from discreet.web.together import members_in

if TYPE_CHECKING:
    from discreet.web.service import Service

SCHEMA = "keys.json"
"""What was found about keys, also where the tables could not be judged."""
MOST_KNOWN = 3
"""So many known rows can be asked about by a form; a policy file may say more."""
Content = dict[str, Any]
WORDS = {
    "good": "These tables may be released together.",
    "warn": "These tables may be released together if the remaining risk is acknowledged.",
    "bad": "Do not release these tables together.",
}


def audit(result: RelationalAudit, schema: FoundTables, people: str) -> Content:
    """The verdict on several tables, and what explains it."""
    tone = _tone(result)
    return data(
        {
            "tone": tone,
            "words": WORDS[tone],
            "says": result.says,
            "people": people,
            "k": result.k,
            "svg": without_style(drawing_of_tables(schema.rows, schema.keys, schema.references).inside()),
            "intruders": _intruders(result),
            "tables": [_told(name, verdict) for name, verdict in result.verdicts.items()],
            "notes": result.notes,
        }
    )


def release(made: RelationalRelease) -> Content:
    """What became of several tables, what it costs, and what holds."""
    tone = _tone(made.after)
    before = {risk["known"]: risk for risk in _intruders(made.before)}
    return data(
        {
            "tone": tone,
            "words": WORDS[tone],
            "says": made.after.says,
            "loss": percent(made.loss),
            "tables": [
                {
                    "name": name,
                    "rows": f"{change.rows:,}",
                    "kept": f"{change.kept:,}",
                    "levels": list(change.levels.items()),
                }
                for name, change in made.changes.items()
            ],
            "intruders": [
                {**risk, "was": before.get(risk["known"], {}).get("alone", "")}
                for risk in _intruders(made.after)
            ],
            "verdicts": [_told(name, verdict) for name, verdict in made.after.verdicts.items()],
            "notes": made.notes,
        }
    )


def _tone(result: RelationalAudit) -> str:
    """The worst of what is said of the tables together and of each."""
    if not result.holds:
        return "bad"
    tones = {DECISION_TONES[verdict.decision] for verdict in result.verdicts.values()}
    return next((tone for tone in ("bad", "warn") if tone in tones), "good")


def _told(name: str, verdict: Verdict) -> Content:
    return {
        "name": name,
        "tone": DECISION_TONES[verdict.decision],
        "words": verdict.words,
        "acknowledged": acknowledged(verdict),
        "obstacles": [{"asked": row.description, "found": row.found} for row in verdict.obstacles],
    }


def _intruders(result: RelationalAudit) -> list[Content]:
    return [
        {
            "known": known_rows(risk.known),
            "fewest": "" if risk.fewest is None else f"{risk.fewest:,}",
            "alone": "" if risk.alone is None else f"{risk.alone:,}",
            "asked": risk.known == result.required,
        }
        for risk in result.intruders
    ]


def tables(service: Service, case: Case) -> Content:
    """The tables with their rows and keys, as far as they were schema, and how many roles are to be checked."""
    file = case.folder / SCHEMA
    schema = loads(file.read_text(encoding="utf-8")) if file.exists() else None
    listed = []
    there = {case.id: case for case in service.cases}
    for member in members_in(case.source) if case.members else ():
        single = there.get(member.case)
        listed.append(
            {
                "id": member.case,
                "name": member.name,
                "there": single is not None,
                "check": to_check(single) if single is not None and single.was_read else 0,
                "rows": f"{schema['rows'][member.name]:,}" if schema else "",
                "key": schema["keys"].get(member.name, "") if schema else "",
                "refers": [
                    each for each in (schema["references"] if schema else ()) if each["table"] == member.name
                ],
            }
        )
    job = service.latest(case, "judge-tables")
    given = {} if job is None else job.task.parameters.model_dump()
    return {
        "names": _names(case),
        "listed": listed,
        "schema": schema,
        "profile": given.get("profile") or (schema or {}).get("profile"),
        "profiles": profile_titles(),
        "people": given.get("people") or (schema or {}).get("people"),
        "known_events": given.get("known_events", "all"),
        "known_choices": ["all", *range(1, MOST_KNOWN + 1)],
    }


def judged(service: Service, case: Case) -> Content:
    """Whether there is a verdict to release by."""
    return {"names": _names(case), "judged": service.latest(case, "judge-tables", done=True) is not None}


def _names(case: Case) -> list[str]:
    """What is never translated, whatever it is called."""
    return [member.name for member in members_in(case.source)] if case.members else []
