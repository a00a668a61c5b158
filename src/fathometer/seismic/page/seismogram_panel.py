"""Panel of seismograms: all components that a few receivers of the middle shot have recorded."""

from __future__ import annotations

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.report.panels_beside import OWNERS
from fathometer.report.scale import spread
from fathometer.runs.application import Panel
from fathometer.seismic.page.run_data import FILES, RunData
from fathometer.seismic.shots.modelled import modelled_traces
from fathometer.seismic.shots.shot import Shot
from fathometer.storage.traces.segy import read_traces

MOST_RECEIVERS, MOST_SAMPLES = 4, 1500
PREFIX = "shots "  # of the kinds of files with a component each
UNITS = {"v": "m/s", "s": "Pa", "p": "Pa"}  # by the first letter of a component


def seismogram_panel(run: RunData) -> Panel:
    """A plot a component, a line a receiver."""
    acquisition = run.acquisition()
    shot = acquisition.shots[len(acquisition.shots) // 2]
    chosen = _chosen(shot)
    times = acquisition.start + acquisition.sample_interval * np.arange(acquisition.samples)
    every = max(1, -(-acquisition.samples // MOST_SAMPLES))
    plots, names = [], [_place(shot, receiver) for receiver in chosen]
    with ledger.file(FILES, "read"):
        for kind, path in run.files.items():
            if not kind.startswith(PREFIX):
                continue
            component = kind.removeprefix(PREFIX)
            modelled = modelled_traces(acquisition, path.parent, component)
            gather = modelled.gather(shot)
            lines = []
            for name, receiver, colour in zip(names, chosen, OWNERS, strict=False):
                file = modelled.files[gather.file[receiver]]
                [trace] = read_traces(file, gather.trace[receiver : receiver + 1])
                values = [float(f"{value:.5g}") for value in trace[::every]]
                shown = np.round(times[::every], 6).tolist()
                lines.append({"name": name, "colour": colour, "x": shown, "y": values})
            plots.append(
                {
                    "label": component,
                    "labels": ["time (s)", UNITS[component[0]]],
                    "lines": lines,
                }
            )
    if not plots:
        raise InputError("no traces were written")
    caption = f"Shot {shot.index + 1} (FFID {shot.ffid}), source at {_words(shot.source)} m."
    if every > 1:
        caption += f" Every {every}th sample is shown."
    return {
        "kind": "lines",
        "name": "seismograms",
        "title": "Seismograms",
        "caption": caption,
        "legend": [[name, colour] for name, colour in zip(names, OWNERS, strict=False)],
        "plots": plots,
    }


def _chosen(shot: Shot) -> list[int]:
    """Receivers at offsets from the nearest to the farthest."""
    order = np.argsort(shot.offsets, kind="stable")
    return [int(order[n]) for n in spread(len(order), MOST_RECEIVERS)]


def _place(shot: Shot, receiver: int) -> str:
    return f"receiver at {_words(shot.receivers[receiver])} m"


def _words(place: np.ndarray) -> str:
    return f"({', '.join(f'{value:.6g}' for value in place)})"
