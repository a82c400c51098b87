"""Files: results are written whole or not at all, take the place of nothing that is read, and only files are read."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.errors import DiscreetError, InvalidParameter, InvalidPolicy, UnreadableInput
from discreet.files.reading import TEXT_BYTES, check_regular, read_text
from discreet.files.writing import atomically, pair_atomically, refuse_clashes, same_file, write_text
from discreet.policy import load
from discreet.release.profile import load_profile
from discreet.release.write import write_rows
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.recipe import Recipe

Run = Callable[..., Any]

PEOPLE = "age,sex,ill\n" + "".join(f"{30 + i % 2},{'fm'[i % 2]},{'ab'[i // 2 % 2]}\n" for i in range(40))
POLICY = """
profile = "research-partner-3"
[columns.age]
role = "quasi-identifier"
hierarchy = "ages.csv"
[columns.sex]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 3
"""


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# ── written whole or not at all ───────────────────────────────────────────────────────────────────────


def test_threads_that_write_to_one_path_never_mix(tmp_path: Path) -> None:
    """Each writes its letter a million times in pieces; whatever is read is one letter only."""
    target = tmp_path / "out.csv"
    together = threading.Barrier(4)

    def write(part: Path, letter: str) -> None:
        with part.open("w") as file:
            for _ in range(50):
                file.write(letter * 20_000)
                file.flush()

    def whole(part: Path) -> None:
        text = part.read_text()
        assert (len(text), len(set(text))) == (1_000_000, 1)

    failed: list[BaseException] = []

    def save(letter: str) -> None:
        try:
            for _ in range(5):
                together.wait()
                atomically(target, lambda part: write(part, letter), whole)
        except BaseException as error:
            failed.append(error)
            together.abort()

    threads = [threading.Thread(target=save, args=[letter]) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    whole(target)
    assert names(tmp_path) == {"out.csv"}


def test_nothing_that_is_there_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who guesses the temporary name and puts a link there gets nothing."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / ".discreet-0000000000000000.part.csv").symlink_to(victim)
    monkeypatch.setattr("discreet.files.writing.secrets.token_hex", lambda n: "0" * 2 * n)
    with pytest.raises(UnreadableInput, match=r"out.csv could not be written"):
        write_text(tmp_path / "out.csv", "x")
    assert victim.read_text() == "mine"


def test_what_was_verified_is_what_is_put_in_place(tmp_path: Path) -> None:
    def swap(part: Path) -> None:
        part.unlink()
        part.write_text("other")

    with pytest.raises(UnreadableInput, match="could not be written"):
        atomically(tmp_path / "out.csv", lambda part: part.write_text("x"), swap)
    assert names(tmp_path) == set()


EXCHANGED = """
import os, sys
from pathlib import Path
from discreet.files import writing

left = int(sys.argv[2])

def dying(move):
    def moved(*paths):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        move(*paths)
    return moved

writing.os.replace = dying(os.replace)
rows, values = Path(sys.argv[1], "rows.csv"), Path(sys.argv[1], "values.csv")
write = lambda first, second: (first.write_text("new"), second.write_text("new"))
writing.pair_atomically(rows, values, write, lambda first, second: None)
"""


@pytest.mark.parametrize("moves", range(5))
def test_a_kill_leaves_no_two_files_that_do_not_belong_together(tmp_path: Path, moves: int) -> None:
    """Killed before each of the moves by which a pair is exchanged; there are three."""
    targets = [tmp_path / "rows.csv", tmp_path / "values.csv"]
    for target in targets:
        target.write_text("old")
    ended = subprocess.run([sys.executable, "-c", EXCHANGED, str(tmp_path), str(moves)], check=False)
    left = [target.read_text() if target.exists() else "gone" for target in targets]
    assert (ended.returncode, left) == {
        0: (9, ["old", "old"]),
        1: (9, ["gone", "old"]),
        2: (9, ["gone", "new"]),
    }.get(moves, (0, ["new", "new"]))
    write_text(tmp_path / "other.txt", "x")
    assert names(tmp_path) == {"other.txt", *(t.name for t in targets if t.exists())}


def test_a_pair_of_which_one_cannot_be_exchanged_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = [tmp_path / "rows.csv", tmp_path / "values.csv"]
    for target in targets:
        target.write_text("old")
    move = os.replace

    def refused(source: Path, target: Path) -> None:
        if Path(target) == targets[1]:
            raise PermissionError(1, "not yours")
        move(source, target)

    monkeypatch.setattr("discreet.files.writing.os.replace", refused)
    with pytest.raises(UnreadableInput, match=r"rows.csv or values.csv could not be written \(not yours\)"):
        pair_atomically(
            *targets, lambda *parts: [part.write_text("new") for part in parts], lambda *parts: None
        )
    assert [target.read_text() for target in targets] == ["old", "old"]
    assert names(tmp_path) == {"rows.csv", "values.csv"}


KILLED = (
    "import sys, time\nfrom pathlib import Path\nfrom discreet.files.writing import atomically\n"
    "def write(part):\n    part.write_text('half')\n    print('written', flush=True)\n    time.sleep(600)\n"
    "atomically(Path(sys.argv[1]), write)"
)


@pytest.mark.skipif(sys.platform == "win32", reason="locks of this kind are those of Unix")
def test_the_next_run_removes_what_a_kill_left_and_nothing_that_is_in_use(tmp_path: Path) -> None:
    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path / "out.csv")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        return process

    killed = start()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    left = names(tmp_path)
    assert len(left) == 1
    running = start()
    try:
        used = names(tmp_path) - left
        assert len(used) == 1, "only the one that is running has a file"
        (tmp_path / ".discreet-notes.part").write_text("somebody's own")
        write_text(tmp_path / "other.txt", "x")
        assert names(tmp_path) == used | {"other.txt", ".discreet-notes.part"}
    finally:
        running.kill()
        running.wait()


def test_rows_of_a_spreadsheet_lie_in_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    seen: list[Path] = []

    def look(*_: object) -> str:
        seen.extend(path for path in scratch.rglob("*") if path.is_file())
        return "text"

    monkeypatch.setattr("discreet.release.write._escaped", look)
    write_rows(pa.table({"a": ["x", "y"]}), tmp_path / "out.xlsx")
    assert {path.name for path in seen} == {"lock", "sheet.xml"}
    assert all(path.parent.name.startswith("discreet-rows-") for path in seen)
    assert list(scratch.iterdir()) == []


def test_permissions_of_what_is_replaced_stay(tmp_path: Path) -> None:
    target = tmp_path / "key.txt"
    target.write_text("old")
    target.chmod(0o600)
    write_text(target, "new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_stays_a_link_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "out.csv"
    link.symlink_to(tmp_path / "real" / "release.csv")
    write_text(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "real" / "release.csv").read_text() == "new"
    assert names(tmp_path / "real") == {"release.csv"}


def test_the_link_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "out.csv"
    link.symlink_to(tmp_path / "victim")
    monkeypatch.setattr("discreet.files.writing.os.getuid", lambda: link.lstat().st_uid + 1)
    if link.lstat().st_uid == 0:
        monkeypatch.setattr("discreet.files.writing.SYSTEM", -1)
    with pytest.raises(UnreadableInput, match="link of another user"):
        write_text(link, "x")
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_only_files_are_replaced(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "odd")
    with pytest.raises(UnreadableInput, match="odd is"):
        write_text(tmp_path / "odd", "x")


# ── no output is an input or another output ───────────────────────────────────────────────────────────


def test_files_are_told_apart_by_what_they_are(tmp_path: Path) -> None:
    there = tmp_path / "a.csv"
    there.write_text("x")
    (tmp_path / "soft.csv").symlink_to(there)
    os.link(there, tmp_path / "hard.csv")
    (tmp_path / "folder").symlink_to(tmp_path, target_is_directory=True)
    for name in ("soft.csv", "hard.csv", "folder/a.csv", "folder/folder/a.csv"):
        assert same_file(there, tmp_path / name)
        with pytest.raises(InvalidParameter, match="is a file that is read"):
            refuse_clashes([tmp_path / name], [there])
    assert same_file(tmp_path / "new.csv", tmp_path / "folder" / "new.csv")
    assert not same_file(there, tmp_path / "new.csv")
    with pytest.raises(InvalidParameter, match="written twice"):
        refuse_clashes([tmp_path / "new.csv", None, tmp_path / "folder" / "new.csv"])


CLASHES = {
    "recipe on the policy": ["--recipe", "policy.toml"],
    "release on the hierarchy": ["-o", "ages.csv"],
    "report on the key": ["--report", "key.txt"],
    "report on the profile": ["--report", "own.toml"],
    "report is the release": ["--report", "out.csv"],
    "recipe is the report": ["--report", "page.html", "--recipe", "page.html"],
    "release on the table, by a link": ["-o", "link.csv"],
    "report on the hierarchy, by another name": ["--report", "hard.csv"],
}


@pytest.mark.parametrize("clash", CLASHES)
def test_outputs_replace_no_input(
    clash: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE)
    Path("policy.toml").write_text(POLICY)
    Path("ages.csv").write_text("30;*\n31;*\n")
    Path("key.txt").write_text("k" * 32)
    Path("own.toml").write_text('title="t"\ndescription="d"\nsource="s"\ndate=2024-01-01\n')
    Path("link.csv").symlink_to("people.csv")
    os.link("ages.csv", "hard.csv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    told = run(
        *("anonymize", "people.csv", "-p", "policy.toml", "--profile", "own.toml", "--key-file", "key.txt"),
        *([] if "-o" in CLASHES[clash] else ["-o", "out.csv"]),
        *CLASHES[clash],
    )
    assert told.code == 2, told.said
    assert "is a file that is read" in told.err or "written twice" in told.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# ── only regular files are read, of a stated size ─────────────────────────────────────────────────────

READERS: dict[str, Callable[[Path], object]] = {
    "policy": load,
    "profile": lambda path: load_profile(str(path)),
    "recipe": Recipe.load,
    "hierarchy": lambda path: Hierarchy.read(path, "age"),
    "text": lambda path: read_text(path, "key file", remedy="x"),
    "table": check_regular,
}


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_or_a_device_is_not_read(reader: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    for path in (pipe, tmp_path / "zero.toml"):
        with pytest.raises((UnreadableInput, InvalidPolicy), match="not a regular file"):
            READERS[reader](path)


@pytest.mark.parametrize(
    "name", ["x" * 300 + ".toml", "a\0b.toml", "\ud800.toml", "none.toml", "file/x.toml"]
)
@pytest.mark.parametrize("reader", READERS)
def test_a_name_that_no_file_has_is_bad_input(reader: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DiscreetError):
        READERS[reader](tmp_path / name)


def test_a_text_is_read_up_to_its_limit(tmp_path: Path) -> None:
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(TEXT_BYTES + 1)
    with pytest.raises(UnreadableInput, match="larger than 16 MB"):
        load(large)


@pytest.mark.parametrize("command", ["audit", "suggest", "check"])
def test_a_pipe_as_table_does_not_hang(command: str, tmp_path: Path, run: Run) -> None:
    os.mkfifo(tmp_path / "people.csv")
    told = run(command, tmp_path / "people.csv", *(["--qi", "age"] if command == "check" else []))
    assert (told.code, "not a regular file" in told.err) == (2, True)


def test_a_policy_that_names_a_pipe_as_hierarchy_does_not_hang(tmp_path: Path, run: Run) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "policy.toml").write_text(POLICY)
    os.mkfifo(tmp_path / "ages.csv")
    told = run(
        "anonymize", tmp_path / "people.csv", "-p", tmp_path / "policy.toml", "-o", tmp_path / "out.csv"
    )
    assert (told.code, "not a regular file" in told.err) == (2, True), told.said
