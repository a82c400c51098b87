"""Attacks on a release by plain loops over rows, from their definitions; nothing of the product is used."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from plain_losses import TREES, random_pair
from plain_tables import PlainTable, Row, Value


@dataclass(frozen=True)
class PlainRelease:
    """People, the released rows of some of them in another order (``nr`` says whose), and what the intruder knows.

    ``public`` are people whom a journalist looks for, ``control`` such as are not in the release.
    """

    original: list[Row]
    released: list[Row]
    public: list[Row]
    control: list[Row]
    known: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """How many were tried, how many guesses are right (in expectation), and how often a guess without the release is."""

    tries: float
    successes: float
    baseline: float


def random_release(seed: int) -> PlainRelease:
    """A random pair whose release lacks some people and is shuffled; whom the intruder looks for and what is known."""
    draw = random.Random(1_000_003 * seed + 1)
    pair = random_pair(seed)
    pay = [draw.choice([1000, 1010, 1020, 1500, 2400, 2450]) for _ in pair.original.rows]
    original: list[Row] = [{"nr": at, **row, "pay": pay[at]} for at, row in enumerate(pair.original.rows)]
    released: list[Row] = [{"nr": at, **row, "pay": pay[at]} for at, row in enumerate(pair.released.rows)]
    kept = [row for row in released if draw.random() < 0.8] or released[:1]
    draw.shuffle(kept)

    def strangers(count: int) -> list[Row]:
        return [{name: draw.choice(list(tree)) for name, tree in TREES.items()} for _ in range(count)]

    public = [{name: row[name] for name in TREES} for row in draw.sample(original, 4)] + strangers(4)
    known = draw.choice([tuple(TREES), tuple(TREES), ("city",), ("job",)])
    return PlainRelease(original, kept, public, strangers(8), known)


KINDS = {"cold": "lungs", "flu": "lungs", "gout": "joints"}
"""What kind of thing a disease is."""


def table_of(rows: list[Row]) -> PlainTable:
    return PlainTable(rows, tuple(TREES), ("disease",))


# ── who fits whom ────────────────────────────────────────────────────────────────────────────────────


def fits(release: PlainRelease, row: Row, person: Row) -> bool:
    """Whether each known value of a released row may stand for the person's: it is on the way to the root."""
    return all(row[name] in TREES[name][str(person[name])] for name in release.known)


def shows_nothing(release: PlainRelease, row: Row) -> bool:
    return all(row[name] == "*" for name in release.known)


def candidates(release: PlainRelease, person: Row) -> tuple[list[Row], list[Row]]:
    """The released rows that fit a person, and those of them that are guessed among: such as show something, if any."""
    every = [row for row in release.released if fits(release, row, person)]
    return every, [row for row in every if not shows_nothing(release, row)] or every


def blind_guess(release: PlainRelease) -> float:
    """How often any released row, named for each person of the original, is the person's."""
    right = 0.0
    for person in release.original:
        right += sum(row["nr"] == person["nr"] for row in release.released) / len(release.released)
    return right / len(release.original)


def record_linkage(release: PlainRelease) -> Told:
    right = 0.0
    for person in release.original:
        _, pool = candidates(release, person)
        right += sum(row["nr"] == person["nr"] for row in pool) / max(len(pool), 1)
    return Told(len(release.original), right, blind_guess(release))


def singling_out(release: PlainRelease) -> tuple[Told, float]:
    """Right if one row fits and it is the person's; also the share of people whom one row fits."""
    isolated = right = 0
    for person in release.original:
        every, _ = candidates(release, person)
        isolated += len(every) == 1
        right += len(every) == 1 and every[0]["nr"] == person["nr"]
    return Told(len(release.original), right, blind_guess(release)), isolated / len(release.original)


def public_linkage(release: PlainRelease) -> Told:
    """Of F people in the public table and f in the original with equal values, any min(F, f) of the f are the same."""

    def values(person: Row) -> tuple[Value, ...]:
        return tuple(person[name] for name in release.known)

    there = Counter(values(person) for person in release.public)
    here = Counter(values(person) for person in release.original)
    right = blind = 0.0
    for person in release.original:
        same = min(there[values(person)], here[values(person)]) / here[values(person)]
        _, pool = candidates(release, person)
        right += same * sum(row["nr"] == person["nr"] for row in pool) / max(len(pool), 1)
        released = sum(row["nr"] == person["nr"] for row in release.released)
        blind += same * released / len(release.released)
    return Told(len(release.public), right, blind / len(release.public))


def worst_case(release: PlainRelease) -> Told:
    """Who holds the original, diseases included, assigns each released row to one of the people it may be."""
    right = 0.0
    for row in release.released:
        may_be = [
            person
            for person in release.original
            if person["disease"] == row["disease"]
            and all(row[name] in TREES[name][str(person[name])] for name in release.known)
        ]
        right += sum(person["nr"] == row["nr"] for person in may_be) / len(may_be)
    return Told(len(release.released), right, 1 / len(release.original))


def membership(release: PlainRelease) -> Told:
    """Says "in it" of whom a row fits that shows something; members and others count equally."""
    inside = {row["nr"] for row in release.released}

    def said(people: list[Row]) -> float:
        told = [
            any(fits(release, row, person) and not shows_nothing(release, row) for row in release.released)
            for person in people
        ]
        return sum(told) / len(told)

    members = [person for person in release.original if person["nr"] in inside]
    rate = (said(members) + 1 - said(release.control)) / 2
    tries = 2 * min(len(members), len(release.control))
    return Told(tries, rate * tries, 0.5)


# ── what classes say ─────────────────────────────────────────────────────────────────────────────────


def shown_classes(release: PlainRelease, sensitive: str = "disease") -> list[list[Value]]:
    """The sensitive values of each class that shows something of what is known."""
    groups: dict[tuple[Value, ...], list[Value]] = {}
    for row in release.released:
        if not shows_nothing(release, row):
            groups.setdefault(tuple(row[name] for name in release.known), []).append(row[sensitive])
    return list(groups.values())


def share(release: PlainRelease, disease: Value) -> float:
    return sum(row["disease"] == disease for row in release.released) / len(release.released)


def homogeneity(release: PlainRelease, certainty: float = 0.95) -> Told:
    tries = sum(map(len, shown_classes(release)))
    right = before = 0.0
    for diseases in shown_classes(release):
        guess, count = Counter(diseases).most_common(1)[0]
        if count / len(diseases) >= certainty:
            right += count
            before += len(diseases) * share(release, guess)
    return Told(tries, right, before / tries if tries else 0.0)


def skewness(release: PlainRelease, factor: float = 2.0, level: float = 1 / 3) -> Told:
    tries = sum(map(len, shown_classes(release)))
    right = before = 0.0
    for diseases in shown_classes(release):
        counts = Counter(diseases)
        strong = [
            (-count, str(disease))
            for disease, count in counts.items()
            if count / len(diseases) >= level - 1e-12
            and count / len(diseases) >= factor * share(release, disease) - 1e-12
        ]
        if strong:
            count, disease = min(strong)
            right -= count
            before += len(diseases) * share(release, disease)
    return Told(tries, right, before / tries if tries else 0.0)


def background_knowledge(release: PlainRelease, certainty: float = 0.95) -> Told:
    """Of each person the most frequent disease of the class that the person does not have is struck out."""
    tries = sum(map(len, shown_classes(release)))
    right = before = 0.0
    for diseases in shown_classes(release):
        ranked = sorted(Counter(diseases).items(), key=lambda pair: (-pair[1], str(pair[0])))
        for own in diseases:
            struck = next((disease for disease, _ in ranked if disease != own), None)
            left = [disease for disease in diseases if disease != struck]
            guess = next(disease for disease, _ in ranked if disease != struck)
            if left.count(guess) / len(left) >= certainty:
                right += guess == own
                gone = 0.0 if struck is None else share(release, struck)
                before += share(release, guess) / (1 - gone)
    return Told(tries, right, before / tries if tries else 0.0)


def similarity(release: PlainRelease, certainty: float = 0.95) -> Told:
    """The kind of disease that nearly all of a class have."""
    tries = sum(map(len, shown_classes(release)))
    right = before = 0.0
    for diseases in shown_classes(release):
        kind, count = Counter(KINDS[str(disease)] for disease in diseases).most_common(1)[0]
        if count / len(diseases) >= certainty:
            right += count
            everywhere = sum(KINDS[str(row["disease"])] == kind for row in release.released)
            before += len(diseases) * everywhere / len(release.released)
    return Told(tries, right, before / tries if tries else 0.0)


def proximity(release: PlainRelease, certainty: float = 0.95) -> Told:
    """A number that nearly all pays of a class are near to, within a twentieth of the range of all."""
    every = [float(str(row["pay"])) for row in release.released]
    near = 0.05 * (max(every) - min(every))
    tries = right = 0
    before = 0.0
    for pays in shown_classes(release, "pay"):
        numbers = sorted(float(str(pay)) for pay in pays)
        windows = [[other for other in numbers if number <= other <= number + 2 * near] for number in numbers]
        best = max(windows, key=len)
        tries += len(numbers)
        if len(best) / len(numbers) >= certainty:
            guess = (best[0] + best[-1]) / 2
            right += sum(abs(number - guess) <= near + 1e-9 for number in numbers)
            before += len(numbers) * sum(abs(number - guess) <= near + 1e-9 for number in every) / len(every)
    return Told(tries, right, before / tries if tries else 0.0)


# ── where values were changed ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PlainNoise:
    """People with age and town; in the release of some of them ages are noised and some towns are wrong."""

    original: list[Row]
    released: list[dict[str, float | int | str]]


def random_noise(seed: int) -> PlainNoise:
    draw = random.Random(7_000_003 * seed + 5)
    towns = ["Aachen", "Bonn", "Celle"]
    original: list[Row] = [
        {"nr": at, "age": draw.randint(20, 40), "town": draw.choice(towns)}
        for at in range(draw.randint(6, 25))
    ]
    released: list[dict[str, float | int | str]] = []
    for person in original:
        if draw.random() < 0.8 or not released:
            town = str(person["town"]) if draw.random() < 0.8 else draw.choice(towns)
            age = int(str(person["age"])) + draw.randint(-3, 2) + 0.5
            released.append({"nr": int(str(person["nr"])), "age": age, "town": town})
    draw.shuffle(released)
    return PlainNoise(original, released)


def distance_linkage(noise: PlainNoise) -> tuple[Told, Told]:
    """A guess among the nearest rows, and the people whom one row is nearest to, and it is theirs."""
    ages = [int(str(person["age"])) for person in noise.original]
    width = (max(ages) - min(ages)) or 1
    right, alone, blind = 0.0, 0, 0.0
    for person in noise.original:
        distance = [
            abs(float(row["age"]) - int(str(person["age"]))) / width + (row["town"] != person["town"])
            for row in noise.released
        ]
        nearest = [
            row for row, far in zip(noise.released, distance, strict=True) if far <= min(distance) + 1e-9
        ]
        mine = sum(row["nr"] == person["nr"] for row in nearest)
        right += mine / len(nearest)
        alone += len(nearest) == 1 and mine == 1
        blind += sum(row["nr"] == person["nr"] for row in noise.released) / len(noise.released)
    people = len(noise.original)
    return Told(people, right, blind / people), Told(people, alone, blind / people)
