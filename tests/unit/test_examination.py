"""Columns that nobody judged: found, told, kept out of releases; unknown columns close the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Plan, Policy
from discreet.cli import main
from discreet.errors import InvalidPolicy
from discreet.policy.examination import ROWS, singling_out
from discreet.policy.file import dumps, loads
from discreet.privacy import KAnonymity
from discreet.risk.unexamined import SHARE, culprits, unique_share

PARTNER = Policy.of(quasi_identifiers=["age"], require=[KAnonymity(3)], profile="research-partner-3")


def people(rows: int = 60, **columns: list[object]) -> pa.Table:
    """Ages that are already in groups of at least three, and what else is asked for."""
    return pa.table({"age": [30 + i % 5 for i in range(rows)], **columns})


def failed(verdict: discreet.Verdict) -> dict[str, str]:
    return {criterion.id: criterion.found for criterion in verdict.obstacles}


# ── who singles out ──────────────────────────────────────────────────────────────────────────────────


def test_a_near_unique_column_is_named_and_its_company_is_not() -> None:
    table = people(weight=[1000 + i for i in range(60)], hours=[20 + i % 4 for i in range(60)])
    policy = PARTNER.replace(insensitive=["hours"], weight="weight")
    verdict = discreet.check(table, policy)
    assert failed(verdict) == {"nothing-unexamined": "weight singles out 100.0% of the records"}


def test_a_column_that_singles_out_with_two_others_only() -> None:
    # 5 ages × 4 × 3 = 60: each record is alone with the three, and nobody with two of them.
    table = people(a=[i // 5 % 4 for i in range(60)], b=[i // 20 for i in range(60)])
    verdict = discreet.check(table, PARTNER.replace(insensitive=["a", "b"]))
    assert failed(verdict) == {"nothing-unexamined": "a with age and b singles out 100.0% of the records"}


def test_many_small_columns_at_once() -> None:
    """Fourteen columns of six values: no three of them single anybody out, all together everybody."""
    random = np.random.default_rng(1)
    columns = {f"answer {i}": random.integers(0, 6, 5000) for i in range(14)}
    named = culprits(columns, list(columns))
    assert named
    left = [name for name in columns if name not in {culprit.column for culprit in named}]
    assert unique_share([columns[name] for name in left]) <= SHARE
    assert named[0].share == 1.0
    assert (
        named[0]
        .describe()
        .endswith("with 13 other columns that nobody judged singles out 100.0% of the records")
    )


@given(st.integers(0, 1000), st.integers(2, 5), st.integers(1, 40))
def test_what_is_left_singles_nobody_out(seed: int, width: int, values: int) -> None:
    """By brute force: of the columns left, no set of up to three singles out more than the share."""
    random = np.random.default_rng(seed)
    columns = {f"c{i}": random.integers(0, random.integers(1, values + 1), 50) for i in range(width)}
    unexamined = list(columns)[: width // 2 + 1]
    gone = {culprit.column for culprit in culprits(columns, unexamined)}
    left = [name for name in columns if name not in gone]

    def further(names: Sequence[str]) -> float:
        known = [columns[name] for name in names if name not in unexamined]
        return unique_share([columns[name] for name in names]) - (unique_share(known) if known else 0)

    for size in (1, 2, 3):
        for names in combinations(left, size):
            assert further(names) <= SHARE
    for culprit in culprits(columns, unexamined):
        assert further(culprit.together) == culprit.share > SHARE


def test_alone_in_a_sample_is_not_alone_in_the_table() -> None:
    """Every value occurs twice: in a sample most are alone, in the table nobody is."""
    rows = 4 * ROWS
    table = discreet.read(pa.table({"age": [1] * rows, "code": [i // 2 for i in range(rows)]}))
    assert singling_out(table, PARTNER.replace(insensitive=["code"])) == []
    table = discreet.read(pa.table({"age": [1] * rows, "code": list(range(rows))}))
    [culprit] = singling_out(table, PARTNER.replace(insensitive=["code"]))
    assert (culprit.column, culprit.share) == ("code", 1.0)


def test_nulls_are_a_value_and_sensitive_attributes_are_not_known() -> None:
    table = people(code=[None] * 60, illness=[str(i) for i in range(60)])
    policy = PARTNER.replace(insensitive=["code"], sensitive=["illness"])
    assert discreet.check(table, policy).passes


# ── releases ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_release_lacks_what_singles_people_out_and_passes_its_check(tmp_path: Path) -> None:
    table = people(weight=[1000 + i for i in range(60)])
    policy = PARTNER.replace(weight="weight")
    release = discreet.anonymize(table, policy)
    assert release.table.names == ("age",)
    assert release.recipe.columns == ("age",)
    assert (
        "weight was left out: nobody judged it, and weight singles out 100.0% of the records" in release.notes
    )
    path = release.save(tmp_path / "release.csv")
    assert discreet.check(path, policy).passes


def test_the_written_file_is_looked_at_again() -> None:
    """A code of three values is released; a file in which it has sixty is not."""
    release = discreet.anonymize(
        people(code=[i % 3 for i in range(60)]), PARTNER.replace(insensitive=["code"])
    )
    rows = release.table.engine.to_arrow(release.table)
    assert release.verify(rows).holds
    spoilt = rows.set_column(1, "code", pa.array(range(60)))
    assert release.verify(spoilt).failures == ("code singles people out, and nobody judged it",)


def test_kept_on_demand_and_then_not_releasable() -> None:
    table = people(weight=[1000 + i for i in range(60)])
    release = discreet.anonymize(table, PARTNER.replace(weight="weight"), plan=Plan(unexamined="keep"))
    assert release.table.names == ("age", "weight")
    assert release.verdict.decision == "do-not-release"


# ── what tells a generalised quasi-identifier ────────────────────────────────────────────────────────


def strata(weights: Sequence[float]) -> pa.Table:
    """Twelve regions of five people each: three are too few for one class, so regions are put together."""
    regions = [f"r{i % 12}" for i in range(60)]
    return pa.table({"region": regions, "weight": [weights[i % 12 % len(weights)] for i in range(60)]})


SURVEY = Policy.of(
    quasi_identifiers=["region"], require=[KAnonymity(10)], profile="research-partner-3", weight="weight"
)


@pytest.mark.parametrize("weights", [[1.5, 2, 4], [float(i + 1) for i in range(12)]])
def test_a_weight_that_tells_what_is_generalised_is_left_out(weights: list[float], tmp_path: Path) -> None:
    release = discreet.anonymize(strata(weights), SURVEY)
    assert release.table.names == ("region",)
    assert any(
        "weight was left out: nobody judged it, and it" in note
        and note.endswith("region, of which less is shown")
        for note in release.notes
    )
    path = release.save(tmp_path / "release.csv")
    assert discreet.check(path, SURVEY).passes
    rows = release.table.engine.to_arrow(release.table)
    spoilt = rows.append_column("weight", pa.array([1.5] * len(rows)))
    assert release.verify(spoilt).failures == ("weight is left out of the release, and is in the file",)


def test_a_weight_stays_that_says_no_more_than_what_is_released() -> None:
    # Six regions of ten people stay as they are, and the weight follows from them.
    regions = [f"r{i % 6}" for i in range(60)]
    table = pa.table({"region": regions, "weight": [1.0 + i % 6 // 2 for i in range(60)]})
    assert discreet.anonymize(table, SURVEY).table.names == ("region", "weight")
    # One weight for all tells nothing, whatever becomes of the regions.
    assert discreet.anonymize(strata([1.5]), SURVEY).table.names == ("region", "weight")


def test_a_weight_that_the_plan_drops_says_from_what_it_follows() -> None:
    dropped = replace(SURVEY, plan=Plan(drop_attributes=("weight",)))
    (removed,) = discreet.anonymize(strata([1.5, 2, 4]), dropped).removed
    assert (removed.name, removed.reason) == ("weight", "it follows from region")
    weights = pa.array([1 + i * 7 % 11 for i in range(60)])
    (removed,) = discreet.anonymize(strata([1]).set_column(1, "weight", weights), dropped).removed
    assert removed.reason == "as the plan says"


def test_a_weight_by_two_columns_is_left_out_where_one_of_them_is_hidden() -> None:
    # Four regions by two sexes, ten people each. Each weight stands for two of the eight strata, which differ in both: alone it
    # tells neither, but with the sex it tells the region.
    region, sex = [i % 4 for i in range(80)], [i // 4 % 2 for i in range(80)]
    rows = {
        "region": [f"r{at}" for at in region],
        "sex": ["fm"[at] for at in sex],
        "weight": [1.0 + (at + 2 * of) % 4 for at, of in zip(region, sex, strict=True)],
    }
    policy = Policy.of(
        quasi_identifiers=["region", "sex"],
        require=[KAnonymity(20)],
        profile="research-partner-3",
        weight="weight",
    )
    release = discreet.anonymize(pa.table(rows), replace(policy, plan=Plan(keep=("sex",), shape="uniform")))
    assert release.table.names == ("region", "sex")
    assert any("it follows from region and sex, of which less is shown" in note for note in release.notes)
    # Where both are shown, it says nothing new.
    shown = discreet.anonymize(pa.table(rows), replace(policy, requirements=(KAnonymity(10),)))
    assert shown.table.names == ("region", "sex", "weight")


def test_a_check_sees_a_weight_that_tells_labels_apart() -> None:
    """a, b and c have weights of their own; of a record that shows {a, b} the weight says which it is."""
    regions = ["a", "b", "c"] * 20 + ["{a, b}"] * 10
    weights = [1.5, 2.0, 4.0] * 20
    table = pa.table({"region": regions, "weight": [*weights, *[1.5, 2.0] * 5]})
    assert failed(discreet.check(table, SURVEY)) == {
        "nothing-unexamined": "weight: it follows from region, of which less is shown"
    }
    alike = pa.table({"region": regions, "weight": [*weights, *[1.5] * 10]})
    assert discreet.check(alike, SURVEY).passes
    independent = pa.table({"region": regions, "weight": [1.5 + i // 3 % 2 for i in range(70)]})
    assert discreet.check(independent, SURVEY).passes


def test_a_suggested_policy_leaves_out_the_weight_that_follows(tmp_path: Path) -> None:
    rows = 240
    table = pa.table(
        {
            "region": [f"r{i % 12}" for i in range(rows)],
            "sex": [("f", "m")[i // 12 % 2] for i in range(rows)],
            "sampling_weight": [(1.5, 2.25, 4.75)[i % 3] for i in range(rows)],
        }
    )
    policy = discreet.suggest(discreet.read(table))
    assert policy.weight == "sampling_weight"
    assert policy.plan.drop_attributes == ("sampling_weight",)
    assert loads(dumps(policy)) == policy
    # The weight is in the table: the check, which knows the policy, does not let it through.
    assert (
        failed(discreet.check(table, policy))["nothing-unexamined"]
        == "sampling_weight: the plan leaves it out"
    )
    release = discreet.anonymize(table, policy)
    assert release.table.names == ("region", "sex")
    assert discreet.check(release.save(tmp_path / "release.csv"), policy).passes


# ── columns that the policy does not know ────────────────────────────────────────────────────────────

FILE = 'profile = "research-partner-3"\n{}[columns.age]\nrole = "quasi-identifier"'
MAILS = [f"person{i % 3}@example.org" for i in range(60)]
COLOURS = ["red", "green", "blue"] * 20


@pytest.mark.parametrize(
    ("unknown", "column", "passes"),
    [
        ("", COLOURS, False),
        ('unknown = "fail"\n', COLOURS, False),
        ('unknown = "drop"\n', COLOURS, False),
        ('unknown = "examine"\n', COLOURS, True),
        ('unknown = "examine"\n', MAILS, False),
        ('unknown = "keep"\n', COLOURS, True),
        ('unknown = "keep"\n', MAILS, True),
    ],
)
def test_the_gate_fails_closed(unknown: str, column: list[object], passes: bool) -> None:
    policy = loads(FILE.format(unknown))
    assert loads(dumps(policy)) == policy
    verdict = discreet.check(people(extra=column), policy)
    assert verdict.passes is passes
    [criterion] = [criterion for criterion in verdict.criteria if criterion.id == "known-columns"]
    assert (criterion.found, criterion.origin, criterion.holds) == ("no role: extra", "policy", passes)
    assert ("extra" in criterion.remedy) is not passes


def test_nothing_is_said_where_the_policy_knows_all() -> None:
    verdict = discreet.check(people(), loads(FILE.format("")))
    assert "known-columns" not in {criterion.id for criterion in verdict.criteria}


def test_anonymize_refuses_leaves_out_or_keeps() -> None:
    table = people(extra=COLOURS)
    with pytest.raises(InvalidPolicy, match="does not know extra"):
        discreet.anonymize(table, loads(FILE.format("")))
    release = discreet.anonymize(table, loads(FILE.format('unknown = "drop"\n')))
    assert release.table.names == ("age",)
    assert "left out because the policy does not know them: extra" in release.notes
    release = discreet.anonymize(table, loads(FILE.format('unknown = "keep"\n')))
    assert release.table.names == ("age", "extra")


def test_the_command_line_tells_an_unknown_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, policy, release = tmp_path / "people.csv", tmp_path / "policy.toml", tmp_path / "release.csv"
    pa.csv.write_csv(people(email=MAILS), table)
    policy.write_text(FILE.format(""))
    with pytest.raises(SystemExit, match="1"):
        main(["check", str(table), "-p", str(policy)])
    assert "known-columns" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["anonymize", str(table), "-p", str(policy), "-o", str(release)])
    assert not release.exists()


def test_a_release_lists_what_nobody_judged_and_how_unique_it_is(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "age": [20 + i % 4 for i in range(100)],
            "ill": ["flu", "none"] * 50,
            "shirt": ["S", "M", "L"] * 33 + ["XXL"],
        }
    )
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["ill"], profile="research-partner-5")
    release = discreet.anonymize(rows, policy)
    assert release.unjudged == {"shirt": 0.01}
    assert release.to_dict()["unjudged"] == [{"name": "shirt", "unique": 0.01}]
    # 25 people of each age: of those of 23 one alone wears XXL.
    assert release.unjudged_together == release.to_dict()["unjudged_together"] == 0.01
    assert "(all, with the quasi-identifiers)   1.0%" in str(release)
    assert "Columns as they were, which nobody judged" in str(release)
    release.save(tmp_path / "out.csv", report=tmp_path / "out.html")
    report = (tmp_path / "out.html").read_text()
    assert "shirt (1.0%): as before" in report
    assert "1.0% are alone with all of them" in report
    german = release.save(tmp_path / "out.csv", report=tmp_path / "aus.html", language="de")
    assert german.exists()
    assert "wie zuvor; daneben" in (tmp_path / "aus.html").read_text()


def households() -> pa.Table:
    """Two hundred people in households of one to four, whose weight is 100 by their size."""
    sizes = [1 + i % 4 for i in range(80)]
    homes = [home for home, size in enumerate(sizes) for _ in range(size)]
    return pa.table(
        {
            "age": [20 + 7 * i % 60 for i in range(len(homes))],
            "sex": ["fm"[i % 2] for i in range(len(homes))],
            "sampling_weight": [(1.5, 2.25)[i % 2] for i in range(len(homes))],
            "household_weight": [100 / sizes[home] for home in homes],
        }
    )


def test_a_second_weight_is_left_out_by_default_and_stays_out() -> None:
    """Who knows the size of a household would read it off, and nobody counts by it."""
    table = discreet.read(households())
    policy = discreet.suggest(table)
    assert policy.weight == "sampling_weight"
    assert "household_weight" in policy.plan.drop_attributes
    assert policy.column("household_weight").role == "insensitive"  # type: ignore[union-attr]
    assert "household_weight" in dumps(policy).split("[columns")[0]
    release = discreet.anonymize(table, policy)
    assert "household_weight" not in release.table.names
    assert "household_weight" in [column.name for column in release.removed]
    assert not discreet.check(table, policy).passes
    # It stays out where others are given another role, and comes back for whoever judges it.
    for roles in ({"sensitive": ["sex"]}, {"quasi_identifiers": ["age"]}):
        assert "household_weight" in policy.replace(**roles).plan.drop_attributes  # type: ignore[arg-type]
    judged = policy.replace(quasi_identifiers=["age", "household_weight"])
    assert "household_weight" not in judged.plan.drop_attributes
