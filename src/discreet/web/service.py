"""The verbs on cases and their jobs, for the page and the REST interface alike."""

from __future__ import annotations

import errno
import math
import os
import shutil
import threading
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, cast

from starlette.concurrency import run_in_threadpool

from discreet.errors import InvalidParameter
from discreet.example import write_example
from discreet.files.reading import check_regular
from discreet.files.writing import write_text
from discreet.reports.words import Edition
from discreet.sentences import Sentence, loads
from discreet.web.api.parameters import Parameters, ReadParameters, ReportParameters
from discreet.web.bundle import write_bundle
from discreet.web.cases import Case, Cases
from discreet.web.downloads import DOWNLOADS, DRAWN_LATER, Download, download_of, stem_of
from discreet.web.jobs import parsed_table
from discreet.web.jobs.kinds import KINDS, JobKind
from discreet.web.jobs.ready import swap_releases
from discreet.web.jobs.scheduler import Job, Jobs, task_folders
from discreet.web.jobs.worker import READY, RESULT, ROWS, Task
from discreet.web.policies import fingerprint, policy_of, policy_problems, policy_text, replace_policy
from discreet.web.refusals import ProblemDetails, Refusal, not_found
from discreet.web.settings import Settings
from discreet.web.together import (
    check_members,
    fingerprint_of_members,
    policies_as_text,
    remember_members,
)

LOOKED_AT = 16 << 20
"""So much of an upload arrives before the disk is looked at again."""
KEPT_RESULTS = 3
"""So many results of a kind of job are kept, the newest ones."""
ExampleName = Literal["residents", "visits"]


class Service:
    """All cases of a server with their jobs."""

    def __init__(self, settings: Settings, kinds: dict[str, JobKind] | None = None) -> None:
        self.settings = settings
        self.kinds = KINDS if kinds is None else kinds
        self.cases = Cases()
        self.jobs = Jobs(workers=settings.workers, finish=self._finish)
        self._of_case: dict[str, list[Job]] = {}
        self._drawing = threading.Lock()
        self._closing = threading.Event()

    def close(self) -> None:
        """Stop all work and wipe everything."""
        self._closing.set()
        self.jobs.close()
        self.cases.wipe()

    def sweep(self) -> None:
        """Remove the cases that nobody has used for the stated time."""
        latest = time.time() - self.settings.keep_hours * 3600
        # Whoever uses tables together uses each of them.
        for case in self.cases:
            for member in (other for other in self.cases if other.id in case.members):
                member.used = max(member.used, case.used)
        for case in self.cases:
            if case.used < latest and not any(job.active for job in self.jobs_of(case)):
                self.remove(case)

    # ── tables ────────────────────────────────────────────────────────────────────────────────────

    async def upload(self, name: str, length: int | None, chunks: AsyncIterator[bytes]) -> Case:
        """Store an uploaded table piece by piece as it arrives; if it fails, nothing of it stays."""
        self._refuse_large(length or 0)
        if length is not None and length > shutil.disk_usage(self.cases.root).free:
            raise _no_space()
        self._refuse_full(length or 0)
        case = self.cases.create(name, "upload")
        try:
            received = looked = 0
            with case.source.open("xb") as file:
                async for chunk in chunks:
                    received += len(chunk)
                    self._refuse_large(received)
                    await run_in_threadpool(file.write, chunk)
                    if received - looked > LOOKED_AT:
                        looked = received
                        await run_in_threadpool(self._refuse_full)
                file.flush()
            self._refuse_full()
        except OSError as error:
            self.cases.remove(case)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise _no_space() from None
            raise
        except BaseException:
            self.cases.remove(case)
            raise
        return case

    def _refuse_large(self, size: int) -> None:
        if size > self.settings.max_size:
            raise Refusal(
                413,
                "too-large",
                Sentence(
                    "the file is larger than {max_size}, which this server takes at most",
                    max_size=Sentence(size_in_words(self.settings.max_size)),
                ),
                "name its path instead, or start the server with a larger --max-size",
            )

    def _refuse_full(self, more: int = 0) -> None:
        """Refuse what would make all tables together larger than they may be."""
        if self.cases.size() + more > self.settings.max_disk:
            raise Refusal(507, *self._full())

    def _full(self) -> tuple[str, str, str]:
        """What is said when all tables together take more than they may."""
        most = size_in_words(self.settings.max_disk)
        return (
            "no-space",
            Sentence(
                "the tables on this page would take more than {most}, which this server keeps at most",
                most=Sentence(most),
            ),
            "wipe a table, or start the server with a larger --max-disk",
        )

    def check_disk(self) -> None:
        """Stop the newest job while jobs take more of the disk than they may."""
        jobs = [job for case in self.cases for job in self.jobs_of(case) if job.active]
        if jobs and self.cases.size() > self.settings.max_disk:
            self.jobs.fail(max(jobs, key=lambda job: job.created), ProblemDetails(*self._full()))

    def from_path(self, text: str) -> Case:
        """A case of a file on this machine, which is read where it is."""
        # Of a user whom the machine does not know there is no folder.
        path = Path(os.path.expanduser(text))
        if "\0" in text or not path.is_absolute():
            raise InvalidParameter(
                "the path is not a full path", remedy="write it from the root, e.g. /data/a.csv"
            )
        check_regular(path)
        return self.cases.create(path.name, "path", path)

    def example(self, name: ExampleName) -> Case:
        """A case of a table of the made-up town."""
        case = self.cases.create(f"{name}.csv", "example")
        folder = case.folder / "town"
        write_example(folder)
        os.replace(folder / f"{name}.csv", case.source)
        shutil.rmtree(folder)
        return case

    def together(self, tables: Sequence[str]) -> Case:
        """A case of several tables about the same people."""
        cases = [self.cases.get(table) for table in tables]
        check_members(cases)
        case = self.cases.create(" + ".join(stem_of(each.label) for each in cases), "together")
        remember_members(case, cases)
        return case

    def remove(self, case: Case) -> None:
        """Cancel the jobs of a case and remove it, and what was made of it together with others."""
        for other in self.cases:
            if case.id in other.members:
                self.remove(other)
        with case.lock:
            for job in self._of_case.pop(case.id, []):
                self.jobs.cancel(job)
            self.cases.remove(case)

    # ── jobs ──────────────────────────────────────────────────────────────────────────────────────

    def start(
        self,
        case: Case,
        kind: str,
        given: dict[str, Any] | Parameters | None = None,
        *,
        of: Job | None = None,
        then: str | None = None,
    ) -> Job:
        """Start a job. One of the same kind that is under way is cancelled: the newer one counts. One that spends is not: it is waited for.

        ``of`` is a finished job by whose policy it is to work; ``then`` is the kind of job that shall follow it.
        """
        wanted = self.kinds.get(kind)
        if wanted is None:
            raise not_found("kind of job")
        parameters = given if isinstance(given, Parameters) else wanted.parameters.checked(given or {})
        with case.lock:
            # It may have been removed meanwhile.
            self.cases.get(case.id)
            if wanted.needs_policy:
                policy_text(case)
            self._refuse_full()
            self._refuse_other_shape(case, wanted)
            base = self._base(case, wanted) if wanted.base and of is None else of
            # What rests on another reading of the file is of no use.
            replaced = [job for job in self.jobs_of(case) if kind in ("read", job.kind)]
            self._refuse_waste(replaced)
            for job in replaced:
                self.jobs.cancel(job)
            job = self._job(case, kind, parameters, base)
            job.then = then or wanted.then
            if isinstance(parameters, ReadParameters) and parameters.suggest:
                case.being_replaced = lambda: job.active
            self._of_case.setdefault(case.id, []).append(job)
            case.shape = wanted.shape or case.shape
            return self.jobs.submit(job)

    def _refuse_other_shape(self, case: Case, kind: JobKind) -> None:
        """Refuse what is for one table where there are several, and the other way round."""
        wanted = self.kinds[kind.base].shape if kind.base else kind.shape
        if (wanted == "tables") != bool(case.members) and (wanted is not None or case.members):
            raise Refusal(
                409,
                "not-ready",
                "there are several tables" if case.members else "there is only one table",
                "see the reference of the interface",
            )

    def _refuse_waste(self, replaced: Sequence[Job]) -> None:
        """Refuse to cancel a job whose amount would stay spent, with nothing to show for it."""
        for job in replaced:
            if job.active and self.kinds[job.kind].spends:
                raise Refusal(
                    409,
                    "not-ready",
                    Sentence(
                        "the job {kind!r} is under way, and what it spends would be lost", kind=job.kind
                    ),
                    "wait until it is done, or cancel it",
                )

    def _job(self, case: Case, kind: str, parameters: Parameters, base: Job | None) -> Job:
        """A job with its folders and its copy of the policy."""
        name = f"{kind}-{time.time_ns()}"
        policy = case.snapshot(name) if base is None else base.task.policy
        if case.members and base is None:
            write_text(policy, policies_as_text(case))
        task = Task(
            self.kinds[kind].function,
            case.folder,
            case.source,
            case.label,
            policy,
            case.folder / "jobs" / name,
            case.folder / "scratch" / name,
            parameters,
            case.language,
            base.task.out if base else None,
        )
        task_folders(task.out, task.scratch)
        works_by = (
            fingerprint_of_members(case) if case.members else fingerprint(policy, plan=self.kinds[kind].plan)
        )
        return Job(kind, case.id, task, works_by)

    def _base(self, case: Case, kind: JobKind) -> Job:
        """The newest result that a kind of job works on."""
        job = self.latest(case, str(kind.base), done=True)
        if job is None:
            raise Refusal(
                409,
                "not-ready",
                "there is no release yet" if kind.base == "anonymize" else "there is no verdict yet",
                Sentence("run the job {kind!r} first", kind=kind.base),
            )
        return job

    def _finish(self, job: Job) -> None:
        """Move what a job left for the whole case into the case, and start the job that follows by itself."""
        case = self.cases.get(job.case)
        with case.lock:
            if job.kind == "read":
                for name in ("columns.json", ROWS, "policy.toml"):
                    if (job.task.out / name).exists():
                        os.replace(job.task.out / name, case.folder / name)
                parsed_table.take_over(job.task.out, case.folder)
            self._prune(case, job.kind)
            following = job.then
            if following is not None and following in self.kinds and not policy_problems(case):
                # What there is no room for is refused again when somebody asks for it.
                with suppress(Refusal):
                    # Nobody sees the job as done yet, so that what rests on it has to be told.
                    rests = self.kinds[following].base == job.kind
                    self.start(case, following, of=job if rests else None)

    def _prune(self, case: Case, kind: str) -> None:
        """Remove the results before the newest ones of a kind: releases can be large."""
        done = [job for job in self.jobs_of(case) if job.kind == kind and job.state == "done"]
        for job in done[: 1 - KEPT_RESULTS]:
            self._of_case[case.id].remove(job)
            shutil.rmtree(job.task.out, ignore_errors=True)

    def jobs_of(self, case: Case) -> list[Job]:
        """All jobs of a case, the oldest first."""
        return list(self._of_case.get(case.id, ()))

    def job(self, case: Case, identifier: str) -> Job:
        """The job of a case with this identifier."""
        for job in self.jobs_of(case):
            if job.id == identifier:
                return job
        raise not_found("job")

    def latest(self, case: Case, kind: str, *, done: bool = False) -> Job | None:
        """The newest job of a kind, or the newest one that is done."""
        jobs = [job for job in self.jobs_of(case) if job.kind == kind and (job.state == "done" or not done)]
        return jobs[-1] if jobs else None

    def outdated(self, case: Case, job: Job) -> bool:
        """Whether the policy has changed since the job began, or what it worked on is no longer the newest."""
        kind = self.kinds[job.kind]
        if kind.base is not None:
            newest = self.latest(case, kind.base, done=True)
            return newest is None or newest.task.out != job.task.base or self.outdated(case, newest)
        if case.members:
            return job.policy != fingerprint_of_members(case)
        return kind.needs_policy and job.policy != fingerprint(case.policy_file, plan=kind.plan)

    def wait(self, job: Job, seconds: float = math.inf) -> None:
        """Wait until a job has ended, at most so long."""
        end = time.monotonic() + seconds
        while job.active and time.monotonic() < end and not self._closing.wait(0.02):
            pass

    def document(self, job: Job, name: str = RESULT) -> Any:
        """What a finished job left as JSON."""
        if job.state != "done":
            raise Refusal(
                409,
                "not-ready",
                Sentence("the job is {state}", state=Sentence(job.state)),
                "its result is there once it is done",
            )
        return loads((job.task.out / name).read_text(encoding="utf-8"))

    def choose(self, case: Case, place: int) -> Job:
        """Make another of the releases that were found the newest one; what was tried on it follows by itself."""
        with case.lock:
            made = self.latest(case, "anonymize", done=True)
            if made is None or not (made.task.out / READY / str(place)).is_dir():
                raise not_found("release")
            job = self._job(case, "anonymize", cast(Parameters, made.task.parameters), made)
            swap_releases(made.task.out, job.task.out, place)
            shutil.rmtree(job.task.scratch, ignore_errors=True)
            job.state, job.started, job.ended = "done", job.created, time.time()
            self._of_case[case.id].append(job)
            self._prune(case, "anonymize")
            self.start(case, "evidence")
            return job

    # ── policy ────────────────────────────────────────────────────────────────────────────────────

    def put_policy(self, case: Case, text: str, seen: Collection[str] | None = None) -> list[str]:
        """Replace the policy; if the new one says to read the file in another way, it is read anew.

        With ``seen`` only a policy with one of these marks is replaced.
        """
        with case.lock:
            before = policy_of(case).read
            problems = replace_policy(case, text, seen)
            if policy_of(case).read != before:
                self.start(case, "read", {"suggest": False})
            return problems

    # ── downloads ─────────────────────────────────────────────────────────────────────────────────

    def download(self, case: Case, what: str, *, for_people: bool = False) -> Download:
        """The file of a download: ``policy``, or of the newest release ``bundle``, ``release``, ``codebook``, ``recipe``,
        ``report``, ``report-public``, ``release-policy``; of the newest audit ``audit-report``, ``audit-report-public``;
        of the newest evidence
        ``evidence-report``, ``evidence-report-public``, ``evidence``; of the newest frontier ``frontier``; with a guarantee ``tables`` and
        ``artificial``, and their statements ``tables-guarantee`` and ``artificial-guarantee``."""
        stem = stem_of(case.label)
        if what == "policy":
            policy_text(case)
            return download_of(case.policy_file, f"{stem}-policy.toml")
        if what == "bundle":
            return self._bundle(case, stem)
        kind, file, name = DOWNLOADS.get(what, ("", "", ""))
        if not kind:
            raise not_found("download")
        job = self.latest(case, kind, done=True)
        if job is None:
            raise Refusal(
                409,
                "not-ready",
                "there is nothing to download yet",
                Sentence("run the job {kind!r} first", kind=kind),
            )
        if what in DRAWN_LATER:
            # Whoever has changed the language of the page wants the report in that one.
            file = f"{Path(file).stem}-{case.language}.html"
            self._draw(case, job, job.task.out / file, DRAWN_LATER[what])
        paths = sorted(job.task.out.glob(file))
        if for_people and what in ("release", "baskets"):
            paths = sorted(job.task.out.glob(f"{what}-for-people.*")) or paths
        if not paths:
            raise not_found("download")
        return download_of(paths[0], f"{stem}-{name}{paths[0].suffix}")

    def _bundle(self, case: Case, stem: str) -> Download:
        """Everything about the newest release that there is by now, in one file."""
        made = self.latest(case, "anonymize", done=True)
        if made is None:
            raise Refusal(
                409,
                "not-ready",
                "there is no release yet",
                Sentence("run the job {kind!r} first", kind="anonymize"),
            )
        proof = self.latest(case, "evidence", done=True)
        tried = proof is not None and proof.task.base == made.task.out
        with self._drawing:
            target = write_bundle(
                made.task.out, proof.task.out if proof and tried else None, stem, case.language
            )
        return download_of(target, f"{stem}-bundle.zip")

    def _draw(self, case: Case, audit: Job, target: Path, edition: Edition) -> None:
        """Draw the report of an audit in a job, and wait for it."""
        with self._drawing:
            if target.exists():
                return
            detail = audit.task.parameters.model_dump().get("detail", "full")
            job = self.start(case, "report", ReportParameters(edition=edition, detail=detail), of=audit)
            self.wait(job)
            if job.state != "done":
                problem = job.problem or ProblemDetails(
                    "not-ready", "drawing the report was cancelled", "ask again"
                )
                raise Refusal(409, problem.code, problem.message, problem.remedy)
            os.replace(job.task.out / "report.html", target)


def _no_space() -> Refusal:
    return Refusal(
        507,
        "no-space",
        "there is no room on the disk for this file",
        "make room, or name the file's path instead of uploading it",
    )


def size_in_words(size: int) -> str:
    """A number of bytes in words.

    >>> size_in_words(4 << 30), size_in_words(500 << 20), size_in_words(10)
    ('4 GB', '500 MB', '10 bytes')
    """
    for unit, power in (("GB", 30), ("MB", 20), ("KB", 10)):
        if size >= 1 << power:
            return Sentence("{size:.3g} {unit}", size=size / (1 << power), unit=unit)
    return Sentence("{size} bytes", size=size)
