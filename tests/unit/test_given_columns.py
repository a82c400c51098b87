"""Confidence that is bounded given some columns only: every method reaches it, and the written file meets it."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.policy import Policy
from discreet.policy.plan import METHODS, Plan
from discreet.privacy import ConfidenceBounding, PrivacyModel, XYPrivacy


def patients() -> pa.Table:
    """Women have HIV more often than men, and old people live in the north."""
    draw = random.Random(3)
    rows = []
    for _ in range(60):
        sex, age = draw.choice("fm"), draw.randint(20, 60)
        ill = draw.choice(["flu", "cold", "HIV", "HIV"] if sex == "f" else ["flu", "cold", "cold", "HIV"])
        rows.append({"sex": sex, "age": age, "town": "north" if age > 40 else "south", "dx": ill})
    return pa.Table.from_pylist(rows)


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in METHODS if name != "auto"])
@pytest.mark.parametrize(
    "model",
    [
        ConfidenceBounding(0.55, "dx", "HIV", given=("sex",)),
        ConfidenceBounding(0.6, "dx", "HIV", given=("sex", "town")),
        XYPrivacy(4, 0.8, "dx", given=("town",)),
    ],
    ids=["confidence-of-sex", "confidence-of-two", "x-y-privacy"],
)
def test_every_method_bounds_what_follows_from_some_columns(
    method: str, model: PrivacyModel, tmp_path: Path
) -> None:
    policy = Policy.of(
        quasi_identifiers=["sex", "age", "town"],
        sensitive=["dx"],
        require=[discreet.KAnonymity(3), model],
        profile="research-partner-3",
    )
    plan = Plan(method=method, suppression_limit=0.2)  # type: ignore[arg-type]
    release = discreet.anonymize(patients(), policy, plan=plan)
    assert release.after.verdict.compliant
    written = discreet.read(release.save(tmp_path / "release.parquet"))
    rows = written.engine.to_arrow(written, ["sex", "town", "dx"]).to_pylist()
    assert isinstance(model, ConfidenceBounding | XYPrivacy)
    groups: dict[tuple[object, ...], list[str]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in model.given or ()), []).append(row["dx"])
    for ills in groups.values():
        named = [model.value] if isinstance(model, ConfidenceBounding) else set(ills)
        assert max(ills.count(ill) for ill in named) / len(ills) <= model.h + 1e-9
        assert len(ills) >= (model.k if isinstance(model, XYPrivacy) else 1)
