"""Models for numeric sensitive attributes: who knows the class must not know the number closely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from discreet.classes import EquivalenceClasses, Histogram
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.measure import Direction
from discreet.privacy.base import (
    PrivacyModel,
    need_choice,
    need_column,
    need_mapping,
    need_number,
    need_whole,
    record_note,
    refuse_uncovered,
)
from discreet.sentences import Sentence
from discreet.table.domain import NULL_SIGN, Domain
from discreet.types import BoolArray, FloatArray


def numbers_of(domain: Domain) -> FloatArray:
    """The number of each value code, NaN where it is missing; raises where the attribute is not numeric."""
    if not domain.is_numeric:
        raise UnsuitableColumn(
            Sentence("{name!r} is not numeric", name=domain.name),
            remedy="name a numeric sensitive attribute or another model",
        )
    if np.isinf(domain.numbers).any():
        raise UnsuitableColumn(
            Sentence("{name!r} has infinite values", name=domain.name),
            remedy="replace them by nulls or a bound",
        )
    return domain.numbers


def value_range(histogram: Histogram) -> FloatArray:
    """Largest minus smallest number of each class; 0 where it has none.

    Zhang et al., "Aggregate query answering on anonymized tables", ICDE 2007.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0, 1]}, sensitive={"pay": [1000, 4000, None]})
    >>> value_range(classes.histogram("pay"))
    array([3000.,    0.])
    """
    numbers = numbers_of(histogram.domain)[histogram.values]
    with np.errstate(over="ignore"):  # A range that no float holds is told as the largest one.
        spread = histogram.per_class(np.fmax, numbers) - histogram.per_class(np.fmin, numbers)
    return np.nan_to_num(spread, nan=0.0)


def distinct_numbers(histogram: Histogram) -> FloatArray:
    """How many different values with a number each class has.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0, 0]}, sensitive={"pay": [1, 2, None]})
    >>> distinct_numbers(classes.histogram("pay"))
    array([2.])
    """
    known = ~np.isnan(numbers_of(histogram.domain))
    return histogram.per_class(np.add, known[histogram.values].astype(np.int64)).astype(np.float64)


def crowded_share(histogram: Histogram, below: FloatArray, above: FloatArray) -> FloatArray:
    """The largest share of a class's numbers in [x - below, x + above], over its own numbers x.

    ``below[v]`` and ``above[v]`` are the reach of value code v. Shares count records with a number; a
    class without any has 0. One integer per entry (class, then rank of its number) turns both ends of
    every window into a binary search.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"pay": [1000, 1030, 1050, 4000]})
    >>> reach = np.full(4, 50.0)
    >>> crowded_share(classes.histogram("pay"), reach, reach)
    array([0.75])
    """
    numbers = numbers_of(histogram.domain)
    count = len(histogram.distinct)
    kept = np.flatnonzero(~np.isnan(numbers)[histogram.values])
    owner, value, records = histogram.class_of_entry[kept], histogram.values[kept], histogram.records[kept]
    scale, rank = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
    rank_of_value = np.zeros(len(numbers), dtype=np.int64)
    rank_of_value[~np.isnan(numbers)] = rank
    # A bound hit exactly must not be missed by a rounding error in x ± reach.
    slack = 1e-12 * np.maximum(np.abs(numbers), np.maximum(below, above))
    with np.errstate(over="ignore"):  # An end that no float holds is infinite, and so beyond every number.
        low = np.searchsorted(scale, numbers - below - slack, side="left")
        high = np.searchsorted(scale, numbers + above + slack, side="right")

    line = owner * len(scale)
    keys = line + rank_of_value[value]
    if not np.all(keys[1:] >= keys[:-1]):
        order = np.argsort(keys, kind="stable")
        line, keys, value, records, owner = (
            line[order],
            keys[order],
            value[order],
            records[order],
            owner[order],
        )
    running = np.concatenate(([0], np.cumsum(records)))
    inside = (
        running[np.searchsorted(keys, line + high[value])] - running[np.searchsorted(keys, line + low[value])]
    )
    size = np.bincount(owner, weights=records, minlength=count)
    shares = np.zeros(count)
    np.maximum.at(shares, owner, inside / size[owner])
    return shares


def share_of_category(histogram: Histogram, categories: Mapping[str, str]) -> FloatArray:
    """The largest share of each class's values that fall into one category; nulls are left out, and a class without values has 0."""
    domain = histogram.domain
    known = np.arange(domain.size) != (-1 if domain.null_code is None else domain.null_code)
    labels = [label for label, there in zip(domain.labels(), known, strict=True) if there]
    refuse_uncovered(domain, [*categories, *(() if domain.null_code is None else (NULL_SIGN,))], "categories")
    number = {name: at for at, name in enumerate(dict.fromkeys(categories.values()))}
    of_value = np.full(domain.size, -1, dtype=np.int64)
    of_value[known] = [number[categories[label]] for label in labels]
    shown = np.flatnonzero(of_value[histogram.values] >= 0)
    owner, records = histogram.class_of_entry[shown], histogram.records[shown]
    pairs, place = np.unique(owner * len(number) + of_value[histogram.values[shown]], return_inverse=True)
    inside = np.bincount(place, weights=records, minlength=len(pairs))
    count = len(histogram.distinct)
    most = np.zeros(count)
    np.maximum.at(most, pairs // len(number), inside)
    total = np.bincount(owner, weights=records, minlength=count)
    return np.asarray(np.divide(most, total, out=np.zeros(count), where=total > 0))


class _Numeric(PrivacyModel):
    """Models for one numeric sensitive attribute; nulls and missing marks have no number and are left out."""

    sensitive: str

    def _missing_note(self, histogram: Histogram) -> tuple[str, ...]:
        lost = int(histogram.totals[np.isnan(histogram.domain.numbers)].sum())
        return (Sentence("{lost} records without a number are left out", lost=lost),) if lost else ()

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        return (*self._missing_note(classes.histogram(self.sensitive)), *record_note(classes))


@dataclass(frozen=True)
class KEAnonymity(_Numeric):
    """Every class has at least ``k`` different numbers, and they span at least ``e``.

    |{s in E}| >= k and max(E) - min(E) >= e. Measured is the smallest span. Nulls and missing marks are
    left out.

    Monotone: merging loses no number, so neither count nor span shrinks.

    Zhang, Koudas, Srivastava and Yu, "Aggregate query answering on anonymized tables", ICDE 2007.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"pay": [1000, 1030, 1050, 4000]})
    >>> model = KEAnonymity(4, 3000, "pay")
    >>> model.measure(classes).value, model.satisfied(classes)
    (3000.0, True)
    """

    id: ClassVar[str] = "k-e-anonymity"
    title: ClassVar[str] = "(k, e)-anonymity"
    says: ClassVar[str] = "The range of the sensitive numbers in the class where it is narrowest."
    source: ClassVar[str] = "Zhang et al., Aggregate query answering on anonymized tables, 2007"
    absorbing: ClassVar[bool] = True

    k: int
    e: float
    sensitive: str

    def __post_init__(self) -> None:
        need_whole("k", self.k)
        need_number("e", self.e)
        need_column("sensitive", self.sensitive)

    @property
    def threshold(self) -> float:
        return float(self.e)

    def describe(self) -> str:
        return Sentence(
            "every class has at least {k} different numbers of {sensitive!r}, which span {e:g}",
            k=self.k,
            sensitive=self.sensitive,
            e=self.e,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return Sentence("units of {sensitive}", sensitive=self.sensitive)

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return value_range(classes.histogram(self.sensitive))

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        return super().holds(classes) & (distinct_numbers(classes.histogram(self.sensitive)) >= self.k)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "Who knows the class knows the number no closer than a range of {value:g}.", value=value
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        histogram = classes.histogram(self.sensitive)
        least = int(distinct_numbers(histogram).min())
        return (
            Sentence(
                "the least varied class has {least} different numbers; required are {k}",
                least=least,
                k=self.k,
            ),
            *self._missing_note(histogram),
        )


@dataclass(frozen=True)
class EpsilonMAnonymity(_Numeric):
    """Around each number of a class, at most 1/m of the class has similar numbers.

    For every x in E: |{y in E : |y - x| <= reach}| / |E| <= 1/m, with reach = epsilon
    (``kind="absolute"``) or epsilon |x| (``kind="relative"``). Measured is one over the largest such
    share. Nulls and missing marks are left out.

    Not monotone: a number of one class may be close to many of another that are far from each other.

    Li, Tao and Xiao, "Preservation of proximity privacy in publishing numerical sensitive data",
    SIGMOD 2008.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"pay": [1000, 1030, 1050, 4000]})
    >>> round(EpsilonMAnonymity(50, 2, "pay").measure(classes).value, 4)
    1.3333
    """

    id: ClassVar[str] = "epsilon-m-anonymity"
    title: ClassVar[str] = "(ε, m)-anonymity"
    says: ClassVar[str] = "How rarely the numbers of a class are similar to each other, in the worst class."
    source: ClassVar[str] = "Li, Tao and Xiao, Preservation of proximity privacy, 2008"
    monotone: ClassVar[bool] = False

    epsilon: float
    m: float
    sensitive: str
    kind: Literal["absolute", "relative"] = "absolute"

    def __post_init__(self) -> None:
        need_number("epsilon", self.epsilon)
        need_number("m", self.m, low=1.0)
        need_column("sensitive", self.sensitive)
        need_choice("kind", self.kind, ("absolute", "relative"))

    @property
    def threshold(self) -> float:
        return float(self.m)

    def describe(self) -> str:
        near = f"{self.epsilon:g}" if self.kind == "absolute" else f"{self.epsilon:.1%}"
        return Sentence(
            "at most 1/{m:g} of a class has a {sensitive!r} within {near} of any of its numbers",
            m=self.m,
            sensitive=self.sensitive,
            near=near,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "1 / largest share of similar numbers"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        histogram = classes.histogram(self.sensitive)
        numbers = numbers_of(histogram.domain)
        reach = (
            np.full(len(numbers), float(self.epsilon))
            if self.kind == "absolute"
            else self.epsilon * np.abs(numbers)
        )
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / crowded_share(histogram, reach, reach))

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        if np.isinf(value):
            return "No class has any number that could be guessed."
        return Sentence(
            "Who knows the class guesses a number closely enough in up to {share:.0%} of cases.",
            share=1 / value,
        )


@dataclass(frozen=True)
class WorstGroupProtection(_Numeric):
    """No range of a given ``width``, or none of some ``categories``, holds more than a share ``threshold`` of the values of any class.

    max over classes E and a of |{y in E : a <= y <= a + width}| / |E| <= threshold: the probability of
    disclosing a range of that width in the least protected class. Nulls and missing marks are left out. Of an attribute that is no
    number a range is a set of values that mean about the same: ``categories`` maps every value, as it prints, to its own, and ``width``
    is 0 (a null needs none: it is left out).

    Monotone: a fixed range holds of a mixture at most the largest of the parts' shares.

    Loukides and Shao, "Preventing range disclosure in k-anonymised data", Expert Systems with
    Applications 2011. The paper also allows for background knowledge; here the attacker knows the class.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"pay": [1000, 1030, 1050, 4000]})
    >>> WorstGroupProtection(0.5, 50, "pay").measure(classes).value
    0.75
    >>> ill = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"dx": ["HIV", "cancer", "flu", "cancer"]})
    >>> kinds = {"HIV": "incurable", "cancer": "incurable", "flu": "curable"}
    >>> WorstGroupProtection(0.5, 0, "dx", kinds).measure(ill).value
    0.75
    """

    id: ClassVar[str] = "worst-group-protection"
    title: ClassVar[str] = "Worst-group protection"
    says: ClassVar[str] = (
        "How often a narrow range catches the sensitive number of someone in the worst class."
    )
    source: ClassVar[str] = "Loukides and Shao, Preventing range disclosure in k-anonymised data, 2011"
    better: ClassVar[Direction] = "lower"

    limit: float
    width: float
    sensitive: str
    categories: Mapping[str, str] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        need_number("limit", self.limit, high=1.0, above=True)
        need_number("width", self.width)
        need_column("sensitive", self.sensitive)
        if self.categories is not None:
            need_mapping("categories", self.categories)
            if self.width:
                raise InvalidParameter(
                    "a width and categories were given: values have one or the other",
                    remedy="say width = 0, or leave categories out",
                )

    @property
    def threshold(self) -> float:
        return float(self.limit)

    def describe(self) -> str:
        if self.categories is not None:
            return Sentence(
                "no category holds more than {limit:.4g} of the {sensitive!r} of a class",
                limit=self.limit,
                sensitive=self.sensitive,
            )
        return Sentence(
            "no range of width {width:g} holds more than {limit:.4g} of the {sensitive!r} of a class",
            width=self.width,
            limit=self.limit,
            sensitive=self.sensitive,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "share of records"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        histogram = classes.histogram(self.sensitive)
        if self.categories is not None:
            return share_of_category(histogram, self.categories)
        reach = np.full(histogram.domain.size, float(self.width))
        return crowded_share(histogram, np.zeros_like(reach), reach)

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        return super().notes(classes, per_class) if self.categories is None else record_note(classes)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        if self.categories is not None:
            return Sentence(
                "Who knows the class hits the category in up to {value:.0%} of cases.", value=value
            )
        return Sentence(
            "Who knows the class hits the number with a range of width {width:g} in up to {value:.0%} of "
            "cases.",
            width=self.width,
            value=value,
        )
