"""The page's routes for the budget: set it, see what an amount would mean, and spend it."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from starlette.concurrency import run_in_threadpool

from discreet.dp.amounts import said
from discreet.dp.ledger import Ledger
from discreet.errors import DiscreetError
from discreet.reports.words import SYMBOLS
from discreet.web.budgets import ledger_beside
from discreet.web.cases import Case
from discreet.web.pages.budget_form import asked_question, foreseen, job_of, spending_of
from discreet.web.pages.forms import filled_fields
from discreet.web.pages.language import language_of
from discreet.web.pages.rendering import render
from discreet.web.pages.sections import SECTIONS, show_section
from discreet.web.policies import columns_of
from discreet.web.refusals import Refusal, explain
from discreet.web.service import Service


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/case/{case_id}/budget")
    def set_budget(
        request: Request,
        case_id: str,
        epsilon: Annotated[str, Form(max_length=60)],
        delta: Annotated[str, Form(max_length=60)] = "0",
    ) -> Response:
        case = service.cases.get(case_id)
        typed = (amount.strip().replace(",", ".") for amount in (epsilon, delta))
        _ledger(case).set_budget(*typed)
        return show_section(service, request, case, "budget")

    @routes.post("/case/{case_id}/budget/foresee")
    async def foresee(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        given = await filled_fields(request)
        return await run_in_threadpool(_foreseen, request, case, given)

    @routes.post("/case/{case_id}/budget/spend")
    async def spend(request: Request, case_id: str) -> Response:
        case = service.cases.get(case_id)
        case.language = language_of(request)
        given = await filled_fields(request)
        await run_in_threadpool(_spend, service, case, given)
        return await run_in_threadpool(show_section, service, request, case, "budget")

    return routes


def _ledger(case: Case) -> Ledger:
    return ledger_beside(case.source, case.folder)


def _foreseen(request: Request, case: Case, given: dict[str, Any]) -> Response:
    """What an amount would mean, or what is wrong with the form, in its place."""
    content: dict[str, Any] = {
        "case": case,
        "symbols": SYMBOLS,
        "names": [column["name"] for column in columns_of(case)],
        "problem": None,
    }
    for field in ("line", "foreseen"):
        given.pop(field, None)
    try:
        spending = spending_of(given)
        foresight, noise = foreseen(case, spending)
        balance = _ledger(case).balance()
    except DiscreetError as error:
        return render(request, "parts/foresight.html.jinja", {**content, "problem": explain(error)})
    left = max(balance.epsilon - foresight.spent_epsilon, Fraction(0))
    content |= {
        "foresight": foresight,
        "epsilon": said(foresight.epsilon),
        "noise": noise,
        "question": asked_question(case, spending),
        "line": len(balance.entries),
        "left_epsilon": said(left),
        "left_delta": said(max(balance.delta - foresight.spent_delta, Fraction(0))),
        # A ledger may hold declarations and no budget yet.
        "left": float(left / balance.epsilon) if balance.epsilon else 0.0,
        "mark": _mark(given),
    }
    return render(request, "parts/foresight.html.jinja", content)


def _mark(given: dict[str, Any]) -> str:
    """What was asked for when its consequences were shown."""
    return hashlib.sha256(spending_of(given).model_dump_json().encode()).hexdigest()[:16]


def _spend(service: Service, case: Case, given: dict[str, Any]) -> None:
    """Start what a form asks for, if the ledger and the form are those whose consequences were shown, and once only."""
    line, shown = given.pop("line", ""), given.pop("foreseen", "")
    kind, parameters = job_of(case, spending_of(given))
    with case.lock:
        under_way = any(job.active for job in service.jobs_of(case) if job.kind in SECTIONS["budget"].kinds)
        if under_way or line != str(len(_ledger(case).balance().entries)) or shown != _mark(given):
            raise Refusal(
                409,
                "changed-meanwhile",
                "the amount, the form or the ledger is another than the one whose consequences were shown",
                "look at what it would mean now, and repeat",
            )
        service.start(case, kind, parameters)
