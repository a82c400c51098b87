"""A third language is one file: page, reports and command line find it without being told."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.reports import phrasebook
from discreet.web.pages import language
from discreet.web.pages.language import text, translate

pytest_plugins = ("helpers.server",)
MADE_UP = """
[language]
name = "Volapük"
decimal = "·"
thousands = "_"
percent = " dps"

[page.start]
drop = "Pladö ragivi"

[amounts]
"under" = "dis"

[verdict]
"Do not release this table." = "No püböö taibi at."
"{column} lost most: {share} of its detail." = "{share} de {column} peperon."
"""


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder of languages with one file more."""
    folder = tmp_path / "phrases"
    shutil.copytree(str(resources.files("discreet.reports") / phrasebook.FOLDER), folder)
    (folder / "vo.toml").write_text(MADE_UP, encoding="utf-8")
    kept = (phrasebook.languages, phrasebook.phrasebook, language.text)
    monkeypatch.setattr(phrasebook, "_folder", lambda: folder)
    for remembered in kept:
        remembered.cache_clear()
    yield "vo"
    for remembered in kept:
        remembered.cache_clear()


def test_one_file_makes_a_language(client: TestClient, made_up: str) -> None:
    assert list(phrasebook.languages()) == ["en", "de", made_up]
    assert translate("Do not release this table.", made_up) == "No püböö taibi at."
    assert translate("under 1,234.5%", made_up) == "dis 1_234·5 dps"
    start = client.get("/", headers={"accept-language": made_up}).text
    assert '<html lang="vo">' in start
    assert "Pladö ragivi" in start
    assert ">Volapük</a>" in start
    # What the file lacks stays English.
    assert text(made_up)("start.choose") == text("en")("start.choose")
    assert ">Volapük</a>" in client.get("/", headers={"accept-language": "de"}).text
    client.cookies.clear()


def test_a_folder_is_read_as_one_file(made_up: str, tmp_path: Path) -> None:
    whole = tmp_path / "phrases" / "vo.toml"
    folder = tmp_path / "phrases" / "vo2"
    folder.mkdir()
    head, _, rest = whole.read_text("utf-8").partition("[amounts]")
    (folder / "page.toml").write_text(head, encoding="utf-8")
    (folder / "rest.toml").write_text("[amounts]" + rest, encoding="utf-8")
    phrasebook.languages.cache_clear()
    assert phrasebook.pairs("vo2") == phrasebook.pairs(made_up)
    assert phrasebook.page_words("vo2") == phrasebook.page_words(made_up)
    assert phrasebook.languages()["vo2"] == phrasebook.languages()[made_up]
