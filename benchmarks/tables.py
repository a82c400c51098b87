"""Tables for benchmarks: where the public ones lie, and generated ones of two shapes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
"""The public data sets."""
ADULT_COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
"""The columns of Adult, whose files have no header."""
Shape = Literal["skewed", "distinct"]
QUASI_IDENTIFIERS = ["town", "age", "sex", "education", "occupation", "marital", "nationality", "household"]
SENSITIVE = "diagnosis"


def people(rows: int, shape: Shape, *, seed: int = 1) -> pa.Table:
    """``skewed``: realistic skew and dependence, about 5 % distinct combinations; ``distinct``: nearly all."""
    rng = np.random.default_rng(seed)

    def zipf(size: int, exponent: float) -> np.ndarray:
        weight = 1 / np.arange(1, size + 1) ** exponent
        return rng.choice(size, rows, p=weight / weight.sum())

    if shape == "skewed":
        # More people live in more towns: the share of distinct combinations stays about the same.
        town = zipf(max(3, rows // 70_000), 1.0)
        age = np.clip(rng.normal(42, 18, rows), 0, 95).astype(int) // 10 * 10
        sex = rng.integers(0, 2, rows)
        education = np.clip(rng.normal(3.5, 1.0, rows) + (town % 3) * 0.5, 0, 6).astype(int)
        occupation = (education * 2 + rng.choice(4, rows, p=[0.82, 0.12, 0.04, 0.02])) % 16
        marital = np.where(age < 20, 0, rng.choice(4, rows, p=[0.15, 0.65, 0.15, 0.05]))
        nationality = zipf(12, 4.0)
        household = np.clip(
            np.where(marital == 1, 2, 1) + rng.choice(4, rows, p=[0.7, 0.2, 0.08, 0.02]), 1, 5
        )
    else:
        town, age, sex = rng.integers(0, 60, rows), rng.integers(0, 100, rows), rng.integers(0, 2, rows)
        education, occupation = rng.integers(0, 10, rows), rng.integers(0, 25, rows)
        marital, nationality = rng.integers(0, 5, rows), rng.integers(0, 20, rows)
        household = rng.integers(1, 8, rows)
    diagnosis = (occupation + rng.choice(12, rows, p=np.arange(12, 0, -1) / 78)) % 12
    return pa.table(
        {
            "town": _labels("town", town),
            "age": age,
            "sex": _labels("sex", sex),
            "education": _labels("education", education),
            "occupation": _labels("occupation", occupation),
            "marital": _labels("marital", marital),
            "nationality": _labels("nationality", nationality),
            "household": household,
            "diagnosis": _labels("diagnosis", diagnosis),
        }
    )


def _labels(prefix: str, codes: np.ndarray) -> pa.Array:
    words = pa.array([f"{prefix} {code:03d}" for code in range(int(codes.max()) + 1)])
    return words.take(pa.array(codes))


def write(folder: Path, rows: int, shape: Shape) -> Path:
    """A Parquet file of generated people."""
    path = folder / f"{shape}_{rows}.parquet"
    if not path.exists():
        pq.write_table(people(rows, shape), path, row_group_size=1 << 20)
    return path
