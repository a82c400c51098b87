"""Which artificial rows keep the rules of a policy: those that do not are drawn again by `discreet.synthesize`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter
from discreet.policy.file import GivenPolicy, open_policy
from discreet.release.kept_rules import breaking
from discreet.release.kpis import speaks_of
from discreet.release.prepare import open_table
from discreet.sentences import Sentence
from discreet.types import BoolArray

KINDS = {"integer": pa.int64(), "float": pa.float64(), "boolean": pa.bool_()}


def rule_keeper(
    source: object, policy: GivenPolicy, columns: Sequence[str] | None = None
) -> Callable[[pa.Table], BoolArray] | None:
    """What tells of artificial rows whether they keep the ``[[constraint]]`` rules of a policy; nothing if it has none.

    Rules are known without the data, so asking them of rows that were drawn costs nothing. Those that speak of columns which the rows do
    not have (``columns``, all if not given) are not asked. A column that follows from others is refused: what follows from what would be read from the data.
    """
    asked = open_policy(policy)
    table = open_table(source, asked)
    names = [table.column(name).name for name in columns or table.names]
    missing = [name for name in table.names if name not in names]
    rules = [
        rule
        for rule in asked.constraints
        if not any(speaks_of(name, rule.holds) or name in (rule.column, *rule.follows) for name in missing)
    ]
    for rule in rules:
        if rule.follows:
            raise InvalidParameter(
                Sentence("constraint {name!r} is known from the data only", name=rule.name),
                remedy="leave it out: reading what follows from what is not paid for",
            )
    if not rules:
        return None

    def keeps(rows: pa.Table) -> BoolArray:
        kept = np.ones(rows.num_rows, dtype=np.bool_)
        kept[breaking(rows, rules, table)] = False
        return kept

    # A rule that cannot be asked is told before anything is paid for: of a row in which everything is missing.
    kinds = [KINDS.get(table.column(name).storage, pa.string()) for name in names]
    keeps(pa.table([pa.nulls(1, kind) for kind in kinds], names=names))
    return keeps
