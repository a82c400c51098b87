"""The budget of a table that was taken by its path: its ledger lies beside the file, and outlasts the server."""

from __future__ import annotations

from pathlib import Path

from discreet.dp.ledger import Ledger
from discreet.errors import InvalidParameter


def ledger_beside(source: Path, case: Path) -> Ledger:
    """The ledger of a table; refused for one that is wiped with its case, whose budget would be forgotten with it."""
    if source.is_relative_to(case):
        raise InvalidParameter(
            "a table that was uploaded has no budget: it would be forgotten with the table",
            remedy="take the file by its path on the machine of the server",
        )
    return Ledger.beside(source)
