"""Several releases about the same people, laid over one another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from discreet.attacks.catalogue import WHY_NOT
from discreet.attacks.composition.correspondence import (
    CORRESPONDENCE,
    DIRECTIONS,
    Direction,
    Republication,
    correspond,
)
from discreet.attacks.composition.differencing import difference
from discreet.attacks.composition.intersection import INTERSECTION, intersect_pairs
from discreet.attacks.result import AttackResult
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy, open_policy
from discreet.privacy.base import need_number
from discreet.release.legal import Untested
from discreet.release.pairing import make_pair
from discreet.release.prepare import open_table
from discreet.release.release import codebook_of, open_release
from discreet.sentences import Sentence
from discreet.table import Table

DIFFERENCING = "differencing"
SEVERAL_RECORDS = "people have several records: releases are laid over one another where each has one"


@dataclass(frozen=True)
class BcfAnonymity:
    """How few records a forward, a cross and a backward attack leave for anybody; infinitely many where there is nobody to look for."""

    left: Mapping[Direction, float]

    @property
    def k(self) -> float:
        """The fewest of the three."""
        return min(self.left.values())

    @property
    def says(self) -> Sentence:
        forward, cross, backward = (
            "-" if math.isinf(self.left[each]) else f"{self.left[each]:.0f}" for each in DIRECTIONS
        )
        return Sentence(
            "BCF-anonymity: records left for a person by the forward attack {forward}, by the cross attack {cross}, "
            "by the backward attack {backward}",
            forward=forward,
            cross=cross,
            backward=backward,
        )

    def holds(self, k: int) -> bool:
        """Whether at least ``k`` records are left for everybody by each of them."""
        need_number("k", k, low=1)
        return self.k >= k


def bcf_anonymity(
    release: object, policy: GivenPolicy, *, earlier: Sequence[object], original: object
) -> BcfAnonymity:
    """BCF-anonymity of a table that was published again with more people: the least that correspondence attacks leave of each release.

    The fewest over all ``earlier`` releases and sensitive attributes. Fung, Wang, Fu and Pei, EDBT 2008.
    ``InvalidParameter`` where correspondence cannot be told, as where people were removed.
    """
    opened = open_policy(policy)
    people = open_table(original, opened)
    table, _ = open_release(release, opened)
    newest = make_pair(people, table, opened, codebook=codebook_of(release, None)).pair
    if newest.original.event_level:
        raise InvalidParameter(SEVERAL_RECORDS, remedy="give a table with one record for each person")
    left: dict[Direction, float] = dict.fromkeys(DIRECTIONS, math.inf)
    for before in [earlier_pair(each, people, opened, newest.names) for each in earlier]:
        for sensitive in [name for name in newest.sensitive if name in before.sensitive]:
            republication = Republication.of(before, newest, sensitive)
            for direction in DIRECTIONS:
                anonymity = republication.exclusion(direction).anonymity
                left[direction] = min(left[direction], float(anonymity[anonymity > 0].min(initial=math.inf)))
    return BcfAnonymity(left)


def earlier_pair(release: object, original: Table, policy: Policy, names: Sequence[str]) -> Pair:
    """An earlier release beside the table of targets, over what the intruder knows."""
    table, _ = open_release(release, policy)
    return make_pair(original, table, policy, names=names, codebook=codebook_of(release, None)).pair


def told_by_bucket(sensitive: str) -> tuple[Untested, ...]:
    """Nothing is laid over a release that tells an attribute by bucket: there are no records to be compared."""
    why = Sentence("{sensitive}: {why}", sensitive=sensitive, why=Sentence(WHY_NOT["records"]))
    return tuple(
        Untested(attack, "inference", why) for attack in (INTERSECTION, CORRESPONDENCE, DIFFERENCING)
    )


def laid_over(newest: Pair, earlier: Sequence[Pair], sensitive: str) -> AttackResult | Untested:
    """The intersection attack on one sensitive attribute, or why it was not run."""
    if newest.original.event_level:
        return Untested(INTERSECTION, "inference", SEVERAL_RECORDS)
    pairs = [pair for pair in (*earlier, newest) if sensitive in pair.sensitive]
    if sensitive not in newest.sensitive or len(pairs) < 2:
        return Untested(
            INTERSECTION,
            "inference",
            Sentence("{sensitive}: {why}", sensitive=sensitive, why=Sentence(WHY_NOT["released"])),
        )
    result = intersect_pairs(pairs, sensitive)
    if not result.tries:
        return Untested(
            INTERSECTION,
            "inference",
            Sentence("{sensitive}: {why:; }", sensitive=sensitive, why=tuple(map(Sentence, result.notes))),
        )
    return result


def compared(newest: Pair, earlier: Sequence[Pair], sensitive: str) -> Iterator[AttackResult | Untested]:
    """The correspondence and differencing attacks on one sensitive attribute, or why they were not run.

    Of several earlier releases, that which helps most.
    """
    for family, run in ((CORRESPONDENCE, correspond), (DIFFERENCING, difference)):
        if newest.original.event_level:
            yield Untested(family, "inference", SEVERAL_RECORDS)
        else:
            yield from _furthest(family, run, newest, earlier, sensitive)


def _furthest(
    family: str,
    run: Callable[[Pair, Pair, str], tuple[AttackResult, ...]],
    newest: Pair,
    earlier: Sequence[Pair],
    sensitive: str,
) -> Iterator[AttackResult | Untested]:
    def untested(attack: str, *why: str) -> Untested:
        return Untested(
            attack,
            "inference",
            Sentence("{sensitive}: {why:; }", sensitive=sensitive, why=tuple(map(Sentence, why))),
        )

    pairs = [pair for pair in earlier if sensitive in pair.sensitive]
    if sensitive not in newest.sensitive or not pairs:
        yield untested(family, WHY_NOT["released"])
        return
    tried: list[tuple[AttackResult, ...]] = []
    refused: list[str] = []
    for pair in pairs:
        try:
            tried.append(run(pair, newest, sensitive))
        except InvalidParameter as error:
            refused.append(error.message)
    if not tried:
        yield untested(family, *dict.fromkeys(refused))
    for results in zip(*tried, strict=True):
        furthest = max(results, key=lambda result: (result.tries > 0, result.advantage))
        yield furthest if furthest.tries else untested(furthest.attack, *furthest.notes)
