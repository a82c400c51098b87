"""The page's routes for several tables about the same people: taken together, and by what they are judged."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from discreet.web.pages.forms import filled_fields
from discreet.web.pages.language import language_of
from discreet.web.pages.sections import show_section
from discreet.web.security import home_of
from discreet.web.service import Service


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/case/together")
    async def take_together(request: Request) -> Response:
        given = await filled_fields(request)
        case = await run_in_threadpool(service.together, given.get("tables", []))
        case.language = language_of(request)
        await run_in_threadpool(service.start, case, "judge-tables")
        return RedirectResponse(f"{home_of(request.scope)}/case/{case.id}", 303)

    @routes.post("/case/{case_id}/together")
    async def judge(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        case.language = language_of(request)
        given: dict[str, Any] = await filled_fields(request)
        if str(given.get("known_events", "all")).isdecimal():
            given["known_events"] = int(given["known_events"])
        await run_in_threadpool(service.start, case, "judge-tables", given)
        return show_section(service, request, case, "together_verdict")

    return routes
