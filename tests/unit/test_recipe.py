"""A recipe is data: it can be kept, read again, and applied to next month's rows."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
import tomlkit
import tomlkit.exceptions

import discreet
from discreet.classes import EquivalenceClasses
from discreet.errors import (
    DiscreetError,
    GoalUnreachable,
    InvalidParameter,
    InvalidPolicy,
    UnknownColumn,
    UnreadableInput,
    UnsuitableColumn,
)
from discreet.policy import Policy
from discreet.policy.plan import Method, Plan
from discreet.privacy import KAnonymity, LDiversity, TCloseness
from discreet.release.anonymize import anonymize
from discreet.release.apply import apply
from discreet.release.release import Release
from discreet.table.hierarchies.numbers import Intervals
from discreet.transform.recipe import Recipe

JANUARY = pa.table(
    {
        "name": ["Ada", "Ben", "Cem", "Dea", "Eva", "Fay", "Gus", "Hal"],
        "age": [21, 22, 23, 24, 31, 32, 33, 34],
        "sex": ["f", "m", "m", "f", "f", "f", "m", None],
        "ill": ["flu", "cold", "flu", "cold", "flu", "cold", "flu", "cold"],
    }
)
POLICY = Policy.of(
    quasi_identifiers=["age", "sex"],
    sensitive=["ill"],
    direct_identifiers=["name"],
    require=[KAnonymity(4), LDiversity(2, "ill")],
    profile="research-partner-3",
).generalise({"age": Intervals(widths=(10,))})


def rows_of(release: Release) -> pa.Table:
    return release.table.engine.to_arrow(release.table)


def month(ages: list[int], ill: list[str] | None = None) -> pa.Table:
    return pa.table(
        {
            "name": [f"N{i}" for i in range(len(ages))],
            "age": ages,
            "sex": ["f"] * len(ages),
            "ill": ill or ["flu", "cold"] * (len(ages) // 2) + ["flu"] * (len(ages) % 2),
        }
    )


@pytest.fixture(scope="module")
def january() -> Release:
    return anonymize(JANUARY, POLICY, plan=Plan(method="optimal", suppression_limit=0.2))


def test_the_values_of_a_recipe_can_be_read(january: Release) -> None:
    recipe = january.recipe
    assert recipe.scope == "global"
    assert recipe.levels == {"age": 1, "sex": 1}
    assert recipe.values["age"]["21"] == "[20, 29]"
    assert recipe.values["sex"] == {"f": "*", "m": "*", "∅": "*"}
    assert recipe.columns == ("age", "sex", "ill")
    assert {"model": "k-anonymity", "k": 4} in [dict(one) for one in recipe.requirements]


@pytest.mark.parametrize("method", ["optimal", "local", "mondrian", "clustering", "microaggregation"])
@pytest.mark.parametrize("ending", ["json", "toml"])
def test_written_read_and_applied_to_the_same_rows_it_gives_the_same(
    tmp_path: Path, method: Method, ending: str
) -> None:
    release = anonymize(JANUARY, POLICY, plan=Plan(method=method))
    release.save(tmp_path / "out.parquet", recipe=tmp_path / f"recipe.{ending}")
    recipe = Recipe.load(tmp_path / f"recipe.{ending}")
    assert recipe == release.recipe
    assert rows_of(apply(recipe, JANUARY, POLICY)).equals(rows_of(release))


def test_a_recipe_is_applied_from_its_file(january: Release, tmp_path: Path) -> None:
    january.save(tmp_path / "out.csv", recipe=tmp_path / "recipe.json")
    again = discreet.apply(tmp_path / "recipe.json", JANUARY, POLICY)
    assert again.recipe == discreet.apply(january.recipe, JANUARY, POLICY).recipe


def test_a_recipe_with_every_kind_of_requirement_is_written_in_both_forms() -> None:
    closeness = TCloseness(0.9, "ill", "hierarchical", {"flu": ("lung", "*"), "cold": ("nose", "*")})
    release = anonymize(
        JANUARY, POLICY.require(closeness), plan=Plan(method="optimal", suppression_limit=0.2)
    )
    for kind in ("json", "toml"):
        assert Recipe.loads(release.recipe.dumps(kind)).to_dict() == json.loads(release.recipe.dumps())
        again = apply(Recipe.loads(release.recipe.dumps(kind)), JANUARY, POLICY)
        assert closeness in again.models


def test_means_of_every_type_come_back_as_what_they_were() -> None:
    day, noon = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 12)
    rows = pa.table(
        {
            "days": [day + dt.timedelta(days=i) for i in range(6)],
            "moments": [noon + dt.timedelta(hours=i) for i in range(6)],
            "zoned": pa.array([noon + dt.timedelta(hours=i) for i in range(6)], pa.timestamp("us", "UTC")),
            "floats": [0.1 * i for i in range(6)],
            "whole": [1, 2, 3, 50, 52, None],
            "truth": [True, False, True, True, None, False],
        }
    )
    policy = Policy.of(
        quasi_identifiers=rows.column_names, require=[KAnonymity(3)], profile="research-partner-3"
    )
    release = anonymize(rows, policy, plan=Plan(method="microaggregation"))
    recipe = Recipe.loads(release.recipe.dumps())
    assert rows_of(release)["zoned"].type == pa.timestamp("us", "UTC")
    assert rows_of(apply(recipe, rows, policy)).equals(rows_of(release))


@pytest.mark.parametrize("method", ["optimal", "local", "mondrian", "microaggregation"])
def test_a_null_is_not_taken_for_a_text_that_looks_like_one(method: Method) -> None:
    rows = pa.table({"x": ["∅", "∅", "∅", None, None, None, "\\∅", "*", "*", "*"], "y": [*"aaabbbcccc"]})
    policy = Policy.of(quasi_identifiers=["x", "y"], require=[KAnonymity(3)], profile="research-partner-3")
    release = anonymize(rows, policy, plan=Plan(method=method))
    for kind in ("json", "toml"):
        again = apply(Recipe.loads(release.recipe.dumps(kind)), rows, policy)
        assert rows_of(again).equals(rows_of(release))


def test_other_rows_are_recoded_alike(january: Release) -> None:
    february = apply(january.recipe, month([21, 22, 24, 23, 24]), POLICY)
    assert rows_of(february)["age"].to_pylist() == ["[20, 29]"] * 5
    assert rows_of(february).column_names == ["age", "sex", "ill"]


def test_numbers_that_come_as_floats_are_known(january: Release) -> None:
    rows = month([21, 22, 24, 23])
    rows = rows.set_column(1, "age", rows["age"].cast(pa.float64()))
    assert rows_of(apply(january.recipe, rows, POLICY))["age"].to_pylist() == ["[20, 29]"] * 4


def test_unseen_values_are_refused_without_being_named(january: Release) -> None:
    with pytest.raises(UnsuitableColumn, match="1 values of 'age'") as told:
        apply(january.recipe, month([21, 22, 24, 23, 4711]), POLICY)
    assert "4711" not in str(told.value)


def test_unseen_values_are_suppressed_if_asked_for(january: Release) -> None:
    recipe = replace(january.recipe, unseen="suppress")
    release = apply(recipe, month([21, 22, 24, 23, 4711]), POLICY)
    assert release.suppressed == 1
    assert rows_of(release)["age"].to_pylist() == ["[20, 29]"] * 4


def test_unseen_combinations_are_refused_or_suppressed() -> None:
    recipe = anonymize(JANUARY, POLICY, plan=Plan(method="mondrian", suppression_limit=0.2)).recipe
    assert recipe.scope == "local"
    rows = pa.concat_tables([JANUARY, JANUARY, month([99])])
    with pytest.raises(UnsuitableColumn, match="1 combinations"):
        apply(recipe, rows, POLICY)
    assert apply(replace(recipe, unseen="suppress"), rows, POLICY).suppressed == 1


def test_groups_that_fail_on_the_new_rows_are_suppressed_within_the_limit(january: Release) -> None:
    release = apply(january.recipe, month([21] * 16 + [31] * 3), POLICY)
    assert release.suppressed == 3
    assert set(rows_of(release)["age"].to_pylist()) == {"[20, 29]"}


def test_distances_are_measured_from_the_release_or_from_all_rows(january: Release) -> None:
    """Half of the twenties have flu and 11 of all 19; the release alone shows no distance."""
    rows = month([21] * 16 + [31] * 3, ["flu", "cold"] * 8 + ["flu"] * 3)
    near = apply(january.recipe, rows, POLICY.require(TCloseness(0.08, "ill", reference="original")))
    assert near.suppressed == 3
    with pytest.raises(GoalUnreachable):
        apply(january.recipe, rows, POLICY.require(TCloseness(0.07, "ill", reference="original")))
    assert apply(january.recipe, rows, POLICY.require(TCloseness(0.0, "ill"))).suppressed == 3


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_beyond_the_limit_nothing_is_made(january: Release, tmp_path: Path, ending: str) -> None:
    with pytest.raises(GoalUnreachable, match=r"37\.5% of the records where 20\.0%"):
        apply(january.recipe, month([21] * 5 + [31] * 3), POLICY).save(tmp_path / f"out.{ending}")
    assert not list(tmp_path.iterdir())


def test_what_the_recipe_was_made_for_is_asked_even_if_the_policy_does_not(january: Release) -> None:
    policy = POLICY.replace(requirements=[])
    assert KAnonymity(4) in apply(january.recipe, JANUARY, policy).models
    with pytest.raises(GoalUnreachable):
        apply(january.recipe, month([21, 22, 23]), policy)


def test_columns_that_the_recipe_does_not_know_are_left_out_and_named(january: Release) -> None:
    rows = JANUARY.append_column("phone", pa.array([f"0{i}" for i in range(8)]))
    release = apply(january.recipe, rows, POLICY)
    assert rows_of(release).column_names == ["age", "sex", "ill"]
    assert release.notes == ("left out because the recipe does not know them: phone",)


def test_a_column_that_is_missing_is_named(january: Release) -> None:
    with pytest.raises(UnknownColumn, match="'ill'"):
        apply(january.recipe, JANUARY.drop_columns(["ill"]), POLICY)


def test_other_quasi_identifiers_are_refused_and_their_order_does_not_matter(january: Release) -> None:
    with pytest.raises(InvalidPolicy, match="the recipe is for age, sex"):
        apply(january.recipe, JANUARY, POLICY.replace(quasi_identifiers=["age"]))
    turned = replace(POLICY, columns=POLICY.columns[::-1])
    assert turned.quasi_identifiers == ("sex", "age")
    assert rows_of(apply(january.recipe, JANUARY, turned)).equals(rows_of(january))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": "discreet-recipe-9"}', '{"format": "discreet-recipe-1"}', "format = 1"],
)
def test_what_is_no_recipe_is_told_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(UnreadableInput, match=r"r\.json is not a recipe"):
        Recipe.load(tmp_path / "r.json")
    with pytest.raises(UnreadableInput, match="there is no recipe"):
        Recipe.load(tmp_path / "none.json")


# ── person ids ───────────────────────────────────────────────────────────────────────────────────────

VISITS = pa.table(
    {
        "who": ["p1", "p1", "p2", "p3", "p3", "p4"],
        "sex": ["f", "f", "f", "m", "m", "m"],
        "ward": ["A", "B", "A", "B", "A", "A"],
    }
)
EVENTS = Policy.of(
    quasi_identifiers=["sex"], person="who", require=[KAnonymity(2)], profile="research-partner-3"
)


def ids(key: str | None, person: Literal["pseudonymise", "drop"] = "pseudonymise") -> list[str]:
    release = anonymize(VISITS, EVENTS, plan=Plan(person=person, order="kept"), key=key)
    return [str(one) for one in rows_of(release)["who"].to_pylist()]


def test_pseudonyms_depend_on_person_and_key_alone() -> None:
    first = ids("a long and secret key")
    assert first == ids("a long and secret key")
    assert [first.index(one) for one in first] == [0, 0, 2, 3, 3, 5]
    assert set(first).isdisjoint(ids("another secret key"))
    assert set(ids(None)).isdisjoint(ids(None))


def test_who_does_not_have_the_key_cannot_try_out_ids() -> None:
    plain = {hashlib.sha256(f"p{i}".encode()).hexdigest() for i in range(1, 5)}
    assert plain.isdisjoint(ids("a long and secret key"))


def test_pseudonyms_stay_the_same_next_month_and_ids_never_slip_through() -> None:
    """Also if whoever applies the recipe forgets to say which column is the person's id."""
    release = anonymize(VISITS, EVENTS, plan=Plan(person="pseudonymise"), key="a long and secret key")
    forgot = Policy.of(quasi_identifiers=["sex"], profile="research-partner-3")
    again = apply(release.recipe, VISITS, forgot, key="a long and secret key")
    assert sorted(rows_of(again)["who"].to_pylist()) == sorted(ids("a long and secret key"))


def test_dropped_ids_stay_dropped_and_persons_are_still_counted() -> None:
    release = anonymize(VISITS, EVENTS)
    assert rows_of(release).column_names == ["sex", "ward"]
    assert release.recipe.person == "who"
    assert release.recipe.keyed == ()
    again = apply(release.recipe, VISITS, EVENTS)
    assert rows_of(again).column_names == ["sex", "ward"]
    assert again.after.measure("k-anonymity").unit == "persons"
    with pytest.raises(InvalidParameter, match="a key was given"):
        anonymize(VISITS, EVENTS, key="a long and secret key")
    alone = VISITS.filter(pa.compute.is_in(VISITS["who"], pa.array(["p1", "p3"])))
    with pytest.raises(GoalUnreachable):
        apply(release.recipe, alone, Policy.of(quasi_identifiers=["sex"], profile="research-partner-3"))


def test_a_recipe_alone_says_who_is_who_and_what_judges(january: Release) -> None:
    assert january.recipe.profile == "research-partner-3"
    assert Recipe.loads(january.recipe.dumps("toml")).profile == "research-partner-3"
    again = apply(january.recipe, JANUARY)
    assert rows_of(again).equals(rows_of(january).select(rows_of(again).column_names))
    assert again.policy.profile == "research-partner-3"
    assert any("profile research-partner-3 are the recipe's" in note for note in again.notes)


def test_a_recipe_without_a_profile_is_judged_by_the_usual_one(january: Release) -> None:
    bare = replace(january.recipe, profile=None)
    with pytest.raises(GoalUnreachable):
        apply(bare, JANUARY)


# ── tampered recipes ─────────────────────────────────────────────────────────────────────────────────

ODD = [
    None,
    True,
    -1,
    1e308,
    10**400,
    "",
    "x",
    "\ud800",
    [],
    [[]],
    {},
    {"x": {}},
    ["\0"],
    [["a"], ["b"]],
    "9" * 5000,
]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_a_tampered_recipe_is_bad_input(method: Method, tmp_path: Path) -> None:
    """Whatever stands in its fields, a recipe is applied or refused in words, without a value of the data."""
    rows = pa.table({"age": [20, 21, 30, 31] * 3, "sex": ["f", "m"] * 6, "ill": ["Zzyzx", "b", "c"] * 4})
    policy = Policy.of(
        quasi_identifiers=["age", "sex"],
        sensitive=["ill"],
        require=[KAnonymity(2)],
        profile="research-partner-3",
    )
    whole = anonymize(rows, policy, plan=Plan(method=method)).recipe.to_dict()
    told: set[str] = set()
    for field in whole:
        for odd in ODD:
            read: list[Recipe] = []
            for text in (json.dumps({**whole, field: odd}), _as_toml({**whole, field: odd})):
                try:
                    recipe = Recipe.loads(text)
                    # The same recipe in another notation does the same.
                    if recipe not in read:
                        read.append(recipe)
                        apply(recipe, rows, policy)
                except DiscreetError as error:
                    told.add(str(error))
    for field in whole:
        with contextlib.suppress(DiscreetError):
            apply(Recipe.loads(json.dumps({k: v for k, v in whole.items() if k != field})), rows, policy)
    assert len(told) > 10
    assert not any("Zzyzx" in text for text in told)


def _as_toml(document: dict[str, object]) -> str:
    try:
        return tomlkit.dumps({key: value for key, value in document.items() if value is not None})
    except (ValueError, TypeError, tomlkit.exceptions.TOMLKitError):
        return "{"


def test_a_recipe_names_the_field_that_is_wrong() -> None:
    with pytest.raises(UnreadableInput, match=r"not a recipe of this version \(suppression_limit\)"):
        Recipe.loads(json.dumps({**_smallest(), "suppression_limit": "all"}))
    with pytest.raises(UnreadableInput, match="not a recipe"):
        Recipe.loads(json.dumps({**_smallest(), "suppressed": [["a", "b"]]}))
    assert Recipe.loads(json.dumps(_smallest())).quasi_identifiers == ("age",)


def _smallest() -> dict[str, object]:
    return {
        "format": "discreet-recipe-1",
        "method": "optimal",
        "scope": "global",
        "quasi_identifiers": ["age"],
        "values": {"age": {"31": "[30, 39]"}},
        "combinations": [],
        "suppressed": [],
        "requirements": [],
        "suppression_limit": 0.2,
        "unseen": "refuse",
        "columns": ["age"],
        "keyed": [],
        "types": {},
    }


def test_values_that_are_not_of_their_type_are_bad_input() -> None:
    recipe = Recipe.loads(json.dumps({**_smallest(), "types": {"age": "int64"}}))
    with pytest.raises(UnsuitableColumn, match="not of the type"):
        recipe.recode(EquivalenceClasses.from_columns({"age": [31]}))
