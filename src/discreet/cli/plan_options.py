"""The options that say how to anonymise, and the plan that they make."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from discreet.cli.options import Command, add_options, open_with_policy, split
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.policy.file import make_model
from discreet.policy.plan import METHODS, Numbers, Plan
from discreet.privacy import PrivacyModel
from discreet.table import Table

PLAN = [
    click.option("--method", type=click.Choice(METHODS), help="How to search (auto if not given)."),
    click.option("--objective", help="What to lose least of: loss, ncp, precision, discernibility … (loss)."),
    click.option(
        "--suppression",
        type=click.FloatRange(0, 1),
        help="Largest share of records that may be suppressed (0.2).",
    ),
    click.option("--keep", help="Quasi-identifiers that must stay as they are.", metavar="A,B,…"),
    click.option("--weights", help="How much attributes matter, e.g. age=2,sex=0.5.", metavar="A=W,…"),
    click.option(
        "--suppressed",
        type=click.Choice(["drop", "star"]),
        help="Leave suppressed records out, or show them with * (drop).",
    ),
    click.option(
        "--suppressed-numbers",
        type=click.Choice(get_args(Numbers)),
        help="What numbers of suppressed records show in place of *: a statistic of those released.",
    ),
    click.option(
        "--person-ids",
        type=click.Choice(["pseudonymise", "drop"]),
        help="Replace person ids by keyed hashes, or leave them out (pseudonymise).",
    ),
    click.option(
        "--seconds", type=click.FloatRange(0, min_open=True), help="Time limit of searches that can stop."
    ),
    click.option(
        "--sample", type=click.FloatRange(0, 1, min_open=True), help="Draw this share of the rows first (1)."
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Which rows are drawn (1)."),
    click.option(
        "--suppress-values",
        multiple=True,
        help="A value that becomes * everywhere, e.g. 'town=Little Hope'. May be repeated.",
        metavar="A=VALUE",
    ),
    click.option(
        "--suppress-rare",
        help="Values of fewer records become *, e.g. town=20,job=5.",
        metavar="A=N,…",
    ),
    click.option("--suppress-attributes", help="Show these only as *.", metavar="A,B,…"),
    click.option("--drop-attributes", help="Quasi-identifiers to leave out.", metavar="A,B,…"),
    click.option(
        "--require",
        multiple=True,
        help="A further requirement, e.g. 'l-diversity l=3 sensitive=diagnosis'. May be repeated.",
        metavar="MODEL …",
    ),
]


def plan_options(command: Command) -> Command:
    """Add the options that say how to anonymise."""
    return add_options(PLAN)(command)


def make_plan(policy: Policy, given: dict[str, Any]) -> Plan:
    """The policy's plan with what the command line says instead."""
    changed: dict[str, Any] = {}
    for key, option in (
        ("method", "method"),
        ("objective", "objective"),
        ("suppression_limit", "suppression"),
        ("suppressed", "suppressed"),
        ("suppressed_numbers", "suppressed_numbers"),
        ("person", "person_ids"),
        ("seconds", "seconds"),
        ("sample", "sample"),
        ("seed", "seed"),
    ):
        if given.get(option) is not None:
            changed[key] = given[option]
    for key in ("keep", "suppress_attributes", "drop_attributes"):
        if given.get(key) is not None:
            changed[key] = tuple(split(given[key]) or ())
    if given.get("suppress_rare") is not None:
        changed["suppress_rare"] = dict(_rare(part) for part in split(given["suppress_rare"]) or ())
    if given.get("suppress_values"):
        values: dict[str, tuple[str, ...]] = {}
        for text in given["suppress_values"]:
            name, mark, value = text.partition("=")
            if not mark:
                raise InvalidParameter(
                    "a value to suppress has no attribute", remedy="write attribute=value, e.g. town=Rome"
                )
            values[name.strip()] = (*values.get(name.strip(), ()), value)
        changed["suppress_values"] = values
    if given.get("weights") is not None:
        changed["weights"] = dict(_pair(part) for part in split(given["weights"]) or ())
    return dataclasses.replace(policy.plan, **changed)


def _pair(text: str) -> tuple[str, float]:
    name, mark, weight = text.partition("=")
    try:
        value = float(weight)
    except ValueError:
        value = -1.0
    if not mark or value < 0:
        raise InvalidParameter(f"{text!r} is not a weight", remedy="write name=number, e.g. age=2")
    return name.strip(), value


def _rare(text: str) -> tuple[str, int]:
    name, mark, least = text.partition("=")
    if not mark or not least.strip().isdecimal():
        raise InvalidParameter(
            f"{text!r} does not say below how many records a value is rare",
            remedy="write name=number, e.g. town=20",
        )
    return name.strip(), int(least)


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
    return table, policy, make_plan(policy, given), assumed
