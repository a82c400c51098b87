"""An original and its release are put side by side, and records are matched where that can be known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes.pair import Links
from discreet.errors import InvalidPolicy, UnknownColumn, UnsuitableColumn
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.release.pairing import make_pair
from helpers.pairs import pair_of_recoding

POLICY = Policy.of(quasi_identifiers=["age", "sex"], sensitive=["flu"])
PEOPLE = {
    "nr": [1, 2, 3, 4],
    "age": [31, 34, 47, 52],
    "sex": ["f", "m", "f", "m"],
    "flu": ["yes", "no", "no", "yes"],
}


def table(columns: dict[str, list[object]], rows: Sequence[int] | None = None) -> discreet.Table:
    whole = pa.table(columns)
    return discreet.read(whole if rows is None else whole.take(pa.array(rows)))


def became(links: Links | None) -> set[tuple[int, int, int]]:
    assert links is not None
    return set(zip(links.original.tolist(), links.released.tolist(), links.records.tolist(), strict=True))


def test_rows_are_matched_in_order_and_dropped_ones_are_known() -> None:
    release = table({"age": ["[30, 39]", "*"], "sex": ["m", "m"], "flu": ["no", "yes"]})
    found = make_pair(table(PEOPLE), release, POLICY)  # type: ignore[arg-type]
    assert "in their order" in found.matched
    names = [found.pair.released.labels(code) for code in range(2)]
    starred = next(code for code in range(2) if names[code]["age"] == "*")
    assert became(found.pair.links) == {(0, -1, 1), (1, 1 - starred, 1), (2, -1, 1), (3, starred, 1)}


def test_columns_that_were_left_alone_tell_rows_apart() -> None:
    shown = {"age": ["*"] * 3, "sex": ["*"] * 3, "flu": ["no", "no", "yes"]}
    release = table({"nr": [2, 3, 4], **shown})  # type: ignore[dict-item]
    links = make_pair(table(PEOPLE), release, POLICY).pair.links  # type: ignore[arg-type]
    assert links is not None
    assert sorted(links.original[links.released < 0].tolist()) == [0]
    # Three rows that say less might as well have been shuffled: then the one with the flu may be the first person.
    assert make_pair(table(PEOPLE), table(shown), POLICY).pair.links is None  # type: ignore[arg-type]


def test_shuffled_rows_are_matched_by_key_or_class_by_class_where_values_tell() -> None:
    release = table(PEOPLE, [3, 1, 0, 2])  # type: ignore[arg-type]
    found = make_pair(table(PEOPLE), release, POLICY)  # type: ignore[arg-type]
    assert found.rows is None
    assert "class by class" in found.matched
    assert became(found.pair.links) == {(at, at, 1) for at in range(4)}
    found = make_pair(table(PEOPLE), release, POLICY, key="nr")  # type: ignore[arg-type]
    assert became(found.pair.links) == {(at, at, 1) for at in range(4)}
    # Which of the two women is left, and which of the two men, cannot be told.
    fewer = table({**PEOPLE, "age": ["*"] * 4}, [3, 2])  # type: ignore[arg-type,dict-item]
    found = make_pair(table(PEOPLE), fewer, POLICY)  # type: ignore[arg-type]
    assert found.pair.links is None
    assert "not matched" in found.matched


def test_averaged_values_are_matched_by_what_was_left_alone() -> None:
    release = table(
        {"nr": [1, 2, 3, 4], "age": [32.5, 32.5, 49.5, 49.5], "sex": ["f"] * 4, "flu": PEOPLE["flu"]}
    )
    found = make_pair(table(PEOPLE), release, POLICY)  # type: ignore[arg-type]
    assert "row by row" in found.matched
    assert not found.pair.truthful
    assert any("age" in note and "distance" in note for note in found.notes)


def test_a_key_that_repeats_or_is_unknown_is_refused() -> None:
    with pytest.raises(UnsuitableColumn, match="repeats"):
        make_pair(table(PEOPLE), table(PEOPLE), POLICY, key="sex")  # type: ignore[arg-type]
    other = table({**PEOPLE, "nr": [7, 8, 9, 10]})  # type: ignore[dict-item]
    with pytest.raises(UnsuitableColumn, match="4 rows"):
        make_pair(table(PEOPLE), other, POLICY, key="nr")  # type: ignore[arg-type]
    with pytest.raises(UnknownColumn):
        make_pair(table(PEOPLE), table(PEOPLE), POLICY, key="number")  # type: ignore[arg-type]


def test_columns_that_the_release_lacks() -> None:
    release = table({"sex": PEOPLE["sex"], "flu": PEOPLE["flu"]})
    found = make_pair(table(PEOPLE), release, POLICY)  # type: ignore[arg-type]
    assert found.pair.meaning("age").shares.tolist() == [1.0]
    assert any("no column age" in note for note in found.notes)
    with pytest.raises(InvalidPolicy, match="none of the columns age, sex"):
        make_pair(table(PEOPLE), table({"flu": PEOPLE["flu"]}), POLICY)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal", "local", "mondrian", "clustering", "microaggregation"])
@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_what_a_search_knows_is_found_again_in_its_release(method: str, suppressed: str) -> None:
    rng = np.random.default_rng(3)
    rows = 400
    original = discreet.read(
        pa.table(
            {
                "age": rng.integers(18, 80, rows),
                "town": rng.choice(["a", "b", "c", "d"], rows, p=[0.6, 0.2, 0.15, 0.05]),
                "flu": rng.choice(["yes", "no"], rows),
            }
        )
    )
    policy = Policy.of(
        quasi_identifiers=["age", "town"],
        sensitive=["flu"],
        require=[discreet.KAnonymity(4)],
        profile="research-partner-3",
    )
    plan = Plan(method=method, suppressed=suppressed)  # type: ignore[arg-type]
    release = discreet.anonymize(original, policy, plan=plan)
    known = pair_of_recoding(release.recoding, release.hierarchies)
    found = make_pair(original, release.table, policy).pair
    assert known.links is not None
    assert found.links is not None
    assert known.truthful is found.truthful is (method != "microaggregation")
    assert int(found.links.records.sum()) == rows
    if suppressed == "drop":
        assert len(found.released) == len(known.released)
        gone = [one.records[one.released < 0].sum() for one in (known.links, found.links)]
        assert gone[0] == gone[1] == release.suppressed
    if found.truthful:
        shown = found.links.released >= 0
        assert found.covers(found.links.released[shown], found.links.original[shown]).all()


def test_other_columns_of_the_same_rows() -> None:
    release = table({"age": ["[30, 39]", "*"], "sex": ["m", "m"], "flu": ["no", "yes"]})
    whole = make_pair(table(PEOPLE), release, POLICY)  # type: ignore[arg-type]
    found = make_pair(table(PEOPLE), release, POLICY, names=["sex", "flu"], like=whole)  # type: ignore[arg-type]
    assert found.pair.names == ("sex", "flu")
    assert found.pair.original.sensitive == ()
    links = found.pair.links
    assert links is not None
    kept = links.released >= 0
    labels = [found.pair.original.labels(int(at)) for at in links.original[kept]]
    assert [(one["sex"], one["flu"]) for one in labels] == [("m", "no"), ("m", "yes")]
