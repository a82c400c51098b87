"""Results of checks as other programs read them: JUnit XML, SARIF, and annotations of a pipeline."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from discreet.errors import DiscreetError
from discreet.plain import printable
from discreet.release.verdict import Criterion, Verdict

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
UNCHECKED = "unreadable"
"""What a table that could not be checked fails by."""


@dataclass(frozen=True)
class CheckedTable:
    """A table that was checked: its path as it was named, and the verdict, or why there is none."""

    path: str
    verdict: Verdict | None = None
    error: DiscreetError | None = None

    @property
    def passes(self) -> bool:
        return self.verdict is not None and self.verdict.passes

    def to_dict(self) -> dict[str, object]:
        if self.verdict is not None:
            return {"table": self.path, "verdict": self.verdict.to_dict()}
        assert self.error is not None
        told = {"code": self.error.code, "message": self.error.message, "remedy": self.error.remedy}
        return {"table": self.path, "error": told}


def junit(tables: Sequence[CheckedTable]) -> str:
    """One suite for each table, one case for each requirement."""
    suites = ET.Element("testsuites", name="discreet")
    for table in tables:
        criteria = table.verdict.criteria if table.verdict is not None else ()
        failures = sum(not criterion.holds for criterion in criteria)
        suite = ET.SubElement(
            suites,
            "testsuite",
            name=printable(table.path),
            tests=str(max(len(criteria), 1)),
            failures=str(failures),
            errors=str(int(table.error is not None)),
        )
        for criterion in criteria:
            case = ET.SubElement(
                suite, "testcase", classname=printable(table.path), name=printable(_title(criterion))
            )
            if not criterion.holds:
                failure = ET.SubElement(case, "failure", message=printable(f"found {criterion.found}"))
                failure.text = printable(_message(criterion))
        if table.error is not None:
            case = ET.SubElement(suite, "testcase", classname=printable(table.path), name=UNCHECKED)
            ET.SubElement(case, "error", message=printable(str(table.error)))
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def sarif(tables: Sequence[CheckedTable]) -> dict[str, object]:
    """What fails, in the format of static analysis results (OASIS SARIF 2.1.0)."""
    rules: dict[str, str] = {}
    results = []
    for table in tables:
        for criterion in table.verdict.obstacles if table.verdict is not None else ():
            rules.setdefault(criterion.id, str(criterion.source))
            results.append(_result(criterion.id, _message(criterion), table.path))
        if table.error is not None:
            rules.setdefault(UNCHECKED, "a table that cannot be checked does not pass")
            results.append(_result(UNCHECKED, str(table.error), table.path))
    driver = {
        "name": "discreet",
        "version": version("discreet"),
        "rules": [
            {"id": name, "shortDescription": {"text": printable(text)}} for name, text in rules.items()
        ],
    }
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def workflow_commands(tables: Sequence[CheckedTable]) -> list[str]:
    """What fails, as commands that GitHub's pipelines show beside the files."""
    lines = []
    for table in tables:
        told = [
            (_title(criterion), _message(criterion))
            for criterion in (table.verdict.obstacles if table.verdict is not None else ())
        ]
        if table.error is not None:
            told.append((UNCHECKED, str(table.error)))
        lines += [
            f"::error file={_escaped(table.path, ',:')},title={_escaped(title, ',:')}::{_escaped(message)}"
            for title, message in told
        ]
    return lines


def _title(criterion: Criterion) -> str:
    return f"{criterion.id} [{criterion.attribute}]" if criterion.attribute else criterion.id


def _message(criterion: Criterion) -> str:
    told = f"{criterion.description}; found {criterion.found}"
    return f"{told}; {criterion.remedy}" if criterion.remedy else told


def _result(rule: str, message: str, path: str) -> dict[str, object]:
    place = {"physicalLocation": {"artifactLocation": {"uri": path}}}
    return {"ruleId": rule, "level": "error", "message": {"text": printable(message)}, "locations": [place]}


def _escaped(text: str, more: str = "") -> str:
    """Text inside a workflow command.

    >>> _escaped("a%b, c", ",")
    'a%25b%2C c'
    """
    return "".join(
        f"%{ord(letter):02X}" if letter in f"%\r\n{more}" else letter for letter in printable(text)
    )
