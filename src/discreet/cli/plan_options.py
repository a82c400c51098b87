"""The options that say how to anonymise, and the plan that they make."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from discreet.cli.options import add_options, open_with_policy
from discreet.cli.setting_options import given_settings, setting_options
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.policy.file import make_model
from discreet.policy.plan import Plan
from discreet.privacy import PrivacyModel
from discreet.table import Table

REQUIRE = click.option(
    "--require",
    multiple=True,
    help="A further requirement, e.g. 'l-diversity l=3 sensitive=diagnosis'. May be repeated.",
    metavar="MODEL …",
)
plan_options = add_options(setting_options(Plan), [REQUIRE])


def parse_requirement(text: str) -> PrivacyModel:
    """A model from ``l-diversity l=3 sensitive=diagnosis``.

    >>> parse_requirement("k-anonymity k=5").describe()
    'every class has at least 5 persons'
    """
    try:
        model, *rest = shlex.split(text)
    except ValueError:
        raise InvalidParameter(
            "a requirement is empty or has an open quote", remedy="write e.g. 'k-anonymity k=5'"
        ) from None
    entry: dict[str, object] = {"model": model}
    for part in rest:
        name, mark, value = part.partition("=")
        if not mark:
            raise InvalidParameter(f"{part!r} is not a parameter", remedy="write name=value, e.g. k=5")
        try:
            # The name of a column stays a text, also if it is a number.
            entry[name] = value if name == "sensitive" else json.loads(value)
        except ValueError:
            entry[name] = value
    return make_model(entry)


def open_with_plan(
    file: Path, given: dict[str, Any], tell: Callable[[str], None]
) -> tuple[Table, Policy, Plan, list[str]]:
    """The table, its policy with further requirements, its plan, and what had to be assumed."""
    table, policy, assumed = open_with_policy(file, given, tell)
    policy = policy.require(*(parse_requirement(text) for text in given.get("require") or ()))
    plan = dataclasses.replace(policy.plan, **given_settings(Plan, given))
    return table, policy, plan, assumed
