"""Whether draws from two neighbouring tables contradict a stated ε: events are chosen on one half and tested on the other.

In the style of StatDP (Ding et al., 2018) and DP-Sniper (Bichsel et al., 2021): a test without held-out draws would find
violations everywhere, one without a bound on chance would, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import beta

CHANCE = 1e-6
"""How often a mechanism that keeps its promise is blamed."""
Event = Callable[[np.ndarray], np.ndarray]


def events(draws: np.ndarray) -> list[Event]:
    """Half-lines and single values among what was drawn."""
    cuts = np.unique(np.quantile(draws, np.linspace(0.01, 0.99, 25), method="nearest"))
    found: list[Event] = []
    for cut in cuts:
        found += [lambda x, c=cut: x <= c, lambda x, c=cut: x >= c, lambda x, c=cut: x == c]
    return found


def violation(first: Sequence[float], second: Sequence[float], epsilon: float, delta: float = 0.0) -> bool:
    """Whether an event is surely more likely in one than e^ε times in the other, plus δ."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    for left, right in ((a, b), (b, a)):
        half = len(left) // 2, len(right) // 2
        train = left[: half[0]], right[: half[1]]
        # The event whose excess is surest, not the one with the largest ratio: that one is rare, and rare events prove little.
        best = max(events(np.concatenate(train)), key=lambda event: excess(event, *train, epsilon, delta))
        if excess(best, left[half[0] :], right[half[1] :], epsilon, delta) > 0:
            return True
    return False


def excess(event: Event, left: np.ndarray, right: np.ndarray, epsilon: float, delta: float) -> float:
    """By how much at least, but for chance, the event is more likely on the left than the right allows."""
    hits = int(event(left).sum()), int(event(right).sum())
    least = beta.ppf(CHANCE, hits[0], len(left) - hits[0] + 1) if hits[0] else 0.0
    most = beta.isf(CHANCE, hits[1] + 1, len(right) - hits[1]) if hits[1] < len(right) else 1.0
    return float(least - math.exp(epsilon) * most - delta)
