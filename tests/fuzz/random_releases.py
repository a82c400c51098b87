"""Random releases: tables, policies, methods and formats by chance; what was written is counted by plain loops.

The files are opened by readers of their own, and nothing of the product judges them; only in the end its own gate is
asked, which must let through what it made. Where person ids are left out, everything is counted twice: by the rows, as a
recipient does, and by the persons behind them, whom the release in memory still knows.
"""

from __future__ import annotations

import csv
import math
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import openpyxl
import plain_models as models
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from plain_tables import PlainTable, Row, Value, random_table

import discreet
from discreet.errors import DiscreetError, GoalUnreachable, InvalidParameter
from discreet.policy.plan import METHODS, GroupSize, GroupValue, MondrianMode, Numbers, Plan
from discreet.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    GBalance,
    HAffiliation,
    KAnonymity,
    LDiversity,
    LinkedKAnonymity,
    PrivacyModel,
    TCloseness,
)

PROFILE = """title = "Nothing but the policy"
description = "What is asked stands in the policy."
source = "none"
date = 2026-01-01
"""
ENDINGS = (".csv", ".tsv", ".parquet", ".pq", ".feather", ".arrow", ".ipc", ".xlsx", ".db", "")
"""Also a table of a database, and a folder of files."""
WITHOUT_ORDER = (".db", "")
ODD = (
    "*",
    "[1, 2]",
    "{a, b}",
    " Aachen",
    "01",
    "1.0",
    'q"uo,te',
    "line\nend",
    "=1+1",
    "∅",
    "ä",
    "nan",
    "",
)
"""What a value might be taken for, and is not."""
NUMBERS: tuple[Numbers, ...] = ("star", "star", "mean", "median", "mode", "minimum", "maximum")
CLOSE = 1e-9
TABLE = "release"
Check = Callable[[PlainTable], bool]


@dataclass(frozen=True)
class Asked:
    """A requirement, and whether the rows of a release meet it, by its definition."""

    model: PrivacyModel
    holds: Check


@dataclass(frozen=True)
class Case:
    """A table, what is asked of it, and how to get there."""

    table: PlainTable
    asked: tuple[Asked, ...]
    plan: Plan
    ending: str


def random_case(seed: int) -> Case:
    """The case of a seed."""
    draw = random.Random(seed)
    table = random_table(seed, event_level=draw.random() < 0.4, nulls=draw.random() < 0.5)
    if draw.random() < 0.4:
        table = with_odd_values(draw, table)
    names = draw.sample(table.quasi_identifiers, draw.randint(1, 3))
    table = replace(table, quasi_identifiers=tuple(names), sensitive=("disease",))
    choices = [
        asked_k,
        asked_distinct,
        asked_entropy,
        asked_recursive,
        asked_t,
        asked_beta,
        asked_delta,
        asked_alpha,
    ]
    if table.person is not None:
        choices += [asked_linked, asked_balance, asked_affiliation]
    asked = (asked_k(draw), *(make(draw) for make in draw.sample(choices[1:], draw.choice([0, 1, 1, 2]))))
    suppressed: Literal["drop", "star"] = draw.choice(["drop", "star"])
    plan = Plan(
        method=draw.choice(METHODS),
        suppression_limit=draw.choice([0.0, 0.1, 0.3, 1.0]),
        suppressed=suppressed,
        suppressed_numbers=draw.choice(NUMBERS) if suppressed == "star" else "star",
        person=draw.choice(["drop", "pseudonymise"]),
        unexamined="drop",
        seconds=600,
        seed=seed % 1000,
    )
    ending = draw.choice(ENDINGS)
    if plan.method == "mondrian":
        plan = replace(plan, mondrian_mode=draw.choice(get_args(MondrianMode)))
    if plan.method == "microaggregation":
        size, value = draw.choice(get_args(GroupSize)), draw.choice(get_args(GroupValue))
        plan = replace(plan, group_size=size, group_value=value)
    return Case(table, asked, plan, ending)


def with_odd_values(draw: random.Random, table: PlainTable) -> PlainTable:
    """The same table, in which some cities and diseases have names that look like something else."""
    cities = {row["city"] for row in table.rows if row["city"] is not None}
    diseases = {row["disease"] for row in table.rows if row["disease"] is not None}
    named: dict[Value, Value] = {}
    for values in (cities, diseases):
        # Text files and spreadsheets have one kind of empty cell: a sensitive value must be told from a null.
        odd = draw.sample(ODD if values is cities else ODD[:-1], len(values))
        named |= {
            value: name
            for value, name in zip(sorted(values, key=str), odd, strict=True)
            if draw.random() < 0.7
        }
    rows = [
        {
            name: named.get(value, value) if name in ("city", "disease") else value
            for name, value in row.items()
        }
        for row in table.rows
    ]
    return replace(table, rows=rows)


def asked_k(draw: random.Random) -> Asked:
    k = draw.choice([2, 2, 3, 4])
    return Asked(KAnonymity(k), lambda table: models.k_anonymity(table) >= k)


def asked_distinct(draw: random.Random) -> Asked:
    least = draw.choice([2, 2, 3])
    return Asked(LDiversity(least, "disease"), lambda table: models.distinct_l(table, "disease") >= least)


def asked_entropy(draw: random.Random) -> Asked:
    least = draw.choice([1.2, 1.5, 2])
    return Asked(
        LDiversity(least, "disease", kind="entropy"),
        lambda table: models.entropy_l(table, "disease") >= least - CLOSE,
    )


def asked_recursive(draw: random.Random) -> Asked:
    c = draw.choice([1.5, 3.0, 8.0])
    return Asked(
        LDiversity(2, "disease", kind="recursive", c=c),
        lambda table: models.recursive_c(table, "disease") < c + CLOSE,
    )


def asked_t(draw: random.Random) -> Asked:
    most = draw.choice([0.15, 0.3, 0.5])
    return Asked(TCloseness(most, "disease"), lambda table: models.t_equal(table, "disease") <= most + CLOSE)


def asked_beta(draw: random.Random) -> Asked:
    most = draw.choice([0.5, 1.0, 3.0])
    return Asked(BetaLikeness(most, "disease"), lambda table: models.beta(table, "disease") <= most + CLOSE)


def asked_delta(draw: random.Random) -> Asked:
    most = draw.choice([0.7, 1.5])
    return Asked(
        DeltaDisclosure(most, "disease"), lambda table: models.delta(table, "disease") <= most + CLOSE
    )


def asked_alpha(draw: random.Random) -> Asked:
    most = draw.choice([0.5, 0.7, 0.9])
    return Asked(
        AlphaKAnonymity(most, 2, "disease"),
        lambda table: models.alpha(table, "disease") <= most + CLOSE and models.k_anonymity(table) >= 2,
    )


def asked_linked(draw: random.Random) -> Asked:
    """Nothing is linked where ids are left out."""
    k = draw.choice([2, 3])
    return Asked(
        LinkedKAnonymity(k),
        lambda table: "person" not in table.rows[0] or models.linked_k(table) >= k,
    )


def asked_balance(draw: random.Random) -> Asked:
    least = draw.choice([0.2, 0.5])
    return Asked(GBalance(least), lambda table: models.g_balance(table) >= least - CLOSE)


def asked_affiliation(draw: random.Random) -> Asked:
    most = draw.choice([0.6, 0.8])
    return Asked(
        HAffiliation(most, "disease"), lambda table: models.h_affiliation(table, "disease") <= most + CLOSE
    )


# ── what was written ─────────────────────────────────────────────────────────────────────────────────


def rows_of(path: Path) -> list[Row]:
    """The rows of a release, every cell as text; what is empty is nothing."""
    lines: list[list[object]]
    if path.is_dir():
        return [row for part in sorted(path.iterdir()) for row in rows_of(part)]
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as database:
            told = database.execute(f"SELECT * FROM {TABLE}")
            lines = [[column[0] for column in told.description], *map(list, told)]
    elif path.suffix in (".csv", ".tsv"):
        with path.open(encoding="utf-8", newline="") as file:
            lines = [
                list(line) for line in csv.reader(file, delimiter="," if path.suffix == ".csv" else "\t")
            ]
    elif path.suffix == ".xlsx":
        lines = [
            list(line) for line in openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
        ]
    else:
        opened = pyarrow.parquet if path.suffix in (".parquet", ".pq") else pyarrow.feather
        table = opened.read_table(path)
        lines = [list(table.column_names), *(list(row.values()) for row in table.to_pylist())]
    head = [str(name) for name in lines[0]]
    return [dict(zip(head, map(text_of, line), strict=True)) for line in lines[1:]]


def text_of(cell: object) -> str | None:
    """A cell as text; whole numbers are the same with and without a fraction."""
    if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def mistakes(case: Case, rows: list[Row]) -> list[str]:
    """Everything about a release that is not as promised."""
    found = []
    before, after = case.table.rows, rows
    if not after:
        return ["there are no rows"]
    suppressed = len(before) - len(after)
    if suppressed < 0 or suppressed > case.plan.suppression_limit * len(before) + CLOSE:
        found.append(f"{suppressed} of {len(before)} rows are missing")
    hidden = Counter(text_of(row["disease"]) for row in before)
    if Counter(row["disease"] for row in after) - hidden:
        found.append("there are sensitive values that nobody had")
    shown = case.table.person if case.table.person in after[0] else None
    released = replace(case.table, rows=after, person=shown)
    return found + broken(case, released)


def broken(case: Case, released: PlainTable) -> list[str]:
    """The requirements that rows do not meet."""
    return [f"{asked.model.describe()} does not hold" for asked in case.asked if not asked.holds(released)]


def broken_by_persons(case: Case, rows: list[Row], links: Sequence[int]) -> list[str]:
    """The requirements that do not hold for the persons behind rows without ids; which rows are whose is not linked."""
    if case.table.person is None or case.table.person in rows[0]:
        return []
    behind = [
        {**row, "whose": case.table.rows[place][case.table.person]}
        for row, place in zip(rows, links, strict=True)
    ]
    return [f"of persons: {told}" for told in broken(case, replace(case.table, rows=behind, person="whose"))]


def has_empty_record(rows: pa.Table) -> bool:
    """Whether a record has no value at all: a spreadsheet has no row for it."""
    return any(all(text_of(cell) is None for cell in row.values()) for row in rows.to_pylist())


def kept_from(made: discreet.Release, target: Path) -> list[str]:
    """What is wrong with the refusal of a release that a spreadsheet cannot hold."""
    try:
        made.save(target)
    except InvalidParameter:
        return ["a file was left"] if target.exists() else []
    return ["records without a value were written to a spreadsheet, which has no row for them"]


@dataclass(frozen=True)
class Names:
    """What a release is called by whoever writes it and by whoever reads it."""

    written: str
    read: str


def names_of(target: Path) -> Names:
    if target.suffix == ".db":
        return Names(f"sqlite:///{target}#{TABLE}", f"sqlite:///{target}#{TABLE}")
    return (
        Names(str(target), str(target)) if target.suffix else Names(f"{target}/", f"glob:{target}/*.parquet")
    )


def release(seed: int, folder: Path) -> list[str]:
    """Make the release of a seed, write it, and say what is wrong with the file."""
    case = random_case(seed)
    profile = folder / "bare.toml"
    profile.write_text(PROFILE, encoding="utf-8")
    policy = discreet.Policy.of(
        quasi_identifiers=case.table.quasi_identifiers,
        sensitive=case.table.sensitive,
        person=case.table.person,
        require=[asked.model for asked in case.asked],
        profile=str(profile),
        unknown="drop",
    )
    target = folder / f"release{case.ending}"
    shutil.rmtree(target, ignore_errors=True)
    target.unlink(missing_ok=True)
    named = names_of(target)
    policy = replace(policy, plan=case.plan)
    try:
        made = discreet.anonymize(case.table.to_arrow(), policy)
        if case.ending == ".xlsx" and has_empty_record(made.to_arrow()):
            return kept_from(made, target)
        made.save(named.written)
        passes = discreet.check(named.read, policy).passes
    except GoalUnreachable:
        return ["a file was left"] if target.exists() else []
    except DiscreetError as error:
        return [f"refused: {type(error).__name__}: {error}"]
    except Exception as error:
        return [f"uncaught: {type(error).__name__}: {error}"]
    rows = rows_of(target)
    found = mistakes(case, rows)
    if not found and case.ending not in WITHOUT_ORDER:
        found = broken_by_persons(case, rows, made.links)
    return found if passes or found else ["its own gate refuses it"]
