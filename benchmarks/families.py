"""Which family loses least at the same exposure? `python benchmarks/families.py` tries them on Adult.

Every method is made as strong as it must be for the better of the intruders who look for a record to succeed no more often than
``--exposure``; steps are attacked by one who knows the method, too. Then it is asked what was lost, on ``--draws`` other draws. `--million` times each step on a million rows,
`--frontier FILE.svg` draws all families at several strengths: how many people are found against the error of counts.
Adult lies in the folder that DISCREET_DATA names (or beside the checkout).
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import discreet
from discreet.files.writing import write_text
from discreet.perturb.base import Perturbation
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import STEPS, make_step
from discreet.release.perturb import perturbed
from discreet.reports.charts.points import risk_against_loss
from tables import ADULT_COLUMNS, DATA

ADULT = DATA / "adult"
NUMBERS = ("age", "education-num", "hours-per-week")
CATEGORIES = ("sex", "race", "marital-status")
LINKAGE = ("record-linkage", "mechanism-linkage")
LOSSES = ("spearman-change", "cramers-v-change", "count-error-median", "average-error-median")
CHOSEN_BY = 1
"""The seed of the draw by which strengths are chosen."""
SIZES = (2, 3, 5, 10, 20, 50)
STRENGTHS = (5.0, 10.0, 20.0, 40.0, 70.0)
"""What the picture of all families shows of each."""
ROUNDS = 6
"""So often the strength is halved in: to a 64th of the scale."""

Steps = Callable[[float], list[Perturbation]]


def by(numbers: str, categories: str) -> Steps:
    """Steps of one strength, from 0 to 100, on numbers and on categories."""

    def steps(strength: float) -> list[Perturbation]:
        drawn = {"pram": {"keep": 1 - strength / 100}}.get(categories, {"percent": strength})
        return [
            make_step({"method": numbers, "columns": NUMBERS, "percent": strength}),
            make_step({"method": categories, "columns": CATEGORIES, **drawn}),
        ]

    return steps


FAMILIES: dict[str, Steps] = {
    "rank swapping, random swapping": by("rank-swap", "random-swap"),
    "additive noise, PRAM": by("additive-noise", "pram"),
    "correlated noise, PRAM": by("correlated-noise", "pram"),
    "multiplicative noise, PRAM": by("multiplicative-noise", "pram"),
    "condensation, PRAM": lambda strength: [
        make_step({"method": "condensation", "columns": NUMBERS, "k": max(2, round(strength))}),
        make_step({"method": "pram", "columns": CATEGORIES, "keep": 1 - strength / 100}),
    ],
    "artificial records by trees": lambda strength: [
        make_step(
            {"method": "synthetic-trees", "columns": (*NUMBERS, *CATEGORIES), "leaf": 1 + round(strength)}
        )
    ],
    "artificial records by regressions": lambda strength: [
        make_step({"method": "synthetic-chain", "columns": (*NUMBERS, *CATEGORIES)})
    ],
    "artificial records by a copula": lambda strength: [
        make_step({"method": "synthetic-copula", "columns": (*NUMBERS, *CATEGORIES)})
    ],
}


def policy() -> discreet.Policy:
    return discreet.Policy.of(
        quasi_identifiers=[*NUMBERS, *CATEGORIES],
        sensitive=["occupation", "income"],
        profile="research-partner-3",
    )


def found(rows: pa.Table, release: object, asked: discreet.Policy, links: object) -> float:
    """How many people the better of the intruders finds."""
    results = discreet.attack(release, asked, original=rows, links=links, attacks=LINKAGE).results
    return max(result.rate for result in results)


def by_steps(rows: pa.Table, steps: Steps, target: float) -> tuple[str, discreet.Policy, float]:
    """The weakest steps that keep to the target on one draw, and how long they took."""
    table, low, high = discreet.read(rows), 0.0, 100.0
    best = None
    for _ in range(ROUNDS):
        strength = (low + high) / 2
        asked = policy().perturbed_by(*steps(strength))
        start = time.perf_counter()
        made = perturbed(table, asked, seed=CHOSEN_BY, say=lambda _: None).table
        seconds = time.perf_counter() - start
        if found(rows, made, asked, np.arange(rows.num_rows)) <= target:
            high, best = strength, (f"{strength:.1f} %", asked, seconds)
        else:
            low = strength
    if best is None:
        raise SystemExit("no strength keeps to this exposure: allow more")
    return best


def by_generalisation(rows: pa.Table, method: str, target: float) -> tuple[str, discreet.Release, float]:
    """The release with the smallest k that keeps to the target."""
    low, high, best = 1, 64, None
    while high - low > 1:
        k = (low + high) // 2
        start = time.perf_counter()
        release = discreet.anonymize(
            rows,
            policy().require(discreet.KAnonymity(k)),
            plan=discreet.Plan(method=method, shape="free", seconds=10),  # type: ignore[arg-type]
        )
        seconds = time.perf_counter() - start
        if found(rows, release, policy(), None) <= target:
            high, best = k, (f"k = {k}", release, seconds)
        else:
            low = k
    if best is None:
        raise SystemExit("no k keeps to this exposure: allow more")
    return best


def figures(rows: pa.Table, release: object, asked: discreet.Policy) -> list[float]:
    """How many people are found, the losses, and what a classifier of income keeps."""
    links = None if isinstance(release, discreet.Release) else np.arange(rows.num_rows)
    lost = discreet.compare(rows, release, asked, links=links, labels=["income"], queries=500)
    measured = [lost.losses.measure(name) for name in LOSSES]
    learned = lost.efficacy[-1].relative() if lost.efficacy else float("nan")
    losses = [float("nan") if figure is None else figure.value for figure in measured]
    return [found(rows, release, asked, links), *losses, learned]


def line(title: str, told: str, drawn: list[list[float]], seconds: float) -> str:
    """One line of the table: each figure as the mean of all draws, with the lowest and the highest."""
    cells = [
        f"{np.mean(each):.3f}" + (f" ({min(each):.3f}–{max(each):.3f})" if len(each) > 1 else "")
        for each in zip(*drawn, strict=True)
    ]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return f"| {title} | {told} | {' | '.join(cells)} | {seconds:.1f} | {memory:.2f} |"


def compare_families(count: int, target: float, draws: int) -> None:
    table = discreet.read(ADULT / "adult.data.gz", header=False, names=ADULT_COLUMNS)
    rows = table.to_arrow().slice(0, count)
    print(f"Adult, the first {rows.num_rows:,} rows, exposure of at most {target:.0%}, {draws} draws\n")
    print(f"| family | strength | found | {' | '.join(LOSSES)} | efficacy | seconds | GiB |")
    print("|---" * (len(LOSSES) + 6) + "|")
    for method in ("mondrian", "microaggregation"):
        told, release, seconds = by_generalisation(rows, method, target)
        print(line(method, told, [figures(rows, release, policy())], seconds), flush=True)
    for title, steps in FAMILIES.items():
        told, asked, seconds = by_steps(rows, steps, target)
        # Other draws than the one that chose the strength: on that one it looks better than it is.
        fresh = [
            perturbed(discreet.read(rows), asked, seed=seed, say=lambda _: None).table
            for seed in range(CHOSEN_BY + 1, CHOSEN_BY + 1 + draws)
        ]
        print(line(title, told, [figures(rows, made, asked) for made in fresh], seconds), flush=True)


def draw_frontier(count: int, target: Path) -> None:
    """Every family at several strengths: people found against the median error of counts."""
    rows = (
        discreet.read(ADULT / "adult.data.gz", header=False, names=ADULT_COLUMNS).to_arrow().slice(0, count)
    )
    tried: list[tuple[str, float, float]] = []

    def told(name: str, release: object, asked: discreet.Policy) -> None:
        found_share, _, _, error, *_ = figures(rows, release, asked)
        tried.append((name, error, found_share))
        print(f"| {name} | {found_share:.3f} | {error:.3f} |", flush=True)

    print("| family | found | count-error-median |\n|---|---|---|")
    for method in ("mondrian", "microaggregation"):
        for k in SIZES:
            plan = discreet.Plan(method=method, shape="free", seconds=10)  # type: ignore[arg-type]
            told(
                f"{method}, k = {k}",
                discreet.anonymize(rows, policy().require(discreet.KAnonymity(k)), plan=plan),
                policy(),
            )
    for title, steps in FAMILIES.items():
        for strength in STRENGTHS[:1] if title.endswith(("copula", "regressions")) else STRENGTHS:
            asked = policy().perturbed_by(*steps(strength))
            made = perturbed(discreet.read(rows), asked, seed=CHOSEN_BY, say=lambda _: None).table
            told(f"{title}, {strength:g} %", made, asked)
    best = [
        not any(a <= error and b <= found_share and (a, b) != (error, found_share) for _, a, b in tried)
        for _, error, found_share in tried
    ]
    drawing = risk_against_loss(
        [
            {"name": name if top else "", "loss": error, "risk": found_share, "best": top, "shape": "circle"}
            for (name, error, found_share), top in zip(tried, best, strict=True)
        ],
        nothing="nothing was tried",
        heading=("All families on one frontier", "Filled and joined: no other is better in both."),
        axes=("median error of counts", "people found"),
    )
    write_text(target, drawing.standalone(title="People found against the error of counts, by family"))


def time_steps(count: int, chosen: list[str]) -> None:
    """Seconds of processor time of each step on many rows."""
    rng = np.random.default_rng(1)
    rows = pa.table(
        {
            "x": rng.normal(50_000, 20_000, count).round(2),
            "y": rng.integers(0, 100, count),
            "job": rng.choice(list("abcdefgh"), count),
            "day": pa.array(rng.integers(10_000, 20_000, count), pa.int32()).cast(pa.date32()),
            "lat": rng.normal(50.0, 1.0, count),
            "lon": rng.normal(10.0, 1.0, count),
            "who": rng.integers(0, count // 3, count),
            "mail": pc.binary_join_element_wise(
                pa.array(rng.integers(0, count, count)).cast(pa.string()),
                pa.array(rng.choice(["a.org", "b.org", "c.org"], count)),
                "@",
            ),
        }
    )
    given: dict[str, dict[str, object]] = {
        "pram": {"columns": ["job"], "epsilon": 2.0},
        "top-bottom-coding": {"top": 90.0},
        "correlated-noise": {"columns": ["x", "y"]},
        "date-shift": {"columns": ["day"], "person": "who"},
        "targeted-swap": {"columns": ["job"], "known": ["y", "x"]},
        "shuffling": {"given": ["y"]},
        "condensation": {"columns": ["x", "y"]},
        "svd": {"columns": ["x", "y"], "rank": 1},
        "joint-pram": {"columns": ["job", "y"], "clusters": 1, "epsilon": 2.0},
        "discretise": {"width": 1000},
        "encoded-part": {"columns": ["mail"], "kind": "email", "part": "domain"},
        "stand-ins": {"columns": ["mail"], "kind": "name"},
        "slicing": {"columns": ["job"], "sensitive": "job", "slices": 1, "beside": ["x", "y"]},
        "synthetic-trees": {"columns": ["x", "job"], "given": ["y"]},
        "synthetic-chain": {"columns": ["x", "job"], "given": ["y"]},
        "synthetic-copula": {"columns": ["x", "job"], "given": ["y"]},
        "position-grid": {"columns": ["lat", "lon"]},
        "synthetic-table": {"columns": ["x", "job"], "given": ["y"]},
    }
    print(f"{count:,} rows\n\n| step | seconds |\n|---|---|")
    for name in chosen or STEPS:
        step = make_step({"method": name, "columns": ["x"], **given.get(name, {})})
        start = time.process_time()
        new = step.changed(rows, Randomness(1))
        made = time.process_time() - start
        told = step.complaint(rows, pa.table(new), np.arange(count))
        assert not told, told
        print(f"| {name} | {made:.1f} (checked in {time.process_time() - start - made:.1f}) |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=32_561)
    parser.add_argument("--exposure", type=float, default=0.05)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--steps", nargs="*", default=[], help="with --million: only these")
    parser.add_argument("--frontier", type=Path)
    chosen = parser.parse_args()
    if chosen.frontier is not None:
        draw_frontier(chosen.rows, chosen.frontier)
    elif chosen.million:
        time_steps(1_000_000, chosen.steps)
    else:
        compare_families(chosen.rows, chosen.exposure, chosen.draws)
