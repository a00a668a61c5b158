"""Recorded gathers: the assignment of traces in files to shots, and reading of selected traces."""

import glob
import os.path
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError, naming
from fathometer.base.meant import file_meant
from fathometer.seismic.shots.alignment import Alignment, alignment_of
from fathometer.seismic.shots.rotation import rotation_of
from fathometer.seismic.shots.shot import Shot, frozen
from fathometer.seismic.shots.trace_hashes import TraceHashes
from fathometer.seismic.survey import Survey
from fathometer.storage.index import INDEX_SUFFIX
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.segy import TraceTable, decode_traces, read_traces, scan
from fathometer.storage.volumes.registry import BY_SUFFIX

_SAME_PLACE = 1e-3  # m; headers hold decimal fractions, so equal positions may differ by rounding


@dataclass(frozen=True, eq=False)
class Gather:
    """Location of the traces of one shot, in the order of the shot's receivers."""

    file: npt.NDArray[np.int64]  # (n,), index into the recording's files
    trace: npt.NDArray[np.int64]  # (n,), index within its file

    def by_file(
        self, receivers: npt.NDArray[np.integer] | None = None
    ) -> Iterator[tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """For each file with traces of some receivers (n,), of all where left out: its number, which of these lie there
        (indices into `receivers`, ascending), and their traces in the file."""
        file, trace = (self.file, self.trace) if receivers is None else (self.file[receivers], self.trace[receivers])
        for number in np.unique(file).tolist():
            rows = np.flatnonzero(file == number)
            yield number, rows, trace[rows]


@dataclass(frozen=True, eq=False)
class Recording:
    """The recorded traces of a survey, on disk."""

    files: tuple[Path, ...]
    layouts: tuple[Layout, ...]  # of the files
    gathers: tuple[Gather, ...]  # one per shot
    alignment: Alignment  # of the files
    suspects: tuple[npt.NDArray[np.bool_] | None, ...]  # of the files: which traces an index has found to be loud
    notes: tuple[str, ...]

    @property
    def samples(self) -> int:
        """Samples of a trace on the common time axis."""
        return self.alignment.samples

    @property
    def interval(self) -> float:
        """Sample interval of the common time axis, s."""
        return self.alignment.interval

    @property
    def delay(self) -> float:
        """Time of the first sample of the common time axis, s."""
        return self.alignment.start

    def read(
        self, shot: int, receivers: npt.NDArray[np.int64], hashes: TraceHashes | None = None
    ) -> npt.NDArray[np.float32]:
        """Recorded traces (n, samples), float32, of a shot (its index), on the common time axis.

        receivers: indices (n,) into those of the shot. hashes: get those of the traces. Raises InputError for NaN and
        infinity.
        """
        gather = self.gathers[shot]
        traces = np.empty((len(receivers), self.samples), dtype=np.float32)
        for number, rows, numbers in gather.by_file(receivers):
            seen = None if hashes is None else hashes.of(receivers[rows])
            traces[rows] = self.alignment(number, numbers, read_traces(self.layouts[number], numbers, seen))
        return traces

    def hash(self, shot: int, receivers: npt.NDArray[np.int64]) -> str:
        """The hash of some traces of a shot, which are read for it (trace_hashes.py); "" where they cannot be read."""
        gather = self.gathers[shot]
        hashes = TraceHashes(len(gather.file))
        try:
            for number, rows, traces in gather.by_file(receivers):
                decode_traces(self.layouts[number], traces, hashes.of(receivers[rows]))
        except (InputError, ValueError):  # a file that is gone, or shorter than its layout
            return ""
        return hashes.combined()


def recording_of(survey: Survey, flat: bool) -> tuple[tuple[Shot, ...], Recording]:
    """The shots in the survey's gathers, ordered by file, then by first appearance of an FFID.

    Only trace headers or an index are read. The live traces of one FFID are one shot; others are left out. Files that
    share an FFID are merged where the source has one position. Positions are in grid coordinates ([acquisition] origin
    and azimuth), in m; flat: the survey is 2D, so y is ignored and set to 0.
    Traces with different delays, sample counts or intervals come to one time axis (alignment.py).
    Raises InputError where no file matches, where the source of every FFID moves, or where the traces have no time
    axis in common.
    """
    files = recorded_files(survey)
    tables, notes = _tables(survey, files)
    _check_coordinates(tables)
    rotation = rotation_of(survey.acquisition)
    if rotation is not None:
        tables = [rotation.table(table) for table in tables]
        notes += rotation.notes(tables, flat)
    elif flat:
        notes += _crossline_note(tables)
    parts: dict[int, list[tuple[int, npt.NDArray[np.int64]]]] = {}
    for number, table in enumerate(tables):
        live = np.flatnonzero(table.live)
        if not len(live):
            continue
        order = live[np.argsort(table.ffid[live], kind="stable")]
        cuts = np.flatnonzero(np.diff(table.ffid[order])) + 1
        groups = sorted(np.split(order, cuts), key=lambda group: int(group[0]))
        for group in groups:
            parts.setdefault(int(table.ffid[group[0]]), []).append((number, group.astype(np.int64)))
    if not parts:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: all traces of {tables[0].path} are marked as dead or as other than "
            "seismic data; needed: live traces (trace identification code 1, or 0)"
        )
    shots: list[Shot] = []
    gathers: list[Gather] = []
    moving: list[InputError] = []  # FFIDs whose source has several positions
    repeated = 0
    for ffid, pieces in parts.items():
        try:
            source = _source_position(survey, tables, ffid, pieces, flat)
        except InputError as error:  # an FFID used twice or a corrupt header must not cost the other shots
            moving.append(error)
            continue
        receivers = np.concatenate([tables[number].receiver[group] for number, group in pieces])
        channel = np.concatenate([tables[number].channel[group] for number, group in pieces])
        repeated += _repeated(channel, receivers)
        if flat:
            receivers[:, 1] = 0.0
        if survey.acquisition.receiver_depth is not None:
            receivers[:, 2] = survey.acquisition.receiver_depth
        shots.append(Shot(len(shots), ffid, frozen(source), frozen(receivers), frozen(channel)))
        gathers.append(
            Gather(
                np.concatenate([np.full(len(group), number, dtype=np.int64) for number, group in pieces]),
                np.concatenate([group for _, group in pieces]),
            )
        )
    if not shots:
        raise moving[0]
    if moving:
        notes += (f"{len(moving)} of {len(parts)} shots are left out, since their source moves; first: {moving[0]}",)
    if repeated:
        notes += (
            f"{repeated} traces have shot, channel and receiver of another one, and are used too; an index "
            "(`fathometer survey build`) leaves such traces out",
        )
    alignment, aligned = alignment_of(str(survey.path), tables)
    recording = Recording(
        files=tuple(table.path for table in tables),
        layouts=tuple(table.layout for table in tables),
        gathers=tuple(gathers),
        alignment=alignment,
        suspects=tuple(table.suspects for table in tables),
        notes=_notes(tables) + notes + aligned,
    )
    return tuple(shots), recording


def _repeated(channel: npt.NDArray[np.int64], receivers: npt.NDArray[np.float64]) -> int:
    """Number of traces of a shot with the channel (n,) and receiver (n, 3) of an earlier one."""
    if len(np.unique(channel)) == len(channel):
        return 0
    keys = np.stack((channel, *receivers.T))
    ordered = keys[:, np.lexsort(keys)]
    return int(np.count_nonzero((ordered[:, 1:] == ordered[:, :-1]).all(axis=0)))


def _tables(survey: Survey, files: Sequence[Path]) -> tuple[list[TraceTable], tuple[str, ...]]:
    """The trace headers of all files, from the files or from one index, and notes."""
    indices = [path for path in files if path.suffix.lower() == INDEX_SUFFIX]
    if not indices:
        with naming(f"{survey.path}: [acquisition] gathers"):
            return [_scanned(path, survey.acquisition.given_interval) for path in files], ()
    if len(files) > 1:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: found {len(files)} files with the index {indices[0]}; allowed: one "
            "index, or files of traces"
        )
    from fathometer.seismic.shots.indexed import indexed_tables  # imports pyarrow, which only an index needs

    return indexed_tables(files[0], survey.acquisition.given_interval)


def _scanned(path: Path, interval: float | None) -> TraceTable:
    """The trace headers of a file. InputError, which names its format where that is one of volumes."""
    try:
        return scan(path, interval)
    except InputError:
        form = BY_SUFFIX.get(path.suffix.lower())
        if form is None or form.name == "SEG-Y" or not path.stat().st_size:
            raise
        raise InputError(
            f"{path}: is {form.name} by its name, a format of volumes; allowed: gathers in SEG-Y or SU, or their index"
        ) from None


def recorded_files(survey: Survey) -> list[Path]:
    """The files of [acquisition] gathers, sorted. Raises InputError where there is none."""
    pattern = survey.acquisition.gathers
    assert pattern is not None
    directory = survey.directory
    if os.path.exists(directory / pattern):  # a file name may itself contain brackets
        return [directory / pattern]
    names = glob.glob(pattern, root_dir=directory, recursive=True)
    files = sorted(directory / name for name in names if not (directory / name).is_dir())  # links to nothing too
    if not files:
        raise InputError(
            f'{survey.path}: [acquisition] gathers: found no file for "{pattern}" in {directory}; '
            "allowed: a SEG-Y or SU file, a pattern that some match, or an index of them"
            f"{file_meant(directory / pattern)}"
        )
    return files


def _notes(tables: Sequence[TraceTable]) -> tuple[str, ...]:
    """The notes of all files, each once, with the first file that it is about and the number of others."""
    files: dict[str, list[Path]] = {}
    for table in tables:
        for note in table.notes:
            files.setdefault(note, []).append(table.path)
    return tuple(
        f"{paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {note}" for note, paths in files.items()
    )


def _crossline_note(tables: Sequence[TraceTable]) -> tuple[str, ...]:
    """A note on y coordinates, where they vary, which a 2D survey ignores."""
    places = [place[table.live, 1] for table in tables if table.live.any() for place in (table.source, table.receiver)]
    spread = float(max(y.max() for y in places) - min(y.min() for y in places)) if places else 0.0
    if spread <= _SAME_PLACE:
        return ()
    return (
        f"y of sources and receivers spreads over {spread:.6g} m and is ignored in 2D; [acquisition] origin and "
        "azimuth rotate a line to the x axis",
    )


def _check_coordinates(tables: Sequence[TraceTable]) -> None:
    for table in tables:
        if len(table.ffid) > 1 and not (table.source[:, :2].any() or table.receiver[:, :2].any()):
            raise InputError(
                f"{table.path}: the trace headers carry no coordinates: every source and receiver is at 0; "
                "needed: source and receiver coordinates (bytes 73 to 88)"
            )


def _source_position(
    survey: Survey,
    tables: Sequence[TraceTable],
    ffid: int,
    pieces: Sequence[tuple[int, npt.NDArray[np.int64]]],
    flat: bool,
) -> npt.NDArray[np.float64]:
    """Position (3,), m, of a shot's source. Raises InputError where it moves within the shot."""
    number, group = pieces[0]
    position: npt.NDArray[np.float64] = _with_overrides(survey, tables[number].source[group[:1]], flat)[0]
    for number, group in pieces:
        positions = _with_overrides(survey, tables[number].source[group], flat)
        moved = np.flatnonzero(~(np.max(np.abs(positions - position), axis=1) <= _SAME_PLACE))
        if moved.size:
            first = tables[pieces[0][0]].path
            in_file = "" if number == pieces[0][0] else f" (in {first})"
            raise InputError(
                f"{tables[number].path}: FFID {ffid}: found its source at {point(positions[moved[0]])} m in trace "
                f"{group[moved[0]]} (from 0), but at {point(position)} m before{in_file}; "
                "allowed: one place an FFID (`fathometer survey build --shot-key` tells shots apart by another header "
                "word, or by file)"
            )
    return position


def _with_overrides(survey: Survey, source: npt.NDArray[np.float64], flat: bool) -> npt.NDArray[np.float64]:
    """Source positions (n, 3), m, of the headers, with y = 0 in 2D and the survey's source depth, if given."""
    positions = np.array(source, dtype=np.float64)
    if flat:
        positions[:, 1] = 0.0
    if survey.acquisition.source_depth is not None:
        positions[:, 2] = survey.acquisition.source_depth
    return positions


def point(position: npt.NDArray[np.float64]) -> str:
    """A position (3,) as text: (x, y, z)."""
    return f"({', '.join(f'{value:.10g}' for value in position)})"
