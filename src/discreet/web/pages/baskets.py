"""The page's routes for baskets: a file taken for baskets or for a table after all, and by what they are judged."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from discreet.errors import InvalidParameter
from discreet.web.cases import Case
from discreet.web.pages.forms import filled_fields
from discreet.web.pages.language import language_of
from discreet.web.pages.sections import show_section
from discreet.web.policies import column_at
from discreet.web.security import home_of
from discreet.web.service import Service

NAMED = ("separator", "basket", "item")
"""What says how baskets are read; a form hands on what was given before."""


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/case/{case_id}/baskets")
    async def judge(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        case.language = language_of(request)
        given = _given(case, await filled_fields(request))
        await run_in_threadpool(service.start, case, "judge-baskets", given)
        if "hx-request" in request.headers:
            return show_section(service, request, case, "basket_verdict")
        return RedirectResponse(f"{home_of(request.scope)}/case/{case.id}", 303)

    @routes.post("/case/{case_id}/table")
    def read_as_table(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        service.start(case, "read")
        return RedirectResponse(f"{home_of(request.scope)}/case/{case.id}", 303)

    return routes


def _given(case: Case, sent: dict[str, Any]) -> dict[str, Any]:
    """What a form says of baskets, as the job takes it: columns by their names, a share and not a percentage."""
    given = {name: sent[f"given_{name}"] for name in NAMED if f"given_{name}" in sent}
    if "separator" in sent:
        given["separator"] = sent["separator"]
    for name in ("basket", "item"):
        number = str(sent.get(name, ""))
        if number.isdecimal():
            given[name] = column_at(case, int(number))["name"]
    given |= {name: sent[name] for name in ("k", "m") if name in sent}
    given["sensitive"] = [
        item for item in re.split(r"\s*[,;\n]\s*", sent.get("sensitive", "").strip()) if item
    ]
    if "rho" in sent:
        try:
            given["rho"] = float(sent["rho"].replace(",", ".")) / 100
        except ValueError:
            raise InvalidParameter("a share is a number", remedy="write a number, e.g. 30") from None
    return given
