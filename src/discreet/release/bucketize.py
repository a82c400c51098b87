"""Bucketise: quasi-identifiers stay true, and sensitive values are told for buckets of records (Anatomy)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.classes import Histogram
from discreet.classes.alignment import locate
from discreet.errors import EmptyTable, InvalidParameter, InvalidPolicy, RequirementNotMet, UnknownColumn
from discreet.files.writing import pair_atomically, refuse_clashes, write_text
from discreet.perturb.base import whole, without_marks
from discreet.perturb.randomness import Randomness
from discreet.plain import plain
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy
from discreet.privacy import LDiversity, PrivacyModel
from discreet.privacy.base import need_choice
from discreet.progress import Asked, telling
from discreet.release.anonymize import refuse_names_in_labels, unknown_left_out
from discreet.release.buckets import RECORDS, BucketedTable, open_buckets
from discreet.release.links import write_links
from discreet.release.pairing import row_codes
from discreet.release.prepare import open_both, open_table, refuse_absent_values, several_rows, with_roles
from discreet.release.requirements import as_entry, models_of
from discreet.release.tally import canonical
from discreet.release.verify import KEEPS_BLANKS, Verification, read_back, verify
from discreet.release.write import check_target, write_rows
from discreet.search.buckets.search import BUCKET_METHODS, BucketMethod, Buckets, find_buckets
from discreet.search.clusters.groups import blocks, columns_of_points
from discreet.search.clusters.space import points_of
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS, Source, Table
from discreet.table.reading import ReadOptions
from discreet.types import IntArray

IDENTITY = (
    "quasi-identifiers are released as they are: whoever knows them finds the row of a person and learns what the bucket says; "
    "that a person is in the table, and every other column of the row, is not protected"
)
SEEDED = (
    "buckets were formed with a seed that somebody chose: whoever knows or guesses it can undo them, so choose a long one and "
    "keep it to yourself"
)
FORMAT = "discreet-buckets-1"


@dataclass(frozen=True)
class BucketRelease:
    """Two tables: ``rows`` have quasi-identifiers and a bucket each, ``counts`` say what occurs how often in each bucket.

    ``save`` writes both files, reads them back and asks the requirements of them before they are put in place. ``links``
    say which row of the original each row was; they undo the release.
    """

    source: Source
    rows: pa.Table = field(repr=False)
    counts: pa.Table = field(repr=False)
    bucketed: BucketedTable = field(repr=False)
    buckets: Buckets
    models: tuple[PrivacyModel, ...]
    policy: Policy = field(repr=False)
    links: IntArray = field(repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        # The parts hold values of the data, which a traceback or a log must not show.
        return f"BucketRelease({self.source.name!r}, {self.rows.num_rows:,} rows, {len(self.buckets.classes):,} buckets)"

    @property
    def sensitive(self) -> str:
        """The attribute that is told by bucket."""
        return self.bucketed.sensitive

    @property
    def column(self) -> str:
        """The column that both tables have."""
        return self.bucketed.column

    @property
    def recipe(self) -> dict[str, object]:
        """How it was made, without chance and without values."""
        return {
            "format": FORMAT,
            "method": self.buckets.method,
            "l": self.buckets.l,
            "sensitive": self.sensitive,
            "bucket": self.column,
            "columns": self.rows.column_names,
            "requirements": [as_entry(model) for model in self.models],
        }

    def to_dict(self) -> dict[str, object]:
        """What was done, as JSON-ready data without values."""
        sizes = self.buckets.classes.records
        return {
            "schema": FORMAT,
            "recipe": self.recipe,
            "rows": self.rows.num_rows,
            "buckets": len(sizes),
            "smallest_bucket": int(sizes.min()),
            "largest_bucket": int(sizes.max()),
            "measures": [model.measure(self.buckets.classes).to_dict() for model in self.models],
            "notes": list(self.notes),
        }

    def verify(self, rows: pa.Table, counts: pa.Table, *, blanks_are_nulls: bool = False) -> Verification:
        """Ask the requirements of both tables as they were read back, and whether one fits the other."""
        failures: list[str] = []
        if rows.column_names != self.rows.column_names or counts.column_names != self.counts.column_names:
            return Verification(rows.num_rows, 0, 0, ("a table has other columns",))
        records = np.asarray(counts[RECORDS].cast(pa.int64()).to_numpy())
        if _per_bucket(rows[self.column], np.ones(rows.num_rows)) != _per_bucket(
            counts[self.column], records
        ):
            failures.append("the rows of a bucket are not as many as its values")
        told = counts.select([self.column, self.sensitive]).take(
            pa.array(np.repeat(np.arange(counts.num_rows), records))
        )
        true = self.bucketed.classes.histogram(self.sensitive)
        values = [*true.domain.values.to_pylist(), *([None] if true.domain.has_null else [])]
        totals: dict[str | None, int] = {}
        for value, total in zip(values, true.totals.tolist(), strict=True):
            totals[canonical(value)] = totals.get(canonical(value), 0) + total
        asked = self._asked(told, self.models, totals, blanks_are_nulls=blanks_are_nulls)
        diversity = [model for model in self.models if isinstance(model, LDiversity)]
        if diversity:
            # Missing values are one value there, however they are written.
            shown = without_marks(whole(told[self.sensitive]))
            missing = sum(totals.pop(mark, 0) for mark in (*MISSING_MARKS, None))
            again = self._asked(
                told.set_column(1, self.sensitive, shown),
                diversity,
                {**totals, **({None: missing} if missing else {})},
                blanks_are_nulls=blanks_are_nulls,
            )
            failures += [failure for failure in again.failures if failure not in asked.failures]
        return replace(asked, failures=(*failures, *asked.failures))

    def _asked(
        self,
        told: pa.Table,
        models: Sequence[PrivacyModel],
        totals: Mapping[str | None, int],
        *,
        blanks_are_nulls: bool,
    ) -> Verification:
        """Ask requirements of the values of each record's bucket; ``totals`` are those of the original."""
        return verify(
            told,
            models,
            quasi_identifiers=[self.column],
            person=None,
            original={self.sensitive: totals},
            starred=False,
            blanks_are_nulls=blanks_are_nulls,
        )

    def save(
        self,
        path: str | PathLike[str],
        sensitive_path: str | PathLike[str],
        *,
        recipe: str | PathLike[str] | None = None,
        links: str | PathLike[str] | None = None,
    ) -> tuple[Path, Path]:
        """Write both tables, verified together on what was written, and the recipe and the links if asked for.

        A requirement that does not hold on the written files raises ``RequirementNotMet``, and no file appears. Both
        are exchanged together: a kill in between leaves the values without rows, never with those of another release.
        """
        target, other = Path(path), Path(sensitive_path)
        for each in (target, other):
            check_target(each)
        outputs = [target, other, *(Path(each) for each in (recipe, links) if each is not None)]
        refuse_clashes(outputs, [*self.policy.files, *self.source.files])

        def checked(first: Path, second: Path) -> None:
            told = self._complaint(first, second)
            if told:
                raise RequirementNotMet(
                    Sentence("the written release does not meet its requirements ({told})", told=told),
                    remedy="nothing was written",
                )

        def write(first: Path, second: Path) -> None:
            write_rows(self.rows, first)
            write_rows(self.counts, second)

        # Old rows beside new values would say of people what is not so, and both together more than either.
        pair_atomically(target, other, write, checked)
        if recipe is not None:
            write_text(Path(recipe), json.dumps(plain(self.recipe), ensure_ascii=False, indent=2) + "\n")
        if links is not None:
            write_links(Path(links), self.links)
        return target, other

    def _complaint(self, first: Path, second: Path) -> str:
        """What is wrong with the written files, or nothing."""
        try:
            rows = read_back(first, {f.name: f.type for f in self.rows.schema})
            counts = read_back(second, {f.name: f.type for f in self.counts.schema})
            blanks = second.suffix.lower() not in KEEPS_BLANKS
            verification = self.verify(rows, counts, blanks_are_nulls=blanks)
        except (pa.ArrowException, ValueError, OSError):
            return "it cannot be read back"
        return "" if verification.holds else verification.failures[0]


def _per_bucket(buckets: pa.ChunkedArray, weights: IntArray | np.ndarray) -> dict[str, int]:
    """Records by bucket."""
    encoded = buckets.cast(pa.string()).combine_chunks().dictionary_encode()
    sums = np.bincount(encoded.indices.to_numpy(), weights=weights)
    return dict(zip(encoded.dictionary.to_pylist(), sums.astype(np.int64).tolist(), strict=True))


def bucketize(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    sensitive: str | None = None,
    require: Sequence[PrivacyModel] = (),
    column: str = "bucket",
    method: BucketMethod | None = None,
    seed: int | None = None,
    progress: Asked = None,
) -> BucketRelease:
    """Two tables instead of one: quasi-identifiers as they are, and sensitive values by buckets that meet requirements.

    Every requirement of the policy on the ``sensitive`` attribute (the only one, if not given), and those in ``require``, hold
    for every bucket: diversity, closeness, likeness. Buckets are formed by a ``method``: if none is given, by Xiao and Tao's
    algorithm where those meet them, else by SABRE for t-closeness, else so that each resembles the whole table. Only quasi-identifiers and columns with the role insensitive are released
    besides. Who is where in a bucket follows from a secret that is forgotten, or from a ``seed``.
    """
    say = telling(progress)
    table, given = open_both(source, policy)
    policy, notes = with_roles(table, given, say)
    table = policy.fit(table)
    if not table.rows:
        raise EmptyTable("the table has no rows", remedy="give a table with people in it")
    _refuse_steps(policy)
    _refuse_several_rows(table, policy)
    refuse_names_in_labels(table, policy)
    # Left out they are anyway; a policy may say that there must be none.
    unknown_left_out(table, policy)
    if method is not None:
        need_choice("method", method, BUCKET_METHODS)
    name = _attribute(policy, sensitive)
    kept = [c.name for c in policy.columns if c.role in ("quasi-identifier", "insensitive")]
    kept = [each for each in table.names if each in kept and each not in policy.plan.drop_attributes]
    if column in (*kept, name, RECORDS):
        raise InvalidParameter(
            Sentence("the table has a column {column!r}, or it is a name that is taken", column=column),
            remedy="give the buckets another name",
        )
    classes = table.engine.count(table, quasi_identifiers=[], sensitive=[name])
    refuse_absent_values(policy, classes)
    domain = classes.sensitive_domain(name)
    models = _models(policy.require(*require), name, domain.is_numeric)
    (values,) = row_codes(table, [domain])
    say("forming buckets")
    randomness = Randomness(seed)
    buckets = find_buckets(
        values,
        domain,
        models,
        name=column,
        randomness=randomness,
        line=lambda: _line(table, [each for each in kept if each in policy.quasi_identifiers], randomness),
        method=method,
    )
    order = randomness.permutation(table.rows)
    rows = table.engine.to_arrow(table, kept).take(pa.array(order))
    rows = rows.append_column(column, pa.array(buckets.of_record[order] + 1))
    made = table.engine.read_batches(rows.to_reader(), table.source, ReadOptions())
    entries = buckets.classes.histogram(name)
    null = domain.null_code
    codes = entries.values.astype(np.int64)
    bucketed = BucketedTable(
        made, column, domain, buckets.of_record[order], entries.class_of_entry, codes, entries.records
    )
    counts = pa.table(
        {
            column: pa.array(entries.class_of_entry + 1),
            name: domain.values.take(pa.array(codes, mask=None if null is None else codes == null)),
            RECORDS: pa.array(entries.records),
        }
    )
    gone = [each for each in table.names if each not in kept and each != name]
    notes += _told(gone, entries, policy, seeded=seed is not None)
    return BucketRelease(table.source, rows, counts, bucketed, buckets, models, policy, order, tuple(notes))


def _told(gone: Sequence[str], entries: Histogram, policy: Policy, *, seeded: bool) -> Iterator[str]:
    """What to tell about a release with buckets."""
    if gone:
        yield Sentence("left out of the release: {gone}", gone=", ".join(gone))
    alone = int(entries.class_records[entries.distinct == 1].sum())
    if alone:
        yield Sentence(
            "{count:,} records stand in buckets with a single value, which the requirements allow: of them it is "
            "known; require l-diversity as well if that may not be",
            count=alone,
        )
    yield Sentence(
        "the profile {profile} was not judged: it asks for people who look alike", profile=policy.profile
    )
    yield IDENTITY
    if seeded:
        yield SEEDED


def _line(table: Table, names: Sequence[str], randomness: Randomness) -> IntArray:
    """All rows in an order in which those that are alike in some columns are near each other; equal ones by chance."""
    chance = randomness.words(table.rows)
    if not names:
        return np.argsort(chance)
    classes = table.engine.count(table, quasi_identifiers=names, sensitive=[])
    columns = columns_of_points(points_of(classes, [None] * len(names)))
    place = np.empty(len(classes), dtype=np.int64)
    place[np.concatenate(blocks(columns, 1))] = np.arange(len(classes))
    return np.lexsort((chance, place[locate(classes, row_codes(table, classes.attributes))]))


def _refuse_steps(policy: Policy) -> None:
    """Refuse steps of perturbation: buckets are formed of the table as it is."""
    if policy.perturb:
        raise InvalidPolicy(
            ["the policy lists steps of perturbation, and buckets are formed of the table as it is"],
            remedy="take the steps out of the policy, or perturb the table first and bucketise the result",
        )


def _refuse_several_rows(table: Table, policy: Policy) -> None:
    """Refuse people with several rows: their buckets together would tell more than each of them."""
    if several_rows(table, policy):
        raise InvalidPolicy(
            [
                Sentence(
                    "people have several rows (by {person!r}), and buckets are for one each",
                    person=policy.person,
                )
            ],
            remedy="make one row of each person first, or anonymise",
        )


def _attribute(policy: Policy, sensitive: str | None) -> str:
    """The attribute that is told by bucket."""
    if sensitive is not None:
        if sensitive not in policy.sensitive:
            raise UnknownColumn(sensitive, policy.sensitive)
        return sensitive
    if len(policy.sensitive) != 1:
        raise InvalidPolicy(
            [
                Sentence(
                    "the policy names {count} sensitive attributes, and buckets tell one",
                    count=len(policy.sensitive),
                )
            ],
            remedy="say which one; others are left out of the release",
        )
    return policy.sensitive[0]


def _models(policy: Policy, name: str, numeric: bool) -> tuple[PrivacyModel, ...]:
    """What every bucket has to meet."""
    models: list[PrivacyModel] = []
    problems: list[str] = []
    if policy.guarantees:
        problems.append("differential privacy is required, which no change of values gives")
    for asked in policy.requirements:
        for model in models_of({"model": asked.id, **asked.parameters()}, {name: numeric}):
            if model.sensitive is None or model.needs_attributes or model.needs_guards:
                problems.append(
                    Sentence(
                        "the policy requires {model!r}, which speaks of people who look alike, and buckets leave "
                        "quasi-identifiers as they are",
                        model=model.id,
                    )
                )
            elif model.sensitive == name:
                models.append(model)
    if problems:
        raise InvalidPolicy(problems, remedy="anonymise for that first, or leave it out of the policy")
    if not models:
        raise InvalidPolicy(
            [Sentence("nothing is required of the values of {name!r} in a bucket", name=name)],
            remedy=Sentence(
                'add a requirement, e.g. [[require]] model = "l-diversity" l = 3 kind = "simple" sensitive = "{name}"',
                name=name,
            ),
        )
    return tuple(dict.fromkeys(models))


def opened_buckets(
    release: object, counts: object | None, policy: Policy | None
) -> tuple[BucketedTable | None, Policy | None]:
    """Both tables of a release with buckets, and the policy: that of its original if none is given. Nothing for any other."""
    if isinstance(release, BucketRelease):
        return release.bucketed, policy or release.policy
    if counts is None:
        return None, policy
    if policy is None:
        raise InvalidParameter(
            "which attribute the buckets tell cannot be known without a policy", remedy="give the policy"
        )
    return open_buckets(open_table(release, policy), counts, policy), policy
