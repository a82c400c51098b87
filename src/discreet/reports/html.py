"""Pages from templates: escaped, self-contained, with the drawings of a report as the only markup, in a language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from discreet.reports.figures import Picture, broad
from discreet.reports.phrasebook import phrasebook, translate_drawing
from discreet.sentences import Sentence

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.runtime import Context

NAMES = ("column", "attribute", "name", "names", "first", "followed", "unknown", "foreign", "cut")
"""Places of sentences that hold names of the data, which stay as they are."""


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context

    environment = Environment(
        loader=PackageLoader("discreet.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["say"] = pass_context(say)
    environment.filters["sentence"] = Sentence
    environment.filters["broad"] = broad
    return environment


def compile_templates() -> None:
    """Compile every template now, for the processes that are copies of this one."""
    for name in _environment().list_templates():
        _environment().get_template(name)


def say(
    context: Context, text: str, *, capital: bool = False, plain: bool = False, **parameters: object
) -> str:
    """What the core says, in the language of the page; what has no translation is marked as English.

    ``capital`` begins it with a capital letter, ``plain`` gives no markup, for attributes of tags. With ``parameters``
    the text is a template.
    """
    from markupsafe import Markup

    language = context["language"]
    given = Sentence(text, **parameters) if parameters else text if isinstance(text, str) else str(text)
    book = phrasebook(language)
    said = given if book is None else book.translate(given, context.get("names", ()))
    shown = str(given if said is None else said)
    # The letter of a model stays as it is (t-closeness), and so does the name of a column.
    kept = shown[1:2] == "-" or _begins_with_a_name(given, shown)
    shown = shown[:1].upper() + shown[1:] if capital and not kept else shown
    return shown if said is not None or plain else Markup('<span lang="en">{}</span>').format(shown)


def _begins_with_a_name(sentence: str, shown: str) -> bool:
    """Whether a sentence, as it is shown, begins with a name that was given, by itself or in a sentence within it."""
    given = sentence.parameters if isinstance(sentence, Sentence) else {}
    for place, value in given.items():
        if isinstance(value, Sentence):
            if _begins_with_a_name(value, shown):
                return True
        elif place in NAMES:
            first = next(iter(value), "") if isinstance(value, list | tuple) else value
            if isinstance(first, str) and first and shown.startswith(first):
                return True
    return False


def page(
    template: str,
    content: Mapping[str, object],
    drawings: Sequence[Picture] = (),
    *,
    language: str = "en",
) -> str:
    """A template filled with content and drawings; ``names`` in the content are columns, which are not translated."""
    from markupsafe import Markup

    book, names = phrasebook(language), content.get("names", ())
    # Drawn by us from numbers and escaped names: the only markup that is not escaped again.
    svg = {
        picture.id: Markup(translate_drawing(picture.svg, book, names))  # type: ignore[arg-type]
        for picture in drawings
    }
    filled = {"language": language, "svg": svg, **content}
    return _environment().get_template(template).render(filled) + "\n"
