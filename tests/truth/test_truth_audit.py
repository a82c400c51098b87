"""What an audit says of random tables, against plain loops over their rows."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import fmean, median_low
from typing import Any

import plain_models as models
import plain_risks as risks
import pyarrow.parquet as pq
import pytest
from plain_tables import TABLES, PlainTable, random_population, random_table

import discreet

SEEDS = range(TABLES)
LEVELS = pytest.mark.parametrize("event_level", [False, True], ids=["persons", "events"])


def audited(table: PlainTable, **known: Any) -> dict[str, dict[str, dict[str, object]]]:
    policy = discreet.Policy.of(
        quasi_identifiers=table.quasi_identifiers,
        sensitive=table.sensitive,
        person=table.person,
        weight=table.weight,
        **known,
    )
    return discreet.audit(table.to_arrow(), policy, detail="core").to_dict()  # type: ignore[return-value]


def number(value: object) -> float:
    return math.inf if value == "infinite" else float(value)  # type: ignore[arg-type]


def plain_measures(table: PlainTable) -> dict[tuple[str, str | None], float]:
    """Every measure that can be had by a loop, by name and sensitive attribute."""
    values: dict[tuple[str, str | None], float] = {("k-anonymity", None): models.k_anonymity(table)}
    for name in table.sensitive:
        values |= {
            ("l-diversity", name): models.distinct_l(table, name),
            ("entropy-l-diversity", name): models.entropy_l(table, name),
            ("simple-l-diversity", name): models.simple_l(table, name),
            ("recursive-c-l-diversity", name): models.recursive_c(table, name),
            ("beta-likeness", name): models.beta(table, name),
            ("enhanced-beta-likeness", name): models.beta(table, name, enhanced=True),
            ("delta-disclosure", name): models.delta(table, name),
            ("alpha-k-anonymity", name): models.alpha(table, name),
        }
        if name == "pay":
            values["ordered-t-closeness", name] = models.t_ordered(table, name)
        else:
            values["t-closeness", name] = models.t_equal(table, name)
        if table.person is not None:
            values["h-affiliation", name] = models.h_affiliation(table, name)
    if table.person is not None:
        values["g-balance", None] = models.g_balance(table)
        values["linked-k-anonymity", None] = models.linked_k(table)
    return values


@LEVELS
@pytest.mark.parametrize("seed", SEEDS)
def test_every_measure_is_what_the_definition_says(seed: int, event_level: bool) -> None:
    table = random_table(seed, event_level=event_level)
    measures = audited(table)["measures"]
    for (name, sensitive), expected in plain_measures(table).items():
        measure = measures[name]
        by_attribute = measure.get("by_attribute")
        value = by_attribute[sensitive] if sensitive and by_attribute else measure["value"]  # type: ignore[index]
        assert number(value) == pytest.approx(expected, abs=1e-9), (name, sensitive)


@LEVELS
@pytest.mark.parametrize("seed", SEEDS)
def test_every_record_risk_is_what_the_definition_says(seed: int, event_level: bool) -> None:
    table = random_table(seed, event_level=event_level)
    reported = audited(table)["risks"]
    known = {None: table.quasi_identifiers, **{name: (name,) for name in table.quasi_identifiers}}
    expected = {
        **{("uniqueness", name, None): risks.uniqueness(table, names) for name, names in known.items()},
        **{("uniformity", name, None): risks.uniformity(table, names) for name, names in known.items()},
        **{
            ("correlation", name, sensitive): risks.correlation(table, names, sensitive)
            for name, names in known.items()
            for sensitive in table.sensitive
        },
        ("prosecutor", None, None): risks.prosecutor(table),
    }
    compared = 0
    for name, risk in reported.items():
        for part in risk.get("parts", [risk]):  # type: ignore[attr-defined]
            values = expected.get((name, part.get("attribute"), part.get("sensitive")))
            if values is None:
                continue
            compared += 1
            assert part["min"] == pytest.approx(min(values), abs=1e-9), name
            assert part["max"] == pytest.approx(max(values), abs=1e-9), name
            assert part["mean"] == pytest.approx(fmean(values), abs=1e-9), name
            assert part["median"] == pytest.approx(median_low(values), abs=1e-9), name
    assert compared == len(expected)


@LEVELS
@pytest.mark.parametrize("seed", SEEDS)
def test_risks_against_the_population_are_what_the_definition_says(
    seed: int, event_level: bool, tmp_path: Path
) -> None:
    """Journalist and marketer by weights, by a sampling fraction, and by a table of the population."""
    table = random_table(seed, event_level=event_level)
    weighted = random_table(seed, event_level=event_level, weighted=True)
    population = random_population(seed, table)
    pq.write_table(population.to_arrow(), tmp_path / "population.parquet")
    fraction = 1 / (1 + seed % 7)
    cases = [
        (audited(weighted), risks.by_weight(weighted)),
        (audited(table, sampling_fraction=fraction), risks.by_fraction(table, fraction)),
    ]
    if not event_level:
        known = audited(table, population=tmp_path / "population.parquet")
        cases.append((known, risks.by_population(table, population)))
    for document, expected in cases:
        journalist = document["risks"]["journalist"]
        assert journalist["max"] == pytest.approx(max(expected), abs=1e-9)
        assert journalist["mean"] == pytest.approx(fmean(expected), abs=1e-9)
        assert document["measures"]["marketer"]["value"] == pytest.approx(fmean(expected), abs=1e-9)
