"""The trace files of an elastic run, one for each component."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from fathometer.seismic.modelling.trace_files import TraceFiles
from fathometer.seismic.page.seismogram_panel import PREFIX
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.modelled import modelled_traces


def trace_paths(acquisition: Acquisition, folder: Path, components: Sequence[str]) -> dict[str, Path]:
    """The file of each component, by kind of result."""
    return {f"{PREFIX}{name}": modelled_traces(acquisition, folder, name).result for name in components}


def write_traces(run: Setup, folder: Path, components: Sequence[str], traces_of: Callable[[int], np.ndarray]) -> None:
    """Write all files, on one rank.

    traces_of: (components, receivers, samples) of the shot of that number. Raises FathometerError where that fails;
    each file appears whole or not at all.
    """
    with ExitStack() as stack:
        files = [
            stack.enter_context(
                TraceFiles(
                    run.acquisition,
                    modelled_traces(run.acquisition, folder, name),
                    run.layout.place,
                    run.survey.propagation.top,
                )
            )
            for name in components
        ]
        for shot in run.acquisition.shots:
            for file, traces in zip(files, traces_of(shot.index), strict=True):
                file.write(shot, traces)
