"""Original and release of public tables, for tests that compare both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from discreet.classes.pair import Pair
from discreet.engine.read import read
from discreet.release.pairing import pair_of_recoding
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.recoding import Recoding

ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
OPTIMUM = (0, 3, 0, 0, 2, 1, 0, 1)
"""The levels at which Adult is 5-anonymous with the least loss, if any number of records may be suppressed."""


def adult_pair(
    data_dir: Path,
    *,
    names: Sequence[str] = ADULT,
    sensitive: Sequence[str] = ("salary-class",),
    levels: Sequence[int] = OPTIMUM,
    k: int = 5,
) -> Pair:
    """Adult and a full-domain generalisation without the classes of fewer than k records; all links are known."""
    table = read(data_dir / "arx" / "adult.csv.gz")
    classes = table.engine.count(table, quasi_identifiers=list(names), sensitive=list(sensitive))
    hierarchies = {
        name: Hierarchy.read(data_dir / "arx" / "hierarchies" / f"adult_hierarchy_{name}.csv", name)
        for name in names
    }
    ladders = [hierarchies[domain.name].ladder(domain) for domain in classes.attributes]
    everything = np.ones(len(classes), dtype=bool)
    recoding = Recoding.of_node(classes, ladders, levels, everything, method="lattice")
    groups = recoding.groups()
    kept = np.bincount(groups, weights=classes.records)[groups] >= k
    pair = pair_of_recoding(replace(recoding, kept=kept))
    return Pair.of(pair.original, pair.released, hierarchies=hierarchies, links=pair.links)
