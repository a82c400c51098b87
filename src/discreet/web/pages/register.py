"""The page's routes for the register: open one, withdraw a release, and see how the risk of people adds up."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from discreet.reports.certificate import render_certificate
from discreet.reports.timeline import picture
from discreet.web.cases import Case
from discreet.web.pages.language import language_of
from discreet.web.pages.release_views import without_style
from discreet.web.pages.rendering import render
from discreet.web.pages.sections import show_section
from discreet.web.refusals import not_found
from discreet.web.registers import RegisterPlace, open_place, place_of
from discreet.web.security import REPORT_POLICY
from discreet.web.service import Service

LONGEST_PATH = 4096


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/case/{case_id}/register")
    def open_register(
        request: Request,
        case_id: str,
        folder: Annotated[str, Form(max_length=LONGEST_PATH)],
        key_file: Annotated[str, Form(max_length=LONGEST_PATH)],
    ) -> Response:
        case = service.cases.get(case_id)
        open_place(case, folder, key_file)
        return show_section(service, request, case, "register")

    @routes.post("/case/{case_id}/register/{number}/withdraw")
    def withdraw(
        request: Request,
        case_id: str,
        number: int,
        reason: Annotated[str, Form(max_length=500)],
        unseen: Annotated[str, Form()] = "",
    ) -> Response:
        case = service.cases.get(case_id)
        _place(case).register.withdraw(number, reason, unseen=bool(unseen))
        return show_section(service, request, case, "register")

    @routes.get("/case/{case_id}/register/timeline")
    def timeline(request: Request, case_id: str) -> Response:
        drawn = picture(_place(service.cases.get(case_id)).register.timeline())
        svg = "" if drawn is None else without_style(drawn.svg)
        return render(request, "parts/timeline.html.jinja", {"picture": drawn, "svg": svg})

    @routes.get("/case/{case_id}/register/{number}/certificate")
    def certificate(request: Request, case_id: str, number: int) -> Response:
        told = _place(service.cases.get(case_id)).register.certificate(number)
        return HTMLResponse(
            render_certificate(told, language=language_of(request)),
            headers={"content-security-policy": REPORT_POLICY},
        )

    return routes


def _place(case: Case) -> RegisterPlace:
    place = place_of(case)
    if place is None:
        raise not_found("register")
    return place
