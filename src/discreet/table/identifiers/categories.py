"""Recognise a column by the categories that its values name: marital status, race, education, countries and the like."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from discreet.sentences import Sentence
from discreet.table.identifiers.lexicon import words
from discreet.table.identifiers.names import fold
from discreet.table.knowledge.classes import LEAST_STATES, place
from discreet.table.knowledge.countries import country

_PARTS: Final = re.compile(r"[^\W\d_]+")
_ORDINAL: Final = re.compile(r"\d+(?:st|nd|rd|th)\b")
_UNSPECIFIED: Final = words(
    "other others unknown unspecified missing none refused andere unbekannt sonstige keine angabe specified not available"
)
_MONEY_CLASS: Final = re.compile(r"(?:[<>]=?\s*)\$?\d+(?:[.,]\d+)?\s*[kKmM€$]\.?")


class Categories(NamedTuple):
    """Words of which one stands in nearly every value of a kind, and how many values must have one."""

    kind: str
    title: str
    words: frozenset[str]
    least: int = 2


CATEGORIES: Final = (
    Categories(
        "marital-status",
        "marital statuses",
        words(
            "married unmarried single divorced widowed separated spouse cohabiting partnership verheiratet ledig "
            "geschieden verwitwet getrennt lebenspartnerschaft"
        ),
    ),
    Categories(
        "ethnicity",
        "races or ethnic groups",
        words(
            "white black asian hispanic caucasian latino latina african africanamerican amer indian eskimo pac islander "
            "hawaiian native mixed multiracial nonhispanic span multi"
        ),
    ),
    Categories(
        "education",
        "levels of education",
        words(
            "bachelors bachelor masters master doctorate phd hs grad school college preschool nth assoc prof diploma "
            "qualification degree secondary primary tertiary graduate undergraduate abitur realschule hauptschule "
            "gymnasium hochschule universitaet university lower formal quals postgraduate acdm voc some"
        ),
        4,
    ),
    Categories(
        "occupation",
        "occupations or kinds of employment",
        words(
            "private gov government self emp employed unemployed employee worker never worked pay clerical managerial "
            "manager exec craft repair sales specialty cleaners cleaner service services serv machine op tech support "
            "transport farming fishing protective armed forces priv house technician nurse teacher engineer driver doctor "
            "retired student housewife admin management collar entrepreneur angestellt selbststaendig beamter rentner "
            "arbeitslos"
        ),
        4,
    ),
    Categories(
        "household",
        "places in a household",
        words(
            "husband wife child relative family unmarried spouse parent partner head son daughter mother father sibling "
            "ehemann ehefrau kind sohn tochter mutter vater"
        ),
        3,
    ),
    Categories(
        "opinion",
        "answers on a scale",
        words(
            "agree disagree neutral neither undecided satisfied dissatisfied likely unlikely important unimportant never rarely seldom "
            "sometimes often always stimme trifft teils zufrieden unzufrieden nie selten manchmal oft immer wichtig unwichtig"
        ),
        3,
    ),
    Categories(
        "date-part",
        "months or days of the week",
        words(
            "january february march april may june july august september october november december jan feb mar apr jun jul "
            "aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun "
            "januar februar maerz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag"
        ),
        3,
    ),
)
"""The first kind that fits best counts; an unspecified value such as "other" fits every kind."""


def categories(values: tuple[str, ...]) -> tuple[str, str, float] | None:
    """The kind that a column's distinct values are categories of, with a reason and its confidence.

    >>> categories(("Never-married", "Married-civ-spouse", "Divorced", "?"))[0]
    'marital-status'
    >>> categories(("<=50K", ">50K"))[0], categories(("Mexico", "United-States", "Peru"))[0], categories(("a", "b"))
    ('income', 'nationality', None)
    """
    if not values or len(values) > 100:
        return None
    if len(values) > 1 and all(_MONEY_CLASS.fullmatch(value) for value in values):
        return (
            "income",
            Sentence("all {values} distinct values are classes of amounts", values=len(values)),
            0.6,
        )
    named = [value for value in values if _texts(value) - _UNSPECIFIED]
    countries = sum(country(value) is not None for value in named if len(value) > 3)
    if countries >= 3 and countries >= 0.8 * len(named):
        return "nationality", f"{countries} of the {len(named)} distinct values tested are countries", 0.6
    states = sum(place("us-state", value) is not None for value in named)
    if states >= LEAST_STATES and states >= 0.8 * len(named):
        title = Sentence("states of the United States")
        said = "{hits} of the {named} distinct values tested are {title}"
        return "region", Sentence(said, hits=states, named=len(named), title=title), 0.6
    best: tuple[float, Categories, int] | None = None
    for kind in CATEGORIES:
        hits = sum(not kind.words.isdisjoint(_texts(value)) for value in named)
        share = hits / len(named) if named else 0.0
        if hits >= kind.least and share >= 0.75 and (best is None or share > best[0]):
            best = share, kind, hits
    if best is None:
        return None
    _, kind, hits = best
    return (
        kind.kind,
        Sentence(
            "{hits} of the {named} distinct values tested are {title}",
            hits=hits,
            named=len(named),
            title=Sentence(kind.title),
        ),
        0.6,
    )


def _texts(value: str) -> set[str]:
    plain = _ORDINAL.sub(" nth ", fold(value))
    return {part.lower() for part in _PARTS.findall(plain)}
