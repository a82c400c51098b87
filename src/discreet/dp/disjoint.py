"""Tables of which nobody is in two: declared in a ledger after their person ids were compared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from os import PathLike

import pyarrow as pa
import pyarrow.compute as pc

from discreet.dp.ledger import Balance, Ledger
from discreet.dp.terms import people_of, refuse_part
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS, Table


def declare_disjoint(
    sources: Sequence[str | PathLike[str] | Table],
    person: str,
    ledger: Ledger | str | PathLike[str],
) -> None:
    """Declare in a ledger that nobody is in two of some files, after checking it by their person ids.

    From then on only the table of which most was spent counts, as long as the files stay as they are and are asked about by these ids: another file, one
    that was changed, another sheet, and what protects households or single rows adds up. Ids must mean the same people everywhere. That the check fails is not protected: it tells that somebody is in two.

    *Why the largest counts.* Let M be what is released of disjoint tables D₁, …, Dₙ, each Mᵢ(Dᵢ) being (εᵢ, δᵢ)-private by person. Somebody
    who is added or removed is in one table only, say Dⱼ; all other Mᵢ have the same distribution in both worlds and are independent of
    Mⱼ. So M is (εⱼ, δⱼ)-private for them, and (max ε, max δ)-private for everybody.
    """
    tables = [source if isinstance(source, Table) else read(source) for source in sources]
    for table in tables:
        refuse_part(table)
    hashes = [people_of(table, table.column(person).name) for table in tables]
    if len(tables) < 2 or "" in hashes or len(set(hashes)) < len(hashes):
        raise InvalidParameter(
            "to be disjoint there must be at least two files, each another one", remedy="name the files"
        )
    ids = [_ids(table, person) for table in tables]
    if len({table.column(person).storage for table in tables}) > 1:
        raise InvalidParameter(
            Sentence("{name} holds numbers in one file and texts in another", name=person),
            remedy="write the ids alike, or let the tables share a budget",
        )
    for (first, left), (second, right) in itertools.combinations(zip(tables, ids, strict=True), 2):
        if pc.any(pc.is_in(left, value_set=right)).as_py():
            raise InvalidParameter(
                Sentence(
                    "somebody is both in {first} and in {second}",
                    first=first.source.name,
                    second=second.source.name,
                ),
                remedy="their amounts add up: let both spend from one ledger",
            )
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    book.declare_disjoint(hashes)


def _ids(table: Table, person: str) -> pa.Array:
    """Every person id once, as text; rows without one may be anybody's."""
    name = table.column(person).name
    ids = pc.unique(table.engine.to_arrow(table, [name])[name])
    if ids.null_count or (pa.types.is_string(ids.type) and set(MISSING_MARKS) & set(ids.to_pylist())):
        raise InvalidParameter(
            Sentence("rows of {table} have no {name}", table=table.source.name, name=name),
            remedy="without ids nobody can tell that people are others: let the tables share a budget",
        )
    return ids.cast(pa.string())


def combined(balances: Sequence[Balance], *, disjoint: bool) -> tuple[Fraction, Fraction]:
    """What several holders spent together: the sum, or the largest if they declare that nobody is with two of them.

    That cannot be checked by whoever sees the ledgers only.
    """
    epsilons = [balance.spent_epsilon for balance in balances]
    deltas = [balance.spent_delta for balance in balances]
    if disjoint:
        return max(epsilons), max(deltas)
    return sum(epsilons, Fraction(0)), sum(deltas, Fraction(0))
