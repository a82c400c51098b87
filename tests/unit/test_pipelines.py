"""The examples of pipelines without dbt and Dagster: the part of them that is ours. ``make pipelines`` runs the whole."""

from __future__ import annotations

import ast
import os
import runpy
import sys
import tomllib
from pathlib import Path

import duckdb
import pytest
import yaml
from jinja2 import Environment

from helpers.markdown import ROOT, blocks

EXAMPLES = ROOT / "examples" / "pipelines"
DBT, DAGSTER = EXAMPLES / "dbt", EXAMPLES / "dagster"
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


def test_both_examples_are_judged_by_the_same_policy() -> None:
    first, second = (tomllib.loads((folder / "policy.toml").read_text()) for folder in (DBT, DAGSTER))
    assert first == second


def test_the_page_shows_the_files_as_they_are() -> None:
    page = (ROOT / "docs" / "how-to" / "pipelines.md").read_text(encoding="utf-8")
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES.rglob("*.*") if path.suffix != ".duckdb"]
    shown = [block for block in blocks(page) if block.language in ("sql", "yaml", "py")]
    assert len(shown) >= 4
    for block in shown:
        assert any(block.text in text for text in texts), f"line {block.line} shows what no file has"
