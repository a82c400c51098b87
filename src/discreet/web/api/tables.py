"""The routes for tables, their policies, jobs and downloads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from discreet.policy.settings import Strict
from discreet.table.roles import Role
from discreet.web.cases import Case, Origin
from discreet.web.downloads import MEDIA_TYPES
from discreet.web.jobs.kinds import JobKind
from discreet.web.jobs.scheduler import Job, State
from discreet.web.policies import (
    LARGEST_POLICY,
    columns_document,
    mark_of,
    policy_from,
    policy_problems,
    policy_text,
    set_role,
)
from discreet.web.refusals import Refusal
from discreet.web.security import home_of
from discreet.web.service import ExampleName, Service


class ErrorInfo(BaseModel):
    """What is wrong and what to do; ``problems`` lists several at once."""

    code: str
    message: str
    remedy: str = ""
    problems: list[str] | None = None


class JobInfo(BaseModel):
    """A job and how far it is."""

    id: str
    kind: str
    state: State
    doing: str = Field(description="what it is doing now, in words")
    fraction: float | None = Field(description="how much of it is done, from 0 to 1, if that is known")
    seconds: float
    outdated: bool = Field(description="whether the policy has changed since it began")
    error: ErrorInfo | None


class TableInfo(BaseModel):
    """A table in work."""

    id: str
    name: str
    origin: Origin
    created: datetime
    rows: int | None = Field(description="known once the table has been read")
    jobs: list[JobInfo]


class PathGiven(Strict):
    """A file on the machine that the server runs on."""

    path: str = Field(min_length=1, max_length=4096, description="full path; read in place, not copied")


class ExampleGiven(Strict):
    """A table of the made-up town."""

    table: ExampleName = "residents"


class TablesGiven(Strict):
    """Tables about the same people, by their ids; they are about the same people if one has a key that others repeat."""

    tables: list[str] = Field(min_length=2, max_length=20)


class RoleGiven(Strict):
    """Another role for one column."""

    name: str
    role: Role


class PolicyState(BaseModel):
    """What keeps the policy from being applied to the table; nothing if the list is empty."""

    problems: list[str]


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a request may be refused with: these statuses besides those that any can get."""
    return {status: {"model": ErrorInfo} for status in (400, 401, 403, 421, *statuses)}


Formulas = Annotated[
    Literal["kept", "neutralised"],
    Query(description="`neutralised` puts ' before cells of CSV and TSV that a spreadsheet would run"),
]


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(prefix="/api/v1")
    for add, prefix, tag in (
        (_creation_routes, "/tables", "tables"),
        (_table_routes, "/tables/{table}", "tables"),
        (_policy_routes, "/tables/{table}", "policy"),
        (_job_routes, "/tables/{table}/jobs", "jobs"),
        (_download_routes, "/tables/{table}/downloads", "downloads"),
    ):
        part = APIRouter(prefix=prefix, tags=[tag])
        add(part, service)
        routes.include_router(part)
    return routes


def _creation_routes(routes: APIRouter, service: Service) -> None:
    def made(request: Request, case: Case, response: Response) -> TableInfo:
        service.start(case, "read")
        response.headers["location"] = f"{home_of(request.scope)}/api/v1/tables/{case.id}"
        return _table(service, case)

    @routes.post(
        "",
        status_code=201,
        summary="Upload a table",
        responses=errors(413, 422, 507),
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            }
        },
    )
    async def upload(
        request: Request,
        response: Response,
        name: Annotated[str, Query(max_length=255, description="what the file is called")] = "table.csv",
    ) -> TableInfo:
        """The body is the file itself. It is written to disk as it arrives, and then read (job `read`)."""
        length = request.headers.get("content-length", "")
        try:
            case = await service.upload(name, int(length) if length.isdigit() else None, request.stream())
        except ClientDisconnect:
            raise Refusal(
                400, "upload-aborted", "the upload ended too early", "send the file again"
            ) from None
        return made(request, case, response)

    @routes.post(
        "/from-path",
        status_code=201,
        summary="Take a file on the server's machine",
        responses=errors(422, 507),
    )
    def from_path(request: Request, given: PathGiven, response: Response) -> TableInfo:
        """The file is read where it lies. It is never changed or removed."""
        return made(request, service.from_path(given.path), response)

    @routes.post("/example", status_code=201, summary="Take the made-up town", responses=errors(422, 507))
    def example(request: Request, given: ExampleGiven, response: Response) -> TableInfo:
        """A table to try everything on."""
        return made(request, service.example(given.table), response)

    @routes.post(
        "/together",
        status_code=201,
        summary="Take several tables about the same people",
        responses=errors(404, 409, 422, 507),
    )
    def together(request: Request, given: TablesGiven, response: Response) -> TableInfo:
        """A table made of several that were read: they are judged together (job `judge-tables`). It is wiped with any of them."""
        case = service.together(given.tables)
        service.start(case, "judge-tables")
        response.headers["location"] = f"{home_of(request.scope)}/api/v1/tables/{case.id}"
        return _table(service, case)


def _table_routes(routes: APIRouter, service: Service) -> None:
    @routes.get("", summary="Look at a table", responses=errors(404, 422))
    def get_table(table: str) -> TableInfo:
        """What is known about a table, and its jobs."""
        return _table(service, service.cases.get(table))

    @routes.delete("", status_code=204, summary="Wipe a table", responses=errors(404, 422))
    def delete_table(table: str) -> None:
        """Stop its jobs and wipe everything about it. A file that was named by its path stays."""
        service.remove(service.cases.get(table))

    @routes.get("/columns", summary="Columns with suggested roles", responses=errors(404, 409, 422))
    def get_columns(table: str) -> dict[str, Any]:
        """The document `discreet-columns-1`: type, suggestion with reason, and distribution of every column."""
        return columns_document(service.cases.get(table))


def _policy_routes(routes: APIRouter, service: Service) -> None:
    @routes.get(
        "/policy",
        summary="The policy file",
        response_class=Response,
        responses={
            **errors(404, 409, 422),
            200: {"content": {"application/toml": {"schema": {"type": "string"}}}},
        },
    )
    def get_policy(table: str) -> Response:
        """TOML, the same file as the command line's."""
        text = policy_text(service.cases.get(table))
        return Response(text, media_type="application/toml", headers={"etag": f'"{mark_of(text)}"'})

    @routes.put(
        "/policy",
        summary="Take another policy",
        responses=errors(404, 409, 413, 422, 507),
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    "application/toml": {"schema": {"type": "string"}},
                    "application/json": {"schema": {"type": "object"}},
                },
            }
        },
    )
    async def put_policy(table: str, request: Request) -> PolicyState:
        """TOML, or the same as JSON. What cannot be read is refused, with all problems at once; what can be read
        but not applied to this table is kept, and its problems are listed. With `If-Match` and the `ETag` of the
        policy that was read, one that somebody has changed meanwhile stays, and the answer is 409."""
        case = service.cases.get(table)
        text = await _policy_body(request)
        seen = _marks(request.headers.get("if-match", "*"))
        return PolicyState(problems=await run_in_threadpool(service.put_policy, case, text, seen))

    @routes.get(
        "/policy/problems",
        summary="What keeps the policy from being applied",
        responses=errors(404, 409, 422),
    )
    def get_problems(table: str) -> PolicyState:
        """Empty if the policy fits the table."""
        return PolicyState(problems=policy_problems(service.cases.get(table)))

    @routes.patch("/columns", summary="Give one column another role", responses=errors(404, 409, 422))
    def patch_role(table: str, given: RoleGiven) -> PolicyState:
        """Changes this one line of the policy."""
        case = service.cases.get(table)
        set_role(case, given.name, given.role)
        return PolicyState(problems=policy_problems(case))


def _marks(given: str) -> set[str] | None:
    """The marks in an ``If-Match`` header; none if any will do.

    >>> sorted(_marks('"a", "b"') or ()), _marks("*")
    (['a', 'b'], None)
    """
    return None if given.strip() == "*" else {mark.strip().strip('"') for mark in given.split(",")}


async def _policy_body(request: Request) -> str:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_POLICY:
            break
    return policy_from(body, json="json" in request.headers.get("content-type", ""))


def _job_routes(routes: APIRouter, service: Service) -> None:
    for name, kind in service.kinds.items():
        routes.add_api_route(
            f"/{name}",
            _starter(service, name, kind),
            methods=["POST"],
            status_code=202,
            summary=f"Start the job {name}",
            responses=errors(404, 409, 422, 507),
            operation_id=f"start_{name}",
            response_model=JobInfo,
        )

    @routes.get("/{job}", summary="How far a job is", responses=errors(404, 422))
    def get_job(table: str, job: str) -> JobInfo:
        """State, and what it is doing."""
        case = service.cases.get(table)
        return _job(service, case, service.job(case, job))

    @routes.delete("/{job}", summary="Cancel a job", responses=errors(404, 422))
    def cancel_job(table: str, job: str) -> JobInfo:
        """Stops it at once and removes what it left. A job that has ended stays as it is."""
        case = service.cases.get(table)
        cancelled = service.job(case, job)
        service.jobs.cancel(cancelled)
        return _job(service, case, cancelled)

    @routes.get("/{job}/result", summary="The result of a job", responses=errors(404, 409, 422))
    def get_result(table: str, job: str) -> dict[str, Any]:
        """The same document as the command line's `--json`."""
        case = service.cases.get(table)
        document: dict[str, Any] = service.document(service.job(case, job))
        return document


def _starter(service: Service, name: str, kind: JobKind) -> Callable[..., JobInfo]:
    def start(table: str, parameters: Any) -> JobInfo:
        case = service.cases.get(table)
        return _job(service, case, service.start(case, name, parameters))

    start.__doc__ = kind.parameters.__doc__
    # Each kind has a body of its own in the description of the interface.
    start.__annotations__["parameters"] = Annotated[kind.parameters, Body()]
    return start


def _download_routes(routes: APIRouter, service: Service) -> None:
    @routes.get(
        "/{what}",
        summary="Take a file away",
        response_class=FileResponse,
        responses={
            **errors(404, 409, 422),
            200: {
                "content": {
                    kind.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
                    for kind in ("application/octet-stream", *MEDIA_TYPES.values())
                }
            },
        },
    )
    def download(table: str, what: str, formulas: Formulas = "kept") -> FileResponse:
        """`policy`; of the newest release `bundle`, `release`, `codebook`, `recipe`, `report`, `report-public`,
        `release-policy`; of the newest audit `audit-report`, `audit-report-public`."""
        file = service.download(service.cases.get(table), what, for_people=formulas == "neutralised")
        return FileResponse(file.path, media_type=file.media_type, filename=file.name)


def _table(service: Service, case: Case) -> TableInfo:
    rows = columns_document(case)["table"]["rows"] if case.was_read else None
    return TableInfo(
        id=case.id,
        name=case.label,
        origin=case.origin,
        created=datetime.fromtimestamp(case.created, UTC),
        rows=rows,
        jobs=[_job(service, case, job) for job in service.jobs_of(case)],
    )


def _job(service: Service, case: Case, job: Job) -> JobInfo:
    return JobInfo(
        id=job.id,
        kind=job.kind,
        state=job.state,
        doing=job.messages[-1] if job.messages and job.active else "",
        fraction=job.fraction,
        seconds=round(job.seconds, 2),
        outdated=service.outdated(case, job),
        error=ErrorInfo(**job.problem.to_dict()) if job.problem else None,  # type: ignore[arg-type]
    )
