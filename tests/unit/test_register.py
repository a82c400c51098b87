"""The register: what it keeps, what it refuses, and how it judges the next release."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

from discreet.attacks.composition.candidates import Candidates
from discreet.cli import cli
from discreet.errors import DiscreetError, InvalidParameter, RequirementNotMet, UnreadableInput
from discreet.files.writing import atomically
from discreet.policy import Policy
from discreet.policy.file import save
from discreet.register import Register
from discreet.register.entry import RegisterEntry
from discreet.register.people import PeopleOfRelease
from discreet.register.timeline import timeline_of
from discreet.reports.certificate import render_certificate
from helpers.words import tells

KEY = "a key that nobody will guess"
POLICY = Policy.of(
    quasi_identifiers=["age"], sensitive=["dx"], direct_identifiers=["name"], profile="research-partner-3"
)
PEOPLE = {
    "name": ["Ada", "Ben", "Cem", "Dora", "Eva", "Finn"],
    "age": [21, 23, 27, 31, 35, 39],
    "dx": ["ulcer", "flu", "gout", "angina", "flu", "asthma"],
}
FIRST = {"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 3, "dx": PEOPLE["dx"]}
SECOND = {
    "age": ["[20, 24]"] * 2 + ["[25, 33]"] * 2 + ["[34, 39]"] * 2,
    "dx": ["ulcer", "flu", "gout", "angina", "asthma", "flu"],
}
"""Cem is in {ulcer, flu, gout} and then in {gout, angina}, Dora in {angina, flu, asthma} and then in {gout, angina}."""


def written(path: Path, columns: dict[str, list]) -> Path:
    pyarrow.csv.write_csv(pa.table(columns), path)
    return path


@pytest.fixture
def register(tmp_path: Path) -> Register:
    """A register with the first release."""
    made = Register(tmp_path / "register")
    people = written(tmp_path / "people.csv", PEOPLE)
    written(tmp_path / "second.csv", SECOND)
    made.add(
        written(tmp_path / "first.csv", FIRST),
        POLICY,
        original=people,
        person="name",
        key=KEY,
        audience="all",
    )
    return made


def judged(register: Register, columns: dict[str, list], **more: object):
    people = register.path.parent / "people.csv"
    given = {"original": people, "person": "name", "key": KEY, **more}
    return register.judge(pa.table(columns), POLICY, **given)  # type: ignore[arg-type]


def test_a_release_that_gives_people_away_together_with_an_earlier_one_does_not_hold(
    register: Register,
) -> None:
    judgement = judged(register, SECOND)
    assert not judgement.holds
    assert (judgement.narrowed, judgement.releases) == ({"dx": 2}, (1,))
    (result,) = judgement.results
    assert (result.tries, result.successes, result.baseline) == (6, 2, pytest.approx(1 / 6))
    assert "for 2 of the people" in judgement.says
    # The same classes again tell nothing new.
    assert judged(register, FIRST).holds
    # With 3 values asked for, everybody is left with too few.
    assert judged(register, SECOND, values_left=3).narrowed == {"dx": 6}


def test_the_same_values_must_stay_possible_where_that_is_asked_for(register: Register) -> None:
    """Everybody of the second release is in another set than in the first; the first again changes nobody."""
    assert judged(register, FIRST, same_values=True).holds
    larger = {"age": ["[20, 39]"] * 6, "dx": PEOPLE["dx"]}
    asked, unasked = judged(register, larger, same_values=True), judged(register, larger)
    assert unasked.holds
    assert (asked.holds, asked.narrowed, asked.changed) == (False, {"dx": 0}, {"dx": 6})
    assert "leaves other values of dx possible" in asked.says


def test_no_name_and_no_value_is_kept(register: Register) -> None:
    people = (register.path.parent / "people.csv").read_bytes()
    assert all(tells(people, text) for text in (*PEOPLE["name"], *PEOPLE["dx"]))
    for file in register.path.iterdir():
        content = file.read_bytes()
        for text in (*PEOPLE["name"], *PEOPLE["dx"], "[20, 29]", KEY):
            assert not tells(content, text), file.name
    assert pa.parquet.read_table(register.path / "0001.people.parquet").num_rows == 6


def test_with_another_key_nothing_is_judged_and_that_is_said(register: Register) -> None:
    judgement = judged(register, SECOND, key="another key that nobody will guess")
    assert (judgement.releases, judgement.unjudged, judgement.results) == ((), (1,), ())
    assert "without their people, or with another key" in judgement.notes[0]


def test_what_was_seen_counts_after_its_withdrawal(register: Register) -> None:
    register.withdraw(1, "a mistake")
    assert judged(register, SECOND).narrowed == {"dx": 2}
    with pytest.raises(InvalidParameter, match="withdrawn before"):
        register.withdraw(1, "again")
    with pytest.raises(InvalidParameter, match="no release 2"):
        register.withdraw(2, "that is the withdrawal")


def test_what_nobody_had_received_does_not_count(register: Register) -> None:
    register.withdraw(1, "never handed over", unseen=True)
    assert judged(register, SECOND).releases == ()


def test_whom_nothing_is_left_for_is_not_given_away(register: Register) -> None:
    """Cem has cold now, and nobody of his class has what anybody of it had before."""
    changed = {**PEOPLE, "dx": ["cold", "cough", "cold", *PEOPLE["dx"][3:]]}
    release = {"age": FIRST["age"], "dx": changed["dx"]}
    judgement = judged(register, release, original=pa.table(changed))
    assert judgement.holds
    assert dict(judgement.results[0].figures)["nothing-left"] == 0.5


def test_people_with_several_records_are_refused(register: Register) -> None:
    twice = pa.table({**PEOPLE, "name": ["Ada", "Ada", *PEOPLE["name"][2:]]})
    with pytest.raises(InvalidParameter, match="several records"):
        judged(register, SECOND, original=twice)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "0001.toml").unlink(),
        lambda folder: (folder / "0002.toml").unlink(),
        lambda folder: (folder / "register.head").unlink(),
        lambda folder: (folder / "register.head").write_text("2 " + "0" * 64),
        lambda folder: (folder / "register.head").write_bytes(b"\xff"),
        lambda folder: (folder / "0002.toml").write_text((folder / "0001.toml").read_text()),
        lambda folder: (folder / "0001.toml").write_text(
            (folder / "0001.toml").read_text().replace("rows = 6", "rows = 7")
        ),
        lambda folder: (folder / "0001.toml").write_text("number = "),
        lambda folder: (folder / "0001.people.parquet").unlink(),
        lambda folder: (folder / "0001.people.parquet").write_bytes(b"PAR1"),
    ],
)
def test_a_register_that_was_changed_is_refused(register: Register, damage) -> None:
    register.withdraw(1, "a mistake")
    assert len(register.check()) == 2
    damage(register.path)
    with pytest.raises(UnreadableInput, match=r"cannot be trusted|is missing"):
        register.check()
    with pytest.raises(DiscreetError):
        judged(register, SECOND)


def test_what_a_killed_process_left_loses_nothing(register: Register) -> None:
    # Killed before the entry was written: people without an entry are no entry.
    (register.path / "0002.people.parquet").write_bytes(b"half")
    assert len(register.check()) == 1
    # Killed before the head was written: the entry counts.
    head = (register.path / "register.head").read_bytes()
    register.withdraw(1, "a mistake")
    (register.path / "register.head").write_bytes(head)
    assert len(register.check()) == 2


@pytest.mark.parametrize("last", range(3))
def test_whatever_write_fails_the_register_is_as_it_was_or_complete(
    register: Register, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    """A process dies at the people, the entry or the head."""
    writes: list[Path] = []

    def dying(target: Path, *given: object, **more: object) -> None:
        if len(writes) == last:
            raise KeyboardInterrupt
        writes.append(target)
        atomically(target, *given, **more)  # type: ignore[arg-type]

    folder = register.path.parent
    given = {"original": folder / "people.csv", "person": "name", "key": KEY}
    with monkeypatch.context() as patch:
        patch.setattr("discreet.register.folder.atomically", dying)
        patch.setattr("discreet.files.chain.atomically", dying)
        with pytest.raises(KeyboardInterrupt):
            register.add(folder / "second.csv", POLICY, **given)
    assert len(register.check()) == (2 if last == 2 else 1)
    register.add(folder / "second.csv", POLICY, **given)
    assert [entry.number for entry in register.check()] == list(range(1, 4 if last == 2 else 3))
    assert judged(register, SECOND).releases[-1] == (3 if last == 2 else 2)


def test_many_may_enter_at_once(register: Register) -> None:
    first = register.path.parent / "first.csv"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: Register(register.path).add(first, POLICY), range(6)))
    assert [entry.number for entry in register.check()] == list(range(1, 8))


def test_no_register_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="no register"):
        Register(tmp_path).entries()
    with pytest.raises(InvalidParameter, match="one of them is missing"):
        Register(tmp_path / "new").add(written(tmp_path / "first.csv", FIRST), POLICY, key=KEY)


@pytest.mark.parametrize("seed", range(5))
def test_random_releases_agree_with_plain_loops(tmp_path: Path, seed: int) -> None:
    """Four releases of a changing town, each in random classes of ages."""
    random = np.random.default_rng(seed)
    names = [f"p{number}" for number in range(16)]
    ages = dict(zip(names, random.integers(0, 12, 16).tolist(), strict=True))
    ill = {name: f"d{random.integers(0, 4)}" for name in names}
    register = Register(tmp_path / "register")
    shown: list[dict[str, set[str]]] = []
    for quarter in range(4):
        there = [name for name in names if random.random() < 0.8]
        borders = [0, *sorted(random.choice(np.arange(1, 12), 3, replace=False).tolist()), 12]
        label = {name: max(border for border in borders if border <= ages[name]) for name in there}
        text = {low: f"[{low}, {borders[borders.index(low) + 1] - 1}]" for low in borders[:-1]}
        release = {"age": [text[label[name]] for name in there], "dx": [ill[name] for name in there]}
        original = pa.table(
            {"name": there, "age": [ages[name] for name in there], "dx": [ill[name] for name in there]}
        )
        sets = {name: {ill[other] for other in there if label[other] == label[name]} for name in there}
        if quarter == 3:
            judgement = register.judge(pa.table(release), POLICY, original=original, person="name", key=KEY)
            several = [name for name in there if any(name in earlier for earlier in shown)]
            before = {
                name: set.intersection(*(earlier[name] for earlier in shown if name in earlier))
                for name in several
            }
            left = {name: before[name] & sets[name] for name in several}
            (result,) = judgement.results
            assert result.tries == len(several)
            assert result.successes == sum(left[name] == {ill[name]} for name in several)
            narrowed = sum(len(left[n]) < 2 and len(left[n]) < len(before[n]) for n in several)
            assert judgement.narrowed == {"dx": narrowed}
            changed = [n for n in several if any(e[n] != sets[n] for e in shown if n in e)]
            assert judgement.changed == {"dx": len(changed)}
        else:
            file = written(tmp_path / f"{quarter}.csv", release)
            register.add(file, POLICY, original=original, person="name", key=KEY)
            shown.append(sets)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_command_line(register: Register, tmp_path: Path) -> None:
    folder, people, second = register.path, tmp_path / "people.csv", tmp_path / "second.csv"
    (tmp_path / "key").write_text(KEY)
    save(POLICY, tmp_path / "policy.toml")
    with_register = ["--register", folder, "--register-key", tmp_path / "key", "--register-person", "name"]
    audit = ["audit", second, "--policy", tmp_path / "policy.toml", "--register-original", people]
    told = json.loads(run(*audit, *with_register, "--json"))
    assert told["register"]["narrowed"] == {"dx": 2}
    assert "register" not in json.loads(run("audit", second, "-p", tmp_path / "policy.toml", "--json"))
    assert "for 2 of the people" in " ".join(run(*audit, *with_register, "--brief").split())
    people_options = ["--original", people, "--person", "name", "--key-file", tmp_path / "key"]
    run("register", "add", folder, second, "-p", tmp_path / "policy.toml", *people_options)
    assert "second.csv" in run("register", "list", folder)
    assert json.loads(run("register", "show", folder, 2, "--json"))["entries"][0]["persons"] == 6
    run("register", "withdraw", folder, 2, "--reason", "Cem and Dora", "--unseen")
    entries = json.loads(run("register", "check", folder, "--json"))["entries"]
    assert [entry["kind"] for entry in entries] == ["release", "release", "withdrawal"]


def test_a_release_that_narrows_too_much_is_not_written(tmp_path: Path) -> None:
    """Pairs were published: (21, 23), (27, 31), (35, 39). Classes of three cut through the second."""
    (tmp_path / "key").write_text(KEY)
    save(POLICY, tmp_path / "policy.toml")
    people, output = written(tmp_path / "people.csv", PEOPLE), tmp_path / "new.csv"
    register = Register(tmp_path / "register")
    second = written(tmp_path / "second.csv", SECOND)
    register.add(second, POLICY, original=people, person="name", key=KEY)
    options = ["--register", register.path, "--register-key", tmp_path / "key", "--register-person", "name"]
    command = ["anonymize", people, "-p", tmp_path / "policy.toml", "-o", output, "--quiet"]
    with pytest.raises(RequirementNotMet, match="fewer than 2 possible values of dx for 2 of"):
        run(*command, *options)
    assert not output.exists()
    with pytest.raises(InvalidParameter, match="by its key"):
        run(*command, "--register", register.path)
    (tmp_path / "another").write_text("another key that nobody will guess")
    wrong = [*options[:2], "--register-key", tmp_path / "another", *options[4:]]
    with pytest.raises(RequirementNotMet, match=r"no earlier release \(1\) can be judged"):
        run(*command, *wrong)
    assert not output.exists()
    run(*command, *options, "--values-left", 1)
    assert output.exists()
    run(*command, *wrong, "--acknowledge", "a first release under a new key")
    run(*command, *options, "--acknowledge", "both agreed")
    (register.path / "0001.toml").unlink()
    output.unlink()
    with pytest.raises(UnreadableInput):
        run(*command, *options)
    assert not output.exists()


# ── how the risk of people adds up ────────────────────────────────────────────────────────────────────


def test_the_timeline_counts_whom_all_releases_so_far_leave_one_value(register: Register) -> None:
    people = register.path.parent / "people.csv"
    register.add(
        register.path.parent / "second.csv", POLICY, original=people, person="name", key=KEY, audience="press"
    )
    register.add(register.path.parent / "first.csv", POLICY)
    told = register.timeline()
    # Cem is left with gout and Dora with angina; the others are left with two by the second.
    assert [(point.number, point.people, point.one, point.alone, point.two) for point in told.points] == [
        (1, 6, 0, 0, 0),
        (2, 6, 2, 0, 4),
    ]
    assert told.unjudged == (3,)
    register.withdraw(2, "nobody had it", unseen=True)
    assert [point.number for point in register.timeline().points] == [1]


def test_the_timeline_is_what_sets_say() -> None:
    """Plain sets, person by person."""
    chance = np.random.default_rng(1)
    values = ("a", "b", "c", "d")
    for _ in range(50):
        releases: dict[int, dict[str, set[str]]] = {}
        for number in range(1, 5):
            inside = sorted(f"p{i}" for i in range(30) if chance.random() < 0.7)
            releases[number] = {name: {v for v in values if chance.random() < 0.6} for name in inside}
        known = {
            number: PeopleOfRelease(
                tuple(shown),
                {
                    "dx": Candidates(
                        values, np.array([[v in some for v in values] for some in shown.values()])
                    )
                },
            )
            for number, shown in releases.items()
        }
        entries = [RegisterEntry(number, "release", f"2026-0{number}-01") for number in releases]
        for point in timeline_of(entries, known).points:
            so_far = [shown for number, shown in releases.items() if number <= point.number]
            everybody = set().union(*so_far)
            shown_of = {name: [one[name] for one in so_far if one.get(name)] for name in everybody}
            left = {name: set.intersection(*some) for name, some in shown_of.items() if some}
            single = {name for name, some in left.items() if len(some) == 1}
            assert point.people == len(everybody)
            assert (point.one, point.two) == (len(single), sum(len(some) == 2 for some in left.values()))
            assert point.alone == sum(any(len(one) == 1 for one in shown_of[name]) for name in single)


def test_the_timeline_is_printed_and_drawn(register: Register, tmp_path: Path) -> None:
    picture = tmp_path / "timeline.svg"
    given = ["register", "timeline", str(register.path), "--chart", str(picture)]
    printed = CliRunner().invoke(cli, given)
    assert printed.exit_code == 0, printed.output
    assert "leaves everybody at least two possible values" in " ".join(printed.output.split())
    assert picture.read_text("utf-8").startswith("<svg")
    told = json.loads(CliRunner().invoke(cli, [*given[:3], "--json"]).output)
    assert (told["schema"], told["points"][0]["people"]) == ("discreet-timeline-1", 6)


# ── certificates ──────────────────────────────────────────────────────────────────────────────────────


def certified(register: Register, *more: object) -> tuple[int, str]:
    page = register.path.parent / "certificate.html"
    words = ["register", "certificate", str(register.path), "1", "-o", str(page), *map(str, more)]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, page.read_text("utf-8")


def test_a_certificate_says_what_is_known_and_shows_no_value(register: Register) -> None:
    folder = register.path.parent
    second = {"original": folder / "people.csv", "person": "name", "key": KEY}
    register.add(folder / "second.csv", POLICY, **second)  # type: ignore[arg-type]
    code, page = certified(register, "--release", folder / "first.csv")
    entry = register.show(1)
    assert code == 0
    for told in (entry.sha256, entry.policy_sha256, entry.people_sha256, entry.hash, entry.time, "first.csv"):
        assert told in page
    assert "The file is the published one" in page
    # What later releases add is not held against the first; with both, Cem and Dora are given away.
    assert "leaves everybody at least two possible values" in page
    assert "33.3%" in register_page(register, 2)
    for text in (*PEOPLE["name"], *PEOPLE["dx"], "[20, 29]", KEY):
        assert f">{text}<" not in page
    code, page = certified(register, "--release", folder / "second.csv")
    assert (code, "This file is not the one that was published" in page) == (1, True)


def register_page(register: Register, number: int) -> str:
    return render_certificate(register.certificate(number))


def test_a_certificate_says_of_a_withdrawal_what_it_means(register: Register) -> None:
    register.withdraw(1, "a <column> too many")
    told = register.certificate(1)
    assert (told.holds, told.latest, told.unchanged) == (False, 2, None)
    page = register_page(register, 1)
    assert "a &lt;column&gt; too many" in page
    assert "it still counts" in page
    # German to its end: what has no translation would be marked.
    german = render_certificate(told, language="de")
    assert "Veröffentlicht und zurückgezogen" in german
    assert 'lang="en"' not in german


def test_no_certificate_of_a_register_that_was_changed(register: Register) -> None:
    kept = register.path / "0001.people.parquet"
    kept.write_bytes(kept.read_bytes()[:-1])
    with pytest.raises(UnreadableInput, match="cannot be trusted"):
        certified(register)
    assert not (register.path.parent / "certificate.html").exists()
