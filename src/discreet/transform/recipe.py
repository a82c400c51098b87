"""A recipe: a transformation as data that can be read, kept under version control and applied to other rows."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, UnreadableInput, UnsuitableColumn
from discreet.transform.recoding import NewColumn, Recoding

FORMAT = "discreet-recipe-1"
Unseen = Literal["refuse", "suppress"]


@dataclass(frozen=True)
class Recipe:
    """What happens to each value (global recoding) or to each combination of values (local recoding).

    ``values[name][old] = new`` holds for global recodings; ``combinations`` lists, for local ones, old and new
    values of all quasi-identifiers. ``suppressed`` are combinations of new values whose records are
    suppressed. A value or combination that the recipe does not know is refused or suppressed, as ``unseen``
    says. ``requirements`` are what the result must meet, so that it can be verified on other rows too.
    """

    method: str
    quasi_identifiers: tuple[str, ...]
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    combinations: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = field(default=(), repr=False)
    suppressed: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    levels: Mapping[str, int] | None = None
    requirements: tuple[Mapping[str, object], ...] = ()
    suppression_limit: float = 1.0
    unseen: Unseen = "refuse"
    columns: tuple[str, ...] = ()
    keyed: tuple[str, ...] = ()

    @property
    def scope(self) -> Literal["global", "local"]:
        """Whether a value always becomes the same new value."""
        return "local" if self.combinations else "global"

    # ── making ────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def of(
        cls,
        recoding: Recoding,
        *,
        requirements: Sequence[Mapping[str, object]] = (),
        suppression_limit: float = 1.0,
        columns: Sequence[str] = (),
        keyed: Sequence[str] = (),
        known: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Recipe:
        """The recipe of a recoding. ``known`` adds what hierarchies say about values that did not occur."""
        classes = recoding.classes
        labels = [domain.labels() for domain in classes.attributes]
        new = [column.printed() for column in recoding.columns]
        suppressed: set[tuple[str, ...]] = set()
        if recoding.levels is not None:
            values: dict[str, dict[str, str]] = {}
            for j, column in enumerate(recoding.columns):
                codes = classes.codes[j]
                first = np.unique(codes, return_index=True)[1]
                values[column.name] = {
                    **(known or {}).get(column.name, {}),
                    **{labels[j][codes[c]]: new[j][column.codes[c]] for c in first},
                }
            for c in np.flatnonzero(~recoding.kept):
                suppressed.add(tuple(new[j][column.codes[c]] for j, column in enumerate(recoding.columns)))
            combinations: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
        else:
            values = {}
            combinations = tuple(
                (
                    tuple(labels[j][codes[c]] for j, codes in enumerate(classes.codes)),
                    tuple(new[j][column.codes[c]] for j, column in enumerate(recoding.columns)),
                )
                for c in np.flatnonzero(recoding.kept)
            )
        return cls(
            method=recoding.method,
            quasi_identifiers=classes.names,
            values=values,
            combinations=combinations,
            suppressed=tuple(sorted(suppressed)),
            levels=recoding.levels,
            requirements=tuple(requirements),
            suppression_limit=suppression_limit,
            columns=tuple(columns),
            keyed=tuple(keyed),
        )

    # ── applying ──────────────────────────────────────────────────────────────────────────────────

    def recode(self, classes: EquivalenceClasses) -> Recoding:
        """What the recipe makes of other classes of the same quasi-identifiers."""
        if classes.names != self.quasi_identifiers:
            raise InvalidParameter(
                f"the recipe is for {', '.join(self.quasi_identifiers)}, not for {', '.join(classes.names)}",
                remedy="count the classes by the recipe's quasi-identifiers",
            )
        return self._by_value(classes) if self.scope == "global" else self._by_combination(classes)

    def _by_value(self, classes: EquivalenceClasses) -> Recoding:
        columns = []
        unknown = np.zeros(len(classes), dtype=bool)
        for domain, codes in zip(classes.attributes, classes.codes, strict=True):
            mapping = self.values[domain.name]
            found = [mapping.get(label) for label in domain.labels()]
            missing = np.array([new is None for new in found])
            if missing.any() and self.unseen == "refuse":
                raise UnsuitableColumn(
                    f"{int(missing.sum())} values of {domain.name!r} are unknown to the recipe",
                    remedy="add them to the recipe, or apply it with unseen values suppressed (--unseen suppress)",
                )
            unknown |= missing[codes]
            columns.append(_column(domain.name, [new or "*" for new in found], codes))
        kept = ~unknown
        if self.suppressed:
            gone = set(self.suppressed)
            printed = [column.printed() for column in columns]
            for c in np.flatnonzero(kept):
                kept[c] = tuple(printed[j][column.codes[c]] for j, column in enumerate(columns)) not in gone
        levels = dict(self.levels) if self.levels is not None else None
        return Recoding(classes, tuple(columns), kept, self.method, levels)

    def _by_combination(self, classes: EquivalenceClasses) -> Recoding:
        known = dict(self.combinations)
        labels = [domain.labels() for domain in classes.attributes]
        found = [
            known.get(tuple(labels[j][codes[c]] for j, codes in enumerate(classes.codes)))
            for c in range(len(classes))
        ]
        kept = np.array([new is not None for new in found], dtype=bool)
        if not kept.all() and self.unseen == "refuse":
            raise UnsuitableColumn(
                f"{int((~kept).sum())} combinations of quasi-identifiers are unknown to the recipe",
                remedy="make a new recipe, or apply it with unseen combinations suppressed (--unseen suppress)",
            )
        everything = np.arange(len(classes))
        columns = [
            _column(name, [new[j] if new is not None else "*" for new in found], everything)
            for j, name in enumerate(self.quasi_identifiers)
        ]
        return Recoding(classes, tuple(columns), kept, self.method)

    # ── as a file ─────────────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> dict[str, object]:
        """As JSON-ready data."""
        return {
            "format": FORMAT,
            "method": self.method,
            "scope": self.scope,
            "quasi_identifiers": list(self.quasi_identifiers),
            "levels": dict(self.levels) if self.levels is not None else None,
            "values": {name: dict(mapping) for name, mapping in self.values.items()},
            "combinations": [[list(old), list(new)] for old, new in self.combinations],
            "suppressed": [list(one) for one in self.suppressed],
            "requirements": [dict(one) for one in self.requirements],
            "suppression_limit": self.suppression_limit,
            "unseen": self.unseen,
            "columns": list(self.columns),
            "keyed": list(self.keyed),
        }

    def dumps(self, kind: Literal["json", "toml"] = "json") -> str:
        """As text, one line per value so that versions can be compared."""
        if kind == "json":
            return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
        import tomlkit

        return tomlkit.dumps({key: value for key, value in self.to_dict().items() if value is not None})

    @classmethod
    def loads(cls, text: str, *, name: str = "recipe") -> Recipe:
        """Read a recipe from JSON or TOML text."""
        try:
            raw = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
            if raw["format"] != FORMAT:
                raise KeyError("format")
            return cls(
                method=str(raw["method"]),
                quasi_identifiers=tuple(raw["quasi_identifiers"]),
                values={str(k): {str(a): str(b) for a, b in v.items()} for k, v in raw["values"].items()},
                combinations=tuple((tuple(old), tuple(new)) for old, new in raw["combinations"]),
                suppressed=tuple(tuple(one) for one in raw["suppressed"]),
                levels=raw.get("levels"),
                requirements=tuple(raw["requirements"]),
                suppression_limit=float(raw["suppression_limit"]),
                unseen="suppress" if raw["unseen"] == "suppress" else "refuse",
                columns=tuple(raw["columns"]),
                keyed=tuple(raw["keyed"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UnreadableInput(
                f"{name} is not a recipe of this version",
                remedy="write it with `discreet anonymize --recipe`",
            ) from None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Recipe:
        """Read a recipe file."""
        place = Path(path)
        try:
            text = place.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise UnreadableInput(
                f"the recipe {place.name} could not be read", remedy="check the path"
            ) from None
        return cls.loads(text, name=place.name)


def _column(name: str, new: Sequence[str], codes: NDArray[np.integer]) -> NewColumn:
    """A column of new texts, one per old code; shares are not known without hierarchies."""
    encoded = pa.array(new, pa.string()).dictionary_encode()
    places = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)[codes]
    return NewColumn(name, encoded.dictionary, places, np.full(len(codes), np.nan), 0)
