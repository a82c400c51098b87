"""The release: a table that meets its requirements, and how it is put into a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, RequirementNotMet
from discreet.files.addresses import DatabaseAddress
from discreet.files.writing import refuse_clashes, refuse_no_place, write_text
from discreet.policy import Policy
from discreet.policy.examination import made_up, unjudged
from discreet.policy.hierarchies import FittedHierarchy
from discreet.policy.plan import Plan
from discreet.privacy import PrivacyModel
from discreet.release import rendered
from discreet.release.audit import Audit
from discreet.release.codebook import (
    CodebookEntry,
    codebook_beside,
    codebook_place,
    make_codebook,
    write_codebook,
)
from discreet.release.codebook import Given as GivenCodebook
from discreet.release.constraints import BrokenRule
from discreet.release.estimates import entries_of_matrix, plain_steps
from discreet.release.guards import with_guards
from discreet.release.links import write_links
from discreet.release.outcome import Outcome, count_errors, outcome_of
from discreet.release.perturb import PerturbedTable, complaints
from discreet.release.population import beside_population
from discreet.release.prepare import open_table
from discreet.release.prices import Prices, PriceSearch
from discreet.release.records import RecordRisks, record_risks
from discreet.release.removed import RemovedColumn, loss_with_removed
from discreet.release.requirements import mean_limit
from discreet.release.tally import RowBatches, canonical
from discreet.release.targets import Target, check_release_target, put_rows, release_hash, target_of
from discreet.release.verdict import Verdict
from discreet.release.verify import Verification, verify
from discreet.release.write import check_target
from discreet.search.methods import SearchResult
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.frames import AsFrames, FrameKind, as_categories
from discreet.transform.labels import label_orders, spelled_out
from discreet.transform.loss import attribute_changes
from discreet.transform.recipe import Recipe
from discreet.transform.recoding import Recoding
from discreet.types import IntArray

if TYPE_CHECKING:
    from discreet.release.family_contest import FamilyComparison


@dataclass(frozen=True)
class Alternative:
    """Another release that meets the same requirements and is better in some way; ``make`` makes it."""

    title: str
    outcome: Outcome
    recoding: Recoding = field(repr=False)
    make: Callable[[], Release] = field(repr=False)

    def to_dict(self) -> dict[str, object]:
        values = {name: change["distinct_after"] for name, change in attribute_changes(self.recoding).items()}
        return {"title": self.title, **self.outcome.to_dict(setting=False), "values": values}


@dataclass(frozen=True)
class Release(AsFrames):
    """A table that meets its requirements, how it was made, and what shows that it does.

    ``save`` writes the file, reads it back, verifies it by another path and only then puts it in place. ``to_native``
    gives the rows as the kind of frame that the original was, verified in the same way.
    """

    table: Table
    recoding: Recoding = field(repr=False)
    recipe: Recipe = field(repr=False)
    policy: Policy = field(repr=False)
    plan: Plan
    chosen: SearchResult
    hierarchies: tuple[FittedHierarchy, ...] = field(repr=False)
    models: tuple[PrivacyModel, ...]
    before: Audit = field(repr=False)
    after: Audit = field(repr=False)
    notes: tuple[str, ...] = ()
    stand_ins: Mapping[str, object] = field(default_factory=dict, repr=False)
    """What suppressed records show where it is not ``*`` in all quasi-identifiers."""
    alternatives: tuple[Alternative, ...] = field(default=(), repr=False)
    """Releases of the same table that were found beside this one: more detail, simpler labels, nobody left out."""
    removed: tuple[RemovedColumn, ...] = ()
    """The columns that the release lacks, with reasons."""
    constraints: tuple[BrokenRule, ...] = ()
    """How many records break the rules of the table, before and after."""
    perturbed: PerturbedTable = field(kw_only=True, repr=False)
    """How the table came from its original before anything was generalised."""
    recoded: frozenset[str] = frozenset()
    """The columns that have new values since then."""
    price_search: PriceSearch = field(kw_only=True, repr=False, compare=False)
    """Finds what columns and requirements cost, when it is asked for."""

    def __str__(self) -> str:
        return rendered.release_text(self)

    def __repr__(self) -> str:
        # The parts hold values of the data, which a traceback or a log must not show.
        return (
            f"Release({self.table.source.name!r}, {self.after.rows:,} of {self.before.rows:,} rows, "
            f"{self.verdict.decision}, loss {self.loss:.1%})"
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict on the release."""
        return self.after.verdict

    @property
    def outcome(self) -> Outcome:
        """Loss and risk, to compare with those of the alternatives."""
        return outcome_of(self.recoding, Outcome(self.chosen.method, chosen=True))

    @property
    def loss(self) -> float:
        """The mean loss of all quasi-identifiers; those that were left out count with what cannot be read off others."""
        return loss_with_removed(self.recoding, self.removed)

    @property
    def suppressed(self) -> int:
        """Records of the original whose quasi-identifiers the release does not show."""
        return self.recoding.suppressed_records

    @property
    def prices(self) -> Prices:
        """What each column and each requirement costs, on the counted classes of the original, within seconds."""
        return self.price_search.everything

    @cached_property
    def unjudged(self) -> Mapping[str, float]:
        """The columns that are released as they were and that nobody judged, each with the share of records alone with their value."""
        table = self.table
        return {name: table.engine.unique_share(table, [name]) for name in unjudged(table, self.policy)}

    @cached_property
    def unjudged_together(self) -> float | None:
        """The share of records alone with what nobody judged and what quasi-identifiers show; ``None`` without such columns."""
        shown = [name for name in self.policy.quasi_identifiers if name in self.table.names]
        names = [*self.unjudged, *shown]
        return self.table.engine.unique_share(self.table, names) if self.unjudged else None

    @cached_property
    def workload_errors(self) -> tuple[float | None, ...]:
        """The median error of random questions "how many people …?": of this release, then of its alternatives.

        All are asked the same; see `utility.workload.random_workload`. ``None`` where a release answers none.
        """
        ladders = [fitted.ladder for fitted in self.hierarchies]
        return count_errors(
            [self.recoding, *(alternative.recoding for alternative in self.alternatives)], ladders
        )

    @property
    def codebook(self) -> tuple[CodebookEntry, ...]:
        """What every label of the release stands for; it tells nothing that the release does not, and goes with it."""
        return (*make_codebook(self.recoding, self.hierarchies), *self._true_shares())

    def _true_shares(self) -> Iterator[CodebookEntry]:
        """What PRAM's matrix tells of the values of columns that are shown as it left them."""
        shown = set(self.table.names) - self.recoded
        pram = plain_steps([applied.step for applied in self.perturbed.steps])
        for applied in self.perturbed.steps:
            for name in applied.shown(shown):
                if pram.get(name) is applied.step:
                    counted = self.table.engine.count(self.table, quasi_identifiers=[], sensitive=[name])
                    histogram = counted.histogram(name)
                    yield from entries_of_matrix(pram[name], applied.given, histogram)

    def codebook_place(self, path: str | PathLike[str]) -> Path | None:
        """Where the codebook goes by itself: beside the file, if there are labels that name some values only."""
        target = target_of(path)
        if isinstance(target, DatabaseAddress) or not spelled_out(self.recoding):
            return None
        return codebook_place(target)

    @property
    def links(self) -> IntArray:
        """For each row of the release the number of its row in the original, from 0. It undoes the release: keep it private."""
        places = self.table.engine.places(self.table)
        assert places is not None, "a release was made of another table"
        return places

    @cached_property
    def fates(self) -> RecordRisks:
        """For each record of the original, in its order: whether it was suppressed, else its class in the release.

        They tell who became whom, like the links: keep them private.
        """
        if self.plan.sample < 1:
            raise InvalidParameter(
                "the release is of rows that were drawn, so not every record has a fate",
                remedy="draw the sample first and anonymise that, or see links",
            )
        places = self.links
        released = record_risks(self.table, self.policy).rows
        suppressed = np.ones(self.before.rows, dtype=bool)
        suppressed[places] = False
        row = np.zeros(self.before.rows, dtype=np.int64)
        row[places] = np.arange(len(places))
        shown = released.take(pa.array(row, mask=suppressed))
        return RecordRisks(shown.add_column(0, "suppressed", pa.array(suppressed)), self.frame_kind)

    @property
    def frame_kind(self) -> FrameKind:
        """What the original came as."""
        return self.table.frame_kind

    def to_arrow(self) -> pa.Table:
        """The released rows as an Arrow table, verified; generalised numbers and dates are ordered categories."""
        rows = self.table.engine.to_arrow(self.table)
        verification = self.verify(rows)
        if not verification.holds:
            raise RequirementNotMet(
                Sentence(
                    "the release does not meet its requirements ({failure})", failure=verification.failures[0]
                ),
                remedy="no rows are handed out",
            )
        shown = {
            name: labels for name, labels in label_orders(self.recoding).items() if _is_shown(rows, name)
        }
        return as_categories(rows, shown)

    def to_native(self) -> Any:
        """The rows as the kind of frame that the original was, verified; those of a frame of Spark stay there."""
        kept = self.table.engine.native(self.table)
        if kept is None:
            return super().to_native()
        told = self._complaint(
            lambda: RowBatches(self.table.names, kept.rows, kept.batches), blanks_are_nulls=False
        )
        if told:
            raise RequirementNotMet(
                Sentence("the release does not meet its requirements ({failure})", failure=told),
                remedy="no rows are handed out",
            )
        return kept.frame

    def acknowledged(self, reason: str) -> Release:
        """The release with a reason in its evidence why it is made although the verdict is against it."""
        return replace(
            self,
            notes=(
                *self.notes,
                Sentence("released against the verdict, for this reason: {reason}", reason=reason),
            ),
        )

    def verify(self, rows: pa.Table | RowBatches, *, blanks_are_nulls: bool = False) -> Verification:
        """Ask the requirements of rows that were read back, and what steps of perturbation keep."""
        held = rows if isinstance(rows, RowBatches) else RowBatches.of_table(rows)
        guards = self._guards(held)
        verification = verify(
            with_guards(held, self.perturbed.original, guards, self.links) if guards else held,
            self.models,
            quasi_identifiers=self.policy.quasi_identifiers,
            person=self.policy.person if self.policy.person in self.table.names else None,
            original=_totals(self.recoding.classes),
            starred=self.recoding.starred,
            suppressed=self.suppressed,
            stand_ins=self.stand_ins,
            blanks_are_nulls=blanks_are_nulls,
            mean_limit=mean_limit(self.verdict.profile),
            unexamined=set(unjudged(self.table, self.policy)) - made_up(self.table, self.policy)
            if self.plan.unexamined == "drop"
            else (),
            absent=[column.name for column in self.removed],
            guarding=guards,
            beside=lambda classes: beside_population(classes, self.policy, tuple(self.codebook)),
        )
        names = [name for name in self.perturbed.columns if name in held.names and name not in self.recoded]
        if not names or held.rows != self.table.rows:
            return verification
        broken = complaints(self.perturbed.steps, held.columns(names), self.links)
        return replace(verification, failures=(*verification.failures, *broken))

    def _guards(self, held: RowBatches) -> tuple[str, ...]:
        """The columns of what people guard, where a requirement speaks of it; none is to be in the file."""
        if not any(model.needs_guards for model in self.models) or held.rows != self.table.rows:
            return ()
        return tuple(name for name in self.before.policy.guards if name not in held.names)

    def save(
        self,
        path: str | PathLike[str],
        *,
        report: str | PathLike[str] | None = None,
        recipe: str | PathLike[str] | None = None,
        links: str | PathLike[str] | None = None,
        codebook: str | PathLike[str] | None = None,
        families: FamilyComparison | None = None,
        language: str = "en",
    ) -> Target:
        """Write the release, verified, and the report, the recipe and the links if asked for.

        ``path`` is a file, a folder that gets Parquet files (``people/*.parquet``, or with a slash at its end), or the
        address of a table that a database does not have yet (``sqlite:///clinic.db#visits``).

        The codebook goes where it is asked for; without that it is written beside a release with labels that name
        some of their values only: ``taxis.codebook.csv`` beside ``taxis.csv``.

        The links say which row of the original each row was: a secret of the custodian's, which only the owner of that
        file can read. The report also draws what `compare_families` found on the original, if it is given (``families``);
        ``language`` is that of the report: ``en`` or ``de``.

        A requirement that does not hold on the written file raises ``RequirementNotMet``, and no file appears.
        """
        target = target_of(path)
        check_release_target(target, linked=links is not None)
        codebook = self.codebook_place(target) if codebook is None else codebook
        others = (report, recipe, links, codebook)
        outputs = [Path(other) for other in others if other is not None]
        if codebook is not None:
            check_target(Path(codebook))
        for output in outputs:
            refuse_no_place(output)
        if isinstance(target, DatabaseAddress):
            # Its file keeps all else that it holds.
            refuse_clashes(outputs, [*self.policy.files, *self.before.source.files, target])
        else:
            refuse_clashes([target, *outputs], [*self.policy.files, *self.before.source.files])

        def checked(back: Callable[[], RowBatches], *, blanks_are_nulls: bool = False) -> None:
            told = self._complaint(back, blanks_are_nulls=blanks_are_nulls)
            if told:
                raise RequirementNotMet(
                    Sentence("the written release does not meet its requirements ({told})", told=told),
                    remedy="nothing was written",
                )

        put_rows(self.table, target, checked, texts=self.policy.quasi_identifiers)
        if links is not None:
            write_links(Path(links), self.links)
        if codebook is not None:
            write_codebook(self.codebook, Path(codebook))
        if recipe is not None:
            kind = "toml" if str(recipe).endswith(".toml") else "json"
            write_text(Path(recipe), self.recipe.dumps("toml" if kind == "toml" else "json"))
        if report is not None:
            rendered.write_release_report(
                self,
                report,
                file_hash=release_hash(target),
                in_database=isinstance(target, DatabaseAddress),
                families=families,
                language=language,
            )
        return target

    def _repr_html_(self) -> str:
        """What a notebook shows: verdict, key numbers before and after, what still stands in the way."""
        return rendered.release_notebook(self)

    def _complaint(self, read: Callable[[], RowBatches], *, blanks_are_nulls: bool) -> str:
        """What is wrong with what was written, or nothing."""
        try:
            back = read()
            if back.names != self.table.names:
                return "it has other columns"
            if back.rows != self.table.rows:
                return f"{back.rows:,} of {self.table.rows:,} rows came back"
            verification = self.verify(back, blanks_are_nulls=blanks_are_nulls)
        except (pa.ArrowException, ValueError, OSError):
            return "it cannot be read back"
        return "" if verification.holds else verification.failures[0]

    def to_dict(self) -> dict[str, object]:
        """What was done and what it cost, as JSON-ready data."""
        return {
            "schema": "discreet-release-1",
            "method": self.chosen.method,
            "why": self.chosen.why,
            "objective": self.plan.objective,
            "minimised": self.chosen.minimised or None,
            "cost": _known(self.chosen.cost),
            "cost_undefined": self.chosen.undefined or None,
            "optimal": self.chosen.optimal,
            "bound": self.chosen.bound,
            "levels": dict(self.recoding.levels) if self.recoding.levels else None,
            "records": {
                "before": self.before.rows,
                "after": self.after.rows,
                "suppressed": self.suppressed,
                "suppressed_share": self.suppressed / self.before.rows,
            },
            "hierarchies": {fitted.ladder.name: fitted.origin for fitted in self.hierarchies},
            "attributes": {
                name: {key: _known(value) for key, value in change.items()}
                for name, change in self.changes().items()
            },
            "loss": _known(self.loss),
            "removed": [column.to_dict() for column in self.removed],
            "unjudged": [{"name": name, "unique": share} for name, share in self.unjudged.items()],
            "unjudged_together": self.unjudged_together,
            "verdict": {"before": self.before.verdict.to_dict(), "after": self.after.verdict.to_dict()},
            "workload_error": self.workload_errors[0],
            "alternatives": [
                {**alternative.to_dict(), "workload_error": error}
                for alternative, error in zip(self.alternatives, self.workload_errors[1:], strict=True)
            ],
            "constraints": [rule.to_dict() for rule in self.constraints],
            "perturbation": [
                {
                    **applied.step.to_dict(),
                    "changed": dict(applied.changed),
                    "guarantee": applied.guarantee,
                    "certainty": applied.certainty,
                    "keeps": applied.step.keeps,
                    "verified_on_file": applied.shown(set(self.table.names) - self.recoded),
                }
                for applied in self.perturbed.steps
            ],
            "notes": list(self.notes),
        }

    def changes(self) -> dict[str, dict[str, float]]:
        """Per quasi-identifier: distinct values before and after, and the share of the domain a cell may mean."""
        return attribute_changes(self.recoding)


def open_release(release: object, policy: Policy | None) -> tuple[Table, Policy | None]:
    """The table of a release, made here or elsewhere, and the policy: that of its original if none is given."""
    if isinstance(release, Release):
        return release.table, policy or release.before.policy
    return open_table(release, policy), policy


def codebook_of(release: object, given: GivenCodebook | None) -> GivenCodebook | None:
    """What tells the labels of a release: what is given, what a release knows itself, or what stands beside its file."""
    if given is not None:
        return given
    return release.codebook if isinstance(release, Release) else codebook_beside(release)


def _is_shown(rows: pa.Table, name: str) -> bool:
    """Whether a column is there, as text."""
    return name in rows.column_names and bool(pa.types.is_string(rows.schema.field(name).type))


def _totals(classes: EquivalenceClasses) -> dict[str, dict[str | None, int]]:
    """How often each sensitive value occurs in the original, in canonical form."""
    by_attribute: dict[str, dict[str | None, int]] = {}
    for domain in classes.sensitive:
        totals = classes.histogram(domain.name).totals
        values = [*domain.values.to_pylist(), *([None] if domain.has_null else [])]
        counted: dict[str | None, int] = {}
        for value, total in zip(values, totals.tolist(), strict=True):
            counted[canonical(value)] = counted.get(canonical(value), 0) + total
        by_attribute[domain.name] = counted
    return by_attribute


def _known(value: float) -> float | None:
    """JSON has no NaN, which stands here for what is not known."""
    return None if math.isnan(value) else value
