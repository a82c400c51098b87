"""Everything that is printed as JSON has a published schema; that it fits is checked wherever a test prints some."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import click
import jsonschema
import pytest

from discreet.cli import cli
from discreet.reports.schema import PRINTED_BY, SCHEMAS
from helpers.published import assert_published

Run = Callable[..., Any]


def commands(group: click.Group, path: str = "discreet") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def test_every_command_with_json_has_a_schema() -> None:
    printing = {
        path
        for path, command in commands(cli)
        if any("--json" in parameter.opts for parameter in command.params)
    }
    assert len(printing) > 20
    named = {told.strip() for each in PRINTED_BY.values() for told in each.split(",")}
    assert {path for path in printing if not named & {path, path.rpartition(" ")[0]}} == set()


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["properties"]["schema"] == {"const": f"discreet-{name}-1"}


def test_what_no_schema_describes_is_noticed(run: Run) -> None:
    """The check that all tests of the command line go through can fail."""
    document = json.loads(run("methods", "--json").out)
    assert_published(document)
    more = copy.deepcopy(document)
    more["families"][0]["surprise"] = 1
    less = copy.deepcopy(document)
    del less["families"][0]["effect"]
    for wrong in (more, less, {"schema": "discreet-methods-1", "families": "none"}):
        with pytest.raises(AssertionError, match="discreet-methods-1 at"):
            assert_published(wrong)


def test_schemas_are_printed_and_listed(run: Run) -> None:
    assert json.loads(run("schema", "release").out)["title"] == "discreet release"
    assert [line.split()[0] for line in run("schema", "--list").out.splitlines()] == sorted(SCHEMAS)
    refused = run("schema", "relaese")
    assert refused.code == 2
    assert "did you mean 'release'" in refused.err
