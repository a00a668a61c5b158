"""Anonymous scratch file, removed with the process, however that ends."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import remove_file
from fathometer.storage import atomic


class Scratch:
    """A new anonymous file in `folder`, for reading and writing.

    Args:
        kind: of the file in the ledger. what: name of the contents in messages; None: "the " and the kind.
        reserved: bytes of disk space to reserve at once. direct: bypass the page cache (O_DIRECT).

    Raises FathometerError: no such folder, no space, a failing disk; InputError: no direct input and output there.
    """

    def __init__(
        self, folder: Path, kind: str, what: str | None = None, reserved: int = 0, direct: bool = False
    ) -> None:
        self._folder, self._kind, self._what = folder, kind, what or f"the {kind}"
        self._handle = _open_anonymous(folder, direct)
        if reserved:
            try:
                with ledger.file(kind, "write"), ledger.io():
                    atomic.reserve(self._handle, reserved)
            except OSError as error:
                self.close()
                raise self._failure(error) from None

    def write(self, array: NDArray[Any], offset: int, phase: str | None = None) -> None:
        """Write a contiguous array at byte `offset`; phase: that is charged with the seconds, None: the current one."""
        with ledger.file(self._kind, "write"), ledger.io(phase, bytes=array.nbytes):
            try:
                atomic.write_at(self._handle, atomic.octets(array), offset)
            except OSError as error:
                raise self._failure(error) from None

    def read(self, array: NDArray[Any], offset: int, phase: str | None = None) -> None:
        """Fill a contiguous array from byte `offset`; phase: as of `write`."""
        with ledger.file(self._kind, "read"), ledger.io(phase, bytes=array.nbytes):
            try:
                if atomic.read_at(self._handle, atomic.octets(array), offset) < array.nbytes:
                    raise OSError(errno.EIO, "the file ends too early")
            except OSError as error:
                raise self._failure(error) from None

    def flush(self) -> None:
        """Flush all that was written to the device."""
        try:
            with ledger.flush():
                os.fsync(self._handle)
        except OSError as error:
            raise self._failure(error) from None

    def close(self) -> None:
        """Close the file, which removes it."""
        with ledger.io(), suppress(OSError):
            os.close(self._handle)

    def _failure(self, error: OSError) -> FathometerError:
        return FathometerError(f"{self._folder}: {self._what} cannot be kept there: {error.strerror or error}")


def _open_anonymous(folder: Path, direct: bool) -> int:
    flags = os.O_RDWR | (getattr(os, "O_DIRECT", 0) if direct else 0)
    if direct and not hasattr(os, "O_DIRECT"):
        raise InputError(f"{folder}: this system has no direct input and output; needed: direct = false")
    try:
        try:
            return os.open(folder, flags | os.O_TMPFILE, 0o600)
        except (AttributeError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise
        handle, name = tempfile.mkstemp(prefix=".fathometer-", dir=folder)
        os.close(handle)
        try:
            return os.open(name, flags)
        finally:
            remove_file(Path(name))
    except OSError as error:
        if direct and error.errno == errno.EINVAL:
            raise InputError(
                f"{folder}: this file system has no direct input and output; needed: direct = false, or another folder"
            ) from None
        raise FathometerError(f"{folder}: no file can be made there: {error.strerror or error}") from None
