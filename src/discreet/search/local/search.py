"""Local recoding on top of the generalisation lattice: each group of records stands at a node of its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.privacy import PrivacyModel
from discreet.privacy.base import refuse_empty
from discreet.search import clock
from discreet.search.local.group_kernels import GroupTable, dearest, meet, regroup
from discreet.search.local.groups import ancestor_price, group_table, loss_of, spans_of
from discreet.search.local.kernels import Screen, make_pool
from discreet.search.local.space import node_costs, screen_of
from discreet.search.mondrian.kernels import Space
from discreet.search.mondrian.search import Partition, released
from discreet.search.mondrian.space import space_of
from discreet.search.problem import Problem
from discreet.search.requirements import held, on_groups
from discreet.search.suppression import consistent
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import Recoding
from discreet.types import BoolArray, FloatArray, IntArray, Progress

Costs = Sequence[FloatArray]

NOBODY = -1
"""The group of classes that have none yet."""
MOST_NODES = 10_000
"""So many nodes of the lattice are visited if nothing else is said; of larger lattices, levels are left out."""
MOST_NODES_ASKED = 500
"""The same where requirements have to be asked of the whole table at every node."""
BANDS = 48
"""Cells are taken from the cheapest on, in so many bands of their price; narrow ones where cells are cheap."""
BLOCK = 1024
"""Neighbours are sought among so many groups at a time."""
ROUNDS = 12
"""At most so often neighbourhoods are grouped anew."""
WORTHWHILE = 1e-3
"""A round that lowers the loss by a smaller share is the last."""
LEAST_ROOM, MOST_ROOM = 48, 256
"""At least and at most so many classes are grouped anew at a time."""
GROUPS_AT_A_TIME = 6
"""So many groups of the usual size among them."""
LUCK = 1.0
"""How far chance changes prices, after a first round without it, when neighbourhoods are grouped anew."""
LITTLE_BALANCE = 1 / 256
"""The least share of a large group's classes on either side of a cut, where trees are compared."""
SWEEPS = 50
"""At most so often every group gives up a class, where suppression is allowed and cheaper."""


def local_recoding(
    problem: Problem,
    *,
    start: IntArray | None = None,
    nodes: int = MOST_NODES,
    end: float = math.inf,
    progress: Progress | None = None,
) -> Recoding:
    """Local recoding: records that one generalisation would suppress get another one, until none is left.

    The cells of all nodes of the lattice are taken from the least loss on. The classes without a group in a
    cell form one, if it meets every requirement by itself; so every class is released at about the cheapest
    node that can hold it. What is left at the top joins the released groups whose loss grows least, as many
    as it takes. Groups are then divided where both parts meet the requirements. Again and again each group
    and its nearest are taken apart and grouped anew, which is kept if it lowers the loss; classes change to
    groups of their neighbours, and every cell is written as the closest common ancestor of its group's own
    values.

    The loss is that of the problem's objective where it is a loss per cell, summed over attributes with
    their weights; for other objectives, and for other ways to sum up, it is the leaf-share loss or the
    plain sum. If suppression is allowed, classes are given up whose group costs less without them, from
    the one that saves most on, as far as the limit allows and as long as the release also holds when it is
    judged by itself. Else nothing is suppressed, unless not even the whole table as one group meets the
    requirements: then everything is. Requirements that compare a group with the table always see the whole table.
    With ``start``, the group of each class in a recoding whose groups meet the requirements, these groups are the
    beginning instead of those of the nodes, of which at most ``nodes`` are visited. After ``end`` (by
    `clock.now`) groups stay as they are. Chance takes part but is always the same: so is the result.

    Follows the idea of ARX (Prasser, Kohlmayer and Kuhn): recode what was suppressed again; loss: Iyengar,
    "Transforming data to satisfy privacy constraints", KDD 2002; grouping anew: Shaw, "Using constraint
    programming and local search methods to solve vehicle routing problems", CP 1998; joining: Goldberger and
    Tassa, "Efficient anonymizations with enhanced utility", 2010.

    >>> from discreet.privacy import KAnonymity
    >>> from discreet.search.problem import make_problem
    >>> from discreet.table.hierarchies.hierarchy import Hierarchy
    >>> zips = [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"], ["2021", "202*", "*"]]
    >>> classes = EquivalenceClasses.from_columns({"zip": ["1010", "1010", "1011", "1011", "2020", "2021"]})
    >>> ladder = Hierarchy.of("zip", zips).ladder(classes.attributes[0])
    >>> local_recoding(make_problem(classes, [ladder], [KAnonymity(2)])).columns[0].per_class().to_pylist()
    ['1010', '1011', '202*', '202*']
    """
    return local_recodings(problem, start=start, nodes=nodes, end=end, progress=progress)[0]


def local_recodings(
    problem: Problem,
    *,
    start: IntArray | None = None,
    nodes: int = MOST_NODES,
    end: float = math.inf,
    progress: Progress | None = None,
) -> tuple[Recoding, ...]:
    """The result of ``local_recoding``, and, where it suppresses records, the same groups with nobody suppressed."""
    classes, ladders = problem.classes, problem.ladders
    refuse_empty(classes)
    say = progress or (lambda _: None)
    models = on_groups(problem.models)
    owner = np.zeros(len(classes), dtype=np.int64)
    kept = held(models, classes, owner, 1)
    costs, star = node_costs(problem)
    space, others = space_of(classes, models, ladders, style="hierarchy", weights=problem.weights)
    space = _priced(space, costs, ladders)
    screen = screen_of(classes, others)
    if kept.all() and len(classes) > 1:
        partition = Partition(classes, space, others, say, end)
        visited = start
        if visited is None:
            visited = _visited(classes, space, others, ladders, costs, most=nodes, end=end, say=say)
            visited = _absorbed(classes, space, models, visited)
        # Where little is left over the visit is the better start; where much is, the table as a whole.
        divided = [partition.divided(groups, strict=False) for groups in (visited, owner)]
        owner = min(divided, key=lambda groups: loss_of(space, groups))
        owner = _regrouped(classes, space, screen, others, owner, end, say)
        owner = partition.exchanged(partition.divided(owner, strict=False))
        _, owner = np.unique(owner, return_inverse=True)
        owner = owner.astype(np.int64)
        kept = np.ones(int(owner.max()) + 1, dtype=bool)

    recoding = partial(released, classes, models, ladders=ladders, style="hierarchy", method="local recoding")
    whole = recoding(owner, kept)
    if not problem.allowed or not kept.all() or whole.suppressed_records:
        return (whole,)
    spared, lost = _given_up(problem, space, screen, models, owner, star, say)
    if lost < 0:
        return (whole,)
    less = recoding(spared, np.arange(int(spared.max()) + 1) != lost)
    # What is given up may be what the others were compared with.
    honest = consistent(less, models, problem.allowed).suppressed_records == less.suppressed_records
    fits = honest and less.kept.any() and less.suppressed_records <= problem.allowed
    return (less, whole) if fits else (whole,)


def top_down(
    problem: Problem, *, emphasis: float, end: float = math.inf, progress: Progress | None = None
) -> tuple[float, IntArray]:
    """Groups by dividing the whole table along its trees, and their loss: what a tree is good for, at little cost.

    The more ``emphasis``, the more the attributes count in cuts in which a group loses much. Other than in
    ``local_recoding`` large groups may be cut near their ends.
    """
    classes, models = problem.classes, on_groups(problem.models)
    owner = np.zeros(len(classes), dtype=np.int64)
    costs, _ = node_costs(problem)
    space, others = space_of(classes, models, problem.ladders, style="hierarchy", weights=problem.weights)
    space = _priced(space, costs, problem.ladders)
    if held(models, classes, owner, 1).all():
        steered = space._replace(share=space.share**emphasis)
        partition = Partition(classes, steered, others, progress or (lambda _: None), end)
        owner = partition.divided(owner, strict=False, balance=LITTLE_BALANCE)
    return loss_of(space, owner), owner


def _priced(space: Space, costs: Costs, ladders: Sequence[Ladder]) -> Space:
    """The space with the objective's prices of nodes, in the order of its places."""
    shares = []
    for table, ladder in zip(costs, ladders, strict=True):
        order = np.lexsort([step.codes for step in ladder.steps])
        shares.append(table[:, order].ravel())
    return space._replace(share=np.concatenate(shares))


# ── the start ─────────────────────────────────────────────────────────────────────────────────────────


def _visited(
    classes: EquivalenceClasses,
    space: Space,
    others: Sequence[PrivacyModel],
    ladders: Sequence[Ladder],
    costs: Costs,
    *,
    most: int,
    end: float,
    say: Progress,
) -> IntArray:
    """The group of each class after all nodes were visited; ``NOBODY`` where no node could hold it."""
    columns = list(zip(ladders, classes.codes, costs, strict=True))
    codes = np.stack([step.codes[column] for ladder, column, _ in columns for step in ladder.steps])
    codes = codes.astype(np.int32)
    prices = np.stack([row[column] for _, column, table in columns for row in table])
    nodes = _nodes(classes, ladders, costs, min(most, MOST_NODES_ASKED) if others else most)
    least, largest = (end(prices, axis=1)[nodes].sum(axis=1) for end in (np.min, np.max))
    # Asking the whole table is dear: then whole nodes follow each other, not cells.
    edges = [np.inf] if others else [*(float(largest.max()) * (np.arange(BANDS) / BANDS) ** 2), np.inf]
    owner = np.full(len(classes), NOBODY, dtype=np.int64)
    groups = 0
    rest = np.arange(len(classes))
    table = _Rest(classes, rest)
    slots = np.empty(1 << max(4, (2 * len(rest)).bit_length()), dtype=np.int32)
    cell = np.empty(len(rest), dtype=np.int64)
    good = np.empty(len(rest), dtype=bool)
    item_stamp = np.zeros(int(space.item.max()) + 1 if len(space.item) else 0, dtype=np.int64)
    version = 1
    for before, edge in itertools.pairwise([-np.inf, *edges]):
        say(
            Sentence(
                "visiting {count:,} generalisations: {share:.0%} have their group",
                count=len(nodes),
                share=1 - len(rest) / len(classes),
            )
        )
        # Cells of less were taken or had too few; and those only become fewer.
        for rows in nodes[(least <= edge) & (largest > before)]:
            if clock.now() >= end:
                return owner
            cells, version = meet(space, codes, rows, rest, slots, cell, good, item_stamp, version)
            here, fine = cell[: len(rest)], good[:cells]
            if others and fine.any():
                fine &= table.held(others, here, cells)
            taken = np.flatnonzero(fine[here])
            if np.isfinite(edge) and len(taken):
                taken = taken[prices[rows][:, rest[taken]].sum(axis=0) <= edge]
            if not len(taken):
                continue
            used, compact = np.unique(here[taken], return_inverse=True)
            owner[rest[taken]] = groups + compact
            groups += len(used)
            rest = np.delete(rest, taken)
            if not len(rest):
                return owner
            if others:
                table = _Rest(classes, rest)
            slots = slots[: 1 << max(4, (2 * len(rest)).bit_length())]
    return owner


class _Rest:
    """The classes without a group yet, in a table where all others are one class: the whole stays known."""

    def __init__(self, classes: EquivalenceClasses, rest: IntArray) -> None:
        self._all = len(rest) == len(classes)
        number = np.full(len(classes), len(rest), dtype=np.int64)
        number[rest] = np.arange(len(rest))
        domain = Domain("class", pa.array(np.arange(len(rest) + 1)))
        self._classes = classes if self._all else classes.recoded([domain], [number])
        if not self._all and classes.class_population is not None:
            # Numbers stand for nobody outside.
            people = np.bincount(number, weights=classes.class_population, minlength=len(rest) + 1)
            self._classes.__dict__["class_population"] = people

    def held(self, models: Sequence[PrivacyModel], cell: IntArray, cells: int) -> BoolArray:
        """Which cells meet the requirements."""
        if self._all:
            return held(models, self._classes, cell, cells)
        return held(models, self._classes, np.append(cell, cells), cells + 1)[:cells]


def _nodes(classes: EquivalenceClasses, ladders: Sequence[Ladder], costs: Costs, most: int) -> IntArray:
    """Nodes of the lattice from the least loss on, as rows of level codes; of large lattices only some."""
    prices = [
        table @ np.bincount(column, weights=classes.records, minlength=table.shape[1])
        for table, column in zip(costs, classes.codes, strict=True)
    ]
    levels = [list(range(ladder.height + 1)) for ladder in ladders]
    while _size(levels) > most and max(map(len, levels)) > 2:
        # The attribute with most levels loses every second one in between; the ends always stay.
        longest = max(levels, key=len)
        longest[1:-1] = longest[2:-1:2]
    nodes = _chain(prices) if _size(levels) > most else np.array(list(itertools.product(*levels)))
    total = sum(price[nodes[:, j]] for j, price in enumerate(prices))
    order = np.argsort(np.round(total, 6), kind="stable")
    offsets = np.cumsum([0, *(ladder.height + 1 for ladder in ladders[:-1])])
    return np.asarray(nodes[order] + offsets, dtype=np.int64)


def _size(levels: Sequence[Sequence[int]]) -> int:
    """How many nodes there are; may be beyond any machine number."""
    return math.prod(map(len, levels))


def _chain(prices: Sequence[FloatArray]) -> IntArray:
    """One way from the bottom of the lattice to its top, always by the step that adds least loss."""
    node = [0] * len(prices)
    nodes = [tuple(node)]
    while True:
        steps = [
            (price[at + 1] - price[at], j)
            for j, (price, at) in enumerate(zip(prices, node, strict=True))
            if at + 1 < len(price)
        ]
        if not steps:
            return np.array(nodes)
        node[min(steps)[1]] += 1
        nodes.append(tuple(node))


def _absorbed(
    classes: EquivalenceClasses, space: Space, models: Sequence[PrivacyModel], owner: IntArray
) -> IntArray:
    """Let the groups whose loss grows least take in what has none: 1, 2, 4 … of them, until together they hold."""
    lost = owner == NOBODY
    if not lost.any():
        return owner
    groups = int(owner.max()) + 1
    if not groups:
        return np.zeros_like(owner)
    owner = np.where(lost, groups, owner)
    order = np.argsort(_growth(space, owner, groups), kind="stable")
    for taken in itertools.takewhile(lambda i: i < 2 * groups, (1 << i for i in itertools.count())):
        together = np.zeros(groups + 1, dtype=bool)
        together[order[:taken]] = True
        together[groups] = True
        joined = np.where(together[owner], groups, owner)
        _, joined = np.unique(joined, return_inverse=True)
        number = int(joined.max()) + 1
        if held(models, classes, joined, number).all():
            break
    return joined.astype(np.int64)


def _growth(space: Space, owner: IntArray, groups: int) -> FloatArray:
    """By how much the loss of each group grows if it is joined with the last one."""
    low, high, sizes = spans_of(space, owner)
    joined = ancestor_price(space, np.minimum(low, low[groups]), np.maximum(high, high[groups]))
    growth = joined * (sizes + sizes[groups]) - ancestor_price(space, low, high) * sizes
    return np.asarray(growth[:groups])


# ── better groups ─────────────────────────────────────────────────────────────────────────────────────


def _regrouped(
    classes: EquivalenceClasses,
    space: Space,
    screen: Screen,
    others: Sequence[PrivacyModel],
    owner: IntArray,
    end: float,
    say: Progress,
) -> IntArray:
    """Groups of less loss: neighbourhoods are grouped anew as long as that helps.

    Groups are put in an order that keeps similar ones together, another one every round, and in blocks;
    blocks are independent of each other. The models have the last word on every new group.
    """
    turn = np.argsort(-space.unit, kind="stable").astype(np.int64)
    room = _room(owner)
    pools = [make_pool(space, screen, room) for _ in range(2)]
    # Large neighbourhoods take long: then there are fewer of them between two looks at the time.
    block_size = BLOCK * LEAST_ROOM // room
    least = float(
        sum(space.share[at : at + size].min() for at, size in zip(space.at, space.size, strict=True))
    )
    with ThreadPoolExecutor(len(pools)) as workers:
        for number in range(ROUNDS):
            if clock.now() >= end:
                break
            groups = group_table(space, owner)
            loss = groups.price * groups.size
            say(
                Sentence(
                    "grouping neighbours anew: round {number}, mean loss {sum:.4f}",
                    number=number + 1,
                    sum=loss.sum() / classes.total,
                )
            )
            first = turn[number % len(turn)]
            keys = [groups.low[:, j] for j in (first, *turn[turn != first])]
            line = np.lexsort(keys[::-1])
            # Every other round the blocks begin half a block later.
            cuts = np.arange(block_size // 2 if number % 2 else block_size, len(line), block_size)
            blocks = [block[np.argsort(-loss[block], kind="stable")] for block in np.split(line, cuts)]
            fresh, hood = (np.full(len(classes), NOBODY, dtype=np.int64) for _ in range(2))

            def work(
                which: int,
                groups: GroupTable = groups,
                blocks: Sequence[IntArray] = blocks,
                fresh: IntArray = fresh,
                hood: IntArray = hood,
                number: int = number,
            ) -> None:
                for at in range(which, len(blocks), len(pools)):
                    if clock.now() >= end:
                        return
                    seed = number * 65_537 + at + 1
                    luck = LUCK if number else 0.0
                    regroup(
                        space, screen, turn, groups, blocks[at], least, luck, seed, pools[which], fresh, hood
                    )

            list(workers.map(work, range(len(pools))))
            new = _confirmed(classes, others, owner, fresh, hood)
            gained = float(loss.sum()) - loss_of(space, new)
            owner = new
            if gained <= WORTHWHILE * float(loss.sum() - least * classes.total):
                break
    return owner


def _room(owner: IntArray) -> int:
    """How many classes are grouped anew at a time: those of a few groups."""
    typical = len(owner) / (int(owner.max()) + 1)
    return int(min(max(LEAST_ROOM, GROUPS_AT_A_TIME * typical), MOST_ROOM))


def _confirmed(
    classes: EquivalenceClasses,
    others: Sequence[PrivacyModel],
    owner: IntArray,
    fresh: IntArray,
    hood: IntArray,
) -> IntArray:
    """The new groups, but the old ones in every neighbourhood in which a new one fails one of ``others``."""
    count = int(owner.max()) + 1
    new = np.where(fresh >= 0, count + fresh, owner)
    while others:
        _, dense = np.unique(new, return_inverse=True)
        bad = ~held(others, classes, dense, int(dense.max()) + 1)
        undone = np.zeros(count, dtype=bool)
        undone[hood[bad[dense] & (new >= count)]] = True
        if not undone.any():
            break
        new = np.where((hood >= 0) & undone[hood], owner, new)
    _, dense = np.unique(new, return_inverse=True)
    return dense.astype(np.int64)


# ── suppression ───────────────────────────────────────────────────────────────────────────────────────


def _given_up(
    problem: Problem,
    space: Space,
    screen: Screen,
    models: Sequence[PrivacyModel],
    owner: IntArray,
    star: FloatArray,
    say: Progress,
) -> tuple[IntArray, int]:
    """Groups without the classes whose suppression saves most, and which of them holds these; -1 for none."""
    classes, records = problem.classes, problem.classes.records
    left = problem.allowed
    out = int(owner.max()) + 1
    pool = make_pool(space, screen, _room(owner))
    owner = owner.copy()
    stuck = np.zeros(out + 1, dtype=bool)
    for number in range(SWEEPS):
        say(
            Sentence(
                "looking for records that cost more than their suppression: sweep {number}", number=number + 1
            )
        )
        groups = group_table(space, owner, out)
        given_up, gain = np.empty(out, dtype=np.int64), np.empty(out)
        dearest(space, screen, groups, star, pool, given_up, gain)
        taken = np.zeros(len(classes), dtype=bool)
        lost = np.where(given_up == -2, groups.size, records[np.maximum(given_up, 0)])
        for g in np.argsort(-gain / np.maximum(lost, 1), kind="stable"):
            if given_up[g] == -1 or stuck[g] or lost[g] > left:
                continue
            here = groups.listed[groups.start[g] : groups.start[g + 1]]
            taken[here if given_up[g] == -2 else given_up[g]] = True
            left -= int(lost[g])
        if not taken.any():
            break
        trial = np.where(taken, out, owner)
        _, dense = np.unique(trial, return_inverse=True)
        bad = ~held(models, classes, dense, int(dense.max()) + 1)[dense] & (trial < out)
        # Their class stays, and they are not asked again.
        stuck[owner[bad]] = True
        back = taken & stuck[owner]
        left += int(records[back].sum())
        owner = np.where(taken & ~back, out, owner)
    gone = owner == out
    _, dense = np.unique(owner, return_inverse=True)
    return dense.astype(np.int64), int(dense[gone][0]) if gone.any() else -1
