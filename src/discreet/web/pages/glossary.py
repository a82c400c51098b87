"""The glossary of the page: the words of the field, privacy models and attacks, in the language of the page."""

from __future__ import annotations

from discreet.attacks.catalogue import ATTACKS
from discreet.privacy.registry import MODELS
from discreet.release import legal
from discreet.reports.words import MEASURES, title_of
from discreet.table.roles import ROLES

TERMS = (
    *("class", "k", "l", "t", "generalisation", "hierarchy", "suppression", "loss", "requirement", "profile"),
    *("policy", "recipe", "codebook", "risk", "intruder", "baseline", "tolerated", "price"),
)
"""Words that the page explains itself: ``terms`` and ``terms_say`` of its text."""


def glossary() -> dict[str, object]:
    """What the template of the glossary is given; names and sentences of the core are said in the language there."""
    return {
        "roles": ROLES,
        "terms": TERMS,
        "models": [(MODELS[name].title, MEASURES[name].says) for name in MODELS if name in MEASURES],
        "criteria": [(legal.TITLES[name], legal.QUESTIONS[name]) for name in legal.TITLES],
        "attacks": [(title_of(attack.id), attack.says) for attack in ATTACKS.values()],
    }
