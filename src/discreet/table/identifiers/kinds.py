"""The kinds of information about people that a column can hold, and what is usual for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from discreet.table.roles import Role


@dataclass(frozen=True)
class AttributeKind:
    """One kind of information: its usual role, its HIPAA number and its ratings.

    ``hipaa`` numbers the 18 identifiers of the Safe Harbor method as in Table 1 of Aufschläger et al.,
    "Anonymization Procedures for Tabular Data", Information 14 (2023) 487. ``replication`` (how constantly it
    goes with a person), ``availability`` (how easily others come to know it) and ``distinguishability`` (how
    well it tells people apart) run from 1, low, to 3, high, as in section 6.7.1 there; the last is a default
    that the data refine.

    >>> KINDS["birth-date"].hipaa, KINDS["birth-date"].replication
    (3, 3)
    """

    id: str
    title: str
    hipaa: int | None
    role: Role
    replication: int
    availability: int
    distinguishability: int


_DIRECT: Final[Role] = "direct-identifier"
_QUASI: Final[Role] = "quasi-identifier"
_SENSITIVE: Final[Role] = "sensitive"

_ALL = (
    # direct identifiers: HIPAA 1 and 4 to 18
    AttributeKind("name", "Name of a person", 1, _DIRECT, 3, 3, 3),
    AttributeKind("street", "Street address", 2, _DIRECT, 2, 3, 3),
    AttributeKind("phone", "Telephone number", 4, _DIRECT, 2, 3, 3),
    AttributeKind("vin", "Vehicle identification number", 5, _DIRECT, 2, 2, 3),
    AttributeKind("licence-plate", "Vehicle licence plate", 5, _DIRECT, 2, 3, 3),
    AttributeKind("fax", "Fax number", 6, _DIRECT, 2, 3, 3),
    AttributeKind("device-id", "Device identifier or serial number", 7, _DIRECT, 2, 2, 3),
    AttributeKind("email", "Email address", 8, _DIRECT, 3, 3, 3),
    AttributeKind("url", "Web address", 9, _DIRECT, 2, 3, 3),
    AttributeKind("ssn", "Social security number", 10, _DIRECT, 3, 2, 3),
    AttributeKind("ip-address", "IP address", 11, _DIRECT, 2, 2, 3),
    AttributeKind("medical-record-number", "Medical record number", 12, _DIRECT, 3, 1, 3),
    AttributeKind("biometric", "Biometric identifier", 13, _DIRECT, 3, 2, 3),
    AttributeKind("health-plan-number", "Health plan or health service number", 14, _DIRECT, 3, 2, 3),
    AttributeKind("photo", "Photograph or comparable image", 15, _DIRECT, 2, 3, 3),
    AttributeKind("account-number", "Account or payment card number", 16, _DIRECT, 3, 2, 3),
    AttributeKind("iban", "Bank account number (IBAN)", 16, _DIRECT, 3, 2, 3),
    AttributeKind("national-id", "National identification or tax number", 17, _DIRECT, 3, 2, 3),
    AttributeKind("unique-id", "Unique identifying number or code", 17, _DIRECT, 3, 1, 3),
    AttributeKind("user-name", "User name or profile in a social network", 17, _DIRECT, 2, 3, 3),
    AttributeKind("certificate", "Certificate or licence number", 18, _DIRECT, 3, 2, 3),
    AttributeKind("password", "Password or secret", None, _DIRECT, 2, 1, 3),
    AttributeKind("free-text", "Free text", None, _DIRECT, 1, 1, 3),
    # quasi-identifiers: place (HIPAA 2) and time (HIPAA 3) first
    AttributeKind("postcode", "Postcode", 2, _QUASI, 2, 3, 3),
    AttributeKind("city", "City or place", 2, _QUASI, 2, 3, 2),
    AttributeKind("small-geography", "Area smaller than a state", 2, _QUASI, 2, 3, 2),
    AttributeKind("coordinates", "Geographic coordinates", 2, _QUASI, 2, 2, 3),
    AttributeKind("deprivation-index", "Socio-economic index of a small area", None, _QUASI, 2, 2, 2),
    AttributeKind("region", "State or region", None, _QUASI, 2, 3, 1),
    AttributeKind("country", "Country", None, _QUASI, 2, 3, 1),
    AttributeKind("birth-date", "Date of birth", 3, _QUASI, 3, 3, 3),
    AttributeKind("date", "Date of an event", 3, _QUASI, 2, 2, 3),
    AttributeKind("date-part", "Month, day or weekday of an event", 3, _QUASI, 2, 2, 1),
    AttributeKind("birth-year", "Year of birth", None, _QUASI, 3, 3, 2),
    AttributeKind("year", "Year of an event", None, _QUASI, 2, 2, 1),
    AttributeKind("age", "Age", None, _QUASI, 3, 3, 2),
    AttributeKind("sex", "Sex or gender", None, _QUASI, 3, 3, 1),
    AttributeKind("ethnicity", "Race, ethnicity or migration background", None, _QUASI, 3, 3, 1),
    AttributeKind("nationality", "Nationality or country of origin", None, _QUASI, 3, 3, 2),
    AttributeKind("marital-status", "Marital status", None, _QUASI, 2, 3, 1),
    AttributeKind("household", "Household and family", None, _QUASI, 2, 3, 1),
    AttributeKind("education", "Education", None, _QUASI, 3, 2, 2),
    AttributeKind("occupation", "Occupation or employer", None, _QUASI, 2, 3, 2),
    AttributeKind("organisation", "Organisation a person is tied to", None, _QUASI, 2, 2, 2),
    AttributeKind("religion", "Religion or belief", None, _QUASI, 3, 2, 1),
    AttributeKind("language", "Language", None, _QUASI, 3, 3, 1),
    AttributeKind("body-measurement", "Body measurement", None, _QUASI, 2, 2, 2),
    AttributeKind("stay", "Admission, stay or discharge", None, _QUASI, 1, 2, 2),
    AttributeKind("insurance", "Insurance or payer", None, _QUASI, 2, 1, 1),
    # sensitive attributes, those of Article 9 and 10 GDPR among them
    AttributeKind("diagnosis", "Diagnosis", None, _SENSITIVE, 2, 1, 2),
    AttributeKind("health", "Health, treatment or disability", None, _SENSITIVE, 1, 1, 2),
    AttributeKind("genetic", "Genetic data", None, _SENSITIVE, 3, 1, 3),
    AttributeKind("political-opinion", "Political opinion", None, _SENSITIVE, 2, 1, 1),
    AttributeKind("trade-union", "Trade union membership", None, _SENSITIVE, 2, 1, 1),
    AttributeKind("sexual-orientation", "Sex life or sexual orientation", None, _SENSITIVE, 3, 1, 1),
    AttributeKind("criminal-record", "Criminal record", None, _SENSITIVE, 2, 2, 1),
    AttributeKind("income", "Income, wealth or payments", None, _SENSITIVE, 2, 1, 2),
    AttributeKind("credit", "Credit and debt", None, _SENSITIVE, 2, 1, 2),
    AttributeKind("grade-or-result", "Grade or result of an examination", None, _SENSITIVE, 2, 1, 1),
    AttributeKind("opinion", "Opinion or answer to a questionnaire", None, _SENSITIVE, 1, 1, 1),
    # tells nothing about a person, but has to be known
    AttributeKind("sampling-weight", "Sampling weight", None, "weight", 1, 1, 2),
)

KINDS: Final[Mapping[str, AttributeKind]] = MappingProxyType({kind.id: kind for kind in _ALL})
"""Every kind by its id."""
