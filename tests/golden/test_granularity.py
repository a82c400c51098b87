"""How much of Adult survives at k = 5 with nothing suppressed, against the best that was measured elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read
from discreet.privacy import KAnonymity
from discreet.search.local.search import local_recoding
from discreet.search.mondrian.search import Mode, mondrian
from discreet.search.problem import make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy, Ladder
from discreet.transform.recoding import Recoding

QUASI_IDENTIFIERS = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
]
Adult = tuple[EquivalenceClasses, list[Ladder]]


@pytest.fixture(scope="module")
def adult(data_dir: Path) -> Adult:
    table = read(data_dir / "arx" / "adult.csv.gz")
    classes = table.engine.count(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[])
    files = data_dir / "arx" / "hierarchies"
    return classes, [
        Hierarchy.read(files / f"adult_hierarchy_{domain.name}.csv", domain.name).ladder(domain)
        for domain in classes.attributes
    ]


def granularity(recoding: Recoding, ladders: list[Ladder]) -> float:
    """1 - (mean share - least) / (1 - least), with the least share 1/D of each attribute."""
    share = float((recoding.shares @ recoding.classes.records / recoding.classes.total).mean())
    least = float(np.mean([1 / ladder.leaves for ladder in ladders]))
    return 1 - (share - least) / (1 - least)


@pytest.mark.data
@pytest.mark.parametrize(("mode", "at_least"), [("strict", 0.974), ("relaxed", 0.979)])
def test_mondrian_with_sets_and_intervals(adult: Adult, mode: Mode, at_least: float) -> None:
    classes, ladders = adult
    found = mondrian(classes, [KAnonymity(5)], ladders=ladders, mode=mode)
    assert found.suppressed_records == 0
    assert KAnonymity(5).satisfied(found.regrouped())
    assert granularity(found, ladders) >= at_least  # 0.966 is what was asked for


@pytest.mark.data
def test_local_recoding_with_hierarchies(adult: Adult) -> None:
    classes, ladders = adult
    found = local_recoding(make_problem(classes, ladders, [KAnonymity(5)], suppression_limit=0.0))
    assert found.suppressed_records == 0
    assert KAnonymity(5).satisfied(found.regrouped())
    assert granularity(found, ladders) >= 0.9485  # ARX reaches 0.9388
