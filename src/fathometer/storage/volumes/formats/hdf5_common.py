"""What all HDF5 files that are written here have in common: their version, what describes a dataset, errors."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from fathometer.base.errors import FathometerError
from fathometer.storage.reading import reading, words_of
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.axis_metadata import (
    attributes_of,
    axis_names,
    coordinate_attributes,
    coordinates,
)

VERSIONS = ("earliest", "v110")  # of the format, that files are written in
unclosed: list[Any] = []  # files that could not be closed, or why: the library tries again when they end, and crashes


def describe(values: Any, info: VolumeInfo, prefix: str = "", suffix: str = "") -> None:
    """Give a dataset its attributes and, where there is a spacing, the scales of its axes, beside it in its group, as
    PREFIX, the axis' name, SUFFIX."""
    for key, value in attributes_of(info).items():
        values.attrs[key] = value
    for axis, label in enumerate(axis_names(info) if info.spacing is not None else ()):
        name = f"{prefix}{label}{suffix}"
        scale = values.parent.create_dataset(name, data=coordinates(info, axis))
        scale.make_scale(name)
        for key, text in coordinate_attributes(info, axis).items():
            scale.attrs[key] = text
        values.dims[axis].attach_scale(scale)


REF_COUNT = "ref count"  # in the text of an error of an object that could not end


class _Unraised(threading.local):
    """Errors of a thread that the library could not raise, in the contexts of `system_errors` around it, innermost
    last."""

    def __init__(self) -> None:
        self.contexts: list[list[str]] = []


_unraised = _Unraised()
_uncaught, _unraisable = sys.excepthook, sys.unraisablehook


def _is_of_the_library(error: BaseException | None) -> bool:
    """Whether it is of an object that ended while its file was closed. Both hooks are told of it, the first one as if
    nobody caught it."""
    return bool(_unraised.contexts) and isinstance(error, RuntimeError) and REF_COUNT in str(error)


def _tell_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not _is_of_the_library(error):
        _uncaught(kind, error, trace)


def _keep_unraisable(told: sys.UnraisableHookArgs) -> None:
    if _is_of_the_library(told.exc_value):
        _unraised.contexts[-1].append(str(told.exc_value))
    else:
        _unraisable(told)


sys.excepthook, sys.unraisablehook = _tell_uncaught, _keep_unraisable


@contextlib.contextmanager
def file_to_read(path: Path) -> Iterator[Any]:
    """An open file. Python opens it: the library crashes later on a file that it opened itself and could not close."""
    import h5py

    with path.open("rb") as opened, h5py.File(opened, "r") as file:
        yield file


def close_read(path: Path, file: Any) -> None:
    """Close a file that was read. Raises InputError where that fails; the object stays then, which must not end."""
    try:
        with reading(path), system_errors():
            file.close()
    except FathometerError:
        unclosed.append(file)
        raise


@contextlib.contextmanager
def system_errors() -> Iterator[None]:
    """Turn errors of the library into OSErrors of one line, and those that it could not raise."""
    unraised: list[str] = []
    _unraised.contexts.append(unraised)
    try:
        yield
    except (FathometerError, MemoryError):
        raise
    except OSError as error:  # the library's text for errors of the system has many lines
        text = os.strerror(error.errno) if error.errno else f"HDF5: {words_of(error)}"
        raise OSError(error.errno or errno.EIO, text) from None
    except Exception as error:
        if isinstance(error, RuntimeError) and REF_COUNT in str(error):
            unclosed.append(str(error))
        raise OSError(errno.EIO, f"HDF5: {words_of(error)}") from error
    finally:
        _unraised.contexts.pop()  # not what is equal to it: lists without errors are
    if unraised:
        unclosed.extend(unraised)
        number = re.search(r"errno = (\d+)", unraised[0])
        code = int(number[1]) if number else errno.EIO
        raise OSError(code, os.strerror(code) if number else f"HDF5: {' '.join(unraised[0].split())}")
