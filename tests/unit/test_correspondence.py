"""A table published again with more people: the paper's example, every way records may go on, and the command line."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

from discreet.attacks.composition.correspondence import DIRECTIONS, Republication, correspond
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.cli import cli
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.release.attack import attack
from discreet.release.composition import bcf_anonymity
from helpers.profiles import seeds

FORWARD, CROSS, BACKWARD = DIRECTIONS

# After the example of Fung et al.: five people at first, ten later, all lawyers; everybody is among five each time.
PLACES = ["UK"] * 5 + ["France"] * 5
ILLNESSES = ["flu"] * 3 + ["diabetes"] * 2 + ["flu"] * 2 + ["diabetes"] * 3
PEOPLE = {"place": PLACES, "dx": ILLNESSES}
FIRST = {"place": ["{France, UK}"] * 5, "dx": ["flu"] * 3 + ["diabetes"] * 2}
SECOND = PEOPLE


def classes(columns: dict[str, list[str]]) -> EquivalenceClasses:
    known = {name: values for name, values in columns.items() if name != "dx"}
    return EquivalenceClasses.from_columns(known, sensitive={"dx": columns["dx"]})


def republication(
    people: dict[str, list[str]], first: dict[str, list[str]], second: dict[str, list[str]]
) -> Republication:
    everybody = classes(people)
    return Republication.of(Pair.of(everybody, classes(first)), Pair.of(everybody, classes(second)), "dx")


def test_the_example_of_the_paper() -> None:
    published = republication(PEOPLE, FIRST, SECOND)
    france, uk = 0, 1
    forward, cross, backward = (published.exclusion(direction) for direction in DIRECTIONS)
    # Alice from France was there: three records with flu cannot all be of people from France, who later have flu twice.
    assert (forward.crack_sizes[france], forward.anonymity[france]) == (1, 4)
    # Nor can three later records with diabetes from France all be old: there were two.
    assert (cross.crack_sizes[france], cross.anonymity[france]) == (1, 4)
    # Bob from the UK came later: of three with flu at first two went on in France, one is among those from the UK.
    assert (backward.crack_sizes[uk], backward.anonymity[uk]) == (1, 4)
    assert (backward.crack_sizes[france], backward.anonymity[france]) == (0, 5)


def test_guesses_of_the_example() -> None:
    everybody = classes(PEOPLE)
    forward, cross, backward = correspond(
        Pair.of(everybody, classes(FIRST)), Pair.of(everybody, classes(SECOND)), "dx"
    )
    # Left are (flu 2, diabetes 2) for France, (flu 3, diabetes 2) for the UK: four and five people may have been there.
    assert forward.tries == cross.tries == 9
    assert forward.successes == pytest.approx(4 / 2 + (9 + 4) / 5)
    # Without the later release flu is guessed in three of five cases.
    assert forward.baseline == pytest.approx((2 * 3 + 2 * 2 + 3 * 3 + 2 * 2) / 5 / 9)
    assert cross.baseline == pytest.approx((2 * 2 + 2 * 3 + 3 * 3 + 2 * 2) / 5 / 9)
    # Who came later: (flu 2, diabetes 3) of France, (flu 2, diabetes 2) of the UK.
    assert backward.tries == 9
    assert backward.successes == pytest.approx((4 + 9) / 5 + 4 / 2)
    assert backward.baseline == pytest.approx(((4 + 9) / 5 + (2 * 3 + 2 * 2) / 5) / 9)
    for result in (forward, cross, backward):
        assert dict(result.figures)["least-records-left"] == 4
        assert result.low <= result.rate <= result.high


def test_a_record_without_a_predecessor_is_the_newcomer_s() -> None:
    people = {"age": ["31", "34", "36"], "dx": ["flu", "cold", "gout"]}
    first = {"age": ["[31, 34]"] * 2, "dx": ["flu", "cold"]}
    second = {"age": ["[31, 36]"] * 3, "dx": ["flu", "cold", "gout"]}
    left = republication(people, first, second).exclusion(BACKWARD)
    assert left.anonymity.tolist() == [1, 1, 1]
    assert left.left[2, left.values.index("gout")] == 1
    everybody = classes(people)
    *_, backward = correspond(Pair.of(everybody, classes(first)), Pair.of(everybody, classes(second)), "dx")
    assert (backward.tries, backward.successes, backward.baseline) == (1, 1, pytest.approx(1 / 3))
    assert dict(backward.figures)["one-value-left"] == 1


def cut(random: np.random.Generator, low: int = 0, high: int = 8) -> list[tuple[int, int]]:
    """A cut of the binary tree over 0 … 7: intervals that are nested in or apart from those of any other cut."""
    if high - low == 1 or random.random() < 0.4:
        return [(low, high)]
    middle = (low + high) // 2
    return [*cut(random, low, middle), *cut(random, middle, high)]


def recoded(random: np.random.Generator, columns: list[list[int]]) -> list[tuple[tuple[int, int], ...]]:
    cuts = [cut(random) for _ in columns]
    return [
        tuple(
            next((low, high) for low, high in intervals if low <= number < high)
            for number, intervals in zip(numbers, cuts, strict=True)
        )
        for numbers in zip(*columns, strict=True)
    ]


def written(rows: list[tuple[tuple[int, int], ...]], values: list[str]) -> dict[str, list[str]]:
    columns = {f"q{at}": [f"[{row[at][0]}, {row[at][1] - 1}]" for row in rows] for at in range(len(rows[0]))}
    return {**columns, "dx": values}


class EveryWay:
    """All ways in which the records of one release may go on in another, value by value."""

    def __init__(
        self,
        known: list[tuple[int, ...]],
        first: list[tuple[tuple[int, int], ...]],
        second: list[tuple[tuple[int, int], ...]],
        values: list[str],
    ) -> None:
        self.first, self.second, self.values, self.known = first, second, values, known

    def comparable(self, one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...]) -> bool:
        return all(
            any(a[0] <= row[at] < a[1] and b[0] <= row[at] < b[1] for row in self.known)
            for at, (a, b) in enumerate(zip(one, other, strict=True))
        )

    def left(self, person: tuple[int, ...], value: str) -> tuple[int, int]:
        """The most records that are of people like this one in both releases, and that are new, over all ways."""
        before = [row for row, own in zip(self.first, self.values, strict=False) if own == value]
        after = [row for row, own in zip(self.second, self.values, strict=True) if own == value]
        fits = [
            [all(a[0] <= number < a[1] for a, number in zip(row, person, strict=True)) for row in rows]
            for rows in (before, after)
        ]
        both = new = -1
        for way in permutations(range(len(after)), len(before)):
            if all(self.comparable(before[at], after[to]) for at, to in enumerate(way)):
                both = max(both, sum(fits[0][at] and fits[1][to] for at, to in enumerate(way)))
                new = max(new, sum(there for to, there in enumerate(fits[1]) if to not in way))
        assert both >= 0
        return both, new


def overlapping(random: np.random.Generator, columns: list[list[int]]) -> list[tuple[tuple[int, int], ...]]:
    """Each number in an interval of its own around it."""
    return [
        tuple(
            (number - int(random.integers(0, 3)), number + 1 + int(random.integers(0, 3))) for number in row
        )
        for row in zip(*columns, strict=True)
    ]


def drawn(
    seed: int, attributes: int, *, local: bool = False
) -> tuple[Republication, EveryWay, dict[str, list[str]]]:
    """Nine people, of whom the first five are in the earlier release."""
    random = np.random.default_rng(seed)
    values = [f"d{number}" for number in random.integers(0, 2, size=9)]
    columns = [random.integers(0, 8, size=9).tolist() for _ in range(attributes)]
    known = list(zip(*columns, strict=True))
    recode = overlapping if local else recoded
    first, second = recode(random, columns)[:5], recode(random, columns)
    people = {f"q{at}": [str(number) for number in column] for at, column in enumerate(columns)}
    people["dx"] = values
    published = republication(people, written(first, values[:5]), written(second, values))
    return published, EveryWay(known, first, second, values), people


def targets(people: dict[str, list[str]]) -> list[tuple[int, ...]]:
    """What is known of each class of people, in the order of the classes."""
    counted = classes(people)
    return [
        tuple(
            int(domain.label(int(codes[at])))
            for domain, codes in zip(counted.attributes, counted.codes, strict=True)
        )
        for at in range(len(counted))
    ]


@seeds(25)
def test_nested_intervals_leave_what_every_way_leaves(seed: int) -> None:
    published, ways, people = drawn(seed, 1)
    for at, person in enumerate(targets(people)):
        for number, value in enumerate(published.values):
            both, new = ways.left(person, value)
            assert published.exclusion(FORWARD).left[at, number] == both
            assert published.exclusion(CROSS).left[at, number] == both
            assert published.exclusion(BACKWARD).left[at, number] == new


@pytest.mark.parametrize("local", [False, True])
@seeds(20)
def test_with_other_classes_nothing_possible_is_excluded(seed: int, local: bool) -> None:
    published, ways, people = drawn(seed, 2 - local, local=local)
    for at, person in enumerate(targets(people)):
        for number, value in enumerate(published.values):
            both, new = ways.left(person, value)
            assert published.exclusion(FORWARD).left[at, number] >= both
            assert published.exclusion(CROSS).left[at, number] >= both
            assert published.exclusion(BACKWARD).left[at, number] >= new


def test_records_that_show_nothing_fit_everybody() -> None:
    people = {"age": ["31", "34", "36", "38"], "dx": ["flu", "cold", "flu", "flu"]}
    first = {"age": ["[31, 34]", "*"], "dx": ["flu", "cold"]}
    second = {"age": ["[31, 34]", "[31, 34]", "[36, 38]", "*"], "dx": ["flu", "cold", "flu", "flu"]}
    published = republication(people, first, second)
    young, old = 0, 2
    forward, backward = published.exclusion(FORWARD), published.exclusion(BACKWARD)
    cold, flu = published.values.index("cold"), published.values.index("flu")
    # The hidden record with cold may be that of 31, but not that of 36, who later may only have flu.
    assert (forward.left[young, flu], forward.left[young, cold]) == (1, 1)
    assert (forward.left[old, flu], forward.left[old, cold]) == (0, 0)
    # Flu of [31, 34] went on there or hidden: of two that fit a young newcomer one is old. Cold is old for certain.
    assert (backward.left[young, flu], backward.left[young, cold]) == (1, 0)
    # The same flu may be hidden now, but has room among the young: both that fit an old newcomer may be new.
    assert (backward.left[old, flu], backward.left[old, cold]) == (2, 0)


def test_an_earlier_release_that_does_not_go_on_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="not every record of the earlier release"):
        republication(PEOPLE, {"place": ["UK"] * 4, "dx": ["flu"] * 4}, SECOND)


def test_a_table_of_some_targets_is_refused() -> None:
    some = {name: values[:4] for name, values in PEOPLE.items()}
    with pytest.raises(InvalidParameter, match="smaller than the release"):
        republication(some, {"place": ["UK"], "dx": ["flu"]}, {"place": ["UK"] * 5, "dx": ["flu"] * 5})


POLICY = Policy.of(quasi_identifiers=["place"], sensitive=["dx"])


def table(columns: dict[str, list[str]]) -> object:
    return read(pa.table(columns))


def test_attacked_beside_the_intersection() -> None:
    attacked = attack(
        table(SECOND), POLICY, original=table(PEOPLE), earlier=[table(FIRST)], attacks=["homogeneity"]
    )
    assert [result.attack for result in attacked.results][1:5] == ["intersection", *DIRECTIONS]
    assert attacked.result(BACKWARD).tries == 9
    alone = attack(table(SECOND), POLICY, original=table(PEOPLE), attacks=["homogeneity"])
    assert not {result.attack for result in alone.results} & set(DIRECTIONS)


def test_of_several_earlier_releases_the_one_that_helps_most_counts() -> None:
    coarse = {"place": ["{France, UK}"], "dx": ["flu"]}
    attacked = attack(
        table(SECOND),
        POLICY,
        original=table(PEOPLE),
        earlier=[table(coarse), table(FIRST)],
        attacks=["homogeneity"],
    )
    assert [result.attack for result in attacked.results].count(CROSS) == 1
    each = [
        attack(table(SECOND), POLICY, original=table(PEOPLE), earlier=[table(first)], attacks=["homogeneity"])
        for first in (coarse, FIRST)
    ]
    assert attacked.result(CROSS).advantage == max(one.result(CROSS).advantage for one in each)


def test_why_it_was_not_run() -> None:
    shrunk = {name: values[:6] for name, values in PEOPLE.items()}
    attacked = attack(
        table(shrunk), POLICY, original=table(PEOPLE), earlier=[table(SECOND)], attacks=["homogeneity"]
    )
    (skipped,) = (skipped for skipped in attacked.untested if skipped.attack == "correspondence")
    assert "not every record of the earlier release can be in this one" in skipped.why


def test_nothing_is_laid_over_values_by_bucket() -> None:
    rows = pa.table({"place": PLACES, "bucket": [1] * 5 + [2] * 5})
    counts = pa.table({"bucket": [1, 1, 2, 2], "dx": ["flu", "diabetes"] * 2, "records": [3, 2, 2, 3]})
    attacked = attack(
        rows, POLICY, original=table(PEOPLE), buckets=counts, earlier=[table(FIRST)], attacks=["homogeneity"]
    )
    why = {skipped.attack: skipped.why for skipped in attacked.untested}
    for name in ("intersection", "correspondence", "differencing"):
        assert why[name] == "dx: the release tells this attribute by bucket, not by record"


def test_nobody_came_later() -> None:
    attacked = attack(
        table(SECOND), POLICY, original=table(PEOPLE), earlier=[table(SECOND)], attacks=["homogeneity"]
    )
    assert attacked.result(FORWARD).tries == 10
    assert BACKWARD in {skipped.attack for skipped in attacked.untested}
    shown = " ".join(str(attacked).split())
    assert "backward-attack (dx) nobody can be such a person" in shown


def test_command_line(tmp_path: Path) -> None:
    for name, columns in (("people", PEOPLE), ("first", FIRST), ("second", SECOND)):
        pyarrow.csv.write_csv(pa.table(columns), tmp_path / f"{name}.csv")
    options = ["--qi", "place", "--sensitive", "dx", "--attacks", "homogeneity", "--json"]
    files = [str(tmp_path / "second.csv"), "--original", str(tmp_path / "people.csv")]
    done = CliRunner().invoke(
        cli, ["attack", *files, "--earlier", str(tmp_path / "first.csv"), *options], standalone_mode=False
    )
    assert done.exception is None
    attacks = {result["attack"]: result for result in json.loads(done.stdout)["attacks"]}
    for direction in DIRECTIONS:
        assert attacks[direction]["figures"]["least-records-left"] == 4


def test_bcf_anonymity_of_the_example_is_measured_and_required(tmp_path: Path) -> None:
    for name, columns in (("people", PEOPLE), ("first", FIRST), ("second", SECOND)):
        pyarrow.csv.write_csv(pa.table(columns), tmp_path / f"{name}.csv")
    policy = Policy.of(quasi_identifiers=["place"], sensitive=["dx"])
    given = {"earlier": [tmp_path / "first.csv"], "original": tmp_path / "people.csv"}
    measured = bcf_anonymity(tmp_path / "second.csv", policy, **given)  # type: ignore[arg-type]
    assert list(measured.left.values()) == [4, 4, 4]
    assert measured.holds(4)
    assert not measured.holds(5)
    # The earlier release once more: nobody came, and everybody is among as many as before.
    again = bcf_anonymity(
        tmp_path / "second.csv", policy, earlier=[tmp_path / "second.csv"], original=tmp_path / "people.csv"
    )
    assert (again.left[FORWARD], again.left[CROSS]) == (5, 5)
    words = ["attack", "second.csv", "--original", "people.csv", "--earlier", "first.csv"]
    words = [str(tmp_path / word) if word.endswith(".csv") else word for word in words]
    words += ["--qi", "place", "--sensitive", "dx", "--attacks", "homogeneity", "--json", "--bcf"]
    ended = [CliRunner().invoke(cli, [*words, k], standalone_mode=False).return_value for k in ("4", "5")]
    assert ended == [0, 1]
    alone = [word for word in words if word != "--earlier" and not word.endswith("first.csv")]
    assert isinstance(CliRunner().invoke(cli, [*alone, "4"]).exception, InvalidParameter)
