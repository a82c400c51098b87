"""Counted classes of several parts of a table as those of the whole, without counting any row again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.packing import Packing, run_starts, sort_words
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.types import AnyIntArray, IntArray


def merged(
    parts: Sequence[EquivalenceClasses], persons: Sequence[pa.Array] | None = None
) -> tuple[EquivalenceClasses, pa.Array | None]:
    """The classes of all parts together; of persons with several records, who each one is, by part and together.

    Records add up. Persons do not where somebody is in two parts: ``persons`` says for the codes of each part who they
    are, in whatever way is the same in all parts.

    >>> halves = [EquivalenceClasses.from_columns({"age": ages}) for ages in ([31, 47], [31, 62])]
    >>> whole, _ = merged(halves)
    >>> whole.records, whole.attributes[0].values.to_pylist()
    (array([2, 1, 1]), [31, 47, 62])
    """
    first = parts[0]
    for part in parts[1:]:
        _check_alike(first, part)
    if first.event_level and persons is None:
        raise InvalidParameter(
            "persons with several records are counted, and nothing says who is in two parts",
            remedy="count all parts with the same key",
        )
    attributes = [_united([part.attributes[j] for part in parts]) for j in range(len(first.attributes))]
    sensitive = [_united([part.sensitive[j] for part in parts]) for j in range(len(first.sensitive))]
    sizes = [domain.size for domain in attributes]
    people = pa.chunked_array(persons).unique() if persons is not None and first.event_level else None
    if people is not None:
        sizes.append(len(people))
    packing = Packing.of([*sizes, *(domain.size for domain in sensitive)])
    packed = []
    for number, part in enumerate(parts):
        spread = part.class_of_cell
        columns: list[AnyIntArray] = [
            _moved(old, new)[codes][spread]
            for old, new, codes in zip(part.attributes, attributes, part.codes, strict=True)
        ]
        if people is not None:
            assert persons is not None
            assert part.person_codes is not None
            places = pc.index_in(persons[number], value_set=people).to_numpy(zero_copy_only=False)
            columns.append(places.astype(np.int64)[part.person_codes])
        columns += [
            _moved(old, new)[part.sensitive_codes[old.name]]
            for old, new in zip(part.sensitive, sensitive, strict=True)
        ]
        packed.append(packing.pack(columns) if columns else [np.zeros(len(part.counts), dtype=np.int64)])
    words = [np.concatenate([part[i] for part in packed]) for i in range(packing.words)]
    counts = np.concatenate([part.counts for part in parts])
    weights = None
    if first.weights is not None:
        order = np.lexsort(tuple(reversed(words)))
        words, counts = [word[order] for word in words], counts[order]
        weights = np.concatenate([part.weights for part in parts if part.weights is not None])[order]
    else:
        words, counts = sort_words(words, counts)
    starts = run_starts(words)
    whole = EquivalenceClasses.from_packed(
        packing,
        [word[starts] for word in words],
        np.add.reduceat(counts, starts),
        attributes=attributes,
        sensitive=sensitive,
        persons=people is not None,
        weights=None if weights is None else np.add.reduceat(weights, starts),
    )
    return whole, people


def _check_alike(first: EquivalenceClasses, other: EquivalenceClasses) -> None:
    """Refuse parts that were not counted by the same columns."""

    def counted(part: EquivalenceClasses) -> tuple[object, ...]:
        names = tuple(domain.name for domain in part.sensitive)
        return part.names, names, part.event_level, part.weights is None

    if counted(first) != counted(other):
        raise InvalidParameter(
            "the parts were not counted by the same quasi-identifiers, sensitive attributes, persons and weights",
            remedy="count them with the same policy",
        )


def _united(domains: Sequence[Domain]) -> Domain:
    """The domain that holds the values of all, in their order."""
    name = domains[0].name
    # A column without a value has no type that would say anything.
    filled = [domain.values for domain in domains if len(domain.values)] or [domains[0].values]
    kinds = {values.type for values in filled}
    if len(kinds) > 1 and all(pa.types.is_integer(kind) for kind in kinds):
        filled = [values.cast(pa.int64()) for values in filled]
    elif len(kinds) > 1:
        raise InvalidParameter(
            Sentence("column {name!r} has other types in other parts", name=name),
            remedy="say in the policy what it holds, or convert it",
        )
    values = pa.chunked_array(filled).unique()
    kind = next((domain.type for domain in domains if domain.type is not None), None)
    order: IntArray = pc.sort_indices(values).to_numpy()
    if kind in ("integer", "continuous") and pa.types.is_string(values.type):
        # Texts that hold numbers are in the order of these, as where they were counted.
        ordered = values.take(pa.array(order))
        order = order[np.argsort(Domain(name, ordered, type=kind).numbers, kind="stable")]
    return Domain(name, values.take(pa.array(order)), any(domain.has_null for domain in domains), kind)


def _moved(old: Domain, new: Domain) -> IntArray:
    """The new code of each old one."""
    if not len(old.values):
        return np.array([len(new.values)], dtype=np.int64)
    places = pc.index_in(old.values.cast(new.values.type), value_set=new.values)
    return np.append(places.to_numpy(zero_copy_only=False), len(new.values)).astype(np.int64)
