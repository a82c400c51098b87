"""Several tables about the same people as jobs: their keys are schema, they are judged and released together."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from discreet.engine.read import read
from discreet.policy import load, loads
from discreet.relational.anonymize import anonymize_tables
from discreet.relational.judging import audit_tables
from discreet.relational.suggest import FoundTables, find_tables, suggest_tables
from discreet.release.spreadsheet import neutralise
from discreet.release.write import TextDialect
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.web.api.parameters import JudgeTablesParameters, ReleaseTablesParameters
from discreet.web.bundle import INSIDE, OUT, write_files
from discreet.web.jobs.parsed_table import stored_table
from discreet.web.jobs.worker import RESULT, VIEW, JobProgress, Task
from discreet.web.pages import together_views as views
from discreet.web.together import members_in

POLICY = "policy.toml"


def judge(task: Task, progress: JobProgress) -> None:
    """Find the keys, take over the roles of each table, and say whether the tables may be released together."""
    wanted = cast(JudgeTablesParameters, task.parameters)
    texts: dict[str, str] = json.loads(task.policy.read_text(encoding="utf-8"))
    tables = _opened(task, progress)
    progress("looking for keys")
    schema = find_tables(tables)
    people = wanted.people or schema.people or next(iter(tables))
    profile = wanted.profile or loads(texts[people if people in texts else next(iter(texts))]).profile
    text = suggest_tables(
        tables,
        profile=profile,
        people=people,
        known_events=wanted.known_events,
        columns={name: _columns(text) for name, text in texts.items()},
    )
    (task.out / POLICY).write_text(text, encoding="utf-8")
    _leave_schema(task, schema, people, profile)
    result = audit_tables(tables, task.out / POLICY, progress=progress)
    task.write(RESULT, {**result.to_dict(), "keys": schema.to_dict()})
    task.write(VIEW, views.audit(result, schema, people))


def release(task: Task, progress: JobProgress) -> None:
    """Write all tables so that nobody is schema by what is known of a person in all of them, verified."""
    wanted = cast(ReleaseTablesParameters, task.parameters)
    assert task.base is not None, "a release is made of tables that were judged"
    tables = _opened(task, progress)
    policy = task.base / POLICY
    made = anonymize_tables(tables, policy, progress=progress)
    progress("writing and verifying")
    task.write(RESULT, made.to_dict())
    task.write(VIEW, views.release(made))
    (task.out / POLICY).write_bytes(policy.read_bytes())
    with TemporaryDirectory(dir=task.out) as folder:
        written = made.save(Path(folder) / "tables", suffix=f".{wanted.format}")
        names = made.policy.files(f".{wanted.format}")
        for name, rows in made.tables.items() if wanted.format == "csv" else ():
            safe, changed = neutralise(rows)
            if changed:
                TextDialect().write(safe, written[0].parent / names[name])
        files = {f"{OUT}/{file.name}": file for file in written}
        inside = {f"{INSIDE}/{POLICY}": task.out / POLICY, f"{INSIDE}/evidence.json": task.out / RESULT}
        write_files(task.out / "bundle.zip", {**files, **inside})


def _opened(task: Task, progress: JobProgress) -> dict[str, Table]:
    """The tables as they were parsed, or read anew."""
    tables = {}
    for member in members_in(task.source):
        progress(Sentence("reading {name}", name=member.name))
        folder, source = Path(member.folder), Path(member.source)
        policy = load(folder / "policy.toml")
        parsed = stored_table(folder, source, policy.read)
        tables[member.name] = parsed or read(source, expected=policy.names, **policy.read)  # type: ignore[arg-type]
    return tables


def _columns(text: str) -> dict[str, Any]:
    """The columns of a policy as they stand in its file."""
    return dict(tomllib.loads(text).get("columns", {}))


def _leave_schema(task: Task, schema: FoundTables, people: str, profile: str) -> None:
    """Tell the page of keys also where the tables cannot be judged: somebody has to see why."""
    target = task.case / views.SCHEMA
    part = task.scratch / views.SCHEMA
    part.write_text(json.dumps({**schema.to_dict(), "people": people, "profile": profile}), encoding="utf-8")
    part.replace(target)
