"""locked.txt holds what pyproject.toml asks for, with hashes, and names no index."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "locked.txt").read_text(encoding="utf-8")
ENTRIES = re.findall(
    r"^(\S+)==(\S+)(?: ; [^\\\n]+)?((?: \\\n {4}--hash=sha256:[0-9a-f]{64})+)$", LOCK, re.MULTILINE
)


def asked() -> Iterator[Requirement]:
    """Every requirement of the package, its extras and the groups for development."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lists = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    for line in (line for entries in lists for line in entries):
        if not line.startswith("discreet["):
            yield Requirement(line)


def test_every_requirement_is_locked_to_a_version_that_it_allows() -> None:
    for requirement in asked():
        locked = [version for name, version, _ in ENTRIES if name == canonicalize_name(requirement.name)]
        assert locked, f"{requirement.name} is not in locked.txt; run make lock"
        for version in locked:
            assert version in requirement.specifier, f"{requirement} is locked to {version}; run make lock"


def test_every_line_belongs_to_a_package_with_hashes() -> None:
    lines = [line for line in LOCK.splitlines() if not line.startswith("#")]
    assert len(lines) == sum(1 + hashes.count("--hash") for _, _, hashes in ENTRIES)
    assert len(ENTRIES) > 60


def test_no_index_is_named() -> None:
    assert re.findall(r"://|--index|--extra-index|--find-links|--trusted", LOCK) == []


def test_compiled_packages_have_files_for_other_systems_too() -> None:
    """One hash or two are those of a source and of a file for all systems; more are one for each of them."""
    files = {name: hashes.count("--hash") for name, _, hashes in ENTRIES}
    assert all(files[name] >= 10 for name in ("duckdb", "numba", "numpy", "pyarrow", "scipy"))


def test_the_citation_names_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {project['version']}\n" in citation
    assert f"\nlicense: {project['license']}\n" in citation
