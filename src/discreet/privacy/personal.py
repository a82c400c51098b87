"""Personalised privacy: everybody says what about them shall not be inferred, by a node of a hierarchy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.measure import Direction
from discreet.privacy.base import (
    PrivacyModel,
    need_column,
    need_mapping,
    need_number,
    record_note,
    refuse_uncovered,
)
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS
from discreet.table.domain import Domain
from discreet.table.values import SUPPRESSED
from discreet.types import BoolArray, FloatArray

Paths = Mapping[str, Sequence[str]]
"""What stands above each value of a hierarchy, from its parent to the root."""


def guarded_shares(nodes: Domain, values: Domain, paths: Paths) -> FloatArray:
    """Which share of what each value (columns) may stand for lies under each guarded node (rows).

    A leaf lies under a node or not; a generalised value v does so to a share of |leaves(v) ∩ leaves(g)| / |leaves(v)|, ``*`` like the
    root. Nulls lie under no node, and nobody guards by one.

    >>> import pyarrow as pa
    >>> paths = {"flu": ("lung", "any"), "asthma": ("lung", "any"), "ulcer": ("gut", "any")}
    >>> nodes = Domain("guard", pa.array(["gut", "lung", "ulcer"]))
    >>> guarded_shares(nodes, Domain("dx", pa.array(["any", "flu", "ulcer"])), paths).round(2)
    array([[0.33, 0.  , 1.  ],
           [0.67, 1.  , 0.  ],
           [0.33, 0.  , 1.  ]])
    """
    leaves: dict[str, set[str]] = {}
    for leaf, path in paths.items():
        for node in (leaf, *path):
            leaves.setdefault(node, set()).add(leaf)
    root = set(paths)
    named = {code: node for code, node in enumerate(nodes.labels()) if not _says_nothing(nodes, code, leaves)}
    if strangers := sum(node not in leaves for node in named.values()):
        raise InvalidPolicy(
            [
                Sentence(
                    "{strangers} of the {nodes} nodes that {guard!r} guards are not in the hierarchy of {sensitive!r}",
                    strangers=strangers,
                    nodes=len(named),
                    guard=nodes.name,
                    sensitive=values.name,
                )
            ],
            remedy="name values or nodes as the hierarchy writes them; an empty field guards nothing",
        )
    leaves.setdefault(SUPPRESSED, root)
    shown = [label for code, label in enumerate(values.labels()) if code != values.null_code]
    if set(shown) - leaves.keys():
        refuse_uncovered(values, {*leaves, "∅"}, "hierarchy")
    shares = np.zeros((nodes.size, values.size))
    for row, node in named.items():
        for column, value in enumerate(values.labels()):
            if column != values.null_code:
                shares[row, column] = len(leaves[value] & leaves[node]) / len(leaves[value])
    return shares


def _says_nothing(nodes: Domain, code: int, known: Collection[str]) -> bool:
    """Whether somebody guards nothing: a null, an empty text or another mark for what is missing."""
    node = nodes.label(code)
    return code == nodes.null_code or (node in MISSING_MARKS and node not in known)


def breach_probability(classes: EquivalenceClasses, sensitive: str, guard: str, paths: Paths) -> FloatArray:
    """For each class the greatest chance with which a guarded value of somebody in it is inferred; 0 if nobody guards anything.

    Of the records of a class E the share whose value lies under the node g, for the worst of the nodes that its people
    guard: max over g of Σ_{t ∈ E} w(t, g) / |E|. If a person may have several records, also the share of persons with such a
    record, if that is more. Xiao and Tao, "Personalized privacy preservation", SIGMOD 2006.

    >>> paths = {"flu": ("lung", "any"), "asthma": ("lung", "any"), "ulcer": ("gut", "any")}
    >>> classes = EquivalenceClasses.from_columns(
    ...     {"age": [31, 31, 31, 47]}, sensitive={"dx": ["flu", "asthma", "ulcer", "flu"]},
    ...     guards={"wish": ["flu", "lung", None, None]})
    >>> breach_probability(classes, "dx", "wish", paths)
    array([0.66666667, 0.        ])
    """
    values, guards = classes.histogram(sensitive), classes.histogram(guard)
    shares = guarded_shares(guards.domain, values.domain, paths)
    owner = values.class_of_entry
    worst = np.zeros(len(classes))
    for node in np.unique(guards.values).tolist():
        asked = np.zeros(len(classes), dtype=bool)
        asked[guards.class_of_entry[guards.values == node]] = True
        weights = values.records * shares[node][values.values]
        share = np.bincount(owner, weights=weights, minlength=len(classes)) / classes.records
        if classes.event_level:
            share = np.maximum(share, _persons_under(classes, sensitive, shares[node] > 0))
        worst[asked] = np.maximum(worst, share)[asked]
    return worst


def _persons_under(classes: EquivalenceClasses, sensitive: str, under: BoolArray) -> FloatArray:
    """Of the persons of each class the share who have a record with one of some values."""
    assert classes.person_codes is not None
    cells = under[classes.sensitive_codes[sensitive]]
    width = int(classes.person_codes.max()) + 1
    pairs = np.unique(classes.class_of_cell[cells] * width + classes.person_codes[cells])
    return np.asarray(np.bincount(pairs // width, minlength=len(classes)) / classes.persons)


@dataclass(frozen=True)
class PersonalisedPrivacy(PrivacyModel):
    """What somebody guards is inferred about them with a chance of at most ``p``.

    Everybody names a node of the hierarchy of the sensitive attribute, in the column ``guard``, or none. For every class E and
    every node g that somebody in E guards, the records of E whose value lies under g are at most a share ``p`` of it. Without
    ``guard`` it is the only column with the role guarding-node, without a ``hierarchy`` that of the sensitive column.

    Not monotone: a merged class has the nodes of all its parts, and values that nobody guarded where they were.

    Xiao and Tao, "Personalized privacy preservation", SIGMOD 2006.

    >>> paths = {"flu": ("lung", "any"), "ulcer": ("gut", "any")}
    >>> classes = EquivalenceClasses.from_columns(
    ...     {"age": [31, 31, 47, 47]}, sensitive={"dx": ["flu", "ulcer", "flu", "flu"]},
    ...     guards={"wish": ["lung", None, None, None]})
    >>> model = PersonalisedPrivacy(0.5, "dx", "wish", paths)
    >>> model.holds(classes).tolist(), model.holds(classes.recoded([], [])).tolist()
    ([True, True], [False])
    """

    id: ClassVar[str] = "personalised-privacy"
    title: ClassVar[str] = "Personalised privacy"
    says: ClassVar[str] = "How surely is inferred about somebody what they guard."
    source: ClassVar[str] = "Xiao and Tao, Personalized privacy preservation, 2006"
    monotone: ClassVar[bool] = False
    better: ClassVar[Direction] = "lower"

    p: float
    sensitive: str
    guard: str | None = None
    hierarchy: Paths | None = field(default=None, hash=False, repr=False)

    def __post_init__(self) -> None:
        need_number("p", self.p, high=1.0, above=True)
        need_column("sensitive", self.sensitive)
        if self.guard is not None:
            need_column("guard", self.guard)
        if self.hierarchy is not None:
            need_mapping("hierarchy", self.hierarchy)
            if any(isinstance(path, str) or not path for path in self.hierarchy.values()):
                raise InvalidParameter(
                    "a value of the hierarchy has no ancestors",
                    remedy="give every value its ancestors from level 1 up to one common root",
                )

    @property
    def needs_guards(self) -> bool:
        return True

    def told(self, classes: EquivalenceClasses) -> bool:
        """Whether the classes tell what people guard."""
        return any(domain.name == self.guard for domain in classes.guards)

    @property
    def threshold(self) -> float:
        return float(self.p)

    def describe(self) -> str:
        return Sentence(
            "what somebody guards of {sensitive!r} is inferred about them with a chance of at most {p:.4g}",
            sensitive=self.sensitive,
            p=self.p,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "probability"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        if self.guard is None or self.hierarchy is None:
            raise InvalidPolicy(
                [
                    Sentence("{model} is required, and no column says what people guard", model=self.id)
                    if self.guard is None
                    else Sentence(
                        "{model} is required, and {sensitive!r} has no hierarchy",
                        model=self.id,
                        sensitive=self.sensitive,
                    )
                ],
                remedy="give a column the role guarding-node (--guards COLUMN) and the sensitive column a hierarchy "
                '(hierarchy = "diagnosis.csv")',
            )
        return breach_probability(classes, self.sensitive, self.guard, self.hierarchy)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "What somebody guards is inferred about them with a chance of up to {value:.1%}.", value=value
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        if self.guard is None or self.guard not in classes.sensitive_codes:
            return ()
        guards = classes.histogram(self.guard)
        known = {node for leaf, path in (self.hierarchy or {}).items() for node in (leaf, *path)}
        says_nothing = [_says_nothing(guards.domain, code, known) for code in range(guards.domain.size)]
        free = int(guards.records[np.array(says_nothing)[guards.values]].sum())
        told = Sentence(
            "{guarding:,} of {records:,} records say what is to be guarded",
            guarding=classes.total - free,
            records=classes.total,
        )
        return (told, *record_note(classes))
