"""Attacks on the sensitive values of a class: homogeneity and skewness.

Both read released classes as they are printed: whoever shares the printed quasi-identifiers is in the
class. With local recoding a person may fit several printed classes; linkage by compatible sets tells those apart.
"""

from __future__ import annotations

import numpy as np

from discreet.attacks.disclosure.view import AnyRelease, SensitiveView, best_values
from discreet.attacks.result import AttackResult
from discreet.privacy.base import TOLERANCE, need_number
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

DIVERSITY = "Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, 2007"


def homogeneity(release: AnyRelease, sensitive: str, *, certainty: float = 0.95) -> AttackResult:
    """The intruder finds the target's class and says its most frequent sensitive value, if frequent enough.

    A class E falls if max over s of n(E, s) / n(E) >= ``certainty``. Successes: the people of fallen classes who
    have that value. Baseline: the share of all people who have it, so how often the same sentence would be right
    about the same people without the classes. At event level n(E, s) are the persons of E with s among their
    records. Machanavajjhala et al. 2007.

    >>> from discreet.classes import EquivalenceClasses
    >>> released = EquivalenceClasses.from_columns(
    ...     {"age": ["30-39", "30-39", "40-49", "40-49"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> result = homogeneity(released, "dx")
    >>> result.tries, result.successes, result.baseline, result.fallen
    (4, 2.0, 0.375, (0,))
    """
    need_number("certainty", certainty, high=1.0, above=True)
    view = SensitiveView.of(release, sensitive)
    share, guess = best_values(view.histogram, view.shares)
    return view.result(
        "homogeneity",
        fallen=share >= certainty - TOLERANCE,
        right=people_right(view, guess),
        before=view.prior[guess],
        score=share,
        says=lambda c: Sentence(
            "{share:.0%} of the class have the same value of {sensitive!r}",
            share=share[c],
            sensitive=sensitive,
        ),
        meaning="Whoever finds the class of a person also knows the sensitive value of that person.",
        scenario="prosecutor: knows the quasi-identifiers of the target and that the target is in the release",
        source=DIVERSITY,
    )


def skewness(
    release: AnyRelease, sensitive: str, *, factor: float = 2.0, level: float = 1 / 3
) -> AttackResult:
    """The intruder finds that a value is much more likely in the target's class than in the whole table.

    A class E falls if some value s has q = n(E, s) / n(E) >= ``factor`` times its share p in the table, and
    q >= ``level``: a gain from 0.1 % to 0.3 % harms hardly anybody, one from a ninth to a third may. The guess is
    the value with the largest q among them. Successes: the people of fallen classes who have it; baseline: its
    share p. Figures: the largest q / p. Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007.

    >>> from discreet.classes import EquivalenceClasses
    >>> released = EquivalenceClasses.from_columns(
    ...     {"age": ["30-39"] * 2 + ["40-49"] * 6}, sensitive={"hiv": ["+", "-"] + ["-"] * 6})
    >>> result = skewness(released, "hiv")
    >>> result.successes, result.baseline, dict(result.figures)["largest-gain"]
    (1.0, 0.03125, 4.0)
    """
    need_number("factor", factor, low=1.0)
    need_number("level", level, high=1.0)
    view = SensitiveView.of(release, sensitive)
    entries = view.histogram
    gain = view.shares / view.prior[entries.values]
    strong = (gain >= factor - TOLERANCE) & (view.shares >= level - TOLERANCE)
    score, guess = best_values(entries, np.where(strong, view.shares, 0.0))
    gains = entries.per_class(np.maximum, gain)[view.shown]
    return view.result(
        "skewness",
        fallen=score > 0,
        right=people_right(view, guess),
        before=view.prior[guess],
        score=score,
        says=lambda c: Sentence(
            "a value of {sensitive!r} has {score:.0%} in the class and {prior:.1%} in the table",
            sensitive=sensitive,
            score=score[c],
            prior=view.prior[guess[c]],
        ),
        meaning="Whoever finds the class of a person holds a sensitive value for much more likely than before.",
        scenario="prosecutor: knows the quasi-identifiers of the target and compares the class with the whole table",
        source="Li, Li and Venkatasubramanian, t-closeness, 2007",
        figures=(("largest-gain", float(gains.max(initial=1.0))),),
    )


def people_right(view: SensitiveView, guess: IntArray) -> FloatArray:
    """Per class, how many of its people have the value that was guessed for it."""
    truth = view.truth
    return truth.right(view.stands_for(guess[truth.owner], truth.values), len(view.released))
