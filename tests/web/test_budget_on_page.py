"""The budget on the page: set, foreseen, spent once, and never without its consequences having been shown."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("opendp")

from starlette.testclient import TestClient

import discreet
from discreet.dp.accounting import laplace_margin
from discreet.dp.certificate import read_statement
from discreet.dp.foresight import foresee_classifier, foresee_figure, foresee_noise
from discreet.dp.ledger import Ledger
from discreet.dp.noise import Noisy, gaussian, laplace
from discreet.dp.profiles import ROWS, rows_column
from discreet.dp.synthesize import _CountedPeople, _Domains, _Synthesis
from discreet.engine.read import read
from discreet.web.service import Service
from helpers.server import ended

pytest_plugins = ("helpers.server",)
TABLE = "who,sex,age,note\n" + "".join(
    f"p{i},{'fm'[i % 2]},{20 + i % 40},{'ab'[i % 3 == 0]}\n" for i in range(300)
)
HX = {"hx-request": "true"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path / "people.csv"


@pytest.fixture
def table(client: TestClient, service: Service, file: Path) -> str:
    made = str(client.post("/api/v1/tables/from-path", json={"path": str(file)}).json()["id"])
    assert ended(service, made, "read") == "done"
    roles = {"who": "person-id", "sex": "quasi-identifier", "age": "quasi-identifier", "note": "insensitive"}
    for number, name in enumerate(roles):
        assert (
            client.post(f"/case/{made}/columns/{number}/role", data={"role": roles[name]}).status_code == 204
        )
    return made


def form(**given: object) -> dict[str, object]:
    """A filled form: artificial people with sex and age."""
    usual = {
        "product": "artificial",
        "epsilon": "0,5",
        "delta": "1e-6",
        "max_rows": "1",
        "columns[]": ["1", "2"],
    }
    return {**usual, "low-2": "0", "high-2": "99", "values-1": "f; m", **given}


def foresee(client: TestClient, table: str, **given: object) -> tuple[str, dict[str, str]]:
    """What the page shows before an amount is spent, and the marks that it has to be spent with."""
    answer = client.post(f"/case/{table}/budget/foresee", data=form(**given), headers=HX)
    assert answer.status_code == 200, answer.text
    return answer.text, dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', answer.text))


def spend(client: TestClient, table: str, marks: dict[str, str], **given: object) -> int:
    return client.post(f"/case/{table}/budget/spend", data={**form(**given), **marks}, headers=HX).status_code


def shown(client: TestClient, table: str, language: str = "en") -> str:
    return client.get(f"/case/{table}/section/budget", headers={"accept-language": language}).text


def test_a_budget_is_set_foreseen_and_spent_on_artificial_people(
    client: TestClient, service: Service, table: str, file: Path
) -> None:
    assert "No budget is set yet" in shown(client, table)
    assert (
        client.post(f"/case/{table}/budget", data={"epsilon": "1", "delta": "1e-5"}, headers=HX).status_code
        == 200
    )
    assert "ε = 1 of 1 is left" in shown(client, table)
    # The person id is no column of artificial people, and what is usual is picked.
    assert [int(one) for one in re.findall(r'id="spend-(\d)"', shown(client, table))] == [1, 2, 3]
    told, marks = foresee(client, table)
    assert "at most 1.6% sure after the release" in told
    assert "ε = 0.5 and δ = 9e-6 would be left" in told
    assert Ledger.beside(file).balance().spent_epsilon == 0
    assert spend(client, table, marks) == 200
    assert ended(service, table, "synthesize") == "done"
    assert Ledger.beside(file).balance().spent_epsilon == Fraction(1, 2)
    now = shown(client, table)
    assert "ε = 0.5 of 1 is left" in now
    assert "artificial people are ready" in now
    assert "artificial people with sex, age" in now
    assert 'value="0.500000"' in now
    rows = client.get(f"/case/{table}/download/artificial").text
    assert rows.splitlines()[0] == '"sex","age"'
    (file.parent / "statement.json").write_bytes(
        client.get(f"/case/{table}/download/artificial-guarantee").content
    )
    assert read_statement(file.parent / "statement.json").epsilon == Fraction(1, 2)
    assert "Together with all that was spent before" in foresee(client, table)[0]


def test_a_table_of_counts_is_bought_without_a_delta(
    client: TestClient, service: Service, table: str
) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "2", "delta": "0"}, headers=HX)
    given = {"product": "tables", "delta": "0", "columns[]": ["1"]}
    told, marks = foresee(client, table, **given)
    assert "Each count will be about 2.0 away" in told
    assert "300 rows" in told
    assert spend(client, table, marks, **given) == 200
    assert ended(service, table, "tabulate") == "done"
    assert "A table with 3 counts is ready" in shown(client, table)
    assert "Eine Tabelle mit 3 Anzahlen ist fertig" in shown(client, table, "de")


def test_nothing_is_spent_that_was_not_shown_or_twice(
    client: TestClient, service: Service, table: str, file: Path
) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "1", "delta": "1e-5"}, headers=HX)
    _, marks = foresee(client, table)
    assert spend(client, table, {}) == 409
    # Another amount, other columns or other bounds than were shown.
    assert spend(client, table, marks, epsilon="0.6") == 409
    assert spend(client, table, marks, **{"columns[]": ["1", "3"]}) == 409
    assert spend(client, table, marks, **{"high-2": "120"}) == 409
    assert Ledger.beside(file).balance().spent_epsilon == 0
    assert spend(client, table, marks) == 200
    # A double click, and a form from before the ledger was written to.
    assert spend(client, table, marks) == 409
    assert ended(service, table, "synthesize") == "done"
    assert spend(client, table, marks) == 409
    assert Ledger.beside(file).balance().spent_epsilon == Fraction(1, 2)


def test_what_is_not_left_or_makes_no_sense_is_said_in_its_place(client: TestClient, table: str) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "1", "delta": "1e-5"}, headers=HX)
    told, marks = foresee(client, table, epsilon="1.5")
    assert "So much is not left" in told
    assert marks == {}
    assert "epsilon is -1" in foresee(client, table, epsilon="-1")[0]
    assert "age needs the smallest and the largest number" in foresee(client, table, **{"low-2": ""})[0]
    assert "artificial people need a delta" in foresee(client, table, delta="0")[0]
    assert "low.2 must be a number" in foresee(client, table, **{"low-2": "x"})[0]
    for typed in ("100,000", "100.000"):
        told, marks = foresee(client, table, **{"high-2": typed})
        assert "with thousands and with decimals" in told
        assert marks == {}
    assert foresee(client, table, **{"high-2": "99,5"})[1]
    assert (
        client.post(f"/case/{table}/budget/foresee", data=form(product="gold"), headers=HX).status_code == 200
    )
    assert client.post(f"/case/{table}/budget", data={"epsilon": "nan"}, headers=HX).status_code == 422


def test_a_ledger_without_a_budget_has_nothing_to_spend(client: TestClient, table: str, file: Path) -> None:
    Ledger.beside(file).declare_disjoint(["a", "b"])
    assert "No budget is set yet" in shown(client, table)
    assert "So much is not left" in foresee(client, table)[0]


def test_a_damaged_ledger_is_said_and_a_page_notices_lines_of_others(
    client: TestClient, table: str, file: Path
) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "1", "delta": "1e-5"}, headers=HX)
    stamps = client.get(f"/case/{table}/state").json()["stamps"]
    with Ledger.beside(file).reserve("1/4", purpose="a count") as reservation:
        reservation.drawing()
    assert client.get(f"/case/{table}/state").json()["stamps"]["budget"] != stamps["budget"]
    assert "ε = 0.75 of 1 is left" in shown(client, table)
    ledger = Ledger.beside(file).path
    ledger.write_text(ledger.read_text("utf-8").replace("1/4", "1/9"), encoding="utf-8")
    assert "cannot be trusted" in shown(client, table)


def test_an_uploaded_table_has_no_budget_and_says_why(client: TestClient, service: Service) -> None:
    made = client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"]
    assert ended(service, made, "read") == "done"
    assert "would be forgotten" in shown(client, made)
    assert "wäre vergessen" in shown(client, made, "de")
    assert client.post(f"/case/{made}/budget", data={"epsilon": "1"}, headers=HX).status_code == 422


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_the_noise_that_is_foreseen_is_the_noise_that_is_drawn(
    tmp_path: Path, file: Path, delta: str | None
) -> None:
    """Of tables by what they say of themselves, of artificial people by the variances that they measure with."""
    ledger = Ledger(tmp_path / "a.budget")
    ledger.set_budget(10, "1e-3")
    made = discreet.tabulate(
        file,
        [["sex"]],
        epsilon="1/2",
        delta=delta,
        person="who",
        max_rows=2,
        keys={"sex": ["f", "m"]},
        ledger=ledger,
    )
    noise = foresee_noise("tables", 1, "1/2", delta or 0, max_rows=2)
    assert (noise.mean, noise.margin) == (pytest.approx(made.tables[0].mean_error), made.tables[0].margin)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("per_person", [False, True])
def test_the_noise_of_artificial_people_is_foreseen(file: Path, known: bool, per_person: bool) -> None:
    table, names, keys = read(file), ["sex", "age"], {"sex": ["f", "m"]} if known else {}
    domains = _Domains.of(table, names, {"age": (0, 99)} if known else {}, [] if known else ["age"], keys, 20)
    if per_person:
        domains.coded[ROWS] = rows_column(domains.coded, 3, 20)
    people = _CountedPeople("who", 3, per_person)
    work = _Synthesis(table, domains, people, Fraction(1), Fraction(1, 10**6))
    cells = work.cells()
    codes = {name: work.encoded(name, cells[name]) for name in work.coded}
    for name in work.sought:
        codes[name] = work.bounded(name, codes[name][0], cells[name]), ()
    _, measured = work.measure_columns(codes)
    noise = foresee_noise(
        "artificial",
        2 + per_person,
        1,
        "1e-6",
        max_rows=1 if per_person else 3,
        paid_values=not known,
        found_bounds=0 if known else 1,
    )
    assert noise.mean == pytest.approx(math.sqrt(2 * measured[0].variance / math.pi))


def test_bounds_that_nobody_knows_and_a_row_per_person_are_made(
    client: TestClient, service: Service, table: str
) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "1000", "delta": "1e-3"}, headers=HX)
    assert 'name="per_person"' in shown(client, table)
    asked = {"low-2": "", "high-2": "", "per_person": "true", "epsilon": "900", "max_rows": "4"}
    assert "age needs the smallest" in foresee(client, table, **{**asked, "product": "tables"})[0]
    _, marks = foresee(client, table, **asked)
    assert spend(client, table, marks, **asked) == 200
    assert ended(service, table, "synthesize") == "done"
    head, *rows = client.get(f"/case/{table}/download/artificial").text.splitlines()
    assert head == '"sex","age","rows"'
    # Ages from 20 to 59 lie between powers of two; nobody has more than one row.
    made = [row.split(",") for row in rows]
    assert {int(age) for _, age, _ in made if age} <= set(range(16, 65))
    assert [count for *_, count in made].count("1") > 0.95 * len(made) > 270


ANSWER = {"product": "answer", "delta": "0", "columns[]": ["1"], "only": "age >= 30"}


def test_a_question_is_asked_by_a_form_and_its_answer_shown(
    client: TestClient, service: Service, table: str, file: Path
) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "100", "delta": "1e-5"}, headers=HX)
    asked = {**ANSWER, "epsilon": "40", "figure": "mean", "of": "2"}
    told, marks = foresee(client, table, **asked)
    assert "select sex, avg(age) from data where (age &gt;= 30) group by sex" in told
    assert "a mean of all 300 rows will be at most" in told
    assert spend(client, table, marks, **asked) == 200
    assert ended(service, table, "ask") == "done"
    now = shown(client, table)
    assert "The answer is there." in now
    assert re.search(r"<td[^>]*>f</td>.*<td[^>]*>m</td>", now, re.DOTALL)
    assert "In 19 von 20 Fällen" in shown(client, table, "de")
    head, *rows = client.get(f"/case/{table}/download/answer").text.splitlines()
    assert head == '"sex","avg(age)","avg(age) low","avg(age) high"'
    means = {row.split(",")[0]: float(row.split(",")[1]) for row in rows}
    # Of ages from 30 to 59, even ones of women and odd ones of men.
    assert means == {'"f"': pytest.approx(44, abs=3), '"m"': pytest.approx(45, abs=3)}
    (file.parent / "statement.json").write_bytes(
        client.get(f"/case/{table}/download/answer-guarantee").content
    )
    assert read_statement(file.parent / "statement.json").epsilon == 40
    assert Ledger.beside(file).balance().spent_delta == 0


def test_groups_that_nobody_named_are_found_for_a_delta(
    client: TestClient, service: Service, table: str, file: Path
) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "100", "delta": "1e-3"}, headers=HX)
    asked = {**ANSWER, "epsilon": "40", "figure": "persons", "values-1": ""}
    assert "are found for a delta" in foresee(client, table, **asked)[0]
    asked["delta"] = "1e-4"
    _, marks = foresee(client, table, **asked)
    assert spend(client, table, marks, **asked) == 200
    assert ended(service, table, "ask") == "done"
    assert "persons are not shown" in shown(client, table)
    assert Ledger.beside(file).balance().spent_delta == Fraction(1, 10**4)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"figure": "sum"}, "not said of which column"),
        ({"figure": "sum", "of": "2", "high-2": ""}, "needs the smallest and the largest"),
        ({"only": "age >= 30) group by (note"}, "the question"),
        ({"only": "age >= 30 limit 1"}, "the question"),
        ({"columns[]": ["2"], "high-2": "99.5"}, "no whole numbers, or too many"),
        ({"columns[]": ["2"], "high-2": "99999"}, "no whole numbers, or too many"),
        ({"product": "classifier"}, "not said what is predicted"),
        ({"product": "classifier", "label": "1"}, "at least one column"),
        ({"product": "classifier", "label": "3"}, "values of note are not given"),
        (
            {"product": "classifier", "label": "1", "columns[]": ["2"], "learner": "logistic-regression"},
            "need a delta",
        ),
        ({"product": "tables", "columns[]": ["3"]}, "values of note are not given"),
    ],
)
def test_what_a_form_lacks_is_said_before_anything_is_spent(
    given: dict[str, str], said: str, client: TestClient, table: str
) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "1", "delta": "1e-5"}, headers=HX)
    told, marks = foresee(client, table, **{**ANSWER, **given})
    assert said in told
    assert marks == {}


def test_a_classifier_is_learned(client: TestClient, service: Service, table: str, file: Path) -> None:
    client.post(f"/case/{table}/budget", data={"epsilon": "2", "delta": "0"}, headers=HX)
    asked = {"product": "classifier", "label": "1", "columns[]": ["2"], "delta": "0", "epsilon": "1"}
    told, marks = foresee(client, table, **asked)
    assert "will be about 2.0 away" in told
    assert spend(client, table, marks, **asked) == 200
    assert ended(service, table, "learn") == "done"
    assert "A classifier is ready" in shown(client, table)
    made = client.get(f"/case/{table}/download/classifier").json()
    assert (made["label"], made["labels"], list(made["columns"])) == ("sex", ["f", "m"], ["age"])
    assert Ledger.beside(file).balance().spent_epsilon == 1


@pytest.mark.parametrize("figure", ["rows", "persons", "sum", "mean", "median"])
@pytest.mark.parametrize("found", [False, True])
def test_the_noise_of_an_answer_is_foreseen(
    figure: Any, found: bool, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the scales that are drawn with, and of a median by what its answer says of itself."""
    ledger = Ledger(tmp_path / "a.budget")
    ledger.set_budget(100, "1e-3")
    ask = {"rows": "count(*)", "persons": "count(distinct who)", "sum": "sum(age)", "mean": "avg(age)"}
    scales: list[tuple[float, Fraction]] = []

    def drawn(values: list[int], *, sensitivity: int, epsilon: Fraction) -> Noisy:
        made = laplace(values, sensitivity=sensitivity, epsilon=epsilon)
        scales.append((made.scale, epsilon))
        return made

    monkeypatch.setattr("discreet.dp.measuring.laplace", drawn)
    answer = discreet.ask(
        file,
        f"select sex, {ask.get(figure, 'median(age)')} from data group by sex",
        epsilon=2,
        delta="1e-4" if found else None,
        person="who",
        max_rows=3,
        max_groups=2,
        bounds={"age": (0, 99)},
        keys={} if found else {"sex": ["f", "m"]},
        ledger=ledger,
    )
    noise = foresee_figure(
        figure, 2, max_rows=3, max_groups=2, bounds=(0, 99), whole=True, found_groups=found
    )
    if figure == "median":
        assert f"at most {noise.margin:,} rows" in " ".join(answer.notes)
    elif figure == "mean":
        (total, _), (count, _) = sorted(scales, reverse=True)
        c, s = laplace_margin(count, 0.025), laplace_margin(total, 0.025)
        assert (noise.rows, noise.spread) == (c, pytest.approx((s + 99 * c) / 2))
        assert noise.of(10**6) == pytest.approx(noise.spread / (10**6 - c))
    else:
        assert noise.margin == laplace_margin(scales[0][0], 0.05)
        assert "300 rows" in noise.said(300)


@pytest.mark.parametrize(
    ("learner", "delta"),
    [("naive-bayes", None), ("naive-bayes", "1e-4"), ("logistic-regression", "1e-4")],
)
def test_the_noise_of_a_classifier_is_foreseen(
    learner: Any, delta: str | None, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "a.budget")
    ledger.set_budget(100, "1e-3")
    made: list[Noisy] = []
    for name, mechanism in (("laplace", laplace), ("gaussian", gaussian)):

        def drawn(values: list[int], mechanism: Any = mechanism, **terms: Any) -> Noisy:
            made.append(mechanism(values, **terms))
            return made[-1]

        monkeypatch.setattr(f"discreet.dp.learning.{name}", drawn)
    discreet.learn(
        file,
        "sex",
        epsilon=1,
        delta=delta,
        columns=["age"],
        learner=learner,
        person="who",
        max_rows=2,
        bounds={"age": (0, 99)},
        keys={"sex": ["f", "m"]},
        ledger=ledger,
    )
    scale = made[-1].scale * (math.sqrt(2 / math.pi) if delta else 1)
    mean = scale / 1024 if learner == "logistic-regression" else scale
    assert f"about {mean:,.1f} " in foresee_classifier(learner, 1, 2, 1, delta or 0, max_rows=2)
