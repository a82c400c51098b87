"""Downcoding: cells that say more than they print, because nothing was generalised more than needed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.attacks.disclosure.view import EXPOSED
from discreet.attacks.intervals import interval_of_classes
from discreet.attacks.minimality.tracing import Recoding, recoding_of, shown_links
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.pair import Links, Pair
from discreet.classes.tracing import traced
from discreet.privacy.base import PrivacyModel, need_choice
from discreet.privacy.identity import KAnonymity
from discreet.sentences import Sentence
from discreet.table.meaning import KINDS
from discreet.types import FloatArray, IntArray

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

    Every part is used. The cell of C covers no more than its people need: both children of a node that has two occur in
    C. Each tells one cell of C, up to the order of its records. (That the ends of an interval made from the class and the
    members of a set occur is what the cell prints, and no conclusion.)

    Nobody could have stood elsewhere. If another class E shows the same as C but less than C in this attribute, and C
    has more people than k asks for, then a person of C with a value in E would have been shown there: no cell of C
    holds a value of E. (For k-anonymity only: with other models the move may have violated something.) Where this can
    be said of an attribute, the other is not; where it would leave no value, the method was not minimal, and nothing is.

    Tries: records with a generalised cell. Successes: cells that are narrowed and where that is true, which is
    checked against the original; of several attributes of a class the one counts that promises most. Baseline: how often
    the same would be said rightly by a blind guesser who draws the values of a class among those that its cell
    prints, as frequent as they are in the original: (share of the narrowed values among the printed) per record, and
    1 - (1 - share of the child)^n for a child to occur among n. Figures count cells. With global recoding a single class says nothing unless it is the only one, since a level is lowered for
    all classes or none. Cohen, "Attacks on deidentification's defenses", USENIX Security 2022.

    >>> from discreet.classes import EquivalenceClasses
    >>> pair = Pair.of(
    ...     EquivalenceClasses.from_columns({"age": [20, 20, 21, 21, 22, 40, 40]}),
    ...     EquivalenceClasses.from_columns({"age": ["20"] * 2 + ["[20, 22]"] * 3 + ["40"] * 2}),
    ...     links=Links(np.array([0, 1, 2, 3]), np.array([0, 2, 2, 1]), np.array([2, 2, 1, 2])))
    >>> result = downcoding(pair, [KAnonymity(2)], recoding="local")  # nobody of 20 to 22 is 20: 20 could be shown
    >>> result.tries, result.successes, result.baseline, result.exposed[0].says
    (3, 3.0, 0.6, '3 cells are narrowed, those of age')
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
    """Per attribute and released class: generalised cells, cells narrowed, those narrowed rightly, and how many of these a
    blind guesser would have right."""

    classes: IntArray
    order: IntArray
    cuts: IntArray
    cells: IntArray
    narrowed: IntArray
    right: IntArray
    expected: FloatArray

    @classmethod
    def of(cls, pair: Pair, links: Links, classes: IntArray) -> _Narrowing:
        order = np.argsort(links.released, kind="stable")
        cuts = np.searchsorted(links.released[order], np.arange(len(pair.released) + 1))
        shape = len(pair.names), len(pair.released)
        cells, narrowed, right = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        return cls(classes, order, cuts, cells, narrowed, right, np.zeros(shape))


def _narrow(pair: Pair, links: Links, at: int, models: Sequence[PrivacyModel], narrowing: _Narrowing) -> None:
    """Apply both conclusions to one attribute."""
    meaning, codes = pair.meanings[at], pair.released.codes[at]
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=0)
    movable = bool(models) and all(isinstance(model, KAnonymity) for model in models)
    inside = _inside(pair, at, narrowing.classes) if movable else {}
    parts: dict[int, list[IntArray]] = {}
    frequency = np.bincount(
        pair.original.codes[at], weights=pair.original.records, minlength=meaning.original.size
    )
    wide = meaning.sizes[codes] > 1
    for c in narrowing.classes[wide[narrowing.classes]].tolist():
        code, people = int(codes[c]), int(pair.released.records[c])
        narrowing.cells[at, c] = people
        mine = narrowing.order[narrowing.cuts[c] : narrowing.cuts[c + 1]]
        values, records = pair.original.codes[at][links.original[mine]], links.records[mine]
        elsewhere = inside.get(c, []) if people > k else []
        if elsewhere:
            printed = meaning.members(code)
            gone = np.zeros(meaning.original.size, dtype=bool)
            for other in elsewhere:
                gone[meaning.members(int(codes[other]))] = True
            share = _share(frequency, printed[~gone[printed]], printed)
            if share > 0:
                narrowing.narrowed[at, c], narrowing.right[at, c] = people, int(records[~gone[values]].sum())
                narrowing.expected[at, c] = people * share
            continue
        if code not in parts:
            parts[code] = _used(pair, at, code)
        if 1 < len(parts[code]) <= people:
            printed = meaning.members(code)
            narrowing.narrowed[at, c] = len(parts[code])
            narrowing.right[at, c] = sum(bool(np.isin(values, part).any()) for part in parts[code])
            shares = np.array([_share(frequency, part, printed) for part in parts[code]])
            narrowing.expected[at, c] = (1 - (1 - shares) ** people).sum()


def _share(frequency: FloatArray | IntArray, part: IntArray, printed: IntArray) -> float:
    """How often a value that is drawn among the printed ones, as frequent as they are, is one of a part."""
    total = float(frequency[printed].sum())
    return float(frequency[part].sum()) / total if total else 0.0


def _used(pair: Pair, at: int, code: int) -> list[IntArray]:
    """The parts of a released value that must occur in its class, though it does not print so: original codes for each."""
    meaning, hierarchy = pair.meanings[at], pair.hierarchies.get(pair.names[at])
    members, kind = meaning.members(code), KINDS[meaning.kinds[code]]
    if kind in ("node", "suppressed"):
        label = pair.released.attributes[at].label(code)
        if hierarchy is not None:
            label = hierarchy.label_of(label)
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
    # Chosen by what is promised, not by what turns out to be right: the intruder does not know that.
    chosen = (narrowing.narrowed - narrowing.expected).argmax(axis=0)[None]
    best, blind = (
        np.take_along_axis(table, chosen, axis=0)[0] for table in (narrowing.right, narrowing.expected)
    )
    tried = (narrowing.cells > 0).any(axis=0)
    tries = int(records[tried].sum())
    at = np.flatnonzero(best > blind)
    score = best[at] / records[at]
    return replace(
        _UNTRIED,
        tries=tries,
        successes=float(best.sum()),
        baseline=float(blind.sum()) / tries if tries else 0.0,
        exposed=tuple(
            Exposed(
                pair.released.labels(int(at[i])),
                float(score[i]),
                int(records[at[i]]),
                Sentence(
                    "{cells} cells are narrowed, those of {names}",
                    cells=narrowing.right[:, at[i]].sum(),
                    names=[pair.names[j] for j in np.flatnonzero(narrowing.right[:, at[i]])],
                ),
            )
            for i in np.lexsort((at, -records[at], -score))[:EXPOSED].tolist()
        ),
        fallen=tuple(at.tolist()),
        figures=(
            ("cells-generalised", float(narrowing.cells.sum())),
            ("cells-narrowed", float(narrowing.narrowed.sum())),
            ("cells-narrowed-rightly", float(narrowing.right.sum())),
            ("cells-right-by-chance", float(narrowing.expected.sum())),
        ),
        interval=interval_of_classes(best[tried].astype(np.float64), records[tried]),
    )
