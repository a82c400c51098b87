"""Several methods on one table: what each costs and what risk it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from discreet.errors import DiscreetError, unknown
from discreet.policy import Policy
from discreet.policy.plan import METHODS, Plan
from discreet.release.anonymize import anonymize
from discreet.table import Table
from discreet.transform.loss import leaf_share_loss
from discreet.types import Progress


@dataclass(frozen=True)
class Contender:
    """One method's outcome: leaf-share loss, what was suppressed, mean and largest prosecutor risk."""

    method: str
    loss: float | None = None
    suppressed_share: float | None = None
    mean_risk: float | None = None
    max_risk: float | None = None
    classes: int | None = None
    seconds: float = 0.0
    failed: str = ""
    best: bool = False

    def to_dict(self) -> dict[str, object]:
        return {
            "method": self.method,
            "loss": self.loss,
            "suppressed_share": self.suppressed_share,
            "mean_risk": self.mean_risk,
            "max_risk": self.max_risk,
            "classes": self.classes,
            "seconds": self.seconds,
            "failed": self.failed,
            "pareto": self.best,
        }


def compare_methods(
    table: Table,
    policy: Policy,
    *,
    plan: Plan | None = None,
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> list[Contender]:
    """Anonymise by several methods; ``best`` marks those that no other beats in both loss and mean risk."""
    plan = plan or policy.plan
    wanted = list(methods) if methods is not None else [m for m in METHODS if m not in ("auto", "anytime")]
    for method in wanted:
        if method not in METHODS:
            raise unknown("method", method, METHODS)
    found = []
    for method in wanted:
        if progress:
            progress(f"anonymising by {method}")
        start = perf_counter()
        try:
            release = anonymize(table, policy, plan=replace(plan, method=method))  # type: ignore[arg-type]
        except DiscreetError as error:
            found.append(Contender(method, seconds=perf_counter() - start, failed=error.message))
            continue
        risk = release.after.risk("prosecutor")
        found.append(
            Contender(
                method=method,
                loss=leaf_share_loss(release.recoding),
                suppressed_share=release.suppressed / release.before.rows,
                mean_risk=risk.mean,
                max_risk=risk.max,
                classes=len(release.after.classes),
                seconds=perf_counter() - start,
            )
        )
    return [replace(one, best=not any(_beats(other, one) for other in found)) for one in found]


def _beats(one: Contender, other: Contender) -> bool:
    """Whether one is at least as good in loss and mean risk, and better in one of them."""
    if one.loss is None or one.mean_risk is None:
        return False
    if other.loss is None or other.mean_risk is None:
        return True
    no_worse = one.loss <= other.loss + 1e-12 and one.mean_risk <= other.mean_risk + 1e-12
    return no_worse and (one.loss < other.loss - 1e-12 or one.mean_risk < other.mean_risk - 1e-12)


def chart_of(contenders: Sequence[Contender]) -> str:
    """Risk against loss as an SVG picture; methods that no other beats are joined by a line."""
    from discreet.reports.charts import risk_against_loss, standalone

    drawn = risk_against_loss(
        [
            {"name": one.method, "loss": one.loss, "risk": one.mean_risk, "best": one.best, "shape": "circle"}
            for one in contenders
            if one.loss is not None and one.mean_risk is not None
        ],
        subtitle=["Filled and joined: no other method is better in both."],
        nothing="no method meets the requirements",
    )
    return standalone(drawn, title="Risk against loss by method")
