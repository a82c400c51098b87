"""How a table was read, and what a form for reading it in another way offers."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from discreet.policy.document import UNWRITTEN
from discreet.policy.settings import bare, settings
from discreet.sentences import loads
from discreet.table.reading import ReadOptions
from discreet.web.cases import Case
from discreet.web.jobs.worker import SHEETS
from discreet.web.policies import columns_document, policy_of

SIGNS = {
    "delimiter": {
        ",": "sign_comma",
        ";": "sign_semicolon",
        "\t": "sign_tab",
        "|": "sign_bar",
        " ": "sign_space",
    },
    "quote": {'"': "", "'": ""},
}
"""What is offered between and around fields, and what it is called where the sign does not say it."""
ENCODINGS = ("utf-8", "cp1252", "iso-8859-15", "utf-16", "cp850", "mac-roman")


def reading(case: Case) -> dict[str, Any]:
    """How the table was read, and what a form for reading it in another way offers."""
    given = policy_of(case).read if case.was_read else {}
    table = columns_document(case)["table"] if case.was_read else {}
    names = case.folder / SHEETS
    sheets = loads(names.read_text(encoding="utf-8")) if names.exists() else []
    has_heading = not case.was_read or "header" in table.get("settings", {})
    return {
        "given": given,
        "said": [name for name in settings(ReadOptions) if name not in UNWRITTEN],
        "settings": {key: _shown(value) for key, value in table.get("settings", {}).items()},
        "reading_notes": table.get("notes", []),
        # What goes wrong most often stands in front.
        "heading": ("header_row", *(("sheet",) if sheets else ())) if has_heading else (),
        "reading_fields": [
            {
                "name": name,
                "choices": dict.fromkeys(sheets, "") if name == "sheet" else _choices(name, setting),
                "lines": get_origin(bare(setting.annotation)) is tuple,
            }
            for name, setting in settings(ReadOptions).items()
            if name not in UNWRITTEN
        ],
        "encodings": ENCODINGS,
    }


def _choices(name: str, setting: FieldInfo) -> dict[str, str]:
    """What can be chosen for a setting, and what it is called where the value does not say it."""
    kind = bare(setting.annotation)
    if kind is bool:
        return {"true": "yes", "false": "no"}
    return SIGNS.get(name) or (dict.fromkeys(get_args(kind), "") if get_origin(kind) is Literal else {})


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "✓" if value else "–"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return {"\t": "⇥", " ": "␣"}.get(str(value), str(value))
