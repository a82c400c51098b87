"""The gallery's notebooks are its pages, and were run to the end."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from helpers.markdown import ROOT

GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.md"))
cells = runpy.run_path(str(ROOT / "tools" / "notebooks.py"))["cells"]


@pytest.mark.parametrize("page", GALLERY, ids=lambda page: page.stem)
def test_a_notebook_is_its_page(page: Path) -> None:
    notebook = json.loads(page.with_suffix(".ipynb").read_text(encoding="utf-8"))
    found = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    assert found == list(cells(page.read_text(encoding="utf-8"))), "run `make notebooks`"
    assert f"({page.stem}.ipynb)" in page.read_text(encoding="utf-8")
    ran = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in ran] == list(range(1, len(ran) + 1))
    assert not [output for cell in ran for output in cell["outputs"] if output["output_type"] == "error"]


def test_the_cells_of_a_page() -> None:
    page = (
        "# Title\n\n<!-- needs: data -->\n\n[As a notebook](x.ipynb)\n\nWords.\n\n"
        "<!-- file: p.toml -->\n```toml\na = 1\n```\n\n```console\n$ discreet check t.csv\n✘ no …\n$ echo $?\n1\n```\n\n"
        "```python\n>>> a = [\n...     1]\n>>> a\n[1]\n```\n"
    )
    assert list(cells(page)) == [
        ("markdown", "# Title\n\nWords."),
        ("code", "%%writefile p.toml\na = 1"),
        ("code", "%%bash --no-raise-error\ndiscreet check t.csv"),
        ("code", "a = [\n    1]"),
        ("code", "a"),
    ]
