"""Jobs: progress, queue, cancelling, and processes that die; nothing of a job that did not end well stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from discreet.web.api.parameters import Parameters
from discreet.web.jobs import scheduler
from discreet.web.jobs.scheduler import Job, Jobs, task_folders
from discreet.web.jobs.worker import Task
from helpers.server import wait_for


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs(workers=1)
    yield made
    made.close()


def job(folder: Path, name: str, number: int = 0) -> Job:
    task = Task(
        function=f"helpers.slow_jobs:{name}",
        case=folder,
        source=folder / "table-0badcafe.csv",
        label="people.csv",
        policy=folder / "policy.toml",
        out=folder / "jobs" / f"{name}-{number}",
        scratch=folder / "scratch" / f"{name}-{number}",
        parameters=Parameters(),
    )
    task_folders(task.out, task.scratch)
    return Job(name, "case", task)


def ended(one: Job) -> bool:
    return not one.active


def test_progress_is_kept_and_called_by_the_label(jobs: Jobs, tmp_path: Path) -> None:
    one = jobs.submit(job(tmp_path, "counts"))
    wait_for(lambda: ended(one))
    assert one.state == "done"
    assert list(one.messages) == [f"step {step} of people.csv" for step in range(3)]
    assert one.fraction == pytest.approx(2 / 3)
    assert (one.task.out / "result.json").exists()
    assert not one.task.scratch.exists()
    assert one.seconds > 0


def test_cancelling_ends_the_process_and_leaves_nothing(jobs: Jobs, tmp_path: Path) -> None:
    one = jobs.submit(job(tmp_path, "sleeps"))
    wait_for(lambda: "sleeping" in one.messages)
    process = jobs._running[one.id].process
    assert list(one.task.scratch.rglob("spill"))
    jobs.cancel(one)
    assert one.state == "cancelled"
    wait_for(lambda: not one.task.out.exists() and not one.task.scratch.exists())
    assert not process.is_alive()
    assert one.problem is None
    jobs.cancel(one)
    assert one.state == "cancelled"


def test_at_most_so_many_run_and_the_rest_waits(jobs: Jobs, tmp_path: Path) -> None:
    first = jobs.submit(job(tmp_path, "sleeps"))
    second = jobs.submit(job(tmp_path, "counts", 1))
    third = jobs.submit(job(tmp_path, "counts", 2))
    wait_for(lambda: "sleeping" in first.messages)
    assert (second.state, third.state) == ("queued", "queued")
    jobs.cancel(third)
    assert third.state == "cancelled"
    assert not third.task.out.exists()
    jobs.cancel(first)
    wait_for(lambda: ended(second))
    assert second.state == "done"
    assert third.state == "cancelled"


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("is_killed", "worker-died", "SIGKILL"),
        ("exits", "worker-died", "code 3"),
        ("is_hungry", "out-of-memory", "memory"),
        ("grows", "out-of-memory", "more memory than it was given"),
        ("is_bad", "unreadable-input", "people.csv is no table"),
        ("breaks", "internal", "ValueError"),
    ],
)
def test_what_goes_wrong_is_told_and_the_next_job_runs(
    jobs: Jobs, tmp_path: Path, name: str, code: str, told: str
) -> None:
    one = jobs.submit(job(tmp_path, name))
    wait_for(lambda: ended(one))
    assert one.state == "failed"
    assert one.problem is not None
    assert one.problem.code == code
    assert told in one.problem.message
    assert one.problem.remedy
    assert "Smith" not in str(one.problem.to_dict())
    assert not one.task.out.exists()
    assert not one.task.scratch.exists()
    following = jobs.submit(job(tmp_path, "counts"))
    wait_for(lambda: ended(following))
    assert following.state == "done"


@pytest.mark.parametrize("failure", [OSError, EOFError])
def test_a_process_that_cannot_be_started_is_a_failure(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
) -> None:
    def fail() -> None:
        raise failure

    monkeypatch.setattr(scheduler, "_start", fail)
    stuck = jobs.submit(job(tmp_path, "counts"))
    wait_for(lambda: ended(stuck))
    assert stuck.state == "failed"
    assert stuck.problem is not None
    assert stuck.problem.code == "worker-died"


def test_where_no_copies_can_be_had_processes_are_started_anew(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a temporary folder whose path is longer than that of a socket may be."""

    def too_long() -> None:
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr(scheduler, "_ensure_original", too_long)
    counting = jobs.submit(job(tmp_path, "counts"))
    wait_for(lambda: ended(counting))
    assert counting.state == "done"


@pytest.mark.skipif(not scheduler.COPIED, reason="processes are copies on Linux only")
def test_copies_have_learners_and_templates_already(jobs: Jobs, tmp_path: Path) -> None:
    """To import them takes longer than to learn a small table."""
    telling = jobs.submit(job(tmp_path, "tells_what_it_has"))
    wait_for(lambda: ended(telling))
    assert list(telling.messages) == ["sklearn: True", "splink: True", "jinja2: True"]


def test_a_result_that_cannot_be_taken_over_is_a_failure(tmp_path: Path) -> None:
    def refuse(one: Job) -> None:
        raise OSError("disk")

    jobs = Jobs(workers=1, finish=refuse)
    try:
        one = jobs.submit(job(tmp_path, "counts"))
        wait_for(lambda: ended(one))
        assert one.state == "failed"
        assert one.problem is not None
        assert one.problem.code == "internal"
    finally:
        jobs.close()


def test_a_process_that_stood_ready_and_died_is_replaced(jobs: Jobs, tmp_path: Path) -> None:
    jobs.warm()
    assert jobs._spare is not None
    jobs._spare.process.kill()
    jobs._spare.process.join()
    one = jobs.submit(job(tmp_path, "counts"))
    wait_for(lambda: ended(one))
    assert one.state == "done"


def test_closing_ends_every_process(tmp_path: Path) -> None:
    jobs = Jobs(workers=1)
    one = jobs.submit(job(tmp_path, "sleeps"))
    wait_for(lambda: "sleeping" in one.messages)
    processes = [jobs._running[one.id].process]
    if jobs._spare is not None:
        processes.append(jobs._spare.process)
    jobs.close()
    assert [process.is_alive() for process in processes] == [False] * len(processes)
