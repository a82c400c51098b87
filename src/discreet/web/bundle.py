"""The bundle: a release with everything that belongs to it in one ZIP file, and the checksums of all.

What may be handed out with the release lies in one folder, what must stay inside in another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from discreet.files.writing import atomically
from discreet.web.pages.language import text

OUT, INSIDE = "hand-out", "keep-inside"
CHECKSUMS = "SHA256SUMS"
PARTS: tuple[tuple[str, str, str], ...] = (
    ("release-for-people.*", OUT, "release"),
    ("release.*", OUT, "release"),
    ("codebook.*", OUT, "codebook"),
    ("report-public.html", OUT, "report-public"),
    ("policy.toml", INSIDE, "release-policy"),
    ("recipe.json", INSIDE, "recipe"),
    ("report.html", INSIDE, "report"),
)
"""Of a release: the file, the folder it gets, and what it is called there; the first of a name counts."""
PROOF: tuple[tuple[str, str, str], ...] = (
    ("report-public.html", OUT, "evidence-public"),
    ("report.html", INSIDE, "evidence"),
    ("result.json", INSIDE, "evidence"),
)
"""The same of what was lost and what attacks came to."""
LACKING = "downloads.lacking"
"""The words of a bundle without that."""


def write_bundle(release: Path, proof: Path | None, stem: str, language: str) -> Path:
    """The bundle of the release that lies in a folder, and of what was tried on it; made once and kept beside it.

    Without a proof a line in it says what it lacks.
    """
    files = _named(release, PARTS, stem) | (_named(proof, PROOF, stem) if proof else {})
    target = release / f"bundle-{'tried' if proof else f'untried-{language}'}.zip"
    if not target.exists():
        lacking = {} if proof else {f"{INSIDE}/{stem}-evidence.txt": f"{text(language)(LACKING)}\n".encode()}
        write_files(target, files, lacking)
    return target


def write_files(target: Path, files: Mapping[str, Path], notes: Mapping[str, bytes] | None = None) -> None:
    """Files and short notes in one ZIP file under the names that they get there, with the checksums of all."""

    def write(part: Path) -> None:
        sums = []
        with ZipFile(part, "w", ZIP_DEFLATED) as bundle:
            for name, file in files.items():
                bundle.write(file, name)
                with file.open("rb") as content:
                    sums.append(f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {name}\n")
            for name, note in (notes or {}).items():
                bundle.writestr(name, note)
                sums.append(f"{hashlib.sha256(note).hexdigest()}  {name}\n")
            bundle.writestr(CHECKSUMS, "".join(sums))

    atomically(target, write)


def _named(folder: Path, parts: tuple[tuple[str, str, str], ...], stem: str) -> dict[str, Path]:
    """The files of a folder that belong into the bundle, under the names that they get there."""
    named: dict[str, Path] = {}
    for pattern, place, what in parts:
        for file in sorted(folder.glob(pattern)):
            named.setdefault(f"{place}/{stem}-{what}{file.suffix}", file)
    return named
