"""Several releases laid over one another: by hand, against plain loops, and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

from discreet.cli import cli
from discreet.engine.read import read
from discreet.policy import Policy
from discreet.release.attack import attack

POLICY = Policy.of(quasi_identifiers=["age"], sensitive=["dx"])

PEOPLE = {
    "age": ["21", "23", "27", "31", "35", "39"],
    "dx": ["ulcer", "flu", "gout", "angina", "flu", "asthma"],
}
FIRST = {"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 3, "dx": PEOPLE["dx"]}
"""Two classes of three, each with three values."""
SECOND = {
    "age": ["[20, 24]"] * 2 + ["[25, 33]"] * 2 + ["[34, 39]"] * 2,
    "dx": ["ulcer", "flu", "gout", "angina", "asthma", "flu"],
}
"""The same people in classes of two. 27 is in {ulcer, flu, gout} and {gout, angina}; 31 in {angina, flu, asthma} and
{gout, angina}. All others keep two values."""


def table(columns: dict[str, list[str]]) -> object:
    return read(pa.table(columns))


def test_two_releases_give_away_whom_neither_does_alone() -> None:
    attacked = attack(
        table(SECOND), POLICY, original=table(PEOPLE), earlier=[table(FIRST)], attacks=["homogeneity"]
    )
    (result,) = (result for result in attacked.results if result.attack == "intersection")
    assert (result.tries, result.successes) == (6, 2)
    figures = dict(result.figures)
    assert figures["told-by-one-release"] == 0
    assert figures["told-only-together"] == pytest.approx(2 / 6)
    assert figures["least-values-left"] == 1
    assert figures["mean-values-left"] == pytest.approx((1 + 1 + 2 * 4) / 6)
    # Whoever has one release guesses gout for 27, and angina for 31, in every second case.
    assert result.baseline == pytest.approx((1 / 2 + 1 / 2) / 6)
    assert result.low < result.rate < result.high


def test_without_earlier_releases_nothing_is_added() -> None:
    attacked = attack(table(SECOND), POLICY, original=table(PEOPLE), attacks=["homogeneity"])
    assert "intersection" not in {result.attack for result in attacked.results}
    assert "intersection" not in {skipped.attack for skipped in attacked.untested}


def test_who_is_in_one_release_only_is_not_tried() -> None:
    first = {name: values[:3] for name, values in FIRST.items()}
    attacked = attack(
        table(SECOND), POLICY, original=table(PEOPLE), earlier=[table(first)], attacks=["homogeneity"]
    )
    (result,) = (result for result in attacked.results if result.attack == "intersection")
    assert (result.tries, result.successes) == (3, 1)


def test_a_value_that_no_target_has_is_left_possible() -> None:
    targets = {"age": ["21"], "dx": ["ulcer"]}
    rows = {"age": ["[20, 29]"] * 2, "dx": ["ulcer", "plague"]}
    attacked = attack(
        table(rows), POLICY, original=table(targets), earlier=[table(rows)], attacks=["homogeneity"]
    )
    (result,) = (result for result in attacked.results if result.attack == "intersection")
    assert (result.successes, dict(result.figures)["mean-values-left"]) == (0, 2)


def generalised(random: np.random.Generator, ages: list[int]) -> list[str]:
    """Each age in one of the intervals between random borders."""
    borders = [0, *sorted(random.choice(np.arange(1, 12), size=3, replace=False).tolist()), 12]
    labels = []
    for age in ages:
        high = next(border for border in borders[1:] if age < border)
        low = max(border for border in borders if border <= age)
        labels.append(f"[{low}, {high - 1}]")
    return labels


@pytest.mark.parametrize("seed", range(8))
def test_random_releases_agree_with_plain_loops(seed: int) -> None:
    random = np.random.default_rng(seed)
    ages = random.integers(0, 12, size=14).tolist()
    illnesses = [f"d{number}" for number in random.integers(0, 4, size=14)]
    inside = [random.random(14) < 0.8 for _ in range(3)]
    releases = []
    for chosen in inside:
        labels = generalised(random, ages)
        releases.append(
            [(labels[i], illnesses[i]) for i in range(14) if chosen[i]] or [(labels[0], illnesses[0])]
        )
    tries = successes = guessed = 0
    for age, illness in zip(ages, illnesses, strict=True):
        shown = []
        for release in releases:
            fitting = set()
            for label, value in release:
                low, high = json.loads(label)
                if low <= age <= high:
                    fitting.add(value)
            if fitting:
                shown.append(fitting)
        if len(shown) >= 2:
            tries += 1
            told = set.intersection(*shown) == {illness}
            successes += told
            fewest = sorted(min(shown, key=len))
            guessed += told * int((random.choice(fewest, size=2_000) == illness).sum())
    tables = [
        table({"age": [label for label, _ in release], "dx": [value for _, value in release]})
        for release in releases
    ]
    original = table({"age": [str(age) for age in ages], "dx": illnesses})
    attacked = attack(tables[-1], POLICY, original=original, earlier=tables[:-1], attacks=["homogeneity"])
    (result,) = (result for result in attacked.results if result.attack == "intersection")
    assert (result.tries, result.successes) == (tries, successes)
    assert result.baseline == pytest.approx(guessed / 2_000 / tries, abs=0.02)


def test_command_line(tmp_path: Path) -> None:
    for name, columns in (("people", PEOPLE), ("first", FIRST), ("second", SECOND)):
        pyarrow.csv.write_csv(pa.table(columns), tmp_path / f"{name}.csv")
    options = ["--qi", "age", "--sensitive", "dx", "--attacks", "homogeneity", "--json"]
    files = [str(tmp_path / "second.csv"), "--original", str(tmp_path / "people.csv")]
    done = CliRunner().invoke(
        cli, ["attack", *files, "--earlier", str(tmp_path / "first.csv"), *options], standalone_mode=False
    )
    assert done.exception is None
    attacks = {result["attack"]: result for result in json.loads(done.stdout)["attacks"]}
    assert attacks["intersection"]["successes"] == 2
