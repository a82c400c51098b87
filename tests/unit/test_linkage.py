"""Linkage attacks by hand: who fits, who is nearest, who matches best, and what is counted."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from discreet.attacks.linkage import probabilistic
from discreet.attacks.linkage.compatible import compatible_linkage
from discreet.attacks.linkage.fitting import released_fitting
from discreet.attacks.linkage.membership import ENOUGH, left_out, membership
from discreet.attacks.linkage.nearest import nearest_linkage
from discreet.attacks.linkage.probabilistic import probabilistic_linkage
from discreet.attacks.linkage.view import View
from discreet.attacks.linkage.worst_case import worst_case
from discreet.attacks.result import AttackResult
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.errors import InvalidParameter, MissingDependency, UnknownColumn

Columns = Mapping[str, Sequence[object]]


def classes(columns: Columns, **more: object) -> EquivalenceClasses:
    return EquivalenceClasses.from_columns(columns, **more)  # type: ignore[arg-type]


def pair_of(before: Columns, after: Columns, links: Sequence[tuple[int, int, int]] | None = None) -> Pair:
    arrays = (
        None
        if links is None
        else Links(*(np.array(part, dtype=np.int64) for part in zip(*links, strict=True)))
    )
    return Pair.of(classes(before), classes(after), links=arrays)


def figures(result: AttackResult) -> dict[str, float]:
    return dict(result.figures)


# Four people; the release shows two alike, one as he is, and hides one.
FOUR = {"age": [31, 34, 47, 52], "sex": ["f", "f", "m", "m"]}
RELEASED = {"age": ["[30, 39]", "[30, 39]", "47", "*"], "sex": ["f", "f", "m", "*"]}
# Released classes in their order: ("*", "*"), ("47", "m"), ("[30, 39]", "f").
LINKS = [(0, 2, 1), (1, 2, 1), (2, 1, 1), (3, 0, 1)]


def test_four_people_by_hand() -> None:
    result = compatible_linkage(pair_of(FOUR, RELEASED, LINKS))
    # 31 and 34: two shown records fit, 47: one, 52: only the hidden one. Each guess is right that often.
    assert result.successes == pytest.approx(1 / 2 + 1 / 2 + 1 + 1)
    assert (result.tries, result.baseline, result.unit) == (4, 0.25, "records")
    found = figures(result)
    # With the hidden record, which fits everybody: 3, 3, 2 and 1.
    assert (found["singled-out"], found["singled-out-among-shown"]) == (0.25, 0.25)
    assert (found["min-candidates"], found["median-candidates"], found["mean-candidates"]) == (1, 2, 2.25)
    assert found["without-candidate"] == 0
    assert result.notes == ()
    first = result.exposed[0]
    assert (first.values, first.score, first.people) == ({"age": "47", "sex": "m"}, 1.0, 1)
    assert first.says == "one released record fits"


def test_a_record_that_is_not_there_is_not_found() -> None:
    kept = {"age": ["[30, 39]", "47"], "sex": ["f", "m"]}
    result = compatible_linkage(pair_of(FOUR, kept, [(0, 1, 1), (1, -1, 1), (2, 0, 1), (3, -1, 1)]))
    # 34 fits the record of 31, and is wrongly taken for it; 52 fits nothing.
    assert result.successes == pytest.approx(1 + 0 + 1 + 0)
    assert figures(result)["without-candidate"] == 0.25
    assert figures(result)["correct-match-rate"] == pytest.approx(2 / 3)
    assert result.fallen == (0, 1)


def test_without_links_successes_are_an_upper_bound() -> None:
    result = compatible_linkage(pair_of({"age": [47, 47, 47]}, {"age": ["47"]}))
    # Three people fit one record: at most one of them is right.
    assert result.successes == 1
    assert "upper bound" in result.notes[0]


def test_fewer_known_attributes() -> None:
    pair = pair_of(FOUR, RELEASED, LINKS)
    result = compatible_linkage(pair, known=["sex"])
    assert result.known == ("sex",)
    assert result.successes == pytest.approx(1 / 2 + 1 / 2 + 1)
    with pytest.raises(UnknownColumn, match="did you mean 'sex'"):
        compatible_linkage(pair, known=["sexx"])
    with pytest.raises(InvalidParameter, match="knows no quasi-identifier"):
        compatible_linkage(pair, known=[])


def test_a_journalist_does_not_know_who_is_in_the_release() -> None:
    # Of the public table only the people of 31 and 47 are in the original; 33 is new and fits all the same.
    public = classes({"age": [31, 33, 47, 80]})
    result = compatible_linkage(pair_of(FOUR, RELEASED, LINKS), targets=public)
    assert result.known == ("age",)
    assert figures(result)["targets-in-original"] == 0.5
    assert result.successes == pytest.approx(1 / 2 + 1)
    assert result.scenario.startswith("journalist")
    # Two who share the values of one record: one of them at most is in the release.
    twice = compatible_linkage(pair_of(FOUR, RELEASED, LINKS), targets=classes({"age": [47, 47]}))
    assert twice.successes == pytest.approx(1)
    assert twice.tries == 2


def test_numbers_of_another_type_are_the_same_people() -> None:
    public = classes({"age": ["31", "47"]})
    assert figures(compatible_linkage(pair_of(FOUR, RELEASED), targets=public))["targets-in-original"] == 1


def test_of_many_people_a_sample_is_attacked() -> None:
    pair = pair_of({"age": [31, 34, 47] * 40}, {"age": ["[30, 39]"] * 80 + ["47"] * 40})
    result = compatible_linkage(pair, at_most=60, seed=3)
    assert result.tries == 60
    assert result.figures == compatible_linkage(pair, at_most=60, seed=3).figures
    assert result.notes[0] == "a sample of 60 of 120 people was attacked"


def test_persons_with_many_records_are_counted_once() -> None:
    before = classes({"shop": ["a", "a", "b", "b"]}, person=[1, 1, 1, 2])
    after = classes({"shop": ["a", "a", "{a, b}", "{a, b}"]}, person=[1, 1, 1, 2])
    view = View.of(Pair.of(before, after))
    # At a: person 1 (three records) and person 2 (one that may be a). At b: both by the set.
    assert released_fitting(view).everyone.tolist() == [2, 2]
    result = compatible_linkage(Pair.of(before, after))
    assert (result.unit, result.tries, result.baseline) == ("persons", 3, 0.5)


def test_means_are_linked_by_distance() -> None:
    before, after = {"age": [20, 30, 60, 80]}, {"age": ["25", "25", "70", "70"]}
    links = [(0, 0, 1), (1, 0, 1), (2, 1, 1), (3, 1, 1)]
    assert compatible_linkage(pair_of(before, after, links)).successes == 0
    result = nearest_linkage(pair_of(before, after, links))
    assert result.successes == pytest.approx(4 * 1 / 2)
    # 5, 5, 10 and 10 of a range of 60.
    assert figures(result)["mean-distance"] == pytest.approx(30 / 4 / 60)
    assert figures(result)["one-nearest"] == 0
    assert result.exposed[0].says == "2 released records are nearest"


def test_distance_of_generalised_values() -> None:
    # To f the set is half a category away, m a whole one: the set is nearer.
    result = nearest_linkage(pair_of({"sex": ["f", "m"]}, {"sex": ["m", "{f, m}"]}, [(0, 1, 1), (1, 0, 1)]))
    assert result.successes == pytest.approx(2)
    assert figures(result)["mean-distance"] == pytest.approx(0.25)


def test_the_worst_case_by_hand() -> None:
    result = worst_case(pair_of(FOUR, RELEASED, LINKS))
    # Two records may stand for 31 or 34, one for 47 only, the hidden one for all four.
    assert result.successes == pytest.approx(1 / 2 + 1 / 2 + 1 + 1 / 4)
    assert figures(result)["assigned-to-one"] == 0.25
    assert (result.baseline, result.fallen) == (0.25, (1,))
    assert result.exposed[0].values == {"age": "47", "sex": "m"}


def test_the_worst_case_knows_sensitive_values_too() -> None:
    flu = {"flu": ["y", "n", "n", "n"]}
    before = classes(FOUR, sensitive=flu)
    after = classes(RELEASED, sensitive=flu)
    pair = Pair.of(before, after)
    assert worst_case(pair, known=["age", "sex"]).successes == pytest.approx(2.25)
    # The flu tells 31 from 34; the hidden record is one of the three without.
    assert worst_case(pair).successes == pytest.approx(1 + 1 + 1 + 1 / 3)
    assert "flu" not in worst_case(pair).exposed[0].values
    with pytest.raises(UnknownColumn):
        worst_case(pair, known=["flux"])


def test_membership_by_hand() -> None:
    # In the release are 31, 34, 47, 52; of the others 33 fits a record, 60 none.
    control = classes({"age": [33, 60], "sex": ["f", "m"]})
    result = membership(pair_of(FOUR, RELEASED, LINKS), control=control)
    # Of the members 52 is hidden, and not seen.
    assert figures(result)["true-positive-rate"] == 0.75
    assert figures(result)["false-positive-rate"] == 0.5
    assert result.rate == pytest.approx((0.75 + 0.5) / 2)
    assert (result.baseline, result.tries) == (0.5, 4)
    assert result.low < 0.5 < result.high


def test_membership_by_distance_where_values_were_changed() -> None:
    before = {"age": [20, 30, 60, 80]}
    pair = pair_of(before, {"age": ["20.5", "30.5", "60.5", "80.5"]})
    result = membership(pair, control=classes({"age": [25, 40, 50, 70]}))
    assert result.rate == 1
    assert figures(result)["auc"] == 1
    assert membership(pair, control=classes(before)).rate == 0.5


def test_membership_needs_people_who_are_not_in_the_release() -> None:
    with pytest.raises(InvalidParameter, match="not tested: no control set"):
        membership(pair_of(FOUR, RELEASED, LINKS))
    rows = ENOUGH + 1
    ages = list(range(100, 100 + rows))
    links = [(i, -1, 1) for i in range(ENOUGH)] + [(ENOUGH, 0, 1)]
    pair = pair_of({"age": ages}, {"age": [str(ages[-1])]}, links)
    others = left_out(pair)
    assert others is not None
    assert others.total == ENOUGH
    result = membership(pair)
    assert (figures(result)["true-positive-rate"], figures(result)["false-positive-rate"]) == (1, 0)
    assert "leaves out" in result.notes[0]


def test_at_event_level_a_lost_record_is_not_a_person_who_left() -> None:
    rows = ENOUGH + 1
    before = classes({"day": list(range(rows))}, person=[1] * rows)
    after = classes({"day": ["0"]}, person=[1])
    gone = Links(np.arange(rows), np.array([0] + [-1] * ENOUGH), np.ones(rows, dtype=np.int64))
    assert left_out(Pair.of(before, after, links=gone)) is None
    result = worst_case(Pair.of(before, after, links=gone))
    # One released record, one person it may belong to.
    assert (result.tries, result.successes, result.unit, result.baseline) == (1, 1, "persons", 1)


def test_probabilistic_linkage_tolerates_a_changed_value() -> None:
    pytest.importorskip("splink")
    before = {"age": [20, 30, 60, 80], "sex": ["f", "m", "f", "m"], "town": ["a", "b", "c", "d"]}
    # The town of the first was changed: nothing fits, but age and sex still point to one record.
    after = {
        "age": ["[20, 29]", "[30, 39]", "60", "80"],
        "sex": ["f", "m", "f", "*"],
        "town": ["b", "b", "c", "d"],
    }
    links = [(0, 2, 1), (1, 3, 1), (2, 0, 1), (3, 1, 1)]
    pair = pair_of(before, after, links)
    assert compatible_linkage(pair).successes == pytest.approx(3)
    result = probabilistic_linkage(pair)
    assert result.successes == pytest.approx(4)
    assert figures(result)["one-best"] == 1
    nothing = probabilistic_linkage(pair.trivial())
    assert nothing.rate == pytest.approx(nothing.baseline)


def test_without_splink_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splink", None)
    with pytest.raises(MissingDependency, match=r"discreet\[linkage\]"):
        probabilistic_linkage(pair_of(FOUR, RELEASED))


@pytest.mark.slow
@pytest.mark.data
def test_on_adult_the_attacks_find_what_the_classes_allow(data_dir: Path) -> None:
    from helpers.pairs import adult_pair

    pair = adult_pair(data_dir)
    exact = compatible_linkage(pair)
    # One right guess per class of the release, whatever its size, and nobody in fewer than k candidates.
    assert exact.successes == pytest.approx(len(pair.released))
    assert figures(exact)["singled-out"] == 0
    assert exact.exposed[0].score == pytest.approx(1 / 5)
    uniques = compatible_linkage(pair.unchanged())
    assert figures(uniques)["singled-out"] == (pair.original.records == 1).sum() / pair.original.total
    near, nearest = nearest_linkage(pair, at_most=5_000), nearest_linkage(pair, at_most=50_000)
    assert near.low <= nearest.rate <= near.high
    # Nearest need not be what fits: the middle of a wide interval of another class may lie closer.
    assert nearest.rate == pytest.approx(exact.rate, rel=0.05)
    assert worst_case(pair, known=pair.names).successes == pytest.approx(len(pair.released))
    pytest.importorskip("splink")
    likely = probabilistic_linkage(pair)
    assert likely.low <= exact.rate <= likely.high


def test_of_many_released_values_a_sample_says_how_often_they_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    ages, towns = rng.permutation(400).tolist(), rng.choice(["a", "b", "c"], 400).tolist()
    people = EquivalenceClasses.from_columns({"age": ages, "town": towns})
    pair = Pair.of(people, people).unchanged()
    exact = probabilistic_linkage(pair)
    monkeypatch.setattr(probabilistic, "VALUES", 50)
    assert exact.successes == probabilistic_linkage(pair).successes == 400.0
