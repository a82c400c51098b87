"""The routes of the start page and of a case: its sections, jobs, roles, policy and downloads."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool

from discreet.release.profile import profile_names
from discreet.table.roles import Role
from discreet.web.api.parameters import RolesParameters
from discreet.web.cases import Case
from discreet.web.pages.forms import filled_fields, sent_file
from discreet.web.pages.glossary import glossary
from discreet.web.pages.known_policies import recent_policies
from discreet.web.pages.language import language_of
from discreet.web.pages.rendering import environment, markup, render
from discreet.web.pages.sections import (
    FOLDS,
    SECTIONS,
    section_content,
    show_fold,
    show_section,
    show_state,
)
from discreet.web.pages.walks import opened, verdict_words, walk_of
from discreet.web.policies import column_at, policy_from, policy_text, set_profile, set_role, set_roles
from discreet.web.refusals import not_found
from discreet.web.security import REPORT_POLICY, home_of
from discreet.web.service import ExampleName, Service, size_in_words
from discreet.web.together import related


def router(service: Service) -> APIRouter:
    """All routes of the page, on one service."""
    routes = APIRouter(include_in_schema=False)
    _start_routes(routes, service)
    _case_routes(routes, service)
    _job_routes(routes, service)
    _policy_routes(routes, service)
    return routes


def _start_routes(routes: APIRouter, service: Service) -> None:
    def begun(request: Request, case: Case) -> Response:
        service.start(case, "read")
        return RedirectResponse(f"{home_of(request.scope)}/case/{case.id}", 303)

    @routes.get("/")
    def start(request: Request) -> Response:
        settings = service.settings
        content = {
            "tables": [
                {
                    "id": case.id,
                    "label": case.label,
                    "words": verdict_words(service, case),
                    "busy": any(job.active for job in service.jobs_of(case)),
                    "unread": case.shape == "table"
                    and not case.was_read
                    and (job := service.latest(case, "read"))
                    and not job.active,
                }
                for case in sorted(service.cases, key=lambda case: -case.created)
            ],
            "policies": recent_policies(service),
            "related": related(service.cases),
            "max_size": settings.max_size,
            "max_disk": size_in_words(settings.max_disk),
            "keep_hours": settings.keep_hours,
        }
        return render(request, "start.html.jinja", content)

    @routes.get("/glossary")
    def explain_words(request: Request) -> Response:
        return render(request, "parts/glossary.html.jinja", glossary())

    @routes.get("/static/report.css")
    def style() -> Response:
        return Response(
            environment().get_template("reports/report.css.jinja").render(), media_type="text/css"
        )

    @routes.post("/case/example")
    def example(request: Request, table: Annotated[ExampleName, Form()] = "residents") -> Response:
        return begun(request, service.example(table))

    @routes.post("/case/path")
    def from_path(request: Request, path: Annotated[str, Form()]) -> Response:
        return begun(request, service.from_path(path.strip()))


def _case_routes(routes: APIRouter, service: Service) -> None:
    @routes.get("/case/{case_id}")
    def show(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        case.language = language_of(request)
        parts = {
            name: markup(request, SECTIONS[name].template, section_content(service, case, SECTIONS[name]))
            for name in walk_of(case).sections
        }
        content = {
            "case": case,
            "layout": walk_of(case).steps,
            "parts": parts,
            "opened": opened(service, case),
            "keep_hours": service.settings.keep_hours,
        }
        return render(request, "case.html.jinja", content)

    @routes.post("/case/{case_id}/remove")
    def remove(request: Request, case_id: str) -> Response:
        service.remove(service.cases.get(case_id))
        return RedirectResponse(f"{home_of(request.scope)}/", 303)

    @routes.get("/case/{case_id}/section/{name}")
    def get_section(request: Request, case_id: str, name: str) -> Response:
        case = service.cases.get(case_id)
        if name not in walk_of(case).sections:
            raise not_found("section")
        return show_section(service, request, case, name)

    @routes.get("/case/{case_id}/state")
    def get_state(request: Request, case_id: str) -> Response:
        return show_state(service, request, service.cases.get(case_id))

    @routes.get("/case/{case_id}/fold/{name}")
    def get_fold(request: Request, case_id: str, name: str) -> Response:
        case = service.cases.get(case_id)
        if name not in FOLDS:
            raise not_found("answer")
        return show_fold(service, request, case, name)

    @routes.post("/case/{case_id}/choose/{place}")
    def choose(request: Request, case_id: str, place: int) -> Response:
        case = service.cases.get(case_id)
        service.choose(case, place)
        return show_section(service, request, case, "release")

    @routes.get("/case/{case_id}/download/{what}")
    def download(case_id: str, what: str, formulas: str = "neutralised", show: bool = False) -> Response:
        file = service.download(service.cases.get(case_id), what, for_people=formulas != "kept")
        if show and file.path.suffix == ".html":
            return FileResponse(
                file.path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
            )
        return FileResponse(file.path, media_type=file.media_type, filename=file.name)


def _job_routes(routes: APIRouter, service: Service) -> None:
    def section_of(kind: str) -> str:
        for section in SECTIONS.values():
            if kind in section.kinds:
                return section.name
        raise not_found("section")

    @routes.post("/case/{case_id}/jobs/{kind}")
    async def start_job(request: Request, case_id: str, kind: str) -> Response:
        case = service.cases.get(case_id)
        case.language = language_of(request)
        given = await filled_fields(request)
        if kind == "anonymize":
            given = {"alternatives": True, **given}
        # Whoever has a release wants to know what it withstands.
        then = {"anonymize": "evidence"}.get(kind)
        await run_in_threadpool(lambda: service.start(case, kind, given, then=then))
        return show_section(service, request, case, section_of(kind))

    @routes.post("/case/{case_id}/jobs/{job_id}/cancel")
    def cancel_job(request: Request, case_id: str, job_id: str) -> Response:
        case = service.cases.get(case_id)
        job = service.job(case, job_id)
        service.jobs.cancel(job)
        return show_section(service, request, case, section_of(job.kind))


def _policy_routes(routes: APIRouter, service: Service) -> None:
    @routes.post("/case/{case_id}/columns/{number}/role")
    def change_role(request: Request, case_id: str, number: int, role: Annotated[Role, Form()]) -> Response:
        case = service.cases.get(case_id)
        set_role(case, column_at(case, number)["name"], role)
        return Response(status_code=204)

    @routes.post("/case/{case_id}/roles")
    async def change_roles(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        given = RolesParameters.checked(await filled_fields(request))

        def change() -> None:
            set_roles(case, [column_at(case, number)["name"] for number in given.columns], given.role)

        await run_in_threadpool(change)
        return Response(status_code=204)

    @routes.post("/case/{case_id}/policy")
    async def load_policy(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        text = policy_from(await sent_file(request, "policy"))
        await run_in_threadpool(service.put_policy, case, text)
        return Response(status_code=204)

    @routes.post("/case/{case_id}/policy-of/{other_id}")
    def take_policy(request: Request, case_id: str, other_id: str) -> Response:
        case, other = service.cases.get(case_id), service.cases.get(other_id)
        service.put_policy(case, policy_text(other))
        return Response(status_code=204)

    @routes.post("/case/{case_id}/profile")
    def change_profile(request: Request, case_id: str, profile: Annotated[str, Form()]) -> Response:
        case = service.cases.get(case_id)
        if profile not in profile_names():
            raise not_found("profile")
        set_profile(case, profile)
        service.start(case, "audit")
        return show_section(service, request, case, "verdict")
