"""`discreet ask`: a question about a table, answered with noise and paid for from its budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from discreet.cli import EXIT_NOT_MET
from discreet.cli.budget import LEDGER, refuse_unpayable
from discreet.cli.command import StrictCommand, once
from discreet.cli.options import (
    FILE,
    PATH,
    open_table,
    print_json,
    reading_options,
)
from discreet.cli.progress import progress
from discreet.cli.setting_options import whole_number
from discreet.dp.ask import ask as run_ask
from discreet.dp.certificate import write_statement
from discreet.dp.noise import NAMES
from discreet.dp.terms import MOST_ROWS
from discreet.errors import InvalidParameter
from discreet.files.writing import atomically
from discreet.policy.file import load
from discreet.release.kpi_answers import KpiAnswer, ask_kpis
from discreet.release.write import check_target, write_rows
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_answer, show_kpi_answers

EPSILON = click.option("--epsilon", required=True, help="What it may cost: 0.5, 1/3.", metavar="AMOUNT")
DELTA = click.option(
    "--delta",
    help="With which probability the guarantee may fail, e.g. 1e-6.",
    metavar="AMOUNT",
)
PERSON = click.option("--person", help="Column that says which rows belong to one person.", metavar="COLUMN")
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


@click.command(cls=StrictCommand)
@FILE
@click.argument("question", required=False)
@click.option("--policy", "policy_file", type=PATH, help="The policy whose KPIs --kpi names.")
@click.option(
    "--kpi",
    "kpis",
    multiple=True,
    help="A KPI of the policy, instead of a question. May be repeated.",
    metavar="NAME",
)
@EPSILON
@DELTA
@PERSON
@UNIT
@click.option(
    "--max-groups",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="In so many groups does a person count.",
)
@MAX_ROWS
@BOUNDS
@KEYS
@click.option(
    "--mechanism",
    type=click.Choice(list(NAMES)),
    default="laplace",
    show_default=True,
    help="Which noise counts and sums get.",
)
@click.option(
    "--most-rows",
    type=click.IntRange(1, MOST_ROWS),
    help="With bounded-laplace: so many rows has a group at most, known without the data.",
)
@CONFIDENCE
@LEDGER
@click.option("--output", "-o", type=PATH, help="Also write the answer as a table.")
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def ask(
    file: Path,
    question: str | None,
    policy_file: Path | None,
    kpis: Sequence[str],
    bounds: Sequence[str],
    keys: Sequence[str],
    ledger: Path | None,
    output: Path | None,
    as_json: bool,
    epsilon: str,
    delta: str | None,
    person: str | None,
    unit: Any,
    max_groups: int,
    max_rows: int,
    mechanism: Any,
    most_rows: int | None,
    confidence: float,
    **given: Any,
) -> int:
    """Answer QUESTION about FILE with noise, paid for from the table's budget.

    QUESTION is a part of SQL about the table `data`, e.g. "select sex, count(*) from data where age >= 18 group by sex".
    With --kpi the key figures of a policy are asked instead, and share the amount; exit code 1 if one cannot be answered.
    """
    if (question is None) == (not kpis) or (policy_file is None) != (not kpis):
        raise click.UsageError("ask a QUESTION, or name a --policy and at least one --kpi of it")
    if output is not None and len(kpis) > 1:
        raise click.UsageError("--output takes one answer: ask for the KPIs one by one")
    if output is not None:
        check_target(output)
    paid = refuse_unpayable(output, file, ledger)
    terms: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "person": person,
        "unit": unit,
        "max_groups": max_groups,
        "max_rows": max_rows,
        "bounds": once(map(bounds_option, bounds), "bounds"),
        "keys": once(map(keys_option, keys), "keys"),
        "mechanism": mechanism,
        "most_rows": most_rows,
        "confidence": confidence,
        "ledger": paid,
    }
    with progress(quiet=as_json) as tell:
        tell(f"reading {file.name}")
        if question is not None:
            answers: tuple[KpiAnswer, ...] = (
                KpiAnswer("", run_ask(open_table(file, given), question, **terms)),
            )
        else:
            policy = load(policy_file or "")
            answers = ask_kpis(open_table(file, given, policy), policy, kpis, **terms)
        told = answers[0].answer
        if output is not None and told is not None and told.payment is not None:
            atomically(output, lambda part: write_rows(told.to_arrow(), part))
            write_statement(output, told.guarantee, told.payment)
    if as_json and told is not None and question is not None:
        print_json(told.to_dict())
    elif as_json:
        print_json({"schema": "discreet-kpi-answers-1", "kpis": [answer.to_dict() for answer in answers]})
    else:
        Terminal().print(show_kpi_answers(answers) if kpis else show_answer(*filter(None, [told])))
    return EXIT_NOT_MET if any(answer.answer is None for answer in answers) else 0


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
