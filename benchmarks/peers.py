"""What anonypy and anjana make of Adult: run by `anonymize.py` in a Python environment that has them.

Their releases of numpy and pandas differ from ours, so they run in an environment of their own:
`python -m venv peers && peers/bin/pip install anonypy anjana`. Prints one JSON line: seconds and leaf-share loss.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from pathlib import Path

import pandas as pd

QI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def rows_of(folder: Path, name: str) -> list[list[str]]:
    with (folder / "hierarchies" / f"adult_hierarchy_{name}.csv").open() as file:
        return [row for row in csv.reader(file, delimiter=";") if row]


def share_loss(leaves_under: pd.Series, leaves: int) -> float:
    """Mean of (share - 1/D) / (1 - 1/D)."""
    return float((leaves_under / leaves - 1 / leaves).mean() / (1 - 1 / leaves))


def anonypy_run(frame: pd.DataFrame, folder: Path, k: int) -> dict[str, float]:
    import anonypy

    typed = frame.copy()
    for name in QI:
        if name != "age":
            typed[name] = typed[name].astype("category")
    start = time.perf_counter()
    found = anonypy.Preserver(typed, QI, "salary-class").anonymize_k_anonymity(k=k)
    seconds = time.perf_counter() - start
    out = pd.DataFrame(found)
    weights = out["count"]
    losses = []
    for name in QI:
        hierarchy = rows_of(folder, name)
        if name == "age":
            ages = sorted(int(row[0]) for row in hierarchy)
            ends = (
                out[name].astype(str).str.strip("[]'").str.split("-", expand=True).astype(float).ffill(axis=1)
            )
            width = [
                sum(low <= age <= high for age in ages)
                for low, high in zip(ends[0], ends[ends.columns[-1]], strict=True)
            ]
        else:
            width = [len(str(cell).strip("[]").split(",")) for cell in out[name]]
        under = pd.Series(width).repeat(weights).reset_index(drop=True)
        losses.append(share_loss(under, len(hierarchy)))
    return {"seconds": seconds, "loss": sum(losses) / len(losses), "suppressed": 0.0}


def anjana_run(frame: pd.DataFrame, folder: Path, k: int) -> dict[str, float]:
    from anjana.anonymity import k_anonymity

    hierarchies, under = {}, {}
    for name in QI:
        rows = rows_of(folder, name)
        index = {row[0]: row for row in rows}
        values = [str(value) for value in frame[name].unique()]
        hierarchies[name] = {level: [index[v][level] for v in values] for level in range(len(rows[0]))}
        hierarchies[name][0] = list(frame[name].unique())
        under[name] = {}
        for level in range(len(rows[0])):
            for row in rows:
                label = row[level]
                under[name][label] = sum(other[level] == label for other in rows)
    start = time.perf_counter()
    out = k_anonymity(frame, [], QI, k, 10, hierarchies)  # at most 10 % suppressed
    seconds = time.perf_counter() - start
    missing = 1 - len(out) / len(frame)
    losses = []
    for name in QI:
        leaves = len(rows_of(folder, name))
        counted = out[name].astype(str).map(under[name]).astype(float)
        losses.append(share_loss(counted, leaves) * (1 - missing) + missing)
    return {"seconds": seconds, "loss": sum(losses) / len(losses), "suppressed": missing}


if __name__ == "__main__":
    peer, data, size = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    adult = pd.read_csv(data / "adult.csv.gz", sep=";")[[*QI, "salary-class"]]
    run = anonypy_run if peer == "anonypy" else anjana_run
    print(json.dumps(run(adult, data, size)))
