"""An example to try everything on: the made-up town of Tilmsbrück, its people and their visits to doctors.

The town does not exist and nobody in it does: every name, address, income and illness is drawn from the
short lists and weights below by a seeded generator, and its postcodes begin with 62, which is assigned to
no place in Germany. Likeness to living people is chance. What is real is the shape: columns depend on each
other as they do in a register (age → education → occupation → income; age, sex and occupation → diagnosis),
small districts and rare occupations make people unique, and one district with a nursing home has classes in
which everybody has the same diagnosis. The numbers are chosen for that shape and prove nothing about society.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from discreet.errors import InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.files.writing import atomically
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

REFERENCE_DATE: Final = np.datetime64("2025-06-30", "D")
"""The day on which ages are counted and the year of visits ends."""

# fmt: off
# Age bands on which most columns depend: 0-5, 6-9, 10-15, 16-18, 19-21, 22-25, 26-34, 35-49, 50-64, 65-79, 80+.
_BANDS = np.array([6, 10, 16, 19, 22, 26, 35, 50, 65, 80])

# Postcode, share of the people, affluence, age structure (row of _AGE_SHARES), foreign share, nearest practice.
_DISTRICTS = (
    ("62011", 17.0, 0.0, 0, 1.0, 0), ("62013", 14.0, -0.3, 0, 1.6, 1), ("62017", 10.0, -0.6, 0, 2.4, 1),
    ("62019", 6.0, 0.2, 0, 0.8, 0), ("62032", 12.0, 0.1, 0, 0.9, 2), ("62035", 9.0, 0.3, 0, 0.7, 2),
    ("62038", 5.0, 0.5, 1, 1.5, 3), ("62104", 9.0, 0.0, 0, 0.7, 4), ("62107", 7.0, -0.2, 0, 0.8, 4),
    ("62109", 4.5, 0.8, 0, 0.5, 5), ("62304", 4.5, 0.0, 2, 0.3, 6), ("62309", 2.0, -0.1, 0, 0.2, 6))
_NURSING_HOME_DISTRICT = 10
_AGE_EDGES = np.array([0, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 100, 104])
_AGE_SHARES = np.array([
    [9.5, 9.8, 11.5, 13, 12.5, 15, 13.5, 9, 3.4, 1.8, 0.7, 0.13, 0.02],  # ordinary
    [5, 12, 40, 18, 9, 7, 5, 3, 0.7, 0.3, 0.1, 0.02, 0.001],  # young: rented rooms near the college
    [5, 6, 7, 8, 9, 11, 14, 17, 11, 8, 3.5, 0.6, 0.1]])  # old: the nursing home
_SEXES = ("female", "male", "diverse")
_SEX_SHARES = np.array([[48.7, 51.0, 0.3]] * 9 + [[53.5, 46.4, 0.1], [62.0, 37.95, 0.05]])

_NATIONALITIES = ("German", "Turkish", "Polish", "Syrian", "Ukrainian", "Italian", "Romanian", "British",
                  "Vietnamese", "Icelandic")
_FOREIGN_SHARES = np.array([3.4, 2.2, 2.0, 1.9, 1.5, 1.4, 0.5, 0.4, 0.06])  # percent, German excluded

# Women's, men's and family names by nationality, in its order; some Germans bear the names of the others.
_NAMES = (
    (("Anna", "Emma", "Marie", "Sophie", "Lena", "Clara", "Ursula", "Helga", "Ingrid", "Renate", "Sabine",
      "Petra", "Monika", "Susanne", "Katrin", "Julia", "Laura", "Hannah", "Johanna", "Greta", "Frieda"),
     ("Paul", "Lukas", "Jonas", "Felix", "Maximilian", "Karl", "Heinz", "Günter", "Jürgen", "Klaus", "Thomas",
      "Andreas", "Stefan", "Michael", "Jan", "Tobias", "Florian", "Moritz", "Anton", "Emil", "Friedrich"),
     ("Müller", "Schmidt", "Schneider", "Fischer", "Weber", "Meyer", "Wagner", "Becker", "Schulz", "Hoffmann",
      "Koch", "Bauer", "Richter", "Klein", "Wolf", "Schröder", "Neumann", "Schwarz", "Zimmermann", "Braun",
      "Krüger", "Hartmann", "Lange", "Krause", "Lehmann", "Köhler", "Maier", "Huber", "Kaiser", "Fuchs",
      "Peters", "Lang", "Scholz", "Möller", "Weiß", "Jung", "Hahn", "Vogel", "Friedrich", "Keller")),
    (("Elif", "Zeynep", "Ayşe", "Fatma", "Emine", "Merve"), ("Mehmet", "Mustafa", "Ahmet", "Emre", "Can", "Murat"),
     ("Yılmaz", "Kaya", "Demir", "Çelik", "Şahin", "Öztürk", "Aydın", "Arslan")),
    (("Agnieszka", "Katarzyna", "Ewa", "Zofia"), ("Piotr", "Tomasz", "Marek", "Wojciech"),
     ("Nowak", "Kowalczyk", "Mazur", "Wójcik", "Zając", "Dudek")),
    (("Amira", "Layla", "Nour", "Rania", "Yasmin"), ("Omar", "Khaled", "Yusuf", "Samir", "Hassan"),
     ("Haddad", "Khoury", "Al-Masri", "Darwish", "Nasser", "Saleh")),
    (("Olena", "Oksana", "Iryna", "Nataliya"), ("Andriy", "Oleh", "Taras", "Dmytro"),
     ("Shevchenko", "Bondarenko", "Tkachenko", "Kovalenko", "Moroz")),
    (("Giulia", "Chiara", "Elena", "Francesca"), ("Marco", "Luca", "Matteo", "Giovanni"),
     ("Rossi", "Bianchi", "Ricci", "Greco", "Conti")),
    (("Ioana", "Andreea", "Mihaela"), ("Andrei", "Ion", "Mihai"), ("Popescu", "Ionescu", "Dumitru", "Stan")),
    (("Emily", "Charlotte", "Grace", "Alice"), ("Oliver", "Harry", "James", "George"),
     ("Smith", "Jones", "Taylor", "Brown", "Walker", "Wright", "Hall")),
    (("Linh", "Mai", "Lan", "Huong"), ("Minh", "Duc", "Tuan", "Hieu"), ("Nguyen", "Tran", "Pham", "Le", "Vo")),
    (("Sigríður", "Guðrún"), ("Einar", "Ólafur"), ("Blöndal", "Thorarensen")))
_NAME_ORIGIN = np.eye(10)
_NAME_ORIGIN[0] = 86, 4, 4, 1, 1, 1.5, 0.5, 1, 0.9, 0.1

_EDUCATIONS = ("none yet", "primary", "lower secondary", "upper secondary", "vocational", "bachelor", "master")
_EDUCATION_SHARES = np.array([
    [1, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0], [0, 30, 55, 15, 0, 0, 0],
    [0, 3, 17, 60, 20, 0, 0], [0, 3, 12, 35, 30, 20, 0], [0, 2, 10, 14, 38, 20, 16], [0, 2, 12, 12, 44, 14, 16],
    [0, 3, 18, 10, 48, 9, 12], [0, 6, 28, 8, 45, 5, 8], [0, 12, 40, 6, 35, 2, 5]])

_MARITAL = ("single", "married", "registered partnership", "divorced", "widowed")
_MARITAL_SHARES = np.array([[1, 0, 0, 0, 0]] * 4 + [
    [98, 2, 0, 0, 0], [91, 8, 0.3, 0.7, 0], [62, 34, 1, 3, 0.1], [30, 57, 1, 11, 1], [15, 64, 0.7, 16, 4],
    [7, 66, 0.4, 12, 15], [5, 42, 0.1, 7, 46]])
# Household sizes 1 to 6; rows: (child, young, middle, old) × (without, with a spouse).
_HOUSEHOLDS = np.array([
    [0, 10, 28, 40, 16, 6], [0, 10, 28, 40, 16, 6], [38, 22, 18, 15, 5, 2], [0, 60, 26, 10, 3, 1],
    [62, 20, 11, 5, 1.5, 0.5], [0, 34, 24, 29, 9, 4], [86, 11, 2, 1, 0, 0], [0, 88, 8, 3, 1, 0]])

# Exposures by which an occupation bears on health.
_NO_EXPOSURE, _HEAVY, _DUST, _DESK, _CARE, _OUT_OF_WORK = range(6)
# Occupation, share, typical and least education (index), share of women, yearly income, exposure.
_JOBS = (
    ("cleaner", 5.0, 1, 0, 0.75, 21_000, _HEAVY), ("warehouse worker", 6.0, 2, 0, 0.25, 29_000, _HEAVY),
    ("construction worker", 6.0, 2, 0, 0.03, 33_000, _HEAVY), ("cook", 3.0, 2, 1, 0.40, 25_000, _HEAVY),
    ("lorry driver", 4.0, 2, 1, 0.04, 30_500, _HEAVY), ("shop assistant", 8.0, 3, 1, 0.75, 25_500, _NO_EXPOSURE),
    ("care assistant", 5.0, 3, 2, 0.82, 31_000, _CARE), ("baker", 1.5, 4, 2, 0.30, 27_000, _DUST),
    ("hairdresser", 2.0, 4, 2, 0.88, 21_500, _DUST), ("farmer", 1.5, 4, 2, 0.25, 30_000, _DUST),
    ("electrician", 4.0, 4, 2, 0.04, 37_000, _HEAVY), ("car mechanic", 3.5, 4, 2, 0.05, 34_500, _HEAVY),
    ("nurse", 6.0, 4, 2, 0.80, 40_000, _CARE), ("nursery teacher", 4.0, 4, 3, 0.90, 36_000, _CARE),
    ("police officer", 1.5, 4, 3, 0.30, 43_000, _NO_EXPOSURE), ("office clerk", 10.0, 4, 2, 0.68, 37_500, _DESK),
    ("midwife", 0.3, 4, 3, 0.99, 42_000, _CARE), ("undertaker", 0.15, 4, 2, 0.20, 36_000, _NO_EXPOSURE),
    ("social worker", 3.0, 5, 5, 0.75, 41_000, _CARE), ("software developer", 4.0, 5, 3, 0.20, 64_000, _DESK),
    ("engineer", 4.0, 5, 5, 0.20, 68_000, _DESK), ("journalist", 0.6, 6, 5, 0.50, 46_000, _DESK),
    ("teacher", 5.0, 6, 6, 0.70, 58_000, _CARE), ("pastor", 0.2, 6, 6, 0.35, 54_000, _NO_EXPOSURE),
    ("lawyer", 1.0, 6, 6, 0.45, 82_000, _DESK), ("physician", 1.3, 6, 6, 0.50, 98_000, _CARE))
# Without a job: name, yearly income (0: none), exposure; their shares by age band are in _STATUS_SHARES.
_STATUSES = (
    ("pupil", 0, _NO_EXPOSURE), ("student", 7_500, _DESK), ("trainee", 13_000, _NO_EXPOSURE),
    ("homemaker", 0, _NO_EXPOSURE), ("unemployed", 10_500, _OUT_OF_WORK), ("retired", 19_500, _NO_EXPOSURE))
_STATUS_SHARES = np.array([
    [1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0.75, 0, 0.20, 0, 0.02, 0],
    [0.05, 0.45, 0.30, 0.01, 0.04, 0], [0, 0.35, 0.08, 0.02, 0.05, 0], [0, 0.06, 0.01, 0.04, 0.06, 0],
    [0, 0, 0, 0.05, 0.05, 0.01], [0, 0, 0, 0.06, 0.06, 0.12], [0, 0, 0, 0.03, 0, 0.88], [0, 0, 0, 0.01, 0, 0.97]])
_OCCUPATIONS = tuple(job[0] for job in _JOBS) + tuple(status[0] for status in _STATUSES)
_EXPOSURE_OF = np.array([job[6] for job in _JOBS] + [status[2] for status in _STATUSES] + [_NO_EXPOSURE])

# Diagnosis; weight in childhood, youth, middle age, age and great age; women's weight relative to men's
# (1e9: women only); the exposure that promotes it and by what factor; further visits it causes; the usual
# reason of a visit.
_DIAGNOSES = (
    ("no finding", 60, 50, 25, 8, 4, 1.0, 0, 1, 0.0, "check-up"),
    ("allergic rhinitis", 12, 10, 6, 3, 1, 1.0, 0, 1, 0.5, "breathing trouble"),
    ("asthma", 8, 5, 4, 4, 3, 1.0, _DUST, 4, 1.2, "breathing trouble"),
    ("eczema", 7, 4, 3, 2, 1, 1.1, _DUST, 3, 0.8, "skin complaint"),
    ("middle ear infection", 8, 1, 0.5, 0.3, 0.2, 1.0, 0, 1, 0.6, "infection"),
    ("attention deficit disorder", 5, 2, 0.5, 0, 0, 0.5, 0, 1, 1.5, "psychotherapy"),
    ("migraine", 1, 6, 6, 2, 1, 2.2, 0, 1, 1.0, "pain"),
    ("back pain", 0.2, 6, 14, 10, 7, 1.0, _HEAVY, 3, 1.5, "pain"),
    ("carpal tunnel syndrome", 0, 1.5, 4, 2, 1, 1.4, _DESK, 3, 1.0, "pain"),
    ("depression", 1, 6, 8, 5, 5, 1.6, _OUT_OF_WORK, 3, 2.5, "psychotherapy"),
    ("burnout", 0, 2, 4, 0, 0, 1.2, _CARE, 3, 2.0, "psychotherapy"),
    ("alcohol dependence", 0, 2, 4, 2, 0.5, 0.4, _OUT_OF_WORK, 5, 1.8, "addiction counselling"),
    ("opioid dependence", 0, 1, 0.6, 0.1, 0, 0.5, _OUT_OF_WORK, 5, 3.5, "addiction counselling"),
    ("schizophrenia", 0, 0.8, 0.8, 0.4, 0.2, 0.9, _OUT_OF_WORK, 3, 3.0, "psychotherapy"),
    ("HIV infection", 0, 0.6, 0.7, 0.2, 0, 0.3, 0, 1, 2.5, "blood test"),
    ("endometriosis", 0, 2.5, 2, 0, 0, 1e9, 0, 1, 1.5, "pain"),
    ("prostate enlargement", 0, 0, 3, 14, 14, 0.0, 0, 1, 1.2, "blood test"),
    ("hypertension", 0, 2, 16, 30, 30, 0.9, 0, 1, 1.2, "heart check"),
    ("type 2 diabetes", 0, 0.7, 7, 14, 14, 0.8, 0, 1, 2.2, "blood test"),
    ("coronary heart disease", 0, 0, 4, 12, 16, 0.6, 0, 1, 2.2, "heart check"),
    ("chronic bronchitis", 0, 0.5, 3, 6, 6, 0.8, _DUST, 3, 1.6, "breathing trouble"),
    ("breast cancer", 0, 0.2, 1.5, 2.5, 2, 80.0, 0, 1, 4.5, "cancer care"),
    ("osteoarthritis", 0, 0.5, 6, 16, 20, 1.4, _HEAVY, 2, 1.5, "pain"),
    ("dementia", 0, 0, 0.1, 4, 22, 1.2, 0, 1, 1.5, "memory clinic"),
    ("epilepsy", 1, 1, 0.8, 0.8, 0.8, 1.0, 0, 1, 1.8, "prescription"))
_DIAGNOSIS_NAMES = tuple(row[0] for row in _DIAGNOSES)
_LIFE_STAGE = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4])  # of each age band

# Reason of a visit: name, share among visits that have nothing to do with the diagnosis, usual cost in euros.
_REASONS = (
    ("check-up", 26, 35), ("vaccination", 10, 28), ("infection", 26, 32), ("prescription", 20, 18),
    ("sick note", 10, 16), ("injury", 8, 75), ("blood test", 0, 55), ("pain", 0, 48), ("skin complaint", 0, 40),
    ("breathing trouble", 0, 52), ("psychotherapy", 0, 110), ("addiction counselling", 0, 95),
    ("cancer care", 0, 420), ("memory clinic", 0, 130), ("heart check", 0, 85))
_MENTAL = ("psychotherapy", "addiction counselling")
_PRACTICES = ("Practice Mill Lane", "Practice Old Market", "Practice Harbour", "Practice College Street",
              "Practice Linden Square", "Practice Hillside", "Practice Upper Village", "Psychiatry at the Quay")
_AGE_BAND_NAMES = (*(f"{low}-{low + 9}" for low in range(0, 90, 10)), "90+")
# fmt: on


def town(people: int = 4000, *, seed: int = 1) -> pa.Table:
    """The made-up residents of the town: one row per person, the same for the same size and seed.

    ``income`` and ``occupation`` have nulls where life has them (children, people who did not answer).

    >>> residents = town(10)
    >>> residents.num_rows
    10
    >>> residents.column_names  # doctest: +NORMALIZE_WHITESPACE
    ['resident_id', 'name', 'birth_date', 'age', 'sex', 'postcode', 'occupation', 'education',
     'marital_status', 'household_size', 'nationality', 'diagnosis', 'income']
    >>> town(10).equals(residents), town(10, seed=2).equals(residents)
    (True, False)
    """
    if people < 10:
        raise InvalidParameter(
            Sentence("a town of {people} people is too small to be an example", people=people),
            remedy="ask for people=10 or more",
        )
    rng = _generator(seed, stream=1)
    district = _choose(rng, _column(_DISTRICTS, 1)[None, :], np.zeros(people, dtype=np.intp))
    structure = _column(_DISTRICTS, 3).astype(np.intp)[district]
    decade = _choose(rng, _AGE_SHARES, structure)
    years = _AGE_EDGES[decade] + rng.random(people) * np.diff(_AGE_EDGES)[decade]
    birth_date = REFERENCE_DATE - (years * 365.2425).astype("timedelta64[D]")
    age = _age_on_reference_date(birth_date)
    band = np.searchsorted(_BANDS, age, side="right")

    sex = _choose(rng, _SEX_SHARES, band)
    nationality = _choose(rng, _nationality_weights(), district)
    education = _choose(rng, _education_weights(), district * len(_EDUCATION_SHARES) + band)
    marital = _choose(rng, _marital_weights(), band * 3 + sex)
    spouse = (marital == 1) | (marital == 2)
    stage = np.searchsorted([16, 26, 65], age, side="right")
    household = _choose(rng, _HOUSEHOLDS, stage * 2 + spouse) + 1
    occupation = _choose(rng, _occupation_weights(), (band * 7 + education) * 3 + sex)
    unstated = (age < 6) | ((age >= 16) & (rng.random(people) < 0.03))
    exposure = _EXPOSURE_OF[np.where(unstated, len(_OCCUPATIONS), occupation)]
    diagnosis = _choose(rng, _diagnosis_weights(), (_LIFE_STAGE[band] * 3 + sex) * 6 + exposure)
    # The nursing home takes people in because of dementia: a class of one diagnosis, though it has many members.
    in_home = (district == _NURSING_HOME_DISTRICT) & (age >= 80) & (rng.random(people) < 0.9)
    diagnosis[in_home] = _DIAGNOSIS_NAMES.index("dementia")
    income, earns = _income(rng, age=age, sex=sex, education=education, occupation=occupation)

    columns = {
        "resident_id": _identifiers("R-", rng.permutation(people) + 1, width=max(6, len(str(people)))),
        "name": _full_names(rng, nationality=nationality, sex=sex),
        "birth_date": pa.array(birth_date, type=pa.date32()),
        "age": pa.array(age, type=pa.int16()),
        "sex": _words(_SEXES, sex),
        "postcode": _words([row[0] for row in _DISTRICTS], district),
        "occupation": _words(_OCCUPATIONS, occupation, null=unstated),
        "education": _words(_EDUCATIONS, education),
        "marital_status": _words(_MARITAL, marital),
        "household_size": pa.array(household, type=pa.int16()),
        "nationality": _words(_NATIONALITIES, nationality),
        "diagnosis": _words(_DIAGNOSIS_NAMES, diagnosis),
        "income": pa.array(income, type=pa.int32(), mask=~earns | (rng.random(people) < 0.03)),
    }
    return pa.table(columns)


def visits(residents: pa.Table, *, seed: int = 1) -> pa.Table:
    """The residents' visits to doctors in the year before the reference date: 0 to 12 rows per person.

    ``residents`` is what `town` returned, or some of its rows.

    >>> log = visits(town(10))
    >>> log.column_names  # doctest: +NORMALIZE_WHITESPACE
    ['visit_id', 'resident_id', 'date', 'clinic', 'sex', 'age_band', 'postcode3', 'treatment', 'treatment_cost']
    >>> log["visit_id"][0].as_py()
    'V-000001'
    """
    rng = _generator(seed, stream=2)
    age = _require(residents, "age").to_numpy(zero_copy_only=False).astype(np.intp)
    birth_date = _require(residents, "birth_date").to_numpy(zero_copy_only=False).astype("datetime64[D]")
    diagnosis = _codes_of(residents, "diagnosis", _DIAGNOSIS_NAMES)
    district = _codes_of(residents, "postcode", [row[0] for row in _DISTRICTS])

    expected = 0.7 + 0.02 * age + 1.2 * (age < 6) + _column(_DIAGNOSES, 9)[diagnosis]
    person = np.repeat(np.arange(len(age)), np.minimum(rng.poisson(expected), 12))
    days_lived = (REFERENCE_DATE - birth_date[person]).astype(np.int64)
    days_ago = (rng.random(len(person)) * np.minimum(365, days_lived + 1)).astype(np.int64)
    # A log is kept in the order of time, so that the rows of a person do not lie together.
    order = np.argsort(-days_ago, kind="stable")
    person, days_ago = person[order], days_ago[order]

    reason = _choose(rng, _reason_weights(), diagnosis[person])
    mental = np.isin([row[0] for row in _REASONS], _MENTAL)[reason]
    practice = _choose(rng, _practice_weights(), district[person] * 2 + mental)
    cost = _column(_REASONS, 2)[reason] * rng.lognormal(0.0, 0.3, len(person))
    columns = {
        "visit_id": _identifiers("V-", np.arange(1, len(person) + 1), width=max(6, len(str(len(person))))),
        "resident_id": _require(residents, "resident_id").take(pa.array(person)),
        "date": pa.array(REFERENCE_DATE - days_ago.astype("timedelta64[D]"), type=pa.date32()),
        "clinic": _words(_PRACTICES, practice),
        "sex": _require(residents, "sex").take(pa.array(person)),
        "age_band": _words(_AGE_BAND_NAMES, np.minimum(age[person] // 10, 9)),
        "postcode3": _words([row[0][:3] for row in _DISTRICTS], district[person]),
        "treatment": _words([row[0] for row in _REASONS], reason),
        "treatment_cost": pa.array(np.round(cost, 2)),
    }
    return pa.table(columns)


def write_example(folder: Path, *, people: int = 4000, seed: int = 1) -> dict[str, Path]:
    """Write ``residents.csv`` and ``visits.csv`` (UTF-8, comma, header) into ``folder``; each appears whole.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_example(Path(folder), people=10)
    ...     sorted(path.name for path in paths.values())
    ['residents.csv', 'visits.csv']
    """
    residents = town(people, seed=seed)
    tables = {"residents": residents, "visits": visits(residents, seed=seed)}
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.csv" for name in tables}

    def write(name: str, then: Callable[[Path], None] | None = None) -> None:
        atomically(paths[name], partial(csv.write_csv, tables[name]), then)

    # The first appears once the second could be written, too.
    write("residents", lambda _: write("visits"))
    return paths


def _generator(seed: int, *, stream: int) -> np.random.Generator:
    """A generator per table, so that the visits do not repeat the draws that made their people."""
    if seed < 0:
        raise InvalidParameter("the seed is negative", remedy="give a seed of 0 or more")
    return np.random.default_rng([seed, stream])


def _choose(rng: np.random.Generator, weights: FloatArray, row: IntArray) -> IntArray:
    """For each entry of ``row``, an index drawn with the weights in that row of the matrix.

    Row r's cumulative shares lie in (r, r + 1], so one sorted search over all rows draws for everybody.

    >>> _choose(np.random.default_rng(1), np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([0, 1, 1])).tolist()
    [0, 1, 1]
    """
    cumulative = np.cumsum(weights, axis=1)
    cumulative /= cumulative[:, -1:]
    steps = (cumulative + np.arange(len(weights))[:, None]).ravel()
    # Just under 1: a draw rounded up to r + 1 would fall into the next row.
    draw = rng.random(len(row)) * (1 - 1e-9)
    choices: IntArray = np.searchsorted(steps, row + draw, side="right") - row * weights.shape[1]
    return choices


def _age_on_reference_date(birth_date: NDArray[np.datetime64]) -> IntArray:
    """Completed years of life.

    >>> _age_on_reference_date(np.array(["2000-06-30", "2000-07-01"], dtype="datetime64[D]")).tolist()
    [25, 24]
    """
    birth_month, month = birth_date.astype("datetime64[M]"), REFERENCE_DATE.astype("datetime64[M]")
    day_of_month = (REFERENCE_DATE - month.astype("datetime64[D]")).astype(np.int64)
    birth_day = (birth_date - birth_month.astype("datetime64[D]")).astype(np.int64)
    months: IntArray = (month - birth_month).astype(np.intp) - (birth_day > day_of_month)
    return months // 12


def _nationality_weights() -> FloatArray:
    """Row: district. A district's foreign share scales all nationalities but the German one."""
    foreign = _column(_DISTRICTS, 4)[:, None] * _FOREIGN_SHARES
    return np.hstack([100 - foreign.sum(axis=1, keepdims=True), foreign])


def _education_weights() -> FloatArray:
    """Row: district × age band. Affluence tilts the weights towards the higher levels."""
    tilt = np.exp(0.7 * _column(_DISTRICTS, 2)[:, None, None] * np.arange(7))
    weights: FloatArray = tilt * _EDUCATION_SHARES
    return weights.reshape(-1, 7)


def _marital_weights() -> FloatArray:
    """Row: age band × sex. Women outlive their spouses more often than men do."""
    widowed = np.ones((3, 5))
    widowed[:, 4] = 1.5, 0.4, 1.0
    return (_MARITAL_SHARES[:, None, :] * widowed).reshape(-1, 5)


def _occupation_weights() -> FloatArray:
    """Row: age band × education × sex. Statuses take their share; jobs near the education fill the rest."""
    level = np.arange(7)[:, None]
    fit = np.exp(-0.8 * (level - _column(_JOBS, 2)) ** 2) * (level >= _column(_JOBS, 3))
    women = _column(_JOBS, 4)
    jobs = (_column(_JOBS, 1) * fit)[:, None, :] * np.stack([women, 1 - women, np.full(len(_JOBS), 0.5)])
    jobs /= jobs.sum(axis=-1, keepdims=True)

    by_education, by_sex = np.ones((7, 6)), np.ones((3, 6))
    by_education[:3, 1] = 0  # nobody studies without upper secondary school …
    by_education[5:, 2] = 0  # … or is a trainee after a degree
    by_education[:, 4] = 1.6, 1.6, 1.6, 1.0, 0.8, 0.6, 0.5
    by_sex[:, 3] = 1.7, 0.2, 1.0
    statuses = _STATUS_SHARES[:, None, None, :] * by_education[:, None, :] * by_sex
    employed = 1 - statuses.sum(axis=-1, keepdims=True)
    return np.concatenate([employed * jobs, statuses], axis=-1).reshape(-1, len(_OCCUPATIONS))


def _diagnosis_weights() -> FloatArray:
    """Row: life stage × sex × exposure."""
    stages = np.stack([_column(_DIAGNOSES, 1 + stage) for stage in range(5)])
    ratio = _column(_DIAGNOSES, 6)
    women = 2 * ratio / (1 + ratio)
    sexes = np.stack([women, 2 - women, np.ones(len(_DIAGNOSES))])
    favoured = _column(_DIAGNOSES, 7) == np.arange(6)[:, None]
    exposures = np.where(favoured, _column(_DIAGNOSES, 8), 1.0)
    return (stages[:, None, None, :] * sexes[:, None, :] * exposures).reshape(-1, len(_DIAGNOSES))


def _reason_weights() -> FloatArray:
    """Row: diagnosis. Its usual reason has 60 %, the everyday reasons share the rest."""
    everyday = _column(_REASONS, 1) / _column(_REASONS, 1).sum()
    usual = np.array([[row[10] == reason[0] for reason in _REASONS] for row in _DIAGNOSES])
    weights: FloatArray = 0.4 * everyday + 0.6 * usual
    return weights


def _practice_weights() -> FloatArray:
    """Row: district × (other, mental) reason. Near the home, except for what only the psychiatrist treats."""
    nearest = _column(_DISTRICTS, 5)[:, None] == np.arange(8)
    psychiatry = np.arange(8) == 7
    other = np.where(nearest, 14.0, np.where(psychiatry, 0.1, 0.8))
    mental = np.where(psychiatry, 14.0, np.where(nearest, 4.0, 0.2))
    return np.stack([other, mental], axis=1).reshape(-1, 8)


def _income(
    rng: np.random.Generator, *, age: IntArray, sex: IntArray, education: IntArray, occupation: IntArray
) -> tuple[IntArray, BoolArray]:
    """Yearly income, rounded to 100, and who has one: log-normal around what the occupation usually pays."""
    usual = np.concatenate([_column(_JOBS, 5), _column(_STATUSES, 1)])[occupation]
    typical = np.concatenate([_column(_JOBS, 2), np.full(len(_STATUSES), 3.5)])[occupation]
    experience = 0.35 * (np.clip(age, 20, 55) - 40) / 20 * (occupation < len(_JOBS))
    pension = 0.12 * (education - 3) * (occupation == _OCCUPATIONS.index("retired"))
    gap = np.array([-0.07, 0.05, 0.0])[sex]
    log_factor = 0.07 * (education - typical) + experience + pension + gap + rng.normal(0, 0.2, len(age))
    income = np.round(usual * np.exp(log_factor), -2).astype(np.intp)
    return income, (usual > 0) & (age >= 16)


def _full_names(rng: np.random.Generator, *, nationality: IntArray, sex: IntArray) -> pa.Array:
    """First names (one or two) and family name; people of sex 'diverse' bear names of either list."""
    people = len(sex)
    origin = _choose(rng, _NAME_ORIGIN, nationality)
    listed = np.where(sex < 2, sex, rng.integers(0, 2, people))
    first = [names[which] for names in _NAMES for which in (0, 1)]
    family = [names[2] for names in _NAMES]
    first_name = _pick(rng, first, origin * 2 + listed)
    second_name = _pick(rng, first, origin * 2 + listed)
    second_name = pc.if_else(
        pc.or_(pc.equal(first_name, second_name), pa.array(rng.random(people) < 0.5)), None, second_name
    )
    return pc.binary_join_element_wise(
        first_name, second_name, _pick(rng, family, origin), " ", null_handling="skip"
    )


def _pick(rng: np.random.Generator, lists: Sequence[Sequence[str]], which: IntArray) -> pa.Array:
    """One word of the list numbered ``which[i]`` for each i."""
    sizes = np.array([len(words) for words in lists])
    starts = np.cumsum(sizes) - sizes
    index = starts[which] + (rng.random(len(which)) * sizes[which]).astype(np.intp)
    return _words([word for words in lists for word in words], index)


def _words(vocabulary: Sequence[str], code: IntArray, *, null: BoolArray | None = None) -> pa.Array:
    """Codes as strings."""
    return pa.array(vocabulary, type=pa.string()).take(pa.array(code, mask=null))


def _identifiers(prefix: str, number: IntArray, *, width: int) -> pa.Array:
    """Opaque identifiers of one length.

    >>> _identifiers("R-", np.array([4711, 8]), width=6).to_pylist()
    ['R-004711', 'R-000008']
    """
    digits = pc.utf8_lpad(pc.cast(pa.array(number), pa.string()), width, "0")
    return pc.binary_join_element_wise(prefix, digits, "")


def _column(rows: tuple[tuple[object, ...], ...], index: int) -> FloatArray:
    """One numeric column of a table of constants."""
    return np.array([row[index] for row in rows], dtype=np.float64)


def _require(table: pa.Table, name: str) -> pa.Array:
    """The column, as one array."""
    if name not in table.column_names:
        raise UnknownColumn(name, table.column_names)
    column = table[name].combine_chunks()
    if column.null_count:
        raise UnsuitableColumn(
            Sentence("column {name!r} has nulls", name=name), remedy="pass residents that town() made"
        )
    return column


def _codes_of(table: pa.Table, name: str, vocabulary: Sequence[str]) -> IntArray:
    """Strings as their positions in the vocabulary."""
    column = _require(table, name)
    if not pa.types.is_string(column.type):
        raise UnsuitableColumn(
            Sentence("column {name!r} is not text", name=name), remedy="pass residents that town() made"
        )
    codes = pc.index_in(column, value_set=pa.array(vocabulary, type=pa.string()))
    if codes.null_count:
        raise UnsuitableColumn(
            Sentence("column {name!r} has values unknown in the town", name=name),
            remedy="pass residents that town() made",
        )
    return np.asarray(codes.to_numpy(), dtype=np.intp)
