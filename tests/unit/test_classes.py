"""Equivalence classes against counting rows one by one, at person and event level, weighted, and in several words."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.classes import EquivalenceClasses
from discreet.classes.merged import MergedClasses
from discreet.classes.packing import WORD_BITS, Packing, run_starts, smallest_type, sort_words
from discreet.errors import UnknownColumn
from discreet.privacy import TCloseness
from discreet.table import Domain
from helpers.profiles import seeds


@dataclass(frozen=True)
class Rows:
    """A small random table as plain rows."""

    quasi: dict[str, list[object]]
    sensitive: dict[str, list[object]]
    person: list[object] | None
    weight: list[float] | None

    @property
    def length(self) -> int:
        return len(next(iter(self.quasi.values())))

    def keys(self, names: list[str] | tuple[str, ...]) -> list[tuple[object, ...]]:
        return list(zip(*(self.quasi[name] for name in names), strict=True)) if names else [()] * self.length

    @property
    def classes(self) -> EquivalenceClasses:
        return EquivalenceClasses.from_columns(
            self.quasi, sensitive=self.sensitive, person=self.person, weight=self.weight
        )


@st.composite
def tables(draw: st.DrawFn, *, max_columns: int = 4) -> Rows:
    n = draw(st.integers(1, 24))
    kinds = [
        st.sampled_from([1, 2, 3, None]),
        st.sampled_from(["a", "b", "", "ü", None]),
        st.sampled_from([0.5, -1.0, 2.25]),
        st.just("only"),
        st.none(),
    ]

    def column() -> list[object]:
        return draw(st.lists(draw(st.sampled_from(kinds)), min_size=n, max_size=n))

    return Rows(
        quasi={f"q{i}": column() for i in range(draw(st.integers(1, max_columns)))},
        sensitive={f"s{i}": column() for i in range(draw(st.integers(0, 2)))},
        person=draw(st.none() | st.lists(st.integers(1, 6), min_size=n, max_size=n)),
        weight=draw(st.none() | st.lists(st.floats(0.5, 9.5), min_size=n, max_size=n)),
    )


def key_of(classes: EquivalenceClasses, position: int) -> tuple[object, ...]:
    """The values of one class, nulls as ``None``."""
    return tuple(
        None if int(codes[position]) == domain.null_code else domain.values[int(codes[position])].as_py()
        for domain, codes in zip(classes.attributes, classes.codes, strict=True)
    )


def agree(classes: EquivalenceClasses, keys: list[tuple[object, ...]], rows: Rows) -> None:
    """Everything the classes say is what counting the rows says."""
    records = Counter(keys)
    persons = defaultdict(set)
    weights: dict[tuple[object, ...], dict[object, list[float]]] = defaultdict(lambda: defaultdict(list))
    for i, key in enumerate(keys):
        persons[key].add(i if rows.person is None else rows.person[i])
        weights[key][i if rows.person is None else rows.person[i]].append(
            rows.weight[i] if rows.weight else 1.0
        )
    assert len(classes) == len(records)
    assert classes.total == rows.length
    assert classes.total_persons == (rows.length if rows.person is None else len(set(rows.person)))
    assert classes.event_level is (rows.person is not None)
    found = [key_of(classes, c) for c in range(len(classes))]
    assert set(found) == set(records)
    for c, key in enumerate(found):
        assert classes.records[c] == records[key]
        assert classes.persons[c] == len(persons[key])
        if rows.weight is not None:
            assert classes.class_weights is not None
            assert classes.class_weights[c] == pytest.approx(sum(map(fmean, weights[key].values())))
    for name, values in rows.sensitive.items():
        histogram = classes.histogram(name)
        counted = Counter(zip(keys, values, strict=True))
        who = defaultdict(set)
        for i, (key, value) in enumerate(zip(keys, values, strict=True)):
            who[key, value].add(i if rows.person is None else rows.person[i])
        assert len(histogram.records) == len(counted)
        for c, key in enumerate(found):
            for at in range(histogram.indptr[c], histogram.indptr[c + 1]):
                code = int(histogram.values[at])
                null = code == histogram.domain.null_code
                value = None if null else histogram.domain.values[code].as_py()
                assert histogram.records[at] == counted[key, value]
                assert histogram.persons[at] == len(who[key, value])
        totals = Counter(values)
        assert sum(histogram.totals) == rows.length
        for code, total in enumerate(histogram.totals):
            null = code == histogram.domain.null_code
            assert total == totals[None if null else histogram.domain.values[code].as_py()]
    if rows.person is not None:
        counts = classes.person_counts
        assert counts.records.sum() == rows.length
        assert np.diff(counts.indptr).tolist() == classes.persons.tolist()


@given(tables())
def test_counting_is_counting_rows(rows: Rows) -> None:
    agree(rows.classes, rows.keys(tuple(rows.quasi)), rows)


@given(tables(), st.data())
def test_project_is_counting_fewer_columns(rows: Rows, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(list(rows.quasi)), unique=True))
    projected = rows.classes.project(names)
    assert projected.names == tuple(names)
    agree(projected, rows.keys(names), rows)


@given(tables(), st.data())
def test_roll_up_is_counting_recoded_columns(rows: Rows, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(rows.quasi)))
    classes = rows.classes
    old = classes.attributes[classes.index(name)]
    groups = data.draw(st.integers(1, 3))
    mapping = data.draw(st.lists(st.integers(0, groups - 1), min_size=old.size, max_size=old.size))
    coarser = Domain(name, pa.array([f"group {g}" for g in range(groups)]))
    rolled = classes.roll_up({name: (mapping, coarser)})
    code_of = {None if c == old.null_code else old.values[c].as_py(): c for c in range(old.size)}
    recoded = {**rows.quasi, name: [f"group {mapping[code_of[value]]}" for value in rows.quasi[name]]}
    changed = Rows(recoded, rows.sensitive, rows.person, rows.weight)
    agree(rolled, changed.keys(tuple(recoded)), changed)
    assert rolled.records.min() >= classes.records.min()
    assert rolled.persons.min() >= classes.persons.min()


@given(tables(), st.data())
def test_groups_number_the_combinations(rows: Rows, data: st.DataObject) -> None:
    classes = rows.classes
    names = data.draw(st.lists(st.sampled_from(list(rows.quasi)), unique=True))
    numbers, bound = classes.groups(names)
    assert numbers.min() >= 0
    assert numbers.max() < bound
    at = [classes.index(name) for name in names]
    keys = [tuple(key_of(classes, c)[j] for j in at) for c in range(len(classes))]
    assert len(set(zip(numbers.tolist(), keys, strict=True))) == len(set(keys)) == len(set(numbers.tolist()))
    shared = Counter(rows.keys(names))
    assert classes.group_records(names).tolist() == [shared[key] for key in keys]


def many_columns(n: int, columns: int, values: int, seed: int = 3) -> dict[str, list[object]]:
    """Columns that together need more bits than one word has; half of the rows are repeated."""
    rng = np.random.default_rng(seed)
    half = rng.integers(0, values, (n // 2, columns))
    found = np.concatenate([half, half])
    # Every value occurs, so that the domains are as large as asked for.
    found[:values] = np.arange(values)[:, None]
    return {f"q{j}": found[:, j].tolist() for j in range(columns)}


@pytest.mark.parametrize("with_person", [False, True])
@pytest.mark.parametrize("with_weight", [False, True])
def test_combinations_of_several_words(with_person: bool, with_weight: bool) -> None:
    rng = np.random.default_rng(5)
    n, columns, values = 400, 20, 100
    quasi = many_columns(n, columns, values)
    rows = Rows(
        quasi,
        {"s": rng.integers(0, 90, n).tolist()},
        rng.integers(0, 50, n).tolist() if with_person else None,
        rng.uniform(1, 5, n).tolist() if with_weight else None,
    )
    assert Packing.of([values] * columns).words >= 3
    agree(rows.classes, rows.keys(tuple(quasi)), rows)
    some = [f"q{j}" for j in range(0, columns, 2)]
    agree(rows.classes.project(some), rows.keys(some), rows)
    numbers, bound = rows.classes.groups(list(quasi))
    assert len(set(numbers.tolist())) == len(rows.classes) == bound


@pytest.mark.parametrize("columns", [3, 9, 10, 25])
def test_the_engine_counts_the_same(columns: int) -> None:
    """One word or several, SQL and memory agree, with persons, weights and nulls."""
    rng = np.random.default_rng(columns)
    n = 300
    quasi = many_columns(n, columns, 120, seed=columns)
    quasi["q0"] = [None if value == 7 else value for value in quasi["q0"]]
    quasi["q1"] = [None if value == 3 else f"v{value}" for value in quasi["q1"]]
    rows = Rows(
        quasi,
        {"s": [None if v == 0 else int(v) for v in rng.integers(0, 9, n)]},
        rng.integers(0, 40, n).tolist(),
        rng.uniform(1, 2, n).tolist(),
    )
    assert rows.person is not None
    table = discreet.read(pa.table({**quasi, **rows.sensitive, "person": rows.person, "weight": rows.weight}))
    counted = table.engine.count(
        table, quasi_identifiers=list(quasi), sensitive=["s"], person="person", weight="weight"
    )
    agree(counted, rows.keys(tuple(quasi)), rows)


@given(st.lists(st.integers(1, 1 << 20), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_packing_and_unpacking(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, 7) for size in sizes]
    packing = Packing.of(sizes)
    words = packing.pack(codes)
    assert len(words) == packing.words
    assert all((word >= 0).all() for word in words)
    for j, column in enumerate(codes):
        assert packing.unpack(words, j).tolist() == column.tolist()
    order = np.lexsort(tuple(reversed(words)))
    by_codes = np.lexsort(tuple(reversed(codes)))
    rows = np.stack(codes, axis=1)
    assert rows[order].tolist() == rows[by_codes].tolist(), "words sort as their attributes do"


def test_packing_fills_words_to_the_last_bit() -> None:
    exact = Packing.of([1 << 31, 1 << 32])
    assert exact.words == 1
    assert sum(field.bits for field in exact.fields) == WORD_BITS
    assert Packing.of([1 << 32, 1 << 32]).words == 2
    assert Packing.of([1, 1]).fields[0].bits == 0


@pytest.mark.parametrize(
    ("size", "kind"), [(1, "uint8"), (256, "uint8"), (257, "uint16"), (65_537, "uint32")]
)
def test_smallest_type(size: int, kind: str) -> None:
    assert smallest_type(size).__name__ == kind


@given(st.lists(st.tuples(st.integers(0, 2**62), st.integers(1, 2**40)), max_size=20), st.integers(1, 2))
def test_sorting_words_keeps_their_counts(pairs: list[tuple[int, int]], columns: int) -> None:
    """Also where word and count do not fit into one word together."""
    word = np.array([word for word, _ in pairs], dtype=np.int64)
    counts = np.array([count for _, count in pairs], dtype=np.int64)
    words = [word, word % 7][:columns]
    found, sorted_counts = sort_words(words, counts)
    before = Counter(zip(*(w.tolist() for w in words), counts.tolist(), strict=True))
    after = list(zip(*(w.tolist() for w in found), sorted_counts.tolist(), strict=True))
    assert Counter(after) == before
    assert [row[:-1] for row in after] == sorted(row[:-1] for row in after)


def test_run_starts() -> None:
    assert run_starts([np.array([1, 1, 2]), np.array([5, 6, 6])]).tolist() == [0, 1, 2]
    assert run_starts([np.array([], dtype=np.int64)]).tolist() == []


def test_unknown_names_are_refused_with_the_nearest() -> None:
    classes = EquivalenceClasses.from_columns({"age": [1]}, sensitive={"dx": ["a"]})
    for call in (classes.index, classes.histogram, classes.column_of_cells, lambda n: classes.project([n])):
        with pytest.raises(UnknownColumn, match="there is no column 'agee'"):
            call("agee")


def test_labels_print_nulls() -> None:
    classes = EquivalenceClasses.from_columns({"age": [31, None], "sex": ["f", "f"]})
    assert [classes.labels(c) for c in range(2)] == [{"age": "31", "sex": "f"}, {"age": "∅", "sex": "f"}]


def test_persons_of_merged_classes_are_counted_once_each() -> None:
    draw = np.random.default_rng(3)
    rows = [
        (int(a), int(dx), int(who))
        for a, dx, who in zip(
            draw.integers(0, 12, 200), draw.integers(0, 3, 200), draw.integers(0, 40, 200), strict=True
        )
    ]
    ages, values, people = (list(column) for column in zip(*rows, strict=True))
    classes = EquivalenceClasses.from_columns({"age": ages}, sensitive={"dx": values}, person=people)
    halves = MergedClasses.of(classes, np.arange(12) // 2, 6)
    merged = MergedClasses.of(halves, np.array([0, 1, 0, 1, 2, 2]), 3)
    group = [[0, 1, 0, 1, 2, 2][age // 2] for age in ages]
    assert merged.persons.tolist() == [
        len({who for who, g in zip(people, group, strict=True) if g == wanted}) for wanted in range(3)
    ]
    assert merged.histogram("dx").persons.tolist() == [
        len({who for (_, dx, who), g in zip(rows, group, strict=True) if (g, dx) == (wanted, value)})
        for wanted in range(3)
        for value in range(3)
    ]


@seeds(20)
def test_counts_are_rolled_up_as_tables(seed: int) -> None:
    """Twice merged, each group has the counts of its classes, as a table and as a histogram."""
    draw = np.random.default_rng(seed)
    ages, values = draw.integers(0, 12, 60), draw.integers(0, 5, 60)
    classes = EquivalenceClasses.from_columns({"age": ages.tolist()}, sensitive={"dx": values.tolist()})
    first = draw.integers(0, 6, len(classes))
    first[:6] = np.arange(6)
    second = np.array([0, 1, 2, 0, 1, 2])
    merged = MergedClasses.of(MergedClasses.of(classes, first, 6), second, 3)
    expected = np.zeros((3, classes.sensitive[0].size), dtype=int)
    group = dict(zip(classes.attributes[0].labels(), second[first].tolist(), strict=True))
    names = classes.sensitive[0].labels()
    for age, value in zip(ages, values, strict=True):
        expected[group[str(age)], names.index(str(value))] += 1
    table, histogram = merged.table("dx"), merged.histogram("dx")
    assert table is not None
    assert table.tolist() == expected.tolist()
    assert histogram.records.tolist() == expected[expected > 0].tolist()
    assert histogram.values.tolist() == np.nonzero(expected)[1].tolist()
    assert merged.totals("dx").tolist() == expected.sum(axis=0).tolist()
    for alone in (False, True):
        chosen = np.array([True, False, True])
        whole = expected[chosen].sum(axis=0) if alone else expected.sum(axis=0)
        shares = expected[chosen] / expected[chosen].sum(axis=1, keepdims=True)
        by_hand = np.abs(shares - whole / whole.sum()).sum(axis=1) / 2
        assert TCloseness(0.2, "dx").distances_of(merged, chosen, alone=alone) == pytest.approx(by_hand)
        part = histogram.subset(chosen, alone=alone)
        assert TCloseness(0.2, "dx").distances(part) == pytest.approx(by_hand)
