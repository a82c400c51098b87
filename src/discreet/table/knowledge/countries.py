"""Countries, their regions and continents."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import NamedTuple

SIGNS = re.compile(r"[^\w]+")


class Country(NamedTuple):
    """A country with the region and the continent that it lies in."""

    name: str
    region: str
    continent: str


def plain_name(text: str) -> str:
    """A name without case and signs, so that spellings compare equal.

    >>> plain_name("United-States"), plain_name("Trinadad&Tobago")
    ('unitedstates', 'trinadadtobago')
    """
    return SIGNS.sub("", text.casefold())


def country(text: str) -> Country | None:
    """The country that a name or a code of ISO 3166 means.

    >>> country("Holand-Netherlands"), country("PER"), country("nowhere")
    (Country(name='Netherlands', region='Western Europe', continent='Europe'), Country(name='Peru', region='South America', continent='Americas'), None)
    """
    return _countries().get(plain_name(text))


@cache
def _countries() -> dict[str, Country]:
    text = resources.files(__package__).joinpath("countries.toml").read_text(encoding="utf-8")
    known = {}
    for region in tomllib.loads(text)["region"]:
        for written in region["countries"]:
            two, three, name, *others = written.split("|")
            for spelling in (two, three, name, *others):
                known[plain_name(spelling)] = Country(name, region["name"], region["continent"])
    return known
