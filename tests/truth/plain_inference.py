"""Attribute inference with naive Bayes by plain loops, from its definition; nothing of the product is used.

Everybody's row is known (or that there is none). ``q`` is a person's combination of known values, ``c`` the class of the
released row, ``s`` a disease; ``None`` is the class of those who are not released.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
from plain_attacks import PlainRelease, Told

Person = tuple[str, ...]
Place = tuple[Person, Person | None]
Chances = dict[str, float]

ROUNDS, SWEEPS, FOLDS, STABLE, TIE = 6, 5, 5, 1e-3, 1e-6


class Inference:
    """Where people stand in a release, and what its classes hold."""

    def __init__(self, release: PlainRelease) -> None:
        known = release.known
        rows = {row["nr"]: row for row in release.released}
        self.diseases = sorted({str(row["disease"]) for row in release.original})
        self.people: dict[Person, Counter[str]] = defaultdict(Counter)
        self.counts: dict[Person | None, Chances] = {None: dict.fromkeys(self.diseases, 0.0)}
        stand: Counter[Place] = Counter()
        for person in release.original:
            q = tuple(str(person[name]) for name in known)
            row = rows.get(person["nr"])
            c = None if row is None else tuple(str(row[name]) for name in known)
            self.people[q][str(person["disease"])] += 1
            stand[q, c] += 1
            if row is not None:
                self.counts.setdefault(c, dict.fromkeys(self.diseases, 0.0))[str(row["disease"])] += 1
        self.chance = {(q, c): count / self.people[q].total() for (q, c), count in stand.items()}
        self.places = sorted(self.chance, key=str)

    # ── what is learned ──────────────────────────────────────────────────────────────────────────────

    def prior(self, counts: Mapping[Person | None, Chances]) -> Chances:
        total = {s: sum(held[s] for held in counts.values()) for s in self.diseases}
        return normalised(total) if sum(total.values()) else dict.fromkeys(self.diseases, 0.0)

    def naive_bayes(self, taught: Mapping[Person, Chances]) -> dict[Person, Chances]:
        """P(s | q) by P(s) and P(value | s), which is smoothed with one record of everybody's."""
        records = {s: sum(held[s] for held in taught.values()) for s in self.diseases}
        total = sum(records.values())
        learned = {}
        for q in taught:
            logs = {}
            for s in self.diseases:
                if not total or not records[s]:
                    logs[s] = -math.inf if total else 0.0
                    continue
                logs[s] = math.log(records[s] / total)
                for at, value in enumerate(q):
                    alike = [other for other in taught if other[at] == value]
                    usual = sum(sum(taught[other].values()) for other in alike) / total
                    here = sum(taught[other][s] for other in alike)
                    if usual > 0:
                        logs[s] += math.log((here + usual) / (records[s] + 1))
            top = max(logs.values())
            learned[q] = normalised({s: math.exp(log - top) for s, log in logs.items()})
        return learned

    def learned(
        self, counts: Mapping[Person | None, Chances], people: Mapping[Person, float]
    ) -> tuple[dict[Person, Chances], dict[Place, Chances]]:
        """Model and chances take turns; in a class the chances of all members add up to its counts."""
        prior = self.prior(counts)
        empty = {c for c, held in counts.items() if sum(held.values()) <= 0}
        there = {(q, c): 0.0 if c in empty else self.chance[q, c] * people[q] for q, c in self.places}
        chances = {(q, c): dict(prior) if c in empty else normalised(counts[c]) for q, c in self.places}
        model = {q: dict(prior) for q in self.people}
        for _ in range(ROUNDS):
            taught = {q: dict.fromkeys(self.diseases, 0.0) for q in self.people}
            for place in self.places:
                for s in self.diseases:
                    taught[place[0]][s] += there[place] * chances[place][s]
            model = self.naive_bayes(taught)
            factor = {c: dict.fromkeys(self.diseases, 1.0) for c in counts}
            for _ in range(SWEEPS):
                now = self.updated(counts, factor, model, prior)
                for c, held in counts.items():
                    for s in self.diseases:
                        have = sum(there[place] * now[place][s] for place in self.places if place[1] == c)
                        if have > 1e-12:
                            factor[c][s] *= held[s] / have
            now = self.updated(counts, factor, model, prior)
            now |= {place: model[place[0]] for place in self.places if place[1] in empty}
            moved = sum(
                there[place] * abs(now[place][s] - chances[place][s])
                for place in self.places
                for s in self.diseases
            )
            chances = now
            if moved / max(2 * sum(there.values()), 1e-300) < STABLE:
                break
        return model, chances

    def updated(
        self,
        counts: Mapping[Person | None, Chances],
        factor: Mapping[Person | None, Chances],
        model: Mapping[Person, Chances],
        prior: Chances,
    ) -> dict[Place, Chances]:
        return {
            (q, c): normalised(
                {s: counts[c][s] * factor[c][s] * lift(model[q][s], prior[s]) for s in self.diseases}
            )
            for q, c in self.places
        }

    def mixed(self, chances: Mapping[Place, Chances]) -> dict[Person, Chances]:
        """People with the same known values cannot be told apart."""
        mean = {q: dict.fromkeys(self.diseases, 0.0) for q in self.people}
        for place in self.places:
            for s in self.diseases:
                mean[place[0]][s] += self.chance[place] * chances[place][s]
        return mean

    # ── the attack and what it is held against ───────────────────────────────────────────────────────

    def right(self) -> float:
        """Right guesses by whoever holds the whole release."""
        _, chances = self.learned(self.counts, {q: held.total() for q, held in self.people.items()})
        guessed = self.mixed(chances)
        return sum(self.people[q][s] * guess(guessed[q])[s] for q in self.people for s in self.diseases)

    def base(self) -> float:
        """Right guesses by whoever always says what is most frequent in the release."""
        said = guess(self.prior(self.counts))
        return sum(held[s] * said[s] for held in self.people.values() for s in self.diseases)

    def without(self, seed: int = 1) -> float:
        """Right guesses of people by a release without them: each is judged by what is left when their fold is gone."""
        order = sorted(self.people)
        table = np.array([[self.people[q][s] for s in self.diseases] for q in order])
        drawn = np.random.default_rng(seed).multinomial(table, [1 / FOLDS] * FOLDS)
        right = 0.0
        for fold in range(FOLDS):
            gone = {
                q: {s: float(drawn[i, j, fold]) for j, s in enumerate(self.diseases)}
                for i, q in enumerate(order)
            }
            guessed = self.mixed(self.judged(gone))
            right += sum(gone[q][s] * guess(guessed[q])[s] for q in order for s in self.diseases)
        return right

    def judged(self, gone: Mapping[Person, Chances]) -> dict[Place, Chances]:
        """Chances of newcomers: a class holds its counts and one further record of anybody."""
        left = {q: self.people[q].total() - sum(gone[q].values()) for q in self.people}
        counts = {c: dict(held) for c, held in self.counts.items()}
        for q, c in self.places:
            for s in self.diseases:
                mine = self.chance[q, c] * self.counts[c][s]
                every = sum(self.chance[place] * self.counts[place[1]][s] for place in self.of(q))
                counts[c][s] -= (mine / every if every > 0 else self.chance[q, c]) * gone[q][s]
        counts = {
            c: {s: count if count >= 1e-9 else 0.0 for s, count in held.items()} for c, held in counts.items()
        }
        prior = self.prior(counts)
        model, _ = self.learned(counts, left)
        chances = {}
        for q, c in self.places:
            shares = {}
            for s in self.diseases:
                there = {place: self.chance[place] * left[place[0]] for place in self.places if place[1] == c}
                usual = sum(many * lift(model[p][s], prior[s]) for (p, _), many in there.items())
                usual = (usual + 1) / (sum(there.values()) + 1)
                shares[s] = (counts[c][s] + prior[s]) / usual * lift(model[q][s], prior[s])
            chances[q, c] = normalised(shares)
        return chances

    def of(self, q: Person) -> Iterable[Place]:
        return (place for place in self.places if place[0] == q)


def attribute_inference(release: PlainRelease) -> tuple[Told, float, float]:
    """What is told, and both rates of which the higher is the baseline: the most frequent disease, and without them."""
    inference = Inference(release)
    people = len(release.original)
    base, without = inference.base() / people, inference.without() / people
    return Told(people, inference.right(), max(base, without)), base, without


def lift(known: float, prior: float) -> float:
    """How much likelier a disease is for someone than for anyone."""
    return known / prior if prior > 0 else 1.0


def normalised(shares: Chances) -> Chances:
    total = sum(shares.values())
    return {s: share / total if total > 0 else 1 / len(shares) for s, share in shares.items()}


def guess(chances: Chances) -> Chances:
    """The likeliest disease; equally likely ones share the guess."""
    best = max(chances.values()) * (1 - TIE)
    count = sum(chance >= best for chance in chances.values())
    return {s: (chance >= best) / count for s, chance in chances.items()}
