"""What kind of thing a reference names: an index of a survey, gathers or a volume."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fathometer.base.errors import InputError
from fathometer.storage.index import INDEX_SUFFIX
from fathometer.storage.traces.detect import SU_SUFFIX, volume_layout_of
from fathometer.storage.traces.purpose import holds_gathers
from fathometer.storage.volumes.formats.segy_volume import AS_VOLUME
from fathometer.storage.volumes.registry import format_to_read
from fathometer.storage.volumes.volume import split_reference

Kind = Literal["index", "gathers", "volume"]


@dataclass(frozen=True)
class Contents:
    """A kind, with the file and the reference to open it by."""

    kind: Kind
    path: Path
    reference: str


def contents_of(reference: str, directory: Path, wanted: Kind | None = None) -> Contents:
    """The kind of a reference (see volumes/volume.py): SEG-Y by `holds_gathers`, SU gathers, or both as `wanted`.

    InputError where the file cannot be read, or is not of
    traces and another kind is wanted.
    """
    path = directory / reference
    if path.suffix.lower() == INDEX_SUFFIX:
        if wanted is not None:
            raise InputError(f"{reference}: is an index by its suffix; --as is for files of traces, SEG-Y and SU")
        return Contents("index", path, reference)
    if path.suffix.lower() == SU_SUFFIX and wanted != "volume":
        return Contents("gathers", path, reference)
    path, key = split_reference(reference, directory)
    form = format_to_read(path).name
    if form != "SEG-Y":
        if wanted == "gathers":
            raise InputError(f"{reference}: is {form}, a format of volumes; --as gathers is for SEG-Y and SU")
        return Contents("volume", path, reference)
    if key is not None:
        return Contents("volume", path, reference)
    if wanted is None:
        wanted = "gathers" if holds_gathers(volume_layout_of(path)) else "volume"
    return Contents(wanted, path, f"{reference}:{AS_VOLUME}" if wanted == "volume" else reference)
