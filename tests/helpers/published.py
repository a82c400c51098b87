"""What a command prints with ``--json`` is what its published schema says, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import jsonschema

from discreet.reports.schema import SCHEMAS


def strict(schema: Any) -> Any:
    """The same schema, by which an object has no fields that it does not name."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed["properties"] = {name: strict(part) for name, part in schema["properties"].items()}
        closed.setdefault("additionalProperties", False)
    return closed


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(strict(SCHEMAS[name]))


def assert_published(document: Any) -> None:
    """A document names its schema, which describes all of it."""
    name = document["schema"].removeprefix("discreet-").removesuffix("-1")
    error = jsonschema.exceptions.best_match(validator(name).iter_errors(document))
    assert error is None, f"{document['schema']} at {error.json_path}: {error.message[:300]}"


def look_at(arguments: Sequence[object], printed: str) -> None:
    """Check what a command has printed, if it was asked for JSON."""
    if "--json" in map(str, arguments) and printed.lstrip().startswith(("{", "[")):
        assert_published(json.loads(printed))
