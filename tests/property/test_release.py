"""Every release that is written meets what was asked, by a checker that shares nothing with the library."""

from __future__ import annotations

import datetime as dt
import math
import re
import statistics
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, event, given
from hypothesis import strategies as st

import discreet
from discreet.errors import GoalUnreachable
from discreet.policy import Policy
from discreet.policy.plan import METHODS, Method, Numbers, Plan
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.privacy.base import Reference
from discreet.release.anonymize import anonymize
from discreet.release.apply import apply
from discreet.release.release import Release
from discreet.transform.recipe import Recipe
from helpers.profiles import tries

PROFILE = """title = "Nothing but the policy"
description = "For tests: what is asked stands in the policy."
source = "none"
date = 2026-01-01
rules = ["no-direct-identifiers"]
"""

# Text files cannot hold a NUL, spreadsheets no control characters, and half a character is none.
REMARKS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)
CELLS = st.text(st.characters(exclude_characters="\ufffe\uffff", exclude_categories=["Cs", "Cc"]), max_size=4)
DAYS = [dt.date(1999, 12, 31), *(dt.date(2020, month, 5) for month in (1, 2, 7)), dt.date(2021, 1, 1)]
NOON = dt.datetime(2020, 1, 1, 12)
KNOWN: dict[str, tuple[pa.DataType, list[object]]] = {
    "integer": (pa.int64(), [None, 1, 2, 3, 5, 8, 13, 90]),
    "float": (pa.float64(), [None, math.nan, 0.0, -0.0, 0.5, 1e-9, 2.25, 1e15]),
    "text": (pa.string(), ["a", "b", "c", "", None]),
    "digits": (pa.string(), ["7", "07", "007", "7.0", "1e3", "?", "10", ""]),
    "date": (pa.date32(), [*DAYS, None]),
    "moment": (pa.timestamp("us"), [NOON, NOON + dt.timedelta(seconds=1.5), None]),
    "flag": (pa.bool_(), [True, False, None]),
    "signs": (pa.string(), ["ä", "∅", "*", "{a, b}", "[1, 2]", 'q"uo,te', "line\nend", "", "日本", None]),
    "constant": (pa.string(), ["x"]),
    "nothing": (pa.string(), [None]),
    "huge": (pa.string(), [f"v{i}" for i in range(500)]),
}
HIDDEN: dict[str, tuple[pa.DataType, list[object]]] = {
    "illness": (pa.string(), ["flu", "cold", "well", None]),
    "code": (pa.string(), ["1", "01", "1.0", "nan", "∅"]),
    "pay": (pa.float64(), [1.0, 2.5, 1e6, None]),
    "count": (pa.int32(), [1, 2, 3]),
    "positive": (pa.bool_(), [True, False]),
    "when": (pa.timestamp("us"), [NOON, NOON + dt.timedelta(days=1)]),
}


@dataclass(frozen=True)
class Case:
    """A table, what is asked of it, and how to get there."""

    rows: pa.Table
    known: list[str]
    hidden: list[str]
    person: str | None
    k: int
    diverse: dict[str, int]
    close: dict[str, float]
    reference: Reference
    plan: Plan
    ending: str

    @property
    def shown(self) -> list[str]:
        """The quasi-identifiers that a release has."""
        return [name for name in self.known if name not in self.plan.drop_attributes]

    def silenced(self, name: str) -> set[object]:
        """The values of a quasi-identifier that the plan suppresses, nulls with them."""
        counted = Counter(map(plain, self.rows[name].to_pylist()))
        found: set[object] = set()
        if name in self.plan.suppress_attributes:
            found |= set(counted)
        least = self.plan.suppress_rare.get(name, 0)
        found |= {value for value, records in counted.items() if value is not None and records < least}
        named = self.plan.suppress_values.get(name, ())
        found |= {
            plain(value)
            for value in self.rows[name].to_pylist()
            if plain(value) is not None and str(value) in named
        }
        return found | {None} if found else found

    def models(self) -> list[PrivacyModel]:
        return [
            KAnonymity(self.k),
            *(LDiversity(least, name) for name, least in self.diverse.items()),
            *(TCloseness(most, name, reference=self.reference) for name, most in self.close.items()),
        ]

    def policy(self, folder: Path) -> Policy:
        (folder / "bare.toml").write_text(PROFILE, encoding="utf-8")
        return Policy.of(
            quasi_identifiers=self.known,
            sensitive=self.hidden,
            person=self.person,
            direct_identifiers=["name"],
            require=self.models(),
            profile=str(folder / "bare.toml"),
            # The number of its row tells which record became which.
            unknown="keep",
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    size = draw(st.integers(8, 40))
    known = draw(st.lists(st.sampled_from(sorted(KNOWN)), min_size=1, max_size=3, unique=True))
    hidden = draw(st.lists(st.sampled_from(sorted(HIDDEN)), min_size=1, max_size=2, unique=True))
    columns: dict[str, pa.Array] = {
        "name": pa.array([f"N. {i}" for i in range(size)]),
        "row": pa.array(range(size), pa.int64()),
    }
    for label, pool in (*((n, KNOWN[n]) for n in known), *((n, HIDDEN[n]) for n in hidden)):
        kind, values = pool
        # Small pools make classes, whole pools make outliers.
        used = values[: draw(st.integers(1, len(values)))]
        drawn = draw(st.lists(st.sampled_from(used), min_size=size, max_size=size))
        columns[label] = pa.array(drawn, kind)
    person = None
    if draw(st.booleans()):
        person = "who"
        ids = draw(st.lists(st.integers(0, size // 2), min_size=size, max_size=size))
        columns[person] = pa.array([f"p{i}" for i in ids] if draw(st.booleans()) else ids)
    ending = draw(st.sampled_from([".csv", ".tsv", ".parquet", ".feather", ".xlsx"]))
    remarks = CELLS if ending == ".xlsx" else REMARKS
    columns["remark"] = pa.array(draw(st.lists(remarks, min_size=size, max_size=size)), pa.string())
    names = draw(st.permutations(sorted(columns)))
    plan = Plan(
        suppression_limit=draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])),
        person=draw(st.sampled_from(["pseudonymise", "drop"])),
        seconds=3600,
        unexamined="keep",
        **draw(suppressions(known, columns)),
    )
    return Case(
        rows=pa.table({name: columns[name] for name in names}),
        known=known,
        hidden=hidden,
        person=person,
        k=draw(st.integers(1, 4)),
        diverse={name: 2 for name in hidden if draw(st.booleans())},
        close={name: draw(st.sampled_from([0.2, 0.4, 0.7])) for name in hidden if draw(st.booleans())},
        reference=draw(st.sampled_from(["release", "release", "original"])),
        plan=plan,
        ending=ending,
    )


@st.composite
def suppressions(draw: st.DrawFn, known: list[str], columns: dict[str, pa.Array]) -> dict[str, Any]:
    """What else a plan says: each quasi-identifier may be kept, suppressed in part or whole, or left out."""
    found: dict[str, Any] = {
        "keep": (),
        "suppress_values": {},
        "suppress_rare": {},
        "suppress_attributes": (),
        "drop_attributes": (),
        "suppressed": draw(st.sampled_from(["drop", "star"])),
        "order": draw(st.sampled_from(["random", "kept"])),
    }
    if found["suppressed"] == "star":
        found["suppressed_numbers"] = draw(st.sampled_from(get_args(Numbers)))
    usual = ["free"] * 5
    for name in known:
        way = draw(st.sampled_from([*usual, "keep", "values", "rare", "attributes", "drop"]))
        if way == "values":
            values = [str(value) for value in columns[name].to_pylist() if value is not None]
            found["suppress_values"][name] = tuple({*values[:1], "no such value"})
        elif way == "rare":
            found["suppress_rare"][name] = draw(st.integers(2, 5))
        elif way == "drop" and len(found["drop_attributes"]) < len(known) - 1:
            found["drop_attributes"] += (name,)
        elif way in ("keep", "attributes"):
            found["keep" if way == "keep" else "suppress_attributes"] += (name,)
    return found


# ── the checker ──────────────────────────────────────────────────────────────────────────────────────


@dataclass
class File:
    """A written release as one sees who has only the file: text files hold text, a blank field is a null."""

    names: list[str]
    rows: list[dict[str, object]] = field(default_factory=list)


def open_file(path: Path) -> File:
    if path.suffix in (".csv", ".tsv"):
        delimiter = "," if path.suffix == ".csv" else "\t"
        lines = list(fields(path.read_bytes().decode(), delimiter))
        names = [str(one) for one in lines[0]]
        return File(names, [dict(zip(names, line, strict=True)) for line in lines[1:]])
    if path.suffix == ".xlsx":
        head, *cells = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
        names = [str(one) for one in head]
        return File(names, [dict(zip(names, line, strict=True)) for line in cells])
    table = (
        pyarrow.parquet.read_table(path) if path.suffix == ".parquet" else pyarrow.feather.read_table(path)
    )
    return File(table.column_names, table.to_pylist())


def fields(text: str, delimiter: str) -> Iterable[list[str | None]]:
    """The records of delimited text; a field without quotes and without content is ``None``."""
    pattern = re.compile(rf'(?:"((?:[^"]|"")*)"|([^{delimiter}\n"]*))({delimiter}|\n|\Z)')
    record: list[str | None] = []
    at = 0
    while at < len(text):
        found = pattern.match(text, at)
        assert found is not None, "the file is not delimited text"
        quoted, plain, end = found.groups()
        record.append(quoted.replace('""', '"') if quoted is not None else plain or None)
        at = found.end()
        if end != delimiter:
            yield record
            record = []


def plain(value: object) -> str | None:
    """A value as it stands in a text file; whole numbers are the same with and without a fraction."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "microseconds")
    if isinstance(value, int | float):
        return repr(float(value) + 0.0)
    return str(value)


def same(written: object, original: object) -> bool:
    if original == "" and written is None:
        return True  # a spreadsheet has one kind of empty cell
    if (
        isinstance(written, dt.datetime)
        and isinstance(original, dt.date)
        and not isinstance(original, dt.datetime)
    ):
        return written == dt.datetime(original.year, original.month, original.day)
    if isinstance(original, int | float) and not isinstance(original, bool) and isinstance(written, str):
        try:
            return plain(float(written)) == plain(original)
        except ValueError:
            return False
    return plain(written) == plain(original)


def check(case: Case, path: Path, release: Release) -> None:
    """Everything that a release promises, by counting alone."""
    file = open_file(path)
    gone = {
        "name",
        *case.plan.drop_attributes,
        *([case.person] if case.person and case.plan.person == "drop" else []),
    }
    assert file.names == [name for name in case.rows.column_names if name not in gone]

    original = {row["row"]: row for row in case.rows.to_pylist()}
    released = [(int(str(row["row"])), row) for row in file.rows]
    order = [number for number, _ in released]
    assert len(set(order)) == len(order), "rows were repeated"
    if case.plan.order == "kept":
        assert order == sorted(order), "rows were moved"
    places = list(original)
    assert order == [places[at] for at in release.links], "links lead to other rows"

    lost = case.rows.num_rows - len(released)
    starred = [False] * len(released)
    if case.plan.suppressed == "star" and not lost:
        starred = unseen(case, release, released)
    else:
        assert release.suppressed == lost < case.rows.num_rows
    assert release.suppressed <= case.plan.suppression_limit * case.rows.num_rows + 1e-9

    for number, row in released:
        for name in file.names:
            if name not in (*case.known, case.person):
                assert same(row[name], original[number][name]), f"{name} was changed"

    classes: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, row in released:
        classes[tuple(str(row[n]) if row[n] is not None else None for n in case.shown)].append(number)
    whole = [number for number, _ in released] if case.reference == "release" else list(original)
    for members in classes.values():
        people = {original[n][case.person] for n in members} if case.person else members
        assert len(people) >= case.k
        for name, least in case.diverse.items():
            assert len({plain(original[n][name]) for n in members}) >= least
        for name, most in case.close.items():
            everywhere = Counter(plain(original[n][name]) for n in whole)
            here = Counter(plain(original[n][name]) for n in members)
            distance = sum(abs(here[v] / len(members) - everywhere[v] / len(whole)) for v in everywhere) / 2
            assert distance <= most + 1e-9

    mixed = bool(release.suppressed) and not lost and not any(starred)
    for name in [] if mixed else case.shown:
        ladder = ancestors(release, name)
        silenced = case.silenced(name)
        for label, members in groups(released, starred, name).items():
            values = [original[n][name] for n in members]
            covers(case.plan.method, label, values, ladder)
            if name in case.plan.keep:
                assert all(same(label, value) for value in values), f"{name} was to be kept"
            if silenced:
                assert label == "*" or not any(plain(value) in silenced for value in values)
    if case.person and case.plan.person == "pseudonymise":
        check_pseudonyms(case.person, released, original)


def unseen(case: Case, release: Release, released: Sequence[tuple[int, dict[str, object]]]) -> list[bool]:
    """Which records show nothing: those with ``*`` only, or the one class that shows what the others do on average.

    What was generalised to ``*`` is not to be told from what was suppressed. A class with numbers is taken for the
    suppressed records only if it has as many as there are; if a released one looks like it, both are asked all.
    """
    cells = [tuple(row[name] for name in case.shown) for _, row in released]
    starred = [all(cell == "*" for cell in one) for one in cells]
    if case.plan.suppressed_numbers == "star" or not release.suppressed or sum(starred) >= release.suppressed:
        assert release.suppressed <= sum(starred)
        return starred
    for one, records in Counter(cells).items():
        if records == release.suppressed:
            others = [other for other in cells if other != one]
            if all(
                cell == "*"
                or is_statistic(cell, [other[j] for other in others], case.plan.suppressed_numbers)
                for j, cell in enumerate(one)
            ):
                return [other == one for other in cells]
    event("suppressed records look like others")
    return [False] * len(cells)


def is_statistic(cell: object, others: Sequence[object], statistic: str) -> bool:
    """Whether a cell shows the statistic of the other cells: intervals by their middle or end."""
    spans = [span for span in map(span_of, others) if span is not None]
    told = span_of(cell)
    if told is None or not spans:
        return False
    middles = [(low + high) / 2 for low, high in spans]
    expected = {
        "mean": lambda: statistics.fmean(middles),
        "median": lambda: statistics.median(middles),
        "mode": lambda: min(statistics.multimode(middles)),
        "minimum": lambda: min(low for low, _ in spans),
        "maximum": lambda: max(high for _, high in spans),
    }[statistic]()
    return (
        abs(told[0] - expected) <= 1.0
        if isinstance(cell, dt.date)
        else math.isclose(told[0], expected, abs_tol=1e-9)
    )


def span_of(cell: object) -> tuple[float, float] | None:
    """The numbers between which a cell lies; dates in days."""
    if isinstance(cell, dt.datetime):
        days = (cell - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1)
        return days, days
    if isinstance(cell, dt.date):
        return float(cell.toordinal() - 719163), float(cell.toordinal() - 719163)
    text = str(cell)
    if re.fullmatch(r"\d{4}-\d\d-\d\d( [\d:.]+)?", text):
        return span_of(dt.datetime.fromisoformat(text))
    ends = re.fullmatch(r"\[(.+), (.+)\]", text)
    try:
        low, high = map(float, ends.groups() if ends else (text, text))
    except ValueError:
        return None
    return low, high


def groups(
    released: Sequence[tuple[int, dict[str, object]]], starred: Sequence[bool], name: str
) -> dict[object, list[int]]:
    found: dict[object, list[int]] = defaultdict(list)
    for (number, row), star in zip(released, starred, strict=True):
        if not star:
            found[row[name]].append(number)
    return found


def ancestors(release: Release, name: str) -> dict[str, set[str]]:
    hierarchy = next(one.hierarchy for one in release.hierarchies if one.ladder.name == name)
    return {row[0]: set(row) for row in hierarchy.rows()}


def covers(method: str, label: object, values: list[object], ladder: dict[str, set[str]]) -> None:
    """A new value must mean at least what it replaced."""
    if method == "microaggregation" and label != "*":
        numbers = [float(v) for v in values if isinstance(v, int | float) and not math.isnan(v)]
        if numbers and len(numbers) == len(values) and not any(isinstance(v, bool) for v in values):
            assert min(numbers) - 1e-9 <= float(str(label)) <= max(numbers) + 1e-9
        return
    for value in values:
        text = plain(value)
        forms = {"∅" if text is None else str(value), *([] if text is None else [text])}
        if isinstance(value, float) and value.is_integer():
            forms |= {str(int(value)), f"{value + 0.0}"}
        if label is None or label == "*" or same(label, value):
            assert label is not None or not text  # a spreadsheet has one kind of empty cell
            continue
        printed = str(label)
        if printed in forms or any(printed in ladder.get(form, ()) for form in forms):
            continue
        inner = printed[1:-1]
        if printed[0] == "{":
            quoted = {'"' + form.replace('"', '""') + '"' for form in forms}
            # Of members that are only counted nothing can be said.
            counted = re.search(r"\+\d+$", inner)
            assert counted or any(form in inner for form in forms | quoted), (printed, value)
            continue
        sign, _, bound = printed.partition(" ")
        if sign in ("<=", ">=", "<", ">"):
            own, end = (
                (str(value), bound) if isinstance(value, dt.date) else (float(str(value)), float(bound))
            )
            assert own == end if sign.endswith("=") and own == end else (own < end) is (sign[0] == "<")  # type: ignore[operator]
            continue
        low, high = inner.split(", ")
        assert printed[0] + printed[-1] == "[]", (printed, value)
        if isinstance(value, dt.date):
            assert low <= str(value) <= high
        else:
            assert float(low) <= float(str(value)) <= float(high)


def check_pseudonyms(
    person: str, released: Sequence[tuple[int, dict[str, object]]], original: dict[int, dict[str, object]]
) -> None:
    """One pseudonym per person and one person per pseudonym, and none of them is an id."""
    pairs = {(original[number][person], row[person]) for number, row in released}
    assert len(pairs) == len({new for _, new in pairs}) == len({old for old, _ in pairs})
    assert {str(old) for old, _ in pairs}.isdisjoint(str(new) for _, new in pairs)


# ── the property ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", METHODS)
@tries(12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(case=cases())
def test_a_release_keeps_its_promises_or_does_not_exist(method: Method, case: Case) -> None:
    case = replace(case, plan=replace(case.plan, method=method))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        policy = case.policy(folder)
        target = folder / f"release{case.ending}"
        try:
            release = anonymize(case.rows, policy, plan=case.plan)
        except GoalUnreachable:
            event("unreachable")
            assert not target.exists()
            return
        release.save(target)
        event(f"{release.chosen.method}: {'some suppressed' if release.suppressed else 'all shown'}")
        # Beside it lies what tells labels that name some of their values only, if it has any.
        beside = release.codebook_place(target)
        told = [] if beside is None else [beside.name]
        assert sorted(path.name for path in folder.iterdir()) == sorted(["bare.toml", target.name, *told])
        check(case, target, release)
        assert release.verdict.passes
        if case.reference == "release" or not case.close:
            assert discreet.check(target, release.policy).passes


@pytest.mark.parametrize("method", METHODS)
@tries(8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(case=cases(), kind=st.sampled_from(["json", "toml"]))
def test_a_recipe_makes_the_same_release_of_the_same_rows(
    method: Method, case: Case, kind: Literal["json", "toml"]
) -> None:
    case = replace(case, plan=replace(case.plan, method=method))
    with tempfile.TemporaryDirectory() as place:
        policy = replace(case.policy(Path(place)), plan=case.plan)
        key = "the same key for both" if case.plan.person == "pseudonymise" else None
        try:
            first = anonymize(case.rows, policy, key=key)
        except GoalUnreachable:
            return
        recipe = Recipe.loads(first.recipe.dumps(kind))
        assert recipe == first.recipe
        again = apply(recipe, case.rows, policy, key=key)
        assert again.suppressed == first.suppressed
        assert rows_of(again).equals(rows_of(first))


def rows_of(release: Release) -> pa.Table:
    return release.table.engine.to_arrow(release.table)
