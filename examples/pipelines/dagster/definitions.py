"""A table for everybody to read; what is built on it waits until the gate has let it go."""

import csv
import shutil
from pathlib import Path

import dagster
from gate import verdict

HERE = Path(__file__).parent
TABLE = Path("open_data.csv")


class Bands(dagster.Config):
    years: int = 20
    """How wide the bands of age are; with 1 the table may not be released."""


@dagster.asset
def open_data(config: Bands) -> None:
    """4,800 made-up patients."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["age_from", "sex", "district", "diagnosis"])
        for person in range(4800):
            age = 20 + person % 60 // config.years * config.years
            district = ["North", "South", "East", "West"][person // 120 % 4]
            diagnosis = ["flu", "cold", "gout", "asthma", "none"][person // 7 % 5]
            out.writerow([age, "fm"[person // 60 % 2], district, diagnosis])


@dagster.asset_check(asset=open_data, blocking=True)
def may_be_released() -> dagster.AssetCheckResult:
    """Blocking: without it, what comes after would be told and go on."""
    told = verdict(TABLE, HERE / "policy.toml")
    obstacles = [f"{obstacle['description']}; found {obstacle['found']}" for obstacle in told["obstacles"]]
    return dagster.AssetCheckResult(passed=told["passes"], metadata={"obstacles": obstacles})


@dagster.asset(deps=[open_data])
def published() -> None:
    """The copy that everybody can read."""
    shutil.copy(TABLE, "published.csv")


definitions = dagster.Definitions(assets=[open_data, published], asset_checks=[may_be_released])
