"""Rows of events merged into trips: by hand, against plain loops, and as a command."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.cli import main
from discreet.errors import DiscreetError, UnsuitableColumn
from discreet.release.trips import SUMMARIES, Summary, merge_events

MIDNIGHT = datetime(2024, 1, 1)
EVENTS = """car,at,speed,artist,fuel,leg
b,2024-01-01 09:00:00,10,x,EV,1
a,2024-01-01 08:20:00,70,y,gas,1
a,2024-01-01 08:00:00,50,x,gas,1
a,2024-01-01 17:00:00,30,,gas,2
a,2024-01-01 08:50:00,?,y,gas,1
b,2024-01-01 09:10:00,30,y,EV,2
"""


def test_rows_become_trips_by_hand() -> None:
    rows = pa.table(
        {
            "car": ["b", "a", "a", "a"],
            "at": [MIDNIGHT + timedelta(minutes=m) for m in (0, 31, 0, 30)],
            "speed": [1, 4, 2, None],
            "fuel": ["EV", "gas", "gas", "gas"],
            "artist": ["z", "y", "x", "y"],
        }
    )
    trips = merge_events(rows, person="car", time="at", take={"speed": ["mean", "last"]})
    assert trips.to_arrow().to_pylist() == [
        {
            "car": "a", "trip": 1, "start": MIDNIGHT, "end": MIDNIGHT + timedelta(minutes=31), "events": 3,
            "fuel": "gas", "speed_mean": 3.0, "speed_last": 4,
        },
        {
            "car": "b", "trip": 1, "start": MIDNIGHT, "end": MIDNIGHT, "events": 1,
            "fuel": "EV", "speed_mean": 1.0, "speed_last": 1,
        },
    ]  # fmt: skip
    assert trips.left_out == ("artist",)
    # Exactly as long as the gap is the same trip; a moment more is the next one.
    finer = merge_events(rows, person="car", time="at", gap=29.99)
    assert finer.to_arrow()["events"].to_pylist() == [1, 2, 1]
    assert finer.to_arrow()["trip"].to_pylist() == [1, 2, 1]


ROW = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.integers(0, 200),
    st.sampled_from([1, 2]),
    st.one_of(st.none(), st.integers(-3, 3)),
)


def plainly(values: list[int], way: Summary) -> float | None:
    known = [value for value in values if value is not None]
    if way == "distinct":
        return len(set(known))
    if not known:
        return None
    return {
        "first": lambda: known[0],
        "last": lambda: known[-1],
        "minimum": lambda: min(known),
        "maximum": lambda: max(known),
        "mean": lambda: sum(known) / len(known),
        "sum": lambda: sum(known),
        "mode": lambda: Counter(known).most_common(1)[0][0],
    }[way]()


@given(st.lists(ROW, min_size=1, max_size=40), st.sampled_from([5.0, 30.0]), st.booleans())
def test_trips_are_those_of_plain_loops(rows: list[tuple], gap: float, by_leg: bool) -> None:
    table = pa.table(
        {
            "who": [row[0] for row in rows],
            "at": [MIDNIGHT + timedelta(minutes=row[1]) for row in rows],
            "leg": [row[2] for row in rows],
            "n": pa.array([row[3] for row in rows], pa.int64()),
        }
    )
    wanted: list[list[tuple]] = []
    for row in sorted(rows, key=lambda row: row[:2]):
        last = wanted[-1][-1] if wanted else None
        joins = last is not None and last[0] == row[0] and row[1] - last[1] <= gap
        if joins and not (by_leg and last[2] != row[2]):
            wanted[-1].append(row)
        else:
            wanted.append([row])
    made = merge_events(
        table, person="who", time="at", gap=gap, within=["leg"] if by_leg else [], take={"n": SUMMARIES}
    ).to_arrow()
    assert made["events"].to_pylist() == [len(trip) for trip in wanted]
    assert made["who"].to_pylist() == [trip[0][0] for trip in wanted]
    for way in SUMMARIES:
        expected = [plainly([row[3] for row in trip], way) for trip in wanted]
        assert made[f"n_{way}"].to_pylist() == pytest.approx(expected), way


def test_the_command_writes_what_can_be_audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events.csv").write_text(EVENTS)
    out = tmp_path / "trips.csv"
    arguments = ["trips", str(tmp_path / "events.csv"), "-o", str(out), "--person", "car", "--time", "at"]
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--within", "leg", "--take", "speed=mean", "--take", "artist=mode", "--json"])
    assert end.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["events"], told["trips"], told["left_out"]) == (6, 4, [])
    rows = pyarrow.csv.read_csv(out).to_pylist()
    assert [(row["car"], row["trip"], row["events"], row["speed"]) for row in rows] == [
        ("a", 1, 3, 60),
        ("a", 2, 1, 30),
        ("b", 1, 1, 10),
        ("b", 2, 1, 30),
    ]
    assert rows[0]["artist"] == "y"
    policy = discreet.Policy.of(quasi_identifiers=["fuel"], person="car")
    assert discreet.audit(out, policy).persons == 2


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"person": "nobody"}, "nobody"),
        ({"time": "artist"}, "moments"),
        ({"gap": 0}, "gap"),
        ({"take": {"artist": "mean"}}, "numbers only"),
        ({"take": {"speed": "modus"}}, "take"),
        ({"take": {"end": "last"}}, "end"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, asked: dict[str, object], says: str) -> None:
    (tmp_path / "events.csv").write_text(EVENTS.replace("leg", "end"))
    with pytest.raises(DiscreetError, match=says) as error:
        merge_events(tmp_path / "events.csv", **{"person": "car", "time": "at", **asked})  # type: ignore[arg-type]
    assert error.value.remedy


def test_an_event_without_a_person_or_a_moment_is_nobodys() -> None:
    rows = pa.table({"car": ["a", None, "b"], "at": [MIDNIGHT, MIDNIGHT, None]})
    with pytest.raises(UnsuitableColumn, match="2 rows"):
        merge_events(rows, person="car", time="at")
