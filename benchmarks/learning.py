"""What does a classifier with ε predict, beside one that learned from artificial people with the same ε? `python benchmarks/learning.py`.

Adult, income from the other columns: learned from its training part, tested on its test part, which nobody learned from. What learns from
artificial people, and from the table itself, is the same learner without noise. δ = 1e-6.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet
from discreet.dp.learning import LEARNERS, PrivateClassifier
from synthesis import BOUNDS, adult

TRAINING = 32_561
PLENTY = 10**6
"""An ε at which there is no noise to speak of."""


def learned(table: pa.Table, keys: dict[str, set[str]], learner: str, epsilon: float) -> PrivateClassifier:
    with tempfile.TemporaryDirectory() as folder:
        ledger = discreet.Ledger(Path(folder) / "budget")
        ledger.set_budget(PLENTY, "1e-6")
        return discreet.learn(
            table,
            "income",
            epsilon=epsilon,
            delta="1e-6",
            learner=learner,  # type: ignore[arg-type]
            unit="record",
            bounds=BOUNDS,
            keys=keys,
            ledger=ledger,
        )


def artificial(table: pa.Table, keys: dict[str, set[str]], method: str, epsilon: float) -> pa.Table:
    with tempfile.TemporaryDirectory() as folder:
        ledger = discreet.Ledger(Path(folder) / "budget")
        ledger.set_budget(epsilon, "1e-6")
        return discreet.synthesize(
            table,
            epsilon=epsilon,
            delta="1e-6",
            unit="record",
            bounds=BOUNDS,
            keys=keys,
            bins=20,
            method=method,  # type: ignore[arg-type]
            ledger=ledger,
        ).rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", default="0.1,1,10")
    parser.add_argument("--methods", default="mst")
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    table = adult()
    training, test = table.slice(0, TRAINING), table.slice(TRAINING)
    keys = {name: set(table[name].to_pylist()) for name in table.column_names if name not in BOUNDS}
    print(f"{'':20} {'learned from':20} {'ε':>5} {'accuracy':>9} {'seconds':>8}")
    for learner in LEARNERS:
        whole = learned(training, keys, learner, PLENTY).test(test)
        print(f"{learner:20} {'the table, no noise':20} {'':5} {whole.accuracy:9.3f}", flush=True)
        for epsilon in map(float, given.epsilon.split(",")):
            start = time.process_time()
            figures = [
                learned(training, keys, learner, epsilon).test(test).accuracy for _ in range(given.draws)
            ]
            took = (time.process_time() - start) / given.draws
            print(
                f"{learner:20} {'the table':20} {epsilon:5g} {np.mean(figures):9.3f} {took:8.1f}", flush=True
            )
            for method in filter(None, given.methods.split(",")):
                figures = [
                    learned(artificial(training, keys, method, epsilon), keys, learner, PLENTY)
                    .test(test)
                    .accuracy
                    for _ in range(given.draws)
                ]
                print(f"{learner:20} {method:20} {epsilon:5g} {np.mean(figures):9.3f}", flush=True)
    print(f"always the commonest: {whole.constant:.3f}")


if __name__ == "__main__":
    main()
