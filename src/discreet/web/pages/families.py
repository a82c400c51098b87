"""The page's routes for steps of perturbation: their fields, another step, one less."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from starlette.concurrency import run_in_threadpool

from discreet.web import steps
from discreet.web.pages.forms import filled_fields
from discreet.web.pages.rendering import render
from discreet.web.pages.sections import show_section
from discreet.web.service import Service


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/case/{case_id}/steps/fields")
    def get_fields(request: Request, case_id: str, method: str, prefix: str) -> Response:
        service.cases.get(case_id)
        content = {"fields": steps.fields_of(method), "prefix": prefix}
        return render(request, "parts/step_fields.html.jinja", content)

    @routes.post("/case/{case_id}/steps")
    async def add_step(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        given = await filled_fields(request)
        await run_in_threadpool(steps.add, case, given)
        return await run_in_threadpool(show_section, service, request, case, "families")

    @routes.post("/case/{case_id}/steps/{number}/remove")
    def remove_step(
        request: Request, case_id: str, number: int, seen: Annotated[str | None, Form()] = None
    ) -> Response:
        case = service.cases.get(case_id)
        steps.remove(case, number, seen=seen)
        return show_section(service, request, case, "families")

    return routes
