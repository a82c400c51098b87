"""Microaggregation: groups of at least k persons whose values are replaced by one that stands for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from discreet.classes import EquivalenceClasses, Unit
from discreet.privacy import PrivacyModel
from discreet.privacy.base import need_choice, need_number, need_unit, need_whole, refuse_empty
from discreet.search.clusters.centres import Centre, replaced
from discreet.search.clusters.close_groups import close_groups
from discreet.search.clusters.groups import blocks, clusters_of, columns_of_points, in_blocks, merge_failing
from discreet.search.clusters.kernels import shares as shares_of
from discreet.search.clusters.microaggregation_kernels import mdav, optimal_cuts
from discreet.search.clusters.space import (
    CellSpans,
    ClassPersons,
    Closeness,
    Points,
    Scale,
    ladders_of,
    numbers_of,
    persons_of,
    points_of,
    spans_of,
)
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import Recoding, ReleasedAttribute, Style
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray, Progress

Replace = Literal["mean", "median", "mode", "semantic", "interval", "set", "hierarchy"]
"""What stands for a group: one value of each attribute, or what spans its values."""

BLOCK = 8_000
"""Up to so many classes MDAV is exact; more are divided first."""


@dataclass(frozen=True)
class Microaggregation(Recoding):
    """A recoding by microaggregation, with its information loss.

    ``sse_sst`` is SSE / SST over the numeric attributes, each standardised: the share of their variance that
    replacing every value by its group's mean takes away (Domingo-Ferrer and Mateo-Sanz 2002); NaN without
    numeric attributes that vary. ``owner[c]`` is the group of class ``c``.
    """

    sse_sst: float = float("nan")
    owner: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)


def microaggregate(
    classes: EquivalenceClasses,
    k: int,
    *,
    ladders: Sequence[Ladder | None] | None = None,
    models: Sequence[PrivacyModel] = (),
    unit: Unit | None = None,
    replace: Replace = "mean",
    variable_size: bool = True,
    gamma: float = 0.2,
    ordinal: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    scale: Scale = "sd",
    closeness: Closeness = "level",
    block: int = BLOCK,
    threads: int = 2,
    progress: Progress | None = None,
) -> Microaggregation:
    """Local recoding by microaggregation: groups of ``k`` persons or more that are as alike as possible.

    Classes are points; d² = Σ_j w_j d_j², with d_j = |a - b| / s_j for numbers (s_j the standard deviation or
    the range, see ``scale``) and ranks (``ordinal`` attributes, in the order of their values; those that
    are declared so, unless they are named here), for
    categories the level of the closest common ancestor / height (or its share of leaves, see
    ``closeness``), 0 or 1 without a hierarchy. A null is at distance 1 from every value.

    Groups come from MDAV (Domingo-Ferrer and Mateo-Sanz 2002; Domingo-Ferrer and Torra 2005); with
    ``variable_size`` they take in up to 2k - 1 persons where somebody is much nearer to the group than to
    anybody else (V-MDAV, Solanas and Martínez-Ballesté 2006, with its ``gamma``). One numeric attribute alone,
    if persons have one record each and sizes are variable, is grouped optimally (Hansen and Mukherjee 2003).

    MDAV is quadratic. It is exact up to ``block`` classes; more are first divided like a k-d tree, so that
    the effort grows in proportion to classes times ``block``. Deterministic.

    ``replace``: the group's mean, median or mode for numbers (the mode for categories, the median for ordinal ones unless
    "mode" is asked for); "semantic": means, and of categories the value nearest to the group's others along the hierarchy; an
    interval or set of its values; or their closest common ancestor. Nulls take the value of their group. Groups that fail one of ``models`` are merged with their
    nearest; what still fails is suppressed.

    >>> classes = EquivalenceClasses.from_columns({"income": [10, 12, 14, 50, 52, 57]})
    >>> recoding = microaggregate(classes, 3)
    >>> recoding.columns[0].values.to_pylist(), round(recoding.sse_sst, 4)
    ([12, 53], 0.0133)
    """
    refuse_empty(classes)
    need_whole("k", k)
    need_whole("block", block, at_least=3 * k)
    need_number("gamma", gamma)
    need_unit(unit)
    need_choice("replace", replace, get_args(Replace))
    if ordinal is None:
        ordinal = [domain.name for domain in classes.attributes if domain.type == "ordinal"]
    for name in ordinal:
        classes.index(name)
    say = progress or (lambda _: None)
    fitting = ladders_of(classes, ladders)
    points = points_of(classes, fitting, ordinal=ordinal, weights=weights, scale=scale, closeness=closeness)
    people = persons_of(classes, unit)
    v_gamma = gamma if variable_size else None
    formed = [_alike(classes, points, people, k, gamma=v_gamma, block=block, threads=threads, say=say)]
    if people.additive and (close := close_groups(classes, points, models, k)) is not None:
        formed.append((close, "t-closeness first"))
    spans = spans_of(classes, fitting, hierarchy=replace == "hierarchy")
    owner, kept, method = _least(classes, formed, spans, models, k=k, unit=unit, say=say)
    say("replacing values")
    if replace in ("interval", "set", "hierarchy"):
        style: Style = "hierarchy" if replace == "hierarchy" else "values"
        columns = Recoding.of_groups(
            classes, owner, kept=kept, method=method, ladders=fitting, style=style
        ).columns
    else:
        centres = tuple(_centre(replace, name in ordinal) for name in classes.names)
        columns = _centred(classes, owner, len(kept), spans, fitting, centres)
    loss = sse_sst(classes, owner, ordinal=ordinal)
    told = f"{method} ({replace})" if replace in ("median", "mode", "semantic") else method
    return Microaggregation(classes, columns, kept[owner], told, sse_sst=loss, owner=owner)


def _alike(
    classes: EquivalenceClasses,
    points: Points,
    people: ClassPersons,
    k: int,
    *,
    gamma: float | None,
    block: int,
    threads: int,
    say: Progress,
) -> tuple[IntArray, str]:
    """Groups that are as alike as possible, and what formed them; without ``gamma`` they are of fixed size."""
    records = classes.records.astype(np.int64)
    single = points.numbers.shape[1] == 1 and not points.codes.shape[1]
    if single and gamma is not None and people.additive and not np.isnan(points.numbers).any():
        return univariate(points.numbers[:, 0], records, people.sizes, k), "univariate optimum"
    owner = _mdav(points, people, records, k, gamma=gamma or 0.0, block=block, threads=threads, say=say)
    return owner, "MDAV" if gamma is None else "V-MDAV"


def _least(
    classes: EquivalenceClasses,
    formed: Sequence[tuple[IntArray, str]],
    spans: CellSpans,
    models: Sequence[PrivacyModel],
    *,
    k: int,
    unit: Unit | None,
    say: Progress,
) -> tuple[IntArray, BoolArray, str]:
    """Of several ways to form groups the one that, when all requirements hold, loses least."""
    records = classes.records.astype(np.int64)
    best: tuple[float, IntArray, BoolArray, str] | None = None
    for first, method in formed:
        owner, kept = merge_failing(classes, first, spans, models, k=k, unit=unit, say=say)
        lost = np.empty((len(classes.attributes), len(kept)))
        shares_of(spans, clusters_of(classes, owner, len(kept), spans), len(kept), lost)
        loss = float(np.where(kept, lost.mean(axis=0), 1.0)[owner] @ records)
        if best is None or loss < best[0]:
            best = loss, owner, kept, method
    assert best is not None
    return best[1:]


def _centred(
    classes: EquivalenceClasses,
    owner: IntArray,
    groups: int,
    spans: CellSpans,
    ladders: Sequence[Ladder | None],
    centres: Sequence[Centre],
) -> tuple[ReleasedAttribute, ...]:
    """The columns in which one value of each attribute stands for a group."""
    records = classes.records.astype(np.int64)
    shares = np.empty((len(classes.attributes), groups))
    shares_of(spans, clusters_of(classes, owner, groups, spans), groups, shares)
    columns = zip(classes.attributes, classes.codes, shares, ladders, centres, strict=True)
    return tuple(
        replaced(domain, codes, records, owner, share, ladder, centre)
        for domain, codes, share, ladder, centre in columns
    )


def _centre(replace: Replace, ordinal: bool) -> Centre:
    """What stands for a group: ranks have no mean."""
    if replace == "mode":
        return "mode"
    if ordinal:
        return "middle"
    return replace if replace in ("median", "semantic") else "mean"


def _mdav(
    points: Points,
    people: ClassPersons,
    records: IntArray,
    k: int,
    *,
    gamma: float,
    block: int,
    threads: int,
    say: Progress,
) -> IntArray:
    """MDAV inside blocks of at most ``block`` classes."""

    def cluster(members: IntArray) -> IntArray:
        who = people.of(members)
        owner = np.empty(len(members), dtype=np.int64)
        stamp = np.empty(0 if who.additive else int(who.persons.max()) + 1, dtype=np.int64)
        mdav(points.of(members), who, records[members], k, gamma, owner, stamp)
        return owner

    parts = blocks(columns_of_points(points), block)
    return in_blocks(parts, cluster, threads=threads, say=say, what="microaggregating")


def univariate(values: FloatArray, records: IntArray, sizes: IntArray, k: int) -> IntArray:
    """The groups of least SSE for one numeric attribute (Hansen and Mukherjee 2003).

    >>> ones = np.ones(6, dtype=np.int64)
    >>> univariate(np.array([1.0, 2.0, 9.0, 10.0, 11.0, 3.0]), ones, ones, 3)
    array([0, 0, 1, 1, 1, 0])
    """
    order = np.argsort(values, kind="stable")
    starts = np.empty(len(values), dtype=np.int64)
    # Sums of squares keep their precision around the mean.
    optimal_cuts(values[order] - np.average(values, weights=records), records[order], sizes[order], k, starts)
    owner = np.zeros(len(values), dtype=np.int64)
    if starts[-1] < 0:
        return owner
    cuts = []
    end = len(values)
    while end > 0:
        end = int(starts[end - 1])
        cuts.append(end)
    steps = np.zeros(len(values), dtype=np.int64)
    steps[[cut for cut in cuts if cut > 0]] = 1
    owner[order] = np.cumsum(steps)
    return owner


def sse_sst(classes: EquivalenceClasses, owner: AnyIntArray, *, ordinal: Sequence[str] = ()) -> float:
    """SSE / SST of grouping: within-group over total sum of squares of the standardised numeric attributes.

    >>> classes = EquivalenceClasses.from_columns({"x": [1, 3, 5, 7]})
    >>> sse_sst(classes, np.array([0, 0, 1, 1]))
    0.2
    """
    within, attributes = 0.0, 0
    for domain, codes in zip(classes.attributes, classes.codes, strict=True):
        numbers = numbers_of(domain, ordinal=domain.name in ordinal)
        if numbers is None:
            continue
        values = numbers[codes]
        known = ~np.isnan(values)
        seen, weight, group = values[known], classes.records[known], owner[known]
        if not len(seen) or seen.min() == seen.max():
            continue
        total = weight @ (seen - np.average(seen, weights=weight)) ** 2
        count = np.bincount(group, weights=weight)
        mean = np.bincount(group, weights=weight * seen) / np.maximum(count, 1)
        within += float(weight @ (seen - mean[group]) ** 2 / total)
        attributes += 1
    return within / attributes if attributes else float("nan")
