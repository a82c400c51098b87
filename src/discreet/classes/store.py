"""Counted classes of a case, kept as Arrow in its private directory: previews need no second look at the rows."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.release.build import count_classes
from discreet.release.prepare import without_dropped
from discreet.table import Domain, Table
from discreet.web.jobs.stored import state_of

KEPT = 3
"""So many counts of a case are kept, the newest ones."""


def counted(
    case: Path, file: Path, policy: Policy, plan: Plan, open_table: Callable[[], Table]
) -> EquivalenceClasses:
    """The classes of a case under a policy and a plan; the rows are counted only if that was not done before."""
    folder = case / "counted"
    target = folder / f"{_key(file, policy, plan)}.arrow"
    if target.exists():
        os.utime(target)
        return load(target)
    table = policy.fit(open_table())
    if plan.sample < 1:
        table = table.engine.thin(table, plan.sample, seed=plan.seed)
    classes = count_classes(table, without_dropped(policy, plan))
    folder.mkdir(mode=0o700, exist_ok=True)
    scratch = target.with_suffix(f".{os.getpid()}")
    save(classes, scratch)
    os.replace(scratch, target)
    for old in sorted(folder.glob("*.arrow"), key=lambda one: one.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)
    return classes


def _key(file: Path, policy: Policy, plan: Plan) -> str:
    """Everything that counting depends on."""
    left = without_dropped(policy, plan)
    columns = [(one.name, one.role, one.type) for one in left.columns]
    said = [state_of(file), dict(policy.read), columns, plan.sample, plan.seed if plan.sample < 1 else 0]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


def save(classes: EquivalenceClasses, path: Path) -> None:
    """Write classes as one Arrow row whose cells are lists."""
    columns: dict[str, pa.Array] = {"indptr": pa.array(classes.indptr), "counts": pa.array(classes.counts)}
    for place, (domain, codes) in enumerate(zip(classes.attributes, classes.codes, strict=True)):
        columns[f"values-{place}"] = domain.values
        columns[f"codes-{place}"] = pa.array(codes)
    for place, domain in enumerate(classes.sensitive):
        columns[f"sensitive-values-{place}"] = domain.values
        columns[f"sensitive-codes-{place}"] = pa.array(classes.sensitive_codes[domain.name])
    if classes.person_codes is not None:
        columns["persons"] = pa.array(classes.person_codes)
    if classes.weights is not None:
        columns["weights"] = pa.array(classes.weights)
    names = {
        part: json.dumps([[one.name, one.has_null] for one in domains])
        for part, domains in (("attributes", classes.attributes), ("sensitive", classes.sensitive))
    }
    cells = [pa.LargeListArray.from_arrays([0, len(one)], one) for one in columns.values()]
    table = pa.Table.from_arrays(cells, list(columns)).replace_schema_metadata(names)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def load(path: Path) -> EquivalenceClasses:
    """The classes of a file that :func:`save` wrote."""
    with pa.OSFile(str(path), "rb") as source:
        table = pa.ipc.open_file(source).read_all()

    def cell(name: str) -> pa.Array:
        return table[name].chunk(0).flatten()

    def numbers(name: str) -> NDArray[np.int64]:
        return np.asarray(cell(name).to_numpy(zero_copy_only=False))

    def domains(part: str, prefix: str) -> tuple[Domain, ...]:
        listed = json.loads(table.schema.metadata[part.encode()])
        return tuple(
            Domain(name, cell(f"{prefix}{place}"), has_null) for place, (name, has_null) in enumerate(listed)
        )

    attributes = domains("attributes", "values-")
    sensitive = domains("sensitive", "sensitive-values-")
    present = table.column_names
    return EquivalenceClasses(
        attributes=attributes,
        codes=tuple(numbers(f"codes-{place}") for place in range(len(attributes))),  # type: ignore[misc]
        indptr=numbers("indptr"),
        counts=numbers("counts"),
        sensitive=sensitive,
        sensitive_codes={
            domain.name: numbers(f"sensitive-codes-{place}")  # type: ignore[misc]
            for place, domain in enumerate(sensitive)
        },
        person_codes=numbers("persons") if "persons" in present else None,
        weights=numbers("weights").astype(np.float64) if "weights" in present else None,
    )
