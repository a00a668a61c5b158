"""A file that all ranks of a communicator write; it appears whole or not at all.

    create   rank 0 creates every file beside its target; subclasses open the first, on all ranks or on rank 0 alone
    end      whoever has the file open closes it, rank 0 renames it into place

After every step that can fail on one rank, the ranks agree on the outcome, so that none waits for another that has
failed: all return, or all raise the same FathometerError, and none of the new files is left.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import collective_errors
from fathometer.storage import atomic

if TYPE_CHECKING:
    from mpi4py import MPI


class Opened(Protocol):
    """A file on the ranks that have it open; errors of one rank are raised there after all collective calls."""

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def abandon(self, error: FathometerError) -> None:
        """Close after a step that failed with `error` on all ranks; errors raised here are ignored."""


File = TypeVar("File", bound=Opened)


class SharedWriter(ABC, Generic[File]):
    """A file being written by all ranks; collective, each of its methods too. A context manager, which closes.

    Subclasses set `_file` on the ranks that write it, and put into it in `_step`.

    Args:
        sync: flush the files' heads and the entries of their folders.
    """

    def __init__(self, path: Path, comm: MPI.Intracomm, sync: bool) -> None:
        self.path, self.comm = path, comm
        self._parts = atomic.Parts(sync)  # filled on rank 0 only
        self._file: File | None = None

    def _create(self, new_files: Callable[[], Sequence[atomic.NewFile]]) -> Path:
        """Create the files beside their targets; the path of the first. new_files: called on rank 0."""
        parts: list[Path] = []
        with self._step():
            if self.comm.rank == 0:
                parts = [self._parts.create(new) for new in new_files()]
        with ledger.communication():
            part: Path = self.comm.bcast(parts[0] if parts else None, root=0)
        return part

    @contextlib.contextmanager
    def _step(self) -> Iterator[None]:
        """Collective. One step of all ranks; where it fails on one, all abandon the file and raise the same error."""
        try:
            with collective_errors(self.comm), atomic.writing(self.path):
                yield
        except FathometerError as error:
            self._parts.discard()
            file, self._file = self._file, None
            if file is not None:
                with contextlib.suppress(OSError, FathometerError):
                    file.abandon(error)
            raise
        except BaseException:  # an interrupt, of this rank alone: nothing collective
            self._parts.discard()
            raise

    def _flush(self) -> None:
        with self._step():
            if self._file is not None:
                self._file.flush()

    def _end(self) -> None:
        """Close the file and rename it into place."""
        with self._step():
            file, self._file = self._file, None
            if file is not None:
                file.close()
        with self._step():
            if self.comm.rank == 0:
                self._parts.place()

    @abstractmethod
    def close(self) -> None:
        """Close the file and rename it into place, where all of it was written."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:  # perhaps of this rank alone: nothing collective
            self._parts.discard()
