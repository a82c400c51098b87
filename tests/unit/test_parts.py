"""Counted parts of a table, merged, are the counted table; persons who are in two parts count once."""

from __future__ import annotations

import stat
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.cli import main
from discreet.errors import InvalidParameter, UnreadableInput
from discreet.policy.file import save as save_policy
from discreet.release.parts import CountedClasses, count, merge

KEY = "a key of sixteen characters"
ROWS = pa.table(
    {
        "age": [31, 47, None, 31, 62, 47, 31, None],
        "town": ["a", "b", "a", "a", None, "b", "a", "c"],
        "who": ["p1", "p2", "p3", "p1", "p4", "p5", "p6", "p3"],
        "ill": ["flu", "cold", None, "flu", "asthma", "cold", "cold", "flu"],
        "weight": [1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0, 1.0],
    }
)
PLAIN = discreet.Policy.of(
    quasi_identifiers=["age", "town"], sensitive=["ill"], profile="research-partner-3", unknown="keep"
)
PERSONS = PLAIN.replace(person="who")


def parts(policy: discreet.Policy, cut: int = 3, **settings: object) -> list[CountedClasses]:
    return [count(rows, policy, **settings) for rows in (ROWS.slice(0, cut), ROWS.slice(cut))]  # type: ignore[arg-type]


def shape(counted: CountedClasses) -> list[object]:
    classes = counted.classes
    histogram = classes.histogram("ill")
    values = [*histogram.domain.labels()]
    return sorted(
        (
            str(classes.labels(c)),
            int(classes.records[c]),
            int(classes.persons[c]),
            sorted(
                (values[int(histogram.values[e])], int(histogram.records[e]), int(histogram.persons[e]))
                for e in range(histogram.indptr[c], histogram.indptr[c + 1])
            ),
        )
        for c in range(len(classes))
    )


@pytest.mark.parametrize("cut", range(1, 8))
@pytest.mark.parametrize("policy", [PLAIN, PERSONS], ids=["records", "persons"])
def test_merged_parts_are_the_counted_table(policy: discreet.Policy, cut: int) -> None:
    """p1 and p3 are in both parts of some of these cuts, p3 with two different values."""
    whole = merge(parts(policy, cut, key=KEY))
    assert shape(whole) == shape(count(ROWS, policy, key=KEY))
    assert whole.classes.total == 8
    assert whole.classes.total_persons == (8 if policy is PLAIN else 6)


def test_weights_add_up() -> None:
    policy = PLAIN.replace(weight="weight")
    weights = merge(parts(policy)).classes.class_weights
    assert weights is not None
    assert sorted(weights.tolist()) == sorted(count(ROWS, policy).classes.class_weights.tolist())  # type: ignore[union-attr]


def test_an_audit_of_merged_classes_is_that_of_the_table() -> None:
    for policy in (PLAIN, PERSONS):
        merged, whole = merge(parts(policy, key=KEY)).audit(policy), discreet.audit(ROWS, policy)
        assert [m.to_dict() for m in merged.measures] == [m.to_dict() for m in whole.measures]
        assert (merged.rows, merged.persons) == (whole.rows, whole.persons)
        assert merged.verdict.decision == whole.verdict.decision
        assert any("counted classes" in note for note in merged.notes)


def test_persons_are_not_added_up_without_knowing_who_they_are() -> None:
    with pytest.raises(InvalidParameter, match="nothing says who is in two parts"):
        merge(parts(PERSONS))
    one, two = parts(PERSONS, key=KEY)
    with pytest.raises(InvalidParameter, match="different keys"):
        merge([one, count(ROWS.slice(3), PERSONS, key="another key, as long as it")])
    with pytest.raises(InvalidParameter, match="different keys, or only some of them are blind"):
        merge([one, count(ROWS.slice(3), PERSONS, key=KEY, blind=True)])
    with pytest.raises(InvalidParameter, match="not counted by the same"):
        merge([count(ROWS, PLAIN), count(ROWS, PLAIN.replace(sensitive=[]))])
    assert merge([one, two]).classes.total == 8


def test_blind_classes_show_no_value_and_count_the_same(tmp_path: Path) -> None:
    blind = merge(parts(PERSONS, key=KEY, blind=True))
    clear = merge(parts(PERSONS, key=KEY))
    assert sorted(blind.classes.records.tolist()) == sorted(clear.classes.records.tolist())
    assert sorted(blind.classes.persons.tolist()) == sorted(clear.classes.persons.tolist())
    written = blind.save(tmp_path / "part.arrow").read_bytes()
    assert b"asthma" not in written
    assert b"p6" not in written
    assert KEY.encode() not in written
    audit = blind.audit(PERSONS)
    assert audit.measure("k-anonymity").value == discreet.audit(ROWS, PERSONS).measure("k-anonymity").value
    assert any("keyed hashes" in note for note in audit.notes)
    with pytest.raises(InvalidParameter, match="blind classes need a key"):
        count(ROWS, PLAIN, blind=True)


def test_a_part_is_private_and_comes_back_as_it_was(tmp_path: Path) -> None:
    part = count(ROWS, PERSONS, key=KEY)
    path = part.save(tmp_path / "part.arrow")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    back = CountedClasses.load(path)
    assert shape(back) == shape(part)
    assert (back.key, back.blind) == (part.key, False)
    assert merge([back, count(ROWS, PERSONS, key=KEY)]).classes.total == 16


def test_files_that_hold_no_classes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no classes")
    path = count(ROWS, PLAIN).save(tmp_path / "part.arrow")
    with pa.OSFile(str(path), "rb") as source:
        table = pa.ipc.open_file(source).read_all()
    wrong = table.set_column(
        table.column_names.index("counts"),
        "counts",
        pa.array([[-1] * len(table["counts"][0])], pa.large_list(pa.int64())),
    )
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, wrong.schema) as writer:
        writer.write_table(wrong)
    for name in ("text", "part.arrow"):
        with pytest.raises(UnreadableInput, match="holds no counted classes, or is damaged"):
            CountedClasses.load(tmp_path / name)
    with pytest.raises(InvalidParameter, match="counted by other columns"):
        count(ROWS, PLAIN).audit(PLAIN.replace(sensitive=[]))


def test_the_command_line_counts_merges_and_audits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, key = tmp_path / "policy.toml", tmp_path / "key"
    save_policy(PERSONS, policy)
    key.write_text(KEY)
    for name, rows in (("a", ROWS.slice(0, 3)), ("b", ROWS.slice(3))):
        rows.to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in ("classes", *arguments)])
        assert not end.value.code
        return capsys.readouterr().out

    for name in "ab":
        run("count", tmp_path / f"{name}.csv", "-p", policy, "-o", tmp_path / name, "--key-file", key)
    assert "8 records in" in run("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "whole")
    assert "release" in run("audit", tmp_path / "whole", "-p", policy, "-q")
