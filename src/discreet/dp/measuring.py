"""What has to be measured to answer a question, how much one person can move it, and how the amount is shared out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.dp.accounting import rho_of
from discreet.dp.noise import (
    Mechanism,
    Noisy,
    bounded_laplace,
    bounded_scale,
    check_scale,
    gaussian,
    laplace,
)
from discreet.dp.statement import upward
from discreet.engine.bounded import ValueGrid
from discreet.engine.question import Figure, Question, refuse_question
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Table

Bounds = Mapping[str, tuple[float, float]]
CANDIDATES = 1000
"""Among so many values, spread over the bounds, a quantile is chosen."""


@dataclass(frozen=True)
class Measurement:
    """Counts or sums of all groups; ``step`` is the most that one row of a person changes one of them."""

    column: str
    """What the engine calls it: rows, persons, count0, sum0."""
    step: int
    label: str
    unit: float = 1.0
    """What a whole number of it stands for."""
    per_row: bool = True
    """Whether each row of a person counts, or only whether there is any."""
    range_of_row: tuple[int, int] = (0, 1)
    """Between what a row changes it."""

    def ends(self, most: int) -> tuple[int, int]:
        """Between what it lies if at most so many rows are in a group."""
        return most * self.range_of_row[0], most * self.range_of_row[1]

    def laplace_sensitivity(self, max_groups: int, max_rows: int) -> int:
        """The sum of changes that one person can make: in so many groups, with so many rows in each."""
        return max_groups * (max_rows if self.per_row else 1) * self.step

    def gaussian_sensitivity(self, max_groups: int, max_rows: int) -> float:
        """The Euclidean length of these changes: √groups · rows · step."""
        rows = max_rows if self.per_row else 1
        return (
            float(rows * self.step) if max_groups == 1 else upward(math.sqrt(max_groups) * rows * self.step)
        )


@dataclass(frozen=True)
class MeasurementPlan:
    """Every measurement once, in the order of the engine's columns, and the grids of sums and quantiles."""

    counts: tuple[str, ...]
    sums: tuple[tuple[str, ValueGrid], ...]
    measurements: tuple[Measurement, ...]
    quantiles: tuple[tuple[Figure, ValueGrid], ...]


class Planner:
    """Collects what a question needs; the same count serves every figure that asks for it."""

    def __init__(self, table: Table, bounds: Bounds, person: str | None) -> None:
        self.table = table
        self.bounds = {table.column(name).name: given for name, given in bounds.items()}
        self.person = person
        self.counts: list[str] = []
        self.sums: list[tuple[str, ValueGrid]] = []
        self.measurements: dict[str, Measurement] = {}
        self.quantiles: list[tuple[Figure, ValueGrid]] = []

    def plan(self, question: Question) -> MeasurementPlan:
        for figure in question.figures:
            self.add(figure)
        return MeasurementPlan(
            tuple(self.counts), tuple(self.sums), tuple(self.measurements.values()), tuple(self.quantiles)
        )

    def add(self, figure: Figure) -> None:
        if figure.kind == "persons":
            if figure.column != self.person:
                refuse_question(
                    "counts distinct values, of which one person may have many; only persons are counted so"
                )
            self.measured(Measurement("persons", 1, "persons", per_row=False))
        elif figure.column is None:
            self.measured(Measurement("rows", 1, "rows"))
        elif figure.kind == "quantile":
            self.quantiles.append((figure, self.candidates(figure.column)))
        else:
            if figure.kind in ("count", "mean"):
                self.measured(Measurement(self.count_of(figure.column), 1, f"count of {figure.column}"))
            if figure.kind in ("sum", "mean"):
                name, grid = self.sum_of(figure.column, centred=figure.kind == "mean")
                ends = (
                    0 if grid.low >= grid.centre else -grid.limit,
                    0 if grid.high <= grid.centre else grid.limit,
                )
                label = f"sum of {figure.column}"
                self.measured(Measurement(name, max(1, grid.limit), label, grid.unit, range_of_row=ends))

    def measured(self, measurement: Measurement) -> None:
        self.measurements[measurement.column] = measurement

    def count_of(self, column: str) -> str:
        if column not in self.counts:
            self.counts.append(column)
        return f"count{self.counts.index(column)}"

    def sum_of(self, column: str, *, centred: bool) -> tuple[str, ValueGrid]:
        low, high = self.bounds_of(column)
        grid = ValueGrid.of(low, high, whole=self.whole(column), centred=centred)
        if (column, grid) not in self.sums:
            self.sums.append((column, grid))
        return f"sum{self.sums.index((column, grid))}", grid

    def candidates(self, column: str) -> ValueGrid:
        return candidate_values(*self.bounds_of(column), whole=self.whole(column))

    def whole(self, column: str) -> bool:
        return self.table.column(column).type == "integer"

    def bounds_of(self, column: str) -> tuple[float, float]:
        """The bounds that were given: those of the data would say something about whoever has the largest value."""
        if not self.table.column(column).numeric:
            refuse_question(f"computes with {column!r}, which does not hold numbers")
        if column not in self.bounds:
            raise InvalidParameter(
                Sentence("the values of {name} have no bounds", name=column),
                remedy=Sentence(
                    "say between what they lie, from what is known without the data, e.g. --bounds {name}=0:100",
                    name=column,
                ),
            )
        low, high = self.bounds[column]
        if not (math.isfinite(low) and math.isfinite(high) and low < high and high - low < 1e300):
            raise InvalidParameter(
                Sentence("the bounds of {name} are {low} and {high}", name=column, low=low, high=high),
                remedy="give a lower and a larger upper bound",
            )
        return low, high


def candidate_values(low: float, high: float, *, whole: bool) -> ValueGrid:
    """Among which values a quantile is chosen: all whole numbers between the bounds if they are few."""
    steps = high - low if whole and high - low <= CANDIDATES else CANDIDATES
    return ValueGrid(float(low), float(high), float(low), (high - low) / steps, math.ceil(steps))


def check_measurements(
    plan: MeasurementPlan,
    *,
    max_groups: int,
    max_rows: int,
    epsilon: Fraction,
    delta: Fraction,
    mechanism: Mechanism,
    most: int | None = None,
) -> None:
    """Refuse noise that `measure` could not draw, before anything is paid for; ``epsilon`` is that of each measurement."""
    parts = len(plan.measurements)
    rho = rho_of(epsilon * parts, delta) / parts if mechanism == "gaussian" and parts else 0.0
    for wanted in plan.measurements:
        sensitivity = wanted.laplace_sensitivity(max_groups, max_rows)
        if rho:
            check_scale(wanted.gaussian_sensitivity(max_groups, max_rows) / math.sqrt(2 * rho))
            continue
        check_scale(sensitivity / epsilon)
        if most is not None:
            low, high = wanted.ends(most)
            bounded_scale(high - low, sensitivity, epsilon)


def measure(
    plan: MeasurementPlan,
    columns: Mapping[str, Sequence[int]],
    *,
    max_groups: int,
    max_rows: int,
    epsilon: Fraction,
    delta: Fraction,
    mechanism: Mechanism,
    most: int | None = None,
) -> dict[str, Noisy]:
    """Every measurement of a plan with noise; together they cost (ε, δ). ``most`` rows are in a group at most: for bounded noise."""
    parts = len(plan.measurements)
    if mechanism == "bounded-laplace" and most is not None:
        ends = {wanted.column: wanted.ends(most) for wanted in plan.measurements}
        return {
            wanted.column: bounded_laplace(
                columns[wanted.column],
                low=ends[wanted.column][0],
                high=ends[wanted.column][1],
                sensitivity=wanted.laplace_sensitivity(max_groups, max_rows),
                epsilon=epsilon / parts,
            )
            for wanted in plan.measurements
        }
    if mechanism == "gaussian" and parts:
        rho = rho_of(epsilon, delta) / parts
        return {
            wanted.column: gaussian(
                columns[wanted.column], sensitivity=wanted.gaussian_sensitivity(max_groups, max_rows), rho=rho
            )
            for wanted in plan.measurements
        }
    return {
        wanted.column: laplace(
            columns[wanted.column],
            sensitivity=wanted.laplace_sensitivity(max_groups, max_rows),
            epsilon=epsilon / parts,
        )
        for wanted in plan.measurements
    }
