"""Two neighbouring tables with the same draws: what is measured may differ by the sensitivity, and all else must not differ at all.

Whatever a verb makes of its draws, says, refuses or counts besides, follows from the draws alone or tells of the rows for nothing. A proof of
differential privacy couples the draws so; here it is done on real tables.
"""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet.dp
from discreet.dp.ledger import Ledger
from discreet.dp.noise import Noisy
from discreet.errors import DiscreetError

MODULES = [
    importlib.import_module(f"discreet.dp.{part.name}") for part in pkgutil.iter_modules(discreet.dp.__path__)
]
DISTANCES: dict[str, Callable[[np.ndarray], float]] = {
    "laplace": lambda change: float(change.sum()),
    "bounded_laplace": lambda change: float(change.sum()),
    "gaussian": lambda change: float(np.linalg.norm(change)),
    "noisy_max": lambda change: float(change.max(initial=0)),
    "noisy_max_rho": lambda change: float(change.max(initial=0)),
}
"""How far two measurements are apart, in the metric that each mechanism's sensitivity is meant in."""
NOT_COMPARED = ("left_epsilon", "left_delta", "payment")


class Coupling:
    """Mechanisms that give the second run what they gave the first, and compare what they are asked for."""

    def __init__(self, ledger: Ledger, seed: int) -> None:
        self.ledger, self.seed = ledger, seed
        self.kept: list[tuple[str, Any, Any, Any]] = []
        self.replayed: list[tuple[str, Any, Any, Any]] | None = None
        self.uniforms = 0

    def results(
        self, verb: Callable[..., Any], pair: Sequence[pa.Table], terms: Mapping[str, Any]
    ) -> list[str]:
        """What comes of both tables, as texts: alike, or something tells of the rows."""
        with pytest.MonkeyPatch.context() as patch:
            for module in MODULES:
                for name in (*DISTANCES, "uniforms", "selected_groups"):
                    if hasattr(module, name):
                        made = getattr(self, f"_{name}", None) or self._mechanism(name)
                        patch.setattr(module, name, made)
            self.kept, self.replayed = [], None
            first = self._result(verb, pair[0], terms)
            self.replayed = self.kept.copy()
            second = self._result(verb, pair[1], terms)
        assert first != second or not self.replayed, "the second table needed fewer draws"
        return [first, second]

    def _result(self, verb: Callable[..., Any], table: pa.Table, terms: Mapping[str, Any]) -> str:
        self.uniforms = 0
        self.chance = np.random.default_rng(self.seed)
        try:
            made = verb(table, ledger=self.ledger, **terms)
        except DiscreetError as error:
            return f"refused: {error}"
        told = {name: value for name, value in made.to_dict().items() if name not in NOT_COMPARED}
        if isinstance(getattr(made, "rows", None), pa.Table):
            told["cells"] = made.rows.to_pydict()
        return json.dumps(told, default=str)

    def _mechanism(self, name: str) -> Callable[..., Any]:
        def drawn(values: Sequence[int], **terms: Any) -> Any:
            asked = np.array(values, dtype=float)
            if self.replayed is None:
                made = self._draw(name, asked, terms)
                self.kept.append((name, asked, terms, made))
                return made
            assert self.replayed, "the second table needed more draws"
            before, old, stated, made = self.replayed.pop(0)
            assert (before, stated, old.shape) == (name, terms, asked.shape)
            moved = DISTANCES[name](np.abs(asked - old))
            assert moved <= float(terms["sensitivity"]) * (1 + 1e-9), f"{name}: moved by {moved}"
            return made

        return drawn

    def _draw(self, name: str, asked: np.ndarray, terms: Mapping[str, Any]) -> Any:
        """A little noise, so that both runs see what draws may look like; how much is of no account here."""
        noisy = np.rint(asked + self.chance.normal(0, 1, asked.shape))
        if name.startswith("noisy_max"):
            return int(np.argmax(noisy))
        if name == "bounded_laplace":
            noisy = noisy.clip(terms["low"], terms["high"])
        amount = terms["rho"] if name == "gaussian" else terms["epsilon"]
        root = math.sqrt(2 * amount) if name == "gaussian" else amount
        kind: Any = name.replace("_", "-")
        kind = {"bounded-laplace": kind, "gaussian": kind}.get(kind, "laplace")
        return Noisy(noisy.astype(int).tolist(), kind, float(terms["sensitivity"] / root))

    def _uniforms(self, count: int) -> np.ndarray:
        self.uniforms += 1
        return np.random.default_rng((self.seed, self.uniforms)).random(count)

    def _selected_groups(
        self,
        groups: Mapping[Any, int],
        persons: Sequence[int],
        *,
        epsilon: Any,
        delta: Any,
        max_groups: int,
    ) -> tuple[list[Any], int]:
        """Groups of one person stay hidden, but for δ; of all others the same are shown in both runs."""
        have = {key: persons[place] for key, place in groups.items()}
        if self.replayed is None:
            shown = [key for key, count in have.items() if count > 1]
            self.kept.append(("groups", have, max_groups, shown))
            return shown, 2
        _, before, stated, shown = self.replayed.pop(0)
        assert stated == max_groups
        change = {key: abs(have.get(key, 0) - before.get(key, 0)) for key in {*have, *before}}
        assert sum(change.values()) <= max_groups
        assert max(change.values(), default=0) <= 1
        return [key for key in shown if key in have], 2
