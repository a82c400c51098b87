"""`discreet rules`: rules that all records seem to keep, as entries of a policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import tomlkit

from discreet.cli.command import StrictCommand
from discreet.cli.options import (
    FILE,
    PATH,
    open_table,
    print_document,
    print_json,
    reading_options,
    refuse_unwritable,
)
from discreet.cli.progress import progress
from discreet.files.writing import write_text
from discreet.policy.constraint import Constraint
from discreet.release.rule_search import find_rules


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, help="Where they are written (standard output if not given).")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@reading_options
def rules(file: Path, output: Path | None, as_json: bool, **given: Any) -> None:
    """Name rules that all records of FILE keep and that hardly hold by chance, as [[constraint]] entries of a policy.

    They are candidates: put into the policy those that you know to be true.
    """
    refuse_unwritable(output)
    with progress(quiet=as_json) as tell:
        candidates = find_rules(open_table(file, given), progress=tell)
    if as_json:
        print_json({"schema": "discreet-rules-1", "rules": [each.to_dict() for each in candidates]})
        return
    text = _entries(
        [each.rule for each in candidates],
        [f"{each.kind}; by chance {each.expected:,.0f} records would break it" for each in candidates],
    )
    if output is None:
        print_document(text)
    else:
        write_text(output, text)


def _entries(rules: Sequence[Constraint], comments: Sequence[str]) -> str:
    """Rules as they stand in a policy file, each with a comment above it."""
    lines = []
    for rule, comment in zip(rules, comments, strict=True):
        lines += [f"# {comment}", tomlkit.dumps({"constraint": [rule.to_dict()]})]
    return "\n".join(lines)
