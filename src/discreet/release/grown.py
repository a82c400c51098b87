"""A table that is published again with more people: a release beside which earlier ones leave everybody enough records (BCF-anonymity)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from discreet.errors import GoalUnreachable, InvalidParameter
from discreet.policy.file import GivenPolicy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.privacy.base import need_whole
from discreet.progress import Asked, telling
from discreet.release.anonymize import anonymize
from discreet.release.composition import BcfAnonymity, bcf_anonymity
from discreet.release.prepare import open_both, open_plan, with_roles
from discreet.release.release import Release
from discreet.sentences import Sentence


def anonymize_grown(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    earlier: Sequence[object],
    bcf: int,
    plan: Plan | None = None,
    key: str | None = None,
    progress: Asked = None,
) -> Release:
    """The release of a table to which people came since the ``earlier`` releases of it, so that with these a forward, a cross and a
    backward attack leave at least ``bcf`` records for everybody.

    The earlier releases stay as they are; everybody who is in one must be in this table still, and nobody is suppressed. What attacks leave
    grows with the classes: the least class size is searched for (doubled until it suffices, then by halves) at which the release of least
    loss keeps ``bcf``. Each release that is tried is measured as it is, so what is given back keeps it; that no other release loses less is not proven.
    Fung, Wang, Fu and Pei, "Anonymity for continuous data publishing", EDBT 2008, whose specialisation keeps it at every step instead.
    """
    need_whole("bcf", bcf)
    if not earlier:
        raise InvalidParameter("BCF-anonymity is that of several releases", remedy="name those before")
    say = telling(progress)
    table, given = open_both(source, policy)
    roles, assumed = with_roles(table, given, say)
    # Somebody who is left out of this release but was in an earlier one could be told by that.
    whole = replace(open_plan(plan, roles), suppression_limit=0.0)
    if whole.sample < 1:
        raise InvalidParameter(
            "rows are drawn, and everybody of an earlier release has to be in this one",
            remedy="leave the sample out",
        )
    tried: dict[int, tuple[Release, BcfAnonymity]] = {}

    def holds(size: int) -> bool:
        say(Sentence("classes of at least {size} people, beside the earlier releases", size=size))
        release = anonymize(table, roles.require(KAnonymity(size)), plan=whole, key=key, progress=progress)
        left = bcf_anonymity(release, roles, earlier=earlier, original=table)
        tried[size] = (release, left)
        return left.holds(bcf)

    size = least_of(holds, bcf, table.rows, lambda: max((left.k for _, left in tried.values()), default=0.0))
    release, left = tried[size]
    return replace(release, notes=(*assumed, *release.notes, left.says), alternatives=())


def least_of(holds: Callable[[int], bool], first: int, most: int, nearest: Callable[[], float]) -> int:
    """The least number from ``first`` on that holds, by doubling and halving, as if all above it did.

    >>> least_of(lambda size: size >= 7, 2, 100, lambda: 0.0)
    7
    """
    low, high = first - 1, first
    try:
        while not holds(high):
            if high >= most:
                raise GoalUnreachable("", nearest="", remedy="")
            low, high = high, min(2 * high, most)
    except GoalUnreachable as error:
        if high == first and not nearest():
            raise
        raise GoalUnreachable(
            "no release leaves everybody enough records beside the earlier ones",
            nearest=Sentence("a release that leaves {records:.0f} records", records=nearest()),
            remedy="ask for less, give coarser hierarchies, or wait until more people have come",
        ) from error
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
