"""How exposed the people in a table are: per record, per attribute, and in the population behind it."""

from discreet.risk.dependence import Dependence, absolute_pearson, cramers_v, dependence, mutual_information
from discreet.risk.exposure import AttributeContribution, RiskyClass, contributions, riskiest_classes
from discreet.risk.individual import IndividualRisk, global_risk, individual_risk
from discreet.risk.loglinear import LoglinearRisk, loglinear_risk
from discreet.risk.markov import markov_measures, markov_risk
from discreet.risk.population import dankar, pitman, population_uniques, sample_uniques, snb, zayatz
from discreet.risk.prosecutor import (
    average_risk,
    journalist,
    marketer,
    prosecutor,
    share_above,
    unique_records,
)
from discreet.risk.scorr import (
    Category,
    all_scorr,
    category,
    correlation,
    markov_simplified,
    uniformity,
    uniqueness,
)
from discreet.risk.special_uniques import (
    Combination,
    MinimalUniques,
    SudaResult,
    combinations,
    separation,
    suda,
)
from discreet.risk.titles import GRADED, TITLES, WORDING, Graded

__all__ = [
    "GRADED",
    "TITLES",
    "WORDING",
    "AttributeContribution",
    "Category",
    "Combination",
    "Dependence",
    "Graded",
    "IndividualRisk",
    "LoglinearRisk",
    "MinimalUniques",
    "RiskyClass",
    "SudaResult",
    "absolute_pearson",
    "all_scorr",
    "average_risk",
    "category",
    "combinations",
    "contributions",
    "correlation",
    "cramers_v",
    "dankar",
    "dependence",
    "global_risk",
    "individual_risk",
    "journalist",
    "loglinear_risk",
    "marketer",
    "markov_measures",
    "markov_risk",
    "markov_simplified",
    "mutual_information",
    "pitman",
    "population_uniques",
    "prosecutor",
    "riskiest_classes",
    "sample_uniques",
    "separation",
    "share_above",
    "snb",
    "suda",
    "uniformity",
    "unique_records",
    "uniqueness",
    "zayatz",
]
