"""Downcoding: cells that say more than they print, because nothing was generalised more than needed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.attacks.disclosure.view import EXPOSED
from discreet.attacks.minimality.tracing import Recoding, recoding_of, shown_links, traced
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.pair import Links, Pair
from discreet.privacy.base import PrivacyModel, need_choice
from discreet.privacy.identity import KAnonymity
from discreet.table.meaning import KINDS
from discreet.types import IntArray

_UNTRIED = AttackResult(
    "downcoding",
    "inference",
    tries=0.0,
    successes=0.0,
    baseline=0.0,
    meaning="Whoever knows how the release was made reads some cells more finely than they are printed.",
    scenario="knows the release, the hierarchies, the values that occur, the method and the requirements",
    source="Cohen, Attacks on deidentification's defenses, 2022",
)


def downcoding(pair: Pair, models: Sequence[PrivacyModel], *, recoding: Recoding = "auto") -> AttackResult:
    """The intruder knows that no cell is wider than needed, and narrows cells to less than they print.

    Known are the release, the hierarchies, the values that occur, and that the method is minimal: no cell
    could say more while ``models`` still hold. For a class C and one attribute, two things follow.

    Every part is used. The cell of C covers no more than its people need: both ends of an interval and every member of
    a set occur in C, and so do both children of a node that has two. Each tells one cell of C, up to the order of
    its records.

    Nobody could have stood elsewhere. If another class E shows the same as C but less than C in this attribute, and C
    has more people than k asks for, then a person of C with a value in E would have been shown there: no cell of C
    holds a value of E. (For k-anonymity only: with other models the move may have violated something.)

    Tries: records with a generalised cell; successes: records with a cell that is narrowed and where that is
    true, which is checked against the original; baseline 0: the release alone narrows nothing. Figures count cells.
    With global recoding a single class says nothing unless it is the only one, since a level is lowered for
    all classes or none. Cohen, "Attacks on deidentification's defenses", USENIX Security 2022.

    >>> from discreet.classes import EquivalenceClasses
    >>> pair = Pair.of(
    ...     EquivalenceClasses.from_columns({"age": [31, 34, 34, 47, 47]}),
    ...     EquivalenceClasses.from_columns({"age": ["[31, 34]"] * 3 + ["47"] * 2}))
    >>> result = downcoding(pair, [KAnonymity(2)], recoding="local")  # somebody is 31, somebody is 34
    >>> result.tries, result.successes, result.exposed[0].says
    (3, 2.0, "2 cells are narrowed, those of 'age'")
    """
    began = time.perf_counter()
    need_choice("recoding", recoding, ("auto", "local", "global"))
    everything = traced(pair)
    if not pair.truthful:
        return replace(
            _UNTRIED, notes=("not tried: released values are not generalisations of the original ones",)
        )
    if everything is None:
        return replace(_UNTRIED, notes=("not tried: it is not known which records became which",))
    if pair.suppressed.all():
        return replace(_UNTRIED, notes=("nothing to find: the release shows no quasi-identifier",))
    links = shown_links(pair, everything)
    classes = np.unique(links.released)
    if recoding_of(pair, links, recoding) == "global" and len(classes) > 1:
        return replace(
            _UNTRIED, notes=("nothing to find: levels were lowered for all classes at once, not for one",)
        )
    narrowing = _Narrowing.of(pair, links, classes)
    for at in range(len(pair.names)):
        _narrow(pair, links, at, models, narrowing)
    return replace(_result(pair, narrowing), seconds=time.perf_counter() - began)


@dataclass(frozen=True)
class _Narrowing:
    """Per attribute and released class: generalised cells, cells narrowed, and those narrowed rightly."""

    classes: IntArray
    order: IntArray
    cuts: IntArray
    cells: IntArray
    narrowed: IntArray
    right: IntArray

    @classmethod
    def of(cls, pair: Pair, links: Links, classes: IntArray) -> _Narrowing:
        order = np.argsort(links.released, kind="stable")
        cuts = np.searchsorted(links.released[order], np.arange(len(pair.released) + 1))
        shape = len(pair.names), len(pair.released)
        tables = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        return cls(classes, order, cuts, *tables)


def _narrow(pair: Pair, links: Links, at: int, models: Sequence[PrivacyModel], narrowing: _Narrowing) -> None:
    """Apply both conclusions to one attribute."""
    meaning, codes = pair.meanings[at], pair.released.codes[at]
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=0)
    movable = bool(models) and all(isinstance(model, KAnonymity) for model in models)
    inside = _inside(pair, at, narrowing.classes) if movable else {}
    parts: dict[int, list[IntArray]] = {}
    wide = meaning.sizes[codes] > 1
    for c in narrowing.classes[wide[narrowing.classes]].tolist():
        code, people = int(codes[c]), int(pair.released.records[c])
        narrowing.cells[at, c] = people
        mine = narrowing.order[narrowing.cuts[c] : narrowing.cuts[c + 1]]
        values, records = pair.original.codes[at][links.original[mine]], links.records[mine]
        elsewhere = inside.get(c, []) if people > k else []
        if elsewhere:
            taken = np.zeros(len(values), dtype=bool)
            for other in elsewhere:
                taken |= meaning.covers(codes[np.array([other])], values)
            narrowing.narrowed[at, c], narrowing.right[at, c] = people, int(records[~taken].sum())
            continue
        if code not in parts:
            parts[code] = _used(pair, at, code)
        if 1 < len(parts[code]) <= people:
            narrowing.narrowed[at, c] = len(parts[code])
            narrowing.right[at, c] = sum(bool(np.isin(values, part).any()) for part in parts[code])


def _used(pair: Pair, at: int, code: int) -> list[IntArray]:
    """The parts of a released value that must occur in its class: original codes for each."""
    meaning, hierarchy = pair.meanings[at], pair.hierarchies.get(pair.names[at])
    members, kind = meaning.members(code), KINDS[meaning.kinds[code]]
    if kind == "interval":
        numbers = meaning.original.numbers[members]
        # Bounds that nobody has were not made from the class: they say nothing about it.
        tight = numbers[0] == meaning.low[code] and numbers[-1] == meaning.high[code]
        return [members[:1], members[-1:]] if tight else []
    if kind == "set":
        return [members[i : i + 1] for i in range(len(members))]
    if kind in ("node", "suppressed"):
        label = pair.released.attributes[at].label(code)
        below: dict[str, list[int]] = {}
        for member in members.tolist():
            leaf = hierarchy.leaf(meaning.original.label(member)) if hierarchy else None
            child = meaning.original.label(member)
            if hierarchy is not None and leaf is not None:
                path = [
                    hierarchy.labels[step][hierarchy.nodes[step][leaf]]
                    for step in range(hierarchy.height + 1)
                ]
                shown = label if label in path else path[-1]
                child = path[max(path.index(shown) - 1, 0)]
            below.setdefault(child, []).append(member)
        # With two children both are used; with more, only some two of them, and no cell can be named.
        return [np.array(part) for part in below.values()] if len(below) == 2 else []
    return []


def _inside(pair: Pair, at: int, classes: IntArray) -> dict[int, list[int]]:
    """For each class those that show the same but for one attribute, in which they show strictly less."""
    meaning, codes = pair.meanings[at], pair.released.codes[at]
    group, _ = pair.released.groups([name for j, name in enumerate(pair.names) if j != at])
    lowest = np.full(len(meaning.sizes), -1, dtype=np.int64)
    highest = lowest.copy()
    some = meaning.sizes > 0
    lowest[some] = meaning.starts[meaning.indptr[:-1][some]]
    highest[some] = meaning.stops[meaning.indptr[1:][some] - 1] - 1
    order = classes[np.lexsort((lowest[codes[classes]], group[classes]))]
    key = group[order] * (meaning.original.size + 1) + lowest[codes[order]] + 1
    inside: dict[int, list[int]] = {}
    for c in classes[meaning.sizes[codes[classes]] > 1].tolist():
        base = int(group[c]) * (meaning.original.size + 1) + 1
        start = np.searchsorted(key, base + lowest[codes[c]], side="left")
        stop = np.searchsorted(key, base + highest[codes[c]], side="right")
        near = order[start:stop]
        near = near[meaning.sizes[codes[near]] < meaning.sizes[codes[c]]]
        held = [
            int(other)
            for other in near.tolist()
            if meaning.covers(codes[np.array([c])], meaning.members(int(codes[other]))).all()
        ]
        if held:
            inside[c] = held
    return inside


def _result(pair: Pair, narrowing: _Narrowing) -> AttackResult:
    """The narrowed cells as a result."""
    records = pair.released.records
    best = narrowing.right.max(axis=0, initial=0)
    at = np.flatnonzero(best > 0)
    score = best[at] / records[at]
    return replace(
        _UNTRIED,
        tries=int(records[(narrowing.cells > 0).any(axis=0)].sum()),
        successes=float(best.sum()),
        exposed=tuple(
            Exposed(
                pair.released.labels(int(at[i])),
                float(score[i]),
                int(records[at[i]]),
                f"{int(narrowing.right[:, at[i]].sum())} cells are narrowed, those of "
                + ", ".join(repr(pair.names[j]) for j in np.flatnonzero(narrowing.right[:, at[i]])),
            )
            for i in np.lexsort((at, -records[at], -score))[:EXPOSED].tolist()
        ),
        fallen=tuple(at.tolist()),
        figures=(
            ("cells-generalised", float(narrowing.cells.sum())),
            ("cells-narrowed", float(narrowing.narrowed.sum())),
            ("cells-narrowed-rightly", float(narrowing.right.sum())),
        ),
    )
