"""The certificate of a release: one self-contained page with what the register knows about it."""

from __future__ import annotations

from discreet.register import ReleaseCertificate
from discreet.reports.html import page
from discreet.reports.timeline import picture
from discreet.reports.words import SYMBOLS
from discreet.sentences import Sentence

NOT_ENTERED = "not entered"


def render_certificate(certificate: ReleaseCertificate, *, language: str = "en") -> str:
    """The page as HTML text. It shows no value, no name and no key."""
    entry = certificate.entry
    drawn = picture(certificate.timeline)
    people = f"{entry.persons:,}" if entry.people_sha256 else Sentence(NOT_ENTERED)
    known, sensitive = ", ".join(entry.quasi_identifiers), ", ".join(entry.sensitive)
    audience, profile = entry.audience or "–", entry.profile or "–"
    checksums = (
        ("Published file (SHA-256)", entry.sha256),
        ("Policy (SHA-256)", entry.policy_sha256),
        ("What is kept about people (SHA-256)", entry.people_sha256 or "–"),
        ("Entry (SHA-256)", entry.hash),
        ("Entry before it (SHA-256)", entry.previous),
    )
    return page(
        "certificate.html.jinja",
        {
            "symbols": SYMBOLS,
            "names": (entry.time, audience, profile, known, sensitive, *(told for _, told in checksums)),
            "number": entry.number,
            "name": entry.file,
            "tone": "good" if certificate.holds else "bad",
            "says": _says(certificate),
            "unchanged": certificate.unchanged,
            "facts": [
                ("Entered", entry.time),
                ("For whom", audience),
                ("Rows", f"{entry.rows:,}"),
                ("People", people),
            ],
            "withdrawal": certificate.withdrawal,
            "picture": drawn,
            "judged": [
                ("Profile", profile),
                ("Quasi-identifiers", known),
                ("Sensitive attributes", sensitive),
            ],
            "checksums": checksums,
            "latest": certificate.latest,
        },
        () if drawn is None else (drawn,),
        language=language,
    )


def _says(certificate: ReleaseCertificate) -> Sentence:
    """In one sentence whether the release stands as it was entered."""
    if certificate.unchanged is False:
        return Sentence("This file is not the one that was published")
    if certificate.withdrawal is not None:
        return Sentence("Published, and withdrawn")
    return Sentence("Published, and entered in the register")
