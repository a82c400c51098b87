"""Anonymise: find the least change that meets the requirements, make it, and hand over the evidence."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.classes.merged import MergedClasses
from discreet.engine.read import read
from discreet.errors import (
    GoalUnreachable,
    InvalidParameter,
    InvalidPolicy,
    RequirementNotMet,
    UnknownColumn,
)
from discreet.policy import Policy
from discreet.policy.file import make_model, write_text
from discreet.policy.hierarchies import FittedHierarchy, hierarchies
from discreet.policy.plan import METHODS, Plan
from discreet.policy.suggest import suggest
from discreet.privacy import AlphaKAnonymity, KAnonymity, PrivacyModel
from discreet.release.audit import Audit, Progress, audit
from discreet.release.profile import Profile, load_profile
from discreet.release.verdict import Verdict, required_models
from discreet.release.verify import KEEPS_BLANKS, Verification, canonical, read_back, verify
from discreet.release.write import atomically, check_target, write_rows
from discreet.search.methods import Chosen, find, leaf_share_loss
from discreet.search.problem import make_problem
from discreet.table import Table
from discreet.table.hierarchy import ROOT, Ladder
from discreet.transform.recipe import Recipe
from discreet.transform.recoding import NewColumn, Recoding
from discreet.utility.registry import build_objective


@dataclass(frozen=True)
class Release:
    """A table that meets its requirements, how it was made, and what shows that it does.

    ``save`` writes the file, reads it back, verifies it by another path and only then puts it in place.
    """

    table: Table
    recoding: Recoding = field(repr=False)
    recipe: Recipe = field(repr=False)
    policy: Policy = field(repr=False)
    plan: Plan
    chosen: Chosen
    hierarchies: tuple[FittedHierarchy, ...] = field(repr=False)
    models: tuple[PrivacyModel, ...]
    before: Audit = field(repr=False)
    after: Audit = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on the release."""
        return self.after.verdict

    @property
    def suppressed(self) -> int:
        """Records of the original whose quasi-identifiers the release does not show."""
        return self.recoding.suppressed_records

    def verify(self, rows: pa.Table, *, blanks_are_nulls: bool = False) -> Verification:
        """Ask the requirements of rows that were read back."""
        return verify(
            rows,
            self.models,
            quasi_identifiers=self.policy.quasi_identifiers,
            person=self.policy.person if self.policy.person in rows.column_names else None,
            original=_totals(self.recoding.classes),
            starred=self.plan.suppressed == "star",
            blanks_are_nulls=blanks_are_nulls,
        )

    def save(
        self,
        path: str | PathLike[str],
        *,
        report: str | PathLike[str] | None = None,
        recipe: str | PathLike[str] | None = None,
    ) -> Path:
        """Write the release, verified, and beside it the report and the recipe if asked for.

        A requirement that does not hold on the written file raises ``RequirementNotMet``, and no file appears.
        """
        target = Path(path)
        check_target(target)
        rows = self.table.engine.to_arrow(self.table)

        types = {one.name: one.type for one in rows.schema if one.name not in self.policy.quasi_identifiers}

        def checked(written: Path) -> None:
            told = self._complaint(written, rows, types)
            if told:
                raise RequirementNotMet(
                    f"the written release does not meet its requirements ({told})",
                    remedy="nothing was written",
                )

        atomically(target, lambda scratch: write_rows(rows, scratch), checked)
        if recipe is not None:
            kind = "toml" if str(recipe).endswith(".toml") else "json"
            write_text(Path(recipe), self.recipe.dumps("toml" if kind == "toml" else "json"))
        if report is not None:
            from discreet.release.release_report import release_report

            release_report(self, report, file_hash=_hash(target))
        return target

    def _repr_html_(self) -> str:
        """What a notebook shows: verdict, key numbers before and after, what still stands in the way."""
        from discreet.release.release_report import notebook_release

        return notebook_release(self)

    def _complaint(self, written: Path, rows: pa.Table, types: Mapping[str, pa.DataType]) -> str:
        """What is wrong with the written file, or nothing."""
        try:
            back = read_back(written, types)
        except (pa.ArrowException, ValueError):
            return "it cannot be read back"
        if back.column_names != rows.column_names:
            return "it has other columns"
        if back.num_rows != rows.num_rows:
            return f"{back.num_rows:,} of {rows.num_rows:,} rows came back"
        found = self.verify(back, blanks_are_nulls=written.suffix.lower() not in KEEPS_BLANKS)
        return "" if found.holds else found.failures[0]

    def to_dict(self) -> dict[str, object]:
        """What was done and what it cost, as JSON-ready data."""
        return {
            "schema": "discreet-release-1",
            "method": self.chosen.method,
            "why": self.chosen.why,
            "objective": self.plan.objective,
            "cost": _known(self.chosen.cost),
            "optimal": self.chosen.optimal,
            "bound": self.chosen.bound,
            "levels": dict(self.recoding.levels) if self.recoding.levels else None,
            "records": {
                "before": self.before.rows,
                "after": self.after.rows,
                "suppressed": self.suppressed,
                "suppressed_share": self.suppressed / self.before.rows,
            },
            "hierarchies": {one.ladder.name: one.origin for one in self.hierarchies},
            "attributes": {
                name: {key: _known(value) for key, value in change.items()}
                for name, change in self.changes().items()
            },
            "verdict": {"before": self.before.verdict.to_dict(), "after": self.after.verdict.to_dict()},
            "notes": list(self.notes),
        }

    def changes(self) -> dict[str, dict[str, float]]:
        """Per quasi-identifier: distinct values before and after, and the share of the domain a cell may mean."""
        weights = self.recoding.classes.records
        found = {}
        for domain, column in zip(self.recoding.classes.attributes, self.recoding.columns, strict=True):
            used = np.unique(column.codes[self.recoding.kept])
            shares = np.where(self.recoding.kept, column.shares, 1.0)
            mean = float(np.dot(shares, weights) / weights.sum())
            least = 1.0 / column.leaves if column.leaves else 0.0
            loss = (mean - least) / (1.0 - least) if least < 1.0 else 0.0
            found[domain.name] = {
                "distinct_before": domain.size,
                "distinct_after": len(used),
                "mean_share": mean,
                "loss": loss,
            }
        return found


def anonymize(
    source: object,
    policy: Policy | None = None,
    *,
    plan: Plan | None = None,
    key: str | None = None,
    progress: Progress | None = None,
) -> Release:
    """The release that meets the policy's requirements and those of its profile at the least loss.

    Without a policy the roles are suggested and the hierarchies learned, and the notes say so. ``key`` makes
    pseudonyms of person ids repeatable; without one a random key is used and thrown away. A goal that cannot
    be reached raises ``GoalUnreachable`` with the nearest that was found.
    """
    say = progress or (lambda _: None)
    table = source if isinstance(source, Table) else read(source)
    notes: list[str] = []
    if policy is None:
        say("suggesting roles")
        policy = suggest(table)
        notes.append("no policy was given: roles were suggested from names and content and should be checked")
    plan = plan or policy.plan
    check_plan(plan, policy)
    profile = load_profile(policy.profile)
    table = policy.fit(table)
    if plan.sample < 1:
        say("drawing a sample")
        table = table.engine.thin(table, plan.sample, seed=plan.seed)
        notes.append(f"{plan.sample:.1%} of the rows were drawn before anything else was done")
    say("counting equivalence classes")
    classes = _count(table, policy)
    fitted = tuple(hierarchies(policy, classes))
    learned = [one.ladder.name for one in fitted if one.learned]
    if learned:
        notes.append(f"hierarchies of {', '.join(learned)} were learned from the data")
    required = goals(policy, profile, classes)
    wished, out_of_reach = extended_goals(profile, classes)
    notes += out_of_reach
    ladders = kept_ladders(fitted, plan)
    models = tuple(dict.fromkeys((*required, *wished)))
    try:
        chosen = _find(classes, ladders, models, plan, say)
    except GoalUnreachable:
        if not wished:
            raise
        notes.append(
            "the extended risks cannot be brought below high within the limits: only the requirements were met"
        )
        models = required
        chosen = _find(classes, ladders, models, plan, say)
    return _release(
        table, policy, plan, chosen.recoding, chosen, fitted, models, notes, key, say, required=required
    )


def _find(
    classes: EquivalenceClasses,
    ladders: Sequence[Ladder],
    models: Sequence[PrivacyModel],
    plan: Plan,
    say: Progress,
) -> Chosen:
    """The least change that meets the models, also for one who holds only the release."""
    problem = make_problem(
        classes,
        ladders,
        models,
        suppression_limit=plan.suppression_limit,
        objective=build_objective(plan.objective, {"label": plan.label} if plan.label else None),
        suppression_weight=plan.suppression_weight,
        weights=plan.weights,
    )
    say("searching for the least change")
    chosen = find(problem, method=plan.method, seconds=plan.seconds, progress=say)
    recoding = self_consistent(chosen.recoding, models)
    _within_limit(recoding, plan, models)
    if recoding.suppressed_records == chosen.recoding.suppressed_records:
        return replace(chosen, recoding=recoding)
    # More had to go than the search thought: what it knew about the cost holds no longer.
    return replace(chosen, recoding=recoding, cost=leaf_share_loss(recoding), bound=None, optimal=False)


def apply(
    recipe: Recipe,
    source: object,
    policy: Policy,
    *,
    key: str | None = None,
    progress: Progress | None = None,
) -> Release:
    """A release of other rows by a recipe; what it must meet is verified on these rows, too.

    Requirements are those of the recipe, of the policy and of its profile. Groups that fail one of them on
    these rows are suppressed, within the recipe's limit. Columns that the recipe does not know are left out.
    """
    say = progress or (lambda _: None)
    table = source if isinstance(source, Table) else read(source)
    lacking = [name for name in recipe.columns if name not in table.names]
    if lacking:
        raise UnknownColumn(lacking[0], table.names)
    if policy.person is None and recipe.person is not None:
        policy = policy.replace(person=recipe.person)
    asked = [make_model(entry) for entry in recipe.requirements]
    policy = policy.require(*(model for model in asked if model not in policy.requirements))
    table = policy.fit(table)
    if set(recipe.quasi_identifiers) != set(policy.quasi_identifiers):
        raise InvalidPolicy(
            [
                f"the recipe is for {', '.join(recipe.quasi_identifiers)}, "
                f"the policy has {', '.join(policy.quasi_identifiers)} as quasi-identifiers"
            ],
            remedy="use the policy under which the recipe was made, or make a new recipe",
        )
    classes = _count(table, policy, recipe.quasi_identifiers)
    models = goals(policy, load_profile(policy.profile), classes)
    say("applying the recipe")
    recoding = self_consistent(_meeting(recipe.recode(classes), models), models)
    plan = replace(policy.plan, suppression_limit=recipe.suppression_limit)
    _within_limit(recoding, plan, models)
    chosen = Chosen(recoding, recipe.method, "as the recipe says", math.nan, None, False)
    new = [name for name in table.names if name not in recipe.columns]
    unknown = [name for name in new if name != policy.person and name not in policy.direct_identifiers]
    notes = [f"left out because the recipe does not know them: {', '.join(unknown)}"] if unknown else []
    return _release(table, policy, plan, recoding, chosen, (), models, notes, key, say, without=new)


def _meeting(recoding: Recoding, models: Sequence[PrivacyModel]) -> Recoding:
    """The recoding without the groups that fail a model, measured from the distribution of all input records."""
    groups = recoding.groups() + 1
    merged, owner = np.unique(np.where(recoding.kept, groups, 0), return_inverse=True)
    classes = MergedClasses.of(recoding.classes, owner, len(merged))
    holds = np.ones(len(merged), dtype=bool)
    for model in models:
        holds &= model.holds(classes)
    return replace(recoding, kept=recoding.kept & holds[owner])


def _count(
    table: Table, policy: Policy, quasi_identifiers: Sequence[str] | None = None
) -> EquivalenceClasses:
    return table.engine.count(
        table,
        quasi_identifiers=quasi_identifiers or policy.quasi_identifiers,
        sensitive=policy.sensitive,
        person=policy.person,
    )


def goals(policy: Policy, profile: Profile, classes: EquivalenceClasses) -> tuple[PrivacyModel, ...]:
    """Every requirement of policy and profile as a privacy model; limits on the prosecutor risk become k."""
    models = [model for model, _, _ in required_models(policy, profile, classes)]
    models += [
        KAnonymity(math.ceil(1.0 / limit.at_most - 1e-9))
        for limit in profile.limits
        if limit.risk == "prosecutor"
    ]
    if not models:
        raise InvalidPolicy(
            ["neither the policy nor its profile requires anything of the classes"],
            remedy='add a requirement, e.g. [[require]] model = "k-anonymity" k = 11',
        )
    return tuple(dict.fromkeys(models))


def extended_goals(
    profile: Profile, classes: EquivalenceClasses
) -> tuple[tuple[PrivacyModel, ...], list[str]]:
    """What keeps the extended risks from being high, as privacy models, and what is out of reach.

    Uniqueness 1 - log f / log n stays at most m if every class has f >= n^(1 - m) records; correlation
    P(s | class) if no value has a larger share of a class (Wong et al. 2006). What holds for the whole
    quasi-identifier then holds for each attribute: its values' shares are means over classes.
    """
    if profile.extended is None:
        return (), []
    highest = profile.extended.medium
    smallest = math.ceil(classes.total ** (1.0 - highest) - 1e-9)
    wished: list[PrivacyModel] = [KAnonymity(max(smallest, 1), unit="records")]
    out_of_reach = []
    for domain in classes.sensitive:
        if classes.histogram(domain.name).distribution.max() > highest:
            out_of_reach.append(
                f"one value of {domain.name} has more than {highest:.0%} of all records, so its correlation risk "
                "stays high whatever is done to the quasi-identifiers"
            )
        else:
            wished.append(AlphaKAnonymity(highest, 1, domain.name))
    return tuple(wished), out_of_reach


def self_consistent(recoding: Recoding, models: Sequence[PrivacyModel]) -> Recoding:
    """The recoding with groups suppressed until the release also holds when it is judged by itself.

    The search compares distributions with that of all input records. Who holds only the release compares
    with the release; a group that fails there is suppressed too, until none does.
    """
    kept = recoding.kept.copy()
    while kept.any():
        shown = recoding.shown(kept)
        holds = np.ones(len(shown.classes), dtype=bool)
        for model in models:
            holds &= model.holds(shown.classes)
        if holds.all():
            break
        kept[np.flatnonzero(kept)[~holds[shown.owner]]] = False
    return replace(recoding, kept=kept)


def _within_limit(recoding: Recoding, plan: Plan, models: Sequence[PrivacyModel]) -> None:
    share = recoding.suppressed_records / recoding.classes.total
    if recoding.kept.any() and share <= plan.suppression_limit + 1e-12:
        return
    asked = "; ".join(model.describe() for model in models)
    raise GoalUnreachable(
        f"no change within the limits meets all requirements ({asked})",
        nearest=f"suppressing {share:.1%} of the records where {plan.suppression_limit:.1%} are allowed",
        remedy="allow more suppression, coarser hierarchies, or ask for less",
    )


def check_plan(plan: Plan, policy: Policy) -> None:
    """Refuse a plan that names what is not there or asks a method for what it cannot do."""
    for name in (*plan.keep, *plan.weights):
        if name not in policy.quasi_identifiers:
            raise UnknownColumn(name, policy.quasi_identifiers)
    if plan.method not in METHODS:
        raise InvalidParameter(
            f"there is no method {plan.method!r}", remedy=f"methods are: {', '.join(METHODS)}"
        )
    if plan.keep and plan.method not in ("auto", "optimal", "anytime"):
        raise InvalidParameter(
            f"the method {plan.method} groups records by all quasi-identifiers and cannot keep some as they are",
            remedy="use the method auto, optimal or anytime, or keep nothing",
        )


def kept_ladders(fitted: Sequence[FittedHierarchy], plan: Plan) -> list[Ladder]:
    """The ladders to climb; that of an attribute which must stay as it is has its first step only."""
    return [
        replace(one.ladder, steps=one.ladder.steps[:1]) if one.ladder.name in plan.keep else one.ladder
        for one in fitted
    ]


def _release(
    table: Table,
    policy: Policy,
    plan: Plan,
    recoding: Recoding,
    chosen: Chosen,
    fitted: tuple[FittedHierarchy, ...],
    models: tuple[PrivacyModel, ...],
    notes: Sequence[str],
    key: str | None,
    say: Progress,
    without: Sequence[str] = (),
    required: Sequence[PrivacyModel] | None = None,
) -> Release:
    """Apply a recoding and audit what came of it.

    A recipe carries what is ``required``; what was wished for beyond depends on the number of these rows.
    """
    say("applying the change")
    gone = {*policy.direct_identifiers, *without}
    keyed: dict[str, str] = {}
    if policy.person is not None and policy.person not in gone:
        if plan.person == "drop":
            gone.add(policy.person)
        else:
            keyed[policy.person] = key or secrets.token_hex(32)
    columns = [name for name in table.names if name not in gone]
    values, kept = _new_values(recoding, plan)
    released = table.engine.recode(
        table, recoding.classes, values=values, kept=kept, columns=columns, keys=keyed
    )
    say("auditing the release")
    remaining = replace(policy, columns=tuple(c for c in policy.columns if c.name not in gone))
    before = audit(table, policy, detail="core")
    judged = released
    if plan.suppressed == "star" and recoding.suppressed_records:
        notes = [*notes, "suppressed records are shown with * and are one class of their own in the audit"]
    types = {c.name: None for c in remaining.columns if c.name in values}
    remaining = replace(
        remaining, columns=tuple(replace(c, type=None) if c.name in types else c for c in remaining.columns)
    )
    after = audit(judged, remaining, detail="core")
    recipe = Recipe.of(
        recoding,
        requirements=[
            {
                "model": model.id,
                **{key: value for key, value in model.parameters().items() if value is not None},
            }
            for model in (models if required is None else required)
        ],
        suppression_limit=plan.suppression_limit,
        columns=columns,
        keyed=list(keyed),
        person=policy.person,
        known={
            one.ladder.name: one.known(recoding.levels[one.ladder.name])
            for one in fitted
            if recoding.levels is not None and one.ladder.name in recoding.levels
        },
    )
    return Release(
        released, recoding, recipe, remaining, plan, chosen, fitted, models, before, after, tuple(notes)
    )


def _new_values(recoding: Recoding, plan: Plan) -> tuple[Mapping[str, pa.Array], NDArray[np.bool_]]:
    """New values per class for the columns that change, and which classes are shown."""
    changed = {
        column.name: column
        for domain, column, codes in zip(
            recoding.classes.attributes, recoding.columns, recoding.classes.codes, strict=True
        )
        if not _unchanged(column, codes, domain.values)
    }
    if plan.suppressed == "drop" or recoding.kept.all():
        return {name: column.per_class() for name, column in changed.items()}, recoding.kept
    starred = {}
    for column in recoding.columns:
        texts = column.texts()
        with_root = pa.concat_arrays([texts, pa.array([ROOT])])
        codes = np.where(recoding.kept, column.codes, len(texts))
        starred[column.name] = with_root.take(pa.array(codes))
    return starred, np.ones(len(recoding.kept), dtype=bool)


def _unchanged(column: NewColumn, codes: NDArray[np.integer], values: pa.Array) -> bool:
    same_type: bool = column.values.type == values.type
    return same_type and len(column.codes) == len(codes) and bool((column.codes == codes).all())


def _totals(classes: EquivalenceClasses) -> dict[str, dict[str | None, int]]:
    """How often each sensitive value occurs in the original, in canonical form."""
    found: dict[str, dict[str | None, int]] = {}
    for domain in classes.sensitive:
        totals = classes.histogram(domain.name).totals
        values = [*domain.values.to_pylist(), *([None] if domain.has_null else [])]
        counted: dict[str | None, int] = {}
        for value, total in zip(values, totals.tolist(), strict=True):
            counted[canonical(value)] = counted.get(canonical(value), 0) + total
        found[domain.name] = counted
    return found


def _known(value: float) -> float | None:
    """JSON has no NaN, which stands here for what is not known."""
    return None if math.isnan(value) else value


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
