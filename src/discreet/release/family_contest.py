"""All families of methods on one table: people found against what is lost, at several strengths and at one exposure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from time import perf_counter

import numpy as np
import pyarrow as pa

from discreet.attacks.linkage.mechanism import mechanism_linkage
from discreet.attacks.linkage.singling_out import record_linkage
from discreet.classes.pair import Pair
from discreet.dp.synthesize import rows_to_compare
from discreet.errors import DiscreetError, InvalidParameter, unknown
from discreet.perturb.base import Perturbation
from discreet.perturb.registry import make_step
from discreet.plain import Printed
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity, LDiversity
from discreet.progress import Asked, telling
from discreet.release import rendered
from discreet.release.anonymize import least_change
from discreet.release.bucketize import bucketize
from discreet.release.estimates import estimates
from discreet.release.pairing import make_pair
from discreet.release.perturb import perturbed
from discreet.release.prepare import count_classes, open_both, open_plan, prepare, with_roles, without_dropped
from discreet.search.cost import pair_of
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.reading import ReadOptions
from discreet.types import Progress
from discreet.utility.marginals import k_marginal_error
from discreet.utility.workload import random_workloads

ROWS = 3_000
"""So many rows are drawn where there are more: every intruder is tried on every strength of every family."""
SIZES = (2, 3, 5, 10, 20, 50)
STRENGTHS = (5.0, 10.0, 20.0, 40.0, 70.0)
DIVERSITIES = (2, 3, 5)
REFINED = 3
"""So often the strength is halved in between the weakest that keeps to the exposure and the one before it."""
QUERIES = 600
DELTA = 1e-6
GUARANTEED = "artificial with a guarantee"
"""The family of releases under differential privacy."""


@dataclass(frozen=True)
class FamilyPoint:
    """A family at one strength: how many people the better intruder finds, and what is lost.

    ``count_error`` is the median relative error of random counts, ``marginal_error`` the k-marginal error. ``matched``: it is the weakest
    of its family that keeps to the exposure; ``best``: none of any family is at least as good in people found and count error and better in one.
    """

    family: str
    strength: str
    found_share: float | None = None
    count_error: float | None = None
    marginal_error: float | None = None
    seconds: float = 0.0
    failed: str = ""
    matched: bool = False
    best: bool = False

    @property
    def label(self) -> str:
        return f"{self.family}, {self.strength}"

    @property
    def measured(self) -> tuple[float, float] | None:
        """Count error and people found, if both are known."""
        if self.count_error is None or self.found_share is None:
            return None
        return self.count_error, self.found_share


@dataclass(frozen=True)
class FamilyComparison(Printed):
    """Every family at several strengths, on the same rows and by the same intruders."""

    points: tuple[FamilyPoint, ...]
    exposure: float
    rows: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return rendered.families_text(self)

    def __repr__(self) -> str:
        return f"FamilyComparison({len(self.points)} points, exposure {self.exposure:g})"

    @property
    def matched(self) -> tuple[FamilyPoint, ...]:
        """One point of each family that keeps to the exposure, least loss first."""
        return tuple(sorted((p for p in self.points if p.matched), key=lambda p: p.count_error or 0.0))

    def chart(self) -> str:
        """People found against the error of counts as an SVG picture."""
        return rendered.families_chart(self)

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-families-1",
            "exposure": self.exposure,
            "rows": self.rows,
            "points": [asdict(point) for point in self.points],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class _Ring:
    """The rows that are released in many ways, with what families need to know of them."""

    table: Table
    policy: Policy
    plan: Plan
    seed: int
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    say: Progress = field(repr=False)

    def measured(
        self, point: FamilyPoint, release: Callable[[], tuple[Pair, Sequence[Perturbation]]]
    ) -> FamilyPoint:
        """A point with what a release came to, or why there is none."""
        self.say(Sentence("trying {family}", family=point.label))
        start = perf_counter()
        try:
            pair, steps = release()
        except DiscreetError as error:
            return replace(point, failed=error.message, seconds=perf_counter() - start)
        seconds = perf_counter() - start
        rates = [record_linkage(pair, seed=self.seed).rate]
        if steps:
            rates.append(mechanism_linkage(pair, steps=steps, seed=self.seed).rate)
        errors = random_workloads([pair], queries=QUERIES, seed=self.seed)[0].errors["count"]
        return replace(
            point,
            found_share=max(rates),
            count_error=float(np.median(errors)) if len(errors) else None,
            marginal_error=k_marginal_error(pair, seed=self.seed).value,
            seconds=seconds,
        )

    def generalised(self, k: float) -> tuple[Pair, Sequence[Perturbation]]:
        plan = replace(self.plan, keep_representation=False)
        counted = count_classes(self.table, without_dropped(self.policy, plan))
        ready = prepare(counted, self.policy, plan)
        chosen = least_change(ready.classes, ready.ladders, (KAnonymity(round(k)),), plan, lambda _: None)
        return pair_of(chosen.recoding, ready.ladders), ()

    def stepped(self, steps: Sequence[Perturbation]) -> tuple[Pair, Sequence[Perturbation]]:
        asked = self.policy.perturbed_by(*steps)
        made = perturbed(self.table, asked, seed=self.seed, say=lambda _: None).table
        paired = make_pair(self.table, made, asked, links=np.arange(self.table.rows))
        return estimates(paired.pair, asked)[0], steps

    def guaranteed(self, inverse: float) -> tuple[Pair, Sequence[Perturbation]]:
        """Artificial people of ε = 1 / ``inverse``: as many as there are, who are nobody, so that rows are linked as they come."""
        names = [*self.numbers, *self.categories, *self.policy.sensitive]
        numbers = {name: self.table.engine.domain(self.table, name).numbers for name in names}
        bounds = {
            name: (float(np.nanmin(values)), float(np.nanmax(values)))
            for name, values in numbers.items()
            if self.table.column(name).numeric
        }
        drawn = rows_to_compare(self.table, names, epsilon=1 / inverse, delta=DELTA, bounds=bounds)
        rows = drawn.take(pa.array(np.arange(self.table.rows) % max(drawn.num_rows, 1)))
        made = self.table.engine.read_batches(rows.to_reader(), self.table.source, ReadOptions())
        # Like any artificial rows: no released value need stand for the one that the row is linked to.
        drawn_anew = self.policy.perturbed_by(make_step({"method": "synthetic-table", "columns": names}))
        return make_pair(self.table, made, drawn_anew, links=np.arange(self.table.rows)).pair, ()

    def bucketed(self, sensitive: str, l: float) -> tuple[Pair, Sequence[Perturbation]]:  # noqa: E741
        asked = LDiversity(round(l), kind="simple", sensitive=sensitive)
        release = bucketize(self.table, self.policy, sensitive=sensitive, require=[asked], seed=self.seed)
        rows = release.bucketed.dealt(self.seed)
        pair = make_pair(self.table, rows, self.policy, links=release.links).pair
        return replace(pair, expected=release.bucketed.expected(pair, rows)), ()


@dataclass(frozen=True)
class _Family:
    """A family by its strengths: what is released at each, and how the strength is told."""

    name: str
    strengths: tuple[float, ...]
    told: str
    release: Callable[[float], tuple[Pair, Sequence[Perturbation]]]
    whole: bool = False
    """Whether strengths are whole numbers."""
    inverse: bool = False
    """Whether a smaller number is told of a greater strength: one over it."""

    def point(self, strength: float) -> FamilyPoint:
        number = round(1 / strength, 2) if self.inverse else round(strength, 1)
        return FamilyPoint(self.name, self.told.format(round(strength) if self.whole else f"{number:g}"))


def _families(ring: _Ring) -> Iterator[_Family]:
    """The families that the columns allow."""
    numbers, categories = list(ring.numbers), list(ring.categories)

    def by(number_step: str, category_step: str) -> Callable[[float], tuple[Pair, Sequence[Perturbation]]]:
        def release(strength: float) -> tuple[Pair, Sequence[Perturbation]]:
            steps = []
            if numbers:
                given = (
                    {"k": max(2, round(strength))} if number_step == "condensation" else {"percent": strength}
                )
                steps.append(make_step({"method": number_step, "columns": numbers, **given}))
            if categories:
                kept = {"keep": 1 - strength / 100} if category_step == "pram" else {"percent": strength}
                steps.append(make_step({"method": category_step, "columns": categories, **kept}))
            return ring.stepped(steps)

        return release

    def artificial(method: str) -> Callable[[float], tuple[Pair, Sequence[Perturbation]]]:
        def release(strength: float) -> tuple[Pair, Sequence[Perturbation]]:
            leaf = {"leaf": round(strength)} if method == "synthetic-trees" else {}
            return ring.stepped([make_step({"method": method, "columns": [*numbers, *categories], **leaf})])

        return release

    yield _Family("generalisation", SIZES, "k = {}", ring.generalised, whole=True)
    yield _Family("swapping", STRENGTHS, "{} %", by("rank-swap", "random-swap"))
    yield _Family("noise and PRAM", STRENGTHS, "{} %", by("additive-noise", "pram"))
    if len(numbers) > 1:
        yield _Family("correlated noise and PRAM", STRENGTHS, "{} %", by("correlated-noise", "pram"))
        yield _Family("condensation and PRAM", STRENGTHS, "{} %", by("condensation", "pram"))
    yield _Family("artificial by trees", (5, 20, 50), "leaf {}", artificial("synthetic-trees"), whole=True)
    yield _Family("artificial by regressions", (0,), "one model", artificial("synthetic-chain"))
    yield _Family("artificial by a copula", (0,), "one model", artificial("synthetic-copula"))
    if len(numbers) + len(categories) + len(ring.policy.sensitive) > 1:
        yield _Family(GUARANTEED, (0.1, 0.3, 1.0, 3.0), "ε = {}", ring.guaranteed, inverse=True)
    if ring.policy.sensitive and ring.policy.person is None:
        first = ring.policy.sensitive[0]
        yield _Family("buckets", DIVERSITIES, "l = {}", partial(ring.bucketed, first), whole=True)


def compare_families(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    plan: Plan | None = None,
    exposure: float = 0.05,
    families: Sequence[str] | None = None,
    rows: int = ROWS,
    seed: int = 1,
    progress: Asked = None,
) -> FamilyComparison:
    """Release a table by every family at several strengths, and tell people found against what is lost.

    Found are people whom the better of two intruders links rightly, who knows all quasi-identifiers: by what fits or is nearest, and by the method
    with its parameters. Each family is then made just as strong as keeps to the ``exposure``. Requirements and steps of the policy are left out: each
    family stands for itself, on its quasi-identifiers alone. Of larger tables ``rows`` are drawn, in which people stand out more than
    in all of them. Strengths are chosen and judged on one draw of chance.
    """
    say = telling(progress)
    opened, given = open_both(source, policy)
    asked, notes = with_roles(opened, given, say)
    own = open_plan(plan, asked)
    if not 0 < exposure < 1:
        raise InvalidParameter(
            Sentence("the exposure is {exposure}", exposure=exposure),
            remedy="give a share between 0 and 1, such as 0.05",
        )
    if rows < 50:
        raise InvalidParameter(Sentence("{rows} rows tell nothing", rows=rows), remedy="ask for at least 50")
    free = replace(asked, requirements=(), perturb=(), constraints=(), kpis=(), analyses=())
    table = free.fit(opened)
    if table.rows > rows:
        notes.append(
            Sentence(
                "{rows:,} of {all:,} rows were drawn: in all of them people stand out less",
                rows=rows,
                all=table.rows,
            )
        )
        table = table.engine.thin(table, rows / table.rows, seed=seed)
    known = without_dropped(free, own).quasi_identifiers
    numbers = tuple(name for name in known if table.column(name).numeric)
    categories = tuple(name for name in known if name not in numbers)
    ring = _Ring(table, free, own, seed, numbers, categories, say)
    offered = {family.name: family for family in _families(ring)}
    for name in families or ():
        if name not in offered:
            raise unknown("family", name, offered)
    points: list[FamilyPoint] = []
    for family in offered.values():
        if families is None or family.name in families:
            points += _tried(ring, family, exposure)
    if any(point.family == "buckets" for point in points):
        notes.append(
            "buckets leave quasi-identifiers as they are: whoever knows them finds the row, and what is protected is the tie to the value"
        )
    if any(point.family == GUARANTEED for point in points):
        notes.append(
            "what is told of releases under differential privacy was measured on the original and paid for by nothing: it is for "
            "whoever holds the table, and bounds of numbers were read from it; every draw is another"
        )
    if any(point.family.startswith("artificial") for point in points):
        notes.append(
            "of artificial records nobody is found by linking: what they give away is told by `copies` and `membership` with a control group"
        )
    return FamilyComparison(tuple(_with_best(points)), exposure, table.rows, tuple(notes))


def _tried(ring: _Ring, family: _Family, exposure: float) -> list[FamilyPoint]:
    """A family at its strengths, and halved in towards the weakest that keeps to the exposure, which is marked."""
    tried: dict[float, FamilyPoint] = {}

    def point(strength: float) -> FamilyPoint:
        if strength not in tried:
            tried[strength] = ring.measured(family.point(strength), lambda: family.release(strength))
        return tried[strength]

    def keeps(strength: float) -> bool:
        share = point(strength).found_share
        return share is not None and share <= exposure

    kept = [strength for strength in family.strengths if keeps(strength)]
    if kept:
        high = min(kept)
        below = [strength for strength in family.strengths if strength < high]
        low = max(below, default=high)
        for _ in range(REFINED):
            middle = float(round((low + high) / 2)) if family.whole else (low + high) / 2
            if middle in (low, high):
                break
            low, high = (low, middle) if keeps(middle) else (middle, high)
        tried[high] = replace(tried[high], matched=True)
    return [tried[strength] for strength in sorted(tried)]


def _with_best(points: Sequence[FamilyPoint]) -> list[FamilyPoint]:
    """The points, those marked that no other beats."""
    known = [point.measured for point in points if point.measured is not None]

    def beaten(own: tuple[float, float]) -> bool:
        return any(a <= own[0] + 1e-12 and b <= own[1] + 1e-12 and (a, b) != own for a, b in known)

    return [
        replace(point, best=point.measured is not None and not beaten(point.measured)) for point in points
    ]
