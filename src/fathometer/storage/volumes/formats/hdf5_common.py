"""What all HDF5 files that are written here have in common: their version, what describes a dataset, errors."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any

from fathometer.base.errors import FathometerError
from fathometer.storage.reading import words_of
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.axis_metadata import attributes_of, axis_names, coordinates

VERSIONS = ("earliest", "v110")  # of the format, that files are written in


def describe(values: Any, info: VolumeInfo, prefix: str = "", suffix: str = "") -> None:
    """Give a dataset its attributes and, where there is a spacing, the scales of its axes, beside it in its group, as
    PREFIX, the axis' name, SUFFIX."""
    for key, value in attributes_of(info).items():
        values.attrs[key] = value
    for axis, label in enumerate(axis_names(info) if info.spacing is not None else ()):
        name = f"{prefix}{label}{suffix}"
        scale = values.parent.create_dataset(name, data=coordinates(info, axis))
        scale.make_scale(name)
        scale.attrs["units"] = info.axis_units[axis]
        values.dims[axis].attach_scale(scale)


@contextlib.contextmanager
def system_errors() -> Iterator[None]:
    """Turn errors of the library into OSErrors of one line."""
    try:
        yield
    except (FathometerError, MemoryError):
        raise
    except OSError as error:  # the library's text for errors of the system has many lines
        text = os.strerror(error.errno) if error.errno else f"HDF5: {words_of(error)}"
        raise OSError(error.errno or errno.EIO, text) from None
    except Exception as error:
        raise OSError(errno.EIO, f"HDF5: {words_of(error)}") from error
