"""The verbs compare and attack, from tables to results, and their commands."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import discreet
from discreet.attacks.catalogue import ATTACKS
from discreet.errors import InvalidParameter, UnknownColumn
from discreet.example import town, visits
from discreet.policy import Policy
from discreet.policy.kpi import Kpi
from discreet.policy.plan import Plan
from discreet.release.legal import CRITERIA
from discreet.reports.evidence.terminal import show_comparison
from discreet.reports.terminal import plain

QI = ["age", "sex", "postcode"]
QUICK = [name for name in ATTACKS if name not in ("probabilistic-linkage", "attribute-inference")]


def make_policy() -> Policy:
    return Policy.of(
        quasi_identifiers=QI,
        sensitive=["diagnosis", "income"],
        direct_identifiers=["resident_id", "name", "birth_date"],
        require=[discreet.KAnonymity(5)],
        profile="research-partner-5",
    )


@pytest.fixture(scope="module")
def people() -> discreet.Table:
    return discreet.read(town(700))


@pytest.fixture(scope="module")
def release(people: discreet.Table) -> discreet.Release:
    return discreet.anonymize(people, make_policy(), plan=Plan(method="optimal"))


@pytest.fixture(scope="module")
def attacked(people: discreet.Table, release: discreet.Release) -> discreet.Attacks:
    return discreet.attack(release, original=people)


@pytest.fixture(scope="module")
def compared(people: discreet.Table, release: discreet.Release) -> discreet.Comparison:
    return discreet.compare(people, release, queries=100)


# ── compare without hierarchies ──────────────────────────────────────────────────────────────────────


def five_towns(policy: Policy | None = None) -> discreet.Comparison:
    """Eight people of five towns; five of them are shown as {A, C, E}."""
    original = pa.table({"town": ["A", "A", "C", "E", "E", "B", "D", "D"]})
    released = pa.table({"town": ["{A, C, E}"] * 5 + ["B", "D", "D"]})
    return discreet.compare(
        original, released, policy or Policy.of(quasi_identifiers=["town"]), labels=[], queries=1
    )


def test_sets_have_their_own_penalty_where_the_policy_names_no_hierarchy() -> None:
    comparison = five_towns()
    for name in ("certainty-penalty", "cross-common-ancestor"):
        measure = comparison.losses.measure(name)
        assert measure is not None
        assert measure.value == pytest.approx(5 / 8 * 3 / 5)
    for name in (
        "height-loss",
        "minimal-distortion",
        "minimum-absolute-distance",
        "minimum-relative-distance",
    ):
        for attribute in (None, "town"):
            measure = comparison.losses.measure(name, attribute)
            assert measure is not None
            assert np.isnan(measure.value), name
            assert measure.notes == ("not defined here: there is no hierarchy to count levels in",)
    assert "town: the policy names no hierarchy, so levels are not defined" in str(comparison)


def test_a_named_hierarchy_is_the_scale_of_every_release(tmp_path: Path) -> None:
    file = tmp_path / "town.csv"
    file.write_text("A;x;*\nC;x;*\nE;y;*\nB;y;*\nD;y;*\n")
    comparison = five_towns(Policy.of(quasi_identifiers=["town"]).generalise({"town": file}))
    measured = {name: comparison.losses.measure(name) for name in ("certainty-penalty", "height-loss")}
    assert {name: measure.value for name, measure in measured.items() if measure} == {
        "certainty-penalty": 5 / 8,
        "height-loss": 5 / 8,
    }
    assert all(measure is not None and measure.notes == () for measure in measured.values())
    assert comparison.notes == ()


@pytest.mark.slow
def test_a_learned_hierarchy_that_the_release_follows_is_named(compared: discreet.Comparison) -> None:
    height = compared.losses.measure("height-loss")
    assert height is not None
    assert 0 < height.value < 1
    assert any(
        "levels of age are those of a hierarchy that the policy does not name" in n for n in height.notes
    )
    assert any("learned from the data, in which all released values stand" in note for note in compared.notes)
    document = compared.to_dict()["losses"]
    overall = {measure["name"]: measure for measure in document["overall"]}  # type: ignore[index]
    assert overall["height-loss"]["notes"] == list(height.notes)


# ── what says nothing is suppressed, however it is written ───────────────────────────────────────────


def test_a_cell_that_may_be_any_value_is_suppressed_whatever_it_looks_like(tmp_path: Path) -> None:
    """``*``, an interval around all values, a set of all values and a mask of all codes are one thing everywhere."""
    original = pa.table(
        {
            "age": [31, 34, 47, 52, 52, 60],
            "town": ["A", "B", "C", "A", "B", "C"],
            "code": ["101", "102", "103", "104", "105", "106"],
            "dx": ["flu", "flu", "cold", "flu", "cold", "cold"],
        }
    )
    shown = {"age": ["[30, 39]", "*", "*", "*", "52", "*"], "town": ["A", "*", "C", "*", "*", "*"]}
    shown |= {"code": ["*", "102", "10*", "*", "*", "*"], "dx": original["dx"].to_pylist()}
    wide = {"age": "[0, 99]", "town": "{C, B, A}", "code": "1**", "dx": ""}
    policy = Policy.of(quasi_identifiers=["age", "town", "code"], sensitive=["dx"])
    results = []
    for written in (shown, {n: [wide[n] if v == "*" else v for v in values] for n, values in shown.items()}):
        release = pa.table(written)
        compared = discreet.compare(original, release, policy, labels=[], queries=50)
        attacked = discreet.attack(
            release, policy, original=original, attacks=["record-linkage", "singling-out", "homogeneity"]
        )
        numbers = {
            (measure.name, measure.attribute): measure.value
            for measure in (*compared.losses.overall, *compared.losses.attributes)
        }
        for result in attacked.results:
            numbers |= {(result.attack, name): value for name, value in result.figures}
            numbers |= {(result.attack, "rate"): result.rate, (result.attack, "baseline"): result.baseline}
        results.append(numbers)
    assert len(results[0]) > 60
    assert results[1] == pytest.approx(results[0], nan_ok=True)


def test_an_interval_of_all_numbers_says_something_where_some_have_none() -> None:
    original = pa.table({"age": pa.array([31, 47, None])})
    released = pa.table({"age": ["[30, 60]", "[30, 60]", "*"]})
    measured = discreet.compare(
        original, released, Policy.of(quasi_identifiers=["age"]), labels=[], queries=1
    ).losses.measure("suppression-ratio")
    assert measured is not None
    assert measured.value == pytest.approx(1 / 3)


# ── attack ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_every_attack_was_run_or_says_why_not(attacked: discreet.Attacks) -> None:
    run = {one.attack for one in attacked.results}
    told = {one.attack for one in attacked.untested}
    for name in ATTACKS:
        assert any(one.startswith(name) for one in run) or name in told, name
    assert all(one.why for one in attacked.untested)
    assert {"singling-out", "record-linkage", "homogeneity", "skewness"} <= run


@pytest.mark.slow
def test_a_result_has_all_that_is_asked_for(attacked: discreet.Attacks) -> None:
    for one in attacked.results:
        assert 0 <= one.low <= one.rate + 1e-12 <= one.high + 1e-9 <= 1 + 1e-9, one.attack
        assert 0 <= one.baseline <= 1
        assert one.tries > 0
        assert one.meaning
        assert one.source
        assert one.scenario == "prosecutor"
        kind = next(kind for kind in ATTACKS.values() if one.attack.startswith(kind.id))
        assert one.criterion == kind.criterion
        assert one.source.startswith(kind.source)
        assert one.seconds >= 0


@pytest.mark.slow
def test_a_5_anonymous_release_singles_nobody_out(attacked: discreet.Attacks) -> None:
    assert attacked.result("singling-out").successes == 0
    linkage = attacked.result("record-linkage")
    assert 0 < linkage.rate <= 1 / 5
    assert {one.criterion: one.state for one in attacked.criteria}["singling-out"] == "withstood"


def test_the_original_as_its_own_release_finds_everyone_who_is_unique(people: discreet.Table) -> None:
    found = discreet.attack(
        people, make_policy(), original=people, attacks=["singling-out", "record-linkage"]
    )
    unique = discreet.audit(people, make_policy()).measure("sample-uniques")
    assert unique.unit == "share of records" or unique.value >= 1
    counted = people.engine.count(people, quasi_identifiers=QI)
    assert found.result("singling-out").successes == pytest.approx(int((counted.records == 1).sum()))
    assert {one.criterion: one.state for one in found.criteria}["singling-out"] == "gives way"


@pytest.mark.slow
def test_a_release_that_shows_nothing_helps_nobody(people: discreet.Table) -> None:
    rows = people.engine.to_arrow(people)
    for name in QI:
        rows = rows.set_column(rows.column_names.index(name), name, pa.array(["*"] * rows.num_rows))
    # In the order of the original even that release would tell who is who.
    order = np.random.default_rng(2).permutation(rows.num_rows)
    found = discreet.attack(
        rows.take(pa.array(order)),
        make_policy(),
        original=people,
        links=order,
        attacks=[*QUICK, "attribute-inference"],
    )
    assert found.result("order").rate < 0.01
    for one in found.results:
        if one.attack != "worst-case":
            # The holder of the original knows the sensitive values, which this release still shows.
            assert not one.better_than_baseline, one.attack
    assert found.exposure == 0


def test_without_the_original_only_what_reads_the_release(release: discreet.Release) -> None:
    found = discreet.attack(release.table, make_policy(), attacks=QUICK)
    assert {one.attack for one in found.results} <= {
        "homogeneity",
        "background-knowledge",
        "skewness",
        "proximity",
    }
    why = {one.attack: one.why for one in found.untested}
    assert "original" in why["record-linkage"]
    assert found.matched == "the original was not given"
    with pytest.raises(InvalidParameter, match="together with the original"):
        discreet.attack(release.table, make_policy(), control=town(50))


def test_a_neighbour_knows_less_than_an_insider(people: discreet.Table, release: discreet.Release) -> None:
    rates = {}
    for scenario in ("neighbour", "insider"):
        found = discreet.attack(
            release, original=people, scenario=scenario, attacks=["record-linkage", "homogeneity"]
        )
        rates[scenario] = [one.rate for one in found.results]
    assert all(less <= more for less, more in zip(rates["neighbour"], rates["insider"], strict=True))
    known = discreet.attack(release, original=people, known=["sex"], attacks=["record-linkage"])
    assert known.result("record-linkage").known == ("sex",)
    assert known.result("record-linkage").rate < rates["neighbour"][0]


def test_people_from_elsewhere(people: discreet.Table, release: discreet.Release) -> None:
    others = town(300, seed=7)
    found = discreet.attack(
        release, original=people, public=others, control=others, attacks=["record-linkage", "membership"]
    )
    assert found.result("record-linkage").tries == 300
    member = found.result("membership")
    assert member.baseline == pytest.approx(0.5)
    assert 0.4 < member.rate < 0.8, "a coarse release hardly tells who is in it"


@pytest.mark.slow
def test_averaged_releases_are_attacked_by_distance(people: discreet.Table) -> None:
    made = discreet.anonymize(people, make_policy(), plan=Plan(method="microaggregation"))
    found = discreet.attack(made, original=people, attacks=["singling-out", "record-linkage"])
    assert found.result("distance-linkage").rate <= 0.2 + 1e-9
    assert any("distance" in note for note in found.notes)


@pytest.mark.slow
def test_made_up_records_are_not_taken_for_those_of_people() -> None:
    rng = np.random.default_rng(3)
    one, two, three = (
        {
            "age": rng.integers(18, 90, n),
            "zip": rng.integers(10000, 10300, n),
            "ill": rng.choice(["flu", "cough", "none"], n),
        }
        for n in (300, 300, 200)
    )
    given = Policy.of(quasi_identifiers=["age", "zip"], sensitive=["ill"])
    for made_up in (two, three, {**two, "age": two["age"] + rng.normal(0, 1, 300)}):
        found = discreet.attack(
            pa.table(made_up), given, original=pa.table(one), attacks=[*QUICK, "attribute-inference"]
        )
        states = [one.state for one in found.criteria]
        assert states == ["not tested", "not tested", "withstood"], "they are independent of everybody"
        assert {one.attack for one in found.untested} >= {"record-linkage", "homogeneity", "worst-case"}


def test_the_same_rows_in_another_order_are_still_those_of_people() -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"age": rng.integers(18, 90, 200), "ill": rng.choice(["flu", "none"], 200)})
    bands = pa.array([f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in table["age"].to_pylist()])
    shuffled = table.set_column(0, "age", bands).take(rng.permutation(200))
    given = Policy.of(quasi_identifiers=["age"], sensitive=["ill"])
    found = discreet.attack(shuffled, given, original=table, attacks=["record-linkage", "skewness"])
    assert "class by class" in found.matched
    classes = len(set(bands.to_pylist()))
    assert found.result("record-linkage").successes == pytest.approx(classes)


def test_the_nearest_record_singles_out_only_its_own_person() -> None:
    table = pa.table({"age": [20, 40, 60, 80], "ill": ["a", "b", "c", "d"]})
    noised = pa.table({"age": [39.5, 20.5, 60.5, 80.5], "ill": ["a", "b", "c", "d"]})
    given = Policy.of(quasi_identifiers=["age"], sensitive=["ill"])
    found = discreet.attack(noised, given, original=table, attacks=["singling-out", "worst-case"])
    assert found.result("singling-out").successes == 2
    assert [one.attack for one in found.untested] == ["worst-case"], "0 of 4 would be no bound"


def test_events_are_counted_in_persons() -> None:
    residents = town(300)
    table = discreet.read(visits(residents))
    policy = Policy.of(
        quasi_identifiers=["clinic"],
        sensitive=["treatment"],
        person="resident_id",
        require=[discreet.KAnonymity(3)],
        profile="research-partner-3",
    )
    made = discreet.anonymize(table, policy, plan=Plan(person="pseudonymise"))
    found = discreet.attack(
        made, original=table, attacks=["areas-of-interest", "record-linkage", "homogeneity"]
    )
    assert {one.unit for one in found.results} == {"persons"}
    assert found.result("areas-of-interest").tries <= 300


def test_what_is_not_installed_is_told_and_the_rest_is_run(
    people: discreet.Table, release: discreet.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sklearn.ensemble", "sklearn.linear_model", "splink"):
        monkeypatch.setitem(sys.modules, name, None)
    chosen = ["probabilistic-linkage", "attribute-inference"]
    found = discreet.attack(release, original=people, attacks=chosen)
    assert {one.attack for one in found.results} == {"attribute-inference-naive-bayes"}
    why = {one.attack: one.why for one in found.untested}
    assert "discreet[linkage]" in why["probabilistic-linkage"]
    assert "discreet[ml]" in why["attribute-inference"]
    compared = discreet.compare(people, release, queries=10, labels=["diagnosis"])
    assert any("discreet[ml]" in note for note in compared.notes)


def test_wrong_names_are_told(people: discreet.Table, release: discreet.Release) -> None:
    with pytest.raises(InvalidParameter, match="linkage"):
        discreet.attack(release, original=people, attacks=["linkages"])
    with pytest.raises(InvalidParameter, match="neighbour"):
        discreet.attack(release, original=people, scenario="neighbor")
    with pytest.raises(UnknownColumn):
        discreet.attack(release, original=people, known=["zip"])


@pytest.mark.slow
def test_results_follow_from_the_seed() -> None:
    people = discreet.read(town(150))
    policy = make_policy().replace(sensitive=["diagnosis"])
    release = discreet.anonymize(people, policy)
    chosen = ["record-linkage", "attribute-inference"]
    one, two = (
        discreet.attack(release, original=people, attacks=chosen, seed=5).to_dict()["attacks"]
        for _ in range(2)
    )
    for a, b in zip(one, two, strict=True):  # type: ignore[call-overload]
        assert {**a, "seconds": 0} == {**b, "seconds": 0}


@pytest.mark.slow
def test_nothing_of_the_data_in_repr_and_json(attacked: discreet.Attacks) -> None:
    told = json.dumps(attacked.to_dict(), allow_nan=False)
    assert "exposed" not in json.loads(told)["attacks"][0]
    assert "exposed" in attacked.to_dict(exposed=True)["attacks"][0]  # type: ignore[index]
    assert "Attacks(" in repr(attacked)
    assert len(repr(attacked)) < 120


def test_the_three_criteria_never_claim_what_was_not_tested(
    people: discreet.Table, release: discreet.Release
) -> None:
    found = discreet.attack(release, original=people, attacks=["homogeneity"])
    states = {one.criterion: one for one in found.criteria}
    assert list(states) == list(CRITERIA)
    assert states["linkability"].state == "not tested"
    assert "nothing is said" in states["linkability"].finding


# ── compare ───────────────────────────────────────────────────────────────────────────────────────────


def test_no_change_is_no_loss(people: discreet.Table) -> None:
    found = discreet.compare(people, people, make_policy(), labels=[], queries=50)
    assert found.losses.measure("leaf-loss").value == 0  # type: ignore[union-attr]
    assert found.losses.measure("count-error-median").value == pytest.approx(0)  # type: ignore[union-attr]
    assert found.losses.measure("suppression-ratio").value == 0  # type: ignore[union-attr]


def test_what_follows_from_a_released_column_is_not_counted_as_suppressed() -> None:
    school = discreet.read(pa.table({"level": ["A", "B", "C"] * 20, "years": [9, 10, 13] * 20}))
    policy = Policy.of(
        quasi_identifiers=["level", "years"], require=[discreet.KAnonymity(5)], profile="research-partner-5"
    )
    release = discreet.anonymize(school, policy, plan=Plan(drop_attributes=("years",)))
    planned = replace(policy, plan=Plan(drop_attributes=("years",)))
    note = "the release has no column years, which is not counted: it follows from level"
    told = discreet.compare(school, release, planned, queries=20)
    assert told.losses.measure("leaf-loss").value == 0  # type: ignore[union-attr]
    assert note in told.notes
    # What nobody planned to leave out is missing.
    missing = discreet.compare(school, release, policy, queries=20)
    assert missing.losses.measure("leaf-loss").value == 0.5  # type: ignore[union-attr]
    # An intruder who knows what was left out has nothing to compare it with, and goes by the rest.
    tried = discreet.attack(release, planned, original=school, attacks=["singling-out", "record-linkage"])
    assert tried.untested == ()
    assert "years" in tried.scenario.known
    assert {result.attack for result in tried.results} == {"singling-out", "record-linkage"}


def test_losses_equal_what_the_search_says(compared: discreet.Comparison, release: discreet.Release) -> None:
    measured = compared.losses.measure("leaf-loss")
    assert measured is not None
    assert measured.value == pytest.approx(release.chosen.cost)
    assert compared.losses.baseline("leaf-loss").value == 1  # type: ignore[union-attr]
    assert compared.rows == (700, release.after.rows)


def test_learning_lies_between_its_bounds(compared: discreet.Comparison) -> None:
    assert {one.label for one in compared.efficacy} == {"diagnosis", "income"}
    for one in compared.efficacy:
        assert one.trivial["accuracy"].value <= one.original["accuracy"].value + 0.1
        assert one.tested > 0


def test_own_figures_are_part_of_it(people: discreet.Table, release: discreet.Release) -> None:
    kpis = (
        Kpi("mean income", "select avg(income) from data", tolerance=0.5),
        Kpi("mean age", "select avg(age) from data", tolerance=0.1),
    )
    from dataclasses import replace

    found = discreet.compare(people, release, replace(make_policy(), kpis=kpis), labels=[], queries=10)
    income, age = found.kpis
    assert income.holds is True
    assert age.holds is False, "ages became intervals: no mean of them"
    assert age.answerable_share == 0


def test_labels_must_be_sensitive(people: discreet.Table, release: discreet.Release) -> None:
    with pytest.raises(InvalidParameter, match=r"no sensitive attribute 'age'.*attributes are: diagnosis"):
        discreet.compare(people, release, make_policy(), labels=["age"])


def test_a_brief_comparison_has_no_table_of_measures(compared: discreet.Comparison) -> None:
    told = [plain(show_comparison(compared, brief=brief), 110) for brief in (True, False)]
    # Where there is little room, names are not cut and what they mean stands below them.
    assert "\nnon-uniform-entropy-share: " in plain(show_comparison(compared), 80)
    assert "of the quasi-identifiers' detail is lost" in told[0]
    assert "Each attribute" not in told[0]
    assert "Each attribute" in told[1]
    assert all(note.split()[0] in told[0] for note in compared.notes)


def test_the_terminal_knows_its_measures(compared: discreet.Comparison) -> None:
    from discreet.reports.evidence.terminal import MAIN_LOSSES

    assert [name for name in MAIN_LOSSES if compared.losses.measure(name) is None] == []


def test_json_is_valid(compared: discreet.Comparison) -> None:
    told = json.loads(json.dumps(compared.to_dict(), allow_nan=False))
    assert told["schema"] == "discreet-comparison-1"
    assert "trivial" in told["losses"]
    assert "Losses" in str(compared)


@pytest.mark.slow
def test_a_release_and_its_files_say_the_same(
    people: discreet.Table, release: discreet.Release, compared: discreet.Comparison, tmp_path: Path
) -> None:
    names = ["record-linkage", "worst-case", "background-knowledge", "skewness"]
    attacked = discreet.attack(release, original=people, attacks=names)
    assert compared.losses.measure("emd", "income").value == 0 or release.table.rows < people.rows
    for suffix in (".csv", ".parquet", ".xlsx"):
        file = release.save(tmp_path / f"release{suffix}", links=tmp_path / "links.csv")
        links = tmp_path / "links.csv"
        again = discreet.compare(people, file, make_policy(), links=links, queries=100, labels=[])
        assert again.losses.to_dict() == compared.losses.to_dict(), suffix
        found = discreet.attack(file, make_policy(), original=people, links=links, attacks=names)
        assert [(one.attack, one.successes, one.baseline) for one in found.results] == [
            (one.attack, one.successes, one.baseline) for one in attacked.results
        ], suffix


# ── the commands ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def files(release: discreet.Release, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("evidence")
    pyarrow.parquet.write_table(town(700), folder / "town.parquet")
    release.save(folder / "release.csv")
    discreet.save_policy(make_policy(), folder / "policy.toml")
    return {name: str(folder / name) for name in ("town.parquet", "release.csv", "policy.toml")}


def test_attack_as_a_command(files: dict[str, str]) -> None:
    from discreet.cli.attack import attack as command

    given = [files["release.csv"], "--original", files["town.parquet"], "-p", files["policy.toml"]]
    some = ["--attacks", "singling-out,record-linkage,homogeneity"]
    done = CliRunner().invoke(command, [*given, *some, "--json"], standalone_mode=False)
    assert json.loads(done.output)["scenario"]["name"] == "prosecutor"
    assert done.return_value == 0
    shown = CliRunner().invoke(command, [*given, *some], standalone_mode=False)
    assert "Singling out" in shown.output
    strict = CliRunner().invoke(
        command, [*given, *some, "--json", "--max-advantage", "0"], standalone_mode=False
    )
    assert strict.return_value == 1, "a 5-anonymous release is linked a little better than by chance"


def test_compare_as_a_command(files: dict[str, str], tmp_path: Path) -> None:
    from discreet.cli.compare import compare as command

    given = [files["town.parquet"], files["release.csv"], "-p", files["policy.toml"], "--labels", ""]
    done = CliRunner().invoke(command, [*given, "--queries", "20", "--json"], standalone_mode=False)
    assert json.loads(done.output)["efficacy"] == []
    assert done.return_value == 0
    rng = np.random.default_rng(0)
    other = tmp_path / "other.csv"
    other.write_text("x,y\n" + "\n".join(f"{a},{b}" for a, b in rng.integers(0, 9, (30, 2))) + "\n")
    wrong = CliRunner().invoke(command, [files["town.parquet"], str(other), "-p", files["policy.toml"]])
    assert isinstance(wrong.exception, discreet.DiscreetError)
