"""Streams: every published cluster by brute force, the bound on waiting, and the command line with lines and Arrow."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cli import cli
from discreet.errors import (
    DiscreetError,
    InvalidParameter,
    InvalidPolicy,
    RequirementNotMet,
    UnknownColumn,
    UnreadableInput,
)
from discreet.policy import Policy
from discreet.policy.file import save
from discreet.release.stream import RecordStream, label_of

POLICY = Policy.of(quasi_identifiers=["age", "town"], sensitive=["dx"], direct_identifiers=["name"])
COLUMNS = ["name", "age", "town", "dx"]


def record(at: int, age: int | None, town: str, dx: str) -> dict[str, str | None]:
    return {"name": f"person {at}", "age": None if age is None else str(age), "town": town, "dx": dx}


RECORDS = st.lists(
    st.tuples(st.none() | st.integers(0, 9), st.sampled_from("abc"), st.sampled_from("xyz")), max_size=40
)


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.integers(2, 4), st.integers(1, 3), st.integers(0, 6))
def test_every_cluster_holds_what_is_promised_and_nobody_waits_longer(
    rows: list[tuple[int | None, str, str]],
    k: int,
    l: int,  # noqa: E741
    more: int,
) -> None:
    delay = k + more
    stream = RecordStream(POLICY, COLUMNS, k=k, l=l, delay=delay, seed=1)
    clusters = []
    for at, row in enumerate(rows):
        made = stream.push(record(at, *row))
        assert stream.waiting <= delay
        if made:
            clusters.append(made)
    clusters += list(stream.finish())
    assert stream.waiting == 0
    assert stream.published == sum(map(len, clusters))
    assert stream.published + stream.suppressed == len(rows)
    for made in clusters:
        assert len(made) >= k
        assert len({(row["age"], row["town"]) for row in made}) == 1
        assert len({row["dx"] for row in made}) >= l
        assert all(set(row) == {"age", "town", "dx"} for row in made)
    # Every published row is somebody's: as many of each value as came, at most.
    shown = [row["dx"] for made in clusters for row in made]
    assert all(shown.count(value) <= [dx for _, _, dx in rows].count(value) for value in "xyz")


def test_the_oldest_goes_with_who_is_nearest() -> None:
    stream = RecordStream(POLICY, COLUMNS, k=2, delay=3, seed=1)
    for at, age in enumerate((30, 60, 31)):
        assert stream.push(record(at, age, "a", f"d{at}")) == []
    made = stream.push(record(3, 90, "a", "d3"))
    assert {row["dx"] for row in made} == {"d0", "d2"}
    assert {row["age"] for row in made} == {"[30, 31]"}
    (last,) = stream.finish()
    assert {row["age"] for row in last} == {"[60, 90]"}
    assert stream.suppressed == 0


def test_people_are_counted_and_not_their_records() -> None:
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["dx"], person="name")
    stream = RecordStream(policy, ["name", "age", "dx"], k=2, delay=2, seed=1)
    twice = [{"name": "Ada", "age": "30", "dx": dx} for dx in ("flu", "gout", "cold")]
    assert [stream.push(each) for each in twice] == [[], [], []]
    assert stream.suppressed == 1
    made = stream.push({"name": "Ben", "age": "50", "dx": "flu"})
    assert {row["age"] for row in made} == {"[30, 50]"}


def test_labels_that_do_not_stand_for_a_record_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.release.stream.label_of", lambda values: "[0, 1]")
    stream = RecordStream(POLICY, COLUMNS, k=2, delay=2, seed=1)
    stream.push(record(0, 30, "a", "x"))
    stream.push(record(1, 31, "a", "y"))
    with pytest.raises(RequirementNotMet):
        stream.push(record(2, 32, "a", "z"))


def test_what_a_stream_cannot_promise_is_refused() -> None:
    with pytest.raises(UnknownColumn):
        RecordStream(POLICY, ["age"], k=2, delay=2)
    with pytest.raises(InvalidParameter):
        RecordStream(POLICY, COLUMNS, k=3, delay=2)
    with pytest.raises(InvalidPolicy, match="no quasi-identifier"):
        RecordStream(Policy.of(quasi_identifiers=[], sensitive=["dx"]), COLUMNS, k=2, delay=2)
    with pytest.raises(DiscreetError):
        RecordStream(POLICY, COLUMNS, k=1, delay=2)


def test_texts_that_look_like_numbers_and_others_are_a_set() -> None:
    assert label_of(["7", "x"]) == "{7, x}"
    assert label_of(["nan", "7"]) == "{7, nan}"


def test_lines_on_the_command_line(tmp_path: Path) -> None:
    save(POLICY, tmp_path / "policy.toml")
    lines = "name,age,town,dx\n" + "".join(f"p{at},{20 + at},a,d{at % 3}\n" for at in range(7))
    words = ["stream", "--policy", str(tmp_path / "policy.toml"), "--k", "3", "--l", "2", "--delay", "4"]
    answer = CliRunner().invoke(cli, words, input=lines)
    assert answer.exit_code == 0, answer.output
    header, *rows = answer.stdout.splitlines()
    assert header == "age,town,dx"
    assert len(rows) == 6
    assert "1 suppressed" in answer.stderr
    assert "p0" not in answer.stdout
    ragged = CliRunner().invoke(cli, words, input="name,age,town,dx\np0,1\n")
    assert isinstance(ragged.exception, InvalidParameter)
    assert "line 2 has 2 cells" in str(ragged.exception)
    for wrong in ("", b"name,age,town,dx\n\xff\xfe,1,2,3\n"):
        assert isinstance(CliRunner().invoke(cli, words, input=wrong).exception, UnreadableInput)


def test_arrow_on_the_command_line(tmp_path: Path) -> None:
    save(POLICY, tmp_path / "policy.toml")
    table = pa.table(
        {
            "name": [f"p{at}" for at in range(9)],
            "age": list(range(9)),
            "town": ["a"] * 9,
            "dx": ["x", "y", "z"] * 3,
        }
    )
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    words = [
        "stream",
        "--policy",
        str(tmp_path / "policy.toml"),
        "--k",
        "3",
        "--delay",
        "5",
        "--format",
        "arrow",
        "--quiet",
    ]
    answer = CliRunner().invoke(cli, words, input=sink.getvalue())
    assert answer.exit_code == 0, answer.stderr
    released = pa.ipc.open_stream(answer.stdout_bytes).read_all()
    assert released.column_names == ["age", "town", "dx"]
    assert released.num_rows == 9
    assert [len(batch) for batch in released.to_batches()] == [3, 3, 3]
    assert isinstance(CliRunner().invoke(cli, words, input=b"no arrow").exception, UnreadableInput)


@pytest.mark.parametrize("fault", ["lists", "broken off"])
def test_a_stream_of_arrow_that_cannot_be_read_to_its_end_is_refused(fault: str, tmp_path: Path) -> None:
    save(POLICY, tmp_path / "policy.toml")
    towns = [["a"], ["b"]] if fault == "lists" else ["a", "b"]
    batch = pa.record_batch({"name": ["x", "y"], "age": [1, 2], "town": towns, "dx": ["flu", "gout"]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch)
    sent = sink.getvalue() if fault == "lists" else sink.getvalue()[:-150]
    words = ["stream", "--policy", str(tmp_path / "policy.toml"), "--k", "2", "--delay", "2"]
    answer = CliRunner().invoke(cli, [*words, "--format", "arrow"], input=sent)
    assert isinstance(answer.exception, UnreadableInput)


def test_columns_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="several columns 'age'"):
        RecordStream(POLICY, [*COLUMNS, "age"], k=2, delay=2)
