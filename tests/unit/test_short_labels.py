"""Long sets get short labels, unique in their column; the codebook tells the rest to whoever reads the release again."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter
from discreet.policy.hierarchies import hierarchies
from discreet.policy.plan import Plan
from discreet.release.codebook import codebook_beside, make_codebook, read_codebook, told_sets, write_codebook
from discreet.release.pairing import make_pair
from discreet.table.domain import Domain
from discreet.table.meaning import KINDS, Meaning
from discreet.table.values import OneOf, parse
from discreet.transform.labels import discreetly_named, spelled_out
from discreet.transform.recoding import Recoding

Run = Callable[..., Any]
ZONES = [f"Zone {letter}{number}" for letter in "ABCDEFGH" for number in range(1, 9)]
"""64 zones: more than a label may name."""
POLICY = replace(
    discreet.Policy.of(
        quasi_identifiers=["zone", "sex"], sensitive=["ill"], require=[discreet.KAnonymity(60)]
    ),
    profile="research-partner-5",
)


def zones(owner: list[int], names: list[str] = ZONES) -> Recoding:
    classes = EquivalenceClasses.from_columns({"zone": names}, counts=[4] * len(names))
    kept = np.ones(max(owner) + 1, dtype=bool)
    return Recoding.of_groups(classes, np.array(owner), kept=kept, method="example")


def rides() -> pa.Table:
    """Two people of each sex in each of 64 zones."""
    places = [zone for zone in ZONES for _ in range(4)]
    return pa.table(
        {
            "zone": places,
            "sex": ["f", "m"] * 128,
            "ill": [("flu", "cold", "none", "cough")[i // 3 % 4] for i in range(256)],
        }
    )


def test_a_long_set_is_named_by_its_first_members_and_a_count() -> None:
    recoding = discreetly_named(zones([0] * 32 + [1] * 32))
    assert recoding.columns[0].values.to_pylist() == [
        "{Zone A1, Zone A2, Zone A3, Zone A4, Zone A5, Zone A6, +26}",
        "{Zone E1, Zone E2, Zone E3, Zone E4, Zone E5, Zone E6, +26}",
    ]
    assert all(len(text) <= 60 for text in recoding.columns[0].values.to_pylist())


def test_the_length_is_a_setting_and_a_set_that_fits_is_written_out() -> None:
    whole = zones([0] * 32 + [1] * 32)
    assert discreetly_named(whole, length=20).columns[0].values.to_pylist() == [
        "{Zone A1, +31}",
        "{Zone E1, +31}",
    ]
    assert discreetly_named(whole, length=10_000).columns == whole.columns
    small = zones([0, 0, 1, 1], ["a", "b", "c", "d"])
    assert discreetly_named(small, length=20).columns[0].values.to_pylist() == ["{a, b}", "{c, d}"]


def test_labels_that_would_be_equal_get_a_letter() -> None:
    # Groups of women and of men over 33 zones, as ranges that overlap make them: each lacks another zone.
    names = ZONES[:33]
    classes = EquivalenceClasses.from_columns(
        {"zone": names * 2, "sex": ["f"] * 33 + ["m"] * 33}, counts=[4] * 66
    )
    zone, sex = (
        [domain.labels()[code] for code in codes]
        for domain, codes in zip(classes.attributes, classes.codes, strict=True)
    )
    lone = {("f", names[31]): 2, ("m", names[32]): 3}
    owner = [lone.get((who, where), int(who == "m")) for who, where in zip(sex, zone, strict=True)]
    whole = Recoding.of_groups(classes, np.array(owner), kept=np.ones(4, dtype=bool), method="example")
    recoding = discreetly_named(whole)
    labels = sorted(label for label in recoding.columns[0].printed() if label.startswith("{"))
    assert labels == [
        "{Zone A1, Zone A2, Zone A3, Zone A4, Zone A5, Zone A6, +26 (A)}",
        "{Zone A1, Zone A2, Zone A3, Zone A4, Zone A5, Zone A6, +26 (B)}",
    ]
    told = spelled_out(recoding)["zone"]
    assert [set(names) - set(told[label].members) for label in labels] == [{names[32]}, {names[31]}]


def test_a_label_is_never_written_like_a_value() -> None:
    names = ["a", "b", "c", "d", "{a, +3}"]
    recoding = discreetly_named(zones([0, 0, 0, 0, 1], names), length=9)
    assert recoding.columns[0].values.to_pylist() == ["{a, +3 (A)}", "{a, +3}"]
    meaning = Meaning.of(
        recoding.classes.attributes[0], recoding.columns[0].domain, told=spelled_out(recoding)["zone"]
    )
    assert meaning.sizes.tolist() == [4, 1]


def test_a_label_names_released_values_only() -> None:
    whole = zones([0] * 64)
    kept = np.array([not zone.startswith("Zone A") for zone in whole.classes.attributes[0].labels()])
    # Codes of a second group keep the first from being all values.
    owner = [0] * 32 + [1] * 32
    recoding = discreetly_named(replace(zones(owner), kept=kept))
    first = recoding.columns[0].values.to_pylist()[0]
    assert "Zone A" not in first
    assert parse(first) == OneOf(tuple(f"Zone B{n}" for n in range(1, 7)), more=26)
    assert not any(member.startswith("Zone A") for member in spelled_out(recoding)["zone"][first].members)


@pytest.mark.parametrize(
    "meant", [OneOf(("a", "b"), 7, "A"), OneOf(("+7 (A)", "c"), 1, "AB"), OneOf(("+7 (A)", "+7"))]
)
def test_a_letter_is_read_again(meant: OneOf) -> None:
    assert parse(str(meant)) == meant


def test_whoever_knows_the_codebook_reads_just_the_values_of_a_label() -> None:
    domain = Domain("zone", pa.array(ZONES))
    label = "{Zone A1, Zone A2, +30}"
    released = Domain("zone", pa.array([label]))
    unknown = Meaning.of(domain, released)
    told = Meaning.of(domain, released, told={label: OneOf(tuple(ZONES[:31]), more=1)})
    assert (int(unknown.sizes[0]), int(told.sizes[0])) == (64, 31)
    assert KINDS[told.kinds[0]] == "set"
    # What is counted only is lost, too, though no released record has it.
    assert told.shares[0] == unknown.shares[0] == 0.5


def test_a_codebook_is_read_again_whatever_its_values_look_like(tmp_path: Path) -> None:
    odd = ["a; b", 'c "d"', " e ", "and 3 more", "f, g", "h\ni", "+4", *(f"plain {n}" for n in range(20))]
    recoding = discreetly_named(zones([0] * len(odd) + [1], [*odd, "z"]))
    book = make_codebook(recoding)
    write_codebook(book, tmp_path / "book.csv")
    told = told_sets(read_codebook(tmp_path / "book.csv"))
    (label,) = told["zone"]
    assert sorted(told["zone"][label].members) == sorted(odd)
    assert next(entry.records for entry in book if entry.label == label) == 4 * len(odd)


def saved(folder: Path) -> tuple[Path, discreet.Release]:
    release = discreet.anonymize(rides(), POLICY, plan=Plan(method="mondrian", seconds=5))
    return release.save(folder / "release.csv", links=folder / "links.csv"), release


def test_a_release_with_short_labels_has_its_codebook_beside_it(tmp_path: Path) -> None:
    path, release = saved(tmp_path)
    with path.open(newline="") as file:
        shown = {row["zone"] for row in csv.DictReader(file)}
    assert any("+" in label for label in shown)
    assert max(map(len, shown)) <= 60
    assert codebook_beside(path) == tmp_path / "release.codebook.csv"
    entries = {entry.label: entry for entry in read_codebook(tmp_path / "release.codebook.csv")}
    assert all(
        len(entries[label].meaning.split("; ")) == parse(label).more + len(parse(label).members)
        for label in shown
        if "+" in label
    )
    assert discreet.check(path, replace(release.policy, plan=Plan())).passes


def test_losses_and_attacks_are_those_of_the_sets_written_out(tmp_path: Path) -> None:
    path, release = saved(tmp_path)
    rows = rides()
    long = discreet.anonymize(rows, POLICY, plan=Plan(method="mondrian", seconds=5, label_length=10_000))
    whole = long.save(tmp_path / "long.csv", links=tmp_path / "long-links.csv")
    assert codebook_beside(whole) is None
    for links in (("links.csv", "long-links.csv"), (None, None)):
        short_links, long_links = (None if name is None else tmp_path / name for name in links)
        names = ["record-linkage", "singling-out", "homogeneity"]
        mine = discreet.attack(path, POLICY, original=rows, links=short_links, attacks=names)
        theirs = discreet.attack(whole, POLICY, original=rows, links=long_links, attacks=names)
        assert [(r.attack, r.successes, r.tries) for r in mine.results] == [
            (r.attack, r.successes, r.tries) for r in theirs.results
        ]
    lost = [
        {
            m.name: m.value
            for m in discreet.compare(rows, file, POLICY, labels=[], links=links).losses.attributes
            if m.attribute == "zone"
        }
        for file, links in (
            (path, tmp_path / "links.csv"),
            (whole, tmp_path / "long-links.csv"),
            (release, None),
        )
    ]
    assert lost[0] == pytest.approx(lost[1], nan_ok=True)
    assert lost[0] == pytest.approx(lost[2], nan_ok=True)


def test_without_the_codebook_it_is_said_that_an_intruder_knows_more(tmp_path: Path) -> None:
    path, _ = saved(tmp_path)
    (tmp_path / "release.codebook.csv").rename(tmp_path / "elsewhere.csv")
    compared = discreet.compare(rides(), path, POLICY, labels=[])
    assert any("codebook" in note and "zone" in note for note in compared.notes)
    known = discreet.compare(rides(), path, POLICY, labels=[], codebook=tmp_path / "elsewhere.csv")
    assert not any("codebook" in note for note in known.notes)


def test_without_the_codebook_labels_are_not_taken_for_values_that_were_made_up(tmp_path: Path) -> None:
    """The hierarchy that would be learned from the original is not the tree that the release was made with."""
    # Few people in zones A, many in zones H: two of A and four of H are more than all of A.
    zones_of_people = [zone for zone in ZONES for _ in range(20 if zone.startswith("Zone H") else 2)]
    rows = pa.table({"zone": zones_of_people, "sex": ["f", "m"] * (len(zones_of_people) // 2)})
    policy = discreet.Policy.of(quasi_identifiers=["zone", "sex"])
    together = {*ZONES[:2], *ZONES[-4:]}
    labels = ["{Zone A1, Zone A2, +4}" if zone in together else "*" for zone in zones_of_people]
    released = pa.table({"zone": labels, "sex": ["*"] * len(labels)})
    pair = make_pair(discreet.read(rows), discreet.read(released), policy).pair
    assert pair.truthful
    assert "values were averaged" not in " ".join(
        one.why for one in discreet.attack(released, policy, original=rows).untested
    )


def test_a_codebook_of_another_release_is_refused(tmp_path: Path) -> None:
    path, _ = saved(tmp_path)
    book = tmp_path / "release.codebook.csv"
    table = pyarrow.csv.read_csv(book)
    other = table.set_column(3, "records", pa.array([n + 1 for n in table["records"].to_pylist()]))
    pyarrow.csv.write_csv(other, book)
    with pytest.raises(InvalidParameter, match="not that of this release"):
        discreet.compare(rides(), path, POLICY, labels=[])
    book.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidParameter, match="is no codebook"):
        discreet.compare(rides(), path, POLICY, labels=[])


def test_on_the_command_line_the_codebook_appears_and_is_found(run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "rides.csv", tmp_path / "out.csv"
    pyarrow.csv.write_csv(rides(), source)
    roles = ["--qi", "zone,sex", "--sensitive", "ill", "--profile", "research-partner-5"]
    hard = ["--require", "k-anonymity k=60", "--method", "mondrian"]
    made = run("anonymize", source, "-o", target, *roles, *hard)
    assert made.code == 0, made.said
    assert "out.codebook.csv" in made.out
    assert "codebook" not in run("compare", source, target, *roles, "--labels", "").out
    (tmp_path / "out.codebook.csv").rename(tmp_path / "moved.csv")
    assert "codebook" in run("compare", source, target, *roles, "--labels", "").out
    attack = ["attack", target, "--original", source, *roles, "--attacks", "homogeneity"]
    given = run(*attack, "--codebook", tmp_path / "moved.csv")
    assert (given.code, "codebook" in given.out) == (0, False)


def test_a_set_over_a_known_hierarchy_is_told_in_full_however_rare_its_values_are() -> None:
    # Peru has one record where the smallest class has nine; the set is made from the data, and no node of the hierarchy.
    places = ["Chile"] * 4 + ["Germany"] * 4 + ["Peru"] + ["Japan"] * 9
    classes = EquivalenceClasses.from_columns({"country": places})
    names = classes.attributes[0].labels()
    owner = np.array([int(names[code] == "Japan") for code in classes.codes[0]])
    recoding = Recoding.of_groups(classes, owner, kept=np.ones(2, dtype=bool), method="example")
    policy = discreet.Policy.of(quasi_identifiers=["country"])
    fitted = hierarchies(policy, classes)
    assert not fitted[0].learned
    told = told_sets(make_codebook(discreetly_named(recoding, length=15), fitted))
    assert told == {"country": {"{Chile, +2}": OneOf(("Chile", "Germany", "Peru"))}}


def test_a_label_that_a_known_hierarchy_has_needs_no_codebook(tmp_path: Path) -> None:
    places = ["Germany", "France", "Spain", "Peru", "Chile", "Japan", "China", "Kenya"]
    rows = pa.table({"country": [places[i % 8] for i in range(40)], "ill": ["flu", "none"] * 20})
    policy = replace(
        discreet.Policy.of(
            quasi_identifiers=["country"], sensitive=["ill"], require=[discreet.KAnonymity(8)]
        ),
        profile="research-partner-5",
    )
    release = discreet.anonymize(rows, policy)
    compared = discreet.compare(rows, release.save(tmp_path / "release.csv"), policy, labels=[])
    assert not any("codebook" in note for note in compared.notes)
