"""Targeted swapping, shuffling, condensation and projection: what each says that it keeps, on rows that can be checked by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

import discreet
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import Perturbation
from discreet.perturb.condensation import Condensation, SvdProjection
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step
from discreet.perturb.shuffling import Shuffling
from discreet.perturb.slicing import Slicing
from discreet.perturb.swapping import RankSwap
from discreet.perturb.targeted import TargetedSwap
from discreet.policy.file import dumps, loads
from discreet.privacy import KAnonymity


def drawn(step: Perturbation, rows: pa.Table, seed: int = 1) -> pa.Table:
    new = step.changed(rows, Randomness(seed))
    assert step.complaint(rows, pa.table(new), np.arange(rows.num_rows)) == ""
    return pa.table({name: new.get(name, rows[name]) for name in rows.column_names})


def town(rows: int = 3000) -> pa.Table:
    rng = np.random.default_rng(2)
    age = rng.integers(18, 90, rows)
    return pa.table(
        {
            "area": rng.choice(list("ABCD"), rows),
            "age": age,
            "rooms": rng.integers(1, 5, rows),
            "pay": (1000 + 30 * age + rng.normal(0, 400, rows)).round(2),
            "tax": (100 + 5 * age + rng.normal(0, 50, rows)).round(2),
        }
    )


# ── targeted swapping ─────────────────────────────────────────────────────────────────────────────────


def test_only_risky_records_and_their_partners_exchange() -> None:
    rows = town()
    step = TargetedSwap(("area",), known=("age", "rooms"), within=("rooms",), k=3)
    made = drawn(step, rows)
    changed = np.array(rows["area"].to_pylist()) != np.array(made["area"].to_pylist())
    risky = np.zeros(rows.num_rows, dtype=bool)
    risky[step.at_risk(rows)] = True
    alike = Counter(
        zip(rows["age"].to_pylist(), rows["rooms"].to_pylist(), rows["area"].to_pylist(), strict=True)
    )
    keys = zip(rows["age"].to_pylist(), rows["rooms"].to_pylist(), rows["area"].to_pylist(), strict=True)
    assert risky.tolist() == [alike[key] < 3 for key in keys]
    # Nearly all who stand out find somebody; an exchange has one of them at least.
    assert changed[risky].mean() > 0.9
    assert changed.sum() <= 2 * (changed & risky).sum()
    for side in ("area",):
        for rooms in range(1, 5):
            at = np.array(rows["rooms"].to_pylist()) == rooms
            assert Counter(np.array(rows[side].to_pylist())[at]) == Counter(
                np.array(made[side].to_pylist())[at]
            )


def test_who_does_not_stand_out_stays() -> None:
    rows = pa.table({"area": ["A"] * 5 + ["B"] * 5, "age": [30] * 10})
    assert drawn(TargetedSwap(("area",), known=("age",)), rows).equals(rows)


def test_who_stands_out_and_finds_no_partner_is_counted() -> None:
    """All forty stand out by their age; three live in B, so that only three of the others can exchange with them."""
    rows = pa.table({"area": ["A"] * 37 + ["B"] * 3, "age": list(range(40))})
    policy = discreet.Policy.of(
        quasi_identifiers=["age", "area"], require=[KAnonymity(3)], profile="research-partner-3"
    ).perturbed_by(TargetedSwap(("area",), known=("age",), k=2))
    notes = discreet.anonymize(rows, policy, plan=discreet.Plan(method="mondrian")).notes
    assert "34 of 40 records that stand out found no partner and stayed as they were (targeted-swap)" in notes


# ── shuffling ─────────────────────────────────────────────────────────────────────────────────────────


def test_shuffling_keeps_values_and_correlations_of_ranks() -> None:
    rng = np.random.default_rng(3)
    base = rng.normal(size=3000)
    rows = pa.table(
        {
            "age": (50 + 10 * base).round(0),
            "pay": np.exp(base + rng.normal(size=3000)).round(3),
            "tax": (base + 0.5 * rng.normal(size=3000)).round(3),
        }
    )
    made = drawn(Shuffling(("pay", "tax"), given=("age",)), rows)
    for name in ("pay", "tax"):
        assert sorted(made[name].to_pylist()) == sorted(rows[name].to_pylist())
    for first, second in (("age", "pay"), ("age", "tax"), ("pay", "tax")):
        assert abs(spearmanr(rows[first], rows[second])[0] - spearmanr(made[first], made[second])[0]) < 0.05
    # Beyond what age says the new pay says nothing about the true one: partial correlation is about 0.
    codes = [np.argsort(np.argsort(side)) for side in (rows["age"], rows["pay"], made["pay"])]
    left = [codes[i] - np.polyval(np.polyfit(codes[0], codes[i], 3), codes[0]) for i in (1, 2)]
    assert abs(np.corrcoef(*left)[0, 1]) < 0.06


# ── condensation ──────────────────────────────────────────────────────────────────────────────────────


def test_condensed_groups_keep_means_and_the_table_its_covariances() -> None:
    rows = town()
    step = Condensation(("age", "pay", "tax"), k=10)
    made = drawn(step, rows)
    group = step.grouped(rows)
    assert np.bincount(group).min() >= 10
    assert np.bincount(group).max() < 20
    for name in ("pay", "tax"):
        before, after = (np.bincount(group, weights=side[name].to_numpy()) for side in (rows, made))
        assert np.allclose(before, after, atol=0.5)
    names = ["age", "pay", "tax"]
    before, after = (np.corrcoef(np.stack([side[n].to_numpy() for n in names])) for side in (rows, made))
    assert np.abs(before - after).max() < 0.02
    assert len(set(made["pay"].to_pylist()) & set(rows["pay"].to_pylist())) < 150


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 5)), min_size=4, max_size=40),
    st.integers(2, 4),
    st.integers(0, 99),
)
def test_groups_have_at_least_k_records(rows: list[tuple[int, int]], k: int, seed: int) -> None:
    x, y = (list(column) for column in zip(*rows, strict=True))
    table = pa.table({"x": pa.array(x, pa.int16()), "y": pa.array(y, pa.float64())})
    step = Condensation(("x", "y"), k=k)
    sizes = np.bincount(step.grouped(table))
    assert sizes.min() >= k
    drawn(step, table, seed)


# ── projection ────────────────────────────────────────────────────────────────────────────────────────


def test_a_projection_has_its_rank_keeps_means_and_is_the_nearest() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(200, 4)) @ np.diag([5, 3, 1, 0.2]) @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    rows = pa.table({name: values[:, at] for at, name in enumerate("abcd")})
    made = drawn(SvdProjection(tuple("abcd"), rank=2), rows)
    new = np.stack([made[name].to_numpy() for name in "abcd"], axis=1)
    assert np.allclose(new.mean(axis=0), values.mean(axis=0))
    scaled, shown = ((side - values.mean(axis=0)) / values.std(axis=0) for side in (values, new))
    lengths = np.linalg.svd(scaled, compute_uv=False)
    assert np.allclose(np.linalg.svd(shown, compute_uv=False)[2:], 0, atol=1e-9)
    # Eckart and Young: what is lost is what the axes that were left out hold.
    assert np.isclose(((scaled - shown) ** 2).sum(), (lengths[2:] ** 2).sum())
    assert not drawn(SvdProjection(tuple("abcd"), rank=2, sparse=0.3), rows).equals(made)


# ── errors, files, releases ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"method": "targeted-swap", "columns": ["a"]}, "lacks known"),
        ({"method": "targeted-swap", "columns": ["a"], "known": []}, "nothing to tell"),
        ({"method": "targeted-swap", "columns": ["a"], "known": ["a"]}, "both stays and is exchanged"),
        ({"method": "targeted-swap", "columns": ["a"], "known": ["b"], "k": 1}, "k of targeted-swap"),
        ({"method": "shuffling", "columns": ["a"]}, "no column to follow"),
        ({"method": "condensation", "columns": ["a"], "k": 1}, "k of condensation"),
        ({"method": "svd", "columns": ["a", "b"], "rank": 2}, "below that of its columns"),
        ({"method": "svd", "columns": ["a", "b"], "rank": 1, "sparse": 2}, "sparse of svd"),
    ],
)
def test_parameters_that_make_no_sense(entry: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_step(entry)


def test_rows_that_do_not_fit() -> None:
    rows = pa.table({"a": [1, None, 3], "b": [1, 2, 3], "t": ["x", "y", "z"]})
    for step in (Condensation(("a", "b"), k=2), SvdProjection(("a", "b"), rank=1)):
        with pytest.raises(UnsuitableColumn, match="lack values"):
            step.changed(rows, Randomness(1))
    with pytest.raises(UnsuitableColumn, match="fewer records"):
        Condensation(("b",), k=5).changed(rows, Randomness(1))
    with pytest.raises(UnsuitableColumn, match="numbers only"):
        Shuffling(("t",), given=("b",)).changed(rows, Randomness(1))


@pytest.mark.parametrize("step", [Condensation(("x", "y"), k=10), SvdProjection(("x", "y"), rank=1)])
def test_numbers_of_a_type_without_room_are_refused(step: Perturbation) -> None:
    """Small numbers near zero, of a type that has none below: some of the new ones would have to be."""
    rng = np.random.default_rng(1)
    values = {name: rng.exponential(5, 300).astype(np.uint8) for name in ("x", "y")}
    with pytest.raises(UnsuitableColumn, match=r"no room .* \(uint8\)"):
        step.changed(pa.table(values), Randomness(1))
    drawn(step, pa.table({name: column.astype(np.int64) for name, column in values.items()}))


def test_what_is_not_kept_is_noticed() -> None:
    rows = town(60)
    places = np.arange(60)
    condensed = Condensation(("pay", "tax"), k=5)
    spoiled = pa.table({name: rows[name].take(pa.array(places[::-1])) for name in ("pay", "tax")})
    assert "another mean" in condensed.complaint(rows.select(["pay", "tax"]), spoiled, places)
    projection = SvdProjection(("pay", "tax"), rank=1)
    assert "no projection" in projection.complaint(rows.select(["pay", "tax"]), spoiled, places)


def test_releases_with_these_steps_are_verified(tmp_path: Any) -> None:
    rows = town(600)
    policy = discreet.Policy.of(
        quasi_identifiers=["age", "area"],
        sensitive=["pay", "tax"],
        require=[KAnonymity(3)],
        profile="research-partner-3",
    ).perturbed_by(
        TargetedSwap(("area",), known=("age",), k=2),
        Shuffling(("pay",), given=("age",)),
        Condensation(("tax", "rooms"), k=5),
    )
    assert loads(dumps(policy)).perturb == policy.perturb
    release = discreet.anonymize(rows, policy, plan=discreet.Plan(method="mondrian"))
    release.save(tmp_path / "open.csv")
    told = release.to_dict()["perturbation"]
    assert isinstance(told, list)
    assert [each["guarantee"] for each in told] == ["no formal guarantee"] * 3


@pytest.mark.parametrize(
    "step",
    [
        Condensation(("pay", "tax"), k=5),
        SvdProjection(("pay", "tax"), rank=1),
        Slicing(("pay", "rooms"), sensitive="rooms", beside=("area",), slices=2),
    ],
)
def test_what_cannot_be_seen_any_more_is_not_called_verified(step: Perturbation) -> None:
    """Another step changed the pay after it: means of groups, axes and buckets are not those of the file."""
    policy = discreet.Policy.of(
        quasi_identifiers=["age"],
        sensitive=["pay", "tax", "rooms", "area"],
        require=[KAnonymity(3)],
        profile="research-partner-3",
    )
    seen = []
    for steps in ((step,), (step, RankSwap(("pay",)))):
        release = discreet.anonymize(
            town(300), policy.perturbed_by(*steps), plan=discreet.Plan(method="mondrian")
        )
        told = release.to_dict()["perturbation"]
        assert isinstance(told, list)
        seen.append(told[0]["verified_on_file"])
    assert seen == [list(step.columns), []]


# ── condensation of records that arrive one by one ────────────────────────────────────────────────────


def test_a_group_of_2k_is_split_as_the_paper_splits_it() -> None:
    # Of 0, 2, 4, 6 the mean is 3 and the variance 5: halves lie a quarter of the root of 60 away, with 5/4 each.
    rows = pa.table({"x": [0.0, 2.0, 4.0, 6.0]})
    found = Condensation(("x",), k=2, dynamic=True).groups(rows)
    assert found.group.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert sorted(found.middles.ravel()) == pytest.approx([3 - 60**0.5 / 4, 3 + 60**0.5 / 4])
    assert found.spreads.ravel().tolist() == pytest.approx([1.25, 1.25])


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(20, 90))
def test_what_groups_know_has_the_means_and_covariances_of_all_who_arrived(
    seed: int, k: int, count: int
) -> None:
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(count, 3)) @ draw.normal(size=(3, 3)) * [1.0, 50.0, 1000.0]
    rows = pa.table(dict(zip("abc", values.T, strict=True)))
    step = Condensation(("a", "b", "c"), k=k, dynamic=True)
    found = step.groups(rows)
    size = np.bincount(found.group)
    assert size.min() >= k
    assert size.max() < 2 * k
    share = size / count
    mean = share @ found.middles
    between = (share[:, None] * (found.middles - mean)).T @ (found.middles - mean)
    within = np.einsum("g,gij->ij", share, found.spreads)
    assert np.allclose(mean, values.mean(axis=0), atol=1e-6)
    assert np.allclose(between + within, np.cov(values.T, bias=True), rtol=1e-6, atol=1e-6)
    new = step.changed(rows, Randomness(seed))
    assert step.complaint(rows, pa.table(new), np.arange(count)) == ""
    moved = pa.table({**new, "a": pa.array(np.asarray(new["a"]) + 1.0)})
    assert "another mean" in step.complaint(rows, moved, np.arange(count))


def test_groups_depend_on_the_order_in_which_records_arrive() -> None:
    values = np.random.default_rng(3).normal(size=60)
    there, back = (pa.table({"x": each}) for each in (values, values[::-1].copy()))

    def parts(rows: pa.Table) -> set[tuple[float, ...]]:
        group = Condensation(("x",), k=5, dynamic=True).grouped(rows)
        column = np.asarray(rows["x"])
        return {tuple(np.sort(column[group == each])) for each in np.unique(group)}

    assert parts(there) != parts(back)
