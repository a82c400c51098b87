"""Answers with noise: what may be asked, what each person contributes, and what is paid."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.cli.guarantee_options import keys_option
from discreet.dp.ledger import Ledger
from discreet.engine.question import parse_question
from discreet.errors import (
    DiscreetError,
    InvalidParameter,
    MissingDependency,
    UnknownColumn,
    UnreadableInput,
    UnsuitableColumn,
)

pytest.importorskip("opendp")

SURE = 10**9
"""So much that noise is nought: figures can be checked by hand."""
PEOPLE = pa.table(
    {
        "who": ["a", "a", "a", "b", "b", "c", None, None],
        "town": ["x", "x", "y", "x", "z", "y", "y", None],
        "age": [30, 30, 30, 40, 40, None, 50, 60],
        "pay": [1.5, float("inf"), float("nan"), -7.0, 2.25, 3.0, None, 4.0],
        "day": pa.array(["2024-01-01", "2024-02-01", None] + ["2024-03-01"] * 5).cast(pa.date32()),
        "old": [False, False, False, False, False, None, True, True],
    }
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget")
    made.set_budget(10**12, "0.5")
    return made


def asked(
    ledger: Ledger, question: str, rows: pa.Table = PEOPLE, **terms: object
) -> list[tuple[object, ...]]:
    """The answer without noise: keys and values of each row."""
    given = {"epsilon": SURE, "person": "who", "max_rows": 99, "max_groups": 99, **terms}
    if "unit" in given:
        given.pop("person")
    answer = discreet.ask(rows, question, ledger=ledger, **given)  # type: ignore[arg-type]
    return [(*row.keys, *(figure.value for figure in row.figures)) for row in answer.rows]


# ── what is answered ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("select count(*) from data", 8),
        ("select count(age) from data", 7),
        ("SELECT COUNT(DISTINCT who) FROM data;", 4),
        ("select sum(age) from data", 280),
        ("select avg(age) from data", 40),
        # Infinite is clamped to 5, −7 to 0, and what is no number does not count.
        ("select sum(pay) from data", 1.5 + 5 + 0 + 2.25 + 3 + 4),
        ("select count(*) from data where age >= 40 and not town = 'x'", 2),
        ("select count(*) from data where age > 30.5", 4),
        ("select count(*) from data where age between 30 and 40 or town is null", 6),
        ("select count(*) from data where town in ('x', 'z') and age <> 30", 2),
        ("select count(*) from data where town not in ('x', 'z')", 3),
        ("select count(*) from data where town like 'x%' or town not like '%'", 3),
        ("select count(*) from data where day >= '2024-02-01'", 6),
        ("select count(*) from data where old", 2),
        ("select count(*) from data where old = false and day is not null", 4),
        ("select count(*) from data where \"AGE\" = 30 and data.town = 'x'", 2),
        ("select median(age) from data", 40),
        ("select quantile_cont(age, 0.99) from data", 60),
    ],
)
def test_figures_by_hand(question: str, expected: float, ledger: Ledger) -> None:
    bounds = {"age": (0, 100), "pay": (0, 5)}
    ((value,),) = asked(ledger, question, bounds=bounds)
    assert value == pytest.approx(expected, abs=1e-4)
    ((alone,),) = asked(ledger, question.replace("DISTINCT who", "*"), bounds=bounds, unit="record")
    assert alone == pytest.approx(8 if "who" in question.lower() else expected, abs=1e-4)


def test_given_groups_are_all_shown_and_no_others(ledger: Ledger) -> None:
    question = "select town, count(*), sum(age) from data group by town"
    shown = asked(ledger, question, keys={"town": ["z", "x", "nowhere", None]}, bounds={"age": (0, 100)})
    assert shown == [("nowhere", 0, 0), ("x", 3, 100), ("z", 1, 40), (None, 1, 60)]


def test_groups_of_numbers_days_and_truths(ledger: Ledger) -> None:
    for name, given, expected in (
        ("age", [30, "40", 41], [(30, 3), (40, 2), (41, 0)]),
        ("day", ["2024-03-01"], [("2024-03-01", 5)]),
        ("old", [True, "false"], [(False, 5), (True, 2)]),
    ):
        shown = asked(ledger, f"select {name}, count(*) from data group by {name}", keys={name: given})
        assert shown == expected


def test_groups_that_enough_persons_share_are_found(ledger: Ledger) -> None:
    rows = pa.table({"who": list(range(100)), "town": ["large"] * 60 + ["small"] * 39 + ["alone"]})
    question = "select town, count(*) as n from data group by town order by n desc"
    # With a row each the noise is far smaller than what the towns differ by.
    terms = {"epsilon": 20, "delta": "1e-9", "max_groups": 1, "max_rows": 1}
    shown = asked(ledger, question, rows, **terms)
    assert [row[0] for row in shown] == ["large", "small"]
    assert len(asked(ledger, question + " limit 1", rows, **terms)) == 1


def test_an_answer_says_what_it_guarantees_and_what_is_left(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget")
    ledger.set_budget(1, "1e-5")
    answer = discreet.ask(
        PEOPLE,
        "select avg(age) as mean from data",
        epsilon="1/3",
        person="who",
        max_rows=2,
        bounds={"age": (0, 120)},
        ledger=ledger,
    )
    told = json.loads(json.dumps(answer.to_dict()))
    assert (answer.left_epsilon, answer.left_delta) == (Fraction(2, 3), Fraction(1, 100000))
    assert told["guarantee"]["epsilon"] == "1/3"
    assert told["guarantee"]["flavour"] == "pure"
    assert "of each at most 2 rows" in told["guarantee"]["unit_description"]
    assert "values of age lie between 0 and 120, given" in told["guarantee"]["public"]
    # Two measurements share the amount: scale = rows · 60 / (1/6) for the sum, rows / (1/6) for the count.
    assert told["guarantee"]["mechanisms"] == [
        "count of age: discrete Laplace noise of scale 12",
        "sum of age: discrete Laplace noise of scale 720",
    ]
    assert answer.to_arrow().column_names == ["mean", "mean low", "mean high"]
    (row,) = answer.rows
    assert 0 <= row.figures[0].low <= row.figures[0].value <= row.figures[0].high <= 120  # type: ignore[operator]


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("select * from data", "rows, which are never shown"),
        ("select age from data", "asks for no figure"),
        ("select age, count(*) from data", "does not group by"),
        ("select max(age) from data", "value of one person"),
        ("select stddev(age) from data", "no derived bound"),
        ("select md5(town) from data", "bounds are not known"),
        ("select sum(age * 2) from data", "computes values"),
        ("select count(*) + 1 from data", "computes values"),
        ("select sum(cast(age as int)) from data", "computes values"),
        ("select count(distinct town) from data", "one person may have many"),
        ("select sum(distinct age) from data", "one person may have many"),
        ("select distinct town from data", "distinct rows"),
        ("select count(*) from data join data", "joins"),
        ("select count(*) from data group by town having count(*) > 3", "true figures"),
        ("select count(*) over () from data", "window"),
        ("select count(*) from people", "does not read the table"),
        ("select count(*) from (select * from data)", "does not read the table"),
        ("select count(*) from data where age = (select 3)", "no constant"),
        ("select count(*) from data where cast(town as int) = 3", "computes values"),
        ("select count(*) from data where sqrt(age) > 3", "could fail for the value of one person"),
        ("select count(*) from data where age / 0 > 3", "computes values"),
        ("select count(*) from data where age > who", "no constant"),
        ("select count(*) from data union select count(*) from data", "several parts"),
        ("with x as (select 1) select count(*) from data", "parts of its own"),
        ("select count(*) from data; drop table data", "goes on"),
        ("select count(*) from data -- quiet", "computes values"),
        ("select count(*) from data order by town", "ordered by what is no figure"),
        ("select count(*) from data limit 0", "no whole number above 0"),
        ("select quantile_cont(age, 1.5) from data", "between 0 and 1"),
        ("select quantile_cont(age, 1e-300) from data", "more than six decimals"),
        ("select count(*), count(*) from data", "one name"),
        ("select town, count(*) as Town from data group by town", "one name"),
        ("select count(*) from data where town like 'x\\'", "backslash"),
        ("select count(*) from data where " + "(" * 99 + "old" + ")" * 99, "too deeply"),
        ("select count(*) from data where town = 'x", "not part of its grammar"),
        ("", "lacks 'select'"),
    ],
)
def test_what_cannot_be_bounded_is_refused_with_the_reason(
    question: str, reason: str, ledger: Ledger
) -> None:
    with pytest.raises(InvalidParameter, match=reason):
        asked(ledger, question)
    assert len(ledger.balance().entries) == 1


@pytest.mark.parametrize(
    "question",
    [
        "select count(*) from data where town = 3",
        "select count(*) from data where age = '3'",
        "select count(*) from data where day > 'yesterday'",
        "select count(*) from data where age",
        "select count(*) from data where age like '3%'",
    ],
)
def test_comparing_with_another_kind_is_refused_whatever_the_values(question: str, ledger: Ledger) -> None:
    """An engine would cast, and fail for some values: the failure would tell of them."""
    with pytest.raises(UnsuitableColumn, match="constant of another kind"):
        asked(ledger, question)
    assert ledger.balance().spent_epsilon == 0


def test_terms_that_are_refused(ledger: Ledger, tmp_path: Path) -> None:
    question = "select town, count(*) from data group by town"
    gaussian: dict[str, Any] = {"keys": {"town": ["x"]}, "mechanism": "gaussian"}
    for terms, reason in (
        ({"person": None}, "whose privacy"),
        ({"unit": "record", "person": "who"}, "unit of privacy"),
        ({}, "needs a delta"),
        (gaussian, "needs a delta"),
        ({"keys": {"town": ["x"]}, "mechanism": "numpy"}, "mechanism"),
        ({"keys": {"age": [1]}}, "nothing is grouped"),
        ({"keys": {"town": []}}, "combinations"),
        ({"max_rows": 0}, "max_rows"),
        ({"max_groups": 1.5}, "max_groups"),
        ({"confidence": 1.0}, "confidence"),
        ({"delta": 1}, "delta is"),
        ({"delta": "1e-6", "epsilon": -1}, "epsilon is"),
        ({"delta": "1e-6", "epsilon": "1e-200"}, "nothing but noise"),
        # Gaussian noise is then too wide where Laplace noise just is not.
        ({**gaussian, "delta": "1e-300", "epsilon": "2e-15"}, "nothing but noise"),
    ):
        given = {"epsilon": 1, "person": "who", "ledger": ledger, **terms}
        with pytest.raises(InvalidParameter, match=reason):
            discreet.ask(PEOPLE, question, **given)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="have no bounds"):
        asked(ledger, "select sum(age) from data")
    with pytest.raises(InvalidParameter, match="the bounds of age"):
        asked(ledger, "select sum(age) from data", bounds={"age": (5, 5)})
    with pytest.raises(InvalidParameter, match="no value is given"):
        asked(ledger, "select count(*) from data group by town, age", keys={"town": []}, delta="1e-6")
    with pytest.raises(InvalidParameter, match="which budget"):
        discreet.ask(PEOPLE, "select count(*) from data", epsilon=1, unit="record")
    with pytest.raises(UnknownColumn):
        asked(ledger, "select count(agee) from data")
    assert ledger.balance().spent_epsilon == 0


FIRST: dict[str, dict[str, Any]] = {
    "ask": {"question": "select count(distinct who) from data", "person": "who"},
    "tabulate": {"tables": [["old"]], "person": "who"},
    "synthesize": {"columns": ["old", "age"], "bounds": {"age": (0, 99)}, "delta": "1e-6", "unit": "record"},
    "learn": {"label": "old", "columns": ["age"], "bounds": {"age": (0, 99)}, "person": "who"},
    "safepub": {"levels": {"town": 0}, "delta": "1e-6"},
}


@pytest.mark.parametrize("verb", FIRST)
def test_the_first_rows_are_no_table_of_people(verb: str, ledger: Ledger) -> None:
    """Without somebody's hundred rows among them a hundred rows of others come in: counts of persons moved by all of these."""
    for rows in (3, 100):
        first = discreet.read(PEOPLE, rows=rows)
        with pytest.raises(InvalidParameter, match="only the first rows"):
            getattr(discreet, verb)(first, epsilon=1, ledger=ledger, **FIRST[verb])
    assert ledger.balance().spent_epsilon == 0


def test_a_group_that_is_given_in_several_ways_is_answered_once(ledger: Ledger) -> None:
    """Each answer has noise of its own: their mean would tell the figure for the price of one."""
    near = ["30", "30.0", "30.00000000000000000001", "30.00000000000000000002"]
    rows = pa.table({"pay": [30.0, 30.0, 0.1]})
    question = "select count(*) from data group by pay"
    assert asked(ledger, question, rows, unit="record", keys={"pay": near}) == [(30, 2)]
    large = pa.table({"id": [2**53, 2**53 + 1, 2**53 + 1]})
    both = {"id": [2**53, 2**53 + 1]}
    question = "select count(*) from data group by id"
    assert asked(ledger, question, large, unit="record", keys=both) == [(2**53, 1), (2**53 + 1, 2)]
    for value in ("30.00000000000000000001", 1.5, "1e999999"):
        with pytest.raises(InvalidParameter, match="of another kind"):
            asked(ledger, question, large, unit="record", keys={"id": [value]})


def test_the_same_moment_in_any_spelling_and_whoever_is_there(ledger: Ledger) -> None:
    """DuckDB reads no weeks, and says so once a row comes to be compared: the refusal told that there is such a row."""
    for town in ("x", "nowhere"):
        question = f"select count(*) from data where town = '{town}' and day >= '2024-W01-1'"
        assert asked(ledger, question) == [(3 if town == "x" else 0,)]


@pytest.mark.parametrize("figure", ["count(*)", "count(distinct who)", "count(age)", "sum(age)"])
def test_a_question_about_nobody_is_answered_like_any_other(figure: str, ledger: Ledger) -> None:
    """Of no rows SQL has no maximum: a count of persons failed, so that the failure told that there is nobody."""
    question = f"select {figure} from data where town = 'nowhere'"
    assert asked(ledger, question, bounds={"age": (0, 100)}) == [(0,)]
    grouped = asked(
        ledger,
        question.replace("select", "select old,") + " group by old",
        keys={"old": [True]},
        bounds={"age": (0, 100)},
    )
    assert grouped == [(True, 0)]


def test_constants_beyond_all_numbers(ledger: Ledger) -> None:
    assert asked(ledger, "select count(age) from data where age > -1e999") == [(7,)]
    assert asked(ledger, "select count(age) from data where age < 1e999") == [(7,)]


def test_a_failure_that_rows_may_cause_is_paid_for(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given back, it would be an answer without noise that may be had again and again."""

    def failing(*_: object, **__: object) -> None:
        raise UnreadableInput("the rows could not be read", remedy="try again")

    monkeypatch.setattr("discreet.engine.duckdb.DuckDBEngine.bounded_groups", failing)
    with pytest.raises(UnreadableInput):
        discreet.ask(PEOPLE, "select count(*) from data", epsilon=1, unit="record", ledger=ledger)
    assert ledger.balance().spent_epsilon == 1


def test_groups_whose_numbers_no_float_tells_apart_stay_apart(ledger: Ledger) -> None:
    """Taken for one, the group of a newcomer would take the place of another one's count."""
    rows = pa.table({"id": pa.array([2**64 - 1] * 3 + [2**64 - 2] * 2, pa.uint64())})
    question, terms = "select count(*) from data group by id", {"unit": "record", "ledger": ledger}
    found = discreet.ask(rows, question, epsilon=SURE, delta="1e-6", **terms)  # type: ignore[arg-type]
    both = [(2**64 - 2, 2), (2**64 - 1, 3)]
    assert [(row.keys[0], row.figures[0].value) for row in found.rows] == both
    assert asked(ledger, question, rows, unit="record", keys={"id": [2**64 - 1, 2**64 - 2]}) == both
    assert found.to_arrow()["id"].to_pylist() == [str(2**64 - 2), str(2**64 - 1)]
    huge = pa.table({"id": pa.array([10**30, -1] * 3, pa.decimal128(38, 0))})
    found = discreet.ask(huge, question, epsilon=SURE, delta="0.1", **terms)  # type: ignore[arg-type]
    assert found.to_arrow()["id"].to_pylist() == ["-1", str(10**30)]


def test_decimals_that_no_float_tells_apart_are_groups_of_their_own(ledger: Ledger) -> None:
    """Were they one in the answer, it would show either, and somebody alone with one of them could exchange a whole group."""
    digits = (
        [Decimal("1.00000000000000000001")] * 30
        + [Decimal("1.00000000000000000002")] * 20
        + [Decimal("0.5")] * 40
    )
    rows = pa.table({"who": list(range(90)), "key": pa.array(digits, pa.decimal128(38, 20))})
    shown = asked(
        ledger,
        "select key, count(*) from data group by key",
        rows,
        epsilon=50,
        delta="1e-6",
        max_groups=1,
        max_rows=1,
    )
    assert [round(row[1] / 10) for row in shown] == [4, 3, 2]  # type: ignore[call-overload]


def test_decimals_may_be_given_as_keys(ledger: Ledger) -> None:
    """Databases and Parquet keep prices so."""
    prices = pa.array([Decimal("0.10")] * 30 + [Decimal("2.00")] * 20, pa.decimal128(10, 2))
    rows = pa.table({"price": prices, "sex": ["f", "m"] * 25})
    keys: dict[str, list[object]] = {"price": ["0.1", "0.10", 2], "sex": ["f", "m"]}
    terms: dict[str, Any] = {"epsilon": 100, "unit": "record", "ledger": ledger}
    question = "select price, count(*) from data group by price"
    answer = discreet.ask(rows, question, keys={"price": keys["price"]}, **terms)
    assert [(row.keys, row.figures[0].value) for row in answer.rows] == [((0.1,), 30), ((2,), 20)]
    counted = discreet.tabulate(rows, [["price"]], keys=keys, **terms).rows
    assert dict(zip(counted["price"].to_pylist(), counted["count"].to_pylist(), strict=True)) == {
        0.1: 30,
        2.0: 20,
        None: 0,
    }


def test_large_keys_fit_into_a_table(ledger: Ledger) -> None:
    rows = pa.table({"pay": [1e300, 1.5]})
    keys = {"pay": [1e300, 1.5]}
    answer = discreet.ask(
        rows, "select count(*) from data group by pay", epsilon=1, unit="record", keys=keys, ledger=ledger
    )
    assert answer.to_arrow()["pay"].to_pylist() == [1.5, 1e300]


def test_without_opendp_the_extra_is_named_and_nothing_is_spent(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(MissingDependency, match=r"discreet\[dp\]"):
        asked(ledger, "select count(*) from data")
    assert ledger.balance().spent_epsilon == 0


def test_no_seed_is_taken_and_nothing_comes_from_numpys_generator() -> None:
    source = Path(discreet.__file__).parent / "dp"
    text = "".join(path.read_text(encoding="utf-8") for path in source.glob("*.py"))
    for forbidden in ("np.random", "numpy.random", "import random", "default_rng", "seed:", "seed="):
        assert forbidden not in text


# ── what a person contributes ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("max_rows", "max_groups"), [(1, 1), (3, 2), (1000, 7)])
def test_no_person_moves_a_figure_further_than_stated(max_rows: int, max_groups: int) -> None:
    """With and without somebody who is everywhere, has every value and forges keys."""
    chance = random.Random(max_rows)
    rows = [
        {"who": str(chance.randrange(40)), "town": chance.choice("xyz"), "pay": chance.uniform(-9, 9)}
        for _ in range(300)
    ]
    worst = [
        {"who": "villain", "town": town, "pay": pay}
        for town in [*"xyz", *(f"own {i}" for i in range(30)), None, "x "]
        for pay in (1e300, float("inf"), 5.0, 5.0, 5.0)
    ]
    nobody = [{"who": None, "town": "x", "pay": 5.0} for _ in range(50)]
    grid = discreet.engine.bounded.ValueGrid.of(-5, 5, whole=False)

    def counted(some: list[dict[str, object]]) -> dict[object, tuple[int, int, int]]:
        chance.shuffle(some)
        table = discreet.read(pa.Table.from_pylist(some))
        told = table.engine.bounded_groups(
            table,
            keys=["town"],
            person="who",
            max_rows=max_rows,
            max_groups=max_groups,
            sums=[("pay", grid)],
        ).to_pylist()
        return {row["key0"]: (row["rows"], row["persons"], row["sum0"]) for row in told}

    before = counted([*rows])
    for more in (worst, nobody):
        after = counted([*rows, *more])
        changes = [
            [abs(n - m) for n, m in zip(after.get(k, (0, 0, 0)), before.get(k, (0, 0, 0)), strict=True)]
            for k in after.keys() | before.keys()
        ]
        moved = [change for change in changes if any(change)]
        assert 0 < len(moved) <= max_groups
        assert all(
            change[0] <= max_rows and change[1] <= 1 and change[2] <= max_rows * grid.limit
            for change in moved
        )


def test_the_order_of_an_answer_does_not_follow_the_rows(ledger: Ledger) -> None:
    question = "select town, count(*) from data group by town"
    for rows in (PEOPLE, PEOPLE.take(list(range(7, -1, -1)))):
        shown = asked(ledger, question, rows, keys={"town": ["y", "x"]})
        assert [row[0] for row in shown] == ["x", "y"]


# ── what is paid ──────────────────────────────────────────────────────────────────────────────────

KILLED = """
import os, signal, sys
import pyarrow as pa
import discreet
from discreet.dp import ask
from discreet.dp.noise import laplace
def drawn(*arguments, **named):
    laplace(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)
import discreet.dp.measuring
discreet.dp.measuring.laplace = drawn
discreet.ask(pa.table({"a": [1, 2]}), "select count(*) from data", epsilon="1/4", unit="record", ledger=sys.argv[1])
"""


def test_a_process_that_is_killed_after_drawing_has_paid(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget")
    ledger.set_budget(1)
    done = subprocess.run([sys.executable, "-c", KILLED, str(ledger.path)], capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert ledger.balance().spent_epsilon == Fraction(1, 4)


def test_asking_beyond_the_budget_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path / "budget")
    ledger.set_budget(1)

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("something was drawn")

    monkeypatch.setattr("discreet.dp.measuring.laplace", fail)
    with pytest.raises(DiscreetError, match="is asked for"):
        discreet.ask(PEOPLE, "select count(*) from data", epsilon="1.01", person="who", ledger=ledger)
    assert len(ledger.balance().entries) == 1


def test_the_command_line(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("who,sex,age\n" + "".join(f"{i},{'fm'[i % 2]},{20 + i % 50}\n" for i in range(400)))
    run = CliRunner().invoke
    terms = ["--epsilon", "1", "--person", "who", "--keys", "sex=f,m", "--bounds", "age=0:100"]
    question = "select sex, count(*) as n, avg(age) as mean from data group by sex"
    missing = run(cli, ["ask", str(table), question, *terms])
    assert "no budget is set" in str(missing.exception)
    assert run(cli, ["budget", "set", str(table), "--epsilon", "2"]).exit_code == 0
    output = tmp_path / "answer.csv"
    shown = run(cli, ["ask", str(table), question, *terms, "-o", str(output)])
    assert shown.exit_code == 0, shown.exception
    assert "at most 2.7% sure" in " ".join(shown.output.split())
    assert output.read_text().splitlines()[0] == '"sex","n","n low","n high","mean","mean low","mean high"'
    told = json.loads(run(cli, ["ask", str(table), question, *terms, "--json"]).output)
    assert [row["keys"] for row in told["rows"]] == [["f"], ["m"]]
    assert abs(told["rows"][0]["figures"][0]["value"] - 200) < 120
    assert told["left_epsilon"] == "0"
    first = run(cli, ["ask", str(table), question, *terms, "--rows", "100"])
    assert "only the first rows" in str(first.exception)
    beyond = run(cli, ["ask", str(table), question, *terms])
    assert "nothing is left" in str(beyond.exception)


@pytest.mark.parametrize("text", ["age=--1:9", "age=1-:9", "age=-:9"])
def test_keys_that_are_no_range_are_values(text: str) -> None:
    assert keys_option(text) == ("age", [text.removeprefix("age=")])


def test_names_of_figures_are_as_they_were_written() -> None:
    question = parse_question(
        'select count( distinct who ), avg(age) as "the mean", quantile_cont(age, 0.9) from data'
    )
    assert [figure.name for figure in question.figures] == [
        "count(distinct who)",
        "the mean",
        "quantile_cont(age,0.9)",
    ]
