"""What each record risks: one row of numbers for every row of the table, in its order."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.files.writing import atomically, refuse_clashes
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy
from discreet.progress import Asked, telling
from discreet.release.population import population_sizes, sampled_share
from discreet.release.prepare import (
    count_classes,
    open_both,
    refuse_unnamed_persons,
    with_roles,
)
from discreet.release.write import check_target, write_rows
from discreet.risk.copula import orders_of, unique_likelihoods
from discreet.risk.individual import individual_risk
from discreet.risk.information import attribute_bits, identity_bits
from discreet.risk.prosecutor import journalist, prosecutor
from discreet.table import Table
from discreet.table.frames import AsFrames, FrameKind
from discreet.types import IntArray


@dataclass(frozen=True)
class RecordRisks(AsFrames):
    """One row for each record of a table, in its order: how many people share its class, and what it risks.

    They say who stands out: keep them private. ``to_native`` gives a frame of the kind that came in, a pandas frame by
    the same index.
    """

    rows: pa.Table = field(repr=False)
    kind: FrameKind = field(repr=False)
    files: tuple[Path, ...] = field(default=(), repr=False)
    """What they were worked out from, which they do not replace."""

    def __repr__(self) -> str:
        return f"RecordRisks({self.rows.num_rows:,} records: {', '.join(self.rows.column_names)})"

    @property
    def frame_kind(self) -> FrameKind:
        """What the records came as; their numbers are new columns, which have no types to keep."""
        # Spark has no order of rows to follow.
        library = "arrow" if self.kind.library == "pyspark" else self.kind.library
        return FrameKind(library, None, self.kind.index)

    def to_arrow(self) -> pa.Table:
        """The numbers as an Arrow table."""
        return self.rows

    def to_pandas(self) -> Any:
        """The numbers as a pandas frame, called by the index of the frame that came in if it was one."""
        frame = super().to_pandas()
        return frame if self.kind.index is None else frame.set_index(self.kind.index)

    def to_native(self) -> Any:
        """The numbers as the kind of frame that came in."""
        return self.to_pandas() if self.kind.library == "pandas" else super().to_native()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write them to a file that nobody else can read."""
        target = Path(path)
        check_target(target)
        refuse_clashes([target], self.files)
        atomically(target, lambda part: write_rows(self.rows, part), private=True)
        return target


def record_risks(source: object, policy: GivenPolicy | None = None, *, progress: Asked = None) -> RecordRisks:
    """The class and the risks of every record, in the order of the table.

    ``class`` numbers the equivalence classes, ``class_size`` counts a record's class in persons, ``prosecutor`` is
    1 / class size, and ``journalist`` 1 / the size in the population if the policy tells it (El Emam 2013); if that
    was not counted but follows from weights or a sampling fraction, ``individual`` is the mean of 1 / size over what it may be
    (Benedetti, Franconi 1998), and, where each record is a person, ``alone_in_population`` how likely nobody outside the table
    has its combination, by a copula (Rocher, Hendrickx, de Montjoye 2019). ``identity_bits`` are what the class tells of who it is, ``bits_of_…`` what of each sensitive
    value (Bezzi 2007, 2010).

    >>> import discreet
    >>> people = pa.table({"age": [47, 31, 31], "sex": ["m", "f", "f"]})
    >>> risks = record_risks(people, discreet.Policy.of(quasi_identifiers=["age", "sex"]))
    >>> risks.to_arrow()["class_size"].to_pylist(), risks.to_arrow()["prosecutor"].to_pylist()
    ([1, 2, 2], [1.0, 0.5, 0.5])
    """
    say = telling(progress)
    table, given = open_both(source, policy)
    roles, _ = with_roles(table, given, say)
    table = roles.fit(table)
    refuse_unnamed_persons(table, roles)
    say("counting equivalence classes")
    classes = count_classes(table, roles)
    say("risks per record")
    return RecordRisks(_risks(table, roles, classes), table.frame_kind, table.source.files)


def _risks(table: Table, policy: Policy, classes: EquivalenceClasses) -> pa.Table:
    """The numbers of every row, from those of its class."""
    numbers = class_numbers(table, classes)
    columns = {
        "class": numbers,
        "class_size": classes.persons[numbers],
        "prosecutor": prosecutor(classes).values[numbers],
        "identity_bits": identity_bits(classes)[numbers],
    }
    for domain in classes.sensitive:
        columns[f"bits_of_{domain.name}"] = attribute_bits(classes, domain.name)[numbers]
    population = population_sizes(policy, classes)
    if population is not None:
        columns["journalist"] = journalist(classes, population).values[numbers]
        if policy.population is None:
            columns["individual"] = individual_risk(classes.persons, population.people)[numbers]
            fraction = sampled_share(policy, classes)
            if fraction is not None and not classes.event_level:
                alone = unique_likelihoods(
                    classes.codes,
                    levels=[domain.size for domain in classes.attributes],
                    sizes=classes.persons,
                    sampling_fraction=fraction,
                    orders=orders_of(classes.attributes),
                )
                columns["alone_in_population"] = alone[numbers]
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def class_numbers(table: Table, classes: EquivalenceClasses) -> IntArray:
    """For each row of a table, in its order, the number of its class; the classes were counted from this table."""
    if not classes.names:
        return np.zeros(table.rows, dtype=np.int64)
    place = classes.names[0]
    numbers = table.engine.recode(
        table,
        classes,
        values={place: pa.array(np.arange(len(classes)))},
        kept=np.ones(len(classes), dtype=bool),
        columns=[place],
    )
    return np.asarray(numbers.to_arrow()[place].to_numpy(), dtype=np.int64)
