"""The families of methods as data: what each does to values, what it guarantees, prevents and leaves, by which measures to judge it."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

Rating = Literal["low", "medium", "high"]
RATINGS = (
    "raw_data_needed",
    "preprocessing",
    "flexibility",
    "intuitiveness",
    "domain_knowledge",
    "on_line",
)


@dataclass(frozen=True)
class MethodFamily:
    """One family: its ``methods`` are methods of a search, steps of perturbation or commands.

    ``prevents`` are attacks that its guarantee speaks against, ``leaves`` those to try on its releases, ``measures`` the losses that tell most
    about them. Ratings are ours, by the definitions of the soft metrics in "metrics evaluation on car data", 2023, 4.2.1.
    """

    id: str
    title: str
    effect: str
    methods: tuple[str, ...]
    guarantee: str
    prevents: tuple[str, ...]
    leaves: tuple[str, ...]
    measures: tuple[str, ...]
    raw_data_needed: Rating
    preprocessing: Rating
    flexibility: Rating
    intuitiveness: Rating
    domain_knowledge: Rating
    on_line: Rating
    source: str

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


@cache
def method_families() -> tuple[MethodFamily, ...]:
    """All families, in the order of what they keep.

    >>> [family.id for family in method_families()][:2]
    ['generalisation', 'recoding']
    """
    text = (resources.files("discreet.release") / "families.toml").read_text("utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["family"]
    for entry in entries:
        entry |= {name: tuple(listed) for name, listed in entry.items() if isinstance(listed, list)}
    return tuple(MethodFamily(**entry) for entry in entries)


def family_of(method: str) -> MethodFamily:
    """The family of a method, step or command.

    >>> family_of("rank-swap").effect
    'keep detail, values no longer true'
    """
    return next(family for family in method_families() if method in family.methods)
