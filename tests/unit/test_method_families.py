"""The table of families: every method is in one, and all that it names exists."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attacks.catalogue import ATTACKS
from discreet.cli import COMMANDS
from discreet.perturb.base import Perturbation
from discreet.perturb.registry import STEPS
from discreet.perturb.swapping import RankSwap
from discreet.policy.plan import METHODS
from discreet.release.families import RATINGS, MethodFamily, Rating, family_of, method_families
from discreet.reports.release.html import render_release
from discreet.utility.measures import MEASURES

RELEASING = ("bucketize", "fragment", "synthesize", "safepub", "ask")
"""Commands that give out something by a method of their own."""


def test_every_method_step_and_command_is_in_one_family() -> None:
    listed = Counter(name for family in method_families() for name in family.methods)
    # Microaggregation is a method of the search and a step: one family.
    assert set(listed) == {*METHODS, *STEPS, *RELEASING}
    assert set(listed.values()) == {1}
    assert set(RELEASING) <= set(COMMANDS)


@pytest.mark.parametrize("family", method_families(), ids=lambda family: family.id)
def test_what_a_family_names_exists(family: MethodFamily) -> None:
    assert {*family.prevents, *family.leaves} <= set(ATTACKS)
    assert not set(family.prevents) & set(family.leaves)
    assert set(family.measures) <= set(MEASURES)
    assert {getattr(family, name) for name in RATINGS} <= set(get_args(Rating))
    assert family.source
    for name in family.methods:
        # Whatever has no formal guarantee says so, and prevents nothing by one.
        if family.guarantee == "no formal guarantee":
            assert family.prevents == (), name


def test_a_step_that_guarantees_nothing_is_in_a_family_that_prevents_nothing() -> None:
    silent = {name for name, kind in STEPS.items() if kind.guarantee is Perturbation.guarantee} - set(METHODS)
    assert {"condensation", "svd", "rank-swap"} <= silent
    assert {name: family_of(name).prevents for name in silent if family_of(name).prevents} == {}


def test_the_attack_by_the_method_is_named_where_it_reckons_with_one() -> None:
    reckoned = {name for name, kind in STEPS.items() if kind.log_chances is not Perturbation.log_chances}
    named = {
        family.id: family.methods for family in method_families() if "mechanism-linkage" in family.leaves
    }
    assert {each for each, methods in named.items() if not reckoned & set(methods)} == set()


def test_the_command_lists_them(run: Callable[..., Any]) -> None:
    told = json.loads(run("methods", "--json").out)
    assert [family["id"] for family in told["families"]] == [family.id for family in method_families()]
    shown = run("methods")
    assert shown.code == 0
    assert "Artificial people" in shown.out
    assert family_of("pram").id == "randomised-response"


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_report_of_a_release_names_its_families(language: str) -> None:
    rng = np.random.default_rng(1)
    rows = pa.table({"age": rng.integers(20, 60, 100), "pay": rng.integers(0, 9, 100)})
    policy = discreet.Policy.of(
        quasi_identifiers=["age"],
        sensitive=["pay"],
        require=[discreet.KAnonymity(3)],
        profile="research-partner-3",
    ).perturbed_by(RankSwap(("pay",)))
    release = discreet.anonymize(rows, policy, plan=discreet.Plan(method="mondrian"))
    for edition in ("internal", "public"):
        page = render_release(release, edition=edition, language=language)  # type: ignore[arg-type]
        words = {
            "en": (
                "Swapping, permutation, shuffling",
                "Generalisation and suppression",
                "Values were perturbed first",
            ),
            "de": (
                "Vertauschen, Permutation, Mischen",
                "Generalisierung und Unterdrückung",
                "Werte wurden zuerst",
            ),
        }
        assert all(each in page for each in words[language])
