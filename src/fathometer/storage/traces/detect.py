"""Detection of a trace file's layout: SEG-Y or SU, by suffix and content."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.storage.traces.file_layout import NO_INTERVAL, Layout
from fathometer.storage.traces.segy_layout import segy_layout_of
from fathometer.storage.traces.su_layout import su_layout_of

SU_SUFFIX = ".su"


def layout_of(path: Path, interval: float | None = None) -> Layout:
    """Layout of an SU file (by its suffix, or if it is no SEG-Y) or of a SEG-Y file, from its headers and its size.

    interval: sample interval, s, in place of the headers'. InputError: missing, too short, an unknown sample format,
    truncated or contradictory sample counts, no traces, no positive sample interval.
    """
    layout = tolerant_layout_of(path, interval)
    if layout.faults:
        again = "; copy it again, or index it (`fathometer survey build`), without its last trace"
        raise InputError(f"{path}: {layout.faults[0]}{again if 'truncated' in layout.faults[0] else ''}")
    return layout


def volume_layout_of(path: Path) -> Layout:
    """As `layout_of`, of traces whose samples are no times: they need no sample interval."""
    layout = _detected(path)
    for fault in layout.faults:
        if not fault.startswith(NO_INTERVAL):
            raise InputError(f"{path}: {fault}")
    return layout


def tolerant_layout_of(path: Path, interval: float | None = None) -> Layout:
    """As `layout_of`, but with what is truncated or lacks a sample interval told in `faults`.

    InputError where neither SEG-Y nor SU fits.
    """
    layout = _detected(path)
    return layout if interval is None else layout.with_interval(interval)


def _detected(path: Path) -> Layout:
    if path.suffix.lower() == SU_SUFFIX:
        return su_layout_of(path)
    try:
        return segy_layout_of(path)
    except InputError:
        with suppress(InputError):
            layout = su_layout_of(path)
            if not layout.faults:
                return layout
        raise


def holds_traces(path: Path) -> bool:
    """Whether a file is SEG-Y or SU by its content, perhaps truncated."""
    try:
        _detected(path)
    except InputError:
        return False
    return True
