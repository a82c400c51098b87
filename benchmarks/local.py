"""How good are the searches without a proof? `python benchmarks/local.py` compares losses on Adult and bounds.

1. Local recoding with hierarchy nodes against Mondrian and k-member clustering, with nodes and with intervals and
   sets, under k-anonymity, l-diversity and t-closeness; nothing is suppressed. Seconds are of the process, over
   all its threads, so that other programs disturb them little.
2. The any-time search on 30 attributes: the best cost and the bound after some seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.search.clusters.k_member import k_member
from discreet.search.lattice.anytime import search_anytime
from discreet.search.local.search import local_recoding
from discreet.search.mondrian.search import mondrian
from discreet.search.problem import Problem, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.loss import leaf_share_loss
from discreet.transform.recoding import Recoding
from tables import DATA

ARX = DATA / "arx"
QI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
CASES: dict[str, tuple[str | None, list[PrivacyModel]]] = {
    "k = 5": (None, []),
    "k = 5, l = 2 (salary)": ("salary-class", [LDiversity(2, "salary-class")]),
    "k = 5, l = 4 (occupation)": ("occupation", [LDiversity(4, "occupation")]),
    "k = 5, entropy l = 4 (occupation)": ("occupation", [LDiversity(4, "occupation", kind="entropy")]),
    "k = 5, t = 0.3 (salary)": ("salary-class", [TCloseness(0.3, "salary-class")]),
    "k = 5, t = 0.2 (salary)": ("salary-class", [TCloseness(0.2, "salary-class")]),
    "k = 5, t = 0.3 (occupation)": ("occupation", [TCloseness(0.3, "occupation")]),
}


def compare(name: str) -> None:
    sensitive, models = CASES[name]
    asked = [KAnonymity(5), *models]
    table = read(ARX / "adult.csv.gz")
    classes = table.engine.count(
        table,
        quasi_identifiers=[one for one in QI if one != sensitive],
        sensitive=[sensitive] if sensitive else [],
    )
    files = ARX / "hierarchies"
    ladders = [
        Hierarchy.read(files / f"adult_hierarchy_{domain.name}.csv", domain.name).ladder(domain)
        for domain in classes.attributes
    ]
    problem = make_problem(classes, ladders, asked, suppression_limit=0.0)
    methods: dict[str, Callable[[], Recoding]] = {
        "local recoding": lambda: local_recoding(problem),
        "Mondrian, nodes": lambda: mondrian(classes, asked, ladders=ladders, style="hierarchy"),
        "k-member, nodes": lambda: k_member(classes, 5, ladders=ladders, models=asked, style="hierarchy"),
        "Mondrian": lambda: mondrian(classes, asked, ladders=ladders),
        "k-member": lambda: k_member(classes, 5, ladders=ladders, models=asked),
    }
    for method, work in methods.items():
        start = time.process_time()
        found = work()
        taken = time.process_time() - start
        assert all(model.satisfied(found.regrouped()) for model in asked)
        print(f"{name:34} {method:16} loss {leaf_share_loss(found):.4f} {taken:7.1f} s", flush=True)


def endless(attributes: int, rows: int) -> Problem:
    """Attributes of six values, generalised to pairs, to low or high, and to nothing."""
    rng = np.random.default_rng(7)
    tree = [[str(v), f"pair{v // 2}", "low" if v < 4 else "high", "*"] for v in range(6)]
    columns = {f"q{j}": rng.binomial(5, 0.3, rows).tolist() for j in range(attributes)}
    classes = EquivalenceClasses.from_columns(columns)
    ladders = [Hierarchy.of(domain.name, tree).ladder(domain) for domain in classes.attributes]
    return make_problem(classes, ladders, [KAnonymity(4)], suppression_limit=0.2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, nargs="*", default=[5.0, 20.0, 60.0])
    given = parser.parse_args()
    for name in CASES:
        compare(name)
    for seconds in given.seconds:
        found = search_anytime(endless(30, 200), seconds=seconds)
        assert found.best is not None
        print(
            f"30 attributes, {seconds:.0f} s: best {found.best.cost:.4f}, bound {found.bound:.4f}, gap {found.gap:.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
