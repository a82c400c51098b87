"""What must not change an audit: the order of rows, the names and order of columns, the frame, the file format.

And what must: a null is a value of its own, coarser values never lower k, doubled rows double it.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.policy import Policy
from discreet.release.audit import Audit
from discreet.reports.schema import AUDIT_SCHEMA
from helpers.profiles import tries

EXAMPLES = tries(15)
VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "integer": (pa.int64(), st.sampled_from([-3, 0, 7, 31, 2**40])),
    "float": (pa.float64(), st.sampled_from([-1.5, 0.25, 3.5, 1e-3])),
    "text": (pa.string(), st.sampled_from(["a", "b", "ü", "日本", "a,b", 'q"q', "x y", "'"])),
    "date": (pa.date32(), st.sampled_from([date(1999, 12, 31), date(2000, 2, 29), date(2024, 1, 1)])),
    "constant": (pa.string(), st.just("only")),
    "empty": (pa.string(), st.none()),
}


@dataclass(frozen=True)
class Case:
    """A random table with its roles."""

    table: pa.Table
    policy: Policy

    def audit(self, source: object = None, policy: Policy | None = None) -> Audit:
        return discreet.audit(self.table if source is None else source, policy or self.policy)


@st.composite
def cases(draw: st.DrawFn, *, kinds: tuple[str, ...] = tuple(VALUES), nulls: bool = True) -> Case:
    n = draw(st.integers(1, 20))

    def column(kind: str) -> pa.Array:
        type_, values = VALUES[kind]
        cell = st.one_of(values, values, values, st.none()) if nulls else values
        return pa.array(draw(st.lists(cell, min_size=n, max_size=n)), type_)

    quasi = {f"q{i}": column(draw(st.sampled_from(kinds))) for i in range(draw(st.integers(1, 3)))}
    sensitive = {f"s{i}": column(draw(st.sampled_from(kinds))) for i in range(draw(st.integers(0, 2)))}
    columns: dict[str, pa.Array] = {**quasi, **sensitive}
    person = weight = None
    if draw(st.booleans()):
        person = "person"
        columns["person"] = pa.array(draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
    if draw(st.booleans()):
        weight = "weight"
        columns["weight"] = pa.array(
            draw(st.lists(st.sampled_from([1.0, 2.5, 40.0]), min_size=n, max_size=n))
        )
    policy = Policy.of(
        quasi_identifiers=list(quasi),
        sensitive=list(sensitive),
        person=person,
        weight=weight,
        profile="wp216",
    )
    return Case(pa.table(columns), policy)


def numbers(found: Audit, renamed: dict[str, str] | None = None) -> dict[str, Any]:
    """Measures, risks, estimates and verdict as comparable data, with names put back and floats rounded.

    The order of rows may change the order in which floats are added, so the last digits do not count.
    """
    data = found.to_dict()
    text = json.dumps({key: data[key] for key in ("measures", "risks", "estimates", "verdict", "exposure")})
    for new, old in (renamed or {}).items():
        text = text.replace(new, old)
    plain: dict[str, Any] = _rounded(json.loads(text))
    table = data["table"]
    assert isinstance(table, dict)
    plain["table"] = {key: table[key] for key in ("rows", "persons", "level", "classes", "missing")}
    for entry in plain["table"]["missing"]:
        entry["column"] = (renamed or {}).get(entry["column"], entry["column"])
    return plain


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}") + 0.0
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


# ── what changes nothing ──────────────────────────────────────────────────────────────────────────────


@EXAMPLES
@given(cases(), st.randoms(use_true_random=False))
def test_order_of_rows(case: Case, random: Any) -> None:
    order = list(range(len(case.table)))
    random.shuffle(order)
    assert numbers(case.audit(case.table.take(order))) == numbers(case.audit())


@EXAMPLES
@given(cases(), st.randoms(use_true_random=False))
def test_order_of_columns_in_the_table(case: Case, random: Any) -> None:
    names = list(case.table.column_names)
    random.shuffle(names)
    assert numbers(case.audit(case.table.select(names))) == numbers(case.audit())


@EXAMPLES
@given(cases())
def test_names_of_columns(case: Case) -> None:
    """Other names of the same alphabetical order give the same numbers under the other names."""
    renamed = {f"Kk{name}Zz": name for name in case.table.column_names}
    back = {old: new for new, old in renamed.items()}
    table = case.table.rename_columns(list(renamed))
    policy = Policy.of(
        quasi_identifiers=[back[name] for name in case.policy.quasi_identifiers],
        sensitive=[back[name] for name in case.policy.sensitive],
        person=back[case.policy.person] if case.policy.person else None,
        weight=back[case.policy.weight] if case.policy.weight else None,
        profile="wp216",
    )
    assert numbers(case.audit(table, policy), renamed) == numbers(case.audit())


@EXAMPLES
@given(cases())
def test_frames(case: Case) -> None:
    expected = numbers(case.audit())
    table = case.table
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    frame.index = pd.Index(np.arange(len(frame)) % 3, name=table.column_names[0])
    connection = duckdb.connect()
    connection.register("rows", table)
    sources = {
        "pandas": frame,
        "polars": pl.from_arrow(table),
        "lazy polars": pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
        "batches": table.to_reader(max_chunksize=3),
        "duckdb": connection.sql("SELECT * FROM rows"),
        "table": discreet.read(table),
    }
    for name, source in sources.items():
        assert numbers(case.audit(source)) == expected, name
    # Plain pandas has no nulls besides floats and objects: types may change, classes may not.
    plain = case.audit(table.to_pandas())
    assert sorted(plain.classes.records.tolist()) == sorted(case.audit().classes.records.tolist())
    assert [m.nulls for m in plain.missing] == [m["nulls"] for m in expected["table"]["missing"]]


@EXAMPLES
@given(cases(nulls=False, kinds=("integer", "float", "text", "constant")))
def test_plain_pandas_with_another_index(case: Case) -> None:
    frame = case.table.to_pandas()
    expected = numbers(case.audit())
    for index in (list(reversed(range(len(frame)))), [7] * len(frame), [f"r{i}" for i in range(len(frame))]):
        assert numbers(case.audit(frame.set_axis(index, axis=0))) == expected


@EXAMPLES
@given(cases())
def test_typed_files(case: Case) -> None:
    expected = numbers(case.audit())
    with tempfile.TemporaryDirectory() as folder:
        parquet, feather = Path(folder) / "t.parquet", Path(folder) / "t.feather"
        pq.write_table(case.table, parquet, row_group_size=4)
        pa.feather.write_feather(case.table, feather)
        for file in (parquet, feather):
            assert numbers(case.audit(discreet.read(file))) == expected, file.name


@EXAMPLES
@given(cases(kinds=("integer", "float", "text", "date", "constant")))
def test_text_files(case: Case) -> None:
    """CSV with nulls written as empty fields and read back by ``missing=[""]``; JSON lines as they are.

    Text files know no types: what a column holds is found out, so columns without any value are left out
    here (they have no type to be found).
    """
    wanted = case.audit()
    names = case.table.column_names
    if any(case.table[name].null_count == len(case.table) for name in names):
        return
    with tempfile.TemporaryDirectory() as folder:
        csv, lines = Path(folder) / "t.csv", Path(folder) / "t.jsonl"
        frame = pl.from_arrow(case.table)
        assert isinstance(frame, pl.DataFrame)
        # A line of one empty field is a blank line, which is no record: a second column keeps it one.
        frame.with_columns(pl.lit("x").alias("filler")).write_csv(csv, null_value="", quote_style="necessary")
        rows = [
            json.dumps(
                {key: value.isoformat() if isinstance(value, date) else value for key, value in row.items()}
            )
            for row in case.table.to_pylist()
        ]
        lines.write_text("\n".join(rows) + "\n", encoding="utf-8")
        from_csv = discreet.read(csv, missing=[""], delimiter=",", quote='"', header=True, decimal=".")
        for file, table in (("csv", from_csv), ("json lines", discreet.read(lines))):
            found = case.audit(table)
            assert table.rows == len(case.table), file
            for name in ("k-anonymity", "sample-uniques", "average-risk"):
                assert found.measure(name).value == pytest.approx(wanted.measure(name).value), (file, name)
            for name in wanted.policy.sensitive:
                for measure in ("l-diversity", "entropy-l-diversity", "beta-likeness"):
                    assert found.measure(measure, name).value == pytest.approx(
                        wanted.measure(measure, name).value
                    ), (file, measure)
            assert sorted(found.classes.records.tolist()) == sorted(wanted.classes.records.tolist())
            assert [(m.column, m.nulls) for m in found.missing] == [
                (m.column, m.nulls) for m in wanted.missing
            ]
            for risk in wanted.risks:
                again = found.risk(risk.name, attribute=risk.attribute, sensitive=risk.sensitive)
                assert again.max == pytest.approx(risk.max), (file, risk.name)
                assert again.mean == pytest.approx(risk.mean), (file, risk.name)


# ── what changes something, and how ───────────────────────────────────────────────────────────────────


@EXAMPLES
@given(cases())
def test_counting_by_hand(case: Case) -> None:
    """k is the smallest group of equal combinations, in which a null equals only a null."""
    rows = case.table.to_pylist()
    groups: dict[tuple[Any, ...], set[Any]] = {}
    for i, row in enumerate(rows):
        key = tuple(row[name] for name in case.policy.quasi_identifiers)
        groups.setdefault(key, set()).add(row["person"] if case.policy.person else i)
    found = case.audit()
    assert found.measure("k-anonymity").value == min(len(group) for group in groups.values())
    assert len(found.classes) == len(groups)
    for name in case.policy.sensitive:
        values: dict[tuple[Any, ...], set[Any]] = {}
        for row in rows:
            values.setdefault(tuple(row[q] for q in case.policy.quasi_identifiers), set()).add(row[name])
        assert found.measure("l-diversity", name).value == min(len(group) for group in values.values())


@EXAMPLES
@given(cases(nulls=False), st.data())
def test_a_null_makes_a_class_of_its_own(case: Case, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(case.policy.quasi_identifiers))
    at = data.draw(st.integers(0, len(case.table) - 1))
    cells = case.table[name].to_pylist()
    if None in cells:
        return
    cells[at] = None
    column = pa.array(cells, case.table[name].type)
    table = case.table.set_column(case.table.column_names.index(name), name, column)
    found = case.audit(table)
    assert found.measure("k-anonymity").value == 1
    assert found.measure("sample-uniques").value >= 1 / len(table) - 1e-12
    [told] = [m for m in found.missing if m.column == name]
    assert told.nulls == 1
    assert "counted as one value of their own" in told.treatment


@EXAMPLES
@given(cases(), st.data())
def test_merging_values_never_lowers_k(case: Case, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(case.policy.quasi_identifiers))
    values = sorted(set(case.table[name].to_pylist()), key=repr)
    group = {value: f"group {data.draw(st.integers(0, 1))}" for value in values}
    column = pa.array([group[value] for value in case.table[name].to_pylist()])
    coarser = case.table.set_column(case.table.column_names.index(name), name, column)
    before, after = case.audit(), case.audit(coarser)
    assert after.measure("k-anonymity").value >= before.measure("k-anonymity").value
    assert after.measure("sample-uniques").value <= before.measure("sample-uniques").value + 1e-12
    assert after.measure("average-risk").value <= before.measure("average-risk").value + 1e-12
    assert len(after.classes) <= len(before.classes)
    for sensitive in case.policy.sensitive:
        fine, coarse = before.measure("l-diversity", sensitive), after.measure("l-diversity", sensitive)
        assert coarse.value >= fine.value


@EXAMPLES
@given(cases())
def test_leaving_out_a_quasi_identifier_never_lowers_k(case: Case) -> None:
    for name in case.policy.quasi_identifiers:
        fewer = [other for other in case.policy.quasi_identifiers if other != name]
        if fewer:
            less = case.audit(policy=case.policy.replace(quasi_identifiers=fewer))
            assert less.measure("k-anonymity").value >= case.audit().measure("k-anonymity").value


@EXAMPLES
@given(cases(), st.integers(2, 3))
def test_repeating_every_row(case: Case, times: int) -> None:
    """At person level k grows as often; at event level the same persons only have more records."""
    before = case.audit()
    after = case.audit(pa.concat_tables([case.table] * times))
    k, again = before.measure("k-anonymity").value, after.measure("k-anonymity").value
    assert again == (k if case.policy.person else times * k)
    assert after.persons == before.persons * (1 if case.policy.person else times)
    assert len(after.classes) == len(before.classes)
    for name in case.policy.sensitive:
        for measure in ("l-diversity", "entropy-l-diversity", "delta-disclosure"):
            old, new = before.measure(measure, name).value, after.measure(measure, name).value
            assert new == pytest.approx(old) or (math.isinf(old) and math.isinf(new))


# ── what an audit gives away ──────────────────────────────────────────────────────────────────────────


@EXAMPLES
@given(
    cases(), st.sampled_from(["open-data", "hipaa-safe-harbor", "ema-0070"]), st.none() | st.floats(0.01, 1)
)
def test_every_audit_fits_the_schema(case: Case, profile: str, fraction: float | None) -> None:
    policy = case.policy.replace(profile=profile, sampling_fraction=fraction)
    text = json.dumps(case.audit(policy=policy).to_dict(), allow_nan=False)
    jsonschema.validate(json.loads(text), AUDIT_SCHEMA)


@EXAMPLES
@given(st.integers(1, 30), st.integers(1, 4), st.booleans(), st.integers(0, 2**32 - 1))
def test_no_value_of_the_data_is_in_the_json(n: int, kinds: int, suggested: bool, seed: int) -> None:
    """Also not in what is printed, nor if roles are suggested. Values are marked so that they are found."""
    rng = np.random.default_rng(seed)

    def column(mark: str) -> list[str | None]:
        return [None if i == kinds else f"{mark}¤{i}¤" for i in rng.integers(0, kinds + 1, n)]

    table = pa.table({"job": column("J"), "town": column("T"), "illness": column("I")})
    policy = Policy.of(quasi_identifiers=["job", "town"], sensitive=["illness"])
    if suggested and not discreet.suggest(discreet.read(table)).quasi_identifiers:
        return
    found = discreet.audit(table, None if suggested else policy)
    assert "¤" not in json.dumps(found.to_dict(), ensure_ascii=False)
    assert "¤" not in str(found)
    assert "¤" not in repr(found)


def test_markers_would_be_found() -> None:
    """The test above can fail: the classes themselves do hold values."""
    table = pa.table({"job": ["J¤1¤", "J¤2¤"]})
    found = discreet.audit(table, Policy.of(quasi_identifiers=["job"]))
    assert Counter(found.classes.labels(c)["job"] for c in range(2)) == {"J¤1¤": 1, "J¤2¤": 1}
