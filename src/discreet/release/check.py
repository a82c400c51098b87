"""``check``: does every requirement of a policy and its profile hold?"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

from discreet.dp.ledger import Ledger
from discreet.errors import DiscreetError
from discreet.policy.file import GivenPolicy, open_policy
from discreet.progress import Asked
from discreet.release.audit import audit
from discreet.release.codebook import codebook_beside
from discreet.release.guarantees import find_claim
from discreet.release.prepare import open_table
from discreet.release.profile import load_profile
from discreet.release.verdict import Verdict
from discreet.sentences import Sentence


def check(
    source: object,
    policy: GivenPolicy,
    *,
    statement: str | PathLike[str] | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
    original: object = None,
    progress: Asked = None,
) -> Verdict:
    """The verdict on a table, without the pictures: ``verdict.passes`` says whether everything holds.

    Of a release the columns may be gone that the policy's plan leaves out. Without person ids nobody can count persons:
    ``verdict.notes`` say that records were counted, which `anonymize` did not content itself with.

    What people guard no release tells: of its ``original`` those count whom a label may stand for.

    Where differential privacy is required, ``statement`` is what was written beside the release, and ``ledger`` what paid for
    it; if they are not named, they are looked for beside the file and beside the statement. Where it is not required, a statement beside
    the file that cannot be read is a note.

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
    notes: list[str] = []
    claim = None
    try:
        claim = find_claim(source if isinstance(source, str | PathLike) else None, statement, ledger)
    except DiscreetError as error:
        # What lies beside a file by chance decides nothing where nobody asks for it.
        named = statement is not None or ledger is not None
        if named or shown.guarantees or load_profile(shown.profile).guarantees:
            raise
        notes.append(
            Sentence("what lies beside the file about its guarantee cannot be used: {why}", why=str(error))
        )
    codebook = codebook_beside(source)
    verdict = audit(
        table,
        shown,
        detail="core",
        claim=claim,
        codebook=codebook,
        original=original,
        progress=progress,
    ).verdict
    if asked.person is not None and shown.person is None:
        notes.append(
            Sentence(
                "{person} is not in the table, as the plan says: classes are counted in records, of which a person may "
                "have several",
                person=asked.person,
            )
        )
    return replace(verdict, notes=tuple(notes)) if notes else verdict
