"""Risks by hand on a few rows, their conventions and their refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet
from discreet.classes import EquivalenceClasses
from discreet.cli import cli
from discreet.errors import DiscreetError, InvalidParameter, UnknownColumn
from discreet.risk import special_uniques, tally
from discreet.risk.dependence import absolute_pearson, cramers_v, dependence, mutual_information
from discreet.risk.exposure import contributions, riskiest_classes
from discreet.risk.markov import markov_risk
from discreet.risk.prosecutor import (
    average_risk,
    journalist,
    marketer,
    prosecutor,
    share_above,
    unique_records,
)
from discreet.risk.scorr import all_scorr, correlation, markov_simplified, uniformity, uniqueness
from discreet.risk.special_uniques import separation, suda


@pytest.fixture
def trips() -> EquivalenceClasses:
    """Eight trips of six drivers: the published example at event level."""
    return EquivalenceClasses.from_columns(
        {"engine": ["?"] * 5 + ["Hybrid"] * 3, "seats": ["2"] * 5 + ["4 or 5"] * 3},
        sensitive={
            "artist": ["Kid Cudi", "Radio", "Radio", "Paul", "Pink", "Taylor", "Radio", "Taylor"],
            "day": ["mon", "tue", "mon", "tue", "mon", "tue", "mon", "tue"],
        },
        person=[1, 1, 2, 3, 4, 5, 5, 6],
    )


def test_event_level_uniformity_counts_records_of_the_person(trips: EquivalenceClasses) -> None:
    risk = uniformity(trips)
    assert risk.max == pytest.approx(2 / 3)
    assert sorted(zip(risk.values.round(4), risk.weights, strict=True)) == [
        (0.2, 1), (0.2, 1), (0.2, 1), (0.3333, 1), (0.4, 2), (0.6667, 2),
    ]  # fmt: skip


def test_event_level_prosecutor_counts_persons(trips: EquivalenceClasses) -> None:
    assert prosecutor(trips).values.tolist() == [1 / 4, 1 / 2]
    assert average_risk(trips).value == pytest.approx((5 / 4 + 3 / 2) / 8)
    assert "persons" in average_risk(trips).notes[0]


def test_one_person_with_several_records_is_unique() -> None:
    classes = EquivalenceClasses.from_columns({"a": [1, 1, 2, 2]}, person=["x", "x", "y", "z"])
    assert unique_records(classes).value == 0.5
    assert suda(classes).scores.tolist() == [1.0, 0.0]


def test_a_table_of_one_record_has_full_uniqueness() -> None:
    classes = EquivalenceClasses.from_columns({"a": [1]}, sensitive={"s": [2]})
    assert [risk.max for risk in all_scorr(classes)] == [1.0] * 7
    assert separation([np.array([0])], [1]).separation == 1.0


def test_markov_simplified_by_hand_at_event_level() -> None:
    classes = EquivalenceClasses.from_columns(
        {"a": [1, 1, 1, 2]}, sensitive={"s": ["x", "x", "y", "x"]}, person=[1, 2, 2, 2]
    )
    risk = markov_simplified(classes, "s")
    first = 1 - 3 / 4 * (1 - 1 / 3) * (1 - 2 / 3) * (1 - 1 / 3)  # person 1, x
    second = 1 - 3 / 4 * (1 - 2 / 3) * (1 - 2 / 3) * (1 - 2 / 3)  # person 2, x
    assert risk.values == pytest.approx([first, second, 1.0, 1.0])
    assert not risk.decides


def test_progress_names_every_step(trips: EquivalenceClasses) -> None:
    told: list[str] = []
    found = all_scorr(trips, sensitive=["artist"], progress=told.append)
    assert len(told) == len(found) == 3 + 3 + 3 + 1
    assert told[1] == "uniqueness of engine"
    told.clear()
    suda(trips, progress=told.append)
    special_uniques.combinations(trips, progress=told.append)
    assert len(told) == 3 + 3


def test_unknown_names_are_refused(trips: EquivalenceClasses) -> None:
    for call in (
        lambda: uniqueness(trips, "artist"),
        lambda: uniformity(trips, "nothing"),
        lambda: correlation(trips, "engine"),
        lambda: correlation(trips, "artist", "day"),
        lambda: markov_risk(trips, ["nothing"]),
        lambda: mutual_information(trips, "engine", "nothing"),
    ):
        with pytest.raises(UnknownColumn):
            call()


def test_parameters_out_of_range_are_refused(trips: EquivalenceClasses) -> None:
    for call in (
        lambda: suda(trips, max_size=0),
        lambda: suda(trips, sampling_fraction=0.0),
        lambda: special_uniques.combinations(trips, max_size=0),
        lambda: separation([], []),
        lambda: riskiest_classes(trips, 0),
        lambda: share_above(trips, 1.5),
        lambda: journalist(trips, [9]),
        lambda: journalist(trips, [9, 1]),
        lambda: journalist(trips, [9, float("nan")]),
        lambda: markov_risk(trips, ["engine", "engine"]),
        lambda: markov_risk(trips, ["engine"], ["engine"]),
    ):
        with pytest.raises(InvalidParameter):
            call()


def test_a_person_of_many_rows_weighs_once_in_each_class() -> None:
    """One person with ten rows who stands for five people: 1 / 5, not 1 / 50."""
    rows = pa.table({"zip": [1] * 10 + [2, 2], "who": [1] * 10 + [1, 2], "w": [5.0] * 10 + [5.0, 3.0]})
    policy = discreet.Policy.of(quasi_identifiers=["zip"], person="who", weight="w")
    audit = discreet.audit(rows, policy)
    assert sorted(audit.risk("journalist").values.tolist()) == [1 / 8, 1 / 5]
    assert audit.measure("marketer").value == pytest.approx((10 / 5 + 2 / 8) / 12)
    assert audit.classes.total_weight == 8.0


def test_rows_of_one_person_with_other_weights_count_with_their_mean() -> None:
    classes = EquivalenceClasses.from_columns({"a": [1, 1, 1]}, person=["x", "x", "y"], weight=[2, 4, 5])
    assert classes.class_weights is not None
    assert classes.class_weights.tolist() == [8.0]


ZIPS = pa.table({"zip": ["101", "101", "101", "101", "202"]})


@pytest.mark.parametrize(
    ("known", "journalist_risks", "marketer_risk", "told"),
    [
        ({"sampling_fraction": 0.1}, [1 / 40, 1 / 10], 2 / 50, "f / sampling fraction"),
        ({"population": ["101"] * 8 + ["202"] * 5 + ["303"]}, [1 / 8, 1 / 5], (4 / 8 + 1 / 5) / 5, "counted"),
        # The population is counted also where a fraction is given, and has no class smaller than the table's.
        (
            {"population": ["101"] * 3 + ["202"] * 2, "sampling_fraction": 0.1},
            [1 / 4, 1 / 2],
            (1 + 1 / 2) / 5,
            "1 classes have more people in the table",
        ),
    ],
    ids=["fraction", "table", "incomplete table"],
)
def test_journalist_and_marketer_by_what_is_known_of_the_population(
    known: dict[str, Any], journalist_risks: list[float], marketer_risk: float, told: str, tmp_path: Path
) -> None:
    if "population" in known:
        register = tmp_path / "register.csv"
        register.write_text("\n".join(["zip", *known["population"]]) + "\n")
        known = {**known, "population": register}
    audit = discreet.audit(ZIPS, discreet.Policy.of(quasi_identifiers=["zip"], **known))
    assert audit.risk("journalist").values.tolist() == pytest.approx(journalist_risks)
    assert audit.measure("marketer").value == pytest.approx(marketer_risk)
    assert audit.measure("average-risk").value == 2 / 5
    assert told in audit.risk("journalist").meaning
    assert told in " ".join(audit.measure("marketer").notes)


@pytest.mark.parametrize("seed", range(5))
def test_k_map_and_presence_agree_with_plain_loops(seed: int, tmp_path: Path) -> None:
    """A sample of a town, its ages in tens, against the whole town with its true ages."""
    random = np.random.default_rng(seed)
    ages = random.integers(20, 60, size=40).tolist()
    towns = random.choice(["Ulm", "Bonn"], size=40).tolist()
    drawn = random.random(40) < 0.4
    drawn[0] = True
    (tmp_path / "town.csv").write_text(
        "age,town\n" + "".join(f"{age},{town}\n" for age, town in zip(ages, towns, strict=True))
    )
    tens = [(age // 10 * 10, town) for age, town in zip(ages, towns, strict=True)]
    sample = [pair for pair, inside in zip(tens, drawn, strict=True) if inside]
    released = pa.table(
        {"age": [f"[{low}, {low + 9}]" for low, _ in sample], "town": [town for _, town in sample]}
    )
    policy = discreet.Policy.of(quasi_identifiers=["age", "town"], population=tmp_path / "town.csv")
    audit = discreet.audit(released, policy)
    assert audit.measure("k-map").value == min(tens.count(pair) for pair in sample)
    assert audit.measure("delta-presence").value == pytest.approx(
        max(sample.count(pair) / tens.count(pair) for pair in sample)
    )


def test_without_a_table_of_the_population_there_is_no_k_map() -> None:
    audit = discreet.audit(ZIPS, discreet.Policy.of(quasi_identifiers=["zip"], sampling_fraction=0.1))
    assert not {"k-map", "delta-presence"} & {measure.name for measure in audit.measures}


def test_generalised_values_are_counted_in_the_population_as_what_they_may_stand_for(tmp_path: Path) -> None:
    register = tmp_path / "register.csv"
    # The hierarchy need not know every town of the population.
    register.write_text("age,town\n31,Ulm\n34,Ulm\n39,Bonn\n47,Ulm\n47,Bonn\n,Kiel\n")
    regions = tmp_path / "town.csv"
    regions.write_text("Ulm;south;*\nBonn;west;*\n")
    released = pa.table({"age": ["[30, 39]", "47", "*"], "town": ["south", "{Bonn, Ulm}", "*"]})
    policy = discreet.Policy.of(quasi_identifiers=["age", "town"], population=register)
    audit = discreet.audit(released, policy.generalise({"town": regions}))
    assert sorted(audit.risk("journalist").values.tolist()) == [1 / 6, 1 / 2, 1 / 2]


def test_a_population_that_lacks_a_quasi_identifier_or_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "register.csv").write_text("town\nUlm\n")
    for name, words in (("register.csv", "register.csv, has no column zip"), ("none.csv", "none.csv")):
        policy = discreet.Policy.of(quasi_identifiers=["zip"], population=tmp_path / name)
        with pytest.raises(DiscreetError, match=words):
            discreet.audit(ZIPS, policy)


def test_a_population_is_named_beside_the_policy_and_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("zip\n101\n101\n")
    (tmp_path / "register.csv").write_text("zip\n" + "101\n" * 4)
    policy = discreet.Policy.of(quasi_identifiers=["zip"], population=tmp_path / "register.csv")
    file = discreet.save_policy(policy, tmp_path / "policy.toml")
    assert 'table = "register.csv"' in file.read_text()
    assert discreet.load_policy(file).population == str(tmp_path / "register.csv")
    for options in (["--policy", str(file)], ["--qi", "zip", "--population", str(tmp_path / "register.csv")]):
        done = CliRunner().invoke(cli, ["audit", str(tmp_path / "rows.csv"), "--json", *options])
        document = json.loads(done.stdout)
        assert document["risks"]["journalist"]["max"] == 0.25
        assert document["policy"]["population"] == "register.csv"
        over = ["audit", str(tmp_path / "rows.csv"), "--report", str(tmp_path / "register.csv"), *options]
        assert CliRunner().invoke(cli, over).exit_code != 0
        assert (tmp_path / "register.csv").read_text().startswith("zip")


def test_journalist_without_a_population_is_the_prosecutor_and_says_so() -> None:
    classes = EquivalenceClasses.from_columns({"a": [1, 1, 2]})
    assert journalist(classes).values.tolist() == prosecutor(classes).values.tolist()
    assert "taken for all of it" in journalist(classes).meaning
    assert marketer(classes).notes
    assert not marketer(classes, [10, 10]).notes
    assert marketer(classes, [10, 10]).value == pytest.approx(0.1)


def test_share_above_is_strict() -> None:
    classes = EquivalenceClasses.from_columns({"a": [1] * 3 + [2] * 2})
    assert share_above(classes, 1 / 3).value == 0.4
    assert share_above(classes, 0.5).value == 0.0


def test_markov_model_is_clipped_where_the_formula_is_negative() -> None:
    cube = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 50
    classes = EquivalenceClasses.from_columns(dict(zip("abc", zip(*cube, strict=True), strict=True)))
    risk = markov_risk(classes, ["a"])
    assert (risk.min, risk.max) == (0.0, 0.0)
    assert markov_risk(classes, ["a", "b", "c"]).min == 1.0


def test_markov_model_over_fewer_attributes_is_the_projection() -> None:
    rows = [(1, 1, 1), (1, 2, 1), (1, 1, 2), (2, 1, 1), (1, 1, 1), (1, 2, 2)]
    classes = EquivalenceClasses.from_columns(dict(zip("abc", zip(*rows, strict=True), strict=True)))
    part = markov_risk(classes, ["a"], ["b"])
    whole = markov_risk(classes.project(["a", "b"]), ["a"])
    assert part.mean == pytest.approx(whole.mean)
    assert part.max == whole.max


def test_elliot_weighting_and_minimal_uniques_are_listed() -> None:
    classes = EquivalenceClasses.from_columns({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    result = suda(classes, weighting="elliot")
    assert result.scores == pytest.approx([2 / 3, 2.0, 1.0])  # pairs weigh 1/3, singles 3/3
    assert [(kind.attributes, kind.persons) for kind in result.minimal_uniques] == [
        (("a",), 1), (("b",), 1), (("c",), 1), (("a", "b"), 1), (("a", "c"), 1),
    ]  # fmt: skip
    assert result.share_scored == 1.0
    assert result.dis_scores is None
    json.dumps(suda(classes, sampling_fraction=0.5).to_dict())


def test_dis_suda_without_pairs_is_certain_and_without_uniques_zero() -> None:
    lonely = suda(EquivalenceClasses.from_columns({"a": [1, 2], "b": [1, 2]}), sampling_fraction=0.1)
    assert lonely.dis_scores is not None
    assert lonely.dis_scores.tolist() == [1.0, 1.0]
    crowd = suda(EquivalenceClasses.from_columns({"a": [1, 1]}), sampling_fraction=0.1)
    assert crowd.dis_scores is not None
    assert (crowd.file_risk, crowd.dis_scores.tolist(), crowd.contributions) == (0.0, [0.0], {"a": 0.0})


def test_combinations_can_be_limited_and_prefer_smaller_sets() -> None:
    classes = EquivalenceClasses.from_columns({"k": [1, 2, 3], "x": [1, 1, 1]})
    assert [item.attributes for item in special_uniques.combinations(classes)] == [("k",), ("k", "x"), ("x",)]
    assert len(special_uniques.combinations(classes, limit=1)) == 1


def test_separation_with_weights_and_persons() -> None:
    weighted = separation([np.array([0, 1]), np.array([0, 0])], [2, 1], [3, 1])
    assert (weighted.groups, weighted.distinction, weighted.separation, weighted.unique) == (
        2,
        0.5,
        0.5,
        0.25,
    )
    one = separation([np.array([0, 0, 1])], [2], persons=np.array([5, 5, 5]))
    assert one.unique == 1.0


def test_riskiest_classes_tie_by_scores_and_explain() -> None:
    classes = EquivalenceClasses.from_columns({"a": [1, 1, 2, 3], "b": [1, 1, 1, 2]})
    scores = suda(classes).scores
    first, second, third = riskiest_classes(classes, 9, scores=scores)
    assert classes.labels(first.position) == {"a": "3", "b": "2"}
    assert first.without == {"a": 1, "b": 1}
    assert first.decisive == ()
    assert "No single attribute" in first.meaning
    assert second.without == {"a": 3, "b": 1}
    assert "a exposes" in second.meaning
    assert third.persons == 2
    json.dumps([item.to_dict() for item in (first, second, third)])


def test_contribution_of_the_only_attribute() -> None:
    (only,) = contributions(EquivalenceClasses.from_columns({"a": [1, 2]}))
    assert (only.risk_without, only.k_without, only.added_risk, only.added_unique) == (0.5, 2, 0.5, 1.0)
    (event,) = contributions(EquivalenceClasses.from_columns({"a": [1, 2]}, person=["x", "x"]))
    assert (event.risk_without, event.k_without) == (1.0, 1)
    assert "k would be 1 instead of 1" in event.meaning
    json.dumps(event.to_dict())


def test_dependence_conventions() -> None:
    classes = EquivalenceClasses.from_columns(
        {"constant": [1, 1, 1], "text": ["x", "y", "z"], "number": [1, None, 3]},
        sensitive={"hidden": [None, 2, None]},
    )
    assert cramers_v(classes, "constant", "text") == 0.0
    assert absolute_pearson(classes, "constant", "number") == 0.0
    assert np.isnan(absolute_pearson(classes, "text", "number"))
    assert np.isnan(absolute_pearson(classes, "number", "hidden"))  # no record has both
    assert mutual_information(classes, "number", "hidden") == pytest.approx(np.log2(3) - 2 / 3)
    found = json.loads(json.dumps(dependence(classes, ["text", "number"]).to_dict()))
    assert found["absolute_pearson"] == [[None, None], [None, 1.0]]


def test_large_groups_of_few_persons_are_still_small() -> None:
    person = [0] * 40 + list(range(1, 10)) + list(range(10, 460))
    figures = separation([np.array([0] * 49 + [1] * 450)], [2], persons=np.array(person))
    assert figures.small == pytest.approx(49 / 499)  # 49 records, but of ten persons only
    groups = tally.group_sizes(
        [np.array([0] * 49 + [1] * 450)],
        [2],
        np.ones(499, dtype=np.int64),
        persons=np.array(person),
        person_size=460,
        count_up_to=48,
    )
    assert groups.persons.tolist() == [49, 450]


@pytest.mark.parametrize("columns", [1, 3])
def test_sorted_and_tabled_counting_agree(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    codes = [rng.integers(0, 5, 300) for _ in range(columns)]
    sizes, counts, persons = [5] * columns, rng.integers(1, 9, 300), rng.integers(0, 40, 300)
    for sorting in (codes, [np.sort(codes[0]), *codes[1:]]):
        dense = tally.agreeing(sorting, sizes, counts)
        groups = tally.group_sizes(sorting, sizes, counts)
        events = tally.group_sizes(sorting, sizes, counts, persons=persons, person_size=40)
        with monkeypatch.context() as patch:
            patch.setattr(tally, "is_dense", lambda sizes, rows: False)
            assert np.array_equal(tally.agreeing(sorting, sizes, counts), dense)
            assert np.array_equal(tally.group_sizes(sorting, sizes, counts).records, groups.records)
            again = tally.group_sizes(sorting, sizes, counts, persons=persons, person_size=40)
        assert np.array_equal(again.records, events.records)
        assert np.array_equal(again.persons, events.persons)


def test_codes_too_wide_for_one_word_are_counted() -> None:
    wide = [np.array([5, 1 << 39, 5]), np.array([7, 1, 7])]
    assert tally.agreeing(wide, [1 << 40, 1 << 40], np.array([1, 2, 3])).tolist() == [4, 2, 4]
    assert tally.group_sizes(wide, [1 << 40, 1 << 40], np.array([1, 2, 3])).records.tolist() == [4, 2]


def test_a_shared_value_is_no_unique_though_its_first_person_is_the_same() -> None:
    classes = EquivalenceClasses.from_columns(
        {"a": [1, 1, 1, 2, 2], "b": [1, 2, 2, 1, 2]}, person=["p", "p", "q", "r", "s"]
    )
    kinds = {kind.attributes for kind in suda(classes).minimal_uniques}
    assert kinds == {("a", "b")}  # q shares a = 1 with p, whose own class is (1, 1)


def test_combinations_without_uniques_are_sorted_by_small_groups() -> None:
    classes = EquivalenceClasses.from_columns(
        {"big": [0] * 12 + [1] * 12, "small": [0] * 22 + [1] * 2}  # only the last two stand out
    )
    found = special_uniques.combinations(classes)
    assert [(item.attributes, item.unique) for item in found] == [
        (("big", "small"), 0.0), (("small",), 0.0), (("big",), 0.0),
    ]  # fmt: skip
    assert found[0].small == pytest.approx(12 / 24)  # groups of 12, 10 and 2
