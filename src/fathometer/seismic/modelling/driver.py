"""`fathometer model`: from a survey's geometry, described or recorded, to its synthetic gathers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.runs.task_run import do_tasks
from fathometer.seismic.modelling.modelling import TRACES, Modelling
from fathometer.seismic.modelling.shot import record_shot
from fathometer.seismic.modelling.trace_files import TraceFiles
from fathometer.seismic.page.panels import panels
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.setup.cone import Saved, record
from fathometer.seismic.setup.run_files import prepared, protect_inputs
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.setup.survey_layout import SurveyHeaders
from fathometer.seismic.shots.gathering import gather_traces
from fathometer.seismic.shots.modelled import NAME, modelled_traces
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.seismic.waves.checked_steps import steps_at_a_time
from fathometer.seismic.waves.propagator import Propagator


def run_model(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Model the survey's geometry, or that of its gathers, and write the traces (shots/modelled.py).

    Raises InputError and FathometerError, the same on all ranks.
    """
    return do_tasks(AcousticModelling(survey, comm, context))


class AcousticModelling(Modelling):
    """The shots of acoustic waves; see Tasks."""

    def check(self) -> None:
        """The usual file of traces replaces no input, beside what counts for all modelling."""
        protect_inputs(self.survey, [self.output / f"{NAME}.segy"])
        super().check()

    def made_ready(self, before_reading: Callable[[SurveyHeaders], None]) -> Setup:
        """Read the model, and say what is modelled."""
        self._saved: dict[int, Saved] = {}
        setup = prepared(self.survey, self.comm, self.context, imaging=False, before_reading=before_reading)
        with ledger.phase("set up"), collective_errors(self.comm):
            self._modelled = modelled_traces(setup.acquisition, self.output)
        self._cone = setup.cone()
        return setup

    @property
    def files(self) -> dict[str, Path]:
        """The file of the traces, or the folder of several."""
        return {"shots": self._modelled.result}

    @property
    def results(self) -> Sequence[Path]:
        """The files of the traces, once they are known."""
        return self._modelled.files if hasattr(self, "run") else ()

    def wavefield(self) -> Propagator:
        """A wavefield at rest in the model."""
        return self.run.propagator()

    @property
    def advance(self) -> tuple[int, int]:
        """Time steps of an advance, and how often they are taken in a shot."""
        steps = self.run.time.steps
        at_a_time = steps_at_a_time(self.run.grid, self.comm.size, steps)
        return at_a_time, steps // at_a_time

    def model(self, wavefield: Propagator, shot: Shot, progress: Progress) -> dict[str, np.ndarray]:
        """Propagate one source, in the rows that its waves can have reached."""
        rows = self._cone.source(shot)
        indices, traces = record_shot(self.run, wavefield, shot, rows, progress)
        self._saved[shot.index] = self._cone.updates(rows)
        with ledger.phase("gather traces"):
            gathered = gather_traces(self.comm, len(shot.receivers), indices, traces)
        return {} if gathered is None else {TRACES: gathered[None]}

    def updates(self, shot: Shot) -> float:
        """Those of the rows that were computed."""
        return self._saved[shot.index].computed

    def trace_files(self) -> list[TraceFiles]:
        """Those of the pressure."""
        run = self.run
        return [TraceFiles(run.acquisition, self._modelled, run.layout.place, self.survey.propagation.top)]

    @property
    def components(self) -> Sequence[str]:
        """The pressure alone."""
        return ("the traces' pressure",)

    def panels(self, data: RunData) -> list[Panel]:
        """A gather, and a map."""
        return panels(data)

    def facts(self) -> dict[str, Any]:
        """What was saved by leaving out rows."""
        total = Saved()
        for saved in self._saved.values():
            total.add(saved)
        return {"cone": record({"source": total})}
