"""Rules of the table, counted on the original and on the release: how many records break them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from discreet.errors import InvalidPolicy
from discreet.policy.constraint import Constraint
from discreet.release.dependencies import Dependency, rows_of
from discreet.release.kpis import UNANSWERABLE, read_numbers, texts_of_numbers, why_unanswerable
from discreet.sentences import Sentence
from discreet.table import Table


@dataclass(frozen=True)
class BrokenRule:
    """A rule, and how many records of the original and of the release break it; ``after`` is unknown for a ``reason``."""

    name: str
    holds: str
    before: int
    after: int | None
    reason: str = ""

    @property
    def note(self) -> str:
        """What to tell about it; nothing where the release keeps the rule."""
        if self.after is None:
            return Sentence(
                "whether records keep the rule {name} cannot be told: {reason}",
                name=self.name,
                reason=Sentence(self.reason),
            )
        if not self.after:
            return ""
        return Sentence(
            "{after:,} records break the rule {name}; in the original {before:,} do",
            after=self.after,
            name=self.name,
            before=self.before,
        )

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def check_constraints(original: Table, constraints: Sequence[Constraint]) -> tuple[int, ...]:
    """How many records of the original break each rule; an error that names every rule which it cannot tell."""
    counts, problems = [], []
    for rule in constraints:
        try:
            counts.append(_breaking(original, original, rule))
        except UNANSWERABLE as error:
            problems.append(
                Sentence("constraint {name!r}: {problem}", name=rule.name, problem=error.sentence)
            )
    if problems:
        raise InvalidPolicy(
            problems, remedy="correct what holds; it must be told of every record of the original"
        )
    return tuple(counts)


def measure_constraints(
    original: Table, release: Table, constraints: Sequence[Constraint]
) -> tuple[BrokenRule, ...]:
    """How many records break each rule before and after."""
    measured = []
    for rule, before in zip(constraints, check_constraints(original, constraints), strict=True):
        after, reason = None, ""
        try:
            after = _breaking(original, release, rule)
        except UNANSWERABLE as error:
            texts = texts_of_numbers(original, release, [rule.holds])
            seen = read_numbers(release, texts, "refuse")
            reason = why_unanswerable(error, [name for name in texts if seen.column(name).storage == "text"])
        measured.append(BrokenRule(rule.name, rule.condition, before, after, reason))
    return tuple(measured)


def _breaking(original: Table, table: Table, rule: Constraint) -> int:
    """How many records of a table break a rule of the original."""
    if rule.follows:
        return len(Dependency.of_table(rule, original).breaking(rows_of(rule, table)))
    seen = read_numbers(table, texts_of_numbers(original, table, [rule.holds]), "refuse")
    return seen.engine.count_breaking(seen, rule.holds)
