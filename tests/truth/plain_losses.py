"""Losses of a release by plain loops over rows, from the definitions in the papers; nothing of the product is used."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from plain_models import classes_of, shares
from plain_tables import PlainTable, Row, Value

Tree = dict[str, list[str]]
"""From a leaf to its path up to the root, the leaf first."""

TREES: dict[str, Tree] = {
    "city": {
        "Aachen": ["Aachen", "west", "*"],
        "Bonn": ["Bonn", "west", "*"],
        "Celle": ["Celle", "north", "*"],
        "Dresden": ["Dresden", "east", "*"],
        "Erfurt": ["Erfurt", "east", "*"],
    },
    "job": {
        "cook": ["cook", "service", "work", "*"],
        "clerk": ["clerk", "office", "work", "*"],
        "nurse": ["nurse", "service", "work", "*"],
        "pupil": ["pupil", "school", "none", "*"],
        "senior": ["senior", "retired", "none", "*"],
    },
}


@dataclass(frozen=True)
class PlainPair:
    """An original and its release, row by row: a suppressed row shows ``*`` everywhere."""

    original: PlainTable
    released: PlainTable
    levels: dict[str, int]

    @property
    def shown(self) -> PlainTable:
        rows = [row for row in self.released.rows if not suppressed(row)]
        return PlainTable(rows, self.released.quasi_identifiers, self.released.sensitive)


def suppressed(row: Row) -> bool:
    return all(row[name] == "*" for name in TREES)


def random_pair(seed: int) -> PlainPair:
    """A table in which every leaf occurs, one level per attribute (not both at the top), some rows suppressed."""
    draw = random.Random(seed)
    leaves = {name: list(tree) for name, tree in TREES.items()}
    rows: list[Row] = [
        {
            "city": leaves["city"][at] if at < 5 else draw.choice(leaves["city"]),
            "job": leaves["job"][at] if at < 5 else draw.choice(leaves["job"]),
            "disease": draw.choice(["cold", "cold", "flu", "gout"]),
        }
        for at in range(draw.randint(6, 30))
    ]
    draw.shuffle(rows)
    levels = {"city": draw.randint(0, 2), "job": draw.randint(0, 2)}
    released = []
    for row in rows:
        cells = {name: TREES[name][str(row[name])][level] for name, level in levels.items()}
        if draw.random() < 0.15 and len(released) < len(rows) - 1:
            cells = dict.fromkeys(TREES, "*")
        released.append({**row, **cells})
    if all(suppressed(row) for row in released):
        released[0] |= {name: TREES[name][str(rows[0][name])][level] for name, level in levels.items()}
    names = tuple(TREES)
    return PlainPair(PlainTable(rows, names, ("disease",)), PlainTable(released, names, ("disease",)), levels)


CITIES = ("Aachen", "Bonn", "Celle", "Dresden", "Erfurt")


def random_sets(seed: int) -> tuple[list[Row], list[Row]]:
    """Cities shown as sets of any cities and ages as intervals between any bounds; some rows show nothing."""
    draw = random.Random(seed)
    rows: list[Row] = [
        {"city": CITIES[at] if at < len(CITIES) else draw.choice(CITIES), "age": draw.randint(20, 60)}
        for at in range(draw.randint(8, 25))
    ]
    group = {city: draw.randint(0, 2) for city in CITIES}
    cuts = sorted({20, *draw.sample(range(21, 60), draw.randint(0, 4)), 61})
    released = []
    for at, row in enumerate(rows):
        members = [city for city in CITIES if group[city] == group[str(row["city"])]]
        low, high = next((a, b - 1) for a, b in pairwise(cuts) if a <= int(str(row["age"])) < b)
        shown: Row = {
            "city": members[0] if len(members) == 1 else f"{{{', '.join(members)}}}",
            "age": str(low) if low == high else f"[{low}, {high}]",
        }
        released.append(dict.fromkeys(row, "*") if at and draw.random() < 0.15 else shown)
    return rows, released


def may_be(rows: Sequence[Row], name: str, label: Value) -> list[Value]:
    """The values of the original that a set, an interval or ``*`` may stand for."""
    values = sorted({row[name] for row in rows}, key=str)
    text = str(label)
    if text == "*":
        return values
    if text.startswith("["):
        low, high = (int(end) for end in text.strip("[]").split(", "))
        return [value for value in values if low <= int(str(value)) <= high]
    return [value for value in values if str(value) in text.strip("{}").split(", ")]


def mean_share(
    rows: Sequence[Row], released: Sequence[Row], cost: Callable[[int, int, bool], float]
) -> float:
    """The mean over cells of a cost of (values it may be, values there are, whether it shows nothing).

    A cell shows nothing if it may be any value, however it is written.
    """
    costs = []
    for after in released:
        for name in ("city", "age"):
            possible, values = len(may_be(rows, name, after[name])), len({row[name] for row in rows})
            costs.append(cost(possible, values, possible == values > 1))
    return fmean(costs)


def interval_width(rows: Sequence[Row], released: Sequence[Row]) -> float:
    """The mean of (upper - lower) / (max - min) of the ages, at most 1; 1 where nothing is shown."""
    ages = [int(str(row["age"])) for row in rows]

    def width(label: str) -> float:
        if label == "*":
            return 1.0
        low, high = (int(end) for end in label.strip("[]").split(", ")) if "," in label else (0, 0)
        return min((high - low) / (max(ages) - min(ages)), 1.0)

    return fmean(width(str(row["age"])) for row in released)


# ── cells ────────────────────────────────────────────────────────────────────────────────────────────


def under(name: str, label: Value) -> list[str]:
    """The leaves that a released value may stand for."""
    return [leaf for leaf, path in TREES[name].items() if label in path]


def level_of(name: str, label: Value) -> int:
    return min(path.index(str(label)) for path in TREES[name].values() if label in path)


def cells(pair: PlainPair) -> Iterable[tuple[str, Value, Value]]:
    """Attribute, true value and released value of every cell."""
    for before, after in zip(pair.original.rows, pair.released.rows, strict=True):
        for name in TREES:
            yield name, before[name], after[name]


def mean_over_cells(pair: PlainPair, loss: Callable[[str, Value], float]) -> float:
    """The mean over attributes of the mean over records."""
    return fmean(loss(name, after) for name, _, after in cells(pair))


def leaf_loss(pair: PlainPair) -> float:
    return mean_over_cells(pair, lambda name, label: (len(under(name, label)) - 1) / (len(TREES[name]) - 1))


def height_loss(pair: PlainPair) -> float:
    def share(name: str, label: Value) -> float:
        return level_of(name, label) / (len(next(iter(TREES[name].values()))) - 1)

    return mean_over_cells(pair, share)


def certainty_penalty(pair: PlainPair) -> float:
    def penalty(name: str, label: Value) -> float:
        leaves = len(under(name, label))
        return 0.0 if leaves == 1 else leaves / len(TREES[name])

    return mean_over_cells(pair, penalty)


def iloss(pair: PlainPair) -> float:
    def share(name: str, label: Value) -> float:
        leaves = len(under(name, label))
        return 1.0 if label == "*" else (leaves - 1) / len(TREES[name])

    return mean_over_cells(pair, share)


def minimal_distortion(pair: PlainPair) -> float:
    return float(sum(level_of(name, after) for name, _, after in cells(pair)))


def generalised_cells(pair: PlainPair) -> float:
    return float(sum(after != before for _, before, after in cells(pair)))


def ambiguity(pair: PlainPair) -> float:
    return fmean(math.prod(len(under(name, row[name])) for name in TREES) for row in pair.released.rows)


def entropy_information_loss(pair: PlainPair) -> float:
    lost = sum(math.log2(len(under(name, after))) for name, _, after in cells(pair))
    return lost / sum(math.log2(len(TREES[name])) for name, _, _ in cells(pair))


# ── entropies ────────────────────────────────────────────────────────────────────────────────────────


def entropy(probabilities: Iterable[float]) -> float:
    return -sum(p * math.log2(p) for p in probabilities if p > 0)


def _probabilities(pair: PlainPair) -> dict[str, Counter[Value]]:
    return {name: Counter(row[name] for row in pair.original.rows) for name in TREES}


def _given(counts: Counter[Value], leaves: Sequence[str]) -> list[float]:
    total = sum(counts[leaf] for leaf in leaves)
    return [counts[leaf] / total for leaf in leaves]


def conditional_entropy(pair: PlainPair) -> float:
    counts = _probabilities(pair)
    return sum(entropy(_given(counts[name], under(name, after))) for name, _, after in cells(pair))


def monotone_entropy(pair: PlainPair) -> float:
    counts = _probabilities(pair)
    total = 0.0
    for name, _, after in cells(pair):
        leaves = under(name, after)
        weight = sum(counts[name][leaf] for leaf in leaves) / len(pair.original.rows)
        total += weight * entropy(_given(counts[name], leaves))
    return total


def non_uniform_entropy(pair: PlainPair) -> float:
    counts = _probabilities(pair)
    total = 0.0
    for name, before, after in cells(pair):
        leaves = under(name, after)
        total -= math.log2(counts[name][before] / sum(counts[name][leaf] for leaf in leaves))
    return total


def total_entropy(pair: PlainPair) -> float:
    """What a release that shows nothing costs: records times the sum of H(X)."""
    rows = len(pair.original.rows)
    return rows * sum(
        entropy(count / rows for count in counts.values()) for counts in _probabilities(pair).values()
    )


# ── structure ────────────────────────────────────────────────────────────────────────────────────────


def suppression_ratio(pair: PlainPair) -> float:
    return 1 - len(pair.shown.rows) / len(pair.original.rows)


def average_class_size(pair: PlainPair) -> float:
    return len(pair.shown.rows) / len(classes_of(pair.shown))


def normalised_average_class_size(pair: PlainPair) -> float:
    sizes = [len(rows) for rows in classes_of(pair.shown)]
    groups = len(sizes) + (len(pair.shown.rows) < len(pair.original.rows))
    return len(pair.original.rows) / (groups * min(sizes))


def discernibility(pair: PlainPair) -> float:
    rows = len(pair.original.rows)
    return float(
        sum(len(group) ** 2 for group in classes_of(pair.shown)) + (rows - len(pair.shown.rows)) * rows
    )


def normalised_discernibility(pair: PlainPair) -> float:
    rows = len(pair.original.rows)
    least = sum(len(group) ** 2 for group in classes_of(pair.original))
    return (discernibility(pair) - least) / (rows**2 - least)


# ── what an intruder gains ───────────────────────────────────────────────────────────────────────────


def _per_class(pair: PlainPair) -> Iterable[tuple[int, dict[Value, float], dict[Value, float]]]:
    """Size and distribution of every released class, suppressed rows being one, and that of the table."""
    whole = shares(pair.released.rows, "disease")
    for rows in classes_of(pair.released):
        yield len(rows), shares(rows, "disease"), whole


def knowledge_gain_additive(pair: PlainPair) -> float:
    total = sum(
        size * sum(abs(part.get(value, 0.0) - whole[value]) for value in whole) / 2
        for size, part, whole in _per_class(pair)
    )
    return total / len(pair.released.rows)


def knowledge_gain_multiplicative(pair: PlainPair) -> float:
    total = sum(
        size * sum(abs(math.log(q / whole[value])) for value, q in part.items())
        for size, part, whole in _per_class(pair)
    )
    return total / len(pair.released.rows)


def accuracy_gain(pair: PlainPair) -> float:
    right = sum(size * max(part.values()) for size, part, _ in _per_class(pair)) / len(pair.released.rows)
    return right - max(shares(pair.released.rows, "disease").values())


def min_entropy_leakage(pair: PlainPair) -> float:
    right = sum(size * max(part.values()) for size, part, _ in _per_class(pair)) / len(pair.released.rows)
    return math.log2(right / max(shares(pair.released.rows, "disease").values()))


def worst_case_privacy_loss(pair: PlainPair) -> float:
    def divergence(p: dict[Value, float], m: dict[Value, float]) -> float:
        return sum(share * math.log2(share / m[value]) for value, share in p.items())

    worst = 0.0
    for _, part, whole in _per_class(pair):
        middle = {value: (part.get(value, 0.0) + share) / 2 for value, share in whole.items()}
        worst = max(worst, (divergence(part, middle) + divergence(whole, middle)) / 2)
    return worst


# ── distributions ────────────────────────────────────────────────────────────────────────────────────


def spread(pair: PlainPair, name: str) -> tuple[dict[str, float], dict[str, float]]:
    """The distribution of an attribute, and that of the release with every value spread evenly over its leaves."""
    before = dict.fromkeys(TREES[name], 0.0)
    after = dict.fromkeys(TREES[name], 0.0)
    for attribute, true, label in cells(pair):
        if attribute == name:
            before[str(true)] += 1 / len(pair.original.rows)
            leaves = under(name, label)
            for leaf in leaves:
                after[leaf] += 1 / len(leaves) / len(pair.released.rows)
    return before, after


def total_variation(pair: PlainPair, name: str) -> float:
    before, after = spread(pair, name)
    return sum(abs(before[leaf] - after[leaf]) for leaf in before) / 2


def hellinger(pair: PlainPair, name: str) -> float:
    before, after = spread(pair, name)
    return math.sqrt(sum((math.sqrt(before[leaf]) - math.sqrt(after[leaf])) ** 2 for leaf in before) / 2)


def js_divergence(pair: PlainPair, name: str) -> float:
    before, after = spread(pair, name)
    total = 0.0
    for leaf in before:
        middle = (before[leaf] + after[leaf]) / 2
        total += sum(p * math.log2(p / middle) / 2 for p in (before[leaf], after[leaf]) if p > 0)
    return total


def joint_kl_divergence(pair: PlainPair) -> float:
    """The mean over records of log2 of their combination's share over what their released class says of it."""
    true = Counter(tuple(row[name] for name in TREES) for row in pair.original.rows)
    sizes = Counter(tuple(row[name] for name in TREES) for row in pair.released.rows)
    total = 0.0
    for before, after in zip(pair.original.rows, pair.released.rows, strict=True):
        labels = tuple(after[name] for name in TREES)
        volume = math.prod(len(under(name, after[name])) for name in TREES)
        total += math.log2(true[tuple(before[name] for name in TREES)] / (sizes[labels] / volume))
    return total / len(pair.original.rows)
