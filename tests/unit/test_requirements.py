"""Limits on the prosecutor risk mean what they say, wherever they are asked: search, file, verdict, picture, page."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.errors import GoalUnreachable, InvalidPolicy
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity, TCloseness
from discreet.release.apply import apply
from discreet.release.frontier import frontier
from discreet.release.preview import preview
from discreet.release.profile import Limit, load_profile
from discreet.release.recommend import recommend
from discreet.release.requirements import goals, mean_limit, models_of, prosecutor_risk, within_mean
from discreet.reports.audit.pictures import class_sizes
from discreet.reports.figures import Figures
from discreet.web.requirements import of_profile

OWN = 'title = "Own"\ndescription = "d"\nsource = "s"\ndate = 2024-02-29\n'
EDGES = [
    ("0.09", 12),
    ("0.0909", 12),
    ("0.09090909", 12),
    ("0.0909090909", 12),
    ('"1/11"', 11),
    ("0.0909091", 11),
    ("0.09091", 11),
    ("0.1", 10),
    ('"1/10"', 10),
    ("0.05", 20),
    ("0.075", 14),
    ("0.3333", 4),
    ('"1/3"', 3),
    ("1", 1),
]


def own(folder: Path, at_most: str, *, statistic: str = "max") -> str:
    path = folder / "own.toml"
    path.write_text(f'{OWN}[[limit]]\nrisk = "prosecutor"\nstatistic = "{statistic}"\nat_most = {at_most}\n')
    return str(path)


@pytest.mark.parametrize(("at_most", "smallest"), EDGES)
def test_every_path_asks_for_the_same_class_size(at_most: str, smallest: int, tmp_path: Path) -> None:
    policy = Policy.of(quasi_identifiers=["age"], profile=own(tmp_path, at_most))
    profile = load_profile(policy.profile)
    enough = pa.table({"age": ["a"] * smallest + ["b"] * 100})
    audit = discreet.audit(enough, policy, detail="core")
    # the search
    assert goals(policy, profile, audit.classes) == (KAnonymity(smallest),)
    # the verdict
    [criterion] = audit.verdict.criteria
    assert criterion.holds
    assert criterion.failing_records == 0
    # the picture
    picture = class_sizes(audit, Figures(audit.rows, public=False))
    assert f"at least the required {smallest} records" in picture.takeaway
    # the page
    [listed] = of_profile(profile, policy, {})
    assert listed.words == KAnonymity(smallest).describe()
    if smallest > 1:
        few = pa.table({"age": ["a"] * (smallest - 1) + ["b"] * 100})
        [criterion] = discreet.check(few, policy).criteria
        assert not criterion.holds
        assert criterion.failing_records == smallest - 1


@pytest.mark.parametrize(("at_most", "released"), [('"1/11"', 111), ("0.0909091", 111), ("0.09090909", 100)])
def test_a_release_keeps_exactly_the_classes_that_the_limit_allows(
    at_most: str, released: int, tmp_path: Path
) -> None:
    policy = Policy.of(quasi_identifiers=["age"], profile=own(tmp_path, at_most))
    table = pa.table({"age": ["a"] * 11 + ["b"] * 100})
    plan = Plan(suppression_limit=0.2, keep_representation=False)
    release = discreet.anonymize(table, policy, plan=plan)
    assert release.table.rows == released
    assert release.verdict.passes
    assert release.save(tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("at_most", "said"),
    [
        ('"one in eleven"', 'a fraction such as "1/11"'),
        ('"1/0"', 'a fraction such as "1/11"'),
        ("nan", 'a fraction such as "1/11"'),
        ("true", 'a fraction such as "1/11"'),
        ("0", "must be above 0"),
    ],
)
def test_what_is_no_bound_is_refused(at_most: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidPolicy, match="the profile own") as told:
        load_profile(own(tmp_path, at_most))
    assert said in str(told.value)


def test_bounds_are_told_as_they_were_written() -> None:
    assert Limit(risk="prosecutor", at_most=0.09090909).describe().endswith("at most 0.09090909")
    assert Limit(risk="prosecutor", at_most="2/22").describe().endswith("at most 1/11")


# ── the mean ──────────────────────────────────────────────────────────────────────────────────────────

UNEVEN = pa.table({"age": ["a"] * 2 + ["b"] * 98})
"""Two classes in a hundred records: the mean risk is 0.02, the largest 0.5."""


def test_a_limit_on_the_mean_is_not_taken_for_one_on_the_largest(tmp_path: Path) -> None:
    policy = Policy.of(quasi_identifiers=["age"], profile=own(tmp_path, "0.02", statistic="mean"))
    release = discreet.anonymize(UNEVEN, policy)
    assert release.suppressed == 0
    assert release.models == (KAnonymity(1),)
    assert release.verdict.passes
    assert release.save(tmp_path / "out.csv").exists()
    recipe = release.recipe
    assert apply(recipe, UNEVEN, policy).suppressed == 0
    with pytest.raises(GoalUnreachable, match="mean prosecutor risk"):
        apply(recipe, UNEVEN.slice(1, 50), policy)
    [listed] = of_profile(load_profile(policy.profile), policy, {})
    assert listed.words == "the mean prosecutor risk is at most 0.02"


def test_a_mean_is_reached_by_no_larger_classes_than_it_takes(tmp_path: Path) -> None:
    """16 ages of 4 records have a mean of 1/4; pairs of them 1/8, which is asked for as 1/5."""
    ages = pa.table({"age": [age for age in range(16) for _ in range(4)]})
    policy = Policy.of(quasi_identifiers=["age"], profile=own(tmp_path, '"1/5"', statistic="mean"))
    plan = Plan(suppression_limit=0.0, method="optimal")
    release = discreet.anonymize(ages, policy, plan=plan)
    [criterion] = release.verdict.criteria
    assert criterion.holds
    assert prosecutor_risk(release.after.classes, "mean") <= Fraction(1, 5)
    finest = discreet.anonymize(ages, policy.require(KAnonymity(5)), plan=plan)
    assert release.chosen.cost == pytest.approx(finest.chosen.cost)
    assert release.save(tmp_path / "out.csv").exists()
    foreseen = preview(release.recoding.classes, policy, plan=plan)
    assert foreseen.loss == pytest.approx(release.chosen.cost)
    table = discreet.read(ages)
    own_point = frontier(table, policy, plan=plan, k=[2]).chosen
    assert own_point is not None
    assert own_point.mean_risk is not None
    assert own_point.mean_risk <= 0.2
    advice = recommend(table, policy, plan=plan)
    assert advice.recommendations
    assert min(one.loss for one in advice.recommendations) == pytest.approx(release.chosen.cost)
    assert all(one.levels for one in advice.recommendations)


def test_a_mean_that_cannot_be_reached_is_said(tmp_path: Path) -> None:
    policy = Policy.of(quasi_identifiers=["age"], profile=own(tmp_path, "0.001", statistic="mean"))
    with pytest.raises(GoalUnreachable):
        discreet.anonymize(UNEVEN, policy)


def test_the_least_size_is_searched_for() -> None:
    asked = []

    def attempt(k: int) -> int:
        asked.append(k)
        if k > 15:
            raise GoalUnreachable("no", nearest="", remedy="")
        return k

    assert within_mean(None, attempt, lambda k: Fraction(1)) == 1
    assert within_mean(Fraction(1, 20), attempt, lambda k: Fraction(1, 2 * k)) == 10
    assert asked.count(1) == 2
    assert len(asked) <= 8
    with pytest.raises(GoalUnreachable, match="mean prosecutor risk"):
        within_mean(Fraction(1, 20), attempt, lambda k: Fraction(1, k))


def test_the_mean_counts_persons_at_event_level() -> None:
    classes = EquivalenceClasses.from_columns({"zip": [1, 1, 1, 2]}, person=["a", "a", "b", "c"])
    assert prosecutor_risk(classes, "mean") == Fraction(5, 8)
    assert prosecutor_risk(classes, "max") == 1


def test_the_strictest_mean_counts(tmp_path: Path) -> None:
    path = Path(own(tmp_path, "0.2", statistic="mean"))
    path.write_text(
        path.read_text() + '[[limit]]\nrisk = "prosecutor"\nstatistic = "mean"\nat_most = "1/9"\n'
    )
    assert mean_limit(load_profile(str(path))) == Fraction(1, 9)
    assert mean_limit(load_profile("ema-0070")) is None


# ── each sensitive attribute ─────────────────────────────────────────────────────────────────────────


def test_numbers_have_the_ordered_distance_where_each_attribute_is_meant() -> None:
    entry = {"model": "t-closeness", "t": 0.5, "sensitive": "*"}
    assert models_of(entry, {"dx": False, "income": True}) == [
        TCloseness(0.5, "dx"),
        TCloseness(0.5, "income", distance="ordered"),
    ]
    named = {**entry, "sensitive": "income"}
    assert models_of(named, {"income": True}) == [TCloseness(0.5, "income")]
