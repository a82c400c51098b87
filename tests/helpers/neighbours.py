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
        # Two values so that an event of few draws is not chosen for its luck.
        best = max(
            events(np.concatenate(train)),
            key=lambda event: (
                np.log(event(train[0]).mean() + 1e-12) - np.log(event(train[1]).mean() + 3 / half[1])
            ),
        )
        held = left[half[0] :], right[half[1] :]
        hits = int(best(held[0]).sum()), int(best(held[1]).sum())
        least = beta.ppf(CHANCE, hits[0], len(held[0]) - hits[0] + 1) if hits[0] else 0.0
        most = beta.isf(CHANCE, hits[1] + 1, len(held[1]) - hits[1])
        if least > math.exp(epsilon) * most + delta:
            return True
    return False
