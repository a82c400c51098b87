"""Several releases about the same people, laid over one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from discreet.attacks.catalogue import WHY_NOT
from discreet.attacks.composition.correspondence import CORRESPONDENCE, correspond
from discreet.attacks.composition.differencing import difference
from discreet.attacks.composition.intersection import INTERSECTION, intersect_pairs
from discreet.attacks.result import AttackResult
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.release.legal import Untested
from discreet.release.pairing import make_pair
from discreet.release.release import codebook_of, open_release
from discreet.sentences import Sentence
from discreet.table import Table

DIFFERENCING = "differencing"
SEVERAL_RECORDS = "people have several records: releases are laid over one another where each has one"


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
