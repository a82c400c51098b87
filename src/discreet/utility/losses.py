"""Everything that was lost, in one call: all measures of an original and its release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.types import Progress
from discreet.utility import class_sizes, distances, entropy, precision, scaled, tradeoff
from discreet.utility.definition import Weights, shares_of
from discreet.utility.dependence import Matrices, dependence_changes, matrices
from discreet.utility.distributions import distributions, joint_kl_divergence
from discreet.utility.marginals import k_marginal_error
from discreet.utility.moments import moment_changes
from discreet.utility.propensity import propensity_measures
from discreet.utility.workload import Workload, random_workloads

_PLAIN: tuple[Callable[[Pair], Measure | tuple[Measure, ...]], ...] = (
    class_sizes.suppression_ratio,
    class_sizes.average_class_size,
    class_sizes.discernibility,
    class_sizes.normalised_discernibility,
    class_sizes.number_of_classes,
    class_sizes.classification_metric,
    precision.minimal_distortion,
    precision.generalisation_height,
    precision.minimum_absolute_distance,
    precision.minimum_relative_distance,
    precision.ambiguity,
    distances.average_distance,
    joint_kl_divergence,
    scaled.scaled_sizes,
    tradeoff.knowledge_gain_additive,
    tradeoff.knowledge_gain_multiplicative,
    tradeoff.accuracy_gain,
    tradeoff.worst_case_privacy_loss,
    tradeoff.min_entropy_leakage,
    tradeoff.global_utility,
    tradeoff.igpl,
)
_WEIGHTED: tuple[Callable[..., Measure | tuple[Measure, ...]], ...] = (
    precision.leaf_loss,
    precision.interval_loss,
    precision.height_loss,
    precision.certainty_penalty,
    precision.iloss,
    distances.cross_squared,
    distances.cross_absolute,
    distances.cross_common_ancestor,
    distances.average_euclidean_distance,
    distances.sse_sst,
    distances.relative_condensation_loss,
    entropy.conditional_entropy,
    entropy.monotone_entropy,
    entropy.non_uniform_entropy,
    entropy.entropy_information_loss,
    tradeoff.sanitisation_degree,
)


@dataclass(frozen=True)
class Losses:
    """All measures of a release: overall and per attribute, and the overall ones of the trivial release.

    The trivial release shows no quasi-identifier: a release that is hardly better was not worth the effort, and
    one that is worse misleads. ``measure`` finds one of them.
    """

    overall: tuple[Measure, ...]
    attributes: tuple[Measure, ...]
    matrices: Matrices
    workload: Workload
    trivial: tuple[Measure, ...] = field(repr=False)

    def measure(self, name: str, attribute: str | None = None) -> Measure | None:
        """The measure of this id, overall or of an attribute; ``None`` if it was not measured."""
        among = self.overall if attribute is None else self.attributes
        return next(
            (measure for measure in among if measure.name == name and measure.attribute == attribute), None
        )

    def baseline(self, name: str) -> Measure | None:
        """The same overall measure of the release that shows nothing."""
        return next((measure for measure in self.trivial if measure.name == name), None)

    def to_dict(self) -> dict[str, object]:
        """A JSON-ready mapping."""
        return {
            "overall": [measure.to_dict() for measure in self.overall],
            "attributes": [measure.to_dict() for measure in self.attributes],
            "matrices": self.matrices.to_dict(),
            "workload": self.workload.to_dict(),
            "trivial": [measure.to_dict() for measure in self.trivial],
        }


def measure_all(
    pair: Pair,
    *,
    weights: Weights = None,
    seed: int = 1,
    queries: int = 1000,
    costs: Mapping[str, class_sizes.Costs] | None = None,
    progress: Progress | None = None,
) -> Losses:
    """Every measure of loss of a release, and the overall ones of the release that shows nothing.

    ``weights`` make the precision of some quasi-identifiers count more than that of others. ``seed`` and
    ``queries`` are for the random workload. ``costs`` of mistakes, by sensitive attribute, are reckoned with where they are named.

    >>> from discreet.utility.examples import four_jobs
    >>> losses = measure_all(four_jobs(), queries=30)
    >>> losses.measure("certainty-penalty", "job").value, losses.baseline("certainty-penalty").value
    (0.25, 1.0)
    """
    shares_of(pair, weights)
    say = progress or (lambda _: None)
    shown = pair.released.records[~pair.suppressed]
    k = int(shown.min()) if len(shown) else None
    nothing = pair.trivial()
    say("losses of precision and information, distributions")
    measures, trivial = (_measured(release, k, weights) for release in (pair, nothing))
    measures += class_sizes.classification_cost(pair, costs or {})
    trivial += class_sizes.classification_cost(nothing, costs or {})
    say("relations between attributes")
    relations = matrices(pair)
    measures += dependence_changes(relations)
    trivial += dependence_changes(matrices(nothing, like=relations))
    say("means, tables of counts and what tells both tables apart")
    measures += _analyses(pair, seed)
    trivial += _analyses(nothing, seed)
    say("random queries")
    workload, worst = random_workloads([pair, nothing], queries=queries, seed=seed)
    measures += workload.measures()
    trivial += worst.measures()
    return Losses(
        tuple(measure for measure in measures if measure.attribute is None),
        tuple(measure for measure in measures if measure.attribute is not None),
        relations,
        workload,
        tuple(measure for measure in trivial if measure.attribute is None),
    )


def _measured(pair: Pair, k: int | None, weights: Weights) -> list[Measure]:
    """All measures but those of relations and queries, which share work between releases."""
    measures: list[Measure] = [class_sizes.normalised_average_class_size(pair, k=k)]
    for plain in _PLAIN:
        result = plain(pair)
        measures += [result] if isinstance(result, Measure) else result
    for weighted in _WEIGHTED:
        result = weighted(pair, weights=weights)
        measures += [result] if isinstance(result, Measure) else result
    return [*measures, *distributions(pair)]


def _analyses(pair: Pair, seed: int) -> tuple[Measure, ...]:
    """What an analyst of many records sees of a release."""
    return (
        *moment_changes(pair),
        k_marginal_error(pair, seed=seed),
        *propensity_measures(pair, seed=seed),
    )
