"""Personalised privacy: what everybody guards, measured, required, enforced and verified."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import Plan, Policy
from discreet.classes import EquivalenceClasses
from discreet.errors import GoalUnreachable, InvalidPolicy
from discreet.policy.file import dumps, loads
from discreet.privacy import PersonalisedPrivacy
from discreet.privacy.personal import breach_probability
from discreet.release.check import check
from discreet.release.tally import RowBatches
from discreet.release.verify import verify
from helpers.program import run_here

TREE = {
    "flu": ("lung", "any"),
    "pneumonia": ("lung", "any"),
    "bronchitis": ("lung", "any"),
    "gastric ulcer": ("stomach", "any"),
    "gastritis": ("stomach", "any"),
    "dyspepsia": ("stomach", "any"),
}
DISEASES = [
    "gastric ulcer",
    "dyspepsia",
    "pneumonia",
    "bronchitis",
    "flu",
    "pneumonia",
    "gastritis",
    "gastritis",
    "flu",
    "flu",
]
WISHES = ["stomach", "dyspepsia", "lung", "bronchitis", "flu", "pneumonia", "gastritis", None, "flu", "flu"]


def asked(p: float = 0.5) -> PersonalisedPrivacy:
    return PersonalisedPrivacy(p, "disease", "wish", TREE)


def test_two_people_with_the_same_kind_of_illness_are_no_protection() -> None:
    """The example of Xiao and Tao: a group that is 2-diverse breaches surely what its first member guards."""
    groups = [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]
    classes = EquivalenceClasses.from_columns(
        {"group": groups}, sensitive={"disease": DISEASES}, guards={"wish": WISHES}
    )
    # Andy guards the stomach, and so is his fellow; Linda's gastritis is one of two of four, Sarah's and Mary's flu the others.
    assert asked().per_class(classes).tolist() == [1.0, 1.0, 0.5, 0.5]
    assert asked().holds(classes).tolist() == [False, False, True, True]


def plain(
    groups: list[int], values: list[str], wishes: list[str | None], people: list[int] | None
) -> dict[int, float]:
    """By looking at every person's wish and at every record of the group, one after the other."""
    worst = dict.fromkeys(groups, 0.0)
    for group, wish in zip(groups, wishes, strict=True):
        if wish is None:
            continue
        rows = [at for at, other in enumerate(groups) if other == group]
        under = [at for at in rows if wish in (values[at], *TREE[values[at]])]
        share = len(under) / len(rows)
        if people is not None:
            share = max(share, len({people[at] for at in under}) / len({people[at] for at in rows}))
        worst[group] = max(worst[group], share)
    return worst


@pytest.mark.parametrize("seed", range(20))
def test_against_loops_over_people(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 30))
    groups = rng.integers(0, 5, size).tolist()
    values = rng.choice(list(TREE), size).tolist()
    nodes = [*TREE, "lung", "stomach", "any", None, None, None]
    wishes = [nodes[at] for at in rng.integers(0, len(nodes), size)]
    people = rng.integers(0, 6, size).tolist() if seed % 2 else None
    classes = EquivalenceClasses.from_columns(
        {"group": groups}, sensitive={"disease": values}, guards={"wish": wishes}, person=people
    )
    expected = plain(groups, values, wishes, people)
    found = breach_probability(classes, "disease", "wish", TREE)
    assert found == pytest.approx([expected[group] for group in sorted(expected)])


def test_a_generalised_value_counts_for_what_it_may_stand_for() -> None:
    classes = EquivalenceClasses.from_columns(
        {"age": [1] * 3}, sensitive={"disease": ["lung", "*", "flu"]}, guards={"wish": ["flu", None, None]}
    )
    assert asked().measure(classes).value == pytest.approx((1 / 3 + 1 / 6 + 1) / 3)


@pytest.mark.parametrize("wish", ["", "?", None])
def test_who_names_no_node_guards_nothing(wish: str | None) -> None:
    classes = EquivalenceClasses.from_columns(
        {"age": [1, 1]}, sensitive={"disease": ["flu", "flu"]}, guards={"wish": [wish, wish]}
    )
    measure = asked().measure(classes)
    assert measure.value == 0
    assert measure.notes == ("0 of 2 records say what is to be guarded",)


def test_a_node_that_the_hierarchy_does_not_have_is_refused_without_its_name() -> None:
    classes = EquivalenceClasses.from_columns(
        {"age": [1, 1]}, sensitive={"disease": ["flu", "flu"]}, guards={"wish": ["lungs", "flu"]}
    )
    with pytest.raises(InvalidPolicy, match="1 of the 2 nodes") as error:
        asked().measure(classes)
    assert "lungs" not in str(error.value)


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng = np.random.default_rng(7)
    size = 120
    values = rng.choice(list(TREE), size).tolist()
    guarded = [
        value if draw < 0.3 else TREE[value][0] if draw < 0.4 else None
        for value, draw in zip(values, rng.random(size), strict=True)
    ]
    return pa.table(
        {
            "age": rng.integers(20, 40, size),
            "sex": rng.choice(["f", "m"], size),
            "disease": values,
            "wish": pa.array(guarded, pa.string()),
        }
    )


def policy(*require: discreet.privacy.PrivacyModel) -> Policy:
    return Policy.of(
        quasi_identifiers=["age", "sex"],
        sensitive=["disease"],
        guards=["wish"],
        require=require or (asked(0.6),),
        profile="research-partner-3",
    )


@pytest.mark.parametrize("method", ["optimal", "mondrian", "local", "clustering", "microaggregation"])
def test_enforced_and_then_looked_at_person_by_person(people: pa.Table, method: str) -> None:
    plan = Plan(method=method, seconds=2, suppression_limit=0.2)
    release = discreet.anonymize(people, policy(), plan=plan)
    assert "wish" not in release.table.names
    assert any(column.name == "wish" for column in release.removed)
    shown = release.to_arrow().to_pydict()
    combinations = list(zip(shown["age"], shown["sex"], strict=True))
    group = [sorted(set(map(str, combinations))).index(str(each)) for each in combinations]
    wishes = people["wish"].take(pa.array(release.links)).to_pylist()
    found = plain(group, shown["disease"], wishes, None)
    assert max(found.values()) <= 0.6
    assert release.after.measure("personalised-privacy", "disease").value == pytest.approx(
        max(found.values())
    )


def test_what_cannot_be_guarded_is_refused(people: pa.Table) -> None:
    rows = people.set_column(3, "wish", pa.array(["any"] * people.num_rows))
    with pytest.raises(GoalUnreachable):
        discreet.anonymize(rows, policy(), plan=Plan(method="optimal"))


def test_the_written_file_is_asked_again_and_may_not_have_the_column(people: pa.Table) -> None:
    release = discreet.anonymize(people, policy(), plan=Plan(method="optimal"))
    rows = release.to_arrow()
    assert release.verify(rows).holds
    told = rows.append_column("wish", people["wish"].take(pa.array(release.links)))
    assert any("wish is left out" in failure for failure in release.verify(told).failures)
    # One value for all: whoever guards it is betrayed.
    alike = rows.set_column(rows.column_names.index("disease"), "disease", pa.array(["flu"] * rows.num_rows))
    assert any("guards" in failure for failure in release.verify(alike).failures)
    bare = verify(
        RowBatches.of_table(rows),
        [asked()],
        quasi_identifiers=["age", "sex"],
        person=None,
        original={},
        starred=False,
    )
    assert any("nobody can tell" in failure for failure in bare.failures)


def test_check_wants_the_original(people: pa.Table) -> None:
    release = discreet.anonymize(people, policy(), plan=Plan(method="optimal"))
    rows = release.to_arrow()
    alone = check(rows, policy())
    assert [each.id for each in alone.obstacles] == ["personalised-privacy"]
    assert "--original" in alone.obstacles[0].remedy
    beside = check(rows, policy(), original=people)
    assert beside.passes
    [found] = [each.value for each in beside.criteria if each.id == "personalised-privacy"]
    assert found == release.after.measure("personalised-privacy", "disease").value
    assert not check(rows, policy(asked(found - 0.01)), original=people).passes
    # And whoever publishes what people guard is told so.
    assert not check(people, policy(asked(1.0)), original=people).passes


def test_policy_file_and_command_line(tmp_path: Path, people: pa.Table) -> None:
    written = dumps(policy())
    assert loads(written) == policy()
    assert loads(written).guards == ("wish",)
    (tmp_path / "disease.csv").write_text(
        "\n".join(";".join((leaf, *path[:-1], "*")) for leaf, path in TREE.items())
    )
    text = (
        'profile = "research-partner-3"\n[columns.age]\nrole = "quasi-identifier"\n[columns.sex]\nrole = "quasi-identifier"\n'
        '[columns.disease]\nrole = "sensitive"\nhierarchy = "disease.csv"\n[columns.wish]\nrole = "guarding-node"\n'
        '[[require]]\nmodel = "personalised-privacy"\np = 0.6\n'
    )
    (tmp_path / "policy.toml").write_text(text)
    pa.csv.write_csv(people, tmp_path / "people.csv")
    made, out, err = run_here(
        [
            "anonymize",
            "people.csv",
            "-p",
            "policy.toml",
            "-o",
            "out.csv",
            "--method",
            "optimal",
            "--recipe",
            "recipe.json",
        ],
        tmp_path,
    )
    assert made == 0, out + err
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == '"age","sex","disease"'
    common = ["check", "out.csv", "-p", "policy.toml"]
    assert run_here(common, tmp_path)[0] == 1
    assert run_here([*common, "--original", "people.csv"], tmp_path)[0] == 0
    # A recipe tells on other rows who guards what.
    again, out, err = run_here(["apply", "recipe.json", "people.csv", "-o", "again.csv"], tmp_path)
    assert again == 0, out + err
    assert "wish" not in (tmp_path / "again.csv").read_text().splitlines()[0]


def test_two_columns_of_wishes_must_be_told_apart() -> None:
    columns = {
        "age": ["quasi-identifier"],
        "a": ["guarding-node"],
        "b": ["guarding-node"],
        "disease": ["sensitive"],
    }
    given = {
        "columns": {name: {"role": role} for name, [role] in columns.items()},
        "require": [{"model": "personalised-privacy", "p": 0.5}],
    }
    rows = pa.table({"age": [1, 1], "a": ["flu", "flu"], "b": ["flu", "flu"], "disease": ["flu", "flu"]})
    with pytest.raises(InvalidPolicy, match="2 have the role guarding-node"):
        discreet.audit(rows, given)


def test_merging_may_break_it() -> None:
    """It is not monotone, and says so: a wish meets values that nobody guarded."""
    rng = np.random.default_rng(3)
    broken = 0
    for _ in range(50):
        size = 8
        classes = EquivalenceClasses.from_columns(
            {"g": rng.integers(0, 3, size).tolist()},
            sensitive={"disease": rng.choice(list(TREE)[:3], size).tolist()},
            guards={"wish": [["flu", None][at] for at in rng.integers(0, 2, size)]},
        )
        steps = [asked().per_class(classes).max(), asked().per_class(classes.recoded([], [])).max()]
        broken += any(later > earlier for earlier, later in pairwise(steps))
    assert broken
    assert not PersonalisedPrivacy.monotone
