"""Anatomy: sensitive values by bucket, requirements on every bucket, and what can still be asked and attacked."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.attacks.disclosure.inference import attribute_inference
from discreet.classes.pair import Pair
from discreet.errors import GoalUnreachable, InvalidParameter, InvalidPolicy, RequirementNotMet
from discreet.perturb.randomness import Randomness
from discreet.perturb.swapping import RankSwap
from discreet.privacy import BetaLikeness, KAnonymity, LDiversity, TCloseness
from discreet.release.buckets import BucketedTable, open_buckets
from discreet.search.buckets.anatomy import anatomized, dealt
from discreet.utility.workload import _CountedTable

Run = Callable[..., Any]
HOSPITAL = pa.table(
    {
        "age": [23, 27, 35, 59, 61, 65, 65, 70],
        "sex": ["m", "m", "m", "m", "f", "f", "f", "f"],
        "zip": [11000, 13000, 59000, 12000, 54000, 25000, 25000, 30000],
        "disease": [
            "pneumonia",
            "dyspepsia",
            "dyspepsia",
            "pneumonia",
            "flu",
            "gastritis",
            "flu",
            "bronchitis",
        ],
    }
)
"""Table 1 of Xiao and Tao, 2006; its buckets are the first and the last four rows."""
POLICY = discreet.Policy.of(
    quasi_identifiers=["age", "sex", "zip"],
    sensitive=["disease"],
    require=[LDiversity(2, kind="simple", sensitive="disease")],
)


def by_bucket(release: discreet.BucketRelease) -> dict[int, Counter[str]]:
    told: dict[int, Counter[str]] = defaultdict(Counter)
    for entry in release.counts.to_pylist():
        told[entry["bucket"]][entry["disease"]] += entry["records"]
    return told


# ── the algorithm ─────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.integers(0, 8), min_size=2, max_size=60), st.integers(2, 5), st.integers(0, 2**30))
def test_every_bucket_has_l_records_and_no_value_twice(drawn: list[int], l: int, seed: int) -> None:  # noqa: E741
    values = np.array(drawn)
    if np.bincount(values).max() * l > len(values):
        with pytest.raises(GoalUnreachable, match="more than one in"):
            anatomized(values, l, Randomness(seed))
        return
    buckets = anatomized(values, l, Randomness(seed))
    members = [values[buckets == each].tolist() for each in range(buckets.max() + 1)]
    assert all(len(inside) >= l and len(set(inside)) == len(inside) for inside in members)
    # As many buckets as can be: fewer than l records are left over.
    assert len(members) == len(values) // l


@given(st.lists(st.integers(0, 4), min_size=3, max_size=60), st.integers(1, 3), st.integers(0, 2**30))
def test_dealt_buckets_have_every_value_equally_often_but_for_one(
    drawn: list[int], count: int, seed: int
) -> None:
    values = np.array(drawn)
    buckets = dealt(values, count, Randomness(seed))
    for value in set(drawn):
        often = np.bincount(buckets[values == value], minlength=count)
        assert often.max() - often.min() <= 1


# ── the paper's example ───────────────────────────────────────────────────────────────────────────────


def paper() -> BucketedTable:
    rows = HOSPITAL.drop_columns(["disease"]).append_column("bucket", pa.array([1] * 4 + [2] * 4))
    counts = pa.table(
        {
            "bucket": [1, 1, 2, 2, 2],
            "disease": ["dyspepsia", "pneumonia", "bronchitis", "flu", "gastritis"],
            "records": [2, 2, 1, 2, 1],
        }
    )
    return open_buckets(discreet.read(rows), counts, POLICY)


def test_the_query_of_the_paper_is_answered_as_there() -> None:
    """How many with pneumonia are at most 30 years old and live in 10001 to 20000? Two rows, each by a half: 1."""
    buckets = paper()
    comparison = discreet.compare(
        HOSPITAL, buckets.table, POLICY, buckets=_written(buckets), labels=[], queries=5
    )
    assert comparison.paired is not None
    pair: Pair = comparison.paired.pair
    assert pair.expected is not None
    names = ["age", "zip", "disease"]
    table = _CountedTable.of(pair.expected, pair.meaning, names, None, released=True)
    domains = [pair.expected.column_of_cells(name)[0] for name in names]
    inside = [
        np.array([float(value <= 30) for value in domains[0].values.to_pylist()]),
        np.array([float(10001 <= value <= 20000) for value in domains[1].values.to_pylist()]),
        np.array([float(value == "pneumonia") for value in domains[2].values.to_pylist()]),
    ]
    assert table.answer("count", inside) == 1.0
    assert any("dealt out at random" in note for note in comparison.notes)


def _written(buckets: BucketedTable) -> pa.Table:
    return pa.table(
        {
            "bucket": buckets.buckets + 1,
            "disease": buckets.domain.values.take(pa.array(buckets.values)),
            "records": buckets.records,
        }
    )


def test_whoever_finds_the_bucket_guesses_right_for_one_in_two() -> None:
    """In both buckets the most frequent disease has half of the records."""
    tried = discreet.attack(
        paper().table,
        POLICY,
        original=HOSPITAL,
        buckets=_written(paper()),
        attacks=["homogeneity", "skewness"],
    )
    homogeneity, skewness = tried.results
    assert (homogeneity.tries, homogeneity.successes) == (8, 0.0)
    # Half of a bucket, and a quarter of the table: both buckets fall, and of each half its people have it.
    assert skewness.successes == 4.0


def test_a_homogeneous_bucket_falls() -> None:
    rows = pa.table({"age": [1, 2, 3, 4], "bucket": [1, 1, 2, 2]})
    counts = pa.table({"bucket": [1, 2, 2], "disease": ["flu", "flu", "cold"], "records": [2, 1, 1]})
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["disease"])
    tried = discreet.attack(rows, policy, buckets=counts, attacks=["homogeneity"])
    assert tried.results[0].successes == 2.0


def test_rows_stay_open_to_whoever_knows_the_quasi_identifiers() -> None:
    tried = discreet.attack(
        discreet.bucketize(HOSPITAL, POLICY),
        original=HOSPITAL,
        attacks=["record-linkage", "minimality"],
    )
    # Six of eight are alone with what is known of them, and two are alike.
    assert tried.results[0].successes == 7.0
    assert [each.why for each in tried.untested] == [
        "disease: the release tells this attribute by bucket, not by record"
    ]


# ── the deFinetti attack ──────────────────────────────────────────────────────────────────────────────


def smokers(generator: np.random.Generator, ill: int) -> pa.Table:
    """200 smokers, of whom so many have a disease of the lung, and 200 others, of whom as many have none."""
    smokes = np.repeat(["yes", "no"], 200)
    lung = np.concatenate([np.arange(200) < ill, np.arange(200) >= ill])
    kinds = np.empty(400, dtype=object)
    kinds[lung] = generator.permutation(np.repeat(["cancer", "asthma", "bronchitis"], [90, 70, 40]))
    kinds[~lung] = generator.permutation(np.repeat(["flu", "acne", "gout"], [80, 65, 55]))
    ages = generator.permutation(400)  # in days, as it were: nobody shares it
    return pa.table({"age": ages, "smokes": smokes, "ill": kinds})


SMOKERS = discreet.Policy.of(
    quasi_identifiers=["age", "smokes"],
    sensitive=["ill"],
    require=[LDiversity(2, kind="simple", sensitive="ill")],
)


@pytest.mark.slow
def test_who_learns_from_all_buckets_guesses_better_than_each_bucket_tells() -> None:
    """Kifer 2009: every bucket says one half, and all together that smokers have diseases of the lung."""
    table = smokers(np.random.default_rng(1), 190)
    told = []
    # Releases differ by chance, and what is learned from them: from 65 to 92 percent of the people.
    for seed in range(5):
        release = discreet.bucketize(table, SMOKERS, seed=seed)
        assert release.buckets.classes.histogram("ill").records.tolist() == [1] * 400
        tried = discreet.attack(release, original=table, attacks=["attribute-inference"])
        assert not tried.untested
        told.append(tried.result("attribute-inference-naive-bayes", "ill"))
    assert [learned.tries for learned in told] == [400] * 5
    assert min(learned.low for learned in told) > 0.55
    assert np.mean([learned.successes for learned in told]) > 0.7 * 400
    # Who is not in the table may have either disease of the lung: nobody tells better than one half.
    assert max(learned.baseline for learned in told) < 0.55


def test_people_stand_in_the_buckets_of_their_rows() -> None:
    table = pa.table({"age": [30, 30, 40, 50], "ill": ["a", "b", "a", "b"]})
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["ill"])
    rows = pa.table({"age": [30, 40, 30, 50], "bucket": [7, 7, 9, 9]})
    counts = pa.table({"bucket": [7, 7, 9, 9], "ill": ["a", "b", "a", "b"], "records": [1, 1, 1, 1]})
    bucketed = open_buckets(discreet.read(rows), counts, policy)
    count = discreet.read(table).engine.count
    original = count(discreet.read(table), quasi_identifiers=["age"], sensitive=["ill"])
    shown = count(discreet.read(rows), quasi_identifiers=["age"])
    people = bucketed.with_people(Pair.of(original, shown))
    assert people is not None
    assert people.links is not None
    assert people.links.original.tolist() == [0, 0, 1, 2]
    assert people.links.released.tolist() == [0, 1, 0, 1]
    assert people.links.records.tolist() == [1, 1, 1, 1]
    wide = count(discreet.read(pa.table({"age": ["[30, 40]"] * 3 + ["50"]})), quasi_identifiers=["age"])
    wide_rows = dataclasses.replace(
        bucketed, table=discreet.read(pa.table({"age": ["[30, 40]"] * 3 + ["50"], "bucket": [7, 7, 9, 9]}))
    )
    assert wide_rows.with_people(Pair.of(original, wide)) is None


@pytest.mark.slow
def test_where_nothing_can_be_learned_the_interval_covers_one_half() -> None:
    generator = np.random.default_rng(11)
    covered = 0
    for _ in range(40):
        table = smokers(generator, 100)
        release = discreet.bucketize(table, SMOKERS, seed=int(generator.integers(2**40)))
        original = discreet.read(table).engine.count(
            discreet.read(table), quasi_identifiers=["age", "smokes"], sensitive=["ill"]
        )
        shown = release.bucketed.table.engine.count(
            release.bucketed.table, quasi_identifiers=["age", "smokes"]
        )
        people = release.bucketed.with_people(Pair.of(original, shown))
        assert people is not None
        (result,) = attribute_inference(people, "ill", models=["naive-bayes"])
        covered += result.low <= 0.5 <= result.high
    # 95 % of 40 are 38; fewer than 32 is a chance of one in a thousand.
    assert covered >= 32


# ── releases ──────────────────────────────────────────────────────────────────────────────────────────


def test_requirements_hold_in_every_bucket_and_rows_are_those_of_the_table() -> None:
    release = discreet.bucketize(HOSPITAL, POLICY)
    told = by_bucket(release)
    assert all(max(counts.values()) * 2 <= counts.total() for counts in told.values())
    assert Counter(release.rows["bucket"].to_pylist()) == {each: told[each].total() for each in told}
    assert sum(told.values(), Counter()) == Counter(HOSPITAL["disease"].to_pylist())
    back = HOSPITAL.take(pa.array(release.links))
    assert back["zip"].to_pylist() == release.rows["zip"].to_pylist()
    for place, row in zip(release.links, release.rows["bucket"].to_pylist(), strict=True):
        assert HOSPITAL["disease"][int(place)].as_py() in told[row]


def test_a_seed_that_somebody_chose_is_told() -> None:
    told = [
        any("seed" in note for note in discreet.bucketize(HOSPITAL, POLICY, seed=n).notes) for n in (7, None)
    ]
    assert told == [True, False]


@pytest.mark.slow
def test_the_order_of_rows_in_a_bucket_tells_nothing() -> None:
    """The algorithm takes frequent values first: the first row of a bucket must not be the one with them."""
    rows = pa.table({"age": list(range(60)), "disease": ["flu"] * 20 + [f"rare {i}" for i in range(40)]})
    policy = discreet.Policy.of(
        quasi_identifiers=["age"],
        sensitive=["disease"],
        require=[LDiversity(3, kind="simple", sensitive="disease")],
    )
    first = 0
    for seed in range(40):
        release = discreet.bucketize(rows, policy, seed=seed)
        seen: set[int] = set()
        for place, bucket in zip(release.links, release.rows["bucket"].to_pylist(), strict=True):
            if bucket not in seen:
                seen.add(bucket)
                first += rows["disease"][int(place)].as_py() == "flu"
    # 20 buckets with one flu among three, 40 times: 267 are expected, and 60 away is over four deviations.
    assert abs(first - 800 / 3) < 60


@pytest.mark.parametrize(
    "model",
    [
        LDiversity(3, sensitive="job"),
        LDiversity(2.5, kind="entropy", sensitive="job"),
        LDiversity(2, kind="recursive", c=2, sensitive="job"),
        TCloseness(0.1, sensitive="job"),
        BetaLikeness(1.0, sensitive="job"),
    ],
)
def test_any_model_of_values_is_a_condition(model: discreet.LDiversity) -> None:
    rng = np.random.default_rng(1)
    rows = pa.table({"age": rng.integers(20, 70, 300), "job": rng.choice(list("aaabbcde"), 300)})
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["job"], require=[model])
    release = discreet.bucketize(rows, policy)
    assert model.holds(release.buckets.classes).all()
    assert len(release.buckets.classes) > 10


MISSING = ("?", "NA", None)


@pytest.mark.parametrize("kind", ["distinct", "entropy", "simple"])
def test_missing_values_are_one_value_however_they_are_written(kind: str) -> None:
    """Three of six say nothing: each of the three buckets has one of them, and one that says something."""
    rows = pa.table({"age": range(6), "disease": [*MISSING, "flu", "cold", "asthma"]})
    asked = LDiversity(2, kind=kind, sensitive="disease")  # type: ignore[arg-type]
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["disease"], require=[asked])
    for seed in range(10):
        for inside in by_bucket(discreet.bucketize(rows, policy, seed=seed)).values():
            assert sum(inside[mark] for mark in MISSING) * 2 <= inside.total()


def test_more_missing_values_than_others_are_refused() -> None:
    rows = pa.table({"age": range(4), "disease": [*MISSING, "flu"]})
    policy = discreet.Policy.of(
        quasi_identifiers=["age"],
        sensitive=["disease"],
        require=[LDiversity(2, kind="simple", sensitive="disease")],
    )
    with pytest.raises(GoalUnreachable, match="even all records as one bucket"):
        discreet.bucketize(rows, policy)


def test_written_buckets_of_missing_values_alone_do_not_hold() -> None:
    rows = pa.table({"age": range(4), "disease": ["?", None, "flu", "cold"]})
    policy = discreet.Policy.of(
        quasi_identifiers=["age"], sensitive=["disease"], require=[LDiversity(2, sensitive="disease")]
    )
    release = discreet.bucketize(rows, policy, seed=1)
    counts = pa.table({"bucket": [1, 1, 2, 2], "disease": ["?", None, "flu", "cold"], "records": [1] * 4})
    assert release.verify(release.rows, release.counts).holds
    assert not release.verify(release.rows, counts).holds


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_both_files_are_verified_together(tmp_path: Path, suffix: str) -> None:
    release = discreet.bucketize(HOSPITAL, POLICY)
    paths = release.save(
        tmp_path / f"rows{suffix}",
        tmp_path / f"values{suffix}",
        recipe=tmp_path / "how.json",
        links=tmp_path / "links.csv",
    )
    compared = discreet.compare(HOSPITAL, paths[0], POLICY, buckets=paths[1], links=tmp_path / "links.csv")
    assert compared.losses.measure("count-error-mean") is not None
    recipe = json.loads((tmp_path / "how.json").read_text())
    assert (recipe["method"], recipe["l"], recipe["sensitive"]) == ("anatomy", 2, "disease")
    assert "seed" not in recipe


def test_files_that_do_not_hold_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = discreet.bucketize(HOSPITAL, POLICY)
    wrong = release.counts.set_column(1, "disease", pa.array(["flu"] * release.counts.num_rows))
    monkeypatch.setattr("discreet.release.bucketize.write_rows", _writing(wrong))
    with pytest.raises(RequirementNotMet, match="nothing was written"):
        release.save(tmp_path / "rows.csv", tmp_path / "values.csv")
    assert list(tmp_path.iterdir()) == []


def _writing(wrong: pa.Table) -> Callable[[pa.Table, Path], None]:
    def write(rows: pa.Table, path: Path) -> None:
        pyarrow.csv.write_csv(wrong if "records" in rows.column_names else rows, path)

    return write


def test_expected_counts_are_nearer_than_those_of_one_deal() -> None:
    rng = np.random.default_rng(3)
    rows = pa.table({"age": rng.integers(20, 60, 2000), "job": rng.choice(list("abcdefgh"), 2000)})
    policy = discreet.Policy.of(
        quasi_identifiers=["age"], sensitive=["job"], require=[LDiversity(4, kind="simple", sensitive="job")]
    )
    release = discreet.bucketize(rows, policy, seed=1)
    expected = discreet.compare(rows, release, labels=[])
    dealt_rows = release.bucketed.dealt(1)
    drawn = discreet.compare(rows, dealt_rows, policy, labels=[])
    errors = [each.losses.measure("count-error-mean") for each in (expected, drawn)]
    assert errors[0] is not None
    assert errors[1] is not None
    assert errors[0].value < 0.9 * errors[1].value


# ── what is refused ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (POLICY.require(KAnonymity(3)), "people who look alike"),
        (discreet.Policy.of(quasi_identifiers=["age"], sensitive=["disease"]), "nothing is required"),
        (discreet.Policy.of(quasi_identifiers=["age"], sensitive=["disease", "sex"]), "buckets tell one"),
        (POLICY.replace(person="zip"), "several rows"),
        (POLICY.perturbed_by(RankSwap(("age",))), "steps of perturbation"),
        (dataclasses.replace(POLICY.without(["zip"]), unknown="fail"), "does not know zip"),
    ],
)
def test_policies_that_buckets_cannot_meet(policy: discreet.Policy, told: str) -> None:
    with pytest.raises(InvalidPolicy, match=told):
        discreet.bucketize(HOSPITAL, policy)


def test_a_value_that_is_too_frequent() -> None:
    with pytest.raises(GoalUnreachable, match="even all records as one bucket"):
        discreet.bucketize(HOSPITAL, POLICY.require(LDiversity(5, kind="simple", sensitive="disease")))


def test_tables_that_do_not_belong_together() -> None:
    rows = pa.table({"age": [1, 2], "bucket": [1, 1]})
    counts = pa.table({"bucket": [1], "disease": ["flu"], "records": [3]})
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["disease"])
    with pytest.raises(InvalidParameter, match="other records in its buckets"):
        discreet.attack(rows, policy, buckets=counts)
    with pytest.raises(InvalidParameter, match="no table of sensitive values"):
        discreet.attack(rows, policy, buckets=rows)
    with pytest.raises(InvalidParameter, match="whole number"):
        discreet.attack(rows, policy, buckets=counts.set_column(2, "records", pa.array([0])))


def test_the_command_writes_both_tables(tmp_path: Path, run: Run) -> None:
    source = tmp_path / "hospital.csv"
    pyarrow.csv.write_csv(HOSPITAL, source)
    asked = ["--qi", "age,sex,zip", "--sensitive", "disease"]
    done = run(
        "bucketize",
        source,
        *asked,
        "--require",
        "l-diversity l=2 kind=simple sensitive=disease",
        "-o",
        tmp_path / "rows.csv",
        "--values",
        tmp_path / "values.csv",
        "--json",
    )
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["rows"], told["recipe"]["method"], told["smallest_bucket"]) == (8, "anatomy", 2)
    assert "pneumonia" not in done.out
    tried = run(
        "attack",
        tmp_path / "rows.csv",
        "--buckets",
        tmp_path / "values.csv",
        "--original",
        source,
        *asked,
        "--json",
    )
    assert tried.code == 0, tried.err
    assert "homogeneity" in {each["attack"] for each in json.loads(tried.out)["attacks"]}
    unmet = run("bucketize", source, *asked, "-o", tmp_path / "no.csv", "--values", tmp_path / "not.csv")
    assert unmet.code == 2
    assert not (tmp_path / "no.csv").exists()
