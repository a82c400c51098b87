"""Recognise what a column tells about people, from its name and from a sample of its values.

The 18 identifiers of the HIPAA Safe Harbor method, the usual quasi-identifiers and the usual sensitive
attributes are known by English and German names and, where the content can tell, by the content. Nothing here
reads a table: the caller passes a sample.
"""

from discreet.table.identifiers.kinds import KINDS, AttributeKind
from discreet.table.identifiers.names import names_a_household, names_a_person, names_staff
from discreet.table.identifiers.numbers import missing_extras
from discreet.table.identifiers.recognition import Finding, recognise

__all__ = [
    "KINDS",
    "AttributeKind",
    "Finding",
    "missing_extras",
    "names_a_household",
    "names_a_person",
    "names_staff",
    "recognise",
]
