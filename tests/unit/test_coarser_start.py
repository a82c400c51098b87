"""Where combinations are many, a search begins at coarser levels; what it gives is a release like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.classes import packed
from discreet.engine.read import read
from discreet.policy.hierarchies import hierarchies
from discreet.privacy import KAnonymity
from discreet.release import coarsen
from discreet.release.prepare import count_classes


def people(rows: int = 6000) -> pd.DataFrame:
    draw = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 90, rows),
            "zip": 10_000 + (draw.random(rows) ** 2 * 300).astype(int),
            "job": draw.choice(["nurse", "cook", "clerk", None], rows),
            "ill": draw.choice(["flu", "cold"], rows),
        }
    )


POLICY = discreet.Policy.of(quasi_identifiers=["age", "zip", "job"], sensitive=["ill"]).require(KAnonymity(5))


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MANY", 0)
    monkeypatch.setattr(coarsen, "COMBINATIONS", 800)
    monkeypatch.setattr(coarsen, "MOST_COMBINATIONS", 0)


def test_levels_rise_until_few_combinations_are_left(many: None) -> None:
    table = POLICY.fit(read(people()))
    counted = count_classes(table, POLICY)
    ladders = [fitted.ladder for fitted in hierarchies(POLICY, counted)]
    levels, loss = coarsen.starting_levels(counted, ladders, {}, combinations=800)
    coarser = counted.roll_up(
        {ladder.name: ladder.recoding(level) for ladder, level in zip(ladders, levels, strict=True)}
    )
    assert len(coarser) <= 800 < len(counted)
    assert 0.0 < loss < 1.0
    assert coarsen.starting_levels(counted, ladders, {}, combinations=10**9) == ([0, 0, 0], 0.0)


def test_classes_are_rolled_up_and_hierarchies_begin_there(many: None) -> None:
    table = POLICY.fit(read(people()))
    counted = count_classes(table, POLICY)
    coarser = coarsen.coarsened(POLICY, counted, {})
    ladders = {fitted.ladder.name: fitted.ladder for fitted in hierarchies(POLICY, counted)}
    rolled = counted.roll_up({name: ladders[name].recoding(level) for name, level in coarser.levels.items()})
    assert sorted(coarser.counted.records) == sorted(rolled.records)
    assert coarser.counted.total == len(people())
    for fitted, domain in zip(coarser.fitted, coarser.counted.attributes, strict=True):
        assert fitted.ladder.domain.values.equals(domain.values)
        assert fitted.ladder.steps[-1].labels == ("*",)


def test_a_release_meets_its_requirements_and_says_where_it_began(many: None, tmp_path: Path) -> None:
    frame = people()
    release = discreet.anonymize(frame, POLICY)
    shown = pd.read_parquet(release.save(tmp_path / "release.parquet"))
    assert shown.groupby(["age", "zip", "job"], dropna=False).size().min() >= 5
    assert len(shown) >= 0.95 * len(frame)
    assert any("combinations" in note and "began at the levels" in note for note in release.notes)
    # Loss counts from the values: what the search began with is part of it.
    assert release.after.measure("k-anonymity").value >= 5
    began = next(note for note in release.notes if "began at the levels" in note)
    assert release.outcome.loss >= float(began.split("alone lose ")[1].split("%")[0]) / 100 - 0.001


def test_the_recipe_begins_with_the_values(
    many: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    frame = people()
    policy = replace(POLICY, plan=discreet.Plan(order="kept", suppression_limit=0.0))
    release = discreet.anonymize(frame, policy)
    monkeypatch.setattr(packed, "MANY", 1 << 40)
    again = discreet.apply(release.recipe, frame, policy)
    assert again.to_arrow().equals(release.to_arrow())
