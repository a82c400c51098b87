"""The project file: which tables of a repository are checked, and by which policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from discreet.errors import InvalidPolicy, UnreadableInput
from discreet.files.documents import parse_toml
from discreet.files.reading import read_text
from discreet.policy.problems import explain
from discreet.policy.settings import Strict
from discreet.sentences import Sentence

PROJECT_FILE = "discreet.toml"
SHARED_FILE = "pyproject.toml"
Text = Annotated[str, Field(pattern=r"\S")]


class _Entry(Strict):
    path: Text
    policy: Text
    optional: bool = False


class _Document(Strict):
    table: list[_Entry] = Field(min_length=1)


@dataclass(frozen=True)
class ProjectTable:
    """A file that a project has checked, and its policy file."""

    path: Path
    policy: Path


@dataclass(frozen=True)
class Project:
    """The tables that a project file names: ``discreet.toml``, or ``[tool.discreet]`` in ``pyproject.toml``.

    Each ``[[table]]`` has a ``path``, which may be a pattern such as ``release/*.parquet``, and a ``policy``; both are
    meant from the folder of the project file. One that fits no file is an error, unless it is ``optional``.
    """

    file: Path
    entries: tuple[tuple[str, str, bool], ...]

    @classmethod
    def find(cls, start: str | PathLike[str] = ".") -> Project | None:
        """The nearest project file in a folder or above it."""
        folder = Path(start).resolve()
        for place in (folder, *folder.parents):
            for name in (PROJECT_FILE, SHARED_FILE):
                if (place / name).is_file() and (project := cls.load(place / name)) is not None:
                    return project
        return None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Project | None:
        """The project of a file; of a ``pyproject.toml`` that has none, nothing."""
        place = Path(path)
        text = read_text(place, "project file", remedy="it must be a UTF-8 text file in TOML")
        try:
            document: object = parse_toml(text)
        except ValueError as error:
            raise InvalidPolicy(
                [Sentence("{name} is not valid TOML: {error}", name=place.name, error=error)],
                remedy="correct this line",
            ) from None
        if place.name == SHARED_FILE:
            tools = document.get("tool") if isinstance(document, Mapping) else None
            document = tools.get("discreet") if isinstance(tools, Mapping) else None
            if document is None:
                return None
        try:
            parsed = _Document.model_validate(document)
        except ValidationError as error:
            raise InvalidPolicy(
                explain(text, place.name, error), remedy="see how to check in CI in the documentation"
            ) from None
        return cls(place, tuple((entry.path, entry.policy, entry.optional) for entry in parsed.table))

    def tables(self) -> list[ProjectTable]:
        """Every file that the project names, in the order of the entries and of their names."""
        return list(dict.fromkeys(self._matches()))

    def policy_of(self, path: str | PathLike[str]) -> Path | None:
        """The policy file by which the project has a file checked."""
        wanted = Path(path).resolve()
        return next((table.policy for table in self._matches() if table.path.resolve() == wanted), None)

    def _matches(self) -> Iterator[ProjectTable]:
        folder = self.file.parent
        for pattern, policy, optional in self.entries:
            # A name that is there is that file, also where it looks like a pattern.
            exact = folder / pattern
            fitting = [] if Path(pattern).is_absolute() else sorted(folder.glob(pattern))
            files = [exact] if exact.is_file() else [file for file in fitting if file.is_file()]
            if not files and not optional:
                raise UnreadableInput(
                    Sentence(
                        "{project} names {pattern}, which fits no file",
                        project=self.file.name,
                        pattern=pattern,
                    ),
                    remedy="correct the path, make the table first, or say optional = true",
                )
            yield from (ProjectTable(file, folder / policy) for file in files)
