"""Every measure of loss by its id: definition and function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from discreet.utility import (
    class_sizes,
    dependence,
    distances,
    distributions,
    entropy,
    marginals,
    moments,
    precision,
    propensity,
    scaled,
    tradeoff,
)
from discreet.utility import workload as queries
from discreet.utility.definition import Definition


class Entry(NamedTuple):
    """A measure's definition and the function that gives it."""

    definition: Definition
    function: Callable[..., object]


_ALL: tuple[tuple[Callable[..., object], tuple[Definition, ...]], ...] = (
    (class_sizes.suppression_ratio, (class_sizes.SUPPRESSION_RATIO,)),
    (class_sizes.average_class_size, (class_sizes.AVERAGE_CLASS_SIZE,)),
    (class_sizes.normalised_average_class_size, (class_sizes.NORMALISED_CLASS_SIZE,)),
    (class_sizes.discernibility, (class_sizes.DISCERNIBILITY,)),
    (class_sizes.normalised_discernibility, (class_sizes.NORMALISED_DISCERNIBILITY,)),
    (class_sizes.number_of_classes, (class_sizes.NUMBER_OF_CLASSES,)),
    (class_sizes.classification_metric, (class_sizes.CLASSIFICATION_METRIC,)),
    (class_sizes.classification_cost, (class_sizes.CLASSIFICATION_COST,)),
    (precision.leaf_loss, (precision.LEAF_LOSS,)),
    (precision.interval_loss, (precision.INTERVAL_LOSS,)),
    (precision.height_loss, (precision.HEIGHT_LOSS,)),
    (precision.certainty_penalty, (precision.CERTAINTY_PENALTY,)),
    (distances.cross_squared, (distances.SQUARED,)),
    (distances.cross_absolute, (distances.ABSOLUTE,)),
    (distances.cross_common_ancestor, (distances.COMMON_ANCESTOR,)),
    (entropy.conditional_entropy, (entropy.CONDITIONAL, entropy.CONDITIONAL_SHARE)),
    (entropy.monotone_entropy, (entropy.MONOTONE, entropy.MONOTONE_SHARE)),
    (entropy.non_uniform_entropy, (entropy.NON_UNIFORM, entropy.NON_UNIFORM_SHARE)),
    (entropy.entropy_information_loss, (entropy.ILE,)),
    (precision.minimal_distortion, (precision.MINIMAL_DISTORTION,)),
    (precision.generalisation_height, (precision.GENERALISED_CELLS,)),
    (precision.minimum_absolute_distance, (precision.ABSOLUTE_DISTANCE,)),
    (precision.minimum_relative_distance, (precision.RELATIVE_DISTANCE,)),
    (precision.iloss, (precision.ILOSS,)),
    (precision.ambiguity, (precision.AMBIGUITY,)),
    (distances.relative_condensation_loss, (distances.CONDENSATION,)),
    (distances.average_distance, (distances.AVERAGE_DISTANCE,)),
    (distances.average_euclidean_distance, (distances.EUCLIDEAN,)),
    (distances.sse_sst, (distances.SQUARES,)),
    (distributions.emd, (distributions.EMD,)),
    (distributions.kl_divergence, (distributions.KL, distributions.KL_ROLLED)),
    (distributions.js_divergence, (distributions.JS, distributions.JS_ROLLED)),
    (distributions.total_variation, (distributions.VARIATION, distributions.VARIATION_ROLLED)),
    (distributions.hellinger, (distributions.HELLINGER, distributions.HELLINGER_ROLLED)),
    (distributions.mean_z_test, (distributions.MEAN_Z, distributions.MEAN_P)),
    (distributions.joint_kl_divergence, (distributions.JOINT_KL,)),
    (dependence.dependence_changes, tuple(dependence.CHANGES.values())),
    (
        queries.random_workload,
        (
            *(
                definition
                for aggregate in queries.AGGREGATES
                for definition in (queries.MEDIANS[aggregate], queries.MEANS[aggregate])
            ),
            queries.UNANSWERED,
        ),
    ),
    (moments.moment_changes, (moments.MEAN, moments.VARIANCE, moments.COVARIANCE, moments.EIGENVALUE)),
    (marginals.k_marginal_error, (marginals.K_MARGINAL,)),
    (propensity.propensity_measures, (propensity.PMSE, propensity.RATIO)),
    (scaled.scaled_sizes, (scaled.SCALED_K, scaled.SCALED_CLASS_SIZE, scaled.SCALED_L)),
    (tradeoff.knowledge_gain_additive, (tradeoff.ADDITIVE,)),
    (tradeoff.knowledge_gain_multiplicative, (tradeoff.MULTIPLICATIVE,)),
    (tradeoff.accuracy_gain, (tradeoff.ACCURACY,)),
    (tradeoff.worst_case_privacy_loss, (tradeoff.WORST_CASE,)),
    (tradeoff.min_entropy_leakage, (tradeoff.LEAKAGE, tradeoff.LEAKAGE_BOUND)),
    (tradeoff.global_utility, (tradeoff.GLOBAL_UTILITY,)),
    (tradeoff.igpl, (tradeoff.IGPL,)),
    (tradeoff.sanitisation_degree, (tradeoff.SANITISATION,)),
)

MEASURES: Mapping[str, Entry] = MappingProxyType(
    {definition.name: Entry(definition, function) for function, group in _ALL for definition in group}
)
"""All measures of loss by their id, family by family."""
