"""Rules that all records keep: which are named, and that a confirmed one is counted and kept."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.perturb.swapping import RandomSwap
from discreet.perturb.synthesis import SyntheticTable
from discreet.policy.constraint import Constraint
from discreet.policy.file import dumps, loads
from discreet.release.constraints import check_constraints
from discreet.release.dependencies import Dependency
from discreet.release.perturb import perturbed

RNG = np.random.default_rng(7)
N = 600
POSTCODE = RNG.integers(10, 30, N)
HOURS, RATE = RNG.integers(5, 40, N), RNG.integers(10, 30, N)
ADMITTED = RNG.integers(0, 100, N)
SEX = RNG.choice(["f", "m"], N)
ROWS = pa.table(
    {
        "postcode": POSTCODE,
        "county": [f"county {code // 5}" for code in POSTCODE],
        "hours": HOURS,
        "rate": RATE,
        "wage": HOURS * RATE,
        "admitted": ADMITTED,
        "discharged": ADMITTED + RNG.integers(0, 50, N),
        "sex": SEX,
        "ward": np.where(SEX == "m", RNG.choice(["a", "b"], N), RNG.choice(["a", "b", "maternity"], N)),
    }
)
COUNTY = Constraint("county", column="county", follows=("postcode",))


def test_rules_of_every_kind_are_named_and_nothing_else() -> None:
    rules = {(each.kind, each.rule.condition) for each in discreet.find_rules(ROWS)}
    assert rules == {
        ("dependency", "county follows from postcode"),
        ("order", '"admitted" <= "discharged"'),
        ("equation", 'abs("wage" - "hours" * "rate") <= 1e-9 * abs("wage")'),
        ("impossible pair", "NOT (\"sex\" = 'm' AND \"ward\" = 'maternity')"),
    }


def test_every_rule_that_is_named_holds_where_it_is_asked() -> None:
    rules = tuple(each.rule for each in discreet.find_rules(ROWS))
    plain = discreet.Policy.of(quasi_identifiers=["postcode"], sensitive=["ward"])
    told = discreet.compare(ROWS, ROWS, replace(plain, constraints=rules), labels=[], queries=5)
    assert not [note for note in told.notes if "rule" in note]


def test_what_is_true_or_false_is_no_number_and_stands_beside_some_values_only() -> None:
    """No engine compares it with a fraction; where it never stands beside a value, that is named."""
    rng = np.random.default_rng(5)
    ward = rng.choice(["a", "b", "maternity"], 500)
    male = (ward != "maternity") & (rng.random(500) < 0.7)
    rows = pa.table({"male": male, "ward": ward, "dose": male + rng.random(500)})
    rules = discreet.find_rules(rows)
    assert [each.rule.holds for each in rules] == ['NOT ("male" = True AND "ward" = \'maternity\')']
    assert check_constraints(discreet.read(rows), [each.rule for each in rules]) == (0,)


def test_columns_that_have_nothing_to_do_with_each_other_keep_no_rule() -> None:
    rng = np.random.default_rng(3)
    apart = pa.table({name: rng.integers(0, 9, 500) for name in "abc"} | {"d": rng.choice(list("xyz"), 500)})
    assert discreet.find_rules(apart) == ()


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), min_size=1, max_size=40)


@given(PAIRS)
def test_as_few_rows_contradict_as_must_go(pairs: list[tuple[int, str]]) -> None:
    """Beside plain counting: of each source all but the most frequent value's."""
    rows = pa.table({"postcode": [a for a, _ in pairs], "county": [b for _, b in pairs]})
    broken = Dependency.of(COUNTY, rows).breaking(rows)
    assert len(broken) == len(pairs) - sum(
        max(pairs.count((a, b)) for b in "abc") for a in {a for a, _ in pairs}
    )
    left = [pair for at, pair in enumerate(pairs) if at not in set(broken.tolist())]
    assert all(len({b for other, b in left if other == a}) == 1 for a, _ in left)


def policy(*rules: Constraint) -> discreet.Policy:
    plain = discreet.Policy.of(
        quasi_identifiers=["postcode", "county"], sensitive=["ward"], profile="research-partner-3"
    )
    return replace(plain, constraints=rules, unknown="keep", plan=discreet.Plan(method="mondrian"))


SMALL = ROWS.select(["postcode", "county", "ward"])


def test_generalisation_contradicts_nothing_and_swapping_is_counted() -> None:
    assert discreet.anonymize(SMALL, policy(COUNTY)).constraints[0].after == 0
    swapped = policy(COUNTY).perturbed_by(RandomSwap(("county",), percent=60))
    release = discreet.anonymize(
        SMALL,
        replace(swapped, plan=discreet.Plan(method="mondrian", keep=("postcode", "county"))),
        perturb_seed=1,
    )
    truth = dict(zip(SMALL["postcode"].to_pylist(), SMALL["county"].to_pylist(), strict=True))
    broken = sum(truth[row["postcode"]] != row["county"] for row in release.to_arrow().to_pylist())
    assert broken > 0
    assert (release.constraints[0].before, release.constraints[0].after) == (0, broken)
    assert any("records break the rule county" in note for note in release.notes)


def test_artificial_values_keep_it() -> None:
    """Each of the two columns is drawn by itself: three of four rows would break the rule."""
    drawn = policy(COUNTY).perturbed_by(SyntheticTable(("postcode",)), SyntheticTable(("county",)))
    broken = {}
    for told, asked in (("kept", drawn), ("free", replace(drawn, constraints=()))):
        made = perturbed(discreet.read(SMALL), asked, seed=1, say=lambda _: None).table.to_arrow()
        broken[told] = len(Dependency.of(COUNTY, SMALL).breaking(made))
    assert broken["free"] > 300
    assert broken["kept"] < 10


def test_it_is_written_into_a_policy_and_read_again() -> None:
    written = dumps(policy(COUNTY))
    assert loads(written).constraints == (COUNTY,)
    assert "county follows from postcode" in str(policy(COUNTY))


@pytest.mark.parametrize(
    "entry",
    [
        'name = "x"',
        'name = "x"\nholds = "a > b"\ncolumn = "a"\nfollows = ["b"]',
        'name = "x"\ncolumn = "a"',
        'name = "x"\nfollows = ["a"]',
        'name = "x"\ncolumn = "a"\nfollows = ["a"]',
    ],
)
def test_a_rule_that_says_too_little_or_too_much_is_refused(entry: str) -> None:
    with pytest.raises(InvalidPolicy, match="constraint"):
        loads(f"[[constraint]]\n{entry}\n")


def test_an_unknown_column_is_refused_before_anything_is_done() -> None:
    with pytest.raises(InvalidPolicy, match="town"):
        discreet.anonymize(SMALL, policy(Constraint("t", column="town", follows=("postcode",))))
    with pytest.raises(InvalidParameter):
        Constraint("x")


def test_the_command_prints_entries_of_a_policy(run: Callable[..., Any], tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    pa.csv.write_csv(ROWS, source)
    shown = run("rules", source)
    assert shown.code == 0, shown.err
    entries = tomllib.loads(shown.out)["constraint"]
    assert {"name": "county follows from postcode", "column": "county", "follows": ["postcode"]} in entries
    assert loads(shown.out).constraints[0].follows == ("postcode",)
    told = json.loads(run("rules", source, "--json").out)
    assert {each["kind"] for each in told["rules"]} >= {"dependency", "order"}
    assert run("rules", source, "-o", tmp_path / "rules.toml").code == 0
    assert (tmp_path / "rules.toml").read_text() == shown.out
