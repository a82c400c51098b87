"""The gate in pipelines: project files, several tables, results for other programs, standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from discreet.errors import InvalidPolicy, UnreadableInput
from discreet.policy.project import Project
from helpers.markdown import ROOT
from helpers.program import run

SAFE = "age,ill\n" + "31,flu\n31,cold\n31,gout\n" * 4
OPEN = "age,ill\n" + "".join(f"{20 + i},flu\n" for i in range(12))
POLICY = """
profile = "research-partner-3"
unknown = "fail"
[columns.age]
role = "quasi-identifier"
[columns.ill]
role = "insensitive"
[[require]]
model = "k-anonymity"
k = 3
"""
pytest_plugins = ("pytester",)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a table that may go and one that may not."""
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "safe.csv").write_text(SAFE)
    (tmp_path / "release" / "open.csv").write_text(OPEN)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def project(folder: Path, pattern: str = "release/*.csv", more: str = "") -> None:
    (folder / "discreet.toml").write_text(f'[[table]]\npath = "{pattern}"\npolicy = "policy.toml"\n{more}')


def tables_of(folder: Path) -> list[str]:
    found = Project.find(folder)
    assert found is not None
    return [table.path.name for table in found.tables()]


def test_one_command_checks_every_table_of_a_project(repository: Path) -> None:
    project(repository)
    inside = repository / "deep" / "down"
    inside.mkdir(parents=True)
    code, printed, told = run(
        ["check", "--junit", "junit.xml", "--sarif", "out.sarif"], inside, GITHUB_ACTIONS="true"
    )
    assert code == 1, told
    assert "../../release/open.csv" in printed
    assert "::error file=../../release/open.csv,title=k-anonymity::" in printed
    assert "safe.csv,title" not in printed
    suites = ET.parse(inside / "junit.xml").getroot()
    failures = {suite.get("name"): suite.get("failures") for suite in suites}
    assert failures["../../release/safe.csv"] == "0"
    assert int(failures["../../release/open.csv"] or 0) >= 1
    assert all(len(suite) == int(suite.get("tests") or 0) for suite in suites)
    log = json.loads((inside / "out.sarif").read_text())
    assert log["version"] == "2.1.0"
    (analysis,) = log["runs"]
    rules = {rule["id"] for rule in analysis["tool"]["driver"]["rules"]}
    places = {
        finding["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for finding in analysis["results"]
    }
    assert {finding["ruleId"] for finding in analysis["results"]} == rules
    assert places == {"../../release/open.csv"}


def test_a_table_that_cannot_be_read_stops_the_pipeline_and_the_others_are_told(repository: Path) -> None:
    (repository / "release" / "ruined.csv").write_text("")
    project(repository)
    code, printed, _ = run(["check", "--json", "--junit", "junit.xml"], repository)
    assert code == 2
    document = json.loads(printed)
    assert document["schema"] == "discreet-checks-1"
    by_name = {table["table"]: table for table in document["tables"]}
    assert by_name["release/ruined.csv"]["error"]["code"] == "empty-table"
    assert by_name["release/safe.csv"]["verdict"]["passes"] is True
    assert by_name["release/open.csv"]["verdict"]["passes"] is False
    assert ET.parse(repository / "junit.xml").getroot().find(".//error") is not None


def test_a_file_has_the_policy_that_the_project_gives_it(repository: Path) -> None:
    project(repository)
    assert run(["check", "release/safe.csv", "-q"], repository)[0] == 0
    assert run(["check", "release/open.csv", "-q"], repository)[0] == 1
    (repository / "other.csv").write_text(SAFE)
    code, _, told = run(["check", "release/safe.csv", "other.csv"], repository)
    assert code == 2
    assert "--policy" in told


def test_pyproject_may_hold_the_project(repository: Path) -> None:
    (repository / "pyproject.toml").write_text(
        '[[tool.discreet.table]]\npath = "release/safe.csv"\npolicy = "policy.toml"\n'
    )
    assert run(["check", "-q"], repository)[0] == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[table]]\npath = "none/*.csv"\npolicy = "policy.toml"', "fits no file"),
        ('[[table]]\npath = "release/safe.csv"', "policy"),
        ('[[tabel]]\npath = "release/safe.csv"', "unknown setting"),
        ("table = 5", "discreet.toml, line 1"),
        ("[[table", "not valid TOML"),
        ("", "table"),
    ],
)
def test_a_project_file_that_is_wrong_says_where(repository: Path, text: str, problem: str) -> None:
    (repository / "discreet.toml").write_text(text)
    with pytest.raises((InvalidPolicy, UnreadableInput), match=problem):
        tables_of(repository)


def test_a_pattern_that_may_fit_nothing_says_so(repository: Path) -> None:
    project(repository, "none/*.csv", "optional = true\n")
    assert tables_of(repository) == []


def test_brackets_in_a_name_are_no_pattern(repository: Path) -> None:
    (repository / "people[1].csv").write_text(SAFE)
    (repository / "people1.csv").write_text(OPEN)
    project(repository, "people[1].csv")
    assert tables_of(repository) == ["people[1].csv"]


def test_without_file_and_project_the_command_says_what_to_do(tmp_path: Path) -> None:
    code, _, told = run(["check"], tmp_path)
    assert code == 2
    assert "discreet.toml" in told


@pytest.mark.slow
def test_tables_and_releases_pass_through_pipes(repository: Path) -> None:
    asked = ["--policy", "policy.toml"]
    code, released, told = run(["anonymize", "-", "-o", "-", *asked], repository, OPEN)
    assert code == 0, told
    assert released.startswith('"age","ill"\n')
    assert run(["check", "-", *asked, "-q"], repository, released)[0] == 0
    assert run(["check", "-", *asked, "-q"], repository, OPEN)[0] == 1
    assert run(["check", "release/safe.csv", "--policy", "-", "-q"], repository, POLICY)[0] == 0
    code, _, told = run(["check", "-", "--policy", "-"], repository, OPEN)
    assert code == 2
    assert "once only" in told
    code, _, told = run(["anonymize", "-", "-o", "-", "--json", *asked], repository, OPEN)
    assert code == 2
    assert list(repository.glob("standard*")) == []


def test_nothing_is_handed_on_where_the_goal_cannot_be_reached(repository: Path) -> None:
    asked = POLICY.replace("k = 3", "k = 30")
    (repository / "policy.toml").write_text(asked)
    code, printed, _ = run(["anonymize", "-", "-o", "-", "-p", "policy.toml"], repository, OPEN)
    assert code == 1
    assert printed == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str, tmp_path: Path) -> None:
    assert "_DISCREET_COMPLETE" in run(["completion", shell], tmp_path)[1]


@pytest.mark.slow
def test_the_gate_in_tests(pytester: pytest.Pytester, repository: Path) -> None:
    pytester.makepyfile(
        f"""
        def test_safe(discreet):
            assert discreet.check({str(repository / "release" / "safe.csv")!r}, {str(repository / "policy.toml")!r}).passes

        def test_open(discreet):
            discreet.check({str(repository / "release" / "open.csv")!r}, {str(repository / "policy.toml")!r})
        """
    )
    # In a process of its own, as an installation finds it.
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*may not be released:*", "*every class has at least 3 persons*"])


@pytest.mark.slow
def test_the_action_calls_the_script_that_is_tested(repository: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert {"name", "description", "inputs", "runs"} <= set(action)
    assert action["runs"]["using"] == "composite"
    assert all({"shell", "run"} <= set(step) for step in action["runs"]["steps"])
    assert all("description" in given for given in action["inputs"].values())
    asked = action["runs"]["steps"][-1]
    assert asked["run"].endswith('/tools/gate.sh"')
    script = (ROOT / "tools" / "gate.sh").read_text()
    assert all(f"${{{name}:-" in script for name in asked["env"])
    project(repository, "release/safe.csv")
    bin_folder = repository / "bin"
    bin_folder.mkdir()
    (bin_folder / "discreet").write_text(f'#!/bin/sh\nexec {sys.executable} -m discreet "$@"\n')
    (bin_folder / "discreet").chmod(0o755)
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    for files, code in (("", 0), ("release/safe.csv release/open.csv", 1)):
        given = {"PATH": path, "FILES": files, "POLICY": "policy.toml" if files else ""}
        result = subprocess.run(
            ["bash", str(ROOT / "tools" / "gate.sh")],
            cwd=repository,
            env={**os.environ, **given},
            capture_output=True,
            timeout=600,
            check=False,
        )
        assert result.returncode == code, result.stderr
    assert (repository / "discreet-junit.xml").exists()


def test_the_hook_of_pre_commit_stops_what_the_project_does_not_let_go(repository: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "discreet check"
    project(repository)
    # What pre-commit does: the files of the commit that fit, as arguments.
    assert run([*hook["entry"].split()[1:], "release/safe.csv"], repository)[0] == 0
    assert run([*hook["entry"].split()[1:], "release/safe.csv", "release/open.csv"], repository)[0] == 1
