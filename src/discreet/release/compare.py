"""Compare a release with its original: what was lost, by every measure that speaks to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from discreet.classes.pair import Pair
from discreet.errors import DiscreetError, InvalidPolicy, unknown
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy
from discreet.progress import Asked, telling
from discreet.release import rendered
from discreet.release.analyses import measure_analyses
from discreet.release.before_after import Distribution, before_and_after
from discreet.release.bucketize import BucketRelease, opened_buckets
from discreet.release.buckets import DEALT
from discreet.release.codebook import Given as GivenCodebook
from discreet.release.constraints import measure_constraints
from discreet.release.estimates import EstimatedShares, estimates
from discreet.release.kpis import measure_kpis
from discreet.release.links import Given
from discreet.release.pairing import MatchedPair, make_pair
from discreet.release.prepare import open_both, with_roles
from discreet.release.release import codebook_of, open_release
from discreet.sentences import Sentence
from discreet.table import Source, Table
from discreet.types import Progress
from discreet.utility.distributions import attributes_of
from discreet.utility.efficacy import Efficacy, efficacy, rows_each
from discreet.utility.kpi import KpiResult
from discreet.utility.learners import USUAL, Classifier, check_classifiers
from discreet.utility.losses import Losses, measure_all
from discreet.utility.regression import AnalysisResult


@dataclass(frozen=True)
class Comparison:
    """What a release lost against its original; the release that shows no quasi-identifier stands beside it.

    ``paired`` are both tables as they were counted and matched, which attacks on the release can take over.
    """

    original: Source
    release: Source
    rows: tuple[int, int]
    losses: Losses = field(repr=False)
    kpis: tuple[KpiResult, ...] = field(repr=False)
    efficacy: tuple[Efficacy, ...] = field(repr=False)
    matched: str
    seed: int
    notes: tuple[str, ...] = ()
    distributions: tuple[Distribution, ...] = field(default=(), repr=False)
    paired: MatchedPair | None = field(default=None, repr=False, compare=False)
    estimates: tuple[EstimatedShares, ...] = ()
    """What PRAM's matrices tell of the true shares."""
    analyses: tuple[AnalysisResult, ...] = field(default=(), repr=False)
    """The policy's regressions on both tables."""

    def __repr__(self) -> str:
        lost = self.losses.measure("leaf-loss")
        loss = "" if lost is None else f", loss {lost.value:.1%}"
        return f"Comparison({self.original.name!r} and {self.release.name!r}, {self.rows[1]:,} of {self.rows[0]:,} rows{loss})"

    def __str__(self) -> str:
        return rendered.comparison_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: what was lost, in a few numbers."""
        return rendered.comparison_notebook(self)

    def to_dict(self) -> dict[str, object]:
        """Everything as JSON-ready data; distributions hold values of the data and are for the report alone."""
        return {
            "schema": "discreet-comparison-1",
            "original": self.original.to_dict(),
            "release": self.release.to_dict(),
            "rows": {"original": self.rows[0], "release": self.rows[1]},
            "matched": self.matched,
            "seed": self.seed,
            "losses": self.losses.to_dict(),
            "kpis": [kpi.to_dict() for kpi in self.kpis],
            "analyses": [analysis.to_dict() for analysis in self.analyses],
            "efficacy": [learned.to_dict() for learned in self.efficacy],
            "estimates": [each.to_dict() for each in self.estimates],
            "notes": list(self.notes),
        }


def compare(
    original: object,
    release: object,
    policy: GivenPolicy | None = None,
    *,
    key: str | None = None,
    links: Given | None = None,
    codebook: GivenCodebook | None = None,
    buckets: object | None = None,
    labels: Sequence[str] | None = None,
    classifiers: Sequence[Classifier] = USUAL,
    queries: int = 1000,
    seed: int = 1,
    progress: Asked = None,
) -> Comparison:
    """Measure what a release lost against its original, whether it was made here or elsewhere.

    ``labels`` are the sensitive attributes that somebody may want to predict from the quasi-identifiers (all of
    them if not given, none if empty), by ``classifiers``; ``key`` a column that tells which record is which, ``links`` the links that were
    made with the release (a file or `Release.links`; a `Release` has its own); ``codebook`` what tells its short labels (a file or
    `Release.codebook`; if it is not given, that of the `Release`, or what stands beside the file); ``buckets`` the table of sensitive values by bucket, if the release has one (a `BucketRelease` has its own);
    ``queries`` the number of random counting and summing queries. Everything random follows from ``seed``. The policy's KPIs are asked
    of both tables, and its analyses run on both.
    """
    say = telling(progress)
    before, given = open_both(original, policy)
    bucketed, given = opened_buckets(release, buckets, given)
    if bucketed is None:
        after, given = open_release(release, given)
    else:
        after = bucketed.dealt(seed)
        links = release.links if links is None and isinstance(release, BucketRelease) else links
    policy, notes = with_roles(before, given, say)
    check_classifiers(classifiers)
    for label in labels or ():
        if label not in policy.sensitive:
            raise unknown("sensitive attribute", label, policy.sensitive)
    say("counting both tables and matching their records")
    paired = make_pair(before, after, policy, key=key, links=links, codebook=codebook_of(release, codebook))
    if bucketed is not None:
        notes.append(DEALT)
        expected = bucketed.expected(paired.pair, after)
        paired = replace(paired, pair=replace(paired.pair, expected=expected))
    pair, told = estimates(paired.pair, policy)
    paired = replace(paired, pair=pair)
    notes += [each.note for each in told]
    say("measuring losses")
    losses = measure_all(
        paired.pair,
        weights=policy.plan.weights or None,
        seed=seed,
        queries=queries,
        costs=_costs(paired.pair, policy),
        progress=say,
    )
    wanted = policy.sensitive if labels is None else labels
    learned, unlearned = _learned(paired.pair, wanted, classifiers, seed, say)
    notes += unlearned
    if policy.kpis:
        say("asking KPIs of both tables")
    rules = measure_constraints(before, after, policy.constraints)
    return Comparison(
        before.source,
        after.source,
        (before.rows, after.rows),
        losses,
        measure_kpis(before, after, policy.kpis),
        tuple(learned),
        paired.matched,
        seed,
        (*notes, *(rule.note for rule in rules if rule.note), *paired.notes, *_scales(paired.pair, losses)),
        tuple(
            distribution
            for name in attributes_of(paired.pair)
            if (distribution := before_and_after(paired.pair, name)) is not None
        ),
        paired,
        told,
        _analyses(before, after, policy, paired, say),
    )


def _costs(pair: Pair, policy: Policy) -> dict[str, dict[tuple[str, str | None], float]]:
    """The costs of the policy's mistakes by sensitive attribute; values that nobody has would cost nothing."""
    costs: dict[str, dict[tuple[str, str | None], float]] = {}
    problems: list[str] = []
    for mistake in policy.mistakes:
        if mistake.column not in policy.sensitive:
            problems.append(
                Sentence("a mistake is named about {column!r}, which is not sensitive", column=mistake.column)
            )
            continue
        labels = set(pair.original.sensitive_domain(mistake.column).labels())
        if not {mistake.value, mistake.taken_for or mistake.value} <= labels:
            problems.append(
                Sentence(
                    "a mistake is named about a value that {column!r} does not have", column=mistake.column
                )
            )
        costs.setdefault(mistake.column, {})[mistake.value, mistake.taken_for] = mistake.cost
    if problems:
        raise InvalidPolicy(problems, remedy="correct the mistakes that the policy names")
    return costs


def _analyses(
    before: Table, after: Table, policy: Policy, paired: MatchedPair, say: Progress
) -> tuple[AnalysisResult, ...]:
    """The policy's regressions on both tables."""
    if not policy.analyses:
        return ()
    say("running analyses on both tables")
    return measure_analyses(policy.fit(before), after, policy.analyses, paired.pair)


def _scales(pair: Pair, losses: Losses) -> list[str]:
    """By what attributes are measured for which the policy names no hierarchy."""
    followed: dict[bool, list[str]] = {True: [], False: []}
    for name in pair.assumed:
        height = losses.measure("height-loss", name)
        followed[height is not None and not math.isnan(height.value)].append(name)
    notes: list[str] = []
    if followed[True]:
        notes.append(
            Sentence(
                "{followed}: the policy names no hierarchy, and levels are those of the one that was learned "
                "from the data, in which all released values stand",
                followed=", ".join(followed[True]),
            )
        )
    if followed[False]:
        notes.append(
            Sentence(
                "{followed}: the policy names no hierarchy, so levels are not defined, and sets and "
                "intervals count by the values in them",
                followed=", ".join(followed[False]),
            )
        )
    return notes


def _learned(
    pair: Pair, labels: Sequence[str], classifiers: Sequence[Classifier], seed: int, say: Progress
) -> tuple[list[Efficacy], list[str]]:
    """What can be learned of each label, and what to tell about those of which nothing can."""
    learned: list[Efficacy] = []
    notes: list[str] = []
    for label in labels:
        say(Sentence("learning to predict {label}", label=label))
        try:
            learned += efficacy(pair, label, classifiers=classifiers, most=rows_each(len(labels)), seed=seed)
        except DiscreetError as error:
            notes.append(Sentence("{label} was not learned: {error}", label=label, error=str(error)))
    return learned, notes
