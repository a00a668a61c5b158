"""Processes of this host by a variable of their environment: what one has started is found so, also after a crash."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

LOOKS, PAUSE_SECONDS = 4, 0.002  # where not all could be seen


def other_processes() -> Iterator[int]:
    """The numbers of all processes but this one."""
    return (number for number in map(int, filter(str.isdecimal, os.listdir("/proc"))) if number != os.getpid())


def marked_processes(name: str, fits: Callable[[str], bool]) -> set[int]:
    """The processes, but for this one, in whose environment the variable has a value that fits.

    The environment of a process cannot be seen while it becomes another program, so that it is looked at again.
    """
    prefix = os.fsencode(f"{name}=")
    found: set[int] = set()
    for _ in range(LOOKS):
        unclear = False
        for process in other_processes():
            with suppress(OSError):  # of another user, or ended
                variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
                values = [os.fsdecode(text.removeprefix(prefix)) for text in variables if text.startswith(prefix)]
                if any(map(fits, values)):
                    found.add(process)
                elif variables == [b""]:
                    unclear = bool(os.readlink(f"/proc/{process}/exe")) or unclear
        if not unclear:
            break
        time.sleep(PAUSE_SECONDS)
    return found
