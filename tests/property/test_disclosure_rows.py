"""Attacks through the front door against what a reader counts row by row, also where equal people are released apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.policy import Policy

POLICY = Policy.of(quasi_identifiers=["age", "sex"], sensitive=["ill"])


def printed(age: int, luck: float) -> tuple[str, range]:
    """An age as one of several tools would print it, and the ages it may stand for."""
    if luck < 0.3:
        low = age // 5 * 5
        return f"[{low}, {low + 4}]", range(low, low + 5)
    if luck < 0.5:
        return "*", range(200)
    if luck < 0.7:
        return f"{age - 1}-{age + 2}", range(age - 1, age + 3)
    return str(age), range(age, age + 1)


@pytest.mark.parametrize("seed", range(6))
def test_row_by_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    ages, sexes, ill = rng.integers(20, 30, n).tolist(), rng.choice(list("fm"), n), rng.choice(list("abc"), n)
    forms = [printed(age, rng.random()) for age in ages]
    shown = [sex if rng.random() < 0.7 else "*" for sex in sexes]
    original = pa.table({"age": ages, "sex": sexes, "ill": ill, "id": range(n)})
    left = sorted(rng.choice(n, 25, replace=False).tolist())
    release = pa.table({"age": [form for form, _ in forms], "sex": shown, "ill": ill, "id": range(n)}).take(
        left
    )
    found = discreet.attack(
        release,
        POLICY,
        original=original,
        key="id",
        attacks=["singling-out", "record-linkage", "worst-case", "homogeneity"],
    )
    least, most = min(ages), max(ages)

    def nothing(i: int) -> bool:
        return shown[i] == "*" and forms[i][1].start <= least and forms[i][1].stop > most

    def fits(i: int, person: int) -> bool:
        return ages[person] in forms[i][1] and shown[i] in ("*", sexes[person])

    linked = alone = 0.0
    for person in range(n):
        every = [i for i in left if fits(i, person)]
        pool = [i for i in every if not nothing(i)] or every
        linked += (person in pool) / max(len(pool), 1)
        alone += len(every) == 1
    assert found.result("record-linkage").successes == pytest.approx(linked)
    assert found.result("singling-out").successes == alone
    held = sum(1 / sum(fits(i, person) and ill[person] == ill[i] for person in range(n)) for i in left)
    assert found.result("worst-case").successes == pytest.approx(held)

    seen = [i for i in left if not nothing(i)]
    groups: dict[tuple[str, str], list[str]] = {}
    for i in seen:
        groups.setdefault((forms[i][0], shown[i]), []).append(str(ill[i]))
    alike = [group for group in groups.values() if len(set(group)) == 1]
    told = found.result("homogeneity")
    assert told.successes == sum(map(len, alike))
    share = {value: sum(ill[i] == value for i in left) / len(left) for value in "abc"}
    assert told.baseline == pytest.approx(sum(len(group) * share[group[0]] for group in alike) / len(seen))


def test_values_that_were_changed_do_not_count_as_true() -> None:
    table = pa.table({"age": [20, 21, 30, 31], "sex": list("ffmm"), "ill": list("aabb")})
    swapped = pa.table({"age": ["20-29"] * 2 + ["30-39"] * 2, "sex": list("ffmm"), "ill": list("bbaa")})
    (told,) = discreet.attack(swapped, POLICY, original=table, attacks=["homogeneity"]).results
    assert (told.successes, told.tries) == (0, 4)
