"""How many examples a property is tried on: all of them in the whole suite, a few in the quick one."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

MANY = 60
settings.register_profile(
    "ci", deadline=None, max_examples=MANY, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fast", settings.get_profile("ci"), max_examples=6)


def tries(count: int, **more: object) -> settings:
    """So many examples if the suite is thorough, and the same share of them as of all others if it is not."""
    share = settings.default.max_examples / MANY
    return settings(max_examples=max(round(count * share), 1), **more)  # type: ignore[arg-type]
