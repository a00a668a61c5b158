"""Strategies that `fathometer io --remember` found the best, and `auto` takes: storage.json in the user's cache folder.

One entry for each file system (its mount point), format and operation; removing the file forgets them all.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.hardware import file_systems
from fathometer.parallel.collectives import barrier
from fathometer.storage import atomic
from fathometer.storage.folder import cache_folder
from fathometer.storage.volumes.strategy import AUTO, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.storage.volumes.formats import Format

FILE, VERSION = "storage.json", 1


@dataclass(frozen=True)
class Winner:
    """A strategy that was the fastest for an operation (read, write) on a format (its name) and a file system."""

    mount: str
    type: str
    format: str
    operation: str
    strategy: str
    bytes_per_second: float
    ranks: int
    host: str
    date: str

    def __str__(self) -> str:
        return (
            f"{self.operation} on {self.mount}: {self.strategy} ({self.bytes_per_second / 1e6:.0f} MB/s, "
            f"{self.ranks} {'rank' if self.ranks == 1 else 'ranks'}, {self.date[:10]})"
        )


def place() -> Path:
    """The file. Raises InputError where there is no home."""
    folder = cache_folder()
    if folder is None:
        raise InputError("there is no home folder, and XDG_CACHE_HOME names none: nothing can be remembered")
    return folder / FILE


def winners() -> list[Winner]:
    """What is remembered; nothing where there is no file, or one that this program did not write."""
    try:
        told = json.loads(place().read_text(encoding="utf-8"))
        found = [Winner(**one) for one in told["winners"]] if told["schema_version"] == VERSION else []
        for one in found:
            Strategy.of(one.strategy)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, InputError):
        return []
    return found


def remember(folder: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """Keep the strategies of some rows (of `fathometer io`) for the file system that `folder` lies on; says what.

    Raises FathometerError where the file cannot be written, InputError where there is no home.
    """
    from fathometer.storage.volumes.formats import BY_SUFFIX

    mounts = file_systems([folder])
    if not mounts:
        raise InputError(f"{folder}: on an unknown file system: nothing can be remembered")
    mount, kind = mounts[0]["mount"], mounts[0]["type"]
    date = datetime.now(UTC).isoformat(timespec="seconds")
    new = [
        Winner(
            mount,
            kind,
            BY_SUFFIX[f".{row['format']}"].name,
            row["operation"],
            row["strategy"],
            row["bytes_per_second"],
            row["ranks"],
            socket.gethostname(),
            date,
        )
        for row in rows
    ]
    if not new:
        return "nothing to remember: no strategy won"
    replaced = {(one.mount, one.format, one.operation) for one in new}
    kept = [one for one in winners() if (one.mount, one.format, one.operation) not in replaced]
    path = place()
    with atomic.writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    told = {"schema_version": VERSION, "winners": [asdict(one) for one in [*kept, *new]]}
    atomic.write(path, (json.dumps(told, indent=2) + "\n").encode())
    return f"remembered in {path}: " + "; ".join(f"{one.format}, {one}" for one in new)


def winner(path: Path, form: str, operation: str) -> Winner | None:
    """What is remembered for a file of a format, which need not be there yet."""
    known = [one for one in winners() if (one.format, one.operation) == (form, operation)]
    if not known:
        return None
    mounts = {one["mount"] for one in file_systems([path.parent])}
    return next((one for one in known if one.mount in mounts), None)


def resolved(path: Path, form: Format, operation: str, strategy: Strategy, ranks: int) -> tuple[Strategy, bool]:
    """A strategy, or what is taken for a plain `auto`, and whether that is so because it is remembered.

    What this machine can do no longer is not taken.
    """
    if strategy != Strategy(AUTO):
        return strategy, False
    found = winner(path, form.name, operation)
    names = form.writes if operation == "write" else form.reads
    if found is not None:
        recalled = Strategy.of(found.strategy)
        if recalled.name in names and not form.missing(recalled.name, ranks):
            return recalled, True
    return strategy, False


def recalled(path: Path, form: Format, operation: str, strategy: Strategy | None, comm: MPI.Intracomm) -> Strategy:
    """Collective. The same for all ranks: rank 0 looks, for hosts need not share the user's folder. None is `auto`."""
    strategy = strategy or Strategy()
    if strategy != Strategy(AUTO):
        return strategy
    barrier(comm)
    found = resolved(path, form, operation, strategy, comm.size)[0] if comm.rank == 0 else strategy
    with ledger.communication():
        return Strategy.of(comm.bcast(str(found)))
