"""Distances to the release or to the original: which one a requirement names, it is searched, applied and checked by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.errors import GoalUnreachable, InvalidParameter
from discreet.policy import Policy
from discreet.policy.plan import Method, Plan
from discreet.privacy import BetaLikeness, DeltaDisclosure, KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.privacy.base import Reference, assess
from discreet.release.anonymize import anonymize
from discreet.release.apply import apply
from discreet.search.lattice.search import search
from discreet.search.problem import Problem, make_problem
from discreet.search.suppression import RecodedGroups, SuppressionRule
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.recoding import Recoding

PROFILE = """title = "Nothing but the policy"
description = "For tests: what is asked stands in the policy."
source = "none"
date = 2026-01-01
"""

# Three cities of four: a and b are half ill, c is all ill. Over all twelve two thirds are ill.
CITIES = ["a"] * 4 + ["b"] * 4 + ["c"] * 4
ILL = ["yes", "yes", "no", "no"] * 2 + ["yes"] * 4
KEPT = Hierarchy.of("city", [["a", "*"], ["b", "*"], ["c", "*"]])


def cities(*models: PrivacyModel, limit: float) -> Problem:
    classes = EquivalenceClasses.from_columns({"city": CITIES}, sensitive={"ill": ILL})
    return make_problem(classes, [KEPT.ladder(classes.attributes[0])], models, suppression_limit=limit)


def policy_of(folder: Path, *models: PrivacyModel, names: tuple[str, ...] = ("city",)) -> Policy:
    (folder / "own.toml").write_text(PROFILE, encoding="utf-8")
    (folder / "city.csv").write_text("a;*\nb;*\nc;*\n", encoding="utf-8")
    policy = Policy.of(
        quasi_identifiers=list(names),
        sensitive=["ill"],
        require=list(models),
        profile=str(folder / "own.toml"),
    )
    return policy.generalise({"city": folder / "city.csv"})


TABLE = pa.table({"city": CITIES, "ill": ILL})


def test_without_c_the_others_are_as_the_release() -> None:
    """With t = 0: compared with all, a and b are off by 1/6; once c is gone they are the release, and hold."""
    relative = search(cities(TCloseness(0.0, "ill"), limit=0.4)).best
    assert relative is not None
    assert (relative.node, relative.suppressed, relative.cost) == ((0,), 4, pytest.approx(1 / 3))
    from_all = search(cities(TCloseness(0.0, "ill", reference="original"), limit=0.4)).best
    assert from_all is not None
    assert (from_all.node, from_all.suppressed, from_all.cost) == ((1,), 0, 1.0)


@pytest.mark.parametrize("reference", ["release", "original"])
@pytest.mark.parametrize("method", ["optimal", "subtree", "local", "mondrian", "clustering"])
def test_a_release_meets_what_its_requirement_names(
    method: Method, reference: Reference, tmp_path: Path
) -> None:
    model = TCloseness(0.1, "ill", reference=reference)
    policy = policy_of(tmp_path, KAnonymity(2), model)
    release = anonymize(TABLE, policy, plan=Plan(method=method, suppression_limit=0.4))
    assert release.verdict.passes
    shown, whole = release.recoding.released(), release.recoding.classes
    assert assess([model], shown, original=whole)[0].holds
    release.save(tmp_path / "release.csv")
    if reference == "release":
        assert discreet.check(tmp_path / "release.csv", release.policy).passes
    again = apply(release.recipe, TABLE, replace(policy, plan=release.plan))
    assert again.recoding.kept.tolist() == release.recoding.kept.tolist()


def test_the_audit_of_a_release_measures_from_the_original_if_that_is_asked(tmp_path: Path) -> None:
    """Of city c one record is left out by k; the others are compared with all twelve and that one."""
    rows = pa.table({"city": [*CITIES, "d"], "ill": [*ILL, "no"]})
    model = TCloseness(0.4, "ill", reference="original")
    policy = policy_of(tmp_path, KAnonymity(2), model)
    (tmp_path / "city.csv").write_text("a;*\nb;*\nc;*\nd;*\n", encoding="utf-8")
    release = anonymize(rows, policy, plan=Plan(suppression_limit=0.1))
    assert release.suppressed == 1
    [measured] = [row for row in release.verdict.criteria if row.id == "t-closeness"]
    assert measured.value == pytest.approx(1 - 8 / 13)
    assert "original" in measured.description
    assert {"model": "t-closeness", **model.parameters()} in release.recipe.requirements


def test_a_set_that_no_single_group_leads_to_is_tried() -> None:
    """Beside each other three groups fail, so that leaving out what fails leaves none; one of them alone holds."""
    classes = EquivalenceClasses.from_columns(
        {"g": ["a"] * 5 + ["b"] * 3 + ["c"] * 2}, sensitive={"ill": ["x"] * 5 + ["y"] * 3 + ["z"] * 2}
    )
    recoding = Recoding.of_groups(classes, np.arange(3), kept=np.ones(3, dtype=bool), method="test")
    groups = RecodedGroups(recoding)
    tight = SuppressionRule((TCloseness(0.1, "ill"),))
    assert not tight.remaining(groups, groups.candidates).any()
    assert tight.chosen(groups, groups.candidates, 10).tolist() == [True, False, False]
    loose = SuppressionRule((TCloseness(0.8, "ill"),))
    assert loose.chosen(groups, groups.candidates, 10).tolist() == [True] * 3


def test_groups_that_hold_beside_each_other_all_stay() -> None:
    """Of four groups, c and d tell everything: they go where that is too much, and stay where it is not."""
    classes = EquivalenceClasses.from_columns(
        {"g": ["a"] * 4 + ["b"] * 4 + ["c"] * 2 + ["d"] * 2},
        sensitive={"ill": ["x", "y"] * 4 + ["x", "x", "y", "y"]},
    )
    recoding = Recoding.of_groups(classes, np.arange(4), kept=np.ones(4, dtype=bool), method="test")
    groups = RecodedGroups(recoding)
    rule = SuppressionRule((TCloseness(0.5, "ill"),))
    assert rule.chosen(groups, groups.candidates, 12).tolist() == [True] * 4
    tight = SuppressionRule((TCloseness(0.1, "ill"),))
    assert tight.chosen(groups, groups.candidates, 12).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    "model", [TCloseness(0.0, "ill"), BetaLikeness(0.01, "ill"), DeltaDisclosure(0.01, "ill")]
)
def test_each_of_them_is_compared_with_the_release(model: PrivacyModel) -> None:
    best = search(cities(model, limit=0.4)).best
    assert best is not None
    assert (best.node, best.suppressed) == ((0,), 4)


@pytest.mark.parametrize("kind", [TCloseness, BetaLikeness, DeltaDisclosure])
def test_another_reference_is_refused(kind: type[PrivacyModel]) -> None:
    with pytest.raises(InvalidParameter, match="reference must be one of release, original"):
        kind(0.3, "ill", reference="population")  # type: ignore[call-arg]


# ── a release shows something ─────────────────────────────────────────────────────────────────────────


def test_cheap_suppression_does_not_suppress_everything(tmp_path: Path) -> None:
    """Suppressing costs nothing, and all of it is allowed: the best release still shows somebody."""
    rows = pa.table({"city": ["a", "a", "b"], "ill": ["yes", "no", "no"]})
    policy = policy_of(tmp_path, KAnonymity(3))
    (tmp_path / "city.csv").write_text("a;*\nb;*\n", encoding="utf-8")
    plan = Plan(suppression_limit=1.0, suppression_weight=0.0)
    release = anonymize(rows, policy, plan=plan)
    assert release.suppressed == 0
    assert release.recoding.columns[0].printed() == ["*"]


def test_where_only_nothing_would_do_that_is_said(tmp_path: Path) -> None:
    # Nobody has a third value of being ill.
    policy = policy_of(tmp_path, LDiversity(3, sensitive="ill"))
    with pytest.raises(GoalUnreachable) as raised:
        anonymize(TABLE, policy, plan=Plan(suppression_limit=1.0))
    assert "only a release without records" in str(raised.value.nearest)


# ── suppressed records that are shown ─────────────────────────────────────────────────────────────────


def test_a_star_of_one_person_is_left_out(tmp_path: Path) -> None:
    """The only one of d would be the class of ``*``, alone with what is sensitive."""
    rows = pa.table({"city": [*CITIES, "d"], "ill": [*ILL, "no"]})
    policy = policy_of(tmp_path, KAnonymity(2))
    (tmp_path / "city.csv").write_text("a;*\nb;*\nc;*\nd;*\n", encoding="utf-8")
    plan = Plan(suppression_limit=0.1, suppressed="star")
    release = anonymize(rows, policy, plan=plan)
    assert (release.suppressed, release.after.rows) == (1, 12)
    assert any("left out" in note for note in release.notes)
    assert release.verdict.passes
    again = apply(release.recipe, rows, replace(policy, plan=plan))
    assert again.after.rows == 12


def test_a_star_that_holds_is_shown(tmp_path: Path) -> None:
    rows = pa.table({"city": [*CITIES, "d", "e"], "ill": [*ILL, "no", "yes"]})
    policy = policy_of(tmp_path, KAnonymity(2))
    (tmp_path / "city.csv").write_text("a;*\nb;*\nc;*\nd;*\ne;*\n", encoding="utf-8")
    release = anonymize(rows, policy, plan=Plan(method="optimal", suppression_limit=0.2, suppressed="star"))
    assert (release.suppressed, release.after.rows) == (2, 14)
    assert release.verdict.passes
