"""What the documentation shows works: its commands and its Python are run, its links lead somewhere.

Blocks of a page run in their order, in a folder of their own that holds the made-up town in ``demo/``.
A ``console`` block lists commands after ``$``; each must end with 0 unless ``echo $?`` shows another code,
and each line shown below a command must be in what it printed (``…`` stands for what is left out).
A page that needs the public data finds them where ``DISCREET_DATA`` says, and is skipped without them.
``discreet`` runs in a copy of a process that has imported it; on pages that need Spark, in this one, which has Spark.
A block after ``<!-- file: NAME -->`` is written to that file first. ``sh`` blocks are for reading only.
"""

from __future__ import annotations

import doctest
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet.example import write_example
from helpers import program
from helpers.markdown import ROOT, Block, anchors, blocks, documents, links

BIN = Path(sys.executable).parent
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1"}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SPARK, DATA = "<!-- needs: spark -->", "<!-- needs: data -->"
RUN = [
    path
    for path in documents()
    if any(b.language in ("python", "console", "toml") for b in blocks(path.read_text("utf-8")))
]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def needs(path: Path) -> list[pytest.MarkDecorator]:
    text = path.read_text(encoding="utf-8")
    return [mark for told, mark in ((SPARK, pytest.mark.spark), (DATA, pytest.mark.data)) if told in text]


@dataclass
class Shell:
    """Runs the commands of a page one after the other and remembers how the last one ended."""

    folder: Path
    here: bool = False
    """Whether ``discreet`` is run in this process."""
    code: int = 0

    def run(self, command: str) -> str:
        if command == "echo $?":
            code, self.code = self.code, 0
            return f"{code}\n"
        assert self.code == 0, (
            f"the command before {command!r} ended with {self.code}, which the page does not say"
        )
        if command.startswith("discreet "):
            return self._discreet(shlex.split(command)[1:])
        done = subprocess.run(
            ["bash", "-c", self._adapted(command)],
            cwd=self.folder,
            env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **PLAIN},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        self.code = done.returncode
        return done.stdout

    def _discreet(self, arguments: list[str]) -> str:
        """``discreet``, with what it prints in a file if the page says ``> FILE``."""
        into = None
        if len(arguments) > 1 and arguments[-2] == ">":
            arguments, into = arguments[:-2], self.folder / arguments[-1]
        run = program.run_here if self.here else program.run
        self.code, out, err = run(arguments, self.folder, **PLAIN)
        if into is None:
            return out + err
        into.write_text(out, encoding="utf-8")
        return err

    def _adapted(self, command: str) -> str:
        """``make`` uses the environment that runs the tests; ``make test`` only says what it would do.

        The demonstration is made in a folder of its own and with fewer people, whom attacks learn about much faster.
        """
        if not command.startswith("make "):
            return command
        venv = self.folder / "venv"
        if not venv.exists():
            (venv / "bin").mkdir(parents=True)
            for program in ("python", "discreet"):
                (venv / "bin" / program).symlink_to(BIN / program)
            for stamp in (".demo-stamp", ".test-stamp"):
                (venv / stamp).touch()
        dry = "" if command == "make demo" else "--dry-run "
        target = command.removeprefix("make ")
        return f"make --no-print-directory {dry}-C '{ROOT}' {target} VENV='{venv}' DEMO='{self.folder}/made' PEOPLE=600"


def run_console(block: Block, shell: Shell, where: str) -> None:
    printed = ""
    for line in block.text.splitlines():
        if line.startswith("$ "):
            printed = shell.run(line[2:])
        elif line.strip() not in ("", "…"):
            wanted = " ".join(line.removesuffix("…").split())
            assert wanted in " ".join(printed.split()), (
                f"{where}: not printed: {line!r}; printed was:\n{printed}"
            )
    assert shell.code == 0, f"{where}: ended with {shell.code}, which the page does not say:\n{printed}"


def run_python(block: Block, namespace: dict[str, object], where: str) -> None:
    if ">>> " not in block.text:
        exec(compile(block.text, where, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(block.text, namespace, where, where, block.line)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=told.append, clear_globs=False)
    namespace.update(test.globs)
    assert not runner.failures, "".join(told)


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    write_example(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(path, marks=needs(path)) for path in RUN], ids=name)
def test_the_examples_of_a_page_work(
    path: Path, town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    text = path.read_text(encoding="utf-8")
    if SPARK in text:
        request.getfixturevalue("spark")
    if DATA in text:
        monkeypatch.setenv("DISCREET_DATA", str(request.getfixturevalue("data_dir")))
    shutil.copytree(town, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    shell, namespace = Shell(tmp_path, here=SPARK in text), {"__name__": "__main__"}
    for block in blocks(text):
        where = f"{name(path)}:{block.line}"
        if block.language == "toml":
            tomllib.loads(block.text)
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(block, namespace, where)
        elif block.language == "console":
            run_console(block, shell, where)


def test_the_readme_names_the_two_commands_and_they_are_run() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(block for block in blocks(readme) if block.language == "console")
    assert first.text.splitlines()[0] == "$ make demo"
    assert "$ make test" in first.text.splitlines()
    assert ROOT / "README.md" in RUN


@pytest.mark.parametrize("path", documents(), ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for link in links(text):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.exists(), f"{name(path)} links to {link}, which is not there"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), (
                f"{name(path)}: no heading for {link}"
            )


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links(index.read_text("utf-8"))}
    unreached = [name(path) for path in (ROOT / "docs").rglob("*.md") if path != index and path not in linked]
    assert not unreached, f"docs/index.md does not link to {unreached}"
