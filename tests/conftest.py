"""Shared fixtures: where the public data sets lie, and small tables made by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")

DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The public data sets. Absent on a user's machine: say so; absent in CI: that is a failure."""
    if not (DATA / "README.md").exists():
        reason = "the public data sets are not here (set DISCREET_DATA to the folder that holds them)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return DATA
