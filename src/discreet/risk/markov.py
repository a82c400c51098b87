"""The full Markov-model risk: guessing a record attribute by attribute from a few that are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.packed import LARGEST_TABLE, are_many, packed
from discreet.errors import InvalidParameter
from discreet.measure import Measure, RecordRisk
from discreet.risk.tally import number, tally
from discreet.sentences import Sentence
from discreet.types import IntArray

_SOURCE = (
    "Aufschläger et al. 2023, 'Anonymization Procedures for Tabular Data', section 5.4, eq. 24-26, after "
    "Vatsalan et al. 2022, Brit. J. Educ. Technol. 53(4)"
)
_CERTAIN = 1.0 - 1e-12
ENOUGH_GROUPS = 10_000
"""So many groups say enough of all."""


def markov_risk(
    classes: EquivalenceClasses, known: Sequence[str], order: Sequence[str] | None = None
) -> RecordRisk:
    """Risk of re-identifying a record for someone who knows ``known`` and infers the rest step by step.

    With J the known attributes, U the others in the stated order o_1 … o_m, o_0 = J and n records::

        PR = 1 - n · P(J) (1 - P(U | J)) · Π_{j=1..m} P(o_j | o_{j-1}) (1 - P(U | o_j))

    Every factor ``P(U | o_j)`` is the joint probability of *all* attributes outside J, conditioned on the
    one attribute of that step (Aufschläger et al. 2023, eq. 24-26). The result depends on the order.
    ``order`` defaults to the other quasi-identifiers as the table has them. All probabilities are shares of
    records, at event level too: the definition is for tables with one record per person.

    Of more than a million classes whole groups that agree in U are drawn: the values are those of a sample.

    n · PP is no probability: for frequent combinations it exceeds 1 and the formula falls below 0. Such a
    record is given risk 0. A record whose known values are shared by no other has risk 1.

    >>> classes = EquivalenceClasses.from_columns({
    ...     "education": ["Bachelors", "Bachelors", "HS-grad", "11th", "Bachelors", "Masters"],
    ...     "sex": ["M", "M", "M", "M", "F", "F"], "hours": [40, 13, 40, 40, 40, 40]})
    >>> risk = markov_risk(classes, ["education"])
    >>> round(risk.min, 12), risk.max, round(risk.mean, 5)
    (0.9, 1.0, 0.98333)
    """
    unknown = _order(classes, known, order)
    whole = classes.records
    sharing: Callable[[Sequence[str]], IntArray] = classes.group_records
    complete = len(known) + len(unknown) == len(classes.names)
    drawn, group = _drawn(classes, unknown) if complete else (None, None)
    if drawn is not None and group is not None:
        whole, sharing = whole[drawn], partial(_sharing, classes, drawn)
        at_unknown = tally(group, whole, int(group.max()) + 1)[group]
    else:
        at_unknown = sharing(unknown)
        if not complete:
            whole = sharing([*known, *unknown])
    at_known = sharing(known)
    # PP = P(J) (1 - P(U | J)) · …, so n · PP starts with the records that share the known values.
    expected = (at_known - whole).astype(np.float64)
    before, previous = at_known, list(known)
    for name in unknown:
        here = sharing([name])
        expected *= sharing([*previous, name]) / before
        expected *= 1.0 - at_unknown / here
        before, previous = here, [name]
    return RecordRisk(
        "markov-model",
        np.clip(1.0 - expected, 0.0, 1.0),
        classes.records if len(whole) == len(classes) else whole,
        meaning=(
            Sentence(
                "The risk that someone who knows {known} pins the record down by inferring its other values "
                "one from another; 0 stands for everything the formula puts at 0 or below.",
                known=", ".join(known) or "nothing",
            )
        ),
        source=_SOURCE,
        decides=False,
    )


def markov_measures(risk: RecordRisk) -> list[Measure]:
    """Mean, minimum, maximum, median and marketer risk of a Markov-model risk (Vatsalan et al. 2022).

    mean = Σ PR_i / n (eq. 26); marketer = share of the records with PR_i = 1, those that someone who tries
    to name everybody is sure to name.

    >>> classes = EquivalenceClasses.from_columns({
    ...     "education": ["Bachelors", "Bachelors", "HS-grad", "11th", "Bachelors", "Masters"],
    ...     "sex": ["M", "M", "M", "M", "F", "F"], "hours": [40, 13, 40, 40, 40, 40]})
    >>> [(m.name, round(m.value, 4)) for m in markov_measures(markov_risk(classes, ["education"]))]
    [('mean', 0.9833), ('min', 0.9), ('max', 1.0), ('median', 1.0), ('marketer', 0.8333)]
    """
    certain = float(risk.weights[risk.values >= _CERTAIN].sum() / risk.weights.sum())
    return [
        _measure("mean", risk.mean, "The Markov-model risk of a record on average."),
        _measure("min", risk.min, "The Markov-model risk of the safest record."),
        _measure("max", risk.max, "The Markov-model risk of the most exposed record."),
        _measure("median", risk.quantile(0.5), "Half of the records have at most this Markov-model risk."),
        _measure("marketer", certain, "The share of records that are re-identified with certainty."),
    ]


def _measure(name: str, value: float, meaning: str) -> Measure:
    unit = "share of records" if name == "marketer" else "probability"
    return Measure(name, value, unit, "lower", meaning, _SOURCE)


def _drawn(
    classes: EquivalenceClasses, unknown: Sequence[str]
) -> tuple[IntArray, IntArray] | tuple[None, None]:
    """Of millions of classes those of some groups that agree in what is unknown, and each's group; else nothing.

    Few groups would say little of the others: they are all looked at.
    """
    if not unknown or not are_many(classes):
        return None, None
    drawn, keys = packed(classes).draw(unknown)
    groups, group = np.unique(keys, return_inverse=True)
    return (drawn, group) if len(groups) >= ENOUGH_GROUPS else (None, None)


def _sharing(classes: EquivalenceClasses, at: IntArray, names: Sequence[str]) -> IntArray:
    """For some classes, how many records of the table share their values of ``names``."""
    columns = [classes.index(name) for name in names]
    sizes = [classes.attributes[j].size for j in columns]
    if not names or prod(sizes) > LARGEST_TABLE:
        return classes.group_records(names)[at]
    numbers, _ = number([classes.codes[j][at].astype(np.int64) for j in columns], sizes, dense=True)
    return packed(classes).table(names)[0][numbers].astype(np.int64)


def _order(classes: EquivalenceClasses, known: Sequence[str], order: Sequence[str] | None) -> list[str]:
    for name in [*known, *(order or ())]:
        classes.index(name)
    if len(set(known)) < len(known):
        raise InvalidParameter("an attribute is named twice in known", remedy="name each attribute once")
    if order is None:
        return [name for name in classes.names if name not in known]
    if len(set(order)) < len(order) or set(order) & set(known):
        raise InvalidParameter(
            "order names an attribute twice or one that is known",
            remedy="let order list the unknown attributes, each once",
        )
    return list(order)
