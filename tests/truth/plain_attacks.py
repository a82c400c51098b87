"""Attacks on a release by plain loops over rows, from their definitions; nothing of the product is used."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import permutations

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


# ── what several rows of a person have in common ─────────────────────────────────────────────────────


@dataclass(frozen=True)
class PlainVisits:
    """People who were in several places, each row generalised along the trees; some people are left out."""

    original: list[Row]
    released: list[Row]


def random_visits(seed: int) -> PlainVisits:
    draw = random.Random(3_000_017 * seed + 11)
    leaves = {name: list(tree) for name, tree in TREES.items()}
    levels = {name: draw.randint(0, 2) for name in TREES}
    original: list[Row] = []
    released: list[Row] = []
    for person in range(draw.randint(3, 10)):
        mine = {name: draw.choice(leaves[name]) for name in TREES}
        left_out = person > 0 and draw.random() < 0.2
        for _ in range(draw.randint(1, 4)):
            moved = {name: draw.choice(leaves[name]) if draw.random() < 0.2 else mine[name] for name in TREES}
            row: Row = {"nr": len(original), "person": person, **moved, "place": draw.choice("ssshhwxyz")}
            original.append(row)
            cells = {name: TREES[name][moved[name]][level] for name, level in levels.items()}
            if draw.random() < 0.1:
                cells = dict.fromkeys(TREES, "*")
            if not left_out:
                released.append({**row, **cells})
    return PlainVisits(original, released)


def areas_of_interest(visits: PlainVisits) -> tuple[Told, float]:
    """What all have in common who may be a person; also the mean share of a person's places that is found."""

    def places(rows: list[Row], person: Value) -> set[Value]:
        return {row["place"] for row in rows if row["person"] == person}

    shown = [row for row in visits.released if any(row[name] != "*" for name in TREES)] or visits.released
    people = sorted({int(str(row["person"])) for row in visits.original})
    own = {person: places(visits.original, person) for person in people}
    right = before = recall = 0.0
    for person in people:
        candidates: set[Value] | None = None
        for row in visits.original:
            if row["person"] == person:
                alike = {
                    other["person"]
                    for other in shown
                    if all(other[name] in TREES[name][str(row[name])] for name in TREES)
                }
                if alike:
                    candidates = alike if candidates is None else candidates & alike
        guess = (
            set.intersection(*(places(visits.released, other) for other in candidates))
            if candidates
            else set()
        )
        right += bool(guess & own[person])
        recall += len(guess & own[person]) / len(own[person])
        before += sum(bool(guess & own[other]) for other in people) / len(people)
    return Told(len(people), right, before / len(people)), recall / len(people)


# ── what a finer release would have violated ─────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PlainLevels:
    """People, and the levels of the trees on which all of them are released."""

    original: list[Row]
    levels: dict[str, int]

    def shown(self, row: Row, levels: dict[str, int]) -> tuple[str, ...]:
        return tuple(TREES[name][str(row[name])][level] for name, level in levels.items())


def random_levels(seed: int) -> PlainLevels:
    """Mostly such as have two diseases in every class: otherwise a finer release violates whatever the values are."""
    draw = random.Random(5_000_011 * seed + 7)
    while True:
        towns, jobs = draw.sample(list(TREES["city"]), 3), draw.sample(list(TREES["job"]), 2)
        rows: list[Row] = [
            {
                "city": draw.choice(towns),
                "job": draw.choice(jobs),
                "disease": draw.choice(["cold", "cold", "cold", "flu", "gout"]),
            }
            for _ in range(draw.randint(4, 8))
        ]
        levels = {name: draw.randint(0, len(next(iter(tree.values()))) - 1) for name, tree in TREES.items()}
        release = PlainLevels(rows, levels)
        shown = [release.shown(row, levels) for row in rows]
        diverse = _diverse(tuple(str(row["disease"]) for row in rows), shown, 2)
        if any(levels.values()) and (diverse or draw.random() < 0.02):
            return release


def minimality(release: PlainLevels, diversity: int = 2) -> tuple[Told, float, int]:
    """Whoever knows that every class one level finer, in one attribute, would not have had two diseases each.

    All ways to hand out the diseases of a class among its people are equally likely; those remain in which some finer
    class of the table violates. Named is the disease that an attribute makes surest, if it is surer than the class.
    Also the greatest chance of those of whom more is known than by their class, and how many they are.
    """
    classes: dict[tuple[str, ...], list[int]] = {}
    for at, row in enumerate(release.original):
        classes.setdefault(release.shown(row, release.levels), []).append(at)
    diseases = [str(row["disease"]) for row in release.original]
    plain: dict[int, str] = {}
    sure: dict[int, float] = {}
    for people in classes.values():
        counts = Counter(diseases[at] for at in people)
        best = min(counts, key=lambda disease: (-counts[disease], disease))
        plain |= dict.fromkeys(people, best)
        sure |= dict.fromkeys(people, counts[best] / len(people))
    guess = dict(plain)
    narrowed: set[int] = set()
    for name, level in release.levels.items():
        if level == 0:
            continue
        finer = {**release.levels, name: level - 1}
        parts = [release.shown(row, finer) for row in release.original]
        ways = {key: list(permutations([diseases[at] for at in people])) for key, people in classes.items()}
        fine = {
            key: [way for way in ways[key] if _diverse(way, [parts[at] for at in people], diversity)]
            for key, people in classes.items()
        }
        for key, people in classes.items():
            others = 1.0
            for other in classes:
                others *= 1.0 if other == key else len(fine[other]) / len(ways[other])
            violated = 1 - others * len(fine[key]) / len(ways[key])
            if violated < 1e-12:
                continue
            for place, at in enumerate(people):
                chances = {}
                for disease in sorted({diseases[member] for member in people}):
                    prior = sum(way[place] == disease for way in ways[key]) / len(ways[key])
                    without = others * sum(way[place] == disease for way in fine[key]) / len(ways[key])
                    chances[disease] = (prior - without) / violated
                best = max(
                    chances, key=lambda disease: (round(chances[disease], 12), [-ord(c) for c in disease])
                )
                share = sum(diseases[member] == best for member in people) / len(people)
                if chances[best] > sure[at] + 1e-9 and chances[best] > share + 1e-9:
                    guess[at], sure[at] = best, chances[best]
                    narrowed.add(at)
    people = len(diseases)
    right, before = (sum(told[at] == diseases[at] for at in range(people)) for told in (guess, plain))
    surest = max((sure[at] for at in narrowed), default=0.0)
    return Told(people, right, before / people), surest, len(narrowed)


def _diverse(way: tuple[str, ...], parts: list[tuple[str, ...]], diversity: int) -> bool:
    """Whether every part has so many diseases."""
    return all(
        len({disease for disease, here in zip(way, parts, strict=True) if here == part}) >= diversity
        for part in set(parts)
    )


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
