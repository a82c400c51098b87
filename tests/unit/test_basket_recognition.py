"""Which text files seem to hold a basket on each line, and which are something else."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from discreet.baskets.recognition import FEWEST, FoundBaskets, find_baskets

BASKETS = [
    "milk,bread",
    "milk",
    "bread,gin,milk",
    "gin",
    "milk,rum",
    "bread,rum",
    "milk",
    "rum,gin",
    "bread",
    "milk,gin",
]


def write(path: Path, lines: list[str], separator: str = ",") -> Path:
    path.write_text("\n".join(lines).replace(",", separator) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_baskets_are_recognised_whatever_stands_between_items(tmp_path: Path, separator: str) -> None:
    file = write(tmp_path / "shop.csv", BASKETS, separator)
    assert find_baskets(file) == FoundBaskets(separator, baskets=10, items=4, longest=3)


def test_packed_baskets_are_recognised(tmp_path: Path) -> None:
    packed = tmp_path / "shop.csv.gz"
    packed.write_bytes(gzip.compress("\n".join(BASKETS).encode()))
    assert find_baskets(packed) is not None


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        ("a table with a damaged line", ["1,f,30"] * 19 + ["1,f"]),
        ("a table with titles above it", ["Patients 2024", ""] + [f"{i},f,{30 + i}" for i in range(20)]),
        ("one column", ["milk"] * 20),
        ("names that never come again", [",".join(f"x{i}_{j}" for j in range(1 + i % 4)) for i in range(40)]),
        ("too few lines to tell", BASKETS[: FEWEST - 1]),
        (
            "sentences",
            [f"{'a long sentence about somebody ' * 4}{'ab'[i % 2]}{',z' * (i % 3)}" for i in range(30)],
        ),
    ],
)
def test_what_is_something_else_is_not_offered(tmp_path: Path, what: str, lines: list[str]) -> None:
    assert find_baskets(write(tmp_path / "other.csv", lines)) is None, what


def test_no_text_is_no_baskets(tmp_path: Path) -> None:
    file = tmp_path / "picture.csv"
    file.write_bytes(bytes(range(256)) * 40)
    assert find_baskets(file) is None
