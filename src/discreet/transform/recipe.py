"""A recipe: a transformation as data that can be read, kept under version control and applied to other rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, UnreadableInput, UnsuitableColumn
from discreet.files.documents import parse_json, parse_toml
from discreet.files.reading import RECIPE_BYTES, read_text
from discreet.plain import Printed, plain
from discreet.sentences import Sentence
from discreet.table.domain import NULL_SIGN, Domain
from discreet.transform.recoding import Recoding, ReleasedAttribute, with_null
from discreet.types import AnyIntArray

FORMAT = "discreet-recipe-1"
PRINTED = ("int8", "int16", "int32", "int64", "float", "double", "bool", "date32[day]", "timestamp[us]")
"""Types of new values that are read from their printed form again."""
ZONED = "timestamp[us, tz="

Unseen = Literal["refuse", "suppress"]


@dataclass(frozen=True)
class Recipe(Printed):
    """What happens to each value (global recoding) or to each combination of values (local recoding).

    ``values[name][old] = new`` holds for global recodings; ``combinations`` lists, for local ones, old and new
    values of all quasi-identifiers. ``suppressed`` are the combinations whose records are suppressed: of new
    values in global recodings, of old ones in local ones. ``types`` names the type of new values that are not
    text. A value or combination that the recipe does not know is refused or suppressed, as ``unseen`` says.
    ``requirements`` are what the result must meet, so that it can be verified on other rows too; only
    ``columns`` are released, of which those ``keyed`` become pseudonyms and those ``sensitive`` are what nobody
    should learn, ``person`` is who is counted, and ``profile`` names what the release was judged by. ``perturb`` are the
    steps that come first, with their parameters; their random numbers are in no recipe.
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
    sensitive: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict, repr=False)
    person: str | None = None
    profile: str | None = None
    perturb: tuple[Mapping[str, object], ...] = ()

    def __str__(self) -> str:
        """What it does, without a value of the table."""
        changed = len(self.combinations) or sum(len(new) for new in self.values.values())
        lines = [
            f"Recipe of a release by {self.method}",
            *(f"  perturbs    {entry_text(entry, 'method')}" for entry in self.perturb),
            f"  changes     {changed:,} {'combinations' if self.combinations else 'values'} of {', '.join(self.quasi_identifiers)}",
            f"  suppresses  {len(self.suppressed):,} combinations; what it does not know is {'refused' if self.unseen == 'refuse' else 'suppressed'}",
            f"  releases    {', '.join(self.columns)}",
            *(f"  requires    {entry}" for entry in (entry_text(entry) for entry in self.requirements)),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Recipe({self.method!r}, {len(self.quasi_identifiers)} quasi-identifiers, {len(self.columns)} columns)"

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
        sensitive: Sequence[str] = (),
        person: str | None = None,
        profile: str | None = None,
        perturb: Sequence[Mapping[str, object]] = (),
        known: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Recipe:
        """The recipe of a recoding. ``known`` adds what hierarchies say about values that did not occur."""
        classes = recoding.classes
        labels = [_labels(domain) for domain in classes.attributes]
        new = [[written(value) for value in column.values.to_pylist()] for column in recoding.columns]
        suppressed: set[tuple[str, ...]] = set()
        if recoding.scope == "global":
            values: dict[str, dict[str, str]] = {}
            for j, column in enumerate(recoding.columns):
                codes = classes.codes[j]
                first = np.unique(codes, return_index=True)[1]
                values[column.name] = {
                    **{written(a): written(b) for a, b in (known or {}).get(column.name, {}).items()},
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
            for c in np.flatnonzero(~recoding.kept):
                suppressed.add(tuple(labels[j][codes[c]] for j, codes in enumerate(classes.codes)))
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
            sensitive=tuple(sensitive),
            types={
                column.name: str(column.values.type)
                for column in recoding.columns
                if column.values.null_count or not pa.types.is_string(column.values.type)
            },
            person=person,
            profile=profile,
            perturb=tuple(perturb),
        )

    # ── applying ──────────────────────────────────────────────────────────────────────────────────

    def recode(self, classes: EquivalenceClasses) -> Recoding:
        """What the recipe makes of other classes of the same quasi-identifiers."""
        if classes.names != self.quasi_identifiers:
            raise InvalidParameter(
                Sentence(
                    "the recipe is for {quasi_identifiers}, not for {names}",
                    quasi_identifiers=tuple(self.quasi_identifiers),
                    names=tuple(classes.names),
                ),
                remedy="count the classes by the recipe's quasi-identifiers",
            )
        return self._by_value(classes) if self.scope == "global" else self._by_combination(classes)

    def _by_value(self, classes: EquivalenceClasses) -> Recoding:
        """Each value becomes what the recipe says of it."""
        columns: list[ReleasedAttribute] = []
        news: list[list[str | None]] = []
        unknown = np.zeros(len(classes), dtype=bool)
        for domain, codes in zip(classes.attributes, classes.codes, strict=True):
            mapping = self.values.get(domain.name, {})
            # A column of whole numbers may come as floats next time.
            new = [mapping.get(label, mapping.get(label.removesuffix(".0"))) for label in _labels(domain)]
            news.append(new)
            missing = np.array([value is None for value in new])
            if missing.any() and self.unseen == "refuse":
                raise UnsuitableColumn(
                    Sentence(
                        "{missing} values of {name!r} are unknown to the recipe",
                        missing=int(missing.sum()),
                        name=domain.name,
                    ),
                    remedy="add them to the recipe, or apply it with unseen values suppressed (--unseen suppress)",
                )
            unknown |= missing[codes]
            columns.append(self._column(domain, codes, new))
        kept = ~unknown
        if self.suppressed:
            gone = set(self.suppressed)
            for c in np.flatnonzero(kept):
                kept[c] = tuple(news[j][codes[c]] for j, codes in enumerate(classes.codes)) not in gone
        levels = dict(self.levels) if self.levels is not None else None
        return Recoding(classes, tuple(columns), kept, self.method, levels, "global")

    def _by_combination(self, classes: EquivalenceClasses) -> Recoding:
        """Each combination of values becomes what the recipe says of it."""
        known = dict(self.combinations)
        labels = [_labels(domain) for domain in classes.attributes]
        old = [
            tuple(labels[j][codes[c]] for j, codes in enumerate(classes.codes)) for c in range(len(classes))
        ]
        kept = np.array([combination in known for combination in old], dtype=bool)
        gone = set(self.suppressed)
        unknown = sum(combination not in known and combination not in gone for combination in old)
        if unknown and self.unseen == "refuse":
            raise UnsuitableColumn(
                Sentence(
                    "{unknown} combinations of quasi-identifiers are unknown to the recipe", unknown=unknown
                ),
                remedy="make a new recipe, or apply it with unseen combinations suppressed (--unseen suppress)",
            )
        columns = []
        for j, (domain, codes) in enumerate(zip(classes.attributes, classes.codes, strict=True)):
            new = [known[combination][j] if combination in known else None for combination in old]
            columns.append(self._column(domain, codes, new, per_class=True))
        return Recoding(classes, tuple(columns), kept, self.method)

    def _column(
        self,
        domain: Domain,
        codes: AnyIntArray,
        new: Sequence[str | None],
        *,
        per_class: bool = False,
    ) -> ReleasedAttribute:
        """New values, one per old code or per class (``None`` where suppressed); what stays keeps its type."""
        nothing = np.full(len(codes), np.nan)  # shares are not known without hierarchies
        labels = _labels(domain)
        before = [labels[code] for code in codes.tolist()] if per_class else labels
        if all(after is None or after == label for label, after in zip(before, new, strict=True)):
            return ReleasedAttribute(domain.name, with_null(domain), codes.astype(np.int32), nothing, 0)
        kind = self.types.get(domain.name)
        texts = [None if text is None or text == NULL_SIGN else _read(text) for text in new]
        encoded = pa.array(texts, pa.string()).dictionary_encode(null_encoding="encode")
        places = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        values = encoded.dictionary
        try:
            if kind is not None and kind in PRINTED:
                values = values.cast(pa.type_for_alias(kind))
            elif kind is not None and kind.startswith(ZONED):
                values = values.cast(pa.timestamp("us", kind.removeprefix(ZONED).removesuffix("]")))
        except pa.ArrowInvalid:
            raise UnsuitableColumn(
                Sentence(
                    "new values of {name!r} in the recipe are not of the type that it names", name=domain.name
                ),
                remedy="correct them or the type, or make a new recipe",
            ) from None
        return ReleasedAttribute(domain.name, values, places if per_class else places[codes], nothing, 0)

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
            "suppressed": [list(combination) for combination in self.suppressed],
            "requirements": [dict(requirement) for requirement in self.requirements],
            "suppression_limit": self.suppression_limit,
            "unseen": self.unseen,
            "columns": list(self.columns),
            "keyed": list(self.keyed),
            "sensitive": list(self.sensitive),
            "types": dict(self.types),
            "person": self.person,
            "profile": self.profile,
            "perturb": [dict(entry) for entry in self.perturb],
        }

    def dumps(self, kind: Literal["json", "toml"] = "json") -> str:
        """As text, one line per value so that versions can be compared."""
        if kind == "json":
            return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
        import tomlkit

        return tomlkit.dumps(plain(self.to_dict(), nulls=False))

    @classmethod
    def loads(cls, text: str, *, name: str = "recipe") -> Recipe:
        """Read a recipe from JSON or TOML text; everything in it is checked against the form of a recipe."""
        try:
            written = _RecipeFile.model_validate(
                parse_json(text) if text.lstrip().startswith("{") else parse_toml(text)
            )
        except ValidationError as error:
            # No value of it is repeated: a recipe holds those of the data.
            fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(str(part) for part in fault["loc"][:1])
            where = f" ({place})" if place else ""
        except ValueError:
            where = ""
        else:
            return cls(**written.fields())
        raise UnreadableInput(
            Sentence("{name} is not a recipe of this version{where}", name=name, where=where),
            remedy="write it with `discreet anonymize --recipe`",
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Recipe:
        """Read a recipe file."""
        place = Path(path)
        text = read_text(place, "recipe", limit=RECIPE_BYTES, remedy="it must be a UTF-8 text file")
        return cls.loads(text, name=place.name)


class _RecipeFile(BaseModel):
    """The form of a recipe file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["discreet-recipe-1"]
    method: str
    scope: Literal["global", "local"]
    quasi_identifiers: list[str]
    values: dict[str, dict[str, str]]
    combinations: list[Annotated[list[list[str]], Field(min_length=2, max_length=2)]]
    suppressed: list[list[str]]
    levels: dict[str, int] | None = None
    requirements: list[dict[str, object]]
    suppression_limit: Annotated[float, Field(ge=0, le=1)]
    unseen: Unseen
    columns: list[str]
    keyed: list[str]
    sensitive: list[str] = []
    types: dict[str, str]
    person: str | None = None
    profile: str | None = None
    perturb: list[dict[str, object]] = []

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        width = len(self.quasi_identifiers)
        combinations = [*self.suppressed, *(part for pair in self.combinations for part in pair)]
        if any(len(combination) != width for combination in combinations):
            raise ValueError("a combination has one value per quasi-identifier")
        if not set(self.values) <= set(self.quasi_identifiers) <= set(self.columns):
            raise ValueError("quasi-identifiers are released, and only their values change")
        return self

    def fields(self) -> dict[str, Any]:
        """What a recipe is made of."""
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in self}
        del given["format"], given["scope"]
        given["combinations"] = tuple((tuple(old), tuple(new)) for old, new in self.combinations)
        given["suppressed"] = tuple(map(tuple, self.suppressed))
        return given


def written(value: object) -> str:
    """A value as a recipe names it: a null is ``∅``, and a text that looks like it gets a backslash.

    >>> written(None), written("∅"), _read(written("∅")), written(7)
    ('∅', '\\\\∅', '∅', '7')
    """
    if value is None:
        return NULL_SIGN
    text = str(value)
    return f"\\{text}" if text.lstrip("\\") == NULL_SIGN else text


def _read(text: str) -> str:
    """The text that a recipe means."""
    return text[1:] if text.lstrip("\\") == NULL_SIGN else text


def _labels(domain: Domain) -> list[str]:
    """The values of a domain as a recipe names them, by code."""
    return [written(value) for value in (*domain.values.to_pylist(), *([None] if domain.has_null else []))]


def entry_text(entry: Mapping[str, object], named: str = "model") -> str:
    """A requirement or a step on one line.

    >>> entry_text({"model": "k-anonymity", "k": 11})
    'k-anonymity k=11'
    """
    settings = " ".join(f"{key}={value}" for key, value in entry.items() if key != named)
    return f"{entry.get(named)} {settings}".strip()
