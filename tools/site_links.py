"""Whether every link inside the site leads somewhere: `python tools/site_links.py docs/site`. It opens no connection."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class Page(HTMLParser):
    """The places in a page that can be linked to, and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.places.add(value)
            if value and name in ("href", "src"):
                self.links.append(value)


def broken(site: Path) -> Iterator[tuple[str, str]]:
    """Each page with a link of it that leads to no file, or to no place in one."""
    pages = {file.resolve(): Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            path, _, place = link.partition("#")
            path = unquote(path.partition("?")[0])
            target = (file.parent / path).resolve() if path else file
            there = target.exists() and (
                not place or target not in pages or unquote(place) in pages[target].places
            )
            if not there:
                yield file.relative_to(site.resolve()).as_posix(), link


if __name__ == "__main__":
    wrong = list(broken(Path(sys.argv[1])))
    for page, link in wrong:
        print(f"{page}: {link} leads nowhere", file=sys.stderr)
    sys.exit(bool(wrong))
