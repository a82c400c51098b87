"""What each kind of job may be told: the same settings as on the command line, checked before anything starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discreet.errors import InvalidParameter
from discreet.policy.plan import Method, Plan
from discreet.reports.words import Edition

Format = Literal["csv", "xlsx", "parquet", "tsv", "arrow"]
FORMATS: tuple[Format, ...] = get_args(Format)
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


class Parameters(BaseModel):
    """No setting that is not known, so that a slip of the pen is told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def checked(cls, given: Mapping[str, object]) -> Self:
        """The parameters that were given, or an error that names the first that does not make sense.

        >>> AuditParameters.checked({"detail": "core"}).detail
        'core'
        """
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise InvalidParameter(
                f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}",
                remedy="see the reference of the interface",
            ) from None


class ReadParameters(Parameters):
    """How the file is read; what is not given is found out. ``suggest`` false keeps the present policy."""

    delimiter: str | None = Field(None, description="field separator of a text file")
    quote: str | None = Field(None, description="quote character of a text file")
    encoding: str | None = Field(None, description="encoding of a text file, e.g. `cp1252`")
    header: bool | None = Field(None, description="whether the first line holds the column names")
    names: list[str] | None = Field(None, description="column names")
    decimal: Literal[".", ","] | None = Field(None, description="decimal mark")
    missing: list[str] = Field(default_factory=list, description="texts to read as null")
    sheet: str | None = Field(None, description="sheet of a spreadsheet")
    suggest: bool = Field(True, description="suggest roles anew; false keeps the present policy")

    def options(self) -> dict[str, object]:
        """What was given, as the ``[read]`` part of a policy."""
        given = self.model_dump(exclude={"suggest"})
        return {key: value for key, value in given.items() if value not in (None, [])}


class AuditParameters(Parameters):
    """How thorough an audit is."""

    detail: Literal["full", "core"] = Field("full", description="`core` leaves out exposing combinations")


class ValuesParameters(Parameters):
    """Of which columns the values are counted, so that hierarchies for them can be looked at."""

    columns: list[str] | None = Field(None, description="their names; all quasi-identifiers if not given")


class ReportParameters(AuditParameters):
    """The report of an audit, for whom it is drawn."""

    edition: Edition = Field("internal", description="`public` shows no value and no count of a few people")


class PlanParameters(Parameters):
    """How to anonymise; what is not given is as the policy says."""

    method: Method | None = Field(None, description="how to search")
    objective: str | None = Field(None, description="what to lose least of")
    suppression_limit: Share | None = Field(None, description="largest share of records to suppress")
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = Field(
        None, description="how much attributes matter"
    )
    keep: list[str] | None = Field(None, description="quasi-identifiers that must stay as they are")
    suppressed: Literal["drop", "star"] | None = Field(None, description="what becomes of suppressed records")
    person: Literal["pseudonymise", "drop"] | None = Field(None, description="what becomes of person ids")
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="time limit of searches that can stop"
    )
    label: str | None = Field(None, description="attribute that the objective `classification` predicts")
    sample: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = Field(
        None, description="share of rows drawn first"
    )
    seed: Seed | None = Field(None, description="which rows are drawn")

    def plan(self, written: Plan) -> Plan:
        """The policy's plan with what was given instead."""
        fields = {one.name for one in dataclasses.fields(Plan)}
        given = {
            key: value for key, value in self.model_dump().items() if key in fields and value is not None
        }
        if "keep" in given:
            given["keep"] = tuple(given["keep"])
        return dataclasses.replace(written, **given)


class AnonymizeParameters(PlanParameters):
    """How to anonymise and how to write the release."""

    format: Format = Field("csv", description="format of the release")


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


class FrontierParameters(Parameters):
    """What is swept over the policy: requirements and methods."""

    k: list[Annotated[int, Field(ge=1, le=10**9)]] | None = Field(None, description="sizes of classes")
    l: list[Annotated[int, Field(ge=1, le=10**9)]] | None = Field(  # noqa: E741
        None, description="distinct l-diversity of every sensitive attribute"
    )
    t: list[Share] | None = Field(None, description="t-closeness of every sensitive attribute")
    methods: list[Method] | None = Field(None, description="how to search; as the policy says if not given")
