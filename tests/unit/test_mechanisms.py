"""Every mechanism on neighbouring tables: no event is more likely than its ε allows, and a wrong copy is caught.

Draws are made in one go: a question about many groups, each of which is one draw on the same rows.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from scipy.stats import beta

import discreet
from discreet.dp import noise
from discreet.dp.accounting import delta_of, gaussian_margin, laplace_margin, posterior, rho_of
from discreet.dp.ledger import Ledger
from discreet.dp.quantiles import QuantileChooser
from discreet.engine.bounded import BoundedCounting
from helpers.neighbours import CHANCE, violation

pytest.importorskip("opendp")

MOST_DRAWS = 100_000
DRAWS = 4_000 if settings.default.max_examples < 600 else MOST_DRAWS
"""A hundred thousand in `make thorough`."""
ONE = Fraction(1)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget")
    made.set_budget(10**6, "0.9")
    return made


# ── noise by itself ───────────────────────────────────────────────────────────────────────────────


def test_laplace_keeps_its_epsilon_and_half_its_noise_does_not() -> None:
    first = noise.laplace([10] * DRAWS, sensitivity=3, epsilon=ONE).values
    second = noise.laplace([13] * DRAWS, sensitivity=3, epsilon=ONE).values
    assert not violation(first, second, 1.0)
    wrong = [noise.laplace([n] * DRAWS, sensitivity=3, epsilon=2 * ONE).values for n in (10, 13)]
    assert violation(*wrong, 1.0)


def test_gaussian_keeps_its_epsilon_and_delta_and_less_noise_does_not() -> None:
    delta = Fraction(1, 1000)
    rho = rho_of(ONE, delta)
    draws = [noise.gaussian([n] * DRAWS, sensitivity=3.0, rho=rho).values for n in (10, 13)]
    assert not violation(*draws, 1.0, float(delta))
    wrong = [noise.gaussian([n] * DRAWS, sensitivity=0.5, rho=rho).values for n in (10, 13)]
    assert violation(*wrong, 1.0, float(delta))


@pytest.mark.parametrize(("pair", "ends"), [((0, 1), (0, 10)), ((5, 6), (0, 6)), ((-3, -2), (-4, 10**6))])
def test_bounded_laplace_keeps_its_epsilon_and_noise_that_forgets_the_bounds_does_not(
    pair: tuple[int, int], ends: tuple[int, int]
) -> None:
    low, high = ends

    def draws(wrong: bool) -> list[list[int]]:
        amount = ONE if not wrong else 2 * ONE
        return [
            noise.bounded_laplace([n] * DRAWS, low=low, high=high, sensitivity=1, epsilon=amount).values
            for n in pair
        ]

    right = draws(False)
    assert all(low <= value <= high for values in right for value in values)
    assert not violation(*right, 1.0)
    assert violation(*draws(True), 1.0)


@pytest.mark.parametrize("room", [1, 2, 7, 40])
def test_bounded_laplace_is_exact_in_its_worst_case(room: int) -> None:
    """All probabilities, for all pairs of one to three steps: none beyond e^ε; the scale of Laplace noise would be beyond at the ends."""
    for steps, epsilon in itertools.product((1, 2, 3), (Fraction(1, 3), ONE, Fraction(4))):

        def worst(scale: float, steps: int = steps) -> float:
            weights = np.exp(-np.abs(np.subtract.outer(np.arange(room + 1), np.arange(room + 1))) / scale)
            chances = weights / weights.sum(axis=1, keepdims=True)
            return max(
                np.log(chances[x] / chances[y]).max()
                for x in range(room + 1)
                for y in range(room + 1)
                if abs(x - y) <= steps
            )

        try:
            scale = noise.bounded_scale(room, steps, epsilon)
        except discreet.DiscreetError:
            continue
        assert worst(scale) <= float(epsilon)
        if room > 2:
            assert worst(steps / float(epsilon)) > float(epsilon)


def test_values_out_of_the_bounds_are_clamped_and_ranges_narrower_than_noise_refused() -> None:
    made = noise.bounded_laplace([-50, 99], low=0, high=10, sensitivity=1, epsilon=Fraction(100))
    assert made.values == [0, 10]
    with pytest.raises(discreet.DiscreetError, match="does not fit the range"):
        noise.bounded_laplace([0], low=0, high=3, sensitivity=1, epsilon=Fraction(1, 1000))


def noisy_max_rho(scores: list[int], *, sensitivity: int, epsilon: Fraction) -> int:
    """The exponential mechanism with an ε: its noise of scale Δ/√(2ρ) is that of ρ = ε²/8, which costs no more than ε."""
    return noise.noisy_max_rho(scores, sensitivity=sensitivity, rho=float(epsilon) ** 2 / 8)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [noise.noisy_max, noisy_max_rho])
def test_noisy_max_keeps_its_epsilon_and_a_wrong_sensitivity_does_not(mechanism: Any) -> None:
    scores = [5] * 16, [6] + [4] * 15
    times = DRAWS if DRAWS == MOST_DRAWS else 400

    def draws(epsilon: Fraction) -> list[list[int]]:
        return [[mechanism(s, sensitivity=1, epsilon=epsilon) for _ in range(times)] for s in scores]

    assert not violation(*draws(ONE), 1.0)
    assert violation(*draws(16 * ONE), 1.0)


def test_nothing_is_drawn_from_a_seed_and_copies_of_a_process_differ() -> None:
    """A generator that a copied process shares would draw the same noise twice: their difference would be the truth."""
    noise.laplace([0], sensitivity=1, epsilon=ONE)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        first, second = pool.map(_wide_noise, range(2), chunksize=1)
    assert first != second


def _wide_noise(_: int) -> list[int]:
    return noise.laplace([0] * 20, sensitivity=10**6, epsilon=ONE).values


# ── whole answers ─────────────────────────────────────────────────────────────────────────────────


def rows(extra: list[dict[str, object]], groups: int = DRAWS) -> pa.Table:
    """In each group two people of age 40, and somebody more, who has rows of their own."""
    people = [{"person": f"{p}", "age": 40} for p in "ab"]
    listed = [*people, *extra]
    return pa.table(
        {
            "place": [group for group in range(groups) for _ in listed],
            "who": [f"{row['person']} {group}" for group in range(groups) for row in listed],
            "age": [row["age"] for _ in range(groups) for row in listed],
        }
    )


VILLAIN: list[dict[str, object]] = [{"person": "villain", "age": 10**6}] * 5
"""Somebody with five rows and an age that nobody has."""


def draws(ledger: Ledger, figure: str, table: pa.Table, groups: int = DRAWS, **terms: Any) -> list[float]:
    answer = discreet.ask(
        table,
        f"select place, {figure} from data group by place",
        person="who",
        max_rows=2,
        keys={"place": range(groups)},
        bounds={"age": (0, 100)},
        ledger=ledger,
        **{"epsilon": 1, **terms},
    )
    assert len(answer.rows) == groups
    return [row.figures[0].value for row in answer.rows]


FIGURES = ["count(*)", "count(distinct who)", "sum(age)", "avg(age)"]


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES)
def test_an_answer_keeps_its_epsilon_whoever_is_in_the_table(figure: str, ledger: Ledger) -> None:
    pair = [draws(ledger, figure, rows(extra)) for extra in ([], VILLAIN)]
    assert not violation(*pair, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("figure", ["count(*)", "sum(age)"])
def test_gaussian_answers_keep_theirs(figure: str, ledger: Ledger) -> None:
    terms = {"mechanism": "gaussian", "delta": "1e-3"}
    groups = DRAWS if DRAWS == MOST_DRAWS else 2000
    pair = [draws(ledger, figure, rows(extra, groups), groups, **terms) for extra in ([], VILLAIN)]
    assert not violation(*pair, 1.0, 1e-3)


@pytest.mark.slow
def test_quantiles_keep_theirs(ledger: Ledger) -> None:
    # Each is chosen with two ends, and takes as long as a thousand counts.
    groups = DRAWS // 4
    pair = [draws(ledger, "median(age)", rows(extra, groups), groups) for extra in ([], VILLAIN)]
    assert not violation(*pair, 1.0)


def test_an_engine_that_forgets_the_bounds_is_caught(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = BoundedCounting._kept_rows

    def unbounded(self: Any, groups: Any, values: Any, max_groups: int, max_rows: int) -> list[str]:
        return kept(self, groups, values, 10**6, 10**6)

    monkeypatch.setattr(BoundedCounting, "_kept_rows", unbounded)
    pair = [draws(ledger, "count(*)", rows(extra)) for extra in ([], VILLAIN)]
    assert violation(*pair, 1.0)


@pytest.mark.parametrize(("max_groups", "wrong"), [(1, False), (3, False), (3, True)])
def test_groups_of_one_person_are_shown_no_more_often_than_delta(
    max_groups: int, wrong: bool, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of many people is alone with ``max_groups`` groups: how many people have one that is shown?"""
    if wrong:
        monkeypatch.setattr(
            "discreet.dp.keys.threshold", lambda scale, delta, keys: noise.threshold(scale, delta, 1) - 3
        )
    people, delta = 3000, 0.1
    table = pa.table(
        {
            "who": [p for p in range(people) for _ in range(max_groups)],
            "own": [f"{p}-{g}" for p in range(people) for g in range(max_groups)],
        }
    )
    answer = discreet.ask(
        table,
        "select own, count(*) from data group by own",
        epsilon=2 * max_groups,
        delta=delta,
        person="who",
        max_groups=max_groups,
        ledger=ledger,
    )
    exposed = len({str(row.keys[0]).split("-")[0] for row in answer.rows})
    least = beta.ppf(CHANCE, exposed, people - exposed + 1) if exposed else 0
    assert (least > delta) == wrong


# ── quantiles ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 10), Fraction(97, 100)])
def test_a_row_changes_no_score_of_a_quantile_or_of_its_ends_further_than_stated(
    share: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[list[int], int]] = []

    def recorded(scores: list[int], *, sensitivity: int, epsilon: Fraction) -> int:
        told.append((scores, sensitivity))
        return int(np.argmax(scores))

    monkeypatch.setattr("discreet.dp.quantiles.noisy_max", recorded)
    step = max(share.numerator, share.denominator - share.numerator)
    chooser = QuantileChooser(share, step, ONE, 0.05)
    chance = random.Random(1)
    for rows in (
        [0] * 6,
        [1, 0, 0, 0, 0, 0],
        *([chance.randrange(400) for _ in range(6)] for _ in range(30)),
    ):
        for place in range(6):
            told.clear()
            for extra in (0, 1):
                more = np.array(rows)
                more[place] += extra
                chooser.choose(more)
            for (before, stated), (after, _) in zip(told[:3], told[3:], strict=True):
                assert np.abs(np.subtract(after, before)).max() <= stated == step


@pytest.mark.parametrize("people", [1, 12, 300])
def test_the_interval_of_a_quantile_holds_it_however_few_people_there_are(people: int) -> None:
    chance = random.Random(people)
    held, tries = 0, 150
    for _ in range(tries):
        values = sorted(chance.randrange(50) for _ in range(people))
        chooser = QuantileChooser(Fraction(1, 4), 3, 2 * ONE, 0.2)
        at, low, high = chooser.choose(np.bincount(values, minlength=50))
        quantile = values[max(0, math.ceil(people / 4) - 1)]
        assert low <= at <= high
        held += low <= quantile <= high
    assert held >= 0.8 * tries
    # With many people and a large amount the ends come together.
    many = np.bincount([chance.randrange(50) for _ in range(20_000)], minlength=50)
    at, low, high = QuantileChooser(Fraction(1, 4), 3, 100 * ONE, 0.05).choose(many)
    assert high - low <= 1


# ── floating point ────────────────────────────────────────────────────────────────────────────────


def reachable(answers: np.ndarray, centre: float, scale: float) -> np.ndarray:
    """Mironov's attack, *On Significance of the Least Significant Bits*, 2012: could floating point noise have led from here to there?

    Noise as textbooks draw it is ±b·ln(u) with u one of 2^53 numbers, so only some sums are possible; which ones depends on the true figure.
    """
    away = answers - centre
    guesses = np.exp(-np.abs(away) / scale) * 2.0**53
    possible = np.zeros(len(answers), dtype=bool)
    for step in range(-2, 3):
        drawn = (np.rint(guesses) + step) * 2.0**-53
        with np.errstate(divide="ignore", invalid="ignore"):
            possible |= centre - np.sign(away) * scale * np.log(drawn) == answers
    return possible


def test_the_last_digits_of_an_answer_say_nothing_and_those_of_floating_point_noise_do(
    ledger: Ledger,
) -> None:
    """A sum of 2,000 groups whose true figures are 31.25 with somebody and 10 without."""
    figures = 31.25, 10.0
    chance = np.random.default_rng(3)
    uniform = chance.integers(1, 2**53, size=(2, 2000)) * 2.0**-53
    sign = chance.choice([-1.0, 1.0], size=(2, 2000))
    textbook = [at - s * 100 * np.log(u) for at, s, u in zip(figures, sign, uniform, strict=True)]
    hits = [reachable(drawn, figures[0], 100.0).astype(float).tolist() for drawn in textbook]
    assert violation(*hits, 1.0)

    def answers(pays: list[float]) -> list[float]:
        groups = 2000
        table = pa.table(
            {
                "place": [group for group in range(groups) for _ in pays],
                "pay": [pay for _ in range(groups) for pay in pays],
            }
        )
        answer = discreet.ask(
            table,
            "select place, sum(pay) from data group by place",
            epsilon=1,
            unit="record",
            keys={"place": range(groups)},
            bounds={"pay": (0, 100)},
            ledger=ledger,
        )
        return [float(row.figures[0].value) for row in answer.rows]

    ours = [np.array(answers(pays)) for pays in ([10.0, 21.25], [10.0])]
    hits = [reachable(drawn, figures[0], 100.0).astype(float).tolist() for drawn in ours]
    assert not violation(*hits, 1.0)
    # Whatever the true figure, answers are whole multiples of one unit that follows from the bounds.
    assert all(np.all(drawn / 2.0**-13 == np.rint(drawn / 2.0**-13)) for drawn in ours)


# ── amounts ───────────────────────────────────────────────────────────────────────────────────────


def test_zero_concentrated_privacy_in_epsilon_and_delta() -> None:
    """A Gaussian of σ = 4 is 1/32-zCDP; at δ = 1e-6 that is ε = 1.143, of which privacy loss distributions leave 1.061."""
    assert delta_of(1 / 32, 1.144) < 1e-6 < delta_of(1 / 32, 1.142)
    assert delta_of(1 / 32, 1.061) > 1e-6
    rho = rho_of(Fraction(1), Fraction(1, 10**9))
    assert delta_of(rho, 1.0) <= 1e-9 < delta_of(rho * 1.001, 1.0)


def test_margins_hold_what_they_say() -> None:
    for scale in (0.2, 1.0, 7.5):
        for error in (0.05, 0.2):
            for mechanism, margin in (
                (lambda x, s=scale: math.exp(-abs(x) / s), laplace_margin(scale, error)),
                (lambda x, s=scale: math.exp(-(x**2) / (2 * s**2)), gaussian_margin(scale, error)),
            ):
                weights = {x: mechanism(x) for x in range(-2000, 2001)}
                beyond = sum(w for x, w in weights.items() if abs(x) > margin) / sum(weights.values())
                assert beyond <= error
    tight = laplace_margin(7.5, 0.05) - 1
    weights = [math.exp(-abs(x) / 7.5) for x in range(-2000, 2001)]
    assert sum(weights[: 2000 - tight]) * 2 / sum(weights) > 0.05


def test_intervals_hold_the_true_figure_as_often_as_they_say(ledger: Ledger) -> None:
    answer = discreet.ask(
        rows([], 2000),
        "select place, count(*), avg(age) from data group by place",
        epsilon=2,
        person="who",
        keys={"place": range(2000)},
        bounds={"age": (0, 100)},
        confidence=0.9,
        ledger=ledger,
    )
    for at, truth in ((0, 2), (1, 40.0)):
        held = sum(row.figures[at].low <= truth <= row.figures[at].high for row in answer.rows)  # type: ignore[operator]
        assert held >= 0.86 * 2000  # six standard deviations below what is promised


def test_what_an_epsilon_means() -> None:
    assert posterior(0.01, 1.0) == pytest.approx(0.0267, abs=1e-4)
    assert posterior(0.5, 0.0) == 0.5
    assert posterior(0.01, 10**6) == 1.0
