"""All families on one table: the same rows, the same intruders, and strengths that keep to an exposure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.errors import InvalidParameter
from discreet.release.family_contest import FamilyPoint, _with_best

Run = Callable[..., Any]
RNG = np.random.default_rng(6)
PEOPLE = pa.table(
    {
        "age": RNG.integers(20, 60, 150),
        "hours": RNG.integers(10, 50, 150),
        "sex": RNG.choice(["f", "m"], 150),
        "ill": RNG.permutation(np.resize(["flu", "cold", "gout", "acne", "lice", "none"], 150)),
    }
)
POLICY = discreet.Policy.of(quasi_identifiers=["age", "hours", "sex"], sensitive=["ill"])


@pytest.fixture(scope="module")
def compared() -> discreet.FamilyComparison:
    return discreet.compare_families(
        PEOPLE,
        POLICY,
        exposure=0.2,
        families=["generalisation", "swapping", "buckets", "artificial by a copula"],
    )


@pytest.mark.slow
def test_each_family_is_tried_at_its_strengths(compared: discreet.FamilyComparison) -> None:
    families = {point.family for point in compared.points}
    assert families == {"generalisation", "swapping", "buckets", "artificial by a copula"}
    for point in compared.points:
        assert not point.failed
        assert point.found_share is not None
        assert point.count_error is not None
        assert 0 <= point.found_share <= 1


def test_releases_with_a_guarantee_stand_beside_the_others() -> None:
    """Rows are drawn by secure chance: that they are measured is asked, and how far off the coarsest bounds are."""
    guaranteed = discreet.compare_families(PEOPLE, POLICY, families=["artificial with a guarantee"])
    assert guaranteed.points[0].strength == "ε = 10"
    assert {point.strength for point in guaranteed.points} >= {"ε = 10", "ε = 1", "ε = 0.33"}
    # With a smaller ε the noise is as large as the 150 people.
    for point in guaranteed.points[:2]:
        assert not point.failed
        assert point.found_share is not None
        # Nobody is among them: of 150 people, who are nearly all alone, whoever links takes pot luck.
        assert point.found_share < 0.2
        assert point.count_error is not None
    assert any("paid for by nothing" in note for note in guaranteed.notes)


@pytest.mark.slow
def test_what_is_matched_keeps_to_the_exposure(compared: discreet.FamilyComparison) -> None:
    matched = {point.family: point for point in compared.matched}
    assert "generalisation" in matched
    assert "swapping" in matched
    for point in matched.values():
        assert point.found_share is not None
        assert point.found_share <= 0.2
    # Rows of buckets show quasi-identifiers as they are: nearly everybody here is alone with them.
    assert "buckets" not in matched
    assert all((p.found_share or 0) > 0.9 for p in compared.points if p.family == "buckets")
    assert any("buckets leave quasi-identifiers" in note for note in compared.notes)


@pytest.mark.slow
def test_generalisation_finds_as_many_as_its_classes_say(compared: discreet.FamilyComparison) -> None:
    """Whoever knows everything guesses among the k or more of a class: at most one in k is found."""
    for point in compared.points:
        if point.family == "generalisation":
            k = int(point.strength.split("=")[1])
            assert point.found_share is not None
            assert point.found_share <= 1 / k + 1e-9


def test_what_no_other_beats() -> None:
    points = [
        FamilyPoint("a", "1", 0.5, 0.1),
        FamilyPoint("a", "2", 0.4, 0.2),
        FamilyPoint("b", "1", 0.4, 0.3),
        FamilyPoint("b", "2", 0.1, None),
    ]
    assert [point.best for point in _with_best(points)] == [True, True, False, False]


@pytest.mark.slow
def test_it_is_shown_and_drawn(compared: discreet.FamilyComparison) -> None:
    assert "All families on 150 rows" in str(compared)
    assert compared.chart().startswith("<svg")
    assert json.loads(json.dumps(compared.to_dict()))["exposure"] == 0.2


@pytest.mark.parametrize(
    "given", [{"exposure": 0.0}, {"exposure": 1.5}, {"families": ["magic"]}, {"rows": 3}]
)
def test_bad_parameters(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        discreet.compare_families(PEOPLE, POLICY, **given)


def test_the_command(tmp_path: Path, run: Run) -> None:
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    roles = ("--qi", "age,hours,sex", "--sensitive", "ill")
    done = run(
        "compare-methods",
        tmp_path / "people.csv",
        *roles,
        *("--exposure", "0.3", "--families", "swapping", "--drawn", "100", "--json"),
        *("--chart", tmp_path / "families.svg"),
    )
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert {point["family"] for point in told["points"]} == {"swapping"}
    assert told["rows"] < 150
    assert (tmp_path / "families.svg").read_text().startswith("<svg")
    assert run("compare-methods", tmp_path / "people.csv", *roles, "--families", "swapping").code == 2
