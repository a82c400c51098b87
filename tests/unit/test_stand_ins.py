"""Stand-ins for identifiers: realistic, consistent by a key, and seen on the written file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.permuted import permuted, permuted_code
from discreet.perturb.randomness import Randomness
from discreet.perturb.stand_ins import LOCALES, MAKERS, StandIns, _names

PEOPLE = pa.table(
    {
        "name": ["Ann Lee", "Lee, Ann", "Bo Day", None, "?", "ANN LEE"],
        "account": ["DE12 3456", "DE12 3457", "de12 3456", "0042", "DE12 3456", "7"],
        "number": [1042, 1043, 99, None, 1042, 5],
    }
)


def made(name: str, seed: int = 1, rows: pa.Table = PEOPLE, **given: Any) -> list[Any]:
    """The stand-ins of a column, which must keep what the step says that it keeps."""
    step = StandIns((name,), **given)
    new = step.changed(rows, Randomness(seed))
    assert step.complaint(rows, pa.table(new), np.arange(rows.num_rows)) == ""
    result: list[Any] = new[name].to_pylist()
    return result


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("kind", MAKERS)
def test_stand_ins_are_of_the_kind_and_language(kind: Any, locale: Any) -> None:
    names = _names(locale)
    shapes = {
        "name": rf"({'|'.join(names['given'])}) ({'|'.join(names['family'])})",
        "given-name": "|".join(names["given"]),
        "family-name": "|".join(names["family"]),
        "town": "|".join(names["town"]),
        "address": names["address"].format(street=f"({'|'.join(names['street'])})", number=r"\d{1,3}"),
        "email": r"[a-z'.]+\d{1,4}@example\.(com|net|org)",
    }
    shown = made("name", kind=kind, locale=locale)
    assert re.fullmatch(shapes[kind], shown[2])
    assert shown[3:5] == [None, None], "what is missing has no stand-in"
    assert shown[5] == shown[0].upper(), "capitals stay capitals"


def test_one_person_has_one_stand_in_and_another_key_another() -> None:
    shown = made("name", kind="name")
    family, given = shown[1].split(", ")
    assert shown[0] == f"{given} {family}" != shown[2]
    assert shown == made("name", kind="name")
    assert shown != made("name", kind="name", seed=2)
    step = StandIns(("name",), kind="name")
    before = Randomness(1)
    before.uniform(100)
    # In another table, after other steps, and in another order of rows it is the same.
    assert step.changed(PEOPLE.take([2]), before)["name"].to_pylist() == [shown[2]]


def test_codes_keep_their_form_and_stay_apart() -> None:
    shown = made("account", kind="code")
    for code, new in zip(PEOPLE["account"].to_pylist(), shown, strict=True):
        form = "".join(
            "[A-Z]" if c.isupper() else "[a-z]" if c.islower() else r"\d" if c.isdigit() else c for c in code
        )
        assert re.fullmatch(form, new)
    assert shown[4] == shown[0]
    assert len(set(shown)) == 5
    numbers = made("number", kind="code")
    assert [len(str(n)) for n in numbers if n is not None] == [4, 4, 2, 4, 1]
    assert numbers[3] is None


@given(st.integers(1, 300), st.binary(min_size=1, max_size=16))
def test_a_permutation_reaches_everything_once(size: int, key: bytes) -> None:
    assert sorted(permuted(key, b"all", number, size) for number in range(size)) == list(range(size))


def test_codes_of_one_form_are_exchanged_among_themselves() -> None:
    plates = [f"MÜ-{a}{b}" for a in "abcdefghij" for b in range(10)]
    new = [permuted_code(b"key", plate) for plate in plates]
    assert len(set(new)) == 100
    assert all(code is not None and re.fullmatch(r"[^\W\d_]{2}-[^\W\d_]\d", code) for code in new)
    # Every digit at every place: nothing of the order is left.
    assert len({code[-1] for code in new if code}) == 10


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        (["Bea Fox", "Cy Orr", "Dot May", None, None, "BEA FOX"], ""),
        (["Bea Fox", "Cy Orr", "Dot May", "Ed Ray", None, "BEA FOX"], "for nothing"),
        (["Bea Fox", "Cy Orr", "bo day", None, None, "BEA FOX"], "as it was"),
    ],
)
def test_a_name_that_was_left_is_seen(shown: list[str | None], told: str) -> None:
    step = StandIns(("name",), kind="name")
    found = step.complaint(PEOPLE, pa.table({"name": shown}), np.arange(6))
    assert (told in found) if told else found == ""
    code = StandIns(("account",), kind="code")
    same = pa.table({"account": ["DE11 1111", "DE11 1111", "de11 1111", "0011", "DE11 1111", "1"]})
    assert "for different values" in code.complaint(PEOPLE, same, np.arange(6))


def test_what_has_no_stand_in_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="kind of stand-ins is no choice"):
        StandIns(("name",), kind="plate")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="locale of stand-ins"):
        StandIns(("name",), kind="name", locale="it")  # type: ignore[arg-type]
    with pytest.raises(UnsuitableColumn, match="does not hold texts"):
        made("number", kind="name")
    for text in ("(+)", "Łódź 3"):
        with pytest.raises(UnsuitableColumn, match="no digits and letters, or others"):
            made("x", rows=pa.table({"x": [text]}), kind="code")
    with pytest.raises(UnsuitableColumn, match="no room"):
        made("x", rows=pa.table({"x": pa.array(range(100, 128), pa.int8())}), kind="code")


def test_a_release_shows_stand_ins_that_name_nobody(tmp_path: Path) -> None:
    names = [
        f"{given} {family}"
        for given in ("Ada", "Grace", "Mary", "Edith")
        for family in ("Byron", "Hopper", "Shelley", "Stein", "Curie")
    ]
    rows = pa.table(
        {
            "age": [30] * 20 + [40] * 20,
            "name": names * 2,
            "no": [f"A{i}" for i in range(40)],
            "dx": ["flu", "cold"] * 20,
        }
    )
    roles = {"age": "quasi-identifier", "name": "insensitive", "no": "insensitive", "dx": "sensitive"}
    policy = {
        "profile": "research-partner-3",
        "columns": {name: {"role": role} for name, role in roles.items()},
        "perturb": [
            {"method": "stand-ins", "columns": ["name"], "kind": "name"},
            {"method": "stand-ins", "columns": ["no"], "kind": "code"},
        ],
    }
    shown = []
    for seed in (7, 7, 8):
        release = discreet.anonymize(rows, policy, perturb_seed=seed)
        shown.append(set(release.to_arrow()["name"].to_pylist()))
        # Codes are seen to be nobody's by nobody, so a column of them that singles out stays out.
        assert [column.name for column in release.removed] == ["no"]
    assert shown[0] == shown[1] != shown[2]
    assert not shown[0] & set(names)
    path = tmp_path / "open.csv"
    release.save(path)
    assert discreet.check(path, policy).passes
    failing = {row.id for row in discreet.check(rows, policy).obstacles}
    assert failing == {"no-direct-identifiers", "nothing-unexamined"}, (
        "names that are no stand-ins name people"
    )
