"""Two nulls in a quasi-identifier are one value, which nobody else has: through every verb, method and format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.policy import Policy
from discreet.policy.plan import METHODS, Plan

KNOWN = pa.table(
    {
        "town": ["Ulm"] * 3 + [None] * 3 + ["Bonn"] * 3,
        "age": pa.array([31] * 3 + [None] * 3 + [40] * 3),
        "dx": ["cold", "flu", "gout"] * 3,
    }
)
"""Three people of whom neither town nor age is known, between three and three of whom both are."""
POLICY = Policy.of(
    quasi_identifiers=["town", "age"],
    sensitive=["dx"],
    require=[discreet.KAnonymity(3)],
    profile="research-partner-3",
)
ALL_METHODS = [name for name in METHODS if name != "auto"]


MIXED = pa.table(
    {
        "town": ["A", "B", "C", "D", "A", "B", None, None, None],
        "age": pa.array([31, 32, 33, 41, 42, 43, None, None, None]),
        "dx": ["cold", "flu", "gout"] * 3,
    }
)
"""The same beside people whose values have to be generalised."""


def rows_of(release: discreet.Release) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = release.table.engine.to_arrow(release.table, ["town", "age"]).to_pylist()
    return rows


def test_an_audit_counts_them_as_one_class() -> None:
    audit = discreet.audit(KNOWN, POLICY)
    assert audit.class_sizes == {3: 9}
    assert audit.measure("k-anonymity").value == 3
    assert audit.risk("prosecutor").max == pytest.approx(1 / 3)
    assert audit.risk("uniqueness").max == audit.risk("uniqueness").min
    assert [missing.nulls for missing in audit.missing] == [3, 3]
    assert discreet.check(KNOWN, POLICY).compliant
    assert any("two nulls are equal" in note for note in audit.measure("k-anonymity").notes)


@pytest.mark.slow
@pytest.mark.parametrize("method", ALL_METHODS)
def test_no_method_touches_a_class_of_nulls_that_is_large_enough(method: str, tmp_path: Path) -> None:
    """What is written, in any format, is read back, verified, compared and attacked as the same classes."""
    plan = Plan(method=method, suppression_limit=0.0, order="kept")  # type: ignore[arg-type]
    release = discreet.anonymize(KNOWN, POLICY, plan=plan)
    assert rows_of(release) == KNOWN.select(["town", "age"]).to_pylist()
    assert release.chosen.cost == pytest.approx(0.0)
    for suffix in ("csv", "parquet", "xlsx"):
        file = release.save(tmp_path / f"release.{suffix}")
        assert discreet.audit(file, POLICY).class_sizes == {3: 9}, suffix
        compared = discreet.compare(KNOWN, file, POLICY, labels=[], queries=1)
        for name in (
            "leaf-loss",
            "certainty-penalty",
            "suppression-ratio",
            "cross-common-ancestor",
            "cross-absolute",
        ):
            measure = compared.losses.measure(name)
            assert measure is not None
            assert measure.value == pytest.approx(0.0), (suffix, name)
        attacks = discreet.attack(file, POLICY, original=KNOWN, attacks=["record-linkage", "singling-out"])
        linkage, singled = sorted(attacks.results, key=lambda result: result.attack)
        assert (linkage.successes, linkage.tries) == (pytest.approx(3.0), 9.0)
        assert singled.successes == 0


@pytest.mark.parametrize("method", ALL_METHODS)
def test_one_null_is_alone_and_no_method_leaves_it_so(method: str) -> None:
    alone = pa.table(
        {
            "town": ["Ulm"] * 3 + [None] + ["Bonn"] * 3,
            "age": pa.array([31] * 3 + [None] + [40] * 3),
            "dx": ["cold", "flu", "gout"] * 2 + ["cold"],
        }
    )
    assert discreet.audit(alone, POLICY).measure("k-anonymity").value == 1
    plan = Plan(method=method, suppression_limit=0.2, order="kept")  # type: ignore[arg-type]
    release = discreet.anonymize(alone, POLICY, plan=plan)
    assert release.after.measure("k-anonymity").value >= 3


@pytest.mark.slow
@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_null_that_is_not_generalised_is_released_as_a_null(method: str, tmp_path: Path) -> None:
    """Not as a sign that nobody can read again; and a recipe does the same as the search did."""
    plan = Plan(method=method, suppression_limit=0.0, order="kept")  # type: ignore[arg-type]
    release = discreet.anonymize(MIXED, POLICY, plan=plan)
    cells = [cell for row in rows_of(release) for cell in row.values()]
    assert "∅" not in cells
    assert method in ("optimal", "anytime", "subtree") or rows_of(release)[-1] == {"town": None, "age": None}
    again = discreet.apply(release.recipe, MIXED, replace(POLICY, plan=plan))
    assert rows_of(again) == rows_of(release)
    for suffix in ("csv", "parquet", "xlsx"):
        file = release.save(tmp_path / f"release.{suffix}")
        leaf_loss = discreet.compare(MIXED, file, POLICY, labels=[], queries=1).losses.measure("leaf-loss")
        assert leaf_loss is not None
        if method != "microaggregation":
            assert leaf_loss.value == pytest.approx(release.chosen.cost), suffix


def test_a_null_among_the_members_of_a_set_is_read_again() -> None:
    original = pa.table({"town": ["A", "B", None, "C"]})
    released = pa.table({"town": ["{A, ∅}", "B", "{A, ∅}", "C"]})
    policy = Policy.of(quasi_identifiers=["town"])
    compared = discreet.compare(original, released, policy, labels=[], queries=1)
    penalty = compared.losses.measure("certainty-penalty")
    assert penalty is not None
    assert penalty.value == pytest.approx(2 / 4 * 2 / 3)
    (linkage,) = discreet.attack(released, policy, original=original, attacks=["record-linkage"]).results
    assert linkage.successes == pytest.approx(1 / 2 + 1 + 1 / 2 + 1)


def test_a_population_counts_nulls_with_nulls_only(tmp_path: Path) -> None:
    file = tmp_path / "register.parquet"
    pq.write_table(pa.concat_tables([KNOWN.select(["town", "age"])] * 2), file)
    audit = discreet.audit(KNOWN, POLICY.replace(population=file))
    assert audit.risk("journalist").values.tolist() == pytest.approx([1 / 6] * 3)
