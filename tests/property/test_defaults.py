"""Nothing but defaults: what is written passes the check by the policy that was suggested, or nothing is written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.engine.read import read
from discreet.errors import GoalUnreachable
from discreet.policy import Policy
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
SHORT = ("arx/fars_subset.csv.gz", "sdcmicro/testdata2.csv", "sdcmicro/microData.csv")
LONG = (
    "adult/adult.data.gz",
    "adult/adult.test.csv.gz",
    "adult/adult_kaggle.csv.gz",
    "arx/adult.csv.gz",
    "mobility/nyc_taxis.csv.gz",
    "oulad/studentInfo.csv.gz",
    "sdcmicro/CASCrefmicrodata.csv",
    "sdcmicro/EIA.csv.gz",
    "sdcmicro/Tarragona.csv",
    "sdcmicro/casc1.csv",
    "sdcmicro/free1.csv.gz",
    "sdcmicro/testdata.csv.gz",
    "sparcs/sparcs2012_api1000.csv.gz",
    "sparcs/sparcs2016_first1000.csv.gz",
    "sparcs/sparcs2016_random1000.csv.gz",
    "uci/diabetic_data.csv.gz",
)
"""With the short ones all tables about people that are at hand, but for the one of eight people."""
EIGHT_PEOPLE = "sdcmicro/francdat.csv"


@st.composite
def people(draw: st.DrawFn) -> pa.Table:
    names = draw(st.lists(st.sampled_from(sorted(POOLS)), min_size=2, unique=True))
    rows = draw(st.integers(12, 150))
    seed = draw(st.randoms(use_true_random=False))
    return pa.table({name: [seed.choice(POOLS[name]) for _ in range(rows)] for name in names})


def released(table: Table, policy: Policy, folder: Path) -> Path:
    """The file that defaults write; what would not be released by the command line is none."""
    release = anonymize(table, policy)
    assert release.verdict.decision != "do-not-release"
    return release.save(folder / "release.csv")


def passes(file: Path, policy: Policy) -> bool:
    verdict = check(read(file), policy)
    assert not verdict.obstacles, [criterion.description for criterion in verdict.obstacles]
    return verdict.passes


@given(people())
@tries(60)
def test_what_defaults_write_passes_their_check(
    tmp_path_factory: pytest.TempPathFactory, rows: pa.Table
) -> None:
    table = read(rows)
    policy = suggest(table)
    assume(policy.quasi_identifiers)
    # Everybody in one class meets whatever the default profile asks: "cannot be done" would be wrong.
    file = released(table, policy, tmp_path_factory.mktemp("defaults"))
    assert passes(file, policy)


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in SHORT),
        *(pytest.param(name, marks=pytest.mark.walk) for name in LONG),
    ],
)
def test_real_tables_get_a_release_that_passes(data_dir: Path, tmp_path: Path, name: str) -> None:
    table = read(data_dir / name)
    policy = suggest(table)
    assert passes(released(table, policy, tmp_path), policy)


def test_every_table_at_hand_is_among_them(data_dir: Path) -> None:
    """Baskets have commands of their own, and hierarchies are no tables of people."""
    files = {path.relative_to(data_dir) for pattern in ("*.csv", "*.gz") for path in data_dir.rglob(pattern)}
    tables = {
        str(path) for path in files if path.parts[0] != "transactions" and "hierarchies" not in path.parts
    }
    assert tables == {*SHORT, *LONG, EIGHT_PEOPLE}


def test_eight_people_get_no_release(data_dir: Path) -> None:
    """The default asks for eleven alike."""
    table = read(data_dir / EIGHT_PEOPLE)
    with pytest.raises(GoalUnreachable):
        anonymize(table, suggest(table))
