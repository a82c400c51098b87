"""Releases of a policy with steps of perturbation: requirements hold on the written file, and the steps with them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.errors import InvalidPolicy, RequirementNotMet
from discreet.perturb.base import Perturbation
from discreet.perturb.coding import DateShift, RoundToBase
from discreet.perturb.noise import AdditiveNoise
from discreet.perturb.pram import Pram
from discreet.perturb.randomness import Randomness
from discreet.perturb.swapping import Permutation, RandomSwap, RankSwap
from discreet.perturb.synthesis import SyntheticTable
from discreet.policy.file import dumps, loads
from discreet.privacy import KAnonymity
from discreet.release.perturb import perturbed

Run = Callable[..., Any]
QUICK = discreet.Plan(method="mondrian")
SECRET = 918_273_645


def people(rows: int = 300) -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "age": rng.integers(20, 70, rows),
            "sex": rng.choice(["f", "m"], rows),
            "pay": np.abs(rng.normal(3000, 600, rows)).round(2),
            "job": rng.choice(["a", "b", "c"], rows),
        }
    )


STEPS = (
    RankSwap(("age",), percent=10),
    AdditiveNoise(("pay",), percent=20, low=0),
    Pram(("job",), epsilon=1),
)


@pytest.fixture(scope="module")
def policy() -> discreet.Policy:
    asked = discreet.Policy.of(
        quasi_identifiers=["age", "sex"],
        sensitive=["pay", "job"],
        require=[KAnonymity(5)],
        profile="research-partner-5",
    )
    return dataclasses.replace(asked, plan=QUICK).perturbed_by(*STEPS)


@pytest.fixture(scope="module")
def release(policy: discreet.Policy) -> discreet.Release:
    return discreet.anonymize(people(), policy, perturb_seed=SECRET)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_requirements_hold_on_the_written_file(
    release: discreet.Release, tmp_path: Path, suffix: str
) -> None:
    target = release.save(tmp_path / f"open{suffix}")
    classes: dict[tuple[object, object], int] = {}
    for row in discreet.read(target).to_arrow().to_pylist():
        classes[row["age"], row["sex"]] = classes.get((row["age"], row["sex"]), 0) + 1
    assert min(classes.values()) >= 5
    # What was perturbed and what was generalised: nothing is left of the true pay.
    assert set(discreet.read(target).to_arrow()["pay"].to_pylist()).isdisjoint(
        people()["pay"].to_pylist()[:50]
    )


def test_a_file_that_breaks_what_a_step_keeps_is_not_written(
    release: discreet.Release, tmp_path: Path
) -> None:
    broken = dataclasses.replace(
        release,
        perturbed=dataclasses.replace(
            release.perturbed,
            steps=tuple(
                dataclasses.replace(applied, step=AdditiveNoise(("pay",), high=1000.0))
                if applied.step.id == "additive-noise"
                else applied
                for applied in release.perturbed.steps
            ),
        ),
    )
    with pytest.raises(RequirementNotMet, match="additive-noise: pay has values outside the bounds"):
        broken.save(tmp_path / "open.csv")
    assert list(tmp_path.iterdir()) == []


def test_the_evidence_says_what_was_done_and_what_it_guarantees(release: discreet.Release) -> None:
    told = release.to_dict()["perturbation"]
    assert isinstance(told, list)
    assert [entry["method"] for entry in told] == ["rank-swap", "additive-noise", "pram"]
    assert [entry["guarantee"] for entry in told] == [
        "no formal guarantee",
        "no formal guarantee",
        "local differential privacy of job with ε = 1 among the values that occur",
    ]
    # Ages were generalised afterwards, so that only the other steps can be seen in the file.
    assert [entry["verified_on_file"] for entry in told] == [[], ["pay"], ["job"]]
    assert any("no formal guarantee" in note for note in release.notes)
    # The audit before is that of the original, not of what the steps made of it.
    assert release.before.classes.records.sum() == 300
    assert release.before.risks == discreet.audit(people(), release.before.policy).risks


def test_no_public_part_holds_the_seed(release: discreet.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "open.csv", report=tmp_path / "open.html", recipe=tmp_path / "recipe.json")
    parts = [path.read_text("utf-8") for path in tmp_path.iterdir()]
    parts += [json.dumps(release.to_dict()), str(release), repr(release), dumps(release.before.policy)]
    assert len(parts) == 7
    assert not any(str(SECRET) in part for part in parts)


def test_a_seed_repeats_the_release_and_its_absence_does_not(policy: discreet.Policy) -> None:
    def pay(seed: int | None) -> list[float]:
        made = discreet.anonymize(people(), policy, perturb_seed=seed)
        return made.to_arrow()["pay"].to_pylist()  # type: ignore[no-any-return]

    assert pay(1) == pay(1)
    assert pay(None) != pay(None)


def test_who_became_whom_is_known_also_where_everything_was_perturbed() -> None:
    rows = people()
    step = RankSwap(("age", "pay"), percent=5)
    policy = discreet.Policy.of(quasi_identifiers=["age", "pay"], profile="research-partner-3")
    release = discreet.anonymize(rows, policy.perturbed_by(step), plan=QUICK)
    paired = discreet.compare(rows, release, labels=[], queries=10)
    assert paired.matched == "records were matched by the links that the release holds in memory"
    assert not paired.paired.pair.truthful  # type: ignore[union-attr]


def test_rows_that_are_drawn_are_those_that_were_perturbed(policy: discreet.Policy) -> None:
    rows = people()
    steps = dataclasses.replace(policy, perturb=(RoundToBase(("pay",), base=500),))
    drawn = discreet.anonymize(rows, steps, plan=dataclasses.replace(QUICK, sample=0.5, seed=3))
    true = rows["pay"].to_numpy()[drawn.links]
    assert np.abs(drawn.to_arrow()["pay"].to_numpy() - true).max() <= 250
    assert drawn.before.rows == drawn.after.rows + drawn.suppressed < 300


def test_a_later_step_on_the_same_column_is_the_one_that_is_seen() -> None:
    rows = people()
    policy = discreet.Policy.of(
        quasi_identifiers=["age", "sex"], sensitive=["pay"], profile="research-partner-3"
    )
    steps = (RankSwap(("pay",), percent=5), RoundToBase(("pay",), base=100))
    release = discreet.anonymize(rows, policy.perturbed_by(*steps), plan=QUICK)
    told = release.to_dict()["perturbation"]
    assert isinstance(told, list)
    assert [entry["verified_on_file"] for entry in told] == [[], ["pay"]]
    assert set((release.to_arrow()["pay"].to_numpy() % 100).tolist()) == {0.0}


def test_dates_move_with_the_person_of_the_policy() -> None:
    days = [f"2024-0{1 + i % 9}-1{i % 5}" for i in range(60)]
    rows = pa.table(
        {
            "who": [i // 3 for i in range(60)],
            "sex": ["f", "m"] * 30,
            "seen": pa.array(days, pa.string()).cast(pa.date32()),
        }
    )
    policy = discreet.Policy.of(
        quasi_identifiers=["sex"], person="who", sensitive=["seen"], profile="research-partner-3"
    )
    release = discreet.anonymize(rows, policy.perturbed_by(DateShift(("seen",), days=100)))
    places = release.links
    moved = (
        release.to_arrow()["seen"].cast(pa.int32()).to_numpy()
        - rows["seen"].cast(pa.int32()).to_numpy()[places]
    )
    for who in range(20):
        assert len(set(moved[places // 3 == who].tolist())) == 1
    assert len(set(moved.tolist())) > 5


def test_a_recipe_repeats_the_steps_with_other_random_numbers(
    release: discreet.Release, tmp_path: Path
) -> None:
    release.save(tmp_path / "open.csv", recipe=tmp_path / "recipe.toml")
    recipe = discreet.Recipe.load(tmp_path / "recipe.toml")
    assert [entry["method"] for entry in recipe.perturb] == ["rank-swap", "additive-noise", "pram"]
    assert "perturbs    rank-swap" in str(recipe)
    again = discreet.apply(
        dataclasses.replace(recipe, unseen="suppress", suppression_limit=1.0), people(), release.before.policy
    )
    assert len(again.to_dict()["perturbation"]) == 3  # type: ignore[arg-type]
    assert again.to_arrow()["pay"].to_pylist() != release.to_arrow()["pay"].to_pylist()


def test_a_policy_file_with_steps_reads_back(policy: discreet.Policy) -> None:
    text = dumps(policy)
    assert "[[perturb]]" in text
    assert loads(text).perturb == STEPS
    assert "perturb" in str(policy)


def test_every_wrong_step_of_a_file_is_told_with_its_line() -> None:
    with pytest.raises(InvalidPolicy) as error:
        loads(
            '[columns.age]\nrole = "quasi-identifier"\n\n[[perturb]]\nmethod = "rank-swap"\ncolumns = ["age"]\n'
            'percent = 0\n\n[[perturb]]\nmethod = "noise"\n'
        )
    assert "line 4" in str(error.value)
    assert "line 9" in str(error.value)
    with pytest.raises(InvalidPolicy, match=r"write \[\[perturb\]\]"):
        loads('[perturb]\nmethod = "rank-swap"')


def test_identifiers_are_not_perturbed() -> None:
    policy = discreet.Policy.of(quasi_identifiers=["age"], direct_identifiers=["pay"])
    with pytest.raises(InvalidPolicy, match="is left out of the release"):
        discreet.anonymize(people(), policy.perturbed_by(AdditiveNoise(("pay",))))


def test_the_command_line(tmp_path: Path, run: Run) -> None:
    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    common = [
        "anonymize",
        tmp_path / "people.csv",
        "-o",
        tmp_path / "open.csv",
        "--qi",
        "age,sex",
        "--sensitive",
        "pay",
        "-q",
    ]
    common += ["--profile", "research-partner-3", "--method", "mondrian"]
    good = run(*common, "--perturb", "additive-noise columns=pay percent=10 low=0", "--perturb-seed", "4")
    assert good.code == 0, good.err
    target = tmp_path / "open.csv"
    assert target.exists()
    target.unlink()
    for step, told in (
        ("additive-noise columns=pay percent=0", "percent of additive-noise must be a number above 0"),
        ("round columns=pays base=10", "did you mean 'pay'"),
        ("round 'columns=pay", "open quote"),
        ("round pay", "is not a parameter"),
    ):
        wrong = run(*common, "--perturb", step)
        assert wrong.code == 2
        assert told in wrong.err
        assert not target.exists()


def test_marks_for_missing_numbers_stay(tmp_path: Path) -> None:
    lines = [f"{20 + i % 30},{'?' if i % 10 == 0 else 1000 + i}" for i in range(120)]
    (tmp_path / "people.csv").write_text("\n".join(["age,pay", *lines]))
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["pay"], profile="research-partner-3")
    release = discreet.anonymize(
        tmp_path / "people.csv", policy.perturbed_by(AdditiveNoise(("pay",), percent=10)), plan=QUICK
    )
    release.save(tmp_path / "open.csv")
    pay = discreet.read(tmp_path / "open.csv").to_arrow()["pay"].to_pylist()
    assert pay.count("?") == 12
    assert all(value == "?" or value.lstrip("-").isdecimal() for value in pay)


def test_an_intruder_is_told_the_method_on_the_command_line(tmp_path: Path, run: Run) -> None:
    rows = people(120).select(["age", "pay"])
    step = RankSwap(("age", "pay"), percent=5)
    released = pa.table(step.changed(rows, Randomness(1)))
    pyarrow.csv.write_csv(rows, tmp_path / "people.csv")
    pyarrow.csv.write_csv(released, tmp_path / "open.csv")
    (tmp_path / "links.csv").write_text(
        "\n".join(["released,original", *(f"{i},{i}" for i in range(1, 121))])
    )
    common = [
        "attack",
        tmp_path / "open.csv",
        "--original",
        tmp_path / "people.csv",
        "--qi",
        "age,pay",
        "--json",
    ]
    done = run(*common, "--perturb", "rank-swap columns=age,pay percent=5", "--links", tmp_path / "links.csv")
    assert done.code == 0, done.err
    rates = {result["attack"]: result["rate"] for result in json.loads(done.out)["attacks"]}
    assert rates["mechanism-linkage"] > 0.5


def test_what_is_swept_and_recommended_is_the_perturbed_table() -> None:
    rows = pa.table({"age": [20 + i % 3 for i in range(60)], "pay": list(range(60))})
    policy = discreet.Policy.of(quasi_identifiers=["age", "pay"], profile="research-partner-3")
    # Every pay is its own until it is rounded: then nothing has to be changed any more.
    coded = dataclasses.replace(policy, perturb=(RoundToBase(("pay",), base=1000),), plan=QUICK)
    swept = discreet.frontier(rows, coded, k=[5])
    assert swept.points[-1].loss == 0
    assert discreet.recommend(rows, coded).recommendations[0].loss == 0


def test_policies_differ_in_their_steps(policy: discreet.Policy) -> None:
    told = str(discreet.diff(policy, dataclasses.replace(policy, perturb=STEPS[:2])))
    assert "perturb.3" in told


@pytest.mark.parametrize(
    "step", [Permutation(("pay",)), RandomSwap(("pay",), percent=100), SyntheticTable(("pay",))]
)
def test_a_missing_mark_that_moves_uncovers_nobody(step: Perturbation) -> None:
    """Where a mark comes to stand, the true number of that row must not reappear."""
    rng = np.random.default_rng(2)
    numbers = [str(each) for each in rng.permutation(1000)[:200]]
    texts = [number if i % 20 else "?" for i, number in enumerate(numbers)]
    rows = discreet.read(pa.table({"age": [30] * 200, "sex": ["f", "m"] * 100, "pay": texts}))
    rows = rows.retype({"pay": "integer"})
    assert rows.column("pay").numeric
    policy = discreet.Policy.of(quasi_identifiers=["age", "sex"], sensitive=["pay"]).perturbed_by(step)
    changed = perturbed(rows, policy, seed=3, say=lambda _: None).table.to_arrow()
    shown = changed["pay"].to_pylist()
    assert set(shown) <= {*texts, "?"}
    assert abs(shown.count("?") - 10) < 9
    assert sum(new == old for new, old in zip(shown, texts, strict=True) if old != "?") < 10
