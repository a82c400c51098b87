"""``discreet.ask``: a question about a table, answered with noise and paid for from its budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from narwhals.typing import IntoFrame

from discreet.dp.amounts import Amount
from discreet.dp.answer import Answer, AnswerRow, Key, NoisyFigure
from discreet.dp.keys import (
    PublicKeys,
    constants_of,
    groups_of,
    in_order,
    plain_key,
    public_groups,
    selected_groups,
)
from discreet.dp.ledger import Ledger
from discreet.dp.measuring import Bounds, MeasurementPlan, Planner, check_measurements, measure
from discreet.dp.noise import NAMES, Mechanism, Noisy, OpenDP, check_scale
from discreet.dp.quantiles import QuantileChooser
from discreet.dp.statement import Guarantee, Unit, describe_unit
from discreet.dp.terms import GivenTerms, Terms, people_of, resolve_ledger, resolve_terms
from discreet.engine.bounded import ValueGrid
from discreet.engine.question import Condition, Figure, Junction, Predicate, Question, parse_question
from discreet.engine.read import read
from discreet.errors import InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table import Table


def ask(
    source: str | PathLike[str] | IntoFrame | pa.Table | pa.RecordBatchReader | Table,
    question: str,
    *,
    epsilon: Amount,
    delta: Amount | None = None,
    person: str | None = None,
    unit: Unit | None = None,
    max_groups: int = 1,
    max_rows: int = 1,
    bounds: Bounds | None = None,
    keys: PublicKeys | None = None,
    mechanism: Mechanism = "laplace",
    confidence: float = 0.95,
    most_rows: int | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> Answer:
    """Answer a question about a table with differential privacy, and pay for it from the table's ledger.

    The question is a part of SQL (`discreet.engine.question`) about the table ``data``: counts, sums, means and quantiles,
    also of groups. ``person`` names the column that says whose rows they are: of each person at most ``max_rows`` rows count in
    each of at most ``max_groups`` groups. ``unit="record"`` says instead that each row is somebody else. ``bounds`` are the
    values between which a column lies, ``keys`` the values of a column to group by: both must be known without the data.
    Groups whose keys are not given are shown if enough persons share them, for which a ``delta`` is needed, as for
    ``mechanism="gaussian"``. ``mechanism="bounded-laplace"`` keeps counts and sums between what they can be if a group has at most
    ``most_rows`` rows, which must be known without the data. ``ledger`` is the one beside the file if the source is a path.

    Add or remove all rows of one person, and the probability of any answer changes by a factor of at most e^ε, up to δ.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> ledger = Ledger(Path(folder.name) / "budget")
    >>> ledger.set_budget(20)
    >>> people = pa.table({"age": [31, 47, 52, 38], "sex": ["f", "m", "f", "f"]})
    >>> answer = ask(people, "select count(*) from data where sex = 'f'", epsilon=20, unit="record", ledger=ledger)
    >>> abs(answer.value - 3) <= 2, answer.left_epsilon
    (True, Fraction(0, 1))
    >>> folder.cleanup()
    """
    OpenDP()
    table = read(source)
    given = GivenTerms(
        epsilon,
        delta,
        person,
        unit,
        max_groups,
        max_rows,
        bounds or {},
        keys or {},
        mechanism,
        confidence,
        most_rows,
    )
    answering = prepared(table, question, given)
    terms = answering.terms
    place = resolve_ledger(source, ledger)
    with place.reserve(
        terms.epsilon, terms.delta, purpose=question, table=people_of(table, terms.person), unit=terms.unit
    ) as reservation:
        answer = answering.answer(reservation.drawing)
    balance = place.balance()
    return replace(
        answer,
        question=question,
        left_epsilon=balance.left_epsilon,
        left_delta=balance.left_delta,
        payment=reservation.payment,
    )


def prepared(table: Table, question: str, given: GivenTerms) -> Answering:
    """A question ready to be answered; whatever cannot be is refused here, before anything is spent."""
    asked = _resolved(parse_question(question), table)
    terms = resolve_terms(table, asked, given)
    return Answering(table, asked, Planner(table, given.bounds, terms.person).plan(asked), terms)


def keys_asked_for(question: str, keys: PublicKeys) -> PublicKeys:
    """Of given keys those by which a question groups."""
    grouped = {key.lower() for key in parse_question(question).keys}
    return {name: values for name, values in keys.items() if name.lower() in grouped}


def _resolved(question: Question, table: Table) -> Question:
    """The question with the names of columns as the table has them: in SQL upper and lower case are the same."""
    known = {name.lower(): name for name in table.names}
    for name in question.columns:
        if name.lower() not in known:
            raise UnknownColumn(name, table.names)

    def renamed(condition: Condition) -> Condition:
        if isinstance(condition, Predicate):
            return replace(condition, column=known[condition.column.lower()])
        return Junction(condition.word, tuple(map(renamed, condition.parts)))

    return replace(
        question,
        keys=tuple(known[key.lower()] for key in question.keys),
        figures=tuple(
            figure if figure.column is None else replace(figure, column=known[figure.column.lower()])
            for figure in question.figures
        ),
        where=None if question.where is None else renamed(question.where),
    )


class Answering:
    """Counts in the engine, draws, and makes figures of what was drawn."""

    def __init__(self, table: Table, question: Question, plan: MeasurementPlan, terms: Terms) -> None:
        self.table, self.question, self.plan, self.terms = table, question, plan, terms
        self.given = {name: constants_of(table.column(name), values) for name, values in terms.public.items()}
        self.selects = bool(set(question.keys) - set(terms.public))
        for name, values in self.given.items():
            if self.selects and not values:
                raise InvalidParameter(
                    Sentence("no value is given for {name}", name=name), remedy="give at least one"
                )
        # The selection of groups, every measurement and every quantile get the same part.
        parts = self.selects + len(plan.measurements) + len(plan.quantiles)
        self.epsilon = terms.epsilon / parts
        gaussian = terms.mechanism == "gaussian" and plan.measurements
        self.delta = terms.delta / 2 if self.selects and gaussian else terms.delta
        self.notes: list[str] = []
        # What cannot be answered is refused before anything is reserved.
        self.public = (
            []
            if self.selects
            else public_groups([table.column(name) for name in question.keys], terms.public)
        )
        if self.selects:
            check_scale(terms.max_groups / self.epsilon)
        check_measurements(
            plan,
            max_groups=terms.max_groups,
            max_rows=terms.max_rows,
            epsilon=self.epsilon,
            delta=self.delta,
            mechanism=terms.mechanism,
            most=terms.most_rows,
        )
        for figure, _ in plan.quantiles:
            self.chooser(figure).check()

    def answer(self, drawing: Callable[[], None]) -> Answer:
        try:
            counted = self.counted(counts=self.plan.counts, sums=self.plan.sums)
            binned = [self.counted(bins=(str(figure.column), grid)) for figure, grid in self.plan.quantiles]
            places = groups_of(counted, len(self.question.keys))
        except (InvalidParameter, UnsuitableColumn):
            # These follow from the question and the types of columns.
            raise
        except BaseException:
            # Any other failure may depend on rows: given back, it would tell of them for nothing, again and again.
            drawing()
            raise
        drawing()
        groups = self.groups(places, counted)
        measured = self.measured(groups, places, counted)
        quantiles = [
            self.quantiles(groups, figure, grid, bins)
            for (figure, grid), bins in zip(self.plan.quantiles, binned, strict=True)
        ]
        rows = []
        for at, group in enumerate(groups):
            chosen = iter([column[at] for column in quantiles])
            figures = tuple(
                next(chosen) if figure.kind == "quantile" else self.figure(figure, measured, at)
                for figure in self.question.figures
            )
            rows.append(AnswerRow(group, figures))
        return Answer(
            question="",
            keys=self.question.keys,
            figures=tuple(figure.name for figure in self.question.figures),
            rows=tuple(self.ordered(rows)),
            confidence=1 - self.terms.error,
            guarantee=self.guarantee(measured),
            left_epsilon=Fraction(0),
            left_delta=Fraction(0),
            notes=tuple(self.notes),
        )

    def counted(self, **wanted: Any) -> pa.Table:
        return self.table.engine.bounded_groups(
            self.table,
            keys=self.question.keys,
            where=self.question.where,
            public=self.given,
            person=self.terms.person,
            max_groups=self.terms.max_groups,
            max_rows=self.terms.max_rows,
            **wanted,
        )

    def groups(self, places: Mapping[tuple[Key, ...], int], counted: pa.Table) -> list[tuple[Key, ...]]:
        """The groups that are shown."""
        if not self.selects:
            return in_order(self.public)
        shown, least = selected_groups(
            places,
            counted["persons"].to_pylist(),
            epsilon=self.epsilon,
            delta=self.delta,
            max_groups=self.terms.max_groups,
        )
        self.notes.append(Sentence("groups with fewer than about {least} persons are not shown", least=least))
        return in_order(shown)

    def measured(
        self, groups: Sequence[tuple[Key, ...]], places: Mapping[tuple[Key, ...], int], counted: pa.Table
    ) -> dict[str, Noisy]:
        def column(name: str) -> list[int]:
            values = counted[name].to_pylist()
            return [values[places[group]] if group in places and values else 0 for group in groups]

        wanted = self.plan.measurements
        return measure(
            self.plan,
            {measurement.column: column(measurement.column) for measurement in wanted},
            max_groups=self.terms.max_groups,
            max_rows=self.terms.max_rows,
            epsilon=self.epsilon * len(wanted),
            delta=self.delta,
            mechanism=self.terms.mechanism,
            most=self.terms.most_rows,
        )

    # ── figures ───────────────────────────────────────────────────────────────────────────────────

    def figure(self, figure: Figure, measured: Mapping[str, Noisy], at: int) -> NoisyFigure:
        """A figure from what was measured for it."""
        if figure.kind in ("count", "persons"):
            name = "persons" if figure.kind == "persons" else self.count_name(figure.column)
            noisy = measured[name]
            value, margin = noisy.values[at], noisy.margin(self.terms.error)
            return NoisyFigure(max(0, value), max(0, value - margin), max(0, value + margin))
        place, grid = self.sum_name(figure)
        total = measured[place]
        if figure.kind == "sum":
            value, margin = total.values[at], total.margin(self.terms.error)
            return NoisyFigure(*(_number(grid.unit * n) for n in (value, value - margin, value + margin)))
        return _mean(total, measured[self.count_name(figure.column)], grid, at, self.terms.error / 2)

    def count_name(self, column: str | None) -> str:
        return "rows" if column is None else f"count{self.plan.counts.index(column)}"

    def sum_name(self, figure: Figure) -> tuple[str, ValueGrid]:
        """Which sum a figure is made of: a mean takes the one seen from the middle of the bounds."""
        for i, (column, grid) in enumerate(self.plan.sums):
            low, high = grid.low, grid.high
            centre = (low + high) / 2 if figure.kind == "mean" else 0.0
            if column == figure.column and grid.centre == centre:
                return f"sum{i}", grid
        raise AssertionError(figure.name)

    def quantiles(
        self, groups: Sequence[tuple[Key, ...]], figure: Figure, grid: ValueGrid, counted: pa.Table
    ) -> list[NoisyFigure]:
        """For each group the value that comes near the wanted share, and an interval, chosen by report-noisy-max.

        A person is in ``max_groups`` groups at most, each of which gets its part of the amount.
        """
        histograms = {group: np.zeros(grid.limit + 1, dtype=np.int64) for group in groups}
        columns = [counted[f"key{i}"].to_pylist() for i in range(len(self.question.keys))]
        cells = zip(counted["bin"].to_pylist(), counted["rows"].to_pylist(), strict=True)
        keys = zip(*columns, strict=True) if columns else [()] * counted.num_rows
        for values, (place, rows) in zip(keys, cells, strict=True):
            group = tuple(map(plain_key, values))
            if place is not None and group in histograms:
                histograms[group][place] += rows
        chooser = self.chooser(figure)
        # A bin holds the values nearest to its own: up to half a step away, if they are no whole numbers one apart.
        alone = (
            grid.unit == 1
            and grid.low.is_integer()
            and self.table.column(str(figure.column)).type == "integer"
        )
        half = 0.0 if alone else grid.unit / 2

        def told(place: float) -> float | int:
            return _number(min(max(grid.low + place * grid.unit, grid.low), grid.high))

        chosen = []
        for group in groups:
            at, low, high = chooser.choose(histograms[group])
            ends = told(low - half / grid.unit), told(high + half / grid.unit)
            chosen.append(NoisyFigure(told(at), *ends))
        self.notes.append(
            Sentence(
                "{name} is off by at most {ranks:,} rows in the order of values, in {confidence:.0%} of answers",
                name=figure.name,
                ranks=chooser.rank_error(grid.limit + 1),
                confidence=1 - self.terms.error,
            )
        )
        return chosen

    def chooser(self, figure: Figure) -> QuantileChooser:
        """What chooses a quantile in one group, and how far one person moves its scores."""
        share = figure.share or Fraction(1, 2)
        step = max(share.numerator, share.denominator - share.numerator) * self.terms.max_rows
        return QuantileChooser(share, step, self.epsilon / self.terms.max_groups, self.terms.error)

    def ordered(self, rows: list[AnswerRow]) -> list[AnswerRow]:
        """The answer in the order that was asked for, which follows from noisy figures alone."""
        if self.question.order is not None:
            place = self.question.order
            rows = sorted(rows, key=lambda row: row.figures[place].value, reverse=self.question.descending)
        return rows[: self.question.limit]

    # ── what is guaranteed ────────────────────────────────────────────────────────────────────────

    def guarantee(self, measured: Mapping[str, Noisy]) -> Guarantee:
        terms = self.terms
        description, neighbouring = describe_unit(terms.unit, terms.person, terms.max_groups, terms.max_rows)
        mechanisms: list[str] = []
        if self.selects:
            mechanisms.append(
                Sentence("groups by a threshold on counts of persons with discrete Laplace noise")
            )
        for wanted in self.plan.measurements:
            noisy = measured[wanted.column]
            mechanisms.append(
                Sentence(
                    "{name}: discrete {mechanism} noise of scale {scale:.4g}",
                    name=wanted.label,
                    mechanism=NAMES[noisy.mechanism],
                    scale=noisy.scale * wanted.unit,
                )
            )
        if self.plan.quantiles:
            mechanisms.append(Sentence("quantiles by report-noisy-max with exponential noise"))
        public = [Sentence("names and types of the columns")]
        public += [Sentence("the keys of {name}, given", name=name) for name in terms.public]
        public += [
            Sentence(
                "values of {name} lie between {low:g} and {high:g}, given",
                name=name,
                low=grid.low,
                high=grid.high,
            )
            for name, grid in dict(
                [*self.plan.sums, *((str(figure.column), grid) for figure, grid in self.plan.quantiles)]
            ).items()
        ]
        if terms.most_rows is not None:
            public.append(Sentence("a group has at most {most:,} rows, given", most=terms.most_rows))
        return Guarantee(
            unit=terms.unit,
            unit_description=description,
            neighbouring=neighbouring,
            epsilon=terms.epsilon,
            delta=terms.delta,
            mechanisms=tuple(mechanisms),
            release_type=Sentence("answer to one question"),
            public=tuple(public),
            unprotected=(Sentence("the question itself"), Sentence("how long the answer took")),
            composition=Sentence("amounts of all answers from one ledger add up"),
            post_processing=(
                Sentence("negative counts became 0"),
                Sentence("means were clamped to their bounds"),
            ),
            tuning=Sentence("none: bounds, keys and limits were given"),
        )


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value


def _mean(total: Noisy, count: Noisy, grid: ValueGrid, at: int, error: float) -> NoisyFigure:
    """A mean as the middle of the bounds plus a noisy sum over a noisy count, and what both margins allow."""
    number, margin = count.values[at], count.margin(error)
    units, spread = total.values[at], total.margin(error)
    fewest, most = max(1, number - margin), max(1, number + margin)
    corners = [(units + sign * spread) / rows for sign in (-1, 1) for rows in (fewest, most)]
    means = [units / max(1, number), min(corners), max(corners)]
    return NoisyFigure(*(min(max(grid.centre + grid.unit * mean, grid.low), grid.high) for mean in means))
