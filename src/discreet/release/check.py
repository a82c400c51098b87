"""``check``: does every requirement of a policy and its profile hold?"""

from __future__ import annotations

from dataclasses import replace

from discreet.policy.file import GivenPolicy, open_policy
from discreet.progress import Asked
from discreet.release.audit import audit
from discreet.release.prepare import open_table
from discreet.release.verdict import Verdict


def check(source: object, policy: GivenPolicy, *, progress: Asked = None) -> Verdict:
    """The verdict on a table, without the pictures: ``verdict.passes`` says whether everything holds.

    Of a release the columns may be gone that the policy's plan leaves out. Without person ids nobody can count persons:
    ``verdict.notes`` say that records were counted, which `anonymize` did not content itself with.

    >>> import discreet
    >>> import pyarrow as pa
    >>> from discreet.privacy import KAnonymity
    >>> policy = discreet.Policy.of(quasi_identifiers=["age"], require=[KAnonymity(2)], profile="research-partner-3")
    >>> verdict = check(pa.table({"age": [31, 31, 47]}), policy)
    >>> verdict.passes, [criterion.id for criterion in verdict.obstacles]
    (False, ['k-anonymity', 'k-anonymity'])
    """
    asked = open_policy(policy)
    table = open_table(source, asked)
    shown = asked.of_release(table.names)
    verdict = audit(table, shown, detail="core", progress=progress).verdict
    if asked.person is None or shown.person is not None:
        return verdict
    return replace(
        verdict,
        notes=(
            f"{asked.person} is not in the table, as the plan says: classes are counted in records, of which a person "
            "may have several",
        ),
    )
