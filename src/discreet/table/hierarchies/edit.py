"""Change a hierarchy by hand: put nodes into groups, name groups, dissolve them; and say it as explicit sets."""

from __future__ import annotations

from collections.abc import Collection

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table.hierarchies.builder import Builder
from discreet.table.hierarchies.categories import Flat, Sets
from discreet.table.hierarchies.hierarchy import ROOT, Hierarchy
from discreet.table.values import set_label


def as_sets(hierarchy: Hierarchy) -> Builder:
    """The builder that makes the same hierarchy by naming every group.

    Levels that merge and rename nothing are left out; if none is left, every value stands directly below ``*``.

    >>> jobs = Hierarchy.of("job", [["baker", "food", "*"], ["cook", "food", "*"], ["judge", "judge", "*"]])
    >>> as_sets(jobs).parameters()
    {'levels': ({'food': ('baker', 'cook')},)}
    """
    levels = []
    for level in range(1, hierarchy.height):
        named = {label: members for label, members in groups(hierarchy, level).items() if members != [label]}
        if named:
            levels.append(named)
    return Sets(levels=tuple(levels)) if levels else Flat()


def groups(hierarchy: Hierarchy, level: int) -> dict[str, list[str]]:
    """The nodes of a level with the labels of the nodes right below them."""
    below, above = hierarchy.labels[level - 1], hierarchy.labels[level]
    members_of: dict[str, dict[str, None]] = {label: {} for label in above}
    for node, child in zip(hierarchy.nodes[level].tolist(), hierarchy.nodes[level - 1].tolist(), strict=True):
        members_of[above[node]][below[child]] = None
    return {label: list(members) for label, members in members_of.items()}


def moved(hierarchy: Hierarchy, level: int, members: Collection[str], group: str = "") -> Hierarchy:
    """The hierarchy in which these nodes of the level below belong to a group of ``level``.

    A group of this name that is there already takes them in, and they share its ancestors; a new one stands
    where the first of them stood. Without a name it is called by its members. At ``level`` equal to the height
    the group begins a new level below the root.

    >>> jobs = Hierarchy.of("job", [["baker", "*"], ["cook", "*"], ["judge", "*"]])
    >>> moved(jobs, 1, ["baker", "cook"], "food").rows()
    [('baker', 'food', '*'), ('cook', 'food', '*'), ('judge', 'judge', '*')]
    >>> moved(jobs, 1, ["baker", "judge"]).labels[1]
    ('{baker, judge}', 'cook')
    """
    wanted = _known(members, hierarchy.labels[level - 1])
    name = _name(group or set_label(wanted, unlike=hierarchy.labels[0]))
    rows = _rows(hierarchy)
    if level == hierarchy.height:
        rows = [[*row[:-1], row[-2], row[-1]] for row in rows]
    home = next((row for row in rows if row[level] == name), None)
    first = next(row for row in rows if row[level - 1] in wanted)
    old = first[level]
    above = home[level + 1 :] if home else [name if label == old else label for label in first[level + 1 :]]
    chosen = set(wanted)
    return _made(
        hierarchy.name, [[*row[:level], name, *above] if row[level - 1] in chosen else row for row in rows]
    )


def taken_out(hierarchy: Hierarchy, level: int, members: Collection[str]) -> Hierarchy:
    """The hierarchy in which these nodes of the level below belong to no group of ``level``.

    >>> jobs = Hierarchy.of("job", [["baker", "food", "*"], ["cook", "food", "*"], ["judge", "judge", "*"]])
    >>> taken_out(jobs, 1, ["cook"]).rows()
    [('baker', 'food', '*'), ('cook', 'cook', '*'), ('judge', 'judge', '*')]
    """
    chosen = set(_known(members, hierarchy.labels[level - 1]))

    def alone(row: list[str]) -> list[str]:
        own, old = row[level - 1], row[level]
        return [*row[:level], *(own if label == old else label for label in row[level:])]

    return _made(
        hierarchy.name, [alone(row) if row[level - 1] in chosen else row for row in _rows(hierarchy)]
    )


def renamed(hierarchy: Hierarchy, level: int, group: str, name: str) -> Hierarchy:
    """The hierarchy in which a group of a level has another name; with the name of another group both are one.

    >>> jobs = Hierarchy.of("job", [["baker", "food", "*"], ["cook", "food", "*"], ["judge", "law", "*"]])
    >>> renamed(jobs, 1, "food", "kitchen").labels[1], renamed(jobs, 1, "law", "food").labels[1]
    (('kitchen', 'law'), ('food',))
    """
    _known([group], hierarchy.labels[level])
    return moved(hierarchy, level, groups(hierarchy, level)[group], _name(name))


def dissolved(hierarchy: Hierarchy, level: int, group: str) -> Hierarchy:
    """The hierarchy without a group: its members stand alone at this level."""
    _known([group], hierarchy.labels[level])
    return taken_out(hierarchy, level, groups(hierarchy, level)[group])


def without_level(hierarchy: Hierarchy, level: int) -> Hierarchy:
    """The hierarchy without one of the levels between the values and the root.

    >>> zips = Hierarchy.of("zip", [["1010", "101*", "10**", "*"], ["2020", "202*", "20**", "*"]])
    >>> without_level(zips, 1).rows()
    [('1010', '10**', '*'), ('2020', '20**', '*')]
    """
    if not 0 < level < hierarchy.height:
        raise InvalidParameter("there is no such level", remedy="name a level between the values and *")
    return _made(hierarchy.name, [[*row[:level], *row[level + 1 :]] for row in _rows(hierarchy)])


def _rows(hierarchy: Hierarchy) -> list[list[str]]:
    return [list(row) for row in hierarchy.rows()]


def _known(members: Collection[str], labels: tuple[str, ...]) -> list[str]:
    """The members in the order of the labels; all must be among them."""
    chosen = set(members)
    known = [label for label in labels if label in chosen]
    if not known or len(known) < len(chosen):
        raise InvalidParameter("the chosen values are not there", remedy="choose values of this level")
    return known


def _name(given: str) -> str:
    name = given.strip()
    if not name or name == ROOT:
        raise InvalidParameter(
            "a group needs a name",
            remedy=Sentence("write any text but {root}, which stands for everything", root=ROOT),
        )
    return name


def _made(name: str, rows: list[list[str]]) -> Hierarchy:
    """The hierarchy of rows of which a part was changed.

    Two nodes that have got one label on a level are one from there on: the ancestors are those of the first.
    """
    for level in range(1, len(rows[0]) - 1):
        ancestors: dict[str, list[str]] = {}
        for row in rows:
            row[level + 1 :] = ancestors.setdefault(row[level], row[level + 1 :])
    # Levels on which nothing is merged or renamed any more say nothing.
    kept = [
        level
        for level in range(len(rows[0]))
        if level in (0, len(rows[0]) - 1) or any(row[level] != row[level - 1] for row in rows)
    ]
    return Hierarchy.of(name, [[row[level] for level in kept] for row in rows])
