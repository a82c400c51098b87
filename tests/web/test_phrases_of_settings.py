"""What is wrong with a policy, a profile or sent settings is said in German, too, and without the words of programs."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

pytest.importorskip("fastapi")

from pydantic import Field, ValidationError

import discreet
from discreet.policy import loads
from discreet.policy.problems import FAULTS, LISTS, UNNAMED, explain, fault
from discreet.policy.settings import Strict
from discreet.release.profile import load_profile
from discreet.reports.phrasebook import phrasebook
from discreet.web.api.parameters import AnonymizeParameters, AttackParameters
from discreet.web.pages.language import translate

AGE = '[columns.age]\nrole = "quasi-identifier"\n'


class Settings(Strict):
    """A setting of every kind that settings have."""

    text: Annotated[str, Field(min_length=2, max_length=3, pattern="[a-z]")] = "aa"
    whole: Annotated[int, Field(ge=1, lt=9)] = 1
    number: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0
    flag: bool = True
    choice: Literal["one", "two"] = "one"
    names: Annotated[list[str], Field(min_length=1, max_length=2)] = Field(default_factory=lambda: ["a"])
    pair: tuple[int, int] = (1, 2)
    day: date = date(2026, 1, 31)
    inner: dict[str, int] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": 5}, "must be a text"),
        ({"text": "a"}, "has fewer than 2 characters"),
        ({"text": "abcd"}, "has more than 3 characters"),
        ({"text": "AB"}, "has another form than it must have"),
        ({"whole": "x"}, "must be a whole number"),
        ({"whole": 1.5}, "must be a whole number"),
        ({"whole": None}, "must be a whole number"),
        ({"whole": 0}, "must be at least 1"),
        ({"whole": 9}, "must be below 9"),
        ({"number": "x"}, "must be a number"),
        ({"number": []}, "must be a number"),
        ({"number": float("inf")}, "must be a finite number"),
        ({"number": 0}, "must be above 0"),
        ({"number": 2}, "must be at most 1"),
        ({"flag": "perhaps"}, "must be true or false"),
        ({"flag": []}, "must be true or false"),
        ({"choice": "three"}, "must be one of: one, two"),
        ({"names": "a"}, "must be a list"),
        ({"names": []}, "has fewer than 1 entries"),
        ({"names": ["a"] * 3}, "has more than 2 entries"),
        ({"pair": 5}, "must be a list"),
        ({"pair": [1]}, "is missing"),
        ({"pair": [1, 2, 3]}, "has more than 2 entries"),
        ({"day": "soon"}, "must be a date such as 2026-01-31"),
        ({"inner": 3}, "must be a table of settings"),
        ({"other": 3}, "is not known"),
    ],
)
def test_what_is_wrong_with_a_setting_is_said_in_plain_words(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate(given)
    told = fault(refused.value.errors()[0])
    assert told == said
    assert translate(told, "de") not in (None, said)


def test_every_fault_has_german() -> None:
    book = phrasebook("de")
    assert book is not None
    assert {*FAULTS.values(), UNNAMED, *LISTS.values()} <= set(book.phrases)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "\nprofil = 1\n" + AGE,
            "policy, Zeile 2: unbekannte Einstellung „profil“; sie entfernen oder berichtigen",
        ),
        ('[columns.age]\ntype = "integer"\n', "policy, Zeile 1: columns.age.role fehlt"),
        ("[columns.age]\nrole = 5\n", "policy, Zeile 2: 5 ist keine Rolle; Rollen sind: direct-identifier"),
        ('[require]\nmodel = "k-anonymity"\n' + AGE, "Zeile 1: Anforderungen sind eine Liste"),
        ('[[require]]\nmodel = "k-anonymity"\nk = 0\n' + AGE, "policy, Zeile 1: "),
        (
            AGE + "[anonymize]\nsuppression_limit = 2\n",
            "policy, Zeile 4: anonymize.suppression_limit darf höchstens 1",
        ),
        (AGE + '[[kpi]]\nname = "a"\nquery = "select 1"\n' * 2, "zwei Kennzahlen heißen „a“"),
        ("format = 99\n" + AGE, "policy hat das Format 99"),
    ],
)
def test_what_is_wrong_with_a_policy_is_said_in_german(text: str, said: str) -> None:
    with pytest.raises(discreet.errors.InvalidPolicy) as refused:
        loads(text)
    german = [translate(problem, "de") for problem in refused.value.problems]
    assert None not in german
    assert any(said in str(one) for one in german), german
    assert translate(refused.value.message, "de") is not None


def test_what_is_wrong_with_a_profile_or_with_roles_is_said_in_german(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('title = "t"\n', encoding="utf-8")
    with pytest.raises(discreet.errors.InvalidPolicy) as refused:
        load_profile(str(own))
    assert str(translate(refused.value.problems[0], "de")).startswith("das Profil own.toml, Zeile 1: ")
    with pytest.raises(discreet.errors.InvalidPolicy) as refused:
        discreet.Policy.of(quasi_identifiers=["age"], sensitive=["age"])
    assert translate(refused.value.problems[0], "de") == (
        "der Spalte „age“ sind zwei Rollen gegeben: quasi-identifier und sensitive"
    )


@pytest.mark.parametrize(
    ("kind", "sent", "said"),
    [
        (
            AnonymizeParameters,
            {"format": "doc"},
            "format muss eins davon sein: csv, xlsx, parquet, tsv, arrow",
        ),
        (AttackParameters, {"seed": -1}, "seed muss mindestens 0 sein"),
        (AttackParameters, {"nothing": 1}, "nothing ist nicht bekannt"),
    ],
)
def test_what_is_wrong_with_what_was_sent_is_said_in_german(
    kind: Any, sent: dict[str, Any], said: str
) -> None:
    with pytest.raises(discreet.errors.InvalidParameter) as refused:
        kind.checked(sent)
    assert translate(refused.value.message, "de") == said


def test_a_document_that_is_no_table_is_refused_in_words() -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate([])
    assert explain("", "a.toml", refused.value)[0].strip() == "a.toml:  must be a table of settings"
