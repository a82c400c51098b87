"""The sections of the page: what each shows, besides its job, and its response."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from discreet.policy.plan import FOLLOWED, METHODS, Plan
from discreet.policy.settings import bare, bounds, settings
from discreet.release.frontier import USUAL_K
from discreet.release.profile import load_profile, profile_titles
from discreet.reports.words import SYMBOLS
from discreet.sentences import loads
from discreet.table.roles import ROLES
from discreet.utility.objectives.registry import OBJECTIVES
from discreet.web import prices, requirements
from discreet.web.api.parameters import FORMATS
from discreet.web.cases import Case
from discreet.web.downloads import DOWNLOADS
from discreet.web.jobs.scheduler import Job
from discreet.web.jobs.worker import READY_DOCUMENT, ROWS, VIEW
from discreet.web.pages import basket_views, together_views
from discreet.web.pages.budget_form import budget, ledger_mark
from discreet.web.pages.evidence_views import scenarios
from discreet.web.pages.family_views import families
from discreet.web.pages.known_policies import with_policies
from discreet.web.pages.reading_form import reading
from discreet.web.pages.register_form import register
from discreet.web.pages.rendering import markup, render
from discreet.web.pages.walks import WALKS, walk_of
from discreet.web.pages.walks import bar as told_bar
from discreet.web.policies import (
    PolicyPart,
    columns_document,
    columns_of,
    policy_hash,
    policy_of,
    policy_problems,
    uncertain,
    with_sentences,
)
from discreet.web.refusals import not_found
from discreet.web.registers import register_mark
from discreet.web.service import Service
from discreet.web.together import fingerprint_of_members

HEAVIEST = 4.0
"""How much an attribute can matter at most, by the page's slider; a policy file may say more."""
MOST_COLUMNS = 14
"""So many columns are listed before the others are one question away."""
MOST_NAMES = 8
"""So many columns of a role are named where nothing is to be checked."""
MOST_ASKED = 10
"""So many uncertain ones are asked about at a time."""
MOST_ROWS = 3
"""So many rows are shown before and after."""
MOST_BESIDE = 12
"""So many columns of these rows are shown, those that changed before the others."""
MOST_COMPARED = 6
"""Of so many columns it is said how many values each release keeps; the others are one question away."""
MOST_NAMED = 3
"""So many columns that a release leaves out are named."""
SHORT_SECONDS, SHORT_PAUSE, LONG_PAUSE = 3, 150, 500
"""How long a job may be a short one, and after how many milliseconds it is asked about then, and later."""
Content = dict[str, Any]


def file(service: Service, case: Case) -> Content:
    """The first rows, and how the table was read."""
    offered = basket_views.offered(case)
    if not case.was_read:
        return {"table": None, "rows": None, "offered": offered, **reading(case)}
    rows = case.folder / ROWS
    shown = loads(rows.read_text(encoding="utf-8")) if rows.exists() else {"names": [], "rows": []}
    return {
        "table": columns_document(case)["table"],
        "rows": shown,
        "offered": offered,
        **reading(case),
    }


def policies(service: Service, case: Case) -> Content:
    """The tables whose policies can be taken over."""
    return {"others": with_policies(service, case)}


def columns(service: Service, case: Case) -> Content:
    """The columns with their roles and distributions: those with an uncertain role, and all others."""
    if not case.was_read:
        return {"asked": [], "clear": [], "problems": []}
    policy = with_sentences(policy_of(case), case.columns_file)
    shown = []
    for number, column in enumerate(columns_document(case)["columns"]):
        given = policy.column(column["name"])
        # The rest may be most of it: it must not make all others invisible.
        highest = max((bar["records"] for bar in column["distribution"] if not bar.get("rest")), default=0)
        shown.append(
            {
                **column,
                "number": number,
                "role": given.role if given else None,
                "reason": given.reason if given else "",
                "asked": uncertain(column["reason"]),
                "open": given is not None and uncertain(given.reason),
                "highest": highest,
            }
        )
    asked = [column for column in shown if column["asked"]]
    clear = [column for column in shown if not column["asked"]]
    # Where nothing is asked and the list is folded, there would be nothing to see.
    by_role = [(role, [column["name"] for column in clear if column["role"] == role]) for role in ROLES]
    return {
        "asked": asked,
        "clear": clear,
        "by_role": [(role, names) for role, names in by_role if names]
        if not asked and len(clear) > MOST_COLUMNS
        else [],
        "most_names": MOST_NAMES,
        "most": MOST_COLUMNS,
        "most_asked": MOST_ASKED,
        "roles": ROLES,
        "problems": policy_problems(case),
    }


def verdict(service: Service, case: Case) -> Content:
    """The profile that is judged by, those that can be chosen, and how far reading is before there is a verdict."""
    profile = policy_of(case).profile if case.was_read else ""
    return {
        "profile_name": profile,
        "profiles": profile_titles(),
        "reading_job": None if case.was_read else service.latest(case, "read"),
    }


def plan(service: Service, case: Case) -> Content:
    """What is required, how the search goes about it, and how much each attribute matters."""
    if not case.was_read:
        return {"plan": None}
    policy = policy_of(case)
    chosen = policy.plan
    numbers = {column["name"]: number for number, column in enumerate(columns_of(case))}
    weights = {name: float(chosen.weights.get(name, 1.0)) for name in policy.quasi_identifiers}
    return {
        "plan": chosen,
        "suppression": bounds(settings(Plan)["suppression_limit"]),
        "methods": METHODS,
        "method_settings": {
            name: get_args(bare(settings(Plan)[name].annotation))
            for name, methods in FOLLOWED.items()
            if chosen.method in methods and get_origin(bare(settings(Plan)[name].annotation)) is Literal
        },
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


def priced(service: Service, case: Case) -> Content:
    """What each requirement and column costs, and whether something is done without since the release was made."""
    told = prices.told(service, case)
    if told is None:
        return {"columns": [], "requirements": [], "profiles": [], "profile_title": "", "changed": False}
    columns = prices.listed_columns(case, told["columns"])
    required = prices.listed_requirements(case, told["requirements"])
    made = service.latest(case, "anonymize", done=True)
    return {
        "columns": columns,
        "requirements": required,
        "profiles": prices.listed_profiles(case, told),
        "profile_title": load_profile(policy_of(case).profile).title,
        "profile_of_release": load_profile(told["profile"]).title,
        "large": told["classes"] > prices.LARGE,
        "changed": made is not None and service.outdated(case, made),
    }


def release(service: Service, case: Case) -> Content:
    """The releases that can be chosen."""
    done = service.latest(case, "anonymize", done=True)
    return {
        "choices": service.document(done, READY_DOCUMENT) if done else None,
        "most_rows": MOST_ROWS,
        "most_columns": MOST_COMPARED,
        "most_beside": MOST_BESIDE,
        "most_named": MOST_NAMED,
    }


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
    if not case.was_read:
        return {"sizes": [], "swept": (), "methods": METHODS, "method": ""}
    return {
        "sizes": sorted({*USUAL_K, 11}),
        "swept": USUAL_K,
        "methods": METHODS,
        "method": policy_of(case).plan.method,
    }


def downloads(service: Service, case: Case) -> Content:
    """What can be downloaded, and whether the bundle is still to become fuller."""
    ready = {kind for kind in service.kinds if service.latest(case, kind, done=True)}
    bundle = walk_of(case).bundle
    available = [what for what, (kind, _, _) in DOWNLOADS.items() if kind in ready and what != bundle]
    tried = service.latest(case, "evidence")
    return {
        "available": available,
        "formats": FORMATS,
        "bundle": bundle,
        "evidence_comes": tried is not None and tried.active,
    }


def bar(service: Service, case: Case) -> Content:
    """Where one is, and where the next thing to do is asked for and shown."""
    sections = {step.name: step.sections[0] for step in walk_of(case).steps}
    judged_at = {"table": "jobs/audit", "baskets": "baskets", "tables": "together"}
    return {**told_bar(service, case), "targets": sections, "judged_at": judged_at[case.shape]}


def members_mark(case: Case) -> object:
    """Whether roles of the tables that a case holds are still the same."""
    return (case.shape, fingerprint_of_members(case) if case.members else None)


BAR_KINDS = tuple(sorted({kind for walk in WALKS.values() for kind in walk.kinds.values()} - {"read"}))
"""The kinds of jobs by which the bar says where one is."""


@dataclass(frozen=True)
class Section:
    """A part of the page: its template is ``sections/<name>.html.jinja``.

    ``kind`` is the job whose progress and result it shows, ``also`` other kinds if the newest of all counts; ``content``
    adds what else the template needs, ``watches`` names the other kinds of jobs that this depends on, ``rests`` how much of
    the policy, ``others`` gives the other tables, and ``mark`` tells whether a file beside the table is still the same.
    """

    name: str
    kind: str | None = None
    also: tuple[str, ...] = field(default=(), kw_only=True)
    content: Callable[[Service, Case], Content] = lambda service, case: {}
    watches: tuple[str, ...] = ()
    rests: PolicyPart = "policy"
    others: Callable[[Service, Case], list[Case]] = lambda service, case: []
    mark: Callable[[Case], object] = lambda case: None

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in (self.kind, *self.also) if kind)

    @property
    def template(self) -> str:
        return f"sections/{self.name}.html.jinja"


SECTIONS: dict[str, Section] = {
    section.name: section
    for section in (
        Section("bar", None, bar, watches=BAR_KINDS, mark=members_mark),
        Section("file", "read", file, rests="roles"),
        Section("policies", None, policies, rests="roles", others=with_policies),
        Section("columns", None, columns),
        Section("verdict", "audit", verdict, rests="roles"),
        Section("advice", "recommend"),
        Section("plan", None, plan, rests="forms"),
        Section("preview", "preview"),
        Section("prices", "foresee", priced, watches=("anonymize",)),
        Section("release", "anonymize", release),
        Section("evidence", "evidence", evidence, watches=("anonymize",)),
        Section("frontier", "frontier", frontier),
        Section("families", "families", families),
        Section("budget", "synthesize", budget, also=("tabulate", "ask", "learn"), mark=ledger_mark),
        Section(
            "register",
            "judge-release",
            register,
            also=("enter-release",),
            watches=("anonymize",),
            mark=register_mark,
        ),
        Section("items", None, basket_views.items, rests="roles"),
        Section("basket_verdict", "judge-baskets", basket_views.judged),
        Section("basket_file", "judge-baskets", basket_views.judged),
        Section("basket_release", "release-baskets", basket_views.released, watches=("judge-baskets",)),
        Section("together_verdict", "judge-tables", together_views.tables, mark=members_mark),
        Section("together_file", "judge-tables", together_views.tables, mark=members_mark),
        Section(
            "together_release",
            "release-tables",
            together_views.judged,
            watches=("judge-tables",),
            mark=members_mark,
        ),
        Section(
            "downloads",
            "report",
            downloads,
            watches=tuple(sorted({kind for kind, _, _ in DOWNLOADS.values()})),
        ),
    )
}
"""All sections. To add one: a template, its words in ``text/``, a line here, and its place in a step."""


FOLDS = {
    "findings": "verdict",
    "riskiest": "verdict",
    "became": "release",
    "changes": "release",
    "attacks": "evidence",
    "losses": "evidence",
    "exposure": "evidence",
    "exposing": "basket_verdict",
    "labels": "basket_release",
}
"""Answers that are fetched when somebody asks: the template is ``folds/<name>.html.jinja``, of this section."""


def stamp(service: Service, case: Case, section: Section) -> str:
    """A hash of all that a section shows, but for how far its job is: one that bears another stamp is out of date.

    It is taken before anything is looked at, so that what changes meanwhile leaves a stamp that is no longer right.
    """
    seen: list[object] = [policy_hash(case, section.rests)]
    for kind in ("read", *section.kinds, *section.watches):
        job, done = service.latest(case, kind), service.latest(case, kind, done=True)
        seen.append((kind, job and (job.id, job.state), done and done.id))
    seen += [(other.id, other.label) for other in section.others(service, case)]
    seen.append(section.mark(case))
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def section_content(service: Service, case: Case, section: Section) -> Content:
    """What the template of a section is given: the case, its newest job, and the newest result there is."""
    bears = stamp(service, case, section)
    job, done = (_newest(service, case, section, done=done) for done in (False, True))
    has_view = done is not None and (done.task.out / VIEW).exists()
    return {
        "case": case,
        "section": section,
        "stamp": bears,
        "job": job,
        "done": done,
        "view": service.document(done, VIEW) if done is not None and has_view else None,
        "outdated": done is not None and service.outdated(case, done),
        "ready": case.was_read,
        # Never translated, whatever they are called.
        "names": [column["name"] for column in columns_of(case)] if case.was_read else [],
        "symbols": SYMBOLS,
        **section.content(service, case),
    }


def _newest(service: Service, case: Case, section: Section, *, done: bool) -> Job | None:
    """The newest job of a section, or the newest that is done."""
    jobs = [job for kind in section.kinds if (job := service.latest(case, kind, done=done))]
    return max(jobs, key=lambda job: job.created, default=None)


def show_section(service: Service, request: Request, case: Case, name: str) -> Response:
    """The response that shows a section as it is now."""
    section = SECTIONS[name]
    return render(request, section.template, section_content(service, case, section))


def show_state(service: Service, request: Request, case: Case) -> Response:
    """The response by which a page finds out what to draw anew: the stamps of all sections, how far the jobs that are
    under way have come, and in how many milliseconds to ask again: soon while they may be short ones."""
    jobs = [job for job in service.jobs_of(case) if job.active]
    pauses = [SHORT_PAUSE if job.seconds < SHORT_SECONDS else LONG_PAUSE for job in jobs]
    return JSONResponse(
        {
            "stamps": {name: stamp(service, case, SECTIONS[name]) for name in walk_of(case).sections},
            "shape": case.shape,
            "progress": {job.id: markup(request, "parts/progress.html.jinja", {"job": job}) for job in jobs},
            "pause": min(pauses, default=None),
        }
    )


def show_fold(service: Service, request: Request, case: Case, name: str) -> Response:
    """The response that answers a question, as things are now."""
    content = section_content(service, case, SECTIONS[FOLDS[name]])
    if content["view"] is None:
        raise not_found("answer")
    return render(request, f"folds/{name}.html.jinja", content)
