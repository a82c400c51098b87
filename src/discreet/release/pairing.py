"""Put an original and its release side by side: read, counted, and its records matched where that can be known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import gammaln

from discreet.attacks.disclosure.places import project
from discreet.classes import EquivalenceClasses
from discreet.classes.alignment import locate, match_in_order, only_match
from discreet.classes.pair import MOST_COMPARED, Links, Pair, RowOrder
from discreet.classes.tracing import only_links
from discreet.errors import InvalidParameter, InvalidPolicy, UnknownColumn, UnsuitableColumn
from discreet.policy import Policy
from discreet.policy.hierarchies import hierarchies
from discreet.release.codebook import Given as GivenCodebook
from discreet.release.codebook import told_of, without_meaning
from discreet.release.links import Given, read_links
from discreet.risk.redundancy import NEARLY_ALL, nearest
from discreet.sentences import Sentence
from discreet.table import Domain, Table
from discreet.table.meaning import KINDS, Meaning
from discreet.types import IntArray

MOST_ROWS_MATCHED = 20_000_000
"""Rows beyond this are not matched one by one: their codes would no longer fit into memory."""

MOST_TOLD_BY_VALUES = 100_000
"""Beyond so many rows it is not looked at whether values alone tell which row is which: the order does that."""

UNLIKELY = math.log(1e6)
"""What happens in fewer than one of a million orders is not taken for chance."""


@dataclass(frozen=True)
class MatchedPair:
    """A pair, and how its records were matched or why they were not.

    ``released`` are the classes of the release as they were counted, without attributes that it lacks; ``rows``
    holds for each released row the number of its original row, if that is known.
    """

    pair: Pair = field(repr=False)
    released: EquivalenceClasses = field(repr=False)
    matched: str
    notes: tuple[str, ...] = ()
    rows: IntArray | None = field(default=None, repr=False)


def make_pair(
    original: Table,
    release: Table,
    policy: Policy,
    *,
    key: str | None = None,
    links: Given | None = None,
    codebook: GivenCodebook | None = None,
    names: Sequence[str] | None = None,
    like: MatchedPair | None = None,
) -> MatchedPair:
    """Count both tables over the policy's quasi-identifiers (or other ``names``), and match their records.

    Records are matched by the ``links`` that were made with the release, or by those that it still has in memory; by
    ``key``, a column that both tables have and in which no value repeats. Without any of them they
    are matched in their order, if that leaves one matching: each released row with an original row that it may stand
    for and that agrees in all columns which were not changed. Rows in another order are matched class by class, if their
    values leave one way to do so. If there is none, or there are several that differ in
    what they say, nothing is matched: who became whom is not guessed.
    ``codebook`` tells what short labels of the release stand for, as whoever receives the release knows.
    ``like`` is a pair of the same tables: its matching and what its labels mean are taken over, and its counts as far
    as they tell.
    """
    original = policy.fit(original)
    wanted = list(policy.quasi_identifiers if names is None else names)
    for name in wanted:
        original.column(name)
    shown = [name for name in wanted if name in release.names]
    if not shown and names is None:
        raise InvalidPolicy(
            [Sentence("the release has none of the columns {wanted}", wanted=tuple(wanted))],
            remedy="give the policy of this release, or name its columns as the original does",
        )
    planned = [name for name in policy.plan.drop_attributes if name in wanted and name not in shown]
    if like is not None:
        wanted = [name for name in wanted if name not in planned or name in like.pair.names]
    if like is not None and shown and set(wanted) <= set(like.pair.names):
        before, after = like.pair.original.project(wanted), like.released.project(shown)
    else:
        before, after = _count(original, policy, wanted), _count(release, policy, shown)
    followed = _followed(before, planned, shown) if like is None and names is None else {}
    if followed:
        wanted = [name for name in wanted if name not in followed]
        before = before.project(wanted)
    fitted = hierarchies(policy, before)
    told = like.pair.told if like is not None else {} if codebook is None else told_of(codebook, after)
    pair = Pair.of(
        before,
        after,
        hierarchies={hierarchy.ladder.name: hierarchy.hierarchy for hierarchy in fitted},
        assumed={hierarchy.ladder.name: hierarchy.origin for hierarchy in fitted if hierarchy.assumed},
        told=told,
    )
    _refuse_exchanged(pair, original, release)
    if like is not None:
        rows, matched = like.rows, like.matched
    elif links is not None:
        rows, matched = (
            _by_links(original, release, policy, pair, links),
            "records were matched by the links that were given",
        )
    else:
        rows, matched = _matched_rows(original, release, policy, pair, key)
    if rows is not None:
        order = _row_order(original, release, pair, rows)
        pair = replace(pair, links=order.links(), order=order, kept=_kept(original, release, pair, rows))
    elif not policy.perturbed & set(pair.names) and (traced := _class_links(pair, like)) is not None:
        pair = replace(pair, links=traced, kept=_kept_in_classes(pair, traced))
        if like is None:
            matched = "records were matched class by class: their values leave one way to do so, whatever their order"
    return MatchedPair(pair, after, matched, (*followed.values(), *_notes(pair, wanted, shown)), rows)


def _refuse_exchanged(pair: Pair, original: Table, release: Table) -> None:
    """Raise if the values of the original are coarser than those of the release."""
    for meaning in pair.meanings:
        if not meaning.truthful and _exchanged(meaning):
            told = {"name": meaning.name, "original": original.source.name, "release": release.source.name}
            wrong = "the values of {name!r} in {original} are generalisations of those in {release}, not the other way round"
            remedy = "exchange the two tables: the original is the one with the finer values"
            raise InvalidParameter(Sentence(wrong, **told), remedy=remedy)


def _notes(pair: Pair, wanted: Sequence[str], shown: Sequence[str]) -> tuple[str, ...]:
    """What a reader must know about the columns that were compared."""
    gone = [name for name in wanted if name not in shown]
    foreign = [meaning.name for meaning in pair.meanings if not meaning.truthful]
    cut = [meaning.name for meaning in pair.meanings if _cut(meaning)]
    notes: list[str] = []
    if gone:
        notes.append(
            Sentence("the release has no column {gone}: counted as suppressed everywhere", gone=gone)
        )
    if foreign:
        notes.append(
            Sentence(
                "{foreign}: the release has values that the original does not have and that are no "
                "generalisation of one; they are compared by distance",
                foreign=foreign,
            )
        )
    if unknown := without_meaning(pair):
        notes.append(
            Sentence(
                "{unknown}: labels name some of their values only, and nobody told the others: whoever has the "
                "codebook of the release knows more (--codebook)",
                unknown=", ".join(unknown),
            )
        )
    if cut:
        notes.append(Sentence("{cut}: shorter values were read as the beginnings of the original's", cut=cut))
    return tuple(notes)


def _followed(original: EquivalenceClasses, planned: Sequence[str], shown: Sequence[str]) -> dict[str, str]:
    """Which columns that the plan leaves out follow from released ones, and what to tell of each."""
    sources = {name: nearest(original, name, shown) for name in planned if name in original.names}
    return {
        name: Sentence(
            "the release has no column {name}, which is not counted: it {why}",
            name=name,
            why=Sentence(source.describe()),
        )
        for name, source in sources.items()
        if source is not None and source.explained >= NEARLY_ALL
    }


def _exchanged(meaning: Meaning) -> bool:
    """Whether the original's values are generalised ones that all strange values of the release fit into."""
    if not meaning.original.is_text or meaning.numeric:
        return False
    back = Meaning.of(meaning.released, meaning.original)
    wide = np.flatnonzero(np.isin(back.kinds, [KINDS.index(kind) for kind in ("interval", "set", "masked")]))
    strange = np.flatnonzero(meaning.sizes == 0)
    if not len(wide) or not back.truthful:
        return False
    return bool(np.isin(strange, np.concatenate([back.members(int(code)) for code in wide])).all())


def _cut(meaning: Meaning) -> bool:
    """Whether some values were read as beginnings, which no mark in them says."""
    masked = np.flatnonzero(meaning.kinds == KINDS.index("masked"))
    shown = [meaning.released.label(int(code)) for code in masked]
    return any(text[-1:].isalnum() and text[-1] not in "xX" and "*" not in text for text in shown)


def count_people(
    table: Table, names: Sequence[str], *, sensitive: Sequence[str] = (), person: str | None = None
) -> EquivalenceClasses:
    """People of a further table (a public register, a control group) by what is known about them."""
    for name in (*names, *sensitive):
        table.column(name)
    return table.engine.count(table, quasi_identifiers=names, sensitive=sensitive, person=person)


def _count(table: Table, policy: Policy, names: Sequence[str]) -> EquivalenceClasses:
    person = policy.person if policy.person in table.names else None
    return table.engine.count(
        table,
        quasi_identifiers=names,
        sensitive=[name for name in policy.sensitive if name in table.names and name not in names],
        person=person if person not in names else None,
    )


def _matched_rows(
    original: Table, release: Table, policy: Policy, pair: Pair, key: str | None
) -> tuple[IntArray | None, str]:
    """For each released row its original row, and in words how it was found or why not."""
    if max(original.rows, release.rows) > MOST_ROWS_MATCHED:
        return None, Sentence(
            "records were not matched: there are more than {most_rows_matched:,}",
            most_rows_matched=MOST_ROWS_MATCHED,
        )
    if key is not None:
        return _by_key(original, release, key), Sentence("records were matched by the column {key}", key=key)
    places = release.engine.places(release)
    if places is not None and _may_be(original, release, policy, pair, places):
        return places, "records were matched by the links that the release holds in memory"
    if release.rows > original.rows:
        return None, "records were not matched: the release has more rows than the original"
    tested = _tested(pair, release, policy)
    same = _same_rows(original, release, _changed(pair, policy))
    if not tested and same is None:
        return None, "records were not matched: nothing that both tables have tells which row is which"
    names = [meaning.name for meaning in tested]
    after = row_codes(release, [pair.released.attributes[pair.released.index(n)] for n in names])
    before = row_codes(original, [meaning.original for meaning in tested])
    kinds = locate(pair.original, row_codes(original, pair.original.attributes))
    if same is not None:
        kinds = kinds * (int(same[1].max(initial=0)) + 1) + same[1]
    sides = _RowCodes(tested, after, before, same, kinds)
    rows = match_in_order(tested, after, before, same)
    if rows is not None:
        whole = len(rows) == original.rows
        unique = whole or only_match(tested, after, before, same, rows, kinds)
        in_order = unique and sides.keep_their_order()
        if in_order or sides.told_by_values():
            return rows, "records were matched in their order, which leaves no other matching"
        return None, "records were not matched: their order leaves several matchings"
    if same is None or release.rows != original.rows:
        return None, "records were not matched: the release does not keep the order of the original"
    in_place = np.arange(release.rows)
    marks = _RowCodes([], [], [], same, kinds)
    if np.array_equal(*same) and (marks.keep_their_order() or marks.told_by_values()):
        # Averaged or noised values stand for nothing, but what was left alone still tells the rows apart.
        told = "records were matched row by row: the columns that were not changed agree in every row"
        return in_place, told
    values = _RowCodes(tested, after, before, None, kinds)
    fitting = tested and match_in_order(tested, after, before, None) is not None
    if fitting and values.keep_their_order():
        changed = ", ".join(_shared_columns(original, release, _changed(pair, policy)))
        return in_place, (
            Sentence(
                "records were matched row by row: every released row may stand for the original row in its "
                "place, and hardly for another; values of {changed} were changed",
                changed=changed,
            )
        )
    return None, "records were not matched: the release does not keep the order of the original"


def _tested(pair: Pair, release: Table, policy: Policy) -> list[Meaning]:
    """The quasi-identifiers whose released values stand for the true ones: none that the policy perturbs."""
    return [
        meaning
        for meaning in pair.meanings
        if meaning.truthful and meaning.name in release.names and meaning.name not in policy.perturbed
    ]


def _changed(pair: Pair, policy: Policy) -> list[str]:
    """The columns whose values may be others in a release."""
    return [*pair.names, *([policy.person] if policy.person else []), *sorted(policy.perturbed)]


@dataclass(frozen=True)
class _RowCodes:
    """The rows of a release and of an original: codes of attributes, marks that must agree, and kinds of original rows."""

    meanings: Sequence[Meaning]
    released: Sequence[IntArray]
    original: Sequence[IntArray]
    same: tuple[IntArray, IntArray] | None
    kinds: IntArray

    def keep_their_order(self) -> bool:
        """Whether released rows in a random order could hardly be matched in order: in fewer than one of a million.

        With r(i) original rows that row i may be there are at most Π r(i) matchings, and Π r(i)!^(1/r(i)) if all rows
        were released (Bregman 1973); each is in order for one of n! orders.
        """
        most = []
        for meaning, shown, true in zip(self.meanings, self.released, self.original, strict=True):
            at_rank = np.bincount(meaning.rank[true], minlength=meaning.original.size)
            running = np.concatenate([[0], np.cumsum(at_rank)])
            inside = np.concatenate([[0], np.cumsum(running[meaning.stops] - running[meaning.starts])])
            most.append((inside[meaning.indptr[1:]] - inside[meaning.indptr[:-1]])[shown])
        if self.same is not None:
            width = int(max(part.max(initial=0) for part in self.same)) + 1
            most.append(np.bincount(self.same[1], minlength=width)[self.same[0]])
        fitting = np.maximum(np.min(most, axis=0), 1).astype(np.float64)
        whole = len(fitting) == len(self.original[0] if self.original else self.same[1] if self.same else [])
        matchings = gammaln(fitting + 1) / fitting if whole else np.log(fitting)
        return bool(gammaln(len(fitting) + 1.0) - matchings.sum() > UNLIKELY)

    def told_by_values(self) -> bool:
        """Whether each released row fits original rows of one kind only, so that no order is needed."""
        if len(self.kinds) > MOST_TOLD_BY_VALUES:
            return False
        shown = np.unique(np.stack([*self.released, *([] if self.same is None else [self.same[0]])]), axis=1)
        first = np.unique(self.kinds, return_index=True)[1]
        if shown.shape[1] * len(first) > MOST_COMPARED:
            return False
        fits = np.ones((shown.shape[1], len(first)), dtype=bool)
        for at, (meaning, true) in enumerate(zip(self.meanings, self.original, strict=True)):
            fits &= meaning.covers(shown[at][:, None], true[first][None])
        if self.same is not None:
            fits &= shown[-1][:, None] == self.same[1][first][None]
        return bool((fits.sum(axis=1) == 1).all())


def _by_links(original: Table, release: Table, policy: Policy, pair: Pair, links: Given) -> IntArray:
    places = read_links(links, released=release.rows, original=original.rows)
    if not _may_be(original, release, policy, pair, places):
        raise InvalidParameter(
            "the links are not those of these tables: they name rows for which the released ones cannot stand",
            remedy="give the links that were made with this release, and its original as it was then",
        )
    return places


def _may_be(original: Table, release: Table, policy: Policy, pair: Pair, places: IntArray) -> bool:
    """Whether every released row agrees with the row at its place in what was not changed, or may stand for it."""
    if places.max(initial=0) >= original.rows:
        return False
    same = _same_rows(original, release, _changed(pair, policy))
    if same is not None and np.array_equal(same[0], same[1][places]):
        return True
    tested = _tested(pair, release, policy)
    for meaning in tested:
        (after,) = row_codes(release, [meaning.released])
        (before,) = row_codes(original, [meaning.original])
        if not meaning.covers(after, before[places]).all():
            return False
    return bool(tested) or same is None


def _class_links(pair: Pair, like: MatchedPair | None) -> Links | None:
    """What became of the classes, if their values tell, or those of a pair of the same tables with more columns."""
    if like is not None and like.pair.links is not None and set(pair.names) <= set(like.pair.names):
        return project(like.pair, pair.names)[0].links
    return only_links(pair)


def _kept_in_classes(pair: Pair, links: Links) -> frozenset[str]:
    """The sensitive attributes of which every released class has just the values of its records."""
    whole = np.bincount(links.original, minlength=len(pair.original)) == 1
    if not whole.all():
        return frozenset()
    owner = np.full(len(pair.original), -1, dtype=np.int64)
    owner[links.original] = links.released
    names = set()
    for name, meaning in pair.sensitive.items():
        if not (meaning.kinds == KINDS.index("exact")).all():
            continue
        before, after = pair.original.histogram(name), pair.released.histogram(name)
        code = np.full(meaning.released.size, -1, dtype=np.int64)
        code[:] = meaning.code_at[meaning.starts[meaning.indptr[:-1]]]
        inside = owner[before.class_of_entry] >= 0
        sides = []
        for classes, codes, records in (
            (owner[before.class_of_entry][inside], before.values[inside], before.records[inside]),
            (after.class_of_entry, code[after.values], after.records),
        ):
            keys, at = np.unique(classes * meaning.original.size + codes, return_inverse=True)
            sides.append((keys, np.bincount(at, weights=records)))
        if all(np.array_equal(left, right) for left, right in zip(*sides, strict=True)):
            names.add(name)
    return frozenset(names)


def _by_key(original: Table, release: Table, key: str) -> IntArray:
    columns = []
    for table in (original, release):
        if key not in table.names:
            raise UnknownColumn(key, table.names)
        rows = table.engine.to_arrow(table, [key], counted=True).column(key).combine_chunks()
        if rows.null_count or pc.count_distinct(rows).as_py() < len(rows):
            raise UnsuitableColumn(
                Sentence("the key {key!r} is empty or repeats in {name}", key=key, name=table.source.name),
                remedy="name a column that has another value in every row",
            )
        columns.append(rows.cast(pa.string()))
    places = pc.index_in(columns[1], value_set=columns[0])
    if places.null_count:
        raise UnsuitableColumn(
            Sentence(
                "{rows:,} rows of the release have a key {key!r} that the original does not have",
                rows=places.null_count,
                key=key,
            ),
            remedy="name a column that was not changed, or leave the key out",
        )
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)


def _shared_columns(original: Table, release: Table, besides: Sequence[str]) -> list[str]:
    """The columns that both tables have in the same form, and that no recoding was asked of."""
    kinds = {column.name: column.storage for column in original.columns}
    return [
        column.name
        for column in release.columns
        if column.name not in besides and kinds.get(column.name) == column.storage != "list"
    ]


def _same_rows(original: Table, release: Table, besides: Sequence[str]) -> tuple[IntArray, IntArray] | None:
    """A number for each released and original row that is equal where all unchanged columns agree."""
    names = _shared_columns(original, release, besides)
    if not names:
        return None
    after = release.engine.to_arrow(release, names, counted=True)
    before = original.engine.to_arrow(original, names, counted=True)
    number = np.zeros(len(after) + len(before), dtype=np.int64)
    for name in names:
        both = pa.chunked_array(
            [chunk.cast(pa.string()) for table in (after, before) for chunk in table.column(name).chunks],
            pa.string(),
        ).combine_chunks()
        # A text file shows a null as nothing.
        encoded = pc.if_else(pc.equal(both, ""), pa.scalar(None, pa.string()), both).dictionary_encode()
        codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        number = np.unique(number * (len(encoded.dictionary) + 1) + codes, return_inverse=True)[1]
    return number[: len(after)], number[len(after) :]


def row_codes(table: Table, domains: Sequence[Domain]) -> list[IntArray]:
    """Row by row the code of each value among the domain's."""
    rows = table.engine.to_arrow(table, [domain.name for domain in domains], counted=True)
    codes = []
    for domain in domains:
        column = rows.column(domain.name).combine_chunks()
        if column.type != domain.values.type:
            column = column.cast(domain.values.type)
        at = pc.index_in(column, value_set=domain.values, skip_nulls=True)
        last = domain.null_code if domain.null_code is not None else 0
        codes.append(at.fill_null(last).to_numpy(zero_copy_only=False).astype(np.int64))
    return codes


def _kept(original: Table, release: Table, pair: Pair, places: IntArray) -> frozenset[str]:
    """The sensitive attributes of which every released row has the value of its original row."""
    names = set()
    for name, meaning in pair.sensitive.items():
        if (meaning.kinds == KINDS.index("exact")).all():
            (before,) = row_codes(original, [meaning.original])
            (after,) = row_codes(release, [meaning.released])
            if meaning.covers(after, before[places]).all():
                names.add(name)
    return frozenset(names)


def _row_order(original: Table, release: Table, pair: Pair, places: IntArray) -> RowOrder:
    """The classes of all rows in their order, and the original row of every released one."""
    before = locate(pair.original, row_codes(original, pair.original.attributes))
    after_codes = row_codes(release, [d for d in pair.released.attributes if d.name in release.names])
    listed = iter(after_codes)
    stars = np.zeros(release.rows, dtype=np.int64)
    after = locate(
        pair.released,
        [next(listed) if d.name in release.names else stars for d in pair.released.attributes],
    )
    return RowOrder(before, after, places)
