"""Risk against loss: requirements swept over a policy, or methods side by side, and which outcomes none beats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from time import perf_counter

import numpy as np

from discreet.errors import DiscreetError, InvalidParameter, unknown
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy
from discreet.policy.plan import METHODS, Method, Plan
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.progress import Asked, telling
from discreet.release import rendered
from discreet.release.anonymize import anonymize, least_change
from discreet.release.outcome import Outcome, outcome_of, with_best
from discreet.release.perturb import perturbed
from discreet.release.prepare import (
    as_shown,
    check_plan,
    count_classes,
    open_both,
    open_plan,
    prepare,
    with_roles,
    without_dropped,
)
from discreet.release.profile import load_profile
from discreet.release.requirements import goals, mean_limit, mean_risk, with_size, within_mean
from discreet.sentences import Sentence
from discreet.transform.loss import leaf_share_loss
from discreet.transform.recoding import Recoding

USUAL_K = (2, 3, 5, 10, 20, 50)
"""What is swept if nothing is asked for."""

MOST_POINTS = 200


@dataclass(frozen=True)
class Frontier:
    """All points that were tried; the chosen one is the policy's own."""

    points: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return rendered.frontier_text(self)

    def __repr__(self) -> str:
        return f"Frontier({len(self.points)} settings, {len(self.best)} that no other beats)"

    def _repr_html_(self) -> str:
        return rendered.frontier_notebook(self)

    @property
    def best(self) -> tuple[Outcome, ...]:
        """Points that no other beats, by rising loss."""
        return tuple(
            sorted((point for point in self.points if point.best), key=lambda point: point.loss or 0.0)
        )

    @property
    def chosen(self) -> Outcome | None:
        return next((point for point in self.points if point.chosen), None)

    @property
    def knee(self) -> Outcome | None:
        """Where further loss begins to buy little: the farthest point below the line between the ends."""
        return next((point for point in self.points if point.knee), None)

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-frontier-1",
            "points": [point.to_dict() for point in self.points],
            "notes": list(self.notes),
        }

    def chart(self) -> str:
        """Risk against loss as an SVG picture, with the chosen point and the knee marked."""
        return rendered.frontier_chart(self)


def frontier(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    plan: Plan | None = None,
    k: Sequence[int] | None = None,
    l: Sequence[int] | None = None,  # noqa: E741
    t: Sequence[float] | None = None,
    methods: Sequence[str] | None = None,
    progress: Asked = None,
) -> Frontier:
    """Sweep k, l and t over the policy's requirements, and methods over its plan.

    Each swept value takes the place of the policy's own (of every sensitive attribute for l and t); other
    requirements stay, those of the profile are left out, because they would hide what is swept. The table is
    counted once. The policy's own setting, profile included, is the chosen point. Without a policy the roles are suggested.
    """
    say = telling(progress)
    opened, given = open_both(source, policy)
    asked, notes = with_roles(opened, given, say)
    plan = open_plan(plan, asked)
    check_plan(plan, asked)
    wanted = tuple(methods) if methods is not None else (plan.method,)
    if not wanted:
        raise InvalidParameter(
            "no method was named", remedy=Sentence("methods are: {methods}", methods=", ".join(METHODS))
        )
    for method in wanted:
        _method(method)
    if (l or t) and not asked.sensitive:
        raise InvalidParameter(
            "l and t speak of sensitive attributes, and the policy has none",
            remedy="give a column the role sensitive, or sweep k only",
        )
    if k is None and l is None and t is None:
        k = USUAL_K
    sizes: Sequence[int | None] = k or [None]
    diversities: Sequence[int | None] = l or [None]
    closenesses: Sequence[float | None] = t or [None]
    settings = list(product(sizes, diversities, closenesses, wanted))
    if len(settings) > MOST_POINTS:
        raise InvalidParameter(
            _too_many(len(settings)),
            remedy="sweep fewer values or methods",
        )
    # Values that cannot be required are refused before anything is counted.
    required = [_swept(asked, *setting[:3]) for setting in settings]
    table = perturbed(asked.fit(opened), asked, seed=None, say=say).table
    say("counting equivalence classes")
    ready = prepare(count_classes(table, without_dropped(asked, plan)), asked, plan)

    def attempt(point: Outcome, models: tuple[PrivacyModel, ...], limit: Fraction | None = None) -> Outcome:
        start = perf_counter()
        changed = plan.by(_method(point.method))

        def least(k: int) -> Recoding:
            return least_change(
                ready.classes, ready.ladders, with_size(models, k), changed, lambda _: None
            ).recoding

        try:
            recoding = within_mean(limit, least, mean_risk)
        except DiscreetError as error:
            return replace(point, failed=error.message, seconds=perf_counter() - start)
        return replace(outcome_of(recoding, point), seconds=perf_counter() - start)

    profile = load_profile(asked.profile)
    own = goals(as_shown(asked, plan), profile, ready.classes)
    total = len(settings) + 1
    say(Sentence("1 of {settings}: the policy's own setting", settings=total))
    points = [attempt(_own_point(own, plan.method), own, mean_limit(profile))]
    points[0] = replace(points[0], chosen=True)
    for number, ((size, diversity, closeness, method), models) in enumerate(
        zip(settings, required, strict=True), start=2
    ):
        point = Outcome(method, size, diversity, closeness)
        say(Sentence("{number} of {settings}: {label}", number=number, settings=total, label=point.label))
        if method != plan.method or set(models) != set(own):
            points.append(attempt(point, models))
    return Frontier(tuple(_with_knee(points)), tuple(notes))


def _too_many(settings: int) -> Sentence:
    return Sentence(
        "{settings} settings were asked for, at most {most_points} are tried",
        settings=settings,
        most_points=MOST_POINTS,
    )


def _swept(policy: Policy, k: int | None, l: int | None, t: float | None) -> tuple[PrivacyModel, ...]:  # noqa: E741
    """The policy's requirements with the swept values in place of its own."""
    models = list(policy.requirements)
    if k is not None:
        models = [model for model in models if not isinstance(model, KAnonymity)] + [KAnonymity(k)]
    if l is not None:
        models = [model for model in models if not isinstance(model, LDiversity)]
        models += [LDiversity(l, name) for name in policy.sensitive]
    if t is not None:
        models = [model for model in models if not isinstance(model, TCloseness)]
        models += [TCloseness(t, name) for name in policy.sensitive]
    return tuple(models)


def _own_point(models: Sequence[PrivacyModel], method: str) -> Outcome:
    sizes = [model.k for model in models if isinstance(model, KAnonymity)]
    diversities = [model.l for model in models if isinstance(model, LDiversity)]
    closenesses = [model.t for model in models if isinstance(model, TCloseness)]
    return Outcome(
        method,
        max(sizes, default=None),
        max(diversities, default=None),
        min(closenesses, default=None),
    )


def _method(name: str) -> Method:
    """A method by its name, or an error that lists them."""
    for method in METHODS:
        if method == name:
            return method
    raise unknown("method", name, METHODS)


def _with_knee(points: Sequence[Outcome]) -> list[Outcome]:
    """The points, those marked that no other beats, and among these the knee."""
    marked = with_best(points)
    front = sorted(
        (point for point in marked if point.best),
        key=lambda point: (point.loss or 0.0, -(point.mean_risk or 0.0)),
    )
    knee = _knee([(point.loss or 0.0, point.mean_risk or 0.0) for point in front])
    return [replace(point, knee=knee is not None and point is front[knee]) for point in marked]


def _knee(front: Sequence[tuple[float, float]]) -> int | None:
    """The point farthest below the line between both ends, scaled to the unit square; none on a straight line.

    Satopää et al., "Finding a Kneedle in a haystack", ICDCSW 2011, for a finished curve.

    >>> _knee([(0.0, 1.0), (0.1, 0.2), (1.0, 0.0)]), _knee([(0.0, 1.0), (1.0, 0.0)])
    (1, None)
    """
    if len(front) < 3:
        return None
    places = np.array(front, dtype=np.float64)
    low, high = places.min(axis=0), places.max(axis=0)
    if (high - low <= 1e-12).any():
        return None
    x, y = ((places - low) / (high - low)).T
    below = 1.0 - x - y
    at = int(np.argmax(below))
    return at if below[at] > 1e-9 else None


def compare_methods(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    plan: Plan | None = None,
    methods: Sequence[str] | None = None,
    progress: Asked = None,
) -> list[Outcome]:
    """Anonymise by several methods; ``best`` marks those that no other beats in both loss and mean risk.

    Without a policy the roles are suggested, once for all methods.
    """
    say = telling(progress)
    table, given = open_both(source, policy)
    asked, _ = with_roles(table, given, say)
    plan = open_plan(plan, asked)
    wanted = (
        [method for method in METHODS if method not in ("auto", "anytime")] if methods is None else methods
    )
    outcomes = []
    for method in [_method(name) for name in wanted]:
        say(Sentence("anonymising by {method}", method=Sentence(method)))
        start = perf_counter()
        try:
            release = anonymize(table, asked, plan=plan.by(method))
        except DiscreetError as error:
            outcomes.append(Outcome(method, seconds=perf_counter() - start, failed=error.message))
            continue
        risk = release.after.risk("prosecutor")
        loss = leaf_share_loss(release.recoding)
        outcomes.append(
            Outcome(
                method,
                loss=None if math.isnan(loss) else loss,
                suppressed_share=release.suppressed / release.before.rows,
                mean_risk=risk.mean,
                max_risk=risk.max,
                classes=len(release.after.classes),
                seconds=perf_counter() - start,
            )
        )
    return with_best(outcomes)
