"""Nothing but defaults: what is written passes the check by the policy that was suggested, or nothing is written."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.read import read
from discreet.errors import GoalUnreachable, InvalidPolicy
from discreet.policy.suggest import suggest
from discreet.release.anonymize import anonymize
from discreet.release.check import check
from discreet.table import Table
from helpers.profiles import tries

POOLS: dict[str, list[object]] = {
    "age": [*range(18, 90)],
    "sex": ["f", "m"],
    "zip": [f"{place:05d}" for place in range(10110, 10190)],
    "occupation": ["baker", "cook", "driver", "nurse", "teacher", "farmer", None],
    "diagnosis": ["flu", "flu", "flu", "asthma", "HIV", "none", "none"],
    "income": [*range(10_000, 90_000, 700)],
}


@st.composite
def people(draw: st.DrawFn) -> pa.Table:
    names = draw(st.lists(st.sampled_from(sorted(POOLS)), min_size=2, unique=True))
    rows = draw(st.integers(12, 150))
    seed = draw(st.randoms(use_true_random=False))
    return pa.table({name: [seed.choice(POOLS[name]) for _ in range(rows)] for name in names})


def goes_the_whole_way(table: Table, folder: Path) -> bool:
    """Whether there is a release; if there is, the written file passes by the suggested policy."""
    policy = suggest(table)
    try:
        release = anonymize(table, policy)
    except GoalUnreachable:
        return False
    if release.verdict.decision == "do-not-release":
        return False
    written = release.save(folder / "release.csv")
    again = check(read(written), policy)
    assert again.passes, [criterion.description for criterion in again.obstacles]
    return True


@given(people())
@tries(60)
def test_what_defaults_write_passes_their_check(
    tmp_path_factory: pytest.TempPathFactory, rows: pa.Table
) -> None:
    with suppress(InvalidPolicy):  # no quasi-identifier was recognised: told, and nothing is written
        goes_the_whole_way(read(rows), tmp_path_factory.mktemp("defaults"))


@pytest.mark.parametrize(
    "name", ["arx/fars_subset.csv.gz", "sdcmicro/testdata2.csv", "sdcmicro/microData.csv"]
)
def test_real_tables_get_a_release_that_passes(data_dir: Path, tmp_path: Path, name: str) -> None:
    assert goes_the_whole_way(read(data_dir / name), tmp_path)
