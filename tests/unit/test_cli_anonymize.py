"""anonymize, apply, recommend and compare-methods on the command line: codes, files, and what is left behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from discreet.register import Judgement, Register
from discreet.release.verify import read_back
from discreet.release.write import SUFFIXES

PROGRAM = str(Path(sys.executable).with_name("discreet"))
Run = Callable[..., Any]
HOUSE = ["--profile", "research-partner-3"]
OLD = "120,P. Nr120,95,f,a\n121,P. Nr121,97,f,b\n122,P. Nr122,99,f,a\n"
"""Three people, each alone with an age: together they are as many as the profile asks for."""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """120 people; four of each age and sex, of three illnesses."""
    file = tmp_path / "people.csv"
    lines = [
        f"{number},P. Nr{number},{20 + number // 8},{'fm'[number % 2]},{'abc'[number % 3]}"
        for number in range(120)
    ]
    file.write_text("\n".join(["nr,name,age,sex,dx", *lines]) + "\n")
    return file


def roles(*more: object) -> list[object]:
    return ["--qi", "age,sex", "--sensitive", "dx", "--identifiers", "nr,name", *HOUSE, *more]


def smallest(path: Path, *columns: str) -> int:
    rows = read_back(path)
    return min(Counter(zip(*(rows[name].to_pylist() for name in columns), strict=True)).values())


# ── anonymize ────────────────────────────────────────────────────────────────────────────────────────


def test_a_release_is_written_and_told(run: Run, people: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    told = run("anonymize", people, "-o", target, *roles("--require", "k-anonymity k=8"))
    assert told.code == 0, told.said
    assert "Every requirement on the classes holds." in told.out
    assert f"Wrote {target}" in told.out
    assert read_back(target).column_names == ["age", "sex", "dx"]
    assert smallest(target, "age", "sex") >= 8


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_written(run: Run, people: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"out{suffix}"
    told = run("anonymize", people, "-o", target, *roles("--quiet"))
    assert (told.code, told.said) == (0, "")
    assert smallest(target, "age", "sex") >= 3


@pytest.mark.parametrize("name", ["out", "out.txt", "out.csv.gz", "out.xls"])
def test_an_unknown_ending_is_refused_before_any_work(
    run: Run, people: Path, tmp_path: Path, name: str
) -> None:
    told = run("anonymize", people, "-o", tmp_path / name, *roles())
    assert told.code == 2
    assert "no known ending" in told.err
    assert ".parquet" in told.err
    assert not (tmp_path / name).exists()


def test_an_unreachable_goal_ends_with_1_and_no_file(run: Run, people: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("out.csv", "report.html", "recipe.json")]
    ways = ["-o", files[0], "--report", files[1], "--recipe", files[2]]
    told = run("anonymize", people, *ways, *roles("--require", "l-diversity l=4 sensitive=dx", "--json"))
    assert told.code == 1
    error = json.loads(told.out)["error"]
    assert error["code"] == "goal-unreachable"
    assert "nearest:" in error["message"]
    assert error["remedy"]
    assert not any(path.exists() for path in files)
    assert [path.name for path in tmp_path.iterdir()] == [people.name]


def test_json_says_what_was_done(run: Run, people: Path, tmp_path: Path) -> None:
    told = run("anonymize", people, "-o", tmp_path / "out.csv", *roles("--json"))
    assert told.code == 0
    found = json.loads(told.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["schema"] == "discreet-release-1"
    assert found["method"] == "optimal"
    assert found["records"]["before"] == 120
    assert found["records"]["after"] == read_back(tmp_path / "out.csv").num_rows
    assert set(found["attributes"]) == {"age", "sex"}
    assert "learned" in found["hierarchies"]["age"]


def test_kept_attributes_stay_as_they_are(run: Run, people: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    asked = roles("--require", "k-anonymity k=8", "--suppression", "0")
    run("anonymize", people, "-o", target, *asked, "--keep", "sex", "--quiet")
    assert set(read_back(target)["sex"].to_pylist()) == {"f", "m"}
    run("anonymize", people, "-o", target, *asked, "--keep", "age", "--order", "kept", "--quiet")
    assert read_back(target)["age"].to_pylist() == [str(20 + number // 8) for number in range(120)]
    assert set(read_back(target)["sex"].to_pylist()) == {"*"}


def test_values_and_attributes_are_suppressed(run: Run, people: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    ways = ["--suppress-values", "age=20", "--suppress-values", "age=21", "--suppress-rare", "sex=500"]
    ways += ["--order", "kept"]
    told = run("anonymize", people, "-o", target, *roles("--quiet", *ways))
    assert told.code == 0, told.said
    assert set(read_back(target)["sex"].to_pylist()) == {"*"}
    assert set(read_back(target)["age"].to_pylist()[:16]) == {"*"}
    run("anonymize", people, "-o", target, *roles("--quiet", "--drop-attributes", "age"))
    assert read_back(target).column_names == ["sex", "dx"]
    run("anonymize", people, "-o", target, *roles("--quiet", "--suppress-attributes", "age"))
    assert set(read_back(target)["age"].to_pylist()) == {"*"}


def test_weights_say_what_to_spare(run: Run, people: Path, tmp_path: Path) -> None:
    shown = {}
    for weights in ("age=100,sex=0.01", "age=0.01,sex=100"):
        target = tmp_path / "out.csv"
        asked = roles("--require", "k-anonymity k=8", "--weights", weights, "--quiet", "--suppression", "0")
        assert run("anonymize", people, "-o", target, *asked).code == 0
        shown[weights] = set(read_back(target)["sex"].to_pylist())
    assert list(shown.values()) == [{"*"}, {"f", "m"}]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--keep", "sx"], "'sx'"),
        (["--suppress-rare", "age"], "name=number"),
        (["--suppress-rare", "age=few"], "name=number"),
        (["--suppress-values", "4711"], "attribute=value"),
        (["--suppress-attributes", "ag"], "'ag'"),
        (["--weights", "age"], "not a weight"),
        (["--weights", "age=-1"], "not a weight"),
        (["--weights", "ag=1"], "'ag'"),
        (["--require", "k-anonymity"], "k"),
        (["--require", ""], "empty"),
        (["--require", "k-anonymity 'k=3"], "open quote"),
        (["--require", "k-anonimity k=3"], "k-anonimity"),
        (["--require", "l-diversity l=2 sensitive=age"], "'age'"),
        (["--objective", "beauty"], "beauty"),
        (["--method", "magic"], "magic"),
        (["--suppression", "2"], "2"),
        (["--key-file", "no-such-key"], "no-such-key"),
    ],
)
def test_bad_input_ends_with_2_names_it_and_writes_nothing(
    run: Run, people: Path, tmp_path: Path, more: list[str], word: str
) -> None:
    told = run("anonymize", people, "-o", tmp_path / "out.csv", *roles(*more))
    assert told.code == 2, told.said
    assert word in told.err
    assert [path.name for path in tmp_path.iterdir()] == [people.name]


def test_the_table_itself_is_not_overwritten(run: Run, people: Path, tmp_path: Path) -> None:
    before = people.read_bytes()
    told = run("anonymize", people, "-o", tmp_path / "." / people.name, *roles())
    assert told.code == 2
    assert "would be overwritten" in told.err
    assert people.read_bytes() == before


def test_a_requirement_may_name_a_column_with_a_blank_or_a_number(
    run: Run, people: Path, tmp_path: Path
) -> None:
    people.write_text(people.read_text().replace("dx", "main dx", 1))
    asked = ["--qi", "age,sex", "--sensitive", "main dx", *HOUSE, "--quiet"]
    told = run(
        "anonymize",
        people,
        "-o",
        tmp_path / "out.csv",
        *asked,
        "--require",
        "l-diversity l=2 'sensitive=main dx'",
    )
    assert told.code == 0, told.said
    people.write_text(people.read_text().replace("main dx", "2020", 1))
    asked[3] = "2020"
    told = run(
        "anonymize", people, "-o", tmp_path / "out.csv", *asked, "--require", "l-diversity l=2 sensitive=2020"
    )
    assert told.code == 0, told.said


@pytest.mark.slow
def test_without_a_policy_roles_and_hierarchies_are_guessed_and_the_notes_say_so(
    run: Run, tmp_path: Path
) -> None:
    run("example", tmp_path / "town", "--people", "800")
    told = run("anonymize", tmp_path / "town" / "residents.csv", "-o", tmp_path / "out.parquet", "--json")
    assert told.code == 0, told.said
    found = json.loads(told.out)
    notes = " ".join(found["notes"])
    assert "roles were suggested" in notes
    assert "were learned from the data" in notes
    assert found["verdict"]["after"]["profile"]["id"] == "open-data"
    assert {"name", "resident_id"}.isdisjoint(read_back(tmp_path / "out.parquet").column_names)


def test_starred_records_are_shown(run: Run, people: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    asked = roles("--suppressed", "star", "--keep", "age,sex", "--order", "kept", "--quiet")
    everybody = people.read_text()
    people.write_text(everybody + "120,P. Nr120,99,f,a\n")
    assert run("anonymize", people, "-o", target, *asked).code == 0
    assert read_back(target).num_rows == 120
    people.write_text(everybody + OLD)
    assert run("anonymize", people, "-o", target, *asked).code == 0
    rows = read_back(target)
    assert rows.num_rows == 123
    assert rows.to_pylist()[-1] == {"age": "*", "sex": "*", "dx": "a"}


def test_suppressed_numbers_show_a_statistic(run: Run, people: Path, tmp_path: Path) -> None:
    people.write_text(people.read_text() + OLD)
    target, report = tmp_path / "out.csv", tmp_path / "report.html"
    asked = roles(
        "--suppressed", "star", "--keep", "age,sex", "--suppressed-numbers", "maximum", "--report", report
    )
    asked += ["--order", "kept"]
    told = run("anonymize", people, "-o", target, *asked)
    assert told.code == 0, told.said
    assert read_back(target).to_pylist()[-1] == {"age": "34", "sex": "*", "dx": "a"}
    assert "the maximum of released numbers" in report.read_text()
    told = run("anonymize", people, "-o", target, *roles("--suppressed-numbers", "mean"))
    assert told.code == 2
    assert "--suppressed star" in told.err


def test_report_and_recipe_are_written_beside_it(run: Run, people: Path, tmp_path: Path) -> None:
    ways = ["--report", tmp_path / "report.html", "--recipe", tmp_path / "recipe.toml"]
    told = run("anonymize", people, "-o", tmp_path / "out.csv", *ways, *roles())
    assert told.code == 0, told.said
    assert (tmp_path / "recipe.toml").read_text().startswith('format = "discreet-recipe-1"')
    assert "</html>" in (tmp_path / "report.html").read_text()
    assert told.out.count("Wrote") == 3


# ── apply ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def recipe(run: Run, people: Path, tmp_path: Path) -> Path:
    path = tmp_path / "recipe.json"
    told = run("anonymize", people, "-o", tmp_path / "out.csv", "--recipe", path, *roles("--quiet"))
    assert told.code == 0, told.said
    return path


def test_a_recipe_alone_makes_the_same_release(run: Run, people: Path, recipe: Path, tmp_path: Path) -> None:
    told = run("apply", recipe, people, "-o", tmp_path / "again.csv", *HOUSE)
    assert told.code == 0, told.said
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert "nan" not in told.out
    told = run("apply", recipe, people, "-o", tmp_path / "again.csv", *HOUSE, "--json")
    json.loads(told.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_a_recipe_names_the_profile_and_apply_says_that_it_judged_by_it(
    run: Run, people: Path, recipe: Path, tmp_path: Path
) -> None:
    target = tmp_path / "again.csv"
    told = run("apply", recipe, people, "-o", target, "--json")
    assert told.code == 0, told.said
    assert any("the recipe's" in note for note in json.loads(told.out)["notes"])
    assert target.read_bytes() == (tmp_path / "out.csv").read_bytes()
    named = run("apply", recipe, people, "-o", target, "--json", *HOUSE)
    assert not any("the recipe's" in note for note in json.loads(named.out)["notes"])
    stricter = run("apply", recipe, people, "-o", target, "--profile", "open-data", "--quiet")
    assert stricter.code == 1, stricter.said


def test_values_that_a_recipe_does_not_know(run: Run, people: Path, recipe: Path, tmp_path: Path) -> None:
    people.write_text(people.read_text() + "120,P. Nr120,4711,f,a\n")
    target = tmp_path / "again.csv"
    told = run("apply", recipe, people, "-o", target, *HOUSE)
    assert told.code == 2
    assert "--unseen suppress" in told.err
    assert "4711" not in told.said
    assert not target.exists()
    assert run("apply", recipe, people, "-o", target, *HOUSE, "--unseen", "suppress").code == 0
    assert read_back(target).num_rows == 120


def test_rows_for_which_a_recipe_is_not_enough(run: Run, people: Path, recipe: Path, tmp_path: Path) -> None:
    lines = people.read_text().splitlines()
    people.write_text("\n".join(lines[:1] + lines[1::9]) + "\n")
    told = run("apply", recipe, people, "-o", tmp_path / "again.csv", *HOUSE)
    assert told.code == 1, told.said
    assert not (tmp_path / "again.csv").exists()


def test_a_key_file_makes_pseudonyms_repeatable(run: Run, tmp_path: Path) -> None:
    visits, key = tmp_path / "visits.csv", tmp_path / "key"
    visits.write_text("who,sex\n" + "".join(f"p{i % 8},{'fm'[i % 2]}\n" for i in range(24)))
    dropped = ["--qi", "sex", "--person", "who", *HOUSE, "--quiet"]
    asked = [*dropped, "--person-ids", "pseudonymise"]
    key.write_text("0123456789abcdef")
    ways = ["--key-file", key, "--recipe", tmp_path / "recipe.json"]
    assert run("anonymize", visits, "-o", tmp_path / "a.csv", *asked, *ways).code == 0
    told = run(
        "apply", tmp_path / "recipe.json", visits, "-o", tmp_path / "b.csv", *HOUSE, "--key-file", key, "-q"
    )
    assert told.code == 0, told.said
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert "p1" not in (tmp_path / "a.csv").read_text()
    assert "0123456789abcdef" not in (tmp_path / "recipe.json").read_text()
    key.write_text("short")
    told = run("anonymize", visits, "-o", tmp_path / "a.csv", *asked, *ways)
    assert told.code == 2
    assert "shorter than 16" in told.err
    assert run("anonymize", visits, "-o", tmp_path / "c.csv", *dropped).code == 0
    assert read_back(tmp_path / "c.csv").column_names == ["sex"]


# ── recommend and compare-methods ────────────────────────────────────────────────────────────────────


def test_advice_is_cheapest_first_and_names_what_goes_first(run: Run, people: Path) -> None:
    told = run("recommend", people, *roles("--require", "k-anonymity k=8", "--json"))
    assert told.code == 0, told.said
    found = json.loads(told.out)
    assert found["first_steps"] == ["remove nr, name"]
    losses = [one["loss"] for one in found["recommendations"]]
    assert losses == sorted(losses)
    assert any(one["levels"] == {"sex": 1} for one in found["recommendations"])
    assert run("recommend", people, *roles()).code == 0


def test_advice_respects_what_must_stay(run: Run, people: Path) -> None:
    told = run("recommend", people, *roles("--require", "k-anonymity k=8", "--keep", "sex", "--json"))
    assert all("sex" not in one["levels"] for one in json.loads(told.out)["recommendations"])


@pytest.mark.slow
def test_methods_are_compared_and_drawn(run: Run, people: Path, tmp_path: Path) -> None:
    asked = roles("--methods", "optimal,mondrian", "--require", "k-anonymity k=8")
    told = run("compare-methods", people, *asked, "--json", "--chart", tmp_path / "risk.svg")
    assert told.code == 0, told.said
    found = json.loads(told.out)["outcomes"]
    assert [one["method"] for one in found] == ["optimal", "mondrian"]
    assert any(one["pareto"] for one in found)
    assert "<svg" in (tmp_path / "risk.svg").read_text()
    assert "mondrian" in run("compare-methods", people, *asked).out
    told = run("compare-methods", people, *roles("--methods", "magic"))
    assert told.code == 2
    assert "magic" in told.err


def test_where_groups_do_not_hold_values_are_generalised_uniformly(run: Run, tmp_path: Path) -> None:
    """The whole table is not diverse enough, so there is nothing to divide; its diverse part can be released."""
    file = tmp_path / "uneven.csv"
    lines = [f"20,f,{'abc'[i % 3]}" for i in range(12)] + ["30,f,a"] * 60
    file.write_text("\n".join(["age,sex,dx", *lines]) + "\n")
    asked = ["--require", "l-diversity l=3 kind=entropy sensitive=dx", "--suppression", "0.9", *HOUSE]
    told = run(
        "compare-methods",
        file,
        "--qi",
        "age,sex",
        "--sensitive",
        "dx",
        "--methods",
        "optimal,mondrian",
        *asked,
    )
    assert told.code == 0, told.said
    assert "Failed" not in told.out


# ── interruptions ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(5)
    path = tmp_path_factory.mktemp("kill") / "people.parquet"
    rows = 20_000
    pyarrow.parquet.write_table(
        pa.table(
            {
                "age": [rng.randrange(18, 90) for _ in range(rows)],
                "sex": [rng.choice("fm") for _ in range(rows)],
                "town": [f"t{rng.randrange(40)}" for _ in range(rows)],
                "dx": [rng.choice("abcd") for _ in range(rows)],
                "remark": [f"{rng.random()}" * 20 for _ in range(rows)],
            }
        ),
        path,
    )
    return path


def start(thousands: Path, folder: Path) -> subprocess.Popen[bytes]:
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    asked = ["--qi", "age,sex,town", "--sensitive", "dx", "--require", "k-anonymity k=5", *HOUSE, "-q"]
    return subprocess.Popen(
        [PROGRAM, "anonymize", str(thousands), "-o", str(folder / "out.csv"), "--method", "mondrian", *asked],
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.DEVNULL,
    )


def interrupted(thousands: Path, folder: Path, number: signal.Signals, when: str) -> subprocess.Popen[bytes]:
    """A run that gets a signal once it has begun to read, or while it writes the release."""
    sign = folder.glob if when == "writing" else (folder / "scratch").glob
    pattern = ".discreet-*.part.csv" if when == "writing" else "discreet-*"
    # On a busy machine a run may have written everything before one looks again.
    for _ in range(10):
        process = start(thousands, folder)
        while process.poll() is None:
            if list(sign(pattern)):
                process.send_signal(number)
                process.wait()
                return process
            time.sleep(0.001)
        shutil.rmtree(folder / "scratch")
        (folder / "out.csv").unlink()
    raise AssertionError("no run was seen writing")


@pytest.mark.slow
@pytest.mark.parametrize("when", ["early", "writing"])
def test_a_killed_process_leaves_no_release_or_a_whole_one(
    thousands: Path, tmp_path: Path, when: str
) -> None:
    interrupted(thousands, tmp_path, signal.SIGKILL, when)
    target = tmp_path / "out.csv"
    if target.exists():
        assert read_back(target).num_rows > 0.8 * 20_000
        assert smallest(target, "age", "sex", "town") >= 5
    left = {path.name for path in tmp_path.iterdir()} - {"out.csv", "scratch"}
    assert all(fnmatch(name, ".discreet-*.part.csv") for name in left)
    assert len(left) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("when", ["early", "writing"])
def test_an_interrupted_process_leaves_nothing(
    thousands: Path, tmp_path: Path, number: signal.Signals, when: str
) -> None:
    code = interrupted(thousands, tmp_path, number, when).returncode
    left = {path.name for path in tmp_path.iterdir()}
    assert list((tmp_path / "scratch").iterdir()) == []
    # A signal that comes after the last moment at which it could stop anything finds the release in place.
    assert code in (0, 130)
    assert left in ({"scratch"}, {"scratch", "out.csv"})
    if code == 0 or "out.csv" in left:
        assert smallest(tmp_path / "out.csv", "age", "sex", "town") >= 5


# ── alternatives, and a verdict against the release ──────────────────────────────────────────────────


def test_the_other_releases_that_were_found_are_written(run: Run, people: Path, tmp_path: Path) -> None:
    target, folder = tmp_path / "out.csv", tmp_path / "others"
    told = run(
        "anonymize",
        people,
        "-o",
        target,
        "--alternatives",
        folder,
        "--json",
        *roles("--require", "k-anonymity k=8"),
    )
    assert told.code == 0, told.said
    others = json.loads(told.out)["alternatives"]
    assert others, "one release alone leaves nothing to be written beside it"
    written = sorted(path.name for path in folder.iterdir())
    assert written == sorted(f"{other['title'].replace(' ', '-')}.csv" for other in others)
    for name in written:
        assert smallest(folder / name, "age", "sex") >= 8


def test_other_releases_are_judged_with_the_register_too(
    run: Run, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The register is against every release but the first that it is asked about."""
    judged: list[object] = []

    def judge(self: Register, release: object, policy: object, **asked: object) -> Judgement:
        judged.append(release)
        return Judgement(2, (), {"illness": len(judged) - 1}, {}, (1,))

    monkeypatch.setattr(Register, "judge", judge)
    monkeypatch.setattr(Register, "entries", lambda self: ())
    register, key, folder = tmp_path / "register", tmp_path / "key", tmp_path / "others"
    register.mkdir()
    key.write_text("a key that is long enough")
    target = tmp_path / "out.csv"
    command = ["anonymize", people, "-o", target, *roles("--require", "k-anonymity k=8"), "--quiet"]
    told = run(*command, "--alternatives", folder, "--register", register, "--register-key", key)
    assert told.code == 0, told.said
    assert target.exists()
    assert len(judged) > 1
    assert not folder.exists()


def test_options_about_a_register_need_one(run: Run, people: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    told = run("anonymize", people, "-o", target, *roles("--require", "k-anonymity k=8"), "--same-values")
    assert told.code == 2
    assert "no register" in told.said
    assert not target.exists()


def test_other_releases_replace_nothing_that_is_read_or_written(
    run: Run, people: Path, tmp_path: Path
) -> None:
    table = tmp_path / "most-detail.csv"
    table.write_bytes(people.read_bytes())
    plan = roles("--require", "k-anonymity k=8")
    over_input = run("anonymize", table, "-o", tmp_path / "out.csv", "--alternatives", tmp_path, *plan)
    assert (over_input.code, table.read_bytes()) == (2, people.read_bytes())
    target = tmp_path / "simplest-labels.csv"
    over_output = run("anonymize", people, "-o", target, "--alternatives", tmp_path, *plan)
    assert (over_output.code, target.exists()) == (2, False)
    no_folder = run("anonymize", people, "-o", tmp_path / "out.csv", "--alternatives", table, *plan)
    assert no_folder.code == 2
    assert "is a file" in no_folder.err


def test_against_the_verdict_nothing_is_written_unless_somebody_says_why(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nine records in ten share a value: by SCORR's rule the correlation stays high whatever is done.
    file, target = tmp_path / "few.csv", tmp_path / "out.csv"
    rows = [f"{20 + number % 3},{'b' if number % 10 == 0 else 'a'}" for number in range(200)]
    file.write_text("\n".join(["age,dx", *rows]) + "\n")
    asked = ["--qi", "age", "--sensitive", "dx", "--profile", "scorr"]
    with monkeypatch.context() as patched:
        # Before any search, and with what can be done instead.
        patched.setattr("discreet.cli.anonymize.run_anonymize", lambda *_, **__: pytest.fail("it searched"))
        refused = run("anonymize", file, "-o", target, *asked)
    assert refused.code == 1
    assert "do not release, whatever is done (one value of dx has more than 66% of all records" in refused.err
    for choice in ("leave the column out", "judge it by itself", "another profile", "--acknowledge"):
        assert choice in " ".join(refused.err.split())
    assert not target.exists()
    report = tmp_path / "out.html"
    told = run(
        "anonymize", file, "-o", target, "--report", report, *asked, "--acknowledge", "bound by contract"
    )
    assert told.code == 0, told.said
    assert target.exists()
    assert "against the verdict, for this reason: bound by contract" in report.read_text(encoding="utf-8")
