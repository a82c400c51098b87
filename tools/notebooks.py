"""Make the pages of the gallery notebooks that were run: `make notebooks`, or `python tools/notebooks.py PAGE …`.

What a page shows of an output is what has to be there; a notebook holds everything that was printed. Needs nbclient, nbformat and
ipykernel, an installed discreet, and the public tables where ``DISCREET_DATA`` says.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"
BLOCK = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```\n", re.M | re.S
)
REMARK = re.compile(r"^<!--.*?-->\n+", re.M)
LINK = re.compile(r"^\[As a notebook\].*\n+", re.M)
LONGEST = 600
"""Seconds that a cell may take."""


def cells(text: str) -> Iterator[tuple[str, str]]:
    """The cells of a page: each one's kind, ``markdown`` or ``code``, and its source."""
    end = 0
    for block in BLOCK.finditer(text):
        yield from _prose(text[end : block.start()])
        yield from (("code", source) for source in _sources(block))
        end = block.end()
    yield from _prose(text[end:])


def _prose(text: str) -> Iterator[tuple[str, str]]:
    said = REMARK.sub("", LINK.sub("", text)).strip()
    if said:
        yield "markdown", said


def _sources(block: re.Match[str]) -> Iterator[str]:
    text = block["text"]
    if block["file"]:
        yield f"%%writefile {block['file']}\n{text.rstrip()}"
    elif block["language"] == "console":
        asked = [line[2:] for line in text.splitlines() if line.startswith("$ ") and line != "$ echo $?"]
        yield "\n".join(["%%bash --no-raise-error", *asked])
    elif ">>> " in text:
        yield from (example.source.rstrip() for example in doctest.DocTestParser().get_examples(text))
    else:
        yield text.rstrip()


def run(page: Path) -> None:
    """Run a page's cells in a folder of their own and write the notebook beside the page."""
    import nbclient
    import nbformat
    from nbformat import v4

    made = {"markdown": v4.new_markdown_cell, "code": v4.new_code_cell}
    notebook = v4.new_notebook(
        cells=[made[kind](source) for kind, source in cells(page.read_text(encoding="utf-8"))]
    )
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # so that running it again changes only what is printed
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(
            notebook,
            timeout=LONGEST,
            resources={"metadata": {"path": folder}},
            record_timing=False,
            coalesce_streams=True,
        ).execute()
    notebook.metadata.pop("language_info", None)
    text = nbformat.writes(notebook)
    for private in {folder, os.environ["DISCREET_DATA"]}:
        text = text.replace(json.dumps(private)[1:-1], "…")
    page.with_suffix(".ipynb").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.update(PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}", COLUMNS="100", NO_COLOR="1")
    os.environ["DISCREET_DATA"] = str(
        Path(os.environ.get("DISCREET_DATA", GALLERY.parents[2] / "shared/data")).resolve()
    )
    for each in [Path(argument) for argument in sys.argv[1:]] or sorted(GALLERY.glob("*.md")):
        run(each)
        print(each.with_suffix(".ipynb").name)
