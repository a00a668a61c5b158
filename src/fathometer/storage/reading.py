"""Checks and errors of files that are read: one line that names the file and what was found."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError


def readable(path: Path) -> Path:
    """`path`; InputError unless it is a regular file that can be opened for reading."""
    with reading(path):
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
            raise InputError(f"{path}: is not a file")
        os.close(os.open(path, os.O_RDONLY))
    return path


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn an OSError inside the block into an InputError that names `path`, a MemoryError into a FathometerError."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise FathometerError(f"{path}: cannot be read: not enough memory") from None


def check_size(path: Path, found: int, expected: int, what: str) -> None:
    """InputError unless `found`, the file's bytes of data, equals `expected`; `what`: the source of that number."""
    if found != expected:
        raise InputError(f"{path}: holds {found} bytes of data where {what} asks for {expected} bytes")
