"""k-member clustering: groups of at least k persons whose common cells lose as little as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from discreet.classes import EquivalenceClasses, Unit
from discreet.privacy import PrivacyModel
from discreet.privacy.base import need_unit, need_whole, refuse_empty
from discreet.search.clusters.groups import blocks, columns_of_spans, in_blocks, merge_failing
from discreet.search.clusters.k_member_kernels import k_member as greedy
from discreet.search.clusters.k_member_kernels import refine
from discreet.search.clusters.kernels import empty_clusters
from discreet.search.clusters.objective_kernels import refine_by
from discreet.search.clusters.prices import GroupPrices
from discreet.search.clusters.space import CellSpans, ladders_of, persons_of, spans_of
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import Recoding, Style
from discreet.types import IntArray, Progress

BLOCK = 10_000
"""Up to so many classes are clustered against each other; more are divided first."""
PASSES = 8
"""At most so many passes of refinement."""
WORTHWHILE = 1e-3
"""A pass that lowers the cost by a smaller share is the last."""


def k_member(
    classes: EquivalenceClasses,
    k: int,
    *,
    ladders: Sequence[Ladder | None] | None = None,
    models: Sequence[PrivacyModel] = (),
    unit: Unit | None = None,
    style: Style = "values",
    weights: Mapping[str, float] | None = None,
    priced: Callable[[CellSpans], GroupPrices] | None = None,
    block: int = BLOCK,
    passes: int = PASSES,
    threads: int = 2,
    progress: Progress | None = None,
) -> Recoding:
    """Local recoding by greedy k-member clustering and its refinement.

    The cost of a cluster of classes is its records times Σ_j w_j (share_j - 1/D_j), where share_j is the
    share of the domain of attribute j that the common cell stands for: leaves in the interval, values in
    the set, or leaves under the closest common ancestor (``style="hierarchy"``). Greedily, a cluster takes
    in the class that adds least cost per record until it has ``k`` persons (Byun, Kamra, Bertino and Li,
    "Efficient k-anonymization using clustering techniques", 2007); then classes are moved or exchanged and
    clusters dissolved as long as the cost falls. Classes that have ``k`` persons start as clusters of their
    own. Groups that fail one of ``models`` are merged with their nearest; what still fails is suppressed. With
    ``priced``, an objective for groups, classes are then moved and exchanged as long as that lowers what the table costs
    by it, and nearest is with whom it costs least.

    Quadratic in the classes up to ``block`` of them; more are first divided like a k-d tree, so that the
    effort grows in proportion to classes times ``block``. Deterministic.

    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 47, 49], "sex": ["f", "f", "m", "m"]})
    >>> [column.values.to_pylist() for column in k_member(classes, 2).columns]
    [['[31, 34]', '[47, 49]'], ['f', 'm']]
    """
    refuse_empty(classes)
    need_whole("k", k)
    need_whole("block", block, at_least=2 * k)
    need_whole("passes", passes, at_least=0)
    need_unit(unit)
    say = progress or (lambda _: None)
    fitting = ladders_of(classes, ladders)
    spans = spans_of(classes, fitting, hierarchy=style == "hierarchy", weights=weights)
    prices = None if priced is None else priced(spans)
    people = persons_of(classes, unit)
    records = classes.records.astype(np.int64)

    def cluster(members: IntArray) -> IntArray:
        inside, who, counts = spans.of(members), people.of(members), records[members]
        state = empty_clusters(len(members), len(members), inside, who)
        groups = greedy(inside, who, counts, k, state)
        changed = np.ones(groups, dtype=np.bool_)
        for _ in range(passes):
            cost = float(state.loss[:groups] @ state.records[:groups])
            if refine(inside, who, counts, k, groups, state, changed) <= WORTHWHILE * cost:
                break
        if prices is not None:
            asked = prices.of(members)
            changed[:] = True
            for _ in range(passes):
                before, after = refine_by(inside, asked, who, counts, k, groups, state, changed)
                if before - after <= WORTHWHILE * before:
                    break
        return state.owner

    say("dividing the classes into blocks")
    parts = blocks(columns_of_spans(spans), block)
    owner = in_blocks(parts, cluster, threads=threads, say=say, what="clustering")
    owner, kept = merge_failing(classes, owner, spans, models, k=k, unit=unit, say=say, prices=prices)
    return Recoding.of_groups(classes, owner, kept=kept, method="k-member", ladders=fitting, style=style)
