"""Why nothing of a command was counted: what its processes left, and of what kind its programs are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fathometer.lab.profile.programs import links_mpi_statically, obstacles

SEEN = "seen.txt"  # in a profile's folder: a line of each process that had an MPI when it ended and counted nothing
MOST_TOLD = 3
# By the third words of its lines.
_STATES = {
    "unused": "but never started it by MPI_Init",
    "unheard": "but never started it by MPI_Init; sessions were not listened to (--mpi 4 does)",
    "session": "and started it by sessions alone (MPI_Session_init): they have no world, whose ranks could be counted",
    "begun": "and called MPI_Init past the library that counts, as plugins do that are opened with RTLD_DEEPBIND",
}


def why_nothing(words: Sequence[str], folder: Path) -> str:
    """Why no process of a command left a file in `folder`, as far as it is known."""
    inside = links_mpi_statically(words)
    if inside is not None:
        return f"MPI is linked into {inside}, where nothing can be preloaded"
    told = what_was_seen(folder) or "no process of it has called MPI_Init, or had an MPI library when it ended"
    return "; ".join([told, *obstacles(words)])


def what_was_seen(folder: Path) -> str:
    """What processes with an MPI did that counted nothing; "" where none has left a line."""
    try:
        lines = (folder / SEEN).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    told = []
    for line in dict.fromkeys(lines):
        when, state, program, library = (*line.split("\t"), "", "", "", "")[:4]
        if state in _STATES:
            how = (
                f"is linked with {library}" if when == "linked" else f"has no MPI linked to it, loaded {library} later"
            )
            told.append(f"{program} {how}, {_STATES[state]}")
    return "; ".join(told[:MOST_TOLD]) + (f"; and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else "")
