"""The extended risks of SCORR: uniqueness, uniformity, correlation and the one-step Markov model.

Every record has such a risk; records that share all it depends on share an entry. For the whole
quasi-identifier the entries are classes, persons in classes, or sensitive values in classes; for one
attribute they are its values, or pairs with them, and so are few.

Source: Folz et al., "Scoring System for Quantifying the Privacy in Re-Identification of Tabular Datasets",
IEEE Access 13 (2025), section II-E.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.measure import RecordRisk
from discreet.risk.tally import Rows, agreeing, crosstab, crosstab_of, person_bound, tally, value_records
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray, Progress

Category = Literal["low", "medium", "high"]

LOW = 0.33
MEDIUM = 0.66
TOLERANCE = 1e-9
_PAPER = "Folz et al. 2025, IEEE Access 13, doi 10.1109/ACCESS.2025.3563309, eq. "


def category(value: float, *, low: float = LOW, medium: float = MEDIUM) -> Category:
    """The category of a risk: low [0, 0.33], medium (0.33, 0.66], high above (Folz et al. 2025, section IV).

    The maximum over all records is what is put into a category.

    >>> category(0.33), category(0.331), category(0.66), category(1.0)
    ('low', 'medium', 'medium', 'high')
    """
    if value <= low + TOLERANCE:
        return "low"
    return "medium" if value <= medium + TOLERANCE else "high"


def uniqueness(classes: EquivalenceClasses, attribute: str | None = None) -> RecordRisk:
    """How far a record's quasi-identifier stands out by being rare.

    R_i = 1 - log2 f(QI_i) / log2 n, with f the records that share the quasi-identifier of record i and n all
    records (Folz et al. 2025, eq. 2). A table of one record has risk 1 by convention. ``attribute`` asks for
    one attribute alone.

    >>> years = EquivalenceClasses.from_columns({"born": [1991] * 3 + [1993] * 6 + [1999]})
    >>> uniqueness(years).values.round(4)
    array([0.5229, 0.2218, 1.    ])
    """
    sizes = classes.records if attribute is None else value_records(classes, attribute)
    alone = classes.total == 1
    values = np.ones(len(sizes)) if alone else 1.0 - np.log2(sizes) / np.log2(classes.total)
    what = _what(attribute)
    return RecordRisk(
        "uniqueness",
        values,
        classes.all_records if attribute is None else sizes,
        meaning=Sentence(
            "How rare a record's {what} is: 1 if no other record shares it, 0 if all records share it.",
            what=Sentence(what),
        ),
        source=_PAPER + "2",
        attribute=attribute,
    )


def uniformity(classes: EquivalenceClasses, attribute: str | None = None) -> RecordRisk:
    """How surely a quasi-identifier points to the person of the record.

    R_i = P(u | QI_i) = records of person u with that quasi-identifier / records with it (Folz et al. 2025,
    eq. 3). At person level each record is a person, so this is 1 / f(QI_i).

    >>> trips = EquivalenceClasses.from_columns({"car": ["a", "a", "a", "b"]}, person=[1, 1, 2, 2])
    >>> uniformity(trips).values.round(4), uniformity(trips).weights
    (array([0.6667, 0.3333, 1.    ]), array([2, 1, 1]))
    """
    if classes.person_codes is None:
        sizes = classes.records if attribute is None else value_records(classes, attribute)
        values = 1.0 / sizes
        weights = classes.all_records if attribute is None else sizes
    elif attribute is None:
        counts = classes.person_counts
        weights = counts.records
        values = weights / np.repeat(classes.records, np.diff(counts.indptr))
    else:
        j, rows = classes.index(attribute), Rows.of(classes)
        assert rows.persons is not None
        shape = (classes.attributes[j].size, rows.person_size)
        pairs = crosstab(rows.spread(classes.codes[j]), rows.persons, shape, rows.records)
        weights = pairs.records
        values = weights / pairs.a_totals[pairs.a]
    what = _what(attribute)
    return RecordRisk(
        "uniformity",
        values,
        weights,
        meaning=Sentence(
            "The chance to name the right person when picking one of the records with the same {what}.",
            what=Sentence(what),
        ),
        source=_PAPER + "3",
        attribute=attribute,
    )


def correlation(classes: EquivalenceClasses, sensitive: str, attribute: str | None = None) -> RecordRisk:
    """How surely a quasi-identifier gives away the record's sensitive value.

    R_i = P(SA_i | QI_i) = records with that quasi-identifier and that sensitive value / records with that
    quasi-identifier (Folz et al. 2025, eq. 4).

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"zip": [1, 1, 1, 2]}, sensitive={"ill": ["flu", "flu", "flu", "cold"]})
    >>> correlation(classes, "ill").values
    array([1., 1.])
    >>> mixed = EquivalenceClasses.from_columns({"zip": [1, 1, 1]}, sensitive={"ill": ["flu", "flu", "cold"]})
    >>> risk = correlation(mixed, "ill")
    >>> risk.values.round(4), risk.weights
    (array([0.3333, 0.6667]), array([1, 2]))
    """
    if attribute is None:
        histogram = classes.histogram(sensitive)
        values, weights = histogram.shares, classes.all_entries(histogram)
    else:
        classes.index(attribute)
        pairs = crosstab_of(classes, attribute, sensitive)
        values, weights = pairs.records / pairs.a_totals[pairs.a], pairs.records
    what = _what(attribute)
    return RecordRisk(
        "correlation",
        values,
        weights,
        meaning=Sentence(
            "The chance to guess a record's {sensitive} right for someone who knows its {what}.",
            sensitive=sensitive,
            what=Sentence(what),
        ),
        source=_PAPER + "4",
        attribute=attribute,
        sensitive=sensitive,
    )


def markov_simplified(classes: EquivalenceClasses, sensitive: str) -> RecordRisk:
    """The one-step Markov model from the quasi-identifier to the sensitive value; reported, never decides.

    R_i = 1 - P_d (1 - P(u | QI_i)) (1 - P(SA_i | QI_i)) (1 - P(u | SA_i)), with P_d = f(QI_i) / n
    (Folz et al. 2025, eq. 5). It does not grow linearly with the real risk: it is near 1 for most tables.

    >>> classes = EquivalenceClasses.from_columns({"zip": [1, 1]}, sensitive={"ill": ["flu", "cold"]})
    >>> markov_simplified(classes, "ill").values        # 1 - 1 · 1/2 · 1/2 · 0
    array([1., 1.])
    >>> classes = EquivalenceClasses.from_columns({"zip": [1] * 4}, sensitive={"ill": ["flu", "cold"] * 2})
    >>> markov_simplified(classes, "ill").values        # 1 - 1 · 3/4 · 1/2 · 1/2
    array([0.8125, 0.8125])
    """
    if classes.person_codes is None:
        histogram = classes.histogram(sensitive)
        size = np.repeat(classes.records, histogram.distinct)
        of_person = 1.0 / size
        of_value = histogram.shares
        person_of_value = 1.0 / histogram.totals[histogram.values]
        weights = classes.all_entries(histogram)
    else:
        size, of_person, of_value, person_of_value = _event_probabilities(classes, sensitive)
        weights = classes.counts
    values = 1.0 - size / classes.total * (1.0 - of_person) * (1.0 - of_value) * (1.0 - person_of_value)
    return RecordRisk(
        "markov",
        values,
        weights,
        meaning=(
            Sentence(
                "Rarity, pointing to one person and giving away {sensitive} in one number; it is close to 1 "
                "for most tables, so it is shown and not used to decide.",
                sensitive=sensitive,
            )
        ),
        source=_PAPER + "5",
        sensitive=sensitive,
        decides=False,
    )


def all_scorr(
    classes: EquivalenceClasses,
    *,
    sensitive: Sequence[str] | None = None,
    kinds: EquivalenceClasses | None = None,
    progress: Progress | None = None,
) -> list[RecordRisk]:
    """All four risks, for the whole quasi-identifier and for each attribute alone (Folz et al. 2025).

    ``sensitive`` limits correlation and Markov risk to some sensitive attributes; for the whole quasi-identifier the
    ``kinds`` of the classes are enough, where they are at hand; ``progress`` is told what is computed next.

    >>> classes = EquivalenceClasses.from_columns({"zip": [1, 1]}, sensitive={"ill": ["flu", "cold"]})
    >>> [(risk.name, risk.attribute) for risk in all_scorr(classes)]
    [('uniqueness', None), ('uniqueness', 'zip'), ('uniformity', None), ('uniformity', 'zip'),
     ('correlation', None), ('correlation', 'zip'), ('markov', None)]
    """
    targets = [domain.name for domain in classes.sensitive] if sensitive is None else list(sensitive)
    scopes: list[str | None] = [None, *classes.names]
    tell = progress or (lambda _: None)
    risks: list[RecordRisk] = []
    for risk in (uniqueness, uniformity):
        for scope in scopes:
            tell(
                Sentence(
                    "{risk} of {scope}",
                    risk=Sentence(risk.__name__),
                    scope=scope or Sentence("the whole quasi-identifier"),
                )
            )
            risks.append(risk(classes if scope else kinds or classes, scope))
    for target in targets:
        for scope in scopes:
            tell(
                Sentence("correlation of {target} with {scope}", target=target, scope=scope)
                if scope
                else Sentence("correlation of {target} with the whole quasi-identifier", target=target)
            )
            risks.append(correlation(classes if scope else kinds or classes, target, scope))
        tell(Sentence("Markov model from the quasi-identifier to {target}", target=target))
        risks.append(markov_simplified(kinds or classes, target))
    return risks


def _what(attribute: str | None) -> str:
    return "combination of quasi-identifiers" if attribute is None else f"value of {attribute}"


def _event_probabilities(
    classes: EquivalenceClasses, sensitive: str
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Per cell: class size, P(u | QI), P(SA | QI), P(u | SA), all counted in records."""
    assert classes.person_codes is not None
    domain = classes.sensitive_domain(sensitive)
    values, persons, owner = classes.sensitive_codes[sensitive], classes.person_codes, classes.class_of_cell
    bound, counts = person_bound(classes), classes.counts
    size = classes.records[owner]
    of_person = agreeing([owner, persons], [len(classes), bound], counts) / size
    of_value = agreeing([owner, values], [len(classes), domain.size], counts) / size
    value_records = tally(values, counts, domain.size)[values]
    person_of_value = agreeing([values, persons], [domain.size, bound], counts) / value_records
    return size, of_person, of_value, person_of_value
