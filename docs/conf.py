"""How the documentation becomes a site: ``make docs``."""

from __future__ import annotations

import inspect
import re
from importlib import metadata
from typing import TYPE_CHECKING

import discreet

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "discreet"
author = "The discreet developers"
release = metadata.version("discreet")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = f"discreet {release}"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
exclude_patterns = ["site"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# Console sessions and what is shown of files are not always whole programs.
suppress_warnings = ["misc.highlighting_failure"]


def contents(text: str) -> str:
    """The links of the front page once more as the contents of the site, a part for each heading."""
    parts = []
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        pages = re.findall(r"^- \[[^\]]*\]\(([^)#]+)\.md\)", body, flags=re.MULTILINE)
        if pages:
            listed = "\n".join(pages)
            parts.append(f"```{{toctree}}\n:hidden:\n:caption: {heading.strip()}\n\n{listed}\n```\n")
    return text + "\n" + "\n".join(parts)


def named_files(text: str) -> str:
    """The text with the name of a file above each block that shows one.

    >>> print(named_files("<!-- file: policy.toml -->\\n```toml\\nprofile = 'open-data'\\n```"))
    `policy.toml`:
    <BLANKLINE>
    ```toml
    profile = 'open-data'
    ```
    """
    return re.sub(r"^<!-- file: (\S+) -->$", r"`\1`:\n", text, flags=re.MULTILINE)


def public_names() -> str:
    """Every public name with its signature and docstring."""
    parts = [
        "# Every public name\n",
        "From their docstrings; [Python](python-api.md) explains them in order.\n",
    ]
    for name in sorted(discreet.__all__, key=str.lower):
        kind = "autoclass" if inspect.isclass(getattr(discreet, name)) else "autofunction"
        options = "   :members:\n" if kind == "autoclass" else ""
        parts.append(f"```{{eval-rst}}\n.. {kind}:: discreet.{name}\n{options}```\n")
    return "\n".join(parts)


def read_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Fill in what is made from something else when a page is read."""
    if name == "index":
        source[0] = contents(source[0])
    elif name == "reference/api":
        source[0] = public_names()
    source[0] = named_files(source[0])
    # What is not part of the documentation is on no page of the site.
    source[0] = re.sub(r"\[([^\]]+)\]\(((?:\.\./)+[A-Z]+(?:\.md)?)(?:#[^)]*)?\)", r"\1", source[0])


def setup(app: Sphinx) -> None:
    app.connect("source-read", read_source)
