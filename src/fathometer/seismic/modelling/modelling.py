"""Modelling of a survey's shots, whatever the waves: one shot after the other by all ranks.

for each shot that is not done:   time steps; what it leaves is kept in the journal (runs/contributions.py)
at the end:                       trace files and what else there is, record, page
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.progress import Progress
from fathometer.base.removal import Mark
from fathometer.grid.tiling import Tuned
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.application import Panel
from fathometer.runs.context import Outcome
from fathometer.runs.contributions import Kept, kept_array
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.journal import Journal
from fathometer.runs.journal_folder import run_of
from fathometer.runs.lifecycle import remove_record
from fathometer.runs.options import RunKind
from fathometer.runs.tasks import GroupWork
from fathometer.seismic.modelling.dependence import ModellingInput, compared, hashed_files
from fathometer.seismic.modelling.trace_files import TraceFiles
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.setup.emptiness import TraceRanges
from fathometer.seismic.setup.run_files import protect_inputs
from fathometer.seismic.setup.run_record import WorkDone, finish, known_run
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.setup.survey_layout import SurveyHeaders
from fathometer.seismic.setup.survey_tasks import SurveyTasks
from fathometer.seismic.setup.tuned import Wavefield, set_threads, tuned_by, tuned_for
from fathometer.seismic.shots.shot import Shot
from fathometer.storage import atomic

TRACES = "traces"  # name of the array that each shot keeps
# Where earlier versions have kept shots of elastic waves.
OLD_FOLDER, OLD_MARK = "finished-tasks", Mark("input.json", b'{"finished tasks": ')

MODELLING = RunKind(
    name="modelling",
    task="shot",
    input="survey, files",
    contribution="finished shot",
    not_finite="[wavelet] or [source] is too strong",
    partial=False,
    lasting=False,
)


class Modelling(SurveyTasks):
    """The shots of a modelling; see Tasks.

    Attributes:
        run: the survey made ready; from `prepare` on.
    """

    KIND, LABEL = MODELLING, "model"
    run: Setup
    inputs: ModellingInput

    def check(self) -> None:
        """No migration is in the folder, and nothing that an earlier version has left to go on with."""
        with ledger.phase("set up"), collective_errors(self.comm):
            if self.comm.rank:
                return
            if run_of(self.output) not in ("", MODELLING.name):
                raise InputError(
                    f"{self.survey.path}: [output] directory: found a migration in {self.output}; allowed: another "
                    "directory"
                )
            if OLD_MARK.on(self.output / OLD_FOLDER):
                raise InputError(
                    f"{self.output / OLD_FOLDER}: holds finished shots of an earlier version of this program, which "
                    "this one cannot go on with; allowed: another [output] directory, or without that folder"
                )

    @abstractmethod
    def made_ready(self, before_reading: Callable[[SurveyHeaders], None]) -> Setup:
        """Collective. Read the model; the survey made ready, announced. before_reading: collective; to be called when
        the files are known."""

    def prepare(self, earlier: Mapping[str, Any]) -> None:
        """Read the model; know what traces depend on."""
        survey = self.survey
        with ModellingInput(survey, compared(survey), self.comm, self.context, earlier) as self.inputs:

            def begin(headers: SurveyHeaders) -> None:
                self.inputs.begin(headers.acquisition, {}, partial(hashed_files, survey, headers.files))

            self.run = self.made_ready(begin)
            self.inputs.finish()
        with ledger.phase("set up"), collective_errors(self.comm):
            protect_inputs(survey, self.results, self.run.acquisition.paths)

    @property
    def numbers(self) -> Sequence[int]:
        """Indices of the shots."""
        return range(len(self.run.acquisition.shots))

    @property
    def ranks_per_task(self) -> int:
        """All."""
        return self.comm.size

    @property
    def steps(self) -> int:
        """Time steps of a shot."""
        return self.run.time.steps

    @property
    def known(self) -> KnownRun:
        """What is known of the run before its end."""
        return known_run(self.run)

    @abstractmethod
    def wavefield(self) -> Wavefield:
        """Collective. A wavefield at rest in the model."""

    @property
    @abstractmethod
    def advance(self) -> tuple[int, int]:
        """Time steps that are taken at a time, and how often that many are taken in a shot."""

    def worker(self, ranks: MPI.Intracomm, left: int) -> Modeller:
        """Who models shots, with a wavefield whose threads and tiling are chosen."""
        with ledger.phase("set up"):
            wavefield = self.wavefield()
        at_a_time, advances = self.advance
        set_threads(self.run, wavefield, self.context)
        tuned = tuned_for(self.run, wavefield, self.context, at_a_time, max(1, left))
        if wavefield.trials is not None:
            wavefield.trials.expect(left * advances)
        return Modeller(self, wavefield, tuned)

    @abstractmethod
    def model(self, wavefield: Any, shot: Shot, progress: Progress) -> dict[str, np.ndarray]:
        """Collective. Propagate one source: on rank 0 what is kept of the shot by name, TRACES (components, receivers,
        samples) among it, float32; on the others nothing.

        Raises FathometerError on all ranks where the wavefield ceases to be finite.
        """

    @abstractmethod
    def updates(self, shot: Shot) -> float:
        """Updates of cells that a shot has taken, in this run."""

    @abstractmethod
    def trace_files(self) -> list[TraceFiles]:
        """On one rank. The files of traces, one for each component."""

    @property
    @abstractmethod
    def components(self) -> Sequence[str]:
        """What traces of these files are called in a sentence."""

    def clear(self) -> None:
        """On one rank. Remove what shots replace of an earlier run's results."""

    @contextmanager
    def opened(self, journal: Journal) -> Iterator[None]:
        """Space is reserved for the traces: what cannot be written is found before the first shot."""
        self._files: list[TraceFiles] = []
        self._open = ExitStack()
        traces = sum(len(self.run.acquisition.shots[number].receivers) for number in journal.left(self.numbers))
        kept = 4 * len(self.components) * self.run.acquisition.samples * traces
        try:
            with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(self.comm):
                if self.comm.rank == 0:
                    self.clear()
                    self._files = [self._open.enter_context(files) for files in self.trace_files()]
                    with atomic.writing(journal.folder):
                        atomic.require_space(journal.contribution(0, TRACES), kept)
            yield
        except BaseException:
            self._open.__exit__(*sys.exc_info())
            raise

    @abstractmethod
    def panels(self, data: RunData) -> list[Panel]:
        """What the page shows."""

    def facts(self) -> dict[str, Any]:
        """Results beside those of every modelling."""
        return {}

    def write(self, journal: Journal, work: Sequence[GroupWork]) -> tuple[Outcome, list[Panel]]:
        """Write traces, whose files appear together, what else there is, and the record."""
        run, ranges = self.run, TraceRanges()

        def kept(name: str) -> Iterator[tuple[Shot, np.ndarray]]:
            return ((shot, kept_array(journal, shot.index, name)) for shot in run.acquisition.shots)

        with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(self.comm):
            for shot, traces in kept(TRACES) if self.comm.rank == 0 else ():
                for files, component in zip(self._files, traces, strict=True):
                    files.write(shot, component)
                ranges.add(shot.name, dict(zip(self.components, traces, strict=True)))
        self.inputs.require_unchanged({})  # whose headers have just been read
        with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(self.comm):
            remove_record(self.output, self.comm)
            self._open.close()  # the files appear
        self.write_more(kept, ranges)
        empty, tuned = ranges.emptiness(), work[0].figures
        shots = [run.acquisition.shots[number] for number in work[0].done]
        done = WorkDone(len(shots), sum(map(self.updates, shots)))
        found = self.facts() | empty.facts(run.warnings)
        return finish(run, self.context, dict(self.files), self.panels, tuned, done, found, empty.reasons)

    def write_more(self, kept: Callable[[str], Iterator[tuple[Shot, np.ndarray]]], ranges: TraceRanges) -> None:
        """Collective. Write what the shots have kept beside traces.

        kept: on one rank, the array of that name of each shot, in the survey's order; raises FathometerError where it
        is no longer what was kept. ranges: gets, on rank 0, the ranges of what is written.
        """


class Modeller:
    """All ranks' work on shots (runs/tasks.TaskWorker)."""

    beside: ThreadPoolExecutor | None = None

    def __init__(self, modelling: Modelling, wavefield: Wavefield, tuned: Tuned) -> None:
        self._modelling, self._wavefield, self._tuned = modelling, wavefield, tuned

    def prepare(self, task: int, tasks: int) -> None:
        """Nothing: all shots are on one grid."""

    def expect(self, task: int) -> None:
        """Nothing."""

    def work(self, task: int, progress: Progress, written: Callable[[], None]) -> Kept:
        """Model the shot."""
        shot = self._modelling.run.acquisition.shots[task]
        with ledger.timeline(shot.name), ledger.phase("between time steps"):
            return Kept(self._modelling.model(self._wavefield, shot, progress))

    def reset(self) -> None:
        """Nothing: a shot that fails ends the run."""

    def input_of(self, task: int) -> str:
        """Nothing of its own."""
        return ""

    def close(self) -> None:
        """Free the wavefield; what trials of tilings have found is kept."""
        self._tuned = tuned_by(self._wavefield, self._tuned, self._modelling.context)
        with ledger.phase("finish"):
            self._wavefield.close()

    def abandon(self) -> None:
        """Nothing outlasts the process."""

    def figures(self) -> Tuned:
        """How time steps were tiled."""
        return self._tuned
