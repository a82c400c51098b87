"""Templates in the language of a request: the environment, its filters, and responses made from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from discreet.policy.document import UNWRITTEN
from discreet.policy.settings import settings
from discreet.reports.figures import broad
from discreet.reports.html import say as say_in_language
from discreet.reports.phrasebook import languages, phrasebook, translate_drawing
from discreet.reports.words import SYMBOLS
from discreet.sentences import Sentence
from discreet.table.reading import ReadOptions
from discreet.web.pages.language import COOKIE, language_of, text
from discreet.web.refusals import ProblemDetails
from discreet.web.security import home_of


@cache
def environment() -> Environment:
    """Our templates, and the report's under ``reports/``."""
    loader = ChoiceLoader(
        [PackageLoader("discreet.web.pages"), PrefixLoader({"reports": PackageLoader("discreet.reports")})]
    )
    templates = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters["drawn"] = drawn
    templates.filters["broad"] = broad
    templates.filters["say"] = say
    templates.filters["sentence"] = Sentence
    templates.filters["percent_encoded"] = lambda value: quote(str(value), safe="")
    return templates


@pass_context
def say(context: Context, text: object, **options: Any) -> str:
    """What the core says, in the language of the page, and without the names that settings have in programs."""
    if context["language"] == "en" and (plain := without_code(str(text))) != text:
        text = plain
    return say_in_language(context, text, **options)  # type: ignore[arg-type]


def without_code(sentence: str) -> str:
    """A sentence that names settings as programs do, for people who see a form.

    >>> without_code("remove that line, or pass skip_rows=1")
    'remove that line, or set “Lines above the table” to 1'
    >>> without_code("pass sheet= with the name of the one to read"), without_code("a=b stays")
    ('set “Sheet” with the name of the one to read', 'a=b stays')
    """

    def label(setting: re.Match[str]) -> str:
        to = {"False": "no", "True": "yes"}.get(setting[2] or "", setting[2] or "")
        return f"set “{text('en')('reading.' + setting[1])}”" + (f" to {to}" if to else "")

    return _SETTING.sub(label, sentence)


_SETTING = re.compile(
    rf"(?:pass )?\b({'|'.join(name for name in settings(ReadOptions) if name not in UNWRITTEN)})="
    r"('[^']*'|\d+|False|True)?"
)


@pass_context
def drawn(context: Context, svg: str) -> Markup:
    """A drawing with its words in the language of the page.

    Drawn by us from numbers and escaped names: the only markup that is not escaped again.
    """
    return Markup(translate_drawing(svg, phrasebook(context["language"]), context.get("names", ())))


def render(request: Request, template: str, content: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """The response of a template in the language of the request."""
    response = HTMLResponse(markup(request, template, content), status)
    if request.query_params.get("lang") in languages():
        path = home_of(request.scope) or "/"
        response.set_cookie(COOKIE, language_of(request), path=path, samesite="strict", httponly=True)
    return response


def markup(request: Request, template: str, content: Mapping[str, object]) -> Markup:
    """A template in the language of the request; it has escaped what had to be."""
    language = language_of(request)
    words = {
        "t": text(language),
        "language": language,
        "languages": {tag: spoken.name for tag, spoken in languages().items()},
        "home": home_of(request.scope),
    }
    return Markup(environment().get_template(template).render({**content, **words}))


def problem_page(request: Request, problem: ProblemDetails, status: int) -> Response:
    """A failure as a message in place for the running page, else as a page of its own."""
    template = "parts/notice.html.jinja" if "hx-request" in request.headers else "problem.html.jinja"
    return render(request, template, {"problem": problem, "symbols": SYMBOLS}, status)
