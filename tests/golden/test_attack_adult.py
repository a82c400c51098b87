"""The attacks on what classes say, on a real release: 5-anonymous Adult, and no slower than they must be."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.attacks.disclosure.areas import areas_of_interest
from discreet.attacks.disclosure.background import background_knowledge
from discreet.attacks.disclosure.homogeneity import homogeneity, skewness
from discreet.attacks.disclosure.proximity import similarity
from discreet.attacks.minimality.downcoding import downcoding
from discreet.attacks.minimality.minimality import minimality
from discreet.classes.pair import Pair
from discreet.privacy import KAnonymity, LDiversity
from discreet.table.hierarchies.hierarchy import Hierarchy
from helpers.pairs import adult_pair

pytestmark = pytest.mark.data

SEVEN = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


@pytest.fixture(scope="module")
def pair(data_dir: Path) -> Pair:
    return adult_pair(data_dir, names=SEVEN, sensitive=("occupation",), levels=(0, 3, 0, 0, 1, 0, 0))


def test_homogeneity_counts_what_the_classes_hold(pair: Pair) -> None:
    found = homogeneity(pair, "occupation", certainty=1.0)
    histogram = pair.released.histogram("occupation")
    alike = histogram.distinct == 1
    assert found.fallen == tuple(alike.nonzero()[0].tolist())
    assert found.successes == pair.released.records[alike].sum()
    assert found.tries == pair.shown
    assert found.better_than_baseline


def test_the_original_gives_way_far_more_than_the_release(pair: Pair) -> None:
    for attack in (homogeneity, background_knowledge, skewness):
        before, after = attack(pair.unchanged(), "occupation"), attack(pair, "occupation")
        assert before.rate > 2 * after.rate
        assert attack(pair.trivial(), "occupation").tries == 0


def test_an_attack_with_the_links_finds_what_one_without_does(pair: Pair) -> None:
    """Sensitive values were not changed: what is printed is true."""
    for attack in (homogeneity, background_knowledge, skewness):
        assert attack(pair, "occupation").successes == pytest.approx(
            attack(pair.released, "occupation").successes
        )


def test_all_attacks_together(pair: Pair, data_dir: Path) -> None:
    kinds = Hierarchy.read(data_dir / "arx" / "hierarchies" / "adult_hierarchy_occupation.csv", "occupation")
    models = [KAnonymity(5), LDiversity(2, "occupation")]
    results = [
        homogeneity(pair, "occupation"),
        background_knowledge(pair, "occupation", excluded=2),
        skewness(pair, "occupation"),
        similarity(pair, "occupation", kinds),
        areas_of_interest(pair, "occupation"),
        minimality(pair, models, "occupation", recoding="local"),
        downcoding(pair, models[:1], recoding="local"),
    ]
    assert all(0 <= found.low <= found.rate <= found.high <= 1 for found in results)
    assert all(found.tries > 0 for found in results)
