"""A table that only grows: what came is published by the recipe of before, and all of it together keeps what was asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity, LDiversity

K = 4


@pytest.mark.parametrize("seed", range(4))
def test_what_came_and_what_was_there_keep_the_guarantee_together(seed: int) -> None:
    chance = np.random.default_rng(seed)
    size = 240
    people = pa.table(
        {
            "age": chance.integers(20, 60, size),
            "sex": chance.choice(["f", "m"], size),
            "dx": chance.choice(["flu", "gout", "ulcer", "asthma"], size),
        }
    )
    asked = Policy.of(
        quasi_identifiers=["age", "sex"],
        sensitive=["dx"],
        require=[KAnonymity(K), LDiversity(2, "dx")],
        profile="research-partner-3",
    )
    policy = replace(asked, plan=Plan(shape="uniform", suppression_limit=0.9, seconds=1.0))
    there, came = people.slice(0, 160), people.slice(160)
    first = discreet.anonymize(there, policy)
    second = discreet.apply(replace(first.recipe, unseen="suppress"), came, policy)
    shown = [first.to_arrow(), second.to_arrow()]
    together = pa.concat_tables(
        [table.select(["age", "sex", "dx"]) for table in shown], promote_options="permissive"
    )
    assert set(zip(*(shown[1][name].to_pylist() for name in ("age", "sex")), strict=True))
    found = discreet.audit(together, policy)
    assert found.measure("k-anonymity").value >= K
    assert found.measure("l-diversity").value >= 2
    left = discreet.bcf_anonymity(together, policy, earlier=[shown[0]], original=people)
    assert left.holds(K)
