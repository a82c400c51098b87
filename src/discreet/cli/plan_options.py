"""The options that say how to anonymise, and the plan that they make."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from discreet.cli.command import once
from discreet.cli.options import add_options, open_with_policy
from discreet.cli.setting_options import given_settings, setting_options, split
from discreet.errors import InvalidParameter
from discreet.perturb.base import Perturbation
from discreet.perturb.registry import make_step
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
PERTURB = click.option(
    "--perturb",
    multiple=True,
    help="A further step that changes values first, e.g. 'rank-swap columns=age,hours percent=5'. May be repeated.",
    metavar="METHOD …",
)
PERTURBED = click.option(
    "--perturb",
    multiple=True,
    help="A step by which RELEASE was perturbed, besides those of the policy. May be repeated.",
    metavar="METHOD …",
)
PERTURB_SEED = click.option(
    "--perturb-seed",
    type=click.IntRange(min=0),
    help="Makes the steps repeatable, and for whoever knows it undoable: keep it secret.",
)
plan_options = add_options(setting_options(Plan), [REQUIRE, PERTURB])
LISTED = ("columns", "within", "beside", "given", "known")
"""Parameters of steps that are lists of columns."""


def parse_requirement(text: str) -> PrivacyModel:
    """A model from ``l-diversity l=3 sensitive=diagnosis``.

    >>> parse_requirement("k-anonymity k=5").describe()
    'every class has at least 5 persons'
    """
    return make_model(_entry(text, "model", "a requirement", "k-anonymity k=5"))


def parse_step(text: str) -> Perturbation:
    """A step from ``rank-swap columns=age,hours percent=5``.

    >>> parse_step("rank-swap columns=age,hours percent=5")
    RankSwap(columns=('age', 'hours'), percent=5)
    """
    return make_step(_entry(text, "method", "a step", "rank-swap columns=age percent=5"))


def _entry(text: str, key: str, what: str, example: str) -> dict[str, object]:
    """An entry of a policy file from one line: its name, and parameters as name=value."""
    try:
        named, *rest = shlex.split(text)
    except ValueError:
        raise InvalidParameter(
            f"{what} is empty or has an open quote", remedy=f"write e.g. '{example}'"
        ) from None
    return once([(key, named), *(_parameter(part, example) for part in rest)], "a value")


def _parameter(part: str, example: str) -> tuple[str, object]:
    """A parameter and its value, from name=value."""
    name, mark, value = part.partition("=")
    if not mark:
        raise InvalidParameter(f"{part!r} is not a parameter", remedy=f"write name=value, e.g. {example}")
    if name in LISTED:
        return name, tuple(split(value) or ())
    if name in ("sensitive", "person"):
        # The name of a column stays a text, also if it is a number.
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def with_steps(policy: Policy, given: Mapping[str, Any]) -> Policy:
    """The policy with the further steps of perturbation that the command line says."""
    return policy.perturbed_by(*(parse_step(text) for text in given.get("perturb") or ()))


def open_with_plan(
    file: Path, given: dict[str, Any], tell: Callable[[str], None]
) -> tuple[Table, Policy, Plan, list[str]]:
    """The table, its policy with further requirements, its plan, and what had to be assumed."""
    table, policy, assumed = open_with_policy(file, given, tell)
    policy = policy.require(*(parse_requirement(text) for text in given.get("require") or ()))
    policy = with_steps(policy, given)
    plan = dataclasses.replace(policy.plan, **given_settings(Plan, given))
    return table, policy, plan, assumed
