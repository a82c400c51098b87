"""Whatever frame comes in, the same kind comes out, with the types that its values still allow."""

from __future__ import annotations

import copy
import logging
import pickle
import subprocess
import sys
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import DiscreetError, InvalidParameter, RequirementNotMet
from discreet.privacy import KAnonymity

POLICY = discreet.Policy.of(
    quasi_identifiers=["age", "sex"],
    sensitive=["ill"],
    require=[KAnonymity(3)],
    profile="research-partner-3",
)
AGES = [31, 32, 33, 47, 48, 49, 31, 32, 33, 47, 48, 49]


@pytest.fixture
def people() -> pd.DataFrame:
    """Twelve people, of whom six are in their thirties; nobody has the third sex."""
    return pd.DataFrame(
        {
            "age": pd.array(AGES, "Int64"),
            "sex": pd.Categorical(["f", "m"] * 6, categories=["m", "f", "x"], ordered=True),
            "ill": pd.Categorical(["flu", "cold", "gout"] * 4),
            "visits": pd.array([1, None, 3] * 4, "Int16"),
            "weight": np.arange(12, dtype="float32"),
            "seen": pd.to_datetime(["2024-05-01"] * 12).astype("datetime64[ns]"),
        },
        index=[f"person {number}" for number in range(12)],
    )


def test_a_pandas_frame_comes_back_with_its_types(people: pd.DataFrame) -> None:
    back = discreet.read(people).to_native()
    assert isinstance(back, pd.DataFrame)
    pd.testing.assert_frame_equal(
        back.drop(columns="sex"), people.drop(columns="sex").reset_index(drop=True), check_categorical=False
    )
    assert back["sex"].dtype == pd.CategoricalDtype(["m", "f"], ordered=True)


def test_categories_that_nobody_has_any_more_are_not_told(people: pd.DataFrame) -> None:
    assert "x" not in discreet.read(people).to_pandas()["sex"].cat.categories


def test_a_polars_frame_comes_back_with_its_types() -> None:
    frame = pl.DataFrame(
        {
            "small": pl.Series([1, None, 3], dtype=pl.UInt8),
            "kind": pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a", "z"])),
            "city": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
            "text": ["p", None, "q"],
        }
    )
    back = discreet.read(frame).to_native()
    assert isinstance(back, pl.DataFrame)
    assert back.schema == {**frame.schema, "kind": pl.Enum(["b", "a"])}
    assert back.cast({"kind": pl.String}).equals(frame.cast({"kind": pl.String}))
    lazy = discreet.read(frame.lazy()).to_native()
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(back)


def test_arrow_and_duckdb_come_back() -> None:
    rows = pa.table({"age": pa.array([1, 2], pa.uint8()), "sex": pa.array(["f", "m"]).dictionary_encode()})
    assert discreet.read(rows).to_native().equals(rows)
    relation = discreet.read(duckdb.sql("SELECT 31 AS age, 'f' AS sex")).to_native()
    assert isinstance(relation, duckdb.DuckDBPyRelation)
    assert relation.fetchall() == [(31, "f")]


class Stream:
    """Something that only gives an Arrow stream."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)


class Interchange:
    """Something that only speaks the dataframe interchange protocol."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self.rows.__dataframe__(nan_as_null, allow_copy)


@pytest.mark.parametrize("kind", [Stream, Interchange])
def test_whatever_exchanges_rows_is_a_table(kind: type) -> None:
    rows = pa.table({"age": [31, 47], "sex": ["f", "m"]})
    assert discreet.read(kind(rows)).to_native().to_pydict() == rows.to_pydict()


def test_a_table_streams_into_other_libraries(people: pd.DataFrame) -> None:
    table = discreet.read(people)
    assert pl.DataFrame(table)["age"].to_list() == AGES
    assert pa.table(table)["age"].to_pylist() == AGES
    assert discreet.read(Stream(table.to_arrow())).rows == 12


def test_a_release_comes_as_the_kind_that_came_in(people: pd.DataFrame) -> None:
    frame = people[["age", "sex", "ill"]]
    release = discreet.anonymize(frame, POLICY, plan=discreet.Plan(method="mondrian", keep=("sex",)))
    back = release.to_native()
    assert isinstance(back, pd.DataFrame)
    assert list(back.index) == list(range(len(back)))
    # Intervals are ordered by where they begin.
    assert back["age"].dtype.ordered
    assert [label for label in back["age"].cat.categories if label != "*"] == ["<= 48", ">= 32"]
    assert back["age"].min() == "<= 48"
    assert isinstance(back["ill"].dtype, pd.CategoricalDtype)
    assert sorted(back["ill"]) == sorted(frame["ill"])
    assert isinstance(discreet.anonymize(pl.from_pandas(frame), POLICY).to_native(), pl.DataFrame)
    assert pl.DataFrame(release).height == 12


def test_numbers_that_did_not_change_keep_their_type(people: pd.DataFrame) -> None:
    kept = people.assign(age=pd.array([31, 47] * 6, "Int64"))[["age", "ill"]]
    policy = discreet.Policy.of(
        quasi_identifiers=["age"], sensitive=["ill"], require=[KAnonymity(3)], profile="research-partner-3"
    )
    back = discreet.anonymize(kept, policy).to_native()
    assert back["age"].dtype == pd.Int64Dtype()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("texts", "typed"),
    [
        (["1980-01-22", None, "1975-12-01"], "date"),
        (["22.1.1980", "01.12.1975", "03.04.2001"], "date"),
        (["01/22/1980", "12/01/1975", "03/04/2001"], "date"),
        (["01/02/1980", "12/01/1975", "03/04/2001"], "nominal"),
        (["1980-01-22", "1975-12-01", "unknown"], "date"),
        (["1980-01-22", "", "?"], "date"),
        (["1980-01-22", "1975-12-01", "in spring"], "nominal"),
        (["unknown", "", "?"], "nominal"),
        (["1980-02-30", "1975-12-01", "2001-04-03"], "nominal"),
    ],
)
def test_texts_of_frames_that_are_all_dates_are_dates(kind: Any, texts: list[str | None], typed: str) -> None:
    """As those of text files are: day and month that cannot be told apart, words and impossible days stay text."""
    [column] = discreet.read(kind({"seen": texts})).columns
    assert column.type == typed


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates_that_were_texts_come_back_as_texts(kind: Any) -> None:
    texts = ["2024-05-01", "2024-05-02", None]
    back = discreet.read(kind({"seen": texts})).to_native()
    assert type(back) is type(kind({}))
    arrow = back if isinstance(back, pa.Table) else pa.table(back)
    assert [text or None for text in arrow["seen"].to_pylist()] == texts


def test_text_dates_of_a_frame_are_generalised_as_dates() -> None:
    days = pd.date_range("1940-01-01", periods=240, freq="97D")
    born = [*days[:-12].strftime("%d.%m.%Y"), *["unbekannt"] * 12]
    frame = pd.DataFrame({"born": born, "ill": ["flu", "cold", "gout"] * 80})
    policy = discreet.Policy.of(
        quasi_identifiers=["born"], sensitive=["ill"], require=[KAnonymity(10)], profile="research-partner-3"
    )
    released = discreet.anonymize(frame, policy).to_pandas()["born"]
    assert released.isna().sum() == 12
    assert not any("{" in label for label in released.dropna())


def test_rows_of_a_release_that_breaks_its_policy_are_not_handed_out(people: pd.DataFrame) -> None:
    release = discreet.anonymize(people[["age", "sex", "ill"]], POLICY)
    object.__setattr__(release, "models", (KAnonymity(13),))
    with pytest.raises(RequirementNotMet, match="no rows are handed out"):
        release.to_native()


def test_what_each_record_risks_stands_by_the_index(people: pd.DataFrame) -> None:
    risks = discreet.record_risks(people, POLICY).to_native()
    assert list(risks.index) == list(people.index)
    sizes = people.groupby(["age", "sex"], observed=True)["ill"].transform("size")
    assert risks["class_size"].tolist() == sizes.tolist()
    assert risks["prosecutor"].tolist() == (1 / sizes).tolist()
    saved = discreet.record_risks(people, POLICY)
    assert "person 3" not in repr(saved)


def test_individual_risks_come_with_weights() -> None:
    """Franconi's eight people: the frequencies as sdcMicro's guidelines print them, the risks by the closed forms for f of 1 and 2."""
    key = ["a", "b", "b", "c", "d", "e", "f", "a"]
    weights = [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0]
    policy = discreet.Policy.of(quasi_identifiers=["key"], weight="w")
    risks = discreet.record_risks(pa.table({"key": key, "w": weights}), policy).to_pandas()
    assert risks["class_size"].tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert (1 / risks["journalist"]).round(1).tolist() == [110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0]
    told = [0.0171, 0.0220, 0.0220, 0.1771, 0.0117, 0.2971, 0.4024, 0.0171]
    assert risks["individual"].round(4).tolist() == told


def test_where_the_population_is_counted_nothing_is_estimated_of_it(tmp_path: Any) -> None:
    (tmp_path / "all.csv").write_text("key\na\na\nb\n")
    policy = discreet.Policy.of(quasi_identifiers=["key"], population=str(tmp_path / "all.csv"))
    names = discreet.record_risks(pa.table({"key": ["a", "b"]}), policy).to_arrow().column_names
    assert "journalist" in names
    assert "individual" not in names


def test_risks_in_a_file_are_private(people: pd.DataFrame, tmp_path: Any) -> None:
    place = discreet.record_risks(people, POLICY).save(tmp_path / "risks.csv")
    assert place.stat().st_mode & 0o077 == 0
    assert discreet.read(place).names == (
        *("class", "class_size", "prosecutor", "identity_bits"),
        "bits_of_ill",
    )


def test_what_became_of_each_record() -> None:
    rows = pa.table({"age": [31, 31, 99, 31], "ill": ["a", "b", "a", "c"]})
    policy = discreet.Policy.of(
        quasi_identifiers=["age"], sensitive=["ill"], require=[KAnonymity(3)], profile="research-partner-3"
    )
    plan = discreet.Plan(method="optimal", suppression_limit=0.5, keep_representation=False)
    release = discreet.anonymize(rows, policy, plan=plan)
    fates = release.fates.to_arrow()
    assert fates["suppressed"].to_pylist() == [False, False, True, False]
    assert fates["class_size"].to_pylist() == [3, 3, None, 3]
    drawn = discreet.anonymize(rows, policy, plan=discreet.Plan(sample=0.99, seed=5, suppression_limit=0.5))
    with pytest.raises(InvalidParameter, match="drawn"):
        _ = drawn.fates


@pytest.mark.parametrize(
    "verb",
    [
        lambda rows, policy: discreet.audit(rows, policy, detail="core"),
        discreet.check,
        discreet.anonymize,
        discreet.recommend,
        discreet.record_risks,
        lambda rows, policy: discreet.frontier(rows, policy, k=[3], methods=["optimal"]),
        lambda rows, policy: discreet.compare_methods(rows, policy, methods=["mondrian"]),
        lambda rows, policy: discreet.compare(rows, rows, policy, labels=[], queries=10),
        lambda rows, policy: discreet.attack(rows, policy, attacks=["homogeneity"]),
    ],
)
def test_every_verb_takes_frames_paths_and_policies_in_every_form(
    verb: Any, people: pd.DataFrame, tmp_path: Any
) -> None:
    frame = people[["age", "sex", "ill"]]
    file, policy = tmp_path / "people.parquet", tmp_path / "policy.toml"
    frame.to_parquet(file, index=False)
    discreet.save_policy(POLICY, policy)
    document = {
        "profile": "research-partner-3",
        "columns": {
            "age": {"role": "quasi-identifier"},
            "sex": {"role": "quasi-identifier"},
            "ill": {"role": "sensitive"},
        },
        "require": [{"model": "k-anonymity", "k": 3}],
    }
    for source, given in ((frame, POLICY), (file, policy), (str(file), document)):
        verb(source, given)
    for source, given in ((frame, 7), (7, POLICY), (frame, [POLICY]), (None, POLICY)):
        with pytest.raises(DiscreetError):
            verb(source, given)


def test_advice_and_comparisons_need_no_policy_and_say_so(
    people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for an audit or a release, roles are suggested, and whoever reads the result is told."""
    monkeypatch.setattr("discreet.release.prepare.suggest", lambda _: POLICY)
    note = "no policy was given"
    frontier = discreet.frontier(people, k=[2], methods=["mondrian"])
    assert note in frontier.notes[0]
    assert note in " ".join(str(frontier).split())
    assert note in discreet.recommend(people).first_steps[0]
    assert discreet.frontier(people, POLICY, k=[2], methods=["mondrian"]).notes == ()
    told = discreet.compare_methods(people[["age", "sex", "ill"]], methods=["mondrian"])
    assert [(outcome.method, outcome.failed) for outcome in told] == [("mondrian", "")]


def test_suggest_takes_a_frame(people: pd.DataFrame) -> None:
    assert len(discreet.suggest(people).columns) == 6


def test_a_plan_of_another_kind_is_refused(people: pd.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match="is no plan"):
        discreet.anonymize(people, POLICY, plan="mondrian")  # type: ignore[arg-type]


def test_steps_are_logged_and_shown_on_request(
    people: pd.DataFrame, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, logger="discreet"):
        discreet.audit(people, POLICY, detail="core")
    assert "counting equivalence classes" in caplog.messages
    assert capsys.readouterr().err == ""
    discreet.audit(people, POLICY, detail="core", progress=True)
    assert "\rcounting equivalence classes" in capsys.readouterr().err


def test_results_print_as_something_that_a_person_reads(people: pd.DataFrame) -> None:
    frame = people[["age", "sex", "ill"]]
    release = discreet.anonymize(frame, POLICY)
    frontier = discreet.frontier(frame, POLICY, k=[3], methods=["optimal"])
    results = (
        release,
        release.verdict,
        release.recipe,
        POLICY,
        frontier,
        discreet.recommend(frame, POLICY),
        discreet.record_risks(frame, POLICY),
        discreet.read(frame),
        discreet.compare(frame, release, POLICY, labels=[], queries=10),
        attacks := discreet.attack(release, POLICY, original=frame, attacks=["homogeneity"]),
        attacks.results[0],
        discreet.audit(frame, POLICY).exposure,
        discreet.Baskets.of([["a", "b"], ["a"]]),
    )
    for result in results:
        assert len(repr(result)) < 140, repr(result)
        assert "\n" not in repr(result)
        assert max(map(len, str(result).splitlines())) <= 120
        # No value of the data stands where a traceback or a log would show it.
        assert "gout" not in repr(result)
    for result in (release, release.verdict, release.recipe, POLICY, frontier, attacks, results[5]):
        assert result._repr_html_().startswith("<")
    assert "quasi-identifier   age, sex" in POLICY._repr_html_()
    assert "may be released" in str(release)


def test_results_are_copied_and_rows_stay_where_they_lie(people: pd.DataFrame) -> None:
    release = discreet.anonymize(people, POLICY, plan=discreet.Plan(method="mondrian"))
    again = copy.deepcopy(release)
    assert again.to_native().equals(release.to_native())
    assert pickle.loads(pickle.dumps(release.after.verdict)) == release.after.verdict
    with pytest.raises(DiscreetError, match="pickled") as refused:
        pickle.dumps(release)
    assert "save" in refused.value.remedy


def test_the_version_is_public() -> None:
    assert discreet.__version__


def test_times_that_were_texts_come_back_without_empty_digits() -> None:
    rows = {"seen": ["2020-01-02T10:00:00", "2020-01-03T11:30:00"], "exact": ["2020-01-02T10:00:00.5"] * 2}
    frame = discreet.read(pa.table(rows)).to_pandas()
    assert frame["seen"].tolist() == ["2020-01-02 10:00:00", "2020-01-03 11:30:00"]
    assert frame["exact"].tolist() == ["2020-01-02 10:00:00.500000"] * 2


NOTEBOOK = """
import sys, types

sys.modules["ipywidgets"] = None  # as where it is not installed
shell = types.ModuleType("IPython")
shell.get_ipython = lambda: types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = shell
import duckdb

try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.InvalidInputException:
    print("as in a notebook")
import discreet, pyarrow

rows = pyarrow.table({"age": [1, 1, 2]})
print(discreet.audit(rows, discreet.Policy.of(quasi_identifiers=["age"])).measure("k-anonymity").value)
"""


def test_a_notebook_needs_no_widgets() -> None:
    """DuckDB refuses there to be told that it shall draw no progress bar."""
    told = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True)
    assert told.stdout.splitlines() == ["as in a notebook", "1.0"], told.stderr


def odd(column: Any) -> pd.DataFrame:
    """The twelve ages in two groups of a kind of column, with somebody's illness and a column named by a number."""
    return pd.DataFrame({"age": column, "sex": ["f", "m"] * 6, "ill": ["flu", "cold", "gout"] * 4, 7: 1.5})


@pytest.mark.parametrize(
    "column",
    [
        pd.cut(pd.Series(AGES), [20, 40, 60, 80]),
        pd.Series(pd.PeriodIndex.from_ordinals(AGES, freq="M")).astype("category"),
        pd.Series(pd.PeriodIndex.from_ordinals(AGES, freq="Q")),
        pd.Series(pd.PeriodIndex.from_ordinals(AGES, freq="h")),
        pd.Series(pd.arrays.SparseArray(AGES)),
        pd.Series(pd.to_timedelta(AGES, unit="h")).where(pd.Series(AGES) != 31),
    ],
    ids=["cut", "categories of periods", "quarters", "hours", "sparse", "spans"],
)
@pytest.mark.filterwarnings("error")
def test_types_of_pandas_that_arrow_lacks_come_back(column: pd.Series) -> None:
    frame = odd(column)
    back = discreet.read(frame).to_native()
    assert list(back.columns) == ["age", "sex", "ill", 7]
    wanted = frame["age"]
    if isinstance(column.dtype, pd.CategoricalDtype):
        wanted = wanted.cat.remove_unused_categories()
    pd.testing.assert_series_equal(back["age"], wanted)


def test_intervals_of_a_frame_are_generalised_to_intervals() -> None:
    frame = odd(pd.cut(pd.Series(AGES), [30, 32, 40, 47, 60])).drop(columns=7)
    release = discreet.anonymize(frame, POLICY, plan=discreet.Plan(method="mondrian"))
    assert set(release.to_native()["age"]) <= {"(30, 40]", "(30, 60]", "(40, 60]", "(32, 60]", "*"}


def test_intervals_that_are_no_categories_come_back_as_their_texts() -> None:
    frame = odd(pd.arrays.IntervalArray.from_tuples([(age // 10 * 10, age // 10 * 10 + 10) for age in AGES]))
    assert set(discreet.read(frame).to_native()["age"]) == {"(30, 40]", "(40, 50]"}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_a_frame_of_narwhals_is_the_one_that_it_stands_for(kind: type) -> None:
    wrapped = nw.from_native(kind({"age": AGES, "ill": ["flu", "cold", "gout"] * 4}))
    assert type(discreet.read(wrapped).to_native()) is kind
    assert (
        len(discreet.record_risks(wrapped, {"columns": {"age": {"role": "quasi-identifier"}}}).to_arrow())
        == 12
    )


def test_labels_of_several_levels_come_back() -> None:
    frame = pd.DataFrame([[31, "f"]], columns=pd.MultiIndex.from_tuples([("who", "age"), ("who", "sex")]))
    pd.testing.assert_index_equal(discreet.read(frame).to_native().columns, frame.columns)


@pytest.mark.parametrize(
    "frame",
    [
        odd([10**25 + age for age in AGES]),
        odd([age + 1j for age in AGES]),
        pl.DataFrame({"age": AGES, "sex": "f"}).with_columns(pl.col("age").cast(pl.Int128)),
        pl.LazyFrame({"age": AGES, "sex": "f"}).with_columns(pl.col("age").cast(pl.Int128)),
        pl.DataFrame({"sex": ["f"] * 12, "age": pl.Series([object()] * 12, dtype=pl.Object)}),
    ],
    ids=["large", "complex", "polars", "lazy", "objects"],
)
def test_columns_that_arrow_cannot_hold_are_named(frame: Any) -> None:
    with pytest.raises(DiscreetError, match=r"\(age\)") as refused:
        discreet.read(frame)
    assert "10000" not in str(refused.value)


def test_durations_come_back() -> None:
    spans = pl.DataFrame({"age": AGES, "stay": pl.Series(AGES).cast(pl.Duration("ms"))})
    assert discreet.read(spans).to_native().equals(spans)
    assert discreet.read(spans.to_arrow()).to_native().schema.field("stay").type == pa.duration("ms")
