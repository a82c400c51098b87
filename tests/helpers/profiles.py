"""How many examples a property is tried on: few for daily work, more in the whole suite, most when one looks for trouble.

The first two always try the same ones, so that a suite that passed passes again; whoever looks for trouble gets new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

USUAL = 60
"""The examples that a number given to `tries` is meant beside."""
settings.register_profile(
    "thorough",
    deadline=None,
    derandomize=False,
    max_examples=10 * USUAL,
    suppress_health_check=[HealthCheck.too_slow],
)
for _name, _count in (("ci", USUAL // 3), ("fast", USUAL // 15)):
    settings.register_profile(
        _name, settings.get_profile("thorough"), derandomize=True, database=None, max_examples=_count
    )


def tries(count: int, **more: object) -> settings:
    """So many examples beside the usual number of others, and the same share of them under every profile."""
    share = settings.default.max_examples / USUAL
    return settings(max_examples=max(round(count * share), 1), **more)  # type: ignore[arg-type]


def seeds(count: int) -> pytest.MarkDecorator:
    """So many seeds of random tables, of which a fifth is for daily work, as it is of examples."""
    daily = -(-count // 5)
    later = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(daily, count)]
    return pytest.mark.parametrize("seed", [*range(daily), *later])
