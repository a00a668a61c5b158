"""The trace files of an elastic run, one for each component."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fathometer.seismic.modelling.trace_files import TraceFiles
from fathometer.seismic.page.seismogram_panel import PREFIX
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.modelled import modelled_traces


def trace_paths(acquisition: Acquisition, folder: Path, components: Sequence[str]) -> dict[str, Path]:
    """The file of each component, by kind of result."""
    return {f"{PREFIX}{name}": modelled_traces(acquisition, folder, name).result for name in components}


def trace_files(run: Setup, folder: Path, components: Sequence[str]) -> list[TraceFiles]:
    """The files of all components, to be written on one rank; each appears whole or not at all."""
    return [
        TraceFiles(
            run.acquisition,
            modelled_traces(run.acquisition, folder, name),
            run.layout.place,
            run.survey.propagation.top,
        )
        for name in components
    ]
