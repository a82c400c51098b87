"""The options that say for which guarantee something is paid: the amounts, whose privacy, and what is known without the data."""

from __future__ import annotations

import re
from typing import Any

import click

from discreet.cli.command import once
from discreet.cli.options import PERSON, add_options
from discreet.cli.setting_options import whole_number
from discreet.errors import InvalidParameter

EPSILON = click.option("--epsilon", required=True, help="What it may cost: 0.5, 1/3.", metavar="AMOUNT")
DELTA = click.option(
    "--delta",
    help="With which probability the guarantee may fail, e.g. 1e-6.",
    metavar="AMOUNT",
)
UNIT = click.option(
    "--unit", type=click.Choice(["person", "record"]), help="record: each row is somebody else."
)
MAX_ROWS = click.option(
    "--max-rows",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="So many rows of a person count (in each group).",
)
BOUNDS = click.option(
    "--bounds",
    multiple=True,
    help="Between what a column's values lie, known without the data.",
    metavar="COLUMN=LOW:HIGH",
)
KEYS = click.option(
    "--keys",
    multiple=True,
    help="The values of a column, known without the data.",
    metavar="COLUMN=A,B,…|COLUMN=1:9",
)
CONFIDENCE = click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, max_open=True),
    default=0.95,
    show_default=True,
    help="How often the interval holds the true figure.",
)
amount_options = add_options([EPSILON, DELTA])
privacy_options = add_options([PERSON, UNIT, MAX_ROWS, BOUNDS, KEYS])


def terms_of(given: dict[str, Any]) -> dict[str, Any]:
    """Take the terms of a guarantee out of what a command was given, as the verbs take them."""
    terms = {name: given.pop(name) for name in ("epsilon", "delta", "person", "unit", "max_rows")}
    for name, read in (("bounds", bounds_option), ("keys", keys_option)):
        terms[name] = once(map(read, given.pop(name)), name)
    return terms


def bounds_option(text: str) -> tuple[str, tuple[float, float]]:
    """A column and its bounds.

    >>> bounds_option("age=0:120")
    ('age', (0.0, 120.0))
    """
    name, equals, values = text.rpartition("=")
    low, colon, high = values.partition(":")
    try:
        limits = float(low), float(high)
    except ValueError:
        limits = None
    if not equals or not colon or limits is None:
        raise InvalidParameter(
            "bounds cannot be read", remedy="write --bounds COLUMN=LOW:HIGH, e.g. age=0:120"
        )
    return name, limits


def keys_option(text: str) -> tuple[str, list[object]]:
    """A column and its values; two whole numbers with a colon are all from the one to the other.

    >>> keys_option("year=2020:2022"), keys_option("sex=f,m")
    (('year', [2020, 2021, 2022]), ('sex', ['f', 'm']))
    """
    name, equals, values = text.partition("=")
    if not equals or not values:
        raise InvalidParameter("keys cannot be read", remedy="write --keys COLUMN=A,B,…, e.g. sex=f,m")
    if re.fullmatch(r"-?\d+:-?\d+", values):
        low, high = map(_end, values.split(":"))
        if low is None or high is None or not 0 <= high - low < 1_000_000:
            raise InvalidParameter(
                "keys reach from the larger to the smaller, or too far", remedy="write 1:9"
            )
        return name, list(range(low, high + 1))
    return name, list(values.split(","))


def _end(text: str) -> int | None:
    number = whole_number(text.removeprefix("-"))
    return -number if number is not None and text.startswith("-") else number
