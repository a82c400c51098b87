"""``check``: does every requirement of a policy and its profile hold?"""

from __future__ import annotations

from discreet.policy import Policy
from discreet.release.audit import audit
from discreet.release.verdict import Verdict
from discreet.types import Progress


def check(source: object, policy: Policy, *, progress: Progress | None = None) -> Verdict:
    """The verdict on a table, without the pictures: ``verdict.passes`` says whether everything holds.

    >>> import pyarrow as pa
    >>> from discreet.privacy import KAnonymity
    >>> policy = Policy.of(quasi_identifiers=["age"], require=[KAnonymity(2)], profile="research-partner-3")
    >>> verdict = check(pa.table({"age": [31, 31, 47]}), policy)
    >>> verdict.passes, [criterion.id for criterion in verdict.obstacles]
    (False, ['k-anonymity', 'k-anonymity'])
    """
    return audit(source, policy, detail="core", progress=progress).verdict
