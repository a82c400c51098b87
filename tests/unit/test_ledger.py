"""The ledger of privacy loss: exact amounts, one line after the other, and nothing that was drawn is forgotten."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet.cli import cli
from discreet.dp.amounts import ceiling_float, exact, floor_float, said
from discreet.dp.ledger import Ledger
from discreet.errors import BudgetExceeded, DiscreetError, InvalidParameter, UnreadableInput
from discreet.files.chain import digest


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "people.csv.budget")
    made.set_budget(1, "1e-6")
    return made


def spend(ledger: Ledger, amount: object, delta: object = 0) -> None:
    with ledger.reserve(amount, delta, purpose="a count") as reservation:  # type: ignore[arg-type]
        reservation.drawing()


# ── amounts ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "amount",
    [
        *(-1, -0.0, "-0", "-1/2", math.nan, math.inf, "nan", "inf", 5e-324, "1e-310", 0, "0", "", "x", True),
        *("1e309", "1" * 310 + "/2", 10**400),
        *("1/0", "1e999999999", "1e-999999999", Decimal("-0"), Decimal("NaN"), None, "0x1", "١/0"),
    ],
)
def test_amounts_that_are_refused(amount: object, ledger: Ledger) -> None:
    with pytest.raises(InvalidParameter, match="epsilon is"):
        spend(ledger, amount)
    assert len(ledger.balance().entries) == 1


def test_delta_may_be_nothing_but_never_one() -> None:
    assert exact(0, "delta", zero=True, below_one=True) == 0
    for wrong in (1, "1.5", -0.0, math.nan):
        with pytest.raises(InvalidParameter):
            exact(wrong, "delta", zero=True, below_one=True)


@pytest.mark.parametrize("amount", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10)])
def test_an_amount_is_the_number_that_was_written(amount: object) -> None:
    assert exact(amount, "epsilon") == Fraction(1, 10)  # type: ignore[arg-type]


def test_floats_of_an_amount_lie_on_its_two_sides() -> None:
    tenth = Fraction(1, 10)
    assert Fraction(floor_float(tenth)) < tenth < Fraction(ceiling_float(tenth))
    assert floor_float(Fraction(1, 2)) == ceiling_float(Fraction(1, 2)) == 0.5


def test_amounts_print_as_people_write_them() -> None:
    assert [said(exact(text, "epsilon")) for text in ("0.50", "1/3", "1e-6", "2")] == [
        "0.5",
        "1/3",
        "1e-6",
        "2",
    ]


# ── spending ──────────────────────────────────────────────────────────────────────────────────────


def test_eleven_elevenths_are_one_and_no_more(ledger: Ledger) -> None:
    for _ in range(11):
        spend(ledger, "1/11")
    assert ledger.balance().left_epsilon == 0
    with pytest.raises(BudgetExceeded, match="nothing is left"):
        spend(ledger, "1e-300")


def test_delta_runs_out_too(ledger: Ledger) -> None:
    spend(ledger, "0.1", "1e-6")
    with pytest.raises(BudgetExceeded, match="delta 1e-9 is asked for"):
        spend(ledger, "0.1", "1e-9")


def test_what_fails_before_drawing_is_given_back_and_what_fails_after_is_not(ledger: Ledger) -> None:
    def fail(*, drawn: bool) -> None:
        with ledger.reserve("0.25", purpose="a") as reservation:
            if drawn:
                reservation.drawing()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail(drawn=False)
    assert ledger.balance().spent_epsilon == 0
    with pytest.raises(ZeroDivisionError):
        fail(drawn=True)
    assert ledger.balance().spent_epsilon == Fraction(1, 4)


def test_a_smaller_budget_than_was_spent_leaves_nothing(ledger: Ledger) -> None:
    spend(ledger, "0.5")
    ledger.set_budget("0.25")
    assert ledger.balance().left_epsilon == 0
    ledger.set_budget(2)
    assert ledger.balance().left_epsilon == Fraction(3, 2)


def test_a_ledger_without_a_name_is_refused() -> None:
    for path in (".", "/", ""):
        with pytest.raises(InvalidParameter, match="names no file"):
            Ledger(path)


def test_without_a_budget_nothing_is_spent(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="no budget is set"):
        spend(Ledger(tmp_path / "none.budget"), 1)
    assert list(tmp_path.iterdir()) == []


SPEND = """
import os, signal, sys
from discreet.dp.ledger import Ledger
with Ledger(sys.argv[1]).reserve(sys.argv[2], purpose="killed") as reservation:
    reservation.drawing()
    if sys.argv[3] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def spender(ledger: Ledger, amount: str, end: str) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", SPEND, str(ledger.path), amount, end]
    return subprocess.Popen(arguments, stderr=subprocess.DEVNULL)


def test_what_a_killed_process_drew_is_spent(ledger: Ledger) -> None:
    assert spender(ledger, "1/4", "kill").wait() == -signal.SIGKILL
    assert ledger.balance().spent_epsilon == Fraction(1, 4)
    spend(ledger, "3/4")
    assert ledger.balance().left_epsilon == 0


def test_two_processes_cannot_spend_the_same(ledger: Ledger) -> None:
    processes = [spender(ledger, "2/3", "end") for _ in range(3)]
    ended = [process.wait() for process in processes]
    assert sorted(code == 0 for code in ended) == [False, False, True]
    assert ledger.balance().spent_epsilon == Fraction(2, 3)


# ── other hands ───────────────────────────────────────────────────────────────────────────────────


def cheaper(lines: list[str]) -> list[str]:
    return [lines[0], lines[1].replace('"1/4"', '"1/8"'), *lines[2:]]


def rehashed(lines: list[str]) -> list[str]:
    """A line that fits its own hash, but not what follows."""
    content = json.loads(lines[0])
    content.pop("hash")
    content["epsilon"] = "5"
    from discreet.files.chain import digest

    return [json.dumps({**content, "hash": digest(content)}), *lines[1:]]


@pytest.mark.parametrize(
    "change",
    [
        cheaper,
        rehashed,
        lambda lines: lines[:-1],
        lambda lines: lines[:1],
        lambda lines: [],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: ["not json", *lines[1:]],
        lambda lines: ["[]", *lines[1:]],
    ],
)
def test_a_ledger_that_was_changed_is_refused(
    change: Callable[[list[str]], list[str]], ledger: Ledger
) -> None:
    spend(ledger, "1/4")
    lines = ledger.path.read_text().splitlines()
    ledger.path.write_text("".join(f"{line}\n" for line in change(lines)))
    for attempt in (ledger.balance, lambda: spend(ledger, "1/4"), lambda: ledger.set_budget(9)):
        with pytest.raises(UnreadableInput, match="cannot be trusted"):
            attempt()


@pytest.mark.parametrize("content", [None, "", "x y", "7 0", "1 abc"])
def test_a_head_that_was_changed_is_refused(content: str | None, ledger: Ledger) -> None:
    spend(ledger, "1/4")
    if content is None:
        ledger.head.unlink()
    else:
        ledger.head.write_text(content)
    with pytest.raises(UnreadableInput, match="cannot be trusted"):
        ledger.balance()


def test_a_line_that_was_not_written_to_its_end_never_counted(ledger: Ledger) -> None:
    """A process died while it wrote the reservation, so before it drew."""
    spend(ledger, "1/4")
    with ledger.path.open("a") as file:
        file.write('{"number": 4, "kind": "reserve", "epsi')
    assert ledger.balance().spent_epsilon == Fraction(1, 4)
    spend(ledger, "1/4")
    assert ledger.balance().spent_epsilon == Fraction(1, 2)


def test_a_line_whose_head_was_not_written_counts(ledger: Ledger) -> None:
    """A process died between the two, after it had reserved."""
    before = ledger.head.read_text()
    spend(ledger, "1/4")
    ledger.head.write_text(before)
    assert ledger.balance().spent_epsilon == Fraction(1, 4)


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_what_a_statement_tells_of_a_line_tells_nothing_of_the_table(tmp_path: Path) -> None:
    """Who knows all rows but one could else try which last one gives the hash."""
    hashes = set()
    for at in range(3):
        ledger = Ledger(tmp_path / f"{at}.budget")
        ledger.set_budget(1)
        with ledger.reserve("1/2", purpose="a count", table="5" * 64, unit="person") as reservation:
            reservation.drawing()
        line = json.loads(ledger.path.read_bytes().split(b"\n")[reservation.payment.line - 1])
        assert line["hash"] == reservation.payment.hash
        guessed = digest({name: value for name, value in line.items() if name not in ("hash", "salt")})
        assert guessed != line["hash"]
        assert len(bytes.fromhex(line["salt"])) == 16
        hashes |= {line["hash"], line["salt"]}
        told = json.dumps(ledger.balance().to_dict())
        assert "5" * 64 not in told
        assert line["salt"] not in told
    assert len(hashes) == 6


def test_only_its_owner_reads_a_ledger(ledger: Ledger) -> None:
    assert ledger.path.stat().st_mode & 0o077 == 0


# ── command line ──────────────────────────────────────────────────────────────────────────────────


def test_the_budget_on_the_command_line(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    run = CliRunner().invoke
    assert run(cli, ["budget", "set", str(table), "--epsilon", "1/3", "--delta", "1e-6"]).exit_code == 0
    with Ledger.beside(table).reserve("1/6", purpose="how many") as reservation:
        reservation.drawing()
    shown = run(cli, ["budget", "show", str(table)]).output
    assert "1/6 of 1/3 spent" in shown
    assert "how many" in shown
    told = json.loads(run(cli, ["budget", "show", str(table), "--json"]).output)
    assert told["left"] == {"epsilon": "1/6", "delta": "1e-6"}
    assert [entry["kind"] for entry in told["entries"]] == ["budget", "reserve", "commit"]
    other = run(cli, ["budget", "show", str(table), "--ledger", str(tmp_path / "other.budget")])
    assert isinstance(other.exception, DiscreetError)
