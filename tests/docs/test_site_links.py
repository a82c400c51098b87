"""What `make docs` asks of the links of the site."""

from __future__ import annotations

import runpy
from pathlib import Path

from helpers.markdown import ROOT

broken = runpy.run_path(str(ROOT / "tools" / "site_links.py"))["broken"]


def test_links_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    (tmp_path / "how-to").mkdir()
    (tmp_path / "how-to" / "a.html").write_text('<h1 id="top">A</h1><a href="../index.html#here">up</a>')
    (tmp_path / "index.html").write_text(
        '<p id="here"><a href="how-to/a.html#top">fine</a><a href="https://example.org/none">elsewhere</a>'
        '<a href="#here">fine</a><a href="how-to/a.html#gone">no place</a><img src="none.png"></p>'
    )
    assert list(broken(tmp_path)) == [("index.html", "how-to/a.html#gone"), ("index.html", "none.png")]
