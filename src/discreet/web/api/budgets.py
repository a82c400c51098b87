"""The routes for budgets: what may be spent on a table, what was, and what an amount would mean."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from discreet.dp.foresight import foresee_amount
from discreet.dp.statement import PRIOR
from discreet.policy.settings import Strict
from discreet.web.api.parameters import AmountText
from discreet.web.api.tables import errors
from discreet.web.budgets import ledger_beside
from discreet.web.service import Service


class BudgetGiven(Strict):
    """What may be spent in all from now on; what was spent stays spent."""

    epsilon: AmountText = Field(description="e.g. `1`, `0.5`, `1/3`")
    delta: AmountText = Field("0", description="e.g. `1e-6`")


def router(service: Service) -> APIRouter:
    """All routes, on one service."""
    routes = APIRouter(prefix="/api/v1/tables/{table}/budget", tags=["differential privacy"])

    @routes.get("", summary="What may be spent, and what was", responses=errors(404, 422))
    def get_budget(table: str) -> dict[str, Any]:
        """The document `discreet-budget-1`, as `discreet budget show --json` prints it."""
        case = service.cases.get(table)
        return ledger_beside(case.source, case.folder).balance().to_dict()

    @routes.put("", summary="Set what may be spent in all", responses=errors(404, 422))
    def put_budget(table: str, given: BudgetGiven) -> dict[str, Any]:
        """Written into the ledger beside the file, for good: what was spent before counts."""
        case = service.cases.get(table)
        ledger = ledger_beside(case.source, case.folder)
        ledger.set_budget(given.epsilon, given.delta)
        return ledger.balance().to_dict()

    @routes.get("/foresee", summary="What an amount would mean", responses=errors(404, 422))
    def foresee(
        table: str,
        epsilon: Annotated[str, Query(max_length=60, description="e.g. `0.5` or `1/3`")],
        delta: Annotated[str, Query(max_length=60)] = "0",
        prior: Annotated[float, Query(gt=0, lt=1, description="how sure an intruder was before")] = PRIOR,
    ) -> dict[str, Any]:
        """The document `discreet-foresight-1`: how sure an intruder could become by this and by all that is spent then.
        Nothing is spent."""
        case = service.cases.get(table)
        balance = ledger_beside(case.source, case.folder).balance()
        return foresee_amount(balance, epsilon, delta, prior).to_dict()

    return routes
