"""MST as published, with the inference of the library mbi (`pip install mbi`, which brings JAX): what ours is held against where it is installed.

McKenna, Miklau and Sheldon, *Winning the NIST Contest*, 2021: a third of ρ each for single columns, for the choice of pairs and for pairs; values whose noisy
count is below three standard deviations become one. The library has the inference and the drawing of rows; the three steps around it are written here after
the paper, with noise from numpy, so nothing that comes out has a guarantee.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.dp.accounting import rho_of

INSTALLED = importlib.util.find_spec("mbi") is not None
ITERATIONS = 5000
RARE = 3.0


def reference_mst(codes: Sequence[np.ndarray], epsilon: float, delta: str) -> list[np.ndarray]:
    """Artificial rows for the codes of columns, as codes."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import mbi

    chance = np.random.default_rng()
    names = [f"c{i:02}" for i in range(len(codes))]
    data = dict(zip(names, codes, strict=True))
    sizes = {name: int(column.max()) + 1 for name, column in data.items()}
    rho = rho_of(Fraction(str(epsilon)), Fraction(delta))
    singles = _measured(data, sizes, [(name,) for name in names], rho / 3, chance)
    merged = {}
    for name in names:
        often = singles[name,][0] >= RARE * singles[name,][1]
        merged[name] = np.where(often, np.cumsum(often) - 1, often.sum())
    full = mbi.Domain(names, [sizes[name] for name in names])
    narrow = {name: int(places.max()) + 1 for name, places in merged.items()}
    domain = mbi.Domain(names, [narrow[name] for name in names])
    seen = {name: merged[name][column] for name, column in data.items()}
    told = [
        mbi.LinearMeasurement(counts, columns, scale).compress(merged, full)
        for columns, (counts, scale) in singles.items()
    ]
    alone = _fitted(mbi, domain, told, 1000)
    pairs = _chosen(seen, narrow, alone, rho / 3, chance)
    told += [
        mbi.LinearMeasurement(counts, columns, scale)
        for columns, (counts, scale) in _measured(seen, narrow, pairs, rho / 3, chance).items()
    ]
    drawn = _fitted(mbi, domain, told, ITERATIONS).synthetic_data().to_dict()
    return [_told_apart(np.asarray(drawn[name]), merged[name], chance) for name in names]


def _fitted(mbi: Any, domain: Any, told: list[Any], iterations: int) -> Any:
    return mbi.estimation.MirrorDescent().estimate(domain, told, iters=iterations)


def _measured(
    data: dict[str, np.ndarray],
    sizes: dict[str, int],
    tables: Sequence[tuple[str, ...]],
    rho: float,
    chance: np.random.Generator,
) -> dict[tuple[str, ...], tuple[np.ndarray, float]]:
    """Tables with noise that share an amount."""
    scale = math.sqrt(len(tables) / (2 * rho))
    made = {}
    for columns in tables:
        shape = [sizes[name] for name in columns]
        counts = np.bincount(
            np.ravel_multi_index([data[name] for name in columns], shape), minlength=math.prod(shape)
        )
        made[columns] = counts + chance.normal(0, scale, len(counts)), scale
    return made


def _chosen(
    data: dict[str, np.ndarray],
    sizes: dict[str, int],
    alone: Any,
    rho: float,
    chance: np.random.Generator,
) -> list[tuple[str, ...]]:
    """A tree of pairs, one after the other by the exponential mechanism on how far single columns are from them."""
    scores = {}
    for pair in itertools.combinations(data, 2):
        counts = np.bincount(
            np.ravel_multi_index([data[name] for name in pair], [sizes[name] for name in pair]),
            minlength=sizes[pair[0]] * sizes[pair[1]],
        )
        scores[pair] = float(np.abs(counts - np.asarray(alone.project(pair).datavector())).sum())
    part = {name: name for name in data}
    epsilon = math.sqrt(8 * rho / (len(data) - 1))
    chosen: list[tuple[str, ...]] = []
    while len(chosen) < len(data) - 1:
        left = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        noisy = [epsilon / 2 * scores[pair] + chance.gumbel() for pair in left]
        first, second = left[int(np.argmax(noisy))]
        chosen.append((first, second))
        gone = part[second]
        part = {name: part[first] if group == gone else group for name, group in part.items()}
    return chosen


def _told_apart(column: np.ndarray, merged: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Rare values again any of those that became one."""
    made = np.empty(len(column), dtype=np.int64)
    for value in range(int(merged.max()) + 1):
        rows = column == value
        made[rows] = chance.choice(np.flatnonzero(merged == value), int(rows.sum()))
    return made
