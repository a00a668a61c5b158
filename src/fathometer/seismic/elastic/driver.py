"""`fathometer model` of elastic waves: from a survey's geometry to seismograms, snapshots and peak velocities."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.runs.journal_folder import results_of
from fathometer.runs.lifecycle import remove_record
from fathometer.runs.results_lock import remove_unfinished
from fathometer.runs.task_run import do_tasks
from fathometer.seismic.elastic.fields import BY_NAME
from fathometer.seismic.elastic.page import panels
from fathometer.seismic.elastic.peak_map import COMPONENTS, gathered_peaks, peak_paths, write_peaks
from fathometer.seismic.elastic.products import trace_files, trace_paths
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.results import facts
from fathometer.seismic.elastic.setup import prepare_elastic
from fathometer.seismic.elastic.shot import model_shot
from fathometer.seismic.elastic.snapshots import PHASE, SnapshotWriter, snapshot_info, snapshot_paths, steps_between
from fathometer.seismic.modelling.modelling import TRACES, Modelling
from fathometer.seismic.modelling.trace_files import TraceFiles
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.setup.emptiness import TraceRanges
from fathometer.seismic.setup.run_files import announce
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.setup.survey_layout import SurveyHeaders
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.seismic.waves.checked_steps import advances
from fathometer.storage import atomic
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume
from fathometer.storage.volumes.writer import check_stored, check_writable

PEAKS = "peak-velocity"  # what maps are called
KEPT_PEAKS = "peaks"  # name of the array that each shot keeps of them
KINDS = ("shots ", "peak velocity ", "snapshots ")  # with which kinds of results begin
UNFINISHED = re.compile(rf"(?:snapshots|{PEAKS})(?:-shot-\d+)?-(?:{'|'.join((*BY_NAME, *COMPONENTS))})\.\w+@?")


def run_elastic(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Model the survey's geometry and write seismograms, snapshots, peak velocities and the record.

    Raises InputError and FathometerError, the same on all ranks.
    """
    return do_tasks(ElasticModelling(survey, comm, context))


class ElasticModelling(Modelling):
    """The shots of elastic waves; see Tasks."""

    def made_ready(self, before_reading: Callable[[SurveyHeaders], None]) -> Setup:
        """Read the model, and say what is modelled."""
        self._silent: list[set[str]] = []  # of each shot, as of SnapshotWriter
        with ledger.phase("set up"):
            self.setup = prepare_elastic(self.survey, self.comm, before_reading)
            with collective_errors(self.comm):
                keys, strategy = self.survey.snapshots, Strategy.of(self.survey.storage.write)
                for path in self._snapshots(self.setup.run.acquisition.shots[0]):
                    check_writable(path, strategy, self.comm.size)
                    assert keys is not None
                    check_stored(path, snapshot_info(self.setup.grid, keys), strategy)
            announce(self.setup.run, self.context)
            if (fit := self.setup.attenuation) is not None:
                low, high = fit.band
                error = 100 * self.setup.attenuation_error
                self.context.say(f"attenuation: Q within {error:.1f} % of the model's from {low:.3g} to {high:.3g} Hz")
        return self.setup.run

    @property
    def files(self) -> dict[str, Path]:
        """Traces of each component, peak velocities and snapshots; none before they are known."""
        if not hasattr(self, "setup"):
            return {}
        shots = self.setup.run.acquisition.shots
        files = trace_paths(self.setup.run.acquisition, self.output, self.setup.components)
        for shot in shots:
            files |= peak_paths(self.output, self._prefix(PEAKS, shot))
        for shot in shots:
            files |= {path.stem.replace("-", " "): path for path in self._snapshots(shot)}
        return files

    def _snapshots(self, shot: Shot) -> list[Path]:
        """The snapshot files of a shot."""
        keys = self.survey.snapshots
        if keys is None:
            return []
        return list(snapshot_paths(self.setup.grid, keys, self.output, self._prefix("snapshots", shot)).values())

    def _prefix(self, name: str, shot: Shot) -> str:
        """Of the files of a shot: with its number where there are several."""
        return name if len(self.setup.run.acquisition.shots) == 1 else f"{name}-shot-{shot.index + 1}"

    def whole(self, task: int) -> bool:
        """Whether the snapshots of a finished shot are there, their values as many as their headers say."""
        try:
            for path in self._snapshots(self.run.acquisition.shots[task]):
                open_volume(path.name, path.parent, steps=True).close()
        except FathometerError:
            return False
        return True

    def clear(self) -> None:
        """Remove the record of an earlier run, whose snapshots are replaced from now on, of its results those that this
        run does not make, and what killed runs have left unfinished, also of other shots or fields."""
        outdated, files = results_of(self.output), self.files
        remove_unfinished(self.output, files.values())
        atomic.remove_parts(self.output, UNFINISHED)
        remove_record(self.output, MPI.COMM_SELF)
        self.remove_outdated(outdated, files.values())

    def replaceable(self, kind: str, path: Path) -> bool:
        """Traces, maps and snapshots."""
        return kind.startswith(KINDS)

    def wavefield(self) -> ElasticPropagator:
        """A wavefield at rest in the medium, which keeps peaks of the free surface, or of the model's first plane."""
        wavefield = self.setup.propagator()
        wavefield.watch_peaks(self.run.grid.pad[2][0])
        return wavefield

    @property
    def advance(self) -> tuple[int, int]:
        """Steps up to the next snapshot at most, and how often they are taken in a shot."""
        at_a_time = self.setup.steps_at_a_time
        return at_a_time, advances(self.run.time.steps, at_a_time, steps_between(self.survey.snapshots))[1]

    def model(self, wavefield: ElasticPropagator, shot: Shot, progress: Progress) -> dict[str, np.ndarray]:
        """Propagate one source, with its snapshots."""
        survey, run = self.survey, self.run
        with ExitStack() as opened:
            snapshots = None
            if survey.snapshots is not None:
                snapshots = opened.enter_context(
                    SnapshotWriter(
                        grid=run.grid,
                        block=run.block,
                        keys=survey.snapshots,
                        steps=run.time.steps,
                        dt=run.time.dt,
                        first_time=run.time.first,
                        folder=self.output,
                        prefix=self._prefix("snapshots", shot),
                        strategy=Strategy.of(survey.storage.write),
                        comm=run.comm,
                        place=run.layout.place,
                    )
                )
            traces = model_shot(self.setup, wavefield, shot, snapshots, progress)
        if snapshots is not None:
            self._silent.append(snapshots.silent)
        with ledger.phase("gather traces"):
            peaks = gathered_peaks(wavefield)
        return {name: array for name, array in ((TRACES, traces), (KEPT_PEAKS, peaks)) if array is not None}

    def updates(self, shot: Shot) -> float:
        """Those of all cells in all steps."""
        return float(self.run.time.steps) * math.prod(self.run.grid.full_shape)

    def trace_files(self) -> list[TraceFiles]:
        """One for each component."""
        return trace_files(self.run, self.output, self.setup.components)

    @property
    def components(self) -> Sequence[str]:
        """What receivers record."""
        return [f"{name} of the traces" for name in self.setup.components]

    def write_more(self, kept: Callable[[str], Iterator[tuple[Shot, np.ndarray]]], ranges: TraceRanges) -> None:
        """Write the maps of peak velocities."""
        for name in self._silent_fields():
            ranges.add_map(f"{name} of the snapshots", np.zeros(1, np.float32))
        several = len(self.run.acquisition.shots) > 1
        with ledger.phase("write peak velocities"), collective_errors(self.comm):
            for shot, peaks in kept(KEPT_PEAKS) if self.comm.rank == 0 else ():
                title, prefix = "Peak ground velocity" + f", {shot.name}" * several, self._prefix(PEAKS, shot)
                ranges.add_map(f"the {prefix.replace('-', ' ')}", peaks)
                write_peaks(self.run.grid, peaks, self.output, prefix, title, self.run.layout.place)

    def _silent_fields(self) -> list[str]:
        """Collective. Fields of which all snapshots are 0; none where shots of an earlier run are not known."""
        if not self._silent or len(self._silent) < len(self.run.acquisition.shots):
            return []
        with ledger.phase(PHASE):
            return sorted(set.intersection(*allgather(self.comm, set.intersection(*self._silent))))

    def panels(self, data: RunData) -> list[Panel]:
        """Seismograms, maps and snapshots."""
        return panels(data)

    def facts(self) -> dict[str, Any]:
        """Sources, components, attenuation and snapshots."""
        return facts(self.setup)
