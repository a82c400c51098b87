"""The routes for hierarchies: look at one, try another, and give it to a column."""

from __future__ import annotations

import tomllib
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from discreet.policy.settings import Strict
from discreet.sentences import Sentence
from discreet.web.api.tables import PolicyState, errors
from discreet.web.cases import Case
from discreet.web.hierarchies import Spec, describe, fitted, required_k, set_hierarchy, spec_of
from discreet.web.jobs.column_values import values_of
from discreet.web.policies import column_named, policy_problems, toml_of
from discreet.web.refusals import Refusal
from discreet.web.service import Service

ColumnName = Annotated[str, Query(max_length=1000, description="name of the column")]


class HierarchyGiven(Strict):
    """A builder with its parameters, as a policy file has it; null to have one learned from the data."""

    hierarchy: dict[str, Any] | None = Field(
        description='e.g. `{"builder": "intervals", "widths": [5, 10]}`', examples=[{"builder": "flat"}]
    )


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(prefix="/api/v1/tables/{table}/hierarchy", tags=["policy"])

    @routes.get("", summary="A hierarchy and what it does", responses=errors(404, 409, 422))
    def get_hierarchy(table: str, column: ColumnName) -> dict[str, Any]:
        """The document `discreet-hierarchy-1` of what the policy names for the column: every level on the
        records, and the abbreviated tree. It holds values of the data. The job `values` must have been run."""
        case = service.cases.get(table)
        return _document(case, column, spec_of(case, column_named(case, column)["name"]))

    @routes.post("/preview", summary="Try another hierarchy", responses=errors(404, 409, 422))
    def preview(table: str, column: ColumnName, given: HierarchyGiven) -> dict[str, Any]:
        """The same document for another hierarchy. Nothing is changed."""
        case = service.cases.get(table)
        return _document(case, column, _written(given))

    @routes.put("", summary="Give a column another hierarchy", responses=errors(404, 409, 422))
    def put_hierarchy(table: str, column: ColumnName, given: HierarchyGiven) -> PolicyState:
        """Changes this one line of the policy. If the values have been counted, it must suit them."""
        case = service.cases.get(table)
        known, spec = column_named(case, column), _written(given)
        values = values_of(case, column)
        if values is not None:
            fitted(case, known, spec, values)
        set_hierarchy(case, column, spec)
        return PolicyState(problems=policy_problems(case))

    return routes


def _written(given: HierarchyGiven) -> Spec:
    """What was given as a policy file would have it: without nulls, in text that can be written."""
    if given.hierarchy is None:
        return None
    spec: Spec = tomllib.loads(toml_of({"hierarchy": given.hierarchy}))["hierarchy"]
    return spec


def _document(case: Case, column: str, spec: Spec) -> dict[str, Any]:
    known = column_named(case, column)
    values = values_of(case, column)
    if values is None:
        raise Refusal(
            409,
            "not-ready",
            "the values of the column have not been counted",
            Sentence("run the job {kind!r} first", kind="values"),
        )
    return describe(column, spec, fitted(case, known, spec, values), values, required_k(case))
