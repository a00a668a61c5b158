"""Where the traces of a modelling lie: in one file, or in files like the recorded ones whose geometry is modelled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.conditioning import Conditioning
from fathometer.seismic.shots.gathers import Gather, Recording
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.storage.traces.detect import SU_SUFFIX
from fathometer.storage.traces.file_layout import Layout

NAME = "shots"  # of the file, or of the folder of several


@dataclass(frozen=True, eq=False)
class ModelledTraces:
    """The files of a modelling, and the traces in them.

    Attributes:
        result: the file, or the folder of several. files: all of them.
        recorded: the layout of the file with the headers of each; traces: (n,), numbers of its traces there,
            ascending. Both are empty where a geometry is modelled.
    """

    acquisition: Acquisition
    result: Path
    files: tuple[Path, ...]
    recorded: tuple[Layout, ...] = ()
    traces: tuple[npt.NDArray[np.int64], ...] = ()

    def gather(self, shot: Shot) -> Gather:
        """The place of a shot's traces in the files."""
        recording = self.acquisition.recording
        if recording is None:
            first = int(self._starts[shot.index])
            places = np.arange(first, first + len(shot.receivers), dtype=np.int64)
            return Gather(np.zeros_like(places), places)
        gather = recording.gathers[shot.index]
        file, place = np.empty_like(gather.file), np.empty_like(gather.trace)
        for number, rows, traces in gather.by_file():
            file[rows] = self._numbers[recording.layouts[number].path]
            place[rows] = np.searchsorted(self.traces[file[rows][0]], traces)
        return Gather(file, place)

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:
        """The first trace of each shot of a geometry."""
        return np.cumsum([0, *(len(shot.receivers) for shot in self.acquisition.shots)], dtype=np.int64)

    @cached_property
    def _numbers(self) -> dict[Path, int]:
        """Numbers of the new files by the paths of the recorded ones."""
        return {layout.path: number for number, layout in enumerate(self.recorded)}


def modelled_traces(acquisition: Acquisition, folder: Path, component: str = "") -> ModelledTraces:
    """Where the traces of a modelling lie below the folder of its results; of one component of several: with its name
    behind "shots", shots-vx.segy.

    A geometry: shots.segy, shot after shot. Recorded gathers: a file for each recorded one, of its kind and byte order,
    with its traces in its order: shots.segy or shots.su, or files of the recorded names in the folder shots/. All
    traces of a recorded file are in the new one; with a selection of shots or offsets, only those selected.

    Raises InputError for recorded headers that cannot be written again: those with bytes swapped in pairs.
    """
    recording = acquisition.recording
    stem = f"{NAME}-{component}" if component else NAME
    if recording is None:
        path = folder / f"{stem}.segy"
        return ModelledTraces(acquisition, path, (path,))
    written = _written(recording, bool(acquisition.conditioning.selected))
    used = [number for number, traces in enumerate(written) if len(traces)]
    layouts = tuple(recording.layouts[number] for number in used)
    for layout in layouts:
        if layout.pairs:
            raise InputError(
                f"{layout.path}: found {layout.byte_order}; allowed for `model`: headers in big- or little-endian order"
            )
    if len(layouts) == 1:
        result = folder / f"{stem}{SU_SUFFIX if layouts[0].kind == 'SU' else '.segy'}"
        files: tuple[Path, ...] = (result,)
    else:
        result = folder / stem
        files = tuple(result / name for name in _names(layouts))
    return ModelledTraces(acquisition, result, files, layouts, tuple(written[number] for number in used))


def acquisition_to_model(survey: Survey, acquisition: Acquisition) -> Acquisition:
    """The acquisition as a modelling takes it: recorded traces are not read, so nothing but the selection counts of
    their conditioning. Notes say which keys do not, and which traces will hold zeros."""
    recording, keys = acquisition.recording, survey.acquisition
    if recording is None:
        return acquisition
    selection = Conditioning(acquisition.conditioning.selected)
    given = keys.conditioning.model_fields_set - {"shots", "offsets"}
    unused = ["mute"] * (keys.mute is not None)
    unused += [f"conditioning.{name}" for name in type(keys.conditioning).model_fields if name in given]
    notes = []
    if unused:
        notes.append(f"{survey.path}: [acquisition] {', '.join(unused)}: not applied to modelled traces")
    total = sum(layout.traces for layout in recording.layouts)
    silent = total - sum(len(shot.receivers) for shot in acquisition.shots)
    if silent and not selection.selected:
        notes.append(
            f"{silent} of {total} traces of the gathers are no shot's (dead, or left out): they are written with their "
            "headers and zeros"
        )
    return replace(acquisition, conditioning=selection, notes=(*acquisition.notes, *notes))


def _written(recording: Recording, selected: bool) -> list[npt.NDArray[np.int64]]:
    """Numbers (n,), ascending, of the traces of each recorded file that have one in the new file."""
    if not selected:
        return [np.arange(layout.traces, dtype=np.int64) for layout in recording.layouts]
    file = np.concatenate([gather.file for gather in recording.gathers])
    trace = np.concatenate([gather.trace for gather in recording.gathers])
    order = np.lexsort((trace, file))
    starts = np.searchsorted(file[order], np.arange(1, len(recording.layouts)))
    return np.split(trace[order], starts)


def _names(layouts: tuple[Layout, ...]) -> list[str]:
    """Names of the recorded files, each with its number before it where some are the same."""
    names = [layout.path.name for layout in layouts]
    if len({name.casefold() for name in names}) == len(names):
        return names
    return [f"{number}-{name}" for number, name in enumerate(names, 1)]
