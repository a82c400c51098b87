"""A requirement that names no sensitive attribute is asked of each of them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidPolicy
from discreet.policy.file import loads

ROWS = pa.table(
    {"age": [30] * 6 + [40] * 6, "ill": ["flu", "cold"] * 6, "pay": [1, 2, 3] * 4, "sex": ["f", "m"] * 6}
)
POLICY = """
unknown = "keep"
[columns.age]
role = "quasi-identifier"
{sensitive}
[[require]]
model = "l-diversity"
l = 3
"""


def policy(*sensitive: str) -> discreet.Policy:
    return loads(
        POLICY.format(sensitive="".join(f'[columns.{name}]\nrole = "sensitive"\n' for name in sensitive))
    )


@pytest.mark.parametrize(
    ("sensitive", "held"), [(["pay"], {"pay": True}), (["ill", "pay"], {"ill": False, "pay": True})]
)
def test_each_is_asked(sensitive: list[str], held: dict[str, bool]) -> None:
    asked = discreet.check(ROWS, policy(*sensitive)).criteria
    assert {each.attribute: each.holds for each in asked if each.threshold == 3} == held


def test_without_any_it_is_refused() -> None:
    with pytest.raises(InvalidPolicy, match="no column is one"):
        discreet.check(ROWS, policy())
