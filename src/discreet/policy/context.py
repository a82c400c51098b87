"""What columns say about each other: alike columns, numbers of rows, several weights, and codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa

from discreet.policy.policy import ColumnPolicy
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS
from discreet.table.identifiers import Finding
from discreet.table.identifiers.content import PLAIN_NUMBER
from discreet.table.identifiers.kinds import AttributeKind
from discreet.table.identifiers.lexicon import words
from discreet.table.identifiers.names import tokens

MOST_CODES = 1_000
"""So many different numbers can be codes; more are amounts or ids."""
FAMILY = 4
"""So many columns with the same values are taken for one family."""
CODED = frozenset(
    (
        "sex", "ethnicity", "nationality", "country", "region", "small-geography", "marital-status", "household",
        "occupation", "organisation", "religion", "language", "stay", "insurance", "diagnosis",
    )
)  # fmt: skip
"""Kinds whose numbers, if they are numbers, are codes without an order."""
CODE_WORDS = frozenset(("id", "code", "cd", "type", "typ", "kind", "art", "status", "schluessel", "klasse"))
ROW_WORDS = frozenset(("row", "index", "lfd", "zeile"))
COUNT_WORDS = words(
    """
    number num count size years yrs hours hrs days time length distance los experience exper seniority tenure fte children kids
    nchild nchildren nkids siblings dependents dependants rooms members persons anzahl zahl groesse jahre stunden tage dauer kinder
    geschwister
    """
)
COUNT_ENDS = ("groesse", "zahl", "dauer", "stunden", "tage", "jahre")
"""How words for what is counted or measured end in German: ``Haushaltsgröße``, ``Verweildauer``."""


def with_alike(findings: Mapping[str, Finding], sample: pa.Table) -> dict[str, Finding]:
    """Findings, and for unrecognised columns of a family what most of its recognised members are.

    A family are columns that all have some of the same few words for values, at least three of them: one column per drug,
    say, each with No, Steady, Up or Down. Numbers are no words: degrees of education and answers from 1 to 6 are not alike.
    """
    completed = dict(findings)
    for family in _families(sample):
        known = Counter(findings[name].kind.id for name in family if name in findings)
        if not known:
            continue
        kind = known.most_common(1)[0][0]
        example = next(name for name in family if name in findings and findings[name].kind.id == kind)
        for name in family:
            reason = Sentence("it has the same values as {example}", example=example)
            completed.setdefault(name, replace(findings[example], by="content", reason=reason))
    return completed


def _families(sample: pa.Table) -> list[list[str]]:
    """Runs of columns with the same few words for values, those between them with only one of these included."""
    values = {
        name: frozenset(value for value in sample[name].unique().to_pylist() if value is not None)
        for name in sample.column_names
        if pa.types.is_string(sample[name].type) or pa.types.is_large_string(sample[name].type)
    }
    families: list[list[str]] = []
    widest = {own for own in values.values() if 3 <= len(own) <= 12 and _in_words(own)}
    for shared in sorted(widest, key=lambda each: (-len(each), sorted(each))):
        members = [name for name, own in values.items() if own and own <= shared]
        if len(members) >= FAMILY and not any(set(members) & set(family) for family in families):
            families.append(members)
    return families


def _in_words(values: frozenset[str]) -> bool:
    """Whether at least three values are neither numbers nor marks of missing ones."""
    return sum(value not in MISSING_MARKS and PLAIN_NUMBER.fullmatch(value) is None for value in values) >= 3


def numbers_rows(name: str, values: pa.ChunkedArray, rows: int) -> bool:
    """Whether different whole numbers of so many rows number these: by name, ascending, close together, or of one length.

    ``values`` may be a sample: it lies as wide apart as all rows do.

    >>> numbers_rows("x", pa.chunked_array([[17, 12, 15, 11]]), 4)
    True
    >>> numbers_rows("x", pa.chunked_array([[120, 45554, 0, 3471]]), 4)
    False
    >>> numbers_rows("x", pa.chunked_array([[120, 45554, 0, 3471]]), 50_000)
    True
    """
    numbers = [value for value in values.to_pylist() if value is not None]
    if len(numbers) < 2 or not all(isinstance(value, int) and value >= 0 for value in numbers):
        return False
    ascending = all(first < second for first, second in pairwise(numbers))
    close = max(numbers) - min(numbers) < 3 * rows
    lengths = {len(str(value)) for value in numbers}
    named = not ROW_WORDS.isdisjoint(tokens(name))
    return named or ascending or close or (len(lengths) == 1 and min(lengths) > 5)


def one_weight(columns: Sequence[ColumnPolicy]) -> list[ColumnPolicy]:
    """The columns with one weight at most: the persons' own before that of households, the first among equals."""
    weights = [column for column in columns if column.role == "weight"]
    if len(weights) < 2:
        return list(columns)
    kept = min(weights, key=lambda column: bool({"household", "hh", "haushalt"} & set(tokens(column.name))))
    reason = Sentence(
        "another sampling weight besides {name}: a table is counted by one, and others may tell who is of one household "
        "or stratum: left out, unless you take it from drop_attributes",
        name=kept.name,
    )
    return [
        replace(column, role="insensitive", reason=reason)
        if column.role == "weight" and column is not kept
        else column
        for column in columns
    ]


def is_code(name: str, kind: AttributeKind | None) -> bool:
    """Whether numbers of a column are codes without an order: by its name, or by what it is.

    >>> from discreet.table.identifiers.kinds import KINDS
    >>> is_code("MARSTAT", KINDS["marital-status"]), is_code("admission_type_id", None), is_code("age", KINDS["age"])
    (True, True, False)
    >>> [is_code(name, KINDS["organisation"]) for name in ("Operating Certificate Number", "number_of_schools")]
    [True, False]
    >>> is_code("COMPCODE", None), is_code("INCOME", None)
    (True, False)
    >>> [is_code(name, KINDS["household"]) for name in ("Haushaltsgröße", "children", "relationship")]
    [False, False, True]
    """
    listed = tokens(name)
    own = set(listed)
    # "Number of beds" counts, "certificate number" numbers.
    if len(listed) > 1 and listed[-1] == "number" and kind is not None and kind.id in CODED:
        own.discard("number")
    counted = bool(own & COUNT_WORDS) or any(word.endswith(COUNT_ENDS) for word in listed)
    if counted and not own & {"id", "code"}:
        return False
    # Names of old files are written as one: COMPCODE.
    glued = any(word.endswith("code") for word in listed)
    return glued or (kind is not None and kind.id in CODED) or bool(own & CODE_WORDS)
