"""The gate in tests: ``def test_open_data(discreet): discreet.check("release.csv", "policy.toml")``."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import pytest

import discreet as package

if TYPE_CHECKING:
    from discreet.policy.file import GivenPolicy
    from discreet.release.verdict import Verdict


class Gate:
    """What a test asks of a table that is to be released."""

    def check(self, source: object, policy: GivenPolicy) -> Verdict:
        """The verdict on a table; the test fails with every requirement that does not hold."""
        __tracebackhide__ = True
        verdict = package.check(source, policy)
        if not verdict.passes:
            name = source if isinstance(source, str | PathLike) else "the table"
            obstacles = "\n".join(
                f"  ✘ {criterion.description}; found {criterion.found}" for criterion in verdict.obstacles
            )
            pytest.fail(f"{name} may not be released:\n{obstacles}", pytrace=False)
        return verdict


@pytest.fixture(name="discreet", scope="session")
def gate() -> Gate:
    """`discreet.check(table, policy)` fails the test unless every requirement holds."""
    return Gate()
