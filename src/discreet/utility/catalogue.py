"""Every measure of loss by its id: definition and function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from discreet.utility import crossing, dependence, distributions, information, precision, structure, tradeoff
from discreet.utility import workload as queries
from discreet.utility.definition import Definition


class Entry(NamedTuple):
    """A measure's definition and the function that gives it."""

    definition: Definition
    function: Callable[..., object]


_ALL: tuple[tuple[Callable[..., object], tuple[Definition, ...]], ...] = (
    (structure.suppression_ratio, (structure.SUPPRESSION_RATIO,)),
    (structure.average_class_size, (structure.AVERAGE_CLASS_SIZE,)),
    (structure.normalised_average_class_size, (structure.NORMALISED_CLASS_SIZE,)),
    (structure.discernibility, (structure.DISCERNIBILITY,)),
    (structure.normalised_discernibility, (structure.NORMALISED_DISCERNIBILITY,)),
    (structure.number_of_classes, (structure.NUMBER_OF_CLASSES,)),
    (precision.leaf_loss, (precision.LEAF_LOSS,)),
    (precision.interval_loss, (precision.INTERVAL_LOSS,)),
    (precision.height_loss, (precision.HEIGHT_LOSS,)),
    (precision.certainty_penalty, (precision.CERTAINTY_PENALTY,)),
    (crossing.cross_squared, (crossing.SQUARED,)),
    (crossing.cross_absolute, (crossing.ABSOLUTE,)),
    (crossing.cross_common_ancestor, (crossing.COMMON_ANCESTOR,)),
    (information.conditional_entropy, (information.CONDITIONAL, information.CONDITIONAL_SHARE)),
    (information.monotone_entropy, (information.MONOTONE, information.MONOTONE_SHARE)),
    (information.non_uniform_entropy, (information.NON_UNIFORM, information.NON_UNIFORM_SHARE)),
    (information.entropy_information_loss, (information.ILE,)),
    (precision.minimal_distortion, (precision.MINIMAL_DISTORTION,)),
    (precision.generalisation_height, (precision.GENERALISED_CELLS,)),
    (precision.minimum_absolute_distance, (precision.ABSOLUTE_DISTANCE,)),
    (precision.minimum_relative_distance, (precision.RELATIVE_DISTANCE,)),
    (precision.iloss, (precision.ILOSS,)),
    (precision.ambiguity, (precision.AMBIGUITY,)),
    (crossing.relative_condensation_loss, (crossing.CONDENSATION,)),
    (crossing.average_distance, (crossing.AVERAGE_DISTANCE,)),
    (crossing.average_euclidean_distance, (crossing.EUCLIDEAN,)),
    (crossing.sse_sst, (crossing.SQUARES,)),
    (distributions.emd, (distributions.EMD,)),
    (distributions.kl_divergence, (distributions.KL, distributions.KL_ROLLED)),
    (distributions.js_divergence, (distributions.JS, distributions.JS_ROLLED)),
    (distributions.total_variation, (distributions.VARIATION, distributions.VARIATION_ROLLED)),
    (distributions.hellinger, (distributions.HELLINGER, distributions.HELLINGER_ROLLED)),
    (distributions.mean_z_test, (distributions.MEAN_Z, distributions.MEAN_P)),
    (distributions.joint_kl_divergence, (distributions.JOINT_KL,)),
    (
        dependence.dependence_changes,
        (dependence.PEARSON, dependence.SPEARMAN, dependence.CRAMER, dependence.INFORMATION),
    ),
    (
        queries.random_workload,
        (
            *(
                definition
                for one in queries.AGGREGATES
                for definition in (queries.MEDIANS[one], queries.MEANS[one])
            ),
            queries.UNANSWERED,
        ),
    ),
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
"""All measures of loss by their id, in the order of the catalogue."""
