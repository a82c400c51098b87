"""Profiles: by whose standard a release is judged. Data files with source and date; a user's own beside them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import PlainValidator, ValidationError, model_validator

from discreet.errors import DiscreetError, InvalidPolicy, UnreadableInput
from discreet.files.documents import parse_toml
from discreet.files.reading import read_text
from discreet.policy.file import make_requirement
from discreet.policy.guarantee import DifferentialPrivacy
from discreet.policy.problems import explain, placed
from discreet.policy.settings import Strict
from discreet.risk.titles import Graded
from discreet.sentences import Sentence

RuleId = Literal[
    "no-direct-identifiers", "nothing-unexamined", "hipaa-identifiers", "hipaa-zip3", "hipaa-ages"
]


def exact(value: object) -> Fraction:
    """A bound as it is written, a decimal or a fraction, and not the binary number next to it.

    >>> exact(0.09), exact("1/11"), exact(0.09090909) < exact("1/11")
    (Fraction(9, 100), Fraction(1, 11), True)
    """
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError('give a number or a fraction such as "1/11"') from None


class Limit(Strict):
    """A bound on a statistic of a record risk, e.g. the maximum of the prosecutor risk."""

    risk: Literal["prosecutor", Graded]
    statistic: Literal["max", "mean"] = "max"
    at_most: Annotated[Fraction, PlainValidator(exact)]
    source: str = ""

    @model_validator(mode="after")
    def _can_be_met(self) -> Self:
        if self.risk == "prosecutor" and self.at_most <= 0:
            raise ValueError("no class is so large that its prosecutor risk is 0: at_most must be above 0")
        return self

    def describe(self) -> str:
        """The bound in words, the number as it was written.

        >>> Limit(risk="prosecutor", at_most="1/11").describe()
        'the largest prosecutor risk is at most 1/11'
        >>> Limit(risk="uniqueness", statistic="mean", at_most=0.0909).describe()
        'the mean uniqueness risk is at most 0.0909'
        """
        word = "largest" if self.statistic == "max" else "mean"
        decimal = Decimal(self.at_most.numerator) / Decimal(self.at_most.denominator)
        number = f"{decimal.normalize():f}" if Fraction(decimal) == self.at_most else str(self.at_most)
        return Sentence(
            f"the {word} {{risk}} risk is at most {{limit}}", risk=Sentence(self.risk), limit=number
        )


class Extended(Strict):
    """Where the extended risks change from low to medium and from medium to high, and which of them decide."""

    risks: tuple[Graded, ...] = ("uniqueness", "uniformity", "correlation")
    low: float = 0.33
    medium: float = 0.66
    source: str = ""


class _ProfileFile(Strict):
    title: str
    description: str
    source: str
    date: date
    rules: tuple[RuleId, ...] = ()
    require: tuple[dict[str, object], ...] = ()
    limit: tuple[Limit, ...] = ()
    extended: Extended | None = None


@dataclass(frozen=True)
class ProfileRequirement:
    """A privacy model that a profile asks for; ``sensitive = "*"`` means each sensitive attribute."""

    entry: dict[str, object]
    source: str


@dataclass(frozen=True)
class Profile:
    """A standard of judgement with its source and date."""

    id: str
    title: str
    description: str
    source: str
    date: date
    requirements: tuple[ProfileRequirement, ...]
    limits: tuple[Limit, ...]
    extended: Extended | None
    rules: tuple[RuleId, ...]
    guarantees: tuple[tuple[DifferentialPrivacy, str], ...] = ()
    """What is asked of how a release was made, each with its source."""

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "source": self.source,
            "date": self.date.isoformat(),
        }


@cache
def profile_names() -> tuple[str, ...]:
    """The profiles that come with discreet.

    >>> "open-data" in profile_names()
    True
    """
    folder = resources.files("discreet.release") / "profiles"
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


@cache
def profile_titles() -> tuple[tuple[str, str], ...]:
    """The profiles that come with discreet, and what they are called.

    >>> ("open-data", "Open data") in profile_titles()
    True
    """
    return tuple((name, load_profile(name).title) for name in profile_names())


def load_profile(name: str) -> Profile:
    """A profile by its name, or from a file of one's own (a path that ends in ``.toml``).

    >>> load_profile("scorr").date.isoformat()
    '2025-04-22'
    """
    if name.endswith(".toml"):
        path = Path(name)
        try:
            text = read_text(path, "profile", remedy="it must be a UTF-8 TOML file beside the policy")
        except UnreadableInput as error:
            raise InvalidPolicy([error.message], remedy=error.remedy) from None
        identifier = path.stem
    elif name in profile_names():
        text = (resources.files("discreet.release") / "profiles" / f"{name}.toml").read_text(encoding="utf-8")
        identifier = name
    else:
        raise InvalidPolicy(
            [Sentence("there is no profile {name!r}", name=name)],
            remedy=Sentence(
                "profiles are: {names}; or name a .toml file of your own", names=tuple(profile_names())
            ),
        )
    return _parse(identifier, text, f"{identifier}.toml")


@lru_cache(maxsize=64)
def _parse(identifier: str, text: str, name: str) -> Profile:
    remedy = "see the reference of profiles in the documentation, or start from `discreet profiles`"
    shown = Sentence("the profile {name}", name=name)
    try:
        parsed = _ProfileFile.model_validate(parse_toml(text))
    except ValidationError as error:
        raise InvalidPolicy(explain(text, shown, error), remedy=remedy) from None
    except ValueError as error:
        raise InvalidPolicy(
            [Sentence("the profile {name} is not valid TOML: {error}", name=name, error=error)], remedy=remedy
        ) from None
    requirements, guarantees, problems = [], [], []
    for entry in parsed.require:
        model = {key: value for key, value in entry.items() if key != "source"}
        source = str(entry.get("source", parsed.source))
        try:
            asked = make_requirement(model)
        except DiscreetError as error:
            problems.append(placed("", shown, (), error))
            continue
        if isinstance(asked, DifferentialPrivacy):
            guarantees.append((asked, source))
        else:
            requirements.append(ProfileRequirement(model, source))
    if problems:
        raise InvalidPolicy(problems, remedy=remedy)
    return Profile(
        id=identifier,
        title=parsed.title,
        description=parsed.description,
        source=parsed.source,
        date=parsed.date,
        requirements=tuple(requirements),
        limits=parsed.limit,
        extended=parsed.extended,
        rules=parsed.rules,
        guarantees=tuple(guarantees),
    )
