"""k-map and δ-presence as requirements: counted in a table of the population, in counts, or estimated."""

from __future__ import annotations

import csv
import itertools
import math
import operator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy.special import gammaincinv

import discreet
from discreet.classes import EquivalenceClasses
from discreet.classes.population import Population
from discreet.cli import cli
from discreet.errors import DiscreetError, GoalUnreachable, InvalidParameter, InvalidPolicy
from discreet.policy.plan import METHODS, Plan
from discreet.privacy import DeltaPresence, KMap
from discreet.privacy.presence import ESTIMATORS, LEAST_CONFIDENCE, MOST_CONFIDENCE, least_size, surely_there

QI = ("age", "town")
TOWNS = ("Ulm", "Bonn", "Kiel")


def town(folder: Path, seed: int, people: int = 120) -> tuple[pa.Table, list[tuple[int, str]]]:
    """Some of a population, and the population, which is written beside it."""
    random = np.random.default_rng(seed)
    everybody = [
        (int(age), str(at))
        for age, at in zip(random.integers(20, 40, people), random.choice(TOWNS, people), strict=True)
    ]
    with (folder / "everybody.csv").open("w", newline="") as file:
        csv.writer(file).writerows([QI, *everybody])
    drawn = [person for person in everybody if random.random() < 0.3]
    return pa.table(dict(zip(QI, zip(*drawn, strict=True), strict=True))), everybody


def fits(label: str, value: object) -> bool:
    """Whether a label may stand for a value, read by hand."""
    if label in ("*", str(value)):
        return True
    if label.startswith("{"):
        return str(value) in label.strip("{}").split(", ")
    if label[0] not in "<>[":
        return False
    if label[0] in "<>":
        sign, bound = label.split(" ")
        compare = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[sign]
        return bool(compare(value, int(bound)))
    low, high = label.strip("[]").split(", ")
    return isinstance(value, int) and float(low) <= value <= float(high)


def counted(released: pa.Table, everybody: list[tuple[int, str]]) -> tuple[float, float]:
    """k-map and δ-presence of a release by plain loops."""
    rows = [tuple(map(str, row.values())) for row in released.select(QI).to_pylist()]
    outside = {row: sum(all(map(fits, row, person)) for person in everybody) for row in dict.fromkeys(rows)}
    return min(outside.values()), max(rows.count(row) / outside[row] for row in outside)


def asking(folder: Path, *models: KMap | DeltaPresence, **plan: object) -> discreet.Policy:
    policy = discreet.Policy.of(
        quasi_identifiers=QI,
        require=models,
        population=folder / "everybody.csv",
        profile="research-partner-3",
    )
    return replace(policy, plan=Plan(suppression_limit=0.1, seconds=1.0, **plan))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_meets_them_and_the_check_finds_it(method: str, tmp_path: Path) -> None:
    table, everybody = town(tmp_path, METHODS.index(method))
    policy = asking(tmp_path, KMap(9), DeltaPresence(0.6), method=method)
    release = discreet.anonymize(table, policy)
    shown = release.to_arrow()
    k, delta = counted(shown, everybody)
    assert k >= 9
    assert delta <= 0.6
    assert release.after.measure("k-map").value == k
    assert release.after.measure("delta-presence").value == pytest.approx(delta)
    place = release.save(tmp_path / "open.csv")
    found = discreet.check(place, policy)
    assert found.passes
    assert {"k-map", "delta-presence"} <= {criterion.id for criterion in found.criteria}


def test_the_table_itself_does_not_pass(tmp_path: Path) -> None:
    table, everybody = town(tmp_path, 1)
    found = discreet.check(table, asking(tmp_path, KMap(9), DeltaPresence(0.6)))
    k, delta = counted(table, everybody)
    values = {criterion.id: criterion.value for criterion in found.obstacles if criterion.origin == "policy"}
    assert values == {"k-map": k, "delta-presence": pytest.approx(delta)}


def test_a_population_that_is_large_enough_leaves_the_table_as_it_is(tmp_path: Path) -> None:
    """Everybody is alone in the table, and among 3 in the population."""
    ages = list(range(20, 30))
    with (tmp_path / "everybody.csv").open("w", newline="") as file:
        csv.writer(file).writerows([QI, *[(age, "Ulm") for age in ages * 3]])
    table = pa.table({"age": ages, "town": ["Ulm"] * 10})
    policy = replace(asking(tmp_path, KMap(3)), profile=str(only_the_policy(tmp_path)))
    release = discreet.anonymize(table, policy)
    assert release.loss == 0
    assert sorted(release.to_arrow()["age"].to_pylist()) == ages


def only_the_policy(folder: Path) -> Path:
    profile = folder / "profile.toml"
    profile.write_text(
        'title = "t"\ndescription = "d"\nsource = "s"\ndate = 2026-01-01\nrules = ["no-direct-identifiers"]\n'
    )
    return profile


def test_it_is_said_that_a_population_is_needed(tmp_path: Path) -> None:
    table, _ = town(tmp_path, 2)
    policy = discreet.Policy.of(quasi_identifiers=QI, require=[KMap(3)], profile="research-partner-3")
    for verb in (discreet.audit, discreet.check, discreet.anonymize):
        with pytest.raises(InvalidPolicy, match=r"no population is known.*--population"):
            verb(table, policy)
    estimated = policy.replace(requirements=[KMap(3, estimator="poisson")])
    with pytest.raises(InvalidParameter, match=r"no sampling fraction is known"):
        discreet.check(table, estimated)


def test_what_nobody_can_reach_is_refused(tmp_path: Path) -> None:
    table, everybody = town(tmp_path, 3)
    share = table.num_rows / len(everybody)
    with pytest.raises(GoalUnreachable):
        discreet.anonymize(table, asking(tmp_path, DeltaPresence(round(share * 0.9, 3))))


@pytest.mark.parametrize("reach", ["table", "counts"])
def test_counts_are_as_good_as_a_row_for_each(reach: str, tmp_path: Path) -> None:
    table, everybody = town(tmp_path, 4)
    if reach == "counts":
        with (tmp_path / "everybody.csv").open("w", newline="") as file:
            lines = [(*person, everybody.count(person)) for person in dict.fromkeys(everybody)]
            csv.writer(file).writerows([(*QI, "people"), *lines, (99, "Ulm", 0)])
    policy = asking(tmp_path, KMap(1))
    policy = policy if reach == "table" else policy.replace(population_count="people")
    k, delta = counted(table, everybody)
    audit = discreet.audit(table, policy)
    assert audit.measure("k-map").value == k
    assert audit.measure("delta-presence").value == pytest.approx(delta)


@pytest.mark.parametrize("people", ["-1", "", "many"])
def test_counts_that_are_none_are_refused(people: str, tmp_path: Path) -> None:
    (tmp_path / "everybody.csv").write_text(f"age,town,people\n30,Ulm,2\n31,Ulm,{people}\n")
    policy = asking(tmp_path, KMap(1)).replace(population_count="people")
    with pytest.raises(InvalidPolicy, match="does not say in every row"):
        discreet.audit(pa.table({"age": [30], "town": ["Ulm"]}), policy)


def test_several_rows_of_a_person_are_refused(tmp_path: Path) -> None:
    (tmp_path / "everybody.csv").write_text("who,age,town\na,30,Ulm\na,31,Ulm\nb,31,Ulm\n")
    policy = asking(tmp_path, KMap(2)).replace(person="who")
    rows = pa.table({"who": ["a", "b"], "age": [30, 31], "town": ["Ulm", "Ulm"]})
    with pytest.raises(InvalidPolicy, match="several rows of a person"):
        discreet.anonymize(rows, policy)


def test_a_changed_population_is_counted_anew(tmp_path: Path) -> None:
    table = pa.table({"age": [30], "town": ["Ulm"]})
    for people in (2, 5, 3):
        (tmp_path / "everybody.csv").write_text("age,town\n" + "30,Ulm\n" * people)
        assert discreet.audit(table, asking(tmp_path, KMap(1))).measure("k-map").value == people


def test_policy_file_and_command_line(tmp_path: Path) -> None:
    table, everybody = town(tmp_path, 5)
    with (tmp_path / "counts.csv").open("w", newline="") as file:
        lines = [(*person, everybody.count(person)) for person in dict.fromkeys(everybody)]
        csv.writer(file).writerows([(*QI, "people"), *lines])
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([QI, *zip(*table.to_pydict().values(), strict=True)])
    policy = replace(asking(tmp_path, KMap(9)), population=str(tmp_path / "counts.csv"))
    place = discreet.save_policy(policy.replace(population_count="people"), tmp_path / "policy.toml")
    again = discreet.load_policy(place)
    assert (again.population, again.population_count) == (str(tmp_path / "counts.csv"), "people")
    assert again.requirements == (KMap(9),)
    run = CliRunner().invoke
    out = str(tmp_path / "open.csv")
    made = run(cli, ["anonymize", str(tmp_path / "rows.csv"), "-p", str(place), "-o", out, "--seconds", "1"])
    assert made.exit_code == 0, made.output
    assert run(cli, ["check", out, "-p", str(place)]).exit_code == 0
    told = run(
        cli,
        [
            "audit",
            out,
            "--qi",
            "age,town",
            "--population",
            policy.population or "",
            "--population-count",
            "people",
            "--brief",
        ],
    )
    assert told.exit_code == 0, told.output


def test_prices_recipes_and_attacks_live_with_them(tmp_path: Path) -> None:
    table, everybody = town(tmp_path, 6)
    policy = asking(tmp_path, KMap(9), method="optimal")
    release = discreet.anonymize(table, policy)
    assert [price.models for price in release.prices.requirements if price.models == (KMap(9),)]
    assert discreet.attack(release, original=table, policy=policy).results
    again = discreet.apply(release.recipe, table, policy)
    assert counted(again.to_arrow(), everybody)[0] >= 9


# ── estimates ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5])
def test_the_test_of_class_sizes_by_its_sum(estimator: str, fraction: float) -> None:
    """The least class whose size would be unlikely if k people shared its values in the population."""
    for k in (1, 3, 11, 40):
        mean = k * fraction

        def tail(size: int, mean: float = mean) -> float:
            below = sum(math.exp(-mean) * mean**i / math.factorial(i) for i in range(size))
            above = 1 - below
            return above / (1 - math.exp(-mean)) if estimator == "zero-truncated-poisson" else above

        sizes = [size for size in range(1, k + 1) if size == k or tail(size) <= 0.01 + 1e-12]
        assert least_size(k, estimator, 0.01, fraction) == min(sizes)  # type: ignore[arg-type]


def test_an_estimate_takes_the_fraction_of_the_policy() -> None:
    table = pa.table({"age": [30] * 4 + [40] * 3})
    policy = discreet.Policy.of(
        quasi_identifiers=["age"],
        require=[KMap(20, estimator="poisson")],
        sampling_fraction=0.01,
        profile="research-partner-3",
    )
    [found] = [each for each in discreet.check(table, policy).criteria if each.id == "k-map"]
    assert (found.holds, found.value, found.threshold) == (True, 20, 20)
    with pytest.raises(DiscreetError):
        KMap(20, estimator="normal")  # type: ignore[arg-type]


# ── how people are counted ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(20))
def test_fitting_people_are_counted_as_loops_count_them(seed: int) -> None:
    """Disjoint labels are looked up, others walked through; both count nulls with nulls only."""
    random = np.random.default_rng(seed)
    ages = [*range(20, 30), None]
    people = [(ages[random.integers(11)], TOWNS[random.integers(3)]) for _ in range(60)]
    labels = ["[20, 24]", "[25, 29]", "*"] if seed % 2 else ["[20, 24]", "[23, 29]", "{21, 29}", "25"]
    shown = list(itertools.product(labels, ["Ulm", "{Bonn, Kiel}"]))
    classes = EquivalenceClasses.from_columns(dict(zip(QI, zip(*shown, strict=True), strict=True)))
    population = Population(
        EquivalenceClasses.from_columns(dict(zip(QI, zip(*people, strict=True), strict=True)))
    )
    beside = replace(classes, outside=population)
    assert beside.class_population is not None
    for place, found in enumerate(beside.class_population):
        own = classes.labels(place)
        assert found == sum(
            all(
                own[name] == "*" or (value is not None and fits(own[name], value))
                for name, value in zip(QI, person, strict=True)
            )
            for person in people
        )


# ── statistics instead of a list of everybody ─────────────────────────────────────────────────────────


def chance_of_fewer(number: int, mean: float) -> float:
    """P(X < number) of a Poisson variable, added up."""
    return math.fsum(math.exp(-mean + n * math.log(mean) - math.lgamma(n + 1)) for n in range(number))


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_so_many_others_are_there_with_the_confidence_and_no_more(confidence: float) -> None:
    means = np.random.default_rng(2).random(60) * np.repeat([2, 20, 300], 20)
    for mean, others in zip(
        means.tolist(), surely_there(means, confidence).astype(int).tolist(), strict=True
    ):
        assert chance_of_fewer(others, mean) <= 1 - confidence < chance_of_fewer(others + 1, mean)


@pytest.mark.parametrize("confidence", [LEAST_CONFIDENCE, 0.9, 0.99, MOST_CONFIDENCE])
def test_merged_classes_have_at_least_the_others_of_their_parts(confidence: float) -> None:
    """So that a search may prune. G(q), the mean at which q others are sure, falls per head: so it is subadditive."""
    number = np.arange(1, 3_000)
    assert (np.diff(gammaincinv(number, confidence) / number) < 0).all()
    means = np.random.default_rng(3).random((2, 2_000)) * 40
    apart = surely_there(means[0], confidence) + surely_there(means[1], confidence)
    assert (surely_there(means.sum(axis=0), confidence) >= apart).all()


def test_the_chance_is_kept_in_most_of_the_populations_that_the_statistics_allow() -> None:
    """A class of 6 in the table, of 40 that are expected, half of whom are in the table."""
    classes = EquivalenceClasses.from_columns({"sex": ["f"] * 6})
    classes.__dict__["class_population"] = np.array([40.0])
    told = DeltaPresence(1, confidence=0.9, sampling_fraction=0.5).measure(classes).value
    drawn = 6 / (6 + np.random.default_rng(4).poisson(20.0, 20_000))
    kept = (drawn <= told + 1e-12).mean()
    assert told == 6 / (6 + surely_there(np.array([20.0]), 0.9)[0])
    assert 0.9 <= kept <= 0.95


def test_a_confidence_is_met_by_the_release_and_found_by_the_check(tmp_path: Path) -> None:
    table, everybody = town(tmp_path, 5, people=300)
    model = DeltaPresence(0.6, confidence=0.95)
    policy = asking(tmp_path, model)
    with pytest.raises(InvalidParameter, match="no sampling fraction is known"):
        discreet.check(table, policy)
    share = table.num_rows / len(everybody)
    policy = replace(policy, sampling_fraction=share)
    release = discreet.anonymize(table, policy)
    rows = [tuple(map(str, row.values())) for row in release.to_arrow().select(QI).to_pylist()]
    for row in dict.fromkeys(rows):
        here = rows.count(row)
        mean = (1 - share) * sum(all(map(fits, row, person)) for person in everybody)
        others = math.ceil(here / 0.6 - here)
        assert chance_of_fewer(others, mean) <= 0.05 + 1e-9
    place = release.save(tmp_path / "open.csv")
    assert discreet.check(place, policy).passes
    exact = replace(policy, requirements=(DeltaPresence(0.6),))
    assert discreet.anonymize(table, exact).loss < release.loss


def test_confidences_that_promise_nothing_are_refused() -> None:
    for confidence in (0.5, 1.0):
        with pytest.raises(InvalidParameter, match="confidence must be"):
            DeltaPresence(0.5, confidence=confidence)
