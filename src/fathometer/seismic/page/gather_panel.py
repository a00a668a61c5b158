"""Panel of one gather: traces of the middle shot."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.display import Display
from fathometer.base.errors import InputError
from fathometer.base.formatting import thousands
from fathometer.pictures.colours import symmetric_range
from fathometer.pictures.gather import CLIP_PERCENTILE, FEW_TRACES, gather_words, receiver_line
from fathometer.pictures.plane import downsampled
from fathometer.report.decimation import encoded
from fathometer.runs.application import Panel
from fathometer.seismic.page.map_panel import rounded
from fathometer.seismic.page.run_data import FILES, RunData
from fathometer.seismic.shots.loud_search import with_loud_traces
from fathometer.seismic.shots.modelled import ModelledTraces, modelled_traces
from fathometer.seismic.shots.shot import Shot
from fathometer.storage.traces.segy import read_traces

MOST_TRACES, MOST_SAMPLES = 480, 640  # of the gather on a page


def gather_panel(run: RunData) -> Panel:
    """The middle shot: all its traces of a 2D line, or those of the receiver line nearest the source."""
    acquisition = run.acquisition()
    shot = acquisition.shots[len(acquisition.shots) // 2]
    along, chosen, description = _receiver_line(shot)
    chosen = chosen[:: -(-len(chosen) // MOST_TRACES) or 1]
    with ledger.file(FILES, "read"):
        if "shots" in run.files:
            modelled = modelled_traces(acquisition, run.files["shots"].parent)
            traces, kind = _modelled(modelled, shot, chosen, acquisition.samples), "modelled"
        elif acquisition.recorded:
            acquisition = with_loud_traces(run.survey, acquisition, shot)
            traces, kind = acquisition.traces(shot, chosen), "recorded"
            conditioning = acquisition.conditioning.summary
            kind += f", {conditioning} as it was migrated" if conditioning else ""
        else:
            raise InputError("no traces were written")
    shown, (_, fold) = downsampled(traces, MOST_SAMPLES)
    clip = symmetric_range([shown], CLIP_PERCENTILE)
    codes = np.clip(np.rint(128 + 127 * shown / clip), 1, 255).astype(np.uint8)
    x = shot.receivers[chosen, along]
    steps = np.diff(x)
    monotonic = len(x) > 1 and bool(np.all(steps > 0) or np.all(steps < 0))
    words = gather_words(len(chosen), Display())
    return {
        "kind": "traces",
        "title": f"Shot {shot.index + 1} (FFID {shot.ffid}), {kind}",
        "caption": f"{description} {words[:1].upper()}{words[1:]}.",
        "wiggles": len(chosen) <= FEW_TRACES,
        "scale": {"low": thousands(f"{-clip:,.3g}"), "high": thousands(f"{clip:,.3g}"), "label": "amplitude"},
        "label": f"receiver {'xy'[along]} (m)" if monotonic else "channel",
        "x": rounded(x) if monotonic else shot.channel[chosen].tolist(),
        "time": [acquisition.start + (fold - 1) / 2 * acquisition.sample_interval, fold * acquisition.sample_interval],
        "shape": list(codes.T.shape),
        "codes": encoded(codes.T),
    }


def _modelled(
    modelled: ModelledTraces, shot: Shot, receivers: npt.NDArray[np.int64], samples: int
) -> npt.NDArray[np.float32]:
    """Modelled traces (n, samples) of some receivers (n,) of a shot."""
    traces = np.empty((len(receivers), samples), np.float32)
    for number, rows, numbers in modelled.gather(shot).by_file(receivers):
        traces[rows] = read_traces(modelled.files[number], numbers)
    return traces


def _receiver_line(shot: Shot) -> tuple[int, npt.NDArray[np.intp], str]:
    """Along which coordinate (0: x, 1: y) the receivers that are shown follow each other, which they are (n,), indices
    into shot.receivers, and a description of them."""
    across, line = receiver_line(shot.source, shot.receivers)
    source, whole = f"Source at x = {shot.source[0]:g} m", len(shot.receivers)
    if len(line) == whole:
        return 0, line, f"{source}, {whole} traces."
    place = f"{'xy'[across]} = {shot.receivers[line[0], across]:g} m"
    return (
        1 - across,
        line,
        f"{source}, y = {shot.source[1]:g} m; the {len(line)} traces of the line {place}, of {whole}.",
    )
