"""What is kept about the people of a release: by a keyed hash of each, which sensitive values it leaves possible.

That is the least that later releases can be judged with. No row, no quasi-identifier and no value is kept: values are keyed
hashes, too. Without the key nobody is found in it; with the key it tells what the release and a list of its people tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from discreet.attacks.composition.candidates import Candidates
from discreet.attacks.composition.intersection import KnownPeople
from discreet.classes.alignment import locate
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.release.composition import SEVERAL_RECORDS
from discreet.release.pairing import make_pair, row_codes
from discreet.release.parts import hashed, keyed, refuse_short_key
from discreet.release.release import codebook_of, open_release
from discreet.table import Table
from discreet.types import BoolArray, IntArray

PERSON = "person"


@dataclass(frozen=True)
class PeopleOfRelease:
    """The people of a release by their keyed hashes, in the order of these, with the candidates of each attribute."""

    persons: tuple[str, ...] = field(repr=False)
    candidates: Mapping[str, Candidates] = field(repr=False)
    truth: Mapping[str, KnownPeople] = field(default_factory=dict, repr=False)
    """The true values, which are never written."""

    @classmethod
    def of(
        cls, release: object, original: Table, policy: Policy, *, person: str | None, key: str
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
        fitted.column(column)
        released, _ = open_release(release, policy)
        pair = make_pair(original, released, policy, codebook=codebook_of(release, None)).pair
        names = hashed(fitted.engine.to_arrow(fitted, [column]).column(column), key, "a person")
        order = np.argsort(np.asarray(names.to_pylist(), dtype=object), kind="stable")
        persons = tuple(names.take(pa.array(order)).to_pylist())
        if len(set(persons)) < len(persons):
            raise InvalidParameter(SEVERAL_RECORDS, remedy="give a table with one record for each person")
        rows = locate(pair.original, row_codes(fitted, pair.original.attributes))[order]
        candidates, truth = {}, {}
        for name in pair.sensitive:
            open_values = Candidates.of(pair, name)
            domain = pair.original.sensitive_domain(name)
            (codes,) = row_codes(fitted, [domain])
            candidates[name] = Candidates(_hidden(open_values.values, name, key), open_values.possible[rows])
            truth[name] = KnownPeople(
                _hidden(domain.labels(), name, key), codes[order], np.ones(len(order), dtype=np.int64)
            )
        return cls(persons, candidates, truth)

    def save(self, path: Path) -> None:
        """Write the people as Parquet: a column of hashes, and one for each attribute with the hashes of its values."""
        columns = {PERSON: pa.array(self.persons, pa.string())}
        for name, candidates in self.candidates.items():
            kinds, of_person = np.unique(candidates.possible, axis=0, return_inverse=True)
            texts = [" ".join(sorted(candidates.values[at] for at in np.flatnonzero(kind))) for kind in kinds]
            columns[f"values of {name}"] = pa.array(texts, pa.string()).take(pa.array(of_person.ravel()))
        pyarrow.parquet.write_table(pa.table(columns), path)

    @classmethod
    def load(cls, path: Path) -> PeopleOfRelease:
        """The people of a file whose checksum was found in order."""
        table = pyarrow.parquet.read_table(path)
        candidates = {}
        for column in table.column_names[1:]:
            encoded = table.column(column).combine_chunks().dictionary_encode()
            kinds = [text.split() for text in encoded.dictionary.to_pylist()]
            values = tuple(sorted({value for kind in kinds for value in kind}))
            possible = np.array([[value in kind for value in values] for kind in kinds], dtype=bool)
            of_person = encoded.indices.to_numpy(zero_copy_only=False)
            candidates[column.removeprefix("values of ")] = Candidates(
                values, possible.reshape(len(kinds), len(values))[of_person]
            )
        return cls(tuple(table.column(PERSON).to_pylist()), candidates)

    def of_persons(self, persons: Sequence[str], sensitive: str) -> Candidates:
        """The candidates of some people, by their hashes; nothing is possible for who is not in this release."""
        values, possible = self.candidates[sensitive].values, self.candidates[sensitive].possible
        wanted = np.asarray(persons, dtype=object)
        known = np.asarray(self.persons, dtype=object)
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


def _hidden(values: Sequence[str], attribute: str, key: str) -> tuple[str, ...]:
    return tuple(keyed(key, f"a value of {attribute}\0{value}") for value in values)
