"""Each table is counted once per verb: the engine's calls, told by table, for every verb that reads rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.cli.compare import compare as command
from discreet.engine.sql import SqlEngine
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.release.apply import apply
from discreet.release.compare import compare
from discreet.release.frontier import frontier
from discreet.release.recommend import recommend

PEOPLE = pa.table(
    {
        "name": [f"n{i}" for i in range(60)],
        "age": [20 + i % 12 for i in range(60)],
        "zip": [f"101{i % 5}0" for i in range(60)],
        "dx": list("abc") * 20,
    }
)
POLICY = Policy.of(
    direct_identifiers=["name"],
    quasi_identifiers=["age", "zip"],
    sensitive=["dx"],
    require=[KAnonymity(3)],
    profile="research-partner-3",
)
PLAN = Plan(suppression_limit=0.5)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the engine was asked to count, change or sample rows, by the name of the table if it is a file's."""
    tally: Counter[str] = Counter()

    def counted(verb: str) -> None:
        inner = getattr(SqlEngine, verb)

        def call(self: SqlEngine, table: discreet.Table, *args: Any, **given: Any) -> Any:
            tally[verb] += 1
            tally[f"{verb} {table.source.name}"] += 1
            return inner(self, table, *args, **given)

        monkeypatch.setattr(SqlEngine, verb, call)

    for verb in ("count", "recode", "sample", "query"):
        counted(verb)
    return tally


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """An original and its release."""
    original, release = tmp_path / "original.csv", tmp_path / "release.csv"
    pyarrow.csv.write_csv(PEOPLE, original)
    discreet.anonymize(original, POLICY, plan=PLAN).save(release)
    return original, release


def test_audit(calls: Counter[str]) -> None:
    discreet.audit(PEOPLE, POLICY)
    # Texts are sampled once, to see whether they name people.
    assert (calls["count"], calls["recode"], calls["sample"]) == (1, 0, 1)


def test_rules_recognise_columns_once(calls: Counter[str]) -> None:
    verdict = discreet.check(PEOPLE, POLICY.replace(profile="hipaa-safe-harbor"))
    assert {"hipaa-identifiers", "hipaa-zip3", "hipaa-ages"} <= {
        criterion.id for criterion in verdict.criteria
    }
    assert (calls["count"], calls["sample"]) == (1, 1)


@pytest.mark.parametrize("dropped", [(), ("zip",)])
def test_anonymize_counts_the_original_and_the_release(calls: Counter[str], dropped: tuple[str, ...]) -> None:
    release = discreet.anonymize(PEOPLE, POLICY, plan=Plan(suppression_limit=0.5, drop_attributes=dropped))
    assert (calls["count"], calls["recode"]) == (2, 1)
    assert release.before.classes.names == ("age", "zip")


def test_verifying_and_writing_ask_the_engine_for_nothing_more(calls: Counter[str], tmp_path: Path) -> None:
    release = discreet.anonymize(PEOPLE, POLICY, plan=PLAN)
    before = Counter(calls)
    release.save(tmp_path / "out.csv", report=tmp_path / "report.html")
    assert calls == before


def test_apply_counts_the_rows_and_the_release(calls: Counter[str]) -> None:
    recipe = discreet.anonymize(PEOPLE, POLICY, plan=PLAN).recipe
    calls.clear()
    apply(recipe, PEOPLE, POLICY)
    assert (calls["count"], calls["recode"]) == (2, 1)


def test_sweeps_and_advice_count_once(calls: Counter[str]) -> None:
    table = discreet.read(PEOPLE)
    frontier(table, POLICY, plan=PLAN, k=[2, 4])
    recommend(table, POLICY, plan=PLAN)
    assert calls["count"] == 2


def test_attack_counts_both_tables_once(calls: Counter[str], files: tuple[Path, Path]) -> None:
    original, release = files
    calls.clear()
    attacks = discreet.attack(release, POLICY, original=original)
    assert attacks.results
    assert (calls["count original.csv"], calls["count release.csv"], calls["count"]) == (1, 1, 2)


def test_attack_on_a_release_alone(calls: Counter[str], files: tuple[Path, Path]) -> None:
    calls.clear()
    discreet.attack(files[1], POLICY)
    assert (calls["count release.csv"], calls["count"]) == (1, 1)


def test_whoever_knows_less_needs_no_further_count(calls: Counter[str], files: tuple[Path, Path]) -> None:
    original, release = files
    calls.clear()
    discreet.attack(release, POLICY, original=original, known=["age"])
    assert calls["count"] == 2
    discreet.attack(release, POLICY, known=["age"])
    assert calls["count"] == 3


def test_whoever_knows_other_columns_is_counted_anew(calls: Counter[str], files: tuple[Path, Path]) -> None:
    original, release = files
    calls.clear()
    discreet.attack(release, POLICY, original=original, known=["age", "dx"], attacks=["record-linkage"])
    assert (calls["count original.csv"], calls["count release.csv"]) == (2, 2)


def test_compare_counts_both_tables_once(calls: Counter[str], files: tuple[Path, Path]) -> None:
    original, release = files
    calls.clear()
    compare(original, release, POLICY)
    assert (calls["count original.csv"], calls["count release.csv"], calls["count"]) == (1, 1, 2)


@pytest.mark.slow
def test_compare_with_a_report_counts_both_tables_once(
    calls: Counter[str], files: tuple[Path, Path], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    discreet.save_policy(POLICY, policy)
    calls.clear()
    assert (
        command.main(
            [*map(str, files), "--policy", str(policy), "--report", str(tmp_path / "report.html")],
            standalone_mode=False,
        )
        == 0
    )
    assert (calls["count original.csv"], calls["count release.csv"], calls["count"]) == (1, 1, 2)


def test_fewer_attributes_are_told_by_the_full_count_as_by_their_own() -> None:
    table = discreet.read(PEOPLE)
    whole = table.engine.count(table, quasi_identifiers=["age", "zip"], sensitive=["dx"])
    own = table.engine.count(table, quasi_identifiers=["zip"], sensitive=["dx"])
    projected = whole.project(["zip"])
    assert projected.records.tolist() == own.records.tolist()
    assert projected.codes[0].tolist() == own.codes[0].tolist()
    assert projected.attributes[0].labels() == own.attributes[0].labels()
    assert projected.histogram("dx").records.tolist() == own.histogram("dx").records.tolist()
