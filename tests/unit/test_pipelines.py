"""The examples of pipelines without dbt, Dagster and Airflow: what is ours of them. ``make pipelines`` runs the whole."""

from __future__ import annotations

import ast
import os
import runpy
import shlex
import shutil
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest
import yaml
from jinja2 import Environment

from helpers.markdown import ROOT, blocks
from helpers.program import run

EXAMPLES = ROOT / "examples" / "pipelines"
DBT, DAGSTER, AIRFLOW = EXAMPLES / "dbt", EXAMPLES / "dagster", EXAMPLES / "airflow"
SAFE = "age_from,sex,district,diagnosis\n" + "20,f,North,flu\n20,f,North,cold\n20,f,North,gout\n" * 8
OPEN = "age_from,sex,district,diagnosis\n" + "".join(f"{20 + i},f,North,flu\n" for i in range(24))


def rendered(template: str, **values: object) -> str:
    """What dbt makes of a template, as far as these need it."""
    plain = template.replace("{% test may_be_released(model, policy) %}", "").replace("{% endtest %}", "")
    return Environment(autoescape=False).from_string(plain).render(config=lambda **_: "", **values)


@pytest.mark.parametrize(("years", "obstacles"), [(20, 0), (1, 2)])
def test_the_test_of_dbt_gives_a_row_for_each_obstacle(years: int, obstacles: int) -> None:
    (model,) = yaml.safe_load((DBT / "models" / "schema.yml").read_text())["models"]
    policy = DBT / model["data_tests"][0]["may_be_released"]["arguments"]["policy"]
    assert yaml.safe_load((DBT / "dbt_project.yml").read_text())["vars"] == {"years": 20}
    select = rendered((DBT / "models" / "open_data.sql").read_text(), var={"years": years}.__getitem__)
    test = rendered(
        (DBT / "macros" / "may_be_released.sql").read_text(), model="main.open_data", policy=policy
    )
    with duckdb.connect() as connection:
        runpy.run_path(str(DBT / "discreet_function.py"))["register"](connection)
        connection.execute(f"create table open_data as {select}")
        rows = [row for (row,) in connection.execute(test).fetchall()]
    # 4,800 people: 60 ages, 2 sexes and 4 districts are 480 classes of 10; 3 bands of age, 24 of 200.
    assert len(rows) == obstacles
    assert not rows or rows[0] == "every class has at least 11 persons; found 10 records"


def test_a_model_without_a_column_of_the_policy_is_an_error() -> None:
    with duckdb.connect() as connection:
        runpy.run_path(str(DBT / "discreet_function.py"))["register"](connection)
        connection.execute("create table open_data as select 20 as age_from")
        with pytest.raises(duckdb.Error, match="sex"):
            connection.execute(
                "select discreet_obstacles('open_data', ?)", [str(DBT / "policy.toml")]
            ).fetchall()


def test_dbt_finds_the_plugin() -> None:
    profile = yaml.safe_load((DBT / "profiles.yml").read_text())["open_data"]["outputs"]["dev"]
    (plugin,) = profile["plugins"]
    tree = ast.parse((DBT / f"{plugin['module']}.py").read_text())
    assert [part.name for part in tree.body if isinstance(part, ast.ClassDef)] == ["Plugin"]


@pytest.fixture
def program(tmp_path: Path) -> str:
    """The command, as an installation has it."""
    script = tmp_path / "discreet"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m discreet "$@"\n')
    script.chmod(0o755)
    return os.fspath(script)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "passes"), [(SAFE, True), (OPEN, False)])
def test_the_verdict_of_the_command(text: str, passes: bool, program: str, tmp_path: Path) -> None:
    (tmp_path / "open_data.csv").write_text(text)
    verdict = runpy.run_path(str(DAGSTER / "gate.py"))["verdict"]
    told = verdict(tmp_path / "open_data.csv", DAGSTER / "policy.toml", program)
    assert told["passes"] is passes
    assert bool(told["obstacles"]) is not passes
    assert all({"description", "found", "remedy"} <= set(obstacle) for obstacle in told["obstacles"])


def test_what_cannot_be_checked_does_not_pass(program: str, tmp_path: Path) -> None:
    verdict = runpy.run_path(str(DAGSTER / "gate.py"))["verdict"]
    with pytest.raises(RuntimeError, match=r"not checked \(exit code 2\).*absent\.csv"):
        verdict(tmp_path / "absent.csv", DAGSTER / "policy.toml", program)


def test_all_examples_are_judged_by_the_same_policy() -> None:
    first, *others = (
        tomllib.loads((folder / "policy.toml").read_text()) for folder in (DBT, DAGSTER, AIRFLOW)
    )
    assert all(first == other for other in others)


@dataclass
class Step:
    """A task of Airflow: what it does, and those that come after it."""

    does: Any
    after: list[Step] = field(default_factory=list)

    def __rshift__(self, other: Step) -> Step:
        self.after.append(other)
        return other


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What the tasks of Airflow's example do, one after the other, read by a stand-in for Airflow."""
    made: list[Step] = []

    def step(does: Any) -> Step:
        made.append(Step(does))
        return made[-1]

    stand_ins: dict[str, dict[str, Any]] = {
        "airflow.sdk": {
            "Param": lambda default, **_: default,
            "dag": lambda **_: lambda function: function,
            "task": lambda function: lambda: step(function),
        },
        "airflow.providers.standard.operators.bash": {
            "BashOperator": lambda task_id, bash_command: step(bash_command),
        },
    }
    for name, names in stand_ins.items():
        module = ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
    for file in AIRFLOW.iterdir():
        shutil.copy(file, tmp_path)
    runpy.run_path(str(tmp_path / "open_data.py"))
    (now,) = (one for one in made if all(one not in other.after for other in made))
    order = [now.does]
    while now.after:
        (now,) = now.after
        order.append(now.does)
    assert len(order) == len(made), "a task waits for nothing"
    return order


@pytest.mark.parametrize(("years", "code"), [(20, 0), (1, 1)])
def test_airflow_publishes_after_the_gate(years: int, code: int, steps: list[Any], tmp_path: Path) -> None:
    make, command, publish = steps
    make(params={"years": years})
    name, *arguments = shlex.split(command)
    assert name == "discreet"
    assert run(arguments, tmp_path)[0] == code
    assert not (tmp_path / "published.csv").exists()
    publish()
    assert (tmp_path / "published.csv").read_text().count("\n") == 4801


def test_the_page_shows_the_files_as_they_are() -> None:
    page = (ROOT / "docs" / "how-to" / "pipelines.md").read_text(encoding="utf-8")
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES.rglob("*.*") if path.suffix != ".duckdb"]
    shown = [block for block in blocks(page) if block.language in ("sql", "yaml", "py")]
    assert len(shown) >= 4
    for block in shown:
        assert any(block.text in text for text in texts), f"line {block.line} shows what no file has"
