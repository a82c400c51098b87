"""Pages from templates: escaped, self-contained, with the drawings of a report as the only markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from discreet.reports.figures import Picture

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("discreet.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["say"] = _say
    return environment


def _say(text: str, *, capital: bool = False, plain: bool = False) -> str:
    """Words as they are: reports speak English. The page, which shares templates with them, translates here."""
    return text[:1].upper() + text[1:] if capital else text


def page(template: str, content: Mapping[str, object], drawings: Sequence[Picture] = ()) -> str:
    """A template filled with content and drawings."""
    from markupsafe import Markup

    # Drawn by us from numbers and escaped names: the only markup that is not escaped again.
    svg = {picture.id: Markup(picture.svg) for picture in drawings}
    return _environment().get_template(template).render({"svg": svg, **content}) + "\n"
