"""Checks and errors of files that are read: one line that names the file and what was found.

Libraries and conversions raise whatever they like over a damaged file. Here it becomes an InputError, and nowhere else;
the exception itself stays its cause, for whoever looks for a defect.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError, shortened
from fathometer.base.meant import file_meant


def readable(path: Path, empty: bool = False) -> Path:
    """`path`; InputError unless it is a regular file that can be opened for reading, with contents (empty: or not)."""
    with reading(path):
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
            raise InputError(f"{path}: is not a file")
        if not empty and not path.stat().st_size:
            raise InputError(f"{path}: is empty: 0 bytes; needed: a file with its contents, written to its end")
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    return path


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any exception of the block into an InputError that names `path`, a MemoryError into a FathometerError.

    The block reads the file and makes values of its bytes, and nothing else: a defect in it would pass for damage.
    """
    try:
        yield
    except FathometerError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file{file_meant(path)}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise FathometerError(f"{path}: cannot be read: not enough memory") from None
    except Exception as error:
        raise InputError(
            f"{path}: cannot be read: damaged, or something else than its name says ({words_of(error)})"
        ) from error


@contextlib.contextmanager
def decoding(name: Path | str, what: str, also: str = "") -> Iterator[None]:
    """Turn any exception of the block, except those of the system, into an InputError: `name`, `what`.

    The block as in `reading`. what: such as "is damaged". also: added to the message, such as what is allowed.
    """
    try:
        yield
    except (FathometerError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise InputError(f"{name}: {what} ({words_of(error)}){also}") from error


def words_of(error: BaseException) -> str:
    """The first line of an exception's message, or the name of its kind."""
    return shortened((str(error).splitlines() or [""])[0]) or type(error).__name__


def check_size(path: Path, found: int, expected: int, what: str) -> None:
    """InputError unless `found`, the file's bytes of data, equals `expected`; `what`: the source of that number."""
    if found != expected:
        raise InputError(f"{path}: holds {found} bytes of data where {what} asks for {expected} bytes")
