"""What a statement of differential privacy allows, beside what membership inference came to."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import discreet
from discreet.dp.accounting import most_right
from discreet.dp.certificate import write_statement
from discreet.dp.ledger import Payment
from discreet.dp.statement import Guarantee
from discreet.errors import UnreadableInput

Stated = Callable[[Path, str], None]


def people(seed: int, size: int = 400) -> pa.Table:
    chance = np.random.default_rng(seed)
    return pa.table({name: chance.integers(0, 30, size) for name in ("age", "pay", "postcode")})


def state(release: Path, epsilon: str, unit: str = "record") -> None:
    words = {"unit_description": "", "neighbouring": "", "release_type": "", "composition": "", "tuning": ""}
    lists = dict.fromkeys(("mechanisms", "public", "unprotected", "post_processing"), ())
    told = Guarantee(unit=unit, epsilon=Fraction(epsilon), delta=Fraction(0), **words, **lists)  # type: ignore[arg-type]
    write_statement(release, told, Payment("budget", 2, "0" * 64))


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The original itself: whoever is in it is found."""
    csv.write_csv(people(1), tmp_path / "release.csv")
    return tmp_path / "release.csv"


def attacked(release: Path, attack: str = "membership", **more: object) -> discreet.Attacks:
    policy = discreet.Policy.of(quasi_identifiers=["age", "pay", "postcode"])
    return discreet.attack(
        str(release),
        policy,
        original=people(1),
        control=people(2),
        attacks=[attack],
        **more,  # type: ignore[arg-type]
    )


def test_an_attack_within_what_is_promised_and_one_beyond(release: Path) -> None:
    state(release, "1")
    made = attacked(release)
    (result,) = made.results
    assert result.rate > 0.9
    assert dict(result.figures)["allowed"] == most_right(1.0, 0.0) == pytest.approx(0.7311, abs=1e-4)
    assert "the statement is wrong" in " ".join(result.notes)
    assert "at most 2.7% sure" in " ".join(made.notes)
    state(release, "5")
    (result,) = attacked(release).results
    assert "nobody can be right in more than 99.3% of cases" in " ".join(result.notes)


def test_the_density_of_artificial_people_is_held_against_the_promise_too(release: Path) -> None:
    """Of artificial people it is the only attack on membership: nobody of the table is in the release."""
    csv.write_csv(pa.concat_tables([people(1).slice(0, 390), people(3).slice(0, 20)]), release)
    state(release, "1")
    made = attacked(release, "membership-by-density")
    (result,) = made.results
    assert dict(result.figures)["allowed"] == pytest.approx(0.7311, abs=1e-4)
    assert "nobody could be right in more than 73.1% of cases" in " ".join(result.notes)
    assert "not held against an attack" not in " ".join(made.notes)


def test_statements_that_are_of_no_use_are_told(release: Path, tmp_path: Path) -> None:
    assert "allowed" not in dict(attacked(release).results[0].figures)
    state(release, "1")
    (tmp_path / "other.csv").write_bytes(release.read_bytes() + b"1,2,3\n")
    made = attacked(tmp_path / "other.csv", statement=tmp_path / "release.csv.guarantee.json")
    assert "the statement speaks of another file" in made.notes
    assert "allowed" not in dict(made.results[0].figures)
    (tmp_path / "release.csv.guarantee.json").write_text("{}")
    assert "cannot be used" in " ".join(attacked(release).notes)
    with pytest.raises(UnreadableInput, match="no statement of a guarantee"):
        attacked(release, statement=tmp_path / "release.csv.guarantee.json")


def test_nobody_is_right_more_often_than_the_odds_allow() -> None:
    """Randomised response with these odds and deltas is the worst mechanism there is: it reaches the bound."""
    for epsilon, delta in ((0.5, 0.0), (1.0, 0.1), (3.0, 0.01)):
        odds = np.exp(epsilon)
        # Kairouz, Oh and Viswanath: with δ the truth is told, else a coin of the odds.
        right = delta + (1 - delta) * odds / (1 + odds)
        assert right == pytest.approx(most_right(epsilon, delta))
