"""Sentences of the core in another language, by their templates; what carries none is recognised by patterns.

A language is one TOML file ``phrases/<tag>.toml``, or a folder ``phrases/<tag>`` of such files, which are read as one.
Its table ``language`` says how it is called and how it writes numbers; the tables below ``page`` hold the words of the
page, by their keys. Each line of all others has the English sentence on the left and its translation on the right. Places with names, such as ``{share:.1%}``, belong to a template (`discreet.sentences`): the left side is the
template as it stands where the sentence is made, and the right side has the same places in its own order; a format is
repeated only where it differs. Places with numbers belong to a pattern, by which a text that carries no template is
recognised; on the left they have a kind:

* ``{0}``    stays as it is: names of columns and files, values, identifiers;
* ``{0:n}``  a number, or words such as "under 0.1%": printed as the other language prints numbers;
* ``{0:t}``  text of the core, which is translated in turn;
* ``{0:c}``  the name of a column, or several joined by +, and nothing else;
* ``{0:l}``  names of columns in a row ("age, sex and zip"), joined as the other language joins them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from discreet.sentences import Parameter, Sentence, fill, joined, places

PLACE = re.compile(r"\{(\d+)(?::([ntlcx]))?\}")
NAMED = re.compile(r"\{[a-z]")
NUMBER = r"[−+±~-]? ?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?%?"
_LETTER = re.compile(r"[^\W\d_]")
OWN = "en"
"""The language that the core itself speaks; its words of the page are the page's own."""
FOLDER = "phrases"
LANGUAGE, PAGE = "language", "page"
"""Tables that hold no sentences: what the language is like, and the words of the page."""
MOST_SEEN = 20_000
"""So many texts are remembered with what became of them."""
FEWEST_LETTERS = 4
"""A template with fewer letters of its own, such as ``{day} {month} {year}``, would be found everywhere."""
AMOUNTS = "amounts"
"""The table of words that stand with or instead of a number; ``and`` joins the last of several names."""

_WORDS_OF_A_DRAWING = re.compile(r'(<text\b[^>]*>|<p class="panel">)([^<]+)(?=</(?:text|p)>)')
_BOX = re.compile(
    r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)"(?: width="(\d+)")?(?: style="min-width:(\d+)px;max-width:(\d+)px")?'
)
_WIDTH = 7.5
"""About the width of a letter in a drawing, in its own units."""
_ASLANT = 0.77
"""How much of the length of a head that stands aslant counts to the right, and at most as much upwards."""


@dataclass(frozen=True)
class Language:
    """What a language calls itself, and the marks of its numbers."""

    name: str
    decimal: str = ","
    thousands: str = "."
    percent: str = "\N{NO-BREAK SPACE}%"


@dataclass(frozen=True)
class Phrase:
    """One pattern: ``anchor`` is its longest fixed part, which must occur in whatever it fits."""

    pattern: re.Pattern[str]
    kinds: Mapping[str, str]
    anchor: str
    fixed: int
    translation: str


class Phrasebook:
    """Translations of sentences, found by the pattern that has most fixed letters.

    >>> book = Phrasebook({"{0:n} of records are unique.": "{0} der Datensätze sind einzigartig.",
    ...                    "{0} is kept.": "{0} bleibt."}, {"under": "unter", "and": "und"})
    >>> book.translate("under 0.1% of records are unique."), book.translate("pay_1.5 is kept.")
    ('unter 0,1\\xa0% der Datensätze sind einzigartig.', 'pay_1.5 bleibt.')
    >>> book.translate("4,000"), book.translate("Something else.") is None
    ('4.000', True)
    """

    def __init__(
        self, phrases: Mapping[str, str], amounts: Mapping[str, str], language: Language | None = None
    ) -> None:
        self._amounts = dict(amounts)
        self._language = language or Language("")
        self._seen: dict[tuple[str, frozenset[str]], str | None] = {}
        words = "|".join(sorted(map(re.escape, amounts), key=len, reverse=True))
        self._amount = re.compile(rf"(?:(?:{words}) )?{NUMBER}|{words}" if words else NUMBER)
        self.templates = {text: said for text, said in phrases.items() if NAMED.search(text)}
        rest = {text: said for text, said in phrases.items() if text not in self.templates}
        self.exact = {text: translation for text, translation in rest.items() if not PLACE.search(text)}
        # A template that was lost on the way, as in a document of JSON, is found again like any other pattern.
        lost = {
            _numbered(text): _numbered(said, text)
            for text, said in self.templates.items()
            if len(_LETTER.findall(fill(text, lambda name, form: ""))) >= FEWEST_LETTERS
        }
        patterned = {**lost, **{text: said for text, said in rest.items() if text not in self.exact}}
        patterns = [self._phrase(text, said) for text, said in patterned.items()]
        self.patterns = sorted(
            patterns, key=lambda phrase: (-phrase.fixed, list(phrase.kinds.values()).count(""))
        )

    def translate(self, text: str, names: Collection[str] = ()) -> str | None:
        """The translation, or ``None`` where there is none. ``names`` of columns are never translated."""
        if isinstance(text, Sentence):
            return self._said(text, names)
        return self._plain(text, names)

    def _plain(self, text: str, names: Collection[str]) -> str | None:
        """A text that carries no template. What has been looked for is remembered: parts of parts of a long text that
        nobody knows come up again and again."""
        known = (text, frozenset(names))
        if known not in self._seen:
            if len(self._seen) > MOST_SEEN:
                self._seen.clear()
            # Not found, as long as it is being looked for.
            self._seen[known] = None
            self._seen[known] = self._recognised(text, names)
        return self._seen[known]

    def _recognised(self, text: str, names: Collection[str]) -> str | None:
        if all(part in names for part in text.split(" + ")):
            return text
        translation = self._whole(text, names)
        if translation is None:
            translation = self._sentences(text, names)
        # What has no letters, such as 3–4, is the same in every language.
        return text if translation is None and not _LETTER.search(text) else translation

    def _said(self, sentence: Sentence, names: Collection[str]) -> str | None:
        """A sentence by its template; one without words of its own, such as ``{count} ({share})``, is its own."""
        template = sentence.template
        if not sentence.parameters:
            return self._amounts.get(template) or self._plain(str(template), names)
        said = self.templates.get(template)
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
            return self._said(value, names)
        if isinstance(value, str):
            # A number that was printed before, such as 12.5%; a name may look like one.
            return self._number(value) if value not in names and self._amount.fullmatch(value) else value
        if isinstance(value, tuple):
            parts = [self._parameter(part, "", names) for part in value]
            known = tuple(part for part in parts if part is not None)
            return joined(known, form, self._amounts.get("and", "and")) if len(known) == len(parts) else None
        return self._number(format(value, form))

    def _whole(self, text: str, names: Collection[str]) -> str | None:
        if text in self.exact:
            return self.exact[text]
        if self._amount.fullmatch(text):
            return self._number(text)
        for phrase in self.patterns:
            if phrase.anchor not in text:
                continue
            match = phrase.pattern.fullmatch(text)
            if match is None:
                continue
            parts = {
                place: self._part(match[f"p{place}"], kind, names) for place, kind in phrase.kinds.items()
            }
            known = {place: part for place, part in parts.items() if part is not None}
            if len(known) == len(parts):
                return PLACE.sub(lambda place, known=known: known[place[1]], phrase.translation)  # type: ignore[misc]
        return None

    def _sentences(self, text: str, names: Collection[str]) -> str | None:
        """Several sentences one by one, the longest known beginning first."""
        ends = [match.end() for match in re.finditer(r"[.!?](?= )", text)]
        for end in reversed(ends):
            first = self._whole(text[:end], names)
            rest = self.translate(text[end + 1 :], names) if first is not None else None
            if rest is not None:
                return f"{first} {rest}"
        return None

    def _part(self, text: str, kind: str, names: Collection[str]) -> str | None:
        if kind == "n":
            return self._number(text)
        if kind == "t":
            return self.translate(text, names)
        if kind == "x":
            return self._anything(text, names)
        if kind == "c":
            return text if all(part in names for part in text.split(" + ")) else None
        return self._joined(text, names) if kind == "l" else text

    def _anything(self, text: str, names: Collection[str]) -> str | None:
        """What stands in a place of a template: a number, names, words that are known as they are, or one word."""
        if self._amount.fullmatch(text):
            return self._number(text)
        if all(part in names for part in re.split(", | \\+ | and ", text)):
            return text
        # Not by patterns again: parts of parts of a long text would be tried without end.
        said = self.exact.get(text)
        return text if said is None and " " not in text else said

    def _joined(self, text: str, names: Collection[str]) -> str:
        """A row of names; left as it is if it cannot be told where one name ends."""
        for joint in re.finditer(" and ", text):
            head, last = text[: joint.start()], text[joint.end() :]
            more = re.fullmatch(r"([\d,]+) more", last)
            if (last in names or more) and all(name in names for name in head.split(", ")):
                tail = f"{self._number(more[1])} {self._amounts['more']}" if more else last
                return f"{head} {self._amounts['and']} {tail}"
        return text

    def _number(self, text: str) -> str:
        """A number as the language writes it: 1.234,5 %."""
        if text in self._amounts:
            return self._amounts[text]
        word, _, last = text.rpartition(" ")
        if word in self._amounts:
            return f"{self._amounts[word]} {self._number(last)}"
        own = self._language
        marks = {",": own.thousands, ".": own.decimal, "%": own.percent}
        return "".join(marks.get(sign, sign) for sign in text)

    def _phrase(self, text: str, translation: str) -> Phrase:
        pattern, kinds, fixed = "", {}, PLACE.split(text)[::3]
        for i, literal in enumerate(fixed):
            pattern += re.escape(literal)
            if i < len(fixed) - 1:
                place, kind = PLACE.split(text)[3 * i + 1 : 3 * i + 3]
                if place in kinds:
                    pattern += f"(?P=p{place})"
                    continue
                kinds[place] = kind or ""
                pattern += f"(?P<p{place}>{self._amount.pattern if kind == 'n' else '.+?'})"
        return Phrase(
            re.compile(pattern, re.DOTALL), kinds, max(fixed, key=len), sum(map(len, fixed)), translation
        )


def _numbered(said: str, template: str = "") -> str:
    """A template as a pattern, with the kinds of its places; its translation with the same places.

    >>> _numbered("{share:.1%} of {column!r} ({names:and})"), _numbered("{column}: {share}", "{share:.1%} of {column}")
    ("{0:n} of '{1}' ({2:l})", '{1}: {0}')
    """
    order = {name: str(at) for at, name in enumerate(places(template or said))}
    if template:
        return fill(said, lambda name, form: f"{{{order[name]}}}")
    quoted = re.sub(r"\{(\w+)!r\}", r"'{\1:r}'", said)

    def place(name: str, form: str | None) -> str:
        if form == "r":
            return f"{{{order[name]}}}"
        kind = "n" if form and form[-1] in ",%gf" else "l" if form == "and" else "x"
        return f"{{{order[name]}:{kind}}}"

    return fill(quoted, place)


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
    phrases = pairs(language)
    amounts = {text: said for table, text, said in phrases if table == AMOUNTS}
    sentences = {text: said for table, text, said in phrases if table != AMOUNTS}
    return Phrasebook(sentences, amounts, languages()[language])


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


def translate_drawing(svg: str, book: Phrasebook, names: Collection[str] = ()) -> str:
    """A drawing with its words translated; where they have become longer, there is more room at its left.

    Heads that stand aslant above columns grow to the right and upwards.

    >>> book = Phrasebook({"low": "niedrig"}, {})
    >>> translate_drawing('<svg viewBox="0 0 9 4"><text text-anchor="end">low</text></svg>', book)
    '<svg viewBox="-30 0 39 4"><text text-anchor="end">niedrig</text></svg>'
    """
    longer = aslant = 0

    def words(match: re.Match[str]) -> str:
        nonlocal longer, aslant
        old = unescape(match[2])
        new = book.translate(old, names)
        if new is None:
            return match[0]
        if 'text-anchor="end"' in match[1]:
            longer = max(longer, len(new) - len(old))
        elif "rotate(-" in match[1]:
            aslant = max(aslant, len(new) - len(old))
        return match[1] + escape(new)

    said = _WORDS_OF_A_DRAWING.sub(words, svg)
    left, more = round(longer * _WIDTH), round(aslant * _WIDTH * _ASLANT)
    return _BOX.sub(lambda box: _wider(box, left, more), said) if left or more else said


def _wider(box: re.Match[str], left: int, more: int) -> str:
    """A drawing with more room at its left, and so much at its right and its top."""
    wide = float(box[1]) + left + more
    # Letters stay as large as they were.
    grown = wide / float(box[1])
    width = f' width="{int(box[3]) + left + more}"' if box[3] else ""
    if box[4]:
        width += f' style="min-width:{grown * int(box[4]):.0f}px;max-width:{grown * int(box[5]):.0f}px"'
    return f'<svg viewBox="{-left} {-more} {wide:g} {float(box[2]) + more:g}"{width}'
