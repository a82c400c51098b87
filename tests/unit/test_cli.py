"""The command line as users and pipelines meet it: what it prints where, how it ends, what it leaves behind."""

from __future__ import annotations

import gc
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from discreet.cli import COMMANDS, cli, in_options
from discreet.cli.progress import PATIENCE_SECONDS, Reporter
from discreet.cli.setting_options import split
from discreet.example import write_example
from discreet.policy import load
from discreet.release.profile import profile_names

PROGRAM = str(Path(sys.executable).with_name("discreet"))
PEOPLE = "age,sex,dx\n" + "".join(
    f"{age},{sex},{dx}\n" for age in (31, 47) for sex in "fm" for dx in "abc" * 4
)
COLUMNS = ",".join(f"c{i}" for i in range(9))
"""Those of the table that takes long."""
Run = Callable[..., Any]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE)
    return file


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: Path(path) for name, path in write_example(tmp_path_factory.mktemp("town"), people=800).items()
    }


# ── help ──────────────────────────────────────────────────────────────────────────────────────────────


def test_help_is_quick() -> None:
    """0.3 s on a quiet machine, nearly all of it for importing about a hundred small modules."""
    command = [sys.executable, "-X", "importtime", PROGRAM, "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "audit" in told.stdout
    assert len([line for line in told.stderr.splitlines() if line.startswith("import time:")]) < 250


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["-h"], []])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys; from discreet.cli import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit as end:\n"
        "    heavy = {'numpy', 'pyarrow', 'duckdb', 'pydantic', 'rich', 'scipy', 'pandas', 'narwhals'}\n"
        "    print(sorted(heavy & set(sys.modules)), file=sys.stderr); raise"
    )
    told = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)
    assert told.returncode == 0
    assert told.stderr.strip() == "[]"


def test_importing_the_library_imports_nothing_heavy() -> None:
    script = "import sys, discreet; print(sorted({'numpy', 'pyarrow', 'duckdb', 'scipy'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_looked_for_after_a_command_is_loaded_as_it_was_before(
    collecting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr("importlib.import_module", lambda name: seen.append(gc.isenabled()) or 1 / 0)
    (gc.enable if collecting else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError):
            cli.get_command(click.Context(cli), "audit")
        assert (seen, gc.isenabled()) == ([False], collecting)
    finally:
        gc.enable()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_a_line_in_the_list(command: str) -> None:
    told = CliRunner().invoke(cli, [command, "--help"])
    assert told.exit_code == 0
    assert f"{command} [OPTIONS]" in told.output
    assert COMMANDS[command].split()[0] in CliRunner().invoke(cli, ["--help"]).output
    assert told.output.split("\n\n")[1].strip()


def test_version(run: Run) -> None:
    assert "0.1.0" in run("--version").out


# ── audit ─────────────────────────────────────────────────────────────────────────────────────────────


def test_audit_prints_the_verdict_first(people: Path, run: Run) -> None:
    told = run("audit", people, "--qi", "age,sex", "--sensitive", "dx")
    assert told.code == 0
    assert told.err == ""
    assert told.out.index("released") < told.out.index("Measures")
    assert "48 records in 4 equivalence classes of age, sex" in told.out


def test_audit_without_roles_says_that_they_are_guesses(people: Path, run: Run) -> None:
    assert "roles were suggested from names and content" in run("audit", people).out


def test_check_names_the_risk_that_is_to_be_acknowledged(people: Path, run: Run) -> None:
    told = run("check", people, "--qi", "age,sex")
    assert told.code == 0
    assert "To be acknowledged: uniqueness risk 0." in told.out.splitlines()[-1]


def test_quiet_audit_is_one_line(people: Path, run: Run) -> None:
    told = run("audit", people, "--qi", "age,sex", "--quiet")
    words = "This table may be released if the remaining risk is acknowledged."
    assert told.out == f"release-with-acknowledged-risk: {words}\n"
    assert told.err == ""


def test_audit_as_json_fits_the_schema_it_publishes(people: Path, run: Run) -> None:
    schema = json.loads(run("schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    told = run("audit", people, "--qi", "age,sex", "--sensitive", "dx", "--json")
    found = json.loads(told.out)
    jsonschema.validate(found, schema)
    assert told.err == ""
    assert found["measures"]["k-anonymity"]["value"] == 12
    assert found["measures"]["l-diversity"]["value"] == 3
    assert found["table"]["rows"] == 48
    assert found["verdict"]["compliant"] is True


def test_core_leaves_out_the_search(people: Path, run: Run) -> None:
    assert "exposure" not in json.loads(run("audit", people, "--qi", "age", "--json", "--core").out)
    assert "exposure" in json.loads(run("audit", people, "--qi", "age", "--json").out)


def test_options_win_over_the_policy_file(people: Path, tmp_path: Path, run: Run) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[columns.age]\nrole = "quasi-identifier"\n[columns.dx]\nrole = "sensitive"\n')
    by_file = json.loads(run("audit", people, "--policy", policy, "--json").out)
    assert by_file["table"]["classes"] == 2
    by_option = json.loads(run("audit", people, "--policy", policy, "--qi", "age,sex", "--json").out)
    assert by_option["table"]["classes"] == 4
    assert "t-closeness" in by_option["measures"]


def test_the_policy_file_says_how_to_read(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "odd.csv"
    file.write_text("31;?\n31;x\n47;x\n")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[read]\nheader = false\nnames = ["age", "dx"]\nmissing = ["?"]\n[columns.dx]\nrole = "quasi-identifier"\n'
    )
    found = json.loads(run("audit", file, "--policy", policy, "--json").out)
    assert found["table"]["rows"] == 3
    assert found["table"]["missing"][0]["nulls"] == 1


def test_a_profile_of_ones_own_lies_beside_the_policy(people: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "own.toml").write_text(
        'title = "Own"\ndescription = "d"\nsource = "s"\ndate = 2024-02-29\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 13\n'
    )
    policy = tmp_path / "policy.toml"
    policy.write_text('profile = "own.toml"\nunknown = "keep"\n[columns.age]\nrole = "quasi-identifier"\n')
    assert run("check", people, "--policy", policy).code == 0
    policy.write_text(policy.read_text() + '[columns.sex]\nrole = "quasi-identifier"\n')
    assert run("check", people, "--policy", policy).code == 1


def test_a_person_id_that_was_not_named_is_mentioned(town: dict[str, Path], run: Run) -> None:
    found = json.loads(run("audit", town["visits"], "--qi", "clinic", "--json", "--core").out)
    assert found["table"]["level"] == "person"
    assert any("--person" in note and "resident_id" in note for note in found["notes"])


def test_a_table_with_many_quasi_identifiers_is_audited_in_smaller_combinations(
    run: Run, tmp_path: Path
) -> None:
    names = [f"c{i}" for i in range(45)]
    pq.write_table(
        pa.table({n: [(i * j) % 5 for j in range(20)] for i, n in enumerate(names)}), tmp_path / "w.parquet"
    )
    found = json.loads(run("audit", tmp_path / "w.parquet", "--qi", ",".join(names), "--json").out)
    assert max(len(c["attributes"]) for c in found["exposure"]["combinations"]) == 2
    assert any("at most 2 of them were combined" in note for note in found["notes"])


# ── check ─────────────────────────────────────────────────────────────────────────────────────────────


def test_check_ends_with_0_if_everything_holds(people: Path, run: Run) -> None:
    told = run("check", people, "--qi", "age,sex", "--profile", "research-partner-5")
    assert told.code == 0
    assert "4 of 4 requirements hold" in told.out
    assert "✘" not in told.out


def test_check_ends_with_1_if_something_does_not_hold(people: Path, run: Run) -> None:
    told = run("check", people, "--qi", "age,sex,dx", "--profile", "research-partner-5")
    assert told.code == 1
    lines = told.out.splitlines()
    assert sum(line.startswith("✘ k-anonymity") for line in lines) == 1
    assert "2 of 3 requirements hold" in told.out


def test_quiet_check_prints_nothing(people: Path, run: Run) -> None:
    told = run("check", people, "--qi", "age,sex,dx", "--profile", "research-partner-5", "--quiet")
    assert (told.code, told.said) == (1, "")


def test_check_as_json(people: Path, run: Run) -> None:
    told = run("check", people, "--qi", "age,sex,dx", "--profile", "research-partner-5", "--json")
    assert told.code == 1
    found = json.loads(told.out)
    assert found["schema"] == "discreet-check-1"
    assert found["verdict"]["passes"] is False


def test_infinite_values_are_valid_json(people: Path, tmp_path: Path, run: Run) -> None:
    """A class that misses a sensitive value has an infinite delta; JSON knows no infinity."""
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[columns.sex]\nrole = "sensitive"\n[columns.age]\nrole = "quasi-identifier"\n'
        '[[require]]\nmodel = "delta-disclosure"\ndelta = 1.0\nsensitive = "sex"\n'
    )
    lonely = tmp_path / "lonely.csv"
    lonely.write_text(PEOPLE + "99,f,a\n")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for command in ("audit", "check"):
        found = json.loads(run(command, lonely, "--policy", policy, "--json").out, parse_constant=refuse)
        [criterion] = [c for c in found["verdict"]["criteria"] if c["id"] == "delta-disclosure"]
        assert criterion["value"] == "infinite"
        assert criterion["found"] == "infinite"


# ── suggest, report, profiles, example ────────────────────────────────────────────────────────────────


def test_suggest_writes_a_policy_that_audit_takes(town: dict[str, Path], tmp_path: Path, run: Run) -> None:
    policy = tmp_path / "policy.toml"
    told = run("suggest", town["residents"], "--output", policy)
    assert told.code == 0
    assert f"--policy {policy}" in told.out
    assert "# Policy for residents.csv" in policy.read_text()
    assert load(policy).quasi_identifiers
    assert run("audit", town["residents"], "--policy", policy, "-q", "--core").code == 0
    before = policy.read_text()
    assert run("suggest", town["visits"], "--output", policy).code == 2
    assert policy.read_text() == before
    assert run("suggest", town["visits"], "--output", policy, "--force").code == 0
    assert policy.read_text() != before


def test_suggest_prints_a_policy_and_nothing_else(people: Path, run: Run) -> None:
    from discreet.policy import loads

    told = run("suggest", people, "--missing", "?", "--delimiter", ",")
    assert told.err == ""
    found = loads(told.out)
    assert found.read == {"delimiter": ",", "missing": ["?"]}
    assert [column.name for column in found.columns] == ["age", "sex", "dx"]


@pytest.mark.slow
def test_report_writes_one_page(people: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "report.html"
    told = run("report", people, "--qi", "age,sex", "--sensitive", "dx", "-o", page)
    assert told.code == 0, told.said
    assert str(page) in told.out
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    again = tmp_path / "again.html"
    assert str(again) in run("audit", people, "--qi", "age", "--report", again, "--edition", "public").out
    assert again.exists()
    assert run("report", people, "--qi", "age", "-o", again, "-q").said == ""
    assert run("report", people, "--qi", "age", "-o", again, "--lang", "de").code == 0
    german = again.read_text(encoding="utf-8")
    assert '<html lang="de">' in german
    assert "Was im Weg steht" in german
    assert "What stands in the way" not in german


def test_profiles_lists_them_all(run: Run) -> None:
    told = run("profiles").out
    for name in profile_names():
        assert name in told
    assert "2025-04-22" in told


def test_example_writes_two_tables(tmp_path: Path, run: Run) -> None:
    told = run("example", tmp_path / "town", "--people", "50", "--seed", "3")
    assert [Path(line).name for line in told.out.split()] == ["residents.csv", "visits.csv"]
    assert all(Path(line).stat().st_size > 1000 for line in told.out.split())


def test_column_names_with_commas_are_quoted() -> None:
    assert split('"city, state", age') == ["city, state", "age"]
    assert split("") == []


def test_advice_speaks_of_options() -> None:
    assert in_options("pass names= or sheet='a b'; header=True") == "pass --names or --sheet 'a b'; --header"


# ── interruptions ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes long: every row is a class of its own, and many columns can be combined."""
    import numpy as np

    rng = np.random.default_rng(1)
    n = 1_500_000
    file = tmp_path_factory.mktemp("big") / "big.parquet"
    pq.write_table(pa.table({f"c{i}": rng.integers(0, 300, n) for i in range(9)}), file)
    return file


class Terminal:
    """The command line before a terminal, with the progress bar at once or never."""

    def __init__(self, *arguments: str, folder: Path, at_once: bool) -> None:
        self.shown = b""
        self._screen, theirs = pty.openpty()
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        # A file: DuckDB takes a program without one for a prompt, and draws on it.
        program = folder / "program.py"
        program.write_text(
            "from discreet.cli import main, progress\n"
            f"progress.PATIENCE_SECONDS = {0.0 if at_once else 3600.0}\n"
            "main()\n"
        )
        self.process = subprocess.Popen(
            [sys.executable, str(program), *arguments],
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            env={**os.environ, "TERM": "xterm", "TMPDIR": str(self.scratch)},
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)

    def wait_for(self, words: bytes) -> None:
        """Until these words are shown, or nothing more will be."""
        while words not in self.shown:
            try:
                self.shown += os.read(self._screen, 4096)
            except OSError:  # the other end is closed
                return

    def ends(self) -> str:
        """What it printed, after its end."""
        self.wait_for(b"what is never shown")
        out, _ = self.process.communicate()
        return out


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("words", [b"\x1b", b"counting"], ids=["when anything is shown", "while counting"])
def test_a_cancelled_audit_leaves_nothing_behind(
    number: signal.Signals, words: bytes, big: Path, tmp_path: Path
) -> None:
    with Terminal(
        "audit", str(big), "--qi", COLUMNS, "--profile", "wp216", folder=tmp_path, at_once=True
    ) as terminal:
        terminal.wait_for(words)
        terminal.process.send_signal(number)
        assert terminal.ends() == ""
    assert terminal.process.returncode == 130
    assert b"Traceback" not in terminal.shown
    assert b"cancelled" in terminal.shown
    assert list(terminal.scratch.iterdir()) == []


@pytest.mark.slow
def test_a_finished_audit_leaves_nothing_behind(people: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    subprocess.run(
        [PROGRAM, "audit", str(people)],
        check=True,
        capture_output=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["audit", "--json"], ["audit"], ["suggest"]], ids=" ".join)
def test_a_reader_that_stops_listening(arguments: list[str], town: dict[str, Path]) -> None:
    """`discreet … | head -1` is quiet."""
    told = subprocess.run(
        f"{PROGRAM} {arguments[0]} {town['residents']} {' '.join(arguments[1:])} | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert told.stdout.count("\n") == 1
    assert told.stderr == ""


# ── progress ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_progress_appears_on_a_terminal_when_it_takes_long(big: Path, tmp_path: Path) -> None:
    with Terminal("audit", str(big), "--qi", COLUMNS, folder=tmp_path, at_once=True) as terminal:
        terminal.wait_for(b"Ctrl-C cancels")
        terminal.process.send_signal(signal.SIGINT)
        assert "Ctrl-C" not in terminal.ends()
    assert b"Ctrl-C cancels" in terminal.shown
    assert PATIENCE_SECONDS <= 5


@pytest.mark.slow
@pytest.mark.parametrize(("quiet", "at_once"), [([], False), (["--quiet"], True)], ids=["quick", "quiet"])
def test_no_progress_on_a_terminal_when_it_is_quick_or_quiet(
    people: Path, tmp_path: Path, quiet: list[str], at_once: bool
) -> None:
    with Terminal("audit", str(people), *quiet, folder=tmp_path, at_once=at_once) as terminal:
        terminal.ends()
    assert terminal.shown == b""


def test_no_progress_where_nobody_watches(people: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr("discreet.cli.progress.PATIENCE_SECONDS", 0.0)
    told = run("audit", people)
    assert told.out
    assert told.err == ""


def test_a_file_name_is_no_markup() -> None:
    reporter = Reporter(quiet=True)
    reporter("reading a[/b].csv")
    reporter("x" * 500)
    reporter.start()
    reporter.stop()


@pytest.mark.parametrize("surprise", [RecursionError("x"), OverflowError("Smith, 47"), UnicodeError("x")])
def test_what_only_input_can_cause_is_bad_input(
    surprise: Exception, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise surprise

    monkeypatch.setattr("discreet.cli.audit.run_audit", fail)
    (tmp_path / "people.csv").write_text("age,sex\n1,f\n2,m\n")
    told = run("audit", tmp_path / "people.csv", "--qi", "age")
    assert told.code == 2
    assert "too deep, too large or no text" in told.err
    assert "Smith" not in told.err


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("3", "3")])
def test_matrix_products_take_one_thread_unless_somebody_says_otherwise(
    given: str | None, expected: str
) -> None:
    program = (
        "import atexit, os, sys; sys.argv = ['discreet', '--help']; from discreet.cli import main; "
        "atexit.register(lambda: print('threads', os.environ.get('OPENBLAS_NUM_THREADS'), 'numpy' in sys.modules)); "
        "main()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if given is not None:
        environment["OPENBLAS_NUM_THREADS"] = given
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    # NumPy, which reads it, comes later.
    assert done.stdout.splitlines()[-1] == f"threads {expected} False"
