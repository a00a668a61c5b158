"""Options of `fathometer profile`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fathometer.base.option_types import count
from fathometer.base.options import option

Profiler = Literal["fathometer", "ompi"]
COUNTED = ("communicators", "sites", "wait", "counters")  # what is counted besides, of rank_file.OPTIONS


@dataclass(frozen=True)
class ProfileOptions:
    """What to run and to count.

    Attributes:
        command: its words; (): none, the folder's files are gathered. folder: of what ranks leave and of the results.
        job: which of several MPI jobs, from 1; None: that with the most time.
        mpi: 4: functions of MPI 4 with large counts are listened to; None: where the command seems to have them.
        keep: whether the files of the ranks stay. overwrite: whether an earlier profile in the folder goes.
        hide_arguments: whether of the command only its program is kept anywhere.
        ran: the words of the command whose files are gathered, where they are known.
    """

    command: tuple[str, ...]
    folder: Path = option(
        "folder of the results, seen by all hosts of the run (profile)",
        "-o",
        "--output",
        type=Path,
        default=Path("profile"),
        metavar="DIR",
    )
    communicators: bool = option("tell calls apart by communicator", default=False)
    sites: bool = option("tell calls apart by the place in the program", default=False)
    wait: bool = option(
        "let ranks meet before collective calls, which tells waiting from transfer and changes the run", default=False
    )
    counters: bool = option("cycles, instructions and cache misses, where the system allows it", default=False)
    profiler: Profiler = option(
        "ompi: Open MPI's own monitoring of messages, without preloading (fathometer)",
        default="fathometer",
        choices=("fathometer", "ompi"),
    )
    job: int | None = option(
        "of several MPI jobs that the command runs (the longest)", type=count, default=None, metavar="N"
    )
    mpi: int | None = option(
        "4: listen to MPI 4's functions of large counts too (as MPI has them)", type=int, default=None, choices=(3, 4)
    )
    hide_arguments: bool = option(
        "keep the command's arguments, such as passwords, out of record, page and files of ranks", default=False
    )
    keep: bool = option("keep the files of the ranks", default=False)
    overwrite: bool = option("remove what an earlier profile has left in the folder", default=False)
    ran: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[str, ...]:
        """Which of COUNTED."""
        return tuple(name for name in COUNTED if getattr(self, name))

    @property
    def newer(self) -> bool | None:
        """Whether functions of MPI 4 are listened to; None: where the command seems to have them."""
        return None if self.mpi is None else self.mpi == 4

    @property
    def shown(self) -> list[str]:
        """The words of the command that records keep."""
        command = self.command or self.ran
        return list(command[:1] if self.hide_arguments else command)
