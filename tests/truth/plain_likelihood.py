"""Probabilistic linkage after Fellegi and Sunter by plain loops over rows; nothing of the product is used."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from plain_attacks import Told
from plain_losses import TREES
from plain_tables import Row

Cell = str | float
Released = dict[str, Cell]

ERRORS = 0.01
"""How often a value that the release tells is near to the person's own but not it, and how often it is another one."""
CHANGED = {"equal": 0.2, "compatible": 0.2, "near": 0.5, "else": 0.1}
"""The same where values were replaced by such as nobody has."""


def random_likelihood(seed: int) -> tuple[list[Row], list[Released], tuple[str, ...]]:
    """People with age, city and job; a release with wrong values, nodes, intervals, noise and stars; what is known."""
    draw = random.Random(13_000_001 * seed + 9)
    cities, jobs = list(TREES["city"]), list(TREES["job"])
    original: list[Row] = [
        {
            "nr": at,
            "age": draw.randint(20, 45),
            "city": cities[at] if at < len(cities) else draw.choice(cities),
            "job": jobs[at] if at < len(jobs) else draw.choice(jobs),
        }
        for at in range(draw.randint(8, 25))
    ]
    noisy, wrong = draw.random() < 0.4, draw.choice([0.0, 0.1, 0.3])
    released: list[Released] = []
    for person in original:
        if released and draw.random() < 0.15:
            continue
        row: Released = {"nr": int(str(person["nr"]))}
        age = int(str(person["age"])) if draw.random() >= wrong else draw.randint(20, 45)
        row["age"] = f"{age + draw.randint(-3, 2)}.5" if noisy else shown_age(age, draw)
        for name, tree in TREES.items():
            value = str(person[name]) if draw.random() >= wrong else draw.choice(list(tree))
            row[name] = draw.choice(tree[value])
        released.append(row)
    draw.shuffle(released)
    known = draw.choice([("age", "city"), ("age", "job"), ("city", "job"), ("city",)])
    return original, released, known


def shown_age(age: int, draw: random.Random) -> str:
    low = age - age % 5
    return draw.choice([str(age), f"[{low}, {low + 4}]", "*"])


def middle(cell: Cell) -> float | None:
    """A number, or the middle of an interval; nothing for ``*``."""
    text = str(cell)
    if text.startswith("["):
        low, high = text[1:-1].split(", ")
        return (float(low) + float(high)) / 2
    return None if text == "*" else float(text)


def values_of(original: Sequence[Row], name: str, cell: Cell) -> set[object]:
    """The values of people that a cell may stand for."""
    every = {row[name] for row in original}
    if cell == "*":
        return every
    if name != "age":
        return {value for value in every if cell in TREES[name][str(value)]}
    text = str(cell)
    if text.startswith("["):
        low, high = text[1:-1].split(", ")
        return {value for value in every if float(low) <= float(str(value)) <= float(high)}
    return {value for value in every if float(str(value)) == float(text)}


def level(original: Sequence[Row], person: Row, row: Released, name: str) -> str | None:
    """How a released value agrees with the person's own; nothing where it is hidden."""
    if row[name] == "*":
        return None
    inside = values_of(original, name, row[name])
    if person[name] in inside:
        return "equal" if len(inside) == 1 else "compatible"
    return "near" if name == "age" and is_near(original, person, row) else "else"


def is_near(original: Sequence[Row], person: Row, row: Released) -> bool:
    ages = [int(str(other["age"])) for other in original]
    there = middle(row["age"])
    assert there is not None
    return abs(there - int(str(person["age"]))) / ((max(ages) - min(ages)) or 1) <= 0.1 + 1e-9


def is_compared(original: Sequence[Row], person: Row, row: Released, known: Sequence[str]) -> bool:
    """Whether some attribute agrees: the value may be the person's, or is a number that nobody has and is near."""
    for name in known:
        inside = values_of(original, name, row[name])
        if person[name] in inside or (not inside and name == "age" and is_near(original, person, row)):
            return True
    return False


def weights(original: Sequence[Row], released: Sequence[Released], name: str) -> dict[str, float]:
    """log2(m / u) of each level of an attribute."""
    levels = ["equal", "compatible", "near", "else"] if name == "age" else ["equal", "compatible", "else"]
    pairs = dict.fromkeys(levels, 0.5)
    for person in original:
        for row in released:
            agreed = level(original, person, row, name)
            if agreed is not None:
                pairs[agreed] += 1
    by_chance = {each: pairs[each] / sum(pairs.values()) for each in levels}
    told = [values_of(original, name, row[name]) for row in released if row[name] != "*"]
    single, several = sum(len(inside) == 1 for inside in told), sum(len(inside) > 1 for inside in told)
    kept = (single + several) / max(len(told), 1)
    right = max(single + several, 1)
    same = {
        "equal": (1 - 2 * ERRORS) * single / right,
        "compatible": (1 - 2 * ERRORS) * several / right,
        "near": ERRORS,
        "else": ERRORS,
    }
    often = {each: kept * same[each] + (1 - kept) * CHANGED[each] + 1e-6 for each in levels}
    total = sum(often.values())
    return {each: math.log2(often[each] / total / by_chance[each]) for each in levels}


def probabilistic_linkage(
    original: Sequence[Row], released: Sequence[Released], known: Sequence[str]
) -> Told:
    """A guess among the rows of the greatest weight; where nothing is compared nobody is guessed."""
    weight = {name: weights(original, released, name) for name in known}
    right = blind = 0.0
    for person in original:
        scored = []
        for row in released:
            if is_compared(original, person, row, known):
                agreed = {name: level(original, person, row, name) for name in known}
                scored.append((sum(weight[name][each] for name, each in agreed.items() if each), row))
        most = max((score for score, _ in scored), default=0.0)
        pool = [row for score, row in scored if score >= most - 1e-6]
        right += sum(row["nr"] == person["nr"] for row in pool) / max(len(pool), 1)
        blind += sum(row["nr"] == person["nr"] for row in released) / len(released)
    return Told(len(original), right, blind / len(original))
