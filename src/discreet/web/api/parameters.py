"""What each kind of job may be told: the same settings as on the command line, checked before anything starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, ValidationError

from discreet.baskets.release import Method as BasketMethod
from discreet.dp.foresight import AskedFigure
from discreet.dp.learning import Learner
from discreet.errors import InvalidParameter
from discreet.policy.document import UNWRITTEN
from discreet.policy.plan import Method, Plan
from discreet.policy.problems import refused
from discreet.policy.settings import Strict, given, with_settings
from discreet.reports.words import Edition
from discreet.search.buckets.search import BucketMethod
from discreet.table.reading import ReadOptions
from discreet.table.roles import Role

Format = Literal["csv", "xlsx", "parquet", "tsv", "arrow"]
FORMATS: tuple[Format, ...] = get_args(Format)
Share = Annotated[float, Field(ge=0, le=1)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


class Parameters(Strict):
    """What a job may be told. JSON has neither infinity nor NaN."""

    model_config = ConfigDict(allow_inf_nan=False)

    @classmethod
    def checked(cls, sent: Mapping[str, object]) -> Self:
        """The parameters that were given, or an error that names the first that does not make sense.

        >>> AuditParameters.checked({"detail": "core"}).detail
        'core'
        """
        try:
            return cls.model_validate(sent)
        except ValidationError as error:
            first = refused(error.errors(include_url=False)[0])
            raise InvalidParameter(first, remedy="see the reference of the interface") from None


@with_settings(ReadOptions, without=UNWRITTEN)
class ReadParameters(Parameters):
    """How the file is read; what is not given is found out. ``suggest`` false keeps the present policy."""

    suggest: bool = Field(True, description="suggest roles anew; false keeps the present policy")

    def options(self) -> dict[str, object]:
        """What was given, as the ``[read]`` part of a policy."""
        return ReadOptions(**given(self, ReadOptions)).given()


class AuditParameters(Parameters):
    """How thorough an audit is."""

    detail: Literal["full", "core"] = Field("full", description="`core` leaves out exposing combinations")


class RolesParameters(Parameters):
    """Which columns get a role, by their places in the table; without a role theirs is the right one."""

    columns: list[int] = Field(description="their places, from 0")
    role: Role | None = None


class ValuesParameters(Parameters):
    """Of which columns the values are counted, so that hierarchies for them can be looked at."""

    columns: list[str] | None = Field(None, description="their names; all quasi-identifiers if not given")


class ReportParameters(AuditParameters):
    """The report of an audit, for whom it is drawn."""

    edition: Edition = Field("internal", description="`public` shows no value and no count of a few people")


@with_settings(Plan)
class PlanParameters(Parameters):
    """How to anonymise; what is not given is as the policy says."""

    def given(self) -> dict[str, Any]:
        """The settings of a plan that were given."""
        return given(self, Plan)

    def plan(self, written: Plan) -> Plan:
        """The policy's plan with what was given instead."""
        return dataclasses.replace(written, **self.given())


class AnonymizeParameters(PlanParameters):
    """How to anonymise and how to write the release."""

    format: Format = Field("csv", description="format of the release")
    alternatives: bool = Field(False, description="also write the other releases that were found")


class CompareParameters(Parameters):
    """How to measure what the newest release lost."""

    labels: list[str] | None = Field(
        None, description="sensitive attributes to learn; all if not given, none if empty"
    )
    queries: Annotated[int, Field(ge=1, le=100_000)] = Field(1000, description="random queries to ask")
    seed: Seed = Field(1, description="everything random follows from it")


class AttackParameters(Parameters):
    """Who attacks the newest release, knowing what, and how."""

    scenario: str = Field("prosecutor", description="a kind of intruder")
    known: list[str] | None = Field(
        None, description="columns that are known; as the scenario says if not given"
    )
    attacks: list[str] | None = Field(None, description="attacks to run; all if not given")
    seed: Seed = Field(1, description="everything random follows from it")


class EvidenceParameters(CompareParameters, AttackParameters):
    """Losses and attacks together, with their report."""


PathText = Annotated[str, Field(min_length=1, max_length=4096)]


class RegisterParameters(Parameters):
    """The register that the newest release is judged with."""

    folder: PathText = Field(description="full path of the folder of the register")
    key_file: PathText = Field(description="full path of the file with its key")
    person: str | None = Field(None, description="column that identifies people; the policy's if not given")


class EntryParameters(RegisterParameters):
    """What is entered about the newest release besides what it is."""

    audience: str = Field("", max_length=200, description="for whom it was published")


class FrontierParameters(Parameters):
    """What is swept over the policy: requirements and methods."""

    k: list[Annotated[int, Field(ge=1, le=10**9)]] | None = Field(None, description="sizes of classes")
    l: list[Annotated[int, Field(ge=1, le=10**9)]] | None = Field(  # noqa: E741
        None, description="distinct l-diversity of every sensitive attribute"
    )
    t: list[Share] | None = Field(None, description="t-closeness of every sensitive attribute")
    methods: list[Method] | None = Field(None, description="how to search; as the policy says if not given")


class FamiliesParameters(Parameters):
    """How many people may be found at most in what is compared of each family."""

    exposure: Annotated[float, Field(gt=0, lt=1)] = Field(0.05, description="share of people found, at most")


AmountText = Annotated[str, Field(min_length=1, max_length=60)]
"""An amount of privacy loss as text, since it is exact: ``0.5``, ``1/3``, ``1e-6``."""
KeyValue = str | int | float | bool | None


class GuaranteeParameters(Parameters):
    """What a release with a guarantee costs, whom it protects, and what is known without the data."""

    epsilon: AmountText = Field(description="what it costs")
    delta: AmountText | None = Field(None, description="with which probability the guarantee may fail")
    person: str | None = Field(None, description="column that says which rows belong to one person")
    unit: Literal["person", "record"] | None = Field(None, description="`record`: each row is somebody else")
    max_rows: Annotated[int, Field(ge=1, le=1000)] = Field(1, description="so many rows of a person count")
    bounds: dict[str, tuple[float, float]] = Field(
        default_factory=dict, description="between what numbers lie"
    )
    keys: dict[str, list[KeyValue]] = Field(default_factory=dict, description="the values of a column")

    def terms(self) -> dict[str, Any]:
        """What was given, by the names of the library."""
        return {name: getattr(self, name) for name in type(self).model_fields if name != "question"}


class AnswerParameters(GuaranteeParameters):
    """What answers with noise need besides."""

    max_groups: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        1, description="in so many groups does a person count"
    )
    mechanism: Literal["laplace", "gaussian", "bounded-laplace"] = Field(
        "laplace", description="which noise figures get"
    )
    most_rows: Annotated[int, Field(ge=1, le=2_000_000_000)] | None = Field(
        None, description="with `bounded-laplace`: so many rows has a group at most, known without the data"
    )
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = Field(
        0.95, description="how often the interval holds the true figure"
    )


class AskParameters(AnswerParameters):
    """A question, answered with noise and paid for from the table's budget."""

    question: Annotated[str, Field(min_length=1, max_length=10_000)] = Field(
        description="e.g. `select sex, count(*) from data group by sex`"
    )


class AskKpisParameters(AnswerParameters):
    """Key figures of the policy, answered with noise and paid for from the table's budget; they share the amount."""

    names: list[str] | None = Field(None, description="which KPIs; all of the policy if not given")


class TabulateParameters(GuaranteeParameters):
    """Tables of counts with noise that agree, paid for from the table's budget."""

    tables: list[list[str]] | None = Field(None, description="the columns of each table")
    ways: Annotated[int, Field(ge=1, le=6)] | None = Field(
        None, description="instead of `tables`: all of so many columns"
    )
    columns: list[str] | None = Field(None, description="with `ways`: of which columns")
    bins: Annotated[int, Field(ge=1, le=10_000)] = Field(20, description="bins of numbers, at most")
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = Field(
        0.95, description="how often the interval holds the true count"
    )


class SpendingParameters(Parameters):
    """What a form of the page spends an amount on: columns by their places in the table, and what is known of them without it."""

    product: Literal["tables", "artificial", "answer", "classifier"]
    epsilon: AmountText
    delta: AmountText | None = None
    columns: list[int] = Field(default_factory=list)
    max_rows: Annotated[int, Field(ge=1, le=1000)] = 1
    per_person: bool = False
    figure: AskedFigure = "rows"
    of: int | None = None
    only: Annotated[str, Field(max_length=2000)] = ""
    max_groups: Annotated[int, Field(ge=1, le=1000)] = 1
    label: int | None = None
    learner: Learner = "naive-bayes"
    low: dict[int, float] = Field(default_factory=dict)
    high: dict[int, float] = Field(default_factory=dict)
    values: dict[int, str] = Field(default_factory=dict)


class SynthesizeParameters(GuaranteeParameters):
    """Artificial people with a guarantee, paid for from the table's budget."""

    columns: list[str] | None = Field(None, description="which columns they have; all if not given")
    bins: Annotated[int, Field(ge=1, le=10_000)] = Field(100, description="bins of numbers, at most")
    method: Literal["mst", "aim", "privbayes", "table", "pca"] = Field(
        "mst", description="which tables are measured"
    )
    per_person: bool = Field(
        False, description="one row per person: commonest values, mean numbers, number of rows"
    )
    find_bounds: list[str] = Field(
        default_factory=list, description="columns whose bounds nobody knows: found in the data, and paid for"
    )


class LearnParameters(GuaranteeParameters):
    """A classifier with a guarantee, paid for from the table's budget."""

    label: str = Field(description="the column that is predicted")
    columns: list[str] | None = Field(None, description="from which columns; all others if not given")
    learner: Learner = Field("naive-bayes", description="logistic regression needs a delta")
    bins: Annotated[int, Field(ge=1, le=10_000)] = Field(20, description="bins of numbers, at most")


class SafePubParameters(Parameters):
    """Truthful records with a guarantee, paid for from the table's budget."""

    epsilon: AmountText = Field(description="what they cost")
    delta: AmountText = Field(description="with which probability the guarantee may fail")
    levels: dict[str, Annotated[int, Field(ge=0, le=100)]] = Field(
        default_factory=dict, description="columns that are released, and their levels"
    )
    hierarchies: dict[str, Annotated[list[list[str]], Field(min_length=1, max_length=100_000)]] = Field(
        default_factory=dict, description="of columns: for each value a row with it and its ancestors"
    )
    degree: Literal["low", "low-medium", "medium", "medium-high", "high"] | None = Field(
        None, description="how far columns with a hierarchy and no level are generalised"
    )
    search_epsilon: AmountText | None = Field(None, description="what of ε a search for levels takes")
    score: Literal[
        "granularity", "intensity", "group-size", "classification", "discernibility", "entropy"
    ] = Field("granularity", description="by what the search chooses")
    target: str | None = Field(None, description="for `classification`: the column that is predicted")
    steps: Annotated[int, Field(ge=1, le=1000)] = Field(10, description="so many choices the search makes")


class JudgeBasketsParameters(Parameters):
    """Sets of items: how they are read, and what must hold."""

    separator: Annotated[str, Field(min_length=1, max_length=1)] = Field(
        ",", description="what stands between items of a line"
    )
    basket: str | None = Field(None, description="of a table with a row per item: the column of the basket")
    item: str | None = Field(None, description="and that of the item")
    k: Annotated[int, Field(ge=1, le=10**9)] = Field(5, description="in so many baskets stands what is shown")
    m: Annotated[int, Field(ge=1, le=10)] = Field(2, description="so many items an intruder may know")
    sensitive: list[str] = Field(default_factory=list, description="items that nobody may guess too surely")
    rho: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="of the baskets with any known items at most this share holds a given sensitive one"
    )


class ReleaseBasketsParameters(Parameters):
    """How items are hidden; what must hold is what the baskets were judged by."""

    method: BasketMethod = Field("auto", description="how items are hidden")


class JudgeTablesParameters(Parameters):
    """Several tables about the same people: whose table it is, and what an intruder knows."""

    people: str | None = Field(None, description="the table with a row for each person; found if not given")
    profile: str | None = Field(None, description="the rules; those of the people's table if not given")
    known_events: Annotated[int, Field(ge=0, le=100)] | Literal["all"] = Field(
        "all", description="so many rows of the other tables an intruder knows of a person"
    )


class ReleaseTablesParameters(Parameters):
    """How the tables are written; what must hold is what they were judged by."""

    format: Literal["csv", "parquet"] = Field("csv", description="what files are written")


class BucketizeParameters(Parameters):
    """Two tables: quasi-identifiers as they are, and one sensitive attribute by buckets that meet the policy."""

    sensitive: str | None = Field(None, description="which attribute; the only one if not given")
    column: Annotated[str, Field(min_length=1)] = Field(
        "bucket", description="the name of the buckets' column"
    )
    method: BucketMethod | None = Field(
        None, description="how buckets are formed; the first that meets the policy if not given"
    )


class FragmentParameters(Parameters):
    """Columns in several tables, none of which shows what must not be seen together."""

    fragments: Annotated[int, Field(ge=2, le=100)] = Field(2, description="how many tables")
    target: str | None = Field(None, description="the column that recipients predict: it stands in every one")
    common: list[str] = Field(default_factory=list, description="columns that stand in every one")
    confidential: list[Annotated[list[str], Field(min_length=1)]] = Field(
        default_factory=list, description="sets of columns that no fragment shows together"
    )
    loose: Annotated[int, Field(ge=2)] | None = Field(
        None, description="tie fragments by groups of at least so many records"
    )
    column: Annotated[str, Field(min_length=1)] = Field("group", description="the name of the groups' column")
    format: Literal["csv", "parquet"] = Field("csv", description="what files are written")
