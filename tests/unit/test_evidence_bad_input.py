"""What compare, attack and frontier say about input that does not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.release.frontier import frontier

Run = Callable[..., Any]
ROLES = ["--qi", "age,zip", "--sensitive", "ill,pay"]


def policy() -> Policy:
    return Policy.of(quasi_identifiers=["age", "zip"], sensitive=["ill", "pay"])


@pytest.fixture
def original(tmp_path: Path) -> Path:
    lines = [f"{20 + i % 12},{10115 + i % 3},{'abc'[i % 3]},{i % 7}" for i in range(40)]
    file = tmp_path / "original.csv"
    file.write_text("age,zip,ill,pay\n" + "\n".join(lines) + "\n")
    return file


@pytest.fixture
def release(tmp_path: Path) -> Path:
    lines = [f"{'20-24' if i % 12 < 5 else '25-31'},101**,{'abc'[i % 3]},{i % 7}" for i in range(40)]
    file = tmp_path / "release.csv"
    file.write_text("age,zip,ill,pay\n" + "\n".join(lines) + "\n")
    return file


def without(file: Path, *names: str) -> discreet.Table:
    table = pa.csv.read_csv(file)
    return discreet.read(table.drop_columns(list(names)))


@pytest.mark.slow
def test_an_attribute_that_was_not_released_is_not_attacked(original: Path, release: Path) -> None:
    for given in (original, None):
        found = discreet.attack(without(release, "pay"), policy(), original=given, attacks=["homogeneity"])
        assert [one.target for one in found.results] == ["ill"]
        assert [one.why for one in found.untested] == ["pay: the release does not have this attribute"]
    nothing = discreet.attack(without(release, "ill", "pay"), policy(), original=original)
    assert {one.criterion for one in nothing.results} == {"singling-out", "linkability"}
    assert nothing.criteria[2].state == "not tested"


def test_an_intruder_who_knows_only_the_target_attacks_nothing(original: Path, release: Path) -> None:
    for given in (original, None):
        found = discreet.attack(
            release, policy(), original=given, known=["ill"], attacks=["homogeneity", "skewness"]
        )
        assert {one.target for one in found.results} == {"pay"}
        assert {one.why for one in found.untested} == {
            "ill: the intruder knows nothing besides this attribute"
        }


def test_knowing_only_what_was_dropped_is_as_good_as_chance(original: Path, release: Path) -> None:
    found = discreet.attack(
        without(release, "zip"), policy(), original=original, known=["zip"], attacks=["record-linkage"]
    )
    (linked,) = found.results
    assert linked.successes == pytest.approx(linked.baseline * linked.tries) == pytest.approx(1)


def test_no_attack_and_no_method_is_refused(original: Path, release: Path) -> None:
    with pytest.raises(InvalidParameter, match="no attack was named"):
        discreet.attack(release, policy(), original=original, attacks=[])
    with pytest.raises(InvalidParameter, match="no method was named"):
        frontier(discreet.read(original), policy(), methods=[])


def test_what_is_read_is_never_overwritten(run: Run, original: Path, release: Path) -> None:
    before = original.read_bytes(), release.read_bytes()
    for given in (
        ["compare", original, release, *ROLES, "--report", original],
        ["compare", original, release, *ROLES, "--report", release],
        ["attack", release, "--original", original, *ROLES, "--report", original],
        ["attack", release, *ROLES, "--control", original, "--report", original],
        ["audit", original, *ROLES, "--report", original],
        ["report", original, *ROLES, "-o", original],
        ["suggest", original, "-o", original, "--force"],
        ["frontier", original, *ROLES, "--chart", original],
    ):
        told = run(*map(str, given))
        assert told.code == 2
        assert "would be overwritten" in told.err
    assert (original.read_bytes(), release.read_bytes()) == before


@pytest.mark.parametrize(
    "swept", [["--k", "inf"], ["--k", "nan"], ["--k", "2.5"], ["--l", "1.5"], ["--t", "nan"]]
)
def test_numbers_that_cannot_be_swept(run: Run, original: Path, swept: list[str]) -> None:
    told = run("frontier", str(original), *ROLES, *swept)
    assert told.code == 2
    assert f"the values of {swept[0]} cannot be swept" in told.err


def test_l_is_swept_by_the_command(run: Run, original: Path) -> None:
    told = run("frontier", str(original), *ROLES, "--profile", "research-partner-5", "--l", "2,3", "--json")
    assert told.code == 0, told.err
    assert {2, 3} <= {point["l"] for point in json.loads(told.out)["points"]}


def test_the_commands_say_that_roles_were_suggested(run: Run, original: Path, release: Path) -> None:
    for given in (
        ["compare", original, release, "--labels", ""],
        ["attack", release, "--original", original],
    ):
        told = run(*map(str, given), "--json")
        assert told.code == 0, told.err
        assert "roles were suggested" in told.out


def test_exchanged_tables_are_noticed(run: Run, original: Path, release: Path) -> None:
    for given in (["compare", release, original], ["attack", original, "--original", release]):
        told = run(*map(str, given), *ROLES)
        assert told.code == 2
        assert "exchange the two tables" in told.err


def test_bands_of_age_in_the_original_are_no_exchange() -> None:
    bands = {"age": ["20-29", "30-39", "20-29"], "zip": [1, 2, 3]}
    made_up = {"age": ["20-29", "40-49", "20-29"], "zip": [1, 2, 3]}
    given = Policy.of(quasi_identifiers=["age", "zip"])
    assert discreet.compare(pa.table(bands), pa.table(made_up), given).rows == (3, 3)


def test_a_column_that_was_cut_is_told(original: Path) -> None:
    table = pa.csv.read_csv(original)
    towns = table.set_column(1, "zip", pa.array([10115, 11015, 10116, 11016] * (table.num_rows // 4)))
    cut = table.set_column(1, "zip", pa.array(["101", "110"] * (table.num_rows // 2)))
    found = discreet.compare(towns, cut, policy(), labels=[])
    assert "zip: shorter values were read as the beginnings of the original's" in found.notes
    # Two of four postcodes begin alike.
    assert found.losses.measure("leaf-loss", "zip").value == pytest.approx(1 / 3)


def test_the_terminal_tells_the_notes_of_attacks_and_of_learning(original: Path) -> None:
    table = pa.csv.read_csv(original)
    # Half of the people, in another order: of those who are alike nobody can tell who is there.
    turned = table.take(list(range(table.num_rows))[:19:-1])
    told = " ".join(str(discreet.compare(table, turned, policy(), labels=["ill"])).split())
    assert "learning ill: it is not known which records became which" in told
    found = discreet.attack(turned, policy(), original=table, attacks=["singling-out", "record-linkage"])
    told = " ".join(str(found).split())
    assert "singling-out, record-linkage: which record belongs to whom is not known" in told
    assert "upper bound" in told


def test_units_that_differ_are_told() -> None:
    trips = {"driver": [1, 1, 2, 2, 3, 3], "car": list("aabbcc"), "place": list("xyxzxy")}
    given = Policy.of(quasi_identifiers=["car"], sensitive=["place"], person="driver")
    names = ["record-linkage", "homogeneity"]
    both = discreet.attack(pa.table(trips), given, original=pa.table(trips), attacks=names)
    assert "tried: persons; without it" in " ".join(str(both).split())
    dropped = pa.table({name: trips[name] for name in ("car", "place")})
    found = discreet.attack(dropped, given, original=pa.table(trips), attacks=names)
    assert "tried: persons (homogeneity: records); without it" in " ".join(str(found).split())
