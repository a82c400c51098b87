"""The verbs about the register of releases as jobs: a release judged together with earlier ones, and entered."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import cast

from discreet.files.keys import read_key
from discreet.register import Judgement
from discreet.reports.words import between, percent
from discreet.sentences import Sentence
from discreet.web.api.parameters import EntryParameters, RegisterParameters
from discreet.web.jobs.parsed_table import open_case
from discreet.web.jobs.worker import RESULT, VIEW, JobProgress, Task
from discreet.web.registers import RegisterPlace


def judge(task: Task, progress: JobProgress) -> None:
    """Lay the release over all that are entered."""
    asked = cast(RegisterParameters, task.parameters)
    place = RegisterPlace.of(asked.folder, asked.key_file)
    original, policy = open_case(task, progress)
    progress("reading the register")
    judgement = place.register.judge(
        _release(task),
        policy,
        original=original,
        key=read_key(place.key_file),
        person=asked.person,
    )
    task.write(RESULT, judgement.to_dict())
    task.write(VIEW, {"verb": "judged", **_shown(judgement)})


def enter(task: Task, progress: JobProgress) -> None:
    """Enter the release, under the name that it is handed out by."""
    asked = cast(EntryParameters, task.parameters)
    place = RegisterPlace.of(asked.folder, asked.key_file)
    key = read_key(place.key_file)
    original, policy = open_case(task, progress)
    release = _release(task)
    handed_out = [*release.parent.glob("release-for-people.*"), release][0]
    published = task.scratch / f"{Path(task.label).stem}-release{handed_out.suffix}"
    shutil.copyfile(handed_out, published)
    progress("entering the release")
    entry = place.register.add(
        release,
        policy,
        original=original,
        person=asked.person,
        key=key,
        audience=asked.audience,
        published=published,
    )
    task.write(RESULT, entry.to_dict())
    task.write(VIEW, {"verb": "entered", "number": entry.number, "people": f"{entry.persons:,}"})


def _release(task: Task) -> Path:
    assert task.base is not None, "these kinds of job follow a release"
    [file] = task.base.glob("release.*")
    return file


def _shown(judgement: Judgement) -> dict[str, object]:
    """What a judgement says, and by which attribute."""
    known = bool(judgement.releases)
    return {
        "tone": "warn" if not known else "good" if judgement.holds else "bad",
        "says": judgement.says
        if known
        else Sentence("No earlier release was entered with its people: there is nothing to judge it with."),
        "attacks": [
            {
                "name": result.target,
                "meaning": result.meaning,
                "rate": percent(result.rate),
                "interval": between(percent(result.low), percent(result.high)),
                "baseline": percent(result.baseline),
            }
            for result in judgement.results
        ],
        "notes": judgement.notes,
    }
