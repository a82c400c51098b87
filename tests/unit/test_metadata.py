"""What an index shows of the package: its README without links that lead nowhere, and where the project lies."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
RELATIVE = re.compile(r"\]\((?![a-z]+:|#)")


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_are_words_or_lead_to_the_repository(hook: ModuleType) -> None:
    text = "![A page](docs/a.png) see [how](docs/how.md#do) and [us](https://example.org) or [here](#top)"
    assert hook.as_shown_elsewhere(text, "") == " see how and [us](https://example.org) or [here](#top)"
    assert hook.as_shown_elsewhere(text, "https://h.example/d") == (
        "![A page](https://h.example/d/raw/HEAD/docs/a.png) see [how](https://h.example/d/blob/HEAD/docs/how.md#do)"
        " and [us](https://example.org) or [here](#top)"
    )


@pytest.mark.parametrize("home", ["", "https://h.example/d/"])
def test_the_readme_of_the_package(hook: ModuleType, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.setenv("DISCREET_HOME", home)
    told: dict[str, object] = {}
    hook.CustomMetadataHook(str(ROOT), {}).update(told)
    readme = told["readme"]
    assert isinstance(readme, dict)
    assert RELATIVE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert not RELATIVE.search(readme["text"])
    assert readme["text"].startswith("# discreet")
    assert ("urls" in told) == bool(home)
    if home:
        urls = told["urls"]
        assert isinstance(urls, dict)
        assert urls["Homepage"] == "https://h.example/d"
        assert all(url.startswith("https://h.example/d") for url in urls.values())


def test_the_source_archive_has_all_that_the_repository_has() -> None:
    """What its README links to, what its tests read and what builds it; hatchling itself adds the two below."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = {
        *told["tool"]["hatch"]["build"]["targets"]["sdist"]["include"],
        "pyproject.toml",
        ".gitignore",
    }
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    # Where this is the archive itself, there is no repository to be asked.
    held = {name.partition("/")[0] for name in listed.split()} or {
        path.name for path in ROOT.iterdir()
    } & included
    assert held == included
