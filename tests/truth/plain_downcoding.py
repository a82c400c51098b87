"""Downcoding by plain loops over rows, from its definition; nothing of the product is used."""

from __future__ import annotations

import random

from plain_attacks import Told
from plain_losses import TREES
from plain_tables import Row


def random_local(seed: int) -> tuple[list[Row], list[Row]]:
    """People, and a release in which each small group of them is shown by a common node, or by a coarser one.

    Some people are shown as nothing but ``*``; rows keep the number of their person in ``nr``.
    """
    draw = random.Random(11_000_027 * seed + 3)
    leaves = {name: draw.sample(list(tree), draw.randint(2, 5)) for name, tree in TREES.items()}
    original: list[Row] = [
        {
            "nr": at,
            **{
                name: values[at] if at < len(values) else draw.choice(values)
                for name, values in leaves.items()
            },
            "disease": draw.choice(["cold", "flu"]),
        }
        for at in range(draw.randint(6, 24))
    ]
    order = sorted(
        original, key=lambda row: (str(row["city"]), str(row["job"])) if seed % 2 else (draw.random(),)
    )
    released: list[Row] = []
    while order:
        size = draw.randint(2, 5)
        group, order = order[:size], order[size:]
        cells = {name: common(name, [str(row[name]) for row in group], draw.random() < 0.2) for name in TREES}
        if draw.random() < 0.1:
            cells = dict.fromkeys(TREES, "*")
        released += [{**row, **cells} for row in group]
    draw.shuffle(released)
    return original, released


def common(name: str, values: list[str], coarser: bool) -> str:
    """The lowest node above some values, or the node above that."""
    paths = [TREES[name][value] for value in values]
    depth = next(level for level, node in enumerate(paths[0]) if all(path[level] == node for path in paths))
    return paths[0][min(depth + coarser, len(paths[0]) - 1)]


def stands_for(original: list[Row], name: str, label: object) -> set[str]:
    """The values that occur and are below a label."""
    return {str(row[name]) for row in original if label in TREES[name][str(row[name])]}


def below(original: list[Row], name: str, label: object) -> list[set[str]]:
    """The children of a label, as values that occur."""
    children: dict[str, set[str]] = {}
    for value in stands_for(original, name, label):
        path = TREES[name][value]
        children.setdefault(path[max(path.index(str(label)) - 1, 0)], set()).add(value)
    return [children[child] for child in sorted(children)]


def frequency(original: list[Row], name: str, values: set[str]) -> int:
    return sum(row[name] in values for row in original)


def downcoding(original: list[Row], released: list[Row], k: int) -> Told:
    """What follows from no cell being wider than k asks for, class by class and attribute by attribute."""
    shown = [row for row in released if any(row[name] != "*" for name in TREES)]
    classes: dict[tuple[object, ...], list[Row]] = {}
    for row in shown:
        classes.setdefault(tuple(row[name] for name in TREES), []).append(row)
    if len(classes) != 1 and everywhere_the_same(original, shown):
        return Told(0, 0, 0)
    own = {row["nr"]: row for row in original}
    tries, right, blind = 0, 0.0, 0.0
    for cells, members in classes.items():
        best = (0.0, 0.0, 0.0)
        wide = [len(stands_for(original, name, cell)) > 1 for name, cell in zip(TREES, cells, strict=True)]
        tries += len(members) if any(wide) else 0
        for at, name in enumerate(TREES):
            printed = stands_for(original, name, cells[at])
            if not wide[at]:
                continue
            true = [str(own[row["nr"]][name]) for row in members]
            said, hits, chance = 0, 0, 0.0
            narrower = [
                stands_for(original, name, other[at])
                for other in classes
                if all(other[j] == cells[j] for j in range(len(cells)) if j != at)
                and stands_for(original, name, other[at]) < printed
            ]
            children = below(original, name, cells[at])
            if narrower and len(members) > k:
                left = printed - set.union(*narrower)
                share = frequency(original, name, left) / frequency(original, name, printed)
                if left:
                    said, hits = len(members), sum(value in left for value in true)
                    chance = len(members) * share
            elif len(children) == 2 and len(members) >= 2:
                said, hits = 2, sum(any(value in child for value in true) for child in children)
                for child in children:
                    share = frequency(original, name, child) / frequency(original, name, printed)
                    chance += 1 - (1 - share) ** len(members)
            if said - chance > best[0] + 1e-12:
                best = (said - chance, hits, chance)
        right += best[1]
        blind += best[2]
    return Told(tries, right, blind / tries if tries else 0.0)


def everywhere_the_same(original: list[Row], shown: list[Row]) -> bool:
    """Whether a value of the original is always shown in the same way: global recoding, of which nothing follows."""
    own = {row["nr"]: row for row in original}
    for name in TREES:
        forms: dict[object, set[object]] = {}
        for row in shown:
            forms.setdefault(own[row["nr"]][name], set()).add(row[name])
        if any(len(each) > 1 for each in forms.values()):
            return False
    return True
