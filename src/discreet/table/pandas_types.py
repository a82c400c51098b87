"""Types that pandas has and Arrow lacks: columns in types that both have, and back again."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd


def for_arrow(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows in columns that Arrow can hold, named by texts; the frame itself where all of it can be taken.

    >>> import pandas as pd
    >>> ages = pd.cut(pd.Series([17, 45]), [0, 30, 60])
    >>> for_arrow(pd.DataFrame({0: ages}))["0"].tolist()
    ['(0, 30]', '(30, 60]']
    """
    import pandas

    taken = {i: _taken(pandas, frame.iloc[:, i], kind) for i, kind in enumerate(frame.dtypes)}
    changed = {i: column for i, column in taken.items() if column is not None}
    if not changed and all(isinstance(name, str) for name in frame.columns):
        return frame
    made = frame.copy(deep=False)
    made.columns = pandas.Index([str(name) for name in frame.columns])
    for i, column in changed.items():
        made.isetitem(i, column)
    return made


def _taken(pandas: Any, column: Any, kind: Any) -> Any:
    """A column in another type, if Arrow has none for its own."""
    if isinstance(kind, pandas.SparseDtype):
        return column.sparse.to_dense()
    if isinstance(kind, pandas.IntervalDtype):
        column, kind = column.astype("category"), pandas.CategoricalDtype(pandas.IntervalIndex([]))
    if isinstance(kind, pandas.CategoricalDtype) and _written(pandas, kind):
        return column.cat.rename_categories([str(category) for category in column.cat.categories])
    if isinstance(kind, pandas.PeriodDtype):
        # By its first moment a period has an order, and can be generalised as a date.
        first = column.dt.start_time
        return (
            first.astype(pandas.ArrowDtype(pa.date32())) if (first == first.dt.normalize()).all() else first
        )
    return None


def _written(pandas: Any, kind: Any) -> bool:
    """Whether categories are intervals or periods, which only a text can tell."""
    return isinstance(kind.categories.dtype, pandas.IntervalDtype | pandas.PeriodDtype)


def as_categories_before(pandas: Any, column: pa.ChunkedArray, kind: Any) -> Any:
    """A column in the categories that it had, but for those that nobody has any more: they would tell who is missing."""
    values = column.to_pandas()
    if _written(pandas, kind):
        # In other categories than there were the texts stay.
        before = {str(category): category for category in kind.categories}
        if set(values.dropna()) <= before.keys():
            values = values.map(before)
    present = set(values.dropna())
    kept = [category for category in kind.categories if category in present]
    strangers = present.difference(kept)
    order = kept if not strangers else sorted(present, key=str)
    return values.astype(pandas.CategoricalDtype(order, ordered=bool(kind.ordered) and not strangers))


def as_periods(pandas: Any, column: pa.ChunkedArray, kind: Any) -> Any:
    """Periods by their first moments."""
    return pandas.Series(pandas.to_datetime(column.to_pandas())).dt.to_period(kind.freq)


def with_former_names(frame: pd.DataFrame, pattern: pd.DataFrame | None) -> pd.DataFrame:
    """A frame whose columns are called as in another one, numbers and tuples among the names."""
    if pattern is None or all(isinstance(name, str) for name in pattern.columns):
        return frame
    places = {str(name): i for i, name in enumerate(pattern.columns)}
    with suppress(KeyError):  # with a column that was not there all names stay texts
        frame.columns = pattern.columns[[places[name] for name in frame.columns]]
    return frame
