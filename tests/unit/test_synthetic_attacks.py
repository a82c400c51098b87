"""Attacks on artificial records, held against people who were not used to make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attacks.linkage.nearest import distances
from discreet.attacks.linkage.view import View
from discreet.attacks.result import AttackResult
from discreet.attacks.synthetic.density import membership_by_density
from discreet.attacks.synthetic.guessing import guessing_by_nearest
from discreet.attacks.synthetic.halves import linking_of_halves
from discreet.attacks.synthetic.neighbours import Neighbours
from discreet.attacks.synthetic.predicates import singling_out_by_predicates
from discreet.attacks.synthetic.shadows import membership_by_shadows
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.perturb.base import Perturbation
from discreet.perturb.noise import AdditiveNoise
from discreet.perturb.randomness import Randomness
from discreet.perturb.synthesis import SyntheticTable

Attack = Callable[[Pair, EquivalenceClasses, int], Iterable[AttackResult]]
ATTACKS: dict[str, Attack] = {
    "predicates": lambda pair, others, seed: singling_out_by_predicates(pair, control=others, seed=seed),
    "halves": lambda pair, others, seed: [linking_of_halves(pair, control=others, seed=seed)],
    "guessing": lambda pair, others, seed: [guessing_by_nearest(pair, "pay", control=others, seed=seed)],
    "density": lambda pair, others, seed: [membership_by_density(pair, control=others, seed=seed)],
}
Columns = dict[str, list[object]]


def drawn(rng: np.random.Generator, rows: int) -> Columns:
    """People with common and rare values; pay goes with age."""
    age = rng.integers(18, 90, rows)
    return {
        "age": age.tolist(),
        "children": rng.poisson(1.2, rows).tolist(),
        "job": rng.choice(list("abcdefgh"), rows, p=[0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05]).tolist(),
        "town": rng.integers(0, 40, rows).astype(str).tolist(),
        "pay": (1000 + 50 * age + rng.normal(0, 400, rows)).round().astype(int).tolist(),
    }


def counted(columns: Columns) -> EquivalenceClasses:
    known = {name: values for name, values in columns.items() if name != "pay"}
    return EquivalenceClasses.from_columns(known, sensitive={"pay": columns["pay"]})


@pytest.mark.parametrize("name", ATTACKS)
def test_what_was_drawn_independently_is_not_accused(name: str) -> None:
    """Artificial people drawn like original and control tell nothing of the former that they do not tell of the latter."""
    accused, tried = 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        original, artificial, others = (counted(drawn(rng, 120)) for _ in range(3))
        for result in ATTACKS[name](Pair.of(original, artificial), others, seed):
            accused += result.better_than_baseline
            tried += 1
            assert 0 <= result.low <= result.rate <= result.high <= 1
    # The interval leaves out the truth in one of twenty cases, on either side.
    assert accused <= max(2, 0.1 * tried)


@pytest.mark.parametrize("name", ATTACKS)
def test_records_that_are_repeated_are_found_out(name: str) -> None:
    rng = np.random.default_rng(1)
    people, others = drawn(rng, 200), counted(drawn(rng, 200))
    places = rng.integers(0, 200, 200)
    repeated = counted({column: [values[i] for i in places] for column, values in people.items()})
    # Hardly any value of one attribute is alone, so the guesses by several of them are looked at.
    *_, result = ATTACKS[name](Pair.of(counted(people), repeated), others, 1)
    assert result.better_than_baseline
    assert result.advantage > 0.1


def test_nearest_records_are_those_of_all_distances() -> None:
    rng = np.random.default_rng(5)
    people, released = counted(drawn(rng, 60)), counted(drawn(rng, 80))
    view = View.of(Pair.of(people, released))
    near = Neighbours(view)
    every = np.arange(len(view.released))
    for target in range(len(view.targets)):
        apart = distances(view, every, np.full(len(every), target))
        expected = np.flatnonzero(apart <= apart.min() + 2e-9)
        assert near.nearest(target, range(4)).tolist() == expected.tolist()


def test_guesses_say_nothing_of_intervals_and_count_nulls() -> None:
    people = EquivalenceClasses.from_columns({"age": [31, 45, None, 60]})
    others = EquivalenceClasses.from_columns({"age": [30, 46, 47, 61]})
    artificial = EquivalenceClasses.from_columns({"age": ["[30, 39]", "45", None, "[60, 69]"]})
    result = next(singling_out_by_predicates(Pair.of(people, artificial), control=others))
    # 45, which is also the least and the greatest number (31 and 45, or 45 and 60, go beyond it), and who lacks an age.
    assert (result.tries, result.successes) == (4, 2)


def test_a_number_need_only_be_near_and_a_category_must_be_right() -> None:
    ages = list(range(30))
    people = EquivalenceClasses.from_columns({"age": ages}, sensitive={"pay": [100 * age for age in ages]})
    artificial = EquivalenceClasses.from_columns(
        {"age": ages}, sensitive={"pay": [100 * age + (145 if age < 15 else 146) for age in ages]}
    )
    result = guessing_by_nearest(Pair.of(people, artificial), "pay", control=people)
    # 5 % of 2,900 are 145.
    assert result.successes == result.baseline * 30 == 15


def test_all_are_run_by_name_on_a_release_of_another_tool() -> None:
    rng = np.random.default_rng(3)
    rows, others = (pa.table(drawn(rng, 150)) for _ in range(2))
    policy = discreet.Policy.of(quasi_identifiers=["age", "children", "job", "town"], sensitive=["pay"])
    names = ["predicates", "linking-of-halves", "guessing-by-nearest", "membership-by-density"]
    made = rows.take(pa.array(rng.integers(0, 150, 150)))
    tried = discreet.attack(made, policy, original=rows, control=others, attacks=names)
    assert [result.attack for result in tried.results] == [
        "predicates-of-one-attribute",
        "predicates-of-several-attributes",
        *names[1:],
    ]
    assert tried.exposure > 0.2
    without = discreet.attack(
        made, policy, original=rows, control=others.drop_columns(["pay"]), attacks=names
    )
    assert [skipped.why for skipped in without.untested] == [
        "pay: the control group does not tell this attribute"
    ]


def test_what_cannot_be_tried_is_refused() -> None:
    table = EquivalenceClasses.from_columns({"age": [1, 2, 3]})
    with pytest.raises(InvalidParameter, match="one attribute has no halves"):
        linking_of_halves(Pair.of(table, table), control=table)
    with pytest.raises(InvalidParameter, match="no control set"):
        membership_by_density(Pair.of(table, table), control=table)
    events = EquivalenceClasses.from_columns({"age": [1, 2, 3]}, person=[1, 1, 2])
    with pytest.raises(InvalidParameter, match="several records"):
        next(iter(singling_out_by_predicates(Pair.of(events, events), control=table)))


KNOWN = ("age", "children", "job", "town")


def made_by(step: Perturbation, columns: Columns) -> EquivalenceClasses:
    """People of whom a step draws artificial values."""
    rows = pa.table({name: columns[name] for name in KNOWN})
    return EquivalenceClasses.from_columns(pa.table(step.changed(rows, Randomness(4))).to_pydict())


def test_whoever_makes_releases_with_and_without_a_person_knows_who_was_used() -> None:
    step = SyntheticTable(KNOWN)
    rng = np.random.default_rng(1)
    people, others = drawn(rng, 60), counted(drawn(rng, 120))
    pair = Pair.of(counted(people), made_by(step, people))
    result = membership_by_shadows(pair, [step], control=others, shadows=16, targets=30)
    assert result.better_than_baseline
    assert result.tries == 60
    # The same steps of other people tell nothing of these: the rates of members and others differ by chance only.
    free = Pair.of(counted(people), made_by(step, drawn(rng, 60)))
    rate = membership_by_shadows(free, [step], control=others, shadows=16, targets=30).rate
    assert abs(rate - 0.5) < 0.2
    assert rate < result.rate


def test_shadows_are_made_of_what_is_known_by_steps_that_draw() -> None:
    step = SyntheticTable(("job", "pay"), given=("town",))
    rng = np.random.default_rng(2)
    people, others = drawn(rng, 50), counted(drawn(rng, 80))
    pair = Pair.of(counted(people), counted(people))
    steps = [step, AdditiveNoise(("age",))]
    [note] = membership_by_shadows(pair, steps, control=others, shadows=4, targets=20).notes
    assert "left aside: synthetic-table, additive-noise" in note
    with pytest.raises(InvalidParameter, match="draws artificial values"):
        membership_by_shadows(pair, steps[1:], control=others)
    with pytest.raises(InvalidParameter, match="no control set"):
        membership_by_shadows(pair, steps, control=counted(drawn(rng, 20)))


def test_shadow_models_are_run_where_the_policy_names_a_step_that_draws() -> None:
    rng = np.random.default_rng(3)
    rows, others = (pa.table(drawn(rng, 70)) for _ in range(2))
    policy = discreet.Policy.of(quasi_identifiers=list(KNOWN), sensitive=["pay"])
    made = rows.take(pa.array(rng.integers(0, 70, 70)))
    name = "membership-by-shadows"
    without = discreet.attack(made, policy, original=rows, control=others, attacks=[name])
    assert "no step that draws artificial values" in without.untested[0].why
    drawing = replace(policy, perturb=(SyntheticTable(KNOWN),))
    told = discreet.attack(made, drawing, original=rows, control=others, attacks=[name])
    assert [result.attack for result in told.results] == [name]
