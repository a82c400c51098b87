"""The form of a policy file: its tables and settings, each with what it may be."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from discreet.policy.analysis import Analysis
from discreet.policy.intruder import Judged
from discreet.policy.kpi import Generalised, Kpi
from discreet.policy.plan import Plan, Printed
from discreet.policy.policy import DEFAULT_PROFILE, Policy, Unknown
from discreet.policy.settings import Strict, with_settings
from discreet.table import DataType
from discreet.table.reading import ReadOptions
from discreet.table.roles import Role

FORMAT = 1
Score = Annotated[int, Field(ge=1, le=3)]
Text = Annotated[str, Field(pattern=r"\S")]
UNWRITTEN = {"rows": "a look at the first rows is not how the whole table is read, of which a policy speaks"}
"""Options of reading that no policy has, and why."""


class RatingEntry(Strict):
    replication: Score
    availability: Score
    distinguishability: Score


class ColumnEntry(Strict):
    role: Role
    type: DataType | None = None
    reason: str = ""
    rating: RatingEntry | None = None
    hierarchy: object = None


@with_settings(ReadOptions, without=UNWRITTEN)
class ReadEntry(Strict):
    pass


class PopulationEntry(Strict):
    sampling_fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    table: Text | None = None
    count: Text | None = None


@with_settings(Plan)
class AnonymizeEntry(Strict):
    pass


class KpiEntry(Strict):
    name: Text
    query: Text
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    description: str = Kpi.description
    generalised: Generalised = Kpi.generalised


class ConstraintEntry(Strict):
    name: Text
    holds: Text | None = None
    column: Text | None = None
    follows: list[Text] = Field(default_factory=list)


class AnalysisEntry(Strict):
    formula: Text
    name: str = Analysis.name


class MistakeEntry(Strict):
    column: Text
    value: Printed
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    taken_for: Printed | None = None


class IntruderEntry(Strict):
    name: Text
    columns: Annotated[list[Text], Field(min_length=1)]


class PolicyDocument(Strict):
    format: int = FORMAT
    profile: str = DEFAULT_PROFILE
    unknown: Unknown = Policy.unknown
    judged: Judged = Policy.judged
    population: PopulationEntry = Field(default_factory=PopulationEntry)
    read: ReadEntry = Field(default_factory=ReadEntry)
    anonymize: AnonymizeEntry = Field(default_factory=AnonymizeEntry)
    columns: dict[str, ColumnEntry] = Field(default_factory=dict)
    require: list[dict[str, object]] = Field(default_factory=list)
    perturb: list[dict[str, object]] = Field(default_factory=list)
    kpi: list[KpiEntry] = Field(default_factory=list)
    constraint: list[ConstraintEntry] = Field(default_factory=list)
    analysis: list[AnalysisEntry] = Field(default_factory=list)
    mistake: list[MistakeEntry] = Field(default_factory=list)
    intruder: list[IntruderEntry] = Field(default_factory=list)
