"""A recoding gives the same rows on every engine, and so does the whole way to a release."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from discreet.engine.protocol import Engine
from discreet.engine.read import read
from discreet.policy import Policy
from discreet.policy.plan import Method, Plan
from discreet.privacy import KAnonymity, LDiversity
from discreet.release.anonymize import anonymize
from discreet.table import Domain, Table

ROWS = pa.table(
    {
        "Row": [0, 1, 2, 3, 4, 5],
        "age": pa.array([31, 31, None, 47, 47, None], pa.int32()),
        "height": [1.5, 1.5, math.nan, 0.0, -0.0, None],
        'the "odd" `one`': ["ä", "ä", "", "日本", "日本", None],
        "day": [dt.date(2020, 1, 1), None, dt.date(1899, 12, 31), None, None, dt.date(2020, 1, 1)],
        "who": ["p1", "p2", "p1", "p'3", "p4", "p4"],
        "discreet_row": ["a", "b", "c", "d", "e", "f"],
    }
)
KNOWN = ["age", "height", 'the "odd" `one`']


def rows(table: Table) -> list[dict[str, object]]:
    found = table.engine.to_arrow(table)
    return found.to_pylist()  # type: ignore[no-any-return]


def test_values_are_replaced_by_class_and_rows_keep_their_order(engine: Engine) -> None:
    table = read(ROWS, engine=engine)
    classes = engine.count(table, quasi_identifiers=KNOWN)
    labels = pa.array([f"class {i}" for i in range(len(classes))])
    kept = classes.records > 1
    assert kept.sum() == 2
    new = engine.recode(
        table, classes, values={"age": labels}, kept=kept, columns=["discreet_row", "age", "height", "Row"]
    )
    found = rows(new)
    assert new.rows == 4
    assert list(found[0]) == ["discreet_row", "age", "height", "Row"]
    assert [row["Row"] for row in found] == [0, 1, 3, 4]
    assert found[0]["age"] == found[1]["age"] != found[2]["age"] == found[3]["age"]
    assert [row["height"] for row in found] == [1.5, 1.5, 0.0, 0.0]
    assert all(math.copysign(1, float(str(row["height"]))) > 0 for row in found)


def test_what_was_counted_as_one_value_is_shown_as_one(engine: Engine) -> None:
    table = read(ROWS, engine=engine)
    classes = engine.count(table, quasi_identifiers=["height"])
    new = engine.recode(
        table, classes, values={}, kept=np.ones(len(classes), dtype=bool), columns=["height", "day"]
    )
    assert [row["height"] for row in rows(new)] == [1.5, 1.5, None, 0.0, 0.0, None]
    assert [row["day"] for row in rows(new)] == ROWS["day"].to_pylist()


def test_one_class_needs_no_dictionary(engine: Engine) -> None:
    table = read(pa.table({"x": ["a", "a"], "n": [1, 2]}), engine=engine)
    classes = engine.count(table, quasi_identifiers=["x"])
    new = engine.recode(
        table, classes, values={"x": pa.array(["*"])}, kept=np.array([True]), columns=["x", "n"]
    )
    assert rows(new) == [{"x": "*", "n": 1}, {"x": "*", "n": 2}]


def test_keyed_hashes_are_the_same_everywhere(engine: Engine) -> None:
    """Worked out by hand: sha256(key || hex of sha256(key || value))."""
    import hashlib

    key = "it's a \\ key ✓"
    table = read(ROWS, engine=engine)
    classes = engine.count(table, quasi_identifiers=["age"])
    new = engine.recode(
        table, classes, values={}, kept=np.ones(len(classes), dtype=bool), columns=["who"], keys={"who": key}
    )

    def sha(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    assert [row["who"] for row in rows(new)] == [sha(key + sha(key + who)) for who in ROWS["who"].to_pylist()]


@pytest.mark.parametrize(
    ("method", "suppressed"),
    [("optimal", "star"), ("optimal", "drop"), ("mondrian", "drop"), ("microaggregation", "star")],
)
def test_a_whole_release_is_the_same_on_every_engine(
    engine: Engine, tmp_path: Path, method: Method, suppressed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside DuckDB as it is: Spark, and DuckDB coding rows by statements, as it does with many."""
    many = pa.table(
        {
            "nr": range(60),
            "who": [f"p{i // 2}" for i in range(60)],
            "age": pa.array([None if i % 17 == 5 else 20 + i * 7 % 30 for i in range(60)]),
            "town": ["abc"[i % 3] if i % 11 else None for i in range(60)],
            "ill": [["flu", "cold", "well"][i * i % 3] for i in range(60)],
        }
    )
    policy = Policy.of(
        quasi_identifiers=["age", "town"],
        sensitive=["ill"],
        person="who",
        require=[KAnonymity(4), LDiversity(2, "ill")],
        profile="research-partner-3",
    )
    plan = Plan(method=method, suppressed="star" if suppressed == "star" else "drop", person="pseudonymise")
    source = tmp_path / "many.parquet"
    pyarrow.parquet.write_table(many, source)
    wanted = anonymize(read(source), policy, plan=plan, key="one key for both")
    monkeypatch.setattr(engine, "few_rows", 0)
    found = anonymize(read(source, engine=engine), policy, plan=plan, key="one key for both")
    assert rows(found.table) == rows(wanted.table)
    assert found.recipe == wanted.recipe
    assert found.suppressed == wanted.suppressed
    found.save(tmp_path / "found.csv")
    wanted.save(tmp_path / "wanted.csv")
    assert (tmp_path / "found.csv").read_bytes() == (tmp_path / "wanted.csv").read_bytes()


def test_a_shuffled_table_follows_from_its_rows_alone_and_knows_where_they_were(engine: Engine) -> None:
    """The same rows in another order give the same table: nothing of the order is left for whoever knows the seed."""
    people = ROWS.append_column("discreet_row_place", ROWS["Row"])
    back = people.take(pa.array([5, 3, 1, 0, 2, 4]))
    first = engine.shuffle(read(people, engine=engine), seed=1)
    again = engine.shuffle(read(back, engine=engine), seed=1)
    assert first.names == again.names == tuple(people.column_names)
    order = [row["Row"] for row in rows(first)]
    assert order == [row["Row"] for row in rows(again)]
    assert sorted(int(str(number)) for number in order) == list(range(6))
    other = [[row["Row"] for row in rows(engine.shuffle(first, seed=seed))] for seed in range(5)]
    assert len({tuple(order) for order in other}) > 1, "another seed, another order"
    places = engine.places(first)
    assert places is not None
    assert places.tolist() == order
    assert engine.places(read(people, engine=engine)) is None


def test_equal_rows_are_spread_and_each_is_followed_to_its_own(engine: Engine) -> None:
    twice = pa.table({"a": ["x", "y"] * 40, "b": [None, "1:x", "", "-"] * 20})
    table = engine.shuffle(read(twice, engine=engine), seed=3)
    places = engine.places(table)
    assert places is not None
    assert sorted(places.tolist()) == list(range(80))
    shown = rows(table)
    assert [twice.slice(int(at), 1).to_pylist()[0] for at in places] == shown
    runs = sum(left != right for left, right in itertools.pairwise(shown))
    assert runs > 30, "equal rows do not stand in one block"


def test_rows_are_recoded_by_classes_that_were_rolled_up(engine: Engine) -> None:
    """The values 31 and 34 have one code in the coarser classes, and the null keeps its own."""
    table = read(pa.table({"age": [31, 47, None, 34], "ill": ["a", "b", "c", "d"]}), engine=engine)
    classes = engine.count(table, quasi_identifiers=["age"])
    decades = Domain("age", pa.array(["30s", "40s"]), has_null=True)
    coarser = classes.roll_up({"age": ([0, 0, 1, 2], decades)})
    labels = pa.array(["30s", "40s", None]).take(pa.array(coarser.codes[0]))
    new = engine.recode(
        table,
        coarser,
        values={"age": labels},
        kept=np.array([True, True, True]),
        columns=["age", "ill"],
        codes={"age": (classes.attributes[0].values, np.array([0, 0, 1]))},
    )
    assert [row["age"] for row in rows(new)] == ["30s", "40s", None, "30s"]


def test_of_many_rows_too_equal_ones_are_spread_and_no_order_is_left(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels are kept as numbers then; whoever reads the table sees texts."""
    for module in ("counting", "sql"):
        monkeypatch.setattr(f"discreet.engine.{module}.MANY_ROWS", 10)
    people = pa.table({"age": [i % 4 for i in range(120)], "b": ["x", None] * 60})
    labels = {0: "young", 1: "young", 2: None, 3: "old"}

    def shuffled(people: pa.Table) -> Table:
        table = read(people, engine=engine)
        classes = engine.count(table, quasi_identifiers=["age"])
        new = pa.array([labels[int(c)] for c in classes.codes[0]])
        kept = np.array([int(c) != 1 for c in classes.codes[0]])
        recoded = engine.recode(table, classes, values={"age": new}, kept=kept, columns=["age", "b"])
        assert recoded.column("age").storage == "text"
        assert engine.domain(recoded, "age").labels() == ["old", "young", "∅"]
        counted = engine.count(recoded, quasi_identifiers=["age", "b"])
        assert sorted(zip(counted.codes[0].tolist(), counted.records.tolist(), strict=True)) == [
            (0, 30),
            (1, 30),
            (2, 30),
        ]
        return engine.shuffle(recoded, seed=4)

    table = shuffled(people)
    shown = engine.to_arrow(table)
    assert pa.types.is_string(shown["age"].type)
    runs = sum(left != right for left, right in itertools.pairwise(shown.to_pylist()))
    assert runs > 40, "equal rows do not stand in one block"
    backwards = shuffled(people.take(list(range(119, -1, -1))))
    assert engine.to_arrow(backwards).equals(shown)
    assert not engine.to_arrow(engine.shuffle(table, seed=5)).equals(shown)
    places = engine.places(table)
    assert places is not None
    original = people.take(pa.array(places))
    assert [labels[age] for age in original["age"].to_pylist()] == shown["age"].to_pylist()
    assert original["b"].equals(shown["b"].cast(pa.string()))


def test_places_are_those_of_the_first_table_through_drawing_recoding_and_shuffling(engine: Engine) -> None:
    many = pa.table({"nr": list(range(400)), "age": [n % 7 for n in range(400)]})
    table = engine.thin(read(many, engine=engine), 0.5, seed=2)
    classes = engine.count(table, quasi_identifiers=["age"])
    kept = np.array([label != "3" for label in classes.attributes[0].labels()])[classes.codes[0]]
    new = engine.recode(table, classes, values={}, kept=kept, columns=["nr"])
    assert new.names == ("nr",)
    shuffled = engine.shuffle(new, seed=5)
    for made in (new, shuffled):
        places = engine.places(made)
        assert places is not None
        shown = engine.to_arrow(made)
        assert shown.column_names == ["nr"]
        assert places.tolist() == shown["nr"].to_pylist()
