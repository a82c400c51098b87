"""A release of baskets: made, measured, verified on the file, and written."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from discreet.baskets.baskets import Baskets, need_separator
from discreet.baskets.disassociation import Cluster, DisassociatedBaskets, disassociated
from discreet.baskets.exposure import BasketAudit, audit_baskets
from discreet.baskets.goal import BasketGoal
from discreet.baskets.loss import BasketLoss, lost_itemsets, pair_error
from discreet.baskets.recoding import ItemCut, RecodedBaskets, generalised, item_hierarchy
from discreet.baskets.suppression import suppressed
from discreet.baskets.uncertainty import ROUNDING, surest
from discreet.errors import GoalUnreachable, InvalidParameter, RequirementNotMet
from discreet.files.writing import atomically, refuse_clashes
from discreet.plain import Printed, plain
from discreet.privacy.base import need_choice
from discreet.progress import Asked, telling
from discreet.sentences import Sentence
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.types import Progress

Method = Literal["auto", "generalize", "suppress", "disassociate"]
HEADER = ("cluster", "baskets", "chunk", "line", "item")


@dataclass(frozen=True)
class BasketRelease(Printed):
    """Baskets that may be given away, with what was lost: ``released`` as sets of items, or as ``clusters`` that leave open
    which of them belong together."""

    goal: BasketGoal
    method: str
    loss: BasketLoss
    before: BasketAudit = field(repr=False)
    released: Baskets | None = field(default=None, repr=False)
    clusters: DisassociatedBaskets | None = field(default=None, repr=False)
    codebook: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """The items that each label stands for, where it is not the item itself."""
    files: tuple[Path, ...] = field(default=(), repr=False, compare=False)
    """What the baskets were read from."""
    in_order: Baskets | None = field(default=None, repr=False, compare=False)
    """What became of each basket that held an item, in the order of the original: to be looked at, never to be handed out."""

    @property
    def says(self) -> str:
        """What is guaranteed, in one sentence."""
        return Sentence(
            "Whoever knows up to {m} items of a basket finds at least {k} that it may be.",
            m=self.goal.m,
            k=self.goal.k,
        )

    def __str__(self) -> str:
        return str(self.says)

    @property
    def after(self) -> BasketAudit | None:
        """What an intruder finds in the release who knows some items of a basket; none where baskets are not told apart."""
        if self.released is None:
            return None
        return _audited(self.released, self.goal)

    def save(self, path: str | PathLike[str], *, separator: str = ",") -> Path:
        """Write the release, count again what was written, and only then put it in place."""
        target = Path(path)
        check_basket_target(target, separator)
        refuse_clashes([target], self.files)
        if self.clusters is not None:
            rows = [HEADER, *self.clusters.rows()]
            atomically(
                target,
                lambda part: _write(part, rows, separator),
                lambda part: self._verify_clusters(part, separator),
            )
        else:
            assert self.released is not None
            lists = list(self.released.lists())
            atomically(
                target,
                lambda part: _write(part, lists, separator),
                lambda part: self._verify(part, separator),
            )
        return target

    def save_codebook(self, path: str | PathLike[str]) -> Path:
        """Write what the labels stand for, a line for each item."""
        refuse_clashes([Path(path)], self.files)
        rows = [
            ("label", "item"),
            *((label, item) for label, items in self.codebook.items() for item in items),
        ]
        atomically(Path(path), lambda part: _write(part, rows, ","))
        return Path(path)

    def to_dict(self) -> dict[str, object]:
        after = self.after
        return {
            "schema": "discreet-baskets-release-1",
            "method": self.method,
            "k": self.goal.k,
            "m": self.goal.m,
            "rho": self.goal.rho,
            "loss": plain(self.loss),
            "before": self.before.to_dict(),
            "after": None if after is None else after.to_dict(),
        }

    # ── verification, which counts by other means than what made the release ──────────────────────

    def _verify(self, part: Path, separator: str) -> None:
        counts: Counter[tuple[str, ...]] = Counter()
        with part.open(encoding="utf-8", newline="") as file:
            for line in csv.reader(file, delimiter=separator):
                for size in range(1, min(self.goal.m, len(line)) + 1):
                    counts.update(combinations(sorted(line), size))
        if any(count < self.goal.k for count in counts.values()):
            raise _broken()
        if self.goal.rho is not None and self._surest(part, separator) > self.goal.rho + ROUNDING:
            raise _broken()

    def _surest(self, part: Path, separator: str) -> float:
        # Items as they stand in the file: a space before one is part of it.
        with part.open(encoding="utf-8", newline="") as file:
            baskets = Baskets.of(csv.reader(file, delimiter=separator))
        return surest(baskets, self.goal.sensitive & set(baskets.items), self.goal.m)

    def _verify_clusters(self, part: Path, separator: str) -> None:
        sizes: dict[str, int] = {}
        parts: dict[str, dict[int, dict[int, list[int]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )
        known: dict[str, int] = {}
        with part.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, delimiter=separator)
            next(reader)
            for cluster, size, chunk, line, item in reader:
                sizes[cluster] = int(size)
                parts[cluster][int(chunk)][int(line)].append(known.setdefault(item, len(known)))
        for number, baskets in sizes.items():
            named = parts[number].pop(0, {}).get(0, [])
            chunks = tuple(
                tuple(tuple(sorted(p)) for p in chunk.values()) for chunk in parts[number].values()
            )
            if not Cluster(baskets, chunks, tuple(named)).keeps(self.goal):
                raise _broken()


def check_basket_target(target: Path, separator: str) -> None:
    """Refuse what could not be read again, before any work is done."""
    need_separator(separator)
    if target.suffix.lower() == ".gz":
        raise InvalidParameter("baskets are written as plain text", remedy="name a file without .gz")


def anonymize_baskets(
    baskets: Baskets,
    *,
    k: int = 5,
    m: int = 2,
    sensitive: frozenset[str] | None = None,
    rho: float | None = None,
    method: Method = "auto",
    hierarchy: Hierarchy | None = None,
    progress: Asked = None,
) -> BasketRelease:
    """The least change after which every set of at most ``m`` items that is shown stands in ``k`` baskets.

    ``generalize`` shows groups of items along a hierarchy (learned if none is given), ``suppress`` leaves items of single
    baskets out, ``auto`` takes what loses less of the two; ``disassociate`` keeps all items and leaves open which belong
    together. With ``sensitive`` items and ``rho``, known items tell none of these more surely (``suppress`` only).

    >>> baskets = Baskets.of([["milk", "bread"], ["milk", "bread"], ["milk", "gin"], ["milk", "rum"]])
    >>> release = anonymize_baskets(baskets, k=2, m=2, hierarchy=Hierarchy.of("item", [
    ...     ["bread", "food", "*"], ["gin", "spirits", "*"], ["milk", "food", "*"], ["rum", "spirits", "*"]]))
    >>> list(release.released.lists())
    [['bread', 'milk'], ['bread', 'milk'], ['milk', 'spirits'], ['milk', 'spirits']]
    """
    need_choice("method", method, get_args(Method))
    goal = BasketGoal(k, m, frozenset(sensitive or ()), rho)
    tell = telling(progress)
    if goal.rho is not None and method not in ("auto", "suppress"):
        raise InvalidParameter(
            "rho is kept by leaving items out only",
            remedy="take the method suppress, or ask for k and m alone",
        )
    # A basket without items is none.
    baskets = baskets.take(np.flatnonzero(baskets.sizes))
    if len(baskets) < k:
        raise GoalUnreachable(
            Sentence("there are fewer baskets than the {k:,} in which each item must stand", k=k),
            nearest=Sentence("{count:,} baskets", count=len(baskets)),
            remedy="ask for a smaller k, or release nothing",
        )
    tell("counting sets of items")
    before = _audited(baskets, goal)
    if method == "disassociate":
        clusters = disassociated(baskets, goal, tell)
        drawn = clusters.drawn()
        loss = BasketLoss(None, pair_error(baskets, drawn), lost_itemsets(baskets, drawn), 0)
        return BasketRelease(goal, method, loss, before, clusters=clusters, files=baskets.files)
    tree = item_hierarchy(baskets, hierarchy)
    recodings = _recodings(baskets, goal, tree, method, tell)
    name, best = min(recodings.items(), key=lambda entry: entry[1].loss)
    return replace(_released(goal, name, best, before), files=baskets.files)


def _audited(baskets: Baskets, goal: BasketGoal) -> BasketAudit:
    return audit_baskets(baskets, k=goal.k, m=goal.m, sensitive=goal.sensitive, rho=goal.rho)


def _recodings(
    baskets: Baskets, goal: BasketGoal, tree: Hierarchy, method: Method, tell: Progress
) -> dict[str, RecodedBaskets]:
    """What the methods that are asked for come to."""
    recodings: dict[str, RecodedBaskets] = {}
    if method in ("auto", "generalize") and goal.rho is None:
        cut = generalised(baskets, goal, tree, tell)
        recoded = baskets.recoded(*cut.nodes())
        recodings["generalize"] = RecodedBaskets(
            baskets, cut, recoded, np.zeros(len(recoded.codes), dtype=bool)
        )
    if method in ("auto", "suppress"):
        cut = ItemCut.uniform(tree, 0)
        recoded = baskets.recoded(*cut.nodes())
        for frequent_first in (True, False):
            tell("leaving items out")
            gone = suppressed(recoded, goal, frequent_first=frequent_first)
            made = RecodedBaskets(baskets, cut, recoded, gone)
            if "suppress" not in recodings or made.loss < recodings["suppress"].loss:
                recodings["suppress"] = made
    return recodings


def _released(goal: BasketGoal, method: str, recoding: RecodedBaskets, before: BasketAudit) -> BasketRelease:
    left = recoding.released
    if not len(left.codes):
        raise GoalUnreachable(
            "nothing would be left of the baskets",
            nearest="every item left out",
            remedy="ask for a smaller k or m, or take the method generalize or disassociate",
        )
    nodes, labels = recoding.cut.nodes()
    original = recoding.original
    members = {
        label: tuple(original.items[item] for item in np.flatnonzero(nodes == at))
        for at, label in enumerate(labels)
    }
    shown = set(np.unique(left.codes).tolist())
    drawn = left.drawn(members)
    gone = sum(node not in shown for node in nodes.tolist())
    loss = BasketLoss(
        recoding.loss,
        pair_error(original, drawn),
        lost_itemsets(original, drawn),
        gone,
        int((left.sizes == 0).sum()),
    )
    codebook = {
        label: items for at, (label, items) in enumerate(members.items()) if at in shown and items != (label,)
    }
    return BasketRelease(goal, method, loss, before, released=left.shown(), codebook=codebook, in_order=left)


def _write(part: Path, rows: object, separator: str) -> None:
    with part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]


def _broken() -> RequirementNotMet:
    return RequirementNotMet(
        "what was written does not keep what was asked for", remedy="nothing was released; please report this"
    )
