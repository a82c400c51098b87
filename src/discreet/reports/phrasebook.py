"""Sentences of the core in another language, by their templates.

A language is one TOML file ``phrases/<tag>.toml``, or a folder ``phrases/<tag>`` of such files, which are read as one.
Its table ``language`` says how it is called, how it writes numbers and what joins the last of several names; the tables
below ``page`` hold the words of the page, by their keys. Each line of all others has on the left the template of a
sentence (`discreet.sentences`) as it stands where the sentence is made, and on the right its translation, with the same
places in its own order; a format is repeated only where it differs. Nothing is recognised by its words: a text that is
made of parts is a sentence with places, or it stays English.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from importlib import resources
from importlib.resources.abc import Traversable
from math import ceil
from typing import Any

from discreet.errors import unknown
from discreet.reports.charts.svg import FONT, SAID, width_of
from discreet.sentences import Parameter, Sentence, fill, joined, loads, places

_NUMBER = re.compile(r"[−+±~-]? ?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?%?")
_LETTER = re.compile(r"[^\W\d_]")
OWN = "en"
"""The language that the core itself speaks; its words of the page are the page's own."""
FOLDER = "phrases"
LANGUAGE, PAGE = "language", "page"
"""Tables that hold no sentences: what the language is like, and the words of the page."""

_WORDS_OF_A_DRAWING = re.compile(
    rf'(<(?:text|p class="panel")(?:(?! {SAID})[^>])*)(?: {SAID}="([^"]*)")?([^>]*>)([^<]+)(?=</(?:text|p)>)'
)
_BOX = re.compile(
    r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)"(?: width="(\d+)")?(?: style="min-width:(\d+)px;max-width:(\d+)px")?'
)
_WIDTH = 7.5
"""About the width of a letter in a drawing, in its own units."""
_ASLANT = 0.77
"""How much of the length of a head that stands aslant counts to the right, and at most as much upwards."""


@dataclass(frozen=True)
class Language:
    """What a language calls itself, the marks of its numbers, and the word before the last of several names."""

    name: str
    decimal: str = ","
    thousands: str = "."
    percent: str = "\N{NO-BREAK SPACE}%"
    conjunction: str = "and"


class Phrasebook:
    """Translations of sentences, found by their templates.

    >>> german = Language("Deutsch", conjunction="und")
    >>> book = Phrasebook({"{share:.1%} of {columns:and} is lost.": "Von {columns} fehlen {share}."}, german)
    >>> lost = Sentence("{share:.1%} of {columns:and} is lost.", share=0.5, columns=("age", "pay_1.5"))
    >>> book.translate(lost)
    'Von age und pay_1.5 fehlen 50,0\\xa0%.'
    >>> book.translate("4,000"), book.translate("Something else.") is None
    ('4.000', True)
    """

    def __init__(self, phrases: Mapping[str, str], language: Language | None = None) -> None:
        self.phrases = dict(phrases)
        self._language = language or Language("")

    def translate(self, text: str, names: Collection[str] = ()) -> str | None:
        """The translation, or ``None`` where there is none. ``names`` of columns are never translated."""
        if isinstance(text, Sentence) and text.parameters:
            return self._said(text, names)
        if text in names:
            return text
        said = self.phrases.get(text)
        if said is None and _NUMBER.fullmatch(text):
            return self._number(text)
        # What has no letters, such as 3–4, is the same in every language.
        return text if said is None and not _LETTER.search(text) else said

    def _said(self, sentence: Sentence, names: Collection[str]) -> str | None:
        """A sentence by its template; one without words of its own, such as ``{count} ({share})``, is its own."""
        template = sentence.template
        said = self.phrases.get(template)
        if said is None and not _LETTER.search(fill(template, lambda name, form: "")):
            said = template
        formats = places(template)
        parts = {
            name: self._parameter(value, formats.get(name, ""), names)
            for name, value in sentence.parameters.items()
        }
        if said is None or None in parts.values():
            return None

        def part(name: str, form: str | None) -> str:
            own = self._parameter(sentence.parameters[name], form, names) if form else None
            return own or str(parts[name])

        return fill(said, part)

    def _parameter(self, value: Parameter, form: str, names: Collection[str]) -> str | None:
        """What stands in a place: a number as the language prints it, a name as it is, a sentence said."""
        if isinstance(value, Sentence):
            return self.translate(value, names)
        if isinstance(value, str):
            # A number that was printed before, such as 12.5%; a name may look like one.
            return self._number(value) if value not in names and _NUMBER.fullmatch(value) else value
        if isinstance(value, tuple):
            parts = [self._parameter(part, "", names) for part in value]
            known = tuple(part for part in parts if part is not None)
            return joined(known, form, self._language.conjunction) if len(known) == len(parts) else None
        return self._number(format(value, form))

    def _number(self, text: str) -> str:
        """A number as the language writes it: 1.234,5 %."""
        own = self._language
        marks = {",": own.thousands, ".": own.decimal, "%": own.percent}
        return "".join(marks.get(sign, sign) for sign in text)


@cache
def languages() -> dict[str, Language]:
    """What reports and the page speak, by its tag; the first is the one that the core itself speaks."""
    others = sorted(place.name.removesuffix(".toml") for place in _folder().iterdir())
    spoken = {tag: _tables(tag).get(LANGUAGE) for tag in others}
    return {
        OWN: Language("English", ".", ",", "%"),
        **{tag: Language(**{"name": tag, **given}) for tag, given in spoken.items() if given},
    }


@cache
def phrasebook(language: str) -> Phrasebook | None:
    """The phrasebook of a language; ``None`` for English, which the core itself speaks."""
    if language == OWN:
        return None
    if language not in languages():
        raise unknown("language", language, languages())
    return Phrasebook({text: said for _, text, said in pairs(language)}, languages()[language])


def pairs(language: str) -> list[tuple[str, str, str]]:
    """Every line of a phrasebook: its table, the English sentence and its translation."""
    return [
        (table, text, said)
        for table, phrases in _tables(language).items()
        if table not in (LANGUAGE, PAGE)
        for text, said in phrases.items()
    ]


def page_words(language: str) -> dict[str, Any]:
    """The words of the page in a language, as its file has them."""
    return dict(_tables(language).get(PAGE, {}))


def _folder() -> Traversable:
    return resources.files("discreet.reports") / FOLDER


def _tables(language: str) -> dict[str, dict[str, Any]]:
    """All tables of a language, of its file or of the files of its folder; parts of a table may stand in several."""
    whole = _folder() / f"{language}.toml"
    files = (
        [whole] if whole.is_file() else sorted((_folder() / language).iterdir(), key=lambda file: file.name)
    )
    tables: dict[str, dict[str, Any]] = {}
    for file in files:
        for table, lines in tomllib.loads(file.read_text("utf-8")).items():
            tables.setdefault(table, {}).update(lines)
    return tables


def translate_drawing(svg: str, book: Phrasebook | None, names: Collection[str] = ()) -> str:
    """A drawing with its words translated; where they have become longer, there is more room at its left.

    Heads that stand aslant above columns grow to the right and upwards. Without a book its words stay.

    >>> book = Phrasebook({"low": "niedrig"})
    >>> translate_drawing('<svg viewBox="0 0 9 4"><text text-anchor="end">low</text></svg>', book)
    '<svg viewBox="-30 0 39 4"><text text-anchor="end">niedrig</text></svg>'
    """
    longer = aslant = 0.0

    def words(match: re.Match[str]) -> str:
        nonlocal longer, aslant
        old = _drawn_words(match)
        new = old if book is None else book.translate(old, names)
        look = match[1] + match[3]
        if new is None:
            return look + match[4]
        if 'text-anchor="end"' in look:
            longer = max(longer, _growth(old, new))
        elif "rotate(-" in look:
            aslant = max(aslant, _growth(old, new))
        return look + escape(new)

    said = _WORDS_OF_A_DRAWING.sub(words, svg)
    left, more = round(longer), round(aslant * _ASLANT)
    return _BOX.sub(lambda box: _wider(box, left, more), said) if left or more else said


def _growth(old: str, new: str) -> float:
    """How much wider words have become: by how many letters they are, and by how wide these are.

    >>> _growth("low", "niedrig"), round(_growth("all together", "alle zusammen"))
    (30.0, 31)
    """
    return max((len(new) - len(old)) * _WIDTH, 1.08 * (width_of(new, FONT) - width_of(old, FONT)))


def words_of(svg: str) -> Iterator[str]:
    """The words of a drawing, those with places as sentences."""
    yield from map(_drawn_words, _WORDS_OF_A_DRAWING.finditer(svg))


def _drawn_words(match: re.Match[str]) -> str:
    sentence: str = loads(unescape(match[2])) if match[2] else unescape(match[4])
    return sentence


def _wider(box: re.Match[str], left: int, more: int) -> str:
    """A drawing with more room at its left, and so much at its right and its top."""
    wide = float(box[1]) + left + more
    # Letters stay as large as they were.
    grown = wide / float(box[1])
    width = f' width="{ceil(grown * int(box[3]))}"' if box[3] else ""
    if box[4]:
        width += f' style="min-width:{grown * int(box[4]):.0f}px;max-width:{grown * int(box[5]):.0f}px"'
    return f'<svg viewBox="{-left} {-more} {wide:g} {float(box[2]) + more:g}"{width}'
