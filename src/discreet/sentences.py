"""Sentences that know how they were made: a template and what stands in its places.

A sentence is its English text wherever a text is wanted. Who shows it in another language takes the template and the
parameters instead (`discreet.reports.phrasebook`), so that nothing has to be recognised again:

* a number is printed by the format of its place, in the way of the language;
* a text stays as it is: names of columns and files, values;
* a sentence is said in the language, too;
* a tuple is a row of these, joined by commas, by the format of its place (``{parts:; }``), or as ``a, b and c``
  (``{names:and}``).
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from typing import Any

Parameter = int | float | str | tuple[Any, ...]

TEMPLATE, PARAMETERS = "template", "parameters"
"""How a sentence is kept in a document that is read again."""


class Sentence(str):
    """A text with the template and the parameters that it was made from.

    >>> lost = Sentence("{column} lost {share:.1%}.", column="age", share=0.25)
    >>> lost, lost.template, lost.parameters["share"]
    ('age lost 25.0%.', '{column} lost {share:.1%}.', 0.25)
    >>> Sentence("{found:; }", found=(Sentence("{n:,} rows", n=1200), "age")), Sentence("{all:and}", all=("a", "b", "c"))
    ('1,200 rows; age', 'a, b and c')
    """

    template: str
    parameters: Mapping[str, Parameter]

    def __new__(cls, template: str, /, **parameters: object) -> Sentence:
        if isinstance(template, Sentence) and not parameters:
            return template
        given = {name: _parameter(value) for name, value in parameters.items()}
        made = super().__new__(cls, _said(template, given) if given else template)
        made.template, made.parameters = template, given
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Parameter]]:
        return (self.template,), dict(self.parameters)

    def renamed(self, old: str, new: str) -> Sentence:
        """The sentence with another name in the places where one stood."""
        return Sentence(
            self.template, **{name: renamed(value, old, new) for name, value in self.parameters.items()}
        )


def _parameter(value: Any) -> Parameter:
    if isinstance(value, int | float | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(map(_parameter, value))
    # A number of numpy is one of Python in all but its type; what is no number is named by its text.
    item = getattr(value, "item", None)
    return _parameter(item()) if item is not None else str(value)


def renamed(value: Any, old: str, new: str) -> Any:
    """A text, a sentence or a row of them with another name in it."""
    if isinstance(value, Sentence):
        return value.renamed(old, new) if value.parameters else value
    if isinstance(value, str):
        return value.replace(old, new)
    return tuple(renamed(part, old, new) for part in value) if isinstance(value, tuple) else value


def joined(parts: tuple[str, ...], form: str, conjunction: str = "and") -> str:
    """A row of texts by the format of its place.

    >>> joined(("a", "b"), ""), joined(("a", "b"), "; "), joined(("a", "b", "c"), "and", "und")
    ('a, b', 'a; b', 'a, b und c')
    """
    if form == "and" and len(parts) > 1:
        return f"{', '.join(parts[:-1])} {conjunction} {parts[-1]}"
    return (", " if form in ("", "and") else form).join(parts)


class _English(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple):
            return joined(tuple(map(str, value)), format_spec)
        return format(value, format_spec)


_ENGLISH = _English()


def _said(template: str, given: Mapping[str, Parameter]) -> str:
    """A template with what was given; Python's own way, which is several times as fast, knows all but rows of texts."""
    if any(isinstance(value, tuple) for value in given.values()):
        return _ENGLISH.vformat(template, (), given)
    return template.format_map(given)


def places(template: str) -> dict[str, str]:
    """The places of a template, each with its format.

    >>> places("{share:.1%} of {column!r}")
    {'share': '.1%', 'column': ''}
    """
    return {name: form or "" for _, name, form, _ in _ENGLISH.parse(template) if name}


def fill(template: str, said: Callable[[str, str | None], str]) -> str:
    """A template with what ``said`` gives for the name and the format of each place (``None``: none was given)."""
    return "".join(
        literal + (said(name, form or None) if name else "")
        for literal, name, form, _ in _ENGLISH.parse(template)
    )


def dumps(document: object) -> str:
    """A document as JSON from which :func:`loads` makes its sentences again."""
    return json.dumps(_kept(document), ensure_ascii=False)


def loads(text: str) -> Any:
    """A document with its sentences.

    >>> loads(dumps({"why": [Sentence("{n} rows", n=3)]}))["why"][0].parameters
    {'n': 3}
    """
    return json.loads(text, object_hook=_revived)


def _kept(value: Any) -> Any:
    if isinstance(value, Sentence):
        return {TEMPLATE: value.template, PARAMETERS: _kept(value.parameters)}
    if isinstance(value, Mapping):
        return {key: _kept(part) for key, part in value.items()}
    return [_kept(part) for part in value] if isinstance(value, list | tuple) else value


def _revived(document: dict[str, Any]) -> Any:
    if document.keys() != {TEMPLATE, PARAMETERS}:
        return document
    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in document[PARAMETERS].items()
    }
    return Sentence(document[TEMPLATE], **given)
