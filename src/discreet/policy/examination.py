"""What columns hold, whatever they are called: those that nobody judged, and texts that name people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.perturb.stand_ins import StandIns
from discreet.policy.policy import Policy
from discreet.risk.redundancy import Redundancy, refines, tells_hidden
from discreet.risk.unexamined import Culprit, culprits
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.identifiers import Finding
from discreet.table.roles import Role
from discreet.table.values import Exact, parse
from discreet.types import AnyIntArray, BoolArray

ROWS = 20_000
"""So many rows are looked at first; what singles people out among them is counted in the whole table."""
NAMING = ("name", "street", "email", "free-text")
"""Kinds of information that name people in texts: no label may be made of them."""
SURE = 0.8
"""So sure a recognition must be to speak against the role that a policy gives."""
PLANNED = Sentence("the plan leaves it out")
JUDGED: tuple[Role, ...] = (
    "quasi-identifier",
    "sensitive",
    "direct-identifier",
    "person-id",
    "guarding-node",
)


def unjudged(table: Table, policy: Policy) -> tuple[str, ...]:
    """The columns whose values no requirement speaks of, in the order of the table."""
    roles = {column.name: column.role for column in policy.columns}
    return tuple(name for name in table.names if roles.get(name) not in JUDGED)


def made_up(table: Table, policy: Policy) -> frozenset[str]:
    """The columns that show stand-ins for identifiers, as the last step of the policy that changes them says, and nothing else."""
    last = {name: step for step in policy.perturb for name in step.columns}
    return frozenset(
        name
        for name, step in last.items()
        if isinstance(step, StandIns)
        and name in table.names
        and step.fits(map(_text, table.engine.count(table, quasi_identifiers=[name]).attributes[0].values))
    )


def _text(value: pa.Scalar) -> str | None:
    return None if value.as_py() is None else str(value)


def unknown(table: Table, policy: Policy) -> tuple[str, ...]:
    """The columns that a policy does not know."""
    known = {column.name for column in policy.columns}
    return tuple(name for name in table.names if name not in known)


def texts_of(table: Table, names: Collection[str]) -> Table:
    """The same rows with those texts only that are among some columns: of these some may name people."""
    return table.without([c.name for c in table.columns if c.storage != "text" or c.name not in names])


def naming_people(
    table: Table, policy: Policy, findings: Callable[[], Mapping[str, Finding]]
) -> dict[str, str]:
    """Columns with names of people, addresses or free text for values, and what they look like, whatever their role.

    Direct identifiers and person ids are left aside, which are never released as they are, and columns of which the
    policy knows nothing and says that they are kept. Stand-ins name nobody.
    """
    treated = {*policy.direct_identifiers, policy.person, *made_up(table, policy)}
    if policy.unknown == "keep":
        treated |= set(unknown(table, policy))
    texts = {column.name for column in table.columns if column.storage == "text"} - treated
    if not texts:
        return {}
    return {
        name: finding.kind.title
        for name, finding in findings().items()
        if name in texts
        and finding.kind.id in NAMING
        and "content" in finding.by
        and finding.confidence >= SURE
    }


def singling_out(table: Table, policy: Policy) -> list[Culprit]:
    """The unjudged columns that single people out, alone or with what else an intruder may know.

    Sensitive attributes are what an intruder wants to learn, and so none of what is known; direct identifiers
    and person ids are judged by rules of their own. Nobody knows the stand-in of a name.
    """
    unexamined = [name for name in unjudged(table, policy) if name not in made_up(table, policy)]
    if not unexamined or not table.rows:
        return []
    known = [name for name in table.names if name in (*unexamined, *policy.quasi_identifiers)]
    return culprits(
        _sampled_codes(table, known),
        unexamined,
        confirm=partial(table.engine.unique_share, table) if table.rows > ROWS else None,
        rows=table.rows,
    )


def telling(original: Table, released: Table, policy: Policy, hidden: Collection[str]) -> dict[str, str]:
    """The unjudged columns of a release that tell a quasi-identifier of which it hides something, each with the reason.

    A column that is the same for all records with one released value of a quasi-identifier says no more than that value.
    Weights are made by strata of several columns: they may also follow from two together.
    """
    suspects = [name for name in unjudged(released, policy) if name in original.names]
    if not suspects or not hidden or not original.rows:
        return {}
    judged = [name for name in original.names if name in policy.quasi_identifiers]
    weights = [name for name in suspects if name == policy.weight]
    told = tells_hidden(_sampled_codes(original, [*suspects, *judged]), suspects, hidden, jointly=weights)
    shown = [name for name in policy.quasi_identifiers if name in released.names]
    return {
        each.column: _reason(each)
        for each in told
        if not any(_constant_within(released, label, each.column) for label in shown)
    }


def _constant_within(table: Table, label: str, column: str) -> bool:
    """Whether all records with one value of an attribute have one value of a column."""
    pairs = table.engine.count(table, quasi_identifiers=[label, column])
    return len(pairs) == pairs.attributes[0].size


def refining(table: Table, policy: Policy) -> dict[str, str]:
    """The unjudged columns of a release that tell apart what its labels put together, each with the reason.

    Who has only the release sees it where other records show more of the same quasi-identifier. A weight that the plan
    leaves out told one in the original.
    """
    suspects = unjudged(table, policy)
    planned: dict[str, str] = {name: PLANNED for name in suspects if name in policy.plan.drop_attributes}
    texts = [c.name for c in table.columns if c.storage == "text" and c.name in policy.quasi_identifiers]
    if not suspects or not texts or not table.rows:
        return planned
    rows = _sampled(table)
    coarse = {name: is_coarse for name in texts if (is_coarse := _coarse(rows[name])).any()}
    columns = {name: _codes(rows[name]) for name in (*coarse, *suspects)}
    told = refines(columns, suspects, coarse)
    return {each.column: _reason(each) for each in told} | planned


def _reason(told: Redundancy) -> Sentence:
    """Why a column that tells a quasi-identifier must not be released."""
    source: str = told.source
    if told.explained < 1:
        source = Sentence("{source} ({share:.1%})", source=source, share=told.explained)
    if told.follows:
        return Sentence("it follows from {source}, of which less is shown", source=source)
    return Sentence("it tells {source}, of which less is shown", source=source)


def _sampled_codes(table: Table, names: Sequence[str]) -> dict[str, AnyIntArray]:
    """Codes per record of the columns, of a sample of rows."""
    rows = _sampled(table)
    return {name: _codes(rows[name]) for name in names}


def _sampled(table: Table) -> pa.Table:
    """So many rows as are looked at first."""
    return table.engine.to_arrow(table.engine.sample(table, ROWS) if table.rows > ROWS else table)


def _coarse(column: pa.ChunkedArray) -> BoolArray:
    """By code, which values of a column are intervals, sets or masks, which stand for several values."""
    values = _encoded(column).dictionary.to_pylist()
    return np.array(
        [value is not None and not isinstance(parse(value), Exact) for value in values], dtype=bool
    )


def unfit(
    table: Table, policy: Policy, recognise: Callable[[Table], Mapping[str, Finding]]
) -> dict[str, str]:
    """Columns that nobody judged and that must not be released, each with the reason."""
    texts = texts_of(table, unjudged(table, policy))
    names = naming_people(texts, policy, partial(recognise, texts))
    naming: dict[str, str] = {
        name: Sentence("it looks like: {kind}", kind=Sentence(title)) for name, title in names.items()
    }
    left = table.without(naming)
    told = refining(left, policy)
    singling = singling_out(left.without(told), policy)
    return naming | told | {culprit.column: culprit.describe() for culprit in singling}


def _codes(column: pa.ChunkedArray) -> AnyIntArray:
    """A number per row, the same for the same value; a null is a value of its own."""
    return _encoded(column).indices.to_numpy()  # type: ignore[no-any-return]


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as codes and their values, nulls among them."""
    values = column.combine_chunks()
    if pa.types.is_nested(values.type):
        # Lists and records inside a cell have no dictionary: they are told apart by how they are written.
        values = pa.array(
            [None if value is None else str(value) for value in values.to_pylist()], pa.string()
        )
    return pc.dictionary_encode(values, null_encoding="encode")
