"""Anonymise several tables together: the people's table first, then the rows that belong to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from discreet.classes.alignment import locate
from discreet.engine.read import read
from discreet.errors import GoalUnreachable, InvalidPolicy
from discreet.perturb.randomness import Randomness
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.policy.policy import ColumnPolicy
from discreet.privacy import KAnonymity, PrivacyModel
from discreet.progress import Asked, telling
from discreet.relational.alike import joint
from discreet.relational.dates import days_per_person, shifted
from discreet.relational.judging import judge_related
from discreet.relational.policy import GivenRelationalPolicy, RelationalPolicy, open_relational
from discreet.relational.recoding import EventRecoding
from discreet.relational.release import RelationalRelease, TableChange
from discreet.relational.rows import PartOfPeople, RelatedTables
from discreet.relational.search import least_loss, without_rare
from discreet.relational.sources import GivenTables, open_tables
from discreet.relational.views import ShownRows, TableView, view_of
from discreet.release.anonymize import anonymize, refuse_names_in_labels, unknown_left_out
from discreet.release.pairing import row_codes
from discreet.release.prepare import count_classes
from discreet.release.profile import load_profile
from discreet.release.release import Release
from discreet.release.requirements import goals
from discreet.search import clock
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.types import BoolArray, IntArray, Progress


@dataclass(frozen=True)
class ShownPeople:
    """The people's table as it will be shown: ``rows`` of those who are ``kept``, in the order of the original."""

    rows: pa.Table = field(repr=False)
    kept: BoolArray = field(repr=False)
    loss: float = 0.0
    notes: tuple[str, ...] = ()

    def numbers(self, names: Sequence[str]) -> IntArray:
        """A number for each person of the original by what is shown; of those who are left out -1."""
        numbers = np.full(len(self.kept), -1, dtype=np.int64)
        there = [name for name in names if name in self.rows.column_names]
        columns = [
            np.zeros(self.rows.num_rows, dtype=np.int64),
            *(_encoded(self.rows.column(n)) for n in there),
        ]
        numbers[self.kept] = joint(columns)
        return numbers


def anonymize_tables(
    source: GivenTables,
    policy: GivenRelationalPolicy,
    *,
    seed: int | None = None,
    progress: Asked = None,
) -> RelationalRelease:
    """Release several tables together, so that nobody is found by what is known of a person in all of them.

    The people's table is anonymised as any table is. In the others, values are generalised (what is called alike, alike) and
    rows are left out until k people share whatever ``known_events`` allows an intruder to know, and until every table meets
    what is asked of it with those above it. Keys become pseudonyms, references find what they found, and rows of people who
    are left out are left out with all that belongs to them.

    Chance (pseudonyms, shifted dates, the order of rows) follows from a secret that is forgotten, or from a ``seed``. A goal that
    cannot be reached raises ``GoalUnreachable``.
    """
    say = telling(progress)
    opened = open_relational(policy)
    tables = open_tables(source, opened)
    related = RelatedTables.of(tables, opened)
    _refuse(related, tables)
    before = judge_related(related, say)
    randomness = Randomness(seed)
    shown, recoding = _least(related, say)
    recoding, told = _meeting(recoding, shown, say)
    if recoding.emptied:
        raise GoalUnreachable(
            "all rows of a table would be left out",
            nearest=Sentence("{emptied}: no rows", emptied=recoding.emptied),
            remedy="let an intruder know fewer rows (known_events), give columns hierarchies, or release the other tables without it",
        )
    released = _released(recoding, shown, tables, randomness)
    notes = [*shown.notes, *told]
    if seed is not None:
        notes.append(
            "pseudonyms, shifts and the order of rows follow from a seed: whoever knows or guesses it can undo them"
        )
    after = judge_related(RelatedTables.of(open_tables(released), opened), say)
    if not after.holds:
        raise GoalUnreachable(
            "no change that was tried meets the policy",
            nearest=after.says,
            remedy="let an intruder know fewer rows (known_events), allow more suppression, or ask for less",
        )
    changes = {
        part.name: TableChange(
            len(part),
            released[part.name].num_rows,
            tuple(released[part.name].column_names),
            _levels(part, recoding) if part is not related.root else {},
        )
        for part in related.parts
    }
    return RelationalRelease(opened, released, changes, recoding.loss, before, after, tuple(notes))


def _least(related: RelatedTables, say: Progress) -> tuple[ShownPeople, EventRecoding]:
    """The people's table in classes of k people, or of more, with what becomes of the other tables: what loses least in all.

    In larger classes fewer rows are left out. Sizes are doubled as long as that loses less in all cells together.
    """
    policy = related.policy
    limit = policy.root.policy.plan.seconds
    begun = clock.now()
    best: tuple[float, ShownPeople, EventRecoding] | None = None
    worse = 0
    size = policy.k
    while worse < PATIENCE and size <= related.people and (best is None or clock.now() - begun < limit):
        try:
            shown = shown_people(related, size, say)
        except GoalUnreachable:
            if best is None:
                raise
            break
        recoding = least_loss(
            related,
            shown.numbers(policy.root.quasi_identifiers),
            shown.kept,
            k=policy.k,
            known=policy.known_events,
            seconds=limit / 4,
            tell=say,
        )
        own, others = len(policy.root.quasi_identifiers) * related.people, recoding.cells
        loss = (own * shown.loss + others * recoding.loss) / max(own + others, 1)
        # A table of which nothing is left is no table.
        loss += len(recoding.emptied)
        if best is None or loss < best[0]:
            best, worse = (loss, shown, recoding), 0
        else:
            worse += 1
        if not policy.knowable or not policy.root.quasi_identifiers or not recoding.loss:
            break
        size *= 2
    if best is None:
        raise GoalUnreachable(
            Sentence("there are fewer people than the {k:,} who are to be alike", k=policy.k),
            nearest=Sentence("{people:,} people", people=related.people),
            remedy="gather more people, or ask for a smaller k",
        )
    return best[1:]


PATIENCE = 2
"""So often in a row larger classes may lose more before no larger ones are tried."""


def _refuse(related: RelatedTables, tables: Mapping[str, Table]) -> None:
    """Refuse what several tables cannot be released with."""
    # Before any work is done for files that could not be written.
    related.policy.files("")
    plan = related.policy.root.policy.plan
    if plan.sample < 1:
        raise InvalidPolicy(
            ["people of several tables are not sampled"], remedy="draw the sample first and anonymise that"
        )
    for part in related.parts:
        table = tables[part.name].without(part.policy.keys)
        if table.columns:
            refuse_names_in_labels(table, part.policy.policy)


# ── the people's table ───────────────────────────────────────────────────────────────────────────────


def shown_people(related: RelatedTables, k: int, say: Progress) -> ShownPeople:
    """The people's table anonymised by the policy, with what it asks of sensitive values in one of the other tables.

    If one other table has all sensitive columns, each person's rows of it are looked at, so that classes of people meet
    what is asked of them.
    """
    policy, root = related.policy, related.root
    keys = policy.root.keys
    own = root.rows.drop_columns([name for name in keys if name in root.rows.column_names])
    if not policy.root.quasi_identifiers:
        return _unchanged(own, policy)
    asked = _without_ties(policy.root.policy, keys)
    asked = replace(asked, requirements=_asked(asked, asked.sensitive), plan=_quick(asked.plan))
    larger = () if k == policy.k else (KAnonymity(k, unit="persons"),)
    holders = [part for part in related.parts[1:] if part.policy.policy.sensitive and len(part)]
    if len(holders) == 1 and not asked.sensitive:
        return _by_events(related, own, asked, holders[0], larger, say)
    made = anonymize(read(own), asked.require(*larger), progress=say)
    return _of_release(made.table.to_arrow(), made.links, len(root), made)


def _by_events(
    related: RelatedTables,
    own: pa.Table,
    asked: Policy,
    part: PartOfPeople,
    larger: tuple[PrivacyModel, ...],
    say: Progress,
) -> ShownPeople:
    """The people's table, anonymised with the sensitive values that people have in another table."""
    order = np.argsort(part.persons, kind="stable")
    without = np.setdiff1d(np.arange(len(related.root)), part.persons)
    persons = np.concatenate([part.persons[order], without])
    rows = own.take(pa.array(persons))
    columns = list(asked.columns)
    titles = {}
    for name in part.policy.policy.sensitive:
        titles[name] = title = name if name not in rows.column_names else f"{part.name}.{name}"
        values = part.rows.column(name).combine_chunks().take(pa.array(order))
        rows = rows.append_column(title, pa.concat_arrays([values, pa.nulls(len(without), values.type)]))
        known = part.policy.policy.column(name)
        assert known is not None, "sensitive columns have a role"
        columns.append(replace(known, name=title))
    number = f"{part.name}.person"
    rows = rows.append_column(number, pa.array(persons))
    joined = replace(
        asked,
        columns=(*columns, ColumnPolicy(number, "person-id")),
        requirements=(*_asked(part.policy.policy, tuple(titles)), *larger),
        plan=replace(asked.plan, person="drop"),
    )
    made = anonymize(read(rows), joined, progress=say)
    table = made.table.to_arrow()
    of_rows = persons[np.asarray(made.links)]
    people, first = np.unique(of_rows, return_index=True)
    shown = [name for name in related.policy.root.quasi_identifiers if name in table.column_names]
    seen = joint([of_rows, *(_encoded(table.column(name)) for name in shown)])
    if len(np.unique(seen)) > len(people):
        raise AssertionError("rows of a person were generalised in different ways")
    left = table.take(pa.array(first))
    left = left.drop_columns([title for title in titles.values() if title in left.column_names])
    return _of_release(left, people, len(related.root), made)


def _of_release(table: pa.Table, links: IntArray, people: int, made: Release) -> ShownPeople:
    """The people's rows in the order of the original."""
    kept = np.zeros(people, dtype=bool)
    kept[links] = True
    return ShownPeople(table.take(pa.array(np.argsort(links))), kept, made.loss, tuple(made.notes))


def _unchanged(own: pa.Table, policy: RelationalPolicy) -> ShownPeople:
    """A people's table without quasi-identifiers: its columns but for identifiers."""
    table = read(own) if own.num_columns else None
    gone = set(policy.root.policy.direct_identifiers)
    if table is not None:
        gone |= set(unknown_left_out(table, _without_ties(policy.root.policy, policy.root.keys)))
    rows = own.drop_columns([name for name in own.column_names if name in gone])
    return ShownPeople(rows, np.ones(own.num_rows, dtype=bool))


def _quick(plan: Plan) -> Plan:
    """The plan with a share of the time: the people's table is made several times."""
    return replace(plan, seconds=plan.seconds / 6)


def _encoded(column: pa.ChunkedArray) -> IntArray:
    """A number for each value; missing ones are alike."""
    codes = column.combine_chunks().dictionary_encode(null_encoding="encode").indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)


def _asked(policy: Policy, sensitive: Sequence[str]) -> tuple[PrivacyModel, ...]:
    """The requirements that speak of a table's sensitive values, or of none."""
    return tuple(
        model
        for model in policy.requirements
        if model.sensitive is None or model.sensitive in sensitive or (model.sensitive == "*" and sensitive)
    )


def _without_ties(policy: Policy, keys: Sequence[str]) -> Policy:
    return replace(policy, columns=tuple(c for c in policy.columns if c.name not in keys))


# ── the rows that belong to people ───────────────────────────────────────────────────────────────────


def _meeting(recoding: EventRecoding, shown: ShownPeople, say: Progress) -> tuple[EventRecoding, list[str]]:
    """The recoding without rows of classes that fail what is asked of their table, until none does."""
    related = recoding.related
    policy = related.policy
    left = dict(recoding.left_out)
    while True:
        rows = shown_rows(recoding, shown)
        failing = {}
        for part in related.parts[1:]:
            if not rows[part.name].rows.num_rows:
                continue
            view = view_of(part.name, rows, policy)
            if view is None:
                continue
            say("asking every table with those above it")
            fails = _failing(view)
            if fails.any():
                failing[part.name] = fails
        if not failing:
            break
        keeping = dict(recoding.kept)
        for name, fails in failing.items():
            still = keeping[name].copy()
            still[np.flatnonzero(keeping[name])[fails]] = False
            keeping[name] = still
        recoding = replace(recoding, kept=related.kept(keeping))
        recoding = without_rare(recoding, k=policy.k, known=policy.known_events)
    notes: list[str] = []
    for part in related.parts[1:]:
        people = int((~shown.kept[part.persons]).sum())
        gone = recoding.left_out[part.name]
        if gone:
            notes.append(
                Sentence(
                    "{table}: {gone:,} of {rows:,} rows were left out: {people:,} of people who are, {rare:,} by which people would be "
                    "found, {failing:,} for what is asked of the table",
                    table=part.name,
                    gone=gone,
                    rows=len(part),
                    people=people,
                    rare=left[part.name] - people,
                    failing=gone - left[part.name],
                )
            )
    return recoding, notes


def _failing(view: TableView) -> BoolArray:
    """Which rows of a view are in classes that fail what is asked of the table."""
    table = view.policy.fit(view.table)
    classes = count_classes(table, view.policy)
    models = goals(view.policy, load_profile(view.policy.profile), classes)
    holds = np.logical_and.reduce([model.holds(classes) for model in models])
    if holds.all():
        return np.zeros(table.rows, dtype=bool)
    return np.asarray(~holds[locate(classes, row_codes(table, classes.attributes))])


def shown_rows(recoding: EventRecoding, shown: ShownPeople) -> dict[str, ShownRows]:
    """The tables as they would be shown, but for keys, shifted dates and the order of rows."""
    related = recoding.related
    now = {name: np.cumsum(kept) - 1 for name, kept in recoding.kept.items()}
    root = related.root
    people = int(shown.kept.sum())
    rows = {root.name: ShownRows(shown.rows, np.full(people, -1), np.arange(people))}
    for part in related.parts[1:]:
        parent = related.policy.parent(part.name)
        assert parent is not None, "events refer to people"
        places = np.flatnonzero(recoding.kept[part.name])
        persons = now[root.name][part.persons[places]]
        content = part.rows.take(pa.array(places))
        for domain, codes in zip(part.domains, part.codes, strict=True):
            level = recoding.levels[domain.name]
            if level:
                ladder = related.fitted[domain.name].ladder
                labels = pa.array(ladder.values(level), pa.string())
                values = labels.take(pa.array(ladder.steps[level].codes[codes[places]]))
                content = content.set_column(content.column_names.index(domain.name), domain.name, values)
        for name in part.policy.quasi_identifiers:
            if (part.name, name) in related.copied:
                at = content.column_names.index(name)
                if name in shown.rows.column_names:
                    values = shown.rows.column(name).take(pa.array(persons))
                    content = content.set_column(at, name, values)
                else:
                    content = content.remove_column(at)
        gone = [*part.policy.policy.direct_identifiers, *part.policy.keys]
        content = content.drop_columns([name for name in content.column_names if name in gone])
        rows[part.name] = ShownRows(content, now[parent[1]][part.parents[places]], persons)
    return rows


def _released(
    recoding: EventRecoding, shown: ShownPeople, tables: Mapping[str, Table], randomness: Randomness
) -> dict[str, pa.Table]:
    """The tables as they are released: in a random order, with pseudonyms for keys and shifted dates."""
    related = recoding.related
    policy = related.policy
    rows = shown_rows(recoding, shown)
    days = days_per_person(int(shown.kept.sum()), policy.shift_days, randomness)
    orders = {name: randomness.permutation(each.rows.num_rows) for name, each in rows.items()}
    numbers = {}
    for name, order in orders.items():
        numbers[name] = np.empty(len(order), dtype=np.int64)
        numbers[name][order] = np.arange(1, len(order) + 1)
    released: dict[str, pa.Table] = {}
    for name, each in rows.items():
        own = policy.table(name)
        content = each.rows
        judged = tables[name].without(own.keys)
        unknown = unknown_left_out(judged, _without_ties(own.policy, own.keys)) if judged.columns else ()
        content = content.drop_columns([column for column in content.column_names if column in unknown])
        for column in own.shift:
            if column in content.column_names:
                moved = shifted(content.column(column), column, days[each.persons])
                content = content.set_column(content.column_names.index(column), column, moved)
        parent = policy.parent(name)
        if parent is not None:
            content = content.add_column(0, parent[0], pa.array(numbers[parent[1]][each.parents]))
        if own.key is not None:
            content = content.add_column(0, own.key, pa.array(numbers[name]))
        released[name] = content.take(pa.array(orders[name]))
    for name, content in related.others.items():
        gone = policy.table(name).policy.direct_identifiers
        keep = [c for c in content.column_names if c not in gone or c == policy.table(name).key]
        released[name] = content.select(keep)
    return released


def _levels(part: PartOfPeople, recoding: EventRecoding) -> dict[str, str]:
    """How far the columns of an event table were generalised."""
    return {
        name: f"{recoding.levels[name]}/{recoding.related.fitted[name].ladder.height}" for name in part.names
    }
