"""The verbs of differential privacy as jobs: ask, ask-kpis, tabulate, synthesize, learn, safepub; each is paid for from the ledger beside the file."""

from __future__ import annotations

import json
from typing import Any, cast

from discreet.dp.answer import Answer
from discreet.dp.ask import ask as run_ask
from discreet.dp.certificate import write_statement
from discreet.dp.learning import learn as run_learn
from discreet.dp.rows import GuaranteedRows
from discreet.dp.safepub import safepub as run_safepub
from discreet.dp.synthesize import synthesize as run_synthesize
from discreet.dp.tabulate import tabulate as run_tabulate
from discreet.files.writing import write_text
from discreet.release.kpi_answers import ask_kpis as run_ask_kpis
from discreet.release.rule_keeper import rule_keeper
from discreet.release.write import write_rows
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.web.api.parameters import (
    AskKpisParameters,
    AskParameters,
    GuaranteeParameters,
    SafePubParameters,
)
from discreet.web.budgets import ledger_beside
from discreet.web.jobs.parsed_table import open_case
from discreet.web.jobs.worker import RESULT, VIEW, JobProgress, Task

MOST_GROUPS = 50
"""So many groups of an answer are shown; all of them stand in its file."""


def ask(task: Task, progress: JobProgress) -> None:
    """Answer a question with noise."""
    ledger = ledger_beside(task.source, task.case)
    table, _ = open_case(task, progress)
    given = _given(task)
    answer = run_ask(table, cast(AskParameters, task.parameters).question, **given, ledger=ledger)
    place = task.out / "answer.csv"
    write_rows(answer.to_arrow(), place)
    assert answer.payment is not None
    write_statement(place, answer.guarantee, answer.payment)
    task.write(RESULT, answer.to_dict())
    task.write(VIEW, _answer_shown(answer))


def answer_kpis(task: Task, progress: JobProgress) -> None:
    """Answer key figures of the policy with noise."""
    ledger = ledger_beside(task.source, task.case)
    table, policy = open_case(task, progress)
    names = cast(AskKpisParameters, task.parameters).names
    given = {name: value for name, value in _given(task).items() if name != "names"}
    answers = run_ask_kpis(table, policy, names, **given, ledger=ledger)
    task.write(RESULT, {"schema": "discreet-kpi-answers-1", "kpis": [answer.to_dict() for answer in answers]})


def tabulate(task: Task, progress: JobProgress) -> None:
    """Count tables with noise."""
    ledger = ledger_beside(task.source, task.case)
    table, _ = open_case(task, progress)
    _leave(task, run_tabulate(table, **_given(task), ledger=ledger), "tables.csv")


def synthesize(task: Task, progress: JobProgress) -> None:
    """Draw artificial people."""
    ledger = ledger_beside(task.source, task.case)
    table, policy = open_case(task, progress)
    given = _given(task)
    keeps = rule_keeper(table, policy, given["columns"])
    _leave(task, run_synthesize(table, **given, keeps=keeps, ledger=ledger), "artificial.csv")


def learn(task: Task, progress: JobProgress) -> None:
    """Learn to predict a column."""
    ledger = ledger_beside(task.source, task.case)
    table, _ = open_case(task, progress)
    made = run_learn(table, **_given(task), ledger=ledger)
    place = task.out / "classifier.json"
    write_text(place, json.dumps(made.to_dict(), ensure_ascii=False, indent=1) + "\n")
    write_statement(place, made.guarantee, made.payment)
    task.write(RESULT, made.to_dict())
    shown = {"product": "classifier", "rows": len(made.columns), "meaning": made.guarantee.meaning}
    task.write(VIEW, shown)


def safepub(task: Task, progress: JobProgress) -> None:
    """Sample and generalise records."""
    ledger = ledger_beside(task.source, task.case)
    table, _ = open_case(task, progress)
    asked = cast(SafePubParameters, task.parameters)
    given = {name: getattr(asked, name) for name in type(asked).model_fields}
    given["hierarchies"] = {name: Hierarchy.of(name, rows) for name, rows in asked.hierarchies.items()}
    _leave(task, run_safepub(table, **given, ledger=ledger), "records.csv")


def _answer_shown(answer: Answer) -> dict[str, Any]:
    """What the page shows of an answer: its first groups."""
    return {
        "product": "answer",
        "rows": len(answer.rows),
        "meaning": answer.guarantee.meaning,
        "keys": answer.keys,
        "figures": answer.figures,
        "confidence": answer.confidence,
        "notes": answer.notes,
        "groups": [
            {
                "keys": [None if key is None else str(key) for key in row.keys],
                "figures": [
                    [_number(told) for told in (figure.value, figure.low, figure.high)]
                    for figure in row.figures
                ],
            }
            for row in answer.rows[:MOST_GROUPS]
        ],
    }


def _number(value: float | None) -> str:
    """A figure as people read it."""
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


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
