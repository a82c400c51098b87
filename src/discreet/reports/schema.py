"""The published JSON schema of an audit (`discreet audit --json`)."""

from __future__ import annotations

from typing import Any

_NUMBER = {"oneOf": [{"type": "number"}, {"enum": ["infinite", "-infinite", "undefined"]}]}
_NULLABLE_NUMBER = {"oneOf": [{"type": "number"}, {"type": "null"}]}
_MEASURE: dict[str, Any] = {
    "type": "object",
    "required": ["name", "value", "unit", "better", "meaning", "source"],
    "properties": {
        "name": {"type": "string"},
        "value": _NUMBER,
        "unit": {"type": "string"},
        "better": {"enum": ["higher", "lower"], "description": "which direction protects people"},
        "meaning": {"type": "string"},
        "source": {"type": "string"},
        "attribute": {"type": "string", "description": "the sensitive attribute with the worst value"},
        "by_attribute": {"type": "object", "additionalProperties": _NUMBER},
        "by_unit": {"type": "object", "additionalProperties": _NUMBER},
        "notes": {"type": "array", "items": {"type": "string"}},
    },
}
_RISK: dict[str, Any] = {
    "type": "object",
    "required": [
        "name",
        "min",
        "mean",
        "median",
        "max",
        "distribution",
        "decides",
        "meaning",
        "source",
        "parts",
    ],
    "properties": {
        "min": {"type": "number"},
        "mean": {"type": "number"},
        "median": {"type": "number"},
        "max": {"type": "number"},
        "distribution": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 10,
            "maxItems": 10,
            "description": "records per tenth of the scale from 0 to 1",
        },
        "decides": {"type": "boolean"},
        "parts": {
            "type": "array",
            "description": "the same risk for the whole quasi-identifier (no attribute) and each attribute alone",
            "items": {"type": "object", "required": ["min", "mean", "median", "max"]},
        },
    },
}
_CRITERION: dict[str, Any] = {
    "type": "object",
    "required": ["id", "description", "found", "holds", "origin", "source"],
    "properties": {
        "id": {"type": "string"},
        "description": {"type": "string"},
        "found": {"type": "string"},
        "holds": {"type": "boolean"},
        "origin": {"enum": ["policy", "profile"]},
        "source": {"type": "string"},
        "value": {"oneOf": [_NUMBER, {"type": "null"}]},
        "threshold": _NULLABLE_NUMBER,
        "failing_records": {"oneOf": [{"type": "integer"}, {"type": "null"}]},
        "failing_share": _NULLABLE_NUMBER,
        "remedy": {"type": "string"},
    },
}

AUDIT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "discreet audit",
    "type": "object",
    "required": [
        "schema",
        "created",
        "versions",
        "table",
        "policy",
        "verdict",
        "measures",
        "risks",
        "estimates",
    ],
    "properties": {
        "schema": {"const": "discreet-audit-1"},
        "created": {"type": "string"},
        "versions": {"type": "object"},
        "table": {
            "type": "object",
            "required": ["name", "format", "rows", "persons", "level", "classes", "missing"],
            "properties": {
                "rows": {"type": "integer", "minimum": 1},
                "persons": {"type": "integer", "minimum": 1},
                "level": {"enum": ["person", "event"]},
                "classes": {"type": "integer", "minimum": 1},
            },
        },
        "policy": {"type": "object", "required": ["profile", "columns", "requirements"]},
        "verdict": {
            "type": "object",
            "required": [
                "decision",
                "words",
                "compliant",
                "category",
                "passes",
                "profile",
                "obstacles",
                "criteria",
            ],
            "properties": {
                "decision": {"enum": ["release", "release-with-acknowledged-risk", "do-not-release"]},
                "words": {"type": "string"},
                "compliant": {"type": "boolean"},
                "category": {"enum": ["low", "medium", "high", None]},
                "passes": {"type": "boolean"},
                "obstacles": {"type": "array", "items": _CRITERION},
                "criteria": {"type": "array", "items": _CRITERION},
            },
        },
        "measures": {"type": "object", "additionalProperties": _MEASURE},
        "risks": {"type": "object", "additionalProperties": _RISK},
        "estimates": {"type": "object"},
        "exposure": {"type": "object"},
        "notes": {"type": "array", "items": {"type": "string"}},
    },
}
"""Measures and risks are found by their names, e.g. ``measures["k-anonymity"].value``."""
