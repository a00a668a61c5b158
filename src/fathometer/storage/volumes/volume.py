"""Opening a volume by a reference.

A *reference* is a file name relative to some folder, with the key of one array after a colon where a file holds
several: "vp.rsf", "vp.npy", "models.npz:vp", "models.h5:run/vp", "vp.segy". The suffix gives the format, of SEG-Y and
HDF5 under another suffix or none the content (registry.py).
"""

from __future__ import annotations

import os.path
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.storage.volumes.block import SPACE_AXES, Volume, VolumeInfo, check_shape
from fathometer.storage.volumes.formats.hdf5 import DATASET
from fathometer.storage.volumes.formats.rsf import rsf_header_only
from fathometer.storage.volumes.levels import FOLDER
from fathometer.storage.volumes.registry import BY_SUFFIX, format_to_read, unknown_kind
from fathometer.storage.volumes.strategy import SHARED
from fathometer.storage.volumes.writer import write_volume

__all__ = ["Volume", "VolumeInfo", "open_volume", "reference_at", "split_reference", "write_volume"]


def split_reference(reference: str, directory: Path) -> tuple[Path, str | None]:
    """Path and key of a reference. InputError where no format has its suffix, and no file its name."""
    name, key = reference, None
    if Path(reference).suffix.lower() not in BY_SUFFIX and ":" in reference:
        # The file's name ends at the first colon after a known suffix: folders' names may contain colons too.
        for colon in (i for i, letter in enumerate(reference) if letter == ":"):
            if Path(reference[:colon]).suffix.lower() in BY_SUFFIX:
                name, key = reference[:colon], reference[colon + 1 :]
                break
    if Path(name).suffix.lower() not in BY_SUFFIX:
        # Of any other file the content tells the format, so the name may end at any colon.
        ends = [len(reference), *(i for i, letter in enumerate(reference) if letter == ":")]
        for end in ends:
            if os.path.isfile(directory / reference[:end]):  # False also of names that no file can have
                format_to_read(directory / reference[:end])
                return directory / reference[:end], reference[end + 1 :] or None
        raise unknown_kind(directory / reference)
    return directory / name, key


def open_volume(reference: str, directory: Path, header_only: bool = False, steps: bool = False) -> Volume:
    """Open a volume for reading by one rank, relative to `directory`.

    Only headers are read; of a SEG-Y those of all traces, to find its grid.

    Args:
        header_only: an RSF whose values are missing can be opened too; reading it is an InputError.
        steps: so can a volume of four axes, the first of which is of steps.

    InputError: the file is missing, unreadable, or of an unknown format or one whose library is missing; the key is
    missing; the array is not 2D or 3D or not of real numbers; the file's size contradicts its header; an NPY holds
    pickled objects; SEG-Y traces form no grid; the file's words on the direction of an axis, or on packing, are not
    understood.
    """
    path, key = split_reference(reference, directory)
    if header_only and path.suffix.lower() == ".rsf":
        volume: Volume = rsf_header_only(path, key)
    else:
        form = format_to_read(path)
        if missing := form.missing(SHARED, 1):
            raise InputError(f"{path}: {missing}")
        volume = form.opener(path, key)
    name = f"{path}:{key}" if key else str(path)
    try:
        if not steps:
            check_shape(name, volume.info.shape, SPACE_AXES)
        if volume.info.unclear:
            raise InputError(f"{name}: {volume.info.unclear}")
    except InputError:
        volume.close()
        raise
    return volume


def reference_at(reference: str, directory: Path, level: int = 0, share: int | None = None) -> str:
    """The reference of a coarser level of a volume, and of a share of its wavelet coefficients (share: 100 is 1:100).

    InputError where its format has none, or an array has a name of its own.
    """
    for name, number, least in (("level", level, 0), ("share", 1 if share is None else share, 1)):
        if not isinstance(number, int) or number < least:
            raise InputError(f"{reference}: {name}: found {number!r}; allowed: a whole number from {least}")
    if not level and share is None:
        return reference
    path, key = split_reference(reference, directory)
    form = format_to_read(path)
    if not form.levels:
        holders = ", ".join(suffix for suffix, other in BY_SUFFIX.items() if other.levels)
        raise InputError(f"{path}: {form.name} has no levels (allowed: {holders}, written with levels or wavelets)")
    if (key or DATASET).strip("/") != DATASET:
        raise InputError(f"{path}:{key}: found with a level or a share; allowed: the file alone")
    return f"{reference.removesuffix(f':{key}') if key else reference}:" + "/".join(
        [f"{FOLDER}/{level}"] * (level > 0) + [f"shares/{share}"] * (share is not None)
    )
