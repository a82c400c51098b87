"""What is wrong with settings that were written or sent: sentences that name the setting and its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from discreet.errors import DiscreetError
from discreet.sentences import Sentence
from discreet.table.roles import ROLES

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Where = Sequence[int | str]
"""The way to a setting: names of tables and places in lists."""
FAULTS = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be one of: {choices}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a table of settings",
    "model_type": "must be a table of settings",
    "model_attributes_type": "must be a table of settings",
    "string_too_short": "has fewer than {min_length} characters",
    "string_too_long": "has more than {max_length} characters",
    "too_short": "has fewer than {min_length} entries",
    "too_long": "has more than {max_length} entries",
    "missing_argument": "has too few entries",
    "unexpected_positional_argument": "has too many entries",
    "string_pattern_mismatch": "has another form than it must have",
    "date_type": "must be a date such as 2026-01-31",
    "date_parsing": "must be a date such as 2026-01-31",
    "date_from_datetime_parsing": "must be a date such as 2026-01-31",
    "json_invalid": "is not valid JSON",
    "value_error": "is refused: {error}",
}
"""What the kinds of errors of pydantic mean, without the words of programs."""
UNNAMED = "is not as it must be ({kind})"


def fault(details: ErrorDetails) -> Sentence:
    """What is wrong with a setting, to be said after its name.

    >>> fault({"type": "less_than_equal", "loc": ("sample",), "msg": "", "input": 3, "ctx": {"le": 1.0}})
    'must be at most 1'
    """
    given = dict(details.get("ctx", {}))
    if "expected" in given:
        # Pydantic joins them by its own words.
        given["choices"] = re.findall("'([^']*)'", str(given["expected"])) or [str(given["expected"])]
    if "error" in given:
        given["error"] = Sentence(str(given["error"]))
    template = FAULTS.get(details["type"], UNNAMED)
    told = {name: _short(given[name]) for name in re.findall(r"{(\w+)}", template) if name in given}
    return Sentence(template, **(told if template is not UNNAMED else {"kind": details["type"]}))


def _short(limit: object) -> object:
    """A limit as people write it: 0 and not 0.0."""
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def refused(details: ErrorDetails) -> Sentence:
    """What is wrong with a setting that was sent, with its name."""
    path = ".".join(str(part) for part in details["loc"])
    return Sentence("{path} {fault}", path=path, fault=fault(details))


def explain(text: str, name: str, error: ValidationError) -> list[Sentence]:
    """Every validation error of a TOML file as a sentence with its line."""
    return [placed(text, name, details["loc"], _explain(details)) for details in error.errors()]


def placed(text: str, name: str, where: Where, problem: Sentence | DiscreetError) -> Sentence:
    """A problem with its place in a file: what was no text has no lines.

    >>> placed("k = 3", "own.toml", ("k",), Sentence("unknown setting"))
    'own.toml, line 1: unknown setting'
    """
    told = problem.sentence if isinstance(problem, DiscreetError) else problem
    if not text:
        return Sentence("{name}: {problem}", name=name, problem=told)
    return Sentence("{name}, line {line}: {problem}", name=name, line=_line(text, where), problem=told)


def _explain(details: ErrorDetails) -> Sentence:
    where, given = details["loc"], repr(details.get("input"))
    path, kind = ".".join(str(part) for part in where), details["type"]
    if len(where) == 3 and where[0] == "columns" and where[-1] == "role" and kind != "missing":
        return Sentence("{given} is not a role; roles are: {roles}", given=given, roles=ROLES)
    if len(where) == 2 and where[0] == "columns":
        return Sentence(
            '{path} must be a table; write [columns.{column}] and below it role = "…"',
            path=path,
            column=where[1],
        )
    listed = where[-1:] if where[-1:] == ("require",) else where
    if listed in LISTS:
        return Sentence(
            "{what} are a list; write [[{name}]], with two brackets, above each of them",
            what=Sentence(LISTS[listed]),
            name=listed[0],
        )
    if (
        where[:1] in (("kpi",), ("constraint",), ("analysis",), ("mistake",))
        and kind == "string_pattern_mismatch"
    ):
        return Sentence("{path} is empty; write a {setting}", path=path, setting=where[-1])
    if where == ("read", "decimal") and kind == "literal_error":
        return Sentence("decimal is {given}; use '.' or ','", given=given)
    if kind == "extra_forbidden":
        return Sentence("unknown setting {path!r}; remove or correct it", path=path)
    return Sentence("{path} {fault}", path=path, fault=fault(details))


LISTS: dict[tuple[int | str, ...], str] = {
    ("require",): "requirements",
    ("perturb",): "steps of perturbation",
    ("kpi",): "KPIs",
    ("constraint",): "constraints",
    ("analysis",): "analyses",
    ("mistake",): "mistakes",
}
"""Tables that are written once for each entry, and what they hold."""


def _line(text: str, where: Where) -> int:
    """The line on which a setting stands, as near as headings and keys tell.

    >>> _line('profile = "x"\\n[columns.age]\\ntype = 1\\nrating = {availability = 9}', ("columns", "age", "type"))
    3
    >>> _line('profile = "x"\\n[columns.age]\\nrating = {availability = 9}', ("columns", "age", "rating", "availability"))
    3
    """
    lines = text.splitlines()
    start, end, keys = _section(lines, where)
    # The setting itself, or else the setting it is a part of.
    for key in reversed(keys):
        for i in range(start, end):
            if re.match(rf"\s*[\"']?{re.escape(str(key))}[\"']?\s*[=.]", lines[i]):
                return i + 1
    return start + 1


def _section(lines: Sequence[str], where: Where) -> tuple[int, int, Sequence[int | str]]:
    """First line and end of the section that holds a setting, and the setting's path inside it."""
    heads = [i for i, line in enumerate(lines) if line.lstrip().startswith("[")]
    top, key, inner = (re.escape(str(part)) for part in (*where, "", "")[:3])
    for depth, pattern in (
        (3, rf"\s*\[\s*{top}\s*\.\s*[\"']?{key}[\"']?\s*\.\s*[\"']?{inner}[\"']?\s*\]"),
        (2, rf"\s*\[\s*{top}\s*\.\s*[\"']?{key}[\"']?\s*\]"),
        (2 if len(where) > 1 and isinstance(where[1], int) else 1, rf"\s*\[\[?\s*{top}\s*\]"),
    ):
        matching = [i for i in heads if re.match(pattern, lines[i])]
        nth = where[1] if len(where) > 1 and isinstance(where[1], int) else 0
        if nth < len(matching):
            at = matching[nth]
            return at, next((i for i in heads if i > at), len(lines)), where[depth:]
    return 0, heads[0] if heads else len(lines), where
