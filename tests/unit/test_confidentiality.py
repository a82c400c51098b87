"""m-confidentiality: required of a release, by its classes and by what its method tells."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.errors import InvalidParameter

PEOPLE = {"q": ["q1"] * 2 + ["q2"] * 5, "dx": ["HIV", "HIV", "flu", "flu", "cold", "cold", "gout"]}
RELEASE = {"q": ["*"] * 7, "dx": PEOPLE["dx"]}
"""At most half of a class may have HIV, and both q1 have it: had either been a q2, q1 and q2 could have been shown."""
COLUMNS = {"q": {"role": "quasi-identifier"}, "dx": {"role": "sensitive"}}
ASKED = {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 1, "sensitive": "dx", "values": ["HIV"]}


def policy(folder: Path, *required: dict[str, object]) -> dict[str, object]:
    """A policy that asks for this and nothing else, so that an intruder knows of nothing else."""
    profile = folder / "profile.toml"
    profile.write_text(
        'title = "t"\ndescription = "d"\nsource = "s"\ndate = 2026-01-01\nrules = ["no-direct-identifiers"]\n'
    )
    return {"profile": str(profile), "columns": COLUMNS, "require": list(required)}


def test_the_example_of_the_paper_keeps_nothing_for_who_knows_what_was_asked(tmp_path: Path) -> None:
    told = discreet.m_confidentiality(pa.table(RELEASE), policy(tmp_path, ASKED), original=pa.table(PEOPLE))
    assert (told.m, told.untold) == (pytest.approx(1.0), {})
    assert told.holds(1)
    assert not told.holds(2)
    assert "1/1" in told.says


def test_where_nothing_was_asked_of_values_classes_are_all_that_tells(tmp_path: Path) -> None:
    """Two of seven have the most frequent value."""
    asked = policy(tmp_path, {"model": "k-anonymity", "k": 3})
    told = discreet.m_confidentiality(pa.table(RELEASE), asked, original=pa.table(PEOPLE))
    assert told.surest == {"dx": pytest.approx(2 / 7)}
    assert told.holds(3.5)
    assert not told.holds(3.51)
    told = discreet.m_confidentiality(pa.table(RELEASE), policy(tmp_path), original=pa.table(PEOPLE))
    assert told.m == pytest.approx(3.5)


def test_what_could_not_be_told_does_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_up = {"q": ["q3"] * 7, "dx": PEOPLE["dx"]}
    told = discreet.m_confidentiality(pa.table(made_up), policy(tmp_path, ASKED), original=pa.table(PEOPLE))
    assert list(told.untold) == ["dx"]
    assert not told.holds(1)
    assert "could not be told: dx: not tried" in told.says
    # So many worlds are too many: what classes say is not the whole answer.
    monkeypatch.setattr(
        "discreet.attacks.minimality.minimality.minimality.__kwdefaults__", {"recoding": "auto", "limit": 1}
    )
    told = discreet.m_confidentiality(pa.table(RELEASE), policy(tmp_path, ASKED), original=pa.table(PEOPLE))
    assert "1 classes have too many ways to be filled" in told.says
    assert not told.holds(1)


def test_command_line(tmp_path: Path) -> None:
    for name, columns in (("people", PEOPLE), ("release", RELEASE)):
        pyarrow.csv.write_csv(pa.table(columns), tmp_path / f"{name}.csv")
    words = [
        "attack",
        str(tmp_path / "release.csv"),
        "--qi",
        "q",
        "--sensitive",
        "dx",
        "--attacks",
        "homogeneity",
        "--json",
    ]
    original = ["--original", str(tmp_path / "people.csv"), "--profile", str(policy(tmp_path)["profile"])]
    ended = [
        CliRunner().invoke(cli, [*words, *original, "--m-confidentiality", m], standalone_mode=False)
        for m in ("3.5", "4")
    ]
    assert [done.return_value for done in ended] == [0, 1]
    assert "at most 0.2857 = 1/3.5" in " ".join(json.loads(ended[0].stdout)["notes"])
    without = [word for word in words if word not in ("--sensitive", "dx")]
    nothing = CliRunner().invoke(cli, [*without, *original, "--m-confidentiality", "2"])
    assert isinstance(nothing.exception, InvalidParameter)
    refused = CliRunner().invoke(cli, [*words, "--m-confidentiality", "2"])
    assert isinstance(refused.exception, InvalidParameter)
