"""l-diversity in its forms: the sensitive values of a class must be well represented."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from discreet.classes import EquivalenceClasses, Histogram
from discreet.classes.packing import Packing, run_starts
from discreet.errors import UnsuitableColumn
from discreet.measure import Direction, Wording
from discreet.privacy.base import (
    PrivacyModel,
    absent_labels_note,
    need_choice,
    need_column,
    need_mapping,
    need_number,
    need_whole,
    per_value,
    record_note,
)
from discreet.sentences import Sentence
from discreet.types import FloatArray

Kind = Literal["distinct", "entropy", "recursive", "simple"]
KINDS: tuple[Kind, ...] = ("distinct", "entropy", "recursive", "simple")

_NAMES = {
    "distinct": "l-diversity",
    "entropy": "entropy-l-diversity",
    "recursive": "recursive-c-l-diversity",
    "simple": "simple-l-diversity",
}
_LEAST_VARIED = "The least varied class for someone who also knows all other sensitive attributes."
_SOURCE = "Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, 2007"


def distinct_l(histogram: Histogram) -> FloatArray:
    """How many different sensitive values each class has: l(E) = |{s : n(E, s) > 0}|.

    Machanavajjhala et al. 2007.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "f", "m"]}, sensitive={"dx": ["flu", "flu", "acne", "flu"]})
    >>> distinct_l(classes.histogram("dx"))
    array([2., 1.])
    """
    return histogram.distinct.astype(np.float64)


def entropy_l(histogram: Histogram) -> FloatArray:
    """How many equally frequent values would be as uncertain: l(E) = exp(-sum of p ln p).

    Machanavajjhala et al. 2007. With counts n(s) of a class of size n the entropy is
    ln n - (1/n) sum of n(s) ln n(s), which needs no division per entry.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m", "m", "m"]}, sensitive={"dx": [1, 2, 1, 1, 1, 2]})
    >>> entropy_l(classes.histogram("dx")).round(4)
    array([2.    , 1.7548])
    """
    size = histogram.class_records
    surprise = histogram.records * np.log(histogram.records)
    # Rounding must not push a class of one value below 1, the smallest number of values there is.
    return np.maximum(np.exp(np.log(size) - histogram.per_class(np.add, surprise) / size), 1.0)


def simple_l(histogram: Histogram) -> FloatArray:
    """One over the share of the most frequent value: l(E) = 1 / max of p.

    Xiao and Tao, "Anatomy", VLDB 2006; also called frequency l-diversity.

    >>> classes = EquivalenceClasses.from_columns({"sex": ["f"] * 4}, sensitive={"dx": [1, 1, 2, 3]})
    >>> simple_l(classes.histogram("dx"))
    array([2.])
    """
    return np.asarray(histogram.class_records / histogram.per_class(np.maximum, histogram.records))


def recursive_c(histogram: Histogram, l: int) -> FloatArray:  # noqa: E741  (the field's own letter)
    """The bound that ``c`` must exceed: r1 / (r_l + … + r_m), r sorted from the most frequent down.

    A class is recursive (c, l)-diverse if r1 < c (r_l + … + r_m). Infinite where a class has fewer than
    ``l`` values. Machanavajjhala et al. 2007.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 10}, sensitive={"dx": [1] * 8 + [2, 3]})
    >>> recursive_c(classes.histogram("dx"), 2), recursive_c(classes.histogram("dx"), 3)
    (array([4.]), array([8.]))
    """
    most = int(histogram.records.max())
    packing = Packing.of([len(histogram.distinct), most + 1])
    # One sort puts the counts of every class in descending order: class in the high bits, deficit below.
    words = packing.pack([histogram.class_of_entry, most - histogram.records])
    if packing.words == 1:
        words[0].sort()
    else:
        words = [word[np.lexsort(tuple(reversed(words)))] for word in words]
    descending = most - packing.unpack(words, 1).astype(np.int64)
    running = np.concatenate(([0], np.cumsum(descending)))
    starts, ends = histogram.indptr[:-1], histogram.indptr[1:]
    tail = running[ends] - running[np.minimum(starts + l - 1, ends)]
    with np.errstate(divide="ignore"):
        return np.asarray(descending[starts] / tail)


def l_of(histogram: Histogram, kind: Kind, l: float) -> FloatArray:  # noqa: E741
    """The parameter each class reaches for one kind: its ``l``, or the bound on ``c`` for ``recursive``."""
    if kind == "distinct":
        return distinct_l(histogram)
    if kind == "entropy":
        return entropy_l(histogram)
    return simple_l(histogram) if kind == "simple" else recursive_c(histogram, int(l))


class _Diversity(PrivacyModel):
    """What l-diversity for one attribute and for several have in common."""

    l: float  # noqa: E741
    kind: Kind
    c: float | None

    def __post_init__(self) -> None:
        need_choice("kind", self.kind, KINDS)
        if self.kind in ("distinct", "recursive"):
            need_whole("l", self.l)
        else:
            need_number("l", self.l, low=1.0)
        if self.kind == "recursive":
            need_number("c", self.c, above=True)
        elif self.c is not None:
            need_choice("kind (c was given)", self.kind, ("recursive",))

    @property
    def threshold(self) -> float:
        return float(self.l) if self.c is None else float(self.c)

    @property
    def better(self) -> Direction:
        return "lower" if self.kind == "recursive" else "higher"

    @property
    def exclusive(self) -> bool:
        return self.kind == "recursive"

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return {
            "distinct": "distinct values",
            "entropy": "equally frequent values",
            "simple": "1 / largest share",
            "recursive": "c",
        }[self.kind]

    def _demand(self, attribute: str) -> Sentence:
        demands = {
            "distinct": Sentence(
                "every class has at least {l:g} different values of {attribute}",
                l=self.l,
                attribute=attribute,
            ),
            "entropy": Sentence(
                "the values of {attribute} in every class are as uncertain as {l:g} equally frequent ones",
                attribute=attribute,
                l=self.l,
            ),
            "simple": Sentence(
                "no value of {attribute} fills more than 1/{l:g} of a class", attribute=attribute, l=self.l
            ),
            "recursive": Sentence(
                "in every class the most frequent value of {attribute} is rarer than {c:g} times all values from the "
                "{l:g}th most frequent on",
                attribute=attribute,
                c=self.threshold,
                l=self.l,
            ),
        }
        return demands[self.kind]

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        if self.kind == "distinct":
            if value == 1:
                return "In at least one class everybody has the same sensitive value: it is disclosed."
            return Sentence(
                "Who knows a person's class still has at least {value:.0f} sensitive values to choose from.",
                value=value,
            )
        if self.kind == "entropy":
            return Sentence(
                "Who knows a person's class is as uncertain as among {value:.3g} equally likely values.",
                value=value,
            )
        if self.kind == "simple":
            return Sentence(
                "Who knows a person's class guesses the sensitive value right in up to {share:.0%} of cases.",
                share=1 / value,
            )
        if np.isinf(value):
            return Sentence(
                "At least one class has fewer than {l:g} sensitive values, so no c suffices.", l=self.l
            )
        return Sentence(
            "The most frequent value of a class is up to {value:.3g} times as frequent as the rarer ones "
            "together.",
            value=value,
        )


@dataclass(frozen=True)
class LDiversity(_Diversity):
    """The sensitive values of every class are well represented.

    ``kind="distinct"``: at least l different values. ``"entropy"``: exp(entropy) >= l.
    ``"recursive"``: r1 < c (r_l + … + r_m); measured is the bound that ``c`` must exceed.
    ``"simple"``: no value's share exceeds 1/l. Shares count records; a null is a value of its own.

    Monotone: a mixture has all values of its parts, its entropy is at least the mean of theirs (concave),
    its largest share is at most the largest of theirs, and for recursive r1 is at most the sum of the
    parts' r1 while the tail is at least the sum of their tails.

    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, "l-diversity: privacy beyond k-anonymity",
    TKDD 2007; simple: Xiao and Tao, "Anatomy", VLDB 2006.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"dx": ["flu", "flu", "acne", "flu"]})
    >>> LDiversity(2, "dx").measure(classes).value
    2.0
    >>> round(LDiversity(2, "dx", kind="entropy").measure(classes).value, 3)
    1.755
    >>> LDiversity(2, "dx", kind="recursive", c=3).satisfied(classes)
    False
    """

    id: ClassVar[str] = "l-diversity"
    title: ClassVar[str] = "Distinct l-diversity"
    says: ClassVar[str] = "How many different sensitive values the least varied class has."
    kinds: ClassVar[Mapping[str, Wording]] = {
        "entropy-l-diversity": Wording(
            "Entropy l-diversity",
            "Among how many equally likely values one must guess in the least varied class.",
        ),
        "simple-l-diversity": Wording(
            "Simple l-diversity",
            "One over the share of the most frequent sensitive value in the worst class.",
        ),
        "recursive-c-l-diversity": Wording(
            "Recursive (c, l)-diversity",
            "How far the most frequent sensitive value outweighs the rarer ones, in the worst class.",
        ),
    }
    source: ClassVar[str] = _SOURCE

    l: float  # noqa: E741
    sensitive: str
    kind: Kind = "distinct"
    c: float | None = None

    @property
    def absorbing(self) -> bool:
        return self.kind == "distinct"

    def __post_init__(self) -> None:
        need_column("sensitive", self.sensitive)
        super().__post_init__()

    @property
    def name(self) -> str:
        return _NAMES[self.kind]

    def describe(self) -> str:
        return self._demand(Sentence("{sensitive!r}", sensitive=self.sensitive))

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return l_of(classes.histogram(self.sensitive), self.kind, self.l)

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        values = int(np.count_nonzero(classes.histogram(self.sensitive).totals))
        about_l = (
            (Sentence("the bound on c for l = {l:g}; c must be greater", l=self.l),)
            if self.kind == "recursive"
            else ()
        )
        return (
            *about_l,
            Sentence("the table has {values} different values", values=values),
            *record_note(classes),
        )


@dataclass(frozen=True)
class MultiAttributeLDiversity(_Diversity):
    """l-diversity for every sensitive attribute, while all others count as quasi-identifiers.

    For sensitive attributes S1 … Sm the table is l-diverse if for each i it is l-diverse with S_i as the
    sole sensitive attribute and QI + {S_j : j ≠ i} as quasi-identifiers. A class holds if all the parts
    into which the other attributes split it do.

    Monotone: merging classes only merges such parts.

    Machanavajjhala et al., "l-diversity", TKDD 2007; Zigomitros et al. 2020, definition 8.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"a": [0] * 4}, sensitive={"dx": ["flu", "acne", "flu", "acne"], "pay": ["low", "low", "top", "top"]})
    >>> MultiAttributeLDiversity(2).measure(classes).value
    2.0
    """

    id: ClassVar[str] = "multi-attribute-l-diversity"
    title: ClassVar[str] = "Multi-attribute l-diversity"
    says: ClassVar[str] = _LEAST_VARIED
    kinds: ClassVar[Mapping[str, Wording]] = {
        f"multi-attribute-{name}": Wording(
            Sentence("Multi-attribute {lower}", lower=Sentence(kind.title.lower())), _LEAST_VARIED
        )
        for name, kind in LDiversity.kinds.items()
    }
    source: ClassVar[str] = _SOURCE
    needs_attributes: ClassVar[bool] = True

    l: float  # noqa: E741
    kind: Kind = "distinct"
    c: float | None = None
    sensitive: None = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        return f"multi-attribute-{_NAMES[self.kind]}"

    def describe(self) -> str:
        return Sentence(
            "{demand}, whoever knows all the others",
            demand=self._demand(Sentence("each sensitive attribute")),
        )

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        if not classes.sensitive:
            raise UnsuitableColumn(
                "no sensitive attribute was counted", remedy="give at least one column the role sensitive"
            )
        pick = np.minimum if self.better == "higher" else np.maximum
        reached = []
        for domain in classes.sensitive:
            parts = with_sensitive_as_quasi_identifier(classes, domain.name)
            # The parts of one class follow each other: both are ordered by the quasi-identifiers.
            keys = [codes.astype(np.int64) for codes in parts.codes[: len(classes.names)]]
            starts = run_starts(keys or [np.zeros(len(parts), dtype=np.int64)])
            reached.append(pick.reduceat(l_of(parts.histogram(domain.name), self.kind, self.l), starts))
        return np.asarray(pick.reduce(reached))


def with_sensitive_as_quasi_identifier(classes: EquivalenceClasses, name: str) -> EquivalenceClasses:
    """The classes over the quasi-identifiers and all sensitive attributes but ``name``, which stays sensitive.

    Machanavajjhala et al. 2007, multiple sensitive attributes.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"a": [0, 0, 0]}, sensitive={"dx": ["flu", "acne", "flu"], "pay": ["low", "low", "top"]})
    >>> split = with_sensitive_as_quasi_identifier(classes, "dx")
    >>> split.names, split.records
    (('a', 'pay'), array([2, 1]))
    """
    own = classes.sensitive_domain(name)
    others = [d.name for d in classes.sensitive if d.name != name and d.name not in classes.names]
    cells = [classes.column_of_cells(each) for each in (*classes.names, *others)]
    columns = [codes for _, codes in cells]
    sizes = [domain.size for domain, _ in cells]
    if classes.person_codes is not None:
        columns.append(classes.person_codes)
        sizes.append(int(classes.person_codes.max()) + 1)
    columns.append(classes.sensitive_codes[name])
    packing = Packing.of([*sizes, own.size])
    return EquivalenceClasses.from_packed(
        packing,
        packing.pack(columns),
        classes.counts,
        attributes=[domain for domain, _ in cells],
        sensitive=[own],
        persons=classes.person_codes is not None,
        weights=classes.weights,
    )


@dataclass(frozen=True)
class LPlusDiversity(PrivacyModel):
    """Each sensitive value has its own bound: p(E, s) <= threshold(s) for every class E.

    Values that are not named are not bounded. Measured is the largest multiple of its bound that a
    value's share reaches, so 1 or less is required.

    Monotone: a value's share in a mixture is at most the largest of its shares in the parts.

    Liu and Wang, "On optimal anonymization for l+-diversity", ICDE 2010.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"dx": ["flu", "flu", "flu", "HIV"]})
    >>> model = LPlusDiversity("dx", {"HIV": 0.2})
    >>> model.measure(classes).value, model.satisfied(classes)
    (1.25, False)
    """

    id: ClassVar[str] = "l-plus-diversity"
    title: ClassVar[str] = "l⁺-diversity"
    says: ClassVar[str] = "How near each named value comes to the share of a class it may fill."
    source: ClassVar[str] = "Liu and Wang, On optimal anonymization for l+-diversity, 2010"
    better: ClassVar[Direction] = "lower"

    sensitive: str
    thresholds: Mapping[str, float] = field(hash=False)

    def __post_init__(self) -> None:
        need_column("sensitive", self.sensitive)
        need_mapping("thresholds", self.thresholds)
        for bound in self.thresholds.values():
            need_number("every threshold", bound, high=1.0, above=True)

    @property
    def threshold(self) -> float:
        return 1.0

    @property
    def named_values(self) -> tuple[str, ...]:
        return tuple(self.thresholds)

    def describe(self) -> str:
        return Sentence(
            "none of {count} named values of {sensitive!r} exceeds its own share of a class",
            count=len(self.thresholds),
            sensitive=self.sensitive,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "share / allowed share"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        histogram = classes.histogram(self.sensitive)
        bounds = per_value(histogram.domain, self.thresholds, np.inf)
        return histogram.per_class(np.maximum, histogram.shares / bounds[histogram.values])

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "In the worst class a protected value has {value:.3g} times the share it may have.", value=value
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        domain = classes.sensitive_domain(self.sensitive)
        return (*absent_labels_note(domain, self.thresholds), *record_note(classes))
