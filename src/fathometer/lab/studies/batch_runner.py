"""The runs of a study as jobs of Slurm: submitted, waited for, found again by the next session, cancelled.

    STUDY/jobs/NAME.json        a job: its number, and the folders of its runs; written before it is submitted
    STUDY/jobs/NAME.out         what it has printed
    RUN'S FOLDER/job.json       the name of its job

What becomes of a run: of a job that Slurm cancels, or whose node dies, the run has failed and the study goes on: it
says something of this run only. A job that Slurm refuses or that does not start until the deadline ends the study: the
others would fare no better, and it can go on when that has changed.
"""

from __future__ import annotations

import json
import secrets
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock

from fathometer.base.errors import FathometerError, shortened
from fathometer.base.ledger import now
from fathometer.base.removal import remove_file
from fathometer.lab.studies.batch_script import Batch, batch_script
from fathometer.lab.studies.processes import last_lines
from fathometer.lab.studies.runner import RunToBegin, Tell
from fathometer.lab.studies.single_run import SPEC, Outcome, outcome_in
from fathometer.lab.studies.store import JOBS
from fathometer.launch import slurm_queue
from fathometer.launch.slurm_queue import JobState
from fathometer.storage import atomic
from fathometer.storage.json_text import as_written, json_values

JOB = "job.json"
FILE_SECONDS = (0.1, 2.0)  # between two looks for a result: the first, and the longest
QUEUE_SECONDS = (1.0, 30.0)  # between two questions to Slurm about a job, which serves others too
LATE_SECONDS = 3.0  # in which the result of a job that has ended becomes visible on this host
LAST_CHARACTERS = 300  # of what a job has printed, in the reason of a failure


@dataclass(frozen=True)
class _Job:
    name: str
    runs: Sequence[str]  # folders
    number: str = ""  # Slurm's; "" until it is known
    cancelled: Sequence[str] = ()  # folders of runs that had not ended when the study cancelled it


class BatchRunner:
    """Submits jobs.

    Args:
        folder: of the study. options: further options of sbatch. deadline: s that a job may wait in the queue while no
            other one of the study runs. together: a job for each round, not for each run.
    """

    def __init__(self, folder: Path, options: Sequence[str], deadline: float, together: bool) -> None:
        self._study, self._jobs = folder.absolute(), folder.absolute() / JOBS
        self._options, self._deadline, self.together = options, deadline, together
        self._lock = Lock()
        self._mine: dict[Path, _Job] = {}  # jobs of this session by the folders of their runs
        self._stopped: set[str] = set()  # names
        self._ran = now()  # when a job of this study was last seen to run

    def recover(self) -> None:
        """What an interrupted session has left is ended, or will be found again by `begun`. Jobs of earlier sessions
        go on."""

    def discarded(self, folder: Path) -> bool:
        """Whether a result in this folder is of a run that was ended by an interrupt, and does not count."""
        job = self._job_of(folder)
        return job is not None and str(folder) in job.cancelled

    def begun(self, folder: Path) -> bool:
        """Whether the run in this folder is begun, by this session or an earlier one."""
        with self._lock:
            if folder in self._mine:
                return True
        job = self._job_of(folder)
        if job is None or job.cancelled:
            return False
        if not job.number:  # the session was killed between asking sbatch and noting its answer
            job = replace(job, number=slurm_queue.job_named(job.name) or "")
            if not job.number:
                return False
            self._keep(job)
        state = slurm_queue.state_of(job.number)
        if state is not None and not (state.waits or state.works) and _late_outcome(folder) is None:
            return False  # ended while nobody looked, without a result: it is made anew
        with self._lock:
            self._mine |= {Path(name): job for name in job.runs}
        return True

    def begin(self, runs: Sequence[RunToBegin]) -> None:
        """Begin runs, one after another where they are several: one job for all of them."""
        name = f"fathometer-study-{secrets.token_hex(5)}"
        folders = [one.run.folder for one in runs]
        limits = [one.run.time_limit for one in runs]
        seconds = None if None in limits else sum(limit for limit in limits if limit is not None)
        script = batch_script(
            Batch(
                name=name,
                python=sys.executable,
                study=self._study,
                log=self._jobs / f"{name}.out",
                runs=folders,
                placements=[one.placement for one in runs],
                seconds=seconds,
                options=self._options,
            )
        )
        with atomic.writing(self._jobs):
            self._jobs.mkdir(parents=True, exist_ok=True)
        job = _Job(name, [str(folder) for folder in folders])
        self._keep(job)
        for one in runs:
            atomic.write(one.run.folder / SPEC, one.run.as_json())
            atomic.write(one.run.folder / JOB, json.dumps({"name": name}).encode())
        try:
            number = slurm_queue.submit_script(script)
        except FathometerError as error:
            remove_file(self._jobs / f"{name}.json")
            asked = " ".join(line.split(" ", 1)[1] for line in script.splitlines() if line.startswith("#SBATCH"))
            raise type(error)(f"{error}; found: {asked}; allowed: what Slurm accepts, see [launch] options") from None
        except BaseException:  # an interrupt meanwhile: whether the job is there is not known
            slurm_queue.cancel(filter(None, [_number_of(name)]))
            raise
        job = replace(job, number=number)
        self._keep(job)
        with self._lock:
            self._mine |= dict.fromkeys(folders, job)

    def wait(self, folder: Path, tell: Tell) -> Outcome:
        """How the run in this folder ended. An interrupt cancels the job."""
        with self._lock:
            job = self._mine[folder]
        try:
            return self._wait(folder, job, tell)
        except BaseException:
            self._cancel([job])
            raise

    def stop(self) -> None:
        """End all that is under way."""
        with self._lock:
            jobs = {job.name: job for folder, job in self._mine.items()}
        self._cancel([job for job in jobs.values() if any(outcome_in(Path(name)) is None for name in job.runs)])

    def close(self) -> None:
        """The study's session ends, whether well or not: nothing that it has made for its runs stays."""

    def _wait(self, folder: Path, job: _Job, tell: Tell) -> Outcome:
        begin = asked = now()
        pause, rest = FILE_SECONDS[0], QUEUE_SECONDS[0]
        told = ""
        while True:
            if (outcome := outcome_in(folder)) is not None:
                self._ended(folder, job)
                return outcome
            if job.name in self._stopped:
                raise FathometerError(f"job {job.number}: cancelled with the study")
            if now() >= asked + rest:
                state = slurm_queue.state_of(job.number)
                asked, rest = now(), min(2 * rest, QUEUE_SECONDS[1])
                text = f"job {job.number}: {'Slurm does not answer' if state is None else state}"
                if state is not None and state.works and state.nodes:
                    text += f" on {state.nodes}"
                if text != told:
                    tell(text)
                    told, rest = text, QUEUE_SECONDS[0]
                if state is not None and state.works:
                    self._ran = now()
                elif state is None or state.waits:
                    self._check_deadline(job, begin, state)
                else:
                    outcome = _late_outcome(folder) or Outcome((), problem=self._problem(job, state))
                    self._ended(folder, job)
                    return outcome
            time.sleep(pause)
            pause = min(1.5 * pause, FILE_SECONDS[1])

    def _check_deadline(self, job: _Job, begin: float, state: JobState | None) -> None:
        """Raises FathometerError where the job has waited too long.

        Time in which other jobs of the study run does not count: they may be what it waits for.
        """
        if now() - max(begin, self._ran) > self._deadline:
            found = "Slurm does not answer" if state is None else str(state)
            raise FathometerError(
                f"job {job.number} has not started within {self._deadline:g} s ([launch] deadline): {found}; "
                "it is cancelled"
            )

    def _problem(self, job: _Job, state: JobState) -> str:
        """Why a job has left no result."""
        words = shortened(last_lines(self._log(job)), LAST_CHARACTERS)
        ended = f"its job {job.number} ended without a result: {state}"
        return f"{ended}; its last words: {words}" if words else ended

    def _ended(self, folder: Path, job: _Job) -> None:
        with self._lock:
            self._mine.pop(folder, None)
            left = job.name in [other.name for other in self._mine.values()]
        if not left:
            remove_file(self._log(job))

    def _cancel(self, jobs: Sequence[_Job]) -> None:
        # Noted before, so that what a cancelled job still writes is not taken for a result.
        for job in jobs:
            self._stopped.add(job.name)
            self._keep(replace(job, cancelled=[name for name in job.runs if outcome_in(Path(name)) is None]))
        slurm_queue.cancel(job.number for job in jobs)
        with self._lock:
            names = [job.name for job in jobs]
            self._mine = {folder: job for folder, job in self._mine.items() if job.name not in names}

    def _job_of(self, folder: Path) -> _Job | None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            name = json_values((folder / JOB).read_bytes())["name"]
            return as_written(_Job, json_values((self._jobs / f"{name}.json").read_bytes()))
        return None

    def _keep(self, job: _Job) -> None:
        atomic.write(self._jobs / f"{job.name}.json", json.dumps(asdict(job)).encode())

    def _log(self, job: _Job) -> Path:
        return self._jobs / f"{job.name}.out"


def cancel_jobs(study: Path) -> None:
    """Cancel all jobs that a study in this folder has submitted and that wait or run, before its folder is emptied."""
    numbers = []
    for path in (study / JOBS).glob("*.json"):
        with suppress(OSError, ValueError):
            job = as_written(_Job, json_values(path.read_bytes()))
            numbers.append(job.number or _number_of(job.name) or "")
    slurm_queue.cancel(filter(None, numbers))


def _number_of(name: str) -> str | None:
    with suppress(FathometerError):
        return slurm_queue.job_named(name)
    return None


def _late_outcome(folder: Path) -> Outcome | None:
    """The outcome of a job that has ended, which this host may see a moment later."""
    until = now() + LATE_SECONDS
    while (outcome := outcome_in(folder)) is None and now() < until:
        time.sleep(FILE_SECONDS[0])
    return outcome
