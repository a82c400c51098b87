"""The statement beside a release: what it guarantees, of which file, and which line of which ledger paid for it.

No file shows how it was made. The statement says it, its hash says of which file, and the ledger says that it was paid for;
that the program did what the statement says is a matter of trust in whoever ran it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path

from discreet.dp.amounts import exact
from discreet.dp.checklist import SOURCE, checklist
from discreet.dp.ledger import Payment
from discreet.dp.statement import Guarantee, Unit
from discreet.errors import DiscreetError, UnreadableInput
from discreet.files.documents import parse_json
from discreet.files.reading import read_text
from discreet.files.writing import write_text
from discreet.plain import plain
from discreet.sentences import Sentence

SUFFIX = ".guarantee.json"
SCHEMA = "discreet-guarantee-1"


@dataclass(frozen=True)
class Certificate:
    """What a statement says, as far as requirements ask for it."""

    sha256: str
    unit: Unit
    epsilon: Fraction
    delta: Fraction
    payment: Payment


def statement_beside(release: str | PathLike[str]) -> Path:
    """Where the statement of a release lies: of ``people.csv``, ``people.csv.guarantee.json``."""
    path = Path(release)
    return path.with_name(path.name + SUFFIX)


def write_statement(release: Path, guarantee: Guarantee, payment: Payment) -> Path:
    """Write the statement of a written file beside it."""
    with release.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    document = {
        "schema": SCHEMA,
        "file": release.name,
        "sha256": digest,
        "payment": plain(payment),
        "guarantee": guarantee.to_dict(),
        "checklist": [
            {"question": item.question, "answer": item.answer, "open": item.open}
            for item in checklist(guarantee)
        ],
        "checklist_source": SOURCE,
    }
    return write_text(statement_beside(release), json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def read_statement(path: str | PathLike[str]) -> Certificate:
    """A statement from its file; refused if it is none."""
    place = Path(path)
    text = read_text(place, "statement", remedy="name the file that was written beside the release")
    try:
        document = parse_json(text)
        payment, told = document["payment"], document["guarantee"]
        if document["schema"] != SCHEMA or told["unit"] not in ("person", "record"):
            raise ValueError
        return Certificate(
            sha256=str(document["sha256"]),
            unit=told["unit"],
            epsilon=exact(told["epsilon"], "epsilon"),
            delta=exact(told["delta"], "delta", zero=True, below_one=True),
            payment=Payment(str(payment["ledger"]), int(payment["line"]), str(payment["hash"])),
        )
    except (ValueError, KeyError, TypeError, DiscreetError):
        raise UnreadableInput(
            Sentence("{name} is no statement of a guarantee", name=place.name),
            remedy="name the file that was written beside the release",
        ) from None
