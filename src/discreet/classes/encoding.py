"""Small columns in memory as domains and codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.table.domain import Domain
from discreet.types import AnyIntArray


def encoded(name: str, values: Sequence[object]) -> tuple[Domain, AnyIntArray]:
    """The domain of some values and the code of each."""
    array = pa.array(list(values))
    unique = array.drop_null().unique()
    domain = Domain(name, unique.take(pc.sort_indices(unique)), has_null=array.null_count > 0)
    codes = pc.index_in(array, value_set=domain.values).fill_null(len(domain.values))
    return domain, codes.to_numpy(zero_copy_only=False).astype(np.int64)


def encoded_columns(
    columns: Mapping[str, Sequence[object]],
) -> tuple[list[Domain], list[AnyIntArray]]:
    listed = [encoded(name, values) for name, values in columns.items()]
    return [domain for domain, _ in listed], [codes for _, codes in listed]
