"""Several releases about the same people, laid over one another."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.attacks.catalogue import WHY_NOT
from discreet.attacks.composition.intersection import INTERSECTION, intersect_pairs
from discreet.attacks.result import AttackResult
from discreet.classes.pair import Pair
from discreet.policy import Policy
from discreet.release.legal import Untested
from discreet.release.pairing import make_pair
from discreet.release.release import codebook_of, open_release
from discreet.table import Table

SEVERAL_RECORDS = "people have several records: releases are laid over one another where each has one"


def earlier_pair(release: object, original: Table, policy: Policy, names: Sequence[str]) -> Pair:
    """An earlier release beside the table of targets, over what the intruder knows."""
    table, _ = open_release(release, policy)
    return make_pair(original, table, policy, names=names, codebook=codebook_of(release, None)).pair


def laid_over(newest: Pair, earlier: Sequence[Pair], sensitive: str) -> AttackResult | Untested:
    """The intersection attack on one sensitive attribute, or why it was not run."""
    if newest.original.event_level:
        return Untested(INTERSECTION, "inference", SEVERAL_RECORDS)
    pairs = [pair for pair in (*earlier, newest) if sensitive in pair.sensitive]
    if sensitive not in newest.sensitive or len(pairs) < 2:
        return Untested(INTERSECTION, "inference", f"{sensitive}: {WHY_NOT['released']}")
    result = intersect_pairs(pairs, sensitive)
    if not result.tries:
        return Untested(INTERSECTION, "inference", f"{sensitive}: {'; '.join(result.notes)}")
    return result
