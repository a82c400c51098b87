"""The verbs of differential privacy as jobs: ask, tabulate, synthesize; each is paid for from the ledger beside the file."""

from __future__ import annotations

from typing import Any, cast

from discreet.dp.ask import ask as run_ask
from discreet.dp.certificate import write_statement
from discreet.dp.rows import GuaranteedRows
from discreet.dp.synthesize import synthesize as run_synthesize
from discreet.dp.tabulate import tabulate as run_tabulate
from discreet.release.write import write_rows
from discreet.web.api.parameters import AskParameters, GuaranteeParameters
from discreet.web.budgets import ledger_beside
from discreet.web.jobs.parsed_table import open_case
from discreet.web.jobs.worker import RESULT, VIEW, JobProgress, Task


def ask(task: Task, progress: JobProgress) -> None:
    """Answer a question with noise."""
    ledger = ledger_beside(task.source, task.case)
    table, _ = open_case(task, progress)
    given = _given(task)
    answer = run_ask(table, cast(AskParameters, task.parameters).question, **given, ledger=ledger)
    task.write(RESULT, answer.to_dict())


def tabulate(task: Task, progress: JobProgress) -> None:
    """Count tables with noise."""
    ledger = ledger_beside(task.source, task.case)
    table, _ = open_case(task, progress)
    _leave(task, run_tabulate(table, **_given(task), ledger=ledger), "tables.csv")


def synthesize(task: Task, progress: JobProgress) -> None:
    """Draw artificial people."""
    ledger = ledger_beside(task.source, task.case)
    table, _ = open_case(task, progress)
    _leave(task, run_synthesize(table, **_given(task), ledger=ledger), "artificial.csv")


def _given(task: Task) -> dict[str, Any]:
    return cast(GuaranteeParameters, task.parameters).terms()


def _leave(task: Task, made: GuaranteedRows, name: str) -> None:
    """Leave the rows, their statement, and what is guaranteed."""
    write_rows(made.rows, task.out / name)
    write_statement(task.out / name, made.guarantee, made.payment)
    task.write(RESULT, made.to_dict())
    task.write(
        VIEW,
        {"product": name.partition(".")[0], "rows": made.rows.num_rows, "meaning": made.guarantee.meaning},
    )
