"""Membership by shadow models: an intruder who knows the method makes many releases, with and without somebody, and compares."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from discreet.attacks.linkage.membership import ENOUGH, NO_CONTROL, JudgedPeople, told_apart
from discreet.attacks.linkage.view import View, known_names
from discreet.attacks.result import AttackResult
from discreet.attacks.synthetic.control import drawn_people
from discreet.attacks.synthetic.density import log_density, said_of_used
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.perturb.base import Perturbation
from discreet.perturb.randomness import Randomness
from discreet.perturb.synthesis import Synthesis
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

SHADOWS = 64
"""So many releases the intruder makes."""
TARGETS = 100
"""So many people are tried on either side; of more, a sample."""
MOST_RECORDS = 2_000
"""Of larger tables, models say too little of single people for what it takes to make so many."""
SMALLEST = 1e-9


def membership_by_shadows(
    pair: Pair,
    steps: Sequence[Perturbation],
    *,
    control: EquivalenceClasses,
    known: Sequence[str] | None = None,
    seed: int = 1,
    shadows: int = SHADOWS,
    targets: int = TARGETS,
) -> AttackResult:
    """Say "used" of the half of all people for whom the release looks most like those that were made with them.

    The intruder knows the ``steps`` that draw artificial values, and holds half of ``control``, people who are drawn like those of the original.
    Of these, and of the people to be judged, of whom each takes part in a random half, ``shadows`` tables are made and
    released. Around each person the log density of released records (`membership_by_density`) has one mean m1 with them and another, m0,
    without; with the variance v of all, whoever has the density x in the true release gets the log likelihood ratio
    (x - (m1 + m0) / 2) (m1 - m0) / v. Success rate as for membership, baseline 1/2. Stadler, Oprisanu, Troncoso, "Synthetic data: anonymisation
    groundhog day", USENIX Security 2022; releases shared by all people: Carlini et al., "Membership inference attacks from
    first principles", IEEE S&P 2022.
    """
    began = time.perf_counter()
    names = known_names(pair, known, control)
    usable, notes = _restricted(steps, names)
    _refuse(pair, control, usable)
    half = drawn_people(control, control.total // 2, seed)
    people, used = _people_to_judge(pair.original, control, control.records - half, names, targets, seed)
    reference = _columns(control, half, names)
    makers = _Shadows(people, reference, usable, min(pair.original.total, MOST_RECORDS))
    rng = np.random.default_rng(seed)
    taking = rng.random((shadows, people.num_rows)) < 0.5
    seen = np.stack([makers.density(part, rng) for part in taking])
    score = _ratios(seen, taking, makers.density_of(pair.released, pair.hierarchies))
    middle = np.median(score)
    ones = np.ones(people.num_rows)
    members, outside = (
        JudgedPeople(ones[at], score[at], score[at] >= middle - 1e-12) for at in (used, ~used)
    )
    if makers.records < pair.original.total:
        notes.append(
            Sentence(
                "tables of {records:,} records were tried, since the control group has no more people",
                records=makers.records,
            )
        )
    return told_apart(
        members,
        outside,
        attack="membership-by-shadows",
        meaning=said_of_used(members, outside),
        scenario="someone who wants to know whether a person is in the table, knows the method, and holds people like them",
        known=names,
        unit=pair.unit,
        source="Stadler, Oprisanu and Troncoso 2022; Carlini et al. 2022",
        figures=(("shadows", float(shadows)),),
        seconds=time.perf_counter() - began,
        notes=tuple(notes),
    )


def _refuse(pair: Pair, control: EquivalenceClasses, usable: Sequence[Synthesis]) -> None:
    """Refuse what cannot be tried."""
    if control.event_level or control.total < 2 * ENOUGH:
        raise InvalidParameter(NO_CONTROL, remedy="give a table of such people, drawn like the original")
    if pair.original.event_level or pair.original.total > MOST_RECORDS:
        raise InvalidParameter(
            Sentence(
                "shadow models are for tables of at most {most:,} people with one row each", most=MOST_RECORDS
            ),
            remedy="look at a sample, or run membership-by-density",
        )
    if not usable:
        raise InvalidParameter(
            "no step that was named draws artificial values of what the intruder knows",
            remedy="name the step by which the release was made, such as synthetic-trees",
        )


def _restricted(steps: Sequence[Perturbation], names: Sequence[str]) -> tuple[list[Synthesis], list[str]]:
    """The steps that draw artificial values, as far as they speak of what is known, and what is left aside."""
    usable: list[Synthesis] = []
    aside: list[str] = []
    for step in steps:
        columns = tuple(name for name in step.columns if name in names)
        if isinstance(step, Synthesis) and columns:
            usable.append(
                replace(step, columns=columns, given=tuple(name for name in step.given if name in names))
            )
        if not isinstance(step, Synthesis) or len(columns) < len(step.columns):
            aside.append(step.id)
    notes: list[str] = []
    if usable and aside:
        notes.append(
            Sentence(
                "columns that the intruder does not know, and steps that draw nothing, were left aside: {steps}",
                steps=tuple(dict.fromkeys(aside)),
            )
        )
    return usable, notes


def _people_to_judge(
    original: EquivalenceClasses,
    control: EquivalenceClasses,
    others: IntArray,
    names: Sequence[str],
    targets: int,
    seed: int,
) -> tuple[pa.Table, BoolArray]:
    """As many people whose records were used as of others, and which they are."""
    count = min(targets, original.total, int(others.sum()))
    inside = _columns(original, drawn_people(original, count, seed), names)
    left = _of_these(control, others, drawn_people(_with(control, others), count, seed))
    outside = _columns(control, left, names).cast(inside.schema, safe=False)
    return pa.concat_tables([inside, outside]), np.arange(2 * count) < count


def _with(classes: EquivalenceClasses, records: IntArray) -> EquivalenceClasses:
    at = np.flatnonzero(records)
    codes = tuple(column[at] for column in classes.codes)
    return EquivalenceClasses(classes.attributes, codes, np.arange(len(at) + 1), records[at].astype(np.int64))


def _of_these(classes: EquivalenceClasses, records: IntArray, drawn: IntArray) -> IntArray:
    """How many are drawn of each class, given those of the classes that have any."""
    counts = np.zeros(len(classes), dtype=np.int64)
    counts[np.flatnonzero(records)] = drawn
    return counts


def _columns(classes: EquivalenceClasses, records: IntArray, names: Sequence[str]) -> pa.Table:
    """One row for each of so many people of each class."""
    of_class = np.repeat(np.arange(len(classes)), records)
    columns = {}
    for name in names:
        place = classes.index(name)
        domain, codes = classes.attributes[place], classes.codes[place][of_class]
        missing = codes == domain.null_code if domain.null_code is not None else np.zeros(len(codes), bool)
        columns[name] = domain.values.take(pa.array(np.where(missing, 0, codes), mask=missing))
    return pa.table(columns)


@dataclass
class _Shadows:
    """What is needed to make releases with some of the people, and to look at all of them in it."""

    people: pa.Table
    reference: pa.Table
    steps: Sequence[Synthesis]
    wanted: int

    def __post_init__(self) -> None:
        self.reference = self.reference.cast(self.people.schema, safe=False)
        self.records = min(self.wanted, self.reference.num_rows + self.people.num_rows // 4)
        self._classes = EquivalenceClasses.from_columns(self.people.to_pydict())
        labels = [
            [None if code == domain.null_code else domain.values[int(code)].as_py() for code in codes]
            for domain, codes in zip(self._classes.attributes, self._classes.codes, strict=True)
        ]
        places = {key: at for at, key in enumerate(zip(*labels, strict=True))}
        rows = zip(*(self.people[name].to_pylist() for name in self._classes.names), strict=True)
        self._class_of = np.array([places[row] for row in rows], dtype=np.int64)

    def density(self, taking: BoolArray, rng: np.random.Generator) -> FloatArray:
        """The log density around everybody in a release that was made with some of them."""
        others = max(0, min(self.records - int(taking.sum()), self.reference.num_rows))
        drawn = rng.permutation(self.reference.num_rows)[:others]
        rows = pa.concat_tables([self.people.filter(pa.array(taking)), self.reference.take(pa.array(drawn))])
        randomness = Randomness(int(rng.integers(1 << 62)))
        for step in self.steps:
            for name, values in step.changed(rows, randomness).items():
                rows = rows.set_column(rows.column_names.index(name), name, values)
        return self.density_of(EquivalenceClasses.from_columns(rows.to_pydict()), {})

    def density_of(self, released: EquivalenceClasses, hierarchies: Mapping[str, object]) -> FloatArray:
        """The log density around everybody in a release."""
        pair = Pair.of(self._classes, released, hierarchies=hierarchies)  # type: ignore[arg-type]
        view = View.of(pair, tuple(self.people.column_names), self._classes)
        density = np.empty(len(self._classes))
        at = np.flatnonzero(view.tried)
        density[at] = log_density(view, at)
        return np.asarray(density[self._class_of])


def _ratios(seen: FloatArray, taking: BoolArray, truly: FloatArray) -> FloatArray:
    """The log likelihood ratio of everybody's having been used."""
    inside = np.where(taking, seen, 0.0).sum(axis=0) / np.maximum(taking.sum(axis=0), 1)
    outside = np.where(~taking, seen, 0.0).sum(axis=0) / np.maximum((~taking).sum(axis=0), 1)
    variance = ((seen - np.where(taking, inside, outside)) ** 2).mean(axis=0)
    # Of few releases the variance around one person is unsure: that of all counts as much.
    variance = (variance + variance.mean()) / 2
    return np.asarray((truly - (inside + outside) / 2) * (inside - outside) / (variance + SMALLEST))
