"""The words of the page: the same keys and places in every language, and none that a template lacks or leaves."""

from __future__ import annotations

import re
import string
from importlib import resources
from typing import Literal, get_args, get_origin

import pytest

pytest.importorskip("fastapi")

from discreet.dp.foresight import AskedFigure
from discreet.policy.document import UNWRITTEN
from discreet.policy.plan import FOLLOWED, METHODS, Plan
from discreet.policy.settings import bare, settings
from discreet.release.families import method_families
from discreet.reports.phrasebook import OWN, languages
from discreet.table import DATA_TYPES
from discreet.table.reading import ReadOptions
from discreet.table.roles import ROLES
from discreet.utility.objectives.registry import OBJECTIVES
from discreet.web import steps
from discreet.web.api.parameters import FORMATS
from discreet.web.bundle import LACKING
from discreet.web.cases import Origin
from discreet.web.downloads import DOWNLOADS
from discreet.web.pages.basket_views import METHOD_CHOICES
from discreet.web.pages.builder_forms import CHOICES, FIELDS
from discreet.web.pages.family_views import EFFECTS
from discreet.web.pages.glossary import TERMS
from discreet.web.pages.language import own_words, text
from discreet.web.pages.reading_form import SIGNS
from discreet.web.pages.walks import WALKS
from discreet.web.requirements import fields_of, models

TEMPLATES = [
    path.read_text("utf-8")
    for folder in ("", "parts", "sections", "folds")
    for path in (resources.files("discreet.web.pages") / "templates" / folder).iterdir()
    if path.name.endswith(".jinja")
]


def places(words: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(words) if name}


@pytest.mark.parametrize("language", [tag for tag in languages() if tag != OWN])
def test_every_language_has_the_same_keys_and_places(language: str) -> None:
    english, other = text(OWN).words, own_words(language)
    assert set(english) == set(other)
    assert {key for key in english if places(english[key]) != places(other[key])} == set()
    assert [key for key, words in other.items() if not words.strip()] == []


def used() -> set[str]:
    """Keys that templates name in full, and those that they make of a value."""
    found = {key for one in TEMPLATES for key in re.findall(r"""\bt\(["']([a-z._-]+)["'](?! *~)""", one)}
    step_fields = [
        field
        for family in method_families()
        for name in family.methods
        if steps.offered(name)
        for field in steps.fields_of(name)
    ]
    all_steps = [step for walk in WALKS.values() for step in walk.steps]
    made = {
        "baskets.": (
            *("known_items", "least", "exposed", "success"),
            *("loss", "pair_error", "lost_itemsets", "items_gone", "empty"),
            *("limits_person", "limits_more", "limits_rho"),
        ),
        "baskets.column_": ("basket", "item"),
        "baskets.method_": METHOD_CHOICES,
        "together.": ("table", "rows", "key", "refers", "known", "fewest", "alone", "coarser"),
        "roles.": [*ROLES, *(f"{role}_says" for role in ROLES)],
        "methods.": METHODS,
        "formats.": FORMATS,
        "columns.type_": DATA_TYPES,
        "reading.": [
            *(name for name in settings(ReadOptions) if name not in UNWRITTEN),
            *(word for signs in SIGNS.values() for word in signs.values() if word),
            *("yes", "no"),
        ],
        "builders.": CHOICES,
        "builders_say.": CHOICES,
        "parameters.": {field.name for fields in FIELDS.values() for field in fields},
        "choices.": {one for fields in FIELDS.values() for field in fields for one in field.choices},
        "objectives.": OBJECTIVES,
        "settings.": {field.name for name, _ in models() for field in fields_of(name, ())},
        "settings_choices.": {
            one for name, _ in models() for field in fields_of(name, ()) for one in field.choices
        },
        "effects.": EFFECTS.values(),
        "step_settings.": {field.name for field in step_fields},
        "step_choices.": {one for field in step_fields for one in field.choices},
        "preview.": ("records", "persons"),
        "budget.made_": ("artificial", "tables", "answer", "classifier"),
        "budget.figure_": get_args(AskedFigure),
        "why.": ("higher", "lower"),
        "case.origin_": get_args(Origin),
        "verdict.risk_": ("low", "medium", "high"),
        "job.": ("queued", "running"),
        "steps.": [*(step.name for step in all_steps), "judge", "again"],
        "steps.state_": ("good", "warn", "bad", "busy", "old"),
        "folds.": [question for step in all_steps for question in (*step.folded, *step.grouped)],
        "columns.ask_": ("known", "insensitive"),
        "explain.": ("loss", "suppressed", "workload_error", "max_risk", "inference"),
        "ready.": ("loss", "suppressed_share", "workload_error", "max_risk", "inference"),
        "terms.": TERMS,
        "method_settings.": [
            key
            for name in FOLLOWED
            # The page offers choices; the others are for policy files.
            if get_origin(kind := bare(settings(Plan)[name].annotation)) is Literal
            for key in (name, *(f"{name}_{one}" for one in get_args(kind)))
        ],
        "terms_say.": TERMS,
        "downloads.": [*DOWNLOADS, *(f"{what}_says" for what in DOWNLOADS)],
    }
    prefixes = {key for one in TEMPLATES for key in re.findall(r"""\bt\(["']([a-z._-]+)["'] *~""", one)}
    assert prefixes == set(made), "say here what the keys are made of"
    return found | {LACKING} | {prefix + value for prefix, values in made.items() for value in values}


def test_every_key_that_is_used_exists_and_every_key_is_used() -> None:
    known = set(text("en").words)
    assert used() - known == set()
    assert known - used() == set()
