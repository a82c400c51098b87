"""Original and release as pairs: rows in the same order, which can be checked by hand, and public tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.alignment import locate
from discreet.classes.pair import Links, Pair
from discreet.engine.read import read
from discreet.measure import Measure
from discreet.policy.hierarchies import FittedHierarchy
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.recoding import Recoding

Columns = Mapping[str, Sequence[object]]
ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
OPTIMUM = (0, 3, 0, 0, 2, 1, 0, 1)
"""The levels at which Adult is 5-anonymous with the least loss, if any number of records may be suppressed."""


def linked(
    before: Columns,
    after: Columns,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    sensitive: Columns | None = None,
    released: Columns | None = None,
) -> Pair:
    """A pair whose rows stand in the same order, so that all links are known.

    ``sensitive`` are the sensitive attributes of both tables, ``released`` what the release has for them.
    """
    original = EquivalenceClasses.from_columns(before, sensitive=sensitive)
    other = EquivalenceClasses.from_columns(after, sensitive=released or sensitive)
    links = Links(
        _classes_of(original, before),
        _classes_of(other, after),
        np.ones(len(next(iter(before.values()))), int),
    )
    return Pair.of(original, other, hierarchies=hierarchies, links=links)


def _classes_of(classes: EquivalenceClasses, columns: Columns) -> np.ndarray:
    """The class of every row."""
    place = {tuple(classes.labels(at).values()): at for at in range(len(classes))}
    rows = zip(*(columns[name] for name in classes.names), strict=True)
    return np.array([place[tuple("∅" if value is None else str(value) for value in row)] for row in rows])


def value(
    measures: Measure | tuple[Measure, ...], name: str | None = None, attribute: str | None = None
) -> float:
    """The value of a measure, overall or of an attribute."""
    if isinstance(measures, Measure):
        return measures.value
    return next(m.value for m in measures if m.attribute == attribute and name in (None, m.name))


def pair_of_recoding(recoding: Recoding, fitted: Sequence[FittedHierarchy] = ()) -> Pair:
    """The pair of a release that was just made and leaves out what it suppresses: all links are known."""
    given = {hierarchy.ladder.name: hierarchy.hierarchy for hierarchy in fitted}
    classes = recoding.classes
    kept = np.flatnonzero(recoding.kept)
    domains, codes = [], []
    for column in recoding.columns:
        encoded = column.texts().dictionary_encode()
        places = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        domains.append(Domain(column.name, encoded.dictionary, has_null=encoded.indices.null_count > 0))
        codes.append(places[column.codes[kept]])
    released = classes.subset(kept).recoded(domains, codes)
    owner = np.full(len(classes), -1, dtype=np.int64)
    owner[kept] = locate(released, codes)
    links = Links(np.arange(len(classes), dtype=np.int64), owner, classes.records)
    own = [domain.name for domain in classes.sensitive]
    return Pair.of(classes, released, hierarchies=given, links=links, kept=own)


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
