"""A stream of records: published in clusters of people who look alike, each record after a bounded wait."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.errors import InvalidParameter, InvalidPolicy, RequirementNotMet, UnknownColumn
from discreet.perturb.randomness import Randomness
from discreet.policy.file import GivenPolicy, open_policy
from discreet.privacy.base import need_number
from discreet.sentences import Sentence
from discreet.table.values import SUPPRESSED, Interval, OneOf, Suppressed, parse, set_label
from discreet.types import FloatArray

Record = Mapping[str, str | None]
"""Values by column, as they were read; ``None`` where there is none."""
LINKED = "each cluster is judged by itself: whoever finds a person's records in several clusters, and lays these over one another, may learn more"


@dataclass(frozen=True)
class Waiting:
    """A record that was not published yet: its values, and the quasi-identifiers among them as numbers, NaN where they are none."""

    record: Record = field(repr=False)
    numbers: FloatArray = field(repr=False)


class RecordStream:
    """Publishes records in clusters of at least ``k`` people with ``l`` sensitive values, of whom at most ``delay`` wait.

    Once ``delay`` records wait and another comes, the oldest is published with those that are nearest to it, or suppressed
    if they are too few or too alike. That is the bounded delay of CASTLE (Cao, Carminati, Ferrari and Tan, IEEE TDSC 2011), without its
    clusters that stay open: every cluster is published once, whole.

    >>> policy = {"columns": {"age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}}
    >>> stream = RecordStream(policy, ["age", "ill"], k=2, delay=2)
    >>> [stream.push({"age": age, "ill": ill}) for age, ill in (("31", "flu"), ("50", "gout"))]
    [[], []]
    >>> sorted(row["ill"] for row in stream.push({"age": "33", "ill": "cold"}))
    ['cold', 'flu']
    >>> list(stream.finish()), stream.published, stream.suppressed
    ([], 2, 1)
    """

    def __init__(
        self,
        policy: GivenPolicy,
        columns: Sequence[str],
        *,
        k: int,
        delay: int,
        l: int = 1,  # noqa: E741  (the field's own letter)
        seed: int | None = None,
    ) -> None:
        opened = open_policy(policy)
        refuse_twins(columns)
        need_number("k", k, low=2)
        need_number("l", l, low=1)
        need_number("delay", delay, low=k)
        problems: list[str] = []
        if opened.requirements or opened.guarantees or opened.perturb:
            problems.append(
                "the policy requires more than a stream can promise: k people and l values in every cluster"
            )
        if not opened.quasi_identifiers:
            problems.append("the policy names no quasi-identifier")
        if l > 1 and not opened.sensitive:
            problems.append("the policy names no sensitive attribute, and l values of one are asked for")
        if problems:
            raise InvalidPolicy(problems, remedy="correct the policy, or anonymise the records as a table")
        known = [*opened.quasi_identifiers, *opened.sensitive, *([opened.person] if opened.person else [])]
        for name in known:
            if name not in columns:
                raise UnknownColumn(name, columns)
        shown = {c.name for c in opened.columns if c.role in ("quasi-identifier", "sensitive", "insensitive")}
        self.columns = tuple(name for name in columns if name in shown)
        self.policy, self.k, self.l, self.delay = opened, k, l, delay
        self.published = self.suppressed = self.clusters = 0
        self._waiting: list[Waiting] = []
        self._low = np.full(len(opened.quasi_identifiers), np.inf)
        self._high = np.full(len(opened.quasi_identifiers), -np.inf)
        self._randomness = Randomness(seed)

    @property
    def waiting(self) -> int:
        """How many records were neither published nor suppressed yet."""
        return len(self._waiting)

    def push(self, record: Record) -> list[dict[str, str | None]]:
        """Take in a record; the rows of the cluster that is published for it to have room, if there is one."""
        numbers = np.array([_number(record[name]) for name in self.policy.quasi_identifiers])
        self._low, self._high = np.fmin(self._low, numbers), np.fmax(self._high, numbers)
        self._waiting.append(Waiting(record, numbers))
        return self._publish() if len(self._waiting) > self.delay else []

    def finish(self) -> Iterator[list[dict[str, str | None]]]:
        """The clusters of those who still wait; whom nobody can be grouped with is suppressed."""
        while self._waiting:
            rows = self._publish()
            if rows:
                yield rows

    def _publish(self) -> list[dict[str, str | None]]:
        """Publish the oldest record with those that are nearest to it, or suppress it."""
        members = self._nearest()
        if not members:
            self._waiting.pop(0)
            self.suppressed += 1
            return []
        chosen = [self._waiting[at] for at in members]
        inside = set(members)
        self._waiting = [each for at, each in enumerate(self._waiting) if at not in inside]
        rows = self._rows([each.record for each in chosen])
        self._verify(rows, [each.record for each in chosen])
        self.published += len(rows)
        self.clusters += 1
        return [rows[at] for at in self._randomness.permutation(len(rows)).tolist()]

    def _nearest(self) -> list[int]:
        """The fewest records around the oldest that are of k people and have l values; none if there are too few.

        Distance: the sum over quasi-identifiers of |a - b| over the range seen so far, or of 1 for texts that differ.
        """
        names = self.policy.quasi_identifiers
        numbers = np.stack([each.numbers for each in self._waiting])
        span = np.where(self._high > self._low, self._high - self._low, 1.0)
        apart = np.abs(numbers - numbers[0]) / span
        first = self._waiting[0].record
        for j, name in enumerate(names):
            texts = np.isnan(apart[:, j])
            apart[texts, j] = [self._waiting[at].record[name] != first[name] for at in np.flatnonzero(texts)]
        order = np.argsort(apart.sum(axis=1), kind="stable").tolist()
        people: set[object] = set()
        values, members = self._seen(), list[int]()
        for at in order:
            own = self._person(at)
            new = [
                name
                for name, seen in values.items()
                if len(seen) < self.l and self._waiting[at].record[name] not in seen
            ]
            # Once there are k people only who adds a value is of use.
            if own in people or (len(people) >= self.k and not new):
                continue
            people.add(own)
            members.append(at)
            for name, seen in values.items():
                seen.add(self._waiting[at].record[name])
            if len(people) >= self.k and all(len(seen) >= self.l for seen in values.values()):
                return members
        return []

    def _seen(self) -> dict[str, set[str | None]]:
        return {name: set() for name in (self.policy.sensitive if self.l > 1 else ())}

    def _person(self, at: int) -> object:
        """Whose record it is; without a column for that, nobody else's."""
        person = self.policy.person
        return at if person is None else self._waiting[at].record[person]

    def _rows(self, records: Sequence[Record]) -> list[dict[str, str | None]]:
        labels = {
            name: label_of([record[name] for record in records]) for name in self.policy.quasi_identifiers
        }
        return [{name: labels.get(name, record[name]) for name in self.columns} for record in records]

    def _verify(self, rows: Sequence[Record], records: Sequence[Record]) -> None:
        """Ask of a cluster what is promised of it, by its rows as they are published."""
        person = self.policy.person
        people = len(rows) if person is None else len({record[person] for record in records})
        alike = all(len({row[name] for row in rows}) == 1 for name in self.policy.quasi_identifiers)
        true = all(
            stands_for(row[name], record[name])
            for row, record in zip(rows, records, strict=True)
            for name in self.policy.quasi_identifiers
        )
        values = all(len({row[name] for row in rows}) >= self.l for name in self._seen())
        if people < self.k or not (alike and true and values):
            raise RequirementNotMet(
                "a cluster does not hold what is promised",
                remedy="nothing of it was written; report it, please",
            )


def label_of(values: Sequence[str | None]) -> str | None:
    """What stands for all of some values: an interval of numbers, a set of texts; ``*`` where some are missing.

    >>> label_of(["31", "33"]), label_of(["a", "b", "a"]), label_of(["7", "7"]), label_of(["7", None]), label_of([None])
    ('[31, 33]', '{a, b}', '7', '*', None)
    """
    distinct = set(values)
    if len(distinct) == 1:
        return values[0]
    texts = sorted(text for text in distinct if text is not None)
    if len(texts) < len(distinct):
        return SUPPRESSED
    numbers = [_number(text) for text in texts]
    if not any(map(math.isnan, numbers)):
        return str(Interval(min(numbers), max(numbers)))
    return set_label(texts, width=10**6, unlike=texts)


def stands_for(label: str | None, value: str | None) -> bool:
    """Whether a published label may be a value.

    >>> stands_for("[31, 33]", "32"), stands_for("{a, b}", "c"), stands_for("*", None)
    (True, False, True)
    """
    if label == value:
        return True
    told = None if label is None else parse(label)
    if isinstance(told, Suppressed):
        return True
    if isinstance(told, Interval):
        return value is not None and _number(value) in told
    return isinstance(told, OneOf) and value in told.members


def _number(text: str | None) -> float:
    """The finite number that a text is, or NaN."""
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def refuse_twins(columns: Sequence[str]) -> None:
    """Raise if two columns have one name: a record would hold the cell of only one of them."""
    twins = sorted(name for name, count in Counter(columns).items() if count > 1)
    if twins:
        raise InvalidParameter(
            Sentence("the stream has several columns {name!r}", name=twins[0]),
            remedy="give every column a name of its own",
        )


def refuse_ragged(columns: Sequence[str], cells: Sequence[str], line: int) -> None:
    """Raise if a line has more or fewer cells than the header."""
    if len(cells) != len(columns):
        raise InvalidParameter(
            Sentence(
                "line {line:,} has {cells} cells, and the header {columns}",
                line=line,
                cells=len(cells),
                columns=len(columns),
            ),
            remedy="send lines of comma-separated values, all with the cells of the header",
        )
