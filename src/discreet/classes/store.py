"""Counted classes as an Arrow file, so that nobody counts the same rows twice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.table import Domain
from discreet.types import AnyIntArray, IntArray


def save(classes: EquivalenceClasses, path: Path) -> None:
    """Write classes as one Arrow row whose cells are lists."""
    save_part(classes, path)


def save_part(
    classes: EquivalenceClasses, path: Path, *, persons: pa.Array | None = None, mark: str = ""
) -> None:
    """Write classes, who their persons are, and a mark of how they were counted."""
    columns: dict[str, pa.Array] = {"indptr": pa.array(classes.indptr), "counts": pa.array(classes.counts)}
    for place, (domain, codes) in enumerate(zip(classes.attributes, classes.codes, strict=True)):
        columns[f"values-{place}"] = domain.values
        columns[f"codes-{place}"] = pa.array(codes)
    for place, domain in enumerate(classes.counted_inside):
        columns[f"sensitive-values-{place}"] = domain.values
        columns[f"sensitive-codes-{place}"] = pa.array(classes.sensitive_codes[domain.name])
    if classes.person_codes is not None:
        columns["persons"] = pa.array(classes.person_codes)
    if classes.weights is not None:
        columns["weights"] = pa.array(classes.weights)
    if persons is not None:
        columns["person-hashes"] = persons
    names = {
        part: json.dumps([[domain.name, domain.has_null, domain.type] for domain in domains])
        for part, domains in (("attributes", classes.attributes), ("sensitive", classes.counted_inside))
    }
    names["guards"] = str(len(classes.guards))
    cells = [pa.LargeListArray.from_arrays([0, len(column)], column) for column in columns.values()]
    table = pa.Table.from_arrays(cells, list(columns)).replace_schema_metadata({**names, "mark": mark})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def load(path: Path) -> EquivalenceClasses:
    """The classes of a file that :func:`save` wrote."""
    return _classes(_read(path))


def load_part(path: Path) -> tuple[EquivalenceClasses, pa.Array | None, str]:
    """The classes, persons and mark of a file that :func:`save_part` wrote, here or elsewhere.

    A ``ValueError`` if its parts do not fit together.
    """
    table = _read(path)
    table.validate(full=True)
    if table.num_rows != 1:
        raise ValueError("not one row")
    classes = _classes(table)
    persons = table["person-hashes"].chunk(0).flatten() if "person-hashes" in table.column_names else None
    _check(classes, persons)
    return classes, persons, (table.schema.metadata or {}).get(b"mark", b"").decode()


def _check(classes: EquivalenceClasses, persons: pa.Array | None) -> None:
    cells, indptr = len(classes.counts), classes.indptr
    sizes: list[tuple[AnyIntArray, int, int]] = [
        (codes, domain.size, len(classes))
        for codes, domain in zip(classes.codes, classes.attributes, strict=True)
    ]
    sizes += [(classes.sensitive_codes[domain.name], domain.size, cells) for domain in classes.counted_inside]
    if classes.person_codes is not None:
        known = int(classes.person_codes.max(initial=0)) + 1 if persons is None else len(persons)
        sizes.append((classes.person_codes, known, cells))
    sound = (
        cells > 0
        and indptr[0] == 0
        and indptr[-1] == cells
        and bool((np.diff(indptr) > 0).all())
        and bool((classes.counts > 0).all())
        and (classes.weights is None or len(classes.weights) == cells)
        and all(
            len(codes) == length and codes.min() >= 0 and codes.max() < size for codes, size, length in sizes
        )
    )
    if not sound:
        raise ValueError("its parts do not fit together")


def _read(path: Path) -> pa.Table:
    with pa.OSFile(str(path), "rb") as source:
        return pa.ipc.open_file(source).read_all()


def _classes(table: pa.Table) -> EquivalenceClasses:
    def cell(name: str) -> pa.Array:
        return table[name].chunk(0).flatten()

    def numbers(name: str) -> IntArray:
        return np.asarray(cell(name).to_numpy(zero_copy_only=False))

    def domains(part: str, prefix: str) -> tuple[Domain, ...]:
        listed = json.loads(table.schema.metadata[part.encode()])
        return tuple(
            Domain(name, cell(f"{prefix}{place}"), has_null, type)
            for place, (name, has_null, type) in enumerate(listed)
        )

    attributes = domains("attributes", "values-")
    inside = domains("sensitive", "sensitive-values-")
    # Files of before have none.
    guards = int(table.schema.metadata.get(b"guards", b"0"))
    if not 0 <= guards <= len(inside):
        raise ValueError("its parts do not fit together")
    present = table.column_names
    return EquivalenceClasses(
        attributes=attributes,
        codes=tuple(numbers(f"codes-{place}") for place in range(len(attributes))),  # type: ignore[misc]
        indptr=numbers("indptr"),
        counts=numbers("counts"),
        sensitive=inside[: len(inside) - guards],
        sensitive_codes={
            domain.name: numbers(f"sensitive-codes-{place}")  # type: ignore[misc]
            for place, domain in enumerate(inside)
        },
        person_codes=numbers("persons") if "persons" in present else None,
        weights=numbers("weights").astype(np.float64) if "weights" in present else None,
        guards=inside[len(inside) - guards :],
    )
