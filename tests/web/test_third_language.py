"""A third language is one file: page, reports and command line find it without being told."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from html import unescape
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pytest
import tomlkit

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.engine.read import read
from discreet.policy.suggest import suggestion
from discreet.release.audit import audit
from discreet.reports import phrasebook
from discreet.reports.audit.html import render
from discreet.reports.words import percent
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

[verdict]
"Do not release this table." = "No püböö taibi at."
"{column} lost most: {share} of its detail." = "{share} de {column} peperon."
"under {share:.1%}" = "dis {share}"
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
    assert translate(percent(0.0001), made_up) == "dis 0·1 dps"
    assert translate("1,234.5%", made_up) == "1_234·5 dps"
    start = client.get("/", headers={"accept-language": made_up}).text
    assert '<html lang="vo">' in start
    assert "Pladö ragivi" in start
    assert ">Volapük</a>" in start
    # What the file lacks stays English.
    assert text(made_up)("start.choose") == text("en")("start.choose")
    assert ">Volapük</a>" in client.get("/", headers={"accept-language": "de"}).text
    client.cookies.clear()


@pytest.fixture
def every_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A language made of nothing but the keys of the German one: each sentence is its own template in double brackets."""
    lines = {text: f"⟦{text}⟧" for _, text, _ in phrasebook.pairs("de")}
    words = {key: f"⟦{said}⟧" for key, said in language.text("en").words.items()}
    folder = tmp_path / "phrases"
    (folder / "xx").mkdir(parents=True)
    page: dict[str, dict[str, str]] = {}
    for key, said in words.items():
        table, _, name = key.partition(".")
        page.setdefault(table, {})[name] = said
    document = {"language": {"name": "Xx", "conjunction": "⟦and⟧"}, "page": page, "sentences": lines}
    (folder / "xx" / "all.toml").write_text(tomlkit.dumps(document), encoding="utf-8")
    kept = (phrasebook.languages, phrasebook.phrasebook, language.text)
    monkeypatch.setattr(phrasebook, "_folder", lambda: folder)
    for remembered in kept:
        remembered.cache_clear()
    yield "xx"
    for remembered in kept:
        remembered.cache_clear()


WORDS = re.compile(r"(?<![\w⟦])[A-Za-z]{3,} [a-z]{3,} [a-z]{2,}")
"""Three words in a row are a sentence, or a part of one."""


def unsaid(markup: str, names: Collection[str]) -> list[str]:
    """Texts of a page that are neither said in the language nor names, values, sources or a policy file."""
    body = re.sub(r"(?s)<(style|script|pre)\b.*?</\1>|<details class=\"source\">.*?</details>", " ", markup)
    texts = (unescape(text).strip() for text in re.findall(r">([^<>]+)<", body))
    return sorted({text for text in texts if "⟦" not in text and text not in names and WORDS.search(text)})


def test_nothing_of_a_report_or_the_page_stays_english_in_a_language_that_has_the_keys(
    client: TestClient, every_word: str
) -> None:
    """The keys of German are enough: whoever translates them leaves no English sentence, in whatever file they stand."""
    table = read(
        pa.table(
            {
                "age": [20 + i % 50 for i in range(120)],
                "sex": ["f", "m"] * 60,
                "illness": [("flu", "cold", "gout")[i % 7 % 3] for i in range(120)],
            }
        )
    )
    audited = audit(table, suggestion(table).policy)
    names = {*table.names, "flu", "cold", "gout"}
    for edition in ("internal", "public"):
        assert unsaid(render(audited, edition=edition, language=every_word), names) == []
    start = client.get("/", headers={"accept-language": every_word}).text
    assert unsaid(start, names) == []
    client.cookies.clear()


def test_a_folder_is_read_as_one_file(made_up: str, tmp_path: Path) -> None:
    whole = tmp_path / "phrases" / "vo.toml"
    folder = tmp_path / "phrases" / "vo2"
    folder.mkdir()
    head, _, rest = whole.read_text("utf-8").partition("[verdict]")
    (folder / "page.toml").write_text(head, encoding="utf-8")
    (folder / "rest.toml").write_text("[verdict]" + rest, encoding="utf-8")
    phrasebook.languages.cache_clear()
    assert phrasebook.pairs("vo2") == phrasebook.pairs(made_up)
    assert phrasebook.page_words("vo2") == phrasebook.page_words(made_up)
    assert phrasebook.languages()["vo2"] == phrasebook.languages()[made_up]
