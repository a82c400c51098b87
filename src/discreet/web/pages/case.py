"""The page: one template per section, each of which can be fetched alone while its job is under way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.datastructures import UploadFile

from discreet.release.profile import load_profile, profile_names
from discreet.reports.words import SYMBOLS
from discreet.table.roles import ROLES, Role
from discreet.web.api.parameters import FORMATS
from discreet.web.cases import Case
from discreet.web.pages import sections as plan_content
from discreet.web.pages.language import COOKIE, LANGUAGES, language_of, text, translate
from discreet.web.pages.phrasebook import phrasebook, translate_drawing
from discreet.web.policies import (
    LARGEST_POLICY,
    columns_of,
    policy_from,
    policy_of,
    problems,
    set_profile,
    set_role,
)
from discreet.web.refusals import Problem, not_found
from discreet.web.security import REPORT_POLICY
from discreet.web.service import DOWNLOADS, ExampleName, Service

Content = dict[str, Any]
CHANGED = {"hx-trigger": "case-changed"}
"""Tells the other sections of the page to look again."""


@dataclass(frozen=True)
class Section:
    """A part of the page: its template is ``sections/<name>.html.jinja``.

    ``kind`` is the job whose progress and result it shows; ``content`` adds what else the template needs.
    ``quiet`` says that the end of the job changes nothing for other sections.
    """

    name: str
    kind: str | None = None
    content: Callable[[Service, Case], Content] = lambda service, case: {}
    quiet: bool = False


def _columns(service: Service, case: Case) -> Content:
    if not case.columns_file.exists():
        return {"columns": [], "table": None, "problems": [], **plan_content.reading(case)}
    found = columns_of(case)
    policy = policy_of(case)
    columns = []
    for number, column in enumerate(found["columns"]):
        given = policy.column(column["name"])
        role = given.role if given else None
        # The rest may be most of it: it must not make all others invisible.
        highest = max((bar["records"] for bar in column["distribution"] if not bar.get("rest")), default=0)
        columns.append(
            {
                **column,
                "number": number,
                "role": role,
                "reason": given.reason if given else "",
                "highest": highest,
            }
        )
    return {
        "columns": columns,
        "table": found["table"],
        "roles": ROLES,
        "problems": problems(case),
        **plan_content.reading(case),
    }


def _verdict(service: Service, case: Case) -> Content:
    profile = policy_of(case).profile if case.policy_file.exists() else ""
    return {"profile_name": profile, "profiles": _profiles()}


def _downloads(service: Service, case: Case) -> Content:
    ready = {kind for kind in service.kinds if service.latest(case, kind, done=True)}
    return {"available": [what for what, (kind, _, _) in DOWNLOADS.items() if kind in ready]}


SECTIONS: dict[str, Section] = {
    one.name: one
    for one in (
        Section("columns", "read", _columns),
        Section("verdict", "audit", _verdict),
        Section("advice", "recommend"),
        Section("plan", None, plan_content.plan),
        Section("preview", "preview", plan_content.preview, quiet=True),
        Section("release", "anonymize", lambda service, case: {"formats": FORMATS}),
        Section("evidence", "evidence", plan_content.evidence),
        Section("frontier", "frontier", plan_content.frontier),
        Section("downloads", None, _downloads),
    )
}
"""The sections in the order of the page. To add one: a template, its words in ``text/``, and a line here."""


@cache
def _profiles() -> list[tuple[str, str]]:
    return [(name, load_profile(name).title) for name in profile_names()]


@cache
def environment() -> Environment:
    """Our templates, and the report's under ``release/``."""
    loader = ChoiceLoader(
        [PackageLoader("discreet.web.pages"), PrefixLoader({"release": PackageLoader("discreet.reports")})]
    )
    found = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters["drawn"] = drawn
    found.filters["say"] = say
    found.filters["percent_encoded"] = lambda value: quote(str(value), safe="")
    return found


@pass_context
def say(context: Context, text: object, *, capital: bool = False, plain: bool = False) -> str:
    """What the core says, in the language of the page; what has no translation is marked as English.

    ``capital`` begins it with a capital letter, ``plain`` gives no markup, for attributes of tags.
    """
    language, given = context["language"], str(text)
    said = translate(given, language, context.get("names", ()))
    shown = given if said is None else said
    shown = shown[:1].upper() + shown[1:] if capital else shown
    return shown if said is not None or plain else Markup('<span lang="en">{}</span>').format(shown)


@pass_context
def drawn(context: Context, svg: str) -> Markup:
    """A drawing with its words in the language of the page.

    Drawn by us from numbers and escaped names: the only markup that is not escaped again.
    """
    book = phrasebook(context["language"])
    return Markup(svg if book is None else translate_drawing(svg, book, context.get("names", ())))


def render(request: Request, template: str, content: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """A template in the language of the request."""
    language = language_of(request)
    body = environment().get_template(template).render({**content, "t": text(language), "language": language})
    response = HTMLResponse(body, status)
    if request.query_params.get("lang") in LANGUAGES:
        response.set_cookie(COOKIE, language, samesite="strict", httponly=True)
    return response


def problem_page(request: Request, problem: Problem, status: int) -> Response:
    """A failure as a message in place for the running page, else as a page of its own."""
    template = "parts/notice.html.jinja" if "hx-request" in request.headers else "problem.html.jinja"
    return render(request, template, {"problem": problem, "symbols": SYMBOLS}, status)


def router(service: Service) -> APIRouter:
    """All routes of the page, on one service."""
    routes = APIRouter(include_in_schema=False)
    settings = service.settings

    def section(
        request: Request, case: Case, name: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        content = section_content(service, case, SECTIONS[name])
        response = render(request, f"sections/{name}.html.jinja", content)
        response.headers.update(headers or {})
        return response

    @routes.get("/")
    def start(request: Request) -> Response:
        return render(
            request, "start.html.jinja", {"max_size": settings.max_size, "keep_hours": settings.keep_hours}
        )

    @routes.get("/static/report.css")
    def style() -> Response:
        return Response(
            environment().get_template("release/report.css.jinja").render(), media_type="text/css"
        )

    @routes.post("/case/example")
    def example(table: Annotated[ExampleName, Form()] = "residents") -> Response:
        case = service.example(table)
        service.start(case, "read")
        return RedirectResponse(f"/case/{case.id}", 303)

    @routes.post("/case/path")
    def from_path(path: Annotated[str, Form()]) -> Response:
        case = service.from_path(path.strip())
        service.start(case, "read")
        return RedirectResponse(f"/case/{case.id}", 303)

    @routes.get("/case/{case_id}")
    def show(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        language = language_of(request)
        words = {"t": text(language), "language": language}
        sections = [
            # Each was made by its own template, which has escaped what had to be.
            Markup(
                environment()
                .get_template(f"sections/{name}.html.jinja")
                .render({**section_content(service, case, one), **words})
            )
            for name, one in SECTIONS.items()
        ]
        content = {"case": case, "sections": sections, "keep_hours": settings.keep_hours}
        return render(request, "case.html.jinja", content)

    @routes.post("/case/{case_id}/remove")
    def remove(case_id: str) -> Response:
        service.remove(service.cases.get(case_id))
        return RedirectResponse("/", 303)

    @routes.get("/case/{case_id}/section/{name}")
    def get_section(request: Request, case_id: str, name: str, follows: str = "") -> Response:
        case = service.cases.get(case_id)
        if name not in SECTIONS:
            raise not_found("section")
        kind = SECTIONS[name].kind
        job = service.latest(case, kind) if kind else None
        # Who has followed a job to its end tells the other sections, once.
        ended = bool(follows) and (job is None or not job.active) and not SECTIONS[name].quiet
        return section(request, case, name, CHANGED if ended else None)

    @routes.post("/case/{case_id}/jobs/{kind}")
    async def start_job(request: Request, case_id: str, kind: str) -> Response:
        case = service.cases.get(case_id)
        service.start(case, kind, await fields(request))
        name = next((one.name for one in SECTIONS.values() if one.kind == kind), None)
        if name is None:
            raise not_found("section")
        return section(request, case, name)

    @routes.post("/case/{case_id}/jobs/{job_id}/cancel")
    def cancel_job(request: Request, case_id: str, job_id: str) -> Response:
        case = service.cases.get(case_id)
        job = service.job(case, job_id)
        service.jobs.cancel(job)
        name = next(one.name for one in SECTIONS.values() if one.kind == job.kind)
        return section(request, case, name, CHANGED)

    @routes.post("/case/{case_id}/columns/{number}/role")
    def change_role(request: Request, case_id: str, number: int, role: Annotated[Role, Form()]) -> Response:
        case = service.cases.get(case_id)
        columns = columns_of(case)["columns"]
        if not 0 <= number < len(columns):
            raise not_found("column")
        set_role(case, columns[number]["name"], role)
        given = policy_of(case).column(columns[number]["name"])
        response = render(
            request,
            "parts/reason.html.jinja",
            {"reason": given.reason if given else "", "problems": problems(case)},
        )
        response.headers.update(CHANGED)
        return response

    @routes.post("/case/{case_id}/policy")
    async def load_policy(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        async with request.form(max_files=1, max_fields=1) as form:
            given = form.get("policy")
            if not isinstance(given, UploadFile):
                raise not_found("file")
            raw = await given.read(LARGEST_POLICY + 1)
        service.put_policy(case, policy_from(raw))
        return Response(status_code=204, headers=CHANGED)

    @routes.post("/case/{case_id}/profile")
    def change_profile(request: Request, case_id: str, profile: Annotated[str, Form()]) -> Response:
        case = service.cases.get(case_id)
        if profile not in profile_names():
            raise not_found("profile")
        set_profile(case, profile)
        service.start(case, "audit")
        return section(request, case, "verdict")

    @routes.get("/case/{case_id}/download/{what}")
    def download(case_id: str, what: str, formulas: str = "neutralised", show: bool = False) -> Response:
        case = service.cases.get(case_id)
        found = service.download(case, what, for_people=formulas != "kept")
        if show and found.path.suffix == ".html":
            return FileResponse(
                found.path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
            )
        return FileResponse(found.path, media_type=found.media_type, filename=found.name)

    return routes


async def fields(request: Request) -> dict[str, Any]:
    """The filled fields of a form.

    A field called ``keep[]`` is a list, also if one value or none was chosen.
    """
    async with request.form() as form:
        return {
            key.removesuffix("[]"): [one for one in form.getlist(key) if one] if key.endswith("[]") else value
            for key, value in form.items()
            if value != "" or key.endswith("[]")
        }


def _names(case: Case) -> list[str]:
    return [one["name"] for one in columns_of(case)["columns"]] if case.columns_file.exists() else []


def section_content(service: Service, case: Case, section: Section) -> Content:
    """What the template of a section is given: the case, its newest job, and the newest result there is."""
    job = service.latest(case, section.kind) if section.kind else None
    done = service.latest(case, section.kind, done=True) if section.kind else None
    has_view = done is not None and (done.task.out / "view.json").exists()
    return {
        "case": case,
        "section": section,
        "job": job,
        "done": done,
        "view": service.document(done, "view.json") if done is not None and has_view else None,
        "outdated": done is not None and service.outdated(case, done),
        "ready": case.columns_file.exists(),
        # Never translated, whatever they are called.
        "names": _names(case),
        "symbols": SYMBOLS,
        **section.content(service, case),
    }
