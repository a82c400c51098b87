"""Columns of any kind and name: what is made of them is counted by plain loops, and every verb ends with its own errors only.

Values that no other random table has: moments with zones, decimals, bytes, lists, durations, numbers at the edges of their
types, zeros with a sign, texts that look like numbers, marks or labels, columns without a value or with one.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from random_releases import PROFILE

import discreet
from discreet import KAnonymity, LDiversity, Plan, Policy
from discreet.errors import DiscreetError, GoalUnreachable
from discreet.policy.plan import METHODS
from discreet.release.write import SUFFIXES

NAMES = (
    *("age", "select", "order by", 'a"b', "a'b", "[x]", "{y}", "*", "a;b", "a,b", "é", "e\u0301x", "name\nnl", "\u202ertl"),
    *("😀", "table", "rowid", "count", "records", "x" * 300, "null", "%s", "{0}", "$1", "a.b", "a\tb", "place", "row"),
)  # fmt: skip
TEXTS = (
    *("", "a", "A", "a ", "é", "e\u0301", "\u202eabc", "😀", "a\0b", "x" * 5000, "007", "7", "7.0", "1e5", "TRUE", "true", "null"),
    *("NA", "None", "*", "[1, 2]", "{a, b}", "≥ 5", "< 5", "5+", "a\nb", "a\r\nb", "\ufeffx", "=1+1", "-", "1,5", "2020-01-01"),
    *("[10, 19]", "{a, b, +2}", "a, b", "\\N", "\t", " "),
)  # fmt: skip
LARGE, WORTH = (0, 1, -1, 2**63 - 1, -(2**63), 2**53, 2**53 + 1), Decimal(10) ** 20
Values = tuple[Iterable[object], pa.DataType]


def moments(draw: random.Random) -> list[dt.datetime]:
    first = dt.datetime(1971, 1, 1)
    return [first + dt.timedelta(seconds=draw.randrange(2 * 10**9)) for _ in range(5)]


def durations(draw: random.Random) -> list[dt.timedelta]:
    return [dt.timedelta(milliseconds=draw.randrange(10**6)) for _ in range(5)]


KINDS: tuple[Callable[[random.Random], Values], ...] = (
    lambda draw: ((True, False), pa.bool_()),
    lambda draw: ([at.date() for at in moments(draw)], pa.date32()),
    lambda draw: ((dt.date(1, 1, 1), dt.date(1899, 12, 31), dt.date(9999, 12, 31)), pa.date32()),
    lambda draw: (moments(draw), pa.timestamp(draw.choice(["s", "ms", "us", "ns"]))),
    lambda draw: (moments(draw), pa.timestamp("us", draw.choice(["UTC", "Europe/Berlin", "+05:30"]))),
    lambda draw: ([at.time() for at in moments(draw)], pa.time64("us")),
    lambda draw: (durations(draw), pa.duration(draw.choice(["ms", "us", "ns"]))),
    lambda draw: ([Decimal(draw.randrange(10**6)) / 100 for _ in range(5)], pa.decimal128(12, 2)),
    lambda draw: ([draw.randrange(10**9) * WORTH for _ in range(5)], pa.decimal128(38, 0)),
    lambda draw: ((0.0, -0.0, 1e-99, 0.1, 0.3, 0.1 + 0.2, 1e100, math.nan), pa.float64()),
    lambda draw: ((0.1, -0.0, 3.4e38, 1e-40, 16777217.0), pa.float32()),
    lambda draw: (LARGE, pa.int64()),
    lambda draw: ((0, 2**64 - 1, 2**63, 5), pa.uint64()),
    lambda draw: (range(18, 90), pa.int8()),
    lambda draw: (range(18, 90), pa.int32()),
    lambda draw: (TEXTS, pa.string()),
    lambda draw: (TEXTS, pa.large_string()),
    lambda draw: ([f"{draw.randrange(10**5):05}" for _ in range(5)], pa.string()),
    lambda draw: (("a", "b", "", " "), pa.dictionary(pa.int8(), pa.string())),
    lambda draw: ((None,), pa.null()),
    lambda draw: ((None,), draw.choice([pa.string(), pa.int64(), pa.float64(), pa.bool_()])),
    lambda draw: (("same",), pa.string()),
    lambda draw: ((b"a", b"\xff", b""), pa.binary()),
    lambda draw: (([1], [3, 2], []), pa.list_(pa.int64())),
    lambda draw: (({"x": 1}, {"x": 2}), pa.struct({"x": pa.int64()})),
)


def random_kinds(draw: random.Random) -> pa.Table:
    """A table of 1 to 40 rows and two to four columns of any kind."""
    rows = draw.choice([1, 2, 3, 5, 8, 15, 40])
    columns = {}
    for name in draw.sample(NAMES, draw.randint(2, 4)):
        given, kind = draw.choice(KINDS)(draw)
        missing = draw.choice([0, 0, 0.1, 0.5])
        # Text files and spreadsheets have one kind of empty cell.
        among = [value for value in given if not missing or value not in ("", b"")]
        values = draw.sample(among, draw.randint(1, min(5, len(among))))
        places = [min(int(draw.expovariate(1.0)), len(values) - 1) for _ in range(rows)]
        cells = [None if draw.random() < missing else values[at] for at in places]
        columns[name] = pa.array(cells, kind, from_pandas=False)
    return pa.table(columns)


def plain(value: object) -> Hashable:
    """A value so that equal ones are equal, from whichever file they come; of what becomes text or seconds, nothing."""
    if isinstance(value, bytes | list | dict | dt.timedelta | dt.time):
        return "odd"
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        # Texts that are dates in every row are dates.
        return value.isoformat()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return str(value) if isinstance(value, bool) else value  # type: ignore[return-value]
    return Decimal(value) + 0


def broken(original: pa.Table, rows: list[dict[str, object]], policy: Policy, limit: float) -> list[str]:
    """What is wrong with a release that was read back."""
    k, *diverse = policy.requirements
    (sensitive,) = policy.sensitive
    shown = [name for name in policy.quasi_identifiers if rows and name in rows[0]]
    classes: dict[Hashable, list[Hashable]] = defaultdict(list)
    for row in rows:
        classes[tuple(plain(row[name]) for name in shown)].append(plain(row[sensitive]))
    found = []
    if min(map(len, classes.values())) < k.k:  # type: ignore[attr-defined]
        found.append("a class is too small")
    odd = any(
        isinstance(value, bytes | list | dict | dt.timedelta | dt.time)
        for value in original[sensitive].to_pylist()
    )
    if diverse and not odd and min(len(set(held)) for held in classes.values()) < diverse[0].l:  # type: ignore[attr-defined]
        found.append("a class has too few values")
    had = Counter(map(plain, original[sensitive].to_pylist()))
    if not odd and Counter(value for held in classes.values() for value in held) - had:
        found.append("there are sensitive values that nobody had")
    if original.num_rows - len(rows) > limit * original.num_rows + 1e-9:
        found.append("too many rows are missing")
    return found


def attempt(seed: int, folder: Path) -> list[str]:
    """Audit, release, compare and attack the table of a seed; what is wrong."""
    draw = random.Random(seed)
    table = random_kinds(draw)
    *names, sensitive = table.column_names
    (folder / "bare.toml").write_text(PROFILE, encoding="utf-8")
    require = [
        KAnonymity(draw.choice([2, 2, 3])),
        *([LDiversity(2, sensitive)] if draw.random() < 0.3 else []),
    ]
    policy = Policy.of(
        quasi_identifiers=names, sensitive=[sensitive], require=require, profile=str(folder / "bare.toml")
    )
    limit = draw.choice([0.0, 0.2, 1.0])
    plan = Plan(
        method=draw.choice(METHODS),
        suppression_limit=limit,
        suppressed=draw.choice(["drop", "star"]),
        seconds=600,
    )
    policy = replace(policy, plan=plan)
    ending = draw.choice(SUFFIXES)
    # A line with one text or none below empty ones is taken for a note about the table.
    sparse = any(sum(cell is not None for cell in row.values()) < 2 for row in table.to_pylist())
    target = folder / f"release{'.parquet' if sparse else ending}"
    target.unlink(missing_ok=True)
    try:
        discreet.audit(table, policy, detail="core")
        discreet.anonymize(table, policy).save(target)
        if not discreet.check(target, policy).passes:
            return ["its own gate refuses it"]
        if draw.random() < 0.3:
            discreet.compare(table, target, policy, queries=5, classifiers=()).to_dict()
            discreet.attack(
                target, policy, original=table, attacks=["record-linkage", "downcoding"]
            ).to_dict()
    except GoalUnreachable:
        return ["a file was left"] if target.exists() else []
    except DiscreetError as error:
        if error.code == "requirement-not-met":
            return [f"refused: {error}"]
    except Exception as error:
        return [f"uncaught: {type(error).__name__}: {error}"]
    if target.suffix in (".parquet", ".pq", ".feather") and target.exists():
        opened = pyarrow.feather if target.suffix == ".feather" else pyarrow.parquet
        return broken(table, opened.read_table(target).to_pylist(), policy, limit)
    return []
