"""Perturb a table before it is generalised: the steps of its policy, in their order, each with what it keeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidPolicy, RequirementNotMet
from discreet.perturb.base import Perturbation, is_number, whole, without_marks
from discreet.perturb.coding import DateShift
from discreet.perturb.randomness import Randomness
from discreet.perturb.synthesis import Synthesis
from discreet.policy import Policy
from discreet.release.audit import Audit, audit_counted
from discreet.release.kept_rules import keeping_rules
from discreet.release.prepare import count_classes, several_rows
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.reading import ReadOptions
from discreet.types import IntArray, Progress

SEEDED = (
    "values were perturbed with a seed that somebody chose: whoever knows or guesses it can undo the steps, so choose a "
    "long one and keep it to yourself"
)

GENERALISATION_ONLY = (
    "loss and the error of questions are those of the generalisation, which came after the steps: what these changed is measured by "
    "comparing the release with the original"
)


@dataclass(frozen=True)
class AppliedStep:
    """A step that was made: what it guarantees, and the share of each column's values that it changed.

    ``given`` are the rows as the step found them, of the columns that no later step changed again; ``shortfall`` is what it could not do,
    ``certainty`` how closely a released value tells the true one, where that is known.
    """

    step: Perturbation
    guarantee: str
    changed: Mapping[str, float]
    given: pa.Table = field(repr=False)
    shortfall: str = ""
    certainty: str = ""

    @property
    def note(self) -> str:
        """What to tell about it."""
        return Sentence(
            "{step} was made before anything else and changed {changed} of the values; guarantee: {guarantee}",
            step=self.step.describe(),
            changed=tuple(
                Sentence("{share:.1%} ({column})", share=share, column=name)
                for name, share in self.changed.items()
            ),
            guarantee=self.guarantee,
        )

    def shown(self, released: Collection[str]) -> list[str]:
        """The columns of the step that a release shows as this step left them, and on which what it keeps can be seen."""
        if self.step.seen_as_a_whole and not set(self.step.needed) <= set(self.given.column_names):
            return []
        return [name for name in self.step.columns if name in released and name in self.given.column_names]

    def complaint(self, rows: pa.Table, places: IntArray) -> str:
        """What of that which the step keeps does not hold for released rows, or nothing.

        They have the columns that no search changed.
        """
        names = self.shown(rows.column_names)
        if not names:
            return ""
        written = {name: whole(rows[name]) for name in names}
        shown = {
            name: without_marks(column) if is_number(self.given.schema.field(name).type) else column
            for name, column in written.items()
        }
        told = self.step.complaint(self.given, pa.table(shown), places)
        return Sentence("{step}: {told}", step=self.step.id, told=Sentence(told)) if told else ""


@dataclass(frozen=True)
class PerturbedTable:
    """A table before and after the steps of its policy: the same one if there are none."""

    original: Table
    table: Table
    steps: tuple[AppliedStep, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that were changed."""
        return tuple(dict.fromkeys(name for applied in self.steps for name in applied.step.columns))

    def drawn(self, share: float, *, seed: int) -> PerturbedTable:
        """About a share of the rows of both, the same ones: they are drawn by their places."""
        table = self.table.engine.thin(self.table, share, seed=seed)
        original = self.original.engine.thin(self.original, share, seed=seed) if self.steps else table
        return replace(self, original=original, table=table)

    def audit_original(self, policy: Policy, counted: EquivalenceClasses, say: Progress) -> Audit:
        """The audit of the table before the steps, of which ``counted`` are the classes afterwards."""
        before = count_classes(self.original, policy) if self.steps else counted
        return audit_counted(self.original, policy, before, progress=say)


def perturbed(table: Table, policy: Policy, *, seed: int | None, say: Progress) -> PerturbedTable:
    """The table after the steps of a policy.

    Rows keep their order and number, so that who became whom is known as before. Randomness follows from a secret key,
    or from a ``seed``.
    """
    if not policy.perturb:
        return PerturbedTable(table, table)
    _check_roles(policy)
    _refuse_several_rows(table, policy)
    randomness = Randomness(seed)
    written = table.engine.to_arrow(table)
    marked = {c.name for c in table.columns if c.storage == "text" and c.numeric}
    rows = as_numbers(written, marked & policy.perturbed)
    steps: list[AppliedStep] = []
    for asked in policy.perturb:
        step = with_person(asked, policy)
        step.fit(rows)
        say(Sentence("perturbing: {method}", method=step.id))
        new, redrawn = step.changed(rows, randomness), ""
        if isinstance(step, Synthesis) and step.redrawn:
            new, redrawn = keeping_rules(step, rows, new, policy.constraints, table, randomness)
        guarantee = step.guarantee(rows)
        changed = {name: _share_changed(rows[name], values) for name, values in new.items()}
        # What a later step changes again cannot be held against an earlier one.
        steps = [_without(applied, new) for applied in steps]
        given = rows.select(list(step.needed))
        told = step.shortfall(rows, new) or redrawn
        steps.append(AppliedStep(step, guarantee, changed, given, told, step.certainty(rows)))
        for name, values in new.items():
            rows = rows.set_column(rows.column_names.index(name), name, values)
    for name in marked & policy.perturbed:
        shown = _with_marks(whole(rows[name]), whole(written[name]))
        rows = rows.set_column(rows.column_names.index(name), name, shown)
    made = table.engine.read_batches(rows.to_reader(), table.source, ReadOptions())
    # How columns were read and what they mean stays, but where a step makes something else of them.
    columns = tuple(
        new if new.storage != old.storage and old.name in policy.perturbed else old
        for old, new in zip(table.columns, made.columns, strict=True)
    )
    result = replace(made, columns=columns)
    places = np.arange(rows.num_rows)
    for applied in steps:
        if told := applied.complaint(rows, places):
            raise RequirementNotMet(
                Sentence("a step does not keep what it must ({told})", told=told),
                remedy="nothing was written",
            )
    return PerturbedTable(table, result, tuple(steps), _told(steps, seed))


def as_numbers(rows: pa.Table, names: Collection[str]) -> pa.Table:
    """Rows with numbers in the columns that hold nothing but numbers and marks for missing ones."""
    for name in names:
        texts = without_marks(whole(rows[name]))
        try:
            values = texts.cast(pa.int64())
        except pa.ArrowInvalid:
            values = texts.cast(pa.float64())
        rows = rows.set_column(rows.column_names.index(name), name, values)
    return rows


def _with_marks(numbers: pa.Array, written: pa.Array) -> pa.Array:
    """New numbers as text; where there is none, the mark that stood there, or else one of the column's.

    A mark that moved must not uncover the number of the row to which it came.
    """
    texts = written.cast(pa.string())
    marked = pc.and_(texts.is_valid(), without_marks(texts).is_null())
    marks = texts.filter(marked)
    usual = marks[0] if len(marks) else pa.scalar(None, pa.string())
    missing = pc.if_else(pc.or_(marked, texts.is_null()), texts, usual)
    return pc.coalesce(numbers.cast(pa.string()), missing)


def _told(steps: Sequence[AppliedStep], seed: int | None) -> tuple[str, ...]:
    """What to tell about the steps."""
    chance = any(applied.step.random for applied in steps)
    return (
        *(applied.note for applied in steps),
        *(told for applied in steps for told in (applied.certainty, applied.shortfall) if told),
        GENERALISATION_ONLY,
        *([SEEDED] if chance and seed is not None else []),
    )


def with_person(step: Perturbation, policy: Policy) -> Perturbation:
    """The step for the persons of the policy, where it speaks of persons and names none."""
    if isinstance(step, DateShift) and step.person is None and policy.person is not None:
        return replace(step, person=policy.person)
    return step


def _without(applied: AppliedStep, names: Collection[str]) -> AppliedStep:
    """A step without the columns that were changed after it."""
    again = [name for name in applied.given.column_names if name in names]
    if not again:
        return applied
    needed = set(applied.step.needed) - set(applied.step.columns)
    if needed & set(again):
        # Groups that are other groups now tell nothing of this step.
        return replace(applied, given=applied.given.select([]))
    return replace(applied, given=applied.given.drop_columns(again))


def _check_roles(policy: Policy) -> None:
    """Refuse steps on what is no value of a person but a name for one, or is not released."""
    names = (*policy.direct_identifiers, *policy.guards, *policy.plan.drop_attributes, policy.person)
    problems = [
        f"the step {step.id!r} changes {name!r}, which is a person id or is left out of the release"
        for step in policy.perturb
        for name in step.columns
        if name in names
    ]
    if problems:
        raise InvalidPolicy(problems, remedy="take these columns out of the steps, or give them other roles")


def _refuse_several_rows(table: Table, policy: Policy) -> None:
    """Refuse steps that guarantee something for people with one row each where somebody has several."""
    concerned = [step.id for step in policy.perturb if step.one_row_each]
    if concerned and several_rows(table, policy):
        raise InvalidPolicy(
            [
                Sentence(
                    "people have several rows (by {person!r}), and {step} guarantees nothing to those",
                    person=policy.person,
                    step=concerned[0],
                )
            ],
            remedy="make one row of each person first, or take the step out of the policy",
        )


def _share_changed(before: pa.ChunkedArray, after: pa.Array) -> float:
    """The share of the values that are others than before."""
    given = whole(before)
    if given.type != after.type:
        # An interval in place of a number: the same where both print alike.
        given, after = given.cast(pa.string()), after.cast(pa.string())
    same = pc.equal(given, after)
    filled = len(same) - same.null_count
    return float(pc.sum(pc.invert(same)).as_py() or 0) / filled if filled else 0.0


def complaints(steps: Sequence[AppliedStep], rows: pa.Table, places: IntArray) -> list[str]:
    """What does not hold on rows that were read back, of the columns that are shown as the steps left them."""
    return [told for applied in steps if (told := applied.complaint(rows, places))]
