"""A table for everybody to read; it is published after the gate has let it go, and not before."""

import csv
import shutil
from pathlib import Path

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import Param, dag, task

HERE = Path(__file__).resolve().parent
TABLE = HERE / "open_data.csv"


@dag(params={"years": Param(20, minimum=1, description="How wide the bands of age are")}, schedule=None)
def open_data() -> None:
    @task
    def make(params: dict[str, int]) -> None:
        """4,800 made-up patients; with bands of 1 year the table may not be released."""
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(["age_from", "sex", "district", "diagnosis"])
            for person in range(4800):
                age = 20 + person % 60 // params["years"] * params["years"]
                district = ["North", "South", "East", "West"][person // 120 % 4]
                diagnosis = ["flu", "cold", "gout", "asthma", "none"][person // 7 % 5]
                out.writerow([age, "fm"[person // 60 % 2], district, diagnosis])

    may_be_released = BashOperator(
        task_id="may_be_released",
        bash_command=f"discreet check '{TABLE}' --policy '{HERE / 'policy.toml'}'",
    )

    @task
    def publish() -> None:
        """The copy that everybody can read."""
        shutil.copy(TABLE, HERE / "published.csv")

    make() >> may_be_released >> publish()


open_data()
