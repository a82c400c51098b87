"""Markdown as the documentation tests read it: sections, links, and fenced blocks in their order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"

FENCE = re.compile(
    r"^(?:<!-- file: (?P<file>[^ ]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, its line, and the file it shows if it shows one."""

    language: str
    text: str
    line: int
    file: str | None


def documents() -> list[Path]:
    """Every page of the documentation and the pages at the top of the project."""
    return sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))


def blocks(text: str) -> list[Block]:
    return [
        Block(
            found["language"], found["text"], text.count("\n", 0, found.start("language")) + 1, found["file"]
        )
        for found in FENCE.finditer(text)
    ]


def without_blocks(text: str) -> str:
    """The prose: links and headings inside code are not links and headings."""
    return FENCE.sub("", text)


def links(text: str) -> list[str]:
    return LINK.findall(without_blocks(text))


def anchors(text: str) -> set[str]:
    """The anchors of headings, made as forges make them."""
    heads = re.findall(r"^#+ +(.*)$", without_blocks(text), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", head.replace("`", "")).strip().lower().replace(" ", "-") for head in heads
    }


def sections(path: Path) -> dict[str, str]:
    """The text under each heading of a page, up to the next heading of the same or a higher level."""
    text = path.read_text(encoding="utf-8")
    heads = list(re.finditer(r"^(#+) +(.*)$", text, re.MULTILINE))
    found = {}
    for at, head in enumerate(heads):
        ends = (h.start() for h in heads[at + 1 :] if len(h[1]) <= len(head[1]))
        found[head[2].replace("`", "").strip()] = text[head.start() : next(ends, len(text))]
    return found


def names_in(text: str) -> set[str]:
    """Everything that stands in backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))
