"""What is kept about the people of a release: by a keyed hash of each, which sensitive values it leaves possible.

That is the least that later releases can be judged with. No row, no quasi-identifier and no value is kept: values are keyed
hashes, too. Without the key nobody is found in it; with the key it tells what the release and a list of its people tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from discreet.attacks.composition.candidates import Candidates
from discreet.attacks.composition.intersection import KnownPeople
from discreet.classes.alignment import locate
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.register.sealing import hidden, sealed
from discreet.release.composition import SEVERAL_RECORDS
from discreet.release.links import Given as GivenLinks
from discreet.release.links import read_links
from discreet.release.pairing import make_pair, row_codes
from discreet.release.parts import hashed, refuse_short_key
from discreet.release.release import codebook_of, open_release
from discreet.table import Table
from discreet.types import BoolArray, IntArray

PERSON = "person"
SEALED = b"sealed values"
VALUES, SIGNATURE = "values of ", "signature of "
"""What columns of a file of people begin with."""


@dataclass(frozen=True)
class GroupedRows:
    """How a release tells its groups: the column that says which, and the links that say whose row is where."""

    column: str
    links: GivenLinks = field(repr=False)


@dataclass(frozen=True)
class PeopleOfRelease:
    """The people of a release by their keyed hashes, in the order of these, with the candidates of each attribute.

    Of a release in groups ``signatures`` hold the values of each person's own group, and ``seals`` these values, readable
    with the key only: later releases publish them again where nobody has them any more.
    """

    persons: tuple[str, ...] = field(repr=False)
    candidates: Mapping[str, Candidates] = field(repr=False)
    truth: Mapping[str, KnownPeople] = field(default_factory=dict, repr=False)
    """The true values, which are never written."""
    signatures: Mapping[str, Candidates] = field(default_factory=dict, repr=False)
    seals: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        release: object,
        original: Table,
        policy: Policy,
        *,
        person: str | None,
        key: str,
        groups: GroupedRows | None = None,
    ) -> PeopleOfRelease:
        """Who is in the original that a release was made from, and what the release leaves possible for each."""
        refuse_short_key(key)
        column = person or policy.person
        if column is None:
            raise InvalidParameter(
                "the register must know who is who, to know people again in the next release",
                remedy="name the column that identifies people (`person`)",
            )
        fitted = policy.fit(original)
        released, _ = open_release(release, policy)
        pair = make_pair(original, released, policy, codebook=codebook_of(release, None)).pair
        names = hashes_of(fitted, column, key)
        order = np.argsort(np.asarray(names, dtype=object), kind="stable")
        persons = tuple(names[at] for at in order.tolist())
        rows = locate(pair.original, row_codes(fitted, pair.original.attributes))[order]
        candidates, truth = {}, {}
        for name in pair.sensitive:
            open_values = Candidates.of(pair, name)
            domain = pair.original.sensitive_domain(name)
            (codes,) = row_codes(fitted, [domain])
            candidates[name] = Candidates(hidden(open_values.values, name, key), open_values.possible[rows])
            truth[name] = KnownPeople(
                hidden(domain.labels(), name, key), codes[order], np.ones(len(order), dtype=np.int64)
            )
        if groups is None:
            return cls(persons, candidates, truth)
        signatures, seals = {}, {}
        places = read_links(groups.links, released=released.rows, original=fitted.rows, counterfeits=True)
        _refuse_other_links(pair, released, fitted, places)
        for name in pair.sensitive:
            shown = _signatures(released, name, groups.column, places, fitted.rows)
            hashes = hidden(shown.values, name, key)
            signatures[name] = Candidates(hashes, shown.possible[order])
            seals.update(
                {code: sealed(value, code, key) for code, value in zip(hashes, shown.values, strict=True)}
            )
        return cls(persons, candidates, truth, signatures, seals)

    def save(self, path: Path) -> None:
        """Write the people as Parquet: a column of hashes, and one for each attribute with the hashes of its values."""
        columns = {PERSON: pa.array(self.persons, pa.string())}
        for what, told in ((VALUES, self.candidates), (SIGNATURE, self.signatures)):
            for name, candidates in told.items():
                kinds, of_person = np.unique(candidates.possible, axis=0, return_inverse=True)
                texts = [
                    " ".join(sorted(candidates.values[at] for at in np.flatnonzero(kind))) for kind in kinds
                ]
                columns[what + name] = pa.array(texts, pa.string()).take(pa.array(of_person.ravel()))
        table = pa.table(columns)
        if self.seals:
            table = table.replace_schema_metadata({SEALED: json.dumps(dict(self.seals))})
        pyarrow.parquet.write_table(table, path)

    @classmethod
    def load(cls, path: Path) -> PeopleOfRelease:
        """The people of a file whose checksum was found in order."""
        table = pyarrow.parquet.read_table(path)
        told: dict[str, dict[str, Candidates]] = {VALUES: {}, SIGNATURE: {}}
        for column in table.column_names[1:]:
            encoded = table.column(column).combine_chunks().dictionary_encode()
            kinds = [text.split() for text in encoded.dictionary.to_pylist()]
            values = tuple(sorted({value for kind in kinds for value in kind}))
            possible = np.array([[value in kind for value in values] for kind in kinds], dtype=bool)
            of_person = encoded.indices.to_numpy(zero_copy_only=False)
            what = SIGNATURE if column.startswith(SIGNATURE) else VALUES
            told[what][column.removeprefix(what)] = Candidates(
                values, possible.reshape(len(kinds), len(values))[of_person]
            )
        seals = json.loads((table.schema.metadata or {}).get(SEALED, b"{}"))
        return cls(
            tuple(table.column(PERSON).to_pylist()),
            told[VALUES],
            signatures=told[SIGNATURE],
            seals=seals,
        )

    def of_persons(self, persons: Sequence[str], sensitive: str) -> Candidates:
        """The candidates of some people, by their hashes; nothing is possible for who is not in this release."""
        return self._chosen(self.candidates[sensitive], persons)

    def signature_of_persons(self, persons: Sequence[str], sensitive: str) -> Candidates:
        """The values of some people's own groups; of a release without groups, what it leaves possible for them."""
        return self._chosen(self.signatures.get(sensitive, self.candidates[sensitive]), persons)

    def _chosen(self, of_all: Candidates, persons: Sequence[str]) -> Candidates:
        values, possible = of_all.values, of_all.possible
        wanted, known = (np.asarray(hashes, dtype=np.bytes_) for hashes in (persons, self.persons))
        at, there = _places(known, wanted)
        chosen = np.zeros((len(wanted), len(values)), dtype=bool)
        chosen[there] = possible[at[there]]
        return Candidates(values, chosen)


def _places(known: np.ndarray, wanted: np.ndarray) -> tuple[IntArray, BoolArray]:
    """Where each of the wanted stands among the known, which are sorted; and whether it does."""
    if not len(known):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    at = np.searchsorted(known, wanted).clip(max=len(known) - 1)
    return at, np.asarray(known[at] == wanted, dtype=bool)


def hashes_of(table: Table, column: str, key: str) -> list[str]:
    """The keyed hash of each person of a table, which has a record for each."""
    table.column(column)
    names: list[str] = hashed(
        table.engine.to_arrow(table, [column]).column(column), key, "a person"
    ).to_pylist()
    if len(set(names)) < len(names):
        raise InvalidParameter(SEVERAL_RECORDS, remedy="give a table with one record for each person")
    return names


def _refuse_other_links(pair: Pair, released: Table, original: Table, places: IntArray) -> None:
    """Raise if links, such as those of an earlier try, name somebody whose row a released one cannot be.

    With them everybody would be remembered with the values of another group.
    """
    there = places >= 0
    for meaning in (*pair.meanings, *pair.sensitive.values()):
        (after,) = row_codes(released, [meaning.released])
        (before,) = row_codes(original, [meaning.original])
        if not meaning.covers(after[there], before[places[there]]).all():
            raise InvalidParameter(
                "the links are not those of these tables: they name rows for which the released ones cannot stand",
                remedy="give the links that were made with this release, and its original as it was then",
            )


def _signatures(released: Table, sensitive: str, column: str, places: IntArray, people: int) -> Candidates:
    """For each row of the original the values of the group that it is in."""
    released.column(column)
    rows = released.engine.to_arrow(released, [column, sensitive])
    group = rows.column(column).combine_chunks().dictionary_encode().indices.to_numpy()
    domain = released.engine.domain(released, sensitive)
    (codes,) = row_codes(released, [domain])
    inside = np.zeros((int(group.max(initial=-1)) + 1, domain.size), dtype=bool)
    inside[group, codes] = True
    possible = np.zeros((people, domain.size), dtype=bool)
    possible[places[places >= 0]] = inside[group[places >= 0]]
    return Candidates(tuple(domain.labels()), possible)
