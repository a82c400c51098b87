"""The page's routes for requirements, plan, frontier and another reading of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_origin

from fastapi import APIRouter, Form, Request, Response
from starlette.concurrency import run_in_threadpool

from discreet.policy.plan import FOLLOWED, Plan
from discreet.policy.settings import bare, settings
from discreet.release.profile import profile_names
from discreet.table.reading import ReadOptions
from discreet.web import prices, requirements
from discreet.web.api.parameters import PlanParameters
from discreet.web.cases import Case
from discreet.web.pages.forms import filled_fields
from discreet.web.pages.rendering import render
from discreet.web.pages.sections import show_section
from discreet.web.policies import column_at, columns_of, policy_of, policy_problems, set_plan, set_profile
from discreet.web.refusals import not_found
from discreet.web.service import Service

FORESEEN_SECONDS = 1.0
"""How long an answer waits for what a change leads to; what takes longer is shown when it is there."""


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(include_in_schema=False)

    def changed(request: Request, case: Case) -> Response:
        """The plan as it is now, with a preview under way."""
        start_preview(service, case)
        return show_section(service, request, case, "plan")

    @routes.post("/case/{case_id}/plan")
    async def change_plan(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        given = await filled_fields(request)

        def change() -> None:
            with case.lock:
                set_plan(case, PlanParameters.checked(plan_of(case, given)))
                start_preview(service, case)

        await run_in_threadpool(change)
        return Response(status_code=204)

    @routes.get("/case/{case_id}/requirements/fields")
    def get_fields(request: Request, case_id: str, model: str) -> Response:
        case = service.cases.get(case_id)
        content = {"fields": requirements.fields_of(model, policy_of(case).sensitive), "prefix": "new"}
        return render(request, "parts/requirement_fields.html.jinja", content)

    @routes.post("/case/{case_id}/requirements")
    async def add_requirement(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        given = await filled_fields(request)
        entry = requirements.entry_of(str(given.pop("model", "")), given)
        await run_in_threadpool(requirements.put, case, entry)
        return await run_in_threadpool(changed, request, case)

    @routes.post("/case/{case_id}/requirements/{number}")
    async def change_requirement(request: Request, case_id: str, number: int) -> Response:
        case = service.cases.get(case_id)
        given = await filled_fields(request)
        seen = given.pop("seen", None)
        entry = requirements.entry_of(str(given.pop("model", "")), given)
        await run_in_threadpool(requirements.put, case, entry, number, seen=seen)
        return await run_in_threadpool(changed, request, case)

    @routes.post("/case/{case_id}/requirements/{number}/remove")
    def remove_requirement(
        request: Request, case_id: str, number: int, seen: Annotated[str | None, Form()] = None
    ) -> Response:
        case = service.cases.get(case_id)
        requirements.remove(case, number, seen=seen)
        return changed(request, case)

    @routes.post("/case/{case_id}/frontier/{place}/use")
    def use_point(request: Request, case_id: str, place: int) -> Response:
        case = service.cases.get(case_id)
        job = service.latest(case, "frontier", done=True)
        points = service.document(job)["points"] if job else []
        if not 0 <= place < len(points):
            raise not_found("point")
        requirements.use_point(case, points[place])
        return changed(request, case)

    @routes.post("/case/{case_id}/reading")
    async def read_again(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        given: dict[str, Any] = await filled_fields(request)
        for name, setting in settings(ReadOptions).items():
            if name in given and get_origin(bare(setting.annotation)) is tuple:
                given[name] = [line.strip("\r") for line in str(given[name]).split("\n") if line.strip()]
        service.start(case, "read", given)
        return show_section(service, request, case, "file")

    _price_routes(routes, service)
    return routes


def _price_routes(routes: APIRouter, service: Service) -> None:
    def changed(request: Request, case: Case) -> Response:
        """The prices as they are now, with what the change leads to: most often it is found while one waits for the answer."""
        if not policy_problems(case):
            service.wait(service.start(case, "foresee"), FORESEEN_SECONDS)
        return show_section(service, request, case, "prices")

    @routes.post("/case/{case_id}/prices/column/{number}")
    def drop_column(
        request: Request, case_id: str, number: int, drop: Annotated[str, Form()] = ""
    ) -> Response:
        case = service.cases.get(case_id)
        prices.drop_column(case, column_at(case, number)["name"], drop=bool(drop))
        return changed(request, case)

    @routes.post("/case/{case_id}/prices/requirement/{place}")
    def waive_requirement(
        request: Request, case_id: str, place: int, waive: Annotated[str, Form()] = ""
    ) -> Response:
        case = service.cases.get(case_id)
        prices.waive(service, case, place, waived=bool(waive))
        return changed(request, case)

    @routes.post("/case/{case_id}/prices/profile/{name}")
    def judge_by(request: Request, case_id: str, name: str) -> Response:
        case = service.cases.get(case_id)
        if name not in profile_names():
            raise not_found("profile")
        set_profile(case, name)
        return changed(request, case)


def start_preview(service: Service, case: Case) -> None:
    """Start a preview, if the policy can be applied at all."""
    if not policy_problems(case):
        service.start(case, "preview")


def plan_of(case: Case, given: Mapping[str, Any]) -> dict[str, Any]:
    """The plan that a form gives; weights and kept attributes go by the number of their column.

    ``attributes`` says that the form holds all of them, so that what is not checked is not kept.
    """
    policy = policy_of(case)
    method = given.get("method", policy.plan.method)
    plan = {
        key: value
        for key, value in given.items()
        # A form that changes the method still holds what was said for the one before.
        if key in settings(Plan) and (key not in FOLLOWED or method in FOLLOWED[key])
    }
    if plan.get("objective") == "classification" and policy.sensitive:
        plan.setdefault("label", policy.plan.label or policy.sensitive[0])
    if "attributes" in given:
        names = {
            str(number): column["name"]
            for number, column in enumerate(columns_of(case))
            if column["name"] in policy.quasi_identifiers
        }
        weights = {name: given[f"weight-{n}"] for n, name in names.items() if f"weight-{n}" in given}
        plan["weights"] = {name: weight for name, weight in weights.items() if weight != "1"}
        plan["keep"] = [name for n, name in names.items() if f"keep-{n}" in given]
    return plan
