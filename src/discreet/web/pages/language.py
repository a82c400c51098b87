"""The words of the page in the language that the browser prefers: English ones here, others from their language's file."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from starlette.requests import Request

from discreet.reports.phrasebook import OWN, languages, page_words, phrasebook

COOKIE = "discreet-language"


@dataclass(frozen=True)
class Text:
    """The page's words in one language."""

    language: str
    words: Mapping[str, str] = field(repr=False)

    def __call__(self, key: str, **values: object) -> str:
        """The words of a key, with values put in.

        >>> Text("en", {"file.rows": "{rows} rows"})("file.rows", rows=3)
        '3 rows'
        """
        return self.words[key].format(**values)


@cache
def text(language: str) -> Text:
    """Every word of the page in a language; what its file lacks stays English."""
    raw = (resources.files("discreet.web.pages") / "text" / f"{OWN}.toml").read_text("utf-8")
    english = dict(_flat("", tomllib.loads(raw)))
    return Text(language, english if language == OWN else {**english, **own_words(language)})


def own_words(language: str) -> dict[str, str]:
    """The words of the page that a language's own file has."""
    return dict(_flat("", page_words(language)))


def _flat(prefix: str, table: Mapping[str, object]) -> list[tuple[str, str]]:
    words: list[tuple[str, str]] = []
    for key, value in table.items():
        words += (
            _flat(f"{prefix}{key}.", value) if isinstance(value, Mapping) else [(prefix + key, str(value))]
        )
    return words


def translate(text: str, language: str, names: Collection[str] = ()) -> str | None:
    """What the core says, in a language; ``None`` if the phrasebook has no words for it.

    >>> translate("Do not release this table.", "de")
    'Diese Tabelle nicht veröffentlichen.'
    """
    book = phrasebook(language)
    return text if book is None else book.translate(text, names)


def language_of(request: Request) -> str:
    """The language that was asked for in the address, chosen before, or preferred by the browser."""
    for wanted in (request.query_params.get("lang"), request.cookies.get(COOKIE)):
        if wanted in languages():
            return wanted
    return preferred(request.headers.get("accept-language", ""))


def preferred(header: str) -> str:
    """The first known language of an Accept-Language header, by weight.

    >>> preferred("de-AT,de;q=0.9,en;q=0.8"), preferred("fr, en;q=0.5, de;q=0.7"), preferred("fr"), preferred("")
    ('de', 'de', 'en', 'en')
    """
    ranked = []
    for place, part in enumerate(header.split(",")):
        tag, _, weight = part.strip().partition(";q=")
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            quality = 0.0
        ranked.append((-quality, place, tag.split("-")[0].lower()))
    return next((tag for _, _, tag in sorted(ranked) if tag in languages()), OWN)
