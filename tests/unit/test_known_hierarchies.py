"""What is known of values comes before what is learned: dates, countries, education, marital status, diseases."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.policy.hierarchies import fit
from discreet.search.local.finer import finer
from discreet.table import Domain
from discreet.table.hierarchies.known import known_hierarchy, known_order
from discreet.table.knowledge.classes import disease
from discreet.table.knowledge.countries import country
from discreet.transform.recoding import spans


def climbed(name: str, values: list[str]) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Where the hierarchy of a column comes from, and what its values become, level by level."""
    domain = Domain(name, pa.array(sorted(values)))
    fitted = fit(domain, np.ones(len(values), dtype=np.int64), None)
    return fitted.origin, {row[0]: row[1:] for row in fitted.hierarchy.rows()}


@pytest.mark.parametrize(
    ("written", "day"),
    [
        (["22.01.1980", "3.2.1981", "24.12.1990"], date(1980, 1, 22)),
        (["01/22/1980", "02/03/1981", "12/24/1990"], date(1980, 1, 22)),
        (["22/01/1980", "03/02/1981", "24/12/1990"], date(1980, 1, 22)),
        (["1980/01/22", "1981/02/03", "1990/12/24"], date(1980, 1, 22)),
        (["22-01-1980", "03-02-1981", "24-12-1990"], date(1980, 1, 22)),
    ],
)
def test_dates_in_usual_notations_are_dates(tmp_path: Path, written: list[str], day: date) -> None:
    path = tmp_path / "people.csv"
    path.write_text("id;born\n" + "".join(f"a{i};{text}\n" for i, text in enumerate(written)))
    table = discreet.read(path)
    assert table.column("born").type == "date"
    assert table.engine.to_arrow(table)["born"].to_pylist() == [day, date(1981, 2, 3), date(1990, 12, 24)]


@pytest.mark.parametrize(
    "written", [["01/02/1980", "03/04/1981"], ["31.02.1980", "01.01.1981"], ["1.2.3", "1.2.4"]]
)
def test_what_is_not_clearly_a_date_stays_text(tmp_path: Path, written: list[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("id;born\n" + "".join(f"a{i};{text}\n" for i, text in enumerate(written)))
    assert discreet.read(path).column("born").storage == "text"


def test_dates_become_months_quarters_and_years(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    days = [f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 40}" for i in range(200)]
    path.write_text("sex;born\n" + "".join(f"{'fm'[i % 2]};{day}\n" for i, day in enumerate(days)))
    table = discreet.read(path)
    domain = table.engine.domain(table, "born")
    labels = fit(domain, np.ones(domain.size, dtype=np.int64), None).hierarchy.rows()[0]
    assert labels[0].startswith("1950-01-01")
    assert "1950" in labels
    assert not any("**" in label for label in labels)


def test_states_of_the_united_states_are_grouped_by_division_and_region() -> None:
    codes = ["AK", "AL", "CA", "DC", "HI", "MA", "NY", "OH", "PR", "TX", "WA", "unknown"]
    origin, rows = climbed("STATE", codes)
    assert "Census Bureau" in origin
    assert rows["CA"] == rows["HI"] == ("Pacific", "West", "*")
    assert rows["DC"] == ("South Atlantic", "South", "*")
    assert rows["unknown"] == ("unknown", "unknown", "*")
    names = [
        "Alabama",
        "Alaska",
        "Arizona",
        "New York",
        "new jersey",
        "Ohio",
        "Texas",
        "Utah",
        "Maine",
        "Iowa",
    ]
    assert climbed("state", names)[1]["new jersey"] == ("Middle Atlantic", "Northeast", "*")
    origin, rows = climbed("istatenum", [*names, "Dist of Columbia", "Guam"])
    assert "Census Bureau" in origin
    assert rows["Dist of Columbia"][0] == "South Atlantic"
    # Provinces of other countries have two letters, too.
    assert "learned" in climbed("region", ["MI", "CO", "PA", "VA"])[0]
    brazil = ["AL", "AM", "BA", "MA", "MG", "MS", "MT", "PA", "PR", "RJ", "SC", "SP"]
    assert "learned" in climbed("estado", brazil)[0]


def test_countries_of_adult() -> None:
    origin, rows = climbed(
        "native-country", ["United-States", "Mexico", "Holand-Netherlands", "Hong", "South", "?"]
    )
    assert "M49" in origin
    assert rows["Mexico"] == ("Central America", "Americas", "*")
    assert rows["Holand-Netherlands"] == ("Western Europe", "Europe", "*")
    assert rows["South"] == rows["Hong"] == ("Eastern Asia", "Asia", "*")
    assert rows["?"] == ("?", "?", "*")


def test_education_is_ordered() -> None:
    adult = [
        "Bachelors",
        "Some-college",
        "11th",
        "HS-grad",
        "Prof-school",
        "Assoc-acdm",
        "Assoc-voc",
        "9th",
        "7th-8th",
        "12th",
        "Masters",
        "1st-4th",
        "10th",
        "Doctorate",
        "5th-6th",
        "Preschool",
    ]
    origin, rows = climbed("education", adult)
    assert "ISCED" in origin
    assert {leaf for leaf, groups in rows.items() if groups[0] == "higher degree"} == {
        "Masters",
        "Prof-school",
        "Doctorate",
    }
    assert rows["Preschool"] == rows["5th-6th"]
    assert rows["HS-grad"] == ("upper secondary school", "secondary school or vocational", "*")
    assert len({groups[0] for groups in rows.values()}) == 6


def test_marital_status() -> None:
    origin, rows = climbed(
        "marital-status",
        [
            "Never-married",
            "Married-civ-spouse",
            "Divorced",
            "Married-spouse-absent",
            "Separated",
            "Married-AF-spouse",
            "Widowed",
        ],
    )
    assert "censuses" in origin
    assert rows["Widowed"] == ("formerly married", "without spouse", "*")
    assert rows["Married-AF-spouse"][0] == "married or in partnership"


def test_diagnoses_of_icd_9() -> None:
    origin, rows = climbed("diag_1", ["250.83", "250", "276", "648", "V27", "E909", "8", "410"])
    assert "ICD-9" in origin
    assert rows["250.83"][:2] == rows["250"][:2] == ("250", "249-259")
    assert rows["8"][0] == "008"
    assert rows["410"][2] == "390-459 diseases of circulatory system"


def test_british_postcodes() -> None:
    _, rows = climbed("postcode", ["SW1A 2AA", "SW1A 1AA", "M1 1AE", "EC1A 1BB", "W1A 0AX"])
    assert rows["M1 1AE"] == ("M1 1**", "M1 ***", "M*", "*")


@pytest.mark.parametrize("edition", ["icd-9", "icd-10"])
def test_blocks_lie_in_chapters(edition: str) -> None:
    """Every block begins and ends in the same chapter, and no two of them overlap."""
    from discreet.table.knowledge.classes import _classes

    spans = [span.split("-") for span in _classes()[edition]["blocks"]]
    for first, last in spans:
        begins, ends = disease(edition, first), disease(edition, last)
        assert begins is not None
        assert ends is not None
        assert (begins[1:], begins[2]) == (ends[1:], ends[2]), first
    assert [a for (_, a), (b, _) in itertools.pairwise(spans) if a >= b] == []


def test_no_country_is_listed_twice() -> None:
    from discreet.table.knowledge import countries

    text = (Path(countries.__file__).parent / "countries.toml").read_text("utf-8")
    codes = [
        part.split("|")[0].strip('" [')
        for line in text.splitlines()
        if line.startswith("countries")
        for part in line.split('", "')
    ]
    codes = [code.split('"')[-1] for code in codes]
    assert len(codes) > 200
    assert len(set(codes)) == len(codes)
    assert country("Switzerland") is not None


def test_halves_of_levels_of_education_are_stretches_of_their_order() -> None:
    levels = [
        "10th",
        "11th",
        "Assoc-voc",
        "Bachelors",
        "Doctorate",
        "HS-grad",
        "Masters",
        "Preschool",
        "Some-college",
    ]
    domain = Domain("education", pa.array(levels))
    known = known_hierarchy(domain, "education")
    assert known is not None
    builder, origin = known
    ladder = replace(builder.build(domain).ladder(domain), assumed=origin)
    places = known_order(domain, origin)
    assert places is not None
    for step in finer(ladder, np.arange(1.0, 10.0)).steps:
        for node in range(len(step.labels)):
            inside = np.sort(places[step.codes == node])
            assert (np.diff(inside) == 1).all(), step.labels


def test_postcodes_are_masked_and_never_ranges() -> None:
    domain = Domain("postcode", pa.array(["62011", "62017", "62031", "62035", "62104", "62107"]))
    known = known_hierarchy(domain, "postcode")
    assert known is not None
    builder, origin = known
    ladder = replace(builder.build(domain).ladder(domain), assumed=origin)
    assert finer(ladder, np.ones(6)) == ladder


def test_months_and_days_of_the_week_follow_the_calendar() -> None:
    origin, rows = climbed(
        "ideathmon", [*(date(2020, month, 1).strftime("%B") for month in range(1, 13)), "?"]
    )
    assert "quarter" in origin
    assert rows["May"] == ("April to June", "January to June", "*")
    assert rows["?"] == ("?", "?", "*")
    origin, rows = climbed("Wochentag", ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"])
    assert {day for day, groups in rows.items() if groups[0] == "Saturday or Sunday"} == {"Sa", "So"}


def test_sets_of_months_are_written_in_their_order_and_what_is_missing_last() -> None:
    domain = Domain("month", pa.array(["", "April", "February", "January", "March"]))
    known = known_hierarchy(domain, "date-part")
    assert known is not None
    builder, origin = known
    ladder = replace(builder.build(domain).ladder(domain), assumed=origin)
    together = spans(domain, np.array([1, 2, 3, 0]), np.zeros(4, dtype=np.int64), 1, ladder)
    assert together.values.to_pylist() == ['{January, February, April, ""}']
    jobs = Domain("job", pa.array(["", "baker", "cook", "judge"]))
    apart = spans(jobs, np.array([0, 1, 2]), np.zeros(3, dtype=np.int64), 1, None)
    assert apart.values.to_pylist() == ['{baker, cook, ""}']
