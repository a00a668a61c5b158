"""Panel of one gather: traces of the middle shot."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.formatting import thousands
from fathometer.pictures.colours import symmetric_range
from fathometer.pictures.display import Display
from fathometer.pictures.gather import CLIP_PERCENTILE, FEW_TRACES, gather_words
from fathometer.pictures.plane import downsampled
from fathometer.report.decimation import encoded
from fathometer.runs.application import Panel
from fathometer.seismic.page.map_panel import SAME_LINE, rounded
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
    chosen, description = _receiver_line(shot)
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
    x = shot.receivers[chosen, 0]
    steps = np.diff(x)
    monotonic = len(x) > 1 and bool(np.all(steps > 0) or np.all(steps < 0))
    words = gather_words(len(chosen), Display())
    return {
        "kind": "traces",
        "title": f"Shot {shot.index + 1} (FFID {shot.ffid}), {kind}",
        "caption": f"{description} {words[:1].upper()}{words[1:]}.",
        "wiggles": len(chosen) <= FEW_TRACES,
        "scale": {"low": thousands(f"{-clip:,.3g}"), "high": thousands(f"{clip:,.3g}"), "label": "amplitude"},
        "label": "receiver x (m)" if monotonic else "channel",
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


def _receiver_line(shot: Shot) -> tuple[npt.NDArray[np.int64], str]:
    """The receivers (n,) of a shot that are shown, indices into shot.receivers, and a description of them."""
    whole = np.arange(len(shot.receivers), dtype=np.int64)
    lines = np.unique(np.round(shot.receivers[:, 1] / SAME_LINE).astype(np.int64))
    source = f"Source at x = {shot.source[0]:g} m"
    if len(lines) == 1 or len(lines) > len(whole) / 2:
        return whole, f"{source}, {len(whole)} traces."
    source += f", y = {shot.source[1]:g} m"
    nearest = lines[np.argmin(np.abs(lines * SAME_LINE - shot.source[1]))]
    on_line = np.flatnonzero(np.round(shot.receivers[:, 1] / SAME_LINE).astype(np.int64) == nearest)
    return on_line, f"{source}; the {len(on_line)} traces of the line y = {nearest * SAME_LINE:g} m, of {len(whole)}."
