"""How schemas are written down: a record of fields, a list, a mapping by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
YES_OR_NO: Schema = {"type": "boolean"}
NUMBER: Schema = {"oneOf": [{"type": "number"}, {"enum": ["infinite", "-infinite", "undefined"]}]}
AMOUNT: Schema = {"type": "string", "description": "an exact amount: 1/3, 0.5, 1e-6"}
ANYTHING: Schema = {}
OPEN: Schema = {"type": "object"}


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    return {"oneOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


TEXTS = many(TEXT)


def by_name(schema: Schema) -> Schema:
    """A mapping from names of the user's (columns) or of ours (measures)."""
    return {"type": "object", "additionalProperties": schema}


def either(*words: str | None) -> Schema:
    return {"enum": list(words)}


def record(optional: Sequence[str] = (), /, **fields: Schema) -> Schema:
    """An object with these fields, of which some may be absent.

    >>> record(["b"], a=TEXT, b=COUNT)["required"]
    ['a']
    """
    return {
        "type": "object",
        "required": [name for name in fields if name not in optional],
        "properties": fields,
    }


def document(name: str, title: str, optional: Sequence[str] = (), /, **fields: Schema) -> Schema:
    """A whole document, with the number of its schema in it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **record(optional, schema={"const": f"discreet-{name}-1"}, **fields),
    }
