"""Differential privacy as a requirement: held by statement and ledger, never by the look of a file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.dp.certificate import read_statement, statement_beside, write_statement
from discreet.dp.foresight import foresee_amount, mixed_units
from discreet.dp.ledger import Ledger, Payment
from discreet.errors import DiscreetError, InvalidPolicy, UnreadableInput
from discreet.policy.file import dumps, loads
from discreet.policy.guarantee import DifferentialPrivacy
from discreet.release.profile import load_profile

pytest.importorskip("opendp")

POLICY = """
profile = "differential-privacy"
[columns.who]
role = "person-id"
[columns.sex]
role = "quasi-identifier"
[columns.age]
role = "quasi-identifier"
[anonymize]
person = "drop"
[[require]]
model = "differential-privacy"
epsilon = {epsilon}
delta = 1e-5
unit = "{unit}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table with a budget of 3, and a policy that asks for an ε of 1."""
    rows = pa.table({"who": list(range(60)), "sex": ["f", "m"] * 30, "age": [20 + i % 40 for i in range(60)]})
    pc.write_csv(rows, tmp_path / "people.csv")
    Ledger.beside(tmp_path / "people.csv").set_budget(3, "1e-5")
    (tmp_path / "policy.toml").write_text(POLICY.format(epsilon=1, unit="person"))
    return tmp_path


def synthesized(folder: Path, *more: str, epsilon: str = "1", name: str = "artificial.csv") -> Path:
    asked = ["synthesize", str(folder / "people.csv"), "-o", str(folder / name), "--epsilon", epsilon]
    asked += ["--delta", "1e-7", "--columns", "sex,age", "--bounds", "age=0:100", "--keys", "sex=f,m"]
    done = CliRunner().invoke(cli, [*asked, *(more or ("--person", "who"))])
    assert done.exit_code == 0, done.output
    return folder / name


def verdict(folder: Path, file: Path, *more: str) -> tuple[bool, dict[str, str]]:
    """Whether ``check`` passes, and what it says about the guarantees of profile and policy."""
    done = CliRunner().invoke(
        cli, ["check", str(file), "--policy", str(folder / "policy.toml"), "--json", *more]
    )
    told = json.loads(done.stdout)["verdict"]
    asked = [c for c in told["criteria"] if c["id"] == "differential-privacy"]
    return told["passes"], {c["origin"]: c["found"] for c in asked}


def test_a_release_with_statement_and_ledger_holds_and_says_what_cannot_be_seen(folder: Path) -> None:
    passes, evidence = verdict(folder, synthesized(folder))
    assert passes
    for who in ("profile", "policy"):
        assert (
            "ε 1 and δ 1e-7, paid for in the ledger, of which in all ε 1 and δ 1e-7 are spent"
            in evidence[who]
        )
        assert "cannot be seen in the file" in evidence[who]


def test_a_file_alone_never_holds(folder: Path) -> None:
    made = synthesized(folder)
    statement_beside(made).unlink()
    passes, evidence = verdict(folder, made)
    assert not passes
    assert evidence["policy"] == "it cannot be seen in the file, and no statement says how it was made"
    assert not verdict(folder, folder / "people.csv")[0]


def test_a_changed_file_is_another_file(folder: Path) -> None:
    made = synthesized(folder)
    made.write_text(made.read_text() + "f,33\n")
    assert verdict(folder, made)[1]["policy"] == "the statement speaks of another file"


def test_a_record_is_less_than_a_person_and_a_person_more_than_a_record(folder: Path) -> None:
    made = synthesized(folder, "--unit", "record")
    assert verdict(folder, made)[1]["policy"] == "the statement protects one row, not one person"
    assert discreet.check(made, folder / "policy.toml").passes is False
    by_record = loads(POLICY.format(epsilon=2, unit="record").replace('profile = "differential-privacy"', ""))
    assert _holds(discreet.check(made, by_record))
    assert _holds(discreet.check(synthesized(folder, epsilon="1/2", name="b.csv"), by_record))


def test_what_protected_rows_only_is_no_part_of_a_sum_for_persons(folder: Path) -> None:
    """Somebody with ten rows loses ten times the ε of a release by record, so no sum says what persons lost."""
    synthesized(folder, "--unit", "record", epsilon="1/100", name="rows.csv")
    made = synthesized(folder, epsilon="1/2")
    passes, evidence = verdict(folder, made)
    assert not passes
    assert evidence["policy"].startswith("the ledger also paid for what protects one row only")


def test_one_row_of_several_is_two_steps_between_persons(folder: Path) -> None:
    """With one row of each person that counts, a table without it shows another of their rows: one count less and one more."""
    made = synthesized(folder)
    asked = POLICY.replace('profile = "differential-privacy"', "")
    assert not _holds(discreet.check(made, loads(asked.format(epsilon=1.99, unit="record"))))
    assert _holds(discreet.check(made, loads(asked.format(epsilon=2, unit="record"))))


def test_a_statement_cannot_be_of_another_unit_than_was_paid(folder: Path) -> None:
    made = synthesized(folder, "--unit", "record")
    told = json.loads(statement_beside(made).read_text())
    told["guarantee"]["unit"] = "person"
    statement_beside(made).write_text(json.dumps(told))
    assert "does not hold what the statement says" in verdict(folder, made)[1]["policy"]


def _holds(made: discreet.release.verdict.Verdict) -> bool:
    (criterion,) = [c for c in made.criteria if c.id == "differential-privacy"]
    return criterion.holds


def test_more_than_is_allowed_fails_and_so_does_what_was_released_before(folder: Path) -> None:
    large = synthesized(folder, epsilon="1.5")
    assert verdict(folder, large)[1]["policy"] == "ε is 1.5, and at most 1 is allowed"
    small = synthesized(folder, epsilon="0.25", name="small.csv")
    assert verdict(folder, small)[1]["policy"] == (
        "with everything else that was released about these people: ε is 1.75, and at most 1 is allowed"
    )


def test_the_ledger_has_to_hold_the_payment(folder: Path) -> None:
    made = synthesized(folder)
    book = folder / "people.csv.budget"
    other = Ledger(folder / "other.budget")
    other.set_budget(1)
    assert verdict(folder, made, "--ledger", str(other.path))[1]["policy"] == (
        "the ledger does not hold what the statement says was paid"
    )
    told = json.loads(statement_beside(made).read_text())
    told["guarantee"]["epsilon"] = "0.1"
    statement_beside(made).write_text(json.dumps(told))
    assert "does not hold what the statement says" in verdict(folder, made)[1]["policy"]
    book.rename(folder / "away.budget")
    assert verdict(folder, made)[1]["policy"] == "the ledger that paid for it is not at hand"


def test_an_amount_that_was_given_back_pays_for_nothing(folder: Path) -> None:
    ledger = Ledger.beside(folder / "people.csv")
    with ledger.reserve(1, purpose="nothing was drawn") as reservation:
        pass
    paid = reservation.payment
    assert ledger.balance().holds(paid) is None
    # Nor by another line, nor by the line that says what may be spent.
    assert ledger.balance().holds(Payment(paid.ledger, paid.line + 9, paid.hash)) is None
    assert ledger.balance().holds(Payment(paid.ledger, 1, ledger.balance().entries[0].hash)) is None
    with ledger.reserve(1, purpose="drawn") as reservation:
        reservation.drawing()
    assert ledger.balance().holds(reservation.payment) is not None
    assert ledger.balance().holds(Payment(ledger.path.name, 1, "0" * 64)) is None


def test_the_statement_answers_what_it_can_and_leaves_the_rest_to_people(folder: Path) -> None:
    told = json.loads(statement_beside(synthesized(folder)).read_text())
    questions = {item["question"]: item for item in told["checklist"]}
    assert questions["How large are the parameters?"]["answer"] == "ε = 1, δ = 1e-7"
    assert [q for q, item in questions.items() if item["open"]] == [
        "Is the error acceptable, also for small groups?",
        "Who may read the table, the ledger and the machine?",
        "Who has seen the data since they were collected, and what was published before?",
    ]
    assert "800-226" in told["checklist_source"]


@pytest.mark.parametrize("text", ["{}", "[]", "no JSON", '{"schema": "discreet-guarantee-1"}'])
def test_what_is_no_statement_is_refused(text: str, folder: Path) -> None:
    (folder / "odd.json").write_text(text)
    with pytest.raises(UnreadableInput, match="no statement of a guarantee"):
        read_statement(folder / "odd.json")


def test_answers_have_statements_too(folder: Path) -> None:
    out = folder / "answer.csv"
    asked = [
        "ask",
        str(folder / "people.csv"),
        "select sex, count(*) from data group by sex",
        "--epsilon",
        "0.5",
    ]
    done = CliRunner().invoke(cli, [*asked, "--keys", "sex=f,m", "--person", "who", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert read_statement(statement_beside(out)).epsilon == Fraction(1, 2)
    answer = discreet.ask(folder / "people.csv", "select count(*) from data", epsilon=1, person="who")
    assert answer.payment is not None
    assert write_statement(out, answer.guarantee, answer.payment) == statement_beside(out)


# ── in policies and profiles ──────────────────────────────────────────────────────────────────────


def test_a_policy_keeps_the_requirement_when_it_is_written() -> None:
    policy = loads(POLICY.format(epsilon='"1/3"', unit="person"))
    assert policy.guarantees == (DifferentialPrivacy("1/3", "1e-5", "person"),)
    assert policy.requirements == ()
    assert loads(dumps(policy)).guarantees == policy.guarantees
    assert "together (1/3, 1e-5)-differentially private" in " ".join(str(policy).split())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("epsilon = -1", "epsilon is -1"),
        ("delta = 1e-6", "lacks epsilon"),
        ("epsilon = 1\nunit = 'town'", "unit of differential-privacy is 'town'"),
        ("epsilon = 1\nk = 3", "no parameter 'k'"),
        ("epsilon = 1\ndelta = 1", "delta is 1"),
    ],
)
def test_a_requirement_that_makes_no_sense_names_its_line(line: str, said: str) -> None:
    with pytest.raises(InvalidPolicy, match=said):
        loads(
            f'[columns.age]\nrole = "quasi-identifier"\n[[require]]\nmodel = "differential-privacy"\n{line}'
        )


def test_generalising_is_refused_where_differential_privacy_is_required(folder: Path) -> None:
    with pytest.raises(DiscreetError, match="which no change of values gives"):
        discreet.anonymize(folder / "people.csv", folder / "policy.toml")
    asked = ["anonymize", str(folder / "people.csv"), "--qi", "sex,age", "-o", str(folder / "out.csv")]
    done = CliRunner().invoke(cli, [*asked, "--require", "differential-privacy epsilon=1"])
    assert "no change of values gives differential privacy" in str(done.exception)


def test_the_profile_names_its_values_and_their_source() -> None:
    ((asked, source),) = load_profile("differential-privacy").guarantees
    assert asked == DifferentialPrivacy(1, "1e-6")
    assert "Ponomareva" in source


def test_a_ledger_that_protects_persons_and_rows_says_that_no_sum_does(tmp_path: Path) -> None:
    """ε 0.5 by row lets three rows of somebody tell 1.5: a sum with what was spent by person is no amount for persons."""
    ledger = Ledger(tmp_path / "town.budget")
    ledger.set_budget(2, "1e-5")
    for unit, amount in (("person", "1/4"), ("record", "1/2")):
        assert mixed_units(ledger.balance()) is None
        with ledger.reserve(amount, purpose="a count", unit=unit) as reservation:  # type: ignore[arg-type]
            reservation.drawing()
    # Of each row 2 · 1/4 + 1/2, and 2 · 1/4 more with what is foreseen.
    assert "no more than ε = 1 and δ = 0" in (mixed_units(ledger.balance()) or "")
    assert "no more than ε = 1.5 and" in foresee_amount(ledger.balance(), "1/4", unit="person").together
    assert "at most 1.3% sure" in foresee_amount(ledger.balance(), "1/4", unit="person").alone
    shown = CliRunner().invoke(cli, ["budget", "show", str(tmp_path / "town")]).output
    assert "no sum says what somebody with several rows has lost" in " ".join(shown.split())


def test_an_amount_of_another_unit_than_those_before_is_foreseen_so(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "town.budget")
    ledger.set_budget(2)
    with ledger.reserve(1, purpose="a count", unit="record") as reservation:
        reservation.drawing()
    assert "no sum says" not in foresee_amount(ledger.balance(), 1, unit="record").together
    assert "no sum says" in foresee_amount(ledger.balance(), 1, unit="person").together
    with ledger.reserve(1, purpose="a count") as reservation:
        reservation.drawing()
    assert "no more than" not in foresee_amount(ledger.balance(), 1, unit="person").together
