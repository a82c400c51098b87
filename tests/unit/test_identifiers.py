"""Columns are recognised for what they tell about people, by name and by content, and not mistaken."""

from __future__ import annotations

import csv
import gzip
import random
import string
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.table import identifiers
from discreet.table.identifiers import KINDS, missing_extras, names_a_person, numbers, recognise
from discreet.table.roles import ROLES

stdnum = pytest.importorskip("stdnum", reason="the extra `identifiers` is not installed")
pytest.importorskip("phonenumbers", reason="the extra `identifiers` is not installed")

NAMES = {
    # HIPAA 1 to 18 in English
    "name": "name", "first_name": "name", "LastName": "name", "surname": "name", "Patient Name": "name",
    "custname": "name", "applicant-name": "name", "Street": "street", "home_address": "street", "address": "street",
    "ZIP": "postcode", "Zip Code - 3 digits": "postcode", "postal.code": "postcode", "City": "city",
    "Hospital County": "small-geography", "census_tract": "small-geography", "lat": "coordinates",
    "longitude": "coordinates", "DOB": "birth-date", "birthDate": "birth-date", "date_of_birth": "birth-date",
    "admission_date": "date", "discharge date": "date", "timestamp": "date", "phone": "phone",
    "mobileNumber": "phone", "Phone No.": "phone", "VIN": "vin", "license_plate": "licence-plate",
    "number plate": "licence-plate", "fax_number": "fax", "serial_no": "device-id", "MACAddress": "device-id",
    "imei": "device-id", "e-mail": "email", "EmailAddress": "email", "url": "url", "homepage": "url", "SSN": "ssn",
    "social_security_number": "ssn", "IPAddress": "ip-address", "ip_addr": "ip-address",
    "MRN": "medical-record-number", "medical_record_no": "medical-record-number", "fingerprint": "biometric",
    "voice_print": "biometric", "health_plan_id": "health-plan-number", "medicare number": "health-plan-number",
    "photo": "photo", "profile_picture": "photo", "account_no": "account-number", "CreditCardNumber": "account-number",
    "iban": "iban", "id_student": "unique-id", "patient_nbr": "unique-id", "encounter_id": "unique-id",
    "customerID": "unique-id", "userid": "unique-id", "uuid": "unique-id", "drivers_license": "certificate",
    "attending_provider_license_number": "certificate", "passport_no": "national-id", "comments": "free-text",
    # German
    "Vorname": "name", "Nachname": "name", "Familienname": "name", "Geburtsdatum": "birth-date",
    "Geb_Dat": "birth-date", "Geburtsjahr": "birth-year", "PLZ": "postcode", "Postleitzahl": "postcode",
    "Straße": "street", "Strasse": "street", "Hausnr": "street", "Ort": "city", "Wohnort": "city",
    "Landkreis": "small-geography", "Bundesland": "region", "Telefon": "phone", "Telefonnummer": "phone", "Handy": "phone",
    "Tel.-Nr.": "phone", "E-Mail": "email", "Personalnummer": "unique-id", "Matrikelnummer": "unique-id",
    "Kunden-Nr": "unique-id", "KVNR": "health-plan-number", "Versichertennummer": "health-plan-number",
    "Steuer-ID": "national-id", "Sozialversicherungsnummer": "ssn", "Kontonummer": "account-number",
    "Konto-Nr": "account-number", "Kennzeichen": "licence-plate", "Fahrgestellnummer": "vin",
    "Führerscheinnummer": "certificate", "Fingerabdruck": "biometric", "Lichtbild": "photo", "Bemerkung": "free-text",
    "Geschlecht": "sex", "Alter": "age", "Altersgruppe": "age", "Familienstand": "marital-status",
    "Beruf": "occupation", "Bildung": "education", "Abschluss": "education", "Staatsangehörigkeit": "nationality",
    "Religion": "religion", "Muttersprache": "language", "Haushaltsgröße": "household", "Diagnose": "diagnosis",
    "ICD": "diagnosis", "Einkommen": "income", "Gehalt": "income", "Note": "grade-or-result",
    "Prüfungsnote": "grade-or-result", "Vorstrafen": "criminal-record", "Parteizugehörigkeit": "political-opinion",
    "Gewerkschaft": "trade-union", "sexuelle_Orientierung": "sexual-orientation", "Schufa": "credit",
    "Bruttoeinkommen": "income", "Aufnahmediagnose": "diagnosis", "Name des Arztes": "name", "street_name": "street",
    "contact_email": "email", "Wohnort_PLZ": "postcode",
    # columns of public data sets
    "age": "age", "age_band": "age", "Age Group": "age", "sex": "sex", "gender": "sex", "Race": "ethnicity",
    "Ethnicity": "ethnicity", "native-country": "nationality", "marital.status": "marital-status",
    "marital-status": "marital-status", "education-num": "education", "highest_education": "education",
    "occupation": "occupation", "workclass": "occupation", "relationship": "household", "capital-gain": "income",
    "capital.loss": "income", "salary-class": "income", "income": "income", "final_result": "grade-or-result",
    "imd_band": "deprivation-index", "region": "region", "disability": "health", "diag_1": "diagnosis",
    "CCS Diagnosis Description": "diagnosis", "A1Cresult": "health", "Facility Name": "organisation",
    "Facility Id": "organisation", "Discharge Year": "year", "admit_day_of_week": "date-part",
    "fnlwgt": "sampling-weight", "PWGTP": "sampling-weight", "MonthlyCharges": "income", "Mathenote": "grade-or-result",
    "sampling_weight": "sampling-weight", "genotype": "genetic",
    "credit_score": "credit", "Length of Stay": "stay", "nationality": "nationality", "religion": "religion",
}  # fmt: skip

UNRECOGNISED = (
    "message_count", "package", "hours-per-week", "num_of_prev_attempts", "file_name", "product name", "studied_credits",
    "code_module", "phone_type", "has_email", "number_of_phones", "is_name_valid", "average", "age_of_car", "storage", "usage", "change",
    "distance", "sextant", "enamel", "blabla", "", "___", "42",
)  # fmt: skip


def best(name: str, values: list[object], region: str | None = None) -> str | None:
    found = recognise(name, values, region=region)
    return found[0].kind.id if found else None


@pytest.mark.parametrize(("name", "kind"), NAMES.items())
def test_a_name_tells_the_kind(name: str, kind: str) -> None:
    assert best(name, []) == kind


@pytest.mark.parametrize("name", UNRECOGNISED)
def test_other_names_tell_nothing(name: str) -> None:
    assert recognise(name, []) == []


def test_all_eighteen_hipaa_identifiers_are_covered_by_name() -> None:
    by_name = {KINDS[kind].hipaa for kind in NAMES.values()}
    assert by_name - {None} == set(range(1, 19))


def test_kinds_are_well_formed() -> None:
    for key, kind in KINDS.items():
        assert key == kind.id
        assert kind.role in ROLES
        assert {kind.replication, kind.availability, kind.distinguishability} <= {1, 2, 3}
        assert kind.hipaa is None or 1 <= kind.hipaa <= 18


def test_numbers_follow_table_1() -> None:
    expected = {"name": 1, "postcode": 2, "birth-date": 3, "phone": 4, "vin": 5, "fax": 6, "device-id": 7, "email": 8,
                "url": 9, "ssn": 10, "ip-address": 11, "medical-record-number": 12, "biometric": 13,
                "health-plan-number": 14, "photo": 15, "iban": 16, "unique-id": 17, "certificate": 18}  # fmt: skip
    assert {kind: KINDS[kind].hipaa for kind in expected} == expected


def test_every_phrase_of_the_vocabulary_has_a_kind() -> None:
    from discreet.table.identifiers import vocabulary

    assert set(vocabulary.CERTAIN) | set(vocabulary.LIKELY) <= set(KINDS)


def test_a_person_number_is_told_from_others() -> None:
    assert names_a_person("Matrikelnummer")
    assert names_a_person("Patienten-ID")
    assert not names_a_person("facility_id")
    assert "same person" in recognise("id_student", [])[0].reason


# content: numbers with a check digit


def digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices(string.digits, k=count))


def birthday(rng: random.Random, form: str) -> str:
    return (date(1940, 1, 1) + timedelta(days=rng.randrange(20_000))).strftime(form)


def searched(module: str, draw: Callable[[random.Random], str]) -> Callable[[random.Random], str]:
    """Numbers of which the last sign is whatever makes the module accept them."""

    def make(rng: random.Random) -> str:
        from importlib import import_module

        valid = import_module(f"stdnum.{module}").is_valid
        while True:
            start = draw(rng)
            for sign in string.digits + string.ascii_uppercase:
                if valid(start + sign):
                    return start + sign

    return make


def iban(rng: random.Random) -> str:
    from stdnum.iso7064 import mod_97_10

    account = digits(rng, 18)
    return f"DE{mod_97_10.calc_check_digits(account + 'DE')}{account}"


def luhn(rng: random.Random, prefix: str, length: int) -> str:
    from stdnum.luhn import calc_check_digit

    start = prefix + digits(rng, length - len(prefix) - 1)
    return start + calc_check_digit(start)


def idnr(rng: random.Random) -> str:
    from stdnum.de.idnr import is_valid
    from stdnum.iso7064 import mod_11_10

    while True:
        start = digits(rng, 10)
        if is_valid(number := start + mod_11_10.calc_check_digit(start)):
            return str(number)


def nir(rng: random.Random) -> str:
    from stdnum.fr.nir import calc_check_digits

    start = f"{rng.choice('12')}{birthday(rng, '%y%m')}{rng.randrange(1, 96):02d}{digits(rng, 6)}"
    return start + calc_check_digits(start + "00")


def belgian(rng: random.Random) -> str:
    start = birthday(rng, "%y%m%d") + f"{rng.randrange(1, 998):03d}"
    return f"{start}{97 - int(start) % 97:02d}"


def codice_fiscale(rng: random.Random) -> str:
    from stdnum.it.codicefiscale import calc_check_digit

    letters = "".join(rng.choices("BCDFGLMNPRSTV", k=6))
    start = f"{letters}{birthday(rng, '%y')}{rng.choice('ABCDEHLMPRST')}{rng.randrange(1, 29):02d}H{rng.randrange(100, 999)}"
    return start + calc_check_digit(start)


def us_ssn(rng: random.Random) -> str:
    return f"{rng.randrange(100, 665)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}"


def vin(rng: random.Random) -> str:
    signs = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
    while True:
        number = (
            "".join(rng.choices(signs, k=8)) + rng.choice("0123456789X") + "".join(rng.choices(signs, k=8))
        )
        if numbers._vin(number):
            return number


CHECKSUMMED: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "German IBAN": ("iban", iban),
    "credit card": ("account-number", lambda rng: luhn(rng, "4", 16)),
    "IMEI": ("device-id", lambda rng: luhn(rng, "99", 15)),
    "VIN": ("vin", vin),
    "US SSN": ("ssn", us_ssn),
    "French NIR": ("ssn", nir),
    "Austrian VNR": ("ssn", searched("at.vnr", lambda rng: f"{rng.randrange(100, 999)}{rng.randrange(10)}{birthday(rng, '%d%m')}1")),
    "Swiss AHV": ("ssn", searched("ch.ssn", lambda rng: "756" + digits(rng, 9))),
    "German tax id": ("national-id", idnr),
    "Spanish DNI": ("national-id", searched("es.dni", lambda rng: digits(rng, 8))),
    "Spanish NIE": ("national-id", searched("es.nie", lambda rng: "X" + digits(rng, 7))),
    "Italian tax code": ("national-id", codice_fiscale),
    "Dutch BSN": ("national-id", searched("nl.bsn", lambda rng: "1" + digits(rng, 7))),
    "Polish PESEL": ("national-id", searched("pl.pesel", lambda rng: birthday(rng, "%y%m%d") + digits(rng, 4))),
    "Swedish number": ("national-id", searched("se.personnummer", lambda rng: birthday(rng, "%y%m%d-") + digits(rng, 3))),
    "Belgian number": ("national-id", belgian),
    "Norwegian number": ("national-id", searched("no.fodselsnummer", lambda rng: birthday(rng, "%d%m%y") + digits(rng, 4))),
    "Finnish code": ("national-id", searched("fi.hetu", lambda rng: birthday(rng, "%d%m%y-") + f"{rng.randrange(2, 899):03d}")),
    "Danish number": ("national-id", searched("dk.cpr", lambda rng: birthday(rng, "%d%m%y-0") + digits(rng, 2))),
    "Canadian SIN": ("national-id", searched("ca.sin", lambda rng: "1" + digits(rng, 7))),
    "Brazilian CPF": ("national-id", searched("br.cpf", lambda rng: digits(rng, 10))),
    "Indian Aadhaar": ("national-id", searched("in_.aadhaar", lambda rng: "5" + digits(rng, 10))),
    "NHS number": ("health-plan-number", searched("gb.nhs", lambda rng: "4" + digits(rng, 8))),
}  # fmt: skip


WITHOUT_CHECK_DIGIT = {"US SSN", "Danish number"}


@pytest.mark.parametrize("what", CHECKSUMMED)
def test_valid_numbers_are_recognised_without_a_name(what: str) -> None:
    kind, make = CHECKSUMMED[what]
    rng = random.Random(what)
    values: list[object] = [make(rng) for _ in range(60)]
    found = recognise("x", values)
    assert kind in {finding.kind.id for finding in found}
    assert found[0].kind.role == "direct-identifier"
    told = next(finding for finding in found if finding.kind.id == kind)
    assert told.by == "content"
    assert told.reason.startswith("60 of the 60")
    assert ("checksum verified" in told.reason) == (what not in WITHOUT_CHECK_DIGIT)


@pytest.mark.parametrize("what", sorted(set(CHECKSUMMED) - WITHOUT_CHECK_DIGIT))
def test_the_same_numbers_with_another_last_sign_are_not(what: str) -> None:
    kind, make = CHECKSUMMED[what]
    rng = random.Random(what)
    values: list[object] = []
    for _ in range(60):
        number = make(rng)
        last = number[-1]
        sign = string.digits if last.isdigit() else string.ascii_uppercase
        values.append(number[:-1] + rng.choice(sign.replace(last, "")))
    assert kind not in {finding.kind.id for finding in recognise("x", values)}


def test_published_examples_of_numbers_checked_here() -> None:
    assert numbers._vin("1M8GDM9AXKP042788")
    assert numbers._vin("11111111111111111")
    assert numbers._vin("1G4AH59H45G118341")
    assert not numbers._vin("1M8GDM9A1KP042788")
    assert numbers._kvnr("A123456780")
    assert not numbers._kvnr("A123456781")
    assert numbers._german_pension("15070649C103")
    assert not numbers._german_pension("15070649C104")


def test_german_health_insurance_numbers() -> None:
    rng = random.Random(5)
    made = (f"{rng.choice(string.ascii_uppercase)}{digits(rng, 9)}" for _ in range(2000))
    values: list[object] = [number for number in made if numbers._kvnr(number)]
    assert len(values) > 100
    assert best("x", values) == "health-plan-number"


def test_few_numbers_need_a_name_that_agrees() -> None:
    values: list[object] = [luhn(random.Random(i), "4", 16) for i in range(3)]
    assert best("x", values) is None
    (found,) = recognise("credit card", values)
    assert (found.kind.id, found.by) == ("account-number", "name and content")


def test_the_region_decides_between_numbers_that_fit_alike() -> None:
    values: list[object] = [luhn(random.Random(i), "1", 9) for i in range(40)]
    assert "Canadian" in recognise("x", values, region="CA")[0].reason


# content: everything else

FIRST = "Anna Peter Maria Hans Julia Thomas Sabine Klaus Emma Lukas".split()  # noqa: SIM905
LAST = "Müller Schmidt Huber Weber Oyelaran Zschoche Meyer Quandt Becker Ihle".split()  # noqa: SIM905

CONTENT: dict[str, tuple[str, list[object]]] = {
    "emails": ("email", [f"user{i}@example.org" for i in range(20)]),
    "emails with names": ("email", [f"User Name <user{i}@example.org>" for i in range(20)]),
    "URLs": ("url", [f"https://example.org/people/{i}" for i in range(20)]),
    "IPv4": ("ip-address", [f"192.0.2.{i}" for i in range(20)]),
    "IPv6": ("ip-address", [f"2001:db8::{i:x}" for i in range(20)]),
    "MAC": ("device-id", [f"00:1B:44:11:3A:{i:02X}" for i in range(20)]),
    "UUIDs": ("unique-id", [f"123e4567-e89b-12d3-a456-4266141740{i:02d}" for i in range(20)]),
    "hashes": ("unique-id", [f"{i:02d}" + "d41d8cd98f00b204e9800998ecf842" for i in range(20)]),
    "codes": ("unique-id", [f"PX{i * 37:05d}Q" for i in range(50)]),
    "date objects": ("date", [date(2020, 1, 1) + timedelta(days=i) for i in range(20)]),
    "datetimes": ("date", [datetime(2020, 1, 1, 12) + timedelta(hours=i) for i in range(20)]),
    "ISO dates": ("date", [f"2020-03-{i:02d}" for i in range(1, 29)]),
    "ISO times": ("date", [f"2020-03-{i:02d}T10:00:00Z" for i in range(1, 29)]),
    "German dates": ("date", [f"{i}.3.1980" for i in range(1, 29)]),
    "US dates": ("date", [f"12/{i:02d}/1980" for i in range(1, 29)]),
    "worded dates": ("date", [f"{i}. März 1980" for i in range(1, 29)]),
    "months": ("date-part", [f"2020-{i:02d}" for i in range(1, 13)]),
    "packed dates": ("date", [20200300 + i for i in range(1, 29)]),
    "German streets": ("street", [f"Hauptstraße {i}" for i in range(1, 20)]),
    "English streets": ("street", [f"{i} Abbey Road" for i in range(1, 20)]),
    "coordinates": ("coordinates", [f"48.5{i:03d}, 13.4{i:03d}" for i in range(20)]),
    "UK postcodes": ("postcode", [f"SW{i % 9 + 1}A {i % 10}AA" for i in range(40)]),
    "plates": ("licence-plate", [f"PA-XY {100 + i}" for i in range(20)]),
    "images": ("photo", [f"scan{i}.jpg" for i in range(20)]),
    "ICD-10": ("diagnosis", [f"E{i:02d}.9" for i in range(20)]),
    "sex": ("sex", ["M", "F", "F", "M", None]),
    "full names": ("name", [f"{first} {last}" for first in FIRST for last in LAST]),
    "names turned": ("name", [f"{last}, {first}" for first in FIRST for last in LAST]),
    "titles": ("name", [f"Dr. {last}" for last in LAST]),
    "first names": ("name", list(FIRST)),
    "free text": ("free-text", [f"The patient was seen {i} times and said that the pain had become worse." for i in range(20)]),
    "international phones": ("phone", [f"+49 851 5090{i:03d}" for i in range(100, 130)]),
}  # fmt: skip


@pytest.mark.parametrize("what", CONTENT)
def test_content_tells_the_kind_without_a_name(what: str) -> None:
    kind, values = CONTENT[what]
    found = recognise("x", values)
    assert found
    assert found[0].kind.id == kind
    assert found[0].by == "content"


def test_name_and_content_together_are_surer_than_either() -> None:
    _, values = CONTENT["German dates"]
    (both,) = recognise("Geburtsdatum", values)
    assert (both.kind.id, both.by) == ("birth-date", "name and content")
    assert both.confidence > recognise("Geburtsdatum", [])[0].confidence
    assert both.confidence > recognise("x", values)[0].confidence


def test_a_bare_year_is_not_a_date() -> None:
    assert best("x", list(range(1950, 2000))) is None
    assert best("Geburtsdatum", list(range(1950, 2000))) == "birth-year"
    assert KINDS["birth-year"].hipaa is None


@pytest.mark.parametrize("name", ["birth", "born", "Geburt"])
def test_a_date_that_is_called_birth_is_one_of_birth_and_its_manner_is_not(name: str) -> None:
    dates = [f"{year}-03-{year % 27 + 1:02d}" for year in range(1930, 2000)]
    assert recognise(name, dates)[0].kind.id == "birth-date"
    assert recognise(name, list(range(1930, 2000)))[0].kind.id == "birth-year"
    assert "birth-date" not in {each.kind.id for each in recognise(name, ["vaginal", "caesarean"] * 30)}


def test_national_phone_numbers_need_a_region_or_a_name() -> None:
    values: list[object] = [f"0851 5090{i}" for i in range(100, 130)]
    assert best("x", values) is None
    assert best("x", values, region="DE") == "phone"
    (found,) = recognise("Telefon", values)
    assert (found.kind.id, found.by) == ("phone", "name and content")
    assert recognise("Fax", values)[0].kind.id == "fax"


def test_flags_about_an_identifier_are_not_identifiers() -> None:
    assert recognise("phone", [True, False, True]) == []
    assert recognise("email", ["yes", "no", "yes"]) == []


def test_a_category_is_not_an_identifier() -> None:
    assert recognise("type_id", [1, 2, 3, 4] * 30) == []
    assert best("type_id", list(range(120))) == "unique-id"
    assert recognise("user", ["phone", "tablet"] * 30) == []
    assert recognise("passengers", ["1", "2", "3", "4"]) == []


def test_nothing_is_said_of_the_content_where_there_is_none() -> None:
    for name in ("Sozialversicherungsnummer", "card_number", "patient_id"):
        assert {finding.by for finding in recognise(name, [None, None])} == {"name"}


def test_content_contradicts_a_name() -> None:
    assert recognise("email", list(range(50))) == []
    doubted = recognise("birth_date", ["red", "green", "blue"])[0]
    assert doubted.confidence < recognise("birth_date", [])[0].confidence
    assert "do not look like it" in doubted.reason


def test_long_notes_are_text_and_not_grades() -> None:
    assert best("note", CONTENT["free text"][1]) == "free-text"
    assert best("note", [1.0, 1.3, 2.7, 5.0]) == "grade-or-result"


def test_missing_values_are_ignored() -> None:
    values: list[object] = [None, "", float("nan"), "?", "a@example.org", "b@example.org"]
    assert recognise("x", values)[0].reason == "2 of the 2 distinct values tested are email addresses"
    assert recognise("x", [None, "", float("nan")]) == []


# what must not be mistaken


@pytest.mark.parametrize("length", range(5, 12))
@pytest.mark.parametrize("form", [int, str])
def test_random_integers_are_nobodys_number(length: int, form: type) -> None:
    rng = random.Random(length)
    values: list[object] = [form(rng.randrange(10 ** (length - 1), 10**length)) for _ in range(500)]
    for region in (None, "DE", "US", "NL"):
        assert recognise("x", values, region=region) == []


@pytest.mark.parametrize(
    "values",
    [
        [random.Random(i).randrange(17, 91) for i in range(300)],
        [round(random.Random(i).uniform(1, 2000), 2) for i in range(300)],
        [f"{random.Random(i).uniform(1000, 99999):,.2f}" for i in range(300)],
        [f"{random.Random(i).randrange(501, 99951):05d}" for i in range(300)],
        [random.Random(i).randrange(501, 99951) for i in range(300)],
        list(range(100_000_000, 100_000_300)),
        [f"{i % 7}-{i % 7 + 9}" for i in range(100)],
        [
            "Exec-managerial",
            "Craft-repair",
            "Sales",
            "Tech-support",
            "Other-service",
            "Adm-clerical",
            "Armed-Forces",
        ],
        [
            "Berlin",
            "Passau",
            "Hamburg",
            "Bremen",
            "Jena",
            "Kiel",
            "Ulm",
            "Köln",
            "Bonn",
            "Trier",
            "Essen",
            "Mainz",
        ],
        [f"1.{i}.{i % 10}" for i in range(100)],
        [True, False] * 50,
        [f"Spring {year}" for year in range(1990, 2020)],
        [f"{row}{seat:02d}" for row in "ABCD" for seat in range(10)],
    ],
    ids=[
        "ages",
        "prices",
        "charges",
        "zip",
        "zip int",
        "serial",
        "bands",
        "jobs",
        "cities",
        "versions",
        "flags",
        "terms",
        "seats",
    ],
)
def test_ordinary_columns_are_nobodys_number(values: list[object]) -> None:
    assert [found for found in recognise("x", values) if found.kind.role == "direct-identifier"] == []


def test_hospitals_named_after_people_do_not_name_people() -> None:
    values: list[object] = [f"St {first} Hospital" for first in FIRST]
    assert best("x", values) is None


def read(path: Path, rows: int) -> dict[str, list[object]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        lines = [row for row, _ in zip(csv.DictReader(file), range(rows), strict=False)]
    return {name: [line[name] for line in lines] for name in lines[0]}


@pytest.mark.data
def test_adult(data_dir: Path) -> None:
    columns = read(data_dir / "adult" / "adult_kaggle.csv.gz", 1000)
    assert {name: best(name, values) for name, values in columns.items()} == {
        "age": "age", "workclass": "occupation", "fnlwgt": "sampling-weight", "education": "education",
        "education.num": "education", "marital.status": "marital-status", "occupation": "occupation",
        "relationship": "household", "race": "ethnicity", "sex": "sex", "capital.gain": "income",
        "capital.loss": "income", "hours.per.week": None, "native.country": "nationality", "income": "income",
    }  # fmt: skip
    without_names = {name: best("x", values) for name, values in columns.items() if best("x", values)}
    assert without_names == {
        "age": "age", "workclass": "occupation", "education": "education", "marital.status": "marital-status",
        "occupation": "occupation", "relationship": "household", "race": "ethnicity", "sex": "sex",
        "native.country": "nationality", "income": "income",
    }  # fmt: skip


def calls(work: Callable[[], object]) -> int:
    """How many functions of Python a piece of work calls: its cost, however busy the machine is."""
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.data
def test_fifty_columns_cost_less_than_ten_of_telephone_numbers(data_dir: Path) -> None:
    columns = read(data_dir / "uci" / "diabetic_data.csv.gz", 1000)
    assert len(columns) == 50
    phones: list[object] = [f"+49 851 {number}" for number in range(500_000, 501_000)]
    recognise("telefon", phones)  # loads the optional packages
    once = calls(lambda: recognise("telefon", phones))
    assert calls(lambda: [recognise(name, values) for name, values in columns.items()]) < 10 * once


def test_costly_columns_cost_the_same_however_many_values_they_have() -> None:
    rng = random.Random(1)
    phones: list[object] = [f"+49 851 {digits(rng, 7)}" for _ in range(4000)]
    ids: list[object] = [digits(rng, 11) for _ in range(4000)]
    for name, values in (("telefon", phones), ("steuer_id", ids)):
        recognise(name, values)
        few, many = (
            calls(lambda name=name, values=values[:rows]: recognise(name, values)) for rows in (250, 4000)
        )
        assert 1000 < many < 1.1 * few


# without the optional packages


@pytest.fixture
def no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "_installed", lambda package: False)


def test_nothing_is_missing_where_the_extras_are_installed() -> None:
    assert missing_extras() == ()


@pytest.mark.usefixtures("no_extras")
def test_without_the_extras_names_and_the_standard_library_still_tell() -> None:
    assert missing_extras() == ("python-stdnum", "phonenumbers")
    assert best("x", CONTENT["emails"][1]) == "email"
    assert best("x", CONTENT["ISO dates"][1]) == "date"
    assert best("x", CONTENT["IPv6"][1]) == "ip-address"
    assert best("iban", [iban(random.Random(i)) for i in range(20)]) == "iban"
    assert best("Telefon", CONTENT["international phones"][1]) == "phone"
    tax_numbers: list[object] = [idnr(random.Random(i)) for i in range(40)]
    assert best("x", tax_numbers) is None
    assert best("Steuer-ID", tax_numbers) == "national-id"


# nothing leaks

KNOWN_NAMES = st.sampled_from(sorted(NAMES) + list(UNRECOGNISED))
SECRETS = st.one_of(
    st.text(alphabet=string.ascii_letters + string.digits + "@.-+: äöüß", min_size=6, max_size=40),
    st.emails(),
    st.ip_addresses().map(str),
    st.dates().map(str),
    st.integers(100_000, 10**16).map(str),
    st.uuids().map(str),
)


@given(name=KNOWN_NAMES, values=st.lists(SECRETS, min_size=1, max_size=30))
def test_no_reason_contains_a_value(name: str, values: list[str]) -> None:
    secrets = [value.strip() for value in values if len(value.strip()) >= 6]
    for finding in recognise(name, values):
        assert not any(secret in finding.reason for secret in secrets)
        assert 0 < finding.confidence <= 1


@pytest.mark.parametrize("what", [*CONTENT, *CHECKSUMMED])
def test_no_reason_contains_a_recognised_value(what: str) -> None:
    if what in CONTENT:
        values = CONTENT[what][1]
    else:
        values = [CHECKSUMMED[what][1](random.Random(i)) for i in range(20)]
    texts = [str(value) for value in values if len(str(value)) >= 6]
    for name in ("x", "name", texts[0] if texts else "id"):
        for finding in recognise(name, values):
            assert not any(text in finding.reason for text in texts)


@given(
    name=st.text(max_size=40),
    values=st.lists(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.dates(), st.datetimes()
        ),
        max_size=30,
    ),
)
def test_any_column_is_answered_in_order_of_confidence(name: str, values: list[object]) -> None:
    found = recognise(name, values)
    assert [finding.confidence for finding in found] == sorted((f.confidence for f in found), reverse=True)
    assert len({finding.kind.id for finding in found}) == len(found)
    assert all(finding.kind is identifiers.KINDS[finding.kind.id] for finding in found)
