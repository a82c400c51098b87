"""Among how many records a release hides people whose labels overlap."""

from __future__ import annotations

from discreet.attacks.linkage.matchings import Concealment, conceal, refuse_made_up
from discreet.errors import InvalidParameter
from discreet.policy.file import GivenPolicy, open_policy
from discreet.release.codebook import Given as GivenCodebook
from discreet.release.links import Given as GivenLinks
from discreet.release.pairing import make_pair
from discreet.release.prepare import open_table
from discreet.release.release import codebook_of, open_release


def concealment(
    release: object,
    policy: GivenPolicy,
    *,
    original: object,
    links: GivenLinks | None = None,
    codebook: GivenCodebook | None = None,
) -> Concealment:
    """(1,k)-, (k,1)- and (k,k)-anonymity, k-concealment and n-confusion of a release, made here or elsewhere.

    `conceal` says what they are. ``links`` and ``codebook`` are as for `attack`. ``InvalidParameter`` where values were made up,
    where people have several records, or where the release cannot be one of this ``original``.
    """
    opened = open_policy(policy)
    table, _ = open_release(release, opened)
    refuse_made_up({*opened.quasi_identifiers} & {*opened.perturbed})
    pair = make_pair(
        open_table(original, opened), table, opened, links=links, codebook=codebook_of(release, codebook)
    ).pair
    if pair.original.event_level:
        raise InvalidParameter(
            "people have several records: a record for each person is what matchings are about",
            remedy="give a table with one record for each person",
        )
    return conceal(pair)
