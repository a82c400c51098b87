"""Random COUNT, SUM and AVG queries: how far answers from the release are from the true ones.

A query asks for a range of numbers or a set of categories in one to three attributes. A released value counts with
the share of what it may stand for that lies inside, so a class counts with the product of these shares times its
records; numbers to add up stand in the middle of their interval. Where a release tells a sensitive attribute by bucket,
a row counts with the share of its bucket that has the value; where values were drawn by PRAM's matrix, by its inverse. That is the answer of one who knows only the
release and takes values to be spread evenly and independently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import Packing, run_starts, sort_words
from discreet.classes.pair import ExpectedCells, Pair
from discreet.errors import InvalidParameter
from discreet.measure import Measure
from discreet.plain import finite
from discreet.table.meaning import Meaning
from discreet.types import BoolArray, FloatArray, Int32Array
from discreet.utility.definition import FOREIGN, Definition
from discreet.utility.distributions import attributes_of

Aggregate = Literal["count", "sum", "average"]
AGGREGATES: tuple[Aggregate, ...] = ("count", "sum", "average")
SANITY = 0.001
"""The least that an answer is compared with: this share of the records, or of the sum of all absolute numbers,
and what one record has on average."""

MOST_TEMPLATES = 40
"""Choices of attributes that a workload asks about: queries of one choice share the work of counting."""

BATCH = 2_000_000
"""So many values are looked at together: queries of one choice are asked in batches."""

_SOURCE = "Xiao and Tao 2006; Cormode et al. 2013; metrics evaluation on car data, 2023, A.1.5"
_ERROR = "|answer' - answer| / max(|answer|, 0.1 % of |T|, 1)"
_answer = partial(Definition, source=_SOURCE, family="Answers to queries")
_error = partial(_answer, unit="relative error", bounds="[0, ∞)")

MEDIANS: dict[Aggregate, Definition] = {
    "count": _error(
        "count-error-median",
        meaning="By how much half of the random questions 'how many people …?' are answered wrongly, at most.",
        formula=f"median of {_ERROR}",
    ),
    "sum": _error(
        "sum-error-median",
        meaning="By how much half of the random questions for a sum are answered wrongly, at most.",
        formula="median of the same, with 0.1 % of Σ |x|, at least one mean",
    ),
    "average": _error(
        "average-error-median",
        meaning="By how much half of the random questions for a mean are answered wrongly, at most.",
        formula="median of the same, with 0.1 % of the mean |x|",
    ),
}
MEANS: dict[Aggregate, Definition] = {
    "count": _error(
        "count-error-mean",
        meaning="By how much random questions 'how many people …?' are answered wrongly on average.",
        formula=f"mean of {_ERROR}",
    ),
    "sum": _error(
        "sum-error-mean",
        meaning="By how much random questions for a sum are answered wrongly on average.",
        formula="mean of the same",
    ),
    "average": _error(
        "average-error-mean",
        meaning="By how much random questions for a mean are answered wrongly on average.",
        formula="mean of the same",
    ),
}
UNANSWERED = _answer(
    "unanswered-queries",
    "share of queries",
    "How many random questions the release has no answer to.",
    "queries that ask for a mean of nobody, or for categories where the release has values of its own",
    "[0, 1]",
)


@dataclass(frozen=True)
class Workload:
    """What became of the queries: per aggregate the relative error of each that was answered.

    ``asked`` is how many queries had a true answer (a mean of nobody has none), ``unanswered`` how many of these
    the release could not answer.
    """

    errors: dict[Aggregate, FloatArray] = field(repr=False, compare=False)
    asked: int
    unanswered: int
    seed: int
    selectivity: float

    def measures(self) -> tuple[Measure, ...]:
        """Median and mean of the relative errors, and the share of queries without an answer."""
        measures, note = [], "not defined here: no query of this kind had an answer"
        for aggregate in AGGREGATES:
            for definition, statistic in ((MEDIANS[aggregate], np.median), (MEANS[aggregate], np.mean)):
                errors = self.errors[aggregate]
                measures.append(definition.of(float(statistic(errors)) if len(errors) else note))
        share = self.unanswered / self.asked if self.asked else 0.0
        return (*measures, UNANSWERED(share))

    def to_dict(self) -> dict[str, object]:
        return {
            "asked": self.asked,
            "unanswered": self.unanswered,
            "seed": self.seed,
            "selectivity": self.selectivity,
            "sanity": SANITY,
            "errors": {
                aggregate: {
                    "queries": len(errors),
                    **{
                        f"q{round(100 * q)}": finite(float(np.quantile(errors, q)))
                        for q in (0.1, 0.25, 0.5, 0.75, 0.9)
                        if len(errors)
                    },
                }
                for aggregate, errors in self.errors.items()
            },
        }


def random_workload(
    pair: Pair, *, queries: int = 1000, seed: int = 1, selectivity: float = 0.1, most_attributes: int = 3
) -> Workload:
    """Ask the original and the release the same random queries.

    Each query takes one to ``most_attributes`` attributes (quasi-identifiers and sensitive ones) and in each of
    d of them a share ``selectivity``^(1/d) of its values: neighbouring numbers, or any categories. COUNT, SUM and
    AVG take turns; the latter two are about an attribute with numbers that the query does not restrict, and
    where there is none COUNT takes their place. The relative error is |answer' - answer| / max(|answer|, s),
    s = 0.1 % of the records (at least one), of Σ |x| (at least one mean) or of the mean of |x|.
    Xiao and Tao, "Anatomy", VLDB 2006; Cormode et al., "Empirical privacy and empirical utility", 2013.

    >>> from discreet.utility.examples import four_ages
    >>> random_workload(four_ages("31", "34", "47", "52"), queries=20).errors["count"].sum().item()
    0.0
    """
    return random_workloads(
        [pair], queries=queries, seed=seed, selectivity=selectivity, most_attributes=most_attributes
    )[0]


def random_workloads(
    pairs: Sequence[Pair],
    *,
    queries: int = 1000,
    seed: int = 1,
    selectivity: float = 0.1,
    most_attributes: int = 3,
) -> tuple[Workload, ...]:
    """Ask several releases of one original the same random queries; see ``random_workload``.

    >>> from discreet.utility.examples import four_ages
    >>> release = four_ages()
    >>> [workload.asked for workload in random_workloads([release, release.trivial()], queries=30)]
    [30, 30]
    """
    if queries < 1 or not 0 < selectivity <= 1 or most_attributes < 1:
        raise InvalidParameter(
            "a workload needs at least one query of one attribute, and a selectivity above 0 and up to 1",
            remedy="for example queries = 1000, selectivity = 0.1",
        )
    rng = np.random.default_rng(seed)
    first = pairs[0]
    errors: list[dict[Aggregate, list[float]]] = [{name: [] for name in AGGREGATES} for _ in pairs]
    unanswered = [0] * len(pairs)
    asked = 0
    templates = [_template(first, rng, most_attributes) for _ in range(min(queries, MOST_TEMPLATES))]
    for number, (chosen, target) in enumerate(templates):
        meanings = [first.meaning(name) for name in chosen]
        before = _CountedTable.of(first.original, first.meaning, chosen, target, released=False)
        after = [
            _CountedTable.of(pair.expected or pair.released, pair.meaning, chosen, target, released=True)
            for pair in pairs
        ]
        most = max(1, BATCH // max(_width(pair.meaning(name)) for pair in pairs for name in chosen))
        for batch in _batches(range(number, queries, len(templates)), most):
            ranges = [np.empty((len(batch), meaning.original.size), dtype=bool) for meaning in meanings]
            for row in range(len(batch)):
                for meaning, part in zip(meanings, ranges, strict=True):
                    part[row] = _range(meaning, rng, selectivity ** (1 / len(chosen)))
            true = [part.astype(np.float64) for part in ranges]
            told = [
                [_inside(pair.meaning(name), part) for name, part in zip(chosen, ranges, strict=True)]
                for pair in pairs
            ]
            for row, at in enumerate(batch):
                aggregate: Aggregate = AGGREGATES[at % 3] if target else "count"
                exact = before.answer(aggregate, [part[row] for part in true])
                if np.isnan(exact):
                    continue
                asked += 1
                for place, (side, inside) in enumerate(zip(after, told, strict=True)):
                    answer = side.answer(aggregate, [part[row] for part in inside])
                    if np.isnan(answer):
                        unanswered[place] += 1
                    else:
                        error = abs(answer - exact) / max(abs(exact), before.least[aggregate])
                        errors[place][aggregate].append(error)
    return tuple(
        Workload({name: np.array(lists[name]) for name in AGGREGATES}, asked, missing, seed, selectivity)
        for lists, missing in zip(errors, unanswered, strict=True)
    )


def _width(meaning: Meaning) -> int:
    """How much is looked at to see which values of an attribute a query asks for."""
    return max(meaning.original.size + 1, len(meaning.starts), len(meaning.sizes))


def _batches(queries: range, most: int) -> Iterator[range]:
    """The queries of a template, at most so many at a time.

    >>> list(_batches(range(1, 11, 3), 3))
    [range(1, 10, 3), range(10, 13, 3)]
    """
    return (queries[at : at + most] for at in range(0, len(queries), most))


def _template(pair: Pair, rng: np.random.Generator, most: int) -> tuple[list[str], str | None]:
    """Attributes to restrict, and one with numbers to add up, if there is one besides."""
    names = attributes_of(pair)
    size = int(rng.integers(1, min(most, len(names)) + 1))
    chosen = [names[at] for at in sorted(rng.choice(len(names), size=size, replace=False).tolist())]
    others = [name for name in names if name not in chosen and pair.meaning(name).numeric]
    return chosen, others[int(rng.integers(len(others)))] if others else None


def _range(meaning: Meaning, rng: np.random.Generator, share: float) -> BoolArray:
    """Which original codes a query asks for: neighbouring numbers, or any categories."""
    size = meaning.original.size
    width = min(max(round(share * size), 1), size)
    codes = np.zeros(size, dtype=bool)
    if meaning.numeric:
        start = int(rng.integers(size - width + 1))
        codes[meaning.code_at[start : start + width]] = True
    else:
        codes[rng.choice(size, size=width, replace=False)] = True
    return codes


def _inside(meaning: Meaning, asked: BoolArray) -> FloatArray:
    """For each query the share of what each released value may stand for that it asks for; NaN where it cannot be told."""
    hits = _counted_inside(meaning, asked[:, meaning.code_at])
    shares = np.divide(hits, meaning.sizes, out=np.zeros(hits.shape), where=meaning.sizes > 0)
    alien = (meaning.kinds == FOREIGN) | (meaning.sizes == 0)
    if not alien.any():
        return np.asarray(shares)
    if not meaning.numeric:
        shares[:, alien] = np.nan
        return np.asarray(shares)
    centre = meaning.centre[alien]
    for row, part in enumerate(asked):
        numbers = meaning.original.numbers[part]
        within = np.zeros(len(centre), dtype=bool)
        if not np.isnan(numbers).all():
            within = (centre >= np.nanmin(numbers)) & (centre <= np.nanmax(numbers))
        shares[row, alien] = np.where(np.isnan(centre), np.nan, within)
    return np.asarray(shares)


def _counted_inside(meaning: Meaning, asked: BoolArray) -> FloatArray:
    """For each set of ranks, one in each row, and each released value, how many of them it may stand for.

    >>> from discreet.utility.examples import four_ages
    >>> ages = four_ages("[31, 34]", "[31, 34]", "47", "52").meaning("age")
    >>> _counted_inside(ages, np.array([[True, False, False, False], [True, True, True, False]])).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 2.0]]
    """
    before = np.zeros((len(asked), meaning.original.size + 1), dtype=np.int64)
    np.cumsum(asked, axis=1, out=before[:, 1:])
    amounts = before[:, meaning.stops] - before[:, meaning.starts]
    told = np.diff(meaning.indptr) > 0
    counts = np.zeros((len(asked), len(told)))
    if told.any():
        counts[:, told] = np.add.reduceat(amounts, meaning.indptr[:-1][told], axis=1)
    return counts


@dataclass(frozen=True)
class _CountedTable:
    """One table counted by the attributes of some queries, with the numbers they add up."""

    codes: Int32Array
    counts: FloatArray
    sums: FloatArray
    known: FloatArray
    least: dict[Aggregate, float]

    @classmethod
    def of(
        cls,
        classes: EquivalenceClasses | ExpectedCells,
        meaning_of: Callable[[str], Meaning],
        names: list[str],
        target: str | None,
        *,
        released: bool,
    ) -> _CountedTable:
        columns = [classes.column_of_cells(name) for name in names]
        numbers = np.zeros(len(classes.counts))
        if target is not None:
            meaning = meaning_of(target)
            per_code = meaning.centre if released else meaning.original.numbers
            numbers = per_code[classes.column_of_cells(target)[1]]
        counts = classes.counts.astype(np.float64)
        weighed = [
            counts,
            counts * np.nan_to_num(numbers),
            counts * ~np.isnan(numbers),
            counts * np.abs(np.nan_to_num(numbers)),
        ]
        packing = Packing.of([domain.size for domain, _ in columns])
        words, order = sort_words(
            packing.pack([codes for _, codes in columns]), np.arange(len(counts), dtype=np.int64)
        )
        starts = run_starts(words)
        heads = [word[starts] for word in words]
        groups = [np.add.reduceat(column[order], starts) for column in weighed]
        known = max(float(weighed[2].sum()), 1.0)
        least = max(SANITY, 1 / max(classes.total, 1))
        return cls(
            np.stack([packing.unpack(heads, at).astype(np.int32) for at in range(len(names))], axis=1),
            groups[0],
            groups[1],
            groups[2],
            {
                "count": least * classes.total,
                "sum": max(least * float(weighed[3].sum()), 1e-300),
                "average": max(SANITY * float(weighed[3].sum()) / known, 1e-300),
            },
        )

    def answer(self, aggregate: Aggregate, inside: list[FloatArray]) -> float:
        """The answer if the values of each attribute lie inside by these shares; NaN if there is none."""
        from discreet.utility.workload_kernels import weigh  # loads a compiler: only when there are queries

        starts = np.cumsum([0, *(len(part) for part in inside[:-1])])
        count, total, people = weigh(
            self.codes, np.concatenate(inside), starts, self.counts, self.sums, self.known
        )
        if aggregate == "count":
            return float(count)
        if aggregate == "sum":
            # Nobody's sum is 0; that of people without numbers is not known.
            return float(total) if people > 0 or not count > 0 else float("nan")
        return total / people if people > 0 else float("nan")
