"""`discreet ask`: a question about a table, answered with noise and paid for from its budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from discreet.cli import EXIT_NOT_MET
from discreet.cli.budget import LEDGER, refuse_unpayable
from discreet.cli.command import StrictCommand
from discreet.cli.guarantee_options import CONFIDENCE, amount_options, privacy_options, terms_of
from discreet.cli.options import (
    FILE,
    PATH,
    open_table,
    print_json,
    reading_options,
)
from discreet.cli.progress import progress
from discreet.dp.ask import ask as run_ask
from discreet.dp.certificate import write_statement
from discreet.dp.noise import NAMES
from discreet.dp.terms import MOST_ROWS
from discreet.files.writing import atomically
from discreet.policy.file import load
from discreet.release.kpi_answers import KpiAnswer, ask_kpis
from discreet.release.write import check_target, write_rows
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_answer, show_kpi_answers


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
@amount_options
@privacy_options
@click.option(
    "--max-groups",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="In so many groups does a person count.",
)
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
    ledger: Path | None,
    output: Path | None,
    as_json: bool,
    max_groups: int,
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
    terms = {
        **terms_of(given),
        "max_groups": max_groups,
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
