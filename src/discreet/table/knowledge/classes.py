"""What values of well-known kinds belong to: levels of education, marital statuses, months, diseases, postcodes."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any

from discreet.table.knowledge.countries import country

ICD_9 = re.compile(r"(?:\d{3}|V\d{2}|E\d{3})(?:\.\d{1,2})?|\d{1,3}(?:\.\d{1,2})?")
ICD_10 = re.compile(r"[A-Z]\d[0-9AB](?:\.[0-9A-Z]{1,4}[*+!-]?)?")
BRITISH = re.compile(r"([A-Z]{1,2})(\d[A-Z\d]?) (\d)([A-Z]{2})")
LEAST_STATES = 10
"""So many values must be states of the United States: two letters are also provinces of other countries."""
ENDS = re.compile(r"[.\s]+\Z")

Parents = tuple[str, ...]
"""The groups that a value belongs to, from fine to coarse."""


def source(name: str) -> str:
    """Where a classification comes from."""
    return str(_classes()[name]["source"])


def place_in_the_world(value: str) -> Parents | None:
    """Region and continent of a country.

    >>> place_in_the_world("Mexico")
    ('Central America', 'Americas')
    """
    place = country(value)
    return None if place is None else (place.region, place.continent)


def group(kind: str, value: str) -> Parents | None:
    """The group of a level of education, a marital status, a month or a day of the week, and the group above if there is one.

    >>> group("education", "HS-grad"), group("marital-status", "Divorced"), group("education", "blue")
    (('upper secondary school', 'secondary school or vocational'), ('formerly married', 'without spouse'), None)
    >>> group("month", "Feb"), group("weekday", "Saturday")
    (('January to March', 'January to June'), ('Saturday or Sunday',))
    """
    at = place(kind, value)
    return None if at is None else _groups(kind)[at][1]


def place(kind: str, value: str) -> int | None:
    """The number of the first expression of a list that fits a value: months and days of the week ascend.

    >>> sorted(["Okt.", "May", "January"], key=lambda month: place("month", month)), place("weekday", "never")
    (['January', 'May', 'Okt.'], None)
    """
    text = ENDS.sub("", value.strip())
    return next((n for n, (pattern, _) in enumerate(_groups(kind)) if pattern.fullmatch(text)), None)


def rank(kind: str, value: str) -> tuple[int, int] | None:
    """Where a level of education stands among all, from the least on: by its group, then by the grade it names.

    >>> sorted(["Masters", "HS-grad", "10th", "1st-4th", "9th"], key=lambda level: rank("education", level))
    ['1st-4th', '9th', '10th', 'HS-grad', 'Masters']
    """
    number = place(kind, value)
    if number is None:
        return None
    grade = re.match(r"\d+", value.strip())
    return -number, int(grade.group()) if grade else 0


def disease(edition: str, value: str) -> Parents | None:
    """Category, block and chapter of a code of the International Classification of Diseases.

    >>> disease("icd-9", "250.83")
    ('250', '249-259', '240-279 endocrine, nutritional, metabolic and immunity disorders')
    >>> disease("icd-10", "E11.9"), disease("icd-9", "V27")[-1], disease("icd-10", "250")
    (('E11', 'E10-E14', 'E00-E90 endocrine, nutritional and metabolic diseases'), 'V01-V91 supplementary factors', None)
    """
    if not (ICD_9 if edition == "icd-9" else ICD_10).fullmatch(value):
        return None
    category = value.split(".")[0]
    if category.isdecimal():
        category = category.zfill(3)
    classes = _classes()[edition]
    chapter = _span(category, classes["chapters"])
    if chapter is None:
        return None
    block = _span(category, classes["blocks"])
    return (category, block or chapter, chapter)


def british_postcode(value: str) -> Parents | None:
    """Sector, district and area of a British postcode.

    >>> british_postcode("SW1A 2AA")
    ('SW1A 2**', 'SW1A ***', 'SW*')
    """
    match = BRITISH.fullmatch(value)
    if match is None:
        return None
    area, district, sector, _ = match.groups()
    return f"{area}{district} {sector}**", f"{area}{district} ***", f"{area}*"


def _span(category: str, spans: list[str]) -> str | None:
    """The span of codes that a category lies in; letters and digits compare as they are written."""
    for span in spans:
        first, last = span.split(" ")[0].split("-")
        if len(first) == len(category) and first <= category <= last:
            return span
    return None


@cache
def _classes() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("classes.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _groups(kind: str) -> list[tuple[re.Pattern[str], Parents]]:
    """For each expression of a list, in order, the groups of what it fits."""
    return [
        (re.compile(pattern, re.IGNORECASE), tuple(entry[key] for key in ("label", "above") if key in entry))
        for entry in _classes()[kind]["group"]
        for pattern in entry["values"]
    ]
