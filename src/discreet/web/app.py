"""The application: page and REST interface behind one door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib import resources
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from discreet.errors import DiscreetError
from discreet.web.api import hierarchies as hierarchy_api
from discreet.web.api import tables as api
from discreet.web.pages import case as page
from discreet.web.pages import hierarchy_editor as hierarchy_page
from discreet.web.pages import plan as plan_page
from discreet.web.refusals import UNPROCESSABLE, Problem, Refusal, explain
from discreet.web.security import Door, wants_json
from discreet.web.service import Service

SWEEP_SECONDS = 60.0


def create_app(service: Service) -> Door:
    """Page and REST interface on one service, behind the door; the service is closed with the application."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.jobs.warm()
        sweeper = asyncio.create_task(_sweep(service))
        try:
            yield
        finally:
            sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await sweeper
            await run_in_threadpool(service.close)

    app = FastAPI(
        title="discreet",
        version=version("discreet"),
        summary="May this table about people be released, and if not, what is the least that must change?",
        # The usual pages about the interface load scripts from elsewhere; its description alone does not.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=lifespan,
    )
    app.include_router(api.router(service))
    app.include_router(hierarchy_api.router(service))
    app.include_router(page.router(service))
    app.include_router(hierarchy_page.router(service))
    app.include_router(plan_page.router(service))
    app.mount("/static", StaticFiles(directory=str(resources.files("discreet.web.pages") / "static")))
    for kind, handler in _handlers().items():
        app.add_exception_handler(kind, handler)
    # Outside of everything, so that failures have its headers, too.
    return Door(app, service.settings)


async def _sweep(service: Service) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        await run_in_threadpool(service.sweep)


def _handlers() -> dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]:
    """How each family of failures is told."""

    async def refusal(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return _tell(request, error.problem, error.status)

    async def ours(request: Request, error: Exception) -> Response:
        return _tell(request, explain(error), UNPROCESSABLE)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        listed = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()]
        return _tell(
            request,
            Problem("invalid-request", listed[0], "see the reference of the interface", tuple(listed)),
            UNPROCESSABLE,
        )

    async def usual(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http-error")
        response = _tell(request, Problem(code, str(error.detail).lower()), error.status_code)
        response.headers.update(error.headers or {})
        return response

    async def unexpected(request: Request, error: Exception) -> Response:
        return _tell(request, explain(error), 500)

    return {
        Refusal: refusal,
        DiscreetError: ours,
        RequestValidationError: invalid,
        HTTPException: usual,
        Exception: unexpected,
    }


def _tell(request: Request, problem: Problem, status: int) -> Response:
    if wants_json(request.scope):
        return JSONResponse(problem.to_dict(), status)
    return page.problem_page(request, problem, status)
