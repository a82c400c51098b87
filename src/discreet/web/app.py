"""The application: page and REST interface behind access control."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib import resources
from importlib.metadata import version

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from discreet.errors import DiscreetError
from discreet.policy.problems import refused
from discreet.web.api import budgets, hierarchies, tables
from discreet.web.pages import baskets, budget, case, families, hierarchy_editor, plan, register, together
from discreet.web.pages.rendering import problem_page
from discreet.web.refusals import UNPROCESSABLE, ProblemDetails, Refusal, explain
from discreet.web.security import Door, wants_json
from discreet.web.service import Service

SWEEP_SECONDS = 60.0
DISK_SECONDS = 1.0


def routers(service: Service) -> list[APIRouter]:
    """All routes but those of static files and of the description."""
    parts = (
        tables,
        hierarchies,
        budgets,
        case,
        hierarchy_editor,
        plan,
        families,
        budget,
        register,
        baskets,
        together,
    )
    return [part.router(service) for part in parts]


def create_app(service: Service) -> Door:
    """Page and REST interface on one service, behind access control; the service is closed with the application."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Not awaited: imports take seconds, and the page answers meanwhile.
        threading.Thread(target=service.jobs.warm, daemon=True).start()
        repeated = [
            asyncio.create_task(_repeat(service.sweep, SWEEP_SECONDS)),
            asyncio.create_task(_repeat(service.check_disk, DISK_SECONDS)),
        ]
        try:
            yield
        finally:
            for task in repeated:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await run_in_threadpool(service.close)

    app = FastAPI(
        title="discreet",
        version=version("discreet"),
        summary="May this table about people be released, and if not, what is the least that must change?",
        # The usual pages about the interface load scripts from elsewhere; its description alone does not.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        # The description is the same for browsers, which have a path before everything.
        root_path_in_servers=False,
        lifespan=lifespan,
    )
    for router in routers(service):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=str(resources.files("discreet.web.pages") / "static")))
    for kind in (Refusal, DiscreetError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _handle)
    # Outside of everything, so that failures have its headers, too.
    return Door(app, service.settings)


async def _repeat(action: Callable[[], None], seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        await run_in_threadpool(action)


async def _handle(request: Request, error: Exception) -> Response:
    """An error as JSON or as a page."""
    problem, status, headers = explain(error), 500, None
    if isinstance(error, Refusal):
        problem, status = error.problem, error.status
    elif isinstance(error, DiscreetError | RecursionError | OverflowError | UnicodeError):
        status = UNPROCESSABLE
    elif isinstance(error, RequestValidationError):
        listed = [refused(details) for details in error.errors()]
        remedy = "see the reference of the interface"
        problem, status = ProblemDetails("invalid-request", listed[0], remedy, tuple(listed)), UNPROCESSABLE
    elif isinstance(error, HTTPException):
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http-error")
        problem, status = ProblemDetails(code, str(error.detail).lower()), error.status_code
        headers = error.headers
    json = wants_json(request.scope)
    response = JSONResponse(problem.to_dict(), status) if json else problem_page(request, problem, status)
    response.headers.update(headers or {})
    return response
