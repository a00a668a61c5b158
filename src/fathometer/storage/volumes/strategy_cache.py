"""Fastest strategies that `fathometer io --remember` measured, which `auto` takes: storage.json in the cache folder.

One entry for each file system (its mount point), format and operation; without the file, nothing is remembered.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import rate_in_words
from fathometer.base.hardware import file_systems
from fathometer.parallel.collectives import barrier
from fathometer.storage import atomic
from fathometer.storage.folder import cache_folder
from fathometer.storage.json_text import json_values
from fathometer.storage.lock import FileLock
from fathometer.storage.volumes.strategy import AUTO, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.storage.volumes.registry import Format

FILE, VERSION = "storage.json", 1


@dataclass(frozen=True)
class Winner:
    """The fastest strategy measured for an operation ("read", "write"), a format (its name) and a file system."""

    mount: str  # mount point and type of the file system
    type: str
    format: str
    operation: str
    strategy: str
    bytes_per_second: float
    ranks: int
    host: str
    date: str  # ISO 8601, UTC

    def __str__(self) -> str:
        return (
            f"{self.operation} on {self.mount}: {self.strategy} ({rate_in_words(self.bytes_per_second)}, "
            f"{self.ranks} {'rank' if self.ranks == 1 else 'ranks'}, {self.date[:10]})"
        )


def cache_path() -> Path:
    """The file of the remembered strategies. Raises InputError where there is no home."""
    folder = cache_folder()
    if folder is None:
        raise InputError("there is no home folder, and XDG_CACHE_HOME names none: nothing can be remembered")
    return folder / FILE


def winners() -> list[Winner]:
    """The remembered strategies; none where there is no file, or one that this program did not write."""
    try:
        text = cache_path().read_text(encoding="utf-8")
    except (OSError, ValueError, InputError):
        return []
    from pydantic import TypeAdapter  # costly, and mostly there is no file

    try:
        content = json_values(text)
        if content["schema_version"] != VERSION:
            return []
        remembered = TypeAdapter(list[Winner]).validate_python(content["winners"])
        for winner in remembered:
            Strategy.of(winner.strategy)  # a name or option that is unknown by now
    except (ValueError, LookupError, TypeError, AttributeError, InputError):
        return []
    return remembered


def remember(folder: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """Keep the fastest strategies, rows of `fathometer io`, for the file system of `folder`; a line that says which.

    Raises FathometerError where the file cannot be written, InputError where there is no home.
    """
    from fathometer.storage.volumes.registry import BY_SUFFIX

    mounts = file_systems([folder])
    if not mounts:
        raise InputError(f"{folder}: on an unknown file system: nothing can be remembered")
    mount, file_system = mounts[0]["mount"], mounts[0]["type"]
    date = datetime.now(UTC).isoformat(timespec="seconds")
    new = [
        Winner(
            mount=mount,
            type=file_system,
            format=BY_SUFFIX[f".{row['format']}"].name,
            operation=row["operation"],
            strategy=row["strategy"],
            bytes_per_second=row["bytes_per_second"],
            ranks=row["ranks"],
            host=socket.gethostname(),
            date=date,
        )
        for row in rows
    ]
    if not new:
        return "nothing to remember: no strategy won"
    path = cache_path()
    with atomic.writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.parent, create=False) as lock:
        with contextlib.suppress(FathometerError):  # no locks there: entries of a run at the same time may be lost
            lock.acquire(wait=True)
        replaced = {(winner.mount, winner.format, winner.operation) for winner in new}
        kept = [winner for winner in winners() if (winner.mount, winner.format, winner.operation) not in replaced]
        content = {"schema_version": VERSION, "winners": [asdict(winner) for winner in [*kept, *new]]}
        atomic.write(path, (json.dumps(content, indent=2) + "\n").encode())
    return f"remembered in {path}: " + "; ".join(f"{winner.format}, {winner}" for winner in new)


def winner_for(path: Path, format_name: str, operation: str) -> Winner | None:
    """The strategy remembered for a file, which need not exist yet, by its file system, format and operation."""
    known = [winner for winner in winners() if (winner.format, winner.operation) == (format_name, operation)]
    if not known:
        return None
    mounts = {file_system["mount"] for file_system in file_systems([path.parent])}
    return next((winner for winner in known if winner.mount in mounts), None)


def resolve_auto(path: Path, form: Format, operation: str, strategy: Strategy, ranks: int) -> tuple[Strategy, bool]:
    """A strategy, a plain `auto` replaced by the remembered one; and whether it was.

    A remembered strategy that this machine no longer supports is not taken.
    """
    if strategy != Strategy(AUTO):
        return strategy, False
    winner = winner_for(path, form.name, operation)
    names = form.writes if operation == "write" else form.reads
    if winner is not None:
        remembered = Strategy.of(winner.strategy)
        if remembered.name in names and not form.missing(remembered.name, ranks):
            return remembered, True
    return strategy, False


def resolve_auto_on_ranks(
    path: Path, form: Format, operation: str, strategy: Strategy | None, comm: MPI.Intracomm
) -> Strategy:
    """Collective. As `resolve_auto`, by rank 0 for all, whose hosts need not share the cache folder. None is `auto`."""
    strategy = strategy or Strategy()
    if strategy != Strategy(AUTO):
        return strategy
    barrier(comm)
    resolved = resolve_auto(path, form, operation, strategy, comm.size)[0] if comm.rank == 0 else strategy
    with ledger.communication():
        return Strategy.of(comm.bcast(str(resolved)))
