"""Settings are declared once: every door reaches each of them, or says why not, and takes the same values."""

from __future__ import annotations

import dataclasses
import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import click
import pyarrow as pa
import pytest

pytest.importorskip("fastapi")

from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.cli.options import read_options, reading_options
from discreet.cli.plan_options import plan_options
from discreet.cli.setting_options import NAMES, given_settings
from discreet.policy import Policy
from discreet.policy.document import UNWRITTEN
from discreet.policy.file import dumps, loads
from discreet.policy.plan import Plan
from discreet.policy.settings import bare, bounds, settings
from discreet.table import Table
from discreet.table.reading import ReadOptions
from discreet.web.api.parameters import PlanParameters, ReadParameters

PLAN: dict[str, Any] = {
    "method": "mondrian",
    "shape": "free",
    "mondrian_mode": "strict",
    "group_size": "fixed",
    "group_value": "median",
    "least_levels": {"town": 1},
    "most_levels": {"town": 2, "job": 3},
    "objective": "classification",
    "suppression_limit": 0.15,
    "suppression_weight": 2.5,
    "weights": {"age": 2.0, "sex": 0.5},
    "keep": ("sex", "city, state"),
    "suppressed": "star",
    "suppressed_numbers": "median",
    "person": "pseudonymise",
    "unexamined": "keep",
    "keep_representation": False,
    "label_length": 30,
    "seconds": 5.0,
    "label": "illness",
    "sample": 0.5,
    "order": "kept",
    "seed": 7,
    "suppress_values": {"town": ("Little Hope", "a=b"), "age": ("101",)},
    "suppress_rare": {"town": 20, "job": 5},
    "suppress_attributes": ("job",),
    "drop_attributes": ("race", "height"),
}
"""A value for every setting of a plan, none of them the default."""
READING: dict[str, Any] = {
    "rows": 10,
    "delimiter": ";",
    "quote": "'",
    "encoding": "cp1252",
    "header": False,
    "header_row": 4,
    "skip_rows": 3,
    "skip_last": 2,
    "decimal": ",",
    "sheet": "people",
    "missing": ("?", "n, a"),
    "names": ("age", "sex"),
}
"""The same for reading."""
PLAN_ARGUMENTS: dict[str, list[str]] = {
    "weights": ["--weights", "age=2,sex=0.5"],
    "keep": ["--keep", 'sex,"city, state"'],
    "suppress_values": [
        *("--suppress-values", "town=Little Hope"),
        *("--suppress-values", "town=a=b"),
        *("--suppress-values", "age=101"),
    ],
    "least_levels": ["--least-levels", "town=1"],
    "most_levels": ["--most-levels", "town=2,job=3"],
    "suppress_rare": ["--suppress-rare", "town=20,job=5"],
    "suppress_attributes": ["--suppress-attributes", "job"],
    "drop_attributes": ["--drop-attributes", "race, height"],
    "suppression_limit": ["--suppression", "0.15"],
    "person": ["--person-ids", "pseudonymise"],
    "keep_representation": ["--no-keep-representation"],
}
"""Settings that the command line writes in a way of its own."""
READING_ARGUMENTS: dict[str, list[str]] = {
    "header": ["--no-header"],
    "missing": ["--missing", "?", "--missing", "n, a"],
    "names": ["--names", "age,sex"],
}
NO_SETTINGS = {"expected"}
"""Fields that follow from the policy, which nobody writes down."""
TAKING_A_PLAN = ("anonymize", "recommend", "compare-methods", "frontier")
TAKING_A_FILE = (*TAKING_A_PLAN, "apply", "audit", "attack", "check", "compare", "report", "suggest")


def written(values: dict[str, Any]) -> dict[str, Any]:
    """Values as JSON and TOML hold them."""
    plain: dict[str, Any] = json.loads(json.dumps(values))
    return plain


def told(options: Any, arguments: list[str]) -> dict[str, Any]:
    """What a command with these options is given."""
    heard: dict[str, Any] = {}

    @click.command()
    @options
    def command(**given: Any) -> None:
        heard.update(given)

    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return heard


def arguments(values: dict[str, Any], own: dict[str, list[str]]) -> list[str]:
    usual = {name: [f"--{name.replace('_', '-')}", str(value)] for name, value in values.items()}
    return [argument for name in values for argument in {**usual, **own}[name]]


def toml(section: str, values: dict[str, Any]) -> str:
    """The section of a policy file; JSON's texts, numbers and lists are TOML's, too."""

    def item(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(key)} = {item(inner)}" for key, inner in value.items()) + "}"
        return json.dumps(value)

    return f"[{section}]\n" + "".join(f"{name} = {item(value)}\n" for name, value in written(values).items())


def test_the_values_of_these_tests_are_all_others_than_the_defaults() -> None:
    for declared, values in ((Plan, PLAN), (ReadOptions, READING)):
        assert set(values) == {field.name for field in fields(declared)} - NO_SETTINGS, (
            "give the new setting a value here"
        )
        assert [name for name in values if values[name] == getattr(declared(), name)] == []


# ── every setting is reachable ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("declared", [Plan, ReadOptions])
def test_a_setting_has_a_help(declared: type) -> None:
    assert [name for name, setting in settings(declared).items() if not setting.description] == []


def options_of(command: str) -> set[str]:
    known = cli.get_command(click.Context(cli), command)
    assert known is not None
    return {str(option.name) for option in known.params}


@pytest.mark.parametrize("command", TAKING_A_PLAN)
def test_a_command_takes_every_setting_of_a_plan(command: str) -> None:
    assert {NAMES.get(name, name) for name in settings(Plan)} - options_of(command) == set()


@pytest.mark.parametrize("command", TAKING_A_FILE)
def test_a_command_takes_every_option_of_reading(command: str) -> None:
    assert set(settings(ReadOptions)) - options_of(command) == set()


def test_rest_takes_every_setting_but_those_that_no_policy_has() -> None:
    assert set(settings(Plan)) - set(PlanParameters.model_fields) == set()
    assert set(settings(ReadOptions)) - set(ReadParameters.model_fields) == set(UNWRITTEN)


def test_the_policy_file_knows_every_setting_but_those_that_are_excluded_with_a_reason() -> None:
    for declared, section, values in ((Plan, "anonymize", PLAN), (ReadOptions, "read", READING)):
        for name in set(settings(declared)) - set(UNWRITTEN):
            loads(toml(section, {name: values[name]}))
    for name, reason in UNWRITTEN.items():
        assert reason
        with pytest.raises(discreet.DiscreetError, match=f"unknown setting 'read.{name}'"):
            loads(toml("read", {name: READING[name]}))


def test_python_takes_every_option_of_reading() -> None:
    parameters = inspect.signature(discreet.read).parameters
    usual = {name: parameters[name].default for name in settings(ReadOptions)}
    assert usual == {name: getattr(ReadOptions(), name) for name in usual}
    assert set(parameters) - set(usual) == {"source", "engine", *NO_SETTINGS}


# ── and says the same everywhere ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", [*PLAN, "all"])
def test_a_plan_is_the_same_by_every_door(name: str) -> None:
    values = PLAN if name == "all" else {name: PLAN[name]}
    plan = Plan(**values)
    by_file = loads(toml("anonymize", values)).plan
    by_options = Plan(**given_settings(Plan, told(plan_options, arguments(values, PLAN_ARGUMENTS))))
    by_rest = PlanParameters.checked(written(values)).plan(Plan())
    assert by_file == by_options == by_rest == plan
    assert plan != Plan()
    assert loads(dumps(dataclasses.replace(Policy(), plan=plan))).plan == plan


@pytest.mark.parametrize("name", [*READING, "all"])
def test_a_file_is_read_the_same_by_every_door(name: str) -> None:
    values = READING if name == "all" else {name: READING[name]}
    by_options = read_options(told(reading_options, arguments(values, READING_ARGUMENTS)))
    assert by_options == ReadOptions(**values)
    kept = {key: value for key, value in values.items() if key not in UNWRITTEN}
    read = loads(toml("read", kept)).read
    assert read == ReadParameters.checked(written(kept)).options() == ReadOptions(**kept).given()
    assert loads(dumps(Policy(read=read))).read == read


def test_python_reads_by_the_options_that_it_was_given() -> None:
    engine = Recorder()
    discreet.read("people.csv", engine=engine, **READING)  # type: ignore[arg-type]
    assert engine.options == ReadOptions(**READING)


class Recorder:
    """An engine that remembers how it was told to read."""

    def read_file(self, path: Path, options: ReadOptions) -> Table:
        self.options = options
        return discreet.read(pa.table({"age": [30]}))


LIMITED = [(name, bounds(setting)) for name, setting in settings(Plan).items() if bounds(setting)]


@pytest.mark.parametrize(("name", "limits"), LIMITED, ids=[name for name, _ in LIMITED])
def test_a_limit_is_the_same_by_every_door(name: str, limits: dict[str, Any]) -> None:
    beyond = [limits["min"] if limits.get("min_open") else limits["min"] - 1]
    beyond += [limits["max"] + 1] if "max" in limits else []
    for value in beyond:
        with pytest.raises(discreet.DiscreetError, match=name):
            loads(toml("anonymize", {name: value}))
        with pytest.raises(discreet.DiscreetError, match=name):
            PlanParameters.checked({name: value})
        flag = f"--{NAMES.get(name, name).replace('_', '-')}"
        with pytest.raises(AssertionError, match="not in the range"):
            told(plan_options, [flag, str(value)])


def test_a_choice_is_the_same_by_every_door() -> None:
    chosen = {name: get_args(bare(s.annotation)) for name, s in settings(Plan).items() if "Literal" in str(s)}
    assert set(chosen) == {
        "method",
        "shape",
        "mondrian_mode",
        "group_size",
        "group_value",
        "suppressed",
        "suppressed_numbers",
        "person",
        "unexamined",
        "order",
    }
    for name, choices in chosen.items():
        flag = f"--{NAMES.get(name, name).replace('_', '-')}"
        for value in choices:
            by_file = loads(toml("anonymize", {name: value})).plan
            assert by_file == PlanParameters.checked({name: value}).plan(Plan())
            assert by_file == Plan(**given_settings(Plan, told(plan_options, [flag, value])))
        with pytest.raises(discreet.DiscreetError, match=name):
            loads(toml("anonymize", {name: "nothing"}))
        with pytest.raises(discreet.DiscreetError, match=name):
            PlanParameters.checked({name: "nothing"})
        with pytest.raises(AssertionError, match="is not one of"):
            told(plan_options, [flag, "nothing"])
